//! Subflows that the passive side opens (RFC 8684 §3.2), and joins that it does
//! not want.

use super::world::*;
use super::*;
use crate::{Key, PathManager};
use anabranch_testkit::{Fate, Side};
use anabranch_units::Serial32;
use anabranch_wire::tcp::mptcp::{Join, MptcpOption};
use anabranch_wire::{Payload, TcpFlags, TcpOptions, TcpSegment};

/// Nothing of the active side's own, and this of the passive side's.
fn passive(manager: PathManager) -> Config {
    Config { path_manager: PathManager::Single, passive_path_manager: manager, ..config() }
}

/// Ports of the subflows, as the client has them: its own, and the server's.
fn ports(connection: &Connection) -> Vec<(Addr, u16, Addr, u16)> {
    connection.flow_keys().map(|key| (key.src, key.src_port, key.dst, key.dst_port)).collect()
}

/// The server joins from its second address to the port that the connection
/// came from, and its data goes over both paths.
#[test]
fn the_server_opens_a_subflow_from_its_second_address() {
    let config = passive(PathManager::FullMesh);
    let mut world = world(config.clone(), config, &[A1], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(1000);
    world.drive(at_ms(100));
    let joins: Vec<_> =
        trace(&world, 20, 100).into_iter().filter(|line| line.contains(" 2 ")).collect();
    assert_eq!(
        joins,
        ["30 2 < S join", "40 2 > S. join(mac)", "50 2 < . join(MAC)", "60 2 > . ack"]
    );
    assert_eq!(ports(&world.client.end), [(A1, 1000, B1, PORT), (A1, 1000, B2, PORT + 1)]);
    world.server.write(2_000_000);
    world.drive(at_ms(2000));
    assert_eq!(world.client.observe().bytes_received, 2_000_000);
    let carried: Vec<_> = world.server.end.subflows().map(|path| path.packets).collect();
    assert!(carried.iter().all(|packets| *packets > 100), "{carried:?}");
}

/// Further addresses of the client are announced to it.
#[test]
fn the_client_announces_and_the_server_joins() {
    let config = passive(PathManager::FullMesh);
    let mut world = world(config.clone(), config, &[A1, A2], &[B1], |_, _| Fate::Deliver);
    world.client.write(1000);
    world.drive(at_ms(200));
    let lines = trace(&world, 0, 200);
    let at = |what: &str| lines.iter().position(|line| line.ends_with(what));
    let (add, join) = (at(" add").or(at(" add ack")), at("2 < S join"));
    assert!(add.is_some() && join > add, "{lines:?}");
    assert_eq!(ports(&world.client.end), [(A1, 1000, B1, PORT), (A2, 1000, B1, PORT + 1)]);
}

/// Several ports of the server between the same addresses.
#[test]
fn the_server_opens_subflows_from_several_ports() {
    let config = passive(PathManager::NDiffports(3));
    let mut world = world(config.clone(), config, &[A1], &[B1], |_, _| Fate::Deliver);
    world.client.write(1000);
    world.drive(at_ms(200));
    let mut theirs: Vec<_> = world.client.end.flow_keys().map(|key| key.dst_port).collect();
    theirs.sort_unstable();
    assert_eq!(theirs, [PORT, PORT + 2, PORT + 3]);
}

/// Two full meshes make one: what is joined already is not joined again.
#[test]
fn both_sides_may_open() {
    let both = PathManager::FullMesh;
    let config =
        Config { path_manager: both, passive_path_manager: both, max_subflows: 8, ..config() };
    let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(10_000_000);
    world.server.write(10_000_000);
    world.drive(at_ms(8000));
    let mut pairs: Vec<_> = world.client.end.flow_keys().map(|key| (key.src, key.dst)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs.len(), 4);
    assert!(world.client.end.flow_keys().count() <= 8);
    for end in [&world.client, &world.server] {
        assert_eq!(end.observe().bytes_received, 10_000_000);
    }
}

/// Who opened a subflow opens it again.
#[test]
fn what_the_server_opened_it_opens_again() {
    let config = Config { reopen: Some(Span::from_millis(300)), ..passive(PathManager::FullMesh) };
    let mut world = world(config.clone(), config, &[A1], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(1000);
    world.drive(at_ms(200));
    let i = world.client.end.subflows.iter().position(|subflow| subflow.key().dst == B2).unwrap();
    world.client.end.subflows[i].tcp.abort();
    world.client.end.touch(i);
    world.drive(at_ms(1000));
    let joins = trace(&world, 200, 1000).iter().filter(|line| line.ends_with("S join")).count();
    assert_eq!(joins, 1, "by the server alone");
    assert_eq!(ports(&world.client.end)[1], (A1, 1000, B2, PORT + 1));
}

/// A SYN with MP_JOIN to the server.
fn join(token: u32, from: u16) -> Packet {
    let mut options = TcpOptions { mss: Some(1000), ..TcpOptions::default() };
    let join = Join::Syn { backup: false, address: 1, token, nonce: u32::from(from) };
    options.rare_mut().mptcp.push(MptcpOption::Join(join));
    let segment = TcpSegment {
        src_port: from,
        dst_port: PORT,
        seq: Serial32(7),
        ack: Serial32(0),
        flags: TcpFlags::SYN,
        window: 1000,
        urgent: 0,
        options,
        payload: Payload::EMPTY,
    };
    Packet::new(A2, B1, Body::Tcp(segment))
}

/// §3.2: a token that nobody has is answered with a reset that says why.
#[test]
fn a_wrong_token_is_reset() {
    let mut world = world(config(), config(), &[A1], &[B1], |_, _| Fate::Deliver);
    world.client.write(1000);
    world.drive(at_ms(100));
    let (now, token) = (world.now, world.server.end.token());
    assert_eq!(token, Key(world.server.end.key().0).token());
    let server = &mut world.server.end;
    assert!(server.is_for(&join(token, 5)) && !server.is_for(&join(token ^ 1, 5)));
    server.handle_input(now, &join(token ^ 1, 5));
    let packet = server.poll_transmit(now).unwrap();
    let Body::Tcp(reset) = &packet.body else { panic!("TCP") };
    assert!(reset.flags.contains(TcpFlags::RST) && reset.dst_port == 5);
    assert!(matches!(reset.options.mptcp(), [MptcpOption::TcpRst { .. }]));
    assert_eq!(server.subflows.alive(), 1);
}

/// Ten thousand joins with the right token and nothing after them: subflows and
/// resets that wait are bounded, the stream goes on, and the handshakes end.
#[test]
fn a_flood_of_joins_is_bounded() {
    let mut world = world(config(), config(), &[A1], &[B1], |side, packet| {
        // The answers go to somebody else.
        let stray = side == Side::Server && packet.dst == A2;
        if stray { Fate::Drop } else { Fate::Deliver }
    });
    world.client.write(500_000_000);
    world.drive(at_ms(100));
    let token = world.server.end.token();
    for from in 0..10_000 {
        let now = world.now;
        world.server.end.handle_input(now, &join(token, 2000 + from));
        let server = &world.server.end;
        assert!(server.subflows.alive() <= server.config.max_subflows as usize);
        assert!(server.subflows.len() <= 48 && server.outbox.len() <= 16);
        if from % 100 == 0 {
            world.drive(at_ms(100 + u64::from(from) / 10));
        }
    }
    world.drive(at_ms(1500));
    let before = world.server.observe().bytes_received;
    world.drive(at_ms(2500));
    assert!(world.server.observe().bytes_received > before + 1_000_000, "the stream goes on");
    world.drive(at_ms(400_000));
    assert_eq!(world.server.end.subflows.alive(), 1, "handshakes that nobody ends are given up");
}

/// RFC 8684 §3.4.1: what tells the client that the server has its key may be an ADD_ADDR
/// without a DSS: all that waited for that is done, its own addresses are announced too.
#[test]
fn an_address_without_a_dss_confirms_the_keys() {
    let server = Config {
        path_manager: PathManager::FullMesh,
        lone_addresses: true,
        ..passive(PathManager::FullMesh)
    };
    let client = passive(PathManager::FullMesh);
    let mut world = world(client, server, &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(1000);
    world.drive(at_ms(200));
    let lines = trace(&world, 0, 200);
    let first = lines.iter().find(|line| line.starts_with("30 ")).unwrap();
    assert_eq!(first, "30 1 < . add", "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains(" > . add ")), "beside the echo: {lines:#?}");
    assert!(ports(&world.client.end).contains(&(A2, 1000, B1, PORT + 1)), "{lines:#?}");
}
