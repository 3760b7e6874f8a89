//! What endpoints report: events for the application, facts for observers.

use anabranch_units::{Rate, Span};

/// What an application hears from its endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The connection is established.
    Connected,
    /// In-order data can be read (edge-triggered).
    Readable,
    /// Send-buffer space was freed after a write was cut short.
    Writable,
    /// The peer has marked data ahead as urgent (RFC 9293 §3.8.5).
    Urgent,
    /// Delivery is in trouble: a segment has been sent again several times
    /// without acknowledgment (RFC 9293 §3.8.3, R1).
    Stalled,
    /// The peer has ended its stream and all its data has been received.
    PeerClosed,
    /// The endpoint is gone; the last event.
    Closed(CloseReason),
}

/// Why an endpoint ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CloseReason {
    /// Both streams ended in order.
    Normal,
    /// The peer reset the connection.
    Reset,
    /// The peer refused the connection.
    Refused,
    /// Retransmissions were exhausted.
    TimedOut,
    /// The local application aborted.
    Aborted,
}

/// An endpoint's state as observers see it. Windows and counts are in octets
/// unless named otherwise; counts are totals since the start.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Observation {
    /// Congestion window.
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
    /// Reductions of the window that were undone as needless (RFC 4015).
    pub undone_reductions: u64,
    /// Tail loss probes sent (RFC 8985 §7).
    pub tail_loss_probes: u64,
    /// Retransmissions that turned out needless: duplicates that the peer
    /// reported (RFC 2883); without such reports, what F-RTO and Eifel detection
    /// found. Duplicates that the network makes look alike, up to the number of
    /// retransmissions. Known only to connections with RACK or one of the `undo` options.
    pub spurious_retransmissions: u64,
}
