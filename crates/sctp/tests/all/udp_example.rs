//! The example that speaks SCTP in datagrams of UDP, against itself over the loopback interface and against
//! usrsctp.

#[expect(dead_code, reason = "an example is a program, of which this uses the two sides")]
#[path = "../../examples/udp.rs"]
mod udp;

use anabranch_testkit::needs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// Messages of all sizes, the largest of many packets.
fn messages() -> Vec<Vec<u8>> {
    [1, 2, 1000, 1452, 1453, 20_000, 100_000].map(|len| vec![len as u8; len]).to_vec()
}

/// What came back is what was sent; on each stream in order.
fn assert_echoed(peer: SocketAddr) {
    let socket = UdpSocket::bind((peer.ip(), 0)).expect("a port is free");
    let mut answers = udp::call(socket, peer, &messages()).expect("the association ends in order");
    answers.sort_by_key(|message| message.payload.len());
    let octets: Vec<_> =
        answers.iter().map(|m| m.payload.octets().expect("real").to_vec()).collect();
    assert!(octets == messages(), "{answers:?}");
}

#[test]
fn both_sides_of_the_example_talk_over_ipv4_and_ipv6() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        // A machine may have no IPv6.
        let Ok(socket) = UdpSocket::bind(address) else { continue };
        let peer = socket.local_addr().expect("it is bound");
        let listener = thread::spawn(move || udp::listen(socket));
        assert_echoed(peer);
        let count = listener.join().expect("it does not panic").expect("it ends in order");
        assert_eq!(count, messages().len());
    }
}

#[test]
fn the_example_talks_to_usrsctp() {
    let header = Path::new("/usr/include/usrsctp.h");
    let missing = (!header.exists()).then(|| format!("no {}", header.display()));
    if !needs::usrsctp(missing.map_or(Ok(()), Err)) {
        return;
    }
    let program = compiled();
    let mut child =
        Command::new(&program).stdout(Stdio::piped()).spawn().expect("the compiled program starts");
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    output.read_line(&mut line).expect("it says its port");
    let port: u16 = line.trim().parse().expect("a port");
    assert_echoed(SocketAddr::from(([127, 0, 0, 1], port)));
    assert!(child.wait().expect("it ends").success());
}

/// The echo server over usrsctp, compiled.
fn compiled() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join(format!("usrsctp-echo-{}", std::process::id()));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/usrsctp-echo.c");
    let done = Command::new("cc")
        .args(["-O1", "-Wall", "-Wextra", "-Werror", source, "-lusrsctp", "-lpthread", "-o"])
        .arg(&program)
        .output()
        .expect("cc starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}
