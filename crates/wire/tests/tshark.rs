//! A capture of every kind of packet against Wireshark's dissectors: no
//! malformed packet, no wrong checksum, and the fields that we wrote.
//!
//! Needs `tshark`; says so and passes when it is not installed.

#[expect(dead_code, reason = "the strategies are shared with round_trip.rs")]
mod common;

use anabranch_units::{Serial32, Time};
use anabranch_wire::pcapng::Writer;
use anabranch_wire::{
    Addr, AddressBook, Body, Packet, Payload, SackBlock, SackBlocks, TcpFlags, TcpOptions,
    TcpSegment, Timestamps,
};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A capture that is deleted when the test ends, also when it fails.
struct Capture(PathBuf);

impl Capture {
    fn new(name: &str, file: &[u8]) -> Capture {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let path = path.join(format!("{name}-{}.pcapng", std::process::id()));
        std::fs::write(&path, file).expect("the capture is written");
        Capture(path)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn is_tshark_here() -> bool {
    let here = Command::new("tshark").arg("--version").output().is_ok_and(|o| o.status.success());
    if !here {
        eprintln!("\n**** SKIPPED: tshark is not installed; the capture was not checked ****\n");
    }
    here
}

/// Lines of the given fields, separated by `|`, of the packets that match.
fn tshark(capture: &Capture, filter: &str, fields: &[&str]) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
    command.args(["-o", "tcp.relative_sequence_numbers:FALSE"]);
    command.arg("-r").arg(&capture.0).args(["-Y", filter, "-T", "fields", "-E", "separator=|"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "tshark cannot read the file: {errors}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn data(seq: u32, flags: TcpFlags, options: TcpOptions, len: u32) -> Packet {
    let segment = TcpSegment {
        src_port: 40_000,
        dst_port: 5001,
        seq: Serial32(seq),
        ack: Serial32(77),
        flags,
        window: 1000,
        urgent: 0,
        options,
        payload: Payload::virtual_of(len),
    };
    Packet::new(Addr(0), Addr(1), Body::Tcp(segment))
}

#[test]
fn fields_are_those_that_were_written() {
    if !is_tshark_here() {
        return;
    }
    let mut sack = SackBlocks::NONE;
    sack.push(SackBlock { left: Serial32(2000), right: Serial32(3460) });
    sack.push(SackBlock { left: Serial32(5000), right: Serial32(6460) });
    let timestamps = Some(Timestamps { value: 11, echo: 22 });
    let syn = TcpOptions {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps,
        ..TcpOptions::default()
    };
    let ack = TcpOptions { timestamps, sack, ..TcpOptions::default() };
    let packets = [
        data(100, TcpFlags::SYN, syn, 0),
        data(101, TcpFlags::ACK, ack, 0),
        data(101, TcpFlags::ACK.union(TcpFlags::PSH), TcpOptions::default(), 1460),
    ];
    for (name, book) in [("ipv4", AddressBook::new()), ("ipv6", AddressBook::dense_ipv6())] {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.add_interface("reverse", None).unwrap();
        let link = writer.add_interface("a-b", None).unwrap();
        for (i, packet) in packets.iter().enumerate() {
            let time = Time::from_picos(1_500_000_000_123_456 + i as u64 * 1000);
            writer.packet_value(link, time, packet, &book).unwrap();
        }
        let capture = Capture::new(&format!("fields-{name}"), &writer.finish().unwrap());
        let fields = [
            "frame.time_epoch",
            "frame.interface_name",
            "frame.len",
            "tcp.seq_raw",
            "tcp.options.mss_val",
            "tcp.options.wscale.shift",
            "tcp.options.timestamp.tsval",
            "tcp.options.sack_le",
            "tcp.options.sack_re",
            "tcp.len",
        ];
        let more = if name == "ipv6" { 20 } else { 0 };
        assert_eq!(
            tshark(&capture, "tcp.checksum.status == 1", &fields),
            [
                format!("1500.000000123|a-b|{}|100|1460|7|11|||0", 60 + more),
                format!("1500.000000124|a-b|{}|101|||11|2000,5000|3460,6460|0", 72 + more),
                format!("1500.000000125|a-b|{}|101||||||1460", 1500 + more),
            ]
        );
        for (number, flags) in [("1", "0x002"), ("2", "0x010"), ("3", "0x018")] {
            let filter = format!("tcp.flags == {flags}");
            assert_eq!(tshark(&capture, &filter, &["frame.number"]), [number]);
        }
    }
}

#[test]
fn wireshark_finds_nothing_wrong() {
    if !is_tshark_here() {
        return;
    }
    const PACKETS: usize = 400;
    let mut runner = TestRunner::deterministic();
    // Random data and random unknown options would be malformed for whichever
    // dissector takes them: no option that we do not understand, and ports on
    // which no application sits.
    let packets = common::segment().prop_map(|segment| TcpSegment {
        src_port: 49_999,
        dst_port: 49_998,
        options: TcpOptions { unknown: None, ..segment.options },
        ..segment
    });
    let books = [AddressBook::new(), AddressBook::dense_ipv6()];
    let mut writer = Writer::new(Vec::new()).unwrap();
    let link = writer.add_interface("all", None).unwrap();
    for i in 0..PACKETS {
        let segment = packets.new_tree(&mut runner).unwrap().current();
        let packet = Packet::new(Addr(i as u32), Addr(1000), Body::Tcp(segment));
        let time = Time::from_picos(i as u64 * 1_000_000);
        writer.packet_value(link, time, &packet, &books[i % 2]).unwrap();
    }
    let capture = Capture::new("all", &writer.finish().unwrap());
    let good = tshark(&capture, "tcp.checksum.status == 1", &["frame.number"]);
    assert_eq!(good.len(), PACKETS, "right TCP checksums");
    let good = tshark(&capture, "ip.checksum.status == 1", &["frame.number"]);
    assert_eq!(good.len(), PACKETS / 2, "right IPv4 checksums");
    let fields = ["frame.number", "_ws.expert.message"];
    assert_eq!(tshark(&capture, "_ws.malformed", &fields), [""; 0], "malformed packets");
}
