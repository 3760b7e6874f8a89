//! Segments: to which subflow they go, what their options say, and how the
//! octets of a subflow become those of the stream (RFC 8684 §3.3).

use super::{Connection, Phase};
use crate::incoming::Arrival;
use crate::mapping::Received;
use crate::subflow::Stage;
use anabranch_endpoint::{ByteStream, Endpoint, Event};
use anabranch_tcp::State as TcpState;
use anabranch_units::{Serial32, Time};
use anabranch_wire::tcp::mptcp::{DataNumber, Dss, Mapping, MptcpOption, ResetReason};
use anabranch_wire::{Body, FlowKey, Packet, Payload, TcpFlags, TcpSegment};

/// Mappings of a subflow that are kept in any case, and the octets of receive
/// buffer for each more: segments of less than 128 octets would exceed it.
const LEAST_MAPPINGS: usize = 64;
const OCTETS_PER_MAPPING: u64 = 128;

impl Connection {
    pub(super) fn on_packet(&mut self, now: Time, packet: &Packet) {
        let Body::Tcp(segment) = &packet.body else { return self.on_other(now, packet) };
        let key = FlowKey {
            src: packet.dst,
            dst: packet.src,
            protocol: TcpSegment::PROTOCOL,
            src_port: segment.dst_port,
            dst_port: segment.src_port,
        };
        let its =
            self.keys.iter().enumerate().find(|(i, it)| **it == key && !self.subflows[*i].gone);
        match its.map(|(i, _)| i) {
            Some(i) if self.on_usual_segment(now, i, packet, segment) => {
                // Nobody but this subflow has something to tell, as a rule.
                if self.uncollected == self.subflows[i].bit() && !self.out.closed {
                    return self.collect_one(now, i);
                }
            }
            Some(i) => self.on_segment(now, i, packet, segment),
            None => self.on_stranger(now, packet, segment),
        }
        self.collect(now);
    }

    /// Trouble of subflows that a router reports.
    #[cold]
    fn on_other(&mut self, now: Time, packet: &Packet) {
        if let Body::Icmp(_) = &packet.body {
            for i in 0..self.subflows.len() {
                if self.subflows[i].local() == packet.dst {
                    self.subflows[i].tcp.handle_input(now, packet);
                    self.touch(i);
                }
            }
            self.collect(now);
        }
    }

    /// As [`Connection::on_segment`] for nearly every segment of a transfer, at half of
    /// the cost: it carries a DATA_ACK, no news of another kind, and either no data or
    /// counted octets with a mapping of 32 bits that is theirs alone. False, and
    /// nothing has been done, for others.
    #[inline]
    fn on_usual_segment(
        &mut self,
        now: Time,
        i: usize,
        packet: &Packet,
        segment: &TcpSegment,
    ) -> bool {
        let it = &self.subflows[i];
        let plain = segment.flags.union(TcpFlags::PSH) == TcpFlags::ACK.union(TcpFlags::PSH)
            && segment.options.rare.is_none()
            && segment.payload.octets().is_none();
        let quiet = self.phase == Phase::Multipath
            && self.confirmed
            && !self.checksum
            && it.stage == Stage::Ready
            && it.tcp.state() == TcpState::Established;
        if !(plain && quiet) {
            return false;
        }
        let Some(Dss { data_ack: Some(data_ack), mapping, data_fin: false }) =
            segment.options.dss()
        else {
            return false;
        };
        let (Some(at), Some(ack)) =
            (it.tcp.received_offset(segment.seq), it.tcp.sent_offset(segment.ack))
        else {
            return false;
        };
        let len = segment.payload.len();
        let data = match mapping {
            _ if len == 0 => None,
            Some(Mapping { dsn: dsn @ DataNumber::Short(_), ssn, len: mapped, checksum: None })
                if (ssn, mapped as u32) == (at as u32, len) && at > 0 =>
            {
                self.peer.offset(dsn, self.inc.nxt)
            }
            _ => return false,
        };
        let plausible = at.abs_diff(it.tcp.read_offset()) <= self.reach()
            && ack <= it.tcp.outstanding().1
            && (len == 0 || data > Some(0));
        if !plausible {
            return false;
        }
        if self.subflows.len() > 1 && self.subflows[i].tcp.is_coupled() {
            self.tell_siblings(i);
        }
        self.subflows[i].tcp.handle_input(now, packet);
        if let Some(data) = data {
            self.on_counted(i, at, data, len);
        }
        self.touch(i);
        if let Some(ack) = self.own.offset(data_ack, self.out.una) {
            let window = (segment.window as u64) << self.subflows[i].tcp.window_shifts().1;
            self.on_data_ack(now, ack, window);
        }
        true
    }

    /// Counted octets came with a mapping of their own. As a rule they are all that can be
    /// read of the subflow, and the mapping need not be kept.
    #[inline]
    fn on_counted(&mut self, i: usize, at: u64, data: u64, len: u32) {
        let it = &mut self.subflows[i];
        let next =
            it.tcp.read_offset() == at && it.tcp.readable() == len as u64 && it.received.is_empty();
        if !next {
            let map = Received { start: at, len, data, fin: false, checksum: None, long: false };
            return self.keep_mapping(i, map);
        }
        it.tcp.read(len as u64);
        if self.inc.takes_next(data, len as u64) {
            it.brought += len as u64;
            self.pending.readable = true;
        } else {
            self.reassemble(i, data, &Payload::virtual_of(len));
        }
    }

    /// The octets of a mapping come later, or not all can be read.
    fn keep_mapping(&mut self, i: usize, map: Received) {
        let most = self.most_mappings();
        let subflow = &mut self.subflows[i];
        subflow.received.insert(map, subflow.tcp.read_offset(), most);
    }

    /// Octets of a subflow take their place in the stream.
    fn reassemble(&mut self, i: usize, data: u64, payload: &Payload) {
        let before = self.inc.held();
        let arrival = self.inc.on_data(data, payload);
        self.subflows[i].brought += self.inc.held() - before;
        self.note(arrival);
    }

    #[inline(never)]
    fn on_segment(&mut self, now: Time, i: usize, packet: &Packet, segment: &TcpSegment) {
        let before = self.subflows[i].tcp.state();
        if matches!(before, TcpState::Listen | TcpState::SynSent | TcpState::SynReceived)
            && !self.on_handshake(now, i, before, packet, segment)
        {
            return;
        }
        let ends = segment.flags.intersects(TcpFlags::RST.union(TcpFlags::SYN));
        let counts = !ends && self.is_plausible(i, segment);
        let dss = segment.options.dss();
        let mut map = None;
        if counts && self.phase == Phase::Multipath && !segment.payload.is_empty() {
            match &dss {
                Some(dss) => map = self.on_mapping(i, segment, dss),
                None => self.on_capable_data(i, segment),
            }
        }
        if self.subflows.len() > 1 && self.subflows[i].tcp.is_coupled() {
            self.tell_siblings(i);
        }
        self.subflows[i].tcp.handle_input(now, packet);
        if let Some(map) = map
            && !(segment.options.mptcp().is_empty() && self.read_at_once(i, &map))
        {
            self.keep_mapping(i, map);
        }
        self.await_join_confirmed(now, i);
        self.touch(i);
        if segment.flags.contains(TcpFlags::RST) {
            self.on_reset_options(i, segment);
        } else if counts || segment.flags.contains(TcpFlags::SYN) {
            self.on_acknowledgment(now, i, segment, &dss);
            if counts {
                self.on_options(now, i, segment, &dss);
            }
        }
    }

    /// What handshakes say; false when the segment goes no further.
    #[cold]
    fn on_handshake(
        &mut self,
        now: Time,
        i: usize,
        state: TcpState,
        packet: &Packet,
        segment: &TcpSegment,
    ) -> bool {
        let has = |flag| segment.flags.contains(flag);
        let first = self.subflows[i].stage == Stage::First;
        match state {
            TcpState::Listen if first && has(TcpFlags::SYN) && !has(TcpFlags::RST) => {
                self.on_first_syn(segment);
            }
            TcpState::SynSent if has(TcpFlags::SYN) && !has(TcpFlags::RST) => {
                let ours =
                    has(TcpFlags::ACK) && self.subflows[i].tcp.sent_offset(segment.ack) == Some(1);
                if first && (ours || !has(TcpFlags::ACK)) {
                    self.on_first_answer(segment);
                } else if ours && !self.on_join_answer(i, segment) {
                    self.refuse(packet, ResetReason::Mptcp);
                    self.drop_subflow(i, ResetReason::Mptcp);
                    return false;
                }
            }
            // TCP discards what is of no handshake, whatever options it lacks.
            TcpState::SynReceived if !self.is_of_handshake(i, segment) => {}
            TcpState::SynReceived if first && self.passive => return self.on_first_ack(segment),
            TcpState::SynReceived => return self.on_join_ack(now, i, segment),
            _ => {}
        }
        true
    }

    /// The SYN once more, or what acknowledges the SYN/ACK from inside the window (RFC 9293
    /// §3.10.7.4).
    fn is_of_handshake(&self, i: usize, segment: &TcpSegment) -> bool {
        let tcp = &self.subflows[i].tcp;
        if segment.flags.contains(TcpFlags::SYN) {
            return tcp.received_offset(segment.seq) == Some(0);
        }
        tcp.sent_offset(segment.ack) == Some(1) && self.is_plausible(i, segment)
    }

    /// The segment lies where the subflow's next ones may, so that its options
    /// count: a blind attacker must know as much as for its data.
    fn is_plausible(&self, i: usize, segment: &TcpSegment) -> bool {
        let tcp = &self.subflows[i].tcp;
        let reach = self.reach();
        let near = |offset: Option<u64>, by: u64| offset.is_some_and(|it| it.abs_diff(by) <= reach);
        let (_, end) = tcp.outstanding();
        let ack = tcp.sent_offset(segment.ack);
        near(tcp.received_offset(segment.seq), tcp.read_offset())
            && segment.flags.contains(TcpFlags::ACK)
            && ack.is_some_and(|ack| ack <= end)
    }

    /// How far from the next octet a segment of a subflow may begin.
    fn reach(&self) -> u64 {
        2 * self.config.subflow.receive_buffer + u16::MAX as u64
    }

    /// The window algorithm of a subflow hears of the others.
    #[inline(never)]
    fn tell_siblings(&mut self, i: usize) {
        let mut siblings = std::mem::take(&mut self.siblings);
        siblings.clear();
        let others = self.subflows.iter().enumerate().filter(|(j, it)| *j != i && it.is_usable());
        siblings.extend(others.map(|(_, it)| it.tcp.sibling()));
        self.subflows[i].tcp.on_siblings(&siblings);
        self.siblings = siblings;
    }

    pub(super) fn most_mappings(&self) -> usize {
        LEAST_MAPPINGS + (self.config.subflow.receive_buffer / OCTETS_PER_MAPPING) as usize
    }

    /// A mapping came with data (§3.3.1): the one that counts.
    fn on_mapping(&mut self, i: usize, segment: &TcpSegment, dss: &Dss) -> Option<Received> {
        let Mapping { dsn, ssn, len, checksum } = dss.mapping?;
        let tcp = &self.subflows[i].tcp;
        let read = tcp.read_offset();
        let start = Serial32(ssn).expand(Serial32(0), read);
        let data = self.peer.offset(dsn, self.inc.nxt);
        let (start, data, at) = (start?, data?, tcp.received_offset(segment.seq)?);
        if len == 0 {
            self.on_infinite_mapping(i);
            return None;
        }
        let long = matches!(dsn, DataNumber::Long(_));
        let len = len as u32 - dss.data_fin as u32;
        let end = start + len as u64;
        let overlaps = start < at + segment.payload.len() as u64 && at < end;
        let fin = dss.data_fin;
        let map = Received { start, len, data, fin, checksum, long };
        (overlaps && start > 0 && data > 0).then_some(map)
    }

    /// DATA_ACK and window (§3.3.2, §3.3.5).
    fn on_acknowledgment(&mut self, now: Time, i: usize, segment: &TcpSegment, dss: &Option<Dss>) {
        let tcp = &self.subflows[i].tcp;
        if !tcp.state().is_synchronized() {
            return;
        }
        let shift = if segment.flags.contains(TcpFlags::SYN) { 0 } else { tcp.window_shifts().1 };
        let window = (segment.window as u64) << shift;
        let (una, _) = tcp.outstanding();
        let ack = match self.phase {
            Phase::Opening => return,
            Phase::Fallback => {
                let (from, data) = self.base.sent;
                // The segment's own: an older one's window is that of its date.
                let ack = tcp.sent_offset(segment.ack).unwrap_or(0).min(una);
                (data + ack.saturating_sub(from)).min(self.out.data_end())
            }
            Phase::Multipath => {
                let number = dss.as_ref().and_then(|dss| dss.data_ack);
                let ack = match number {
                    Some(number) => self.own.offset(number, self.out.una),
                    // Before the first: the window of handshakes.
                    None => (self.out.una == 1).then_some(1),
                };
                let Some(ack) = ack else { return };
                ack
            }
        };
        self.on_data_ack(now, ack, window);
    }

    /// The peer has everything of the stream before `ack`, and a window from there.
    #[inline(always)]
    fn on_data_ack(&mut self, now: Time, ack: u64, window: u64) {
        let edge = self.out.edge;
        if self.out.on_data_ack(ack) {
            self.on_data_acked(now);
        }
        if ack <= self.out.nxt.max(self.out.end) {
            self.out.on_window(ack, window);
        }
        if self.out.edge > edge {
            self.probes = 0;
            self.override_silly = false;
        }
    }

    /// What options beside acknowledgment and mapping say.
    fn on_options(&mut self, now: Time, i: usize, segment: &TcpSegment, dss: &Option<Dss>) {
        match self.phase {
            Phase::Opening => return,
            Phase::Fallback => return self.on_fail_again(i, segment),
            Phase::Multipath => {}
        }
        let confirmed_join = self.on_join_confirmed(i);
        if let Some(dss) = dss {
            if !self.confirmed {
                self.on_keys_confirmed(now, i);
            }
            if dss.data_fin && segment.payload.is_empty() {
                self.on_lone_fin(i, dss);
            }
        } else if segment.options.mptcp().is_empty() && !confirmed_join && !self.closing {
            // §3.7: every segment of a peer that has the keys has an option, unless
            // something on the way takes it.
            let ack = self.subflows[i].tcp.sent_offset(segment.ack);
            if ack > Some(1) || !segment.payload.is_empty() {
                return self.on_options_lost(i);
            }
        }
        if segment.options.rare.is_some() {
            self.on_rare_options(now, i, segment);
        }
    }

    #[cold]
    fn on_rare_options(&mut self, now: Time, i: usize, segment: &TcpSegment) {
        for option in segment.options.mptcp() {
            match option {
                MptcpOption::AddAddr(add) => self.on_add_addr(now, i, add),
                MptcpOption::RemoveAddr(remove) => self.on_remove_addr(now, remove.ids()),
                MptcpOption::Prio { backup } => {
                    self.subflows[i].peer_backup = *backup;
                    self.contenders = 0;
                }
                MptcpOption::Fail { dsn } => self.on_fail(i, *dsn),
                MptcpOption::Fastclose { key } => self.on_fast_close(*key),
                // The fourth segment of a join, also when the third comes again.
                MptcpOption::Join(_) => self.subflows[i].tcp.ask_for_ack(),
                MptcpOption::Capable(_) | MptcpOption::TcpRst { .. } => {}
            }
        }
    }

    /// A DATA_FIN without data (§3.3.3): its sequence number is the mapping's.
    #[cold]
    fn on_lone_fin(&mut self, i: usize, dss: &Dss) {
        let Some(Mapping { dsn, ssn: 0, len: 1, .. }) = dss.mapping else { return };
        if let Some(at) = self.peer.offset(dsn, self.inc.nxt) {
            self.peer_is_long |= matches!(dsn, DataNumber::Long(_));
            let arrival = self.inc.on_fin(at);
            self.note(arrival);
            // It may be the second time: the DATA_ACK was lost. While data before it
            // is missing there is nothing to say, and an answer with an own DATA_FIN
            // would be answered in turn, for as long as the gap lasts.
            if self.inc.has_ended() {
                self.subflows[i].tcp.ask_for_ack();
            }
        }
    }

    fn note(&mut self, arrival: Arrival) {
        self.pending.readable |= arrival.advanced > 0;
        self.pending.peer_closed |= arrival.ended;
    }

    /// Takes what arrived in order on the subflow, as far as its mapping is
    /// known.
    fn read_subflow(&mut self, i: usize) {
        loop {
            let subflow = &self.subflows[i];
            let (ready, at) = (subflow.tcp.readable(), subflow.tcp.read_offset());
            if ready == 0 {
                return;
            }
            match self.phase {
                Phase::Opening => return,
                Phase::Fallback => {
                    let (from, data) = self.base.received;
                    // As TCP: what does not fit stays, and closes the window.
                    let n = ready.min(self.inc.room());
                    if n == 0 {
                        return;
                    }
                    let payload = self.take(i, n);
                    let arrival = self.inc.on_data(data + (at - from), &payload);
                    self.subflows[i].brought += arrival.advanced;
                    self.note(arrival);
                }
                Phase::Multipath => {
                    let Some(map) = subflow.received.find(at).copied() else {
                        if !self.on_unmapped(i) {
                            return;
                        }
                        continue;
                    };
                    if !self.read_mapped(i, &map, at, ready) {
                        return;
                    }
                }
            }
        }
    }

    /// Octets of a mapping; false when it must wait for more of them, or the
    /// subflow has ended.
    fn read_mapped(&mut self, i: usize, map: &Received, at: u64, ready: u64) -> bool {
        let end = map.start + map.len as u64;
        let mut n = ready.min(end - at);
        let whole = self.checksum && at == map.start;
        if whole && n < map.len as u64 {
            return false;
        }
        if whole {
            n = map.len as u64;
        }
        self.peer_is_long |= map.long;
        let payload = self.take(i, n);
        if whole && !self.is_sound(i, map, &payload) {
            self.counters.bad_checksums += 1;
            return self.on_bad_checksum(i, map, &payload);
        }
        self.reassemble(i, map.data + (at - map.start), &payload);
        if at + n == end {
            self.subflows[i].received.drop_below(end);
            if map.fin {
                let arrival = self.inc.on_fin(map.data + map.len as u64);
                self.note(arrival);
            }
        }
        true
    }

    /// The usual case: what can be read of the subflow is what came with this
    /// mapping, which then need not be kept. False when it must be.
    fn read_at_once(&mut self, i: usize, map: &Received) -> bool {
        let it = &self.subflows[i];
        let (ready, at) = (it.tcp.readable(), it.tcp.read_offset());
        let usual = at == map.start
            && ready == map.len as u64
            && it.received.is_empty()
            && !self.checksum
            && self.phase == Phase::Multipath;
        usual && self.read_mapped(i, map, at, ready)
    }

    fn take(&mut self, i: usize, n: u64) -> Payload {
        self.subflows[i].tcp.read_payload(n.min(u32::MAX as u64) as u32)
    }

    /// Octets in order whatever the mapping said: for the fallback.
    pub(super) fn deliver(&mut self, i: usize, data: u64, payload: &Payload) {
        let arrival = self.inc.on_data(data, payload);
        self.subflows[i].brought += arrival.advanced;
        self.note(arrival);
    }

    /// After segments and deadlines: octets, events and ends of the subflows.
    #[inline]
    pub(super) fn collect(&mut self, now: Time) {
        loop {
            let waiting = self.uncollected();
            if waiting.is_power_of_two() {
                if let Some(i) = self.position(waiting.trailing_zeros()) {
                    self.collect_one(now, i);
                }
            } else {
                for i in 0..self.subflows.len() {
                    if self.uncollected() & self.subflows[i].bit() != 0 {
                        self.collect_one(now, i);
                    }
                }
            }
            let closing = self.closing;
            self.end_if_done();
            if self.closing == closing {
                return; // or handshakes may have ended with it
            }
        }
    }

    #[inline]
    pub(super) fn collect_one(&mut self, now: Time, i: usize) {
        let subflow = &mut self.subflows[i];
        self.uncollected &= !subflow.bit();
        if subflow.gone {
            return;
        }
        if subflow.tcp.readable() > 0 {
            self.read_subflow(i);
        }
        let subflow = &mut self.subflows[i];
        if subflow.tcp.state() == TcpState::Listen && subflow.stage != Stage::First {
            subflow.gone = true; // the peer has taken its join back
            return;
        }
        let (una, _) = subflow.tcp.outstanding();
        if una != subflow.una {
            subflow.una = una;
            subflow.failed = false;
            subflow.sent.drop_below(una);
        }
        if subflow.tcp.timeouts() != subflow.timeouts {
            subflow.timeouts = subflow.tcp.timeouts();
            self.on_subflow_timeout(i);
        }
        if self.subflows[i].tcp.has_news() {
            self.on_news(now, i);
        }
    }

    /// What a subflow reports, beside what it is asked for anyway.
    #[cold]
    fn on_news(&mut self, now: Time, i: usize) {
        while let Some(event) = self.subflows[i].tcp.poll_event() {
            match event {
                Event::Connected => self.on_subflow_connected(now, i),
                Event::Stalled => self.pending.stalled |= self.subflows.len() == 1,
                Event::PeerClosed => self.on_subflow_fin(i),
                Event::Closed(reason) => return self.on_subflow_closed(now, i, reason),
                Event::Readable | Event::Writable | Event::Urgent => {}
            }
        }
    }

    #[cold]
    fn on_subflow_connected(&mut self, now: Time, i: usize) {
        let subflow = &mut self.subflows[i];
        subflow.tcp.share_window();
        subflow.una = 1;
        if subflow.stage == Stage::First {
            subflow.stage = Stage::Ready;
            self.on_first_connected(now);
        }
    }
}
