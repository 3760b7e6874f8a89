//! What a scenario may hold, as data: the fields of each table with their kinds, ranges, defaults and
//! sentences. The lists of options in [`crate::schema`] describe themselves in these terms, and
//! [`crate::json_schema`] writes them down.

use toml::Value;

/// A field of a table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Field {
    /// The name in TOML.
    pub name: &'static str,
    /// What it means: a sentence or more, in Markdown with links from docs/.
    pub says: &'static str,
    /// What an absent field means.
    pub default: Default,
    /// What it may hold.
    pub shape: Shape,
}

/// What an absent field means.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Default {
    /// The field must be there.
    Required,
    /// The same as this value.
    Value(Value),
    /// No value says it; these words do.
    Words(&'static str),
}

/// What a value may be.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Shape {
    /// `true` or `false`.
    Boolean,
    /// This value alone.
    Only(Value),
    /// A whole number within the bounds.
    Integer(i64, i64),
    /// A number within the bounds, which belong to it.
    Number(f64, f64),
    /// A text.
    Text,
    /// A text that a regular expression describes.
    Pattern(&'static str),
    /// A number with its unit, as a text.
    Quantity {
        /// The regular expression of its texts.
        pattern: &'static str,
        /// One such text.
        example: &'static str,
    },
    /// One of these words.
    Words(Vec<String>),
    /// A list of such values.
    List(Box<Shape>),
    /// A list with one value for each of these shapes.
    Tuple(Vec<Shape>),
    /// A table.
    Table(Table),
    /// A table with these fields and any others.
    Open(Table),
    /// What one of these describes.
    Any(Vec<Shape>),
    /// A shape that stands in several places, by its name.
    Named(&'static str, Box<Shape>),
}

/// The fields of a table, of which some may depend on the value of one.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Table {
    /// Fields of every such table, in the order in which they are declared.
    pub fields: Vec<Field>,
    /// Fields that it has by its kind.
    pub kinds: Option<Kinds>,
}

/// The kinds of a table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Kinds {
    /// The field that names the kind.
    pub key: &'static str,
    /// The kind of a table that does not say it.
    pub default: KindDefault,
    /// The name of each kind, a sentence about it and its fields.
    pub all: Vec<(&'static str, &'static str, Vec<Field>)>,
}

/// The kind of a table that does not say it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KindDefault {
    /// The table must say it.
    None,
    /// This one.
    Kind(&'static str),
    /// One that another field decides, so that the fields of any may be there.
    Any,
}

impl Shape {
    /// A list of such values.
    pub fn list(self) -> Shape {
        Shape::List(Box::new(self))
    }

    /// The same under a name.
    pub fn named(self, name: &'static str) -> Shape {
        Shape::Named(name, Box::new(self))
    }

    /// Also `false`.
    pub fn or_false(self) -> Shape {
        Shape::Any(vec![self, Shape::Only(Value::Boolean(false))])
    }

    /// One word.
    pub fn word(word: &str) -> Shape {
        Shape::Words(vec![word.to_owned()])
    }

    /// One of the words of a list of words with their meanings.
    pub fn words<T>(choices: &[(&str, T)]) -> Shape {
        Shape::Words(choices.iter().map(|(word, _)| (*word).to_owned()).collect())
    }
}
