//! Whether a connection goes on by itself.

use crate::Endpoint;
use anabranch_units::Time;

/// An endpoint that can tell what carries its connection on from what would go on although
/// nothing moves any more. For hosts that look for connections that stand still, when a run is
/// over.
pub trait Progress: Endpoint {
    /// Returns when the endpoint will do something by itself that carries the connection on or ends
    /// it: as [`poll_timeout`](Endpoint::poll_timeout), without keep-alives (RFC 9293 §3.8.4) and
    /// heartbeats (RFC 9260 §8.3).
    fn progress_timeout(&self) -> Time {
        self.poll_timeout()
    }
}
