//! The codec as a whole, one module each judge.
//!
//! One program for all of them: each that is linked has all that these crates depend on in it.

mod common;
mod round_trip;
mod sctp_samples;
mod tshark;
