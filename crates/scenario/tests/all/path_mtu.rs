//! Paths that carry less than their ends think.

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};

/// A flow of 5 MB whose path carries 1400 octets in its middle.
fn through_a_tunnel(head: &str, tcp: &str) -> RunResult {
    carried_by("tcp", head, tcp)
}

fn carried_by(protocol: &str, head: &str, tcp: &str) -> RunResult {
    let text = format!(
        "{head}\nhosts = [\"a\", \"b\"]\nrouters = [\"r\"]\nduration = \"60 s\"\n\
         [[links]]\nends = [\"a\", \"r\"]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n\
         [[links]]\nends = [\"r\", \"b\"]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\nmtu = \"1400 B\"\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nsize = \"5 MB\"\n\
         protocol = \"{protocol}\"\ntcp = {{ {tcp} }}\n"
    );
    let scenario = Scenario::from_toml(&text, "tunnel").unwrap();
    run(&scenario, &RunOptions::default()).unwrap()
}

/// RFC 4821: no router says a word, and nevertheless the flow ends.
#[test]
fn probing_needs_no_word_from_routers() {
    let silent = through_a_tunnel("", "").flows.remove(0);
    assert_eq!((silent.bytes, silent.finish_s), (0, None));
    let told = through_a_tunnel("icmp = true", "").flows[0].finish_s.unwrap();
    // Timeouts of 1 s and 2 s come before a black hole is suspected.
    for (mode, most) in [("always", told * 1.2), ("black-hole", told * 1.5 + 3.0)] {
        let row = through_a_tunnel("", &format!("mtu_probing = \"{mode}\""));
        let finish = row.flows[0].finish_s.unwrap();
        assert!(finish < most, "{mode}: {finish} s, {told} s with ICMP");
    }
}

/// RFC 1812 §4.3.2.8: ten segments of the initial window are too big, and the
/// router says so as often as it may.
#[test]
fn a_limit_keeps_errors_back_and_one_is_enough() {
    let all = through_a_tunnel("icmp = true", "");
    let strict = "icmp = { destination = { interval = \"1 s\", burst = 6 } }";
    let limited = through_a_tunnel(strict, "");
    let finish = |run_result: &RunResult| run_result.flows[0].finish_s.unwrap();
    assert_eq!((all.run.icmp_withheld, limited.run.icmp_withheld), (0, 4));
    assert_eq!(finish(&all), finish(&limited), "the first one is enough");
    let linux = through_a_tunnel("icmp = \"linux\"", "");
    assert_eq!(linux.run.icmp_withheld, 0, "packets too big are exempt");
}

/// The keys of Multipath TCP ride on the first data until the peer has answered, and are
/// longer than a DSS: what leaves again is cut for them too (RFC 8684 §3.1).
#[test]
fn a_router_is_heard_before_the_keys_are_confirmed() {
    let finish = |protocol| carried_by(protocol, "icmp = true", "").flows[0].finish_s.unwrap();
    let (multipath, tcp) = (finish("mptcp"), finish("tcp"));
    assert!((multipath / tcp - 1.0).abs() < 0.05, "{multipath} s, TCP {tcp} s");
}
