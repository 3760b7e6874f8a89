//! Hosts that stand outside.

use super::*;

fn datagram(src: Addr, dst: Addr, len: u32) -> Packet {
    Packet::new(src, dst, Body::Other { protocol: 17, payload: Payload::virtual_of(len) })
}

/// What two hosts outside send each other crosses the links at the dates of the
/// closed form and leaves.
#[test]
fn packets_enter_and_leave() {
    let mut builder = Builder::new();
    let [a, b] = line(&mut builder, &config(), Seed::default());
    builder.outside(a);
    builder.outside(b);
    let (of_a, of_b) = (builder.addr(a), builder.addr(b));
    let mut sim = builder.build().unwrap();
    let checker = sim.attach(ConservationChecker::new());
    assert_eq!(sim.next_event(), Time::NEVER);

    let start = Time::ZERO + MS(7);
    sim.run_until(start);
    for len in [980, 480] {
        sim.enter(a, datagram(of_a, of_b, len));
    }
    // To nobody: it reaches no link.
    sim.enter(b, datagram(of_b, Addr(99), 10));
    assert_eq!(sim.node_drops().no_route, 1);

    let mut left = Vec::new();
    while sim.next_event() != Time::NEVER {
        let next = sim.next_event();
        sim.run_until(next);
        left.extend(sim.departures().map(|it| (it.at, it.node, it.packet)));
    }
    // Two hops of 10 ms; 1000 octets are a millisecond, the second packet waits
    // for the first at the first hop.
    let first = start + MS(22);
    let at_router = datagram(of_a, of_b, 0).ttl - 1;
    let expected = |at, len| (at, b, Packet { ttl: at_router, ..datagram(of_a, of_b, len) });
    assert_eq!(left, [expected(first, 980), expected(first + Span::from_micros(500), 480)]);
    assert_eq!(sim.departures().count(), 0);
    assert!(sim.observer(checker).events() > 0);
}

/// An endpoint at a host outside that is handed the departures by itself makes
/// the same run as one inside.
#[test]
fn whoever_drives_it_decides_what_an_endpoint_outside_hears() {
    let run = |is_outside: bool| {
        let mut builder = Builder::new();
        let ends = line(&mut builder, &everything_wrong(), Seed { seed: 5, replication: 0 });
        let flow = builder.flow(FlowSpec { octets: true, ..spec(&builder, ends, 80, 100_000) });
        if is_outside {
            builder.outside(ends[1]);
        }
        let mut sim = builder.build().unwrap();
        sim.enable_trace_hash();
        while sim.next_event() != Time::NEVER {
            let next = sim.next_event();
            sim.run_until(next);
            let left: Vec<_> = sim.departures().collect();
            assert!(is_outside || left.is_empty());
            for it in left {
                assert_eq!((it.node, it.at), (ends[1], sim.now()));
                let hear = |endpoint: &mut StopAndWait| endpoint.handle_input(it.at, &it.packet);
                sim.with_endpoint(flow, Side::Server, hear);
            }
        }
        let result = sim.flow_result(flow);
        assert_eq!((result.bytes, result.wrong_octets), (100_000, 0));
        assert!(sim.link_counters(LinkId(0)).dropped_loss > 0);
        (sim.trace_hash(), result)
    };
    assert_eq!(run(true), run(false));
}
