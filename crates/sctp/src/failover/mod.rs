//! Where new data goes while the primary does not work: a seam with one decision.
//!
//! RFC 9260 §6.4 and §8.2 ask for an active alternate, and for ONE of several, without saying which.
//! A [`Failover`] says it: each gives every path a cost, and the active one that costs least is
//! chosen when the primary fails. The `Standby` keeps to it, as §8.2 wants, until it is no longer
//! active itself, or until another costs less than `WORTH` of it: a path that carries data is
//! known better than it was when it was chosen.

mod highest_rate;
mod last_heard;
mod least_loss;
mod lowest_rtt;

use crate::policy::{Candidate, Paths, least, suspected};
use anabranch_units::Time;

/// The registered rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Failover {
    /// What the retransmission destination has to say: `highest-rate` with `best-path`, a policy of
    /// the user's own by itself, else `next`.
    #[default]
    Destination,
    /// The next active one in order.
    Next,
    /// The one that worked most recently.
    LastHeard,
    /// The least smoothed round-trip time.
    LowestRtt,
    /// The lowest loss rate.
    LeastLoss,
    /// The highest rate that is expected there.
    HighestRate,
}

/// Their names, with a line and a reference each.
pub const FAILOVERS: [(&str, &str, &str); 6] = [
    ("destination", "what the retransmission destination says, else next", "docs/sctp.md"),
    ("next", "the next active path in order", "RFC 9260 §6.4"),
    ("last-heard", "the active path that worked most recently", "Linux 3.17"),
    ("lowest-rtt", "the lowest smoothed round-trip time", "Kelly et al., 2004"),
    ("least-loss", "the lowest loss rate", "Iyengar et al., 2006"),
    ("highest-rate", "the highest rate that is expected", "Padhye et al., 1998"),
];

impl Failover {
    /// All, in the order of [`FAILOVERS`].
    pub const ALL: [Failover; 6] = [
        Failover::Destination,
        Failover::Next,
        Failover::LastHeard,
        Failover::LowestRtt,
        Failover::LeastLoss,
        Failover::HighestRate,
    ];

    /// The rule called `name`.
    pub fn from_name(name: &str) -> Option<Failover> {
        let at = FAILOVERS.iter().position(|entry| entry.0 == name)?;
        Some(Failover::ALL[at])
    }

    /// Its name in [`FAILOVERS`].
    pub fn name(self) -> &'static str {
        FAILOVERS[self as usize].0
    }

    /// It compares paths by what changes while they are idle.
    pub(crate) fn keeps_fresh(self) -> bool {
        matches!(self, Failover::LowestRtt | Failover::LeastLoss | Failover::HighestRate)
    }

    /// It is asked again while its choice works.
    fn moves_on(self) -> bool {
        self.keeps_fresh()
    }

    /// The active path to take, from the primary on, around; the primary where none is active.
    fn choose(self, primary: usize, world: &World, paths: &impl Paths) -> usize {
        least(primary, paths, |path| self.cost(&path, world))
    }

    /// What the path costs; of equal ones the next in order is taken.
    fn cost(self, path: &Candidate, world: &World) -> f64 {
        match self {
            Failover::Destination | Failover::Next => 0.0,
            Failover::LastHeard => last_heard::cost(path, world),
            Failover::LowestRtt => lowest_rtt::cost(path),
            Failover::LeastLoss => least_loss::cost(path),
            Failover::HighestRate => highest_rate::cost(path, world),
        }
    }
}

/// What is not of one path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    /// The date.
    pub now: Time,
    /// Octets of the largest packet, and of the peer's window when it is empty.
    pub packet: u64,
    pub window: u64,
    /// What a path takes, at most, on which no queue has been seen, in octets a second.
    unseen: Option<f64>,
}

impl World {
    /// At a date, of such packets and such a window.
    pub fn new(now: Time, packet: u64, window: u64) -> World {
        World { now, packet, window, unseen: None }
    }

    /// Seen from a path in use: what is known of the others counts for those that nothing is known
    /// of, too.
    fn from(&self, current: usize, paths: &impl Paths) -> World {
        let others = (0..paths.count()).filter(|index| *index != current);
        let known = others.filter_map(|index| paths.path(index).capacity);
        World { unseen: known.reduce(f64::max), ..*self }
    }
}

/// The share of the cost of the path in use below which another is worth a change.
const WORTH: f64 = 0.5;

/// The path that stands in for the primary.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standby {
    path: Option<usize>,
    since: Time,
}

impl Standby {
    /// The path in use; `None` before one was chosen.
    pub fn path(&self) -> Option<usize> {
        self.path
    }

    /// The primary works, or paths have gone: the next choice is the first.
    pub fn forget(&mut self) {
        self.path = None;
    }

    /// Something may have changed while the primary does not work.
    ///
    /// A choice is kept for the RTO of its path at least, in which it can show what it is.
    pub fn review(&mut self, rule: Failover, primary: usize, world: &World, paths: &impl Paths) {
        let current = self.path.filter(|path| paths.path(*path).active);
        let Some(current) = current else {
            let best = rule.choose(primary, world, paths);
            return match paths.path(best).active {
                true => self.take(world.now, best),
                false => self.path = None,
            };
        };
        if !rule.moves_on() || world.now < self.since + paths.path(current).rto {
            return;
        }
        let world = &world.from(current, paths);
        let best = rule.choose(current, world, paths);
        let cost = |path| rule.cost(&paths.path(path), world);
        if best != current && cost(best) < WORTH * cost(current) {
            self.take(world.now, best);
        }
    }

    /// The user's own policy has chosen.
    pub fn take(&mut self, now: Time, path: usize) {
        if self.path != Some(path) {
            (self.path, self.since) = (Some(path), now);
        }
    }
}

/// The path for new data where none is active: a potentially failed one, else the primary all the same.
pub(crate) fn last_resort(primary: usize, paths: &impl Paths) -> usize {
    suspected(primary, paths).unwrap_or(primary)
}

#[cfg(test)]
mod tests;
