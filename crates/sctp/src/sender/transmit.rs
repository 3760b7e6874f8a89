//! New data leaves from here (RFC 9260 §6.1), which decides how much of it the next chunk has, and
//! which chunks a packet has.

use super::Sender;
use crate::config::Config;
use crate::draft::Draft;
use crate::numbers::{SSN_SPAN, TSN_SPAN};
use crate::paths::Paths;
use crate::queue::Fragment;
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::sctp::{Chunk, DataChunk, IDataChunk};

impl Sender {
    /// Returns the length of the next chunk's user data in octets, where `room` octets are left in
    /// a packet and a chunk has at most `most`; `None` when nothing waits, nothing fits, or the
    /// next number must wait.
    #[inline(always)]
    pub fn next_len(&self, room: u32, most: u32, config: &Config) -> Option<u32> {
        let size = config.message_size.unwrap_or(most).min(most);
        // A message that a packet of its own would take whole is not cut.
        let whole = self.outgoing.waiting(size)?;
        if self.flight.chunks.len() as u64 >= SSN_SPAN && self.waits_for_a_number() {
            return None;
        }
        (room >= whole.min(most)).then_some(whole.min(room).min(most))
    }

    /// Returns whether the stream sequence number of the next message would be 2^15 or more ahead
    /// of one that the peer may still wait for: it would take the message for an older one (§6.6,
    /// with the serial number arithmetic of RFC 1982 §3.2). Or so many chunks are outstanding that
    /// the next TSN could not be told from an older one (RFC 9260 §6.1); each message has one at
    /// least, so that message identifiers cannot be confused either (RFC 8260 §2.1).
    #[cold]
    fn waits_for_a_number(&self) -> bool {
        if self.flight.chunks.len() as u64 >= TSN_SPAN {
            return true;
        }
        let Some((stream, number)) = self.outgoing.next_ssn() else { return false };
        let oldest = self.flight.oldest_ssn(stream);
        oldest.is_some_and(|oldest| number.wrapping_sub(oldest) as u64 >= SSN_SPAN)
    }

    /// Returns whether the peer's receive window takes `len` octets more.
    #[inline]
    pub(super) fn fits_window(&self, len: u32) -> bool {
        self.flight.payload + u64::from(len) <= self.window.rwnd()
    }

    /// Begins a packet of new data. Returns the length of its first chunk, if it may leave now.
    /// With `nagle` less than a packet waits while data is outstanding.
    #[inline]
    pub fn begin_packet(&mut self, most: u32, nagle: bool, config: &Config) -> Option<u32> {
        self.outgoing.begin_packet();
        let len = self.next_len(most, most, config)?;
        if nagle && self.waits_for_more(most) {
            return None;
        }
        self.nagle_passed |= self.flight.payload == 0;
        if self.is_window_open(len, most) {
            self.probe.on_open();
            return Some(len);
        }
        // One chunk may probe it when nothing is outstanding (§6.1 A).
        let probes = self.flight.is_empty() && (config.prompt_probes || self.probe.take());
        if probes {
            self.probing = Some(self.flight.next());
        }
        probes.then_some(len)
    }

    /// Returns whether the peer's window takes `len` octets, and is worth them (§6.1 A, silly
    /// windows as in RFC 1122 §4.2.3.4): it takes a packet of `most` octets, or half of what it
    /// ever took, or all that waits.
    #[inline]
    fn is_window_open(&self, len: u32, most: u32) -> bool {
        let usable = self.window.rwnd().saturating_sub(self.flight.payload);
        let worth = u64::from(most).min(self.window.largest() / 2);
        usable >= u64::from(len) && (usable >= worth || usable >= self.outgoing.unsent())
    }

    /// Notes that new data could not leave: if that is since the peer's window takes nothing, it is
    /// probed after an `rto`, and in longer intervals up to `most`.
    pub fn watch_window(&mut self, now: Time, rto: Span, most: Span) {
        if self.flight.is_empty() && !self.outgoing.is_empty() {
            self.probe.on_closed(now, rto, most);
        }
    }

    /// Returns whether what waits must wait by Nagle's rule: it is less than a packet, data is
    /// outstanding, and more may come. What leaves when nothing was outstanding leaves to its end,
    /// and so does a message that was begun.
    fn waits_for_more(&self, most: u32) -> bool {
        self.flight.payload > 0
            && !self.nagle_passed
            && !self.outgoing.is_begun()
            && self.outgoing.unsent() < most as u64
    }

    /// Adds new chunks for `path` to a packet while the windows last. Returns true when there is
    /// one.
    #[inline]
    pub fn add_new(
        &mut self,
        now: Time,
        draft: &mut Draft,
        path: usize,
        paths: &mut Paths,
        config: &Config,
    ) -> bool {
        let mut sent = false;
        let header = self.flight.header();
        let most = paths.room.payload;
        let to = &mut paths[path];
        while let Some(len) = self.next_len(draft.data_room(header) & !3, most, config) {
            if !self.flight.is_empty() && !self.fits_window(len) {
                break;
            }
            if sent
                && (to.flight >= to.window.limit()
                    || !self.outgoing.may_bundle()
                    || self.outgoing.is_expired(now))
            {
                break;
            }
            let (mut fragment, limit) = self.outgoing.take(len);
            super::immediate::ask_with_message(config, &mut fragment.flags);
            let size = self.flight.size_of(len);
            draft.push(self.data_chunk(&fragment, self.next_tsn()));
            let offset = self.flight.push(fragment, limit, path as u8);
            let view = to.view();
            to.window.on_sent(now, size, true, &view);
            if let Some(stamp) = to.window.stamp(to.flight + size) {
                self.flight.note_departure(offset, now, stamp);
            }
            to.flight += size;
            to.last_fresh = Some(now);
            if to.timed.is_none() {
                to.timed = Some((offset, now));
                to.timed_flight = to.flight;
            }
            sent = true;
        }
        sent
    }

    /// Returns the chunk that carries a fragment.
    #[inline]
    pub(super) fn data_chunk(&self, fragment: &Fragment, tsn: Serial32) -> Chunk {
        let (flags, stream, payload) = (fragment.flags, fragment.stream, fragment.payload.clone());
        if self.flight.is_interleaving() {
            let (mid, ppid_or_fsn) = (fragment.number, fragment.ppid_or_fsn);
            return Chunk::IData(IDataChunk { flags, tsn, stream, mid, ppid_or_fsn, payload });
        }
        let (ssn, ppid) = (fragment.number as u16, fragment.ppid_or_fsn);
        Chunk::Data(DataChunk { flags, tsn, stream, ssn, ppid, payload })
    }
}
