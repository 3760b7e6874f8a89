//! A failover rule decides one thing: where new data goes while the primary path does not work.
//!
//! RFC 9260 §6.4 and §8.2 ask for an active alternate, and for ONE of several, without saying
//! which. A [`Failover`] says it: each gives every path a cost, and the active one that costs least
//! is chosen when the primary fails. The `Standby` keeps to it, as §8.2 wants, until it is no
//! longer active itself. With a rule that compares rates, delays or losses it also moves on when
//! another path costs less than `WORTH` of it: a path that carries data is known better than it was
//! when it was chosen.

mod highest_rate;
mod last_heard;
mod least_loss;
mod lowest_rtt;

use crate::policy::{Candidate, Paths, least, suspected};
use anabranch_units::Time;

/// A `Failover` is a rule for the path of new data while the primary does not work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Failover {
    /// The retransmission policy decides: `best-path` implies `highest-rate`, a policy of the
    /// user's own chooses by itself, and every other policy implies `next`.
    #[default]
    Destination,
    /// The next active path in order takes over.
    Next,
    /// The active path on which the peer acknowledged something most recently takes over.
    LastHeard,
    /// The active path with the least smoothed round-trip time takes over.
    LowestRtt,
    /// The active path with the lowest loss rate takes over.
    LeastLoss,
    /// The active path with the highest expected rate takes over.
    HighestRate,
}

/// `FAILOVERS` has the name of each rule, a description of one line, and a reference.
pub const FAILOVERS: [(&str, &str, &str); 6] = [
    ("destination", "what the retransmission destination says, else next", "docs/sctp.md"),
    ("next", "the next active path in order", "RFC 9260 §6.4"),
    ("last-heard", "the active path that worked most recently", "Linux 3.17"),
    ("lowest-rtt", "the lowest smoothed round-trip time", "Kelly et al., 2004"),
    ("least-loss", "the lowest loss rate", "Iyengar et al., 2006"),
    ("highest-rate", "the highest rate that is expected", "Padhye et al., 1998"),
];

impl Failover {
    /// `ALL` has every rule, in the order of [`FAILOVERS`].
    pub const ALL: [Failover; 6] = [
        Failover::Destination,
        Failover::Next,
        Failover::LastHeard,
        Failover::LowestRtt,
        Failover::LeastLoss,
        Failover::HighestRate,
    ];

    /// Returns the rule called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Failover> {
        let at = FAILOVERS.iter().position(|entry| entry.0 == name)?;
        Some(Failover::ALL[at])
    }

    /// Returns the name of the rule in [`FAILOVERS`].
    pub fn name(self) -> &'static str {
        FAILOVERS[self as usize].0
    }

    /// Returns whether the rule compares paths by what changes while they are idle, so that they
    /// have to be probed.
    pub(crate) fn keeps_fresh(self) -> bool {
        matches!(self, Failover::LowestRtt | Failover::LeastLoss | Failover::HighestRate)
    }

    /// Returns whether the rule is asked again while the path that it chose works.
    fn moves_on(self) -> bool {
        self.keeps_fresh()
    }

    /// Returns the active path that costs least; of equal ones it is the first from `primary` on,
    /// around. It is `primary` where none is active.
    fn choose(self, primary: usize, world: &World, paths: &impl Paths) -> usize {
        least(primary, paths, |path| self.cost(&path, world))
    }

    /// Returns what the path costs by this rule; the unit is the rule's own.
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

/// A `World` is what costs depend on that does not belong to one path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    /// `now` is the date.
    pub now: Time,
    /// `packet` is the size of the largest packet, in octets.
    pub packet: u64,
    pub window: u64,
    /// `unseen` is the rate, in octets per second, that a path is assumed to take at most while no
    /// queue has been seen there; `None` is no bound.
    unseen: Option<f64>,
}

impl World {
    /// `new` makes a world at the date `now`, with packets of `packet` octets and a peer's window
    /// of `window` octets.
    pub fn new(now: Time, packet: u64, window: u64) -> World {
        World { now, packet, window, unseen: None }
    }

    /// Returns the world as seen from the path in use, `current`: the highest capacity that is
    /// known of the other paths bounds those of which none is known, too.
    fn from(&self, current: usize, paths: &impl Paths) -> World {
        let others = (0..paths.count()).filter(|index| *index != current);
        let known = others.filter_map(|index| paths.path(index).capacity);
        World { unseen: known.reduce(f64::max), ..*self }
    }
}

/// A change of path is worth it where the other costs less than this share of the path in use.
const WORTH: f64 = 0.5;

/// A `Standby` is the path that carries new data in place of the primary.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standby {
    path: Option<usize>,
    since: Time,
}

impl Standby {
    /// Returns the path in use; `None` before one was chosen.
    pub fn path(&self) -> Option<usize> {
        self.path
    }

    /// Drops the choice, because the primary works or paths have gone.
    pub fn forget(&mut self) {
        self.path = None;
    }

    /// Chooses the path anew where that is due; called when something may have changed while the
    /// primary does not work.
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

    /// Takes the path that the user's own policy has chosen.
    pub fn take(&mut self, now: Time, path: usize) {
        if self.path != Some(path) {
            (self.path, self.since) = (Some(path), now);
        }
    }
}

/// Returns the path for new data where none is active: a potentially failed one, or the primary if
/// there is none.
pub(crate) fn last_resort(primary: usize, paths: &impl Paths) -> usize {
    suspected(primary, paths).unwrap_or(primary)
}

#[cfg(test)]
mod tests;
