//! SCTP in datagrams of UDP (RFC 6951) between two programs, with this crate and the standard library alone.
//!
//! ```text
//! cargo run -p anabranch-sctp --example udp -- listen 127.0.0.1:9899
//! cargo run -p anabranch-sctp --example udp -- call 127.0.0.1:9899 hello "how are you"
//! ```
//!
//! The first sends each message back to whoever calls, until the caller shuts down. The second sends its
//! words, a stream each in turn, and prints what comes back. Either may talk to another implementation that
//! speaks RFC 6951, as usrsctp does.

use anabranch_endpoint::{ByteStream, Event, Generator, Wire, turn};
use anabranch_sctp::{Association, Config, Encapsulation, Message, SendError, State};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, AddressBook, Body, Packet, Payload, SctpPacket};
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// SCTP port of the side that listens: echo.
pub const ECHO: u16 = 7;
/// SCTP port of the side that calls.
const CALLER: u16 = 49_152;
/// The socket's own address, and that of the peer, as the association knows them.
const LOCAL: Addr = Addr(0);
const PEER: Addr = Addr(1);

/// Carries the packets of one association in datagrams of a socket.
struct Line {
    socket: UdpSocket,
    /// Where [`PEER`] is; nowhere before a datagram has come.
    peer: Option<IpAddr>,
    /// There is no association, so that anybody may be the peer.
    is_open: bool,
    begun: Instant,
    datagram: Vec<u8>,
}

impl Line {
    #[expect(clippy::disallowed_methods, reason = "hosts read the clock, endpoints do not")]
    fn new(socket: UdpSocket, peer: Option<IpAddr>) -> Line {
        let (is_open, datagram) = (peer.is_none(), vec![0; 65_536]);
        Line { socket, peer, is_open, begun: Instant::now(), datagram }
    }
}

impl Wire for Line {
    /// Virtual or real, time is what the caller says: here, since the program began.
    fn now(&self) -> Time {
        Time::ZERO + Span::from(self.begun.elapsed())
    }

    fn send(&mut self, packet: Packet) -> io::Result<()> {
        let (Body::Sctp(sctp), Some(peer)) = (packet.body, self.peer) else { return Ok(()) };
        let Some((_, port)) = sctp.udp else { return Ok(()) };
        let mut octets = Vec::new();
        sctp.emit(&book(peer), &mut octets).map_err(io::Error::other)?;
        self.socket.send_to(&octets, (peer, port)).map(drop)
    }

    /// What is no SCTP, or has a wrong checksum, is no packet, and a stranger's is not for this
    /// association.
    fn receive(&mut self, until: Time) -> io::Result<Option<Packet>> {
        let wait = Duration::from(until.saturating_since(self.now()));
        let patience = (until != Time::NEVER).then_some(wait.max(Duration::from_micros(1)));
        self.socket.set_read_timeout(patience)?;
        let (len, from) = match self.socket.recv_from(&mut self.datagram) {
            Ok(come) => come,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Ok(None);
            }
            // Windows tells here that an earlier datagram found nobody.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(None),
            Err(error) => return Err(error),
        };
        if self.is_open {
            self.peer = Some(from.ip());
        } else if self.peer != Some(from.ip()) {
            return Ok(None);
        }
        let octets = &self.datagram[..len];
        let Ok(mut sctp) = SctpPacket::parse_tolerant(octets, &book(from.ip())) else {
            return Ok(None);
        };
        sctp.udp = Some((from.port(), self.socket.local_addr()?.port()));
        Ok(Some(Packet::new(PEER, LOCAL, Body::Sctp(Box::new(sctp)))))
    }
}

/// Which addresses inside packets are known. The own one is in none: a side with a single address does not
/// name it (RFC 9260 §5.1.2).
fn book(peer: IpAddr) -> AddressBook {
    let mut book = AddressBook::explicit();
    book.insert(PEER, peer).expect("the book has no other");
    book
}

/// The settings of RFC 9260, in UDP.
fn config(socket: &UdpSocket, remote: u16) -> io::Result<Config> {
    let local = socket.local_addr()?;
    let ip_header = if local.is_ipv4() { 20 } else { 40 };
    let udp = Some(Encapsulation { local: local.port(), remote });
    Ok(Config { udp, ip_header, ..Config::rfc9260() })
}

/// Draws for tags, initial TSNs and cookies, seeded by the system.
fn generator() -> Generator {
    Generator::from_u64(RandomState::new().hash_one("anabranch"))
}

/// Sends every message back, until the peer ends the association; returns how many there were.
///
/// # Errors
/// Those of the socket, and an association that did not end in order.
pub fn listen(socket: UdpSocket) -> io::Result<usize> {
    let config = config(&socket, 0)?;
    let mut association = Association::server(config, (&[LOCAL], ECHO), (&[PEER], 0), generator());
    let mut line = Line::new(socket, None);
    let (mut count, mut waiting) = (0, VecDeque::new());
    loop {
        for event in turn(&mut association, &mut line)? {
            match event {
                Event::Closed(reason) => return reason.into_result().map(|()| count),
                Event::PeerClosed => association.close(),
                _ => {}
            }
        }
        line.is_open = association.state() == State::Closed;
        while let Some(message) = association.receive() {
            count += 1;
            waiting.push_back(message);
        }
        send(&mut association, &mut waiting)?;
    }
}

/// Sends messages to whoever listens at `peer`, and returns what comes back.
///
/// # Errors
/// Those of the socket, and an association that did not end in order.
pub fn call(socket: UdpSocket, peer: SocketAddr, messages: &[Vec<u8>]) -> io::Result<Vec<Message>> {
    let config = config(&socket, peer.port())?;
    let ends = ((&[LOCAL][..], CALLER), (&[PEER][..], ECHO));
    let mut association = Association::client(config, ends.0, ends.1, generator());
    let mut line = Line::new(socket, Some(peer.ip()));
    association.connect(line.now());
    let (mut waiting, mut answers) = (VecDeque::new(), Vec::new());
    loop {
        for event in turn(&mut association, &mut line)? {
            match event {
                Event::Connected => waiting = on_streams(messages, &association),
                Event::PeerClosed => association.close(),
                Event::Closed(reason) => return reason.into_result().map(|()| answers),
                _ => {}
            }
        }
        send(&mut association, &mut waiting)?;
        answers.extend(std::iter::from_fn(|| association.receive()));
        if answers.len() == messages.len() {
            association.close();
        }
    }
}

/// The messages on the streams of the association, in turn.
fn on_streams(messages: &[Vec<u8>], association: &Association) -> VecDeque<Message> {
    let streams = (0..association.outbound_streams()).cycle();
    let message =
        |(octets, stream): (&Vec<u8>, u16)| Message::new(stream, Payload::of_octets(octets));
    messages.iter().zip(streams).map(message).collect()
}

/// Sends what the send buffer takes.
fn send(association: &mut Association, waiting: &mut VecDeque<Message>) -> io::Result<()> {
    while let Some(message) = waiting.front() {
        match association.send(message.clone()) {
            Ok(()) => _ = waiting.pop_front(),
            Err(SendError::Full) => break, // until `Event::Writable`
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["listen", at] => {
            UdpSocket::bind(at).and_then(listen).map(|count| println!("{count} messages"))
        }
        ["call", to, messages @ ..] if !messages.is_empty() => talk(to, messages),
        _ => {
            eprintln!("udp: allowed: `listen ADDRESS:PORT`, or `call ADDRESS:PORT MESSAGE...`");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("udp: {}: {error}", words[1]);
            ExitCode::FAILURE
        }
    }
}

/// Calls and prints the answers.
fn talk(to: &str, messages: &[&str]) -> io::Result<()> {
    let wrong = |_| io::Error::new(ErrorKind::InvalidInput, "allowed: an IP address and a port");
    let peer: SocketAddr = to.parse().map_err(wrong)?;
    let any = if peer.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let messages: Vec<Vec<u8>> = messages.iter().map(|text| text.as_bytes().to_vec()).collect();
    for answer in call(UdpSocket::bind(any)?, peer, &messages)? {
        let octets = answer.payload.octets().unwrap_or_default();
        println!("stream {}: {}", answer.stream, String::from_utf8_lossy(octets));
    }
    Ok(())
}
