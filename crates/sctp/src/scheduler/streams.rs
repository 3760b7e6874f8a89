//! Each stream has a queue here, for schedulers that choose between them.

use super::{Account, Discipline, Key};
use crate::message::Message;
use crate::queue::Queue;
use std::collections::BTreeSet;

/// A `Stream` is the queue of one stream, and what its scheduler keeps of it.
#[derive(Debug)]
struct Stream {
    queue: Queue,
    account: Account,
    /// `key` is its place while it has something to send, else `None`.
    key: Option<Key>,
}

#[derive(Debug)]
pub(crate) struct Streams {
    discipline: Box<dyn Discipline>,
    /// `streams` has the streams by their identifiers.
    streams: Vec<Stream>,
    order: BTreeSet<(Key, u16)>,
    /// `current` is the stream whose turn it is, once some of it has left.
    current: Option<u16>,
    /// `served` is how many octets have left in this turn.
    served: u64,
    /// `begun` is how many octets the messages have together of which a part has been sent.
    begun: u64,
    /// `buffer` is the size of the peer's receive buffer, in octets: with interleaving all messages
    /// of which a part has been sent must fit it together, or none of them could ever be completed.
    buffer: u64,
    /// `whole` is the number of octets up to which a message leaves in one piece, so that it need
    /// not wait for room in `buffer`.
    whole: u64,
}

impl Streams {
    pub fn new(discipline: Box<dyn Discipline>) -> Streams {
        let (streams, order) = (Vec::new(), BTreeSet::new());
        let (current, served, begun) = (None, 0, 0);
        let (buffer, whole) = (u64::MAX, 0);
        Streams { discipline, streams, order, current, served, begun, buffer, whole }
    }

    /// Sets how many octets the messages may have together of which a part has been sent
    /// (`buffer`), and up to how many a message leaves in one piece (`whole`).
    pub fn set_buffer(&mut self, buffer: u64, whole: u32) {
        (self.buffer, self.whole) = (buffer, whole as u64);
    }

    /// Notes that a message of `len` octets was begun, or that it has ended.
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

    /// Returns the queue of a stream that has one.
    pub fn queue(&self, id: u16) -> &Queue {
        &self.streams[id as usize].queue
    }

    pub fn queue_mut(&mut self, id: u16) -> &mut Queue {
        &mut self.stream(id).queue
    }

    /// Returns all queues, with the identifiers of their streams.
    pub fn queues(&self) -> impl Iterator<Item = (u16, &Queue)> {
        self.streams.iter().enumerate().map(|(id, stream)| (id as u16, &stream.queue))
    }

    /// Returns all queues, to change them.
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

    /// Gives a stream its place, as it has something to send.
    pub fn join(&mut self, id: u16) {
        self.stream(id);
        let stream = &mut self.streams[id as usize];
        if stream.key.is_none() {
            let key = self.discipline.join(&mut stream.account);
            stream.key = Some(key);
            self.order.insert((key, id));
        }
    }

    /// Returns the stream that is next: the one whose turn it is, or the first whose message may
    /// begin.
    pub fn next(&self) -> Option<u16> {
        let fits = |id: &u16| {
            let queue = self.queue(*id);
            let more = queue.first_len().unwrap_or(0) as u64;
            let small = more <= self.whole;
            small || self.begun == 0 || queue.is_begun() || self.begun + more <= self.buffer
        };
        self.current.or_else(|| self.order.iter().map(|(_, id)| *id).find(fits))
    }

    /// Begins a packet: a turn by packets is over, unless a message is in progress that must not be
    /// interrupted.
    pub fn begin_packet(&mut self, interleaving: bool) {
        if let Some(id) = self.current
            && self.discipline.by_packet()
            && (interleaving || !self.streams[id as usize].queue.is_begun())
        {
            self.end_turn(id, true);
        }
    }

    /// Returns whether the next message may share a packet with what went before it.
    pub fn may_bundle(&self) -> bool {
        !self.discipline.by_packet() || self.current.is_some()
    }

    /// Notes that `octets` of the stream left. `whole` says that another stream's message may
    /// follow, `more` that the stream has more to send.
    pub fn served(&mut self, id: u16, octets: u64, whole: bool, more: bool) {
        self.served += octets;
        self.current = Some(id);
        if !more || (whole && !self.discipline.by_packet()) {
            self.end_turn(id, more);
        }
    }

    /// Notes that a message of the stream was given up; `more` says that there are others.
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
