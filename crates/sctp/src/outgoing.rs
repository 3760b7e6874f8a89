//! What the user has given and nobody has sent: messages in order, cut into
//! fragments (RFC 9260 §6.9), and the byte stream on stream 0.

use anabranch_wire::Payload;
use anabranch_wire::sctp::DataFlags;
use std::collections::VecDeque;

/// A message to send, or one that has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Stream identifier.
    pub stream: u16,
    /// Delivered as soon as it is complete, whatever came before.
    pub unordered: bool,
    /// Payload protocol identifier.
    pub ppid: u32,
    /// User data, at least one octet.
    pub payload: Payload,
}

impl Message {
    /// An ordered message.
    pub fn new(stream: u16, payload: Payload) -> Message {
        Message { stream, unordered: false, ppid: 0, payload }
    }
}

/// The user data of one DATA chunk.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub flags: DataFlags,
    pub stream: u16,
    pub ssn: u16,
    pub ppid: u32,
    pub payload: Payload,
}

#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    messages: VecDeque<Message>,
    /// Octets of the first message that are sent.
    offset: u32,
    /// Octets of `messages` that are not sent.
    queued: u64,
    /// Counted octets of the byte stream.
    counted: u64,
    /// Real octets of the byte stream.
    octets: VecDeque<u8>,
    /// Next stream sequence number of each stream used so far.
    ssns: Vec<u16>,
}

impl Outgoing {
    pub fn push(&mut self, message: Message) {
        self.queued += message.payload.len() as u64;
        self.messages.push_back(message);
    }
    pub fn write(&mut self, len: u64) {
        self.counted += len;
    }
    pub fn write_octets(&mut self, octets: &[u8]) {
        self.octets.extend(octets);
    }
    /// Octets that take memory.
    pub fn held(&self) -> u64 {
        self.queued + self.octets.len() as u64
    }
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.counted == 0 && self.octets.is_empty()
    }

    /// Length of the next fragment when at most `room` fit, and messages of
    /// the byte stream have at most `size`.
    pub fn next_len(&self, room: u32, size: u32) -> Option<u32> {
        if room == 0 {
            return None;
        }
        if let Some(message) = self.messages.front() {
            return Some((message.payload.len() - self.offset).min(room));
        }
        let waiting = self.counted.max(self.octets.len() as u64);
        (waiting > 0).then(|| waiting.min(room.min(size) as u64) as u32)
    }

    /// Length of the next message's rest: what would leave unfragmented.
    pub fn next_whole(&self, size: u32) -> Option<u32> {
        match self.messages.front() {
            Some(message) => Some(message.payload.len() - self.offset),
            None => self.next_len(size, size),
        }
    }

    /// Takes the next fragment, of the length that [`Outgoing::next_len`] gave.
    pub fn take(&mut self, len: u32) -> Fragment {
        if self.messages.is_empty() {
            return self.take_bytes(len);
        }
        let message = &self.messages[0];
        let (stream, ppid) = (message.stream, message.ppid);
        let end = self.offset + len == message.payload.len();
        let mut flags = DataFlags::default();
        if self.offset == 0 {
            flags = flags.union(DataFlags::BEGIN);
        }
        if end {
            flags = flags.union(DataFlags::END);
        }
        if message.unordered {
            flags = flags.union(DataFlags::UNORDERED);
        }
        let unordered = message.unordered;
        let payload = match message.payload.octets() {
            _ if flags.contains(DataFlags::WHOLE) => message.payload.clone(),
            None => Payload::virtual_of(len),
            Some(octets) => {
                let from = self.offset as usize;
                Payload::of_octets(&octets[from..from + len as usize])
            }
        };
        self.offset += len;
        self.queued -= len as u64;
        let ssn = self.ssn(stream, end && !unordered);
        if end {
            self.messages.pop_front();
            self.offset = 0;
        }
        Fragment { flags, stream, ssn, ppid, payload }
    }

    fn take_bytes(&mut self, len: u32) -> Fragment {
        let payload = if self.counted > 0 {
            self.counted -= len as u64;
            Payload::virtual_of(len)
        } else {
            // In two pieces: octet by octet would take a nanosecond each.
            let len = len as usize;
            let (front, back) = self.octets.as_slices();
            let split = len.min(front.len());
            let octets = [&front[..split], &back[..len - split]].concat();
            self.octets.drain(..len);
            Payload::of_octets(octets)
        };
        let ssn = self.ssn(0, true);
        Fragment { flags: DataFlags::WHOLE, stream: 0, ssn, ppid: 0, payload }
    }

    /// The stream's sequence number, which the end of a message advances.
    fn ssn(&mut self, stream: u16, advance: bool) -> u16 {
        let index = stream as usize;
        if self.ssns.len() <= index {
            self.ssns.resize(index + 1, 0);
        }
        let ssn = self.ssns[index];
        self.ssns[index] = ssn.wrapping_add(advance as u16);
        ssn
    }

    /// Starts the streams anew and drops what was queued, for a restart.
    pub fn restart(&mut self) {
        *self = Outgoing::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_into_fragments_with_one_sequence_number() {
        let mut out = Outgoing::default();
        out.push(Message::new(2, Payload::of_octets(*b"abcdefgh")));
        out.push(Message::new(2, Payload::of_octets(*b"ij")));
        let mut next = || {
            let len = out.next_len(3, 3)?;
            let f = out.take(len);
            Some((f.flags.0, f.ssn, f.payload.octets().unwrap().to_vec()))
        };
        assert_eq!(next(), Some((2, 0, b"abc".to_vec())));
        assert_eq!(next(), Some((0, 0, b"def".to_vec())));
        assert_eq!(next(), Some((1, 0, b"gh".to_vec())));
        assert_eq!(next(), Some((3, 1, b"ij".to_vec())));
        assert_eq!(next(), None);
    }

    #[test]
    fn unordered_messages_take_no_sequence_number() {
        let mut out = Outgoing::default();
        let message = Message::new(0, Payload::virtual_of(5));
        out.push(Message { unordered: true, ..message.clone() });
        out.push(message);
        assert_eq!((out.take(5).flags.0, out.take(5).ssn), (7, 0));
        assert!(out.is_empty() && out.held() == 0);
    }

    #[test]
    fn the_byte_stream_makes_whole_messages() {
        let mut out = Outgoing::default();
        out.write(2500);
        assert_eq!(out.next_len(1452, 1000), Some(1000));
        let fragment = out.take(1000);
        assert_eq!((fragment.flags, fragment.ssn), (DataFlags::WHOLE, 0));
        assert_eq!(out.next_len(1452, 1452), Some(1452));
        assert_eq!((out.take(1452).ssn, out.next_len(1452, 1452)), (1, Some(48)));
    }
}
