//! Path MTUs (RFC 9260 §7.3) and their discovery by probes (DPLPMTUD, RFC 8899).

use super::*;
use crate::MtuProbing;
use anabranch_wire::{Icmp, IcmpKind, Quote};
use std::cell::Cell;
use std::rc::Rc;

fn probing(mtu_probing: MtuProbing) -> Config {
    Config { mtu_probing, ..plain(Config::rfc9260()) }
}

/// Swallows what is larger than the MTUs of the two paths, unless IP may cut it.
fn black_hole(mtus: &Rc<Cell<[u64; 2]>>) -> impl FnMut(Side, &Packet) -> Fate + use<> {
    let mtus = mtus.clone();
    move |_, packet| {
        let mtu = mtus.get()[packet.dst.0 as usize % 2];
        match packet.wire_len().0 > mtu && !packet.may_fragment {
            true => Fate::Drop,
            false => Fate::Deliver,
        }
    }
}

fn is_probe(packet: &Packet) -> bool {
    sctp(packet).chunks.iter().any(|chunk| matches!(chunk, Chunk::Pad(_)))
}

/// The client's probes: date, path where it is the second, size, and whether it was lost.
fn probes<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Association, F>) -> Vec<String> {
    let probes = pair.log.iter().filter(|l| l.from == Side::Client && is_probe(&l.packet));
    let line = |l: &anabranch_testkit::Line| {
        let path = if l.packet.dst.0 % 2 == 1 { "'" } else { "" };
        let lost = if l.fate == Fate::Drop { "x" } else { "" };
        format!("{}{path} {}{lost}", l.sent.as_millis(), l.packet.wire_len().0)
    };
    probes.map(line).collect()
}

/// Sizes of the client's packets with data that left from `ms` on, the largest one.
fn largest<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Association, F>, ms: u64) -> Option<u64> {
    let lines = pair.log.iter().filter(|l| l.from == Side::Client && l.sent >= at_ms(ms));
    let data = lines.filter(|l| l.packet.payload_len() > 0);
    data.map(|l| l.packet.wire_len().0).max()
}

/// RFC 9260 §7.3: what a router says of one address leaves the packets to another as large as they
/// were. Chunks are no larger than the least takes, so that they may be sent again there.
#[test]
fn each_destination_has_its_path_mtu() {
    let mut pair = pair(&plain(Config::rfc9260()), 2, deliver);
    pair.drive(at_ms(1000));
    pair.client.request_heartbeat(at_ms(1000), 1);
    let sent = pair.client.poll_transmit(at_ms(1000)).unwrap();
    let icmp = Icmp { kind: IcmpKind::PacketTooBig { mtu: 1400 }, quote: Quote::of(&sent) };
    let too_big = Packet::new(Addr(99), sent.src, Body::Icmp(Box::new(icmp)));
    pair.client.handle_input(at_ms(1000), &too_big);
    let mtus = [0, 1, 2].map(|path| pair.client.path_mtu(path));
    assert_eq!(mtus, [Some(1500), Some(1400), None]);
    assert_eq!((pair.client.mtu(), pair.client.fragmentation_point()), (1400, 1352));
    pair.client.send(Message::new(0, Payload::virtual_of(2000))).unwrap();
    run(&mut pair, at_ms(1500));
    assert_eq!(largest(&pair, 1000), Some(1400), "cut to the least");
    // Two of 732 octets with their headers share a packet on the first path, and not on the second.
    for (path, sizes) in [(0, vec![1496]), (1, vec![764, 764])] {
        pair.client.set_primary(path);
        let from = pair.log.len();
        for _ in 0..2 {
            pair.client.send(Message::new(0, Payload::virtual_of(716))).unwrap();
        }
        let until = pair.now + Span::from_secs(1);
        run(&mut pair, until);
        let data = pair.log[from..].iter().filter(|l| l.packet.payload_len() > 0);
        assert_eq!(data.map(|l| l.packet.wire_len().0).collect::<Vec<_>>(), sizes);
    }
}

/// RFC 8899 §5.2, §6.2.1: probes begin when the association is up. Until one has passed packets have
/// BASE_PLPMTU, 1200 octets of SCTP; none with data is lost, and lost probes are no errors.
#[test]
fn a_path_mtu_is_searched_for_by_heartbeats_with_padding() {
    let mtus = Rc::new(Cell::new([1400; 2]));
    let mut pair = pair(&probing(MtuProbing::Always), 1, black_hole(&mtus));
    pair.client.write(300_000);
    pair.drive(at_ms(20_000));
    pair.client.write(100_000);
    pair.drive(at_ms(30_000));
    let found = [
        "200 1220",
        "300 1500x",
        "1300 1360",
        "1400 1428x",
        "2400 1392",
        "2500 1408x",
        "3500 1400",
        "3600 1404x",
        "4600 1404x",
        "5600 1404x",
    ];
    assert_eq!(probes(&pair), found);
    assert_eq!((pair.client.path_mtu(0), largest(&pair, 0)), (Some(1400), Some(1400)));
    let path = pair.client.observe_path(0).unwrap();
    assert_eq!((path.errors, path.timeouts, path.retransmitted), (0, 0, 0));
    assert_eq!(pair.server.observe().bytes_received, 400_000);
    // The server has searched for itself.
    assert_eq!(pair.server.path_mtu(0), Some(1400));
}

/// RFC 8899 §5.3.1: the user may lower what is searched for, and the search begins anew.
#[test]
fn a_user_may_lower_the_largest_size() {
    let mtus = Rc::new(Cell::new([9000; 2]));
    let mut pair = pair(&probing(MtuProbing::Always), 1, black_hole(&mtus));
    pair.drive(at_ms(1000));
    assert_eq!(pair.client.mtu(), 1500);
    pair.client.tune(at_ms(1000), |config| config.mtu = 1300);
    assert_eq!(pair.client.mtu(), 1220);
    pair.client.write(10);
    pair.drive(at_ms(5000));
    assert_eq!(pair.client.mtu(), 1300);
}

/// RFC 8899 §3 7: a larger packet does not make the window larger; from then on it grows by larger ones.
#[test]
fn a_window_keeps_its_octets() {
    let mtus = Rc::new(Cell::new([1500; 2]));
    let mut pair = pair(&probing(MtuProbing::Always), 1, black_hole(&mtus));
    pair.drive(at_ms(250));
    let window = |pair: &Pair<Association, _>| (pair.client.mtu(), pair.client.observe().cwnd);
    assert_eq!(window(&pair), (1220, 4404));
    pair.drive(at_ms(1000));
    assert_eq!(window(&pair), (1500, 4404));
    pair.client.write(4 * 1452);
    pair.drive(at_ms(1500));
    assert_eq!(window(&pair), (1500, 4404 + 1468), "the fourth packet does not use it up");
}

/// RFC 8899 §5.2: each path has a machine of its own.
#[test]
fn each_path_is_searched_by_itself() {
    let mtus = Rc::new(Cell::new([1500, 1300]));
    let mut pair = pair(&probing(MtuProbing::Always), 2, black_hole(&mtus));
    pair.drive(at_ms(30_000));
    let found = [0, 1].map(|path| pair.client.path_mtu(path));
    assert_eq!((found, pair.client.mtu()), ([Some(1500), Some(1300)], 1300));
    let second: Vec<_> = probes(&pair).into_iter().filter(|line| line.contains('\'')).collect();
    assert_eq!(second[..4], ["200' 1220", "300' 1500x", "1300' 1360x", "2300' 1288"]);
}

/// RFC 8899 §4.3 and RFC 9260 §6.9: two timeouts in a row are a black hole. What has its TSN goes on in
/// fragments of IP, new data in smaller packets.
#[test]
fn a_black_hole_is_found_and_left() {
    for mode in [MtuProbing::BlackHole, MtuProbing::Always] {
        let mtus = Rc::new(Cell::new([1500; 2]));
        let mut pair = pair(&probing(mode), 1, black_hole(&mtus));
        pair.drive(at_ms(5000));
        assert_eq!(pair.client.path_mtu(0), Some(1500));
        let before = probes(&pair).len();
        assert_eq!(before, if mode == MtuProbing::Always { 2 } else { 0 });
        mtus.set([1400; 2]);
        pair.client.write(100_000);
        pair.drive(at_ms(60_000));
        assert_eq!(pair.server.observe().bytes_received, 100_000, "{mode:?}");
        // T3-rtx at 6 and 8 s.
        let found = ["8000 1220", "8100 1500x", "9100 1360", "9200 1428x", "10200 1392"];
        assert_eq!(probes(&pair)[before..before + 5], found, "{mode:?}");
        assert_eq!(pair.client.path_mtu(0), Some(1400));
        let cut = pair.log.iter().filter(|l| l.packet.may_fragment);
        assert_eq!(cut.map(|l| l.sent.as_millis()).min(), Some(8000));
        assert_eq!(pair.client.observe().timeouts, 2);
    }
}

/// Without probing nothing is tried: the same black hole ends the association.
#[test]
fn without_probing_a_black_hole_stays() {
    let mtus = Rc::new(Cell::new([1400; 2]));
    let mut pair = pair(&plain(Config::rfc9260()), 1, black_hole(&mtus));
    pair.client.write(100_000);
    pair.drive(at_ms(600_000));
    assert!(probes(&pair).is_empty());
    assert_eq!((pair.client.state(), pair.server.observe().bytes_received), (State::Closed, 0));
}

/// RFC 8899 §4.6: what a router says is tried, and becomes the path MTU with its answer.
#[test]
fn what_a_router_says_is_probed() {
    let mtus = Rc::new(Cell::new([1400; 2]));
    let mut pair = pair(&probing(MtuProbing::Always), 1, black_hole(&mtus));
    run(&mut pair, at_ms(340));
    let lost = pair.log.iter().rfind(|l| l.fate == Fate::Drop && l.from == Side::Client).unwrap();
    let icmp = Icmp { kind: IcmpKind::PacketTooBig { mtu: 1400 }, quote: Quote::of(&lost.packet) };
    let too_big = Packet::new(Addr(99), lost.packet.src, Body::Icmp(Box::new(icmp)));
    pair.client.handle_input(at_ms(340), &too_big);
    assert_eq!(pair.client.path_mtu(0), Some(1220));
    pair.drive(at_ms(550));
    assert_eq!(probes(&pair), ["200 1220", "300 1500x", "400 1400", "500 1404x"]);
    assert_eq!(pair.client.path_mtu(0), Some(1400));
}

/// RFC 8899 §6.2.1.2, §6.2.2.2: a probe is as long as it is to be, with AUTH and in UDP too, and is read
/// back from its octets.
#[test]
fn a_probe_has_its_size_whatever_goes_with_it() {
    let plain = probing(MtuProbing::Always);
    let signed = Config { authentication: authenticated(&[4]), ..plain.clone() };
    let udp = Some(crate::Encapsulation { local: 9899, remote: 9899 });
    for config in [Config { udp, ..plain.clone() }, Config { udp, ..signed.clone() }, signed] {
        let mut pair = pair(&config, 1, |_, packet| {
            let book = anabranch_wire::AddressBook::new();
            let mut octets = Vec::new();
            packet.emit(&book, &mut octets).unwrap();
            assert_eq!(Packet::parse(&octets, &book), Ok(packet.canonical()));
            Fate::Deliver
        });
        pair.drive(at_ms(2000));
        let probes = pair.log.iter().filter(|l| l.from == Side::Client && is_probe(&l.packet));
        let sizes: Vec<_> = probes.map(|l| l.packet.wire_len().0).collect();
        assert_eq!(sizes, [1220, 1500]);
        assert_eq!(pair.client.path_mtu(0), Some(1500));
    }
}

/// RFC 8899 §5.2, DISABLED: nothing is probed on a path that has failed, and again when it works; nor
/// while the association ends (RFC 9260 §8.3).
#[test]
fn a_search_needs_connectivity() {
    let mtus = Rc::new(Cell::new([1500; 2]));
    let fast =
        Config { heartbeat_interval: Some(Span::from_secs(1)), ..probing(MtuProbing::Always) };
    let mut pair = pair(&Config { path_max_retrans: 1, ..fast }, 2, black_hole(&mtus));
    pair.drive(at_ms(3000));
    mtus.set([1500, 0]);
    pair.drive(at_ms(20_000));
    assert_eq!(pair.client.observe_path(1).unwrap().state, PathState::Inactive);
    let before = probes(&pair).len();
    mtus.set([1500, 1500]);
    pair.drive(at_ms(60_000));
    assert_eq!(pair.client.observe_path(1).unwrap().state, PathState::Active);
    let again: Vec<_> = probes(&pair)[before..].iter().map(|line| line[5..].to_owned()).collect();
    assert_eq!(again, ["' 1220", "' 1500"]);
    pair.client.close();
    pair.drive(at_ms(90_000));
    assert_eq!(pair.client.state(), State::Closed);
    assert_eq!(pair.client.poll_timeout(), Time::NEVER);
}

/// RFC 4820 §3: PAD is discarded, with whatever is in it, and the rest of the packet counts.
#[test]
fn what_stands_behind_padding_is_read() {
    use super::states::{client_in, to_client};
    let mut client = client_in(State::Established);
    let mut packet = to_client(&client, Chunk::Pad(100));
    if let Body::Sctp(sctp) = &mut packet.body {
        let chunks = [Chunk::Pad(100), Chunk::Pad(0), Chunk::Heartbeat([7; 12].into())];
        sctp.chunks = chunks.into_iter().collect();
    }
    client.handle_input(at_ms(1000), &packet);
    let answer = client.poll_transmit(at_ms(1000)).expect("the heartbeat is answered");
    let chunks: Vec<Chunk> = sctp(&answer).chunks.iter().cloned().collect();
    assert_eq!(chunks, [Chunk::HeartbeatAck([7; 12].into())]);
}

/// RFC 4820 §4: a padded INIT is answered as one that is not, and its cookie is no longer.
#[test]
fn an_init_may_be_padded() {
    let lengths = [0, 600].map(|padding| {
        let (mut client, mut server) = ends(&plain(Config::rfc9260()), 1);
        client.connect(Time::ZERO);
        let mut init = client.poll_transmit(Time::ZERO).unwrap();
        if let Body::Sctp(sctp) = &mut init.body
            && let Some(Chunk::Init(chunk)) = sctp.chunks.iter_mut().next()
            && padding > 0
        {
            chunk.parameters.insert(0, anabranch_wire::sctp::Parameter::Padding(padding));
        }
        server.handle_input(Time::ZERO, &init);
        let ack = server.poll_transmit(Time::ZERO).expect("an INIT ACK");
        client.handle_input(Time::ZERO, &ack);
        assert_eq!(client.state(), State::CookieEchoed);
        ack.wire_len().0
    });
    assert_eq!(lengths[0], lengths[1]);
}
