//! A client with the addresses A1 and A2, a server with B1 and B2, and between
//! them paths of 10 ms each way, on which things happen.

use super::super::*;
use anabranch_endpoint::{ByteStream, Endpoint, Event, Observation, Observe, Seed};
use anabranch_testkit::{Fate, Line, Pair, Side};
use anabranch_units::{Span, Time};
use anabranch_wire::tcp::mptcp::{CapableKeys, DataNumber, Join, MptcpOption};
use anabranch_wire::{Body, TcpFlags, TcpSegment};

pub const A1: Addr = Addr(0);
pub const B1: Addr = Addr(1);
pub const A2: Addr = Addr(2);
pub const B2: Addr = Addr(3);
pub const PORT: u16 = 80;

pub fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Segments of 1000 octets, without timestamps or delayed ACKs.
pub fn config() -> Config {
    Config {
        subflow: anabranch_tcp::Config {
            mss: 1020,
            receive_buffer: 200_000,
            timestamps: false,
            delayed_ack: anabranch_tcp::DelayedAck { count: 1, delay: Span::ZERO },
            ..anabranch_tcp::Config::default()
        },
        path_manager: crate::PathManager::Pairs,
        ..Config::default()
    }
}

/// An endpoint behind something that changes what it sends.
pub struct Meddled {
    pub end: Connection,
    pub meddle: Box<dyn FnMut(&mut TcpSegment)>,
}

impl Endpoint for Meddled {
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        self.end.handle_input(now, packet);
    }
    fn handle_timeout(&mut self, now: Time) {
        self.end.handle_timeout(now);
    }
    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let mut packet = self.end.poll_transmit(now)?;
        if let Body::Tcp(segment) = &mut packet.body {
            assert!(segment.options.wire_len() <= 40, "{segment:?}");
            (self.meddle)(segment);
        }
        Some(packet)
    }
    fn poll_event(&mut self) -> Option<Event> {
        self.end.poll_event()
    }
    fn poll_timeout(&self) -> Time {
        self.end.poll_timeout()
    }
}

impl ByteStream for Meddled {
    fn connect(&mut self, now: Time) {
        self.end.connect(now);
    }
    fn write(&mut self, len: u64) -> u64 {
        self.end.write(len)
    }
    fn write_octets(&mut self, octets: &[u8]) -> usize {
        self.end.write_octets(octets)
    }
    fn read(&mut self, max: u64) -> u64 {
        self.end.read(max)
    }
    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        self.end.read_octets(buf)
    }
    fn close(&mut self) {
        self.end.close();
    }
    fn abort(&mut self) {
        self.end.abort();
    }
}

impl Observe for Meddled {
    fn observe(&self) -> Observation {
        self.end.observe()
    }
}

pub type World<F> = Pair<Meddled, F>;

/// Both hosts; the client has asked to connect.
pub fn world<F: FnMut(Side, &Packet) -> Fate>(
    client: Config,
    server: Config,
    own: &[Addr],
    peer: &[Addr],
    rule: F,
) -> World<F> {
    let seed = Seed::default();
    let (a, b) = ((own[0], 1000), (peer[0], PORT));
    let client = Connection::client(client, (own, 1000), b, seed.generator("client"));
    let server = Connection::server(server, (peer, PORT), a, seed.generator("server"));
    let nothing = || Box::new(|_: &mut TcpSegment| {});
    let client = Meddled { end: client, meddle: nothing() };
    let server = Meddled { end: server, meddle: nothing() };
    let mut pair = Pair::new(client, server, Span::from_millis(10), rule);
    pair.client.connect(Time::ZERO);
    pair
}

/// `date path who flags [length] options`: `1` is the path of A1 and B1, `2`
/// that of A2 or B2.
pub fn show(line: &Line) -> String {
    let Body::Tcp(segment) = &line.packet.body else { return "not TCP".into() };
    let second =
        [A2, B2].iter().any(|address| [line.packet.src, line.packet.dst].contains(address));
    let who = if line.from == Side::Client { '>' } else { '<' };
    let names =
        [(TcpFlags::SYN, 'S'), (TcpFlags::FIN, 'F'), (TcpFlags::RST, 'R'), (TcpFlags::ACK, '.')];
    let flags: String = names.iter().filter(|n| segment.flags.contains(n.0)).map(|n| n.1).collect();
    let mut text = format!("{} {} {who} {flags}", line.sent.as_millis(), 1 + second as u8);
    if !segment.payload.is_empty() {
        text += &format!(" {}", segment.payload.len());
    }
    for option in segment.options.mptcp() {
        let numbered;
        text += match option {
            MptcpOption::Capable(capable) => match capable.keys {
                CapableKeys::Syn => " capable",
                CapableKeys::SynAck { .. } => " capable(key)",
                CapableKeys::Ack { data: None, .. } => " capable(keys)",
                CapableKeys::Ack { .. } => " capable(keys, data)",
            },
            MptcpOption::Join(Join::Syn { backup: true, .. }) => " join(backup)",
            MptcpOption::Join(Join::Syn { .. }) => " join",
            MptcpOption::Join(Join::SynAck { .. }) => " join(mac)",
            MptcpOption::Join(Join::Ack { .. }) => " join(MAC)",
            MptcpOption::AddAddr(add) if add.mac.is_none() => " add(echo)",
            MptcpOption::AddAddr(_) => " add",
            MptcpOption::RemoveAddr(_) => " remove",
            MptcpOption::Prio { .. } => " prio",
            MptcpOption::Fail { .. } => " fail",
            MptcpOption::Fastclose { .. } => " fastclose",
            MptcpOption::TcpRst { reason, .. } => {
                numbered = format!(" reason {reason}");
                &numbered
            }
        };
    }
    if let Some(dss) = segment.options.dss() {
        if dss.data_ack.is_some() {
            text += " ack";
        }
        if let Some(mapping) = dss.mapping {
            text += &format!(" map {}", mapping.len);
            assert!(matches!(mapping.dsn, DataNumber::Short(_) | DataNumber::Long(_)));
        }
        if dss.data_fin {
            text += " fin";
        }
    }
    text
}

/// The log between two dates.
pub fn trace<F: FnMut(Side, &Packet) -> Fate>(
    world: &World<F>,
    from_ms: u64,
    to_ms: u64,
) -> Vec<String> {
    let between = |line: &&Line| line.sent >= at_ms(from_ms) && line.sent < at_ms(to_ms);
    world.log.iter().filter(between).map(show).collect()
}
