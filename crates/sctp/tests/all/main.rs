//! Associations as a whole, one module each subject.
//!
//! One program for all of them: each that is linked has all that these crates depend on in it.

mod capture;
mod documented;
mod message_integrity;
mod two_paths;
mod udp_example;
mod window_contract;
