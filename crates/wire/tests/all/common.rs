//! Strategies for packets of every kind that the wire can carry.

use anabranch_units::Serial32;
use anabranch_wire::{
    AccEcn, AccEcnOrder, Addr, Body, Ecn, FastOpenCookie, FastOpenOption, Icmp, IcmpKind, Packet,
    Payload, Quote, RareOptions, SackBlock, SackBlocks, TcpFlags, TcpOptions, TcpSegment,
    Timestamps, UdpDatagram,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

mod mptcp;
mod sctp;

pub use mptcp::{dss, mptcp};
pub use sctp::sctp;

pub fn payload() -> impl Strategy<Value = Payload> {
    prop_oneof![
        Just(Payload::EMPTY),
        (0_u32..2000).prop_map(Payload::virtual_of),
        vec(any::<u8>(), 0..2000).prop_map(Payload::of_octets),
    ]
}

fn sack() -> impl Strategy<Value = SackBlocks> {
    vec(any::<(u32, u32)>(), 0..=4).prop_map(|blocks| {
        let mut sack = SackBlocks::NONE;
        for (left, right) in blocks {
            sack.push(SackBlock { left: Serial32(left), right: Serial32(right) });
        }
        sack
    })
}

/// Kinds from 9 on that the crate understands.
const UNDERSTOOD: [u8; 5] = [30, 34, 172, 174, 254];

/// Options of kinds that the crate does not understand, in a row.
fn unknown() -> impl Strategy<Value = Box<[u8]>> {
    let kind = (9_u8..=255).prop_filter("unknown", |kind| !UNDERSTOOD.contains(kind));
    let value = (kind, vec(any::<u8>(), 0..12));
    vec(value, 0..4).prop_map(|options| {
        let mut octets = Vec::new();
        for (kind, value) in options {
            octets.extend_from_slice(&[kind, value.len() as u8 + 2]);
            octets.extend_from_slice(&value);
        }
        octets.into()
    })
}

fn rare() -> impl Strategy<Value = RareOptions> {
    let cookie = (vec(any::<u8>(), 0..=16), any::<bool>());
    let fast_open = cookie.prop_map(|(octets, experimental)| {
        let cookie = FastOpenCookie::new(&octets)?;
        Some(FastOpenOption { cookie, experimental })
    });
    let mptcp = prop_oneof![Just(Vec::new()), vec(mptcp(), 1..=2)];
    (fast_open, mptcp, prop_oneof![Just(Box::default()), unknown()])
        .prop_map(|(fast_open, mptcp, unknown)| RareOptions { fast_open, mptcp, unknown })
}

fn acc_ecn() -> impl Strategy<Value = Box<AccEcn>> {
    (any::<bool>(), 0_u8..=3, any::<[u32; 3]>()).prop_map(|(first, fields, [e0b, ceb, e1b])| {
        let order = if first { AccEcnOrder::Zero } else { AccEcnOrder::One };
        Box::new(AccEcn::new(order, fields, e0b, ceb, e1b))
    })
}

/// Options, also such as do not fit a header.
pub fn options() -> impl Strategy<Value = TcpOptions> {
    let timestamps = any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo });
    (
        any::<Option<u16>>(),
        any::<Option<u8>>(),
        any::<(bool, bool)>(),
        option::of(timestamps),
        sack(),
        option::of(acc_ecn()),
        option::weighted(0.3, dss()),
        option::weighted(0.3, rare()),
    )
        .prop_map(
            |(mss, window_scale, (sack_permitted, first), timestamps, sack, acc_ecn, dss, rare)| {
                let rare = rare.map(Box::new);
                let others = sack_permitted || timestamps.is_some();
                let mut all = TcpOptions {
                    mss,
                    window_scale,
                    sack_permitted,
                    scale_first: first && window_scale.is_some() && others,
                    timestamps,
                    sack,
                    acc_ecn,
                    rare,
                };
                if let Some(dss) = dss {
                    all.set_dss(&dss);
                }
                all
            },
        )
}

pub fn segment() -> impl Strategy<Value = TcpSegment> {
    let fits = options().prop_filter("at most 40 octets", |options| options.wire_len() <= 40);
    let numbers = any::<(u16, u16, u32, u32, u16, u16)>();
    (numbers, 0_u16..0x1000, fits, payload()).prop_map(|(numbers, flags, options, payload)| {
        let (src_port, dst_port, seq, ack, window, urgent) = numbers;
        TcpSegment {
            src_port,
            dst_port,
            seq: Serial32(seq),
            ack: Serial32(ack),
            flags: TcpFlags(flags),
            window,
            urgent,
            options,
            payload,
        }
    })
}

fn icmp() -> impl Strategy<Value = Icmp> {
    // Those that are the same in both versions.
    let kind = prop_oneof![
        Just(IcmpKind::NoRoute),
        Just(IcmpKind::HostUnreachable),
        Just(IcmpKind::PortUnreachable),
        any::<u16>().prop_map(|mtu| IcmpKind::PacketTooBig { mtu: mtu.into() }),
        Just(IcmpKind::Prohibited),
        Just(IcmpKind::TimeExceeded),
    ];
    let header = any::<(u8, u8, u8, u8, [u8; 8])>();
    let within_udp = option::weighted(0.2, any::<[u8; 8]>());
    (kind, 0_u32..1000, 0_u32..1000, header, 0_u16..65_516, within_udp).prop_map(
        |(kind, src, dst, (protocol, ttl, dscp, ecn, first), len, within_udp)| Icmp {
            kind,
            quote: Quote {
                src: Addr(src),
                dst: Addr(dst),
                protocol: if within_udp.is_some() { 17 } else { protocol },
                ttl,
                dscp: dscp & 0x3f,
                ecn: Ecn::from_bits(ecn),
                ident: 0, // not in IPv6
                len,
                first,
                within_udp,
            },
        },
    )
}

pub fn packet() -> impl Strategy<Value = Packet> {
    let other = (
        any::<u8>().prop_filter("not a known one", |p| ![1, 6, 17, 58, 132].contains(p)),
        payload(),
    )
        .prop_map(|(protocol, payload)| Body::Other { protocol, payload });
    let icmp = icmp().prop_map(|icmp| Body::Icmp(Box::new(icmp)));
    let udp = (any::<u16>(), any::<u16>(), vec(any::<u8>(), 0..=12), payload())
        // SCTP in UDP has a port of its own.
        .prop_filter("not of SCTP", |(src, dst, ..)| *src != 9899 && *dst != 9899)
        .prop_map(|(src_port, dst_port, head, payload)| {
            let head = anabranch_wire::udp::Head::new(&head);
            Body::Udp(UdpDatagram { src_port, dst_port, head, payload })
        });
    let body = prop_oneof![
        2 => udp,
        4 => segment().prop_map(Body::Tcp),
        4 => sctp().prop_map(|sctp| Body::Sctp(Box::new(sctp))),
        1 => icmp,
        1 => other,
    ];
    let addr = || (0_u32..1000).prop_map(Addr);
    (addr(), addr(), any::<u8>(), 0_u8..64, any::<u8>(), any::<u16>(), body).prop_map(
        |(src, dst, ttl, dscp, ecn, ident, body)| {
            let ecn = Ecn::from_bits(ecn);
            Packet { src, dst, ttl, dscp, ecn, ident, may_fragment: false, body }
        },
    )
}
