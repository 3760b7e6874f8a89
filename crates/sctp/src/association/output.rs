//! What leaves: complete packets, retransmissions, new data, acknowledgments
//! (RFC 9260 §6.1, §6.10, §7.2.4).

use super::candidates::{self, Candidates};
use super::handshake::Handshake;
use super::{Association, Due, Way};
use crate::outgoing::Fragment;
use crate::path::PathState;
use crate::policy::Reason;
use crate::reassembly::SSN_SPAN;
use crate::state::State;
use crate::timestamp;
use anabranch_units::{Serial32, Time};
use anabranch_wire::Packet;
use anabranch_wire::sctp::{Cause, Chunk, Chunks, DataChunk, IDataChunk};

/// Octets of a SACK without gaps.
const SACK: u32 = 16;

/// A packet in the making.
struct Draft {
    chunks: Chunks,
    /// Octets left.
    room: u32,
}

impl Draft {
    fn push(&mut self, chunk: Chunk) {
        self.room = self.room.saturating_sub(chunk.wire_len());
        self.chunks.push(chunk);
    }
    /// User data that a chunk with such a header can still have.
    fn data_room(&self, header: u32) -> u32 {
        self.room.saturating_sub(header)
    }
}

impl Association {
    pub(super) fn next_packet(&mut self, now: Time) -> Option<Packet> {
        if let Some(packet) = self.outbox.pop_front() {
            return Some(packet);
        }
        match self.state {
            State::Closed => return None,
            State::CookieWait | State::CookieEchoed => return self.opening_packet(now),
            _ => {}
        }
        if std::mem::take(&mut self.shutdown_due) {
            self.after_close(now);
        }
        if self.state.may_transmit() {
            if self.answers_go_elsewhere() {
                return self.answers();
            }
            if self.extended {
                self.give_up(now);
            }
            if let Some(packet) = self.retransmission(now) {
                return Some(packet);
            }
            if let Some(packet) = self.new_data(now) {
                return Some(packet);
            }
        }
        if self.extended && self.state.may_receive() {
            self.reconfigure(now);
            self.change_addresses(now);
            if let Some(packet) = self.outbox.pop_front() {
                return Some(packet);
            }
        }
        self.answers()
    }

    /// Answers and other control chunks by themselves, each where they go.
    fn answers(&mut self) -> Option<Packet> {
        let way = match (self.control.is_empty(), self.sack_now) {
            (true, false) => return None,
            (true, true) => self.way_of_sack(),
            (false, sack) => self.answer_way.unwrap_or_else(|| match sack {
                true => self.way_of_sack(),
                false => self.way(self.data_path()),
            }),
        };
        let mut draft = self.draft();
        self.lead(&mut draft, way, self.sack_now);
        Some(self.packet_on(way, draft.chunks))
    }

    /// An answer is due whose way is not that of the next data: it leaves first.
    fn answers_go_elsewhere(&self) -> bool {
        let data = || self.way(self.data_path());
        let answer = self.answer_way.filter(|_| !self.control.is_empty());
        self.sack_now && !self.is_one_way(self.way_of_sack(), data())
            || answer.is_some_and(|way| !self.is_one_way(way, data()))
    }

    /// Where a SACK goes: to where the data came from, out of where it came to; with `vary_sack_path`
    /// elsewhere when that came before (§6.4).
    fn way_of_sack(&self) -> Way {
        if !self.config.vary_sack_path || self.duplicates.is_empty() {
            return self.sack_way;
        }
        let paths = self.paths.len();
        let mut others = (1..paths).map(|i| (self.sack_way.path + i) % paths);
        let other = others.find(|i| self.paths[*i].state == PathState::Active);
        other.map_or(self.sack_way, |path| self.way(path))
    }

    fn draft(&self) -> Draft {
        Draft { chunks: Chunks::new(), room: self.max_chunk }
    }

    /// For a packet that goes this way: control chunks, and a SACK if there is something to
    /// acknowledge (§6.10 puts them before data), unless they are answers that go another (§6.4).
    fn lead(&mut self, draft: &mut Draft, way: Way, sack: bool) {
        if self.answer_way.is_none_or(|answer| self.is_one_way(answer, way)) {
            let mut waiting = std::mem::take(&mut self.control).into_iter().peekable();
            while let Some(chunk) =
                waiting.next_if(|chunk| draft.chunks.is_empty() || chunk.wire_len() <= draft.room)
            {
                draft.push(chunk);
            }
            self.control.extend(waiting);
            self.answer_way = None;
        }
        let least = SACK + 4 * self.duplicates.len() as u32 + timestamp::CHUNK;
        if sack && least <= draft.room && self.is_one_way(self.way_of_sack(), way) {
            self.ecne().into_iter().for_each(|chunk| draft.push(chunk));
            // What a whole packet's gap blocks take is bounded; half of it
            // stays for data.
            let room = if self.sack_now { draft.room } else { draft.room / 2 };
            let sack = self.take_sack(room.saturating_sub(timestamp::CHUNK));
            draft.push(Chunk::Sack(sack));
            if let Some(value) = self.echo.take() {
                draft.push(timestamp::echo(value));
            }
        }
    }

    /// INIT, or COOKIE ECHO with data (§5.1 C).
    fn opening_packet(&mut self, now: Time) -> Option<Packet> {
        let Handshake { due: true, path, .. } = **self.handshake.as_ref()? else { return None };
        let handshake = self.handshake.as_mut()?;
        handshake.due = false;
        handshake.sent = now;
        let Some(cookie) = handshake.cookie.clone() else {
            let init = Chunk::Init(Box::new(self.init_chunk()));
            let to = &self.paths[path];
            return Some(self.packet_with(to.local, to.remote, self.peer_port, 0, init));
        };
        let unrecognized = std::mem::take(&mut handshake.unrecognized);
        let mut draft = self.draft();
        draft.push(Chunk::CookieEcho(cookie));
        if !unrecognized.is_empty() {
            let cause = Cause::UnrecognizedParameters(unrecognized.into());
            draft.push(Chunk::Error(vec![cause]));
        }
        self.add_lost(now, &mut draft, path, 0);
        self.add_new(now, &mut draft, path);
        self.paths[path].t3.stop(); // T1-cookie covers it
        Some(self.packet(path, draft.chunks))
    }

    /// The next packet of chunks that are to be sent again (§6.1 C, §6.3.3 E3,
    /// §7.2.4 rule 3).
    fn retransmission(&mut self, now: Time) -> Option<Packet> {
        if self.await_sack {
            return None;
        }
        let mut from = 0;
        // The first lost chunk whose path has room: one path's full window
        // does not hold up another's.
        loop {
            let (index, reason) = self.flight.next_lost(from)?;
            let path = self.retransmission_path(index, reason);
            let one = self.config.ns2_rules.is_some_and(|it| it.one_packet);
            let fast = self.fast_due && (reason == Reason::FastRetransmit || one);
            if fast || self.paths[path].flight < self.paths[path].window.cwnd() {
                let len = self.flight.chunks[index].fragment.payload.len();
                let mut draft = match len > self.max_payload {
                    false => self.data_draft(now, path, len),
                    // The MTU has shrunk since: it leaves as it is, alone (§7.3).
                    true => Draft { chunks: Chunks::new(), room: self.flight.header() + len },
                };
                if self.add_lost(now, &mut draft, path, index) {
                    self.fast_due &= !fast;
                    self.await_sack = std::mem::take(&mut self.timed_out) || fast && one;
                }
                self.ask_with_lost(&mut draft.chunks, path);
                return Some(self.packet(path, draft.chunks));
            }
            if self.paths.len() == 1 {
                return None;
            }
            from = index + 1;
        }
    }

    fn retransmission_path(&mut self, index: usize, reason: Reason) -> usize {
        let last = self.flight.chunks[index].path as usize;
        self.destination_of(last, reason)
    }

    /// Where a chunk goes that was sent to `last` before.
    pub(super) fn destination_of(&mut self, last: usize, reason: Reason) -> usize {
        if let Some(own) = &mut self.own_policy {
            let paths = candidates::of(&self.paths);
            return own.choose(reason, last, &paths).min(paths.len() - 1);
        }
        self.config.destination.choose(reason, last, Candidates(&self.paths))
    }

    /// A packet that will carry a chunk of `len` octets: with a SACK that goes
    /// its way and is due, or fits beside it (§6.2 wishes for one in every
    /// packet), and the timestamp.
    fn data_draft(&mut self, now: Time, path: usize, len: u32) -> Draft {
        let mut draft = self.draft();
        let taken = self.flight.header() + len.next_multiple_of(4) + self.config.timestamp_room();
        let fits = taken + SACK + timestamp::CHUNK <= draft.room;
        let sack = self.sack_now || (self.unsacked > 0 && fits);
        self.lead(&mut draft, self.way(path), sack);
        if self.config.timestamps {
            draft.push(timestamp::stamp(now, path as u8));
        }
        draft
    }

    /// Adds lost chunks, from the one at `index` on, whose place is `path`;
    /// false when none fits.
    fn add_lost(&mut self, now: Time, draft: &mut Draft, path: usize, index: usize) -> bool {
        let mut from = index;
        let mut sent = false;
        while let Some((index, reason)) = self.flight.next_lost(from) {
            from = index + 1;
            if self.retransmission_path(index, reason) != path {
                continue;
            }
            let chunk = &self.flight.chunks[index];
            if chunk.fragment.payload.len() > draft.data_room(self.flight.header()) {
                break;
            }
            let offset = self.flight.una + index as u64;
            let (last, size) = (chunk.path as usize, self.flight.size(chunk));
            if self.paths[last].timed.is_some_and(|timed| timed.0 == offset) {
                self.paths[last].timed = None;
            }
            draft.push(self.data_chunk(&chunk.fragment, self.local_origin.at(offset)));
            let keeps = self.config.ns2_rules.is_some_and(|it| it.marked_outstanding);
            self.flight.resend(index, path as u8, keeps);
            self.counters.retransmitted += !sent as u64;
            self.paths[path].retransmitted += !sent as u64;
            sent = true;
            let to = &mut self.paths[path];
            to.flight += size;
            // §7.2.4 rule 4: the first outstanding chunk restarts the timer.
            if index == 0 && reason == Reason::FastRetransmit {
                to.t3.set(now + to.rtt.rto());
            }
        }
        if sent {
            self.paths[path].known.resent = Some(now);
            self.on_data_sent(now, path);
        }
        sent
    }

    /// A packet of new data (§6.1).
    fn new_data(&mut self, now: Time) -> Option<Packet> {
        // §6.1 C: what is to be sent again comes first.
        if self.outgoing.is_empty() || (self.await_sack && self.flight.lost > 0) {
            return None;
        }
        if self.flight.lost > 0 && self.config.ns2_rules.is_some_and(|it| it.one_packet) {
            return None;
        }
        if self.reconfig.as_ref().is_some_and(|reconfig| reconfig.holds_data()) {
            return None;
        }
        let path = match self.config.concurrent {
            None => self.data_path(),
            Some(concurrent) => self.concurrent_path(now, concurrent)?,
        };
        self.prepare_window(now, path);
        if self.paths[path].flight >= self.paths[path].window.limit() {
            return None;
        }
        self.outgoing.begin_packet();
        let len = self.next_len(self.max_payload)?;
        if self.config.nagle && self.waits_for_more() {
            return None;
        }
        self.nagle_passed |= self.flight.payload == 0;
        // The peer's window takes it, or nothing is outstanding and one chunk may
        // probe it (§6.1 A).
        if self.flight.payload + len as u64 > self.peer_rwnd && !self.flight.is_empty() {
            return None;
        }
        self.turn = path + 1;
        let mut draft = self.data_draft(now, path, len);
        self.add_new(now, &mut draft, path);
        Some(self.packet(path, draft.chunks))
    }

    /// Nagle's rule: what waits is less than a packet, data is outstanding, and
    /// more may come. What leaves when nothing was outstanding leaves to its end,
    /// and so does a message that was begun.
    fn waits_for_more(&self) -> bool {
        self.state == State::Established
            && self.flight.payload > 0
            && !self.nagle_passed
            && !self.outgoing.is_begun()
            && self.outgoing.unsent() < self.max_payload as u64
    }

    #[inline]
    pub(super) fn next_len(&self, room: u32) -> Option<u32> {
        let most = self.max_payload;
        let size = self.config.message_size.unwrap_or(most).min(most);
        // A message that a packet of its own would take whole is not cut.
        let whole = self.outgoing.waiting(size)?;
        if self.flight.chunks.len() as u64 >= SSN_SPAN && self.waits_for_a_number() {
            return None;
        }
        (room >= whole.min(most)).then_some(whole.min(room))
    }

    /// The stream sequence number of the next message would be 2^15 or more ahead of one that the
    /// peer may still wait for: it would take the message for an older one (§6.6, with the serial
    /// number arithmetic of RFC 1982 §3.2).
    #[cold]
    fn waits_for_a_number(&self) -> bool {
        let Some((stream, number)) = self.outgoing.next_ssn() else { return false };
        let oldest = self.flight.oldest_ssn(stream);
        oldest.is_some_and(|oldest| number.wrapping_sub(oldest) as u64 >= SSN_SPAN)
    }

    /// Adds new chunks while the windows last.
    fn add_new(&mut self, now: Time, draft: &mut Draft, path: usize) {
        let mut sent = false;
        let header = self.flight.header();
        while let Some(len) = self.next_len(draft.data_room(header) & !3) {
            let to = &self.paths[path];
            let probing = self.flight.is_empty();
            if !probing && self.flight.payload + len as u64 > self.peer_rwnd {
                break;
            }
            if sent && (to.flight >= to.window.limit() || !self.outgoing.may_bundle()) {
                break;
            }
            let (mut fragment, limit) = self.outgoing.take(len);
            self.ask_with_message(&mut fragment.flags);
            let tsn = self.local_origin.at(self.flight.next());
            let size = (header + len) as u64;
            draft.push(self.data_chunk(&fragment, tsn));
            let offset = self.flight.push(fragment, limit, path as u8);
            let chunk = self.max_chunk as u64;
            let to = &mut self.paths[path];
            let view = to.view(chunk);
            to.window.on_sent(now, size, &view);
            to.flight += size;
            to.last_fresh = Some(now);
            if to.timed.is_none() {
                to.timed = Some((offset, now));
                to.timed_flight = to.flight;
            }
            sent = true;
        }
        if sent {
            self.ask_with_new(&mut draft.chunks, path);
            self.on_data_sent(now, path);
        }
    }

    /// A packet with data leaves on `path`.
    #[inline]
    fn on_data_sent(&mut self, now: Time, path: usize) {
        self.counters.packets += 1;
        if let Some(probe) = self.config.probes() {
            self.refresh(now, path, probe.interval);
        }
        let path = &mut self.paths[path];
        path.packets += 1;
        path.last_sent = Some(now);
        if !path.t3.is_armed() {
            path.t3.set(now + path.rtt.rto()); // §6.3.2 R1
        }
    }

    /// The window after idleness (§7.2.1) and before a burst (§6.1 D).
    #[inline(always)]
    pub(super) fn prepare_window(&mut self, now: Time, index: usize) {
        let initial = self.config.initial_window();
        let path = &mut self.paths[index];
        if path.flight == 0
            && let Some(last) = path.last_sent
        {
            let idle = now.saturating_since(last);
            let rtos = idle.as_picos() / path.rtt.rto().as_picos().max(1);
            if rtos > 0 {
                path.window.on_idle(rtos, initial);
                path.last_sent = Some(now);
            }
        }
        // Max.Burst counts what one event may release; while such a burst
        // leaves, the flight grows with it and the limit with the flight, so
        // that it is set once an event.
        if let Some(burst) = self.config.max_burst
            && self.burst_limited >> index & 1 == 0
        {
            self.burst_limited |= 1 << index;
            path.window.limit_burst(path.flight, burst as u64);
        }
    }

    /// The timer of the delayed SACK expired.
    pub(super) fn on_sack_timer(&mut self) {
        self.timer(Due::Sack).stop();
        self.sack_now = true;
    }

    fn data_chunk(&self, fragment: &Fragment, tsn: Serial32) -> Chunk {
        let (flags, stream, payload) = (fragment.flags, fragment.stream, fragment.payload.clone());
        if self.flight.is_interleaving() {
            let (mid, ppid_or_fsn) = (fragment.number, fragment.ppid_or_fsn);
            return Chunk::IData(IDataChunk { flags, tsn, stream, mid, ppid_or_fsn, payload });
        }
        let (ssn, ppid) = (fragment.number as u16, fragment.ppid_or_fsn);
        Chunk::Data(DataChunk { flags, tsn, stream, ssn, ppid, payload })
    }
}
