//! Time: until when it passes, and what the stack does meanwhile.

use super::{Runner, Sent};
use crate::report::Traced;
use crate::stack::Outcome;
use anabranch_units::{Span, Time};
use anabranch_wire::Packet;
use anabranch_wire::tcp::udp;

/// Packets that a stack may send without the clock moving.
const MOST_AT_ONCE: u32 = 100_000;

/// Longest time for which a packet at any time, or a call that blocks, is awaited.
const LONGEST: Span = Span::from_secs(3600);
/// The longest time that a script may let pass where somebody waits for it.
const LONGEST_IN_REAL_TIME: Span = Span::from_secs(150);

impl Runner<'_> {
    /// Lets time pass until `to`, with what the stack does meanwhile.
    pub(super) fn advance(&mut self, to: Time) {
        self.settle();
        while self.wait(to) {}
        self.now = self.now.max(to);
        self.look_at_clock();
    }

    /// Lets time pass to the next thing that the stack does by itself; false when
    /// there is nothing up to `limit`.
    pub(super) fn wait(&mut self, limit: Time) -> bool {
        let Some(at) = self.stack.wait(self.now, limit) else { return false };
        self.now = self.now.max(at);
        self.settle();
        // A deadline that stays after it has passed must not stop the clock.
        if self.stack.clock().is_none() && self.stack.poll_timeout() <= at {
            self.now = self.now.saturating_add(Span::from_micros(1));
        }
        true
    }

    /// Returns how long something without a date is awaited.
    pub(super) fn longest(&self) -> Span {
        match self.stack.clock() {
            None => LONGEST,
            Some(_) => LONGEST_IN_REAL_TIME,
        }
    }

    /// Real time has gone on meanwhile.
    pub(super) fn look_at_clock(&mut self) {
        if let Some(time) = self.stack.clock() {
            self.now = self.now.max(time);
        }
    }

    /// Takes what the stack sends, and what calls return.
    pub(super) fn settle(&mut self) {
        for _ in 0..MOST_AT_ONCE {
            // The user first, so that what is read and written is in the
            // packets that follow.
            let waits = self.pending.as_ref().is_some_and(|pending| pending.returned.is_none());
            let returned = match waits {
                true => self.stack.retry(self.now),
                false => Outcome::Pending,
            };
            let moved = match (returned, &mut self.pending) {
                (Outcome::Done(returned), Some(pending)) => {
                    pending.returned = Some((self.now, returned));
                    true
                }
                _ => false,
            };
            let packet = self.stack.poll_transmit(self.now);
            let sent = packet.is_some();
            if let Some(packet) = packet.filter(|_| self.link_up) {
                self.note(false, &packet);
                let (udp, packet) = match udp::unwrap(&packet) {
                    Some((ports, inner)) => (Some(ports), inner),
                    None => (None, packet),
                };
                self.outbox.push_back(Sent { time: self.now, packet, udp });
            }
            if !sent && !moved {
                return;
            }
        }
    }

    pub(super) fn note(&mut self, inbound: bool, packet: &Packet) {
        if let Some(trace) = &mut self.trace {
            trace.push(Traced { time: self.now, inbound, packet: packet.clone() });
        }
    }
}
