//! Fast Open (RFC 7413): traces of opening with and without a cookie, of all
//! ways in which it fails, and of what the client remembers.

use super::solo::{PEER, Solo};
use super::*;
use crate::fast_open::{FastOpenOptions, FastOpenServer, Keys};
use anabranch_endpoint::{Generator, PeerMemory};
use anabranch_wire::{FastOpenCookie, FastOpenOption, Icmp, IcmpKind, Payload, Quote, RareOptions};

const KEY: [u64; 2] = [1, 2];

fn with_fast_open(config: &Config) -> Config {
    Config { fast_open: Some(FastOpenOptions::default()), ..config.clone() }
}

fn config() -> Config {
    with_fast_open(&classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false }))
}

fn cookie() -> FastOpenCookie {
    Keys { key: KEY, lifetime: None }.cookie(Time::ZERO, Addr(1), Addr(0))
}

/// A client that has a cookie of a server whose MSS is 1000.
pub fn client(config: &Config) -> Solo {
    client_knowing(config, FastOpenServer { cookie: cookie(), mss: 1000, ..Default::default() })
}

fn client_knowing(config: &Config, server: FastOpenServer) -> Solo {
    let mut memory = PeerMemory::default();
    *memory.get_mut() = server;
    let mut s = Solo::client(&with_fast_open(config));
    s.end.recall(&memory);
    s
}

/// A server whose key is [`KEY`].
pub fn server(config: &Config) -> Solo {
    let mut s = Solo::server(&with_fast_open(config));
    s.end.set_fast_open_key(KEY);
    s
}

/// A SYN with a good cookie and so much data.
pub fn syn(s: &Solo, len: u32) -> TcpSegment {
    with_option(s.segment("S", 0, 0, len), cookie())
}

fn with_option(mut segment: TcpSegment, cookie: FastOpenCookie) -> TcpSegment {
    let fast_open = Some(FastOpenOption { cookie, experimental: false });
    segment.options.mss = Some(1000);
    segment.options.rare = Some(Box::new(RareOptions { fast_open, ..Default::default() }));
    segment
}

/// What a client has learnt, and nothing else.
fn learnt(end: &mut Connection) -> Option<FastOpenServer> {
    let mut memory = PeerMemory::default();
    end.has_learnt().then(|| {
        end.remember(&mut memory);
        *memory.get().unwrap()
    })
}

fn opened(len: u64) -> Solo {
    let mut s = client(&config());
    s.end.write(len);
    s.end.connect(Time::ZERO);
    s
}

/// A pair whose client has the memory of an earlier one.
fn pair_with<F: FnMut(Side, &Packet) -> Fate>(
    config: &Config,
    memory: &PeerMemory,
    rule: F,
) -> Pair<Connection, F> {
    let mut pair = pair(config, rule);
    pair.server.set_fast_open_key(KEY);
    pair.client.recall(memory);
    pair
}

/// §4.2: the first connection asks for a cookie; the second has its answer one
/// round trip earlier.
#[test]
fn the_second_connection_saves_a_round_trip() {
    let mut memory = PeerMemory::default();
    let play = |memory: &mut PeerMemory| {
        let mut pair = pair_with(&config(), memory, |_, _| Fate::Deliver);
        pair.client.write(500);
        while pair.server.observe().bytes_received < 500 {
            pair.drive(pair.now);
            pair.step(at_ms(1000));
        }
        pair.server.write(1000);
        pair.drive(at_ms(1000));
        assert_eq!(pair.client.observe().bytes_received, 1000);
        assert_eq!(pair.client.observe().bytes_acked, 500);
        if pair.client.has_learnt() {
            pair.client.remember(memory);
        }
        trace(&pair, 0)
    };
    let first = play(&mut memory);
    assert_eq!(
        first[..5],
        [
            "0 > S 0:0 FO?",
            "100 < S. 0:0 1 FO",
            "200 > P. 1:500 1",
            "300 < P. 1:1000 501",
            "400 > . 501:0 1001"
        ]
    );
    let second = play(&mut memory);
    assert_eq!(
        second,
        [
            "0 > SP 0:500 FO",
            "100 < S. 0:0 501",
            "100 < P. 1:1000 501",
            "200 > . 501:0 1",
            "200 > . 501:0 1001"
        ]
    );
    assert_eq!(play(&mut memory), second, "a cookie is good more than once");
}

/// RFC 5681 §3.1: the window after the handshake is the initial one, and all of
/// it is free: what the SYN carried has arrived.
#[test]
fn data_in_the_syn_neither_fills_nor_opens_the_window() {
    let mut s = opened(9000);
    // MSS, SACK permitted, window scale, cookie: 24 octets of options.
    assert_eq!(s.sent(), ["S 0:976 FO"]);
    s.now = at_ms(100);
    let mut answer = s.segment("S.", 0, 977, 0);
    answer.options.mss = Some(1000);
    assert_eq!(
        s.deliver(answer),
        ["P. 977:1000 1", "P. 1977:1000 1", ". 2977:1000 1"].map(|l| l.replace("P.", "."))
    );
    assert_eq!((s.end.observe().cwnd, s.end.observe().in_flight), (3000, 3000));
    assert_eq!(s.end.observe().retransmitted_packets, 0);
    assert_eq!(s.end.observe().srtt, Some(Span::from_millis(100)));
}

/// Windows in segments of the cached MSS, cookies of every length.
#[test]
fn the_syn_holds_what_is_left_beside_its_options() {
    let everything = Config { timestamps: true, ..config() };
    for (len, options) in [(4, 28), (8, 32), (16, 40)] {
        let cookie = FastOpenCookie::new(&vec![7; len]).unwrap();
        let mut s =
            client_knowing(&everything, FastOpenServer { cookie, mss: 536, ..Default::default() });
        s.end.write(5000);
        s.end.connect(Time::ZERO);
        assert_eq!(s.sent(), [format!("S 0:{} FO", 536 - options)]);
    }
}

/// §4.2.2: what the server does not take follows at once, and no loss is
/// signalled.
#[test]
fn what_is_left_of_the_data_follows_the_handshake() {
    for (ack, follows) in [(1, "P. 1:500 1"), (301, "P. 301:200 1")] {
        let mut s = opened(500);
        s.sent();
        s.now = at_ms(100);
        let segment = with_option(s.segment("S.", 0, ack, 0), cookie());
        assert_eq!(s.deliver(segment), [follows]);
        let seen = s.end.observe();
        assert_eq!((seen.timeouts, seen.fast_retransmits, seen.retransmitted_packets), (0, 0, 1));
        assert_eq!(seen.cwnd, 3000);
        assert_eq!(s.events(), [Event::Connected]);
        assert_eq!(s.arrives(".", 1, 501, 0), [""; 0]);
        assert_eq!(s.end.observe().bytes_acked, 500);
    }
}

/// §4.1.3.1: the data is refused, without a new cookie.
#[test]
fn a_refusal_is_remembered_for_a_time() {
    let mut s = opened(500);
    s.sent();
    s.now = at_ms(100);
    assert_eq!(s.arrives("S.", 0, 1, 0), ["P. 1:500 1"]);
    let known = learnt(&mut s.end).unwrap();
    assert_eq!((known.failures, known.off_until), (1, at_ms(60_100)));
    assert!(!s.end.has_learnt(), "said once");
    let known = FastOpenServer { cookie: cookie(), mss: 1000, ..known };

    let again = |ms| {
        let mut s = client_knowing(&config(), known);
        s.now = at_ms(ms);
        s.end.write(500);
        s.end.connect(s.now);
        s.sent()
    };
    assert_eq!(again(60_099), ["S 0:0"]);
    assert_eq!(again(60_100), ["SP 0:500 FO"]);

    // The next one that works clears the record.
    let mut s = client_knowing(&config(), FastOpenServer { off_until: Time::ZERO, ..known });
    s.end.write(500);
    s.end.connect(s.now);
    s.sent();
    s.arrives("S.", 0, 501, 0);
    assert_eq!(learnt(&mut s.end).unwrap().failures, 0);
}

/// §4.1.3.1: no answer at all. The SYN is sent again without data and option.
#[test]
fn a_syn_that_is_lost_is_sent_again_bare() {
    let mut s = opened(500);
    assert_eq!(s.sent(), ["SP 0:500 FO"]);
    assert_eq!(s.until(3500), ["1000 S 0:0", "3000 S 0:0"]);
    assert_eq!(learnt(&mut s.end).unwrap().failures, 1);
    assert_eq!(s.arrives("S.", 0, 1, 0), ["P. 1:500 1"]);
    assert_eq!(s.end.observe().retransmitted_packets, 1);
    assert!(!s.end.has_learnt(), "counted once");

    // A request that is lost is asked again with the next connection.
    let mut s = client_knowing(&config(), FastOpenServer::default());
    s.end.connect(Time::ZERO);
    assert_eq!(s.sent(), ["S 0:0 FO?"]);
    assert_eq!(s.until(1500), ["1000 S 0:0"]);
    assert!(!s.end.has_learnt());
}

/// The SYN was late, not lost: its data counts, though a bare SYN followed it.
#[test]
fn a_late_answer_still_acknowledges_the_data() {
    let mut s = opened(500);
    s.sent();
    s.until(1100);
    assert_eq!(s.arrives("S.", 0, 501, 0), [". 501:0 1"]);
    assert_eq!(s.end.observe().bytes_acked, 500);
    assert_eq!(learnt(&mut s.end).unwrap().failures, 0, "it did work");
    // Beyond what the SYN carried nothing is acknowledged.
    let mut s = opened(500);
    s.sent();
    assert_eq!(s.arrives("S.", 0, 502, 0), ["R 502:0"]);
}

/// Data that the server sent behind its SYN-ACK overtakes it: no reset.
#[test]
fn data_before_the_syn_ack_is_left_out() {
    let mut s = opened(500);
    s.sent();
    assert_eq!(s.arrives(".", 1, 501, 1000), [""; 0]);
    assert_eq!(s.end.state(), State::SynSent);
}

#[test]
fn the_application_reads_before_the_handshake_ends() {
    let mut s = server(&config());
    let arrived = syn(&s, 100);
    assert_eq!(s.deliver(arrived), ["S. 0:0 101"]);
    assert_eq!(s.events(), [Event::Connected, Event::Readable]);
    assert_eq!(s.end.read(1000), 100);
    assert_eq!(s.end.state(), State::SynReceived);
    // §4.2.2: as much as the initial window allows, and nothing more.
    s.end.write(9000);
    assert_eq!(s.sent(), [". 1:1000 101", ". 1001:1000 101", ". 2001:1000 101"]);
    s.now = at_ms(200);
    // The ACK of the SYN alone tells nothing of the data behind it.
    assert_eq!(s.arrives(".", 101, 1, 0), [""; 0]);
    assert_eq!(s.end.state(), State::Established);
    assert_eq!(s.events(), [], "connected is said once");
    assert_eq!(s.arrives(".", 101, 1001, 0), [". 3001:1000 101", ". 4001:1000 101"]);
    assert_eq!(s.end.observe().srtt, Some(Span::from_millis(200)), "of the SYN-ACK");
}

/// All that was sent early is lost, and so is the SYN-ACK: its timer repairs the
/// handshake, then the data has a timer of its own.
#[test]
fn the_syn_ack_is_repaired_first() {
    let mut s = server(&config());
    let arrived = syn(&s, 100);
    s.deliver(arrived);
    s.end.write(1500);
    assert_eq!(s.sent(), [". 1:1000 101", "P. 1001:500 101"]);
    assert_eq!(s.until(2000), ["1000 S. 0:0 101"]);
    assert_eq!(s.arrives(".", 101, 1, 0), [""; 0]);
    let later = s.until(20_000);
    assert_eq!(later[0], "5000 . 1:1000 101", "3 s after a lost SYN (RFC 6298 §5.7)");
}

/// The FIN may leave early, too, and the answer may end the connection.
#[test]
fn a_whole_exchange_takes_one_round_trip() {
    let mut s = server(&config());
    let arrived = syn(&s, 100);
    s.deliver(arrived);
    s.end.write(700);
    s.end.close();
    assert_eq!(s.sent(), ["FP. 1:700 101"]);
    s.now = at_ms(100);
    s.arrives("F.", 101, 702, 0);
    assert_eq!(s.end.state(), State::TimeWait);
}

#[test]
fn a_wrong_cookie_costs_the_data_and_brings_a_new_one() {
    let mut s = server(&config());
    let wrong = FastOpenCookie::new(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let arrived = with_option(s.segment("S", 0, 0, 100), wrong);
    assert_eq!(s.deliver(arrived.clone()), ["S. 0:0 1 FO"]);
    assert_eq!(s.events(), []);
    // A copy of that SYN is no new one: answered as the first, no way back to
    // LISTEN.
    assert_eq!(s.deliver(arrived), ["S. 0:0 1 FO"]);
    assert_eq!(s.end.state(), State::SynReceived);
    assert_eq!(s.arrives("P.", 1, 1, 100), [". 1:0 101"]);
    assert_eq!(s.events(), [Event::Connected, Event::Readable]);
}

/// §4.2.1, §4.2.2: a SYN-ACK that gets no answer is sent again without the option.
#[test]
fn a_repeated_syn_ack_carries_no_cookie() {
    let mut s = server(&config());
    let asks = with_option(s.segment("S", 0, 0, 0), FastOpenCookie::REQUEST);
    assert_eq!(s.deliver(asks), ["S. 0:0 1 FO"]);
    assert_eq!(s.until(3_000), ["1000 S. 0:0 1", "3000 S. 0:0 1"]);
}

/// The client's side of it: the new cookie replaces the old one and is no
/// negative response (§4.1.3.1).
#[test]
fn a_new_cookie_is_not_held_against_the_server() {
    let mut s = opened(500);
    s.sent();
    let new = FastOpenCookie::new(&[9; 8]).unwrap();
    let mut answer = with_option(s.segment("S.", 0, 1, 0), new);
    answer.options.mss = Some(9000);
    s.deliver(answer);
    let known = learnt(&mut s.end).unwrap();
    assert_eq!((known.cookie, known.failures), (new, 0));
    assert_eq!(known.mss, 1460, "no larger SYN is risked (§4.1.3)");
}

/// §4.1.2: a cookie of the key before is good, and replaced.
#[test]
fn an_old_cookie_is_replaced() {
    let lifetime = Some(Span::from_secs(100));
    let options = FastOpenOptions { key_lifetime: lifetime, ..Default::default() };
    let config = Config { fast_open: Some(options), ..config() };
    for (second, sent) in [(99, "S. 0:0 101"), (199, "S. 0:0 101 FO"), (201, "S. 0:0 1 FO")] {
        let mut s = Solo::server(&config);
        s.end.set_fast_open_key(KEY);
        s.now = at_ms(second * 1000);
        let arrived = syn(&s, 100);
        assert_eq!(s.deliver(arrived), [sent], "at {second} s");
    }
}

/// RFC 7413 §9: asked in the experimental form, answered in it.
#[test]
fn the_experimental_form_is_answered_in_kind() {
    let options = FastOpenOptions { experimental: true, ..Default::default() };
    let config = Config { fast_open: Some(options), ..config() };
    let mut pair = pair(&config, |_, _| Fate::Deliver);
    pair.drive(at_ms(1000));
    let forms: Vec<_> = pair.log.iter().map(|l| tcp(&l.packet).options.fast_open()).collect();
    assert!(
        forms[..2].iter().all(|form| form.is_some_and(|option| option.experimental)),
        "{forms:?}"
    );
    let known = learnt(&mut pair.client).unwrap();
    assert!(known.experimental && !known.cookie.is_request());
}

/// One side does without.
#[test]
fn who_does_not_take_part_opens_as_usual() {
    let only_client = FastOpenOptions { server: false, ..Default::default() };
    let none_pending = FastOpenOptions { pending: 0, ..Default::default() };
    for options in [Some(only_client), Some(none_pending), None] {
        let mut s = Solo::server(&Config { fast_open: options, ..config() });
        s.end.set_fast_open_key(KEY);
        let arrived = syn(&s, 100);
        assert_eq!(s.deliver(arrived), ["S. 0:0 1"]);
    }
    let only_server = FastOpenOptions { client: false, ..Default::default() };
    let mut s = Solo::client(&Config { fast_open: Some(only_server), ..config() });
    s.end.connect(Time::ZERO);
    assert_eq!(s.sent(), ["S 0:0"]);
}

/// §4.1.1: without SYN the option means nothing.
#[test]
fn the_option_counts_on_syns_alone() {
    let mut s = opened(500);
    s.sent();
    s.arrives("S.", 0, 501, 0);
    learnt(&mut s.end);
    let other = FastOpenCookie::new(&[9; 8]).unwrap();
    let segment = with_option(s.segment(".", 1, 501, 0), other);
    s.deliver(segment);
    assert!(!s.end.has_learnt());
}

/// §5.1: the application has seen data: the connection is over, and does not go
/// back to LISTEN as an unseen one does.
#[test]
fn a_reset_ends_a_connection_that_was_opened_early() {
    let mut s = server(&config());
    let arrived = syn(&s, 100);
    s.deliver(arrived);
    s.events();
    assert_eq!(s.arrives("S", 150, 0, 0), [". 1:0 101"], "a SYN in the window is challenged");
    s.arrives("R", 101, 0, 0);
    assert_eq!(s.events(), [Event::Closed(CloseReason::Reset)]);

    let mut s = server(&config());
    s.arrives("S", 0, 0, 0);
    s.arrives("R", 1, 0, 0);
    assert_eq!(s.end.state(), State::Listen);
    // The key outlives the way back.
    let arrived = syn(&s, 100);
    assert_eq!(s.deliver(arrived), ["S. 0:0 101"]);
}

/// Both sides open with a cookie of the other; what our SYN carried counts where it is
/// acknowledged, and else follows; what the peer's carried waits until the connection is
/// established (RFC 9293 §3.10.7.3).
#[test]
fn simultaneous_open() {
    for (ack, then) in [(1, ["P. 1:500 301"]), (501, [". 501:0 301"])] {
        let mut s = opened(500);
        s.sent();
        s.now = at_ms(100);
        let crossing = syn(&s, 300);
        assert_eq!(s.deliver(crossing), ["S. 0:0 1"]);
        assert_eq!(s.end.state(), State::SynReceived);
        s.now = at_ms(200);
        assert_eq!(s.arrives(".", 1, ack, 0), then);
        assert_eq!(s.end.state(), State::Established);
        assert_eq!(s.arrives(".", 1, 501, 300), [". 501:0 301"], "it has come");
        s.arrives(".", 301, 501, 0);
        assert_eq!(s.end.observe().bytes_acked, 500);
    }
}

fn icmp(s: &Solo, sent: &Packet, kind: IcmpKind) -> Packet {
    let body = Body::Icmp(Box::new(Icmp { kind, quote: Quote::of(sent) }));
    Packet::new(Addr(9), s.end.ends.local.0, body)
}

/// §4.1.3.1: ICMP errors are negative responses; one that says that the SYN was
/// too big is a word about the path.
#[test]
fn icmp_errors_about_the_syn() {
    let mut s = opened(900);
    let sent = s.end.poll_transmit(s.now).unwrap();
    s.end.handle_input(s.now, &icmp(&s, &sent, IcmpKind::HostUnreachable));
    assert_eq!(learnt(&mut s.end).unwrap().failures, 1);
    assert_eq!(s.until(1000), ["1000 S 0:0"]);

    let mut s = opened(900);
    let sent = s.end.poll_transmit(s.now).unwrap();
    s.now = at_ms(20);
    s.end.handle_input(s.now, &icmp(&s, &sent, IcmpKind::PacketTooBig { mtu: 600 }));
    assert_eq!(s.sent(), ["S 0:0"], "at once");
    let known = learnt(&mut s.end).unwrap();
    assert_eq!((known.mss, known.failures), (560, 0));
    s.end.handle_input(s.now, &icmp(&s, &sent, IcmpKind::PacketTooBig { mtu: 600 }));
    assert_eq!(s.sent(), [""; 0], "said already");
}

/// Random loss, duplication and delay on connections with a cookie: the octets
/// arrive whole, for every recovery scheme.
#[test]
fn streams_survive_a_bad_path() {
    for (n, scheme) in
        ["tahoe", "reno", "newreno", "sack", "fack", "rack", "decoupled", "decoupled-rack"]
            .iter()
            .enumerate()
    {
        for seed in 0..25 {
            let mut generator = Generator::from_u64(seed * 10 + n as u64);
            let recovery = Recovery::from_name(scheme).unwrap();
            let config = Config { recovery, window_scale: true, ..with_fast_open(&config()) };
            let mut memory = PeerMemory::default();
            *memory.get_mut() =
                FastOpenServer { cookie: cookie(), mss: 1000, ..Default::default() };
            let rule = move |_, _: &Packet| match generator.below(12) {
                0 | 1 => Fate::Drop,
                2 => Fate::Duplicate(Span::from_millis(30)),
                3 => Fate::Delay(Span::from_millis(1500)),
                _ => Fate::Deliver,
            };
            let mut pair = pair_with(&config, &memory, rule);
            let message: Vec<u8> = (0..40_000_u32).map(|i| (i / 7) as u8).collect();
            pair.client.write_octets(&message);
            pair.client.close();
            let (mut there, mut back) = (Vec::new(), Vec::new());
            let mut answered = false;
            let mut buf = [0; 4096];
            pair.logging = false;
            while (there.len() < message.len() || back.len() < 20_000)
                && pair.step(at_ms(3_600_000))
            {
                for (end, kept) in [(&mut pair.server, &mut there), (&mut pair.client, &mut back)] {
                    loop {
                        let n = end.read_octets(&mut buf);
                        kept.extend_from_slice(&buf[..n]);
                        if n == 0 {
                            break;
                        }
                    }
                }
                if !there.is_empty() && !answered {
                    answered = true;
                    pair.server.write_octets(&message[..20_000]);
                    pair.server.close();
                }
            }
            assert!(there == message && back == message[..20_000], "{scheme} {seed}");
        }
    }
}

/// What a SYN carries is the stream's own octets.
#[test]
fn real_octets_in_the_syn() {
    let mut s = client(&config());
    s.end.write_octets(b"GET / HTTP/1.0");
    s.end.connect(Time::ZERO);
    let sent = s.end.poll_transmit(s.now).unwrap();
    assert_eq!(tcp(&sent).payload, Payload::of_octets(b"GET / HTTP/1.0"));
    let mut peer = server(&config());
    peer.end.handle_input(peer.now, &sent);
    let mut buf = [0; 20];
    assert_eq!(peer.end.read_octets(&mut buf), 14);
    assert_eq!(&buf[..14], b"GET / HTTP/1.0");
    assert_ne!(PEER, peer.end.iss);
}

/// With AccECN (RFC 9768 §3.2.2.1, §3.2.3): octets of the SYN are counted
/// nowhere, the server's data may come before the client's pure ACK, whose field
/// tells of the SYN-ACK and is no counter though it acknowledges data.
#[test]
fn accurate_feedback_over_a_fast_open() {
    let config = Config { ecn: crate::config::EcnMode::Accurate, ..config() };
    let mut memory = PeerMemory::default();
    *memory.get_mut() = FastOpenServer { cookie: cookie(), mss: 1000, ..Default::default() };
    let mut pair = pair_with(&config, &memory, |_, _| Fate::Deliver);
    pair.client.write(20_000);
    pair.server.write(20_000);
    pair.drive(at_ms(5_000));
    let lines = trace(&pair, 0);
    assert!(lines[0].contains("SAEW 0:"), "{lines:#?}");
    assert_eq!(
        (pair.server.receiver.received(), pair.client.receiver.received()),
        (20_000, 20_000)
    );
    for (end, side) in [(&pair.client, Side::Client), (&pair.server, Side::Server)] {
        let seen = end.observe();
        assert_eq!((seen.retransmitted_packets, seen.timeouts), (0, 0));
        assert_eq!(seen.ssthresh, 10_000, "nobody took the handshake for marks: {lines:#?}");
        // The data of the SYN apart, all is ECN-capable to the end.
        let data = pair.log.iter().filter(|l| l.from == side && l.packet.payload_len() > 0);
        let data = data.filter(|l| !tcp(&l.packet).flags.contains(TcpFlags::SYN));
        assert!(data.clone().all(|l| l.packet.ecn == Ecn::Ect0), "{side:?}: {lines:#?}");
        assert!(data.count() >= 20);
    }
}

/// RFC 7413 §7.3: in a network that is trusted data needs no cookie; what
/// comes unasked is not kept.
#[test]
fn without_cookies_data_opens_at_once() {
    let options = FastOpenOptions { cookieless: true, ..Default::default() };
    let config = Config { fast_open: Some(options), ..config() };
    let mut s = Solo::server(&config);
    assert_eq!(s.arrives("S", 0, 0, 100), ["S. 0:0 101"]);
    let mut s = Solo::server(&config);
    assert_eq!(s.arrives("S", 0, 0, 0), ["S. 0:0 1"], "as usual");
    let mut s = Solo::client(&config);
    s.end.connect(Time::ZERO);
    s.end.write(500);
    assert_eq!(s.sent(), ["SP 0:500"]);
    let answer = with_option(s.segment("S.", 0, 501, 0), cookie());
    assert_eq!(s.deliver(answer), [". 501:0 1"]);
    let known = learnt(&mut s.end).unwrap();
    assert!(known.cookie.is_request());
    assert_eq!(known.mss, 1000);
}
