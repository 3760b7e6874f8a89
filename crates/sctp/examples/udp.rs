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

use anabranch_endpoint::{ByteStream, CloseReason, Endpoint, Event, Generator};
use anabranch_sctp::{Association, Config, Encapsulation, Message, SendError, State};
use anabranch_units::Time;
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
struct Host {
    socket: UdpSocket,
    association: Association,
    /// Where [`PEER`] is; nowhere before a datagram has come.
    peer: Option<IpAddr>,
    begun: Instant,
    datagram: Vec<u8>,
}

impl Host {
    #[expect(clippy::disallowed_methods, reason = "hosts read the clock, endpoints do not")]
    fn new(socket: UdpSocket, association: Association, peer: Option<IpAddr>) -> Host {
        Host { socket, association, peer, begun: Instant::now(), datagram: vec![0; 65_536] }
    }

    /// Virtual or real, time is what the caller says: here, since the program began.
    fn now(&self) -> Time {
        Time::from_picos(self.begun.elapsed().as_nanos() as u64 * 1000)
    }

    /// Sends what is due, waits for the next datagram or deadline, and tells what has happened.
    fn turn(&mut self) -> io::Result<Vec<Event>> {
        self.transmit()?;
        let mut events = self.events();
        if events.is_empty() {
            self.wait()?;
            events = self.events();
        }
        if events.iter().any(|event| matches!(event, Event::Closed(_))) {
            self.transmit()?; // what ends the peer's side, too
        }
        Ok(events)
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.association.poll_event()).collect()
    }

    /// Sends all packets that the association has.
    fn transmit(&mut self) -> io::Result<()> {
        while let Some(packet) = self.association.poll_transmit(self.now()) {
            let (Body::Sctp(sctp), Some(peer)) = (packet.body, self.peer) else { continue };
            let Some((_, port)) = sctp.udp else { continue };
            let mut octets = Vec::new();
            sctp.emit(&book(Some(peer)), &mut octets).map_err(io::Error::other)?;
            self.socket.send_to(&octets, (peer, port))?;
        }
        Ok(())
    }

    /// Waits until a datagram has come, or until the association wants to be called.
    fn wait(&mut self) -> io::Result<()> {
        let due = self.association.poll_timeout();
        let nanos = due.saturating_since(self.now()).as_picos() / 1000;
        let patience = (due != Time::NEVER).then(|| Duration::from_nanos(nanos.max(1000)));
        self.socket.set_read_timeout(patience)?;
        match self.socket.recv_from(&mut self.datagram) {
            Ok((len, from)) => self.receive(len, from),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            // Windows tells here that an earlier datagram found nobody.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            Err(error) => return Err(error),
        }
        self.association.handle_timeout(self.now());
        Ok(())
    }

    /// Hands a datagram to the association. Before there is one, anybody may be the peer.
    fn receive(&mut self, len: usize, from: SocketAddr) {
        if self.association.state() == State::Closed {
            self.peer = Some(from.ip());
        }
        if self.peer != Some(from.ip()) {
            return;
        }
        let octets = &self.datagram[..len];
        let (Ok(mut sctp), Ok(local)) =
            (SctpPacket::parse_tolerant(octets, &book(self.peer)), self.socket.local_addr())
        else {
            return; // no SCTP, or a wrong checksum
        };
        sctp.udp = Some((from.port(), local.port()));
        let packet = Packet::new(PEER, LOCAL, Body::Sctp(Box::new(sctp)));
        self.association.handle_input(self.now(), &packet);
    }
}

/// Which addresses inside packets are known. The own one is in none: a side with a single address does not
/// name it (RFC 9260 §5.1.2).
fn book(peer: Option<IpAddr>) -> AddressBook {
    let mut book = AddressBook::explicit();
    if let Some(peer) = peer {
        book.insert(PEER, peer).expect("the book has no other");
    }
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
    let association = Association::server(config, (&[LOCAL], ECHO), (&[PEER], 0), generator());
    let mut host = Host::new(socket, association, None);
    let (mut count, mut waiting) = (0, VecDeque::new());
    loop {
        for event in host.turn()? {
            match event {
                Event::Closed(reason) => return ended(reason, count),
                Event::PeerClosed => host.association.close(),
                _ => {}
            }
        }
        while let Some(message) = host.association.receive() {
            count += 1;
            waiting.push_back(message);
        }
        send(&mut host.association, &mut waiting)?;
    }
}

/// Sends messages to whoever listens at `peer`, and returns what comes back.
///
/// # Errors
/// Those of the socket, and an association that did not end in order.
pub fn call(socket: UdpSocket, peer: SocketAddr, messages: &[Vec<u8>]) -> io::Result<Vec<Message>> {
    let config = config(&socket, peer.port())?;
    let association = Association::client(config, (&[LOCAL], CALLER), (&[PEER], ECHO), generator());
    let mut host = Host::new(socket, association, Some(peer.ip()));
    let now = host.now();
    host.association.connect(now);
    let (mut waiting, mut answers) = (VecDeque::new(), Vec::new());
    loop {
        for event in host.turn()? {
            match event {
                Event::Connected => waiting = on_streams(messages, &host.association),
                Event::PeerClosed => host.association.close(),
                Event::Closed(reason) => return ended(reason, answers),
                _ => {}
            }
        }
        send(&mut host.association, &mut waiting)?;
        answers.extend(std::iter::from_fn(|| host.association.receive()));
        if answers.len() == messages.len() {
            host.association.close();
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

fn ended<T>(reason: CloseReason, value: T) -> io::Result<T> {
    match reason {
        CloseReason::Normal => Ok(value),
        CloseReason::TimedOut => Err(ErrorKind::TimedOut.into()),
        CloseReason::Refused => Err(ErrorKind::ConnectionRefused.into()),
        CloseReason::Reset | CloseReason::Aborted => Err(ErrorKind::ConnectionAborted.into()),
    }
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
