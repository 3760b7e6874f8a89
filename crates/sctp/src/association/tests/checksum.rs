//! RFC 9653: packets without a checksum.

use super::*;
use anabranch_endpoint::Demultiplex;
use anabranch_wire::AddressBook;
use anabranch_wire::sctp::{EDMID_DTLS, InitChunk, Parameter};

fn config(zero_checksum: bool) -> Config {
    Config { zero_checksum, ..plain(Config::rfc9260()) }
}

/// Every packet is written, and read again as it was.
fn on_the_wire() -> impl FnMut(Side, &Packet) -> Fate + use<> {
    |_, packet| {
        let (book, mut octets) = (AddressBook::new(), Vec::new());
        packet.emit(&book, &mut octets).unwrap();
        assert_eq!(octets[28..32] == [0; 4], packet.has_zero_checksum());
        assert_eq!(Packet::parse(&octets, &book), Ok(packet.canonical()));
        Fate::Deliver
    }
}

/// The two sides with these settings, which have begun.
fn between(
    client: &Config,
    server: &Config,
) -> Pair<Association, impl FnMut(Side, &Packet) -> Fate + use<>> {
    let (client, _) = ends(client, 1);
    let (_, server) = ends(server, 1);
    let mut pair = Pair::new(client, server, LATENCY, on_the_wire());
    pair.client.connect(Time::ZERO);
    pair
}

/// The log, with `0` before the chunks of packets without a checksum.
fn shown<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Association, F>) -> Vec<String> {
    let lines = trace(pair, 0).into_iter().zip(&pair.log);
    lines
        .map(|(line, logged)| match logged.packet.has_zero_checksum() {
            true => line.replacen(['>', '<'], if line.contains('>') { "> 0" } else { "< 0" }, 1),
            false => line,
        })
        .collect()
}

fn init_of(packet: &Packet) -> &InitChunk {
    match sctp(packet).chunks.first() {
        Some(Chunk::Init(init) | Chunk::InitAck(init)) => init,
        other => panic!("{other:?}"),
    }
}

/// A packet to `to` with the tag that it expects, and a checksum or none.
fn of_peer(to: &Association, chunk: Chunk, zero_checksum: bool) -> Packet {
    let mut packet = from_client(to, to.identity.local_tag, vec![chunk]);
    if let Body::Sctp(sctp) = &mut packet.body {
        (sctp.src_port, sctp.dst_port) = (1000, 2000);
        sctp.zero_checksum = zero_checksum;
    }
    packet
}

/// §5.2: from the INIT ACK on nothing has a checksum but the packet with the COOKIE ECHO.
#[test]
fn all_but_init_and_cookie_echo_go_without_a_checksum() {
    let mut pair = between(&config(true), &config(true));
    pair.client.write(100);
    pair.drive(at_ms(1000));
    pair.client.close();
    pair.drive(at_ms(2000));
    assert_eq!(
        shown(&pair),
        [
            "0 > INIT",
            "50 < 0 INIT ACK",
            "100 > COOKIE ECHO, DATA 1",
            "150 < 0 COOKIE ACK, SACK 1",
            "1000 > 0 SHUTDOWN 0",
            "1050 < 0 SHUTDOWN ACK",
            "1100 > 0 SHUTDOWN COMPLETE",
        ]
    );
    assert_eq!(pair.server.observe().bytes_received, 100);
}

/// §5.1, §5.2 1: who does not say that it accepts zero gets checksums, and so does who is not asked.
#[test]
fn both_sides_have_to_agree() {
    for (client, server) in [(true, false), (false, true), (false, false)] {
        let mut pair = between(&config(client), &config(server));
        pair.client.write(100);
        pair.drive(at_ms(1000));
        pair.client.close();
        pair.drive(at_ms(2000));
        assert!(pair.log.iter().all(|line| !line.packet.has_zero_checksum()), "{:?}", shown(&pair));
        assert_eq!(pair.server.observe().bytes_received, 100);
        let says = |packet: &Packet| {
            let acceptable = Parameter::ZeroChecksumAcceptable(EDMID_DTLS);
            init_of(packet).parameters.iter().filter(|parameter| **parameter == acceptable).count()
        };
        let said = [says(&pair.log[0].packet), says(&pair.log[1].packet)];
        assert_eq!(said, [usize::from(client), usize::from(server)]);
    }
}

/// §5.2 1: another method than this side's is none.
#[test]
fn another_method_is_no_agreement() {
    for method in [0, EDMID_DTLS, 2] {
        let (mut client, mut server) = ends(&config(true), 1);
        client.connect(Time::ZERO);
        let mut init = client.poll_transmit(Time::ZERO).unwrap();
        if let Body::Sctp(sctp) = &mut init.body
            && let Some(Chunk::Init(init)) = sctp.chunks.iter_mut().next()
        {
            init.parameters = vec![Parameter::ZeroChecksumAcceptable(method)];
        }
        server.handle_input(Time::ZERO, &init);
        let ack = server.poll_transmit(Time::ZERO).unwrap();
        assert_eq!(ack.has_zero_checksum(), method == EDMID_DTLS, "{method}");
    }
}

/// §5.2 3: a packet with an ASCONF has its checksum, its answer has none.
#[test]
fn a_change_of_addresses_has_its_checksum() {
    let config = Config {
        dynamic_addresses: true,
        authentication: authenticated(&[0xc1, 0x80]),
        ..config(true)
    };
    let mut pair = between(&config, &config);
    pair.drive(at_ms(1000));
    pair.client.add_address(Addr(2)).unwrap();
    pair.drive(at_ms(2000));
    assert_eq!(
        shown(&pair)[4..],
        [
            "1000 > AUTH, ASCONF Add",
            "1050 < 0 HEARTBEAT",
            "1050 < 0 AUTH, ASCONF-ACK 0",
            "1100 > 0 HEARTBEAT ACK",
        ]
    );
}

/// §5.2 1b: the answer to a packet of no association has its checksum, though the packet had none (§5.3
/// lets it be processed).
#[test]
fn an_answer_out_of_the_blue_has_its_checksum() {
    let mut pair = between(&config(true), &config(true));
    pair.drive(at_ms(1000));
    pair.client.abort();
    while pair.client.poll_transmit(at_ms(1000)).is_some() {}
    pair.server.write(100);
    pair.drive(at_ms(2000));
    assert_eq!(shown(&pair)[4..], ["1000 < 0 DATA 1", "1050 > ABORT"]);
    assert_eq!(pair.server.state(), State::Closed);
}

/// §5.3: who has not said that it accepts zero drops the packet, whatever is in it; who has takes it, and
/// checksums, too.
#[test]
fn a_packet_without_a_checksum_is_dropped_unless_it_was_allowed() {
    for allowed in [false, true] {
        let mut pair = between(&config(true), &config(allowed));
        pair.drive(at_ms(1000));
        let heartbeat = || Chunk::Heartbeat([1].into());
        let mut answer = |zero_checksum| {
            let packet = of_peer(&pair.server, heartbeat(), zero_checksum);
            assert_eq!(pair.server.accepts(&packet), allowed || !zero_checksum);
            pair.server.handle_input(at_ms(1000), &packet);
            pair.server.poll_transmit(at_ms(1000)).is_some()
        };
        assert_eq!((answer(true), answer(false)), (allowed, true));
        let before = standing(&pair.server);
        let abort = Chunk::Abort { reflected: false, causes: Vec::new() };
        let abort = of_peer(&pair.server, abort, true);
        pair.server.handle_input(at_ms(1000), &abort);
        assert_eq!(standing(&pair.server) == before, !allowed);
    }
}

/// §5.3: nothing has been said yet for the association that an INIT begins.
#[test]
fn an_init_without_a_checksum_is_dropped() {
    for zero_checksum in [true, false] {
        let (mut client, mut server) = ends(&config(true), 1);
        client.connect(Time::ZERO);
        let mut init = client.poll_transmit(Time::ZERO).unwrap();
        if let Body::Sctp(sctp) = &mut init.body {
            sctp.zero_checksum = zero_checksum;
        }
        server.handle_input(Time::ZERO, &init);
        assert_eq!(server.poll_transmit(Time::ZERO).is_none(), zero_checksum);
    }
}

/// §5.3: the answer to an INIT that has said so may come without a checksum.
#[test]
fn an_init_ack_without_a_checksum_is_taken_by_who_has_allowed_it() {
    for allowed in [true, false] {
        let (mut client, _) = ends(&config(allowed), 1);
        let (_, mut server) = ends(&config(true), 1);
        client.connect(Time::ZERO);
        let init = client.poll_transmit(Time::ZERO).unwrap();
        server.handle_input(Time::ZERO, &init);
        let mut ack = server.poll_transmit(Time::ZERO).unwrap();
        assert_eq!(ack.has_zero_checksum(), allowed);
        if let Body::Sctp(sctp) = &mut ack.body {
            sctp.zero_checksum = true;
        }
        client.handle_input(Time::ZERO, &ack);
        let state = if allowed { State::CookieEchoed } else { State::CookieWait };
        assert_eq!(client.state(), state);
    }
}

/// §5.2: what a peer says when it restarts counts, not what it said before.
#[test]
fn a_restart_says_it_anew() {
    let mut pair = between(&config(true), &config(true));
    pair.drive(at_ms(1000));
    let generator = Seed { seed: 9, replication: 0 }.generator("client");
    let (own, peer) = ((&CLIENT[..1], 1000), (&SERVER[..1], 2000));
    pair.client = Association::client(config(false), own, peer, generator);
    pair.client.connect(at_ms(1000));
    pair.drive(at_ms(2000));
    pair.server.write(100);
    pair.drive(at_ms(3000));
    assert_eq!(
        shown(&pair)[4..],
        [
            "1000 > INIT",
            "1050 < INIT ACK",
            "1100 > COOKIE ECHO",
            "1150 < COOKIE ACK",
            "2000 < DATA 1",
            "2050 > SACK 1",
        ]
    );
}

/// RFC 6951: in UDP it is the same, and the checksum of UDP stays.
#[test]
fn in_udp_the_checksum_of_sctp_alone_is_left_out() {
    let config = Config { udp: Some(crate::Encapsulation::default()), ..config(true) };
    let (client, server) = ends(&config, 1);
    let mut pair = Pair::new(client, server, LATENCY, |_, packet: &Packet| {
        let (book, mut octets) = (AddressBook::new(), Vec::new());
        packet.emit(&book, &mut octets).unwrap();
        assert_ne!(octets[26..28], [0; 2], "the checksum of UDP");
        assert_eq!(octets[36..40] == [0; 4], packet.has_zero_checksum());
        assert_eq!(Packet::parse(&octets, &book), Ok(packet.canonical()));
        Fate::Deliver
    });
    pair.client.connect(Time::ZERO);
    pair.client.write(100_000);
    pair.drive(at_ms(9000));
    assert_eq!(pair.server.observe().bytes_received, 100_000);
    assert_eq!(pair.log.iter().filter(|line| !line.packet.has_zero_checksum()).count(), 2);
}

/// §4: once in INIT and INIT ACK, and in nothing else.
#[test]
fn the_parameter_is_said_once_and_nowhere_else() {
    let config = Config { reconfiguration: true, ..config(true) };
    let mut pair = between(&config, &config);
    pair.drive(at_ms(1000));
    pair.client.reset_streams(&[]).unwrap();
    pair.client.close();
    pair.drive(at_ms(3000));
    let said = pair.log.iter().map(|line| {
        let octets = sctp(&line.packet).chunk_octets(0, &AddressBook::new()).unwrap();
        octets.windows(8).filter(|window| **window == [0x80, 1, 0, 8, 0, 0, 0, 1]).count()
    });
    let said: Vec<usize> = said.collect();
    assert_eq!(said[..2], [1, 1]);
    assert!(said.len() > 6 && said[2..].iter().all(|n| *n == 0), "{said:?}");
}

/// §7.1: what is changed later is for associations that begin later.
#[test]
fn an_association_keeps_what_it_began_with() {
    for began in [true, false] {
        let mut pair = between(&config(began), &config(began));
        pair.drive(at_ms(1000));
        pair.server.tune(at_ms(1000), |config| config.zero_checksum = !began);
        let heartbeat = of_peer(&pair.server, Chunk::Heartbeat([1].into()), true);
        pair.server.handle_input(at_ms(1000), &heartbeat);
        let answer = pair.server.poll_transmit(at_ms(1000));
        assert_eq!(answer.map(|packet| packet.has_zero_checksum()), began.then_some(true));
    }
}
