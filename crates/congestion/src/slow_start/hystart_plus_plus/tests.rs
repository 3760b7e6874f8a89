use super::*;
use crate::ack_clocked::Common;
use crate::reno::{Reno, RenoOptions};
use crate::testkit::{MSS, path};
use crate::{Cause, CongestionEvent, Controller, PathView, SlowStartExit};
use anabranch_testkit::marks::record;
use anabranch_units::Time;

/// A Reno window under HyStart++, driven round by round: every ACK of a round
/// carries the round's own round-trip time.
struct Flow {
    c: Reno,
    acked: u64,
}

impl Flow {
    fn new(segments: u64, options: HyStartPlusPlusOptions) -> Flow {
        let slow_start_exit = SlowStartExit::HyStartPlusPlus(options);
        let common = Common { slow_start_exit, ..Common::default() };
        Flow { c: Reno::new(&RenoOptions { common }, segments * MSS, u64::MAX), acked: 0 }
    }

    /// A full window in flight, of which `bytes` are acknowledged.
    fn view(&self, bytes: u64) -> PathView {
        let flight = self.c.window() / MSS;
        PathView { sent: self.acked + flight * MSS, acked: self.acked + bytes, ..path(flight) }
    }

    /// ACKs of one segment each for a whole window; the window after it.
    fn round(&mut self, rtt_ms: u64) -> u64 {
        let flight = self.c.window() / MSS;
        for _ in 0..flight {
            self.ack(MSS, rtt_ms);
        }
        self.c.window() / MSS
    }

    fn ack(&mut self, bytes: u64, rtt_ms: u64) {
        let view = self.view(bytes);
        self.acked += bytes;
        let rtt = Some(Span::from_millis(rtt_ms));
        self.c.on_ack(&Acked { now: Time::ZERO, bytes, rtt }, &view);
    }
}

#[test]
fn a_steady_round_trip_keeps_doubling() {
    let mut flow = Flow::new(10, HyStartPlusPlusOptions::default());
    for window in [20, 40, 80, 160, 320] {
        assert_eq!(flow.round(100), window);
    }
    assert_eq!(flow.c.ssthresh(), u64::MAX);
}

#[test]
fn a_ramp_ends_slow_start_in_the_round_that_the_rfc_says() {
    // RFC 9406 §4.2. Rounds at 100, 100, 110, 112, 124 ms: RttThresh is
    // 100 / 8 = 12.5 ms; 110 - 100 and 112 - 110 stay below it. The fourth
    // round is compared with the third, so that 124 >= 112 + 14 is false too:
    // a slow ramp is never seen. A step from 112 to 126 = 112 + 14 is.
    let mut flow = Flow::new(10, HyStartPlusPlusOptions::default());
    for (rtt_ms, window) in [(100, 20), (100, 40), (110, 80), (112, 160)] {
        assert_eq!(flow.round(rtt_ms), window, "{rtt_ms}");
    }
    // The 8th sample of the round that rises begins CSS: 8 ACKs grow by a
    // segment each, the other 152 by a quarter.
    assert_eq!(flow.round(126), 160 + 8 + 152 / 4);
    // Four more rounds of CSS, the partial one counted (§4.2); the first ACK
    // of the one after ends slow start.
    let mut window = flow.c.window();
    for round in 2..=5 {
        flow.round(126);
        assert_eq!(flow.c.ssthresh(), u64::MAX, "round {round}");
        assert!(flow.c.window() < window * 5 / 4 + MSS);
        window = flow.c.window();
    }
    flow.ack(MSS, 126);
    let exit = flow.c.ssthresh() as f64 / MSS as f64;
    let quantity = "window at the exit of CSS, after RTTs of 100, 100, 110, 112 and 126 ms";
    record("T12", quantity, window as f64 / MSS as f64, exit, "exact");
    assert_eq!((flow.c.ssthresh(), flow.c.window()), (window, window));
    flow.round(126);
    assert!(flow.c.window() <= window + MSS, "congestion avoidance follows");
}

#[test]
fn the_threshold_is_between_4_and_16_ms() {
    // (round trip, rise that is not enough, rise that is), in ms.
    for (rtt, below, at) in [(10, 3, 4), (80, 9, 10), (400, 15, 16)] {
        for (rise, in_css) in [(below, false), (at, true)] {
            let mut flow = Flow::new(10, HyStartPlusPlusOptions::default());
            flow.round(rtt);
            let window = flow.round(rtt + rise);
            let quantity = format!("a rise of {rise} ms over {rtt} ms begins CSS");
            record("T12", &quantity, in_css, window < 40, "exact");
            assert_eq!(window < 40, in_css, "{rtt} ms + {rise} ms: {window}");
        }
    }
}

#[test]
fn a_round_needs_eight_samples() {
    let mut flow = Flow::new(4, HyStartPlusPlusOptions::default());
    flow.round(100);
    flow.round(200); // eight ACKs: the eighth sees the rise, after it grew
    assert_eq!(flow.c.window(), 16 * MSS);
    flow.ack(4 * MSS, 200);
    assert_eq!(flow.c.window(), 17 * MSS, "CSS");
    let mut flow = Flow::new(3, HyStartPlusPlusOptions::default());
    flow.round(100);
    flow.round(200); // six
    flow.ack(MSS, 200);
    assert_eq!(flow.c.window(), 13 * MSS, "slow start");
}

#[test]
fn jitter_resumes_slow_start() {
    // §4.2: the round-trip time falls below the baseline of CSS again.
    let mut flow = Flow::new(10, HyStartPlusPlusOptions::default());
    flow.round(100);
    flow.round(150);
    let window = flow.c.window() / MSS;
    // Eight samples in the first round after; slow start from then on.
    let next = flow.round(100);
    assert_eq!(next, window + (window - 8) + 8 / 4);
    assert_eq!(flow.round(100), 2 * next);
}

#[test]
fn an_ack_adds_at_most_eight_segments_unless_paced() {
    // §4.2, L.
    let mut flow = Flow::new(100, HyStartPlusPlusOptions::default());
    flow.ack(20 * MSS, 100);
    assert_eq!(flow.c.window(), 108 * MSS);
    let slow_start_exit = SlowStartExit::HyStartPlusPlus(HyStartPlusPlusOptions::default());
    let pacing = Some(crate::Pacing::default());
    let common = Common { slow_start_exit, pacing, ..Common::default() };
    let mut flow = Flow { c: Reno::new(&RenoOptions { common }, 100 * MSS, u64::MAX), acked: 0 };
    flow.ack(20 * MSS, 100);
    assert_eq!(flow.c.window(), 120 * MSS);
}

#[test]
fn only_the_first_slow_start_is_watched() {
    // §4.3; and an undo goes back to it.
    let mut flow = Flow::new(10, HyStartPlusPlusOptions::default());
    flow.round(100);
    let view = flow.view(0);
    let timeout = CongestionEvent { now: Time::ZERO, cause: Cause::Timeout };
    flow.c.on_congestion(&timeout, &view);
    flow.ack(8 * MSS, 100);
    assert_eq!(flow.c.window(), 2 * MSS, "L = 1 repairs");
    flow.c.on_undo();
    flow.round(150);
    flow.ack(4 * MSS, 150);
    assert_eq!(flow.c.window() % MSS, 0);
    assert!(flow.c.window() < 40 * MSS, "CSS after the undo");
}

#[test]
fn every_constant_is_an_option() {
    let options = HyStartPlusPlusOptions {
        min_rtt_thresh: Span::from_millis(50),
        max_rtt_thresh: Span::from_millis(60),
        min_rtt_divisor: 1,
        n_rtt_sample: 2,
        css_growth_divisor: 2,
        css_rounds: 1,
        limit: 1,
    };
    let mut flow = Flow::new(10, options);
    assert_eq!(flow.round(100), 20);
    // 159 is no rise: min(100 / 1, 60) = 60. 160 is, at the second sample.
    assert_eq!(flow.round(159), 40);
    assert_eq!(flow.round(219), 40 + 2 + 38 / 2);
    flow.ack(MSS, 219);
    assert_eq!(flow.c.ssthresh(), 61 * MSS);
}

/// RFC 9406 §4.3: CSS_GROWTH_DIVISOR is 2 at least, whatever is asked for.
#[test]
fn conservative_slow_start_is_at_least_half_as_fast() {
    let window = |css_growth_divisor| {
        let mut flow = Flow::new(
            10,
            HyStartPlusPlusOptions { css_growth_divisor, ..HyStartPlusPlusOptions::default() },
        );
        flow.round(100);
        flow.round(150);
        flow.round(150)
    };
    assert_eq!((window(0), window(1)), (window(2), window(2)));
    assert!(window(2) > window(4));
}
