//! Multipath TCP whose subflows go in datagrams of UDP, a pair of sockets for each path, between two programs, with
//! this crate and the standard library alone.
//!
//! ```text
//! cargo run -p anabranch-mptcp --example udp -- listen 127.0.0.1:9811 127.0.0.2:9811
//! echo "how are you" | cargo run -p anabranch-mptcp --example udp -- call 127.0.0.1:9811 127.0.0.2:9811
//! ```
//!
//! The first sends the stream back to whoever calls, and ends with the caller's stream. The second sends its
//! standard input, prints what comes back, and says how many bytes came over each path.

use anabranch_endpoint::{ByteStream, Event, Generator, Observe, Wire, turn};
use anabranch_mptcp::{Config, Connection, PathManager, Phase};
use anabranch_units::{Span, Time};
use anabranch_wire::tcp::udp;
use anabranch_wire::{Addr, Packet};
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// TCP ports of the side that listens, echo, and of the side that calls.
const ECHO: u16 = 7;
const CALLER: u16 = 49_152;

/// The address of the caller on a path, as both connections know it.
fn caller(path: usize) -> Addr {
    Addr(2 * path as u32)
}

/// The address of the listener on a path.
fn listener(path: usize) -> Addr {
    Addr(2 * path as u32 + 1)
}

/// Datagrams that have come, with their path and where they are from.
type Arrivals = Receiver<(usize, SocketAddr, Vec<u8>)>;

/// Carries the segments of one connection in datagrams, those of each path over a socket of its own.
struct Lines {
    sockets: Vec<Arc<UdpSocket>>,
    /// Where the peer is on each path; nowhere before a datagram has come.
    peers: Vec<Option<SocketAddr>>,
    /// Whether this side calls.
    calls: bool,
    arrivals: Arrivals,
    begun: Instant,
    is_over: Arc<AtomicBool>,
}

/// A thread that reads a socket looks so often whether the program still wants it.
const LOOK: Duration = Duration::from_millis(100);

impl Lines {
    #[expect(clippy::disallowed_methods, reason = "hosts read the clock, endpoints do not")]
    fn new(
        sockets: Vec<UdpSocket>,
        peers: Vec<Option<SocketAddr>>,
        calls: bool,
    ) -> io::Result<Lines> {
        let sockets: Vec<_> = sockets.into_iter().map(Arc::new).collect();
        let is_over = Arc::new(AtomicBool::new(false));
        let (sender, arrivals) = mpsc::channel();
        for (path, socket) in sockets.iter().cloned().enumerate() {
            let (sender, is_over) = (sender.clone(), is_over.clone());
            socket.set_read_timeout(Some(LOOK))?;
            thread::spawn(move || {
                let mut datagram = vec![0; 65_536];
                while !is_over.load(Ordering::Relaxed) {
                    // What a socket says of earlier datagrams, or of none, is nothing that arrives.
                    if let Ok((len, from)) = socket.recv_from(&mut datagram) {
                        let _ = sender.send((path, from, datagram[..len].to_vec()));
                    }
                }
            });
        }
        Ok(Lines { sockets, peers, calls, arrivals, begun: Instant::now(), is_over })
    }

    /// The path between two addresses, if there is one.
    fn path(&self, packet: &Packet) -> Option<usize> {
        let of_own: fn(usize) -> Addr = if self.calls { caller } else { listener };
        let of_peer: fn(usize) -> Addr = if self.calls { listener } else { caller };
        (0..self.sockets.len())
            .find(|path| packet.src == of_own(*path) && packet.dst == of_peer(*path))
    }
}

impl Wire for Lines {
    /// Virtual or real, time is what the caller says: here, since the program began.
    fn now(&self) -> Time {
        Time::ZERO + Span::from(self.begun.elapsed())
    }

    /// Over the path between the segment's addresses.
    fn send(&mut self, packet: Packet) -> io::Result<()> {
        let Some(path) = self.path(&packet) else { return Ok(()) };
        let Some(peer) = self.peers[path] else { return Ok(()) };
        let octets = udp::payload(packet).map_err(io::Error::other)?;
        // A path that is gone is for the connection to find out.
        let _ = self.sockets[path].send_to(&octets, peer);
        Ok(())
    }

    /// Whoever is the first on a path is the peer there; what is no segment is none.
    fn receive(&mut self, until: Time) -> io::Result<Option<Packet>> {
        let wait = Duration::from(until.saturating_since(self.now()));
        let Ok((path, from, datagram)) = self.arrivals.recv_timeout(wait.min(LOOK)) else {
            return Ok(None);
        };
        if *self.peers[path].get_or_insert(from) != from {
            return Ok(None);
        }
        let (src, dst) = match self.calls {
            true => (listener(path), caller(path)),
            false => (caller(path), listener(path)),
        };
        Ok(udp::segment(src, dst, &datagram))
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
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

/// Settings: segments that fit an Ethernet with the header of UDP, a subflow for each pair of addresses, of which the
/// listener announces its own, and ends that a program can wait for.
fn config(socket: &UdpSocket) -> io::Result<Config> {
    let mut config = Config {
        path_manager: PathManager::Pairs,
        linger: Span::from_secs(2),
        ..Config::default()
    };
    config.subflow.mss = if socket.local_addr()?.is_ipv4() { 1452 } else { 1432 };
    config.subflow.time_wait = Span::from_secs(1);
    Ok(config)
}

/// Draws for keys and initial sequence numbers, seeded by the system.
fn generator() -> Generator {
    Generator::from_u64(RandomState::new().hash_one("anabranch"))
}

/// Sends the stream back, until the peer ends it; returns how many octets there were.
///
/// # Errors
/// Those of the sockets, and a connection that did not end in order.
///
/// # Panics
/// Without a socket.
pub fn listen(sockets: Vec<UdpSocket>) -> io::Result<u64> {
    let own: Vec<Addr> = (0..sockets.len()).map(listener).collect();
    let mut connection =
        Connection::server(config(&sockets[0])?, (&own, ECHO), (caller(0), CALLER), generator());
    let peers = vec![None; sockets.len()];
    let mut lines = Lines::new(sockets, peers, false)?;
    let (mut count, mut has_ended, mut waiting) = (0, false, VecDeque::new());
    loop {
        for event in turn(&mut connection, &mut lines)? {
            match event {
                Event::PeerClosed => has_ended = true,
                Event::Closed(reason) => return reason.into_result().map(|()| count),
                _ => {}
            }
        }
        let octets = read(&mut connection);
        count += octets.len() as u64;
        waiting.extend(octets);
        write(&mut connection, &mut waiting);
        if has_ended && waiting.is_empty() {
            connection.close();
        }
    }
}

/// What came back to a caller.
pub struct Answer {
    /// The octets.
    pub octets: Vec<u8>,
    /// How many of them were new on each path.
    pub by_path: Vec<u64>,
    /// Whether the connection was Multipath TCP to its end.
    pub is_multipath: bool,
}

/// Sends octets to whoever listens at `peers`, a path each, and returns what comes back.
///
/// # Errors
/// Those of the sockets, and a connection that did not end in order.
///
/// # Panics
/// Without a socket.
pub fn call(sockets: Vec<UdpSocket>, peers: &[SocketAddr], octets: &[u8]) -> io::Result<Answer> {
    let own: Vec<Addr> = (0..sockets.len()).map(caller).collect();
    let mut connection =
        Connection::client(config(&sockets[0])?, (&own, CALLER), (listener(0), ECHO), generator());
    let peers = peers.iter().copied().map(Some).collect();
    let mut lines = Lines::new(sockets, peers, true)?;
    let (mut waiting, mut answer) = (octets.iter().copied().collect(), Vec::new());
    connection.connect(lines.now());
    loop {
        write(&mut connection, &mut waiting);
        for event in turn(&mut connection, &mut lines)? {
            if let Event::Closed(reason) = event {
                let seen = (0..own.len()).map(|path| connection.observe_path(path));
                let by_path = seen.map(|path| path.and_then(|path| path.bytes_received));
                let by_path = by_path.map(Option::unwrap_or_default).collect();
                let is_multipath = connection.phase() == Phase::Multipath;
                reason.into_result()?;
                return Ok(Answer { octets: answer, by_path, is_multipath });
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
    let done = match arguments.split_first() {
        Some((word, at)) if word == "listen" && !at.is_empty() => {
            let sockets: io::Result<Vec<_>> = at.iter().map(UdpSocket::bind).collect();
            sockets.and_then(listen).map(|count| println!("{count} octets"))
        }
        Some((word, to)) if word == "call" && !to.is_empty() => talk(to),
        _ => {
            eprintln!("udp: allowed: `listen` or `call`, and an ADDRESS:PORT for each path");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("udp: {}: {error}", arguments[1..].join(" "));
            ExitCode::FAILURE
        }
    }
}

/// Sends standard input and prints the answer.
fn talk(to: &[String]) -> io::Result<()> {
    let wrong = |_| io::Error::new(ErrorKind::InvalidInput, "allowed: an IP address and a port");
    let peers: Result<Vec<SocketAddr>, _> = to.iter().map(|peer| peer.parse()).collect();
    let peers = peers.map_err(wrong)?;
    let any = |peer: &SocketAddr| if peer.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let sockets: io::Result<Vec<_>> = peers.iter().map(|peer| UdpSocket::bind(any(peer))).collect();
    let mut octets = Vec::new();
    io::stdin().read_to_end(&mut octets)?;
    let answer = call(sockets?, &peers, &octets)?;
    io::stdout().write_all(&answer.octets)?;
    eprintln!("by path: {:?}", answer.by_path);
    Ok(())
}
