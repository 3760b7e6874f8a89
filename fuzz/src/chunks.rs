//! A peer that knows the verification tag and the sequence numbers, and sends whatever chunks it
//! likes: typed sequences of them against an established SCTP association.

use crate::association;
use crate::input::Input;
use crate::world::World;
use anabranch_endpoint::Endpoint;
use anabranch_sctp::Association;
use anabranch_units::Serial32;
use anabranch_wire::sctp::{
    AddressChange, Cause, Chunk, DataChunk, DataFlags, ForwardTsn, GapBlock, IDataChunk,
    IForwardTsn, InitChunk, Parameter, SackChunk, SctpPacket, SkippedMessage,
};
use anabranch_wire::{Addr, Body, Packet, Payload};

/// Chunks of a packet, at most.
const MOST_CHUNKS: usize = 5;
/// Steps of a run, at most.
const MOST_STEPS: usize = 300;

/// The input is a configuration, whom the packets go to, and steps: packets of typed chunks with
/// the right tag and TSNs near those that are expected, between commands, dates and packets of the
/// real peer. What [`sctp_association`](crate::sctp_association) promises holds.
pub fn sctp_chunks(octets: &[u8]) {
    let mut input = Input(octets);
    let mut world = association::world(&mut input);
    let arrived = world.establish();
    let victim = input.index(2);
    let to_victim = |(to, packet): &(usize, Packet)| match &packet.body {
        Body::Sctp(sctp) if *to == victim && sctp.tag != 0 => Some(packet.clone()),
        _ => None,
    };
    let Some(template) = arrived.iter().rev().find_map(to_victim) else { return };
    let mut cookie = Box::default();
    for (_, packet) in &arrived {
        let Body::Sctp(sctp) = &packet.body else { continue };
        for chunk in sctp.chunks.iter() {
            if let Chunk::CookieEcho(octets) = chunk {
                cookie = octets.clone();
            }
        }
    }
    for _ in 0..MOST_STEPS {
        if input.0.is_empty() {
            break;
        }
        match input.byte() % 4 {
            0 => world.step(&mut input),
            _ => {
                let packet = packet(&world, victim, &template, &cookie, &mut input);
                let now = world.now;
                world.ends[victim].handle_input(now, &packet);
            }
        }
        world.poll();
    }
}

/// A packet of the peer.
fn packet(
    world: &World<Association>,
    victim: usize,
    template: &Packet,
    cookie: &[u8],
    input: &mut Input,
) -> Packet {
    let end = &world.ends[victim];
    let peer = Peer { expected: end.cumulative_tsn(), sent: end.next_tsn(), cookie };
    let n = 1 + input.index(MOST_CHUNKS);
    let chunks = (0..n).map(|_| peer.chunk(input)).collect();
    let mut packet = template.clone();
    if let Body::Sctp(sctp) = &mut packet.body {
        **sctp = SctpPacket { chunks, ..**sctp };
    }
    packet
}

/// What the peer knows.
struct Peer<'a> {
    /// The victim has everything up to here.
    expected: Serial32,
    /// The victim's next TSN.
    sent: Serial32,
    cookie: &'a [u8],
}

impl Peer<'_> {
    fn chunk(&self, input: &mut Input) -> Chunk {
        match input.byte() % 32 {
            0..6 => Chunk::Data(DataChunk {
                flags: DataFlags(input.byte() & 15),
                tsn: near(self.expected.add(1), input),
                stream: stream(input),
                ssn: input.byte() as u16,
                ppid: 1,
                payload: payload(input),
            }),
            6..10 => Chunk::IData(IDataChunk {
                flags: DataFlags(input.byte() & 15),
                tsn: near(self.expected.add(1), input),
                stream: stream(input),
                mid: input.byte() as u32 % 8,
                ppid_or_fsn: input.byte() as u32 % 8,
                payload: payload(input),
            }),
            10..14 => Chunk::Sack(SackChunk {
                cum_tsn: near(self.sent, input),
                a_rwnd: match input.byte() % 4 {
                    0 => 0,
                    1 => input.u16() as u32,
                    2 => u32::MAX,
                    _ => 100_000,
                },
                gaps: list(input, |input| GapBlock {
                    start: input.byte() as u16,
                    end: input.byte() as u16,
                }),
                duplicates: list(input, |input| near(self.sent, input)),
                packets: input.byte() & 3,
            }),
            14 | 15 => Chunk::ForwardTsn(ForwardTsn {
                cum_tsn: near(self.expected, input),
                skipped: list(input, |input| (stream(input), input.byte() as u16)),
            }),
            16 | 17 => Chunk::IForwardTsn(IForwardTsn {
                cum_tsn: near(self.expected, input),
                skipped: list(input, |input| SkippedMessage {
                    stream: stream(input),
                    unordered: input.byte() & 1 != 0,
                    mid: input.byte() as u32,
                }),
            }),
            18 => Chunk::Heartbeat(octets(input)),
            19 => Chunk::HeartbeatAck(octets(input)),
            20 => Chunk::Shutdown(near(self.sent, input)),
            21 => Chunk::ShutdownAck,
            22 => Chunk::CookieEcho(match input.byte() % 2 {
                0 => self.cookie.into(),
                _ => octets(input),
            }),
            23 => Chunk::Error(list(input, cause)),
            24 => Chunk::Ecne(near(self.sent, input)),
            25 => Chunk::Cwr(near(self.expected, input)),
            26 | 27 => Chunk::Reconfig(list(input, |input| self.reconfiguration(input))),
            28 => {
                let parameters = list(input, address_change);
                Chunk::Asconf { serial: near(self.expected, input), parameters }
            }
            29 => {
                let init = Box::new(InitChunk {
                    tag: input.byte() as u32,
                    a_rwnd: input.u16() as u32,
                    outbound: input.byte() as u16,
                    inbound: input.byte() as u16,
                    tsn: near(self.expected, input),
                    parameters: list(input, address_change),
                });
                if input.byte() & 1 == 0 { Chunk::Init(init) } else { Chunk::InitAck(init) }
            }
            30 => Chunk::Unknown { kind: 0x3f | input.byte(), flags: 0, value: octets(input) },
            _ => match input.byte() % 8 {
                0 => Chunk::Abort { reflected: false, causes: list(input, cause) },
                1 => Chunk::ShutdownComplete { reflected: input.byte() & 1 != 0 },
                2 => Chunk::CookieAck,
                3 => Chunk::Auth {
                    key: 0,
                    algorithm: 1 + input.byte() as u16 % 4,
                    hmac: octets(input),
                },
                4 => Chunk::AsconfAck {
                    serial: near(self.sent, input),
                    parameters: list(input, address_change),
                },
                _ => Chunk::Pad(input.byte() as u16),
            },
        }
    }

    /// A request or a response of RE-CONFIG, whose numbers count from the initial TSNs.
    fn reconfiguration(&self, input: &mut Input) -> Parameter {
        let request = near(self.expected, input);
        match input.byte() % 5 {
            0 => Parameter::OutgoingReset {
                request,
                response: near(self.sent, input),
                last_tsn: near(self.expected, input),
                streams: list(input, stream),
            },
            1 => Parameter::IncomingReset { request, streams: list(input, stream) },
            2 => Parameter::TsnReset { request },
            3 => Parameter::AddStreams {
                outgoing: input.byte() & 1 != 0,
                request,
                count: input.u16(),
            },
            _ => Parameter::ReconfigResponse {
                response: near(self.sent, input),
                result: input.byte() as u32 % 8,
                next_tsns: (input.byte() & 1 != 0).then_some((request, request)),
            },
        }
    }
}

/// A number near this one; sometimes as far as numbers go.
fn near(number: Serial32, input: &mut Input) -> Serial32 {
    let by = match input.byte() {
        255 => 1 << 31,
        254 => (1 << 31) - 1,
        by => (by as i8 / 8) as u32,
    };
    Serial32(number.0.wrapping_add(by))
}

fn stream(input: &mut Input) -> u16 {
    match input.byte() {
        255 => u16::MAX,
        n => n as u16 % 12,
    }
}

/// Octets that are only counted: none at all, or up to more than a packet has.
fn payload(input: &mut Input) -> Payload {
    Payload::virtual_of(input.byte() as u32 * 8)
}

fn octets(input: &mut Input) -> Box<[u8]> {
    vec![input.byte(); input.byte() as usize].into()
}

/// Up to three.
fn list<T>(input: &mut Input, one: impl Fn(&mut Input) -> T) -> Vec<T> {
    (0..input.index(4)).map(|_| one(input)).collect()
}

fn cause(input: &mut Input) -> Cause {
    match input.byte() % 6 {
        0 => Cause::InvalidStream(stream(input)),
        1 => Cause::StaleCookie(input.u16() as u32),
        2 => Cause::UnrecognizedChunk(octets(input)),
        3 => Cause::NoUserData(Serial32(input.u16() as u32)),
        4 => Cause::ProtocolViolation(octets(input)),
        _ => Cause::UnsupportedHmac(input.byte() as u16),
    }
}

fn address_change(input: &mut Input) -> Parameter {
    let address = Addr(input.byte() as u32 % 40).into();
    let correlation = input.byte() as u32;
    match input.byte() % 4 {
        0 => Parameter::Address(address),
        n => {
            let change = [AddressChange::Add, AddressChange::Delete, AddressChange::SetPrimary];
            Parameter::ChangeAddress { change: change[n as usize - 1], correlation, address }
        }
    }
}
