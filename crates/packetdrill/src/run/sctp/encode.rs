//! Turns what a script writes into octets. Lengths are those that the script
//! gives, so that broken chunks can be written; what it leaves open is zero.

use super::Codec;
use super::names::{self, cause_number, parameter_number, type_of};
use crate::run::dialect::Trouble;
use crate::script::chunk::Form;
use crate::script::{Field, Value};
use std::net::IpAddr;

pub(super) type Encoded<T = ()> = Result<T, Trouble>;

/// The fields of a chunk, parameter or cause.
pub(super) struct Parts<'a> {
    pub name: &'a str,
    fields: &'a [Field],
}

impl<'a> Parts<'a> {
    pub fn of(value: &'a Value) -> Encoded<Parts<'a>> {
        match value {
            Value::Tree(name, fields) => Ok(Parts { name, fields }),
            other => Err(format!("`{other}` in a packet that comes").into()),
        }
    }

    /// The field, unless it is left open.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        let field = self.fields.iter().find(|field| field.name.as_deref() == Some(name))?;
        (field.value != Value::Any).then_some(&field.value)
    }

    pub fn number(&self, name: &str) -> Encoded<u32> {
        match self.get(name) {
            None => Ok(0),
            Some(Value::Number(n)) => Ok(*n as u32),
            Some(other) => Err(format!("{}: {name}={other} is no number", self.name).into()),
        }
    }

    fn flags(&self) -> Encoded<u8> {
        match self.get("flgs") {
            None => Ok(0),
            Some(value) => names::flags(value)
                .ok_or_else(|| format!("{}: flgs={value} are no flags", self.name).into()),
        }
    }

    /// The length field that the script asks for.
    pub fn len(&self) -> Encoded<Option<usize>> {
        Ok(match self.get("len") {
            None => None,
            Some(_) => Some(self.number("len")? as usize),
        })
    }

    /// `val=[...]`, or as many zeros as the length has beyond `header`.
    pub fn octets(&self, field: &str, header: usize) -> Encoded<Vec<u8>> {
        match self.get(field) {
            Some(Value::List(list)) => octets(list),
            Some(Value::Text(text)) => Ok(text.clone().into_bytes()),
            Some(other) => Err(format!("{}: {field}={other} are no octets", self.name).into()),
            None => Ok(vec![0; self.len()?.unwrap_or(header).saturating_sub(header)]),
        }
    }

    pub fn list(&self, name: &str) -> &'a [Field] {
        self.get(name).and_then(Value::fields).unwrap_or_default()
    }

    /// Returns the values that are written without a name: parameters and causes.
    pub fn nested(&self) -> impl Iterator<Item = &'a Value> + use<'a> {
        let unnamed = self.fields.iter().filter(|field| field.name.is_none());
        unnamed.map(|field| &field.value).filter(|value| **value != Value::Any)
    }
}

fn octets(list: &[Field]) -> Encoded<Vec<u8>> {
    let octet = |field: &Field| field.value.number().and_then(|n| u8::try_from(n).ok());
    let all: Option<Vec<u8>> = list.iter().map(octet).collect();
    all.ok_or_else(|| String::from("a value that is no octet").into())
}

fn types(list: &[Field]) -> Encoded<Vec<u16>> {
    let kind = |field: &Field| {
        type_of(&field.value).ok_or_else(|| format!("the type `{}`", field.value).into())
    };
    list.iter().map(kind).collect()
}

/// A value behind a type and a length, padded; the length is `len` if the
/// script says so.
pub(super) fn tlv(out: &mut Vec<u8>, kind: u16, len: Option<usize>, value: &[u8]) {
    let start = out.len();
    out.extend(kind.to_be_bytes());
    out.extend((len.unwrap_or(value.len() + 4) as u16).to_be_bytes());
    out.extend(value);
    pad(out, start);
}

/// The chunks so far fit a packet of IPv4: 65,535 octets with its header of 20 and
/// the common header of 12 (RFC 791 §3.1, RFC 9260 §3.1).
fn fits(out: &[u8]) -> Encoded {
    const MOST: usize = 65_535 - 20 - 12;
    match out.len() <= MOST {
        true => Ok(()),
        false => Err(format!("{} octets of chunks; a packet holds 0 to {MOST}", out.len()).into()),
    }
}

fn pad(out: &mut Vec<u8>, start: usize) {
    let len = (out.len() - start).next_multiple_of(4);
    out.resize(start + len, 0);
}

/// Numbers of 16 and 32 bits in a row.
#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    fn u16(mut self, n: u32) -> Body {
        self.0.extend((n as u16).to_be_bytes());
        self
    }
    fn u32(mut self, n: u32) -> Body {
        self.0.extend(n.to_be_bytes());
        self
    }
}

impl Codec<'_> {
    /// Appends a chunk, or the octets that a script writes in its place.
    pub fn encode_chunk(&self, chunk: &Value, out: &mut Vec<u8>) -> Encoded {
        if let Value::List(list) = chunk {
            out.extend(octets(list)?);
            return Ok(());
        }
        let parts = Parts::of(chunk)?;
        let (kind, body) = match (parts.name, Form::named(parts.name)) {
            ("CHUNK", _) => match parts.get("type").map(type_of) {
                Some(Some(kind)) => (kind as u8, parts.octets("val", 4)?),
                _ => return Err(String::from("a CHUNK without a known type").into()),
            },
            (_, Some(form)) => (form.kind, self.encode_items(form, &parts)?),
            (name, None) => return Err(Trouble::NotApplicable(format!("the chunk {name}"))),
        };
        let flags = parts.flags()?;
        let start = out.len();
        out.extend([kind, flags]);
        out.extend((parts.len()?.unwrap_or(body.len() + 4) as u16).to_be_bytes());
        out.extend(body);
        pad(out, start);
        fits(out)
    }

    /// Appends the parameters of a chunk.
    pub(super) fn encode_parameters(&self, parts: &Parts<'_>, body: &mut Vec<u8>) -> Encoded {
        let mut end = body.len();
        for parameter in parts.nested() {
            body.resize(body.len().next_multiple_of(4), 0);
            let start = body.len();
            self.encode_parameter(parameter, body)?;
            // A chunk's length does not count the padding of its last one.
            let len = u16::from_be_bytes([body[start + 2], body[start + 3]]) as usize;
            end = (start + len).clamp(start + 4, body.len());
        }
        body.truncate(end);
        Ok(())
    }

    pub(super) fn encode_parameter(&self, parameter: &Value, out: &mut Vec<u8>) -> Encoded {
        let parts = Parts::of(parameter)?;
        let n = |name| parts.number(name);
        let kind = match parts.name {
            "PARAMETER" => n("type")? as u16,
            name => parameter_number(name)
                .ok_or_else(|| Trouble::NotApplicable(format!("the parameter {name}")))?,
        };
        let streams = |body: Body| -> Encoded<Vec<u8>> {
            let of = |field: &Field| field.value.number().map(|n| n as u32);
            let list: Option<Vec<u32>> = parts.list("sids").iter().map(of).collect();
            let list = list.ok_or_else(|| String::from("a stream that is no number"))?;
            Ok(list.into_iter().fold(body, Body::u16).0)
        };
        let value = match kind {
            5 | 6 => address(parts.get("addr"))?,
            8 => {
                let mut inner = Vec::new();
                let named = parts.list("params").iter().map(|field| &field.value);
                for parameter in named.chain(parts.nested()) {
                    self.flipped().encode_parameter(parameter, &mut inner)?;
                }
                inner
            }
            9 => Body::default().u32(n("incr")?).0,
            11 => match parts.get("addr") {
                Some(Value::Text(text)) => [text.as_bytes(), &[0]].concat(),
                _ => Vec::new(),
            },
            12 | 0x8004 => {
                let list = if kind == 12 { "types" } else { "ids" };
                types(parts.list(list))?.into_iter().flat_map(u16::to_be_bytes).collect()
            }
            13 => {
                let body = Body::default().u32(self.own(n("req_sn")?));
                streams(body.u32(self.peer(n("resp_sn")?)).u32(self.own(n("last_tsn")?)))?
            }
            14 => streams(Body::default().u32(self.own(n("req_sn")?)))?,
            15 => Body::default().u32(self.own(n("req_sn")?)).0,
            16 => {
                let body = Body::default().u32(self.peer(n("resp_sn")?)).u32(n("result")?);
                match parts.get("sender_next_tsn") {
                    None => body.0,
                    Some(_) => {
                        let body = body.u32(self.own(n("sender_next_tsn")?));
                        body.u32(self.peer(n("receiver_next_tsn")?)).0
                    }
                }
            }
            17 | 18 => {
                let body = Body::default().u32(self.own(n("req_sn")?));
                body.u16(n("number_of_new_streams")?).u16(0).0
            }
            0x8001 => Body::default().u32(n("edmid")?).0,
            0x8003 | 0x8008 => {
                types(parts.list("types"))?.into_iter().map(|kind| kind as u8).collect()
            }
            0xc006 => {
                let code = parts.get("adaptation_code_point").or(parts.get("val"));
                Body::default().u32(code.and_then(Value::number).unwrap_or(0) as u32).0
            }
            _ => parts.octets("val", 4)?,
        };
        tlv(out, kind, parts.len()?, &value);
        fits(out)
    }

    pub(super) fn encode_cause(&self, cause: &Value, out: &mut Vec<u8>) -> Encoded {
        let parts = Parts::of(cause)?;
        let n = |name| parts.number(name);
        let code = match parts.name {
            "CAUSE" => n("code")? as u16,
            name => cause_number(name)
                .ok_or_else(|| Trouble::NotApplicable(format!("the cause {name}")))?,
        };
        let flipped = self.flipped();
        let value = match code {
            1 => Body::default().u16(n("sid")?).u16(0).0,
            2 => {
                let list = types(parts.list("types"))?;
                let body = Body::default().u32(list.len() as u32);
                list.into_iter().map(u32::from).fold(body, Body::u16).0
            }
            3 => Body::default().u32(n("staleness")?).0,
            5 | 8 | 11 => {
                let mut inner = Vec::new();
                let named = parts.list("params").iter().map(|field| &field.value);
                for parameter in parts.get("param").into_iter().chain(named).chain(parts.nested()) {
                    flipped.encode_parameter(parameter, &mut inner)?;
                }
                inner
            }
            6 => {
                let mut inner = Vec::new();
                if let Some(chunk) = parts.get("chk") {
                    flipped.encode_chunk(chunk, &mut inner)?;
                    let len = u16::from_be_bytes([inner[2], inner[3]]) as usize;
                    inner.truncate(len.max(4));
                }
                inner
            }
            9 => Body::default().u32(self.peer(n("tsn")?)).0,
            4 | 7 | 10 => Vec::new(),
            _ => parts.octets("info", 4)?,
        };
        tlv(out, code, parts.len()?, &value);
        fits(out)
    }
}

fn address(value: Option<&Value>) -> Encoded<Vec<u8>> {
    let text = match value {
        Some(Value::Word(text) | Value::Text(text)) => text,
        _ => return Err(String::from("an address that is left open").into()),
    };
    match text.parse() {
        Ok(IpAddr::V4(ip)) => Ok(ip.octets().to_vec()),
        Ok(IpAddr::V6(ip)) => Ok(ip.octets().to_vec()),
        Err(_) => Err(format!("the address `{text}`").into()),
    }
}

/// Lists of numbers of the same length.
pub(super) fn tuples<const N: usize>(list: &[Field]) -> Encoded<Vec<[u32; N]>> {
    let tuple = |field: &Field| {
        let numbers = field.value.fields()?.iter().map(|part| part.value.number());
        let numbers: Option<Vec<u32>> = numbers.map(|n| n.map(|n| n as u32)).collect();
        <[u32; N]>::try_from(numbers?).ok()
    };
    let wrong = |field: &Field| format!("`{}` is no list of {N} numbers", field.value).into();
    list.iter().map(|field| tuple(field).ok_or_else(|| wrong(field))).collect()
}
