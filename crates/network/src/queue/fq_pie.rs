//! Flow queues with PIE: the scheduler of RFC 8290 (FQ-CoDel) with a PIE of RFC 8033 on each queue
//! in place of CoDel, as Linux has it (`sch_fq_pie`, since 5.6).
//!
//! PIE decides on arrival, by the delay of the packet's own queue. On overflow the packet that comes
//! is dropped, as in Linux; FQ-CoDel drops from the longest queue.
//!
//! The PIE of a queue is made when its first packet comes: until then it would have found an empty
//! queue at every update, which leaves it as it is made.

use super::fq_codel::{check_flow_queues, spread};
use super::item::{Band, Item, Loss, Losses};
use super::pie::{Pie, PieConfig};
use super::turns::Turns;
use super::{Arrival, Decision, Waiting};
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Time};

pub(super) const INFO: Info = Info {
    name: "fq-pie",
    summary: "a queue for each hashed flow in turns, new ones first, PIE on each",
    reference: "RFC 8290 and RFC 8033; Linux sch_fq_pie",
};

/// `FqPieConfig` has the parameters of the flow queues, and of the PIE in each.
#[derive(Clone, PartialEq, Debug)]
pub struct FqPieConfig {
    /// Packets that may wait in all queues together.
    pub limit: u64,
    /// Number of queues that flows are hashed to, from 1 to 65,536.
    pub queues: u32,
    /// Octets that a queue sends in a turn.
    pub quantum: Bytes,
    /// The law that each queue follows by itself. Of it, `limit` has no meaning here, and `activate`
    /// is 0: each PIE is always on.
    pub law: PieConfig,
}

impl Default for FqPieConfig {
    /// Linux: 10,240 packets, 1024 queues, a packet of Ethernet; PIE as RFC 8033 has it, without ECN.
    fn default() -> Self {
        FqPieConfig { limit: 10_240, queues: 1024, quantum: Bytes(1514), law: PieConfig::default() }
    }
}

impl FqPieConfig {
    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.law.activate != 0.0 {
            return Err(ConfigError::new("activate", self.law.activate, "0 in each flow queue"));
        }
        self.law.validate()?;
        check_flow_queues(self.queues, self.quantum)
    }
}

#[derive(Default, Debug)]
struct FlowQueue {
    band: Band,
    /// `None` until the first packet.
    pie: Option<Box<Pie>>,
}

/// The flow queues of FQ-PIE, with their turns.
#[derive(Debug)]
pub struct FqPie {
    config: FqPieConfig,
    queues: Vec<FlowQueue>,
    turns: Turns,
    packets: u64,
    /// What a flow's hash is multiplied by, as in FQ-CoDel: odd, and drawn at the start.
    multiplier: u32,
    generator: Generator,
}

impl FqPie {
    /// All queues, empty. The generator draws how flows are hashed to them, and a generator for each.
    pub fn new(config: &FqPieConfig, mut generator: Generator) -> FqPie {
        FqPie {
            queues: (0..config.queues).map(|_| FlowQueue::default()).collect(),
            turns: Turns::new(config.queues, config.quantum),
            packets: 0,
            multiplier: generator.next_u64() as u32 | 1,
            config: config.clone(),
            generator,
        }
    }

    pub(crate) fn enqueue(&mut self, mut item: Item, losses: &mut Losses) {
        let index = spread(item.flow.wrapping_mul(self.multiplier), self.config.queues);
        let queue = &mut self.queues[index as usize];
        let pie = queue.pie.get_or_insert_with(|| {
            let generator = Generator::from_u64(self.generator.next_u64());
            Box::new(Pie::new(&self.config.law, generator))
        });
        if self.packets >= self.config.limit {
            pie.on_overflow();
            losses.push((item, Loss::Overflow));
            return;
        }
        let waiting = Waiting { packets: queue.band.len() as u64, octets: queue.band.octets() };
        let Item { since: now, size, ecn, .. } = item;
        match pie.on_arrival(&Arrival { now, size, ecn, waiting, busy_until: Time::NEVER }) {
            Decision::Drop => return losses.push((item, Loss::Early)),
            Decision::Mark => {
                item.mark();
            }
            Decision::Admit => {}
        }
        pie.on_enqueue(size);
        queue.band.push(item);
        self.packets += 1;
        self.turns.join(index);
    }

    /// Takes the next packet to send (RFC 8290 §4.2).
    pub(crate) fn dequeue(&mut self, now: Time) -> Option<Item> {
        loop {
            let index = self.turns.first()?;
            let queue = &mut self.queues[index as usize];
            if let Some(item) = queue.band.pop() {
                if let Some(pie) = &mut queue.pie {
                    pie.on_departure(now, item.sojourn(now), item.size);
                }
                self.turns.sent(index, item.size);
                self.packets -= 1;
                return Some(item);
            }
            self.turns.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fq_codel::{FqCoDel, FqCoDelConfig};
    use super::super::item::testing::{at_us, item};
    use super::*;
    use anabranch_testkit::marks::record;
    use anabranch_units::Span;
    use anabranch_wire::Ecn;
    use proptest::prelude::*;

    /// A packet of a flow whose queue is number `queue` of 8.
    fn of(queue: u32, id: u32, size: u32, since: Time) -> Item {
        Item { flow: queue << 29, ..item(id, size, since) }
    }

    fn config() -> FqPieConfig {
        FqPieConfig { queues: 8, quantum: Bytes(1500), ..FqPieConfig::default() }
    }

    /// Hashes stay as they are.
    fn fq(config: FqPieConfig) -> FqPie {
        config.validate().unwrap();
        FqPie { multiplier: 1, ..FqPie::new(&config, Generator::from_u64(8033)) }
    }

    #[test]
    fn flows_take_turns_and_a_sparse_one_goes_first() {
        let mut fq = fq(config());
        let mut losses = Losses::new();
        for id in 0..3 {
            fq.enqueue(of(1, 10 + id, 1500, Time::ZERO), &mut losses);
            fq.enqueue(of(2, 20 + id, 1500, Time::ZERO), &mut losses);
        }
        let mut next = || fq.dequeue(Time::ZERO).map(|item| item.id.0);
        assert_eq!([next(), next(), next()], [Some(10), Some(20), Some(11)]);
        fq.enqueue(of(3, 30, 100, Time::ZERO), &mut losses);
        let rest: Vec<_> =
            std::iter::from_fn(|| fq.dequeue(Time::ZERO)).map(|item| item.id.0).collect();
        assert_eq!(rest, [30, 21, 12, 22]);
        assert!(losses.is_empty());
    }

    #[test]
    fn overflow_drops_what_comes() {
        let mut fq = fq(FqPieConfig { limit: 3, ..config() });
        let mut losses = Losses::new();
        for id in 0..5 {
            fq.enqueue(of(id % 2, id, 1500, Time::ZERO), &mut losses);
        }
        let lost: Vec<_> = losses.iter().map(|(item, loss)| (item.id.0, *loss)).collect();
        assert_eq!(lost, [(3, Loss::Overflow), (4, Loss::Overflow)]);
    }

    /// One queue with packets is a PIE: the same decisions on the same arrivals and departures.
    #[test]
    fn the_queue_of_a_flow_is_pie() {
        let law = PieConfig { ecn: true, ecn_threshold: 0.5, ..PieConfig::default() };
        let mut fq = fq(FqPieConfig { law: law.clone(), ..config() });
        let mut draws = Generator::from_u64(8033);
        draws.next_u64();
        let mut alone = Pie::new(&law, Generator::from_u64(draws.next_u64()));
        let (mut band, mut losses, mut marks) = (Band::default(), Losses::new(), 0);
        for step in 0..40_000_u32 {
            let now = at_us(u64::from(step) * 800);
            let ecn = if step % 3 == 0 { Ecn::Ect0 } else { Ecn::NotEct };
            let packet = Item { ecn, ..of(1, step, 1500, now) };
            let before = losses.len();
            fq.enqueue(packet, &mut losses);
            let waiting = Waiting { packets: band.len() as u64, octets: band.octets() };
            let arrival = Arrival { now, size: 1500, ecn, waiting, busy_until: Time::NEVER };
            let decision = alone.on_arrival(&arrival);
            assert_eq!(decision == Decision::Drop, losses.len() > before, "{step}");
            if decision != Decision::Drop {
                alone.on_enqueue(1500);
                band.push(Item { marked: decision == Decision::Mark, ..packet });
            }
            // Four of five leave.
            if step % 5 != 0 {
                let (item, expected) = (fq.dequeue(now), band.pop());
                assert_eq!(item, expected, "{step}");
                if let Some(item) = item {
                    alone.on_departure(now, item.sojourn(now), item.size);
                    marks += item.marked as u32;
                }
            }
        }
        assert!(losses.len() > 1000 && marks > 100, "{} {marks}", losses.len());
    }

    /// Each flow has a delay of its own: one that sends 0.4 of the line, of which its share is half,
    /// beside one that sends 1.2 of it. The first loses nothing and hardly waits; the second loses
    /// what it cannot send and waits as long as PIE aims at.
    #[test]
    fn each_queue_is_kept_at_the_target_by_itself() {
        let mut fq = fq(config());
        let mut losses = Losses::new();
        let (mut sent, mut got, mut wait, mut most) = ([0.0; 2], [0_u32; 2], 0.0, Span::ZERO);
        for ms in 0..200_000_u64 {
            let late = ms >= 50_000;
            for (flow, rate) in [(0, 0.4), (1, 1.2)] {
                let (before, after) = (ms as f64 * rate, (ms + 1) as f64 * rate);
                for n in before as u64..after as u64 {
                    let packet = of(flow + 1, n as u32, 1500, at_us(ms * 1000));
                    fq.enqueue(packet, &mut losses);
                    sent[flow as usize] += late as u32 as f64;
                }
            }
            let now = at_us(ms * 1000 + 999);
            let Some(item) = fq.dequeue(now) else { continue };
            let flow = (item.flow >> 29) as usize - 1;
            got[flow] += late as u32;
            if flow == 0 {
                most = most.max(item.sojourn(now));
            } else if late {
                wait += item.sojourn(now).as_secs_f64();
            }
        }
        assert!(losses.iter().all(|(item, loss)| item.flow >> 29 == 2 && *loss == Loss::Early));
        let (wait, share) = (wait * 1e3 / got[1] as f64, 1.0 - got[1] as f64 / sent[1]);
        let ms = |t: f64| format!("{t:.2} ms");
        let what = "FQ-PIE: mean wait of a flow of 1.2 of the line beside one of 0.4";
        record("Q4", what, "15 ms", ms(wait), "within 1 ms");
        let what = "FQ-PIE: share of that flow dropped";
        record("Q4", what, "0.5", format!("{share:.4}"), "within 0.005");
        assert!((wait - 15.0).abs() < 1.0, "{wait}");
        assert!((share - 0.5).abs() < 0.005, "{share}");
        assert!(most <= Span::from_millis(3), "{most}");
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let said = |config: FqPieConfig| config.validate().unwrap_err().to_string();
        let law = PieConfig { activate: 0.3, ..PieConfig::default() };
        let activate = FqPieConfig { law, ..config() };
        assert_eq!(said(activate), "activate is 0.3; allowed: 0 in each flow queue");
        let queues = FqPieConfig { queues: 0, ..config() };
        assert_eq!(said(queues), "queues is 0; allowed: 1 to 65536");
    }

    proptest! {
        /// As long as neither law acts, FQ-PIE sends in the order of FQ-CoDel: the scheduler is one.
        #[test]
        fn packets_leave_in_the_order_of_fq_codel(
            steps in prop::collection::vec((0_u32..8, 40_u32..=1500, 0_u32..3), 1..300),
            quantum in 100_u64..3000,
        ) {
            let generator = || Generator::from_u64(8290);
            let quantum = Bytes(quantum);
            let pie = FqPieConfig { quantum, ..config() };
            let codel = FqCoDelConfig { quantum, queues: 8, ..FqCoDelConfig::default() };
            let mut pie = FqPie::new(&pie, generator());
            let mut codel = FqCoDel::new(&codel, Bytes(1500), generator());
            let mut losses = Losses::new();
            for (id, (queue, size, take)) in steps.into_iter().enumerate() {
                let packet = of(queue, id as u32, size, Time::ZERO);
                pie.enqueue(packet, &mut losses);
                codel.enqueue(packet, &mut losses);
                for _ in 0..take {
                    prop_assert_eq!(pie.dequeue(Time::ZERO), codel.dequeue(Time::ZERO, &mut losses));
                }
            }
            prop_assert!(losses.is_empty());
        }
    }
}
