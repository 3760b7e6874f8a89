//! Which data goes to which subflow: what must be sent again first, then what
//! the scheduler says; and what is done when the receive window stands in the
//! way (RFC 8684 §3.3.5, §3.3.6).

use super::{Connection, Due, Phase};
use crate::config::capable_more;
use crate::mapping::Sent;
use crate::scheduler::{Candidate, Choice, Stream};
use crate::subflow::Subflow;
use anabranch_endpoint::{ByteStream, Endpoint};
use anabranch_tcp::Range;
use anabranch_units::Time;
use anabranch_wire::Payload;

impl Connection {
    /// Gives one segment to a subflow, which is to be asked for it before anything else
    /// happens: which one; `None` when there is none to give.
    #[inline]
    pub(super) fn schedule(&mut self, now: Time) -> Option<usize> {
        let idle = self.out.unsent() == 0 && self.out.reinjections.is_empty();
        if idle && self.takes_turns_by_room { None } else { self.give_next(now) }
    }

    fn give_next(&mut self, now: Time) -> Option<usize> {
        let copies = self.scheduler.copies();
        let fresh = self.out.unsent() > 0;
        if !fresh && !copies && self.out.reinjections.is_empty() || self.ended {
            return None;
        }
        let usable = self.usable();
        self.look_for_room(now, usable, usable.is_power_of_two());
        self.contenders = self.liked(usable);
        if self.roomy & usable == 0 {
            return None;
        }
        if let Some(i) = self.send_again(usable) {
            return Some(i);
        }
        let room = self.out.room(self.mss(), self.override_silly);
        if fresh && room == 0 {
            self.scheduler.on_window_blocked(now);
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

    /// Whether a subflow that repairs has room. What it must repair first leaves before
    /// anything new is given to another for want of room.
    #[cold]
    pub(super) fn has_room_in_repair(&mut self, now: Time, i: usize) -> bool {
        let (usable, bit) = (self.usable(), self.subflows[i].bit());
        self.look_for_room(now, usable & bit, usable == bit);
        self.roomy & usable & bit != 0
    }

    /// Asks subflows of which it is not known whether they have room; `alone`: there are no
    /// others that carry data.
    fn look_for_room(&mut self, now: Time, among: u64, alone: bool) {
        let mut unknown = among & !self.full & !self.roomy;
        while unknown != 0 {
            let id = unknown.trailing_zeros();
            unknown &= !(1 << id);
            let Some(i) = self.position(id) else { continue };
            // Nothing new is put at risk on a subflow that has fallen silent, but for want of
            // another: its tail loss probe is what it sent last.
            let tcp = &mut self.subflows[i].tcp;
            let takes_more = tcp.takes_more(now) && (alone || !tcp.is_probe_due());
            if takes_more && self.is_within_window(i) {
                self.roomy |= 1 << id;
            } else {
                self.full |= 1 << id;
            }
        }
    }

    /// What a subflow has outstanding, copies of what others carry too, fits the
    /// peer's buffer: beyond it the peer's TCP would not take it.
    fn is_within_window(&self, i: usize) -> bool {
        let tcp = &self.subflows[i].tcp;
        let (una, end) = tcp.outstanding();
        end - una + tcp.mss() <= self.out.max_window.max(tcp.mss())
    }

    /// How little a subflow is liked (RFC 8684 §3.3.8): backups, and those that
    /// do not answer, only without others.
    fn rank(it: &Subflow) -> u32 {
        it.is_backup() as u32 + 2 * it.failed as u32
    }

    /// Of the subflows in `among` those that are liked the best.
    fn liked(&self, among: u64) -> u64 {
        let (mut best, mut liked) = (u32::MAX, 0);
        for it in self.subflows.iter().filter(|it| among & it.bit() != 0) {
            let rank = Connection::rank(it);
            if rank < best {
                (best, liked) = (rank, 0);
            }
            liked |= if rank == best { it.bit() } else { 0 };
        }
        liked
    }

    fn ask_scheduler(&mut self, now: Time, room: u64) -> Option<usize> {
        let mut liked = self.contenders;
        if self.scheduler.needs_room() {
            liked &= self.roomy;
            if liked == 0 {
                return None;
            }
            if liked.is_power_of_two() && room > 0 {
                self.scheduler.on_only(liked.trailing_zeros());
                let only = self.position(liked.trailing_zeros())?;
                return self.give_new(only);
            }
        }
        let mut candidates: Vec<Candidate> = std::mem::take(&mut self.candidates);
        candidates.clear();
        let liked = self.subflows.iter().filter(|it| liked & it.bit() != 0);
        candidates.extend(liked.map(|it| it.candidate(self.roomy & it.bit() != 0)));
        let stream = Stream {
            now,
            una: self.out.una,
            nxt: self.out.nxt,
            unsent: if room > 0 { self.out.unsent() } else { 0 },
            window_left: self.out.edge.saturating_sub(self.out.nxt),
        };
        let choice = self.scheduler.choose(&candidates, &stream);
        self.candidates = candidates;
        match choice {
            Choice::Wait => None,
            Choice::New(id) => self.give_new(self.position(id)?),
            Choice::Copy { id, from } => {
                let i = self.position(id)?;
                let end = self.out.nxt.min(from + self.most_for(i));
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
        let bit = self.dirty & self.told;
        let alone = bit.is_power_of_two() && self.contenders & !self.full == bit;
        if !alone || self.dirty != bit {
            return None;
        }
        let usual = self.phase == Phase::Multipath
            && self.takes_turns_by_room
            && !self.checksum
            && !self.ended
            && self.out.octets.is_none()
            && self.out.reinjections.is_empty();
        if !usual {
            return None;
        }
        // A window that holds any segment is no reason to wait.
        let window = self.out.edge.saturating_sub(self.out.nxt);
        if window < u16::MAX as u64 {
            return None;
        }
        let i = self.position(bit.trailing_zeros())?;
        let it = &self.subflows[i];
        let ((una, end), len) = (it.tcp.outstanding(), it.tcp.mss());
        let fits = end - una + len <= self.out.max_window.max(len);
        // The first segment may be shorter.
        if Connection::rank(it) > 0 || !it.tcp.awaits_data() || !fits || end == 1 {
            return None;
        }
        debug_assert_eq!(self.liked(self.usable()) & !self.full & !bit, 0);
        debug_assert!(self.is_within_window(i) && self.most_for(i) == len);
        // The last octets leave when a full segment would: the scheduler's to tell.
        (self.out.unsent() >= len).then_some((i, len))
    }

    /// The next octets of the stream left on the subflow that alone has room: their
    /// data offset.
    #[inline]
    pub(super) fn on_fed(&mut self, i: usize, len: u64) -> u64 {
        let start = self.out.nxt;
        self.out.nxt += len;
        self.override_silly = false;
        let fin = self.out.closed && self.out.nxt == self.out.data_end();
        let it = &mut self.subflows[i];
        let at = it.tcp.outstanding().1 - len;
        let unit = Sent { start: at, len: len as u32, data: start, fin, checksum: 0 };
        if !it.sent.push(unit, false) {
            it.tcp.cut_at(at);
        }
        it.sent_to = it.sent_to.max(start + len);
        self.scheduler.on_only(it.id);
        start
    }

    /// Payload that the next segment of a subflow holds.
    fn most_for(&self, i: usize) -> u64 {
        let subflow = &self.subflows[i];
        let begins = subflow.tcp.outstanding().1 == 1;
        let keys = begins && subflow.key() == self.first;
        let more = if keys { capable_more(self.config.long_numbers) } else { 0 };
        subflow.tcp.mss() - more as u64
    }

    fn give_new(&mut self, i: usize) -> Option<usize> {
        let len = self.out.room(self.most_for(i), self.override_silly);
        let start = self.out.nxt;
        if len == 0 {
            return None;
        }
        self.out.nxt += len;
        self.override_silly = false;
        self.give(i, Range { start, end: start + len })
    }

    /// Hands a range of the stream to a subflow, which sends it at once.
    fn give(&mut self, i: usize, range: Range) -> Option<usize> {
        if range.is_empty() {
            return None;
        }
        let (len, fin) = (range.len() as u32, self.out.closed && range.end == self.out.data_end());
        let (_, start) = self.subflows[i].tcp.outstanding();
        let octets = self.out.octets.as_mut().map(|it| it.payload(range.start, len));
        let checksum = match self.checksum {
            true => self.checksum_to_send(
                i,
                start,
                range,
                fin,
                octets.as_ref().and_then(Payload::octets),
            ),
            false => 0,
        };
        let unit = Sent { start, len, data: range.start, fin, checksum };
        let subflow = &mut self.subflows[i];
        if !subflow.sent.push(unit, self.checksum) {
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
        self.contenders = 0;
        Some(i)
    }

    /// Of the subflows in `among` that are liked the best, the fastest with room.
    fn best_among(&self, among: u64) -> Option<usize> {
        let among = self.liked(among) & self.roomy;
        let all = self.subflows.iter().enumerate().filter(|(_, it)| among & it.bit() != 0);
        all.min_by_key(|(_, it)| it.srtt()).map(|(i, _)| i)
    }

    /// What must be sent again, on a subflow that does not carry it.
    fn send_again(&mut self, usable: u64) -> Option<usize> {
        // What only a subflow without room may carry keeps nothing behind it waiting.
        let next = self.out.next_reinjection(usable & self.roomy)?;
        let i = self.best_among(usable & !next.carried)?;
        let end = next.range.end.min(next.range.start + self.most_for(i));
        let range = Range { end, ..next.range };
        self.out.on_reinjected(range.start, range.len());
        self.counters.reinjected += 1;
        self.give(i, range)
    }

    /// Data waits, a subflow has room, and the receive window is full because
    /// another subflow is slow: what it has not delivered is sent again, and it
    /// is penalised (Raiciu et al., NSDI 2012, section 4.2).
    #[cold]
    fn unblock_window(&mut self, now: Time, usable: u64) -> Option<usize> {
        let una = self.out.una;
        let i = self.best_among(usable)?;
        if una >= self.out.nxt || self.subflows[i].sent.carrying(una).is_some() {
            return None;
        }
        let carrier = self
            .subflows
            .iter()
            .enumerate()
            .find_map(|(j, it)| Some((j, it.sent.carrying(una)?.data_range().end)));
        let (j, end) = carrier?;
        let fast = self.subflows[i].srtt();
        let slow = &mut self.subflows[j];
        let srtt = slow.srtt();
        // Linux leaves windows of four segments alone, and those in recovery.
        let sibling = slow.tcp.sibling();
        let large = sibling.window > 4 * sibling.mss && !slow.tcp.observe().in_recovery;
        if self.config.penalisation && srtt > fast && now >= slow.penalty && large {
            slow.tcp.penalise();
            slow.penalty = now + srtt;
            self.counters.penalties += 1;
        }
        let end = end.min(una + self.most_for(i));
        self.counters.reinjected += 1;
        self.counters.opportunistic += 1;
        self.give(i, Range { start: una, end })
    }

    /// Everything that can leave has left: subflows hear whether their windows
    /// are full while there is more, and timers are set.
    #[inline]
    pub(super) fn end_round(&mut self, now: Time) {
        let waits = self.out.unsent() > 0 && !self.ended;
        let wait = if waits { self.full } else { 0 };
        let mut news = self.polled & wait | (wait ^ self.told);
        (self.polled, self.told) = (0, wait);
        while news != 0 {
            let id = news.trailing_zeros();
            news &= news - 1;
            if let Some(i) = self.position(id) {
                self.subflows[i].tcp.set_waiting(wait & 1 << id != 0);
            }
        }
        if !self.is_armed() {
            self.arm(now);
        }
    }

    /// The usual case of a long transfer: the timers of the stream are as they should be.
    #[inline]
    fn is_armed(&self) -> bool {
        let outstanding = self.out.una < self.out.nxt;
        let [retransmit, probe, ..] = &self.timers;
        self.phase == Phase::Multipath
            && !self.ended
            && !self.out.closed
            && retransmit.is_armed() == outstanding
            && !probe.is_armed()
            && (outstanding || self.out.unsent() == 0)
    }

    /// Sets the timers of the stream, where they are not.
    #[inline(never)]
    pub(super) fn arm(&mut self, now: Time) {
        if self.ended || self.subflows.is_empty() {
            return;
        }
        let multipath = self.phase == Phase::Multipath;
        let outstanding = self.out.una < self.out.nxt || multipath && self.out.owes_fin();
        let blocked = !outstanding
            && self.out.unsent() > 0
            && self.out.room(self.mss(), self.override_silly) == 0;
        self.keep_timer(now, Due::Retransmit, outstanding && multipath);
        self.keep_timer(now, Due::Probe, blocked);
        if self.closing {
            self.keep_timer(now, Due::Linger, true);
        }
    }

    /// A timer runs as long as it is wanted.
    #[inline]
    fn keep_timer(&mut self, now: Time, due: Due, wanted: bool) {
        if !wanted {
            self.timer(due).stop();
        } else if !self.timer(due).is_armed() {
            self.start_timer(now, due);
        }
    }

    #[cold]
    fn start_timer(&mut self, now: Time, due: Due) {
        let after = match due {
            Due::Retransmit => {
                self.progress = now;
                // The first two intervals are the same, as on Linux.
                self.longest_rto().saturating_mul(1 << self.retries.saturating_sub(1).min(6))
            }
            Due::Probe => self.longest_rto().saturating_mul(1 << self.probes.min(6)),
            _ => self.config.linger,
        };
        self.timer(due).set(now + after);
    }

    /// The timer of a subflow expired: what it has outstanding goes to others
    /// (§3.3.6), and it gets no more until something is acknowledged.
    #[cold]
    pub(super) fn on_subflow_timeout(&mut self, i: usize) {
        self.subflows[i].failed = true;
        self.reinject_all(i);
    }

    /// What a subflow has not delivered is to be sent again.
    pub(super) fn reinject_all(&mut self, i: usize) {
        let it = &self.subflows[i];
        let (bit, una) = (it.bit(), self.out.una);
        for unit in it.sent.iter().filter(|unit| unit.data_range().end > una) {
            self.out.reinject(unit.data_range(), bit);
        }
    }
}
