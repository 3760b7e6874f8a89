//! What `Manners` switch, as traces, and what the RFCs say of the same events.

use super::solo::Solo;
use super::*;
use crate::fast_open::FastOpenOptions;
use crate::manners::{Manners, OpeningErrors};
use anabranch_endpoint::RtoBounds;
use anabranch_wire::{Icmp, IcmpKind, Quote};

fn rfc() -> Config {
    classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false })
}

fn freebsd() -> Config {
    Config { manners: Manners::freebsd(), ..rfc() }
}

fn with(change: impl FnOnce(&mut Manners)) -> Config {
    let mut config = freebsd();
    change(&mut config.manners);
    config
}

const NOTHING: [&str; 0] = [];

fn syn_sent(config: &Config) -> Solo {
    let mut s = Solo::client(config);
    s.end.connect(Time::ZERO);
    s.sent();
    s
}

fn fin_wait_1(config: &Config) -> Solo {
    let mut s = Solo::established(config);
    s.end.close();
    s.sent();
    s
}

fn time_wait(config: &Config) -> Solo {
    let mut s = fin_wait_1(config);
    assert_eq!(s.arrives("F.", 1, 2, 0), [". 2:0 2"]);
    assert_eq!(s.end.state(), State::TimeWait);
    s
}

/// RFC 9293 §3.10.7.3, fourth check. FreeBSD has the text wait, too, and forgets the FIN.
#[test]
fn text_and_fin_of_a_crossing_syn_wait_for_the_connection() {
    let mut s = syn_sent(&rfc());
    assert_eq!(s.arrives("SF", 0, 0, 30), ["S. 0:0 1"]);
    assert_eq!((s.end.state(), s.end.info().readable), (State::SynReceived, 0));
    assert_eq!(s.arrives(".", 1, 1, 0), [". 1:0 32"]);
    assert_eq!((s.end.state(), s.end.info().readable), (State::CloseWait, 30));

    let mut s = syn_sent(&freebsd());
    s.arrives("SF", 0, 0, 30);
    s.arrives(".", 31, 1, 0);
    assert_eq!((s.end.state(), s.end.info().readable), (State::Established, 30));
}

/// RFC 9293 §3.10.7.4, second check: outside of the window a reset is dropped in silence. The right
/// edge is outside, though ACKs there count.
#[test]
fn a_reset_at_the_right_edge_is_outside_of_the_window() {
    let mut s = Solo::established(&Config { receive_buffer: 20_000, ..rfc() });
    assert_eq!(s.arrives("R", 20_000, 0, 0), [". 1:0 1"], "the last octet of the window");
    assert_eq!(s.arrives("R", 20_001, 0, 0), NOTHING);
    assert_eq!(s.arrives("R", -1, 0, 0), NOTHING, "before the peer's SYN");
    s.end.write(1000);
    s.sent();
    s.arrives(".", 20_001, 1001, 0);
    assert_eq!(s.end.observe().bytes_acked, 1000);
}

/// RFC 7323 §2.2: the window of a SYN-ACK is never scaled; beyond it nothing was offered.
#[test]
fn in_syn_received_the_window_is_what_the_syn_ack_can_say() {
    let mut s = Solo::server(&Config { receive_buffer: 200_000, ..rfc() });
    s.arrives("S", 0, 0, 0);
    assert_eq!(s.arrives("R", 65_536, 0, 0), NOTHING);
    assert_eq!(s.arrives("R", 65_535, 0, 0), [". 1:0 1"]);
    s.arrives(".", 1, 1, 0);
    assert_eq!(s.arrives("R", 65_536, 0, 0), [". 1:0 1"], "established, all of the buffer");
}

/// Before RFC 5961: any reset and any SYN in the window end the connection.
#[test]
fn blind_resets_and_syns_are_believed_where_asked_for() {
    let mut s = Solo::established(&freebsd());
    assert_eq!(s.arrives("R", 10, 0, 0), [". 1:0 1"]);
    let mut s = Solo::established(&with(|manners| manners.any_reset_in_window = true));
    assert_eq!(s.arrives("R", 10, 0, 0), NOTHING);
    assert_eq!(s.events(), [Event::Closed(CloseReason::Reset)]);

    let config = with(|manners| manners.resets_for_syns = true);
    let mut s = Solo::established(&config);
    assert_eq!(s.arrives("S", -10, 0, 0), [". 1:0 1"], "outside of the window");
    assert_eq!(s.arrives("S", 10, 0, 0), ["R. 1:0 1"]);
    assert_eq!(s.events(), [Event::Closed(CloseReason::Reset)]);
}

/// An ACK in FIN-WAIT-1, CLOSING and LAST-ACK has the FIN again; what answers a challenge has not.
#[test]
fn acks_repeat_a_fin_that_is_not_acknowledged() {
    let mut s = fin_wait_1(&freebsd());
    assert_eq!(s.arrives("S", 10, 0, 0), [". 2:0 1"]);
    assert_eq!(s.arrives("S", -10, 0, 0), [". 2:0 1"]);
    assert_eq!(s.arrives(".", 1, 1, 100), ["F. 1:0 101"]);
    assert_eq!(s.arrives("F.", 101, 1, 0), ["F. 1:0 102"]);
    assert_eq!(s.end.state(), State::Closing);
    assert_eq!(s.arrives(".", 102, 2, 0), NOTHING);
    assert_eq!(s.end.state(), State::TimeWait);

    // A challenge before the end leaves no mark.
    let mut s = Solo::established(&freebsd());
    assert_eq!(s.arrives("S", 10, 0, 0), [". 1:0 1"]);
    s.end.close();
    assert_eq!(s.sent(), ["F. 1:0 1"]);
    assert_eq!(s.arrives("F.", 1, 1, 0), ["F. 1:0 2"]);

    let mut s = fin_wait_1(&rfc());
    assert_eq!(s.arrives(".", 1, 1, 100), [". 2:0 101"]);
}

/// RFC 9293 app. A.2: both sides have closed at once, and each one's ACKs repeat a FIN that the other has had.
/// Where what has come before were dropped with its ACK field, they would go on for ever.
#[test]
fn the_ack_field_of_a_repeated_fin_counts() {
    let mut s = fin_wait_1(&freebsd());
    assert_eq!(s.arrives("F.", 1, 1, 0), ["F. 1:0 2"]);
    assert_eq!(s.arrives("F.", 1, 2, 0), [". 2:0 2"]);
    assert_eq!(s.end.state(), State::TimeWait);

    let mut s = fin_wait_1(&with(|manners| manners.reads_old_acks = false));
    s.arrives("F.", 1, 1, 0);
    assert_eq!(s.arrives("F.", 1, 2, 0), ["F. 1:0 2"]);
    assert_eq!(s.end.state(), State::Closing);
}

#[test]
fn resets_while_closing_are_heard_of() {
    for (config, reason) in [(rfc(), CloseReason::Normal), (freebsd(), CloseReason::Reset)] {
        let mut s = Solo::established(&config);
        s.arrives("F.", 1, 1, 0);
        s.end.close();
        s.sent();
        s.events();
        s.arrives("R", 2, 0, 0);
        assert_eq!(s.events(), [Event::Closed(reason)]);
    }
}

/// `tcp_twcheck`: the table of `time_wait.rs`, row by row.
#[test]
fn time_wait_of_bsd() {
    let answers = |flags: &str, seq, ack, len| time_wait(&freebsd()).arrives(flags, seq, ack, len);
    for (flags, seq) in [("R", 2), ("R.", 2), ("R", 100), ("", 2), ("F", 2), ("F", -10), ("S", 2)] {
        assert_eq!(answers(flags, seq, 2, 0), NOTHING, "{flags} {seq}");
    }
    assert_eq!(answers(".", 2, 2, 0), NOTHING, "what is expected");
    for (flags, seq, ack, len) in [
        (".", 1, 2, 0),
        (".", 2, 1, 0),
        (".", 3, 2, 0),
        (".", 2, 2, 5),
        ("S.", 9, 0, 0),
        ("F.", 2, 2, 0),
    ] {
        assert_eq!(answers(flags, seq, ack, len), [". 2:0 2"], "{flags} {seq} {ack} {len}");
    }
    // The FIN again: 2 MSL begin anew.
    let mut s = time_wait(&freebsd());
    let ends = s.end.poll_timeout();
    s.now = at_ms(5000);
    s.arrives("F.", 2, 2, 0);
    assert_eq!(s.end.poll_timeout(), ends);
    s.arrives("F.", 1, 2, 0);
    assert_eq!(s.end.poll_timeout(), at_ms(65_000));
}

/// RFC 6191 asks timestamps first; BSD stacks the number alone.
#[test]
fn time_wait_of_bsd_gives_way_by_the_number() {
    let gives_way = |config: &Config, flags: &str, seq| {
        let s = time_wait(config);
        let segment = s.segment(flags, seq, 0, 0);
        s.end.gives_way_to(&Packet::new(Addr(1), Addr(0), Body::Tcp(segment)))
    };
    assert!(gives_way(&freebsd(), "S", 3) && gives_way(&freebsd(), "SF", 3));
    assert!(!gives_way(&freebsd(), "S", 2) && !gives_way(&freebsd(), "S.", 3));
    assert!(!gives_way(&with(|manners| manners.drops_syn_fin = true), "SF", 3));
}

#[test]
fn the_buffer_holds_whole_segments_of_the_agreed_size() {
    let buffer = |config: &Config| {
        let config = Config { mss: 1460, receive_buffer: 65_536, ..config.clone() };
        Solo::established(&config).end.receive_buffer()
    };
    assert_eq!((buffer(&rfc()), buffer(&freebsd())), (65_536, 66_000));

    let config = Config { mss: 1460, receive_buffer: 65_536, ..freebsd() };
    let mut s = Solo::server(&config);
    let mut syn = s.segment("S", 0, 0, 0);
    syn.options.mss = Some(1440);
    s.deliver(syn);
    assert_eq!(s.end.receive_buffer(), 65_536, "until the handshake is over");
    s.arrives(".", 1, 1, 0);
    assert_eq!(s.end.receive_buffer(), 66_240);
}

/// All that is free, and what the application read without asking for an update.
#[test]
fn acks_advertise_all_that_is_free() {
    let window = |config: &Config| {
        let config = Config { receive_buffer: 30_000, window_scale: false, ..config.clone() };
        let mut s = Solo::established(&config);
        s.arrives(".", 1, 1, 500);
        s.end.read(500);
        let segment = s.segment(".", 501, 1, 100);
        let packet = Packet::new(Addr(1), Addr(0), Body::Tcp(segment));
        s.end.handle_input(s.now, &packet);
        tcp(&s.end.poll_transmit(s.now).unwrap()).window
    };
    assert_eq!((window(&rfc()), window(&freebsd())), (29_400, 29_900));
}

/// RFC 9293 §3.7.4: what is less than a segment waits while anything is unacknowledged. In BSD
/// stacks the end of a write does not, if nothing was when that began.
#[test]
fn a_write_while_nothing_is_outstanding_leaves_to_its_end() {
    for (config, first) in
        [(rfc(), vec![". 1:1000 1"]), (freebsd(), vec![". 1:1000 1", "P. 1001:300 1"])]
    {
        let mut s = Solo::established(&Config { nagle: crate::Nagle::Rfc, ..config });
        s.end.write(1300);
        assert_eq!(s.sent(), first);
        s.now = at_ms(110);
        s.end.write(50);
        assert_eq!(s.sent(), NOTHING, "later writes wait in both");
    }
}

/// The peer's SYN takes no room: the first window is the buffer.
#[test]
fn a_syn_advertises_the_buffer() {
    let mut s = Solo::client(&Config { receive_buffer: 30_000, ..rfc() });
    s.end.connect(Time::ZERO);
    assert_eq!(tcp(&s.end.poll_transmit(s.now).unwrap()).window, 30_000);
}

#[test]
fn a_fin_that_waits_is_not_in_the_sack_blocks() {
    let right = |config: &Config| {
        let mut s = Solo::established(config);
        s.arrives(".", 101, 1, 100);
        let segment = s.segment("F.", 201, 1, 0);
        s.end.handle_input(s.now, &Packet::new(Addr(1), Addr(0), Body::Tcp(segment)));
        let ack = s.end.poll_transmit(s.now).unwrap();
        tcp(&ack).options.sack.as_slice()[0].right.distance_from(super::solo::PEER)
    };
    assert_eq!((right(&rfc()), right(&freebsd())), (202, 201));
}

/// 1 s, 2.2 s, 4.2 s...: from the third retransmission on a SYN has its MSS alone; after 75 s it
/// is over.
#[test]
fn syns_of_freebsd() {
    let rto = RtoBounds { slop: Span::from_millis(200), ..RtoBounds::default() };
    let config = Config {
        rto,
        syn_retries: 12,
        opening_timeout: Some(Span::from_secs(75)),
        ecn: crate::EcnMode::On,
        ecn_syn_retries: 1,
        ..freebsd()
    };
    let mut s = Solo::client(&config);
    s.end.connect(Time::ZERO);
    let mut syns = Vec::new();
    loop {
        while let Some(packet) = s.end.poll_transmit(s.now) {
            let segment = tcp(&packet);
            let options = &segment.options;
            assert!(options.mss.is_some());
            assert_eq!(options.scale_first, options.window_scale.is_some());
            assert_eq!(options.sack_permitted, options.window_scale.is_some());
            let ecn = segment.flags.contains(TcpFlags::ECE);
            syns.push((s.now.as_millis(), ecn, options.window_scale.is_some()));
        }
        if s.end.state() == State::Closed {
            break;
        }
        s.now = s.end.poll_timeout();
        s.end.handle_timeout(s.now);
    }
    let times = [0, 1000, 3200, 7400, 15_600, 31_800, 64_000];
    let expected = times.iter().enumerate().map(|(n, at)| (*at, n < 2, n < 3));
    assert_eq!(syns, expected.collect::<Vec<_>>());
    assert_eq!(s.now, at_ms(75_000));
    assert!(s.events().contains(&Event::Closed(CloseReason::TimedOut)));
}

#[test]
fn icmp_while_a_connection_is_opened() {
    let state = |errors: OpeningErrors, kind| {
        let mut s = Solo::client(&with(|manners| manners.opening_errors = errors));
        s.end.connect(Time::ZERO);
        let syn = s.end.poll_transmit(s.now).unwrap();
        let icmp = Icmp { kind, quote: Quote::of(&syn) };
        let packet = Packet::new(Addr(9), Addr(0), Body::Icmp(Box::new(icmp)));
        s.end.handle_input(s.now, &packet);
        s.end.state()
    };
    use IcmpKind::*;
    for kind in [ProtocolUnreachable, PortUnreachable, Prohibited, TimeExceeded] {
        assert_eq!(state(OpeningErrors::HardInSynSent, kind), State::Closed, "{kind:?}");
        assert_eq!(state(OpeningErrors::Nothing, kind), State::SynSent, "{kind:?}");
    }
    for kind in [NoRoute, HostUnreachable] {
        assert_eq!(state(OpeningErrors::HardInSynSent, kind), State::SynSent, "{kind:?}");
    }
}

/// An MTU that lets 536 octets pass is not believed before the handshake is over, where asked for.
#[test]
fn large_mtus_while_a_connection_is_opened() {
    for (small_alone, mtu, mss) in [(true, 700, 1000), (true, 570, 530), (false, 700, 660)] {
        let mut s = Solo::client(&with(|manners| manners.believes_small_mtu_alone = small_alone));
        s.end.connect(Time::ZERO);
        let syn = s.end.poll_transmit(s.now).unwrap();
        let kind = IcmpKind::PacketTooBig { mtu };
        let icmp = Icmp { kind, quote: Quote::of(&syn) };
        let packet = Packet::new(Addr(9), Addr(0), Body::Icmp(Box::new(icmp)));
        s.end.handle_input(s.now, &packet);
        s.now = s.end.poll_timeout();
        s.end.handle_timeout(s.now);
        let again = s.end.poll_transmit(s.now).unwrap();
        assert_eq!(tcp(&again).options.mss, Some(mss), "{mtu}");
    }
}

/// FreeBSD does not ask again for a while where a server gave no cookie.
#[test]
fn a_server_without_cookies_is_remembered_where_asked_for() {
    for (needs_cookie, learns) in [(false, false), (true, true)] {
        let fast_open = Some(FastOpenOptions { needs_cookie, ..Default::default() });
        let mut s = Solo::client(&Config { fast_open, ..freebsd() });
        s.end.connect(Time::ZERO);
        assert_eq!(s.sent(), ["S 0:0 FO?"]);
        s.arrives("S.", 0, 1, 0);
        assert_eq!(s.end.has_learnt(), learns);
    }
}

/// `TCP_NOOPT`, and a peer that announces no MSS over IPv6 (RFC 9293 §3.7.1).
#[test]
fn a_syn_may_have_no_options() {
    let config = Config {
        mss: 1440,
        default_mss: 1220,
        offers_mss: false,
        window_scale: false,
        sack: false,
        ..freebsd()
    };
    let mut s = Solo::client(&config);
    s.end.connect(Time::ZERO);
    let syn = s.end.poll_transmit(s.now).unwrap();
    assert_eq!(tcp(&syn).options.wire_len(), 0);
    s.arrives("S.", 0, 1, 0);
    assert_eq!(s.end.info().mss, 1220);
}

#[test]
fn a_listener_of_freebsd_is_silent_to_a_syn_ack() {
    for (config, answers) in [(rfc(), 1), (freebsd(), 0)] {
        assert_eq!(Solo::server(&config).arrives("S.", 0, 7, 0).len(), answers);
        assert_eq!(Solo::server(&config).arrives(".", 0, 7, 0).len(), 1);
    }
    let mut s = Solo::server(&with(|manners| manners.drops_syn_fin = true));
    assert_eq!(s.arrives("SF", 0, 0, 0), NOTHING);
    assert_eq!(s.arrives("S", 0, 0, 0), ["S. 0:0 1"]);
}
