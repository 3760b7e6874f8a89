//! Commands, packets and dates in any order against two SCTP associations.

use crate::input::Input;
use crate::world::{Subject, World};
use anabranch_congestion::Algorithm;
use anabranch_endpoint::{Endpoint, Seed};
use anabranch_sctp::{
    Association, Authentication, Concurrent, Config, Destination, Encapsulation, Message, PRESETS,
    Reliability, Scheduler, Window,
};
use anabranch_units::{Serial32, Span};
use anabranch_wire::sctp::{
    AddressChange, Cause, Chunk, DataFlags, GapBlock, Parameter, SkippedMessage,
};
use anabranch_wire::{Addr, Body, Icmp, IcmpKind, Packet, Payload, Quote};
use std::sync::Arc;

const ADDRESSES: [[Addr; 2]; 2] = [[Addr(0), Addr(1)], [Addr(2), Addr(3)]];

/// The input is a configuration and a list of steps. Whatever the steps are, no
/// call panics, every call ends in finitely many packets, every packet fits the
/// MTU and comes back from the wire as it was, no deadline lies in the past,
/// and the window never vanishes.
pub fn sctp_association(octets: &[u8]) {
    let mut input = Input(octets);
    world(&mut input).run(&mut input);
}

/// Two associations of a configuration that the input says, before either is opened.
pub(crate) fn world(input: &mut Input) -> World<Association> {
    let switches = input.byte();
    let extensions = input.byte();
    let preset = PRESETS[input.index(PRESETS.len())];
    let destination = Destination::ALL[input.index(Destination::ALL.len())].clone();
    let receive_buffer = 1500 + input.u16() as u32;
    let mtu = 512 + input.byte() as u32 * 8;
    let config = Config {
        destination,
        window: match switches & 3 {
            0 => Window::Algorithm(Algorithm::default()),
            _ => Window::Standard,
        },
        timestamps: switches & 4 != 0,
        multiple_fast_retransmit: switches & 8 != 0,
        heartbeat_after_rto: switches & 16 != 0,
        potentially_failed: (switches & 32 != 0).then_some(0),
        // One chunk of the peer's has to fit.
        receive_buffer: receive_buffer.max(mtu),
        send_buffer: 1 << 16,
        mtu,
        partial_reliability: extensions & 1 != 0,
        interleaving: extensions & 2 != 0,
        reconfiguration: extensions & 4 != 0,
        concurrent: (extensions & 8 != 0).then_some(Concurrent {
            split_fast_retransmit: extensions & 16 == 0,
            window_update: switches & 8 == 0,
            delayed_ack: switches & 16 == 0,
            buffer_split: switches & 4 != 0,
        }),
        authentication: (extensions & 0x50 == 0x50).then(|| {
            let chunks = vec![0, 0xc1, 0x80];
            Arc::new(Authentication { chunks, ..Authentication::default() })
        }),
        dynamic_addresses: extensions & 0x50 == 0x50,
        udp: (extensions & 0x90 == 0x90).then(Encapsulation::default),
        scheduler: Scheduler::ALL[(extensions >> 5) as usize % Scheduler::ALL.len()],
        ..Config::preset(preset).expect("a preset")
    };
    config.validate().expect("a valid configuration");
    let (a, b) = ((ADDRESSES[0].as_slice(), 1), (ADDRESSES[1].as_slice(), 2));
    let seed = Seed::default();
    let most = config.mtu as u64;
    let client = Association::client(config.clone(), a, b, seed.generator("a"));
    let server = if switches & 64 == 0 {
        Association::server(config, b, a, seed.generator("b"))
    } else {
        Association::client(config, b, a, seed.generator("b"))
    };
    World::new([client, server], most, switches & 128 != 0)
}

impl Subject for Association {
    const STEPS: u8 = 19;
    const MOST_PACKETS: u32 = 5000;

    fn special(world: &mut World<Association>, what: u8, who: usize, input: &mut Input) -> bool {
        let now = world.now;
        let end = &mut world.ends[who];
        match what % Self::STEPS {
            10 => {
                let octets = [what; 9000];
                let len = input.u16() as usize % 9000;
                let payload = match world.real {
                    true => Payload::of_octets(&octets[..len]),
                    false => Payload::virtual_of(len as u32),
                };
                let (stream, unordered) = (input.byte() as u16 % 12, what < 128);
                let limit = match what / 19 % 8 {
                    n @ 1..3 => Reliability::Retransmissions(n as u16 - 1),
                    n @ 3..5 => Reliability::Until(now + Span::from_millis(n as u64 * 100)),
                    n @ 5..7 => Reliability::Priority(n as u32),
                    _ => Reliability::Reliable,
                };
                let _ = end.send_with(
                    Message { unordered, ppid: 1, ..Message::new(stream, payload) },
                    limit,
                );
            }
            11 => drop(end.set_primary(input.index(3))),
            14 => {
                let streams = [input.byte() as u16 % 12, input.byte() as u16 % 3000];
                let streams = &streams[..input.index(3)];
                let _ = match what < 128 {
                    true => end.reset_streams(streams),
                    false => end.request_stream_reset(streams),
                };
            }
            15 => drop(end.add_streams(what < 128, input.u16())),
            17 => {
                let addr = ADDRESSES[who][input.index(2)];
                let new = Addr(10 + 2 * input.byte() as u32 + who as u32);
                let _ = match what / 19 % 4 {
                    0 => end.add_address(new),
                    1 => end.delete_address(addr),
                    2 => end.delete_address(new),
                    _ => end.set_peer_primary(addr),
                };
            }
            18 if !world.sent.is_empty() => {
                // A router says something about a packet.
                let (to, packet) = &world.sent[input.index(world.sent.len())];
                let kind = match what {
                    0..200 => IcmpKind::PacketTooBig { mtu: input.u16() as u32 },
                    _ => IcmpKind::ProtocolUnreachable,
                };
                let icmp = Body::Icmp(Box::new(Icmp { kind, quote: Quote::of(packet) }));
                let error = Packet::new(Addr(99), packet.src, icmp);
                world.ends[1 - to].handle_input(now, &error);
            }
            16 => end.set_stream_value(input.byte() as u16, input.u16()),
            12 => drop(end.receive()),
            _ => return false,
        }
        true
    }

    fn forge(packet: &mut Packet, input: &mut Input) {
        if let Body::Sctp(sctp) = &mut packet.body {
            sctp.chunks.iter_mut().for_each(|chunk| forge(chunk, input));
        }
    }

    fn check_packet(world: &World<Association>, packet: &Packet, octets: &[u8]) {
        // Cookies and answers to forged chunks may be larger.
        let Body::Sctp(sctp) = &packet.body else { panic!("{packet:?}") };
        if sctp.payload_len() > 0 {
            assert!(octets.len() as u64 <= world.most, "{} octets", octets.len());
        }
    }

    fn check(&mut self) {
        while self.poll_notification().is_some() {}
        assert!(self.observe_paths().all(|path| path.cwnd > 0));
    }
}

/// Changes a field of a chunk.
fn forge(chunk: &mut Chunk, input: &mut Input) {
    let by = input.u16() as i16 as i32;
    let moved = |serial: &mut Serial32| *serial = Serial32(serial.0.wrapping_add_signed(by % 20));
    match chunk {
        Chunk::Data(data) => match input.byte() % 5 {
            0 => moved(&mut data.tsn),
            1 => data.flags = DataFlags(by as u8),
            2 => data.ssn = data.ssn.wrapping_add(by as u16),
            3 => data.stream = by as u16 % 3000,
            _ => data.payload = Payload::virtual_of(by as u16 as u32 % 3000),
        },
        Chunk::Sack(sack) => match input.byte() % 3 {
            0 => moved(&mut sack.cum_tsn),
            1 => sack.a_rwnd = by as u32,
            _ => sack.gaps.push(GapBlock { start: by as u16 % 20, end: input.byte() as u16 % 40 }),
        },
        Chunk::IData(data) => match input.byte() % 6 {
            0 => moved(&mut data.tsn),
            1 => data.flags = DataFlags(by as u8),
            2 => data.mid = data.mid.wrapping_add_signed(by),
            3 => data.ppid_or_fsn = data.ppid_or_fsn.wrapping_add_signed(by % 4),
            4 => data.stream = by as u16 % 3000,
            _ => data.payload = Payload::virtual_of(by as u16 as u32 % 3000),
        },
        Chunk::ForwardTsn(forward) => {
            moved(&mut forward.cum_tsn);
            forward.skipped.push((by as u16 % 12, input.u16()));
        }
        Chunk::IForwardTsn(forward) => {
            moved(&mut forward.cum_tsn);
            let (stream, mid, unordered) = (by as u16 % 12, input.u16() as u32, by < 0);
            forward.skipped.push(SkippedMessage { stream, unordered, mid });
        }
        Chunk::Asconf { serial, parameters } | Chunk::AsconfAck { serial, parameters } => {
            moved(serial);
            let causes = vec![Cause::Asconf { code: by as u8, parameters: Vec::new() }];
            let (correlation, address) = (serial.0, Addr(input.byte() as u32).into());
            let change = match by {
                ..0 => AddressChange::Delete,
                0..9000 => AddressChange::Add,
                _ => AddressChange::SetPrimary,
            };
            parameters.push(match input.byte() % 3 {
                0 => Parameter::ErrorIndication { correlation, causes },
                _ => Parameter::ChangeAddress { change, correlation, address },
            });
        }
        Chunk::Auth { key, algorithm, hmac } => match input.byte() % 3 {
            0 => *key = by as u16 % 2,
            1 => *algorithm = by as u16 % 4,
            _ => *hmac = vec![by as u8; by as u8 as usize % 40].into(),
        },
        Chunk::Reconfig(list) => {
            let request = Serial32(input.u16() as u32);
            list.push(match input.byte() % 5 {
                0 => Parameter::TsnReset { request },
                1 => Parameter::IncomingReset { request, streams: vec![by as u16] },
                2 => Parameter::AddStreams { outgoing: by < 0, request, count: by as u16 },
                3 => Parameter::ReconfigResponse {
                    response: request,
                    result: by as u32 % 8,
                    next_tsns: None,
                },
                _ => Parameter::OutgoingReset {
                    request,
                    response: request,
                    last_tsn: Serial32(by as u32),
                    streams: Vec::new(),
                },
            });
            if let [Parameter::AddStreams { request: first, .. }, .., last] = list.as_mut_slice() {
                let number = *first;
                match last {
                    Parameter::IncomingReset { request, .. }
                    | Parameter::OutgoingReset { request, .. }
                    | Parameter::TsnReset { request } => *request = number.add(1),
                    _ => {}
                }
            }
        }
        Chunk::Init(init) | Chunk::InitAck(init) => match input.byte() % 4 {
            0 => init.tag = by as u32,
            1 => init.a_rwnd = by as u32,
            2 => (init.outbound, init.inbound) = (by as u16, input.u16()),
            _ => init.parameters.truncate(by as usize % 3),
        },
        other => {
            *other = match input.byte() % 8 {
                0 => Chunk::Shutdown(Serial32(by as u32)),
                1 => Chunk::ShutdownAck,
                2 => Chunk::Error(vec![Cause::StaleCookie(by as u32)]),
                3 => Chunk::Abort { reflected: by < 0, causes: Vec::new() },
                4 => Chunk::HeartbeatAck([by as u8; 16].into()),
                5 => Chunk::CookieAck,
                6 => Chunk::CookieEcho([by as u8; 90].into()),
                _ => Chunk::Unknown { kind: by as u8 | 0x40, flags: 0, value: [1; 9].into() },
            }
        }
    }
}
