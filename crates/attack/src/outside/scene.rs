//! What an attacker works with: whom it sees, and packets in the making.

use super::Sight;
use anabranch_endpoint::Generator;
use anabranch_units::Serial32;
use anabranch_wire::sctp::Chunk;
use anabranch_wire::{
    Addr, Body, Packet, Payload, SctpPacket, TcpFlags, TcpOptions, TcpSegment, Timestamps,
};
use std::collections::VecDeque;

/// First and last of the ports that forged packets come from.
const PORTS: (u16, u16) = (1024, 49_151);

/// The numbers of a connection of TCP that its victim takes for right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Numbers {
    /// What the victim expects next.
    pub seq: Serial32,
    /// Number up to which its peer has acknowledged.
    pub ack: Serial32,
    /// The end of what it sent last.
    pub sent: Serial32,
    /// The window that it advertised, as it stands in the header.
    pub window: u32,
    /// Timestamps that pass for the peer's.
    pub timestamps: Option<Timestamps>,
}

/// What is known of the numbers of an association of SCTP; those that were in no packet of late are
/// anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tsns {
    /// The TSN that the victim expects next.
    pub expected: Serial32,
    /// The last TSN that its peer has acknowledged.
    pub acknowledged: Serial32,
    /// The TSN that it sent last.
    pub sent: Serial32,
}

/// What a form has at hand.
pub(super) struct Scene<'a> {
    pub sight: &'a Sight,
    pub generator: &'a mut Generator,
    pub last: &'a [Option<Packet>; 2],
    pub out: &'a mut VecDeque<Packet>,
}

impl Scene<'_> {
    /// An address and a port that nobody has, or the attacker's own address.
    pub fn stranger(&mut self) -> (Addr, u16) {
        let (first, count) = self.sight.forged;
        let addr = match count {
            0 => self.sight.here,
            _ => Addr(first.0 + self.generator.below(count.into()) as u32),
        };
        let (least, most) = PORTS;
        (addr, least + self.generator.below(u64::from(most - least) + 1) as u16)
    }

    pub fn random(&mut self) -> u32 {
        self.generator.next_u64() as u32
    }

    pub fn octets<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.generator.next_u64() as u8)
    }

    /// The other end of the connection.
    pub fn peer(&self) -> (Addr, u16) {
        self.sight.peer.expect("checked when it was made")
    }

    /// A segment to the victim from `from`, sent.
    pub fn send_tcp(&mut self, from: (Addr, u16), segment: TcpSegment) {
        let (victim, port) = self.sight.victim;
        let segment = TcpSegment { src_port: from.1, dst_port: port, ..segment };
        self.out.push_back(Packet::new(from.0, victim, Body::Tcp(segment)));
    }

    /// A packet of one chunk to the victim from `from`, sent.
    pub fn send_sctp(&mut self, from: (Addr, u16), tag: u32, chunk: Chunk) {
        let (victim, dst_port) = self.sight.victim;
        let chunks = chunk.into();
        let sctp =
            SctpPacket { src_port: from.1, dst_port, tag, udp: None, zero_checksum: false, chunks };
        self.out.push_back(Packet::new(from.0, victim, Body::Sctp(Box::new(sctp))));
    }

    /// The numbers of the connection, once both ends have sent.
    pub fn numbers(&self) -> Option<Numbers> {
        let [of_victim, of_peer] = [self.sight.side, 1 - self.sight.side]
            .map(|side| self.last[side].as_ref().and_then(tcp_of));
        let victim = of_victim.filter(|of_victim| of_victim.flags.contains(TcpFlags::ACK))?;
        // What the victim has echoed is recent to it; a later one would make it refuse what
        // is under way (RFC 7323 §5).
        let timestamps = victim.options.timestamps;
        let timestamps =
            timestamps.map(|timestamp| Timestamps { value: timestamp.echo, echo: timestamp.value });
        Some(Numbers {
            seq: victim.ack,
            ack: of_peer
                .filter(|of_peer| of_peer.flags.contains(TcpFlags::ACK))
                .map_or(victim.seq, |of_peer| of_peer.ack),
            sent: victim.seq.add(victim.payload.len()),
            window: u32::from(victim.window).max(1),
            timestamps,
        })
    }

    /// The verification tag that the victim expects.
    pub fn tag(&self) -> Option<u32> {
        let packet = self.last[1 - self.sight.side].as_ref()?;
        let Body::Sctp(sctp) = &packet.body else { return None };
        (sctp.tag != 0).then_some(sctp.tag)
    }

    /// The TSNs of the association.
    pub fn tsns(&mut self) -> Tsns {
        let [victim, peer] =
            [self.sight.side, 1 - self.sight.side].map(|side| self.last[side].as_ref());
        let expected = victim.and_then(cum_tsn_of).map(|cum_tsn| cum_tsn.add(1));
        let (acknowledged, sent) = (peer.and_then(cum_tsn_of), victim.and_then(tsn_of));
        let mut or_any = |tsn: Option<Serial32>| tsn.unwrap_or_else(|| Serial32(self.random()));
        Tsns { expected: or_any(expected), acknowledged: or_any(acknowledged), sent: or_any(sent) }
    }
}

/// What a packet of an association acknowledges.
fn cum_tsn_of(packet: &Packet) -> Option<Serial32> {
    let cum_tsn = |chunk: &Chunk| match chunk {
        Chunk::Sack(sack) => Some(sack.cum_tsn),
        _ => None,
    };
    chunks_of(packet).find_map(cum_tsn)
}

/// The last TSN in a packet of an association.
fn tsn_of(packet: &Packet) -> Option<Serial32> {
    let tsn = |chunk: &Chunk| match chunk {
        Chunk::Data(data) => Some(data.tsn),
        Chunk::IData(data) => Some(data.tsn),
        _ => None,
    };
    chunks_of(packet).filter_map(tsn).last()
}

fn chunks_of(packet: &Packet) -> impl Iterator<Item = &Chunk> {
    let sctp = match &packet.body {
        Body::Sctp(sctp) => Some(sctp),
        _ => None,
    };
    sctp.into_iter().flat_map(|sctp| sctp.chunks.iter())
}

fn tcp_of(packet: &Packet) -> Option<&TcpSegment> {
    match &packet.body {
        Body::Tcp(segment) => Some(segment),
        _ => None,
    }
}

/// A segment without data or options; ports are set when it is sent.
pub(super) fn segment(seq: Serial32, ack: Serial32, flags: TcpFlags) -> TcpSegment {
    TcpSegment {
        src_port: 0,
        dst_port: 0,
        seq,
        ack,
        flags,
        window: 65_535,
        urgent: 0,
        options: TcpOptions::default(),
        payload: Payload::EMPTY,
    }
}

/// Octets that no peer sends: each is the complement of what the pattern has at most
/// places, so that they are found wherever they are taken.
pub(super) fn forged_octets(len: u32) -> Payload {
    Payload::of_octets(vec![0xA5; len as usize])
}
