//! Commands, segments and dates in any order against two Multipath TCP
//! connections.

use crate::connection;
use crate::input::Input;
use crate::world::{Subject, World};
use anabranch_endpoint::{Endpoint, Observe, Seed};
use anabranch_mptcp::path_manager::PATH_MANAGERS;
use anabranch_mptcp::scheduler::SCHEDULERS;
use anabranch_mptcp::{Config, Connection, PathManager, SchedulerKind};
use anabranch_units::Span;
use anabranch_wire::tcp::mptcp::{AddAddr, DataNumber, Mapping, MptcpOption, RemoveAddr};
use anabranch_wire::{Addr, Body, Packet, TcpSegment};

const ADDRESSES: [[Addr; 2]; 2] = [[Addr(0), Addr(2)], [Addr(1), Addr(3)]];
/// Subflows with those that have ended and not said so yet.
const MOST_SUBFLOWS: usize = 48;
const RECEIVE_BUFFER: u64 = 3000;

/// The input is a configuration and a list of steps. Whatever the steps are, no
/// call panics, every call ends in finitely many packets, every packet comes back
/// from the wire as it was, no deadline lies in the past, and what is kept for
/// the peer stays within its limits.
pub fn mptcp_connection(octets: &[u8]) {
    let mut input = Input(octets);
    world(&mut input).run(&mut input);
}

/// Two connections of a configuration that the input says, before either is opened.
pub(crate) fn world(input: &mut Input) -> World<Connection> {
    let switches = input.byte();
    let algorithms = anabranch_congestion::ALGORITHMS;
    let window = algorithms[input.index(algorithms.len())].name;
    let subflow = anabranch_tcp::Config {
        window: anabranch_congestion::Algorithm::from_name(window).expect("registered"),
        mss: 200 + input.u16() as u32 % 2000,
        receive_buffer: RECEIVE_BUFFER + input.byte() as u64 * 200,
        send_buffer: 1 << 16,
        timestamps: switches & 1 != 0,
        max_retries: 1 + (switches >> 5) as u32,
        syn_retries: 1 + (switches >> 5) as u32,
        ..anabranch_tcp::Config::default()
    };
    let scheduler = SCHEDULERS[input.index(SCHEDULERS.len())].name;
    let manager = PATH_MANAGERS[input.index(PATH_MANAGERS.len())].name;
    let config = Config {
        subflow,
        checksum: switches & 2 != 0,
        long_numbers: switches & 4 != 0,
        scheduler: SchedulerKind::from_name(scheduler).expect("registered"),
        path_manager: PathManager::from_name(manager).expect("registered"),
        linger: Span::from_secs(5),
        ..Config::default()
    };
    config.validate().expect("a valid configuration");
    let server_config = Config { enabled: switches & 8 == 0, ..config.clone() };
    let [a, b] = [(&ADDRESSES[0][..], 1), (&ADDRESSES[1][..], 2)];
    let [to_a, to_b] = [(ADDRESSES[0][0], 1), (ADDRESSES[1][0], 2)];
    let seed = Seed::default();
    let client = Connection::client(config, a, to_b, seed.generator("a"));
    let server = Connection::server(server_config, b, to_a, seed.generator("b"));
    World::new([client, server], 0, switches & 16 != 0)
}

impl Subject for Connection {
    const STEPS: u8 = 15;
    const MOST_PACKETS: u32 = 100_000;

    fn special(world: &mut World<Connection>, what: u8, who: usize, input: &mut Input) -> bool {
        let now = world.now;
        let end = &mut world.ends[who];
        match what % Self::STEPS {
            10 => {
                let new = Addr(10 + 2 * input.byte() as u32 % 20 + who as u32);
                match what / Self::STEPS % 4 {
                    0 => end.add_address(now, new),
                    1 => end.remove_address(now, new),
                    2 => end.remove_address(now, ADDRESSES[who][input.index(2)]),
                    _ => end.add_address(now, ADDRESSES[who][input.index(2)]),
                }
            }
            11 => {
                let keys: Vec<_> = end.flow_keys().collect();
                if !keys.is_empty() {
                    end.set_backup(keys[input.index(keys.len())], what < 128);
                }
            }
            12 if !world.sent.is_empty() => {
                // Something on the way takes the options.
                let at = input.index(world.sent.len());
                let (to, mut packet) = world.sent.remove(at);
                if let Body::Tcp(segment) = &mut packet.body {
                    segment.options.remove_dss();
                    segment.options.rare_mut().mptcp.clear();
                }
                world.ends[to].handle_input(now, &packet);
            }
            _ => return false,
        }
        true
    }

    fn forge(packet: &mut Packet, input: &mut Input) {
        if let Body::Tcp(segment) = &mut packet.body {
            match input.byte() % 3 {
                0 => connection::forge(segment, input),
                _ => forge(segment, input),
            }
        }
    }

    fn check(&mut self) {
        let most = RECEIVE_BUFFER + 255 * 200;
        assert!(self.out_of_order() <= most);
        assert!(self.subflows().count() <= MOST_SUBFLOWS);
        assert!((0..).map_while(|path| self.observe_path(path)).count() <= 64);
    }
}

/// Changes an option of Multipath TCP.
fn forge(segment: &mut TcpSegment, input: &mut Input) {
    let by = input.u16();
    let kind = input.byte() % 9;
    if kind < 4
        && let Some(mut dss) = segment.options.dss()
    {
        let moved = |number: &mut DataNumber| match number {
            DataNumber::Short(n) => *n = n.wrapping_add_signed(by as i16 as i32),
            DataNumber::Long(n) => *n = n.wrapping_add_signed(by as i16 as i64),
        };
        match (kind, &mut dss.mapping) {
            (0, _) => {
                if let Some(ack) = &mut dss.data_ack {
                    moved(ack);
                }
            }
            (1, Some(mapping)) => moved(&mut mapping.dsn),
            (2, Some(mapping)) => mapping.ssn = mapping.ssn.wrapping_add_signed(by as i16 as i32),
            (3, Some(Mapping { len, .. })) => *len = by,
            _ => dss.data_fin = !dss.data_fin && dss.mapping.is_some(),
        }
        segment.options.set_dss(&dss);
        return;
    }
    let list = &mut segment.options.rare_mut().mptcp;
    match kind {
        4 => list.clear(),
        5 => {
            for option in list.iter_mut() {
                if let MptcpOption::AddAddr(add) = option {
                    add.id = by as u8;
                }
            }
        }
        6 => list.push(MptcpOption::Prio { backup: by & 1 != 0 }),
        7 => {
            let ip = std::net::IpAddr::from([10, 0, 0, by as u8 % 40]);
            let mac = (by & 256 != 0).then_some(by.into());
            let add = AddAddr { id: (by >> 8) as u8, ip, port: None, mac };
            list.push(MptcpOption::AddAddr(add));
        }
        _ => list.extend(match by % 4 {
            0 => Some(MptcpOption::Fail { dsn: by as u64 }),
            1 => Some(MptcpOption::Fastclose { key: by as u64 }),
            2 => Some(MptcpOption::TcpRst { transient: by & 4 != 0, reason: by as u8 }),
            _ => RemoveAddr::of(&[by as u8 % 12]).map(MptcpOption::RemoveAddr),
        }),
    }
}
