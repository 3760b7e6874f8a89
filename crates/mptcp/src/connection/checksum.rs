//! Checksums of mappings (RFC 8684 §3.3).

use super::Connection;
use crate::mapping::Received;
use anabranch_tcp::Range;
use anabranch_wire::checksum::Sum;
use anabranch_wire::{Payload, pattern};

/// The checksum of a mapping (§3.3): over its data and a pseudo header of the
/// data sequence number in 64 bits, the subflow sequence number, the length and
/// zeros.
fn checksum(number: u64, ssn: u32, len: u16, data: &[u8]) -> u16 {
    Sum::default()
        .with(&number.to_be_bytes())
        .with(&ssn.to_be_bytes())
        .with(&len.to_be_bytes())
        .with(data)
        .checksum()
}

impl Connection {
    /// The checksum of a piece that is about to be sent. Counted octets are, on
    /// the wire, the pattern at their sequence numbers.
    #[inline(never)]
    pub(super) fn checksum_to_send(
        &self,
        i: usize,
        start: u64,
        range: Range,
        fin: bool,
        octets: Option<&[u8]>,
    ) -> u16 {
        let len = range.len() as usize;
        let number = self.sender.full_number(range.start);
        let sum = |data: &[u8]| checksum(number, start as u32, (len + fin as usize) as u16, data);
        octets.map(sum).unwrap_or_else(|| {
            let mut data = vec![0; len];
            pattern::fill_sequence(self.subflows[i].tcp.sequence_number(start), &mut data);
            sum(&data)
        })
    }

    /// The checksum of a DATA_FIN without data.
    pub(super) fn checksum_of_fin(&self) -> u16 {
        checksum(self.sender.full_number(self.sender.data_end()), 0, 1, &[])
    }

    /// The checksum of a mapping that has arrived whole is right.
    #[inline(never)]
    pub(super) fn is_sound(&self, i: usize, map: &Received, payload: &Payload) -> bool {
        let Some(stated) = map.checksum else { return true };
        let len = (map.len + map.fin as u32) as u16;
        let number = self.receiver.full_number(map.data);
        let sum = |data: &[u8]| checksum(number, map.start as u32, len, data);
        let found = payload.octets().map(sum).unwrap_or_else(|| {
            let mut data = vec![0; map.len as usize];
            let seq = self.subflows[i].tcp.received_number(map.start);
            pattern::fill_sequence(seq, &mut data);
            sum(&data)
        });
        found == stated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §3.3, figure 11: the pseudo header's words, then the data.
    #[test]
    fn the_checksum_covers_number_length_and_data() {
        let words = [1_u32, 2, 3, 4, 0, 5, 3, 0x6162, 0x6300];
        let mut sum: u32 = words.iter().sum();
        sum = (sum & 0xffff) + (sum >> 16);
        let number = 0x0001_0002_0003_0004;
        assert_eq!(checksum(number, 5, 3, b"abc"), !(sum as u16));
    }
}
