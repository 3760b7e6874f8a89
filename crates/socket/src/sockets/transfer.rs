//! What goes through a stream, and how it ends.

use super::{Fd, Kind, Shutdown, Sockets, Stage, key_of};
use crate::errno::Errno;
use crate::stream::{Data, SendFlags, Stream};
use anabranch_tcp::State;
use anabranch_units::Time;

impl Sockets {
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
            return self.write_and_connect(fd, now, Some(remote), data, flags);
        }
        match &mut socket.kind {
            Kind::Stream(stream) => {
                stream.write(now, data, flags, &socket.options, &mut self.outgoing)
            }
            Kind::Multipath(multipath) => multipath.write(data, &socket.options),
            _ => Err(socket.error.take().unwrap_or(Errno::EPIPE)),
        }
    }

    /// Takes up to `max` octets that are only counted; 0 at the end of the
    /// stream.
    ///
    /// # Errors
    /// `EBADF`, `ENOTCONN`, `EAGAIN`; the error that waits.
    pub fn read(&mut self, fd: Fd, max: u64) -> Result<u64, Errno> {
        let socket = self.socket_at(fd)?;
        match &mut socket.kind {
            Kind::Multipath(multipath) => multipath.read(max, None),
            Kind::Fresh if socket.shut_read => Ok(0),
            _ => self.stream_at(fd)?.read(max, None),
        }
    }

    /// Takes octets into `buffer`; 0 at the end of the stream.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_octets(&mut self, fd: Fd, buffer: &mut [u8]) -> Result<u64, Errno> {
        let socket = self.socket_at(fd)?;
        match &mut socket.kind {
            Kind::Multipath(multipath) => multipath.read(buffer.len() as u64, Some(buffer)),
            Kind::Fresh if socket.shut_read => Ok(0),
            _ => self.stream_at(fd)?.read(buffer.len() as u64, Some(buffer)),
        }
    }

    pub(super) fn stream_at(&mut self, fd: Fd) -> Result<&mut Stream, Errno> {
        let socket = self.socket_at(fd)?;
        match &mut socket.kind {
            Kind::Stream(stream) => Ok(stream),
            Kind::Fresh if socket.deferred.is_some() => Err(Errno::EAGAIN),
            _ => Err(socket.error.take().unwrap_or(Errno::ENOTCONN)),
        }
    }

    /// A write that waits for room goes on: there is some, or it fails.
    pub fn wakes_writer(&self, fd: Fd) -> bool {
        let Some(socket) = self.table.get(&fd) else { return true };
        match &socket.kind {
            Kind::Stream(stream) => stream.wakes_writer(&socket.options),
            _ => true,
        }
    }

    /// A read of up to `max` octets that waits returns: there are as many as it waits for
    /// (`SO_RCVLOWAT`; `all`: no fewer than `max`), or there will be no more.
    pub fn wakes_reader(&self, fd: Fd, max: u64, all: bool) -> bool {
        let Some(socket) = self.table.get(&fd) else { return true };
        match &socket.kind {
            Kind::Stream(stream) => {
                let most = if all { u64::MAX } else { socket.options.receive_low_water };
                stream.wakes_reader(most.min(max))
            }
            _ => true,
        }
    }

    /// Octets that can be read (`FIONREAD`).
    ///
    /// # Errors
    /// `EBADF`; `EINVAL` for a listener.
    pub fn readable(&mut self, fd: Fd) -> Result<u64, Errno> {
        match &self.socket_at(fd)?.kind {
            Kind::Stream(stream) => Ok(stream.connection.info().readable),
            Kind::Multipath(multipath) => Ok(multipath.readable()),
            Kind::Fresh => Ok(0),
            Kind::Listening(_) | Kind::MultipathListening(_) => Err(Errno::EINVAL),
        }
    }

    /// Octets written that the peer has not acknowledged (`SIOCOUTQ`).
    ///
    /// # Errors
    /// `EBADF`; `EINVAL` for a listener.
    pub fn unacknowledged(&mut self, fd: Fd) -> Result<u64, Errno> {
        match &self.socket_at(fd)?.kind {
            Kind::Stream(stream) => Ok(stream.queued()),
            Kind::Multipath(multipath) => Ok(multipath.queued()),
            Kind::Fresh => Ok(0),
            Kind::Listening(_) | Kind::MultipathListening(_) => Err(Errno::EINVAL),
        }
    }

    /// Ends one direction or both. Of a connect that is under way it calls that off, and the
    /// socket may connect again (Linux).
    ///
    /// # Errors
    /// `EBADF`, `ENOTCONN`.
    pub fn shutdown(&mut self, fd: Fd, how: Shutdown) -> Result<(), Errno> {
        let (read, write) = (how != Shutdown::Write, how != Shutdown::Read);
        let socket = self.socket_at(fd)?;
        match &mut socket.kind {
            // A handshake that is under way is given up (Linux).
            Kind::Multipath(multipath) if multipath.is_connecting() => self.disconnect(fd),
            Kind::Stream(stream) if stream.connection.state() == State::SynSent => {
                socket.error = Some(Errno::ECONNRESET);
                self.disconnect(fd)
            }
            Kind::Stream(stream) => {
                if socket.stage == Stage::Connecting && !stream.is_over() {
                    socket.stage = Stage::Connected;
                }
                stream.shutdown(read, write)
            }
            Kind::Multipath(multipath) => multipath.shutdown(read, write),
            Kind::Fresh if socket.deferred.is_some() => {
                socket.error = Some(Errno::ECONNRESET);
                self.disconnect(fd)
            }
            Kind::Fresh => {
                socket.shut_read |= read;
                Err(Errno::ENOTCONN)
            }
            Kind::Listening(_) | Kind::MultipathListening(_) if !read => Ok(()),
            Kind::Listening(_) | Kind::MultipathListening(_) => {
                let kind = std::mem::replace(&mut socket.kind, Kind::Fresh);
                self.stop_listening(kind);
                Ok(())
            }
        }
    }

    /// Gives the connection up, or the queue of a listener (`connect` with `AF_UNSPEC`): the peer hears of it
    /// by a reset, and the socket may connect anew.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn disconnect(&mut self, fd: Fd) -> Result<(), Errno> {
        let socket = self.table.get_mut(&fd).ok_or(Errno::EBADF)?;
        let kind = std::mem::replace(&mut socket.kind, Kind::Fresh);
        (socket.deferred, socket.shut_read) = (None, false);
        socket.stage = Stage::Unconnected;
        socket.port = socket.port.filter(|_| socket.is_bound);
        match kind {
            Kind::Fresh => {}
            Kind::Stream(stream) => {
                let key = key_of(&stream.connection);
                self.streams.remove(&key);
                if let Some(connection) = stream.close(Some(0)) {
                    self.orphans.insert(key, connection);
                }
            }
            Kind::Multipath(multipath) => self.path_orphans.push(multipath.disconnect()),
            kind => self.stop_listening(kind),
        }
        Ok(())
    }

    /// Lets go of the socket. Its connection ends by itself: in order, or by a
    /// reset when data was left unread or `SO_LINGER` asks for it.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn close(&mut self, fd: Fd) -> Result<(), Errno> {
        if self.epolls.remove(&fd).is_some() {
            return Ok(());
        }
        self.epolls.values_mut().for_each(|epoll| epoll.forget(fd));
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
            Kind::Multipath(multipath) => {
                self.path_orphans.extend(multipath.close(socket.options.linger));
            }
            kind => self.stop_listening(kind),
        }
        Ok(())
    }
}
