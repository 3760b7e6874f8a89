//! The network between endpoints: links with their queues and impairments,
//! the packets in them, and static routing. Sans-I/O: every call takes `now`,
//! and a link answers when it next wants to be called.
//!
//! A busy link has *one* pending event. Departure times of a FIFO queue are
//! computed at arrival, and packets wait in the link's own ring until they
//! reach its far end. Disciplines that reorder, or decide at the head, hold
//! their packets and are asked when the transmitter is free.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod abr;
pub mod catalogue;
pub mod channel;
mod config;
pub mod counters;
mod hash;
pub mod impairment;
pub mod link;
pub mod pool;
pub mod queue;
pub mod regulator;
pub mod routing;
pub mod transmitter;

pub use catalogue::{ConfigError, Info};
pub use channel::{Channel, ChannelConfig};
pub use config::LinkConfig;
pub use counters::LinkCounters;
pub use hash::flow_hash;
pub use impairment::{
    FlowPaths, IMPAIRMENTS, ImpairmentConfig, ImpairmentKind, JitterConfig, JitterLaw,
    MiddleboxConfig, OutageConfig, Position, Segments,
};
pub use link::{End, Link, LinkDrop, LinkEvent, LinkWatch, Passing};
pub use pool::{PacketId, PacketPool};
pub use queue::{
    AckFilterConfig, BlueConfig, CakeAckFilter, CakeConfig, CakeFraming, CakeIsolation, CakeTins,
    ChokeConfig, CoDelConfig, CoDelLaw, CobaltConfig, CobaltLaw, DelayEstimate, DrrConfig, DrrKey,
    DualPi2Config, FqCoDelConfig, FqPieConfig, HtbClass, HtbConfig, HtbMatch, Pi2Config, PieConfig,
    PriorityConfig, PriorityKey, QUEUES, QueueConfig, QueueLimit, RedConfig, Scalable, SfqConfig,
    ThresholdConfig, Waiting,
};
pub use regulator::{
    AckBucketConfig, DelayLaw, Forward, LawConfig, Level, MakeLaw, Overflow, REGULATORS, Regulated,
    Regulator, RegulatorConfig, RegulatorCounters, ThresholdLinearConfig,
};
pub use routing::{LinkId, NodeId, Routes, Topology};
pub use transmitter::{
    DelaySchedule, RateSchedule, TRANSMITTERS, TokenBucketConfig, TraceConfig, TransmitterConfig,
};
