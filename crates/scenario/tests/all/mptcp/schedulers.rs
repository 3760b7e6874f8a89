//! What schedulers do with a fast path beside a slow one, and what is done when
//! the slow one blocks a small receive window. Bounds come from the paths'
//! rates and the laws of the schedulers.

use super::{flow, play};
use anabranch_scenario::RunResult;

/// Payload of a full segment: 1500 octets without TCP's 40 of headers and 12 of
/// timestamps, and 20 of Multipath TCP.
const MSS: f64 = 1428.0;
/// Round trips without queues, seconds.
const FAST: f64 = 0.02;
const SLOW: f64 = 0.4;
/// What the fast path carries, octets of payload a second.
const RATE: f64 = 10e6 / 8.0 * MSS / 1500.0;
/// The small receive buffer: more than twice what the fast path's round trip holds.
const BUFFER: f64 = 65_536.0;
const SMALL: &str = "size = \"4 MB\"\noctets = true\ntcp = { receive_buffer = \"64 KiB\" }";
/// When the second subflow can carry data: a handshake over the first path, then two round
/// trips over the second.
const JOINED: f64 = FAST + 2.0 * SLOW;

/// 10 Mbit/s and 20 ms with a queue of `queue` packets, and 1 Mbit/s and 400 ms.
fn unequal(queue: u32, fields: &str, mptcp: &str) -> RunResult {
    let link = |name: &str, rate: u32, delay: u32, queue: u32| {
        format!(
            "[[links]]\nname = \"{name}\"\nends = [\"a.{name}\", \"b.{name}\"]\n\
             rate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\n\
             queue = {{ limit = \"{queue} packets\" }}\n"
        )
    };
    let hosts = "hosts = [{ name = \"a\", interfaces = [\"x\", \"y\"] }, \
                 { name = \"b\", interfaces = [\"x\", \"y\"] }]\n";
    let fields = format!("{fields}\nmptcp = {{ path_manager = \"pairs\", {mptcp} }}\n");
    let links = [link("x", 10, 10, queue), link("y", 1, 200, 50)].concat();
    let result = play(&format!("{hosts}{links}{}", flow(&fields)));
    assert_eq!(result.flows[0].wrong_octets, 0);
    result
}

fn time(result: &RunResult) -> f64 {
    result.flows[0].finish_s.expect("it ends")
}

/// Octets that the slow path brought.
fn slow_octets(result: &RunResult) -> f64 {
    let path = result.paths.iter().find(|path| path.from == "a.y" || path.to == "a.y");
    path.and_then(|path| path.new_bytes).unwrap_or(0) as f64
}

/// The fast path's window, at most its 25 kB and a queue of ten packets, leaves
/// most of the receive window free, and its round trip is at most 32 ms: by (1) it
/// sends X = 25 kB 400/32, more than 300 kB, while one segment is on the slow path.
/// By (3) no segment goes there. The default fills it, and then gets no more
/// than the receive buffer through in a round trip of 400 ms.
#[test]
fn blest_keeps_the_slow_path_from_blocking_the_window() {
    let of = |scheduler: &str, most: u32| {
        let options = format!(
            "scheduler = \"{scheduler}\", max_subflows = {most}, \
             opportunistic_retransmission = false, penalisation = false"
        );
        unequal(10, SMALL, &options)
    };
    let (alone, default, blest) = (of("min-rtt", 1), of("min-rtt", 8), of("blest", 8));
    assert_eq!(slow_octets(&blest), 0.0);
    assert_eq!(time(&blest), time(&alone));
    assert!(slow_octets(&default) > 0.0);
    // One segment of the slow path at least held the window up.
    assert!(time(&default) > time(&blest) + SLOW - BUFFER / RATE, "{}", time(&default));
}

/// With a buffer of 4 MiB (3) always holds: what the fast path sends meanwhile is at
/// most 100 kB 400/20, 2 MB. BLEST is then the default, packet for packet, and
/// the slow path is full at least once.
#[test]
fn blest_is_the_default_where_the_window_is_no_limit() {
    let of = |scheduler: &str| {
        let fields = "size = \"12 MB\"\ntcp = { receive_buffer = \"4 MiB\" }";
        unequal(50, fields, &format!("scheduler = \"{scheduler}\""))
    };
    let (default, blest) = (of("min-rtt"), of("blest"));
    assert_eq!(blest.run.trace_hash, default.run.trace_hash);
    assert!(slow_octets(&blest) > RATE / 10.0 * SLOW, "{}", slow_octets(&blest));
}

/// Responses of 100 kB, of which the fast path takes ten segments at once. As
/// n RTT_f = (1 + 86/14) 20 ms stays below RTT_s, ECF waits for the fast path until
/// k / cwnd_s RTT_s < 2 RTT_f + delta: with ten segments as cwnd_s, at most 80 ms as
/// RTT_f (60 of them in its queue) and at most RTT_s / 2 as delta (RFC 6298's first RTTVAR), no
/// more than 9 segments of a response go over the slow path. What the default puts
/// there arrives 200 ms later at the earliest.
#[test]
fn ecf_waits_for_the_fast_path_where_that_is_earlier() {
    let of = |scheduler: &str| {
        let fields = "traffic = { kind = \"requests\", request = \"200 B\", \
                      response = \"100 kB\", count = 12, think = \"200 ms\" }";
        unequal(50, fields, &format!("scheduler = \"{scheduler}\""))
    };
    let (default, ecf) = (of("min-rtt"), of("ecf"));
    let most = 12.0 * 10.0 * MSS * (2.0 * 0.08 + SLOW / 2.0) / SLOW;
    assert!(slow_octets(&ecf) <= most, "{} of {most}", slow_octets(&ecf));
    assert!(slow_octets(&ecf) < slow_octets(&default), "{}", slow_octets(&default));
    assert!(time(&ecf) < time(&default), "{} {}", time(&ecf), time(&default));
}

/// Responses of 100 kB again, 71 segments, of which the fast path takes ten at once, 20 a round trip later and the rest in
/// the one after: all of them within half of a round trip of the slow path, at most 2.5 of 80 ms here. So the shortest
/// transfer is over the fast path for every segment, and OTIAS, for which they wait (71 - 10) / 10 + 1/2 round trips of 20
/// ms, comes to the same. No response has to wait for the slow path, as some of ECF's have.
#[test]
fn otias_and_sttf_leave_a_path_alone_that_would_be_later() {
    let of = |scheduler: &str| {
        let fields = "traffic = { kind = \"requests\", request = \"200 B\", \
                      response = \"100 kB\", count = 12, think = \"200 ms\" }";
        unequal(50, fields, &format!("scheduler = \"{scheduler}\""))
    };
    let (ecf, otias, sttf) = (of("ecf"), of("otias"), of("sttf"));
    assert_eq!((slow_octets(&otias), slow_octets(&sttf)), (0.0, 0.0));
    for result in [&otias, &sttf] {
        // Twelve responses, each after a request and a time to think, in three round trips and what the path takes for it.
        let slowest = FAST + 12.0 * (0.2 + 3.0 * FAST + 100e3 / RATE);
        assert!(time(result) < slowest, "{} of {slowest}", time(result));
        assert!(time(result) < time(&ecf), "{} {}", time(result), time(&ecf));
    }
}

/// Behind a receive buffer of 64 KiB STTF leaves the slow path alone, as BLEST does: in the six rounds of at most 32 ms
/// that are over before 200 ms the fast path sends at least 10 + 11 + ... + 15 segments, more than the 45 that the
/// buffer holds.
#[test]
fn sttf_does_not_block_a_small_buffer() {
    let of = |scheduler: &str, most: u32| {
        let options = format!(
            "scheduler = \"{scheduler}\", max_subflows = {most}, \
             opportunistic_retransmission = false, penalisation = false"
        );
        unequal(10, SMALL, &options)
    };
    let (alone, sttf) = (of("min-rtt", 1), of("sttf", 8));
    assert_eq!(slow_octets(&sttf), 0.0);
    assert_eq!(time(&sttf), time(&alone));
}

/// A bulk transfer over both paths with a large buffer ends earlier under STTF than under the default: what the slow path
/// brings is there when it is due, so that the transfer does not end with a wait for it.
#[test]
fn sttf_ends_a_long_transfer_earlier() {
    let of = |scheduler: &str| {
        let fields = "size = \"12 MB\"\ntcp = { receive_buffer = \"4 MiB\" }";
        unequal(50, fields, &format!("scheduler = \"{scheduler}\""))
    };
    let (default, sttf) = (of("min-rtt"), of("sttf"));
    assert!(slow_octets(&sttf) > RATE / 10.0 * SLOW, "{}", slow_octets(&sttf));
    assert!(time(&sttf) < time(&default), "{} {}", time(&sttf), time(&default));
}

/// Taking turns, a segment is nearly always on the slow path: its round trip brings
/// one receive buffer, whatever the fast path could do. Raiciu et al. 2012, section
/// 4.2: sent again over the fast path it holds the window up no longer than that
/// path's round trip behind a buffer; and halved each time the slow path's
/// window is soon four segments, which grow by one each round trip.
#[test]
fn opportunistic_retransmission_and_penalisation_unblock_a_small_buffer() {
    let of = |again: bool, halve: bool, most: u32| {
        let options = format!(
            "scheduler = \"round-robin\", opportunistic_retransmission = {again}, \
             penalisation = {halve}, max_subflows = {most}"
        );
        unequal(50, SMALL, &options)
    };
    let [alone, neither] = [1, 8].map(|most| time(&of(false, false, most)));
    let (again, both) = (of(true, false, 8), of(true, true, 8));
    let blocked = (4e6 - JOINED * RATE - BUFFER) / (BUFFER / SLOW);
    // Two of the buffer's 46 segments may leave before the slow path has its next.
    assert!(neither > blocked * 44.0 / 46.0, "{neither} s, not {blocked} s");
    assert!(time(&again) < neither, "{} {neither}", time(&again));
    assert!(time(&both) < time(&again), "{} {}", time(&both), time(&again));
    let segments = slow_octets(&both) / MSS;
    let most = 10.0 + 5.0 * time(&both) / SLOW;
    assert!(segments <= most, "{segments} of {most}");
    let slowest = alone + segments * (FAST + BUFFER / RATE);
    assert!(time(&both) <= slowest, "{} of {slowest}", time(&both));
}

/// Segments in turn: over equal paths each carries half, but for what the first
/// brought before the second was there, and for one segment at the end.
#[test]
fn round_robin_takes_turns() {
    let pairs = "mptcp = { path_manager = \"pairs\", scheduler = \"round-robin\" }\n";
    let result = play(&super::two_paths("", "", &flow(&format!("size = \"10 MB\"\n{pairs}"))));
    let early = RATE * 3.0 * FAST;
    let half = (slow_octets(&result) - 5e6).abs();
    assert!(half <= early + MSS, "{half} of {early}");
}
