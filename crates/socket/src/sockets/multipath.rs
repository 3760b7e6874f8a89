//! Sockets of Multipath TCP: the host's addresses, who listens, and whose
//! packets are whose.

use super::connecting::Early;
use super::{Fd, Kind, Settings, Socket, Sockets};
use crate::errno::Errno;
use crate::multipath::Multipath;
use anabranch_endpoint::{ByteStream, Demultiplex, Endpoint, TemporalSharing};
use anabranch_mptcp::{Config, Connection, Listener, ListenerCounters, PathManager};
use anabranch_tcp::FastOpenOptions;
use anabranch_units::Time;
use anabranch_wire::{Addr, AddressBook, Body, Packet};
use std::sync::Arc;

/// What the host sets for its connections over several paths.
#[derive(Clone, Debug)]
pub struct MultipathSettings {
    /// Settings of the connections, but for their subflows, which are as [`Settings::config`] says.
    pub config: Config,
    /// Further addresses of the host, with their numbers.
    pub addresses: Vec<(u8, Addr)>,
    /// What addresses look like on the wire.
    pub book: AddressBook,
}

impl Default for MultipathSettings {
    /// Settings as on Linux: numbers of 64 bits, no subflow without being told.
    fn default() -> MultipathSettings {
        let path_manager = PathManager::Single;
        let default = Config::default();
        let config = Config { long_numbers: true, lone_addresses: true, path_manager, ..default };
        MultipathSettings { config, addresses: Vec::new(), book: AddressBook::new() }
    }
}

impl Settings {
    fn multipath_config(&self, options: &crate::options::Options) -> Config {
        let mut subflow = self.config.clone();
        let send_buffer = subflow.send_buffer;
        options.apply(&mut subflow);
        subflow.send_buffer = send_buffer;
        (subflow.fast_open, subflow.keep_alive) = (None, None);
        let nagle = !options.no_delay;
        let book = Arc::new(self.multipath.book.clone());
        Config { subflow, book, nagle, ..self.multipath.config.clone() }
    }
}

impl Sockets {
    /// A new socket of Multipath TCP (`IPPROTO_MPTCP`).
    pub fn multipath_socket(&mut self) -> Fd {
        let fd = self.socket();
        if let Some(socket) = self.table.get_mut(&fd) {
            socket.multipath = true;
        }
        fd
    }

    fn numbered_addresses(&self) -> Vec<(u8, Addr)> {
        let own = std::iter::once((0, self.local));
        own.chain(self.settings.multipath.addresses.iter().copied()).collect()
    }

    pub(super) fn listen_on_paths(&mut self, fd: Fd, backlog: u32) -> Result<(), Errno> {
        let (addresses, generator) = (self.numbered_addresses(), self.generator());
        let (settings, ephemeral) = (self.settings.clone(), self.next_port);
        let socket = self.socket_at(fd)?;
        let port = *socket.port.get_or_insert(ephemeral);
        let mut config = settings.multipath_config(&socket.options);
        config.subflow.fast_open = settings.fast_open.of_listener(&socket.options, backlog);
        let listener = Listener::new(config, &addresses, port, backlog as usize + 1, generator);
        socket.kind = Kind::MultipathListening(Box::new(listener));
        Ok(())
    }

    pub(super) fn accept_of_paths(&mut self, fd: Fd) -> Result<Fd, Errno> {
        let socket = self.socket_at(fd)?;
        let Kind::MultipathListening(listener) = &mut socket.kind else {
            return Err(Errno::EINVAL);
        };
        let connection = listener.accept().ok_or(Errno::EAGAIN)?;
        let (options, port) = (socket.options, socket.port);
        let mut multipath = Multipath::accepted(connection);
        for name in Multipath::INHERITED {
            options.apply_to_paths(&mut multipath.connection, name);
        }
        let kind = Kind::Multipath(Box::new(multipath));
        let socket = Socket { options, port, kind, ..Socket::new(options) };
        Ok(self.insert(Socket { multipath: true, ..socket }))
    }

    pub(super) fn open_paths(
        &mut self,
        fd: Fd,
        now: Time,
        port: u16,
        remote: (Addr, u16),
        (fast_open, early): (Option<FastOpenOptions>, Early<'_>),
    ) -> Result<(), Errno> {
        let (addresses, generator) = (self.numbered_addresses(), self.generator());
        let settings = self.settings.clone();
        let (local, taken) = (self.local, self.tokens());
        let socket = self.socket_at(fd)?;
        let options = socket.options;
        let mut config = settings.multipath_config(&options);
        config.subflow.fast_open = fast_open;
        let mut connection = Connection::client(config, (&[local], port), remote, generator);
        connection.avoid_tokens(|token| taken.contains(&token));
        for (id, addr) in &addresses[1..] {
            connection.add_numbered_address(now, *id, *addr);
        }
        if let Some(memory) = self.memories.get(&remote.0) {
            connection.recall(memory);
        }
        let mut multipath = Multipath::new(connection);
        for name in Multipath::INHERITED {
            options.apply_to_paths(&mut multipath.connection, name);
        }
        multipath.write_with_syn(early.data, early.octets);
        multipath.connection.connect(now);
        let socket = self.socket_at(fd)?;
        socket.port = Some(port);
        socket.kind = Kind::Multipath(Box::new(multipath));
        Ok(())
    }

    /// An address of the host is gone, by its number (`ip mptcp endpoint del`): connections that have it end
    /// its subflows, and tell their peers.
    pub fn remove_path_address(&mut self, now: Time, id: u8) {
        let known = &mut self.settings.multipath.addresses;
        let Some(at) = known.iter().position(|(known, _)| *known == id) else { return };
        let (_, addr) = known.remove(at);
        for socket in self.table.values_mut() {
            if let Kind::Multipath(multipath) = &mut socket.kind {
                multipath.connection.remove_address(now, addr);
                multipath.hear();
            }
        }
    }

    /// Whether subflows from an address of the host are backups from now on, by its number (`ip mptcp
    /// endpoint change`): their peers hear of it (MP_PRIO).
    pub fn set_path_backup(&mut self, id: u8, backup: bool) {
        let known = &self.settings.multipath.addresses;
        let Some((_, addr)) = known.iter().copied().find(|(known, _)| *known == id) else { return };
        for socket in self.table.values_mut() {
            if let Kind::Multipath(multipath) = &mut socket.kind {
                let keys: Vec<_> =
                    multipath.connection.flow_keys().filter(|key| key.src == addr).collect();
                keys.into_iter().for_each(|key| multipath.connection.set_backup(key, backup));
            }
        }
    }

    /// The packet is of a connection over several paths, or for a listener of
    /// such.
    pub(super) fn handle_on_paths(&mut self, now: Time, packet: &Packet) -> bool {
        let port = match &packet.body {
            Body::Tcp(segment) => segment.dst_port,
            Body::Icmp(icmp) => icmp.quote.flow_key().src_port,
            _ => return false,
        };
        let is_its = |socket: &Socket| match &socket.kind {
            Kind::Multipath(multipath) => multipath.connection.is_for(packet),
            _ => false,
        };
        if let Some(fd) = self.table.iter().find(|(_, socket)| is_its(socket)).map(|(fd, _)| *fd) {
            self.on_path_input(now, fd, packet);
            return true;
        }
        if let Some(orphan) = self.path_orphans.iter_mut().find(|orphan| orphan.is_for(packet)) {
            orphan.handle_input(now, packet);
            return true;
        }
        let is_listener = |socket: &Socket| {
            socket.port == Some(port) && matches!(socket.kind, Kind::MultipathListening(_))
        };
        if !self.table.values().any(is_listener) {
            return false;
        }
        let taken = self.tokens();
        self.table.values_mut().any(|socket| match &mut socket.kind {
            Kind::MultipathListening(listener) if socket.port == Some(port) => {
                listener.handle_input(now, packet, |token| taken.contains(&token))
            }
            _ => false,
        })
    }

    /// A packet of a socket's connection. What it taught of the peer is remembered, and its listener hears
    /// when a handshake is over that a Fast Open cookie had ended early.
    fn on_path_input(&mut self, now: Time, fd: Fd, packet: &Packet) {
        let Some(mut socket) = self.table.remove(&fd) else { return };
        if let Kind::Multipath(multipath) = &mut socket.kind {
            multipath.handle_input(now, packet);
            self.remember_paths(&mut multipath.connection);
            let is_listener =
                |other: &&mut Socket| other.port == socket.port && other.is_listening();
            if let Some(Socket { kind: Kind::MultipathListening(listener), .. }) =
                self.table.values_mut().find(is_listener)
            {
                listener.settle(&multipath.connection);
            }
        }
        self.table.insert(fd, socket);
    }

    /// What a connection has learnt of its peer is remembered.
    pub(super) fn remember_paths(&mut self, connection: &mut Connection) {
        if connection.has_learnt() {
            let peer = connection.flow_key().dst;
            connection.remember(self.memories.entry(peer).or_default());
        }
    }

    /// Returns the tokens of the connections that a socket has, or had.
    fn tokens(&self) -> Vec<u32> {
        let open = self.table.values().filter_map(|socket| match &socket.kind {
            Kind::Multipath(multipath) => Some(&multipath.connection),
            _ => None,
        });
        open.chain(&self.path_orphans).map(Connection::token).collect()
    }

    pub(super) fn handle_timeout_of_orphans(&mut self, now: Time) {
        self.path_orphans.iter_mut().for_each(|orphan| orphan.handle_timeout(now));
    }

    pub(super) fn poll_path_orphans(&mut self, now: Time) -> Option<Packet> {
        let packet = self.path_orphans.iter_mut().find_map(|orphan| orphan.poll_transmit(now));
        if packet.is_none() {
            self.path_orphans.retain(|orphan| orphan.flow_keys().next().is_some());
        }
        packet
    }

    /// What the listeners of Multipath TCP have seen, in total.
    pub fn multipath_counters(&self) -> ListenerCounters {
        let mut all = self.path_counters;
        for socket in self.table.values() {
            if let Kind::MultipathListening(listener) = &socket.kind {
                let counters = listener.counters();
                all.capable_syns += counters.capable_syns;
                all.fallback_acks += counters.fallback_acks;
            }
        }
        all
    }
}
