//! Coupled BBR: the paths of a connection over one bottleneck, beside a flow of BBR, and over links of their own.

use super::play;
use anabranch_scenario::RunResult;

/// A connection of so many subflows over one bottleneck of 20 Mbit/s and 44 ms, whose queue holds a bandwidth-delay product,
/// and a flow of the window algorithm `beside` that starts within half a second of it.
fn shared((window, subflows): (&str, usize), beside: &str, seed: u64) -> RunResult {
    let names: Vec<String> = (0..subflows).map(|i| format!("x{i}")).collect();
    let link = |from: &str, to: &str| {
        format!("{{ ends = [\"{from}\", \"{to}\"], rate = \"1 Gbit/s\", delay = \"1 ms\" }},\n")
    };
    let of_paths: String = names
        .iter()
        .map(|name| link(&format!("a.{name}"), "r") + &link("s", &format!("b.{name}")))
        .collect();
    let flow = |name: &str, from: &str, to: &str, more: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
             start_spread = \"500 ms\"\n{more}\n"
        )
    };
    let tcp = |window: &str| {
        format!(
            "tcp = {{ window = \"{window}\", receive_buffer = \"4 MiB\", recovery = \"rack\" }}"
        )
    };
    play(&format!(
        "duration = \"60 s\"\nseed = {seed}\nrouters = [\"r\", \"s\"]\n\
         hosts = [{{ name = \"a\", interfaces = {names:?} }}, \
                  {{ name = \"b\", interfaces = {names:?} }}, \"c\", \"d\"]\n\
         links = [\n{{ ends = [\"r\", \"s\"], rate = \"20 Mbit/s\", delay = \"20 ms\",\n\
         queue = {{ limit = \"73 packets\" }} }},\n{of_paths}{}{}]\n{}{}",
        link("c", "r"),
        link("s", "d"),
        flow(
            "m",
            "a",
            "b",
            &format!(
                "protocol = \"mptcp\"\nmptcp = {{ path_manager = \"pairs\" }}\n{}",
                tcp(window)
            ),
        ),
        flow("t", "c", "d", &tcp(beside)),
    ))
}

/// Goodput of the connection over that of the flow `beside`, mean of eight runs; and that of both in the least, in bit/s.
pub(super) fn beside(window: &str, subflows: usize, beside: &str) -> (f64, f64) {
    let (mut ratio, mut least) = (0.0, f64::INFINITY);
    for seed in 1..=8 {
        let flows = shared((window, subflows), beside, seed).flows;
        ratio += flows[0].goodput_bps / flows[1].goodput_bps / 8.0;
        least = least.min(flows[0].goodput_bps + flows[1].goodput_bps);
    }
    (ratio, least)
}

/// The paper's aim, and RFC 6356's second: no more of a bottleneck than one flow. It is met on average, and not in each
/// run: a flow of BBR beside one of BBR has from 0.7 to 1.2 of its goodput. Without coupling, subflows have more each.
#[test]
fn together_the_subflows_are_like_one_flow_of_bbr() {
    for subflows in [2, 3] {
        let ((coupled, used), (uncoupled, _)) =
            (beside("coupled-bbr", subflows, "bbr"), beside("bbr", subflows, "bbr"));
        assert!((0.7..1.4).contains(&coupled), "{subflows}: {coupled}");
        assert!(uncoupled > 1.5 && uncoupled > 1.4 * coupled, "{subflows}: {uncoupled} {coupled}");
        assert!(used > 0.9 * 20e6, "{subflows}: {used}");
    }
}

/// The part of what headers leave of two links of their own, 40 ms and a bandwidth-delay product of queue each.
fn alone(window: &str, rates: [u32; 2]) -> f64 {
    let link = |name: &str, rate: u32| {
        format!(
            "[[links]]\nends = [\"a.{name}\", \"b.{name}\"]\nrate = \"{rate} Mbit/s\"\n\
             delay = \"20 ms\"\nqueue = {{ limit = \"{} packets\" }}\n",
            (rate * 10 / 3).max(20)
        )
    };
    let hosts = "hosts = [{ name = \"a\", interfaces = [\"x\", \"y\"] }, \
                 { name = \"b\", interfaces = [\"x\", \"y\"] }]\n";
    let flow = super::flow(&format!(
        "tcp = {{ window = \"{window}\", receive_buffer = \"8 MiB\", recovery = \"rack\" }}\n\
         mptcp = {{ path_manager = \"pairs\" }}"
    ));
    let links = link("x", rates[0]) + &link("y", rates[1]);
    let result = play(&format!("duration = \"60 s\"\n{hosts}{links}{flow}"));
    let rate = f64::from(rates[0] + rates[1]) * 1e6 * 1428.0 / 1500.0;
    result.flows[0].goodput_bps / rate
}

/// Links whose rates differ are told apart, and used as by BBR without coupling; links of one rate are taken for one that
/// is shared: in six of eight phases each carries half of its rate, in one 3/4, and all of it in one.
#[test]
fn links_of_their_own_are_used_where_their_rates_differ() {
    for rates in [[20, 5], [20, 15]] {
        let (coupled, uncoupled) = (alone("coupled-bbr", rates), alone("bbr", rates));
        assert!(coupled > 0.96 && (coupled / uncoupled - 1.0).abs() < 0.01, "{rates:?}: {coupled}");
    }
    let (coupled, uncoupled) = (alone("coupled-bbr", [20, 20]), alone("bbr", [20, 20]));
    let law = (1.0 + 0.75 + 6.0 * 0.5) / 8.0;
    assert!((coupled - law).abs() < 0.06, "{coupled}, not {law}");
    assert!(uncoupled > 0.96, "{uncoupled}");
}
