//! TCP Fast Open (RFC 8684 appendix B).

use super::world::*;
use super::*;
use anabranch_endpoint::PeerMemory;
use anabranch_tcp::FastOpenOptions;
use anabranch_testkit::{Fate, Side};
use anabranch_wire::tcp::mptcp::DataNumber;

/// Both sides take data in a SYN without a cookie, or with one alone.
fn fast(cookieless: bool) -> Config {
    let mut config = config();
    config.subflow.fast_open = Some(FastOpenOptions { cookieless, ..FastOpenOptions::default() });
    config
}

/// The mappings of the client's data, as data sequence numbers and subflow sequence numbers, and the
/// subflow offsets of its segments.
fn mappings<F: FnMut(Side, &Packet) -> Fate>(world: &World<F>) -> Vec<(u32, u32, u64)> {
    let client = &world.client.end;
    let idsn = client.key().idsn() as u32;
    let of = |line: &anabranch_testkit::Line| {
        let Body::Tcp(segment) = &line.packet.body else { return None };
        let mapping = segment.options.dss()?.mapping?;
        let DataNumber::Short(dsn) = mapping.dsn else { panic!("short numbers") };
        let at = client.subflows[0].tcp.sent_offset(segment.seq)?;
        (line.from == Side::Client).then_some((dsn.wrapping_sub(idsn), mapping.ssn, at))
    };
    world.log.iter().filter_map(of).collect()
}

/// Figure 19: what goes with the SYN is delivered at once, and is before all numbers.
#[test]
fn data_goes_with_the_syn() {
    for checksum in [false, true] {
        let config = Config { checksum, ..fast(true) };
        let mut world = world(config.clone(), config, &[A1], &[B1], |_, _| Fate::Deliver);
        world.client.write(20);
        world.client.end.send_with_syn(20);
        world.drive(at_ms(11));
        assert_eq!(world.server.observe().bytes_received, 20);
        world.drive(at_ms(100));
        assert_eq!(world.client.observe().bytes_acked, 20);
        world.client.write(20);
        world.drive(at_ms(200));
        world.client.write(30);
        world.client.close();
        world.server.write(500);
        world.drive(at_ms(300));
        assert_eq!(
            trace(&world, 0, 130),
            [
                "0 1 > S 20 capable",
                "10 1 < S. capable(key)",
                "20 1 > . capable(keys)",
                "100 1 > . 20 capable(keys, data)",
                "110 1 < . ack",
            ]
        );
        assert_eq!(mappings(&world)[0], (21, 21, 41), "the second twenty are the first");
        assert_eq!(world.server.observe().bytes_received, 70);
        assert_eq!(world.client.observe().bytes_received, 500);
        assert_eq!(world.client.observe().bytes_acked, 70);
        let phases = [world.client.end.phase(), world.server.end.phase()];
        assert_eq!(phases, [Phase::Multipath; 2]);
    }
}

/// Figure 20: what a server without Fast Open leaves is sent again with the keys, and has numbers.
#[test]
fn data_that_the_syn_ack_leaves_is_mapped() {
    for checksum in [false, true] {
        let (client, server) = (fast(true), config());
        let (client, server) = (Config { checksum, ..client }, Config { checksum, ..server });
        let mut world = world(client, server, &[A1], &[B1], |_, _| Fate::Deliver);
        world.client.write(20);
        world.client.end.send_with_syn(20);
        world.drive(at_ms(100));
        world.client.write(30);
        world.drive(at_ms(200));
        assert_eq!(
            trace(&world, 0, 100),
            [
                "0 1 > S 20 capable",
                "10 1 < S. capable(key)",
                "20 1 > . 20 capable(keys, data)",
                "30 1 < . ack",
            ]
        );
        assert_eq!(mappings(&world), [(21, 21, 21)]);
        assert_eq!(world.server.observe().bytes_received, 50);
        assert_eq!(world.client.end.phase(), Phase::Multipath);
    }
}

/// Figure 18: the first connection asks for a cookie, the second brings it. With both keys the SYN/ACK has
/// no room for a cookie beside timestamps.
#[test]
fn a_cookie_is_asked_for_and_brought() {
    let mut config = fast(false);
    config.subflow.timestamps = true;
    let mut memory = PeerMemory::default();
    for (n, expected) in [(0, "0 1 > S capable"), (1, "0 1 > S 300 capable")] {
        let mut world = world(config.clone(), config.clone(), &[A1], &[B1], |_, _| Fate::Deliver);
        for end in [&mut world.client.end, &mut world.server.end] {
            end.set_fast_open_key([1, 2]);
        }
        world.client.end.recall(&memory);
        world.client.write(300);
        world.client.end.send_with_syn(300);
        world.drive(at_ms(500));
        assert_eq!(trace(&world, 0, 1), [expected]);
        assert_eq!(world.server.observe().bytes_received, 300);
        assert_eq!(world.client.end.phase(), Phase::Multipath);
        let answer = world.log.iter().find(|line| line.from == Side::Server).unwrap();
        let Body::Tcp(answer) = &answer.packet.body else { panic!("TCP") };
        assert_eq!(answer.options.timestamps.is_none(), n == 0);
        assert_eq!(answer.options.fast_open().is_some(), n == 0);
        assert!(world.client.end.has_learnt());
        world.client.end.remember(&mut memory);
    }
}

/// Whichever segment is lost, and whatever becomes of Multipath TCP, each octet comes once.
#[test]
fn early_data_survives_losses_and_the_fallback() {
    let text: Vec<u8> = (0..5000_u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    for enabled in [true, false] {
        for accepts in [true, false] {
            for lost in 0..8 {
                let mut server = if accepts { fast(true) } else { config() };
                server.enabled = enabled;
                let mut n = 0;
                let mut world = world(fast(true), server, &[A1, A2], &[B1, B2], move |_, _| {
                    n += 1;
                    if n == lost { Fate::Drop } else { Fate::Deliver }
                });
                world.client.write_octets(&text);
                world.client.end.send_with_syn(700);
                world.client.close();
                let mut read: Vec<u8> = Vec::new();
                while world.step(at_ms(20_000)) {
                    let mut buf = [0; 10_000];
                    let n = world.server.read_octets(&mut buf);
                    read.extend(&buf[..n]);
                }
                let case = format!("enabled {enabled}, accepts {accepts}, {lost} lost");
                assert!(read == text, "{case}: {} octets", read.len());
                let phase = if enabled { Phase::Multipath } else { Phase::Fallback };
                assert_eq!(world.client.end.phase(), phase, "{case}");
            }
        }
    }
}
