//! Drop-tail: first in, first out, arrivals beyond the limit are dropped.

use super::{Arrival, QueueLimit, Waiting};
use crate::catalogue::Info;

pub(super) const INFO: Info = Info {
    name: "droptail",
    summary: "first in, first out; arrivals beyond a limit in packets or octets are dropped",
    reference: "RFC 7567 §4.1 (tail drop)",
};

/// A limit in packets and one in octets, of which one is infinite.
#[derive(Debug)]
pub struct DropTail {
    packets: u64,
    octets: u64,
}

impl DropTail {
    /// Makes a queue that drops what exceeds `limit`.
    pub fn new(limit: QueueLimit) -> DropTail {
        let (packets, octets) = match limit {
            QueueLimit::Packets(n) => (n, u64::MAX),
            QueueLimit::Octets(n) => (u64::MAX, n.0),
            QueueLimit::Unlimited => (u64::MAX, u64::MAX),
        };
        DropTail { packets, octets }
    }

    /// Whether a packet of `size` octets may join those waiting.
    #[inline]
    pub fn admits(&self, waiting: Waiting, size: u32) -> bool {
        waiting.packets < self.packets && waiting.octets + size as u64 <= self.octets
    }

    /// Whether a packet that comes may join; one that finds the line idle does not wait.
    #[inline]
    pub(super) fn has_room(&self, arrival: &Arrival) -> bool {
        arrival.now >= arrival.busy_until || self.admits(arrival.waiting, arrival.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Bytes;

    #[test]
    fn limits_are_inclusive() {
        let packets = DropTail::new(QueueLimit::Packets(2));
        assert!(packets.admits(Waiting { packets: 1, octets: 1 << 40 }, 1500));
        assert!(!packets.admits(Waiting { packets: 2, octets: 80 }, 40));
        let octets = DropTail::new(QueueLimit::Octets(Bytes(3000)));
        assert!(octets.admits(Waiting { packets: 1, octets: 1500 }, 1500));
        assert!(!octets.admits(Waiting { packets: 1, octets: 1501 }, 1500));
        assert!(!DropTail::new(QueueLimit::Packets(0)).admits(Waiting::default(), 40));
    }
}
