//! Segments in the synchronized states: RFC 9293 §3.10.7.4.

use super::handshake::TIMESTAMPS_LEN;
use super::{Connection, Due};
use crate::config::{Counting, RtoRestart, RttSamples};
use crate::range_set::Range;
use crate::receiver::Arrival;
use crate::recovery::{Rto, Scheme};
use crate::sender::Ack;
use crate::state::State;
use anabranch_congestion::Controller;
use anabranch_endpoint::CloseReason;
use anabranch_units::{Span, Time};
use anabranch_wire::{Body, Ecn, Packet, TcpFlags, TcpSegment, Timestamps};

impl Connection {
    pub(super) fn on_packet(&mut self, now: Time, packet: &Packet) {
        let segment = match &packet.body {
            Body::Tcp(segment) => segment,
            Body::Icmp(icmp) => return self.on_icmp(now, icmp),
            Body::Sctp(_) | Body::Other { .. } => return,
        };
        match self.state {
            State::Closed => self.on_segment_in_closed(segment),
            State::Listen => self.on_segment_in_listen(now, segment, packet.ecn),
            State::SynSent => self.on_segment_in_syn_sent(now, segment, packet.ecn),
            _ => self.on_segment(now, segment, packet.ecn),
        }
    }

    fn on_segment(&mut self, now: Time, segment: &TcpSegment, ecn: Ecn) {
        let Some(start) = segment.seq.expand(self.receiver.irs, self.receiver.nxt) else {
            self.receiver.ack_now = true; // before the peer's SYN
            return;
        };
        if self.agreed.timestamps && !self.passes_paws(now, segment) {
            return;
        }
        // First, check the sequence number. With the window closed, ACKs on
        // what does not fit are good nevertheless.
        let acceptable = self.is_acceptable(start, segment.seq_len() as u64);
        if !acceptable {
            self.on_unacceptable(now, segment, start);
            if self.receiver.window() > 0 || start != self.receiver.nxt {
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
        if self.state == State::SynReceived {
            if !self.acks_sent_data(segment) {
                self.reset_due = Some(super::Reset { seq: segment.ack, ack: None });
                return;
            }
            let early = self.is_open_early();
            self.on_own_syn_acked(now, segment);
            self.on_handshake_acked(segment);
            // Of data behind the SYN-ACK it tells nothing: no duplicate.
            tells = !early || segment.ack != self.iss.add(1) || !segment.options.sack.is_empty();
        }
        if let Some(extras) = self.extras.some() {
            extras.keep_alive.on_heard(now);
            extras.hold.more = false;
            self.on_ecn_field(ecn, segment);
            self.sender.echoed = self.is_echo(segment);
        }
        if tells && !self.on_ack(now, segment, start) {
            self.challenge(now);
            return;
        }
        // Once the ACK field is good, so that a blind attacker must know that too, or the peer's
        // own segments would be old (RFC 5961 §5; Linux agrees).
        self.remember_timestamp(now, segment, start);
        if acceptable {
            self.on_text(now, segment, start);
        }
    }

    /// §3.10.7.4, first: an ACK, unless it is a reset.
    #[cold]
    fn on_unacceptable(&mut self, now: Time, segment: &TcpSegment, start: u64) {
        if let Some(extras) = self.extras.some() {
            extras.keep_alive.on_heard(now);
        }
        if segment.flags.contains(TcpFlags::RST) {
            return;
        }
        self.receiver.ack_now = true;
        if start < self.receiver.nxt {
            let end = start + segment.payload.len() as u64;
            self.receiver.note_duplicate(Range { start, end });
            // Sent again, since our ACK was lost: the next one echoes when that was, or the peer
            // would take its timeout for a round trip. RFC 7323 §4.3 (2) does not ask whether the
            // segment is acceptable.
            if (self.config.echo_old_segments || end >= self.receiver.acknowledged())
                && self.is_sent_again(segment, start)
            {
                self.remember_timestamp(now, segment, start);
            }
        }
        match self.state {
            State::SynReceived if segment.flags.contains(TcpFlags::SYN) => {
                self.on_repeated_syn(segment);
                // Deviation: the SYN-ACK again, where an ACK alone would be
                // ignored in SYN-SENT. Linux and BSD agree.
                if self.passive && start == 0 {
                    (self.syn_due, self.receiver.ack_now) = (true, false);
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

    /// A segment from before the window is one that the peer sends again, as far as can be told: it
    /// was in the window not long ago, and its ACK field is good (RFC 5961 §5). Who knows neither
    /// number must not choose which timestamps are old.
    fn is_sent_again(&self, segment: &TcpSegment, start: u64) -> bool {
        let s = &self.sender;
        let good = |ack: u64| ack <= s.max && ack + s.max_window >= s.una;
        segment.flags.contains(TcpFlags::ACK)
            && self.receiver.held_lately(start)
            && segment.ack.expand(self.iss, s.una).is_some_and(good)
    }

    /// §3.10.7.4, second and fourth, with RFC 5961 §3.2 and §4.2: only a reset
    /// exactly at RCV.NXT is believed; others, and SYNs, are challenged.
    #[cold]
    fn on_reset_or_syn(&mut self, now: Time, segment: &TcpSegment, start: u64) {
        if self.state == State::SynReceived && self.passive && !self.is_open_early() {
            let exact = start == self.receiver.nxt;
            if segment.flags.contains(TcpFlags::SYN) || exact {
                return self.return_to_listen();
            }
        }
        if !segment.flags.contains(TcpFlags::RST) || start != self.receiver.nxt {
            return self.challenge(now);
        }
        let only_fin = self.sender.una >= self.data_end();
        match self.state {
            State::SynReceived if !self.passive => self.finish(CloseReason::Refused),
            // RFC 1337: a stray reset must not end TIME-WAIT early.
            State::TimeWait if self.config.protect_time_wait => {}
            State::TimeWait => self.finish(CloseReason::Normal),
            // Both users are done: no reset is signalled.
            State::Closing | State::LastAck if only_fin => self.finish(CloseReason::Normal),
            _ => self.finish(CloseReason::Reset),
        }
    }

    /// Sixth, check the URG bit; seventh, process the segment text; eighth,
    /// check the FIN bit.
    pub(super) fn on_text(&mut self, now: Time, segment: &TcpSegment, start: u64) {
        let fin = segment.flags.contains(TcpFlags::FIN);
        if segment.flags.contains(TcpFlags::URG) {
            self.on_urgent(segment, start);
        }
        if !segment.payload.is_empty() || fin {
            self.on_data(now, segment, start, fin);
        }
    }

    /// RFC 9293 §3.4, the four cases of an acceptable segment.
    fn is_acceptable(&self, start: u64, len: u64) -> bool {
        let (nxt, window) = (self.receiver.nxt, self.receiver.window());
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
    pub(super) fn acks_sent_data(&self, segment: &TcpSegment) -> bool {
        let most = self.sender.max.max(1 + self.sent_with_syn());
        segment.ack.expand(self.iss, 1).is_some_and(|ack| (1..=most).contains(&ack))
    }

    /// The ACK field and the SACK blocks; false when the segment must be
    /// dropped and challenged because it acknowledges what was never sent, or
    /// what no segment of this time can acknowledge (RFC 5961 §5).
    fn on_ack(&mut self, now: Time, segment: &TcpSegment, start: u64) -> bool {
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

    fn on_data(&mut self, now: Time, segment: &TcpSegment, start: u64, fin: bool) {
        if !self.state.can_receive() {
            // Text after the peer's FIN is ignored; a FIN that is sent again is
            // acknowledged (§3.10.7.4, seventh and eighth).
            self.receiver.ack_now |= fin;
            if fin && self.state == State::TimeWait {
                self.enter_time_wait(now);
            }
            return;
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
            match self.state {
                State::Established => self.state = State::CloseWait,
                State::FinWait1 => self.state = State::Closing,
                State::FinWait2 => self.enter_time_wait(now),
                _ => {}
            }
        }
    }

    /// Whether the window that is advertised grows. Not with what is out of order
    /// where SACK is not in use: a duplicate ACK tells of no other window (RFC
    /// 5681 §2).
    fn grow_window(&mut self, now: Time, segment: &TcpSegment, arrival: Arrival) -> bool {
        let options = if self.agreed.timestamps { TIMESTAMPS_LEN } else { 0 };
        let mss = self.config.mss as u64 - options;
        self.receiver.right_size(now, self.sender.rtt.srtt(), mss);
        let counts = arrival.advanced > 0 || arrival.above > 0 && self.agreed.sack;
        counts && self.receiver.grow_window(segment.payload.len() as u64, mss)
    }

    /// Whether the ACK of what arrived may wait, where that adapts; `grew`: it
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
            match self.state {
                State::Established | State::SynReceived => timing.on_end(),
                _ => self.receiver.ack_now = true,
            }
        }
        self.receiver.ack_now |= timing.must_leave(unacknowledged);
    }

    pub(super) fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.timers = [anabranch_endpoint::Timer::IDLE; 4];
        self.extras.stop_timers();
        let deadline = now + self.config.time_wait;
        self.timer(Due::TimeWait).set(deadline);
    }
}
