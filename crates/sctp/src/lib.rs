//! This crate is an SCTP association (RFC 9260) with several paths, without I/O: state machine,
//! streams, congestion control for each destination address. Retransmission policies, failover
//! rules and schedulers are chosen by the settings.
//!
//! Inside, chunks are counted by 64-bit *offsets* that never wrap: offset 0 is
//! the first TSN of a direction. They become 32-bit TSNs only in packets.
//!
//! Where to start reading: [`Association`], then [`policy`]. What is left out
//! is listed in docs/sctp.md.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod association;
mod config;
mod control;
mod cookie;
mod draft;
mod extensions;
pub mod failover;
mod identity;
mod listener;
mod message;
mod numbers;
mod paths;
mod phase;
pub mod policy;
mod queue;
mod receiver;
mod reliability;
mod route;
pub mod scheduler;
mod sender;
mod state;
mod timestamp;

pub use association::{Association, Notification, Reconfiguration, SendError};
pub use config::{
    Authentication, Concurrent, Config, ConfigError, Encapsulation, ImmediateSacks, InitialWindow,
    Jitter, MtuProbing, Ns2Rules, PRESETS, PartialAcked, Probe, Probing, UndoOptions, Window,
    WindowUnit,
};
pub use control::addresses::AddressError;
pub use control::reconfig::ReconfigError;
pub use failover::Failover;
pub use listener::{Listener, ListenerCounters};
pub use message::Message;
pub use paths::path::{PathObservation, PathState};
pub use policy::Destination;
pub use receiver::reassembly::{Part, Received};
pub use reliability::{Abandoned, Reliability};
pub use scheduler::Scheduler;
pub use sender::undelivered::Undelivered;
pub use state::State;
