//! Quantities as types: a date ([`Time`]), a length of time ([`Span`]), a
//! transmission rate ([`Rate`]), a number of octets ([`Bytes`]) and RFC 1982
//! serial numbers ([`Serial32`]).
//!
//! Nothing here reads a clock.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use std::fmt;

mod rate;
mod serial;
mod size;
mod time;

pub use rate::Rate;
pub use serial::Serial32;
pub use size::Bytes;
pub use time::{Span, Time};

/// Writes `n` in the first of `units`, from the largest to the smallest, of which it is a whole number.
fn in_largest_unit(f: &mut fmt::Formatter<'_>, n: u64, units: &[(u64, &str)]) -> fmt::Result {
    let whole = units.iter().find(|(scale, _)| n.is_multiple_of(*scale));
    let (scale, unit) = whole.unwrap_or(&(1, ""));
    write!(f, "{} {unit}", n / scale)
}
