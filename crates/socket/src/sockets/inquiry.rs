//! Options, readiness, and what is known of a connection.

use super::{Fd, Kind, Sockets};
use crate::errno::Errno;
use crate::flavor::Flavor;
use crate::multipath::Multipath;
use crate::options::Name;
use crate::stream::{Readiness, TcpInfo};
use anabranch_endpoint::ByteStream;
use anabranch_tcp::{Connection, State};
use anabranch_units::Time;
use anabranch_wire::Addr;

impl Sockets {
    /// Sets an option.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL`, `ENOPROTOOPT`.
    pub fn set_option(&mut self, fd: Fd, name: Name, value: i64) -> Result<(), Errno> {
        let no_fast_open = !self.settings.fast_open.client;
        let tunnel = self.settings.udp.port;
        let socket = self.socket_at(fd)?;
        match (name, &socket.kind) {
            (Name::FastOpenConnect, _) if no_fast_open => return Err(Errno::EOPNOTSUPP),
            (Name::RemoteUdpPort, kind) => Sockets::allows_udp_port(kind, tunnel, value)?,
            (Name::FastOpenConnect, Kind::Fresh) if socket.deferred.is_none() => {}
            (Name::FastOpenConnect, _) => return Err(Errno::EINVAL),
            (name, _) if socket.multipath && Multipath::refuses(name).is_some() => {
                return Multipath::refuses(name).map_or(Ok(()), |(set, _)| Err(set));
            }
            _ => {}
        }
        socket.options.set(name, value)?;
        match &mut socket.kind {
            Kind::Stream(stream) => {
                stream.hears_routers = socket.options.receive_errors;
                socket.options.apply_to(&mut stream.connection, name);
            }
            Kind::Multipath(multipath) => {
                socket.options.apply_to_paths(&mut multipath.connection, name)
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads an option.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn option(&mut self, fd: Fd, name: Name) -> Result<i64, Errno> {
        let config = &self.settings.config;
        let (mss, syn_retries) = (config.mss, config.syn_retries);
        let (buffer, opening_timeout) = (config.receive_buffer, config.opening_timeout);
        let via = self.via_of(fd);
        let socket = self.socket_at(fd)?;
        if let Some((_, get)) = Multipath::refuses(name).filter(|_| socket.multipath) {
            return Err(get);
        }
        Ok(match (name, &mut socket.kind) {
            (Name::Error, Kind::Multipath(multipath)) => {
                multipath.error.take().map_or(0, |e| e.number() as i64)
            }
            (Name::Error, Kind::Stream(s)) => s.take_any_error().map_or(0, |e| e.number() as i64),
            (Name::Error, _) => socket.error.take().map_or(0, |e| e.number() as i64),
            (Name::MaxSegment, Kind::Stream(stream)) => stream.connection.info().mss as i64,
            (Name::MaxSegment, Kind::Listening(_)) => {
                socket.options.max_segment.unwrap_or(mss) as i64
            }
            (Name::ReceiveBuffer, kind) if socket.options.flavor == Flavor::FreeBsd => match kind {
                Kind::Stream(stream) => stream.connection.receive_buffer() as i64,
                _ => socket.options.receive_buffer.unwrap_or(buffer) as i64,
            },
            (Name::RemoteUdpPort, Kind::Stream(_)) => via as i64,
            (Name::OpeningTimeout, _) => {
                let timeout = socket.options.opening_timeout.or(opening_timeout);
                timeout.map_or(0, |timeout| (timeout.as_millis() / 1000) as i64)
            }
            (Name::SynRetries, _) => socket.options.syn_retries.unwrap_or(syn_retries) as i64,
            _ => socket.options.get(name),
        })
    }

    /// What the socket is ready for.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn readiness(&self, fd: Fd) -> Result<Readiness, Errno> {
        let socket = self.table.get(&fd).ok_or(Errno::EBADF)?;
        Ok(match &socket.kind {
            Kind::Fresh => Readiness {
                writable: true,
                hang_up: socket.deferred.is_none(),
                error: socket.error.is_some(),
                ..Readiness::default()
            },
            Kind::Listening(listener) => {
                Readiness { readable: listener.lengths().1 > 0, ..Readiness::default() }
            }
            Kind::Stream(stream) => stream.readiness(&socket.options),
            Kind::Multipath(multipath) => multipath.readiness(&socket.options),
            Kind::MultipathListening(listener) => {
                Readiness { readable: listener.waiting() > 0, ..Readiness::default() }
            }
        })
    }

    /// `TCP_INFO`.
    ///
    /// # Errors
    /// `EBADF`; `ENOTCONN` where there is no connection.
    pub fn info(&self, fd: Fd, now: Time) -> Result<TcpInfo, Errno> {
        match &self.table.get(&fd).ok_or(Errno::EBADF)?.kind {
            Kind::Stream(stream) => Ok(stream.info(now)),
            _ => Err(Errno::ENOTCONN),
        }
    }

    /// Returns the state of RFC 9293 that a socket is in; `None` where it is no socket of TCP.
    pub fn state(&self, fd: Fd) -> Option<State> {
        match &self.table.get(&fd)?.kind {
            Kind::Fresh => Some(State::Closed),
            Kind::Listening(_) => Some(State::Listen),
            Kind::Stream(stream) => Some(stream.connection.state()),
            Kind::Multipath(_) | Kind::MultipathListening(_) => None,
        }
    }

    /// The state of the socket that was made last and has no connection yet.
    pub fn state_of_unconnected(&self) -> Option<State> {
        let bare = |fd: &&Fd| matches!(self.state(**fd), Some(State::Closed | State::Listen));
        self.table.keys().rev().find(bare).and_then(|fd| self.state(*fd))
    }

    /// Counts the connections in that state: of sockets, and with `all` of handshakes that
    /// listeners have under way and of sockets that are closed, too.
    pub fn count_in(&self, state: State, all: bool) -> usize {
        let own = self.table.keys().filter(|fd| self.state(**fd) == Some(state)).count();
        let others = self.orphans.values().filter(|orphan| orphan.state() == state).count();
        let half_open = self.table.values().map(|socket| match &socket.kind {
            Kind::Listening(listener) if state == State::SynReceived => listener.lengths().0,
            _ => 0,
        });
        own + if all { others + half_open.sum::<usize>() } else { 0 }
    }

    /// Ends all connections in that state as a system administrator can (`tcpdrop`).
    pub fn drop_in(&mut self, state: State) {
        for socket in self.table.values_mut() {
            if let Kind::Stream(stream) = &mut socket.kind
                && stream.connection.state() == state
            {
                stream.connection.abort();
            }
        }
        self.orphans
            .values_mut()
            .filter(|orphan| orphan.state() == state)
            .for_each(ByteStream::abort);
    }

    /// The connection of a socket.
    pub fn connection(&self, fd: Fd) -> Option<&Connection> {
        match &self.table.get(&fd)?.kind {
            Kind::Stream(stream) => Some(&stream.connection),
            _ => None,
        }
    }

    /// The socket of the connection from the local port to that remote one.
    pub fn lookup(&self, port: u16, remote: (Addr, u16)) -> Option<Fd> {
        self.streams.get(&(port, remote.0, remote.1)).copied()
    }
}
