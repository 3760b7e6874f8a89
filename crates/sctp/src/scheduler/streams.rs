//! Queues of the streams, for schedulers that choose between them.

use super::{Account, Discipline, Key};
use crate::message::Message;
use crate::queue::Queue;
use std::collections::BTreeSet;

/// One stream.
#[derive(Debug)]
struct Stream {
    queue: Queue,
    account: Account,
    /// Its place, while it has something to send.
    key: Option<Key>,
}

#[derive(Debug)]
pub(crate) struct Streams {
    discipline: Box<dyn Discipline>,
    /// By stream identifier.
    streams: Vec<Stream>,
    order: BTreeSet<(Key, u16)>,
    /// The stream whose turn it is, once some of it has left.
    current: Option<u16>,
    /// Octets of its turn.
    served: u64,
    /// Octets of all messages that are sent in part.
    begun: u64,
    /// The peer's receive buffer: with interleaving, messages that are sent in
    /// part must fit it together, or none of them could ever be completed.
    buffer: u64,
    /// A message of so many octets leaves in one piece, and need not wait.
    whole: u64,
}

impl Streams {
    pub fn new(discipline: Box<dyn Discipline>) -> Streams {
        let (streams, order) = (Vec::new(), BTreeSet::new());
        let (current, served, begun) = (None, 0, 0);
        let (buffer, whole) = (u64::MAX, 0);
        Streams { discipline, streams, order, current, served, begun, buffer, whole }
    }

    /// Messages that are sent in part have at most `buffer` octets together; those
    /// of `whole` octets leave in one piece.
    pub fn set_buffer(&mut self, buffer: u64, whole: u32) {
        (self.buffer, self.whole) = (buffer, whole as u64);
    }

    /// A message was begun, or ended.
    pub fn set_begun(&mut self, len: u32, begun: bool) {
        match begun {
            true => self.begun += len as u64,
            false => self.begun -= len as u64,
        }
    }

    fn stream(&mut self, id: u16) -> &mut Stream {
        let account = Account { value: 1, service: 0 };
        let empty = || Stream { queue: Queue::default(), account, key: None };
        if self.streams.len() <= id as usize {
            self.streams.resize_with(id as usize + 1, empty);
        }
        &mut self.streams[id as usize]
    }

    /// The queue of a stream that has one.
    pub fn queue(&self, id: u16) -> &Queue {
        &self.streams[id as usize].queue
    }

    pub fn queue_mut(&mut self, id: u16) -> &mut Queue {
        &mut self.stream(id).queue
    }

    /// All queues.
    pub fn queues(&self) -> impl Iterator<Item = (u16, &Queue)> {
        self.streams.iter().enumerate().map(|(id, stream)| (id as u16, &stream.queue))
    }

    /// The same, to change them.
    pub fn queues_mut(&mut self) -> impl Iterator<Item = &mut Queue> {
        self.streams.iter_mut().map(|stream| &mut stream.queue)
    }

    /// Takes the messages of the streams from `first` on of which nothing was sent.
    pub fn drain_from(&mut self, first: u16) -> Vec<Message> {
        let mut all = Vec::new();
        for id in usize::from(first)..self.streams.len() {
            let queue = &mut self.streams[id].queue;
            let begun = usize::from(queue.is_begun());
            all.extend(queue.messages.drain(begun..).map(|(message, _)| message));
            if queue.is_empty() && self.streams[id].key.is_some() {
                self.dropped(id as u16, false);
            }
        }
        all
    }

    /// Sets the priority or weight of a stream, from its next turn on.
    pub fn set_value(&mut self, id: u16, value: u16) {
        self.stream(id).account.value = value;
    }

    /// A stream has something to send.
    pub fn join(&mut self, id: u16) {
        self.stream(id);
        let stream = &mut self.streams[id as usize];
        if stream.key.is_none() {
            let key = self.discipline.join(&mut stream.account);
            stream.key = Some(key);
            self.order.insert((key, id));
        }
    }

    /// The stream that is next.
    pub fn next(&self) -> Option<u16> {
        let fits = |id: &u16| {
            let queue = self.queue(*id);
            let more = queue.first_len().unwrap_or(0) as u64;
            let small = more <= self.whole;
            small || self.begun == 0 || queue.is_begun() || self.begun + more <= self.buffer
        };
        self.current.or_else(|| self.order.iter().map(|(_, id)| *id).find(fits))
    }

    /// A packet begins: a turn by packets is over, unless a message is in
    /// progress that must not be interrupted.
    pub fn begin_packet(&mut self, interleaving: bool) {
        if let Some(id) = self.current
            && self.discipline.by_packet()
            && (interleaving || !self.streams[id as usize].queue.is_begun())
        {
            self.end_turn(id, true);
        }
    }

    /// The next message may share a packet with what went before it.
    pub fn may_bundle(&self) -> bool {
        !self.discipline.by_packet() || self.current.is_some()
    }

    /// `octets` of the stream left; `whole`: the message may be followed by
    /// another stream's; `more`: the stream has more to send.
    pub fn served(&mut self, id: u16, octets: u64, whole: bool, more: bool) {
        self.served += octets;
        self.current = Some(id);
        if !more || (whole && !self.discipline.by_packet()) {
            self.end_turn(id, more);
        }
    }

    /// A message of the stream was given up; `more`: there are others.
    pub fn dropped(&mut self, id: u16, more: bool) {
        if !more || self.current == Some(id) {
            self.end_turn(id, more);
        }
    }

    fn end_turn(&mut self, id: u16, more: bool) {
        let octets = match self.current == Some(id) {
            true => std::mem::take(&mut self.served),
            false => 0,
        };
        if self.current == Some(id) {
            self.current = None;
        }
        let stream = &mut self.streams[id as usize];
        let next = self.discipline.again(&mut stream.account, octets);
        if let Some(key) = stream.key.take() {
            self.order.remove(&(key, id));
        }
        if more {
            stream.key = Some(next);
            self.order.insert((next, id));
        }
    }
}
