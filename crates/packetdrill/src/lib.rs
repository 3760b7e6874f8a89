//! packetdrill scripts: the language in which implementers of TCP, SCTP and
//! MPTCP write down what a stack must do, read and run in virtual time, or in that
//! of a stack which has a clock.
//!
//! [`parse()`] reads a script of any of the dialects (Google's, nplab's with
//! SCTP, the MPTCP project's); [`run`] runs it against a [`stack::Stack`], such
//! as [`host::Host`]: packets that the script injects come to the stack at
//! their time, what the stack sends is compared with what the script expects,
//! socket calls with what they return, and `%{ assert ... }%` is evaluated over
//! the connection's state. No command of a script is ever executed; see
//! [`shell`]. Left out: datagrams of UDP, packets within packets.
//!
//! ```
//! use anabranch_packetdrill::host::Host;
//! use anabranch_packetdrill::{Definitions, Profile, Settings, parse, run};
//!
//! let text = "
//!     0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
//!    +0 bind(3, ..., ...) = 0
//!    +0 listen(3, 1) = 0
//!    +0 < S 0:0(0) win 32792 <mss 1000,nop,wscale 7>
//!    +0 > S. 0:0(0) ack 1 <mss 1460,nop,wscale 7>
//!   +.1 < . 1:1(0) ack 1 win 257
//!    +0 accept(3, ..., ...) = 4
//!    +0 write(4, ..., 1000) = 1000
//!    +0 > P. 1:1001(1000) ack 1
//! ";
//! let script = parse("handshake", text, &Definitions::new())?;
//! let report = run(&script, &mut Host::new(Profile::Linux), &Settings::default());
//! assert!(report.passed(), "{report}");
//! # Ok::<(), anabranch_packetdrill::ParseError>(())
//! ```

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod code;
pub mod conformance;
pub mod constants;
mod descriptors;
pub mod host;
pub mod parse;
pub mod profile;
pub mod report;
mod run;
pub mod runner;
pub mod script;
pub mod sctp;
pub mod shell;
pub mod stack;
pub mod suites;
pub mod tcp;

pub use parse::{Definitions, ParseError, parse};
pub use profile::Profile;
pub use report::{Report, Verdict};
pub use run::{Settings, run};
pub use script::Script;
