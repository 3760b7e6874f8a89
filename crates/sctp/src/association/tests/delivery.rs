//! Messages that the receive buffer cannot hold (RFC 6458 §8.1.21).

use super::*;
use crate::{Part, Received, Reliability};

fn config(interleaving: bool) -> Config {
    let receive_buffer = 16_384;
    Config { interleaving, receive_buffer, ..plain(Config::rfc9260()) }
}

fn large(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 251) as u8).collect()
}

fn message(stream: u16, octets: &[u8]) -> Message {
    Message::new(stream, Payload::of_octets(octets))
}

/// Runs until a date; the server reads parts as they come.
fn parts<F: FnMut(Side, &Packet) -> Fate>(
    pair: &mut Pair<Association, F>,
    until: Time,
) -> Vec<Received> {
    let mut all = Vec::new();
    loop {
        while let Some(part) = pair.server.receive_part() {
            all.push(part);
        }
        if !pair.step(until) {
            return all;
        }
    }
}

#[test]
fn a_message_sixty_times_the_receive_buffer_arrives_whole() {
    for interleaving in [false, true] {
        for lost in [&[][..], &[3, 4, 90, 200, 201, 400]] {
            let mut pair = pair(&config(interleaving), 1, drop_nth(lost));
            let octets = large(1_000_000);
            pair.client.send(message(1, &octets)).unwrap();
            pair.client.send(message(2, b"after")).unwrap();
            let mut all = Vec::new();
            while pair.step(at_ms(120_000)) {
                all.extend(received(&mut pair.server));
            }
            assert_eq!(all.len(), 2, "interleaving {interleaving}, lost {lost:?}");
            assert!(all[0] == (1, octets) && all[1] == (2, b"after".to_vec()));
            assert_eq!(pair.server.receiver.reassembly.memory(), 0);
        }
    }
}

/// Nothing comes between the parts of a message of DATA; with I-DATA messages of
/// other streams do.
#[test]
fn parts_of_data_follow_each_other_and_parts_of_i_data_alternate() {
    for interleaving in [false, true] {
        let scheduler = crate::Scheduler::RoundRobin;
        let mut pair = pair(&Config { scheduler, ..config(interleaving) }, 1, drop_nth(&[9]));
        pair.drive(at_ms(1000));
        for stream in [1, 2] {
            pair.client.send(message(stream, &large(100_000))).unwrap();
        }
        let mut all = parts(&mut pair, at_ms(1400));
        assert!(all.iter().any(|received| received.part == Part::First));
        pair.client.send(Message { unordered: true, ..message(3, b"small") }).unwrap();
        all.extend(parts(&mut pair, at_ms(60_000)));
        let mut open: Option<u16> = None;
        let mut alternates = false;
        for received in &all {
            let stream = received.message.stream;
            alternates |= open.is_some_and(|other| other != stream);
            match received.part {
                Part::First => open = Some(stream),
                Part::Last => open = None,
                Part::Whole | Part::Middle | Part::Aborted => {}
            }
        }
        assert_eq!(alternates, interleaving);
        for stream in [1, 2] {
            let of = |received: &&Received| received.message.stream == stream;
            let octets: Vec<u8> = all
                .iter()
                .filter(of)
                .flat_map(|received| received.message.payload.octets().unwrap().to_vec())
                .collect();
            assert!(octets == large(100_000), "in order, none twice");
            let mut of = all.iter().filter(of).map(|received| received.part);
            assert_eq!((of.next(), of.next_back()), (Some(Part::First), Some(Part::Last)));
        }
    }
}

/// The peer gives up what was delivered in part.
#[test]
fn a_message_that_is_given_up_ends_its_parts() {
    for interleaving in [false, true] {
        let partial_reliability = true;
        let config = Config { partial_reliability, ..config(interleaving) };
        // From the twentieth on, data is lost for a second.
        let mut n = 0;
        let mut pair = pair(&config, 1, move |side, packet| {
            n += (side == Side::Client && packet.payload_len() > 0) as u32;
            if (20..23).contains(&n) && packet.payload_len() > 0 {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        pair.drive(at_ms(1000));
        let until = Reliability::Until(at_ms(1600));
        pair.client.send_with(message(1, &large(100_000)), until).unwrap();
        pair.client.send(message(1, b"next")).unwrap();
        let all = parts(&mut pair, at_ms(60_000));
        let kinds: Vec<Part> = all.iter().map(|received| received.part).collect();
        assert_eq!(kinds.first(), Some(&Part::First), "{interleaving}");
        assert_eq!(kinds[kinds.len() - 2..], [Part::Aborted, Part::Whole], "{interleaving}");
        assert_eq!(all.last().unwrap().message.payload, Payload::of_octets(*b"next"));
        assert_eq!(pair.server.receiver.reassembly.memory(), 0);
        assert_eq!(pair.client.abandoned().sent, 1);
    }
}

/// The user who wants whole messages does not see what was given up.
#[test]
fn parts_of_a_message_that_was_given_up_are_forgotten() {
    let config = Config { partial_reliability: true, ..config(false) };
    let mut n = 0;
    let mut pair = pair(&config, 1, move |side, packet| {
        n += (side == Side::Client && packet.payload_len() > 0) as u32;
        if (20..23).contains(&n) && packet.payload_len() > 0 { Fate::Drop } else { Fate::Deliver }
    });
    pair.drive(at_ms(1000));
    let until = Reliability::Until(at_ms(1600));
    pair.client.send_with(message(1, &large(100_000)), until).unwrap();
    pair.client.send(message(1, b"next")).unwrap();
    let mut all = Vec::new();
    while pair.step(at_ms(60_000)) {
        all.extend(received(&mut pair.server));
    }
    assert_eq!(all, [(1, b"next".to_vec())]);
    assert_eq!(pair.server.receiver.joining(), 0);
}

#[test]
fn the_partial_delivery_point_begins_parts_in_a_large_buffer() {
    let point = Some(10_000);
    let config = Config { partial_delivery_point: point, ..plain(Config::rfc9260()) };
    for (len, first) in [(9_000, Part::Whole), (50_000, Part::First)] {
        let mut pair = pair(&config, 1, deliver);
        pair.drive(at_ms(1000));
        pair.client.send(message(1, &large(len))).unwrap();
        let all = parts(&mut pair, at_ms(20_000));
        assert_eq!(all[0].part, first);
        assert!(first == Part::Whole || all[0].message.payload.len() >= 10_000);
        assert!(
            all.iter()
                .all(|received| (received.number, received.tsn) == (all[0].number, all[0].tsn))
        );
    }
}

/// A message without an end is put together up to a limit.
#[test]
fn a_message_that_is_too_large_to_put_together_is_refused() {
    let config = Config { largest_message: 200_000, ..config(false) };
    let mut pair = pair(&config, 1, deliver);
    pair.drive(at_ms(1000));
    pair.client.send(message(1, &large(1_000_000))).unwrap();
    let mut events = Vec::new();
    while pair.step(at_ms(60_000)) {
        assert!(received(&mut pair.server).is_empty());
        events.extend(std::iter::from_fn(|| pair.client.poll_event()));
    }
    assert_eq!(pair.server.state(), State::Closed);
    assert_eq!(pair.client.state(), State::Closed);
    let refused = |chunk: &Chunk| matches!(chunk, Chunk::Abort { causes, .. } if causes.first().is_some_and(|c| c.code() == 4));
    assert!(pair.log.iter().any(|line| sctp(&line.packet).chunks.iter().any(refused)));
}

/// A stream that starts anew, and a peer that restarts, end what was open.
#[test]
fn a_restart_ends_the_parts() {
    for interleaving in [false, true] {
        let config = config(interleaving);
        let mut pair = pair(&config, 1, deliver);
        pair.drive(at_ms(1000));
        pair.client.send(message(1, &large(200_000))).unwrap();
        let before = parts(&mut pair, at_ms(1300));
        assert_eq!(before[0].part, Part::First);
        let again = Seed { seed: 7, replication: 0 }.generator("client");
        let (c, s) = ((&CLIENT[..1], 1000), (&SERVER[..1], 2000));
        pair.client = Association::client(config, c, s, again);
        pair.client.connect(pair.now);
        pair.client.send(message(1, b"new")).unwrap();
        let after = parts(&mut pair, at_ms(20_000));
        let kinds: Vec<Part> = after.iter().map(|received| received.part).collect();
        assert_eq!(kinds[kinds.len() - 2..], [Part::Aborted, Part::Whole], "{kinds:?}");
    }
}
