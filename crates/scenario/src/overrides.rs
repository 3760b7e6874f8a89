//! Changing a field from outside: `flows.0.tcp.recovery=fack`.
//!
//! The key is a path of names and indices with dots. An element of a list is
//! meant by its index, by its name (`flows.web.size`; a link without a name
//! by its ends, `links.a-r.delay`), or `*` means all of them. The value is
//! TOML (`true`, `3`, `"10 ms"`, `{ … }`); what is not is taken as a text, so
//! that `delay=10 ms` needs no quotes.

use crate::InputError;
use toml::{Table, Value};

/// Applies one `key=value` to the table of a scenario.
pub fn apply(root: &mut Table, text: &str) -> Result<(), InputError> {
    let allowed = "KEY=VALUE such as flows.0.tcp.recovery=fack";
    let (key, value) =
        text.split_once('=').ok_or_else(|| InputError::field("--set", text, allowed))?;
    set(root, key.trim(), value.trim())
}

/// Sets the field at the dotted path `key`.
pub fn set(root: &mut Table, key: &str, value: &str) -> Result<(), InputError> {
    let steps: Vec<&str> = key.split('.').collect();
    if steps.iter().any(|step| step.is_empty()) {
        return Err(InputError::field(key, value, "a path such as flows.0.tcp.recovery"));
    }
    let failed = |problem: String| InputError::field(key, value, problem);
    set_in_table(root, &steps, &parse_value(value)).map_err(failed)
}

/// TOML if it is, else a text.
fn parse_value(text: &str) -> Value {
    let document: Result<Table, _> = format!("value = {text}").parse();
    match document {
        Ok(mut table) if table.len() == 1 => {
            table.remove("value").unwrap_or_else(|| Value::String(text.to_owned()))
        }
        _ => Value::String(text.to_owned()),
    }
}

fn set_in_table(table: &mut Table, steps: &[&str], value: &Value) -> Result<(), String> {
    match steps {
        [] => Ok(()),
        [last] => {
            table.insert((*last).to_owned(), value.clone());
            Ok(())
        }
        [first, rest @ ..] => {
            let inner = table.entry(*first).or_insert_with(|| Value::Table(Table::new()));
            set_in_value(inner, first, rest, value)
        }
    }
}

fn set_in_value(
    target: &mut Value,
    name: &str,
    steps: &[&str],
    value: &Value,
) -> Result<(), String> {
    match target {
        Value::Table(table) => set_in_table(table, steps, value),
        Value::Array(items) => set_in_list(items, name, steps, value),
        // A word may stand for a table, as in recovery = "sack".
        _ => {
            let mut table = Table::new();
            set_in_table(&mut table, steps, value)?;
            *target = Value::Table(table);
            Ok(())
        }
    }
}

fn set_in_list(
    items: &mut [Value],
    name: &str,
    steps: &[&str],
    value: &Value,
) -> Result<(), String> {
    let Some((selector, rest)) = steps.split_first() else { return Ok(()) };
    let names: Vec<String> =
        items.iter().enumerate().map(|(i, item)| name_of(item).unwrap_or(i.to_string())).collect();
    let mut met = false;
    for (i, item) in items.iter_mut().enumerate() {
        if *selector == "*" || selector.parse() == Ok(i) || *selector == names[i] {
            met = true;
            if rest.is_empty() {
                *item = value.clone();
            } else {
                // A host may be its name alone.
                if let Value::String(name) = item {
                    *item =
                        Value::Table(Table::from_iter([("name".to_owned(), name.as_str().into())]));
                }
                set_in_value(item, selector, rest, value)?;
            }
        }
    }
    if met {
        Ok(())
    } else {
        Err(format!("`{selector}` is not in the list `{name}`, which has {}", names.join(", ")))
    }
}

/// The `name` of a table in a list, or a link's ends joined; a name by itself.
fn name_of(item: &Value) -> Option<String> {
    if let Value::String(name) = item {
        return Some(name.clone());
    }
    if let Some(name) = item.get("name") {
        return name.as_str().map(str::to_owned);
    }
    let ends = item.get("ends")?.as_array()?;
    let ends: Option<Vec<&str>> = ends.iter().map(Value::as_str).collect();
    Some(ends?.join("-").replace('.', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        "seed = 1\n[[flows]]\nname = \"f\"\n[[flows]]\nname = \"g\"\n[[links]]\nends = [\"a\", \"r\"]"
            .parse()
            .expect("the test's TOML")
    }

    #[test]
    fn paths_go_by_index_name_ends_and_star() {
        let mut t = table();
        for text in [
            "flows.0.tcp.recovery=fack",
            "flows.g.size=4 MB",
            "links.a-r.delay=1 ms",
            "flows.*.tcp.sack=true",
            "seed=7",
        ] {
            apply(&mut t, text).unwrap();
        }
        assert_eq!(t["flows"][0]["tcp"]["recovery"].as_str(), Some("fack"));
        assert_eq!(t["flows"][1]["tcp"]["sack"].as_bool(), Some(true));
        assert_eq!(t["flows"][1]["size"].as_str(), Some("4 MB"));
        assert_eq!(t["links"][0]["delay"].as_str(), Some("1 ms"));
        assert_eq!(t["seed"].as_integer(), Some(7));
    }

    #[test]
    fn a_host_by_name_becomes_a_table() {
        let mut t: Table = "hosts = [\"a\", \"b\"]".parse().unwrap();
        apply(&mut t, "hosts.b.what=1").unwrap();
        assert_eq!(t["hosts"][0].as_str(), Some("a"));
        assert_eq!(t["hosts"][1]["name"].as_str(), Some("b"));
        assert_eq!(t["hosts"][1]["what"].as_integer(), Some(1));
    }

    #[test]
    fn wrong_paths_name_what_there_is() {
        let error = apply(&mut table(), "flows.h.size=4 MB").unwrap_err();
        assert_eq!(error.field, "flows.h.size");
        assert!(error.allowed.contains("f, g"), "{}", error.allowed);
        assert!(apply(&mut table(), "flows.2.size=4 MB").is_err());
        assert!(apply(&mut table(), "seed").is_err());
        assert!(apply(&mut table(), "a..b=1").is_err());
    }
}
