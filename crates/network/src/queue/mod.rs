//! Queue disciplines in front of a link's transmitter, one file each.
//!
//! Those that decide when a packet comes, and serve first in, first out, keep
//! no packets: the link computes departures at once. The others hold the
//! packets and are asked for the next one when the transmitter is free.

mod ack_filter;
mod blue;
mod cake;
mod choke;
mod cobalt;
mod codel;
mod droptail;
mod drr;
mod dualpi2;
mod fq_codel;
mod fq_pie;
mod held_aqm;
mod held_droptail;
mod htb;
mod item;
mod pi2;
mod pie;
mod priority;
mod red;
mod sfq;
mod threshold;
mod turns;

pub use ack_filter::{AckFilter, AckFilterConfig};
pub use blue::{Blue, BlueConfig};
pub use cake::{Cake, CakeAckFilter, CakeConfig, CakeFraming, CakeIsolation, CakeTins};
pub use choke::{Choke, ChokeConfig};
pub use cobalt::{Cobalt, CobaltConfig, CobaltLaw};
pub use codel::{CoDel, CoDelConfig, CoDelLaw, CoDelState};
pub use droptail::DropTail;
pub use drr::{Drr, DrrConfig, DrrKey};
pub use dualpi2::{DualPi2, DualPi2Config};
pub use fq_codel::{FqCoDel, FqCoDelConfig};
pub use fq_pie::{FqPie, FqPieConfig};
pub(crate) use held_droptail::HeldDropTail;
pub use htb::{Htb, HtbClass, HtbConfig, HtbMatch};
pub use item::{Band, Item, Loss, Losses};
pub use pi2::{Pi2, Pi2Config, Scalable};
pub use pie::{DelayEstimate, Pie, PieConfig};
pub use priority::{Priority, PriorityConfig, PriorityKey};
pub use red::{Red, RedConfig};
pub use sfq::{Sfq, SfqConfig};
pub use threshold::ThresholdConfig;

use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Rate, Time};
use anabranch_wire::{Ecn, Packet};
use held_aqm::HeldAqm;

/// The queue disciplines by name.
pub const QUEUES: &[Info] = &[
    droptail::INFO,
    threshold::INFO,
    red::INFO,
    choke::INFO,
    blue::INFO,
    pie::INFO,
    pi2::INFO,
    codel::INFO,
    cobalt::INFO,
    fq_codel::INFO,
    fq_pie::INFO,
    dualpi2::INFO,
    priority::INFO,
    drr::INFO,
    sfq::INFO,
    cake::INFO,
    htb::INFO,
    ack_filter::INFO,
];

/// Description of a queue.
#[derive(Clone, PartialEq, Debug)]
pub enum QueueConfig {
    /// First in, first out; arrivals beyond the limit are dropped.
    DropTail {
        /// Most that may wait; more is dropped.
        limit: QueueLimit,
    },
    /// Drop-tail with marking from a threshold on.
    Threshold(ThresholdConfig),
    /// Random early detection.
    Red(RedConfig),
    /// RED with a comparison of flows before it.
    Choke(ChokeConfig),
    /// One probability, moved by overflows and idle times.
    Blue(BlueConfig),
    /// Proportional integral controller enhanced.
    Pie(PieConfig),
    /// Proportional integral controller, improved with a square.
    Pi2(Pi2Config),
    /// Controlled delay (CoDel, RFC 8289).
    CoDel(CoDelConfig),
    /// CoDel and BLUE together.
    Cobalt(CobaltConfig),
    /// Flow queues with CoDel.
    FqCoDel(FqCoDelConfig),
    /// Flow queues, each of which keeps its delay by PIE of its own.
    FqPie(FqPieConfig),
    /// Low-latency and classic queues, coupled.
    DualPi2(DualPi2Config),
    /// Bands by strict priority.
    Priority(PriorityConfig),
    /// Flows or code points by deficit round robin.
    Drr(DrrConfig),
    /// Hashed flows in turns, the longest queue loses.
    Sfq(SfqConfig),
    /// A shaper, tins by code point, flow queues fair to hosts.
    Cake(CakeConfig),
    /// Classes with guaranteed rates that borrow from their parents.
    Htb(HtbConfig),
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
    /// The queue holds this many packets.
    Packets(u64),
    /// This many octets, IP headers included.
    Octets(Bytes),
    /// The queue drops nothing for want of room.
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
            | QueueConfig::Choke(ChokeConfig { limit, .. })
            | QueueConfig::Blue(BlueConfig { limit, .. })
            | QueueConfig::Pie(PieConfig { limit, .. })
            | QueueConfig::Pi2(Pi2Config { limit, .. })
            | QueueConfig::CoDel(CoDelConfig { limit, .. })
            | QueueConfig::Cobalt(CobaltConfig { limit, .. })
            | QueueConfig::DualPi2(DualPi2Config { limit, .. })
            | QueueConfig::Priority(PriorityConfig { limit, .. })
            | QueueConfig::Drr(DrrConfig { limit, .. })
            | QueueConfig::AckFilter(AckFilterConfig { limit, .. }) => *limit,
            QueueConfig::FqCoDel(fq_co_del) => QueueLimit::Packets(fq_co_del.limit),
            QueueConfig::FqPie(fq_pie) => QueueLimit::Packets(fq_pie.limit),
            QueueConfig::Sfq(sfq) => QueueLimit::Packets(sfq.limit),
            QueueConfig::Cake(cake) => cake.memory(cake.rate),
            QueueConfig::Htb(_) => QueueLimit::Unlimited,
        }
    }

    /// Whether packets may wait while the line is free.
    pub fn shapes(&self) -> bool {
        match self {
            QueueConfig::Cake(cake) => cake.rate.is_some() || cake.autorate,
            QueueConfig::Htb(htb) => !htb.classes.is_empty(),
            _ => false,
        }
    }

    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        // A discipline that holds packets must be able to hold one, be it only
        // until the idle line takes it.
        let held = match self {
            QueueConfig::Choke(ChokeConfig { limit, .. })
            | QueueConfig::CoDel(CoDelConfig { limit, .. })
            | QueueConfig::Cobalt(CobaltConfig { limit, .. })
            | QueueConfig::DualPi2(DualPi2Config { limit, .. })
            | QueueConfig::Priority(PriorityConfig { limit, .. })
            | QueueConfig::Drr(DrrConfig { limit, .. })
            | QueueConfig::AckFilter(AckFilterConfig { limit, .. }) => Some(*limit),
            QueueConfig::FqCoDel(fq_co_del) => Some(QueueLimit::Packets(fq_co_del.limit)),
            QueueConfig::FqPie(fq_pie) => Some(QueueLimit::Packets(fq_pie.limit)),
            QueueConfig::Sfq(sfq) => Some(QueueLimit::Packets(sfq.limit)),
            QueueConfig::Cake(cake) => cake.limit,
            _ => None,
        };
        if held == Some(QueueLimit::Packets(0)) {
            return Err(ConfigError::new("limit", "0 packets", "at least 1 packet"));
        }
        match self {
            // Every limit makes sense: zero is a link without a buffer.
            QueueConfig::DropTail { limit: _ } | QueueConfig::AckFilter(_) => Ok(()),
            QueueConfig::Threshold(threshold) => threshold.validate(),
            QueueConfig::Red(red) => red.validate(),
            QueueConfig::Choke(choke) => choke.validate(),
            QueueConfig::Blue(blue) => blue.validate(),
            QueueConfig::Pie(pie) => pie.validate(),
            QueueConfig::Pi2(pi2) => pi2.validate(),
            QueueConfig::CoDel(co_del) => co_del.law.validate(),
            QueueConfig::Cobalt(cobalt) => cobalt.law.validate(),
            QueueConfig::FqCoDel(fq_co_del) => fq_co_del.validate(),
            QueueConfig::FqPie(fq_pie) => fq_pie.validate(),
            QueueConfig::DualPi2(dual_pi2) => dual_pi2.validate(),
            QueueConfig::Priority(priority) => priority.validate(),
            QueueConfig::Drr(drr) => drr.validate(),
            QueueConfig::Sfq(sfq) => sfq.validate(),
            QueueConfig::Cake(cake) => cake.validate(),
            QueueConfig::Htb(htb) => htb.validate(),
        }
    }

    /// Builds the discipline for a link whose departures are not known on arrival: drop-tail too
    /// holds its packets.
    pub(crate) fn build_held(&self, line: Line, generator: Generator) -> Discipline {
        match self {
            QueueConfig::DropTail { limit } => {
                Discipline::Held(Box::new(Scheduler::DropTail(HeldDropTail::new(*limit))))
            }
            _ => self.build(line, generator),
        }
    }

    /// Builds the discipline for a leaf of classes, which holds its packets.
    pub(crate) fn build_leaf(&self, line: Line, generator: Generator) -> Box<Scheduler> {
        match self.build_held(line, generator) {
            Discipline::Fifo(aqm) => Box::new(Scheduler::Aqm(HeldAqm::new(*aqm))),
            Discipline::Held(scheduler) => scheduler,
        }
    }

    /// The discipline in front of this line.
    pub(crate) fn build(&self, line: Line, generator: Generator) -> Discipline {
        let aqm = |limit: QueueLimit, law| {
            Discipline::Fifo(Box::new(Aqm { limit: DropTail::new(limit), law }))
        };
        let held = |item| Discipline::Held(Box::new(item));
        match self {
            QueueConfig::DropTail { limit } => aqm(*limit, Law::DropTail),
            QueueConfig::Threshold(threshold) => aqm(threshold.limit, Law::Threshold(*threshold)),
            QueueConfig::Red(red) => aqm(red.limit, Law::Red(Red::new(red, line.rate, generator))),
            QueueConfig::Choke(choke) => {
                held(Scheduler::Choke(Choke::new(choke, line.rate, generator)))
            }
            QueueConfig::Blue(blue) => {
                aqm(blue.limit, Law::Other(OtherLaw::Blue(Blue::new(blue, generator))))
            }
            QueueConfig::Pie(pie) => aqm(pie.limit, Law::Pie(Pie::new(pie, generator))),
            QueueConfig::Pi2(pi2) => {
                aqm(pi2.limit, Law::Other(OtherLaw::Pi2(Pi2::new(pi2, generator))))
            }
            QueueConfig::CoDel(co_del) => held(Scheduler::CoDel(CoDel::new(co_del, line.mtu))),
            QueueConfig::Cobalt(cobalt) => {
                held(Scheduler::Cobalt(Cobalt::new(cobalt, line.rate, line.mtu, generator)))
            }
            QueueConfig::FqCoDel(fq_co_del) => {
                held(Scheduler::FqCoDel(FqCoDel::new(fq_co_del, line.mtu, generator)))
            }
            QueueConfig::FqPie(fq_pie) => held(Scheduler::FqPie(FqPie::new(fq_pie, generator))),
            QueueConfig::DualPi2(dual_pi2) => held(Scheduler::DualPi2(DualPi2::new(dual_pi2))),
            QueueConfig::Priority(priority) => held(Scheduler::Priority(Priority::new(priority))),
            QueueConfig::Drr(drr) => held(Scheduler::Drr(Drr::new(drr))),
            QueueConfig::Sfq(sfq) => held(Scheduler::Sfq(Sfq::new(sfq, generator))),
            QueueConfig::Cake(cake) => {
                held(Scheduler::Cake(Box::new(Cake::new(cake, line.mtu, generator))))
            }
            QueueConfig::Htb(htb) => {
                held(Scheduler::Htb(Box::new(Htb::new(htb, line.mtu, generator))))
            }
            QueueConfig::AckFilter(ack_filter) => {
                held(Scheduler::AckFilter(AckFilter::new(ack_filter)))
            }
        }
    }
}

impl Default for QueueConfig {
    /// Drop-tail, 100 packets.
    fn default() -> Self {
        QueueConfig::DropTail { limit: QueueLimit::Packets(100) }
    }
}

/// What a discipline is to know of the line behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Its rate.
    pub rate: Rate,
    /// The largest packet that it takes.
    pub mtu: Bytes,
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
    /// Time at which the packet comes.
    pub now: Time,
    /// Octets of the packet, IP header included.
    pub size: u32,
    /// ECN field of the packet.
    pub ecn: Ecn,
    /// What waits, without the packet on the line.
    pub waiting: Waiting,
    /// Time at which the line is or was free of what came before.
    pub busy_until: Time,
}

/// What a law says of a packet that comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It may join the queue, where there is room.
    Admit,
    /// It may join with CE set.
    Mark,
    /// The packet is dropped, though there is room.
    Drop,
}

impl Decision {
    /// Whether CE is to be set on the packet, which CE alone does not need.
    fn marks(self, arrival: &Arrival) -> bool {
        self == Decision::Mark && arrival.ecn != Ecn::Ce
    }
}

/// A queue that decides on arrival. The packets wait in the link.
#[derive(Debug)]
pub(crate) struct Aqm {
    limit: DropTail,
    law: Law,
}

#[derive(Debug)]
enum Law {
    /// No law: only the limit drops packets.
    DropTail,
    Threshold(ThresholdConfig),
    Red(Red),
    Pie(Pie),
    Other(OtherLaw),
}

/// Laws behind one more branch of [`Law`], in functions of their own: what a packet costs with those
/// above does not grow with every law that is added.
#[derive(Debug)]
enum OtherLaw {
    Blue(Blue),
    Pi2(Pi2),
}

impl OtherLaw {
    /// As [`Aqm::on_arrival`].
    #[inline(never)]
    fn on_arrival(&mut self, limit: &DropTail, arrival: &Arrival) -> Result<bool, Loss> {
        let decision = match self {
            OtherLaw::Blue(law) => law.on_arrival(arrival),
            OtherLaw::Pi2(law) => law.on_arrival(arrival),
        };
        if decision == Decision::Drop {
            return Err(Loss::Early);
        }
        let has_room = limit.has_room(arrival);
        match self {
            OtherLaw::Blue(law) if !has_room => law.on_overflow(),
            OtherLaw::Pi2(law) if has_room => law.on_enqueue(arrival.size),
            OtherLaw::Blue(_) | OtherLaw::Pi2(_) => {}
        }
        if has_room { Ok(decision.marks(arrival)) } else { Err(Loss::Overflow) }
    }

    /// As [`Aqm::on_departure`].
    #[inline(never)]
    fn on_departure(&mut self, now: Time, offered: Time, size: u32) {
        match self {
            OtherLaw::Blue(_) => {}
            OtherLaw::Pi2(law) => law.on_departure(now, now.saturating_since(offered), size),
        }
    }
}

impl Aqm {
    /// What becomes of a packet that comes: `Ok` and whether it is marked.
    pub(crate) fn on_arrival(&mut self, arrival: &Arrival) -> Result<bool, Loss> {
        let decision = match &mut self.law {
            Law::DropTail => Decision::Admit,
            Law::Threshold(law) => law.on_arrival(arrival),
            Law::Red(law) => law.on_arrival(arrival),
            Law::Pie(law) => law.on_arrival(arrival),
            Law::Other(law) => return law.on_arrival(&self.limit, arrival),
        };
        if decision == Decision::Drop {
            return Err(Loss::Early);
        }
        if !self.limit.has_room(arrival) {
            match &mut self.law {
                Law::Red(law) => law.on_overflow(),
                Law::Pie(law) => law.on_overflow(),
                Law::DropTail | Law::Threshold(_) | Law::Other(_) => {}
            }
            return Err(Loss::Overflow);
        }
        if let Law::Pie(law) = &mut self.law {
            law.on_enqueue(arrival.size);
        }
        Ok(decision.marks(arrival))
    }

    /// Hears that a packet which came at `offered` went to the line at `now`.
    pub(crate) fn on_departure(&mut self, now: Time, offered: Time, size: u32) {
        match &mut self.law {
            Law::Pie(law) => law.on_departure(now, now.saturating_since(offered), size),
            Law::Other(law) => law.on_departure(now, offered, size),
            Law::DropTail | Law::Threshold(_) | Law::Red(_) => {}
        }
    }
}

/// A discipline that holds the packets.
#[derive(Debug)]
pub(crate) enum Scheduler {
    DropTail(HeldDropTail),
    Choke(Choke),
    CoDel(CoDel),
    Cobalt(Cobalt),
    FqCoDel(FqCoDel),
    FqPie(FqPie),
    DualPi2(DualPi2),
    Priority(Priority),
    Drr(Drr),
    Sfq(Sfq),
    Cake(Box<Cake>),
    Htb(Box<Htb>),
    AckFilter(AckFilter),
    Aqm(HeldAqm),
}

impl Scheduler {
    /// Returns the date before which it gives no packet, however free the line is.
    #[inline]
    pub(crate) fn opens_at(&self) -> Time {
        match self {
            Scheduler::Cake(cake) => cake.opens_at(),
            Scheduler::Htb(htb) => htb.opens_at(),
            _ => Time::ZERO,
        }
    }

    /// A packet joins; what is dropped for it, or it itself, is in `losses`.
    pub(crate) fn enqueue(&mut self, item: Item, packet: &Packet, losses: &mut Losses) {
        match self {
            Scheduler::DropTail(drop_tail) => drop_tail.enqueue(item, losses),
            Scheduler::Choke(choke) => choke.enqueue(item, losses),
            Scheduler::CoDel(co_del) => co_del.enqueue(item, losses),
            Scheduler::Cobalt(cobalt) => cobalt.enqueue(item, losses),
            Scheduler::FqCoDel(fq_co_del) => fq_co_del.enqueue(item, losses),
            Scheduler::FqPie(fq_pie) => fq_pie.enqueue(item, losses),
            Scheduler::DualPi2(dual_pi2) => dual_pi2.enqueue(item, losses),
            Scheduler::Priority(priority) => priority.enqueue(item, losses),
            Scheduler::Drr(drr) => drr.enqueue(item, losses),
            Scheduler::Sfq(sfq) => sfq.enqueue(item, losses),
            Scheduler::Cake(cake) => cake.enqueue(item, packet, losses),
            Scheduler::Htb(htb) => htb.enqueue(item, packet, losses),
            Scheduler::Aqm(aqm) => aqm.enqueue(item, losses),
            Scheduler::AckFilter(ack_filter) => ack_filter.enqueue(item, packet, losses),
        }
    }

    /// The next packet for the transmitter; what is dropped before it is in
    /// `losses`.
    pub(crate) fn dequeue(&mut self, now: Time, losses: &mut Losses) -> Option<Item> {
        match self {
            Scheduler::DropTail(drop_tail) => drop_tail.dequeue(),
            Scheduler::Choke(choke) => choke.dequeue(now),
            Scheduler::CoDel(co_del) => co_del.dequeue(now, losses),
            Scheduler::Cobalt(cobalt) => cobalt.dequeue(now, losses),
            Scheduler::FqCoDel(fq_co_del) => fq_co_del.dequeue(now, losses),
            Scheduler::FqPie(fq_pie) => fq_pie.dequeue(now),
            Scheduler::DualPi2(dual_pi2) => dual_pi2.dequeue(now, losses),
            Scheduler::Priority(priority) => priority.dequeue(),
            Scheduler::Drr(drr) => drr.dequeue(),
            Scheduler::Sfq(sfq) => sfq.dequeue(now, losses),
            Scheduler::Cake(cake) => cake.dequeue(now, losses),
            Scheduler::Htb(htb) => htb.dequeue(now, losses),
            Scheduler::Aqm(aqm) => aqm.dequeue(now),
            Scheduler::AckFilter(ack_filter) => ack_filter.dequeue(),
        }
    }
}

/// What waits for the transmitter, without the packet that is being
/// transmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    /// Packets that wait.
    pub packets: u64,
    /// Octets that wait, IP headers included.
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
