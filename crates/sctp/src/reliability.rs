//! A message may be given up after a time or a number of retransmissions (RFC 3758 §4, RFC 7496
//! §4).

use anabranch_units::Time;

/// A `Reliability` says when the sender may give a message up. Without FORWARD-TSN on both sides
/// every message is reliable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reliability {
    /// The message is never given up.
    #[default]
    Reliable,
    /// The message is given up from this date on: it is not sent when the date has passed, and not
    /// sent again (timed reliability, RFC 3758 §4.1).
    Until(Time),
    /// The message is given up after this many retransmissions of one of its chunks (limited
    /// retransmissions, RFC 7496 §4.1).
    Retransmissions(u16),
    /// The message is given up when the send buffer is full and a message with a lower number comes
    /// (priority policy, RFC 7496 §4.2).
    Priority(u32),
}

impl Reliability {
    /// Returns whether a chunk is given up that was sent again `resends` times and is to be sent
    /// now.
    pub(crate) fn is_over(self, now: Time, resends: u16) -> bool {
        match self {
            Reliability::Reliable | Reliability::Priority(_) => false,
            Reliability::Until(date) => now >= date,
            Reliability::Retransmissions(most) => resends >= most,
        }
    }

    /// Returns whether the date of the message has passed.
    pub(crate) fn is_expired(self, now: Time) -> bool {
        matches!(self, Reliability::Until(date) if now >= date)
    }

    /// Returns the message's own number if it makes room for a message with the number `priority`.
    pub(crate) fn yields_to(self, priority: u32) -> Option<u32> {
        match self {
            Reliability::Priority(own) if own > priority => Some(own),
            _ => None,
        }
    }
}

/// `Abandoned` counts the messages that were given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Abandoned {
    /// `unsent` counts those of which no octet had been sent.
    pub unsent: u64,
    /// `sent` counts those of which some octets had been sent.
    pub sent: u64,
}
