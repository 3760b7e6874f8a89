//! BLUE: Feng, Shin, Kandlur and Saha, "The BLUE Active Queue Management Algorithms", IEEE/ACM
//! Transactions on Networking 10(4), 2002, §III (first Feng, Kandlur, Saha and Shin, U. Michigan
//! CSE-TR-387-99, 1999).
//!
//! One probability p_m, which lost packets raise and an idle link lowers, and no queue length in
//! between:
//!
//! ```text
//! packet lost, or L or more waiting       p_m += d1   not within freeze_time of the last change
//! link idle                               p_m -= d2   the same
//! ```
//!
//! Choice where the paper leaves one: "link idle" is a state. While it lasts p_m is lowered as often
//! as freeze_time allows, as in ns-3. These changes are made when the next packet comes, with the
//! dates that they would have had.

use super::{Arrival, Decision, QueueLimit};
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::Generator;
use anabranch_units::{Span, Time};
use anabranch_wire::Ecn;

pub(super) const INFO: Info = Info {
    name: "blue",
    summary: "drops or marks with a probability that overflows raise and idle times lower",
    reference: "Feng, Shin, Kandlur and Saha, ToN 2002",
};

/// `BlueConfig` has the parameters of BLUE: how far its probability moves, and how often.
#[derive(Clone, PartialEq, Debug)]
pub struct BlueConfig {
    /// `limit` is what may wait; a packet beyond it is an overflow, which raises the probability.
    pub limit: QueueLimit,
    /// d1: what a loss adds to p_m, a probability.
    pub increment: f64,
    /// d2: what an idle link takes from p_m, a probability.
    pub decrement: f64,
    /// Shortest time from one change of p_m to the next.
    pub freeze_time: Span,
    /// L: an arrival that finds as much waiting counts as a loss. Unlimited: only losses count.
    pub threshold: QueueLimit,
    /// Marks ECN-capable packets.
    pub ecn: bool,
}

impl Default for BlueConfig {
    /// d1 = 0.0025, d2 = 0.00025 and 100 ms, as in the ns-3 port of the authors' code; 100 packets.
    fn default() -> Self {
        BlueConfig {
            limit: QueueLimit::Packets(100),
            increment: 0.0025,
            decrement: 0.000_25,
            freeze_time: Span::from_millis(100),
            threshold: QueueLimit::Unlimited,
            ecn: false,
        }
    }
}

impl BlueConfig {
    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::probability("increment", self.increment)?;
        ConfigError::probability("decrement", self.decrement)?;
        ConfigError::repeated("freeze_time", self.freeze_time)
    }
}

/// The state of BLUE; it holds no packets.
#[derive(Debug)]
pub struct Blue {
    config: BlueConfig,
    /// `probability` is p_m, with which a packet that comes is dropped or marked, from 0 to 1.
    probability: f64,
    last_update: Time,
    /// Time of the arrival at hand.
    now: Time,
    generator: Generator,
}

impl Blue {
    /// Makes a controller whose p_m is 0.
    pub fn new(config: &BlueConfig, generator: Generator) -> Blue {
        Blue {
            config: config.clone(),
            probability: 0.0,
            last_update: Time::ZERO,
            now: Time::ZERO,
            generator,
        }
    }

    /// p_m as losses and idle times have left it.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Decides on a packet that comes.
    pub fn on_arrival(&mut self, arrival: &Arrival) -> Decision {
        self.now = arrival.now;
        if arrival.now >= arrival.busy_until {
            self.on_idle(arrival.busy_until);
        }
        if !self.config.threshold.admits(arrival.waiting, 1) {
            self.on_loss();
        }
        let hits = self.generator.chance(self.probability);
        match self.config.ecn && arrival.ecn != Ecn::NotEct {
            _ if !hits => Decision::Admit,
            true => Decision::Mark,
            false => Decision::Drop,
        }
    }

    /// The packet was dropped because the buffer is full.
    pub fn on_overflow(&mut self) {
        self.on_loss();
    }

    fn on_loss(&mut self) {
        if self.now.saturating_since(self.last_update) > self.config.freeze_time {
            self.probability = (self.probability + self.config.increment).min(1.0);
            self.last_update = self.now;
        }
    }

    /// The link has been idle `since` a date, until now.
    fn on_idle(&mut self, since: Time) {
        let freeze_time = self.config.freeze_time;
        let first = since.max(self.last_update.saturating_add(freeze_time));
        if first >= self.now {
            return;
        }
        let more = (self.now - first).as_picos() / freeze_time.as_picos();
        let lowered = self.config.decrement * (1 + more) as f64;
        self.probability = (self.probability - lowered).max(0.0);
        self.last_update = first + freeze_time * more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Waiting;
    use anabranch_testkit::marks::record;

    const MS: fn(u64) -> Span = Span::from_millis;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + MS(ms)
    }

    fn blue(config: BlueConfig) -> Blue {
        Blue::new(&config, Generator::from_u64(2002))
    }

    /// An arrival at a busy line where `packets` wait.
    fn busy(ms: u64, packets: u64) -> Arrival {
        Arrival {
            now: at_ms(ms),
            size: 1500,
            ecn: Ecn::NotEct,
            waiting: Waiting { packets, octets: packets * 1500 },
            busy_until: Time::NEVER,
        }
    }

    /// An arrival at a line that has been idle since a date.
    fn idle(ms: u64, since_ms: u64) -> Arrival {
        Arrival { busy_until: at_ms(since_ms), ..busy(ms, 0) }
    }

    /// A packet comes and finds no room.
    fn overflow(blue: &mut Blue, ms: u64) {
        blue.on_arrival(&busy(ms, 100));
        blue.on_overflow();
    }

    fn is(blue: &Blue, p: f64) {
        assert!((blue.probability() - p).abs() < 1e-12, "{} {p}", blue.probability());
    }

    #[test]
    fn losses_raise_the_probability_once_a_freeze_time() {
        let mut blue = blue(BlueConfig::default());
        // A loss each 10 ms for ten seconds: after 110, 220, ... ms, more than 100 apart.
        for ms in (10..=10_000).step_by(10) {
            overflow(&mut blue, ms);
        }
        let steps = 10_000 / 110;
        let measured = format!("{:.4}", blue.probability());
        let expected = format!("{:.4}", steps as f64 * 0.0025);
        let what = "BLUE: p_m after 10 s with a loss each 10 ms, d1 = 0.0025";
        record("Q4", what, expected, measured, "within 1e-12");
        is(&blue, steps as f64 * 0.0025);
    }

    #[test]
    fn an_idle_link_lowers_it_once_a_freeze_time() {
        let mut blue = blue(BlueConfig::default());
        (blue.probability, blue.last_update) = (0.05, at_ms(1000));
        // Idle since 1050 ms: changes at 1100, 1200 and 1300 ms.
        blue.on_arrival(&idle(1350, 1050));
        is(&blue, 0.05 - 3.0 * 0.000_25);
        assert_eq!(blue.last_update, at_ms(1300));
        // Idle from 1360 to 1390 ms: too soon. From 1395 to 1405: at 1400.
        blue.on_arrival(&idle(1390, 1360));
        is(&blue, 0.05 - 3.0 * 0.000_25);
        blue.on_arrival(&idle(1405, 1395));
        is(&blue, 0.05 - 4.0 * 0.000_25);
        // Ten seconds from 2000 ms on: at 2000, and a hundred times after.
        blue.on_arrival(&idle(12_050, 2000));
        let (expected, measured) = (0.05 - 105.0 * 0.000_25, blue.probability());
        let what = "BLUE: p_m of 0.05 after 105 changes of an idle link, d2 = 0.00025";
        let said = |p: f64| format!("{p:.5}");
        record("Q4", what, said(expected), said(measured), "within 1e-12");
        is(&blue, expected);
        blue.on_arrival(&idle(60_000, 20_000));
        is(&blue, 0.0);
    }

    #[test]
    fn a_long_queue_counts_as_a_loss_where_asked() {
        let threshold = QueueLimit::Packets(20);
        let mut blue = blue(BlueConfig { threshold, ..BlueConfig::default() });
        blue.on_arrival(&busy(1000, 19));
        is(&blue, 0.0);
        blue.on_arrival(&busy(2000, 20));
        is(&blue, 0.0025);
        // The overflow of the same packet is not one more change.
        blue.on_overflow();
        is(&blue, 0.0025);
    }

    #[test]
    fn the_probability_drops_or_marks() {
        let n = 100_000;
        for (ecn, field, marks, drops) in [
            (false, Ecn::Ect0, false, true),
            (true, Ecn::NotEct, false, true),
            (true, Ecn::Ect0, true, false),
            (true, Ecn::Ect1, true, false),
        ] {
            let mut blue = blue(BlueConfig { ecn, ..BlueConfig::default() });
            blue.probability = 0.1;
            let (mut marked, mut dropped) = (0, 0);
            for _ in 0..n {
                match blue.on_arrival(&Arrival { ecn: field, ..busy(1, 10) }) {
                    Decision::Admit => {}
                    Decision::Mark => marked += 1,
                    Decision::Drop => dropped += 1,
                }
            }
            // Standard deviation 95.
            let near = |count: i32, hits: bool| (count - 10_000 * hits as i32).abs() < 400;
            assert!(near(marked, marks) && near(dropped, drops), "{marked} {dropped}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let said = |config: BlueConfig| config.validate().unwrap_err().to_string();
        let good = BlueConfig::default();
        assert_eq!(good.validate(), Ok(()));
        let increment = BlueConfig { increment: 1.5, ..good.clone() };
        assert_eq!(said(increment), "increment is 1.5; allowed: a probability, 0 to 1");
        let freeze_time = BlueConfig { freeze_time: Span::ZERO, ..good };
        assert_eq!(said(freeze_time), "freeze_time is 0 s; allowed: at least 1 us");
    }
}
