//! Structures of socket calls as usrsctp's header has them: values of a script become octets, and octets
//! values, by what the program in C says of offsets and sizes.

use anabranch_packetdrill::constants;
use anabranch_packetdrill::script::{Field, Value};
use anabranch_packetdrill::sctp::values::{address, socket_address, structure};
use anabranch_packetdrill::stack::REMOTE;
use std::collections::BTreeMap;

/// The family of addresses that are pointers.
const AF_CONN: u16 = 123;
/// The address of the peer, as stack.c has it.
const PEER: u64 = 1;

/// The kind of value that a field of a structure has.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    Number,
    Address,
    /// Numbers up to the end; their size is the field's.
    List,
    Inner(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Part {
    name: String,
    offset: usize,
    size: usize,
    kind: Kind,
}

/// An option of sockets, with the layout of its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SocketOption {
    pub level: i64,
    pub number: i64,
    /// Name of the option's structure; `int` for a number.
    pub structure: String,
}

/// The structures and options that the program reported.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Layout {
    sizes: BTreeMap<String, usize>,
    parts: BTreeMap<String, Vec<Part>>,
    options: BTreeMap<String, SocketOption>,
    notifications: BTreeMap<u64, String>,
}

impl Layout {
    /// Reads the lines of stack.c.
    pub fn parse(text: &str) -> Layout {
        let mut layout = Layout::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [kind, name, field, of, a, b] = words[..] else { continue };
            let (Ok(a), Ok(b)) = (a.parse::<usize>(), b.parse::<usize>()) else { continue };
            match kind {
                "size" => _ = layout.sizes.insert(name.into(), a),
                "field" => {
                    let kind = match of {
                        "number" => Kind::Number,
                        "address" => Kind::Address,
                        "list" => Kind::List,
                        inner => Kind::Inner(inner.into()),
                    };
                    let part = Part { name: field.into(), offset: a, size: b, kind };
                    layout.parts.entry(name.into()).or_default().push(part);
                }
                "option" => {
                    let (level, number, structure) = (a as i64, b as i64, of.into());
                    layout.options.insert(name.into(), SocketOption { level, number, structure });
                }
                "notification" => _ = layout.notifications.insert(a as u64, field.into()),
                _ => {}
            }
        }
        layout
    }

    /// The option that scripts call so.
    pub fn option(&self, name: &str) -> Option<&SocketOption> {
        self.options.get(name)
    }

    /// Octets of a structure without lists.
    pub fn size(&self, structure: &str) -> usize {
        self.sizes.get(structure).copied().unwrap_or(4)
    }

    /// The octets of `value`; what it leaves open is 0, and an address none.
    ///
    /// # Errors
    /// A field that the structure does not have.
    pub fn write(&self, structure: &str, value: &Value) -> Result<Vec<u8>, String> {
        let mut octets = vec![0; self.size(structure)];
        let Some(parts) = self.parts.get(structure) else {
            put(&mut octets, constants::number(value).unwrap_or(0) as u64, false);
            return Ok(octets);
        };
        if let Some(unknown) = value.fields().unwrap_or_default().iter().find(|field| {
            field.name.as_ref().is_none_or(|name| parts.iter().all(|part| part.name != *name))
        }) {
            return Err(format!("`{unknown}` in usrsctp's struct {structure}"));
        }
        for Part { name, offset, size, kind } in parts {
            let given = value.field(name).unwrap_or(&Value::Any);
            let place = *offset..*offset + *size;
            match kind {
                Kind::Number => {
                    let number = constants::number(given).unwrap_or(0) as u64;
                    put(&mut octets[place], number, is_of_network(name));
                }
                Kind::Address => {
                    let written = self.address(given);
                    octets[place][..written.len()].copy_from_slice(&written);
                }
                Kind::Inner(inner) => octets[place].copy_from_slice(&self.write(inner, given)?),
                Kind::List => {
                    octets.truncate(*offset);
                    for element in given.fields().unwrap_or_default() {
                        let number = constants::number(&element.value).unwrap_or(0) as u64;
                        let end = octets.len();
                        octets.resize(end + size, 0);
                        put(&mut octets[end..], number, false);
                    }
                }
            }
        }
        Ok(octets)
    }

    /// The value of `octets`, as far as they go.
    pub fn read(&self, of: &str, octets: &[u8]) -> Value {
        let Some(parts) = self.parts.get(of) else {
            return list([Value::Number(get(octets, false) as i64)]);
        };
        let fields = parts.iter().filter_map(|Part { name, offset, size, kind }| {
            let rest = octets.get(*offset..)?;
            let value = match kind {
                Kind::List => list(
                    rest.chunks_exact(*size)
                        .map(|element| Value::Number(get(element, false) as i64)),
                ),
                Kind::Number => Value::Number(get(rest.get(..*size)?, is_of_network(name)) as i64),
                Kind::Inner(inner) => self.read(inner, rest.get(..*size)?),
                Kind::Address => {
                    let port = self.part("sockaddr_conn", "sconn_port")?;
                    let port = get(rest.get(port.offset..port.offset + port.size)?, true);
                    socket_address((REMOTE, port as u16))
                }
            };
            Some((name.as_str(), value))
        });
        structure(fields.collect())
    }

    /// A notification; `None` for one that the header has no structure of.
    pub fn notification(&self, octets: &[u8]) -> Option<Value> {
        let kind = get(octets.get(..2)?, false);
        Some(self.read(self.notifications.get(&kind)?, octets))
    }

    fn part(&self, structure: &str, name: &str) -> Option<&Part> {
        self.parts.get(structure)?.iter().find(|part| part.name == name)
    }

    /// A `struct sockaddr_conn`: of the peer, or of nobody where it is left open.
    fn address(&self, value: &Value) -> Vec<u8> {
        let mut octets = vec![0; self.size("sockaddr_conn")];
        let (_, port) = address(Some(value));
        let known = *value != Value::Any;
        for (name, number) in [
            ("sconn_family", AF_CONN.into()),
            ("sconn_port", if known { port.into() } else { 0 }),
            ("sconn_addr", if known { PEER } else { 0 }),
        ] {
            if let Some(part) = self.part("sockaddr_conn", name) {
                let place = &mut octets[part.offset..part.offset + part.size];
                put(place, number, name == "sconn_port");
            }
        }
        octets
    }
}

/// The library passes it on as it is, and who calls it in the network's order.
fn is_of_network(field: &str) -> bool {
    field.ends_with("_ppid")
}

fn put(place: &mut [u8], number: u64, big_endian: bool) {
    let len = place.len();
    match big_endian || cfg!(target_endian = "big") {
        true => place.copy_from_slice(&number.to_be_bytes()[8 - len..]),
        false => place.copy_from_slice(&number.to_le_bytes()[..len]),
    }
}

fn get(octets: &[u8], big_endian: bool) -> u64 {
    let fold = |all: u64, octet: &u8| all << 8 | u64::from(*octet);
    match big_endian || cfg!(target_endian = "big") {
        true => octets.iter().fold(0, fold),
        false => octets.iter().rev().fold(0, fold),
    }
}

fn list(values: impl IntoIterator<Item = Value>) -> Value {
    let unnamed = |value| Field { name: None, count: None, value };
    Value::List(values.into_iter().map(unnamed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "size sockaddr_conn - - 16 0
field sockaddr_conn sconn_family number 0 2
field sockaddr_conn sconn_port number 2 2
field sockaddr_conn sconn_addr number 8 8
size inner - - 4 0
field inner in_ppid number 0 4
size outer - - 28 0
field outer out_type number 0 2
field outer out_inner inner 4 4
field outer out_address address 8 16
field outer out_list list 26 2
option SCTP_THING - outer 132 7
notification X outer - 3 0
";

    fn number(name: &str, n: i64) -> (&str, Value) {
        (name, Value::Number(n))
    }

    #[test]
    fn a_structure_is_read_back_as_it_was_written() {
        let layout = Layout::parse(LINES);
        let value = structure(vec![
            number("out_type", 3),
            ("out_inner", structure(vec![number("in_ppid", 5)])),
            ("out_address", socket_address((REMOTE, 8080))),
            ("out_list", list([Value::Number(1), Value::Number(300)])),
        ]);
        let octets = layout.write("outer", &value).unwrap();
        assert_eq!(octets.len(), 30);
        assert_eq!(octets[4..8], [0, 0, 0, 5], "identifiers are in the network's order");
        assert_eq!(octets[10..12], 8080_u16.to_be_bytes());
        assert_eq!(layout.read("outer", &octets), value);
        let short = layout.read("outer", &octets[..8]);
        assert_eq!(short.fields().unwrap().len(), 2);
    }

    #[test]
    fn a_field_that_is_none_is_named() {
        let layout = Layout::parse(LINES);
        let value = structure(vec![number("out_kind", 3)]);
        let error = layout.write("outer", &value).unwrap_err();
        assert!(error.contains("out_kind") && error.contains("struct outer"), "{error}");
        let option = layout.option("SCTP_THING").unwrap();
        assert_eq!((option.level, option.number, option.structure.as_str()), (132, 7, "outer"));
        assert_eq!(layout.option("SCTP_OTHER"), None);
    }
}
