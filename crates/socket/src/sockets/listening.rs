//! Ports, and sockets that listen on them.

use super::{FastOpen, Fd, Kind, Socket, Sockets, Stage, key_of};
use crate::errno::Errno;
use crate::stream::Stream;
use anabranch_endpoint::ByteStream;
use anabranch_tcp::{Config, Listener};
use anabranch_units::Time;

impl Sockets {
    /// Gives the socket a port.
    ///
    /// # Errors
    /// `EBADF`; `EINVAL` when it has one; `EADDRINUSE`.
    pub fn bind(&mut self, fd: Fd, port: u16) -> Result<(), Errno> {
        let socket = self.socket_at(fd)?;
        if socket.port.is_some() {
            return Err(Errno::EINVAL);
        }
        let reuse = socket.options.reuse_address;
        let taken = |(other, socket): (&Fd, &Socket)| {
            *other != fd
                && socket.port == Some(port)
                && (socket.is_listening() || !(reuse && socket.options.reuse_address))
        };
        let lingering = || self.orphans.keys().any(|key| key.0 == port);
        if self.table.iter().any(taken) || !reuse && lingering() {
            return Err(Errno::EADDRINUSE);
        }
        let socket = self.socket_at(fd)?;
        (socket.port, socket.is_bound) = (Some(port), true);
        Ok(())
    }

    /// Listens, with an accept queue of `backlog` connections (one more, as on
    /// Linux).
    ///
    /// # Errors
    /// `EBADF`; `EINVAL` for a socket that is connected.
    pub fn listen(&mut self, fd: Fd, backlog: u32) -> Result<(), Errno> {
        let mut limits = self.settings.backlog;
        limits.backlog = backlog as usize + 1;
        let (mut config, generator) = (self.settings.config.clone(), self.generator());
        let (local, ephemeral) = (self.local, self.next_port);
        let (fast_open, keys) = (self.settings.fast_open, self.keys);
        let socket = self.socket_at(fd)?;
        match socket.kind {
            Kind::Listening(_) | Kind::MultipathListening(_) => return Ok(()),
            Kind::Stream(_) | Kind::Multipath(_) => return Err(Errno::EINVAL),
            Kind::Fresh if socket.multipath => return self.listen_on_paths(fd, backlog),
            Kind::Fresh => {}
        }
        let port = *socket.port.get_or_insert(ephemeral);
        socket.options.apply(&mut config);
        config.fast_open = fast_open.of_listener(&socket.options, backlog);
        let mut listener = Listener::new(config, limits, (local, port), generator);
        listener.set_keys(keys.numbers, keys.cookies);
        socket.backlog = backlog;
        socket.kind = Kind::Listening(Box::new(listener));
        Ok(())
    }

    /// The connection that has waited longest, as a new socket.
    ///
    /// # Errors
    /// `EBADF`; `EINVAL` for a socket that does not listen; `EAGAIN` when none
    /// waits.
    pub fn accept(&mut self, fd: Fd, now: Time) -> Result<Fd, Errno> {
        let socket = self.socket_at(fd)?;
        if socket.multipath {
            return self.accept_of_paths(fd);
        }
        let Kind::Listening(listener) = &mut socket.kind else { return Err(Errno::EINVAL) };
        let Some(connection) = listener.accept() else { return Err(Errno::EAGAIN) };
        let (options, port) = (socket.options, socket.port);
        let key = key_of(&connection);
        let mut stream = Stream::accepted(connection, options.flavor, now);
        stream.connection.set_device_full(self.device_full);
        stream.hears_routers = options.receive_errors;
        stream.hear(now);
        if options.no_delay {
            stream.connection.set_no_delay(true);
        }
        let kind = Kind::Stream(Box::new(stream));
        let stage = Stage::Connected;
        let fd = self.insert(Socket { port, is_bound: true, stage, kind, ..Socket::new(options) });
        self.streams.insert(key, fd);
        Ok(fd)
    }

    /// Connections that nobody accepted are reset.
    pub(super) fn stop_listening(&mut self, kind: Kind) {
        if let Kind::MultipathListening(listener) = kind {
            let counters = listener.counters();
            self.path_counters.capable_syns += counters.capable_syns;
            self.path_counters.fallback_acks += counters.fallback_acks;
            return self.path_orphans.extend(listener.stop());
        }
        let Kind::Listening(mut listener) = kind else { return };
        while let Some(mut connection) = listener.accept() {
            connection.abort();
            self.orphans.insert(key_of(&connection), connection);
        }
    }

    /// What a SYN finds are the settings of now, not of when the port was opened (Linux).
    pub(super) fn refresh_listener(&mut self, port: u16) {
        let (mut config, fast_open) = (self.settings.config.clone(), self.settings.fast_open);
        let listens = |socket: &&mut Socket| socket.port == Some(port) && socket.is_listening();
        let Some(socket) = self.table.values_mut().find(listens) else { return };
        socket.configure_listener(&mut config, fast_open);
        if let Kind::Listening(listener) = &mut socket.kind {
            listener.reconfigure(config);
        }
    }

    pub(super) fn is_listening(&self, port: u16) -> bool {
        let listens = |socket: &Socket| {
            socket.port == Some(port) && matches!(socket.kind, Kind::Listening(_))
        };
        self.table.values().any(listens)
    }

    pub(super) fn listener_at(&mut self, port: u16) -> Option<&mut Listener> {
        self.table.values_mut().find_map(|socket| match &mut socket.kind {
            Kind::Listening(listener) if socket.port == Some(port) => Some(&mut **listener),
            _ => None,
        })
    }
}

impl Socket {
    /// The settings of connections that the socket accepts.
    fn configure_listener(&self, config: &mut Config, fast_open: FastOpen) {
        self.options.apply(config);
        config.fast_open = fast_open.of_listener(&self.options, self.backlog);
    }
}
