//! What the association does by itself.

use super::{Association, Due, Notification};
use crate::path::PathState;
use crate::state::State;
use anabranch_endpoint::CloseReason;
use anabranch_units::Time;

impl Association {
    pub(super) fn on_timeout(&mut self, now: Time) {
        self.burst_limited = 0;
        self.nagle_passed = false;
        for due in Due::ALL {
            if !self.timers[due as usize].expired(now) {
                continue;
            }
            self.timer(due).stop();
            match due {
                Due::T1 => self.on_t1(now),
                Due::T2 => self.on_t2(now),
                Due::T5 => {
                    // RFC 9260 §9.2: the end has taken too long.
                    self.abort_with(Vec::new(), CloseReason::TimedOut);
                }
                Due::Sack => self.on_sack_timer(),
            }
        }
        if self.reconfig.as_ref().is_some_and(|reconfig| reconfig.timer.expired(now)) {
            self.on_reconfig_timer(now);
        }
        if let Some(reconfig) = &mut self.reconfig
            && reconfig.hold.expired(now)
        {
            reconfig.hold.stop();
        }
        if self.addresses.as_ref().is_some_and(|addresses| addresses.timer.expired(now)) {
            self.on_t4(now);
        }
        for index in 0..self.paths.len() {
            if self.paths[index].t3.expired(now) {
                self.on_t3(now, index);
            }
            if self.paths.get(index).is_some_and(|path| path.heartbeat.expired(now)) {
                self.on_heartbeat_due(now, index);
            }
        }
    }

    /// T3-rtx expired (RFC 9260 §6.3.3).
    fn on_t3(&mut self, now: Time, index: usize) {
        let chunk = self.max_chunk as u64;
        let path = &mut self.paths[index];
        path.t3.stop();
        path.timeouts += 1;
        let view = path.view(chunk);
        path.window.on_loss(now, true, &view); // E1
        if self.config.ns2_rules.is_none_or(|it| !it.recovery_point) {
            path.recovery = None;
        }
        path.rtt.on_timeout(); // E2
        self.flight.expire(index as u8, &mut self.paths); // E3
        // A closed window that the peer keeps acknowledging is no failure
        // (§6.1 A).
        let probing = self.peer_rwnd == 0 && std::mem::take(&mut self.heard);
        if !probing {
            self.on_path_error(now, index);
        }
        self.await_sack = false;
        self.timed_out = true;
        if self.state != State::Closed {
            self.tell_again(now);
        }
        if self.state != State::Closed
            && (self.config.heartbeat_after_rto || self.config.probes().is_some())
        {
            self.probe(now, index);
        }
    }

    /// A transmission to a path failed (§8.1, §8.2).
    pub(super) fn on_path_error(&mut self, now: Time, index: usize) {
        self.on_error_of_path(now, index);
        self.on_failure();
    }

    /// A heartbeat was not answered: a failure of the association only on the path that carries its
    /// data. Else dead alternates would end it while that one works, or is idle (RFC 9260 §8.1;
    /// RFC 4960 counted all).
    pub(super) fn on_idle_error(&mut self, now: Time, index: usize) {
        let counts = index == self.data_path();
        self.on_error_of_path(now, index);
        if counts {
            self.on_failure();
        }
    }

    fn on_error_of_path(&mut self, now: Time, index: usize) {
        if self.paths[index].on_error(&self.config) {
            let state = self.paths[index].state;
            self.notify(Notification::Path { path: index, state });
            if state == PathState::PotentiallyFailed {
                self.probe(now, index); // RFC 7829 §3 rule 3
            }
        }
    }

    /// Counts a failure of the association; too many end it (§8.1).
    pub(super) fn on_failure(&mut self) {
        self.errors += 1;
        if self.errors > self.config.association_max_retrans {
            self.tell_of_failure();
            self.finish(CloseReason::TimedOut);
        }
    }
}
