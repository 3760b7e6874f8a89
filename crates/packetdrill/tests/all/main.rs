//! Scripts as a whole, one module each subject.
//!
//! One program for all of them: each that is linked has all that these crates depend on in it.

mod common;
mod conformance;
mod mutated;
mod numbers;
mod own_scripts;
mod parses_suites;
