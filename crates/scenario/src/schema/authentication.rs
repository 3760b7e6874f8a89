//! Authenticated chunks of SCTP: [`anabranch_sctp::Authentication`] from and to TOML.

use super::form::Form;
use crate::InputError;
use crate::fields::Fields;
use anabranch_sctp::Authentication;
use std::sync::Arc;
use toml::{Table, Value};

/// Types of chunks that may be authenticated (RFC 4895 §3.2; here not COOKIE ECHO).
const CHUNKS: [(&str, u8); 15] = [
    ("data", 0),
    ("sack", 3),
    ("heartbeat", 4),
    ("heartbeat-ack", 5),
    ("abort", 6),
    ("shutdown", 7),
    ("shutdown-ack", 8),
    ("error", 9),
    ("cookie-ack", 11),
    ("i-data", 0x40),
    ("asconf-ack", 0x80),
    ("re-config", 0x82),
    ("forward-tsn", 0xc0),
    ("asconf", 0xc1),
    ("i-forward-tsn", 0xc2),
];
/// HMACs by their identifiers (RFC 4895 §8.2).
const ALGORITHMS: [(&str, u16); 2] = [("sha-256", 3), ("sha-1", 1)];

/// `false`, `true` for the defaults, or a table of what is otherwise.
pub(super) fn option(
    form: &mut Form<'_>,
    value: &mut Option<Arc<Authentication>>,
) -> Result<(), InputError> {
    match form {
        Form::Read(f) => match f.get("authentication") {
            None => {}
            Some(Value::Boolean(on)) => *value = on.then(Arc::default),
            Some(_) => {
                let Some(t) = f.table("authentication")? else { return Ok(()) };
                *value = Some(Arc::new(read(&t)?));
            }
        },
        Form::Write(table) => {
            let written = value.as_ref().map_or(Value::Boolean(false), |item| write(item));
            table.insert("authentication".into(), written);
        }
    }
    Ok(())
}

fn read(t: &Fields<'_>) -> Result<Authentication, InputError> {
    let mut value = Authentication::default();
    if let Some(key) = t.text("key")? {
        value.keys = vec![(value.active_key, key.as_bytes().to_vec())];
    }
    if let Some(chunks) = numbers(t, "chunks", &CHUNKS)? {
        value.chunks = chunks;
    }
    if let Some(algorithms) = numbers(t, "algorithms", &ALGORITHMS)? {
        if !algorithms.contains(&1) {
            return Err(t.error("algorithms", "sha-1 among them (RFC 4895 §3.3)"));
        }
        value.algorithms = algorithms;
    }
    t.finish()?;
    Ok(value)
}

/// The numbers of the names in a list.
fn numbers<N: Copy>(
    t: &Fields<'_>,
    field: &'static str,
    known: &[(&str, N)],
) -> Result<Option<Vec<N>>, InputError> {
    let Some(names) = t.texts(field)? else { return Ok(None) };
    let number = |name: &String| known.iter().find(|entry| entry.0 == *name).map(|entry| entry.1);
    let found: Option<Vec<N>> = names.iter().map(number).collect();
    let all: Vec<_> = known.iter().map(|entry| entry.0).collect();
    let allowed = format!("a list of {}", all.join(", "));
    found.map(Some).ok_or_else(|| t.error(field, allowed))
}

fn write(value: &Authentication) -> Value {
    let names = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::from).collect());
    let mut table = Table::new();
    let key = value.keys.iter().find(|key| key.0 == value.active_key);
    let key = key.map_or(&[][..], |key| &key.1);
    table.insert("key".into(), String::from_utf8_lossy(key).into_owned().into());
    let chunks = value.chunks.iter().map(|kind| super::form::word(&CHUNKS, kind)).collect();
    table.insert("chunks".into(), names(chunks));
    let algorithms = value.algorithms.iter().map(|id| super::form::word(&ALGORITHMS, id)).collect();
    table.insert("algorithms".into(), names(algorithms));
    Value::Table(table)
}
