//! The example that carries Multipath TCP in datagrams of UDP, against itself over the loopback interface.

#[expect(dead_code, reason = "an example is a program, of which this uses the two sides")]
#[path = "../../examples/udp.rs"]
mod udp;

use std::net::{SocketAddr, UdpSocket};
use std::thread;

fn bound(address: &str) -> UdpSocket {
    UdpSocket::bind(address).expect("a port is free")
}

#[test]
fn both_sides_of_the_example_talk_over_two_paths() {
    let sent: Vec<u8> = (0..600_000_u32).map(|at| (at * 7 / 3) as u8).collect();
    let sockets = vec![bound("127.0.0.1:0"), bound("127.0.0.1:0")];
    let peers: Vec<SocketAddr> = sockets.iter().map(|each| each.local_addr().unwrap()).collect();
    let listener = thread::spawn(move || udp::listen(sockets));
    let callers = vec![bound("127.0.0.1:0"), bound("127.0.0.1:0")];
    let answer = udp::call(callers, &peers, &sent).expect("the connection ends in order");
    assert!(answer.octets == sent, "{} octets of {}", answer.octets.len(), sent.len());
    assert!(answer.is_multipath);
    assert_eq!(answer.by_path.iter().sum::<u64>(), sent.len() as u64, "{:?}", answer.by_path);
    assert!(answer.by_path.iter().all(|bytes| *bytes > 0), "{:?}", answer.by_path);
    let count = listener.join().expect("it does not panic").expect("it ends in order");
    assert_eq!(count, sent.len() as u64);
}

/// What comes to a path whose other end does not answer goes over the other.
#[test]
fn a_path_without_an_answer_is_left_out() {
    let sent = vec![7; 100_000];
    let sockets = vec![bound("127.0.0.1:0"), bound("127.0.0.1:0")];
    let silent = bound("127.0.0.1:0");
    let peers = [sockets[0].local_addr().unwrap(), silent.local_addr().unwrap()];
    let listener = thread::spawn(move || udp::listen(sockets));
    let callers = vec![bound("127.0.0.1:0"), bound("127.0.0.1:0")];
    let answer = udp::call(callers, &peers, &sent).expect("the connection ends in order");
    assert_eq!((answer.octets.len(), answer.by_path), (100_000, vec![100_000, 0]));
    listener.join().expect("it does not panic").expect("it ends in order");
}
