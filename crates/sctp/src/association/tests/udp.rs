//! RFC 6951: packets in UDP datagrams; and ICMP errors (RFC 9260 §10, §7.3).

use super::*;
use crate::Encapsulation;
use anabranch_wire::{AddressBook, Icmp, IcmpKind, Quote};

fn config(local: u16, remote: u16) -> Config {
    Config { udp: Some(Encapsulation { local, remote }), ..plain(Config::rfc9260()) }
}

/// Every packet is written and read again.
fn on_the_wire() -> impl FnMut(Side, &Packet) -> Fate {
    move |_, packet| {
        let book = AddressBook::new();
        let mut octets = Vec::new();
        packet.emit(&book, &mut octets).unwrap();
        assert!(octets.len() <= 1500 && octets[9] == 17, "{octets:?}");
        assert_eq!(Packet::parse(&octets, &book), Ok(packet.canonical()));
        Fate::Deliver
    }
}

#[test]
fn an_association_in_udp() {
    let (client, _) = ends(&config(9899, 9899), 2);
    let (_, server) = ends(&config(9899, 9899), 2);
    let mut pair = Pair::new(client, server, LATENCY, on_the_wire());
    pair.client.connect(Time::ZERO);
    pair.client.write(100_000);
    pair.drive(at_ms(9000));
    assert_eq!(pair.server.observe().bytes_received, 100_000);
    let largest = pair.log.iter().map(|line| line.packet.wire_len().0).max().unwrap();
    assert_eq!(largest, 1500, "the header of UDP is counted");
}

/// §5.4: answers go to the port that a packet came from, from the INIT on, and
/// the latest one counts.
#[test]
fn the_port_of_the_peer_is_learnt() {
    let (mut client, mut server) = (ends(&config(9899, 9899), 1).0, ends(&config(9899, 9899), 1).1);
    client.connect(Time::ZERO);
    let through = |packet: &Packet, port| {
        let mut packet = packet.clone();
        if let Body::Sctp(sctp) = &mut packet.body {
            sctp.udp = sctp.udp.map(|(_, dst)| (port, dst));
        }
        packet
    };
    let back = |mut packet: Packet, port| {
        if let Body::Sctp(sctp) = &mut packet.body {
            assert_eq!(sctp.udp, Some((9899, port)), "to the outer port");
            sctp.udp = Some((9899, 9899));
        }
        packet
    };
    let now = Time::ZERO;
    server.handle_input(now, &through(&client.poll_transmit(now).unwrap(), 40_000));
    client.handle_input(now, &back(server.poll_transmit(now).unwrap(), 40_000));
    server.handle_input(now, &through(&client.poll_transmit(now).unwrap(), 40_000));
    client.handle_input(now, &back(server.poll_transmit(now).unwrap(), 40_000));
    assert_eq!(client.state(), State::Established);
    client.write(10);
    server.handle_input(now, &through(&client.poll_transmit(now).unwrap(), 50_000));
    back(server.poll_transmit(now).unwrap(), 50_000);
    // A packet with a wrong tag teaches nothing, nor does one for another port.
    client.write(10);
    let mut forged = through(&client.poll_transmit(now).unwrap(), 60_000);
    if let Body::Sctp(sctp) = &mut forged.body {
        sctp.tag ^= 1;
    }
    server.handle_input(now, &forged);
    assert_eq!(server.paths[0].udp_port, Some(50_000));
    let mut plain = ends(&plain(Config::rfc9260()), 1).1;
    plain.handle_input(now, &forged);
    assert_eq!(plain.poll_transmit(now), None);
}

fn about(packet: &Packet, kind: IcmpKind) -> Packet {
    let icmp = Icmp { kind, quote: Quote::of(packet) };
    Packet::new(Addr(99), packet.src, Body::Icmp(Box::new(icmp)))
}

#[test]
fn packets_become_smaller_when_a_router_says_so() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
    pair.drive(at_ms(1000));
    pair.client.write(1452);
    let sent = pair.client.poll_transmit(at_ms(1000)).unwrap();
    let mut forged = sent.clone();
    if let Body::Sctp(sctp) = &mut forged.body {
        sctp.tag ^= 1;
    }
    let big = |mtu| IcmpKind::PacketTooBig { mtu };
    for (packet, mtu, expected) in [
        (&forged, 600, 1500), // of nobody
        (&sent, 9000, 1500),  // never up
        (&sent, 1400, 1400),
        (&sent, 0, 1400), // of 1500 octets: less than 1492 is known
        (&sent, 68, 512),
    ] {
        pair.client.handle_input(at_ms(1000), &about(packet, big(mtu)));
        assert_eq!(pair.client.mtu(), expected, "{mtu}");
    }
    pair.server.handle_input(at_ms(1000), &sent);
    pair.client.write(20_000);
    pair.drive(at_ms(9000));
    assert_eq!(pair.server.observe().bytes_received, 21_452);
    let data = pair.log.iter().filter(|line| line.packet.payload_len() > 0);
    assert_eq!(data.map(|line| line.packet.wire_len().0).max(), Some(512));
}

/// Over IPv6 what a router says counts the shorter header of IPv4.
#[test]
fn a_router_of_ipv6_means_its_own_header() {
    let config = plain(Config { ip_header: 40, ..Config::rfc9260() });
    let mut pair = pair(&config, 1, deliver);
    pair.drive(at_ms(1000));
    pair.client.write(1432);
    let sent = pair.client.poll_transmit(at_ms(1000)).unwrap();
    let too_big = IcmpKind::PacketTooBig { mtu: 1380 };
    pair.client.handle_input(at_ms(1000), &about(&sent, too_big));
    assert_eq!(pair.client.mtu(), 1400);
}

/// §6.9: a chunk that is too large by now is not cut again. Its packet is, by IP, and arrives.
#[test]
fn what_has_its_number_is_left_to_ip_to_cut() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, |_, packet| match packet.wire_len().0 {
        1401.. if !packet.may_fragment => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.drive(at_ms(1000));
    pair.client.write(2 * 1452 + 10);
    pair.drive(at_ms(1010));
    let sent = pair.log.last().unwrap().packet.clone();
    pair.client.handle_input(at_ms(1010), &about(&sent, IcmpKind::PacketTooBig { mtu: 1400 }));
    pair.drive(at_ms(4500));
    let again = pair.log.iter().filter(|l| l.sent > at_ms(1100) && l.packet.payload_len() > 0);
    let again: Vec<_> =
        again.map(|l| (l.sent.as_millis(), l.packet.wire_len().0, l.packet.may_fragment)).collect();
    assert_eq!(again, [(2000, 1500, true), (2100, 1500, true)]);
    assert_eq!(pair.server.observe().bytes_received, 2 * 1452 + 10);
}

/// RFC 9260 §10, ICMP8.
#[test]
fn an_unreachable_protocol_ends_the_association() {
    for kind in [IcmpKind::ProtocolUnreachable, IcmpKind::UnknownNextHeader] {
        let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
        pair.drive(at_ms(1000));
        pair.client.write(1452);
        let sent = pair.client.poll_transmit(at_ms(1000)).unwrap();
        pair.client.handle_input(at_ms(1000), &about(&sent, IcmpKind::PortUnreachable));
        pair.client.handle_input(at_ms(1000), &about(&sent, IcmpKind::ParameterProblem));
        assert_eq!(pair.client.state(), State::Established);
        pair.client.handle_input(at_ms(1000), &about(&sent, kind));
        assert_eq!(pair.client.state(), State::Closed);
        assert_eq!(pair.client.poll_timeout(), Time::NEVER);
    }
}
