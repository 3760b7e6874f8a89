//! What a packet is answered by: one packet, and none for an ABORT (RFC 9260 §5.4, §9.1, §12.4).

use super::states::{client_in, to_client};
use super::*;
use anabranch_wire::sctp::{Cause, DataChunk, DataFlags};

fn data(of: &Association, offset: u32) -> Chunk {
    Chunk::Data(DataChunk {
        flags: DataFlags::WHOLE,
        tsn: of.sender.origin.add(offset),
        stream: 0,
        ssn: offset as u16 - 1,
        ppid: 0,
        payload: Payload::virtual_of(10),
    })
}

/// The types of the chunks of each answer, and where it goes.
fn answers(association: &mut Association, packet: &Packet) -> Vec<(Addr, Vec<u8>)> {
    association.handle_input(at_ms(1000), packet);
    std::iter::from_fn(|| association.poll_transmit(at_ms(1000)))
        .map(|answer| (answer.dst, sctp(&answer).chunks.iter().map(Chunk::kind).collect()))
        .collect()
}

fn unknown() -> Chunk {
    Chunk::Unknown { kind: 0xff, flags: 0, value: [1, 2].into() }
}

/// §12.4, so that nobody is flooded by way of an endpoint.
#[test]
fn a_packet_is_answered_by_one_packet() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
    pair.drive(at_ms(1000));
    let heartbeat = || Chunk::Heartbeat([7; 300].into());
    let mut ask = |chunks| {
        let packet = from_client(&pair.client, pair.server.identity.local_tag, chunks);
        answers(&mut pair.server, &packet)
    };
    let chunks = vec![heartbeat(), unknown(), heartbeat()];
    assert_eq!(ask(chunks), [(CLIENT[0], vec![5, 9, 5])]);
    let chunks = vec![heartbeat(), unknown(), data(&pair.client, 1)];
    assert_eq!(ask(chunks), [(CLIENT[0], vec![5, 9, 3])]);
    // Five fill a packet of 1500; the ERROR of 16 octets does not fit with the fifth.
    let large = (0..4).map(|_| Chunk::Heartbeat([7; 356].into())).chain([unknown()]);
    assert_eq!(ask(large.collect()), [(CLIENT[0], vec![5, 5, 5, 5])]);
}

/// §8.3: parameters behind the information of a HEARTBEAT come back unchanged.
#[test]
fn all_parameters_of_a_heartbeat_come_back() {
    let mut client = client_in(State::Established);
    let value = [0, 1, 0, 8, 1, 2, 3, 4, 0xc1, 0, 0, 6, 9, 9, 0, 0];
    let ask = Chunk::Unknown { kind: 4, flags: 0, value: value.into() };
    let packet = to_client(&client, ask);
    client.handle_input(at_ms(1000), &packet);
    let answer = client.poll_transmit(at_ms(1000)).unwrap();
    let expected = Chunk::Unknown { kind: 5, flags: 0, value: value.into() };
    assert_eq!(sctp(&answer).chunks.first(), Some(&expected));
}

/// §9.1: what stands before an ABORT is not answered.
#[test]
fn a_packet_with_an_abort_is_not_answered() {
    let abort = || Chunk::Abort { reflected: false, causes: Vec::new() };
    for (state, before) in [
        (State::Established, Chunk::Heartbeat([1].into())),
        (State::Established, unknown()),
        (State::ShutdownSent, Chunk::ShutdownAck),
        (State::Established, Chunk::Shutdown(Serial32(0))),
    ] {
        let mut client = client_in(state);
        let mut packet = to_client(&client, before);
        if let Body::Sctp(sctp) = &mut packet.body {
            sctp.chunks.push(abort());
        }
        assert_eq!(answers(&mut client, &packet), [], "{state}");
        assert_eq!(client.state(), State::Closed);
    }
}

/// §3.3.7: a broken one is discarded, and neither is ever answered by another.
#[test]
fn a_broken_abort_is_discarded() {
    let mut client = client_in(State::Established);
    let octets = [6, 0, 0, 8, 0, 12, 0, 99].into();
    let packet = to_client(&client, Chunk::Malformed { kind: 6, octets, truncated: false });
    assert_eq!(answers(&mut client, &packet), []);
    assert_eq!(client.state(), State::Established);
}

/// §9.1, §11: an ABORT that a user asked for says so, and the other user hears the reason.
#[test]
fn the_reason_of_an_abort_comes_to_the_peers_user() {
    for reason in [&b""[..], b"enough"] {
        let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
        pair.drive(at_ms(1000));
        match reason {
            [] => pair.client.abort(),
            reason => pair.client.abort_by_user(reason),
        }
        pair.drive(at_ms(2000));
        assert_eq!(trace(&pair, 1000), ["1000 > ABORT 12"]);
        assert_eq!(pair.server.abort_reason(), Some(reason));
    }
    let mut client = client_in(State::Established);
    let causes = vec![Cause::OutOfResource];
    let packet = to_client(&client, Chunk::Abort { reflected: false, causes });
    client.handle_input(at_ms(1000), &packet);
    assert_eq!(client.abort_reason(), None);
}

/// A server whose second path cannot be confirmed.
fn with_unconfirmed_path() -> Pair<Association, impl FnMut(Side, &Packet) -> Fate> {
    let config = Config { confirm_paths: true, ..plain(Config::rfc9260()) };
    let mut pair = pair(&config, 2, |_, packet| match packet.src.0 % 2 {
        1 => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.drive(at_ms(1000));
    assert_eq!(pair.server.paths[1].state, PathState::Unconfirmed);
    pair
}

/// §5.4: to an unconfirmed address goes no SACK and no ERROR, but HEARTBEAT ACK.
#[test]
fn nothing_but_probes_goes_to_an_unconfirmed_address() {
    let mut pair = with_unconfirmed_path();
    let heartbeat = || Chunk::Heartbeat([7; 3].into());
    let mut ask = |chunks| {
        let mut packet = from_client(&pair.client, pair.server.identity.local_tag, chunks);
        packet.src = CLIENT[1];
        answers(&mut pair.server, &packet)
    };
    assert_eq!(ask(vec![heartbeat()]), [(CLIENT[1], vec![5])]);
    assert_eq!(ask(vec![unknown()]), [(CLIENT[0], vec![9])]);
    assert_eq!(ask(vec![heartbeat(), unknown()]), [(CLIENT[1], vec![5])]);
    assert_eq!(ask(vec![data(&pair.client, 1)]), [(CLIENT[0], vec![3])]);
}

/// §5.4: a COOKIE ACK may, with a HEARTBEAT beside it.
#[test]
fn a_cookie_ack_to_an_unconfirmed_address_has_a_heartbeat_beside_it() {
    let config = Config { confirm_paths: true, ..plain(Config::rfc9260()) };
    let (mut client, mut server) = ends(&config, 2);
    client.connect(Time::ZERO);
    let init = client.poll_transmit(Time::ZERO).unwrap();
    server.handle_input(Time::ZERO, &init);
    let ack = server.poll_transmit(Time::ZERO).unwrap();
    client.handle_input(Time::ZERO, &ack);
    let mut echo = client.poll_transmit(Time::ZERO).unwrap();
    echo.src = CLIENT[1];
    assert_eq!(answers(&mut server, &echo), [(CLIENT[1], vec![11, 4])]);
    assert!(!server.paths[1].probes.is_empty() && server.state() == State::Established);
}

/// §3.1: a port of 0 is nobody's; §11.2.6: the user hears of an ERROR.
#[test]
fn a_packet_from_port_0_is_discarded_and_errors_are_told() {
    let mut client = client_in(State::Established);
    while client.poll_notification().is_some() {}
    let error = || Chunk::Error(vec![Cause::InvalidStream(77)]);
    let mut packet = to_client(&client, error());
    client.handle_input(at_ms(1000), &packet);
    let heard = client.poll_notification();
    assert_eq!(heard, Some(Notification::PeerError { code: 1 }));
    if let Body::Sctp(sctp) = &mut packet.body {
        sctp.src_port = 0;
    }
    assert_eq!(answers(&mut client, &packet), []);
    assert_eq!(client.poll_notification(), None);
}
