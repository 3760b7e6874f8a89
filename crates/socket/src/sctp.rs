//! SCTP sockets (RFC 6458): one-to-one, which are used like those of TCP but
//! keep the boundaries of messages, and one-to-many, which hold any number of
//! associations.
//!
//! Without I/O like [`Sockets`](crate::Sockets), and driven in the same way. A
//! call that would block answers `EAGAIN` (`EINPROGRESS` for a connect).
//!
//! Left out: `sctp_bindx` beyond the host's own addresses, explicit end of
//! record, automatic close. Parameters of one address of the peer
//! (`SCTP_PEER_ADDR_PARAMS` with an address) are those of all its addresses.
//!
//! ```
//! use anabranch_endpoint::Seed;
//! use anabranch_sctp::Config;
//! use anabranch_socket::Errno;
//! use anabranch_socket::sctp::{Arrival, SctpSockets, Sending, Style};
//! use anabranch_units::Time;
//! use anabranch_wire::{Addr, Payload};
//!
//! let host = |n| SctpSockets::new(Config::rfc9260(), &[Addr(n)], Seed { seed: n as u64, replication: 0 });
//! let (mut server, mut client) = (host(0), host(1));
//! let now = Time::ZERO;
//! let listener = server.socket(Style::OneToOne);
//! server.bind(listener, 80)?;
//! server.listen(listener, 5)?;
//! let fd = client.socket(Style::OneToOne);
//! assert_eq!(client.connect(fd, now, &[Addr(0)], 80), Err(Errno::EINPROGRESS));
//! client.send(fd, now, Sending { stream: 3, ..Sending::default() }, Payload::of_octets(*b"hello"))?;
//! while let Some(packet) = client.poll_transmit(now).or_else(|| server.poll_transmit(now)) {
//!     let to = if packet.dst == Addr(0) { &mut server } else { &mut client };
//!     to.handle_input(now, &packet);
//! }
//! let accepted = server.accept(listener)?;
//! let Arrival::Data(part) = server.receive(accepted, 100)? else { panic!("no message") };
//! assert_eq!((part.stream, part.payload.len(), part.end), (3, 5, true));
//! # Ok::<(), Errno>(())
//! ```

mod held;
mod notification;
mod opening;
mod options;
mod packets;
#[cfg(test)]
mod tests;
mod transfer;

pub use notification::{AddressState, AssociationState, Event, Events, Notification, Refusal};
pub use options::Options;
pub use transfer::{Arrival, Lifetime, Next, Part, Sending, Status};

use crate::errno::Errno;
use crate::sockets::Fd;
use anabranch_endpoint::{Generator, Seed};
use anabranch_sctp::{Association, Config};
use anabranch_wire::{Addr, Packet};
use held::Held;
use std::collections::{BTreeMap, VecDeque};

/// An association of a host. The first three numbers have a meaning of their own
/// (RFC 6458 §7: future, current and all associations).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct AssociationId(pub u32);

/// The style in which a socket is used (RFC 6458 §3, §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// `SOCK_STREAM`: one association at most; a listener accepts others.
    OneToOne,
    /// `SOCK_SEQPACKET`: any number of associations.
    OneToMany,
}

/// The first identifier of an association.
const FIRST_ASSOCIATION: u32 = 3;
/// The first port for sockets that name none (RFC 6335 §6).
const FIRST_PORT: u16 = 49_152;

/// What waits in a socket beside messages.
#[derive(Clone, PartialEq, Debug)]
struct Queued {
    notification: Notification,
    /// It comes after so many messages of its association.
    after: u64,
    association: Option<AssociationId>,
}

#[derive(Debug)]
struct Socket {
    style: Style,
    port: Option<u16>,
    blocking: bool,
    options: Options,
    /// Answers INITs, while the socket listens.
    listener: Option<Box<Association>>,
    backlog: u32,
    /// Associations of the socket; of a one-to-one listener, those that wait to
    /// be accepted.
    associations: Vec<AssociationId>,
    notifications: VecDeque<Queued>,
    /// A message that was read in part.
    rest: Option<Part>,
    error: Option<Errno>,
    shut_read: bool,
    shut_write: bool,
}

/// The SCTP sockets of a host.
#[derive(Debug)]
pub struct SctpSockets {
    /// What a new socket's associations have.
    config: Config,
    addresses: Vec<Addr>,
    seed: Seed,
    /// Signs the cookies of all.
    key: [u8; 32],
    table: BTreeMap<Fd, Socket>,
    associations: BTreeMap<AssociationId, Held>,
    next_fd: u32,
    next_id: u32,
    next_port: u16,
    /// Endpoints made so far; each has its own generator.
    made: u32,
    outgoing: VecDeque<Packet>,
}

impl SctpSockets {
    /// A host with these addresses, whose sockets begin with `config`.
    ///
    /// # Panics
    /// Without an address.
    pub fn new(config: Config, addresses: &[Addr], seed: Seed) -> SctpSockets {
        assert!(!addresses.is_empty(), "a host has an address");
        let mut generator = seed.generator("sctp cookies");
        let mut key = [0; 32];
        for octets in key.chunks_exact_mut(8) {
            octets.copy_from_slice(&generator.next_u64().to_be_bytes());
        }
        SctpSockets {
            config,
            addresses: addresses.to_vec(),
            seed,
            key,
            table: BTreeMap::new(),
            associations: BTreeMap::new(),
            next_fd: 0,
            next_id: FIRST_ASSOCIATION,
            next_port: FIRST_PORT,
            made: 0,
            outgoing: VecDeque::new(),
        }
    }

    /// The settings of sockets that are made from now on.
    pub fn config(&mut self) -> &mut Config {
        &mut self.config
    }

    /// Makes a socket, which blocks.
    pub fn socket(&mut self, style: Style) -> Fd {
        let options = Options::new(self.config.clone());
        self.enter(Socket::new(style, options))
    }

    fn enter(&mut self, socket: Socket) -> Fd {
        let fd = Fd(self.next_fd);
        self.next_fd += 1;
        self.table.insert(fd, socket);
        fd
    }

    fn get(&self, fd: Fd) -> Result<&Socket, Errno> {
        self.table.get(&fd).ok_or(Errno::EBADF)
    }

    fn get_mut(&mut self, fd: Fd) -> Result<&mut Socket, Errno> {
        self.table.get_mut(&fd).ok_or(Errno::EBADF)
    }

    /// The style of a socket.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn style(&self, fd: Fd) -> Result<Style, Errno> {
        self.get(fd).map(|socket| socket.style)
    }

    /// The user wants calls to wait.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn is_blocking(&self, fd: Fd) -> Result<bool, Errno> {
        self.get(fd).map(|socket| socket.blocking)
    }

    /// `O_NONBLOCK`.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn set_blocking(&mut self, fd: Fd, blocking: bool) -> Result<(), Errno> {
        self.get_mut(fd)?.blocking = blocking;
        Ok(())
    }

    /// `SO_ERROR`: takes the error that waits.
    pub fn take_error(&mut self, fd: Fd) -> Option<Errno> {
        self.table.get_mut(&fd)?.error.take()
    }

    /// The options of a socket.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn options(&self, fd: Fd) -> Result<&Options, Errno> {
        self.get(fd).map(|socket| &socket.options)
    }

    fn generator(&mut self) -> Generator {
        self.made += 1;
        self.seed.generator(&format!("sctp endpoint {}", self.made))
    }

    /// The association that a call on a socket is about: the one of a one-to-one
    /// socket, the one named, or the only one.
    fn association_of(&self, fd: Fd, named: Option<AssociationId>) -> Option<AssociationId> {
        let socket = self.table.get(&fd)?;
        match (socket.style, named, socket.associations.as_slice()) {
            (Style::OneToOne, ..) if socket.listener.is_some() => None,
            (Style::OneToOne, _, all) => all.first().copied(),
            (Style::OneToMany, Some(id), all) => all.iter().find(|known| **known == id).copied(),
            (Style::OneToMany, None, [only]) => Some(*only),
            _ => None,
        }
    }
}

impl Socket {
    fn new(style: Style, options: Options) -> Socket {
        Socket {
            style,
            port: None,
            blocking: true,
            options,
            listener: None,
            backlog: 0,
            associations: Vec::new(),
            notifications: VecDeque::new(),
            rest: None,
            error: None,
            shut_read: false,
            shut_write: false,
        }
    }
}
