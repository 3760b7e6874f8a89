//! Hosts as programs see them, one module each system or subject.
//!
//! One program for all of them: each that is linked has all that these crates depend on in it.

mod freebsd;
mod pairs;
