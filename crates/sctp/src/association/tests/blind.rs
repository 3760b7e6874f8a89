//! What an attacker can do who does not see the packets (RFC 9260 §8.4, §8.5,
//! §12; RFC 5062): guess tags, send INITs in other names, make others send.

use super::*;
use anabranch_wire::sctp::{Cause, InitChunk, Parameter};

fn established() -> (Association, Association) {
    let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
    pair.drive(at_ms(1000));
    (pair.client, pair.server)
}

fn sent(association: &mut Association, now: Time) -> Vec<Packet> {
    std::iter::from_fn(|| association.poll_transmit(now)).collect()
}

fn chunks_of(packets: &[Packet]) -> Vec<Chunk> {
    packets.iter().flat_map(|p| sctp(p).chunks.iter().cloned().collect::<Vec<_>>()).collect()
}

/// §8.5.1 A: a packet without a tag is an INIT, or nothing at all.
#[test]
fn a_packet_without_a_tag_is_an_init_or_discarded() {
    let (client, mut server) = established();
    let (_, mut closed) = ends(&plain(Config::rfc9260()), 1);
    for chunk in [Chunk::ShutdownAck, Chunk::Heartbeat([1].into()), Chunk::Shutdown(Serial32(1))] {
        let packet = from_client(&client, 0, vec![chunk]);
        for association in [&mut server, &mut closed] {
            association.handle_input(at_ms(1000), &packet);
            assert_eq!(association.poll_transmit(at_ms(1000)), None, "{packet:?}");
        }
    }
    assert_eq!(server.state(), State::Established);
}

/// §8.4 rule 5: a SHUTDOWN ACK anywhere in the packet.
#[test]
fn a_shutdown_ack_behind_another_chunk_is_answered_out_of_the_blue() {
    let (client, _) = established();
    let (_, mut closed) = ends(&plain(Config::rfc9260()), 1);
    let bundle = vec![Chunk::HeartbeatAck([1].into()), Chunk::ShutdownAck];
    closed.handle_input(at_ms(1000), &from_client(&client, 77, bundle));
    let answer = sent(&mut closed, at_ms(1000));
    assert_eq!(chunks_of(&answer), [Chunk::ShutdownComplete { reflected: true }]);
    assert_eq!(sctp(&answer[0]).tag, 77);
}

/// §8.4: from an address or a port that is not the peer's a packet is out of the
/// blue, whatever its tag.
#[test]
fn the_right_tag_from_elsewhere_is_out_of_the_blue() {
    let (client, mut server) = established();
    let abort = |reflected| Chunk::Abort { reflected, causes: Vec::new() };
    let with = |chunk| from_client(&client, server.identity.local_tag, vec![chunk]);
    let elsewhere = Packet { src: Addr(99), ..with(abort(false)) };
    let mut other_port = with(Chunk::Heartbeat([1].into()));
    if let Body::Sctp(sctp) = &mut other_port.body {
        sctp.src_port = 4;
    }
    server.handle_input(at_ms(1000), &elsewhere);
    assert_eq!(sent(&mut server, at_ms(1000)), []);
    server.handle_input(at_ms(1000), &other_port);
    assert_eq!(chunks_of(&sent(&mut server, at_ms(1000))), [abort(true)]);
    assert_eq!(server.state(), State::Established);
}

/// §3.3.2, §3.3.3: windows and streams that no association can have. An INIT
/// changes nothing; an INIT ACK ends the attempt.
#[test]
fn an_init_or_init_ack_with_impossible_values_is_answered_by_abort() {
    type Spoil = fn(&mut InitChunk);
    let spoils: [(&str, Spoil); 3] = [
        ("a_rwnd", |init| init.a_rwnd = 1499),
        ("outbound", |init| init.outbound = 0),
        ("inbound", |init| init.inbound = 0),
    ];
    for (name, spoil) in spoils {
        let (mut client, mut server) = ends(&plain(Config::rfc9260()), 1);
        client.connect(Time::ZERO);
        let mut init = client.poll_transmit(Time::ZERO).unwrap();
        let good = init.clone();
        let change = |packet: &mut Packet| {
            if let Body::Sctp(sctp) = &mut packet.body
                && let Some(Chunk::Init(init) | Chunk::InitAck(init)) =
                    sctp.chunks.iter_mut().next()
            {
                spoil(init);
            }
        };
        change(&mut init);
        server.handle_input(Time::ZERO, &init);
        let answer = sent(&mut server, Time::ZERO);
        assert!(
            matches!(chunks_of(&answer)[..], [Chunk::Abort { reflected: false, .. }]),
            "{name}"
        );
        assert_eq!(sctp(&answer[0]).tag, client.identity.local_tag);
        server.handle_input(Time::ZERO, &good);
        let mut ack = server.poll_transmit(Time::ZERO).unwrap();
        change(&mut ack);
        client.handle_input(Time::ZERO, &ack);
        let answer = sent(&mut client, Time::ZERO);
        assert!(
            matches!(chunks_of(&answer)[..], [Chunk::Abort { reflected: false, .. }]),
            "{name}"
        );
        assert_eq!(client.state(), State::Closed, "{name}");
    }
}

/// §3.3.3: the peer has no tag that an ABORT could have: ours, and the T bit.
#[test]
fn an_init_ack_without_a_tag_is_aborted_with_the_t_bit() {
    let (mut client, mut server) = ends(&plain(Config::rfc9260()), 1);
    client.connect(Time::ZERO);
    server.handle_input(Time::ZERO, &client.poll_transmit(Time::ZERO).unwrap());
    let mut ack = server.poll_transmit(Time::ZERO).unwrap();
    if let Body::Sctp(sctp) = &mut ack.body
        && let Some(Chunk::InitAck(ack)) = sctp.chunks.iter_mut().next()
    {
        ack.tag = 0;
    }
    client.handle_input(Time::ZERO, &ack);
    let answer = sent(&mut client, Time::ZERO);
    assert!(matches!(chunks_of(&answer)[..], [Chunk::Abort { reflected: true, .. }]));
    assert_eq!((sctp(&answer[0]).tag, client.state()), (client.identity.local_tag, State::Closed));
}

/// A flood of INITs in the name of the peer, and COOKIE ECHOs that are not ours:
/// an association at work neither changes nor remembers.
#[test]
fn floods_leave_no_trace_in_an_association() {
    let (client, mut server) = established();
    let before = standing(&server);
    for n in 0..10_000_u32 {
        let init = InitChunk { tag: n + 1, parameters: Vec::new(), ..client.init_chunk() };
        server
            .handle_input(at_ms(1000), &from_client(&client, 0, vec![Chunk::Init(Box::new(init))]));
        assert_eq!(sent(&mut server, at_ms(1000)).len(), 1);
        let forged = Chunk::CookieEcho(n.to_be_bytes().repeat(30).into());
        server.handle_input(at_ms(1000), &from_client(&client, n, vec![forged]));
        assert_eq!(sent(&mut server, at_ms(1000)), []);
    }
    assert_eq!(standing(&server), before);
}

/// Who has only sent an INIT in another's name makes us send one packet to it,
/// and no more: no timer runs, nothing is repeated.
#[test]
fn an_init_in_anothers_name_brings_it_one_small_packet() {
    let (mut client, mut server) = ends(&plain(Config::rfc9260()), 1);
    client.connect(Time::ZERO);
    let init = client.poll_transmit(Time::ZERO).unwrap();
    server.handle_input(Time::ZERO, &init);
    let answer = sent(&mut server, Time::ZERO);
    let grown = answer[0].wire_len().0 - init.wire_len().0;
    assert_eq!((answer.len(), grown), (1, 4 + 96), "a parameter with the cookie, no more");
    assert_eq!(server.poll_timeout(), Time::NEVER);
}

/// A COOKIE ECHO proves one address. The others that the INIT named may be a
/// victim's: HB.Max.Burst heartbeats an RTO for all of them, and no data (§5.4).
#[test]
fn unconfirmed_addresses_together_get_one_heartbeat_an_rto() {
    let config = Config { confirm_paths: true, ..plain(Config::rfc9260()) };
    let (mut client, mut server) = ends(&config, 1);
    client.connect(Time::ZERO);
    let mut init = client.poll_transmit(Time::ZERO).unwrap();
    if let Body::Sctp(sctp) = &mut init.body
        && let Some(Chunk::Init(init)) = sctp.chunks.iter_mut().next()
    {
        init.parameters.extend((100..107).map(|n| Parameter::Address(Addr(n).into())));
    }
    server.handle_input(Time::ZERO, &init);
    client.handle_input(Time::ZERO, &server.poll_transmit(Time::ZERO).unwrap());
    server.handle_input(Time::ZERO, &client.poll_transmit(Time::ZERO).unwrap());
    assert_eq!(server.paths.len(), 8);
    server.write(100_000);
    let mut now = Time::ZERO;
    let mut probes: Vec<Time> = Vec::new();
    loop {
        for packet in sent(&mut server, now) {
            let foreign = packet.dst.0 >= 100;
            let is_probe = matches!(sctp(&packet).chunks.first(), Some(Chunk::Heartbeat(_)));
            assert!(is_probe || !foreign, "only heartbeats go there: {packet:?}");
            if foreign {
                probes.push(now);
            }
        }
        now = server.poll_timeout();
        if now > at_ms(8500) {
            break;
        }
        server.handle_timeout(now);
    }
    assert!(probes.len() >= 7, "each is probed: {probes:?}");
    for two in probes.windows(2) {
        assert!(two[1] - two[0] >= Span::from_secs(1), "{probes:?}");
    }
}

/// HEARTBEAT ACK is no larger than what it answers, and goes where that came from.
#[test]
fn a_heartbeat_is_answered_by_as_many_octets() {
    let (client, mut server) = established();
    let packet =
        from_client(&client, server.identity.local_tag, vec![Chunk::Heartbeat([5; 1000].into())]);
    server.handle_input(at_ms(1000), &packet);
    let answer = sent(&mut server, at_ms(1000));
    assert_eq!((answer.len(), answer[0].wire_len()), (1, packet.wire_len()));
    assert_eq!(answer[0].dst, packet.src);
}

/// A HEARTBEAT ACK that nobody asked for confirms nothing (§5.4: the nonce).
#[test]
fn a_heartbeat_ack_without_the_nonce_is_discarded() {
    let (client, mut server) = established();
    let before = standing(&server);
    for info in [&[][..], &[0; 8], &[7; 16]] {
        let chunk = Chunk::HeartbeatAck(info.into());
        server.handle_input(
            at_ms(1000),
            &from_client(&client, server.identity.local_tag, vec![chunk]),
        );
    }
    assert_eq!(standing(&server), before);
}

/// An INIT ACK from an address that the user did not give confirms none: the
/// COOKIE ECHO goes where the INIT went (§5.4 rule 1).
#[test]
fn an_init_ack_from_elsewhere_does_not_move_the_association() {
    let config = Config { confirm_paths: true, ..plain(Config::rfc9260()) };
    let (mut client, mut server) = ends(&config, 1);
    client.connect(Time::ZERO);
    server.handle_input(Time::ZERO, &client.poll_transmit(Time::ZERO).unwrap());
    let ack = server.poll_transmit(Time::ZERO).unwrap();
    client.write(100);
    client.handle_input(Time::ZERO, &Packet { src: SERVER[1], ..ack });
    let echo = client.poll_transmit(Time::ZERO).unwrap();
    assert!(matches!(sctp(&echo).chunks.first(), Some(Chunk::CookieEcho(_))));
    assert_eq!(echo.dst, SERVER[0]);
    let states: Vec<_> = client.paths.iter().map(|path| (path.remote, path.state)).collect();
    assert!(states.contains(&(SERVER[1], PathState::Unconfirmed)), "{states:?}");
    assert!(states.contains(&(SERVER[0], PathState::Active)), "{states:?}");
}

/// §5.4 rule 1 to the letter, where it is wanted: the user's addresses are
/// confirmed.
#[test]
fn addresses_that_the_user_gave_can_be_taken_as_confirmed() {
    for trust_given in [false, true] {
        let config = Config { confirm_paths: true, trust_given, ..plain(Config::rfc9260()) };
        let seed = Seed::default();
        let (c, s) = ((&CLIENT[..], 1000), (&SERVER[..], 2000));
        let client = Association::client(config.clone(), c, s, seed.generator("client"));
        let server = Association::server(config, s, c, seed.generator("server"));
        let mut pair = Pair::new(client, server, LATENCY, deliver);
        pair.client.connect(Time::ZERO);
        pair.drive(at_ms(110));
        let second = match trust_given {
            true => PathState::Active,
            false => PathState::Unconfirmed,
        };
        assert_eq!(pair.client.paths[1].state, second);
        pair.drive(at_ms(160));
        assert_eq!(pair.server.paths[1].state, PathState::Unconfirmed, "who answers knows one");
    }
}

/// An ABORT, a SHUTDOWN COMPLETE or an ERROR in the middle of opening needs the
/// tag, too; and an ERROR "stale cookie" of a guess does not restart T1.
#[test]
fn a_blind_attacker_cannot_stop_an_opening() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
    pair.drive(at_ms(110));
    let client = &mut pair.client;
    let before = standing(client);
    for chunk in [
        Chunk::Abort { reflected: false, causes: Vec::new() },
        Chunk::Abort { reflected: true, causes: Vec::new() },
        Chunk::ShutdownComplete { reflected: true },
        Chunk::Error(vec![Cause::StaleCookie(5)]),
        Chunk::CookieAck,
    ] {
        for tag in [0, 1, client.identity.local_tag ^ 1, client.identity.peer_tag ^ 1] {
            client.handle_input(at_ms(110), &from_server(tag, chunk.clone()));
        }
    }
    assert_eq!(standing(client), before);
}
