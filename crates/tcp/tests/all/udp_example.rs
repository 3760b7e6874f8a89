//! The example that carries TCP in datagrams of UDP, against itself over the loopback interface.

#[expect(dead_code, reason = "an example is a program, of which this uses the two sides")]
#[path = "../../examples/udp.rs"]
mod udp;

use std::net::UdpSocket;
use std::thread;

#[test]
fn both_sides_of_the_example_talk_over_ipv4_and_ipv6() {
    let sent: Vec<u8> = (0..300_000_u32).map(|at| (at * 7 / 3) as u8).collect();
    for address in ["127.0.0.1:0", "[::1]:0"] {
        // A machine may have no IPv6.
        let Ok(socket) = UdpSocket::bind(address) else { continue };
        let peer = socket.local_addr().expect("it is bound");
        let listener = thread::spawn(move || udp::listen(socket));
        let caller = UdpSocket::bind((peer.ip(), 0)).expect("a port is free");
        let answer = udp::call(caller, peer, &sent).expect("the connection ends in order");
        assert!(answer == sent, "{} octets of {}", answer.len(), sent.len());
        let count = listener.join().expect("it does not panic").expect("it ends in order");
        assert_eq!(count, sent.len() as u64);
    }
}
