//! What hostile segments do does not depend on where numbers begin: neither sequence numbers of either
//! side nor timestamps, which all go through zero here, in the middle of the attack.
//!
//! Rules of RFC 5961 §3.2, §4.2 and §5.2 and of RFC 7323 §5.3 compare such numbers, and hold
//! across zero if they hold anywhere.

use super::hostile::{Forged, build, configs, forged};
use super::solo::Solo;
use super::*;
use anabranch_wire::Timestamps;
use proptest::prelude::*;

/// Where numbers begin.
#[derive(Clone, Copy, Debug)]
struct Origin {
    isn: u32,
    stamp: u32,
    peer: u32,
    peer_stamp: u32,
}

/// Nothing goes through zero, nor through the sign of 32 bits, from here.
const CALM: Origin = Origin { isn: 1 << 28, stamp: 1 << 28, peer: 1 << 28, peer_stamp: 1 << 28 };

/// So far below zero, or below half of the numbers.
fn below(most: u32) -> impl Strategy<Value = u32> {
    (0..most, prop_oneof![4 => Just(0), 1 => Just(1_u32 << 31)])
        .prop_map(|(far, end)| end.wrapping_sub(far))
}

/// Sequence numbers go through zero within 60,000 octets, timestamps within 30 s.
fn late() -> impl Strategy<Value = Origin> {
    (below(60_000), below(30_000), below(60_000), below(30_000))
        .prop_map(|(isn, stamp, peer, peer_stamp)| Origin { isn, stamp, peer, peer_stamp })
}

/// A client whose handshake is over.
fn established(config: &Config, origin: Origin) -> Solo {
    let mut s = Solo::client(config);
    s.end.ends.begin_at(origin.isn, origin.stamp);
    (s.peer, s.peer_stamp) = (Serial32(origin.peer), origin.peer_stamp);
    s.open()
}

/// What becomes of the connection: a line for each packet that leaves and each state after a segment.
fn becomes(config: &Config, origin: Origin, segments: &[Forged]) -> Vec<String> {
    let mut s = established(config, origin);
    s.end.write(50_000);
    let mut lines = s.sent();
    for f in segments {
        lines.extend(s.until(s.now.as_millis() + f.pause));
        s.end.write(f.write);
        s.end.read(f.read);
        lines.extend(s.sent());
        if s.end.state() == State::Closed {
            break;
        }
        let segment = build(&s, f);
        lines.extend(s.deliver(segment));
        let (sender, receiver) = (&s.end.sender, &s.end.receiver);
        let progress = (sender.una, sender.cwnd(), receiver.nxt, receiver.received());
        lines.push(format!("{} {:?} {progress:?}", s.now.as_millis(), s.end.state()));
    }
    lines
}

/// The one timestamp that stands for another: zero looks like no echo, and one is told in its place.
fn has_zero(origin: Origin, lines: &[String]) -> bool {
    let dates = lines.iter().filter_map(|line| line.split(' ').next()?.parse::<u32>().ok());
    let zero =
        |at: u32| [origin.stamp, origin.peer_stamp].iter().any(|stamp| stamp.wrapping_add(at) == 0);
    dates.chain([0, 100]).any(zero)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn hostile_segments_do_the_same_wherever_numbers_begin(
        config in prop::sample::select(configs()),
        timestamps in any::<bool>(),
        origin in late(),
        segments in prop::collection::vec(forged(), 1..80),
    ) {
        let config = Config { timestamps, receive_buffer: 30_000, ..config };
        let there = becomes(&config, origin, &segments);
        prop_assume!(!has_zero(origin, &there));
        prop_assert_eq!(becomes(&config, CALM, &segments), there);
    }
}

/// A connection whose peer's next octet has number `next`, in the middle of a window, beside one
/// whose own next octet has: both have sent and received a thousand.
fn around(next: u32) -> Solo {
    let at = next.wrapping_sub(1001);
    let config = Config { timestamps: true, receive_buffer: 30_000, ..configs().pop().unwrap() };
    let mut s = established(&config, Origin { isn: at, peer: at, ..CALM });
    s.end.write(1000);
    s.sent();
    let ack = stamped(&s, ".", 1, 1001, 1000, 0);
    s.deliver(ack);
    s.until(1000);
    s
}

/// A segment whose timestamps are of now, but for `late` ms.
fn stamped(s: &Solo, flags: &str, seq: i64, ack: i64, len: u32, late: u32) -> TcpSegment {
    let mut segment = s.segment(flags, seq, ack, len);
    let value = s.peer_now().wrapping_sub(late);
    segment.options.timestamps = Some(Timestamps { value, echo: s.end.ends.timestamp(s.now) });
    segment
}

/// The peer's next number is the last before zero, zero, or the first behind it; and so is our own.
const NEXT: [u32; 5] = [u32::MAX - 1, u32::MAX, 0, 1, 2];

/// RFC 5961 §3.2: a reset is believed at RCV.NXT, challenged elsewhere in the window, and dropped in
/// silence outside of it.
#[test]
fn resets_are_believed_at_the_next_number_alone_across_zero() {
    for next in NEXT {
        for (seq, answer, state) in [
            (1000, None, State::Established),
            (1002, Some(". 1001:0 1001"), State::Established),
            (20_000, Some(". 1001:0 1001"), State::Established),
            (40_000, None, State::Established),
            (1001, None, State::Closed),
        ] {
            let mut s = around(next);
            let answers = s.arrives("R", seq, 0, 0);
            assert_eq!(answers.first().map(String::as_str), answer, "{next}: a reset at {seq}");
            assert_eq!(s.end.state(), state, "{next}: a reset at {seq}");
        }
    }
}

/// RFC 5961 §4.2 and §5.2: SYNs, and ACKs of what was not sent or long ago, are challenged, and what
/// comes with them is not taken.
#[test]
fn syns_and_acks_out_of_range_are_challenged_across_zero() {
    for next in NEXT {
        for (flags, seq, ack, len) in [
            ("S", 1001, 0, 0),
            ("S", 5000, 0, 0),
            (".", 1001, 1002, 1000),
            (".", 1001, 1 << 30, 1000),
            (".", 1001, -(1 << 20), 1000),
        ] {
            let mut s = around(next);
            let segment = stamped(&s, flags, seq, ack, len, 0);
            assert_eq!(s.deliver(segment), [". 1001:0 1001"], "{next}: {flags} {seq} {ack}");
            assert_eq!((s.end.state(), s.end.receiver.nxt), (State::Established, 1001), "{next}");
        }
    }
}

/// RFC 7323 §5.3: what is older than TS.Recent is answered and dropped, where the peer's clock goes
/// through zero between the two as anywhere; TS.Recent stays (R3).
#[test]
fn old_timestamps_are_refused_across_zero() {
    for zero_at in [400, 999, 1000, 1001, 5000] {
        let config = Config { timestamps: true, ..configs().pop().unwrap() };
        let peer_stamp = 0_u32.wrapping_sub(zero_at);
        let mut s = established(&config, Origin { peer_stamp, ..CALM });
        s.until(1000);
        let new = stamped(&s, ".", 1, 1, 1000, 0);
        s.deliver(new);
        for late in [1, 2, 700, 1 << 30] {
            let old = stamped(&s, ".", 1001, 1, 1000, late);
            assert_eq!(s.deliver(old), [". 1:0 1001"], "zero at {zero_at} ms, {late} ms late");
        }
        assert_eq!(s.end.receiver.nxt, 1001, "zero at {zero_at} ms");
        let next = stamped(&s, ".", 1001, 1, 1000, 0);
        s.deliver(next);
        assert_eq!(s.end.receiver.nxt, 2001, "zero at {zero_at} ms");
    }
}
