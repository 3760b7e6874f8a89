//! Deficit round robin: Shreedhar and Varghese, "Efficient Fair Queueing using
//! Deficit Round Robin", SIGCOMM 1995. On overflow a packet is taken from the
//! tail of the longest queue (their "buffer stealing", after McKenney 1990).
//! Queues of code points may have weights: quanta in proportion, §3 of the paper.

use super::fq_codel::{check_flow_queues, longest, spread};
use super::item::{Band, Item, Loss, Losses};
use super::{QueueLimit, Waiting};
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::Bounds;
use anabranch_units::Bytes;
use std::collections::VecDeque;

pub(super) const INFO: Info = Info {
    name: "drr",
    summary: "a queue for each hashed flow or each DSCP, in turns of a quantum of octets",
    reference: "Shreedhar and Varghese, SIGCOMM 1995",
};

/// What packets of one queue have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DrrKey {
    /// Packets whose addresses, protocol and ports hash alike.
    #[default]
    Flow,
    /// Packets of one DSCP; there are 64 queues.
    Dscp,
}

/// Parameters of deficit round robin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DrrConfig {
    /// What may wait in all queues together.
    pub limit: QueueLimit,
    /// What packets of one queue have in common.
    pub key: DrrKey,
    /// Number of queues of hashed flows.
    pub queues: u32,
    /// Octets that a queue may send more in each turn.
    pub quantum: Bytes,
    /// Factor of each code point's quantum, with [`DrrKey::Dscp`].
    pub weights: [u16; 64],
}

impl Default for DrrConfig {
    /// 1000 packets, 1024 queues of flows, 1500 octets, all alike.
    fn default() -> Self {
        DrrConfig {
            limit: QueueLimit::Packets(1000),
            key: DrrKey::Flow,
            queues: 1024,
            quantum: Bytes(1500),
            weights: [1; 64],
        }
    }
}

impl DrrConfig {
    /// What each of `weights` may be.
    pub const WEIGHT: Bounds<u16> = Bounds::of(1, 1000);

    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.weights.iter().try_for_each(|weight| Self::WEIGHT.check("weights", *weight))?;
        if self.key == DrrKey::Flow && self.weights != [1; 64] {
            let value = "weights of code points";
            return Err(ConfigError::new("weights", value, "none with key = \"flow\""));
        }
        check_flow_queues(self.queues, self.quantum)
    }

    /// Octets of a turn of this queue.
    fn quantum(&self, index: u32) -> u64 {
        let weight = match self.key {
            DrrKey::Flow => 1,
            DrrKey::Dscp => self.weights[index as usize],
        };
        self.quantum.0 * u64::from(weight)
    }
}

#[derive(Default, Debug)]
struct Turn {
    band: Band,
    deficit: u64,
}

/// The queues of DRR, with their turns.
#[derive(Debug)]
pub struct Drr {
    config: DrrConfig,
    queues: Vec<Turn>,
    /// The ActiveList: queues with packets, in the order of their turns.
    active: VecDeque<u32>,
    /// The head of the list has had its quantum in this turn.
    in_turn: bool,
    waiting: Waiting,
}

impl Drr {
    /// Makes all queues empty.
    pub fn new(config: &DrrConfig) -> Drr {
        let queues = if config.key == DrrKey::Dscp { 64 } else { config.queues };
        Drr {
            config: *config,
            queues: (0..queues).map(|_| Turn::default()).collect(),
            active: VecDeque::new(),
            in_turn: false,
            waiting: Waiting::default(),
        }
    }

    pub(crate) fn enqueue(&mut self, item: Item, losses: &mut Losses) {
        let index = match self.config.key {
            DrrKey::Flow => spread(item.flow, self.config.queues),
            DrrKey::Dscp => u32::from(item.dscp & 63),
        };
        while !self.config.limit.admits(self.waiting, item.size) {
            let longest = longest(self.queues.iter().map(|turn| turn.band.octets()));
            if longest == index as usize || !self.steal(longest, losses) {
                losses.push((item, Loss::Overflow));
                return;
            }
        }
        self.waiting.add(item.size);
        let turn = &mut self.queues[index as usize];
        if turn.band.is_empty() && !self.active.contains(&index) {
            turn.deficit = 0;
            self.active.push_back(index);
        }
        self.queues[index as usize].band.push(item);
    }

    /// Takes a packet from the tail of a queue.
    fn steal(&mut self, from: usize, losses: &mut Losses) -> bool {
        let Some(item) = self.queues[from].band.pop_tail() else { return false };
        self.waiting.remove(item.size);
        losses.push((item, Loss::Overflow));
        true
    }

    pub(crate) fn dequeue(&mut self) -> Option<Item> {
        loop {
            let index = *self.active.front()?;
            let turn = &mut self.queues[index as usize];
            if !self.in_turn && !turn.band.is_empty() {
                turn.deficit += self.config.quantum(index);
                self.in_turn = true;
            }
            let fits = turn.band.head().is_some_and(|head| head.size as u64 <= turn.deficit);
            let item = if fits { turn.band.pop() } else { None };
            if let Some(item) = item {
                turn.deficit -= item.size as u64;
                self.waiting.remove(item.size);
            }
            if turn.band.is_empty() {
                turn.deficit = 0;
                self.active.pop_front();
                self.in_turn = false;
            } else if item.is_none() {
                self.active.rotate_left(1);
                self.in_turn = false;
            }
            if item.is_some() {
                return item;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::item::testing::item;
    use super::*;
    use anabranch_units::Time;
    use proptest::prelude::*;

    fn of(queue: u32, id: u32, size: u32) -> Item {
        Item { flow: queue << 29, dscp: queue as u8, ..item(id, size, Time::ZERO) }
    }

    fn drr(quantum: u64, limit: u64) -> Drr {
        let limit = QueueLimit::Packets(limit);
        let quantum = Bytes(quantum);
        Drr::new(&DrrConfig { limit, queues: 8, quantum, ..DrrConfig::default() })
    }

    #[test]
    fn the_example_of_the_paper() {
        // Figures 2 and 3: quantum 500; the first queue holds 200, 750 and 20
        // octets. It sends the 200, keeps a deficit of 300, and sends the 750
        // in its second turn.
        let mut drr = drr(500, 100);
        let mut losses = Losses::new();
        for (queue, sizes) in
            [(0, vec![200, 750, 20]), (1, vec![500, 500]), (2, vec![200, 600, 100])]
        {
            for size in sizes {
                drr.enqueue(of(queue, queue, size), &mut losses);
            }
        }
        let sent: Vec<_> =
            std::iter::from_fn(|| drr.dequeue()).map(|item| (item.id.0, item.size)).collect();
        let expected =
            [(0, 200), (1, 500), (2, 200), (0, 750), (0, 20), (1, 500), (2, 600), (2, 100)];
        assert_eq!(sent, expected);
    }

    #[test]
    fn classes_by_dscp_share_alike() {
        let config = DrrConfig { key: DrrKey::Dscp, ..DrrConfig::default() };
        let mut drr = Drr::new(&config);
        let mut losses = Losses::new();
        for i in 0..60 {
            drr.enqueue(Item { dscp: 46, ..of(0, 0, 1500) }, &mut losses);
            drr.enqueue(Item { dscp: (i % 2) as u8, ..of(0, 1, 1500) }, &mut losses);
        }
        let first: Vec<_> = (0..30).filter_map(|_| drr.dequeue()).map(|item| item.dscp).collect();
        for dscp in [46, 0, 1] {
            assert_eq!(first.iter().filter(|item| **item == dscp).count(), 10);
        }
    }

    #[test]
    fn overflow_takes_from_the_longest_queue() {
        let mut drr = drr(1500, 4);
        let mut losses = Losses::new();
        for id in 0..4 {
            drr.enqueue(of(1, id, 1500), &mut losses);
        }
        drr.enqueue(of(2, 9, 1500), &mut losses); // steals the last of queue 1
        drr.enqueue(of(1, 10, 1500), &mut losses); // is of the longest itself
        assert_eq!(losses.iter().map(|(item, _)| item.id.0).collect::<Vec<_>>(), [3, 10]);
        let order: Vec<_> = std::iter::from_fn(|| drr.dequeue()).map(|item| item.id.0).collect();
        assert_eq!(order, [0, 9, 1, 2]);
    }

    proptest! {
        /// The same with weights: octets over weights differ by less than quantum +
        /// 2 max packet.
        #[test]
        fn backlogged_classes_get_octets_by_weight(
            weights in prop::collection::vec(1_u16..20, 2..6),
            sizes in prop::collection::vec(40_u32..=1500, 3000),
            quantum in 100_u64..3000,
            steps in 1_usize..400,
        ) {
            let mut config = DrrConfig {
                limit: QueueLimit::Unlimited,
                key: DrrKey::Dscp,
                quantum: Bytes(quantum),
                ..DrrConfig::default()
            };
            config.weights[..weights.len()].copy_from_slice(&weights);
            config.validate().unwrap();
            let mut drr = Drr::new(&config);
            let mut losses = Losses::new();
            for (i, size) in sizes.iter().enumerate() {
                for class in 0..weights.len() as u32 {
                    drr.enqueue(of(class, class, size + i as u32 % 2), &mut losses);
                }
            }
            let mut sent = vec![0.0_f64; weights.len()];
            for _ in 0..steps {
                let item = drr.dequeue().unwrap();
                sent[item.id.0 as usize] += item.size as f64 / weights[item.id.0 as usize] as f64;
                let most = sent.iter().copied().fold(0.0, f64::max);
                let least = sent.iter().copied().fold(f64::MAX, f64::min);
                prop_assert!(most - least <= (quantum + 2 * 1501) as f64, "{sent:?} {weights:?}");
            }
        }

        /// Theorem 1 of the paper: between backlogged flows, what was sent
        /// differs by less than quantum + 2 max packet.
        #[test]
        fn backlogged_flows_get_equal_octets(
            sizes in prop::collection::vec(prop::collection::vec(40_u32..=1500, 200), 2..5),
            quantum in 100_u64..3000,
            steps in 1_usize..150,
        ) {
            let mut drr = drr(quantum, 10_000);
            let mut losses = Losses::new();
            for (queue, sizes) in sizes.iter().enumerate() {
                for size in sizes {
                    drr.enqueue(of(queue as u32, queue as u32, *size), &mut losses);
                }
            }
            let mut sent = vec![0_i64; sizes.len()];
            for _ in 0..steps {
                let item = drr.dequeue().unwrap();
                sent[item.id.0 as usize] += item.size as i64;
                let spread = sent.iter().max().unwrap() - sent.iter().min().unwrap();
                prop_assert!(spread <= quantum as i64 + 2 * 1500, "{sent:?}");
            }
        }
    }
}
