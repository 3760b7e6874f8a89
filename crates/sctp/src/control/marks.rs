//! Marks of routers on packets that arrive (RFC 4960 Appendix A) are reported by ECNE until a CWR
//! answers.

use anabranch_units::Serial32;
use anabranch_wire::sctp::{Chunk, SctpPacket};

/// `Marks` has the mark that the peer has not answered, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    /// `lowest` is the lowest TSN of the packet that was marked first since the last answer.
    lowest: Option<Serial32>,
}

impl Marks {
    /// Notes that a packet came with CE. Returns false when it has no user data, so that there is
    /// nothing to report.
    pub fn on_mark(&mut self, sctp: &SctpPacket) -> bool {
        let tsn = |chunk: &Chunk| match chunk {
            Chunk::Data(data) => Some(data.tsn),
            Chunk::IData(data) => Some(data.tsn),
            _ => None,
        };
        // A sender numbers the chunks of a packet in order.
        let Some(lowest) = sctp.chunks.iter().find_map(tsn) else { return false };
        self.lowest.get_or_insert(lowest);
        true
    }

    /// Returns the report that goes with each SACK, if there is one.
    #[inline]
    pub fn report(&self) -> Option<Chunk> {
        self.lowest.map(Chunk::Ecne)
    }

    /// Notes that the peer has reduced its window for a report of `tsn`.
    pub fn on_cwr(&mut self, tsn: Serial32) {
        self.lowest.take_if(|lowest| lowest.distance_from(tsn) <= 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::Payload;
    use anabranch_wire::sctp::{DataChunk, DataFlags};

    fn packet(tsns: &[u32]) -> SctpPacket {
        let data = |tsn: &u32| {
            let (flags, payload) = (DataFlags::WHOLE, Payload::virtual_of(1));
            let tsn = Serial32(*tsn);
            Chunk::Data(DataChunk { flags, tsn, stream: 0, ssn: 0, ppid: 0, payload })
        };
        let chunks = tsns.iter().map(data).collect();
        SctpPacket { src_port: 1, dst_port: 2, tag: 3, udp: None, zero_checksum: false, chunks }
    }

    #[test]
    fn the_first_mark_is_reported_until_it_is_answered() {
        let mut marks = Marks::default();
        assert!(!marks.on_mark(&packet(&[])));
        assert!(marks.on_mark(&packet(&[7, 8])) && marks.on_mark(&packet(&[9])));
        assert_eq!(marks.report(), Some(Chunk::Ecne(Serial32(7))));
        marks.on_cwr(Serial32(6));
        assert!(marks.report().is_some(), "the answer to an earlier one");
        marks.on_cwr(Serial32(7));
        assert_eq!(marks.report(), None);
    }
}
