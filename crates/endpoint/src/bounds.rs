//! What a setting may be.

use crate::ConfigError;
use std::borrow::Cow;
use std::fmt::{self, Display};
use std::ops::{Bound, RangeBounds, RangeInclusive};

/// The least and the most that a setting may be, with the words that tell it.
///
/// Who owns a setting has its bounds as a constant beside the field, and refuses by them what is
/// outside. Who reads settings from elsewhere refuses and describes by the same constant, so that a
/// range is said once.
///
/// ```
/// use anabranch_endpoint::Bounds;
/// use anabranch_units::{Bytes, Span};
/// const BURST: Bounds<u32> = Bounds::of(1, 1000).counted_in("packets");
/// const MSS: Bounds<Bytes> = Bounds::of(Bytes(64), Bytes(65_495));
/// const DELAY: Bounds<Span> = Bounds::less_than(Span::from_millis(500)).because("RFC 9293");
/// assert_eq!(BURST.check("pacing_burst", 1000), Ok(()));
/// assert_eq!(
///     MSS.check("mss", Bytes(12)).unwrap_err().to_string(),
///     "mss is 12 B; allowed: 64 B to 65495 B",
/// );
/// assert_eq!(BURST.to_string(), "1 to 1000 packets");
/// assert_eq!(DELAY.to_string(), "less than 500 ms (RFC 9293)");
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds<T> {
    least: Bound<T>,
    most: Bound<T>,
    unit: &'static str,
    reason: &'static str,
}

/// A differentiated services code point has six bits (RFC 2474 §3).
pub const DSCP: Bounds<u8> = Bounds::of(0, 63);

impl<T: Copy> Bounds<T> {
    const fn new(least: Bound<T>, most: Bound<T>) -> Bounds<T> {
        Bounds { least, most, unit: "", reason: "" }
    }

    /// From `least` to `most`, both of which are allowed.
    pub const fn of(least: T, most: T) -> Bounds<T> {
        Bounds::new(Bound::Included(least), Bound::Included(most))
    }

    /// From `least` on, without an end.
    pub const fn at_least(least: T) -> Bounds<T> {
        Bounds::new(Bound::Included(least), Bound::Unbounded)
    }

    /// Up to `most`, which is allowed.
    pub const fn at_most(most: T) -> Bounds<T> {
        Bounds::new(Bound::Unbounded, Bound::Included(most))
    }

    /// Above `least`, without an end.
    pub const fn more_than(least: T) -> Bounds<T> {
        Bounds::new(Bound::Excluded(least), Bound::Unbounded)
    }

    /// Below `most`.
    pub const fn less_than(most: T) -> Bounds<T> {
        Bounds::new(Bound::Unbounded, Bound::Excluded(most))
    }

    /// Above `least`, up to `most`, which is allowed.
    pub const fn above_up_to(least: T, most: T) -> Bounds<T> {
        Bounds::new(Bound::Excluded(least), Bound::Included(most))
    }

    /// From `least`, which is allowed, to below `most`.
    pub const fn from_to_below(least: T, most: T) -> Bounds<T> {
        Bounds::new(Bound::Included(least), Bound::Excluded(most))
    }

    /// The same, but from `least` on, where another setting says so.
    pub const fn raised_to(self, least: T) -> Bounds<T> {
        Bounds { least: Bound::Included(least), ..self }
    }

    /// The same, but up to `most`, where another setting says so.
    pub const fn lowered_to(self, most: T) -> Bounds<T> {
        Bounds { most: Bound::Included(most), ..self }
    }

    /// The same, told in this unit, for numbers that do not know theirs.
    pub const fn counted_in(self, unit: &'static str) -> Bounds<T> {
        Bounds { unit, ..self }
    }

    /// The same, told with a reason or a source.
    pub const fn because(self, reason: &'static str) -> Bounds<T> {
        Bounds { reason, ..self }
    }

    /// The lower end.
    pub const fn least(&self) -> Bound<T> {
        self.least
    }

    /// The upper end.
    pub const fn most(&self) -> Bound<T> {
        self.most
    }

    /// Both ends, where both are allowed.
    pub const fn closed(&self) -> Option<(T, T)> {
        match (self.least, self.most) {
            (Bound::Included(least), Bound::Included(most)) => Some((least, most)),
            _ => None,
        }
    }
}

impl<T: Copy + PartialOrd> Bounds<T> {
    /// Whether a setting may be so.
    pub fn contains(&self, value: T) -> bool {
        (self.least, self.most).contains(&value)
    }
}

impl<T: Copy + PartialOrd + Display> Bounds<T> {
    /// Refuses a value outside.
    ///
    /// # Errors
    /// The field, its value and what is allowed.
    pub fn check(&self, field: impl Into<Cow<'static, str>>, value: T) -> Result<(), ConfigError> {
        match self.contains(value) {
            true => Ok(()),
            false => Err(ConfigError::new(field, format!("{value:#}"), self.to_string())),
        }
    }
}

impl<T: Display> Display for Bounds<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Bound::{Excluded, Included, Unbounded};
        match (&self.least, &self.most) {
            (Included(a), Included(b)) => write!(f, "{a:#} to {b:#}"),
            (Included(a), Excluded(b)) => write!(f, "from {a:#}, below {b:#}"),
            (Excluded(a), Included(b)) => write!(f, "above {a:#}, at most {b:#}"),
            (Excluded(a), Excluded(b)) => write!(f, "above {a:#}, below {b:#}"),
            (Included(a), Unbounded) => write!(f, "at least {a:#}"),
            (Excluded(a), Unbounded) => write!(f, "more than {a:#}"),
            (Unbounded, Included(b)) => write!(f, "at most {b:#}"),
            (Unbounded, Excluded(b)) => write!(f, "less than {b:#}"),
            (Unbounded, Unbounded) => f.write_str("any"),
        }?;
        if !self.unit.is_empty() {
            write!(f, " {}", self.unit)?;
        }
        if !self.reason.is_empty() {
            write!(f, " ({})", self.reason)?;
        }
        Ok(())
    }
}

impl<T: Copy> From<RangeInclusive<T>> for Bounds<T> {
    fn from(range: RangeInclusive<T>) -> Bounds<T> {
        Bounds::of(*range.start(), *range.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::{Bytes, Span};

    #[test]
    fn ends_belong_to_the_range_or_not_as_they_are_told() {
        for (bounds, told, inside) in [
            (Bounds::of(0.0, 1.0), "0 to 1", [false, true, true, true, false]),
            (Bounds::at_least(0.0), "at least 0", [false, true, true, true, true]),
            (Bounds::at_most(1.0), "at most 1", [true, true, true, true, false]),
            (Bounds::more_than(0.0), "more than 0", [false, false, true, true, true]),
            (Bounds::less_than(1.0), "less than 1", [true, true, true, false, false]),
            (
                Bounds::above_up_to(0.0, 1.0),
                "above 0, at most 1",
                [false, false, true, true, false],
            ),
            (Bounds::from_to_below(0.0, 1.0), "from 0, below 1", [false, true, true, false, false]),
        ] {
            assert_eq!(bounds.to_string(), told);
            assert_eq!([-0.5, 0.0, 0.5, 1.0, 1.5].map(|n| bounds.contains(n)), inside, "{told}");
            assert_eq!(bounds.closed().is_some(), told == "0 to 1");
        }
        assert!(!Bounds::of(0.0, 1.0).contains(f64::NAN));
    }

    #[test]
    fn the_error_names_field_value_and_what_is_allowed() {
        let delay = Bounds::at_most(Span::from_millis(500)).because("RFC 9260 §6.2");
        let error = delay.check("sack_delay", Span::from_secs(1)).unwrap_err();
        let told = "sack_delay is 1 s; allowed: at most 500 ms (RFC 9260 §6.2)";
        assert_eq!(error.to_string(), told);
        let buffer = Bounds::of(Bytes(1500), Bytes(1 << 30));
        let error = buffer.check("receive_buffer", Bytes(1024)).unwrap_err();
        assert_eq!(error.to_string(), "receive_buffer is 1 KiB; allowed: 1500 B to 1 GiB");
        let error = buffer.raised_to(Bytes(1 << 20)).lowered_to(Bytes(1 << 21));
        assert_eq!(error.to_string(), "1 MiB to 2 MiB");
        let error = Bounds::from(1..=100).counted_in("MTUs").check("floor", 0).unwrap_err();
        assert_eq!(error.to_string(), "floor is 0; allowed: 1 to 100 MTUs");
    }
}
