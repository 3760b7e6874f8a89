//! Kinds of values: how each is described, read and written. A field of a table is one of these with
//! a name.

use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use crate::shape::Shape;
use anabranch_endpoint::Bounds;
use anabranch_units::Bytes;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Bound;
use toml::Value;

/// A kind of value that a field may have.
pub(crate) trait Kind {
    /// The type of the values in the program.
    type Value;

    /// Returns the shape of the values in TOML.
    fn shape(&self) -> Shape;

    /// The field `name`, where there is one.
    ///
    /// # Errors
    /// It holds something else.
    fn read(&self, f: &Fields<'_>, name: &'static str) -> Result<Option<Self::Value>, InputError>;

    /// The value as [`read`](Kind::read) reads it.
    fn write(&self, value: &Self::Value) -> Value;

    /// The value as a description tells it as a default.
    fn default(&self, value: &Self::Value) -> Value {
        self.write(value)
    }
}

/// The kind of `true` and `false`.
pub(crate) struct Boolean;

impl Kind for Boolean {
    type Value = bool;

    fn shape(&self) -> Shape {
        Shape::Boolean
    }

    fn read(&self, f: &Fields<'_>, name: &'static str) -> Result<Option<bool>, InputError> {
        f.boolean(name)
    }

    fn write(&self, value: &bool) -> Value {
        (*value).into()
    }
}

/// A whole number within bounds. Only a type as wide as the numbers of TOML goes without an end.
pub(crate) struct Integer<N>(Bounds<N>);

/// A whole number within these bounds: a constant of the engine that owns the setting, or a range
/// where scenarios own it.
pub(crate) fn integer<N>(bounds: impl Into<Bounds<N>>) -> Integer<N> {
    Integer(bounds.into())
}

/// What the numbers of TOML are converted from and to.
fn to_i64<N: TryInto<i64>>(n: N) -> i64 {
    n.try_into().unwrap_or(i64::MAX)
}

impl<N> Kind for Integer<N>
where
    N: TryFrom<i64> + TryInto<i64> + PartialOrd + Display + Copy,
{
    type Value = N;

    fn shape(&self) -> Shape {
        let least = match self.0.least() {
            Bound::Included(n) => to_i64(n),
            Bound::Excluded(n) => to_i64(n).saturating_add(1),
            Bound::Unbounded => i64::MIN,
        };
        let most = match self.0.most() {
            Bound::Included(n) => to_i64(n),
            Bound::Excluded(n) => to_i64(n).saturating_sub(1),
            Bound::Unbounded => i64::MAX,
        };
        Shape::Integer(least, most)
    }

    fn read(&self, f: &Fields<'_>, name: &'static str) -> Result<Option<N>, InputError> {
        f.integer(name, self.0)
    }

    fn write(&self, value: &N) -> Value {
        Value::Integer(to_i64(*value))
    }
}

/// The kind of numbers from 0 to 1.
pub(crate) struct Probability;

impl Kind for Probability {
    type Value = f64;

    fn shape(&self) -> Shape {
        Shape::share()
    }

    fn read(&self, f: &Fields<'_>, name: &'static str) -> Result<Option<f64>, InputError> {
        f.probability(name)
    }

    fn write(&self, value: &f64) -> Value {
        Value::Float(*value)
    }
}

/// A number within bounds.
pub(crate) struct Number(Bounds<f64>);

/// A number within these bounds.
pub(crate) fn number(bounds: impl Into<Bounds<f64>>) -> Number {
    Number(bounds.into())
}

impl Kind for Number {
    type Value = f64;

    fn shape(&self) -> Shape {
        Shape::Number(self.0)
    }

    fn read(&self, f: &Fields<'_>, name: &'static str) -> Result<Option<f64>, InputError> {
        f.number(name, self.0)
    }

    fn write(&self, value: &f64) -> Value {
        Value::Float(*value)
    }
}

/// A quantity with its unit.
pub(crate) struct Measure<Q>(PhantomData<Q>);

/// A quantity of this unit.
pub(crate) fn quantity<Q: Quantity>() -> Measure<Q> {
    Measure(PhantomData)
}

/// What a quantity is in TOML.
pub(crate) fn quantity_shape<Q: Quantity>() -> Shape {
    Shape::Quantity { pattern: Q::PATTERN, example: Q::EXAMPLE }
}

impl<Q: Quantity> Kind for Measure<Q> {
    type Value = Q;

    fn shape(&self) -> Shape {
        quantity_shape::<Q>()
    }

    fn read(&self, f: &Fields<'_>, name: &'static str) -> Result<Option<Q>, InputError> {
        f.quantity(name)
    }

    fn write(&self, value: &Q) -> Value {
        value.write().into()
    }
}

/// A number of octets, which the program keeps as a plain number.
pub(crate) struct Octets<N> {
    /// The engine's bounds, if its type says not all.
    bounds: Option<Bounds<Bytes>>,
    number: PhantomData<N>,
}

/// A number of octets that fits the type.
pub(crate) fn octets<N>() -> Octets<N> {
    Octets { bounds: None, number: PhantomData }
}

/// A number of octets within these bounds.
pub(crate) fn octets_in<N>(bounds: Bounds<Bytes>) -> Octets<N> {
    Octets { bounds: Some(bounds), number: PhantomData }
}

impl<N: TryFrom<u64> + Into<u64> + Copy> Kind for Octets<N> {
    type Value = N;

    fn shape(&self) -> Shape {
        quantity_shape::<Bytes>()
    }

    fn read(&self, f: &Fields<'_>, name: &'static str) -> Result<Option<N>, InputError> {
        let Some(octets) = f.quantity::<Bytes>(name)? else { return Ok(None) };
        if let Some(bounds) = self.bounds {
            f.within(name, bounds, octets)?;
        }
        let most = || format!("0 B to {}", Bytes(u64::MAX >> (64 - 8 * size_of::<N>())));
        N::try_from(octets.0).map(Some).map_err(|_| f.error(name, most()))
    }

    fn write(&self, value: &N) -> Value {
        Bytes((*value).into()).write().into()
    }
}

/// One of a closed set of words.
pub(crate) struct Choice<'a, T>(pub &'a [(&'a str, T)]);

impl<T: Clone + PartialEq> Kind for Choice<'_, T> {
    type Value = T;

    fn shape(&self) -> Shape {
        Shape::words(self.0)
    }

    fn read(&self, f: &Fields<'_>, name: &'static str) -> Result<Option<T>, InputError> {
        f.choice(name, self.0)
    }

    fn write(&self, value: &T) -> Value {
        super::word(self.0, value).into()
    }
}

/// The kind of any text.
pub(crate) struct Text;

impl Kind for Text {
    type Value = String;

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn read(&self, f: &Fields<'_>, name: &'static str) -> Result<Option<String>, InputError> {
        Ok(f.text(name)?.map(str::to_owned))
    }

    fn write(&self, value: &String) -> Value {
        value.as_str().into()
    }
}

/// The kind of lists of texts.
pub(crate) struct Texts;

impl Kind for Texts {
    type Value = Vec<String>;

    fn shape(&self) -> Shape {
        Shape::Text.list()
    }

    fn read(&self, f: &Fields<'_>, name: &'static str) -> Result<Option<Vec<String>>, InputError> {
        f.texts(name)
    }

    fn write(&self, value: &Vec<String>) -> Value {
        Value::Array(value.iter().map(|text| text.as_str().into()).collect())
    }
}

/// A kind of its own, from its shape and how it is read and written. The shape is made when it is
/// asked for: who reads or writes a scenario needs none.
pub(crate) struct By<T, S, R, W> {
    shape: S,
    read: R,
    write: W,
    shown: fn(&T) -> Option<Value>,
}

/// Makes a kind from its shape, its reader and its writer.
pub(crate) fn by<T, S, R, W>(shape: S, read: R, write: W) -> By<T, S, R, W>
where
    S: Fn() -> Shape,
    R: Fn(&Fields<'_>, &'static str) -> Result<Option<T>, InputError>,
    W: Fn(&T) -> Value,
{
    By { shape, read, write, shown: |_| None }
}

impl<T, S, R, W> By<T, S, R, W> {
    /// Tells the default by the name that `shown` gives, not by all that it means.
    pub(crate) fn shown(self, shown: fn(&T) -> Option<Value>) -> By<T, S, R, W> {
        By { shown, ..self }
    }
}

impl<T, S, R, W> Kind for By<T, S, R, W>
where
    S: Fn() -> Shape,
    R: Fn(&Fields<'_>, &'static str) -> Result<Option<T>, InputError>,
    W: Fn(&T) -> Value,
{
    type Value = T;

    fn shape(&self) -> Shape {
        (self.shape)()
    }

    fn read(&self, f: &Fields<'_>, name: &'static str) -> Result<Option<T>, InputError> {
        (self.read)(f, name)
    }

    fn write(&self, value: &T) -> Value {
        (self.write)(value)
    }

    fn default(&self, value: &T) -> Value {
        (self.shown)(value).unwrap_or_else(|| self.write(value))
    }
}

/// A list of tables, each of which is read and written as a whole; none when absent.
pub(crate) fn tables<T>(
    each: impl Fn() -> Shape,
    read: impl Fn(&Fields<'_>) -> Result<T, InputError>,
    write: impl Fn(&T) -> toml::Table,
) -> impl Kind<Value = Vec<T>> {
    let read = move |f: &Fields<'_>, name: &'static str| {
        f.tables(name)?.iter().map(&read).collect::<Result<Vec<T>, _>>().map(Some)
    };
    let write = move |all: &Vec<T>| Value::Array(all.iter().map(|one| write(one).into()).collect());
    by(move || each().list(), read, write)
}
