use super::*;
use anabranch_units::Serial32;
use anabranch_wire::tcp::mptcp::{Join, MptcpOption};
use anabranch_wire::{Addr, Icmp, IcmpKind, Payload, Quote, TcpFlags, TcpOptions, TcpSegment};

const SERVER: Addr = Addr(0);

/// Subflows, and a token.
#[derive(Default)]
struct Fake(Vec<FlowKey>, Option<u32>);

impl Demultiplex for Fake {
    fn flow_key(&self) -> FlowKey {
        self.0[0]
    }
    fn has_flow(&self, key: FlowKey) -> bool {
        self.0.contains(&key)
    }
    fn join_token(&self) -> Option<u32> {
        self.1
    }
}

/// What the server sends from a port to a client's address and port.
fn key(port: u16, client: u32, client_port: u16) -> FlowKey {
    let (src, dst) = (SERVER, Addr(client));
    FlowKey { src, dst, protocol: 6, src_port: port, dst_port: client_port }
}

/// A segment of the peer of `key`, with a join where there is a token.
fn packet(key: FlowKey, flags: TcpFlags, token: Option<u32>) -> Packet {
    let mut options = TcpOptions::default();
    if let Some(token) = token {
        let join = Join::Syn { backup: false, address: 1, token, nonce: 1 };
        options.rare_mut().mptcp.push(MptcpOption::Join(join));
    }
    let segment = TcpSegment {
        src_port: key.dst_port,
        dst_port: key.src_port,
        seq: Serial32(1),
        ack: Serial32(1),
        flags,
        window: 0,
        urgent: 0,
        options,
        payload: Payload::EMPTY,
    };
    Packet::new(key.dst, key.src, Body::Tcp(segment))
}

/// Clients 1 and 2 at port 80, tokens 100 and 200.
fn two() -> (Demux, Vec<Fake>) {
    let all =
        vec![Fake(vec![key(80, 1, 5000)], Some(100)), Fake(vec![key(80, 2, 5000)], Some(200))];
    let mut demux = Demux::default();
    for (number, item) in (0..).zip(&all) {
        demux.insert(number, item).unwrap();
    }
    (demux, all)
}

#[test]
fn packets_find_their_endpoint_by_addresses_and_ports() {
    let (mut demux, all) = two();
    let mut find = |packet: &Packet| demux.find(packet, |i| &all[i as usize]);
    assert_eq!(find(&packet(key(80, 1, 5000), TcpFlags::SYN, None)), Some(0));
    assert_eq!(find(&packet(key(80, 2, 5000), TcpFlags::ACK, None)), Some(1));
    assert_eq!(find(&packet(key(80, 2, 5001), TcpFlags::SYN, None)), None);
    assert_eq!(find(&packet(key(81, 2, 5000), TcpFlags::ACK, None)), None);
    let quote = Quote::of(&packet(key(80, 2, 5000).reversed(), TcpFlags::ACK, None));
    let icmp = Icmp { kind: IcmpKind::NoRoute, quote };
    let icmp = Packet::new(Addr(9), SERVER, Body::Icmp(Box::new(icmp)));
    assert_eq!(find(&icmp), Some(1));
}

/// RFC 8684 §3.2: the SYN by its token, what follows by its addresses and ports.
#[test]
fn joins_find_their_endpoint_by_the_token() {
    let (mut demux, mut all) = two();
    let third = key(80, 3, 6000);
    let syn = |token| packet(third, TcpFlags::SYN, Some(token));
    let find = |demux: &mut Demux, all: &[Fake], packet| demux.find(&packet, |i| &all[i as usize]);
    assert_eq!(find(&mut demux, &all, packet(third, TcpFlags::ACK, None)), None);
    assert_eq!(find(&mut demux, &all, syn(300)), None, "unknown");
    assert_eq!(find(&mut demux, &all, syn(200)), Some(1));
    all[1].0.push(third);
    assert_eq!(find(&mut demux, &all, packet(third, TcpFlags::ACK, None)), Some(1));
    // Of a subflow that there is, a SYN goes there whatever it names.
    assert_eq!(find(&mut demux, &all, syn(100)), Some(1));
    all[1].0.pop();
    assert_eq!(find(&mut demux, &all, syn(100)), Some(0), "that subflow has ended");
}

/// The answer to a subflow that the server has opened.
#[test]
fn opened_subflows_are_found() {
    let (mut demux, mut all) = two();
    let opened = key(81, 1, 5000);
    all[0].0.push(opened);
    let answer = packet(opened, TcpFlags::SYN.union(TcpFlags::ACK), None);
    assert_eq!(demux.find(&answer, |i| &all[i as usize]), Some(0));
}

#[test]
fn addresses_and_tokens_are_taken_once() {
    let (mut demux, _) = two();
    assert_eq!(demux.insert(2, &Fake(vec![key(80, 1, 5000)], Some(3))), Err(Taken::Flow));
    assert_eq!(demux.insert(2, &Fake(vec![key(80, 3, 5000)], Some(200))), Err(Taken::Token));
    assert!(!demux.is_free(200) && demux.is_free(3));
    assert_eq!(demux.insert(2, &Fake(vec![key(80, 3, 5000)], None)), Ok(()));
}

/// A peer that knows a token can open subflows from any number of ports, which
/// the connection refuses.
#[test]
fn a_flood_of_joins_leaves_nothing() {
    let (mut demux, all) = two();
    for port in 0..5000 {
        let syn = packet(key(80, 3, port), TcpFlags::SYN, Some(100));
        assert_eq!(demux.find(&syn, |i| &all[i as usize]), Some(0));
    }
    assert!(demux.flows.len() <= LEAST_SWEPT, "{}", demux.flows.len());
    let known = packet(key(80, 1, 5000), TcpFlags::ACK, None);
    assert_eq!(demux.find(&known, |i| &all[i as usize]), Some(0));
}

/// RFC 9260 §5.1.2 D, RFC 5061 §5.2 D2: SCTP's packets name other addresses of their sender.
#[test]
fn an_association_is_found_by_an_address_that_a_packet_names() {
    use anabranch_wire::SctpPacket;
    use anabranch_wire::sctp::{Chunk, Parameter};
    let known = FlowKey { protocol: SctpPacket::PROTOCOL, ..key(80, 1, 5000) };
    let all = [Fake(vec![known], None)];
    let mut demux = Demux::default();
    demux.insert(0, &all[0]).unwrap();
    let named = |addresses: &[u32]| {
        let parameters =
            addresses.iter().map(|addr| Parameter::Address(Addr(*addr).into())).collect();
        let chunks = Chunk::Asconf { serial: Serial32(1), parameters }.into();
        let sctp = SctpPacket {
            src_port: 5000,
            dst_port: 80,
            tag: 1,
            udp: None,
            zero_checksum: false,
            chunks,
        };
        Packet::new(Addr(9), SERVER, Body::Sctp(Box::new(sctp)))
    };
    let mut find = |packet: &Packet| demux.find(packet, |number| &all[number as usize]);
    assert_eq!(find(&named(&[1])), Some(0));
    assert_eq!(find(&named(&[3])), None);
    assert_eq!(find(&named(&[3, 1])), None, "the first of an ASCONF alone");
    assert_eq!(find(&named(&[])), None);
}
