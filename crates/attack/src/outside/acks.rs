//! Forged acknowledgments in a connection of others: of all that the victim has sent, so that what is
//! lost on the way is never sent again (RFC 5961 §5), and SACK blocks above what its peer has, so that
//! what lies below is taken for lost (RFC 6675 §9).

use super::scene::{Scene, segment};
use super::{Aim, Form};
use crate::Kind;
use anabranch_units::Serial32;
use anabranch_wire::sctp::{Chunk, GapBlock, SackChunk};
use anabranch_wire::{SackBlock, TcpFlags};

/// From an ACK to the first SACK block: what three segments carry.
const ABOVE: u32 = 3 * 1460;
/// Length of a SACK block.
const BLOCK: u32 = 1460;
/// The window that forged SACK chunks advertise.
const A_RWND: u32 = 65_535;

/// ACKs, or SACKs, of TCP and of SCTP.
pub(super) struct Acks {
    pub kind: Kind,
    pub aim: Aim,
    /// The next number of a sweep.
    pub at: u32,
}

impl Form for Acks {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        match scene.tag() {
            Some(tag) => self.forge_chunk(scene, tag),
            None => self.forge_segment(scene),
        }
    }
}

impl Acks {
    fn forge_segment(&mut self, scene: &mut Scene<'_>) {
        let Some(numbers) = scene.numbers() else { return };
        let knows = matches!(self.aim, Aim::Exact | Aim::Window);
        let seq = match self.aim {
            Aim::Exact => numbers.seq,
            Aim::Window => numbers.seq.add(1 + scene.generator.below(numbers.window.into()) as u32),
            Aim::Sweep => {
                self.at = self.at.wrapping_add(numbers.window);
                Serial32(self.at)
            }
            Aim::Random => Serial32(scene.random()),
        };
        let ack = match (knows, self.kind) {
            (true, Kind::BlindAck) => numbers.sent,
            (true, _) => numbers.ack,
            (false, _) => Serial32(scene.random()),
        };
        let mut forged = segment(seq, ack, TcpFlags::ACK);
        forged.options.timestamps = numbers.timestamps.filter(|_| knows);
        if self.kind == Kind::BlindSack {
            let left = ack.add(ABOVE);
            forged.options.sack.push(SackBlock { left, right: left.add(BLOCK) });
        }
        scene.send_tcp(scene.peer(), forged);
    }

    fn forge_chunk(&mut self, scene: &mut Scene<'_>, tag: u32) {
        let tsns = scene.tsns();
        let tag = if self.aim == Aim::Exact { tag } else { scene.random() };
        let (cum_tsn, gaps) = match self.kind {
            Kind::BlindAck => (tsns.sent, Vec::new()),
            _ => (tsns.acknowledged, vec![GapBlock { start: 3, end: 4 }]),
        };
        let sack = SackChunk { cum_tsn, a_rwnd: A_RWND, gaps, duplicates: Vec::new(), packets: 0 };
        scene.send_sctp(scene.peer(), tag, Chunk::Sack(sack));
    }
}
