//! Packets that are not in the ring, since others may arrive before them.

use super::super::base::Count;
use crate::pool::PacketId;
use anabranch_units::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Packets that travel longer than others, and such as wait to be overtaken.
#[derive(Debug, Default)]
pub(super) struct Overtaking {
    /// Packets that may be overtaken: date, order of coming, packet, size.
    late: BinaryHeap<Reverse<(Time, u64, PacketId, u32)>>,
    late_count: u64,
    /// For each packet in the ring that is to be overtaken, in its order: by how many, and how long
    /// it waits at most.
    distances: VecDeque<(u32, Span)>,
    /// `waiting` has such packets at the far end.
    waiting: Vec<Waiting>,
}

/// A packet at the far end that waits for others to go by.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// `left` is how many packets are still to go by.
    left: u32,
    /// `until` is the time beyond which it does not wait.
    until: Time,
    id: PacketId,
    size: u32,
}

impl Overtaking {
    /// Returns when the next of them arrives.
    pub(super) fn next_arrival(&self) -> Time {
        let late = self.late.peek().map_or(Time::NEVER, |Reverse(first)| first.0);
        self.waiting.iter().map(|packet| packet.until).fold(late, Time::min)
    }

    /// A packet travels until `arrival`, and others may come before it.
    pub(super) fn travel(&mut self, arrival: Time, id: PacketId, size: u32) {
        self.late_count += 1;
        self.late.push(Reverse((arrival, self.late_count, id, size)));
    }

    /// A packet enters the ring that is to wait at the far end until `distance` others have gone
    /// by, and no longer than `longest`.
    pub(super) fn expect(&mut self, distance: u32, longest: Span) {
        self.distances.push_back((distance, longest));
    }

    /// The next of these packets has come to the far end.
    pub(super) fn wait(&mut self, now: Time, id: PacketId, size: u32) {
        let (left, longest) = self.distances.pop_front().unwrap_or_default();
        self.waiting.push(Waiting { left, until: now.saturating_add(longest), id, size });
    }

    /// Returns a packet whose time is over, and its octets.
    pub(super) fn release(&mut self, now: Time) -> Option<(PacketId, u32)> {
        if let Some(index) = self.waiting.iter().position(|packet| packet.until <= now) {
            let packet = self.waiting.remove(index);
            return Some((packet.id, packet.size));
        }
        let Reverse((until, _, id, size)) = *self.late.peek()?;
        (until <= now).then(|| {
            self.late.pop();
            (id, size)
        })
    }

    /// A packet of the ring, so one that was sent later, has gone by those that wait; such as have
    /// seen enough follow at once.
    pub(super) fn go_by(&mut self, now: Time) {
        for packet in &mut self.waiting {
            packet.left = packet.left.saturating_sub(1);
            if packet.left == 0 {
                packet.until = packet.until.min(now);
            }
        }
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> Count {
        let late = self.late.iter().map(|packet| packet.0.3 as u64);
        let waiting = self.waiting.iter().map(|packet| packet.size as u64);
        let packets = (self.late.len() + self.waiting.len()) as u64;
        Count { packets, octets: late.chain(waiting).sum() }
    }
}
