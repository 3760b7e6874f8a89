//! SCTP packets (RFC 9260 and its extensions) in nplab's dialect: chunks with
//! their fields by name. Tables say which names there are, and in which
//! order fields stand, that of chunks in [`crate::script::chunk`]; any field may be `...`, and `...` alone stands for all
//! that follow.

use super::call::{fields, value};
use super::cursor::Cursor;
use super::error::Parsed;
use crate::script::chunk::Form;
use crate::script::{Field, SctpSpec, Value};

/// What is no chunk by name: parameters and causes, and the fields of each; `*` at the end:
/// parameters, causes or requests follow.
const SHAPES: [(&str, &[&str]); 57] = [
    ("CHUNK", &["type", "flgs", "len", "val"]),
    // Parameters.
    ("HEARTBEAT_INFORMATION", &["len", "val"]),
    ("IPV4_ADDRESS", &["addr"]),
    ("IPV6_ADDRESS", &["addr"]),
    ("STATE_COOKIE", &["len", "val"]),
    ("UNRECOGNIZED_PARAMETER", &["params", "*"]),
    ("UNRECOGNIZED_PARAMETERS", &["params", "*"]),
    ("COOKIE_PRESERVATIVE", &["incr"]),
    ("HOSTNAME_ADDRESS", &["addr"]),
    ("SUPPORTED_ADDRESS_TYPES", &["types"]),
    ("ECN_CAPABLE", &[]),
    ("SUPPORTED_EXTENSIONS", &["types"]),
    ("FORWARD_TSN_SUPPORTED", &[]),
    ("ADAPTATION_CODE_POINT", &["val"]),
    ("ADAPTATION_INDICATION", &["adaptation_code_point"]),
    ("ZERO_CHECKSUM_ACCEPTABLE", &["edmid"]),
    ("OUTGOING_SSN_RESET", OUTGOING),
    ("OUTGOING_SSN_RESET_REQUEST", OUTGOING),
    ("INCOMING_SSN_RESET", &["req_sn", "sids"]),
    ("INCOMING_SSN_RESET_REQUEST", &["req_sn", "sids"]),
    ("SSN_TSN_RESET", &["req_sn"]),
    ("SSN_TSN_RESET_REQUEST", &["req_sn"]),
    ("RECONFIG_RESPONSE", RESPONSE),
    ("RESPONSE", RESPONSE),
    ("ADD_OUTGOING_STREAMS", ADD),
    ("ADD_OUTGOING_STREAMS_REQUEST", ADD),
    ("ADD_INCOMING_STREAMS", ADD),
    ("ADD_INCOMING_STREAMS_REQUEST", ADD),
    ("PARAMETER", &["type", "len", "val"]),
    // Causes.
    ("INVALID_STREAM_IDENTIFIER", &["sid"]),
    ("MISSING_MANDATORY_PARAMETER", &["types"]),
    ("STALE_COOKIE_ERROR", &["staleness"]),
    ("STALE_COOKIE", &["staleness"]),
    ("OUT_OF_RESOURCES", &[]),
    ("OUT_OF_RESOURCE", &[]),
    ("UNRESOLVABLE_ADDRESS", &["param", "*"]),
    ("UNRECOGNIZED_CHUNK_TYPE", &["chk"]),
    ("UNRECOGNIZED_CHUNK", &["chk"]),
    ("INVALID_MANDATORY_PARAMETER", &[]),
    ("NO_USER_DATA", &["tsn"]),
    ("COOKIE_RECEIVED_WHILE_SHUTDOWN", &[]),
    ("COOKIE_RECEIVED_WHILE_SHUTTING_DOWN", &[]),
    ("RESTART_WITH_NEW_ADDRESSES", &["params", "*"]),
    ("USER_INITIATED_ABORT", &["info"]),
    ("PROTOCOL_VIOLATION", &["info"]),
    ("UNSUPPORTED_HMAC_ID", &["val"]),
    ("CAUSE", &["code", "len", "info"]),
    // Of dynamic addresses and authentication (RFC 5061, RFC 4895).
    ("ADD_IP_ADDRESS", &["req_sn", "*"]),
    ("DELETE_IP_ADDRESS", &["req_sn", "*"]),
    ("SET_PRIMARY_ADDRESS", &["req_sn", "*"]),
    ("RANDOM", &["len", "val"]),
    ("CHUNKS", &["types"]),
    ("CHUNK_LIST", &["types"]),
    ("HMAC_ALGO", &["ids"]),
    ("REQUESTED_HMAC_ALGO", &["ids"]),
    ("SET_PRIMARY", &["addr", "*"]),
    ("ADAPTATION_LAYER_INDICATION", &["val"]),
];
const OUTGOING: &[&str] = &["req_sn", "resp_sn", "last_tsn", "sids"];
const RESPONSE: &[&str] = &["resp_sn", "result", "sender_next_tsn", "receiver_next_tsn"];
const ADD: &[&str] = &["req_sn", "number_of_new_streams"];

pub(super) fn sctp(c: &mut Cursor<'_>) -> Parsed<SctpSpec> {
    c.word("sctp")?;
    let mut spec = SctpSpec {
        tag: None,
        bad_checksum: false,
        zero_checksum: false,
        udp: None,
        chunks: Vec::new(),
    };
    if c.take("(") {
        packet_fields(c, &mut spec)?;
    }
    if c.take("/") {
        if !c.take_word("udp") {
            return c.fail("`udp`");
        }
        c.expect("(")?;
        let src = c.unsigned("a port")?;
        c.expect(">")?;
        spec.udp = Some((src, c.unsigned("a port")?));
        c.expect(")")?;
    }
    c.expect(":")?;
    loop {
        spec.chunks.push(match c.take("[") {
            true => Value::List(fields(c, "]")?),
            false => shape(c)?,
        });
        if !c.take(";") {
            return Ok(spec);
        }
    }
}

fn packet_fields(c: &mut Cursor<'_>, spec: &mut SctpSpec) -> Parsed<()> {
    const EXPECTED: &str = "tag, bad_crc32c or zero_checksum";
    loop {
        let before = c.clone();
        match c.word(EXPECTED)? {
            "tag" => {
                c.expect("=")?;
                spec.tag = Some(c.unsigned("a tag")?);
            }
            "bad_crc32c" => spec.bad_checksum = true,
            "zero_checksum" => spec.zero_checksum = true,
            _ => {
                *c = before;
                return c.fail(EXPECTED);
            }
        }
        if c.take(")") {
            return Ok(());
        }
        c.expect(",")?;
    }
}

/// A chunk, checked against the table with all that it holds.
fn shape(c: &mut Cursor<'_>) -> Parsed<Value> {
    c.skip_space();
    let before = c.clone();
    let tree = value(c)?;
    if let Err(expected) = check(&tree) {
        *c = before;
        return c.fail(expected);
    }
    match tree {
        Value::Tree(..) => Ok(tree),
        _ => {
            *c = before;
            c.fail("a chunk: `DATA[...]`, or octets: `[0x00, ...]`")
        }
    }
}

/// The names of the fields of a chunk, parameter or cause, in their order.
fn fields_of(name: &str) -> Option<Vec<&'static str>> {
    let of_chunk = Form::named(name).map(|form| form.fields().collect());
    of_chunk.or_else(|| SHAPES.iter().find(|shape| shape.0 == name).map(|shape| shape.1.to_vec()))
}

/// Names and order of fields; the error says what would be right.
fn check(value: &Value) -> Result<(), String> {
    let Value::Tree(name, parts) = value else {
        return value.fields().unwrap_or_default().iter().try_for_each(|field| check(&field.value));
    };
    let Some(shape) = fields_of(name) else {
        return Err(format!("a known chunk, parameter or cause in place of `{name}`"));
    };
    let mut shape = shape.into_iter();
    for Field { name: field, value, .. } in parts {
        match field {
            Some(field) => {
                if !shape.any(|known| known == *field) {
                    return Err(format!("the fields of {name} in their order, not `{field}` here"));
                }
            }
            None if matches!(value, Value::Any | Value::Tree(..)) => {}
            None => return Err(format!("a name before the value `{value}` in {name}")),
        }
        if let Some(field) = field {
            check_numbers(name, field, value)?;
        }
        check(value)?;
    }
    Ok(())
}

/// The largest number that the field, or each number of its list, has room for.
fn most(tree: &str, field: &str) -> i64 {
    match (tree, field) {
        ("CHUNK", "type") | (_, "flgs") => u8::MAX as i64,
        ("ADAPTATION_CODE_POINT" | "ADAPTATION_LAYER_INDICATION", "val") => u32::MAX as i64,
        (_, "val" | "info") => u8::MAX as i64,
        ("I_FORWARD_TSN", "ids") => u32::MAX as i64,
        (_, "len" | "type" | "code" | "sid" | "ssn" | "os" | "is" | "number_of_new_streams")
        | (_, "sids" | "types" | "ids" | "gaps" | "nr_gaps" | "key" | "hmac") => u16::MAX as i64,
        _ => u32::MAX as i64,
    }
}

/// Numbers fit the fields that they stand for, alone or in lists.
fn check_numbers(tree: &str, field: &str, value: &Value) -> Result<(), String> {
    let most = most(tree, field);
    let fits = |n: i64| match (0..=most).contains(&n) {
        true => Ok(()),
        false => Err(format!("a number from 0 to {most} in `{field}` of {tree}, not {n}")),
    };
    match value {
        Value::Number(n) => fits(*n),
        Value::Range(start, end) => fits(*start).and_then(|()| fits(*end)),
        Value::List(list) => {
            list.iter().try_for_each(|part| check_numbers(tree, field, &part.value))
        }
        _ => Ok(()),
    }
}
