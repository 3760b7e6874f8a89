//! The ACK field of a segment (RFC 9293 §3.10.7.4, fifth check) and its SACK blocks: what they
//! acknowledge, what the recovery scheme and the window make of it, and the timers.

use super::{Connection, Due};
use crate::config::{Counting, RtoRestart, RttSamples};
use crate::recovery::{Rto, Scheme};
use crate::sender::Ack;
use crate::state::State;
use anabranch_congestion::Controller;
use anabranch_endpoint::CloseReason;
use anabranch_units::{Span, Time};
use anabranch_wire::{TcpFlags, TcpSegment, Timestamps};

impl Connection {
    /// The ACK field and the SACK blocks; false when the segment must be
    /// dropped and challenged because it acknowledges what was never sent, or
    /// what no segment of this time can acknowledge (RFC 5961 §5).
    pub(super) fn on_ack(&mut self, now: Time, segment: &TcpSegment, start: u64) -> bool {
        let s = &mut self.sender;
        let Some(ack) = segment.ack.expand(self.iss, s.una) else {
            // Older than our SYN.
            let behind = self.iss.at(s.una).distance_from(segment.ack);
            return behind >= 0 && behind as u64 <= s.max_window;
        };
        if ack > s.max {
            return false;
        }
        if ack < s.una {
            if ack + s.max_window < s.una {
                return false;
            }
            return true; // an old duplicate; its data may still count
        }
        let prior_una = s.una;
        let prior_in_flight = s.flight();
        let edge_before = s.window_edge;

        // The send window (SND.WL1, SND.WL2). Deviation: what acknowledges more than any before
        // is the latest, whatever its number. Else one forged segment far ahead in the receive
        // window would be the last to be believed. Linux agrees.
        let (wl1, wl2) = self.window_update;
        if ack > prior_una || wl1 < start || wl1 == start && wl2 <= ack {
            s.on_window(ack, (segment.window as u64) << self.agreed.peer_shift);
            self.window_update = (start, ack);
        }

        let uses_sack = s.uses_sack;
        if s.watched {
            s.fack_before = s.board.fack(s.una);
        }
        let (mut sacked, mut dsack) = (0, None);
        let blocks = segment.options.sack.as_slice();
        if uses_sack && !blocks.is_empty() {
            (sacked, dsack) = s.read_sack(self.iss, ack, blocks);
        } else if s.watched && self.agreed.sack {
            dsack = s.duplicate(self.iss, ack, blocks);
        }
        let acked = ack - prior_una;
        self.silent_probes = 0;
        let mut delivered = acked + sacked;
        if acked > 0 {
            if !uses_sack && s.dupacks > 0 && self.config.counting == Counting::Delivered {
                // Each duplicate stood for a segment that had arrived.
                delivered = acked.saturating_sub(s.dupacks as u64 * s.mss).max(1);
            }
            delivered -= s.advance(ack).min(delivered);
            s.dupacks = 0;
            self.retries = 0;
        }
        // RFC 5681 §2; where SACK is in use, new SACK information instead
        // (RFC 6675 §2).
        let duplicate = acked == 0
            && (prior_in_flight > 0 || s.watched && s.max > ack)
            && if uses_sack {
                sacked > 0
            } else {
                segment.payload.is_empty()
                    && !segment.flags.contains(TcpFlags::FIN)
                    && s.window_edge == edge_before
            };
        if duplicate {
            s.count_dupack();
        }
        if s.marked.is_some() {
            self.read_accurate(segment, start, delivered);
        }
        if acked == 0 && sacked == 0 && !duplicate && dsack.is_none() && !self.scheme.hears_all() {
            return true; // an echo on it: so do the ACKs of data
        }
        let rtt = match self.config.rtt_samples {
            RttSamples::Timed if acked == 0 => None,
            RttSamples::Timed => self.rtt_sample(now, ack, segment),
            RttSamples::EveryAck => self.rtt_of_ack(now, acked, segment),
        };
        let s = &mut self.sender;
        if let Some(rtt) = rtt {
            s.on_rtt_sample(rtt);
            self.note_pacing();
        }
        let s = &mut self.sender;
        let mut ack_event =
            Ack { now, acked, delivered, duplicate, prior_in_flight, rtt, dsack, echo: None };
        let repairing = self.scheme.in_recovery();
        if s.watched {
            ack_event.echo = self.echo_of(now, segment);
            self.watch_ack(&ack_event, uses_sack);
        }
        let s = &mut self.sender;
        let rto = self.scheme.on_ack(s, &ack_event);
        if s.echoed {
            self.on_echo(now, prior_in_flight);
        }
        let s = &mut self.sender;
        if s.congestion.wants_feedback() {
            let lost = self.scheme.newly_lost(s, repairing, &ack_event);
            let (in_flight, in_recovery) = (self.scheme.in_flight(s), self.scheme.in_recovery());
            s.on_feedback(&ack_event, lost, in_flight, in_recovery);
        }
        if s.watched {
            s.on_ack_done();
        }
        if acked > 0 {
            self.on_progress(now, rto);
        }
        if self.scheme.in_recovery() && !repairing {
            // Fast retransmit restarts the timer. RFC 6298 §5 is silent; BSD,
            // Linux and ns-2 agree.
            let deadline = now + self.sender.rtt.rto();
            self.timer(Due::Retransmit).set(deadline);
        }
        true
    }

    /// Something new was acknowledged: timers, buffers, and our FIN.
    fn on_progress(&mut self, now: Time, rto: Rto) {
        let deadline = now + self.sender.rtt.rto();
        if self.sender.flight() == 0 {
            self.timer(Due::Retransmit).stop(); // RFC 6298 §5.2
        } else if rto == Rto::Restart {
            self.timer(Due::Retransmit).set(deadline); // §5.3
        }
        self.probes = 0;
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
        if self.closed_by_user && self.sender.una == self.sender.end {
            match self.state {
                State::FinWait1 => self.state = State::FinWait2,
                State::Closing => self.enter_time_wait(now),
                State::LastAck => self.finish(CloseReason::Normal),
                _ => {}
            }
        }
    }

    /// Real octets that were acknowledged are forgotten.
    pub(super) fn free_acknowledged(&mut self) {
        if let Some(octets) = &mut self.octets {
            octets.drop_below(self.sender.una.min(self.sender.end));
            if self.write_blocked {
                self.write_blocked = false;
                self.pending.writable = true;
            }
        }
    }

    /// A round-trip time: from the segment being timed, and where its
    /// retransmission made that ambiguous (Karn), from the echoed timestamp.
    fn rtt_sample(&mut self, now: Time, ack: u64, segment: &TcpSegment) -> Option<Span> {
        if let Some((end, sent)) = self.timed {
            if ack < end {
                return None;
            }
            self.timed = None;
            return Some(now - sent);
        }
        self.echoed_rtt(now, segment)
    }

    /// As Linux measures it, with every ACK that tells of something sent once.
    #[inline(never)]
    fn rtt_of_ack(&self, now: Time, acked: u64, segment: &TcpSegment) -> Option<Span> {
        let log = self.sender.log.as_ref();
        let logged = log.and_then(|log| log.first_rtt_sample(now, self.sender.una));
        match logged {
            None if acked > 0 => self.echoed_rtt(now, segment),
            logged => logged,
        }
    }

    /// A round-trip time from the echoed timestamp.
    fn echoed_rtt(&self, now: Time, segment: &TcpSegment) -> Option<Span> {
        let ts = segment.options.timestamps.filter(|ts| self.agreed.timestamps && ts.echo != 0)?;
        let elapsed = Connection::timestamp_clock(now).wrapping_sub(ts.echo) as u64;
        // An echo of what was never sent is no sample.
        (elapsed <= now.as_millis()).then(|| Span::from_millis(elapsed.max(1)))
    }

    /// The send log and the witnesses hear of an ACK before the scheme.
    #[inline(never)]
    fn watch_ack(&mut self, ack: &Ack, uses_sack: bool) {
        self.sender.on_ack_read(ack);
        if ack.acked == 0
            && self.config.rto_restart == RtoRestart::FirstResent
            && self.sender.log.as_ref().is_some_and(|log| log.tells_of_older_than_first())
        {
            self.restart_rto(ack.now);
        }
        if self.sender.finds_reduction_needless(ack, uses_sack) {
            self.scheme.on_undo(&mut self.sender);
        }
    }

    /// The millisecond in which the peer's echo left here.
    #[inline(never)]
    fn echo_of(&self, now: Time, segment: &TcpSegment) -> Option<u64> {
        let usable = |ts: &Timestamps| self.agreed.timestamps && ts.echo != 0;
        let ts = segment.options.timestamps.filter(usable)?;
        let elapsed = Connection::timestamp_clock(now).wrapping_sub(ts.echo);
        Some(now.as_millis().saturating_sub(elapsed as u64))
    }
}
