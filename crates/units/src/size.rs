//! Numbers of octets.

use crate::in_largest_unit;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

const UNITS: [(u64, &str); 8] = [
    (1 << 40, "TiB"),
    (1 << 30, "GiB"),
    (1 << 20, "MiB"),
    (1 << 10, "KiB"),
    (1_000_000_000, "GB"),
    (1_000_000, "MB"),
    (1_000, "kB"),
    (1, "B"),
];

/// A number of octets, of data or of memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}
impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}
impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}
impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
impl fmt::Display for Bytes {
    /// Octets; with `{:#}` a whole number of the largest unit that allows one, as people write it.
    ///
    /// ```
    /// use anabranch_units::Bytes;
    /// let size = Bytes(65_536);
    /// assert_eq!((format!("{size}"), format!("{size:#}")), ("65536 B".into(), "64 KiB".into()));
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.alternate() && self.0 > 0 {
            true => in_largest_unit(f, self.0, &UNITS),
            false => write!(f, "{} B", self.0),
        }
    }
}
