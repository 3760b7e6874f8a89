//! What the endpoints and listening ports of a host take in memory, looked at now
//! and then.

use anabranch_network::NodeId;
use anabranch_units::{Span, Time};

/// What endpoints and listening ports of a host take, in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryResult {
    /// Octets at the last look.
    pub last: u64,
    /// Octets at the look that found most.
    pub peak: u64,
    /// Sum of the octets at all looks.
    pub sum: u64,
    /// Number of looks.
    pub looks: u64,
}

impl MemoryResult {
    /// Returns the mean over the looks, in octets.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.looks.max(1) as f64
    }
}

/// Looks at a host at equal intervals, until a date.
#[derive(Debug)]
pub(crate) struct Gauge {
    pub host: NodeId,
    /// The ends of flows there, by their numbers.
    pub endpoints: Vec<u32>,
    every: Span,
    until: Time,
    next: Time,
    pub result: MemoryResult,
}

impl Gauge {
    pub(crate) fn new(host: NodeId, every: Span, until: Time) -> Gauge {
        let (endpoints, result) = (Vec::new(), MemoryResult::default());
        Gauge { host, endpoints, every, until, next: Time::ZERO + every, result }
    }

    /// The date of the next look.
    pub(crate) fn due(&self) -> Time {
        if self.next <= self.until { self.next } else { Time::NEVER }
    }

    /// It finds so many octets.
    pub(crate) fn look(&mut self, octets: u64) {
        let result = &mut self.result;
        result.last = octets;
        result.peak = result.peak.max(octets);
        result.sum += octets;
        result.looks += 1;
        self.next = self.next.saturating_add(self.every);
    }
}
