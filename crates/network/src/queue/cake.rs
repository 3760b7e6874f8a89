//! CAKE, Common Applications Kept Enhanced (Høiland-Jørgensen, Täht and Morton, "Piece of CAKE",
//! LANMAN 2018; tc-cake(8); Linux `sch_cake`): a shaper, tins by code point, flow queues that are
//! fair to hosts, COBALT on each, and a filter of ACKs.
//!
//! *Shaper* (§3.1): a packet may leave at `next`, which each packet moves by its time at `rate`. There
//! is no bucket, so no burst: after an idle time `next` is the time of the arrival. A packet counts
//! with `overhead`, at least `mpu`, and in the cells or codewords of `framing`.
//!
//! *Tins* (§3.3): each has a share of the rate with a clock of its own. The last tin that is not ahead of its
//! clock is served; where all are ahead, the one that is least. A tin beyond its share so yields to the
//! others, and may have all that they leave. Without a rate tins take turns by deficit.
//!
//! *Flows* (§3.2): [`tin`] has them.
//!
//! *Ingress*: packets that were dropped here have used the line before it, and count for the shaper
//! too. They only move `next`; `failsafe`, which a packet that leaves moves by 3/2 of its time, lets
//! packets pass whatever is dropped.
//!
//! Deviations from Linux: deficits are kept in 2^-16 octets where Linux rounds at random; hosts are
//! counted exactly where Linux hashes them; `limit` counts octets of packets where Linux counts their
//! buffers; the MTU has no Ethernet header. There is no address translation to look through, no
//! segmentation offload to split, and no firewall mark.

mod autorate;
mod tin;
mod tins;

pub use tins::CakeTins;

use super::item::{Item, Loss, Losses};
use super::{QueueLimit, Waiting};
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::{Bounds, Generator};
use anabranch_units::{Bytes, Rate, Span, Time};
use anabranch_wire::Packet;
use autorate::Autorate;
use tin::{Pick, Tin};

pub(super) const INFO: Info = Info {
    name: "cake",
    summary: "shaper, tins by DSCP, flow queues fair to hosts with COBALT on each, ACK filter",
    reference: "CAKE (Høiland-Jørgensen et al., LANMAN 2018); tc-cake(8), Linux sch_cake",
};

/// What the line's frames add to packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CakeFraming {
    /// Nothing but the overhead.
    #[default]
    None,
    /// Cells of 53 octets carry 48 each (ITU-T I.432).
    Atm,
    /// One octet for each 64 that begin (64/65 encoding of IEEE 802.3 clause 61).
    Ptm,
}

/// What packets of one queue have in common, and to whom the queues are fair.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CakeIsolation {
    /// One queue.
    Flowblind,
    /// A queue for each source address.
    SrcHost,
    /// A queue for each destination address.
    DstHost,
    /// A queue for each pair of addresses.
    Hosts,
    /// A queue for each flow: addresses, protocol and ports.
    Flows,
    /// As [`Flows`](Self::Flows), with the flows of a source sharing one share.
    DualSrcHost,
    /// As [`Flows`](Self::Flows), with the flows of a destination sharing one share.
    DualDstHost,
    /// As [`Flows`](Self::Flows), with the flows of the busier of both hosts sharing one share.
    #[default]
    TripleIsolate,
}

impl CakeIsolation {
    /// Whether flows of one source share one share.
    fn counts_sources(self) -> bool {
        matches!(self, CakeIsolation::DualSrcHost | CakeIsolation::TripleIsolate)
    }

    /// Whether flows of one destination share one share.
    fn counts_destinations(self) -> bool {
        matches!(self, CakeIsolation::DualDstHost | CakeIsolation::TripleIsolate)
    }
}

/// How the ACKs of a flow queue are filtered: see [`AckFilter`](super::AckFilter).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CakeAckFilter {
    /// No ACK is dropped.
    #[default]
    Off,
    /// Two ACKs of several that say the same are left.
    Conservative,
    /// One is left.
    Aggressive,
}

/// Parameters of CAKE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CakeConfig {
    /// Rate of the shaper; without one only the line limits the rate.
    pub rate: Option<Rate>,
    /// The rate follows the traffic that arrives, from `rate` on.
    pub autorate: bool,
    /// Which packets share a tin, by their code points, and what each tin may use of the rate.
    pub tins: CakeTins,
    /// What packets of one flow queue have in common.
    pub isolation: CakeIsolation,
    /// Interval of COBALT, about the round-trip time of the path; the target is a twentieth of it.
    pub rtt: Span,
    /// Octets that frames add to a packet, -64 to 256.
    pub overhead: i32,
    /// Least octets of a packet with its overhead, at most 256.
    pub mpu: Bytes,
    /// What frames add besides.
    pub framing: CakeFraming,
    /// Whether ACKs that others make redundant are dropped.
    pub ack_filter: CakeAckFilter,
    /// Packets that are dropped count for the shaper: the line to shape is before the queue.
    pub ingress: bool,
    /// Code points of packets are set to 0 when they have been classified.
    pub wash: bool,
    /// What may wait; without it 4 `rate` `rtt`, at least 4 MiB.
    pub limit: Option<QueueLimit>,
}

impl Default for CakeConfig {
    /// As in Linux: no rate, `diffserv3`, `triple-isolate`, 100 ms, nothing else.
    fn default() -> Self {
        CakeConfig {
            rate: None,
            autorate: false,
            tins: CakeTins::default(),
            isolation: CakeIsolation::default(),
            rtt: Span::from_millis(100),
            overhead: 0,
            mpu: Bytes(0),
            framing: CakeFraming::None,
            ack_filter: CakeAckFilter::Off,
            ingress: false,
            wash: false,
            limit: None,
        }
    }
}

impl CakeConfig {
    /// What `rtt` may be: work for each microsecond is what a run can bear.
    pub const RTT: Bounds<Span> = Bounds::of(Span::from_micros(1), Span::from_secs(1000));
    /// What `overhead` may be.
    pub const OVERHEAD: Bounds<i32> = Bounds::of(-64, 256).counted_in("octets");
    /// What `mpu` may be.
    pub const MPU: Bounds<Bytes> = Bounds::at_most(Bytes(256));
    /// What `rate` may be.
    pub const RATE: Bounds<Rate> = Bounds::at_least(LEAST_RATE);

    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        Self::RTT.check("rtt", self.rtt)?;
        Self::OVERHEAD.check("overhead", self.overhead)?;
        Self::MPU.check("mpu", self.mpu)?;
        if let Some(rate) = self.rate {
            Self::RATE.check("rate", rate)?;
        }
        match self.limit {
            Some(QueueLimit::Octets(Bytes(0))) => {
                Err(ConfigError::new("limit", "0 B", "at least 1 B"))
            }
            _ => Ok(()),
        }
    }

    /// What may wait at this rate: four times what `rtt` carries, at least 4 MiB; without a rate
    /// 10,240 packets of Ethernet.
    pub(crate) fn memory(&self, rate: Option<Rate>) -> QueueLimit {
        let by_rate = |rate: Rate| rate.bytes_in(self.rtt).0.saturating_mul(4);
        let octets = rate.map_or(MOST_MEMORY, |rate| by_rate(rate).clamp(4 << 20, MOST_MEMORY));
        self.limit.unwrap_or(QueueLimit::Octets(Bytes(octets)))
    }

    /// Octets of a packet on the line (§3.1).
    fn on_the_line(&self, size: u32) -> u64 {
        let size =
            (i64::from(size) + i64::from(self.overhead)).max(self.mpu.0 as i64).max(0) as u64;
        match self.framing {
            CakeFraming::None => size,
            CakeFraming::Atm => size.div_ceil(48) * 53,
            CakeFraming::Ptm => size + size.div_ceil(64),
        }
    }
}

/// No tin's clock is slower, as in Linux: 64 octets a second.
const LEAST_RATE: Rate = match Rate::from_bps(512) {
    Some(rate) => rate,
    None => unreachable!(),
};

/// Octets that wait at most without `limit`, as in Linux: 10,240 packets of 1514 octets.
const MOST_MEMORY: u64 = 10_240 * 1514;

/// CAKE at work.
#[derive(Debug)]
pub struct Cake {
    config: CakeConfig,
    mtu: Bytes,
    /// The tin of each code point.
    tin_of: [u8; 64],
    tins: Vec<Tin>,
    /// The tin whose turn it is without a rate.
    turn: usize,
    /// The shaper's rate at present.
    rate: Option<Rate>,
    /// Time from which the next packet may leave.
    next: Time,
    /// The same where many were dropped.
    failsafe: Time,
    autorate: Option<Autorate>,
    /// What may wait, and what does.
    limit: QueueLimit,
    waiting: Waiting,
    /// Odd: what a flow's hash is multiplied by, so that nobody can foresee which flows share a queue.
    multiplier: u32,
    generator: Generator,
}

impl Cake {
    /// Makes an empty queue with these parameters, of a link of this MTU.
    pub fn new(config: &CakeConfig, mtu: Bytes, mut generator: Generator) -> Cake {
        let multiplier = generator.next_u64() as u32 | 1;
        let mut cake = Cake {
            config: *config,
            mtu,
            tin_of: config.tins.by_code_point(),
            tins: config.tins.quanta().map(Tin::new).collect(),
            turn: 0,
            rate: None,
            next: Time::ZERO,
            failsafe: Time::ZERO,
            autorate: config.autorate.then(|| Autorate::new(config.rate)),
            limit: QueueLimit::Unlimited,
            waiting: Waiting::default(),
            multiplier,
            generator,
        };
        cake.set_rate(config.rate);
        cake
    }

    /// The shaper's rate at present.
    pub fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// Gives the shaper and its tins a rate.
    fn set_rate(&mut self, rate: Option<Rate>) {
        self.rate = rate;
        self.limit = self.config.memory(rate);
        let mut shares = self.config.tins.shares();
        for tin in &mut self.tins {
            let share = shares.next().unwrap_or((1, 1));
            let of = |rate: Rate| Rate::from_bps(rate.as_bps() * share.0 / share.1);
            let rate = rate.map(|rate| of(rate).unwrap_or(LEAST_RATE).max(LEAST_RATE));
            tin.set_rate(rate, self.mtu, self.config.rtt);
        }
    }

    /// Returns the date before which no packet leaves.
    #[inline]
    pub(crate) fn opens_at(&self) -> Time {
        if self.rate.is_some() { self.next.min(self.failsafe) } else { Time::ZERO }
    }

    pub(crate) fn enqueue(&mut self, mut item: Item, packet: &Packet, losses: &mut Losses) {
        let now = item.since;
        let number = self.tin_of[usize::from(item.dscp & 63)] as usize;
        if self.config.wash && item.dscp != 0 {
            (item.dscp, item.washed) = (0, true);
        }
        if self.waiting.packets == 0 && self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
        let hash = self.hash(&item, packet);
        let tin = &mut self.tins[number];
        tin.wake(now);
        let flow = tin.flow(self.config.isolation, hash, packet);
        let before = losses.len();
        let filter = self.config.ack_filter != CakeAckFilter::Off;
        let ack = (filter && item.pure_ack).then_some(packet);
        if let Some(ack) = ack {
            let aggressive = self.config.ack_filter == CakeAckFilter::Aggressive;
            tin.filter(flow, ack, aggressive, losses);
        }
        tin.push(flow, item, ack);
        self.waiting.add(item.size);
        for (lost, _) in losses.iter().skip(before) {
            self.forget(number, lost.size, now);
        }
        if let Some(rate) = self.autorate.as_mut().and_then(|it| it.on_arrival(now, item.size)) {
            self.set_rate(Some(rate.max(LEAST_RATE)));
        }
        self.tins[number].join(flow, self.config.isolation);
        while self.is_over_its_limit() {
            self.drop_from_the_longest(now, losses);
        }
    }

    /// Whether more waits than may.
    fn is_over_its_limit(&self) -> bool {
        match self.limit {
            QueueLimit::Packets(n) => self.waiting.packets > n,
            QueueLimit::Octets(n) => self.waiting.octets > n.0,
            QueueLimit::Unlimited => false,
        }
    }

    /// The flow queue's hash: what packets of one queue have in common.
    fn hash(&self, item: &Item, packet: &Packet) -> u32 {
        let host = |address: u32| (crate::hash::mix(u64::from(address)) >> 32) as u32;
        let hash = match self.config.isolation {
            CakeIsolation::Flowblind => 0,
            CakeIsolation::SrcHost => host(packet.src.0),
            CakeIsolation::DstHost => host(packet.dst.0),
            CakeIsolation::Hosts => host(packet.src.0).rotate_left(7) ^ host(packet.dst.0),
            CakeIsolation::Flows
            | CakeIsolation::DualSrcHost
            | CakeIsolation::DualDstHost
            | CakeIsolation::TripleIsolate => item.flow,
        };
        hash.wrapping_mul(self.multiplier)
    }

    /// A packet of a tin has been dropped.
    fn forget(&mut self, tin: usize, size: u32, now: Time) {
        self.waiting.remove(size);
        if self.config.ingress {
            self.charge(tin, size, now, false);
        }
    }

    /// Moves the clocks of the shaper and of a tin by a packet. Returns its octets on the line.
    fn charge(&mut self, tin: usize, size: u32, now: Time, leaves: bool) -> u64 {
        let octets = self.config.on_the_line(size);
        if let Some(rate) = self.rate {
            self.tins[tin].charge(octets, now);
            let took = rate.time_for(Bytes(octets));
            self.next = self.next.saturating_add(took);
            if leaves {
                let longer = took + Span::from_picos(took.as_picos() / 2);
                self.failsafe = self.failsafe.saturating_add(longer);
            }
        }
        octets
    }

    /// Drops the head of the longest queue, as COBALT's overflow (§3.4).
    fn drop_from_the_longest(&mut self, now: Time, losses: &mut Losses) {
        let longest = self.tins.iter().enumerate().filter_map(|(number, tin)| {
            let (flow, octets) = tin.longest()?;
            Some((octets, std::cmp::Reverse(number), flow))
        });
        let Some((_, std::cmp::Reverse(number), flow)) = longest.max() else { return };
        if let Some(item) = self.tins[number].drop_head(flow, now) {
            self.forget(number, item.size, now);
            losses.push((item, Loss::Overflow));
        }
    }

    pub(crate) fn dequeue(&mut self, now: Time, losses: &mut Losses) -> Option<Item> {
        if now < self.opens_at() {
            return None;
        }
        let mut looks_at_decaying = true;
        while self.waiting.packets > 0 {
            let number = self.next_tin(now)?;
            if let Some(item) = self.serve(number, now, &mut looks_at_decaying, losses) {
                return Some(item);
            }
        }
        None
    }

    /// Chooses the tin that sends next: by its clock where there is a rate, otherwise by its turn.
    fn next_tin(&mut self, now: Time) -> Option<usize> {
        if self.rate.is_some() {
            let mut best = None;
            for (number, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_listed()) {
                let ahead = tin.next().saturating_since(now);
                let is_better = best.is_none_or(|(_, least)| ahead <= least);
                if ahead == Span::ZERO || is_better {
                    best = Some((number, ahead));
                }
            }
            return best.map(|(number, _)| number);
        }
        if !self.tins.iter().any(Tin::is_listed) {
            return None;
        }
        while !self.tins[self.turn].has_turn() {
            self.turn = (self.turn + 1) % self.tins.len();
        }
        Some(self.turn)
    }

    /// The next packet of a tin; `None` where a queue was found empty, so that another tin may be next.
    fn serve(
        &mut self,
        number: usize,
        now: Time,
        looks_at_decaying: &mut bool,
        losses: &mut Losses,
    ) -> Option<Item> {
        let (isolation, ingress) = (self.config.isolation, self.config.ingress);
        loop {
            let tin = &mut self.tins[number];
            let flow = match tin.next_flow(*looks_at_decaying, isolation)? {
                Pick::Flow(flow) => flow,
                Pick::Later => {
                    *looks_at_decaying = false;
                    continue;
                }
            };
            *looks_at_decaying = false;
            loop {
                let Some(mut item) = tin.pop(flow) else {
                    tin.leave(flow, now, isolation);
                    return None;
                };
                let drops = tin.drops(flow, now, ingress, &mut item, &mut self.generator);
                if !drops {
                    self.waiting.remove(item.size);
                    let octets = self.charge(number, item.size, now, true);
                    self.tins[number].sent(flow, octets);
                    return Some(item);
                }
                losses.push((item, Loss::Early));
                self.waiting.remove(item.size);
                if ingress {
                    let octets = self.charge(number, item.size, now, false);
                    self.tins[number].sent(flow, octets);
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
