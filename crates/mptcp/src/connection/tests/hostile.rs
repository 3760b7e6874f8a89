//! A peer that costs memory where it can: floods of addresses, mappings that
//! overlap, data beyond the window.

use super::world::*;
use super::*;
use anabranch_testkit::{Fate, Side};
use anabranch_wire::tcp::mptcp::{DataNumber, Mapping};
use anabranch_wire::{Body, TcpOptions, TcpSegment};
use std::cell::Cell;

fn moved(number: DataNumber, by: u32) -> DataNumber {
    match number {
        DataNumber::Short(n) => DataNumber::Short(n.wrapping_add(by)),
        DataNumber::Long(n) => DataNumber::Long(n.wrapping_add(by as u64)),
    }
}

/// Changes the mapping of each segment with data, the n-th from 1 on.
fn remap(mut change: impl FnMut(u32, &mut Mapping) + 'static) -> Box<dyn FnMut(&mut TcpSegment)> {
    let mut n = 0;
    Box::new(move |segment| {
        let Some(mut dss) = segment.options.dss() else { return };
        if let Some(mapping) = &mut dss.mapping
            && !segment.payload.is_empty()
        {
            n += 1;
            change(n, mapping);
            segment.options.set_dss(&dss);
        }
    })
}

/// Two hundred addresses with right HMACs: eight are remembered, subflows stay
/// within their limit, and so does what waits to be echoed.
#[test]
fn a_flood_of_addresses_is_bounded() {
    let config = Config { path_manager: crate::PathManager::FullMesh, ..config() };
    let mut world = world(config.clone(), config.clone(), &[A1, A2], &[B1, B2], |_, packet| {
        // The new addresses answer nothing.
        if packet.dst.0 > 3 { Fate::Drop } else { Fate::Deliver }
    });
    world.logging = false;
    world.client.write(1 << 40);
    world.drive(at_ms(200));
    for n in 0..200 {
        let now = world.now;
        world.server.end.add_address(now, Addr(10 + n));
        if n % 10 == 0 {
            world.drive(at_ms(200 + 5 * n as u64));
        }
        let client = &world.client.end;
        assert!(client.paths.peer_count() <= 8);
        assert!(client.subflows.alive() <= config.max_subflows as usize);
        assert!(client.subflows.iter().all(|subflow| subflow.options.len() <= 17), "with MP_PRIO");
    }
    world.drive(at_ms(9000));
    assert!(world.server.observe().bytes_received > 5_000_000, "the stream goes on");
    assert!(world.client.end.paths.peer_count() == 8);
    assert_eq!(world.client.end.observe_path(64), None);
}

/// Each mapping reaches over those that follow, and says otherwise than they: no
/// more are kept than the receive buffer accounts for.
#[test]
fn overlapping_mappings_are_bounded() {
    let mut world = world(config(), config(), &[A1], &[B1], |_, _| Fate::Deliver);
    world.logging = false;
    world.drive(at_ms(100));
    world.client.meddle = remap(|n, mapping| {
        mapping.len = mapping.len.saturating_add(20_000);
        mapping.ssn = mapping.ssn.wrapping_sub(n % 900);
        mapping.dsn = moved(mapping.dsn, n.wrapping_mul(7919) % 150_000);
    });
    world.client.write(50_000_000);
    for ms in 1..100 {
        world.drive(at_ms(100 + 20 * ms));
        let server = &world.server.end;
        let most = server.most_mappings();
        assert!(server.subflows.iter().all(|subflow| subflow.received.count() <= most));
        assert!(server.out_of_order() <= 200_000);
    }
}

/// Data beyond the window is not kept, however often it comes.
#[test]
fn data_beyond_the_window_is_not_kept() {
    let mut world = world(config(), config(), &[A1], &[B1], |_, _| Fate::Deliver);
    world.logging = false;
    world.drive(at_ms(100));
    world.client.meddle = remap(|n, mapping| mapping.dsn = moved(mapping.dsn, 190_000 + 1000 * n));
    world.client.write(50_000_000);
    for ms in 1..100 {
        world.drive(at_ms(100 + 20 * ms));
        let server = &world.server.end;
        assert!(server.out_of_order() <= 200_000, "{}", server.out_of_order());
        assert_eq!(server.observe().bytes_received, 996, "what came with MP_CAPABLE");
    }
}

/// RFC 8684 §3.7: the server's ACKs are lost, and somebody off the path forges ones without options, with a good
/// acknowledgment number and a sequence number somewhere in the window. The connection stays Multipath TCP; with the
/// number that comes next it would be TCP.
#[test]
fn a_blind_attacker_makes_no_tcp_of_a_connection() {
    for (ahead, phase) in [(7000, Phase::Multipath), (0, Phase::Fallback)] {
        let is_lost = Cell::new(false);
        let rule = |side: Side, _: &Packet| match side == Side::Server && is_lost.get() {
            true => Fate::Drop,
            false => Fate::Deliver,
        };
        let config = Config { path_manager: crate::PathManager::Single, ..config() };
        let mut world = world(config.clone(), config, &[A1], &[B1], rule);
        world.client.write(3000);
        world.drive(at_ms(500));
        is_lost.set(true);
        world.client.write(900);
        world.drive(at_ms(600));
        let lost = world.log.iter().rfind(|line| line.from == Side::Server).unwrap();
        let mut forged = lost.packet.clone();
        let Body::Tcp(segment) = &mut forged.body else { panic!() };
        segment.seq = segment.seq.add(ahead);
        segment.options = TcpOptions::default();
        world.client.handle_input(at_ms(600), &forged);
        world.drive(at_ms(5000));
        assert_eq!(world.client.end.phase(), phase);
        is_lost.set(false);
        world.client.write(1000);
        world.drive(at_ms(30_000));
        assert_eq!(world.server.observe().bytes_received, 4900);
    }
}
