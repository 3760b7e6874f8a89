//! A hash of everything that happens to packets: two runs with the same hash
//! are the same run.
//!
//! FNV-1a over 64-bit words, with a shift after each product so that the high
//! bits reach the low ones.

use super::{Interests, NodeDrop, Observer, PacketEvent, PacketEventKind, Place};
use anabranch_network::{LinkDrop, LinkEvent};
use anabranch_units::Time;
use anabranch_wire::sctp::{Chunk, SctpPacket};
use anabranch_wire::tcp::mptcp::{DataNumber, Dss, Mapping};
use anabranch_wire::{Body, Packet, TcpSegment, UdpDatagram};

/// Hashes every packet event: date, place, kind and the packet's fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceHash(u64);

impl Default for TraceHash {
    fn default() -> Self {
        TraceHash(0xcbf2_9ce4_8422_2325)
    }
}

impl TraceHash {
    /// Makes the hash of a run in which nothing has happened.
    pub fn new() -> TraceHash {
        TraceHash::default()
    }

    /// Returns the hash of what has happened so far.
    pub fn value(&self) -> u64 {
        self.0
    }

    fn word(&mut self, word: u64) {
        let product = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        self.0 = product ^ (product >> 32);
    }

    fn words(&mut self, high: u32, low: u32) {
        self.word((high as u64) << 32 | low as u64);
    }
}

impl Observer for TraceHash {
    fn interests(&self) -> Interests {
        Interests { packets: true, ..Interests::default() }
    }

    fn packet(&mut self, now: Time, event: &PacketEvent, packet: &Packet) {
        self.word(now.as_picos());
        let place = match event.place {
            Place::Link(link) => link.0,
            Place::Node(node) => node.0 | 1 << 31,
        };
        self.words(place, code(event.kind));
        if let PacketEventKind::Link(
            LinkEvent::Enqueued { departs, .. } | LinkEvent::Starts { departs, .. },
        ) = event.kind
        {
            self.word(departs.as_picos());
        }
        self.words(packet.src.0, packet.dst.0);
        let ip = u32::from_be_bytes([packet.ttl, packet.dscp, packet.ecn as u8, 0]);
        self.words(ip, packet.payload_len());
        match &packet.body {
            Body::Tcp(segment) => self.segment(segment),
            Body::Sctp(sctp) => self.sctp(sctp),
            Body::Udp(datagram) => self.datagram(datagram),
            Body::Icmp(_) | Body::Other { .. } => {}
        }
    }
}

/// The number that stands for what happened; numbers stay as they are, so that hashes of different
/// versions compare.
fn code(kind: PacketEventKind) -> u32 {
    let of_link = |reason| match reason {
        LinkDrop::Queue => 0,
        LinkDrop::Loss => 1,
        LinkDrop::Corrupt => 2,
        LinkDrop::Mtu => 3,
        LinkDrop::Aqm => 7,
    };
    match kind {
        PacketEventKind::Sent => 1,
        PacketEventKind::Received => 5,
        PacketEventKind::Held => 9,
        PacketEventKind::Released { .. } => 10,
        PacketEventKind::Refused => 25,
        PacketEventKind::Dropped(NodeDrop::Ttl) => 20,
        PacketEventKind::Dropped(NodeDrop::NoRoute) => 21,
        PacketEventKind::Dropped(NodeDrop::NoEndpoint) => 22,
        PacketEventKind::Dropped(NodeDrop::Checksum) => 24,
        PacketEventKind::Link(event) => match event {
            LinkEvent::Enqueued { .. } => 2,
            LinkEvent::Duplicated => 3,
            LinkEvent::Delivered => 4,
            LinkEvent::Waits => 6,
            LinkEvent::Starts { .. } => 7,
            LinkEvent::Marked => 8,
            LinkEvent::Dropped(reason) => 16 + of_link(reason),
            LinkEvent::Removed(reason) => 32 + of_link(reason),
        },
    }
}

impl TraceHash {
    fn datagram(&mut self, datagram: &UdpDatagram) {
        self.words(u32::from(datagram.src_port) << 16 | u32::from(datagram.dst_port), 0);
        for octets in datagram.head.octets().chunks(8) {
            let word = octets.iter().fold(0, |word, octet| word << 8 | u64::from(*octet));
            self.word(word);
        }
    }

    fn segment(&mut self, segment: &TcpSegment) {
        self.words(segment.seq.0, segment.ack.0);
        let ports = (segment.src_port as u32) << 16 | segment.dst_port as u32;
        self.words(ports, (segment.flags.0 as u32) << 16 | segment.window as u32);
        if let Some(timestamps) = segment.options.timestamps {
            self.words(timestamps.value, timestamps.echo);
        }
        for block in segment.options.sack.as_slice() {
            self.words(block.left.0, block.right.0);
        }
        if let Some(Dss { data_ack, mapping, data_fin }) = segment.options.dss() {
            let number = |number| match number {
                DataNumber::Short(n) => n as u64,
                DataNumber::Long(n) => n,
            };
            self.words(data_fin as u32, data_ack.is_some() as u32);
            self.word(data_ack.map_or(0, number));
            if let Some(Mapping { dsn, ssn, len, checksum }) = mapping {
                self.word(number(dsn));
                self.words(ssn, (len as u32) << 16 | checksum.unwrap_or(0) as u32);
            }
        }
    }

    fn sctp(&mut self, sctp: &SctpPacket) {
        self.words((sctp.src_port as u32) << 16 | sctp.dst_port as u32, sctp.tag);
        if sctp.zero_checksum {
            self.word(0); // a packet with its checksum has no such word
        }
        for chunk in sctp.chunks.iter() {
            self.words(chunk.kind() as u32, chunk.wire_len());
            match chunk {
                Chunk::Data(data) => {
                    self.words(data.tsn.0, (data.stream as u32) << 16 | data.ssn as u32);
                    self.words(data.flags.0 as u32, data.ppid);
                }
                Chunk::IData(data) => {
                    self.words(data.tsn.0, data.mid);
                    self.words((data.flags.0 as u32) << 16 | data.stream as u32, data.ppid_or_fsn);
                }
                Chunk::Sack(sack) => {
                    self.words(sack.cum_tsn.0, sack.a_rwnd);
                    for gap in &sack.gaps {
                        self.words(gap.start as u32, gap.end as u32);
                    }
                    sack.duplicates.iter().for_each(|tsn| self.word(tsn.0 as u64));
                }
                // Others are told by their kind and length.
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use anabranch_units::Serial32;
    use anabranch_wire::{Addr, Payload};

    /// Each field of a DATA and of a SACK counts.
    #[test]
    fn sctp_packets_that_differ_have_other_hashes() {
        use anabranch_wire::sctp::{DataChunk, DataFlags, GapBlock, SackChunk};
        let data = DataChunk {
            flags: DataFlags::WHOLE,
            tsn: Serial32(7),
            stream: 1,
            ssn: 2,
            ppid: 3,
            payload: Payload::virtual_of(100),
        };
        let sack = SackChunk {
            cum_tsn: Serial32(7),
            a_rwnd: 1000,
            gaps: vec![GapBlock { start: 2, end: 3 }],
            duplicates: vec![Serial32(6)],
            packets: 0,
        };
        let packets = [
            (1, vec![Chunk::Data(data.clone())]),
            (2, vec![Chunk::Data(data.clone())]),
            (1, vec![Chunk::Data(DataChunk { tsn: Serial32(8), ..data.clone() })]),
            (1, vec![Chunk::Data(DataChunk { ssn: 3, ..data.clone() })]),
            (1, vec![Chunk::Data(DataChunk { ppid: 4, ..data })]),
            (1, vec![Chunk::Sack(sack.clone())]),
            (1, vec![Chunk::Sack(SackChunk { a_rwnd: 999, ..sack.clone() })]),
            (1, vec![Chunk::Sack(SackChunk { gaps: Vec::new(), ..sack.clone() })]),
            (1, vec![Chunk::Sack(SackChunk { duplicates: Vec::new(), ..sack })]),
            (1, vec![Chunk::CookieAck]),
            (1, vec![Chunk::ShutdownAck]),
        ];
        let hashes = packets.map(|(tag, chunks)| {
            let chunks = chunks.into_iter().collect();
            let sctp = SctpPacket {
                src_port: 1,
                dst_port: 2,
                tag,
                udp: None,
                zero_checksum: false,
                chunks,
            };
            let packet = Packet::new(Addr(0), Addr(1), Body::Sctp(Box::new(sctp)));
            let (kind, place) = (PacketEventKind::Sent, Place::Node(NodeId(0)));
            let mut hash = TraceHash::new();
            hash.packet(Time::ZERO, &PacketEvent { kind, place, flow: None }, &packet);
            hash.value()
        });
        for (i, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..i].contains(hash), "{i}");
        }
    }
}
