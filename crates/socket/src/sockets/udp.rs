//! TCP in UDP (`TCP_REMOTE_UDP_ENCAPS_PORT` of FreeBSD; [`anabranch_wire::tcp::udp`]): which
//! connections have their segments in datagrams, and to which port of the peer's. A segment belongs
//! to a connection only if it comes as those of the connection do; another is refused, in the form in
//! which it came.

use super::{Fd, Key, Kind, Sockets, key_of};
use crate::errno::Errno;
use anabranch_wire::tcp::udp;
use anabranch_wire::{Body, Icmp, IcmpKind, Packet};

/// What a host has for TCP in UDP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpTunnel {
    /// Port of UDP of the host; 0 while there is none.
    pub port: u16,
    /// Octets by which segments in UDP are smaller.
    pub overhead: u32,
}

impl Default for UdpTunnel {
    fn default() -> UdpTunnel {
        UdpTunnel { port: 0, overhead: udp::HEADER as u32 }
    }
}

/// Port of UDP of the datagrams in which segments come; 0 for segments directly in IP.
pub(super) type Via = u16;

impl Sockets {
    /// The segment or message for TCP in what came, and how it came.
    pub(super) fn unwrap(&self, packet: &Packet) -> Option<(Via, Packet)> {
        let own = self.settings.udp.port;
        match &packet.body {
            Body::Udp(_) => {
                let ((src, dst), inner) = udp::unwrap(packet)?;
                (own != 0 && dst == own).then_some((src, inner))
            }
            Body::Icmp(icmp) if icmp.quote.protocol == udp::PROTOCOL => {
                let ((src, dst), quote) = icmp.quote.tunnelled()?;
                let kind = match icmp.kind {
                    IcmpKind::PacketTooBig { mtu } => {
                        IcmpKind::PacketTooBig { mtu: mtu.saturating_sub(udp::HEADER as u32) }
                    }
                    kind => kind,
                };
                let body = Body::Icmp(Box::new(Icmp { kind, quote }));
                let inner = Packet { body, ..packet.clone() };
                (own != 0 && src == own).then_some((dst, inner))
            }
            _ => Some((0, packet.clone())),
        }
    }

    /// Returns how the segments of a connection come and leave.
    pub(super) fn via(&self, key: Key) -> Via {
        self.tunnelled.get(&key).copied().unwrap_or(0)
    }

    /// Returns how the segments of a socket's connection come and leave.
    pub(super) fn via_of(&self, fd: Fd) -> Via {
        match self.table.get(&fd).map(|socket| &socket.kind) {
            Some(Kind::Stream(stream)) => self.via(key_of(&stream.connection)),
            _ => 0,
        }
    }

    pub(super) fn set_via(&mut self, key: Key, via: Via) {
        match via {
            0 => _ = self.tunnelled.remove(&key),
            via => _ = self.tunnelled.insert(key, via),
        }
    }

    /// What is kept of connections that are over, or never were, is forgotten.
    pub(super) fn forget_tunnels(&mut self) {
        let over = |key: &&Key| !self.knows(**key);
        let gone: Vec<Key> = self.tunnelled.keys().filter(over).copied().collect();
        for key in gone {
            self.tunnelled.remove(&key);
        }
    }

    /// A packet as it leaves when it is sent as what came `via` is answered.
    pub(super) fn wrap(&self, packet: Packet, via: Via) -> Option<Packet> {
        match via {
            0 => Some(packet),
            via => {
                let ports = (self.settings.udp.port, via);
                udp::wrap(packet, ports, &self.settings.multipath.book).ok()
            }
        }
    }

    /// A packet of a connection as it leaves.
    pub(super) fn wrap_own(&self, packet: Packet) -> Option<Packet> {
        if self.tunnelled.is_empty() {
            return Some(packet);
        }
        let flow = packet.flow_key();
        let via = self.via((flow.src_port, flow.dst, flow.dst_port));
        self.wrap(packet, via)
    }

    /// `TCP_REMOTE_UDP_ENCAPS_PORT` can be set before the socket is used, and to a port only where
    /// the host has one itself.
    pub(super) fn allows_udp_port(kind: &Kind, own: u16, value: i64) -> Result<(), Errno> {
        let fits = (0..=0xFFFF).contains(&value) && (value == 0 || own != 0);
        match kind {
            Kind::Fresh if fits => Ok(()),
            _ => Err(Errno::EINVAL),
        }
    }
}
