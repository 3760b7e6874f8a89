//! The sockets of a host: descriptors, ports, and what belongs to nobody any
//! more.

use crate::errno::Errno;
use crate::options::{Name, Options};
use crate::stream::{Data, Readiness, SendFlags, Stream, TcpInfo};
use anabranch_endpoint::{ByteStream, Endpoint, Generator, PeerMemory, Seed};
use anabranch_tcp::{Backlog, Config, Connection, FastOpenOptions, FastOpenServer, Listener};
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::{Addr, Body, Packet, Payload, TcpFlags, TcpOptions, TcpSegment};
use std::collections::{BTreeMap, VecDeque};

/// A descriptor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fd(pub u32);

/// Which directions a `shutdown` ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shutdown {
    /// `SHUT_RD`.
    Read,
    /// `SHUT_WR`.
    Write,
    /// `SHUT_RDWR`.
    Both,
}

/// What the host sets for all its sockets.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Of its connections.
    pub config: Config,
    /// Of its listeners; the length of the accept queue is `listen`'s.
    pub backlog: Backlog,
    /// The send buffer of a new socket, octets.
    pub send_buffer: u64,
    /// Fast Open (`net.ipv4.tcp_fastopen`).
    pub fast_open: FastOpen,
}

/// Who may use Fast Open (RFC 7413).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FastOpen {
    /// Clients, where a call asks for it.
    pub client: bool,
    /// Listeners with `TCP_FASTOPEN`.
    pub server: bool,
    /// All listeners, if any may.
    pub all_listeners: bool,
}

/// Octets of a SYN that are kept for options, however many there are (Linux).
const SYN_OPTIONS: u32 = 40;

/// Local port, remote address and port.
type Key = (u16, Addr, u16);

/// The first port for connections that name none (RFC 6335 §6).
const FIRST_EPHEMERAL: u16 = 49_152;

#[derive(Debug)]
enum Kind {
    Fresh,
    Listening(Box<Listener>),
    Stream(Box<Stream>),
}

#[derive(Debug)]
struct Socket {
    options: Options,
    blocking: bool,
    port: Option<u16>,
    /// Where the first write connects to (`TCP_FASTOPEN_CONNECT`).
    deferred: Option<(Addr, u16)>,
    kind: Kind,
}

/// The sockets of one host with one address.
#[derive(Debug)]
pub struct Sockets {
    settings: Settings,
    local: Addr,
    seed: Seed,
    /// Sockets made so far, for the generators' names.
    made: u64,
    table: BTreeMap<Fd, Socket>,
    streams: BTreeMap<Key, Fd>,
    /// Connections whose sockets are closed.
    orphans: BTreeMap<Key, Connection>,
    outgoing: VecDeque<Packet>,
    /// What is known of each peer.
    memories: BTreeMap<Addr, PeerMemory>,
    next_port: u16,
}

impl Sockets {
    /// The sockets of the host at `local`, whose connections have `config`.
    /// The seed gives keys and numbers.
    pub fn new(config: Config, local: Addr, seed: Seed) -> Sockets {
        let send_buffer = config.send_buffer;
        Sockets {
            settings: Settings {
                config,
                backlog: Backlog::default(),
                send_buffer,
                fast_open: FastOpen::default(),
            },
            local,
            seed,
            made: 0,
            table: BTreeMap::new(),
            streams: BTreeMap::new(),
            orphans: BTreeMap::new(),
            outgoing: VecDeque::new(),
            memories: BTreeMap::new(),
            next_port: FIRST_EPHEMERAL,
        }
    }

    /// What the host sets for sockets that are made, connected or set to
    /// listen from now on.
    pub fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }

    fn socket_at(&mut self, fd: Fd) -> Result<&mut Socket, Errno> {
        self.table.get_mut(&fd).ok_or(Errno::EBADF)
    }

    fn insert(&mut self, socket: Socket) -> Fd {
        // The lowest number that is free, after standard input and output.
        let fd = (3..).map(Fd).find(|fd| !self.table.contains_key(fd)).unwrap_or(Fd(u32::MAX));
        self.table.insert(fd, socket);
        fd
    }

    /// A new TCP socket.
    pub fn socket(&mut self) -> Fd {
        let options = Options::new(self.settings.send_buffer);
        let kind = Kind::Fresh;
        self.insert(Socket { options, blocking: true, port: None, deferred: None, kind })
    }

    /// Whether the user wants calls to wait (no `O_NONBLOCK`).
    ///
    /// # Errors
    /// `EBADF`.
    pub fn is_blocking(&self, fd: Fd) -> Result<bool, Errno> {
        self.table.get(&fd).map(|socket| socket.blocking).ok_or(Errno::EBADF)
    }

    /// Sets or clears `O_NONBLOCK`.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn set_blocking(&mut self, fd: Fd, blocking: bool) -> Result<(), Errno> {
        self.socket_at(fd)?.blocking = blocking;
        Ok(())
    }

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
                && (matches!(socket.kind, Kind::Listening(_))
                    || !(reuse && socket.options.reuse_address))
        };
        let lingering = || self.orphans.keys().any(|key| key.0 == port);
        if self.table.iter().any(taken) || !reuse && lingering() {
            return Err(Errno::EADDRINUSE);
        }
        self.socket_at(fd)?.port = Some(port);
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
        let fast_open = self.settings.fast_open;
        let socket = self.socket_at(fd)?;
        match socket.kind {
            Kind::Listening(_) => return Ok(()),
            Kind::Stream(_) => return Err(Errno::EINVAL),
            Kind::Fresh => {}
        }
        let port = *socket.port.get_or_insert(ephemeral);
        socket.options.apply(&mut config);
        let asked = socket.options.fast_open.filter(|pending| *pending > 0);
        if fast_open.server && (asked.is_some() || fast_open.all_listeners) {
            let pending = asked.unwrap_or(backlog);
            let default = FastOpenOptions::default();
            config.fast_open = Some(FastOpenOptions { client: false, pending, ..default });
        }
        let listener = Listener::new(config, limits, (local, port), generator);
        socket.kind = Kind::Listening(Box::new(listener));
        Ok(())
    }

    /// A generator of its own for what is made next.
    fn generator(&mut self) -> Generator {
        self.made += 1;
        self.seed.generator(&format!("socket {}", self.made))
    }

    /// The connection that has waited longest, as a new socket.
    ///
    /// # Errors
    /// `EBADF`; `EINVAL` for a socket that does not listen; `EAGAIN` when none
    /// waits.
    pub fn accept(&mut self, fd: Fd, now: Time) -> Result<Fd, Errno> {
        let socket = self.socket_at(fd)?;
        let Kind::Listening(listener) = &mut socket.kind else { return Err(Errno::EINVAL) };
        let Some(connection) = listener.accept() else { return Err(Errno::EAGAIN) };
        let (options, port) = (socket.options, socket.port);
        let key = key_of(&connection);
        let mut stream = Stream::accepted(connection, now);
        stream.hear(now);
        if options.no_delay {
            stream.connection.set_no_delay(true);
        }
        let kind = Kind::Stream(Box::new(stream));
        let fd = self.insert(Socket { options, blocking: true, port, deferred: None, kind });
        self.streams.insert(key, fd);
        Ok(fd)
    }

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
            Kind::Listening(_) => return Err(Errno::EISCONN),
            Kind::Stream(stream) => {
                if let Some(error) = stream.error.take() {
                    return Err(error);
                }
                return Err(if stream.is_connecting() { Errno::EALREADY } else { Errno::EISCONN });
            }
            Kind::Fresh if socket.deferred.is_some() => return Err(Errno::EISCONN),
            Kind::Fresh => {}
        }
        let fast = socket.options.fast_open_connect && self.settings.fast_open.client;
        if fast && self.cookie_mss(now, remote.0).is_some() {
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
        let socket = self.socket_at(fd)?;
        match &socket.kind {
            Kind::Stream(stream) if stream.is_connecting() => return Err(Errno::EALREADY),
            Kind::Stream(_) => return self.write(fd, now, data, flags),
            Kind::Listening(_) => return Err(Errno::EISCONN),
            Kind::Fresh => {}
        }
        let remote = socket.deferred.take().unwrap_or(remote);
        let most = socket.options.max_segment.unwrap_or(u32::MAX);
        let room = self.cookie_mss(now, remote.0).map_or(0, |mss| {
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

    /// The MSS of a peer that has given a Fast Open cookie.
    fn cookie_mss(&self, now: Time, peer: Addr) -> Option<u32> {
        let server = self.memories.get(&peer)?.get::<FastOpenServer>()?;
        let good = !server.cookie.is_request() && now >= server.off_until;
        good.then_some(server.mss as u32)
    }

    /// Sends a SYN; with `fast` one that asks for a cookie or brings it.
    fn open(&mut self, fd: Fd, now: Time, remote: (Addr, u16), fast: bool) -> Result<(), Errno> {
        let socket = self.socket_at(fd)?;
        let (bound, options) = (socket.port, socket.options);
        let port = match bound {
            Some(port) => port,
            None => self.ephemeral_port(remote).ok_or(Errno::EADDRNOTAVAIL)?,
        };
        let mut config = self.settings.config.clone();
        options.apply(&mut config);
        if fast {
            // Linux goes on with Fast Open after a single failure.
            let (server, retry_after) = (false, Span::ZERO);
            let default = FastOpenOptions::default();
            config.fast_open = Some(FastOpenOptions { server, retry_after, ..default });
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

    fn ephemeral_port(&mut self, remote: (Addr, u16)) -> Option<u16> {
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
        socket.is_some_and(|it| matches!(&it.kind, Kind::Stream(s) if s.is_connecting()))
    }

    /// The error of a connect that has failed, once; `None` when it has not.
    pub fn take_error(&mut self, fd: Fd) -> Option<Errno> {
        match &mut self.table.get_mut(&fd)?.kind {
            Kind::Stream(stream) => stream.error.take(),
            _ => None,
        }
    }

    /// Writes what there is room for; returns how many octets.
    ///
    /// # Errors
    /// `EBADF`; `EPIPE` when the stream has ended, or was never there;
    /// `EAGAIN` when there is no room, or the handshake is under way; the
    /// error that waits.
    pub fn write(
        &mut self,
        fd: Fd,
        now: Time,
        data: Data<'_>,
        flags: SendFlags,
    ) -> Result<u64, Errno> {
        let socket = self.table.get_mut(&fd).ok_or(Errno::EBADF)?;
        if let Some(remote) = socket.deferred {
            return self.write_and_connect(fd, now, remote, data, flags);
        }
        match &mut socket.kind {
            Kind::Stream(stream) => {
                stream.write(now, data, flags, &socket.options, &mut self.outgoing)
            }
            _ => Err(Errno::EPIPE),
        }
    }

    /// Takes up to `max` octets that are only counted; 0 at the end of the
    /// stream.
    ///
    /// # Errors
    /// `EBADF`, `ENOTCONN`, `EAGAIN`; the error that waits.
    pub fn read(&mut self, fd: Fd, max: u64) -> Result<u64, Errno> {
        self.stream_at(fd)?.read(max, None)
    }

    /// Takes octets into `buffer`; 0 at the end of the stream.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_octets(&mut self, fd: Fd, buffer: &mut [u8]) -> Result<u64, Errno> {
        self.stream_at(fd)?.read(buffer.len() as u64, Some(buffer))
    }

    fn stream_at(&mut self, fd: Fd) -> Result<&mut Stream, Errno> {
        match &mut self.socket_at(fd)?.kind {
            Kind::Stream(stream) => Ok(stream),
            _ => Err(Errno::ENOTCONN),
        }
    }

    /// Octets that can be read (`FIONREAD`).
    ///
    /// # Errors
    /// `EBADF`; `EINVAL` for a listener.
    pub fn readable(&mut self, fd: Fd) -> Result<u64, Errno> {
        match &self.socket_at(fd)?.kind {
            Kind::Stream(stream) => Ok(stream.connection.info().readable),
            Kind::Fresh => Ok(0),
            Kind::Listening(_) => Err(Errno::EINVAL),
        }
    }

    /// Octets written that the peer has not acknowledged (`SIOCOUTQ`).
    ///
    /// # Errors
    /// `EBADF`; `EINVAL` for a listener.
    pub fn unacknowledged(&mut self, fd: Fd) -> Result<u64, Errno> {
        match &self.socket_at(fd)?.kind {
            Kind::Stream(stream) => Ok(stream.queued()),
            Kind::Fresh => Ok(0),
            Kind::Listening(_) => Err(Errno::EINVAL),
        }
    }

    /// Ends one direction or both.
    ///
    /// # Errors
    /// `EBADF`, `ENOTCONN`.
    pub fn shutdown(&mut self, fd: Fd, how: Shutdown) -> Result<(), Errno> {
        let (read, write) = (how != Shutdown::Write, how != Shutdown::Read);
        let socket = self.socket_at(fd)?;
        match &mut socket.kind {
            Kind::Stream(stream) => stream.shutdown(read, write),
            Kind::Fresh => Err(Errno::ENOTCONN),
            Kind::Listening(_) if !read => Ok(()),
            Kind::Listening(_) => {
                let kind = std::mem::replace(&mut socket.kind, Kind::Fresh);
                self.stop_listening(kind);
                Ok(())
            }
        }
    }

    /// Connections that nobody accepted are reset.
    fn stop_listening(&mut self, kind: Kind) {
        let Kind::Listening(mut listener) = kind else { return };
        while let Some(mut connection) = listener.accept() {
            connection.abort();
            self.orphans.insert(key_of(&connection), connection);
        }
    }

    /// Lets go of the socket. Its connection ends by itself: in order, or by a
    /// reset when data was left unread or `SO_LINGER` asks for it.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn close(&mut self, fd: Fd) -> Result<(), Errno> {
        let socket = self.table.remove(&fd).ok_or(Errno::EBADF)?;
        match socket.kind {
            Kind::Fresh => {}
            Kind::Stream(stream) => {
                let key = key_of(&stream.connection);
                self.streams.remove(&key);
                if let Some(connection) = stream.close(socket.options.linger) {
                    self.orphans.insert(key, connection);
                }
            }
            kind => self.stop_listening(kind),
        }
        Ok(())
    }

    /// Sets an option.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL`, `ENOPROTOOPT`.
    pub fn set_option(&mut self, fd: Fd, name: Name, value: i64) -> Result<(), Errno> {
        let no_fast_open = !self.settings.fast_open.client;
        let socket = self.socket_at(fd)?;
        match (name, &socket.kind) {
            (Name::FastOpenConnect, _) if no_fast_open => return Err(Errno::EOPNOTSUPP),
            (Name::FastOpenConnect, Kind::Stream(_) | Kind::Listening(_)) => {
                return Err(Errno::EINVAL);
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
        Ok(match (name, &mut socket.kind) {
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
        if let Body::Tcp(segment) = &packet.body {
            self.outgoing.extend(refusal(packet, segment));
        }
    }

    /// What a packet taught a connection is remembered, and its listener hears
    /// when its handshake is over.
    fn on_stream_input(&mut self, key: Key) {
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

    fn is_listening(&self, port: u16) -> bool {
        let listens = |it: &Socket| it.port == Some(port) && matches!(it.kind, Kind::Listening(_));
        self.table.values().any(listens)
    }

    fn listener_at(&mut self, port: u16) -> Option<&mut Listener> {
        self.table.values_mut().find_map(|socket| match &mut socket.kind {
            Kind::Listening(listener) if socket.port == Some(port) => Some(&mut **listener),
            _ => None,
        })
    }

    /// Deadlines may have passed.
    pub fn handle_timeout(&mut self, now: Time) {
        for socket in self.table.values_mut() {
            match &mut socket.kind {
                Kind::Fresh => {}
                Kind::Listening(listener) => listener.handle_timeout(now),
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
        packet
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Time {
        let sockets = self.table.values().map(|socket| match &socket.kind {
            Kind::Fresh => Time::NEVER,
            Kind::Listening(listener) => listener.poll_timeout(),
            Kind::Stream(stream) => stream.connection.poll_timeout(),
        });
        let orphans = self.orphans.values().map(Endpoint::poll_timeout);
        sockets.chain(orphans).min().unwrap_or(Time::NEVER)
    }
}

fn key_of(connection: &Connection) -> Key {
    let flow = connection.flow_key();
    (flow.src_port, flow.dst, flow.dst_port)
}

/// The reset that answers a segment for nobody (RFC 9293 §3.10.7.1).
fn refusal(packet: &Packet, segment: &TcpSegment) -> Option<Packet> {
    if segment.flags.contains(TcpFlags::RST) {
        return None;
    }
    let has_ack = segment.flags.contains(TcpFlags::ACK);
    let (seq, ack, flags) = match has_ack {
        true => (segment.ack, Serial32(0), TcpFlags::RST),
        false => {
            let ack = segment.seq.add(segment.seq_len());
            (Serial32(0), ack, TcpFlags::RST.union(TcpFlags::ACK))
        }
    };
    let reset = TcpSegment {
        src_port: segment.dst_port,
        dst_port: segment.src_port,
        seq,
        ack,
        flags,
        window: 0,
        urgent: 0,
        options: TcpOptions::default(),
        payload: Payload::EMPTY,
    };
    Some(Packet::new(packet.dst, packet.src, Body::Tcp(reset)))
}
