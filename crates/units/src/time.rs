//! Dates and lengths of time, in whole picoseconds.
//!
//! A picosecond is fine enough that 64 octets at 400 Gbit/s (1,280 ps) are
//! exact, and 64 bits of them last 213 days. Sums and products that would be
//! more saturate: a date beyond is never, and what waits for it does not come.

use crate::in_largest_unit;
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::time::Duration;

const PS_PER_S: u64 = 1_000_000_000_000;
const UNITS: [(u64, &str); 5] =
    [(PS_PER_S, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")];

/// A date: picoseconds since the start of the run.
///
/// ```
/// use anabranch_units::{Span, Time};
/// let t = Time::ZERO + Span::from_millis(35);
/// assert_eq!(t.as_secs_f64(), 0.035);
/// assert_eq!(t - Time::ZERO, Span::from_micros(35_000));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of time in picoseconds; never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Time {
    /// The date at which a run starts.
    pub const ZERO: Time = Time(0);
    /// Later than every event: the deadline of a timer that is idle.
    pub const NEVER: Time = Time(u64::MAX);

    /// The date `ps` picoseconds after the start.
    pub const fn from_picos(ps: u64) -> Time {
        Time(ps)
    }

    /// Picoseconds since the start.
    pub const fn as_picos(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds since the start, rounded down.
    pub const fn as_nanos(self) -> u64 {
        self.0 / 1_000
    }

    /// Whole milliseconds since the start, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000_000
    }

    /// Seconds since the start, for reports.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The span since `earlier`, or zero when `earlier` is later.
    pub const fn saturating_since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// `self + span`, at most [`Time::NEVER`].
    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// A length of time of zero.
    pub const ZERO: Span = Span(0);
    /// The longest length of time.
    pub const MAX: Span = Span(u64::MAX);

    /// A span of `ps` picoseconds.
    pub const fn from_picos(ps: u64) -> Span {
        Span(ps)
    }
    /// A span of `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Span {
        Span(ns.saturating_mul(1_000))
    }
    /// A span of `us` microseconds.
    pub const fn from_micros(us: u64) -> Span {
        Span(us.saturating_mul(1_000_000))
    }
    /// A span of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Span {
        Span(ms.saturating_mul(1_000_000_000))
    }
    /// Makes a span of `s` seconds.
    pub const fn from_secs(s: u64) -> Span {
        Span(s.saturating_mul(PS_PER_S))
    }
    /// The span nearest to `s` seconds; `None` when negative, not finite or
    /// longer than 213 days.
    pub fn from_secs_f64(s: f64) -> Option<Span> {
        let ps = s * PS_PER_S as f64;
        (ps >= 0.0 && ps < u64::MAX as f64).then(|| Span(ps.round() as u64))
    }
    /// Returns the length in picoseconds.
    pub const fn as_picos(self) -> u64 {
        self.0
    }
    /// Whole nanoseconds, rounded down.
    pub const fn as_nanos(self) -> u64 {
        self.0 / 1_000
    }
    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000_000
    }
    /// Seconds, for reports and for algorithms in floating point.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
    /// `self - other`, at least zero.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
    /// `self * factor`, at most [`Span::MAX`].
    pub const fn saturating_mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
    /// The absolute difference.
    pub const fn abs_diff(self, other: Span) -> Span {
        Span(self.0.abs_diff(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        self.saturating_add(span)
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}
impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0 - span.0)
    }
}
impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}
impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}
impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}
impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, factor: u64) -> Span {
        self.saturating_mul(factor)
    }
}
impl Div<u64> for Span {
    type Output = Span;
    fn div(self, divisor: u64) -> Span {
        Span(self.0 / divisor)
    }
}

/// What a clock of the standard library has measured; longer than a span can be is the longest one.
impl From<Duration> for Span {
    fn from(duration: Duration) -> Span {
        Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// How long to sleep: whole nanoseconds, rounded up, so that nobody wakes before the date.
impl From<Span> for Duration {
    fn from(span: Span) -> Duration {
        Duration::from_nanos(span.as_picos().div_ceil(1000))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
impl fmt::Display for Time {
    /// Seconds with all digits that matter: `0.200077 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER {
            return f.write_str("never");
        }
        fmt::Display::fmt(&Span(self.0), f)
    }
}
impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
impl fmt::Display for Span {
    /// Seconds with all digits that matter; with `{:#}` a whole number of the largest unit that
    /// allows one, as people write it.
    ///
    /// ```
    /// use anabranch_units::Span;
    /// let half = Span::from_millis(500);
    /// assert_eq!((format!("{half}"), format!("{half:#}")), ("0.5 s".into(), "500 ms".into()));
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return in_largest_unit(f, self.0, &UNITS);
        }
        let (s, ps) = (self.0 / PS_PER_S, self.0 % PS_PER_S);
        if ps == 0 {
            return write!(f, "{s} s");
        }
        let digits = format!("{ps:012}");
        write!(f, "{s}.{} s", digits.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_without_lost_digits() {
        assert_eq!(Span::from_millis(35).to_string(), "0.035 s");
        assert_eq!(Span::from_picos(1).to_string(), "0.000000000001 s");
        assert_eq!((Time::ZERO + Span::from_secs(3)).to_string(), "3 s");
        assert_eq!(Time::NEVER.to_string(), "never");
        let shown = |ps| format!("{:#}", Span::from_picos(ps));
        assert_eq!([0, 1, 35_000_000_000].map(shown), ["0 s", "1 ps", "35 ms"]);
        assert_eq!(format!("{:#?}", Span::from_millis(35)), "0.035 s");
    }

    #[test]
    fn sums_and_products_end_at_never() {
        let day = Span::from_secs(86_400);
        let late = Time::ZERO + day * 213;
        assert_eq!(late + day, Time::NEVER);
        assert_eq!((day * 300, day * 213 + day), (Span::MAX, Span::MAX));
        assert_eq!(late + Span::from_secs(3600) - late, Span::from_secs(3600));
    }

    #[test]
    fn what_a_clock_measures_comes_back_and_nobody_wakes_early() {
        let measured = Duration::new(3, 7);
        assert_eq!(Span::from(measured), Span::from_secs(3) + Span::from_nanos(7));
        assert_eq!(Duration::from(Span::from(measured)), measured);
        assert_eq!(Duration::from(Span::from_picos(1001)), Duration::from_nanos(2));
        assert_eq!(Span::from(Duration::MAX), Span::MAX);
    }

    #[test]
    fn seconds_as_float_are_checked() {
        assert_eq!(Span::from_secs_f64(0.2), Some(Span::from_millis(200)));
        assert_eq!(Span::from_secs_f64(-1.0), None);
        assert_eq!(Span::from_secs_f64(f64::NAN), None);
        assert_eq!(Span::from_secs_f64(1e9), None);
    }
}
