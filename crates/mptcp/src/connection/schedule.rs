//! Gives new data to subflows: what the scheduler says (RFC 8684 §3.3.8), of the subflows
//! with room that are liked the best.

use super::{Connection, checksum};
use crate::mapping::SentMapping;
use crate::scheduler::{Choice, Stream};
use anabranch_endpoint::ByteStream;
use anabranch_tcp::Range;
use anabranch_units::Time;
use anabranch_wire::Payload;

impl Connection {
    /// Gives one segment to a subflow, which is to be asked for it before anything else
    /// happens: which one; `None` when there is none to give.
    #[inline(always)]
    pub(super) fn schedule(&mut self, now: Time) -> Option<usize> {
        let idle = !self.sender.has_unsent() && !self.sender.has_reinjections();
        if idle && self.scheduling.takes_turns_by_room() { None } else { self.give_next(now) }
    }

    fn give_next(&mut self, now: Time) -> Option<usize> {
        let copies = self.scheduling.copies();
        let fresh = self.sender.has_unsent();
        if !fresh && !copies && !self.sender.has_reinjections() || self.has_ended() {
            return None;
        }
        let usable = self.subflows.usable();
        self.look_for_room(now, usable, usable.is_power_of_two());
        self.readiness.set_eligible(self.subflows.preferred(usable));
        if self.readiness.roomy(usable) == 0 && !self.scheduling.assigns() {
            return None;
        }
        if let Some(i) = self.send_again(usable) {
            return Some(i);
        }
        let room = self.sender.room(self.subflows.mss());
        if fresh && room == 0 {
            self.scheduling.on_window_blocked(now);
            if self.config.opportunistic_retransmission
                && let Some(i) = self.unblock_window(now, usable)
            {
                return Some(i);
            }
        }
        if room == 0 && !copies {
            return None;
        }
        self.ask_scheduler(now, room)
    }

    /// Asks subflows of which it is not known whether they have room.
    pub(super) fn look_for_room(&mut self, now: Time, among: u64, alone: bool) {
        self.subflows.look_for_room(now, (among, alone), &self.sender, &mut self.readiness);
    }

    fn ask_scheduler(&mut self, now: Time, room: u64) -> Option<usize> {
        let stream = Stream {
            now,
            una: self.sender.una(),
            nxt: self.sender.nxt(),
            unsent: if room > 0 { self.sender.unsent() } else { 0 },
            skipped: self.sender.skipped(),
            window_left: self.sender.window_left(),
        };
        match self.scheduling.choose(&self.subflows, &self.readiness, &stream, room > 0) {
            Choice::Wait => None,
            Choice::New(id) => self.give_ahead(self.subflows.position(id)?, 0),
            Choice::Ahead { id, after } => self.give_ahead(self.subflows.position(id)?, after),
            Choice::Assign { id, len } => self.assign(self.subflows.position(id)?, len),
            Choice::Copy { id, from } => {
                let i = self.subflows.position(id)?;
                let most = self.subflows.most_for(i, self.sender.is_long());
                let end = self.sender.nxt().min(from + most);
                self.counters.copies += 1;
                self.give(i, Range { start: from, end })
            }
        }
    }

    /// The subflow that gets the next segment of the stream if it has room, and how
    /// much of it, where that is clear without a scheduler: of those among which
    /// it would choose this one alone is not known to be full. Only while counted
    /// octets, without checksums, wait for the subflows' windows alone.
    #[inline]
    pub(super) fn only_taker(&self) -> Option<(usize, u64)> {
        let id = self.readiness.only_taker()?;
        let usual = self.session.is_multipath()
            && self.scheduling.takes_turns_by_room()
            && !self.session.has_checksums()
            && !self.has_ended()
            && !self.sender.has_octets()
            && !self.sender.has_reinjections();
        if !usual {
            return None;
        }
        // A window that holds any segment is no reason to wait.
        let window = self.sender.window_left();
        if window < u16::MAX as u64 {
            return None;
        }
        let i = self.subflows.position(id)?;
        let subflow = &self.subflows[i];
        let ((_, end), len) = (subflow.tcp.outstanding(), subflow.tcp.mss());
        let fits = subflow.tcp.own_room() >= len;
        // The first segment may be shorter.
        if subflow.rank() > 0 || !subflow.tcp.awaits_data() || !fits || end == 1 {
            return None;
        }
        debug_assert_eq!(
            self.readiness.not_full(self.subflows.preferred(self.subflows.usable()))
                & !subflow.bit(),
            0
        );
        debug_assert!(
            self.subflows.fits_window(i, &self.sender)
                && self.subflows.most_for(i, self.sender.is_long()) == len
        );
        // The last octets leave when a full segment would: the scheduler's to tell.
        (self.sender.unsent() >= len).then_some((i, len))
    }

    /// The next octets of the stream left on the subflow that alone has room: their
    /// data offset.
    #[inline]
    pub(super) fn on_given(&mut self, i: usize, len: u64) -> u64 {
        let Range { start, end } = self.sender.take_new(len);
        let fin = self.sender.ends_at(end);
        let subflow = &mut self.subflows[i];
        let at = subflow.tcp.outstanding().1 - len;
        let unit = SentMapping { start: at, len: len as u32, data: start, fin, checksum: 0 };
        if !subflow.sent.push(unit, false) {
            subflow.tcp.cut_at(at);
        }
        subflow.sent_to = subflow.sent_to.max(end);
        self.scheduling.on_only(subflow.id);
        start
    }

    /// Gives a subflow a segment that begins `after` octets behind the first that waits.
    fn give_ahead(&mut self, i: usize, after: u64) -> Option<usize> {
        let most = self.subflows.most_for(i, self.sender.is_long());
        let len = self.sender.room_ahead(after, most).min(self.subflows[i].tcp.own_room());
        if len == 0 || self.holds_back(i, len, most) {
            return None;
        }
        let range = match after {
            0 => self.sender.take_new(len),
            _ => self.sender.take_ahead(after, len),
        };
        let given = self.give(i, range);
        if len < most {
            self.subflows[i].small_end = self.subflows[i].tcp.outstanding().1;
        }
        given
    }

    /// Gives a subflow the next `len` octets of the stream, which wait there for its window. A mapping that is
    /// checked, or that the keys stand in for, is of one segment.
    fn assign(&mut self, i: usize, len: u64) -> Option<usize> {
        let most = self.subflows.most_for(i, self.sender.is_long());
        let (_, start) = self.subflows[i].tcp.outstanding();
        let single = self.session.has_checksums() || self.carries_keys(i, start);
        let len = self.sender.room(if single { len.min(most) } else { len });
        let len = len.min(self.subflows[i].tcp.own_room());
        if len == 0 || self.holds_back(i, len, most) {
            return None;
        }
        let range = self.sender.take_new(len);
        self.give(i, range)
    }

    /// Hands a range of the stream to a subflow.
    pub(super) fn give(&mut self, i: usize, range: Range) -> Option<usize> {
        if range.is_empty() {
            return None;
        }
        let (_, start) = self.subflows[i].tcp.outstanding();
        let len = range.len() as u32;
        // The first segment has the keys in place of a DSS: a DATA_FIN follows it (§3.1).
        let fin = self.sender.ends_at(range.end) && !self.carries_keys(i, start);
        let octets = self.sender.payload(range);
        let mut unit = SentMapping { start, len, data: range.start, fin, checksum: 0 };
        if self.session.has_checksums() {
            let real = octets.as_ref().and_then(Payload::octets);
            let (tcp, early) = (&self.subflows[i].tcp, self.subflows[i].early.sent);
            unit.checksum = checksum::of_sent(&self.sender, tcp, &unit, early, real);
        }
        let subflow = &mut self.subflows[i];
        // A mapping of which something has left stays as it is where data waits in subflows (Linux), and
        // what follows begins another segment.
        let apart =
            self.scheduling.assigns() && subflow.has_begun_last() || self.session.has_checksums();
        if !subflow.sent.push(unit, apart) {
            subflow.tcp.cut();
        }
        match octets {
            Some(octets) => subflow.tcp.write_payload(octets),
            None => {
                subflow.tcp.write(len as u64);
            }
        }
        subflow.sent_to = subflow.sent_to.max(range.end);
        self.touch(i);
        self.readiness.forget_eligible();
        Some(i)
    }
}
