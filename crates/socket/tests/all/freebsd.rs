//! Two hosts of FreeBSD, without a network between them: TCP in UDP, and what its calls do otherwise
//! than those of Linux.

use anabranch_endpoint::Seed;
use anabranch_socket::{Data, Errno, Fd, Flavor, Name, SendFlags, Sockets};
use anabranch_tcp::{Config, State};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, Body, Packet};

const SERVER: (Addr, u16) = (Addr(0), 80);

fn host(n: u32) -> Sockets {
    let seed = Seed { seed: n as u64, replication: 0 };
    let mut host = Sockets::new(Config::freebsd(), Addr(n), seed);
    host.settings().flavor = Flavor::FreeBsd;
    host.settings().udp.port = 9000 + n as u16;
    host
}

fn listening(host: &mut Sockets) -> Fd {
    let fd = host.socket();
    host.bind(fd, SERVER.1).unwrap();
    host.listen(fd, 5).unwrap();
    fd
}

/// What both have to say to each other, without delay; the packets.
fn talk(now: Time, a: &mut Sockets, b: &mut Sockets) -> Vec<Packet> {
    let mut said = Vec::new();
    while let Some(packet) = a.poll_transmit(now).or_else(|| b.poll_transmit(now)) {
        let to = if packet.dst == Addr(0) { &mut *a } else { &mut *b };
        to.handle_input(now, &packet);
        said.push(packet);
    }
    said
}

fn in_udp(packet: &Packet) -> bool {
    matches!(packet.body, Body::Udp(_))
}

#[test]
fn a_connection_in_udp_stays_there() {
    let (mut server, mut client, now) = (host(0), host(1), Time::ZERO);
    let listener = listening(&mut server);
    let fd = client.socket();
    client.set_option(fd, Name::RemoteUdpPort, 9000).unwrap();
    assert_eq!(client.connect(fd, now, SERVER), Err(Errno::EINPROGRESS));
    assert!(talk(now, &mut server, &mut client).iter().all(in_udp));
    let accepted = server.accept(listener, now).unwrap();
    assert_eq!(server.option(accepted, Name::RemoteUdpPort), Ok(9001));
    assert_eq!(server.option(accepted, Name::MaxSegment), Ok(1460 - 8 - 12));

    client.write(fd, now, Data::Counted(20_000), SendFlags::default()).unwrap();
    assert!(talk(now, &mut server, &mut client).iter().all(in_udp));
    assert_eq!(server.read(accepted, 100_000), Ok(20_000));
    client.close(fd).unwrap();
    server.close(accepted).unwrap();
    assert!(talk(now, &mut server, &mut client).iter().all(in_udp));
    assert_eq!(client.count_in(State::TimeWait, true), 1);
    assert_eq!(client.count_in(State::TimeWait, false), 0, "no socket has it");
}

#[test]
fn the_port_of_udp_is_set_before_a_socket_is_used_and_where_the_host_has_one() {
    let mut host = host(0);
    let fd = host.socket();
    for value in [-1, 65_536] {
        assert_eq!(host.set_option(fd, Name::RemoteUdpPort, value), Err(Errno::EINVAL));
    }
    assert_eq!(host.set_option(fd, Name::RemoteUdpPort, 65_535), Ok(()));
    host.settings().udp.port = 0;
    assert_eq!(host.set_option(fd, Name::RemoteUdpPort, 1), Err(Errno::EINVAL));
    assert_eq!(host.set_option(fd, Name::RemoteUdpPort, 0), Ok(()));
    let listener = listening(&mut host);
    assert_eq!(host.set_option(listener, Name::RemoteUdpPort, 0), Err(Errno::EINVAL));
}

/// Of what is in IP and what is in another datagram, nothing reaches the connection.
#[test]
fn segments_that_come_another_way_are_refused_as_they_came() {
    let (mut server, mut client, now) = (host(0), host(1), Time::ZERO);
    listening(&mut server);
    let fd = client.socket();
    client.connect(fd, now, SERVER).unwrap_err();
    let syn = client.poll_transmit(now).unwrap();
    server.handle_input(now, &syn);
    let answer = server.poll_transmit(now).unwrap();
    client.handle_input(now, &answer);
    let ack = client.poll_transmit(now).unwrap();
    // The ACK in UDP, from a port of a connection that is in IP.
    let book = anabranch_wire::AddressBook::new();
    let wrapped = anabranch_wire::tcp::udp::wrap(ack.clone(), (9001, 9000), &book).unwrap();
    server.handle_input(now, &wrapped);
    let reset = server.poll_transmit(now).unwrap();
    assert!(in_udp(&reset));
    client.handle_input(now, &reset);
    assert_eq!(client.state(fd), Some(State::Established), "it is of no connection there");
    assert_eq!(server.count_in(State::SynReceived, true), 1);
    server.handle_input(now, &ack);
    assert_eq!(server.count_in(State::SynReceived, true), 0);
}

/// `sendto` connects, and takes what the send buffer holds; a write without a connection is
/// `ENOTCONN`, one without room `EAGAIN`.
#[test]
fn sendto_connects_and_its_data_waits_for_the_handshake() {
    let (mut server, mut client, now) = (host(0), host(1), Time::ZERO);
    let listener = listening(&mut server);
    let fd = client.socket();
    client.set_option(fd, Name::SendBuffer, 5000).unwrap();
    assert_eq!(client.option(fd, Name::SendBuffer), Ok(5000));
    assert_eq!(client.connect_and_write(fd, now, SERVER, Data::Counted(9000)), Ok(5000));
    let write =
        |client: &mut Sockets| client.write(fd, now, Data::Counted(10), SendFlags::default());
    assert_eq!(write(&mut client), Err(Errno::ENOTCONN));
    talk(now, &mut server, &mut client);
    let accepted = server.accept(listener, now).unwrap();
    assert_eq!(server.read(accepted, 100_000), Ok(5000));
    assert_eq!(write(&mut client), Ok(10));
    assert_eq!(client.connect_and_write(fd, now, SERVER, Data::Counted(1)), Err(Errno::EISCONN));
}

/// Linux says `EPIPE` after the peer's end; and keep-alives are on.
#[test]
fn a_reset_after_the_peers_end_is_a_reset() {
    let (mut server, mut client, now) = (host(0), host(1), Time::ZERO);
    let listener = listening(&mut server);
    let fd = client.socket();
    assert_eq!(client.option(fd, Name::KeepAlive), Ok(1));
    client.connect(fd, now, SERVER).unwrap_err();
    talk(now, &mut server, &mut client);
    let accepted = server.accept(listener, now).unwrap();
    server.shutdown(accepted, anabranch_socket::Shutdown::Write).unwrap();
    talk(now, &mut server, &mut client);
    server.drop_in(State::FinWait2);
    let later = now + Span::from_millis(1);
    talk(later, &mut server, &mut client);
    assert_eq!(client.option(fd, Name::Error), Ok(Errno::ECONNRESET.number() as i64));
}
