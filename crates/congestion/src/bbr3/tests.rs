use super::*;
use crate::testkit::bottleneck::{Bottleneck, Network};
use crate::testkit::{MSS, feedback, path as view};
use crate::{Algorithm, Congestion, RateSample};
use anabranch_testkit::marks::record;

fn path(buffer: usize, loss: f64) -> Bottleneck {
    let (rate, rtt) = (Rate::mbit(10), Span::from_millis(40));
    Bottleneck { rate, rtt, buffer, mark_above: None, loss }
}

fn network(path: Bottleneck, flows: usize) -> Network {
    let bbr3 = Algorithm::from_name("bbr3").unwrap();
    Network::new(path, &vec![bbr3; flows], Span::from_secs(1))
}

fn model(network: &Network) -> &Model {
    let Congestion::Bbr3(bbr3) = &network.flows[0].c else { panic!("a flow of bbr3") };
    &bbr3.0
}

/// Each change of state in `span`, with its date.
fn states(network: &mut Network, span: Span) -> Vec<(State, Time)> {
    let mut states: Vec<(State, Time)> = Vec::new();
    network.run_with(span, |n| {
        let state = model(n).state;
        if states.last().is_none_or(|(last, _)| *last != state) {
            states.push((state, n.now));
        }
    });
    states
}

/// "Exiting STARTUP on Bandwidth Plateau" and "Exiting DRAIN Based on Inflight": max_bw within 2 % of
/// the link, then the states of ProbeBW in turn; the end of Drain is that of the first Down too.
#[test]
fn startup_ends_on_a_plateau_and_the_cycle_begins() {
    use State::{Drain, ProbeBwCruise, ProbeBwDown, ProbeBwRefill, ProbeBwUp, Startup};
    let mut n = network(path(1000, 0.0), 1);
    let states = states(&mut n, Span::from_secs(4));
    let order: Vec<_> = states.iter().map(|(state, _)| *state).take(7).collect();
    let expected =
        [Startup, Drain, ProbeBwCruise, ProbeBwRefill, ProbeBwUp, ProbeBwDown, ProbeBwCruise];
    assert_eq!(order, expected);
    let bw = model(&n).max_bw() * 8.0 / 10e6;
    record("T9", "bbr3: max_bw of a link, as a part", 1.0, format!("{bw:.3}"), "2 %");
    assert!((0.98..1.02).contains(&bw), "{bw}");
    // Three rounds of 25 % less follow the doublings to 52 packets.
    let rounds = states[1].1.as_secs_f64() / 0.040;
    assert!(rounds < 16.0, "{rounds}");
}

/// "Time Scale for Bandwidth Probing": min(BDP, 63) rounds of 40 ms, here 50, or 2 to 3 s.
#[test]
fn the_time_between_probes_is_that_of_reno_or_two_to_three_seconds() {
    for (rtt_ms, least, most) in [(40, 1.9, 2.7), (100, 2.2, 3.9)] {
        let rtt = Span::from_millis(rtt_ms);
        let mut n = network(Bottleneck { rtt, ..path(1000, 0.0) }, 1);
        let states = states(&mut n, Span::from_secs(200));
        // From Up to Up, where ProbeRTT does not start the cycle anew between them.
        let (mut up, mut cycles) = (None::<Time>, Vec::new());
        for (state, at) in states {
            match (state, up) {
                (State::ProbeRtt, _) => up = None,
                (State::ProbeBwUp, Some(before)) => {
                    cycles.push((at - before).as_secs_f64());
                    up = Some(at);
                }
                (State::ProbeBwUp, None) => up = Some(at),
                _ => {}
            }
        }
        assert!(cycles.len() >= 4, "{rtt_ms} ms: {cycles:?}");
        let within = cycles.iter().all(|apart| (least..most).contains(apart));
        assert!(within, "{rtt_ms} ms: {cycles:?}");
    }
}

/// "Entering and Exiting PROBE_RTT": each 5 s, 200 ms and a round, half a bandwidth-delay product.
#[test]
fn the_propagation_time_is_probed_every_five_seconds_with_half_a_bdp() {
    let mut n = network(path(1000, 0.0), 1);
    let mut probes: Vec<(Time, Time)> = Vec::new();
    let mut most = 0;
    n.run_with(Span::from_secs(60), |n| {
        let m = model(n);
        if m.state != State::ProbeRtt {
            return;
        }
        if m.min_rtt.done_stamp != Time::NEVER {
            most = most.max(n.flows[0].in_flight);
        }
        match probes.last_mut() {
            Some((_, end)) if n.now - *end < Span::from_secs(1) => *end = n.now,
            _ => probes.push((n.now, n.now)),
        }
    });
    // BDP 51 packets.
    assert!((20 * MSS..=27 * MSS).contains(&most), "{most}");
    for (start, end) in &probes {
        let lasted = (*end - *start).as_secs_f64();
        assert!((0.2..0.36).contains(&lasted), "{lasted}");
    }
    for pair in probes.windows(2) {
        let apart = (pair[1].0 - pair[0].1).as_secs_f64();
        assert!((4.9..5.4).contains(&apart), "{apart}");
    }
    record("T9", "bbr3: ProbeRTT in 60 s", "10 to 12", probes.len(), "within");
    assert!((10..=12).contains(&probes.len()), "{}", probes.len());
    let utilisation = n.utilisation(Span::from_secs(60));
    record(
        "T9",
        "bbr3: utilisation without loss",
        "> 0.95",
        format!("{utilisation:.3}"),
        "at least",
    );
    assert!(utilisation > 0.95, "{utilisation}");
}

/// A probe tolerates 2 % of loss. Between probes the rate falls by what is lost and by the pacing margin
/// of 1 % in each round with a loss ("Design Considerations for Choosing Constant Parameters"): over the 37 round trips of
/// 2.5 s the mean of (0.99 (1 - p))^n is 0.84 and 0.71 at least. Beyond the threshold little is left. The
/// bandwidth-delay product is 833 packets: of 50 packets 2 % is one, and chance decides.
#[test]
fn random_loss_up_to_the_threshold_leaves_the_rate() {
    let (rate, rtt) = (Rate::mbit(100), Span::from_millis(67));
    let mut shares = Vec::new();
    for loss in [0.001, 0.01, 0.05] {
        let mut n = network(Bottleneck { rate, rtt, ..path(1000, loss) }, 1);
        n.run(Span::from_secs(3));
        shares.push(n.utilisation(Span::from_secs(30)));
    }
    let shown: Vec<_> = shares.iter().map(|share| format!("{share:.3}")).collect();
    let expected = "> 0.84, > 0.71, < 0.5";
    record("T9", "bbr3: utilisation at 0.1, 1, 5 % loss", expected, shown.join(", "), "");
    assert!(shares[0] > 0.84 && shares[1] > 0.71 && shares[2] < 0.5, "{shares:?}");
}

/// A flow at 0.8 Mbit/s and 100 ms, driven by hand: a segment each 10 ms, 10 segments of BDP.
struct Hand {
    c: Bbr3,
    now: Time,
    delivered: u64,
    lost: u64,
    /// Octets in flight as each acknowledgment leaves it.
    in_flight: u64,
    app_limited: bool,
}

impl Hand {
    fn new() -> Hand {
        let c = Bbr3::new(&Bbr3Options::default(), 10 * MSS, u64::MAX);
        let in_flight = 9 * MSS;
        Hand { c, now: Time::ZERO, delivered: 0, lost: 0, in_flight, app_limited: false }
    }

    /// In that state, reached by acknowledgments alone.
    fn at(state: State) -> Hand {
        let mut hand = Hand::new();
        hand.until(state);
        hand
    }

    fn until(&mut self, state: State) {
        for _ in 0..10_000 {
            if self.m().state == state {
                return;
            }
            self.ack();
        }
        panic!("{state:?} is not reached: {:?}", self.m().state);
    }

    fn m(&mut self) -> &mut Model {
        &mut self.c.0
    }

    /// 10 ms later a segment arrives that left when ten less had.
    fn ack(&mut self) {
        self.ack_in(false, 0);
    }

    fn ack_in(&mut self, in_recovery: bool, lost_since: u64) {
        self.now += Span::from_millis(10);
        self.delivered += MSS;
        let rate = RateSample {
            delivered: MSS,
            interval: Span::from_millis(10),
            prior_delivered: self.delivered.saturating_sub(10 * MSS),
            total_delivered: self.delivered,
            app_limited: self.app_limited,
            tx_in_flight: self.in_flight + MSS,
            lost: lost_since,
        };
        let news = Feedback { in_recovery, rate: Some(rate), ..feedback(self.now, MSS) };
        let acked = self.delivered;
        let view =
            PathView { in_flight: self.in_flight, sent: acked + self.in_flight, acked, ..view(1) };
        self.c.on_feedback(&news, &view);
    }

    /// The segment number `n` is lost, which was sent with so many octets in flight, as the `lost`th of
    /// its flight.
    fn lose(&mut self, n: u64, tx_in_flight: u64, lost: u64) {
        let app_limited = self.app_limited;
        let segment = LostSegment {
            offset: n * MSS,
            bytes: MSS,
            tx_in_flight,
            lost: lost * MSS,
            app_limited,
        };
        self.lost += MSS;
        let view = view(10);
        self.c.on_lost(self.now, &segment, &view);
    }

    fn signal(&mut self, cause: Cause) {
        let now = self.now;
        let view = PathView { sent: self.delivered + 10 * MSS, acked: self.delivered, ..view(10) };
        self.c.on_congestion(&CongestionEvent { now, cause }, &view);
    }
}

/// Rates and windows of the table of control behaviour, at 100,000 octets/s and 100 ms: BDP 10
/// segments, quantum 2; 1 % less than the gain's rate.
#[test]
fn each_state_has_the_gains_of_the_table() {
    for (state, rate, cwnd) in [
        (State::ProbeBwDown, 89_100.0, None),
        (State::ProbeBwCruise, 99_000.0, Some(21)),
        (State::ProbeBwUp, 123_750.0, None),
    ] {
        let mut hand = Hand::at(state);
        assert_eq!(hand.m().max_bw(), 100_000.0);
        assert_eq!(hand.m().pacing_rate.round(), rate, "{state:?}");
        if let Some(cwnd) = cwnd {
            for _ in 0..30 {
                hand.ack();
            }
            assert_eq!(hand.c.window(), cwnd * MSS, "2 BDP and an excess of a segment");
        }
    }
}

/// `HandleLostPacket` by hand. A segment of 1000 sent with 20,000 in flight is the second of its flight
/// to be lost: 2000 > 0.02 * 20,000. lost_prefix = (0.02 * 19,000 - 1000) / 0.98 = -632.65, so
/// inflight_longterm = 19,000 - 632.65 = 18,367.35; the probe ends.
#[test]
fn a_probe_that_loses_too_much_bounds_the_volume_and_ends() {
    let mut hand = Hand::at(State::ProbeBwUp);
    assert!(hand.m().cycle.is_probe_sample);
    hand.lose(1, 60_000, 1);
    assert_eq!(hand.m().state, State::ProbeBwUp, "1000 of 60,000 are not 2 %");
    hand.lose(2, 20_000, 2);
    assert_eq!(hand.m().state, State::ProbeBwDown);
    let found = hand.m().long_term.inflight;
    assert!((found - 18_367.35).abs() < 0.01, "{found}");
    assert!(hand.m().cycle.was_too_high);
    // Once per probe.
    hand.lose(4, 5000, 3);
    assert!((hand.m().long_term.inflight - found).abs() < 1e-9);
    // The bound is never below Beta of what was meant to be in flight.
    let mut hand = Hand::at(State::ProbeBwUp);
    let target = hand.m().target_inflight();
    hand.lose(1, 2000, 2);
    assert!((hand.m().long_term.inflight - 0.7 * target).abs() < 1e-9);
}

/// "Exiting PROBE_UP on Loss When Application-Limited": the probe ends, the bound stays.
#[test]
fn a_probe_limited_by_the_application_bounds_nothing() {
    let mut hand = Hand::at(State::ProbeBwUp);
    hand.app_limited = true;
    hand.lose(1, 20_000, 2);
    assert_eq!(hand.m().state, State::ProbeBwDown);
    assert!(hand.m().long_term.inflight.is_infinite());
}

/// "When not Probing for Bandwidth": at the end of a round with a loss bw_shortterm = max(bw_latest,
/// 0.7 max_bw) and inflight_shortterm = max(inflight_latest, 0.7 cwnd).
#[test]
fn a_loss_in_cruise_lowers_the_short_term_bounds_once_a_round() {
    let mut hand = Hand::at(State::ProbeBwCruise);
    let cwnd = hand.c.window() as f64;
    hand.signal(Cause::Loss);
    assert_eq!(hand.c.window() as f64, cwnd, "fast recovery has no window of its own");
    hand.lose(1, 10_000, 1);
    while hand.m().short_term.bw.is_infinite() {
        hand.ack_in(true, 0);
    }
    // A sample of 1000 octets in 10 ms has the whole rate, and 1000 delivered.
    assert_eq!(hand.m().short_term.bw, 100_000.0);
    let found = hand.m().short_term.inflight;
    assert!((found - 0.7 * cwnd).abs() <= 0.7 * 1000.0 * 10.0, "{found} of {cwnd}");
    assert!(hand.c.window() as f64 <= found.max(4000.0));
    // Refill forgets both.
    hand.until(State::ProbeBwRefill);
    assert!(hand.m().short_term.bw.is_infinite() && hand.m().short_term.inflight.is_infinite());
}

/// `ProbeInflightLongtermUpward`: in ProbeBW_UP inflight_longterm grows by 1, 2, 4, 8 segments a round
/// where the window is at it.
#[test]
fn the_long_term_bound_grows_by_doubling_steps() {
    let mut hand = Hand::at(State::ProbeBwUp);
    let now = hand.now;
    let m = hand.m();
    m.long_term.inflight = 100_000.0;
    m.cwnd = 100 * MSS;
    m.start_refill();
    m.cycle.is_probe_sample = true;
    let mut steps = Vec::new();
    for round in 0..5 {
        let before = m.long_term.inflight;
        for n in 0..m.cwnd / MSS {
            m.rounds.start = n == 0;
            let news = News {
                now,
                newly_acked: MSS,
                delivery_rate: 100_000.0,
                delivered: MSS,
                prior_delivered: Some(0),
                app_limited: false,
                tx_in_flight: m.cwnd,
                lost: 0,
                rtt: None,
                marked: 0,
                in_flight: m.cwnd,
                cwnd_limited: true,
                mss: MSS,
            };
            m.update_cycle_phase(&news);
            m.cwnd = m.long_term.inflight as u64;
        }
        assert_eq!(m.state, State::ProbeBwUp, "round {round}");
        steps.push(((m.long_term.inflight - before) / MSS as f64).round());
    }
    // The first acknowledgment of the first round begins Up, and the second round's raises the slope.
    let shown = format!("{steps:?}");
    record(
        "T9",
        "bbr3: segments added to inflight_longterm in rounds",
        "1, 2, 4, 8, 16",
        shown,
        "1",
    );
    for (step, law) in steps.iter().zip([1.0, 2.0, 4.0, 8.0, 16.0]) {
        assert!((step - law).abs() <= 1.0, "{steps:?}");
    }
}

/// "Exiting DRAIN Based on Time": after three rounds, however much is in flight.
#[test]
fn drain_ends_after_three_rounds_at_the_latest() {
    let mut hand = Hand::new();
    hand.in_flight = 40 * MSS;
    hand.until(State::Drain);
    let began = hand.m().drain_start_round;
    hand.until(State::ProbeBwDown);
    assert_eq!(hand.m().rounds.count - began, 4);
}

/// "Exiting STARTUP on Loss": a round of recovery, 2 % of loss, six ranges.
#[test]
fn startup_ends_by_six_lost_ranges_in_a_round_of_recovery() {
    let run = |ranges: u64, lost: u64| {
        let mut hand = Hand::new();
        for _ in 0..15 {
            hand.ack();
        }
        hand.app_limited = true; // the plateau cannot end it
        hand.signal(Cause::Loss);
        for _ in 0..25 {
            for n in 0..ranges {
                hand.lose(1000 + 2 * n, 10_000, 1);
            }
            hand.ack_in(true, lost);
        }
        hand.m().full_bw.reached
    };
    assert!(run(6, 1000));
    assert!(!run(0, 1000), "no range is lost");
    assert!(!run(6, 200), "2 % is tolerated");
}

/// "Handling Spurious Fast Recovery".
#[test]
fn a_spurious_recovery_returns_to_the_probe() {
    let mut hand = Hand::at(State::ProbeBwUp);
    let cwnd = hand.c.window();
    hand.signal(Cause::Loss);
    hand.lose(1, 20_000, 2);
    assert_eq!(hand.m().state, State::ProbeBwDown);
    hand.ack_in(true, 0);
    hand.c.on_undo();
    assert_eq!(hand.m().state, State::ProbeBwRefill);
    assert!(hand.m().long_term.inflight.is_infinite());
    assert!(hand.c.window() >= cwnd.min(21 * MSS));
}

/// "Handling Spurious RTO Recovery".
#[test]
fn a_timeout_leaves_a_segment_and_its_end_or_undo_the_window() {
    let mut hand = Hand::at(State::ProbeBwCruise);
    let cwnd = hand.c.window();
    hand.signal(Cause::Timeout);
    assert_eq!(hand.c.window(), MSS);
    hand.c.on_undo();
    assert_eq!(hand.c.window(), cwnd);
    hand.signal(Cause::Timeout);
    for _ in 0..10 {
        hand.ack();
    }
    assert!(hand.c.window() >= cwnd.min(20 * MSS));
}

/// "Skipping PROBE_RTT Due to Application-Limited Sending".
#[test]
fn a_flow_that_was_idle_restarts_at_the_bandwidth_and_probes_no_rtt() {
    let mut hand = Hand::at(State::ProbeBwUp);
    hand.now += Span::from_secs(6);
    let now = hand.now;
    hand.c.on_idle(10 * MSS);
    hand.c.on_sent(now, MSS, &PathView { app_limited: true, ..view(0) });
    assert!(hand.m().idle_restart);
    assert_eq!(hand.m().pacing_rate.round(), 99_000.0);
    hand.ack();
    assert_ne!(hand.m().state, State::ProbeRtt);
}

/// "ECN": marks count as losses.
#[test]
fn marks_lower_the_short_term_bounds() {
    let mut hand = Hand::at(State::ProbeBwCruise);
    for _ in 0..25 {
        hand.now += Span::from_millis(10);
        hand.delivered += MSS;
        let rate = RateSample {
            delivered: MSS,
            interval: Span::from_millis(20),
            prior_delivered: hand.delivered - 10 * MSS,
            total_delivered: hand.delivered,
            app_limited: false,
            tx_in_flight: 10 * MSS,
            lost: 0,
        };
        let news = Feedback { marked: MSS, rate: Some(rate), ..feedback(hand.now, MSS) };
        hand.c.on_feedback(&news, &PathView { acked: hand.delivered, ..view(9) });
    }
    assert!(hand.m().short_term.bw <= 70_000.0, "{}", hand.m().short_term.bw);
}

/// Flows of the same kind share a link.
#[test]
fn flows_share_a_link() {
    let mut n = network(path(200, 0.0), 3);
    n.run(Span::from_secs(30));
    let before: Vec<_> = n.flows.iter().map(|f| f.delivered).collect();
    assert!(n.utilisation(Span::from_secs(60)) > 0.93);
    let shares: Vec<_> = n.flows.iter().zip(before).map(|(f, b)| f.delivered - b).collect();
    let sum = shares.iter().sum::<u64>() as f64;
    for share in &shares {
        assert!((0.2..0.5).contains(&(*share as f64 / sum)), "{shares:?}");
    }
}
