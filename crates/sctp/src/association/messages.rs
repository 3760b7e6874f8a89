//! Messages of the user, and those of the contract, are sent and received here.

use super::Association;
use crate::extensions::Extensions;
use crate::message::Message;
use crate::receiver::reassembly::{Part, Received};
use crate::reliability::Reliability;
use crate::sender::undelivered::Undelivered;
use anabranch_endpoint::CloseReason;
use anabranch_endpoint::message::{Incoming, Messages, Outgoing, Patience, Refusal};
use anabranch_units::Span;
use anabranch_wire::sctp::Cause;
use std::fmt;

/// A `SendError` says why a message was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendError {
    /// The association ends, or has ended.
    Closing,
    /// There is no such stream; the number is how many there are.
    NoSuchStream(u16),
    /// A message without octets cannot be sent (RFC 9260 §3.3.1).
    Empty,
    /// The message is larger than the send buffer; the number is the size of that in octets.
    TooLong(u64),
    /// The send buffer is full for now; [`Event::Writable`](anabranch_endpoint::Event::Writable)
    /// follows.
    Full,
    /// The stream is about to start anew;
    /// [`Notification::StreamReset`](super::Notification::StreamReset) follows.
    Resetting,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::Closing => f.write_str("the association ends"),
            SendError::NoSuchStream(count) => write!(f, "there are {count} streams"),
            SendError::Empty => f.write_str("a message has at least one octet"),
            SendError::TooLong(most) => write!(f, "the send buffer has {most} octets"),
            SendError::Full => f.write_str("the send buffer is full"),
            SendError::Resetting => f.write_str("the stream is about to start anew"),
        }
    }
}
impl std::error::Error for SendError {}

impl Association {
    /// Takes a message for sending.
    ///
    /// # Errors
    /// See [`SendError`]; nothing is taken.
    pub fn send(&mut self, message: Message) -> Result<(), SendError> {
        self.send_with(message, Reliability::Reliable)
    }

    /// Takes a message that may be given up (RFC 3758). Where the peer does not
    /// know FORWARD-TSN it is reliable.
    ///
    /// # Errors
    /// See [`SendError`]; nothing is taken.
    pub fn send_with(&mut self, message: Message, limit: Reliability) -> Result<(), SendError> {
        if !self.phase.accepts_user_data() {
            return Err(SendError::Closing);
        }
        if message.stream >= self.sender.streams {
            return Err(SendError::NoSuchStream(self.sender.streams));
        }
        if message.payload.is_empty() {
            return Err(SendError::Empty);
        }
        if self.is_resetting(message.stream) {
            return Err(SendError::Resetting);
        }
        let (len, buffer) = (message.payload.len() as u64, self.config.send_buffer);
        if len > buffer {
            return Err(SendError::TooLong(buffer));
        }
        if self.sender.held() + len > buffer && !self.make_room(len, limit) {
            self.sender.set_write_blocked(true);
            return Err(SendError::Full);
        }
        self.sender.begin_event();
        self.sender.outgoing.push(message, limit);
        Ok(())
    }

    /// Takes the next message that has arrived, which frees room of the receive buffer. A message
    /// that is larger than the receive buffer is put together here, up to `largest_message` octets
    /// of [`Config`](crate::Config): beyond, the association is aborted.
    pub fn receive(&mut self) -> Option<Message> {
        self.receive_with_wait().map(|(message, _)| message)
    }

    /// Takes the next message, with how long it was complete and waited for earlier ones of its
    /// stream (head-of-line blocking).
    pub fn receive_with_wait(&mut self) -> Option<(Message, Span)> {
        self.receive_with_facts().map(|received| (received.message, received.waited))
    }

    /// Takes the next message, with what the wire said about it.
    pub fn receive_with_facts(&mut self) -> Option<Received> {
        loop {
            let received = self.receive_part()?;
            if received.part == Part::Whole {
                return Some(received);
            }
            let whole = self.receiver.join_part(received);
            if self.receiver.joining() > self.config.largest_message {
                self.abort_with(vec![Cause::OutOfResource], CloseReason::Aborted);
                return None;
            }
            if whole.is_some() {
                return whole;
            }
        }
    }

    /// Takes what has arrived next: a message, or a part of one that the receive buffer could not
    /// hold (partial delivery, RFC 6458 §8.1.21). It must not be mixed with the calls that
    /// give whole messages.
    pub fn receive_part(&mut self) -> Option<Received> {
        let received = self.receiver.reassembly.receive()?;
        self.update_window();
        Some(received)
    }

    /// Returns the messages that have arrived and wait for the user, the next one first.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &Received> {
        self.receiver.reassembly.ready().iter()
    }

    /// Makes room for `len` octets in the send buffer, which is full: messages of lower priority
    /// are given up, where that is agreed on (RFC 7496 §4.2). Returns false when they do not make
    /// it.
    fn make_room(&mut self, len: u64, limit: Reliability) -> bool {
        self.extensions.has(Extensions::PARTIAL)
            && self.sender.make_room(len, limit, &mut self.paths, &self.config)
    }

    /// Takes the next message that will not be delivered, where the settings ask to keep them.
    pub fn poll_undelivered(&mut self) -> Option<Undelivered> {
        self.sender.poll_undelivered()
    }

    /// Tells a user whose last write was cut short that there is room, if there is.
    pub(super) fn tell_of_room(&mut self) {
        self.pending.writable |= self.sender.has_room_again(self.config.send_buffer);
    }
}

impl Messages for Association {
    /// Takes a message of the contract; the tag travels as the payload protocol identifier.
    fn send_message(&mut self, message: Outgoing) -> Result<(), Refusal> {
        let Outgoing { stream, unordered, tag, patience, payload } = message;
        let limit = match patience {
            Patience::Reliable => Reliability::Reliable,
            Patience::Until(date) => Reliability::Until(date),
            Patience::Retransmissions(most) => Reliability::Retransmissions(most),
        };
        let message = Message { stream, unordered, ppid: tag, immediate: false, payload };
        self.send_with(message, limit).map_err(|error| match error {
            SendError::Full | SendError::Resetting => Refusal::Full,
            SendError::Closing
            | SendError::NoSuchStream(_)
            | SendError::Empty
            | SendError::TooLong(_) => Refusal::Never,
        })
    }

    fn receive_message(&mut self) -> Option<Incoming> {
        let (Message { stream, ppid, payload, .. }, waited) = self.receive_with_wait()?;
        Some(Incoming { stream, tag: ppid, payload, waited })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Association, Config};
    use anabranch_endpoint::message::{Outgoing, Patience, Refusal};
    use anabranch_endpoint::{ByteStream, MessageOriented, Seed};
    use anabranch_testkit::{Fate, Pair};
    use anabranch_units::{Span, Time};
    use anabranch_wire::{Addr, Payload};

    #[test]
    fn messages_of_the_contract_keep_stream_and_tag() {
        let config = Config { send_buffer: 2000, ..Config::rfc9260() };
        let ends = [(&[Addr(0)][..], 1), (&[Addr(1)][..], 2)];
        let generator = |role| Seed::default().generator(role);
        let client = Association::client(config.clone(), ends[0], ends[1], generator("client"));
        let server = Association::server(config, ends[1], ends[0], generator("server"));
        let mut pair = Pair::new(client, server, Span::from_millis(10), |_, _| Fate::Deliver);
        pair.client.connect(Time::ZERO);
        let mut send = |stream, tag, len| {
            let payload = Payload::virtual_of(len);
            let patience = Patience::Reliable;
            let message = Outgoing { stream, unordered: false, tag, patience, payload };
            pair.client.messages().expect("SCTP has messages").send_message(message)
        };
        assert_eq!(send(3, 70_000, 1500), Ok(()));
        assert_eq!(send(3, 70_001, 1500), Err(Refusal::Full));
        assert_eq!(send(10, 70_002, 1), Err(Refusal::Never), "streams 0 to 9");
        assert_eq!(send(0, 70_003, 2001), Err(Refusal::Never), "larger than the buffer");
        while pair.step(Time::ZERO + Span::from_secs(1)) {}
        let messages = pair.server.messages().expect("SCTP has messages");
        let message = messages.receive_message().expect("one has arrived");
        assert_eq!((message.stream, message.tag, message.payload.len()), (3, 70_000, 1500));
        assert_eq!(messages.receive_message(), None);
    }

    #[test]
    fn patience_is_reliability() {
        let config = Config { partial_reliability: true, ..Config::rfc9260() };
        let ends = [(&[Addr(0)][..], 1), (&[Addr(1)][..], 2)];
        let generator = |role| Seed::default().generator(role);
        let client = Association::client(config.clone(), ends[0], ends[1], generator("client"));
        let server = Association::server(config, ends[1], ends[0], generator("server"));
        let lose = |_, packet: &anabranch_wire::Packet| match packet.payload_len() {
            0 => Fate::Deliver,
            _ => Fate::Drop,
        };
        let mut pair = Pair::new(client, server, Span::from_millis(10), lose);
        pair.client.connect(Time::ZERO);
        while pair.step(Time::ZERO + Span::from_secs(1)) {}
        let patience = [Patience::Until(pair.now), Patience::Retransmissions(0)];
        for (tag, patience) in (0..).zip(patience) {
            let payload = Payload::virtual_of(9);
            let message = Outgoing { stream: 0, unordered: false, tag, patience, payload };
            pair.client.messages().expect("SCTP has messages").send_message(message).unwrap();
        }
        while pair.step(Time::ZERO + Span::from_secs(9)) {}
        assert_eq!((pair.client.abandoned().unsent, pair.client.abandoned().sent), (1, 1));
    }
}
