//! Values that are simpler than others of their kind: rounder, smaller.

use toml::{Table, Value};

/// The table with its `n`-th simpler value.
pub(super) fn replacements(table: &Table, n: usize) -> Option<Table> {
    let mut changed = table.clone();
    let mut count = n;
    change(&mut changed, &mut count).then_some(changed)
}

fn change(table: &mut Table, n: &mut usize) -> bool {
    table.iter_mut().any(|(_, value)| change_in(value, n))
}

fn change_in(value: &mut Value, n: &mut usize) -> bool {
    match value {
        Value::Table(table) => change(table, n),
        Value::Array(list) => list.iter_mut().any(|value| change_in(value, n)),
        _ => {
            let simpler = simpler(value);
            if *n < simpler.len() {
                *value = simpler.into_iter().nth(*n).expect("it is one of them");
                return true;
            }
            *n -= simpler.len();
            false
        }
    }
}

/// What may stand in its place, the simplest first.
fn simpler(value: &Value) -> Vec<Value> {
    match value {
        Value::Integer(n) => numbers(n.unsigned_abs()).map(|n| Value::Integer(n as i64)).collect(),
        Value::Float(x) => {
            let rounded = [0.0, 1.0, 0.5, (x * 10.0).round() / 10.0, (x * 100.0).round() / 100.0];
            let simple = |item: f64| item != *x && digits(item) < digits(*x);
            rounded.into_iter().filter(|rounded| simple(*rounded)).map(Value::Float).collect()
        }
        Value::String(text) => {
            let Some((number, unit)) = text.split_once(' ') else { return Vec::new() };
            let Ok(number) = number.parse::<u64>() else { return Vec::new() };
            let written = |n| Value::String(format!("{n} {unit}"));
            let mut all: Vec<Value> = numbers(number).map(written).collect();
            // A larger unit for what is whole in it.
            let larger = [("us", "ms", 1000), ("ms", "s", 1000), ("B", "kB", 1000)];
            let larger = larger.into_iter().chain([
                ("bit/s", "kbit/s", 1000),
                ("kbit/s", "Mbit/s", 1000),
                ("Mbit/s", "Gbit/s", 1000),
            ]);
            for (small, large, times) in larger {
                if unit == small && number > 0 && number.is_multiple_of(times) {
                    all.insert(0, Value::String(format!("{} {large}", number / times)));
                }
            }
            all
        }
        _ => Vec::new(),
    }
}

/// Smaller numbers, and rounder ones of about the same size.
fn numbers(n: u64) -> impl Iterator<Item = u64> {
    let scale = 10_u64.pow(n.checked_ilog10().unwrap_or(0));
    let round = n / scale * scale;
    let finer = (scale / 10).max(1);
    let rounder = n / finer * finer;
    let mut all = vec![0, 1, scale, round, n / 2, rounder];
    all.retain(|item| *item < n);
    all.dedup();
    all.into_iter()
}

/// Digits that it is written with.
fn digits(x: f64) -> usize {
    x.to_string().len()
}
