//! packetdrill scripts: the language in which implementers of TCP, SCTP and
//! MPTCP write down what a stack must do, read and run in virtual time.
//!
//! [`parse`] reads a script of any of the dialects (Google's, nplab's with
//! SCTP, the MPTCP project's). No command of a script is ever executed.

pub mod code;
pub mod parse;
pub mod script;
pub mod suites;

pub use parse::{Definitions, ParseError, parse};
pub use script::Script;
