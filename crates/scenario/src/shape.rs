//! What a scenario may hold, as data: the fields of each table with their kinds, ranges, defaults and
//! sentences. The lists of options in [`crate::schema`] describe themselves in these terms, and
//! [`crate::json_schema`] writes them down.

use anabranch_endpoint::Bounds;
use toml::Value;

/// A field of a table, as the schema and docs/scenario.md describe it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Field {
    /// The name of the field in TOML.
    pub name: &'static str,
    /// What it means: a sentence or more, in Markdown with links from docs/.
    pub says: &'static str,
    /// What an absent field means.
    pub default: Default,
    /// The values that it may hold.
    pub shape: Shape,
}

/// What an absent field means.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Default {
    /// The field must be there.
    Required,
    /// An absent field has this value.
    Value(Value),
    /// No value says it; these words do.
    Words(&'static str),
}

/// The set of values that a field may hold.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Shape {
    /// The values `true` and `false`.
    Boolean,
    /// One value and no other.
    Only(Value),
    /// A whole number within the bounds.
    Integer(i64, i64),
    /// A number within these bounds.
    Number(Bounds<f64>),
    /// Any text in quotes.
    Text,
    /// A text that a regular expression describes.
    Pattern(&'static str),
    /// A number with its unit, as a text.
    Quantity {
        /// The regular expression of its texts.
        pattern: &'static str,
        /// A text that is such a quantity.
        example: &'static str,
    },
    /// One of these words.
    Words(Vec<String>),
    /// A list of values of this shape.
    List(Box<Shape>),
    /// A list with one value for each of these shapes.
    Tuple(Vec<Shape>),
    /// A table with these fields.
    Table(Table),
    /// A table with these fields and any others.
    Open(Table),
    /// A value of any one of these shapes.
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

/// The kinds of a table, each with fields of its own.
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
    /// The table must name its kind.
    None,
    /// The table is of this kind.
    Kind(&'static str),
    /// One that another field decides, so that the fields of any may be there.
    Any,
}

impl Shape {
    /// Makes the shape of lists of such values.
    pub fn list(self) -> Shape {
        Shape::List(Box::new(self))
    }

    /// Makes the shape of numbers from 0 to 1.
    pub fn share() -> Shape {
        Shape::Number(Bounds::of(0.0, 1.0))
    }

    /// Gives the shape a name, under which it stands once.
    pub fn named(self, name: &'static str) -> Shape {
        Shape::Named(name, Box::new(self))
    }

    /// Allows `false` beside the shape.
    pub fn or_false(self) -> Shape {
        Shape::Any(vec![self, Shape::Only(Value::Boolean(false))])
    }

    /// Makes the shape of one word.
    pub fn word(word: &str) -> Shape {
        Shape::Words(vec![word.to_owned()])
    }

    /// One of the words of a list of words with their meanings.
    pub fn words<T>(choices: &[(&str, T)]) -> Shape {
        Shape::Words(choices.iter().map(|(word, _)| (*word).to_owned()).collect())
    }
}
