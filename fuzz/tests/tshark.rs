//! Our parser beside Wireshark's dissectors: what we take for a packet is one to them too, with
//! the same fields.
//!
//! A sample of mutated packets, their checksums set right. Needs `tshark`; says so and passes when
//! it is not installed.

mod mutate;

use anabranch_endpoint::Generator;
use anabranch_units::Time;
use anabranch_wire::pcapng::{Snap, Writer};
use anabranch_wire::sctp::{Chunk, Parameter, SctpPacket};
use anabranch_wire::{AddressBook, Body, Packet, TcpSegment};
use std::path::Path;
use std::process::Command;

/// Packets of each sample.
const SAMPLE: usize = 3000;

/// Fields of TCP, and what we read in their place.
const TCP: [&str; 13] = [
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.flags",
    "tcp.window_size_value",
    "tcp.urgent_pointer",
    "tcp.len",
    "tcp.options.mss_val",
    "tcp.options.wscale.shift",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
    "tcp.options.sack_le",
];
const SCTP: [&str; 9] = [
    "sctp.srcport",
    "sctp.dstport",
    "sctp.verification_tag",
    "sctp.chunk_type",
    "sctp.data_tsn_raw",
    "sctp.data_sid",
    "sctp.sack_cumulative_tsn_ack_raw",
    "sctp.sack_a_rwnd",
    "sctp.shutdown_cumulative_tsn_ack",
];

#[test]
fn packets_are_read_as_wireshark_reads_them() {
    if !Command::new("tshark").arg("--version").output().is_ok_and(|it| it.status.success()) {
        eprintln!("\n**** SKIPPED: tshark is not installed: no parser beside ours ****\n");
        return;
    }
    let seeds = [mutate::seeds("parse_packet"), sctp_seeds()].concat();
    let mut random = Generator::from_u64(1);
    let (mut sample, mut refused) = (Vec::new(), 0);
    let book = AddressBook::new();
    while sample.len() < SAMPLE {
        let mut octets = seeds[random.below(seeds.len() as u64) as usize].clone();
        for _ in 0..random.below(4) {
            mutate::mutate(&mut octets, &mut random);
        }
        let Some(octets) = anabranch_fuzz::mended(&octets) else { continue };
        match Packet::parse(&octets, &book) {
            Ok(packet) if is_compared(&packet) => sample.push((octets, packet)),
            _ => refused += 1,
        }
    }
    println!("{refused} packets that we refuse, or of no TCP or SCTP, are not compared");
    let theirs = dissect(&sample);
    assert_eq!(theirs.len(), sample.len());
    let (mut differences, mut malformed) = (Vec::new(), 0);
    for ((octets, packet), line) in sample.iter().zip(&theirs) {
        let ours = read(packet);
        let said: Vec<&str> = line.split('|').collect();
        let fields = match packet.body {
            Body::Tcp(_) => &said[1..=TCP.len()],
            _ => &said[1 + TCP.len()..],
        };
        malformed += usize::from(!said[0].is_empty());
        if ours != fields {
            differences.push(format!("{ours:?}\n{fields:?}\n{packet:?}\n{octets:02x?}"));
        }
    }
    // What its dissectors of payloads, and of what only the sender understands, do not like.
    assert!(malformed < SAMPLE / 100, "{malformed} of {SAMPLE} are malformed to tshark");
    let n = differences.len();
    assert!(n == 0, "{n} of {SAMPLE} differ, such as\n{}", differences[..n.min(5)].join("\n\n"));
}

/// Whether both parsers should find the same fields.
///
/// Wireshark reads as part of the packet what chunks quote of another, which we keep as octets; and
/// what is malformed to us, so that an endpoint can answer it, is malformed to Wireshark in ways of
/// its own.
fn is_compared(packet: &Packet) -> bool {
    match &packet.body {
        Body::Tcp(_) => true,
        Body::Sctp(sctp) => !sctp.chunks.iter().any(|chunk| quotes(chunk) || is_malformed(chunk)),
        _ => false,
    }
}

fn quotes(chunk: &Chunk) -> bool {
    let causes = matches!(chunk, Chunk::Error(_) | Chunk::Abort { .. });
    causes || matches!(chunk, Chunk::AsconfAck { .. } | Chunk::InitAck(_))
}

fn is_malformed(chunk: &Chunk) -> bool {
    match chunk {
        Chunk::Malformed { .. } => true,
        Chunk::Init(init) => {
            init.parameters.iter().any(|parameter| matches!(parameter, Parameter::Malformed(_)))
        }
        _ => false,
    }
}

/// SCTP packets in IPv4.
fn sctp_seeds() -> Vec<Vec<u8>> {
    let wrap = |body: &Vec<u8>| {
        let total = (20 + body.len()) as u16;
        let mut octets = vec![0x45, 0];
        octets.extend(total.to_be_bytes());
        octets.extend([0, 0, 0, 0, 64, SctpPacket::PROTOCOL, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        octets.extend(body);
        octets
    };
    mutate::seeds("parse_sctp").iter().map(wrap).collect()
}

/// A line for each packet: whether it is malformed, the fields of TCP and those of SCTP.
fn dissect(sample: &[(Vec<u8>, Packet)]) -> Vec<String> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("differential.pcapng");
    let mut writer = Writer::new(Vec::new()).expect("a header");
    let link = writer.add_interface("a", Snap::Whole).expect("an interface");
    for (i, (octets, _)) in sample.iter().enumerate() {
        writer.packet(link, Time::from_picos(i as u64 * 1_000_000), octets).expect("a packet");
    }
    std::fs::write(&path, writer.finish().expect("an end")).expect("it is written");
    let mut command = Command::new("tshark");
    // Each packet by itself: no reassembly, no analysis of what came before.
    for option in [
        "tcp.relative_sequence_numbers:FALSE",
        "tcp.analyze_sequence_numbers:FALSE",
        "tcp.desegment_tcp_streams:FALSE",
        "tcp.try_heuristic_first:FALSE",
        "sctp.reassembly:FALSE",
        "sctp.tsn_analysis:FALSE",
        "ip.defragment:FALSE",
    ] {
        command.args(["-o", option]);
    }
    command.args(["-n", "-r"]).arg(&path).args(["-T", "fields", "-E", "separator=|"]);
    for field in ["_ws.malformed"].iter().chain(&TCP).chain(&SCTP) {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark runs");
    let _ = std::fs::remove_file(&path);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Our reading, in tshark's words.
fn read(packet: &Packet) -> Vec<String> {
    match &packet.body {
        Body::Tcp(segment) => read_tcp(segment),
        Body::Sctp(sctp) => read_sctp(sctp),
        _ => Vec::new(),
    }
}

fn read_tcp(segment: &TcpSegment) -> Vec<String> {
    let some = |value: Option<String>| value.unwrap_or_default();
    let options = &segment.options;
    vec![
        segment.src_port.to_string(),
        segment.dst_port.to_string(),
        segment.seq.0.to_string(),
        segment.ack.0.to_string(),
        format!("0x{:04x}", segment.flags.0),
        segment.window.to_string(),
        segment.urgent.to_string(),
        segment.payload.len().to_string(),
        some(options.mss.map(|it| it.to_string())),
        some(options.window_scale.map(|it| it.to_string())),
        some(options.timestamps.map(|it| it.value.to_string())),
        some(options.timestamps.map(|it| it.echo.to_string())),
        options
            .sack
            .as_slice()
            .iter()
            .map(|it| it.left.0.to_string())
            .collect::<Vec<_>>()
            .join(","),
    ]
}

fn read_sctp(sctp: &SctpPacket) -> Vec<String> {
    let list = |of: &dyn Fn(&Chunk) -> Option<String>| {
        sctp.chunks.iter().filter_map(of).collect::<Vec<_>>().join(",")
    };
    vec![
        sctp.src_port.to_string(),
        sctp.dst_port.to_string(),
        format!("0x{:08x}", sctp.tag),
        list(&|chunk| Some(chunk.kind().to_string())),
        list(&|chunk| match chunk {
            Chunk::Data(it) => Some(it.tsn.0.to_string()),
            Chunk::IData(it) => Some(it.tsn.0.to_string()),
            _ => None,
        }),
        list(&|chunk| match chunk {
            Chunk::Data(it) => Some(format!("0x{:04x}", it.stream)),
            Chunk::IData(it) => Some(format!("0x{:04x}", it.stream)),
            _ => None,
        }),
        list(&|chunk| match chunk {
            Chunk::Sack(it) => Some(it.cum_tsn.0.to_string()),
            _ => None,
        }),
        list(&|chunk| match chunk {
            Chunk::Sack(it) => Some(it.a_rwnd.to_string()),
            _ => None,
        }),
        list(&|chunk| match chunk {
            Chunk::Shutdown(tsn) => Some(tsn.0.to_string()),
            _ => None,
        }),
    ]
}
