//! Messages, of transports that keep their boundaries.

use anabranch_units::{Span, Time};
use anabranch_wire::Payload;

/// A message that an application hands over for sending.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// Number of the stream that it is sent on, from 0.
    pub stream: u16,
    /// Delivered as soon as it is complete, whatever came before.
    pub unordered: bool,
    /// A number that the peer's application gets with the message.
    pub tag: u32,
    /// How long it is retransmitted before the sender gives it up (RFC 3758).
    pub patience: Patience,
    /// The message's octets, at least one.
    pub payload: Payload,
}

/// How long a message is retransmitted, where both sides can give one up; where they cannot, it is
/// never given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Patience {
    /// The message is retransmitted until it is acknowledged or the connection ends.
    #[default]
    Reliable,
    /// The message is given up at this date.
    Until(Time),
    /// The message is given up after this many retransmissions.
    Retransmissions(u16),
}

/// A message that has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incoming {
    /// Number of the stream that it came on.
    pub stream: u16,
    /// The number that the sender gave it ([`Outgoing::tag`]).
    pub tag: u32,
    /// The message's octets, as many as were sent.
    pub payload: Payload,
    /// Time for which it was complete and waited for earlier messages of its stream (head-of-line
    /// blocking).
    pub waited: Span,
}

/// Why a message was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No room for now; [`Event::Writable`](crate::Event::Writable) follows.
    Full,
    /// It can never be sent: the connection ends, the message is larger than the send buffer, or
    /// there is no such stream.
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
