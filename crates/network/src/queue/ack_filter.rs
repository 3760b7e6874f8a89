//! Drop-tail that drops ACKs which a later one makes redundant ("ACK filtering":
//! Balakrishnan, Padmanabhan and Katz, MobiCom 1997; RFC 3449 §5.2.1), in the two
//! strengths that CAKE has (Høiland-Jørgensen, Täht and Morton, LANMAN 2018).
//!
//! When a pure ACK comes, ACKs of its flow that wait are dropped if the new one
//! says all that they say: `Packet::ack_relation` has the rules (SACK blocks,
//! D-SACK, ECN echoes, options). Besides:
//!
//! - duplicates, that is two or more ACKs of a flow with one number, stay: the
//!   sender counts them. The aggressive filter lets three duplicates besides the
//!   first wait, which is what fast retransmit needs (RFC 5681 §3.2), and drops the
//!   oldest of more;
//! - the conservative filter leaves the last ACK before the new one, so that two
//!   in a row wait.
//!
//! The new ACK takes its place at the tail. Dropped ACKs are counted as decisions
//! of active queue management.

use super::item::{Item, Loss, Losses};
use super::{QueueLimit, Waiting};
use crate::catalogue::Info;
#[cfg(test)]
use anabranch_units::Time;
use anabranch_wire::redundancy::AckRelation;
use anabranch_wire::{FlowKey, Packet};
use std::collections::{BTreeMap, VecDeque};

pub(super) const INFO: Info = Info {
    name: "ack-filter",
    summary: "drop-tail; an ACK that comes drops those of its flow that it makes redundant",
    reference: "RFC 3449 §5.2.1; CAKE (Høiland-Jørgensen et al., LANMAN 2018)",
};

/// Parameters of the ACK filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckFilterConfig {
    /// What may wait, ACKs and all else.
    pub limit: QueueLimit,
    /// Leaves one ACK of several that say the same, else two.
    pub aggressive: bool,
}

impl Default for AckFilterConfig {
    /// 100 packets, conservative.
    fn default() -> Self {
        AckFilterConfig { limit: QueueLimit::Packets(100), aggressive: false }
    }
}

/// Duplicate ACKs that wait for one number at most, and the first.
const DUPLICATES: usize = 3 + 1;

/// A queue that filters ACKs, with what waits in it.
#[derive(Debug)]
pub struct AckFilter {
    config: AckFilterConfig,
    band: FilteredBand,
}

impl AckFilter {
    /// Makes an empty queue with these parameters.
    pub fn new(config: &AckFilterConfig) -> AckFilter {
        AckFilter { config: *config, band: FilteredBand::default() }
    }

    pub(crate) fn enqueue(&mut self, item: Item, packet: &Packet, losses: &mut Losses) {
        let ack = item.pure_ack.then_some(packet);
        if let Some(ack) = ack {
            self.band.filter(ack, self.config.aggressive, losses);
        }
        if !self.config.limit.admits(self.band.waiting, item.size) {
            losses.push((item, Loss::Overflow));
            return;
        }
        self.band.push(item, ack);
    }

    pub(crate) fn dequeue(&mut self) -> Option<Item> {
        self.band.pop()
    }
}

/// First in, first out, without the ACKs that a filter takes out: the queue of [`AckFilter`], and of
/// each flow of CAKE.
#[derive(Default, Debug)]
pub(super) struct FilteredBand {
    /// Packets in order, with the flow of pure ACKs; holes where one was dropped.
    slots: VecDeque<Option<(Item, Option<FlowKey>)>>,
    /// Number of the first slot.
    first: u64,
    /// The pure ACKs of each flow that wait: number of the slot, and the packet.
    acks: BTreeMap<FlowKey, VecDeque<(u64, Packet)>>,
    waiting: Waiting,
}

impl FilteredBand {
    /// Returns what waits.
    pub(super) fn waiting(&self) -> Waiting {
        self.waiting
    }

    /// Whether no packet waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.packets == 0
    }

    /// Adds an item at the tail; `ack` is its packet where a later ACK may replace it.
    pub(super) fn push(&mut self, item: Item, ack: Option<&Packet>) {
        self.waiting.add(item.size);
        let flow = ack.map(|packet| {
            let number = self.first + self.slots.len() as u64;
            let flow = packet.flow_key();
            self.acks.entry(flow).or_default().push_back((number, packet.clone()));
            flow
        });
        self.slots.push_back(Some((item, flow)));
    }

    /// Takes the item at the head.
    pub(super) fn pop(&mut self) -> Option<Item> {
        loop {
            let slot = self.slots.pop_front()?;
            self.first += 1;
            let Some((item, flow)) = slot else { continue };
            self.waiting.remove(item.size);
            if let Some(flow) = flow
                && let Some(list) = self.acks.get_mut(&flow)
            {
                list.pop_front();
                if list.is_empty() {
                    self.acks.remove(&flow);
                }
            }
            return Some(item);
        }
    }

    /// Drops the ACKs that `new`, a pure ACK, makes redundant.
    pub(super) fn filter(&mut self, new: &Packet, aggressive: bool, losses: &mut Losses) {
        let Some(list) = self.acks.get_mut(&new.flow_key()) else { return };
        let same = list.iter().filter(|(_, old)| new.has_ack_number_of(old)).count();
        // Duplicates of the new one that it may replace.
        let mut spare = match aggressive {
            true => (same + 1).saturating_sub(DUPLICATES),
            false => 0,
        };
        let mut at = 0;
        while let Some((_, old)) = list.get(at) {
            let is_like = |index: Option<usize>| {
                let other = index.and_then(|index| list.get(index));
                other.is_some_and(|(_, other)| other.has_ack_number_of(old))
            };
            let redundant = match new.ack_relation(old) {
                AckRelation::Unrelated => false,
                AckRelation::Repeats if spare > 0 => {
                    spare -= 1;
                    true
                }
                AckRelation::Repeats => false,
                AckRelation::Supersedes => {
                    let duplicated = is_like(at.checked_sub(1)) || is_like(Some(at + 1));
                    let is_last = at + 1 == list.len();
                    !duplicated && (aggressive || !is_last)
                }
            };
            if !redundant {
                at += 1;
                continue;
            }
            let Some((number, _)) = list.remove(at) else { break };
            let slot = self.slots.get_mut((number - self.first) as usize).and_then(Option::take);
            if let Some((item, _)) = slot {
                self.waiting.remove(item.size);
                losses.push((item, Loss::Early));
            }
        }
    }
}

#[cfg(test)]
impl FilteredBand {
    /// Lets all packets have come at `since`.
    pub(super) fn age(&mut self, since: Time) {
        self.slots.iter_mut().flatten().for_each(|(item, _)| item.since = since);
    }
}

#[cfg(test)]
mod tests {
    use super::super::item::testing::item;
    use super::*;
    use anabranch_units::{Bytes, Serial32};
    use anabranch_wire::{Addr, Body, Payload, TcpFlags, TcpOptions, TcpSegment};
    use proptest::prelude::*;

    fn packet(port: u16, ack: u32, payload: u32) -> Packet {
        let segment = TcpSegment {
            src_port: port,
            dst_port: 1,
            seq: Serial32(0),
            ack: Serial32(ack),
            flags: TcpFlags::ACK,
            window: 1000,
            urgent: 0,
            options: TcpOptions::default(),
            payload: Payload::virtual_of(payload),
        };
        Packet::new(Addr(0), Addr(1), Body::Tcp(segment))
    }

    /// Offers packets, numbered from 0; the numbers of those that leave, and of
    /// those dropped.
    fn pass(config: AckFilterConfig, packets: &[Packet]) -> (Vec<u32>, Vec<u32>) {
        let (mut found, mut losses) = (AckFilter::new(&config), Losses::new());
        for (id, packet) in packets.iter().enumerate() {
            let size = packet.wire_len().0 as u32;
            let item = Item { pure_ack: packet.is_pure_ack(), ..item(id as u32, size, Time::ZERO) };
            found.enqueue(item, packet, &mut losses);
        }
        let left = std::iter::from_fn(|| found.dequeue()).map(|item| item.id.0).collect();
        assert!(found.band.acks.is_empty() && found.band.waiting == Waiting::default());
        (left, losses.iter().map(|(loss, _)| loss.id.0).collect())
    }

    fn filter(aggressive: bool) -> AckFilterConfig {
        AckFilterConfig { aggressive, ..AckFilterConfig::default() }
    }

    #[test]
    fn later_acks_replace_earlier_ones_of_their_flow() {
        let acks =
            [packet(1, 1, 0), packet(1, 2, 0), packet(2, 1, 0), packet(1, 3, 0), packet(1, 4, 0)];
        assert_eq!(pass(filter(false), &acks), (vec![2, 3, 4], vec![0, 1]));
        assert_eq!(pass(filter(true), &acks), (vec![2, 4], vec![0, 1, 3]));
    }

    #[test]
    fn data_passes_and_keeps_its_place() {
        let mixed = [packet(1, 1, 0), packet(1, 1, 500), packet(1, 2, 0), packet(1, 3, 900)];
        assert_eq!(pass(filter(true), &mixed), (vec![1, 2, 3], vec![0]));
    }

    #[test]
    fn duplicates_stay_as_far_as_fast_retransmit_needs_them() {
        let duplicates: Vec<_> = (0..7).map(|_| packet(1, 5, 0)).collect();
        assert_eq!(pass(filter(false), &duplicates), ((0..7).collect(), vec![]));
        // Four: the ACK and three duplicates.
        assert_eq!(pass(filter(true), &duplicates), (vec![3, 4, 5, 6], vec![0, 1, 2]));
        // An ACK of more leaves them.
        let then = [packet(1, 5, 0), packet(1, 5, 0), packet(1, 5, 0), packet(1, 9, 0)];
        assert_eq!(pass(filter(true), &then), ((0..4).collect(), vec![]));
    }

    #[test]
    fn the_limit_counts_what_waits_after_filtering() {
        let limit = QueueLimit::Packets(2);
        let acks: Vec<_> = (0..9).map(|n| packet(1, n, 0)).collect();
        assert_eq!(
            pass(AckFilterConfig { limit, aggressive: true }, &acks),
            (vec![8], (0..8).collect())
        );
        let flows: Vec<_> = (0..4).map(|port| packet(port, 0, 0)).collect();
        let limit = QueueLimit::Octets(Bytes(100));
        assert_eq!(
            pass(AckFilterConfig { limit, aggressive: true }, &flows),
            (vec![0, 1], vec![2, 3])
        );
    }

    proptest! {
        /// Whatever comes: what leaves keeps its order, no data is filtered, and
        /// of each flow the highest number leaves.
        #[test]
        fn the_highest_number_of_each_flow_leaves(
            packets in prop::collection::vec((0_u16..3, 0_u32..6, prop::bool::weighted(0.2)), 1..60),
            aggressive in any::<bool>(),
        ) {
            let limit = QueueLimit::Unlimited;
            let list: Vec<_> = packets
                .iter()
                .map(|(port, ack, data)| packet(*port, *ack, if *data { 100 } else { 0 }))
                .collect();
            let (left, dropped) = pass(AckFilterConfig { limit, aggressive }, &list);
            prop_assert!(left.is_sorted());
            prop_assert_eq!(left.len() + dropped.len(), list.len());
            prop_assert!(dropped.iter().all(|id| list[*id as usize].is_pure_ack()));
            for port in 0..3 {
                let most = |ids: &mut dyn Iterator<Item = usize>| {
                    ids.filter(|id| packets[*id].0 == port).map(|id| packets[id].1).max()
                };
                let of_left = most(&mut left.iter().map(|id| *id as usize));
                prop_assert_eq!(of_left, most(&mut (0..packets.len())));
            }
        }
    }
}
