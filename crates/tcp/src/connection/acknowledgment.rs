//! The ACK field of a segment (RFC 9293 §3.10.7.4, fifth check) and its SACK blocks: what they
//! acknowledge, what the recovery scheme and the window make of it, and the timers.

use super::Connection;
use super::ecn::EcnState;
use super::phase::Phase;
use super::retransmission::Timing;
use crate::ack::Ack;
use crate::config::{RtoRestart, RttSamples, WindowProbe};
use crate::recovery::{Rto, Scheme};
use crate::state::State;
use anabranch_endpoint::CloseReason;
use anabranch_units::{Span, Time};
use anabranch_wire::{TcpFlags, TcpSegment, Timestamps};

/// An `AckField` says what the ACK field of a segment is worth.
enum AckField {
    /// It acknowledges up to this offset, SND.UNA or beyond.
    Acceptable(u64),
    /// It is an old duplicate: the segment's data may still count.
    Old,
    /// It acknowledges what was never sent, or what no segment of this time can acknowledge (RFC 5961
    /// §5).
    Unacceptable,
}

impl Connection {
    /// The ACK field and the SACK blocks of a segment that begins at `start`; false when the segment
    /// must be dropped and challenged. `ece` says whether it carries an echo of congestion that
    /// counts. One ACK is read, repaired after and answered once, in this order.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        segment: &TcpSegment,
        start: u64,
        ece: bool,
    ) -> bool {
        let at = match self.ack_field(segment) {
            AckField::Acceptable(at) => at,
            AckField::Old => {
                self.on_old_ack(now, segment);
                return true;
            }
            AckField::Unacceptable => return false,
        };
        let mut ack = self.read_ack(now, segment, (start, at), ece);
        if ack.tells_nothing() && !self.scheme.hears_all() {
            // An echo on it reduces nothing: so do the ACKs of data.
            if ece {
                self.restart_timer_of_hold(now);
            }
            return true;
        }
        self.measure(&mut ack, segment, at);
        let was_in_recovery = self.scheme.in_recovery();
        if self.sender.watch.is_on() {
            self.watch_ack(&mut ack, segment);
        }
        let rto = self.scheme.on_ack(&mut self.sender, &ack);
        self.tell_window(&ack, was_in_recovery);
        if ack.acked > 0 {
            self.on_progress(now, rto);
        }
        if ack.echoes_congestion {
            self.restart_timer_of_hold(now);
        }
        if self.scheme.in_recovery() && !was_in_recovery {
            // Fast retransmit restarts the timer. RFC 6298 §5 is silent; BSD,
            // Linux and ns-2 agree.
            self.retransmission.restart(now, self.sender.rtt.rto());
        }
        true
    }

    /// An ACK came late: what it SACKs has arrived all the same, and duplicates that it reports are
    /// duplicates. Window and round-trip time are older than what is known.
    fn on_old_ack(&mut self, now: Time, segment: &TcpSegment) {
        let s = &mut self.sender;
        if !s.sack.is_on() || !s.watch.is_on() || segment.options.sack.is_empty() {
            return;
        }
        let mut ack = Ack { old: true, ..Ack::new(now, s.flight()) };
        let una = s.una;
        let acked = segment.ack.expand(self.iss, una).unwrap_or(una);
        s.read_ack(&mut ack, una, self.iss, segment.options.sack.as_slice(), self.agreed.sack);
        ack.dsack = s.duplicate(self.iss, acked, segment.options.sack.as_slice());
        self.watch_ack(&mut ack, segment);
        self.scheme.on_ack(&mut self.sender, &ack);
        self.sender.on_ack_done();
    }

    /// Classifies the ACK field: new, duplicate, old or not acceptable (RFC 9293 §3.10.7.4, RFC
    /// 5961 §5).
    fn ack_field(&self, segment: &TcpSegment) -> AckField {
        let s = &self.sender;
        let Some(at) = segment.ack.expand(self.iss, s.una) else {
            // Older than our SYN.
            let behind = self.iss.at(s.una).distance_from(segment.ack);
            let lately = behind >= 0 && behind as u64 <= s.peer_window.largest;
            return if lately { AckField::Old } else { AckField::Unacceptable };
        };
        if at > s.max || !s.peer_window.is_recent(at, s.una) {
            AckField::Unacceptable
        } else if at < s.una {
            AckField::Old
        } else {
            AckField::Acceptable(at)
        }
    }

    /// Reads what a segment at `start` that acknowledges up to `at` tells: the send window, and
    /// what has arrived.
    #[inline]
    fn read_ack(
        &mut self,
        now: Time,
        segment: &TcpSegment,
        (start, at): (u64, u64),
        ece: bool,
    ) -> Ack {
        let s = &mut self.sender;
        let mut ack = Ack { echoes_congestion: ece, ..Ack::new(now, s.flight()) };
        let edge_before = s.peer_window.edge;
        let window = (segment.window as u64) << self.agreed.peer_shift;
        s.peer_window.on_segment(start, at, window, s.una);
        s.read_ack(&mut ack, at, self.iss, segment.options.sack.as_slice(), self.agreed.sack);
        s.count_duplicate(&mut ack, |s| {
            // RFC 8684 §4: an ACK with a signal of Multipath TCP beside a DSS is no duplicate.
            segment.payload.is_empty()
                && segment.options.mptcp().is_empty()
                && !segment.flags.contains(TcpFlags::FIN)
                && s.peer_window.edge == edge_before
        });
        self.persist.on_answer();
        if self.config.window_probe == WindowProbe::Empty && self.persist.timer.is_armed() {
            self.arm_probe(now);
        }
        if ack.acked > 0 {
            self.retransmission.on_progress();
        } else {
            ack.has_blocks = !segment.options.sack.is_empty();
        }
        if self.extras.ecn().is_some_and(EcnState::is_accurate) {
            self.read_accurate(segment, start, &mut ack);
        }
        ack
    }

    /// Takes the round-trip sample of an ACK up to `at`, if it gives one.
    fn measure(&mut self, ack: &mut Ack, segment: &TcpSegment, at: u64) {
        ack.rtt = match self.config.rtt_samples {
            RttSamples::Timed if ack.acked == 0 => None,
            RttSamples::Timed => self.rtt_sample(ack.now, at, segment),
            RttSamples::EveryAck => self.rtt_of_ack(ack.now, ack.acked, segment),
        };
        if let Some(rtt) = ack.rtt {
            self.sender.on_rtt_sample(rtt);
            self.note_pacing();
        }
    }

    /// Tells the window algorithm of congestion that the ACK echoes, and whatever else it wants to
    /// hear, after the scheme has dealt with the ACK.
    fn tell_window(&mut self, ack: &Ack, was_in_recovery: bool) {
        if ack.echoes_congestion {
            self.on_echo(ack.now, ack.prior_in_flight);
        }
        let s = &mut self.sender;
        if s.congestion.wants_feedback() {
            let lost = self.scheme.newly_lost(s, was_in_recovery, ack);
            let (in_flight, in_recovery) = (self.scheme.in_flight(s), self.scheme.in_recovery());
            if s.watch.tells_losses() {
                s.tell_losses(ack.now, in_flight);
            }
            s.on_feedback(ack, lost, in_flight, in_recovery);
        }
        if s.watch.is_on() {
            s.on_ack_done();
        }
    }

    /// Something new was acknowledged: timers, buffers, and our FIN follow.
    fn on_progress(&mut self, now: Time, rto: Rto) {
        if self.sender.flight() == 0 {
            if !self.is_held_by_echo() {
                self.retransmission.timer.stop(); // RFC 6298 §5.2
            }
        } else if rto == Rto::Restart {
            self.retransmission.restart(now, self.sender.rtt.rto()); // §5.3
        }
        self.persist.on_progress();
        if self.extras.marks().is_some() {
            self.forget_marks();
        }
        if self.extras.mtu_mut().is_some() {
            self.on_mtu_progress();
        }
        if self.config.user_timeout.is_some() {
            self.restart_user_timeout(now);
        }
        self.free_acknowledged();
        if self.writing.is_closed() && self.sender.una == self.sender.end {
            match self.state() {
                State::FinWait1 => self.phase = Phase::FinWait2,
                State::Closing => self.enter_time_wait(now),
                State::LastAck => self.finish(CloseReason::Normal),
                _ => {}
            }
        }
    }

    /// Real octets that were acknowledged are forgotten.
    pub(super) fn free_acknowledged(&mut self) {
        let una = self.sender.una.min(self.sender.end);
        self.pending.writable |= self.writing.on_acknowledged(una);
    }

    /// Returns a round-trip time: from the segment being timed, and where its retransmission made
    /// that ambiguous (Karn), from the echoed timestamp.
    fn rtt_sample(&mut self, now: Time, ack: u64, segment: &TcpSegment) -> Option<Span> {
        match self.retransmission.timing(now, ack) {
            Timing::Took(rtt) => Some(rtt),
            Timing::Goes => None,
            Timing::None => self.echoed_rtt(now, segment),
        }
    }

    /// Returns a round-trip time as Linux measures it, with every ACK that tells of something sent
    /// once.
    #[inline(never)]
    fn rtt_of_ack(&self, now: Time, acked: u64, segment: &TcpSegment) -> Option<Span> {
        let log = self.sender.watch.log.as_ref();
        let logged = log.and_then(|log| log.first_rtt_sample(now, self.sender.una));
        match logged {
            None if acked > 0 => self.echoed_rtt(now, segment),
            logged => logged,
        }
    }

    /// Returns a round-trip time from the echoed timestamp.
    fn echoed_rtt(&self, now: Time, segment: &TcpSegment) -> Option<Span> {
        let ts = segment
            .options
            .timestamps
            .filter(|ts| self.agreed.timestamps.is_some() && ts.echo != 0)?;
        let elapsed = self.ends.timestamp(now).wrapping_sub(ts.echo) as u64;
        // An echo of what was never sent is no sample.
        (elapsed <= now.as_millis()).then(|| Span::from_millis(elapsed.max(1)))
    }

    /// The send log and the detectors hear of an ACK before the scheme.
    #[inline(never)]
    fn watch_ack(&mut self, ack: &mut Ack, segment: &TcpSegment) {
        ack.echoed_from = self.echo_of(ack.now, segment);
        self.sender.on_ack_read(ack);
        if ack.acked == 0
            && self.config.rto_restart == RtoRestart::FirstResent
            && self.sender.watch.log.as_ref().is_some_and(|log| log.tells_of_older_than_first())
        {
            self.restart_rto(ack.now);
        }
        if self.sender.undoes_reduction(ack) {
            self.scheme.on_undo(&mut self.sender);
        }
    }

    /// Returns the millisecond in which the segment left whose timestamp the peer echoes.
    fn echo_of(&self, now: Time, segment: &TcpSegment) -> Option<u64> {
        let usable = |ts: &Timestamps| self.agreed.timestamps.is_some() && ts.echo != 0;
        let ts = segment.options.timestamps.filter(usable)?;
        let elapsed = self.ends.timestamp(now).wrapping_sub(ts.echo);
        Some(now.as_millis().saturating_sub(elapsed as u64))
    }
}
