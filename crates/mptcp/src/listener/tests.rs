use super::*;
use anabranch_endpoint::Seed;
use anabranch_wire::tcp::mptcp::{Join, MptcpOption};

const CLIENT: Addr = Addr(1);
const SERVER: Addr = Addr(0);

fn generator(name: &str) -> Generator {
    Seed { seed: 1, replication: 0 }.generator(name)
}

fn listener(backlog: usize) -> Listener {
    let addresses = [(0, SERVER), (3, Addr(9))];
    Listener::new(Config::default(), &addresses, 80, backlog, generator("server"))
}

fn client(port: u16, config: &Config) -> Connection {
    let local = (&[CLIENT][..], port);
    Connection::client(config.clone(), local, (SERVER, 80), generator("client"))
}

/// Packets go back and forth until nothing is left to say.
fn exchange(listener: &mut Listener, client: &mut Connection) {
    let now = Time::ZERO;
    while let Some(packet) = client.poll_transmit(now).or_else(|| listener.poll_transmit(now)) {
        match packet.dst == SERVER {
            true => _ = listener.handle_input(now, &packet, |_| false),
            false => client.handle_input(now, &packet),
        }
    }
}

#[test]
fn handshakes_end_in_the_queue_as_what_the_client_asked_for() {
    for (enabled, phase, capable) in [(true, Phase::Multipath, 1), (false, Phase::Fallback, 0)] {
        let mut listener = listener(5);
        let mut client = client(1000, &Config { enabled, ..Config::default() });
        client.connect(Time::ZERO);
        exchange(&mut listener, &mut client);
        assert_eq!(listener.waiting(), 1);
        let accepted = listener.accept().unwrap();
        assert_eq!(accepted.phase(), phase);
        let expected = ListenerCounters { capable_syns: capable, ..Default::default() };
        assert_eq!(listener.counters(), expected);
    }
}

/// As TCP's: what does not fit is ignored, and the client tries again.
#[test]
fn a_full_queue_takes_no_more() {
    let mut listener = listener(1);
    for port in [1000, 1001] {
        let mut client = client(port, &Config::default());
        client.connect(Time::ZERO);
        exchange(&mut listener, &mut client);
    }
    assert_eq!(listener.waiting(), 1);
    assert_eq!(listener.stop().len(), 1);
}

/// RFC 8684 §3.1: a connection whose token another has draws another key. The
/// first that it would have is the one it has when nobody else does.
#[test]
fn tokens_are_each_of_one_connection() {
    let accept = |taken: &[u32]| {
        let (mut listener, now) = (listener(5), Time::ZERO);
        let mut client = client(1000, &Config::default());
        client.connect(now);
        while let Some(packet) = client.poll_transmit(now).or_else(|| listener.poll_transmit(now)) {
            match packet.dst == SERVER {
                true => _ = listener.handle_input(now, &packet, |token| taken.contains(&token)),
                false => client.handle_input(now, &packet),
            }
        }
        let accepted = listener.accept().unwrap();
        assert_eq!((accepted.phase(), client.phase()), (Phase::Multipath, Phase::Multipath));
        accepted.token()
    };
    let first = accept(&[]);
    let second = accept(&[first]);
    let third = accept(&[first, second]);
    assert!(first != second && third != first && third != second);
    assert_eq!(accept(&[second]), first);
}

/// RFC 4987 §3.6: nothing is remembered of a SYN, and whoever answers is let in, over
/// Multipath TCP or TCP as it asked; a forged answer opens nothing.
#[test]
fn cookies_open_what_the_client_asked_for() {
    for (enabled, phase) in [(true, Phase::Multipath), (false, Phase::Fallback)] {
        let mut listener = listener(5).with_cookies(SynCookies::Always);
        let config = Config { enabled, ..Config::default() };
        let (mut client, now) = (client(1000, &config), Time::ZERO);
        client.connect(now);
        let syn = client.poll_transmit(now).unwrap();
        assert!(listener.handle_input(now, &syn, |_| false));
        assert_eq!((listener.lengths(), listener.memory()), ((0, 0), 0));
        let answer = listener.poll_transmit(now).unwrap();
        client.handle_input(now, &answer);
        let mut ack = client.poll_transmit(now).unwrap();
        let Body::Tcp(segment) = &mut ack.body else { panic!() };
        segment.ack = segment.ack.add(1);
        assert!(!listener.handle_input(now, &ack, |_| false), "forged");
        let Body::Tcp(segment) = &mut ack.body else { panic!() };
        segment.ack = segment.ack.add(u32::MAX);
        assert!(listener.handle_input(now, &ack, |_| false));
        let mut accepted = listener.accept().unwrap();
        assert_eq!((accepted.phase(), client.phase()), (phase, phase));
        // Octets go both ways.
        client.write(5000);
        accepted.write(7000);
        while let Some(packet) = client.poll_transmit(now).or_else(|| accepted.poll_transmit(now)) {
            match packet.dst == SERVER {
                true => accepted.handle_input(now, &packet),
                false => client.handle_input(now, &packet),
            }
        }
        assert_eq!((accepted.read(u64::MAX), client.read(u64::MAX)), (5000, 7000));
    }
}

/// RFC 8684 §3.2: a join of a connection that there is not opens none.
#[test]
fn an_unknown_token_is_for_the_host_to_refuse() {
    let mut listener = listener(1);
    let mut client = client(1000, &Config::default());
    client.connect(Time::ZERO);
    let mut packet = client.poll_transmit(Time::ZERO).unwrap();
    let Body::Tcp(segment) = &mut packet.body else { panic!() };
    let join = Join::Syn { backup: false, address: 1, token: 7, nonce: 1 };
    segment.options.rare_mut().mptcp = vec![MptcpOption::Join(join)];
    assert!(!listener.handle_input(Time::ZERO, &packet, |_| false));
    assert_eq!(listener.poll_transmit(Time::ZERO), None);
}

/// A segment for nobody is the host's to refuse.
#[test]
fn strangers_are_refused() {
    let mut listener = listener(1);
    let mut client = client(1000, &Config::default());
    client.connect(Time::ZERO);
    let mut packet = client.poll_transmit(Time::ZERO).unwrap();
    let Body::Tcp(segment) = &mut packet.body else { panic!() };
    segment.flags = TcpFlags::ACK;
    assert!(!listener.handle_input(Time::ZERO, &packet, |_| false));
}
