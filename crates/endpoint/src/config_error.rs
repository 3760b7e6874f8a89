//! A setting that cannot be had.

use anabranch_units::Span;
use std::borrow::Cow;
use std::fmt;

/// A setting is out of its range: which, what it is, and what it may be. One type for connections, links and all
/// that they are made of, so that who reads settings tells of each in the same way.
///
/// ```
/// use anabranch_endpoint::ConfigError;
/// let error = ConfigError::new("mss", 12, "64 B to 65495 B");
/// assert_eq!(error.to_string(), "mss is 12; allowed: 64 B to 65495 B");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// The field of the settings; with dots where it is one of a setting's own.
    pub field: Cow<'static, str>,
    /// The value that the field has, as text.
    pub value: String,
    /// The values that the field may have.
    pub allowed: String,
}

impl ConfigError {
    /// The field has this value, and may have others.
    pub fn new(
        field: impl Into<Cow<'static, str>>,
        value: impl ToString,
        allowed: impl Into<String>,
    ) -> ConfigError {
        ConfigError { field: field.into(), value: value.to_string(), allowed: allowed.into() }
    }

    /// Refuses a length of time that is too short for something that is done again and again: work for
    /// each microsecond is what a run can bear.
    ///
    /// # Errors
    /// Below a microsecond.
    pub fn repeated(field: &'static str, interval: Span) -> Result<(), ConfigError> {
        match interval < Span::from_micros(1) {
            true => Err(ConfigError::new(field, interval, "at least 1 us")),
            false => Ok(()),
        }
    }

    /// Refuses what is no probability.
    ///
    /// # Errors
    /// Below 0, above 1, or no number.
    pub fn probability(field: &'static str, value: f64) -> Result<(), ConfigError> {
        match (0.0..=1.0).contains(&value) {
            true => Ok(()),
            false => Err(ConfigError::new(field, value, "a probability, 0 to 1")),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; allowed: {}", self.field, self.value, self.allowed)
    }
}

impl std::error::Error for ConfigError {}
