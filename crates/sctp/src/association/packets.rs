//! Chunks get their packets here: addresses, ports, tag, UDP and the AUTH chunk.

use super::Association;
use crate::config::Encapsulation;
use crate::control::auth::Auth;
use crate::route::Route;
use anabranch_wire::sctp::{Chunks, SctpPacket};
use anabranch_wire::{Addr, Body, Packet};

impl Association {
    /// Makes a packet on `path` with the peer's tag.
    pub(super) fn packet(&self, path: usize, chunks: impl Into<Chunks>) -> Packet {
        let path = &self.paths[path];
        self.packet_with(
            path.local,
            path.remote,
            self.identity.peer_port,
            self.identity.peer_tag,
            chunks,
        )
    }

    /// Makes a packet that takes `route`, which answers use.
    pub(super) fn packet_on(&self, route: Route, chunks: impl Into<Chunks>) -> Packet {
        let (src, dst) = (self.source_of(route), self.paths[route.path].remote);
        self.packet_with(src, dst, self.identity.peer_port, self.identity.peer_tag, chunks)
    }

    /// Returns whether both routes lead from one address to one.
    pub(super) fn is_same_route(&self, a: Route, b: Route) -> bool {
        a.path == b.path && (a.source == b.source || self.source_of(a) == self.source_of(b))
    }

    /// Returns the own address that an answer leaves from. One that is about to go sends nothing
    /// any more (RFC 5061 §5.3 F4). To one that was added only a peer sends that has taken it,
    /// though its ASCONF-ACK may come later: that is answered from there (F1).
    pub(super) fn source_of(&self, route: Route) -> Addr {
        let usable = self.paths.local.contains(&route.source) && !self.is_going(route.source);
        if usable { route.source } else { self.paths[route.path].local }
    }

    pub(super) fn packet_with(
        &self,
        src: Addr,
        dst: Addr,
        dst_port: u16,
        tag: u32,
        chunks: impl Into<Chunks>,
    ) -> Packet {
        let chunks = chunks.into();
        let udp = match self.config.udp {
            None => None,
            Some(udp) => self.udp_ports(udp, dst),
        };
        let (src_port, zero_checksum) = (self.identity.local_port, false);
        let sctp = SctpPacket { src_port, dst_port, tag, udp, zero_checksum, chunks };
        let packet = Packet::new(src, dst, Body::Sctp(Box::new(sctp)));
        Packet { dscp: self.config.dscp, ..packet }
    }

    #[cold]
    fn udp_ports(&self, udp: Encapsulation, dst: Addr) -> Option<(u16, u16)> {
        let path = self.paths.iter().find(|path| path.remote == dst);
        let port = path.map_or(Some(udp.remote), |path| path.udp_port);
        port.map(|port| (udp.local, port))
    }

    /// Adds to a packet the AUTH chunk that the peer wants.
    #[cold]
    pub(super) fn signed(&self, auth: &Auth, mut packet: Packet) -> Packet {
        if let (Body::Sctp(sctp), Some(config)) = (&mut packet.body, &self.config.authentication) {
            auth.sign(config, sctp);
        }
        packet
    }
}
