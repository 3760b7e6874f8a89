//! Two paths are chosen here: that for new data (RFC 9260 §6.4, §8.2, RFC 7829 §3), which is the
//! primary while it is active, else the alternate that the failover rule has chosen; and that for
//! what is sent again (§6.4.1).

use super::Paths;
use super::candidates::{self, Candidates};
use super::path::PathState;
use crate::config::Config;
use crate::failover::{Failover, World, last_resort};
use crate::policy::{Reason, least};
use anabranch_units::Time;

impl Paths {
    /// Returns the path for new data.
    #[inline]
    pub fn data_path(&self) -> usize {
        match self.list[self.primary].state {
            PathState::Active => self.primary,
            _ => self.other_path(),
        }
    }

    #[cold]
    fn other_path(&self) -> usize {
        let is_active = |path: usize| self.list[path].state == PathState::Active;
        if let Some(path) = self.standby.path().filter(|path| is_active(*path)) {
            return path;
        }
        // Between the end of one and the review at the end of the event.
        let paths = Candidates(&self.list);
        match least(self.primary, &paths, |_| 0) {
            next if is_active(next) => next,
            _ => last_resort(self.primary, &paths),
        }
    }

    /// Chooses, at the end of each event, the path that stands in for the primary. `window` is the
    /// largest that the peer has advertised, in octets.
    #[inline]
    pub fn review_standby(&mut self, now: Time, config: &Config, window: u64) {
        match self.list[self.primary].state {
            PathState::Active => self.standby.forget(),
            _ => self.choose_standby(now, config, window),
        }
    }

    #[cold]
    fn choose_standby(&mut self, now: Time, config: &Config, window: u64) {
        if let Some(own) = &mut self.own_policy
            && config.failover == Failover::Destination
        {
            let paths = candidates::of(&self.list);
            let path = own.failover(self.primary, &paths).map(|path| path.min(paths.len() - 1));
            if let Some(path) = path.filter(|path| paths[*path].active) {
                return self.standby.take(now, path);
            }
        }
        let paths = Candidates(&self.list);
        let world = World::new(now, self.room.chunk as u64, window);
        self.standby.review(config.standby_rule(), self.primary, &world, &paths);
    }

    /// Returns the path for a chunk that was sent to `last` before.
    pub fn destination_of(&mut self, last: usize, reason: Reason, config: &Config) -> usize {
        if let Some(own) = &mut self.own_policy {
            let paths = candidates::of(&self.list);
            return own.choose(reason, last, &paths).min(paths.len() - 1);
        }
        config.destination.choose(reason, last, Candidates(&self.list))
    }
}
