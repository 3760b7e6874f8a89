//! A message is the unit of user data (RFC 9260 §1.5.2).

use anabranch_wire::Payload;

/// A `Message` is one to send, or one that has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// `stream` is the stream identifier.
    pub stream: u16,
    /// `unordered` says that the message is delivered as soon as it is complete, whatever was sent
    /// before it.
    pub unordered: bool,
    /// `ppid` is the payload protocol identifier, which SCTP does not interpret.
    pub ppid: u32,
    /// `immediate` says that the sender asks for a SACK at once when the last octet arrives
    /// (`SCTP_SACK_IMMEDIATELY`, RFC 7053 §7). In a message that has arrived it means nothing.
    pub immediate: bool,
    /// `payload` is the user data, at least one octet.
    pub payload: Payload,
}

impl Message {
    /// `new` makes an ordered message, with the payload protocol identifier 0.
    pub fn new(stream: u16, payload: Payload) -> Message {
        Message { stream, unordered: false, ppid: 0, immediate: false, payload }
    }
}
