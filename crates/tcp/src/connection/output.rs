//! What leaves, in this order: a reset, a SYN, what the recovery scheme asks
//! for, a zero-window probe, an ACK.

use super::offload::Bounds;
use super::phase::Leaves;
use super::{Connection, Refused};
use crate::config::{ResetTimestamps, RtoRestart, WindowProbe};
use crate::range_set::Range;
use crate::recovery::{Next, Scheme};
use crate::state::State;
use anabranch_units::{Serial32, Time};
use anabranch_wire::tcp::options::MAX_LEN;
use anabranch_wire::{Body, Packet, Payload, TcpFlags, TcpOptions, TcpSegment, Timestamps};

impl Connection {
    pub(super) fn next_packet(&mut self, now: Time) -> Option<Packet> {
        if let Some(reset) = self.reset_due.take() {
            let flags = match reset.ack {
                Some(_) => TcpFlags::RST.union(TcpFlags::ACK),
                None => TcpFlags::RST,
            };
            let mut segment = self.segment(reset.seq, flags);
            segment.ack = reset.ack.unwrap_or_default();
            segment.options.timestamps = self.timestamps_of_reset(now, reset.answers);
            return Some(self.control(segment));
        }
        let leaves = self.phase.leaves();
        if leaves == Leaves::Syn {
            return Some(self.syn(now));
        }
        if self.extras.ecn().is_some()
            && let Some(packet) = self.urgent_ack(now)
        {
            return Some(packet);
        }
        if leaves == Leaves::Nothing {
            return None;
        }
        if (leaves == Leaves::Data || leaves == Leaves::EarlyData && self.is_open_early())
            && let Some(packet) = self.next_data(now)
        {
            return Some(packet);
        }
        if self.extras.peek().is_some_and(|extras| extras.limits.is_some()) {
            self.note_limit(now);
        }
        if self.extras.some().is_some()
            && let Some(packet) = self.keep_alive(now)
        {
            return Some(packet);
        }
        if self.receiver.ack_now {
            return Some(match self.repeated_fin() {
                Some(fin) => self.ack_with_fin(now, fin),
                None => self.pure_ack(now),
            });
        }
        if self.receiver.owes_ack() && !self.receiver.delayed_ack.is_armed() {
            let wait = match &self.receiver.timing {
                None => self.config.delayed_ack.delay,
                Some(timing) => timing.wait(self.sender.rtt.srtt()),
            };
            self.receiver.delayed_ack.set(now + wait);
        }
        None
    }

    /// Returns data, or what stands in its place: what the recovery scheme asks for, or a probe of
    /// a closed window.
    fn next_data(&mut self, now: Time) -> Option<Packet> {
        if self.waits_for_pacer(now) {
            return None;
        }
        match self.next_segment() {
            Next::Retransmit(_) if self.is_device_full() => None,
            Next::InOrder(_) if self.is_device_full() => {
                self.wait_for_device(now);
                None
            }
            Next::Retransmit(range) => Some(self.retransmit(now, range)),
            Next::InOrder(range) => self.send_in_order(now, range),
            Next::WindowFull => {
                self.note_use(true);
                None
            }
            Next::Nothing => {
                let waits = self.whole_waits();
                self.note_use(waits);
                if self.sender.watch.log.is_some() && !waits {
                    self.on_app_limited();
                }
                self.probe(now)
            }
        }
    }

    /// `range` is sent again, as the recovery scheme asks.
    fn retransmit(&mut self, now: Time, mut range: Range) -> Packet {
        self.keep_apart(&mut range);
        if self.receiver.has_blocks() {
            range.end = range.end.min(range.start + self.most_beside_blocks(0));
        }
        // The FIN rides along where it has been sent before.
        let closed = self.writing.is_closed();
        if closed && range.end == self.data_end() && range.end < self.sender.max {
            range.end += 1;
        }
        let packet = self.data(now, range);
        self.scheme.on_retransmit(&mut self.sender, range, now);
        let first = range.start == self.sender.una;
        if first && self.config.rto_restart == RtoRestart::FirstResent {
            self.restart_rto(now);
        }
        packet
    }

    /// `range`, the next in order, is sent, as far as a segment holds it. Returns `None` where it
    /// waits: for more data, or for the window that a probe of the path's MTU needs.
    #[inline]
    fn send_in_order(&mut self, now: Time, mut range: Range) -> Option<Packet> {
        self.keep_apart(&mut range);
        let mut most = self.sender.mss;
        if self.extras.ecn().is_some() {
            if range.start >= self.sender.max && self.is_held_by_echo() {
                self.note_use(false);
                return None;
            }
            most -= self.room_for_option(now, range.start);
        }
        if self.receiver.has_blocks() {
            most = self.most_beside_blocks(self.sender.mss - most);
        }
        // Options that ride on a segment do not make it a small one.
        let small = range.len() < most;
        range.end = range.end.min(range.start + most);
        if small && !self.scheme.is_probe_due() && self.holds_back(now, range) {
            self.note_use(false);
            return None;
        }
        if !small && self.extras.some().is_some() && !self.probe_mtu(now, &mut range) {
            self.sender.growth.window_limited = true;
            return None;
        }
        // The FIN rides on the last segment; it needs no window.
        if self.writing.is_closed() && range.end == self.data_end() {
            range.end += 1;
        }
        if self.extras.some().is_some() {
            self.offload(range);
        }
        let packet = self.data(now, range);
        self.sender.on_sent_in_order(range);
        if small && range.end > 1 + self.sent_with_syn() {
            self.on_small_sent(range.end);
        }
        self.scheme.on_in_order(&self.sender, range, now);
        Some(packet)
    }

    /// A segment leaves in order, perhaps with others as one packet.
    fn offload(&mut self, range: Range) {
        let Connection { extras, scheme, sender, .. } = self;
        let Some(offload) = extras.some().and_then(|extras| extras.offload.as_mut()) else {
            return;
        };
        offload.on_segment(range.start, || {
            let window = sender.cwnd();
            let allowed = scheme.window(sender).saturating_sub(scheme.in_flight(sender));
            let written = sender.end.min(sender.peer_window.edge).saturating_sub(range.start);
            Bounds {
                mss: sender.mss,
                room: allowed.min(written),
                window,
                starts: window < sender.congestion.ssthresh() / 2,
                srtt: sender.rtt.srtt(),
                min_rtt: sender.rtt.min_rtt(),
            }
        });
    }

    /// Asks the recovery scheme what to send. A side that only receives has nothing, which needs no
    /// look at scoreboard and window.
    #[inline]
    fn next_segment(&self) -> Next {
        if self.sender.is_done() {
            debug_assert_eq!(self.scheme.next(&self.sender), Next::Nothing);
            return Next::Nothing;
        }
        self.scheme.next(&self.sender)
    }

    /// A segment does not cross where its user has cut the stream, and the first leaves
    /// the room that its user needs.
    #[inline]
    fn keep_apart(&self, range: &mut Range) {
        if let Some(subflow) = self.extras.subflow() {
            range.end = range.end.min(subflow.end_of(range.start));
            if range.start == subflow.first {
                let most = self.sender.mss.saturating_sub(subflow.reserved_first.into()).max(1);
                range.end = range.end.min(range.start + most);
            }
        }
    }

    /// Returns the most octets of text of a segment that leaves now, beside the SACK blocks that ride
    /// on it (RFC 9293 §3.7.1).
    pub fn current_mss(&self) -> u64 {
        self.most_beside_blocks(0)
    }

    /// Returns what is left of a segment's text beside the SACK blocks that ride on it, which are taken off
    /// as all options (RFC 9293 §3.7.1); `others` counts the octets of options that are taken off for
    /// this segment alone.
    #[cold]
    fn most_beside_blocks(&self, others: u64) -> u64 {
        if !self.agreed.sack {
            return self.sender.mss - others;
        }
        let timestamps = if self.agreed.timestamps.is_some() { 12 } else { 0 };
        let taken = timestamps + others + self.extras.reserved();
        // Kind, length and padding take four octets, a block eight.
        let most = MAX_LEN as u64 - taken.min(MAX_LEN as u64);
        let blocks = self.receiver.blocks().min(most.saturating_sub(4) / 8);
        let room = if blocks > 0 { 4 + 8 * blocks } else { 0 };
        self.sender.mss.saturating_sub(others + room).max(1)
    }

    /// A sending opportunity is over; `limited` says that the window ended it.
    #[inline]
    fn note_use(&mut self, limited: bool) {
        let scheme = &self.scheme;
        self.sender.on_sending_done(limited, |s| scheme.in_flight(s));
    }

    /// There is nothing more to send although the window is open.
    #[inline(never)]
    fn on_app_limited(&mut self) {
        let in_flight = self.scheme.in_flight(&self.sender);
        self.sender.congestion.on_app_limited(in_flight);
    }

    /// The receiver's window may be closed while data waits, and nothing in flight whose ACK could
    /// open it: then a probe leaves, or waits for its time.
    fn probe(&mut self, now: Time) -> Option<Packet> {
        if !self.sender.is_blocked() {
            self.persist.stop();
            return None;
        }
        if self.persist.take_due() {
            // One octet beyond the window. It counts as sent, but stays the
            // next to send: its ACK is welcome, its loss is not a loss.
            let s = &self.sender;
            if s.nxt < s.peer_window.edge {
                // The override timeout of §3.8.6.2.1: what fits leaves.
                let range = Range { start: s.nxt, end: s.peer_window.edge };
                let packet = self.data(now, range);
                self.sender.on_sent_in_order(range);
                self.scheme.on_in_order(&self.sender, range, now);
                return Some(packet);
            }
            self.persist.on_probe();
            if self.config.window_probe == WindowProbe::Empty {
                let seq = self.iss.at(self.sender.una - 1);
                let mut segment = self.segment(seq, TcpFlags::ACK);
                self.acknowledge(now, &mut segment);
                self.arm_probe(now);
                return Some(self.control(segment));
            }
            let range = Range { start: s.nxt, end: s.nxt + 1 };
            let packet = self.data(now, range);
            self.sender.max = self.sender.max.max(range.end);
            self.retransmission.timer.stop();
            self.arm_probe(now);
            return Some(packet);
        }
        if !self.persist.timer.is_armed() {
            self.arm_probe(now);
        }
        None
    }

    pub(super) fn arm_probe(&mut self, now: Time) {
        let s = &self.sender;
        self.persist.arm(now, s.rtt.rto(), s.nxt < s.peer_window.edge);
    }

    /// Makes a segment of data, and of the FIN where `range` passes the end of the data.
    fn data(&mut self, now: Time, range: Range) -> Packet {
        let data_end = self.data_end();
        let len = range.end.min(data_end).saturating_sub(range.start) as u32;
        let mut flags = TcpFlags::ACK;
        if range.end > data_end {
            flags = flags.union(TcpFlags::FIN);
        }
        if self.is_pushed(range) && (len > 0 || !self.config.manners.pushes_data_alone) {
            flags = flags.union(TcpFlags::PSH);
        }
        if self.sender.una == self.sender.max {
            self.on_idle_end(now);
            self.on_burst_begins(now);
        }
        // A probe of a closed window is not data that waits for its ACK.
        if self.config.user_timeout.is_some() && range.start < self.sender.peer_window.edge {
            self.on_data_under_user_timeout(now);
        }
        self.sender.growth.on_sent(now);
        let pipe = match self.sender.watch.tells_losses() {
            true => self.scheme.in_flight(&self.sender),
            false => 0,
        };
        self.sender.on_sending(now, range, len as u64, pipe);
        let again = range.start < self.sender.max;
        self.sender.counters.packets += 1;
        if again {
            self.sender.counters.retransmitted_packets += 1;
            self.on_resent_beside_probe(range.start);
        }
        self.retransmission.on_sent(now, range.end, again, || self.sender.rtt.rto());
        let mut segment = self.segment(self.iss.at(range.start), flags);
        segment.payload = self.writing.payload(range.start, len);
        self.acknowledge(now, &mut segment);
        if self.extras.some().is_some() {
            self.point_to_urgent(range.start, &mut segment);
        }
        let mut packet = self.packet(segment);
        if self.extras.ecn().is_some() {
            // A probe of a closed window has neither ECT nor CWR (RFC 3168 §6.1.6).
            if again || len == 0 || range.start >= self.sender.peer_window.edge {
                packet.ecn = self.control_ecn();
            } else {
                self.mark_new_data(&mut packet);
            }
        }
        self.on_paced(now, &packet);
        if let Some(timing) = &mut self.receiver.timing {
            timing.on_data_sent(now);
        }
        packet
    }

    /// Data leaves after a time in which nothing was outstanding: the window restarts from the
    /// restart window when that was longer than a timeout (RFC 5681 §4.1).
    fn on_idle_end(&mut self, now: Time) {
        let s = &mut self.sender;
        if self.config.idle_restart && s.growth.idle_for(now) > s.rtt.rto() {
            s.congestion.on_idle(self.config.initial_window.octets(s.mss));
        }
    }

    pub(super) fn pure_ack(&mut self, now: Time) -> Packet {
        let mut segment = self.segment(self.iss.at(self.acceptable_seq()), TcpFlags::ACK);
        self.acknowledge(now, &mut segment);
        if self.extras.some().is_some() {
            self.point_to_urgent(self.sender.max, &mut segment);
        }
        self.control(segment)
    }

    /// An ACK that repeats the FIN at the offset `fin`.
    fn ack_with_fin(&mut self, now: Time, fin: u64) -> Packet {
        let mut segment = self.segment(self.iss.at(fin), TcpFlags::ACK.union(TcpFlags::FIN));
        self.acknowledge(now, &mut segment);
        self.control(segment)
    }

    /// Returns the offset of a segment without data. After a timeout SND.NXT went back; an ACK
    /// carries the highest sent. A window probe was sent beyond the window, where the peer would
    /// answer an ACK with an ACK, and both for ever. By less than the unit of the peer's windows the
    /// edge may be told too low (as in Linux).
    pub(super) fn acceptable_seq(&self) -> u64 {
        let s = &self.sender;
        let (sent, edge) = (s.max.max(s.nxt), s.peer_window.edge.max(s.una));
        let rounded = sent.saturating_sub(edge) < 1 << self.agreed.peer_shift;
        if rounded && self.agreed.peer_shift > 0 { sent } else { sent.min(edge) }
    }

    fn syn(&mut self, now: Time) -> Packet {
        self.phase.on_syn_sent();
        let mut segment = self.segment(self.iss, TcpFlags::SYN);
        segment.options = self.syn_options(now);
        let answering = self.state() == State::SynReceived;
        if answering {
            segment.flags = segment.flags.union(TcpFlags::ACK);
            segment.ack = self.receiver.irs.at(self.receiver.nxt);
        }
        segment.flags = segment.flags.union(self.syn_ecn_flags(answering));
        match (self.extras.fast_open().is_some(), answering) {
            (true, true) => self.answer_fast_open(&mut segment),
            (true, false) => self.open_fast(now, &mut segment),
            (false, _) => {}
        }
        self.put_option_in_syn_ack(&mut segment);
        segment.window = self.receiver.window().min(0xFFFF) as u16;
        let first = self.sender.max == 0;
        self.start_user_timeout(now);
        self.sender.nxt = self.sender.nxt.max(1);
        self.sender.max = self.sender.max.max(1);
        self.retransmission.on_syn_sent(now, first, self.sender.rtt.rto());
        self.control(segment)
    }

    /// Fills in acknowledgment, window, timestamps and SACK blocks; what was
    /// owed to the peer is paid.
    pub(super) fn acknowledge(&mut self, now: Time, segment: &mut TcpSegment) {
        self.receiver.delayed_ack.stop();
        segment.ack = self.receiver.irs.at(self.receiver.nxt);
        segment.flags = segment.flags.union(self.ecn_echo());
        let window = self.receiver.on_ack_sent(self.sender.mss) >> self.agreed.own_shift;
        segment.window = window.min(0xFFFF) as u16;
        if self.agreed.timestamps.is_some() {
            segment.options.timestamps = Some(self.timestamps_at(now));
        }
        // Forty octets of options hold four blocks, or three beside timestamps
        // (RFC 2018 §3).
        let mut most = if self.agreed.timestamps.is_some() { 3 } else { 4 };
        if self.extras.ecn().is_some() {
            most = self.put_option(now, segment, most);
        }
        if self.agreed.sack && most > 0 && self.receiver.has_blocks() {
            segment.options.sack = self.receiver.sack_blocks(most);
        }
    }

    /// Returns the timestamps of a reset that answers `segment`, or that the user or a timeout asks
    /// for (RFC 7323 §5.2).
    fn timestamps_of_reset(&self, now: Time, answers: Option<Refused>) -> Option<Timestamps> {
        match (self.config.reset_timestamps, answers) {
            (ResetTimestamps::None, _) | (ResetTimestamps::Aborts, Some(_)) => None,
            (_, None) => self.agreed.timestamps.map(|_| self.timestamps_at(now)),
            (_, Some(Refused { stamp })) => stamp.map(|echo| Timestamps { value: 0, echo }),
        }
    }

    pub(super) fn timestamps_at(&self, now: Time) -> Timestamps {
        let echo = self.agreed.timestamps.map_or(0, |recent| recent.value);
        Timestamps { value: self.ends.timestamp(now), echo }
    }

    pub(super) fn segment(&self, seq: Serial32, flags: TcpFlags) -> TcpSegment {
        TcpSegment {
            src_port: self.ends.local.1,
            dst_port: self.ends.remote.1,
            seq,
            ack: Serial32(0),
            flags,
            window: 0,
            urgent: 0,
            options: TcpOptions::default(),
            payload: Payload::EMPTY,
        }
    }

    /// Makes a packet without new data.
    pub(super) fn control(&self, segment: TcpSegment) -> Packet {
        let mut packet = self.packet(segment);
        packet.ecn = self.control_ecn();
        packet
    }

    fn packet(&self, segment: TcpSegment) -> Packet {
        let packet = Packet::new(self.ends.local.0, self.ends.remote.0, Body::Tcp(segment));
        Packet { dscp: self.config.dscp, ttl: self.config.ttl, ..packet }
    }
}
