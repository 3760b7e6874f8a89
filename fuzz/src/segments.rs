//! A peer that knows the keys and the sequence numbers, and sends whatever segments it likes:
//! typed sequences of them against an established Multipath TCP connection.

use crate::input::Input;
use crate::multipath;
use anabranch_endpoint::Endpoint;
use anabranch_mptcp::Key;
use anabranch_units::Serial32;
use anabranch_wire::tcp::mptcp::{
    AddAddr, Capable, CapableFlags, CapableKeys, DataNumber, Dss, Join, Mapping, MptcpOption,
    RemoveAddr,
};
use anabranch_wire::tcp::{SackBlock, TcpFlags};
use anabranch_wire::{Addr, Body, Packet, Payload, TcpSegment};
use std::net::IpAddr;

/// Steps of a run, at most.
const MOST_STEPS: usize = 300;
/// Subflows that the peer speaks on, at most.
const MOST_FLOWS: usize = 12;

/// The input is a configuration, whom the segments go to, and steps: segments with typed options,
/// data sequence numbers near those that are expected and right HMACs, on subflows that are there
/// and on new ones, between commands, dates and packets of the real peer. What
/// [`mptcp_connection`](crate::mptcp_connection) promises holds.
pub fn mptcp_segments(octets: &[u8]) {
    let mut input = Input(octets);
    let mut world = multipath::world(&mut input);
    let arrived = world.establish();
    let victim = input.index(2);
    let keys = [world.ends[1 - victim].key(), world.ends[victim].key()];
    let mut peer = Peer { keys, real: world.real, seen: Vec::new() };
    peer.look(&arrived, victim);
    for _ in 0..MOST_STEPS {
        peer.look(&world.sent, victim);
        if input.0.is_empty() {
            break;
        }
        let forged = if input.byte() % 4 > 0 { peer.packet(&mut input) } else { None };
        match forged {
            None => world.step(&mut input),
            Some(packet) => {
                let now = world.now;
                world.ends[victim].handle_input(now, &packet);
            }
        }
        world.poll();
    }
}

/// What the peer knows.
struct Peer {
    /// Its own and the victim's.
    keys: [Key; 2],
    /// Data is real octets.
    real: bool,
    /// The last segment of the victim on each subflow.
    seen: Vec<Packet>,
}

impl Peer {
    /// Reads what the victim has sent.
    fn look(&mut self, packets: &[(usize, Packet)], victim: usize) {
        for (to, packet) in packets {
            if *to == victim {
                continue;
            }
            let same = |it: &Packet| it.flow_key() == packet.flow_key();
            match self.seen.iter().position(same) {
                Some(at) => self.seen[at] = packet.clone(),
                None if self.seen.len() < MOST_FLOWS => self.seen.push(packet.clone()),
                None => {}
            }
        }
    }

    /// A packet to the victim; nothing where it has said nothing.
    fn packet(&self, input: &mut Input) -> Option<Packet> {
        if self.seen.is_empty() {
            return None;
        }
        let seen = &self.seen[input.index(self.seen.len())];
        let Body::Tcp(last) = &seen.body else { return None };
        let mut src = seen.dst;
        let mut segment = self.segment(last, input);
        if input.byte() % 8 == 0 {
            // On a subflow that is opened with this.
            segment.src_port = segment.src_port.wrapping_add(input.byte() as u16 % 6);
            src = Addr(src.0 ^ (2 * (input.byte() as u32 & 1)));
        }
        Some(Packet::new(src, seen.src, Body::Tcp(segment)))
    }

    /// An answer to `last`, more or less.
    fn segment(&self, last: &TcpSegment, input: &mut Input) -> TcpSegment {
        let flags = match input.byte() % 16 {
            0 => TcpFlags::SYN,
            1 => TcpFlags::SYN.union(TcpFlags::ACK),
            2 => TcpFlags::FIN.union(TcpFlags::ACK),
            3 => TcpFlags::RST,
            4 => TcpFlags::RST.union(TcpFlags::ACK),
            5 => TcpFlags(input.u16() & 0x1ff),
            _ => TcpFlags::ACK,
        };
        let len = match input.byte() % 4 {
            0 => 0,
            _ => input.byte() as usize * 8,
        };
        let mut segment = TcpSegment {
            src_port: last.dst_port,
            dst_port: last.src_port,
            seq: Serial32(near(last.ack.0.into(), input) as u32),
            ack: Serial32(near(last.seq.0.wrapping_add(last.payload.len()).into(), input) as u32),
            flags,
            window: input.u16(),
            urgent: 0,
            options: Default::default(),
            payload: match self.real {
                true => Payload::of_octets(vec![7; len]),
                false => Payload::virtual_of(len as u32),
            },
        };
        if let (Some(timestamps), true) = (last.options.timestamps, input.byte() % 8 > 0) {
            segment.options.timestamps = Some(anabranch_wire::tcp::Timestamps {
                value: timestamps.echo,
                echo: timestamps.value,
            });
        }
        if input.byte() % 8 == 0 {
            let left = Serial32(near(last.seq.0.into(), input) as u32);
            segment.options.sack.push(SackBlock { left, right: left.add(input.u16() as u32) });
        }
        self.options(last, &mut segment, input);
        segment
    }

    fn options(&self, last: &TcpSegment, segment: &mut TcpSegment, input: &mut Input) {
        let long = input.byte() & 1 != 0;
        let number = |n: u64| if long { DataNumber::Long(n) } else { DataNumber::Short(n as u32) };
        if input.byte() % 4 > 0 {
            let of = |number: DataNumber, high: u64| match number {
                DataNumber::Long(n) => n,
                DataNumber::Short(n) => high & !0xffff_ffff | u64::from(n),
            };
            let [own, its] = self.keys.map(|key| key.idsn().wrapping_add(1));
            let seen = last.options.dss().unwrap_or_default();
            let expected = seen.data_ack.map_or(own, |ack| of(ack, own));
            let sent = seen.mapping.map_or(its, |it| of(it.dsn, its) + u64::from(it.len));
            let dss = Dss {
                data_ack: (input.byte() & 1 != 0).then(|| number(near(sent, input))),
                mapping: (input.byte() & 3 != 0).then(|| Mapping {
                    dsn: number(near(expected, input)),
                    ssn: near(u64::from(1 + input.u16() % 4000), input) as u32,
                    len: match input.byte() % 8 {
                        0 => 0,
                        1 => input.u16(),
                        _ => segment.payload.len() as u16,
                    },
                    checksum: (input.byte() & 1 != 0).then(|| input.u16()),
                }),
                data_fin: input.byte() % 8 == 0,
            };
            let dss = Dss { data_fin: dss.data_fin && dss.mapping.is_some(), ..dss };
            segment.options.set_dss(&dss);
        }
        for _ in 0..input.index(3) {
            let option = self.option(input);
            let list = &mut segment.options.rare_mut().mptcp;
            list.extend(option);
        }
        if segment.options.wire_len() > 40 {
            segment.options.rare_mut().mptcp.truncate(1);
        }
        if segment.options.wire_len() > 40 {
            segment.options.rare_mut().mptcp.clear();
        }
    }

    fn option(&self, input: &mut Input) -> Option<MptcpOption> {
        let [own, its] = self.keys;
        let address = |input: &mut Input| {
            (1 + input.byte() % 12, IpAddr::from([10, 0, 0, 1 + input.byte() % 40]))
        };
        Some(match input.byte() % 16 {
            0..4 => {
                let (id, ip) = address(input);
                let port = (input.byte() % 4 == 0).then(|| input.u16());
                let mac = (input.byte() % 8 > 0).then(|| own.address_mac(its, id, ip, port));
                MptcpOption::AddAddr(AddAddr { id, ip, port, mac })
            }
            4 | 5 => {
                let ids: Vec<u8> = (0..=input.index(4)).map(|_| input.byte() % 12).collect();
                MptcpOption::RemoveAddr(RemoveAddr::of(&ids)?)
            }
            6 => MptcpOption::Prio { backup: input.byte() & 1 != 0 },
            7 => MptcpOption::Fail { dsn: near(own.idsn(), input) },
            8 => MptcpOption::Fastclose { key: near(its.0, input) },
            9 => MptcpOption::TcpRst { transient: input.byte() & 1 != 0, reason: input.byte() % 8 },
            10..12 => MptcpOption::Join(Join::Syn {
                backup: input.byte() & 1 != 0,
                address: input.byte() % 12,
                token: its.token(),
                nonce: input.byte() as u32,
            }),
            12 => MptcpOption::Join(Join::SynAck {
                backup: false,
                address: input.byte() % 12,
                mac: near(0, input),
                nonce: input.byte() as u32,
            }),
            13 => {
                let mac = own.join_mac(its, input.byte() as u32, input.byte() as u32);
                let mut first = [0; 20];
                first.copy_from_slice(&mac[..20]);
                MptcpOption::Join(Join::Ack { mac: first })
            }
            _ => MptcpOption::Capable(Capable {
                version: 1 + (input.byte() % 8 == 0) as u8,
                flags: CapableFlags(input.byte()),
                keys: match input.byte() % 3 {
                    0 => CapableKeys::Syn,
                    1 => CapableKeys::SynAck { key: own.0 },
                    _ => CapableKeys::Ack { key: own.0, peer: its.0, data: None },
                },
            }),
        })
    }
}

/// A number near this one; sometimes half of the 32-bit space away.
fn near(number: u64, input: &mut Input) -> u64 {
    match input.byte() {
        255 => number.wrapping_add(1 << 31),
        254 => number.wrapping_sub(1 << 16),
        0..128 => number,
        by => number.wrapping_add_signed(i64::from(by as i8) * 8 + 512),
    }
}
