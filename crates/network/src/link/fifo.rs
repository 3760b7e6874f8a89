//! Service first in, first out, with decisions on arrival: departures are
//! computed when a packet is offered. The discipline hears of the departures
//! before the next arrival, in their order.

use crate::queue::{Aqm, Arrival, Loss, Waiting};
use crate::transmitter::Transmitter;
use anabranch_units::Time;
use anabranch_wire::Ecn;
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Fifo {
    aqm: Box<Aqm>,
    transmitter: Transmitter,
    busy_until: Time,
    /// Packets that have not been seen to go to the line.
    pending: VecDeque<Pending>,
    waiting: Waiting,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    offered: Time,
    starts: Time,
    size: u32,
}

/// `Accepted` says what becomes of an accepted packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted {
    pub starts: Time,
    pub departs: Time,
    pub marked: bool,
}

impl Fifo {
    pub(super) fn new(aqm: Box<Aqm>, transmitter: Transmitter) -> Fifo {
        let (pending, waiting) = (VecDeque::new(), Waiting::default());
        Fifo { aqm, transmitter, busy_until: Time::ZERO, pending, waiting }
    }

    pub(super) fn transmitter(&self) -> &Transmitter {
        &self.transmitter
    }

    /// Takes a packet that comes, or says why it is dropped; the packet's whole way is known then.
    pub(super) fn offer(&mut self, now: Time, size: u32, ecn: Ecn) -> Result<Accepted, Loss> {
        let waiting = self.waiting(now);
        let arrival = Arrival { now, size, ecn, waiting, busy_until: self.busy_until };
        let marked = self.aqm.on_arrival(&arrival)?;
        let starts = self.transmitter.ready(now.max(self.busy_until));
        let departs = self.transmitter.departure(starts, size);
        self.busy_until = departs;
        self.pending.push_back(Pending { offered: now, starts, size });
        self.waiting.add(size);
        Ok(Accepted { starts, departs, marked })
    }

    /// Returns what waits at `now`, after the departures up to it. It is part of each offer, and
    /// inlined there whatever laws there are.
    #[inline(always)]
    pub(super) fn waiting(&mut self, now: Time) -> Waiting {
        while let Some(&Pending { offered, starts, size }) = self.pending.front()
            && starts <= now
            && starts != Time::NEVER
        {
            self.pending.pop_front();
            self.waiting.remove(size);
            self.aqm.on_departure(starts, offered, size);
        }
        self.waiting
    }
}
