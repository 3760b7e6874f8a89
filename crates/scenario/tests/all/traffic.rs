//! Datagrams, calls, video, page loads and queues: what is measured against closed forms, and against
//! Wireshark's own analysis of RTP.

use anabranch_scenario::{CaptureOptions, DatagramRow, RunOptions, RunResult, Scenario, run};
use anabranch_testkit::needs;
use std::process::Command;

/// Two hosts on 8 Mbit/s and 10 ms, with these fields of the link.
fn text(link: &str, rest: &str) -> String {
    format!(
        "hosts = [\"a\", \"b\"]\n[[links]]\nname = \"l\"\nends = [\"a\", \"b\"]\nrate = \"8 Mbit/s\"\n\
         delay = \"10 ms\"\n{link}\n[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{rest}\n"
    )
}

fn scenario(link: &str, rest: &str) -> Scenario {
    Scenario::from_toml(&text(link, rest), "t.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// Runs it, and from its resolved form again.
fn result(link: &str, rest: &str) -> RunResult {
    let scenario = scenario(link, rest);
    let again = Scenario::from_toml(&scenario.resolved_toml(), "resolved").expect("it reads back");
    assert_eq!(again, scenario);
    let options = RunOptions { check: true, ..RunOptions::default() };
    run(&scenario, &options).expect("it runs")
}

fn refused(rest: &str) -> String {
    let error = Scenario::from_toml(&text("", rest), "t.toml").expect_err("it is wrong");
    error.to_string()
}

fn row<'a>(result: &'a RunResult, flow: &str) -> &'a DatagramRow {
    result.datagrams.iter().find(|row| row.flow == flow).expect("the flow has datagrams")
}

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() < tolerance, "{value}, not {expected}");
}

/// 972 octets of data are 1000 on the wire: 1 ms on the line, and 10 ms under way.
#[test]
fn a_datagram_takes_its_time_on_the_line_and_under_way() {
    let flow = "protocol = \"udp\"\nduration = \"2.004 s\"\noctets = true\n\
        traffic = { kind = \"constant\", rate = \"972 kbit/s\", chunk = \"972 B\" }";
    let result = result("", flow);
    let summary = row(&result, "f").summary;
    // One every 8 ms; that of 2 s is under way at the end.
    assert_eq!((summary.sent, summary.under_way, summary.losses.lost), (251, 1, 0));
    let delay = summary.delay.expect("some came");
    for value in [delay.mean, delay.p50, delay.p99, delay.max] {
        near(value, 0.011, 1e-3);
    }
    assert_eq!(summary.jitter.map(|jitter| jitter.max), Some(0.0));
    let flow = &result.flows[0];
    assert_eq!((flow.bytes, flow.wrong_octets), (250 * 972, 0));
    assert_eq!(flow.outcome.name(), "open");
}

#[test]
fn losses_and_their_runs_are_counted() {
    let flow = "protocol = \"udp\"\nduration = \"10 s\"\n\
        traffic = { kind = \"constant\", rate = \"800 kbit/s\", chunk = \"1000 B\" }";
    let every = result("impairments = [{ kind = \"periodic\", every = 10 }]", flow);
    let summary = row(&every, "f").summary;
    near(summary.losses.lost as f64, summary.sent as f64 / 10.0, 0.02);
    assert_eq!((summary.losses.runs, summary.losses.longest), (summary.losses.lost, 1));
    assert_eq!(summary.received + summary.losses.lost + summary.under_way, summary.sent);
    // From 5.005 s on nothing passes for a second: a hundred in a row, one each 10 ms.
    let outage =
        "impairments = [{ kind = \"outage\", intervals = [{ at = \"5.005 s\", for = \"1 s\" }] }]";
    let losses = row(&result(outage, flow), "f").summary.losses;
    assert_eq!((losses.lost, losses.runs, losses.longest), (100, 1, 100));
}

/// An extra delay of one in ten lets those behind it overtake it: one every 8 ms, 20 ms late.
#[test]
fn what_is_overtaken_is_reordered() {
    let flow = "protocol = \"udp\"\nduration = \"20 s\"\n\
        traffic = { kind = \"constant\", rate = \"972 kbit/s\", chunk = \"972 B\" }";
    let link = "impairments = [{ kind = \"reorder\", probability = 0.1, extra = \"20 ms\" }]";
    let summary = row(&result(link, flow), "f").summary;
    assert_eq!(summary.losses.lost, 0);
    let ratio = summary.reordered as f64 / summary.received as f64;
    // Not reordered if the two behind it are late as well: 1 %.
    assert!((0.07..0.13).contains(&ratio), "{ratio}");
    let delay = summary.delay.expect("some came");
    near(delay.p50, 0.011, 1e-2);
    near(delay.max, 0.031, 1e-2);
    let copies = "impairments = [{ kind = \"duplicate\", probability = 0.1 }]";
    let summary = row(&result(copies, flow), "f").summary;
    assert_eq!((summary.losses.lost, summary.reordered), (0, 0));
    near(summary.duplicates as f64, summary.received as f64 / 10.0, 0.3);
}

/// 72 octets of data are 100 on the wire: 0.1 ms and 10 ms, both ways.
#[test]
fn a_probe_is_echoed_and_timed() {
    let flow = "protocol = \"udp\"\nduration = \"10 s\"\n\
        traffic = { kind = \"ping\", interval = \"100 ms\", size = \"72 B\", count = 50 }";
    let result = result("", flow);
    let (there, back) = (row(&result, "f").summary, row(&result, "f.reverse").summary);
    assert_eq!((there.sent, there.received, back.sent, back.received), (50, 50, 50, 50));
    let round_trip = back.round_trip.expect("echoes came");
    near(round_trip.p50, 0.0202, 1e-3);
    near(round_trip.max, 0.0202, 1e-3);
    assert!(row(&result, "f.reverse").is_echo && !row(&result, "f").is_echo);
    assert_eq!(result.flows[0].outcome.name(), "complete");
}

/// Probes that come in a Poisson process to a line that each keeps busy for 0.7 of their mean distance
/// are an M/D/1 queue: the mean wait is ρ s / (2 (1 − ρ)) (Pollaczek and Khinchine), and the mean
/// number that wait is the rate times that (Little).
#[test]
fn a_queue_of_poisson_arrivals_waits_as_pollaczek_and_khinchine_say() {
    let flow = "protocol = \"udp\"\nduration = \"200 s\"\n\
        traffic = { kind = \"ping\", interval = { mean = \"1 ms\", law = \"exponential\" }, size = \"672 B\" }\n\
        [[observe]]\nwhat = \"queueing\"\nlink = \"l\"";
    let result = result("queue = { limit = \"10000 packets\" }", flow);
    let link = &result.links[0];
    let wait = 0.7 * 0.7e-3 / (2.0 * 0.3);
    let queueing = link.queueing.expect("it is observed");
    near(queueing.delay.expect("packets were sent").mean, wait, 0.05);
    near(queueing.packets.expect("time has passed").mean, wait * 1e3, 0.05);
    near(link.utilisation.expect("the rate is constant"), 0.7, 0.02);
    assert_eq!(result.links[1].queueing, None);
}

/// A queue that holds its packets tells the same of a stream that it does not disturb.
#[test]
fn queues_of_all_kinds_tell_the_same_delays() {
    let flow = "protocol = \"udp\"\nduration = \"20 s\"\n\
        traffic = { kind = \"ping\", interval = { mean = \"2 ms\", law = \"exponential\" }, size = \"672 B\" }\n\
        [[observe]]\nwhat = \"queueing\"";
    let of = |queue: &str| {
        let result = result(&format!("queue = {queue}"), flow);
        result.links[0].queueing.expect("it is observed")
    };
    let plain = of("{ limit = \"10000 packets\" }");
    let held = of("{ kind = \"drr\", limit = \"10000 packets\" }");
    for (plain, held) in [(plain.packets, held.packets), (plain.delay, held.delay)] {
        let (plain, held) = (plain.expect("packets were sent"), held.expect("packets were sent"));
        near(held.mean, plain.mean, 1e-6);
        near(held.p95, plain.p95, 2e-3);
        near(held.max, plain.max, 1e-9);
    }
}

const CALL: &str = "protocol = \"udp\"\nduration = \"60 s\"\n\
    traffic = { kind = \"voip\", codec = \"g711\", playout = \"40 ms\" }";

/// A call of 172 octets of data in 20 ms: its delay from mouth to ear is 20 ms in the packet, 10.2 ms
/// under way and 40 ms in the buffer.
#[test]
fn a_call_has_the_quality_of_its_delay_and_loss() {
    let quality = |link: &str, flow: &str| {
        let result = result(link, CALL);
        let call = row(&result, flow).summary.call.expect("it is a call");
        call.quality.expect("it was heard")
    };
    for flow in ["f", "f.reverse"] {
        let clean = quality("", flow);
        near(clean.mouth_to_ear.as_secs_f64(), 0.0702, 1e-3);
        assert_eq!((clean.unplayed, clean.burst_ratio), (0.0, 1.0));
        // 93.2 less some 1.7 for the delay.
        assert!((90.5..92.5).contains(&clean.rating) && clean.mos > 4.3, "{clean:?}");
    }
    let lossy = quality("impairments = [{ kind = \"bernoulli\", rate = 0.05 }]", "f");
    // Ie,eff of 5 % random loss with Bpl = 4.3 is 51.
    assert!((lossy.unplayed - 0.05).abs() < 0.015, "{lossy:?}");
    assert!((0.9..1.2).contains(&lossy.burst_ratio) && lossy.mos < 2.8, "{lossy:?}");
    // Delays of up to 100 ms more are beyond the buffer of 40 ms.
    let late = quality(
        "impairments = [{ kind = \"reorder\", probability = 0.02, extra = \"100 ms\" }]",
        "f",
    );
    assert!((late.unplayed - 0.02).abs() < 0.01, "{late:?}");
}

/// Wireshark finds the same losses in a capture at the hearer, and a mean jitter that is ours: RFC 3550
/// by somebody else.
#[test]
fn wireshark_measures_the_call_alike() {
    if !needs::tshark() {
        return;
    }
    let link = "impairments = [{ kind = \"bernoulli\", rate = 0.03 }, \
        { kind = \"jitter\", mean = \"5 ms\", deviation = \"2 ms\" }]";
    let pcap = std::env::temp_dir().join(format!("call-{}.pcapng", std::process::id()));
    let capture = CaptureOptions { places: vec!["b".to_owned()], ..CaptureOptions::default() };
    let options = RunOptions { pcap: Some(pcap.clone()), capture, ..RunOptions::default() };
    let result = run(&scenario(link, CALL), &options).expect("it runs");
    let summary = row(&result, "f").summary;
    let output = Command::new("tshark")
        .args(["-n", "-r"])
        .arg(&pcap)
        .args(["-d", "udp.port==49152,rtp", "-q", "-z", "rtp,streams"])
        .output()
        .expect("tshark runs");
    std::fs::remove_file(&pcap).expect("the capture is there");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    // Of the two streams the one that came over the link, from the first host to the second.
    let from_first = |line: &&str| {
        let [first, second] = ["10.0.0.1", "10.0.0.2"].map(|ip| line.find(ip));
        line.contains("g711U") && first.is_some() && first < second
    };
    let line = out.lines().find(from_first);
    let fields: Vec<&str> = line.unwrap_or_else(|| panic!("{out}")).split_whitespace().collect();
    let at = fields.iter().position(|field| *field == "g711U").expect("it is there");
    let number = |n: usize| fields[at + n].parse::<f64>().unwrap_or(f64::NAN);
    assert_eq!(number(1) as u64, summary.received, "{out}");
    // Number and share of the lost, deltas (least, mean, largest), jitters (least, mean, largest).
    let lost = number(2) as u64;
    assert!(summary.losses.lost - lost <= 3, "{lost} and {:?}\n{out}", summary.losses);
    let jitter = summary.jitter.expect("packets came");
    let found: Vec<f64> = fields[at + 3..].iter().filter_map(|field| field.parse().ok()).collect();
    let close = |value: f64| found.iter().any(|other| (other / (value * 1e3) - 1.0).abs() < 0.02);
    assert!(close(jitter.mean) && close(jitter.max), "{jitter:?}\n{out}");
}

fn video(rate: &str, fields: &str) -> RunResult {
    let flow = format!(
        "duration = \"120 s\"\ntraffic = {{ kind = \"video\", segment = \"2 s\", buffer = \"20 s\", \
         ladder = [\"500 kbit/s\", \"1 Mbit/s\", \"4 Mbit/s\"], {fields} }}"
    );
    let text = text("", &flow).replace("8 Mbit/s", rate);
    let scenario = Scenario::from_toml(&text, "t.toml").unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions::default()).expect("it runs")
}

#[test]
fn a_video_takes_the_rate_that_the_line_has() {
    for selection in ["rate-based", "buffer-based"] {
        let result = video("2 Mbit/s", &format!("selection = \"{selection}\""));
        let summary = result.videos[0].summary;
        assert_eq!((result.videos[0].selection, summary.stalls), (selection, 0));
        let rate = summary.mean_rate_bps.expect("segments came");
        assert!(rate > 0.8e6 && rate < 2e6, "{selection}: {rate}");
        let startup = summary.startup.expect("it began").as_secs_f64();
        // A segment of the lowest rate is 1 Mbit: half a second, and some round trips.
        assert!((0.5..0.9).contains(&startup), "{startup}");
    }
}

/// A line of 400 kbit/s cannot carry 500 kbit/s: a fifth of the time, and what headers take, is stalled.
#[test]
fn a_video_stalls_where_the_line_is_slower_than_its_lowest_rate() {
    let result = video("400 kbit/s", "selection = \"rate-based\"");
    let summary = result.videos[0].summary;
    let watched = 120.0 - summary.startup.expect("it began").as_secs_f64();
    near(summary.stalled.as_secs_f64() / watched, 1.0 - 0.8 * 1448.0 / 1500.0, 0.15);
    assert!(summary.stalls > 10 && summary.switches == 0, "{summary:?}");
}

/// Three objects one after the other, of a segment each, on a fast line: a round trip each after the
/// handshake, and the work of the browser. Requests and responses that go together fit one segment,
/// so that Nagle's rule holds none back.
#[test]
fn a_page_takes_a_round_trip_for_each_object_that_waits_for_another() {
    let flow = "traffic = { kind = \"page-load\", count = 3, think = \"1 s\", objects = [\n\
        { name = \"html\", size = \"500 B\" },\n\
        { name = \"script\", size = \"500 B\", after = [\"html\"] },\n\
        { name = \"style\", size = \"500 B\", after = [\"html\"] },\n\
        { name = \"picture\", size = \"500 B\", after = [\"script\", \"style\"], delay = \"7 ms\" } ] }\n\
        [[observe]]\nwhat = \"responses\"";
    for protocol in ["tcp", "mptcp", "sctp"] {
        let text = text("", &format!("protocol = \"{protocol}\"\n{flow}"));
        let text = text.replace("8 Mbit/s", "1 Gbit/s");
        let scenario = Scenario::from_toml(&text, "t.toml").expect("it is right");
        let result = run(&scenario, &RunOptions::default()).expect("it runs");
        let summary = result.loads[0].summary;
        assert_eq!((summary.begun, summary.complete), (3, 3), "{protocol}");
        assert_eq!(result.flows[0].outcome.name(), "complete");
        // Without the handshake: three round trips of 20 ms and 7 ms.
        let time = summary.time.expect("pages were loaded");
        near(time.p50, 0.067, 0.02);
        assert!(time.max > 0.085, "{protocol}: {time:?}");
        assert_eq!(result.series[0].value.len(), 3);
    }
}

#[test]
fn what_is_wrong_is_told() {
    let udp = |rest: &str| refused(&format!("protocol = \"udp\"\nduration = \"1 s\"\n{rest}"));
    let told = |error: String, parts: &[&str]| {
        parts.iter().for_each(|part| assert!(error.contains(part), "{error}: no {part}"));
    };
    told(
        udp("size = \"1 MB\""),
        &["flows[0].traffic.kind", "bulk", "constant, on-off, ping, voip"],
    );
    told(refused("traffic = { kind = \"ping\" }"), &["traffic.kind", "protocol = \"udp\""]);
    told(udp("tcp = {}\ntraffic = { kind = \"ping\" }"), &["flows[0].tcp", "in `udp`"]);
    told(udp("udp = { dscp = 64 }\ntraffic = { kind = \"ping\" }"), &["udp.dscp", "64", "0 to 63"]);
    told(
        udp("traffic = { kind = \"ping\", size = \"2 B\" }"),
        &["traffic.size", "2 B", "from 4 B"],
    );
    told(udp("traffic = { kind = \"pnig\" }"), &["traffic.kind", "pnig", "did you mean `ping`"]);
    told(
        udp("traffic = { kind = \"voip\", packet = \"25 ms\" }"),
        &["traffic.packet", "25 ms", "10 ms each"],
    );
    told(
        udp("traffic = { kind = \"voip\", codec = \"g729\" }"),
        &["traffic.codec", "did you mean `g729a`"],
    );
    let endless = refused("protocol = \"udp\"\ntraffic = { kind = \"ping\" }");
    told(endless, &["flows[0].duration", "unless the scenario has one"]);
    let ladder =
        "duration = \"9 s\"\ntraffic = { kind = \"video\", ladder = [\"2 Mbit/s\", \"1 Mbit/s\"] }";
    told(refused(ladder), &["traffic.ladder", "ascending"]);
    let cushion =
        "duration = \"9 s\"\ntraffic = { kind = \"video\", buffer = \"10 s\", cushion = \"11 s\" }";
    told(refused(cushion), &["traffic.cushion", "11 s", "at most 10 s"]);
    let safety = "duration = \"9 s\"\ntraffic = { kind = \"video\", safety = 0.5 }";
    told(refused(safety), &["traffic.safety", "rate-based"]);
    let after = "traffic = { kind = \"page-load\", count = 1, objects = [{ size = \"1 kB\", after = [\"x\"] }] }";
    told(refused(after), &["objects[0].after", "there is none"]);
}
