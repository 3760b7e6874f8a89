//! Turns a quantity into a series: a point for each change, or one for each
//! multiple of an interval.

use anabranch_units::{Span, Time};

/// A step function of time: the value at each date holds until the next.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Series {
    /// Dates at which the value changes, ascending.
    pub time: Vec<Time>,
    /// Values from these dates on.
    pub value: Vec<f64>,
}

impl Series {
    fn push(&mut self, at: Time, value: f64) {
        self.time.push(at);
        self.value.push(value);
    }

    /// Records `value` from `now` on; of several at one date, the last stays.
    fn change(&mut self, now: Time, value: f64) {
        if self.value.last() == Some(&value) {
            return;
        }
        if self.time.last() == Some(&now) {
            self.value.pop();
            self.time.pop();
            if self.value.last() == Some(&value) {
                return;
            }
        }
        self.push(now, value);
    }
}

/// A series while it is recorded.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    series: Series,
    sampling: Option<Sampling>,
}

#[derive(Clone, Debug)]
struct Sampling {
    every: Span,
    /// The next multiple of `every`.
    next: Time,
    /// The value now, once there is one.
    held: Option<f64>,
}

impl Recording {
    /// Records each change, or with `every` the value at each multiple of it,
    /// after all that happened at that date.
    pub(super) fn new(every: Option<Span>) -> Recording {
        let sampling = |every| Sampling { every, next: Time::ZERO, held: None };
        Recording { series: Series::default(), sampling: every.map(sampling) }
    }

    /// Whether nothing has been recorded.
    pub(super) fn is_empty(&self) -> bool {
        let holds = self.sampling.as_ref().is_some_and(|sampling| sampling.held.is_some());
        self.series.time.is_empty() && !holds
    }

    /// The next multiple of the interval, not before `from`; never if each change is recorded.
    pub(super) fn next_look(&self, from: Time) -> Option<Time> {
        let every = self.sampling.as_ref()?.every;
        Some(next_multiple(every, from))
    }

    pub(super) fn set(&mut self, now: Time, value: f64) {
        match &mut self.sampling {
            None => self.series.change(now, value),
            Some(sampling) => {
                while sampling.next < now {
                    sampling.take(&mut self.series);
                }
                sampling.held = Some(value);
            }
        }
    }

    /// What was recorded, up to `end`, which with sampling is a date that can
    /// be reached.
    pub(super) fn series(&self, end: Time) -> Series {
        let mut series = self.series.clone();
        if let Some(mut sampling) = self.sampling.clone() {
            while sampling.next <= end {
                sampling.take(&mut series);
            }
        }
        series
    }
}

/// The first multiple of `every` that is not before `from`.
pub(super) fn next_multiple(every: Span, from: Time) -> Time {
    let whole = from.as_picos().div_ceil(every.as_picos());
    Time::from_picos(whole.saturating_mul(every.as_picos()))
}

impl Sampling {
    fn take(&mut self, series: &mut Series) {
        if let Some(value) = self.held {
            series.push(self.next, value);
        }
        self.next += self.every;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn a_sample_is_the_value_after_all_that_happened_at_its_date() {
        let mut recording = Recording::new(Some(Span::from_micros(10)));
        for (us, value) in [(3, 1.0), (10, 2.0), (10, 3.0), (11, 4.0), (40, 5.0)] {
            recording.set(at(us), value);
        }
        let series = recording.series(at(55));
        assert_eq!(series.time, [10, 20, 30, 40, 50].map(at));
        assert_eq!(series.value, [3.0, 4.0, 4.0, 5.0, 5.0]);
        // The run goes on from where it was.
        recording.set(at(56), 6.0);
        assert_eq!(recording.series(at(60)).value, [3.0, 4.0, 4.0, 5.0, 5.0, 6.0]);
    }

    #[test]
    fn a_quantity_that_never_was_has_no_samples() {
        let recording = Recording::new(Some(Span::from_micros(10)));
        assert_eq!(recording.series(at(100)), Series::default());
    }
}
