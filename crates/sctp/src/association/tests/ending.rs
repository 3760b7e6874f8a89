//! RFC 9260 §9.

use super::*;

fn established<F: FnMut(Side, &Packet) -> Fate>(rule: F) -> Pair<Association, F> {
    let mut pair = pair(&plain(Config::rfc9260()), 1, rule);
    pair.drive(at_ms(1000));
    pair
}

fn ends_of(events: &[(Time, Side, Event)]) -> Vec<(Side, Event)> {
    events.iter().map(|e| (e.1, e.2)).filter(|e| e.1 != Event::Readable).collect()
}

#[test]
fn an_orderly_end_delivers_what_was_given() {
    let mut pair = established(drop_nth(&[1]));
    pair.client.write(2 * 1452);
    pair.client.close();
    assert_eq!(pair.client.state(), State::ShutdownPending);
    assert_eq!(pair.client.write(1), 0);
    let events = pair.drive(at_ms(9000));
    assert_eq!(
        trace(&pair, 1000),
        [
            "1000 > DATA 1 x",
            "1000 > DATA 2",
            "1050 < SACK 0 +2-2",
            "2000 > DATA 1",
            "2050 < SACK 2",
            "2100 > SHUTDOWN 0",
            "2150 < SHUTDOWN ACK",
            "2200 > SHUTDOWN COMPLETE",
        ]
    );
    let normal = Event::Closed(CloseReason::Normal);
    assert_eq!(
        ends_of(&events),
        [
            (Side::Server, Event::PeerClosed),
            (Side::Client, Event::PeerClosed),
            (Side::Client, normal),
            (Side::Server, normal),
        ]
    );
    assert_eq!(pair.server.observe().bytes_received, 2 * 1452);
}

/// §9.2: the peer's outstanding data goes first.
#[test]
fn a_shutdown_waits_for_the_other_sides_data() {
    let mut pair = established(deliver);
    pair.server.write(5 * 1452);
    pair.client.close();
    let events = pair.drive(at_ms(9000));
    assert_eq!(pair.client.observe().bytes_received, 5 * 1452);
    assert_eq!(ends_of(&events).last(), Some(&(Side::Server, Event::Closed(CloseReason::Normal))));
}

#[test]
fn both_sides_end_at_once() {
    let mut pair = established(deliver);
    pair.client.close();
    pair.server.close();
    let events = pair.drive(at_ms(9000));
    assert_eq!(
        trace(&pair, 1000)[..4],
        ["1000 > SHUTDOWN 0", "1000 < SHUTDOWN 0", "1050 < SHUTDOWN ACK", "1050 > SHUTDOWN ACK"]
    );
    let normal = Event::Closed(CloseReason::Normal);
    assert_eq!(ends_of(&events).iter().filter(|e| e.1 == normal).count(), 2);
}

/// T2-shutdown; and a lost SHUTDOWN COMPLETE is answered out of the blue.
#[test]
fn each_step_of_the_end_is_repeated() {
    for lost in [
        Chunk::Shutdown(Serial32(0)),
        Chunk::ShutdownAck,
        Chunk::ShutdownComplete { reflected: false },
    ] {
        let kind = lost.kind();
        let mut dropped = false;
        let mut pair = established(move |_, packet| {
            let is = sctp(packet).chunks.iter().any(|c| c.kind() == kind);
            match is && !std::mem::replace(&mut dropped, true) {
                true => Fate::Drop,
                false => Fate::Deliver,
            }
        });
        pair.client.close();
        let events = pair.drive(at_ms(30_000));
        let normal = Event::Closed(CloseReason::Normal);
        assert_eq!(ends_of(&events).iter().filter(|e| e.1 == normal).count(), 2, "{lost:?}");
    }
}

#[test]
fn an_abort_ends_both_sides() {
    let mut pair = established(deliver);
    pair.client.write(1452 * 100);
    pair.drive(at_ms(1060));
    pair.client.abort();
    let events = pair.drive(at_ms(9000));
    assert_eq!(
        ends_of(&events),
        [
            (Side::Client, Event::Closed(CloseReason::Aborted)),
            (Side::Server, Event::Closed(CloseReason::Reset)),
        ]
    );
}

#[test]
fn a_closed_port_refuses() {
    let config = plain(Config::rfc9260());
    let (client, mut server) = ends(&config, 1);
    server.close();
    let mut pair = Pair::new(client, server, LATENCY, deliver);
    pair.client.connect(Time::ZERO);
    let events = pair.drive(at_ms(1000));
    assert_eq!(trace(&pair, 0), ["0 > INIT", "50 < ABORT"]);
    assert!(ends_of(&events).contains(&(Side::Client, Event::Closed(CloseReason::Refused))));
}

/// T5-shutdown-guard: a peer that only acknowledges cannot hold it open.
#[test]
fn the_guard_ends_a_shutdown_that_is_never_answered() {
    let mut pair = established(|side, p| match sctp(p).chunks.first() {
        Some(Chunk::Shutdown(_)) if side == Side::Client => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.client.close();
    let events = pair.drive(at_ms(900_000));
    let end = events.iter().find(|e| e.1 == Side::Client).unwrap();
    assert_eq!(end.2, Event::Closed(CloseReason::TimedOut));
    assert!(end.0 <= at_ms(1000 + 300_000), "{:?}", end.0);
}
