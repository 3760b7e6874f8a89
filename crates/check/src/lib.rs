//! What every window algorithm keeps, and random sequences of events that try
//! whether it does.
//!
//! [`check`] builds controllers, lets each live through a random sequence, and
//! looks after every event. A sequence that breaks an invariant is made as
//! short and as plain as it can be and still break it.
//!
//! ```
//! use anabranch_check::{Effort, check};
//! use anabranch_congestion::Algorithm;
//! let reno = Algorithm::from_name("reno").unwrap();
//! let broken = check(&|initial, ssthresh| reno.build(initial, ssthresh), &Effort::default());
//! assert!(broken.is_empty());
//! ```

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod contract;
mod event;
mod invariant;
mod life;
mod shrink;

pub use event::{Event, Setting, Step};
pub use invariant::Invariant;
pub use life::Seen;

use anabranch_congestion::Congestion;
use anabranch_endpoint::Generator;
use life::live;

/// Makes a controller, given the initial window and threshold in octets.
pub type Build<'a> = &'a dyn Fn(u64, u64) -> Congestion;

/// The number and length of the sequences that are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Number of sequences.
    pub cases: u32,
    /// Events in each, at most.
    pub steps: u32,
    /// Seed of the generator: the same seed gives the same sequences.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { cases: 200, steps: 100, seed: 1 }
    }
}

/// An invariant that does not hold.
#[derive(Clone, PartialEq, Debug)]
pub struct Violation {
    /// The invariant that is broken.
    pub invariant: Invariant,
    /// The values with which it is broken, in words.
    pub problem: String,
    /// The file and line of the algorithm where it failed, if known.
    pub place: Option<(String, u32)>,
    /// The path on which it happened.
    pub setting: Setting,
    /// The events up to the one that breaks it, with the window after each.
    pub steps: Vec<(Step, Option<u64>)>,
}

/// Tries the controllers that `build` makes: the invariants that were broken,
/// each once. A [`Failure`](anabranch_custom::Failure) that `stops` goes on to the caller.
pub fn check(build: Build<'_>, effort: &Effort) -> Vec<Violation> {
    let mut generator = Generator::from_u64(effort.seed);
    let mut broken: Vec<Violation> = Vec::new();
    for _ in 0..effort.cases {
        let setting = Setting::random(&mut generator);
        let count = 1 + generator.below(effort.steps.max(1).into());
        let steps: Vec<_> = (0..count).map(|_| Step::random(&mut generator)).collect();
        // What was found is found again and again: an event after it may show more.
        let known: Vec<_> = broken.iter().map(|broken| broken.invariant).collect();
        if let Some(found) = live(build, &setting, &steps, &known).broken {
            broken.push(shrink::shrink(build, setting, steps, found.invariant, &known));
        }
    }
    broken
}

#[cfg(test)]
mod tests;
