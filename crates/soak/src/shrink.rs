//! Making a scenario small that breaks a promise: what can be left out is left
//! out, and what remains takes a simple value.
//!
//! A greedy search, over the table of the scenario: a change is kept when the
//! smaller scenario still fails in the same way ([`Failure::is_like`]). A change
//! that makes no scenario any more is refused by the schema, and costs nothing.

mod network;
mod simpler;

use crate::failure::Failure;
use crate::judge::judge;
use toml::{Table, Value};

/// A smaller scenario that fails as `failure` says, after `most` runs at most.
/// The text as it is where it is no TOML or does not fail so.
pub fn shrink(text: &str, failure: &Failure, most: usize) -> String {
    let Ok(table) = text.parse::<Table>() else { return text.to_owned() };
    let fails = |table: &Table| {
        let verdict = judge(&table.to_string()).ok()?;
        verdict.failures.iter().any(|item| item.is_like(failure)).then_some(())
    };
    reduce(table, most, fails).map_or(text.to_owned(), |table| table.to_string())
}

/// The smallest table that is found for which `fails` gives something; `None`
/// where the table itself does not.
fn reduce(mut table: Table, most: usize, fails: impl Fn(&Table) -> Option<()>) -> Option<Table> {
    fails(&table)?;
    let mut left = most;
    loop {
        let before = table.clone();
        for pass in [network::reductions, omissions, simpler::replacements] {
            // Positions are those of the table as it was; what has gone or changed is passed over.
            let mut at = 0;
            while let Some(candidate) = pass(&table, at) {
                at += 1;
                if candidate == table {
                    continue;
                }
                if left == 0 {
                    return Some(table);
                }
                left -= 1;
                if fails(&candidate).is_some() {
                    table = candidate;
                    at -= 1;
                }
            }
        }
        if table == before {
            return Some(table);
        }
    }
}

/// The table without its `n`-th part, whole tables before what is in them.
fn omissions(table: &Table, n: usize) -> Option<Table> {
    let mut smaller = table.clone();
    let mut count = n;
    omit(&mut smaller, &mut count).then_some(smaller)
}

fn omit(table: &mut Table, n: &mut usize) -> bool {
    let names: Vec<String> = table.keys().cloned().collect();
    for name in names {
        if *n == 0 {
            table.remove(&name);
            return true;
        }
        *n -= 1;
        if table.get_mut(&name).is_some_and(|value| omit_in(value, n)) {
            return true;
        }
    }
    false
}

fn omit_in(value: &mut Value, n: &mut usize) -> bool {
    match value {
        Value::Table(table) => omit(table, n),
        Value::Array(list) => {
            for i in 0..list.len() {
                if *n == 0 {
                    list.remove(i);
                    return true;
                }
                *n -= 1;
                if omit_in(&mut list[i], n) {
                    return true;
                }
            }
            false
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
