//! What comes from the network and goes there, and when time is up.

use super::{BlackHole, Key, Kind, Socket, Sockets};
use crate::flavor::Flavor;
use crate::stream::refuse_late_data;
use anabranch_endpoint::{ByteStream, Endpoint, TemporalSharing};
use anabranch_units::Time;
use anabranch_wire::tcp::udp;
use anabranch_wire::{Body, Packet, TcpFlags};

impl Sockets {
    /// A packet came for this host.
    pub fn handle_input(&mut self, now: Time, packet: &Packet) {
        let in_ip = match &packet.body {
            Body::Tcp(_) => true,
            Body::Icmp(icmp) => icmp.quote.protocol != udp::PROTOCOL,
            _ => false,
        };
        if in_ip {
            self.handle_segment(now, packet, 0);
        } else if let Some((via, inner)) = self.unwrap(packet) {
            self.handle_segment(now, &inner, via);
        }
    }

    /// A segment came, or a message about one, in IP or in UDP.
    fn handle_segment(&mut self, now: Time, packet: &Packet, via: u16) {
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
        if via != self.via(key) && self.knows(key) && !self.is_replaced_by(key, packet) {
            return self.refuse(packet, via);
        }
        let mut past = None;
        let stream = self.streams.get(&key).and_then(|fd| self.table.get_mut(fd));
        if let Some(Socket { kind: Kind::Stream(stream), .. }) = stream {
            if !listening || !stream.connection.gives_way_to(packet) {
                stream.handle_input(now, packet);
                return self.on_stream_input(key);
            }
            past = Some(stream.connection.past());
            self.streams.remove(&key);
        }
        if let Some(orphan) = self.orphans.get_mut(&key) {
            if orphan.gives_way_to(packet) && listening {
                past = Some(orphan.past());
                self.orphans.remove(&key);
            } else {
                let before = orphan.text_taken();
                orphan.handle_input(now, packet);
                // Data for a socket that is closed (RFC 1122 §4.2.2.13).
                match self.settings.flavor {
                    Flavor::Linux => _ = refuse_late_data(orphan, before, packet),
                    Flavor::FreeBsd if orphan.info().readable > 0 => orphan.abort(),
                    Flavor::FreeBsd => {}
                }
                return;
            }
        }
        let overhead = if via == 0 { 0 } else { self.settings.udp.overhead };
        if listening {
            self.set_via(key, via);
        }
        if matches!(&packet.body, Body::Tcp(segment) if segment.flags.contains(TcpFlags::SYN)) {
            self.refresh_listener(key.0);
        }
        if let Some(listener) = self.listener_at(key.0) {
            past.into_iter().for_each(|past| listener.succeed(past));
            listener.set_overhead(overhead);
            return listener.handle_input(now, packet);
        }
        self.refuse(packet, via);
    }

    /// There is a connection of that key, of a socket, a listener or nobody any more.
    pub(super) fn knows(&self, key: Key) -> bool {
        let remote = (key.1, key.2);
        let held = |socket: &Socket| match &socket.kind {
            Kind::Listening(listener) if socket.port == Some(key.0) => listener.knows(remote),
            _ => false,
        };
        self.streams.contains_key(&key)
            || self.orphans.contains_key(&key)
            || self.table.values().any(held)
    }

    /// The connection of that key waits for its end, and the packet begins another, which may come
    /// another way.
    fn is_replaced_by(&self, key: Key, packet: &Packet) -> bool {
        let socket = self.streams.get(&key).and_then(|fd| self.table.get(fd));
        let stream = socket.and_then(|socket| match &socket.kind {
            Kind::Stream(stream) => Some(&stream.connection),
            _ => None,
        });
        let connection = stream.or_else(|| self.orphans.get(&key));
        connection.is_some_and(|connection| connection.gives_way_to(packet))
            && self.is_listening(key.0)
    }

    /// The packet is for no connection and no listener. Its reset has the service type and the
    /// hop limit of the connection with these ports, or of the socket that is bound to the port.
    fn refuse(&mut self, packet: &Packet, via: u16) {
        let Body::Tcp(segment) = &packet.body else { return };
        let swallowed = match self.settings.black_hole {
            BlackHole::Off => false,
            BlackHole::Syns => segment.flags.contains(TcpFlags::SYN),
            BlackHole::All => true,
        };
        if let Some(reset) = self.settings.config.refusal(packet).filter(|_| !swallowed) {
            let bound = self.table.values().find(|socket| socket.port == Some(segment.dst_port));
            let orphan = self.orphans.get(&(segment.dst_port, packet.src, segment.src_port));
            let (dscp, ttl) = match (orphan, bound) {
                (Some(connection), _) => (connection.config().dscp, connection.config().ttl),
                (None, Some(socket)) => {
                    (socket.options.tos >> 2, socket.options.ttl.unwrap_or(reset.ttl))
                }
                (None, None) => (reset.dscp, reset.ttl),
            };
            let reset = Packet { dscp, ttl, ..reset };
            self.refusals.extend(self.wrap(reset, via));
        }
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
        if connection.config().fast_open.is_some_and(|fast_open| fast_open.server) {
            let listens = |socket: &&mut Socket| {
                socket.port == Some(key.0) && matches!(socket.kind, Kind::Listening(_))
            };
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
        self.orphans.values_mut().for_each(|orphan| orphan.set_device_full(full));
    }

    /// Deadlines may have passed.
    pub fn handle_timeout(&mut self, now: Time) {
        for socket in self.table.values_mut() {
            match &mut socket.kind {
                Kind::Fresh => {}
                Kind::Listening(listener) => listener.handle_timeout(now),
                Kind::MultipathListening(listener) => listener.handle_timeout(now),
                Kind::Multipath(multipath) => {
                    multipath.connection.handle_timeout(now);
                    multipath.hear();
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
        self.orphans.values_mut().for_each(|orphan| orphan.handle_timeout(now));
        self.handle_timeout_of_orphans(now);
    }

    /// The next packet to send; call until `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if let Some(refusal) = self.refusals.pop_front() {
            return Some(refusal);
        }
        loop {
            let Some(packet) = self.next_packet(now) else {
                self.forget_tunnels();
                return None;
            };
            // One that cannot be written into UDP is lost.
            if let Some(packet) = self.wrap_own(packet) {
                return Some(packet);
            }
        }
    }

    /// The next packet of a connection.
    fn next_packet(&mut self, now: Time) -> Option<Packet> {
        if let Some(packet) = self.outgoing.pop_front() {
            return Some(packet);
        }
        for socket in self.table.values_mut() {
            let packet = match &mut socket.kind {
                Kind::Fresh => None,
                Kind::Listening(listener) => listener.poll_transmit(now),
                Kind::MultipathListening(listener) => listener.poll_transmit(now),
                Kind::Multipath(multipath) => {
                    let packet = multipath.connection.poll_transmit(now);
                    multipath.hear();
                    packet
                }
                Kind::Stream(stream) => stream.poll_transmit(now),
            };
            if packet.is_some() {
                return packet;
            }
        }
        let packet = self.orphans.values_mut().find_map(|orphan| orphan.poll_transmit(now));
        if packet.is_none() {
            self.orphans.retain(|_, orphan| orphan.state() != anabranch_tcp::State::Closed);
        }
        packet.or_else(|| self.poll_path_orphans(now))
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout); [`Time::NEVER`] for not at
    /// all.
    pub fn poll_timeout(&self) -> Time {
        let sockets = self.table.values().map(|socket| match &socket.kind {
            Kind::Fresh => Time::NEVER,
            Kind::Listening(listener) => listener.poll_timeout(),
            Kind::MultipathListening(listener) => listener.poll_timeout(),
            Kind::Multipath(multipath) => multipath.connection.poll_timeout(),
            Kind::Stream(stream) => stream.connection.poll_timeout(),
        });
        let orphans = self.orphans.values().map(Endpoint::poll_timeout);
        let path_orphans = self.path_orphans.iter().map(Endpoint::poll_timeout);
        sockets.chain(orphans).chain(path_orphans).min().unwrap_or(Time::NEVER)
    }
}
