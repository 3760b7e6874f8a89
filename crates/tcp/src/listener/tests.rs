mod fast_open;

use super::*;
use anabranch_endpoint::{ByteStream, CloseReason, Event, Seed};
use anabranch_units::Span;

const PORT: u16 = 80;

fn at(s: u64) -> Time {
    Time::ZERO + Span::from_secs(s)
}

fn listener(limits: Backlog) -> Listener {
    let generator = Seed::default().generator("listener");
    Listener::new(Config::default(), limits, (Addr(1), PORT), generator)
}

fn client(port: u16) -> Connection {
    let generator = Seed::default().generator("client");
    let mut c = Connection::client(Config::default(), (Addr(0), port), (Addr(1), PORT), generator);
    c.connect(at(0));
    c
}

/// What both have to say to each other, without delay.
fn talk(now: Time, client: &mut Connection, listener: &mut Listener) {
    loop {
        let mut said = false;
        while let Some(packet) = client.poll_transmit(now) {
            listener.handle_input(now, &packet);
            said = true;
        }
        while let Some(packet) = listener.poll_transmit(now) {
            client.handle_input(now, &packet);
            said = true;
        }
        if !said {
            return;
        }
    }
}

/// The client's first packet alone, as in a flood.
fn syn(port: u16) -> Packet {
    client(port).poll_transmit(at(0)).unwrap()
}

fn transfer(now: Time, client: &mut Connection, server: &mut Connection, octets: u64) {
    client.write(octets);
    client.close();
    loop {
        let (a, b) = (client.poll_transmit(now), server.poll_transmit(now));
        if a.is_none() && b.is_none() {
            break;
        }
        a.into_iter().for_each(|packet| server.handle_input(now, &packet));
        b.into_iter().for_each(|packet| client.handle_input(now, &packet));
        server.read(u64::MAX);
    }
    assert_eq!(server.observe().bytes_received, octets);
}

#[test]
fn a_handshake_makes_a_connection_to_accept() {
    let mut l = listener(Backlog::default());
    assert!(l.accept().is_none());
    let mut clients: Vec<_> = (0..3).map(|n| client(1000 + n)).collect();
    for c in &mut clients {
        talk(at(0), c, &mut l);
        assert_eq!(c.state(), State::Established);
    }
    assert_eq!(l.lengths(), (0, 3));
    for c in &mut clients {
        let mut server = l.accept().unwrap();
        assert_eq!(server.poll_event(), Some(Event::Connected));
        transfer(at(0), c, &mut server, 100_000);
    }
}

/// Without cookies a flood of SYNs shuts others out until its handshakes time
/// out.
#[test]
fn a_flood_fills_the_queue() {
    let limits = Backlog { half_open: 10, cookies: SynCookies::Off, ..Backlog::default() };
    let mut l = listener(limits);
    (0..500).for_each(|n| l.handle_input(at(0), &syn(2000 + n)));
    assert_eq!((l.lengths(), l.counters().dropped_syns), ((10, 0), 490));
    let mut c = client(1000);
    talk(at(0), &mut c, &mut l);
    assert_eq!(c.state(), State::SynSent);
    let mut now = at(0);
    while l.lengths().0 > 0 {
        now = l.poll_timeout();
        l.handle_timeout(now);
        while l.poll_transmit(now).is_some() {}
    }
    assert!(now >= at(180), "handshakes are given up after three minutes: {now}");
    c.handle_timeout(now);
    talk(now, &mut c, &mut l);
    assert_eq!(c.state(), State::Established);
}

/// RFC 4987 §3.6: with cookies the flood costs no memory, and an honest client
/// gets through; what the cookie does not remember is not used.
#[test]
fn cookies_let_an_honest_client_through_a_flood() {
    let mut l = listener(Backlog { half_open: 10, ..Backlog::default() });
    for n in 0..500 {
        l.handle_input(at(0), &syn(2000 + n));
        while l.poll_transmit(at(0)).is_some() {}
    }
    let mut c = client(1000);
    talk(at(0), &mut c, &mut l);
    assert_eq!(l.lengths(), (10, 1));
    let counters = l.counters();
    assert_eq!((counters.cookies_sent, counters.cookies_accepted), (491, 1));
    let mut server = l.accept().unwrap();
    transfer(at(0), &mut c, &mut server, 100_000);
}

/// An ACK with a number that is no cookie is reset (RFC 9293 §3.10.7.2), and a
/// cookie that comes back too late is none.
#[test]
fn forged_and_old_cookies_are_reset() {
    let mut l = listener(Backlog { cookies: SynCookies::Always, ..Backlog::default() });
    let mut c = client(1000);
    l.handle_input(at(0), &c.poll_transmit(at(0)).unwrap());
    c.handle_input(at(0), &l.poll_transmit(at(0)).unwrap());
    let ack = c.poll_transmit(at(0)).unwrap();
    for (now, change) in [(at(0), 1), (at(200), 0)] {
        let mut forged = ack.clone();
        let Body::Tcp(segment) = &mut forged.body else { panic!() };
        segment.ack = segment.ack.add(change);
        l.handle_input(now, &forged);
        let Body::Tcp(answer) = l.poll_transmit(now).unwrap().body else { panic!() };
        let expected = match &forged.body {
            Body::Tcp(segment) => segment.ack,
            _ => unreachable!("made above"),
        };
        assert_eq!((answer.flags, answer.seq), (TcpFlags::RST, expected));
        assert_eq!(l.lengths(), (0, 0));
    }
    l.handle_input(at(0), &ack);
    assert_eq!(l.lengths(), (0, 1));
}

/// While the backlog is full the last ACK is not taken; data repeats it, and
/// the connection comes when there is room.
#[test]
fn a_full_backlog_leaves_handshakes_open() {
    let mut l = listener(Backlog { backlog: 1, ..Backlog::default() });
    let (mut first, mut second) = (client(1000), client(1001));
    talk(at(0), &mut first, &mut l);
    talk(at(0), &mut second, &mut l);
    assert_eq!((l.lengths(), l.counters().overflows), ((1, 1), 1));
    assert!(l.accept().is_some());
    second.write(10);
    talk(at(1), &mut second, &mut l);
    assert_eq!(l.accept().unwrap().observe().bytes_received, 10);
}

/// RFC 9293 §3.10.7.4: a handshake that is reset leaves the queue.
#[test]
fn a_reset_handshake_is_forgotten() {
    let mut l = listener(Backlog::default());
    let mut c = client(1000);
    l.handle_input(at(0), &c.poll_transmit(at(0)).unwrap());
    c.handle_input(at(0), &l.poll_transmit(at(0)).unwrap());
    c.abort();
    assert_eq!(c.poll_event(), Some(Event::Connected));
    assert_eq!(c.poll_event(), Some(Event::Closed(CloseReason::Aborted)));
    l.handle_input(at(0), &c.poll_transmit(at(0)).unwrap());
    assert_eq!(l.lengths(), (0, 0));
}

/// RFC 6191 §2 and RFC 9293 §3.10.7.4: a connection in TIME-WAIT gives way to
/// a SYN that cannot be an old one.
#[test]
fn a_later_syn_takes_over_from_time_wait() {
    let mut l = listener(Backlog::default());
    let mut c = client(1000);
    talk(at(0), &mut c, &mut l);
    let mut server = l.accept().unwrap();
    // The server closes first, and so waits.
    server.close();
    transfer(at(0), &mut c, &mut server, 10);
    assert_eq!(server.state(), State::TimeWait);
    let later = |ms| {
        let now = at(1) + Span::from_millis(ms);
        let generator = Seed::default().generator("client");
        let config = Config::default();
        let mut c = Connection::client(config, (Addr(0), 1000), (Addr(1), PORT), generator);
        c.connect(now);
        (now, c)
    };
    let old = syn(1000);
    assert!(!server.gives_way_to(&old), "a duplicate of the first");
    let (now, mut again) = later(5);
    let new = again.poll_transmit(now).unwrap();
    assert!(server.gives_way_to(&new));
    l.handle_input(now, &new);
    talk(now, &mut again, &mut l);
    assert_eq!(again.state(), State::Established);
}

/// RFC 9293 §3.6.1: the connection that takes over begins with a number above all that the one before
/// it used, however fast that went.
#[test]
fn a_connection_that_takes_over_begins_above_the_last_number() {
    let mut l = listener(Backlog::default());
    let mut c = client(1000);
    talk(at(0), &mut c, &mut l);
    let mut server = l.accept().unwrap();
    server.write(3 << 20); // faster than the clock of the numbers
    server.close();
    transfer(at(0), &mut c, &mut server, 10);
    assert_eq!(server.state(), State::TimeWait);
    let last = server.past().next;
    let now = at(1);
    let generator = Seed::default().generator("client");
    let mut again =
        Connection::client(Config::default(), (Addr(0), 1000), (Addr(1), PORT), generator);
    again.connect(now);
    let new = again.poll_transmit(now).unwrap();
    assert!(server.gives_way_to(&new));
    l.succeed(server.past());
    l.handle_input(now, &new);
    let Body::Tcp(answer) = l.poll_transmit(now).unwrap().body else { panic!() };
    assert!(answer.seq.distance_from(last) >= 0, "{} after {last}", answer.seq);
}
