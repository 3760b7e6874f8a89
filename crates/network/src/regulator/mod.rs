//! Regulators: a router that holds back ACKs instead of dropping data.
//!
//! A regulator belongs to one direction of a link, the *forward link*. It
//! stands in the router that sends over it, watches what waits there, and holds
//! the ACKs that come back over the link's other direction; these call for the
//! data that will fill the forward queue next. Held packets keep their order.
//! A law says when the first of them may go (one file each); a timer asks it
//! again, after at most `recheck`, so that a queue that has drained sets them
//! free. It needs no change at the hosts and knows no transport: what a packet
//! is, [`Packet`] says.
//!
//! Sans-I/O: [`Regulator::offer`] what comes over the reverse link, then
//! [`Regulator::poll`] until there is nothing; again at
//! [`Regulator::next_event`].

mod ack_bucket;
mod custom;
mod level;
mod threshold_linear;

pub use ack_bucket::AckBucketConfig;
pub use custom::{DelayLaw, Forward, MakeLaw};
pub use level::Level;
pub use threshold_linear::ThresholdLinearConfig;

use crate::catalogue::{ConfigError, Info};
use crate::config::LinkConfig;
use crate::link::Link;
use crate::pool::PacketId;
use crate::queue::{DropTail, QueueLimit, Waiting};
use ack_bucket::AckBucket;
use anabranch_custom::Custom;
use anabranch_units::{Bytes, Span, Time};
use anabranch_wire::Packet;
use std::collections::VecDeque;
use threshold_linear::ThresholdLinear;

/// `REGULATORS` has the delay laws by name.
pub const REGULATORS: &[Info] = &[threshold_linear::INFO, ack_bucket::INFO];

/// `RegulatorConfig` describes a regulator.
#[derive(Clone, PartialEq, Debug)]
pub struct RegulatorConfig {
    /// `law` says when held packets may go.
    pub law: LawConfig,
    /// `piggybacked` says that packets with payload are held, too, for the ACK that they carry.
    pub piggybacked: bool,
    /// `limit` is the most that may be held at a time.
    pub limit: QueueLimit,
    /// `overflow` says what happens beyond the limit.
    pub overflow: Overflow,
    /// The longest time between two looks at the forward link while packets
    /// are held.
    pub recheck: Span,
}

/// `LawConfig` describes a delay law.
#[derive(Clone, PartialEq, Debug)]
pub enum LawConfig {
    /// ACKs have a delay that grows with the forward queue.
    ThresholdLinear(ThresholdLinearConfig),
    /// ACKs go as the forward link's rate grants.
    AckBucket(AckBucketConfig),
    /// The user wrote the delay law.
    Custom(Box<Custom<MakeLaw>>),
}

/// `Overflow` is what a regulator does when it may hold no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overflow {
    /// The regulator drops the packet that comes.
    #[default]
    DropTail,
    /// Drops what it has held longest: later ACKs say as much.
    DropHead,
    /// Lets what it has held longest go early: nothing is lost.
    Release,
}

impl RegulatorConfig {
    /// The law with 1000 packets at most, drop-tail, a look each 10 ms; pure
    /// ACKs alone.
    pub fn new(law: LawConfig) -> RegulatorConfig {
        RegulatorConfig {
            law,
            piggybacked: false,
            limit: QueueLimit::Packets(1000),
            overflow: Overflow::DropTail,
            recheck: Span::from_millis(10),
        }
    }

    /// Checks the fields, for a regulator in front of this forward link.
    ///
    /// # Errors
    /// The first field that makes no sense, `queue.limit` of the forward link
    /// among them.
    pub fn validate(&self, forward: &LinkConfig) -> Result<(), ConfigError> {
        let too_small = match forward.queue.limit() {
            QueueLimit::Packets(n) => n == 0,
            QueueLimit::Octets(n) => n < forward.mtu,
            QueueLimit::Unlimited => false,
        };
        if too_small {
            let allowed = "room for a packet of the MTU, for a regulator to watch";
            return Err(ConfigError::new("queue.limit", shown(forward.queue.limit()), allowed));
        }
        let largest = if self.piggybacked { forward.mtu } else { LARGEST_ACK };
        let none = match self.limit {
            QueueLimit::Packets(n) => n == 0,
            QueueLimit::Octets(n) => n < largest,
            QueueLimit::Unlimited => false,
        };
        if none {
            let allowed = format!("at least 1 packet, or {largest}");
            return Err(ConfigError::new("limit", shown(self.limit), allowed));
        }
        ConfigError::repeated("recheck", self.recheck)?;
        match &self.law {
            LawConfig::ThresholdLinear(threshold_linear) => threshold_linear.validate(forward),
            LawConfig::AckBucket(ack_bucket) => ack_bucket.validate(forward),
            LawConfig::Custom(_) => Ok(()),
        }
    }

    /// The longest that the law holds a packet; `None` where it has no bound.
    pub fn longest_delay(&self) -> Option<Span> {
        match &self.law {
            LawConfig::ThresholdLinear(threshold_linear) => Some(threshold_linear.max_delay),
            LawConfig::AckBucket(_) | LawConfig::Custom(_) => None,
        }
    }
}

/// `LARGEST_ACK` is an ACK with all the options that fit: IP and TCP headers and 40 octets.
const LARGEST_ACK: Bytes = Bytes(80);

fn shown(limit: QueueLimit) -> String {
    match limit {
        QueueLimit::Packets(1) => "1 packet".into(),
        QueueLimit::Packets(n) => format!("{n} packets"),
        QueueLimit::Octets(n) => n.to_string(),
        QueueLimit::Unlimited => "unlimited".into(),
    }
}

/// `Regulator` is a regulator with the packets that it holds.
#[derive(Debug)]
pub struct Regulator {
    law: Law,
    piggybacked: bool,
    limit: DropTail,
    overflow: Overflow,
    recheck: Span,
    held: VecDeque<Held>,
    waiting: Waiting,
    /// Number of packets that are to leave early, with [`Overflow::Release`].
    early: u64,
    /// `dropped` has the packets that are dropped, and not yet polled.
    dropped: VecDeque<PacketId>,
    timer: Time,
    counters: RegulatorCounters,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    id: PacketId,
    size: u32,
    since: Time,
}

/// `Law` is a delay law with its state.
#[derive(Debug)]
enum Law {
    ThresholdLinear(ThresholdLinear),
    AckBucket(Box<AckBucket>),
    Custom(Box<dyn DelayLaw>),
}

impl Law {
    /// Returns when the packet at the head, held since `since`, may go, as the forward link is now;
    /// at once if that is not later than `now`.
    fn due(&mut self, now: Time, since: Time, forward: &mut Link) -> Time {
        match self {
            Law::ThresholdLinear(threshold_linear) => threshold_linear.due(now, since, forward),
            Law::AckBucket(ack_bucket) => ack_bucket.due(now, forward),
            Law::Custom(inner) => custom::due(inner.as_mut(), now, since, forward),
        }
    }

    /// Tells the law that a packet goes.
    fn on_release(&mut self, now: Time, forward: &Link) {
        match self {
            Law::ThresholdLinear(_) => {}
            Law::AckBucket(ack_bucket) => ack_bucket.on_release(now, forward),
            Law::Custom(custom) => custom.on_release(now),
        }
    }
}

/// `Regulated` is what becomes of a packet that a regulator was offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Regulated {
    /// The packet goes on its way to the router.
    Released {
        /// `id` is the packet's slot in the pool.
        id: PacketId,
        /// `waited` is the time for which it was held.
        waited: Span,
    },
    /// The packet is dropped; its slot in the pool is the caller's to free.
    Dropped(PacketId),
}

/// `RegulatorCounters` are the totals of a regulator since the start, of the packets that it
/// regulates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RegulatorCounters {
    /// `received` counts packets that came to the regulator.
    pub received: u64,
    /// `released` counts packets that went on their way.
    pub released: u64,
    /// Of the packets released, those that had to wait.
    pub delayed: u64,
    /// `dropped` counts packets dropped beyond the limit.
    pub dropped: u64,
    /// `held` is how many packets are held now.
    pub held: u64,
    /// `most_held` is the most packets held at a time.
    pub most_held: u64,
    /// Octets of the packets that came (IP header included).
    pub bytes_received: u64,
    /// `bytes_released` counts octets of the packets that went on.
    pub bytes_released: u64,
    /// `bytes_dropped` counts octets of the packets that were dropped.
    pub bytes_dropped: u64,
    /// `bytes_held` is how many octets are held now.
    pub bytes_held: u64,
    /// Delay given, summed over the packets that went on.
    pub total_delay: Span,
    /// `longest_delay` is the longest delay given to a packet.
    pub longest_delay: Span,
}

impl RegulatorCounters {
    /// Returns whether packets and octets are conserved, exactly at every event: received =
    /// released + held + dropped.
    pub fn is_conserved(&self) -> bool {
        self.received == self.released + self.held + self.dropped
            && self.bytes_received == self.bytes_released + self.bytes_held + self.bytes_dropped
    }
}

impl Regulator {
    /// Holds nothing. `config` is valid for `forward`.
    pub fn new(config: &RegulatorConfig, forward: &LinkConfig) -> Regulator {
        let law = match &config.law {
            LawConfig::ThresholdLinear(threshold_linear) => {
                Law::ThresholdLinear(ThresholdLinear::new(threshold_linear, forward))
            }
            LawConfig::AckBucket(ack_bucket) => {
                Law::AckBucket(Box::new(AckBucket::new(ack_bucket, forward)))
            }
            LawConfig::Custom(custom) => Law::Custom(custom.maker()(custom.place())),
        };
        Regulator {
            law,
            piggybacked: config.piggybacked,
            limit: DropTail::new(config.limit),
            overflow: config.overflow,
            recheck: config.recheck,
            held: VecDeque::new(),
            waiting: Waiting::default(),
            early: 0,
            dropped: VecDeque::new(),
            timer: Time::NEVER,
            counters: RegulatorCounters::default(),
        }
    }

    /// Returns whether it regulates such packets; all others pass it at once.
    #[inline]
    pub fn regulates(&self, packet: &Packet) -> bool {
        packet.is_pure_ack() || self.piggybacked && packet.payload_len() > 0
    }

    /// Takes a packet that came over the reverse link and is regulated.
    pub fn offer(&mut self, now: Time, id: PacketId, size: u32) {
        self.counters.received += 1;
        self.counters.bytes_received += size as u64;
        while !self.limit.admits(self.waiting, size) {
            let head = match self.overflow {
                Overflow::DropTail => None,
                Overflow::DropHead => self.held.pop_front(),
                Overflow::Release => match self.held.get(self.early as usize) {
                    // Leaves with the next poll, and counts no more.
                    Some(head) => {
                        self.early += 1;
                        self.waiting.remove(head.size);
                        continue;
                    }
                    None => None,
                },
            };
            match head {
                Some(head) => {
                    self.waiting.remove(head.size);
                    self.drop(head.id, head.size);
                }
                None => return self.drop(id, size),
            }
        }
        self.waiting.add(size);
        self.held.push_back(Held { id, size, since: now });
    }

    /// The next packet that leaves at `now`; `None` when the others stay.
    pub fn poll(&mut self, now: Time, forward: &mut Link) -> Option<Regulated> {
        if let Some(id) = self.dropped.pop_front() {
            return Some(Regulated::Dropped(id));
        }
        let Some(&Held { id, size, since }) = self.held.front() else {
            self.timer = Time::NEVER;
            return None;
        };
        if self.early > 0 {
            self.early -= 1;
        } else {
            let due = self.law.due(now, since, forward);
            if due > now {
                self.timer = match due {
                    Time::NEVER => due,
                    _ => due.min(now.saturating_add(self.recheck)),
                };
                self.counters.most_held = self.counters.most_held.max(self.held.len() as u64);
                return None;
            }
            self.waiting.remove(size);
        }
        self.held.pop_front();
        self.law.on_release(now, forward);
        let waited = now.saturating_since(since);
        let c = &mut self.counters;
        c.released += 1;
        c.bytes_released += size as u64;
        c.delayed += (waited > Span::ZERO) as u64;
        c.total_delay += waited;
        c.longest_delay = c.longest_delay.max(waited);
        Some(Regulated::Released { id, waited })
    }

    /// Returns when to poll it; [`Time::NEVER`] while it holds nothing.
    #[inline]
    pub fn next_event(&self) -> Time {
        self.timer
    }

    /// Returns the counters as they are now.
    pub fn counters(&self) -> RegulatorCounters {
        let octets = self.held.iter().map(|held| held.size as u64).sum();
        RegulatorCounters { held: self.held.len() as u64, bytes_held: octets, ..self.counters }
    }

    fn drop(&mut self, id: PacketId, size: u32) {
        self.counters.dropped += 1;
        self.counters.bytes_dropped += size as u64;
        self.dropped.push_back(id);
    }
}

#[cfg(test)]
mod tests;
