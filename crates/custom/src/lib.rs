//! Algorithms of the user's own, one mechanism for every seam: how a
//! description names one ([`Custom`]), where it stands ([`Place`]) and how it
//! says that it cannot go on ([`Failure`]).
//!
//! A seam's closed set of algorithms has one more variant that holds a
//! `Custom<F>`, where `F` is the type of function that makes the boxed object.
//! A description is read before anybody knows what its name means; it is bound
//! to a function later. Nothing here is on the way of the other variants.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod failure;

pub use failure::{Failure, catching};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// An option of an algorithm, as a scenario has it.
#[derive(Clone, PartialEq, Debug)]
pub enum OptionValue {
    /// The values `true` and `false`.
    Boolean(bool),
    /// A number without a fraction.
    Integer(i64),
    /// A number with a fraction.
    Number(f64),
    /// A text in quotes.
    Text(String),
}

/// Whether `name` is that of an algorithm of the user's own: it has a colon, as `FILE.py:CLASS`, or is a
/// [shared library](is_library).
pub fn is_own(name: &str) -> bool {
    name.contains(':') || is_library(name)
}

/// Whether `name` is that of a file which is a shared library.
pub fn is_library(name: &str) -> bool {
    [".so", ".dylib", ".dll"].iter().any(|ending| name.ends_with(ending))
}

/// The options of an algorithm, by name.
pub type Options = BTreeMap<String, OptionValue>;

/// The place at which an object is at work.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// What it belongs to, for messages: `flow web, client`, `link r1-r2`.
    pub name: String,
    /// A seed for a generator of its own: a function of the run's seed and the name.
    pub seed: u64,
}

/// The description of an algorithm of the user's own. `F` makes one, given its
/// place and what its seam adds.
pub struct Custom<F: ?Sized> {
    name: Arc<str>,
    source: Option<Arc<str>>,
    options: Arc<Options>,
    place: Arc<Place>,
    make: Option<Arc<F>>,
}

/// What a name turned out to mean.
pub struct Found<F: ?Sized> {
    /// The name under which it is found from the working directory.
    pub name: String,
    /// Names its source: a digest.
    pub source: String,
    /// The function that makes an object.
    pub make: Arc<F>,
}

impl<F: ?Sized> Custom<F> {
    /// The algorithm called `name`, which nobody has looked for yet. `source`
    /// is the digest that it must have, if any.
    pub fn new(name: &str, source: Option<&str>, options: Options) -> Custom<F> {
        Custom {
            name: name.into(),
            source: source.map(Into::into),
            options: Arc::new(options),
            place: Arc::default(),
            make: None,
        }
    }

    /// One that `make` makes, for programs that need no names.
    pub fn made_by(name: &str, make: Arc<F>) -> Custom<F> {
        Custom { make: Some(make), ..Custom::new(name, None, Options::new()) }
    }

    /// Returns the name: `FILE.py:CLASS`, `FILE.so`, or what a library calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The digest of its source.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Returns the options with which objects are made.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Whether a library has said what the name means, so that objects can be made.
    pub fn is_bound(&self) -> bool {
        self.make.is_some()
    }

    /// Takes what the name means.
    ///
    /// # Errors
    /// The source is not the one that the description was written for.
    pub fn bind(&mut self, found: Found<F>) -> Result<(), String> {
        if let Some(source) = self.source.as_deref().filter(|source| *source != found.source) {
            return Err(format!(
                "the source {source} of which this was resolved; it is {} now (remove `source` to \
                 take it as it is)",
                found.source
            ));
        }
        self.name = found.name.into();
        self.source = Some(found.source.into());
        self.make = Some(found.make);
        Ok(())
    }

    /// Returns the description for objects at `place`.
    #[must_use]
    pub fn at(&self, place: &Arc<Place>) -> Custom<F> {
        Custom { place: place.clone(), ..self.clone() }
    }

    /// Returns the place at which objects are at work.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What makes it.
    ///
    /// # Panics
    /// It was not bound: whoever builds from descriptions binds them first.
    pub fn maker(&self) -> &F {
        self.make.as_deref().expect("an algorithm of the user's own is bound before it is made")
    }
}

impl<F: ?Sized> Clone for Custom<F> {
    fn clone(&self) -> Custom<F> {
        Custom {
            name: self.name.clone(),
            source: self.source.clone(),
            options: self.options.clone(),
            place: self.place.clone(),
            make: self.make.clone(),
        }
    }
}

/// Equal when they say the same: what makes them is left out.
impl<F: ?Sized> PartialEq for Custom<F> {
    fn eq(&self, other: &Custom<F>) -> bool {
        self.name == other.name && self.source == other.source && self.options == other.options
    }
}

impl<F: ?Sized> fmt::Debug for Custom<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom")
            .field("name", &self.name)
            .field("source", &self.source)
            .field("options", &self.options)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Make = dyn Fn(&Place) -> u64;

    fn found(source: &str) -> Found<Make> {
        let make: Arc<Make> = Arc::new(|place| place.seed + 1);
        Found { name: "lab/a.py:A".into(), source: source.into(), make }
    }

    #[test]
    fn a_description_is_bound_and_made_at_its_place() {
        let mut custom: Custom<Make> = Custom::new("a.py:A", None, Options::new());
        assert!(!custom.is_bound());
        custom.bind(found("1234")).unwrap();
        assert_eq!((custom.name(), custom.source()), ("lab/a.py:A", Some("1234")));
        let place = Arc::new(Place { name: "flow f".into(), seed: 6 });
        let there = custom.at(&place);
        assert_eq!(there.maker()(there.place()), 7);
        assert_eq!(there, custom);
    }

    #[test]
    fn names_of_the_users_own_have_a_colon_or_end_as_a_library() {
        for own in ["a.py:A", "lab.a:A", "libmine.so", "lab/libmine.dylib", "C:/lab/mine.dll"] {
            assert!(is_own(own), "{own}");
        }
        for other in ["reno", "ledbat++", "so", "mine.py"] {
            assert!(!is_own(other), "{other}");
        }
        assert!(!is_library("lib.so:A") && is_library("C:/lab/mine.dll"));
    }

    #[test]
    fn a_source_that_changed_is_refused() {
        let mut custom: Custom<Make> = Custom::new("a.py:A", Some("1234"), Options::new());
        assert!(custom.bind(found("5678")).unwrap_err().contains("it is 5678 now"));
        custom.bind(found("1234")).unwrap();
    }
}
