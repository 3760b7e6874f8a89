//! Validation T1: the macroscopic model of Mathis et al. (1997),
//! rate = (MSS / R) · C / sqrt(p), on one long SACK flow.
//!
//! The model has neither a recovery phase nor whole segments; both cost a
//! share of a cycle that grows as the window shrinks. So the marks of 3 % and
//! 8 % are held at p = 1e-4 (window 122), and at larger p the shortfall is
//! bounded: periodic loss falls short by 4.5 % (8 % with delayed ACKs) at 1e-3.
//! The model with both put in ([`with_recovery`]) is within 1.5 % there.

use anabranch_congestion::Algorithm;
use anabranch_endpoint::{ByteStream, Generator, Observe, Seed};
use anabranch_tcp::recovery::Recovery;
use anabranch_tcp::{Config, Connection, Counting, DelayedAck};
use anabranch_testkit::marks::record;
use anabranch_testkit::{Fate, Pair, Side};
use anabranch_units::{Span, Time};
use anabranch_wire::Addr;

const RTT: Span = Span::from_millis(100);

#[derive(Clone, Copy, Debug)]
enum Loss {
    Periodic,
    Random,
}

/// C = rate · R · sqrt(p) / MSS over `losses` loss events, after a warm-up.
fn constant(loss: Loss, p: f64, acks_per: u32, losses: u32) -> f64 {
    let config = Config {
        mss: 1000,
        timestamps: false,
        initial_ssthresh: Some((1.5 / p.sqrt()) as u64 * 1000),
        delayed_ack: DelayedAck { count: acks_per, delay: Span::from_millis(200) },
        counting: Counting::Acks,
        recovery: Recovery::from_name("sack").unwrap(),
        window: Algorithm::from_name("reno").unwrap(),
        receive_buffer: 1 << 28,
        ..Config::default()
    };
    let seed = Seed { seed: 5, replication: 0 };
    let (a, b) = ((Addr(0), 1), (Addr(1), 2));
    let client = Connection::client(config.clone(), a, b, seed.generator("client"));
    let server = Connection::server(config, b, a, seed.generator("server"));
    let mut dice: Generator = seed.generator("loss");
    let mut since = 0_u64;
    let period = (1.0 / p).round() as u64;
    let mut pair = Pair::new(client, server, RTT / 2, move |side, packet| {
        if side == Side::Server || packet.payload_len() == 0 {
            return Fate::Deliver;
        }
        since += 1;
        let lost = match loss {
            Loss::Periodic => since.is_multiple_of(period),
            Loss::Random => dice.chance(p),
        };
        if lost { Fate::Drop } else { Fate::Deliver }
    });
    pair.logging = false;
    pair.client.connect(Time::ZERO);
    pair.client.write(1 << 50);
    let rounds = |losses: u32| (losses as f64 / p.sqrt()) as u64 + 10;
    let run = |pair: &mut Pair<_, _>, n: u64| {
        let until = pair.now + RTT * n;
        pair.drive(until);
    };
    run(&mut pair, rounds(losses / 10));
    let before = pair.server.observe().bytes_received;
    let n = rounds(losses);
    run(&mut pair, n);
    let segments = (pair.server.observe().bytes_received - before) as f64 / 1000.0;
    // A retransmission is lost again with probability p.
    let end = pair.client.observe();
    assert!(end.timeouts * 50 <= end.fast_retransmits, "{loss:?} p {p}: {end:?}");
    segments / n as f64 * p.sqrt()
}

/// `law` says which C is expected.
fn check(law: &str, (loss, p): (Loss, f64), acks_per: u32, expected: f64, tolerance: f64) {
    let losses = if matches!(loss, Loss::Random) { 800 } else { 60 };
    let c = constant(loss, p, acks_per, losses);
    let off = c / expected - 1.0;
    let quantity = format!("constant C{law}, {loss:?} loss, p = {p}, b = {acks_per}");
    let mark = format!("{} %", tolerance * 100.0);
    record(
        "T1",
        &quantity,
        format!("{expected:.3}"),
        format!("{c:.3} ({:+.1} %)", off * 100.0),
        &mark,
    );
    assert!(off.abs() <= tolerance, "{loss:?} p {p} b {acks_per}: C {c:.4}, not {expected}");
}

#[test]
fn periodic_loss() {
    for (p, tolerance) in [(1e-4, 0.03), (1e-3, 0.08)] {
        check("", (Loss::Periodic, p), 1, 1.5_f64.sqrt(), tolerance);
        check("", (Loss::Periodic, p), 2, 0.75_f64.sqrt(), tolerance);
    }
}

/// The model's C for periodic loss and an ACK per segment, with a round in
/// which recovery holds the window at W/2, and half a segment that a window in
/// whole segments wastes on average: a cycle carries 3/8 W^2 + W/2 = 1/p
/// segments in W/2 + 1 rounds.
fn with_recovery(p: f64) -> f64 {
    let w = ((0.25 + 1.5 / p).sqrt() - 0.5) / 0.75;
    (1.0 / p / (w / 2.0 + 1.0) - 0.5) * p.sqrt()
}

#[test]
fn recovery_and_whole_segments_explain_the_shortfall() {
    assert!(with_recovery(1e-8) / 1.5_f64.sqrt() > 0.999);
    for p in [1e-4, 1e-3] {
        check(" with rounds of recovery", (Loss::Periodic, p), 1, with_recovery(p), 0.015);
    }
}

#[test]
fn random_loss() {
    for p in [1e-4, 1e-3] {
        check("", (Loss::Random, p), 1, 1.31, 0.08);
        check("", (Loss::Random, p), 2, 0.93, 0.08);
    }
}
