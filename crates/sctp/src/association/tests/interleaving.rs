//! RFC 8260: I-DATA, I-FORWARD-TSN and the schedulers of streams.

use super::*;
use crate::{Reliability, Scheduler};

fn config(scheduler: Scheduler, interleaving: bool) -> Config {
    Config {
        interleaving,
        scheduler,
        partial_reliability: true,
        initial_window: crate::InitialWindow::Mtus(20),
        max_burst: None,
        ..plain(Config::rfc9260())
    }
}

fn established<F: FnMut(Side, &Packet) -> Fate>(config: &Config, rule: F) -> Pair<Association, F> {
    let mut pair = pair(config, 1, rule);
    pair.drive(at_ms(1000));
    pair
}

fn message(stream: u16, len: usize) -> Message {
    Message::new(stream, Payload::of_octets(vec![stream as u8; len]))
}

/// The streams of the data that the client sent, a word a packet.
fn streams<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Association, F>) -> Vec<String> {
    let packets = pair.log.iter().filter(|l| l.from == Side::Client && l.packet.payload_len() > 0);
    let of = |packet: &Packet| {
        sctp(packet)
            .chunks
            .iter()
            .filter_map(|chunk| match chunk {
                Chunk::Data(data) => Some(data.stream.to_string()),
                Chunk::IData(data) => Some(data.stream.to_string()),
                _ => None,
            })
            .collect::<String>()
    };
    packets.map(|line| of(&line.packet)).collect()
}

/// Three messages of three packets each and what becomes of their order.
fn order(scheduler: Scheduler, interleaving: bool) -> String {
    let mut pair = established(&config(scheduler, interleaving), deliver);
    for (stream, value) in [(1, 3), (2, 1), (3, 2)] {
        pair.client.set_stream_value(stream, value);
    }
    // Whole packets: 1448 octets of I-DATA, 1452 of DATA.
    for stream in [1, 2, 3] {
        pair.client.send(message(stream, 3 * 1448)).unwrap();
    }
    run(&mut pair, at_ms(2000));
    assert_eq!(received(&mut pair.server).len(), 3);
    let words = streams(&pair);
    let firsts: Vec<&str> = words.iter().map(|word| &word[..1]).collect();
    firsts.concat()
}

/// RFC 8260 §3: what each scheduler does with and without interleaving.
#[test]
fn each_scheduler_orders_fragments_its_way() {
    use Scheduler::*;
    for (scheduler, data, interleaved) in [
        (Fcfs, "111222333", "111222333"),
        (RoundRobin, "111222333", "123123123"),
        (RoundRobinPacket, "111222333", "123123123"),
        (Priority, "222333111", "222333111"),
        (FairBandwidth, "111222333", "123123123"),
        // Weights 3, 1, 2: start tags of 1/3, 1 and 1/2 a turn.
        (WeightedFair, "111222333", "123131232"),
    ] {
        assert_eq!(order(scheduler, false), data, "{scheduler:?}");
        assert_eq!(order(scheduler, true), interleaved, "{scheduler:?}");
    }
}

/// The reason for I-DATA: a short urgent message does not wait for a long one
/// (RFC 8260 §1.2).
#[test]
fn an_urgent_message_overtakes_a_long_one() {
    for (interleaving, before) in [(false, vec![1, 0]), (true, vec![0, 1])] {
        let config = Config {
            initial_window: crate::InitialWindow::Mtus(2),
            ..config(Scheduler::Priority, interleaving)
        };
        let mut pair = established(&config, deliver);
        pair.client.set_stream_value(0, 0);
        pair.client.send(message(1, 20_000)).unwrap();
        run(&mut pair, at_ms(1020));
        pair.client.send(message(0, 100)).unwrap();
        run(&mut pair, at_ms(4000));
        let order: Vec<u16> = received(&mut pair.server).iter().map(|m| m.0).collect();
        assert_eq!(order, before, "interleaving: {interleaving}");
    }
}

/// §3.3: with round robin by packets a packet holds one stream alone.
#[test]
fn a_packet_holds_one_stream_alone() {
    for interleaving in [false, true] {
        let sent = |scheduler| {
            let mut pair = established(&config(scheduler, interleaving), deliver);
            for _ in 0..4 {
                (1..=3).for_each(|stream| pair.client.send(message(stream, 300)).unwrap());
            }
            run(&mut pair, at_ms(2000));
            assert_eq!(received(&mut pair.server).len(), 12);
            streams(&pair)
        };
        assert_eq!(sent(Scheduler::RoundRobinPacket), ["1111", "2222", "3333"]);
        assert_eq!(sent(Scheduler::RoundRobin), ["1231", "2312", "3123"]);
    }
}

/// The byte stream is stream 0's.
#[test]
fn the_byte_stream_takes_its_turns() {
    let mut pair = established(&config(Scheduler::RoundRobin, true), deliver);
    pair.client.write(3 * 1448);
    (0..3).for_each(|_| pair.client.send(message(5, 1448)).unwrap());
    run(&mut pair, at_ms(2000));
    assert_eq!(streams(&pair).concat(), "050505");
    assert_eq!(pair.server.observe().bytes_received, 6 * 1448);
}

/// §2.2: both sides must offer it; the others get DATA.
#[test]
fn interleaving_is_agreed_on() {
    for (client, server) in [(true, false), (false, true), (true, true)] {
        let (client_end, _) = ends(&config(Scheduler::Fcfs, client), 1);
        let (_, server_end) = ends(&config(Scheduler::Fcfs, server), 1);
        let mut pair = Pair::new(client_end, server_end, LATENCY, deliver);
        pair.client.connect(Time::ZERO);
        pair.client.send(message(1, 4000)).unwrap();
        pair.server.send(message(1, 4000)).unwrap();
        run(&mut pair, at_ms(2000));
        let both = client && server;
        assert_eq!((pair.client.interleaves(), pair.server.interleaves()), (both, both));
        let any =
            |kind| pair.log.iter().any(|l| sctp(&l.packet).chunks.iter().any(|c| c.kind() == kind));
        assert_eq!((any(0), any(64)), (!both, both));
        assert_eq!(received(&mut pair.server).len(), 1);
        assert_eq!(received(&mut pair.client).len(), 1);
    }
}

/// §2.2.3: DATA where I-DATA was agreed on is a violation.
#[test]
fn the_other_kind_of_data_aborts() {
    let mut pair = established(&config(Scheduler::Fcfs, true), deliver);
    let data = Chunk::Data(anabranch_wire::sctp::DataChunk {
        flags: anabranch_wire::sctp::DataFlags::WHOLE,
        tsn: pair.client.sender.origin.add(1),
        stream: 0,
        ssn: 0,
        ppid: 0,
        payload: Payload::virtual_of(1),
    });
    let packet = from_client(&pair.client, pair.server.identity.local_tag, vec![data]);
    pair.server.handle_input(at_ms(1000), &packet);
    let answer = pair.server.poll_transmit(at_ms(1000)).unwrap();
    assert!(matches!(sctp(&answer).chunks.first(), Some(Chunk::Abort { causes, .. })
        if causes[0].code() == 13));
}

/// §2.3.1: FORWARD-TSN is that of DATA, I-FORWARD-TSN that of I-DATA.
#[test]
fn the_wrong_forward_tsn_is_a_violation() {
    use anabranch_wire::sctp::{ForwardTsn, IForwardTsn};
    for interleaves in [false, true] {
        let mut pair = established(&config(Scheduler::Fcfs, true), deliver);
        if !interleaves {
            let server = &mut pair.server;
            server.extensions = Extensions(server.extensions.0 & !Extensions::INTERLEAVING.0);
        }
        let cum_tsn = pair.client.sender.origin.add(1);
        let wrong = match interleaves {
            true => Chunk::ForwardTsn(ForwardTsn { cum_tsn, skipped: Vec::new() }),
            false => Chunk::IForwardTsn(IForwardTsn { cum_tsn, skipped: Vec::new() }),
        };
        let packet = from_client(&pair.client, pair.server.identity.local_tag, vec![wrong]);
        pair.server.handle_input(at_ms(1000), &packet);
        let answer = pair.server.poll_transmit(at_ms(1000)).unwrap();
        assert!(matches!(sctp(&answer).chunks.first(), Some(Chunk::Abort { causes, .. })
            if causes[0].code() == 13));
    }
}

/// §2.3: skipped by message identifiers, unordered ones too.
#[test]
fn i_forward_tsn_names_messages() {
    let mut pair = established(&config(Scheduler::RoundRobin, true), drop_nth(&[1, 2]));
    let limit = Reliability::Retransmissions(0);
    pair.client.send_with(message(1, 1448), limit).unwrap();
    pair.client.send_with(Message { unordered: true, ..message(2, 1448) }, limit).unwrap();
    for stream in [1, 2, 1, 2] {
        pair.client.send(message(stream, 1448)).unwrap();
    }
    run(&mut pair, at_ms(1400));
    assert_eq!(trace(&pair, 1000)[..2], ["1000 > I-DATA 1 1/0 x", "1000 > I-DATA 2 2/0 x"]);
    let lines = trace(&pair, 1100);
    assert!(lines.contains(&"1100 > I-FORWARD-TSN 2 1/0 2/0u".to_string()), "{lines:?}");
    let order: Vec<u16> = received(&mut pair.server).iter().map(|m| m.0).collect();
    assert_eq!(order, [2, 2, 1, 1], "stream 1 waited for the skipped message");
    assert!(pair.client.sender.flight.is_empty());
}

/// A message whose fragments alternate with another's is given up whole.
#[test]
fn interleaved_fragments_are_given_up_together() {
    let mut pair = established(&config(Scheduler::RoundRobin, true), drop_nth(&[1]));
    pair.client.send_with(message(1, 4 * 1448), Reliability::Retransmissions(0)).unwrap();
    pair.client.send(message(2, 4 * 1448)).unwrap();
    run(&mut pair, at_ms(1400));
    let order: Vec<u16> = received(&mut pair.server).iter().map(|m| m.0).collect();
    assert_eq!(order, [2]);
    assert_eq!((pair.server.receiver.reassembly.memory(), pair.client.abandoned().sent), (0, 1));
}
