//! What the user has given and nobody has sent is kept here: messages in order, or in queues of
//! their streams, cut into fragments (RFC 9260 §6.9), and the byte stream on stream 0.

use crate::message::Message;
use crate::queue::{Fragment, Numbers, Queue};
use crate::reliability::Reliability;
use crate::scheduler::{Scheduler, Streams};
use anabranch_endpoint::Written;
use anabranch_units::Time;
use anabranch_wire::Payload;
use anabranch_wire::sctp::DataFlags;

/// A `Head` says what stands at the head of the queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Head {
    /// It is the first message of the one queue.
    First,
    /// It is the first message of a stream's queue.
    Stream(u16),
    /// It is the byte stream.
    Bytes,
}

/// A `Dropped` is a message that was given up before its end was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Dropped {
    /// Nothing of it was sent.
    Unsent(Message),
    /// Some of it was sent; this is what its last fragment would have been.
    Begun { stream: u16, number: u32, unordered: bool },
}

#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    /// `first` is the one queue, first come, first served.
    first: Queue,
    /// `streams` are the queues of the streams, for the other schedulers.
    streams: Option<Box<Streams>>,
    /// `queued` counts the octets of messages that are not sent.
    queued: u64,
    /// `counted` counts the octets of the byte stream of which the number alone is known.
    counted: u64,
    /// `octets` has the real octets of the byte stream.
    octets: Option<Box<Written>>,
    numbers: Numbers,
    scheduler: Scheduler,
    /// `dated` says that there have been messages with a date.
    dated: bool,
}

/// Returns how many real octets wait.
fn written(octets: &Option<Box<Written>>) -> u64 {
    octets.as_ref().map_or(0, |octets| octets.len())
}

impl Outgoing {
    pub fn new(scheduler: Scheduler) -> Outgoing {
        let streams = scheduler.discipline().map(|d| Box::new(Streams::new(d)));
        Outgoing { streams, scheduler, ..Outgoing::default() }
    }

    /// Says whether messages are numbered and cut as I-DATA has it, or as DATA; nothing may have
    /// been sent yet. The peer's receive buffer has `buffer` octets, and a packet takes `whole`
    /// octets of a message.
    pub fn set_interleaving(&mut self, on: bool, buffer: u64, whole: u32) {
        self.numbers.interleaving = on;
        if let Some(streams) = &mut self.streams {
            streams.set_buffer(buffer, whole);
        }
    }

    pub fn push(&mut self, message: Message, limit: Reliability) {
        self.dated |= matches!(limit, Reliability::Until(_));
        self.queued += message.payload.len() as u64;
        match &mut self.streams {
            None => self.first.messages.push_back((message, limit)),
            Some(streams) => {
                let stream = message.stream;
                streams.queue_mut(stream).messages.push_back((message, limit));
                streams.join(stream);
            }
        }
    }
    pub fn write(&mut self, len: u64) {
        self.counted += len;
        self.join_bytes();
    }
    pub fn write_octets(&mut self, octets: &[u8]) {
        self.octets.get_or_insert_with(|| Box::new(Written::starting_at(0))).append(octets);
        self.join_bytes();
    }
    fn join_bytes(&mut self) {
        if let Some(streams) = &mut self.streams
            && self.counted.max(written(&self.octets)) > 0
        {
            streams.join(0);
        }
    }
    /// Sets the priority or weight of a stream.
    pub fn set_value(&mut self, stream: u16, value: u16) {
        if let Some(streams) = &mut self.streams {
            streams.set_value(stream, value);
        }
    }
    /// Returns how many octets take memory.
    pub fn held(&self) -> u64 {
        self.queued + written(&self.octets)
    }
    pub fn is_empty(&self) -> bool {
        self.queued == 0 && self.bytes() == 0
    }
    /// Takes all messages of which nothing was sent.
    pub fn drain(&mut self) -> Vec<Message> {
        let of = |queue: &mut Queue| {
            let begun = queue.is_begun() as usize;
            queue.messages.drain(begun..).map(|(message, _)| message).collect::<Vec<_>>()
        };
        let mut all = of(&mut self.first);
        if let Some(streams) = &mut self.streams {
            streams.queues_mut().for_each(|queue| all.extend(of(queue)));
        }
        all
    }
    /// Takes the messages of the streams from `first` on of which nothing was sent.
    pub fn drain_from(&mut self, first: u16) -> Vec<Message> {
        let begun = self.first.is_begun();
        let mut all = Vec::new();
        for (at, item) in std::mem::take(&mut self.first.messages).into_iter().enumerate() {
            match item.0.stream < first || (at == 0 && begun) {
                true => self.first.messages.push_back(item),
                false => all.push(item.0),
            }
        }
        if let Some(streams) = &mut self.streams {
            all.extend(streams.drain_from(first));
        }
        self.queued -= all.iter().map(|message| u64::from(message.payload.len())).sum::<u64>();
        all
    }
    /// Returns how many octets are not sent.
    pub fn unsent(&self) -> u64 {
        self.queued + self.bytes()
    }
    /// Returns whether the message that is next is sent in part.
    pub fn is_begun(&self) -> bool {
        match (self.head(), &self.streams) {
            (Some(Head::First), _) => self.first.is_begun(),
            (Some(Head::Stream(id)), Some(streams)) => streams.queue(id).is_begun(),
            _ => false,
        }
    }
    fn bytes(&self) -> u64 {
        self.counted.max(written(&self.octets))
    }

    fn head(&self) -> Option<Head> {
        match &self.streams {
            None if !self.first.is_empty() => Some(Head::First),
            None => (self.bytes() > 0).then_some(Head::Bytes),
            Some(streams) => streams.next().map(|id| match streams.queue(id).is_empty() {
                true => Head::Bytes,
                false => Head::Stream(id),
            }),
        }
    }

    /// Returns how many octets of the next message are not sent: what would leave unfragmented.
    /// Messages of the byte stream have at most `size`. It is `None` when nothing waits.
    #[inline]
    pub fn waiting(&self, size: u32) -> Option<u32> {
        if self.streams.is_none() {
            let bytes = self.bytes();
            return match self.first.rest() {
                None => (bytes > 0).then(|| bytes.min(size as u64) as u32),
                rest => rest,
            };
        }
        match self.head()? {
            Head::First => self.first.rest(),
            Head::Stream(id) => self.streams.as_ref()?.queue(id).rest(),
            Head::Bytes => Some(self.bytes().min(size as u64) as u32),
        }
    }

    /// Returns the stream and the sequence number that the next message will have, if it is
    /// ordered, not begun and has one: messages of I-DATA have identifiers instead.
    pub fn next_ssn(&self) -> Option<(u16, u16)> {
        if self.numbers.interleaving {
            return None;
        }
        let queue = match self.head()? {
            Head::First => &self.first,
            Head::Stream(id) => self.streams.as_ref()?.queue(id),
            Head::Bytes => return Some((0, self.numbers.ssn(0))),
        };
        let message = &queue.messages.front()?.0;
        let is_new = !message.unordered && !queue.is_begun();
        is_new.then(|| (message.stream, self.numbers.ssn(message.stream)))
    }

    /// Begins a packet: a turn by packets is over, where the scheduler has such.
    pub fn begin_packet(&mut self) {
        if let Some(streams) = &mut self.streams {
            streams.begin_packet(self.numbers.interleaving);
        }
    }
    /// Returns whether what is next may share the packet with what was taken before.
    pub fn may_bundle(&self) -> bool {
        self.streams.as_ref().is_none_or(|streams| streams.may_bundle())
    }

    /// Takes the next fragment, of a length up to [`Outgoing::waiting`].
    #[inline]
    pub fn take(&mut self, len: u32) -> (Fragment, Reliability) {
        if self.streams.is_some() {
            return self.take_scheduled(len);
        }
        if self.first.is_empty() {
            return (self.take_bytes(len), Reliability::Reliable);
        }
        self.queued -= len as u64;
        self.first.take(len, &mut self.numbers)
    }

    #[inline(never)]
    fn take_scheduled(&mut self, len: u32) -> (Fragment, Reliability) {
        match self.head().expect("something waits") {
            Head::First => unreachable!("the streams have queues of their own"),
            Head::Stream(id) => {
                self.queued -= len as u64;
                let more_bytes = id == 0 && self.bytes() > 0;
                let streams = self.streams.as_mut().expect("the head is a stream's");
                let queue = streams.queue_mut(id);
                let (size, was_begun) = (queue.first_len().unwrap_or(0), queue.is_begun());
                let taken = queue.take(len, &mut self.numbers);
                let more = !queue.is_empty() || more_bytes;
                let is_begun = queue.is_begun();
                let whole = self.numbers.interleaving || !is_begun;
                if was_begun != is_begun {
                    streams.set_begun(size, is_begun);
                }
                streams.served(id, len as u64, whole, more);
                taken
            }
            Head::Bytes => {
                let fragment = self.take_bytes(len);
                let more = self.bytes() > 0;
                if let Some(streams) = &mut self.streams {
                    streams.served(0, len as u64, true, more);
                }
                (fragment, Reliability::Reliable)
            }
        }
    }

    fn take_bytes(&mut self, len: u32) -> Fragment {
        let payload = match &mut self.octets {
            Some(octets) if self.counted == 0 => octets.take(len),
            _ => {
                self.counted -= len as u64;
                Payload::virtual_of(len)
            }
        };
        let number = self.numbers.take(0, false, true);
        Fragment { flags: DataFlags::WHOLE, stream: 0, number, ppid_or_fsn: 0, payload }
    }

    /// Returns whether the date of the next message has passed, so that it gets no TSN (RFC 3758
    /// §4.1 TR3).
    #[inline]
    pub fn is_expired(&self, now: Time) -> bool {
        self.dated && self.is_next_expired(now)
    }

    fn is_next_expired(&self, now: Time) -> bool {
        let queue = match self.head() {
            Some(Head::First) => &self.first,
            Some(Head::Stream(id)) => match &self.streams {
                Some(streams) => streams.queue(id),
                None => return false,
            },
            Some(Head::Bytes) | None => return false,
        };
        queue.messages.front().is_some_and(|(_, limit)| limit.is_expired(now))
    }

    /// Gives the next message up if its date has passed (RFC 3758 §4.1).
    pub fn drop_expired(&mut self, now: Time) -> Option<Dropped> {
        let (queue, id) = match self.head()? {
            Head::First => (&self.first, None),
            Head::Stream(id) => (self.streams.as_ref()?.queue(id), Some(id)),
            Head::Bytes => return None,
        };
        let expired = queue.messages.front().is_some_and(|(_, limit)| limit.is_expired(now));
        expired.then(|| self.drop_head(id))
    }

    /// Gives up the rest of a message that was begun.
    pub fn drop_begun(&mut self, fragment: &Fragment) -> Option<Dropped> {
        let id = self.streams.is_some().then_some(fragment.stream);
        let queue = match &self.streams {
            None => &self.first,
            Some(streams) => streams.queue(fragment.stream),
        };
        let is_it = queue.messages.front().is_some_and(|(message, _)| {
            queue.is_begun()
                && (message.stream, message.unordered) == (fragment.stream, fragment.is_unordered())
        });
        is_it.then(|| self.drop_head(id))
    }

    fn drop_head(&mut self, id: Option<u16>) -> Dropped {
        let more_bytes = id == Some(0) && self.bytes() > 0;
        let queue = match id {
            None => &mut self.first,
            Some(id) => {
                self.streams.as_mut().expect("a stream has a queue of its own").queue_mut(id)
            }
        };
        let begun = queue.is_begun();
        let (stream, unordered) = (queue.messages[0].0.stream, queue.messages[0].0.unordered);
        let size = queue.first_len().unwrap_or(0);
        let first = queue.messages[0].0.clone();
        self.queued -= queue.drop_first() as u64;
        let more = !queue.is_empty() || more_bytes;
        if let Some(id) = id
            && let Some(streams) = &mut self.streams
        {
            if begun {
                streams.set_begun(size, false);
            }
            streams.dropped(id, more);
        }
        match begun {
            false => Dropped::Unsent(first),
            true => {
                let number = self.numbers.take(stream, unordered, true);
                Dropped::Begun { stream, number, unordered }
            }
        }
    }

    /// Returns how many octets the messages have that were not begun and yield to `priority`.
    pub fn yielding(&self, priority: u32) -> u64 {
        let of = |queue: &Queue| -> u64 {
            let waiting = queue.messages.iter().skip(queue.is_begun() as usize);
            let yields = waiting.filter(|(_, limit)| limit.yields_to(priority).is_some());
            yields.map(|(message, _)| message.payload.len() as u64).sum()
        };
        let streams = self.streams.iter().flat_map(|streams| streams.queues());
        of(&self.first) + streams.map(|(_, queue)| of(queue)).sum::<u64>()
    }

    /// Gives up the least urgent message that was not begun and yields to `priority`, the newest of
    /// them, if there is one.
    pub fn yield_one(&mut self, priority: u32) -> Option<Message> {
        let mut least: Option<(u32, Option<u16>, usize)> = None;
        let mut look = |id: Option<u16>, queue: &Queue| {
            for (index, (_, limit)) in queue.messages.iter().enumerate() {
                if let Some(own) = limit.yields_to(priority)
                    && (index > 0 || !queue.is_begun())
                    && least.is_none_or(|(least, ..)| own >= least)
                {
                    least = Some((own, id, index));
                }
            }
        };
        look(None, &self.first);
        if let Some(streams) = &self.streams {
            streams.queues().for_each(|(id, queue)| look(Some(id), queue));
        }
        let (_, id, index) = least?;
        let yielded = match (id, &mut self.streams) {
            (Some(id), Some(streams)) => {
                let queue = streams.queue_mut(id);
                let yielded = queue.messages.remove(index);
                if queue.is_empty() && !(id == 0 && self.counted.max(written(&self.octets)) > 0) {
                    streams.dropped(id, false);
                }
                yielded
            }
            _ => self.first.messages.remove(index),
        };
        let (message, _) = yielded?;
        self.queued -= message.payload.len() as u64;
        Some(message)
    }

    /// Makes a stream's next message have the number 0 (RFC 6525 §5.2.2).
    pub fn reset_numbers(&mut self, stream: u16) {
        if let Some(next) = self.numbers.next.get_mut(stream as usize) {
            *next = [0; 2];
        }
    }

    /// Returns whether something of the stream is not sent.
    pub fn has_stream(&self, stream: u16) -> bool {
        let bytes = stream == 0 && self.bytes() > 0;
        bytes
            || match &self.streams {
                None => self.first.messages.iter().any(|(message, _)| message.stream == stream),
                Some(streams) => {
                    streams.queues().any(|(id, queue)| id == stream && !queue.is_empty())
                }
            }
    }

    /// Starts the streams anew and drops what was queued, for a restart.
    pub fn restart(&mut self) {
        *self = Outgoing::new(self.scheduler);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_into_fragments_with_one_sequence_number() {
        let mut out = Outgoing::default();
        out.push(Message::new(2, Payload::of_octets(*b"abcdefgh")), Reliability::Reliable);
        out.push(Message::new(2, Payload::of_octets(*b"ij")), Reliability::Reliable);
        let mut next = || {
            let len = out.waiting(3)?.min(3);
            let f = out.take(len).0;
            Some((f.flags.0, f.number, f.payload.octets().unwrap().to_vec()))
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
        out.push(Message { unordered: true, ..message.clone() }, Reliability::Reliable);
        out.push(message, Reliability::Reliable);
        assert_eq!((out.take(5).0.flags.0, out.take(5).0.number), (7, 0));
        assert!(out.is_empty() && out.held() == 0);
    }

    #[test]
    fn the_byte_stream_makes_whole_messages() {
        let mut out = Outgoing::default();
        out.write(2500);
        assert_eq!(out.waiting(1000), Some(1000));
        let fragment = out.take(1000).0;
        assert_eq!((fragment.flags, fragment.number), (DataFlags::WHOLE, 0));
        assert_eq!(out.waiting(1452), Some(1452));
        assert_eq!((out.take(1452).0.number, out.waiting(1452)), (1, Some(48)));
    }
}
