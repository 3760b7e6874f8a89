//! Commands, segments and dates in any order against two TCP connections.

use crate::input::Input;
use crate::world::{Subject, World};
use anabranch_endpoint::{Endpoint, Event, Observe, Seed};
use anabranch_tcp::recovery::{DecoupledRackOptions, Pipe, RackOptions, Recovery};
use anabranch_tcp::{Config, Connection, EcnMode, KeepAlive, Nagle, State};
use anabranch_units::{Serial32, Span};
use anabranch_wire::{
    Addr, Body, Ecn, Packet, Payload, SackBlock, TcpFlags, TcpSegment, Timestamps,
};

/// The input is a configuration and a list of steps. Whatever the steps are, no
/// call panics, every call ends in finitely many packets, every packet can be
/// put on a wire, no deadline lies in the past, and the window never vanishes.
pub fn tcp_connection(octets: &[u8]) {
    let mut input = Input(octets);
    let schemes = [
        Recovery::Reno { exit_growth: false },
        Recovery::NewReno { impatient: false, exit_growth: false },
        Recovery::NewReno { impatient: true, exit_growth: true },
        Recovery::Sack { pipe: Pipe::Rfc6675, prr: false },
        Recovery::Sack { pipe: Pipe::Rfc6675, prr: true },
        Recovery::Sack { pipe: Pipe::Ns2, prr: false },
        Recovery::Sack { pipe: Pipe::Ns2Old, prr: false },
        Recovery::Fack { prr: false },
        Recovery::Rack(RackOptions::default()),
        Recovery::Decoupled { opens_late: false },
        Recovery::DecoupledRack(DecoupledRackOptions::default()),
    ];
    let switches = input.byte();
    let algorithms = anabranch_congestion::ALGORITHMS;
    let window = algorithms[input.index(algorithms.len())].name;
    // The linux profile where two switches are on.
    let profile = if switches & 9 == 9 { Config::linux() } else { Config::default() };
    let config = Config {
        recovery: schemes[input.index(schemes.len())].clone(),
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
    World::new([client, server], 0, switches & 16 != 0).run(&mut input);
}

impl Subject for Connection {
    const STEPS: u8 = 14;
    const MOST_PACKETS: u32 = 100_000;

    fn special(world: &mut World<Connection>, what: u8, who: usize, input: &mut Input) -> bool {
        let end = &mut world.ends[who];
        match what % Self::STEPS {
            12 => match input.byte() % 4 {
                0 => end.set_corked(what < 128),
                1 => end.set_no_delay(what < 128),
                2 => end.mark_urgent(),
                _ => assert!(end.urgent_ahead() <= 1 << 40),
            },
            13 if !world.sent.is_empty() => {
                // The network marks a packet, which then arrives.
                let at = input.index(world.sent.len());
                let (to, mut packet) = world.sent.remove(at);
                packet.ecn = Ecn::Ce;
                world.ends[to].handle_input(world.now, &packet);
            }
            _ => return false,
        }
        true
    }

    fn forge(packet: &mut Packet, input: &mut Input) {
        if let Body::Tcp(segment) = &mut packet.body {
            forge(segment, input);
        }
    }

    fn on_event(&mut self, event: &Event) {
        if let Event::Closed(_) = event {
            assert_eq!(self.state(), State::Closed);
        }
    }

    fn check(&mut self) {
        assert!(self.observe().cwnd > 0);
    }
}

/// Changes a field of a segment.
pub(crate) fn forge(segment: &mut TcpSegment, input: &mut Input) {
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
