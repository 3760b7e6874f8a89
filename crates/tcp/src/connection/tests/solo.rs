//! One connection and a peer that the test writes by hand. Offsets count from
//! both SYNs.

use super::*;
use anabranch_wire::{Payload, Timestamps};

/// The peer's initial sequence number.
pub const PEER: Serial32 = Serial32(0xffff_fc18); // wraps after a thousand octets

/// The peer's timestamp of its SYN.
const PEER_STAMP: u32 = 1000;

pub struct Solo {
    pub end: Connection,
    pub now: Time,
    /// What the peer's packets carry in the IP header.
    pub ecn: Ecn,
    /// The peer's initial sequence number.
    pub peer: Serial32,
    /// The peer's clock of timestamps is ahead of that of the test by this.
    pub peer_stamp: u32,
}

/// Flags as in the traces: `S`, `F`, `R`, `P`, `U`, `E`, `W`, `.`.
fn flags(text: &str) -> TcpFlags {
    text.chars().fold(TcpFlags::default(), |all, c| {
        all.union(match c {
            'S' => TcpFlags::SYN,
            'F' => TcpFlags::FIN,
            'R' => TcpFlags::RST,
            'P' => TcpFlags::PSH,
            'U' => TcpFlags::URG,
            'E' => TcpFlags::ECE,
            'W' => TcpFlags::CWR,
            '.' => TcpFlags::ACK,
            other => panic!("no flag {other}"),
        })
    })
}

impl Solo {
    pub fn client(config: &Config) -> Solo {
        Solo::of(ends(config).0)
    }

    pub fn server(config: &Config) -> Solo {
        Solo::of(ends(config).1)
    }

    fn of(end: Connection) -> Solo {
        Solo { end, now: Time::ZERO, ecn: Ecn::NotEct, peer: PEER, peer_stamp: PEER_STAMP - 100 }
    }

    /// A client whose handshake is over, at 100 ms.
    pub fn established(config: &Config) -> Solo {
        Solo::client(config).open()
    }

    /// The handshake is over, at 100 ms.
    pub fn open(self) -> Solo {
        let mut solo = self;
        let timestamps = solo.end.config.timestamps;
        solo.end.connect(Time::ZERO);
        solo.sent();
        solo.now = at_ms(100);
        let mut syn = solo.segment("S.", 0, 1, 0);
        syn.options.mss = Some(1000);
        syn.options.sack_permitted = true;
        if timestamps {
            let echo = solo.end.ends.timestamp(Time::ZERO);
            syn.options.timestamps = Some(Timestamps { value: solo.peer_now(), echo });
        }
        solo.deliver(syn);
        assert_eq!(solo.end.state(), State::Established);
        while solo.end.poll_event().is_some() {}
        solo
    }

    /// The peer's clock of timestamps.
    pub fn peer_now(&self) -> u32 {
        self.peer_stamp.wrapping_add(self.now.as_millis() as u32)
    }

    /// A segment of the peer's.
    pub fn segment(&self, text: &str, seq: i64, ack: i64, len: u32) -> TcpSegment {
        let at = |origin: Serial32, offset: i64| Serial32(origin.0.wrapping_add(offset as u32));
        TcpSegment {
            src_port: self.end.ends.remote.1,
            dst_port: self.end.ends.local.1,
            seq: at(self.peer, seq),
            ack: at(self.end.iss, ack),
            flags: flags(text),
            window: 10_000,
            urgent: 0,
            options: Default::default(),
            payload: Payload::virtual_of(len),
        }
    }

    /// A segment arrives; what leaves in answer.
    pub fn deliver(&mut self, segment: TcpSegment) -> Vec<String> {
        let (from, to) = (self.end.ends.remote.0, self.end.ends.local.0);
        let mut packet = Packet::new(from, to, Body::Tcp(segment));
        packet.ecn = self.ecn;
        self.end.handle_input(self.now, &packet);
        self.sent()
    }

    /// As [`deliver`](Self::deliver), written in one line.
    pub fn arrives(&mut self, text: &str, seq: i64, ack: i64, len: u32) -> Vec<String> {
        self.deliver(self.segment(text, seq, ack, len))
    }

    /// Time passes; what the connection does by itself until then, with dates.
    pub fn until(&mut self, ms: u64) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let due = self.end.poll_timeout();
            if due > at_ms(ms) {
                self.now = at_ms(ms);
                return lines;
            }
            self.now = self.now.max(due);
            self.end.handle_timeout(self.now);
            let date = self.now.as_millis();
            lines.extend(self.sent().into_iter().map(|line| format!("{date} {line}")));
        }
    }

    /// Everything that leaves now.
    pub fn sent(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(packet) = self.end.poll_transmit(self.now) {
            lines.push(show(&packet, self.end.iss, self.peer));
        }
        lines
    }

    /// All events not yet heard.
    pub fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.end.poll_event()).collect()
    }
}
