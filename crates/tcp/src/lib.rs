//! A sans-I/O TCP connection (RFC 9293): state machine, flow control, loss
//! recovery behind one seam, congestion control by `anabranch-congestion`.
//!
//! Inside, octets are counted by 64-bit *offsets* that never wrap: offset 0 is
//! the SYN, 1 the first octet of data. They become 32-bit sequence numbers
//! only in packets.
//!
//! Where to start reading: [`Connection`], then [`recovery`].

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod ack;
mod ack_timing;
mod config;
mod connection;
mod fast_open;
mod listener;
mod manners;
mod profile;
mod range_set;
mod receiver;
pub mod recovery;
mod right_sizing;
mod scoreboard;
mod send_log;
mod sender;
mod state;
mod stream;
mod undo;
mod window_growth;

pub use config::{
    Config, ConfigError, Counting, DelayedAck, EcnMode, Ect, InitialReceiveWindow, InitialWindow,
    KeepAlive, MtuProbing, Nagle, ResetTimestamps, RtoRestart, RttSamples, UndoOptions,
    WindowProbe, WindowUse,
};
pub use connection::{Connection, Info, LimitTimes, Past, Repair, SegmentCounts};
pub use fast_open::{FastOpenOptions, FastOpenServer, RequestForm};
pub use listener::{
    Backlog, Cookies, Listener, ListenerCounters, Pending as PendingFastOpens, SynCookies, Told,
};
pub use manners::{Manners, OpeningErrors};
pub use profile::Profile;
pub use range_set::{Range, RangeSet};
pub use scoreboard::Scoreboard;
pub use state::State;
pub use stream::Octets;
