//! Which subflows there should be: what the path manager wants is opened, what is lost is
//! opened again after a while, unless the peer has refused it for good (RFC 8684 §3.6).

use super::{Connection, Due, Phase};
use crate::path_manager::{PathManager, Wanted};
use anabranch_endpoint::CloseReason;
use anabranch_units::Time;

/// A subflow that is to be opened again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reopening {
    pub(super) wanted: Wanted,
    pub(super) at: Time,
    pub(super) tries: u32,
}

impl Connection {
    /// Opens the subflows that the path manager wants, and those whose time to be
    /// opened again has come; none that the peer has refused for good (§3.6).
    pub(super) fn open_wanted(&mut self, now: Time) {
        if self.phase != Phase::Multipath || !self.confirmed || self.closing {
            return;
        }
        let (own, peer) = (self.addresses.len(), self.peer_addresses.len());
        let mut all = self.own_path_manager().wanted(own, peer);
        all.extend(self.reopenings.iter().map(|it| it.wanted));
        for wanted in all {
            let waits = self.reopenings.iter().any(|it| it.wanted == wanted && it.at > now);
            let there = self.subflows.is_open(wanted);
            if !waits && !there && !self.refused.contains(&wanted) {
                self.open_one(now, wanted);
            }
        }
    }

    /// Which subflows this side opens.
    fn own_path_manager(&self) -> PathManager {
        match self.passive {
            true => self.config.passive_path_manager,
            false => self.config.path_manager,
        }
    }

    fn open_one(&mut self, now: Time, wanted: Wanted) {
        let Wanted { own, peer, .. } = wanted;
        let local = self.addresses.get(own).copied().flatten();
        let remote = self.peer_addresses.get(peer).copied().flatten();
        let (Some(local), Some(remote)) = (local, remote) else { return };
        if self.avoid_first && peer == 0 {
            return;
        }
        let book = &self.config.book;
        if book.is_ipv6(local) != book.is_ipv6(remote.addr) {
            return;
        }
        // What the active side has joined already.
        if self.passive && wanted.copy == 0 && self.subflows.joins(local, remote.addr) {
            return;
        }
        self.open(now, wanted, (own as u8, local), (peer as u8, remote.addr, remote.port));
    }

    /// A subflow that was lost is opened again after a while; false when it is
    /// not.
    pub(super) fn reopen_later(
        &mut self,
        now: Time,
        i: usize,
        reason: CloseReason,
        was_removed: bool,
    ) -> bool {
        let lost = !matches!(reason, CloseReason::Normal);
        let Some(after) = self.config.reopen.filter(|_| lost) else { return false };
        // What the peer opened is the peer's to open again.
        let Some(wanted) = self.subflows.opened_as(i, self.passive) else { return false };
        if was_removed {
            return false;
        }
        let before = self.reopenings.iter().position(|it| it.wanted == wanted);
        let tries = before.map_or(0, |at| self.reopenings.remove(at).tries);
        if self.refused.contains(&wanted) {
            return false;
        }
        let at = now + after.saturating_mul(1 << tries.min(6));
        self.reopenings.push(Reopening { wanted, at, tries: tries + 1 });
        self.arm_reopening();
        true
    }

    /// Sets the timer for the subflow that is opened again next.
    fn arm_reopening(&mut self) {
        let next = self.reopenings.iter().map(|it| it.at).min();
        match next {
            Some(at) => self.timer(Due::Reopen).set(at),
            None => self.timer(Due::Reopen).stop(),
        }
    }

    pub(super) fn reopen_due(&mut self, now: Time) {
        self.open_wanted(now);
        let Some(after) = self.config.reopen else { return };
        for it in self.reopenings.iter_mut().filter(|it| it.at <= now) {
            if self.subflows.is_open(it.wanted) {
                it.at = Time::NEVER; // under way; its end sets another date
            } else {
                // There are as many subflows as there may be.
                it.at = now + after.saturating_mul(1 << it.tries.min(6));
                it.tries += 1;
            }
        }
        self.arm_reopening();
    }
}
