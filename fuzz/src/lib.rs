//! Bodies of the fuzz targets: each takes octets and panics when a property
//! fails. They are plain functions so that `fuzz_targets/` and the tests of a
//! stable toolchain run the same code.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod association;
mod chunks;
mod connection;
mod input;
mod multipath;
mod segments;
mod wire;
mod world;

pub use association::sctp_association;
pub use chunks::sctp_chunks;
pub use connection::tcp_connection;
pub use multipath::mptcp_connection;
pub use segments::mptcp_segments;
pub use wire::{mended, parse_packet, parse_sctp, parse_tcp_options};
