//! Limits for the rate of ICMP errors (RFC 1812 §4.3.2.8, RFC 4443 §2.4 (f)):
//! token buckets of a node, and of a node towards each destination.

use anabranch_network::NodeId;
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, IcmpKind};
use std::collections::BTreeMap;

/// A token bucket: one token each `interval`, `burst` at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IcmpBucket {
    /// Time in which a token comes.
    pub interval: Span,
    /// Tokens of a full bucket; at least 1.
    pub burst: u32,
}

/// Limits of the ICMP errors that a node sends. An error takes a token of each bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IcmpLimits {
    /// The bucket of the node; `None`: no limit.
    pub node: Option<IcmpBucket>,
    /// The bucket of the node towards one destination; `None`: no limit.
    pub destination: Option<IcmpBucket>,
    /// The limits hold for *packet too big*, too.
    pub too_big: bool,
}

impl IcmpLimits {
    /// Nodes send as many errors as they have reason to.
    pub const NONE: IcmpLimits = IcmpLimits { node: None, destination: None, too_big: true };

    /// Returns the limits of Linux: `icmp_msgs_per_sec` 1000 with `icmp_msgs_burst` 50, and
    /// `icmp_ratelimit` of one each second towards a destination, six at once; *packet too big* is
    /// free of both.
    pub fn linux() -> IcmpLimits {
        IcmpLimits {
            node: Some(IcmpBucket { interval: Span::from_millis(1), burst: 50 }),
            destination: Some(IcmpBucket { interval: Span::from_secs(1), burst: 6 }),
            too_big: false,
        }
    }
}

/// The buckets at work. A bucket is the date at which it will be full again
/// (the virtual scheduling algorithm of ITU-T I.371).
#[derive(Debug)]
pub(crate) struct IcmpLimiter {
    limits: IcmpLimits,
    nodes: BTreeMap<u32, Time>,
    destinations: BTreeMap<(u32, Addr), Time>,
}

impl IcmpLimiter {
    pub(crate) fn new(limits: IcmpLimits) -> IcmpLimiter {
        IcmpLimiter { limits, nodes: BTreeMap::new(), destinations: BTreeMap::new() }
    }

    /// `node` may send an error of this kind to `to` now; takes the tokens.
    pub(crate) fn allows(&mut self, now: Time, node: NodeId, to: Addr, kind: IcmpKind) -> bool {
        let exempt = !self.limits.too_big && matches!(kind, IcmpKind::PacketTooBig { .. });
        let IcmpLimits { node: of_node, destination: of_destination, .. } = self.limits;
        if exempt || of_node.is_none() && of_destination.is_none() {
            return true;
        }
        let node_full = self.nodes.entry(node.0).or_default();
        let destination_full = self.destinations.entry((node.0, to)).or_default();
        let buckets = [(of_node, node_full), (of_destination, destination_full)];
        let has_token = |bucket: &Option<IcmpBucket>, full: Time| {
            bucket.is_none_or(|bucket| {
                full <= now.saturating_add(bucket.interval.saturating_mul(bucket.burst as u64 - 1))
            })
        };
        if !buckets.iter().all(|(bucket, full)| has_token(bucket, **full)) {
            return false;
        }
        for (bucket, full) in buckets {
            if let Some(bucket) = bucket {
                *full = (*full).max(now).saturating_add(bucket.interval);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNREACHABLE: IcmpKind = IcmpKind::PortUnreachable;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// One error each `step` ms to one destination for so long; how many left.
    fn sent(limits: IcmpLimits, kind: IcmpKind, step: u64, until: u64) -> usize {
        let mut limiter = IcmpLimiter::new(limits);
        let dates = (0..until).step_by(step as usize);
        dates.filter(|ms| limiter.allows(at(*ms), NodeId(1), Addr(7), kind)).count()
    }

    #[test]
    fn a_destination_gets_a_burst_and_then_the_rate() {
        // Six at once, then one a second: 6 + 9 in the ten seconds [0, 10).
        assert_eq!(sent(IcmpLimits::linux(), UNREACHABLE, 10, 10_000), 15);
        assert_eq!(sent(IcmpLimits::NONE, UNREACHABLE, 10, 10_000), 1000);
    }

    /// Linux keeps path MTU discovery out of its limits; RFC 1812 does not.
    #[test]
    fn packets_too_big_may_be_exempt() {
        let too_big = IcmpKind::PacketTooBig { mtu: 1400 };
        assert_eq!(sent(IcmpLimits::linux(), too_big, 10, 10_000), 1000);
        let strict = IcmpLimits { too_big: true, ..IcmpLimits::linux() };
        assert_eq!(sent(strict, too_big, 10, 10_000), 15);
    }

    /// The bucket of a node is shared by all destinations, and an error that one
    /// bucket refuses takes nothing of the other.
    #[test]
    fn a_node_has_one_bucket_for_all() {
        let mut limiter = IcmpLimiter::new(IcmpLimits::linux());
        let mut allows = |ms, node, to| limiter.allows(at(ms), NodeId(node), Addr(to), UNREACHABLE);
        for _ in 0..100 {
            allows(0, 1, 7);
        }
        assert_eq!((100..200).filter(|to| allows(0, 1, *to)).count(), 44, "50 less six");
        assert_eq!((200..300).filter(|to| allows(0, 2, *to)).count(), 50, "another node");
        assert_eq!((300..400).filter(|to| allows(10, 1, *to)).count(), 10, "one a millisecond");
    }
}
