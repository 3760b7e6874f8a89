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
        left.extend(
            sim.departures()
                .map(|departure| (departure.at, departure.node, departure.packet.clone())),
        );
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
            let left: Vec<_> = sim
                .departures()
                .map(|departure| (departure.node, departure.at, departure.packet.clone()))
                .collect();
            assert!(is_outside || left.is_empty());
            for (node, at, packet) in left {
                assert_eq!((node, at), (ends[1], sim.now()));
                let hear = |endpoint: &mut StopAndWait| endpoint.handle_input(at, &packet);
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

/// Two streams that begin together are written in pieces, turn by turn, and arrive whole; packets
/// have their turn between. Nobody writes beyond a piece before [`Simulation::write_on`].
#[test]
fn streams_are_written_in_pieces_in_turn() {
    let mut builder = Builder::new();
    let ends = line(&mut builder, &config(), Seed::default());
    let outside = builder.host("outside");
    builder.outside(outside);
    let flows = [(80, 2_500), (81, 1_000)].map(|(port, bytes)| {
        builder.flow(FlowSpec { octets: true, ..spec(&builder, ends, port, bytes) })
    });
    let mut sim = builder.build().unwrap();
    sim.write_in_pieces(1_000, 1_000);
    let written =
        |sim: &Simulation<StopAndWait>| flows.map(|flow| sim.endpoint(flow, Side::Client).end);
    sim.run_until(Time::ZERO);
    assert_eq!(written(&sim), [1_000, 1_000], "a whole piece, and all");
    let mut seen = Vec::new();
    while sim.has_rest() {
        sim.write_on();
        seen.push(written(&sim));
    }
    assert_eq!(seen, [[2_000, 1_000], [2_500, 1_000]]);
    sim.write_on(); // nobody waits
    sim.run_to_completion(Time::NEVER);
    for (flow, bytes) in flows.into_iter().zip([2_500, 1_000]) {
        let result = sim.flow_result(flow);
        assert_eq!((result.bytes, result.wrong_octets), (bytes, 0));
    }
    // Whoever has waited longest is next, and nobody waits twice.
    let mut builder = Builder::new();
    let ends = line(&mut builder, &config(), Seed::default());
    builder.outside(ends[1]);
    let flows = [80, 81]
        .map(|port| builder.flow(FlowSpec { octets: true, ..spec(&builder, ends, port, 4_000) }));
    let mut sim = builder.build().unwrap();
    sim.write_in_pieces(1_000, 1_000);
    sim.run_until(Time::ZERO);
    let mut seen = Vec::new();
    for _ in 0..5 {
        // Its endpoint has room again: the application writes, and waits where it waited.
        let room = |endpoint: &mut StopAndWait| endpoint.events.push_back(Event::Writable);
        sim.with_endpoint(flows[0], Side::Client, room);
        sim.write_on();
        seen.push(flows.map(|flow| sim.endpoint(flow, Side::Client).end));
    }
    // The turn of one that has written all in between is nobody's.
    let turns = [[3_000, 1_000], [4_000, 2_000], [4_000, 2_000], [4_000, 3_000], [4_000, 4_000]];
    assert_eq!(seen, turns);
    assert!(!sim.has_rest());
}

/// What applications write in a turn is shared by those that wait, down to a least piece.
#[test]
fn those_that_wait_share_a_turn() {
    let mut builder = Builder::new();
    let ends = line(&mut builder, &config(), Seed::default());
    builder.outside(ends[1]);
    let flows: Vec<FlowId> = (80..84)
        .map(|port| builder.flow(FlowSpec { octets: true, ..spec(&builder, ends, port, 4_000) }))
        .collect();
    let mut sim = builder.build().unwrap();
    sim.write_in_pieces(1_200, 500);
    sim.run_until(Time::ZERO);
    let written = |sim: &Simulation<StopAndWait>| {
        flows.iter().map(|flow| sim.endpoint(*flow, Side::Client).end).collect::<Vec<_>>()
    };
    assert_eq!(written(&sim), [1_200, 600, 500, 500], "by one, two, three and four");
    while sim.has_rest() {
        sim.write_on();
    }
    assert_eq!(written(&sim), [4_000; 4]);
}
