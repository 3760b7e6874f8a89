//! Pacing as traces; the spacing of bursts itself is tested beside the pacer.

use super::*;
use anabranch_congestion::Pacing;
use anabranch_congestion::reno::RenoOptions;

fn config(pacing: Pacing, burst: u32) -> Config {
    let mut options = RenoOptions::default();
    options.common.pacing = Some(pacing);
    Config {
        window: Algorithm::Reno(options),
        pacing_burst: burst,
        receive_buffer: 8000,
        ..classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false })
    }
}

/// Before a round trip is measured there is no rate; then a window of W
/// segments leaves over RTT / gain, and idle time is not saved up.
#[test]
fn a_window_is_spread_over_the_round_trip() {
    let config = Config { initial_ssthresh: Some(3000), ..config(Pacing::default(), 1) };
    let mut pair = pair(&config, |_, _| Fate::Deliver);
    pair.client.write(3000);
    pair.drive(at_ms(2_000));
    pair.client.write(3000);
    pair.drive(at_ms(3_000));
    let sent: Vec<_> = rounds(&pair).iter().map(|r| (r.0, r.1.len())).collect();
    // 200 ms RTT, W = 3, factor 1.2; a segment of 1000 octets pays for its
    // 40 octets of headers: 1040 / (1.2 * 3000 / 200 ms) = 57.8 ms.
    assert_eq!(sent[..3], [(200, 1), (257, 1), (315, 1)], "{sent:?}");
    assert_eq!(sent[3..].iter().map(|s| s.1).sum::<usize>(), 3);
    assert_eq!(sent[3].0, 2_000, "at once after idle time");
}

/// What is paced arrives like what is not, losses included.
#[test]
fn paced_connections_repair_losses() {
    let mut pair = pair(&config(Pacing::default(), 1), drop_nth(&[5, 6, 20]));
    pair.client.write(100_000);
    pair.client.close();
    pair.drive(at_ms(60_000));
    assert_eq!(pair.server.receiver.received(), 100_000);
    assert_eq!(pair.client.sender.counters.timeouts, 0);
}

/// A rate far above the window's: ACKs drive the sending as before.
#[test]
fn the_window_still_limits() {
    let pacing = Pacing { slow_start: 10_000, avoidance: 10_000 };
    let mut pair = pair(&config(pacing, 100), |_, _| Fate::Deliver);
    pair.client.write(1 << 30);
    pair.drive(at_ms(5_000));
    let before = pair.server.receiver.received();
    pair.drive(at_ms(15_000));
    assert!((pair.server.receiver.received() - before).abs_diff(50 * 8000) <= 8000);
}
