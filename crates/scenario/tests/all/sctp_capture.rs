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
