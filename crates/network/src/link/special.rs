//! The way of a packet over a link that is more than a drop-tail queue, one
//! rate and one delay.
//!
//! A packet meets the impairments at the ingress, the queue, then those at the
//! egress, whose result is kept as its fate: one that is lost there stays in
//! the ring until it would have arrived, for it uses the link. Packets that
//! may be overtaken wait in a side heap, by date of arrival.

use super::fifo::{Accepted, Fifo};
use super::held::Held;
use super::{Count, DropReason, Entry, Link, LinkEvent, LinkWatch, SIZE_BITS};
use crate::config::LinkConfig;
use crate::counters::LinkCounters;
use crate::hash::flow_hash;
use crate::impairment::{Impairment, ImpairmentConfig, Position, Verdict};
use crate::pool::{PacketId, PacketPool};
use crate::queue::{Discipline, Item, Loss, QueueConfig, Waiting};
use crate::transmitter::{DelaySchedule, Transmitter, TransmitterConfig};
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Rate, Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What only such links have.
#[derive(Debug)]
pub(super) struct Special {
    impairments: Vec<(Position, Impairment)>,
    service: Service,
    delays: Option<DelaySchedule>,
    duplicated: Count,
    marked: u64,
    /// Packets that may be overtaken: date, order of coming, packet, size.
    late: BinaryHeap<Reverse<(Time, u64, PacketId, u32)>>,
    late_count: u64,
    /// For the packets in the ring that are to be overtaken, in its order: by
    /// how many, and how long they wait at most.
    distances: VecDeque<(u32, Span)>,
    /// Such packets at the far end.
    overtaken: Vec<Overtaken>,
    /// Packets that have left for a virtual channel and are not yet at its far end, in order.
    in_cells: VecDeque<InCells>,
    /// How many have left so far.
    taken: u32,
}

/// A packet that a virtual channel carries.
#[derive(Clone, Copy, Debug)]
struct InCells {
    number: u32,
    packet: Judged,
}

#[derive(Debug)]
enum Service {
    Fifo(Fifo),
    Held(Held),
}

#[derive(Clone, Copy, Debug)]
struct Overtaken {
    left: u32,
    until: Time,
    id: PacketId,
    size: u32,
}

/// What happens to a packet after its transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Fate {
    Arrives = 0,
    Lost = 1,
    Corrupt = 2,
    /// Travels longer and may be overtaken.
    Late = 3,
    /// Travels longer, in order.
    LateInOrder = 4,
    /// Waits for later packets to go by.
    Overtaken = 5,
}

impl Fate {
    fn from_bits(bits: u32) -> Fate {
        match bits {
            0 => Fate::Arrives,
            1 => Fate::Lost,
            2 => Fate::Corrupt,
            3 => Fate::Late,
            4 => Fate::LateInOrder,
            _ => Fate::Overtaken,
        }
    }
}

/// A packet that has met the impairments.
#[derive(Clone, Copy, Debug)]
struct Judged {
    id: PacketId,
    size: u32,
    fate: Fate,
    /// How much longer it travels, or waits at most to be overtaken.
    extra: Span,
    distance: u32,
}

type Watch<'a, 'b> = &'a mut Option<&'b mut dyn LinkWatch>;

impl Special {
    /// `None` for a link that needs nothing of this.
    pub(super) fn new(config: &LinkConfig, mut generator: Generator) -> Option<Special> {
        let is_plain = matches!(config.queue, QueueConfig::DropTail { .. })
            && config.impairments.is_empty()
            && config.delays.is_none()
            && config.transmitter == TransmitterConfig::Constant;
        if is_plain {
            return None;
        }
        let build =
            |it: &ImpairmentConfig| (it.at, it.build(Generator::from_u64(generator.next_u64())));
        let impairments = config.impairments.iter().map(build).collect();
        let transmitter = config.transmitter.build(config.rate);
        let generator = Generator::from_u64(generator.next_u64());
        let discipline = match config.transmitter {
            TransmitterConfig::Explicit | TransmitterConfig::Cells => {
                config.queue.build_held(config.rate, generator)
            }
            _ => config.queue.build(config.rate, generator),
        };
        let pulled = config.transmitter == TransmitterConfig::Cells;
        let service = match discipline {
            Discipline::Fifo(aqm) => Service::Fifo(Fifo::new(aqm, transmitter)),
            Discipline::Held(it) => Service::Held(Held::new(it, transmitter, pulled)),
        };
        Some(Special {
            impairments,
            service,
            delays: config.delays.clone(),
            duplicated: Count::default(),
            marked: 0,
            late: BinaryHeap::new(),
            late_count: 0,
            distances: VecDeque::new(),
            overtaken: Vec::new(),
            in_cells: VecDeque::new(),
            taken: 0,
        })
    }

    /// The first event besides the head of the ring.
    pub(super) fn next_event(&self) -> Time {
        let late = self.late.peek().map_or(Time::NEVER, |Reverse(it)| it.0);
        let overtaken = self.overtaken.iter().map(|it| it.until).min().unwrap_or(Time::NEVER);
        let serves = match &self.service {
            Service::Fifo(_) => Time::NEVER,
            Service::Held(held) => held.serve_at,
        };
        late.min(overtaken).min(serves)
    }

    pub(super) fn waiting(&mut self, now: Time) -> Waiting {
        match &mut self.service {
            Service::Fifo(fifo) => fifo.waiting(now),
            Service::Held(held) => held.waiting,
        }
    }

    fn transmitter(&self) -> &Transmitter {
        match &self.service {
            Service::Fifo(fifo) => fifo.transmitter(),
            Service::Held(held) => held.transmitter(),
        }
    }

    /// See [`Link::rate_at`].
    pub(super) fn rate_at(&self, now: Time) -> Option<Rate> {
        self.transmitter().rate_at(now)
    }

    /// See [`Link::grant`].
    pub(super) fn grant(&mut self, from: Time, rate: Rate) {
        if let Service::Held(held) = &mut self.service {
            held.grant(from, rate);
        }
    }

    /// See [`Link::is_sending`].
    pub(super) fn is_sending(&self, now: Time) -> bool {
        matches!(&self.service, Service::Held(held) if held.is_sending(now))
    }

    /// See [`Link::drains_at`].
    pub(super) fn drains_at(&self, now: Time, octets: u64) -> Time {
        let transmitter = self.transmitter();
        match transmitter.rate_at(now) {
            None => transmitter.ready(now),
            Some(rate) => now.saturating_add(rate.time_for(Bytes(octets))),
        }
    }

    /// Adds what this part counts.
    pub(super) fn count(&self, counters: &mut LinkCounters) {
        counters.duplicated = self.duplicated.packets;
        counters.bytes_duplicated = self.duplicated.octets;
        counters.marked = self.marked;
        let late = self.late.iter().map(|it| it.0.3 as u64);
        let overtaken = self.overtaken.iter().map(|it| it.size as u64);
        let in_cells = self.in_cells.iter().map(|it| it.packet.size as u64);
        counters.queued += (self.late.len() + self.overtaken.len() + self.in_cells.len()) as u64;
        counters.bytes_queued += late.sum::<u64>() + overtaken.sum::<u64>() + in_cells.sum::<u64>();
        if let Service::Held(held) = &self.service {
            counters.queued += held.waiting.packets;
            counters.bytes_queued += held.waiting.octets;
        }
    }

    /// A packet meets the impairments from number `first` on. The result, or
    /// why it is lost; and the number of the impairment from which a copy of
    /// it goes on.
    fn judge(
        &mut self,
        now: Time,
        id: PacketId,
        size: u32,
        first: usize,
        pool: &mut PacketPool,
    ) -> (Result<Judged, DropReason>, Option<usize>) {
        let mut it = Judged { id, size, fate: Fate::Arrives, extra: Span::ZERO, distance: 0 };
        let mut copy_from = None;
        for (number, (at, impairment)) in self.impairments.iter_mut().enumerate().skip(first) {
            let egress = *at == Position::Egress;
            if egress && matches!(it.fate, Fate::Lost | Fate::Corrupt) {
                continue;
            }
            match impairment.judge(now, id, size, pool) {
                Verdict::Pass => {}
                Verdict::Lose if egress => it.fate = Fate::Lost,
                Verdict::Corrupt if egress => it.fate = Fate::Corrupt,
                Verdict::Lose => return (Err(DropReason::Loss), copy_from),
                Verdict::Corrupt => return (Err(DropReason::Corrupt), copy_from),
                Verdict::Duplicate => copy_from = copy_from.or(Some(number + 1)),
                Verdict::Delay(Span::ZERO) => {}
                Verdict::Delay(more) => it.travel_longer(more, Fate::Late),
                Verdict::DelayInOrder(more) => it.travel_longer(more, Fate::LateInOrder),
                Verdict::Overtaken(distance, longest) => {
                    if it.fate != Fate::Overtaken {
                        (it.fate, it.distance, it.extra) = (Fate::Overtaken, distance, longest);
                    }
                }
            }
        }
        (Ok(it), copy_from)
    }
}

impl Judged {
    /// A packet that is to be overtaken by others is not late as well, and one
    /// that is late both ways may be overtaken.
    fn travel_longer(&mut self, more: Span, fate: Fate) {
        match self.fate {
            Fate::Arrives => (self.fate, self.extra) = (fate, more),
            Fate::Late | Fate::LateInOrder => {
                self.extra += more;
                if fate == Fate::Late {
                    self.fate = fate;
                }
            }
            Fate::Lost | Fate::Corrupt | Fate::Overtaken => {}
        }
    }
}

const ONLY_SPECIAL: &str = "only links with a special part come here";

impl Link {
    fn special(&mut self) -> &mut Special {
        self.special.as_mut().expect(ONLY_SPECIAL)
    }

    pub(super) fn offer_special(
        &mut self,
        now: Time,
        id: PacketId,
        size: u32,
        pool: &mut PacketPool,
        watch: Watch<'_, '_>,
    ) -> Option<Time> {
        let before = self.next_event();
        if size > self.mtu {
            self.drop(now, id, size, DropReason::Mtu, pool, watch);
        } else {
            self.pass(now, id, size, 0, pool, watch);
        }
        let after = self.next_event();
        // A virtual channel's source hears of packets with the event.
        let calls = matches!(&self.special().service, Service::Held(held) if held.calls());
        (after != before || calls).then_some(after)
    }

    /// A packet meets the impairments from number `first` on, then the queue.
    fn pass(
        &mut self,
        now: Time,
        id: PacketId,
        size: u32,
        first: usize,
        pool: &mut PacketPool,
        watch: Watch<'_, '_>,
    ) {
        let (judged, copy_from) = self.special().judge(now, id, size, first, pool);
        // The copy is of the packet as it is now; it goes on by itself.
        let copy = copy_from.map(|next| (pool.duplicate(id), next));
        match judged {
            Err(reason) => self.drop(now, id, size, reason, pool, watch),
            Ok(it) => self.join(now, it, pool, watch),
        }
        if let Some((copy, next)) = copy {
            self.special().duplicated.add(size);
            if let Some(watch) = watch {
                watch.link_event(now, LinkEvent::Duplicated, pool.packet(copy));
            }
            self.pass(now, copy, size, next, pool, watch);
        }
    }

    /// A packet comes to the queue.
    fn join(&mut self, now: Time, it: Judged, pool: &mut PacketPool, watch: Watch<'_, '_>) {
        let packet = pool.packet(it.id);
        let ecn = packet.ecn;
        match &mut self.special.as_mut().expect(ONLY_SPECIAL).service {
            Service::Fifo(fifo) => match fifo.offer(now, it.size, ecn) {
                Err(loss) => self.drop(now, it.id, it.size, reason(loss), pool, watch),
                Ok(Accepted { starts, departs, marked }) => {
                    if marked {
                        self.mark(now, it.id, pool, watch);
                    }
                    if let Some(watch) = watch {
                        let event = LinkEvent::Enqueued { starts, departs };
                        watch.link_event(now, event, pool.packet(it.id));
                    }
                    self.propagate(departs, it);
                }
            },
            Service::Held(held) => {
                let item = Item {
                    id: it.id,
                    size: it.size,
                    flow: flow_hash(&packet.flow_key()),
                    dscp: packet.dscp,
                    pure_ack: packet.is_pure_ack(),
                    ecn,
                    marked: false,
                    since: now,
                    fate: it.fate as u8,
                    distance: it.distance,
                    extra: it.extra,
                };
                held.join(now, item, packet);
                let refused = held.losses.iter().any(|(lost, _)| lost.id == it.id);
                let serves = held.serve_at <= now;
                if !refused && let Some(watch) = watch {
                    watch.link_event(now, LinkEvent::Waits, packet);
                }
                self.take_losses(now, Some(it.id), pool, watch);
                if serves {
                    self.serve(now, pool, watch);
                }
            }
        }
    }

    /// The discipline sends the next packet.
    fn serve(&mut self, now: Time, pool: &mut PacketPool, watch: Watch<'_, '_>) {
        if let Some((judged, departs)) = self.next_packet(now, pool, watch) {
            self.propagate(departs, judged);
        }
    }

    /// Of a link whose line is a virtual channel: the next packet leaves for its source, which sends
    /// packets at `rate` now. Its number, its octets, and whether more wait.
    pub fn take_for_cells(
        &mut self,
        now: Time,
        rate: Rate,
        pool: &mut PacketPool,
        mut watch: Option<&mut dyn LinkWatch>,
    ) -> Option<(u32, u32, bool)> {
        let special = self.special.as_mut()?;
        special.grant(now, rate);
        let (packet, _) = self.next_packet(now, pool, &mut watch)?;
        let special = self.special.as_mut()?;
        let number = special.taken;
        special.taken = number.wrapping_add(1);
        special.in_cells.push_back(InCells { number, packet });
        let more = matches!(&special.service, Service::Held(held) if held.calls());
        Some((number, packet.size, more))
    }

    /// Such a packet has come to the far end, `whole` or not. The date of the link's next event.
    pub fn end_in_cells(
        &mut self,
        now: Time,
        number: u32,
        whole: bool,
        pool: &mut PacketPool,
        mut watch: Option<&mut dyn LinkWatch>,
    ) -> Time {
        let special = self.special.as_mut().expect(ONLY_SPECIAL);
        let index = special.in_cells.iter().position(|it| it.number == number);
        if let Some(InCells { packet, .. }) = index.and_then(|i| special.in_cells.remove(i)) {
            match whole {
                true => self.propagate(now, packet),
                false => {
                    let (id, size) = (packet.id, packet.size);
                    self.drop(now, id, size, DropReason::Queue, pool, &mut watch);
                }
            }
        }
        self.next_event()
    }

    /// The discipline's next packet, and when its transmission ends.
    fn next_packet(
        &mut self,
        now: Time,
        pool: &mut PacketPool,
        watch: Watch<'_, '_>,
    ) -> Option<(Judged, Time)> {
        let Service::Held(held) = &mut self.special().service else { return None };
        let served = held.serve(now);
        self.take_losses(now, None, pool, watch);
        let (item, departs) = served?;
        if item.marked {
            self.mark(now, item.id, pool, watch);
        }
        if let Some(watch) = watch {
            watch.link_event(now, LinkEvent::Starts { departs }, pool.packet(item.id));
        }
        let Item { id, size, extra, distance, .. } = item;
        let fate = Fate::from_bits(item.fate as u32);
        Some((Judged { id, size, fate, extra, distance }, departs))
    }

    /// Drops what the discipline has given up; `arriving` has not waited.
    fn take_losses(
        &mut self,
        now: Time,
        arriving: Option<PacketId>,
        pool: &mut PacketPool,
        watch: Watch<'_, '_>,
    ) {
        let Service::Held(held) = &mut self.special().service else { return };
        if held.losses.is_empty() {
            return;
        }
        let mut losses = std::mem::take(&mut held.losses);
        for (item, loss) in losses.drain(..) {
            let reason = reason(loss);
            if Some(item.id) == arriving {
                self.drop(now, item.id, item.size, reason, pool, watch);
                continue;
            }
            self.dropped[reason.slot()] += 1;
            self.dropped_octets += item.size as u64;
            if let Some(watch) = watch {
                watch.link_event(now, LinkEvent::Removed(reason), pool.packet(item.id));
            }
            pool.release(item.id);
        }
        let Service::Held(held) = &mut self.special().service else { return };
        held.losses = losses;
    }

    fn mark(&mut self, now: Time, id: PacketId, pool: &mut PacketPool, watch: Watch<'_, '_>) {
        pool.set_ce(id);
        self.special().marked += 1;
        if let Some(watch) = watch {
            watch.link_event(now, LinkEvent::Marked, pool.packet(id));
        }
    }

    /// A packet has left or will leave the transmitter at `departs`.
    fn propagate(&mut self, departs: Time, it: Judged) {
        let special = self.special.as_mut().expect(ONLY_SPECIAL);
        let (delay, keep_order) = match &special.delays {
            None => (self.delay, true),
            Some(delays) => (delays.delay(departs), delays.keep_order),
        };
        let mut arrival = departs.saturating_add(delay);
        if matches!(it.fate, Fate::Late | Fate::LateInOrder) {
            arrival = arrival.saturating_add(it.extra);
        }
        let last = self.ring.back().map_or(Time::ZERO, |entry| entry.arrival);
        let goes_late = match it.fate {
            Fate::Late => true,
            Fate::Arrives => arrival < last && !keep_order,
            _ => false,
        };
        if goes_late {
            special.late_count += 1;
            special.late.push(Reverse((arrival, special.late_count, it.id, it.size)));
            return;
        }
        if it.fate == Fate::Overtaken {
            special.distances.push_back((it.distance, it.extra));
        }
        self.unsent_octets += it.size as u64;
        self.ring.push_back(Entry {
            arrival: arrival.max(last),
            id: it.id,
            size_fate: it.size | (it.fate as u32) << SIZE_BITS,
        });
    }

    /// The link's next event has come: an arrival, or the transmitter is free.
    pub(super) fn handle_special(
        &mut self,
        now: Time,
        pool: &mut PacketPool,
        watch: Watch<'_, '_>,
    ) -> Option<(PacketId, u32)> {
        if let Service::Held(held) = &self.special().service
            && held.serve_at <= now
        {
            self.serve(now, pool, watch);
            return None;
        }
        match self.ring.front() {
            Some(entry) if entry.arrival <= now => {
                let arrived = self.leave_ring(now, pool, watch)?;
                self.special().go_by(now);
                Some(arrived)
            }
            _ => self.special().release(now),
        }
    }

    /// The head of the ring has reached the far end, if its fate lets it.
    fn leave_ring(
        &mut self,
        now: Time,
        pool: &mut PacketPool,
        watch: Watch<'_, '_>,
    ) -> Option<(PacketId, u32)> {
        let entry = self.ring.pop_front()?;
        let (id, size) = (entry.id, entry.size());
        self.unsent_octets -= size as u64;
        match Fate::from_bits(entry.size_fate >> SIZE_BITS) {
            Fate::Lost => self.drop(now, id, size, DropReason::Loss, pool, watch),
            Fate::Corrupt => self.drop(now, id, size, DropReason::Corrupt, pool, watch),
            Fate::Overtaken => {
                let special = self.special();
                let distance = special.distances.pop_front();
                let (left, longest) = distance.expect("each packet to be overtaken has a distance");
                let until = now.saturating_add(longest);
                special.overtaken.push(Overtaken { left, until, id, size });
            }
            Fate::Arrives | Fate::Late | Fate::LateInOrder => return Some((id, size)),
        }
        None
    }
}

impl Special {
    /// The next packet whose extra time is over.
    fn release(&mut self, now: Time) -> Option<(PacketId, u32)> {
        if let Some(index) = self.overtaken.iter().position(|it| it.until <= now) {
            let it = self.overtaken.remove(index);
            return Some((it.id, it.size));
        }
        let Reverse((until, _, id, size)) = *self.late.peek()?;
        (until <= now).then(|| {
            self.late.pop();
            (id, size)
        })
    }

    /// A packet of the ring, so one that was sent later, has gone by those that
    /// wait to be overtaken; such as have seen enough follow at once.
    fn go_by(&mut self, now: Time) {
        for it in &mut self.overtaken {
            it.left = it.left.saturating_sub(1);
            if it.left == 0 {
                it.until = it.until.min(now);
            }
        }
    }
}

fn reason(loss: Loss) -> DropReason {
    match loss {
        Loss::Overflow => DropReason::Queue,
        Loss::Early => DropReason::Aqm,
    }
}

#[cfg(test)]
mod tests;
