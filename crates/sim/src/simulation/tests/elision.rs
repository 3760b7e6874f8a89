//! Runs in which arrivals are no events, beside the same in which somebody watches all of them.

use super::*;

/// Flows from c to s and from d to s, which share all links but the first: c, d - q - r - s, where
/// q-r holds few packets and r-s, which is slower, fewer. `forth` is the link from q to r.
fn network(flows: u16, forth: LinkConfig) -> Simulation<StopAndWait> {
    let mut builder = Builder::new();
    let (c, d) = (builder.host("c"), builder.host("d"));
    let (q, r, s) = (builder.router("q"), builder.router("r"), builder.host("s"));
    let fast = LinkConfig::new(Rate::mbit(80), MS(1));
    let queue = QueueConfig::DropTail { limit: QueueLimit::Packets(2) };
    let slow = LinkConfig { queue, ..config() };
    for (from, to, name, config) in [
        (c, q, "c-q", &fast),
        (d, q, "d-q", &fast),
        (q, r, "q-r", &forth),
        (r, s, "r-s", &slow),
        (s, r, "s-r", &slow),
        (r, q, "r-q", &fast),
        (q, c, "q-c", &fast),
        (q, d, "q-d", &fast),
    ] {
        builder.link(from, to, name, config.clone(), Seed::default().generator(name));
    }
    for port in 0..flows {
        let client = if port % 2 == 0 { c } else { d };
        builder.flow(spec(&builder, [client, s], port, 20_000));
    }
    builder.build().unwrap()
}

fn forth() -> LinkConfig {
    let queue = QueueConfig::DropTail { limit: QueueLimit::Packets(6) };
    LinkConfig { queue, ..LinkConfig::new(Rate::mbit(16), MS(3)) }
}

/// All that can be read of a simulation.
fn state(sim: &Simulation<StopAndWait>) -> impl PartialEq + std::fmt::Debug {
    let flows = (0..sim.flow_count() as u32).map(FlowId);
    let flows: Vec<_> = flows.map(|flow| (sim.flow_result(flow), sim.standing(flow))).collect();
    let links: Vec<_> = sim.links().map(|(_, _, counters)| counters).collect();
    let totals = (sim.now(), sim.events(), sim.packet_hops(), sim.network.pool.live());
    (flows, links, totals)
}

/// `q-r` is fed by two links, and what `r-s` gets comes over it alone; back from s, all links are fed
/// by one.
#[test]
fn links_whose_packets_have_one_way_on_are_elided() {
    let elided = |sim: &Simulation<StopAndWait>| {
        let links = sim.network.links.iter().zip(&sim.link_names);
        let links = links.filter(|(link, _)| link.is_elided());
        links.map(|(_, name)| name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(elided(&network(2, forth())), ["q-r", "s-r", "r-q"]);
    // With the flow from c alone, its first link too.
    assert_eq!(elided(&network(1, forth())), ["c-q", "q-r", "s-r", "r-q"]);
    // One that draws, and the one that leads to it.
    let kind = ImpairmentKind::Bernoulli { rate: 0.02 };
    let lossy = ImpairmentConfig { kind, at: Position::Ingress };
    let lossy = LinkConfig { impairments: vec![lossy], ..forth() };
    assert_eq!(elided(&network(1, lossy)), ["s-r", "r-q"]);
    let mut watched = network(2, forth());
    watched.enable_trace_hash();
    assert!(elided(&watched).is_empty());
}

#[test]
fn all_that_can_be_read_is_the_same_at_any_date() {
    for flows in [1, 9, 20] {
        let (mut sim, mut watched) = (network(flows, forth()), network(flows, forth()));
        watched.attach(ConservationChecker::new());
        for step in 1..400_u64 {
            let at = Time::ZERO + Span::from_micros(step * 371);
            sim.run_until(at);
            watched.run_until(at);
            assert_eq!(state(&sim), state(&watched), "{flows} flows at {at}");
            assert!(sim.links().all(|(_, _, counters)| counters.is_conserved()));
        }
        let end = Time::ZERO + Span::from_secs(60);
        assert_eq!(sim.run_to_completion(end), watched.run_to_completion(end));
        assert_eq!(state(&sim), state(&watched));
        let dropped = sim.link_counters(LinkId(3)).dropped_queue;
        assert_eq!(dropped > 0, flows > 1, "r-s drops what q-r brings too fast");
    }
}

#[test]
fn the_clock_stops_at_the_last_arrival_that_was_no_event() {
    for limit in (1..60_000).step_by(997) {
        let limit = Time::ZERO + Span::from_micros(limit);
        let (mut sim, mut watched) = (network(9, forth()), network(9, forth()));
        watched.attach(ConservationChecker::new());
        assert_eq!(sim.run_to_completion(limit), watched.run_to_completion(limit));
        assert_eq!(state(&sim), state(&watched), "up to {limit}");
    }
}

#[test]
#[should_panic(expected = "before the first event")]
fn who_hears_of_packets_comes_in_time() {
    let mut sim = network(1, forth());
    sim.run_until(Time::ZERO + MS(1));
    sim.enable_trace_hash();
}
