//! What every recovery scheme needs to know of the sending side: sequence
//! variables, scoreboard, window, and the rules that all schemes share (how
//! the window grows with an ACK, how it shrinks, going back after a timeout).

use crate::config::{Config, Counting};
use crate::range_set::Range;
use crate::scoreboard::Scoreboard;
use anabranch_congestion::{
    Acked, Cause, Congestion, CongestionEvent, Controller, Feedback, PathView,
};
use anabranch_endpoint::RttEstimator;
use anabranch_units::{Span, Time};

/// The sending half of a connection, without its recovery scheme. Offsets
/// count from the SYN (offset 0).
#[derive(Debug)]
pub struct Sender {
    /// Oldest unacknowledged offset (SND.UNA).
    pub una: u64,
    /// Next offset to send (SND.NXT). Behind `max` after a timeout, while
    /// what was outstanding is sent again.
    pub nxt: u64,
    /// The offset after the highest ever sent.
    pub max: u64,
    /// Right edge of the peer's receive window (SND.UNA + SND.WND).
    pub window_edge: u64,
    /// The largest window that the peer has advertised (MAX.SND.WND).
    pub max_window: u64,
    /// The offset after the last that the application has given, the FIN
    /// included once the stream is closed.
    pub end: u64,
    /// Payload of a full segment, in octets.
    pub mss: u64,
    /// SACKed and retransmitted ranges; stays empty unless the scheme uses SACK.
    pub board: Scoreboard,
    /// The window algorithm.
    pub congestion: Congestion,
    /// Round-trip time and retransmission timeout.
    pub rtt: RttEstimator,
    /// Duplicate ACKs in a row.
    pub dupacks: u32,
    /// SND.NXT at the first of them: what was sent since is limited transmit.
    nxt_before_dupacks: u64,
    /// The highest offset sent when the last loss was detected, or the last
    /// timeout came: no new fast retransmit until it is acknowledged
    /// (`recover` of RFC 6582 §3.2, RecoveryPoint of RFC 6675 §2).
    pub recover: u64,
    /// Duplicate ACKs that signal a loss (DupThresh).
    pub dup_thresh: u32,
    /// RFC 3042.
    pub limited_transmit: bool,
    counting: Counting,
    going_back: bool,
    /// The ACK at hand carries an echo of congestion (RFC 3168 §6.1.2).
    pub echoed: bool,
    /// The highest offset sent when an echo last reduced the window: until it
    /// is acknowledged, neither another echo nor a loss reduces it again.
    pub cwr_point: u64,
    /// The window, not the application or the receiver, stopped the last
    /// sending opportunity.
    pub window_limited: bool,
    /// Entries into fast retransmit.
    pub fast_retransmits: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
}

/// What one ACK did.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Octets newly acknowledged cumulatively.
    pub acked: u64,
    /// Octets newly known to have arrived: newly SACKed, or cumulatively
    /// acknowledged without having been SACKed before.
    pub delivered: u64,
    /// A duplicate ACK (RFC 5681 §2; with SACK, RFC 6675 §2).
    pub duplicate: bool,
    /// Octets in flight before this ACK, as the scheme counts them.
    pub prior_in_flight: u64,
    /// A round-trip sample taken with it.
    pub rtt: Option<Span>,
}

impl Sender {
    /// The sending half before the handshake: nothing sent, window unknown.
    pub fn new(config: &Config) -> Sender {
        let mss = config.mss as u64;
        Sender {
            una: 0,
            nxt: 0,
            max: 0,
            window_edge: 1,
            max_window: 0,
            end: 1,
            mss,
            board: Scoreboard::default(),
            congestion: config.build_congestion(mss),
            rtt: RttEstimator::new(config.rto),
            dupacks: 0,
            nxt_before_dupacks: 0,
            recover: 0,
            dup_thresh: config.dupack_threshold,
            limited_transmit: config.limited_transmit,
            counting: config.counting,
            going_back: false,
            echoed: false,
            cwr_point: 0,
            window_limited: false,
            fast_retransmits: 0,
            timeouts: 0,
        }
    }

    /// The congestion window in octets.
    pub fn cwnd(&self) -> u64 {
        self.congestion.window()
    }

    /// Octets sent and not cumulatively acknowledged, counted from `nxt`
    /// (RFC 5681's FlightSize; after a timeout, what was sent since).
    pub fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// What was outstanding at a timeout is being sent again: from the timeout
    /// until all of it is acknowledged. No fast retransmit meanwhile.
    pub fn is_going_back(&self) -> bool {
        self.going_back
    }

    /// While going back, everything between `una` and `nxt` that is not SACKed
    /// is in flight: it was sent since the timeout.
    pub fn flight_going_back(&self) -> u64 {
        self.flight() - self.board.sacked().total_below(self.nxt)
    }

    /// The retransmission of `range`, or its first transmission at `nxt`, left.
    pub fn on_sent_in_order(&mut self, range: Range) {
        self.nxt = range.end;
        self.max = self.max.max(range.end);
    }

    /// The cumulative ACK moved to `una`, beyond the old one; returns the octets
    /// below it that had been SACKed.
    pub fn advance(&mut self, una: u64) -> u64 {
        self.una = una;
        self.nxt = self.nxt.max(una);
        self.max = self.max.max(una);
        if una >= self.recover {
            self.going_back = false;
        }
        self.board.on_cumulative_ack(una).0
    }

    /// The range that the next segment in order would take: at `nxt`, around
    /// SACKed octets, at most one MSS, within what the application gave and
    /// the receiver's window allows. `None` when there is nothing to send or
    /// the segment would be silly.
    pub fn next_in_order(&self) -> Option<Range> {
        let limit = self.end.min(self.window_edge);
        if self.nxt >= limit {
            return None;
        }
        let mut range = Range { start: self.nxt, end: limit };
        if self.nxt < self.max {
            range = self.board.hole(self.nxt, limit)?;
        }
        range.end = range.end.min(range.start + self.mss);
        (!self.is_silly(range)).then_some(range)
    }

    /// RFC 9293 §3.8.6.2.1: new data, cut short by the receiver's window, less
    /// than a full segment and than half the largest window. It waits for more
    /// of the window or for the override timeout.
    fn is_silly(&self, range: Range) -> bool {
        range.len() < self.mss
            && range.end == self.window_edge
            && range.end < self.end
            && range.start >= self.max
            && range.len() < self.max_window / 2
    }

    /// Nothing is in flight whose ACK could open the window: data waits for
    /// the window to open, or to open by a useful amount.
    pub fn is_blocked(&self) -> bool {
        self.flight() == 0
            && self.nxt < self.end
            && (self.nxt >= self.window_edge
                || self.is_silly(Range { start: self.nxt, end: self.window_edge }))
    }

    /// The peer advertised a window up to `edge` with an ACK of `ack`.
    pub fn on_window(&mut self, ack: u64, window: u64) {
        self.window_edge = ack + window;
        self.max_window = self.max_window.max(window);
    }

    /// One full segment from `start` for sending again, not beyond what was
    /// sent before nor into what is SACKed.
    pub fn segment_at(&self, start: u64) -> Range {
        let hole = self.board.hole(start, self.max);
        let end = hole.filter(|h| h.start == start).map_or(self.max, |h| h.end);
        Range { start, end: end.min(start + self.mss) }
    }

    pub(crate) fn path(&self, in_flight: u64) -> PathView {
        PathView {
            in_flight,
            mss: self.mss,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min_rtt(),
            app_limited: !self.window_limited,
            sent: self.max,
            acked: self.una,
        }
    }

    /// Lets the window grow for an ACK that acknowledged `octets`: by them, or
    /// by one segment when ACKs are counted. An echo of congestion lets it not
    /// grow (RFC 3168 §6.1.2).
    pub fn grow(&mut self, ack: &Ack, octets: u64) {
        if self.echoed {
            return;
        }
        let bytes = match self.counting {
            Counting::Bytes => octets,
            Counting::Acks => self.mss,
        };
        let path = self.path(ack.prior_in_flight);
        self.congestion.on_ack(&Acked { now: ack.now, bytes, rtt: ack.rtt }, &path);
    }

    /// What `ack` told, for window algorithms that want to hear of each. All
    /// else that it caused has happened; `in_flight` is what it left.
    pub fn on_feedback(&mut self, ack: &Ack, in_flight: u64, in_recovery: bool) {
        let feedback = Feedback {
            now: ack.now,
            acked: ack.acked,
            delivered: ack.delivered,
            lost: 0,
            marked: if self.echoed { ack.delivered } else { 0 },
            rtt: ack.rtt,
            rate: None,
            in_recovery,
        };
        let path = self.path(in_flight);
        self.congestion.on_feedback(&feedback, &path);
    }

    /// Data is about to leave: the window algorithm hears of it.
    pub fn on_sending(&mut self, now: Time, octets: u64) {
        let path = self.path(self.flight());
        self.congestion.on_sent(now, octets, &path);
    }

    /// A duplicate ACK arrived.
    pub fn count_dupack(&mut self) {
        if self.dupacks == 0 {
            self.nxt_before_dupacks = self.nxt;
        }
        self.dupacks += 1;
    }

    /// Loss was detected by acknowledgments: shrinks the window, and remembers
    /// how far had been sent. What limited transmit sent is not in the flight
    /// that is halved (RFC 5681 §3.2 step 2).
    pub fn enter_recovery(&mut self, ack: &Ack) {
        let flight = match self.dupacks {
            0 => ack.prior_in_flight,
            _ => self.nxt_before_dupacks - self.una,
        };
        // Once per window of data, for marks and losses together
        // (RFC 3168 §6.1.2).
        if self.una >= self.cwr_point {
            let path = self.path(flight);
            let signal = CongestionEvent { now: ack.now, cause: Cause::Loss };
            self.congestion.on_congestion(&signal, &path);
        }
        self.recover = self.max;
        self.fast_retransmits += 1;
    }

    /// The retransmission timer expired (RFC 5681 §3.1, RFC 6675 §5.1):
    /// shrinks the window to one segment and goes back to `una`. SACKed octets
    /// are remembered and not sent again.
    pub fn go_back(&mut self, now: Time, in_flight: u64) {
        let path = self.path(in_flight);
        let signal = CongestionEvent { now, cause: Cause::Timeout };
        self.congestion.on_congestion(&signal, &path);
        self.rtt.on_timeout();
        self.board.forget_retransmissions();
        self.nxt = self.una;
        self.recover = self.max;
        self.going_back = true;
        self.dupacks = 0;
        self.timeouts += 1;
    }

    /// The duplicate ACKs, or what was SACKed, may signal a new loss: the data
    /// that was outstanding at the last loss or timeout has been acknowledged
    /// (RFC 6582 §3.2 step 2, RFC 6675 §5.1).
    pub fn may_enter_recovery(&self) -> bool {
        self.una >= self.recover && !self.going_back
    }
}
