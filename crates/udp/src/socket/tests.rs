use super::*;
use anabranch_endpoint::message::Patience;
use anabranch_wire::{Icmp, Payload, Quote};

const A: (Addr, u16) = (Addr(0), 5000);
const B: (Addr, u16) = (Addr(1), 53);
const NOW: Time = Time::ZERO;

fn pair(config: &Config) -> [Socket; 2] {
    [Socket::client(config.clone(), A, B, 0), Socket::server(config.clone(), B, A, 0)]
}

fn message(tag: u32, len: u32) -> Outgoing {
    let payload = Payload::virtual_of(len);
    Outgoing { stream: 0, unordered: true, tag, patience: Patience::Reliable, payload }
}

fn events(socket: &mut Socket) -> Vec<Event> {
    std::iter::from_fn(|| socket.poll_event()).collect()
}

/// What the socket has to send.
fn sent(socket: &mut Socket) -> Vec<Packet> {
    std::iter::from_fn(|| socket.poll_transmit(NOW)).collect()
}

#[test]
fn a_message_is_a_datagram_with_its_number() {
    let [mut client, mut server] = pair(&Config { dscp: 46, ..Config::default() });
    client.connect(NOW);
    assert_eq!(events(&mut client), [Event::Connected]);
    assert_eq!(client.send_message(message(7, 100)), Ok(()));
    let packets = sent(&mut client);
    let [packet] = &packets[..] else { panic!("{packets:?}") };
    assert_eq!((packet.dscp, packet.wire_len().0, packet.payload_len()), (46, 128, 100));
    assert_eq!(packet.flow_key(), client.flow_key());
    server.handle_input(NOW, packet);
    assert_eq!(events(&mut server), [Event::Connected, Event::Readable]);
    let read = server.receive_message().expect("it came");
    assert_eq!((read.tag, read.payload), (7, Payload::virtual_of(100)));
    assert_eq!(server.receive_message(), None);
}

/// Octets behind the number are the application's, and come as they were sent.
#[test]
fn octets_behind_the_number_are_those_of_the_message() {
    let [mut client, mut server] = pair(&Config::default());
    client.connect(NOW);
    let payload = Payload::of_octets([9, 9, 9, 9, 5, 6, 7]);
    client.send_message(Outgoing { payload, ..message(1, 0) }).expect("there is room");
    server.handle_input(NOW, &sent(&mut client)[0]);
    let read = server.receive_message().expect("it came");
    assert_eq!(read.payload.octets(), Some(&[0, 0, 0, 1, 5, 6, 7][..]));
}

/// A server does not know where to send to before it has heard something.
#[test]
fn a_server_answers_and_does_not_begin() {
    let [mut client, mut server] = pair(&Config::default());
    client.connect(NOW);
    assert_eq!(server.send_message(message(1, 50)), Ok(()));
    assert_eq!(sent(&mut server), []);
    client.send_message(message(1, 50)).expect("there is room");
    server.handle_input(NOW, &sent(&mut client)[0]);
    assert_eq!(sent(&mut server).len(), 1);
}

#[test]
fn what_finds_no_room_waits_until_the_line_has_taken_a_datagram() {
    let [mut client, _] = pair(&Config { send_buffer: 250, ..Config::default() });
    client.connect(NOW);
    events(&mut client);
    assert_eq!([0, 1].map(|n| client.send_message(message(n, 120))), [Ok(()), Ok(())]);
    assert_eq!(client.send_message(message(2, 120)), Err(Refusal::Full));
    assert!(client.poll_transmit(NOW).is_some());
    assert_eq!(events(&mut client), [Event::Writable]);
    assert_eq!(client.send_message(message(2, 120)), Ok(()));
    let huge = message(3, UdpDatagram::MOST_DATA + 1);
    assert_eq!(client.send_message(huge), Err(Refusal::Never));
}

#[test]
fn a_socket_that_closes_sends_what_waits_and_takes_no_more() {
    let [mut client, _] = pair(&Config::default());
    client.connect(NOW);
    events(&mut client);
    client.send_message(message(0, 100)).expect("there is room");
    client.close();
    assert_eq!(client.send_message(message(1, 100)), Err(Refusal::Never));
    assert_eq!(events(&mut client), []);
    assert_eq!(sent(&mut client).len(), 1);
    assert_eq!(events(&mut client), [Event::Closed(CloseReason::Normal)]);
}

/// A datagram from another port or host is not the peer's, and one of another kind is counted.
#[test]
fn datagrams_of_others_are_not_taken() {
    let [mut client, mut server] = pair(&Config::default());
    client.connect(NOW);
    client.send_message(message(0, 100)).expect("there is room");
    let packet = sent(&mut client).remove(0);
    server.handle_input(NOW, &Packet { src: Addr(9), ..packet.clone() });
    let short = Body::Udp(UdpDatagram::of_octets(A.1, B.1, &[1, 2, 3]));
    server.handle_input(NOW, &Packet { body: short, ..packet.clone() });
    assert_eq!(server.receive_message(), None);
    assert!(server.status().contains("1 of another kind"), "{}", server.status());
    // RFC 1122 §4.1.3.3: an ICMP error about a datagram is passed up; here it is counted.
    let icmp = Icmp { kind: IcmpKind::PortUnreachable, quote: Quote::of(&packet) };
    client.handle_input(NOW, &Packet::new(B.0, A.0, Body::Icmp(Box::new(icmp))));
    assert!(client.status().contains("1 ICMP errors (1 of a closed port)"), "{}", client.status());
}
