//! ACKs that make a sender grow its window too fast (Savage et al. 1999 §2): in parts,
//! ahead of time, many times over.

use super::Twist;
use anabranch_units::Serial32;
use anabranch_wire::sctp::Chunk;
use anabranch_wire::{Body, Packet, SackBlocks, TcpFlags, TcpSegment};
use std::collections::VecDeque;

/// An ACK that acknowledges and does nothing else, ever.
fn pure_ack(packet: &Packet) -> Option<&TcpSegment> {
    let Body::Tcp(segment) = &packet.body else { return None };
    packet.is_pure_ack().then_some(segment)
}

fn with_tcp(mut packet: Packet, change: impl FnOnce(&mut TcpSegment)) -> Packet {
    if let Body::Tcp(segment) = &mut packet.body {
        change(segment);
    }
    packet
}

/// §2.2: each ACK is cut into so many that each acknowledges a part of the same
/// octets.
pub(super) struct Division {
    parts: u32,
    last: Option<Serial32>,
}

impl Division {
    pub fn new(parts: u32) -> Division {
        Division { parts: parts.max(1), last: None }
    }
}

impl Twist for Division {
    fn send(&mut self, packet: Packet, out: &mut VecDeque<Packet>) {
        let Some(ack) = pure_ack(&packet).map(|pure_ack| pure_ack.ack) else {
            return out.push_back(packet);
        };
        let before = self.last.replace(ack).unwrap_or(ack);
        let new = u32::try_from(ack.distance_from(before)).unwrap_or(0);
        for part in 1..self.parts.min(new) {
            let at = before.add((u64::from(new) * u64::from(part) / u64::from(self.parts)) as u32);
            out.push_back(with_tcp(packet.clone(), |item| item.ack = at));
        }
        out.push_back(packet);
    }
}

/// §2.4: what comes next is acknowledged before it has come, so far ahead of the last
/// that did; losses are not told.
pub(super) struct Optimistic {
    ahead: u32,
    /// The end of the latest data that came.
    seen: Option<Serial32>,
    /// The largest TSN that came.
    tsn: Option<Serial32>,
}

impl Optimistic {
    pub fn new(ahead: u32) -> Optimistic {
        Optimistic { ahead, seen: None, tsn: None }
    }
}

fn later(seen: &mut Option<Serial32>, new: Serial32) {
    if seen.is_none_or(|seen| new.distance_from(seen) > 0) {
        *seen = Some(new);
    }
}

impl Twist for Optimistic {
    fn receive(&mut self, packet: &Packet) {
        match &packet.body {
            Body::Tcp(segment) if !segment.payload.is_empty() => {
                later(&mut self.seen, segment.seq.add(segment.payload.len()));
            }
            Body::Sctp(sctp) => {
                for chunk in sctp.chunks.iter() {
                    match chunk {
                        Chunk::Data(data) => later(&mut self.tsn, data.tsn),
                        Chunk::IData(data) => later(&mut self.tsn, data.tsn),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn send(&mut self, mut packet: Packet, out: &mut VecDeque<Packet>) {
        let (ahead, seen, tsn) = (self.ahead, self.seen, self.tsn);
        match &mut packet.body {
            Body::Tcp(segment)
                if segment.flags.contains(TcpFlags::ACK)
                    && !segment.flags.intersects(TcpFlags::SYN.union(TcpFlags::RST)) =>
            {
                if let Some(seen) = seen {
                    let mut dss = segment.options.clone();
                    dss.sack = SackBlocks::NONE;
                    if let Some(old) = segment.options.dss() {
                        dss.set_dss(&old);
                    }
                    segment.options = dss;
                    segment.ack = seen.add(ahead);
                }
            }
            Body::Sctp(sctp) => {
                for chunk in sctp.chunks.iter_mut() {
                    if let (Chunk::Sack(sack), Some(tsn)) = (chunk, tsn) {
                        // TSNs, not octets: one for each full chunk.
                        sack.cum_tsn = tsn.add(ahead / 1460);
                        sack.gaps.clear();
                    }
                }
            }
            _ => {}
        }
        out.push_back(packet);
    }
}

/// §2.3: so many copies of each ACK, or SACK.
pub(super) struct Duplicates {
    pub copies: u32,
}

impl Twist for Duplicates {
    fn send(&mut self, packet: Packet, out: &mut VecDeque<Packet>) {
        if packet.is_pure_ack() {
            out.extend((0..self.copies).map(|_| packet.clone()));
        }
        out.push_back(packet);
    }
}
