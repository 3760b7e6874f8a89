//! Keeps the subflows that there should be: what the path manager wants is opened, what
//! is lost is opened again after a while, unless the peer has refused it for good (RFC
//! 8684 §3.6).

use super::{Connection, Due};
use crate::path_manager::{PathManager, Wanted};
use anabranch_endpoint::CloseReason;
use anabranch_units::Time;

impl Connection {
    /// Opens the subflows that the path manager wants, and those whose time to be
    /// opened again has come; none that the peer has refused for good (§3.6).
    pub(super) fn open_wanted(&mut self, now: Time) {
        if !self.session.is_multipath() || !self.session.is_confirmed() || self.is_closing() {
            return;
        }
        for wanted in self.paths.wanted(self.own_path_manager(), now) {
            if !self.subflows.is_open(wanted) {
                self.open_one(now, wanted);
            }
        }
    }

    /// An address of the peer has another port (§3.4.1): the subflows that go to it are opened to that,
    /// too.
    pub(super) fn open_to(&mut self, now: Time, peer: u8) {
        if !self.session.is_multipath() || !self.session.is_confirmed() || self.is_closing() {
            return;
        }
        for wanted in self.paths.wanted(self.own_path_manager(), now) {
            if wanted.peer == peer as usize {
                self.open_one(now, wanted);
            }
        }
    }

    /// Returns the path manager that says which subflows this side opens.
    fn own_path_manager(&self) -> PathManager {
        match self.session.is_passive() {
            true => self.config.passive_path_manager,
            false => self.config.path_manager,
        }
    }

    fn open_one(&mut self, now: Time, wanted: Wanted) {
        let Some(ends) = self.paths.ends(wanted, &self.config.book) else { return };
        // What the active side has joined already.
        let joins = || self.subflows.joins(ends.own.1, ends.peer.1);
        if self.session.is_passive() && wanted.copy == 0 && joins() {
            return;
        }
        self.open(now, wanted, ends);
    }

    /// A subflow that was lost is opened again after a while; false when it is not. Where its
    /// address was removed it is not.
    pub(super) fn reopen_later(
        &mut self,
        now: Time,
        i: usize,
        reason: CloseReason,
        was_removed: bool,
    ) -> bool {
        let is_lost = reason != CloseReason::Normal && !was_removed;
        let Some(after) = self.config.reopen.filter(|_| is_lost) else { return false };
        // What the peer opened is the peer's to open again.
        let Some(wanted) = self.subflows.opened_as(i, self.session.is_passive()) else {
            return false;
        };
        let is_allowed = self.paths.reopen_later(now, wanted, after);
        if is_allowed {
            self.arm_reopening();
        }
        is_allowed
    }

    /// Sets the timer for the subflow that is opened again next.
    fn arm_reopening(&mut self) {
        match self.paths.next_reopening() {
            Some(at) => self.timers.set(Due::Reopen, at),
            None => self.timers.stop(Due::Reopen),
        }
    }

    /// The date has come when a subflow is opened again.
    pub(super) fn reopen_due(&mut self, now: Time) {
        self.open_wanted(now);
        let Some(after) = self.config.reopen else { return };
        self.paths.on_reopened(now, after, |wanted| self.subflows.is_open(wanted));
        self.arm_reopening();
    }
}
