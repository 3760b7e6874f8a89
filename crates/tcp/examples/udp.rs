//! TCP in datagrams of UDP, as FreeBSD has it, between two programs, with this crate and the standard library alone.
//!
//! ```text
//! cargo run -p anabranch-tcp --example udp -- listen 127.0.0.1:9811
//! echo "how are you" | cargo run -p anabranch-tcp --example udp -- call 127.0.0.1:9811
//! ```
//!
//! The first sends the stream back to whoever calls, and ends with the caller's stream. The second sends its
//! standard input and prints what comes back.

use anabranch_endpoint::{ByteStream, Event, Generator, Wire, turn};
use anabranch_tcp::{Config, Connection, State};
use anabranch_units::{Span, Time};
use anabranch_wire::tcp::udp;
use anabranch_wire::{Addr, Packet};
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
struct Line {
    socket: UdpSocket,
    /// Where [`PEER`] is; nowhere before a datagram has come.
    peer: Option<SocketAddr>,
    /// There is no connection, so that anybody may be the peer.
    is_open: bool,
    begun: Instant,
    datagram: Vec<u8>,
}

impl Line {
    #[expect(clippy::disallowed_methods, reason = "hosts read the clock, endpoints do not")]
    fn new(socket: UdpSocket, peer: Option<SocketAddr>) -> Line {
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
        let Some(peer) = self.peer else { return Ok(()) };
        let octets = udp::payload(packet).map_err(io::Error::other)?;
        self.socket.send_to(&octets, peer).map(drop)
    }

    /// What is no segment is none, and a stranger's is not for this connection.
    fn receive(&mut self, until: Time) -> io::Result<Option<Packet>> {
        let wait = Duration::from(until.saturating_since(self.now()));
        let patience = (until != Time::NEVER).then_some(wait.max(Duration::from_micros(1)));
        self.socket.set_read_timeout(patience)?;
        match self.socket.recv_from(&mut self.datagram) {
            Ok((_, from)) if !self.is_open && self.peer != Some(from) => Ok(None),
            Ok((len, from)) => {
                self.peer = Some(from);
                Ok(udp::segment(PEER, LOCAL, &self.datagram[..len]))
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Ok(None)
            }
            // Windows tells here that an earlier datagram found nobody.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Writes what the connection takes of the octets that wait.
fn write(connection: &mut Connection, waiting: &mut VecDeque<u8>) {
    let taken = connection.write_octets(waiting.make_contiguous());
    waiting.drain(..taken);
}

/// The octets that have arrived in order.
fn read(connection: &mut Connection) -> Vec<u8> {
    let (mut octets, mut piece) = (Vec::new(), [0; 16_384]);
    loop {
        match connection.read_octets(&mut piece) {
            0 => return octets,
            len => octets.extend_from_slice(&piece[..len]),
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
    let mut connection = Connection::server(config(&socket)?, ends.0, ends.1, generator());
    let mut line = Line::new(socket, None);
    let (mut count, mut has_ended, mut waiting) = (0, false, VecDeque::new());
    loop {
        for event in turn(&mut connection, &mut line)? {
            match event {
                Event::PeerClosed => has_ended = true,
                Event::Closed(reason) => return reason.into_result().map(|()| count),
                _ => {}
            }
        }
        line.is_open = connection.state() == State::Listen;
        let octets = read(&mut connection);
        count += octets.len() as u64;
        waiting.extend(octets);
        write(&mut connection, &mut waiting);
        if has_ended && waiting.is_empty() {
            connection.close();
        }
    }
}

/// Sends octets to whoever listens at `peer`, and returns what comes back.
///
/// # Errors
/// Those of the socket, and a connection that did not end in order.
pub fn call(socket: UdpSocket, peer: SocketAddr, octets: &[u8]) -> io::Result<Vec<u8>> {
    let ends = ((LOCAL, CALLER), (PEER, ECHO));
    let mut connection = Connection::client(config(&socket)?, ends.0, ends.1, generator());
    let mut line = Line::new(socket, Some(peer));
    let (mut waiting, mut answer) = (octets.iter().copied().collect(), Vec::new());
    connection.connect(line.now());
    loop {
        write(&mut connection, &mut waiting);
        for event in turn(&mut connection, &mut line)? {
            if let Event::Closed(reason) = event {
                return reason.into_result().map(|()| answer);
            }
        }
        answer.extend(read(&mut connection));
        if waiting.is_empty() {
            connection.close(); // what was written before is still sent
        }
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
