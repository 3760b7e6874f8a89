//! The deterministic simulator: a virtual clock, hosts with endpoints and
//! applications, observers, and batches of runs on several threads.
//!
//! A [`Simulation`] is made by a [`SimulationBuilder`]: nodes, links in each
//! direction, flows between two endpoints of any kind that is a
//! [`FlowEndpoint`]. Events are totally ordered by (time, class,
//! source); a run is a function of what the builder was given.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod agents;
mod app;
mod app_context;
mod assault;
mod barrier;
mod batch;
mod builder;
mod channel;
mod contract;
mod datagrams;
mod events;
mod flow;
mod gauge;
mod host;
mod icmp_limit;
mod memories;
mod messages;
mod network;
pub mod observe;
mod octets;
mod offload;
mod outside;
pub mod parallel;
mod ports;
mod quantiles;
mod reception;
mod regulate;
mod simulation;
mod sizes;
mod tournament;
mod traffic;

pub use anabranch_network::{
    LinkConfig, LinkCounters, LinkId, NodeId, RegulatorConfig, RegulatorCounters,
};
pub use app::App;
pub use assault::{AttackResult, AttackSpec};
pub use batch::run_batch;
pub use builder::{BuildError, SimulationBuilder};
pub use contract::FlowEndpoint;
pub use datagrams::{CallSummary, DatagramSpec, DatagramSummary, JitterSummary, Losses};
pub use events::EventQueue;
pub use flow::{FlowId, FlowResult, FlowSpec, Side};
pub use gauge::MemoryResult;
pub use host::HostConfig;
pub use icmp_limit::{IcmpBucket, IcmpLimits};
pub use messages::{Delivery, FIRST_TAG, MessageTotals, MessageTraffic, Pace};
pub use observe::{Handle, Interests, NodeDrop, Observer, PacketEvent, PacketEventKind, Place};
pub use outside::Departure;
pub use quantiles::Distribution;
pub use reception::{ListenSpec, ReceptionResult};
pub use simulation::{NodeDrops, Simulation, Standing};
pub use sizes::Sizes;
pub use tournament::Tournament;
pub use traffic::{
    Duration, DurationLaw, FetchReport, LoadSpec, LoadSummary, MOST_OBJECTS, Object, Objects,
    PageSpec, Pages, Traffic,
};
