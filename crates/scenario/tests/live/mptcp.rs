//! Live runs of Multipath TCP: our connections and the kernel's, over two paths
//! that join nothing else.

use crate::support::{machine, run};
use anabranch_scenario::Scenario;
use anabranch_scenario::live::{LiveOptions, LiveResult, live};

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
    for (i, case) in cases.iter().enumerate() {
        for (host, external) in ["a", "b"].into_iter().zip(case.kernels) {
            hosts += &format!(
                "{{ name = \"{host}{i}\", interfaces = [\"x\", \"y\"], external = {external} }},"
            );
        }
        for (path, more) in [("x", ""), ("y", case.second)] {
            rest += &format!(
                "[[links]]\nends = [\"a{i}.{path}\", \"b{i}.{path}\"]\nrate = \"5 Mbit/s\"\n\
                 delay = \"10 ms\"\nqueue = {{ limit = \"40 packets\" }}\n{more}\n"
            );
        }
        rest += &format!(
            "[[flows]]\nname = \"{}\"\nfrom = \"a{i}\"\nto = \"b{i}\"\nsize = \"{} B\"\n\
             protocol = \"mptcp\"\ntcp = {{ window = \"{}\", receive_buffer = \"500 kB\" }}\n\
             mptcp = {{ path_manager = \"pairs\" }}\n",
            case.name, case.bytes, case.window
        );
    }
    format!("hosts = [{hosts}]\n{rest}\n[[observe]]\nwhat = \"path_cwnd\"\n")
}

/// Octets that left by each path of a case, of both directions.
fn carried(live_result: &LiveResult, case: usize) -> [u64; 2] {
    [0, 1].map(|path| {
        let ways = &live_result.result.links[case * 4 + path * 2..][..2];
        ways.iter().map(|way| way.counters.bytes_delivered).sum()
    })
}

fn check(cases: &[Case], live_result: &LiveResult) {
    for (i, (case, flow)) in cases.iter().zip(&live_result.result.flows).enumerate() {
        let paths = carried(live_result, i);
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
    let run = run(&text(&cases));
    check(&cases, &run);
    check_kernels(&run, "10.0.0.");
}

/// What the kernels told of their subflows is what crossed the links.
fn check_kernels(live_result: &LiveResult, addresses: &str) {
    for flow in live_result.kernel_senders.iter() {
        let row = live_result.result.flows.iter().find(|row| row.flow == *flow).unwrap();
        let paths: Vec<_> =
            live_result.result.paths.iter().filter(|path| path.flow == *flow).collect();
        assert_eq!(paths.len(), 2, "{flow}: {paths:?}");
        let acked: u64 = paths.iter().map(|path| path.bytes).sum();
        // Octets that were sent on both paths count twice, SYNs as one each.
        assert!(acked >= row.bytes && acked < row.bytes + row.bytes / 5, "{flow}: {paths:?}");
        for path in paths {
            assert!(path.cwnd > 0 && path.srtt_s.unwrap() > 0.02 && path.packets > 100, "{path:?}");
            let name = format!("{flow}.{}-{}.path_cwnd", path.from, path.to);
            let series = live_result.result.series.iter().find(|series| series.name == name);
            let values = &series.unwrap_or_else(|| panic!("{name}")).value;
            assert!(values.iter().any(|item| *item >= 10.0 * 1400.0), "{name}: {values:?}");
        }
        let sockets = live_result
            .sockets
            .iter()
            .filter(|socket| socket.flow == *flow && socket.ends.is_some());
        let locals: Vec<_> =
            sockets.map(|socket| socket.ends.unwrap()[0].ip().to_string()).collect();
        assert!(locals.len() >= 2 && locals.iter().all(|local| local.starts_with(addresses)));
        let of_connection =
            live_result.sockets.iter().find(|socket| socket.flow == *flow && socket.ends.is_none());
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
    let run = run(&format!("ip = 6\n{}", text(&cases)));
    check(&cases, &run);
    check_kernels(&run, "fd00:616e:6162::");
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
        let run = run(&text);
        check(&cases, &run);
        for (i, case) in cases.iter().enumerate() {
            let [first, second] = carried(&run, i);
            let is_left = case.second == DIES;
            assert!(!is_left || first > 2 * second, "{}: {first} {second}", case.name);
        }
        assert!(run.ports.iter().all(|port| port.counters.refused == 0), "{:?}", run.ports);
        for flow in ["kernels", "both"] {
            let told = run.sockets.iter().filter(|socket| socket.flow == flow);
            let ends: Vec<_> = told.filter_map(|told| told.ends).collect();
            let has = |ipv4| ends.iter().any(|ends| ends.iter().all(|end| end.is_ipv4() == ipv4));
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
    let run = run(&text(&cases));
    check(&cases, &run);
    for (i, flow) in run.result.flows.iter().enumerate() {
        let [first, second] = carried(&run, i);
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
    let run = run(&format!("hosts = [{hosts}]\nrouters = [\"rx\", \"ry\"]\n{rest}"));
    for (i, row) in run.result.flows.iter().enumerate() {
        let got = (row.bytes, row.wrong_octets, row.finish_s.is_some(), row.fallback);
        assert_eq!(got, (1_500_000, 0, true, Some(false)), "{row:?}");
        let paths = carried(&run, i);
        assert!(paths.iter().all(|octets| *octets > 150_000), "{}: {paths:?}", row.flow);
    }
}

/// A kernel that opens the connection has the subflows of the flow's path manager, whether the
/// peer's addresses are two or the one that it has from the start.
#[test]
fn a_kernel_has_the_subflows_of_the_path_manager() {
    if !machine() {
        return;
    }
    let cases: [(&str, usize, &[&str]); 6] = [
        ("single", 2, &["a.x b.x"]),
        ("full-mesh", 1, &["a.x b.x", "a.y b.x"]),
        ("full-mesh", 2, &["a.x b.x", "a.x b.y", "a.y b.x", "a.y b.y"]),
        ("backup", 1, &["a.x b.x", "a.y b.x"]),
        ("pairs", 1, &["a.x b.x"]),
        ("signal", 2, &["a.x b.x", "a.x b.y"]),
    ];
    let (mut hosts, mut routers, mut rest) = (String::new(), String::new(), String::new());
    for (i, (manager, peers, _)) in cases.iter().enumerate() {
        let of_peer = &["x", "y"][..*peers];
        hosts += &format!(
            "{{ name = \"a{i}\", interfaces = [\"x\", \"y\"], external = true }},\
             {{ name = \"b{i}\", interfaces = {of_peer:?}, external = true }},"
        );
        routers += &format!("\"r{i}\",");
        let ends = ["x", "y"].map(|end| format!("a{i}.{end}")).into_iter();
        for end in ends.chain(of_peer.iter().map(|end| format!("b{i}.{end}"))) {
            rest += &format!(
                "[[links]]\nends = [\"{end}\", \"r{i}\"]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n"
            );
        }
        rest += &format!(
            "[[flows]]\nname = \"f{i}\"\nfrom = \"a{i}\"\nto = \"b{i}\"\nsize = \"400 kB\"\nprotocol = \"mptcp\"\n\
             mptcp = {{ path_manager = \"{manager}\" }}\n"
        );
    }
    let run = run(&format!("hosts = [{hosts}]\nrouters = [{routers}]\n{rest}"));
    for (i, (manager, peers, wanted)) in cases.iter().enumerate() {
        let flow = &run.result.flows[i];
        assert!(flow.finish_s.is_some(), "{flow:?}");
        let number = i.to_string();
        let paths = run.result.paths.iter().filter(|path| path.flow == flow.flow);
        let ends = paths.map(|path| format!("{} {}", path.from, path.to).replace(&number, ""));
        let mut ends: Vec<String> = ends.collect();
        ends.sort();
        assert_eq!(ends, *wanted, "{manager}, {peers} addresses of the peer");
    }
}

/// What its path manager cannot do is refused before anything is set up.
#[test]
fn a_kernel_is_asked_for_no_other_path_manager() {
    let refused = |flows: &str| {
        let text = format!(
            "hosts = [{{ name = \"a\", external = true }}, {{ name = \"b\", external = true }}]\n\
             [[links]]\nends = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{flows}"
        );
        let scenario = Scenario::from_toml(&text, "live.toml").unwrap();
        live(&scenario, &LiveOptions::default(), |_| {}).unwrap_err().to_string()
    };
    let flow = |name: &str, mptcp: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\nsize = \"1 kB\"\nprotocol = \"mptcp\"\n\
             mptcp = {{ {mptcp} }}\n"
        )
    };

    let message = refused(&flow("f", "path_manager = \"n-diffports\""));
    assert!(message.contains("flows[0].mptcp.path_manager"), "{message}");
    assert!(message.contains("that Linux has: \"single\", \"full-mesh\""), "{message}");

    let message = refused(&flow("f", "passive_path_manager = \"full-mesh\""));
    assert!(message.contains("flows[0].mptcp.passive_path_manager"), "{message}");
    assert!(message.contains("Linux opens no subflows there"), "{message}");

    let two = [flow("f", "path_manager = \"pairs\""), flow("g", "path_manager = \"single\"")];
    let message = refused(&two.concat());
    assert!(message.contains("flows[1].mptcp.path_manager"), "{message}");
    assert!(message.contains("one path manager for all"), "{message}");
}
