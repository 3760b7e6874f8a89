//! Messages that will not be delivered, for who wants them back (RFC 9260 §11.2,
//! SEND FAILURE).

use super::Sender;
use crate::config::Config;
use crate::message::Message;
use crate::queue::Fragment;
use std::collections::VecDeque;

/// They are kept up to this number.
const MOST: usize = 1024;

/// User data that was not acknowledged when the association ended, or that was
/// given up: what was sent chunk by chunk, what was not whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undelivered {
    /// What the user gave, or what a chunk had of it.
    pub message: Message,
    /// It was sent.
    pub sent: bool,
}

/// `List` has those that the user has not taken.
#[derive(Debug, Default)]
pub(crate) struct List(VecDeque<Undelivered>);

impl List {
    fn keep(&mut self, undelivered: Undelivered) {
        if self.0.len() < MOST {
            self.0.push_back(undelivered);
        }
    }
}

impl Sender {
    /// The next message that will not be delivered.
    pub fn poll_undelivered(&mut self) -> Option<Undelivered> {
        self.undelivered.as_mut()?.0.pop_front()
    }

    pub(super) fn keep(&mut self, message: Message, sent: bool) {
        self.undelivered.get_or_insert_default().keep(Undelivered { message, sent });
    }

    /// A chunk was given up.
    pub(super) fn keep_abandoned(&mut self, fragment: &Fragment) {
        if !fragment.payload.is_empty() {
            self.keep(fragment.as_message(), true);
        }
    }

    /// The association ends: all that it holds, where the settings ask for it.
    pub fn keep_all(&mut self, config: &Config) {
        if !config.keep_undelivered {
            return;
        }
        let left: Vec<Message> =
            self.flight.undelivered().map(|fragment| fragment.as_message()).collect();
        left.into_iter().for_each(|message| self.keep(message, true));
        self.outgoing.drain().into_iter().for_each(|message| self.keep(message, false));
    }
}
