//! How requests are judged and answered (RFC 5061 §5.2, §5.3), and what leads to no association (§6).

use super::*;
use anabranch_wire::sctp::{Address, AddressChange, Cause, InitChunk, Parameter};
use std::net::Ipv4Addr;

const ANY: Address = Address::Ip(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED));

fn request(change: AddressChange, correlation: u32, address: impl Into<Address>) -> Parameter {
    Parameter::ChangeAddress { change, correlation, address: address.into() }
}

/// An ASCONF of the client's, the `n`-th from 0.
fn asconf(client: &Association, n: u32, requests: &[Parameter]) -> Chunk {
    let mut parameters = vec![Parameter::Address(CLIENT[0].into())];
    parameters.extend_from_slice(requests);
    Chunk::Asconf { serial: client.sender.origin.add(1 + n), parameters }
}

/// Gives the server a packet of the client's from `src` with these chunks, signed; what it sends.
fn give(
    pair: &mut Pair<Association, impl FnMut(Side, &Packet) -> Fate>,
    src: Addr,
    chunks: Vec<Chunk>,
) -> Vec<Packet> {
    let mut packet = from_client(&pair.client, pair.server.identity.local_tag, chunks);
    packet.src = src;
    if let Body::Sctp(sctp) = &mut packet.body {
        let (auth, config) = (&pair.client.control.auth, &pair.client.config.authentication);
        auth.as_ref().unwrap().sign(config.as_ref().unwrap(), sctp);
    }
    pair.server.handle_input(at_ms(1000), &packet);
    std::iter::from_fn(|| pair.server.poll_transmit(at_ms(1000))).collect()
}

/// The answers in a packet.
fn acks(packet: &Packet) -> Vec<Vec<Parameter>> {
    let ack = |chunk: &Chunk| match chunk {
        Chunk::AsconfAck { parameters, .. } => Some(parameters.clone()),
        _ => None,
    };
    sctp(packet).chunks.iter().filter_map(ack).collect()
}

fn all_acks(packets: &[Packet]) -> Vec<Vec<Parameter>> {
    packets.iter().flat_map(acks).collect()
}

fn refusal(correlation: u32, cause: Cause) -> Parameter {
    Parameter::ErrorIndication { correlation, causes: vec![cause] }
}

fn refused(correlation: u32, code: u8, request: &Parameter) -> Parameter {
    refusal(correlation, Cause::Asconf { code, parameters: vec![request.clone()] })
}

/// §4.3.1 to §4.3.3: the cause has the whole request.
#[test]
fn a_refusal_has_the_request() {
    let mut pair = established(1, deliver);
    let last = request(AddressChange::Delete, 5, CLIENT[0]);
    let chunk = asconf(&pair.client, 0, std::slice::from_ref(&last));
    assert_eq!(all_acks(&give(&mut pair, CLIENT[0], vec![chunk])), [[refused(5, 0xa0, &last)]]);
    let more: Vec<_> = (0..16).map(|n| request(AddressChange::Add, n, Addr(100 + n))).collect();
    let chunk = asconf(&pair.client, 1, &more);
    let answers = all_acks(&give(&mut pair, CLIENT[0], vec![chunk]));
    assert_eq!(answers, [[refused(15, 0xa1, &more[15])]], "16 addresses are used");
    let source = request(AddressChange::Delete, 7, CLIENT[0]);
    let chunk = asconf(&pair.client, 2, std::slice::from_ref(&source));
    assert_eq!(all_acks(&give(&mut pair, CLIENT[0], vec![chunk])), [[refused(7, 0xa2, &source)]]);
}

/// §5.3 F11: behind an address that is refused all others of the ASCONF are.
#[test]
fn nothing_is_taken_behind_what_was_refused() {
    let mut pair = established(2, deliver);
    let source = request(AddressChange::Delete, 1, CLIENT[0]);
    let (other, add) =
        (request(AddressChange::Delete, 2, CLIENT[1]), request(AddressChange::Add, 3, MORE));
    let primary = request(AddressChange::SetPrimary, 4, CLIENT[1]);
    let chunk = asconf(&pair.client, 0, &[source.clone(), other.clone(), add.clone(), primary]);
    let answers = all_acks(&give(&mut pair, CLIENT[0], vec![chunk]));
    let expected = [refused(1, 0xa2, &source), refused(2, 0xa1, &other), refused(3, 0xa1, &add)];
    assert_eq!(answers, [expected]);
    assert_eq!((remotes(&pair.server), pair.server.primary()), (CLIENT.to_vec(), 1));
}

/// §4.2.2: the wildcard deletes all addresses but the source of the packet.
#[test]
fn the_wildcard_deletes_all_but_the_source() {
    let mut pair = established(2, deliver);
    let chunk = asconf(&pair.client, 0, &[request(AddressChange::Delete, 1, ANY)]);
    assert_eq!(all_acks(&give(&mut pair, CLIENT[1], vec![chunk])), [[]]);
    assert_eq!(remotes(&pair.server), [CLIENT[1]]);
}

/// §5.2 V2: what is not known is told as the bits of its type ask; a host name is not resolved.
#[test]
fn unknown_requests_are_told() {
    let mut pair = established(1, deliver);
    let value: Box<[u8]> = [0, 0, 0, 9, 1, 2].into();
    let unknown = |kind| Parameter::Unknown { kind, value: value.clone() };
    let tlv = |kind: u16| [&kind.to_be_bytes()[..], &[0, 10], &value].concat();
    let cause = |kind| Cause::UnrecognizedParameters(tlv(kind).into());
    let name = Parameter::Unknown { kind: 0xc001, value: [0, 0, 0, 8, 0, 11, 0, 5, b'a'].into() };
    let add = request(AddressChange::Add, 1, MORE);
    let list = [name, unknown(0x8f00), unknown(0xcf00), unknown(0x4f00), add];
    let chunk = asconf(&pair.client, 0, &list);
    let answers = all_acks(&give(&mut pair, CLIENT[0], vec![chunk]));
    let unresolvable = Cause::UnresolvableAddress([0, 11, 0, 5, b'a'].into());
    let expected = [refusal(8, unresolvable), refusal(9, cause(0xcf00)), refusal(9, cause(0x4f00))];
    assert_eq!(answers, [expected], "0x8f00 is passed over, behind 0x4f00 nothing is read");
    assert_eq!(remotes(&pair.server), [CLIENT[0]]);
}

/// §5.2 E1, E6, E7: all ASCONFs of a packet are answered in one packet, and again if they come again.
#[test]
fn several_changes_share_their_answer() {
    let mut pair = established(2, deliver);
    let chunks = |pair: &Pair<Association, _>| {
        let add = request(AddressChange::Add, 1, MORE);
        let delete = request(AddressChange::Delete, 2, CLIENT[1]);
        vec![asconf(&pair.client, 0, &[add]), asconf(&pair.client, 1, &[delete])]
    };
    for _ in 0..2 {
        let both = chunks(&pair);
        let sent = give(&mut pair, CLIENT[0], both);
        let answers: Vec<_> = sent.iter().map(acks).filter(|acks| !acks.is_empty()).collect();
        assert_eq!(answers, [[[], []]]);
        assert_eq!(remotes(&pair.server), [CLIENT[0], MORE]);
    }
}

/// §5.2 D5: behind an ASCONF without AUTH nothing is read.
#[test]
fn nothing_is_read_behind_a_change_that_is_not_authenticated() {
    let mut pair = established(1, deliver);
    let change = asconf(&pair.client, 0, &[request(AddressChange::Add, 1, MORE)]);
    let heartbeat = Chunk::Heartbeat([1].into());
    let chunks = vec![change, heartbeat];
    let packet = from_client(&pair.client, pair.server.identity.local_tag, chunks);
    pair.server.handle_input(at_ms(1000), &packet);
    assert_eq!(pair.server.poll_transmit(at_ms(1000)), None);
}

/// §5.3 F4, §5.3.1: an ABORT for an address that is being deleted is ignored, and nothing leaves from it.
#[test]
fn an_abort_for_an_address_that_goes_is_ignored() {
    let mut pair = established(2, deliver);
    pair.client.delete_address(CLIENT[1]).unwrap();
    while pair.client.poll_transmit(at_ms(1000)).is_some() {}
    let tag = pair.client.identity.local_tag;
    let mut ask = |dst, chunk: Chunk| {
        let packet = Packet { dst, ..from_server(tag, chunk) };
        pair.client.handle_input(at_ms(1000), &packet);
        let source = pair.client.poll_transmit(at_ms(1000)).map(|answer| answer.src);
        (source, pair.client.state())
    };
    let abort = || Chunk::Abort { reflected: false, causes: Vec::new() };
    assert_eq!(ask(CLIENT[1], abort()), (None, State::Established));
    let heartbeat = Chunk::Heartbeat([1].into());
    assert_eq!(ask(CLIENT[1], heartbeat), (Some(CLIENT[0]), State::Established));
    assert_eq!(ask(CLIENT[0], abort()), (None, State::Closed));
}

/// §5.3 F1, F5, §5.4: an address that the peer refuses is no primary, and the only other one stays.
#[test]
fn what_hangs_on_a_refused_address_is_given_up() {
    let mut pair = established(1, deliver);
    // The server's table is full.
    let more: Vec<_> = (0..15).map(|n| request(AddressChange::Add, n, Addr(100 + n))).collect();
    let chunk = asconf(&pair.client, 0, &more);
    give(&mut pair, CLIENT[0], vec![chunk]);
    let serial = pair.client.sender.origin.add(1);
    pair.client.addresses().ask(&[]);
    pair.client.addresses().on_ack(serial, &[]);
    pair.client.control.addresses = None;
    let origin = pair.client.sender.origin.add(2);
    pair.client.control.addresses((origin, pair.client.receiver.origin.add(1)));
    pair.client.add_address(MORE).unwrap();
    pair.client.set_peer_primary(MORE).unwrap();
    pair.client.delete_address(CLIENT[0]).unwrap();
    assert_eq!(pair.client.paths[0].local, CLIENT[0], "the new one is no source yet (F1)");
    run(&mut pair, at_ms(3000));
    let heard = notifications(&mut pair.client);
    let heard: Vec<_> = heard
        .into_iter()
        .filter(|notification| matches!(notification, Notification::AddressChanged { .. }))
        .collect();
    assert_eq!(
        heard,
        [changed(MORE, true, false), changed(MORE, false, false), changed(CLIENT[0], false, false)]
    );
    assert_eq!(
        (&pair.client.paths.local[..], pair.client.paths[0].local),
        (&CLIENT[..1], CLIENT[0])
    );
    assert_eq!(pair.client.state(), State::Established);
}

/// §5.3 F1, F5: a host that moves: the new address is used once it was taken, the old one goes then.
#[test]
fn a_host_moves_to_another_address() {
    let mut pair = established(1, deliver);
    pair.client.add_address(MORE).unwrap();
    pair.client.delete_address(CLIENT[0]).unwrap();
    pair.client.write(1000);
    run(&mut pair, at_ms(3000));
    assert_eq!((remotes(&pair.server), &pair.client.paths.local[..]), (vec![MORE], &[MORE][..]));
    let data = pair.log.iter().find(|line| line.packet.payload_len() > 0).unwrap();
    assert_eq!(data.packet.src, CLIENT[0], "the answer had not come");
    pair.client.write(1000);
    pair.drive(at_ms(6000));
    assert_eq!(pair.server.observe().bytes_received, 2000);
}

/// §5.1 A5, B1, B3: T4-rto counts for the path that the ASCONF took, and its answer clears that.
#[test]
fn a_change_that_is_not_answered_is_an_error_of_its_path() {
    let drop = std::rc::Rc::new(std::cell::Cell::new(true));
    let drops = drop.clone();
    let mut pair = established(2, move |_, packet| {
        let is = sctp(packet).chunks.iter().any(|chunk| chunk.kind() == 0xc1);
        if is && drops.get() { Fate::Drop } else { Fate::Deliver }
    });
    pair.client.delete_address(CLIENT[1]).unwrap();
    run(&mut pair, at_ms(1500));
    pair.client.set_primary(1);
    run(&mut pair, at_ms(2001));
    let errors = |pair: &Pair<Association, _>| -> Vec<u32> {
        pair.client.observe_paths().map(|path| path.errors).collect()
    };
    assert_eq!(errors(&pair), [1, 0], "it left on the first path");
    assert_eq!(pair.client.paths[0].rtt.rto(), Span::from_secs(2));
    drop.set(false);
    run(&mut pair, at_ms(9000));
    pair.client.set_primary(0);
    assert_eq!(pair.client.paths.errors, 0);
    assert!(
        pair.log.iter().filter(|l| sctp(&l.packet).chunks.iter().any(|c| c.kind() == 0xc1)).count()
            >= 2
    );
}

/// §6: who offers changes of addresses and no authentication of them gets no association.
#[test]
fn changes_without_authentication_are_no_offer() {
    let without_auth = |init: &mut InitChunk| {
        let keys = |p: &Parameter| matches!(p, Parameter::Random(_) | Parameter::HmacAlgorithms(_));
        init.parameters.retain(|parameter| !keys(parameter));
    };
    let change = |packet: &mut Packet| {
        if let Body::Sctp(sctp) = &mut packet.body {
            for chunk in sctp.chunks.iter_mut() {
                if let Chunk::Init(init) | Chunk::InitAck(init) = chunk {
                    without_auth(init);
                }
            }
        }
    };
    let (mut client, mut server) = ends(&config(), 1);
    client.connect(Time::ZERO);
    let init = client.poll_transmit(Time::ZERO).unwrap();
    let mut poor = init.clone();
    change(&mut poor);
    server.handle_input(Time::ZERO, &poor);
    let answer = server.poll_transmit(Time::ZERO).unwrap();
    assert!(matches!(sctp(&answer).chunks.first(), Some(Chunk::Abort { .. })));
    server.handle_input(Time::ZERO, &init);
    let mut ack = server.poll_transmit(Time::ZERO).unwrap();
    change(&mut ack);
    client.handle_input(Time::ZERO, &ack);
    assert_eq!((client.poll_transmit(Time::ZERO), client.state()), (None, State::Closed));
    assert_eq!(client.poll_event(), Some(Event::Closed(CloseReason::Refused)));
}

/// What comes from the server to the client.
fn answer(client: &mut Association, chunk: Chunk) -> Option<Packet> {
    let mut packet = super::super::states::to_client(client, chunk);
    if let Body::Sctp(sctp) = &mut packet.body {
        let (auth, config) = (&client.control.auth, &client.config.authentication);
        auth.as_ref().unwrap().sign(config.as_ref().unwrap(), sctp);
    }
    client.handle_input(at_ms(1000), &packet);
    client.poll_transmit(at_ms(1000))
}

/// §5.3 F0, §4.3.4: an answer to what was never asked aborts the association; an old one does not.
#[test]
fn an_answer_to_nothing_aborts() {
    for (ahead, aborts) in [(0, true), (5, true), (u32::MAX, false)] {
        let mut pair = established(1, deliver);
        let serial = pair.client.sender.origin.add(1).add(ahead);
        let ack = Chunk::AsconfAck { serial, parameters: Vec::new() };
        let sent = answer(&mut pair.client, ack);
        assert_eq!(pair.client.state() == State::Closed, aborts, "{ahead}");
        let cause = sent.and_then(|packet| match sctp(&packet).chunks.iter().last() {
            Some(Chunk::Abort { causes, .. }) => Some(causes[0].clone()),
            _ => None,
        });
        let illegal = Cause::Asconf { code: 0xa3, parameters: Vec::new() };
        assert_eq!(cause, aborts.then_some(illegal));
    }
}

/// §5.1 A9: a peer that does not know ASCONF after all is asked nothing more.
#[test]
fn an_asconf_that_is_not_known_is_not_repeated() {
    let mut pair = established(1, deliver);
    pair.client.add_address(MORE).unwrap();
    while pair.client.poll_transmit(at_ms(1000)).is_some() {}
    let unknown = Cause::UnrecognizedChunk([0xc1, 0, 0, 4].into());
    answer(&mut pair.client, Chunk::Error(vec![unknown]));
    let heard = notifications(&mut pair.client);
    assert_eq!(heard, [changed(MORE, true, false), Notification::PeerError { code: 6 }]);
    assert_eq!(pair.client.add_address(MORE), Err(AddressError::NotAvailable));
    assert_eq!(pair.client.poll_timeout(), Time::NEVER, "T4-rto has stopped");
}

/// §5.3 F3: changes that the peer does not know are not asked for again.
#[test]
fn a_change_that_is_not_known_is_not_asked_for_again() {
    let mut pair = established(2, deliver);
    pair.client.set_peer_primary(CLIENT[1]).unwrap();
    while pair.client.poll_transmit(at_ms(1000)).is_some() {}
    let serial = pair.client.sender.origin.add(1);
    let cause = Cause::UnrecognizedParameters([0xc0, 4, 0, 4].into());
    let parameters = vec![refusal(serial.0, cause)];
    answer(&mut pair.client, Chunk::AsconfAck { serial, parameters });
    assert_eq!(notifications(&mut pair.client), [changed(CLIENT[1], false, false)]);
    assert_eq!(pair.client.set_peer_primary(CLIENT[1]), Err(AddressError::NotAvailable));
    assert_eq!(pair.client.add_address(MORE), Ok(()), "others are");
}
