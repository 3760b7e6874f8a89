//! A connection that carries a part of a stream.

use super::*;

fn sack() -> Config {
    classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false })
}

/// Payload lengths of the client's data segments, by time of sending.
fn lengths<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Connection, F>) -> Vec<(u64, Vec<u32>)> {
    let mut all: Vec<(u64, Vec<u32>)> = Vec::new();
    for line in pair.log.iter().filter(|l| l.from == Side::Client) {
        let (ms, len) = (line.sent.as_millis(), line.packet.payload_len());
        match all.last_mut() {
            _ if len == 0 => {}
            Some((at, list)) if *at == ms => list.push(len),
            _ => all.push((ms, vec![len])),
        }
    }
    all
}

#[test]
fn no_segment_crosses_a_cut_however_often_it_is_sent() {
    for (drops, again) in [
        (&[1, 2, 3][..], vec![(1400, vec![600]), (1600, vec![600, 1000])]),
        (&[2], vec![(1400, vec![600])]),
    ] {
        let mut pair = pair(&sack(), drop_nth(drops));
        pair.drive(at_ms(300));
        for len in [600, 600, 1000] {
            pair.client.write(len);
            pair.client.cut();
        }
        pair.drive(at_ms(3000));
        let sent = lengths(&pair);
        assert_eq!(sent[0].1, [600, 600, 1000]);
        assert_eq!(
            sent[1..].iter().map(|s| &s.1).collect::<Vec<_>>(),
            again.iter().map(|s| &s.1).collect::<Vec<_>>()
        );
        assert_eq!(pair.server.observe().bytes_received, 2200);
    }
}

/// The user writes a segment whenever one would leave: three in a window of
/// three, whatever window the peer advertises.
#[test]
fn a_part_takes_what_its_window_lets_leave() {
    let config = Config { receive_buffer: 2000, ..sack() };
    let mut pair = pair(&config, |_, _| Fate::Deliver);
    assert!(!pair.client.takes_more(Time::ZERO), "before the handshake");
    pair.drive(at_ms(300));
    pair.client.share_window();
    let mut taken = 0;
    while pair.client.takes_more(pair.now) {
        pair.client.write(1000);
        assert!(!pair.client.takes_more(pair.now), "what was written leaves first");
        assert!(pair.client.poll_transmit(pair.now).is_some());
        taken += 1;
    }
    assert_eq!((taken, pair.client.in_flight()), (3, 3000));
    assert_eq!(pair.client.outstanding(), (1, 3001));
}

/// What is offered with a poll is written if it leaves, and only then: three
/// segments in a window of three, as above.
#[test]
fn what_is_offered_is_written_when_it_leaves() {
    let mut pair = pair(&sack(), |_, _| Fate::Deliver);
    assert!(!pair.client.awaits_data(), "before the handshake");
    pair.drive(at_ms(300));
    pair.client.share_window();
    pair.client.set_waiting(true);
    for n in 1..=3 {
        assert!(pair.client.awaits_data());
        let packet = pair.client.poll_transmit_with(pair.now, 1000);
        assert!(packet.is_some_and(|packet| packet.payload_len() == 1000), "segment {n}");
        assert_eq!(pair.client.outstanding(), (1, 1 + 1000 * n));
    }
    assert!(pair.client.poll_transmit_with(pair.now, 1000).is_none(), "the window is full");
    assert_eq!(pair.client.outstanding(), (1, 3001));
    pair.client.ask_for_ack();
    assert!(!pair.client.awaits_data(), "an ACK leaves first, alone");
    assert!(pair.client.poll_transmit(pair.now).is_some_and(|packet| packet.payload_len() == 0));
    pair.client.write(500);
    assert!(!pair.client.awaits_data(), "what was written leaves first");
}

/// What few connections need costs a part of a stream nothing.
#[test]
fn a_part_alone_is_nothing_special() {
    let mut extras = Extras::default();
    extras.subflow_mut().waiting = true;
    assert!(extras.some().is_none() && extras.subflow().is_some_and(|subflow| subflow.waiting));
    extras.get().hold.more = true;
    assert!(extras.some().is_some_and(|extras| extras.hold.more));
}

/// RFC 7661 §4.1: a window that was not used does not grow; but it was used
/// when the whole had more to send.
#[test]
fn the_window_grows_where_the_whole_waits() {
    for (waiting, cwnd) in [(false, 3000), (true, 6000)] {
        let mut pair = pair(&sack(), |_, _| Fate::Deliver);
        pair.drive(at_ms(300));
        pair.client.share_window();
        for _ in 0..3 {
            pair.client.write(1000);
            pair.flush();
        }
        pair.client.set_waiting(waiting);
        pair.drive(at_ms(600));
        assert_eq!(pair.client.observe().cwnd, cwnd, "waiting: {waiting}");
    }
}

/// RFC 6691: what every segment carries beside the payload is not payload, and
/// a handshake that begins again does not forget it.
#[test]
fn reserved_options_shorten_every_segment() {
    let (mut client, mut server) = ends(&sack());
    client.reserve_options(20);
    server.reserve_options(28);
    let mut pair = Pair::new(client, server, LATENCY, |_, _| Fate::Deliver);
    pair.client.connect(Time::ZERO);
    pair.drive(at_ms(300));
    assert_eq!((pair.client.mss(), pair.server.mss()), (980, 972));
    let mut extras = Extras::default();
    extras.subflow_mut().reserved = 12;
    extras.subflow_mut().reserved_first = 4;
    extras.subflow_mut().waiting = true;
    extras.restart();
    let subflow = extras.subflow_mut();
    assert_eq!((subflow.reserved, subflow.reserved_first, subflow.waiting), (12, 4, false));
}

/// The segment with the first octet leaves its user more room, whenever it is sent, until
/// that is no longer needed.
#[test]
fn the_first_segment_is_shorter_as_long_as_its_user_says() {
    for (until, lengths) in [(9000, [990, 1000, 1000, 990]), (500, [990, 1000, 1000, 1000])] {
        let (mut client, server) = ends(&sack());
        client.reserve_first(10);
        let silent = |side, packet: &Packet| match side {
            Side::Client if packet.payload_len() > 0 => Fate::Drop,
            _ => Fate::Deliver,
        };
        let mut pair = Pair::new(client, server, LATENCY, silent);
        pair.client.connect(Time::ZERO);
        pair.drive(at_ms(300));
        pair.client.write(2990);
        pair.drive(at_ms(until));
        pair.client.reserve_first(0);
        pair.drive(at_ms(2500));
        let sent = pair.log.iter().filter(|line| line.from == Side::Client);
        let sent: Vec<_> = sent.map(|line| line.packet.payload_len()).filter(|n| *n > 0).collect();
        assert_eq!(sent[..4], lengths, "{sent:?}");
    }
}

/// RFC 9293 §3.8.4: a keep-alive makes the peer answer.
#[test]
fn a_peer_is_asked_for_an_ack() {
    let mut pair = pair(&sack(), |_, _| Fate::Deliver);
    pair.drive(at_ms(300));
    pair.client.ask_peer_for_ack();
    pair.server.ask_for_ack();
    pair.drive(at_ms(600));
    assert_eq!(trace(&pair, 300), ["300 > . 0:0 1", "300 < . 1:0 1", "400 < . 1:0 1"]);
}

/// Octets come out as they came: counted or real.
#[test]
fn what_arrives_is_handed_on_as_it_is() {
    let mut pair = pair(&sack(), |_, _| Fate::Deliver);
    pair.drive(at_ms(300));
    pair.client.write_octets(b"anabranch");
    while pair.server.readable() < 9 {
        assert!(pair.step(at_ms(600)));
    }
    assert_eq!(pair.server.read_payload(3).octets(), Some(&b"ana"[..]));
    assert_eq!(pair.server.read_payload(100).octets(), Some(&b"branch"[..]));
    assert_eq!(pair.server.read_offset(), 10);
}
