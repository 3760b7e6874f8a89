//! RACK-TLP: RFC 8985. A segment is lost when one that was sent later has
//! arrived and a reordering window has passed ([`detect`]); a lost tail is found
//! by a probe ([`probe`]). This file decides what to send: it is RFC 6675's
//! recovery with RACK's marks in the place of its `IsLost`.
//!
//! Where it differs from the other schemes: retransmissions that are lost again
//! are detected, and a timeout marks as lost only what has been out for long
//! enough (§6.3), so that the sender does not go back.
//!
//! `decoupled-rack` is the step that Hwang, Yoo and Yoo ask for in §4 of *An
//! Efficient Loss Recovery Algorithm for TCP with SACK*: their rule on a detection
//! that reordering does not fool. RACK and TLP tell what is lost; the window is
//! halved once for each window of losses and goes on growing with every ACK that
//! delivers something; lost segments leave inside it, before new data. Their
//! `next_seq - moment_ack + retransmit`, which takes every hole for lost, becomes
//! what is outstanding less what is SACKed or lost: a hole that RACK does not call
//! lost stays in the network. The first retransmission leaves with the detection
//! (RFC 5681 §3.2 step 3), where they let it wait for room in the halved window
//! (`fast_retransmit = false`).
//!
//! Choices:
//! - The order of transmission breaks ties between segments sent at the same
//!   time; the RFC's end of sequence approximates it.
//! - The loss of a segment that was sent after the last reduction reduces the
//!   window again at once, a retransmission's too (RFC 5681 §4.3). In Linux a lost
//!   retransmission does not, and new data does when the recovery has ended and it has not
//!   arrived (`reduce_again = false`).
//! - Timers need not exclude each other as in §8: the probe's is earlier than
//!   the retransmission timer or takes its place, and the expiry of either of
//!   RACK's timers restarts the latter.

mod detect;
mod probe;
mod recent_min;

use super::catalogue::{DecoupledRackOptions, RackOptions};
use super::prr::Prr;
use super::{Next, Rto, Scheme, again, in_order};
use crate::ack::Ack;
use crate::range_set::Range;
use crate::sender::Sender;
use crate::undo::Allowed;
use anabranch_endpoint::Timer;
use anabranch_units::Time;
use detect::Detector;
use probe::{Outcome, Prober};

/// A `Phase` says what is being repaired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Nothing is being repaired.
    Open,
    /// Fast recovery is under way.
    Fast,
    /// What a timeout found lost is being repaired.
    Loss,
}

/// A `Pace` says what may be in flight in fast recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pace {
    /// The reduced window may be in flight.
    Window,
    /// What proportional rate reduction makes of the window may be in flight.
    Prr,
    /// The reduced window may be, which goes on growing (`decoupled-rack`).
    Growing,
}

/// A `Rack` is the scheme at work.
#[derive(Debug)]
pub(crate) struct Rack {
    /// `pace` is an option of the scheme.
    pace: Pace,
    /// `fast_retransmit` says that the first retransmission does not wait for the window.
    fast_retransmit: bool,
    /// `in_segments` says that proportional rate reduction counts segments.
    in_segments: bool,
    /// `reduce_again` says that the loss of what was sent since the last reduction reduces again.
    reduce_again: bool,
    /// `phase` says what is being repaired.
    phase: Phase,
    /// `pending` says that the first retransmission is to leave, regardless of the window.
    pending: bool,
    /// `prr` is the proportional rate reduction of this recovery, where [`Pace::Prr`] asks.
    prr: Prr,
    /// `detector` tells what is lost.
    detector: Detector,
    /// `reorder` is RACK's reordering timer (§6.2 step 5).
    reorder: Timer,
    /// `prober` sends tail loss probes.
    prober: Prober,
    /// `reduced_at` is the number of the last transmission that preceded the last reduction.
    reduced_at: u64,
    /// `newly_lost` counts the octets that the last detection found lost.
    newly_lost: u64,
}

impl Rack {
    pub(crate) fn new(options: RackOptions) -> Rack {
        Rack {
            pace: if options.prr { Pace::Prr } else { Pace::Window },
            fast_retransmit: true,
            in_segments: options.prr_in_segments,
            reduce_again: options.reduce_again,
            phase: Phase::Open,
            pending: false,
            prr: Prr::default(),
            detector: Detector::default(),
            reorder: Timer::IDLE,
            prober: Prober::new(options.tlp, options.max_ack_delay, options.linux_probes),
            reduced_at: 0,
            newly_lost: 0,
        }
    }

    /// `decoupled` has the same detection, and the window of the decoupled scheme: see the head of
    /// this file.
    pub(crate) fn decoupled(options: DecoupledRackOptions) -> Rack {
        let DecoupledRackOptions { fast_retransmit, tlp, max_ack_delay, reduce_again } = options;
        let rack = Rack::new(RackOptions {
            prr: false,
            tlp,
            max_ack_delay,
            reduce_again,
            prr_in_segments: false,
            linux_probes: false,
        });
        Rack { pace: Pace::Growing, fast_retransmit, ..rack }
    }

    /// Marks what is lost, and sets the reordering timer for what may be.
    /// Returns the number of the latest transmission that was lost.
    fn detect(&mut self, s: &mut Sender, now: Time) -> Option<u64> {
        self.newly_lost = 0;
        let log = s.watch.log.as_mut()?;
        let many_sacked = log.sacked_segments() >= s.dup_acks.thresh;
        let repairing = self.phase != Phase::Open;
        self.detector.update_window(repairing, many_sacked, s.rtt.srtt());
        let before = log.lost().total();
        let newest = self.detector.detect_losses(log, s.board.sacked(), now);
        self.newly_lost = log.lost().total() - before;
        match self.detector.next_detection(log) {
            Some(at) => self.reorder.set(at),
            None => self.reorder.stop(),
        }
        newest
    }

    /// Losses up to the transmission `newest` were found, with `flight` octets
    /// outstanding before: reduces the window if it has not been for them.
    fn react(&mut self, s: &mut Sender, now: Time, flight: u64, delivered: u64, newest: u64) {
        let again = self.reduce_again && newest > self.reduced_at;
        if self.phase != Phase::Open && !again {
            return;
        }
        let unsent = s.watch.log.as_ref().is_some_and(|log| log.lost().total() > 0);
        self.pending = self.phase == Phase::Open && self.fast_retransmit && unsent;
        self.phase = Phase::Fast;
        let before = s.cwnd();
        s.enter_recovery(now, flight);
        self.reduced_at = s.watch.log.as_ref().map_or(0, |log| log.transmissions());
        if self.pace == Pace::Prr {
            self.prr = Prr::enter(s, delivered);
            if self.in_segments {
                self.prr.count_segments(before, s.mss);
            }
        }
        self.prober.forget();
    }

    /// A recovery has ended, and of what was sent in it something is lost that has not arrived since: where that
    /// has not reduced the window yet it begins the next recovery (RFC 5681 §4.3), as in Linux. A window
    /// algorithm that owns its recovery sees no end and no beginning within one ACK there.
    fn has_more_to_repair(&self, s: &Sender) -> bool {
        !self.reduce_again && !s.congestion.owns_recovery() && self.lost(s) > 0
    }

    /// Returns the first segment that is lost and not sent again.
    fn lost_segment(&self, s: &Sender) -> Option<Range> {
        let log = s.watch.log.as_ref()?;
        let lost = log.lost().first()?;
        let record = log.record_at(lost.start)?.range;
        let end = lost.end.min(record.end).min(lost.start + s.mss);
        Some(Range { start: lost.start, end })
    }

    /// Returns the probe that is due: something new, or the last segment again (§7.3).
    fn probe(&self, s: &Sender) -> Next {
        if let Some(range) = s.next_new() {
            return Next::InOrder(range);
        }
        match s.watch.log.as_ref().and_then(|log| log.highest()) {
            Some(record) => {
                // Of a FIN on top of a full segment the connection takes care.
                let Range { start, end } = record.range;
                Next::Retransmit(Range { start, end: end.min(start + s.mss) })
            }
            None => Next::Nothing,
        }
    }

    fn may_probe(&self, s: &Sender) -> bool {
        let sacked = s.watch.log.as_ref().is_some_and(|log| log.sacked_segments() > 0);
        self.phase == Phase::Open && !sacked && s.flight() > 0 && !s.early
    }
}

/// Returns when the first outstanding segment was sent last.
fn first_sent(s: &Sender) -> Option<Time> {
    Some(s.watch.log.as_ref()?.record_at(s.una)?.sent)
}

/// F-RTO awaits the ACK of what a timeout sent again: duplicates before it keep the scoreboard and do
/// nothing else (RFC 5682 §3.1 step 2).
fn awaits(s: &Sender, ack: &Ack) -> bool {
    ack.acked == 0 && s.watch.undo.as_ref().is_some_and(|undo| undo.awaits_repair())
}

impl Scheme for Rack {
    #[inline(never)]
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        if let Some(log) = &s.watch.log {
            // §6.2 steps 1 to 3.
            self.detector.on_news(log.news(), ack, s.una, s.rtt.min_rtt());
        }
        let mut left = false;
        let repaired_timeout = self.phase == Phase::Loss;
        let goes_on = self.phase == Phase::Fast && self.pace == Pace::Growing;
        if self.phase != Phase::Open && s.una >= s.recovery_point.at {
            self.phase = Phase::Open;
            self.pending = false;
            left = true;
        }
        self.detector.on_dsack(ack.dsack.is_some(), left, s.una, s.nxt); // step 4
        // Slow start after a timeout goes on when all is repaired.
        if goes_on {
            if ack.delivered > 0 {
                s.grow(ack, ack.delivered);
            }
        } else if self.phase != Phase::Fast
            && (!left || repaired_timeout)
            && !awaits(s, ack)
            && !ack.old
        {
            if s.expects_reordering() && ack.delivered > 0 {
                s.grow(ack, ack.delivered);
            } else if ack.acked > 0 {
                s.grow(ack, ack.acked);
            }
        }
        let newest = self.detect(s, ack.now); // step 5
        let reduced_at = self.reduced_at;
        if newest.is_some() || left && self.has_more_to_repair(s) {
            self.react(s, ack.now, ack.prior_in_flight, ack.delivered, newest.unwrap_or(0));
        }
        if self.phase == Phase::Fast && self.pace == Pace::Prr && !ack.old {
            let (in_flight, lost) = (self.in_flight(s), self.newly_lost > 0);
            self.prr.on_ack(s.mss, ack, in_flight, lost);
        }
        // §7.4; a reduction just made is enough.
        let repaired = self.prober.on_ack(s.una, ack) == Outcome::Repaired;
        if repaired && self.phase == Phase::Open && reduced_at == self.reduced_at {
            s.on_loss(ack.now, ack.prior_in_flight);
            self.reduced_at = s.watch.log.as_ref().map_or(0, |log| log.transmissions());
        }
        if !self.may_probe(s) {
            self.prober.timer.stop();
        } else if ack.acked > 0 {
            self.prober.schedule(s, ack.now);
        }
        Rto::Restart
    }

    fn on_timeout(&mut self, _s: &mut Sender) {
        self.phase = Phase::Open;
        self.pending = false;
    }

    #[inline(never)]
    fn next(&self, s: &Sender) -> Next {
        let lost = self.lost_segment(s);
        if self.pending
            && let Some(range) = lost
        {
            return Next::Retransmit(range);
        }
        if self.phase == Phase::Loss
            && let Some(undo) = &s.watch.undo
        {
            match undo.allowed() {
                Allowed::Usual => {}
                Allowed::NewSegment => return s.next_new().map_or(Next::Nothing, Next::InOrder),
                Allowed::Wait => return Next::WindowFull,
            }
        }
        if self.prober.is_due() && s.flight() > 0 {
            return self.probe(s);
        }
        let (in_flight, window) = (self.in_flight(s), self.window(s));
        match lost {
            Some(range) => again(range, in_flight, window),
            None => in_order(s, in_flight, window),
        }
    }

    #[inline(never)]
    fn on_retransmit(&mut self, _s: &mut Sender, range: Range, _now: Time) {
        self.pending = false;
        self.prr.on_sent(range.len());
        self.prober.on_sent(range.end, true);
    }

    #[inline(never)]
    fn on_in_order(&mut self, s: &Sender, range: Range, now: Time) {
        self.prr.on_sent(range.len());
        if !self.prober.on_sent(range.end, false) && self.may_probe(s) {
            self.prober.schedule(s, now);
        }
    }

    #[inline(never)]
    fn in_flight(&self, s: &Sender) -> u64 {
        let lost = s.watch.log.as_ref().map_or(0, |log| log.lost().total());
        let sacked = match self.phase {
            Phase::Open if !s.dup_acks.limited_transmit => 0,
            _ => s.board.sacked().total(),
        };
        s.flight().saturating_sub(sacked + lost)
    }

    fn in_recovery(&self) -> bool {
        self.phase != Phase::Open
    }

    fn newly_lost(&self, _s: &mut Sender, _was_in_recovery: bool, _ack: &Ack) -> u64 {
        self.newly_lost
    }

    fn stop(&mut self) {
        self.reorder.stop();
        self.prober.forget();
    }

    // The retransmission timer is restarted when the reordering timer or the probe's has expired.
    fn on_deadline(&mut self, s: &mut Sender, now: Time) -> Option<Time> {
        let mut restarts = None;
        if self.reorder.expired(now) {
            restarts = Some(now);
            if let Some(newest) = self.detect(s, now) {
                self.react(s, now, s.flight(), 0, newest);
                let in_flight = self.in_flight(s);
                self.prr.on_delivered(s.mss, 0, in_flight, false);
            }
        }
        if self.prober.timer.expired(now) {
            restarts = Some(self.prober.on_expiry(now, first_sent(s)));
        }
        restarts
    }

    // Unless a probe was to come first and takes the place of the timeout (§7.2), the loss phase
    // begins (§6.3).
    fn on_rto(&mut self, s: &mut Sender, now: Time) -> bool {
        if self.prober.timer.is_armed() {
            self.prober.on_expiry(now, None);
            if self.prober.is_due() {
                return false;
            }
        }
        self.stop();
        s.on_timeout(now);
        if let Some(log) = &mut s.watch.log {
            self.detector.mark_on_timeout(log, s.board.sacked(), now);
            self.reduced_at = log.transmissions();
        }
        self.phase = Phase::Loss;
        self.pending = true;
        true
    }

    fn on_too_big(&mut self, s: &mut Sender, size: u64) {
        if let Some(log) = &mut s.watch.log {
            if !log.lose_larger_than(size, s.board.sacked()) {
                return;
            }
            self.reduced_at = log.transmissions();
        }
        self.stop();
        // A repair without a reduction, until all that is outstanding has arrived (Linux).
        s.recovery_point.set(s.max);
        self.phase = Phase::Loss;
        self.pending = true;
    }

    fn window(&self, s: &Sender) -> u64 {
        if self.phase == Phase::Fast && self.pace == Pace::Prr {
            self.prr.window()
        } else {
            s.cwnd()
        }
    }

    fn deadline(&self) -> Time {
        self.reorder.deadline().min(self.prober.timer.deadline())
    }

    fn hears_all(&self) -> bool {
        true
    }

    fn is_probe_due(&self) -> bool {
        self.prober.is_due()
    }

    fn repairs_timeout(&self) -> bool {
        self.phase == Phase::Loss
    }

    fn lost(&self, s: &Sender) -> u64 {
        s.watch
            .log
            .as_ref()
            .map_or_else(|| s.board.retransmitted(), |log| log.lost().total() + log.resent())
    }

    fn resent(&self, s: &Sender) -> u64 {
        s.watch.log.as_ref().map_or_else(|| s.board.retransmitted(), |log| log.resent())
    }

    fn tail_loss_probes(&self) -> u32 {
        self.prober.sent
    }
}
