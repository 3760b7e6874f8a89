//! Packets as a script writes them.

use super::value::Value;
use anabranch_wire::TcpFlags;

/// A packet that comes in or is expected.
#[derive(Clone, PartialEq, Debug)]
pub struct PacketSpec {
    /// `<`: it comes to the stack; otherwise the stack is to send it.
    pub inbound: bool,
    /// Fields of the IP header.
    pub ip: IpSpec,
    /// The MPTCP subflow, where the script names one.
    pub subflow: Option<Subflow>,
    /// Outer headers, the outermost first.
    pub outer: Vec<Encapsulation>,
    /// Source and destination port, where the script names them.
    pub ports: Option<(u16, u16)>,
    /// `/udp(a > b)` behind a segment: it stands in a datagram between these ports.
    pub udp: Option<(u16, u16)>,
    /// What the packet carries.
    pub body: PacketBody,
}

/// `addr[a] > addr[b]`; `> addr[b]` alone leaves the source open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subflow {
    /// Source.
    pub src: Option<AddressName>,
    /// Destination.
    pub dst: AddressName,
}

/// `addr[name]`, with a value where the script gives one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressName {
    /// The name.
    pub name: String,
    /// `addr[name=inet_addr("192.0.2.1")]`.
    pub value: Option<Value>,
}

/// An outer header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Encapsulation {
    /// `ipv4 a > b:` or `ipv6 a > b:`.
    Ip {
        /// Version 6.
        v6: bool,
        /// Source.
        src: String,
        /// Destination.
        dst: String,
    },
    /// `gre:` or `gre[...]:`, as written.
    Gre(String),
    /// `mpls (...):`, as written.
    Mpls(String),
}

/// What a script says about the IP header; `None` and empty: nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IpSpec {
    /// ECN field.
    pub ect: Option<Ect>,
    /// The whole octet of DSCP and ECN.
    pub tos: Option<u8>,
    /// DSCP by its name.
    pub dscp: Option<String>,
    /// Flow label.
    pub flow_label: Option<u32>,
    /// Hops left.
    pub ttl: Option<u8>,
}

/// The ECN field by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ect {
    /// `noecn`.
    None,
    /// `ect0`.
    Ect0,
    /// `ect1`.
    Ect1,
    /// `ect01`: either.
    Either,
    /// `ce`.
    Ce,
}

/// What a packet carries.
#[derive(Clone, PartialEq, Debug)]
pub enum PacketBody {
    /// A TCP segment.
    Tcp(TcpSpec),
    /// A UDP datagram.
    Udp(UdpSpec),
    /// An ICMP message.
    Icmp(IcmpSpec),
    /// An SCTP packet.
    Sctp(SctpSpec),
}

/// Control bits of a TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags {
    /// The bits.
    pub bits: TcpFlags,
    /// The counter of Accurate ECN in place of AE, CWR and ECE.
    pub ace: Option<u8>,
}

/// `first:last(len)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sequence {
    /// Number of the first octet; `None`: not compared.
    pub start: Option<u32>,
    /// Number after the last octet.
    pub end: Option<u32>,
    /// Octets of payload.
    pub len: u32,
    /// `!`: as it is, not relative to the start of the connection.
    pub absolute: bool,
}

/// A TCP segment.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpSpec {
    /// Control bits.
    pub flags: Flags,
    /// Sequence numbers and length.
    pub sequence: Sequence,
    /// Acknowledgment number.
    pub ack: Option<u32>,
    /// Window field.
    pub window: Option<u16>,
    /// Urgent pointer.
    pub urgent: Option<u16>,
    /// Options.
    pub options: OptionsSpec,
}

/// Options of a TCP segment.
#[derive(Clone, PartialEq, Debug)]
pub enum OptionsSpec {
    /// `<...>`: not compared.
    Any,
    /// These, in this order; none where the script writes none.
    List(Vec<TcpOptionSpec>),
}

/// One TCP option.
#[derive(Clone, PartialEq, Debug)]
pub enum TcpOptionSpec {
    /// No-operation.
    Nop,
    /// End of the list.
    Eol,
    /// Largest segment.
    Mss(u16),
    /// Window scale.
    WindowScale(u8),
    /// SACK permitted.
    SackPermitted,
    /// SACK blocks, relative.
    Sack(Vec<(u32, u32)>),
    /// Timestamps; `None`: not compared.
    Timestamps {
        /// TSval.
        value: Option<u32>,
        /// TSecr.
        echo: Option<u32>,
        /// `!`: the echo is taken as it is.
        absolute: bool,
    },
    /// MD5 digest, or `None` where it is not compared.
    Md5(Option<Vec<u8>>),
    /// Fast Open; a word stands for a cookie that is not defined.
    FastOpen {
        /// Kind 254 instead of 34.
        experimental: bool,
        /// The cookie.
        cookie: Result<Vec<u8>, String>,
    },
    /// AccECN: counters in the order written.
    AccEcn(Vec<(String, u32)>),
    /// `gen-K HEX` or `exp-K HEX`: kind and octets.
    Generic {
        /// Kind.
        kind: u8,
        /// A shared experimental kind (RFC 6994).
        experimental: bool,
        /// The octets after kind and length.
        octets: Vec<u8>,
    },
    /// An MPTCP option.
    Mptcp(MptcpOption),
}

/// An MPTCP option: its name and what follows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MptcpOption {
    /// Name: `mpcapable`, `dss`...
    pub name: String,
    /// Its arguments in order.
    pub arguments: Vec<MptcpArgument>,
}

/// One argument of an MPTCP option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MptcpArgument {
    /// `nocs`, `v1`.
    Word(String),
    /// `mpcdatalen 1000` has the word and the number.
    Number(i64),
    /// `dsn8=1`.
    Set(String, Value),
    /// `key[ckey, skey]`, `flags[flag_h]`, `addr[a]`.
    List(String, Vec<super::Field>),
}

impl MptcpOption {
    /// The word is there.
    pub fn has(&self, word: &str) -> bool {
        self.arguments.iter().any(|it| matches!(it, MptcpArgument::Word(w) if w == word))
    }

    /// What the name is set to.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.arguments.iter().find_map(|it| match it {
            MptcpArgument::Set(n, value) if n == name => Some(value),
            _ => None,
        })
    }

    /// What stands between the brackets behind the name, with `=` before them or without.
    pub fn list(&self, name: &str) -> Option<&[super::Field]> {
        self.arguments.iter().find_map(|it| match it {
            MptcpArgument::List(n, fields) if n == name => Some(fields.as_slice()),
            MptcpArgument::Set(n, Value::List(fields)) if n == name => Some(fields.as_slice()),
            _ => None,
        })
    }
}

/// A UDP datagram: its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpSpec {
    /// Octets of payload.
    pub len: u32,
}

/// An ICMP message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IcmpSpec {
    /// Type by its name.
    pub kind: String,
    /// Code by its name or number.
    pub code: Option<String>,
    /// MTU of the next hop.
    pub mtu: Option<u32>,
    /// Identifier of an echo.
    pub id: Option<u16>,
    /// The packet that it quotes.
    pub quote: Option<IcmpQuote>,
    /// `/udp(a > b)` behind what is quoted: it stood in a datagram between these ports.
    pub udp: Option<(u16, u16)>,
}

/// What an ICMP message quotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IcmpQuote {
    /// `[first:last(len)]` of TCP.
    Tcp(Sequence),
    /// `[udp(len)]`.
    Udp(u32),
    /// `[sctp(tag)]`.
    Sctp(u32),
    /// `[raw(len)]`.
    Raw(u32),
}

/// An SCTP packet.
#[derive(Clone, PartialEq, Debug)]
pub struct SctpSpec {
    /// Verification tag, where the script gives one.
    pub tag: Option<u32>,
    /// The checksum is wrong.
    pub bad_checksum: bool,
    /// The checksum is zero (RFC 9653).
    pub zero_checksum: bool,
    /// UDP ports, source and destination (RFC 6951).
    pub udp: Option<(u16, u16)>,
    /// Each chunk, a [`Value::Tree`] of its name and fields; or one
    /// [`Value::List`] of octets.
    pub chunks: Vec<Value>,
}
