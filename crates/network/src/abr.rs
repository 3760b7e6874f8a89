//! An ATM network with the available bit rate service (ABR; ATM Forum Traffic Management 4.0,
//! af-tm-0056.000, 1996): lines with a port at both ends, and virtual channels over them.
//!
//! A virtual channel takes the place of a [`Link`](crate::Link)'s line, in both directions. Packets
//! wait in the link's own queue; the source at its end cuts one after the other into cells (AAL5)
//! and sends cells at its allowed rate, among them RM cells (`source`). Each port on the way queues
//! cells and counts (`port`), and writes into the RM cells that come back what the source may send
//! (`allocation`, one algorithm a file). The far end puts packets together again.
//!
//! Nothing here is told from outside: rates change when an RM cell has made its way, through the
//! queues, behind the data. Every cell is an event, in this module's own order: by date, then lines,
//! then virtual channels. [`Atm::advance`] handles all of them up to a date or up to the first that
//! a link must hear of, so that to the simulation a network is one source of events.
//!
//! Left out: other service categories, virtual paths, cells' own bit errors, reassembly timers and
//! partial packet discard (a packet that lost a cell goes on and is dropped at its end).

mod allocation;
mod cells;
mod config;
mod port;
mod source;

pub use allocation::{ALLOCATIONS, AllocationConfig, EfciConfig, EricaConfig, MaxMinConfig};
pub use cells::{CELL, Cell, Encapsulation, Kind, MAX_SDU, PAYLOAD, RateField, Rm, TRAILER};
pub use config::{LineConfig, VcConfig};
pub use port::PortCounters;

use crate::routing::LinkId;
use allocation::{Allocation, Shares, fill};
use anabranch_units::{Rate, Time};
use port::Port;
use source::{EndSystem, Turn};
use std::collections::VecDeque;

/// `DirectionConfig` describes the virtual channel in place of a link's line, in one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct DirectionConfig {
    /// `link` is the direction of the link that the channel serves.
    pub link: LinkId,
    /// Lines and the direction in which each is passed, 0 or 1, in order; one at least.
    pub path: Vec<(usize, usize)>,
    /// `source` has the parameters of the channel's source.
    pub source: VcConfig,
}

/// `AtmEvent` is what a link has to hear of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtmEvent {
    /// The source can send: the link is to give the next packet, by [`Atm::load`] or
    /// [`Atm::nothing_waits`].
    Wants(LinkId),
    /// The first of the packets that are under way is whole at the far end.
    Arrived {
        /// `link` is the link that the event is of.
        link: LinkId,
        /// `packet` is the number of the packet among the link's packets.
        packet: u32,
    },
    /// A packet has lost a cell, and will not arrive whole.
    Lost {
        /// `link` is the link that the event is of.
        link: LinkId,
        /// `packet` is the number of the packet among the link's packets.
        packet: u32,
    },
}

/// `CellNote` is what observers hear of cells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CellNote {
    /// A port has taken a cell into its queue.
    Queued {
        /// `line` is the number of the line.
        line: usize,
        /// `direction` is the direction of the line, 0 or 1.
        direction: usize,
        /// `at` is the time at which the cell came.
        at: Time,
        /// `starts` is the time at which the cell starts on the line.
        starts: Time,
    },
    /// The allowed cell rate of a source is this from now on.
    Rate {
        /// `link` is the link that the note is of.
        link: LinkId,
        /// `at` is the time from which the rate holds.
        at: Time,
        /// `cells` is the rate, in cells a second.
        cells: f64,
    },
}

/// `Atm` is the network with its ports, virtual channels and pending events.
#[derive(Debug)]
pub struct Atm {
    /// `ports` has the ports of the lines, two for each.
    ports: Vec<Port>,
    /// Two for each virtual channel, of which each is the source of one direction.
    directions: Vec<Direction>,
    /// `of_link` has the direction of each link that has one.
    of_link: Vec<Option<u32>>,
    /// `dates` has the time of the next event of each port, then of each direction.
    dates: Vec<Time>,
    /// The computation of exact rates, if a port asks for it.
    shares: Option<Shares>,
    /// `known` says of each direction whether it was in use and what its answers took, at the last
    /// computation.
    known: Vec<(bool, u32)>,
    /// `handled` is how many events were handled and not yet taken.
    handled: u64,
    /// `notes` is what observers have not heard; `None` when there are none.
    notes: Option<Vec<CellNote>>,
}

#[derive(Debug)]
struct Direction {
    link: LinkId,
    path: Vec<u32>,
    end: EndSystem,
    /// `under_way` has the cells of the packets that are under way.
    under_way: VecDeque<(u32, u32)>,
}

impl Atm {
    /// Makes idle lines and virtual channels; `2 i` and `2 i + 1` are the two directions of
    /// one, over the same lines. Configurations are valid.
    pub fn new(lines: &[LineConfig], directions: &[DirectionConfig]) -> Atm {
        let mut ports: Vec<Port> = Vec::with_capacity(lines.len() * 2);
        for line in lines {
            ports.extend(line.rates.iter().map(|rate| Port::new(line, *rate, directions.len())));
        }
        let links =
            directions.iter().map(|direction| direction.link.0 as usize + 1).max().unwrap_or(0);
        let mut of_link = vec![None; links];
        for (number, direction) in directions.iter().enumerate() {
            of_link[direction.link.0 as usize] = Some(number as u32);
            for (line, side) in &direction.path {
                ports[line * 2 + side].allocation.admit();
            }
        }
        let interval = |port: &Port| match &port.allocation {
            Allocation::MaxMin(max_min) => Some(max_min.interval),
            Allocation::Erica(_) | Allocation::Efci(_) => None,
        };
        let shares = Shares::new(ports.iter().filter_map(interval));
        let dates = vec![Time::NEVER; ports.len() + directions.len()];
        let direction = |config: &DirectionConfig| Direction {
            link: config.link,
            path: config.path.iter().map(|(line, side)| (line * 2 + side) as u32).collect(),
            end: EndSystem::new(&config.source),
            under_way: VecDeque::new(),
        };
        let directions = directions.iter().map(direction).collect();
        let mut atm = Atm {
            ports,
            directions,
            of_link,
            dates,
            shares,
            known: Vec::new(),
            handled: 0,
            notes: None,
        };
        atm.compute_shares(0.0);
        atm
    }

    /// Returns whether the link's line is a virtual channel.
    pub fn has(&self, link: LinkId) -> bool {
        self.direction(link).is_some()
    }

    fn direction(&self, link: LinkId) -> Option<usize> {
        self.of_link.get(link.0 as usize).copied().flatten().map(|direction| direction as usize)
    }

    /// Hears that packets wait at the link.
    pub fn packets_wait(&mut self, now: Time, link: LinkId) {
        if let Some(direction) = self.direction(link) {
            self.directions[direction].end.has_packets = true;
            self.set_due(direction, now);
        }
    }

    /// Takes the next packet of the link, which is cut into cells from now on; `more` wait behind
    /// it.
    pub fn load(&mut self, now: Time, link: LinkId, octets: u32, more: bool) {
        let Some(number) = self.direction(link) else { return };
        let direction = &mut self.directions[number];
        let packet = direction.end.load(octets);
        direction.end.has_packets = more;
        direction.under_way.push_back((packet, direction.end.cells_left()));
        self.set_due(number, now);
    }

    /// Hears that the link had no packet to give.
    pub fn nothing_waits(&mut self, now: Time, link: LinkId) {
        if let Some(direction) = self.direction(link) {
            self.directions[direction].end.has_packets = false;
            self.set_due(direction, now);
        }
    }

    /// Returns the allowed cell rate of the link's source, in cells a second; 0 for a link without
    /// one.
    pub fn rate(&self, link: LinkId) -> f64 {
        self.direction(link).map_or(0.0, |direction| self.directions[direction].end.rate())
    }

    /// Returns the present rate in octets of packets: payloads less forward RM cells, without
    /// padding.
    ///
    /// # Panics
    /// When the link has no source.
    pub fn net_rate(&self, link: LinkId) -> Rate {
        let direction = self.direction(link).expect("the link is a virtual channel");
        self.directions[direction].end.net_rate()
    }

    /// Returns the time of the next event.
    pub fn next_event(&self) -> Time {
        self.dates.iter().copied().min().unwrap_or(Time::NEVER)
    }

    /// Handles events up to and including `limit`, until one is for a link. Its date, or that of
    /// the next event after `limit`.
    pub fn advance(&mut self, limit: Time) -> (Time, Option<AtmEvent>) {
        loop {
            let (mut at, mut source) = (Time::NEVER, 0);
            for (number, date) in self.dates.iter().enumerate() {
                if *date < at {
                    (at, source) = (*date, number);
                }
            }
            if at > limit || at == Time::NEVER {
                return (at, None);
            }
            self.handled += 1;
            if self.shares.as_ref().is_some_and(|shares| at >= shares.next) {
                let elapsed = self.shares.as_mut().map_or(0.0, |shares| shares.begin(at));
                self.compute_shares(elapsed);
            }
            let event = match source.checked_sub(self.ports.len()) {
                None => self.arrive(at, source),
                Some(direction) => self.send(at, direction),
            };
            if event.is_some() {
                return (at, event);
            }
        }
    }

    /// Returns how many events were handled since it was asked last.
    pub fn take_handled(&mut self) -> u64 {
        std::mem::take(&mut self.handled)
    }

    /// Chooses whether notes are kept for observers.
    pub fn keep_notes(&mut self, keep: bool) {
        if keep != self.notes.is_some() {
            self.notes = keep.then(Vec::new);
        }
    }

    /// Returns what happened since it was asked last, by date.
    pub fn take_notes(&mut self) -> Vec<CellNote> {
        self.notes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns the counters of both ports of a line, by direction.
    pub fn counters(&self, line: usize) -> [PortCounters; 2] {
        [self.ports[2 * line].counters(), self.ports[2 * line + 1].counters()]
    }

    fn set_due(&mut self, direction: usize, now: Time) {
        self.dates[self.ports.len() + direction] = self.directions[direction].end.due(now);
    }

    /// Handles the time at which a source may send a cell.
    fn send(&mut self, now: Time, number: usize) -> Option<AtmEvent> {
        let direction = &mut self.directions[number];
        let before = direction.end.rate();
        match direction.end.turn(now) {
            Turn::NeedsPacket => Some(AtmEvent::Wants(direction.link)),
            Turn::Rests => {
                self.set_due(number, now);
                None
            }
            Turn::Send(kind) => {
                let port = direction.path[0] as usize;
                if direction.end.rate() != before {
                    self.note_rate(now, number);
                }
                self.set_due(number, now);
                self.offer(now, port, Cell { direction: number as u32, hop: 0, kind })
            }
        }
    }

    /// Handles a cell that comes to a port.
    fn offer(&mut self, now: Time, port: usize, cell: Cell) -> Option<AtmEvent> {
        let found = &mut self.ports[port];
        match (found.offer(now, cell), cell.kind) {
            (Some(starts), _) => {
                self.dates[port] = found.next_arrival();
                if let Some(notes) = &mut self.notes {
                    let (line, direction) = (port / 2, port % 2);
                    notes.push(CellNote::Queued { line, direction, at: now, starts });
                }
                None
            }
            // Without the end of a packet nobody waits for it; another cell is missed there.
            (None, Kind::Data { packet, last: true, .. }) => {
                let direction = &mut self.directions[cell.direction as usize];
                direction.under_way.retain(|under_way| under_way.0 != packet);
                Some(AtmEvent::Lost { link: direction.link, packet })
            }
            (None, _) => None,
        }
    }

    /// Handles a cell that has reached the end of a port's line.
    fn arrive(&mut self, now: Time, port: usize) -> Option<AtmEvent> {
        let mut cell = self.ports[port].arrive()?;
        self.dates[port] = self.ports[port].next_arrival();
        if let Kind::Backward(rm) = &mut cell.kind {
            // Here the line's other direction begins, which the data go over.
            self.ports[port ^ 1].allocation.on_backward(now, cell.direction ^ 1, rm);
        }
        cell.hop += 1;
        let (number, peer) = (cell.direction as usize, cell.direction as usize ^ 1);
        if let Some(next) = self.directions[number].path.get(cell.hop as usize) {
            let next = *next as usize;
            return self.offer(now, next, cell);
        }
        match cell.kind {
            Kind::Forward(rm) => {
                self.directions[peer].end.turn_round(rm);
                self.set_due(peer, now);
                None
            }
            Kind::Backward(rm) => {
                if self.directions[peer].end.on_backward(&rm) {
                    self.note_rate(now, peer);
                    self.set_due(peer, now);
                }
                None
            }
            Kind::Data { packet, last, congestion } => {
                let received = self.directions[peer].end.receive(last, congestion)?;
                let direction = &mut self.directions[number];
                let link = direction.link;
                // AAL5's length and CRC: what lost a cell, or has cells of another before it.
                let (front, cells) = direction.under_way.pop_front()?;
                debug_assert_eq!(front, packet, "cells of a direction keep their order");
                Some(match received == cells {
                    true => AtmEvent::Arrived { link, packet },
                    false => AtmEvent::Lost { link, packet },
                })
            }
        }
    }

    fn note_rate(&mut self, at: Time, direction: usize) {
        if let Some(notes) = &mut self.notes {
            let Direction { link, end, .. } = &self.directions[direction];
            notes.push(CellNote::Rate { link: *link, at, cells: end.rate() });
        }
    }

    /// Computes exact rates for the ports that tell them; `elapsed` seconds after the last time.
    #[cold]
    fn compute_shares(&mut self, elapsed: f64) {
        let mut known = vec![(false, 0); self.directions.len()];
        let mut capacity = vec![f64::INFINITY; self.ports.len()];
        for port in &mut self.ports {
            let Allocation::MaxMin(max_min) = &mut port.allocation else { continue };
            for (direction, cells) in max_min.cells.iter_mut().enumerate() {
                let [own, answers] = std::mem::take(cells);
                known[direction].0 |= own > 0;
                known[direction].1 = known[direction].1.max(answers);
            }
        }
        for (direction, known) in self.directions.iter().zip(&mut known) {
            known.0 |= direction.end.has_data();
            known.1 = if known.0 { 0 } else { known.1 };
        }
        if known == self.known && elapsed > 0.0 {
            return;
        }
        for (port, capacity) in self.ports.iter().zip(&mut capacity) {
            if let Allocation::MaxMin(max_min) = &port.allocation {
                *capacity = max_min.target;
            }
        }
        let mut input: Vec<(Option<f64>, Vec<u32>)> = Vec::with_capacity(self.directions.len());
        for (direction, (in_use, answers)) in self.directions.iter().zip(&known) {
            if *answers > 0 && elapsed > 0.0 {
                for port in &direction.path {
                    let left = &mut capacity[*port as usize];
                    *left = (*left - f64::from(*answers) / elapsed).max(1.0);
                }
            }
            input.push((in_use.then_some(direction.end.peak()), direction.path.clone()));
        }
        let mut filled = fill(&capacity, &input);
        for number in 0..self.directions.len() {
            let filled = filled[number].take().or_else(|| {
                input[number].0 = Some(self.directions[number].end.peak());
                let joined = fill(&capacity, &input)[number].take();
                input[number].0 = None;
                joined
            });
            for port in &self.directions[number].path {
                let Allocation::MaxMin(max_min) = &mut self.ports[*port as usize].allocation else {
                    continue;
                };
                let told = filled.as_ref().filter(|filled| filled.full.contains(port));
                max_min.rates[number] = told.map_or(max_min.target, |told| told.rate);
            }
        }
        self.known = known;
    }
}

#[cfg(test)]
mod tests;
