//! These settings say how path MTUs are found out.

use super::Config;

/// An `MtuProbing` says when packets of several sizes probe what a path carries (DPLPMTUD, RFC 8899
/// §6.2). Without probing a path MTU is that of the settings, or what routers say (RFC 9260 §7.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MtuProbing {
    /// Paths are never probed.
    #[default]
    Off,
    /// Probing begins once T3-rtx has expired twice in a row on a path, since larger packets may
    /// vanish there.
    BlackHole,
    /// Probing begins with the association: packets have BASE_PLPMTU until larger ones have passed.
    Always,
}

/// `Sizes` are those between which a path MTU is searched for, in octets of IP packets, which are
/// multiples of four (RFC 8899 §5.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sizes {
    /// `min` (MIN_PLPMTU) is believed to pass everywhere.
    pub min: u32,
    /// `base` (BASE_PLPMTU) is expected to pass nearly everywhere.
    pub base: u32,
    /// `max` (MAX_PLPMTU) is the largest that leaves.
    pub max: u32,
}

impl Config {
    /// Settings and routers may ask for no smaller IP packets than this, in octets.
    pub(crate) const LEAST_MTU: u32 = 512;
    /// Every link of IPv6 carries packets of this many octets (RFC 8200 §5).
    const LEAST_IPV6: u32 = 1280;

    /// Returns the sizes that a search begins with.
    pub(crate) fn mtu_sizes(&self) -> Sizes {
        let max = self.mtu & !3;
        let least = if self.ip_header == 40 { Self::LEAST_IPV6 } else { Self::LEAST_MTU };
        let min = least.min(max);
        let base = (self.mtu_probe_base & !3) + self.ip_header;
        Sizes { min, base: base.clamp(min, max), max }
    }

    /// Returns the path MTU of a new path, in octets.
    pub(crate) fn first_mtu(&self) -> u32 {
        match self.mtu_probing {
            MtuProbing::Always => self.mtu_sizes().base,
            MtuProbing::Off | MtuProbing::BlackHole => self.mtu,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8899 §5.1.2: 1200 octets of SCTP, no less than 1280 octets of IPv6.
    #[test]
    fn a_search_begins_between_its_bounds() {
        let sizes = |mtu, ip_header| {
            let Sizes { min, base, max } =
                Config { mtu, ip_header, ..Config::rfc9260() }.mtu_sizes();
            (min, base, max)
        };
        assert_eq!(sizes(1500, 20), (512, 1220, 1500));
        assert_eq!(sizes(9001, 20), (512, 1220, 9000));
        assert_eq!(sizes(1500, 40), (1280, 1280, 1500));
        assert_eq!(sizes(600, 40), (600, 600, 600));
    }
}
