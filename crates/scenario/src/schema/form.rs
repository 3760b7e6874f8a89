//! One list of options that is read from a table or written to one.

use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_congestion::OptionForm;
use anabranch_units::{Bytes, Span};
use std::fmt::Display;
use std::mem::discriminant;
use std::ops::RangeInclusive;
use toml::{Table, Value};

/// Where options come from or go to. Each method reads the field `name` into
/// `value` if it is there, or writes it.
pub(super) enum Form<'a> {
    Read(&'a Fields<'a>),
    Write(Table),
}

impl Form<'_> {
    pub(super) fn name(&mut self, name: &str, value: &str) {
        if let Form::Write(table) = self {
            table.insert(name.to_owned(), value.into());
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Form::Read(_) => Value::Table(Table::new()),
            Form::Write(table) => Value::Table(table),
        }
    }

    /// The error that the field does not hold what is `allowed`.
    pub(super) fn error(&self, name: &str, allowed: &str) -> InputError {
        match self {
            Form::Read(f) => f.error(name, allowed),
            Form::Write(_) => InputError::field(name, "", allowed),
        }
    }

    pub(super) fn boolean(
        &mut self,
        name: &'static str,
        value: &mut bool,
    ) -> Result<(), InputError> {
        self.field(name, value, |f| f.boolean(name), |v| Value::Boolean(*v))
    }

    pub(super) fn integer<N>(
        &mut self,
        name: &'static str,
        range: RangeInclusive<N>,
        value: &mut N,
    ) -> Result<(), InputError>
    where
        N: TryFrom<i64> + Into<i64> + PartialOrd + Display + Copy,
    {
        self.field(name, value, |f| f.integer(name, range), |v| Value::Integer((*v).into()))
    }

    pub(super) fn probability(
        &mut self,
        name: &'static str,
        value: &mut f64,
    ) -> Result<(), InputError> {
        self.field(name, value, |f| f.probability(name), |v| Value::Float(*v))
    }

    /// A part of one that may be absent.
    pub(super) fn probability_or_none(
        &mut self,
        name: &'static str,
        value: &mut Option<f64>,
    ) -> Result<(), InputError> {
        match (self, value) {
            (Form::Read(f), value) => *value = f.probability(name)?.or(*value),
            (Form::Write(table), Some(value)) => {
                table.insert(name.to_owned(), Value::Float(*value));
            }
            (Form::Write(_), None) => {}
        }
        Ok(())
    }

    pub(super) fn quantity<Q: Quantity>(
        &mut self,
        name: &'static str,
        value: &mut Q,
    ) -> Result<(), InputError> {
        self.field(name, value, |f| f.quantity(name), |v| v.write().into())
    }

    pub(super) fn choice<T: Clone + PartialEq>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
        value: &mut T,
    ) -> Result<(), InputError> {
        let word = |v: &T| word(choices, v).into();
        self.field(name, value, |f| f.choice(name, choices), word)
    }

    /// A number of octets.
    pub(super) fn octets<N>(&mut self, name: &'static str, value: &mut N) -> Result<(), InputError>
    where
        N: TryFrom<u64> + Into<u64> + Copy,
    {
        self.field(name, value, |f| read_octets(f, name), |v| write_octets(*v))
    }

    /// A number of octets that may be absent.
    pub(super) fn octets_or_none<N>(
        &mut self,
        name: &'static str,
        value: &mut Option<N>,
    ) -> Result<(), InputError>
    where
        N: TryFrom<u64> + Into<u64> + Copy,
    {
        match (self, value) {
            (Form::Read(f), value) => *value = read_octets(f, name)?.or(*value),
            (Form::Write(table), Some(value)) => {
                table.insert(name.to_owned(), write_octets(*value));
            }
            (Form::Write(_), None) => {}
        }
        Ok(())
    }

    /// A whole number, or `false` for none.
    pub(super) fn integer_or_off<N>(
        &mut self,
        name: &'static str,
        range: RangeInclusive<N>,
        value: &mut Option<N>,
    ) -> Result<(), InputError>
    where
        N: TryFrom<i64> + Into<i64> + PartialOrd + Display + Copy,
    {
        let read = |f: &Fields<'_>| f.integer(name, range);
        self.or_off(name, value, read, |v| Value::Integer((*v).into()))
    }

    /// A quantity, or `false` for none.
    pub(super) fn quantity_or_off<Q: Quantity>(
        &mut self,
        name: &'static str,
        value: &mut Option<Q>,
    ) -> Result<(), InputError> {
        self.or_off(name, value, |f| f.quantity(name), |v| v.write().into())
    }

    fn or_off<T>(
        &mut self,
        name: &'static str,
        value: &mut Option<T>,
        read: impl FnOnce(&Fields<'_>) -> Result<Option<T>, InputError>,
        write: impl FnOnce(&T) -> Value,
    ) -> Result<(), InputError> {
        match self {
            Form::Read(f) if f.get(name).and_then(Value::as_bool) == Some(false) => *value = None,
            Form::Read(f) => {
                let or_off =
                    |e: InputError| InputError { allowed: format!("false, or {}", e.allowed), ..e };
                if let Some(given) = read(f).map_err(or_off)? {
                    *value = Some(given);
                }
            }
            Form::Write(table) => {
                let written = value.as_ref().map_or(Value::Boolean(false), write);
                table.insert(name.to_owned(), written);
            }
        }
        Ok(())
    }

    /// A table with what `options` lists.
    pub(super) fn table(
        &mut self,
        name: &'static str,
        options: impl FnOnce(&mut Form<'_>) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        match self {
            Form::Read(f) => {
                let Some(inner) = f.table(name)? else { return Ok(()) };
                options(&mut Form::Read(&inner))?;
                inner.finish()
            }
            Form::Write(table) => {
                let mut inner = Form::Write(Table::new());
                options(&mut inner)?;
                table.insert(name.to_owned(), inner.into_value());
                Ok(())
            }
        }
    }

    /// One of `kinds` by its name, or a table with the name in the field `key`
    /// and what `options` lists.
    pub(super) fn named_table<T: Clone>(
        &mut self,
        name: &'static str,
        key: &'static str,
        kinds: &[(&str, T)],
        value: &mut T,
        options: impl FnOnce(&mut Form<'_>, &mut T) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        match self {
            Form::Read(f) => match f.get(name) {
                Some(Value::Table(table)) => {
                    let inner = Fields::new(f.path(name), table);
                    let kind = inner.choice(key, kinds)?;
                    let names: Vec<_> = kinds.iter().map(|(kind, _)| *kind).collect();
                    *value = kind.ok_or_else(|| inner.error(key, names.join(", ")))?;
                    options(&mut Form::Read(&inner), value)?;
                    inner.finish()
                }
                _ => {
                    *value = f.choice(name, kinds)?.unwrap_or_else(|| value.clone());
                    Ok(())
                }
            },
            Form::Write(table) => {
                let of = |kind: &&(&str, T)| discriminant(&kind.1) == discriminant(value);
                let kind = kinds.iter().find(of).map_or("", |(kind, _)| kind);
                let mut inner = Form::Write(Table::new());
                inner.name(key, kind);
                options(&mut inner, value)?;
                table.insert(name.to_owned(), inner.into_value());
                Ok(())
            }
        }
    }

    /// `true` for the defaults, `false` for nothing, or a table with what
    /// `options` lists.
    pub(super) fn switch_or_table<T: Default>(
        &mut self,
        name: &'static str,
        value: &mut Option<T>,
        options: impl FnOnce(&mut Form<'_>, &mut T) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        match self {
            Form::Read(f) => match f.get(name) {
                None => Ok(()),
                Some(Value::Boolean(on)) => {
                    *value = on.then(T::default);
                    Ok(())
                }
                Some(Value::Table(table)) => {
                    let inner = Fields::new(f.path(name), table);
                    options(&mut Form::Read(&inner), value.get_or_insert_default())?;
                    inner.finish()
                }
                Some(_) => Err(f.error(name, "true, false or a table")),
            },
            Form::Write(table) => {
                let mut written = Value::Boolean(false);
                if let Some(value) = value {
                    let mut inner = Form::Write(Table::new());
                    options(&mut inner, value)?;
                    written = inner.into_value();
                }
                table.insert(name.to_owned(), written);
                Ok(())
            }
        }
    }

    fn field<T>(
        &mut self,
        name: &'static str,
        value: &mut T,
        read: impl FnOnce(&Fields<'_>) -> Result<Option<T>, InputError>,
        write: impl FnOnce(&T) -> Value,
    ) -> Result<(), InputError> {
        match self {
            Form::Read(f) => {
                if let Some(given) = read(f)? {
                    *value = given;
                }
            }
            Form::Write(table) => {
                table.insert(name.to_owned(), write(value));
            }
        }
        Ok(())
    }
}

impl OptionForm for Form<'_> {
    type Error = InputError;

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
        let within = |f: &Fields<'_>| match f.number(name)? {
            Some(n) if !range.contains(&n) => {
                Err(f.error(name, format!("a number from {} to {}", range.start(), range.end())))
            }
            given => Ok(given),
        };
        self.field(name, value, within, |v| Value::Float(*v))
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
        if holds { Ok(()) } else { Err(self.error(name, allowed)) }
    }
}

fn read_octets<N: TryFrom<u64>>(
    f: &Fields<'_>,
    name: &'static str,
) -> Result<Option<N>, InputError> {
    let most = || f.error(name, format!("0 B to {}", Bytes(u64::MAX >> (64 - 8 * size_of::<N>()))));
    let octets: Option<Bytes> = f.quantity(name)?;
    octets.map(|octets| N::try_from(octets.0).map_err(|_| most())).transpose()
}

fn write_octets<N: Into<u64>>(octets: N) -> Value {
    Bytes(octets.into()).write().into()
}

/// The word for `meaning`.
pub(super) fn word<T: PartialEq>(words: &[(&str, T)], meaning: &T) -> String {
    words.iter().find(|(_, m)| m == meaning).map_or("", |(word, _)| word).to_owned()
}

/// A table of these fields.
pub(super) fn table_of(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Table(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
