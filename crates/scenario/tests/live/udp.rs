//! UDP: sockets of kernels and ours, in all combinations.

use crate::support::{machine, run};

/// Probes between our host and a kernel's, and a stream between two kernels, over a link that loses
/// every tenth packet.
#[test]
fn datagrams_cross_between_kernels_and_ours() {
    if !machine() {
        return;
    }
    let run = run(r#"
        duration = "3 s"
        hosts = ["ours", { name = "kernel", external = true }, { name = "other", external = true }]
        routers = ["r"]
        [[links]]
        ends = ["ours", "r"]
        rate = "100 Mbit/s"
        delay = "10 ms"
        [[links]]
        ends = ["kernel", "r"]
        rate = "100 Mbit/s"
        delay = "5 ms"
        [[links]]
        name = "lossy"
        ends = ["r", "other"]
        rate = "100 Mbit/s"
        delay = "5 ms"
        impairments = [{ kind = "periodic", every = 10 }]
        [[flows]]
        name = "to-kernel"
        from = "ours"
        to = "kernel"
        protocol = "udp"
        traffic = { kind = "ping", interval = "20 ms", count = 100, size = "200 B" }
        [[flows]]
        name = "from-kernel"
        from = "kernel"
        to = "ours"
        protocol = "udp"
        traffic = { kind = "voip" }
        [[flows]]
        name = "stream"
        from = "kernel"
        to = "other"
        protocol = "udp"
        traffic = { kind = "constant", rate = "800 kbit/s", chunk = "1000 B" }
        "#);
    let of = |name: &str| {
        let row = run.result.datagrams.iter().find(|row| row.flow == name);
        row.unwrap_or_else(|| panic!("{name}: no datagrams")).summary
    };
    let echoes = of("to-kernel.reverse");
    assert_eq!((echoes.sent, echoes.received), (100, 100));
    let round_trip = echoes.round_trip.expect("echoes came");
    // Twice 15 ms, and what two kernels and the loop take.
    assert!(round_trip.p50 >= 0.030 && round_trip.p50 < 0.045, "{round_trip:?}");
    for way in ["from-kernel", "from-kernel.reverse"] {
        let call = of(way);
        assert!(call.sent >= 140 && call.losses.lost == 0, "{way}: {call:?}");
        let quality = call.call.and_then(|call| call.quality).expect("it was heard");
        assert!(quality.mos > 4.0, "{quality:?}");
    }
    let stream = of("stream");
    let lost = stream.losses.lost as f64 / stream.sent as f64;
    assert!(stream.sent >= 280 && (0.08..0.12).contains(&lost), "{stream:?}");
    assert!(run.result.flows.iter().all(|flow| flow.wrong_octets == 0), "{:?}", run.result.flows);
    assert!(run.ports.iter().all(|port| port.counters.refused == 0), "{:?}", run.ports);
}
