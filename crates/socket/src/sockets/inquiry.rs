//! Options, readiness, and what is known of a connection.

use super::{Fd, Kind, Sockets};
use crate::errno::Errno;
use crate::multipath::Multipath;
use crate::options::Name;
use crate::stream::{Readiness, TcpInfo};
use anabranch_tcp::Connection;
use anabranch_units::Time;
use anabranch_wire::Addr;

impl Sockets {
    /// Sets an option.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL`, `ENOPROTOOPT`.
    pub fn set_option(&mut self, fd: Fd, name: Name, value: i64) -> Result<(), Errno> {
        let no_fast_open = !self.settings.fast_open.client;
        let socket = self.socket_at(fd)?;
        match (name, &socket.kind) {
            (Name::FastOpenConnect, _) if no_fast_open => return Err(Errno::EOPNOTSUPP),
            (Name::FastOpenConnect, Kind::Fresh) => {}
            (Name::FastOpenConnect, _) => return Err(Errno::EINVAL),
            (name, _) if socket.multipath && Multipath::refuses(name).is_some() => {
                return Multipath::refuses(name).map_or(Ok(()), |(set, _)| Err(set));
            }
            _ => {}
        }
        socket.options.set(name, value)?;
        if let Kind::Stream(stream) = &mut socket.kind {
            socket.options.apply_to(&mut stream.connection, name);
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
        let socket = self.socket_at(fd)?;
        if let Some((_, get)) = Multipath::refuses(name).filter(|_| socket.multipath) {
            return Err(get);
        }
        Ok(match (name, &mut socket.kind) {
            (Name::Error, Kind::Multipath(it)) => it.error.take().map_or(0, |e| e.number() as i64),
            (Name::Error, Kind::Stream(s)) => s.error.take().map_or(0, |e| e.number() as i64),
            (Name::MaxSegment, Kind::Stream(stream)) => stream.connection.info().mss as i64,
            (Name::MaxSegment, Kind::Listening(_)) => {
                socket.options.max_segment.unwrap_or(mss) as i64
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
            Kind::Fresh => Readiness { writable: true, hang_up: true, ..Readiness::default() },
            Kind::Listening(it) => {
                Readiness { readable: it.lengths().1 > 0, ..Readiness::default() }
            }
            Kind::Stream(stream) => stream.readiness(&socket.options),
            Kind::Multipath(it) => it.readiness(&socket.options),
            Kind::MultipathListening(it) => {
                Readiness { readable: it.waiting() > 0, ..Readiness::default() }
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
