//! Reports how far flows came, and why a run ended: what a reader wants to know of a transfer
//! that is not complete.

use crate::Scenario;
use crate::build::BuiltFlow;
use crate::run::reason_name;
use crate::transport::Transport;
use anabranch_endpoint::Observe;
use anabranch_sim::{Side, Simulation, Standing};
use anabranch_units::Time;

/// How far a flow had come when the run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Everything of known length has been read.
    Complete,
    /// It has no known length, and was open or stopped when the run ended.
    Open,
    /// The time at which it starts had not come.
    NotStarted,
    /// The connection ended before everything was read.
    Ended,
    /// It was under way when the run ended.
    Unfinished,
    /// It would never have gone on: nothing of it was in the network, and no timer ran.
    Stalled,
}

impl Outcome {
    /// The word in `flows.csv`.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Complete => "complete",
            Outcome::Open => "open",
            Outcome::NotStarted => "not-started",
            Outcome::Ended => "ended",
            Outcome::Unfinished => "unfinished",
            Outcome::Stalled => "stalled",
        }
    }
}

/// The reason for which a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Every flow of known length has ended.
    Complete,
    /// The scenario's `duration` was over.
    Duration,
    /// The scenario's `time_limit` was reached.
    TimeLimit,
    /// Nothing was pending any more, although a flow had not ended.
    NothingPending,
}

impl End {
    /// The word in `run.json`.
    pub fn name(self) -> &'static str {
        match self {
            End::Complete => "complete",
            End::Duration => "duration",
            End::TimeLimit => "time-limit",
            End::NothingPending => "nothing-pending",
        }
    }
}

/// Why the run that `simulation` has done ended.
pub(crate) fn end(scenario: &Scenario, simulation: &Simulation<Transport>) -> End {
    if scenario.duration.is_some() {
        End::Duration
    } else if simulation.have_all_ended() {
        End::Complete
    } else if simulation.next_event() == Time::NEVER {
        End::NothingPending
    } else {
        End::TimeLimit
    }
}

/// Returns how far a flow came, and why not further.
pub(crate) fn of(
    simulation: &Simulation<Transport>,
    flow: &BuiltFlow,
) -> (Outcome, Option<String>) {
    let progress = [Side::Server, Side::Client].map(|side| simulation.progress(flow.id, side));
    let has_end = progress.iter().any(|(_, all)| all.is_some_and(|all| all > 0));
    let standing = simulation.standing(flow.id);
    let outcome = match standing {
        Standing::Complete => return (Outcome::Complete, None),
        Standing::NotStarted => return (Outcome::NotStarted, None),
        Standing::Stalled => Outcome::Stalled,
        _ if !has_end => return (Outcome::Open, None),
        Standing::Ended(..) => Outcome::Ended,
        Standing::Waiting(_) | Standing::Idle => Outcome::Unfinished,
    };
    (outcome, Some(why(simulation, flow, standing, progress)))
}

/// Says how much has arrived, what the flow waits for, and the state of both ends.
fn why(
    simulation: &Simulation<Transport>,
    flow: &BuiltFlow,
    standing: Standing,
    progress: [(u64, Option<u64>); 2],
) -> String {
    let arrived = |(read, all): (u64, Option<u64>), back: &str| match all {
        Some(0) => None,
        Some(all) => Some(format!("{read} of {all} octets{back}")),
        None => Some(format!("{read} octets{back}")),
    };
    let arrived: Vec<_> =
        [arrived(progress[0], ""), arrived(progress[1], " back")].into_iter().flatten().collect();
    let waits = match standing {
        Standing::Ended(side, reason) => format!("{} at {}", reason_name(reason), end_name(side)),
        Standing::Waiting(Time::NEVER) => "waits for packets in the network".to_owned(),
        Standing::Waiting(due) => format!("waits for a timer at {:.6} s", due.as_secs_f64()),
        Standing::Idle => "waits for its applications".to_owned(),
        _ => "waits for ever: no timer runs, and nothing is in the network".to_owned(),
    };
    let state =
        |side| format!("`{}` {}", end_name(side), simulation.endpoint(flow.id, side).status());
    let (from, to) = (state(Side::Client), state(Side::Server));
    format!("{}; {waits}; {from}; {to}", arrived.join(", "))
}

/// The field of the flow that names the host of a side.
fn end_name(side: Side) -> &'static str {
    match side {
        Side::Client => "from",
        Side::Server => "to",
    }
}
