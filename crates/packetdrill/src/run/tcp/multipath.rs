//! Multipath TCP between a script and the wire (RFC 8684): what names of keys and
//! of addresses stand for, and options as octets.
//!
//! Data sequence numbers of a script count from the initial ones of both sides,
//! which follow from the keys. A key that the script gives no value is learnt
//! from the stack's first option that has it. What an option of the script
//! leaves out is not compared, and sent as zero.

use super::mapping::{Nonces, Unusable};
use crate::constants::number;
use crate::script::{Field, MptcpArgument, MptcpOption, Subflow, Value};
use crate::stack::{LOCAL, REMOTE};
use anabranch_mptcp::Key;
use anabranch_wire::{Addr, AddressBook};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Kind of the options of Multipath TCP.
const KIND: u8 = 30;

/// The key of the script's side where it gives its name no value.
const DEFAULT_KEY: u64 = 2;

/// The first of the further addresses of either side.
const FURTHER_LOCAL: u32 = 10;
const FURTHER_REMOTE: u32 = 20;

/// What a script's names stand for, and what both sides have told each other.
#[derive(Debug)]
pub(super) struct Multipath {
    keys: BTreeMap<String, u64>,
    /// The script's side, and the stack's.
    remote_key: Option<u64>,
    local_key: Option<u64>,
    addresses: BTreeMap<String, IpAddr>,
    /// Numbers of addresses that the script leaves open, by address.
    numbers: BTreeMap<IpAddr, u8>,
    book: AddressBook,
}

/// The direction in which an option goes, and what left in its place.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// Whether the option comes to the stack.
    pub inbound: bool,
    /// The option that left in its place, where it is expected.
    pub live: Option<&'a [u8]>,
}

impl Multipath {
    pub fn new() -> Multipath {
        Multipath {
            keys: BTreeMap::new(),
            remote_key: None,
            local_key: None,
            addresses: BTreeMap::new(),
            numbers: BTreeMap::new(),
            book: AddressBook::new(),
        }
    }

    /// What stands for addresses on the wire.
    pub fn learn_addresses(&mut self, book: &AddressBook) {
        self.book = book.clone();
    }

    /// The addresses of a subflow that the script names, source and destination;
    /// new names stand for the next free address of their side, or for the
    /// addresses of `live`.
    pub fn addresses_of(
        &mut self,
        subflow: &Subflow,
        inbound: bool,
        live: Option<(Addr, Addr)>,
    ) -> (Option<Addr>, Addr) {
        let src = subflow.src.as_ref().map(|name| {
            let live = live.map(|(src, _)| src);
            self.address(&name.name, name.value.as_ref(), !inbound, live)
        });
        let name = &subflow.dst;
        let dst = self.address(&name.name, name.value.as_ref(), inbound, live.map(|(_, dst)| dst));
        (src, dst)
    }

    fn address(
        &mut self,
        name: &str,
        value: Option<&Value>,
        own: bool,
        live: Option<Addr>,
    ) -> Addr {
        let known = self.addresses.get(name).copied().and_then(|ip| self.book.addr(ip));
        if let Some(addr) = known {
            return addr;
        }
        let given = value.and_then(ip_of).and_then(|ip| self.book.addr(ip));
        let addr = given.or(live).unwrap_or_else(|| self.next_free(own));
        if let Some(ip) = self.book.ip(addr) {
            self.addresses.insert(name.to_owned(), ip);
        }
        addr
    }

    fn next_free(&self, own: bool) -> Addr {
        let (first, further) = if own { (LOCAL, FURTHER_LOCAL) } else { (REMOTE, FURTHER_REMOTE) };
        let taken = |addr: Addr| {
            let ip = self.book.ip(addr);
            self.addresses.values().any(|known| Some(*known) == ip)
        };
        let mut candidates = std::iter::once(first).chain((further..).map(Addr));
        candidates.find(|addr| !taken(*addr)).unwrap_or(first)
    }

    /// Octets of an option, kind and length before them.
    pub fn encode(
        &mut self,
        option: &MptcpOption,
        nonces: &mut Nonces,
        place: Place<'_>,
    ) -> Result<Vec<u8>, Unusable> {
        let mut out = vec![KIND, 0];
        match option.name.as_str() {
            "mpcapable" => self.capable(option, place, &mut out)?,
            "dss" => self.dss(option, place, &mut out),
            "mp_join_syn" | "mp_join_syn_backup" => self.join_syn(option, nonces, place, &mut out),
            "mp_join_syn_ack" | "mp_join_syn_ack_backup" => {
                self.join_syn_ack(option, nonces, place, &mut out);
            }
            "mp_join_ack" => {
                out.extend([0x10, 0]);
                out.extend(&self.join_mac(*nonces, place.inbound)[..20]);
            }
            "add_address" => self.add_address(option, place, &mut out)?,
            "remove_address" => {
                out.push(0x40);
                let ids = option.list("address_id").unwrap_or_default();
                out.extend(ids.iter().filter_map(|field| number(&field.value)).map(|id| id as u8));
            }
            "mp_prio" => out.push(0x50 | flag(option, "backup")),
            "mp_fail" => {
                out.extend([0x60, 0]);
                let dsn = option.value("dsn8").and_then(number).unwrap_or(0) as u64;
                let live = octets(place.live, 4);
                match option.value("dsn8") {
                    // Of the data that came, not of the sender's own (§3.7).
                    Some(_) => out.extend(self.data_number(dsn, place.inbound).to_be_bytes()),
                    None => out.extend(live.unwrap_or([0; 8])),
                }
            }
            "mp_fastclose" => {
                out.extend([0x70, 0]);
                out.extend(self.closing_key(option, place).to_be_bytes());
            }
            "mp_reset" => {
                let transient = option.list("flags").is_some_and(|flags| names(flags, "flag_t"));
                let reason = numbers(option).next().unwrap_or(0);
                out.extend([0x80 | transient as u8, reason as u8]);
            }
            name => return Err(format!("the option {name}")),
        }
        out[1] = out.len() as u8;
        Ok(out)
    }

    /// Writes the octets of MP_CAPABLE (§3.1).
    fn capable(
        &mut self,
        option: &MptcpOption,
        place: Place<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unusable> {
        let flags = match option.list("flags") {
            Some(list) => (0..8)
                .map(|bit| {
                    let name = format!("flag_{}", (b'a' + bit) as char);
                    (names(list, &name) as u8) << (7 - bit)
                })
                .sum(),
            None => numbers(option).next().unwrap_or(0) as u8,
        };
        out.extend([if option.has("v0") { 0 } else { 1 }, flags]);
        let keys = option.list("key").unwrap_or_default();
        if keys.is_empty() {
            // A SYN: the connection has keys of its own.
            (self.local_key, self.remote_key) = (None, None);
        }
        for (at, field) in keys.iter().enumerate() {
            // The first is the sender's, the second the receiver's.
            let senders = at == 0;
            let live = octets(place.live, 4 + 8 * at).map(u64::from_be_bytes);
            let key = self.key(field, place.inbound, senders, live)?;
            out.extend(key.to_be_bytes());
        }
        if let Some(len) = after(option, "mpcdatalen") {
            out.extend((len as u16).to_be_bytes());
        }
        Ok(())
    }

    /// The value of a key: `name`, or `name=value`.
    fn key(
        &mut self,
        field: &Field,
        inbound: bool,
        senders: bool,
        live: Option<u64>,
    ) -> Result<u64, Unusable> {
        let (name, given) = match (&field.name, &field.value) {
            (Some(name), value) => (name.clone(), number(value).map(|key| key as u64)),
            (None, Value::Word(word)) => (word.clone(), None),
            (None, value) => {
                return number(value)
                    .map(|key| key as u64)
                    .ok_or_else(|| format!("the key {value}"));
            }
        };
        let key = match given.or_else(|| self.keys.get(&name).copied()) {
            Some(key) => key,
            None if inbound => DEFAULT_KEY,
            None => live.ok_or_else(|| format!("the key `{name}` is not known"))?,
        };
        self.keys.insert(name, key);
        if senders {
            let side = if inbound { &mut self.remote_key } else { &mut self.local_key };
            side.get_or_insert(key);
        }
        Ok(key)
    }

    fn side_key(&self, own: bool) -> Key {
        Key(if own { self.local_key } else { self.remote_key }.unwrap_or(0))
    }

    /// A number of the script on the wire; `own`: of the stack's data.
    fn data_number(&self, script: u64, own: bool) -> u64 {
        self.side_key(own).idsn().wrapping_add(script)
    }

    /// Writes the octets of DSS (§3.3).
    fn dss(&mut self, option: &MptcpOption, place: Place<'_>, out: &mut Vec<u8>) {
        let own = !place.inbound;
        let (mut flags, mut rest) = (option.has("fin") as u8 * 0x10, Vec::new());
        // Where the parts stand in what left.
        let live_flags = place.live.and_then(|live| live.get(3)).copied().unwrap_or(0);
        let mut at = 4;
        for (short, long, bits, wide, acks) in
            [("dack4", "dack8", 0x01, 0x02, true), ("dsn4", "dsn8", 0x04, 0x08, false)]
        {
            let is_long = mentions(option, long);
            if is_long || mentions(option, short) {
                flags |= bits | if is_long { wide } else { 0 };
                let name = if is_long { long } else { short };
                let given = option.value(name).and_then(number);
                let len = if is_long { 8 } else { 4 };
                match given {
                    Some(script) => {
                        let live = self.data_number(script as u64, own != acks);
                        rest.extend(&live.to_be_bytes()[8 - len..]);
                    }
                    None => rest.extend(slice(place.live, at, len)),
                }
            }
            if live_flags & bits != 0 {
                at += if live_flags & wide != 0 { 8 } else { 4 };
            }
        }
        if flags & 0x04 != 0 {
            for (name, len) in [("ssn", 4), ("dll", 2)] {
                match option.value(name).and_then(number) {
                    Some(script) => rest.extend(&(script as u32).to_be_bytes()[4 - len..]),
                    None => rest.extend(slice(place.live, at, len)),
                }
                at += len;
            }
            if let Some(checksum) = option.value("cksum").and_then(number) {
                rest.extend((checksum as u16).to_be_bytes());
            }
        }
        out.extend([0x20, flags]);
        out.extend(rest);
    }

    fn join_mac(&self, nonces: Nonces, inbound: bool) -> [u8; 32] {
        let (sender, receiver) = (self.side_key(!inbound), self.side_key(inbound));
        let Nonces { local, remote } = nonces;
        let (own, peer) = if inbound { (remote, local) } else { (local, remote) };
        sender.join_mac(receiver, own, peer)
    }

    /// MP_JOIN of a SYN (§3.2).
    fn join_syn(
        &mut self,
        option: &MptcpOption,
        nonces: &mut Nonces,
        place: Place<'_>,
        out: &mut Vec<u8>,
    ) {
        out.extend([0x10 | join_flag(option), self.join_id(option, place)]);
        let token = match option.value("token") {
            Some(Value::Call(_, names)) => {
                let key = names.first().and_then(|argument| match argument {
                    Value::Word(name) => self.keys.get(name).copied(),
                    value => number(value).map(|key| key as u64),
                });
                Key(key.unwrap_or(0)).token()
            }
            Some(value) if number(value).is_some() => number(value).unwrap_or(0) as u32,
            _ => self.side_key(place.inbound).token(),
        };
        out.extend(token.to_be_bytes());
        out.extend(random(option, place, 8, nonces).to_be_bytes());
    }

    fn join_syn_ack(
        &mut self,
        option: &MptcpOption,
        nonces: &mut Nonces,
        place: Place<'_>,
        out: &mut Vec<u8>,
    ) {
        out.extend([0x10 | join_flag(option), self.join_id(option, place)]);
        let nonce = random(option, place, 12, nonces);
        match option.value("sender_hmac") {
            Some(value) if number(value).is_some() => {
                out.extend((number(value).unwrap_or(0) as u64).to_be_bytes());
            }
            _ => out.extend(&self.join_mac(*nonces, place.inbound)[..8]),
        }
        out.extend(nonce.to_be_bytes());
    }

    fn join_id(&self, option: &MptcpOption, place: Place<'_>) -> u8 {
        let live = place.live.and_then(|live| live.get(3)).copied();
        let given = option.value("address_id").and_then(number).map(|id| id as u8);
        given.or(live).unwrap_or(0)
    }

    /// Writes the octets of ADD_ADDR (§3.4.1).
    fn add_address(
        &mut self,
        option: &MptcpOption,
        place: Place<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unusable> {
        let echo = option.has("addr_echo");
        let live_ip = place.live.and_then(|live| match live.len() {
            8 | 10 | 16 | 18 => octets::<4>(place.live, 4).map(IpAddr::from),
            _ => octets::<16>(place.live, 4).map(IpAddr::from),
        });
        let field = option.list("addr").and_then(<[Field]>::first);
        let ip = match field {
            Some(Field { name: Some(name), value, .. }) => {
                let ip = ip_of(value).ok_or_else(|| format!("the address {value}"))?;
                self.addresses.insert(name.clone(), ip);
                ip
            }
            Some(Field { value: Value::Word(name), .. }) => match self.addresses.get(name) {
                Some(ip) => *ip,
                None => {
                    let next = || self.book.ip(self.next_free(!place.inbound));
                    let ip = live_ip.or_else(next).ok_or_else(|| format!("the address {name}"))?;
                    self.addresses.insert(name.clone(), ip);
                    ip
                }
            },
            _ => live_ip.ok_or("an address without a name")?,
        };
        let next = self.numbers.len() as u8 + 1;
        let id = match option.value("address_id").and_then(number) {
            Some(id) => id as u8,
            None => *self.numbers.entry(ip).or_insert(next),
        };
        out.extend([0x30 | echo as u8, id]);
        match ip {
            IpAddr::V4(ip) => out.extend(ip.octets()),
            IpAddr::V6(ip) => out.extend(ip.octets()),
        }
        let port = option.value("port").and_then(number).map(|port| port as u16);
        out.extend(port.map(u16::to_be_bytes).into_iter().flatten());
        if !echo {
            let mac = match option.value("hmac").and_then(number) {
                Some(given) => given as u64,
                None => {
                    let (sender, receiver) =
                        (self.side_key(!place.inbound), self.side_key(place.inbound));
                    sender.address_mac(receiver, id, ip, port)
                }
            };
            out.extend(mac.to_be_bytes());
        }
        Ok(())
    }

    /// The key of an MP_FASTCLOSE: the receiver's, or as the script says.
    fn closing_key(&self, option: &MptcpOption, place: Place<'_>) -> u64 {
        let mut key = self.side_key(place.inbound).0;
        for argument in &option.arguments {
            match argument {
                MptcpArgument::Set(_, value) => key = number(value).unwrap_or(0) as u64,
                MptcpArgument::Word(name) => key = self.keys.get(name).copied().unwrap_or(key),
                MptcpArgument::Number(n) => key = key.wrapping_add(*n as u64),
                MptcpArgument::List(..) => {}
            }
        }
        key
    }
}

/// The random number of a handshake's side, which is remembered.
fn random(option: &MptcpOption, place: Place<'_>, at: usize, nonces: &mut Nonces) -> u32 {
    let given = option.value("rand").and_then(number).map(|nonce| nonce as u32);
    let live = octets(place.live, at).map(u32::from_be_bytes);
    let side = if place.inbound { &mut nonces.remote } else { &mut nonces.local };
    *side = given.or(live).unwrap_or(0x1234_5678);
    *side
}

fn slice(live: Option<&[u8]>, at: usize, len: usize) -> Vec<u8> {
    let part = live.and_then(|live| live.get(at..at + len));
    part.map_or_else(|| vec![0; len], <[u8]>::to_vec)
}

fn octets<const N: usize>(live: Option<&[u8]>, at: usize) -> Option<[u8; N]> {
    live?.get(at..at + N)?.try_into().ok()
}

fn mentions(option: &MptcpOption, word: &str) -> bool {
    option.has(word) || option.value(word).is_some()
}

fn flag(option: &MptcpOption, name: &str) -> u8 {
    let value = option.value(name).and_then(number);
    value.map_or(option.has(name), |n| n != 0) as u8
}

fn join_flag(option: &MptcpOption) -> u8 {
    flag(option, "backup") | option.name.ends_with("_backup") as u8
}

fn names(list: &[Field], name: &str) -> bool {
    list.iter().any(|field| matches!(&field.value, Value::Word(word) if word == name))
}

fn numbers(option: &MptcpOption) -> impl Iterator<Item = i64> + '_ {
    option.arguments.iter().filter_map(|argument| match argument {
        MptcpArgument::Number(n) => Some(*n),
        _ => None,
    })
}

/// The number that follows a word.
fn after(option: &MptcpOption, word: &str) -> Option<i64> {
    let at = option
        .arguments
        .iter()
        .position(|argument| matches!(argument, MptcpArgument::Word(found) if found == word))?;
    match option.arguments.get(at + 1)? {
        MptcpArgument::Number(n) => Some(*n),
        _ => None,
    }
}

/// `inet_addr("192.0.2.1")`, `inet6_addr("2001:db8::1")`.
fn ip_of(value: &Value) -> Option<IpAddr> {
    match value {
        Value::Call(_, arguments) => match arguments.first()? {
            Value::Text(text) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}
