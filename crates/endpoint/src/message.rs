//! Messages, of transports that keep their boundaries.

use anabranch_units::{Span, Time};
use anabranch_wire::Payload;

/// A message to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// Stream.
    pub stream: u16,
    /// Delivered as soon as it is complete, whatever came before.
    pub unordered: bool,
    /// A number that the peer's application gets with the message.
    pub tag: u32,
    /// When it may be given up.
    pub patience: Patience,
    /// At least one octet.
    pub payload: Payload,
}

/// How long a message is sent again, where both sides can give one up; where
/// they cannot, for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Patience {
    /// For ever.
    #[default]
    Reliable,
    /// Until this date.
    Until(Time),
    /// That often.
    Retransmissions(u16),
}

/// A message that has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incoming {
    /// Stream.
    pub stream: u16,
    /// The sender's number.
    pub tag: u32,
    /// The octets.
    pub payload: Payload,
    /// How long it was complete and waited for earlier messages of its stream
    /// (head-of-line blocking).
    pub waited: Span,
}

/// Why a message was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No room for now; [`Event::Writable`](crate::Event::Writable) follows.
    Full,
    /// Not this one: the connection ends, the message is larger than the send
    /// buffer, or there is no such stream.
    Never,
}

/// Commands of a transport with messages.
pub trait Messages {
    /// Takes a message for sending.
    ///
    /// # Errors
    /// See [`Refusal`]; nothing is taken.
    fn send_message(&mut self, message: Outgoing) -> Result<(), Refusal>;

    /// The next message that has arrived. Frees receive-buffer space.
    fn receive_message(&mut self) -> Option<Incoming>;
}

/// A transport that may have messages, which applications use instead of
/// [`write`](crate::ByteStream::write) and [`read`](crate::ByteStream::read). Of a transport
/// without, the default is all.
pub trait MessageOriented {
    /// The commands for messages; `None` of a transport that has streams of octets alone.
    fn messages(&mut self) -> Option<&mut dyn Messages> {
        None
    }
}
