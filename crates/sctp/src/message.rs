//! Messages, the unit of user data (RFC 9260 §1.5.2).

use anabranch_wire::Payload;

/// A message to send, or one that has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Stream identifier.
    pub stream: u16,
    /// Delivered as soon as it is complete, whatever came before.
    pub unordered: bool,
    /// Payload protocol identifier.
    pub ppid: u32,
    /// The sender asks for a SACK at once when the last of it arrives (`SCTP_SACK_IMMEDIATELY`, RFC
    /// 7053 §7). Of a message that has arrived it says nothing.
    pub immediate: bool,
    /// User data, at least one octet.
    pub payload: Payload,
}

impl Message {
    /// An ordered message.
    pub fn new(stream: u16, payload: Payload) -> Message {
        Message { stream, unordered: false, ppid: 0, immediate: false, payload }
    }
}
