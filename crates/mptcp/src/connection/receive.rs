//! What arrives becomes the stream (RFC 8684 §3.3.1): mappings of subflow numbers to
//! data numbers, and the octets of a subflow that take their place by them.

use super::{Connection, Phase, checksum};
use crate::mapping::ReceivedMapping;
use crate::receiver::Arrival;
use anabranch_endpoint::ByteStream;
use anabranch_units::Serial32;
use anabranch_wire::tcp::mptcp::{DataNumber, Dss, Mapping};
use anabranch_wire::{Payload, TcpSegment};

/// Mappings of a subflow that are kept in any case, and the octets of receive
/// buffer for each more: segments of less than 128 octets would exceed it.
const LEAST_MAPPINGS: usize = 64;
const OCTETS_PER_MAPPING: u64 = 128;

impl Connection {
    /// A mapping came with data (§3.3.1): the one that counts.
    pub(super) fn on_mapping(
        &mut self,
        i: usize,
        segment: &TcpSegment,
        dss: &Dss,
    ) -> Option<ReceivedMapping> {
        let Mapping { dsn, ssn, len, checksum } = dss.mapping?;
        let tcp = &self.subflows[i].tcp;
        let read = tcp.read_offset();
        let start = Serial32(ssn).expand(Serial32(0), read);
        let data = self.receiver.offset(dsn);
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
                return;
            }
            match self.session.phase() {
                Phase::Opening => return,
                Phase::Fallback => {
                    // As TCP: what does not fit stays, and closes the window.
                    let n = ready.min(self.receiver.room());
                    if n == 0 {
                        return;
                    }
                    let payload = self.take(i, n);
                    let Some(fallback) = self.session.fallback() else { return };
                    let arrival = self.receiver.on_data(fallback.received(at), &payload);
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
        if whole && !checksum::is_right(&self.receiver, &self.subflows[i].tcp, map, &payload) {
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
    fn reassemble(&mut self, i: usize, data: u64, payload: &Payload) {
        let before = self.receiver.held();
        let arrival = self.receiver.on_data(data, payload);
        self.subflows[i].brought += self.receiver.held() - before;
        self.note(arrival);
    }

    /// Octets in order whatever the mapping said: for the fallback.
    pub(super) fn deliver(&mut self, i: usize, data: u64, payload: &Payload) {
        let arrival = self.receiver.on_data(data, payload);
        self.subflows[i].brought += arrival.advanced;
        self.note(arrival);
    }

    pub(super) fn note(&mut self, arrival: Arrival) {
        self.pending.readable |= arrival.advanced > 0;
        self.pending.peer_closed |= arrival.ended;
    }
}
