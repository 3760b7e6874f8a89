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
        if self.config.destination.keeps_fresh() && !self.flight.is_empty() {
            // Alternates in wait for retransmissions: about once a second.
            let wait = rto.min(self.config.rto.initial);
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
    pub(super) fn refresh(&mut self, now: Time, except: usize) {
        if !self.state.is_synchronized() {
            return; // the peer would take a heartbeat for out of the blue
        }
        let soon = now + self.config.rto.initial * 2;
        for index in (0..self.paths.len()).filter(|index| *index != except) {
            let path = &self.paths[index];
            let waits = path.probe.is_none() && path.state != PathState::Unconfirmed;
            if waits && path.heartbeat.deadline() > soon {
                self.rest(now, index);
            }
        }
    }

    /// Sends a heartbeat; its answer is expected within an RTO.
    pub(super) fn probe(&mut self, now: Time, index: usize) {
        let nonce = self.generator.next_u64();
        let path = &mut self.paths[index];
        path.probe = Some((nonce, now));
        path.heartbeats += 1;
        path.heartbeat.set(now + path.rtt.rto());
        let info = [nonce.to_be_bytes(), (index as u64).to_be_bytes()].concat();
        let packet = self.packet(index, Chunk::Heartbeat(info.into()));
        self.outbox.push_back(packet);
    }

    pub(super) fn on_heartbeat_due(&mut self, now: Time, index: usize) {
        let path = &mut self.paths[index];
        path.heartbeat.stop();
        if path.probe.take().is_some() {
            // No answer within the RTO (§8.3).
            path.rtt.on_timeout();
            path.quality.note(0, 1);
            if path.state == PathState::Unconfirmed {
                // §5.4: no failure of the association.
                path.errors = path.errors.saturating_add(1);
            } else {
                self.on_path_error(now, index);
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
        let period = match self.config.heartbeat_interval {
            None => return,
            _ if self.config.destination.keeps_fresh() && !self.flight.is_empty() => {
                self.config.rto.initial / 2
            }
            Some(interval) => interval + self.paths[index].rtt.rto(),
        };
        match self.paths[index].last_fresh.map(|last| last + period) {
            Some(idle_at) if idle_at > now => self.paths[index].heartbeat.set(idle_at),
            _ => self.probe(now, index),
        }
    }

    pub(super) fn on_heartbeat_ack(&mut self, now: Time, info: &[u8]) {
        let Some((nonce, _)) = info.split_first_chunk::<8>() else { return };
        let nonce = u64::from_be_bytes(*nonce);
        // The nonce proves that the path was reached (§5.4).
        let mine = |path: &crate::path::Path| path.probe.is_some_and(|probe| probe.0 == nonce);
        let Some(index) = self.paths.iter().position(mine) else { return };
        let path = &mut self.paths[index];
        let Some((_, sent)) = path.probe.take() else { return };
        path.rtt.on_sample(now - sent);
        path.quality.note(1, 0);
        let was = path.state;
        path.state = PathState::Active;
        path.errors = 0;
        if was != PathState::Active {
            self.notify(Notification::Path { path: index, state: PathState::Active });
        }
        self.errors = 0;
        self.rest(now, index);
    }
}
