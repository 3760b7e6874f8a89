//! Packets leave from here: complete ones, retransmissions, new data, acknowledgments (RFC 9260
//! §6.1, §6.10, §7.2.4).

use super::Association;
use crate::config::Window;
use crate::draft::Draft;
use crate::paths::path::PathState;
use crate::phase::Phase;
use crate::receiver::LEAST_SACK;
use crate::route::Route;
use crate::state::State;
use crate::timestamp;
use anabranch_units::Time;
use anabranch_wire::Packet;
use anabranch_wire::sctp::{Cause, Chunk, Chunks};

impl Association {
    pub(super) fn next_packet(&mut self, now: Time) -> Option<Packet> {
        if let Some(packet) = self.control.outbox.pop() {
            return Some(packet);
        }
        match self.state() {
            State::Closed => return None,
            State::CookieWait | State::CookieEchoed => return self.opening_packet(now),
            _ => {}
        }
        if self.phase.take_shutdown_due() {
            self.after_close(now);
        }
        if self.state().may_transmit() {
            if self.answers_go_elsewhere() {
                return self.answers();
            }
            if self.extensions.any() {
                self.give_up(now);
            }
            if let Some(packet) = self.retransmission(now) {
                return Some(packet);
            }
            if let Some(packet) = self.new_data(now) {
                return Some(packet);
            }
            if matches!(self.config.window, Window::Algorithm(_)) {
                self.note_use();
            }
        }
        if self.extensions.any() && self.state().may_change() {
            if self.state().may_receive() {
                self.reconfigure(now);
            }
            self.change_addresses(now);
            if let Some(packet) = self.control.outbox.pop() {
                return Some(packet);
            }
        }
        self.answers()
    }

    /// Returns the next packet of answers and other control chunks by themselves, which go each
    /// where they must.
    fn answers(&mut self) -> Option<Packet> {
        let waiting = &self.control.waiting;
        let route = match (waiting.is_empty(), self.receiver.sacks.is_due()) {
            (true, false) => return None,
            (true, true) => self.sack_route(),
            (false, sack) => waiting.answer().unwrap_or_else(|| match sack {
                true => self.sack_route(),
                false => self.paths.route(self.paths.data_path()),
            }),
        };
        let mut draft = self.draft(route.path);
        self.lead(&mut draft, route, self.receiver.sacks.is_due());
        Some(self.packet_on(route, draft.chunks))
    }

    /// Returns whether an answer is due whose route is not that of the next data, so that it leaves
    /// first.
    fn answers_go_elsewhere(&self) -> bool {
        let data = || self.paths.route(self.paths.data_path());
        let waiting = &self.control.waiting;
        let answer = waiting.answer().filter(|_| !waiting.is_empty());
        self.receiver.sacks.is_due() && !self.is_same_route(self.sack_route(), data())
            || answer.is_some_and(|route| !self.is_same_route(route, data()))
    }

    /// Returns the route of a SACK: it goes to where the data came from, out of where it came to.
    /// With `vary_sack_path` it goes elsewhere when TSNs came again (§6.4). Instead of to an
    /// unconfirmed address it goes where new data does (§5.4).
    #[inline]
    fn sack_route(&self) -> Route {
        let route = self.receiver.sacks.route;
        match self.config.vary_sack_path || self.paths[route.path].state == PathState::Unconfirmed {
            false => route,
            true => self.other_sack_route(),
        }
    }

    #[cold]
    fn other_sack_route(&self) -> Route {
        let sacks = &self.receiver.sacks;
        if self.paths[sacks.route.path].state == PathState::Unconfirmed {
            return self.paths.route(self.paths.data_path()); // §5.4
        }
        if sacks.duplicates().is_empty() {
            return sacks.route;
        }
        let paths = self.paths.len();
        let mut others = (1..paths).map(|i| (sacks.route.path + i) % paths);
        let other = others.find(|i| self.paths[*i].state == PathState::Active);
        other.map_or(sacks.route, |path| self.paths.route(path))
    }

    /// Returns how many octets the echo of a timestamp takes beside the next SACK.
    #[inline]
    fn echo_room(&self) -> u32 {
        if self.receiver.sacks.echo.is_some() { timestamp::CHUNK } else { 0 }
    }

    /// Returns an empty packet to the address of `path`.
    fn draft(&self, path: usize) -> Draft {
        Draft::new(self.paths[path].room.chunk)
    }

    /// Fills the front of a packet that takes this route: control chunks, and a SACK if there is
    /// something to acknowledge (§6.10 puts them before data), unless they are answers that go
    /// another route (§6.4).
    fn lead(&mut self, draft: &mut Draft, route: Route, sack: bool) {
        if self.control.waiting.answer().is_none_or(|answer| self.is_same_route(answer, route)) {
            self.control.waiting.lead(draft);
        }
        let echo = self.echo_room();
        let least = self.receiver.least_sack() + echo;
        if sack && least <= draft.room && self.is_same_route(self.sack_route(), route) {
            self.control.marks.report().into_iter().for_each(|chunk| draft.push(chunk));
            // What a whole packet's gap blocks take is bounded; half of it
            // stays for data.
            let room = if self.receiver.sacks.is_due() { draft.room } else { draft.room / 2 };
            let sack = self.take_sack(room.saturating_sub(echo));
            draft.push(Chunk::Sack(sack));
            if let Some(value) = self.receiver.sacks.echo.take() {
                draft.push(timestamp::echo(value));
            }
        }
    }

    /// Returns the INIT, or the COOKIE ECHO with data (§5.1 C), when one is due.
    fn opening_packet(&mut self, now: Time) -> Option<Packet> {
        if self.extensions.any() {
            self.give_up(now);
        }
        let opening = self.phase.opening_mut().filter(|opening| opening.due)?;
        opening.due = false;
        opening.sent = now;
        let path = opening.path;
        let Phase::CookieEchoed { opening, cookie } = &mut self.phase else {
            let init = Chunk::Init(Box::new(self.init_chunk()));
            let to = &self.paths[path];
            return Some(self.packet_with(to.local, to.remote, self.identity.peer_port, 0, init));
        };
        let unrecognized = std::mem::take(&mut opening.unrecognized);
        let cookie = cookie.clone();
        let mut draft = self.draft(path);
        draft.push(Chunk::CookieEcho(cookie));
        if !unrecognized.is_empty() {
            let cause = Cause::UnrecognizedParameters(unrecognized.into());
            let error = Chunk::Error(vec![cause]);
            if error.wire_len() <= draft.room {
                draft.push(error);
            }
        }
        self.add_lost(now, &mut draft, path, 0);
        self.add_new(now, &mut draft, path);
        self.paths[path].t3.stop(); // T1-cookie covers it
        Some(self.packet(path, draft.chunks))
    }

    /// Returns the next packet of chunks that are to be sent again (§6.1 C, §6.3.3 E3, §7.2.4 rule
    /// 3).
    fn retransmission(&mut self, now: Time) -> Option<Packet> {
        let lost = self.sender.next_lost(now, &mut self.paths, &self.config)?;
        let (path, len, most) = (lost.path, lost.len, self.paths.room.payload);
        let too_large = len > self.paths[path].room.payload;
        let mut draft = match too_large {
            false => self.data_draft(now, path, len),
            // It has its TSN and cannot be cut again: alone, for IP to cut (§6.9).
            true => Draft::new(self.sender.flight.header() + len),
        };
        if self.add_lost(now, &mut draft, path, lost.index) {
            self.sender.repair.on_packet(lost.fast, lost.alone);
        }
        self.sender.ask_with_lost(&mut draft.chunks, &self.paths[path], most, &self.config);
        let mut packet = self.data_packet(now, path, draft.chunks);
        if too_large {
            packet.may_fragment = true;
            packet.ident = self.sender.counters.retransmitted as u16;
        }
        Some(packet)
    }

    /// Begins a packet that will carry a chunk of `len` octets: with a SACK that takes its route and
    /// is due, or fits beside it (§6.2 wishes for one in every packet), and the timestamp.
    fn data_draft(&mut self, now: Time, path: usize, len: u32) -> Draft {
        let mut draft = self.draft(path);
        let taken =
            self.sender.flight.header() + len.next_multiple_of(4) + self.config.timestamp_room();
        let fits = taken + LEAST_SACK + self.echo_room() <= draft.room;
        let sacks = &self.receiver.sacks;
        let sack = sacks.is_due() || (sacks.is_waiting() && fits);
        self.lead(&mut draft, self.paths.route(path), sack);
        if self.config.timestamps {
            draft.push(timestamp::stamp(now, path as u8));
        }
        draft
    }

    /// Adds lost chunks that go to `path`, from the one at `index` on. Returns false when none
    /// fits.
    fn add_lost(&mut self, now: Time, draft: &mut Draft, path: usize, index: usize) -> bool {
        let sent = self.sender.add_lost(now, draft, (index, path), &mut self.paths, &self.config);
        if sent {
            self.on_data_sent(now, path);
        }
        sent
    }

    /// Returns the next packet of new data (§6.1).
    fn new_data(&mut self, now: Time) -> Option<Packet> {
        if !self.sender.may_send_new(&self.config)
            || self.control.reconfig.as_ref().is_some_and(|reconfig| reconfig.holds_data())
        {
            return None;
        }
        let path = match self.config.concurrent {
            None => self.paths.data_path(),
            Some(concurrent) => {
                let rwnd = self.sender.window.rwnd();
                self.paths.next_in_turn(now, &self.config, concurrent, rwnd)?
            }
        };
        self.paths.prepare_window(now, path, &self.config);
        if self.paths[path].flight >= self.paths[path].window.limit()
            || self.paths[path].is_held()
            || self.paths[path].window.waits_for_pacer(now)
        {
            return None;
        }
        let nagle = self.config.nagle && self.state() == State::Established;
        let len = self.sender.begin_packet(self.paths.room.payload, nagle, &self.config);
        let Some(len) = len else {
            let rto = self.paths[path].rtt.rto();
            self.sender.watch_window(now, rto, self.config.rto.max);
            return None;
        };
        self.paths.pass_turn(path);
        let mut draft = self.data_draft(now, path, len);
        self.add_new(now, &mut draft, path);
        Some(self.data_packet(now, path, draft.chunks))
    }

    /// Makes a packet with data, which leaves at the pace of its path, if that has one.
    #[inline(always)]
    fn data_packet(&mut self, now: Time, path: usize, chunks: Chunks) -> Packet {
        let packet = self.packet(path, chunks);
        let path = &mut self.paths[path];
        if path.window.is_paced() {
            path.window.on_paced(now, &packet, path.rtt.srtt());
        }
        packet
    }

    /// Tells window algorithms whether their windows ended the sending opportunity that is over.
    fn note_use(&mut self) {
        let waits = self.sender.has_more();
        let awaited = self.sender.repair.awaits_sack();
        for path in self.paths.iter_mut() {
            let (flight, awaited) = (path.flight, awaited || path.is_held());
            if let Some(driven) = path.window.driven() {
                driven.note_use(waits, awaited, flight);
            }
        }
    }

    /// Adds new chunks while the windows last.
    fn add_new(&mut self, now: Time, draft: &mut Draft, path: usize) {
        if self.sender.add_new(now, draft, path, &mut self.paths, &self.config) {
            self.ask_with_new(&mut draft.chunks, path);
            self.on_data_sent(now, path);
        }
    }

    /// Asks for a SACK at once, where the settings want one, as a packet on `path` that ends in new
    /// data is complete (RFC 7053 §5.1).
    #[inline]
    fn ask_with_new(&mut self, chunks: &mut Chunks, path: usize) {
        let Some(when) = self.config.immediate_sacks else { return };
        let changes =
            || self.control.reconfig.as_ref().is_some_and(|reconfig| reconfig.is_waiting());
        let waits = when.shutdown_pending && self.state() == State::ShutdownPending
            || when.reconfiguration && changes();
        let (to, most) = (&self.paths[path], self.paths.room.payload);
        self.sender.ask_with_new(chunks, to, most, waits, &self.config);
    }

    /// Notes that a packet with data leaves on `path`.
    #[inline]
    fn on_data_sent(&mut self, now: Time, path: usize) {
        self.sender.counters.packets += 1;
        if let Some(probe) = self.config.probes() {
            self.refresh(now, path, probe.interval);
        }
        let probing = self.sender.is_probing(path);
        let path = &mut self.paths[path];
        path.packets += 1;
        if !probing {
            path.last_sent = Some(now);
        }
        if !path.t3.is_armed() {
            path.t3.set(now + path.rtt.rto()); // §6.3.2 R1
        }
    }
}
