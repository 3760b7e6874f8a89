//! Data sequence numbers and data offsets.

use anabranch_units::Serial32;
use anabranch_wire::tcp::mptcp::DataNumber;

/// One direction numbers its data so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbering {
    /// Offset 0 has this data sequence number.
    idsn: u64,
}

impl Numbering {
    pub fn from_idsn(idsn: u64) -> Numbering {
        Numbering { idsn }
    }

    /// Returns a numbering in which the first `octets` have no numbers: those after them are
    /// numbered from the start.
    pub fn after(self, octets: u64) -> Numbering {
        Numbering { idsn: self.idsn.wrapping_sub(octets) }
    }

    /// `offset` has this number, in 64 bits or in 32.
    pub fn number(self, offset: u64, long: bool) -> DataNumber {
        let number = self.idsn.wrapping_add(offset);
        if long { DataNumber::Long(number) } else { DataNumber::Short(number as u32) }
    }

    /// `offset` has this number in 64 bits.
    pub fn full_number(self, offset: u64) -> u64 {
        self.idsn.wrapping_add(offset)
    }

    /// Returns the offset nearest to `reference` with this number; `None` when it would be
    /// negative.
    pub fn offset(self, number: DataNumber, reference: u64) -> Option<u64> {
        match number {
            DataNumber::Short(low) => Serial32(low).expand(Serial32(self.idsn as u32), reference),
            DataNumber::Long(number) => {
                let at = self.idsn.wrapping_add(reference);
                reference.checked_add_signed(number.wrapping_sub(at) as i64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both lengths, around the wrap of either.
    #[test]
    fn a_number_becomes_its_offset_again() {
        for idsn in [0_u64, 7, u32::MAX as u64 - 5, u64::MAX - 5, 1 << 40] {
            let numbering = Numbering::from_idsn(idsn);
            for offset in [0_u64, 1, 100, (1 << 32) + 3, 1 << 50] {
                for reference in [offset, offset + 1000, offset.saturating_sub(1000)] {
                    for long in [false, true] {
                        let number = numbering.number(offset, long);
                        assert_eq!(numbering.offset(number, reference), Some(offset));
                    }
                }
            }
            let before = DataNumber::Long(idsn.wrapping_sub(1));
            assert_eq!(numbering.offset(before, 0), None);
            assert_eq!(numbering.offset(DataNumber::Short((idsn as u32).wrapping_sub(1)), 0), None);
        }
    }
}
