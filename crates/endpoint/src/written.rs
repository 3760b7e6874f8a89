//! What an application has written, where a connection carries real octets.

use anabranch_wire::Payload;
use std::collections::VecDeque;

/// What is written at once, from here on, makes a piece of its own, and so does
/// less once it is as much together.
const PIECE: usize = 4096;

/// Real octets of a stream from what is not acknowledged yet to the last that
/// was written, in pieces that the segments share.
#[derive(Debug)]
pub struct Written {
    /// Offset of the first octet kept.
    start: u64,
    /// One after the other, none of them empty; the first may begin below `start`.
    pieces: VecDeque<Piece>,
    /// Octets written after the last piece; they become a piece when there are enough of them.
    open: Vec<u8>,
    /// The piece that the last octets asked for were in; the next ones are in it
    /// as a rule, or in the one after it.
    last: usize,
}

#[derive(Debug)]
struct Piece {
    start: u64,
    octets: Payload,
}

impl Piece {
    fn end(&self) -> u64 {
        self.start + self.octets.len() as u64
    }
    fn holds(&self, offset: u64) -> bool {
        self.start <= offset && offset < self.end()
    }
}

impl Written {
    /// Nothing, before `start`.
    pub fn starting_at(start: u64) -> Written {
        Written { start, pieces: VecDeque::new(), open: Vec::new(), last: 0 }
    }
    /// Returns how many octets are kept: written and not released.
    pub fn len(&self) -> u64 {
        self.end() - self.start
    }
    /// Offset at which the pieces end and `open` begins.
    fn open_at(&self) -> u64 {
        self.pieces.back().map_or(self.start, Piece::end)
    }
    /// Offset after the last octet written.
    fn end(&self) -> u64 {
        self.open_at() + self.open.len() as u64
    }
    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Appends a copy of `octets` to the stream.
    pub fn append(&mut self, octets: &[u8]) {
        if self.open.is_empty() && octets.len() >= PIECE {
            return self.push(Payload::of_octets(octets));
        }
        self.open.extend_from_slice(octets);
        if self.open.len() >= PIECE {
            self.close();
        }
    }
    /// Appends real octets, and shares them.
    pub fn push(&mut self, octets: Payload) {
        self.close();
        self.add(octets);
    }
    fn add(&mut self, octets: Payload) {
        if !octets.is_empty() {
            self.pieces.push_back(Piece { start: self.open_at(), octets });
        }
    }
    /// Makes a piece of what is not one yet.
    fn close(&mut self) {
        if !self.open.is_empty() {
            self.add(Payload::of_octets(&self.open));
            self.open.clear();
        }
    }
    /// The `len` octets from `offset` on; all of them are kept. They are copied
    /// only where they lie in several pieces.
    pub fn payload(&mut self, offset: u64, len: u32) -> Payload {
        let end = offset + len as u64;
        if end > self.open_at() {
            self.close();
        }
        assert!(offset >= self.start && end <= self.open_at(), "octets that are kept");
        let first = self.find(offset);
        self.last = first;
        let part = |piece: &Piece| {
            let (from, to) = (offset.max(piece.start), end.min(piece.end()));
            piece.octets.part((from - piece.start) as u32, (to - from) as u32)
        };
        match self.pieces.get(first) {
            None => Payload::EMPTY,
            Some(piece) if piece.end() >= end => part(piece),
            Some(_) => {
                let touched = self.pieces.range(first..).take_while(|piece| piece.start < end);
                let parts: Vec<Payload> = touched.map(part).collect();
                Payload::join(parts.iter())
            }
        }
    }
    /// The piece that `offset` is in, or how many there are.
    fn find(&self, offset: u64) -> usize {
        let is_in = |item: &usize| self.pieces.get(*item).is_some_and(|piece| piece.holds(offset));
        let near = [self.last, self.last + 1].into_iter().find(is_in);
        near.unwrap_or_else(|| self.pieces.partition_point(|piece| piece.end() <= offset))
    }
    /// Takes the first `len` octets, which are kept.
    pub fn take(&mut self, len: u32) -> Payload {
        let taken = self.payload(self.start, len);
        self.drop_below(self.start + len as u64);
        taken
    }
    /// Drops what lies below `offset`.
    pub fn drop_below(&mut self, offset: u64) {
        if offset > self.open_at() {
            self.close();
        }
        self.start = offset.clamp(self.start, self.end());
        while self.pieces.front().is_some_and(|piece| piece.end() <= self.start) {
            self.pieces.pop_front();
            self.last = self.last.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;

    /// Random operations beside a vector that never forgets.
    #[test]
    fn any_sequence_of_operations_gives_the_octets_of_a_plain_vector() {
        let mut generator = Generator::from_u64(7);
        let mut below = move |n: u64| generator.below(n);
        for _ in 0..20 {
            let mut written = Written::starting_at(1);
            let (mut model, mut start) = (vec![0_u8], 1);
            for step in 0..400 {
                let most = if below(4) == 0 { 3 * PIECE as u64 } else { 40 };
                let piece: Vec<u8> = (0..below(most)).map(|i| (step + i) as u8).collect();
                let kept = model.len() as u64 - start;
                match below(4) {
                    0 => {
                        written.append(&piece);
                        model.extend(&piece);
                    }
                    1 => {
                        written.push(Payload::of_octets(&piece));
                        model.extend(&piece);
                    }
                    2 => {
                        start += below(kept.min(6000) + 1);
                        written.drop_below(start);
                        written.drop_below(start - 1);
                    }
                    _ => {
                        let at = start + below(kept + 1);
                        let len = below(model.len() as u64 - at + 1).min(9000);
                        let expected = &model[at as usize..(at + len) as usize];
                        let payload = written.payload(at, len as u32);
                        assert_eq!(payload.octets().unwrap_or_default(), expected);
                    }
                }
                assert_eq!(written.len(), model.len() as u64 - start);
                assert_eq!(written.is_empty(), start == model.len() as u64);
            }
        }
    }

    /// Segments of a piece are no copies, across two they are.
    #[test]
    fn segments_share_what_was_written_at_once() {
        let mut written = Written::starting_at(1);
        written.append(&[1; PIECE]);
        written.append(&[2; PIECE]);
        let places = |offset: u64, written: &mut Written| {
            written.payload(offset, 1000).octets().unwrap().as_ptr() as usize
        };
        let first = places(1, &mut written);
        assert_eq!(places(1001, &mut written), first + 1000);
        let across = written.payload(PIECE as u64 - 499, 1000);
        assert_eq!(across.octets().unwrap(), [[1; 500], [2; 500]].as_flattened());
    }

    /// Single octets, as of somebody who types, are pieces when they are sent.
    #[test]
    fn what_is_written_little_by_little_is_sent_as_it_is_asked_for() {
        let mut written = Written::starting_at(1);
        for octet in b"ana" {
            written.append(&[*octet]);
        }
        assert_eq!(written.payload(1, 2).octets(), Some(&b"an"[..]));
        written.append(b"branch");
        assert_eq!(written.payload(3, 7).octets(), Some(&b"abranch"[..]));
        written.drop_below(10);
        assert!(written.is_empty() && written.pieces.is_empty());
        assert_eq!(written.payload(10, 0), Payload::EMPTY);
    }
}
