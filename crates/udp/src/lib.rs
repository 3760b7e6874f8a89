//! A UDP socket (RFC 768) as an endpoint without I/O: each message of the application is one
//! datagram, which arrives once, twice or not at all.
//!
//! [`Socket`] is connected: it knows one peer, whose datagrams it takes. There is no handshake; a
//! client is connected when it starts, a server when the first datagram has come. The applications
//! number their datagrams, and [`Framing`] says how the number stands in the data.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod framing;
mod socket;

pub use framing::{Framing, Reader};
pub use socket::{Config, Socket};
