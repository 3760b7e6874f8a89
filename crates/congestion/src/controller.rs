//! The seam between a sender and its window algorithm.

use anabranch_units::{Rate, Span, Time};

/// `PathView` is a read-only view of the path that a controller governs.
#[derive(Clone, Copy, Debug)]
pub struct PathView {
    /// `in_flight` is how many octets are estimated to be in the network: before the event in
    /// [`Controller::on_sent`], [`Controller::on_ack`] and [`Controller::on_congestion`], after it
    /// in [`Controller::on_feedback`]. SCTP counts chunks with their headers, and what is found
    /// lost no more.
    pub in_flight: u64,
    /// `mss` is the largest segment payload, in octets; in SCTP the largest DATA chunk of a packet.
    pub mss: u64,
    /// `srtt` is the smoothed round-trip time of RFC 6298; `None` before the first sample.
    pub srtt: Option<Span>,
    /// `min_rtt` is the smallest round-trip time since the start; `None` before the first sample.
    pub min_rtt: Option<Span>,
    /// `app_limited` says that the sender had nothing to send while the window was open, or the
    /// peer's window was shut, when it could send last: the window was not the limit, so it must
    /// not grow (RFC 7661 §4.1, RFC 9438 §5.8).
    pub app_limited: bool,
    /// `sent` is how many octets were sent so far, each counted once however often it was sent.
    pub sent: u64,
    /// `acked` is how many octets were acknowledged so far, in order; in SCTP those that are not
    /// outstanding on the path any more, in any order. A round has passed when this reaches what
    /// `sent` was at its start (RFC 9406 §4.2).
    pub acked: u64,
}

/// `Acked` tells that new data was acknowledged while the window may grow.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// `now` is the time at which the ACK arrived.
    pub now: Time,
    /// `bytes` is how many octets were newly acknowledged, as the counting rule of the sender has
    /// it (byte counting: the octets; ACK counting: one MSS per ACK).
    pub bytes: u64,
    /// `rtt` is the round-trip sample that this ACK gives, if it gives one.
    pub rtt: Option<Span>,
}

/// `Feedback` is all that one acknowledgment told, whether the window may grow with it or not.
#[derive(Clone, Copy, Debug)]
pub struct Feedback {
    /// `now` is the time at which the acknowledgment arrived.
    pub now: Time,
    /// `acked` is how many octets were newly acknowledged, in order, reported selectively before or
    /// not.
    pub acked: u64,
    /// `delivered` is how many octets are newly known to have arrived: in order or selectively.
    pub delivered: u64,
    /// `lost` is how many octets are newly believed lost.
    pub lost: u64,
    /// `marked` is how many octets were newly reported to have met congestion (CE, RFC 3168).
    pub marked: u64,
    /// `rtt` is the round-trip sample that this acknowledgment gives, if it gives one.
    pub rtt: Option<Span>,
    /// `rate` is a delivery-rate sample, where the sender keeps what samples need.
    pub rate: Option<RateSample>,
    /// `in_recovery` says that the recovery scheme repairs a loss.
    pub in_recovery: bool,
}

/// `RateSample` is a delivery-rate sample (draft-ietf-ccwg-bbr, section "Delivery Rate Samples"),
/// taken over the flight of the newest segment that the acknowledgment reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateSample {
    /// `delivered` is how many octets arrived in the interval.
    pub delivered: u64,
    /// `interval` is the longer of the interval of sending and that of acknowledging.
    pub interval: Span,
    /// `prior_delivered` is how many octets had been delivered in total when that segment was sent.
    pub prior_delivered: u64,
    /// `total_delivered` is how many octets have been delivered in total now.
    pub total_delivered: u64,
    /// `app_limited` says that the application, not the network, limited the rate when the segment
    /// was sent.
    pub app_limited: bool,
    /// `tx_in_flight` is how many octets were in flight when that segment was sent, itself included
    /// (`RS.tx_in_flight`). It is told to algorithms that ask for losses
    /// ([`Controller::wants_losses`]), else 0.
    pub tx_in_flight: u64,
    /// `lost` is how many octets were believed lost since the segment was sent (`RS.lost`), told to
    /// the same; else 0.
    pub lost: u64,
}

/// `LostSegment` is a segment that is newly believed lost (draft-ietf-ccwg-bbr,
/// `HandleLostPacket`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostSegment {
    /// `offset` is where the segment's first octet is from the start of the stream.
    pub offset: u64,
    /// `bytes` is how many octets of the segment have not arrived.
    pub bytes: u64,
    /// `tx_in_flight` is how many octets were in flight when the segment was sent, itself included
    /// (`P.tx_in_flight`).
    pub tx_in_flight: u64,
    /// `lost` is how many octets were believed lost since the segment was sent, it included
    /// (`C.lost - P.lost`).
    pub lost: u64,
    /// `app_limited` says that the application, not the network, limited the rate when the segment
    /// was sent (`P.is_app_limited`).
    pub app_limited: bool,
}

/// `Cause` is the signal for which the window must shrink.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Acknowledgments have shown a loss; it fires once per window of data.
    Loss,
    /// The retransmission timer has expired; it fires at each expiry.
    Timeout,
    /// The network has marked a packet (RFC 3168); it fires once per window of data.
    EcnMark,
}

/// `CongestionEvent` is a signal of congestion, to which the controller answers with a reduction.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// `now` is the time at which the sender found the congestion.
    pub now: Time,
    /// `cause` is the signal by which the sender found it.
    pub cause: Cause,
}

/// `Sibling` is the view that a coupled algorithm has of another path of the same connection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sibling {
    /// `window` is the congestion window of the path, in octets.
    pub window: u64,
    /// `slow_start` says that the window is below its threshold.
    pub slow_start: bool,
    /// `mss` is the largest segment payload on the path, in octets.
    pub mss: u64,
    /// `srtt` is the smoothed round-trip time of RFC 6298; `None` before the first sample.
    pub srtt: Option<Span>,
    /// `min_rtt` is the smallest round-trip time since the start; `None` before the first sample.
    pub min_rtt: Option<Span>,
    /// `state` is what the sibling's algorithm shares beside that.
    pub state: Shared,
}

/// `Shared` is what algorithms tell their siblings beside what every path has.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Shared {
    /// `between_losses` is how many octets were acknowledged between the last two losses or since
    /// the last, whichever are more (OLIA).
    pub between_losses: f64,
    /// `k` is the time from a reduction to the plateau, in seconds (MCubic); 0 when unknown.
    pub k: f64,
    /// `rate` is the rate, in segments per second, at the queue that the path should have (wVegas),
    /// or its bottleneck's bandwidth (coupled BBR); 0 when unknown.
    pub rate: f64,
    /// `own` is a number that an algorithm of the user's own tells.
    pub own: f64,
}

/// `Controller` is a window algorithm as its sender sees it. Hooks have empty defaults.
///
/// A sender calls them through its [`Driver`](crate::Driver), for each acknowledgment in this order:
///
/// | hook | fires |
/// |---|---|
/// | [`on_siblings`](Controller::on_siblings) | first, where the algorithm is coupled and other paths carry data |
/// | [`on_undo`](Controller::on_undo) | when the last reduction turned out to be spurious |
/// | [`on_ack`](Controller::on_ack) | when new data was acknowledged and the window may grow: not while a recovery freezes it, nor with an echo of congestion (RFC 3168 §6.1.2) |
/// | [`on_congestion`](Controller::on_congestion) | at a loss or a mark, once a window of data for both together |
/// | [`on_feedback`](Controller::on_feedback) | last, where the algorithm wants it |
///
/// and beside acknowledgments [`on_sent`](Controller::on_sent), [`on_idle`](Controller::on_idle),
/// [`on_penalty`](Controller::on_penalty), and `on_congestion` at a timeout. The tests
/// `window_contract.rs` of the protocols hold them to it.
pub trait Controller {
    /// Data is about to leave; fires for each data segment or chunk, whether it is new or sent again.
    fn on_sent(&mut self, _now: Time, _bytes: u64, _path: &PathView) {}

    /// Data was acknowledged; fires for each ACK that lets the window grow
    /// (a recovery scheme that freezes the window does not call it).
    fn on_ack(&mut self, acked: &Acked, path: &PathView);

    /// Returns whether the algorithm hears [`Controller::on_feedback`], and a round-trip sample
    /// with every acknowledgment in place of one or so per round; which costs its sender something
    /// per acknowledgment. Asked when the sender is built, too: the answer may turn to false later,
    /// not to true.
    fn wants_feedback(&self) -> bool {
        false
    }

    /// The window in a recovery is the algorithm's own choice, made at each acknowledgment: recovery
    /// schemes do not spread a reduction over it (PRR), and tell one loss in a recovery. Asked when
    /// the sender is built.
    fn owns_recovery(&self) -> bool {
        false
    }

    /// An acknowledgment came, after everything else that it caused. Fires for
    /// each that told something new, in recovery too. `path` is as it was left.
    fn on_feedback(&mut self, _feedback: &Feedback, _path: &PathView) {}

    /// Returns whether the algorithm hears [`Controller::on_lost`], for which the sender keeps with
    /// each segment what was in flight and lost. Asked when the sender is built, of algorithms that
    /// want feedback.
    fn wants_losses(&self) -> bool {
        false
    }

    /// A segment is newly believed lost. Fires for each, in the order in which they were found, before
    /// the [`Controller::on_feedback`] of the acknowledgment that told of it, or at the deadline of
    /// the recovery scheme that did; what a timeout gives up is told with the next of both.
    fn on_lost(&mut self, _now: Time, _segment: &LostSegment, _path: &PathView) {}

    /// Hears of a congestion signal: sets `ssthresh` and the window.
    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView);

    /// The last reduction turned out to be spurious: restores what was. Fires where the sender has an
    /// option that looks for it (`undo`).
    fn on_undo(&mut self) {}

    /// The path was idle for longer than a retransmission timeout: restart
    /// from `initial` octets (RFC 5681 §4.1). Fires before the data that ends the rest, with nothing
    /// in flight.
    fn on_idle(&mut self, initial: u64);

    /// Returns whether the algorithm depends on the other paths of a connection that has several.
    fn is_coupled(&self) -> bool {
        false
    }

    /// The other paths as they are now. Fires before each acknowledgment where
    /// the algorithm is coupled; a connection with a single path never calls
    /// it.
    fn on_siblings(&mut self, _siblings: &[Sibling]) {}

    /// Returns the facts that siblings should know of this path.
    fn shared(&self) -> Shared {
        Shared::default()
    }

    /// Returns the quantity that couples the path, which is `path`, to its siblings, in the unit of
    /// the algorithm (docs/kernel.md has them); for observers. `None` where the algorithm is not
    /// coupled.
    fn coupling(&self, _path: &Sibling) -> Option<f64> {
        None
    }

    /// The path holds back others of the same connection that wait for its
    /// data: its window is halved (Raiciu et al., NSDI 2012, section 4.2).
    fn on_penalty(&mut self, _mss: u64) {}

    /// Returns the congestion window, in octets; at least one segment.
    fn window(&self) -> u64;

    /// Returns the slow-start threshold, in octets; `u64::MAX` when infinite.
    fn ssthresh(&self) -> u64;

    /// Returns the rate to pace at, given the smoothed round-trip time; `None` when sending is
    /// driven by ACKs alone.
    fn pacing_rate(&self, _srtt: Option<Span>) -> Option<Rate> {
        None
    }

    /// Returns the longest time, at the pacing rate, that data which leaves together may take; a
    /// packet always may leave. `None` where the sender's own bound is all there is.
    fn longest_burst(&self) -> Option<Span> {
        None
    }
}
