//! Strict priority: bands by DSCP, and a band is served only while all bands
//! above it are empty (RFC 2475's simplest scheduler; EF before the rest as in
//! RFC 3246 §2.4). Or pure acknowledgments before all else ("ACKs-first
//! scheduling": Balakrishnan, Padmanabhan and Katz, MobiCom 1997; RFC
//! 3449 §5.4.2), so that they do not wait behind data of the other direction.

use super::item::{Band, Item, Loss, Losses};
use super::{QueueLimit, Waiting};
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::DSCP;

pub(super) const INFO: Info = Info {
    name: "priority",
    summary: "bands by DSCP, or pure ACKs before the rest; a band is served only while those above it are empty",
    reference: "strict priority; RFC 2474 §4.2.2 (class selectors); RFC 3449 §5.4.2",
};

/// What goes into which band.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PriorityKey {
    /// Code points have the bands that `bands` lists.
    #[default]
    Dscp,
    /// Two bands: packets that acknowledge and carry nothing else, the rest.
    PureAck,
}

/// Parameters of strict priority.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PriorityConfig {
    /// What may wait in each band.
    pub limit: QueueLimit,
    /// What tells the bands apart.
    pub key: PriorityKey,
    /// Code points of each band but the last, the first served first; all others are in the last.
    pub bands: Vec<Vec<u8>>,
}

impl Default for PriorityConfig {
    /// Expedited forwarding, network control and class selectors from 5 on
    /// (EF 46, CS5 40, CS6 48, CS7 56); then all the rest. 100 packets each.
    fn default() -> Self {
        PriorityConfig {
            limit: QueueLimit::Packets(100),
            key: PriorityKey::Dscp,
            bands: vec![vec![40, 46, 48, 56]],
        }
    }
}

impl PriorityConfig {
    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let mut seen = [false; 64];
        for dscp in self.bands.iter().flatten() {
            match seen.get_mut(*dscp as usize) {
                None => {
                    let allowed = format!("code points from {DSCP}");
                    return Err(ConfigError::new("bands", dscp, allowed));
                }
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
    key: PriorityKey,
    /// The band of each code point.
    band_of: [u8; 64],
    bands: Vec<Band>,
}

impl Priority {
    /// Makes all bands empty.
    pub fn new(config: &PriorityConfig) -> Priority {
        if config.key == PriorityKey::PureAck {
            let bands = vec![Band::default(), Band::default()];
            return Priority { limit: config.limit, key: config.key, band_of: [1; 64], bands };
        }
        let mut band_of = [config.bands.len() as u8; 64];
        for (band, points) in config.bands.iter().enumerate() {
            for dscp in points {
                band_of[*dscp as usize & 63] = band as u8;
            }
        }
        let bands = (0..=config.bands.len()).map(|_| Band::default()).collect();
        Priority { limit: config.limit, key: config.key, band_of, bands }
    }

    pub(crate) fn enqueue(&mut self, item: Item, losses: &mut Losses) {
        let band = match self.key {
            PriorityKey::Dscp => self.band_of[item.dscp as usize & 63] as usize,
            PriorityKey::PureAck => usize::from(!item.pure_ack),
        };
        let band = &mut self.bands[band];
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
        let limit = QueueLimit::Packets(3);
        let bands = vec![vec![46], vec![10]];
        let config = PriorityConfig { limit, bands, ..PriorityConfig::default() };
        let mut priority = Priority::new(&config);
        let mut losses = Losses::new();
        for (id, dscp) in [(0, 0), (1, 10), (2, 46), (3, 0), (4, 46), (5, 0), (6, 0)] {
            priority.enqueue(Item { dscp, ..item(id, 100, Time::ZERO) }, &mut losses);
        }
        // The fourth of the last band finds it full.
        assert_eq!(losses.iter().map(|(priority, _)| priority.id.0).collect::<Vec<_>>(), [6]);
        let order: Vec<_> =
            std::iter::from_fn(|| priority.dequeue()).map(|item| item.id.0).collect();
        assert_eq!(order, [2, 4, 1, 0, 3, 5]);
    }

    #[test]
    fn acknowledgments_go_first_whatever_their_code_point() {
        let (limit, key) = (QueueLimit::Packets(3), PriorityKey::PureAck);
        let mut priority = Priority::new(&PriorityConfig { limit, key, bands: Vec::new() });
        let mut losses = Losses::new();
        for (id, pure_ack, dscp) in
            [(0, false, 46), (1, true, 0), (2, false, 0), (3, true, 0), (4, true, 10), (5, true, 0)]
        {
            priority.enqueue(Item { pure_ack, dscp, ..item(id, 100, Time::ZERO) }, &mut losses);
        }
        // Each band has its own limit.
        assert_eq!(losses.iter().map(|(priority, _)| priority.id.0).collect::<Vec<_>>(), [5]);
        let order: Vec<_> =
            std::iter::from_fn(|| priority.dequeue()).map(|item| item.id.0).collect();
        assert_eq!(order, [1, 3, 4, 0, 2]);
    }

    #[test]
    fn code_points_belong_to_one_band() {
        let wrong = |bands| PriorityConfig { bands, ..PriorityConfig::default() }.validate();
        assert!(wrong(vec![vec![64]]).is_err());
        assert!(wrong(vec![vec![1, 2], vec![2]]).is_err());
        assert_eq!(PriorityConfig::default().validate(), Ok(()));
    }
}
