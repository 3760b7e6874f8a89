//! Flow queues with CoDel, RFC 8290: packets are hashed to queues, queues take
//! turns by deficit round robin, queues that have just become active go first,
//! and each queue has a CoDel of its own.
//!
//! On overflow half the packets of the queue with the most octets are dropped
//! from its head, at most `drop_batch` (§4.1: 64), at least one.

use super::codel::{CoDelLaw, CoDelState};
use super::item::{Band, Item, Loss, Losses};
use super::turns::Turns;
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::{Bounds, Generator};
use anabranch_units::{Bytes, Time};

pub(super) const INFO: Info = Info {
    name: "fq-codel",
    summary: "a queue for each hashed flow in turns, new ones first, CoDel on each",
    reference: "RFC 8290",
};

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCoDelConfig {
    /// Packets that may wait in all queues together.
    pub limit: u64,
    /// Number of queues that flows are hashed to.
    pub queues: u32,
    /// Octets that a queue sends in a turn.
    pub quantum: Bytes,
    /// Packets that an overflow drops at most.
    pub drop_batch: u32,
    /// The control law that each queue follows by itself.
    pub law: CoDelLaw,
}

impl Default for FqCoDelConfig {
    /// RFC 8290 §5.2: 10,240 packets, 1024 queues, 1514 octets; ECN is on. §4.1:
    /// batches of 64.
    fn default() -> Self {
        FqCoDelConfig {
            limit: 10_240,
            queues: 1024,
            quantum: Bytes(1514),
            drop_batch: 64,
            law: CoDelLaw { ecn: true, ..CoDelLaw::default() },
        }
    }
}

impl FqCoDelConfig {
    /// What `queues` may be, of each discipline that hashes flows to queues.
    pub const QUEUES: Bounds<u32> = Bounds::of(1, 65_536);
    /// What `quantum` may be, of each discipline whose queues take turns.
    pub const QUANTUM: Bounds<Bytes> = Bounds::of(Bytes(1), Bytes(1 << 24));
    /// What `drop_batch` may be.
    pub const DROP_BATCH: Bounds<u32> = Bounds::of(1, 1_000_000);

    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.law.validate()?;
        Self::DROP_BATCH.check("drop_batch", self.drop_batch)?;
        check_flow_queues(self.queues, self.quantum)
    }
}

/// Number of queues and quantum, also for deficit round robin.
pub(super) fn check_flow_queues(queues: u32, quantum: Bytes) -> Result<(), ConfigError> {
    FqCoDelConfig::QUEUES.check("queues", queues)?;
    FqCoDelConfig::QUANTUM.check("quantum", quantum)
}

#[derive(Default, Debug)]
struct FlowQueue {
    band: Band,
    codel: CoDelState,
}

/// The flow queues of FQ-CoDel, with their turns.
#[derive(Debug)]
pub struct FqCoDel {
    config: FqCoDelConfig,
    queues: Vec<FlowQueue>,
    turns: Turns,
    packets: u64,
    octets: u64,
    /// Odd, and drawn at the start: what a flow's hash is multiplied by, so that nobody can foresee
    /// which flows share a queue (§4.1, §8). Multiply-shift is universal (Dietzfelbinger et al. 1997).
    multiplier: u32,
}

impl FqCoDel {
    /// All queues of a link of this MTU, empty. The generator draws how flows are hashed to them.
    pub fn new(config: &FqCoDelConfig, mtu: Bytes, mut generator: Generator) -> FqCoDel {
        FqCoDel {
            config: FqCoDelConfig { law: config.law.on_link(mtu), ..*config },
            queues: (0..config.queues).map(|_| FlowQueue::default()).collect(),
            turns: Turns::new(config.queues, config.quantum),
            packets: 0,
            octets: 0,
            multiplier: generator.next_u64() as u32 | 1,
        }
    }

    pub(crate) fn enqueue(&mut self, item: Item, losses: &mut Losses) {
        let index = spread(item.flow.wrapping_mul(self.multiplier), self.config.queues);
        self.octets += item.size as u64;
        let queue = &mut self.queues[index as usize];
        queue.band.push(item);
        self.packets += 1;
        self.turns.join(index);
        if self.packets > self.config.limit {
            let lengths = self.queues.iter().map(|queue| queue.band.octets());
            let fattest = longest(lengths);
            let band = &mut self.queues[fattest].band;
            let batch = band.len().div_ceil(2).min(self.config.drop_batch as usize);
            self.octets -= band.octets();
            for _ in 0..batch {
                losses.extend(band.pop().map(|band| (band, Loss::Overflow)));
            }
            self.octets += band.octets();
            self.packets -= batch as u64;
        }
    }

    /// Takes the next packet to send (RFC 8290 §4.2).
    pub(crate) fn dequeue(&mut self, now: Time, losses: &mut Losses) -> Option<Item> {
        loop {
            let index = self.turns.first()?;
            let queue = &mut self.queues[index as usize];
            let before = losses.len();
            let others = self.octets - queue.band.octets();
            let beside = (&mut queue.band, others);
            let item = queue.codel.dequeue_beside(now, &self.config.law, beside, losses);
            self.octets = others + queue.band.octets();
            self.packets -= (losses.len() - before) as u64;
            if let Some(item) = item {
                self.turns.sent(index, item.size);
                self.packets -= 1;
                return Some(item);
            }
            self.turns.leave();
        }
    }
}

/// The queue of a flow, of `queues`.
pub(super) fn spread(flow: u32, queues: u32) -> u32 {
    ((flow as u64 * queues as u64) >> 32) as u32
}

/// Index of the longest, the first among equals.
pub(super) fn longest(lengths: impl Iterator<Item = u64>) -> usize {
    let mut best = (0, 0);
    for (index, length) in lengths.enumerate() {
        if length > best.1 {
            best = (index, length);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::super::item::testing::{at_us, item};
    use super::*;
    use anabranch_endpoint::Seed;
    use anabranch_wire::Ecn;
    use std::collections::BTreeSet;

    /// A flow whose queue is number `queue` of 8.
    fn of(queue: u32, id: u32, size: u32) -> Item {
        Item { flow: queue << 29, ..item(id, size, Time::ZERO) }
    }

    fn fq(limit: u64) -> FqCoDel {
        let quantum = Bytes(1500);
        let config = FqCoDelConfig { limit, queues: 8, quantum, ..FqCoDelConfig::default() };
        // Hashes stay as they are.
        FqCoDel {
            multiplier: 1,
            ..FqCoDel::new(&config, Bytes(1500), Seed::default().generator("queue"))
        }
    }

    fn drain(fq: &mut FqCoDel, n: usize) -> Vec<u32> {
        let mut losses = Losses::new();
        let out = (0..n).filter_map(|_| fq.dequeue(Time::ZERO, &mut losses));
        let ids = out.map(|item| item.id.0).collect();
        assert!(losses.is_empty());
        ids
    }

    /// §4.1, §8: which flows share a queue depends on what is drawn at the start.
    #[test]
    fn nobody_foresees_which_flows_share_a_queue() {
        let queues = |seed| {
            let config = FqCoDelConfig { queues: 8, ..FqCoDelConfig::default() };
            let generator = Seed { seed, replication: 0 }.generator("queue");
            let mut fq = FqCoDel::new(&config, Bytes(1500), generator);
            let hashes = (0..16_u32).map(|n| n.wrapping_mul(0x9e37_79b9));
            for (id, flow) in (0..).zip(hashes) {
                fq.enqueue(Item { flow, ..of(0, id, 100) }, &mut Losses::new());
            }
            let mut flows: Vec<Vec<u32>> = Vec::new();
            for queue in &mut fq.queues {
                flows.push(std::iter::from_fn(|| queue.band.pop()).map(|item| item.id.0).collect());
            }
            flows.sort();
            flows
        };
        let all: BTreeSet<_> = (0..20).map(queues).collect();
        assert_eq!(queues(1), queues(1));
        assert!(all.len() > 10, "{all:?}");
    }

    /// §4.4 of RFC 8289: whether enough is left is asked of all queues together, so that the packets
    /// of a flow that wait for long behind others are dropped or marked, though each is alone.
    #[test]
    fn a_queue_of_one_packet_is_controlled_beside_others() {
        let mut fq = fq(10_000);
        let mut losses = Losses::new();
        let mut marks = 0;
        for ms in 0..2_000_u32 {
            let now = at_us(u64::from(ms) * 1000);
            let packet = Item { since: now, ecn: Ecn::Ect0, ..of(1, ms, 1500) };
            fq.enqueue(packet, &mut losses);
            for other in 2..8 {
                fq.enqueue(Item { since: now, ..of(other, 10_000 + ms, 1500) }, &mut losses);
            }
            let item = fq.dequeue(now, &mut losses);
            marks += item.is_some_and(|item| item.marked && item.flow == 1 << 29) as u32;
        }
        assert!(marks > 0);
    }

    #[test]
    fn flows_take_turns() {
        let mut fq = fq(100);
        let mut losses = Losses::new();
        for i in 0..3 {
            fq.enqueue(of(1, 10 + i, 1500), &mut losses);
        }
        for i in 0..3 {
            fq.enqueue(of(2, 20 + i, 1500), &mut losses);
        }
        assert_eq!(drain(&mut fq, 10), [10, 20, 11, 21, 12, 22]);
    }

    #[test]
    fn turns_are_octets_not_packets() {
        let mut fq = fq(1000);
        let mut losses = Losses::new();
        for i in 0..40 {
            fq.enqueue(of(1, 1000 + i, 1500), &mut losses);
        }
        for i in 0..400 {
            fq.enqueue(of(2, 2000 + i, 150), &mut losses);
        }
        let out = drain(&mut fq, 220); // 20 turns each
        let large = out.iter().filter(|id| **id < 2000).count();
        assert_eq!((large, out.len() - large), (20, 200));
    }

    #[test]
    fn a_sparse_flow_goes_before_the_bulk() {
        let mut fq = fq(1000);
        let mut losses = Losses::new();
        for i in 0..50 {
            fq.enqueue(of(1, i, 1500), &mut losses);
            fq.enqueue(of(2, 100 + i, 1500), &mut losses);
        }
        assert_eq!(drain(&mut fq, 10).len(), 10);
        // A packet of a flow that has nothing waiting is the very next.
        fq.enqueue(of(3, 777, 100), &mut losses);
        assert_eq!(drain(&mut fq, 1), [777]);
        // Found empty, its queue becomes an old one before it can be new again
        // (§4.2), so that a flow that comes back at once has no second lead.
        drain(&mut fq, 1);
        fq.enqueue(of(3, 778, 100), &mut losses);
        assert!(fq.turns.new.is_empty() && fq.turns.old.contains(&3));
    }

    #[test]
    fn overflow_takes_the_head_of_the_fattest_queue() {
        let mut fq = fq(4);
        fq.config.drop_batch = 1;
        let mut losses = Losses::new();
        for i in 0..4 {
            fq.enqueue(of(1, i, 1500), &mut losses);
        }
        fq.enqueue(of(2, 9, 1500), &mut losses);
        assert_eq!(losses.iter().map(|(item, _)| item.id.0).collect::<Vec<_>>(), [0]);
        assert_eq!(losses[0].1, Loss::Overflow);
    }

    /// §4.1: half of the fattest queue, at most a batch; the others keep theirs.
    #[test]
    fn overflow_takes_half_of_the_fattest_queue_up_to_a_batch() {
        for (n, batch, dropped) in
            [(1, 64, 1), (2, 64, 1), (5, 64, 3), (128, 64, 64), (300, 64, 64)]
        {
            let mut fq = fq(n as u64);
            fq.config.drop_batch = batch;
            let mut losses = Losses::new();
            for i in 0..n {
                fq.enqueue(of(1, i, 1500), &mut losses);
            }
            fq.enqueue(of(2, 999, 40), &mut losses);
            let lost: Vec<_> = losses.iter().map(|(loss, _)| loss.id.0).collect();
            assert_eq!(lost, (0..dropped).collect::<Vec<_>>(), "{n} packets wait");
            assert_eq!(fq.packets, (n + 1 - dropped) as u64);
            losses.clear();
            let left = std::iter::from_fn(|| fq.dequeue(Time::ZERO, &mut losses)).count();
            assert_eq!((left as u32, losses.len()), (n + 1 - dropped, 0));
        }
    }

    #[test]
    fn each_queue_has_its_own_codel() {
        let mut fq = fq(1000);
        let mut losses = Losses::new();
        for i in 0..300 {
            fq.enqueue(of(1, i, 1500), &mut losses);
        }
        // The bulk has waited for seconds; a fresh flow is not dropped.
        let mut fresh = 0;
        for step in 0..200 {
            let now = at_us(1_000_000 + step * 1000);
            if step % 10 == 0 {
                let sparse = Item { since: now, ..of(2, 1000, 100) };
                fq.enqueue(sparse, &mut losses);
            }
            fresh += fq.dequeue(now, &mut losses).is_some_and(|item| item.id.0 == 1000) as u32;
        }
        assert_eq!(fresh, 20);
        assert!(!losses.is_empty() && losses.iter().all(|(item, _)| item.id.0 < 1000));
    }
}
