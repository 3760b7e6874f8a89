//! A switch's port: a queue of cells, first in, first out, in front of a line.
//!
//! As over a [`Link`](crate::Link), a cell's departure and arrival are known when it comes. It
//! waits for its arrival in a ring, whose head is the port's one pending event; how many wait is
//! counted by a cursor over the departures that have passed.

use super::allocation::Allocation;
use super::cells::{CELL, Cell, Kind};
use super::config::LineConfig;
use anabranch_units::{Rate, Span, Time};
use std::collections::VecDeque;

/// `Port` is one direction of a line: its queue and what transmits.
#[derive(Debug)]
pub(super) struct Port {
    cell_time: Span,
    delay: Span,
    /// Most cells that may wait; `None` for no limit.
    limit: Option<u32>,
    free_at: Time,
    ring: VecDeque<(Time, Cell)>,
    /// Number of cells at the front of the ring that are known to have left.
    departed: usize,
    pub allocation: Allocation,
    counters: PortCounters,
}

/// `PortCounters` are the totals of a port since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortCounters {
    /// `received` counts cells that came to the port.
    pub received: u64,
    /// `forward_rm` counts the forward RM cells among those received.
    pub forward_rm: u64,
    /// `backward_rm` counts the backward RM cells among those received.
    pub backward_rm: u64,
    /// `delivered` counts cells that reached the end of the line.
    pub delivered: u64,
    /// `dropped` counts cells that the full queue dropped.
    pub dropped: u64,
    /// `queued` is how many cells are in the queue or on the line now.
    pub queued: u64,
    /// `most_waiting` is the most cells that a cell found waiting before it.
    pub most_waiting: u64,
    /// `waited` is the time that cells waited, summed over those that the queue took.
    pub waited: Span,
    /// `busy` is the time that the line has been given to cells.
    pub busy: Span,
}

impl PortCounters {
    /// Returns whether cells are conserved, exactly at every event: received = delivered + dropped
    /// + queued.
    pub fn is_conserved(&self) -> bool {
        self.received == self.delivered + self.dropped + self.queued
    }
}

impl Port {
    pub(super) fn new(config: &LineConfig, rate: Rate, directions: usize) -> Port {
        Port {
            cell_time: rate.time_for(CELL),
            delay: config.delay,
            limit: config.limit,
            free_at: Time::ZERO,
            ring: VecDeque::new(),
            departed: 0,
            allocation: config.allocation.build(rate, directions),
            counters: PortCounters::default(),
        }
    }

    /// A cell comes. When it starts on the line; `None` if it is dropped.
    pub(super) fn offer(&mut self, now: Time, mut cell: Cell) -> Option<Time> {
        let waiting = self.waiting(now);
        let c = &mut self.counters;
        c.received += 1;
        match cell.kind {
            Kind::Forward(_) => c.forward_rm += 1,
            Kind::Backward(_) => c.backward_rm += 1,
            Kind::Data { .. } => {}
        }
        let marks = self.allocation.on_cell(now, &cell, waiting);
        if let Kind::Data { congestion, .. } = &mut cell.kind {
            *congestion |= marks;
        }
        let starts = now.max(self.free_at);
        if starts > now {
            if self.limit.is_some_and(|limit| waiting >= limit) {
                c.dropped += 1;
                return None;
            }
            c.most_waiting = c.most_waiting.max(waiting as u64 + 1);
            c.waited += starts - now;
        }
        c.busy += self.cell_time;
        self.free_at = starts.saturating_add(self.cell_time);
        self.ring.push_back((self.free_at.saturating_add(self.delay), cell));
        Some(starts)
    }

    /// Cells that wait at `now`, without the one on the line. `now` never decreases.
    pub(super) fn waiting(&mut self, now: Time) -> u32 {
        if now >= self.free_at {
            self.departed = self.ring.len();
            return 0;
        }
        let left = now.saturating_add(self.delay);
        while self.ring.get(self.departed).is_some_and(|item| item.0 <= left) {
            self.departed += 1;
        }
        (self.ring.len() - self.departed).saturating_sub(1) as u32
    }

    /// Returns when the next cell reaches the end of the line; [`Time::NEVER`] without one.
    pub(super) fn next_arrival(&self) -> Time {
        self.ring.front().map_or(Time::NEVER, |item| item.0)
    }

    /// Takes the cell that reaches the end of the line next.
    pub(super) fn arrive(&mut self) -> Option<Cell> {
        let (_, cell) = self.ring.pop_front()?;
        self.departed = self.departed.saturating_sub(1);
        self.counters.delivered += 1;
        Some(cell)
    }

    pub(super) fn counters(&self) -> PortCounters {
        PortCounters { queued: self.ring.len() as u64, ..self.counters }
    }
}
