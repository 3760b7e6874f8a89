//! A connected socket: what is read and written, and when it has to wait.

use crate::errno::Errno;
use crate::flavor::Flavor;
use crate::options::Options;
use crate::traffic::Traffic;
use anabranch_endpoint::{ByteStream, CloseReason, Endpoint, Event, Observe};
use anabranch_tcp::{Connection, Info, LimitTimes, State};
use anabranch_units::{Span, Time};
use anabranch_wire::{Body, Packet, TcpFlags};
use std::collections::VecDeque;

/// What a write carries: octets that are only counted, or real ones. A stream
/// is of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Data<'a> {
    /// That many counted octets.
    Counted(u64),
    /// Real octets, to be copied.
    Octets(&'a [u8]),
}

impl Data<'_> {
    /// Returns how many octets there are.
    pub fn len(&self) -> u64 {
        match self {
            Data::Counted(n) => *n,
            Data::Octets(octets) => octets.len() as u64,
        }
    }

    /// Whether there are no octets.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Flags of a call that sends.
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
    /// What the engine knows of the connection.
    pub connection: Info,
    /// Time since data came last.
    pub last_data_received: Span,
    /// Time since data was written last.
    pub last_data_sent: Span,
    /// Time since an acknowledgment came last.
    pub last_ack_received: Span,
    /// What limited the sender.
    pub limits: LimitTimes,
    /// What has come and gone.
    pub traffic: Traffic,
    /// Octets received in order, and acknowledged.
    pub received: u64,
    /// Octets sent that were acknowledged.
    pub acknowledged: u64,
}

/// Bookkeeping that Linux charges to the send buffer for each buffer beside its
/// octets (its `truesize`, measured of 6.18).
const OVERHEAD: u64 = 832;

/// The largest buffer that Linux makes of a write (`GSO_LEGACY_MAX_SIZE` less
/// headers).
const LARGEST_CHUNK: u64 = 65_536 - 1 - 320;

/// Octets that Linux hands to the interface at once (`tcp_tso_autosize`): what leaves in 1 ms at the
/// rate at which it would pace, and more where the round trip is short, but no more than half of the
/// window, and `least` segments at least.
fn burst(info: &Info, least: u32) -> u64 {
    const WHOLE: u64 = 65_536;
    let micros = |span: Option<Span>| span.map_or(0, |span| span.as_nanos() / 1000);
    let in_slow_start = info.cwnd < info.ssthresh / 2;
    let gain = if in_slow_start { 200 } else { 120 };
    let rate = (info.cwnd * gain / 100).saturating_mul(1_000_000) / micros(info.srtt).max(1);
    let bonus = WHOLE.checked_shr((micros(info.min_rtt) >> 9) as u32).unwrap_or(0);
    let segments = ((rate >> 10) + bonus).min(WHOLE) / info.mss.max(1);
    let half = (info.cwnd / info.mss.max(1) / 2).max(1);
    segments.max(least.into()).min(half) * info.mss.max(1)
}

#[derive(Debug)]
pub(crate) struct Stream {
    pub connection: Connection,
    /// An error that the next call reports.
    pub error: Option<Errno>,
    flavor: Flavor,
    /// Why it ended, once it has.
    ended: Option<CloseReason>,
    connected: bool,
    shut_read: bool,
    shut_write: bool,
    /// Octets that came last and were refused: nobody reads them.
    refused: u64,
    /// The FIN of a shutdown waits for the end of the handshake.
    end_waits: bool,
    /// Offset, in octets written, where the last buffer begins that may still
    /// be added to.
    tail: u64,
    /// Offsets at which buffers begin that are not wholly acknowledged.
    begun: VecDeque<u64>,
    written: u64,
    /// Octets that were written when a push was forced or asked for last.
    pushed: u64,
    /// A write found no room: it is woken when a third of the buffer is free.
    starved: bool,
    /// Number of writes that found no room.
    pub starvations: u64,
    received_at: Time,
    sent_at: Time,
    traffic: Traffic,
    /// Trouble that a router reports is an error at once (`IP_RECVERR`).
    pub hears_routers: bool,
}

impl Stream {
    pub fn new(mut connection: Connection, flavor: Flavor, now: Time) -> Stream {
        let connected = connection.state().is_synchronized();
        if flavor == Flavor::Linux {
            connection.hold_pushes();
            connection.keep_limits();
        }
        Stream {
            connection,
            error: None,
            flavor,
            ended: None,
            connected,
            shut_read: false,
            shut_write: false,
            refused: 0,
            end_waits: false,
            tail: 0,
            begun: VecDeque::new(),
            written: 0,
            pushed: 0,
            starved: false,
            starvations: 0,
            received_at: now,
            sent_at: now,
            traffic: Traffic::default(),
            hears_routers: false,
        }
    }

    /// A connection that was accepted: data flows, even if a Fast Open cookie
    /// opened it and its handshake is not over.
    pub fn accepted(connection: Connection, flavor: Flavor, now: Time) -> Stream {
        let mut stream = Stream::new(connection, flavor, now);
        stream.connected = true;
        let info = stream.connection.info();
        stream.traffic = Traffic::accepted(info.readable, info.state.is_synchronized(), now);
        stream
    }

    /// What goes with the SYN; before the first packet is polled.
    pub fn write_with_syn(&mut self, data: Data<'_>, octets: u64) {
        self.take_in(data, octets);
        self.tail = self.written;
        self.push();
    }

    /// The handshake is under way.
    pub fn is_connecting(&self) -> bool {
        !self.connected && self.ended.is_none()
    }

    /// The connection is over for its user, who does not hear of TIME-WAIT.
    pub fn is_over(&self) -> bool {
        self.ended.is_some() || self.connection.state() == State::TimeWait
    }

    /// The error that waits, or else, with Linux, what a router reported and did not end the
    /// connection (`SO_ERROR`); reading takes it.
    pub fn take_any_error(&mut self) -> Option<Errno> {
        self.error.take().or_else(|| {
            match self.flavor {
                Flavor::Linux => self.connection.take_icmp_error(),
                Flavor::FreeBsd => None,
            }
            .map(|kind| Errno::of_icmp(self.flavor, kind))
        })
    }

    /// Takes a packet that came for the connection.
    pub fn handle_input(&mut self, now: Time, packet: &Packet) {
        if let Body::Tcp(segment) = &packet.body
            && !segment.payload.is_empty()
        {
            self.received_at = now;
        }
        self.traffic.on_input(now, packet, &self.connection);
        let (before, taken) =
            (self.connection.observe().bytes_received, self.connection.text_taken());
        let closing = matches!(self.connection.state(), State::Closing | State::LastAck);
        self.connection.handle_input(now, packet);
        self.hear(now);
        if let Body::Tcp(segment) = &packet.body
            && segment.flags.contains(TcpFlags::RST)
            && closing
            && self.ended.is_some()
        {
            // Both users are done, but this one has not closed its socket (Linux).
            self.error = Some(Errno::ECONNRESET);
        }
        if self.hears_routers
            && matches!(packet.body, Body::Icmp(_))
            && self.ended.is_none()
            && let Some(trouble) = self.connection.take_icmp_error()
        {
            self.error = Some(Errno::of_icmp(self.flavor, trouble));
        }
        if self.end_waits && self.connection.state().is_synchronized() {
            self.end_waits = false;
            self.connection.close();
        }
        if self.shut_read && refuse_late_data(&mut self.connection, taken, packet) {
            self.refused = self.connection.observe().bytes_received - before;
            while self.connection.poll_event().is_some() {}
            (self.ended, self.error) = (Some(CloseReason::Reset), Some(Errno::ECONNRESET));
        }
    }

    /// The next packet to send.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let packet = self.connection.poll_transmit(now)?;
        self.traffic.on_output(&packet);
        Some(packet)
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
                    let reported = self.connection.icmp_error();
                    let reported = reported.map(|kind| Errno::of_icmp(self.flavor, kind));
                    // A reset after the peer's end is a broken pipe on Linux.
                    let linux = self.flavor == Flavor::Linux;
                    self.error = match reason {
                        CloseReason::Reset if linux && self.connection.info().peer_ended => {
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

    /// Returns the octets that are charged to the send buffer.
    fn memory(&self, options: &Options) -> u64 {
        self.queued() + OVERHEAD * self.buffers(options)
    }

    /// Buffers that hold something that is not acknowledged. What has left is in buffers of what
    /// leaves at once.
    fn buffers(&self, options: &Options) -> u64 {
        let info = self.connection.info();
        let acked = self.connection.observe().bytes_acked;
        let sent = self.written.saturating_sub(info.unsent);
        let after = |at: u64| self.begun.len() - self.begun.partition_point(|start| *start <= at);
        let unsent = after(sent) as u64;
        let out = (after(acked) - after(sent)) as u64 + (acked < self.written) as u64;
        let cut = sent.saturating_sub(acked).div_ceil(burst(&info, options.min_burst));
        out.max(cut) + unsent
    }

    /// A new buffer may be begun.
    fn has_room(&self, options: &Options) -> bool {
        self.memory(options) < options.send_buffer
            && self.connection.info().unsent < options.low_water
    }

    /// Whether as much can be read as the user waits for (`SO_RCVLOWAT`), or the window is all but
    /// closed.
    fn is_readable(&self, info: &Info, options: &Options) -> bool {
        info.readable > 0
            && (info.readable >= options.receive_low_water || info.own_window <= info.peer_mss)
    }

    /// A writer that found no room is woken, and `poll` says that there is some (Linux: when what
    /// is free is half of what is used).
    pub fn is_woken(&self, options: &Options) -> bool {
        let memory = self.memory(options);
        options.send_buffer.saturating_sub(memory) >= memory / 2
            && self.connection.info().unsent < options.low_water.div_ceil(2)
    }

    /// A write that waits for room goes on.
    pub fn wakes_writer(&self, options: &Options) -> bool {
        self.is_woken(options) || self.error.is_some() || self.shut_write || self.is_over()
    }

    /// A read that waits for `least` octets returns.
    pub fn wakes_reader(&self, least: u64) -> bool {
        let info = self.connection.info();
        let ended = info.peer_ended || self.shut_read || self.is_over();
        info.readable >= least || ended || self.error.is_some()
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
        if self.flavor == Flavor::FreeBsd {
            return self.append(now, data, options);
        }
        if self.is_connecting() {
            return Err(Errno::EAGAIN);
        }
        self.starved = false;
        self.connection.set_starved(false);
        let info = self.connection.info();
        let mss = self.connection.current_mss().max(1);
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
                    self.connection.set_starved(true);
                    self.starvations += 1;
                    break;
                }
                (self.tail, room) = (self.written, chunk);
                self.begin_buffer();
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
                while let Some(packet) = self.poll_transmit(now) {
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

    /// Appends what the send buffer has room for, as BSD stacks do it.
    fn append(&mut self, now: Time, data: Data<'_>, options: &Options) -> Result<u64, Errno> {
        if self.is_connecting() {
            return Err(Errno::ENOTCONN);
        }
        let room = options.send_buffer.saturating_sub(self.queued());
        let taken = data.len().min(room);
        if taken == 0 && !data.is_empty() {
            return Err(Errno::EAGAIN);
        }
        self.sent_at = now;
        self.take_in(data, taken);
        Ok(taken)
    }

    /// Gives the connection the first `octets` of `data`.
    fn take_in(&mut self, data: Data<'_>, octets: u64) {
        match data {
            Data::Counted(_) => _ = self.connection.write(octets),
            Data::Octets(all) => _ = self.connection.write_octets(&all[..octets as usize]),
        }
        self.written += octets;
    }

    fn begin_buffer(&mut self) {
        let acked = self.connection.observe().bytes_acked;
        while self.begun.get(1).is_some_and(|next| *next <= acked) {
            self.begun.pop_front();
        }
        self.begun.push_back(self.written);
    }

    fn push(&mut self) {
        if self.flavor != Flavor::Linux {
            return;
        }
        self.connection.push();
        self.pushed = self.written;
    }

    /// Takes up to `max` octets that arrived, into `buffer` where they are
    /// wanted; 0 at the end of the stream.
    pub fn read(&mut self, max: u64, buffer: Option<&mut [u8]>) -> Result<u64, Errno> {
        let readable = self.connection.info().readable.saturating_sub(self.refused);
        if readable > 0 || max == 0 {
            return Ok(match buffer {
                Some(buffer) => {
                    let most = buffer.len().min(readable as usize);
                    self.connection.read_octets(&mut buffer[..most]) as u64
                }
                None => self.connection.read(max.min(readable)),
            });
        }
        if self.connection.info().peer_ended {
            return Ok(0); // whatever has happened since
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let ended = self.ended.is_some() || self.shut_read;
        if ended { Ok(0) } else { Err(Errno::EAGAIN) }
    }

    /// Ends directions of the stream.
    pub fn shutdown(&mut self, read: bool, write: bool) -> Result<(), Errno> {
        if self.is_over() {
            return Err(Errno::ENOTCONN);
        }
        self.shut_read |= read;
        if write && !self.shut_write {
            self.shut_write = true;
            match self.connection.state().is_synchronized() {
                true => self.connection.close(),
                // The FIN waits for the end of the handshake (Linux).
                false => self.end_waits = true,
            }
        }
        Ok(())
    }

    /// The user lets go of it; the connection ends by itself, unless `None`:
    /// then there is nothing left to do.
    pub fn close(mut self, linger: Option<u32>) -> Option<Connection> {
        let info = self.connection.info();
        if self.ended.is_some() || info.state == State::SynSent {
            return self.connection.has_reset_due().then_some(self.connection);
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
        let info = self.connection.info();
        let over = self.is_over();
        let peer_ended = info.peer_ended || self.shut_read || over;
        let open = !self.is_connecting();
        let room = self.is_woken(options);
        Readiness {
            readable: open && self.is_readable(&info, options) || peer_ended,
            writable: open && (room || self.shut_write || over),
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
            last_ack_received: self.traffic.since_acknowledgment(now),
            limits: self.connection.limit_times(now),
            traffic: self.traffic,
            received: self.connection.observe().bytes_received,
            acknowledged: self.connection.observe().bytes_acked,
        }
    }
}

/// Data came, in order or not, beyond the `before` octets that had come, for a connection whose user has ended both
/// directions: nobody will read it, and the peer hears of that by a reset (RFC 1122 §4.2.2.13).
pub(crate) fn refuse_late_data(connection: &mut Connection, before: u64, packet: &Packet) -> bool {
    let ended = matches!(
        connection.state(),
        State::FinWait1 | State::FinWait2 | State::Closing | State::TimeWait
    );
    let late = ended && connection.text_taken() > before;
    if late && let Body::Tcp(segment) = &packet.body {
        connection.refuse(segment);
    }
    late
}
