//! Whether chunks are as a script wants them. Order, number and fields of
//! chunks count; a field that is `...`, or not written, does not.
//!
//! Lists that stand for sets are compared as sets: parameters of INIT and INIT
//! ACK, whose order each system has its own of, lists of types, and the streams
//! of FORWARD-TSN, where FreeBSD writes a stream once for each chunk.

use super::Codec;
use super::names::{cause_number, chunk_number, flags, parameter_number, type_of};
use crate::script::{Field, Value};
use std::collections::BTreeSet;

/// Lists whose order does not count, nor how often something is in them.
const SETS: [&str; 2] = ["types", "ids"];

impl Codec<'_> {
    /// Returns the first difference of a chunk, in words; `None` without one.
    pub fn differs(&self, expected: &Value, actual: &Value) -> Option<String> {
        tree_differs(&self.canonical(expected), actual)
    }

    /// A chunk, parameter or cause that the script writes by its number, as
    /// its name has it.
    fn canonical(&self, expected: &Value) -> Value {
        match expected {
            Value::Tree(name, fields) => {
                if name == "CHUNK" && is_closed(expected) {
                    let mut octets = Vec::new();
                    if self.encode_chunk(expected, &mut octets).is_ok() {
                        let len = u16::from_be_bytes([octets[2], octets[3]]) as usize;
                        return self.decode_chunk(&octets[..len.clamp(4, octets.len())]);
                    }
                }
                if matches!(name.as_str(), "PARAMETER" | "CAUSE")
                    && is_closed(expected)
                    && let Some(named) = self.recoded(expected, name == "CAUSE")
                {
                    return named;
                }
                let inner = match cause_number(name) {
                    Some(_) if name.starts_with("UNRE") || name.starts_with("RESTART") => {
                        self.flipped().canonical_fields(fields)
                    }
                    _ => self.canonical_fields(fields),
                };
                Value::Tree(name.clone(), inner)
            }
            Value::List(fields) => Value::List(self.canonical_fields(fields)),
            other => other.clone(),
        }
    }

    fn canonical_fields(&self, fields: &[Field]) -> Vec<Field> {
        let of = |field: &Field| Field { value: self.canonical(&field.value), ..field.clone() };
        fields.iter().map(of).collect()
    }

    /// A parameter or cause, written and read again in a chunk that has some.
    fn recoded(&self, value: &Value, cause: bool) -> Option<Value> {
        let name = if cause { "ERROR" } else { "RECONFIG" };
        let part = Field { name: None, count: None, value: value.clone() };
        let mut octets = Vec::new();
        self.encode_chunk(&Value::Tree(name.into(), vec![part]), &mut octets).ok()?;
        let len = u16::from_be_bytes([octets[2], octets[3]]) as usize;
        let chunk = self.decode_chunk(octets.get(..len)?);
        chunk.fields()?.iter().find(|field| field.name.is_none()).map(|field| field.value.clone())
    }
}

/// Nothing in it is left open.
fn is_closed(value: &Value) -> bool {
    match value {
        Value::Any => false,
        other => other.fields().unwrap_or_default().iter().all(|field| is_closed(&field.value)),
    }
}

/// Names that stand for the same number are the same name.
fn same_name(expected: &str, actual: &str) -> bool {
    let same = |number: fn(&str) -> Option<u16>| {
        let numbers = (number(expected), number(actual));
        matches!(numbers, (Some(a), Some(b)) if a == b)
    };
    let kinds = [chunk_number, parameter_number, cause_number];
    expected == actual || kinds.into_iter().any(same)
}

/// A generic name with its number left open in part: `CHUNK[type=1, val=...]`.
fn is_generic_of(name: &str, expected: &Value, actual: &str) -> bool {
    let (number, field) = match name {
        "CHUNK" => (chunk_number(actual), "type"),
        "PARAMETER" => (parameter_number(actual), "type"),
        "CAUSE" => (cause_number(actual), "code"),
        _ => return false,
    };
    match expected.field(field) {
        None | Some(Value::Any) => true,
        Some(kind) => type_of(kind).is_some() && type_of(kind) == number,
    }
}

fn tree_differs(expected: &Value, actual: &Value) -> Option<String> {
    let (Value::Tree(name, fields), Value::Tree(actual_name, actual_fields)) = (expected, actual)
    else {
        return (expected != actual).then(|| format!("{actual}, not {expected}"));
    };
    if !same_name(name, actual_name) {
        let generic = is_generic_of(name, expected, actual_name);
        return (!generic).then(|| format!("{actual_name}, not {name}"));
    }
    for field in fields {
        let Some(of) = &field.name else { continue };
        let Some(found) = actual.field(of) else {
            if field.value != Value::Any {
                return Some(format!("{name} has no {of}"));
            }
            continue;
        };
        if let Some(difference) = field_differs(of, &field.value, found) {
            return Some(format!("{of} of {name} is {difference}"));
        }
    }
    let nested = |fields: &[Field]| -> Vec<Value> {
        let unnamed = fields.iter().filter(|field| field.name.is_none());
        unnamed.map(|field| field.value.clone()).collect()
    };
    let (wanted, found) = (nested(fields), nested(actual_fields));
    if wanted.contains(&Value::Any) {
        return None;
    }
    match name.as_str() {
        "INIT" | "INIT_ACK" => set_differs(&wanted, &found),
        _ => list_differs(&wanted, &found),
    }
    .map(|difference| format!("{name}: {difference}"))
}

fn field_differs(name: &str, expected: &Value, actual: &Value) -> Option<String> {
    if *expected == Value::Any {
        return None;
    }
    let differs = match (name, expected, actual) {
        ("flgs", ..) => flags(expected) != flags(actual),
        (name, Value::List(wanted), Value::List(found)) if SETS.contains(&name) => {
            let set = |list: &[Field]| -> BTreeSet<String> {
                let of = |field: &Field| match type_of(&field.value) {
                    Some(kind) => kind.to_string(),
                    None => field.value.to_string(),
                };
                list.iter().map(of).collect()
            };
            set(wanted) != set(found)
        }
        (_, Value::List(wanted), Value::List(found)) => {
            let values =
                |list: &[Field]| list.iter().map(|field| field.value.clone()).collect::<Vec<_>>();
            return list_differs(&values(wanted), &values(found));
        }
        (_, Value::Tree(..), Value::Tree(..)) => return tree_differs(expected, actual),
        // Numbers of 32 bits, however they are written.
        (_, Value::Number(a), Value::Number(b)) => *a as u32 != *b as u32,
        _ => expected != actual,
    };
    differs.then(|| format!("{actual}, not {expected}"))
}

fn list_differs(wanted: &[Value], found: &[Value]) -> Option<String> {
    for (expected, actual) in wanted.iter().zip(found) {
        if *expected == Value::Any {
            continue;
        }
        if let Some(difference) = tree_differs(expected, actual) {
            return Some(difference);
        }
    }
    match (found.get(wanted.len()), wanted.get(found.len())) {
        (Some(more), _) => Some(format!("{more} was not expected")),
        (_, Some(missing)) => Some(format!("{missing} is missing")),
        _ => None,
    }
}

fn set_differs(wanted: &[Value], found: &[Value]) -> Option<String> {
    let mut left: Vec<&Value> = found.iter().collect();
    for expected in wanted {
        match left.iter().position(|actual| tree_differs(expected, actual).is_none()) {
            Some(at) => {
                left.remove(at);
            }
            None => return Some(format!("{expected} is missing")),
        }
    }
    left.first().map(|more| format!("{more} was not expected"))
}
