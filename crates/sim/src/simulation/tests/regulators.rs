//! Regulators in a network: the forward link is r-b, ACKs come back over b-r.

use super::*;
use crate::observe::RegulatorRecorder;
use anabranch_network::{
    AckBucketConfig, LawConfig, Level, Overflow, RegulatorConfig, ThresholdLinearConfig,
};

const FORWARD: LinkId = LinkId(1);
const REVERSE: LinkId = LinkId(2);

/// Holds from the first packet that waits on, up to 40 ms for ten.
fn linear() -> RegulatorConfig {
    RegulatorConfig::new(LawConfig::ThresholdLinear(ThresholdLinearConfig {
        low: Level::Packets(0),
        high: Level::Packets(10),
        max_delay: MS(40),
    }))
}

/// a - r - b as [`line`], with four times the rate between a and r.
fn nodes(builder: &mut Builder) -> [NodeId; 2] {
    let (a, r, b) = (builder.host("a"), builder.router("r"), builder.host("b"));
    let fast = LinkConfig::new(Rate::mbit(32), MS(10));
    for (from, to, name, config) in [
        (a, r, "a-r", fast.clone()),
        (r, b, "r-b", config()),
        (b, r, "b-r", config()),
        (r, a, "r-a", fast),
    ] {
        builder.link(from, to, name, config, Seed::default().generator(name));
    }
    [a, b]
}

/// Flows that start together, so that packets wait at r-b.
fn network(regulator: Option<RegulatorConfig>, flows: u16) -> Simulation<StopAndWait> {
    let mut builder = Builder::new();
    let ends = nodes(&mut builder);
    if let Some(regulator) = regulator {
        builder.regulator(FORWARD, &config(), REVERSE, &regulator);
    }
    for port in 0..flows {
        builder.flow(FlowSpec { octets: true, ..spec(&builder, ends, port, 20_000) });
    }
    builder.build().unwrap()
}

#[test]
fn held_acks_are_conserved_and_streams_arrive_whole() {
    for config in [
        linear(),
        RegulatorConfig { piggybacked: true, ..linear() },
        RegulatorConfig { limit: QueueLimit::Packets(2), overflow: Overflow::DropHead, ..linear() },
        RegulatorConfig::new(LawConfig::AckBucket(AckBucketConfig::default())),
    ] {
        let mut sim = network(Some(config), 30);
        let checker = sim.attach(ConservationChecker::new());
        assert!(sim.run_to_completion(Time::ZERO + Span::from_secs(600)));
        sim.run_until(sim.now() + Span::from_secs(60));
        for flow in 0..30 {
            assert_eq!(sim.flow_result(FlowId(flow)).wrong_octets, 0);
            assert_eq!(sim.flow_result(FlowId(flow)).bytes, 20_000);
        }
        let counters = sim.regulator_counters(FORWARD).unwrap();
        assert!(counters.delayed + counters.dropped > 30, "{counters:?}");
        assert_eq!((counters.held, counters.is_conserved()), (0, true));
        assert_eq!(sim.regulator_counters(REVERSE), None);
        assert!(sim.observer(checker).events() > 0);
    }
}

#[test]
fn a_regulator_that_never_holds_changes_nothing_but_its_counters() {
    let high = LawConfig::ThresholdLinear(ThresholdLinearConfig {
        low: Level::Packets(99),
        high: Level::Packets(100),
        max_delay: MS(40),
    });
    let run = |config| {
        let mut sim = network(config, 5);
        sim.run_until(Time::ZERO + Span::from_secs(60));
        let flows: Vec<_> = (0..5).map(|flow| sim.flow_result(FlowId(flow))).collect();
        let counters = sim.regulator_counters(FORWARD);
        let links: Vec<_> = sim.links().map(|(_, _, counters)| counters).collect();
        ((flows, links), counters)
    };
    let (plain, none) = run(None);
    let (regulated, counters) = run(Some(RegulatorConfig::new(high)));
    assert_eq!(plain, regulated);
    let counters = counters.unwrap();
    assert_eq!((none, counters.delayed, counters.held), (None, 0, 0));
    // Twenty chunks of each flow; ACKs of SYN and FIN look alike here.
    assert!(counters.received >= 100, "{counters:?}");
}

#[test]
fn the_recorder_sees_what_is_held_and_the_delay_given() {
    let mut sim = network(Some(linear()), 30);
    let mut recorder = RegulatorRecorder::new();
    recorder.record(FORWARD, None);
    let recorder = sim.attach(recorder);
    sim.run_until(Time::ZERO + Span::from_secs(60));
    let counters = sim.regulator_counters(FORWARD).unwrap();
    let held = sim.observer(recorder).held(FORWARD, sim.now()).unwrap();
    let most = held.value.iter().copied().fold(0.0, f64::max);
    assert_eq!((most as u64, held.value.last()), (counters.most_held, Some(&0.0)));
    let delays = sim.observer(recorder).delays(FORWARD).unwrap();
    assert_eq!(delays.value.len() as u64, counters.released);
    let sum: f64 = delays.value.iter().sum();
    assert!((sum - counters.total_delay.as_secs_f64()).abs() < 1e-6);
    assert!(delays.value.iter().all(|delay| *delay <= 0.04));
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let hash = || {
        let mut sim = network(Some(linear()), 20);
        sim.enable_trace_hash();
        sim.run_until(Time::ZERO + Span::from_secs(20));
        (sim.trace_hash(), sim.events())
    };
    assert_eq!(hash(), hash());
}

#[test]
fn regulators_stand_in_routers_with_a_link_that_comes_back() {
    let said = |forward, reverse, regulator: RegulatorConfig| {
        let mut builder = Builder::new();
        nodes(&mut builder);
        builder.regulator(FORWARD, &config(), REVERSE, &linear());
        builder.regulator(forward, &config(), reverse, &regulator);
        builder.build().err().unwrap().to_string()
    };
    for (forward, reverse, expected) in [
        (LinkId(1), LinkId(0), "link r-b: regulator is r-b; allowed: a link that goes back"),
        (LinkId(0), LinkId(3), "link a-r: regulator is a-r; allowed: a link that leaves a router"),
        (FORWARD, REVERSE, "link r-b: regulator is r-b; allowed: one regulator for each"),
    ] {
        let said = said(forward, reverse, linear());
        assert!(said.starts_with(expected), "{said}");
    }
    let recheck = Span::ZERO;
    let said = said(LinkId(3), LinkId(0), RegulatorConfig { recheck, ..linear() });
    assert!(said.starts_with("link r-a: recheck is "), "{said}");
}
