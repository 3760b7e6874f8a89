//! Random early detection: Floyd and Jacobson, "Random Early Detection
//! Gateways for Congestion Avoidance", ToN 1993, Fig. 2, with the gentle
//! variant (Floyd 2000), the choice between early drops spread uniformly over
//! 1 to 1/p or over 1/p to 2/p packets (`wait`, as ns-2 has it), and the
//! adaptation of max_p by Floyd, Gummadi and Shenker, "Adaptive RED", 2001.
//!
//! The queue length is what waits, without the packet on the line. The average
//! follows the idle rule when the line is idle at an arrival, and the length
//! else, be it zero.

use super::{Arrival, Decision, QueueLimit};
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Rate, Span, Time};
use anabranch_wire::Ecn;

pub(super) const INFO: Info = Info {
    name: "red",
    summary: "drops or marks at random by the average queue length; adaptive on request",
    reference: "Floyd and Jacobson, ToN 1993; Floyd, Gummadi and Shenker 2001",
};

/// Parameters of random early detection.
#[derive(Clone, PartialEq, Debug)]
pub struct RedConfig {
    /// Most that may wait, whatever the average says.
    pub limit: QueueLimit,
    /// The average and the thresholds are in octets instead of packets.
    pub octets: bool,
    /// Average length from which on packets are dropped at random; `None` sets
    /// both thresholds by `target_delay`.
    pub min: Option<f64>,
    /// Average length at which the probability has risen to `max_p`; `None` is
    /// three times `min`.
    pub max: Option<f64>,
    /// Probability at `max` (max_p).
    pub max_p: f64,
    /// Weight of a sample in the average (w_q); `None` is 1 - exp(-1/C) with C
    /// the packets of mean size in a second.
    pub weight: Option<f64>,
    /// From `max` to twice `max` the probability goes on from `max_p` to 1.
    pub gentle: bool,
    /// Waits 1/p packets after a drop before the next.
    pub wait: bool,
    /// A packet's probability goes with its size.
    pub by_size: bool,
    /// Mean packet size, for idle times and `by_size`.
    pub mean_packet: Bytes,
    /// Marks ECN-capable packets instead of dropping them early.
    pub ecn: bool,
    /// Adapts `max_p` so that the average stays in the middle of the
    /// thresholds.
    pub adaptive: bool,
    /// Time between adaptations.
    pub interval: Span,
    /// Delay from which thresholds that are not given are set.
    pub target_delay: Span,
}

impl Default for RedConfig {
    /// 5 and 15 packets, max_p 0.1, weight 0.002, gentle, wait: the values that
    /// the authors advise since 1997. Adaptive RED's: 0.5 s, 5 ms.
    fn default() -> Self {
        RedConfig {
            limit: QueueLimit::Packets(100),
            octets: false,
            min: Some(5.0),
            max: Some(15.0),
            max_p: 0.1,
            weight: Some(0.002),
            gentle: true,
            wait: true,
            by_size: false,
            mean_packet: Bytes(1000),
            ecn: false,
            adaptive: false,
            interval: Span::from_millis(500),
            target_delay: Span::from_millis(5),
        }
    }
}

impl RedConfig {
    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::probability("max_p", self.max_p)?;
        if let Some(weight) = self.weight {
            ConfigError::probability("weight", weight)?;
        }
        let min = self.min.unwrap_or(0.0);
        if !(min.is_finite() && min >= 0.0) {
            return Err(ConfigError::new("min", min, "at least 0"));
        }
        if let Some(max) = self.max
            && !(max.is_finite() && max > min && self.min.is_some())
        {
            return Err(ConfigError::new("max", max, "more than `min`, which is given too"));
        }
        if self.mean_packet == Bytes(0) {
            return Err(ConfigError::new("mean_packet", self.mean_packet, "at least 1 B"));
        }
        ConfigError::repeated("interval", self.interval)
    }
}

/// The state of RED; it holds no packets.
#[derive(Debug)]
pub struct Red {
    config: RedConfig,
    min: f64,
    max: f64,
    weight: f64,
    max_p: f64,
    /// Transmission time of a mean packet (the paper's s), in seconds.
    slot: f64,
    /// Average queue length, in packets or octets as `config.octets` says.
    avg: f64,
    /// Packets of mean size since the last early drop; negative below `min`.
    count: f64,
    next_adaptation: Time,
    generator: Generator,
}

impl Red {
    /// An empty queue in front of a line of this rate.
    pub fn new(config: &RedConfig, rate: Rate, generator: Generator) -> Red {
        let slot = rate.time_for(config.mean_packet).as_secs_f64();
        let unit = if config.octets { config.mean_packet.0 as f64 } else { 1.0 };
        // Adaptive RED §5.1: thresholds by delay, at least 5 packets.
        let auto_min = (config.target_delay.as_secs_f64() / slot / 2.0).max(5.0) * unit;
        let min = config.min.unwrap_or(auto_min);
        Red {
            min,
            max: config.max.unwrap_or(3.0 * min),
            // Adaptive RED §5.2: a time constant of one second, over 1/C.
            weight: config.weight.unwrap_or_else(|| -libm::expm1(-slot)),
            max_p: config.max_p,
            slot,
            avg: 0.0,
            count: -1.0,
            next_adaptation: Time::ZERO + config.interval,
            config: config.clone(),
            generator,
        }
    }

    /// The average queue length, in packets or octets.
    pub fn average(&self) -> f64 {
        self.avg
    }

    /// Returns max_p, as adapted.
    pub fn max_p(&self) -> f64 {
        self.max_p
    }

    /// Returns what may wait at all; more is dropped.
    pub fn limit(&self) -> QueueLimit {
        self.config.limit
    }

    /// Takes a packet that comes into the average, and decides whether it is admitted, marked or
    /// dropped.
    pub fn on_arrival(&mut self, arrival: &Arrival) -> Decision {
        if self.config.adaptive {
            self.adapt(arrival.now);
        }
        self.sample(arrival);
        self.decide(arrival)
    }

    /// Decides on a packet that the average has in it, for a law that does something in between.
    #[inline(always)]
    pub(super) fn decide(&mut self, arrival: &Arrival) -> Decision {
        let base = self.probability(self.avg);
        if base <= 0.0 {
            self.count = -1.0;
            return Decision::Admit;
        }
        if base >= 1.0 {
            self.count = 0.0;
            return Decision::Drop;
        }
        let share = match self.config.by_size {
            true => arrival.size as f64 / self.config.mean_packet.0 as f64,
            false => 1.0,
        };
        self.count = if self.count < 0.0 { 0.0 } else { self.count + share };
        if !self.generator.chance(self.spread(base, share)) {
            return Decision::Admit;
        }
        self.count = 0.0;
        match self.config.ecn && arrival.ecn != Ecn::NotEct {
            true => Decision::Mark,
            false => Decision::Drop,
        }
    }

    /// The packet was dropped because the buffer is full.
    pub fn on_overflow(&mut self) {
        self.count = 0.0;
    }

    /// The average, with what waits now.
    #[inline(always)]
    pub(super) fn sample(&mut self, arrival: &Arrival) {
        if arrival.now >= arrival.busy_until {
            let idle = (arrival.now - arrival.busy_until).as_secs_f64();
            self.avg *= libm::pow(1.0 - self.weight, idle / self.slot);
        } else {
            let waiting =
                if self.config.octets { arrival.waiting.octets } else { arrival.waiting.packets };
            self.avg += self.weight * (waiting as f64 - self.avg);
        }
    }

    #[cfg(test)]
    pub(super) fn set_average(&mut self, avg: f64) {
        self.avg = avg;
    }

    /// p_b: linear from min to max; 1 is a forced drop.
    fn probability(&self, avg: f64) -> f64 {
        if avg < self.min {
            0.0
        } else if avg < self.max {
            self.max_p * (avg - self.min) / (self.max - self.min)
        } else if self.config.gentle && avg < 2.0 * self.max {
            self.max_p + (1.0 - self.max_p) * (avg - self.max) / self.max
        } else {
            1.0
        }
    }

    /// p_a: makes the spaces between drops uniform (Method 2 of §VII). As Fig.
    /// 2 counts, the packet itself included, they are 1 to 1/p - 1 packets.
    /// Where sizes weigh, `count` is in mean packets and spaces in octets.
    fn spread(&self, base: f64, share: f64) -> f64 {
        let reached = self.count * base;
        match self.config.wait {
            false if reached < 1.0 => base * share / (1.0 - reached),
            true if reached < 1.0 => 0.0,
            true if reached < 2.0 => base * share / (2.0 - reached),
            _ => 1.0,
        }
    }

    /// Adaptive RED §4: additive increase, multiplicative decrease of max_p
    /// within 0.01 and 0.5, each interval.
    fn adapt(&mut self, now: Time) {
        let span = self.max - self.min;
        let (low, high) = (self.min + 0.4 * span, self.min + 0.6 * span);
        while self.next_adaptation <= now {
            let before = self.max_p;
            if self.avg > high && self.max_p <= 0.5 {
                self.max_p += (self.max_p / 4.0).min(0.01);
            } else if self.avg < low && self.max_p >= 0.01 {
                self.max_p *= 0.9;
            }
            let interval = self.config.interval;
            self.next_adaptation += interval;
            if self.max_p == before {
                // The average stays until the next arrival, so nothing changes.
                let skipped = now.saturating_since(self.next_adaptation).as_picos();
                self.next_adaptation += interval * skipped.div_ceil(interval.as_picos());
            }
        }
    }
}

#[cfg(test)]
mod tests;
