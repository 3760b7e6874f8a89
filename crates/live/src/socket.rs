//! A socket of a host's kernel as an endpoint: the simulation's applications
//! write and read it as they do any other, and observers see the kernel's
//! `TCP_INFO`. Its packets are the kernel's and cross the network by themselves.
//!
//! The loop calls [`Ready::ready`](crate::Ready::ready) when epoll tells of the
//! socket; everything else is the contract of endpoints. What `TCP_INFO` does
//! not tell (entries into fast retransmit, undone reductions, tail loss probes)
//! stays 0 in [`Observation`].

mod contract;

use crate::couplings::Couplings;
use crate::drive::Ready;
use crate::error::Doing;
use crate::info::TcpInfo;
use crate::reactor::{Reactor, Token};
use crate::subflows::Subflows;
use crate::sys::socket::{set_notsent_lowat, tcp_info};
use crate::{LiveError, Namespace};
use anabranch_endpoint::{CloseReason, Event};
use anabranch_units::{Span, Time};
use anabranch_wire::{AddressBook, FlowKey};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, Shutdown, SocketFlags, SocketType, accept_with, bind, ipproto, listen, shutdown,
    socket_with, sockopt,
};
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// What a socket is told before it is used.
#[derive(Clone, Debug, Default)]
pub struct SocketSettings {
    /// The kernel's name of a congestion control; `None`: the route's, or the
    /// namespace's.
    pub congestion_control: Option<String>,
    /// Octets of the receive buffer that count as data; `None`, or without root:
    /// the kernel finds them.
    pub receive_buffer: Option<u64>,
    /// Several paths (RFC 8684).
    pub multipath: bool,
    /// The addresses may be of either family, as those of several paths are: a socket of IPv6 that
    /// has those of IPv4 as well (RFC 3493 §3.7).
    pub both_families: bool,
    /// The addresses of hosts, for the names of paths.
    pub book: Arc<AddressBook>,
    /// The couplings of a window algorithm of ours, which subflows share.
    pub couplings: Option<Arc<Couplings>>,
    /// Time between two looks at `TCP_INFO`; `None`: only when something
    /// happens.
    pub sample_every: Option<Span>,
}

/// Side of the connection that a socket is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The side that connects.
    Client,
    /// Waits for a connection.
    Server,
}

/// Octets that wait to be sent for the first time, at most about so many: a
/// socket that took megabytes at once would keep the loop from its packets.
const MOST_UNSENT: u32 = 128 << 10;
/// Time between two looks at subflows where nothing is observed: for the end.
const LOOK: Span = Span::from_millis(100);

/// An endpoint that stands for a socket of the kernel in a host outside.
#[derive(Debug)]
pub struct KernelSocket {
    key: FlowKey,
    state: State,
    remote: SocketAddr,
    reactor: Reactor,
    token: Token,
    events: VecDeque<Event>,
    sample_every: Option<Span>,
    sample: Time,
    /// Further subflows of a connection come to the listener of the first.
    multipath: bool,
    subflows: Option<Box<Subflows>>,
    listener: Option<OwnedFd>,
    /// Name of the congestion control that the kernel had when the connection was there.
    congestion_control: Option<String>,
    /// `TCP_INFO` when the socket was closed.
    last: Option<Box<TcpInfo>>,
    peer_closed: bool,
    wants_to_write: bool,
    closing: bool,
    over: bool,
}

#[derive(Debug)]
enum State {
    /// Nothing is here: a program has this end, or the socket is gone.
    Absent,
    /// Made, and not yet connecting.
    Idle(OwnedFd),
    Listening(OwnedFd),
    Connecting(OwnedFd),
    Open(OwnedFd),
}

impl KernelSocket {
    /// A socket in `namespace`, bound to `local`; a server listens from now on.
    ///
    /// # Errors
    /// The kernel's; a congestion control that it does not have is one.
    #[expect(clippy::too_many_arguments, reason = "what a socket is")]
    pub fn new(
        namespace: &Namespace,
        reactor: &Reactor,
        token: Token,
        role: Role,
        key: FlowKey,
        local: SocketAddr,
        remote: SocketAddr,
        settings: &SocketSettings,
    ) -> Result<KernelSocket, LiveError> {
        let ends =
            [local, remote].map(|end| if settings.both_families { mapped(end) } else { end });
        let [local, remote] = ends;
        let fd = namespace.inside(|| make(role, local, settings))?;
        let mut state = State::Idle(fd);
        if role == Role::Server {
            let State::Idle(fd) = state else { unreachable!() };
            let wait = || {
                listen(&fd, 1)?;
                reactor.add_edges(&fd, token)
            };
            wait().doing(format!("listening at {local}"))?;
            state = State::Listening(fd);
        }
        let mut socket = KernelSocket::absent(key, reactor, token);
        (socket.state, socket.remote, socket.sample_every) = (state, remote, settings.sample_every);
        socket.multipath = settings.multipath;
        if settings.multipath {
            socket.subflows =
                Some(Box::new(Subflows::new(settings.book.clone(), settings.couplings.clone())));
            socket.sample_every = Some(settings.sample_every.unwrap_or(LOOK).min(LOOK));
        }
        Ok(socket)
    }

    /// The place of an end that a program has.
    pub fn absent(key: FlowKey, reactor: &Reactor, token: Token) -> KernelSocket {
        KernelSocket {
            key,
            state: State::Absent,
            remote: SocketAddr::from(([0, 0, 0, 0], 0)),
            reactor: reactor.clone(),
            token,
            events: VecDeque::new(),
            sample_every: None,
            sample: Time::NEVER,
            multipath: false,
            subflows: None,
            listener: None,
            congestion_control: None,
            last: None,
            peer_closed: false,
            wants_to_write: false,
            closing: false,
            over: false,
        }
    }

    fn fd(&self) -> Option<&OwnedFd> {
        match &self.state {
            State::Open(fd) => Some(fd),
            _ => None,
        }
    }

    /// The connection is there.
    fn open(&mut self, now: Time, fd: OwnedFd) {
        self.congestion_control = sockopt::tcp_congestion(&fd).ok();
        self.state = State::Open(fd);
        self.sample = self.sample_every.map_or(Time::NEVER, |every| now.saturating_add(every));
        // What epoll told may have been of more than the connection.
        self.events.extend([Event::Connected, Event::Readable]);
        if self.closing {
            self.shut();
        }
    }

    fn end(&mut self, reason: CloseReason) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        if let State::Open(fd) = std::mem::replace(&mut self.state, State::Absent) {
            self.last = tcp_info(&fd).ok().map(Box::new);
            if let Some(subflows) = &mut self.subflows {
                subflows.look(&fd);
            }
        }
        (self.sample, self.listener) = (Time::NEVER, None);
        self.events.push_back(Event::Closed(reason));
    }

    fn fail(&mut self, error: Errno) {
        self.end(match error {
            Errno::CONNREFUSED => CloseReason::Refused,
            Errno::CONNRESET | Errno::PIPE => CloseReason::Reset,
            _ => CloseReason::TimedOut,
        });
    }

    /// The kernel has ended the connection. An error may also be a soft one, of which a router
    /// or somebody else has told (RFC 5461 §4.1).
    fn is_over(&self) -> bool {
        /// `TCP_CLOSE` of linux/tcp_states.h.
        const CLOSE: u8 = 7;
        let info = self.fd().map(tcp_info);
        info.is_none_or(|info| info.is_ok_and(|info| info.0[0] == CLOSE) || self.multipath)
    }

    fn shut(&mut self) {
        if let Some(Err(error)) = self.fd().map(|fd| shutdown(fd, Shutdown::Write))
            && error != Errno::NOTCONN
        {
            return self.fail(error);
        }
        self.end_if_over();
    }

    /// Both streams have ended.
    fn end_if_over(&mut self) {
        if self.closing && self.peer_closed && self.fd().is_some() {
            self.end(CloseReason::Normal);
        }
    }

    fn accept(&mut self, now: Time) {
        let State::Listening(listener) = &self.state else { return };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        // Whatever is wrong with a connection, the next may be sound.
        let Ok(fd) = accept_with(listener, flags) else { return };
        let _ = set_notsent_lowat(&fd, MOST_UNSENT);
        let added = self.reactor.add_edges(&fd, self.token);
        if let State::Listening(listener) = std::mem::replace(&mut self.state, State::Absent) {
            self.listener = Some(listener).filter(|_| self.multipath);
        }
        match added {
            Ok(()) => self.open(now, fd),
            Err(error) => self.fail(error),
        }
    }

    /// What the kernel tells now, or told last; `None` before there was a
    /// connection.
    pub fn info(&self) -> Option<TcpInfo> {
        let now = self.fd().and_then(|fd| tcp_info(fd).ok());
        now.or_else(|| self.last.as_deref().copied())
    }

    /// Name of the congestion control that the connection has; `None` before there was one.
    pub fn congestion_control(&self) -> Option<&str> {
        self.congestion_control.as_deref()
    }

    /// What it tells of a Multipath TCP connection: fields of `MPTCP_INFO`, and
    /// each subflow that there has been with its ends and its `TCP_INFO`. Of
    /// other connections there are none.
    #[expect(clippy::type_complexity, reason = "two lists")]
    pub fn multipath(&self) -> (Vec<(&'static str, u64)>, Vec<([SocketAddr; 2], TcpInfo)>) {
        let Some(subflows) = &self.subflows else { return Default::default() };
        let (connection, list) = subflows.facts();
        let list = list.map(|(ends, info)| (*ends, *info));
        (connection.fields().collect(), list.collect())
    }
}

/// The end as a socket of IPv6 has it.
fn mapped(end: SocketAddr) -> SocketAddr {
    match end.ip() {
        IpAddr::V4(ip) => SocketAddr::new(ip.to_ipv6_mapped().into(), end.port()),
        IpAddr::V6(_) => end,
    }
}

/// A socket that does not block, bound and set up.
fn make(role: Role, local: SocketAddr, settings: &SocketSettings) -> Result<OwnedFd, LiveError> {
    let family = if local.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let protocol = if settings.multipath { ipproto::MPTCP } else { ipproto::TCP };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let what = if settings.multipath { "an MPTCP socket" } else { "a TCP socket" };
    let fd = socket_with(family, SocketType::STREAM, flags, Some(protocol)).doing(what)?;
    if let Some(name) = &settings.congestion_control {
        sockopt::set_tcp_congestion(&fd, name)
            .doing(format!("the kernel's congestion control `{name}`"))?;
    }
    if let Some(octets) = settings.receive_buffer {
        // The kernel doubles the number, for its own needs.
        let octets = usize::try_from(octets).unwrap_or(usize::MAX);
        match sockopt::set_socket_recv_buffer_size_force(&fd, octets) {
            // In a user namespace: the kernel's own way, up to what it allows.
            Err(Errno::PERM) => {}
            done => done.doing(format!("a receive buffer of {octets} B"))?,
        }
    }
    // A hint, which MPTCP sockets of some kernels do not take.
    let _ = set_notsent_lowat(&fd, MOST_UNSENT);
    sockopt::set_socket_reuseaddr(&fd, true).doing("SO_REUSEADDR")?;
    if settings.both_families {
        sockopt::set_ipv6_v6only(&fd, false).doing("IPV6_V6ONLY")?;
    }
    // Subflows may come to any address of a server.
    let anywhere = settings.multipath && role == Role::Server;
    let any = if local.is_ipv4() { IpAddr::from([0; 4]) } else { IpAddr::from([0_u8; 16]) };
    let local = if anywhere { SocketAddr::new(any, local.port()) } else { local };
    bind(&fd, &local).doing(format!("binding a socket to {local}"))?;
    Ok(fd)
}

impl Ready for KernelSocket {
    fn ready(&mut self, now: Time) {
        match std::mem::replace(&mut self.state, State::Absent) {
            State::Connecting(fd) => match sockopt::socket_error(&fd) {
                Ok(Ok(())) if rustix::net::getpeername(&fd).is_ok() => self.open(now, fd),
                // Told of too early.
                Ok(Ok(())) => self.state = State::Connecting(fd),
                Ok(Err(error)) | Err(error) => self.fail(error),
            },
            state @ State::Listening(_) => {
                self.state = state;
                self.accept(now);
            }
            State::Open(fd) => {
                let failed = sockopt::socket_error(&fd);
                self.state = State::Open(fd);
                if let Ok(Err(error)) | Err(error) = failed
                    && self.is_over()
                {
                    return self.fail(error);
                }
                self.events.push_back(Event::Readable);
                if std::mem::take(&mut self.wants_to_write) {
                    self.events.push_back(Event::Writable);
                }
            }
            state => self.state = state,
        }
    }
}
