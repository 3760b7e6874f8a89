//! Messages are given up here (RFC 3758, RFC 7496): the sender stops sending them again, and
//! FORWARD-TSN makes the receiver stop waiting. With message interleaving it is I-FORWARD-TSN (RFC
//! 8260 §2.3).
//!
//! A message is given up when one of its chunks would be sent again, or its first
//! sent, and its [`Reliability`] says no; all its chunks go together. If its end
//! was not sent, the end takes a TSN that is never sent, so that the receiver can
//! be told even when all that was sent has arrived.

use super::Sender;
use super::flight::{Sent, Status};
use super::outgoing::Dropped;
use crate::config::Config;
use crate::message::Message;
use crate::paths::Paths;
use crate::queue::Fragment;
use crate::reliability::{Abandoned, Reliability};
use anabranch_units::Time;
use anabranch_wire::Payload;
use anabranch_wire::sctp::{Chunk, DataFlags, ForwardTsn, IForwardTsn, SkippedMessage};

/// A `Partial` exists once a message was given up.
#[derive(Debug, Default)]
pub(crate) struct Partial {
    /// `due` says that a SACK came, or T3-rtx expired, so that the peer is told again.
    due: bool,
    /// `told` is the offset up to which the peer was told.
    told: u64,
    /// `abandoned` counts the messages that were given up.
    abandoned: Abandoned,
}

impl Sender {
    /// Returns how many messages were given up.
    pub fn abandoned(&self) -> Abandoned {
        self.partial.as_ref().map_or(Abandoned::default(), |partial| partial.abandoned)
    }

    /// Gives up what is lost and not worth sending again (RFC 3758 §3.5). Returns true when
    /// something was.
    pub fn give_up_lost(&mut self, now: Time, paths: &mut Paths, config: &Config) -> bool {
        let (mut from, mut any) = (0, false);
        while let Some((index, _)) = self.flight.next_lost(from) {
            let chunk = &self.flight.chunks[index];
            if chunk.limit.is_over(now, chunk.resends) {
                self.abandon(index, paths, config);
                any = true;
            }
            from = index + 1;
        }
        any
    }

    /// Gives up the messages at the head of the queue whose date has passed. Returns true when
    /// there was one.
    pub fn give_up_late(&mut self, now: Time, paths: &mut Paths, config: &Config) -> bool {
        let mut any = false;
        while let Some(dropped) = self.outgoing.drop_expired(now) {
            any = true;
            self.on_dropped(dropped, paths, config);
        }
        any
    }

    fn abandon(&mut self, index: usize, paths: &mut Paths, config: &Config) {
        if config.keep_undelivered {
            let fragment = self.flight.chunks[index].fragment.clone();
            self.keep_abandoned(&fragment);
        }
        let unfinished = self.flight.abandon(index, paths);
        let dropped = unfinished.and_then(|fragment| self.outgoing.drop_begun(&fragment));
        match dropped {
            Some(dropped) => self.on_dropped(dropped, paths, config),
            None => self.partial().abandoned.sent += 1,
        }
    }

    /// Counts a message that was given up before any of it was sent, and keeps it where the user
    /// wants it back.
    fn on_unsent(&mut self, message: Message, config: &Config) {
        self.partial().abandoned.unsent += 1;
        if config.keep_undelivered {
            self.keep(message, false);
        }
    }

    /// Gives up what was sent of a message whose rest was dropped.
    fn on_dropped(&mut self, dropped: Dropped, paths: &mut Paths, config: &Config) {
        let (stream, number, unordered) = match dropped {
            Dropped::Unsent(message) => return self.on_unsent(message, config),
            Dropped::Begun { stream, number, unordered } => (stream, number, unordered),
        };
        self.partial().abandoned.sent += 1;
        let mut flags = DataFlags::END;
        if unordered {
            flags = flags.union(DataFlags::UNORDERED);
        }
        let end = Fragment { flags, stream, number, ppid_or_fsn: 0, payload: Payload::EMPTY };
        self.flight.abandon_begun(&end, paths);
        self.flight.push_abandoned(end, paths.primary as u8);
    }

    fn partial(&mut self) -> &mut Partial {
        self.partial.get_or_insert_default()
    }

    /// Begins another association, whose peer was told nothing.
    pub fn begin_telling(&mut self) {
        if let Some(partial) = &mut self.partial {
            (partial.due, partial.told) = (true, 0);
        }
    }

    /// Makes what is still skipped be told again, as a SACK came or T3-rtx expired. Returns false
    /// when nothing was given up.
    #[inline]
    pub fn repeat_forward_tsn(&mut self) -> bool {
        self.partial.as_mut().map(|partial| partial.due = true).is_some()
    }

    /// Makes a FORWARD-TSN of at most `room` octets, if the peer waits for something that is not
    /// coming and is to be told (RFC 3758 §3.5 C).
    pub fn forward_tsn(&mut self, room: u32) -> Option<Chunk> {
        let una = self.flight.una;
        let partial = self.partial.as_mut()?;
        let due = std::mem::take(&mut partial.due);
        // §3.5 C4: what the list has no room for is skipped later.
        let pair = if self.flight.is_interleaving() { 8 } else { 4 };
        let most = (room as usize - 8) / pair;
        let mut streams: Vec<SkippedMessage> = Vec::new();
        let mut end = una;
        for fragment in self.flight.skipped() {
            let (stream, unordered) = (fragment.stream, fragment.is_unordered());
            let listed = self.flight.is_interleaving() || !unordered;
            let same = |s: &SkippedMessage| (s.stream, s.unordered) == (stream, unordered);
            match streams.iter().position(same) {
                Some(at) => streams[at].mid = fragment.number,
                None if !listed => {}
                None if streams.len() == most => break,
                None => streams.push(SkippedMessage { stream, unordered, mid: fragment.number }),
            }
            end += 1;
        }
        if end == una || (end <= partial.told && !due) {
            return None;
        }
        partial.told = end;
        let cum_tsn = self.origin.at(end - 1);
        Some(match self.flight.is_interleaving() {
            true => Chunk::IForwardTsn(IForwardTsn { cum_tsn, skipped: streams }),
            false => {
                let skipped = streams.iter().map(|s| (s.stream, s.mid as u16)).collect();
                Chunk::ForwardTsn(ForwardTsn { cum_tsn, skipped })
            }
        })
    }

    /// Makes room for `len` octets in the send buffer, which is full, by giving up messages of
    /// lower priority, unsent ones first (RFC 7496 §4.2). Returns false when they do not make it.
    pub fn make_room(
        &mut self,
        len: u64,
        limit: Reliability,
        paths: &mut Paths,
        config: &Config,
    ) -> bool {
        let Reliability::Priority(priority) = limit else { return false };
        let yields = |chunk: &Sent| {
            chunk.status == Status::InFlight && chunk.limit.yields_to(priority).is_some()
        };
        let sent: u64 =
            self.flight.chunks.iter().filter(|chunk| yields(chunk)).map(|c| c.len()).sum();
        let yielding = sent + self.outgoing.yielding(priority);
        if self.held() + len > config.send_buffer + yielding {
            return false;
        }
        while self.held() + len > config.send_buffer {
            if let Some(message) = self.outgoing.yield_one(priority) {
                self.on_unsent(message, config);
                continue;
            }
            let chunks = self.flight.chunks.iter().enumerate();
            let least = chunks
                .filter(|(_, chunk)| yields(chunk))
                .filter_map(|(index, chunk)| Some((chunk.limit.yields_to(priority)?, index)))
                .max();
            let Some((_, index)) = least else { return false };
            self.abandon(index, paths, config);
        }
        true
    }
}
