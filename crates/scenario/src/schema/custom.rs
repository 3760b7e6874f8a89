//! Algorithms of the user's own in the fields of all seams: a name with a
//! colon or of a shared library, or a table with such a name and the options of the algorithm.

use crate::InputError;
use crate::fields::Fields;
use crate::nearest;
use crate::shape::{self, Default, Field, Shape};
pub(super) use anabranch_custom::is_own;
use anabranch_custom::{Custom, OptionValue, Options};
use toml::{Table, Value};

/// The field that holds the digest of the source.
const SOURCE: &str = "source";

/// The regular expression of what [`is_own`] takes.
const OWN: &str = r":|\.(so|dylib|dll)$";

/// What is allowed beside the names of a seam.
pub(super) const ALLOWED: &str = "FILE.py:CLASS";

/// What a field of a seam may be: what `known` says, or the name of an algorithm of the user's own, also
/// in a table with the name in `key` and the options of the algorithm.
pub(super) fn or_own(key: &'static str, known: Shape) -> Shape {
    let mut shapes = match known {
        Shape::Any(shapes) => shapes,
        one => vec![one],
    };
    shapes.extend([Shape::Pattern(OWN), Shape::Open(custom_table(key))]);
    Shape::Any(shapes)
}

/// A table that names an algorithm of the user's own in `key`; other fields are its options.
pub(super) fn custom_table(key: &'static str) -> shape::Table {
    let field = |name, says, default, shape| Field { name, says, default, shape };
    let name = "file and class of an algorithm of your own, [`FILE.py:CLASS`](your-algorithm.md); a window \
                algorithm may be a shared library, `FILE.so`";
    let source =
        "digest of the file that is meant (SHA-256, 16 digits); a run with another is refused";
    let fields = vec![
        field(key, name, Default::Required, Shape::Pattern(OWN)),
        field(SOURCE, source, Default::Words("any"), Shape::Text),
    ];
    shape::Table { fields, kinds: None }
}

/// The names of a seam, that there may be the user's own, and which of them `word` was probably meant to be.
pub(super) fn names(word: Option<&Value>, known: impl IntoIterator<Item = &'static str>) -> String {
    let all: Vec<_> = known.into_iter().chain([ALLOWED]).collect();
    nearest::one_of(word.and_then(Value::as_str).unwrap_or_default(), &all)
}

/// The field `field`, where it names an algorithm of the user's own; a table
/// has the name in `key`. `None` where it names none.
pub(super) fn read<F: ?Sized>(
    f: &Fields<'_>,
    field: &'static str,
    key: &'static str,
) -> Result<Option<Box<Custom<F>>>, InputError> {
    match f.get(field) {
        Some(Value::String(name)) if is_own(name) => {
            Ok(Some(Box::new(Custom::new(name, None, Options::new()))))
        }
        Some(Value::Table(table)) => {
            let inner = Fields::new(f.path(field), table);
            let Some(name) = inner.get(key).and_then(Value::as_str).filter(|item| is_own(item))
            else {
                return Ok(None);
            };
            read_table(&inner, name, &[]).map(Some)
        }
        _ => Ok(None),
    }
}

/// The algorithm called `name`, whose options stand in a table among the
/// fields `others` of its seam.
pub(super) fn read_table<F: ?Sized>(
    f: &Fields<'_>,
    name: &str,
    others: &[&str],
) -> Result<Box<Custom<F>>, InputError> {
    let source = f.text(SOURCE)?;
    let options = f.rest().filter(|(key, _)| !others.contains(key));
    let option = |(key, value): (&str, &Value)| {
        let value = match value {
            Value::Boolean(boolean) => OptionValue::Boolean(*boolean),
            Value::Integer(integer) => OptionValue::Integer(*integer),
            Value::Float(float) => OptionValue::Number(*float),
            Value::String(string) => OptionValue::Text(string.clone()),
            _ => return Err(f.error(key, "true, false, a number or a text")),
        };
        Ok((key.to_owned(), value))
    };
    let options = options.map(option).collect::<Result<Options, _>>()?;
    Ok(Box::new(Custom::new(name, source, options)))
}

/// Puts the algorithm into a table, its name in `key`.
pub(super) fn put<F: ?Sized>(table: &mut Table, key: &str, custom: &Custom<F>) {
    table.insert(key.into(), custom.name().into());
    if let Some(source) = custom.source() {
        table.insert(SOURCE.into(), source.into());
    }
    for (name, value) in custom.options() {
        let value = match value {
            OptionValue::Boolean(boolean) => (*boolean).into(),
            OptionValue::Integer(integer) => (*integer).into(),
            OptionValue::Number(number) => (*number).into(),
            OptionValue::Text(text) => text.as_str().into(),
        };
        table.insert(name.clone(), value);
    }
}

/// The table that [`read`] reads as the same.
pub(super) fn write<F: ?Sized>(custom: &Custom<F>, key: &str) -> Value {
    let mut table = Table::new();
    put(&mut table, key, custom);
    Value::Table(table)
}
