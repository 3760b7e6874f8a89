//! PI improved with a square (PI2): De Schepper, Bondarenko, Tsang and Briscoe, "PI2: A Linearized
//! AQM for both Classic and Scalable TCP", CoNEXT 2016, in its form with a single queue.
//!
//! A proportional integral controller moves p', which is proportional to the load of Classic and of
//! Scalable senders alike. Classic packets are dropped or marked with p'^2, since the window of Reno
//! and CUBIC goes with one over the square root of the probability; Scalable packets are marked with
//! k p', since that of DCTCP goes with one over the probability. Nothing else is needed of what PIE
//! has: no table of gains, no burst allowance, no safeguards.
//!
//! The paper's variable is p_s = k p', whose square over k^2 is the Classic probability: the same
//! law. The gains here are those of p' (as with `dualpi2`), which are those of the authors' Linux
//! module, 10/16 and 100/16 Hz, over its k = 2.
//!
//! The updates are made as those of PIE: each before the first arrival or departure that follows it,
//! from the start of the run on, with the wait of the packet that left last, or 0 in an empty queue
//! (the paper estimates the wait from the departure rate).

use super::pie::PieConfig;
use super::{Arrival, Decision, QueueLimit};
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::{Bounds, Generator};
use anabranch_units::{Bytes, Span, Time};
use anabranch_wire::Ecn;

pub(super) const INFO: Info = Info {
    name: "pi2",
    summary: "drops or marks at random, by the square of what a PI controller says, so that the delay stays near a target",
    reference: "De Schepper et al., CoNEXT 2016",
};

/// The packets that are Scalable: marked with k p' rather than p'^2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scalable {
    /// None: every packet is Classic.
    None,
    /// ECT(1) and CE, the identifier of L4S (RFC 9331).
    #[default]
    Ect1,
    /// Every packet that is ECN-capable.
    Ect,
}

impl Scalable {
    /// Whether a packet with this field is Scalable.
    fn has(self, ecn: Ecn) -> bool {
        match self {
            Scalable::None => false,
            Scalable::Ect1 => matches!(ecn, Ecn::Ect1 | Ecn::Ce),
            Scalable::Ect => ecn != Ecn::NotEct,
        }
    }
}

/// `Pi2Config` has the parameters of PI2: its target, its gains, and what it marks.
#[derive(Clone, PartialEq, Debug)]
pub struct Pi2Config {
    /// `limit` is what may wait; what comes beyond it is dropped whatever the law says.
    pub limit: QueueLimit,
    /// Queueing delay that the controller aims at.
    pub target: Span,
    /// T: time from one update of p' to the next.
    pub update: Span,
    /// Gain of the distance to the target, in Hz, from 0 to 1000.
    pub alpha: f64,
    /// Gain of the change of the delay, in Hz, from 0 to 1000.
    pub beta: f64,
    /// While less than twice this many octets wait, nothing is dropped or marked.
    pub mean_packet: Bytes,
    /// Marks ECN-capable packets.
    pub ecn: bool,
    /// Packets that are marked with k p', if `ecn` is on.
    pub scalable: Scalable,
    /// k, from 1 to 100: the probability of Scalable packets over p'.
    pub coupling: f64,
}

impl Default for Pi2Config {
    /// Values of the authors' Linux module: 1000 packets, 20 ms, 30 ms, k = 2, gains of 5/16 and
    /// 50/16 Hz. ECN is off, as with the other disciplines of one queue.
    fn default() -> Self {
        Pi2Config {
            limit: QueueLimit::Packets(1000),
            target: Span::from_millis(20),
            update: Span::from_millis(30),
            alpha: 0.3125,
            beta: 3.125,
            mean_packet: Bytes(1500),
            ecn: false,
            scalable: Scalable::Ect1,
            coupling: 2.0,
        }
    }
}

impl Pi2Config {
    /// What `alpha` and `beta` may be.
    pub const GAIN: Bounds<f64> = PieConfig::GAIN;
    /// What `coupling` may be.
    pub const COUPLING: Bounds<f64> = Bounds::of(1.0, 100.0);

    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::repeated("update", self.update)?;
        for (field, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            Self::GAIN.check(field, value)?;
        }
        Self::COUPLING.check("coupling", self.coupling)
    }

    /// The largest p'. Where Scalable packets are told apart it is 1 / k, at which all of them are
    /// marked, so that the Classic probability is 1 / k^2 at most: the module's p_s ends at 1.
    fn most(&self) -> f64 {
        match self.ecn && self.scalable != Scalable::None {
            true => 1.0 / self.coupling,
            false => 1.0,
        }
    }
}

/// The controller of PI2; it holds no packets.
#[derive(Debug)]
pub struct Pi2 {
    config: Pi2Config,
    /// p', from 0 to [`Pi2Config::most`].
    base: f64,
    /// The wait of the packet that left last, in seconds.
    delay: f64,
    /// The delay at the update before, in seconds.
    old_delay: f64,
    backlog: u64,
    next_update: Time,
    generator: Generator,
}

impl Pi2 {
    /// Makes a controller for an empty queue.
    pub fn new(config: &Pi2Config, generator: Generator) -> Pi2 {
        Pi2 {
            base: 0.0,
            delay: 0.0,
            old_delay: 0.0,
            backlog: 0,
            next_update: Time::ZERO + config.update,
            config: config.clone(),
            generator,
        }
    }

    /// p' after the updates made so far.
    pub fn base_probability(&self) -> f64 {
        self.base
    }

    /// A packet comes; all departures up to now have been told.
    pub fn on_arrival(&mut self, arrival: &Arrival) -> Decision {
        self.update_before(arrival.now.saturating_add(Span::from_picos(1)));
        if self.backlog < 2 * self.config.mean_packet.0 {
            return Decision::Admit;
        }
        if self.config.ecn && self.config.scalable.has(arrival.ecn) {
            return match self.generator.chance(self.config.coupling * self.base) {
                true => Decision::Mark,
                false => Decision::Admit,
            };
        }
        let hits = self.generator.chance(self.base * self.base);
        match self.config.ecn && arrival.ecn != Ecn::NotEct {
            _ if !hits => Decision::Admit,
            true => Decision::Mark,
            false => Decision::Drop,
        }
    }

    /// A packet of `size` octets joined the queue.
    pub fn on_enqueue(&mut self, size: u32) {
        self.backlog += size as u64;
    }

    /// Hears that a packet left the queue at `now` after `waited`.
    pub fn on_departure(&mut self, now: Time, waited: Span, size: u32) {
        self.update_before(now);
        self.backlog -= size as u64;
        self.delay = waited.as_secs_f64();
    }

    /// Makes the updates that lie before `end`.
    fn update_before(&mut self, end: Time) {
        while self.next_update < end {
            let before = (self.base, self.delay, self.old_delay);
            self.update();
            let interval = self.config.update;
            self.next_update += interval;
            if before == (self.base, self.delay, self.old_delay) {
                // Between two calls nothing else changes, so neither do the updates that are left.
                let left = end.saturating_since(self.next_update).as_picos();
                self.next_update += interval * left.div_ceil(interval.as_picos());
            }
        }
    }

    /// p' += alpha (delay - target) + beta (delay - delay before), within its bounds.
    fn update(&mut self) {
        if self.backlog == 0 {
            self.delay = 0.0;
        }
        let target = self.config.target.as_secs_f64();
        let change = self.config.alpha * (self.delay - target)
            + self.config.beta * (self.delay - self.old_delay);
        self.base = (self.base + change).clamp(0.0, self.config.most());
        self.old_delay = self.delay;
    }
}

#[cfg(test)]
mod tests;
