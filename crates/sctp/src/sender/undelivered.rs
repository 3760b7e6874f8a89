//! Messages that will not be delivered are kept here, for users who want them back (RFC 9260 §11.2,
//! SEND FAILURE).

use super::Sender;
use crate::config::Config;
use crate::message::Message;
use crate::queue::Fragment;
use std::collections::VecDeque;

/// At most this many are kept.
const MOST: usize = 1024;

/// An `Undelivered` is user data that was not acknowledged when the association ended, or that was
/// given up. What was sent comes back chunk by chunk, the rest as whole messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undelivered {
    /// `message` is what the user gave, or what a chunk had of it.
    pub message: Message,
    /// `sent` says that it was sent.
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
    /// Takes the next message that will not be delivered.
    pub fn poll_undelivered(&mut self) -> Option<Undelivered> {
        self.undelivered.as_mut()?.0.pop_front()
    }

    pub(super) fn keep(&mut self, message: Message, sent: bool) {
        self.undelivered.get_or_insert_default().keep(Undelivered { message, sent });
    }

    /// Keeps a chunk that was given up.
    pub(super) fn keep_abandoned(&mut self, fragment: &Fragment) {
        if !fragment.payload.is_empty() {
            self.keep(fragment.as_message(), true);
        }
    }

    /// Keeps all that the association holds as it ends, where the settings ask for it.
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
