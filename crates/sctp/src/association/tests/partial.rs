//! RFC 3758 and RFC 7496: messages that are given up.

use super::*;
use crate::{Abandoned, Reliability};

fn config() -> Config {
    Config {
        partial_reliability: true,
        initial_window: crate::InitialWindow::Mtus(8),
        max_burst: None,
        ..plain(Config::rfc9260())
    }
}

fn established<F: FnMut(Side, &Packet) -> Fate>(config: &Config, rule: F) -> Pair<Association, F> {
    let mut pair = pair(config, 1, rule);
    pair.drive(at_ms(1000));
    pair
}

fn message(stream: u16, text: &[u8]) -> Message {
    Message::new(stream, Payload::of_octets(text))
}

fn big(stream: u16, octet: u8) -> Message {
    message(stream, &[octet; 1400])
}

fn send(association: &mut Association, message: Message, limit: Reliability) {
    association.send_with(message, limit).unwrap();
}

fn first_octets(association: &mut Association) -> Vec<(u16, u8)> {
    received(association).iter().map(|(stream, octets)| (*stream, octets[0])).collect()
}

/// RFC 7496 §4.1: after no retransmission; RFC 3758 §3.5 C3: the peer is told
/// what to skip, and delivers what waited.
#[test]
fn a_message_without_retransmissions_is_skipped() {
    let mut pair = established(&config(), drop_nth(&[1]));
    send(&mut pair.client, big(3, b'a'), Reliability::Retransmissions(0));
    for octet in *b"bcde" {
        pair.client.send(big(3, octet)).unwrap();
    }
    run(&mut pair, at_ms(2500));
    assert_eq!(
        trace(&pair, 1001),
        [
            "1050 < SACK 0 +2-2",
            "1050 < SACK 0 +2-3",
            "1050 < SACK 0 +2-4",
            "1050 < SACK 0 +2-5",
            "1100 > FORWARD-TSN 1 3/0",
            "1100 > FORWARD-TSN 1 3/0",
            "1150 < SACK 5",
            "1150 < SACK 5",
        ]
    );
    assert_eq!(first_octets(&mut pair.server), [(3, b'b'), (3, b'c'), (3, b'd'), (3, b'e')]);
    assert_eq!(pair.client.abandoned(), Abandoned { unsent: 0, sent: 1 });
    assert!(pair.client.sender.flight.is_empty() && !pair.client.paths[0].t3.is_armed());
}

/// A message that is given up leaves room in the send buffer, whose user waits for that.
#[test]
fn a_user_hears_of_the_room_that_a_message_leaves() {
    let config = Config { send_buffer: 1500, ..config() };
    let mut pair = established(&config, |side, packet| match side {
        Side::Client if packet.payload_len() > 0 => Fate::Drop,
        _ => Fate::Deliver,
    });
    let once = Reliability::Retransmissions(0);
    send(&mut pair.client, big(3, b'a'), once);
    assert_eq!(pair.client.send_with(big(3, b'b'), once), Err(crate::SendError::Full));
    let heard = pair.drive(at_ms(9000));
    let heard: Vec<_> =
        heard.iter().map(|(at, side, event)| (at.as_millis(), *side, *event)).collect();
    assert_eq!(heard, [(2000, Side::Client, Event::Writable)]);
    assert_eq!(pair.client.abandoned(), Abandoned { unsent: 0, sent: 1 });
    send(&mut pair.client, big(3, b'b'), once);
}

/// The number of retransmissions that each message asks for, and no more.
#[test]
fn retransmissions_are_counted() {
    for most in [0, 1, 2] {
        let mut pair = established(&config(), |side, packet| {
            if side == Side::Client && packet.payload_len() > 0 {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        send(&mut pair.client, message(0, b"a"), Reliability::Retransmissions(most));
        pair.drive(at_ms(60_000));
        let sent = trace(&pair, 1000).iter().filter(|line| line.contains("DATA")).count();
        assert_eq!(sent, 1 + most as usize);
        assert_eq!(pair.client.abandoned().sent, 1);
        assert_eq!(pair.server.receiver.map.next, 2, "the TSN was skipped");
    }
}

/// RFC 3758 §4.1: by the date; and §3.5 C5: a lost FORWARD-TSN is sent again
/// after the timer.
#[test]
fn a_message_whose_date_has_passed_is_not_sent_again() {
    let mut dropped = 0;
    let mut pair = established(&config(), move |side, packet| {
        let forward = sctp(packet).chunks.iter().any(|c| matches!(c, Chunk::ForwardTsn(_)));
        let lost = side == Side::Client && (packet.payload_len() > 0 || forward) && dropped < 2;
        dropped += lost as u32;
        if lost { Fate::Drop } else { Fate::Deliver }
    });
    send(&mut pair.client, message(1, b"a"), Reliability::Until(at_ms(1900)));
    pair.drive(at_ms(5000));
    assert_eq!(
        trace(&pair, 1000),
        [
            "1000 > DATA 1 x",
            "2000 > FORWARD-TSN 1 1/0 x",
            "4000 > FORWARD-TSN 1 1/0",
            "4050 < SACK 1",
        ]
    );
    // One that is late before it leaves takes no TSN.
    send(&mut pair.client, message(1, b"b"), Reliability::Until(at_ms(4000)));
    pair.client.send(message(1, b"c")).unwrap();
    run(&mut pair, at_ms(6000));
    assert_eq!(trace(&pair, 5000), ["5000 > DATA 2", "5050 < SACK 2"]);
    assert_eq!(first_octets(&mut pair.server), [(1, b'c')]);
    assert_eq!(pair.client.abandoned(), Abandoned { unsent: 1, sent: 1 });
}

/// A message of several fragments goes as a whole, with what was not sent; its
/// end takes a TSN, for the receiver may have all that was.
#[test]
fn a_message_that_is_sent_in_part_is_forgotten() {
    let config = Config { initial_window: crate::InitialWindow::Mtus(1), ..config() };
    let mut pair = established(&config, deliver);
    let payload = Payload::of_octets(vec![b'a'; 30 * 1452]);
    let limit = Reliability::Until(at_ms(1150));
    send(&mut pair.client, Message::new(2, payload), limit);
    pair.client.send(message(2, b"b")).unwrap();
    run(&mut pair, at_ms(3000));
    let lines = trace(&pair, 1150);
    assert!(lines.iter().any(|l| l.contains("FORWARD-TSN")), "{lines:?}");
    assert_eq!(first_octets(&mut pair.server), [(2, b'b')]);
    assert_eq!(pair.server.receiver.reassembly.memory(), 0);
    assert_eq!(pair.client.abandoned(), Abandoned { unsent: 0, sent: 1 });
    assert_eq!(pair.client.sender.held(), 0);
}

/// §3.5 C4: unordered messages are not listed.
#[test]
fn unordered_messages_are_skipped_without_a_stream() {
    let mut pair = established(&config(), drop_nth(&[1, 2]));
    for octet in *b"ab" {
        let message = Message { unordered: true, ..big(1, octet) };
        send(&mut pair.client, message, Reliability::Retransmissions(0));
    }
    for octet in *b"cdef" {
        pair.client.send(big(1, octet)).unwrap();
    }
    run(&mut pair, at_ms(1200));
    let lines = trace(&pair, 1100);
    assert!(lines.contains(&"1100 > FORWARD-TSN 2".to_string()), "{lines:?}");
    assert_eq!(first_octets(&mut pair.server), [(1, b'c'), (1, b'd'), (1, b'e'), (1, b'f')]);
}

/// RFC 7496 §4.2: a full buffer gives up the least urgent first, what was not
/// sent before what was.
#[test]
fn urgent_messages_push_others_out() {
    let config = Config { send_buffer: 4 * 1400, ..config() };
    let mut pair = established(&config, |side, packet| {
        let sack = sctp(packet).is_pure_sack();
        if side == Side::Server && sack { Fate::Drop } else { Fate::Deliver }
    });
    let mut offer =
        |octet, priority| pair.client.send_with(big(0, octet), Reliability::Priority(priority));
    for (octet, priority) in [(b'a', 5), (b'b', 9), (b'c', 7), (b'd', 9)] {
        offer(octet, priority).unwrap();
    }
    assert_eq!(offer(b'e', 9), Err(SendError::Full), "no one yields to an equal");
    offer(b'f', 6).unwrap(); // d, the newer of the least urgent
    offer(b'g', 1).unwrap(); // b
    assert_eq!(offer(b'h', 8), Err(SendError::Full), "all others are more urgent");
    assert_eq!(pair.client.abandoned(), Abandoned { unsent: 2, sent: 0 });
    run(&mut pair, at_ms(1020)); // all four leave
    pair.client.send_with(big(0, b'i'), Reliability::Priority(2)).unwrap(); // c, in flight
    assert_eq!(pair.client.abandoned(), Abandoned { unsent: 2, sent: 1 });
    let reliable = pair.client.send(big(0, b'j'));
    assert_eq!(reliable, Err(SendError::Full), "only a priority takes precedence");
}

/// §3.5 F5: a chunk that is given up in flight, and that gap blocks then tell was lost, is
/// congestion like one that is to be sent again. One that arrived is none.
#[test]
fn what_is_given_up_in_flight_and_was_lost_reduces_the_window() {
    let windows = [false, true].map(|lost| {
        let config = Config { send_buffer: 5 * 1400, ..config() };
        let nth = if lost { &[2][..] } else { &[] };
        let mut pair = established(&config, drop_nth(nth));
        pair.client.send(big(0, b'a')).unwrap();
        send(&mut pair.client, big(1, b'b'), Reliability::Priority(9));
        for octet in *b"cde" {
            pair.client.send(big(2, octet)).unwrap();
        }
        run(&mut pair, at_ms(1020)); // all five leave
        let before = pair.client.paths[0].window.cwnd();
        send(&mut pair.client, message(3, b"f"), Reliability::Priority(1)); // b yields, in flight
        assert_eq!(pair.client.abandoned(), Abandoned { unsent: 0, sent: 1 });
        run(&mut pair, at_ms(1110));
        assert_eq!(pair.client.paths[0].fast_retransmits, lost as u64);
        run(&mut pair, at_ms(3000));
        let arrived = first_octets(&mut pair.server);
        assert_eq!(arrived.iter().any(|(_, octet)| *octet == b'b'), !lost);
        assert!(pair.client.sender.flight.is_empty());
        (before, pair.client.paths[0].window.cwnd())
    });
    let [(before, kept), (_, reduced)] = windows;
    assert!(kept >= before, "{windows:?}");
    assert!(reduced < before, "{windows:?}");
}

/// §3.3: without the peer's parameter all messages are reliable, and a
/// FORWARD-TSN of the peer is unknown to a side that did not offer it.
#[test]
fn without_the_peer_all_messages_are_reliable() {
    let (mut client, _) = ends(&config(), 1);
    let (_, mut server) = ends(&plain(Config::rfc9260()), 1);
    client.connect(Time::ZERO);
    send(&mut client, message(0, b"a"), Reliability::Until(Time::ZERO));
    send(&mut client, message(0, b"b"), Reliability::Retransmissions(0));
    let mut data = 0;
    let mut pair = Pair::new(client, server, LATENCY, move |_, packet| {
        data += (packet.payload_len() > 0) as u32;
        if data == 1 && packet.payload_len() > 0 { Fate::Drop } else { Fate::Deliver }
    });
    run(&mut pair, at_ms(5000));
    assert_eq!(first_octets(&mut pair.server), [(0, b'a'), (0, b'b')]);
    server = pair.server;
    let forward = anabranch_wire::sctp::ForwardTsn {
        cum_tsn: pair.client.sender.origin.add(9),
        skipped: vec![(0, 9)],
    };
    let packet =
        from_client(&pair.client, server.identity.local_tag, vec![Chunk::ForwardTsn(forward)]);
    server.handle_input(at_ms(5000), &packet);
    let answer = server.poll_transmit(at_ms(5000)).unwrap();
    assert!(matches!(sctp(&answer).chunks.first(), Some(Chunk::Error(_))), "{answer:?}");
    assert_eq!(server.receiver.map.next, 3);
}

/// The end does not wait for what was given up.
#[test]
fn an_association_ends_when_its_last_message_is_given_up() {
    for limit in [Reliability::Until(at_ms(1000)), Reliability::Retransmissions(0)] {
        let mut pair = established(&config(), drop_nth(&[1]));
        send(&mut pair.client, message(0, b"a"), limit);
        pair.client.close();
        pair.drive(at_ms(5000));
        assert_eq!((pair.client.state(), pair.server.state()), (State::Closed, State::Closed));
    }
}

/// A FORWARD-TSN behind the cumulative TSN is answered at once (§3.6).
#[test]
fn an_old_forward_tsn_is_answered_by_a_sack() {
    let mut pair = established(&config(), deliver);
    pair.client.send(message(0, b"a")).unwrap();
    run(&mut pair, at_ms(2000));
    for cum in [0, 1] {
        let cum_tsn = pair.client.sender.origin.add(cum);
        let forward = anabranch_wire::sctp::ForwardTsn { cum_tsn, skipped: Vec::new() };
        let chunks = vec![Chunk::ForwardTsn(forward)];
        let packet = from_client(&pair.client, pair.server.identity.local_tag, chunks);
        pair.server.handle_input(at_ms(2000), &packet);
        let answer = pair.server.poll_transmit(at_ms(2000)).unwrap();
        assert!(matches!(sctp(&answer).chunks.first(), Some(Chunk::Sack(_))));
    }
    assert_eq!(pair.server.receiver.map.next, 2);
}

/// RFC 3758 §4.1 TR3: a message that is late gets no TSN, though one that is not leaves before it.
#[test]
fn a_late_message_shares_no_packet() {
    let config = Config { keep_undelivered: true, ..config() };
    let mut pair = established(&config, deliver);
    pair.client.send(message(1, b"in time")).unwrap();
    send(&mut pair.client, message(2, b"late"), Reliability::Until(at_ms(1000)));
    pair.client.send(message(3, b"in time")).unwrap();
    run(&mut pair, at_ms(2000));
    let sent: Vec<_> = trace(&pair, 1000).into_iter().filter(|l| l.contains('>')).collect();
    assert_eq!(sent, ["1000 > DATA 1", "1000 > DATA 2"]);
    assert_eq!(pair.client.abandoned(), Abandoned { unsent: 1, sent: 0 });
    let back = pair.client.poll_undelivered().expect("the user hears of it (TR3)");
    assert_eq!((back.sent, back.message.stream), (false, 2));
}

/// TR3, TR4: nor does it leave with the COOKIE ECHO, for the first time or again.
#[test]
fn a_late_message_does_not_leave_with_the_cookie() {
    for (date, echoes) in [(50, 2), (500, 2)] {
        let mut n = 0;
        let mut pair = pair(&config(), 1, move |_, packet| {
            let is = matches!(sctp(packet).chunks.first(), Some(Chunk::CookieEcho(_)));
            n += is as u32;
            if is && n == 1 { Fate::Drop } else { Fate::Deliver }
        });
        send(&mut pair.client, message(1, b"late"), Reliability::Until(at_ms(date)));
        pair.client.send(message(1, b"in time")).unwrap();
        run(&mut pair, at_ms(5000));
        let lines: Vec<_> =
            trace(&pair, 0).into_iter().filter(|l| l.contains("COOKIE ECHO")).collect();
        let first = if date == 50 { "DATA 1" } else { "DATA 1, DATA 2" };
        let again = if date == 50 { "DATA 1" } else { "DATA 2" };
        assert_eq!(
            lines,
            [format!("100 > COOKIE ECHO, {first} x"), format!("1100 > COOKIE ECHO, {again}")],
            "{echoes}"
        );
        assert_eq!(received(&mut pair.server), [(1, b"in time".to_vec())]);
        assert!(pair.client.is_dry());
    }
}
