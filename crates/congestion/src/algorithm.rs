//! Which algorithms there are: descriptions that build controllers, and the
//! closed set of controllers that senders hold.
//!
//! A new algorithm is one file, one variant in each of the two enums below
//! and one line in [`ALGORITHMS`].

use crate::reno::{Reno, RenoOptions};
use crate::{Acked, CongestionEvent, Controller, PathView};
use anabranch_units::Rate;

/// An entry of the registry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlgorithmInfo {
    /// The name used in scenarios.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub summary: &'static str,
    /// Where it is defined.
    pub reference: &'static str,
}

/// All algorithms that [`Algorithm::from_name`] knows.
pub const ALGORITHMS: &[AlgorithmInfo] = &[AlgorithmInfo {
    name: "reno",
    summary: "one segment more per round trip, half the window at a loss",
    reference: "RFC 5681",
}];

/// A window algorithm with its options: a plain description.
#[derive(Clone, PartialEq, Debug)]
pub enum Algorithm {
    /// RFC 5681.
    Reno(RenoOptions),
}

impl Algorithm {
    /// The algorithm called `name`, with its default options.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        match name {
            "reno" => Some(Algorithm::Reno(RenoOptions::default())),
            _ => None,
        }
    }

    /// Its name in [`ALGORITHMS`].
    pub fn name(&self) -> &'static str {
        match self {
            Algorithm::Reno(_) => "reno",
        }
    }

    /// A controller for a new path; both in octets, `initial_ssthresh` is
    /// `u64::MAX` when there is no threshold yet.
    pub fn build(&self, initial_window: u64, initial_ssthresh: u64) -> Congestion {
        match self {
            Algorithm::Reno(o) => Congestion::Reno(Reno::new(*o, initial_window, initial_ssthresh)),
        }
    }
}

impl Default for Algorithm {
    fn default() -> Algorithm {
        Algorithm::Reno(RenoOptions::default())
    }
}

/// A controller. Senders hold this enum, so that a hook costs a branch
/// instead of an indirect call; algorithms from outside go into `Custom`.
pub enum Congestion {
    /// RFC 5681.
    Reno(Reno),
    /// An algorithm of the user's own.
    Custom(Box<dyn Controller + Send>),
}

/// The same expression for whichever controller is held.
macro_rules! each {
    ($self:ident, $c:ident => $call:expr) => {
        match $self {
            Congestion::Reno($c) => $call,
            Congestion::Custom($c) => $call,
        }
    };
}

impl Controller for Congestion {
    fn on_sent(&mut self, now: anabranch_units::Time, bytes: u64, path: &PathView) {
        each!(self, c => c.on_sent(now, bytes, path));
    }
    #[inline]
    fn on_ack(&mut self, acked: &Acked, path: &PathView) {
        each!(self, c => c.on_ack(acked, path));
    }
    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        each!(self, c => c.on_congestion(event, path));
    }
    fn on_undo(&mut self) {
        each!(self, c => c.on_undo());
    }
    fn on_idle(&mut self, initial: u64) {
        each!(self, c => c.on_idle(initial));
    }
    #[inline]
    fn window(&self) -> u64 {
        each!(self, c => c.window())
    }
    #[inline]
    fn ssthresh(&self) -> u64 {
        each!(self, c => c.ssthresh())
    }
    fn pacing_rate(&self) -> Option<Rate> {
        each!(self, c => c.pacing_rate())
    }
}

impl std::fmt::Debug for Congestion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Congestion::Reno(c) => c.fmt(f),
            Congestion::Custom(c) => write!(f, "Custom {{ window: {} }}", c.window()),
        }
    }
}
