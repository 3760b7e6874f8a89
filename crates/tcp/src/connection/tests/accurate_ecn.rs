//! RFC 9768 as traces.

use super::*;
use crate::config::{EcnMode, Ect};
use crate::connection::ecn::EcnState;
use anabranch_congestion::{Acked, Congestion, CongestionEvent, Controller, Feedback, PathView};
use anabranch_custom::{Custom, Place};
use anabranch_wire::{AccEcn, AccEcnOrder, TcpOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn config(ecn: EcnMode) -> Config {
    Config { ecn, ..classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false }) }
}

fn accurate() -> Config {
    config(EcnMode::Accurate)
}

/// A window algorithm, and the octets of which it has heard that they were marked.
fn overheard(name: &'static str) -> (Algorithm, Arc<AtomicU64>) {
    #[derive(Debug)]
    struct Overheard(Congestion, Arc<AtomicU64>);
    impl Controller for Overheard {
        fn on_ack(&mut self, acked: &Acked, path: &PathView) {
            self.0.on_ack(acked, path);
        }
        fn wants_feedback(&self) -> bool {
            true
        }
        fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
            self.1.fetch_add(feedback.marked, Ordering::Relaxed);
            self.0.on_feedback(feedback, path);
        }
        fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
            self.0.on_congestion(event, path);
        }
        fn on_idle(&mut self, initial: u64) {
            self.0.on_idle(initial);
        }
        fn window(&self) -> u64 {
            self.0.window()
        }
        fn ssthresh(&self) -> u64 {
            self.0.ssthresh()
        }
    }
    let marked = Arc::new(AtomicU64::new(0));
    let heard = marked.clone();
    let make = move |_: &Place, initial, ssthresh| {
        let window = Algorithm::from_name(name).unwrap().build(initial, ssthresh);
        Box::new(Overheard(window, heard.clone())) as Box<dyn Controller + Send>
    };
    (Algorithm::Custom(Box::new(Custom::made_by(name, Arc::new(make)))), marked)
}

type Rule = Box<dyn FnMut(Side, &Packet) -> Fate>;

/// The client's data packets of these numbers are marked.
fn marking(numbers: &[u32]) -> Rule {
    let (numbers, mut n) = (numbers.to_vec(), 0);
    Box::new(move |side, packet| {
        n += (side == Side::Client && packet.payload_len() > 0) as u32;
        let hit = side == Side::Client && packet.payload_len() > 0 && numbers.contains(&n);
        if hit { Fate::Mark } else { Fate::Deliver }
    })
}

fn two(client: &Config, server: &Config, rule: Rule) -> Pair<Connection, Rule> {
    let (one, _) = ends(client);
    let (_, other) = ends(server);
    let mut pair = Pair::new(one, other, LATENCY, rule);
    pair.client.connect(Time::ZERO);
    pair
}

/// AE, CWR and ECE as a number.
fn ace(packet: &Packet) -> u16 {
    tcp(packet).flags.0 >> 6 & 7
}

fn option(packet: &Packet) -> Option<AccEcn> {
    tcp(packet).options.acc_ecn.as_deref().copied()
}

/// The ACE fields of what a side sent from a date on, SYNs apart.
fn fields(pair: &Pair<Connection, Rule>, from: Side, from_ms: u64) -> Vec<u16> {
    let lines = pair.log.iter().filter(|l| l.from == from && l.sent >= at_ms(from_ms));
    let packets = lines.map(|l| &l.packet);
    packets.filter(|p| !tcp(p).flags.contains(TcpFlags::SYN)).map(ace).collect()
}

fn data_is_capable(pair: &Pair<Connection, Rule>) -> Vec<bool> {
    let sent = pair.log.iter().filter(|l| l.from == Side::Client && l.packet.payload_len() > 0);
    sent.map(|l| l.packet.ecn != Ecn::NotEct).collect()
}

/// §3.1.1, table 2: all pairs of modes. The ACK of the SYN-ACK tells how that
/// came (table 3), and data follows it.
#[test]
fn both_ends_must_agree() {
    use EcnMode::{Accurate, Dctcp, Off, On, Passive};
    let (syn, ack, data) = ("SAEW 0:0", "W. 1:0 1", "PAE. 1:988 1 Ect0");
    for (client, server, expected) in [
        (Accurate, Accurate, [syn, "SW. 0:0 1", ack, data]),
        (Accurate, On, [syn, "SE. 0:0 1", "P. 1:1000 1 Ect0", "."]),
        (Accurate, Dctcp, [syn, "SE. 0:0 1", "P. 1:1000 1 Ect0", "."]),
        (Accurate, Passive, [syn, "SE. 0:0 1", "P. 1:1000 1 Ect0", "."]),
        (Accurate, Off, [syn, "S. 0:0 1", "P. 1:1000 1", "."]),
        (On, Accurate, ["SEW 0:0", "SE. 0:0 1", "P. 1:1000 1 Ect0", "."]),
        (Off, Accurate, ["S 0:0", "S. 0:0 1", "P. 1:1000 1", "."]),
    ] {
        let length = if (client, server) == (Accurate, Accurate) { 988 } else { 1000 };
        let mut pair = two(&config(client), &config(server), marking(&[]));
        pair.client.write(length);
        pair.drive(at_ms(500));
        let lines = trace(&pair, 0);
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.contains(expected), "{client:?} {server:?}: {lines:?}");
        }
    }
}

/// Table 2, every SYN-ACK that a client may get: codes that confirm, classic
/// ECN, none, a broken server, and 0b101, which is not in use (§3.1.3).
#[test]
fn the_client_follows_the_syn_ack() {
    for (code, mode) in [
        (0b000, "none"),
        (0b001, "classic"),
        (0b010, "accurate"),
        (0b011, "mangled"), // the SYN was not ECT(1)
        (0b100, "mangled"),
        (0b101, "accurate"),
        (0b110, "mangled"), // a SYN that is not ECN-capable cannot be marked
        (0b111, "none"),
    ] {
        let (mut client, _) = ends(&accurate());
        client.connect(Time::ZERO);
        let Some(Packet { body: Body::Tcp(syn), .. }) = client.poll_transmit(Time::ZERO) else {
            panic!("a SYN leaves");
        };
        let flags = TcpFlags::SYN.union(TcpFlags::ACK).union(TcpFlags(code << 6));
        let answer = TcpSegment {
            src_port: syn.dst_port,
            dst_port: syn.src_port,
            seq: Serial32(77),
            ack: syn.seq.add(1),
            flags,
            options: TcpOptions { mss: Some(1000), ..TcpOptions::default() },
            ..syn
        };
        client.handle_input(at_ms(200), &Packet::new(Addr(1), Addr(0), Body::Tcp(answer)));
        client.write(5000);
        let sent: Vec<_> = std::iter::from_fn(|| client.poll_transmit(at_ms(200))).collect();
        let last = sent.last().unwrap();
        let found = match (ace(&sent[0]), ace(last), last.ecn) {
            (0, 0, Ecn::NotEct) => "none",
            (0, 0, Ecn::Ect0) => "classic",
            (0b010, 5, Ecn::Ect0) => "accurate",
            (0b010, 5, Ecn::NotEct) => "mangled",
            other => panic!("{code:03b}: {other:?}"),
        };
        assert_eq!(found, mode, "{code:03b}");
        assert_eq!(sent[0].payload_len() == 0, found == "accurate" || found == "mangled");
    }
}

/// §3.1.3: what is not in use asks for AccECN; §3.1.1: 0b011 is RFC 3168.
#[test]
fn the_server_follows_the_syn() {
    for code in 0..8 {
        let (mut client, mut server) = ends(&config(EcnMode::On));
        client.connect(Time::ZERO);
        let mut syn = client.poll_transmit(Time::ZERO).unwrap();
        if let Body::Tcp(segment) = &mut syn.body {
            segment.flags = TcpFlags::SYN.union(TcpFlags(code << 6));
        }
        server.config = accurate().into();
        server.handle_input(at_ms(100), &syn);
        let answer = server.poll_transmit(at_ms(100)).unwrap();
        let expected = match code {
            0b000 => 0b000,
            0b011 => 0b001,
            _ => 0b010,
        };
        assert_eq!(ace(&answer), expected, "{code:03b}");
        assert_eq!(option(&answer).is_some(), expected == 0b010);
    }
}

/// Tables 2 to 4: what SYN and SYN-ACK came with, told by the answer to each.
/// CE on the SYN-ACK is counted, CE on the SYN is not.
#[test]
fn the_handshake_tells_codepoints() {
    for (ect, codes) in [(Ect::Zero, [0b100, 0b110]), (Ect::One, [0b011, 0b110])] {
        for marked in [None, Some(Side::Client), Some(Side::Server)] {
            let config = Config { ecn_control: true, ect, ..accurate() };
            let rule = move |side, packet: &Packet| {
                let syn = tcp(packet).flags.contains(TcpFlags::SYN);
                if syn && Some(side) == marked { Fate::Mark } else { Fate::Deliver }
            };
            let mut pair = two(&config, &config, Box::new(rule));
            pair.client.write(500);
            pair.drive(at_ms(1_000));
            let code = |side| codes[(marked == Some(side)) as usize];
            let sent: Vec<_> = pair.log.iter().map(|l| (l.from, ace(&l.packet))).collect();
            let cep = if marked == Some(Side::Server) { 6 } else { 5 };
            let client = code(Side::Server);
            assert_eq!(sent[1], (Side::Server, code(Side::Client)), "{marked:?}");
            assert_eq!(sent[2..4], [(Side::Client, client), (Side::Client, cep)], "{marked:?}");
            assert!(pair.log.iter().all(|l| l.packet.ecn == ect.codepoint()));
        }
    }
}

/// RFC 9331 §4.2: ECT(1) is for connections both of whose ends have accurate feedback. Without it
/// data, and with `ecn_control` all else, is ECT(0).
#[test]
fn without_accurate_feedback_there_is_no_ect1() {
    for ecn_control in [false, true] {
        let client = Config { ect: Ect::One, ecn_control, ..accurate() };
        for (server, expected) in [(EcnMode::On, Ecn::Ect0), (EcnMode::Accurate, Ecn::Ect1)] {
            let mut pair = two(&client, &config(server), marking(&[]));
            pair.client.write(40_000);
            pair.drive(at_ms(5_000));
            let sent = pair.log.iter().filter(|l| l.from == Side::Client);
            let later = sent.filter(|l| !tcp(&l.packet).flags.contains(TcpFlags::SYN));
            let is_as_expected = |packet: &Packet| {
                packet.ecn == expected || packet.payload_len() == 0 && packet.ecn == Ecn::NotEct
            };
            assert!(later.clone().count() > 30);
            assert!(later.clone().all(|l| is_as_expected(&l.packet)), "{:#?}", trace(&pair, 0));
        }
    }
}

/// A SYN or SYN-ACK that met congestion: one segment at first.
#[test]
fn a_marked_syn_leaves_one_segment() {
    let base = Config {
        ecn_control: true,
        initial_window: InitialWindow::Rfc6928,
        initial_ssthresh: None,
        ..accurate()
    };
    for (marked, window) in [(false, 10_000), (true, 1000)] {
        let rule = move |side, packet: &Packet| {
            let syn = tcp(packet).flags.contains(TcpFlags::SYN) && side == Side::Client;
            if syn && marked { Fate::Mark } else { Fate::Deliver }
        };
        let mut pair = two(&base, &base, Box::new(rule));
        pair.client.write(100_000);
        pair.drive(at_ms(299));
        assert_eq!(pair.client.observe().cwnd, window);
    }
}

/// §3.1.4.1: the SYN asks twice, then does without; if the first did arrive,
/// feedback is given but nothing is ECN-capable (§3.1.5).
#[test]
fn a_syn_asks_twice() {
    let mut syns = 0;
    let rule = move |side, _: &Packet| {
        syns += (side == Side::Client) as u32;
        if side == Side::Server && syns < 3 { Fate::Drop } else { Fate::Deliver }
    };
    let mut pair = two(&accurate(), &accurate(), Box::new(rule));
    pair.client.write(500);
    pair.drive(at_ms(20_000));
    let lines = trace(&pair, 0);
    let syns: Vec<_> = lines.iter().filter(|l| l.contains("> S")).cloned().collect();
    assert_eq!(syns, ["0 > SAEW 0:0", "1000 > SAEW 0:0", "3000 > S 0:0"], "{lines:#?}");
    assert!(lines.iter().all(|l| !l.contains("Ect")), "{lines:#?}");
    assert_eq!(pair.server.receiver.received(), 500);
}

/// §3.2.3.2.2: the second SYN-ACK has no option, the third says nothing of ECN.
/// A client that hears that one only does without ECN; the server goes on
/// (§3.1.5) and sees a zero.
#[test]
fn a_syn_ack_falls_back_in_two_steps() {
    for (lost, steps) in [(1, 1), (2, 2)] {
        let mut n = 0;
        let rule = move |side, packet: &Packet| {
            n += (side == Side::Server) as u32;
            let syn = tcp(packet).flags.contains(TcpFlags::SYN);
            // The client's SYNs after the first are lost, so that timeouts decide.
            let again = side == Side::Client && syn && n > 0;
            if again || side == Side::Server && n <= lost { Fate::Drop } else { Fate::Deliver }
        };
        let mut pair = two(&accurate(), &accurate(), Box::new(rule));
        pair.client.write(500);
        pair.server.write(500);
        pair.drive(at_ms(30_000));
        let answers: Vec<_> = pair
            .log
            .iter()
            .filter(|l| l.from == Side::Server && tcp(&l.packet).flags.contains(TcpFlags::SYN))
            .map(|l| (ace(&l.packet), option(&l.packet).is_some()))
            .collect();
        let all = [(0b010, true), (0b010, false), (0b000, false)];
        assert_eq!(answers, all[..=steps]);
        let capable = pair.log.iter().any(|l| l.packet.ecn != Ecn::NotEct);
        assert_eq!(capable, steps == 1, "{:#?}", trace(&pair, 0));
        assert_eq!((pair.server.receiver.received(), pair.client.receiver.received()), (500, 500));
    }
}

/// §3.2.2: the field counts from five; §3.2.2.5.1: the first mark is answered
/// at once; §3.2.3.3: options tell the octets. The window shrinks once for all
/// marks of a window, and nothing says CWR.
#[test]
fn marks_are_counted_and_halve_the_window_once() {
    let mut pair = two(&accurate(), &accurate(), marking(&[24, 26, 30]));
    pair.client.write(1 << 30);
    pair.drive(at_ms(1_190));
    let end = pair.client.observe();
    assert_eq!(end.ssthresh, 5_500, "half of eleven segments");
    assert!((5_500..6_500).contains(&end.cwnd), "{end:?}");
    assert_eq!((end.retransmitted_packets, end.timeouts, end.fast_retransmits), (0, 0, 0));
    pair.drive(at_ms(1_290));
    let acks = fields(&pair, Side::Server, 0);
    assert_eq!(acks.iter().filter(|ace| **ace == 5).count(), 23);
    assert_eq!(acks.iter().filter(|ace| **ace == 6).count(), 2);
    assert_eq!(acks.iter().filter(|ace| **ace == 7).count(), 4);
    assert!(acks.iter().skip(29).all(|ace| *ace == 0), "eight is zero: {acks:?}");
    assert!(fields(&pair, Side::Client, 201).iter().all(|ace| *ace == 5), "nothing came marked");
    let sent = pair.log.iter().filter(|l| l.from == Side::Server);
    let mut last = sent.filter_map(|l| option(&l.packet));
    assert_eq!(last.next_back().and_then(|option| option.ceb()), Some(3000));
}

/// A window algorithm in proportion to marks hears exactly how many octets were
/// marked, whatever the delayed ACKs, with options and without.
#[test]
fn octets_are_exact_with_options_and_close_without() {
    for strip in [false, true] {
        let (window, marked) = overheard("dctcp");
        let config = Config {
            window,
            initial_window: InitialWindow::Segments(20),
            delayed_ack: DelayedAck { count: 2, delay: Span::from_millis(40) },
            counting: Counting::Bytes,
            ..accurate()
        };
        let mut n = 0;
        let rule = move |side, packet: &Packet| {
            n += (side == Side::Client && packet.payload_len() > 0) as u32;
            let hit = side == Side::Client && packet.payload_len() > 0 && n % 5 == 0;
            if hit { Fate::Mark } else { Fate::Deliver }
        };
        let mut pair = two(&config, &config, Box::new(rule));
        if strip {
            pair.mangle = Some(|_, packet| {
                if let Body::Tcp(segment) = &mut packet.body {
                    segment.options.acc_ecn = None;
                }
            });
        }
        pair.client.write(1 << 30);
        let mut delivered = 0;
        while pair.step(at_ms(20_000)) {
            // The server has read all; what it counted is what the client heard.
            pair.server.read(u64::MAX);
            delivered = pair.client.observe().bytes_acked;
        }
        let share = marked.load(Ordering::Relaxed) as f64 / delivered as f64;
        assert!((share - 0.2).abs() < 0.005, "strip {strip}: {share}");
        assert!(data_is_capable(&pair).iter().all(|capable| *capable));
    }
}

/// §3.2.2.4: the peer's fields are zero after the handshake.
#[test]
fn a_zeroed_field_switches_ecn_off() {
    let mut pair = two(&accurate(), &accurate(), marking(&[1, 2, 3, 9, 10]));
    pair.mangle = Some(|side, packet| {
        if let Body::Tcp(segment) = &mut packet.body
            && side == Side::Server
            && !segment.flags.contains(TcpFlags::SYN)
        {
            segment.flags = TcpFlags(segment.flags.0 & 0x3f);
        }
    });
    pair.client.write(60_000);
    pair.drive(at_ms(10_000));
    let capable = data_is_capable(&pair);
    assert_eq!(capable[..4], [true, true, true, false], "ECT until the first ACK");
    assert!(capable[3..].iter().all(|capable| !capable));
    assert_eq!(pair.client.observe().ssthresh, 10_000, "marks are not believed");
}

/// Note 1 of table 4: the client's ACK comes with a zero field. The server gives
/// feedback, but sends nothing that is ECN-capable.
#[test]
fn a_zeroed_handshake_switches_the_server_off() {
    let mut pair = two(&accurate(), &accurate(), marking(&[2]));
    pair.mangle = Some(|side, packet| {
        if let Body::Tcp(segment) = &mut packet.body
            && side == Side::Client
            && !segment.flags.contains(TcpFlags::SYN)
        {
            segment.flags = TcpFlags(segment.flags.0 & 0x3f);
        }
    });
    pair.client.write(5_000);
    pair.server.write(5_000);
    pair.drive(at_ms(3_000));
    let sent = pair.log.iter().filter(|l| l.from == Side::Server);
    assert!(sent.clone().all(|l| l.packet.ecn == Ecn::NotEct));
    assert_eq!(fields(&pair, Side::Server, 0).last(), Some(&6), "the mark is told");
}

/// §3.2.2.3: ECT is cleared on the way; the counters of full options show it.
#[test]
fn a_path_that_clears_ect_is_given_up() {
    let mut pair = two(&accurate(), &accurate(), marking(&[]));
    pair.mangle = Some(|side, packet| {
        if side == Side::Client {
            packet.ecn = Ecn::NotEct;
        }
    });
    pair.client.write(60_000);
    pair.drive(at_ms(3_000));
    let Some(EcnState::Accurate(state)) = pair.client.extras.ecn() else { panic!("agreed") };
    assert!(!state.ect);
}

/// Data both ways: the path passes its trial at both ends.
#[test]
fn two_way_data_stays_ecn_capable() {
    let mut pair = two(&accurate(), &accurate(), marking(&[]));
    pair.client.write(30_000);
    pair.server.write(30_000);
    pair.drive(at_ms(5_000));
    let data = pair.log.iter().filter(|l| l.packet.payload_len() > 0);
    assert!(data.clone().count() > 60);
    assert!(data.clone().all(|l| l.packet.ecn == Ecn::Ect0), "{:#?}", trace(&pair, 0));
}

/// Forty octets of options: with holes to report, timestamps and marks, SACK
/// blocks and option share the space, and data makes room for it (RFC 6691).
#[test]
fn options_share_the_header_and_the_segment() {
    let config =
        Config { timestamps: true, initial_window: InitialWindow::Segments(20), ..accurate() };
    let mut n = 0;
    let rule = move |side, packet: &Packet| {
        let data = side == Side::Client && packet.payload_len() > 0;
        n += data as u32;
        match n {
            5 | 8 | 11 | 14 if data => Fate::Drop,
            _ if data && n % 3 == 0 => Fate::Mark,
            _ => Fate::Deliver,
        }
    };
    let mut pair = two(&config, &config, Box::new(rule));
    pair.client.write(400_000);
    pair.server.write(400_000);
    pair.drive(at_ms(60_000));
    let received = [pair.server.receiver.received(), pair.client.receiver.received()];
    assert_eq!(received, [400_000; 2]);
    let mut shapes = Vec::new();
    for line in &pair.log {
        let segment = tcp(&line.packet);
        assert!(segment.options.wire_len() <= 40, "{segment:?}");
        if segment.payload.is_empty() || segment.options.sack.is_empty() {
            assert!(segment.wire_len() <= 1020, "{segment:?}");
        }
        let shape = (
            option(&line.packet).map(|option| option.fields()),
            segment.options.sack.as_slice().len(),
        );
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    for shape in [(Some(3), 0), (Some(2), 0), (Some(3), 1), (Some(2), 2)] {
        assert!(shapes.contains(&shape), "{shape:?} among {shapes:?}");
    }
}

/// §3.2.3.2.2: the SYN has no option, its answers and the first data have, what
/// is sent again has not. With ECT(1), its counter comes first.
#[test]
fn where_options_are_and_in_which_order() {
    let config = Config { ect: Ect::One, ..accurate() };
    let mut n = 0;
    let rule = move |side, packet: &Packet| {
        n += (side == Side::Client && packet.payload_len() > 0) as u32;
        if side == Side::Client && n == 1 { Fate::Drop } else { Fate::Deliver }
    };
    let mut pair = two(&config, &config, Box::new(rule));
    pair.client.write(500);
    pair.drive(at_ms(10_000));
    let carried: Vec<_> = pair.log.iter().map(|l| option(&l.packet)).collect();
    let first = AccEcn::new(AccEcnOrder::Zero, 3, 1, 0, 1);
    // The data sent again is not ECN-capable, and so counted nowhere.
    assert_eq!(carried, [None, Some(first), Some(first), Some(first), None, Some(first)]);
    let mut pair = two(&config, &config, marking(&[]));
    pair.client.write(500);
    pair.drive(at_ms(10_000));
    let last = AccEcn::new(AccEcnOrder::One, 3, 1, 0, 501);
    assert_eq!(pair.log.last().map(|l| option(&l.packet)), Some(Some(last)));
}

/// §3.1.5: a SYN for classic ECN after one for AccECN is answered by a reset.
#[test]
fn a_host_does_not_change_its_mind() {
    let (mut client, mut server) = ends(&accurate());
    client.connect(Time::ZERO);
    let mut syn = client.poll_transmit(Time::ZERO).unwrap();
    server.handle_input(at_ms(100), &syn);
    server.poll_transmit(at_ms(100));
    if let Body::Tcp(segment) = &mut syn.body {
        segment.flags = TcpFlags::SYN.union(TcpFlags(0b011 << 6));
    }
    server.handle_input(at_ms(200), &syn);
    let answer = server.poll_transmit(at_ms(200)).unwrap();
    assert!(tcp(&answer).flags.contains(TcpFlags::RST));
    assert_eq!(ace(&answer), 0, "a reset has no field");
}
