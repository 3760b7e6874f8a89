//! Random choices of a scenario: a function of one number.

use anabranch_endpoint::{Generator, Seed};
use toml::{Table, Value};

/// Draws what a scenario consists of.
pub(crate) struct Draw(Generator);

impl Draw {
    /// The draws of the scenario with this number.
    pub fn new(number: u64) -> Draw {
        Draw(Seed { seed: number, replication: 0 }.generator("scenario"))
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.0.chance(p)
    }

    /// Uniform from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// Draws from `low`, at least 1, to `high` so that each order of magnitude is as likely.
    pub fn spread(&mut self, low: u64, high: u64) -> u64 {
        let bits = |n: u64| 64 - n.leading_zeros() as u64;
        let width = self.between(bits(low), bits(high));
        let floor = (1 << (width - 1)).max(low);
        let ceiling = (u64::MAX >> (64 - width)).min(high);
        self.between(floor, ceiling)
    }

    /// Draws one of these values.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.below(of.len() as u64) as usize]
    }

    /// A probability: zero, one, or up to `most`.
    pub fn probability(&mut self, most: f64) -> f64 {
        match self.between(0, 19) {
            0 => 0.0,
            1 if most >= 1.0 => 1.0,
            // Four digits are read back as they are written.
            _ => (self.0.uniform() * most * 1e4).round() / 1e4,
        }
    }

    /// A length of time, each order of magnitude as likely.
    pub fn time(&mut self, low_us: u64, high_us: u64) -> Value {
        micros(self.spread(low_us.max(1), high_us))
    }
}

/// Octets as a scenario has them.
pub(crate) fn bytes(octets: u64) -> Value {
    format!("{octets} B").into()
}

/// Writes a number of packets.
pub(crate) fn packets(n: u64) -> Value {
    format!("{n} packets").into()
}

/// Writes a number of microseconds.
pub(crate) fn micros(us: u64) -> Value {
    format!("{us} us").into()
}

/// Writes a rate in bits per second.
pub(crate) fn rate(bps: u64) -> Value {
    format!("{bps} bit/s").into()
}

/// Writes a whole number.
pub(crate) fn number(n: u64) -> Value {
    Value::Integer(n as i64)
}

/// A table of these fields.
pub(crate) fn table<const N: usize>(fields: [(&str, Value); N]) -> Table {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Fields that are there with a probability each.
pub(crate) struct Options<'a> {
    pub draw: &'a mut Draw,
    pub table: Table,
    /// Probability with which an option is given.
    pub p: f64,
}

impl<'a> Options<'a> {
    pub fn new(draw: &'a mut Draw, p: f64) -> Options<'a> {
        Options { draw, table: Table::new(), p }
    }

    /// Perhaps gives the field a value.
    pub fn maybe(&mut self, name: &str, value: impl FnOnce(&mut Draw) -> Value) -> &mut Self {
        if self.draw.chance(self.p) {
            let value = value(self.draw);
            self.table.insert(name.to_owned(), value);
        }
        self
    }

    /// Perhaps gives each of the fields `true` or `false`.
    pub fn switches(&mut self, names: &[&str]) -> &mut Self {
        for name in names {
            self.maybe(name, |draw| draw.chance(0.5).into());
        }
        self
    }

    /// Perhaps gives the field one of these words.
    pub fn word(&mut self, name: &str, words: &[&str]) -> &mut Self {
        self.maybe(name, |draw| draw.pick(words).into())
    }

    /// Perhaps gives the field a whole number.
    pub fn number(&mut self, name: &str, low: u64, high: u64) -> &mut Self {
        self.maybe(name, |draw| number(draw.between(low, high)))
    }

    /// Gives the field this value.
    pub fn put(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        self.table.insert(name.to_owned(), value.into());
        self
    }
}
