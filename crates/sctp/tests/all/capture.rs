//! A whole association, captured, against Wireshark's dissector: every
//! checksum right, nothing malformed, every message reassembled.
//!
//! Needs `tshark`.

use anabranch_endpoint::{ByteStream, Generator, Seed};
use anabranch_sctp::{Association, Config, Destination, Message};
use anabranch_testkit::{Fate, Pair, needs};
use anabranch_units::{Span, Time};
use anabranch_wire::pcapng::{Snap, Writer};
use anabranch_wire::{Addr, AddressBook, Payload};
use std::path::Path;
use std::process::Command;

fn tshark(file: &Path, filter: &str, field: &str) -> Vec<String> {
    let output = Command::new("tshark")
        .args(["-n", "-o", "sctp.checksum:CRC 32c", "-r"])
        .arg(file)
        .args(["-Y", filter, "-T", "fields", "-e", field])
        .output()
        .expect("tshark runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn wireshark_finds_nothing_wrong_in_an_association() {
    if !needs::tshark() {
        return;
    }
    let config = Config {
        destination: Destination::AllAlternate,
        timestamps: true,
        heartbeat_interval: Some(Span::from_secs(2)),
        ..Config::rfc9260()
    };
    let seed = Seed::default();
    let (c, s) = ([Addr(0), Addr(1)], [Addr(2), Addr(3)]);
    let (c, s) = ((c.as_slice(), 49_999), (s.as_slice(), 49_998));
    let client = Association::client(config.clone(), c, s, seed.generator("client"));
    let server = Association::server(config, s, c, seed.generator("server"));
    let mut random = Generator::from_u64(1);
    let mut pair =
        Pair::new(client, server, Span::from_millis(20), move |_, _| match random.below(20) {
            0 => Fate::Drop,
            1 => Fate::Duplicate(Span::from_millis(5)),
            2 => Fate::Delay(Span::from_millis(30)),
            _ => Fate::Deliver,
        });
    pair.client.connect(Time::ZERO);
    for i in 0..60 {
        let payload = Payload::virtual_of(1 + i * 97);
        let message = Message { unordered: i % 5 == 0, ..Message::new(i as u16 % 4, payload) };
        pair.client.send(message).expect("the buffer is large");
    }
    pair.server.write(50_000);
    pair.drive(Time::ZERO + Span::from_secs(20));
    pair.client.close();
    pair.drive(Time::ZERO + Span::from_secs(200));

    let mut writer = Writer::new(Vec::new()).expect("memory");
    let link = writer.add_interface("both", Snap::Whole).expect("memory");
    for line in &pair.log {
        writer.packet_value(link, line.sent, &line.packet, &AddressBook::new()).expect("memory");
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("association-{}.pcapng", std::process::id()));
    std::fs::write(&file, writer.finish().expect("memory")).expect("the capture is written");
    let good = tshark(&file, "sctp.checksum.status == 1", "sctp.chunk_type");
    let malformed = tshark(&file, "_ws.malformed", "_ws.expert.message");
    let errors = tshark(&file, "_ws.expert.severity == error", "_ws.expert.message");
    std::fs::remove_file(&file).expect("it was written");
    assert_eq!(good.len(), pair.log.len(), "right checksums");
    assert_eq!((malformed, errors), (Vec::<String>::new(), Vec::<String>::new()));
    // Every procedure is in the capture.
    let kinds: Vec<&str> = good.iter().flat_map(|line| line.split(',')).collect();
    for kind in ["0", "1", "2", "3", "4", "5", "7", "8", "10", "11", "14", "168", "169"] {
        assert!(kinds.contains(&kind), "no chunk of type {kind}");
    }
}
