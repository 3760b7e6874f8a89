//! Gives sockets their associations, and takes them away.

use super::held::Held;
use super::options::Options;
use super::{AssociationId, SctpSockets, Socket, Style};
use crate::errno::Errno;
use crate::sockets::{Fd, Shutdown};
use anabranch_endpoint::{ByteStream, Demultiplex};
use anabranch_sctp::{Association, State};
use anabranch_units::Time;
use anabranch_wire::Addr;

impl SctpSockets {
    /// `bind` to a port; 0 for one that is free.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` for a socket that has a port, `EADDRINUSE`.
    pub fn bind(&mut self, fd: Fd, port: u16) -> Result<(), Errno> {
        let port = if port == 0 { self.free_port() } else { port };
        let taken = self.is_taken(port);
        let socket = self.get_mut(fd)?;
        if socket.port.is_some() {
            return Err(Errno::EINVAL);
        }
        if taken && !socket.options.reuse {
            return Err(Errno::EADDRINUSE);
        }
        socket.port = Some(port);
        Ok(())
    }

    fn is_taken(&self, port: u16) -> bool {
        self.table.values().any(|socket| socket.port == Some(port))
    }

    fn free_port(&mut self) -> u16 {
        loop {
            let port = self.next_port;
            self.next_port = port.checked_add(1).unwrap_or(super::FIRST_PORT);
            if !self.is_taken(port) {
                return port;
            }
        }
    }

    fn port_of(&mut self, fd: Fd) -> Result<u16, Errno> {
        if let Some(port) = self.get(fd)?.port {
            return Ok(port);
        }
        let port = self.free_port();
        self.get_mut(fd)?.port = Some(port);
        Ok(port)
    }

    /// `listen`: INITs are answered. A one-to-one socket keeps `backlog`
    /// associations and one more until they are accepted; 0 for a one-to-many
    /// socket ends listening.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` for a one-to-one socket with an association.
    pub fn listen(&mut self, fd: Fd, backlog: u32) -> Result<(), Errno> {
        let port = self.port_of(fd)?;
        let socket = self.get(fd)?;
        if socket.style == Style::OneToOne
            && socket.listener.is_none()
            && !socket.associations.is_empty()
        {
            return Err(Errno::EINVAL);
        }
        let quiet = socket.style == Style::OneToMany && backlog == 0;
        let options = socket.options.clone();
        let listener = (!quiet).then(|| Box::new(self.answering(&options, port)));
        let socket = self.get_mut(fd)?;
        socket.backlog = backlog;
        socket.listener = listener;
        Ok(())
    }

    /// An endpoint that answers INITs.
    pub(super) fn answering(&mut self, options: &Options, port: u16) -> Association {
        let generator = self.generator();
        // Nobody is known yet: the address is where nothing is ever sent.
        let peer = (&[Addr(u32::MAX)][..], 0);
        let local = (self.addresses.as_slice(), port);
        Association::server(options.config.clone(), local, peer, generator)
            .with_cookie_key(self.key)
    }

    /// `accept`: a new socket for the oldest association of a listener.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` for a socket that does not listen, `EOPNOTSUPP` for a
    /// one-to-many socket, `EAGAIN`.
    pub fn accept(&mut self, fd: Fd) -> Result<Fd, Errno> {
        let listener = self.get_mut(fd)?;
        match (listener.style, &listener.listener) {
            (Style::OneToMany, _) => return Err(Errno::EOPNOTSUPP),
            (_, None) => return Err(Errno::EINVAL),
            _ => {}
        }
        if listener.associations.is_empty() {
            return Err(Errno::EAGAIN);
        }
        let id = listener.associations.remove(0);
        self.detach(fd, id)
    }

    /// `sctp_peeloff`: an association of a one-to-many socket becomes a
    /// one-to-one socket of its own.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` for a one-to-one socket or an association that it does
    /// not have.
    pub fn peel_off(&mut self, fd: Fd, id: AssociationId) -> Result<Fd, Errno> {
        let socket = self.get_mut(fd)?;
        let at = socket.associations.iter().position(|known| *known == id);
        let at = at.filter(|_| socket.style == Style::OneToMany).ok_or(Errno::EINVAL)?;
        socket.associations.remove(at);
        self.detach(fd, id)
    }

    /// A one-to-one socket for an association of `fd`'s, with its options and
    /// what waits for it.
    fn detach(&mut self, fd: Fd, id: AssociationId) -> Result<Fd, Errno> {
        let parent = self.get_mut(fd)?;
        let mut socket = Socket::new(Style::OneToOne, parent.options.clone());
        let (own, others) = parent
            .notifications
            .drain(..)
            .partition(|notification| notification.association == Some(id));
        (socket.notifications, parent.notifications) = (own, others);
        socket.associations.push(id);
        let port = parent.port;
        socket.port = port;
        let new = self.enter(socket);
        if let Some(held) = self.associations.get_mut(&id) {
            held.owner = Some(new);
        }
        Ok(new)
    }

    /// `connect` and `sctp_connectx`: begins an association with a peer of these
    /// addresses.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` without an address or to port 0, `EISCONN`, `EALREADY`,
    /// `EOPNOTSUPP` for a listener; `EINPROGRESS` when all is well.
    pub fn connect(&mut self, fd: Fd, now: Time, peer: &[Addr], port: u16) -> Result<(), Errno> {
        let socket = self.get(fd)?;
        if peer.is_empty() {
            return Err(Errno::EINVAL);
        }
        if socket.style == Style::OneToOne {
            if socket.listener.is_some() {
                return Err(Errno::EOPNOTSUPP);
            }
            if let Some(held) = socket.associations.first().and_then(|id| self.associations.get(id))
            {
                return Err(if held.is_connecting() { Errno::EALREADY } else { Errno::EISCONN });
            }
        } else if self.find_peer(fd, peer[0], port).is_some() {
            return Err(Errno::EALREADY);
        }
        self.begin(fd, now, peer, port)?;
        Err(Errno::EINPROGRESS)
    }

    /// The association of a socket with a peer.
    pub fn find_peer(&self, fd: Fd, peer: Addr, port: u16) -> Option<AssociationId> {
        let all = &self.table.get(&fd)?.associations;
        all.iter().copied().find(|id| {
            let held = &self.associations[id];
            held.ended.is_none()
                && held.peer_port == port
                && held.peers().any(|known| known == peer)
        })
    }

    /// Begins an association with the peer at these addresses; `EINVAL` with port 0, which is nobody's.
    pub(super) fn begin(
        &mut self,
        fd: Fd,
        now: Time,
        peer: &[Addr],
        port: u16,
    ) -> Result<AssociationId, Errno> {
        if port == 0 {
            return Err(Errno::EINVAL); // RFC 9260 §3.1
        }
        let local_port = self.port_of(fd)?;
        let config = self.get(fd)?.options.config.clone();
        let generator = self.generator();
        let local = (self.addresses.as_slice(), local_port);
        let mut engine =
            Association::client(config, local, (peer, port), generator).with_cookie_key(self.key);
        engine.connect(now);
        Ok(self.hold(engine, fd, local_port))
    }

    pub(super) fn hold(&mut self, engine: Association, fd: Fd, port: u16) -> AssociationId {
        let id = AssociationId(self.next_id);
        self.next_id += 1;
        self.associations.insert(id, Held::new(engine, fd, port));
        if let Some(socket) = self.table.get_mut(&fd) {
            socket.associations.push(id);
        }
        self.hear(id);
        id
    }

    /// The handshake is under way.
    pub fn is_connecting(&self, fd: Fd) -> bool {
        let id = self.association_of(fd, None);
        id.is_some_and(|id| self.associations[&id].is_connecting())
    }

    /// `shutdown`. There is no half-closed state: ending to write ends the
    /// association once all is acknowledged.
    ///
    /// # Errors
    /// `EBADF`, `EOPNOTSUPP` for a one-to-many socket, `ENOTCONN`.
    pub fn shutdown(&mut self, fd: Fd, how: Shutdown) -> Result<(), Errno> {
        if self.get(fd)?.style == Style::OneToMany {
            return Err(Errno::EOPNOTSUPP);
        }
        let id = self.association_of(fd, None).ok_or(Errno::ENOTCONN)?;
        let socket = self.get_mut(fd)?;
        socket.shut_read |= how != Shutdown::Write;
        if how != Shutdown::Read && !socket.shut_write {
            socket.shut_write = true;
            if let Some(held) = self.associations.get_mut(&id) {
                held.engine.close();
            }
            self.hear(id);
        }
        Ok(())
    }

    /// `close`: the associations end by themselves. One that has messages that
    /// nobody read is aborted (RFC 6458 §4.1.7 leaves it open; kernels do), as
    /// is any with `SO_LINGER` of 0 s.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn close(&mut self, fd: Fd) -> Result<(), Errno> {
        let socket = self.table.remove(&fd).ok_or(Errno::EBADF)?;
        let listens = socket.listener.is_some() && socket.style == Style::OneToOne;
        for id in socket.associations {
            let Some(held) = self.associations.get_mut(&id) else { continue };
            held.owner = None;
            let unread = held.engine.waiting().len() > 0 || socket.rest.is_some();
            if held.engine.state() == State::CookieWait {
                // The peer knows nothing of it yet.
                self.associations.remove(&id);
                continue;
            }
            match unread || listens || socket.options.linger == Some(0) {
                true => held.engine.abort_by_user(&[]),
                false => held.engine.close(),
            }
            self.hear(id);
        }
        Ok(())
    }

    /// Changes the options of a socket and of its associations.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn set_options(
        &mut self,
        fd: Fd,
        now: Time,
        change: impl FnOnce(&mut Options),
    ) -> Result<(), Errno> {
        let socket = self.table.get_mut(&fd).ok_or(Errno::EBADF)?;
        change(&mut socket.options);
        socket.options.config.keep_undelivered =
            socket.options.events.has(super::Event::SendFailed);
        let config = &socket.options.config;
        if let Some(listener) = &mut socket.listener {
            listener.tune(now, |current| current.clone_from(config));
        }
        for id in &socket.associations {
            if let Some(held) = self.associations.get_mut(id) {
                held.engine.tune(now, |current| current.clone_from(config));
            }
        }
        let dry = socket.options.events.has(super::Event::SenderDry);
        let ids = socket.associations.clone();
        for id in ids.into_iter().filter(|_| dry) {
            self.tell_if_dry(fd, id);
        }
        Ok(())
    }

    /// Tells a user who asked to be told when nothing waits, if that is so (RFC 6458 §6.1.9).
    fn tell_if_dry(&mut self, fd: Fd, id: AssociationId) {
        let (Some(held), Some(socket)) = (self.associations.get(&id), self.table.get_mut(&fd))
        else {
            return;
        };
        let told = socket.notifications.iter().any(|queued| {
            queued.association == Some(id) && queued.notification.event() == super::Event::SenderDry
        });
        if held.connected && held.ended.is_none() && held.engine.is_dry() && !told {
            let after = held.taken + held.engine.waiting().len() as u64;
            let notification = super::Notification::SenderDry { id };
            let association = Some(id);
            socket.notifications.push_back(super::Queued { notification, after, association });
        }
    }

    /// The engine of the association that a call is about.
    pub fn engine(&mut self, fd: Fd, id: Option<AssociationId>) -> Option<&mut Association> {
        let id = self.association_of(fd, id)?;
        self.associations.get_mut(&id).map(|held| &mut held.engine)
    }

    /// Identifiers of the associations of a socket.
    pub fn associations(&self, fd: Fd) -> Vec<AssociationId> {
        self.table.get(&fd).map_or_else(Vec::new, |socket| socket.associations.clone())
    }

    /// The port of a socket, and the addresses of the host.
    pub fn local_addresses(&self, fd: Fd) -> Option<(Vec<Addr>, u16)> {
        Some((self.addresses.clone(), self.table.get(&fd)?.port?))
    }

    /// Addresses and port of the peer of an association.
    pub fn peer_addresses(&self, fd: Fd, id: Option<AssociationId>) -> Option<(Vec<Addr>, u16)> {
        let held = self.associations.get(&self.association_of(fd, id)?)?;
        Some((held.peers().collect(), held.engine.flow_key().dst_port))
    }
}
