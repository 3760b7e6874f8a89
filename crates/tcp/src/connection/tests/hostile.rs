//! Segments of a peer, or of someone who pretends to be it, that wishes harm:
//! no panic, bounded memory, and the answers of RFC 5961.

use super::solo::Solo;
use super::*;
use crate::recovery::{DecoupledRackOptions, RackOptions};
use anabranch_wire::{Payload, SackBlock, Timestamps};
use proptest::prelude::*;

/// A hostile segment, relative to what the connection expects.
#[derive(Clone, Debug)]
pub struct Forged {
    flags: u16,
    seq: i64,
    ack: i64,
    len: u32,
    window: u16,
    urgent: u16,
    timestamp: Option<u32>,
    blocks: Vec<(u32, u32)>,
    /// Milliseconds before it.
    pub pause: u64,
    pub write: u64,
    pub read: u64,
}

fn near(far: i64) -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => Just(0),
        4 => -3000..3000_i64,
        1 => -far..far,
        1 => any::<i32>().prop_map(i64::from),
    ]
}

pub fn forged() -> impl Strategy<Value = Forged> {
    let header = (any::<u16>(), near(100_000), near(100_000), 0..3000_u32);
    let rest = (
        prop_oneof![Just(0_u16), any::<u16>()],
        any::<u16>(),
        proptest::option::weighted(0.8, any::<u32>()),
        prop::collection::vec((0..60_000_u32, 0..4000_u32), 0..4),
        prop_oneof![4 => Just(0_u64), 1 => 0..3000_u64],
        prop_oneof![2 => Just(0_u64), 1 => 0..20_000_u64],
        prop_oneof![2 => Just(0_u64), 1 => Just(u64::MAX)],
    );
    (header, rest).prop_map(|((flags, seq, ack, len), rest)| Forged {
        // Mostly an ACK and nothing else that ends the connection.
        flags: if flags & 3 == 0 { flags >> 4 & 0x1ff } else { 0x10 | flags >> 4 & 0xe8 },
        seq,
        ack,
        len,
        window: rest.0,
        urgent: rest.1,
        timestamp: rest.2,
        blocks: rest.3,
        pause: rest.4,
        write: rest.5,
        read: rest.6,
    })
}

pub fn build(s: &Solo, f: &Forged) -> TcpSegment {
    let mut segment =
        s.segment("", s.end.receiver.nxt as i64 + f.seq, s.end.sender.una as i64 + f.ack, f.len);
    segment.flags = TcpFlags(f.flags);
    segment.window = f.window;
    segment.urgent = f.urgent;
    segment.payload = Payload::virtual_of(f.len);
    let now = s.end.ends.timestamp(s.now);
    segment.options.timestamps = f.timestamp.map(|v| match v % 4 {
        0 => Timestamps { value: s.peer_now().wrapping_add(v), echo: now.wrapping_add(v) },
        _ => Timestamps { value: s.peer_now(), echo: now },
    });
    for (left, len) in &f.blocks {
        let left = s.end.iss.at(s.end.sender.una).add(*left);
        segment.options.sack.push(SackBlock { left, right: left.add(*len) });
    }
    segment
}

pub fn configs() -> Vec<Config> {
    let schemes = [
        Recovery::Tahoe,
        Recovery::Reno { exit_growth: false },
        Recovery::NewReno { impatient: false, exit_growth: false },
        Recovery::Sack { pipe: Pipe::Rfc6675, prr: true },
        Recovery::Fack { prr: false },
        Recovery::Decoupled { opens_late: false },
        Recovery::DecoupledRack(DecoupledRackOptions::default()),
        Recovery::Rack(RackOptions::default()),
    ];
    let linux = Config { mss: 1000, ..Config::linux() };
    let mut configs: Vec<_> = schemes.into_iter().map(classic).collect();
    configs.push(linux);
    configs
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn hostile_segments_do_no_harm(
        config in prop::sample::select(configs()),
        timestamps in any::<bool>(),
        segments in prop::collection::vec(forged(), 1..120),
    ) {
        let config = Config { timestamps, receive_buffer: 30_000, ..config };
        let mut s = Solo::established(&config);
        s.end.write(50_000);
        for f in &segments {
            let ms = s.now.as_millis() + f.pause;
            s.until(ms);
            s.end.write(f.write);
            s.end.read(f.read);
            s.sent();
            if s.end.state() == State::Closed {
                break;
            }
            let segment = build(&s, f);
            let (before, una, max) = (s.end.state(), s.end.sender.una, s.end.sender.max);
            let (nxt, received) = (s.end.receiver.nxt, s.end.receiver.received());
            let sent = s.deliver(segment.clone());
            prop_assert!(sent.len() < 500, "{} packets for one", sent.len());
            check_bounds(&s);
            let start = segment.seq.expand(s.end.receiver.irs, nxt);
            let rst = segment.flags.contains(TcpFlags::RST);
            // RFC 5961 §3.2: no reset but at RCV.NXT.
            if rst && start != Some(nxt) {
                prop_assert_eq!(s.end.state(), before);
            }
            // §4.2: no SYN does anything.
            if segment.flags.contains(TcpFlags::SYN) && !rst && before != State::TimeWait {
                prop_assert_eq!((s.end.state(), s.end.receiver.received()), (before, received));
            }
            // §5.2: neither the ACK nor the data of what acknowledges the future.
            if segment.ack.distance_from(s.end.iss.at(max)) > 0 {
                prop_assert_eq!((s.end.sender.una, s.end.receiver.received()), (una, received));
            }
        }
    }
}

/// Memory that grows with what a peer sends has its stated bounds.
fn check_bounds(s: &Solo) {
    let sender = &s.end.sender;
    let ranges = sender.board.sacked().count() as u64;
    // Counted when the block came; acknowledged data may have left since.
    assert!(ranges <= 64 + 200_000 / (sender.mss / 2), "{ranges} SACKed ranges");
    assert!(s.end.receiver.readable() <= 30_000, "more than the receive buffer");
    assert!(sender.cwnd() > 0 && sender.una <= sender.max && sender.nxt <= sender.max);
}

/// Every other octet SACKed: the scoreboard stays small, the data is repaired.
#[test]
fn a_sack_bomb_is_bounded() {
    let mut s = Solo::established(&classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false }));
    s.end.write(10_000);
    s.sent();
    for at in (3..3000).step_by(8) {
        let mut ack = s.segment(".", 1, 1, 0);
        for n in 0..4 {
            let left = s.end.iss.at(at + 2 * n);
            ack.options.sack.push(SackBlock { left, right: left.add(1) });
        }
        s.deliver(ack);
        let most = s.end.sender.most_sacked_ranges() as usize;
        assert!(s.end.sender.board.sacked().count() <= most + 1);
    }
    s.arrives(".", 1, s.end.sender.max as i64, 0);
    assert_eq!(s.end.sender.board.sacked().count(), 0);
}

/// Savage et al. 1999, ACK division: many ACKs of one segment open the window
/// no further than one ACK of it.
#[test]
fn divided_acks_gain_nothing() {
    let grown = |step: usize| {
        let mut s = Solo::established(&Config {
            counting: Counting::Bytes,
            initial_ssthresh: None,
            ..classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false })
        });
        s.end.write(1 << 20);
        s.sent();
        for ack in (1..=1001_i64).step_by(step).skip(1) {
            s.arrives(".", 1, ack, 0);
        }
        s.end.sender.cwnd()
    };
    assert_eq!((grown(1000), grown(10)), (4000, 4000));
}

/// An echo from the future would be a round trip of 49 days.
#[test]
fn a_forged_echo_is_no_sample() {
    let mut s = Solo::established(&Config { timestamps: true, ..configs()[2].clone() });
    s.end.write(1000);
    s.sent();
    s.until(5_000); // sent again: what follows is measured by the echo alone
    let before = s.end.observe().srtt;
    let mut ack = s.segment(".", 1, 1001, 0);
    let echo = s.end.ends.timestamp(at_ms(6_000));
    ack.options.timestamps = Some(Timestamps { value: 1000, echo });
    s.deliver(ack);
    assert_eq!((s.end.sender.una, s.end.observe().srtt), (1001, before));
}

/// ACKs of what has not been sent do nothing, however many; they are answered
/// within the limit.
#[test]
fn optimistic_acks_beyond_what_was_sent_gain_nothing() {
    let mut s = Solo::established(&classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false }));
    s.end.write(1 << 20);
    s.sent();
    let before = s.end.observe();
    let answers: usize = (1..200).map(|n| s.arrives(".", 1, 3001 + n * 1000, 0).len()).sum();
    assert_eq!(answers, 10);
    assert_eq!((s.end.observe().cwnd, s.end.sender.una), (before.cwnd, 1));
}
