//! Attacks on a kernel's stack; skipped where the machine lets nobody have hosts of their own.
#![cfg(target_os = "linux")]

use anabranch_live::ExternalHost;
use anabranch_scenario::Scenario;
use anabranch_scenario::live::{LiveOptions, live};

/// RFC 5461 §4.1: an error about an established connection is soft. The kernel tells the
/// socket's user of it, and the transfer goes on.
#[test]
fn forged_errors_do_not_end_a_kernels_connection() {
    if let Err(missing) = ExternalHost::probe() {
        return eprintln!("skipped: {missing}");
    }
    let text = r#"
        hosts = ["client", { name = "server", external = true }, "mallory"]
        routers = ["r"]
        duration = "1500 ms"
        links = [
            { ends = ["client", "r"], rate = "50 Mbit/s", delay = "1 ms" },
            { ends = ["mallory", "r"], rate = "50 Mbit/s", delay = "1 ms" },
            { ends = ["server", "r"], rate = "50 Mbit/s", delay = "1 ms" },
        ]
        [[flows]]
        name = "f"
        from = "client"
        to = "server"
        size = "0 B"
        reverse_size = "50 MB"
        [[attacks]]
        name = "icmp"
        kind = "icmp-unreachable"
        from = "mallory"
        to = "server"
        flow = "f"
        aim = "exact"
        per_second = 1000
        start = "200 ms"
        duration = "200 ms"
    "#;
    let scenario = Scenario::from_toml(text, "t").unwrap();
    let result = live(&scenario, &LiveOptions::default(), |_| {}).unwrap().result;
    assert!(result.attacks[0].result.packets > 100);
    let flow = &result.flows[0];
    assert_eq!((flow.closed, flow.wrong_octets), (None, 0));
    assert!(flow.reverse_bytes > 5_000_000, "{flow:?}");
}
