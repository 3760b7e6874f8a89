//! RFC 6525 §5.1.4: all numbers of both directions start anew.

use super::*;
use anabranch_wire::sctp::Parameter;

fn config() -> Config {
    Config { reconfiguration: true, ..plain(Config::rfc9260()) }
}

fn established<F: FnMut(Side, &Packet) -> Fate>(config: &Config, rule: F) -> Pair<Association, F> {
    let mut pair = pair(config, 1, rule);
    pair.drive(at_ms(1000));
    pair
}

fn message(text: &str) -> Message {
    Message::new(1, Payload::of_octets(text.as_bytes()))
}

fn notifications(association: &mut Association) -> Vec<Notification> {
    std::iter::from_fn(|| association.poll_notification()).collect()
}

fn texts(association: &mut Association) -> Vec<String> {
    received(association).into_iter().map(|(_, o)| String::from_utf8(o).unwrap()).collect()
}

/// TSN and stream sequence number of each DATA chunk of a side.
fn numbers<F: FnMut(Side, &Packet) -> Fate>(
    pair: &Pair<Association, F>,
    side: Side,
) -> Vec<(u32, u32)> {
    let of = |chunk: &Chunk| match chunk {
        Chunk::Data(data) => Some((data.tsn.0, data.ssn as u32)),
        Chunk::IData(data) => Some((data.tsn.0, data.mid)),
        _ => None,
    };
    let lines = pair.log.iter().filter(|line| line.from == side);
    lines.flat_map(|l| sctp(&l.packet).chunks.iter().filter_map(of).collect::<Vec<_>>()).collect()
}

fn results<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Association, F>) -> Vec<u32> {
    let of = |chunk: &Chunk| match chunk {
        Chunk::Reconfig(list) => match list[0] {
            Parameter::ReconfigResponse { result, .. } => Some(result),
            _ => None,
        },
        _ => None,
    };
    let lines = pair.log.iter();
    lines.flat_map(|l| sctp(&l.packet).chunks.iter().filter_map(of).collect::<Vec<_>>()).collect()
}

fn is_answer(packet: &Packet) -> bool {
    sctp(packet).chunks.iter().any(|chunk| {
        matches!(chunk, Chunk::Reconfig(list)
            if matches!(list[0], Parameter::ReconfigResponse { .. }))
    })
}

#[test]
fn both_directions_start_anew() {
    for interleaving in [false, true] {
        let mut pair = established(&Config { interleaving, ..config() }, deliver);
        for text in ["a", "b"] {
            pair.client.send(message(text)).unwrap();
            pair.server.send(message(text)).unwrap();
        }
        pair.client.reset_association().unwrap();
        assert_eq!(pair.client.send(message("c")), Err(SendError::Resetting));
        run(&mut pair, at_ms(2000));
        assert_eq!(notifications(&mut pair.client), [Notification::Renumbered]);
        assert_eq!(notifications(&mut pair.server), [Notification::Renumbered]);
        pair.client.send(message("c")).unwrap();
        pair.server.send(message("d")).unwrap();
        run(&mut pair, at_ms(3000));
        assert_eq!(texts(&mut pair.server), ["a", "b", "c"]);
        assert_eq!(texts(&mut pair.client), ["a", "b", "d"]);
        for side in [Side::Client, Side::Server] {
            let sent = numbers(&pair, side);
            assert_eq!(sent.iter().map(|(_, ssn)| *ssn).collect::<Vec<_>>(), [0, 1, 0]);
            assert_eq!(sent[2].0, sent[1].0.wrapping_add(1 + (1 << 31)));
        }
        assert_eq!(pair.client.observe().retransmitted_packets, 0);
    }
}

/// What was given before is delivered before, whatever is lost.
#[test]
fn what_is_outstanding_arrives_first() {
    // The client's data, then the server's: "in progress" until it is there.
    let mut lost = 0;
    let mut pair = established(&config(), move |side, packet| {
        let first = packet.payload_len() > 0 && side == Side::Server && lost == 0;
        lost += first as u32;
        if first { Fate::Drop } else { Fate::Deliver }
    });
    pair.client.send(message("mine")).unwrap();
    pair.server.send(message("yours")).unwrap();
    pair.client.reset_association().unwrap();
    run(&mut pair, at_ms(1160));
    pair.server.send(message("held back")).unwrap();
    run(&mut pair, at_ms(9000));
    assert_eq!(results(&pair), [6, 1]);
    assert_eq!(texts(&mut pair.server), ["mine"]);
    assert_eq!(texts(&mut pair.client), ["yours", "held back"]);
    assert_eq!(notifications(&mut pair.client), [Notification::Renumbered]);
    let ssns: Vec<u32> = numbers(&pair, Side::Server).iter().map(|(_, ssn)| *ssn).collect();
    assert_eq!(ssns, [0, 0, 0], "sent twice, then numbered anew");
}

/// Who asked and went silent does not hold the other's data up for ever.
#[test]
fn data_is_held_back_for_two_rtos_at_most() {
    let mut asked = false;
    let mut pair = established(&config(), move |side, packet| {
        let is = |c: &Chunk| matches!(c, Chunk::Reconfig(_));
        let ask = side == Side::Client && sctp(packet).chunks.iter().any(is);
        match (ask && std::mem::replace(&mut asked, true)) || is_answer(packet) {
            true => Fate::Drop,
            false => Fate::Deliver,
        }
    });
    pair.server.write(3 * 1452);
    pair.client.reset_association().unwrap();
    run(&mut pair, at_ms(1020));
    pair.server.write(3 * 1452);
    run(&mut pair, at_ms(30_000));
    assert_eq!(pair.client.observe().bytes_received, 6 * 1452);
}

/// A lost answer is given again, and the reset is done once.
#[test]
fn a_lost_answer_is_the_same_again() {
    let mut lost = false;
    let mut pair = established(&config(), move |_, packet| {
        match is_answer(packet) && !std::mem::replace(&mut lost, true) {
            true => Fate::Drop,
            false => Fate::Deliver,
        }
    });
    pair.server.send(message("first")).unwrap();
    run(&mut pair, at_ms(2000));
    pair.client.reset_association().unwrap();
    run(&mut pair, at_ms(2060));
    // New data of the server overtakes the answer: not taken for old.
    pair.server.send(message("early")).unwrap();
    run(&mut pair, at_ms(9000));
    assert_eq!(results(&pair), [1, 1]);
    assert_eq!(notifications(&mut pair.server), [Notification::Renumbered]);
    assert_eq!(texts(&mut pair.client), ["first", "early"]);
    pair.client.send(message("late")).unwrap();
    run(&mut pair, at_ms(12_000));
    assert_eq!(texts(&mut pair.server), ["late"]);
}

/// Each would give numbers that the other does not know of: both fail.
#[test]
fn two_resets_at_once_fail() {
    let mut pair = established(&config(), deliver);
    pair.client.reset_association().unwrap();
    pair.server.reset_association().unwrap();
    run(&mut pair, at_ms(3000));
    let failed = [Notification::ReconfigurationFailed {
        request: Reconfiguration::ResetAssociation,
        result: 4,
    }];
    assert_eq!(notifications(&mut pair.client), failed);
    assert_eq!(notifications(&mut pair.server), failed);
    pair.client.send(message("still")).unwrap();
    run(&mut pair, at_ms(4000));
    assert_eq!(texts(&mut pair.server), ["still"]);
}

/// A SACK or FORWARD-TSN with old numbers comes late.
#[test]
fn late_packets_with_old_numbers_do_no_harm() {
    let mut pair = established(&config(), deliver);
    pair.client.send(message("a")).unwrap();
    run(&mut pair, at_ms(2000));
    let old: Vec<(Side, Packet)> = pair
        .log
        .iter()
        .filter(|l| l.sent >= at_ms(1000))
        .map(|l| (l.from, l.packet.clone()))
        .collect();
    pair.client.reset_association().unwrap();
    run(&mut pair, at_ms(3000));
    for (from, packet) in old {
        match from {
            Side::Client => pair.server.handle_input(at_ms(3000), &packet),
            Side::Server => pair.client.handle_input(at_ms(3000), &packet),
        }
    }
    pair.client.send(message("b")).unwrap();
    run(&mut pair, at_ms(9000));
    assert_eq!(texts(&mut pair.server), ["a", "b"]);
    assert_eq!(pair.client.state(), State::Established);
}
