//! Queue disciplines in front of a link's transmitter, one file each.
//!
//! Those that decide when a packet comes, and serve first in, first out, keep
//! no packets: the link computes departures at once. The others hold the
//! packets and are asked for the next one when the transmitter is free.

mod ack_filter;
mod codel;
mod droptail;
mod drr;
mod dualpi2;
mod fq_codel;
mod held_droptail;
mod item;
mod pie;
mod priority;
mod red;
mod threshold;

pub use ack_filter::{AckFilter, AckFilterConfig};
pub use codel::{CoDel, CoDelConfig, CoDelLaw, CoDelState};
pub use droptail::DropTail;
pub use drr::{Drr, DrrConfig, DrrKey};
pub use dualpi2::{DualPi2, DualPi2Config};
pub use fq_codel::{FqCoDel, FqCoDelConfig};
pub(crate) use held_droptail::HeldDropTail;
pub use item::{Band, Item, Loss, Losses};
pub use pie::{DelayEstimate, Pie, PieConfig};
pub use priority::{Priority, PriorityConfig, PriorityKey};
pub use red::{Red, RedConfig};
pub use threshold::ThresholdConfig;

use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Rate, Span, Time};
use anabranch_wire::{Ecn, Packet};

/// The queue disciplines by name.
pub const QUEUES: &[Info] = &[
    droptail::INFO,
    threshold::INFO,
    red::INFO,
    pie::INFO,
    codel::INFO,
    fq_codel::INFO,
    dualpi2::INFO,
    priority::INFO,
    drr::INFO,
    ack_filter::INFO,
];

/// Description of a queue.
#[derive(Clone, PartialEq, Debug)]
pub enum QueueConfig {
    /// First in, first out; arrivals beyond the limit are dropped.
    DropTail {
        /// What may wait.
        limit: QueueLimit,
    },
    /// Drop-tail with marking from a threshold on.
    Threshold(ThresholdConfig),
    /// Random early detection.
    Red(RedConfig),
    /// Proportional integral controller enhanced.
    Pie(PieConfig),
    /// Controlled delay.
    CoDel(CoDelConfig),
    /// Flow queues with CoDel.
    FqCoDel(FqCoDelConfig),
    /// Low-latency and classic queues, coupled.
    DualPi2(DualPi2Config),
    /// Strict priority.
    Priority(PriorityConfig),
    /// Deficit round robin.
    Drr(DrrConfig),
    /// Drop-tail without redundant ACKs.
    AckFilter(AckFilterConfig),
}

/// How much may wait in a queue. The packet that is being transmitted does not
/// count: a limit of n packets means up to n waiting and one on the line.
///
/// ns-2's `DropTail` refuses a packet when `length + 1 >= queue-limit`, its
/// length also without the packet on the line, so that ns-2's `queue-limit N`
/// is `Packets(N - 1)` here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// This many packets.
    Packets(u64),
    /// This many octets, IP headers included.
    Octets(Bytes),
    /// No limit.
    Unlimited,
}

impl QueueLimit {
    /// Whether a packet of `size` octets may join those waiting.
    pub fn admits(&self, waiting: Waiting, size: u32) -> bool {
        match self {
            QueueLimit::Packets(n) => waiting.packets < *n,
            QueueLimit::Octets(n) => waiting.octets + size as u64 <= n.0,
            QueueLimit::Unlimited => true,
        }
    }
}

impl QueueConfig {
    /// What may wait; of strict priority, in each band.
    pub fn limit(&self) -> QueueLimit {
        match self {
            QueueConfig::DropTail { limit }
            | QueueConfig::Threshold(ThresholdConfig { limit, .. })
            | QueueConfig::Red(RedConfig { limit, .. })
            | QueueConfig::Pie(PieConfig { limit, .. })
            | QueueConfig::CoDel(CoDelConfig { limit, .. })
            | QueueConfig::DualPi2(DualPi2Config { limit, .. })
            | QueueConfig::Priority(PriorityConfig { limit, .. })
            | QueueConfig::Drr(DrrConfig { limit, .. })
            | QueueConfig::AckFilter(AckFilterConfig { limit, .. }) => *limit,
            QueueConfig::FqCoDel(it) => QueueLimit::Packets(it.limit),
        }
    }

    /// Checks the fields.
    pub fn validate(&self) -> Result<(), ConfigError> {
        // A discipline that holds packets must be able to hold one, be it only
        // until the idle line takes it.
        let held = match self {
            QueueConfig::CoDel(CoDelConfig { limit, .. })
            | QueueConfig::DualPi2(DualPi2Config { limit, .. })
            | QueueConfig::Priority(PriorityConfig { limit, .. })
            | QueueConfig::Drr(DrrConfig { limit, .. })
            | QueueConfig::AckFilter(AckFilterConfig { limit, .. }) => Some(*limit),
            QueueConfig::FqCoDel(it) => Some(QueueLimit::Packets(it.limit)),
            _ => None,
        };
        if held == Some(QueueLimit::Packets(0)) {
            return Err(ConfigError::new("limit", "0 packets", "at least 1 packet"));
        }
        match self {
            // Every limit makes sense: zero is a link without a buffer.
            QueueConfig::DropTail { limit: _ } | QueueConfig::AckFilter(_) => Ok(()),
            QueueConfig::Threshold(it) => it.validate(),
            QueueConfig::Red(it) => it.validate(),
            QueueConfig::Pie(it) => it.validate(),
            QueueConfig::CoDel(it) => it.law.validate(),
            QueueConfig::FqCoDel(it) => it.validate(),
            QueueConfig::DualPi2(it) => it.validate(),
            QueueConfig::Priority(it) => it.validate(),
            QueueConfig::Drr(it) => it.validate(),
        }
    }

    /// The same where departures are not known on arrival: drop-tail too holds
    /// its packets.
    pub(crate) fn build_held(&self, rate: Rate, generator: Generator) -> Discipline {
        match self {
            QueueConfig::DropTail { limit } => {
                Discipline::Held(Box::new(Scheduler::DropTail(HeldDropTail::new(*limit))))
            }
            _ => self.build(rate, generator),
        }
    }

    /// The discipline in front of a line of this rate.
    pub(crate) fn build(&self, rate: Rate, generator: Generator) -> Discipline {
        let aqm = |limit: QueueLimit, law| {
            Discipline::Fifo(Box::new(Aqm { limit: DropTail::new(limit), law }))
        };
        let held = |it| Discipline::Held(Box::new(it));
        match self {
            QueueConfig::DropTail { limit } => aqm(*limit, Law::DropTail),
            QueueConfig::Threshold(it) => aqm(it.limit, Law::Threshold(*it)),
            QueueConfig::Red(it) => aqm(it.limit, Law::Red(Red::new(it, rate, generator))),
            QueueConfig::Pie(it) => aqm(it.limit, Law::Pie(Pie::new(it, generator))),
            QueueConfig::CoDel(it) => held(Scheduler::CoDel(CoDel::new(it))),
            QueueConfig::FqCoDel(it) => held(Scheduler::FqCoDel(FqCoDel::new(it))),
            QueueConfig::DualPi2(it) => held(Scheduler::DualPi2(DualPi2::new(it))),
            QueueConfig::Priority(it) => held(Scheduler::Priority(Priority::new(it))),
            QueueConfig::Drr(it) => held(Scheduler::Drr(Drr::new(it))),
            QueueConfig::AckFilter(it) => held(Scheduler::AckFilter(AckFilter::new(it))),
        }
    }
}

impl Default for QueueConfig {
    /// Drop-tail, 100 packets.
    fn default() -> Self {
        QueueConfig::DropTail { limit: QueueLimit::Packets(100) }
    }
}

/// A discipline at work, by the kind of service that it needs.
#[derive(Debug)]
pub(crate) enum Discipline {
    /// Departures are known on arrival.
    Fifo(Box<Aqm>),
    /// Holds the packets until the transmitter asks.
    Held(Box<Scheduler>),
}

/// A packet that comes, and what it finds.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When.
    pub now: Time,
    /// Octets.
    pub size: u32,
    /// ECN field.
    pub ecn: Ecn,
    /// What waits, without the packet on the line.
    pub waiting: Waiting,
    /// When the line is or was free of what came before.
    pub busy_until: Time,
}

/// What a law says of a packet that comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It may join the queue, where there is room.
    Admit,
    /// It may join with CE set.
    Mark,
    /// It is dropped early.
    Drop,
}

/// A queue that decides on arrival. The packets wait in the link.
#[derive(Debug)]
pub(crate) struct Aqm {
    limit: DropTail,
    law: Law,
}

#[derive(Debug)]
enum Law {
    /// The limit alone.
    DropTail,
    Threshold(ThresholdConfig),
    Red(Red),
    Pie(Pie),
}

impl Aqm {
    /// What becomes of a packet that comes: `Ok` and whether it is marked.
    pub(crate) fn on_arrival(&mut self, it: &Arrival) -> Result<bool, Loss> {
        let decision = match &mut self.law {
            Law::DropTail => Decision::Admit,
            Law::Threshold(law) => law.on_arrival(it),
            Law::Red(law) => law.on_arrival(it),
            Law::Pie(law) => law.on_arrival(it),
        };
        if decision == Decision::Drop {
            return Err(Loss::Early);
        }
        // A packet that finds the line idle does not wait.
        if it.now < it.busy_until && !self.limit.admits(it.waiting, it.size) {
            if let Law::Red(law) = &mut self.law {
                law.on_overflow();
            }
            return Err(Loss::Overflow);
        }
        if let Law::Pie(law) = &mut self.law {
            law.on_enqueue(it.size);
        }
        Ok(decision == Decision::Mark && it.ecn != Ecn::Ce)
    }

    /// At `now` a packet that has `waited` went to the line.
    pub(crate) fn on_departure(&mut self, now: Time, waited: Span, size: u32) {
        if let Law::Pie(law) = &mut self.law {
            law.on_departure(now, waited, size);
        }
    }
}

/// A discipline that holds the packets.
#[derive(Debug)]
pub(crate) enum Scheduler {
    DropTail(HeldDropTail),
    CoDel(CoDel),
    FqCoDel(FqCoDel),
    DualPi2(DualPi2),
    Priority(Priority),
    Drr(Drr),
    AckFilter(AckFilter),
}

impl Scheduler {
    /// A packet joins; what is dropped for it, or it itself, is in `losses`.
    pub(crate) fn enqueue(&mut self, item: Item, packet: &Packet, losses: &mut Losses) {
        match self {
            Scheduler::DropTail(it) => it.enqueue(item, losses),
            Scheduler::CoDel(it) => it.enqueue(item, losses),
            Scheduler::FqCoDel(it) => it.enqueue(item, losses),
            Scheduler::DualPi2(it) => it.enqueue(item, losses),
            Scheduler::Priority(it) => it.enqueue(item, losses),
            Scheduler::Drr(it) => it.enqueue(item, losses),
            Scheduler::AckFilter(it) => it.enqueue(item, packet, losses),
        }
    }

    /// The next packet for the transmitter; what is dropped before it is in
    /// `losses`.
    pub(crate) fn dequeue(&mut self, now: Time, losses: &mut Losses) -> Option<Item> {
        match self {
            Scheduler::DropTail(it) => it.dequeue(),
            Scheduler::CoDel(it) => it.dequeue(now, losses),
            Scheduler::FqCoDel(it) => it.dequeue(now, losses),
            Scheduler::DualPi2(it) => it.dequeue(now, losses),
            Scheduler::Priority(it) => it.dequeue(),
            Scheduler::Drr(it) => it.dequeue(),
            Scheduler::AckFilter(it) => it.dequeue(),
        }
    }
}

/// What waits for the transmitter, without the packet that is being
/// transmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    /// Packets.
    pub packets: u64,
    /// Octets.
    pub octets: u64,
}

impl Waiting {
    pub(crate) fn add(&mut self, size: u32) {
        self.packets += 1;
        self.octets += size as u64;
    }

    pub(crate) fn remove(&mut self, size: u32) {
        self.packets -= 1;
        self.octets -= size as u64;
    }
}
