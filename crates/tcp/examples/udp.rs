//! TCP in datagrams of UDP, as FreeBSD has it, between two programs, with this crate and the standard library alone.
//!
//! ```text
//! cargo run -p anabranch-tcp --example udp -- listen 127.0.0.1:9811
//! echo "how are you" | cargo run -p anabranch-tcp --example udp -- call 127.0.0.1:9811
//! ```
//!
//! The first sends the stream back to whoever calls, and ends with the caller's stream. The second sends its
//! standard input and prints what comes back.

use anabranch_endpoint::{ByteStream, CloseReason, Endpoint, Event, Generator};
use anabranch_tcp::{Config, Connection, State};
use anabranch_units::{Span, Time};
use anabranch_wire::tcp::udp;
use anabranch_wire::{Addr, AddressBook, Body, Packet, UdpDatagram};
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// TCP ports of the side that listens, echo, and of the side that calls.
const ECHO: u16 = 7;
const CALLER: u16 = 49_152;
/// The socket's own address, and that of the peer, as the connection knows them.
const LOCAL: Addr = Addr(0);
const PEER: Addr = Addr(1);

/// Carries the segments of one connection in datagrams of a socket.
struct Host {
    socket: UdpSocket,
    connection: Connection,
    /// Where [`PEER`] is; nowhere before a datagram has come.
    peer: Option<SocketAddr>,
    begun: Instant,
    datagram: Vec<u8>,
    /// Octets that the connection has not taken.
    waiting: VecDeque<u8>,
}

impl Host {
    #[expect(clippy::disallowed_methods, reason = "hosts read the clock, endpoints do not")]
    fn new(socket: UdpSocket, connection: Connection, peer: Option<SocketAddr>) -> Host {
        let (datagram, waiting) = (vec![0; 65_536], VecDeque::new());
        Host { socket, connection, peer, begun: Instant::now(), datagram, waiting }
    }

    /// Virtual or real, time is what the caller says: here, since the program began.
    fn now(&self) -> Time {
        Time::from_picos(self.begun.elapsed().as_nanos() as u64 * 1000)
    }

    /// Sends what is due, waits for the next datagram or deadline, and tells what has happened.
    fn turn(&mut self) -> io::Result<Vec<Event>> {
        let (head, _) = self.waiting.as_slices();
        let taken = self.connection.write_octets(head);
        self.waiting.drain(..taken);
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
        std::iter::from_fn(|| self.connection.poll_event()).collect()
    }

    /// The octets that have arrived in order.
    fn read(&mut self) -> Vec<u8> {
        let mut octets = Vec::new();
        loop {
            let len = self.connection.read_octets(&mut self.datagram);
            if len == 0 {
                return octets;
            }
            octets.extend_from_slice(&self.datagram[..len]);
        }
    }

    /// Sends all segments that the connection has.
    fn transmit(&mut self) -> io::Result<()> {
        while let Some(packet) = self.connection.poll_transmit(self.now()) {
            let Some(peer) = self.peer else { continue };
            // Addresses count in the checksum of the segment alone, which is zero in UDP.
            let wrapped =
                udp::wrap(packet, (0, 0), &AddressBook::new()).map_err(io::Error::other)?;
            let Body::Udp(datagram) = wrapped.body else { continue };
            let mut octets = Vec::new();
            datagram.write_data(&mut octets);
            self.socket.send_to(&octets, peer)?;
        }
        Ok(())
    }

    /// Waits until a datagram has come, or until the connection wants to be called.
    fn wait(&mut self) -> io::Result<()> {
        let due = self.connection.poll_timeout();
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
        self.connection.handle_timeout(self.now());
        Ok(())
    }

    /// Hands a datagram to the connection. Before there is one, anybody may be the peer.
    fn receive(&mut self, len: usize, from: SocketAddr) {
        if self.connection.state() == State::Listen {
            self.peer = Some(from);
        }
        if self.peer != Some(from) {
            return;
        }
        let body = Body::Udp(UdpDatagram::of_octets(0, 0, &self.datagram[..len]));
        // What is no segment is none.
        if let Some((_, packet)) = udp::unwrap(&Packet::new(PEER, LOCAL, body)) {
            self.connection.handle_input(self.now(), &packet);
        }
    }
}

/// Settings: segments that fit an Ethernet with the header of UDP, and a short TIME-WAIT, since a program waits for it.
fn config(socket: &UdpSocket) -> io::Result<Config> {
    let mss = if socket.local_addr()?.is_ipv4() { 1452 } else { 1432 };
    Ok(Config { mss, time_wait: Span::from_secs(1), ..Config::default() })
}

/// Draws for initial sequence numbers, seeded by the system.
fn generator() -> Generator {
    Generator::from_u64(RandomState::new().hash_one("anabranch"))
}

/// Sends the stream back, until the peer ends it; returns how many octets there were.
///
/// # Errors
/// Those of the socket, and a connection that did not end in order.
pub fn listen(socket: UdpSocket) -> io::Result<u64> {
    let ends = ((LOCAL, ECHO), (PEER, CALLER));
    let connection = Connection::server(config(&socket)?, ends.0, ends.1, generator());
    let mut host = Host::new(socket, connection, None);
    let (mut count, mut has_ended) = (0, false);
    loop {
        for event in host.turn()? {
            match event {
                Event::PeerClosed => has_ended = true,
                Event::Closed(reason) => return ended(reason, count),
                _ => {}
            }
        }
        let octets = host.read();
        count += octets.len() as u64;
        host.waiting.extend(octets);
        if has_ended && host.waiting.is_empty() {
            host.connection.close();
        }
    }
}

/// Sends octets to whoever listens at `peer`, and returns what comes back.
///
/// # Errors
/// Those of the socket, and a connection that did not end in order.
pub fn call(socket: UdpSocket, peer: SocketAddr, octets: &[u8]) -> io::Result<Vec<u8>> {
    let ends = ((LOCAL, CALLER), (PEER, ECHO));
    let connection = Connection::client(config(&socket)?, ends.0, ends.1, generator());
    let mut host = Host::new(socket, connection, Some(peer));
    host.waiting.extend(octets);
    let (now, mut answer) = (host.now(), Vec::new());
    host.connection.connect(now);
    loop {
        for event in host.turn()? {
            if let Event::Closed(reason) = event {
                return ended(reason, answer);
            }
        }
        answer.extend(host.read());
        if host.waiting.is_empty() {
            host.connection.close(); // what was written before is still sent
        }
    }
}

fn ended<T>(reason: CloseReason, value: T) -> io::Result<T> {
    match reason {
        CloseReason::Normal => Ok(value),
        CloseReason::TimedOut => Err(ErrorKind::TimedOut.into()),
        CloseReason::Refused => Err(ErrorKind::ConnectionRefused.into()),
        CloseReason::Reset | CloseReason::Aborted => Err(ErrorKind::ConnectionReset.into()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["listen", at] => {
            UdpSocket::bind(at).and_then(listen).map(|count| println!("{count} octets"))
        }
        ["call", to] => talk(to),
        _ => {
            eprintln!("udp: allowed: `listen ADDRESS:PORT` or `call ADDRESS:PORT`");
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

/// Sends standard input and prints the answer.
fn talk(to: &str) -> io::Result<()> {
    let wrong = |_| io::Error::new(ErrorKind::InvalidInput, "allowed: an IP address and a port");
    let peer: SocketAddr = to.parse().map_err(wrong)?;
    let any = if peer.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let mut octets = Vec::new();
    io::stdin().read_to_end(&mut octets)?;
    io::stdout().write_all(&call(UdpSocket::bind(any)?, peer, &octets)?)
}
