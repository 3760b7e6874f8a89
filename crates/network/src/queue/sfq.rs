//! Stochastic fairness queueing: McKenney, INFOCOM 1990 ("Stochastic Fairness Queueing", Interworking:
//! Research and Experience 2, 1991), as Linux reads it (`sch_sfq`).
//!
//! Flows are hashed to a fixed number of queues, which send in turns. When there is no room, a packet
//! of the longest queue is dropped ("buffer stealing"). The hash is perturbed from time to time, so
//! that two flows which share a queue do not share it for ever.
//!
//! As in Linux: turns are in octets, `quantum` each, where a packet that exceeds the rest of a turn
//! is sent and charged to the next; the longest queue is that with the most packets; a perturbation
//! hashes waiting packets anew, so that flows stay in order, and drops those for which their new queue
//! has no room.
//!
//! Choices: of several longest queues the next in turn loses (Linux: the last that grew as long).
//! What waits is queued anew in the order of turns (Linux: of the queues' numbers). Perturbations that
//! fall between two packets are one. Left out: RED in each queue, an option of Linux.

use super::fq_codel::{check_flow_queues, spread};
use super::item::{Band, Item, Loss, Losses};
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Span, Time};
use std::collections::VecDeque;

pub(super) const INFO: Info = Info {
    name: "sfq",
    summary: "a queue for each hashed flow in turns, the hash perturbed; the longest queue loses on overflow",
    reference: "McKenney, INFOCOM 1990; Linux sch_sfq",
};

/// Parameters of stochastic fairness queueing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SfqConfig {
    /// Packets that may wait in all queues together.
    pub limit: u64,
    /// Number of queues that flows are hashed to (Linux: `divisor`), from 1 to 65,536.
    pub queues: u32,
    /// Octets that a queue sends in a turn.
    pub quantum: Bytes,
    /// Packets that may wait in one queue.
    pub depth: u64,
    /// Time from one perturbation of the hash to the next; `None` for never.
    pub perturb: Option<Span>,
    /// Drops the oldest packet of a queue rather than the newest.
    pub head_drop: bool,
}

impl Default for SfqConfig {
    /// Linux: 127 packets, 127 of one queue, 1024 queues, a packet of Ethernet, tail drops, no
    /// perturbation (tc-sfq(8) advises 10 s or more).
    fn default() -> Self {
        SfqConfig {
            limit: 127,
            queues: 1024,
            quantum: Bytes(1514),
            depth: 127,
            perturb: None,
            head_drop: false,
        }
    }
}

impl SfqConfig {
    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.depth == 0 {
            return Err(ConfigError::new("depth", "0 packets", "at least 1 packet"));
        }
        if let Some(perturb) = self.perturb {
            ConfigError::repeated("perturb", perturb)?;
        }
        check_flow_queues(self.queues, self.quantum)
    }
}

#[derive(Default, Debug)]
struct FlowQueue {
    band: Band,
    /// What is left of its turn, in octets.
    allot: i64,
}

/// The queues of SFQ, with their turns.
#[derive(Debug)]
pub struct Sfq {
    config: SfqConfig,
    queues: Vec<FlowQueue>,
    /// Queues with packets, in the order of their turns.
    active: VecDeque<u32>,
    packets: u64,
    /// What a flow's hash is multiplied by: odd, drawn at the start and at each perturbation.
    multiplier: u32,
    next_perturbation: Time,
    generator: Generator,
}

impl Sfq {
    /// All queues, empty. The generator draws how flows are hashed to them.
    pub fn new(config: &SfqConfig, mut generator: Generator) -> Sfq {
        Sfq {
            config: *config,
            queues: (0..config.queues).map(|_| FlowQueue::default()).collect(),
            active: VecDeque::new(),
            packets: 0,
            multiplier: generator.next_u64() as u32 | 1,
            next_perturbation: config.perturb.map_or(Time::NEVER, |perturb| Time::ZERO + perturb),
            generator,
        }
    }

    pub(crate) fn enqueue(&mut self, item: Item, losses: &mut Losses) {
        if item.since >= self.next_perturbation {
            self.perturb(item.since, losses);
        }
        let index = self.index_of(&item);
        let queue = &mut self.queues[index as usize];
        if queue.band.len() as u64 >= self.config.depth {
            if !self.config.head_drop {
                losses.push((item, Loss::Overflow));
                return;
            }
            losses.extend(queue.band.pop().map(|oldest| (oldest, Loss::Overflow)));
            queue.band.push(item);
            return;
        }
        self.push(index, item);
        if self.packets > self.config.limit {
            self.steal(losses);
        }
    }

    pub(crate) fn dequeue(&mut self, now: Time, losses: &mut Losses) -> Option<Item> {
        if now >= self.next_perturbation {
            self.perturb(now, losses);
        }
        loop {
            let index = *self.active.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.allot <= 0 {
                queue.allot += self.config.quantum.0 as i64;
                self.active.rotate_left(1);
                continue;
            }
            let item = queue.band.pop()?;
            queue.allot -= item.size as i64;
            if queue.band.is_empty() {
                self.active.pop_front();
            }
            self.packets -= 1;
            return Some(item);
        }
    }

    fn index_of(&self, item: &Item) -> u32 {
        spread(item.flow.wrapping_mul(self.multiplier), self.config.queues)
    }

    /// A packet joins a queue, whose turn is the last if it was empty.
    fn push(&mut self, index: u32, item: Item) {
        let queue = &mut self.queues[index as usize];
        if queue.band.is_empty() {
            queue.allot = self.config.quantum.0 as i64;
            self.active.push_back(index);
        }
        queue.band.push(item);
        self.packets += 1;
    }

    /// Drops a packet of the longest queue.
    fn steal(&mut self, losses: &mut Losses) {
        let lengths = self.active.iter().map(|index| self.queues[*index as usize].band.len());
        // The first among equals.
        let longest = lengths.enumerate().rev().max_by_key(|(_, length)| *length);
        let Some((turn, _)) = longest else { return };
        let band = &mut self.queues[self.active[turn] as usize].band;
        let lost = if self.config.head_drop { band.pop() } else { band.pop_tail() };
        if band.is_empty() {
            self.active.remove(turn);
        }
        self.packets -= lost.is_some() as u64;
        losses.extend(lost.map(|item| (item, Loss::Overflow)));
    }

    /// Draws a new hash, by which what waits is queued anew, queue after queue in the order of their
    /// turns.
    fn perturb(&mut self, now: Time, losses: &mut Losses) {
        let Some(interval) = self.config.perturb else { return };
        let passed = (now - self.next_perturbation).as_picos() / interval.as_picos();
        self.next_perturbation += interval * (passed + 1);
        self.multiplier = self.generator.next_u64() as u32 | 1;
        let mut waiting = Vec::with_capacity(self.packets as usize);
        for index in self.active.drain(..) {
            let band = &mut self.queues[index as usize].band;
            waiting.extend(std::iter::from_fn(|| band.pop()));
        }
        self.packets = 0;
        for item in waiting {
            let index = self.index_of(&item);
            match (self.queues[index as usize].band.len() as u64) < self.config.depth {
                true => self.push(index, item),
                false => losses.push((item, Loss::Overflow)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
