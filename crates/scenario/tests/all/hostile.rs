//! Hosts that listen to strangers, and attacks on them: what honest flows keep.

use anabranch_scenario::{Aim, FlowRow, Kind, RunOptions, RunResult, Scenario, run};

/// A server, a client and an attacker at one router; the way to the server is the
/// bottleneck.
const NETWORK: &str = r#"
    hosts = ["client", "server", "mallory"]
    routers = ["r"]
    duration = "4 s"
    links = [
        { ends = ["client", "r"], rate = "100 Mbit/s", delay = "5 ms" },
        { ends = ["mallory", "r"], rate = "100 Mbit/s", delay = "5 ms" },
        { ends = ["r", "server"], rate = "20 Mbit/s", delay = "5 ms", queue = { limit = "100 packets" } },
    ]
"#;

fn play(rest: &str) -> RunResult {
    let scenario = Scenario::from_toml(&format!("{NETWORK}{rest}"), "hostile.toml")
        .unwrap_or_else(|e| panic!("{e}"));
    let resolved = scenario.resolved_toml();
    assert_eq!(Scenario::from_toml(&resolved, "again").as_ref(), Ok(&scenario), "{resolved}");
    run(&scenario, &RunOptions { check: true, ..RunOptions::default() }).unwrap()
}

fn refused(rest: &str) -> String {
    Scenario::from_toml(&format!("{NETWORK}{rest}"), "hostile.toml").unwrap_err().to_string()
}

/// Flows that open one after the other, at a port that listens.
fn flows(protocol: &str) -> String {
    format!(
        "[[flows]]\nname = \"f\"\nfrom = \"client\"\nto = \"server\"\nport = 80\nsize = \"20 kB\"\n\
         count = 5\narrivals = {{ per_second = 2 }}\nprotocol = \"{protocol}\"\n"
    )
}

fn listen(protocol: &str, rest: &str) -> String {
    format!("[[listen]]\nhost = \"server\"\nport = 80\nprotocol = \"{protocol}\"\n{rest}\n")
}

#[test]
fn flows_are_accepted_where_a_port_listens() {
    for protocol in ["tcp", "sctp", "mptcp"] {
        let result = play(&(listen(protocol, "") + &flows(protocol)));
        for flow in &result.flows {
            assert!(flow.bytes == 20_000 && flow.finish_s.is_some(), "{protocol}: {flow:?}");
        }
        let [port] = &result.listeners[..] else { panic!("one port") };
        assert_eq!((port.result.accepted, port.result.strangers), (5, 0), "{protocol}");
        assert!(port.result.report.half_open <= 1, "{protocol}");
    }
}

/// RFC 4987 §3.6: with cookies the port takes no more memory than its queue has room
/// for, and whoever is really there is let in.
#[test]
fn a_flood_of_syns_fills_the_queue_and_cookies_let_others_in() {
    let flood = "[[attacks]]\nname = \"flood\"\nkind = \"syn-flood\"\nfrom = \"mallory\"\n\
                 to = \"server\"\nport = 80\nper_second = 3000\n";
    let mut done = Vec::new();
    for (protocol, cookies) in
        [("tcp", "off"), ("tcp", "when-full"), ("mptcp", "off"), ("mptcp", "when-full")]
    {
        let port = listen(protocol, &format!("cookies = \"{cookies}\""));
        let result = play(&(port + &flows(protocol) + flood));
        let finished = result.flows.iter().filter(|flow| flow.finish_s.is_some()).count();
        done.push(finished);
        let [port] = &result.listeners[..] else { panic!("one port") };
        assert_eq!(port.result.peak_half_open, 256, "{cookies}");
        assert!(result.attacks[0].result.packets > 11_000);
        // What is answered comes back to the attacker.
        let answers = result.attacks[0].result.answers;
        let report = port.result.report;
        match cookies {
            "off" => assert!(report.dropped > 10_000 && answers < 2_000, "{report:?} {answers}"),
            _ => assert!(report.cookies_accepted >= 4 && answers > 10_000, "{report:?} {answers}"),
        }
        assert!(port.result.peak_memory < 1_000_000, "{}", port.result.peak_memory);
    }
    assert!(done[0] <= 1 && done[1] == 5 && done[2] <= 1 && done[3] == 5, "{done:?}");
}

/// Who ends the handshake and is silent takes a place among those accepted, until these
/// are as many as the port has.
#[test]
fn connections_of_strangers_are_limited() {
    let flood = "[[attacks]]\nname = \"flood\"\nkind = \"connection-flood\"\nfrom = \"mallory\"\n\
                 to = \"server\"\nport = 80\nper_second = 500\naddresses = 50\n";
    for (protocol, flood) in
        [("tcp", flood.to_owned()), ("sctp", flood.replace("connection-", "association-"))]
    {
        let limits = "connections = 100\nbacklog = 20\nrespond = \"10 kB\"";
        let result = play(&(listen(protocol, limits) + &flood));
        let [port] = &result.listeners[..] else { panic!("one port") };
        let result = port.result;
        assert_eq!(
            (result.strangers, result.report.waiting, result.accepted),
            (100, 20, 100),
            "{protocol}"
        );
        assert!(result.report.overflows > 0, "{protocol}");
        // What was written waits for ACKs that do not come: the initial window, at most.
        let most = 120 * 20_000;
        assert!(
            (100_000..most).contains(&result.peak_memory),
            "{protocol}: {}",
            result.peak_memory
        );
    }
}

#[test]
fn wrong_ports_and_attacks_are_named() {
    let port = listen("tcp", "");
    let attack = |fields: &str| {
        format!("[[attacks]]\nname = \"x\"\nfrom = \"mallory\"\nto = \"server\"\n{fields}\n")
    };
    let all = port.clone() + &flows("tcp");
    for (text, expected) in [
        (
            port.replace("server", "nobody"),
            "field `listen[0].host`: value `nobody`: allowed: a host: client, server, mallory",
        ),
        (
            port.clone() + &port.replace("port = 80", "name = \"b\"\nport = 80"),
            "field `listen[1].port`: value `80`: allowed: a port of its own",
        ),
        (
            port.clone() + &flows("mptcp"),
            "field `flows[0].protocol`: value `mptcp`: allowed: tcp, as the port 80 of server",
        ),
        (
            flows("sctp"),
            "field `flows[0].port`: value `80`: allowed: none in a flow over SCTP, unless its host listens there",
        ),
        (
            listen("sctp", "sctp = { inbound_streams = 2 }")
                + "[[flows]]\nname = \"f\"\nfrom = \"client\"\nto = \"server\"\nport = 80\n\
                   protocol = \"sctp\"\ntraffic = { kind = \"messages\", count = 5, streams = 3 }\n",
            "field `flows[0].traffic.streams`: value `3`: allowed: at most 2, for the port 80",
        ),
        (
            listen("sctp", "sctp = { receive_buffer = \"1500 B\" }")
                + &flows("sctp")
                + "sctp = { mtu = \"9000 B\" }\n",
            "field `flows[0].port`: value `port 80, 8952 B a chunk`: allowed: chunks of at most 1500 B",
        ),
        (
            listen("sctp", "half_open = 3"),
            "field `listen[0].half_open`: value `3`: allowed: none over SCTP",
        ),
        (
            listen("sctp", "cookies = \"off\""),
            "field `listen[0].cookies`: value `off`: allowed: none over SCTP",
        ),
        (
            all.clone() + &attack("kind = \"smurf\""),
            "field `attacks[0].kind`: value `smurf`: allowed: syn-flood, connection-flood",
        ),
        (
            all.clone() + &attack("kind = \"syn-flood\""),
            "field `attacks[0].port` is required: the port under attack",
        ),
        (
            all.clone() + &attack("kind = \"syn-flood\"\nport = 80\nper_second = 0"),
            "field `attacks[0].per_second`: value `0`: allowed: a number above 0",
        ),
        (
            all.clone() + &attack("kind = \"blind-reset\"\nflow = \"g\""),
            "field `attacks[0].flow`: value `g`: allowed: a flow: f-0",
        ),
        (
            all.clone() + &attack("kind = \"blind-abort\"\nflow = \"f\""),
            "field `attacks[0].flow`: value `f`: allowed: a flow over sctp for blind-abort",
        ),
        (
            all.clone()
                + &attack("kind = \"blind-reset\"\nflow = \"f\"")
                    .replace("to = \"server\"\nkind", "to = \"mallory\"\nkind"),
            "field `attacks[0].to`: value `mallory`: allowed: another host than `from`",
        ),
        (
            all.clone()
                + "[[attacks]]\nname = \"x\"\nfrom = \"server\"\nkind = \"ack-division\"\nflow = \"f\"\n",
            "field `attacks[0].from`: value `server`: allowed: the client of the flow f (client)",
        ),
    ] {
        let said = refused(&text);
        assert!(said.contains(expected), "{said}\n{expected}");
    }
}

/// Every example runs as it stands, keeps its packets, and is resolved to the same; what a
/// blind attacker and a flood leave of honest flows is all of them.
#[test]
fn the_examples_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/attacks");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    // Those of numbers that go through zero have tests of their own (hostile_wraps.rs).
    files.retain(|path| !path.display().to_string().contains("wraps-"));
    assert!(files.len() >= 15);
    for path in files {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).unwrap().replace("\"10 s\"", "\"5 s\"");
        let whole = Scenario::from_toml(&text, &name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(Scenario::from_toml(&whole.resolved_toml(), "again").as_ref(), Ok(&whole));
        let options = RunOptions { trace_hash: true, ..RunOptions::default() };
        for attack in &whole.attacks {
            let scenario = Scenario { attacks: vec![attack.clone()], ..whole.clone() };
            let result = run(&scenario, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
            let is_done =
                |flow_row: &FlowRow| flow_row.finish_s.is_some() || flow_row.start_s > 3.0;
            let mut shorts = result.flows.iter().filter(|flow| flow.flow.starts_with("short"));
            let hogs = attack.kind == Kind::OptimisticAck;
            assert!(hogs || shorts.all(is_done), "{name}: {}", attack.name);
            let long = result.flows.iter().find(|flow| flow.flow == "long").unwrap();
            let is_blind = matches!(attack.aim, Aim::Sweep | Aim::Random);
            assert!(
                !is_blind || long.closed.is_none() && long.wrong_octets == 0,
                "{}",
                attack.name
            );
        }
    }
}

/// An ICMP error about a flow, from an address that no host has, is a packet of the flow like others where its packets are
/// observed.
#[test]
fn a_forged_sender_has_a_name_in_series() {
    let text = r#"
        duration = "2 s"
        hosts = ["a", "b", "m"]
        links = [
            { ends = ["a", "b"], rate = "100 kbit/s", delay = "1 ms" },
            { ends = ["m", "b"], rate = "100 kbit/s", delay = "1 ms" },
        ]
        flows = [{ name = "f", from = "a", to = "b", protocol = "mptcp" }]
        observe = [{ what = "packets" }]
        [[attacks]]
        name = "x"
        kind = "icmp-unreachable"
        flow = "f"
        from = "m"
        to = "b"
        addresses = 1
    "#;
    let scenario = Scenario::from_toml(text, "forged.toml").unwrap();
    let result = anabranch_scenario::run(&scenario, &RunOptions::default()).unwrap();
    assert!(result.series.iter().any(|series| series.name.contains("forged")));
}
