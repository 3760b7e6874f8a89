//! The way of a packet over a link that is more than a drop-tail queue, one
//! rate and one delay.
//!
//! A packet meets the impairments at the ingress, the queue, then those at the
//! egress, whose result is kept as its [`fate`]: one that is lost there stays in
//! the ring until it would have arrived, for it uses the link. Packets that
//! may be overtaken wait elsewhere ([`overtaking`]), those in cells of ATM in [`in_cells`].

mod fate;
mod in_cells;
mod overtaking;
mod service;

use super::base::{Base, Count, Entry, Step};
use super::fifo::Accepted;
use super::{LinkDrop, LinkEvent};
use crate::config::LinkConfig;
use crate::counters::LinkCounters;
use crate::hash::flow_hash;
use crate::impairment::{Impairment, ImpairmentConfig, Position};
use crate::pool::PacketId;
use crate::queue::{Item, Loss, QueueConfig, Waiting};
use crate::transmitter::{DelaySchedule, TransmitterConfig};
use anabranch_endpoint::Generator;
use anabranch_units::{Rate, Time};
use fate::{Fate, Judged, judge};
use in_cells::InCells;
use overtaking::Overtaking;
use service::Service;

/// `Features` has what only such links have.
#[derive(Debug)]
pub(super) struct Features {
    impairments: Vec<(Position, Impairment)>,
    service: Service,
    delays: Option<DelaySchedule>,
    overtaking: Overtaking,
    in_cells: InCells,
    duplicated: Count,
    marked: u64,
}

impl Features {
    /// Returns `None` for a link that needs nothing of this.
    pub(super) fn new(config: &LinkConfig, mut generator: Generator) -> Option<Features> {
        let is_plain = matches!(config.queue, QueueConfig::DropTail { .. })
            && config.impairments.is_empty()
            && config.delays.is_none()
            && config.transmitter == TransmitterConfig::Constant;
        if is_plain {
            return None;
        }
        let mut draw = || Generator::from_u64(generator.next_u64());
        let build = |config: &ImpairmentConfig| (config.at, config.build(draw()));
        let impairments = config.impairments.iter().map(build).collect();
        Some(Features {
            impairments,
            service: Service::new(config, draw()),
            delays: config.delays.clone(),
            overtaking: Overtaking::default(),
            in_cells: InCells::default(),
            duplicated: Count::default(),
            marked: 0,
        })
    }

    /// Returns the first event besides the head of the ring.
    pub(super) fn next_event(&self) -> Time {
        self.overtaking.next_arrival().min(self.service.serves_at())
    }

    /// Returns what waits at `now`: see [`Link::waiting`](super::Link::waiting).
    pub(super) fn waiting(&mut self, now: Time) -> Waiting {
        self.service.waiting(now)
    }

    /// Returns the rate at `now`: see [`Link::rate_at`](super::Link::rate_at).
    pub(super) fn rate_at(&self, now: Time) -> Option<Rate> {
        self.service.rate_at(now)
    }

    /// Takes a granted rate: see [`Link::grant`](super::Link::grant).
    pub(super) fn grant(&mut self, from: Time, rate: Rate) {
        self.service.grant(from, rate);
    }

    /// Returns whether a packet waits or is being sent: see
    /// [`Link::is_sending`](super::Link::is_sending).
    pub(super) fn is_sending(&self, now: Time) -> bool {
        self.service.is_sending(now)
    }

    /// Returns when so much has drained: see [`Link::drains_at`](super::Link::drains_at).
    pub(super) fn drains_at(&self, now: Time, octets: u64) -> Time {
        self.service.drains_at(now, octets)
    }

    /// Returns whether packets wait for a virtual channel, whose source hears of them.
    pub(super) fn calls(&self) -> bool {
        self.service.calls()
    }

    /// Adds what is counted here to `counters`.
    pub(super) fn count(&self, counters: &mut LinkCounters) {
        counters.duplicated = self.duplicated.packets;
        counters.bytes_duplicated = self.duplicated.octets;
        counters.marked = self.marked;
        for count in [self.overtaking.count(), self.in_cells.count(), self.service.held()] {
            counters.queued += count.packets;
            counters.bytes_queued += count.octets;
        }
    }

    /// Lets a packet meet the impairments from number `first` on, then the queue.
    pub(super) fn pass(
        &mut self,
        (id, size): (PacketId, u32),
        first: usize,
        base: &mut Base,
        step: &mut Step<'_, '_>,
    ) {
        let packet = (id, size);
        let (judged, copy_from) = judge(&mut self.impairments, step.now, packet, first, step.pool);
        // The copy is of the packet as it is now; it goes on by itself.
        let copy = copy_from.map(|next| (step.pool.duplicate(id), next));
        match judged {
            Err(reason) => base.drop(id, size, reason, step),
            Ok(judged) => self.join(judged, base, step),
        }
        if let Some((copy, next)) = copy {
            self.duplicated.add(size);
            step.tell(LinkEvent::Duplicated, copy);
            self.pass((copy, size), next, base, step);
        }
    }

    /// Takes a packet to the queue.
    fn join(&mut self, judged: Judged, base: &mut Base, step: &mut Step<'_, '_>) {
        let Judged { id, size, .. } = judged;
        let packet = step.pool.packet(id);
        match &mut self.service {
            Service::Fifo(fifo) => match fifo.offer(step.now, size, packet.ecn) {
                Err(loss) => base.drop(id, size, reason(loss), step),
                Ok(Accepted { starts, departs, marked }) => {
                    if marked {
                        self.mark(id, step);
                    }
                    step.tell(LinkEvent::Enqueued { starts, departs }, id);
                    self.propagate(departs, judged, base);
                }
            },
            Service::Held(held) => {
                let item = Item {
                    id,
                    size,
                    flow: flow_hash(&packet.flow_key()),
                    dscp: packet.dscp,
                    pure_ack: packet.is_pure_ack(),
                    ecn: packet.ecn,
                    marked: false,
                    washed: false,
                    since: step.now,
                    fate: judged.fate as u8,
                    distance: judged.distance,
                    extra: judged.extra,
                };
                held.join(step.now, item, packet);
                let refused = held.losses.iter().any(|(lost, _)| lost.id == id);
                let serves = held.serve_at <= step.now;
                if !refused {
                    step.tell(LinkEvent::Waits, id);
                }
                self.take_losses(Some(id), base, step);
                if serves {
                    self.serve(base, step);
                }
            }
        }
    }

    /// Lets the discipline send the next packet.
    fn serve(&mut self, base: &mut Base, step: &mut Step<'_, '_>) {
        if let Some((judged, departs)) = self.next_packet(base, step) {
            self.propagate(departs, judged, base);
        }
    }

    /// Takes a packet for cells: see [`Link::take_for_cells`](super::Link::take_for_cells).
    pub(super) fn take_for_cells(
        &mut self,
        rate: Rate,
        base: &mut Base,
        step: &mut Step<'_, '_>,
    ) -> Option<(u32, u32, bool)> {
        self.grant(step.now, rate);
        let (packet, _) = self.next_packet(base, step)?;
        Some((self.in_cells.leave(packet), packet.size, self.service.calls()))
    }

    /// Ends the way of a packet in cells: see [`Link::end_in_cells`](super::Link::end_in_cells).
    pub(super) fn end_in_cells(
        &mut self,
        number: u32,
        whole: bool,
        base: &mut Base,
        step: &mut Step<'_, '_>,
    ) {
        match self.in_cells.arrive(number) {
            None => {}
            Some(packet) if whole => self.propagate(step.now, packet, base),
            Some(packet) => base.drop(packet.id, packet.size, LinkDrop::Queue, step),
        }
    }

    /// Returns the discipline's next packet, and when its transmission ends.
    fn next_packet(&mut self, base: &mut Base, step: &mut Step<'_, '_>) -> Option<(Judged, Time)> {
        let Service::Held(held) = &mut self.service else { return None };
        let served = held.serve(step.now);
        self.take_losses(None, base, step);
        let (item, departs) = served?;
        if item.marked {
            self.mark(item.id, step);
        }
        if item.washed {
            step.pool.wash(item.id);
        }
        step.tell(LinkEvent::Starts { since: item.since, departs }, item.id);
        let Item { id, size, extra, distance, .. } = item;
        let fate = Fate::from_bits(item.fate as u32);
        Some((Judged { id, size, fate, extra, distance }, departs))
    }

    /// Drops what the discipline has given up; `arriving` has not waited.
    fn take_losses(
        &mut self,
        arriving: Option<PacketId>,
        base: &mut Base,
        step: &mut Step<'_, '_>,
    ) {
        let Service::Held(held) = &mut self.service else { return };
        for (item, loss) in held.losses.drain(..) {
            let reason = reason(loss);
            let event = match Some(item.id) == arriving {
                true => LinkEvent::Dropped(reason),
                false => LinkEvent::Removed(reason),
            };
            base.discard(item.id, item.size, reason, event, step);
        }
    }

    /// Notes that the queue sets CE on a packet.
    fn mark(&mut self, id: PacketId, step: &mut Step<'_, '_>) {
        step.pool.set_ce(id);
        self.marked += 1;
        step.tell(LinkEvent::Marked, id);
    }

    /// A packet has left or will leave the transmitter at `departs`.
    fn propagate(&mut self, departs: Time, judged: Judged, base: &mut Base) {
        let Judged { id, size, fate, extra, distance } = judged;
        let (delay, keep_order) = match &self.delays {
            None => (base.delay, true),
            Some(delays) => (delays.delay(departs), delays.keep_order),
        };
        let mut arrival = departs.saturating_add(delay);
        if matches!(fate, Fate::Late | Fate::LateInOrder) {
            arrival = arrival.saturating_add(extra);
        }
        let last = base.last_arrival();
        match fate {
            Fate::Late => return self.overtaking.travel(arrival, id, size),
            Fate::Arrives if arrival < last && !keep_order => {
                return self.overtaking.travel(arrival, id, size);
            }
            Fate::Overtaken => self.overtaking.expect(distance, extra),
            _ => {}
        }
        base.push(Entry::new(arrival.max(last), id, size, fate as u32));
    }

    /// The link's next event has come: an arrival, or the transmitter is free. Returns the packet
    /// that reached the far end and its octets, if one did.
    pub(super) fn handle_event(
        &mut self,
        base: &mut Base,
        step: &mut Step<'_, '_>,
    ) -> Option<(PacketId, u32)> {
        if self.service.serves_at() <= step.now {
            self.serve(base, step);
            return None;
        }
        let Some(entry) = base.pop_arrived(step.now) else {
            return self.overtaking.release(step.now);
        };
        let (id, size) = (entry.id, entry.size());
        match Fate::from_bits(entry.fate()) {
            Fate::Lost => base.drop(id, size, LinkDrop::Loss, step),
            Fate::Corrupt => base.drop(id, size, LinkDrop::Corrupt, step),
            Fate::Overtaken => self.overtaking.wait(step.now, id, size),
            Fate::Arrives | Fate::Late | Fate::LateInOrder => {
                self.overtaking.go_by(step.now);
                return Some((id, size));
            }
        }
        None
    }
}

fn reason(loss: Loss) -> LinkDrop {
    match loss {
        Loss::Overflow => LinkDrop::Queue,
        Loss::Early => LinkDrop::Aqm,
    }
}

#[cfg(test)]
mod tests;
