//! One subflow beside TCP: what is lost is repaired by the subflow's TCP, which chooses
//! between repairs and new data as if the data were its own.

use super::world::{A2, B2};
use super::*;
use anabranch_congestion::Algorithm;
use anabranch_tcp::UndoOptions;
use anabranch_tcp::recovery::{Pipe, Recovery, SCHEMES};
use anabranch_testkit::{Fate, Pair, Side};
use anabranch_wire::{Body, TcpFlags};
use std::cell::Cell;
use std::collections::BTreeSet;

/// Segments of data that the client sent: date in milliseconds, offset, length.
type Sent = Vec<(u64, u64, u32)>;

/// Which segments of data are lost, counted from 0 as they leave the client.
type Losses = fn(u64) -> bool;

const LOSSES: &[(&str, Losses)] = &[
    ("none", |_| false),
    ("one", |n| n == 40),
    ("two", |n| n == 40 || n == 45),
    ("five in a row", |n| (40..45).contains(&n)),
    ("a retransmission", |n| n == 40 || (62..64).contains(&n)),
    ("half a window", |n| (30..60).contains(&n) && n % 2 == 0),
    ("the rest of a window", |n| (50..70).contains(&n)),
    ("a window", |n| (30..70).contains(&n)),
    ("every 61st", |n| n % 61 == 60),
    ("every 23rd", |n| n % 23 == 22),
];

/// The rule that loses them.
fn lose(losses: Losses) -> impl FnMut(Side, &Packet) -> Fate {
    let mut n = 0;
    move |side, packet| {
        if side == Side::Server || packet.payload_len() == 0 {
            return Fate::Deliver;
        }
        n += 1;
        if losses(n - 1) { Fate::Drop } else { Fate::Deliver }
    }
}

/// A transfer of 600 segments of 1000 octets.
fn transfer<E: ByteStream + Observe, F: FnMut(Side, &Packet) -> Fate>(
    mut pair: Pair<E, F>,
) -> Sent {
    pair.drive(at_ms(19));
    pair.client.write(600_000);
    pair.drive(at_ms(60_000));
    assert_eq!(pair.server.observe().bytes_received, 600_000);
    let mut first = None;
    let mut sent = Vec::new();
    for line in pair.log.iter().filter(|line| line.from == Side::Client) {
        let Body::Tcp(segment) = &line.packet.body else { panic!("all is TCP") };
        if segment.flags.contains(TcpFlags::SYN) {
            first = Some(segment.seq.0);
        } else if !segment.payload.is_empty() {
            let offset = segment.seq.0.wrapping_sub(first.expect("a SYN comes first"));
            sent.push((line.sent.as_millis(), offset as u64, segment.payload.len()));
        }
    }
    sent
}

/// By TCP, whose receiver has no more room for SACK blocks than there is beside a DSS.
fn by_tcp(config: &Config, losses: Losses) -> Sent {
    let config = anabranch_tcp::Config { mss: 1000, ..config.subflow.clone() };
    let seed = anabranch_endpoint::Seed::default();
    let (a, b) = ((A1, 1000), (B1, 80));
    let client = Tcp::client(config.clone(), a, b, seed.generator("client"));
    let server = Tcp::server(config, b, a, seed.generator("server"));
    let mut pair = Pair::new(client, server, Span::from_millis(10), lose(losses));
    pair.mangle = Some(|_, packet| {
        if let Body::Tcp(segment) = &mut packet.body {
            segment.options.truncate_sack(3);
        }
    });
    pair.client.connect(Time::ZERO);
    transfer(pair)
}

/// By Multipath TCP over one subflow.
fn by_mptcp(config: &Config, losses: Losses) -> Sent {
    transfer(world(config.clone(), config.clone(), &[A1], &[B1], lose(losses)))
}

/// Long numbers: the first segment is as long as the others.
fn of(recovery: Recovery) -> Config {
    let mut config = Config { long_numbers: true, ..config() };
    config.subflow.mss = 1028;
    config.subflow.receive_buffer = 4_000_000;
    config.subflow.recovery = recovery;
    config
}

fn schemes() -> Vec<Recovery> {
    let more = [
        Recovery::NewReno { impatient: true, exit_growth: false },
        Recovery::Sack { pipe: Pipe::Ns2, prr: false },
        Recovery::Sack { pipe: Pipe::Rfc6675, prr: true },
    ];
    let named = SCHEMES.iter().map(|scheme| Recovery::from_name(scheme.name).unwrap());
    named.chain(more).collect()
}

/// Both send the same segments at the same dates.
#[track_caller]
fn assert_same(config: &Config, name: &str, losses: Losses) {
    let (tcp, mptcp) = (by_tcp(config, losses), by_mptcp(config, losses));
    let differs = tcp.iter().zip(&mptcp).position(|(a, b)| a != b);
    let around =
        |sent: &Sent, at: usize| sent[at.saturating_sub(3)..sent.len().min(at + 6)].to_vec();
    let recovery = &config.subflow.recovery;
    if let Some(at) = differs {
        let (tcp, mptcp) = (around(&tcp, at), around(&mptcp, at));
        panic!("{recovery:?}, {name} lost: segment {at}\n   tcp {tcp:?}\n mptcp {mptcp:?}");
    }
    assert_eq!(tcp.len(), mptcp.len(), "{recovery:?}, {name} lost");
}

#[test]
fn one_subflow_repairs_as_tcp_does() {
    for recovery in schemes() {
        for (name, losses) in LOSSES {
            assert_same(&of(recovery.clone()), name, *losses);
        }
    }
}

#[test]
fn so_it_does_with_other_settings() {
    for name in ["newreno", "sack", "rack"] {
        let mut config = of(Recovery::from_name(name).unwrap());
        config.subflow.limited_transmit = !config.subflow.limited_transmit;
        config.subflow.delayed_ack.count = 2;
        config.subflow.delayed_ack.delay = Span::from_millis(40);
        config.subflow.undo = UndoOptions { frto: false, eifel: false, dsack: true };
        for (name, losses) in LOSSES {
            assert_same(&config, name, *losses);
        }
    }
}

/// What is to be repaired before anything new leaves is no reason to give the new to a
/// slower subflow: at whatever moment of a recovery there is more to send, the faster
/// subflow repairs, and gets the first of it if it has room.
#[test]
fn a_repair_makes_no_way_for_the_slow_subflow() {
    let mut config = config();
    config.subflow.idle_restart = false;
    config.subflow.window = Algorithm::from_name("reno").unwrap();
    let mut repaired_and_fed = 0;
    for steps in 0..60 {
        // Of the second transfer, which the faster subflow's window holds.
        let data = Cell::new(0);
        let rule = |_, packet: &Packet| match packet.src {
            A2 | B2 => Fate::Delay(Span::from_millis(50)),
            _ if packet.payload_len() == 0 => Fate::Deliver,
            _ => {
                data.set(data.get() + 1);
                if [5, 19, 20, 21].contains(&data.get()) { Fate::Drop } else { Fate::Deliver }
            }
        };
        let mut world = world(config.clone(), config.clone(), &[A1, A2], &[B1, B2], rule);
        data.set(1000);
        world.client.write(100_000);
        world.drive(at_ms(1000));
        data.set(0);
        world.client.write(30_000);
        world.drive(at_ms(1019));
        assert_eq!(data.get(), 30);
        for _ in 0..steps {
            world.step(at_ms(1100));
        }
        let (before, at) = (world.log.len(), world.now);
        world.client.write(8000);
        world.flush();
        let left_on = |source: Addr| {
            let news = world.log[before..].iter().filter(|line| line.packet.src == source);
            news.filter(|line| line.packet.payload_len() > 0).count() as u64
        };
        let (fast, slow) = (left_on(A1), left_on(A2));
        let path = world.client.end.subflows().next().expect("the first is there");
        if slow > 0 {
            let full = path.in_flight + 1000 > path.cwnd;
            assert!(full, "{steps}, {at:?}: {fast} and {slow} segments, {path:?}");
            repaired_and_fed += (fast + slow > 8 && slow < 8) as u32;
        }
    }
    assert!(repaired_and_fed > 0);
}

/// Nothing new is put at risk on a subflow that has fallen silent while another is there:
/// its tail loss probe is the last segment again. Alone it sends something new, as TCP.
#[test]
fn a_probe_is_something_new_only_where_no_other_subflow_is() {
    let mut config = config();
    config.subflow.recovery = Recovery::from_name("rack").unwrap();
    config.subflow.receive_buffer = 4_000_000;
    for paths in [1, 2] {
        let silent = Cell::new(false);
        let rule = |side, packet: &Packet| match packet.src {
            A2 | B2 => Fate::Delay(Span::from_millis(2)),
            _ if silent.get() && side == Side::Client => Fate::Drop,
            _ => Fate::Deliver,
        };
        let (own, peer) = (&[A1, A2][..paths], &[B1, B2][..paths]);
        let mut world = world(config.clone(), config.clone(), own, peer, rule);
        world.client.write(5_000_000);
        world.drive(at_ms(145));
        silent.set(true);
        world.drive(at_ms(1000));
        let mut sent = BTreeSet::new();
        let mut probes = Vec::new();
        for line in world.log.iter().filter(|line| line.packet.src == A1) {
            let Body::Tcp(segment) = &line.packet.body else { panic!("all is TCP") };
            if segment.payload.is_empty() {
                continue;
            }
            let new = sent.insert(segment.seq.0);
            if line.sent > at_ms(161) {
                probes.push((line.sent.as_millis(), new));
            }
        }
        assert_eq!(probes, [(200, paths == 1)], "{paths} paths");
    }
}
