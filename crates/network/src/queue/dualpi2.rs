//! DualPI2, RFC 9332: two queues, one for low latency (ECT(1) and CE), one
//! classic, with coupled marking: a base probability p' from a PI controller on
//! the queue that waits longer (§A.2, line 2a), p_C = p'^2 for classic packets and p_CL = k p' for those
//! of low latency, beside a ramp of its own on their waiting time. The
//! pseudo-code of Appendix A, with its protection against overload.
//!
//! Choices where the RFC leaves one: the scheduler is weighted round robin in
//! octets (§4.2.2 names it first), and a queue that was alone brings no credit.
//! Tupdate counts from the start of the run; the updates are made with the heads
//! of the queues that they would have found.

use super::item::{Band, Item, Loss, Losses};
use super::pi2::Pi2Config;
use super::{QueueLimit, Waiting};
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::Bounds;
use anabranch_units::{Span, Time};
use anabranch_wire::Ecn;

pub(super) const INFO: Info = Info {
    name: "dualpi2",
    summary: "a low-latency and a classic queue with coupled marking (L4S)",
    reference: "RFC 9332 Appendix A",
};

/// Parameters of DualPI2 (RFC 9332 Appendix A).
#[derive(Clone, PartialEq, Debug)]
pub struct DualPi2Config {
    /// What may wait in both queues together.
    pub limit: QueueLimit,
    /// Target delay of the classic queue.
    pub target: Span,
    /// Tupdate: time from one update of the base probability to the next.
    pub update: Span,
    /// Integral gain of the PI controller, in Hz.
    pub alpha: f64,
    /// Proportional gain, in Hz.
    pub beta: f64,
    /// Coupling factor k between the two queues' probabilities.
    pub coupling: f64,
    /// minTh: waiting time from which the low-latency ramp rises.
    pub ramp_start: Span,
    /// Waiting time beyond `ramp_start` at which the ramp reaches 1.
    pub ramp: Span,
    /// Share of the classic queue when both are backlogged.
    pub classic_share: f64,
}

impl Default for DualPi2Config {
    /// RFC 9332 §A.1: RTT_max 100 ms gives alpha = 0.1 Tupdate / RTT_max^2 and
    /// beta = 0.3 / RTT_max.
    fn default() -> Self {
        DualPi2Config {
            limit: QueueLimit::Packets(10_000),
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            alpha: 0.15,
            beta: 3.0,
            coupling: 2.0,
            ramp_start: Span::from_micros(800),
            ramp: Span::from_micros(400),
            classic_share: 1.0 / 16.0,
        }
    }
}

impl DualPi2Config {
    /// What `alpha` and `beta` may be.
    pub const GAIN: Bounds<f64> = Pi2Config::GAIN;
    /// What `coupling` may be.
    pub const COUPLING: Bounds<f64> = Pi2Config::COUPLING;

    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::repeated("update", self.update)?;
        for (field, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            Self::GAIN.check(field, value)?;
        }
        Self::COUPLING.check("coupling", self.coupling)?;
        ConfigError::probability("classic_share", self.classic_share)
    }
}

/// Th_len: with so many packets or fewer left behind the one that leaves (Figure 7, lines 4a and 5a), the
/// low-latency queue does not mark by its own law.
const TH_LEN: usize = 1;

/// The two queues, with the state of the controller.
#[derive(Debug)]
pub struct DualPi2 {
    config: DualPi2Config,
    low: Band,
    classic: Band,
    /// p', the base probability, 0 to 1.
    base: f64,
    /// The delay at the last update, seconds.
    old_delay: f64,
    next_update: Time,
    /// Octets that are owed to the classic queue.
    credit: f64,
    low_recur: Recur,
    overload_recur: Recur,
    classic_recur: Recur,
}

/// recur() of §A.1: true as often as the likelihoods sum to a whole number.
#[derive(Clone, Copy, Default, Debug)]
struct Recur(f64);

impl Recur {
    fn hits(&mut self, likelihood: f64) -> bool {
        self.0 += likelihood;
        let hit = self.0 > 1.0;
        self.0 -= hit as u32 as f64;
        hit
    }
}

impl DualPi2 {
    /// Makes both queues empty.
    pub fn new(config: &DualPi2Config) -> DualPi2 {
        DualPi2 {
            low: Band::default(),
            classic: Band::default(),
            base: 0.0,
            old_delay: 0.0,
            next_update: Time::ZERO + config.update,
            credit: 0.0,
            low_recur: Recur::default(),
            overload_recur: Recur::default(),
            classic_recur: Recur::default(),
            config: config.clone(),
        }
    }

    /// p' after the updates made so far.
    pub fn base_probability(&self) -> f64 {
        self.base
    }

    pub(crate) fn enqueue(&mut self, item: Item, losses: &mut Losses) {
        self.update_until(item.since);
        let waiting = Waiting {
            packets: (self.low.len() + self.classic.len()) as u64,
            octets: self.low.octets() + self.classic.octets(),
        };
        if !self.config.limit.admits(waiting, item.size) {
            losses.push((item, Loss::Overflow));
        } else if matches!(item.ecn, Ecn::Ect1 | Ecn::Ce) {
            self.low.push(item);
        } else {
            self.classic.push(item);
        }
    }

    pub(crate) fn dequeue(&mut self, now: Time, losses: &mut Losses) -> Option<Item> {
        self.update_until(now);
        // p_Cmax: above it L4S packets are dropped too and ECN is off.
        let most = (1.0 / (self.config.coupling * self.config.coupling)).min(1.0);
        loop {
            let serves_low = self.schedule()?;
            let classic = self.base * self.base;
            if serves_low {
                let Some(mut item) = self.low.pop() else { continue };
                let coupled = self.config.coupling * self.base;
                if coupled < 1.0 {
                    let native =
                        if self.low.len() > TH_LEN { self.ramp(item.sojourn(now)) } else { 0.0 };
                    if self.low_recur.hits(native.max(coupled)) {
                        item.mark();
                    }
                } else {
                    if self.overload_recur.hits(classic) {
                        losses.push((item, Loss::Early));
                        continue;
                    }
                    if self.low_recur.hits(coupled.min(1.0)) {
                        item.mark();
                    }
                }
                return Some(item);
            }
            let Some(mut item) = self.classic.pop() else { continue };
            if self.classic_recur.hits(classic) && (classic >= most || !item.mark()) {
                losses.push((item, Loss::Early));
                continue;
            }
            return Some(item);
        }
    }

    /// Computes the marking probability of the low-latency queue (`laqm()` of §A.1).
    fn ramp(&self, waited: Span) -> f64 {
        let above = waited.saturating_sub(self.config.ramp_start).as_picos() as f64;
        if above == 0.0 {
            0.0
        } else {
            (above / self.config.ramp.as_picos().max(1) as f64).min(1.0)
        }
    }

    /// Whether the low-latency queue goes next; `None` when both are empty.
    fn schedule(&mut self) -> Option<bool> {
        match (self.low.head(), self.classic.head()) {
            (None, None) => {
                self.credit = 0.0;
                None
            }
            (Some(_), None) => {
                self.credit = 0.0;
                Some(true)
            }
            (None, Some(_)) => {
                self.credit = 0.0;
                Some(false)
            }
            (Some(low), Some(classic)) => {
                let share = self.config.classic_share;
                let serves_low = self.credit <= 0.0;
                self.credit += match serves_low {
                    true => low.size as f64 * share,
                    false => -(classic.size as f64 * (1.0 - share)),
                };
                Some(serves_low)
            }
        }
    }

    /// Makes the updates up to and including `now`; since the last call no
    /// packet came or left.
    fn update_until(&mut self, now: Time) {
        while self.next_update <= now {
            let before = (self.base, self.old_delay);
            let heads = [self.classic.head(), self.low.head()].into_iter().flatten();
            let waits = heads.map(|head| head.sojourn(self.next_update));
            let delay = waits.max().map_or(0.0, |wait| wait.as_secs_f64());
            let target = self.config.target.as_secs_f64();
            let change =
                self.config.alpha * (delay - target) + self.config.beta * (delay - self.old_delay);
            self.base = (self.base + change).clamp(0.0, 1.0);
            self.old_delay = delay;
            let interval = self.config.update;
            self.next_update += interval;
            let is_empty = self.classic.is_empty() && self.low.is_empty();
            if is_empty && before == (self.base, self.old_delay) {
                let left = now.saturating_since(self.next_update).as_picos();
                self.next_update += interval * left.div_ceil(interval.as_picos());
            }
        }
    }
}

#[cfg(test)]
mod tests;
