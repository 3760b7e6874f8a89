//! CHOKe: Pan, Prabhakar and Psounis, "CHOKe: A Stateless Active Queue Management Scheme for
//! Approximating Fair Bandwidth Allocation", INFOCOM 2000, §II and Fig. 1.
//!
//! RED with a comparison before it. While the average length is above `min`, each packet that comes
//! is compared with one drawn at random from those that wait. If both are of one flow both are
//! dropped; else RED decides. A flow that does not slow down has the most packets waiting, so that
//! its packets meet each other most often. With several candidates (the paper's m drop candidates, for
//! several such flows) the packet is compared with each, and all that are of its flow are dropped.
//!
//! The RED of the paper and of Linux (`sch_choke`) is that of 1993: from `max` on every packet is
//! dropped, and there is no gentle part. Candidates are drawn with replacement.
//!
//! The link does not tell a discipline that holds packets when the line falls idle. The average
//! decays by the time since the last packet would have left at the link's rate.

use super::item::{Band, Item, Loss, Losses};
use super::red::{Red, RedConfig};
use super::{Arrival, Decision, QueueLimit, Waiting};
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::{Bounds, Generator};
use anabranch_units::{Bytes, Rate, Time};

pub(super) const INFO: Info = Info {
    name: "choke",
    summary: "RED; a packet that meets one of its own flow at a random place is dropped with it",
    reference: "Pan, Prabhakar and Psounis, INFOCOM 2000",
};

/// `ChokeConfig` has the parameters of CHOKe, under the names that RED gives to its own.
#[derive(Clone, PartialEq, Debug)]
pub struct ChokeConfig {
    /// Most that may wait, whatever the average says.
    pub limit: QueueLimit,
    /// min_th: average length in packets from which on packets are compared, and dropped at random.
    pub min: u64,
    /// max_th: average length in packets from which on all are dropped; more than `min`.
    pub max: u64,
    /// Probability of a random drop at `max`.
    pub max_p: f64,
    /// Weight of a sample in the average.
    pub weight: f64,
    /// Mean packet size, for idle times.
    pub mean_packet: Bytes,
    /// m: how many packets are drawn to be compared, from 1 to 100.
    pub candidates: u32,
    /// Marks ECN-capable packets where RED drops early. Packets of one flow that meet are dropped.
    pub ecn: bool,
}

impl Default for ChokeConfig {
    /// The paper's simulations (§III): 300, 100 and 200 packets, one candidate; weight 0.002. max_p is
    /// 0.02, as in tc-choke(8).
    fn default() -> Self {
        ChokeConfig {
            limit: QueueLimit::Packets(300),
            min: 100,
            max: 200,
            max_p: 0.02,
            weight: 0.002,
            mean_packet: Bytes(1000),
            candidates: 1,
            ecn: false,
        }
    }
}

impl ChokeConfig {
    /// What `candidates` may be.
    pub const CANDIDATES: Bounds<u32> = Bounds::of(1, 100);

    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.max <= self.min {
            let allowed = format!("more than `min`, {} packets", self.min);
            return Err(ConfigError::new("max", format!("{} packets", self.max), allowed));
        }
        Self::CANDIDATES.check("candidates", self.candidates)?;
        self.red().validate()
    }

    fn red(&self) -> RedConfig {
        RedConfig {
            limit: self.limit,
            min: Some(self.min as f64),
            max: Some(self.max as f64),
            max_p: self.max_p,
            weight: Some(self.weight),
            gentle: false,
            wait: false,
            mean_packet: self.mean_packet,
            ecn: self.ecn,
            ..RedConfig::default()
        }
    }
}

/// A CHOKe queue, with what waits in it.
#[derive(Debug)]
pub struct Choke {
    config: ChokeConfig,
    red: Red,
    band: Band,
    rate: Rate,
    /// Time at which the line is or was free of what left last.
    free_at: Time,
    generator: Generator,
}

impl Choke {
    /// An empty queue in front of a line of this rate.
    pub fn new(config: &ChokeConfig, rate: Rate, mut generator: Generator) -> Choke {
        let red = Red::new(&config.red(), rate, Generator::from_u64(generator.next_u64()));
        Choke {
            config: config.clone(),
            red,
            band: Band::default(),
            rate,
            free_at: Time::ZERO,
            generator,
        }
    }

    /// The average queue length, in packets.
    pub fn average(&self) -> f64 {
        self.red.average()
    }

    pub(crate) fn enqueue(&mut self, mut item: Item, losses: &mut Losses) {
        let waiting = Waiting { packets: self.band.len() as u64, octets: self.band.octets() };
        let busy_until = if self.band.is_empty() { self.free_at } else { Time::NEVER };
        let Item { since: now, size, ecn, .. } = item;
        let arrival = Arrival { now, size, ecn, waiting, busy_until };
        self.red.sample(&arrival);
        if self.red.average() > self.config.min as f64 && self.meets_its_own(&item, losses) {
            losses.push((item, Loss::Early));
            return;
        }
        match self.red.decide(&arrival) {
            Decision::Drop => return losses.push((item, Loss::Early)),
            Decision::Mark => {
                item.mark();
            }
            Decision::Admit => {}
        }
        if self.config.limit.admits(waiting, size) {
            self.band.push(item);
        } else {
            self.red.on_overflow();
            losses.push((item, Loss::Overflow));
        }
    }

    pub(crate) fn dequeue(&mut self, now: Time) -> Option<Item> {
        let item = self.band.pop()?;
        self.free_at = now.saturating_add(self.rate.time_for(Bytes(item.size as u64)));
        Some(item)
    }

    /// Draws the candidates and drops those of the packet's flow; true if there was one.
    fn meets_its_own(&mut self, item: &Item, losses: &mut Losses) -> bool {
        let mut met = false;
        for _ in 0..self.config.candidates {
            if self.band.is_empty() {
                break;
            }
            let place = self.generator.below(self.band.len() as u64) as usize;
            if self.band.get(place).is_some_and(|candidate| candidate.flow == item.flow) {
                losses.extend(self.band.remove(place).map(|own| (own, Loss::Early)));
                met = true;
            }
        }
        met
    }
}

#[cfg(test)]
mod tests;
