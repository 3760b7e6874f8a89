//! A class of HTB: its two buckets, and the queue of a leaf.

use super::super::Scheduler;
use super::super::item::{Item, Losses};
use super::PRIORITIES;
use super::config::{HtbClass, LEVELS, least_burst};
use anabranch_units::{Bytes, Rate, Span, Time};
use anabranch_wire::Packet;

/// Longest debt of a bucket.
const MOST_DEBT: Span = Span::from_secs(60);

/// A bucket, as the date from which it is not in debt.
#[derive(Debug)]
struct Bucket {
    rate: Rate,
    /// Time in which the full bucket flows out at `rate`.
    depth: Span,
    /// Picoseconds since the start, negative where the bucket was full then.
    ready: i128,
}

impl Bucket {
    fn full(rate: Rate, burst: Bytes) -> Bucket {
        let depth = rate.time_for(burst);
        Bucket { rate, depth, ready: -i128::from(depth.as_picos()) }
    }

    fn ready(&self) -> Time {
        Time::from_picos(u64::try_from(self.ready.max(0)).unwrap_or(u64::MAX))
    }

    fn charge(&mut self, size: u32, now: Time) {
        let at = i128::from(now.as_picos());
        let took = self.rate.time_for(Bytes(size.into()));
        let from = self.ready.max(at - i128::from(self.depth.as_picos()));
        let most = at + i128::from(MOST_DEBT.as_picos());
        self.ready = (from + i128::from(took.as_picos())).min(most);
    }
}

/// A class at work.
#[derive(Debug)]
pub(super) struct Class {
    parent: Option<usize>,
    children: Vec<usize>,
    /// 0 for leaves; of others the last one for roots, and one less for each class above.
    level: usize,
    rate: Bucket,
    ceil: Bucket,
    prio: usize,
    quantum: i64,
    /// The queue of a leaf, and its packets.
    leaf: Option<Box<Scheduler>>,
    packets: u64,
    /// What a leaf may still send in its turn at each level, in octets.
    deficits: [i64; LEVELS],
    /// The child from which the turn of each priority goes on.
    pub(super) turns: [usize; PRIORITIES],
}

impl Class {
    pub(super) fn new(
        config: &HtbClass,
        mtu: Bytes,
        parent: Option<usize>,
        children: Vec<usize>,
        level: usize,
        leaf: Option<Box<Scheduler>>,
    ) -> Class {
        let ceil = config.ceil.unwrap_or(config.rate);
        Class {
            parent,
            children,
            level,
            rate: Bucket::full(config.rate, config.burst.unwrap_or(least_burst(mtu))),
            ceil: Bucket::full(ceil, config.cburst.unwrap_or(least_burst(mtu))),
            prio: config.prio.into(),
            quantum: config.quantum().0 as i64,
            leaf,
            packets: 0,
            deficits: [0; LEVELS],
            turns: [0; PRIORITIES],
        }
    }

    pub(super) fn parent(&self) -> Option<usize> {
        self.parent
    }

    pub(super) fn children(&self) -> &[usize] {
        &self.children
    }

    pub(super) fn level(&self) -> usize {
        self.level
    }

    pub(super) fn prio(&self) -> usize {
        self.prio
    }

    pub(super) fn is_leaf(&self) -> bool {
        self.leaf.is_some()
    }

    /// Whether packets wait in the leaf.
    pub(super) fn is_backlogged(&self) -> bool {
        self.packets > 0
    }

    /// Time from which the class keeps to its rate.
    pub(super) fn rate_ready(&self) -> Time {
        self.rate.ready()
    }

    /// Time from which the class keeps to its ceil.
    pub(super) fn ceil_ready(&self) -> Time {
        self.ceil.ready()
    }

    /// Whether it keeps to its rate, and to its ceil.
    pub(super) fn may_send(&self, now: Time) -> bool {
        self.ceil.ready() <= now && self.rate.ready() <= now
    }

    /// Whether it keeps to its ceil alone.
    pub(super) fn may_borrow(&self, now: Time) -> bool {
        self.ceil.ready() <= now && self.rate.ready() > now
    }

    pub(super) fn enqueue(&mut self, item: Item, packet: &Packet, losses: &mut Losses) {
        let Some(leaf) = &mut self.leaf else { return };
        let before = losses.len();
        leaf.enqueue(item, packet, losses);
        self.packets += 1;
        self.packets -= (losses.len() - before) as u64;
    }

    pub(super) fn dequeue(&mut self, now: Time, losses: &mut Losses) -> Option<Item> {
        let before = losses.len();
        let item = self.leaf.as_mut()?.dequeue(now, losses);
        self.packets -= (losses.len() - before) as u64 + u64::from(item.is_some());
        item
    }

    /// The leaf sends a packet. Returns whether its turn at this level is over.
    pub(super) fn ends_turn(&mut self, level: usize, size: u32) -> bool {
        let deficit = &mut self.deficits[level];
        *deficit -= i64::from(size);
        let is_over = *deficit < 0;
        if is_over {
            *deficit += self.quantum;
        }
        is_over
    }

    /// A packet of the class or of one below has been sent; `pays` with its tokens of `rate`, and not
    /// borrowed from a class above.
    pub(super) fn charge(&mut self, size: u32, pays: bool, now: Time) {
        if pays {
            self.rate.charge(size, now);
        }
        self.ceil.charge(size, now);
    }
}
