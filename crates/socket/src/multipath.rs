//! A connected socket of Multipath TCP: as a [`Stream`](crate::stream::Stream)
//! over one, with a send buffer of octets.

use crate::errno::Errno;
use crate::options::{Name, Options};
use crate::stream::{Data, Readiness};
use anabranch_endpoint::{ByteStream, CloseReason, Endpoint, Event, Observe};
use anabranch_mptcp::Connection;
use anabranch_units::Time;
use anabranch_wire::Packet;

#[derive(Debug)]
pub(crate) struct Multipath {
    pub connection: Connection,
    /// An error that the next call reports.
    pub error: Option<Errno>,
    ended: Option<CloseReason>,
    connected: bool,
    peer_closed: bool,
    shut_read: bool,
    shut_write: bool,
    written: u64,
    /// Octets that the user has read.
    taken: u64,
}

impl Multipath {
    /// What was set before there was a connection, and holds for it.
    pub const INHERITED: [Name; 2] = [Name::Cork, Name::KeepAlive];

    pub fn new(connection: Connection) -> Multipath {
        Multipath {
            connection,
            error: None,
            ended: None,
            connected: false,
            peer_closed: false,
            shut_read: false,
            shut_write: false,
            written: 0,
            taken: 0,
        }
    }

    /// A connection that was accepted.
    pub fn accepted(connection: Connection) -> Multipath {
        let mut multipath = Multipath::new(connection);
        multipath.connected = true;
        multipath.hear();
        if multipath.connection.flow_keys().next().is_none() {
            // Its only subflow was reset while it waited: there is nothing to
            // write to, and no error to report (Linux).
            multipath.connection.abort();
            multipath.hear();
            multipath.ended.get_or_insert(CloseReason::Reset);
        }
        multipath
    }

    /// What goes with the SYN; before the first packet is polled.
    pub fn write_with_syn(&mut self, data: Data<'_>, octets: u64) {
        if octets == 0 {
            return;
        }
        match data {
            Data::Counted(_) => _ = self.connection.write(octets),
            Data::Octets(all) => _ = self.connection.write_octets(&all[..octets as usize]),
        }
        self.written += octets;
        self.connection.send_with_syn(octets);
    }

    /// The handshake has failed: another may be tried.
    pub fn has_failed(&self) -> bool {
        !self.connected && self.ended.is_some()
    }

    pub fn is_connecting(&self) -> bool {
        !self.connected && self.ended.is_none()
    }

    pub fn handle_input(&mut self, now: Time, packet: &Packet) {
        self.connection.handle_input(now, packet);
        self.hear();
    }

    /// Takes the connection's events in.
    pub fn hear(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            match event {
                Event::Connected => self.connected = true,
                Event::PeerClosed => self.peer_closed = true,
                Event::Closed(reason) => {
                    self.error = match reason {
                        CloseReason::Reset => Some(Errno::ECONNRESET),
                        CloseReason::Refused => Some(Errno::ECONNREFUSED),
                        CloseReason::TimedOut => Some(Errno::ETIMEDOUT),
                        CloseReason::Normal | CloseReason::Aborted => self.error,
                    };
                    self.ended = Some(reason);
                }
                _ => {}
            }
        }
    }

    /// Octets written and not acknowledged.
    pub fn queued(&self) -> u64 {
        self.written.saturating_sub(self.connection.observe().bytes_acked)
    }

    /// Octets that can be read.
    pub fn readable(&self) -> u64 {
        self.connection.observe().bytes_received - self.taken
    }

    pub fn write(&mut self, data: Data<'_>, options: &Options) -> Result<u64, Errno> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.shut_write || self.ended.is_some() {
            return Err(Errno::EPIPE);
        }
        let room = options.send_buffer.saturating_sub(self.queued());
        let len = data.len().min(room);
        if self.is_connecting() || len == 0 && !data.is_empty() {
            return Err(Errno::EAGAIN);
        }
        let len = match data {
            Data::Counted(_) => self.connection.write(len),
            Data::Octets(octets) => self.connection.write_octets(&octets[..len as usize]) as u64,
        };
        self.written += len;
        Ok(len)
    }

    pub fn read(&mut self, max: u64, buffer: Option<&mut [u8]>) -> Result<u64, Errno> {
        if max == 0 {
            return Ok(0);
        }
        let n = match buffer {
            Some(buffer) => self.connection.read_octets(buffer) as u64,
            None => self.connection.read(max),
        };
        self.taken += n;
        if n > 0 {
            return Ok(n);
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let ended = self.peer_closed || self.ended.is_some() || self.shut_read;
        if ended { Ok(0) } else { Err(Errno::EAGAIN) }
    }

    /// The stream is given up: there is no socket for it any more.
    pub fn disconnect(mut self) -> Connection {
        self.connection.abort();
        self.connection
    }

    pub fn shutdown(&mut self, read: bool, write: bool) -> Result<(), Errno> {
        // What is left of it in TIME-WAIT is no socket's any more (Linux).
        if !self.connected || self.ended.is_some() || self.connection.is_in_time_wait() {
            return Err(Errno::ENOTCONN);
        }
        self.shut_read |= read;
        if write && !self.shut_write {
            self.shut_write = true;
            self.connection.close();
        }
        Ok(())
    }

    /// The user lets go of it; the connection ends by itself, unless `None`.
    pub fn close(mut self, linger: Option<u32>) -> Option<Connection> {
        if self.ended.is_some() {
            // What subflows still have to say.
            return Some(self.connection);
        }
        if self.readable() > 0 || linger == Some(0) || !self.connected {
            self.connection.abort();
        } else {
            self.connection.close();
        }
        Some(self.connection)
    }

    pub fn readiness(&self, options: &Options) -> Readiness {
        if self.is_connecting() {
            return Readiness { error: self.error.is_some(), ..Readiness::default() };
        }
        let over = self.ended.is_some();
        let peer_ended = self.peer_closed || self.shut_read || over;
        Readiness {
            readable: self.readable() > 0 || peer_ended,
            writable: self.queued() < options.send_buffer || self.shut_write || over,
            error: self.error.is_some(),
            hang_up: peer_ended && (self.shut_write || over),
            peer_ended,
        }
    }

    /// An option that Multipath TCP does not have: the error of setting it and of
    /// reading it (Linux).
    pub fn refuses(name: Name) -> Option<(Errno, Errno)> {
        let of_tcp = [Name::Md5, Name::SynRetries, Name::UserTimeout, Name::QuickAck];
        match name {
            Name::MtuDiscover => Some((Errno::EOPNOTSUPP, Errno::EOPNOTSUPP)),
            name => of_tcp.contains(&name).then_some((Errno::ENOPROTOOPT, Errno::EOPNOTSUPP)),
        }
    }
}
