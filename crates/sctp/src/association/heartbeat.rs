//! Heartbeats: idle paths, confirmation of addresses, failback (RFC 9260
//! §5.4, §8.3; RFC 7829 §3).

use super::{Association, Notification};
use crate::config::Jitter;
use crate::path::PathState;
use crate::state::State;
use anabranch_units::{Span, Time};
use anabranch_wire::sctp::Chunk;

impl Association {
    /// The association is established: unconfirmed addresses are probed at
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

    /// Probes an unconfirmed address, now or when its turn comes: all of them
    /// together get HB.Max.Burst heartbeats an RTO (§5.4), since they may be
    /// those of a third party that the peer wants flooded.
    pub(super) fn confirm(&mut self, now: Time, index: usize) {
        let date = self.next_confirmation.max(now);
        let spacing = self.paths[index].rtt.rto() / self.config.heartbeat_burst as u64;
        self.next_confirmation = date + spacing;
        match date > now {
            true => self.paths[index].heartbeat.set(date),
            false => self.probe(now, index),
        }
    }

    /// When an idle path is probed next: RTO + HB.interval, with jitter.
    pub(super) fn rest(&mut self, now: Time, index: usize) {
        let Some(interval) = self.config.heartbeat_interval else {
            return self.paths[index].heartbeat.stop();
        };
        let rto = self.paths[index].rtt.rto();
        if let Some(probe) = self.config.probes()
            && !self.flight.is_empty()
        {
            let wait = rto.min(probe.interval);
            let picos = wait.as_picos();
            let wait = Span::from_picos(picos / 2 + self.generator.below(picos.max(1)));
            return self.paths[index].heartbeat.set(now + wait);
        }
        let mut jittered = |span: Span| {
            let picos = span.as_picos();
            Span::from_picos(picos / 2 + self.generator.below(picos.max(1)))
        };
        let period = match self.config.heartbeat_jitter {
            Jitter::Rto => interval + jittered(rto),
            Jitter::Interval => rto + jittered(interval),
            Jitter::None => rto + interval,
        };
        self.paths[index].heartbeat.set(now + period);
    }

    /// Data leaves on `except`: the other paths are probed before long.
    #[cold]
    pub(super) fn refresh(&mut self, now: Time, except: usize, interval: Span) {
        if !self.state.is_synchronized() {
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

    /// Sends a heartbeat; its answer is expected within an RTO.
    pub(super) fn probe(&mut self, now: Time, index: usize) {
        self.probe_by(now, index, 1);
    }

    /// The same with several that leave together.
    fn probe_by(&mut self, now: Time, index: usize, burst: u32) {
        // Those before are not waited for any more.
        self.paths[index].probes.give_up();
        for _ in 0..burst {
            let nonce = self.generator.next_u64();
            self.paths[index].probes.send(nonce, now);
            let info = [nonce.to_be_bytes(), (index as u64).to_be_bytes()].concat();
            let packet = self.packet(index, Chunk::Heartbeat(info.into()));
            self.outbox.push_back(packet);
        }
        let path = &mut self.paths[index];
        path.heartbeats += u64::from(burst);
        path.heartbeat.set(now + path.rtt.rto());
    }

    pub(super) fn on_heartbeat_due(&mut self, now: Time, index: usize) {
        let path = &mut self.paths[index];
        path.heartbeat.stop();
        let (missing, answered) = path.probes.give_up();
        path.known.note(0, missing);
        if missing > 0 && answered {
            return self.rest(now, index); // losses, but no failure
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
            if self.state == State::Closed {
                return;
            }
            let path = &self.paths[index];
            // §5.4 and RFC 7829 §3 rule 3: once an RTO, until something
            // changes.
            return match path.state {
                PathState::Unconfirmed if path.errors <= self.config.path_max_retrans => {
                    self.confirm(now, index);
                }
                PathState::PotentiallyFailed => self.probe(now, index),
                _ => self.rest(now, index),
            };
        }
        if self.paths[index].state == PathState::Unconfirmed {
            return self.probe(now, index); // its turn
        }
        // Data in the period stands for a heartbeat, unless it can give no RTT
        // sample: a path that carries retransmissions alone is idle (§8.3).
        let probe = self.config.probes().filter(|_| !self.flight.is_empty());
        let period = match (self.config.heartbeat_interval, probe) {
            (None, _) => return,
            (_, Some(probe)) => probe.interval / 2,
            (Some(interval), None) => interval + self.paths[index].rtt.rto(),
        };
        match self.paths[index].last_fresh.map(|last| last + period) {
            Some(idle_at) if idle_at > now => self.paths[index].heartbeat.set(idle_at),
            _ => self.probe_by(now, index, probe.map_or(1, |probe| probe.burst)),
        }
    }

    pub(super) fn on_heartbeat_ack(&mut self, now: Time, info: &[u8]) {
        let Some((nonce, _)) = info.split_first_chunk::<8>() else { return };
        let nonce = u64::from_be_bytes(*nonce);
        // The nonce proves that the path was reached (§5.4).
        let mine = |path: &crate::path::Path| path.probes.has(nonce);
        let Some(index) = self.paths.iter().position(mine) else { return };
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
        self.errors = 0;
        if self.paths[index].probes.is_empty() {
            self.rest(now, index);
        }
    }
}
