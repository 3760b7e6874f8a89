//! What kernels do and public scripts ask for, beside the rules that have tests
//! of their own.

use super::states::{client_in, to_client};
use super::*;
use anabranch_wire::sctp::{Cause, InitChunk, Parameter};

fn init_ack(client: &Association) -> InitChunk {
    InitChunk { tag: 99, ..client.init_chunk() }
}

fn chunks(packet: &Packet) -> Vec<u8> {
    sctp(packet).chunks.iter().map(Chunk::kind).collect()
}

/// RFC 3758 §3.3.1: an INIT ACK that claims partial reliability, which this side
/// has not offered, is told so with the cookie.
#[test]
fn an_extension_that_was_not_offered_is_reported_with_the_cookie() {
    let mut client = client_in(State::CookieWait);
    let ack = InitChunk {
        parameters: vec![Parameter::StateCookie([7; 4].into()), Parameter::ForwardTsnSupported],
        ..init_ack(&client)
    };
    let packet = to_client(&client, Chunk::InitAck(Box::new(ack)));
    client.handle_input(at_ms(10), &packet);
    let echo = client.poll_transmit(at_ms(10)).expect("COOKIE ECHO");
    let kinds: Vec<u8> = sctp(&echo).chunks.iter().map(Chunk::kind).collect();
    assert_eq!(kinds, [10, 9], "COOKIE ECHO and ERROR");
}

/// §3.3.10.5: the parameter that cannot be used comes back; a broken one is a
/// violation (§3.3.10.13).
#[test]
fn a_parameter_that_is_refused_is_named() {
    let answer = |parameter| {
        let mut client = client_in(State::CookieWait);
        let parameters = vec![Parameter::StateCookie([7; 4].into()), parameter];
        let ack = InitChunk { parameters, ..init_ack(&client) };
        let packet = to_client(&client, Chunk::InitAck(Box::new(ack)));
        client.handle_input(at_ms(10), &packet);
        let abort = client.poll_transmit(at_ms(10)).expect("ABORT");
        match sctp(&abort).chunks.first() {
            Some(Chunk::Abort { causes, .. }) => causes[0].clone(),
            other => panic!("{other:?}"),
        }
    };
    let name = answer(Parameter::HostName((*b"a.b\0").into()));
    let octets = [0, 11, 0, 8, b'a', b'.', b'b', 0];
    assert_eq!(name, Cause::UnresolvableAddress(octets.into()));
    assert!(matches!(answer(Parameter::Malformed([0xc0].into())), Cause::ProtocolViolation(_)));
}

/// RFC 5061 §4.2.6: what each side's user is comes to the other, by the cookie
/// too; INIT lists the types of addresses where that is wanted.
#[test]
fn adaptation_code_points_are_exchanged() {
    let with = |code| Config { adaptation: Some(code), ..plain(Config::rfc9260()) };
    let config = Config { list_address_types: true, ..with(7) };
    let client = Association::client(
        config,
        (&[Addr(0)], 1),
        (&[Addr(1)], 2),
        Seed::default().generator("c"),
    );
    let server = Association::server(
        with(9),
        (&[Addr(1)], 2),
        (&[Addr(0)], 1),
        Seed::default().generator("s"),
    );
    let mut pair = Pair::new(client, server, Span::from_millis(50), deliver);
    pair.client.connect(Time::ZERO);
    let init = pair.client.poll_transmit(Time::ZERO).expect("INIT");
    let Some(Chunk::Init(chunk)) = sctp(&init).chunks.first() else { panic!("{init:?}") };
    assert!(chunk.parameters.contains(&Parameter::SupportedAddressTypes(vec![5])));
    pair.drive(at_ms(3000));
    assert_eq!(pair.server.peer_adaptation(), Some(7));
    assert_eq!(pair.client.peer_adaptation(), Some(9));
}

/// §3.3.10.13: what contradicts itself ends the association, what is cut short
/// does not.
#[test]
fn a_broken_chunk_is_a_violation() {
    for (truncated, answer) in [(false, Some(vec![6])), (true, None)] {
        let mut client = client_in(State::Established);
        let octets = [192, 0, 0, 6, 0, 0].into();
        let chunk = Chunk::Malformed { kind: 192, octets, truncated };
        let packet = to_client(&client, chunk);
        client.handle_input(at_ms(1000), &packet);
        assert_eq!(client.poll_transmit(at_ms(1000)).map(|packet| chunks(&packet)), answer);
        assert_eq!(client.state() == State::Closed, !truncated);
    }
}

/// RFC 3758 §3.3.1: a chunk of an extension that both sides did not agree on is
/// unknown, and comes back whole.
#[test]
fn a_chunk_of_an_extension_that_was_not_agreed_on_is_reported() {
    let mut client = client_in(State::Established);
    let cum_tsn = client.receiver.origin.add(1);
    let forward = anabranch_wire::sctp::ForwardTsn { cum_tsn, skipped: vec![(1, 2)] };
    let packet = to_client(&client, Chunk::ForwardTsn(forward));
    client.handle_input(at_ms(1000), &packet);
    let error = client.poll_transmit(at_ms(1000)).expect("ERROR");
    let tsn = cum_tsn.0.to_be_bytes();
    let octets = [&[192, 0, 0, 12], &tsn[..], &[0, 1, 0, 2]].concat();
    let expected = Chunk::Error(vec![Cause::UnrecognizedChunk(octets.into())]);
    assert_eq!(sctp(&error).chunks.first(), Some(&expected));
}

/// RFC 6458 §8.1.5: less than a packet waits while data is outstanding; when
/// nothing is, all leaves.
#[test]
fn small_messages_wait_by_nagles_rule() {
    let config = Config { nagle: true, ..plain(Config::rfc9260()) };
    let mut pair = pair(&config, 1, deliver);
    pair.drive(at_ms(1000));
    let message = |len| Message::new(1, Payload::virtual_of(len));
    pair.client.send(message(1000)).unwrap();
    run(&mut pair, at_ms(1010));
    pair.client.send(message(100)).unwrap();
    run(&mut pair, at_ms(1020));
    pair.client.send(message(100)).unwrap();
    run(&mut pair, at_ms(2000));
    assert_eq!(trace(&pair, 1000)[..1], ["1000 > DATA 1"]);
    let sent: Vec<String> = trace(&pair, 1001).into_iter().filter(|l| l.contains('>')).collect();
    assert_eq!(sent, ["1100 > DATA 2, DATA 3"]);
    pair.client.send(message(1000)).unwrap();
    run(&mut pair, at_ms(2010));
    pair.client.send(message(1000)).unwrap();
    pair.client.send(message(1000)).unwrap();
    run(&mut pair, at_ms(2020));
    let sent: Vec<String> = trace(&pair, 2000).into_iter().filter(|l| l.contains('>')).collect();
    assert_eq!(sent, ["2000 > DATA 4", "2010 > DATA 5"], "less than a packet is left");
    run(&mut pair, at_ms(3000));
    pair.client.send(message(1000)).unwrap();
    pair.client.send(message(1000)).unwrap();
    run(&mut pair, at_ms(3010));
    let sent: Vec<String> = trace(&pair, 3000).into_iter().filter(|l| l.contains('>')).collect();
    assert_eq!(sent, ["3000 > DATA 7", "3000 > DATA 8"], "nothing was outstanding");
}

/// Where it is wanted, a failure is told: before the peer's tag is known with
/// this side's.
#[test]
fn a_failure_is_told_where_that_is_wanted() {
    let config = Config {
        abort_on_failure: true,
        max_init_retransmits: 1,
        association_max_retrans: 1,
        ..plain(Config::rfc9260())
    };
    let mut init = pair(&config, 1, |_, _| Fate::Drop);
    init.drive(at_ms(10_000));
    assert_eq!(trace(&init, 0), ["0 > INIT x", "1000 > INIT x", "3000 > ABORT x"]);
    let abort = sctp(&init.log[2].packet);
    assert!(matches!(abort.chunks.first(), Some(Chunk::Abort { reflected: true, .. })));
    assert_eq!(abort.tag, sctp_tag(&init.log[0].packet));
    let lose = |_: Side, packet: &Packet| match packet.payload_len() {
        0 => Fate::Deliver,
        _ => Fate::Drop,
    };
    let mut data = pair(&config, 1, lose);
    data.drive(at_ms(1000));
    data.client.write(10);
    data.drive(at_ms(10_000));
    let lines = trace(&data, 1000);
    assert_eq!(lines, ["1000 > DATA 1 x", "2000 > DATA 1 x", "4000 > ABORT"]);
}

fn sctp_tag(init: &Packet) -> u32 {
    match sctp(init).chunks.first() {
        Some(Chunk::Init(init)) => init.tag,
        other => panic!("{other:?}"),
    }
}

/// The SACK after the last gap: delayed, unless the setting says otherwise.
#[test]
fn a_filled_gap_is_acknowledged_at_once_where_that_is_wanted() {
    for (prompt_fill, delay) in [(true, 0), (false, 200)] {
        let config = Config { sack_frequency: 2, prompt_fill, ..plain(Config::rfc9260()) };
        let mut n = 0;
        let mut pair = pair(&config, 1, move |side, packet| {
            n += (side == Side::Client && packet.payload_len() > 0) as u32;
            match (side, n, packet.payload_len() > 0) {
                (Side::Client, 2, true) => Fate::Delay(Span::from_millis(10)),
                _ => Fate::Deliver,
            }
        });
        pair.drive(at_ms(1000));
        pair.client.write(3 * 1452);
        pair.drive(at_ms(3000));
        let last = trace(&pair, 1000).into_iter().rfind(|line| line.contains('<')).unwrap();
        assert!(last.ends_with("SACK 3"), "{last}");
        let gap = trace(&pair, 1000).into_iter().rfind(|line| line.contains('+')).unwrap();
        let at = |line: &str| line.split(' ').next().unwrap().parse::<u64>().unwrap();
        assert_eq!(at(&last) - at(&gap), 10 + delay, "{gap} {last}");
    }
}

/// Settings change under way: timeouts at once, the streams only before an INIT.
#[test]
fn settings_change_under_way() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, drop_nth(&[1]));
    pair.drive(at_ms(1000));
    let short = Span::from_millis(100);
    pair.client.tune(at_ms(1000), |config| {
        config.rto.initial = short;
        config.rto.min = short;
        config.outbound_streams = 99;
    });
    assert_eq!(pair.client.outbound_streams(), 10);
    pair.client.write(10);
    pair.drive(at_ms(2000));
    assert_eq!(trace(&pair, 1000)[..2], ["1000 > DATA 1 x", "1100 > DATA 1"]);
}

/// RFC 9260 §11.2, SEND FAILURE: what was sent and not acknowledged comes back,
/// then what was never sent; a message that was given up, too.
#[test]
fn messages_that_are_not_delivered_come_back() {
    let config =
        Config { keep_undelivered: true, partial_reliability: true, ..plain(Config::rfc9260()) };
    let lose = |_: Side, packet: &Packet| match packet.payload_len() {
        0 => Fate::Deliver,
        _ => Fate::Drop,
    };
    let mut pair = pair(&config, 1, lose);
    pair.drive(at_ms(1000));
    let limit = crate::Reliability::Retransmissions(0);
    pair.client.send_with(Message::new(1, Payload::virtual_of(10)), limit).unwrap();
    run(&mut pair, at_ms(2500));
    let back = pair.client.poll_undelivered().expect("it was given up");
    assert_eq!((back.sent, back.message.stream, back.message.payload.len()), (true, 1, 10));
    for stream in [2, 3] {
        let payload = Payload::virtual_of(4000);
        pair.client.send(Message { ppid: 7, ..Message::new(stream, payload) }).unwrap();
    }
    run(&mut pair, at_ms(2600));
    pair.client.abort();
    let back: Vec<_> = std::iter::from_fn(|| pair.client.poll_undelivered())
        .map(|undelivered| {
            (undelivered.sent, undelivered.message.stream, undelivered.message.payload.len())
        })
        .collect();
    let sent: u32 = back.iter().filter(|(sent, ..)| *sent).map(|(_, _, len)| *len).sum();
    assert!(back.iter().all(|(sent, stream, _)| *stream == if *sent { 2 } else { 3 }), "{back:?}");
    assert!(sent >= 1452 && back.last() == Some(&(false, 3, 4000)), "{back:?}");
}

/// RFC 3758 §3.5 A3: what was given up counts as acknowledged, so that the end
/// does not wait for it; what was skipped by a gap block does.
#[test]
fn an_end_does_not_wait_for_what_was_given_up() {
    let config = Config { partial_reliability: true, ..plain(Config::rfc9260()) };
    let silent = |_: Side, packet: &Packet| match chunks(packet)[..] {
        [0] | [192] => Fate::Drop,
        _ => Fate::Deliver,
    };
    let mut pair = pair(&config, 1, silent);
    pair.drive(at_ms(1000));
    let limit = crate::Reliability::Retransmissions(0);
    pair.client.send_with(Message::new(1, Payload::virtual_of(10)), limit).unwrap();
    run(&mut pair, at_ms(2500));
    pair.client.close();
    run(&mut pair, at_ms(2700));
    assert_eq!(
        trace(&pair, 1000),
        [
            "1000 > DATA 1 x",
            "2000 > FORWARD-TSN 1 1/0 x",
            "2500 > SHUTDOWN 0",
            "2550 < SHUTDOWN ACK",
            "2600 > SHUTDOWN COMPLETE",
        ]
    );
}
