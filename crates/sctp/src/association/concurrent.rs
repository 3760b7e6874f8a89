//! Concurrent multipath transfer (Iyengar, Amer and Stewart, IEEE/ACM Transactions
//! on Networking 14(5), 2006): new data goes to whichever active path has room in
//! its window. What keeps the reordering that this causes from doing harm is where
//! SACKs are read ([`super::acknowledge`], [`crate::flight`]) and written
//! ([`super::data`]).

use super::Association;
use crate::config::Concurrent;
use crate::path::PathState;
use anabranch_units::Time;

impl Association {
    /// The path for the next packet of new data, if one has room: the paths take
    /// turns. Where none is active it is that of [`Association::data_path`].
    pub(super) fn concurrent_path(&mut self, now: Time, concurrent: Concurrent) -> Option<usize> {
        let count = self.paths.len();
        let active = |this: &Self, index: usize| this.paths[index].state == PathState::Active;
        let share = match concurrent.buffer_split {
            false => u64::MAX,
            true => {
                let active = (0..count).filter(|index| active(self, *index)).count();
                // A closed window may be probed.
                (self.peer_rwnd / active.max(1) as u64).max(1)
            }
        };
        let turn = self.turn;
        for index in (0..count).map(|step| (turn + step) % count) {
            if !active(self, index) {
                continue;
            }
            self.prepare_window(now, index);
            let path = &self.paths[index];
            if path.flight < path.window.limit().min(share) {
                return Some(index);
            }
        }
        let none = (0..count).all(|index| !active(self, index));
        none.then(|| self.data_path())
    }
}
