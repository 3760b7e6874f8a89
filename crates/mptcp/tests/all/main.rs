//! Connections over several paths as a whole, one module each subject.
//!
//! One program for all of them: each that is linked has all that these crates depend on in it.

mod stream_integrity;
mod udp_example;
mod window_contract;
