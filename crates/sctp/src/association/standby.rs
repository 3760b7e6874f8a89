//! The path for new data (RFC 9260 §6.4, §8.2, RFC 7829 §3): the primary while it is active, else the
//! alternate that the failover rule has chosen.

use super::Association;
use super::candidates::{self, Candidates};
use crate::failover::{Failover, World, last_resort};
use crate::path::PathState;
use crate::policy::least;
use anabranch_units::Time;

impl Association {
    /// The path for new data.
    #[inline]
    pub(super) fn data_path(&self) -> usize {
        match self.paths[self.primary].state {
            PathState::Active => self.primary,
            _ => self.other_path(),
        }
    }

    #[cold]
    fn other_path(&self) -> usize {
        let is_active = |path: usize| self.paths[path].state == PathState::Active;
        if let Some(path) = self.standby.path().filter(|path| is_active(*path)) {
            return path;
        }
        // Between the end of one and the review at the end of the event.
        let paths = Candidates(&self.paths);
        match least(self.primary, &paths, |_| 0) {
            next if is_active(next) => next,
            _ => last_resort(self.primary, &paths),
        }
    }

    /// At the end of each event: who stands in for the primary.
    #[inline]
    pub(super) fn review_standby(&mut self, now: Time) {
        match self.paths[self.primary].state {
            PathState::Active => self.standby.forget(),
            _ => self.choose_standby(now),
        }
    }

    #[cold]
    fn choose_standby(&mut self, now: Time) {
        if let Some(own) = &mut self.own_policy
            && self.config.failover == Failover::Destination
        {
            let paths = candidates::of(&self.paths);
            let path = own.failover(self.primary, &paths).map(|path| path.min(paths.len() - 1));
            if let Some(path) = path.filter(|path| paths[*path].active) {
                return self.standby.take(now, path);
            }
        }
        let paths = Candidates(&self.paths);
        let world = World::new(now, self.max_chunk as u64, self.largest_rwnd);
        self.standby.review(self.config.standby_rule(), self.primary, &world, &paths);
    }
}
