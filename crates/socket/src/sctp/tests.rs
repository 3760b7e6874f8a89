//! Two hosts and a wire without delay, call by call.

use super::*;
use crate::sockets::Shutdown;
use anabranch_units::{Span, Time};
use anabranch_wire::sctp::{Chunk, DataFlags};
use anabranch_wire::{Body, Payload};

const SERVER: Addr = Addr(0);
const CLIENT: Addr = Addr(1);

struct World {
    server: SctpSockets,
    client: SctpSockets,
    now: Time,
}

impl World {
    fn new() -> World {
        let config = Config { partial_reliability: true, ..Config::rfc9260() };
        let host = |addr: Addr| {
            let seed = Seed { seed: addr.0 as u64 + 1, replication: 0 };
            SctpSockets::new(config.clone(), &[addr], seed)
        };
        World { server: host(SERVER), client: host(CLIENT), now: Time::ZERO }
    }

    /// Carries packets until nobody has any.
    fn settle(&mut self) {
        loop {
            let sent = self.client.poll_transmit(self.now);
            let Some(packet) = sent.or_else(|| self.server.poll_transmit(self.now)) else { return };
            let to = if packet.dst == SERVER { &mut self.server } else { &mut self.client };
            to.handle_input(self.now, &packet);
        }
    }

    fn pass(&mut self, ms: u64) {
        let until = self.now + Span::from_millis(ms);
        loop {
            let due = self.client.poll_timeout().min(self.server.poll_timeout());
            if due > until {
                break;
            }
            self.now = due;
            self.client.handle_timeout(due);
            self.server.handle_timeout(due);
            self.settle();
        }
        self.now = until;
    }

    fn listener(&mut self, style: Style) -> Fd {
        let fd = self.server.socket(style);
        self.server.bind(fd, 80).unwrap();
        self.server.listen(fd, 1).unwrap();
        fd
    }

    fn call(&mut self) -> Fd {
        let fd = self.client.socket(Style::OneToOne);
        assert_eq!(self.client.connect(fd, self.now, &[SERVER], 80), Err(Errno::EINPROGRESS));
        self.settle();
        fd
    }

    /// A client's socket and the server's for it.
    fn pair(&mut self) -> (Fd, Fd) {
        let listener = self.listener(Style::OneToOne);
        let client = self.call();
        let server = self.server.accept(listener).unwrap();
        (client, server)
    }
}

fn octets(text: &str) -> Payload {
    Payload::of_octets(text.as_bytes())
}

fn data(arrival: Result<Arrival, Errno>) -> (String, bool) {
    match arrival {
        Ok(Arrival::Data(part)) => {
            let octets = part.payload.octets().unwrap().to_vec();
            (String::from_utf8(octets).unwrap(), part.end)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn messages_keep_their_boundaries_and_are_read_in_parts() {
    let mut world = World::new();
    let (client, server) = world.pair();
    for text in ["first", "second"] {
        assert_eq!(
            world.client.send(client, world.now, Sending::default(), octets(text)),
            Ok(text.len() as u64)
        );
    }
    world.settle();
    assert!(world.server.is_readable(server));
    assert_eq!(data(world.server.receive(server, 3)), ("fir".into(), false));
    assert_eq!(data(world.server.receive(server, 30)), ("st".into(), true));
    assert_eq!(data(world.server.receive(server, 30)), ("second".into(), true));
    assert_eq!(world.server.receive(server, 30), Err(Errno::EAGAIN));
    assert!(!world.server.is_readable(server));
}

#[test]
fn an_orderly_end_is_the_end_of_the_file_and_a_broken_pipe() {
    let mut world = World::new();
    let (client, server) = world.pair();
    world.client.send(client, world.now, Sending::default(), octets("last")).unwrap();
    world.client.shutdown(client, Shutdown::Write).unwrap();
    let late = world.client.send(client, world.now, Sending::default(), octets("late"));
    assert_eq!(late, Err(Errno::EPIPE));
    world.settle();
    world.pass(300);
    assert_eq!(data(world.server.receive(server, 30)), ("last".into(), true));
    assert_eq!(world.server.receive(server, 30), Ok(Arrival::End));
    assert_eq!(world.client.receive(client, 30), Ok(Arrival::End));
    let answer = world.server.send(server, world.now, Sending::default(), octets("no"));
    assert_eq!(answer, Err(Errno::EPIPE));
    world.client.close(client).unwrap();
    world.server.close(server).unwrap();
    world.settle();
    assert!(world.client.associations.is_empty() && world.server.associations.is_empty());
}

#[test]
fn refusals_and_wrong_calls_have_their_errors() {
    let mut world = World::new();
    let fd = world.call();
    assert_eq!(world.client.take_error(fd), Some(Errno::ECONNREFUSED));
    assert_eq!(world.client.accept(fd), Err(Errno::EINVAL));
    assert_eq!(world.client.close(Fd(99)), Err(Errno::EBADF));
    let fresh = world.client.socket(Style::OneToOne);
    let unsent = world.client.send(fresh, world.now, Sending::default(), octets("x"));
    assert_eq!(unsent, Err(Errno::ENOTCONN));
    let (client, _) = world.pair();
    assert_eq!(world.client.connect(client, world.now, &[SERVER], 80), Err(Errno::EISCONN));
    let wrong = Sending { stream: 10, ..Sending::default() };
    assert_eq!(world.client.send(client, world.now, wrong, octets("x")), Err(Errno::EINVAL));
    let second = world.server.socket(Style::OneToOne);
    assert_eq!(world.server.bind(second, 80), Err(Errno::EADDRINUSE));
}

/// RFC 6458 §4.1.7: unread messages, and SO_LINGER of 0 s.
#[test]
fn a_close_with_unread_messages_resets_the_peer() {
    for linger in [false, true] {
        let mut world = World::new();
        let (client, server) = world.pair();
        match linger {
            true => {
                let change = |options: &mut Options| options.linger = Some(0);
                world.server.set_options(server, world.now, change).unwrap();
            }
            false => {
                let sending = Sending::default();
                world.client.send(client, world.now, sending, octets("unread")).unwrap();
                world.settle();
            }
        }
        world.server.close(server).unwrap();
        world.settle();
        assert_eq!(world.client.receive(client, 10), Err(Errno::ECONNRESET), "{linger}");
    }
}

#[test]
fn a_listener_keeps_no_more_than_its_backlog() {
    let mut world = World::new();
    let listener = world.listener(Style::OneToOne);
    let calls: Vec<Fd> = (0..4).map(|_| world.call()).collect();
    let connecting =
        |world: &World| calls.iter().filter(|fd| world.client.is_connecting(**fd)).count();
    assert_eq!(connecting(&world), 2, "one and one more");
    for _ in 0..2 {
        world.server.accept(listener).unwrap();
    }
    assert_eq!(world.server.accept(listener), Err(Errno::EAGAIN));
    world.pass(3000);
    assert_eq!(connecting(&world), 0, "the others tried again");
}

/// RFC 6458 §6.1: a notification comes after what arrived before it.
#[test]
fn notifications_have_their_place_among_messages() {
    let mut world = World::new();
    let listener = world.listener(Style::OneToOne);
    let change = |options: &mut Options| {
        options.events.set(Event::Association, true);
        options.events.set(Event::Shutdown, true);
    };
    world.server.set_options(listener, world.now, change).unwrap();
    let client = world.call();
    let server = world.server.accept(listener).unwrap();
    world.client.send(client, world.now, Sending::default(), octets("data")).unwrap();
    world.client.shutdown(client, Shutdown::Write).unwrap();
    world.settle();
    world.pass(300);
    let mut next = || match world.server.receive(server, 100) {
        Ok(Arrival::Notification(Notification::Association { state, .. })) => format!("{state:?}"),
        Ok(Arrival::Notification(notification)) => format!("{:?}", notification.event()),
        Ok(Arrival::Data(_)) => "data".into(),
        other => format!("{other:?}"),
    };
    let all: Vec<String> = (0..5).map(|_| next()).collect();
    assert_eq!(all, ["Up", "data", "Shutdown", "ShutdownComplete", "Ok(End)"]);
}

/// RFC 6458 §3: the first message to a peer opens an association; each is
/// peeled off by its number.
#[test]
fn one_socket_holds_many_associations() {
    let mut world = World::new();
    let many = world.listener(Style::OneToMany);
    assert_eq!(world.server.accept(many), Err(Errno::EOPNOTSUPP));
    let other = world.client.socket(Style::OneToMany);
    let to = Sending { to: Some((SERVER, 80)), ..Sending::default() };
    world.client.send(other, world.now, to, octets("implicit")).unwrap();
    let one = world.call();
    world.client.send(one, world.now, Sending::default(), octets("explicit")).unwrap();
    world.settle();
    let mut heard = Vec::new();
    while let Ok(Arrival::Data(part)) = world.server.receive(many, 100) {
        heard.push((part.association, part.payload.octets().unwrap().to_vec()));
    }
    assert_eq!(heard.len(), 2);
    let (id, _) = heard.iter().find(|(_, octets)| octets == b"explicit").unwrap();
    let peeled = world.server.peel_off(many, *id).unwrap();
    assert_eq!(world.server.peel_off(many, *id), Err(Errno::EINVAL));
    world.server.send(peeled, world.now, Sending::default(), octets("answer")).unwrap();
    world.settle();
    assert_eq!(data(world.client.receive(one, 100)), ("answer".into(), true));
    assert_eq!(world.server.associations(many).len(), 1);
}

/// RFC 6458 §6.1.9, §6.1.4: dry at once if nothing waits; what is lost comes
/// back.
#[test]
fn senders_hear_of_what_became_of_their_messages() {
    let mut world = World::new();
    let (client, _) = world.pair();
    let change = |options: &mut Options| {
        options.events.set(Event::SenderDry, true);
        options.events.set(Event::SendFailed, true);
    };
    world.client.set_options(client, world.now, change).unwrap();
    let dry =
        |arrival| matches!(arrival, Ok(Arrival::Notification(Notification::SenderDry { .. })));
    assert!(dry(world.client.receive(client, 100)));
    let sending =
        Sending { ppid: 9, lifetime: Lifetime::For(Span::from_millis(10)), ..Sending::default() };
    world.client.send(client, world.now, sending, octets("lost")).unwrap();
    // The wire is cut.
    while world.client.poll_transmit(world.now).is_some() {}
    world.now = world.client.poll_timeout();
    world.client.handle_timeout(world.now);
    world.settle();
    match world.client.receive(client, 100) {
        Ok(Arrival::Notification(Notification::SendFailed { sent, sending, payload, .. })) => {
            assert_eq!((sent, sending.ppid, payload), (true, 9, octets("lost")));
        }
        other => panic!("{other:?}"),
    }
    assert!(dry(world.client.receive(client, 100)));
}

/// A cookie is good for whatever endpoint of the host holds the port.
#[test]
fn a_cookie_that_comes_twice_makes_one_association() {
    let mut world = World::new();
    let listener = world.listener(Style::OneToOne);
    let fd = world.client.socket(Style::OneToOne);
    _ = world.client.connect(fd, world.now, &[SERVER], 80);
    let init = world.client.poll_transmit(world.now).unwrap();
    world.server.handle_input(world.now, &init);
    let ack = world.server.poll_transmit(world.now).unwrap();
    world.client.handle_input(world.now, &ack);
    let echo = world.client.poll_transmit(world.now).unwrap();
    world.server.handle_input(world.now, &echo);
    world.server.handle_input(world.now, &echo);
    world.settle();
    world.server.accept(listener).unwrap();
    assert_eq!(world.server.accept(listener), Err(Errno::EAGAIN));
}

/// RFC 9260 §3.1: a packet never goes to port 0, whether a socket connects or a message opens.
#[test]
fn port_0_is_nobodys() {
    let mut world = World::new();
    for style in [Style::OneToOne, Style::OneToMany] {
        let fd = world.client.socket(style);
        assert_eq!(world.client.connect(fd, world.now, &[SERVER], 0), Err(Errno::EINVAL));
        assert_eq!(world.client.poll_transmit(world.now), None);
        assert_eq!(world.client.connect(fd, world.now, &[SERVER], 80), Err(Errno::EINPROGRESS));
        assert!(world.client.poll_transmit(world.now).is_some());
    }
}

/// `SCTP_SACK_IMMEDIATELY` of a message, and as the default of a socket's (RFC 7053 §7).
#[test]
fn a_message_asks_for_a_sack_at_once() {
    let mut world = World::new();
    let (client, _) = world.pair();
    let asks = |world: &mut World, sending| {
        world.client.send(client, world.now, sending, octets("hello")).unwrap();
        let packet = world.client.poll_transmit(world.now).expect("data");
        world.server.handle_input(world.now, &packet);
        let Body::Sctp(sctp) = &packet.body else { panic!("{packet:?}") };
        let mut data = sctp.chunks.iter().filter_map(|chunk| match chunk {
            Chunk::Data(data) => Some(data.flags.contains(DataFlags::IMMEDIATE)),
            _ => None,
        });
        let asked = data.next().expect("data");
        let answered = world.server.poll_transmit(world.now).is_some();
        (asked, answered)
    };
    let (plain, immediate) =
        (Sending::default(), Sending { immediate: true, ..Sending::default() });
    assert_eq!(asks(&mut world, plain), (false, true), "the first data has its SACK at once");
    assert_eq!(asks(&mut world, plain), (false, false));
    assert_eq!(asks(&mut world, immediate), (true, true));
}
