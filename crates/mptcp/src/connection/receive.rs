//! What arrives becomes the stream (RFC 8684 §3.3.1): mappings of subflow numbers to
//! data numbers, and the octets of a subflow that take their place by them.

use super::{Connection, Phase, checksum};
use crate::mapping::ReceivedMapping;
use crate::receiver::Arrival;
use anabranch_endpoint::ByteStream;
use anabranch_units::Serial32;
use anabranch_wire::tcp::mptcp::{DataNumber, Dss, Mapping, ResetReason};
use anabranch_wire::{Payload, TcpFlags, TcpSegment};

/// Mappings of a subflow that are kept in any case, and the octets of receive
/// buffer for each more: segments of less than 128 octets would exceed it.
const LEAST_MAPPINGS: usize = 64;
const OCTETS_PER_MAPPING: u64 = 128;

impl Connection {
    /// What a segment says of the place of its octets (§3.3.1, and §3.1 with the keys); false where it
    /// costs the subflow.
    pub(super) fn on_mappings(
        &mut self,
        i: usize,
        segment: &TcpSegment,
        dss: &Option<Dss>,
    ) -> bool {
        let Some(dss) = dss else {
            return segment.payload.is_empty() || self.on_capable_data(i, segment);
        };
        let Some(mapping) = dss.mapping else { return true };
        if !self.has_agreed_checksum(i, mapping.checksum) {
            return false;
        }
        let takes_room = !segment.payload.is_empty() || segment.flags.contains(TcpFlags::FIN);
        if mapping.len == 0 && takes_room {
            self.on_infinite_mapping(i);
        } else if !segment.payload.is_empty()
            && let Some(map) = self.mapping_of(i, segment, dss)
            && !(segment.options.mptcp().is_empty() && self.read_at_once(i, &map))
        {
            self.keep_mapping(i, map);
        }
        true
    }

    /// §3.3: a checksum that was not agreed on, or the want of one that was, costs the subflow. False
    /// where it does.
    pub(super) fn has_agreed_checksum(&mut self, i: usize, checksum: Option<u16>) -> bool {
        let is_agreed = checksum.is_some() == self.session.has_checksums();
        if !is_agreed {
            self.drop_subflow(i, ResetReason::Mptcp);
        }
        is_agreed
    }

    /// The mapping that came with data (§3.3.1), where it is of this data and could be true.
    fn mapping_of(&self, i: usize, segment: &TcpSegment, dss: &Dss) -> Option<ReceivedMapping> {
        let Mapping { dsn, ssn, len, checksum } = dss.mapping?;
        let subflow = &self.subflows[i];
        let (tcp, ssn) = (&subflow.tcp, ssn.wrapping_add(subflow.early.received));
        let read = tcp.read_offset();
        let start = Serial32(ssn).expand(Serial32(0), read);
        let data = self.receiver.offset(dsn);
        let (start, data, at) = (start?, data?, tcp.received_offset(segment.seq)?);
        let long = matches!(dsn, DataNumber::Long(_));
        let len = len as u32 - dss.data_fin as u32;
        let end = start + len as u64;
        let overlaps = start < at + segment.payload.len() as u64 && at < end;
        let fin = dss.data_fin;
        let map = ReceivedMapping { start, len, data, fin, checksum, long };
        (overlaps && start > 0 && data > 0).then_some(map)
    }

    /// The octets of a mapping come later, or not all can be read.
    pub(super) fn keep_mapping(&mut self, i: usize, map: ReceivedMapping) {
        let most = self.most_mappings();
        let subflow = &mut self.subflows[i];
        subflow.received.insert(map, subflow.tcp.read_offset(), most);
    }

    pub(super) fn most_mappings(&self) -> usize {
        LEAST_MAPPINGS + (self.config.subflow.receive_buffer / OCTETS_PER_MAPPING) as usize
    }

    /// Counted octets came with a mapping of their own. As a rule they are all that can be
    /// read of the subflow, and the mapping need not be kept.
    #[inline]
    pub(super) fn on_counted(&mut self, i: usize, at: u64, data: u64, len: u32) {
        let subflow = &mut self.subflows[i];
        let next = subflow.tcp.read_offset() == at
            && subflow.tcp.readable() == len as u64
            && subflow.received.is_empty();
        if !next {
            let map =
                ReceivedMapping { start: at, len, data, fin: false, checksum: None, long: false };
            return self.keep_mapping(i, map);
        }
        subflow.tcp.read(len as u64);
        subflow.read_to = data + len as u64;
        if self.receiver.takes_next(data, len as u64) {
            subflow.brought += len as u64;
            self.pending.readable = true;
        } else {
            self.reassemble(i, data, &Payload::virtual_of(len));
        }
    }

    /// The usual case: what can be read of the subflow is what came with this
    /// mapping, which then need not be kept. False when it must be.
    pub(super) fn read_at_once(&mut self, i: usize, map: &ReceivedMapping) -> bool {
        let subflow = &self.subflows[i];
        let (ready, at) = (subflow.tcp.readable(), subflow.tcp.read_offset());
        let usual = at == map.start
            && ready == map.len as u64
            && subflow.received.is_empty()
            && !self.session.has_checksums()
            && self.session.is_multipath();
        usual && self.read_mapped(i, map, at, ready)
    }

    /// Takes what arrived in order on the subflow, as far as its mapping is
    /// known.
    pub(super) fn read_subflow(&mut self, i: usize) {
        loop {
            let subflow = &self.subflows[i];
            let (ready, at) = (subflow.tcp.readable(), subflow.tcp.read_offset());
            if ready == 0 {
                return self.end_tcp_stream();
            }
            match self.session.phase() {
                Phase::Opening => return,
                Phase::Fallback => {
                    let Some(fallback) = self.session.fallback() else { return };
                    if !fallback.is_over(subflow.id) {
                        return;
                    }
                    let offset = fallback.received(at);
                    // As TCP: what does not fit stays, and closes the window.
                    let n = ready.min(self.receiver.room());
                    if n == 0 {
                        return;
                    }
                    let payload = self.take(i, n);
                    let arrival = self.receiver.on_data(offset, &payload);
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

    /// Everything of the subflow has been taken: where the connection is TCP and the FIN has come, the stream has ended.
    fn end_tcp_stream(&mut self) {
        if let Some(fallback) = self.session.fallback_mut() {
            self.pending.peer_closed |= std::mem::take(&mut fallback.fin_waits);
        }
    }

    /// Octets of a mapping; false when it must wait for more of them, or the
    /// subflow has ended.
    fn read_mapped(&mut self, i: usize, map: &ReceivedMapping, at: u64, ready: u64) -> bool {
        let end = map.start + map.len as u64;
        let mut n = ready.min(end - at);
        let whole = self.session.has_checksums() && at == map.start;
        if whole && n < map.len as u64 {
            return false;
        }
        if whole {
            n = map.len as u64;
        }
        self.receiver.note_width(map.long);
        let payload = self.take(i, n);
        let subflow = &self.subflows[i];
        let early = subflow.early.received;
        if whole && !checksum::is_right(&self.receiver, &subflow.tcp, map, early, &payload) {
            self.counters.bad_checksums += 1;
            return self.on_bad_checksum(i, map, &payload);
        }
        self.reassemble(i, map.data + (at - map.start), &payload);
        if at + n == end {
            self.subflows[i].received.drop_below(end);
            if map.fin {
                let arrival = self.receiver.on_fin(map.data + map.len as u64);
                self.note(arrival);
            }
        }
        true
    }

    pub(super) fn take(&mut self, i: usize, n: u64) -> Payload {
        self.subflows[i].tcp.read_payload(n.min(u32::MAX as u64) as u32)
    }

    /// Octets of a subflow take their place in the stream.
    pub(super) fn reassemble(&mut self, i: usize, data: u64, payload: &Payload) {
        let before = self.receiver.held();
        let arrival = self.receiver.on_data(data, payload);
        self.subflows[i].read_to = data + payload.len() as u64;
        self.subflows[i].brought += self.receiver.held() - before;
        self.note(arrival);
    }

    pub(super) fn note(&mut self, arrival: Arrival) {
        self.pending.readable |= arrival.advanced > 0;
        self.pending.peer_closed |= arrival.ended;
    }
}
