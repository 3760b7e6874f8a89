//! HTB, hierarchical token bucket: classes with a guaranteed rate that borrow from their parents what
//! others leave (Devera, "HTB Linux queuing discipline manual", 2002; tc-htb(8); Linux `sch_htb`).
//!
//! A class *may send* while it keeps to `rate`, with bursts of `burst`. One that does not, but keeps to
//! `ceil`, *may borrow*: it sends while its parent may, or may borrow in turn. A class beyond its
//! `ceil` waits. Packets wait in leaves, each a queue of any discipline.
//!
//! Of what may send the lowest level goes first: leaves within their rates, then those that borrow
//! from a parent, and so on; within a level the lowest `prio`, and among equals turns by deficit with
//! the leaves' `quantum`. What a leaf sends counts for its own rate and that of all above it; what it has
//! borrowed counts for the rate of the lender and those above, and for every `ceil` on the way.
//!
//! A packet belongs to the first leaf that names its code point, one of its hosts, or its flow, else to
//! `default`; without one it is sent at once, before all others (Linux: the direct queue).
//!
//! Buckets are kept as dates: `rate_ready` is when the bucket of `rate` is no longer in debt, at most
//! `burst` at `rate` in the past. A debt is at most a minute, as in Linux.

mod class;
mod config;

pub use config::{HtbClass, HtbConfig, HtbMatch};

use super::held_droptail::HeldDropTail;
use super::item::{Item, Losses};
use super::{Line, QueueLimit};
use crate::catalogue::Info;
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Time};
use anabranch_wire::Packet;
use class::Class;
use config::LEVELS;

pub(super) const INFO: Info = Info {
    name: "htb",
    summary: "classes with guaranteed rates that borrow what others leave, each leaf a queue of any kind",
    reference: "HTB (Devera 2002); tc-htb(8), Linux sch_htb",
};

/// Priorities of leaves.
const PRIORITIES: usize = 8;
/// Packets that wait in the direct queue.
const DIRECT: u64 = 1000;

/// HTB at work.
#[derive(Debug)]
pub struct Htb {
    classes: Vec<Class>,
    matches: Vec<(usize, HtbMatch)>,
    default: Option<usize>,
    direct: HeldDropTail,
    direct_packets: u64,
    /// The class from which the turn at each level and priority goes on.
    turns: [[usize; PRIORITIES]; LEVELS],
    opens_at: Time,
}

impl Htb {
    /// Makes all queues empty and all buckets full, of a link of this MTU.
    pub(super) fn new(config: &HtbConfig, mtu: Bytes, mut generator: Generator) -> Htb {
        let index = |name: &String| config.classes.iter().position(|class| class.name == *name);
        let mut classes: Vec<Class> = Vec::with_capacity(config.classes.len());
        for (number, class) in config.classes.iter().enumerate() {
            let parent = class.parent.as_ref().and_then(index);
            let children = |of: &HtbClass| {
                config
                    .classes
                    .iter()
                    .enumerate()
                    .filter(|(_, other)| other.parent.as_ref() == Some(&of.name))
                    .map(|(child, _)| child)
                    .collect::<Vec<_>>()
            };
            let children = children(class);
            let leaf = children.is_empty().then(|| {
                let line = Line { rate: class.rate, mtu };
                class.queue().build_leaf(line, Generator::from_u64(generator.next_u64()))
            });
            let level = if leaf.is_some() { 0 } else { LEVELS - 1 - config.depth(number) };
            classes.push(Class::new(class, mtu, parent, children, level, leaf));
        }
        let matches = config.classes.iter().enumerate();
        Htb {
            matches: matches.map(|(number, class)| (number, class.matches.clone())).collect(),
            default: config.default.as_ref().and_then(index),
            classes,
            direct: HeldDropTail::new(QueueLimit::Packets(DIRECT)),
            direct_packets: 0,
            turns: [[0; PRIORITIES]; LEVELS],
            opens_at: Time::ZERO,
        }
    }

    /// Returns the date before which no packet leaves.
    #[inline]
    pub(crate) fn opens_at(&self) -> Time {
        self.opens_at
    }

    pub(crate) fn enqueue(&mut self, item: Item, packet: &Packet, losses: &mut Losses) {
        let found = self.matches.iter().find(|(_, matches)| matches.has(packet));
        let Some(leaf) = found.map(|(leaf, _)| *leaf).or(self.default) else {
            let before = losses.len();
            self.direct.enqueue(item, losses);
            self.direct_packets += 1 - (losses.len() - before) as u64;
            return self.reopen();
        };
        self.classes[leaf].enqueue(item, packet, losses);
        self.reopen();
    }

    pub(crate) fn dequeue(&mut self, now: Time, losses: &mut Losses) -> Option<Item> {
        let item = self.next(now, losses);
        self.reopen();
        item
    }

    fn next(&mut self, now: Time, losses: &mut Losses) -> Option<Item> {
        if let Some(item) = self.direct.dequeue() {
            self.direct_packets -= 1;
            return Some(item);
        }
        for level in 0..LEVELS {
            for prio in 0..PRIORITIES {
                while let Some(leaf) = self.pick(level, prio, now) {
                    // A discipline that drops all that it has gives its turn to the next.
                    if let Some(item) = self.classes[leaf].dequeue(now, losses) {
                        self.sent(leaf, level, prio, item.size, now);
                        return Some(item);
                    }
                }
            }
        }
        None
    }

    /// The leaf whose turn it is among those that send at a level with a priority.
    fn pick(&mut self, level: usize, prio: usize, now: Time) -> Option<usize> {
        // The classes from the top of the branch down; each time that a class has served all its children
        // the turn goes on above it.
        'top: loop {
            let is_top = |class: &usize| {
                let it = &self.classes[*class];
                it.level() == level && it.may_send(now) && self.feeds(*class, prio, now)
            };
            let from = self.turns[level][prio];
            let all = 0..self.classes.len();
            let first = all.clone().skip(from).find(is_top).or_else(|| all.clone().find(is_top))?;
            self.turns[level][prio] = first;
            let (mut class, mut above) = (first, None);
            while !self.classes[class].is_leaf() {
                let from = self.classes[class].turns[prio];
                let mut children = self.classes[class].children().iter().copied();
                let borrows = |child: &usize| {
                    self.classes[*child].may_borrow(now) && self.feeds(*child, prio, now)
                };
                let Some(child) = children.find(|child| *child >= from && borrows(child)) else {
                    self.classes[class].turns[prio] = 0;
                    match above {
                        None => self.turns[level][prio] = class + 1,
                        Some(above) => {
                            let above: &mut Class = &mut self.classes[above];
                            above.turns[prio] = class + 1;
                        }
                    }
                    continue 'top;
                };
                self.classes[class].turns[prio] = child;
                (above, class) = (Some(class), child);
            }
            return Some(class);
        }
    }

    /// Whether a leaf of this priority at or below a class has packets that may go through it.
    fn feeds(&self, class: usize, prio: usize, now: Time) -> bool {
        let class = &self.classes[class];
        if class.is_leaf() {
            return class.is_backlogged() && class.prio() == prio;
        }
        let mut children = class.children().iter();
        children.any(|child| self.classes[*child].may_borrow(now) && self.feeds(*child, prio, now))
    }

    /// A leaf has sent a packet by the tokens of a class at `level`.
    fn sent(&mut self, leaf: usize, level: usize, prio: usize, size: u32, now: Time) {
        if self.classes[leaf].ends_turn(level, size) {
            match self.classes[leaf].parent().filter(|_| level > 0) {
                Some(parent) => self.classes[parent].turns[prio] = leaf + 1,
                None => self.turns[level][prio] = leaf + 1,
            }
        }
        let mut at = Some(leaf);
        while let Some(class) = at {
            let class = &mut self.classes[class];
            class.charge(size, class.level() >= level, now);
            at = class.parent();
        }
    }

    /// Finds the date at which a packet may leave: that of a leaf with packets is when a class at or
    /// above it may send, and all below that class keep to their ceils.
    fn reopen(&mut self) {
        let leaves = self.classes.iter().filter(|class| class.is_backlogged());
        let date = |leaf: &Class| {
            let (mut date, mut ceils, mut at) = (Time::NEVER, Time::ZERO, Some(leaf));
            while let Some(class) = at {
                ceils = ceils.max(class.ceil_ready());
                date = date.min(ceils.max(class.rate_ready()));
                at = class.parent().map(|parent| &self.classes[parent]);
            }
            date
        };
        self.opens_at = match self.direct_packets {
            0 => leaves.map(date).min().unwrap_or(Time::ZERO),
            _ => Time::ZERO,
        };
    }
}

#[cfg(test)]
mod tests;
