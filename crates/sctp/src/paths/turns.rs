//! In concurrent multipath transfer (Iyengar, Amer and Stewart, IEEE/ACM Transactions on Networking
//! 14(5), 2006) new data goes to whichever active path has room in its window. What keeps the
//! reordering that this causes from doing harm is where SACKs are read ([`crate::sender::flight`])
//! and written ([`crate::receiver::sacks`]).

use super::Paths;
use super::path::PathState;
use crate::config::{Concurrent, Config};
use anabranch_units::Time;

impl Paths {
    /// Gives the turn to the path after `path`, as new data leaves there.
    #[inline]
    pub fn pass_turn(&mut self, path: usize) {
        self.turn = path + 1;
    }

    /// Returns the path for the next packet of new data, if one has room: the paths take turns.
    /// Where none is active it is that of [`Paths::data_path`]. `peer_rwnd` is the peer's receive
    /// window, in octets.
    pub fn next_in_turn(
        &mut self,
        now: Time,
        config: &Config,
        concurrent: Concurrent,
        peer_rwnd: u64,
    ) -> Option<usize> {
        let count = self.list.len();
        let active = |this: &Self, index: usize| this.list[index].state == PathState::Active;
        let share = match concurrent.buffer_split {
            false => u64::MAX,
            true => {
                let active = (0..count).filter(|index| active(self, *index)).count();
                // A closed window may be probed.
                (peer_rwnd / active.max(1) as u64).max(1)
            }
        };
        let turn = self.turn;
        for index in (0..count).map(|step| (turn + step) % count) {
            if !active(self, index) {
                continue;
            }
            self.prepare_window(now, index, config);
            let path = &mut self.list[index];
            let room = path.flight < path.window.limit().min(share) && !path.is_held();
            if room && !path.window.waits_for_pacer(now) {
                return Some(index);
            }
        }
        let none = (0..count).all(|index| !active(self, index));
        none.then(|| self.data_path())
    }
}
