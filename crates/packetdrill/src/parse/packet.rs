//! Packets: IP fields, ports, TCP, UDP and ICMP.

use super::call::field;
use super::cursor::{Cursor, is_word};
use super::error::Parsed;
use super::options::tcp_options;
use super::sctp::sctp;
use crate::script::{
    AddressName, Ect, Encapsulation, Flags, IcmpQuote, IcmpSpec, IpSpec, OptionsSpec, PacketBody,
    PacketSpec, Sequence, Subflow, TcpSpec, UdpSpec,
};
use anabranch_wire::TcpFlags;

pub(super) fn packet(c: &mut Cursor<'_>) -> Parsed<PacketSpec> {
    let inbound = c.take("<");
    if !inbound {
        c.expect(">")?;
    }
    let (mut ip, mut quote) = (IpSpec::default(), None);
    match c.peek() {
        Some('(') => {
            c.expect("(")?;
            ip_fields(c, &mut ip, ")")?;
        }
        Some('[') => {
            c.expect("[")?;
            // nplab writes what an ICMP message quotes before it.
            match c.peek_word() {
                "sctp" | "udp" | "raw" => quote = Some(quoted(c)?),
                _ => ip_fields(c, &mut ip, "]")?,
            }
        }
        _ => {}
    }
    let mut outer = Vec::new();
    while let Some(header) = encapsulation(c)? {
        outer.push(header);
    }
    let subflow = subflow(c)?;
    let ports = ports(c)?;
    let body = match c.peek_word() {
        "icmp" => PacketBody::Icmp(icmp(c, quote)?),
        "udp" => {
            c.word("udp")?;
            c.expect("(")?;
            let len = c.unsigned("a length")?;
            c.expect(")")?;
            PacketBody::Udp(UdpSpec { len })
        }
        "sctp" => PacketBody::Sctp(sctp(c)?),
        _ => PacketBody::Tcp(tcp(c)?),
    };
    let udp = match body {
        PacketBody::Tcp(_) => in_udp(c)?,
        _ => None,
    };
    Ok(PacketSpec { inbound, ip, subflow, outer, ports, udp, body })
}

/// `/udp(source > destination)` behind what stands in a datagram.
fn in_udp(c: &mut Cursor<'_>) -> Parsed<Option<(u16, u16)>> {
    if !c.take("/") {
        return Ok(None);
    }
    c.expect("udp")?;
    c.expect("(")?;
    let src = c.unsigned("a port")?;
    c.expect(">")?;
    let dst = c.unsigned("a port")?;
    c.expect(")")?;
    Ok(Some((src, dst)))
}

fn ip_fields(c: &mut Cursor<'_>, ip: &mut IpSpec, close: &str) -> Parsed<()> {
    const EXPECTED: &str = "noecn, ect0, ect1, ect01, ce, tos, dscp, class, flowlabel, ttl or hlim";
    loop {
        let before = c.clone();
        match c.word(EXPECTED)? {
            "ecn" => continue,
            "noecn" => ip.ect = Some(Ect::None),
            "ect0" => ip.ect = Some(Ect::Ect0),
            "ect1" => ip.ect = Some(Ect::Ect1),
            "ect01" => ip.ect = Some(Ect::Either),
            "ce" => ip.ect = Some(Ect::Ce),
            "tos" | "class" => ip.tos = Some(c.unsigned("an octet")?),
            "dscp" => ip.dscp = Some(c.word("a code point")?.to_owned()),
            "flowlabel" => ip.flow_label = Some(c.unsigned("a flow label")?),
            "ttl" | "hlim" => ip.ttl = Some(c.unsigned("a number of hops")?),
            _ => {
                *c = before;
                return c.fail(EXPECTED);
            }
        }
        if c.take(close) {
            return Ok(());
        }
        c.take(",");
    }
}

fn encapsulation(c: &mut Cursor<'_>) -> Parsed<Option<Encapsulation>> {
    let word = c.peek_word();
    if !matches!(word, "ipv4" | "ipv6" | "gre" | "mpls") {
        return Ok(None);
    }
    c.word("a header")?;
    let is_address = |c: char| is_word(c) || c == '.' || c == ':';
    Ok(Some(match word {
        "gre" => Encapsulation::Gre(c.until(":")?.trim().to_owned()),
        "mpls" => Encapsulation::Mpls(c.until(":")?.trim().to_owned()),
        _ => {
            c.skip_space();
            let src = c.take_while(is_address).to_owned();
            c.expect(">")?;
            c.skip_space();
            let dst = c.take_while(is_address).trim_end_matches(':').to_owned();
            c.take(":");
            Encapsulation::Ip { v6: word == "ipv6", src, dst }
        }
    }))
}

fn subflow(c: &mut Cursor<'_>) -> Parsed<Option<Subflow>> {
    let src = match c.peek_word() {
        "addr" => Some(address(c)?),
        _ if c.peek() == Some('>') => None,
        _ => return Ok(None),
    };
    c.expect(">")?;
    Ok(Some(Subflow { src, dst: address(c)? }))
}

fn address(c: &mut Cursor<'_>) -> Parsed<AddressName> {
    if !c.take_word("addr") {
        return c.fail("`addr[NAME]`");
    }
    c.expect("[")?;
    let inside = field(c)?;
    c.expect("]")?;
    Ok(match inside.name {
        Some(name) => AddressName { name, value: Some(inside.value) },
        None => AddressName { name: inside.value.to_string(), value: None },
    })
}

fn ports(c: &mut Cursor<'_>) -> Parsed<Option<(u16, u16)>> {
    if !c.at_number() || c.rest().starts_with('-') {
        return Ok(None);
    }
    let src = c.unsigned("a port")?;
    c.expect(">")?;
    Ok(Some((src, c.unsigned("a port")?)))
}

/// `first:last(len)`, without the length for what is absent.
pub(super) fn sequence(c: &mut Cursor<'_>) -> Parsed<Sequence> {
    const EXPECTED: &str = "sequence numbers: `1:1001(1000)`";
    let numbers = match c.take("...") {
        true => (None, None),
        false => {
            let start: u32 = c.unsigned(EXPECTED)?;
            c.expect(":")?;
            (Some(start), Some(c.unsigned(EXPECTED)?))
        }
    };
    c.expect("(")?;
    let len = c.unsigned("a length")?;
    c.expect(")")?;
    let absolute = c.take("!");
    if let (Some(start), Some(end)) = numbers
        && start.wrapping_add(len) != end
    {
        return c.fail(format!("a length of {} before", end.wrapping_sub(start)));
    }
    Ok(Sequence { start: numbers.0, end: numbers.1, len, absolute })
}

fn flags(c: &mut Cursor<'_>) -> Parsed<Flags> {
    const EXPECTED: &str = "flags of TCP (letters of FSRPUEWA, `.` for ACK, `-` for none), \
        or icmp, udp, sctp";
    c.skip_space();
    let before = c.clone();
    let mut flags = Flags::default();
    let text = c.take_while(|c| "FSRPUEWA.-".contains(c) || c.is_ascii_digit());
    let mut good = !text.is_empty();
    for letter in text.chars() {
        let bit = match letter {
            'F' => TcpFlags::FIN,
            'S' => TcpFlags::SYN,
            'R' => TcpFlags::RST,
            'P' => TcpFlags::PSH,
            'U' => TcpFlags::URG,
            'E' => TcpFlags::ECE,
            'W' => TcpFlags::CWR,
            'A' => TcpFlags::AE,
            '.' => TcpFlags::ACK,
            '-' => TcpFlags(0),
            digit => {
                let ace = digit.to_digit(8).filter(|_| flags.ace.is_none());
                flags.ace = ace.map(|n| n as u8);
                good &= ace.is_some();
                TcpFlags(0)
            }
        };
        flags.bits = flags.bits.union(bit);
    }
    if !good {
        *c = before;
        return c.fail(EXPECTED);
    }
    Ok(flags)
}

fn tcp(c: &mut Cursor<'_>) -> Parsed<TcpSpec> {
    let flags = flags(c)?;
    let sequence = sequence(c)?;
    let mut spec = TcpSpec {
        flags,
        sequence,
        ack: None,
        window: None,
        urgent: None,
        options: OptionsSpec::List(Vec::new()),
    };
    loop {
        match c.peek_word() {
            "ack" if spec.ack.is_none() => {
                c.word("ack")?;
                spec.ack = Some(c.unsigned("a number")?);
                c.take("!");
            }
            "win" if spec.window.is_none() => {
                c.word("win")?;
                spec.window = Some(c.unsigned("a window from 0 to 65535")?);
            }
            "urg" if spec.urgent.is_none() => {
                c.word("urg")?;
                spec.urgent = Some(c.unsigned("a pointer from 0 to 65535")?);
            }
            _ => break,
        }
    }
    if c.take("<") {
        spec.options = tcp_options(c)?;
    }
    Ok(spec)
}

fn icmp(c: &mut Cursor<'_>, before: Option<IcmpQuote>) -> Parsed<IcmpSpec> {
    c.word("icmp")?;
    let kind = c.word("a type of ICMP")?.to_owned();
    let mut spec = IcmpSpec { kind, code: None, mtu: None, id: None, quote: before, udp: None };
    loop {
        match c.peek_word() {
            "mtu" => {
                c.word("mtu")?;
                spec.mtu = Some(c.unsigned("an MTU")?);
            }
            "id" => {
                c.word("id")?;
                spec.id = Some(c.unsigned("an identifier")?);
            }
            word if spec.code.is_none() && !word.is_empty() => {
                let code = c.defined().unwrap_or(word).to_owned();
                c.word("a code of ICMP")?;
                spec.code = Some(code);
            }
            _ => break,
        }
    }
    if c.take("[") {
        (spec.quote, spec.udp) = (Some(quote(c)?), in_udp(c)?);
        c.expect("]")?;
    }
    Ok(spec)
}

/// What an ICMP message quotes, up to the bracket, which is taken.
fn quoted(c: &mut Cursor<'_>) -> Parsed<IcmpQuote> {
    let quote = quote(c)?;
    c.expect("]")?;
    Ok(quote)
}

/// What an ICMP message quotes.
fn quote(c: &mut Cursor<'_>) -> Parsed<IcmpQuote> {
    let name = c.peek_word();
    let quote = match name {
        "udp" | "raw" | "sctp" => {
            c.word("a protocol")?;
            c.expect("(")?;
            let n = c.unsigned("a number")?;
            c.expect(")")?;
            match name {
                "udp" => IcmpQuote::Udp(n),
                "raw" => IcmpQuote::Raw(n),
                _ => IcmpQuote::Sctp(n),
            }
        }
        _ => IcmpQuote::Tcp(sequence(c)?),
    };
    Ok(quote)
}
