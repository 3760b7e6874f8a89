//! Messages that were delivered in parts are put together here, for users who want them whole.

use crate::receiver::reassembly::{Part, Received};
use anabranch_wire::Payload;

/// `Parts` has the messages of which parts were delivered, but not the last.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    open: Vec<(Received, Vec<Payload>)>,
    /// `octets` is how many octets they have so far.
    octets: u64,
}

impl Parts {
    /// Returns how many octets are held here.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Adds a part; returns the whole message if the part is the last.
    pub fn add(&mut self, mut received: Received) -> Option<Received> {
        let of = |it: &Received| (it.message.stream, it.message.unordered, it.number);
        let at = self.open.iter().position(|(it, _)| of(it) == of(&received));
        let payload = std::mem::replace(&mut received.message.payload, Payload::EMPTY);
        self.octets += payload.len() as u64;
        match (received.part, at) {
            (Part::Whole, _) => {
                self.octets -= payload.len() as u64;
                received.message.payload = payload;
                Some(received)
            }
            (Part::First, _) => {
                self.open.push((received, vec![payload]));
                None
            }
            (_, None) => None,
            (Part::Middle, Some(at)) => {
                self.open[at].1.push(payload);
                None
            }
            (Part::Last, Some(at)) => {
                let (mut whole, mut payloads) = self.open.remove(at);
                payloads.push(payload);
                whole.message.payload = Payload::join(payloads.iter());
                whole.part = Part::Whole;
                self.octets -= whole.message.payload.len() as u64;
                Some(whole)
            }
            (Part::Aborted, Some(at)) => {
                let (_, payloads) = self.open.remove(at);
                self.octets -= payloads.iter().map(|it| it.len() as u64).sum::<u64>();
                None
            }
        }
    }
}
