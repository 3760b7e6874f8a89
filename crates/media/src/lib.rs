//! What users hear and see of a network, without I/O and without packets.
//!
//! [`voice`] turns the delays and losses of a call into an estimate of its quality. [`video`] plays
//! a video at an adaptive bit rate: it chooses the rate of each segment and counts stalls.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod video;
pub mod voice;
