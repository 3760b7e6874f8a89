//! Messages whose fragments are I-DATA are put together here (RFC 8260 §2.1): each has its number,
//! and fragments of several messages may alternate.

use super::Violation;
use crate::message::Message;
use anabranch_units::Serial32;
use anabranch_wire::Payload;
use anabranch_wire::sctp::{DataFlags, IDataChunk};
use std::collections::BTreeMap;

/// A `Key` names a message: its stream, whether it is unordered, and its message identifier.
pub(super) type Key = (u16, bool, u32);

/// `Fragments` are those of one message that have arrived.
#[derive(Debug, Default)]
struct Fragments {
    /// `parts` has the fragments by their sequence numbers.
    parts: BTreeMap<u32, Payload>,
    /// `last` is the fragment sequence number of the last, once that has arrived.
    last: Option<u32>,
    ppid: u32,
    /// `tsn` is the TSN of the first.
    tsn: Serial32,
    len: u64,
    /// `given` is the number of the fragment that is to be handed over next, where the message is
    /// delivered in parts.
    given: Option<u32>,
}

/// A `Progress` says what a fragment has made of its message.
pub(super) enum Progress {
    Nothing,
    Whole(Whole),
    Piece(Piece),
}

/// A `Piece` has fragments in a row of a message that is delivered in parts.
pub(super) struct Piece {
    pub key: Key,
    pub payload: Payload,
    pub ppid: u32,
    pub tsn: Serial32,
    pub pieces: u64,
    /// `first` says that the message begins with it.
    pub first: bool,
    /// `ends` says that the message ends with it.
    pub ends: bool,
}

impl Fragments {
    /// Takes the fragments that follow what was handed over.
    fn take(&mut self, key: Key) -> Option<Piece> {
        let from = self.given?;
        let mut taken = Vec::new();
        let mut next = from;
        while let Some(payload) = self.parts.remove(&next) {
            taken.push(payload);
            next += 1;
        }
        if taken.is_empty() {
            return None;
        }
        let (payload, pieces) = (Payload::join(taken.iter()), taken.len() as u64);
        self.given = Some(next);
        self.len -= payload.len() as u64;
        let (first, ends) = (from == 0, self.last.is_some_and(|last| next > last));
        Some(Piece { key, payload, ppid: self.ppid, tsn: self.tsn, pieces, first, ends })
    }
}

/// A `Whole` is a message that is complete, with the number of its fragments.
pub(super) struct Whole {
    pub message: Message,
    pub mid: u32,
    pub tsn: Serial32,
    pub pieces: u64,
}

/// `Forgotten` counts the octets and fragments that were forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Forgotten {
    pub octets: u64,
    pub pieces: u64,
}

#[derive(Debug, Default)]
pub(super) struct Interleaved {
    messages: BTreeMap<Key, Fragments>,
    /// `aborted` names the messages that were delivered in part, and whose rest is not coming.
    aborted: Vec<Key>,
}

impl Interleaved {
    /// Inserts a fragment that is not a whole message; returns what that has made of its message.
    pub fn insert(&mut self, data: &IDataChunk) -> Result<Progress, Violation> {
        let unordered = data.flags.contains(DataFlags::UNORDERED);
        let key = (data.stream, unordered, data.mid);
        let begins = data.flags.contains(DataFlags::BEGIN);
        let fsn = if begins { 0 } else { data.ppid_or_fsn };
        if fsn == 0 && !begins {
            return Err(Violation("a second first fragment"));
        }
        let message = self.messages.entry(key).or_default();
        let beyond = message.last.is_some_and(|last| fsn > last);
        if data.flags.contains(DataFlags::END) {
            let given = message.given.map_or(0, |next| next.saturating_sub(1));
            let highest = message.parts.last_key_value().map_or(given, |(highest, _)| *highest);
            if message.last.is_some() || highest > fsn {
                return Err(Violation("a message with two ends"));
            }
            message.last = Some(fsn);
        } else if beyond || message.last == Some(fsn) {
            return Err(Violation("a fragment behind the end of its message"));
        }
        if begins {
            message.ppid = data.ppid_or_fsn;
            message.tsn = data.tsn;
        }
        message.len += data.payload.len() as u64;
        let given = message.given.is_some_and(|next| fsn < next);
        if message.parts.insert(fsn, data.payload.clone()).is_some() || given {
            return Err(Violation("two fragments with one number"));
        }
        if message.given.is_some() {
            let piece = message.take(key);
            if piece.as_ref().is_some_and(|piece| piece.ends) {
                self.messages.remove(&key);
            }
            return Ok(piece.map_or(Progress::Nothing, Progress::Piece));
        }
        let complete = message.last.is_some_and(|last| message.parts.len() as u64 > last as u64);
        if !complete {
            return Ok(Progress::Nothing);
        }
        let whole = self.messages.remove(&key).expect("it was completed");
        let pieces = whole.parts.len() as u64;
        let payload = Payload::join(whole.parts.values());
        let message = Message { unordered, ppid: whole.ppid, ..Message::new(data.stream, payload) };
        Ok(Progress::Whole(Whole { message, mid: data.mid, tsn: whole.tsn, pieces }))
    }

    /// Begins to deliver in parts the longest message whose turn it is, if its first fragment has
    /// arrived and it has at least `least` octets.
    pub fn open(&mut self, least: u64, in_turn: impl Fn(&Key) -> bool) -> Option<Piece> {
        let ripe =
            |it: &Fragments| it.given.is_none() && it.len >= least && it.parts.contains_key(&0);
        let ripe = self.messages.iter_mut().filter(|(key, it)| ripe(it) && in_turn(key));
        let (key, message) = ripe.max_by_key(|(_, it)| it.len)?;
        message.given = Some(0);
        message.take(*key)
    }

    /// Returns the messages that are being delivered in parts, which end with the association.
    pub fn take_open(&mut self) -> Vec<Key> {
        let open = self.messages.iter().filter(|(_, it)| it.given.is_some());
        open.map(|(key, _)| *key).collect()
    }

    /// Takes the messages whose rest is not coming, since this was asked last.
    pub fn take_aborted(&mut self) -> Vec<Key> {
        std::mem::take(&mut self.aborted)
    }

    /// Forgets the messages of the stream up to `mid`, which are not coming (RFC 8260 §2.3).
    pub fn skip(&mut self, stream: u16, unordered: bool, mid: u32) -> Forgotten {
        let mut gone = Forgotten::default();
        let aborted = &mut self.aborted;
        self.messages.retain(|key, fragments| {
            let behind = mid.wrapping_sub(key.2) < 1 << 31;
            let keep = (key.0, key.1) != (stream, unordered) || !behind;
            if !keep {
                aborted.extend(fragments.given.map(|_| *key));
                gone.octets += fragments.len;
                gone.pieces += fragments.parts.len() as u64;
            }
            keep
        });
        gone
    }

    /// Forgets the fragments of a stream that starts anew.
    pub fn reset(&mut self, stream: u16) -> Forgotten {
        let mut gone = Forgotten::default();
        let aborted = &mut self.aborted;
        self.messages.retain(|key, fragments| {
            let keep = key.0 != stream;
            if !keep {
                aborted.extend(fragments.given.map(|_| *key));
                gone.octets += fragments.len;
                gone.pieces += fragments.parts.len() as u64;
            }
            keep
        });
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(flags: u8, mid: u32, ppid_or_fsn: u32, octets: &[u8]) -> IDataChunk {
        let (flags, tsn, payload) = (DataFlags(flags), Serial32(0), Payload::of_octets(octets));
        IDataChunk { flags, tsn, stream: 1, mid, ppid_or_fsn, payload }
    }

    #[test]
    fn fragments_of_two_messages_alternate() {
        let mut r = Interleaved::default();
        let insert = |r: &mut Interleaved, chunk| match r.insert(&chunk).unwrap() {
            Progress::Whole(w) => Some((w.mid, w.message.ppid, w.message.payload, w.pieces)),
            _ => None,
        };
        assert_eq!(insert(&mut r, fragment(2, 7, 99, b"ab")), None);
        assert_eq!(insert(&mut r, fragment(1, 8, 1, b"yz")), None);
        assert_eq!(insert(&mut r, fragment(1, 7, 2, b"ef")), None);
        let first = Payload::of_octets(*b"abcdef");
        assert_eq!(insert(&mut r, fragment(0, 7, 1, b"cd")), Some((7, 99, first, 3)));
        let second = Payload::of_octets(*b"wxyz");
        assert_eq!(insert(&mut r, fragment(2, 8, 51, b"wx")), Some((8, 51, second, 2)));
    }

    #[test]
    fn fragments_that_contradict_each_other_are_a_violation() {
        for (first, second) in [
            (fragment(1, 0, 3, b"a"), fragment(1, 0, 5, b"b")), // two ends
            (fragment(1, 0, 3, b"a"), fragment(0, 0, 4, b"b")), // behind the end
            (fragment(0, 0, 3, b"a"), fragment(1, 0, 2, b"b")), // an end before a fragment
            (fragment(0, 0, 3, b"a"), fragment(0, 0, 3, b"b")), // the same number
            (fragment(2, 0, 9, b"a"), fragment(0, 0, 0, b"b")), // a first without B
        ] {
            let mut r = Interleaved::default();
            r.insert(&first).unwrap();
            assert!(r.insert(&second).is_err(), "{first:?} {second:?}");
        }
    }

    #[test]
    fn what_is_skipped_is_forgotten() {
        let mut r = Interleaved::default();
        for mid in [u32::MAX, 0, 1] {
            r.insert(&fragment(2, mid, 0, b"abc")).unwrap();
        }
        let two = Forgotten { octets: 6, pieces: 2 };
        assert_eq!(r.skip(1, true, 5), Forgotten::default(), "another number space");
        assert_eq!(r.skip(1, false, 0), two, "numbers wrap");
        assert_eq!(r.reset(1), Forgotten { octets: 3, pieces: 1 });
    }
}
