//! A queue holds messages in order and cuts them into the fragments that chunks carry (RFC 9260
//! §6.9); their numbers are counted here, too.

use crate::message::Message;
use crate::reliability::Reliability;
use anabranch_wire::Payload;
use anabranch_wire::sctp::DataFlags;
use std::collections::VecDeque;

/// A `Fragment` is the user data of one DATA or I-DATA chunk.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    /// `flags` say whether the fragment begins or ends its message, how that is delivered, and
    /// whether a SACK is asked for at once.
    pub flags: DataFlags,
    /// `stream` is the stream identifier.
    pub stream: u16,
    /// `number` is the stream sequence number, or with interleaving the message identifier.
    pub number: u32,
    /// `ppid_or_fsn` is the payload protocol identifier; in fragments of I-DATA after the first it
    /// is the fragment sequence number.
    pub ppid_or_fsn: u32,
    /// `payload` is the user data.
    pub payload: Payload,
}

impl Fragment {
    pub fn is_unordered(&self) -> bool {
        self.flags.contains(DataFlags::UNORDERED)
    }

    /// Returns its user data as a message of its own.
    pub fn as_message(&self) -> Message {
        let (stream, unordered) = (self.stream, self.is_unordered());
        let ppid = self.ppid_or_fsn;
        let immediate = self.flags.contains(DataFlags::IMMEDIATE);
        Message { stream, unordered, ppid, immediate, payload: self.payload.clone() }
    }

    /// Returns whether both fragments may be of one message.
    pub fn is_sibling(&self, other: &Fragment) -> bool {
        (self.stream, self.number, self.is_unordered())
            == (other.stream, other.number, other.is_unordered())
    }
}

/// A `Queue` holds messages in order.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// `messages` has each message with how long it is worth sending.
    pub messages: VecDeque<(Message, Reliability)>,
    /// `offset` is how many octets of the first message have been sent.
    offset: u32,
    /// `fragments` is how many fragments of the first message have been sent.
    fragments: u32,
}

impl Queue {
    /// Returns whether a part of the first message has been sent.
    pub fn is_begun(&self) -> bool {
        self.offset > 0
    }
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
    /// Returns how many octets of the first message have not been sent; `None` when the queue is
    /// empty.
    pub fn rest(&self) -> Option<u32> {
        Some(self.messages.front()?.0.payload.len() - self.offset)
    }
    /// Returns the length of the first message in octets; `None` when the queue is empty.
    pub fn first_len(&self) -> Option<u32> {
        Some(self.messages.front()?.0.payload.len())
    }
    /// Drops the first message. Returns how many of its octets had not been sent.
    pub fn drop_first(&mut self) -> u32 {
        let rest = self.rest().unwrap_or(0);
        self.messages.pop_front();
        (self.offset, self.fragments) = (0, 0);
        rest
    }

    /// Takes the next `len` octets of the first message as a fragment, with how long the message is
    /// worth sending.
    #[inline]
    pub fn take(&mut self, len: u32, numbers: &mut Numbers) -> (Fragment, Reliability) {
        if self.offset == 0
            && self.first_len() == Some(len)
            && let Some((message, limit)) = self.messages.pop_front()
        {
            return (numbers.whole(message), limit);
        }
        self.take_part(len, numbers)
    }

    #[inline(never)]
    fn take_part(&mut self, len: u32, numbers: &mut Numbers) -> (Fragment, Reliability) {
        let (message, limit) = &self.messages[0];
        let (stream, limit, unordered) = (message.stream, *limit, message.unordered);
        let immediate = message.immediate;
        let end = self.offset + len == message.payload.len();
        let mut flags = DataFlags::default();
        if self.offset == 0 {
            flags = flags.union(DataFlags::BEGIN);
        }
        if end {
            flags = flags.union(DataFlags::END);
        }
        if unordered {
            flags = flags.union(DataFlags::UNORDERED);
        }
        if end && immediate {
            flags = flags.union(DataFlags::IMMEDIATE);
        }
        let payload = message.payload.part(self.offset, len);
        let ppid_or_fsn = match self.fragments {
            fsn if numbers.interleaving && fsn > 0 => fsn,
            _ => message.ppid,
        };
        self.offset += len;
        self.fragments += 1;
        let number = numbers.take(stream, unordered, end);
        if end {
            self.drop_first();
        }
        (Fragment { flags, stream, number, ppid_or_fsn, payload }, limit)
    }
}

/// `Numbers` are the numbers of messages: stream sequence numbers or, with interleaving, message
/// identifiers, which count unordered messages apart (RFC 8260 §2.1).
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// `next` has the next number of each stream used so far: of ordered messages, and of unordered
    /// ones.
    pub next: Vec<[u32; 2]>,
    /// `interleaving` says that messages are numbered as I-DATA has it.
    pub interleaving: bool,
}

impl Numbers {
    /// Makes one fragment of a message that is not cut.
    #[inline]
    fn whole(&mut self, message: Message) -> Fragment {
        let Message { stream, unordered, ppid, immediate, payload } = message;
        let mut flags = DataFlags::WHOLE;
        if unordered {
            flags = flags.union(DataFlags::UNORDERED);
        }
        if immediate {
            flags = flags.union(DataFlags::IMMEDIATE);
        }
        let number = self.take(stream, unordered, true);
        Fragment { flags, stream, number, ppid_or_fsn: ppid, payload }
    }

    /// Returns the stream sequence number of the stream's next message, or of the one in progress.
    pub fn ssn(&self, stream: u16) -> u16 {
        self.next.get(stream as usize).map_or(0, |next| next[0] as u16)
    }

    /// Returns the number of the stream's message in progress. Its `end` uses the number up, save
    /// that unordered messages of DATA use up none.
    pub fn take(&mut self, stream: u16, unordered: bool, end: bool) -> u32 {
        let index = stream as usize;
        if self.next.len() <= index {
            self.next.resize(index + 1, [0; 2]);
        }
        let next = &mut self.next[index];
        if !self.interleaving {
            let number = next[0] as u16;
            next[0] = number.wrapping_add((end && !unordered) as u16) as u32;
            return number as u32;
        }
        let number = next[unordered as usize];
        next[unordered as usize] = number.wrapping_add(end as u32);
        number
    }
}
