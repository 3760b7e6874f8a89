//! Sockets that connect, with Fast Open (RFC 7413) or without.

use super::{FIRST_EPHEMERAL, Fd, Kind, Socket, Sockets, Stage};
use crate::errno::Errno;
use crate::flavor::Flavor;
use crate::options::Options;
use crate::stream::{Data, SendFlags, Stream};
use anabranch_endpoint::{ByteStream, TemporalSharing};
use anabranch_tcp::{Connection, FastOpenOptions, FastOpenServer};
use anabranch_units::{Span, Time};
use anabranch_wire::Addr;

/// Time for which FreeBSD does not use Fast Open on a path where it has failed
/// (`net.inet.tcp.fastopen.path_disable_time`).
const PATH_DISABLE_TIME: Span = Span::from_secs(900);

/// Octets of a SYN that are kept for options, however many there are (Linux).
const SYN_OPTIONS: u32 = 40;

/// What a user writes before its connection is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Early<'a> {
    /// The data, of which some may have to wait.
    pub data: Data<'a>,
    /// Octets of it that go with the SYN, if Fast Open lets them.
    pub octets: u64,
}

impl Early<'_> {
    /// There is no early data.
    pub const NONE: Early<'static> = Early { data: Data::Counted(0), octets: 0 };
}

impl Sockets {
    /// Begins to connect to `remote`; repeated, tells how it went. With
    /// `TCP_FASTOPEN_CONNECT` and a cookie of the peer's it is the first write
    /// that connects.
    ///
    /// # Errors
    /// `EINPROGRESS` at first, `EALREADY` meanwhile; once it has ended the error,
    /// after which the socket may connect again, or nothing; then `EISCONN`.
    /// `EBADF`; `EADDRNOTAVAIL` without a free port.
    pub fn connect(&mut self, fd: Fd, now: Time, remote: (Addr, u16)) -> Result<(), Errno> {
        if self.has_failed(fd) {
            self.disconnect(fd)?;
        }
        let socket = self.table.get_mut(&fd).ok_or(Errno::EBADF)?;
        match &mut socket.kind {
            Kind::Listening(_) | Kind::MultipathListening(_) => return Err(Errno::EISCONN),
            Kind::Multipath(multipath) => {
                if let Some(error) = multipath.error.take() {
                    return Err(error);
                }
                return Err(if multipath.is_connecting() {
                    Errno::EALREADY
                } else {
                    Errno::EISCONN
                });
            }
            Kind::Stream(_) => return self.connect_again(fd),
            Kind::Fresh if socket.deferred.is_some() => return Err(Errno::EISCONN),
            Kind::Fresh => {}
        }
        let fast = socket.options.fast_open_connect && self.settings.fast_open.client;
        let bare = self.settings.fast_open.client_cookieless || socket.options.no_cookie;
        if fast && self.cookie_mss(now, remote.0, bare).is_some() {
            let socket = self.socket_at(fd)?;
            (socket.deferred, socket.stage) = (Some(remote), Stage::Connecting);
            return Ok(());
        }
        self.open(fd, now, remote, fast, Early::NONE)?;
        Err(Errno::EINPROGRESS)
    }

    /// A connect of a socket that has begun to: how it went, which is said once.
    /// After a failure the socket is as new, and may connect again (Linux).
    pub(super) fn connect_again(&mut self, fd: Fd) -> Result<(), Errno> {
        let socket = self.socket_at(fd)?;
        let Kind::Stream(stream) = &mut socket.kind else { return Err(Errno::EISCONN) };
        if socket.stage == Stage::Connected {
            return Err(Errno::EISCONN);
        }
        if stream.is_connecting() {
            return Err(Errno::EALREADY);
        }
        if stream.is_over() {
            let error = stream.error.take().unwrap_or(Errno::ECONNABORTED);
            self.disconnect(fd)?;
            return Err(error);
        }
        socket.stage = Stage::Connected;
        Ok(())
    }

    /// Connects and writes at once (`sendto` with `MSG_FASTOPEN`): with a cookie
    /// of the peer's, what fits goes with the SYN. Returns how many octets.
    ///
    /// # Errors
    /// `EINPROGRESS` when nothing goes with the SYN; `EALREADY` while it
    /// connects; `EISCONN` once it has, and the user has heard of that;
    /// `EOPNOTSUPP` when Fast Open is off; `EINVAL` without an address where one
    /// is needed; otherwise as [`connect`](Self::connect) and
    /// [`write`](Self::write).
    pub fn write_and_connect(
        &mut self,
        fd: Fd,
        now: Time,
        remote: Option<(Addr, u16)>,
        data: Data<'_>,
        flags: SendFlags,
    ) -> Result<u64, Errno> {
        if !self.settings.fast_open.client {
            return Err(Errno::EOPNOTSUPP);
        }
        let cookieless = self.settings.fast_open.client_cookieless;
        let socket = self.socket_at(fd)?;
        match &socket.kind {
            Kind::Multipath(multipath) if multipath.is_connecting() => return Err(Errno::EALREADY),
            Kind::Multipath(_) => return Err(Errno::EINVAL), // Linux
            Kind::Stream(_) => {
                self.connect_again(fd)?;
                return self.write(fd, now, data, flags);
            }
            Kind::Listening(_) | Kind::MultipathListening(_) => return Err(Errno::EISCONN),
            Kind::Fresh => {}
        }
        let Some(remote) = socket.deferred.take().or(remote) else { return Err(Errno::EINVAL) };
        let most = socket.options.max_segment.unwrap_or(u32::MAX);
        let bare = cookieless || socket.options.no_cookie;
        let room = self.cookie_mss(now, remote.0, bare).map_or(0, |mss| {
            let mss = mss.min(most).min(self.settings.config.mss);
            mss.saturating_sub(SYN_OPTIONS) as u64
        });
        let octets = data.len().min(room);
        self.open(fd, now, remote, true, Early { data, octets })?;
        if octets == 0 {
            return Err(Errno::EINPROGRESS);
        }
        Ok(octets)
    }

    /// A `sendto` would connect the socket: it is not, and the system does so.
    pub fn connects_by_sending(&self, fd: Fd) -> bool {
        let fresh = |socket: &Socket| matches!(socket.kind, Kind::Fresh);
        self.settings.flavor == Flavor::FreeBsd && self.table.get(&fd).is_some_and(fresh)
    }

    /// Connects and writes at once, as `sendto` does on FreeBSD: what is written leaves with the SYN
    /// where Fast Open allows it, and otherwise when the connection is open. Returns how many
    /// octets the send buffer took.
    ///
    /// # Errors
    /// As [`connect`](Self::connect) but for `EINPROGRESS`, and [`write`](Self::write).
    pub fn connect_and_write(
        &mut self,
        fd: Fd,
        now: Time,
        remote: (Addr, u16),
        data: Data<'_>,
    ) -> Result<u64, Errno> {
        let socket = self.socket_at(fd)?;
        match &socket.kind {
            Kind::Fresh => {}
            Kind::Listening(_) | Kind::MultipathListening(_) => return Err(Errno::EOPNOTSUPP),
            Kind::Stream(_) | Kind::Multipath(_) => return Err(Errno::EISCONN),
        }
        let asks = socket.options.fast_open.is_some_and(|on| on > 0);
        let octets = data.len().min(socket.options.send_buffer);
        let fast = asks && self.settings.fast_open.client;
        self.open(fd, now, remote, fast, Early { data, octets })?;
        Ok(octets)
    }

    /// Nothing is known any more of the peers that Fast Open was used with.
    pub fn forget_peers(&mut self) {
        self.memories.clear();
    }

    /// The MSS of a peer that data may be sent to with the SYN: one that has given
    /// a Fast Open cookie, or any if that may be done without.
    pub(super) fn cookie_mss(&self, now: Time, peer: Addr, bare: bool) -> Option<u32> {
        let server = self.memories.get(&peer).and_then(|memory| memory.get::<FastOpenServer>());
        if bare && server.is_none_or(|server| server.mss == FastOpenServer::default().mss) {
            return Some(self.settings.config.mss);
        }
        let server = server?;
        if bare {
            return Some(server.mss as u32);
        }
        let good = !server.cookie.is_request() && now >= server.off_until;
        good.then_some(server.mss as u32)
    }

    /// Sends a SYN; with `fast` one that asks for a cookie or brings it, and `early` data.
    pub(super) fn open(
        &mut self,
        fd: Fd,
        now: Time,
        remote: (Addr, u16),
        fast: bool,
        early: Early<'_>,
    ) -> Result<(), Errno> {
        let socket = self.socket_at(fd)?;
        let (bound, options) = (socket.port, socket.options);
        let port = match bound {
            Some(port) => port,
            None => self.ephemeral_port(remote).ok_or(Errno::EADDRNOTAVAIL)?,
        };
        if self.table.get(&fd).is_some_and(|socket| socket.multipath) {
            let fast_open = fast.then(|| self.fast_open_of_client(&options));
            return self.open_paths(fd, now, port, remote, (fast_open, early));
        }
        let mut config = self.settings.config.clone();
        options.apply(&mut config);
        if options.udp_port != 0 {
            config.mss = config.mss.saturating_sub(self.settings.udp.overhead);
        }
        if fast {
            config.fast_open = Some(self.fast_open_of_client(&options));
        }
        let generator = self.generator();
        let mut connection = Connection::client(config, (self.local, port), remote, generator);
        connection.set_number_key(self.keys.numbers);
        if let Some(memory) = self.memories.get(&remote.0) {
            connection.recall(memory);
        }
        connection.connect(now);
        let socket = self.socket_at(fd)?;
        (socket.port, socket.stage, socket.error) = (Some(port), Stage::Connecting, None);
        let mut stream = Stream::new(connection, options.flavor, now);
        stream.hears_routers = socket.options.receive_errors;
        if early.octets > 0 {
            stream.write_with_syn(early.data, early.octets);
        }
        socket.kind = Kind::Stream(Box::new(stream));
        let key = (port, remote.0, remote.1);
        self.streams.insert(key, fd);
        self.set_via(key, options.udp_port);
        Ok(())
    }

    /// Returns how a client uses Fast Open; `no_cookie` says that its user wants none. Linux goes
    /// on with it after a single failure.
    fn fast_open_of_client(&self, options: &Options) -> FastOpenOptions {
        FastOpenOptions {
            server: false,
            needs_cookie: options.flavor == Flavor::FreeBsd,
            retry_after: match options.flavor {
                Flavor::Linux => Span::ZERO,
                Flavor::FreeBsd => PATH_DISABLE_TIME,
            },
            cookieless: self.settings.fast_open.client_cookieless || options.no_cookie,
            tries_experimental: options.flavor == Flavor::Linux,
            ..FastOpenOptions::default()
        }
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

    /// A connect has failed, and its user has heard why.
    fn has_failed(&self, fd: Fd) -> bool {
        self.table.get(&fd).is_some_and(|socket| match &socket.kind {
            Kind::Multipath(multipath) => multipath.has_failed() && multipath.error.is_none(),
            _ => false,
        })
    }

    /// A connect is under way.
    pub fn is_connecting(&self, fd: Fd) -> bool {
        let socket = self.table.get(&fd);
        socket.is_some_and(|socket| match &socket.kind {
            Kind::Stream(stream) => stream.is_connecting(),
            Kind::Multipath(multipath) => multipath.is_connecting(),
            _ => false,
        })
    }

    /// A write of the user waits for the connect that is under way.
    pub fn await_connection(&mut self, fd: Fd) {
        if let Ok(stream) = self.stream_at(fd) {
            stream.connection.set_writer_waiting();
        }
    }

    /// A connect of the user that has waited returns: how it went.
    ///
    /// # Errors
    /// As [`connect`](Self::connect); `EINPROGRESS` where the user waits no longer.
    pub fn end_connect(&mut self, fd: Fd) -> Result<(), Errno> {
        match &mut self.socket_at(fd)?.kind {
            Kind::Stream(stream) if stream.is_connecting() => Err(Errno::EINPROGRESS),
            Kind::Stream(_) => self.connect_again(fd),
            Kind::Multipath(multipath) => multipath.error.take().map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }
}
