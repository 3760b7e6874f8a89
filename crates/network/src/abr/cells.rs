//! ATM cells: how many a packet takes (AAL5, ITU-T I.363.5; RFC 2684), and what a
//! resource-management cell carries (ATM Forum TM 4.0 §5.10.3).

use anabranch_units::Bytes;

/// `CELL` is a cell on the line: a header of 5 octets and the payload.
pub const CELL: Bytes = Bytes(53);
/// `PAYLOAD` is how many octets of payload a cell has, of its 53.
pub const PAYLOAD: u32 = 48;
/// AAL5 ends a packet with 8 octets: user-to-user, indicator, length, CRC-32.
pub const TRAILER: u32 = 8;
/// The longest packet that AAL5's length field can tell.
pub const MAX_SDU: u32 = 65_535;

/// The way in which a packet of IP is put into AAL5 (RFC 2684).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encapsulation {
    /// VC multiplexing (§6.1): the virtual channel carries nothing but IP, which needs no header.
    #[default]
    VcMultiplexed,
    /// LLC and SNAP (§5.1): 8 octets before the packet. Classical IP over ATM has it (RFC 2225).
    LlcSnap,
}

impl Encapsulation {
    /// Returns how many octets stand before the packet.
    pub const fn header(self) -> u32 {
        match self {
            Encapsulation::VcMultiplexed => 0,
            Encapsulation::LlcSnap => 8,
        }
    }

    /// Cells that a packet of `octets` takes: header, packet and trailer, padded to whole
    /// payloads.
    ///
    /// ```
    /// use anabranch_network::abr::Encapsulation::{LlcSnap, VcMultiplexed};
    /// // An ACK of TCP without options fills a cell with its trailer.
    /// assert_eq!(VcMultiplexed.cells(40), 1);
    /// assert_eq!(LlcSnap.cells(40), 2);
    /// assert_eq!(VcMultiplexed.cells(1500), 32);
    /// ```
    pub const fn cells(self, octets: u32) -> u32 {
        (octets + self.header() + TRAILER).div_ceil(PAYLOAD)
    }
}

/// A cell rate as RM cells carry it (TM 4.0 §5.10.3.2): a bit that it is not zero, an exponent of
/// 5 bits and a mantissa of 9, so 2^e (1 + m / 512) cells/s, rounded down.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct RateField(u16);

impl RateField {
    const NON_ZERO: u16 = 1 << 14;
    const MANTISSA_BITS: u32 = 9;
    /// `MAX` is the largest rate, 2^31 (1 + 511 / 512) cells/s.
    pub const MAX: RateField = RateField(Self::NON_ZERO | 31 << 9 | 511);

    /// The largest rate of this form that is not above `cells` a second.
    pub fn of(cells: f64) -> RateField {
        if cells < 1.0 {
            return RateField::default();
        }
        let exponent = (cells.min(u64::MAX as f64) as u64).ilog2();
        if exponent > 31 {
            return RateField::MAX;
        }
        // Exact: both are powers of two.
        let mantissa = (cells / (1_u64 << exponent) as f64 - 1.0) * 512.0;
        RateField(Self::NON_ZERO | (exponent as u16) << Self::MANTISSA_BITS | mantissa as u16)
    }

    /// Returns the rate in cells a second.
    pub fn cells(self) -> f64 {
        if self.0 & Self::NON_ZERO == 0 {
            return 0.0;
        }
        let exponent = (self.0 >> Self::MANTISSA_BITS) & 31;
        (1_u64 << exponent) as f64 * (1.0 + f64::from(self.0 & 511) / 512.0)
    }
}

/// `Rm` is what an RM cell carries (TM 4.0 §5.10.3.1). Queue length and sequence number are
/// optional there and absent here; BN is 0, for switches send no RM cells of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rm {
    /// `explicit` is ER: what the source may send at most, reduced by switches.
    pub explicit: RateField,
    /// `current` is CCR: the source's ACR when it sent the cell.
    pub current: RateField,
    /// `minimum` is MCR: what the source has been promised.
    pub minimum: RateField,
    /// `congestion` is CI: the path is congested, the source has to slow down.
    pub congestion: bool,
    /// `no_increase` is NI: the source must not speed up.
    pub no_increase: bool,
}

/// `Kind` is what a cell carries: a part of a packet, or resource management.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The cell is a part of a packet.
    Data {
        /// `packet` is the number of the packet among those of its virtual channel and direction.
        packet: u32,
        /// `last` is AAL5's mark of the last cell of a packet.
        last: bool,
        /// `congestion` is EFCI: a switch on the way was congested.
        congestion: bool,
    },
    /// A resource-management cell that goes with the data that it is about.
    Forward(Rm),
    /// The cell is an RM cell that comes back to its source.
    Backward(Rm),
}

/// `Cell` is a cell on its way through the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// The direction of a virtual channel that it travels in.
    pub direction: u32,
    /// Number of ports of that direction that it has passed.
    pub hop: u32,
    /// `kind` is what it carries: data or resource management.
    pub kind: Kind,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By hand: packet and 8 octets, over 48, rounded up.
    #[test]
    fn packets_in_cells() {
        let vc = Encapsulation::VcMultiplexed;
        for (octets, cells) in [
            (1, 1),
            (40, 1),
            (41, 2),
            (52, 2),
            (88, 2),
            (89, 3),
            (576, 13),
            (1500, 32),
            (1528, 32),
            (1529, 33),
            // The default MTU of RFC 2225.
            (9180, 192),
            (65_535, 1366),
        ] {
            assert_eq!(vc.cells(octets), cells, "{octets}");
        }
        assert_eq!(Encapsulation::LlcSnap.cells(32), 1);
        assert_eq!(Encapsulation::LlcSnap.cells(33), 2);
        assert_eq!(Encapsulation::LlcSnap.cells(1500), 32);
    }

    #[test]
    fn rates_of_the_format() {
        for (cells, carried) in [
            (0.0, 0.0),
            (0.9, 0.0),
            (1.0, 1.0),
            (10.0, 10.0),
            // 155.52 Mbit/s of SONET have 149.76 Mbit/s for cells: 2^18 (1 + 177/512) is below.
            (353_207.5, 352_768.0),
            (511.0, 511.0),
            (1e12, 4_290_772_992.0),
        ] {
            let field = RateField::of(cells);
            assert_eq!(field.cells(), carried, "{cells}");
            assert_eq!(RateField::of(field.cells()), field);
        }
        assert_eq!(RateField::of(f64::INFINITY), RateField::MAX);
    }

    proptest! {
        #[test]
        fn a_field_is_the_next_rate_below(cells in 1.0_f64..4e9) {
            let carried = RateField::of(cells).cells();
            prop_assert!(carried <= cells && cells < carried * (1.0 + 1.0 / 512.0) + 1e-6);
        }
    }
}
