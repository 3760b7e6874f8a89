//! MPTCP options (RFC 8684): a name and words behind it. The table has the
//! words of each; what they stand for is the interpreter's.

use super::call::{fields, value};
use super::cursor::Cursor;
use super::error::Parsed;
use crate::script::{MptcpArgument, MptcpOption, Value};

/// The options and what may stand behind each name.
const OPTIONS: [(&str, &[&str]); 13] = [
    ("mpcapable", &["v0", "v1", "flags", "nokey", "key", "mpcdatalen", "cksum", "nocs"]),
    ("dss", &["dack4", "dack8", "dsn4", "dsn8", "ssn", "dll", "nocs", "cksum", "fin"]),
    ("mp_join_syn", JOIN),
    ("mp_join_syn_ack", JOIN),
    ("mp_join_ack", JOIN),
    ("mp_join_syn_backup", JOIN),
    ("mp_join_syn_ack_backup", JOIN),
    ("add_address", &["address_id", "addr", "port", "hmac", "addr_echo"]),
    ("remove_address", &["address_id"]),
    ("mp_prio", &["backup", "address_id"]),
    ("mp_reset", &["flags"]),
    ("mp_fail", &["dsn8"]),
    ("mp_fastclose", &["key", "ckey", "skey"]),
];
const JOIN: &[&str] = &["backup", "address_id", "token", "rand", "sender_hmac"];

pub(super) fn is_name(name: &str) -> bool {
    OPTIONS.iter().any(|(known, _)| *known == name)
}

/// What stands behind the name, up to the next `,` or `>`.
pub(super) fn option(c: &mut Cursor<'_>, name: &str) -> Parsed<MptcpOption> {
    let words =
        OPTIONS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, words)| *words);
    let mut arguments = Vec::new();
    while !matches!(c.peek(), Some(',' | '>') | None) {
        arguments.push(argument(c, name, words)?);
    }
    Ok(MptcpOption { name: name.into(), arguments })
}

fn argument(c: &mut Cursor<'_>, option: &str, words: &[&str]) -> Parsed<MptcpArgument> {
    let expected = || format!("one of {} in {option}, `,` or `>`", words.join(", "));
    if c.at_number() {
        return Ok(MptcpArgument::Number(c.number("a number")?));
    }
    if c.take("+") {
        return Ok(MptcpArgument::Number(c.number("a number")?));
    }
    let before = c.clone();
    let word = c.word(&expected())?;
    // Names of keys are the script's own.
    if !words.contains(&word) && !matches!(option, "mp_fastclose" | "mp_reset") {
        *c = before;
        return c.fail(expected());
    }
    if c.take("=") {
        return Ok(MptcpArgument::Set(word.into(), set(c)?));
    }
    if c.take("[") {
        return Ok(MptcpArgument::List(word.into(), fields(c, "]")?));
    }
    Ok(MptcpArgument::Word(word.into()))
}

/// A value; `trunc_l64_hmac(a b)` has its arguments without a comma.
fn set(c: &mut Cursor<'_>) -> Parsed<Value> {
    let before = c.clone();
    if let Ok(value) = value(c) {
        return Ok(value);
    }
    *c = before;
    let name = c.word("a value")?.to_owned();
    c.expect("(")?;
    let mut arguments = Vec::new();
    while !c.take(")") {
        arguments.push(value(c)?);
        c.take(",");
    }
    Ok(Value::Call(name, arguments))
}
