//! Links whose lines are virtual channels: their packets go to sources of cells and come back from
//! the far end. To the simulation all cells are one source of events, the last.

use super::{LinkObserver, Network};
use anabranch_network::abr::AtmEvent;
use anabranch_network::{LinkId, LinkWatch};
use anabranch_units::{Span, Time};

impl Network {
    /// The source of the events of cells.
    fn atm_source(&self) -> u32 {
        (self.first_channel() + self.channels.list.len()) as u32
    }

    /// A packet waits at a link, which may be a virtual channel.
    #[cold]
    pub(super) fn packets_wait(&mut self, link: LinkId) {
        if let Some(atm) = &mut self.atm
            && atm.has(link)
        {
            atm.packets_wait(self.now, link);
            let next = atm.next_event();
            self.events.set(self.atm_source(), next);
        }
    }

    /// Cells go on, up to `until` and before the next event of anything else, or until one of them
    /// is the first or the last of a packet.
    pub(super) fn run_atm(&mut self, until: Time) {
        let source = self.atm_source();
        self.events.set(source, Time::NEVER);
        let limit = match self.events.peek().0 {
            Time::NEVER => until,
            other => until.min(other - Span::from_picos(1)),
        };
        let Some(atm) = &mut self.atm else { return };
        let (at, event) = atm.advance(limit);
        self.handled += atm.take_handled().saturating_sub(1);
        if event.is_some() {
            self.now = at;
        }
        match event {
            None => {}
            Some(AtmEvent::Wants(link)) => self.give_packet(link),
            Some(AtmEvent::Arrived { link, packet }) => self.end_in_cells(link, packet, true),
            Some(AtmEvent::Lost { link, packet }) => self.end_in_cells(link, packet, false),
        }
        let Some(atm) = &mut self.atm else { return };
        let next = atm.next_event();
        if self.observers.cells() {
            for note in atm.take_notes() {
                self.observers.cell(&note);
            }
        }
        self.events.set(source, next);
    }

    /// The source of a virtual channel takes its next packet.
    fn give_packet(&mut self, link: LinkId) {
        let Some(atm) = &mut self.atm else { return };
        let rate = atm.net_rate(link);
        let mut observer;
        let watch = watch!(self, link.0, false, observer);
        let found = &mut self.links[link.0 as usize];
        match found.take_for_cells(self.now, rate, &mut self.pool, watch) {
            Some((_, octets, more)) => atm.load(self.now, link, octets, more),
            None => atm.nothing_waits(self.now, link),
        }
    }

    /// A packet is whole at the far end, or not.
    fn end_in_cells(&mut self, link: LinkId, packet: u32, whole: bool) {
        let mut observer;
        let watch = watch!(self, link.0, false, observer);
        let found = &mut self.links[link.0 as usize];
        let next = found.end_in_cells(self.now, packet, whole, &mut self.pool, watch);
        self.events.set(link.0, next);
    }
}
