//! The options of a law: numbers with names, ranges and defaults.

use crate::WindowControl;
use crate::abi::Text;
use std::ops::RangeInclusive;

/// An option that scenarios may set.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub(crate) name: Text,
    default: f64,
    least: f64,
    most: f64,
}

impl Parameter {
    /// The option called `name`, which is `default` where the scenario says nothing.
    ///
    /// # Panics
    /// The default is not in the range. In a constant that is an error of the compiler.
    pub const fn new(name: &'static str, default: f64, range: RangeInclusive<f64>) -> Parameter {
        let (least, most) = (*range.start(), *range.end());
        assert!(least <= default && default <= most, "the default is not in the range");
        Parameter { name: Text::new(name), default, least, most }
    }

    /// The name, as scenarios say it.
    pub fn name(&self) -> &'static str {
        self.name.as_str()
    }

    /// Its value where the scenario says nothing.
    pub fn default(&self) -> f64 {
        self.default
    }

    /// The values that it may have.
    pub fn range(&self) -> RangeInclusive<f64> {
        self.least..=self.most
    }
}

/// The values of a law's options.
#[derive(Clone, PartialEq, Debug)]
pub struct Options(Vec<(&'static str, f64)>);

impl Options {
    /// The options of `L` with these values, and the others at their defaults; for tests.
    ///
    /// # Panics
    /// `L` has no option of such a name.
    pub fn of<L: WindowControl>(values: &[(&str, f64)]) -> Options {
        let mut options =
            Options(L::OPTIONS.iter().map(|option| (option.name(), option.default())).collect());
        for (name, value) in values {
            let place = options.place(name);
            options.0[place].1 = *value;
        }
        options
    }

    pub(crate) fn new(parameters: &'static [Parameter], values: &[f64]) -> Options {
        Options(parameters.iter().map(Parameter::name).zip(values.iter().copied()).collect())
    }

    /// The value of an option.
    ///
    /// # Panics
    /// The law has no option called `name` in [`WindowControl::OPTIONS`].
    pub fn get(&self, name: &str) -> f64 {
        self.0[self.place(name)].1
    }

    fn place(&self, name: &str) -> usize {
        let place = self.0.iter().position(|(item, _)| *item == name);
        place.unwrap_or_else(|| panic!("OPTIONS has no `{name}`"))
    }
}
