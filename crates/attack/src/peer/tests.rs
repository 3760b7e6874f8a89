use super::*;
use anabranch_units::Serial32;
use anabranch_wire::{Addr, Body, Payload, TcpFlags, TcpOptions, TcpSegment};

fn segment(seq: u32, ack: u32, len: u32) -> Packet {
    let segment = TcpSegment {
        src_port: 1,
        dst_port: 2,
        seq: Serial32(seq),
        ack: Serial32(ack),
        flags: TcpFlags::ACK,
        window: 500,
        urgent: 0,
        options: TcpOptions::default(),
        payload: Payload::virtual_of(len),
    };
    Packet::new(Addr(0), Addr(1), Body::Tcp(segment))
}

/// What leaves in place of these packets: sequence number, ACK number, length.
fn leaves(twist: &mut dyn Twist, packets: &[Packet]) -> Vec<(u32, u32, u32)> {
    let mut out = VecDeque::new();
    packets.iter().for_each(|packet| twist.send(packet.clone(), &mut out));
    let numbers = |packet: Packet| match packet.body {
        Body::Tcp(tcp) => (tcp.seq.0, tcp.ack.0, tcp.payload.len()),
        _ => panic!("no TCP"),
    };
    out.into_iter().map(numbers).collect()
}

#[test]
fn acks_are_divided() {
    let acks = [segment(1, 1000, 0), segment(1, 4000, 0), segment(1, 4000, 0)];
    let left = leaves(&mut acks::Division::new(3), &acks);
    assert_eq!(left.iter().map(|left| left.1).collect::<Vec<_>>(), [1000, 2000, 3000, 4000, 4000]);
}

#[test]
fn what_has_not_come_is_acknowledged() {
    let mut twist = acks::Optimistic::new(2000);
    twist.receive(&segment(5000, 1, 100));
    twist.receive(&segment(4000, 1, 100));
    assert_eq!(leaves(&mut twist, &[segment(1, 300, 0)]), [(1, 7100, 0)]);
}

#[test]
fn acks_are_copied_and_data_is_not() {
    let left = leaves(&mut acks::Duplicates { copies: 2 }, &[segment(1, 5, 0), segment(1, 5, 9)]);
    assert_eq!(left, [(1, 5, 0), (1, 5, 0), (1, 5, 0), (1, 5, 9)]);
}

#[test]
fn data_is_cut() {
    let left = leaves(&mut segments::Octets { most: 2 }, &[segment(10, 5, 5)]);
    assert_eq!(left, [(10, 5, 2), (12, 5, 2), (14, 5, 1)]);
}

#[test]
fn blocks_are_told_of_what_has_not_come_and_taken_back() {
    let mut out = VecDeque::new();
    sack::Lies::new(100).send(segment(1, 1000, 0), &mut out);
    let mut reneging = sack::Reneging::new();
    (0..20).for_each(|_| reneging.send(segment(1, 10_000, 0), &mut out));
    let blocks: Vec<usize> = out
        .iter()
        .map(|packet| match &packet.body {
            Body::Tcp(tcp) => tcp.options.sack.as_slice().len(),
            _ => panic!("no TCP"),
        })
        .collect();
    assert_eq!(blocks[0], 3);
    assert!(
        blocks[1..16].iter().all(|block| *block == 1)
            && blocks[16..].iter().all(|block| *block == 0)
    );
}

#[test]
fn windows_stay_closed() {
    let mut out = VecDeque::new();
    window::Narrow { octets: 1 }.send(segment(1, 1, 0), &mut out);
    let Body::Tcp(tcp) = &out[0].body else { panic!("no TCP") };
    assert_eq!(tcp.window, 1);
}
