//! What can be chosen about an algorithm, listed once: whoever reads, writes or draws options asks
//! for the list.

use crate::ack_clocked::Common;
use anabranch_units::Span;
use std::fmt::{Debug, Display};
use std::ops::RangeInclusive;

/// `Options` are the settings of one algorithm, shown to forms by name.
pub trait Options: Clone + PartialEq + Debug + Default {
    /// It answers marks in its own way, so that the common option `ecn_beta` has no part in it.
    const ANSWERS_MARKS: bool = false;

    /// Returns the options that it shares with all algorithms that ACKs drive, where it is one of
    /// them.
    fn common_mut(&mut self) -> Option<&mut Common> {
        None
    }

    /// Shows each of its own to `form`, by the name that scenarios have for it.
    ///
    /// # Errors
    /// That of the form, where it holds something that is not allowed.
    fn own<F: OptionForm>(&mut self, _form: &mut F) -> Result<(), F::Error> {
        Ok(())
    }
}

/// `OptionForm` is a form that options come from or go to: each method may change `value`, and
/// refuses what is not allowed.
pub trait OptionForm {
    /// `Error` is the error of a refused value; it names the option and says what is allowed.
    type Error;

    /// Tells the meaning of the next option, for forms that show it: a sentence in Markdown.
    fn says(&mut self, _sentence: &'static str) -> &mut Self {
        self
    }

    /// Shows an option that is yes or no.
    ///
    /// # Errors
    /// See [`OptionForm::Error`]; so for all.
    fn boolean(&mut self, name: &'static str, value: &mut bool) -> Result<(), Self::Error>;

    /// Shows an option that is a whole number.
    ///
    /// # Errors
    /// Outside `range`.
    fn integer<N>(
        &mut self,
        name: &'static str,
        range: RangeInclusive<N>,
        value: &mut N,
    ) -> Result<(), Self::Error>
    where
        N: TryFrom<i64> + Into<i64> + PartialOrd + Display + Copy;

    /// Shows an option that is a number.
    ///
    /// # Errors
    /// Outside `range`.
    fn number(
        &mut self,
        name: &'static str,
        range: RangeInclusive<f64>,
        value: &mut f64,
    ) -> Result<(), Self::Error>;

    /// Shows an option that is a number from 0 to 1.
    ///
    /// # Errors
    /// Outside that.
    fn probability(&mut self, name: &'static str, value: &mut f64) -> Result<(), Self::Error>;

    /// Shows an option that is a length of time.
    ///
    /// # Errors
    /// What is none.
    fn span(&mut self, name: &'static str, value: &mut Span) -> Result<(), Self::Error>;

    /// Shows an option that is one of some words.
    ///
    /// # Errors
    /// Any other word.
    fn choice<T: Clone + PartialEq>(
        &mut self,
        name: &'static str,
        choices: &[(&'static str, T)],
        value: &mut T,
    ) -> Result<(), Self::Error>;

    /// Checks options that must fit together: refuses `name` unless it `holds`.
    ///
    /// # Errors
    /// It does not.
    fn require(
        &mut self,
        holds: bool,
        name: &'static str,
        allowed: &'static str,
    ) -> Result<(), Self::Error>;
}

/// [`Options`] of algorithms that ACKs drive: those that all have are in the field `common`; the list
/// shows what is theirs alone.
macro_rules! ack_driven {
    ($options:ty $(, |$own:ident, $form:ident| $list:block)?) => {
        impl $crate::Options for $options {
            fn common_mut(&mut self) -> Option<&mut $crate::ack_clocked::Common> {
                Some(&mut self.common)
            }
            $(fn own<F: $crate::OptionForm>(&mut self, $form: &mut F) -> Result<(), F::Error> {
                let $own = self;
                $list
                Ok(())
            })?
        }
    };
}
pub(crate) use ack_driven;
