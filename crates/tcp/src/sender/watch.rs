//! What a sender does where somebody watches: the send log is written, the
//! detectors of spurious reductions hear of everything, and window algorithms
//! that want to hear of each ACK do.

use super::Sender;
use crate::ack::Ack;
use crate::config::{Config, RttSamples};
use crate::range_set::Range;
use crate::send_log::SendLog;
use crate::undo::{Outstanding, Undo};
use anabranch_congestion::{Driver, Told};
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::SackBlock;

/// A `Watch` keeps what the scheme, the window algorithm or an option asks for.
#[derive(Debug)]
pub struct Watch {
    /// `on` says that there is a send log to write, or a detector to ask; it does not change.
    on: bool,
    /// `logging` says that the send log is to be written.
    logging: bool,
    /// `tells_losses` says that the window algorithm hears of each segment that is believed lost.
    tells_losses: bool,
    /// `log` knows when what is outstanding was sent; it is absent before the first data, and where
    /// nobody needs it.
    pub log: Option<Box<SendLog>>,
    /// `undo` finds out whether the last reduction was spurious, where anything asks.
    pub undo: Option<Box<Undo>>,
}

impl Watch {
    /// `new` keeps what these settings, and the window algorithm made of them, ask for.
    pub fn new(config: &Config, congestion: &Driver) -> Watch {
        let every_ack = config.rtt_samples == RttSamples::EveryAck;
        let logging = config.recovery.needs_log() || congestion.wants_feedback() || every_ack;
        let undo = Undo::new(config);
        let tells_losses = congestion.wants_losses();
        Watch { on: logging || undo.is_some(), logging, tells_losses, log: None, undo }
    }

    /// The window algorithm hears of each segment that is believed lost.
    #[inline]
    pub fn tells_losses(&self) -> bool {
        self.tells_losses
    }

    /// There is a send log to write, or a detector to ask.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }
}

impl Sender {
    /// What F-RTO lets leave while what was outstanding at a timeout waits is
    /// out of turn: SND.NXT stays.
    #[inline(never)]
    pub(super) fn watch_order(&mut self, range: Range, nxt: u64) {
        if let Some(undo) = &mut self.watch.undo
            && range.start >= self.max
            && undo.takes_new_segment()
            && self.recovery_point.is_going_back()
        {
            self.nxt = nxt;
        }
    }

    /// Returns the duplicate that SACK blocks report: the first block, where it lies below the ACK
    /// or inside the second (RFC 2883 §4).
    #[inline(never)]
    pub(crate) fn duplicate(&self, iss: Serial32, ack: u64, blocks: &[SackBlock]) -> Option<Range> {
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

    /// The ACK is read, and the scheme is not yet asked.
    #[inline(never)]
    pub fn on_ack_read(&mut self, ack: &Ack) {
        self.counters.spurious += ack.dsack.is_some() as u32;
        if let Some(log) = &mut self.watch.log {
            log.on_ack();
            if self.congestion.measures() {
                self.congestion.on_delivered(ack.now, ack.delivered);
                for record in log.news() {
                    self.congestion.on_record(record.sent, record.range.end, &record.stamp);
                }
            }
        }
    }

    /// Asks the detectors about the last reduction, before the scheme hears of the ACK. Returns
    /// true when the reduction was spurious, and undoes it.
    pub fn undoes_reduction(&mut self, ack: &Ack) -> bool {
        let outstanding = Outstanding {
            una: self.una,
            max: self.max,
            fack: self.board.fack(self.una),
            has_new: self.end.min(self.peer_window.edge) > self.max,
            has_resent: self.recovery_point.is_going_back() && self.una < self.nxt,
        };
        let Some(undo) = &mut self.watch.undo else { return false };
        let Some(spurious) = undo.judge(ack, &outstanding) else { return false };
        self.counters.spurious += !spurious.is_reported as u32;
        self.undo_reduction();
        if let Some(overtaken) = spurious.overtaken {
            self.note_reordering(overtaken.start, overtaken.end);
        }
        true
    }

    /// Everybody has heard of the ACK.
    pub fn on_ack_done(&mut self) {
        if let Some(log) = &mut self.watch.log {
            log.end_ack();
        }
        self.congestion.end_ack();
    }

    #[inline(never)]
    pub(super) fn on_watched_sack(&mut self, block: Range, prior_fack: u64) -> u64 {
        self.look_for_reordering(block, prior_fack);
        let Some(log) = &mut self.watch.log else { return self.board.on_sack(block).0 };
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

    #[inline(never)]
    pub(super) fn watch_advance(&mut self, una: u64, prior_fack: u64) {
        self.look_for_reordering(Range { start: self.una, end: una }, prior_fack);
        if let Some(log) = &mut self.watch.log {
            log.on_cumulative_ack(una);
        }
    }

    /// Returns the octets that are newly lost, now that everything below `edge` that is not SACKed
    /// is: those above where the last question left off.
    pub fn lost_below(&mut self, edge: u64) -> u64 {
        let Some(log) = &mut self.watch.log else { return 0 };
        let from = log.lost_edge.max(self.una);
        log.lost_edge = from.max(edge);
        if edge <= from {
            return 0;
        }
        log.tell_losses_between(from, edge);
        self.board.holes_between(from, edge)
    }

    /// Returns what the window algorithm hears of the round-trip time: with a log, a sample with
    /// every ACK; without, that of the segment being timed.
    pub(super) fn rtt_of(&self, ack: &Ack) -> Option<Span> {
        let logged = self.watch.log.as_ref().and_then(|log| log.rtt_sample(ack.now));
        logged.or(ack.rtt)
    }

    /// Tells the window algorithm of each segment newly believed lost, with so many octets in flight.
    #[inline(never)]
    pub fn tell_losses(&mut self, now: Time, in_flight: u64) {
        let path = self.path(in_flight);
        let losses = self.watch.log.as_mut().map(|log| log.take_losses());
        for loss in losses.iter().flatten() {
            self.congestion.on_lost(now, (loss.offset, loss.octets), &loss.stamp, &path);
        }
    }

    /// Tells what `ack` told to window algorithms that want to hear of each. All else that it
    /// caused has happened; `in_flight` is what it left.
    pub fn on_feedback(&mut self, ack: &Ack, lost: u64, in_flight: u64, in_recovery: bool) {
        let told = Told {
            now: ack.now,
            acked: ack.acked,
            delivered: ack.delivered,
            lost,
            marked: ack.marked_octets(),
            rtt: self.rtt_of(ack),
            in_recovery,
        };
        let path = self.path(in_flight);
        self.congestion.on_feedback(&told, &path);
    }

    #[inline(never)]
    pub(super) fn watch_sending(&mut self, now: Time, range: Range, pipe: u64) {
        if self.watch.logging {
            let stamp = self.congestion.stamp(pipe + range.len());
            let losses = self.watch.tells_losses;
            let log = self.watch.log.get_or_insert_with(|| Box::new(SendLog::new(losses)));
            log.on_sent(now, range, stamp);
        }
        if let Some(undo) = &mut self.watch.undo
            && range.start < self.max
        {
            undo.on_resent(now, range);
        }
    }
}
