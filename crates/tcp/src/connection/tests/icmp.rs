//! ICMP errors as traces.

use super::solo::Solo;
use super::*;
use crate::recovery::RackOptions;
use anabranch_wire::{Icmp, IcmpKind, Quote};

fn config() -> Config {
    Config { mss: 1460, ..classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false }) }
}

/// A connection with three segments of 1000 octets outstanding, and the first.
fn outstanding(config: &Config) -> (Solo, Packet) {
    let mut s = Solo::established(&Config { mss: 1000, ..config.clone() });
    s.end.write(3000);
    let first = s.end.poll_transmit(s.now).unwrap();
    assert_eq!(s.sent().len(), 2);
    (s, first)
}

fn error(s: &mut Solo, kind: IcmpKind, about: &Packet) -> Vec<String> {
    let icmp = Icmp { kind, quote: Quote::of(about) };
    let packet = Packet::new(Addr(9), s.end.ends.local.0, Body::Icmp(Box::new(icmp)));
    s.end.handle_input(s.now, &packet);
    s.sent()
}

/// RFC 1191 §6.4: everything leaves again in smaller segments, at once; the
/// window and the timeout stay as they were.
#[test]
fn packets_too_big_are_sent_again_smaller() {
    for recovery in [
        config().recovery,
        Recovery::Rack(RackOptions::default()),
        Recovery::Reno { exit_growth: false },
    ] {
        let (mut s, first) = outstanding(&Config { recovery: recovery.clone(), ..config() });
        let before = s.end.observe();
        let again = error(&mut s, IcmpKind::PacketTooBig { mtu: 640 }, &first);
        let length = |line: &String| line.split([':', ' ']).nth(2).unwrap().parse().unwrap();
        let lengths: Vec<u64> = again.iter().map(length).collect();
        // RACK keeps to the segments that it has noted.
        let expected: &[u64] = match recovery {
            Recovery::Rack(_) => &[600, 400, 600, 400, 600, 400],
            _ => &[600; 5],
        };
        assert_eq!(lengths, expected, "{recovery:?}");
        let after = s.end.observe();
        assert_eq!((after.cwnd, after.timeouts, after.rto), (before.cwnd, 0, before.rto));
        // The same news about the other segments changes nothing.
        assert_eq!(error(&mut s, IcmpKind::PacketTooBig { mtu: 640 }, &first), [""; 0]);
        s.arrives(".", 1, 3001, 0);
        s.end.write(1200);
        assert_eq!(s.sent(), [". 3001:600 1", "P. 3601:600 1"], "{recovery:?}");
    }
}

/// RFC 1191 §7.1: a router that does not say the MTU.
#[test]
fn an_old_router_means_the_next_plateau() {
    let (mut s, first) = outstanding(&Config { min_path_mtu: 508, ..config() });
    error(&mut s, IcmpKind::PacketTooBig { mtu: 0 }, &first);
    assert_eq!(s.end.sender.mss, 1006 - 40);
    error(&mut s, IcmpKind::PacketTooBig { mtu: 68 }, &first);
    assert_eq!(s.end.sender.mss, 508 - 40, "not below the smallest that is believed");
}

/// RFC 5927 §4.1: what was acknowledged, or never sent, is not quoted by an
/// honest router; and it can be switched off.
#[test]
fn blind_messages_are_not_believed() {
    let (mut s, first) = outstanding(&config());
    let too_big = IcmpKind::PacketTooBig { mtu: 640 };
    for offset in [-1_i32, 3000, 1 << 20] {
        let mut forged = first.clone();
        let Body::Tcp(segment) = &mut forged.body else { panic!() };
        segment.seq = Serial32(segment.seq.0.wrapping_add_signed(offset));
        error(&mut s, too_big, &forged);
    }
    let mut other = first.clone();
    other.dst = Addr(7);
    error(&mut s, too_big, &other);
    assert_eq!(s.end.sender.mss, 1000);
    let (mut s, first) = outstanding(&Config { path_mtu_discovery: false, ..config() });
    error(&mut s, too_big, &first);
    assert_eq!(s.end.sender.mss, 1000);
}

/// RFC 5461: hard errors end an opening, soft ones do not; nothing ends an
/// established connection.
#[test]
fn errors_are_hard_while_opening_and_soft_after() {
    let soft = [
        IcmpKind::NoRoute,
        IcmpKind::HostUnreachable,
        IcmpKind::SourceRouteFailed,
        IcmpKind::TimeExceeded,
        IcmpKind::ReassemblyTimeExceeded,
        IcmpKind::ParameterProblem,
        IcmpKind::UnknownNextHeader,
    ];
    let hard = [IcmpKind::ProtocolUnreachable, IcmpKind::PortUnreachable];
    for kind in soft.into_iter().chain(hard) {
        let mut s = Solo::client(&config());
        s.end.connect(Time::ZERO);
        let syn = s.end.poll_transmit(s.now).unwrap();
        error(&mut s, kind, &syn);
        let refused = Event::Closed(CloseReason::Refused);
        let heard = if soft.contains(&kind) { Event::Stalled } else { refused };
        assert_eq!(s.events(), [heard], "{kind:?}");
        let (mut s, first) = outstanding(&config());
        error(&mut s, kind, &first);
        assert_eq!((s.events(), s.end.state()), (vec![Event::Stalled], State::Established));
        assert_eq!(s.end.icmp_error(), Some(kind), "the application can ask");
    }
}

/// A path that drops packets of more than 790 octets in silence.
#[test]
fn a_black_hole_is_survived() {
    for (black_hole_detection, received) in [(true, 50_000), (false, 0)] {
        let config = Config { black_hole_detection, ..config() };
        let mut pair =
            pair(
                &config,
                |_, packet| {
                    if packet.wire_len().0 > 790 { Fate::Drop } else { Fate::Deliver }
                },
            );
        pair.client.write(50_000);
        pair.drive(at_ms(60_000));
        assert_eq!(pair.server.receiver.received(), received);
    }
}

/// RFC 5461 §4.1: some stacks give an attempt up at any error. What was reported
/// can be asked for.
#[test]
fn an_attempt_may_end_with_soft_errors() {
    let config = Config { soft_errors_end_opening: true, ..config() };
    let mut s = Solo::client(&config);
    s.end.connect(Time::ZERO);
    let syn = s.end.poll_transmit(s.now).unwrap();
    error(&mut s, IcmpKind::HostUnreachable, &syn);
    assert_eq!(s.events(), [Event::Closed(CloseReason::Refused)]);
    assert_eq!(s.end.icmp_error(), Some(IcmpKind::HostUnreachable));
    let (mut s, first) = outstanding(&config);
    error(&mut s, IcmpKind::NoRoute, &first);
    assert_eq!(s.end.state(), State::Established);
    assert_eq!(s.end.icmp_error(), Some(IcmpKind::NoRoute));
}

/// A SYN that was too big is repeated with the MSS that fits the path.
#[test]
fn a_syn_asks_for_what_the_path_carries() {
    let mut s = Solo::client(&config());
    s.end.connect(Time::ZERO);
    let syn = s.end.poll_transmit(s.now).unwrap();
    error(&mut s, IcmpKind::PacketTooBig { mtu: 840 }, &syn);
    s.now = at_ms(1000);
    s.end.handle_timeout(s.now);
    let Body::Tcp(again) = s.end.poll_transmit(s.now).unwrap().body else { panic!() };
    assert_eq!(again.options.mss, Some(800));
}
