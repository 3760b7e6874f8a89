//! Turns octets into what a script would write.

use super::Codec;
use super::names::{CAUSES, PARAMETERS, name_of};
use crate::script::chunk::Form;
use crate::script::{Field, Value};
use std::net::{Ipv4Addr, Ipv6Addr};

pub(super) fn field(name: &str, value: Value) -> Field {
    Field { name: Some(name.into()), count: None, value }
}

pub(super) fn number(name: &str, n: u32) -> Field {
    field(name, Value::Number(n as i64))
}

pub(super) fn unnamed(value: Value) -> Field {
    Field { name: None, count: None, value }
}

pub(super) fn list(values: impl Iterator<Item = Value>) -> Value {
    Value::List(values.map(unnamed).collect())
}

pub(super) fn octets(octets: &[u8]) -> Value {
    list(octets.iter().map(|octet| Value::Number(*octet as i64)))
}

/// Octets that are read from the front; `None` when they do not last.
pub(super) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn u16(&mut self) -> Option<u16> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_be_bytes(*head))
    }
    pub fn u32(&mut self) -> Option<u32> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*head))
    }
    /// A value behind a type and a length.
    pub fn tlv(&mut self) -> Option<(u16, &'a [u8])> {
        let [a, b, c, d, ..] = *self.0 else { return None };
        let len = u16::from_be_bytes([c, d]) as usize;
        let value = self.0.get(4..len)?;
        self.0 = &self.0[len.next_multiple_of(4).min(self.0.len())..];
        Some((u16::from_be_bytes([a, b]), value))
    }
    /// One after the other, as far as the octets go.
    pub fn all<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut all = Vec::new();
        while !self.0.is_empty() {
            all.push(one(self)?);
        }
        Some(all)
    }
    fn u16s(&mut self) -> Option<Vec<u16>> {
        self.all(Reader::u16)
    }
}

/// The chunks of a packet, one by one; the last may be too short.
pub(super) fn chunks(mut octets: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::new();
    while octets.len() >= 4 {
        let len = u16::from_be_bytes([octets[2], octets[3]]) as usize;
        let end = len.max(4).next_multiple_of(4).min(octets.len());
        chunks.push(&octets[..len.clamp(4, octets.len())]);
        octets = &octets[end..];
    }
    chunks
}

impl Codec<'_> {
    /// A chunk with its header and without padding.
    pub fn decode_chunk(&self, chunk: &[u8]) -> Value {
        let (kind, flags) = (chunk[0], chunk[1]);
        let form = Form::of_kind(kind);
        let fields = form.and_then(|form| self.decode_items(form, chunk));
        let (Some(form), Some(fields)) = (form, fields) else {
            return Value::Tree(
                "CHUNK".into(),
                vec![
                    number("type", kind as u32),
                    number("flgs", flags as u32),
                    number("len", u16::from_be_bytes([chunk[2], chunk[3]]) as u32),
                    field("val", octets(&chunk[4..])),
                ],
            );
        };
        Value::Tree(form.name.into(), fields)
    }

    pub(super) fn parameters(&self, octets: &[u8]) -> Option<Vec<Field>> {
        Reader(octets)
            .all(|r| r.tlv().map(|(kind, value)| unnamed(self.decode_parameter(kind, value))))
    }

    fn decode_parameter(&self, kind: u16, value: &[u8]) -> Value {
        let name = name_of(&PARAMETERS, kind);
        match (name, self.parameter_fields(kind, value)) {
            (Some(name), Some(fields)) => Value::Tree(name.into(), fields),
            _ => Value::Tree(
                "PARAMETER".into(),
                vec![
                    number("type", kind as u32),
                    number("len", value.len() as u32 + 4),
                    field("val", octets(value)),
                ],
            ),
        }
    }

    fn parameter_fields(&self, kind: u16, value: &[u8]) -> Option<Vec<Field>> {
        let mut r = Reader(value);
        let numbers = |all: Vec<u16>| list(all.into_iter().map(|n| Value::Number(n as i64)));
        let bytes = |all: &[u8]| list(all.iter().map(|n| Value::Number(*n as i64)));
        let len = number("len", value.len() as u32 + 4);
        Some(match kind {
            1 | 7 | 0x8002 | 0x8005 => vec![len, field("val", octets(value))],
            5 => {
                let ip = Ipv4Addr::from(<[u8; 4]>::try_from(value).ok()?);
                vec![field("addr", Value::Word(ip.to_string()))]
            }
            6 => {
                let ip = Ipv6Addr::from(<[u8; 16]>::try_from(value).ok()?);
                vec![field("addr", Value::Word(ip.to_string()))]
            }
            8 => vec![field("params", Value::List(self.flipped().parameters(value)?))],
            9 => vec![number("incr", r.u32()?)],
            11 => {
                let end = value.iter().position(|octet| *octet == 0).unwrap_or(value.len());
                let name = String::from_utf8_lossy(&value[..end]).into_owned();
                vec![field("addr", Value::Text(name))]
            }
            12 => vec![field("types", numbers(r.u16s()?))],
            13 => vec![
                number("req_sn", self.own_back(r.u32()?)),
                number("resp_sn", self.peer_back(r.u32()?)),
                number("last_tsn", self.own_back(r.u32()?)),
                field("sids", numbers(r.u16s()?)),
            ],
            14 => {
                vec![number("req_sn", self.own_back(r.u32()?)), field("sids", numbers(r.u16s()?))]
            }
            15 => vec![number("req_sn", self.own_back(r.u32()?))],
            16 => {
                let mut all =
                    vec![number("resp_sn", self.peer_back(r.u32()?)), number("result", r.u32()?)];
                if !r.0.is_empty() {
                    all.push(number("sender_next_tsn", self.own_back(r.u32()?)));
                    all.push(number("receiver_next_tsn", self.peer_back(r.u32()?)));
                }
                all
            }
            17 | 18 => vec![
                number("req_sn", self.own_back(r.u32()?)),
                number("number_of_new_streams", r.u16()? as u32),
            ],
            0x8000 | 0xc000 => Vec::new(),
            0x8001 => vec![number("edmid", r.u32()?)],
            0x8003 | 0x8008 => vec![field("types", bytes(value))],
            0x8004 => vec![field("ids", numbers(r.u16s()?))],
            0xc006 => vec![number("adaptation_code_point", r.u32()?)],
            _ => return None,
        })
    }

    pub(super) fn decode_cause(&self, code: u16, value: &[u8]) -> Value {
        let name = name_of(&CAUSES, code);
        match (name, self.cause_fields(code, value)) {
            (Some(name), Some(fields)) => Value::Tree(name.into(), fields),
            _ => Value::Tree(
                "CAUSE".into(),
                vec![
                    number("code", code as u32),
                    number("len", value.len() as u32 + 4),
                    field("info", octets(value)),
                ],
            ),
        }
    }

    fn cause_fields(&self, code: u16, value: &[u8]) -> Option<Vec<Field>> {
        let mut r = Reader(value);
        let flipped = self.flipped();
        Some(match code {
            1 => vec![number("sid", r.u16()? as u32)],
            2 => {
                r.u32()?;
                let kinds = r.u16s()?.into_iter().map(|kind| Value::Number(kind as i64));
                vec![field("types", list(kinds))]
            }
            3 => vec![number("staleness", r.u32()?)],
            5 => match flipped.parameters(value)?.into_iter().next() {
                Some(parameter) => vec![field("param", parameter.value)],
                None => Vec::new(),
            },
            6 if value.len() >= 4 => vec![field("chk", flipped.decode_chunk(value))],
            8 | 11 => vec![field("params", Value::List(flipped.parameters(value)?))],
            9 => vec![number("tsn", self.peer_back(r.u32()?))],
            4 | 7 | 10 => Vec::new(),
            12 | 13 => vec![field("info", octets(value))],
            0x105 => vec![number("val", r.u16()? as u32)],
            _ => return None,
        })
    }
}

pub(super) fn tuple(numbers: &[u32]) -> Value {
    Value::Struct(numbers.iter().map(|n| unnamed(Value::Number(*n as i64))).collect())
}
