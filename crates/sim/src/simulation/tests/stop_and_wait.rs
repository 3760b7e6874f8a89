//! The transport of these tests.

use super::*;

/// A stop-and-wait stream with the sequence space of TCP: position 0 is the
/// SYN, the position after the data the FIN. Enough of a transport to test the
/// simulator without one.
pub(super) struct StopAndWait {
    pub(super) key: FlowKey,
    /// Addresses that it turns to after a timeout.
    pub(super) other: Option<(Addr, Addr)>,
    /// It is between its addresses and ports alone.
    pub(super) exact: bool,
    pub(super) active: bool,
    pub(super) una: u64,
    /// Octets written; `data` holds them when they are real.
    pub(super) end: u64,
    pub(super) data: Vec<u8>,
    pub(super) closing: bool,
    pub(super) rcv_nxt: u64,
    pub(super) unread: u64,
    pub(super) inbox: VecDeque<u8>,
    pub(super) deadline: Time,
    pub(super) in_flight: bool,
    pub(super) must_ack: bool,
    pub(super) resent: u64,
    pub(super) events: VecDeque<Event>,
    pub(super) flaw: Option<Flaw>,
}

/// What a transport must not do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// It arms no retransmission timer, so that a lost segment is never sent again.
    NoTimer,
    /// It acknowledges what it does not deliver.
    Loses,
}

pub(super) const RTO: Span = Span::from_millis(300);
const CHUNK: u64 = 1000;

impl StopAndWait {
    pub(super) fn new(src: (Addr, u16), dst: (Addr, u16)) -> StopAndWait {
        let (src_port, dst_port) = (src.1, dst.1);
        StopAndWait {
            key: FlowKey { src: src.0, dst: dst.0, protocol: 6, src_port, dst_port },
            other: None,
            exact: false,
            active: false,
            una: 0,
            end: 0,
            data: Vec::new(),
            closing: false,
            rcv_nxt: 0,
            unread: 0,
            inbox: VecDeque::new(),
            deadline: Time::NEVER,
            in_flight: false,
            must_ack: false,
            resent: 0,
            events: VecDeque::new(),
            flaw: None,
        }
    }

    /// What stands at `una`: flag, octets of payload.
    fn next(&self) -> Option<(TcpFlags, u64)> {
        match self.una {
            _ if !self.active => None,
            0 => Some((TcpFlags::SYN, 0)),
            una if una <= self.end => Some((TcpFlags::PSH, (self.end + 1 - una).min(CHUNK))),
            una if una == self.end + 1 && self.closing => Some((TcpFlags::FIN, 0)),
            _ => None,
        }
    }

    pub(super) fn segment(&self, flags: TcpFlags, len: u64) -> Packet {
        let payload = if len == 0 || self.data.is_empty() {
            Payload::virtual_of(len as u32)
        } else {
            Payload::of_octets(&self.data[self.una as usize - 1..][..len as usize])
        };
        let segment = TcpSegment {
            src_port: self.key.src_port,
            dst_port: self.key.dst_port,
            seq: Serial32(self.una as u32),
            ack: Serial32(self.rcv_nxt as u32),
            flags: flags.union(TcpFlags::ACK),
            window: u16::MAX,
            urgent: 0,
            options: TcpOptions::default(),
            payload,
        };
        Packet::new(self.key.src, self.key.dst, Body::Tcp(segment))
    }
}

impl Endpoint for StopAndWait {
    fn handle_input(&mut self, _now: Time, packet: &Packet) {
        let Body::Tcp(segment) = &packet.body else { panic!("a segment") };
        self.active = true;
        if let Some((_, len)) = self.next().filter(|_| self.in_flight)
            && segment.ack.0 as u64 == self.una + len.max(1)
        {
            self.una += len.max(1);
            self.in_flight = false;
            self.deadline = Time::NEVER;
            if self.una == 1 {
                self.events.push_back(Event::Connected);
            } else if self.una == self.end + 2 {
                self.events.push_back(Event::Closed(CloseReason::Normal));
            }
        }
        if segment.seq_len() == 0 {
            return;
        }
        self.must_ack = true;
        if segment.seq.0 as u64 == self.rcv_nxt {
            self.rcv_nxt += segment.seq_len() as u64;
            if segment.flags.contains(TcpFlags::FIN) {
                self.events.push_back(Event::PeerClosed);
            } else if !segment.payload.is_empty() && self.flaw != Some(Flaw::Loses) {
                self.unread += segment.payload.len() as u64;
                self.inbox.extend(segment.payload.octets().unwrap_or(&[]));
                self.events.push_back(Event::Readable);
            }
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.deadline <= now {
            self.in_flight = false;
            self.resent += 1;
            self.deadline = Time::NEVER;
            if let Some(other) = &mut self.other {
                std::mem::swap(&mut self.key.src, &mut other.0);
                std::mem::swap(&mut self.key.dst, &mut other.1);
            }
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if let Some((flags, len)) = self.next().filter(|_| !self.in_flight) {
            self.in_flight = true;
            self.must_ack = false;
            self.deadline = if self.flaw == Some(Flaw::NoTimer) { Time::NEVER } else { now + RTO };
            return Some(self.segment(flags, len));
        }
        std::mem::take(&mut self.must_ack).then(|| self.segment(TcpFlags::ACK, 0))
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Time {
        self.deadline
    }
}

impl ByteStream for StopAndWait {
    fn connect(&mut self, _now: Time) {
        self.active = true;
    }

    fn write(&mut self, len: u64) -> u64 {
        self.end += len;
        len
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        self.data.extend(octets);
        self.end += octets.len() as u64;
        octets.len()
    }

    fn read(&mut self, max: u64) -> u64 {
        let taken = max.min(self.unread);
        self.unread -= taken;
        taken
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        let taken = buf.len().min(self.inbox.len());
        for (slot, octet) in buf.iter_mut().zip(self.inbox.drain(..taken)) {
            *slot = octet;
        }
        self.unread -= taken as u64;
        taken
    }

    fn close(&mut self) {
        self.closing = true;
    }

    fn abort(&mut self) {
        self.active = false;
        self.deadline = Time::NEVER;
        self.events.push_back(Event::Closed(CloseReason::Aborted));
    }
}

impl HalfClose for StopAndWait {}

impl MessageOriented for StopAndWait {}

impl Observe for StopAndWait {
    fn observe(&self) -> Observation {
        let in_flight = if self.in_flight { CHUNK } else { 0 };
        Observation {
            cwnd: CHUNK,
            in_flight,
            bytes_received: self.rcv_nxt.saturating_sub(1),
            retransmitted_packets: self.resent,
            timeouts: self.resent,
            ..Observation::default()
        }
    }
}

impl Demultiplex for StopAndWait {
    fn flow_key(&self) -> FlowKey {
        self.key
    }

    fn accepts(&self, packet: &Packet) -> bool {
        !self.exact || packet.flow_key().reversed() == self.key
    }
}

impl TemporalSharing for StopAndWait {}

impl TimeWait for StopAndWait {}

impl Progress for StopAndWait {}
