//! A sans-I/O Multipath TCP connection (RFC 8684, version 1): one stream over
//! several TCP connections, its *subflows*, each of which keeps its own
//! sequence space, loss recovery and congestion window (`anabranch-tcp`).
//!
//! Inside, octets of the stream are counted by 64-bit *data offsets* that never
//! wrap: offset 0 is the initial data sequence number, 1 the first octet, as
//! with the offsets of a TCP connection. They become data sequence numbers of
//! 32 or 64 bits only in packets.
//!
//! Where to start reading: [`Connection`], then [`scheduler`] and
//! [`path_manager`]. What is left out is listed in docs/mptcp.md.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod config;
mod connection;
mod key;
mod listener;
mod mapping;
mod path_counts;
pub mod path_manager;
mod receiver;
pub mod scheduler;
mod sender;
mod sequence;
mod signals;
mod subflow;

pub use config::{Config, ConfigError};
pub use connection::{Connection, Phase};
pub use key::Key;
pub use listener::{Listener, ListenerCounters};
pub use path_manager::PathManager;
pub use scheduler::SchedulerKind;
