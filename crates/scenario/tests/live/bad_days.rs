//! What goes wrong between hosts: packets that are too large on the way.

use crate::support::{machine, run};
use anabranch_scenario::live::LiveResult;

/// Transfers of 300 kB across a router whose second link carries less than the
/// first: a kernel's to a kernel, a kernel's to ours, ours to a kernel.
fn through_a_tunnel(head: &str, mtu: u32) -> LiveResult {
    let mut text = format!("{head}\nhosts = [");
    for (i, ends) in [[true, true], [true, false], [false, true]].into_iter().enumerate() {
        for (name, external) in ["a", "b"].into_iter().zip(ends) {
            text += &format!("{{ name = \"{name}{i}\", external = {external} }}, ");
        }
    }
    text += "]\nrouters = [\"r0\", \"r1\", \"r2\"]\n";
    for i in 0..3 {
        text += &format!(
            "[[links]]\nends = [\"a{i}\", \"r{i}\"]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n\
             [[links]]\nends = [\"r{i}\", \"b{i}\"]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n\
             mtu = \"{mtu} B\"\nreverse = {{ mtu = \"1500 B\" }}\n\
             [[flows]]\nname = \"f{i}\"\nfrom = \"a{i}\"\nto = \"b{i}\"\nsize = \"300 kB\"\n"
        );
    }
    run(&text)
}

/// RFC 1191, RFC 8201: the router drops what is too large and says what fits,
/// and the kernel believes exactly that.
#[test]
fn a_kernel_learns_the_mtu_of_the_path() {
    if !machine() {
        return;
    }
    for head in ["icmp = true", "icmp = true\nip = 6"] {
        let through_a_tunnel = through_a_tunnel(&format!("duration = \"1 s\"\n{head}"), 1400);
        for (i, flow) in through_a_tunnel.result.flows.iter().enumerate() {
            assert_eq!((flow.bytes, flow.wrong_octets), (300_000, 0), "{head}: {flow:?}");
            // Links stand in pairs: there and back.
            let way = &through_a_tunnel.result.links[4 * i + 2].counters;
            assert!((1..=20).contains(&way.dropped_mtu), "{head}, {i}: {way:?}");
        }
        for row in through_a_tunnel.sockets.iter().filter(|row| row.host.starts_with('a')) {
            assert!(row.fields.contains(&("pmtu", 1400)), "{head}, {}: {:?}", row.host, row.fields);
        }
        assert!(
            through_a_tunnel.ports.iter().all(|port| port.counters.refused == 0),
            "{:?}",
            through_a_tunnel.ports
        );
    }
}

/// Where no router says a word what is too large is dropped and counted, on and
/// on, and the run ends when it is told to.
#[test]
fn a_silent_router_is_a_black_hole() {
    if !machine() {
        return;
    }
    let through_a_tunnel = through_a_tunnel("duration = \"1 s\"", 1400);
    for (i, flow) in through_a_tunnel.result.flows.iter().enumerate() {
        assert_eq!((flow.bytes, flow.established), (0, true), "{flow:?}");
        let way = &through_a_tunnel.result.links[4 * i + 2].counters;
        assert!(way.dropped_mtu >= 10, "{i}: {way:?}");
    }
}
