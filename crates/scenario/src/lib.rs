//! One description of an experiment, from TOML, its building and its result.
//!
//! [`Scenario`] is read from text ([`Scenario::from_toml`]) and written back
//! with every default spelt out ([`Scenario::resolved_toml`]); [`run`] builds
//! the network, runs it and gives a [`RunResult`]. There is no protocol rule
//! here.
//!
//! Where to start reading: [`schema`], then [`build`](mod@build).

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod bench;
pub mod build;
mod capture;
mod catalogue;
mod cdf;
mod changes;
mod custom;
mod endpoints;
pub mod error;
mod fields;
mod flow_events;
mod graph;
mod hostile;
mod hostile_rules;
mod json_schema;
mod library;
#[cfg(target_os = "linux")]
pub mod live;
mod measured;
mod mobile;
mod multihoming;
mod nearest;
mod outcome;
pub mod overrides;
mod pattern;
pub mod quantity;
mod reading;
mod record;
pub mod replay;
mod result;
mod run;
mod run_error;
pub mod schema;
mod shape;
mod slices;
mod text;
mod topology;
mod traces;
pub mod transport;
mod validate;
mod warnings;

pub use anabranch_attack::{Aim, Kind, Target};
pub use anabranch_sim::{Distribution, Sizes};
pub use anabranch_wire::pcapng::Snap;
pub use capture::{CaptureEnd, CaptureOptions};
pub use catalogue::{Entry, KINDS, catalogue};
pub use error::InputError;
pub use flow_events::EventRow;
pub use json_schema::json_schema;
pub use library::Library;
pub use outcome::{End, Outcome};
pub use result::{
    AttackRow, DatagramRow, FlowRow, LinkRow, ListenRow, LoadRow, MemoryRow, MessageRow,
    NamedSeries, PathRow, PortRow, RegulatorRow, RunInfo, RunResult, VideoRow,
};
pub use run::{RunOptions, run, run_batch, run_watched};
pub use run_error::RunError;
pub use schema::{AttackSpec, Scenario};
pub use text::load;
pub use warnings::Warning;
