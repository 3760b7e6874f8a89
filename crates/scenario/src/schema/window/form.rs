//! One list of options that is read from a table or written to one.

use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
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
        let word = |v: &T| super::super::tcp::word(choices, v).into();
        self.field(name, value, |f| f.choice(name, choices), word)
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
