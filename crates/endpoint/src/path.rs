//! Paths of transports that have several: destinations of an SCTP association,
//! subflows of an MPTCP connection.

use anabranch_units::Span;
use anabranch_wire::Addr;

/// Whether a path may carry data (RFC 9260 §5.4, §8.2, RFC 7829 §3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathState {
    /// No heartbeat has been answered yet.
    Unconfirmed,
    /// In use or ready for it.
    Active,
    /// Some errors in a row: used if no path is active.
    PotentiallyFailed,
    /// More errors in a row than Path.Max.Retrans.
    Inactive,
}

/// A path as observers see it. Windows are in octets, counts are totals since
/// the start unless named otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathObservation {
    /// Address of this side.
    pub local: Addr,
    /// Address of the peer.
    pub remote: Addr,
    /// State.
    pub state: PathState,
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold.
    pub ssthresh: u64,
    /// Outstanding octets, chunk headers included.
    pub in_flight: u64,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Retransmission timeout in force.
    pub rto: Span,
    /// Errors in a row.
    pub errors: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Reductions of the window for missing reports.
    pub fast_retransmits: u64,
    /// Packets with data sent.
    pub packets: u64,
    /// Heartbeats sent.
    pub heartbeats: u64,
}
