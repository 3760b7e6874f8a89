//! Heartbeats probe idle paths, confirm addresses, and find out that a path works again (RFC 9260
//! §5.4, §8.3; RFC 7829 §3).

use super::{Association, Notification};
use crate::paths::path::PathState;
use crate::state::State;
use anabranch_units::{Span, Time};
use anabranch_wire::Packet;
use anabranch_wire::sctp::Chunk;

impl Association {
    /// Begins the heartbeats of an established association: unconfirmed addresses are probed at
    /// once, the others after their period.
    pub(super) fn start_heartbeats(&mut self, now: Time) {
        for index in 0..self.paths.len() {
            if self.paths[index].state == PathState::Unconfirmed {
                self.confirm(now, index);
            } else {
                self.rest(now, index);
            }
        }
    }

    /// Sends a heartbeat to the address of `path` now, whatever the settings are (RFC 9260 §8.3 D,
    /// §11.1.10). Returns false when there is no such path, or when none may leave in this state.
    pub fn request_heartbeat(&mut self, now: Time, path: usize) -> bool {
        let may = self.state().is_synchronized() && !self.has_ended_heartbeats();
        let may = may && path < self.paths.len();
        if may {
            self.probe(now, path);
        }
        may
    }

    /// Probes an unconfirmed address, now or when its turn comes.
    pub(super) fn confirm(&mut self, now: Time, index: usize) {
        let date = self.paths.book_confirmation(now, index, &self.config);
        match date > now {
            true => self.paths[index].heartbeat.set(date),
            false => self.probe(now, index),
        }
    }

    /// Lets the path be probed after its period, if it is idle until then.
    pub(super) fn rest(&mut self, now: Time, index: usize) {
        self.rest_from(now, now, index);
    }

    /// Does the same where the path was probed last at `from`.
    fn rest_from(&mut self, now: Time, from: Time, index: usize) {
        if self.has_ended_heartbeats() {
            return;
        }
        let outstanding = !self.sender.flight.is_empty();
        let generator = &mut self.identity.generator;
        self.paths.rest((now, from), index, &self.config, outstanding, generator);
        if self.paths[index].heartbeat.expired(now) {
            self.probe(now, index);
        }
    }

    /// Returns whether SHUTDOWN or SHUTDOWN ACK has been sent, so that no path is probed (§8.3).
    pub(super) fn has_ended_heartbeats(&self) -> bool {
        matches!(self.state(), State::ShutdownSent | State::ShutdownAckSent)
    }

    /// Lets the other paths be probed before long, as data leaves on `except`.
    #[cold]
    pub(super) fn refresh(&mut self, now: Time, except: usize, interval: Span) {
        if !self.state().is_synchronized() {
            return; // the peer would take a heartbeat for out of the blue
        }
        let soon = now + interval * 2;
        for index in (0..self.paths.len()).filter(|index| *index != except) {
            let path = &self.paths[index];
            let waits = path.probes.is_empty() && path.state != PathState::Unconfirmed;
            if waits && path.heartbeat.deadline() > soon {
                self.rest(now, index);
            }
        }
    }

    /// Sends a heartbeat, whose answer is expected within an RTO.
    pub(super) fn probe(&mut self, now: Time, index: usize) {
        self.probe_by(now, index, 1);
    }

    /// Sends `burst` heartbeats together.
    fn probe_by(&mut self, now: Time, index: usize, burst: u32) {
        if self.has_ended_heartbeats() {
            return;
        }
        // Those before are not waited for any more.
        self.paths[index].probes.give_up();
        for _ in 0..burst {
            let nonce = self.identity.generator.next_u64();
            self.paths[index].probes.send(nonce, now);
            let info = [nonce.to_be_bytes(), (index as u64).to_be_bytes()].concat();
            let packet = self.packet(index, Chunk::Heartbeat(info.into()));
            self.control.outbox.push(packet);
        }
        let path = &mut self.paths[index];
        path.heartbeats += u64::from(burst);
        path.heartbeat.set(now + path.rtt.rto());
    }

    pub(super) fn on_heartbeat_due(&mut self, now: Time, index: usize) {
        let path = &mut self.paths[index];
        path.heartbeat.stop();
        // The period began when they left (§8.3).
        let left = path.probes.left().unwrap_or(now);
        let (missing, answered) = path.probes.give_up();
        path.known.note(0, missing);
        if missing > 0 && answered {
            return self.rest_from(now, left, index); // losses, but no failure
        }
        if missing > 0 {
            // No answer within the RTO (§8.3).
            path.rtt.on_timeout();
            if path.state == PathState::Unconfirmed {
                // §5.4: no failure of the association.
                path.errors = path.errors.saturating_add(1);
            } else {
                self.on_idle_error(now, index);
            }
            if self.state() == State::Closed {
                return;
            }
            let path = &self.paths[index];
            // §5.4 and RFC 7829 §3 rule 3: once an RTO, until something
            // changes.
            return match path.state {
                PathState::Unconfirmed if path.errors <= self.config.path_max_retrans => {
                    self.confirm(now, index);
                }
                PathState::PotentiallyFailed if self.config.heartbeat_interval.is_some() => {
                    self.probe(now, index);
                }
                _ => self.rest_from(now, left, index),
            };
        }
        if self.paths[index].state == PathState::Unconfirmed {
            return self.probe(now, index); // its turn
        }
        // Data in the period stands for a heartbeat, unless it can give no RTT
        // sample: a path that carries retransmissions alone is idle (§8.3).
        let probe = self.config.probes().filter(|_| !self.sender.flight.is_empty());
        let Some(interval) = self.config.heartbeat_interval else { return };
        let path = &self.paths[index];
        let period = probe.map_or(interval + path.rtt.rto(), |probe| probe.interval / 2);
        match path.last_fresh.filter(|last| *last + period > now) {
            None => self.probe_by(now, index, probe.map_or(1, |probe| probe.burst)),
            Some(last) if probe.is_some() => self.paths[index].heartbeat.set(last + period),
            Some(last) => self.rest_from(now, last, index),
        }
    }

    /// Adds a heartbeat to a COOKIE ACK that goes to an unconfirmed address (§5.4).
    pub(super) fn probe_beside(&mut self, now: Time, index: usize) {
        let to = self.paths[index].remote;
        let mut probe = self.control.outbox.take_probe(to);
        if probe.is_none() {
            self.probe(now, index);
            probe = self.control.outbox.take_probe(to);
        }
        if let Some(probe) = probe {
            self.control.waiting.push(probe);
        }
    }

    /// Answers a heartbeat of the peer's, to where it came from (§8.3), with whatever else the
    /// packet is answered by (§12.4).
    pub(super) fn on_heartbeat(&mut self, packet: &Packet, answer: Chunk) {
        if self.state().is_synchronized() && self.paths.find(packet.src).is_some() {
            return self.control.waiting.push_answer(answer);
        }
        if self.state() != State::CookieWait && self.control.outbox.has_room() {
            let (port, tag) = (self.identity.peer_port, self.identity.peer_tag);
            let answer = self.packet_with(packet.dst, packet.src, port, tag, answer);
            self.control.outbox.push(answer);
        }
    }

    pub(super) fn on_heartbeat_ack(&mut self, now: Time, info: &[u8]) {
        let Some((nonce, _)) = info.split_first_chunk::<8>() else { return };
        let nonce = u64::from_be_bytes(*nonce);
        // The nonce proves that the path was reached (§5.4).
        let mine = |path: &crate::paths::path::Path| path.probes.has(nonce);
        let Some(index) = self.paths.iter().position(mine) else {
            self.on_mtu_probe_answered(now, nonce);
            return;
        };
        let path = &mut self.paths[index];
        let Some(sent) = path.probes.answer(nonce) else { return };
        path.rtt.on_sample(now - sent);
        path.known.note(1, 0);
        path.known.heard = Some(now);
        let was = path.state;
        path.state = PathState::Active;
        path.errors = 0;
        if was != PathState::Active {
            self.notify(Notification::Path { path: index, state: PathState::Active });
        }
        self.paths.forget_failures();
        if self.paths[index].probes.is_empty() {
            self.rest_from(now, sent, index);
        }
    }
}
