//! What comes from the network and goes there, and when time is up.

use super::{Key, Kind, Socket, Sockets};
use anabranch_endpoint::{ByteStream, Endpoint};
use anabranch_units::Time;
use anabranch_wire::{Body, Packet};

impl Sockets {
    /// A packet came for this host.
    pub fn handle_input(&mut self, now: Time, packet: &Packet) {
        let key = match &packet.body {
            Body::Tcp(segment) => (segment.dst_port, packet.src, segment.src_port),
            Body::Icmp(icmp) => {
                let flow = icmp.quote.flow_key();
                (flow.src_port, flow.dst, flow.dst_port)
            }
            _ => return,
        };
        if self.handle_on_paths(now, packet) {
            return;
        }
        let listening = self.is_listening(key.0);
        let stream = self.streams.get(&key).and_then(|fd| self.table.get_mut(fd));
        if let Some(Socket { kind: Kind::Stream(stream), .. }) = stream {
            if !listening || !stream.connection.gives_way_to(packet) {
                stream.handle_input(now, packet);
                return self.on_stream_input(key);
            }
            self.streams.remove(&key);
        }
        if let Some(orphan) = self.orphans.get_mut(&key) {
            if orphan.gives_way_to(packet) && listening {
                self.orphans.remove(&key);
            } else {
                orphan.handle_input(now, packet);
                // Data for a socket that is closed (RFC 1122 §4.2.2.13).
                if orphan.info().readable > 0 {
                    orphan.abort();
                }
                return;
            }
        }
        if let Some(listener) = self.listener_at(key.0) {
            return listener.handle_input(now, packet);
        }
        self.outgoing.extend(packet.refusal());
    }

    /// What a packet taught a connection is remembered, and its listener hears
    /// when its handshake is over.
    pub(super) fn on_stream_input(&mut self, key: Key) {
        let Some(fd) = self.streams.get(&key).copied() else { return };
        let Some(Socket { kind: Kind::Stream(stream), .. }) = self.table.get_mut(&fd) else {
            return;
        };
        let connection = &mut stream.connection;
        if connection.has_learnt() {
            connection.remember(self.memories.entry(key.1).or_default());
        }
        if connection.config().fast_open.is_some_and(|it| it.server) {
            let listens =
                |it: &&mut Socket| it.port == Some(key.0) && matches!(it.kind, Kind::Listening(_));
            // Taken out, so that the listener can look at it.
            let Some(socket) = self.table.remove(&fd) else { return };
            if let (Kind::Stream(stream), Some(Socket { kind: Kind::Listening(listener), .. })) =
                (&socket.kind, self.table.values_mut().find(listens))
            {
                listener.settle(&stream.connection);
            }
            self.table.insert(fd, socket);
        }
    }

    /// Whether the interface takes packets. While it is full data is not sent,
    /// and what the host sends meanwhile should be dropped.
    pub fn set_device_full(&mut self, full: bool) {
        self.device_full = full;
        for socket in self.table.values_mut() {
            if let Kind::Stream(stream) = &mut socket.kind {
                stream.connection.set_device_full(full);
            }
        }
        self.orphans.values_mut().for_each(|it| it.set_device_full(full));
    }

    /// Deadlines may have passed.
    pub fn handle_timeout(&mut self, now: Time) {
        for socket in self.table.values_mut() {
            match &mut socket.kind {
                Kind::Fresh => {}
                Kind::Listening(listener) => listener.handle_timeout(now),
                Kind::MultipathListening(listener) => listener.handle_timeout(now),
                Kind::Multipath(it) => {
                    it.connection.handle_timeout(now);
                    it.hear();
                }
                Kind::Stream(stream) => {
                    stream.connection.handle_timeout(now);
                    stream.hear(now);
                    if stream.connection.has_learnt() {
                        let peer = stream.connection.remote().0;
                        stream.connection.remember(self.memories.entry(peer).or_default());
                    }
                }
            }
        }
        self.orphans.values_mut().for_each(|it| it.handle_timeout(now));
        self.handle_timeout_of_orphans(now);
    }

    /// The next packet to send; call until `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if let Some(packet) = self.outgoing.pop_front() {
            return Some(packet);
        }
        for socket in self.table.values_mut() {
            let packet = match &mut socket.kind {
                Kind::Fresh => None,
                Kind::Listening(listener) => listener.poll_transmit(now),
                Kind::MultipathListening(listener) => listener.poll_transmit(now),
                Kind::Multipath(it) => {
                    let packet = it.connection.poll_transmit(now);
                    it.hear();
                    packet
                }
                Kind::Stream(stream) => stream.connection.poll_transmit(now),
            };
            if packet.is_some() {
                return packet;
            }
        }
        let packet = self.orphans.values_mut().find_map(|it| it.poll_transmit(now));
        if packet.is_none() {
            self.orphans.retain(|_, it| it.state() != anabranch_tcp::State::Closed);
        }
        packet.or_else(|| self.poll_path_orphans(now))
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Time {
        let sockets = self.table.values().map(|socket| match &socket.kind {
            Kind::Fresh => Time::NEVER,
            Kind::Listening(listener) => listener.poll_timeout(),
            Kind::MultipathListening(listener) => listener.poll_timeout(),
            Kind::Multipath(it) => it.connection.poll_timeout(),
            Kind::Stream(stream) => stream.connection.poll_timeout(),
        });
        let orphans = self.orphans.values().map(Endpoint::poll_timeout);
        let path_orphans = self.path_orphans.iter().map(Endpoint::poll_timeout);
        sockets.chain(orphans).chain(path_orphans).min().unwrap_or(Time::NEVER)
    }
}
