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
    /// Source address; `None` where the script leaves it open.
    pub src: Option<AddressName>,
    /// Destination address by its name.
    pub dst: AddressName,
}

/// `addr[name]`, with a value where the script gives one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressName {
    /// The name between the brackets.
    pub name: String,
    /// `addr[name=inet_addr("192.0.2.1")]`.
    pub value: Option<Value>,
}

/// A header in front of the packet's own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Encapsulation {
    /// `ipv4 a > b:` or `ipv6 a > b:`.
    Ip {
        /// Whether the header is of IPv6.
        v6: bool,
        /// Source address, as written.
        src: String,
        /// Destination address, as written.
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
    /// ECN field by its name.
    pub ect: Option<Ect>,
    /// The whole octet of DSCP and ECN.
    pub tos: Option<u8>,
    /// DSCP by its name in the registry.
    pub dscp: Option<String>,
    /// Flow label of IPv6.
    pub flow_label: Option<u32>,
    /// Hops left: TTL or hop limit.
    pub ttl: Option<u8>,
}

/// The ECN field by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ect {
    /// `noecn`: not ECN-capable.
    None,
    /// `ect0`: ECT(0).
    Ect0,
    /// `ect1`: ECT(1).
    Ect1,
    /// `ect01`: ECT(0) or ECT(1).
    Either,
    /// `ce`: congestion experienced.
    Ce,
}

/// The transport's part of a packet.
#[derive(Clone, PartialEq, Debug)]
pub enum PacketBody {
    /// A TCP segment, as written.
    Tcp(TcpSpec),
    /// A UDP datagram, as written.
    Udp(UdpSpec),
    /// An ICMP message, as written.
    Icmp(IcmpSpec),
    /// An SCTP packet, as written.
    Sctp(SctpSpec),
}

/// Control bits of a TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags {
    /// The bits that the script names.
    pub bits: TcpFlags,
    /// The counter of Accurate ECN in place of AE, CWR and ECE.
    pub ace: Option<u8>,
}

/// Sequence numbers as a script writes them: `first:last(len)`.
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

/// A TCP segment as a script writes it; what it leaves open is not compared.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpSpec {
    /// Control bits, and the counter of Accurate ECN.
    pub flags: Flags,
    /// Sequence numbers and length.
    pub sequence: Sequence,
    /// Acknowledgment number; `None` without the flag ACK.
    pub ack: Option<u32>,
    /// Window field; `None`: not compared.
    pub window: Option<u16>,
    /// Urgent pointer; `None` where the script has none.
    pub urgent: Option<u16>,
    /// Options of the header.
    pub options: OptionsSpec,
}

/// Options of a TCP segment.
#[derive(Clone, PartialEq, Debug)]
pub enum OptionsSpec {
    /// `<...>`: options are not compared.
    Any,
    /// The options in this order; none where the script writes none.
    List(Vec<TcpOptionSpec>),
}

/// One TCP option as a script writes it.
#[derive(Clone, PartialEq, Debug)]
pub enum TcpOptionSpec {
    /// `nop`: no-operation.
    Nop,
    /// `eol`: end of the option list.
    Eol,
    /// Maximum segment size, in octets.
    Mss(u16),
    /// Window scale: the shift.
    WindowScale(u8),
    /// SACK permitted: `sackOK`.
    SackPermitted,
    /// SACK blocks, relative to the start of the connection.
    Sack(Vec<(u32, u32)>),
    /// Timestamps; `None`: not compared.
    Timestamps {
        /// TSval; `None`: not compared.
        value: Option<u32>,
        /// TSecr; `None`: not compared.
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
        /// Octets of the cookie, or the word that stands for it.
        cookie: Result<Vec<u8>, String>,
    },
    /// AccECN: counters in the order written.
    AccEcn(Vec<(String, u32)>),
    /// `gen-K HEX` or `exp-K HEX`: kind and octets.
    Generic {
        /// Kind of the option.
        kind: u8,
        /// A shared experimental kind (RFC 6994).
        experimental: bool,
        /// The octets after kind and length.
        octets: Vec<u8>,
    },
    /// An option of Multipath TCP.
    Mptcp(MptcpOption),
}

/// An MPTCP option: its name and what follows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MptcpOption {
    /// Name: `mpcapable`, `dss`...
    pub name: String,
    /// Its arguments, in order.
    pub arguments: Vec<MptcpArgument>,
}

/// One argument of an MPTCP option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MptcpArgument {
    /// A word alone: `nocs`, `v1`.
    Word(String),
    /// `mpcdatalen 1000` has the word and the number.
    Number(i64),
    /// A name with a value: `dsn8=1`.
    Set(String, Value),
    /// `key[ckey, skey]`, `flags[flag_h]`, `addr[a]`.
    List(String, Vec<super::Field>),
}

impl MptcpOption {
    /// Whether the word is among the arguments.
    pub fn has(&self, word: &str) -> bool {
        self.arguments
            .iter()
            .any(|argument| matches!(argument, MptcpArgument::Word(w) if w == word))
    }

    /// What the name is set to.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.arguments.iter().find_map(|argument| match argument {
            MptcpArgument::Set(n, value) if n == name => Some(value),
            _ => None,
        })
    }

    /// What stands between the brackets behind the name, with `=` before them or without.
    pub fn list(&self, name: &str) -> Option<&[super::Field]> {
        self.arguments.iter().find_map(|argument| match argument {
            MptcpArgument::List(n, fields) if n == name => Some(fields.as_slice()),
            MptcpArgument::Set(n, Value::List(fields)) if n == name => Some(fields.as_slice()),
            _ => None,
        })
    }
}

/// A UDP datagram: its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpSpec {
    /// Octets of payload in the datagram.
    pub len: u32,
}

/// An ICMP message as a script writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IcmpSpec {
    /// Type of the message by its name.
    pub kind: String,
    /// Code by its name or number.
    pub code: Option<String>,
    /// MTU of the next hop, in octets.
    pub mtu: Option<u32>,
    /// Identifier of an echo request or reply.
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
    /// `[udp(len)]`: octets of UDP payload.
    Udp(u32),
    /// `[sctp(tag)]`: the verification tag.
    Sctp(u32),
    /// `[raw(len)]`: octets of any protocol.
    Raw(u32),
}

/// An SCTP packet as a script writes it.
#[derive(Clone, PartialEq, Debug)]
pub struct SctpSpec {
    /// Verification tag, where the script gives one.
    pub tag: Option<u32>,
    /// The checksum is wrong on purpose.
    pub bad_checksum: bool,
    /// The checksum is zero (RFC 9653).
    pub zero_checksum: bool,
    /// UDP ports, source and destination (RFC 6951).
    pub udp: Option<(u16, u16)>,
    /// Each chunk, a [`Value::Tree`] of its name and fields; or one
    /// [`Value::List`] of octets.
    pub chunks: Vec<Value>,
}
