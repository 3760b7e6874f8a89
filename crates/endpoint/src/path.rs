//! Paths of transports that have several: destinations of an SCTP association,
//! subflows of an MPTCP connection.

use anabranch_units::Span;
use anabranch_wire::Addr;

/// Whether a path may carry data (RFC 9260 §5.4, §8.2, RFC 7829 §3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PathState {
    /// No heartbeat has been answered yet.
    Unconfirmed,
    /// The path is in use or ready for it.
    Active,
    /// Some errors in a row: used if no path is active.
    PotentiallyFailed,
    /// More errors in a row than Path.Max.Retrans.
    Inactive,
}

/// A path as observers see it. Windows are in octets, counts are totals since
/// the start unless named otherwise.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathObservation {
    /// Address of this side from which the path leaves.
    pub local: Addr,
    /// Address of the peer at which the path ends.
    pub remote: Addr,
    /// Index among the subflows between the two addresses, from 0. `None` for an SCTP destination,
    /// which may change the address that it is reached from.
    pub subflow: Option<u8>,
    /// Whether the path is confirmed and works.
    pub state: PathState,
    /// Congestion window of this path.
    pub cwnd: u64,
    /// Slow-start threshold of this path; `u64::MAX` when infinite.
    pub ssthresh: u64,
    /// Outstanding octets, chunk headers included.
    pub in_flight: u64,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Retransmission timeout in force.
    pub rto: Span,
    /// Errors in a row: timeouts and unanswered heartbeats of an SCTP path (RFC 9260 §8.2),
    /// doublings of a subflow's timeout.
    pub errors: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Reductions of the window for missing reports.
    pub fast_retransmits: u64,
    /// Reductions of the window because the peer echoed marks.
    pub ecn_reductions: u64,
    /// Packets with data sent.
    pub packets: u64,
    /// Packets among `packets` that carried retransmissions.
    pub retransmitted: u64,
    /// Payload octets sent this way that the peer has acknowledged; what went
    /// several ways counts in each that was acknowledged.
    pub bytes_acked: u64,
    /// Payload octets new to the stream that came this way first; `None` where
    /// nobody counts them.
    pub bytes_received: Option<u64>,
    /// Heartbeats sent to this address (RFC 9260 §8.3).
    pub heartbeats: u64,
    /// What couples its window to those of the other paths, in the unit of its algorithm; `None` where
    /// nothing does.
    pub coupling: Option<f64>,
}

/// What tells a path from the others of its endpoint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PathId {
    /// Address of this side, where it belongs to the path.
    pub local: Option<Addr>,
    /// Address of the peer at which the path ends.
    pub remote: Addr,
    /// Index among the subflows between the two addresses, from 0.
    pub subflow: u8,
}

impl PathObservation {
    /// Returns what identifies this path among those of its endpoint.
    pub fn id(&self) -> PathId {
        PathId {
            local: self.subflow.map(|_| self.local),
            remote: self.remote,
            subflow: self.subflow.unwrap_or(0),
        }
    }
}
