//! How long a message is sent again (RFC 3758 §4, RFC 7496 §4).

use anabranch_units::Time;

/// When the sender may give a message up. Without FORWARD-TSN on both sides
/// every message is reliable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reliability {
    /// Never.
    #[default]
    Reliable,
    /// From this date on (RFC 3758 §4.1, timed reliability): not sent when the
    /// date has passed, and not sent again.
    Until(Time),
    /// After that many retransmissions of one of its chunks (RFC 7496 §4.1,
    /// limited retransmissions).
    Retransmissions(u16),
    /// When the send buffer is full and a message of a lower number comes (RFC
    /// 7496 §4.2, priority policy).
    Priority(u32),
}

impl Reliability {
    /// A chunk that was sent again `resends` times, and is to be sent now, is
    /// given up.
    pub(crate) fn is_over(self, now: Time, resends: u16) -> bool {
        match self {
            Reliability::Reliable | Reliability::Priority(_) => false,
            Reliability::Until(date) => now >= date,
            Reliability::Retransmissions(most) => resends >= most,
        }
    }

    /// Its date has passed.
    pub(crate) fn is_expired(self, now: Time) -> bool {
        matches!(self, Reliability::Until(date) if now >= date)
    }

    /// It makes room for a message with the given priority.
    pub(crate) fn yields_to(self, priority: u32) -> Option<u32> {
        match self {
            Reliability::Priority(own) if own > priority => Some(own),
            _ => None,
        }
    }
}

/// Messages that were given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Abandoned {
    /// Before any of their octets was sent.
    pub unsent: u64,
    /// After some of them were sent.
    pub sent: u64,
}
