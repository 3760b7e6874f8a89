//! Service by a discipline that holds the packets: it is asked for the next
//! one when the transmitter is free.

use crate::queue::{Item, Losses, Scheduler, Waiting};
use crate::transmitter::Transmitter;
use anabranch_units::{Rate, Time};
use anabranch_wire::Packet;

#[derive(Debug)]
pub(super) struct Held {
    scheduler: Box<Scheduler>,
    transmitter: Transmitter,
    free_at: Time,
    /// Time at which the discipline is asked next; [`Time::NEVER`] while it holds nothing.
    pub serve_at: Time,
    pub waiting: Waiting,
    /// Something else asks it for packets, and it never serves by itself.
    pulled: bool,
    /// The discipline may hold packets while the line is free, until a date that may change with
    /// each that comes.
    shapes: bool,
    /// `losses` are what the discipline has dropped and the link has not yet counted.
    pub losses: Losses,
}

impl Held {
    pub(super) fn new(scheduler: Box<Scheduler>, transmitter: Transmitter, pulled: bool) -> Held {
        let shapes = matches!(*scheduler, Scheduler::Cake(_) | Scheduler::Htb(_));
        Held {
            scheduler,
            transmitter,
            free_at: Time::ZERO,
            serve_at: Time::NEVER,
            waiting: Waiting::default(),
            pulled,
            shapes,
            losses: Losses::new(),
        }
    }

    pub(super) fn transmitter(&self) -> &Transmitter {
        &self.transmitter
    }

    /// Takes an explicit rate that holds from a date on.
    pub(super) fn grant(&mut self, from: Time, rate: Rate) {
        if let Transmitter::Explicit(explicit) = &mut self.transmitter {
            explicit.grant(from, rate);
        }
    }

    /// Returns whether a packet waits or is being sent.
    pub(super) fn is_sending(&self, now: Time) -> bool {
        self.waiting.packets > 0 || now < self.free_at
    }

    /// Takes a packet to the queue. What is dropped for it is in `losses`, perhaps itself.
    pub(super) fn join(&mut self, now: Time, item: Item, packet: &Packet) {
        self.waiting.add(item.size);
        self.scheduler.enqueue(item, packet, &mut self.losses);
        self.forget_losses(0);
        if self.waiting.packets == 0 {
            self.serve_at = Time::NEVER;
        } else if (self.serve_at == Time::NEVER || self.shapes) && !self.pulled {
            self.serve_at = self.ready(now);
        }
    }

    /// The packet that goes to the line at `now`, and when it has left it.
    /// What is dropped before it is in `losses`.
    pub(super) fn serve(&mut self, now: Time) -> Option<(Item, Time)> {
        let before = self.losses.len();
        let item = self.scheduler.dequeue(now, &mut self.losses);
        self.forget_losses(before);
        let served = item.map(|item| {
            self.waiting.remove(item.size);
            self.free_at = self.transmitter.departure(now, item.size);
            (item, self.free_at)
        });
        self.serve_at = match self.waiting.packets {
            0 => Time::NEVER,
            _ if self.pulled => Time::NEVER,
            _ => self.ready(now),
        };
        served
    }

    /// Returns when the line is free and the discipline gives a packet.
    fn ready(&self, now: Time) -> Time {
        self.transmitter.ready(now.max(self.free_at).max(self.scheduler.opens_at()))
    }

    /// Returns whether packets wait for who asks for them.
    pub(super) fn calls(&self) -> bool {
        self.pulled && self.waiting.packets > 0
    }

    fn forget_losses(&mut self, from: usize) {
        for (item, _) in &self.losses[from..] {
            self.waiting.remove(item.size);
        }
    }
}
