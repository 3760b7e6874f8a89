//! What endpoints tell observers: where a connection stands, and what it has cost.

use crate::PathObservation;
use anabranch_units::{Rate, Span};

/// An endpoint that can be looked at from outside. No call changes anything, and any of them may
/// be made at any time between two calls of the host.
pub trait Observe {
    /// State and counts of the connection; of a transport with several paths, which path a field
    /// is of stands at its implementation.
    fn observe(&self) -> Observation;

    /// The state of a path of a transport with several, numbered from 0;
    /// `None` beyond the last.
    fn observe_path(&self, _path: usize) -> Option<PathObservation> {
        None
    }

    /// Returns a line for people: the connection's state, what waits to be sent and to be
    /// acknowledged, what holds it up.
    fn status(&self) -> String {
        let observe = self.observe();
        format!(
            "{} octets acknowledged, {} received, {} in flight",
            observe.bytes_acked, observe.bytes_received, observe.in_flight
        )
    }

    /// Octets of memory that the endpoint takes: its state, and what it keeps of both streams
    /// (counted octets as if they were there).
    fn memory(&self) -> u64 {
        size_of_val(self) as u64
    }
}

/// An endpoint's state as observers see it. Windows and counts are in octets
/// unless named otherwise; counts are totals since the start.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Observation {
    /// Congestion window, that of the primary path of an SCTP association. While TCP repairs losses with
    /// proportional rate reduction, it is what that lets be in flight, and a segment at least (RFC 9937 §6).
    pub cwnd: u64,
    /// Slow-start threshold; `u64::MAX` when infinite.
    pub ssthresh: u64,
    /// Estimate of what is in the network.
    pub in_flight: u64,
    /// Smoothed round-trip time, once measured.
    pub srtt: Option<Span>,
    /// The last round-trip sample.
    pub latest_rtt: Option<Span>,
    /// Retransmission timeout now in force.
    pub rto: Span,
    /// Pacing rate, where the window algorithm asks for one.
    pub pacing_rate: Option<Rate>,
    /// The sender is repairing losses.
    pub in_recovery: bool,
    /// Consecutive duplicate ACKs or an equivalent.
    pub dupacks: u32,
    /// Payload octets acknowledged cumulatively by the peer.
    pub bytes_acked: u64,
    /// Payload octets received in order from the peer.
    pub bytes_received: u64,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets sent again.
    pub retransmitted_packets: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Times that the window answered marks that the peer had echoed, at most once per window of
    /// data (RFC 3168 §6.1.2).
    pub ecn_reductions: u64,
    /// Reductions of the window that were undone as spurious (RFC 4015).
    pub undone_reductions: u64,
    /// Tail loss probes sent (RFC 8985 §7).
    pub tail_loss_probes: u64,
    /// Retransmissions that turned out spurious: duplicates that the peer
    /// reported (RFC 2883); without such reports, what F-RTO and Eifel detection
    /// found. Duplicates that the network makes look alike, up to the number of
    /// retransmissions. Known only to connections with RACK or one of the `undo` options.
    pub spurious_retransmissions: u64,
}
