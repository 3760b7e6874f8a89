//! Timers make the association act by itself.

use super::{Association, Notification};
use crate::paths::path::PathState;
use crate::state::State;
use anabranch_congestion::Cause;
use anabranch_endpoint::CloseReason;
use anabranch_units::Time;

impl Association {
    pub(super) fn on_timeout(&mut self, now: Time) {
        self.paths.begin_event();
        self.sender.begin_event();
        if self.phase.opening().is_some_and(|opening| opening.t1.expired(now)) {
            self.on_t1(now);
        }
        if self.phase.ending_mut().is_some_and(|ending| ending.t2.expired(now)) {
            self.on_t2(now);
        }
        if self.phase.ending_mut().is_some_and(|ending| ending.guard.expired(now)) {
            // RFC 9260 §9.2: the end has taken too long.
            self.abort_with(Vec::new(), CloseReason::TimedOut);
        }
        if self.sender.probe.timer.expired(now) {
            self.sender.probe.on_timer();
        }
        if self.receiver.sacks.timer.expired(now) {
            self.receiver.sacks.on_timer();
        }
        if self.control.reconfig.as_ref().is_some_and(|reconfig| reconfig.is_late(now)) {
            self.on_reconfig_timer(now);
        }
        if let Some(reconfig) = &mut self.control.reconfig
            && reconfig.hold.expired(now)
        {
            reconfig.hold.stop();
        }
        if self.control.addresses.as_ref().is_some_and(|addresses| addresses.timer.expired(now)) {
            self.on_t4(now);
        }
        for index in 0..self.paths.len() {
            if let Some(driven) = self.paths[index].window.driven() {
                driven.on_timeout(now);
            }
            if self.paths[index].t3.expired(now) {
                self.on_t3(now, index);
            }
            if self.paths.get(index).is_some_and(|path| path.heartbeat.expired(now)) {
                self.on_heartbeat_due(now, index);
            }
        }
    }

    /// Handles the expiry of T3-rtx (RFC 9260 §6.3.3).
    fn on_t3(&mut self, now: Time, index: usize) {
        let path = &mut self.paths[index];
        path.t3.stop();
        path.timeouts += 1;
        let view = path.view();
        let probing = self.sender.is_probing(index);
        let stops_all = self.config.ns2_rules.is_some_and(|rules| rules.timeout_stops_all);
        if !probing {
            path.window.on_congestion(now, Cause::Timeout, &view); // E1
            path.probation = !stops_all; // §7.2.3
            path.on_reduced(&self.config, true);
            if self.config.ns2_rules.is_none_or(|rules| !rules.recovery_point) {
                path.recovery = None;
            }
            path.on_data_timeout(now);
        }
        path.rtt.on_timeout(); // E2
        self.sender.flight.expire(index as u8, &mut self.paths); // E3
        // A closed window that the peer keeps acknowledging is no failure
        // (§6.1 A).
        if !(probing && self.sender.repair.take_heard()) {
            self.on_path_error(now, index);
        }
        if stops_all {
            self.sender.repair.on_timeout();
        }
        if self.state() != State::Closed {
            self.tell_again(now);
        }
        if self.state() != State::Closed
            && (self.config.heartbeat_after_rto || self.config.probes().is_some())
        {
            self.probe(now, index);
        }
    }

    /// Counts a failed transmission to a path (§8.1, §8.2).
    pub(super) fn on_path_error(&mut self, now: Time, index: usize) {
        self.on_error_of_path(now, index);
        self.on_failure();
    }

    /// Counts a heartbeat that was not answered: it is a failure of the association only on the
    /// path that carries its data. Else dead alternates would end it while that one works, or is
    /// idle (RFC 9260 §8.1; RFC 4960 counted all).
    pub(super) fn on_idle_error(&mut self, now: Time, index: usize) {
        let counts = index == self.paths.data_path();
        // §8.3: the count of an inactive path does not grow any more.
        if self.paths[index].state != PathState::Inactive {
            self.on_error_of_path(now, index);
        }
        if counts {
            self.on_failure();
        }
    }

    fn on_error_of_path(&mut self, now: Time, index: usize) {
        if self.paths[index].on_error(&self.config) {
            let state = self.paths[index].state;
            self.notify(Notification::Path { path: index, state });
            let probed = self.config.heartbeat_interval.is_some();
            if state == PathState::PotentiallyFailed && probed {
                self.probe(now, index); // RFC 7829 §3 rule 3
            }
        }
    }

    /// Counts a failure of the association; too many in a row end it (§8.1).
    pub(super) fn on_failure(&mut self) {
        if self.paths.count_failure(&self.config) {
            self.tell_of_failure();
            self.finish(CloseReason::TimedOut);
        }
    }
}
