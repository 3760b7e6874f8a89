//! How much may be in flight: window growth and reduction, and when slow
//! start ends. One algorithm a file; no packets, no sockets, no clocks.
//!
//! A controller governs one path: a TCP connection, an MPTCP subflow or an
//! SCTP destination. Windows are in octets.

mod algorithm;
mod controller;
pub mod cubic;
pub mod reno;


pub use controller::{Acked, Cause, Congestion, Controller, PathView};
