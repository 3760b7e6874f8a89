//! Virtual time: until when it passes, and what the stack does meanwhile.

use super::{Runner, Sent};
use crate::report::Traced;
use crate::stack::{Outcome, Stack};
use anabranch_units::{Span, Time};
use anabranch_wire::Packet;

/// Packets that a stack may send without the clock moving.
const MOST_AT_ONCE: u32 = 100_000;

impl<S: Stack> Runner<'_, S> {
    /// Lets time pass.
    pub(super) fn advance(&mut self, to: Time) {
        self.settle();
        while !self.is_idle_until(to) {
            self.expire();
        }
        self.now = self.now.max(to);
    }

    /// The stack has no deadline up to `limit`.
    pub(super) fn is_idle_until(&self, limit: Time) -> bool {
        let due = self.stack.poll_timeout();
        due > limit || due == Time::NEVER
    }

    /// The stack's next deadline passes.
    pub(super) fn expire(&mut self) {
        // A deadline that stays after it has passed must not stop the clock.
        let due = self.stack.poll_timeout().max(self.now);
        self.now = due;
        self.stack.handle_timeout(due);
        self.settle();
        if self.stack.poll_timeout() <= due {
            self.now = due.saturating_add(Span::from_micros(1));
        }
    }

    /// Takes what the stack sends, and what calls return.
    pub(super) fn settle(&mut self) {
        for _ in 0..MOST_AT_ONCE {
            // The user first, so that what is read and written is in the
            // packets that follow.
            let waits = self.pending.as_ref().is_some_and(|it| it.returned.is_none());
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
                self.outbox.push_back(Sent { time: self.now, packet });
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
