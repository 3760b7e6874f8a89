//! Forged segments in a connection of others (RFC 5961): the attacker knows addresses
//! and ports, and of the numbers what its aim says. In SCTP the verification tag takes
//! the numbers' place (RFC 9260 §8.5): data and ABORTs.

use super::scene::{Scene, forged_octets, segment};
use super::{Aim, Form};
use crate::Kind;
use anabranch_units::Serial32;
use anabranch_wire::TcpFlags;
use anabranch_wire::sctp::{Chunk, DataChunk, DataFlags};

/// How far ahead a forged timestamp is: half of what counts as later (RFC 7323 §5.2), 12 days
/// of a clock of milliseconds.
const AHEAD: u32 = 1 << 30;

/// Resets, SYNs, data, FINs or timestamps.
pub(super) struct Blind {
    pub kind: Kind,
    pub aim: Aim,
    pub size: u32,
    /// The next number of a sweep.
    pub at: u32,
}

impl Form for Blind {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        if let Some(tag) = scene.tag() {
            return self.forge_chunk(scene, tag);
        }
        let Some(numbers) = scene.numbers() else { return };
        let (seq, ack) = match self.aim {
            Aim::Exact => (numbers.seq, numbers.ack),
            Aim::Window => {
                let ahead = 1 + scene.generator.below(numbers.window.into()) as u32;
                (numbers.seq.add(ahead), numbers.ack)
            }
            Aim::Sweep => {
                self.at = self.at.wrapping_add(numbers.window);
                (Serial32(self.at), Serial32(scene.random()))
            }
            Aim::Random => (Serial32(scene.random()), Serial32(scene.random())),
        };
        let ack_flag = TcpFlags::ACK;
        let flags = match self.kind {
            Kind::BlindReset => TcpFlags::RST,
            Kind::BlindSyn => TcpFlags::SYN,
            Kind::BlindFin => TcpFlags::FIN.union(ack_flag),
            Kind::BlindTimestamp => ack_flag,
            _ => TcpFlags::PSH.union(ack_flag),
        };
        let mut forged = segment(seq, ack, flags);
        if matches!(self.aim, Aim::Exact | Aim::Window) && self.kind != Kind::BlindReset {
            forged.options.timestamps = numbers.timestamps;
        }
        if let (Kind::BlindTimestamp, Some(stamps)) = (self.kind, &mut forged.options.timestamps) {
            stamps.value = stamps.value.wrapping_add(AHEAD);
        }
        if self.kind == Kind::BlindData {
            forged.payload = forged_octets(self.size);
        }
        scene.send_tcp(scene.peer(), forged);
    }
}

impl Blind {
    /// A message of one DATA chunk, the next that the victim expects.
    fn forge_chunk(&self, scene: &mut Scene<'_>, tag: u32) {
        let tag = if self.aim == Aim::Exact { tag } else { scene.random() };
        let data = DataChunk {
            flags: DataFlags::WHOLE.union(DataFlags::UNORDERED),
            tsn: scene.tsns().expected,
            stream: 0,
            ssn: 0,
            ppid: 0,
            payload: forged_octets(self.size),
        };
        scene.send_sctp(scene.peer(), tag, Chunk::Data(data));
    }
}

/// ABORTs in an association of others.
pub(super) struct BlindAbort {
    pub aim: Aim,
}

impl Form for BlindAbort {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        let tag = match self.aim {
            Aim::Exact => scene.tag(),
            _ => Some(scene.random()),
        };
        let abort = Chunk::Abort { reflected: false, causes: Vec::new() };
        if let Some(tag) = tag {
            scene.send_sctp(scene.peer(), tag, abort);
        }
    }
}
