//! A sans-I/O SCTP association (RFC 9260) with several paths: state machine,
//! streams, congestion control for each destination address, retransmission
//! destinations and failover behind a seam each.
//!
//! Inside, chunks are counted by 64-bit *offsets* that never wrap: offset 0 is
//! the first TSN of a direction. They become 32-bit TSNs only in packets.
//!
//! Where to start reading: [`Association`], then [`policy`]. What is left out
//! is listed in docs/sctp.md.

mod association;
mod auth;
mod config;
mod cookie;
mod extensions;
pub mod failover;
mod flight;
mod knowledge;
mod listener;
mod outgoing;
mod parts;
mod path;
pub mod policy;
mod probes;
mod reassembly;
mod reliability;
pub mod scheduler;
mod sha1;
mod state;
mod stranger;
mod timestamp;
mod tsn_map;
mod window;

pub use association::{
    AddressError, Association, Notification, ReconfigError, SendError, Undelivered,
};
pub use auth::Authentication;
pub use config::{
    Concurrent, Config, ConfigError, Encapsulation, ImmediateSacks, InitialWindow, Jitter,
    Ns2Rules, PRESETS, PartialAcked, Probe, Probing, Window, WindowUnit,
};
pub use failover::Failover;
pub use listener::{Listener, ListenerCounters};
pub use outgoing::Message;
pub use path::{PathObservation, PathState};
pub use policy::Destination;
pub use reassembly::{Part, Received};
pub use reliability::{Abandoned, Reliability};
pub use scheduler::Scheduler;
pub use state::State;
pub use stranger::refusal;
