//! The declaration of a table: one list of its fields that is read from TOML, written to it, or
//! described.
//!
//! A field is one line of the list: its name, its kind with its range, the place of its value, and
//! before them the sentence that says what it means. Its default is what stands in that place before
//! it is read. So the reader with its messages, the resolved scenario, the JSON Schema and the tables
//! of docs/scenario.md cannot drift apart.

mod kind;
mod options;

pub(crate) use kind::{
    Boolean, Choice, Kind, Probability, Text, Texts, by, integer, number, octets, octets_in,
    quantity, quantity_shape, tables,
};

use super::custom;
use crate::InputError;
use crate::fields::Fields;
use crate::nearest::one_of;
use crate::quantity::Quantity;
use crate::shape::{self, Field, KindDefault, Shape};
use anabranch_endpoint::Bounds;
use std::fmt::Display;
use std::mem::discriminant;
use toml::{Table, Value};

/// A form that fields come from or go to. Each method reads the field `name` into `value` if it is
/// there, writes it, or describes it.
pub(crate) enum Form<'a> {
    /// Values are read from a table.
    Read(&'a Fields<'a>),
    /// Into a table, every default spelt out.
    Write(Table),
    /// The fields are described for documentation and schema.
    Describe(Description),
}

/// What a form has described so far.
#[derive(Default)]
pub(crate) struct Description {
    table: shape::Table,
    /// The sentence of the next field, and the words for its default.
    says: &'static str,
    default: Option<&'static str>,
    /// The next field may name an algorithm of the user's own, in a table by this field.
    own: Option<&'static str>,
    /// The next field may be this word, and whether that is its default.
    word: Option<(&'static str, bool)>,
}

type Done = Result<(), InputError>;

impl<'a> Form<'a> {
    /// The table that `list` writes.
    pub(crate) fn written(list: impl FnOnce(&mut Form<'_>) -> Done) -> Table {
        let mut form = Form::Write(Table::new());
        // Nothing is refused where nothing is read.
        let _ = list(&mut form);
        match form {
            Form::Write(table) => table,
            _ => Table::new(),
        }
    }

    /// The table that `list` describes.
    pub(crate) fn described(list: impl FnOnce(&mut Form<'_>) -> Done) -> shape::Table {
        let mut form = Form::Describe(Description::default());
        let _ = list(&mut form);
        match form {
            Form::Describe(description) => description.table,
            _ => shape::Table::default(),
        }
    }

    /// Reads `list` from a table, of which it names all fields.
    pub(crate) fn read_all(f: &Fields<'_>, list: impl FnOnce(&mut Form<'_>) -> Done) -> Done {
        list(&mut Form::Read(f))?;
        f.finish()
    }

    /// What the next field means. A sentence may be of several fields that follow each other: the
    /// tables of docs/ put those with the same one into one row.
    pub(crate) fn says(&mut self, sentence: &'static str) -> &mut Self {
        if let Form::Describe(description) = self {
            description.says = sentence;
        }
        self
    }

    /// Words for the default of the next field, where no value says it.
    pub(crate) fn or_else(&mut self, default: &'static str) -> &mut Self {
        if let Form::Describe(description) = self {
            description.default = Some(default);
        }
        self
    }

    /// The next field may also name an algorithm of the user's own, in a table by the field `key`.
    pub(crate) fn or_own(&mut self, key: &'static str) -> &mut Self {
        if let Form::Describe(description) = self {
            description.own = Some(key);
        }
        self
    }

    /// The next field may also be `word`, which is its default or not.
    pub(crate) fn or_word(&mut self, word: &'static str, is_default: bool) -> &mut Self {
        if let Form::Describe(description) = self {
            description.word = Some((word, is_default));
        }
        self
    }

    /// The table that is read; `None` while writing or describing.
    pub(crate) fn reads(&self) -> Option<&'a Fields<'a>> {
        match self {
            Form::Read(f) => Some(f),
            _ => None,
        }
    }

    /// Puts a word into what is written.
    pub(crate) fn name(&mut self, name: &str, value: &str) {
        if let Form::Write(table) = self {
            table.insert(name.to_owned(), value.into());
        }
    }

    /// Refuses `name` unless it `holds`, where it is read.
    pub(crate) fn require(&self, holds: bool, name: &str, allowed: &str) -> Done {
        match self {
            Form::Read(f) if !holds => Err(f.error(name, allowed)),
            _ => Ok(()),
        }
    }

    /// Describes a field: the default is a value, or `None` for words.
    fn describe(
        &mut self,
        name: &'static str,
        mut shape: Shape,
        mut default: Option<Value>,
        none: &'static str,
    ) {
        if let Form::Describe(d) = self {
            if let Some((word, is_default)) = d.word.take() {
                shape = Shape::Any(vec![Shape::word(word), shape]);
                default = if is_default { Some(word.into()) } else { default };
            }
            let default = match (d.default.take(), default) {
                (Some(words), _) => shape::Default::Words(words),
                (None, Some(value)) => shape::Default::Value(value),
                (None, None) if none.is_empty() => shape::Default::Required,
                (None, None) => shape::Default::Words(none),
            };
            let says = std::mem::take(&mut d.says);
            let shape = match d.own.take() {
                Some(key) => custom::or_own(key, shape),
                None => shape,
            };
            d.table.fields.push(Field { name, says, default, shape });
        }
    }

    /// A field whose default stands in `value`.
    pub(crate) fn set<K: Kind>(
        &mut self,
        name: &'static str,
        kind: K,
        value: &mut K::Value,
    ) -> Done {
        match self {
            Form::Read(f) => {
                if let Some(given) = kind.read(f, name)? {
                    *value = given;
                }
            }
            Form::Write(table) => drop(table.insert(name.to_owned(), kind.write(value))),
            Form::Describe(_) => self.describe(name, kind.shape(), Some(kind.default(value)), ""),
        }
        Ok(())
    }

    /// A field that may be absent, and then says nothing.
    pub(crate) fn optional<K: Kind>(
        &mut self,
        name: &'static str,
        kind: K,
        value: &mut Option<K::Value>,
    ) -> Done {
        match self {
            Form::Read(f) => {
                if let Some(given) = kind.read(f, name)? {
                    *value = Some(given);
                }
            }
            Form::Write(table) => {
                if let Some(value) = value {
                    table.insert(name.to_owned(), kind.write(value));
                }
            }
            Form::Describe(_) => {
                let default = value.as_ref().map(|value| kind.default(value));
                self.describe(name, kind.shape(), default, "none");
            }
        }
        Ok(())
    }

    /// A field that is not written where it says what is `usual`.
    pub(crate) fn rare<K: Kind>(
        &mut self,
        name: &'static str,
        kind: K,
        value: &mut K::Value,
        usual: &K::Value,
    ) -> Done
    where
        K::Value: PartialEq,
    {
        if matches!(self, Form::Write(_)) && value == usual {
            return Ok(());
        }
        self.set(name, kind, value)
    }

    /// A field that must be there; `allowed` says what, to whom it is missing.
    pub(crate) fn required<K: Kind>(
        &mut self,
        name: &'static str,
        kind: K,
        allowed: &str,
        value: &mut K::Value,
    ) -> Done {
        match self {
            Form::Read(f) => *value = kind.read(f, name)?.ok_or_else(|| f.error(name, allowed))?,
            Form::Write(table) => drop(table.insert(name.to_owned(), kind.write(value))),
            Form::Describe(_) => self.describe(name, kind.shape(), None, ""),
        }
        Ok(())
    }

    /// A field that is read elsewhere, before this table is: it is described alone.
    pub(crate) fn elsewhere(&mut self, name: &'static str, shape: impl FnOnce() -> Shape) {
        if let Form::Describe(_) = self {
            self.describe(name, shape(), None, "none");
        }
    }

    /// A field that may be `false`, for none.
    pub(crate) fn or_off<K: Kind>(
        &mut self,
        name: &'static str,
        kind: K,
        value: &mut Option<K::Value>,
    ) -> Done {
        match self {
            Form::Read(f) if f.get(name).and_then(Value::as_bool) == Some(false) => *value = None,
            Form::Read(f) => {
                let or_off =
                    |e: InputError| InputError { allowed: format!("false, or {}", e.allowed), ..e };
                if let Some(given) = kind.read(f, name).map_err(or_off)? {
                    *value = Some(given);
                }
            }
            Form::Write(table) => {
                let written =
                    value.as_ref().map_or(Value::Boolean(false), |value| kind.write(value));
                table.insert(name.to_owned(), written);
            }
            Form::Describe(_) => {
                let default =
                    value.as_ref().map_or(Value::Boolean(false), |value| kind.default(value));
                self.describe(name, kind.shape().or_false(), Some(default), "");
            }
        }
        Ok(())
    }

    pub(crate) fn boolean(&mut self, name: &'static str, value: &mut bool) -> Done {
        self.set(name, Boolean, value)
    }

    pub(crate) fn integer<N>(
        &mut self,
        name: &'static str,
        bounds: impl Into<Bounds<N>>,
        value: &mut N,
    ) -> Done
    where
        N: TryFrom<i64> + TryInto<i64> + PartialOrd + Display + Copy,
    {
        self.set(name, integer(bounds), value)
    }

    pub(crate) fn number(
        &mut self,
        name: &'static str,
        bounds: impl Into<Bounds<f64>>,
        value: &mut f64,
    ) -> Done {
        self.set(name, number(bounds), value)
    }

    pub(crate) fn probability(&mut self, name: &'static str, value: &mut f64) -> Done {
        self.set(name, Probability, value)
    }

    pub(crate) fn quantity<Q: Quantity>(&mut self, name: &'static str, value: &mut Q) -> Done {
        self.set(name, quantity::<Q>(), value)
    }

    pub(crate) fn choice<T: Clone + PartialEq>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
        value: &mut T,
    ) -> Done {
        self.set(name, Choice(choices), value)
    }

    /// Declares a number of octets.
    pub(crate) fn octets<N>(&mut self, name: &'static str, value: &mut N) -> Done
    where
        N: TryFrom<u64> + Into<u64> + Copy,
    {
        self.set(name, octets(), value)
    }

    /// A number of octets that may be absent.
    pub(crate) fn octets_or_none<N>(&mut self, name: &'static str, value: &mut Option<N>) -> Done
    where
        N: TryFrom<u64> + Into<u64> + Copy,
    {
        self.optional(name, octets(), value)
    }

    /// A whole number, or `false` for none.
    pub(crate) fn integer_or_off<N>(
        &mut self,
        name: &'static str,
        bounds: impl Into<Bounds<N>>,
        value: &mut Option<N>,
    ) -> Done
    where
        N: TryFrom<i64> + TryInto<i64> + PartialOrd + Display + Copy,
    {
        self.or_off(name, integer(bounds), value)
    }

    /// A quantity, or `false` for none.
    pub(crate) fn quantity_or_off<Q: Quantity>(
        &mut self,
        name: &'static str,
        value: &mut Option<Q>,
    ) -> Done {
        self.or_off(name, quantity::<Q>(), value)
    }

    /// A table with what `list` has. Where it is absent, one of its fields may have been written
    /// as `TABLE_FIELD`.
    pub(crate) fn table(
        &mut self,
        name: &'static str,
        list: impl FnOnce(&mut Form<'_>) -> Done,
    ) -> Done {
        match self {
            Form::Read(f) => {
                let Some(inner) = f.table(name)? else {
                    let Some((key, rest)) = f.joined(name) else { return Ok(()) };
                    if Form::described(list).fields.iter().all(|field| field.name != rest) {
                        return Ok(());
                    }
                    let meant = format!("no field of this name; did you mean `{name}.{rest}`?");
                    return Err(f.error(key, meant));
                };
                Form::read_all(&inner, list)
            }
            Form::Write(table) => {
                let mut inner = Form::Write(Table::new());
                list(&mut inner)?;
                table.insert(name.to_owned(), inner.into_value());
                Ok(())
            }
            Form::Describe(_) => {
                let described = Form::described(list);
                let default = defaults(&described);
                self.describe(name, Shape::Table(described), Some(default), "");
                Ok(())
            }
        }
    }

    /// A table with what `list` has, or nothing; `make` gives what it has by default.
    pub(crate) fn optional_table<T>(
        &mut self,
        name: &'static str,
        value: &mut Option<T>,
        make: impl FnOnce() -> T,
        list: impl FnOnce(&mut Form<'_>, &mut T) -> Done,
    ) -> Done {
        match self {
            Form::Read(f) => {
                let Some(inner) = f.table(name)? else { return Ok(()) };
                Form::read_all(&inner, |form| list(form, value.get_or_insert_with(make)))
            }
            Form::Write(table) => {
                let Some(value) = value else { return Ok(()) };
                table.insert(name.to_owned(), Form::written(|form| list(form, value)).into());
                Ok(())
            }
            Form::Describe(_) => {
                let described = Form::described(|form| list(form, &mut make()));
                self.describe(name, Shape::Table(described), None, "none");
                Ok(())
            }
        }
    }

    /// A list of tables; empty when absent. `make` gives what one has by default.
    pub(crate) fn list<T>(
        &mut self,
        name: &'static str,
        values: &mut Vec<T>,
        make: impl Fn() -> T,
        list: impl Fn(&mut Form<'_>, &mut T) -> Done,
    ) -> Done {
        match self {
            Form::Read(f) => {
                for inner in f.tables(name)? {
                    let mut value = make();
                    Form::read_all(&inner, |form| list(form, &mut value))?;
                    values.push(value);
                }
            }
            Form::Write(table) => {
                let one = |value: &mut T| Value::Table(Form::written(|form| list(form, value)));
                table.insert(name.to_owned(), Value::Array(values.iter_mut().map(one).collect()));
            }
            Form::Describe(_) => {
                let described = Form::described(|form| list(form, &mut make()));
                self.describe(name, Shape::Table(described).list(), None, "none");
            }
        }
        Ok(())
    }

    /// The kinds of this table: the field `key` names one of `all`, each with a sentence and what it
    /// has by default, and `list` has the fields of each. `default` is the kind of a table that does
    /// not say it.
    pub(crate) fn kinds<T: Clone>(
        &mut self,
        key: &'static str,
        default: Option<&'static str>,
        all: &[(&'static str, &'static str, T)],
        value: &mut T,
        list: impl Fn(&mut Form<'_>, &mut T) -> Done,
    ) -> Done {
        let name = |value: &T| {
            let of = |kind: &&(&str, &str, T)| discriminant(&kind.2) == discriminant(value);
            all.iter().find(of).map_or("", |kind| kind.0)
        };
        self.kinds_by(key, default, all, value, name, list)
    }

    /// Declares the kinds of this table as [`Form::kinds`] does, where `name` tells which kind a
    /// value is of.
    pub(crate) fn kinds_by<T: Clone>(
        &mut self,
        key: &'static str,
        default: Option<&'static str>,
        all: &[(&'static str, &'static str, T)],
        value: &mut T,
        name: impl Fn(&T) -> &'static str,
        list: impl Fn(&mut Form<'_>, &mut T) -> Done,
    ) -> Done {
        match self {
            Form::Read(f) => {
                let names: Vec<&str> = all.iter().map(|kind| kind.0).collect();
                let given = f.text(key)?.or(default);
                let given = given.ok_or_else(|| f.error(key, names.join(", ")))?;
                let kind = all.iter().find(|kind| kind.0 == given);
                *value = kind.ok_or_else(|| f.error(key, one_of(given, &names)))?.2.clone();
                list(self, value)
            }
            Form::Write(_) => {
                self.name(key, name(value));
                list(self, value)
            }
            Form::Describe(d) => {
                let fields = |of: &T| Form::described(|form| list(form, &mut of.clone())).fields;
                let all = all.iter().map(|(name, says, of)| (*name, *says, fields(of))).collect();
                let default = default.map_or(KindDefault::None, KindDefault::Kind);
                d.table.kinds = Some(shape::Kinds { key, default, all });
                Ok(())
            }
        }
    }

    /// One of `kinds` by its name, or a table with the name in the field `key`
    /// and what `options` lists.
    pub(crate) fn named_table<T: Clone>(
        &mut self,
        name: &'static str,
        key: &'static str,
        kinds: &[(&'static str, T)],
        value: &mut T,
        options: impl Fn(&mut Form<'_>, &mut T) -> Done,
    ) -> Done {
        let of = |kind: &&(&str, T)| discriminant(&kind.1) == discriminant(value);
        let written = kinds.iter().find(of).map_or("", |(kind, _)| kind);
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
                let mut inner = Form::Write(Table::new());
                inner.name(key, written);
                options(&mut inner, value)?;
                table.insert(name.to_owned(), inner.into_value());
                Ok(())
            }
            Form::Describe(_) => {
                let shape = named_shape(key, kinds, options);
                self.describe(name, shape, Some(written.into()), "");
                Ok(())
            }
        }
    }

    /// `true` for the defaults, `false` for nothing, or a table with what
    /// `options` lists.
    pub(crate) fn switch_or_table<T: Default>(
        &mut self,
        name: &'static str,
        value: &mut Option<T>,
        options: impl FnOnce(&mut Form<'_>, &mut T) -> Done,
    ) -> Done {
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
            Form::Describe(_) => {
                let is_on = value.is_some().into();
                let table = Form::described(|form| options(form, &mut T::default()));
                let shape = Shape::Any(vec![Shape::Boolean, Shape::Table(table)]);
                self.describe(name, shape, Some(is_on), "");
                Ok(())
            }
        }
    }

    /// The table that was written.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Form::Write(table) => Value::Table(table),
            _ => Value::Table(Table::new()),
        }
    }
}

/// One of some kinds by name, or as a table with its options.
pub(crate) fn named_shape<T: Clone>(
    key: &'static str,
    kinds: &[(&'static str, T)],
    options: impl Fn(&mut Form<'_>, &mut T) -> Done,
) -> Shape {
    let fields = |of: &T| Form::described(|form| options(form, &mut of.clone())).fields;
    let all = kinds.iter().map(|(name, of)| (*name, "", fields(of))).collect();
    let kinds_of = shape::Kinds { key, default: KindDefault::None, all };
    let table = shape::Table { fields: Vec::new(), kinds: Some(kinds_of) };
    Shape::Any(vec![Shape::words(kinds), Shape::Table(table)])
}

/// The table of the defaults that are values.
fn defaults(table: &shape::Table) -> Value {
    let value = |field: &Field| match &field.default {
        shape::Default::Value(value) => Some((field.name.to_owned(), value.clone())),
        _ => None,
    };
    Value::Table(table.fields.iter().filter_map(value).collect())
}

/// The word for `meaning`.
pub(crate) fn word<T: PartialEq>(words: &[(&str, T)], meaning: &T) -> String {
    words.iter().find(|(_, m)| m == meaning).map_or("", |(word, _)| word).to_owned()
}
