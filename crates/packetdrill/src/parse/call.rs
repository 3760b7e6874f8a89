//! Socket calls and values.

use super::cursor::{Cursor, is_word};
use super::error::Parsed;
use crate::script::{Call, Field, Value};

pub(super) fn call(c: &mut Cursor<'_>) -> Parsed<Call> {
    let name = c.word("the name of a call")?.to_owned();
    c.expect("(")?;
    let arguments = values(c, ")")?;
    c.expect("=")?;
    let result = value(c)?;
    let failed = result == Value::Number(-1);
    let is_symbol = c.peek_word().starts_with('E');
    let errno = (failed && is_symbol).then(|| c.word("an error").map(str::to_owned)).transpose()?;
    let note = match c.take("(") {
        true => Some(c.until(")")?.to_owned()),
        false => None,
    };
    Ok(Call { name, arguments, result, errno, note })
}

/// Values up to `close`, which is taken.
fn values(c: &mut Cursor<'_>, close: &str) -> Parsed<Vec<Value>> {
    c.within(|c| listed(c, close, value))
}

/// What `read` reads, with commas between, up to `close`.
fn listed<T>(
    c: &mut Cursor<'_>,
    close: &str,
    read: impl Fn(&mut Cursor<'_>) -> Parsed<T>,
) -> Parsed<Vec<T>> {
    let mut values = Vec::new();
    if c.take(close) {
        return Ok(values);
    }
    loop {
        values.push(read(c)?);
        if c.take(close) {
            return Ok(values);
        }
        if !c.take(",") {
            return c.fail(format!("`,` or `{close}`"));
        }
    }
}

/// Parts of a list or structure up to `close`, which is taken.
pub(super) fn fields(c: &mut Cursor<'_>, close: &str) -> Parsed<Vec<Field>> {
    c.within(|c| listed(c, close, field))
}

pub(super) fn field(c: &mut Cursor<'_>) -> Parsed<Field> {
    let before = c.clone();
    let name = c.peek_word();
    if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let is_defined = c.defined().is_some();
        c.word("a name")?;
        let mut inside = match c.take("(") {
            true => Some(values(c, ")")?),
            false => None,
        };
        if c.peek() == Some('=') {
            c.expect("=")?;
            let count = inside.as_mut().and_then(Vec::pop);
            let value = match name {
                "addr" => plain_address(c).map_or_else(|| value(c), Ok)?,
                _ => value(c)?,
            };
            return Ok(Field { name: Some(name.to_owned()), count, value });
        }
        if let Some(arguments) = inside.filter(|_| !is_defined) {
            let value = alternatives(c, Value::Call(name.to_owned(), arguments))?;
            return Ok(Field { name: None, count: None, value });
        }
    }
    *c = before;
    Ok(Field { name: None, count: None, value: value(c)? })
}

/// An IPv4 or IPv6 address as SCTP's parameters write it, without quotes.
fn plain_address(c: &mut Cursor<'_>) -> Option<Value> {
    let before = c.clone();
    c.skip_space();
    let text = c.take_while(|c| c.is_ascii_hexdigit() || c == '.' || c == ':');
    match text.parse::<std::net::IpAddr>() {
        Ok(_) => Some(Value::Word(text.to_owned())),
        Err(_) => {
            *c = before;
            None
        }
    }
}

/// A value, or several with `|` between them.
pub(super) fn value(c: &mut Cursor<'_>) -> Parsed<Value> {
    let first = single(c)?;
    alternatives(c, first)
}

/// The values that stand behind `first` with `|` between.
fn alternatives(c: &mut Cursor<'_>, first: Value) -> Parsed<Value> {
    if c.peek() != Some('|') {
        return Ok(first);
    }
    let mut all = vec![first];
    while c.take("|") {
        all.push(single(c)?);
    }
    Ok(Value::Or(all))
}

fn single(c: &mut Cursor<'_>) -> Parsed<Value> {
    if c.take("...") {
        return Ok(Value::Any);
    }
    if c.at_number() {
        let n = c.number("a number")?;
        return Ok(match c.rest().starts_with(':') {
            true => {
                c.expect(":")?;
                Value::Range(n, c.number("the end of a range")?)
            }
            false => Value::Number(n),
        });
    }
    match c.peek() {
        Some('"') => {
            c.expect("\"")?;
            Ok(Value::Text(c.until("\"")?.to_owned()))
        }
        Some('[') => {
            c.expect("[")?;
            Ok(Value::List(fields(c, "]")?))
        }
        Some('{') => {
            c.expect("{")?;
            Ok(Value::Struct(fields(c, "}")?))
        }
        Some(first) if is_word(first) => symbol(c),
        _ => c.fail("a value"),
    }
}

fn symbol(c: &mut Cursor<'_>) -> Parsed<Value> {
    if let Some(text) = c.defined().map(str::to_owned) {
        c.word("a word")?;
        return Ok(match text.parse() {
            Ok(n) => Value::Number(n),
            Err(_) => Value::Word(text),
        });
    }
    let word = c.word("a word")?.to_owned();
    if c.take("(") {
        return Ok(Value::Call(word, values(c, ")")?));
    }
    if c.take("[") {
        return Ok(Value::Tree(word, fields(c, "]")?));
    }
    Ok(Value::Word(word))
}
