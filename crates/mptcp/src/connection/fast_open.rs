//! TCP Fast Open (RFC 8684 appendix B): data that goes with the SYN of the first subflow.
//!
//! What the peer accepts of it is before the data sequence numbers: the first octet after it has the
//! number after the initial one, and subflow sequence numbers of mappings count from behind it. What the
//! peer leaves is sent again as any data, with the keys.
//!
//! Deviation: a passive side that a SYN has opened delivers what came with it at once, but sends nothing
//! before the third ACK: without the peer's key no DATA_ACK could go with it (figure 19 has one).

use super::{Connection, Phase, checksum};
use crate::mapping::SentMapping;
use crate::subflow::Stage;
use anabranch_tcp::Range;
use anabranch_wire::Payload;

impl Connection {
    /// The secret of the Fast Open cookies of the host at its port, for the passive side.
    pub(crate) fn set_fast_open_key(&mut self, key: [u64; 2]) {
        self.subflows[0].tcp.set_fast_open_key(key);
    }

    /// The passive side opens as usual, whatever the SYN carries.
    pub(crate) fn refuse_fast_open(&mut self) {
        self.subflows[0].tcp.refuse_fast_open();
    }

    /// Before [`connect`](anabranch_endpoint::ByteStream::connect): the first `len` octets that were written may go with the
    /// SYN, as far as Fast Open lets them; the others leave first after it.
    pub fn send_with_syn(&mut self, len: u64) {
        let len = len.min(self.sender.unsent());
        if len > 0 && self.session.phase() == Phase::Opening {
            let range = self.sender.take_new(len);
            self.give(0, range);
        }
    }

    /// The active side's SYN was acknowledged, with or without its data.
    #[cold]
    pub(super) fn on_syn_acknowledged(&mut self, i: usize) {
        let subflow = &mut self.subflows[i];
        let (una, end) = subflow.tcp.outstanding();
        if subflow.stage != Stage::First || end <= 1 || !self.session.is_multipath() {
            return;
        }
        subflow.early.sent = (una - 1) as u32;
        subflow.tcp.begin_at(una);
        self.sender.on_early(una - 1);
        self.map_rest(i, Range { start: una, end });
    }

    /// What the SYN/ACK has left of the SYN's data is mapped as what follows it.
    fn map_rest(&mut self, i: usize, rest: Range) {
        let subflow = &mut self.subflows[i];
        subflow.sent.drop_below(u64::MAX);
        if rest.is_empty() {
            return;
        }
        let (start, len) = (rest.start, rest.len() as u32);
        let mut unit = SentMapping { start, len, data: start, fin: false, checksum: 0 };
        if self.session.has_checksums() {
            let octets = self.sender.payload(rest);
            let real = octets.as_ref().and_then(Payload::octets);
            let (tcp, early) = (&subflow.tcp, subflow.early.sent);
            unit.checksum = checksum::of_sent(&self.sender, tcp, &unit, early, real);
        }
        subflow.sent.push(unit, true);
        subflow.tcp.cut();
    }

    /// A SYN has opened the passive side: its data is the first of the stream.
    #[cold]
    pub(super) fn on_opened_early(&mut self, i: usize) {
        let len = self.subflows[i].tcp.readable();
        if len == 0 || self.session.phase() != Phase::Opening {
            return;
        }
        let payload = self.take(i, len);
        let arrival = self.receiver.on_early(&payload);
        let subflow = &mut self.subflows[i];
        subflow.early.received = payload.len();
        subflow.read_to = 1 + payload.len() as u64;
        subflow.brought += arrival.advanced;
        self.note(arrival);
    }

    /// What a connection has learnt of its peer is of the first subflow.
    pub(super) fn first_tcp(&mut self) -> Option<&mut anabranch_tcp::Connection> {
        self.subflows.first_of_all().map(|first| &mut first.tcp)
    }
}
