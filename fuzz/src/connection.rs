//! Commands, segments and dates in any order against two TCP connections.

use crate::input::Input;
use anabranch_endpoint::{ByteStream, Endpoint, Event, Seed};
use anabranch_tcp::recovery::{Pipe, RackOptions, Recovery};
use anabranch_tcp::{Config, Connection, EcnMode, KeepAlive, Nagle, State};
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::{
    Addr, AddressBook, Body, Ecn, Packet, Payload, SackBlock, TcpFlags, TcpSegment, Timestamps,
};

/// A world of two connections: what was sent and may still arrive.
struct World {
    ends: [Connection; 2],
    sent: Vec<(usize, Packet)>,
    now: Time,
    book: AddressBook,
}

/// The input is a configuration and a list of steps. Whatever the steps are, no
/// call panics, every call ends in finitely many packets, every packet can be
/// put on a wire, no deadline lies in the past, and the window never vanishes.
pub fn tcp_connection(octets: &[u8]) {
    let mut input = Input(octets);
    let schemes = [
        Recovery::Reno,
        Recovery::NewReno { impatient: false, exit_growth: false },
        Recovery::NewReno { impatient: true, exit_growth: true },
        Recovery::Sack { pipe: Pipe::Rfc6675, prr: false },
        Recovery::Sack { pipe: Pipe::Rfc6675, prr: true },
        Recovery::Sack { pipe: Pipe::Ns2, prr: false },
        Recovery::Sack { pipe: Pipe::Ns2Old, prr: false },
        Recovery::Fack { prr: false },
        Recovery::Rack(RackOptions::default()),
        Recovery::Decoupled,
    ];
    let switches = input.byte();
    let algorithms = anabranch_congestion::ALGORITHMS;
    let window = algorithms[input.index(algorithms.len())].name;
    // The linux profile where two switches are on.
    let profile = if switches & 9 == 9 { Config::linux() } else { Config::default() };
    let config = Config {
        recovery: schemes[input.index(schemes.len())],
        window: anabranch_congestion::Algorithm::from_name(window).expect("registered"),
        mss: 64 + input.u16() as u32 % 2000,
        receive_buffer: 3000 + input.u16() as u64 * 8,
        send_buffer: 1 << 16,
        timestamps: switches & 1 != 0,
        window_scale: switches & 2 != 0,
        limited_transmit: switches & 4 != 0,
        ecn: [EcnMode::Dctcp, EcnMode::On, EcnMode::Accurate][(switches >> 5) as usize % 3],
        ecn_control: switches & 16 != 0,
        nagle: if switches & 64 != 0 { Nagle::Minshall } else { Nagle::Rfc },
        keep_alive: (switches & 128 != 0).then(KeepAlive::default),
        user_timeout: (switches & 128 != 0).then(|| Span::from_secs(40)),
        quick_acks: (switches >> 5).into(),
        ..profile
    };
    let (a, b) = ((Addr(0), 1), (Addr(1), 2));
    let seed = Seed::default();
    let client = Connection::client(config.clone(), a, b, seed.generator("a"));
    let server = if switches & 8 == 0 {
        Connection::server(config, b, a, seed.generator("b"))
    } else {
        Connection::client(config, b, a, seed.generator("b"))
    };
    let mut world = World {
        ends: [client, server],
        sent: Vec::new(),
        now: Time::ZERO,
        book: AddressBook::new(),
    };
    for _ in 0..400 {
        if input.0.is_empty() {
            break;
        }
        world.step(&mut input, switches & 16 != 0);
        world.poll();
    }
}

impl World {
    fn step(&mut self, input: &mut Input, real: bool) {
        let (what, who) = (input.byte(), input.index(2));
        let now = self.now;
        let end = &mut self.ends[who];
        match what % 14 {
            0 => end.connect(now),
            1 if real => drop(end.write_octets(&[7; 5000][..input.u16() as usize % 5001])),
            1 => drop(end.write(input.u16() as u64 * 4)),
            2 => drop(end.read(input.u16() as u64)),
            3 if what < 64 => end.close(),
            3 if what < 72 => end.abort(),
            4 => end.handle_timeout(now), // early, or not
            5 => {
                let due = self.ends.iter().map(Endpoint::poll_timeout).min().unwrap_or(now);
                if due != Time::NEVER {
                    self.now = self.now.max(due);
                }
                let now = self.now;
                self.ends.iter_mut().for_each(|end| end.handle_timeout(now));
            }
            6 => self.now += Span::from_micros(input.u16() as u64 * 10),
            7 if !self.sent.is_empty() => {
                // A packet gets lost.
                let at = input.index(self.sent.len());
                self.sent.remove(at);
            }
            8 if !self.sent.is_empty() => {
                // A packet arrives with other fields.
                let at = input.index(self.sent.len());
                let (to, mut packet) = self.sent[at].clone();
                if let Body::Tcp(segment) = &mut packet.body {
                    forge(segment, input);
                }
                self.ends[to].handle_input(now, &packet);
            }
            9 if !self.sent.is_empty() => {
                // A packet arrives and stays: it will be a duplicate.
                let at = input.index(self.sent.len());
                let (to, packet) = self.sent[at].clone();
                self.ends[to].handle_input(now, &packet);
            }
            12 => match input.byte() % 4 {
                0 => end.set_corked(what < 128),
                1 => end.set_no_delay(what < 128),
                2 => end.mark_urgent(),
                _ => assert!(end.urgent_ahead() <= 1 << 40),
            },
            13 if !self.sent.is_empty() => {
                // The network marks a packet, which then arrives.
                let at = input.index(self.sent.len());
                let (to, mut packet) = self.sent.remove(at);
                packet.ecn = Ecn::Ce;
                self.ends[to].handle_input(now, &packet);
            }
            _ if !self.sent.is_empty() => {
                // The usual: the oldest arrives, or one after it.
                let at = input.index(self.sent.len().min(4));
                let (to, packet) = self.sent.remove(at);
                self.ends[to].handle_input(now, &packet);
            }
            _ => {}
        }
    }

    fn poll(&mut self) {
        for who in 0..2 {
            let end = &mut self.ends[who];
            while let Some(event) = end.poll_event() {
                if let Event::Closed(_) = event {
                    assert_eq!(end.state(), State::Closed);
                }
            }
            let mut packets = 0;
            while let Some(packet) = end.poll_transmit(self.now) {
                packets += 1;
                assert!(packets < 100_000, "poll_transmit does not end");
                let mut out = Vec::new();
                packet.emit(&self.book, &mut out).expect("what is sent can be sent");
                if self.sent.len() < 200 {
                    self.sent.push((1 - who, packet));
                }
            }
            let seen = end.observe();
            assert!(seen.cwnd > 0);
            assert!(seen.in_flight <= 1 << 40, "{seen:?}");
            if end.poll_timeout() <= self.now {
                end.handle_timeout(self.now);
                while let Some(packet) = end.poll_transmit(self.now) {
                    self.sent.push((1 - who, packet));
                }
                assert!(end.poll_timeout() > self.now, "a deadline in the past");
            }
        }
    }
}

/// Changes a field of a segment.
fn forge(segment: &mut TcpSegment, input: &mut Input) {
    let by = input.u16() as i16 as i32;
    match input.byte() % 9 {
        0 => segment.seq = Serial32(segment.seq.0.wrapping_add_signed(by)),
        1 => segment.ack = Serial32(segment.ack.0.wrapping_add_signed(by)),
        2 => segment.flags = TcpFlags(by as u16 & 0x1ff),
        3 => segment.window = by as u16,
        4 => segment.payload = Payload::virtual_of(by as u16 as u32 % 3000),
        5 => {
            let left = Serial32(segment.ack.0.wrapping_add_signed(by));
            segment.options.sack.push(SackBlock { left, right: left.add(input.u16() as u32) });
        }
        6 => segment.urgent = by as u16,
        7 => {
            let value = (input.u16() as u32).wrapping_mul(by as u32);
            segment.options.timestamps = Some(Timestamps { value, echo: by as u32 });
        }
        _ => {
            segment.options.mss = Some(by as u16);
            segment.options.window_scale = Some(input.byte());
        }
    }
}
