//! Queue disciplines in front of a link's transmitter, one file each.

mod droptail;

pub use droptail::DropTail;

use crate::config::{ConfigError, Info};
use anabranch_units::Bytes;

/// The queue disciplines by name.
pub const QUEUES: &[Info] = &[droptail::INFO];

/// Description of a queue.
#[derive(Clone, PartialEq, Debug)]
pub enum QueueConfig {
    /// First in, first out; arrivals beyond the limit are dropped.
    DropTail {
        /// What may wait.
        limit: QueueLimit,
    },
}

/// How much may wait in a queue. The packet that is being transmitted does not
/// count: a limit of n packets means up to n waiting and one on the line.
///
/// ns-2's `DropTail` refuses a packet when `length + 1 >= queue-limit`, its
/// length also without the packet on the line, so that ns-2's `queue-limit N`
/// is `Packets(N - 1)` here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// This many packets.
    Packets(u64),
    /// This many octets, IP headers included.
    Octets(Bytes),
    /// No limit.
    Unlimited,
}

impl QueueConfig {
    /// Checks the fields.
    pub fn validate(&self) -> Result<(), ConfigError> {
        // Every limit makes sense: zero is a link without a buffer.
        let QueueConfig::DropTail { limit: _ } = self;
        Ok(())
    }

    pub(crate) fn build(&self) -> Queue {
        match self {
            QueueConfig::DropTail { limit } => Queue::DropTail(DropTail::new(*limit)),
        }
    }
}

impl Default for QueueConfig {
    /// Drop-tail, 100 packets.
    fn default() -> Self {
        QueueConfig::DropTail { limit: QueueLimit::Packets(100) }
    }
}

/// A queue's decisions. The packets themselves wait in the link's ring.
#[derive(Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
}

impl Queue {
    /// Whether a packet of `size` octets may join `waiting`.
    #[inline]
    pub(crate) fn admits(&mut self, waiting: Waiting, size: u32) -> bool {
        match self {
            Queue::DropTail(queue) => queue.admits(waiting, size),
        }
    }
}

/// What waits for the transmitter, without the packet that is being
/// transmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    /// Packets.
    pub packets: u64,
    /// Octets.
    pub octets: u64,
}
