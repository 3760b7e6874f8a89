//! Segments in the synchronized states: RFC 9293 §3.10.7.4. Its fifth check, the ACK field, is in
//! `acknowledgment.rs`.

use super::handshake::TIMESTAMPS_LEN;
use super::phase::Phase;
use super::{Connection, Reset};
use crate::range_set::Range;
use crate::receiver::Arrival;
use crate::state::State;
use anabranch_endpoint::CloseReason;
use anabranch_units::Time;
use anabranch_wire::{Body, Ecn, Packet, TcpFlags, TcpSegment};
use std::cmp::Ordering;

impl Connection {
    pub(super) fn on_packet(&mut self, now: Time, packet: &Packet) {
        let segment = match &packet.body {
            Body::Tcp(segment) => segment,
            Body::Icmp(icmp) => return self.on_icmp(now, icmp),
            Body::Sctp(_) | Body::Udp(_) | Body::Other { .. } => return,
        };
        self.passed = false;
        match self.phase {
            Phase::Closed | Phase::Ended => self.on_segment_in_closed(segment),
            Phase::Listen => self.on_segment_in_listen(now, segment, packet.ecn),
            Phase::SynSent(_) => self.on_segment_in_syn_sent(now, segment, packet.ecn),
            Phase::TimeWait { .. } if self.config.manners.bsd_time_wait => {
                self.on_segment_in_bsd_time_wait(now, segment)
            }
            _ => self.on_segment(now, segment, packet.ecn),
        }
    }

    fn on_segment(&mut self, now: Time, segment: &TcpSegment, ecn: Ecn) {
        let Some(start) = segment.seq.expand(self.receiver.irs, self.receiver.nxt) else {
            return self.on_segment_before_syn(now, segment);
        };
        if !self.passes_paws(now, segment) {
            return;
        }
        // First, check the sequence number.
        let reset = segment.flags.contains(TcpFlags::RST);
        let acceptable = match reset {
            true => self.is_reset_acceptable(start),
            false => self.is_acceptable(start, segment.seq_len() as u64),
        };
        if !acceptable {
            self.on_unacceptable(now, segment, start);
            if !self.reads_unacceptable(segment, start) {
                return;
            }
        }
        // Second, check the RST bit; fourth, the SYN bit.
        if segment.flags.intersects(TcpFlags::RST.union(TcpFlags::SYN)) {
            self.on_reset_or_syn(now, segment, start);
            return;
        }
        // Fifth, check the ACK field.
        if !segment.flags.contains(TcpFlags::ACK) {
            return;
        }
        let mut tells = true;
        if matches!(self.phase, Phase::SynReceived(_)) {
            match self.end_handshake(now, segment) {
                Some(more) => tells = more,
                None => return,
            }
        }
        let mut ece = false;
        if let Some(extras) = self.extras.some() {
            extras.keep_alive.on_heard(now);
            extras.hold.more = false;
            self.on_ecn_field(ecn, segment);
            ece = self.is_echo(segment);
        }
        if tells && !self.on_ack(now, segment, start, ece) {
            self.challenge(now);
            return;
        }
        self.passed = true;
        // Once the ACK field is good, so that a blind attacker must know that too, or the peer's
        // own segments would be old (RFC 5961 §5; Linux agrees).
        self.remember_timestamp(now, segment, start);
        if acceptable {
            self.on_text(now, segment, start);
        } else {
            self.on_urgent(segment, start); // the window is closed (MUST-66)
        }
    }

    /// In SYN-RECEIVED the ACK field is to acknowledge our SYN (fifth check). Returns `None` where
    /// it does not, else whether the segment may acknowledge more than that.
    fn end_handshake(&mut self, now: Time, segment: &TcpSegment) -> Option<bool> {
        if !self.acks_sent_data(segment) {
            self.reset_due = Some(Reset::answering(segment));
            return None;
        }
        let early = self.is_open_early();
        self.on_own_syn_acked(now, segment);
        self.take_queued_text(now, segment);
        self.on_handshake_acked(segment);
        // Of data behind the SYN-ACK it tells nothing: no duplicate.
        Some(!early || segment.ack != self.iss.add(1) || !segment.options.sack.is_empty())
    }

    /// The number lies before the peer's SYN, so that the segment is not acceptable: it is answered
    /// unless it is a reset (§3.10.7.4, first check). The peer has sent none such; a blind attacker
    /// hits them half of the time.
    #[cold]
    fn on_segment_before_syn(&mut self, now: Time, segment: &TcpSegment) {
        if !segment.flags.contains(TcpFlags::RST) {
            self.challenge(now);
        }
    }

    /// An unacceptable segment is answered by an ACK, unless it is a reset (§3.10.7.4, first
    /// check).
    #[cold]
    fn on_unacceptable(&mut self, now: Time, segment: &TcpSegment, start: u64) {
        if let Some(extras) = self.extras.some() {
            extras.keep_alive.on_heard(now);
        }
        if segment.flags.contains(TcpFlags::RST) {
            return;
        }
        self.answer_unacceptable(now, segment);
        if start < self.receiver.nxt {
            // A FIN counts as data that came twice, but not once the connection is over. A SYN is
            // answered by the SYN-ACK again, or by a challenge.
            let over = self.state() == State::TimeWait;
            let len = if over { segment.payload.len() } else { segment.seq_len() };
            let end = start + len as u64;
            if !segment.flags.contains(TcpFlags::SYN) {
                self.receiver.note_duplicate(Range { start, end });
            }
            // Sent again, since our ACK was lost: the next one echoes when that was, or the peer
            // would take its timeout for a round trip. RFC 7323 §4.3 (2) does not ask whether the
            // segment is acceptable.
            if (self.config.echo_old_segments || end >= self.receiver.acknowledged())
                && self.is_sent_again(segment, start)
            {
                self.remember_timestamp(now, segment, start);
            }
        }
        match self.state() {
            State::SynReceived if segment.flags.contains(TcpFlags::SYN) => {
                self.on_repeated_syn(segment);
                // Deviation: the SYN-ACK again, where an ACK alone would be
                // ignored in SYN-SENT. Linux and BSD agree.
                if self.phase.is_opened_passively() && start == 0 {
                    self.phase.repeat_syn();
                    self.receiver.ack_now = false;
                }
            }
            // Our ACK of the FIN was lost: 2 MSL begin again (eighth).
            State::TimeWait if segment.flags.contains(TcpFlags::FIN) => self.enter_time_wait(now),
            _ if segment.flags.contains(TcpFlags::SYN.union(TcpFlags::ACK)) => {
                self.on_repeated_syn_ack();
            }
            _ => {}
        }
    }

    /// The ACK field of a segment that is not acceptable counts: with the window closed, of what does not
    /// fit; in BSD stacks, of what has come before.
    #[cold]
    fn reads_unacceptable(&self, segment: &TcpSegment, start: u64) -> bool {
        let is_plain = !segment.flags.intersects(TcpFlags::RST.union(TcpFlags::SYN));
        match start.cmp(&self.receiver.nxt) {
            Ordering::Less => is_plain && self.config.manners.reads_old_acks,
            Ordering::Equal => self.window() == 0,
            Ordering::Greater => false,
        }
    }

    /// A segment from before the window is one that the peer sends again, as far as can be told: it
    /// was in the window not long ago, and its ACK field is good (RFC 5961 §5). Who knows neither
    /// number must not choose which timestamps are old.
    fn is_sent_again(&self, segment: &TcpSegment, start: u64) -> bool {
        let s = &self.sender;
        let good = |ack: u64| ack <= s.max && s.peer_window.is_recent(ack, s.una);
        segment.flags.contains(TcpFlags::ACK)
            && self.receiver.held_lately(start)
            && segment.ack.expand(self.iss, s.una).is_some_and(good)
    }

    /// A reset or a SYN came (§3.10.7.4, second and fourth check, with RFC 5961 §3.2 and §4.2):
    /// only a reset exactly at RCV.NXT is believed; others, and SYNs, are challenged.
    #[cold]
    fn on_reset_or_syn(&mut self, now: Time, segment: &TcpSegment, start: u64) {
        let manners = self.config.manners;
        let exact = start == self.receiver.nxt || manners.any_reset_in_window;
        let reset = segment.flags.contains(TcpFlags::RST);
        if self.phase.is_opened_passively() && !self.is_open_early() && (!reset || exact) {
            return self.return_to_listen();
        }
        if !reset && manners.resets_for_syns && self.state().is_synchronized() {
            return self.reset(CloseReason::Reset);
        }
        if !reset || !exact {
            return self.challenge(now);
        }
        let only_fin = self.sender.una >= self.data_end();
        match self.state() {
            State::SynReceived if !self.phase.is_opened_passively() => {
                self.finish(CloseReason::Refused)
            }
            // RFC 1337: a stray reset must not end TIME-WAIT early.
            State::TimeWait if self.config.protect_time_wait => {}
            State::TimeWait => self.finish(CloseReason::Normal),
            // Both users are done: no reset is signalled.
            State::Closing | State::LastAck if only_fin && !manners.resets_while_closing => {
                self.finish(CloseReason::Normal)
            }
            _ => self.finish(CloseReason::Reset),
        }
    }

    /// Sixth, the URG bit is checked; seventh, the segment text is processed; eighth, the FIN bit
    /// is checked.
    pub(super) fn on_text(&mut self, now: Time, segment: &TcpSegment, start: u64) {
        let counts =
            !segment.flags.contains(TcpFlags::SYN) || !self.config.manners.ignores_fin_on_syn;
        let fin = segment.flags.contains(TcpFlags::FIN) && counts;
        if segment.flags.contains(TcpFlags::URG) {
            self.on_urgent(segment, start);
        }
        if !segment.payload.is_empty() || fin {
            self.on_data(now, segment, start, fin);
        }
    }

    /// The window in which segments are acceptable (RCV.WND): what a SYN-ACK advertised is never
    /// scaled (RFC 7323 §2.2), and nothing was advertised since.
    fn window(&self) -> u64 {
        let most = if self.phase.is_opened_passively() { 0xFFFF } else { u64::MAX };
        self.receiver.window().min(most)
    }

    /// A reset is acceptable within the window alone (RFC 9293 §3.10.7.4, RFC 5961 §3.2).
    fn is_reset_acceptable(&self, start: u64) -> bool {
        let nxt = self.receiver.nxt;
        start == nxt || nxt < start && start < nxt + self.window()
    }

    /// The segment is acceptable by one of the four cases of RFC 9293 §3.4.
    fn is_acceptable(&self, start: u64, len: u64) -> bool {
        let (nxt, window) = (self.receiver.nxt, self.window());
        let inside = |at: u64| nxt <= at && at < nxt + window;
        match (len, window) {
            (0, 0) => start == nxt,
            // Deviation: an ACK at the right edge, too. When all of a window is
            // lost in both directions, both sides' ACKs stand there, and each
            // would answer the other's for ever. Linux and BSD agree.
            (0, _) => inside(start) || start == nxt + window,
            (_, 0) => false,
            _ if inside(start) => true,
            // Offset 0 is the peer's SYN, which has come, though data of it may not
            // have been taken (RFC 7413 §4.2.2).
            _ => start > 0 && (inside(start + len - 1) || start < nxt && start + len > nxt),
        }
    }

    /// The segment acknowledges our SYN, and nothing that was not sent.
    pub fn acks_sent_data(&self, segment: &TcpSegment) -> bool {
        let most = self.sender.max.max(1 + self.sent_with_syn());
        segment.ack.expand(self.iss, 1).is_some_and(|ack| (1..=most).contains(&ack))
    }

    fn on_data(&mut self, now: Time, segment: &TcpSegment, start: u64, fin: bool) {
        if !self.state().can_receive() {
            // Text after the peer's FIN is ignored; a FIN that is sent again is
            // acknowledged (§3.10.7.4, seventh and eighth).
            self.receiver.ack_now |= fin;
            if fin && self.state() == State::TimeWait {
                self.enter_time_wait(now);
            }
            return;
        }
        // A FIN that is known and waits for data before it brings nothing: where both sides' ACKs repeat theirs, each
        // would answer the other's for ever.
        if fin && segment.payload.is_empty() && self.receiver.waits_for_fin_at(start) {
            self.answer_bare();
        }
        // Quick ACKs while the peer is in its first slow start.
        let quick = self.config.quick_acks as u64 * self.config.mss as u64;
        let count = if start < quick { 1 } else { self.config.delayed_ack.count };
        let arrival = self.receiver.on_segment(start, &segment.payload, fin, count);
        if arrival.advanced > 0 {
            self.pending.readable = true;
        }
        let grew = self.receiver.grows() && self.grow_window(now, segment, arrival);
        if self.receiver.timing.is_some() {
            self.time_ack(now, segment, start, arrival, grew);
        } else {
            self.receiver.ack_now |= grew;
        }
        if arrival.ended {
            self.pending.peer_closed = true;
            match self.state() {
                State::Established => self.phase = Phase::CloseWait,
                State::FinWait1 => self.phase = Phase::Closing,
                State::FinWait2 => self.enter_time_wait(now),
                _ => {}
            }
        }
    }

    /// Grows the advertised window with the data that came, and returns whether it grew. It does
    /// not grow with what is out of order where SACK is not in use: a duplicate ACK tells of no
    /// other window (RFC 5681 §2).
    fn grow_window(&mut self, now: Time, segment: &TcpSegment, arrival: Arrival) -> bool {
        let options = if self.agreed.timestamps.is_some() { TIMESTAMPS_LEN } else { 0 };
        let mss = self.config.mss as u64 - options;
        self.receiver.right_size(now, self.sender.rtt.srtt(), mss);
        let counts = arrival.advanced > 0 || arrival.above > 0 && self.agreed.sack;
        counts && self.receiver.grow_window(segment.payload.len() as u64, mss)
    }

    /// Decides whether the ACK of what arrived may wait, where that adapts; `grew` says that it
    /// makes the advertised window grow.
    #[inline(never)]
    fn time_ack(
        &mut self,
        now: Time,
        segment: &TcpSegment,
        start: u64,
        arrival: Arrival,
        grew: bool,
    ) {
        let (rto, window) = (self.sender.rtt.rto(), self.receiver.window());
        let len = segment.payload.len() as u64;
        let unacknowledged = self.receiver.nxt - self.receiver.acknowledged();
        let regular = arrival.advanced >= len;
        let state = self.state();
        let Some(timing) = &mut self.receiver.timing else { return };
        if !regular && start + len <= self.receiver.nxt {
            timing.on_irregular(window);
        }
        if len > 0 && arrival.advanced > 0 {
            let pushed = segment.flags.contains(TcpFlags::PSH);
            timing.on_data(now, len, pushed, window, rto);
        }
        if grew {
            timing.on_growth();
        }
        if arrival.ended {
            match state {
                State::Established | State::SynReceived => timing.on_end(),
                _ => self.receiver.ack_now = true,
            }
        }
        self.receiver.ack_now |= timing.must_leave(unacknowledged);
    }

    pub(super) fn enter_time_wait(&mut self, now: Time) {
        self.stop_timers();
        self.phase = Phase::TimeWait { until: now + self.config.time_wait };
    }
}
