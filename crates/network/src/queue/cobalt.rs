//! COBALT: CoDel and BLUE side by side, each for what the other cannot do, as CAKE has it on each of
//! its flow queues (Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", LANMAN 2018; Linux
//! `sch_cake`) and ns-3 on a queue of its own.
//!
//! *CoDel*, for flows that slow down: RFC 8289's law with one date for everything. While packets
//! wait longer than `target` the next is dropped (or marked) at `drop_next`, then at `drop_next +
//! interval / sqrt(count)`. The first date is `interval` after the wait has come above the target.
//! Below the target `count` falls by the same law instead of being forgotten, so that an episode
//! which begins soon after goes on where the last one was.
//!
//! *BLUE*, for flows that do not: each overflow adds `increment` to a probability with which packets
//! are dropped at the head, each time that the queue is found empty takes `decrement`, both at most
//! once in `target`. It never marks: who does not listen is dropped.
//!
//! As in Linux: a wait counts as above the target only if it is longer than four packets of the MTU
//! take, and the last packet of the queue is not dropped. As in ns-3: `blue_threshold`, off unless
//! given (ns-3: 400 ms), a wait from which packets count as overflows do.
//!
//! The link does not ask an empty queue for packets. The queue is found empty when the last packet has
//! left, at the link's rate, and none has come.

use super::codel::control_law;
use super::item::{Band, Item, Loss, Losses};
use super::{QueueLimit, Waiting};
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Rate, Span, Time};

pub(super) const INFO: Info = Info {
    name: "cobalt",
    summary: "CoDel for flows that slow down, and BLUE for those that do not, at the head of one queue",
    reference: "CAKE (Høiland-Jørgensen et al., LANMAN 2018); Linux sch_cake, ns-3",
};

/// Parameters of the two laws.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CobaltLaw {
    /// The wait that is acceptable; also the shortest time between two changes of BLUE's probability.
    pub target: Span,
    /// How long the wait may stay above before the first packet is dropped.
    pub interval: Span,
    /// What an overflow adds to BLUE's probability, from 0 to 1.
    pub increment: f64,
    /// What an empty queue takes from it, from 0 to 1.
    pub decrement: f64,
    /// Packets that have waited for longer add `increment` too.
    pub blue_threshold: Option<Span>,
    /// CoDel marks ECN-capable packets.
    pub ecn: bool,
    /// Marks ECN-capable packets that have waited for longer, with `ecn` or without.
    pub ce_threshold: Option<Span>,
}

impl Default for CobaltLaw {
    /// 5 ms, 100 ms, 1/256 and 1/4096, as in Linux and ns-3; no thresholds, and no ECN, as in ns-3.
    fn default() -> Self {
        CobaltLaw {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            increment: 1.0 / 256.0,
            decrement: 1.0 / 4096.0,
            blue_threshold: None,
            ecn: false,
            ce_threshold: None,
        }
    }
}

impl CobaltLaw {
    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::probability("increment", self.increment)?;
        ConfigError::probability("decrement", self.decrement)?;
        // Below the target `count` falls once for each of its steps.
        ConfigError::repeated("interval", self.interval)
    }
}

/// Parameters of a COBALT queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CobaltConfig {
    /// Most that may wait; more is dropped on arrival.
    pub limit: QueueLimit,
    /// `law` has the parameters of CoDel and BLUE, either of which may drop a packet.
    pub law: CobaltLaw,
}

impl Default for CobaltConfig {
    /// 1000 packets; ns-3 has as many of 1500 octets.
    fn default() -> Self {
        CobaltConfig { limit: QueueLimit::Packets(1000), law: CobaltLaw::default() }
    }
}

/// The state of both laws, which belongs to one queue.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct CobaltState {
    /// How far the rate of drops has come; 0 at rest.
    count: u32,
    /// The date of the next drop; while `count` is 0, the one from which the queue counts as unused.
    drop_next: Time,
    /// The wait is above the target.
    dropping: bool,
    /// BLUE's probability, from 0 to 1.
    probability: f64,
    /// Time at which it was changed last.
    changed: Time,
}

impl CobaltState {
    /// A packet was dropped for want of room.
    pub(super) fn on_overflow(&mut self, now: Time, law: &CobaltLaw) {
        self.raise(now, law);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue was asked for a packet and had none.
    pub(super) fn on_empty(&mut self, now: Time, law: &CobaltLaw) {
        if self.probability > 0.0 && self.may_change(now, law) {
            self.probability = (self.probability - law.decrement).max(0.0);
            self.changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.step(law);
        }
    }

    /// Whether neither law has anything to forget.
    pub(super) fn is_at_rest(&self, now: Time) -> bool {
        self.probability == 0.0 && self.count == 0 && now >= self.drop_next
    }

    /// Whether a packet that leaves is to be dropped. CoDel may mark it instead. A wait that is not
    /// longer than `floor` is left alone.
    pub(super) fn drops(
        &mut self,
        now: Time,
        law: &CobaltLaw,
        floor: Span,
        item: &mut Item,
        generator: &mut Generator,
    ) -> bool {
        let waited = item.sojourn(now);
        // Whether `now` is beyond the date that was in force when CoDel decided.
        let mut is_late = now > self.drop_next;
        let is_due = self.count > 0 && now >= self.drop_next;
        let was_dropping = self.dropping;
        self.dropping = waited > law.target && waited > floor;
        if self.dropping {
            if !was_dropping {
                self.drop_next = control_law(law.interval, now, self.count.max(1));
            }
            self.count = self.count.max(1);
        }
        let mut drops = false;
        if is_due && self.dropping {
            drops = !(law.ecn && item.mark());
            self.count = self.count.saturating_add(1);
            self.step(law);
            is_late = now > self.drop_next;
        } else if is_due {
            while self.count > 0 && now >= self.drop_next {
                self.count -= 1;
                self.step(law);
            }
            is_late = now > self.drop_next;
        }
        if law.blue_threshold.is_some_and(|threshold| waited > threshold) {
            self.raise(now, law);
        }
        if self.probability > 0.0 {
            drops |= generator.chance(self.probability);
        }
        if self.count == 0 {
            self.drop_next = now.saturating_add(law.interval);
        } else if is_late && !drops {
            self.drop_next = now;
        }
        drops
    }

    /// `drop_next + interval / sqrt(count)`.
    fn step(&mut self, law: &CobaltLaw) {
        self.drop_next = control_law(law.interval, self.drop_next, self.count.max(1));
    }

    fn raise(&mut self, now: Time, law: &CobaltLaw) {
        if self.may_change(now, law) {
            self.probability = (self.probability + law.increment).min(1.0);
            self.changed = now;
        }
    }

    fn may_change(&self, now: Time, law: &CobaltLaw) -> bool {
        now.saturating_since(self.changed) > law.target
    }
}

/// A COBALT queue, with what waits in it.
#[derive(Debug)]
pub struct Cobalt {
    config: CobaltConfig,
    state: CobaltState,
    band: Band,
    rate: Rate,
    /// Time that four packets of the MTU take.
    four_packets: Span,
    /// Time at which the queue is found empty, unless a packet comes before.
    empty_at: Time,
    generator: Generator,
}

impl Cobalt {
    /// Makes an empty queue with these parameters, of a link of this rate and MTU.
    pub fn new(config: &CobaltConfig, rate: Rate, mtu: Bytes, generator: Generator) -> Cobalt {
        Cobalt {
            config: *config,
            state: CobaltState::default(),
            band: Band::default(),
            rate,
            four_packets: rate.time_for(mtu).saturating_mul(4),
            empty_at: Time::NEVER,
            generator,
        }
    }

    /// BLUE's probability.
    pub fn probability(&self) -> f64 {
        self.state.probability
    }

    pub(crate) fn enqueue(&mut self, item: Item, losses: &mut Losses) {
        if self.empty_at <= item.since {
            self.state.on_empty(self.empty_at, &self.config.law);
        }
        self.empty_at = Time::NEVER;
        let waiting = Waiting { packets: self.band.len() as u64, octets: self.band.octets() };
        if self.config.limit.admits(waiting, item.size) {
            self.band.push(item);
        } else {
            self.state.on_overflow(item.since, &self.config.law);
            losses.push((item, Loss::Overflow));
        }
    }

    pub(crate) fn dequeue(&mut self, now: Time, losses: &mut Losses) -> Option<Item> {
        let law = &self.config.law;
        while let Some(mut item) = self.band.pop() {
            let drops =
                self.state.drops(now, law, self.four_packets, &mut item, &mut self.generator);
            if drops && !self.band.is_empty() {
                losses.push((item, Loss::Early));
                continue;
            }
            if law.ce_threshold.is_some_and(|threshold| item.sojourn(now) > threshold) {
                item.mark();
            }
            if self.band.is_empty() {
                let took = self.rate.time_for(Bytes(item.size as u64));
                self.empty_at = now.saturating_add(took);
            }
            return Some(item);
        }
        None
    }
}

#[cfg(test)]
mod tests;
