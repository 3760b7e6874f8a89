//! Running a simulation in slices, so that somebody can look in between and
//! stop it.
//!
//! A slice is a stretch of virtual time; its length follows how long the last
//! one took, and changes nothing else: events are ordered by their dates.

use crate::transport::Transport;
use anabranch_sim::Simulation;
use anabranch_sim::parallel::Until;
use anabranch_units::{Span, Time};
use std::time::{Duration, Instant};

/// Wall-clock time that a slice should take.
const WANTED: Duration = Duration::from_millis(100);

/// Asked between slices; true stops the run.
pub type Watch<'a> = &'a dyn Fn() -> bool;

/// Runs until then; false if `watch` stopped it.
#[expect(clippy::disallowed_methods, reason = "when to look is nothing that results depend on")]
pub(crate) fn run(
    simulation: &mut Simulation<Transport>,
    until: Until,
    watch: Option<Watch<'_>>,
) -> bool {
    let Some(watch) = watch else {
        advance(simulation, until, Time::NEVER);
        return true;
    };
    let mut slice = Span::from_millis(1);
    let mut limit = simulation.now();
    loop {
        limit = limit.saturating_add(slice);
        let started = Instant::now();
        if advance(simulation, until, limit) || limit == Time::NEVER {
            return true;
        }
        let took = started.elapsed();
        if took > WANTED / 2 && watch() {
            return false;
        }
        if took < WANTED / 2 {
            slice = slice.saturating_mul(2);
        } else if took > WANTED * 2 {
            slice = slice / 2;
        }
    }
}

/// Runs until then, but not beyond `limit`; true if it is over.
fn advance(simulation: &mut Simulation<Transport>, until: Until, limit: Time) -> bool {
    match until {
        Until::Date(end) => {
            simulation.run_until(end.min(limit));
            limit >= end
        }
        Until::Completion(end) => simulation.run_to_completion(end.min(limit)) || limit >= end,
    }
}
