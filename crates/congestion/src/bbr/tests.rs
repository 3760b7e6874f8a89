use super::*;
use crate::testkit::bottleneck::{Bottleneck, Network};
use crate::testkit::{MSS, feedback, path as view};
use crate::{Algorithm, Congestion};
use anabranch_testkit::marks::record;

fn path(buffer: usize, loss: f64) -> Bottleneck {
    let (rate, rtt) = (Rate::mbit(10), Span::from_millis(40));
    Bottleneck { rate, rtt, buffer, mark_above: None, loss }
}

fn network(path: Bottleneck, flows: usize) -> Network {
    let bbr = Algorithm::from_name("bbr").unwrap();
    Network::new(path, &vec![bbr; flows], Span::from_secs(1))
}

fn model(network: &Network) -> &Model {
    let Congestion::Bbr(bbr) = &network.flows[0].c else { panic!("a BBR flow") };
    &bbr.0
}

/// Each change of state or gain in `span`, with its date.
fn phases(network: &mut Network, span: Span) -> Vec<(State, f64, Time)> {
    let mut phases: Vec<(State, f64, Time)> = Vec::new();
    network.run_with(span, |n| {
        let m = model(n);
        let now = (m.state, m.pacing_gain);
        if phases.last().is_none_or(|(state, gain, _)| (*state, *gain) != now) {
            phases.push((m.state, m.pacing_gain, n.now));
        }
    });
    phases
}

#[test]
fn startup_fills_the_pipe_drains_it_and_cycles() {
    // §4.3: gains 2 / ln 2, ln 2 / 2, then 1.25, 0.75 and six times 1, an
    // RTprop each.
    let mut network = network(path(1000, 0.0), 1);
    let phases = phases(&mut network, Span::from_secs(9));
    let gain = 2.0 / std::f64::consts::LN_2;
    assert_eq!((phases[0].0, phases[0].1), (State::Startup, gain));
    assert_eq!((phases[1].0, phases[1].1), (State::Drain, 1.0 / gain));
    assert_eq!((phases[2].0, phases[2].1), (State::ProbeBw, 1.0));
    let shown = format!("{:.3}, {:.3}, 1", phases[0].1, phases[1].1);
    record("T9", "gains of Startup, Drain, ProbeBW", "2.885, 0.347, 1", shown, "exact");
    let rtprop = model(&network).rtprop.unwrap().as_secs_f64();
    for cycle in phases[3..].chunks_exact(3).take(20) {
        let gains: Vec<_> = cycle.iter().map(|(_, gain, _)| *gain).collect();
        assert_eq!(gains, [1.25, 0.75, 1.0]);
        let probing = (cycle[1].2 - cycle[0].2).as_secs_f64() / rtprop;
        let draining = (cycle[2].2 - cycle[1].2).as_secs_f64() / rtprop;
        assert!((1.0..1.2).contains(&probing), "{probing} RTprop");
        assert!(draining < 1.1, "{draining} RTprop");
    }
    // Two phases and six more: 8 RTprop, within what an ACK's spacing adds.
    let up: Vec<_> = phases.iter().filter(|(_, gain, _)| *gain == 1.25).map(|p| p.2).collect();
    let mean = (*up.last().unwrap() - up[0]).as_secs_f64() / rtprop / (up.len() - 1) as f64;
    record("T9", "cycle of ProbeBW, RTprop", 8, format!("{mean:.2}"), "7 to 8.3");
    for pair in up.windows(2) {
        let cycle = (pair[1] - pair[0]).as_secs_f64() / rtprop;
        assert!((7.0..8.3).contains(&cycle), "{cycle} RTprop");
    }
}

#[test]
fn startup_doubles_each_round_and_ends_after_three_without_growth() {
    // §4.3.2: BDP 50 packets from 10 is under three doublings; the queue that
    // Startup builds is at most cwnd_gain - 1 BDP, and is gone after Drain.
    let mut network = network(path(1000, 0.0), 1);
    let phases = phases(&mut network, Span::from_millis(800));
    let rounds = phases[1].2.as_secs_f64() / 0.040;
    assert!(rounds < 20.0, "{rounds} empty round trips");
    let most = network.queue.iter().map(|(_, packets)| *packets).max().unwrap();
    assert!((50..=110).contains(&most), "{most}");
    let drained = phases[2].2;
    let after: Vec<_> = network.queue.iter().filter(|(at, _)| *at > drained).collect();
    let later = after.iter().map(|(_, packets)| *packets).max().unwrap();
    assert!(later <= 14, "{later}");
}

#[test]
fn the_propagation_time_is_probed_every_ten_seconds_for_200_ms() {
    // §4.3.5; costs 200 ms of 10 s.
    let mut n = network(path(1000, 0.0), 1);
    let mut most = 0;
    let mut probes: Vec<(Time, Time)> = Vec::new();
    n.run_with(Span::from_secs(45), |n| {
        let m = model(n);
        if m.state != State::ProbeRtt {
            return;
        }
        if m.probe_rtt_done_stamp != Time::NEVER {
            most = most.max(n.flows[0].in_flight);
        }
        match probes.last_mut() {
            Some((_, end)) if n.now - *end < Span::from_secs(1) => *end = n.now,
            _ => probes.push((n.now, n.now)),
        }
    });
    assert_eq!(most, MIN_PIPE_CWND * MSS);
    assert!((3..=4).contains(&probes.len()), "{probes:?}");
    for (start, end) in &probes {
        let lasted = (*end - *start).as_secs_f64();
        assert!((0.2..0.32).contains(&lasted), "{lasted}");
    }
    for pair in probes.windows(2) {
        // From the end of one to the start of the next.
        let apart = (pair[1].0 - pair[0].1).as_secs_f64();
        assert!((9.9..10.4).contains(&apart), "{apart}");
    }
    let utilisation = n.utilisation(Span::from_secs(60));
    let shown = format!("{utilisation:.3}");
    record("T9", "utilisation without loss, 200 ms of 10 s for ProbeRTT", 0.98, shown, "0.005");
    assert!((0.975..0.985).contains(&utilisation), "{utilisation}");
}

#[test]
fn random_loss_costs_what_is_lost_where_reno_collapses() {
    // §1: at 1 % loss 0.9 of the rate and more. Reno's window is
    // 1.31 / sqrt(p) = 13 of 52 segments.
    for (loss, at_least) in [(0.001, 0.97), (0.01, 0.95), (0.05, 0.88)] {
        let mut n = network(path(100, loss), 1);
        n.run(Span::from_secs(2));
        let utilisation = n.utilisation(Span::from_secs(60));
        let quantity = format!("utilisation at random loss {loss}, packet-level model");
        let expected = format!("> {at_least}");
        record("T9", &quantity, expected, format!("{utilisation:.3}"), "at least");
        assert!(utilisation > at_least, "{loss}: {utilisation}");
    }
    let reno = Algorithm::from_name("reno").unwrap();
    let mut n = Network::new(path(100, 0.01), &[reno], Span::ZERO);
    n.run(Span::from_secs(2));
    let utilisation = n.utilisation(Span::from_secs(60));
    assert!((0.2..0.3).contains(&utilisation), "{utilisation}");
}

#[test]
fn flows_share_and_keep_their_queue_within_a_bdp() {
    let mut n = network(path(1000, 0.0), 3);
    n.run(Span::from_secs(20));
    n.queue.clear();
    let before: Vec<_> = n.flows.iter().map(|f| f.delivered).collect();
    assert!(n.utilisation(Span::from_secs(60)) > 0.97);
    let shares: Vec<_> = n.flows.iter().zip(before).map(|(f, b)| f.delivered - b).collect();
    let sum = shares.iter().sum::<u64>() as f64;
    for share in &shares {
        let share = *share as f64 / sum;
        assert!((0.23..0.45).contains(&share), "{shares:?}");
    }
    // cwnd_gain 2: at most about a BDP of 50 in the queue, and 3 quanta each.
    let mean = n.queue.iter().map(|(_, q)| *q).sum::<usize>() / n.queue.len();
    assert!(mean < 75, "{mean}");
    assert_eq!(n.dropped, 0);
}

/// A flow at 0.8 Mbit/s and 100 ms, driven by hand: 10 segments of BDP.
struct Flow {
    c: Bbr,
    now: Time,
    delivered: u64,
}

impl Flow {
    /// In ProbeBW, at a gain of 1.
    fn new() -> Flow {
        let c = Bbr::new(&BbrOptions::default(), 10 * MSS, u64::MAX);
        let mut flow = Flow { c, now: Time::ZERO, delivered: 0 };
        for _ in 0..100 {
            flow.ack(8 * MSS, 0, false);
        }
        assert_eq!(flow.c.0.state, State::ProbeBw);
        flow.until(1.0);
        flow
    }

    /// Until ProbeBW has this gain; enough is in flight to leave any other.
    fn until(&mut self, gain: f64) {
        while self.c.0.pacing_gain != gain {
            self.ack(20 * MSS, 0, false);
        }
    }

    /// 10 ms later a segment arrives.
    fn ack(&mut self, in_flight: u64, lost: u64, in_recovery: bool) {
        self.now += Span::from_millis(10);
        self.delivered += MSS;
        let rate = RateSample {
            delivered: MSS,
            interval: Span::from_millis(10),
            prior_delivered: self.delivered.saturating_sub(10 * MSS),
            total_delivered: self.delivered,
            app_limited: false,
            tx_in_flight: in_flight + MSS,
            lost: 0,
        };
        let news = Feedback { lost, in_recovery, rate: Some(rate), ..feedback(self.now, MSS) };
        let acked = self.delivered;
        let view = PathView { in_flight, sent: acked + in_flight, acked, ..view(1) };
        self.c.on_feedback(&news, &view);
    }
}

#[test]
fn the_window_is_two_bandwidth_delay_products_and_three_quanta() {
    // §4.2.3.2: 2 * 10 segments and 3 quanta of one (below 1.2 Mbit/s).
    let flow = Flow::new();
    assert_eq!(flow.c.0.btl_bw.max(), 100_000.0);
    assert_eq!(flow.c.pacing_rate(None), Some(Rate::kbit(800)));
    assert_eq!(flow.c.window(), 23 * MSS);
}

#[test]
fn a_loss_conserves_packets_for_a_round_and_the_window_returns_after_it() {
    // §4.2.3.4.
    let mut flow = Flow::new();
    let before = flow.c.window();
    let event = CongestionEvent { now: flow.now, cause: Cause::Loss };
    flow.c.on_congestion(&event, &view(12));
    assert_eq!(flow.c.window(), 12 * MSS);
    flow.ack(11 * MSS, 0, true);
    assert_eq!(flow.c.window(), 12 * MSS, "in flight and delivered");
    flow.ack(9 * MSS, MSS, true);
    assert_eq!(flow.c.window(), 11 * MSS, "less what was lost");
    for _ in 0..15 {
        flow.ack(9 * MSS, 0, true);
    }
    assert!(flow.c.window() > 12 * MSS, "grows by what is delivered after a round");
    flow.ack(9 * MSS, 0, false);
    assert!(flow.c.window() >= before, "{} of {before}", flow.c.window());
}

#[test]
fn a_timeout_leaves_a_segment_until_what_was_sent_is_acknowledged() {
    let mut flow = Flow::new();
    let before = flow.c.window();
    let acked = flow.delivered;
    let view = PathView { sent: acked + 3 * MSS, acked, ..view(3) };
    flow.c.on_congestion(&CongestionEvent { now: flow.now, cause: Cause::Timeout }, &view);
    assert_eq!(flow.c.window(), MSS);
    flow.ack(0, 0, false);
    assert_eq!(flow.c.window(), 4 * MSS, "BBRMinPipeCwnd");
    flow.ack(0, 0, false);
    flow.ack(0, 0, false);
    assert!(flow.c.window() >= before);
}

#[test]
fn a_spurious_reduction_is_taken_back() {
    let mut flow = Flow::new();
    let before = flow.c.window();
    let timeout = CongestionEvent { now: flow.now, cause: Cause::Timeout };
    flow.c.on_congestion(&timeout, &PathView { sent: u64::MAX, ..view(3) });
    flow.c.on_undo();
    assert_eq!(flow.c.window(), before);
}

#[test]
fn samples_that_the_application_limited_only_raise_the_bandwidth() {
    // §4.1.2.
    let mut flow = Flow::new();
    let bandwidth = flow.c.0.btl_bw.max();
    let sample = |delivered, total_delivered| RateSample {
        delivered,
        interval: Span::from_millis(10),
        prior_delivered: total_delivered,
        total_delivered,
        app_limited: true,
        tx_in_flight: 0,
        lost: 0,
    };
    for round in 0..40 {
        let rate = Some(sample(100, flow.delivered + round));
        let news = Feedback { rate, ..feedback(flow.now, 100) };
        flow.c.on_feedback(&news, &view(1));
    }
    assert_eq!(flow.c.0.btl_bw.max(), bandwidth);
    let rate = Some(sample(2 * MSS, flow.delivered + 41));
    flow.c.on_feedback(&Feedback { rate, ..feedback(flow.now, 100) }, &view(1));
    assert_eq!(flow.c.0.btl_bw.max(), 2.0 * bandwidth);
}

#[test]
fn a_flow_that_was_idle_restarts_at_the_measured_rate() {
    // §4.3.4.4.
    let mut flow = Flow::new();
    flow.until(1.25);
    let before = flow.c.window();
    flow.c.on_idle(10 * MSS);
    flow.c.on_sent(flow.now, MSS, &PathView { app_limited: true, ..view(0) });
    assert_eq!((flow.c.window(), flow.c.0.pacing_rate), (before, 100_000.0));
}
