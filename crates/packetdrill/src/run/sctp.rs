//! SCTP: packets of chunks, and the ICMP messages that quote them.
//!
//! Chunks go through their octets in both directions, so that a script can
//! write any, and so that what the stack sends is judged as it is on the wire.

mod chunk;
mod compare;
mod decode;
mod encode;
mod mapping;
mod names;
#[cfg(test)]
mod tests;

use super::dialect::{Context, Dialect, Difference, Merged, Trouble};
use super::{icmp, ip};
use crate::script::{IcmpQuote, IcmpSpec, PacketBody, PacketSpec, SctpSpec, ToolOption, Value};
use crate::stack::{LOCAL, REMOTE, Stack};
use anabranch_wire::sctp::{Chunk, Chunks, Crc32c, Parameter};
use anabranch_wire::{Addr, AddressBook, Body, FlowKey, Icmp, Packet, Payload, Quote, SctpPacket};
use mapping::{Chosen, Mapping};
use std::net::IpAddr;

/// The script's side and the stack under the addresses that scripts know them
/// by, for what stands inside chunks.
const ADDRESSES: [(Addr, [u8; 4]); 2] = [(LOCAL, [192, 168, 0, 1]), (REMOTE, [192, 0, 2, 1])];

/// Numbers between a script and the octets of chunks that one side sends.
#[derive(Clone, Copy)]
struct Codec<'a> {
    mapping: &'a Mapping,
    /// The chunks are the stack's.
    stack: bool,
}

impl Codec<'_> {
    /// Returns the codec for what the other side has sent, inside a report of it.
    fn flipped(&self) -> Self {
        Codec { stack: !self.stack, ..*self }
    }
    /// A number of the sender's own, as it is on the wire.
    fn own(&self, script: u32) -> u32 {
        if self.stack { self.mapping.tsn_to_live(script) } else { script }
    }
    /// A number that the sender has from the other side.
    fn peer(&self, script: u32) -> u32 {
        self.flipped().own(script)
    }
    /// A number of the sender's own, as the script has it.
    fn own_back(&self, live: u32) -> u32 {
        if self.stack { self.mapping.tsn_to_script(live) } else { live }
    }
    fn peer_back(&self, live: u32) -> u32 {
        self.flipped().own_back(live)
    }
    fn tag_back(&self, live: u32) -> u32 {
        if self.stack { self.mapping.tag_to_script(live) } else { live }
    }
}

/// A chunk without the parameter in which a host lists its kinds of addresses.
fn without_addresses(chunk: &Value) -> Value {
    let Value::Tree(name, fields) = chunk else { return chunk.clone() };
    let listed =
        |value: &Value| matches!(value, Value::Tree(name, _) if name == "SUPPORTED_ADDRESS_TYPES");
    let kept = fields.iter().filter(|field| !listed(&field.value)).cloned();
    Value::Tree(name.clone(), kept.collect())
}

/// SCTP between a script and the wire.
pub(super) struct SctpDialect {
    mapping: Mapping,
    book: AddressBook,
    /// The number of the next address that chunks name.
    next_address: u32,
    /// The stack has said that it takes packets without a checksum (RFC 9653 §5.1).
    takes_zero: bool,
}

impl SctpDialect {
    pub fn new() -> SctpDialect {
        let mut book = AddressBook::explicit();
        for (addr, ip) in ADDRESSES {
            // The book is empty: nothing can be taken.
            _ = book.insert(addr, ip.into());
        }
        SctpDialect { mapping: Mapping::new(), book, next_address: 2, takes_zero: false }
    }

    fn codec(&self, stack: bool) -> Codec<'_> {
        Codec { mapping: &self.mapping, stack }
    }

    /// The octets of the chunks of a packet.
    fn octets(&self, packet: &SctpPacket) -> Result<Vec<u8>, String> {
        packet.chunk_octets(0, &self.book).map_err(|error| error.to_string())
    }

    fn packet(&mut self, spec: &PacketSpec, sctp: &SctpSpec) -> Result<Body, Trouble> {
        if let Some((src, dst)) = spec.ports {
            self.mapping.set_ports(dst, src);
        }
        let codec = self.codec(false);
        let mut chunks = Vec::new();
        for chunk in &sctp.chunks {
            codec.encode_chunk(chunk, &mut chunks)?;
        }
        self.learn_inbound(sctp);
        let opens = chunks.first() == Some(&1);
        let reflected = matches!(chunks[..], [6 | 14, flags, ..] if flags & 1 == 1);
        let tag = self.mapping.inbound_tag(sctp.tag, opens, reflected);
        if sctp.bad_checksum {
            // It is dropped before it is read.
            let protocol = SctpPacket::PROTOCOL;
            let payload = Payload::of_octets(chunks);
            return Ok(Body::Other { protocol, payload });
        }
        let (local, remote) = self.mapping.ports();
        let mut octets = [remote.to_be_bytes(), local.to_be_bytes()].concat();
        octets.extend(tag.to_be_bytes());
        octets.extend([0; 4]);
        octets.extend(&chunks);
        if !sctp.zero_checksum {
            let checksum = Crc32c::new().with(&octets).value();
            octets[8..12].copy_from_slice(&checksum.to_le_bytes());
        }
        self.enter_addresses(&chunks);
        let packet = SctpPacket::parse_tolerant(&octets, &self.book);
        let mut packet = packet.map_err(|error| error.to_string())?;
        packet.udp = sctp.udp.or(self.mapping.udp);
        if !packet.zero_checksum || self.takes_zero {
            self.note_ends(&packet.chunks);
        }
        Ok(Body::Sctp(Box::new(packet)))
    }

    /// What a packet of the script's side says about it.
    fn learn_inbound(&mut self, sctp: &SctpSpec) {
        for chunk in &sctp.chunks {
            let Value::Tree(name, _) = chunk else { continue };
            match name.as_str() {
                "INIT" | "INIT_ACK" => {
                    if let Some(tag) = chunk.field("tag").and_then(Value::number) {
                        self.mapping.learn_peer_tag(tag as u32);
                    }
                }
                "COOKIE_ECHO" => self.mapping.on_cookie_echo(),
                _ => {}
            }
        }
        // Written as octets, an INIT has its tag there.
        if let [Value::List(list)] = sctp.chunks.as_slice() {
            let octets: Vec<u8> =
                list.iter().filter_map(|field| field.value.number()).map(|n| n as u8).collect();
            if let [1, _, _, _, a, b, c, d, ..] = octets[..] {
                self.mapping.learn_peer_tag(u32::from_be_bytes([a, b, c, d]));
            }
        }
        if let [chunk @ Value::Tree(name, _)] = sctp.chunks.as_slice()
            && name == "CHUNK"
            && chunk.field("type").and_then(names::type_of) == Some(1)
            && let Some(value) = chunk.field("val").and_then(Value::fields)
        {
            let octets = value.iter().take(4).filter_map(|field| field.value.number());
            self.mapping.learn_peer_tag(octets.fold(0, |tag, n| tag << 8 | n as u32));
        }
    }

    /// Addresses in the parameters of INIT and INIT ACK get numbers, so that the
    /// stack can hold on to them.
    fn enter_addresses(&mut self, octets: &[u8]) {
        for chunk in decode::chunks(octets) {
            let parameters = match chunk {
                [1 | 2, _, _, _, rest @ ..] if rest.len() >= 16 => &rest[16..],
                _ => continue,
            };
            let mut rest = parameters;
            while let [_, kind @ (5 | 6), _, len, value @ ..] = rest {
                let len = *len as usize;
                let ip: Option<IpAddr> = match (*kind, value) {
                    (5, value) => value.first_chunk::<4>().map(|ip| IpAddr::from(*ip)),
                    (_, value) => value.first_chunk::<16>().map(|ip| IpAddr::from(*ip)),
                };
                if let Some(ip) = ip.filter(|ip| ip.is_ipv4() && self.book.addr(*ip).is_none()) {
                    _ = self.book.insert(Addr(self.next_address), ip);
                    self.next_address += 1;
                }
                rest = rest.get(len.max(4).next_multiple_of(4)..).unwrap_or_default();
            }
        }
    }

    fn note_ends(&mut self, chunks: &Chunks) {
        for chunk in chunks.iter() {
            match chunk {
                Chunk::CookieAck => self.mapping.on_established(),
                Chunk::Abort { .. } | Chunk::ShutdownComplete { .. } => self.mapping.on_end(),
                _ => {}
            }
        }
    }

    /// What the stack's packet says about it, where the script expects the like.
    fn learn_outbound(&mut self, spec: &SctpSpec, packet: &SctpPacket) {
        for (chunk, expected) in packet.chunks.iter().zip(&spec.chunks) {
            match chunk {
                Chunk::Init(init) | Chunk::InitAck(init) => {
                    if !matches!(expected, Value::Tree(name, _) if name.starts_with("INIT")) {
                        continue;
                    }
                    let script = |name| expected.field(name).and_then(Value::number);
                    let tag = script("tag").map_or(init.tag, |tag| tag as u32);
                    let tsn = script("tsn").map_or(init.tsn.0, |tsn| tsn as u32);
                    let chosen = Chosen { tag: (init.tag, tag), tsn: (init.tsn.0, tsn) };
                    self.mapping.learn(chosen, matches!(chunk, Chunk::Init(_)));
                    for parameter in &init.parameters {
                        match parameter {
                            Parameter::StateCookie(cookie) => {
                                self.mapping.cookie = cookie.to_vec();
                            }
                            Parameter::ZeroChecksumAcceptable(_) => self.takes_zero = true,
                            _ => {}
                        }
                    }
                }
                Chunk::Heartbeat(information) => self.mapping.heartbeat = information.to_vec(),
                _ => {}
            }
        }
        self.note_ends(&packet.chunks);
    }

    fn message(&self, spec: &IcmpSpec) -> Result<Icmp, Trouble> {
        let Some(IcmpQuote::Sctp(tag)) = spec.quote else {
            return Err(String::from("a message of ICMP that quotes no SCTP").into());
        };
        let (local, remote) = self.mapping.ports();
        let chunks = Chunks::new();
        let quoted = SctpPacket {
            src_port: local,
            dst_port: remote,
            tag,
            udp: None,
            zero_checksum: false,
            chunks,
        };
        let packet = Packet::new(LOCAL, REMOTE, Body::Sctp(Box::new(quoted)));
        let kind = icmp::kind(spec)?;
        let kind = kind.ok_or_else(|| format!("a message of ICMP {}", spec.kind))?;
        Ok(Icmp { kind, quote: Quote::of(&packet) })
    }
}

impl Dialect for SctpDialect {
    fn protocol(&self) -> u8 {
        SctpPacket::PROTOCOL
    }

    /// `--udp_encapsulation=sctp,SOURCE,DESTINATION`: of packets that come.
    fn option(&mut self, option: &ToolOption) -> Result<(), Trouble> {
        if option.name != "udp_encapsulation" {
            return Ok(());
        }
        let words: Vec<&str> = option.value.as_deref().unwrap_or_default().split(',').collect();
        if let ["sctp", src, dst] = words[..]
            && let (Ok(src), Ok(dst)) = (src.parse(), dst.parse())
        {
            self.mapping.udp = Some((src, dst));
        }
        Ok(())
    }

    fn inbound(
        &mut self,
        _context: Context,
        spec: &PacketSpec,
        _stack: &mut dyn Stack,
    ) -> Result<Packet, Trouble> {
        let body = match &spec.body {
            PacketBody::Sctp(sctp) => self.packet(spec, sctp)?,
            PacketBody::Icmp(message) => Body::Icmp(Box::new(self.message(message)?)),
            _ => return Err(String::from("a packet that is none of SCTP").into()),
        };
        let mut packet = Packet::new(REMOTE, LOCAL, body);
        ip::mark(&spec.ip, &mut packet);
        Ok(packet)
    }

    fn is_opened_by(&self, _packet: &Packet) -> bool {
        false
    }

    /// Packets to other addresses than the script's do not come its way.
    fn is_under_test(&mut self, packet: &Packet) -> bool {
        let Body::Sctp(sctp) = &packet.body else { return true };
        if matches!(sctp.chunks.first(), Some(Chunk::Init(_))) && packet.dst == REMOTE {
            self.mapping.set_ports(sctp.src_port, sctp.dst_port);
        }
        packet.dst == REMOTE && (sctp.src_port, sctp.dst_port) == self.mapping.ports()
    }

    fn compare(
        &mut self,
        context: Context,
        spec: &PacketSpec,
        merged: &Merged,
    ) -> Result<Option<Difference>, Trouble> {
        let PacketBody::Sctp(expected) = &spec.body else {
            return Err(String::from("a packet that is none of SCTP").into());
        };
        let Body::Sctp(actual) = &merged.packet.body else {
            return Ok(Some(String::from("a packet of another protocol came").into()));
        };
        self.learn_outbound(expected, actual);
        if let Some(difference) = ip::differs(&spec.ip, &merged.packet) {
            return Ok(Some(difference.into()));
        }
        if let Some(ports) = expected.udp.filter(|ports| actual.udp != Some(*ports)) {
            let what = format!("the UDP ports are {:?}, not {ports:?}", actual.udp);
            return Ok(Some(what.into()));
        }
        if expected.zero_checksum != actual.zero_checksum {
            let is = if actual.zero_checksum { "zero" } else { "not zero" };
            return Ok(Some(format!("the checksum is {is}").into()));
        }
        let octets = self.octets(actual)?;
        let chunks = decode::chunks(&octets);
        let codec = self.codec(true);
        for (chunk, expected) in chunks.iter().zip(&expected.chunks) {
            let expected = &match context.has_ip {
                true => expected.clone(),
                false => without_addresses(expected),
            };
            if let Some(difference) = codec.differs(expected, &codec.decode_chunk(chunk)) {
                return Ok(Some(difference.into()));
            }
        }
        if chunks.len() != expected.chunks.len() {
            let (found, wanted) = (chunks.len(), expected.chunks.len());
            return Ok(Some(format!("the packet has {found} chunks, not {wanted}").into()));
        }
        let opens = matches!(actual.chunks.first(), Some(Chunk::Init(_)));
        let reflected = matches!(
            actual.chunks.first(),
            Some(
                Chunk::Abort { reflected: true, .. } | Chunk::ShutdownComplete { reflected: true }
            )
        );
        if !self.mapping.is_right_tag(actual.tag, opens, reflected) {
            let what = format!("the verification tag is {:#x}", actual.tag);
            return Ok(Some(what.into()));
        }
        Ok(None)
    }

    fn show(&self, packet: &Packet, inbound: bool) -> String {
        let sign = if inbound { '<' } else { '>' };
        let ecn = ip::shown_ecn(packet);
        let Body::Sctp(sctp) = &packet.body else { return format!("{sign} {ecn}?") };
        let codec = self.codec(!inbound);
        let chunks = match self.octets(sctp) {
            Ok(octets) => {
                let shown = |chunk: &&[u8]| codec.decode_chunk(chunk).to_string();
                decode::chunks(&octets).iter().map(shown).collect::<Vec<_>>().join("; ")
            }
            Err(error) => error,
        };
        let zero = if sctp.zero_checksum { "(zero_checksum)" } else { "" };
        format!("{sign} {ecn}sctp{zero}: {chunks}")
    }

    fn flow(&self) -> FlowKey {
        self.mapping.flow()
    }
}
