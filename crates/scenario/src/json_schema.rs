//! The JSON Schema of scenarios (draft 2020-12), by which editors complete and check them.
//!
//! It is written from the same lists of fields as the reader ([`crate::schema`]). It knows types,
//! units, ranges of numbers, words and which fields there are; rules about several fields, and bounds
//! of quantities, are the reader's alone. Beside the standard's keywords a field has
//! `markdownDescription`, its sentence with links, which some editors show, and `x-default`, the
//! default where words say it.

use crate::schema;
use crate::shape::{Default, Field, KindDefault, Kinds, Shape, Table};
use serde_json::{Map, Value, json};
use std::ops::Bound;

/// The JSON Schema of scenarios.
///
/// ```
/// let schema = anabranch_scenario::json_schema();
/// assert_eq!(schema["properties"]["seed"]["minimum"], 0);
/// ```
pub fn json_schema() -> Value {
    let mut writer = Writer::default();
    let mut root = Map::new();
    root.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    root.insert("title".into(), "Scenario of Anabranch".into());
    let table = writer.table(&schema::described(), false);
    root.extend(table.as_object().cloned().unwrap_or_default());
    root.insert("$defs".into(), Value::Object(writer.definitions));
    Value::Object(root)
}

/// Writes shapes as JSON Schema; named ones are written once, among the definitions.
#[derive(Default)]
struct Writer {
    definitions: Map<String, Value>,
}

impl Writer {
    fn shape(&mut self, shape: &Shape) -> Value {
        match shape {
            Shape::Boolean => json!({ "type": "boolean" }),
            Shape::Only(value) => json!({ "const": json_of(value) }),
            Shape::Integer(least, most) => {
                bounded("integer", Bound::Included(*least), Bound::Included(*most))
            }
            Shape::Number(bounds) => bounded("number", bounds.least(), bounds.most()),
            Shape::Text => json!({ "type": "string" }),
            Shape::Pattern(pattern) => json!({ "type": "string", "pattern": pattern }),
            Shape::Quantity { pattern, example } => {
                json!({ "type": "string", "pattern": pattern, "examples": [example] })
            }
            Shape::Words(words) => json!({ "enum": words }),
            Shape::List(each) => json!({ "type": "array", "items": self.shape(each) }),
            Shape::Tuple(each) => {
                let items: Vec<Value> = each.iter().map(|shape| self.shape(shape)).collect();
                let number = items.len();
                json!({ "type": "array", "prefixItems": items, "minItems": number,
                    "maxItems": number })
            }
            Shape::Table(table) => self.table(table, false),
            Shape::Open(table) => self.table(table, true),
            Shape::Any(shapes) => {
                let any: Vec<Value> = shapes.iter().map(|shape| self.shape(shape)).collect();
                json!({ "anyOf": any })
            }
            Shape::Named(name, shape) => {
                if !self.definitions.contains_key(*name) {
                    // The place is taken first, for a shape that holds itself.
                    self.definitions.insert((*name).to_owned(), Value::Null);
                    let written = self.shape(shape);
                    self.definitions.insert((*name).to_owned(), written);
                }
                json!({ "$ref": format!("#/$defs/{name}") })
            }
        }
    }

    /// A table; `open` to fields that are not listed.
    fn table(&mut self, table: &Table, open: bool) -> Value {
        let Some(kinds) = &table.kinds else { return self.object(&table.fields, open) };
        let one = |kind: &(&'static str, &'static str, Vec<Field>)| {
            let (name, says, own) = kind;
            let mut fields = vec![kind_field(kinds, name, says)];
            fields.extend(table.fields.iter().chain(own).cloned());
            fields
        };
        let all: Vec<Vec<Field>> = kinds.all.iter().map(one).collect();
        let any: Vec<Value> = all.iter().map(|fields| self.object(fields, open)).collect();
        json!({ "type": "object", "anyOf": any })
    }

    fn object(&mut self, fields: &[Field], open: bool) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in fields {
            let mut written = Map::new();
            describe(&mut written, field.says);
            if let Value::Object(shape) = self.shape(&field.shape) {
                written.extend(shape);
            }
            match &field.default {
                Default::Required => required.push(field.name),
                Default::Value(value) => drop(written.insert("default".into(), json_of(value))),
                Default::Words(words) => drop(written.insert("x-default".into(), (*words).into())),
            }
            properties.insert(field.name.to_owned(), Value::Object(written));
        }
        json!({ "type": "object", "properties": properties, "required": required,
            "additionalProperties": open })
    }
}

/// The field that names the kind of a table.
fn kind_field(kinds: &Kinds, name: &'static str, says: &'static str) -> Field {
    let default = match kinds.default {
        KindDefault::Kind(default) if default == name => Default::Value(default.into()),
        KindDefault::Any => Default::Words("that of the profile"),
        _ => Default::Required,
    };
    let shape = Shape::Only(name.into());
    Field { name: kinds.key, says, default, shape }
}

fn bounded<N>(kind: &str, least: Bound<N>, most: Bound<N>) -> Value
where
    Value: From<N>,
{
    let mut out = Map::new();
    out.insert("type".into(), kind.into());
    for (bound, inclusive, exclusive) in
        [(least, "minimum", "exclusiveMinimum"), (most, "maximum", "exclusiveMaximum")]
    {
        match bound {
            Bound::Included(bound) => drop(out.insert(inclusive.into(), bound.into())),
            Bound::Excluded(bound) => drop(out.insert(exclusive.into(), bound.into())),
            Bound::Unbounded => {}
        }
    }
    Value::Object(out)
}

/// The sentence, without its links and with them.
fn describe(written: &mut Map<String, Value>, says: &str) {
    if says.is_empty() {
        return;
    }
    let plain = without_links(says);
    written.insert("description".into(), plain.as_str().into());
    if plain != says {
        written.insert("markdownDescription".into(), says.into());
    }
}

/// Markdown with the text of each link in its place.
fn without_links(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some((before, link)) = rest.split_once('[') {
        let parts = link.split_once("](").and_then(|(text, tail)| {
            let (_, after) = tail.split_once(')')?;
            (!text.contains(['[', ']'])).then_some((text, after))
        });
        out.push_str(before);
        rest = match parts {
            Some((text, after)) => {
                out.push_str(text);
                after
            }
            None => {
                out.push('[');
                link
            }
        };
    }
    out + rest
}

/// A value of TOML as JSON has it.
fn json_of(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(n) => (*n).into(),
        toml::Value::Float(n) => (*n).into(),
        toml::Value::Boolean(boolean) => (*boolean).into(),
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(list) => list.iter().map(json_of).collect(),
        toml::Value::Table(table) => Value::Object(
            table.iter().map(|(name, value)| (name.clone(), json_of(value))).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_leave_their_text() {
        let says = "see [queues](queues.md#red), a list `[1, 2]` or [[46, 4]] and [tcp](tcp.md)";
        let plain = "see queues, a list `[1, 2]` or [[46, 4]] and tcp";
        assert_eq!(without_links(says), plain);
        assert_eq!(without_links("`[[\"1 kB\", 0.2]]` and [a"), "`[[\"1 kB\", 0.2]]` and [a");
    }

    /// Every field has a sentence: the schema, the editor and the table of docs/ show it.
    #[test]
    fn every_field_says_what_it_means() {
        fn check(table: &Table, path: &str, silent: &mut Vec<String>) {
            let own = table.kinds.iter().flat_map(|kinds| &kinds.all);
            let own = own.flat_map(|(kind, _, fields)| fields.iter().map(move |f| (*kind, f)));
            for (kind, field) in table.fields.iter().map(|field| ("", field)).chain(own) {
                let path = format!("{path}.{kind}{}", field.name);
                if field.says.is_empty() {
                    silent.push(path.clone());
                }
                within(&field.shape, &path, silent);
            }
        }
        fn within(shape: &Shape, path: &str, silent: &mut Vec<String>) {
            match shape {
                Shape::Table(table) | Shape::Open(table) => check(table, path, silent),
                Shape::List(shape) | Shape::Named(_, shape) => within(shape, path, silent),
                Shape::Any(shapes) | Shape::Tuple(shapes) => {
                    shapes.iter().for_each(|shape| within(shape, path, silent));
                }
                _ => {}
            }
        }
        let mut silent = Vec::new();
        check(&schema::described(), "", &mut silent);
        silent.sort();
        silent.dedup();
        assert!(silent.is_empty(), "put `says` before these fields:\n{}", silent.join("\n"));
    }
}
