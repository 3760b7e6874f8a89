//! The paths of an association (RFC 9260 §6.4, §8) are the peer's addresses, the own address that
//! leads to each, and what is kept of each (§13.3).
//!
//! | machine | what it owns |
//! |---|---|
//! | [`Path`] | one destination: window, RTT, T3-rtx, heartbeats, errors |
//! | [`Room`] | what fits a packet |
//! | [`MtuSearch`](mtu_search::MtuSearch) | the search for the path MTU of one destination |
//! | [`Standby`] | who stands in for the primary |
//!
//! Which path takes new data or what is sent again is in [`choice`], all of them at once in
//! [`turns`], when an idle one is probed in [`heartbeat`].

pub(crate) mod candidates;
mod choice;
pub(crate) mod episode;
mod heartbeat;
pub(crate) mod knowledge;
pub(crate) mod mtu_search;
pub(crate) mod path;
pub(crate) mod probes;
pub(crate) mod room;
mod turns;
pub(crate) mod window;

#[cfg(test)]
mod tests;

use crate::config::Config;
use crate::cookie::MAX_ADDRESSES;
use crate::failover::Standby;
use crate::policy::Policy;
use crate::route::Route;
use anabranch_congestion::Sibling;
use anabranch_units::Time;
use anabranch_wire::Addr;
use path::{Beginning, Path, PathState};
use room::{Overhead, Room};
use std::ops::{Deref, DerefMut};

/// `Paths` are the paths of an association. Path `i` goes to the address of the peer with the index
/// `i`.
#[derive(Debug)]
pub(crate) struct Paths {
    /// `list` has the paths; there is always one at least.
    pub list: Vec<Path>,
    /// `local` are the own addresses, which packets may come to.
    pub local: Vec<Addr>,
    /// `sources` are addresses of the peer, each with the own address that packets to it leave
    /// from.
    pub sources: Vec<(Addr, Addr)>,
    /// `primary` is the index of the primary path.
    pub primary: usize,
    /// `standby` is the path that carries new data while the primary does not work.
    standby: Standby,
    /// `own_policy` is the retransmission policy, where that is the user's own.
    own_policy: Option<Box<dyn Policy>>,
    /// `errors` counts the failures in a row, of all paths (RFC 9260 §8.1).
    pub errors: u32,
    /// `next_confirmation` is the date from which the next unconfirmed address may be probed.
    next_confirmation: Time,
    /// `turn` is the index of the path whose turn it is in concurrent multipath transfer.
    turn: usize,
    /// `burst_limited` has a bit for each path to which Max.Burst was applied since the last event.
    burst_limited: u32,
    /// `room` is what fits a packet on any of them: that of the path with the smallest MTU, whose
    /// `chunk` is the AMDCS (RFC 9260 §7.3).
    pub room: Room,
    /// `overhead` is what takes room in packets beside user data.
    overhead: Overhead,
    /// `siblings` is what a coupled window algorithm is told of the other paths; it is made anew
    /// each time.
    siblings: Vec<Sibling>,
}

/// A `Removal` says what the indices of paths become when one of them goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Removal {
    /// `index` is the index of the path that goes.
    pub index: usize,
    /// `heir` is the path that takes its place; its index is the one before the removal.
    pub heir: usize,
}

impl Removal {
    /// Returns the index after the removal of what was the path `path`.
    pub fn moved(self, path: usize) -> usize {
        let path = if path == self.index { self.heir } else { path };
        path - (path > self.index) as usize
    }
}

impl Deref for Paths {
    type Target = [Path];

    #[inline]
    fn deref(&self) -> &[Path] {
        &self.list
    }
}

impl DerefMut for Paths {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Path] {
        &mut self.list
    }
}

impl Paths {
    /// `new` makes the paths from the `local` addresses to the `remote` ones, of which the first is
    /// the primary and confirmed.
    pub fn new(config: &Config, local: &[Addr], remote: &[Addr]) -> Paths {
        let mut paths = Paths {
            list: Vec::new(),
            local: local.to_vec(),
            sources: Vec::new(),
            primary: 0,
            standby: Standby::default(),
            own_policy: config.destination.build_own(),
            errors: 0,
            next_confirmation: Time::ZERO,
            turn: 0,
            burst_limited: 0,
            room: Room::new(config, config.first_mtu(), Overhead::PLAIN),
            overhead: Overhead::PLAIN,
            siblings: Vec::new(),
        };
        paths.set(config, remote, remote[0], &remote[..1]);
        paths
    }

    /// Makes the paths to these addresses. Those that are not `confirmed` must answer a heartbeat
    /// before they carry data, where the settings want that.
    pub fn set(&mut self, config: &Config, addresses: &[Addr], primary: Addr, confirmed: &[Addr]) {
        let mut list = addresses.to_vec();
        if !list.contains(&primary) {
            list.insert(0, primary);
        }
        list.truncate(MAX_ADDRESSES);
        let path = |(i, remote): (usize, &Addr)| {
            let local = self.source_of(*remote).unwrap_or(self.local[i % self.local.len()]);
            let state = match config.confirm_paths && !confirmed.contains(remote) {
                true => PathState::Unconfirmed,
                false => PathState::Active,
            };
            let mut path = Path::new(config, local, *remote, state);
            // What is known of the way to an address stays.
            if let Some(known) = self.list.iter().find(|path| path.remote == *remote)
                && known.room.mtu != path.room.mtu
            {
                path.set_mtu(known.room.mtu, self.overhead, config);
            }
            path
        };
        self.list = list.iter().enumerate().map(path).collect();
        self.primary = list.iter().position(|addr| *addr == primary).unwrap_or(0);
        self.standby.forget();
        self.measure(config, self.overhead);
    }

    /// Computes what fits a packet on each path, and on any, as what takes room beside user data is
    /// known.
    pub fn measure(&mut self, config: &Config, overhead: Overhead) {
        self.overhead = overhead;
        for path in &mut self.list {
            path.room = Room::new(config, path.room.mtu, overhead);
        }
        self.find_room();
    }

    /// Sets the path MTU of the path at `index` to `mtu` octets (RFC 9260 §7.3).
    pub fn set_mtu(&mut self, index: usize, mtu: u32, config: &Config) {
        self.list[index].set_mtu(mtu, self.overhead, config);
        self.find_room();
    }

    fn find_room(&mut self) {
        let rooms = self.list.iter().map(|path| path.room);
        self.room = rooms.min_by_key(|room| room.mtu).unwrap_or(self.room);
    }

    /// Makes packets to the first address of each pair leave from the second.
    pub fn set_sources(&mut self, config: &Config, pairs: &[(Addr, Addr)]) {
        self.sources = pairs.to_vec();
        let remote: Vec<_> = self.list.iter().map(|path| path.remote).collect();
        let primary = remote[self.primary];
        self.set(config, &remote, primary, &[primary]);
    }

    /// Returns the own address that packets to `remote` leave from, where the user has said so.
    fn source_of(&self, remote: Addr) -> Option<Addr> {
        self.sources.iter().find(|pair| pair.0 == remote).map(|pair| pair.1)
    }

    /// Returns the index of the path to an address of the peer; `None` when there is none.
    pub fn find(&self, remote: Addr) -> Option<usize> {
        self.list.iter().position(|path| path.remote == remote)
    }

    /// Returns the route of what this side sends on a path by itself.
    #[inline]
    pub fn route(&self, path: usize) -> Route {
        Route { path, source: self.list[path].local }
    }

    /// Makes `path` the primary. Returns false when there is no such path.
    pub fn set_primary(&mut self, path: usize) -> bool {
        let exists = path < self.list.len();
        if exists {
            self.primary = path;
        }
        exists
    }

    /// Adds an address of the peer, and returns the index of its path. Packets to it leave from an
    /// own address that `is_known` to the peer.
    pub fn add(&mut self, config: &Config, remote: Addr, is_known: impl Fn(Addr) -> bool) -> usize {
        let index = self.list.len();
        let local = self.source_for(remote, index, is_known);
        self.list.push(Path::new(config, local, remote, PathState::Unconfirmed));
        self.measure(config, self.overhead);
        index
    }

    /// Returns the own address that packets to a new address of the peer leave from. One that the
    /// peer has not taken yet must not be used (RFC 5061 §5.1 D4): whoever does not know it aborts.
    fn source_for(&self, remote: Addr, index: usize, is_known: impl Fn(Addr) -> bool) -> Addr {
        let usable = |own: &Addr| self.local.contains(own) && is_known(*own);
        let others = self.local.iter().cycle().skip(index % self.local.len());
        let mut others = others.copied().take(self.local.len());
        let usual = self.source_of(remote).filter(usable);
        usual.or_else(|| others.find(usable)).unwrap_or(self.local[0])
    }

    /// Makes the paths that should leave from the own address `own` do so, as the peer has taken
    /// it. Returns those that are not confirmed yet, which may now be probed.
    pub fn use_source(&mut self, own: Addr, beginning: &Beginning) -> Vec<usize> {
        let mut unconfirmed = Vec::new();
        for (index, path) in self.list.iter_mut().enumerate() {
            if path.local != own && self.sources.contains(&(path.remote, own)) {
                path.leave_from(own, beginning);
                if path.state == PathState::Unconfirmed {
                    path.errors = 0;
                    unconfirmed.push(index);
                }
            }
        }
        unconfirmed
    }

    /// Makes nothing leave from the own address `from` any more, but from `other`.
    pub fn replace_source(&mut self, from: Addr, other: Addr, beginning: &Beginning) {
        for path in self.list.iter_mut().filter(|path| path.local == from) {
            path.leave_from(other, beginning);
        }
    }

    /// Returns which path takes the place of the one at `index`, which is to go.
    pub fn removal_of(&self, index: usize) -> Removal {
        let active = |i: &usize| *i != index && self.list[*i].state == PathState::Active;
        let other = |i: &usize| *i != index;
        let all = 0..self.list.len();
        let heir = all.clone().find(active).or_else(|| all.clone().find(other)).unwrap_or(0);
        Removal { index, heir }
    }

    /// Removes the path to an address of the peer that is gone.
    pub fn remove(&mut self, removal: Removal) {
        self.list.remove(removal.index);
        self.find_room();
        self.primary = removal.moved(self.primary);
        self.standby.forget();
    }

    /// Begins an event: Max.Burst counts anew what may be released.
    #[inline]
    pub fn begin_event(&mut self) {
        self.burst_limited = 0;
    }

    /// Lets the window of a path decay before it is used, if nothing was sent there for an RTO (RFC
    /// 9260 §7.2.1).
    #[inline]
    pub fn end_rest(&mut self, now: Time, index: usize, config: &Config) {
        let path = &mut self.list[index];
        let Some(last) = path.last_sent else { return };
        let idle = now.saturating_since(last);
        // No RTO is shorter than the least.
        if idle >= config.rto.min && idle >= path.rtt.rto() {
            let rtos = idle.as_picos() / path.rtt.rto().as_picos().max(1);
            path.window.on_idle(rtos, path.flight, config.initial_window());
            path.last_sent = Some(now);
        }
    }

    /// Prepares a window for new data: after idleness (RFC 9260 §7.2.1) and before a burst (§6.1
    /// D).
    #[inline(always)]
    pub fn prepare_window(&mut self, now: Time, index: usize, config: &Config) {
        self.end_rest(now, index, config);
        let path = &mut self.list[index];
        // Max.Burst counts what one event may release; while such a burst
        // leaves, the flight grows with it and the limit with the flight, so
        // that it is set once an event.
        if let Some(burst) = config.max_burst
            && self.burst_limited >> index & 1 == 0
        {
            self.burst_limited |= 1 << index;
            path.window.limit_burst(path.flight, burst as u64);
        }
    }

    /// Tells the window algorithm of the path at `index`, where it is coupled, about the other
    /// paths that carry data.
    #[inline]
    pub fn tell_siblings(&mut self, index: usize) {
        if self.list.len() > 1 && self.list[index].window.is_coupled() {
            self.tell_coupled(index);
        }
    }

    #[inline(never)]
    fn tell_coupled(&mut self, index: usize) {
        self.siblings.clear();
        let carries = |(i, path): &(usize, &Path)| *i != index && path.state == PathState::Active;
        let others = self.list.iter().enumerate().filter(carries);
        self.siblings.extend(others.map(|(_, path)| path.window.sibling(&path.view())));
        if let Some(driven) = self.list[index].window.driven() {
            driven.on_siblings(&self.siblings);
        }
    }

    /// Sets the thresholds before the first loss to the peer's receive window of `rwnd` octets,
    /// where the settings leave them open and windows follow RFC 9260.
    pub fn set_initial_thresholds(&mut self, config: &Config, rwnd: u64) {
        if config.initial_ssthresh.is_none() {
            self.list.iter_mut().for_each(|path| path.window.set_initial_ssthresh(rwnd));
        }
    }

    /// Counts a failed transmission. Returns true when there were too many in a row, of all paths
    /// (RFC 9260 §8.1).
    pub fn count_failure(&mut self, config: &Config) -> bool {
        self.errors += 1;
        self.errors > config.association_max_retrans
    }

    /// Makes failures count anew, as the peer is there.
    #[inline]
    pub fn forget_failures(&mut self) {
        self.errors = 0;
    }

    /// Stops T3-rtx on all paths: nothing is outstanding any more but what was given up, which the
    /// end does not wait for.
    pub fn stop_retransmission(&mut self) {
        self.list.iter_mut().for_each(|path| path.t3.stop());
    }

    /// Stops the heartbeats and the probes of path MTUs on all paths.
    pub fn stop_heartbeats(&mut self) {
        for path in &mut self.list {
            path.heartbeat.stop();
            path.probes.give_up();
            path.end_search();
        }
    }

    /// Stops T3-rtx, heartbeats and probes of path MTUs on all paths.
    pub fn stop_timers(&mut self) {
        for path in &mut self.list {
            path.t3.stop();
            path.heartbeat.stop();
            path.end_search();
        }
    }
}
