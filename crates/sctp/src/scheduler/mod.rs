//! A scheduler decides which stream the next message comes from (RFC 8260 §3); each has a file.
//!
//! A scheduler is a `Discipline`: it gives each stream with something to send
//! a key, and the stream with the lowest key is next. A turn lasts for a message,
//! for a fragment with message interleaving (I-DATA), or for a packet. First come,
//! first served (§3.1) needs none of this: it is the one queue of
//! `Outgoing`.

mod fair_bandwidth;
mod priority;
mod round_robin;
mod round_robin_packet;
mod streams;
mod weighted_fair;

pub(crate) use streams::Streams;

use fair_bandwidth::FairBandwidth;
use priority::Priority;
use round_robin::RoundRobin;
use round_robin_packet::RoundRobinPacket;
use weighted_fair::WeightedFair;

/// A `Scheduler` is a rule for the stream of the next message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scheduler {
    /// Messages leave in the order in which they were given (SCTP_SS_FCFS).
    #[default]
    Fcfs,
    /// The streams take turns by messages, or with interleaving by chunks (SCTP_SS_RR).
    RoundRobin,
    /// The streams take turns by packets (SCTP_SS_RR_PKT).
    RoundRobinPacket,
    /// The stream with the lowest value is served first (SCTP_SS_PRIO).
    Priority,
    /// Each stream gets the same number of octets (SCTP_SS_FB).
    FairBandwidth,
    /// Streams get octets in proportion to their values (SCTP_SS_WFQ).
    WeightedFair,
}

/// `SCHEDULERS` has the name of each scheduler, a description of one line, and a reference.
pub const SCHEDULERS: [(&str, &str, &str); 6] = [
    ("fcfs", "messages in the order in which they were given", "RFC 8260 §3.1"),
    ("round-robin", "a message of each stream in turn", "RFC 8260 §3.2"),
    ("round-robin-packet", "a packet of each stream in turn", "RFC 8260 §3.3"),
    ("priority", "the stream with the lowest value first", "RFC 8260 §3.4"),
    ("fair-bandwidth", "the same number of octets from each stream", "RFC 8260 §3.5"),
    ("weighted-fair", "octets in proportion to the streams' values", "RFC 8260 §3.6"),
];

impl Scheduler {
    /// `ALL` has every scheduler, in the order of [`SCHEDULERS`].
    pub const ALL: [Scheduler; 6] = [
        Scheduler::Fcfs,
        Scheduler::RoundRobin,
        Scheduler::RoundRobinPacket,
        Scheduler::Priority,
        Scheduler::FairBandwidth,
        Scheduler::WeightedFair,
    ];

    /// Returns the scheduler called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Scheduler> {
        let at = SCHEDULERS.iter().position(|entry| entry.0 == name)?;
        Some(Scheduler::ALL[at])
    }

    /// Returns the name of the scheduler in [`SCHEDULERS`].
    pub fn name(self) -> &'static str {
        SCHEDULERS[self as usize].0
    }

    /// Makes the discipline that chooses between streams; `None` for first come, first served,
    /// which has one queue.
    pub(crate) fn discipline(self) -> Option<Box<dyn Discipline>> {
        Some(match self {
            Scheduler::Fcfs => return None,
            Scheduler::RoundRobin => Box::new(RoundRobin::default()),
            Scheduler::RoundRobinPacket => Box::new(RoundRobinPacket::default()),
            Scheduler::Priority => Box::new(Priority::default()),
            Scheduler::FairBandwidth => Box::new(FairBandwidth::default()),
            Scheduler::WeightedFair => Box::new(WeightedFair::default()),
        })
    }
}

/// A `Key` is a stream's place among those with something to send: the lowest is next.
pub(crate) type Key = (u64, u64);

/// An `Account` is what a scheduler keeps of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    /// `value` is the priority or weight that the user set; it is 1 at first.
    pub value: u16,
    /// `service` is how much the stream has been served, in the discipline's unit.
    pub service: u64,
}

/// A `Discipline` is the rule of a scheduler.
pub(crate) trait Discipline: std::fmt::Debug + Send {
    /// Returns the place of a stream that gets something to send.
    fn join(&mut self, account: &mut Account) -> Key;
    /// Returns the place of a stream after a turn in which `octets` of it left.
    fn again(&mut self, account: &mut Account, octets: u64) -> Key;
    /// Returns whether a turn lasts until the packet is full.
    fn by_packet(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
