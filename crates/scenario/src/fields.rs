//! Reading a TOML table field by field, keeping the path for messages and
//! refusing what nobody asked for.

use crate::nearest::{nearest, one_of};
use crate::{InputError, quantity::Quantity};
use anabranch_endpoint::{Bounds, ConfigError};
use std::cell::RefCell;
use std::fmt::Display;
use toml::{Table, Value};

/// A table being read. Each getter marks its field as known;
/// [`finish`](Fields::finish) refuses the rest.
pub struct Fields<'a> {
    path: String,
    table: &'a Table,
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Fields<'a> {
    /// The table at `path` (empty for the whole file).
    pub fn new(path: impl Into<String>, table: &'a Table) -> Fields<'a> {
        Fields { path: path.into(), table, known: RefCell::new(Vec::new()) }
    }

    /// The path of the field called `name`.
    pub fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// What a connection or a part of the network says of a field, with the field's path.
    pub fn refuse(&self, error: ConfigError) -> InputError {
        InputError::field(self.path(&error.field), error.value, error.allowed)
    }

    /// The value of the field, if there is one.
    pub fn get(&self, name: &'static str) -> Option<&'a Value> {
        let mut known = self.known.borrow_mut();
        if !known.contains(&name) {
            known.push(name);
        }
        self.table.get(name)
    }

    /// Accepts these fields, which are read elsewhere.
    pub fn know(&self, names: &[&'static str]) {
        self.known.borrow_mut().extend(names);
    }

    /// The error that the field does not hold what is `allowed`.
    pub fn error(&self, name: &str, allowed: impl Into<String>) -> InputError {
        match self.table.get(name) {
            Some(value) => InputError::field(self.path(name), shown(value), allowed),
            None => InputError::required(self.path(name), allowed),
        }
    }

    /// A quantity with its unit.
    pub fn quantity<Q: Quantity>(&self, name: &'static str) -> Result<Option<Q>, InputError> {
        let allowed = match self.table.get(name) {
            Some(Value::Integer(_) | Value::Float(_)) => {
                &format!("{}; with its unit, in quotes", Q::ALLOWED)
            }
            _ => Q::ALLOWED,
        };
        self.read(name, allowed, |value| value.as_str().and_then(Q::parse))
    }

    /// Reads a text; `None` where the field is absent.
    pub fn text(&self, name: &'static str) -> Result<Option<&'a str>, InputError> {
        self.read(name, "a text in quotes", |value| value.as_str())
    }

    /// A name that has to be there.
    pub fn required_text(&self, name: &'static str, what: &str) -> Result<&'a str, InputError> {
        self.text(name)?.ok_or_else(|| self.error(name, what))
    }

    /// Reads `true` or `false`; `None` where the field is absent.
    pub fn boolean(&self, name: &'static str) -> Result<Option<bool>, InputError> {
        self.read(name, "true or false", Value::as_bool)
    }

    /// A whole number within these bounds.
    pub fn integer<N>(
        &self,
        name: &'static str,
        bounds: impl Into<Bounds<N>>,
    ) -> Result<Option<N>, InputError>
    where
        N: TryFrom<i64> + PartialOrd + Display + Copy,
    {
        let bounds = bounds.into();
        let from = if bounds.closed().is_some() { " from" } else { "," };
        let allowed = format!("a whole number{from} {bounds}");
        self.read(name, &allowed, |value| {
            N::try_from(value.as_integer()?).ok().filter(|n| allows(bounds, *n))
        })
    }

    /// A number within these bounds.
    pub fn number(
        &self,
        name: &'static str,
        bounds: impl Into<Bounds<f64>>,
    ) -> Result<Option<f64>, InputError> {
        let bounds = bounds.into();
        let from = if bounds.closed().is_some() { "from " } else { "" };
        self.read(name, &format!("a number {from}{bounds}"), |value| {
            number_of(value).filter(|n| allows(bounds, *n))
        })
    }

    /// Refuses a value of the field that is outside these bounds.
    pub fn within<T>(&self, name: &str, bounds: Bounds<T>, value: T) -> Result<(), InputError>
    where
        T: PartialOrd + Display + Copy,
    {
        match allows(bounds, value) {
            true => Ok(()),
            false => Err(self.error(name, bounds.to_string())),
        }
    }

    /// A probability: a number from 0 to 1.
    pub fn probability(&self, name: &'static str) -> Result<Option<f64>, InputError> {
        self.read(name, "a probability, from 0 to 1", |value| {
            number_of(value).filter(|n| allows(Bounds::of(0.0, 1.0), *n))
        })
    }

    /// One of a closed set of words.
    pub fn choice<T: Clone>(
        &self,
        name: &'static str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, InputError> {
        let names: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
        let given = self.table.get(name).and_then(Value::as_str).unwrap_or("");
        self.read(name, &one_of(given, &names), |value| {
            let word = value.as_str()?;
            choices.iter().find(|(choice, _)| *choice == word).map(|(_, meaning)| meaning.clone())
        })
    }

    /// Reads a list of texts; `None` where the field is absent.
    pub fn texts(&self, name: &'static str) -> Result<Option<Vec<String>>, InputError> {
        self.read(name, "a list of texts such as [\"a\", \"b\"]", |value| {
            value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        })
    }

    /// Reads a table within this one; `None` where the field is absent.
    pub fn table(&self, name: &'static str) -> Result<Option<Fields<'a>>, InputError> {
        self.read(name, "a table", |value| Some(Fields::new(self.path(name), value.as_table()?)))
    }

    /// A list of tables; empty when absent.
    pub fn tables(&self, name: &'static str) -> Result<Vec<Fields<'a>>, InputError> {
        let list = self.read(name, "a list of tables", |value| {
            let path = |i| format!("{}[{i}]", self.path(name));
            let tables = value.as_array()?.iter().enumerate();
            tables.map(|(i, item)| Some(Fields::new(path(i), item.as_table()?))).collect()
        })?;
        Ok(list.unwrap_or_default())
    }

    /// All fields but those asked for so far.
    pub fn rest(&self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let known = self.known.borrow().clone();
        self.table
            .iter()
            .filter(move |(key, _)| !known.contains(&key.as_str()))
            .map(|(key, value)| (key.as_str(), value))
    }

    /// The first field that is called `name` with `_` and more behind it, and what that is: of
    /// `rto` it is `rto_min`, and `min`.
    pub fn joined(&self, name: &str) -> Option<(&'a str, &'a str)> {
        self.table.keys().find_map(|key| {
            let rest = key.strip_prefix(name)?.strip_prefix('_')?;
            Some((key.as_str(), rest))
        })
    }

    /// Refuses fields that nobody asked for.
    pub fn finish(&self) -> Result<(), InputError> {
        let known = self.known.borrow();
        match self.table.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => {
                if let Some(name) = nearest(key, known.iter().copied()) {
                    let meant = format!("no field of this name; did you mean `{name}`?");
                    return Err(self.error(key, meant));
                }
                let mut known = known.clone();
                known.sort_unstable();
                let names = known.join(", ");
                Err(self.error(key, format!("no field of this name; the fields are {names}")))
            }
            None => Ok(()),
        }
    }

    fn read<T>(
        &self,
        name: &'static str,
        allowed: &str,
        reader: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, InputError> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => reader(value).map(Some).ok_or_else(|| self.error(name, allowed)),
        }
    }
}

/// A number, with a point or without.
fn number_of(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}

/// Whether a value is within the bounds.
fn allows<T: PartialOrd + Copy>(bounds: Bounds<T>, value: T) -> bool {
    #[cfg(test)]
    if LENIENT.get() {
        return true;
    }
    bounds.contains(value)
}

#[cfg(test)]
thread_local! {
    /// Readers leave bounds to the engines: for the test that these refuse by themselves.
    pub(crate) static LENIENT: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// A value as a message shows it: texts without their quotes.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Rate;

    fn with_fields<R>(text: &str, reader: impl FnOnce(Fields<'_>) -> R) -> R {
        reader(Fields::new("links[0]", &text.parse().expect("the test's TOML")))
    }

    #[test]
    fn unknown_fields_are_refused_with_the_known_ones() {
        let error = with_fields("rate = \"1 Mbit/s\"\ncolour = 1", |f| {
            assert_eq!(f.quantity("rate"), Ok(Some(Rate::mbit(1))));
            f.finish().unwrap_err()
        });
        assert_eq!(error.field, "links[0].colour");
        assert_eq!(error.allowed, "no field of this name; the fields are rate");
    }

    #[test]
    fn the_nearest_name_is_told() {
        let error = with_fields("rtae = \"1 Mbit/s\"", |f| {
            assert_eq!(f.quantity::<Rate>("rate"), Ok(None));
            f.finish().unwrap_err()
        });
        assert_eq!(error.allowed, "no field of this name; did you mean `rate`?");
        let words = [("reno", 1), ("newreno", 2), ("rack", 3)];
        let error = with_fields("scheme = \"rakc\"", |f| f.choice("scheme", &words).unwrap_err());
        assert_eq!(error.allowed, "reno, newreno, rack; did you mean `rack`?");
        let error = with_fields("scheme = \"x\"", |f| f.choice("scheme", &words).unwrap_err());
        assert_eq!(error.allowed, "reno, newreno, rack");
    }

    #[test]
    fn quantities_need_units() {
        let error = with_fields("rate = 10", |f| f.quantity::<Rate>("rate").unwrap_err());
        assert_eq!((error.field.as_str(), error.value.as_str()), ("links[0].rate", "10"));
        assert!(
            error.allowed.contains("10 Mbit/s")
                && error.allowed.ends_with("with its unit, in quotes")
        );
    }

    #[test]
    fn numbers_keep_to_their_ranges() {
        with_fields("n = -1\np = 1.5\nq = nan\nr = 1", |f| {
            assert!(f.integer::<u32>("n", 0..=9).is_err());
            assert!(f.probability("p").is_err());
            assert!(f.probability("q").is_err());
            assert_eq!(f.probability("r"), Ok(Some(1.0)));
        });
    }
}
