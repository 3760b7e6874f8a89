//! What every recovery scheme needs to know of the sending side: sequence
//! variables, scoreboard, window, and the rules that all schemes share (how
//! the window grows with an ACK). How it shrinks, and going back after a timeout,
//! is in [`reduce`]; what is done only where somebody watches, in [`watch`]. The
//! machines that they move have a file each.

mod dup_acks;
mod growth;
mod peer_window;
mod recovery_point;
mod reduce;
mod reordering;
mod sack_use;
mod watch;

pub use dup_acks::DupAcks;
pub use growth::Growth;
pub use peer_window::PeerWindow;
pub use recovery_point::RecoveryPoint;
pub use sack_use::SackUse;
pub use watch::Watch;

use crate::ack::Ack;
use crate::config::{Config, RttSamples};
use crate::range_set::Range;
use crate::scoreboard::Scoreboard;
use anabranch_congestion::{Acked, Driver, PathView};
use anabranch_endpoint::RttEstimator;
use anabranch_units::{Rate, Serial32, Time};
use anabranch_wire::SackBlock;
use growth::Window;

/// A `Sender` is the sending half of a connection, without its recovery scheme. Its offsets count
/// from the SYN (offset 0).
#[derive(Debug)]
pub struct Sender {
    /// `una` is SND.UNA, the oldest offset that is not acknowledged.
    pub una: u64,
    /// `nxt` is SND.NXT, the next offset to send. It lies behind `max` after a timeout, while what
    /// was outstanding is sent again.
    pub nxt: u64,
    /// `max` is the offset after the highest ever sent.
    pub max: u64,
    /// `end` is the offset after the last that the application has given, the FIN included once the
    /// stream is closed.
    pub end: u64,
    /// `mss` is the payload of a full segment, in octets. It changes with the handshake and with
    /// what is learnt of the path.
    pub mss: u64,
    /// `early` says that data leaves before the handshake is over (RFC 7413): its loss is not looked
    /// for, since the SYN-ACK may be lost with it.
    pub early: bool,
    /// `peer_window` says how far the peer lets this side send.
    pub peer_window: PeerWindow,
    /// `board` holds the SACKed and the retransmitted ranges; it stays empty unless the scheme uses
    /// SACK.
    pub board: Scoreboard,
    /// `sack` says whether SACK blocks are read.
    pub sack: SackUse,
    /// `dup_acks` counts duplicate ACKs and knows how many of them signal a loss.
    pub dup_acks: DupAcks,
    /// `recovery_point` says up to where the last reduction of the window counts.
    pub recovery_point: RecoveryPoint,
    /// `congestion` drives the window algorithm at work.
    pub congestion: Driver,
    /// `rtt` estimates the round-trip time and the retransmission timeout.
    pub rtt: RttEstimator,
    /// `growth` decides what lets the congestion window grow.
    pub growth: Growth,
    /// `watch` holds the send log and the detectors of spurious reductions, where anything asks for
    /// them.
    pub watch: Watch,
    /// `counters` count what happened since the connection began.
    pub counters: Counters,
}

/// `Counters` count what happened since the connection began; nothing depends on them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// `packets` counts the segments with data or a FIN that left, those sent again included.
    pub packets: u64,
    /// `retransmitted_packets` counts those of them that carried something that had been sent
    /// before.
    pub retransmitted_packets: u64,
    /// `fast_retransmits` counts the entries into fast retransmit.
    pub fast_retransmits: u32,
    /// `timeouts` counts the expiries of the retransmission timer.
    pub timeouts: u32,
    /// `reductions` counts how often a loss or a timeout was answered by the window.
    pub reductions: u32,
    /// `ecn_reductions` counts how often an echo of marks was answered by the window.
    pub ecn_reductions: u32,
    /// `spurious` counts the retransmissions that turned out spurious, where somebody watches.
    pub spurious: u32,
}

impl Sender {
    /// `new` makes the sending half before the handshake: nothing is sent, and the window is not
    /// known.
    pub fn new(config: &Config) -> Sender {
        let mss = config.mss as u64;
        let congestion = Driver::new(config.build_congestion(mss));
        Sender {
            una: 0,
            nxt: 0,
            max: 0,
            end: 1,
            mss,
            early: false,
            peer_window: PeerWindow::new(),
            board: Scoreboard::default(),
            sack: SackUse::new(config),
            dup_acks: DupAcks::new(config),
            recovery_point: RecoveryPoint::default(),
            watch: Watch::new(config, &congestion),
            congestion,
            rtt: match config.rtt_samples {
                RttSamples::Timed => RttEstimator::new(config.rto),
                RttSamples::EveryAck => RttEstimator::with_every_ack(config.rto),
            },
            growth: Growth::new(config),
            counters: Counters::default(),
        }
    }

    /// Returns the rate to pace at, where the window algorithm has one.
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.congestion.pacing_rate(self.rtt.srtt())
    }

    /// Returns the congestion window in octets.
    pub fn cwnd(&self) -> u64 {
        self.congestion.window()
    }

    /// Returns the octets that were sent and not cumulatively acknowledged, up to `nxt`: RFC 5681's
    /// FlightSize, or after a timeout what was sent since.
    pub fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// All that was given to send is acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.una == self.end
    }

    /// Returns the octets in flight while the sender goes back: everything between `una` and `nxt`
    /// that is not SACKed was sent since the timeout.
    pub fn flight_going_back(&self) -> u64 {
        self.flight() - self.board.sacked().total_below(self.nxt)
    }

    /// The segment of `range` at `nxt` left, for the first time or again.
    pub fn on_sent_in_order(&mut self, range: Range) {
        let nxt = self.nxt;
        self.nxt = range.end;
        if self.watch.is_on() {
            self.watch_order(range, nxt);
        }
        self.max = self.max.max(range.end);
    }

    /// Returns how many separate SACKed ranges are kept at most: as many as what is in flight has
    /// quarter segments, every other one lost, and 64. A peer that SACKs every other octet gets no
    /// more memory.
    pub fn most_sacked_ranges(&self) -> u64 {
        64 + (self.max - self.una) / (self.mss / 2)
    }

    /// The scoreboard may hold one more range.
    fn holds_one_more(&self) -> bool {
        let ranges = self.board.sacked().count() as u64;
        ranges < 64 || ranges < self.most_sacked_ranges()
    }

    /// Reads an ACK up to the offset `at`, which is acceptable, with these SACK blocks: moves
    /// SND.UNA, and keeps the scoreboard. `sack_agreed` says whether both sides speak SACK.
    pub fn read_ack(
        &mut self,
        ack: &mut Ack,
        at: u64,
        iss: Serial32,
        blocks: &[SackBlock],
        sack_agreed: bool,
    ) {
        ack.uses_sack = self.sack.is_on();
        if self.watch.is_on() {
            ack.prior_fack = self.board.fack(self.una);
        }
        if self.sack.is_on() && !blocks.is_empty() {
            self.read_sack(ack, at, iss, blocks);
        } else if self.watch.is_on() && sack_agreed {
            ack.dsack = self.duplicate(iss, at, blocks);
        }
        ack.acked = at - self.una;
        ack.delivered = ack.acked + ack.sacked;
        if ack.acked > 0 {
            if !self.sack.is_on() && self.dup_acks.count > 0 && self.growth.counts_deliveries() {
                // Each duplicate stood for a segment that had arrived.
                ack.delivered =
                    ack.acked.saturating_sub(self.dup_acks.count as u64 * self.mss).max(1);
            }
            ack.delivered -= self.advance(at, ack.prior_fack).min(ack.delivered);
            self.dup_acks.forget();
        }
    }

    /// Reads the SACK blocks of an ACK up to `at`, and notes the octets that are newly SACKed and
    /// the duplicate that the blocks report (RFC 2883 §4).
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
            if n == 0 && new == 0 && self.watch.is_on() {
                ack.dsack = self.duplicate(iss, at, blocks);
            }
        }
    }

    /// A SACK block came; returns the octets that are newly SACKed. `prior_fack` is
    /// [`Ack::prior_fack`].
    fn on_sack(&mut self, block: Range, prior_fack: u64) -> u64 {
        match self.watch.is_on() {
            true => self.on_watched_sack(block, prior_fack),
            false => self.board.on_sack(block).0,
        }
    }

    /// The cumulative ACK moved to `una`, beyond the old one; returns the octets
    /// below it that had been SACKed.
    fn advance(&mut self, una: u64, prior_fack: u64) -> u64 {
        if self.watch.is_on() {
            self.watch_advance(una, prior_fack);
        }
        self.una = una;
        self.nxt = self.nxt.max(una);
        self.max = self.max.max(una);
        if self.recovery_point.ends_at(una) {
            self.nxt = self.max; // beyond what F-RTO sent out of turn
            self.hear_sack_again();
        }
        self.board.on_cumulative_ack(una).0
    }

    /// Finds out whether an ACK that acknowledges nothing new in order is a duplicate ACK, and
    /// counts it. With SACK it is one where it SACKs something new (RFC 6675 §2), else where it is
    /// `bare`, without data, FIN and another window (RFC 5681 §2). By RFC 6675 §2 one that SACKs
    /// something new counts though it acknowledges something in order, too.
    pub fn count_duplicate(&mut self, ack: &mut Ack, bare: impl FnOnce(&Sender) -> bool) {
        if ack.acked == 0 {
            ack.bare = bare(self);
            let outstanding = ack.prior_in_flight > 0 || self.watch.is_on() && self.max > self.una;
            let tells = if ack.uses_sack { ack.sacked > 0 } else { ack.bare };
            ack.duplicate = outstanding && tells;
        }
        if ack.duplicate || ack.sacked > 0 && self.dup_acks.counts_progress() {
            self.dup_acks.on_duplicate(self.nxt, ack.acked);
        }
    }

    /// Returns the range that the next segment in order would take: at `nxt`, around SACKed octets,
    /// at most one MSS, within what the application gave and the receiver's window allows. It is
    /// `None` when there is nothing to send or the segment would be silly.
    pub fn next_in_order(&self) -> Option<Range> {
        let limit = self.end.min(self.peer_window.edge);
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

    /// The segment would be silly (RFC 9293 §3.8.6.2.1): it carries new data, cut short by the
    /// receiver's window, less than a full segment and than half the largest window. It waits for
    /// more of the window or for the override timeout.
    fn is_silly(&self, range: Range) -> bool {
        range.len() < self.mss
            && range.end == self.peer_window.edge
            && range.end < self.end
            && range.start >= self.max
            && range.len() < self.peer_window.largest / 2
    }

    /// Nothing is in flight whose ACK could open the window: data waits for
    /// the window to open, or to open by a useful amount.
    pub fn is_blocked(&self) -> bool {
        self.flight() == 0
            && self.nxt < self.end
            && (self.nxt >= self.peer_window.edge
                || self.is_silly(Range { start: self.nxt, end: self.peer_window.edge }))
    }

    /// Returns the segment that would follow all that was ever sent.
    pub fn next_new(&self) -> Option<Range> {
        let end = self.end.min(self.peer_window.edge).min(self.max + self.mss);
        (self.max < end).then_some(Range { start: self.max, end })
    }

    /// Returns one full segment from `start` for sending again, which goes neither beyond what was
    /// sent before nor into what is SACKed.
    pub fn segment_at(&self, start: u64) -> Range {
        let hole = self.board.hole(start, self.max);
        let end = hole.filter(|h| h.start == start).map_or(self.max, |h| h.end);
        Range { start, end: end.min(start + self.mss) }
    }

    /// Shows the path to the window algorithm, with so many octets in flight.
    pub(crate) fn path(&self, in_flight: u64) -> PathView {
        PathView {
            in_flight,
            mss: self.mss,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min_rtt(),
            app_limited: self.growth.is_app_limited(|| Window {
                cwnd: self.cwnd(),
                slow_start: self.cwnd() < self.congestion.ssthresh(),
            }),
            sent: self.max,
            acked: self.una,
        }
    }

    /// A sending opportunity is over, with so many octets in flight.
    pub fn on_sending_done(&mut self, limited: bool, in_flight: impl FnOnce(&Sender) -> u64) {
        let full = limited || self.growth.asks_for_use() && in_flight(self) >= self.cwnd();
        self.growth.on_sending_done(limited, full, (self.una, self.max));
    }

    /// Lets the window grow for an ACK that acknowledged `octets`: by them, or
    /// by one segment when ACKs are counted. An echo of congestion lets it not
    /// grow (RFC 3168 §6.1.2).
    pub fn grow(&mut self, ack: &Ack, octets: u64) {
        if ack.echoes_congestion {
            return;
        }
        let bytes = self.growth.octets(ack, octets, self.mss);
        let path = self.path(ack.prior_in_flight);
        let rtt = self.rtt_of(ack);
        self.congestion.on_ack(&Acked { now: ack.now, bytes, rtt }, &path);
    }

    /// `range` is about to leave, with `octets` of data: the window algorithm
    /// and the send log hear of it. `pipe` is what is in flight by the scheme's
    /// reckoning, where losses are told.
    pub fn on_sending(&mut self, now: Time, range: Range, octets: u64, pipe: u64) {
        let path = self.path(self.flight());
        self.congestion.on_sent(now, octets, &path);
        if self.watch.is_on() {
            self.watch_sending(now, range, pipe);
        }
    }
}
