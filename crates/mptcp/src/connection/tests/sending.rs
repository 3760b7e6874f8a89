//! Data over two subflows.

use super::world::trace;
use super::*;
use crate::SchedulerKind;
use anabranch_testkit::{Fate, Line};
use anabranch_wire::Body;

/// Octets of data that left on the second path, sent again or not.
fn on_second<F: FnMut(anabranch_testkit::Side, &Packet) -> Fate>(world: &World<F>) -> u64 {
    let lines = world.log.iter().filter(|line| line.packet.src == A2);
    lines.map(|line| line.packet.payload_len() as u64).sum()
}

/// Every scheduler delivers the stream once and in order, over both paths.
#[test]
fn both_paths_carry_the_stream() {
    for info in crate::scheduler::SCHEDULERS {
        for checksum in [false, true] {
            for long_numbers in [false, true] {
                let scheduler = SchedulerKind::from_name(info.name).unwrap();
                let config = Config { scheduler, checksum, long_numbers, ..config() };
                let mut world =
                    world(config.clone(), config, &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
                world.client.write(2_000_000);
                world.client.close();
                world.drive(at_ms(20_000));
                let server = world.server.observe();
                assert_eq!(server.bytes_received, 2_000_000, "{}", info.name);
                assert_eq!(world.client.observe().bytes_acked, 2_000_000, "{}", info.name);
                let second = on_second(&world);
                assert!(second > 100_000, "{}: {second} octets on path 2", info.name);
                if info.name != "redundant" {
                    let counters = world.client.end.counters();
                    assert_eq!(counters.reinjected, counters.opportunistic, "{}", info.name);
                }
            }
        }
    }
}

/// Under Linux's scheduler what was given to a subflow waits in it for its window: 64 kB here, of which ten segments
/// have left. Nagle's algorithm is that of the subflow.
#[test]
fn data_waits_in_a_subflow_for_its_window() {
    let config = Config { scheduler: SchedulerKind::Linux, nagle: true, ..config() };
    let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.drive(at_ms(100));
    world.client.write(65_536 + 500);
    world.drive(at_ms(105));
    world.client.write(300);
    world.drive(at_ms(106));
    let given = |subflow: &crate::subflow::Subflow| {
        subflow.sent.iter().map(|unit| (unit.data, unit.len)).collect::<Vec<_>>()
    };
    let given: Vec<_> = world.client.end.subflows.iter().map(given).collect();
    // What has begun to leave is not made longer.
    assert_eq!(given, [vec![(1, 65_536)], vec![(65_537, 500), (66_037, 300)]]);
    let in_flight: Vec<u64> = world.client.end.subflows().map(|path| path.in_flight).collect();
    assert_eq!(in_flight, [10_000, 500]);
    world.drive(at_ms(1000));
    let small = world.log.iter().filter(|line| (1..980).contains(&line.packet.payload_len()));
    let small: Vec<String> = small.map(world::show).collect();
    let expected =
        ["100 2 > . 500 ack map 500", "120 2 > . 300 ack map 300", "140 1 > . 536 ack map 536"];
    assert_eq!(small, expected);
    assert_eq!(world.server.observe().bytes_received, 66_336);
}

/// Both paths have been open for long, and the second has a round trip of 80 ms in place of 20: 60 segments are written
/// at 400 ms, from data offset 1001 on.
fn written_over_unequal_paths(
    scheduler: SchedulerKind,
) -> World<impl FnMut(anabranch_testkit::Side, &Packet) -> Fate> {
    let config = Config { scheduler, ..config() };
    let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], |_, packet: &Packet| {
        let second = packet.src == A2 || packet.dst == A2;
        if second { Fate::Delay(Span::from_millis(30)) } else { Fate::Deliver }
    });
    world.drive(at_ms(200));
    world.client.write(1000);
    world.drive(at_ms(400));
    world.client.write(60_000);
    world.drive(at_ms(400));
    world
}

/// OTIAS: the n-th segment of the first path would arrive after 10 ms up to the 11th, and then each 2 ms later; that of
/// the second after 40 ms, and from the 12th on each 8 ms later. So the first has 26 segments when the second gets its
/// first eleven, and 45 in the end. They wait for the subflows' windows of ten.
#[test]
fn otias_gives_all_segments_out_by_their_arrival() {
    let world = written_over_unequal_paths(SchedulerKind::Otias);
    // All octets, and the first range in one piece.
    let given = |subflow: &crate::subflow::Subflow| {
        let mut ranges = subflow.sent.iter().map(|unit| unit.data_range());
        let (mut first, mut all) = (ranges.next().unwrap(), 0);
        for range in ranges {
            all += range.len();
            first.end = if range.start == first.end { range.end } else { first.end };
        }
        (first.start, first.len(), all + 1000)
    };
    let given: Vec<_> = world.client.end.subflows.iter().map(given).collect();
    assert_eq!(given, [(1001, 26_000, 45_000), (27_001, 11_000, 15_000)]);
    let in_flight: Vec<u64> = world.client.end.subflows().map(|path| path.in_flight).collect();
    assert_eq!(in_flight, [10_000, 10_000]);
    assert_eq!(world.client.end.sender.unsent(), 0);
}

/// STTF: the first path sends 10 segments at once and 20 a round trip later, which arrive after 30 ms; so the second,
/// where a segment takes 40 ms, sends the 31st to the 40th at once. What is left leaves on the first in the round after,
/// and everything arrives in order.
#[test]
fn sttf_sends_ahead_what_arrives_in_order() {
    let mut world = written_over_unequal_paths(SchedulerKind::Sttf);
    let sent = |subflow: &crate::subflow::Subflow| {
        subflow.sent.iter().map(|unit| (unit.data, unit.len)).collect::<Vec<_>>()
    };
    let given: Vec<_> = world.client.end.subflows.iter().map(sent).collect();
    assert_eq!(given, [vec![(1001, 10_000)], vec![(31_001, 10_000)]]);
    let sender = &world.client.end.sender;
    assert_eq!(
        (sender.skipped(), sender.unsent(), sender.unacknowledged()),
        (20_000, 40_000, 20_000)
    );
    // All that has come has come in order.
    let mut received = |ms| {
        while world.step(at_ms(ms)) {}
        let received = world.server.observe().bytes_received;
        assert_eq!(world.server.end.receiver.held(), received, "at {ms} ms");
        received
    };
    assert_eq!([415, 435, 445, 455].map(&mut received), [11_000, 31_000, 41_000, 61_000]);
}

/// A subflow's window grows as if it were alone (RFC 7661 §4.1 does not forbid
/// it, although each segment is given to it on its own).
#[test]
fn windows_grow_as_with_a_stream_of_their_own() {
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(200_000);
    world.drive(at_ms(150));
    // From 100 ms on both subflows carry data; the first has been in slow start
    // since 20 ms, four and more round trips.
    let windows: Vec<u64> = world.client.end.subflows().map(|path| path.cwnd / 1000).collect();
    assert!(windows[0] >= 40, "{windows:?}");
    assert!(windows[1] >= 15, "{windows:?}");
}

/// The DATA_FIN rides on the last data, or on an ACK when there is none left (§3.3.3). The first data
/// carries the keys in any case (§3.1), and no DATA_FIN.
#[test]
fn the_stream_ends_with_or_after_its_data() {
    for later in [false, true] {
        let mut world = world(config(), config(), &[A1], &[B1], |_, _| Fate::Deliver);
        world.drive(at_ms(100));
        world.client.write(500);
        if later {
            world.drive(at_ms(300));
        }
        world.client.close();
        world.drive(at_ms(350));
        let all = trace(&world, 100, 350);
        let expected: &[&str] = match later {
            false => &[
                "100 1 > . 500 capable(keys, data)",
                "110 1 < . ack",
                "120 1 > . ack map 1 fin",
                "130 1 < . ack",
            ],
            true => &[
                "100 1 > . 500 capable(keys, data)",
                "110 1 < . ack",
                "300 1 > . ack map 1 fin",
                "310 1 < . ack",
            ],
        };
        assert_eq!(all, expected, "later: {later}");
        assert!(world.server.end.receiver.has_ended());
        assert!(world.client.end.sender.is_done());
    }
}

/// §3.3.5: the receive window is that of the stream; while it is closed the peer
/// is probed.
#[test]
fn one_window_for_all_subflows() {
    let mut config = config();
    config.subflow.receive_buffer = 20_000;
    let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(100_000);
    // Nobody reads: twenty segments arrive.
    while world.step(at_ms(3000)) {}
    assert_eq!(world.server.observe().bytes_received, 20_000);
    assert_eq!(world.client.end.sender.window_left(), 0);
    let probes = trace(&world, 500, 3000);
    assert!((2..20).contains(&probes.len()), "{probes:?}");
    world.drive(at_ms(20_000));
    assert_eq!(world.server.observe().bytes_received, 100_000);
}

/// Both directions at once, with real octets.
#[test]
fn real_octets_both_ways() {
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.drive(at_ms(100));
    let text: Vec<u8> = (0..150_000_u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    assert_eq!(world.client.write_octets(&text), text.len());
    assert_eq!(world.server.write_octets(&text), text.len());
    while world.step(at_ms(5000)) {}
    for end in [&mut world.client, &mut world.server] {
        let mut read = vec![0; 400_000];
        assert_eq!(end.read_octets(&mut read), text.len());
        assert!(read[..text.len()] == text);
    }
}

/// Counted octets take a shorter way where one subflow alone has room
/// ([`Connection::only_taker`]); real ones never do. Both send the same packets at
/// the same dates, whatever is lost.
#[test]
fn counted_octets_leave_as_real_ones_do() {
    use anabranch_tcp::recovery::{Pipe, Recovery};
    let packets = |config: &Config, lost: u64, real: bool| {
        let mut n = 0;
        let drops = move |_, packet: &Packet| {
            let data = packet.payload_len() > 0;
            n += data as u64;
            if data && lost > 0 && n % lost == 0 { Fate::Drop } else { Fate::Deliver }
        };
        let mut world = world(config.clone(), config.clone(), &[A1, A2], &[B1, B2], drops);
        let text = vec![0; 1_500_000];
        match real {
            true => assert_eq!(world.client.write_octets(&text), text.len()),
            false => assert_eq!(world.client.write(1_500_000), 1_500_000),
        }
        world.client.close();
        world.drive(at_ms(8000));
        assert_eq!(world.server.observe().bytes_received, 1_500_000);
        let shown = |line: &anabranch_testkit::Line| match &line.packet.body {
            anabranch_wire::Body::Tcp(segment) => (
                (
                    line.sent,
                    line.packet.src,
                    segment.seq,
                    segment.ack,
                    segment.flags,
                    segment.window,
                ),
                (segment.options.clone(), segment.payload.len()),
            ),
            other => panic!("{other:?}"),
        };
        world.log.iter().map(shown).collect::<Vec<_>>()
    };
    let schemes =
        [Recovery::Sack { pipe: Pipe::Rfc6675, prr: false }, Recovery::from_name("rack").unwrap()];
    for info in crate::scheduler::SCHEDULERS {
        for (lost, recovery) in [0, 89, 23].into_iter().zip(schemes.iter().cycle()) {
            let mut config = config();
            config.scheduler = SchedulerKind::from_name(info.name).unwrap();
            config.subflow.recovery = recovery.clone();
            config.subflow.send_buffer = 4_000_000;
            config.subflow.delayed_ack.count = 2;
            let (counted, real) = (packets(&config, lost, false), packets(&config, lost, true));
            let first = counted.iter().zip(&real).position(|(a, b)| a != b);
            assert_eq!(first.map(|at| (&counted[at], &real[at])), None, "{} {lost}", info.name);
            assert_eq!(counted.len(), real.len(), "{} {lost}", info.name);
        }
    }
}

/// RFC 9293 §3.9.1.2, as Linux: PSH ends what the user has written, on whichever
/// subflow that leaves, not every segment that a subflow is given.
#[test]
fn psh_ends_a_write() {
    use anabranch_wire::{Body, TcpFlags};
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(1);
    world.drive(at_ms(200));
    world.client.write(12_500);
    world.drive(at_ms(400));
    world.client.write(300);
    world.drive(at_ms(600));
    world.client.close();
    world.drive(at_ms(800));
    let data = world.log.iter().filter_map(|line| match &line.packet.body {
        Body::Tcp(segment) if line.sent >= at_ms(200) && segment.options.dss().is_some() => {
            let sent = line.from == anabranch_testkit::Side::Client;
            let path = if line.packet.src == A1 { 1 } else { 2 };
            let push = if segment.flags.contains(TcpFlags::PSH) { "P" } else { "" };
            let what = format!("{} {path} {push} {}", line.sent.as_millis(), segment.payload.len());
            (sent && !segment.payload.is_empty()).then_some(what)
        }
        _ => None,
    });
    let mut expected: Vec<_> = (0..10).map(|_| "200 1  1000".to_string()).collect();
    expected.extend(["200 2  1000", "200 2  1000", "200 2 P 500", "400 1 P 300"].map(String::from));
    assert_eq!(data.collect::<Vec<_>>(), expected);
}

/// Counted octets have ways of their own through the code, real ones take those of every
/// segment: on the wire they do not differ, whatever is lost, late or there twice.
#[test]
fn counted_and_real_octets_look_alike_on_the_wire() {
    let run = |real: bool| {
        let mut n = 0;
        let rule = move |_, _: &Packet| {
            n += 1;
            match n % 97 {
                13 | 14 | 60 => Fate::Drop,
                31 | 79 => Fate::Delay(Span::from_millis(7)),
                47 => Fate::Duplicate(Span::from_millis(3)),
                _ => Fate::Deliver,
            }
        };
        let mut world = world(config(), config(), &[A1, A2], &[B1, B2], rule);
        world.drive(at_ms(100));
        let octets = vec![7; 600_000];
        match real {
            true => assert_eq!(world.client.write_octets(&octets), octets.len()),
            false => assert_eq!(world.client.write(octets.len() as u64), octets.len() as u64),
        }
        world.drive(at_ms(60_000));
        assert_eq!(world.server.observe().bytes_received, octets.len() as u64);
        let fields = |line: &Line| {
            let Body::Tcp(segment) = &line.packet.body else { panic!("all is TCP") };
            let fields =
                (segment.seq, segment.ack, segment.window, segment.flags, segment.payload.len());
            (line.sent, line.packet.flow_key(), fields, segment.options.clone())
        };
        let lines: Vec<_> = world.log.iter().map(fields).collect();
        let brought = |end: &Connection| end.subflows().map(|path| path.bytes_received).collect();
        let brought: Vec<_> = brought(&world.server.end);
        (lines, brought)
    };
    let (counted, real) = (run(false), run(true));
    assert!(counted.0.len() > 1000);
    assert_eq!(counted.1, real.1);
    for (one, other) in counted.0.iter().zip(&real.0) {
        assert_eq!(one, other);
    }
}
