//! Decides how much may be in flight: window growth and reduction, and when
//! slow start ends. One algorithm a file; no packets, no sockets, no clocks.
//!
//! A [`Controller`] governs one path: a TCP connection, an MPTCP subflow or an
//! SCTP destination. All of them drive it through one adapter, [`Driver`]. Windows are in octets.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod ack_clocked;
mod algorithm;
pub mod bbr;
pub mod bbr3;
pub mod bic;
mod careful_resume;
pub mod cdg;
mod controller;
pub mod copa;
pub mod coupled;
pub mod cubic;
pub mod dctcp;
mod driver;
pub mod gaimd;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
pub mod illinois;
pub mod ledbat;
pub mod ledbat_plus_plus;
pub mod lp;
pub mod nv;
mod options;
mod pacing;
mod plateau;
pub mod prague;
mod reduction;
pub mod reno;
mod round;
pub mod scalable;
mod slow_start;
mod validation;
pub mod vegas;
pub mod veno;
pub mod vivace;
pub mod westwood;
mod window;
pub mod yeah;

pub use algorithm::{ALGORITHMS, Algorithm, AlgorithmInfo, Congestion, MakeWindow};
pub use careful_resume::CarefulResumeOptions;
pub use controller::{
    Acked, Cause, CongestionEvent, Controller, Feedback, LostSegment, PathView, RateSample, Shared,
    Sibling,
};
pub use driver::{Driver, Stamp, Told};
pub use options::{OptionForm, Options};
pub use pacing::Pacing;
pub use reduction::SsthreshFrom;
pub use slow_start::{HyStartOptions, HyStartPlusPlusOptions, SearchOptions, SlowStartExit};
pub use window::Window;

#[cfg(test)]
mod testkit;
#[cfg(test)]
mod tests;
