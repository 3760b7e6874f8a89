//! Captures of SCTP runs, read by Wireshark's dissectors: nothing malformed,
//! every checksum right, and the chunks that the run must have had.

use anabranch_scenario::{CaptureEnd, CaptureOptions, RunOptions, Scenario, Snap, load, run};
use anabranch_testkit::needs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs an example with some changes and captures it.
fn capture(example: &str, changes: &[&str]) -> PathBuf {
    let file = format!("{example}.toml");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(&file);
    let text = load(&path).unwrap();
    let scenario = Scenario::with_overrides(&text, &file, changes).unwrap();
    let pcap = std::env::temp_dir().join(format!("{example}-{}.pcapng", std::process::id()));
    // Whole packets at both ends: tshark checks their checksums.
    let places = Vec::new();
    let capture = CaptureOptions { places, end: CaptureEnd::Both, snap: Snap::Whole };
    run(&scenario, &RunOptions { pcap: Some(pcap.clone()), capture, ..RunOptions::default() })
        .unwrap();
    pcap
}

/// The values of `field` in packets that match.
fn tshark(pcap: &Path, filter: &str, field: &str) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-o", "ip.check_checksum:TRUE", "-o", "sctp.checksum:CRC 32c", "-r"]);
    command.arg(pcap).args(["-Y", filter, "-T", "fields", "-e", field]);
    let output = command.output().expect("tshark runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "tshark cannot read the file: {errors}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn check(pcap: &Path, chunks: &[u8]) {
    let bad = "_ws.malformed || sctp.checksum.status == 0 || ip.checksum.status == 0 || !sctp";
    assert_eq!(tshark(pcap, bad, "frame.number"), [] as [&str; 0]);
    for chunk in chunks {
        let filter = format!("sctp.chunk_type == {chunk}");
        assert!(!tshark(pcap, &filter, "frame.number").is_empty(), "no chunk of type {chunk}");
    }
}

#[test]
fn wireshark_reads_a_multihomed_transfer() {
    if !needs::tshark() {
        return;
    }
    let pcap = capture("sctp-multihoming", &["flows.transfer.size=3 MB"]);
    // DATA, INIT, INIT ACK, SACK, HEARTBEAT, HEARTBEAT ACK, COOKIE ECHO and
    // COOKIE ACK. The run ends before the association does.
    check(&pcap, &[0, 1, 2, 3, 4, 5, 10, 11]);
    // Both paths carried data, between their own interfaces.
    let mut pairs = tshark(&pcap, "sctp.chunk_type == 0", "ip.dst");
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len(), 2, "{pairs:?}");
    std::fs::remove_file(pcap).unwrap();
}

#[test]
fn wireshark_reads_messages_of_every_kind() {
    if !needs::tshark() {
        return;
    }
    let changes = [
        "flows.*.traffic.count=400",
        "flows.*.octets=true",
        "flows.one-stream.sctp.interleaving=true",
        "flows.one-stream.traffic.size=4 kB",
        "flows.eight-streams.sctp.partial_reliability=true",
        "flows.eight-streams.traffic.lifetime=30 ms",
    ];
    let pcap = capture("sctp-streams", &changes);
    // DATA, I-DATA and FORWARD-TSN.
    check(&pcap, &[0, 64, 192]);
    let streams = tshark(&pcap, "sctp.chunk_type == 0", "sctp.data_sid");
    let seven = |sids: &String| sids.split(',').any(|sid| sid == "0x0007" || sid == "7");
    assert!(streams.iter().any(seven), "{:?}", &streams[..streams.len().min(9)]);
    std::fs::remove_file(pcap).unwrap();
}

/// RFC 9653 §5.2: the capture has the zeros that are on the wire, of one of the two associations, from its INIT
/// ACK on and but for its COOKIE ECHO; the other's checksums are right. What the line has damaged is left out.
#[test]
fn wireshark_sees_which_packets_have_no_checksum() {
    if !needs::tshark() {
        return;
    }
    let pcap = capture("sctp-zero-checksum", &["links.0.impairments=[]", "flows.*.size=100 kB"]);
    let kinds = |filter: &str| {
        let mut kinds = tshark(&pcap, filter, "sctp.chunk_type");
        kinds.sort();
        kinds.dedup();
        kinds
    };
    let zero = kinds("sctp.checksum == 0");
    for kind in ["0", "2", "3", "11"] {
        assert!(
            zero.iter().any(|list| list.split(',').any(|found| found == kind)),
            "{kind} of {zero:?}"
        );
    }
    for kind in ["1", "10"] {
        assert!(
            zero.iter().all(|list| list.split(',').all(|found| found != kind)),
            "{kind} of {zero:?}"
        );
    }
    let ports = |filter: &str| {
        let mut ports = tshark(&pcap, filter, "sctp.port");
        ports.sort();
        ports.dedup();
        ports
    };
    assert_eq!((ports("sctp.checksum == 0").len() * 2, ports("sctp").len()), (2, 2), "one of two");
    let wrong = "sctp.checksum != 0 && sctp.checksum.status == 0 || _ws.malformed || !sctp";
    assert_eq!(tshark(&pcap, wrong, "frame.number"), [] as [&str; 0]);
    let says = tshark(&pcap, "sctp.parameter_type == 0x8001", "sctp.chunk_type");
    assert!(says.iter().all(|kind| kind == "1" || kind == "2"), "{says:?}");
    std::fs::remove_file(pcap).unwrap();
}

/// RFC 9653 §3: the layer below finds what the line damages, as a checksum would; nothing wrong is delivered.
#[test]
fn what_is_damaged_is_found_with_a_checksum_or_without() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sctp-zero-checksum.toml");
    for bits in ["links.0.impairments.0.bits=2", "links.0.impairments.0.bits=50"] {
        let text = load(&path).unwrap();
        let scenario = Scenario::with_overrides(&text, "example", &[bits]).unwrap();
        let options = RunOptions { check: true, ..RunOptions::default() };
        let result = run(&scenario, &options).unwrap();
        for flow in &result.flows {
            assert_eq!((flow.bytes, flow.wrong_octets), (5_000_000, 0), "{bits}");
        }
        assert!(result.run.dropped_checksum > 10, "{bits}: {}", result.run.dropped_checksum);
    }
}
