//! Which stream the next message comes from (RFC 8260 §3), one file each.
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

/// The registered schedulers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scheduler {
    /// Messages in the order in which they were given (SCTP_SS_FCFS).
    #[default]
    Fcfs,
    /// A message, or fragment, of each stream in turn (SCTP_SS_RR).
    RoundRobin,
    /// A packet of each stream in turn (SCTP_SS_RR_PKT).
    RoundRobinPacket,
    /// The stream with the lowest value first (SCTP_SS_PRIO).
    Priority,
    /// The same number of octets from each stream (SCTP_SS_FB).
    FairBandwidth,
    /// Octets in proportion to the values of the streams (SCTP_SS_WFQ).
    WeightedFair,
}

/// Their names, with a line and a reference each.
pub const SCHEDULERS: [(&str, &str, &str); 6] = [
    ("fcfs", "messages in the order in which they were given", "RFC 8260 §3.1"),
    ("round-robin", "a message of each stream in turn", "RFC 8260 §3.2"),
    ("round-robin-packet", "a packet of each stream in turn", "RFC 8260 §3.3"),
    ("priority", "the stream with the lowest value first", "RFC 8260 §3.4"),
    ("fair-bandwidth", "the same number of octets from each stream", "RFC 8260 §3.5"),
    ("weighted-fair", "octets in proportion to the streams' values", "RFC 8260 §3.6"),
];

impl Scheduler {
    /// All, in the order of [`SCHEDULERS`].
    pub const ALL: [Scheduler; 6] = [
        Scheduler::Fcfs,
        Scheduler::RoundRobin,
        Scheduler::RoundRobinPacket,
        Scheduler::Priority,
        Scheduler::FairBandwidth,
        Scheduler::WeightedFair,
    ];

    /// The scheduler called `name`.
    pub fn from_name(name: &str) -> Option<Scheduler> {
        let at = SCHEDULERS.iter().position(|entry| entry.0 == name)?;
        Some(Scheduler::ALL[at])
    }

    /// Its name in [`SCHEDULERS`].
    pub fn name(self) -> &'static str {
        SCHEDULERS[self as usize].0
    }

    /// `None` for the one queue.
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

/// A stream's place: the lowest is next.
pub(crate) type Key = (u64, u64);

/// What a scheduler keeps of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    /// The value that the user set: a priority or a weight.
    pub value: u16,
    /// Octets served, in the discipline's unit.
    pub service: u64,
}

/// The rule of a scheduler.
pub(crate) trait Discipline: std::fmt::Debug + Send {
    /// The place of a stream that gets something to send.
    fn join(&mut self, account: &mut Account) -> Key;
    /// Its place after a turn of so many octets.
    fn again(&mut self, account: &mut Account, octets: u64) -> Key;
    /// A turn lasts until the packet is full.
    fn by_packet(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
