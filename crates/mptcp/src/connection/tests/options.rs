//! What options say and what their want says: mappings that cover more than their segment, ACKs that
//! lost their options, checksums that were not agreed on, options of segments that TCP drops.

use super::world::*;
use super::*;
use crate::{Key, PathManager};
use anabranch_testkit::{Fate, Side};
use anabranch_units::Serial32;
use anabranch_wire::tcp::mptcp::{AddAddr, Mapping, MptcpOption, RemoveAddr};
use anabranch_wire::{TcpFlags, TcpSegment};

fn strip(segment: &mut TcpSegment) {
    segment.options.remove_dss();
    if let Some(rare) = &mut segment.options.rare {
        rare.mptcp.clear();
    }
}

/// Changes the mapping of the n-th segment with one, from 1 on.
fn remap(mut change: impl FnMut(u32, &mut Mapping) + 'static) -> Box<dyn FnMut(&mut TcpSegment)> {
    let mut n = 0;
    Box::new(move |segment| {
        let Some(mut dss) = segment.options.dss() else { return };
        if let Some(mapping) = &mut dss.mapping {
            n += 1;
            change(n, mapping);
            segment.options.set_dss(&dss);
        }
    })
}

/// A client and a server with one path, which have exchanged data.
fn begun(config: Config) -> World<impl FnMut(Side, &Packet) -> Fate> {
    let mut world = world(config.clone(), config, &[A1], &[B1], |_, _| Fate::Deliver);
    world.client.write(500);
    world.drive(at_ms(100));
    world
}

/// The ACK that a side sent last, as if it were sent once more.
fn last_ack<F: FnMut(Side, &Packet) -> Fate>(world: &World<F>, of: Side) -> Packet {
    let acks = world.log.iter().rev().filter(|line| line.from == of);
    let is_ack = |packet: &&Packet| matches!(&packet.body, Body::Tcp(s) if s.payload.is_empty());
    acks.map(|line| &line.packet).find(is_ack).expect("an ACK").clone()
}

fn with(mut packet: Packet, change: impl FnOnce(&mut TcpSegment)) -> Packet {
    if let Body::Tcp(segment) = &mut packet.body {
        strip(segment);
        change(segment);
    }
    packet
}

/// RFC 8684 §3.3.1: a segment needs no mapping where one that came before covers it.
#[test]
fn data_without_options_counts_inside_a_known_mapping() {
    let mut world = begun(config());
    let mut n = 0;
    world.client.meddle = Box::new(move |segment| {
        if segment.payload.is_empty() {
            return;
        }
        n += 1;
        match (n, segment.options.dss()) {
            (1, Some(mut dss)) => {
                dss.mapping.as_mut().unwrap().len = 3000;
                segment.options.set_dss(&dss);
            }
            _ => strip(segment),
        }
    });
    world.client.write(3000);
    world.drive(at_ms(200));
    assert_eq!(world.server.observe().bytes_received, 3500);
    let phases = [world.client.end.phase(), world.server.end.phase()];
    assert_eq!(phases, [Phase::Multipath; 2]);
    assert_eq!(world.client.observe().bytes_acked, 3500, "and is acknowledged");
}

/// §3.3.2: ACKs without a DATA_ACK, or without any option, do no harm once one of data had a DATA_ACK.
#[test]
fn acks_that_lose_their_options_later_do_no_harm() {
    for own in [&[A1][..], &[A1, A2]] {
        let mut world = world(config(), config(), own, &[B1, B2], |_, _| Fate::Deliver);
        world.client.write(200_000);
        world.drive(at_ms(400));
        let mut n = 0;
        world.server.meddle = Box::new(move |segment| {
            n += 1;
            if n % 10 != 0 {
                strip(segment);
            }
        });
        world.client.write(2_000_000);
        world.client.close();
        world.drive(at_ms(60_000));
        assert_eq!(world.server.observe().bytes_received, 2_200_000, "{} paths", own.len());
        assert_eq!(world.server.end.phase(), Phase::Multipath);
        let all = trace(&world, 400, 60_000);
        let resets: Vec<_> = all.iter().filter(|line| line.contains(" R")).collect();
        assert_eq!(resets, [] as [&String; 0], "{} paths", own.len());
    }
}

/// §3.7: the first ACK of data without a DATA_ACK says that options do not come back. With one subflow
/// the connection is TCP, and a mapping without end with the next data tells the peer; no mapping
/// follows.
#[test]
fn the_first_ack_of_data_without_options_leaves_tcp_and_one_infinite_mapping() {
    let mut world = world(config(), config(), &[A1], &[B1], |_, _| Fate::Deliver);
    world.server.meddle = Box::new(|segment| {
        if !segment.flags.contains(TcpFlags::SYN) {
            strip(segment);
        }
    });
    world.client.write(500);
    world.drive(at_ms(100));
    assert_eq!(world.client.end.phase(), Phase::Fallback);
    assert_eq!(world.server.end.phase(), Phase::Multipath);
    world.client.write(500);
    world.drive(at_ms(200));
    world.client.write(500);
    world.server.write(700);
    world.drive(at_ms(300));
    let lines: Vec<_> =
        trace(&world, 0, 300).into_iter().filter(|line| line.contains("> . 500")).collect();
    assert_eq!(lines, ["20 1 > . 500 capable(keys, data)", "100 1 > . 500 map 0", "200 1 > . 500"]);
    assert_eq!(world.server.end.phase(), Phase::Fallback);
    assert_eq!(world.server.observe().bytes_received, 1500);
    assert_eq!(world.client.observe().bytes_received, 700);
}

/// ... and where no data follows the FIN has it.
#[test]
fn a_fin_signals_the_infinite_mapping_where_no_data_does() {
    let mut world = world(config(), config(), &[A1], &[B1], |_, _| Fate::Deliver);
    world.server.meddle = Box::new(|segment| {
        if !segment.flags.contains(TcpFlags::SYN) {
            strip(segment);
        }
    });
    world.client.write(500);
    world.drive(at_ms(100));
    world.client.close();
    world.drive(at_ms(200));
    world.server.close();
    let events = world.drive(at_ms(1_000_000));
    assert!(trace(&world, 100, 200).iter().any(|line| line == "100 1 > F. map 0"));
    let ends: Vec<_> = events.iter().filter(|e| matches!(e.2, Event::Closed(_))).collect();
    assert!(ends.iter().all(|e| e.2 == Event::Closed(CloseReason::Normal)), "{events:?}");
    assert_eq!(ends.len(), 2);
}

/// ... and later, where a single subflow has delivered all that it was given and no DATA_ACK comes, what its
/// ACKs have said is taken for the stream's.
#[test]
fn a_subflow_that_falls_mute_leaves_tcp() {
    let mut world = begun(config());
    world.server.meddle = Box::new(strip);
    world.client.write(500);
    world.drive(at_ms(200));
    assert_eq!(world.server.observe().bytes_received, 1000);
    assert_eq!(world.client.end.phase(), Phase::Multipath, "one ACK proves nothing");
    world.drive(at_ms(5000));
    assert_eq!(world.client.end.phase(), Phase::Fallback);
    assert_eq!(world.client.observe().bytes_acked, 1000);
    world.client.write(500);
    world.drive(at_ms(6000));
    assert_eq!(world.server.observe().bytes_received, 1500);
}

/// A join whose first ACK of data has no DATA_ACK is reset: something takes the options away (§3.7).
#[test]
fn a_join_whose_first_data_is_acknowledged_without_options_is_reset() {
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.drive(at_ms(10));
    world.server.meddle = Box::new(|_| {});
    world.client.write(1000);
    world.drive(at_ms(80));
    let second = world.server.end.subflows[1].tcp.sequence_number(0);
    world.server.meddle = Box::new(move |segment| {
        if segment.seq.distance_from(second).unsigned_abs() < 1_000_000 {
            strip(segment);
        }
    });
    world.client.write(100_000);
    world.drive(at_ms(140));
    let resets = trace(&world, 80, 140);
    assert!(resets.iter().any(|line| line.contains("2 > R. reason 6")), "{resets:#?}");
    assert_eq!(world.client.end.phase(), Phase::Multipath);
}

/// §3.3: a checksum that was not agreed on, and the want of one that was, cost the subflow.
#[test]
fn checksums_are_what_was_agreed_on() {
    for agreed in [false, true] {
        let mut world = begun(Config { checksum: agreed, ..config() });
        world.client.meddle = remap(move |_, mapping| {
            mapping.checksum = if agreed { None } else { Some(0) };
        });
        world.client.write(500);
        world.drive(at_ms(200));
        assert_eq!(world.server.observe().bytes_received, 500, "agreed: {agreed}");
        let resets = trace(&world, 100, 200);
        let reset = resets.iter().find(|line| line.contains("R.")).expect("a reset");
        assert_eq!(reset, "110 1 < R. reason 1");
        let of_server = world.log.iter().rev().find(|line| line.from == Side::Server).unwrap();
        let Body::Tcp(segment) = &of_server.packet.body else { panic!("TCP") };
        let reason = MptcpOption::TcpRst { transient: false, reason: 1 };
        assert_eq!(segment.options.mptcp(), [reason], "an error of Multipath TCP");
    }
}

/// §3.1: where the SYN/ACK asks for checksums and the SYN did not, the third segment says so, too.
#[test]
fn the_third_segment_has_the_flag_of_either_of_the_first_two() {
    let server = Config { checksum: true, ..config() };
    let mut world = world(config(), server, &[A1], &[B1], |_, _| Fate::Deliver);
    world.drive(at_ms(100));
    let flags: Vec<bool> = world
        .log
        .iter()
        .filter_map(|line| match &line.packet.body {
            Body::Tcp(segment) => match segment.options.mptcp() {
                [MptcpOption::Capable(capable)] => Some(capable.flags),
                _ => None,
            },
            _ => None,
        })
        .map(|flags| flags.contains(anabranch_wire::tcp::mptcp::CapableFlags::CHECKSUM))
        .collect();
    assert_eq!(flags, [false, true, true]);
}

/// §3, §3.4.2: a segment that TCP drops says nothing, wherever it lies.
#[test]
fn options_of_segments_that_tcp_drops_do_not_count() {
    let remove = MptcpOption::RemoveAddr(RemoveAddr::of(&[0]).unwrap());
    // TCP takes twice the receive buffer of 200,000 octets.
    for (seq, ack, counts) in [(0, 0, true), (-600, 0, false), (430_000, 0, false), (0, 5, false)] {
        let mut world = begun(config());
        world.server.write(1000);
        world.drive(at_ms(200));
        let tcp = &world.client.end.subflows[0].tcp;
        let next = tcp.received_number(tcp.read_offset());
        let forged = with(last_ack(&world, Side::Server), |segment| {
            segment.options.rare_mut().mptcp.push(remove);
            segment.seq = next.add(seq as u32);
            segment.ack = segment.ack.add(ack);
        });
        let now = world.now;
        world.client.handle_input(now, &forged);
        let alive = world.client.end.subflows.iter().filter(|subflow| subflow.is_open()).count();
        assert_eq!(alive == 0, counts, "at {seq}, ack {ack}");
    }
}

/// §4: no more than two ACKs in a row leave for the sake of options alone; the rest follow later, and
/// all are heard.
#[test]
fn many_announcements_are_no_row_of_duplicates() {
    let client = Config { path_manager: PathManager::Single, ..config() };
    let server = Config { path_manager: PathManager::Signal, ..config() };
    let peer: Vec<Addr> = (0..7).map(|n| Addr(1 + 2 * n)).collect();
    let mut world = world(client, server, &[A1], &peer, |_, _| Fate::Deliver);
    world.client.write(500);
    world.drive(at_ms(10_000));
    let mut row = (Time::ZERO, Serial32(0), 0);
    for line in world.log.iter().filter(|line| line.from == Side::Server) {
        let Body::Tcp(segment) = &line.packet.body else { panic!("TCP") };
        if segment.options.mptcp().is_empty() || segment.flags.contains(TcpFlags::SYN) {
            continue;
        }
        let count = if (row.0, row.1) == (line.sent, segment.ack) { row.2 + 1 } else { 1 };
        row = (line.sent, segment.ack, count);
        assert!(count <= 2, "{:#?}", trace(&world, 0, 10_000));
    }
    assert_eq!(world.client.end.paths.peer_count(), 7, "each was heard");
}

/// A valid ADD_ADDR of the server, on what `ack` looks like.
fn announcement(ack: Packet, keys: (Key, Key), id: u8, addr: Addr, port: Option<u16>) -> Packet {
    with(ack, |segment| {
        let ip = anabranch_wire::AddressBook::new().ip(addr).unwrap();
        let mac = Some(keys.0.address_mac(keys.1, id, ip, port));
        segment.options.rare_mut().mptcp.push(MptcpOption::AddAddr(AddAddr { id, ip, port, mac }));
    })
}

/// §3.4.1: without a port a join goes to the port of the subflow over which the ADD_ADDR came; a known
/// number with another port is joined there, too.
#[test]
fn joins_go_to_the_port_that_was_announced() {
    let server = Config { path_manager: PathManager::Single, ..config() };
    let client = Config { path_manager: PathManager::Signal, ..config() };
    let mut world = world(client, server, &[A1], &[B1, B2, Addr(5)], |_, _| Fate::Deliver);
    world.client.write(500);
    world.drive(at_ms(100));
    let keys = world.server.end.session.keys().unwrap();
    let first = last_ack(&world, Side::Server);
    let ports = |world: &World<_>| -> Vec<u16> {
        world.client.end.flow_keys().map(|key| key.dst_port).collect()
    };
    world.client.handle_input(at_ms(100), &announcement(first.clone(), keys, 1, B2, Some(81)));
    world.drive(at_ms(200));
    assert_eq!(ports(&world), [80, 81]);
    let second = last_ack(&world, Side::Server);
    assert_eq!(second.flow_key().src_port, 81);
    world.client.handle_input(at_ms(200), &announcement(second, keys, 2, Addr(5), None));
    world.drive(at_ms(300));
    assert_eq!(ports(&world), [80, 81, 81], "the port of the second subflow");
    world.client.handle_input(at_ms(300), &announcement(first, keys, 1, B2, Some(82)));
    world.drive(at_ms(400));
    assert_eq!(ports(&world), [80, 81, 81, 82]);
}

/// ... and a host may announce a port of its own with an address: joins go there, and the echo has it.
#[test]
fn an_address_may_be_announced_with_a_port() {
    let client = Config { path_manager: PathManager::Signal, ..config() };
    let server =
        Config { path_manager: PathManager::Signal, announced_ports: vec![(1, 8181)], ..config() };
    let mut world = world(client, server, &[A1], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(500);
    world.drive(at_ms(10_000));
    let ends: Vec<_> =
        world.server.end.flow_keys().map(|key| (key.src, key.src_port, key.dst)).collect();
    assert_eq!(ends, [(B1, 80, A1), (B2, 8181, A1)]);
    assert_eq!(world.server.end.subflows.usable().count_ones(), 2);
    let adds = trace(&world, 0, 10_000).iter().filter(|line| line.contains("< . add")).count();
    assert_eq!(adds, 1, "echoed");
}

/// §3.4: after the fallback nothing of addresses is said, and no ACK leaves for it.
#[test]
fn nothing_is_announced_after_the_fallback() {
    let client = Config { path_manager: PathManager::Single, ..config() };
    let server = Config { path_manager: PathManager::Signal, ..config() };
    let mut world = world(client, server, &[A1], &[B1, B2], |_, _| Fate::Deliver);
    world.client.meddle = Box::new(|segment| {
        // The keys arrive on an ACK, but no echo and no mapping.
        let is_data = !segment.payload.is_empty();
        segment.options.remove_dss();
        if !segment.flags.contains(TcpFlags::SYN)
            && let Some(rare) = &mut segment.options.rare
        {
            rare.mptcp.retain(|option| matches!(option, MptcpOption::Capable(_)) && !is_data);
        }
    });
    world.server.meddle = Box::new(|segment| segment.options.remove_dss());
    world.client.write(500);
    world.drive(at_ms(100));
    world.client.write(500);
    world.drive(at_ms(900));
    assert_eq!(world.server.end.phase(), Phase::Fallback);
    assert_eq!(trace(&world, 900, 60_000), [] as [String; 0]);
    world.drive(at_ms(60_000));
    assert_eq!(trace(&world, 900, 60_000), [] as [String; 0]);
}

/// §3.3.5: a window that a box shrinks on one subflow holds there, and the largest for the data.
#[test]
fn each_subflow_keeps_to_its_own_window() {
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(1000);
    world.drive(at_ms(100));
    let second = world.server.end.subflows[1].tcp.sequence_number(0);
    let shift = world.server.end.subflows[1].tcp.window_shifts().0;
    world.server.meddle = Box::new(move |segment| {
        if segment.seq.distance_from(second).unsigned_abs() < 1_000_000 {
            segment.window = segment.window.min(3000 >> shift);
        }
    });
    world.drive(at_ms(101));
    world.client.write(500);
    world.drive(at_ms(200));
    // Its window is known from its next ACK on.
    world.client.write(3_000_000);
    world.client.close();
    let mut most = [0, 0];
    while world.step(at_ms(60_000)) {
        for (most, subflow) in most.iter_mut().zip(world.client.end.subflows.iter()) {
            let (una, end) = subflow.tcp.outstanding();
            *most = (*most).max(end.saturating_sub(una));
        }
        let server = &mut world.server;
        server.read(u64::MAX);
    }
    assert_eq!(world.client.observe().bytes_acked, 3_001_500);
    assert!(most[0] > 100_000, "{most:?}");
    // What was on its way when the first small window came may be more.
    assert!(most[1] <= 20_000, "{most:?}");
}

/// ... and where the windows of all subflows were shut, the peer is asked until they open.
#[test]
fn subflows_whose_own_windows_were_shut_are_asked() {
    let mut world = begun(config());
    world.server.meddle = Box::new(|segment| segment.window = 0);
    world.client.write(2000);
    world.drive(at_ms(200));
    assert_eq!(world.server.observe().bytes_received, 2500);
    world.client.write(2000);
    world.drive(at_ms(5000));
    assert_eq!(world.server.observe().bytes_received, 2500, "its own window is closed");
    assert!(world.client.end.sender.window_left() > 100_000, "that of the data is not");
    world.server.meddle = Box::new(|_| {});
    world.drive(at_ms(20_000));
    assert_eq!(world.server.observe().bytes_received, 4500);
}

/// ... also where a backup has heard of a window that the subflow in use has not.
#[test]
fn a_window_that_only_a_backup_has_heard_of_is_asked_for() {
    let config = Config { path_manager: PathManager::Backup, ..config() };
    let config = Config {
        subflow: anabranch_tcp::Config { receive_buffer: 2500, ..config.subflow },
        ..config
    };
    let reads = std::cell::Cell::new(false);
    let mut lost = 0;
    let mut world = world(config.clone(), config, &[A1, A2], &[B1], |side, packet| {
        // The first that opens the window of the first subflow.
        let first = side == Side::Server && packet.dst == A1 && reads.get() && lost == 0;
        lost += first as u32;
        if first { Fate::Drop } else { Fate::Deliver }
    });
    world.client.write(5000);
    while world.step(at_ms(300)) {}
    assert_eq!(world.client.end.subflows.usable().count_ones(), 2);
    reads.set(true);
    world.drive(at_ms(10_000));
    assert_eq!(world.server.observe().bytes_received, 5000);
}

/// ... but where a subflow's own window is open, nothing is told: all that it could say has been said.
#[test]
fn an_idle_subflow_does_not_repeat_that_the_window_is_open() {
    let config = Config { path_manager: PathManager::Backup, ..config() };
    let config = Config {
        subflow: anabranch_tcp::Config { receive_buffer: 1000, ..config.subflow },
        ..config
    };
    let mut world = world(config.clone(), config, &[A1, A2], &[B1], |_, _| Fate::Deliver);
    world.client.write(500);
    world.drive(at_ms(200));
    assert_eq!(world.client.end.subflows.usable().count_ones(), 2);

    world.client.write(50_000);
    world.drive(at_ms(20_000));
    assert_eq!(world.server.observe().bytes_received, 50_500);
    let acks_to = |addr| {
        let later = world.log.iter().filter(|line| line.sent >= at_ms(200));
        later.filter(|line| line.packet.dst == addr).count()
    };
    assert!(acks_to(A1) >= 50);
    assert_eq!(acks_to(A2), 0);
}

/// §3.3.1: at a rate at which 32 bits wrap within two minutes numbers have 64, and segments still fit.
#[test]
fn a_fast_stream_has_long_numbers() {
    let mut config = config();
    config.subflow.mss = 60_020;
    config.subflow.receive_buffer = 30_000_000;
    let mut world = world(config.clone(), config, &[A1], &[B1], |_, packet| {
        if packet.wire_len().0 > 60_060 { Fate::Drop } else { Fate::Deliver }
    });
    world.logging = false;
    world.client.write(400_000_000);
    while world.step(at_ms(60_000)) && !world.client.end.sender.is_long() {
        world.server.read(u64::MAX);
    }
    assert!(world.client.end.sender.is_long());
    assert!(world.client.observe().bytes_acked >= 1 << 28);
    world.logging = true;
    while world.step(at_ms(60_000)) {
        world.server.read(u64::MAX);
    }
    assert_eq!(world.server.observe().bytes_received, 400_000_000);
    let numbers = world.log.iter().filter(|line| line.from == Side::Client).filter_map(|line| {
        let Body::Tcp(segment) = &line.packet.body else { return None };
        segment.options.dss()?.mapping.map(|mapping| mapping.dsn)
    });
    let mut count = 0;
    for number in numbers {
        assert!(matches!(number, anabranch_wire::tcp::mptcp::DataNumber::Long(_)));
        count += 1;
    }
    assert!(count > 100);
}
