//! SACK blocks that lie: of data that has not come, so that the sender takes what is
//! before it for lost (RFC 6675 §9), and of data that is thrown away later (RFC 2018
//! §8, RFC 9260 §6.2.1).

use super::Twist;
use anabranch_units::Serial32;
use anabranch_wire::sctp::{Chunk, GapBlock};
use anabranch_wire::{Body, Packet, SackBlock, TcpFlags};
use std::collections::VecDeque;

/// Octets between two blocks.
const STEP: u32 = 3000;
/// TSNs beyond the cumulative one that a gap block can tell.
const REACH: u16 = 60_000;

/// Every ACK has blocks ahead of it, the farther the more of them there were.
pub(super) struct Lies {
    size: u32,
    turn: u32,
}

impl Lies {
    /// Each block has so many octets.
    pub fn new(size: u32) -> Lies {
        Lies { size: size.max(1), turn: 0 }
    }
}

impl Twist for Lies {
    fn send(&mut self, mut packet: Packet, out: &mut VecDeque<Packet>) {
        let is_ack = packet.is_pure_ack();
        self.turn = (self.turn + 1) % 64;
        let ahead = 1 + self.turn * STEP;
        match &mut packet.body {
            Body::Tcp(segment) if is_ack => {
                let left = segment.ack.add(ahead);
                let block = |left: Serial32| SackBlock { left, right: left.add(self.size) };
                for i in 0..3 {
                    if !segment.options.sack.push(block(left.add(i * STEP))) {
                        break;
                    }
                }
            }
            Body::Sctp(sctp) => {
                for chunk in sctp.chunks.iter_mut() {
                    if let Chunk::Sack(sack) = chunk {
                        let start = 2 + (self.turn as u16) % REACH;
                        sack.gaps = vec![GapBlock { start, end: start + 1 }];
                    }
                }
            }
            _ => {}
        }
        out.push_back(packet);
    }
}

/// Blocks are told as they are, and the ACK number stays where it was when the first
/// was told, for so many ACKs; then the blocks are gone.
pub(super) struct Reneging {
    turn: u32,
}

impl Reneging {
    pub fn new() -> Reneging {
        Reneging { turn: 0 }
    }
}

/// ACKs with the blocks, then as many without.
const PERIOD: u32 = 16;

impl Twist for Reneging {
    fn send(&mut self, mut packet: Packet, out: &mut VecDeque<Packet>) {
        self.turn = self.turn.wrapping_add(1);
        let taken_back = self.turn / PERIOD % 2 == 1;
        match &mut packet.body {
            Body::Tcp(segment)
                if segment.flags.contains(TcpFlags::ACK)
                    && !segment.flags.contains(TcpFlags::SYN) =>
            {
                if taken_back {
                    let dss = segment.options.dss();
                    segment.options.sack = anabranch_wire::SackBlocks::NONE;
                    if let Some(dss) = dss {
                        segment.options.set_dss(&dss);
                    }
                } else if segment.options.sack.is_empty() {
                    // Of what came in order, a part as if above a gap.
                    let right = segment.ack;
                    let left = Serial32(right.0.wrapping_sub(1000));
                    segment.ack = Serial32(right.0.wrapping_sub(2000));
                    segment.options.sack.push(SackBlock { left, right });
                }
            }
            Body::Sctp(sctp) => {
                for chunk in sctp.chunks.iter_mut() {
                    if let Chunk::Sack(sack) = chunk {
                        if taken_back {
                            sack.gaps.clear();
                        } else if sack.gaps.is_empty() {
                            sack.cum_tsn = Serial32(sack.cum_tsn.0.wrapping_sub(3));
                            sack.gaps.push(GapBlock { start: 3, end: 3 });
                        }
                    }
                }
            }
            _ => {}
        }
        out.push_back(packet);
    }
}
