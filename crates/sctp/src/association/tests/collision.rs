//! RFC 9260 §5.2: INIT, INIT ACK, COOKIE ECHO and COOKIE ACK that nobody expects.

use super::*;
use anabranch_wire::sctp::{Cause, InitChunk, Parameter};

/// The one packet that `association` sends now.
fn one(association: &mut Association, now: Time) -> Packet {
    let packet = association.poll_transmit(now).expect("a packet");
    assert_eq!(association.poll_transmit(now), None);
    packet
}

fn causes(packet: &Packet) -> &[Cause] {
    match sctp(packet).chunks.first() {
        Some(Chunk::Abort { causes, .. }) => causes,
        other => panic!("no ABORT: {other:?}"),
    }
}

fn init_ack(packet: &Packet) -> &InitChunk {
    match sctp(packet).chunks.first() {
        Some(Chunk::InitAck(ack)) => ack,
        other => panic!("no INIT ACK: {other:?}"),
    }
}

/// An INIT of somebody at `src` and `port` who names more addresses.
fn init_from(src: Addr, port: u16, addresses: &[Addr]) -> Packet {
    let init = InitChunk {
        tag: 77,
        a_rwnd: 5000,
        outbound: 1,
        inbound: 1,
        tsn: Serial32(9),
        parameters: addresses.iter().map(|addr| Parameter::Address((*addr).into())).collect(),
    };
    let chunks = [Chunk::Init(Box::new(init))].into_iter().collect();
    let sctp = SctpPacket {
        src_port: port,
        dst_port: 1000,
        tag: 0,
        udp: None,
        zero_checksum: false,
        chunks,
    };
    Packet::new(src, CLIENT[0], Body::Sctp(Box::new(sctp)))
}

/// A client that has sent its INIT, or its COOKIE ECHO with a message.
fn opening(state: State) -> Association {
    let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
    pair.client.send(Message::new(0, Payload::of_octets(*b"data"))).unwrap();
    pair.drive(if state == State::CookieWait { at_ms(10) } else { at_ms(110) });
    assert_eq!(pair.client.state(), state);
    pair.client
}

/// §5.2.1: the tag, the TSN and the streams of our own INIT.
#[test]
fn an_init_while_opening_is_answered_with_our_own_parameters() {
    for state in [State::CookieWait, State::CookieEchoed] {
        let mut client = opening(state);
        let timer = client.phase.deadline();
        client.handle_input(at_ms(120), &init_from(SERVER[0], 2000, &[]));
        let answer = one(&mut client, at_ms(120));
        let own = client.init_chunk();
        let ack = init_ack(&answer);
        assert_eq!((ack.tag, ack.tsn, ack.inbound), (own.tag, own.tsn, own.inbound));
        assert_eq!(sctp(&answer).tag, 77);
        assert_eq!((client.state(), client.phase.deadline()), (state, timer));
    }
}

/// §5.2.1 rules 1 to 3: only to an address that the user gave, and that the INIT
/// names.
#[test]
fn an_init_ack_while_opening_goes_to_an_address_of_the_users() {
    let mut client = opening(State::CookieWait);
    client.handle_input(at_ms(20), &init_from(SERVER[1], 2000, &[SERVER[0], SERVER[1]]));
    let answer = one(&mut client, at_ms(20));
    assert_eq!((answer.dst, init_ack(&answer).tag), (SERVER[0], client.identity.local_tag));
    // Neither is the user's: some other peer, whom nobody listens to.
    client.handle_input(at_ms(20), &init_from(SERVER[1], 2000, &[Addr(99)]));
    assert_eq!(causes(&one(&mut client, at_ms(20))), []);
    assert_eq!(client.state(), State::CookieWait);
}

/// §5.2.1: in COOKIE-ECHOED the peer's addresses are known.
#[test]
fn an_init_with_a_new_address_in_cookie_echoed_is_refused() {
    let mut client = opening(State::CookieEchoed);
    client.handle_input(at_ms(120), &init_from(SERVER[0], 2000, &[SERVER[0], Addr(99)]));
    let answer = one(&mut client, at_ms(120));
    let new = vec![Parameter::Address(Addr(99).into())];
    assert_eq!(causes(&answer), [Cause::RestartWithNewAddresses(new)], "those alone (§3.3.10.11)");
    assert_eq!((sctp(&answer).tag, client.state()), (77, State::CookieEchoed));
}

/// An INIT from another port, or of other addresses alone, is of another
/// association: this one is not listening.
#[test]
fn an_init_of_another_peer_is_refused_without_a_cause() {
    for (src, port) in [(SERVER[0], 2001), (Addr(99), 2000)] {
        let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
        pair.drive(at_ms(1000));
        pair.client.handle_input(at_ms(1000), &init_from(src, port, &[]));
        let answer = one(&mut pair.client, at_ms(1000));
        assert_eq!((causes(&answer), sctp(&answer).tag, answer.dst), (&[][..], 77, src));
        assert_eq!(sctp(&answer).dst_port, port);
        assert_eq!(pair.client.state(), State::Established);
    }
}

/// §5.2.2: nothing changes, and the cookie shows nobody the tags.
#[test]
fn an_unexpected_init_changes_nothing_and_reveals_no_tag() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
    pair.drive(at_ms(1000));
    let (local, peer) = (pair.client.identity.local_tag, pair.client.identity.peer_tag);
    let before = standing(&pair.client);
    pair.client.handle_input(at_ms(1000), &init_from(SERVER[0], 2000, &[]));
    let answer = one(&mut pair.client, at_ms(1000));
    let ack = init_ack(&answer);
    assert_ne!(ack.tag, local, "a new tag (§5.3.1)");
    let Some(Parameter::StateCookie(cookie)) = ack.parameters.first() else { panic!("{ack:?}") };
    for tag in [local, peer] {
        assert!(!cookie.windows(4).any(|octets| octets == tag.to_be_bytes()), "{tag:x}");
    }
    assert_eq!(standing(&pair.client), before);
}

/// §5.2.4 action B: the peer answered our INIT, then called itself with a new tag.
/// What left with our COOKIE ECHO leaves again.
#[test]
fn data_on_a_cookie_echo_survives_a_collision() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
    pair.client.send(Message::new(0, Payload::of_octets(*b"ping"))).unwrap();
    pair.drive(at_ms(50));
    pair.server.connect(at_ms(50));
    run(&mut pair, at_ms(9000));
    assert_eq!(
        trace(&pair, 0),
        [
            "0 > INIT",
            "50 < INIT ACK",
            "50 < INIT",
            "100 > COOKIE ECHO, DATA 1",
            "100 > INIT ACK",
            "150 < COOKIE ECHO",
            "200 > COOKIE ACK, DATA 1",
            "250 < SACK 1",
        ]
    );
    assert_eq!(received(&mut pair.server), [(0, b"ping".to_vec())]);
    for association in [&pair.client, &pair.server] {
        assert_eq!(association.state(), State::Established);
    }
    assert_eq!(pair.client.identity.peer_tag, pair.server.identity.local_tag);
}

/// A packet of a peer with this cookie.
fn echo(packet: &Packet, tag: u32) -> Packet {
    let Some(Parameter::StateCookie(cookie)) = init_ack(packet).parameters.first() else {
        panic!("no cookie: {packet:?}")
    };
    from_server(tag, Chunk::CookieEcho(cookie.clone()))
}

/// Action C, and every row that the table does not have: nothing at all.
#[test]
fn a_cookie_that_came_late_is_discarded() {
    // The cookie of an earlier attempt: tag of ours that is no longer ours.
    let mut client = opening(State::CookieWait);
    client.handle_input(at_ms(20), &init_from(SERVER[0], 2000, &[]));
    let answer = one(&mut client, at_ms(20));
    let (old, key) = (client.identity.local_tag, client.identity.key);
    let mut again = opening(State::CookieEchoed);
    again.identity.key = key;
    again.identity.local_tag = old ^ 1;
    again.handle_input(at_ms(120), &echo(&answer, old));
    assert_eq!((again.poll_transmit(at_ms(120)), again.state()), (None, State::CookieEchoed));
}

/// Action B in a later state. Deviation: discarded, since only a replay does
/// it and the table would cut the association's tag off.
#[test]
fn a_replayed_cookie_does_not_change_the_tag_of_a_working_association() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
    pair.drive(at_ms(10));
    pair.client.handle_input(at_ms(10), &init_from(SERVER[0], 2000, &[]));
    let answer = one(&mut pair.client, at_ms(10));
    pair.drive(at_ms(1000));
    let tag = pair.client.identity.peer_tag;
    let replay = echo(&answer, pair.client.identity.local_tag);
    pair.client.handle_input(at_ms(1000), &replay);
    assert_eq!(
        (pair.client.poll_transmit(at_ms(1000)), pair.client.identity.peer_tag),
        (None, tag)
    );
    assert_eq!(pair.client.state(), State::Established);
}

/// Action D: the COOKIE ECHO again, for a lost COOKIE ACK, also past its life.
#[test]
fn a_cookie_of_the_association_itself_is_acknowledged_again() {
    let config = Config { cookie_life: Span::from_millis(500), ..plain(Config::rfc9260()) };
    let mut pair = pair(&config, 1, deliver);
    pair.drive(at_ms(9000));
    let echo = pair
        .log
        .iter()
        .find(|l| matches!(sctp(&l.packet).chunks.first(), Some(Chunk::CookieEcho(_))));
    let echo = echo.unwrap().packet.clone();
    pair.server.handle_input(at_ms(9000), &echo);
    let answer = one(&mut pair.server, at_ms(9000));
    assert_eq!(sctp(&answer).chunks.first(), Some(&Chunk::CookieAck));
    assert_eq!(std::iter::from_fn(|| pair.server.poll_notification()).count(), 0);
}

/// §5.2.4 action A while ending, and a writer that waited for room.
#[test]
fn a_restart_keeps_the_users_close_and_wakes_a_writer() {
    let config = plain(Config::rfc9260());
    for close in [false, true] {
        let mut pair = pair(&config, 1, deliver);
        pair.drive(at_ms(1000));
        let full = vec![7; config.send_buffer as usize + 1];
        assert_eq!(pair.server.write_octets(&full), config.send_buffer as usize);
        if close {
            pair.server.close();
        }
        while pair.server.poll_event().is_some() {}
        let again = Seed { seed: 7, replication: 0 }.generator("client");
        let (c, s) = ((&CLIENT[..1], 1000), (&SERVER[..1], 2000));
        pair.client = Association::client(config.clone(), c, s, again);
        pair.client.connect(pair.now);
        let events = pair.drive(at_ms(2000));
        let heard = |event| events.iter().any(|e| e.1 == Side::Server && e.2 == event);
        assert_eq!(heard(Event::Writable), !close);
        assert_eq!(heard(Event::Closed(CloseReason::Normal)), close);
    }
}

/// §5.2.4 action A in SHUTDOWN-ACK-SENT: the old association ends first.
#[test]
fn a_restart_waits_for_the_end_of_the_old_association() {
    let config = plain(Config::rfc9260());
    // The last chunk of the end is lost, and the client calls again.
    let mut pair = pair(&config, 1, |_, packet| match sctp(packet).chunks.first() {
        Some(Chunk::ShutdownComplete { .. }) => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.drive(at_ms(1000));
    let again = Seed { seed: 7, replication: 0 }.generator("client");
    let (c, s) = ((&CLIENT[..1], 1000), (&SERVER[..1], 2000));
    let mut second = Association::client(config, c, s, again);
    // An INIT ACK from before the end, for a cookie that comes after it.
    second.connect(pair.now);
    let init = second.poll_transmit(pair.now).unwrap();
    pair.server.handle_input(pair.now, &init);
    second.handle_input(pair.now, &one(&mut pair.server, pair.now));
    pair.client.close();
    pair.drive(at_ms(1200));
    assert_eq!(pair.server.state(), State::ShutdownAckSent);
    let echo = second.poll_transmit(pair.now).unwrap();
    pair.server.handle_input(pair.now, &echo);
    let sent: Vec<Packet> = std::iter::from_fn(|| pair.server.poll_transmit(pair.now)).collect();
    let show = |chunk: &Chunk| show(chunk, &pair.server, &second);
    let [packet] = &sent[..] else { panic!("one packet (§3.3.10.10): {sent:?}") };
    let chunks: Vec<String> = sctp(packet).chunks.iter().map(show).collect();
    assert_eq!(chunks, ["SHUTDOWN ACK", "ERROR 10"]);
    assert_eq!(pair.server.state(), State::ShutdownAckSent);
}

/// §9.2: an INIT for a lost SHUTDOWN COMPLETE. It has no tag, so that whoever
/// sends many must not hold T2-shutdown up.
#[test]
fn an_init_in_shutdown_ack_sent_repeats_the_shutdown_ack_and_no_timer() {
    let mut pair =
        pair(&plain(Config::rfc9260()), 1, |_, packet| match sctp(packet).chunks.first() {
            Some(Chunk::ShutdownAck) => Fate::Drop,
            _ => Fate::Deliver,
        });
    pair.drive(at_ms(1000));
    pair.server.close();
    pair.drive(at_ms(1100));
    assert_eq!(pair.client.state(), State::ShutdownAckSent);
    let timer = pair.client.poll_timeout();
    pair.client.handle_input(at_ms(1100), &init_from(SERVER[0], 2000, &[]));
    let answer = one(&mut pair.client, at_ms(1100));
    assert_eq!(sctp(&answer).chunks.first(), Some(&Chunk::ShutdownAck));
    assert_eq!(pair.client.poll_timeout(), timer);
    // Not for an INIT of anybody else.
    pair.client.handle_input(at_ms(1100), &init_from(Addr(99), 2000, &[]));
    assert_eq!(causes(&one(&mut pair.client, at_ms(1100))), []);
}

/// §5.2.6: no more than a second beyond the measured round trip.
#[test]
fn a_cookie_preservative_asks_for_the_round_trip_and_a_second() {
    let mut pair = with_late_cookie();
    pair.drive(at_ms(1000));
    let asked = pair.log.iter().rev().find_map(|l| match sctp(&l.packet).chunks.first() {
        Some(Chunk::Init(init)) => init.parameters.first().cloned(),
        _ => None,
    });
    assert_eq!(
        asked,
        Some(Parameter::CookiePreservative(1400)),
        "COOKIE ECHO at 100, ERROR at 500"
    );
}

/// A peer whose cookies are always too old does not keep us busy for ever.
#[test]
fn stale_cookies_without_end_are_given_up() {
    let config = Config {
        cookie_life: Span::from_millis(1),
        max_init_retransmits: 3,
        ..plain(Config::rfc9260())
    };
    let mut pair = pair(&config, 1, deliver);
    let events = pair.drive(at_ms(60_000));
    let end = (Side::Client, Event::Closed(CloseReason::Refused));
    assert!(events.iter().any(|e| (e.1, e.2) == end), "{events:?}");
    let inits = trace(&pair, 0).iter().filter(|line| line.ends_with("> INIT")).count();
    assert_eq!(inits, 4);
}

/// §5.2.3, §5.2.5: in every later state INIT ACK and COOKIE ACK are nothing.
#[test]
fn an_unexpected_init_ack_or_cookie_ack_is_discarded() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
    pair.drive(at_ms(1000));
    let ack =
        pair.log.iter().find(|l| matches!(sctp(&l.packet).chunks.first(), Some(Chunk::InitAck(_))));
    let ack = ack.unwrap().packet.clone();
    let before = standing(&pair.client);
    pair.client.handle_input(at_ms(1000), &ack);
    assert_eq!(pair.client.poll_transmit(at_ms(1000)), None);
    assert_eq!(standing(&pair.client), before);
}
