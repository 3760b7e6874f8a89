//! Segments that overlap the peer's with other octets (Ptacek and Newsham 1998 §4.3):
//! whoever knows the numbers puts his own data where the peer's has come, is under
//! way or will come. What was acknowledged cannot change; of what waits above a gap
//! either copy may win, and no standard says which (RFC 9293 §3.10.7.4).

use super::Form;
use super::scene::{Scene, forged_octets, segment};
use anabranch_wire::TcpFlags;

/// In turn: before what the victim expects and beyond it, and above a gap.
pub(super) struct Overlap {
    pub size: u32,
}

impl Form for Overlap {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        let Some(numbers) = scene.numbers() else { return };
        let size = self.size.max(2);
        let behind = numbers.seq.add((size / 2).wrapping_neg());
        let above = numbers.seq.add(1 + scene.generator.below(numbers.window.into()) as u32);
        let seq = if scene.generator.chance(0.5) { behind } else { above };
        let mut forged = segment(seq, numbers.ack, TcpFlags::ACK);
        forged.options.timestamps = numbers.timestamps;
        forged.payload = forged_octets(size);
        scene.send_tcp(scene.peer(), forged);
    }
}
