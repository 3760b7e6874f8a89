//! Code points of flows, as a capture shows them and queues see them.

use anabranch_scenario::{CaptureOptions, RunOptions, Scenario, run};
use anabranch_testkit::needs;
use std::path::Path;
use std::process::Command;

/// Values of a field in the packets of a capture that match a filter, each once.
fn seen(pcap: &Path, filter: &str, field: &str) -> Vec<String> {
    let output = Command::new("tshark")
        .args(["-n", "-r"])
        .arg(pcap)
        .args(["-Y", filter, "-T", "fields", "-e", field])
        .output()
        .expect("tshark runs");
    let mut found: Vec<_> =
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn text(ip: u8, wash: bool) -> String {
    format!(
        r#"
        ip = {ip}
        duration = "2 s"
        hosts = ["a", "b"]
        links = [{{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "5 ms", queue = {{ kind = "cake", tins = "diffserv4", wash = {wash} }} }}]
        flows = [
            {{ name = "t", from = "a", to = "b", size = "50 kB", tcp = {{ dscp = "af41" }} }},
            {{ name = "m", from = "a", to = "b", size = "50 kB", protocol = "mptcp", tcp = {{ dscp = 10 }} }},
            {{ name = "s", from = "a", to = "b", size = "50 kB", protocol = "sctp", sctp = {{ dscp = "le" }} }},
            {{ name = "u", from = "a", to = "b", protocol = "udp", udp = {{ dscp = "ef" }}, traffic = {{ kind = "constant", rate = "100 kbit/s", chunk = "500 B" }} }},
        ]
        "#
    )
}

#[test]
fn wireshark_sees_the_code_points() {
    if !needs::tshark() {
        return;
    }
    for (ip, version, field, to_b) in [
        (4, "ip", "ip.dsfield.dscp", "ip.dst == 10.0.0.2"),
        (6, "ipv6", "ipv6.tclass.dscp", "ipv6.dst == fd00:616e:6162::2"),
    ] {
        for wash in [false, true] {
            let scenario = Scenario::from_toml(&text(ip, wash), "dscp").unwrap();
            let name = format!("dscp-{version}-{wash}-{}.pcapng", std::process::id());
            let pcap = std::env::temp_dir().join(name);
            let places = vec!["b".to_owned()];
            let capture = CaptureOptions { places, ..CaptureOptions::default() };
            let options = RunOptions { pcap: Some(pcap.clone()), capture, ..RunOptions::default() };
            run(&scenario, &options).unwrap();
            let of = |filter: &str| seen(&pcap, filter, field);
            let arriving = |protocol: &str| of(&format!("{protocol} && {to_b}"));
            if wash {
                assert_eq!(arriving(version), ["0"], "{version}");
            } else {
                assert_eq!(arriving("tcp"), ["10", "34"], "{version}");
                assert_eq!(arriving("sctp"), ["1"], "{version}");
                assert_eq!(arriving("udp"), ["46"], "{version}");
            }
            std::fs::remove_file(&pcap).unwrap();
        }
    }
}

/// What is resolved has numbers.
#[test]
fn names_and_numbers_are_one() {
    let by_name = Scenario::from_toml(&text(4, false), "t").unwrap();
    let again = Scenario::from_toml(&by_name.resolved_toml(), "t").unwrap();
    assert_eq!(by_name, again);
    assert!(by_name.resolved_toml().contains("dscp = 46"));
    let wrong = text(4, false).replace("\"ef\"", "\"express\"");
    let error = Scenario::from_toml(&wrong, "t").unwrap_err().to_string();
    let expected = "field `flows[3].udp.dscp`: value `express`: allowed: a whole number from 0 to 63, or a name";
    assert!(error.contains(expected), "{error}");
}
