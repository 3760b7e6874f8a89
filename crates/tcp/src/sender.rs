//! What every recovery scheme needs to know of the sending side: sequence
//! variables, scoreboard, window, and the rules that all schemes share (how
//! the window grows with an ACK). How it shrinks, and going back after a timeout,
//! is in [`reduce`]; what is done only where somebody watches, in [`watch`].

mod reduce;
mod reordering;
mod watch;

use crate::ack::Ack;
use crate::config::{Config, Counting, RttSamples, WindowUse};
use crate::range_set::Range;
use crate::scoreboard::Scoreboard;
use crate::send_log::SendLog;
use crate::undo::Undo;
use anabranch_congestion::{Acked, Congestion, Controller, PathView};
use anabranch_endpoint::RttEstimator;
use anabranch_units::{Rate, Serial32, Time};
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
    /// The windows that the peer advertises are not this connection's alone.
    pub window_is_shared: bool,
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
    /// The offset after the highest sent when the last loss was detected, or the
    /// last timeout came: no new fast retransmit until all below is acknowledged
    /// (RecoveryPoint of RFC 6675 §2), or more than that (`recover` of RFC 6582 §3.2).
    pub recover: u64,
    /// Duplicate ACKs that signal a loss (DupThresh).
    pub dup_thresh: u32,
    /// RFC 3042.
    pub limited_transmit: bool,
    pub(crate) counting: Counting,
    going_back: bool,
    /// The highest offset sent when an echo last reduced the window: until it
    /// is acknowledged, neither another echo nor a loss reduces it again.
    pub cwr_point: u64,
    /// Somebody needs the send log.
    logging: bool,
    /// SACK is agreed on, and the scheme uses it.
    pub uses_sack: bool,
    /// After a timeout what was SACKed is sent again too ([`Config::go_back_n`]).
    go_back_n: bool,
    /// SACK waits until what was outstanding at a timeout is acknowledged.
    sack_waits: bool,
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
    /// How the window was used, where `WindowUse::Outstanding` asks.
    usage: Option<Usage>,
    /// Entries into fast retransmit.
    pub fast_retransmits: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// Retransmissions that turned out needless, where somebody watches.
    pub spurious: u32,
}

/// How the window was used since an offset was sent.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// It was full.
    full: bool,
    /// The most that was outstanding.
    outstanding: u64,
    /// What was sent when this began: once acknowledged, it begins anew.
    until: u64,
}

impl Sender {
    /// The sending half before the handshake: nothing sent, window unknown.
    pub fn new(config: &Config) -> Sender {
        let mss = config.mss as u64;
        let congestion = config.build_congestion(mss);
        let every_ack = config.rtt_samples == RttSamples::EveryAck;
        let logging = config.recovery.needs_log() || congestion.wants_feedback() || every_ack;
        let undo = Undo::new(config);
        Sender {
            una: 0,
            nxt: 0,
            max: 0,
            window_edge: 1,
            window_is_shared: false,
            max_window: 0,
            end: 1,
            mss,
            board: Scoreboard::default(),
            logging,
            uses_sack: false,
            go_back_n: config.go_back_n,
            sack_waits: false,
            watched: logging || undo.is_some(),
            log: None,
            undo,
            congestion,
            rtt: match config.rtt_samples {
                RttSamples::Timed => RttEstimator::new(config.rto),
                RttSamples::EveryAck => RttEstimator::with_every_ack(config.rto),
            },
            dupacks: 0,
            nxt_before_dupacks: 0,
            recover: 0,
            dup_thresh: config.dupack_threshold,
            limited_transmit: config.limited_transmit,
            counting: config.counting,
            going_back: false,
            cwr_point: 0,
            window_limited: false,
            usage: (config.window_use == WindowUse::Outstanding).then(Usage::default),
            fast_retransmits: 0,
            timeouts: 0,
            spurious: 0,
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

    /// All that was given to send is acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.una == self.end
    }

    /// What was outstanding at a timeout is being sent again: from the timeout
    /// until all of it is acknowledged. No fast retransmit meanwhile.
    pub fn is_going_back(&self) -> bool {
        self.going_back
    }

    /// Duplicate ACKs release segments while going back too ([`Config::go_back_n`]).
    pub fn transmits_going_back(&self) -> bool {
        self.go_back_n && !self.sack_waits
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

    /// The scoreboard may hold one more range.
    fn holds_one_more(&self) -> bool {
        let ranges = self.board.sacked().count() as u64;
        ranges < 64 || ranges < self.most_sacked_ranges()
    }

    /// What an ACK up to the offset `at`, which is acceptable, with these SACK blocks tells: moves
    /// SND.UNA, and keeps the scoreboard. `sack_agreed` says whether both sides speak SACK.
    pub fn read_ack(
        &mut self,
        ack: &mut Ack,
        at: u64,
        iss: Serial32,
        blocks: &[SackBlock],
        sack_agreed: bool,
    ) {
        ack.uses_sack = self.uses_sack;
        if self.watched {
            ack.prior_fack = self.board.fack(self.una);
        }
        if self.uses_sack && !blocks.is_empty() {
            self.read_sack(ack, at, iss, blocks);
        } else if self.watched && sack_agreed {
            ack.dsack = self.duplicate(iss, at, blocks);
        }
        ack.acked = at - self.una;
        ack.delivered = ack.acked + ack.sacked;
        if ack.acked > 0 {
            if !self.uses_sack && self.dupacks > 0 && self.counting == Counting::Delivered {
                // Each duplicate stood for a segment that had arrived.
                ack.delivered = ack.acked.saturating_sub(self.dupacks as u64 * self.mss).max(1);
            }
            ack.delivered -= self.advance(at, ack.prior_fack).min(ack.delivered);
            self.dupacks = 0;
        }
    }

    /// The SACK blocks of an ACK up to `at`: the octets newly SACKed, and the duplicate that they
    /// report (RFC 2883 §4).
    fn read_sack(&mut self, ack: &mut Ack, at: u64, iss: Serial32, blocks: &[SackBlock]) {
        for (n, block) in blocks.iter().enumerate() {
            let left = block.left.expand(iss, self.una);
            let right = block.right.expand(iss, self.una);
            let new = match (left, right) {
                (Some(start), Some(end))
                    if at <= start && start < end && end <= self.max && self.holds_one_more() =>
                {
                    self.on_sack(Range { start, end }, ack.prior_fack)
                }
                _ => 0,
            };
            ack.sacked += new;
            if n == 0 && new == 0 && self.watched {
                ack.dsack = self.duplicate(iss, at, blocks);
            }
        }
    }

    /// A SACK block; returns the octets newly SACKed. `prior_fack` is [`Ack::prior_fack`].
    fn on_sack(&mut self, block: Range, prior_fack: u64) -> u64 {
        match self.watched {
            true => self.on_watched_sack(block, prior_fack),
            false => self.board.on_sack(block).0,
        }
    }

    /// The cumulative ACK moved to `una`, beyond the old one; returns the octets
    /// below it that had been SACKed.
    fn advance(&mut self, una: u64, prior_fack: u64) -> u64 {
        if self.watched {
            self.watch_advance(una, prior_fack);
        }
        self.una = una;
        self.nxt = self.nxt.max(una);
        self.max = self.max.max(una);
        if self.going_back && una >= self.recover {
            self.going_back = false;
            self.nxt = self.max; // beyond what F-RTO sent out of turn
            self.hear_sack_again();
        }
        self.board.on_cumulative_ack(una).0
    }

    /// Whether an ACK that acknowledges nothing new in order is a duplicate ACK: with SACK where it
    /// SACKs something new (RFC 6675 §2), else where it is `bare`, without data, FIN and another
    /// window (RFC 5681 §2). Counts it.
    pub fn count_duplicate(&mut self, ack: &mut Ack, bare: impl FnOnce(&Sender) -> bool) {
        let outstanding = ack.prior_in_flight > 0 || self.watched && self.max > self.una;
        ack.duplicate = ack.acked == 0
            && outstanding
            && if ack.uses_sack { ack.sacked > 0 } else { bare(self) };
        if ack.duplicate {
            if self.dupacks == 0 {
                self.nxt_before_dupacks = self.nxt;
            }
            self.dupacks += 1;
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
        if !self.window_is_shared {
            self.window_edge = ack + window;
        }
        self.max_window = self.max_window.max(window);
    }

    /// The segment that would follow all that was ever sent.
    pub fn next_new(&self) -> Option<Range> {
        let end = self.end.min(self.window_edge).min(self.max + self.mss);
        (self.max < end).then_some(Range { start: self.max, end })
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
            app_limited: match &self.usage {
                None => !self.window_limited,
                Some(usage) => !self.is_used(usage),
            },
            sent: self.max,
            acked: self.una,
        }
    }

    fn is_used(&self, usage: &Usage) -> bool {
        let cwnd = self.cwnd();
        let slow_start = cwnd < self.congestion.ssthresh();
        usage.full || slow_start && cwnd < 2 * usage.outstanding
    }

    /// A sending opportunity is over, with so many octets in flight.
    pub fn on_sending_done(&mut self, limited: bool, in_flight: impl FnOnce(&Sender) -> u64) {
        self.window_limited = limited;
        let Some(usage) = self.usage else { return };
        let full = limited || in_flight(self) >= self.cwnd();
        let outstanding = self.max - self.una;
        let more = !usage.full && outstanding > usage.outstanding;
        if self.una >= usage.until || full || more {
            self.usage = Some(Usage { full, outstanding, until: self.max });
        }
    }

    /// Lets the window grow for an ACK that acknowledged `octets`: by them, or
    /// by one segment when ACKs are counted. An echo of congestion lets it not
    /// grow (RFC 3168 §6.1.2).
    pub fn grow(&mut self, ack: &Ack, octets: u64) {
        if ack.echoes_congestion {
            return;
        }
        let bytes = match self.counting {
            Counting::Bytes => octets,
            Counting::Acks => self.mss,
            Counting::Delivered => octets.min(ack.delivered),
        };
        let path = self.path(ack.prior_in_flight);
        let rtt = self.rtt_of(ack);
        self.congestion.on_ack(&Acked { now: ack.now, bytes, rtt }, &path);
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
}
