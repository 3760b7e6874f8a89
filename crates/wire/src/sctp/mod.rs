//! The SCTP packet as a value and its octets (RFC 9260 §3).
//!
//! All chunks, parameters and causes of RFC 9260 are values, and those of
//! partial reliability (RFC 3758), message interleaving (RFC 8260), address
//! reconfiguration (RFC 5061), authentication (RFC 4895), stream
//! reconfiguration (RFC 6525) and padding (RFC 4820). What is unknown is kept,
//! so that it can be reported as its type asks.

mod address;
mod cause;
mod chunk;
mod crc32c;
mod data;
mod init;
mod packet;
mod parameter;
mod sack;
mod stranger;
mod tlv;
pub(crate) mod udp;

pub use address::Address;
pub use cause::Cause;
pub use chunk::{Chunk, kind};
pub use crc32c::Crc32c;
pub use data::{DataChunk, DataFlags, IDataChunk};
pub use init::InitChunk;
pub use packet::{Chunks, SctpError, SctpPacket};
pub use parameter::{AddressChange, EDMID_DTLS, Parameter, UnknownAction};
pub use sack::{ForwardTsn, GapBlock, IForwardTsn, SackChunk, SkippedMessage};
pub use udp::PORT as UDP_PORT;

#[cfg(test)]
mod tests;
