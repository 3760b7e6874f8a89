//! Paths that carry less than their ends think.

use anabranch_scenario::{FlowRow, RunOptions, Scenario, run};

/// A flow of 5 MB whose path carries 1400 octets in its middle.
fn through_a_tunnel(head: &str, tcp: &str) -> FlowRow {
    let text = format!(
        "{head}\nhosts = [\"a\", \"b\"]\nrouters = [\"r\"]\nduration = \"60 s\"\n\
         [[links]]\nends = [\"a\", \"r\"]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n\
         [[links]]\nends = [\"r\", \"b\"]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\nmtu = \"1400 B\"\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nsize = \"5 MB\"\ntcp = {{ {tcp} }}\n"
    );
    let scenario = Scenario::from_toml(&text, "tunnel").unwrap();
    run(&scenario, &RunOptions::default()).unwrap().flows.remove(0)
}

/// RFC 4821: no router says a word, and nevertheless the flow ends.
#[test]
fn probing_needs_no_word_from_routers() {
    let silent = through_a_tunnel("", "");
    assert_eq!((silent.bytes, silent.finish_s), (0, None));
    let told = through_a_tunnel("icmp = true", "").finish_s.unwrap();
    // Timeouts of 1 s and 2 s come before a black hole is suspected.
    for (mode, most) in [("always", told * 1.2), ("black-hole", told * 1.5 + 3.0)] {
        let row = through_a_tunnel("", &format!("mtu_probing = \"{mode}\""));
        let finish = row.finish_s.unwrap();
        assert!(finish < most, "{mode}: {finish} s, {told} s with ICMP");
    }
}
