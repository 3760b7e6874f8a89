//! The examples that speak SCTP in datagrams of UDP, with the standard library and with tokio, against the first
//! over the loopback interface and against usrsctp.

#[expect(dead_code, reason = "an example is a program, of which this uses the caller")]
#[path = "../../examples/tokio.rs"]
mod asynchronous;
#[expect(dead_code, reason = "an example is a program, of which this uses the two sides")]
#[path = "../../examples/udp.rs"]
mod udp;

use anabranch_sctp::Message;
use anabranch_testkit::needs;
use std::io::{self, BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use tokio::runtime::{Builder, Runtime};

/// Messages of all sizes, the largest of many packets.
fn messages() -> Vec<Vec<u8>> {
    [1, 2, 1000, 1452, 1453, 20_000, 100_000].map(|len| vec![len as u8; len]).to_vec()
}

/// What calls, and returns the answers.
type Caller = fn(SocketAddr) -> io::Result<Vec<Message>>;

/// The example with the standard library.
fn plainly(peer: SocketAddr) -> io::Result<Vec<Message>> {
    udp::call(UdpSocket::bind((peer.ip(), 0))?, peer, &messages())
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("the system has what it takes")
}

/// The example with tokio.
fn asynchronously(peer: SocketAddr) -> io::Result<Vec<Message>> {
    runtime().block_on(asynchronous::call(peer, &messages()))
}

/// What came back is what was sent.
fn assert_echoed(call: Caller, peer: SocketAddr) {
    assert_whole(call(peer).expect("the association ends in order"));
}

fn assert_whole(mut answers: Vec<Message>) {
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
        assert_echoed(plainly, peer);
        let count = listener.join().expect("it does not panic").expect("it ends in order");
        assert_eq!(count, messages().len());
    }
}

/// Both associations make progress on one thread, each while the other waits.
#[test]
fn tasks_of_tokio_hold_an_association_each() {
    let sockets = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a port is free"));
    let peers = sockets.each_ref().map(|socket| socket.local_addr().expect("it is bound"));
    let listeners = sockets.map(|socket| thread::spawn(move || udp::listen(socket)));
    let runtime = runtime();
    let call = |peer| runtime.spawn(async move { asynchronous::call(peer, &messages()).await });
    for task in peers.map(call) {
        let answers = runtime.block_on(task).expect("it does not panic");
        assert_whole(answers.expect("the association ends in order"));
    }
    for listener in listeners {
        let count = listener.join().expect("it does not panic").expect("it ends in order");
        assert_eq!(count, messages().len());
    }
}

/// The listener comes half a second later, so that the first packets find nobody.
#[test]
fn tokio_calls_again_where_nobody_listens_yet() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let peer = socket.local_addr().expect("it is bound");
    drop(socket);
    let listener = thread::spawn(move || {
        thread::sleep(std::time::Duration::from_millis(500));
        UdpSocket::bind(peer).and_then(udp::listen)
    });
    assert_echoed(asynchronously, peer);
    assert_eq!(listener.join().expect("it does not panic").expect("it ends"), messages().len());
}

#[test]
fn the_examples_talk_to_usrsctp() {
    let header = Path::new("/usr/include/usrsctp.h");
    let missing = (!header.exists()).then(|| format!("no {}", header.display()));
    if !needs::usrsctp(missing.map_or(Ok(()), Err)) {
        return;
    }
    let program = compiled();
    for call in [plainly as Caller, asynchronously] {
        let mut child = Command::new(&program)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the compiled program starts");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        output.read_line(&mut line).expect("it says its port");
        let port: u16 = line.trim().parse().expect("a port");
        assert_echoed(call, SocketAddr::from(([127, 0, 0, 1], port)));
        assert!(child.wait().expect("it ends").success());
    }
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
