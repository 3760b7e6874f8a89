//! RFC 9260 §5.

use super::*;
use anabranch_wire::sctp::{Cause, Parameter};

#[test]
fn four_packets_open_and_data_rides_on_the_cookie() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
    pair.client.write(1000);
    let events = pair.drive(at_ms(1000));
    assert_eq!(
        trace(&pair, 0),
        ["0 > INIT", "50 < INIT ACK", "100 > COOKIE ECHO, DATA 1", "150 < COOKIE ACK, SACK 1",]
    );
    let connected =
        |side| events.iter().find(|e| e.1 == side && e.2 == Event::Connected).unwrap().0;
    assert_eq!((connected(Side::Server), connected(Side::Client)), (at_ms(150), at_ms(200)));
    let mut tags = pair.log.iter().map(|l| sctp(&l.packet).tag);
    assert_eq!(tags.next(), Some(0), "an INIT has no tag (§8.5.1 A)");
    assert_eq!(tags.next(), Some(pair.client.identity.local_tag));
    assert_eq!(tags.next(), Some(pair.server.identity.local_tag));
    assert_eq!(pair.server.identity.peer_tag, pair.client.identity.local_tag);
}

/// §5.1.6, §6.3.3: doubled, then given up after Max.Init.Retransmits.
#[test]
fn init_is_repeated_and_given_up() {
    let config = Config { max_init_retransmits: 3, ..plain(Config::rfc2960()) };
    let mut pair = pair(&config, 1, |_, _| Fate::Drop);
    let events = pair.drive(at_ms(200_000));
    assert_eq!(trace(&pair, 0), ["0 > INIT x", "3000 > INIT x", "9000 > INIT x", "21000 > INIT x"]);
    let end = Event::Closed(CloseReason::TimedOut);
    assert_eq!(events, [(at_ms(45_000), Side::Client, end)]);
}

#[test]
fn a_lost_cookie_echo_or_cookie_ack_is_repeated_with_its_data() {
    for lost in ["COOKIE ECHO", "COOKIE ACK"] {
        let mut dropped = false;
        let mut pair = pair(&plain(Config::rfc9260()), 1, move |_, packet| {
            let is = sctp(packet).chunks.iter().any(|c| match lost {
                "COOKIE ECHO" => matches!(c, Chunk::CookieEcho(_)),
                _ => matches!(c, Chunk::CookieAck),
            });
            if is && !std::mem::replace(&mut dropped, true) { Fate::Drop } else { Fate::Deliver }
        });
        pair.client.send(Message::new(3, Payload::of_octets(*b"hello"))).unwrap();
        run(&mut pair, at_ms(5000));
        assert_eq!(received(&mut pair.server), [(3, b"hello".to_vec())], "{lost}");
        assert_eq!(pair.client.state(), State::Established);
        let expected = match lost {
            "COOKIE ECHO" => ["1100 > COOKIE ECHO, DATA 1", "1150 < COOKIE ACK, SACK 1"],
            _ => ["1100 > COOKIE ECHO, DATA 1", "1150 < COOKIE ACK, SACK 1 dup 1"],
        };
        assert_eq!(trace(&pair, 1000), expected);
    }
}

#[test]
fn an_init_costs_the_passive_side_no_state() {
    let (mut client, mut server) = ends(&plain(Config::rfc9260()), 1);
    client.connect(Time::ZERO);
    let init = client.poll_transmit(Time::ZERO).unwrap();
    let before = format!("{:?}", (&server.phase, &server.paths, server.identity.local_tag));
    for _ in 0..10_000 {
        server.handle_input(Time::ZERO, &init);
        assert!(server.poll_transmit(Time::ZERO).is_some());
    }
    let after = format!("{:?}", (&server.phase, &server.paths, server.identity.local_tag));
    assert_eq!(before, after);
    assert_eq!(server.poll_timeout(), Time::NEVER);
}

/// §5.1.5 and §5.2.6: the client asks for more life and succeeds.
#[test]
fn a_stale_cookie_is_reported_and_the_next_lives_longer() {
    let mut pair = with_late_cookie();
    pair.drive(at_ms(1000));
    assert_eq!(
        trace(&pair, 0),
        [
            "0 > INIT",
            "50 < INIT ACK",
            "100 > COOKIE ECHO",
            "450 < ERROR 3",
            "500 > INIT",
            "550 < INIT ACK",
            "600 > COOKIE ECHO",
            "650 < COOKIE ACK",
        ]
    );
    let init = pair.log.iter().rev().find_map(|l| match sctp(&l.packet).chunks.first() {
        Some(Chunk::Init(init)) => Some(init.clone()),
        _ => None,
    });
    assert!(matches!(init.unwrap().parameters[..], [Parameter::CookiePreservative(_)]));
    assert_eq!(pair.client.state(), State::Established);
}

#[test]
fn a_forged_cookie_is_discarded() {
    let (mut client, mut server) = ends(&plain(Config::rfc9260()), 1);
    client.connect(Time::ZERO);
    server.handle_input(Time::ZERO, &client.poll_transmit(Time::ZERO).unwrap());
    client.handle_input(Time::ZERO, &server.poll_transmit(Time::ZERO).unwrap());
    let echo = client.poll_transmit(Time::ZERO).unwrap();
    for octet in [0, 20, 40, 60] {
        let mut forged = echo.clone();
        if let Body::Sctp(sctp) = &mut forged.body
            && let Some(Chunk::CookieEcho(cookie)) = sctp.chunks.iter_mut().next()
        {
            cookie[octet] ^= 1;
        }
        server.handle_input(Time::ZERO, &forged);
        assert_eq!((server.state(), server.poll_transmit(Time::ZERO)), (State::Closed, None));
    }
    server.handle_input(Time::ZERO, &echo);
    assert_eq!(server.state(), State::Established);
}

/// §5.2.1 and action B or D of §5.2.4: both sides call at once.
#[test]
fn simultaneous_opening_gives_one_association() {
    let config = plain(Config::rfc9260());
    let seed = Seed::default();
    let (c, s) = ((&CLIENT[..1], 1000), (&SERVER[..1], 2000));
    let client = Association::client(config.clone(), c, s, seed.generator("client"));
    let server = Association::client(config.clone(), s, c, seed.generator("server"));
    let mut pair = Pair::new(client, server, LATENCY, deliver);
    pair.client.connect(Time::ZERO);
    pair.server.connect(Time::ZERO);
    pair.client.send(Message::new(0, Payload::of_octets(*b"ping"))).unwrap();
    pair.server.send(Message::new(0, Payload::of_octets(*b"pong"))).unwrap();
    run(&mut pair, at_ms(5000));
    assert_eq!(
        (pair.client.state(), pair.server.state()),
        (State::Established, State::Established)
    );
    assert_eq!(pair.client.identity.local_tag, pair.server.identity.peer_tag);
    assert_eq!(pair.server.identity.local_tag, pair.client.identity.peer_tag);
    assert_eq!(received(&mut pair.server), [(0, b"ping".to_vec())]);
    assert_eq!(received(&mut pair.client), [(0, b"pong".to_vec())]);
}

/// Action A of §5.2.4: the client lost its state and calls again.
#[test]
fn a_restarted_peer_replaces_the_association() {
    let config = plain(Config::rfc9260());
    let mut pair = pair(&config, 1, deliver);
    pair.client.write(5000);
    pair.drive(at_ms(2000));
    let s = (&SERVER[..1], 2000);
    let again = Seed { seed: 7, replication: 0 }.generator("client");
    pair.client = Association::client(config, (&CLIENT[..1], 1000), s, again);
    pair.client.connect(pair.now);
    pair.client.send(Message::new(1, Payload::of_octets(*b"new"))).unwrap();
    run(&mut pair, at_ms(4000));
    let notifications: Vec<_> = std::iter::from_fn(|| pair.server.poll_notification()).collect();
    assert_eq!(notifications, [Notification::Restarted]);
    assert_eq!(received(&mut pair.server).last(), Some(&(1, b"new".to_vec())));
    assert_eq!(
        (pair.client.state(), pair.server.state()),
        (State::Established, State::Established)
    );
}

/// §5.2.2: a restart with an address that was not there is refused.
#[test]
fn a_restart_with_a_new_address_is_aborted() {
    let config = plain(Config::rfc9260());
    let mut pair = pair(&config, 1, deliver);
    pair.drive(at_ms(1000));
    let mut thief = Association::client(
        config,
        (&CLIENT, 1000),
        (&SERVER[..1], 2000),
        Seed { seed: 7, replication: 0 }.generator("thief"),
    );
    thief.connect(pair.now);
    let init = thief.poll_transmit(pair.now).unwrap();
    pair.server.handle_input(pair.now, &init);
    let answer = pair.server.poll_transmit(pair.now).unwrap();
    let Some(Chunk::Abort { causes, .. }) = sctp(&answer).chunks.first() else {
        panic!("{answer:?}")
    };
    assert!(matches!(causes[..], [Cause::RestartWithNewAddresses(_)]));
    assert_eq!(sctp(&answer).tag, thief.identity.local_tag);
    assert_eq!(pair.server.state(), State::Established);
}

/// §3.2.1: reported in the INIT ACK, and then in an ERROR with the cookie.
#[test]
fn unknown_parameters_are_reported_by_their_bits() {
    let (mut client, mut server) = ends(&plain(Config::rfc9260()), 1);
    client.connect(Time::ZERO);
    let mut init = client.poll_transmit(Time::ZERO).unwrap();
    let unknown = |kind| Parameter::Unknown { kind, value: [1, 2].into() };
    if let Body::Sctp(sctp) = &mut init.body
        && let Some(Chunk::Init(init)) = sctp.chunks.iter_mut().next()
    {
        init.parameters = vec![unknown(0x8fff), unknown(0xcfff), unknown(0x4fff), unknown(0xcffe)];
    }
    server.handle_input(Time::ZERO, &init);
    let ack = server.poll_transmit(Time::ZERO).unwrap();
    let Some(Chunk::InitAck(ack)) = sctp(&ack).chunks.first() else { panic!("{ack:?}") };
    let reported: Vec<&[u8]> = ack
        .parameters
        .iter()
        .filter_map(
            |p| if let Parameter::Unrecognized(octets) = p { Some(&octets[..2]) } else { None },
        )
        .collect();
    // 10: skipped; 11: reported; 01: reported, and nothing after it is read.
    assert_eq!(reported, [&[0xcf, 0xff], &[0x4f, 0xff]]);
}

#[test]
fn streams_are_the_lesser_of_what_both_sides_want() {
    let seed = Seed::default();
    let config = |outbound_streams, inbound_streams| Config {
        outbound_streams,
        inbound_streams,
        ..plain(Config::rfc9260())
    };
    let (c, s) = ((&CLIENT[..1], 1000), (&SERVER[..1], 2000));
    let client = Association::client(config(10, 3), c, s, seed.generator("client"));
    let server = Association::server(config(5, 7), s, c, seed.generator("server"));
    let mut pair = Pair::new(client, server, LATENCY, deliver);
    pair.client.connect(Time::ZERO);
    pair.drive(at_ms(1000));
    assert_eq!((pair.client.sender.streams, pair.client.receiver.streams), (7, 3));
    assert_eq!((pair.server.sender.streams, pair.server.receiver.streams), (3, 7));
    let message = |stream| Message::new(stream, Payload::virtual_of(1));
    assert_eq!(pair.client.send(message(7)), Err(SendError::NoSuchStream(7)));
    assert_eq!(pair.client.send(message(6)), Ok(()));
}

/// §5.1.1, §11.2.2: messages for streams that the peer does not take are refused, and given back, in
/// whatever order streams are served.
#[test]
fn messages_of_streams_that_are_missing_come_back() {
    for scheduler in [crate::Scheduler::Fcfs, crate::Scheduler::RoundRobin] {
        let config = Config { keep_undelivered: true, scheduler, ..plain(Config::rfc9260()) };
        let small = Config { inbound_streams: 2, ..config.clone() };
        let (client, _) = ends(&config, 1);
        let (_, server) = ends(&small, 1);
        let mut pair = Pair::new(client, server, LATENCY, deliver);
        pair.client.connect(Time::ZERO);
        for (stream, octets) in [(5, "a"), (0, "b"), (2, "c"), (1, "d"), (2, "e")] {
            let payload = Payload::of_octets(octets);
            pair.client.send(Message::new(stream, payload)).unwrap();
        }
        run(&mut pair, at_ms(1000));
        let mut arrived = received(&mut pair.server);
        arrived.sort();
        assert_eq!(arrived, [(0, b"b".to_vec()), (1, b"d".to_vec())], "{scheduler:?}");
        let told = pair.client.poll_notification();
        assert_eq!(told, Some(Notification::StreamsMissing { streams: 2, messages: 3 }));
        let back = std::iter::from_fn(|| pair.client.poll_undelivered());
        let mut back: Vec<_> =
            back.map(|undelivered| (undelivered.message.stream, undelivered.sent)).collect();
        back.sort();
        assert_eq!(back, [(2, false), (2, false), (5, false)], "{scheduler:?}");
        assert!(pair.client.is_dry() && pair.client.sender.held() == 0);
        // No ERROR "invalid stream" was asked for.
        assert!(!trace(&pair, 0).iter().any(|line| line.contains("ERROR")));
    }
}

/// A second copy of the ERROR, late, must not undo the second attempt.
#[test]
fn a_stale_cookie_error_counts_once() {
    let mut first = true;
    let config = Config { cookie_life: Span::from_millis(200), ..plain(Config::rfc9260()) };
    let mut pair = pair(&config, 1, move |_, packet| match sctp(packet).chunks.first() {
        Some(Chunk::CookieEcho(_)) if std::mem::take(&mut first) => {
            Fate::Delay(Span::from_millis(300))
        }
        Some(Chunk::Error(_)) => Fate::Duplicate(Span::from_millis(110)),
        _ => Fate::Deliver,
    });
    pair.client.write(10);
    pair.drive(at_ms(3000));
    assert_eq!(pair.client.state(), State::Established);
    assert_eq!(pair.server.observe().bytes_received, 10);
}

/// §5.1.2 leaves the primary open. A peer that was called at one address answers
/// from another, both of them given by the user.
#[test]
fn the_primary_is_where_the_init_ack_came_from_or_where_the_init_went() {
    for (keep_primary, expected) in [
        (false, ["INIT > 0", "COOKIE ECHO > 1", "DATA 1 > 1", "DATA 2 > 1", "DATA 3 > 1"]),
        (true, ["INIT > 0", "COOKIE ECHO > 0", "DATA 1 > 0", "DATA 2 > 0", "DATA 3 > 0"]),
    ] {
        let config = Config {
            confirm_paths: true,
            keep_primary,
            max_burst: None,
            ..plain(Config::rfc9260())
        };
        let seed = Seed::default();
        let (c, s) = ((&CLIENT[..], 1000), (&SERVER[..], 2000));
        let mut client = Association::client(config.clone(), c, s, seed.generator("client"));
        let mut server = Association::server(config, s, c, seed.generator("server"));
        let now = Time::ZERO;
        let mut seen = Vec::new();
        let mut polled = |client: &mut Association| {
            let packet = client.poll_transmit(now)?;
            let to = SERVER.iter().position(|addr| *addr == packet.dst).unwrap();
            let chunks = sctp(&packet).chunks.iter().map(|chunk| show(chunk, client, client));
            seen.push(format!("{} > {to}", chunks.collect::<Vec<_>>().join(", ")));
            Some(packet)
        };
        client.connect(now);
        server.handle_input(now, &polled(&mut client).unwrap());
        let ack = server.poll_transmit(now).unwrap();
        assert_eq!(ack.src, SERVER[0]);
        client.write(3 * 1400);
        client.handle_input(now, &Packet { src: SERVER[1], ..ack });
        server.handle_input(now, &polled(&mut client).unwrap());
        while let Some(answer) = server.poll_transmit(now) {
            client.handle_input(now, &answer);
        }
        while polled(&mut client).is_some() {}
        seen.retain(|line| !line.starts_with("HEARTBEAT")); // of the other paths
        assert_eq!(seen, expected, "keep_primary = {keep_primary}");
        assert_eq!(client.paths[client.primary()].state, PathState::Active);
    }
}

/// §5.1.3, §5.1.5: hosts sign the cookies of all their ports with one key; a cookie of another port is
/// discarded, and so is one that came to the right port from another.
#[test]
fn a_cookie_is_good_at_its_ports_alone() {
    for (to, from, good) in [(2000, 1000, true), (2001, 1000, false), (2000, 1001, false)] {
        let (mut client, server) = ends(&plain(Config::rfc9260()), 1);
        let mut server = server.with_cookie_key([7; 32]);
        client.connect(Time::ZERO);
        let init = client.poll_transmit(Time::ZERO).unwrap();
        server.handle_input(Time::ZERO, &init);
        client.handle_input(Time::ZERO, &server.poll_transmit(Time::ZERO).unwrap());
        let mut echo = client.poll_transmit(Time::ZERO).unwrap();
        let generator = Seed::default().generator("another port");
        let local = (&SERVER[..1], to);
        let config = plain(Config::rfc9260());
        let other = Association::server(config, local, (&CLIENT[..1], 1000), generator);
        let mut other = other.with_cookie_key([7; 32]);
        if let Body::Sctp(sctp) = &mut echo.body {
            (sctp.src_port, sctp.dst_port) = (from, to);
        }
        other.handle_input(Time::ZERO, &echo);
        assert_eq!(other.state() == State::Established, good, "{from} to {to}");
    }
}

/// §3.3.10.3: the staleness is rounded up.
#[test]
fn staleness_is_rounded_up() {
    let config = Config { cookie_life: Span::from_nanos(1_500), ..plain(Config::rfc9260()) };
    let (mut client, mut server) = ends(&config, 1);
    client.connect(Time::ZERO);
    let init = client.poll_transmit(Time::ZERO).unwrap();
    server.handle_input(Time::ZERO, &init);
    client.handle_input(Time::ZERO, &server.poll_transmit(Time::ZERO).unwrap());
    let echo = client.poll_transmit(Time::ZERO).unwrap();
    let late = Time::ZERO + Span::from_nanos(3_501);
    server.handle_input(late, &echo);
    let answer = server.poll_transmit(late).unwrap();
    let stale = anabranch_wire::sctp::Cause::StaleCookie(3);
    assert_eq!(sctp(&answer).chunks.first(), Some(&Chunk::Error(vec![stale])));
}

/// §5.1: the first DATA after a restart is acknowledged at once; §11.2: what the old association had
/// not delivered comes back.
#[test]
fn after_a_restart_the_first_data_is_acknowledged_at_once() {
    let config = Config { sack_frequency: 2, keep_undelivered: true, ..plain(Config::rfc9260()) };
    let mut pair = pair(&config, 1, deliver);
    pair.drive(at_ms(1000));
    pair.client.write(100);
    pair.drive(at_ms(2000));
    pair.server.send(Message::new(3, Payload::virtual_of(50))).unwrap();
    let again = Seed { seed: 7, replication: 0 }.generator("client");
    let (c, s) = ((&CLIENT[..1], 1000), (&SERVER[..1], 2000));
    pair.client = Association::client(config, c, s, again);
    pair.client.connect(pair.now);
    run(&mut pair, at_ms(3000));
    pair.client.write(100);
    run(&mut pair, at_ms(4000));
    assert_eq!(trace(&pair, 3000), ["3000 > DATA 1", "3050 < SACK 1"]);
    let back = pair.server.poll_undelivered().expect("it was lost");
    assert_eq!(back.message.stream, 3);
}

/// §5.1.2: an INIT ACK with a host name is refused to where it came from.
#[test]
fn a_refused_init_ack_is_answered_to_its_source() {
    use anabranch_wire::sctp::{Cause, Parameter};
    let (mut client, mut server) = ends(&plain(Config::rfc9260()), 2);
    client.connect(Time::ZERO);
    let init = client.poll_transmit(Time::ZERO).unwrap();
    server.handle_input(Time::ZERO, &init);
    let mut ack = server.poll_transmit(Time::ZERO).unwrap();
    ack.src = SERVER[1];
    let name = vec![b'a'; 200];
    if let Body::Sctp(sctp) = &mut ack.body
        && let Some(Chunk::InitAck(ack)) = sctp.chunks.iter_mut().next()
    {
        ack.parameters.push(Parameter::HostName(name.clone().into()));
    }
    client.handle_input(Time::ZERO, &ack);
    let abort = client.poll_transmit(Time::ZERO).unwrap();
    let octets = [&[0, 11, 0, 204][..], &name].concat();
    let causes = vec![Cause::UnresolvableAddress(octets.into())];
    assert_eq!(abort.dst, SERVER[1]);
    assert_eq!(sctp(&abort).chunks.first(), Some(&Chunk::Abort { reflected: false, causes }));
}

/// §5.2.2: the INIT ACK for an unexpected INIT has the streams of the association.
#[test]
fn an_unexpected_init_is_answered_with_the_streams_that_there_are() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
    pair.drive(at_ms(1000));
    pair.server.sender.streams = 17;
    let init = pair.log[0].packet.clone();
    pair.server.handle_input(at_ms(1000), &init);
    let answer = pair.server.poll_transmit(at_ms(1000)).unwrap();
    let Some(Chunk::InitAck(ack)) = sctp(&answer).chunks.first() else { panic!("{answer:?}") };
    assert_eq!((ack.outbound, ack.inbound), (17, pair.server.inbound_streams()));
}
