//! SCTP in datagrams of UDP (RFC 6951) in an asynchronous program: the packets of an association go over a socket of
//! tokio, its deadlines are tokio's timers, and other tasks run meanwhile.
//!
//! ```text
//! cargo run -p anabranch-sctp --example udp -- listen 127.0.0.1:9899
//! cargo run -p anabranch-sctp --example tokio -- 127.0.0.1:9899 hello "how are you"
//! ```
//!
//! Sends its words to whoever listens, a stream each in turn, and prints what comes back. The program beside this one,
//! `udp`, does the same with the standard library alone, and listens as well.

use anabranch_endpoint::{ByteStream, Endpoint, Event, Generator};
use anabranch_sctp::{Association, Config, Encapsulation, Message, SendError};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, AddressBook, Body, Packet, Payload, SctpPacket};
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout_at};

/// SCTP ports of the side that listens, echo, and of the side that calls.
const ECHO: u16 = 7;
const CALLER: u16 = 49_152;
/// The socket's own address, and that of the peer, as the association knows them.
const LOCAL: Addr = Addr(0);
const PEER: Addr = Addr(1);

/// Holds one association over a socket that is connected to its peer.
struct Host {
    socket: UdpSocket,
    association: Association,
    book: AddressBook,
    begun: Instant,
    datagram: Vec<u8>,
}

impl Host {
    /// Begins to associate with whoever listens at the socket's peer.
    fn new(socket: UdpSocket) -> io::Result<Host> {
        let (local, peer) = (socket.local_addr()?, socket.peer_addr()?);
        let udp = Some(Encapsulation { local: local.port(), remote: peer.port() });
        let ip_header = if local.is_ipv4() { 20 } else { 40 };
        let config = Config { udp, ip_header, ..Config::rfc9260() };
        // Tags, initial TSNs and cookies are drawn from what the system gives as a seed.
        let generator = Generator::from_u64(RandomState::new().hash_one("anabranch"));
        let ends = ((&[LOCAL][..], CALLER), (&[PEER][..], ECHO));
        let mut association = Association::client(config, ends.0, ends.1, generator);
        association.connect(Time::ZERO);
        // A side with a single address names none inside packets (RFC 9260 §5.1.2).
        let mut book = AddressBook::explicit();
        book.insert(PEER, peer.ip()).expect("the book has no other");
        Ok(Host { socket, association, book, begun: Instant::now(), datagram: vec![0; 65_536] })
    }

    fn now(&self) -> Time {
        Time::ZERO + Span::from(self.begun.elapsed())
    }

    /// Sends what is due, lets other tasks run until a datagram or the next deadline has come, and tells what has
    /// happened. A caller that drops the future loses a packet at most, which the association sends again.
    async fn turn(&mut self) -> io::Result<Vec<Event>> {
        self.transmit().await?;
        let mut events = self.events();
        if events.is_empty() {
            self.wait().await?;
            events = self.events();
        }
        if events.iter().any(|event| matches!(event, Event::Closed(_))) {
            self.transmit().await?; // what ends the peer's side, too
        }
        Ok(events)
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.association.poll_event()).collect()
    }

    /// Sends all packets that the association has.
    async fn transmit(&mut self) -> io::Result<()> {
        while let Some(packet) = self.association.poll_transmit(self.now()) {
            let Body::Sctp(sctp) = packet.body else { continue };
            let mut octets = Vec::new();
            sctp.emit(&self.book, &mut octets).map_err(io::Error::other)?;
            heard(self.socket.send(&octets).await)?;
        }
        Ok(())
    }

    /// Waits until a datagram has come, or until the association wants to be called.
    async fn wait(&mut self) -> io::Result<()> {
        let due = self.association.poll_timeout();
        let datagram = self.socket.recv(&mut self.datagram);
        let come = if due == Time::NEVER {
            Some(datagram.await)
        } else {
            let deadline = self.begun + Duration::from(due - Time::ZERO);
            timeout_at(deadline, datagram).await.ok()
        };
        if let Some(len) = come.map(heard).transpose()?.flatten() {
            self.receive(len)?;
        }
        self.association.handle_timeout(self.now());
        Ok(())
    }

    /// Hands a datagram to the association; what is no SCTP, or has a wrong checksum, is none.
    fn receive(&mut self, len: usize) -> io::Result<()> {
        let octets = &self.datagram[..len];
        if let Ok(mut sctp) = SctpPacket::parse_tolerant(octets, &self.book) {
            let ports = (self.socket.peer_addr()?.port(), self.socket.local_addr()?.port());
            sctp.udp = Some(ports);
            let packet = Packet::new(PEER, LOCAL, Body::Sctp(Box::new(sctp)));
            self.association.handle_input(self.now(), &packet);
        }
        Ok(())
    }
}

/// What a connected socket says, but that an earlier datagram found nobody: the association sends again.
fn heard(said: io::Result<usize>) -> io::Result<Option<usize>> {
    match said {
        Ok(len) => Ok(Some(len)),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Sends messages to whoever listens at `peer`, and returns what comes back.
///
/// # Errors
/// Those of the socket, and an association that did not end in order.
pub async fn call(peer: SocketAddr, messages: &[Vec<u8>]) -> io::Result<Vec<Message>> {
    let any = if peer.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(peer).await?;
    let mut host = Host::new(socket)?;
    let (mut waiting, mut answers) = (VecDeque::new(), Vec::new());
    loop {
        for event in host.turn().await? {
            match event {
                Event::Connected => {
                    let streams = (0..host.association.outbound_streams()).cycle();
                    let payloads = messages.iter().map(Payload::of_octets);
                    waiting = streams.zip(payloads).map(|(s, p)| Message::new(s, p)).collect();
                }
                Event::PeerClosed => host.association.close(),
                Event::Closed(reason) => return reason.into_result().map(|()| answers),
                _ => {}
            }
        }
        while let Some(message) = waiting.front() {
            match host.association.send(message.clone()) {
                Ok(()) => _ = waiting.pop_front(),
                Err(SendError::Full) => break, // until `Event::Writable`
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        answers.extend(std::iter::from_fn(|| host.association.receive()));
        if answers.len() == messages.len() {
            host.association.close();
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((to, messages)) = arguments.split_first().filter(|(_, words)| !words.is_empty())
    else {
        eprintln!("tokio: allowed: ADDRESS:PORT MESSAGE...");
        return ExitCode::from(2);
    };
    match talk(to, messages) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tokio: {to}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Calls and prints the answers.
fn talk(to: &str, messages: &[String]) -> io::Result<()> {
    let wrong = |_| io::Error::new(ErrorKind::InvalidInput, "allowed: an IP address and a port");
    let peer: SocketAddr = to.parse().map_err(wrong)?;
    let messages: Vec<Vec<u8>> = messages.iter().map(|text| text.as_bytes().to_vec()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for answer in runtime.block_on(call(peer, &messages))? {
        let octets = answer.payload.octets().unwrap_or_default();
        println!("stream {}: {}", answer.stream, String::from_utf8_lossy(octets));
    }
    Ok(())
}
