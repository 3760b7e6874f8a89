//! An amount of what may wait in the forward queue: absolute, or a share of
//! the queue's limit.

use crate::catalogue::ConfigError;
use crate::queue::{QueueLimit, Waiting};
use anabranch_units::Bytes;

/// `Level` is a level of the forward queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Level {
    /// This share of the queue's limit, from 0 to 1, in the limit's unit.
    Share(f64),
    /// This many packets are in the queue.
    Packets(u64),
    /// This many octets are in the queue.
    Octets(Bytes),
}

/// `Mark` is a level in thousandths of a packet or of an octet, so that shares of small buffers
/// differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mark {
    pub milli: u64,
    pub octets: bool,
}

impl Mark {
    /// Returns what waits, in the unit of the mark.
    pub(super) fn measure(&self, waiting: Waiting) -> u64 {
        let amount = if self.octets { waiting.octets } else { waiting.packets };
        amount.saturating_mul(1000)
    }
}

impl Level {
    /// Returns the level in front of a queue of this limit.
    ///
    /// # Errors
    /// A share that is none, and one of a queue without a limit.
    pub(super) fn of(self, field: &'static str, limit: QueueLimit) -> Result<Mark, ConfigError> {
        let mark = |amount: u64, octets| Mark { milli: amount.saturating_mul(1000), octets };
        Ok(match (self, limit) {
            (Level::Packets(n), _) => mark(n, false),
            (Level::Octets(n), _) => mark(n.0, true),
            (Level::Share(share), _) if !(0.0..=1.0).contains(&share) => {
                return Err(ConfigError::new(field, share, "a share of the queue, from 0 to 1"));
            }
            (Level::Share(share), QueueLimit::Unlimited) => {
                let allowed = "packets or octets; a queue without a limit has no shares";
                return Err(ConfigError::new(field, share, allowed));
            }
            (Level::Share(share), QueueLimit::Packets(n)) => {
                Mark { milli: (share * n as f64 * 1000.0) as u64, octets: false }
            }
            (Level::Share(share), QueueLimit::Octets(n)) => {
                Mark { milli: (share * n.0 as f64 * 1000.0) as u64, octets: true }
            }
        })
    }
}
