//! Segments that a host finds together.

use super::*;
use anabranch_wire::Ecn;

/// A segment of `len` octets from `seq` on; its flags beside ACK.
type Segment = (u32, u32, TcpFlags, Ecn);

const PLAIN: TcpFlags = TcpFlags(0);

fn data(seq: u32, len: u32) -> Segment {
    (seq, len, PLAIN, Ecn::Ect0)
}

/// What the endpoint at a host acknowledges when these come between two calls of
/// [`Simulation::answer`], after the handshake.
fn answers(offload: bool, segments: &[Segment]) -> Vec<u32> {
    let mut builder = Builder::new();
    let ends = line(&mut builder, &config(), Seed::default());
    builder.flow(FlowSpec { start: Time::NEVER - MS(1), ..spec(&builder, ends, 80, 1) });
    builder.outside(ends[0]);
    if offload {
        builder.receive_offload(ends[1]);
    }
    let [a, b] = ends.map(|node| builder.addr(node));
    let mut sim = builder.build().unwrap();
    let mut come = |segments: &[Segment], ms: u64| {
        for &(seq, len, flags, ecn) in segments {
            let segment = TcpSegment {
                src_port: 80,
                dst_port: 80,
                seq: Serial32(seq),
                ack: Serial32(1),
                flags: flags.union(TcpFlags::ACK),
                window: u16::MAX,
                urgent: 0,
                options: TcpOptions::default(),
                payload: Payload::virtual_of(len),
            };
            sim.enter(ends[0], Packet { ecn, ..Packet::new(a, b, Body::Tcp(segment)) });
        }
        sim.run_until(Time::ZERO + MS(ms));
        sim.answer();
        sim.run_until(Time::ZERO + MS(ms + 100));
        let acks = sim.departures().map(|departure| match &departure.packet.body {
            Body::Tcp(segment) => segment.ack.0,
            _ => panic!("a segment"),
        });
        acks.collect::<Vec<_>>()
    };
    let handshake = come(&[(0, 0, TcpFlags::SYN, Ecn::NotEct), (1, 0, PLAIN, Ecn::NotEct)], 100);
    assert_eq!(handshake, [1]);
    come(segments, 400)
}

#[test]
fn what_follows_each_other_is_answered_once() {
    let three = [data(1, 1000), data(1001, 1000), data(2001, 1000)];
    assert_eq!(answers(true, &three), [3001]);
    assert_eq!(answers(false, &three), [1001, 2001, 3001]);
}

#[test]
fn what_does_not_follow_ends_a_train() {
    let table: [(&str, &[Segment], &[u32]); 7] = [
        ("a gap", &[data(1, 9), data(10, 9), data(28, 9), data(37, 9)], &[19, 19]),
        ("the same again", &[data(1, 9), data(1, 9), data(10, 9)], &[10, 19]),
        ("a short one is the last", &[data(1, 9), data(10, 5), data(15, 9)], &[15, 24]),
        ("a longer one is the first", &[data(1, 5), data(6, 9), data(15, 9)], &[6, 24]),
        ("a mark", &[data(1, 9), (10, 9, PLAIN, Ecn::Ce), (19, 9, PLAIN, Ecn::Ce)], &[10, 28]),
        ("PSH does not", &[(1, 9, TcpFlags::PSH, Ecn::Ect0), data(10, 9)], &[19]),
        ("CWR", &[data(1, 9), (10, 9, TcpFlags::CWR, Ecn::Ect0), data(19, 9)], &[10, 19, 28]),
    ];
    for (what, segments, expected) in table {
        assert_eq!(answers(true, segments), expected, "{what}");
    }
}

/// 65 full segments of 1000 octets and their headers are a packet of Linux.
#[test]
fn a_train_has_an_end() {
    let many: Vec<Segment> = (0..70).map(|i| data(1 + i * 1000, 1000)).collect();
    assert_eq!(answers(true, &many), [65_001, 70_001]);
}
