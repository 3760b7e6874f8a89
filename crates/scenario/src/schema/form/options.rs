//! Options of window algorithms, which each algorithm lists itself.

use super::Form;
use crate::InputError;
use anabranch_congestion::OptionForm;
use anabranch_units::Span;
use std::fmt::Display;
use std::ops::RangeInclusive;

impl OptionForm for Form<'_> {
    type Error = InputError;

    fn says(&mut self, sentence: &'static str) -> &mut Self {
        Form::says(self, sentence)
    }

    fn boolean(&mut self, name: &'static str, value: &mut bool) -> Result<(), InputError> {
        Form::boolean(self, name, value)
    }

    fn integer<N>(
        &mut self,
        name: &'static str,
        range: RangeInclusive<N>,
        value: &mut N,
    ) -> Result<(), InputError>
    where
        N: TryFrom<i64> + Into<i64> + PartialOrd + Display + Copy,
    {
        Form::integer(self, name, range, value)
    }

    fn number(
        &mut self,
        name: &'static str,
        range: RangeInclusive<f64>,
        value: &mut f64,
    ) -> Result<(), InputError> {
        Form::number(self, name, range, value)
    }

    fn probability(&mut self, name: &'static str, value: &mut f64) -> Result<(), InputError> {
        Form::probability(self, name, value)
    }

    fn span(&mut self, name: &'static str, value: &mut Span) -> Result<(), InputError> {
        Form::quantity(self, name, value)
    }

    fn choice<T: Clone + PartialEq>(
        &mut self,
        name: &'static str,
        choices: &[(&'static str, T)],
        value: &mut T,
    ) -> Result<(), InputError> {
        Form::choice(self, name, choices, value)
    }

    fn require(
        &mut self,
        holds: bool,
        name: &'static str,
        allowed: &'static str,
    ) -> Result<(), InputError> {
        Form::require(self, holds, name, allowed)
    }
}
