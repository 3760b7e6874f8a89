//! Authenticated chunks of SCTP: [`anabranch_sctp::Authentication`] from and to TOML.

use super::form::{Form, Kind, by, word};
use crate::InputError;
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_sctp::Authentication;
use anabranch_wire::sctp::kind;
use std::sync::Arc;
use toml::Value;

/// Types of chunks that may be authenticated (RFC 4895 §3.2; here not COOKIE ECHO).
const CHUNKS: [(&str, u8); 15] = [
    ("data", kind::DATA),
    ("sack", kind::SACK),
    ("heartbeat", kind::HEARTBEAT),
    ("heartbeat-ack", kind::HEARTBEAT_ACK),
    ("abort", kind::ABORT),
    ("shutdown", kind::SHUTDOWN),
    ("shutdown-ack", kind::SHUTDOWN_ACK),
    ("error", kind::ERROR),
    ("cookie-ack", kind::COOKIE_ACK),
    ("i-data", kind::I_DATA),
    ("asconf-ack", kind::ASCONF_ACK),
    ("re-config", kind::RE_CONFIG),
    ("forward-tsn", kind::FORWARD_TSN),
    ("asconf", kind::ASCONF),
    ("i-forward-tsn", kind::I_FORWARD_TSN),
];
/// HMACs by their identifiers (RFC 4895 §8.2).
const ALGORITHMS: [(&str, u16); 2] = [("sha-256", 3), ("sha-1", 1)];

/// `false`, `true` for the defaults, or a table of what is otherwise.
pub(super) fn option(
    form: &mut Form<'_>,
    value: &mut Option<Arc<Authentication>>,
) -> Result<(), InputError> {
    let mut own = value.as_deref().cloned();
    // A table says what is otherwise than usual, not than in a preset.
    if form.reads().is_some_and(|f| f.get("authentication").is_some()) {
        own = None;
    }
    form.says(
        "authenticated chunks (RFC 4895): true, or a table with `key` (\"\"; the shared key, a \
         text), `chunks` ([\"asconf\", \"asconf-ack\"]; what the other side must sign), \
         `algorithms` ([\"sha-256\", \"sha-1\"]; the best first, `sha-1` must be there)",
    )
    .switch_or_table("authentication", &mut own, fields)?;
    *value = own.map(Arc::new);
    Ok(())
}

fn fields(form: &mut Form<'_>, value: &mut Authentication) -> Result<(), InputError> {
    form.says("the shared key").set("key", key(value.active_key), &mut value.keys)?;
    form.says("what the other side must sign").set("chunks", named(&CHUNKS), &mut value.chunks)?;
    form.says("the best first; `sha-1` must be there").set(
        "algorithms",
        named(&ALGORITHMS),
        &mut value.algorithms,
    )?;
    let is_complete = value.algorithms.contains(&1);
    form.require(is_complete, "algorithms", "sha-1 among them (RFC 4895 §3.3)")
}

/// The shared key that is active, as a text.
fn key(active: u16) -> impl Kind<Value = Vec<(u16, Vec<u8>)>> {
    let read = move |f: &Fields<'_>, name: &'static str| {
        Ok(f.text(name)?.map(|key| vec![(active, key.as_bytes().to_vec())]))
    };
    let write = move |keys: &Vec<(u16, Vec<u8>)>| {
        let key = keys.iter().find(|key| key.0 == active).map_or(&[][..], |key| &key.1);
        String::from_utf8_lossy(key).into_owned().into()
    };
    by(|| Shape::Text, read, write)
}

/// Numbers as the names in a list.
fn named<N: Copy + PartialEq>(known: &[(&'static str, N)]) -> impl Kind<Value = Vec<N>> {
    let read = move |f: &Fields<'_>, name: &'static str| {
        let Some(names) = f.texts(name)? else { return Ok(None) };
        let number =
            |name: &String| known.iter().find(|entry| entry.0 == *name).map(|entry| entry.1);
        let found: Option<Vec<N>> = names.iter().map(number).collect();
        let all: Vec<_> = known.iter().map(|entry| entry.0).collect();
        let allowed = format!("a list of {}", all.join(", "));
        found.map(Some).ok_or_else(|| f.error(name, allowed))
    };
    let write = move |numbers: &Vec<N>| {
        Value::Array(numbers.iter().map(|number| word(known, number).into()).collect())
    };
    by(move || Shape::words(known).list(), read, write)
}
