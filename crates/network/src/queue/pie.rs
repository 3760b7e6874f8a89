//! Proportional integral controller enhanced, RFC 8033: the basic algorithm of
//! Appendix A and, as options, the optional elements of §5.
//!
//! The drop probability changes every T_UPDATE. Nothing is scheduled for it:
//! the link tells of each departure and arrival in order of time, and the
//! updates that lie before are made then, with the state that they would have
//! found.
//!
//! Choices where the RFC leaves one: T_UPDATE counts from the start of the run.
//! An update that finds the queue empty takes a delay of zero; with time stamps
//! the delay of the last departure would otherwise stand for as long as the
//! link is idle. An update and a departure at one date: the departure first.

use super::{Arrival, Decision, QueueLimit};
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::{Bounds, Generator};
use anabranch_units::{Bytes, Span, Time};
use anabranch_wire::Ecn;

pub(super) const INFO: Info = Info {
    name: "pie",
    summary: "drops or marks at random on arrival so that the delay stays near a target",
    reference: "RFC 8033",
};

/// The source of the estimate of the queueing delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DelayEstimate {
    /// What the last packet that left had waited (time stamps).
    #[default]
    Timestamps,
    /// Queue length over the departure rate (§5.2).
    Rate,
}

/// Parameters of PIE; names in capitals are those of RFC 8033.
#[derive(Clone, PartialEq, Debug)]
pub struct PieConfig {
    /// TAIL_DROP: what may wait at all.
    pub limit: QueueLimit,
    /// QDELAY_REF: the queueing delay that the controller aims at.
    pub target: Span,
    /// T_UPDATE: time from one update of the drop probability to the next.
    pub update: Span,
    /// Weight of the distance to the target, in 1/s.
    pub alpha: f64,
    /// Weight of the change of the delay, in 1/s.
    pub beta: f64,
    /// MAX_BURST: no drops for this long after a quiet time.
    pub burst: Span,
    /// MEAN_PKTSIZE: twice this many octets may always wait.
    pub mean_packet: Bytes,
    /// The source of the estimate of the queueing delay.
    pub delay: DelayEstimate,
    /// Marks ECN-capable packets (§5.1).
    pub ecn: bool,
    /// MARK_ECNTH: up to this probability; drops beyond.
    pub ecn_threshold: f64,
    /// Drops at more even spaces (§5.4).
    pub derandomize: bool,
    /// Limits an increase to 0.02 from a probability of 0.1 on (§5.5).
    pub cap: bool,
    /// PIE is off until the queue reaches this share of the limit, and again
    /// once it is empty and forgotten (§5.6); 0 for always on. The RFC advises
    /// a third.
    pub activate: f64,
}

impl Default for PieConfig {
    /// Values of RFC 8033 Appendix A.
    fn default() -> Self {
        PieConfig {
            limit: QueueLimit::Packets(1000),
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            burst: Span::from_millis(150),
            mean_packet: Bytes(1500),
            delay: DelayEstimate::Timestamps,
            ecn: false,
            ecn_threshold: 0.1,
            derandomize: false,
            cap: false,
            activate: 0.0,
        }
    }
}

impl PieConfig {
    /// What `alpha` and `beta` may be.
    pub const GAIN: Bounds<f64> = Bounds::of(0.0, 1000.0).counted_in("per second");

    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::repeated("update", self.update)?;
        for (field, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            Self::GAIN.check(field, value)?;
        }
        if self.activate > 0.0 && self.limit == QueueLimit::Unlimited {
            return Err(ConfigError::new("activate", self.activate, "0 without a limit"));
        }
        ConfigError::probability("activate", self.activate)?;
        ConfigError::probability("ecn_threshold", self.ecn_threshold)
    }
}

/// DQ_THRESHOLD, octets (§5.2).
const DQ_THRESHOLD: u64 = 1 << 14;

/// The controller of PIE; it holds no packets.
#[derive(Debug)]
pub struct Pie {
    config: PieConfig,
    /// `drop_prob_`: the drop probability, 0 to 1.
    probability: f64,
    /// `accu_prob_` (§5.4): the sum of probabilities since the last drop.
    accumulated: f64,
    burst_left: Span,
    /// current_qdelay_, seconds.
    delay: f64,
    /// `qdelay_old_`: the delay at the update before, in seconds.
    old_delay: f64,
    backlog: u64,
    active: bool,
    next_update: Time,
    measurement: Option<Measurement>,
    /// avg_dq_time_: seconds for [`DQ_THRESHOLD`] octets; zero when not known.
    departure_time: f64,
    generator: Generator,
}

/// A measurement of the departure rate.
#[derive(Debug)]
struct Measurement {
    since: Time,
    octets: u64,
}

impl Pie {
    /// Makes a controller for an empty queue.
    pub fn new(config: &PieConfig, generator: Generator) -> Pie {
        Pie {
            probability: 0.0,
            accumulated: 0.0,
            burst_left: config.burst,
            delay: 0.0,
            old_delay: 0.0,
            backlog: 0,
            active: config.activate == 0.0,
            next_update: Time::ZERO + config.update,
            measurement: None,
            departure_time: 0.0,
            config: config.clone(),
            generator,
        }
    }

    /// drop_prob_ after the updates made so far.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Returns what may wait at all; more is dropped.
    pub fn limit(&self) -> QueueLimit {
        self.config.limit
    }

    /// A packet comes; all departures up to now have been told.
    pub fn on_arrival(&mut self, arrival: &Arrival) -> Decision {
        self.update_before(arrival.now.saturating_add(Span::from_picos(1)));
        if self.config.activate > 0.0 && !self.switch(arrival) {
            return Decision::Admit;
        }
        let half = self.config.target.as_secs_f64() / 2.0;
        if self.probability == 0.0 && self.delay < half && self.old_delay < half {
            self.burst_left = self.config.burst;
        }
        // The sum of §5.4 grows during the allowance, too.
        let is_allowed = self.burst_left > Span::ZERO;
        let asks = !is_allowed || self.config.derandomize;
        let hits = asks && self.hits(half);
        if is_allowed || !hits {
            return Decision::Admit;
        }
        let marks = self.config.ecn
            && arrival.ecn != Ecn::NotEct
            && self.probability <= self.config.ecn_threshold;
        if marks { Decision::Mark } else { Decision::Drop }
    }

    /// A packet of `size` octets joined the queue.
    pub fn on_enqueue(&mut self, size: u32) {
        self.backlog += size as u64;
    }

    /// Hears that a packet left the queue at `now` after `waited`.
    pub fn on_departure(&mut self, now: Time, waited: Span, size: u32) {
        self.update_before(now);
        self.backlog -= size as u64;
        match self.config.delay {
            DelayEstimate::Timestamps => self.delay = waited.as_secs_f64(),
            DelayEstimate::Rate => self.measure(now, size),
        }
    }

    /// A packet that came was dropped because the buffer is full.
    pub fn on_overflow(&mut self) {
        self.accumulated = 0.0;
    }

    /// drop_early() of Appendix A, with §5.4.
    fn hits(&mut self, half: f64) -> bool {
        if (self.old_delay < half && self.probability < 0.2)
            || self.backlog <= 2 * self.config.mean_packet.0
        {
            return false;
        }
        if !self.config.derandomize {
            return self.generator.chance(self.probability);
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        let hit = match self.accumulated {
            sum if sum < 0.85 => false,
            sum if sum >= 8.5 => true,
            _ => self.generator.chance(self.probability),
        };
        if hit {
            self.accumulated = 0.0;
        }
        hit
    }

    /// §5.2: the time in which DQ_THRESHOLD octets leave, averaged. The next measurement begins when
    /// one ends, with what leaves then.
    fn measure(&mut self, now: Time, size: u32) {
        self.count_departure(now, size);
        if self.measurement.is_none() && self.backlog >= DQ_THRESHOLD {
            self.measurement = Some(Measurement { since: now, octets: 0 });
        }
    }

    /// A packet left, perhaps while a measurement runs.
    fn count_departure(&mut self, now: Time, size: u32) {
        let Some(running) = &mut self.measurement else { return };
        running.octets += size as u64;
        if running.octets >= DQ_THRESHOLD {
            const WEIGHT: f64 = DQ_THRESHOLD as f64 / 65_536.0;
            let took = (now - running.since).as_secs_f64();
            self.departure_time = match self.departure_time {
                0.0 => took,
                before => took * WEIGHT + before * (1.0 - WEIGHT),
            };
            self.measurement = None;
        }
    }

    /// §5.6: on or off, by the queue and by what is remembered.
    fn switch(&mut self, arrival: &Arrival) -> bool {
        let share = self.config.activate;
        if self.active {
            self.active = !(self.probability == 0.0 && self.old_delay == 0.0 && self.backlog == 0);
            return self.active;
        }
        let reached = match self.config.limit {
            QueueLimit::Packets(n) => arrival.waiting.packets as f64 >= n as f64 * share,
            QueueLimit::Octets(n) => arrival.waiting.octets as f64 >= n.0 as f64 * share,
            QueueLimit::Unlimited => false,
        };
        if reached {
            self.active = true;
            self.probability = 0.0;
            self.accumulated = 0.0;
            self.old_delay = 0.0;
            self.burst_left = self.config.burst;
            self.measurement = Some(Measurement { since: arrival.now, octets: 0 });
            self.departure_time = 0.0;
            self.next_update = arrival.now.saturating_add(self.config.update);
        }
        reached
    }

    /// Makes the updates that lie before `end`; none while PIE is off.
    fn update_before(&mut self, end: Time) {
        if !self.active {
            return;
        }
        while self.next_update < end {
            let before = (self.probability, self.delay, self.old_delay, self.burst_left);
            self.update();
            self.next_update += self.config.update;
            if before == (self.probability, self.delay, self.old_delay, self.burst_left) {
                // Between two calls nothing else changes, so neither do the
                // updates that are left.
                let left = end.saturating_since(self.next_update).as_picos();
                let interval = self.config.update;
                self.next_update += interval * left.div_ceil(interval.as_picos());
            }
        }
    }

    /// calculate_drop_prob() of Appendix A.
    fn update(&mut self) {
        if self.backlog == 0 {
            self.delay = 0.0;
        } else if self.config.delay == DelayEstimate::Rate {
            self.delay = self.backlog as f64 * self.departure_time / DQ_THRESHOLD as f64;
        }
        let target = self.config.target.as_secs_f64();
        let change = self.config.alpha * (self.delay - target)
            + self.config.beta * (self.delay - self.old_delay);
        let mut change = change / scale(self.probability);
        if self.config.cap && self.probability >= 0.1 && change > 0.02 {
            change = 0.02;
        }
        self.probability += change;
        if self.delay == 0.0 && self.old_delay == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.old_delay = self.delay;
        self.burst_left = self.burst_left.saturating_sub(self.config.update);
    }
}

/// The auto-tuning of §4.2: small probabilities change in small steps.
fn scale(probability: f64) -> f64 {
    match probability {
        p if p < 0.000_001 => 2048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests;
