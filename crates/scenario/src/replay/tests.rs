use super::*;
use crate::{CaptureEnd, CaptureOptions, RunOptions, Scenario, Snap, run};
use std::path::PathBuf;

/// Long enough for the last ACKs to come back.
const LOSSY: &str = r#"
    duration = "5 s"
    hosts = ["a", "b"]
    routers = ["r"]
    links = [
        { ends = ["a", "r"], rate = "10 Mbit/s", delay = "9 ms", queue = { limit = "30 packets" }, impairments = [
            { kind = "bernoulli", rate = 0.02 }, { kind = "reorder", probability = 0.01, extra = "5 ms" },
        ] },
        { ends = ["r", "b"], rate = "100 Mbit/s", delay = "1 ms" },
    ]
    flows = [
        { name = "f", from = "a", to = "b", size = "600 kB" },
        { name = "g", from = "b", to = "a", size = "100 kB", start = "100 ms" },
    ]
    observe = [{ what = "packets" }, { what = "received" }]
"#;

/// Runs a scenario with a capture at `places`; the run and what the capture tells.
fn captured(text: &str, name: &str, places: &[&str]) -> (crate::RunResult, Replay) {
    let path: PathBuf =
        std::env::temp_dir().join(format!("anabranch-replay-{name}-{}", std::process::id()));
    let scenario = Scenario::from_toml(text, "t").unwrap();
    let places = places.iter().map(|place| (*place).to_owned()).collect();
    let capture = CaptureOptions { places, end: CaptureEnd::Both, snap: Snap::default() };
    let options = RunOptions { pcap: Some(path.clone()), capture, ..RunOptions::default() };
    let result = run(&scenario, &options).unwrap();
    let file = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    (result, replay(&file).unwrap())
}

fn series<'a>(list: &'a [NamedSeries], name: &str) -> &'a NamedSeries {
    let names: Vec<_> = list.iter().map(|item| &item.name).collect();
    list.iter().find(|item| item.name == name).unwrap_or_else(|| panic!("{name}: {names:?}"))
}

/// The recorders of a run saw the packets themselves: the oracle.
#[test]
fn a_capture_of_all_hosts_tells_what_the_run_recorded() {
    for ip in ["ip = 4", "ip = 6"] {
        let (run, told) = captured(&format!("{ip}\n{LOSSY}"), &ip[5..], &[]);
        assert_eq!(told.application, "anabranch");
        for (flow, ours) in [("f", "a:49152-b:49152"), ("g", "b:49153-a:49153")] {
            let row = told.flows.iter().find(|flow| flow.flow == ours);
            let names: Vec<_> = told.flows.iter().map(|flow| flow.flow.as_str()).collect();
            let row = row.unwrap_or_else(|| panic!("{names:?}"));
            let real = run.flows.iter().find(|item| item.flow == flow).unwrap();
            assert_eq!((row.bytes, row.packets > 60, row.established), (real.bytes, true, true));
            assert_eq!(row.retransmitted_packets, real.retransmitted_packets);
            assert!((row.finish_s.unwrap() - real.finish_s.unwrap()).abs() < 1e-8);
            for what in ["sends", "acks", "receives"] {
                let real = series(&run.series, &format!("{flow}.{what}"));
                let told = series(&told.series, &format!("{ours}.{what}"));
                assert_eq!(told.value, real.value, "{flow}.{what}");
                assert_eq!((&told.len, &told.retransmission), (&real.len, &real.retransmission));
                let late = told.time_s.iter().zip(&real.time_s).map(|(a, b)| (a - b).abs());
                assert!(late.fold(0.0, f64::max) < 2e-9, "{flow}.{what}");
            }
            let rtt = series(&told.series, &format!("{ours}.rtt"));
            assert!(rtt.value.iter().all(|item| (0.02..0.2).contains(item)), "{:?}", rtt.value);
        }
        assert!(run.flows[0].retransmitted_packets > 5);
    }
}

#[test]
fn a_capture_of_one_link_shows_packets_in_passing() {
    let (run, told) = captured(LOSSY, "link", &["r-b"]);
    let names: Vec<_> = told.interfaces.iter().map(|interface| interface.name.as_str()).collect();
    assert_eq!(names, ["r-b", "b-r"]);
    let counted: Vec<u64> = told.interfaces.iter().map(|interface| interface.packets).collect();
    assert_eq!(counted, [run.links[2].counters.delivered, run.links[3].counters.delivered]);
    let flow = told.flows.iter().find(|flow| flow.flow == "10.0.0.1:49152-10.0.0.2:49152").unwrap();
    assert_eq!(flow.bytes, 600_000);
    assert!(!told.series.iter().any(|series| series.name.ends_with(".receives")));
    // One direction alone, by its name.
    let (_, told) = captured(LOSSY, "way", &["b-r"]);
    assert_eq!(told.interfaces.len(), 1);
}

#[test]
fn a_capture_of_one_host_has_no_receiver() {
    let (run, told) = captured(LOSSY, "host", &["a"]);
    assert_eq!(told.interfaces[0].name, "a");
    let flow = &told.flows[0];
    assert_eq!((flow.flow.as_str(), flow.bytes), ("a:49152-10.0.0.2:49152", 600_000));
    let sends = series(&told.series, "a:49152-10.0.0.2:49152.sends");
    assert_eq!(sends.value, series(&run.series, "f.sends").value);
}

#[test]
fn a_place_that_is_not_there_is_named() {
    let scenario = Scenario::from_toml(LOSSY, "t").unwrap();
    let pcap = Some(std::env::temp_dir().join("never-written"));
    let places = vec!["c".to_owned()];
    let capture = CaptureOptions { places, ..CaptureOptions::default() };
    let options = RunOptions { pcap, capture, ..RunOptions::default() };
    let error = run(&scenario, &options).unwrap_err().to_string();
    assert!(error.contains("`c`") && error.contains("a, b, a-r, r-a, r-b, b-r"), "{error}");
}

/// Two paths of which the first loses and fails for a while: every lane of the
/// recorder, and the row of the association's data.
const TWO_PATHS: &str = r#"
    duration = "30 s"
    hosts = [{ name = "a", interfaces = ["x", "y"] }, { name = "b", interfaces = ["x", "y"] }]
    links = [
        { ends = ["a.x", "b.x"], rate = "4 Mbit/s", delay = "10 ms", queue = { limit = "20 packets" }, impairments = [
            { kind = "bernoulli", rate = 0.02 },
            { kind = "outage", intervals = [{ at = "1 s", for = "8 s" }] },
        ] },
        { ends = ["a.y", "b.y"], rate = "4 Mbit/s", delay = "20 ms", queue = { limit = "20 packets" } },
    ]
    flows = [{ name = "f", protocol = "sctp", from = "a", to = "b", size = "2 MB", sctp = { path_max_retrans = 1 } }]
    observe = [{ what = "packets" }]
"#;

#[test]
fn a_capture_tells_of_an_association_what_the_run_recorded() {
    for (n, change) in ["", "ip = 6", "sctp"].into_iter().enumerate() {
        // Both kinds of data chunks.
        let more = "sctp = { interleaving = true, ";
        let (top, text) = if change == "sctp" {
            (String::new(), TWO_PATHS.replace("sctp = { ", more))
        } else {
            (change.to_owned(), TWO_PATHS.to_owned())
        };
        let (run, told) = captured(&format!("{top}\n{text}"), &format!("sctp{n}"), &[]);
        assert_eq!((told.flows.len(), told.others), (1, 0));
        let (row, real) = (&told.flows[0], &run.flows[0]);
        assert_eq!((row.flow.as_str(), row.protocol, row.established), ("a-b", "sctp", true));
        assert_eq!((row.bytes, row.finish_s.is_some()), (real.bytes, true));
        assert_eq!(row.retransmitted_packets, real.retransmitted_packets);
        assert!(real.retransmitted_packets > 5);
        assert!((row.finish_s.unwrap() - real.finish_s.unwrap()).abs() < 1e-8);
        for path in ["b.x", "b.y"] {
            for what in ["sends", "acks", "sacks", "receives"] {
                let real = series(&run.series, &format!("f.{path}.{what}"));
                let name = format!("a-b.{path}.{what}");
                if real.value.is_empty() {
                    // The second path, which loses nothing, has no blocks.
                    assert!(
                        name == "a-b.b.y.sacks"
                            && told.series.iter().all(|series| series.name != name)
                    );
                    continue;
                }
                let told = series(&told.series, &name);
                assert_eq!(told.value, real.value, "{name}");
                assert_eq!((&told.len, &told.retransmission), (&real.len, &real.retransmission));
                let late = told.time_s.iter().zip(&real.time_s).map(|(a, b)| (a - b).abs());
                assert!(late.fold(0.0, f64::max) < 2e-9, "{name}");
            }
        }
        // There and back takes 20 and 40 ms, and nothing is on its way at the end.
        for (path, least) in [("b.x", 0.02), ("b.y", 0.04)] {
            let rtt = series(&told.series, &format!("a-b.{path}.rtt"));
            assert!(rtt.value.iter().all(|item| *item > least), "{path}");
            let in_flight = series(&told.series, &format!("a-b.{path}.in_flight"));
            assert_eq!(in_flight.value.last(), Some(&0.0));
        }
    }
}

/// RFC 6951: a datagram from or to port 9899, and no other.
#[test]
fn sctp_in_udp() {
    let packet = |port: u16| {
        let mut octets =
            vec![0x45, 0, 0, 44, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        octets.extend([0x27, 0x10]);
        octets.extend(port.to_be_bytes());
        octets.extend([0, 24, 0, 0]);
        octets.extend([0x13, 0x88, 0x13, 0x89, 0, 0, 0, 7, 0, 0, 0, 0, 8, 0, 0, 4]);
        octets
    };
    let octets = packet(9899);
    let Some(Carried::Sctp([from, to], sctp)) = headers::read(&octets) else { panic!() };
    assert_eq!((from.to_string(), to.to_string()), ("10.0.0.1".into(), "10.0.0.2".into()));
    assert_eq!(sctp, &octets[28..]);
    assert!(headers::read(&packet(53)).is_none());
}

/// Without the handshake, and of one host alone: paths have the peer's
/// addresses, and what is acknowledged has been received.
#[test]
fn an_association_seen_from_one_side() {
    let (run, told) = captured(TWO_PATHS, "sctp-side", &["a"]);
    assert_eq!(told.interfaces.len(), 2);
    let row = &told.flows[0];
    assert_eq!((row.flow.as_str(), row.bytes), ("a-10.0.0.3", run.flows[0].bytes));
    assert!(!told.series.iter().any(|series| series.name.ends_with(".receives")));
    let told = series(&told.series, "a-10.0.0.3.10.0.0.3.sends");
    assert_eq!(told.value, series(&run.series, "f.b.x.sends").value);
}

/// Two associations between the same hosts, one the other way; data both ways
/// would be two flows of one.
#[test]
fn associations_between_the_same_hosts_have_ports() {
    let second = r#", { name = "g", protocol = "sctp", from = "b", to = "a", size = "90 kB" }]"#;
    let text = TWO_PATHS.replace("} }]\n    observe", &format!("}} }}{second}\n    observe"));
    let (run, told) = captured(&text, "sctp-two", &[]);
    let names: Vec<_> = told.flows.iter().map(|flow| (flow.flow.as_str(), flow.bytes)).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].0.starts_with("a:") && names[1].0.starts_with("b:"), "{names:?}");
    assert_eq!([names[0].1, names[1].1], [run.flows[0].bytes, 90_000]);
}
