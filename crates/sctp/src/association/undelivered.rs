//! Messages that will not be delivered, for who wants them back (RFC 9260 §11.2,
//! SEND FAILURE).

use super::Association;
use crate::outgoing::{Fragment, Message};
use std::collections::VecDeque;

/// User data that was not acknowledged when the association ended, or that was
/// given up: what was sent chunk by chunk, what was not whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undelivered {
    /// What the user gave, or what a chunk had of it.
    pub message: Message,
    /// It was sent.
    pub sent: bool,
}

/// Those that the user has not taken.
#[derive(Debug, Default)]
pub(super) struct List(VecDeque<Undelivered>);

/// They are kept up to this number.
const MOST: usize = 1024;

impl Association {
    /// The next message that will not be delivered, where the settings ask to
    /// keep them.
    pub fn poll_undelivered(&mut self) -> Option<Undelivered> {
        self.undelivered.as_mut()?.0.pop_front()
    }

    fn keep(&mut self, undelivered: Undelivered) {
        let list = &mut self.undelivered.get_or_insert_default().0;
        if list.len() < MOST {
            list.push_back(undelivered);
        }
    }

    /// A chunk was given up.
    pub(super) fn keep_abandoned(&mut self, fragment: &Fragment) {
        if self.config.keep_undelivered && !fragment.payload.is_empty() {
            let message = fragment.as_message();
            self.keep(Undelivered { message, sent: true });
        }
    }

    /// The association ends: all that it holds.
    pub(super) fn keep_all(&mut self) {
        if !self.config.keep_undelivered {
            return;
        }
        let left: Vec<Message> =
            self.flight.undelivered().map(|fragment| fragment.as_message()).collect();
        for message in left {
            self.keep(Undelivered { message, sent: true });
        }
        for message in self.outgoing.drain() {
            self.keep(Undelivered { message, sent: false });
        }
    }
}
