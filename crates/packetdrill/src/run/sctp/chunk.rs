//! The octets of each [`Item`] of a chunk: from what a script writes, and back.

use super::Codec;
use super::decode::{Reader, field, list, number, octets, tuple, unnamed};
use super::encode::{Encoded, Parts, tlv, tuples};
use super::names::shown_flags;
use crate::run::dialect::Trouble;
use crate::script::chunk::{Form, Item};
use crate::script::{Field, Value};

/// Octets of a chunk's header: type, flags and length.
const HEADER: usize = 4;
/// Type of the parameter inside HEARTBEAT (RFC 9260 §3.3.5).
const HEARTBEAT_INFORMATION: u16 = 1;

impl Codec<'_> {
    /// The octets behind the header of a chunk that a script writes.
    pub(super) fn encode_items(&self, form: &Form, parts: &Parts<'_>) -> Encoded<Vec<u8>> {
        let mut body = Vec::new();
        for item in form.items {
            self.encode_item(*item, parts, &mut body)?;
        }
        Ok(body)
    }

    fn encode_item(&self, item: Item, parts: &Parts<'_>, body: &mut Vec<u8>) -> Encoded {
        let n = |name| parts.number(name);
        match item {
            Item::Flags | Item::Len => {}
            Item::U16(name) => put16(body, n(name)?),
            Item::U32(name) => put32(body, n(name)?),
            Item::Own(name) => put32(body, self.own(n(name)?)),
            Item::Peer(name) => put32(body, self.peer(n(name)?)),
            Item::Tag => put32(body, n("tag")?),
            Item::Reserved => put16(body, 0),
            Item::PpidOrFsn => {
                let name = if parts.get("fsn").is_some() { "fsn" } else { "ppid" };
                put32(body, n(name)?);
            }
            Item::Payload => {
                let header = HEADER + body.len();
                let len = parts.len()?.unwrap_or(header).saturating_sub(header);
                body.resize(body.len() + len, 0);
            }
            Item::Gaps => self.encode_gaps(parts, body)?,
            Item::SkippedSsns => {
                for [stream, ssn] in tuples(parts.list("ids"))? {
                    put16(body, stream);
                    put16(body, ssn);
                }
            }
            Item::SkippedMids => {
                for [stream, unordered, mid] in tuples(parts.list("ids"))? {
                    put16(body, stream);
                    put16(body, unordered);
                    put32(body, mid);
                }
            }
            Item::Octets => body.extend(parts.octets("val", HEADER)?),
            Item::Cookie if parts.get("len").is_none() && parts.get("val").is_none() => {
                body.extend(&self.mapping.cookie);
            }
            Item::Cookie => body.extend(parts.octets("val", HEADER)?),
            Item::Information | Item::InformationBack => {
                for information in parts.nested() {
                    let inner = Parts::of(information)?;
                    let open = inner.get("len").is_none() && inner.get("val").is_none();
                    match open && item == Item::InformationBack {
                        true => tlv(body, HEARTBEAT_INFORMATION, None, &self.mapping.heartbeat),
                        false => self.encode_parameter(information, body)?,
                    }
                }
            }
            Item::Parameters => self.encode_parameters(parts, body)?,
            Item::Causes => {
                parts.nested().try_for_each(|cause| self.encode_cause(cause, body))?;
            }
            Item::Uncoded(_) => {
                return Err(Trouble::NotApplicable(format!("the chunk {}", parts.name)));
            }
        }
        Ok(())
    }

    fn encode_gaps(&self, parts: &Parts<'_>, body: &mut Vec<u8>) -> Encoded {
        let (gaps, dups) = (parts.list("gaps"), parts.list("dups"));
        put16(body, gaps.len() as u32);
        put16(body, dups.len() as u32);
        for gap in gaps {
            let Value::Range(start, end) = gap.value else {
                return Err(format!("the gap block `{}`", gap.value).into());
            };
            put16(body, start as u32);
            put16(body, end as u32);
        }
        for dup in dups {
            let Some(tsn) = dup.value.number() else {
                return Err(format!("the duplicate `{}`", dup.value).into());
            };
            put32(body, self.peer(tsn as u32));
        }
        Ok(())
    }

    /// The fields of a chunk with its header; `None` where its octets do not have its form.
    pub(super) fn decode_items(&self, form: &Form, chunk: &[u8]) -> Option<Vec<Field>> {
        let mut r = Reader(&chunk[HEADER..]);
        let mut fields = Vec::new();
        for item in form.items {
            self.decode_item(*item, chunk, &mut r, &mut fields)?;
        }
        Some(fields)
    }

    fn decode_item(
        &self,
        item: Item,
        chunk: &[u8],
        r: &mut Reader<'_>,
        fields: &mut Vec<Field>,
    ) -> Option<()> {
        let (kind, flags) = (chunk[0], chunk[1]);
        match item {
            Item::Flags => fields.push(field("flgs", shown_flags(kind, flags))),
            Item::Len => fields.push(number("len", chunk.len() as u32)),
            Item::U16(name) => fields.push(number(name, r.u16()? as u32)),
            Item::U32(name) => fields.push(number(name, r.u32()?)),
            Item::Own(name) => fields.push(number(name, self.own_back(r.u32()?))),
            Item::Peer(name) => fields.push(number(name, self.peer_back(r.u32()?))),
            Item::Tag => fields.push(number("tag", self.tag_back(r.u32()?))),
            Item::Reserved => drop(r.u16()?),
            Item::PpidOrFsn => {
                let begins = flags & 2 != 0;
                fields.push(number(if begins { "ppid" } else { "fsn" }, r.u32()?));
            }
            Item::Payload => {}
            Item::Gaps => self.decode_gaps(r, fields)?,
            Item::SkippedSsns => {
                let ids = r.all(|r| Some(tuple(&[r.u16()? as u32, r.u16()? as u32])))?;
                fields.push(field("ids", list(ids.into_iter())));
            }
            Item::SkippedMids => {
                let ids = r.all(|r| Some(tuple(&[r.u16()? as u32, r.u16()? as u32, r.u32()?])))?;
                fields.push(field("ids", list(ids.into_iter())));
            }
            Item::Octets | Item::Cookie => fields.push(field("val", octets(r.0))),
            Item::Information | Item::InformationBack | Item::Parameters => {
                fields.extend(self.parameters(r.0)?);
            }
            Item::Causes => {
                let cause = |r: &mut Reader<'_>| {
                    r.tlv().map(|(code, value)| unnamed(self.decode_cause(code, value)))
                };
                fields.extend(r.all(cause)?);
            }
            Item::Uncoded(_) => return None,
        }
        Some(())
    }

    fn decode_gaps(&self, r: &mut Reader<'_>, fields: &mut Vec<Field>) -> Option<()> {
        let (gaps, dups) = (r.u16()?, r.u16()?);
        let gaps: Option<Vec<_>> =
            (0..gaps).map(|_| Some(Value::Range(r.u16()? as i64, r.u16()? as i64))).collect();
        let dups: Option<Vec<_>> =
            (0..dups).map(|_| Some(Value::Number(self.peer_back(r.u32()?) as i64))).collect();
        fields.push(field("gaps", list(gaps?.into_iter())));
        fields.push(field("dups", list(dups?.into_iter())));
        Some(())
    }
}

fn put16(body: &mut Vec<u8>, n: u32) {
    body.extend((n as u16).to_be_bytes());
}

fn put32(body: &mut Vec<u8>, n: u32) {
    body.extend(n.to_be_bytes());
}
