//! The contract's messages on those of the association.

use super::{Association, SendError};
use crate::outgoing::Message;
use anabranch_endpoint::message::{Incoming, Messages, Outgoing, Refusal};
use anabranch_units::Span;

impl Messages for Association {
    /// The tag travels as the payload protocol identifier.
    fn send_message(&mut self, message: Outgoing) -> Result<(), Refusal> {
        let Outgoing { stream, unordered, tag, payload, .. } = message;
        self.send(Message { stream, unordered, ppid: tag, payload }).map_err(|error| match error {
            SendError::Full => Refusal::Full,
            SendError::Closing
            | SendError::NoSuchStream(_)
            | SendError::Empty
            | SendError::TooLong(_) => Refusal::Never,
        })
    }

    fn receive_message(&mut self) -> Option<Incoming> {
        let Message { stream, ppid, payload, .. } = self.receive()?;
        Some(Incoming { stream, tag: ppid, payload, waited: Span::ZERO })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Association, Config};
    use anabranch_endpoint::message::{Outgoing, Patience, Refusal};
    use anabranch_endpoint::{ByteStream, Seed};
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
}
