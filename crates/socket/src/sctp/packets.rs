//! Packets and time.

use super::{AssociationId, SctpSockets, Style};
use crate::sockets::Fd;
use anabranch_endpoint::Endpoint;
use anabranch_sctp::State;
use anabranch_units::Time;
use anabranch_wire::sctp::{Chunk, SctpPacket};
use anabranch_wire::{Body, Packet};

impl SctpSockets {
    /// A packet came, of SCTP or an error of ICMP about one.
    pub fn handle_input(&mut self, now: Time, packet: &Packet) {
        match &packet.body {
            Body::Sctp(sctp) => self.on_packet(now, packet, sctp),
            Body::Icmp(icmp) => {
                let key = icmp.quote.flow_key();
                let found = self.find(key.src_port, key.dst_port, |held| {
                    held.peers().any(|peer| peer == key.dst)
                });
                if let Some(id) = found {
                    self.pass(now, id, packet);
                }
            }
            _ => {}
        }
    }

    fn find(
        &self,
        local: u16,
        peer: u16,
        fits: impl Fn(&super::Held) -> bool,
    ) -> Option<AssociationId> {
        let found = self.associations.iter().find(|(_, held)| {
            held.ended.is_none() && (held.local_port, held.peer_port) == (local, peer) && fits(held)
        });
        found.map(|(id, _)| *id)
    }

    fn pass(&mut self, now: Time, id: AssociationId, packet: &Packet) {
        if let Some(held) = self.associations.get_mut(&id) {
            held.engine.handle_input(now, packet);
        }
        self.hear(id);
    }

    fn on_packet(&mut self, now: Time, packet: &Packet, sctp: &SctpPacket) {
        if !self.addresses.contains(&packet.dst) {
            return;
        }
        // An INIT ACK may come from an address that is not known yet, and other packets name one that
        // is (RFC 9260 §5.1.2 D).
        let known = self.find(sctp.dst_port, sctp.src_port, |held| {
            held.engine.state() == State::CookieWait
                || held.peers().any(|peer| {
                    peer == packet.src || sctp.named_sources().any(|named| named == peer)
                })
        });
        if let Some(id) = known {
            return self.pass(now, id, packet);
        }
        let listening = self
            .table
            .iter()
            .find(|(_, socket)| socket.port == Some(sctp.dst_port) && socket.listener.is_some());
        match listening.map(|(fd, _)| *fd) {
            Some(fd) => self.knock(now, fd, packet, sctp),
            None => self.outgoing.extend(packet.refusal()),
        }
    }

    /// A packet of nobody's for a listener.
    fn knock(&mut self, now: Time, fd: Fd, packet: &Packet, sctp: &SctpPacket) {
        let Some(socket) = self.table.get_mut(&fd) else { return };
        let full =
            socket.style == Style::OneToOne && socket.associations.len() > socket.backlog as usize;
        let opens = matches!(sctp.chunks.first(), Some(Chunk::Init(_) | Chunk::CookieEcho(_)));
        if opens && full {
            return; // the peer tries again
        }
        let Some(listener) = &mut socket.listener else { return };
        listener.handle_input(now, packet);
        if listener.state() == State::Closed {
            while let Some(answer) = listener.poll_transmit(now) {
                self.outgoing.push_back(answer);
            }
            return;
        }
        // A cookie was right: the endpoint has become an association, and
        // another one listens.
        let (options, port) = (socket.options.clone(), sctp.dst_port);
        let fresh = Box::new(self.answering(&options, port));
        let socket = self.table.get_mut(&fd).and_then(|socket| socket.listener.replace(fresh));
        if let Some(engine) = socket {
            self.hold(*engine, fd, port);
        }
    }

    /// A deadline may have passed.
    pub fn handle_timeout(&mut self, now: Time) {
        let ids: Vec<AssociationId> = self.associations.keys().copied().collect();
        for id in ids {
            if let Some(held) = self.associations.get_mut(&id)
                && held.engine.poll_timeout() <= now
            {
                held.engine.handle_timeout(now);
                self.hear(id);
            }
        }
    }

    /// The next packet to send; call until `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if let Some(packet) = self.outgoing.pop_front() {
            return Some(packet);
        }
        self.poll_associations(now)
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout); [`Time::NEVER`] for not at
    /// all.
    pub fn poll_timeout(&self) -> Time {
        let all = self.associations.values().map(|held| held.engine.poll_timeout());
        all.min().unwrap_or(Time::NEVER)
    }
}
