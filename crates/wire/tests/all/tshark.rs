//! A capture of every kind of packet against Wireshark's dissectors: no
//! malformed packet, no wrong checksum, every chunk decoded, and the fields
//! that we wrote.
//!
//! Needs `tshark`.

use crate::{common, sctp_samples};
use anabranch_testkit::needs;
use anabranch_units::{Serial32, Time};
use anabranch_wire::pcapng::{Snap, Writer};
use anabranch_wire::sctp::{
    Cause, Chunk, Chunks, DataChunk, DataFlags, GapBlock, SackChunk, SctpPacket,
};
use anabranch_wire::tcp::mptcp::{
    AddAddr, Capable, CapableData, CapableFlags, CapableKeys, DataNumber, Dss, Join, Mapping,
    MptcpOption, RemoveAddr,
};
use anabranch_wire::{
    AccEcn, AccEcnOrder, Addr, AddressBook, Body, Packet, Payload, SackBlock, SackBlocks, TcpFlags,
    TcpOptions, TcpSegment, Timestamps, UdpDatagram,
};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
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

/// Lines of the given fields, separated by `|`, of the packets that match.
fn tshark(capture: &Capture, filter: &str, fields: &[&str]) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
    command.args(["-o", "tcp.relative_sequence_numbers:FALSE", "-o", "udp.check_checksum:TRUE"]);
    command.args(["-o", "sctp.checksum:CRC 32c"]);
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
    if !needs::tshark() {
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
    let counted = TcpOptions {
        timestamps,
        acc_ecn: Some(Box::new(AccEcn::new(AccEcnOrder::One, 3, 7, 8, 9))),
        ..TcpOptions::default()
    };
    let packets = [
        data(100, TcpFlags::SYN, syn, 0),
        data(101, TcpFlags::ACK, ack, 0),
        data(101, TcpFlags::ACK.union(TcpFlags::PSH), TcpOptions::default(), 1460),
        data(101, TcpFlags::ACK.union(TcpFlags::AE), counted, 0),
    ];
    for (name, book) in [("ipv4", AddressBook::new()), ("ipv6", AddressBook::dense_ipv6())] {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.add_interface("reverse", Snap::Whole).unwrap();
        let link = writer.add_interface("a-b", Snap::Whole).unwrap();
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
            "tcp.options.acc_ecn.ee0b",
            "tcp.options.acc_ecn.eceb",
            "tcp.options.acc_ecn.ee1b",
            "tcp.len",
        ];
        let more = if name == "ipv6" { 20 } else { 0 };
        assert_eq!(
            tshark(&capture, "tcp.checksum.status == 1", &fields),
            [
                format!("1500.000000123|a-b|{}|100|1460|7|11||||||0", 60 + more),
                format!("1500.000000124|a-b|{}|101|||11|2000,5000|3460,6460||||0", 72 + more),
                format!("1500.000000125|a-b|{}|101|||||||||1460", 1500 + more),
                format!("1500.000000126|a-b|{}|101|||11|||7|8|9|0", 64 + more),
            ]
        );
        for (number, flags) in [("1", "0x002"), ("2", "0x010"), ("3", "0x018"), ("4", "0x110")] {
            let filter = format!("tcp.flags == {flags}");
            assert_eq!(tshark(&capture, &filter, &["frame.number"]), [number]);
        }
    }
}

#[test]
fn wireshark_finds_nothing_wrong() {
    if !needs::tshark() {
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
        options: TcpOptions { rare: None, ..segment.options },
        ..segment
    });
    let books = [AddressBook::new(), AddressBook::dense_ipv6()];
    let mut writer = Writer::new(Vec::new()).unwrap();
    let link = writer.add_interface("all", Snap::Whole).unwrap();
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

#[test]
fn sctp_fields_are_those_that_were_written() {
    if !needs::tshark() {
        return;
    }
    let sctp = |chunks: Chunks| {
        let sctp = SctpPacket {
            src_port: 5000,
            dst_port: 5001,
            tag: 0xdead_beef,
            udp: None,
            zero_checksum: false,
            chunks,
        };
        Packet::new(Addr(0), Addr(1), Body::Sctp(Box::new(sctp)))
    };
    let data = |tsn, len| {
        let (flags, payload) = (DataFlags::WHOLE, Payload::virtual_of(len));
        let tsn = Serial32(tsn);
        Chunk::Data(DataChunk { flags, tsn, stream: 3, ssn: 9, ppid: 0, payload })
    };
    let sack = Chunk::Sack(SackChunk {
        cum_tsn: Serial32(70),
        a_rwnd: 65_000,
        gaps: vec![GapBlock { start: 2, end: 4 }],
        packets: 0,
        duplicates: vec![Serial32(69)],
    });
    let packets = [
        sctp([sack, data(100, 1000)].into_iter().collect()),
        sctp([data(101, 701), data(102, 702)].into_iter().collect()),
    ];
    let mut writer = Writer::new(Vec::new()).unwrap();
    let link = writer.add_interface("a-b", Snap::Whole).unwrap();
    for packet in &packets {
        writer.packet_value(link, Time::ZERO, packet, &AddressBook::new()).unwrap();
    }
    let capture = Capture::new("sctp-fields", &writer.finish().unwrap());
    let fields = [
        "frame.len",
        "sctp.verification_tag",
        "sctp.chunk_type",
        "sctp.data_tsn_raw",
        "sctp.data_sid",
        "sctp.data_ssn",
        "sctp.sack_cumulative_tsn_ack_raw",
        "sctp.sack_a_rwnd",
        "sctp.sack_gap_block_start",
        "sctp.sack_gap_block_end",
        "sctp.sack_duplicate_tsn",
    ];
    assert_eq!(
        tshark(&capture, "sctp.checksum.status == 1", &fields),
        [
            "1072|0xdeadbeef|3,0|100|0x0003|9|70|65000|2|4|69",
            "1472|0xdeadbeef|0,0|101,102|0x0003,0x0003|9,9|||||",
        ]
    );
}

/// RFC 9653: a capture shows the zero that is on the wire, and the parameter that allows it.
#[test]
fn a_zero_checksum_is_shown_as_one() {
    if !needs::tshark() {
        return;
    }
    let init = &sctp_samples::all()[1];
    let packets = [true, false].map(|zero_checksum| SctpPacket { zero_checksum, ..init.clone() });
    let mut writer = Writer::new(Vec::new()).unwrap();
    let link = writer.add_interface("a-b", Snap::Whole).unwrap();
    for sctp in packets {
        let packet = Packet::new(Addr(0), Addr(1), Body::Sctp(Box::new(sctp)));
        writer.packet_value(link, Time::ZERO, &packet, &AddressBook::new()).unwrap();
    }
    let capture = Capture::new("sctp-zero", &writer.finish().unwrap());
    let zero = tshark(&capture, "sctp.checksum == 0", &["frame.number"]);
    assert_eq!(zero, ["1"]);
    let types = tshark(&capture, "sctp.parameter_type == 0x8001", &["frame.number"]);
    assert_eq!(types, ["1", "2"]);
}

#[test]
fn wireshark_finds_nothing_wrong_in_sctp() {
    if !needs::tshark() {
        return;
    }
    let packets = sctp_samples::all();
    let books = [AddressBook::new(), AddressBook::dense_ipv6()];
    let mut writer = Writer::new(Vec::new()).unwrap();
    let link = writer.add_interface("all", Snap::Whole).unwrap();
    for (i, sctp) in packets.iter().enumerate() {
        let packet = Packet::new(Addr(0), Addr(1), Body::Sctp(Box::new(sctp.clone())));
        writer.packet_value(link, Time::ZERO, &packet, &books[i % 2]).unwrap();
    }
    let capture = Capture::new("sctp-all", &writer.finish().unwrap());
    let good = tshark(&capture, "sctp.checksum.status == 1", &["sctp.chunk_type"]);
    let kinds: Vec<String> = packets.iter().map(kinds).collect();
    assert_eq!(good, kinds, "right checksums and every chunk found");
    let fields = ["frame.number", "_ws.expert.message"];
    assert_eq!(tshark(&capture, "_ws.malformed", &fields), [""; 0], "malformed packets");
    assert_eq!(tshark(&capture, "_ws.expert.severity == error", &fields), [""; 0], "errors");
}

/// The types of a packet's chunks, as the dissector lists them: a chunk inside
/// a cause counts.
fn kinds(packet: &SctpPacket) -> String {
    let mut kinds = Vec::new();
    for chunk in packet.chunks.iter() {
        kinds.push(chunk.kind().to_string());
        if let Chunk::Error(causes) = chunk {
            for cause in causes {
                if let Cause::UnrecognizedChunk(octets) = cause {
                    kinds.push(octets[0].to_string());
                }
            }
        }
    }
    kinds.join(",")
}

/// The list of types and names says what the values are: a sample of each, and no type twice.
#[test]
fn every_kind_of_chunk_has_a_name_and_a_sample() {
    let samples = sctp_samples::all();
    let sampled = samples.iter().flat_map(|packet| packet.chunks.iter());
    let sampled: BTreeSet<_> =
        sampled.filter_map(|chunk| Some((chunk.kind(), chunk.name()?))).collect();
    assert_eq!(sampled, Chunk::KINDS.iter().copied().collect());
    let kinds: BTreeSet<_> = Chunk::KINDS.iter().map(|kind| kind.0).collect();
    assert_eq!(kinds.len(), Chunk::KINDS.len());
    let unknown = Chunk::Unknown { kind: 200, flags: 0, value: [].into() };
    assert_eq!((unknown.kind(), unknown.name()), (200, None));
}

/// Every option of Multipath TCP in each of its lengths.
#[test]
fn mptcp_options_are_those_that_were_written() {
    if !needs::tshark() {
        return;
    }
    let (key, peer) = (0x1111_2222_3333_4444_u64, 0x5555_6666_7777_8888_u64);
    let flags = CapableFlags::HMAC_SHA256;
    let capable = |keys| MptcpOption::Capable(Capable { version: 1, flags, keys });
    let len = |checksum| Some(CapableData { len: 100, checksum });
    let [a, b, c] =
        [None, len(None), len(Some(7))].map(|data| capable(CapableKeys::Ack { key, peer, data }));
    let join = Join::Syn { backup: true, address: 3, token: 0x99, nonce: 0x77 };
    let answer = Join::SynAck { backup: false, address: 4, mac: key, nonce: 0x78 };
    let add =
        |ip: std::net::IpAddr, port, mac| MptcpOption::AddAddr(AddAddr { id: 5, ip, port, mac });
    let (v4, v6) = ([192, 0, 2, 1].into(), [0x20; 16].into());
    let rare = [
        (capable(CapableKeys::Syn), TcpFlags::SYN),
        (capable(CapableKeys::SynAck { key }), TcpFlags::SYN.union(TcpFlags::ACK)),
        (a, TcpFlags::ACK),
        (b, TcpFlags::ACK),
        (c, TcpFlags::ACK),
        (MptcpOption::Join(join), TcpFlags::SYN),
        (MptcpOption::Join(answer), TcpFlags::SYN.union(TcpFlags::ACK)),
        (MptcpOption::Join(Join::Ack { mac: [7; 20] }), TcpFlags::ACK),
        (add(v4, None, None), TcpFlags::ACK),
        (add(v4, Some(80), None), TcpFlags::ACK),
        (add(v4, None, Some(key)), TcpFlags::ACK),
        (add(v4, Some(80), Some(key)), TcpFlags::ACK),
        (add(v6, None, None), TcpFlags::ACK),
        (add(v6, Some(80), None), TcpFlags::ACK),
        (add(v6, None, Some(key)), TcpFlags::ACK),
        (add(v6, Some(80), Some(key)), TcpFlags::ACK),
        (MptcpOption::RemoveAddr(RemoveAddr::of(&[5, 6]).expect("two")), TcpFlags::ACK),
        (MptcpOption::Prio { backup: true }, TcpFlags::ACK),
        (MptcpOption::Fail { dsn: key }, TcpFlags::ACK),
        (MptcpOption::Fastclose { key }, TcpFlags::ACK),
        (MptcpOption::TcpRst { transient: true, reason: 6 }, TcpFlags::RST),
    ];
    let mut packets: Vec<Packet> = Vec::new();
    for (option, flags) in rare {
        let mut options = TcpOptions::default();
        options.rare_mut().mptcp.push(option);
        packets.push(data(1, flags, options, 0));
    }
    let mut sack = SackBlocks::NONE;
    sack.push(SackBlock { left: Serial32(2000), right: Serial32(3460) });
    for (ack, dsn) in [
        (DataNumber::Short(8), DataNumber::Short(9)),
        (DataNumber::Long(8 << 32), DataNumber::Long(9 << 32)),
    ] {
        for checksum in [None, Some(0xabcd)] {
            let mapping = Mapping { dsn, ssn: 10, len: 100, checksum };
            let dss = Dss { data_ack: Some(ack), mapping: Some(mapping), data_fin: false };
            let mut options = TcpOptions { sack, ..TcpOptions::default() };
            assert!(options.set_dss(&dss));
            packets.push(data(1, TcpFlags::ACK, options, 100));
        }
    }
    let mut writer = Writer::new(Vec::new()).unwrap();
    let link = writer.add_interface("a-b", Snap::Whole).unwrap();
    for (i, packet) in packets.iter_mut().enumerate() {
        // A connection for each, so that nothing is judged by what came before.
        let Body::Tcp(segment) = &mut packet.body else { panic!("TCP") };
        segment.src_port += i as u16;
        writer.packet_value(link, Time::ZERO, packet, &AddressBook::new()).unwrap();
    }
    let capture = Capture::new("mptcp", &writer.finish().unwrap());
    let fields = ["frame.number", "_ws.expert.message"];
    assert_eq!(tshark(&capture, "_ws.malformed", &fields), [""; 0], "malformed packets");
    let numbers = tshark(&capture, "tcp.checksum.status == 1", &["tcp.options.mptcp.subtype"]);
    let expected = "0 0 0 0 0 1 1 1 3 3 3 3 3 3 3 3 4 5 6 7 8 2 2 2 2";
    assert_eq!(numbers, expected.split(' ').collect::<Vec<_>>());
    let check = |subtype: u8, fields: &[&str], expected: &[&str]| {
        let fields: Vec<String> =
            fields.iter().map(|field| format!("tcp.options.mptcp.{field}")).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let filter = format!("tcp.options.mptcp.subtype == {subtype}");
        assert_eq!(tshark(&capture, &filter, &fields), expected, "subtype {subtype}");
    };
    let (k, p) = (&key.to_string(), &peer.to_string());
    check(
        0,
        &["version", "sha256.flag", "sendkey", "recvkey", "datalvllen", "checksum"],
        &[
            "1|1||||",
            &format!("1|1|{k}|||"),
            &format!("1|1|{k}|{p}||"),
            &format!("1|1|{k}|{p}|100|"),
            &format!("1|1|{k}|{p}|100|0x0007"),
        ],
    );
    let mac = "07".repeat(20);
    check(
        1,
        &["backup.flag", "addrid", "recvtok", "sendrand", "sendtrunchmac", "sendhmac"],
        &["1|3|153|119||", &format!("0|4||120|{k}|"), &format!("|||||{mac}")],
    );
    check(
        2,
        &["rawdataack", "rawdataseqno", "subflowseqno", "datalvllen"],
        &[
            "8|9|10|100",
            "8|9|10|100",
            "34359738368|38654705664|10|100",
            "34359738368|38654705664|10|100",
        ],
    );
    // SACK, and DSS without and with a checksum, which the dissector does not
    // list as a field.
    let lengths = tshark(&capture, "tcp.options.mptcp.subtype == 2", &["tcp.option_len"]);
    assert_eq!(lengths, ["10,18", "10,20", "10,26", "10,28"]);
    let ip6 = "2020:2020:2020:2020:2020:2020:2020:2020";
    let lines: Vec<String> = ["192.0.2.1|", &format!("|{ip6}")]
        .iter()
        .flat_map(|ip| {
            [("1", ""), ("1", "80"), ("0", ""), ("0", "80")].map(|e| (ip.to_string(), e))
        })
        .map(|(ip, (echo, port))| {
            format!("{echo}|5|{ip}|{port}|{}", if echo == "0" { k } else { "" })
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check(3, &["echo", "addrid", "ipv4", "ipv6", "port", "addaddrtrunchmac"], &lines);
    check(4, &["addrid"], &["5,6"]);
    check(5, &["backup.flag"], &["1"]);
    check(6, &["rawdataseqno"], &[k]);
    check(7, &["recvkey"], &[k]);
    check(8, &["flag_T.flag", "rst_reason"], &["1|0x06"]);
}

/// RFC 768: ports, length and a right checksum, with and without a head, over both versions of IP.
#[test]
fn tshark_agrees_with_our_udp() {
    if !needs::tshark() {
        return;
    }
    let head = anabranch_wire::udp::Head::new(&[1, 2, 3, 4]);
    let datagrams = [
        UdpDatagram { src_port: 5000, dst_port: 6000, head, payload: Payload::virtual_of(97) },
        UdpDatagram::of_octets(6000, 5000, b"odd"),
        UdpDatagram::of_octets(6000, 5000, &[]),
    ];
    for (name, book) in [("ipv4", AddressBook::new()), ("ipv6", AddressBook::dense_ipv6())] {
        let mut writer = Writer::new(Vec::new()).unwrap();
        let link = writer.add_interface("a-b", Snap::Whole).unwrap();
        for datagram in &datagrams {
            let packet = Packet::new(Addr(0), Addr(1), Body::Udp(datagram.clone()));
            writer.packet_value(link, Time::ZERO, &packet, &book).unwrap();
        }
        let capture = Capture::new(&format!("udp-{name}"), &writer.finish().unwrap());
        let fields = ["udp.srcport", "udp.dstport", "udp.length"];
        let lines = tshark(&capture, "udp.checksum.status == 1 && !_ws.malformed", &fields);
        assert_eq!(lines, ["5000|6000|109", "6000|5000|11", "6000|5000|8"], "{name}");
    }
}
