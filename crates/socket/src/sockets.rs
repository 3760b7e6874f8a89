//! The sockets of a host: descriptors, ports, and what belongs to nobody any
//! more.

mod connecting;
mod epoll;
mod inquiry;
mod listening;
mod multipath;
mod packets;
mod transfer;
mod udp;

pub use multipath::MultipathSettings;
pub use udp::UdpTunnel;

use crate::errno::Errno;
use crate::flavor::Flavor;
use crate::multipath::Multipath;
use crate::options::Options;
use crate::stream::Stream;
use anabranch_endpoint::{Demultiplex, Generator, PeerMemory, Seed};
use anabranch_tcp::{Backlog, Config, Connection, FastOpenOptions, KeepAlive, Listener};
use anabranch_units::Span;
use anabranch_wire::{Addr, Packet};
use std::collections::{BTreeMap, VecDeque};

/// A descriptor of a socket or a set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fd(pub u32);

/// The directions that a `shutdown` ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shutdown {
    /// Reading ends (`SHUT_RD`).
    Read,
    /// Writing ends (`SHUT_WR`).
    Write,
    /// Reading and writing end (`SHUT_RDWR`).
    Both,
}

/// What the host sets for all its sockets.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Settings of its connections.
    pub config: Config,
    /// Limits of its listeners; the length of the accept queue is `listen`'s.
    pub backlog: Backlog,
    /// The send buffer of a new socket, octets.
    pub send_buffer: u64,
    /// Segments that leave at once at least, where so many may (`net.ipv4.tcp_min_tso_segs`).
    pub min_burst: u32,
    /// Fast Open (`net.ipv4.tcp_fastopen`).
    pub fast_open: FastOpen,
    /// The system that the sockets behave as those of.
    pub flavor: Flavor,
    /// Keep-alives of new sockets.
    pub keep_alive: KeepAlive,
    /// The segments to ports without a socket that are not answered.
    pub black_hole: BlackHole,
    /// The tunnel of TCP in UDP.
    pub udp: UdpTunnel,
    /// Settings of its connections over several paths.
    pub multipath: MultipathSettings,
}

/// Segments to ports without a socket that get no reset (FreeBSD's `net.inet.tcp.blackhole`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BlackHole {
    /// All segments get a reset.
    #[default]
    Off,
    /// SYNs get no reset.
    Syns,
    /// No segment gets a reset.
    All,
}

/// The sides that may use Fast Open (RFC 7413).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FastOpen {
    /// Clients, where a call asks for it.
    pub client: bool,
    /// Listeners with `TCP_FASTOPEN`.
    pub server: bool,
    /// All listeners, if any may.
    pub all_listeners: bool,
    /// Clients send data without a cookie, where they have none.
    pub client_cookieless: bool,
    /// Listeners accept data without a cookie.
    pub server_cookieless: bool,
}

impl FastOpen {
    /// Returns how a listener with these options and a queue of `backlog` uses Fast Open; `None`
    /// where it does not.
    fn of_listener(&self, options: &Options, backlog: u32) -> Option<FastOpenOptions> {
        let asked = options.fast_open.filter(|pending| *pending > 0);
        let accepts = self.server && (asked.is_some() || self.all_listeners);
        let cookieless = self.server_cookieless || options.no_cookie;
        let pending = match options.flavor {
            Flavor::Linux => asked.unwrap_or(backlog),
            Flavor::FreeBsd => backlog, // the option is a switch there
        };
        let default = FastOpenOptions::default();
        accepts.then_some(FastOpenOptions { client: false, cookieless, pending, ..default })
    }
}

/// Local port, remote address and port.
type Key = (u16, Addr, u16);

/// The first port for connections that name none (RFC 6335 §6).
const FIRST_EPHEMERAL: u16 = 49_152;

#[derive(Debug)]
enum Kind {
    Fresh,
    Listening(Box<Listener>),
    Stream(Box<Stream>),
    MultipathListening(Box<anabranch_mptcp::Listener>),
    Multipath(Box<Multipath>),
}

/// How far the user has heard of a connect; the connection may be further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// No connect is under way, or its error was reported.
    Unconnected,
    /// A connect has begun, and the user has not heard how it went.
    Connecting,
    /// The user has heard that it is connected.
    Connected,
}

#[derive(Debug)]
struct Socket {
    options: Options,
    blocking: bool,
    /// The socket is of Multipath TCP.
    multipath: bool,
    port: Option<u16>,
    /// The port is the user's choice.
    is_bound: bool,
    /// A call has said that nothing is to be read, though there is no connection.
    shut_read: bool,
    stage: Stage,
    /// Number of connections that may wait at a listener, as its user asked.
    backlog: u32,
    /// Address and port that the first write connects to (`TCP_FASTOPEN_CONNECT`).
    deferred: Option<(Addr, u16)>,
    /// What a connect left that the user called off.
    error: Option<Errno>,
    kind: Kind,
}

impl Socket {
    fn new(options: Options) -> Socket {
        Socket {
            options,
            blocking: true,
            multipath: false,
            port: None,
            is_bound: false,
            shut_read: false,
            stage: Stage::Unconnected,
            backlog: 0,
            deferred: None,
            error: None,
            kind: Kind::Fresh,
        }
    }

    fn is_listening(&self) -> bool {
        matches!(self.kind, Kind::Listening(_) | Kind::MultipathListening(_))
    }
}

/// The secrets of a host, which do not depend on its ports.
#[derive(Clone, Copy, Debug)]
struct Keys {
    /// Secret of initial sequence numbers and timestamps (RFC 9293 §3.4.1).
    numbers: [u64; 2],
    /// Secret of Fast Open's cookies (RFC 7413 §4.1.3.1).
    cookies: [u64; 2],
}

impl Keys {
    fn new(seed: Seed) -> Keys {
        let mut generator = seed.generator("host keys");
        let mut key = || [generator.next_u64(), generator.next_u64()];
        Keys { numbers: key(), cookies: key() }
    }
}

/// The sockets of one host with one address.
#[derive(Debug)]
pub struct Sockets {
    settings: Settings,
    local: Addr,
    seed: Seed,
    /// The secrets that all its TCP sockets have in common.
    keys: Keys,
    /// Sockets made so far, for the generators' names.
    made: u64,
    table: BTreeMap<Fd, Socket>,
    streams: BTreeMap<Key, Fd>,
    /// Connections whose sockets are closed.
    orphans: BTreeMap<Key, Connection>,
    path_orphans: Vec<anabranch_mptcp::Connection>,
    epolls: BTreeMap<Fd, epoll::Epoll>,
    /// Totals of listeners that are closed.
    path_counters: anabranch_mptcp::ListenerCounters,
    /// Packets of connections, as these make them.
    outgoing: VecDeque<Packet>,
    /// Resets of no connection, as they leave.
    refusals: VecDeque<Packet>,
    /// The peer's port of UDP, of connections that are tunnelled in it.
    tunnelled: BTreeMap<Key, u16>,
    /// Memories of each peer, such as Fast Open's cookies.
    memories: BTreeMap<Addr, PeerMemory>,
    next_port: u16,
    /// The interface takes no packets.
    device_full: bool,
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
                min_burst: 2,
                fast_open: FastOpen::default(),
                flavor: Flavor::default(),
                keep_alive: KeepAlive::default(),
                black_hole: BlackHole::default(),
                udp: UdpTunnel::default(),
                multipath: MultipathSettings::default(),
            },
            local,
            seed,
            keys: Keys::new(seed),
            made: 0,
            table: BTreeMap::new(),
            streams: BTreeMap::new(),
            orphans: BTreeMap::new(),
            path_orphans: Vec::new(),
            epolls: BTreeMap::new(),
            path_counters: Default::default(),
            outgoing: VecDeque::new(),
            refusals: VecDeque::new(),
            tunnelled: BTreeMap::new(),
            memories: BTreeMap::new(),
            next_port: FIRST_EPHEMERAL,
            device_full: false,
        }
    }

    /// What the host sets for sockets that are made, connected or set to
    /// listen from now on.
    pub fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Settings were changed of those that Linux looks up when it needs them: connections that are
    /// there follow.
    pub fn settings_changed(&mut self) {
        let new = &self.settings.config;
        for socket in self.table.values_mut() {
            let Kind::Stream(stream) = &mut socket.kind else { continue };
            let config = stream.connection.config();
            if config.idle_restart != new.idle_restart
                || config.max_retries != new.max_retries
                || config.syn_retries != new.syn_retries && socket.options.syn_retries.is_none()
            {
                stream.connection.reconfigure(|config| {
                    config.idle_restart = new.idle_restart;
                    config.max_retries = new.max_retries;
                    config.syn_retries = socket.options.syn_retries.unwrap_or(new.syn_retries);
                });
            }
        }
    }

    fn socket_at(&mut self, fd: Fd) -> Result<&mut Socket, Errno> {
        self.table.get_mut(&fd).ok_or(Errno::EBADF)
    }

    fn insert(&mut self, socket: Socket) -> Fd {
        let fd = self.free_descriptor();
        self.table.insert(fd, socket);
        fd
    }

    /// The lowest number that is free, after standard input and output.
    fn free_descriptor(&self) -> Fd {
        let free = |fd: &Fd| !self.table.contains_key(fd) && !self.epolls.contains_key(fd);
        (3..).map(Fd).find(free).unwrap_or(Fd(u32::MAX))
    }

    /// Makes a TCP socket that is not connected.
    pub fn socket(&mut self) -> Fd {
        let options = self.new_options();
        self.insert(Socket::new(options))
    }

    /// The options of a new socket.
    fn new_options(&self) -> Options {
        let Settings { flavor, keep_alive: keep, send_buffer, min_burst, .. } = self.settings;
        let keep_alive = flavor == Flavor::FreeBsd;
        Options { flavor, keep, keep_alive, min_burst, ..Options::new(send_buffer) }
    }

    /// Whether the user wants calls to wait (no `O_NONBLOCK`).
    ///
    /// # Errors
    /// `EBADF`.
    pub fn is_blocking(&self, fd: Fd) -> Result<bool, Errno> {
        self.table.get(&fd).map(|socket| socket.blocking).ok_or(Errno::EBADF)
    }

    /// Returns how long a call of the user waits at most: one that writes or connects, or one that
    /// reads or accepts; `None` for as long as it takes.
    pub fn patience(&self, fd: Fd, writes: bool) -> Option<Span> {
        let options = &self.table.get(&fd)?.options;
        if writes { options.send_timeout } else { options.receive_timeout }
    }

    /// Sets or clears `O_NONBLOCK`.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn set_blocking(&mut self, fd: Fd, blocking: bool) -> Result<(), Errno> {
        self.socket_at(fd)?.blocking = blocking;
        Ok(())
    }

    /// A generator of its own for what is made next.
    fn generator(&mut self) -> Generator {
        self.made += 1;
        self.seed.generator(&format!("socket {}", self.made))
    }
}

fn key_of(connection: &Connection) -> Key {
    let flow = connection.flow_key();
    (flow.src_port, flow.dst, flow.dst_port)
}
