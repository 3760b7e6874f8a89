//! What lies between the hosts: options taken away, payload changed.

use super::world::trace;
use super::*;
use crate::PathManager;
use anabranch_testkit::{Fate, Side};
use anabranch_wire::{Payload, TcpFlags, TcpSegment};

fn strip(segment: &mut TcpSegment) {
    segment.options.remove_dss();
    if let Some(rare) = &mut segment.options.rare {
        rare.mptcp.clear();
    }
}

type Meddle = Box<dyn FnMut(&mut TcpSegment)>;

/// A transfer both ways of real octets; what each side read, and the phases.
fn transfer(
    client: Meddle,
    server: Meddle,
    own: &[Addr],
    checksum: bool,
) -> (Vec<Vec<u8>>, [Phase; 2]) {
    let config = Config { checksum, ..config() };
    let mut world = world(config.clone(), config, own, &[B1, B2], |_, _| Fate::Deliver);
    (world.client.meddle, world.server.meddle) = (client, server);
    world.logging = false;
    let text: Vec<u8> = (0..60_000_u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    let mut read = vec![Vec::new(), Vec::new()];
    world.client.write_octets(&text);
    let mut answered = false;
    while world.step(at_ms(100_000)) {
        if !answered && world.server.observe().bytes_received > 20_000 {
            answered = true;
            world.server.write_octets(&text);
            world.server.close();
            world.client.close();
        }
        for (side, read) in [Side::Client, Side::Server].into_iter().zip(&mut read) {
            let mut buf = [0; 10_000];
            let n = world.end(side).read_octets(&mut buf);
            read.extend(&buf[..n]);
        }
    }
    let phases = [world.client.end.phase(), world.server.end.phase()];
    for read in &mut read {
        let same = *read == text;
        read.truncate(if same { 0 } else { read.len() });
    }
    (read, phases)
}

/// The n-th to the last segment with or without data lose their options.
fn strip_from(n: u32) -> Meddle {
    let mut count = 0;
    Box::new(move |segment| {
        count += 1;
        if count >= n {
            strip(segment);
        }
    })
}

fn nothing() -> Meddle {
    Box::new(|_| {})
}

/// RFC 8684 §3.1 and §3.7: whichever segments of the handshake lose their
/// options, the connection is TCP, and no octet is lost.
#[test]
fn options_that_are_taken_away_leave_tcp() {
    let syns = || -> Meddle {
        Box::new(|segment| {
            if segment.flags.contains(TcpFlags::SYN) {
                strip(segment)
            }
        })
    };
    for (client, server) in [
        (syns(), nothing()),
        (nothing(), syns()),
        (strip_from(1), strip_from(1)),
        (strip_from(2), nothing()),
        (nothing(), strip_from(2)),
        (strip_from(2), strip_from(2)),
    ] {
        let (wrong, phases) = transfer(client, server, &[A1, A2], false);
        assert!(wrong.iter().all(Vec::is_empty));
        assert_eq!(phases, [Phase::Fallback; 2]);
    }
}

/// The same of the first data, and of what follows it: nothing has come before, so that it is the stream.
#[test]
fn data_without_options_from_the_first_on_leaves_tcp() {
    for both in [true, false] {
        let other = if both { strip_from(3) } else { nothing() };
        let (wrong, phases) = transfer(strip_from(3), other, &[A1], false);
        assert!(wrong.iter().all(Vec::is_empty), "both: {both}");
        assert_eq!(phases, [Phase::Fallback; 2]);
    }
}

/// ACKs without options tell their receiver, who knows what it has sent and says by an infinite mapping that it
/// is the stream from then on. The server, whose own options pass, has begun nothing.
#[test]
fn acks_without_options_later_leave_tcp() {
    for n in 2..12 {
        let mut world = world(config(), config(), &[A1], &[B1], |_, _| Fate::Deliver);
        world.server.meddle = strip_from(n);
        world.logging = false;
        world.client.write(30_000);
        world.drive(at_ms(10_000));
        world.client.write(30_000);
        world.client.close();
        world.server.close();
        world.drive(at_ms(1_000_000));
        assert_eq!(world.server.observe().bytes_received, 60_000, "from {n} on");
    }
}

/// §3.7: octets without a mapping that come after others may be a repetition of these, which no receiver can
/// tell. The subflow is broken and is reset; nobody reads a wrong octet.
#[test]
fn data_that_loses_its_options_later_resets_the_subflow() {
    let text: Vec<u8> = (0..60_000_u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    for n in 4..40 {
        for both in [true, false] {
            let other = if both { strip_from(n) } else { nothing() };
            let (read, _) = transfer(strip_from(n), other, &[A1], false);
            assert!(read.iter().all(|read| text.starts_with(read)), "from {n} on, both: {both}");
            assert!(!read[1].is_empty(), "from {n} on, both: {both}: all of it came");
        }
    }
    let mut world = world(config(), config(), &[A1], &[B1], |_, _| Fate::Deliver);
    world.client.meddle = strip_from(4);
    world.client.write(500);
    world.drive(at_ms(100));
    world.client.write(500);
    world.drive(at_ms(200));
    let resets = trace(&world, 100, 200);
    assert_eq!(resets, ["100 1 > . 500", "110 1 < R. reason 6"], "middlebox interference");
    assert_eq!(world.server.observe().bytes_received, 500);
}

/// The segment after which nothing is Multipath TCP acknowledges, too, and has a window. With buffers
/// of about a segment nobody else would ever tell.
#[test]
fn what_the_first_segment_of_tcp_acknowledges_counts() {
    for (send_buffer, receive_buffer, size) in [
        (1, 4000, 40),
        (1000, 4000, 24_000),
        (1500, 4000, 24_000),
        (4000, 1001, 12_000),
        (4000, 1100, 12_000),
        (1000, 1000, 12_000),
    ] {
        for (n, checksum) in (3..24).flat_map(|n| [(n, false), (n, true)]) {
            let mut config = Config { checksum, ..config() };
            config.subflow.send_buffer = send_buffer;
            config.subflow.receive_buffer = receive_buffer;
            let mut world = world(config.clone(), config, &[A1], &[B1], |_, _| Fate::Deliver);
            world.server.meddle = strip_from(n);
            let (mut written, mut read) = (0, 0);
            world.logging = false;
            while read < size {
                let rest = (size as usize - written).min(4000);
                written += world.client.write_octets(&[7; 4000][..rest]);
                if !world.step(at_ms(100_000)) {
                    break;
                }
                read += world.server.read(u64::MAX);
            }
            let of = format!("buffers {send_buffer}, {receive_buffer}, from {n}, {checksum}");
            assert_eq!(read, size, "{of}");
        }
    }
}

/// An ADD_ADDR too long to have a DATA_ACK beside it acknowledges the subflow's octets alone; what
/// tells of their data is lost for a while, and the options the other way vanish. Whoever sent the
/// data again at offsets of its own, on the subflow that has carried it, would have it read twice.
#[test]
fn what_the_only_subflow_has_delivered_is_not_sent_on_it_again_until_mappings_are_known_to_pass() {
    let client = Config { path_manager: PathManager::Single, ..config() };
    let server = Config { path_manager: PathManager::Signal, ..config() };
    let mut world = world(client, server, &[A1], &[B1, B2], |_, _| Fate::Deliver);
    world.client.meddle = strip_from(4);
    let mut announced = None;
    let mut count = 0;
    world.server.meddle = Box::new(move |segment| {
        count += 1;
        // The first twenty segments are the announcement, sent again and again.
        segment.options.remove_dss();
        if !segment.flags.contains(TcpFlags::SYN) {
            announced = announced.take().or_else(|| segment.options.rare.clone());
        }
        if !segment.flags.contains(TcpFlags::SYN) && count <= 20 {
            segment.options.rare = announced.clone();
        }
    });
    let text: Vec<u8> = (0..400_u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    world.client.write_octets(&text);
    let mut read: Vec<u8> = Vec::new();
    while world.step(at_ms(60_000)) {
        let mut buf = [0; 1000];
        let n = world.server.read_octets(&mut buf);
        read.extend(&buf[..n]);
    }
    assert!(read == text, "{} octets", read.len());
}

/// §3.7: fallback is for a first subflow that has been alone. With two, unmapped octets of the last
/// that is left may follow something that the other carried, and are never taken for the next.
#[test]
fn options_that_vanish_from_two_subflows_leave_no_wrong_octets() {
    let text: Vec<u8> = (0..60_000_u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    for n in 3..60 {
        let (read, _) = transfer(strip_from(n), strip_from(n), &[A1, A2], false);
        for (side, read) in read.iter().enumerate() {
            assert!(text.starts_with(read), "from {n} on, side {side}: {} octets", read.len());
        }
    }
}

/// Without a subflow that works the connection ends after a while, and says so, whatever attempts
/// to open another are on their way.
#[test]
fn attempts_to_join_do_not_keep_a_connection() {
    let down = std::cell::Cell::new(false);
    let rule = |_, _: &Packet| if down.get() { Fate::Drop } else { Fate::Deliver };
    let mut config = config();
    config.subflow.max_retries = 2;
    config.path_manager = crate::PathManager::NDiffports(2);
    let mut world = world(config.clone(), config, &[A1], &[B1], rule);
    world.client.write(1000);
    // The second subflow has just been asked for.
    world.drive(at_ms(45));
    down.set(true);
    world.client.write(1000);
    let events = world.drive(at_ms(1_000_000));
    let end = events.last().map(|event| (event.1, event.2));
    assert_eq!(end, Some((Side::Client, Event::Closed(CloseReason::TimedOut))));
}

/// With two subflows the one that is meddled with is reset.
#[test]
fn a_subflow_without_options_is_reset() {
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(50_000);
    world.drive(at_ms(200));
    world.client.meddle = Box::new(|segment| {
        if segment.src_port == 1000
            && !segment.payload.is_empty()
            && segment.options.dss().is_some()
        {
            // One path only: that of the lower address, told by its window of ids.
            strip(segment);
        }
    });
    let only_first = world.client.end.subflows[0].key();
    let second = world.client.end.subflows[1].tcp.sequence_number(0);
    world.client.meddle = Box::new(move |segment| {
        // Sequence numbers tell the subflows apart.
        let of_second = segment.seq.distance_from(second).unsigned_abs() < 10_000_000;
        if !of_second {
            strip(segment);
        }
    });
    world.client.write(5_000_000);
    world.client.close();
    world.drive(at_ms(700));
    assert_eq!(world.server.end.phase(), Phase::Multipath);
    assert!(!world.server.end.flow_keys().any(|key| key == only_first.reversed()));
    let reasons = trace(&world, 200, 700);
    assert!(reasons.iter().any(|line| line.contains("1 < R. reason 6")), "{reasons:?}");
    world.client.meddle = nothing();
    world.drive(at_ms(20_000));
    assert_eq!(world.server.observe().bytes_received, 5_050_000);
}

/// §3.7: the payload is changed. With one subflow the checksum finds it, MP_FAIL
/// and an infinite mapping follow, and the stream goes on with what arrives, as
/// TCP would; without checksums nobody sees it.
#[test]
fn a_wrong_checksum_leaves_tcp() {
    let change = |n: u32| -> Meddle {
        let mut count = 0;
        Box::new(move |segment| {
            if let Some(octets) = segment.payload.octets() {
                count += 1;
                if count == n {
                    let mut octets = octets.to_vec();
                    octets[3] ^= 0xff;
                    segment.payload = Payload::of_octets(octets);
                }
            }
        })
    };
    for n in [1, 2, 10, 30] {
        for checksum in [true, false] {
            let (read, phases) = transfer(change(n), nothing(), &[A1], checksum);
            assert!(read[0].is_empty());
            assert_eq!(read[1].len(), 60_000, "all of it arrives, one octet changed");
            let phase = if checksum { Phase::Fallback } else { Phase::Multipath };
            assert_eq!(phases, [phase; 2], "data segment {n}, checksum: {checksum}");
        }
    }
}

/// ... with two subflows the subflow is reset with MP_FAIL, and what was changed
/// comes again over the other.
#[test]
fn a_wrong_checksum_costs_one_of_two_subflows() {
    let config = Config { checksum: true, ..config() };
    let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.drive(at_ms(50));
    let text: Vec<u8> = (0..3_000_000_u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    let mut count = 0;
    world.client.meddle = Box::new(move |segment| {
        if let Some(octets) = segment.payload.octets() {
            count += 1;
            if count == 300 {
                let mut octets = octets.to_vec();
                octets[3] ^= 0xff;
                segment.payload = Payload::of_octets(octets);
            }
        }
    });
    world.client.write_octets(&text);
    world.client.close();
    let mut read: Vec<u8> = Vec::new();
    while world.step(at_ms(10_000)) {
        let mut buf = [0; 10_000];
        let n = world.server.read_octets(&mut buf);
        read.extend(&buf[..n]);
    }
    assert!(read == text);
    assert_eq!(world.server.end.counters().bad_checksums, 1);
    let all = trace(&world, 0, 10_000);
    assert!(all.iter().any(|line| line.contains("R. fail")));
}

/// A middlebox that counts sequence numbers otherwise changes nothing: mappings
/// are relative to the SYN.
#[test]
fn rewritten_sequence_numbers_do_no_harm() {
    let mut world = world(config(), config(), &[A1], &[B1], |_, _| Fate::Deliver);
    let shift = 123_456_789;
    world.client.meddle = Box::new(move |segment| segment.seq = segment.seq.add(shift));
    world.server.meddle =
        Box::new(move |segment| segment.ack = segment.ack.add(0_u32.wrapping_sub(shift)));
    world.client.write(100_000);
    world.drive(at_ms(2000));
    assert_eq!(world.server.observe().bytes_received, 100_000);
    assert_eq!(world.server.end.phase(), Phase::Multipath);
}

/// A peer that speaks TCP alone.
#[test]
fn tcp_answers_tcp() {
    let plain = Config { enabled: false, ..config() };
    for (a, b) in [(plain.clone(), config()), (config(), plain)] {
        let mut world = world(a, b, &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
        world.client.write(100_000);
        world.client.close();
        world.drive(at_ms(1000));
        world.server.close();
        let events = world.drive(at_ms(100_000));
        assert_eq!(world.server.observe().bytes_received, 100_000);
        let closed =
            events.iter().filter(|event| matches!(event.2, Event::Closed(CloseReason::Normal)));
        assert_eq!(closed.count(), 2);
        assert_eq!(world.client.end.phase(), Phase::Fallback);
    }
}

/// SYNs with MP_CAPABLE that are dropped: one without it gets through.
#[test]
fn syns_that_are_dropped_for_their_option_give_way() {
    let mut world = world(config(), config(), &[A1], &[B1], |_, packet| {
        let anabranch_wire::Body::Tcp(segment) = &packet.body else { panic!("TCP") };
        let capable = !segment.options.mptcp().is_empty();
        if capable { Fate::Drop } else { Fate::Deliver }
    });
    world.client.write(10_000);
    world.drive(at_ms(60_000));
    assert_eq!(world.server.observe().bytes_received, 10_000);
    let all = trace(&world, 0, 60_000);
    assert_eq!(all.iter().filter(|line| line.contains("S capable")).count(), 3);
}

/// §3.7: an MP_FAIL is answered by another, and whoever hears one says by an infinite
/// mapping with its first new data that no more mappings follow: both sides do.
#[test]
fn both_sides_signal_the_infinite_mapping() {
    let config = Config { checksum: true, ..config() };
    let mut world = world(config.clone(), config, &[A1], &[B1], |_, _| Fate::Deliver);
    world.drive(at_ms(100));
    let mut changed = false;
    world.client.meddle = Box::new(move |segment| {
        if let Some(octets) = segment.payload.octets().filter(|_| !changed) {
            changed = true;
            let mut octets = octets.to_vec();
            octets[3] ^= 0xff;
            segment.payload = Payload::of_octets(octets);
        }
    });
    world.client.write_octets(&[1; 500]);
    world.drive(at_ms(200));
    world.client.write_octets(&[2; 500]);
    world.server.write_octets(&[3; 500]);
    world.drive(at_ms(300));
    let all = trace(&world, 100, 300);
    assert!(all.iter().any(|line| line.contains("> . 500 map 0")), "{all:#?}");
    assert!(all.iter().any(|line| line.contains("< . 500 map 0")), "{all:#?}");
    let answers = all.iter().filter(|line| line.contains("> . fail")).count();
    assert_eq!(answers, 1, "one for each that came: {all:#?}");
    assert_eq!(world.server.observe().bytes_received, 1000);
    assert_eq!(world.client.observe().bytes_received, 500);
}

/// §3.7: who falls back knows of one subflow. A second that this side is opening, in vain, does not keep
/// it from hearing so, and from ending its mappings before it sends anything a second time.
#[test]
fn a_fallback_is_heard_while_another_subflow_is_being_opened() {
    let text: Vec<u8> = (0..60_000_u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    for server in [nothing(), strip_from(2), strip_from(3)] {
        let rule = |_, packet: &Packet| match packet.src == A2 {
            true => Fate::Drop,
            false => Fate::Deliver,
        };
        let mut world = world(config(), config(), &[A1, A2], &[B1, B2], rule);
        // The keys arrive on the third ACK, and no mapping does.
        (world.client.meddle, world.server.meddle) = (strip_from(3), server);
        world.logging = false;
        world.client.write_octets(&text);
        world.client.close();
        let mut read: Vec<u8> = Vec::new();
        while world.step(at_ms(100_000)) {
            let mut buf = [0; 10_000];
            let n = world.server.read_octets(&mut buf);
            read.extend(&buf[..n]);
        }
        assert!(read == text, "{} octets", read.len());
        let phases = [world.client.end.phase(), world.server.end.phase()];
        assert_eq!(phases, [Phase::Fallback; 2]);
    }
}

/// A FIN that says by a mapping without end that no other follows has no room for the answer to an
/// MP_FAIL, which the next ACK carries.
#[test]
fn an_answer_to_mp_fail_waits_where_there_is_no_room() {
    let mut config = Config { checksum: true, ..config() };
    config.subflow.timestamps = true;
    let mut world = world(config.clone(), config, &[A1], &[B1], |_, _| Fate::Deliver);
    world.drive(at_ms(100));
    let changed = std::cell::Cell::new(false);
    world.client.meddle = Box::new(move |segment| {
        if let Some(octets) = segment.payload.octets().filter(|_| !changed.replace(true)) {
            let mut octets = octets.to_vec();
            octets[3] ^= 0xff;
            segment.payload = Payload::of_octets(octets);
        }
    });
    world.client.write_octets(&[1; 500]);
    world.client.close();
    world.server.close();
    world.drive(at_ms(100_000));
    assert_eq!(world.server.observe().bytes_received, 500);
}

/// The third ACK of a join loses its timestamps, so that TCP drops it (RFC 7323 §3.2), and the SYN/ACK is sent again.
/// What answers that is of the join, and makes no plain TCP of the connection.
#[test]
fn a_join_that_tcp_does_not_hear_changes_nothing() {
    let mut config = config();
    config.subflow.timestamps = true;
    let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.meddle = Box::new(|segment| {
        if segment.mp_join().is_some() && !segment.flags.contains(TcpFlags::SYN) {
            segment.options.timestamps = None;
        }
    });
    world.drive(at_ms(100));
    world.client.write(100_000);
    world.drive(at_ms(5000));
    let joins = world.log.iter().filter(|line| world::show(line).contains("join(MAC)")).count();
    assert!(joins > 1, "the third ACK came again");
    assert_eq!(world.server.end.phase(), Phase::Multipath);
    assert_eq!(world.server.observe().bytes_received, 100_000);
}
