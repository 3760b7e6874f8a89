//! Transfers that stand still are told from those that take their time.

use super::*;

const END: Time = Time::from_picos(100_000_000_000_000); // 100 s

/// A transfer of 5000 octets by an endpoint with such a flaw; every packet from `lost_from` on is
/// lost.
fn play(flaw: Option<Flaw>, lost_from: Option<Span>) -> (Simulation<StopAndWait>, FlowId) {
    let mut builder = Builder::new();
    let outage = lost_from.map(|start| ImpairmentConfig {
        kind: ImpairmentKind::Outage(OutageConfig {
            intervals: vec![(start, Span::from_secs(1000))],
            period: None,
        }),
        at: Position::Ingress,
    });
    let forth = LinkConfig { impairments: outage.into_iter().collect(), ..config() };
    let ends = line(&mut builder, &forth, Seed::default());
    let mut spec = spec(&builder, ends, 80, 5000);
    spec.client_endpoint.flaw = flaw.filter(|flaw| *flaw == Flaw::NoTimer);
    spec.server_endpoint.flaw = flaw.filter(|flaw| *flaw == Flaw::Loses);
    spec.start = Time::ZERO + MS(1);
    let flow = builder.flow(spec);
    (builder.build().unwrap(), flow)
}

#[test]
fn a_transfer_is_not_started_waits_and_is_complete() {
    let (mut sim, flow) = play(None, None);
    assert_eq!(sim.standing(flow), Standing::NotStarted);
    sim.run_until(Time::ZERO + MS(100));
    assert!(matches!(sim.standing(flow), Standing::Waiting(due) if due > sim.now()));
    sim.run_until(END);
    assert_eq!(sim.standing(flow), Standing::Complete);
}

/// A retransmission timer goes on although nothing arrives; without one nothing ever would.
#[test]
fn without_a_timer_a_loss_is_a_stall() {
    for (flaw, stalls) in [(None, false), (Some(Flaw::NoTimer), true)] {
        let (mut sim, flow) = play(flaw, Some(MS(100)));
        sim.run_until(Time::ZERO + MS(95));
        assert_ne!(sim.standing(flow), Standing::Stalled, "its packets are in the network");
        sim.run_until(Time::ZERO + Span::from_secs(50));
        assert_eq!(sim.standing(flow) == Standing::Stalled, stalls);
        assert_eq!(matches!(sim.standing(flow), Standing::Waiting(_)), !stalls);
    }
}

#[test]
#[should_panic(expected = "a transfer that ends normally is whole: flow f, 5000 of 5000 octets")]
fn a_normal_end_with_octets_missing_is_impossible() {
    play(Some(Flaw::Loses), None).0.run_until(END);
}
