//! Strict priority: bands by DSCP, and a band is served only while all bands
//! above it are empty (RFC 2475's simplest scheduler; EF before the rest as in
//! RFC 3246 §2.4).

use super::item::{Band, Item, Loss, Losses};
use super::{QueueLimit, Waiting};
use crate::catalogue::{ConfigError, Info};

pub(super) const INFO: Info = Info {
    name: "priority",
    summary: "bands by DSCP; a band is served only while those above it are empty",
    reference: "strict priority; RFC 2474 §4.2.2 (class selectors)",
};

/// Parameters of strict priority.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PriorityConfig {
    /// What may wait in each band.
    pub limit: QueueLimit,
    /// The code points of each band but the last, the first served first; all
    /// others are in the last.
    pub bands: Vec<Vec<u8>>,
}

impl Default for PriorityConfig {
    /// Expedited forwarding, network control and class selectors from 5 on
    /// (EF 46, CS5 40, CS6 48, CS7 56); then all the rest. 100 packets each.
    fn default() -> Self {
        PriorityConfig { limit: QueueLimit::Packets(100), bands: vec![vec![40, 46, 48, 56]] }
    }
}

impl PriorityConfig {
    /// Checks the fields.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let mut seen = [false; 64];
        for dscp in self.bands.iter().flatten() {
            match seen.get_mut(*dscp as usize) {
                None => return Err(ConfigError::new("bands", dscp, "code points from 0 to 63")),
                Some(true) => {
                    return Err(ConfigError::new("bands", dscp, "each code point once"));
                }
                Some(free) => *free = true,
            }
        }
        match self.bands.len() {
            0..64 => Ok(()),
            n => Err(ConfigError::new("bands", n, "at most 63 lists of code points")),
        }
    }
}

/// Strict priority at work.
#[derive(Debug)]
pub struct Priority {
    limit: QueueLimit,
    /// The band of each code point.
    band_of: [u8; 64],
    bands: Vec<Band>,
}

impl Priority {
    /// All bands empty.
    pub fn new(config: &PriorityConfig) -> Priority {
        let mut band_of = [config.bands.len() as u8; 64];
        for (band, points) in config.bands.iter().enumerate() {
            for dscp in points {
                band_of[*dscp as usize & 63] = band as u8;
            }
        }
        let bands = (0..=config.bands.len()).map(|_| Band::default()).collect();
        Priority { limit: config.limit, band_of, bands }
    }

    pub(crate) fn enqueue(&mut self, item: Item, losses: &mut Losses) {
        let band = &mut self.bands[self.band_of[item.dscp as usize & 63] as usize];
        let waiting = Waiting { packets: band.len() as u64, octets: band.octets() };
        match self.limit.admits(waiting, item.size) {
            true => band.push(item),
            false => losses.push((item, Loss::Overflow)),
        }
    }

    pub(crate) fn dequeue(&mut self) -> Option<Item> {
        self.bands.iter_mut().find_map(Band::pop)
    }
}

#[cfg(test)]
mod tests {
    use super::super::item::testing::item;
    use super::*;
    use anabranch_units::Time;

    #[test]
    fn lower_bands_wait_for_the_higher() {
        let config =
            PriorityConfig { limit: QueueLimit::Packets(3), bands: vec![vec![46], vec![10]] };
        let mut it = Priority::new(&config);
        let mut losses = Losses::new();
        for (id, dscp) in [(0, 0), (1, 10), (2, 46), (3, 0), (4, 46), (5, 0), (6, 0)] {
            it.enqueue(Item { dscp, ..item(id, 100, Time::ZERO) }, &mut losses);
        }
        // The fourth of the last band finds it full.
        assert_eq!(losses.iter().map(|(it, _)| it.id.0).collect::<Vec<_>>(), [6]);
        let order: Vec<_> = std::iter::from_fn(|| it.dequeue()).map(|it| it.id.0).collect();
        assert_eq!(order, [2, 4, 1, 0, 3, 5]);
    }

    #[test]
    fn code_points_belong_to_one_band() {
        let wrong = |bands| PriorityConfig { bands, ..PriorityConfig::default() }.validate();
        assert!(wrong(vec![vec![64]]).is_err());
        assert!(wrong(vec![vec![1, 2], vec![2]]).is_err());
        assert_eq!(PriorityConfig::default().validate(), Ok(()));
    }
}
