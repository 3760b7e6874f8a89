//! Two hosts over a wire of 10 ms: what each call answers.

use anabranch_endpoint::Seed;
use anabranch_socket::{Data, Errno, Fd, Name, Readiness, SendFlags, Shutdown, Sockets};
use anabranch_tcp::{Config, State};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, Packet};

const SERVER: (Addr, u16) = (Addr(0), 80);
const DELAY: Span = Span::from_millis(10);
const PLAIN: SendFlags = SendFlags { more: false, end_of_record: false };

struct Pair {
    now: Time,
    server: Sockets,
    client: Sockets,
    wire: Vec<(Time, Packet)>,
}

impl Pair {
    fn new() -> Pair {
        let sockets =
            |addr, seed| Sockets::new(Config::linux(), Addr(addr), Seed { seed, replication: 0 });
        let (server, client) = (sockets(0, 1), sockets(1, 2));
        Pair { now: Time::ZERO, server, client, wire: Vec::new() }
    }

    /// A connection: its sockets at the client and the server, and the
    /// listener.
    fn connected() -> (Pair, Fd, Fd, Fd) {
        let mut pair = Pair::new();
        let listener = pair.listener();
        let fd = pair.client.socket();
        assert_eq!(pair.client.connect(fd, pair.now, SERVER), Err(Errno::EINPROGRESS));
        pair.pass(50);
        let accepted = pair.server.accept(listener, pair.now).expect("a connection waits");
        (pair, fd, accepted, listener)
    }

    fn listener(&mut self) -> Fd {
        let listener = self.server.socket();
        self.server.set_option(listener, Name::ReuseAddress, 1).unwrap();
        self.server.bind(listener, SERVER.1).unwrap();
        self.server.listen(listener, 1).unwrap();
        listener
    }

    /// Time passes.
    fn pass(&mut self, ms: u64) {
        let end = self.now + Span::from_millis(ms);
        loop {
            for host in [&mut self.server, &mut self.client] {
                while let Some(packet) = host.poll_transmit(self.now) {
                    self.wire.push((self.now + DELAY, packet));
                }
            }
            let arrival = self.wire.first().map_or(Time::NEVER, |(date, _)| *date);
            let timeout = self.server.poll_timeout().min(self.client.poll_timeout());
            let next = arrival.min(timeout);
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            if arrival <= timeout {
                let (_, packet) = self.wire.remove(0);
                let to = if packet.dst == SERVER.0 { &mut self.server } else { &mut self.client };
                to.handle_input(self.now, &packet);
            } else {
                self.server.handle_timeout(self.now);
                self.client.handle_timeout(self.now);
            }
        }
    }
}

#[test]
fn real_octets_arrive_as_they_were_written() {
    let (mut pair, fd, accepted, _) = Pair::connected();
    let octets: Vec<u8> = (0..20_000_u32).map(|n| n as u8).collect();
    assert_eq!(pair.client.write(fd, pair.now, Data::Octets(&octets), PLAIN), Ok(20_000));
    pair.pass(100);
    let mut buffer = vec![0; 30_000];
    assert_eq!(pair.server.read_octets(accepted, &mut buffer), Ok(20_000));
    assert_eq!(buffer[..20_000], octets);
    assert_eq!(pair.server.read_octets(accepted, &mut buffer), Err(Errno::EAGAIN));
}

#[test]
fn a_full_accept_queue_leaves_the_last_ack_to_be_sent_again() {
    let mut pair = Pair::new();
    let listener = pair.listener(); // a queue of two
    for _ in 0..3 {
        let fd = pair.client.socket();
        _ = pair.client.connect(fd, pair.now, SERVER);
    }
    pair.pass(100);
    let mut accepted = 0;
    while pair.server.accept(listener, pair.now).is_ok() {
        accepted += 1;
    }
    assert_eq!(accepted, 2);
    pair.pass(3000);
    assert!(pair.server.accept(listener, pair.now).is_ok(), "the SYN-ACK came again");
    assert_eq!(pair.server.accept(listener, pair.now), Err(Errno::EAGAIN));
}

#[test]
fn nobody_listens() {
    let mut pair = Pair::new();
    let fd = pair.client.socket();
    assert_eq!(pair.client.connect(fd, pair.now, SERVER), Err(Errno::EINPROGRESS));
    assert_eq!(pair.client.connect(fd, pair.now, SERVER), Err(Errno::EALREADY));
    pair.pass(50);
    let ready = pair.client.readiness(fd).unwrap();
    assert!(ready.error && ready.writable && ready.hang_up, "{ready:?}");
    assert_eq!(pair.client.connect(fd, pair.now, SERVER), Err(Errno::ECONNREFUSED));
    assert_eq!(pair.client.option(fd, Name::Error), Ok(0), "told once");
}

#[test]
fn shutdown_ends_one_direction_and_then_the_other() {
    let (mut pair, fd, accepted, _) = Pair::connected();
    pair.client.shutdown(fd, Shutdown::Write).unwrap();
    pair.pass(50);
    assert_eq!(pair.client.write(fd, pair.now, Data::Counted(1), PLAIN), Err(Errno::EPIPE));
    assert_eq!(pair.server.read(accepted, 10), Ok(0));
    assert_eq!(pair.server.write(accepted, pair.now, Data::Counted(7), PLAIN), Ok(7));
    pair.pass(50);
    assert_eq!(pair.client.read(fd, 100), Ok(7));
    pair.server.close(accepted).unwrap();
    pair.pass(50);
    assert_eq!(pair.client.read(fd, 100), Ok(0));
    let state = |pair: &Pair| pair.client.connection(fd).map(|connection| connection.state());
    assert_eq!(state(&pair), Some(State::TimeWait));
    assert_eq!(pair.server.close(accepted), Err(Errno::EBADF));
}

#[test]
fn unread_data_turns_a_close_into_a_reset() {
    let (mut pair, fd, accepted, _) = Pair::connected();
    pair.client.write(fd, pair.now, Data::Counted(10), PLAIN).unwrap();
    pair.pass(50);
    pair.server.close(accepted).unwrap();
    pair.pass(50);
    assert_eq!(pair.client.read(fd, 1), Err(Errno::ECONNRESET));
    assert_eq!(pair.client.read(fd, 1), Ok(0));
    assert_eq!(pair.client.write(fd, pair.now, Data::Counted(1), PLAIN), Err(Errno::EPIPE));
}

#[test]
fn closing_a_listener_resets_what_nobody_accepted() {
    let mut pair = Pair::new();
    let listener = pair.listener();
    let fd = pair.client.socket();
    _ = pair.client.connect(fd, pair.now, SERVER);
    pair.pass(50);
    pair.server.close(listener).unwrap();
    pair.pass(50);
    assert_eq!(pair.client.read(fd, 1), Err(Errno::ECONNRESET));
}

#[test]
fn a_write_that_finds_the_buffer_full_is_writable_when_a_third_is_free() {
    let (mut pair, fd, accepted, _) = Pair::connected();
    pair.client.set_option(fd, Name::SendBuffer, 50_000).unwrap();
    assert_eq!(pair.client.option(fd, Name::SendBuffer), Ok(100_000));
    let written = pair.client.write(fd, pair.now, Data::Counted(1 << 20), PLAIN).unwrap();
    assert!((90_000..200_000).contains(&written), "{written}");
    assert_eq!(pair.client.write(fd, pair.now, Data::Counted(1), PLAIN), Err(Errno::EAGAIN));
    assert_eq!(pair.client.readiness(fd), Ok(Readiness::default()));
    pair.pass(200);
    assert!(pair.client.readiness(fd).unwrap().writable);
    assert_eq!(pair.server.readable(accepted), Ok(written));
    assert_eq!(pair.client.unacknowledged(fd), Ok(0));
}

#[test]
fn ports_and_descriptors_are_kept_apart() {
    let mut pair = Pair::new();
    let listener = pair.listener();
    assert_eq!(listener, Fd(3));
    let other = pair.server.socket();
    assert_eq!(pair.server.bind(other, SERVER.1), Err(Errno::EADDRINUSE));
    assert_eq!(pair.server.bind(Fd(9), 1), Err(Errno::EBADF));
    assert_eq!(pair.server.read(other, 1), Err(Errno::ENOTCONN));
    assert_eq!(pair.server.shutdown(other, Shutdown::Both), Err(Errno::ENOTCONN));
    assert_eq!(pair.server.accept(other, pair.now), Err(Errno::EINVAL));
    assert_eq!(pair.server.set_option(other, Name::SynRetries, 0), Err(Errno::EINVAL));
    pair.server.close(other).unwrap();
    assert_eq!(pair.server.socket(), Fd(4), "the lowest that is free");
}

/// RFC 9293 §3.8.4 (MUST-24): keep-alives that are switched on later find out that the peer's host has
/// started anew.
#[test]
fn keep_alives_are_switched_on_later() {
    let (mut pair, fd, ..) = Pair::connected();
    pair.pass(5_000);
    for (name, value) in [(Name::KeepIdle, 1), (Name::KeepInterval, 1), (Name::KeepAlive, 1)] {
        pair.client.set_option(fd, name, value).unwrap();
    }
    pair.server = Pair::new().server;
    pair.pass(900);
    assert_eq!(pair.client.option(fd, Name::Error), Ok(0));
    pair.pass(200);
    let reset = Errno::ECONNRESET.number() as i64;
    assert_eq!(pair.client.option(fd, Name::Error), Ok(reset));
}

/// RFC 9293 §3.9.2 (MUST-49): IP_TTL, before and after the connection is opened.
#[test]
fn the_time_to_live_is_an_option() {
    let mut pair = Pair::new();
    let fd = pair.client.socket();
    assert_eq!(pair.client.option(fd, Name::TimeToLive), Ok(64));
    for refused in [0, 256, -2] {
        let answer = pair.client.set_option(fd, Name::TimeToLive, refused);
        assert_eq!(answer, Err(Errno::EINVAL), "{refused}");
    }
    pair.client.set_option(fd, Name::TimeToLive, 7).unwrap();
    assert_eq!(pair.client.option(fd, Name::TimeToLive), Ok(7));
    assert_eq!(pair.client.connect(fd, pair.now, SERVER), Err(Errno::EINPROGRESS));
    assert_eq!(pair.client.poll_transmit(pair.now).map(|packet| packet.ttl), Some(7));
    pair.client.set_option(fd, Name::TimeToLive, -1).unwrap();
    pair.now += Span::from_secs(2); // the SYN again
    pair.client.handle_timeout(pair.now);
    assert_eq!(pair.client.poll_transmit(pair.now).map(|packet| packet.ttl), Some(64));
}
