//! What queues, transmitters and impairments say of themselves, and of fields
//! that make no sense.

use anabranch_units::Span;
use std::fmt;

/// `ConfigError` names a field whose value is not allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// `field` is the name of the field in the description.
    pub field: &'static str,
    /// `value` is the value that the field has, as text.
    pub value: String,
    /// `allowed` says which values the field may have.
    pub allowed: String,
}

impl ConfigError {
    pub(crate) fn new(
        field: &'static str,
        value: impl ToString,
        allowed: impl Into<String>,
    ) -> ConfigError {
        ConfigError { field, value: value.to_string(), allowed: allowed.into() }
    }

    /// A length of time after which something is done again and again: work for each
    /// microsecond is what a run can bear.
    pub(crate) fn repeated(field: &'static str, interval: Span) -> Result<(), ConfigError> {
        match interval < Span::from_micros(1) {
            true => Err(ConfigError::new(field, interval, "at least 1 us")),
            false => Ok(()),
        }
    }

    /// `value` if it is a probability.
    pub(crate) fn probability(field: &'static str, value: f64) -> Result<(), ConfigError> {
        if (0.0..=1.0).contains(&value) {
            Ok(())
        } else {
            Err(ConfigError::new(field, value, "a probability, 0 to 1"))
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; allowed: {}", self.field, self.value, self.allowed)
    }
}

impl std::error::Error for ConfigError {}

/// `Info` is a line of a catalogue of queues, transmitters or impairments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// `name` is the word by which scenarios choose it.
    pub name: &'static str,
    /// `summary` says in one line what it does.
    pub summary: &'static str,
    /// `reference` is the paper, RFC or program that defines it.
    pub reference: &'static str,
}
