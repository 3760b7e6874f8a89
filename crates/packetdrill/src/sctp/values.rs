//! Values of a script, read and written.

use crate::constants::number;
use crate::script::{Call, Field, Value};
use crate::stack::{LOCAL, PORT, REMOTE};
use anabranch_wire::Addr;

/// A structure as it is written into an argument.
pub fn structure(fields: Vec<(&str, Value)>) -> Value {
    let field =
        |(name, value): (&str, Value)| Field { name: Some(name.into()), count: None, value };
    Value::Struct(fields.into_iter().map(field).collect())
}

/// Makes a structure whose fields are all numbers.
pub fn numbers(fields: &[(&str, i64)]) -> Value {
    structure(fields.iter().map(|(name, n)| (*name, Value::Number(*n))).collect())
}

/// Makes a list: `[a, b]`.
pub fn list(values: impl IntoIterator<Item = Value>) -> Value {
    let unnamed = |value| Field { name: None, count: None, value };
    Value::List(values.into_iter().map(unnamed).collect())
}

/// Makes a list of one number: `[n]`.
pub fn one(n: i64) -> Value {
    list([Value::Number(n)])
}

/// The number of an argument.
pub fn argument(call: &Call, at: usize) -> Option<i64> {
    call.arguments.get(at).and_then(number)
}

/// The number in the field of a structure; `None` where it is left open.
pub fn part(value: &Value, name: &str) -> Option<i64> {
    value.field(name).and_then(number)
}

/// Octets of the buffers in a list of `{iov_base, iov_len}`.
pub fn length_of_vectors(vectors: Option<&Value>) -> u64 {
    let len = |field: &Field| {
        let fields = field.value.fields()?;
        let named =
            field.value.field("iov_len").or_else(|| fields.get(1).map(|field| &field.value));
        named.and_then(number)
    };
    let vectors = vectors.and_then(Value::fields).unwrap_or_default();
    vectors.iter().filter_map(len).fold(0, |all, len| all.saturating_add(len.max(0) as u64))
}

/// Addresses that scripts use, with their names in this world.
const KNOWN: [(&str, Addr); 2] = [("192.168.0.1", LOCAL), ("192.0.2.1", REMOTE)];

/// Address and port of a `sockaddr`: the other side, and the usual port, where
/// they are left open.
pub fn address(value: Option<&Value>) -> (Addr, u16) {
    let port = value.and_then(|address| address.field("sin_port")).and_then(number);
    let port = port.and_then(|port| u16::try_from(port).ok()).unwrap_or(PORT);
    let text = match value.and_then(|address| address.field("sin_addr")) {
        Some(Value::Call(_, arguments)) => arguments.first(),
        _ => None,
    };
    let known = |text: &str| KNOWN.iter().find(|(known, _)| *known == text).map(|(_, addr)| *addr);
    let addr = match text {
        Some(Value::Text(text)) => known(text),
        _ => None,
    };
    (addr.unwrap_or(REMOTE), port)
}

/// A `sockaddr` as it is written into an argument.
pub fn socket_address((addr, port): (Addr, u16)) -> Value {
    let text = KNOWN.iter().find(|(_, known)| *known == addr).map(|(text, _)| *text);
    let call = |name: &str, value| Value::Call(name.into(), vec![value]);
    structure(vec![
        ("sa_family", Value::Word("AF_INET".into())),
        ("sin_port", call("htons", Value::Number(port as i64))),
        ("sin_addr", text.map_or(Value::Any, |text| call("inet_addr", Value::Text(text.into())))),
    ])
}
