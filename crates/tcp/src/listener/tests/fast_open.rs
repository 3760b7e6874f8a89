//! Fast Open at a listening port: accepting early, the limit, and floods.

use super::*;
use crate::fast_open::{FastOpenOptions, FastOpenServer};
use anabranch_endpoint::{PeerMemory, TemporalSharing};

fn config(pending: u32) -> Config {
    let options = FastOpenOptions { pending, ..Default::default() };
    Config { fast_open: Some(options), ..Config::default() }
}

fn port(limits: Backlog, pending: u32) -> Listener {
    let generator = Seed::default().generator("listener");
    Listener::new(config(pending), limits, (Addr(1), PORT), generator)
}

/// A client with this memory that has 300 octets to say.
fn knowing(port: u16, memory: &PeerMemory) -> Connection {
    let generator = Seed::default().generator("client");
    let mut c = Connection::client(config(0), (Addr(0), port), (Addr(1), PORT), generator);
    c.recall(memory);
    c.write(300);
    c.connect(at(0));
    c
}

/// What a client's host remembers after a first connection.
fn introduced(l: &mut Listener) -> PeerMemory {
    let mut memory = PeerMemory::default();
    let mut c = knowing(999, &memory);
    talk(at(0), &mut c, l);
    assert!(c.has_learnt());
    c.remember(&mut memory);
    assert_eq!(l.accept().unwrap().state(), State::Established);
    memory
}

#[test]
fn a_good_cookie_makes_a_connection_at_once() {
    let mut l = port(Backlog::default(), 2);
    let memory = introduced(&mut l);
    let mut c = knowing(1000, &memory);
    l.handle_input(at(0), &c.poll_transmit(at(0)).unwrap());
    assert_eq!((l.lengths(), l.pending(), l.counters().fast_opens), ((0, 1), 1, 1));
    let mut server = l.accept().unwrap();
    assert_eq!((server.state(), server.read(1000)), (State::SynReceived, 300));
    assert_eq!(
        (server.poll_event(), server.poll_event()),
        (Some(Event::Connected), Some(Event::Readable))
    );
    // The answer leaves before the handshake ends.
    server.write(500);
    for _ in 0..2 {
        c.handle_input(at(0), &server.poll_transmit(at(0)).unwrap());
    }
    assert_eq!(c.read(1000), 500);
    l.settle(&server);
    assert_eq!(l.pending(), 1, "not yet over");
    server.handle_input(at(0), &c.poll_transmit(at(0)).unwrap());
    l.settle(&server);
    assert_eq!(l.pending(), 0);
}

/// §4.1.3.1: a cookie of one port of a host is good at another, which has the same key.
#[test]
fn cookies_do_not_depend_on_the_port() {
    for (key, fast_opens) in [([5, 6], 1), ([5, 7], 0)] {
        let mut one = port(Backlog::default(), 2);
        one.set_keys([1, 2], [5, 6]);
        let memory = introduced(&mut one);
        let (local, generator) = ((Addr(1), PORT + 1), Seed::default().generator("another"));
        let mut other = Listener::new(config(2), Backlog::default(), local, generator);
        other.set_keys([1, 2], key);
        other.handle_input(at(0), &knowing(1000, &memory).poll_transmit(at(0)).unwrap());
        assert_eq!(other.counters().fast_opens, fast_opens, "{key:?}");
    }
}

/// §5.1: at the limit, SYNs are usual ones.
#[test]
fn pending_connections_are_limited() {
    let mut l = port(Backlog::default(), 2);
    let memory = introduced(&mut l);
    let mut clients: Vec<_> = (0..3).map(|n| knowing(1000 + n, &memory)).collect();
    for c in &mut clients {
        l.handle_input(at(0), &c.poll_transmit(at(0)).unwrap());
    }
    assert_eq!((l.pending(), l.lengths()), (2, (1, 2)));
    assert_eq!(l.counters().fast_open_overflows, 1);
    // The third hears a refusal, and sends its data after the handshake.
    while let Some(packet) = l.poll_transmit(at(0)) {
        let Body::Tcp(segment) = &packet.body else { continue };
        clients[segment.dst_port as usize - 1000].handle_input(at(0), &packet);
    }
    for c in &mut clients {
        talk(at(0), c, &mut l);
    }
    assert_eq!((l.pending(), l.lengths()), (0, (0, 3)), "while it keeps them, it sees for itself");
    let mut failures = Vec::new();
    for mut c in clients {
        let mut memory = PeerMemory::default();
        c.remember(&mut memory);
        failures.push(memory.get::<FastOpenServer>().unwrap().failures);
        assert_eq!(l.accept().unwrap().read(1000), 300);
    }
    assert_eq!(failures, [0, 0, 1]);
}

/// §5.1: a reset does not make room, or an attacker would reset what it opened
/// in the name of another.
#[test]
fn a_reset_does_not_make_room() {
    let mut l = port(Backlog::default(), 1);
    let memory = introduced(&mut l);
    let mut c = knowing(1000, &memory);
    let syn = c.poll_transmit(at(0)).unwrap();
    l.handle_input(at(0), &syn);
    let mut server = l.accept().unwrap();
    let answer = server.poll_transmit(at(0)).unwrap();
    c.handle_input(at(0), &answer);
    c.abort();
    server.handle_input(at(0), &c.poll_transmit(at(0)).unwrap());
    assert_eq!(server.state(), State::Closed);
    l.settle(&server);
    let mut opens = |now: Time, n| {
        let before = l.counters().fast_opens;
        l.handle_input(now, &knowing(n, &memory).poll_transmit(at(0)).unwrap());
        l.counters().fast_opens > before
    };
    assert!(!opens(at(1), 1001));
    // SYN-ACKs would have been sent for 1 + 2 + 4 + ... + 64 s, waiting for 60 s
    // at most.
    assert!(!opens(at(182), 1002));
    assert!(opens(at(183), 1003));
}

/// A flood of SYNs: who has a cookie passes with data; who asks for one gets it
/// beside the SYN cookie, without a place in the queue.
#[test]
fn cookies_of_both_kinds_in_a_flood() {
    let mut l = port(Backlog { half_open: 10, ..Backlog::default() }, 5);
    let memory = introduced(&mut l);
    for n in 0..100 {
        l.handle_input(at(0), &syn(2000 + n));
        while l.poll_transmit(at(0)).is_some() {}
    }
    assert_eq!(l.lengths(), (10, 0));
    let mut c = knowing(1000, &memory);
    talk(at(0), &mut c, &mut l);
    assert_eq!(l.counters().fast_opens, 1);
    assert_eq!(l.accept().unwrap().read(1000), 300);

    let before = l.counters().cookies_accepted;
    let learnt = introduced(&mut l);
    assert_eq!(l.counters().cookies_accepted, before + 1);
    assert_eq!(learnt.get::<FastOpenServer>(), memory.get::<FastOpenServer>());
}

/// Where all are answered by SYN cookies nothing is kept, data neither.
#[test]
fn syn_cookies_for_all_leave_no_early_opening() {
    let mut l = port(Backlog { cookies: SynCookies::Always, ..Backlog::default() }, 5);
    let memory = introduced(&mut l);
    let mut c = knowing(1000, &memory);
    talk(at(0), &mut c, &mut l);
    assert_eq!((l.counters().fast_opens, l.counters().cookies_accepted), (0, 2));
    assert_eq!(l.accept().unwrap().read(1000), 300);
}
