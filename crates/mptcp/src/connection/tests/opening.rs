//! Handshakes.

use super::world::trace;
use super::*;
use crate::PathManager;
use anabranch_tcp::State as TcpState;
use anabranch_testkit::{Fate, Side};
use anabranch_wire::{Body, Icmp, IcmpKind, Quote, TcpFlags};

/// RFC 8684 §3.1 and §3.2: the first subflow, ADD_ADDR with its echo, the second
/// subflow by four segments.
#[test]
fn two_subflows_open() {
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(1000);
    world.drive(at_ms(200));
    assert_eq!(
        trace(&world, 0, 200),
        [
            "0 1 > S capable",
            "10 1 < S. capable(key)",
            "20 1 > . capable(keys)",
            "20 1 > . 996 capable(keys, data)",
            "20 1 > . 4 ack map 4",
            "30 1 < . add ack",
            "30 1 < . ack",
            "30 1 < . ack",
            "40 1 > . add(echo) ack",
            "40 2 > S join",
            "50 2 < S. join(mac)",
            "60 2 > . join(MAC)",
            "70 2 < . ack",
        ]
    );
    assert_eq!(world.client.end.subflows.usable().count_ones(), 2);
    assert_eq!(world.server.end.subflows.usable().count_ones(), 2);
    assert_eq!(world.server.observe().bytes_received, 1000);
    // §3.1: tokens and numbers come from the keys.
    let (a, b) = (&world.client.end, &world.server.end);
    assert_eq!(a.session.keys(), b.session.keys().map(|(own, peer)| (peer, own)));
    assert_ne!(a.token(), b.token());
}

/// A stream that ends before it has begun: the third ACK leaves with the keys, and the DATA_FIN behind
/// it.
#[test]
fn an_empty_stream_opens() {
    let mut world = world(config(), config(), &[A1], &[B1], |_, _| Fate::Deliver);
    while world.client.poll_event() != Some(Event::Connected) {
        world.step(at_ms(100));
    }
    world.client.close();
    world.drive(at_ms(200));
    assert_eq!(world.server.end.subflows[0].tcp.state(), TcpState::Established);
    let third = world.log.iter().filter(|line| line.sent == at_ms(20));
    let offsets: Vec<_> = third
        .map(|line| match &line.packet.body {
            Body::Tcp(segment) => world.client.end.subflows[0].tcp.sent_offset(segment.seq),
            _ => None,
        })
        .collect();
    assert_eq!(offsets, [Some(1), Some(1)]);
    assert_eq!(
        trace(&world, 0, 200),
        [
            "0 1 > S capable",
            "10 1 < S. capable(key)",
            "20 1 > . capable(keys)",
            "20 1 > . ack map 1 fin",
            "30 1 < . ack",
        ]
    );
}

/// ... and where the third ACK is lost, the keys come again with what asks for a DATA_ACK.
#[test]
fn an_empty_stream_opens_though_the_keys_are_lost() {
    for lost in 3..=5 {
        let mut n = 0;
        let mut world = world(config(), config(), &[A1], &[B1], move |_, _| {
            n += 1;
            if n == lost { Fate::Drop } else { Fate::Deliver }
        });
        while world.client.poll_event() != Some(Event::Connected) {
            world.step(at_ms(100));
        }
        world.client.close();
        world.drive(at_ms(20_000));
        assert!(world.server.end.receiver.has_ended(), "{lost}");
        assert!(world.client.end.sender.is_done(), "{lost}");
        assert_eq!(world.server.end.phase(), Phase::Multipath);
    }
}

/// What each path manager makes of two addresses on both sides.
#[test]
fn path_managers_open_what_they_want() {
    for (name, subflows) in [
        ("single", vec![(0, 1)]),
        ("pairs", vec![(0, 1), (2, 3)]),
        ("full-mesh", vec![(0, 1), (2, 1), (0, 3), (2, 3)]),
        ("backup", vec![(0, 1), (2, 1), (0, 3), (2, 3)]),
        ("signal", vec![(0, 1), (0, 3)]),
        ("n-diffports", vec![(0, 1), (0, 1)]),
    ] {
        let manager = PathManager::from_name(name).unwrap();
        let config = Config { path_manager: manager, ..config() };
        let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
        world.client.write(100_000);
        world.drive(at_ms(500));
        let all: Vec<_> = world.client.end.flow_keys().map(|key| (key.src.0, key.dst.0)).collect();
        assert_eq!(all, subflows, "{name}");
        assert_eq!(
            world.server.end.subflows.usable().count_ones() as usize,
            subflows.len(),
            "{name}"
        );
        let ports: std::collections::BTreeSet<_> =
            world.client.end.flow_keys().map(|key| (key.src, key.dst, key.src_port)).collect();
        assert_eq!(ports.len(), subflows.len());
    }
}

/// §3.2: the third ACK of a join is sent again until the peer has acknowledged
/// it; no data leaves on the subflow before.
#[test]
fn a_join_survives_the_loss_of_any_of_its_segments() {
    for lost in 1..=4 {
        let mut n = 0;
        let mut world = world(config(), config(), &[A1, A2], &[B1, B2], move |_, packet| {
            n += (packet.src == A2 || packet.dst == A2) as u32;
            if n == lost && (packet.src == A2 || packet.dst == A2) {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        world.client.write(10_000);
        world.drive(at_ms(5000));
        assert_eq!(world.client.end.subflows.usable().count_ones(), 2, "segment {lost} lost");
        assert_eq!(world.server.end.subflows.usable().count_ones(), 2, "segment {lost} lost");
    }
}

/// The same for the first handshake; whatever is lost it is Multipath TCP.
#[test]
fn the_first_handshake_survives_the_loss_of_any_of_its_segments() {
    for lost in 1..=6 {
        let mut n = 0;
        let mut world = world(config(), config(), &[A1, A2], &[B1, B2], move |_, _| {
            n += 1;
            if n == lost { Fate::Drop } else { Fate::Deliver }
        });
        world.client.write(10_000);
        world.drive(at_ms(5000));
        assert_eq!(world.server.observe().bytes_received, 10_000, "segment {lost} lost");
        assert_eq!(world.client.end.phase(), Phase::Multipath, "segment {lost} lost");
        assert_eq!(world.server.end.phase(), Phase::Multipath, "segment {lost} lost");
        assert_eq!(world.client.end.subflows.usable().count_ones(), 2, "segment {lost} lost");
    }
}

/// §3.1: the keys ride on the first data until the peer has sent a DSS, and are longer than
/// what any other segment carries: when that data and the third ACK are lost, what is sent
/// again still fits the path, also where that carries less than at first.
#[test]
fn keys_that_are_sent_again_with_data_fit_the_path() {
    for mtu in [1060, 900] {
        let mut n = 0;
        let mut world = world(config(), config(), &[A1], &[B1], move |side, packet| {
            n += (side == Side::Client) as u32;
            let lost = side == Side::Client && (2..=3).contains(&n);
            if lost || packet.wire_len().0 > mtu as u64 { Fate::Drop } else { Fate::Deliver }
        });
        world.client.write(5000);
        world.drive(at_ms(500));
        if mtu < 1060 {
            let first =
                world.log.iter().find(|line| line.packet.wire_len().0 > mtu as u64).unwrap();
            let kind = IcmpKind::PacketTooBig { mtu };
            let icmp = Icmp { kind, quote: Quote::of(&first.packet) };
            let tells = Packet::new(Addr(9), A1, Body::Icmp(Box::new(icmp)));
            let now = world.now;
            world.client.handle_input(now, &tells);
        }
        world.drive(at_ms(20_000));
        let all = trace(&world, 0, 20_000);
        let again = format!(" 1 > . {} capable(keys, data)", mtu - 64);
        assert!(all[5..].iter().any(|line| line.ends_with(&again)), "{all:#?}");
        assert_eq!(world.server.observe().bytes_received, 5000, "{all:#?}");
        assert_eq!(world.server.end.phase(), Phase::Multipath);
    }
}

/// §3.2: a join with a wrong token, or a wrong HMAC in either direction, is
/// reset.
#[test]
fn a_join_without_the_keys_is_reset() {
    use anabranch_wire::tcp::mptcp::{Join, MptcpOption};
    let change = |which: u32| {
        move |segment: &mut anabranch_wire::TcpSegment| {
            let Some(rare) = &mut segment.options.rare else { return };
            for option in &mut rare.mptcp {
                match option {
                    MptcpOption::Join(Join::Syn { token, .. }) if which == 0 => *token ^= 1,
                    MptcpOption::Join(Join::SynAck { mac, .. }) if which == 1 => *mac ^= 1,
                    MptcpOption::Join(Join::Ack { mac }) if which == 2 => mac[19] ^= 1,
                    _ => {}
                }
            }
        }
    };
    for which in 0..3 {
        let config = Config { reopen: None, ..config() };
        let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
        world.client.meddle = Box::new(change(which));
        world.server.meddle = Box::new(change(which));
        world.client.write(10_000);
        world.drive(at_ms(3000));
        let resets = trace(&world, 0, 3000);
        let resets = resets.iter().filter(|line| line.contains(" R")).count();
        assert!(resets > 0, "{:?}", trace(&world, 0, 3000));
        assert_eq!(world.client.end.subflows.usable().count_ones(), 1, "{which}");
        assert_eq!(world.server.end.subflows.usable().count_ones(), 1, "{which}");
        assert_eq!(world.server.observe().bytes_received, 10_000);
    }
}

/// §3.4.1: ADD_ADDR is sent again until it is echoed, and counts only with the
/// right HMAC.
#[test]
fn an_address_counts_with_its_mac() {
    use anabranch_wire::tcp::mptcp::MptcpOption;
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.server.meddle = Box::new(|segment| {
        let Some(rare) = &mut segment.options.rare else { return };
        for option in &mut rare.mptcp {
            if let MptcpOption::AddAddr(add) = option {
                add.mac = add.mac.map(|mac| mac ^ 1);
            }
        }
    });
    world.client.write(10_000);
    world.drive(at_ms(60_000));
    let all = trace(&world, 0, 60_000);
    assert_eq!(all.iter().filter(|line| line.contains("add ")).count(), 4, "{all:?}");
    assert!(!all.iter().any(|line| line.contains("join") || line.contains("echo")));
}

/// A SYN to nobody, and a join to a connection that is none, are reset.
#[test]
fn strangers_are_reset() {
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(1000);
    world.drive(at_ms(100));
    let line = world.log.iter().find(|line| line.packet.src == A2).unwrap();
    let mut packet = line.packet.clone();
    let anabranch_wire::Body::Tcp(segment) = &mut packet.body else { panic!("TCP") };
    segment.src_port = 77;
    segment.options.rare = None;
    let now = world.now;
    world.server.handle_input(now, &packet);
    let reset = world.server.poll_transmit(now).unwrap();
    let anabranch_wire::Body::Tcp(reset) = &reset.body else { panic!("TCP") };
    assert!(reset.flags.contains(TcpFlags::RST) && reset.dst_port == 77);
    // Many of them do not make it remember more.
    for port in 1..1000 {
        let anabranch_wire::Body::Tcp(segment) = &mut packet.body else { panic!("TCP") };
        segment.src_port = port;
        world.server.handle_input(now, &packet);
    }
    assert_eq!(world.server.end.outbox.len(), 16);
}

/// RFC 9293 §3.10.7.4: a segment out of the window, or one that does not acknowledge the
/// SYN, is no third ACK, and says nothing of options that are missing.
#[test]
fn a_stray_segment_does_not_end_a_handshake() {
    for (seq, ack) in [(1 << 30, 0), (0, 1 << 30)] {
        let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
        world.client.write(1000);
        // The first handshake, then the join, when their third ACKs are on the way.
        for (date, path) in [(25, B1), (65, B2)] {
            world.drive(at_ms(date));
            let third = world.log.iter().rfind(|line| {
                line.from == Side::Client && line.packet.dst == path && line.sent <= world.now
            });
            let mut packet = third.unwrap().packet.clone();
            let Body::Tcp(segment) = &mut packet.body else { panic!("TCP") };
            segment.payload = anabranch_wire::Payload::EMPTY;
            segment.options = anabranch_wire::TcpOptions::default();
            (segment.seq, segment.ack) = (segment.seq.add(seq), segment.ack.add(ack));
            let now = world.now;
            world.server.handle_input(now, &packet);
        }
        world.drive(at_ms(500));
        assert_eq!(world.server.end.phase(), Phase::Multipath, "{:#?}", trace(&world, 0, 500));
        assert_eq!(
            world.server.end.subflows.usable().count_ones(),
            2,
            "{:#?}",
            trace(&world, 0, 500)
        );
        assert_eq!(world.server.observe().bytes_received, 1000);
    }
}
