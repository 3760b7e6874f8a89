//! Packets: plain values that engines and the simulator handle, and the octets
//! that they become at the edges (TUN ports, pcapng files, the checking link).
//!
//! Every field that a protocol has on the wire is in the value.

pub mod packet;
pub mod tcp;

pub use packet::{Addr, Body, Ecn, FlowKey, Packet, Payload};
pub use tcp::{SackBlock, SackBlocks, TcpFlags, TcpOptions, TcpSegment, Timestamps};
