//! A connected socket: what is read and written, and when it has to wait.

use crate::errno::Errno;
use crate::options::Options;
use anabranch_endpoint::{ByteStream, CloseReason, Endpoint, Event};
use anabranch_tcp::{Connection, Info, State};
use anabranch_units::{Span, Time};
use anabranch_wire::{Body, Packet};
use std::collections::VecDeque;

/// What a write carries: octets that are only counted, or real ones. A stream
/// is of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Data<'a> {
    /// So many.
    Counted(u64),
    /// These.
    Octets(&'a [u8]),
}

impl Data<'_> {
    /// How many octets.
    pub fn len(&self) -> u64 {
        match self {
            Data::Counted(n) => *n,
            Data::Octets(octets) => octets.len() as u64,
        }
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Flags of a send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SendFlags {
    /// `MSG_MORE`: the user is about to write more.
    pub more: bool,
    /// `MSG_EOR`: what follows begins a new segment.
    pub end_of_record: bool,
}

/// What a socket is ready for (`poll`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Readiness {
    /// `POLLIN`: a read does not block.
    pub readable: bool,
    /// `POLLOUT`: a write does not block.
    pub writable: bool,
    /// `POLLERR`: an error waits.
    pub error: bool,
    /// `POLLHUP`: both directions have ended.
    pub hang_up: bool,
    /// `POLLRDHUP`: the peer will send no more.
    pub peer_ended: bool,
}

/// What `TCP_INFO` reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpInfo {
    /// The connection's part.
    pub connection: Info,
    /// Since data came last.
    pub last_data_received: Span,
    /// Since data was written last.
    pub last_data_sent: Span,
}

/// Bookkeeping that Linux charges to the send buffer beside the octets: an
/// estimate of its `truesize` (an eighth; a full buffer of 64 KiB has less, a
/// single segment more).
const OVERHEAD: u64 = 8;

/// The largest buffer that Linux makes of a write (`GSO_LEGACY_MAX_SIZE` less
/// headers).
const LARGEST_CHUNK: u64 = 65_536 - 1 - 320;

#[derive(Debug)]
pub(crate) struct Stream {
    pub connection: Connection,
    /// An error that the next call reports.
    pub error: Option<Errno>,
    /// Why it ended, once it has.
    ended: Option<CloseReason>,
    connected: bool,
    shut_read: bool,
    shut_write: bool,
    /// Offset, in octets written, where the last buffer begins that may still
    /// be added to.
    tail: u64,
    written: u64,
    /// What was written when a push was forced or asked for last.
    pushed: u64,
    /// A write found no room: it is woken when a third of the buffer is free.
    starved: bool,
    /// How often one did.
    pub starvations: u64,
    received_at: Time,
    sent_at: Time,
}

impl Stream {
    pub fn new(mut connection: Connection, now: Time) -> Stream {
        let connected = connection.state().is_synchronized();
        connection.hold_pushes();
        Stream {
            connection,
            error: None,
            ended: None,
            connected,
            shut_read: false,
            shut_write: false,
            tail: 0,
            written: 0,
            pushed: 0,
            starved: false,
            starvations: 0,
            received_at: now,
            sent_at: now,
        }
    }

    /// A connection that was accepted: data flows, even if a Fast Open cookie
    /// opened it and its handshake is not over.
    pub fn accepted(connection: Connection, now: Time) -> Stream {
        let mut stream = Stream::new(connection, now);
        stream.connected = true;
        stream
    }

    /// What goes with the SYN; before the first packet is polled.
    pub fn write_with_syn(&mut self, data: Data<'_>, octets: u64) {
        match data {
            Data::Counted(_) => _ = self.connection.write(octets),
            Data::Octets(all) => _ = self.connection.write_octets(&all[..octets as usize]),
        }
        self.written += octets;
        self.tail = self.written;
        self.push();
    }

    /// The handshake is under way.
    pub fn is_connecting(&self) -> bool {
        !self.connected && self.ended.is_none()
    }

    /// A packet came for it.
    pub fn handle_input(&mut self, now: Time, packet: &Packet) {
        if let Body::Tcp(segment) = &packet.body
            && !segment.payload.is_empty()
        {
            self.received_at = now;
        }
        self.connection.handle_input(now, packet);
        self.hear(now);
    }

    /// Takes the connection's events in.
    pub fn hear(&mut self, now: Time) {
        while let Some(event) = self.connection.poll_event() {
            match event {
                Event::Connected => {
                    self.connected = true;
                    self.received_at = now;
                }
                Event::Closed(reason) => {
                    // A reset after the peer's end is a broken pipe (Linux).
                    let reported = self.connection.icmp_error().map(Errno::of_icmp);
                    self.error = match reason {
                        CloseReason::Reset if self.connection.info().peer_ended => {
                            Some(Errno::EPIPE)
                        }
                        CloseReason::Reset => Some(Errno::ECONNRESET),
                        CloseReason::Refused => Some(reported.unwrap_or(Errno::ECONNREFUSED)),
                        CloseReason::TimedOut => Some(reported.unwrap_or(Errno::ETIMEDOUT)),
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

    fn memory(&self) -> u64 {
        let queued = self.queued();
        queued + queued / OVERHEAD
    }

    /// A new buffer may be begun.
    fn has_room(&self, options: &Options) -> bool {
        self.memory() < options.send_buffer && self.connection.info().unsent < options.low_water
    }

    /// A writer that found no room is woken (Linux: when what is free is half
    /// of what is used).
    fn is_woken(&self, options: &Options) -> bool {
        let memory = self.memory();
        options.send_buffer.saturating_sub(memory) >= memory / 2
            && self.connection.info().unsent < options.low_water.div_ceil(2)
    }

    /// Appends what there is room for; what leaves meanwhile goes to `out`.
    /// As Linux does it: data is put into buffers of up to half the peer's
    /// largest window, of which what is full leaves at once, and a buffer is
    /// begun only while the send buffer has room.
    pub fn write(
        &mut self,
        now: Time,
        data: Data<'_>,
        flags: SendFlags,
        options: &Options,
        out: &mut VecDeque<Packet>,
    ) -> Result<u64, Errno> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.shut_write || self.ended.is_some() {
            return Err(Errno::EPIPE);
        }
        if self.is_connecting() || self.starved && !self.is_woken(options) {
            return Err(Errno::EAGAIN);
        }
        self.starved = false;
        let info = self.connection.info();
        let mss = info.mss.max(1);
        let chunk = (info.max_window / 2).min(LARGEST_CHUNK).max(mss) / mss * mss;
        self.connection.set_more_coming(flags.more);
        let mut taken = 0;
        while taken < data.len() {
            let sent = self.written - self.connection.info().unsent;
            self.tail = self.tail.max(sent);
            let mut room = chunk.saturating_sub(self.written - self.tail);
            if self.written == sent || room == 0 {
                if !self.has_room(options) {
                    self.starved = true;
                    self.starvations += 1;
                    break;
                }
                (self.tail, room) = (self.written, chunk);
            }
            let len = room.min(data.len() - taken);
            if self.pushed > self.tail && self.pushed <= self.written {
                // The push of a buffer that grows moves to its new end.
                self.connection.retract_pushes(self.written - self.tail);
                self.pushed = self.tail;
            }
            match data {
                Data::Counted(_) => _ = self.connection.write(len),
                Data::Octets(octets) => {
                    let part = &octets[taken as usize..(taken + len) as usize];
                    self.connection.write_octets(part);
                }
            }
            taken += len;
            self.written += len;
            if self.written - self.pushed > info.max_window / 2 {
                self.push();
            }
            if len == room && taken < data.len() {
                while let Some(packet) = self.connection.poll_transmit(now) {
                    out.push_back(packet);
                }
            }
        }
        if taken > 0 || data.is_empty() {
            self.sent_at = now;
            if flags.end_of_record {
                self.connection.cut();
                self.tail = self.written;
            }
            if !flags.more || self.starved {
                self.push();
            }
            return Ok(taken);
        }
        Err(Errno::EAGAIN)
    }

    fn push(&mut self) {
        self.connection.push();
        self.pushed = self.written;
    }

    /// Takes up to `max` octets that arrived, into `buffer` where they are
    /// wanted; 0 at the end of the stream.
    pub fn read(&mut self, max: u64, buffer: Option<&mut [u8]>) -> Result<u64, Errno> {
        let readable = self.connection.info().readable;
        if readable > 0 || max == 0 {
            return Ok(match buffer {
                Some(buffer) => self.connection.read_octets(buffer) as u64,
                None => self.connection.read(max),
            });
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let ended = self.connection.info().peer_ended || self.ended.is_some() || self.shut_read;
        if ended { Ok(0) } else { Err(Errno::EAGAIN) }
    }

    /// Ends directions of the stream.
    pub fn shutdown(&mut self, read: bool, write: bool) -> Result<(), Errno> {
        if !self.connected || self.ended.is_some() {
            return Err(Errno::ENOTCONN);
        }
        self.shut_read |= read;
        if write && !self.shut_write {
            self.shut_write = true;
            self.connection.close();
        }
        Ok(())
    }

    /// The user lets go of it; the connection ends by itself, unless `None`:
    /// then there is nothing left to do.
    pub fn close(mut self, linger: Option<u32>) -> Option<Connection> {
        let info = self.connection.info();
        if self.ended.is_some() || info.state == State::SynSent {
            return None;
        }
        // RFC 1122 §4.2.2.13, RFC 2525 §2.17: what was not read is lost, and
        // the peer hears of it.
        if info.readable > 0 || linger == Some(0) {
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
        let info = self.connection.info();
        let over = self.ended.is_some();
        let peer_ended = info.peer_ended || self.shut_read || over;
        let room = if self.starved { self.is_woken(options) } else { self.has_room(options) };
        Readiness {
            readable: info.readable > 0 || peer_ended,
            writable: room || self.shut_write || over,
            error: self.error.is_some(),
            hang_up: peer_ended && (self.shut_write || over),
            peer_ended,
        }
    }

    pub fn info(&self, now: Time) -> TcpInfo {
        TcpInfo {
            connection: self.connection.info(),
            last_data_received: now.saturating_since(self.received_at),
            last_data_sent: now.saturating_since(self.sent_at),
        }
    }
}
