//! Sockets that connect, with Fast Open (RFC 7413) or without.

use super::{FIRST_EPHEMERAL, Fd, Kind, Sockets};
use crate::errno::Errno;
use crate::stream::{Data, SendFlags, Stream};
use anabranch_endpoint::{ByteStream, Endpoint};
use anabranch_tcp::{Connection, FastOpenOptions, FastOpenServer};
use anabranch_units::{Span, Time};
use anabranch_wire::Addr;

/// Octets of a SYN that are kept for options, however many there are (Linux).
const SYN_OPTIONS: u32 = 40;

impl Sockets {
    /// Begins to connect to `remote`; repeated, tells how it went. With
    /// `TCP_FASTOPEN_CONNECT` and a cookie of the peer's it is the first write
    /// that connects.
    ///
    /// # Errors
    /// `EINPROGRESS` at first, `EALREADY` meanwhile, then the error, or
    /// `EISCONN`; `EBADF`; `EADDRNOTAVAIL` without a free port.
    pub fn connect(&mut self, fd: Fd, now: Time, remote: (Addr, u16)) -> Result<(), Errno> {
        let socket = self.table.get_mut(&fd).ok_or(Errno::EBADF)?;
        match &mut socket.kind {
            Kind::Listening(_) | Kind::MultipathListening(_) => return Err(Errno::EISCONN),
            Kind::Multipath(it) => {
                if let Some(error) = it.error.take() {
                    return Err(error);
                }
                return Err(if it.is_connecting() { Errno::EALREADY } else { Errno::EISCONN });
            }
            Kind::Stream(stream) => {
                if let Some(error) = stream.error.take() {
                    return Err(error);
                }
                return Err(if stream.is_connecting() { Errno::EALREADY } else { Errno::EISCONN });
            }
            Kind::Fresh if socket.deferred.is_some() => return Err(Errno::EISCONN),
            Kind::Fresh => {}
        }
        let fast =
            !socket.multipath && socket.options.fast_open_connect && self.settings.fast_open.client;
        let bare = self.settings.fast_open.client_cookieless || socket.options.no_cookie;
        if fast && self.cookie_mss(now, remote.0, bare).is_some() {
            self.socket_at(fd)?.deferred = Some(remote);
            return Ok(());
        }
        self.open(fd, now, remote, fast)?;
        Err(Errno::EINPROGRESS)
    }

    /// Connects and writes at once (`sendto` with `MSG_FASTOPEN`): with a cookie
    /// of the peer's, what fits goes with the SYN. Returns how many octets.
    ///
    /// # Errors
    /// `EINPROGRESS` when nothing goes with the SYN; `EALREADY` while it
    /// connects; `EOPNOTSUPP` when Fast Open is off; otherwise as
    /// [`connect`](Self::connect) and [`write`](Self::write).
    pub fn write_and_connect(
        &mut self,
        fd: Fd,
        now: Time,
        remote: (Addr, u16),
        data: Data<'_>,
        flags: SendFlags,
    ) -> Result<u64, Errno> {
        if !self.settings.fast_open.client {
            return Err(Errno::EOPNOTSUPP);
        }
        let cookieless = self.settings.fast_open.client_cookieless;
        let socket = self.socket_at(fd)?;
        match &socket.kind {
            Kind::Stream(stream) if stream.is_connecting() => return Err(Errno::EALREADY),
            Kind::Stream(_) => return self.write(fd, now, data, flags),
            Kind::Multipath(_) => return self.write(fd, now, data, flags),
            Kind::Listening(_) | Kind::MultipathListening(_) => return Err(Errno::EISCONN),
            Kind::Fresh => {}
        }
        let remote = socket.deferred.take().unwrap_or(remote);
        let most = socket.options.max_segment.unwrap_or(u32::MAX);
        let bare = cookieless || socket.options.no_cookie;
        let room = self.cookie_mss(now, remote.0, bare).map_or(0, |mss| {
            let mss = mss.min(most).min(self.settings.config.mss);
            mss.saturating_sub(SYN_OPTIONS) as u64
        });
        self.open(fd, now, remote, true)?;
        let octets = data.len().min(room);
        if octets == 0 {
            return Err(Errno::EINPROGRESS);
        }
        self.stream_at(fd)?.write_with_syn(data, octets);
        Ok(octets)
    }

    /// The MSS of a peer that data may be sent to with the SYN: one that has given
    /// a Fast Open cookie, or any if that may be done without.
    pub(super) fn cookie_mss(&self, now: Time, peer: Addr, bare: bool) -> Option<u32> {
        let server = self.memories.get(&peer).and_then(|it| it.get::<FastOpenServer>());
        if bare && server.is_none_or(|it| it.mss == FastOpenServer::default().mss) {
            return Some(self.settings.config.mss);
        }
        let server = server?;
        if bare {
            return Some(server.mss as u32);
        }
        let good = !server.cookie.is_request() && now >= server.off_until;
        good.then_some(server.mss as u32)
    }

    /// Sends a SYN; with `fast` one that asks for a cookie or brings it.
    pub(super) fn open(
        &mut self,
        fd: Fd,
        now: Time,
        remote: (Addr, u16),
        fast: bool,
    ) -> Result<(), Errno> {
        let socket = self.socket_at(fd)?;
        let (bound, options) = (socket.port, socket.options);
        let port = match bound {
            Some(port) => port,
            None => self.ephemeral_port(remote).ok_or(Errno::EADDRNOTAVAIL)?,
        };
        if self.table.get(&fd).is_some_and(|it| it.multipath) {
            return self.open_paths(fd, now, port, remote);
        }
        let mut config = self.settings.config.clone();
        options.apply(&mut config);
        if fast {
            // Linux goes on with Fast Open after a single failure.
            let (server, retry_after) = (false, Span::ZERO);
            let cookieless = self.settings.fast_open.client_cookieless || options.no_cookie;
            let default = FastOpenOptions::default();
            config.fast_open = Some(FastOpenOptions { server, cookieless, retry_after, ..default });
        }
        let generator = self.generator();
        let mut connection = Connection::client(config, (self.local, port), remote, generator);
        if let Some(memory) = self.memories.get(&remote.0) {
            connection.recall(memory);
        }
        connection.connect(now);
        let socket = self.socket_at(fd)?;
        socket.port = Some(port);
        socket.kind = Kind::Stream(Box::new(Stream::new(connection, now)));
        self.streams.insert((port, remote.0, remote.1), fd);
        Ok(())
    }

    pub(super) fn ephemeral_port(&mut self, remote: (Addr, u16)) -> Option<u16> {
        for _ in FIRST_EPHEMERAL..=u16::MAX {
            let port = self.next_port;
            self.next_port = self.next_port.checked_add(1).unwrap_or(FIRST_EPHEMERAL);
            let key = (port, remote.0, remote.1);
            if !self.streams.contains_key(&key) && !self.orphans.contains_key(&key) {
                return Some(port);
            }
        }
        None
    }

    /// A connect is under way.
    pub fn is_connecting(&self, fd: Fd) -> bool {
        let socket = self.table.get(&fd);
        socket.is_some_and(|it| match &it.kind {
            Kind::Stream(it) => it.is_connecting(),
            Kind::Multipath(it) => it.is_connecting(),
            _ => false,
        })
    }

    /// A write of the user waits for the connect that is under way.
    pub fn await_connection(&mut self, fd: Fd) {
        if let Ok(stream) = self.stream_at(fd) {
            stream.connection.set_writer_waiting();
        }
    }

    /// The error of a connect that has failed, once; `None` when it has not.
    pub fn take_error(&mut self, fd: Fd) -> Option<Errno> {
        match &mut self.table.get_mut(&fd)?.kind {
            Kind::Stream(stream) => stream.error.take(),
            Kind::Multipath(it) => it.error.take(),
            _ => None,
        }
    }
}
