//! What every recovery scheme needs to know of the sending side: sequence
//! variables, scoreboard, window, and the rules that all schemes share (how
//! the window grows with an ACK, how it shrinks, going back after a timeout).

use crate::config::{Config, Counting};
use crate::range_set::Range;
use crate::scoreboard::Scoreboard;
use crate::send_log::SendLog;
use crate::undo::Undo;
use anabranch_congestion::{
    Acked, Cause, Congestion, CongestionEvent, Controller, Feedback, PathView,
};
use anabranch_endpoint::RttEstimator;
use anabranch_units::{Rate, Serial32, Span, Time};
use anabranch_wire::SackBlock;

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
    /// Somebody needs the send log.
    logging: bool,
    /// SACK is agreed on, and the scheme uses it.
    pub uses_sack: bool,
    /// There is a send log to write, or a witness to ask.
    pub watched: bool,
    /// When what is outstanding was sent; absent before the first data, and
    /// where nobody needs it.
    pub log: Option<Box<SendLog>>,
    /// Whether the last reduction was needless, where anything asks.
    pub undo: Option<Box<Undo>>,
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
    /// The duplicate that it reports (RFC 2883).
    pub dsack: Option<Range>,
    /// The millisecond in which the segment was sent whose timestamp it
    /// echoes (RFC 7323).
    pub echo: Option<u64>,
}

impl Sender {
    /// The sending half before the handshake: nothing sent, window unknown.
    pub fn new(config: &Config) -> Sender {
        let mss = config.mss as u64;
        let congestion = config.build_congestion(mss);
        let logging = config.recovery.needs_log() || congestion.wants_feedback();
        let undo = Undo::new(config);
        Sender {
            una: 0,
            nxt: 0,
            max: 0,
            window_edge: 1,
            max_window: 0,
            end: 1,
            mss,
            board: Scoreboard::default(),
            logging,
            uses_sack: false,
            watched: logging || undo.is_some(),
            log: None,
            undo,
            congestion,
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

    /// The rate to pace at, where the window algorithm has one.
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.congestion.pacing_rate(self.rtt.srtt())
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
        let nxt = self.nxt;
        self.nxt = range.end;
        if self.watched {
            self.watch_order(range, nxt);
        }
        self.max = self.max.max(range.end);
    }

    /// Separate SACKed ranges that are kept at most: what is in flight as
    /// quarter segments, every other one lost, and 64. A peer that SACKs every
    /// other octet gets no more memory.
    pub fn most_sacked_ranges(&self) -> u64 {
        64 + (self.max - self.una) / (self.mss / 2)
    }

    /// What F-RTO lets leave while what was outstanding at a timeout waits is
    /// out of turn: SND.NXT stays.
    #[inline(never)]
    fn watch_order(&mut self, range: Range, nxt: u64) {
        if let Some(undo) = &mut self.undo
            && range.start >= self.max
            && undo.takes_new_segment()
            && self.going_back
        {
            self.nxt = nxt;
        }
    }

    /// The scoreboard may hold one more range.
    fn holds_one_more(&self) -> bool {
        let ranges = self.board.sacked().count() as u64;
        ranges < 64 || ranges < self.most_sacked_ranges()
    }

    /// The SACK blocks of an ACK up to `ack`: returns the octets newly SACKed,
    /// and the duplicate that they report (RFC 2883 §4).
    pub fn read_sack(
        &mut self,
        iss: Serial32,
        ack: u64,
        blocks: &[SackBlock],
    ) -> (u64, Option<Range>) {
        let (mut sacked, mut dsack) = (0, None);
        for (n, block) in blocks.iter().enumerate() {
            let left = block.left.expand(iss, self.una);
            let right = block.right.expand(iss, self.una);
            let new = match (left, right) {
                (Some(start), Some(end))
                    if ack <= start && start < end && end <= self.max && self.holds_one_more() =>
                {
                    self.on_sack(Range { start, end })
                }
                _ => 0,
            };
            sacked += new;
            if n == 0 && new == 0 && self.watched {
                dsack = self.duplicate(iss, ack, blocks);
            }
        }
        (sacked, dsack)
    }

    /// The duplicate that SACK blocks report: the first, where it lies below
    /// the ACK or inside the second (RFC 2883 §4).
    #[inline(never)]
    pub fn duplicate(&self, iss: Serial32, ack: u64, blocks: &[SackBlock]) -> Option<Range> {
        let range = |block: &SackBlock| {
            let start = block.left.expand(iss, self.una)?;
            let end = block.right.expand(iss, self.una)?;
            (start < end && end <= self.max).then_some(Range { start, end })
        };
        let first = range(blocks.first()?)?;
        let held = || blocks.get(1).and_then(range);
        let inside = |by: Range| by.start <= first.start && first.end <= by.end;
        (first.end <= ack || held().is_some_and(inside)).then_some(first)
    }

    /// The ACK is read, the scheme not yet asked.
    #[inline(never)]
    pub fn on_ack_read(&mut self, ack: &Ack) {
        if let Some(log) = &mut self.log {
            log.on_ack(ack.now, ack.delivered);
        }
    }

    /// Everybody has heard of the ACK.
    pub fn on_ack_done(&mut self) {
        if let Some(log) = &mut self.log {
            log.end_ack();
        }
    }

    /// A SACK block; returns the octets newly SACKed.
    pub fn on_sack(&mut self, block: Range) -> u64 {
        if self.watched { self.on_watched_sack(block) } else { self.board.on_sack(block).0 }
    }

    #[inline(never)]
    fn on_watched_sack(&mut self, block: Range) -> u64 {
        self.look_for_reordering(block);
        let Some(log) = &mut self.log else { return self.board.on_sack(block).0 };
        let Range { mut start, end } = block;
        let mut new = 0;
        // Gap by gap: what was SACKed before is not looked at again.
        while let Some(gap) = self.board.hole(start, end) {
            new += self.board.on_sack(gap).0;
            log.on_sacked(gap, self.board.sacked());
            start = gap.end;
        }
        new
    }

    /// The cumulative ACK moved to `una`, beyond the old one; returns the octets
    /// below it that had been SACKed.
    pub fn advance(&mut self, una: u64) -> u64 {
        if self.watched {
            self.watch_advance(una);
        }
        self.una = una;
        self.nxt = self.nxt.max(una);
        self.max = self.max.max(una);
        if self.going_back && una >= self.recover {
            self.going_back = false;
            self.nxt = self.max; // beyond what F-RTO sent out of turn
        }
        self.board.on_cumulative_ack(una).0
    }

    #[inline(never)]
    fn watch_advance(&mut self, una: u64) {
        self.look_for_reordering(Range { start: self.una, end: una });
        if let Some(log) = &mut self.log {
            log.on_cumulative_ack(una);
        }
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

    /// The segment that would follow all that was ever sent.
    pub fn next_new(&self) -> Option<Range> {
        let end = self.end.min(self.window_edge).min(self.max + self.mss);
        (self.max < end).then_some(Range { start: self.max, end })
    }

    /// Octets newly lost, now that everything below `edge` that is not SACKed
    /// is: above where the last question left off.
    pub fn lost_below(&mut self, edge: u64) -> u64 {
        let Some(log) = &mut self.log else { return 0 };
        let from = log.lost_edge.max(self.una);
        log.lost_edge = from.max(edge);
        if edge <= from { 0 } else { self.board.holes_between(from, edge) }
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
        let rtt = self.rtt_of(ack);
        self.congestion.on_ack(&Acked { now: ack.now, bytes, rtt }, &path);
    }

    /// What the window algorithm hears of the round-trip time: with a log, a
    /// sample with every ACK; without, that of the segment being timed.
    fn rtt_of(&self, ack: &Ack) -> Option<Span> {
        let logged = self.log.as_ref().and_then(|log| log.rtt_sample(ack.now));
        logged.or(ack.rtt)
    }

    /// What `ack` told, for window algorithms that want to hear of each. All
    /// else that it caused has happened; `in_flight` is what it left.
    pub fn on_feedback(&mut self, ack: &Ack, lost: u64, in_flight: u64, in_recovery: bool) {
        let min_rtt = self.rtt.min_rtt();
        let feedback = Feedback {
            now: ack.now,
            acked: ack.acked,
            delivered: ack.delivered,
            lost,
            marked: if self.echoed { ack.delivered } else { 0 },
            rtt: self.rtt_of(ack),
            rate: self.log.as_ref().and_then(|log| log.rate_sample(min_rtt)),
            in_recovery,
        };
        let path = self.path(in_flight);
        self.congestion.on_feedback(&feedback, &path);
    }

    /// `range` is about to leave, with `octets` of data: the window algorithm
    /// and the send log hear of it.
    pub fn on_sending(&mut self, now: Time, range: Range, octets: u64) {
        let path = self.path(self.flight());
        self.congestion.on_sent(now, octets, &path);
        if self.watched {
            self.watch_sending(now, range);
        }
    }

    #[inline(never)]
    fn watch_sending(&mut self, now: Time, range: Range) {
        if self.logging {
            let flight = self.flight();
            self.log.get_or_insert_default().on_sent(now, range, flight);
        }
        if let Some(undo) = &mut self.undo
            && range.start < self.max
        {
            undo.on_resent(now, range.len());
        }
    }

    /// A duplicate ACK arrived.
    pub fn count_dupack(&mut self) {
        if self.dupacks == 0 {
            self.nxt_before_dupacks = self.nxt;
        }
        self.dupacks += 1;
    }

    /// What is outstanding was too big for the path: it is sent again from
    /// `una`, in smaller segments, without a reduction of the window.
    pub fn resend_smaller(&mut self) {
        self.board.forget_retransmissions();
        self.nxt = self.una;
        self.recover = self.max;
        self.going_back = true;
        self.dupacks = 0;
    }

    /// Loss was detected by acknowledgments: shrinks the window, and remembers
    /// how far had been sent. What limited transmit sent is not in the flight
    /// that is halved (RFC 5681 §3.2 step 2).
    pub fn enter_recovery(&mut self, now: Time, prior_in_flight: u64) {
        let flight = match self.dupacks {
            0 => prior_in_flight,
            _ => self.nxt_before_dupacks - self.una,
        };
        self.on_loss(now, flight);
        self.fast_retransmits += 1;
    }

    /// A loss among `flight` octets: shrinks the window, and remembers how far
    /// had been sent.
    pub fn on_loss(&mut self, now: Time, flight: u64) {
        if let Some(undo) = &mut self.undo {
            undo.on_fast_retransmit(self.una);
        }
        // Once per window of data, for marks and losses together
        // (RFC 3168 §6.1.2).
        if self.una >= self.cwr_point {
            let path = self.path(flight);
            let signal = CongestionEvent { now, cause: Cause::Loss };
            self.congestion.on_congestion(&signal, &path);
        }
        self.recover = self.max;
    }

    /// The retransmission timer expired (RFC 5681 §3.1, RFC 6675 §5.1):
    /// shrinks the window to one segment and goes back to `una`. SACKed octets
    /// are remembered and not sent again.
    pub fn go_back(&mut self, now: Time) {
        self.on_timeout(now);
        self.nxt = self.una;
        self.going_back = true;
    }

    /// The retransmission timer expired: shrinks the window to one segment. RFC
    /// 5681 §3.1 halves all that is outstanding. While a lost retransmission
    /// waits for its timer that becomes many windows, most of which have
    /// arrived: of it no more than a window counts. What was SACKed is forgotten only
    /// where the receiver shows that it has discarded it: the first segment not
    /// acknowledged among it (RFC 2018 §8).
    pub fn on_timeout(&mut self, now: Time) {
        if let Some(undo) = &mut self.undo {
            undo.on_timeout(self.una, self.recover);
        }
        let path = self.path(self.flight().min(self.cwnd()));
        let signal = CongestionEvent { now, cause: Cause::Timeout };
        self.congestion.on_congestion(&signal, &path);
        self.rtt.on_timeout();
        self.board.forget_retransmissions();
        if self.board.sacked().first().is_some_and(|r| r.start <= self.una) {
            self.board.forget_sacked();
            if let Some(log) = &mut self.log {
                log.on_reneging();
            }
        }
        self.recover = self.max;
        self.dupacks = 0;
        self.forget_reordering();
        self.timeouts += 1;
    }

    /// The last reduction was needless (RFC 4015 §3.2): the window is what it
    /// was, nothing is sent again any more, and a new loss may be detected.
    ///
    /// Deviation: the window algorithm restores its own state, as Linux does,
    /// where §3.2 step 7 computes one from FlightSize.
    pub fn undo_reduction(&mut self) {
        self.congestion.on_undo();
        self.rtt.reset_backoff();
        self.board.forget_retransmissions();
        if let Some(log) = &mut self.log {
            log.find_lost();
        }
        self.nxt = self.nxt.max(self.max); // §3.2 step 5
        self.going_back = false;
        self.recover = self.una;
        self.dupacks = 0;
    }

    /// A round-trip sample. After a needless timeout the estimate is lifted to
    /// it (RFC 4015 §3.2 step 8).
    pub fn on_rtt_sample(&mut self, rtt: Span) {
        self.rtt.on_sample(rtt);
        if let Some(undo) = &mut self.undo
            && undo.take_adaptation()
        {
            self.rtt.lift(rtt);
        }
    }

    /// The duplicate ACKs, or what was SACKed, may signal a new loss: the data
    /// that was outstanding at the last loss or timeout has been acknowledged
    /// (RFC 6582 §3.2 step 2, RFC 6675 §5.1).
    pub fn may_enter_recovery(&self) -> bool {
        self.una >= self.recover && !self.going_back
    }
}
