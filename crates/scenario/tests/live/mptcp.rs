//! Live runs of Multipath TCP: our connections and the kernel's, over two paths
//! that join nothing else.

use crate::support::{machine, run};
use anabranch_scenario::live::LiveResult;

/// A transfer between two hosts with two interfaces each.
struct Case {
    name: String,
    /// Who is a kernel: the sender, which opens the connection, and the receiver.
    kernels: [bool; 2],
    window: &'static str,
    /// Further fields of the second path's link.
    second: &'static str,
    bytes: u64,
}

fn case(name: &str, kernels: [bool; 2], window: &'static str) -> Case {
    Case { name: name.to_owned(), kernels, window, second: "", bytes: 1_500_000 }
}

/// All of them side by side: two links of 5 Mbit/s and 10 ms for each.
fn text(cases: &[Case]) -> String {
    let (mut hosts, mut rest) = (String::new(), String::new());
    for (i, it) in cases.iter().enumerate() {
        for (host, external) in ["a", "b"].into_iter().zip(it.kernels) {
            hosts += &format!(
                "{{ name = \"{host}{i}\", interfaces = [\"x\", \"y\"], external = {external} }},"
            );
        }
        for (path, more) in [("x", ""), ("y", it.second)] {
            rest += &format!(
                "[[links]]\nends = [\"a{i}.{path}\", \"b{i}.{path}\"]\nrate = \"5 Mbit/s\"\n\
                 delay = \"10 ms\"\nqueue = {{ limit = \"40 packets\" }}\n{more}\n"
            );
        }
        rest += &format!(
            "[[flows]]\nname = \"{}\"\nfrom = \"a{i}\"\nto = \"b{i}\"\nsize = \"{} B\"\n\
             protocol = \"mptcp\"\ntcp = {{ window = \"{}\", receive_buffer = \"500 kB\" }}\n\
             mptcp = {{ path_manager = \"pairs\" }}\n",
            it.name, it.bytes, it.window
        );
    }
    format!("hosts = [{hosts}]\n{rest}\n[[observe]]\nwhat = \"path_cwnd\"\n")
}

/// Octets that left by each path of a case, of both directions.
fn carried(it: &LiveResult, case: usize) -> [u64; 2] {
    [0, 1].map(|path| {
        let ways = &it.result.links[case * 4 + path * 2..][..2];
        ways.iter().map(|way| way.counters.bytes_delivered).sum()
    })
}

fn check(cases: &[Case], it: &LiveResult) {
    for (i, (case, flow)) in cases.iter().zip(&it.result.flows).enumerate() {
        let paths = carried(it, i);
        assert_eq!((flow.bytes, flow.wrong_octets), (case.bytes, 0), "{flow:?} {paths:?}");
        assert!(flow.finish_s.is_some(), "{flow:?}");
        let least = case.bytes / 10;
        assert!(paths.iter().all(|octets| *octets > least), "{}: {paths:?}", case.name);
    }
}

#[test]
fn streams_cross_over_two_paths_whoever_has_them() {
    if !machine() {
        return;
    }
    let (ours, kernels) = ([false, true], [true, false]);
    let windows = ["reno", "cubic", "lia", "olia", "balia", "wvegas", "mcubic", "mcubic-share"];
    let ours_with = |window: &'static str| case(&format!("ours-{window}"), ours, window);
    let mut cases: Vec<Case> = windows.into_iter().map(ours_with).collect();
    cases.push(case("kernels-cubic", kernels, "cubic"));
    cases.push(case("kernels-reno", kernels, "reno"));
    cases.push(case("both-kernels", [true, true], "cubic"));
    const LOSSY: &str = r#"impairments = [
        { kind = "bernoulli", rate = 0.005 }, { kind = "reorder", probability = 0.02, extra = "12 ms" },
    ]"#;
    cases.push(Case { second: LOSSY, ..case("ours-loss", ours, "lia") });
    cases.push(Case { second: LOSSY, ..case("kernels-loss", kernels, "cubic") });
    let it = run(&text(&cases));
    check(&cases, &it);
    check_kernels(&it, "10.0.0.");
}

/// What the kernels told of their subflows is what crossed the links.
fn check_kernels(it: &LiveResult, addresses: &str) {
    for flow in it.kernel_senders.iter() {
        let row = it.result.flows.iter().find(|row| row.flow == *flow).unwrap();
        let paths: Vec<_> = it.result.paths.iter().filter(|it| it.flow == *flow).collect();
        assert_eq!(paths.len(), 2, "{flow}: {paths:?}");
        let acked: u64 = paths.iter().map(|it| it.bytes).sum();
        // Octets that were sent on both paths count twice, SYNs as one each.
        assert!(acked >= row.bytes && acked < row.bytes + row.bytes / 5, "{flow}: {paths:?}");
        for path in paths {
            assert!(path.cwnd > 0 && path.srtt_s.unwrap() > 0.02 && path.packets > 100, "{path:?}");
            let name = format!("{flow}.{}-{}.path_cwnd", path.from, path.to);
            let series = it.result.series.iter().find(|it| it.name == name);
            let values = &series.unwrap_or_else(|| panic!("{name}")).value;
            assert!(values.iter().any(|it| *it >= 10.0 * 1400.0), "{name}: {values:?}");
        }
        let sockets = it.sockets.iter().filter(|it| it.flow == *flow && it.ends.is_some());
        let locals: Vec<_> = sockets.map(|it| it.ends.unwrap()[0].ip().to_string()).collect();
        assert!(locals.len() >= 2 && locals.iter().all(|it| it.starts_with(addresses)));
        let of_connection = it.sockets.iter().find(|it| it.flow == *flow && it.ends.is_none());
        let fields = &of_connection.unwrap().fields;
        assert!(fields.contains(&("bytes_sent", row.bytes)), "{fields:?}");
    }
}

#[test]
fn both_cross_over_ipv6() {
    if !machine() {
        return;
    }
    let cases = [
        case("ours", [false, true], "lia"),
        case("kernels", [true, false], "cubic"),
        case("both", [true, true], "reno"),
    ];
    let it = run(&format!("ip = 6\n{}", text(&cases)));
    check(&cases, &it);
    check_kernels(&it, "fd00:616e:6162::");
}

/// A path of IPv4 and one of IPv6: the kernel's sockets are of IPv6 and have addresses of
/// IPv4 within them.
#[test]
fn both_cross_over_ipv4_and_ipv6_at_once() {
    if !machine() {
        return;
    }
    let cases = [
        case("ours", [false, true], "lia"),
        case("kernels", [true, false], "cubic"),
        case("both", [true, true], "reno"),
        Case { second: DIES, ..case("ours-dies", [false, true], "lia") },
        Case { second: DIES, ..case("kernels-dies", [true, false], "cubic") },
    ];
    for interfaces in [
        r#"interfaces = ["x", { name = "y", ip = 6 }]"#,
        r#"interfaces = [{ name = "x", ip = 6 }, "y"]"#,
    ] {
        let text = text(&cases).replace(r#"interfaces = ["x", "y"]"#, interfaces);
        assert_eq!(text.matches("ip = 6").count(), 2 * cases.len());
        let it = run(&text);
        check(&cases, &it);
        for (i, case) in cases.iter().enumerate() {
            let [first, second] = carried(&it, i);
            let is_left = case.second == DIES;
            assert!(!is_left || first > 2 * second, "{}: {first} {second}", case.name);
        }
        assert!(it.ports.iter().all(|port| port.counters.refused == 0), "{:?}", it.ports);
        for flow in ["kernels", "both"] {
            let told = it.sockets.iter().filter(|it| it.flow == flow);
            let ends: Vec<_> = told.filter_map(|it| it.ends).collect();
            let has = |ipv4| ends.iter().any(|ends| ends.iter().all(|it| it.is_ipv4() == ipv4));
            assert!(has(true) && has(false), "{flow}: {ends:?}");
        }
    }
}

const DIES: &str = "impairments = [{ kind = \"outage\", intervals = [{ at = \"700 ms\", for = \"1 h\" }] }]\n\
                reverse = { impairments = [{ kind = \"outage\", intervals = [{ at = \"700 ms\", for = \"1 h\" }] }] }";

#[test]
fn a_path_that_dies_is_left() {
    if !machine() {
        return;
    }
    let cases = [("ours", [false, true], "lia"), ("kernels", [true, false], "cubic")];
    let cases =
        cases.map(|(name, kernels, window)| Case { second: DIES, ..case(name, kernels, window) });
    let it = run(&text(&cases));
    check(&cases, &it);
    for (i, flow) in it.result.flows.iter().enumerate() {
        let [first, second] = carried(&it, i);
        assert!(first > 2 * second, "{}: {first} {second}", flow.flow);
    }
}

/// Two kernels and one of ours at one port of our server: each join, from whatever port the
/// kernel opens it, finds its connection.
#[test]
fn kernels_join_their_connections_at_one_port() {
    if !machine() {
        return;
    }
    let names = ["k0", "k1", "o"];
    let (mut hosts, mut rest) = (String::new(), String::new());
    for name in names.into_iter().chain(["s"]) {
        let external = name.starts_with('k');
        hosts += &format!(
            "{{ name = \"{name}\", interfaces = [\"x\", \"y\"], external = {external} }},"
        );
        for path in ["x", "y"] {
            rest += &format!(
                "[[links]]\nends = [\"{name}.{path}\", \"r{path}\"]\nrate = \"10 Mbit/s\"\n\
                 delay = \"5 ms\"\nqueue = {{ limit = \"40 packets\" }}\n"
            );
        }
        if name != "s" {
            rest += &format!(
                "[[flows]]\nname = \"{name}\"\nfrom = \"{name}\"\nto = \"s\"\nport = 4433\n\
                 size = \"1500 kB\"\noctets = true\nprotocol = \"mptcp\"\n\
                 mptcp = {{ path_manager = \"pairs\" }}\n"
            );
        }
    }
    let it = run(&format!("hosts = [{hosts}]\nrouters = [\"rx\", \"ry\"]\n{rest}"));
    for (i, row) in it.result.flows.iter().enumerate() {
        let got = (row.bytes, row.wrong_octets, row.finish_s.is_some(), row.fallback);
        assert_eq!(got, (1_500_000, 0, true, Some(false)), "{row:?}");
        let paths = carried(&it, i);
        assert!(paths.iter().all(|octets| *octets > 150_000), "{}: {paths:?}", row.flow);
    }
}
