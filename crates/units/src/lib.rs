//! Quantities as types: a date ([`Time`]), a length of time ([`Span`]), a
//! transmission rate ([`Rate`]), a number of octets ([`Bytes`]) and RFC 1982
//! serial numbers ([`Serial32`]).
//!
//! Nothing here reads a clock.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod rate;
mod serial;
mod size;
mod time;

pub use rate::Rate;
pub use serial::Serial32;
pub use size::Bytes;
pub use time::{Span, Time};
