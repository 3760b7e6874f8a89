//! The response function of DCTCP with accurate ECN feedback: the window under
//! marks at random, which a queue for low latency gives (RFC 9332 §2.1: a
//! scalable control's rate goes with 1/p).
//!
//! In a round of W segments, p W are marked. Growth is a segment in a round, not
//! with ACKs that report marks: 1 - p. A reduction takes W alpha / 2, alpha = p
//! on average; it comes with the first mark of data sent since the last one, so
//! after a round and 1 / (p W) of another. With x = p W
//!
//!     x / 2 = (1 - p) (1 + 1/x),   x = (1 - p) + sqrt((1 - p)^2 + 2 (1 - p))
//!
//! The average hides what alpha does from round to round, which shows in small
//! windows: at p = 0.2, ten segments, the window is a ninth below the law.

use anabranch_congestion::Algorithm;
use anabranch_endpoint::{ByteStream, Observe, Seed};
use anabranch_tcp::recovery::{Pipe, Recovery};
use anabranch_tcp::{Config, Connection, DelayedAck, EcnMode, Ect, InitialWindow};
use anabranch_testkit::marks::record;
use anabranch_testkit::{Fate, Pair, Side};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, Body, Packet};

const MSS: u64 = 1000;
const RTT: Span = Span::from_millis(100);

/// Segments in a round, on average over `rounds` after a start.
fn window(p: f64, ecn: EcnMode, strip: bool, rounds: u64) -> f64 {
    let config = Config {
        mss: MSS as u32,
        timestamps: false,
        initial_window: InitialWindow::Segments(10),
        initial_ssthresh: Some(10 * MSS),
        delayed_ack: DelayedAck { count: 1, delay: Span::ZERO },
        recovery: Recovery::Sack { pipe: Pipe::Rfc6675, prr: false },
        window: Algorithm::from_name("dctcp").unwrap(),
        ecn,
        ect: Ect::One,
        ..Config::default()
    };
    let seed = Seed::default();
    let (a, b) = ((Addr(0), 1), (Addr(1), 2));
    let client = Connection::client(config.clone(), a, b, seed.generator("client"));
    let server = Connection::server(config, b, a, seed.generator("server"));
    let mut dice = seed.generator("marks");
    let mut pair = Pair::new(client, server, RTT / 2, |side, packet: &Packet| {
        let hit = side == Side::Client && packet.payload_len() > 0 && dice.chance(p);
        if hit { Fate::Mark } else { Fate::Deliver }
    });
    if strip {
        pair.mangle = Some(|_, packet| {
            if let Body::Tcp(segment) = &mut packet.body {
                segment.options.acc_ecn = None;
            }
        });
    }
    pair.logging = false;
    pair.client.connect(Time::ZERO);
    pair.client.write(1 << 50);
    let start = Time::ZERO + RTT * 200;
    pair.drive(start);
    let before = pair.client.observe().bytes_acked;
    pair.drive(start + RTT * rounds);
    let end = pair.client.observe();
    assert_eq!((end.retransmitted_packets, end.timeouts), (0, 0));
    (end.bytes_acked - before) as f64 / (MSS * rounds) as f64
}

#[test]
fn the_window_goes_with_one_over_the_marks() {
    for (p, tolerance) in [(0.02, 0.03), (0.05, 0.05), (0.1, 0.08), (0.2, 0.14)] {
        let free: f64 = 1.0 - p;
        let law = (free + (free * free + 2.0 * free).sqrt()) / p;
        let found = window(p, EcnMode::Accurate, false, 8_000);
        let short = window(p, EcnMode::Accurate, false, 1_000);
        let stripped = window(p, EcnMode::Accurate, true, 1_000);
        let echoed = window(p, EcnMode::Dctcp, false, 1_000);
        let what = format!("DCTCP and AccECN under marks at random, p = {p}: segments");
        let mark = format!("within {:.0} %", tolerance * 100.0);
        record("T10", &what, format!("{law:.1}"), format!("{found:.1}"), &mark);
        assert!((found / law - 1.0).abs() < tolerance, "p = {p}: {found} of {law}");
        // With an ACK for each segment the field alone and the exact echo of RFC
        // 8257 tell the same.
        assert_eq!((stripped, echoed), (short, short), "p = {p}");
    }
}
