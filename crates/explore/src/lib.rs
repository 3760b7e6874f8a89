//! Model checking of small worlds: every loss, copy, overtaking and order of timers in short
//! transfers between two endpoints, up to a number of faults.
//!
//! A [`Case`] is a pair of endpoints, their applications and a network; [`cases`] has
//! those of TCP, SCTP and Multipath TCP. [`Explore::explore`] searches one: every run
//! must deliver every octet in order and end on both sides, or say why not. A run that does
//! not is a [`Finding`], whose [`Schedule`] is a text that [`Explore::replay`] turns into
//! a trace.
//!
//! ```
//! use anabranch_explore::{Bounds, Explore, cases};
//! let case = cases::tcp::cases().into_iter().next().unwrap();
//! let report = case.explore(Bounds { faults: 1, states: 2_000, findings: 1 });
//! assert!(report.findings.is_empty() && report.states > 500, "{report}");
//! let replay = case.replay(&"0:lose".parse().unwrap());
//! assert!(replay.trace.contains("Flags [S], seq 0"), "{}", replay.trace);
//! ```
//!
//! What a step is, what can go wrong at it, and why equal histories are equal states is
//! in [`world`], [`Fault`] and [`search`].

mod app;
pub mod cases;
mod choice;
mod fingerprint;
mod network;
mod run;
pub mod search;
mod trace;
pub mod world;

pub use app::{Plan, Reads, Sends};
pub use choice::{Fault, Schedule, ScheduleError};
pub use run::Case;
pub use search::{Bounds, Explore, Finding, Level, Replay, Report};
pub use world::{Setting, Verdict};
