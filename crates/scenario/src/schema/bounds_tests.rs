//! Readers and engines refuse by the same bounds: the engines by themselves, too.

use super::impairment::Impairment;
use super::{impairment, mptcp, queue, sctp, tcp};
use crate::InputError;
use crate::fields::{Fields, LENIENT};
use crate::shape::{self, Shape};
use std::ops::Bound;
use toml::{Table, Value};

/// Values just outside what a field of this shape may be.
fn outside(shape: &Shape) -> Vec<Value> {
    match shape {
        Shape::Integer(least, most) => {
            let ends = [least.checked_sub(1), most.checked_add(1)];
            ends.into_iter().flatten().map(Value::Integer).collect()
        }
        Shape::Number(bounds) => {
            let end = |bound, step| match bound {
                Bound::Included(end) => Some(end + step),
                Bound::Excluded(end) => Some(end),
                Bound::Unbounded => None,
            };
            let ends = [end(bounds.least(), -1.0), end(bounds.most(), 1.0)];
            ends.into_iter().flatten().map(Value::Float).collect()
        }
        Shape::Any(shapes) => shapes.iter().flat_map(outside).collect(),
        Shape::Named(_, shape) => outside(shape),
        _ => Vec::new(),
    }
}

/// The tables that a field of this shape may be.
fn tables(shape: &Shape) -> Vec<&shape::Table> {
    match shape {
        Shape::Table(table) => vec![table],
        Shape::Any(shapes) => shapes.iter().flat_map(tables).collect(),
        Shape::Named(_, shape) => tables(shape),
        _ => Vec::new(),
    }
}

/// Tables of which one field is just outside, with its path. Options of window algorithms are left
/// out, which have no engine but the list that their reader asks.
fn strays(table: &shape::Table) -> Vec<(Table, String)> {
    let mut found = Vec::new();
    let of = |fields: &[shape::Field], kind: Option<(&str, &str)>| {
        let mut found = Vec::new();
        for field in fields.iter().filter(|field| field.name != "window") {
            let single = |value| Table::from_iter([(field.name.to_owned(), value)]);
            let here = outside(&field.shape).into_iter();
            found.extend(here.map(|value| (single(value), field.name.to_owned())));
            for (inner, path) in tables(&field.shape).into_iter().flat_map(strays) {
                found.push((single(inner.into()), format!("{}.{path}", field.name)));
            }
        }
        for (table, _) in &mut found {
            table.extend(kind.map(|(key, name)| (key.to_owned(), name.into())));
        }
        found
    };
    found.extend(of(&table.fields, None));
    if let Some(kinds) = &table.kinds {
        for (name, _, fields) in &kinds.all {
            found.extend(of(fields, Some((kinds.key, name))));
        }
    }
    found
}

/// Every field of the table is refused outside its bounds by its name, whether the reader knows
/// them or leaves them to the engine. Returns how many values were tried.
fn refuses(shape: &Shape, read: impl Fn(&Table) -> Option<InputError>) -> usize {
    let all: Vec<_> = tables(shape).into_iter().flat_map(strays).collect();
    for (table, path) in &all {
        for lenient in [false, true] {
            LENIENT.set(lenient);
            let error = read(table);
            LENIENT.set(false);
            let error = error.unwrap_or_else(|| panic!("{table} is taken, lenient: {lenient}"));
            assert_eq!(error.field, format!("t.{path}"), "{table}: {error}");
        }
    }
    all.len()
}

#[test]
fn tcp_refuses_what_its_reader_refuses() {
    assert!(refuses(&tcp::shape(), |table| tcp::read(Fields::new("t", table)).err()) > 30);
}

#[test]
fn sctp_refuses_what_its_reader_refuses() {
    let read = |table: &Table| sctp::read(Some(&Fields::new("t", table))).err();
    assert!(refuses(&sctp::shape(), read) > 20);
}

#[test]
fn multipath_tcp_refuses_what_its_reader_refuses() {
    let read = |table: &Table| {
        let flow = Table::new();
        let (flow, fields) = (Fields::new("", &flow), Fields::new("t", table));
        let error = mptcp::read(&flow, Some(&fields), Default::default()).err()?;
        Some(InputError { field: error.field.replace("mptcp.", "t."), ..error })
    };
    assert!(refuses(&mptcp::shape(), read) > 10);
}

#[test]
fn queues_refuse_what_their_reader_refuses() {
    let read = |table: &Table| {
        let outer = Table::from_iter([("queue".to_owned(), table.clone().into())]);
        let error = queue::read(&Fields::new("", &outer)).err()?;
        Some(InputError { field: error.field.replace("queue.", "t."), ..error })
    };
    assert!(refuses(&queue::shape(), read) > 50);
}

#[test]
fn impairments_refuse_what_their_reader_refuses() {
    let usual: Table = "rate = 0.1\np = 0.1\nr = 0.1\nber = 0.1\nevery = 1\nprobability = 0.1\n\
                        extra = \"1 s\"\ndistance = 1\nmean = \"1 s\"\nburst = \"1 B\"\nrewrite_sequence = 1"
        .parse()
        .expect("required fields");
    let shape = impairment::shape();
    let known = |kind: &Value| -> Vec<&str> {
        let kinds = tables(&shape).into_iter().filter_map(|table| table.kinds.as_ref());
        let all = kinds.flat_map(|kinds| &kinds.all);
        let fields = all.filter(|(name, ..)| Some(*name) == kind.as_str()).flat_map(|it| &it.2);
        fields.map(|field| field.name).collect()
    };
    let read = |table: &Table| {
        let mut table = table.clone();
        let names = known(&table["kind"]);
        for (name, value) in usual.iter().filter(|(name, _)| names.contains(&name.as_str())) {
            table.entry(name).or_insert_with(|| value.clone());
        }
        let list = Value::Array(vec![table.into()]);
        let outer = Table::from_iter([("impairments".to_owned(), list)]);
        let mut all: Vec<Impairment> = Vec::new();
        let fields = Fields::new("", &outer);
        let error = super::form::Form::read_all(&fields, |form| impairment::list(form, &mut all));
        let error = error.err()?;
        Some(InputError { field: error.field.replace("impairments[0].", "t."), ..error })
    };
    assert!(refuses(&shape, read) > 20);
}
