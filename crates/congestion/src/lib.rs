//! How much may be in flight: window growth and reduction, and when slow
//! start ends. One algorithm a file; no packets, no sockets, no clocks.
//!
//! A controller governs one path: a TCP connection, an MPTCP subflow or an
//! SCTP destination. Windows are in octets.

pub mod ack_clocked;
mod algorithm;
pub mod bbr;
mod controller;
pub mod coupled;
pub mod cubic;
pub mod dctcp;
pub mod highspeed;
mod pacing;
mod reduction;
pub mod reno;
mod round;
mod slow_start;
mod validation;
pub mod vegas;
pub mod westwood;
mod window;

pub use algorithm::{ALGORITHMS, Algorithm, AlgorithmInfo, Congestion, MakeWindow};
pub use controller::{
    Acked, Cause, CongestionEvent, Controller, Feedback, PathView, RateSample, Shared, Sibling,
};
pub use pacing::Pacing;
pub use reduction::SsthreshFrom;
pub use slow_start::{HyStartOptions, HyStartPlusPlusOptions, SlowStartExit};
pub use window::Window;

#[cfg(test)]
mod testkit;
#[cfg(test)]
mod tests;
