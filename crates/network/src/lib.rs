//! The network between endpoints: links with their queues and impairments,
//! the packets in them, and static routing. Sans-I/O: every call takes `now`,
//! and a link answers when it next wants to be called.
//!
//! A busy link has *one* pending event. Departure times of a FIFO queue are
//! computed at arrival, and packets wait in the link's own ring until they
//! reach its far end.

pub mod config;
pub mod counters;
pub mod impairment;
pub mod link;
pub mod pool;
pub mod queue;
pub mod routing;

pub use config::{ConfigError, Info, LinkConfig};
pub use counters::LinkCounters;
pub use impairment::{IMPAIRMENTS, ImpairmentConfig, ImpairmentKind, Position};
pub use link::{DropReason, Link, LinkEvent, LinkWatch};
pub use pool::{PacketId, PacketPool};
pub use queue::{QUEUES, QueueConfig, QueueLimit, Waiting};
pub use routing::{LinkId, NodeId, Routes, Topology};
