//! Random scenarios: those of today, and what earlier ones found.
//!
//! One program for all of them: each that is linked has all that these crates depend on in it.

mod found;
mod random;
