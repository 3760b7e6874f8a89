//! The sockets of a host: descriptors, ports, and what belongs to nobody any
//! more.

mod connecting;
mod epoll;
mod inquiry;
mod listening;
mod multipath;
mod packets;
mod transfer;

pub use multipath::MultipathSettings;

use crate::errno::Errno;
use crate::multipath::Multipath;
use crate::options::Options;
use crate::stream::Stream;
use anabranch_endpoint::{Endpoint, Generator, PeerMemory, Seed};
use anabranch_tcp::{Backlog, Config, Connection, Listener};
use anabranch_units::Span;
use anabranch_wire::{Addr, Packet};
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
    /// Of its connections over several paths.
    pub multipath: MultipathSettings,
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
    /// Clients send data without a cookie, where they have none.
    pub client_cookieless: bool,
    /// Listeners accept data without a cookie.
    pub server_cookieless: bool,
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

#[derive(Debug)]
struct Socket {
    options: Options,
    blocking: bool,
    /// Of Multipath TCP.
    multipath: bool,
    port: Option<u16>,
    /// Where the first write connects to (`TCP_FASTOPEN_CONNECT`).
    deferred: Option<(Addr, u16)>,
    kind: Kind,
}

impl Socket {
    fn new(options: Options) -> Socket {
        let (port, deferred, kind) = (None, None, Kind::Fresh);
        Socket { options, blocking: true, multipath: false, port, deferred, kind }
    }

    fn is_listening(&self) -> bool {
        matches!(self.kind, Kind::Listening(_) | Kind::MultipathListening(_))
    }
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
    path_orphans: Vec<anabranch_mptcp::Connection>,
    epolls: BTreeMap<Fd, epoll::Epoll>,
    /// Of listeners that are closed.
    path_counters: anabranch_mptcp::ListenerCounters,
    outgoing: VecDeque<Packet>,
    /// What is known of each peer.
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
                fast_open: FastOpen::default(),
                multipath: MultipathSettings::default(),
            },
            local,
            seed,
            made: 0,
            table: BTreeMap::new(),
            streams: BTreeMap::new(),
            orphans: BTreeMap::new(),
            path_orphans: Vec::new(),
            epolls: BTreeMap::new(),
            path_counters: Default::default(),
            outgoing: VecDeque::new(),
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

    /// A new TCP socket.
    pub fn socket(&mut self) -> Fd {
        let options = Options::new(self.settings.send_buffer);
        self.insert(Socket::new(options))
    }

    /// Whether the user wants calls to wait (no `O_NONBLOCK`).
    ///
    /// # Errors
    /// `EBADF`.
    pub fn is_blocking(&self, fd: Fd) -> Result<bool, Errno> {
        self.table.get(&fd).map(|socket| socket.blocking).ok_or(Errno::EBADF)
    }

    /// How long a call of the user waits at most: one that writes or connects, or
    /// one that reads or accepts; `None` for as long as it takes.
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
