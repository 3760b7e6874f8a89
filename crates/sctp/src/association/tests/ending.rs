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

/// §3.3.8: a SHUTDOWN has no gap blocks, which says nothing of the chunks that SACKs have reported.
#[test]
fn a_shutdown_takes_no_reported_chunk_back() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, |_, p| match p.payload_len() {
        0 => Fate::Deliver,
        _ => Fate::Drop,
    });
    pair.drive(at_ms(1000));
    pair.client.write(3 * 1452);
    pair.drive(at_ms(1010));
    let gaps = vec![anabranch_wire::sctp::GapBlock { start: 2, end: 3 }];
    let cum_tsn = pair.client.sender.origin;
    let sack = anabranch_wire::sctp::SackChunk {
        cum_tsn,
        a_rwnd: 100_000,
        gaps,
        packets: 0,
        duplicates: Vec::new(),
    };
    let tag = pair.client.identity.local_tag;
    for chunk in [Chunk::Sack(sack), Chunk::Shutdown(cum_tsn), Chunk::Shutdown(cum_tsn)] {
        pair.client.handle_input(at_ms(1010), &from_server(tag, chunk));
        assert_eq!(pair.client.observe().in_flight, 1468);
    }
    assert_eq!(pair.client.state(), State::ShutdownReceived);
}

/// §9.2: SHUTDOWN is taken whatever this side lacks of the peer's data: its sender has given that up
/// (RFC 3758 §3.5 A3), or broken a SHOULD. What stands behind the gap is not delivered.
#[test]
fn a_shutdown_ends_what_waits_for_a_gap() {
    use super::states::{client_in, to_client};
    let mut client = client_in(State::Established);
    let second = anabranch_wire::sctp::DataChunk {
        flags: DataFlags::WHOLE,
        tsn: client.receiver.cumulative_tsn().add(2),
        stream: 0,
        ssn: 1,
        ppid: 0,
        payload: Payload::virtual_of(10),
    };
    let now = at_ms(1000);
    client.handle_input(now, &to_client(&client, Chunk::Data(second)));
    let sack = client.poll_transmit(now).expect("a gap is told at once");
    assert!(matches!(sctp(&sack).chunks.first(), Some(Chunk::Sack(sack)) if sack.gaps.len() == 1));
    let shutdown = Chunk::Shutdown(client.sender.origin.add(client.sender.flight.una as u32 - 1));
    client.handle_input(now, &to_client(&client, shutdown));
    assert_eq!(client.state(), State::ShutdownAckSent);
    let answer = client.poll_transmit(now).expect("it is answered");
    assert!(sctp(&answer).chunks.iter().any(|chunk| *chunk == Chunk::ShutdownAck));
    assert_eq!(client.receive(), None);
}

/// §6: a SACK is discarded when all has been acknowledged, even one of what was never sent.
#[test]
fn a_sack_while_shutting_down_is_discarded() {
    use super::states::{client_in, to_client};
    for state in [State::ShutdownSent, State::ShutdownAckSent] {
        let mut client = client_in(state);
        let cum_tsn = client.sender.origin.add(100);
        let (gaps, duplicates) = (Vec::new(), Vec::new());
        let sack =
            anabranch_wire::sctp::SackChunk { cum_tsn, a_rwnd: 0, gaps, packets: 0, duplicates };
        let packet = to_client(&client, Chunk::Sack(sack));
        client.handle_input(at_ms(1000), &packet);
        assert_eq!((client.poll_transmit(at_ms(1000)), client.state()), (None, state));
    }
}

/// §8.3: heartbeats end with SHUTDOWN and SHUTDOWN ACK.
#[test]
fn no_heartbeat_leaves_after_a_shutdown() {
    let interval = Some(Span::from_millis(500));
    let config = Config { heartbeat_interval: interval, ..plain(Config::rfc9260()) };
    let mut pair = pair(&config, 2, |_, packet| match sctp(packet).chunks.first() {
        Some(Chunk::ShutdownComplete { .. }) => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.drive(at_ms(4000));
    pair.client.close();
    pair.drive(at_ms(60_000));
    let is_probe = |line: &String| line.ends_with("HEARTBEAT");
    let (before, after) = (trace(&pair, 0), trace(&pair, 4050));
    assert!(before.iter().any(is_probe) && !after.iter().any(is_probe), "{after:?}");
    assert!(after.len() > 2, "the SHUTDOWN ACK is repeated: {after:?}");
}

/// §9.2: while packets of the peer come the SHUTDOWN that is not answered counts anew. It is repeated
/// all the same, since the peer may have missed it.
#[test]
fn packets_of_the_peer_prolong_the_shutdown() {
    use super::states::{client_in, to_client};
    let mut client = client_in(State::ShutdownSent);
    let before = client.phase.deadline();
    client.paths.errors = 3;
    let packet = to_client(&client, Chunk::Heartbeat([1].into()));
    client.handle_input(at_ms(1400), &packet);
    assert_eq!((client.phase.deadline(), client.paths.errors), (before, 0));
    let data = Chunk::Data(anabranch_wire::sctp::DataChunk {
        flags: DataFlags::WHOLE,
        tsn: client.receiver.origin.add(1),
        stream: 0,
        ssn: 0,
        ppid: 0,
        payload: Payload::virtual_of(10),
    });
    let packet = to_client(&client, data);
    client.handle_input(at_ms(1500), &packet);
    assert_eq!(client.phase.deadline(), at_ms(2500));
}

/// Where all paths have failed SHUTDOWN tries them in turn: no heartbeat finds the one that works.
#[test]
fn a_shutdown_tries_all_addresses() {
    let config = Config { path_max_retrans: 0, ..plain(Config::rfc9260()) };
    let (mut n, mut ends) = (0, false);
    let mut pair = pair(&config, 2, move |side, packet| {
        ends |= matches!(sctp(packet).chunks.first(), Some(Chunk::Shutdown(_)));
        n += (ends && side == Side::Client) as u32;
        // The first path is dead from then on, and one packet is lost on the other.
        if ends && (packet.src.0 % 2 == 0 || n == 2) { Fate::Drop } else { Fate::Deliver }
    });
    pair.drive(at_ms(1000));
    pair.client.close();
    pair.drive(at_ms(60_000));
    let sent: Vec<_> = trace(&pair, 1000).into_iter().filter(|line| line.contains('>')).collect();
    assert_eq!(
        sent,
        [
            "1000 > SHUTDOWN 0 x",
            "2000 >' SHUTDOWN 0 x",
            "3000 > SHUTDOWN 0 x",
            "5000 >' SHUTDOWN 0",
            "5100 >' SHUTDOWN COMPLETE",
        ]
    );
}
