//! Packets between a script and the wire.

use super::mapping::{Mapping, Unusable};
use super::multipath::Multipath;
use super::options;
use crate::run::dialect::Merged;
use crate::run::{icmp, ip};
use crate::script::{IcmpQuote, IcmpSpec, PacketBody, PacketSpec, TcpSpec};
use anabranch_units::Serial32;
use anabranch_wire::icmp::PROTOCOL_V4;
use anabranch_wire::tcp::mptcp::Mapping as MptcpMapping;
use anabranch_wire::tcp::udp;
use anabranch_wire::{
    AddressBook, Body, Icmp, IcmpKind, Packet, Payload, Quote, TcpFlags, TcpOptions, TcpSegment,
};

/// The packet that comes to the stack.
pub(super) fn inbound(
    spec: &PacketSpec,
    mapping: &mut Mapping,
    multipath: &mut Multipath,
) -> Result<Packet, Unusable> {
    let body = match &spec.body {
        PacketBody::Tcp(tcp) => Body::Tcp(segment(tcp, mapping, multipath)?),
        PacketBody::Icmp(icmp) => message(icmp, mapping)?,
        PacketBody::Udp(_) => return Err("a datagram of UDP".into()),
        PacketBody::Sctp(_) => return Err("a packet of SCTP".into()),
    };
    let (local, remote) = mapping.addresses();
    let mut packet = Packet::new(remote, local, body);
    ip::mark(&spec.ip, &mut packet);
    match spec.udp {
        Some(ports) => {
            let book = AddressBook::new();
            udp::wrap(packet, ports, &book).map_err(|error| error.to_string())
        }
        None => Ok(packet),
    }
}

/// The flags, with the counter of Accurate ECN in its bits.
fn flags(spec: &TcpSpec) -> TcpFlags {
    let ace = spec.flags.ace.map_or(0, u16::from);
    TcpFlags(spec.flags.bits.0 | ace << 6)
}

/// The payload fits a packet of IPv4: 65,535 octets with both headers (RFC 791 §3.1).
fn fits(len: u32) -> Result<(), Unusable> {
    const MOST: u32 = 65_535 - 20 - 20;
    match len <= MOST {
        true => Ok(()),
        false => Err(format!("a payload of {len} octets; a packet that comes holds 0 to {MOST}")),
    }
}

fn segment(
    spec: &TcpSpec,
    mapping: &mut Mapping,
    multipath: &mut Multipath,
) -> Result<TcpSegment, Unusable> {
    let (local, remote) = mapping.ports();
    let flags = flags(spec);
    let Some(start) = spec.sequence.start else {
        return Err("a packet that comes needs its numbers".into());
    };
    fits(spec.sequence.len)?;
    let acks = flags.contains(TcpFlags::ACK) || spec.ack.is_some();
    let syn = flags.contains(TcpFlags::SYN);
    Ok(TcpSegment {
        src_port: remote,
        dst_port: local,
        seq: mapping.remote_to_live(start, syn),
        ack: match acks {
            true => mapping.to_live(spec.ack.unwrap_or(0), syn),
            false => Serial32(0),
        },
        flags,
        window: spec.window.unwrap_or(0),
        urgent: spec.urgent.unwrap_or(0),
        options: options::inbound(&spec.options, mapping, multipath)?,
        payload: Payload::virtual_of(spec.sequence.len),
    })
}

/// The message of ICMP; empty for one that no transport acts on.
fn message(spec: &IcmpSpec, mapping: &Mapping) -> Result<Body, Unusable> {
    let Some(kind) = icmp::kind(spec)? else {
        return Ok(Body::Other { protocol: PROTOCOL_V4, payload: Payload::EMPTY });
    };
    let kind = match kind {
        // The packet value counts headers of IPv4.
        IcmpKind::PacketTooBig { mtu } => {
            IcmpKind::PacketTooBig { mtu: mtu.saturating_sub(mapping.longer_header) }
        }
        kind => kind,
    };
    let Some(IcmpQuote::Tcp(sequence)) = &spec.quote else {
        return Err("a message of ICMP that quotes no TCP".into());
    };
    let (local, remote) = mapping.ports();
    let (own, peer) = mapping.addresses();
    let quoted = TcpSegment {
        src_port: local,
        dst_port: remote,
        seq: mapping.quoted(sequence),
        ack: Serial32(0),
        flags: TcpFlags::ACK,
        window: 0,
        urgent: 0,
        options: TcpOptions::default(),
        payload: Payload::virtual_of(sequence.len),
    };
    let quote = Quote::of(&Packet::new(own, peer, Body::Tcp(quoted)));
    let quote = spec.udp.map_or(quote, |ports| quote.in_udp(ports));
    Ok(Body::Icmp(Box::new(Icmp { kind, quote })))
}

/// Adds the segment that follows to those that left before it, as one (a
/// script may write what offloading hardware would have sent at once): the
/// number and CWR of the first, the rest of the last, and one mapping of data
/// sequence numbers for all, as one buffer has for the hardware to cut. False
/// when it does not follow.
pub(super) fn join(merged: &mut Merged, next: &Packet) -> bool {
    let (Body::Tcp(so_far), Body::Tcp(segment)) = (&merged.packet.body, &next.body) else {
        return false;
    };
    let varying = TcpFlags::PSH.union(TcpFlags::FIN).union(TcpFlags::CWR).0;
    let (len, more) = (so_far.payload.len(), segment.payload.len());
    let follows = so_far.seq.add(len) == segment.seq
        && so_far.ack == segment.ack
        && so_far.flags.0 & !varying == segment.flags.0 & !varying
        && !so_far.flags.contains(TcpFlags::FIN)
        && more > 0;
    if !follows {
        return false;
    }
    let cwr = so_far.flags.0 & TcpFlags::CWR.0;
    let flags = TcpFlags(segment.flags.0 & !TcpFlags::CWR.0 | cwr);
    let joined = TcpSegment {
        seq: so_far.seq,
        flags,
        payload: Payload::virtual_of(len + more),
        options: joined_options(&so_far.options, &segment.options),
        ..segment.clone()
    };
    merged.packet = Packet { body: Body::Tcp(joined), ..next.clone() };
    merged.segments += 1;
    true
}

/// The options of the last of two segments, whose mapping (RFC 8684 §3.3.1) goes on where that of the first
/// ends and becomes one with it.
fn joined_options(first: &TcpOptions, last: &TcpOptions) -> TcpOptions {
    let mut options = last.clone();
    let before = first.dss().and_then(|dss| dss.mapping);
    if let Some(mut dss) = last.dss()
        && let Some((before, after)) = before.zip(dss.mapping)
        && before.ssn.wrapping_add(before.len.into()) == after.ssn
        && before.checksum.is_none()
        && let Some(len) = before.len.checked_add(after.len)
    {
        dss.mapping = Some(MptcpMapping { len, ..before });
        options.set_dss(&dss);
    }
    options
}

/// Compares what left with what the script expects; the difference in words.
pub(super) fn compare(
    spec: &PacketSpec,
    merged: &Merged,
    mapping: &mut Mapping,
    multipath: &mut Multipath,
) -> Result<Option<String>, Unusable> {
    let PacketBody::Tcp(tcp) = &spec.body else {
        return Err("a packet that is none of TCP".into());
    };
    let Body::Tcp(segment) = &merged.packet.body else {
        return Ok(Some("a packet of another protocol came".into()));
    };
    if let Some(difference) = ip::differs(&spec.ip, &merged.packet) {
        return Ok(Some(difference));
    }
    if spec.udp != merged.udp {
        return Ok(Some(match merged.udp {
            None => "the segment is not in UDP".into(),
            Some((src, dst)) => format!("the segment is in UDP, from port {src} to {dst}"),
        }));
    }
    // With several segments PSH is what the hardware would have made of it.
    let ignored = if merged.segments > 1 { TcpFlags::PSH.0 } else { 0 };
    if (flags(tcp).0 ^ segment.flags.0) & !ignored != 0 {
        return Ok(Some("the flags differ".into()));
    }
    let syn = segment.flags.contains(TcpFlags::SYN);
    let seq = match tcp.sequence.absolute {
        true => segment.seq.0,
        false => mapping.to_script(segment.seq, syn),
    };
    if let Some(start) = tcp.sequence.start.filter(|start| *start != seq) {
        return Ok(Some(format!("the sequence number is {seq}, not {start}")));
    }
    let len = segment.payload.len();
    if tcp.sequence.len != len {
        return Ok(Some(format!("the payload has {len} octets, not {}", tcp.sequence.len)));
    }
    let acks = segment.flags.contains(TcpFlags::ACK);
    let actual_ack = mapping.remote_to_script(segment.ack, syn);
    if let Some(ack) = tcp.ack.filter(|ack| acks && *ack != actual_ack) {
        return Ok(Some(format!("the acknowledgment is {actual_ack}, not {ack}")));
    }
    if let Some(window) = tcp.window.filter(|window| *window != segment.window) {
        return Ok(Some(format!("the window is {}, not {window}", segment.window)));
    }
    if let Some(urgent) = tcp.urgent.filter(|urgent| *urgent != segment.urgent) {
        return Ok(Some(format!("the urgent pointer is {}, not {urgent}", segment.urgent)));
    }
    options::compare(&tcp.options, &segment.options, mapping, multipath)
}

/// The packet as a script would write it.
pub(super) fn show(packet: &Packet, mapping: &Mapping, inbound: bool) -> String {
    let sign = if inbound { '<' } else { '>' };
    let ecn = ip::shown_ecn(packet);
    let segment = match &packet.body {
        Body::Tcp(segment) => segment,
        Body::Icmp(icmp) => return format!("{sign} icmp {:?}", icmp.kind),
        Body::Sctp(_) => return format!("{sign} sctp"),
        Body::Udp(datagram) => return format!("{sign} udp ({})", datagram.data_len()),
        Body::Other { protocol, payload } => {
            return format!("{sign} protocol {protocol} ({})", payload.len());
        }
    };
    let letters = [
        (TcpFlags::FIN, 'F'),
        (TcpFlags::SYN, 'S'),
        (TcpFlags::RST, 'R'),
        (TcpFlags::PSH, 'P'),
        (TcpFlags::URG, 'U'),
        (TcpFlags::ECE, 'E'),
        (TcpFlags::CWR, 'W'),
        (TcpFlags::AE, 'A'),
        (TcpFlags::ACK, '.'),
    ];
    let flags = letters.iter().filter(|(flag, _)| segment.flags.contains(*flag));
    let flags: String = flags.map(|(_, letter)| letter).collect();
    let flags = if flags.is_empty() { "-" } else { &flags };
    let syn = segment.flags.contains(TcpFlags::SYN);
    let remote = |number| mapping.remote_to_script(number, syn);
    let (seq, ack) = match inbound {
        true => (remote(segment.seq), mapping.to_script(segment.ack, syn)),
        false => (mapping.to_script(segment.seq, syn), remote(segment.ack)),
    };
    let len = segment.payload.len();
    let mut text = format!("{sign} {ecn}{flags} {seq}:{}({len})", seq.wrapping_add(len));
    if segment.flags.contains(TcpFlags::ACK) {
        text += &format!(" ack {ack}");
    }
    text += &format!(" win {}", segment.window);
    if segment.flags.contains(TcpFlags::URG) {
        text += &format!(" urg {}", segment.urgent);
    }
    let options = options::show(&segment.options, mapping, inbound);
    if !options.is_empty() {
        text += &format!(" <{options}>");
    }
    text
}
