//! RFC 6525: streams that start anew, and more of them.

use super::*;
use crate::ReconfigError;
use anabranch_wire::sctp::{DataChunk, IDataChunk, Parameter};

fn config() -> Config {
    Config { reconfiguration: true, ..plain(Config::rfc9260()) }
}

fn established<F: FnMut(Side, &Packet) -> Fate>(config: &Config, rule: F) -> Pair<Association, F> {
    let mut pair = pair(config, 1, rule);
    pair.drive(at_ms(1000));
    pair
}

fn message(stream: u16) -> Message {
    Message::new(stream, Payload::of_octets([stream as u8; 10]))
}

fn first_octets(association: &mut Association) -> Vec<(u16, u8)> {
    received(association).iter().map(|(stream, octets)| (*stream, octets[0])).collect()
}

fn notifications(association: &mut Association) -> Vec<Notification> {
    std::iter::from_fn(|| association.poll_notification()).collect()
}

/// Stream and sequence number of the data that the client sent.
fn numbers<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Association, F>) -> Vec<(u16, u32)> {
    let packets = pair.log.iter().filter(|line| line.from == Side::Client);
    let of = |chunk: &Chunk| match chunk {
        Chunk::Data(data) => Some((data.stream, data.ssn as u32)),
        Chunk::IData(data) => Some((data.stream, data.mid)),
        _ => None,
    };
    packets.flat_map(|l| sctp(&l.packet).chunks.iter().filter_map(of).collect::<Vec<_>>()).collect()
}

/// The client's requests and the server's results.
fn exchange<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Association, F>) -> Vec<String> {
    let mut lines = Vec::new();
    for line in &pair.log {
        for chunk in sctp(&line.packet).chunks.iter() {
            let Chunk::Reconfig(list) = chunk else { continue };
            for parameter in list {
                let text = match parameter {
                    Parameter::OutgoingReset { streams, .. } => format!("reset {streams:?}"),
                    Parameter::IncomingReset { streams, .. } => format!("reset yours {streams:?}"),
                    Parameter::AddStreams { outgoing: true, count, .. } => format!("add {count}"),
                    Parameter::AddStreams { count, .. } => format!("add yours {count}"),
                    Parameter::ReconfigResponse { result, .. } => format!("result {result}"),
                    other => format!("{other:?}"),
                };
                let who = if line.from == Side::Client { '>' } else { '<' };
                lines.push(format!("{} {who} {text}", line.sent.as_millis()));
            }
        }
    }
    lines
}

/// §5.1.2, §5.2.2: what was given before keeps its numbers, then 0 again.
#[test]
fn a_stream_starts_anew() {
    for interleaving in [false, true] {
        let config = Config { interleaving, ..config() };
        let mut pair = established(&config, deliver);
        for stream in [1, 1, 2] {
            pair.client.send(message(stream)).unwrap();
        }
        pair.client.reset_streams(&[1]).unwrap();
        assert_eq!(pair.client.send(message(1)), Err(SendError::Resetting));
        pair.client.send(message(2)).unwrap();
        run(&mut pair, at_ms(2000));
        assert_eq!(exchange(&pair), ["1000 > reset [1]", "1050 < result 1"]);
        let reset = |incoming| [Notification::StreamReset { stream: 1, incoming }];
        assert_eq!(notifications(&mut pair.client), reset(false));
        assert_eq!(notifications(&mut pair.server), reset(true));
        pair.client.send(message(1)).unwrap();
        pair.client.send(message(2)).unwrap();
        run(&mut pair, at_ms(3000));
        assert_eq!(numbers(&pair), [(1, 0), (1, 1), (2, 0), (2, 1), (1, 0), (2, 2)]);
        assert_eq!(received(&mut pair.server).len(), 6);
    }
}

/// §5.2.2: while something before it is missing the answer is "in progress",
/// and the request comes again with its number.
#[test]
fn a_reset_waits_for_what_was_sent_before() {
    let mut pair = established(&config(), drop_nth(&[1]));
    pair.client.send(message(1)).unwrap();
    run(&mut pair, at_ms(1001));
    pair.client.reset_streams(&[1]).unwrap();
    run(&mut pair, at_ms(9000));
    assert_eq!(
        exchange(&pair),
        ["1001 > reset [1]", "1051 < result 6", "2101 > reset [1]", "2151 < result 1",]
    );
    assert_eq!(received(&mut pair.server).len(), 1);
    assert_eq!(pair.client.observe().timeouts, 1);
}

/// A lost request, and a lost answer, which is given again (§5.2.1).
#[test]
fn requests_are_repeated_until_answered() {
    for lost in [1, 2] {
        let mut n = 0;
        let mut pair = established(&config(), move |_, packet| {
            let is = sctp(packet).chunks.iter().any(|c| matches!(c, Chunk::Reconfig(_)));
            n += is as u32;
            if is && n == lost { Fate::Drop } else { Fate::Deliver }
        });
        pair.client.reset_streams(&[]).unwrap();
        run(&mut pair, at_ms(9000));
        let lines = exchange(&pair);
        assert_eq!(lines[lines.len() - 2..], ["2000 > reset []", "2050 < result 1"]);
        assert_eq!(notifications(&mut pair.client).len(), 10, "all streams");
        assert_eq!(notifications(&mut pair.server).len(), 10, "and only once");
        assert_eq!(pair.client.poll_timeout(), pair.client.paths[0].heartbeat.deadline());
    }
}

/// §5.1.3, §5.2.3: the peer's answer is a request of its own.
#[test]
fn the_peer_is_asked_to_reset_its_streams() {
    let mut pair = established(&config(), deliver);
    pair.server.send(message(4)).unwrap();
    run(&mut pair, at_ms(2000));
    pair.client.request_stream_reset(&[4]).unwrap();
    run(&mut pair, at_ms(3000));
    assert_eq!(
        exchange(&pair),
        ["2000 > reset yours [4]", "2050 < result 1", "2050 < reset [4]", "2100 > result 1"]
    );
    let reset = |incoming| [Notification::StreamReset { stream: 4, incoming }];
    assert_eq!(notifications(&mut pair.server), reset(false));
    assert_eq!(notifications(&mut pair.client), reset(true));
}

/// §5.1.5, §5.1.6: up to what the other side accepts.
#[test]
fn streams_are_added() {
    let config = Config { inbound_streams: 20, ..config() };
    let mut pair = established(&config, deliver);
    assert_eq!(pair.client.send(message(12)), Err(SendError::NoSuchStream(10)));
    pair.client.add_streams(true, 5).unwrap();
    pair.client.add_streams(false, 3).unwrap();
    run(&mut pair, at_ms(2000));
    let added = |count, incoming| Notification::StreamsAdded { count, incoming };
    assert_eq!(notifications(&mut pair.client), [added(5, false), added(3, true)]);
    assert_eq!(notifications(&mut pair.server), [added(5, true), added(3, false)]);
    assert_eq!((pair.client.outbound_streams(), pair.server.outbound_streams()), (15, 13));
    pair.client.send(message(12)).unwrap();
    pair.client.add_streams(true, 6).unwrap();
    run(&mut pair, at_ms(3000));
    let refused =
        Notification::ReconfigurationFailed { request: Reconfiguration::AddStreams, result: 2 };
    assert_eq!(notifications(&mut pair.client), [refused]);
    assert_eq!((pair.client.outbound_streams(), pair.server.receiver.streams), (15, 15));
    assert_eq!(received(&mut pair.server), [(12, vec![12; 10])]);
}

#[test]
fn what_cannot_be_asked_is_an_error() {
    let mut pair = established(&config(), deliver);
    assert_eq!(pair.client.reset_streams(&[10]), Err(ReconfigError::NoSuchStream(10)));
    assert_eq!(pair.client.add_streams(true, 65_530), Err(ReconfigError::TooMany));
    let mut without = established(&plain(Config::rfc9260()), deliver);
    assert_eq!(without.client.reset_streams(&[1]), Err(ReconfigError::NotAvailable));
}

/// §4.4: numbers out of order and streams that do not exist.
#[test]
fn wrong_requests_get_their_result() {
    let mut pair = established(&config(), deliver);
    let first = pair.client.sender.origin.add(1);
    let mut ask = |parameter| {
        let chunks = vec![Chunk::Reconfig(vec![parameter])];
        let packet = from_client(&pair.client, pair.server.identity.local_tag, chunks);
        pair.server.handle_input(at_ms(1000), &packet);
        let answer = pair.server.poll_transmit(at_ms(1000)).expect("an answer");
        match sctp(&answer).chunks.first() {
            Some(Chunk::Reconfig(list)) => match list[0] {
                Parameter::ReconfigResponse { result, .. } => result,
                ref other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    let add = |request| Parameter::AddStreams { outgoing: true, request, count: 1 };
    assert_eq!(ask(add(first.add(1))), 5);
    let streams = vec![9, 10];
    assert_eq!(ask(Parameter::IncomingReset { request: first, streams }), 3);
    assert_eq!(ask(add(first.add(1))), 1);
    assert_eq!(ask(add(first.add(1))), 1, "the same answer again");
    assert_eq!(pair.server.receiver.streams, 11);
}

/// The server's answers to one RE-CONFIG of the client's: their results, a list a chunk.
fn results(server: &mut Association, client: &Association, list: Vec<Parameter>) -> Vec<Vec<u32>> {
    let packet = from_client(client, server.identity.local_tag, vec![Chunk::Reconfig(list)]);
    server.handle_input(at_ms(1000), &packet);
    let of = |parameter: &Parameter| match parameter {
        Parameter::ReconfigResponse { result, .. } => Some(*result),
        _ => None,
    };
    std::iter::from_fn(|| server.poll_transmit(at_ms(1000)))
        .flat_map(|answer| sctp(&answer).chunks.iter().cloned().collect::<Vec<_>>())
        .filter_map(|chunk| match chunk {
            Chunk::Reconfig(list) => Some(list.iter().filter_map(of).collect::<Vec<_>>()),
            _ => None,
        })
        .filter(|list| !list.is_empty())
        .collect()
}

/// §5.2.1: the two requests of a chunk are answered in one, and get the same answers again.
#[test]
fn both_requests_of_a_chunk_are_answered_in_one() {
    let mut pair = established(&config(), deliver);
    let first = pair.client.sender.origin.add(1);
    let add = |request, outgoing| Parameter::AddStreams { outgoing, request, count: 1 };
    let both = || vec![add(first, true), add(first.add(1), false)];
    for _ in 0..2 {
        assert_eq!(results(&mut pair.server, &pair.client, both()), [[1, 1]]);
    }
    assert_eq!(pair.server.receiver.streams, 11);
}

/// §4: behind a parameter that is not known nothing is read, if its type says so.
#[test]
fn nothing_is_read_behind_an_unknown_parameter() {
    for (kind, expected) in [(0x0fff, vec![]), (0x8fff, vec![vec![1]])] {
        let mut pair = established(&config(), deliver);
        let request = pair.client.sender.origin.add(1);
        let unknown = Parameter::Unknown { kind, value: [1, 2].into() };
        let add = Parameter::AddStreams { outgoing: true, request, count: 1 };
        assert_eq!(results(&mut pair.server, &pair.client, vec![unknown, add]), expected);
    }
}

/// §5.2.2 E2: a reset that waits for a TSN is done as soon as that comes.
#[test]
fn a_deferred_reset_is_done_when_its_data_comes() {
    let mut pair = established(&config(), drop_nth(&[1]));
    pair.client.send(message(1)).unwrap();
    run(&mut pair, at_ms(1001));
    pair.client.reset_streams(&[1]).unwrap();
    // The data comes again at 2000, the request at 2101.
    run(&mut pair, at_ms(2060));
    let reset = Notification::StreamReset { stream: 1, incoming: true };
    assert_eq!(notifications(&mut pair.server), [reset]);
    run(&mut pair, at_ms(9000));
    assert_eq!(exchange(&pair)[2..], ["2101 > reset [1]", "2151 < result 1"]);
    assert_eq!(notifications(&mut pair.server), [], "once");
}

/// §5.2.2 E2 and E4: what comes behind a reset that waits for earlier TSNs waits too, and has the new
/// numbers of its stream; data of other streams does not wait.
#[test]
fn data_behind_a_deferred_reset_is_held_back() {
    for interleaving in [false, true] {
        let config = Config { interleaving, ..config() };
        let mut pair = established(&config, drop_nth(&[1]));
        pair.client.send(message(1)).unwrap();
        run(&mut pair, at_ms(1001));
        let (first, tag) = (pair.client.sender.origin.add(1), pair.server.identity.local_tag);
        let reset = Parameter::OutgoingReset {
            request: first,
            response: pair.server.sender.origin,
            last_tsn: first,
            streams: vec![1],
        };
        assert_eq!(results(&mut pair.server, &pair.client, vec![reset]), [[6]], "in progress");
        let data = |number: u32, stream: u16, octet: u8| {
            let (tsn, payload) = (first.add(number), Payload::of_octets([octet]));
            let (flags, ssn, ppid) = (DataFlags::WHOLE, 0, 0);
            match interleaving {
                false => Chunk::Data(DataChunk { tsn, stream, ssn, ppid, flags, payload }),
                true => {
                    let (mid, ppid_or_fsn) = (0, 0);
                    Chunk::IData(IDataChunk { tsn, stream, mid, ppid_or_fsn, flags, payload })
                }
            }
        };
        let new = from_client(&pair.client, tag, vec![data(1, 1, b'n'), data(2, 2, b'o')]);
        pair.server.handle_input(at_ms(1001), &new);
        assert_eq!(first_octets(&mut pair.server), [(2, b'o')]);
        assert!(pair.server.receiver.cumulative_tsn().is_before(first), "one is missing");
        let old = from_client(&pair.client, tag, vec![data(0, 1, b'a')]);
        pair.server.handle_input(at_ms(1002), &old);
        assert_eq!(first_octets(&mut pair.server), [(1, b'a'), (1, b'n')]);
        let reset = Notification::StreamReset { stream: 1, incoming: true };
        assert_eq!(notifications(&mut pair.server), [reset]);
        assert_eq!(pair.server.receiver.cumulative_tsn(), first.add(2));
    }
}

/// §5.2.7 H2: "in progress" is no error of the path.
#[test]
fn a_peer_that_is_not_ready_is_no_error() {
    let mut pair = established(&config(), drop_nth(&[1, 2]));
    pair.client.send(message(1)).unwrap();
    run(&mut pair, at_ms(1001));
    pair.client.reset_streams(&[1]).unwrap();
    run(&mut pair, at_ms(2500));
    // One T3-rtx, and no more.
    assert_eq!((pair.client.paths[0].errors, pair.client.paths.errors), (1, 0));
    assert_eq!(pair.client.paths[0].rtt.rto(), Span::from_secs(2));
}

/// §5.2.3: a reset that is asked for and is under way needs nothing more; another is done behind it.
#[test]
fn a_request_for_a_reset_that_is_under_way() {
    let mut pair = established(&config(), deliver);
    pair.server.reset_streams(&[1]).unwrap();
    while pair.server.poll_transmit(at_ms(1000)).is_some() {}
    let first = pair.client.sender.origin.add(1);
    let ask = |n, streams: &[u16]| {
        vec![Parameter::IncomingReset { request: first.add(n), streams: streams.to_vec() }]
    };
    assert_eq!(results(&mut pair.server, &pair.client, ask(0, &[1])), [[0]], "nothing to do");
    assert_eq!(results(&mut pair.server, &pair.client, ask(1, &[1, 2])), [[1]]);
    run(&mut pair, at_ms(5000));
    let reset = |stream| Notification::StreamReset { stream, incoming: false };
    assert_eq!(notifications(&mut pair.server), [1, 1, 2].map(reset));
}

/// §5.1.2 A1: while stream 0 is to start anew the byte stream takes nothing; then it goes on with 0.
#[test]
fn the_byte_stream_waits_for_the_reset_of_its_stream() {
    let mut pair = established(&config(), deliver);
    pair.client.write(100);
    pair.client.reset_streams(&[0]).unwrap();
    assert_eq!((pair.client.write(100), pair.client.write_octets(b"more")), (0, 0));
    let heard = pair.drive(at_ms(2000));
    assert!(
        heard.iter().any(|(_, side, event)| *side == Side::Client && *event == Event::Writable),
        "{heard:?}"
    );
    assert_eq!(pair.client.write(100), 100);
    pair.drive(at_ms(3000));
    assert_eq!(numbers(&pair), [(0, 0), (0, 0)]);
    assert_eq!(pair.server.observe().bytes_received, 200);
}
