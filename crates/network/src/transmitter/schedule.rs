//! Rates and delays that change at given dates and are constant in between,
//! once or again and again. A rate of zero is an outage: packets wait for its
//! end, and one that is under way goes on after it.

use crate::catalogue::{ConfigError, Info};
use anabranch_units::{Rate, Span, Time};

pub(super) const INFO: Info = Info {
    name: "schedule",
    summary: "rates that change at given dates, zero for an outage, once or repeating",
    reference: "piecewise constant; packets keep what is sent across changes",
};

/// `RateSchedule` has rates that change at given dates.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RateSchedule {
    /// Rates in bits per second, each with the date from which it holds (since the start, or since
    /// the start of the period). Ascending; the first is at zero.
    pub steps: Vec<(Span, u64)>,
    /// `period` is the time after which it starts again.
    pub period: Option<Span>,
}

/// Propagation delays that change at given dates.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DelaySchedule {
    /// Propagation delays of packets that leave the transmitter, each with the date from which it
    /// holds. Ascending; the first is at zero.
    pub steps: Vec<(Span, Span)>,
    /// `period` is the time after which it starts again.
    pub period: Option<Span>,
    /// `keep_order` says that no packet overtakes another: one with a shorter delay arrives
    /// together with the one before it.
    pub keep_order: bool,
}

impl RateSchedule {
    /// Returns an error if the dates do not ascend from zero and end before the period, or all
    /// rates are 0.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check("schedule", &self.steps, self.period)?;
        if self.steps.iter().all(|(_, bps)| *bps == 0) {
            return Err(ConfigError::new("schedule", "0 bit/s", "some rate above 0"));
        }
        Ok(())
    }
}

impl DelaySchedule {
    /// Returns an error if the dates do not ascend from zero and end before the period.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check("delays", &self.steps, self.period)
    }

    /// Returns the delay of a packet that leaves at `at`.
    pub fn delay(&self, at: Time) -> Span {
        let (_, index) = place(&self.steps, self.period, at);
        self.steps[index].1
    }
}

fn check<V>(
    field: &'static str,
    steps: &[(Span, V)],
    period: Option<Span>,
) -> Result<(), ConfigError> {
    match steps.first() {
        Some((Span::ZERO, _)) => {}
        _ => return Err(ConfigError::new(field, "its first step", "a step at 0 s")),
    }
    if let Some(pair) = steps.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        return Err(ConfigError::new(field, pair[1].0, "dates that ascend"));
    }
    let last = steps.last().map_or(Span::ZERO, |step| step.0);
    match period {
        Some(period) if period <= last => {
            Err(ConfigError::new("period", period, format!("more than the last date, {last}")))
        }
        _ => Ok(()),
    }
}

/// Returns the start of the period of `at`, and the number of its step.
fn place<V>(steps: &[(Span, V)], period: Option<Span>, at: Time) -> (u64, usize) {
    let picos = at.as_picos();
    let start = period.map_or(0, |period| picos - picos % period.as_picos());
    let inside = Span::from_picos(picos - start);
    (start, steps.partition_point(|step| step.0 <= inside) - 1)
}

/// `Rates` is a line of scheduled rates.
#[derive(Debug)]
pub(crate) struct Rates {
    schedule: RateSchedule,
    /// `in_period` is what passes in a period, in bits times 10^12.
    in_period: u128,
}

/// `SCALE` makes bits of a rate times picoseconds, which is in units of 10^-12 bits.
const SCALE: u128 = 1_000_000_000_000;

impl Rates {
    pub(crate) fn new(schedule: &RateSchedule) -> Rates {
        let mut in_period = 0;
        if let Some(period) = schedule.period {
            for (index, (at, bps)) in schedule.steps.iter().enumerate() {
                let end = schedule.steps.get(index + 1).map_or(period, |next| next.0);
                in_period += *bps as u128 * (end - *at).as_picos() as u128;
            }
        }
        Rates { schedule: schedule.clone(), in_period }
    }

    /// Returns the rate at `now`; `None` in an outage.
    pub(crate) fn rate_at(&self, now: Time) -> Option<Rate> {
        let (_, index) = place(&self.schedule.steps, self.schedule.period, now);
        Rate::from_bps(self.schedule.steps[index].1)
    }

    /// The first date from `now` on at which the rate is not zero.
    pub(crate) fn ready(&self, now: Time) -> Time {
        let (start, index) = place(&self.schedule.steps, self.schedule.period, now);
        if self.schedule.steps[index].1 != 0 {
            return now;
        }
        let later = self.schedule.steps[index..].iter().find(|step| step.1 != 0);
        let first = self.schedule.steps.iter().find(|step| step.1 != 0);
        match (later, self.schedule.period, first) {
            (Some((at, _)), ..) => Time::from_picos(start).saturating_add(*at),
            (None, Some(period), Some((at, _))) => {
                Time::from_picos(start).saturating_add(period).saturating_add(*at)
            }
            _ => Time::NEVER,
        }
    }

    pub(crate) fn departure(&self, start: Time, size: u32) -> Time {
        if start == Time::NEVER {
            return start;
        }
        let steps = &self.schedule.steps;
        let mut left = size as u128 * 8 * SCALE;
        let mut at = start;
        loop {
            let (origin, index) = place(steps, self.schedule.period, at);
            let bps = steps[index].1 as u128;
            let next = steps.get(index + 1).map(|step| step.0).or(self.schedule.period);
            let end = next.map(|next| origin.saturating_add(next.as_picos()));
            let passes = match end {
                Some(end) => bps * (end - at.as_picos()) as u128,
                None if bps == 0 => return Time::NEVER,
                None => u128::MAX,
            };
            if left <= passes && bps > 0 {
                let picos = (left + bps / 2) / bps;
                let picos = u64::try_from(picos).unwrap_or(u64::MAX);
                return at.saturating_add(Span::from_picos(picos));
            }
            left -= passes;
            at = Time::from_picos(end.unwrap_or(u64::MAX));
            if let Some(period) = self.schedule.period
                && at.as_picos().is_multiple_of(period.as_picos())
            {
                // Whole periods at once, but for the last.
                let periods = left.saturating_sub(1) / self.in_period;
                left -= periods * self.in_period;
                let periods = u64::try_from(periods).unwrap_or(u64::MAX);
                at = at.saturating_add(period.saturating_mul(periods));
            }
            if at == Time::NEVER {
                return at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    fn at(span: Span) -> Time {
        Time::ZERO + span
    }

    fn rates(steps: &[(u64, u64)], period: Option<u64>) -> Rates {
        let steps = steps.iter().map(|(ms, kbit)| (MS(*ms), kbit * 1000)).collect();
        let schedule = RateSchedule { steps, period: period.map(MS) };
        schedule.validate().unwrap();
        Rates::new(&schedule)
    }

    #[test]
    fn a_packet_crosses_a_change_of_rate() {
        // 12 Mbit/s for 10 ms, then 6: 1500 octets take 1 or 2 ms.
        let rates = rates(&[(0, 12_000), (10, 6_000)], None);
        assert_eq!(rates.departure(at(MS(3)), 1500), at(MS(4)));
        assert_eq!(rates.departure(at(MS(9)), 1500), at(MS(10)));
        // Half at 12, half at 6 Mbit/s.
        let middle = at(Span::from_micros(9500));
        assert_eq!(rates.departure(middle, 1500), at(MS(11)));
        assert_eq!(rates.departure(at(MS(10)), 1500), at(MS(12)));
    }

    #[test]
    fn packets_wait_for_the_end_of_an_outage() {
        let found = rates(&[(0, 12_000), (10, 0), (30, 12_000)], None);
        assert_eq!(found.departure(at(MS(15)), 1500), at(MS(31)));
        let middle = at(Span::from_micros(9500));
        assert_eq!(found.departure(middle, 1500), at(Span::from_micros(30_500)));
        assert_eq!(found.ready(at(MS(15))), at(MS(30)));
        assert_eq!(found.ready(at(MS(5))), at(MS(5)));
        // Without an end nothing leaves any more.
        let rates = rates(&[(0, 12_000), (10, 0)], None);
        assert_eq!(rates.departure(middle, 1500), Time::NEVER);
        assert_eq!(rates.ready(at(MS(11))), Time::NEVER);
    }

    #[test]
    fn schedules_repeat_exactly() {
        // 1 ms on, 9 ms off: one packet in each period.
        let rates = rates(&[(0, 12_000), (1, 0)], Some(10));
        assert_eq!(rates.departure(Time::ZERO, 1500), at(MS(1)));
        assert_eq!(rates.departure(at(MS(1)), 1500), at(MS(11)));
        assert_eq!(rates.ready(at(MS(2))), at(MS(10)));
        // 150,000 octets need a hundred periods, the last ends after its 1 ms.
        assert_eq!(rates.departure(at(MS(2)), 150_000), at(MS(1001)));
        let late = rates.departure(at(Span::from_secs(100_000)), 1500);
        assert_eq!(late, at(Span::from_secs(100_000) + MS(1)));
    }

    #[test]
    fn delays_follow_their_steps() {
        let delay_schedule = DelaySchedule {
            steps: vec![(Span::ZERO, MS(20)), (MS(100), MS(50))],
            period: Some(MS(150)),
            keep_order: true,
        };
        let delays =
            [0, 99, 100, 149, 150, 260].map(|ms| delay_schedule.delay(at(MS(ms))).as_millis());
        assert_eq!(delays, [20, 20, 50, 50, 20, 50]);
    }

    #[test]
    fn wrong_schedules_are_named() {
        let of = |steps: &[(u64, u64)], period: Option<u64>| {
            let steps = steps.iter().map(|(ms, bps)| (MS(*ms), *bps)).collect();
            RateSchedule { steps, period: period.map(MS) }.validate().unwrap_err().to_string()
        };
        assert!(of(&[], None).contains("a step at 0 s"));
        assert!(of(&[(1, 5)], None).contains("a step at 0 s"));
        assert!(of(&[(0, 5), (2, 6), (2, 7)], None).contains("dates that ascend"));
        assert!(of(&[(0, 5), (2, 6)], Some(2)).contains("more than the last date"));
        assert!(of(&[(0, 0)], None).contains("some rate above 0"));
    }

    proptest! {
        /// What has passed at the departure is the packet, to half a
        /// picosecond's worth of bits.
        #[test]
        fn departures_conserve_bits(
            lengths in prop::collection::vec((1_u64..50, 0_u64..20_000), 1..6),
            repeats in any::<bool>(),
            start in 0_u64..500,
            size in 1_u32..200_000,
        ) {
            let (mut steps, mut total) = (Vec::new(), 0);
            for (ms, kbit) in &lengths {
                steps.push((total, *kbit));
                total += ms;
            }
            steps.last_mut().unwrap().1 += 1; // some rate is above zero
            let line = rates(&steps, repeats.then_some(total));
            let departs = line.departure(at(MS(start)), size);
            // The integral of the rate, a microsecond at a time where that is
            // exact: all changes are at whole milliseconds.
            let mut bits = 0.0;
            let end = departs.as_picos() as f64 / 1e9;
            let mut ms = start;
            while (ms as f64) < end {
                let (_, index) = place(&line.schedule.steps, line.schedule.period, at(MS(ms)));
                let part = (end - ms as f64).min(1.0);
                bits += line.schedule.steps[index].1 as f64 * part / 1000.0;
                ms += 1;
            }
            prop_assert!((bits - size as f64 * 8.0).abs() < 0.01, "{bits}");
        }
    }
}
