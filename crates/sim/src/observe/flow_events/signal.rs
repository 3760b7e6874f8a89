//! Packets that open and end connections, change their addresses or try paths, by the names that
//! the standards give them.

use anabranch_wire::sctp::Chunk;
use anabranch_wire::tcp::mptcp::MptcpOption;
use anabranch_wire::{Body, Packet, TcpFlags, TcpSegment};

/// A packet, or a chunk of one, that is not about data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Signal {
    /// TCP's SYN (RFC 9293 §3.5).
    Syn,
    /// TCP's SYN with ACK.
    SynAck,
    /// SYN with MP_JOIN (RFC 8684 §3.2).
    Join,
    /// SYN and ACK with MP_JOIN.
    JoinAck,
    /// TCP's FIN (RFC 9293 §3.6).
    Fin,
    /// TCP's RST (RFC 9293 §3.5.2).
    Rst,
    /// ADD_ADDR (RFC 8684 §3.4.1).
    AddAddr,
    /// ADD_ADDR that echoes one.
    AddAddrEcho,
    /// REMOVE_ADDR (RFC 8684 §3.4.2).
    RemoveAddr,
    /// MP_PRIO (RFC 8684 §3.3.8).
    Prio,
    /// MP_FAIL (RFC 8684 §3.7).
    Fail,
    /// SCTP's INIT (RFC 9260 §5.1), and so on.
    Init,
    /// SCTP's INIT ACK (RFC 9260 §5.1).
    InitAck,
    /// SCTP's COOKIE ECHO (RFC 9260 §5.1).
    CookieEcho,
    /// SCTP's COOKIE ACK (RFC 9260 §5.1).
    CookieAck,
    /// SCTP's HEARTBEAT (RFC 9260 §8.3).
    Heartbeat,
    /// SCTP's HEARTBEAT ACK (RFC 9260 §8.3).
    HeartbeatAck,
    /// SCTP's SHUTDOWN (RFC 9260 §9.2).
    Shutdown,
    /// SCTP's SHUTDOWN ACK (RFC 9260 §9.2).
    ShutdownAck,
    /// SCTP's SHUTDOWN COMPLETE (RFC 9260 §9.2).
    ShutdownComplete,
    /// SCTP's ABORT (RFC 9260 §9.1).
    Abort,
    /// ASCONF (RFC 5061 §4.1.1).
    Asconf,
    /// SCTP's ASCONF-ACK (RFC 5061 §4.1.2).
    AsconfAck,
}

impl Signal {
    /// Returns its name in the standard, and the group of its event.
    pub(super) const fn names(self) -> (&'static str, &'static str) {
        match self {
            Signal::Syn => ("SYN", "handshake"),
            Signal::SynAck => ("SYN-ACK", "handshake"),
            Signal::Join => ("SYN with MP_JOIN", "handshake"),
            Signal::JoinAck => ("SYN-ACK with MP_JOIN", "handshake"),
            Signal::Init => ("INIT", "handshake"),
            Signal::InitAck => ("INIT ACK", "handshake"),
            Signal::CookieEcho => ("COOKIE ECHO", "handshake"),
            Signal::CookieAck => ("COOKIE ACK", "handshake"),
            Signal::Fin => ("FIN", "close"),
            Signal::Rst => ("RST", "close"),
            Signal::Shutdown => ("SHUTDOWN", "close"),
            Signal::ShutdownAck => ("SHUTDOWN ACK", "close"),
            Signal::ShutdownComplete => ("SHUTDOWN COMPLETE", "close"),
            Signal::Abort => ("ABORT", "close"),
            Signal::AddAddr => ("ADD_ADDR", "address"),
            Signal::AddAddrEcho => ("ADD_ADDR echo", "address"),
            Signal::RemoveAddr => ("REMOVE_ADDR", "address"),
            Signal::Prio => ("MP_PRIO", "address"),
            Signal::Fail => ("MP_FAIL", "address"),
            Signal::Asconf => ("ASCONF", "address"),
            Signal::AsconfAck => ("ASCONF-ACK", "address"),
            Signal::Heartbeat => ("HEARTBEAT", "heartbeat"),
            Signal::HeartbeatAck => ("HEARTBEAT ACK", "heartbeat"),
        }
    }
}

/// Calls `f` with each signal of a packet.
pub(super) fn of(packet: &Packet, mut f: impl FnMut(Signal)) {
    match &packet.body {
        Body::Tcp(segment) => of_segment(segment, f),
        Body::Sctp(sctp) => sctp.chunks.iter().filter_map(of_chunk).for_each(&mut f),
        Body::Icmp(_) | Body::Udp(_) | Body::Other { .. } => {}
    }
}

fn of_segment(segment: &TcpSegment, mut f: impl FnMut(Signal)) {
    let flags = segment.flags;
    let options = segment.options.mptcp();
    if flags.contains(TcpFlags::SYN) {
        let joins = options.iter().any(|option| matches!(option, MptcpOption::Join(_)));
        f(match (joins, flags.contains(TcpFlags::ACK)) {
            (false, false) => Signal::Syn,
            (false, true) => Signal::SynAck,
            (true, false) => Signal::Join,
            (true, true) => Signal::JoinAck,
        });
    }
    if flags.contains(TcpFlags::FIN) {
        f(Signal::Fin);
    }
    if flags.contains(TcpFlags::RST) {
        f(Signal::Rst);
    }
    for option in options {
        match option {
            MptcpOption::AddAddr(add) if add.mac.is_none() => f(Signal::AddAddrEcho),
            MptcpOption::AddAddr(_) => f(Signal::AddAddr),
            MptcpOption::RemoveAddr(_) => f(Signal::RemoveAddr),
            MptcpOption::Prio { .. } => f(Signal::Prio),
            MptcpOption::Fail { .. } => f(Signal::Fail),
            _ => {}
        }
    }
}

fn of_chunk(chunk: &Chunk) -> Option<Signal> {
    Some(match chunk {
        Chunk::Init(_) => Signal::Init,
        Chunk::InitAck(_) => Signal::InitAck,
        Chunk::CookieEcho(_) => Signal::CookieEcho,
        Chunk::CookieAck => Signal::CookieAck,
        Chunk::Heartbeat(_) => Signal::Heartbeat,
        Chunk::HeartbeatAck(_) => Signal::HeartbeatAck,
        Chunk::Shutdown(_) => Signal::Shutdown,
        Chunk::ShutdownAck => Signal::ShutdownAck,
        Chunk::ShutdownComplete { .. } => Signal::ShutdownComplete,
        Chunk::Abort { .. } => Signal::Abort,
        Chunk::Asconf { .. } => Signal::Asconf,
        Chunk::AsconfAck { .. } => Signal::AsconfAck,
        _ => return None,
    })
}
