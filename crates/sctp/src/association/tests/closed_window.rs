//! Receive windows that take little or nothing (RFC 9260 §6.1 A, §6.2).

use super::*;

fn established<F: FnMut(Side, &Packet) -> Fate>(config: &Config, rule: F) -> Pair<Association, F> {
    let mut pair = pair(config, 1, rule);
    pair.drive(at_ms(1000));
    pair
}

/// The lines with data of the client's, and what it was told of the window.
fn sent<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Association, F>) -> Vec<String> {
    trace(pair, 1000).into_iter().filter(|line| line.contains('>')).collect()
}

fn windows<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Association, F>) -> Vec<u32> {
    let chunks = pair.log.iter().flat_map(|line| sctp(&line.packet).chunks.iter());
    let window = |chunk: &Chunk| match chunk {
        Chunk::Sack(sack) => Some(sack.a_rwnd),
        _ => None,
    };
    chunks.filter_map(window).collect()
}

/// §6.1 A: the first probe leaves an RTO after the window was found closed, and comes again in
/// intervals that double. That nothing of it is acknowledged is no error while SACKs come.
#[test]
fn a_closed_window_is_probed_and_no_failure() {
    for octets in [10_000, 9_900] {
        // Six packets fill 8712 octets; what is left takes no seventh.
        let config = Config { receive_buffer: octets, ..plain(Config::rfc9260()) };
        let mut pair = established(&config, deliver);
        pair.client.write(30_000);
        run(&mut pair, at_ms(2_000_000));
        let probes: Vec<_> =
            sent(&pair).into_iter().filter(|line| line.ends_with("DATA 7")).collect();
        let dates = ["2200", "3200", "5200", "9200", "17200", "33200", "65200", "125200"];
        let expected = dates.map(|date| format!("{date} > DATA 7"));
        assert_eq!(probes[..8], expected, "{octets}");
        let errors: u32 = pair.client.observe_paths().map(|path| path.errors).sum();
        assert_eq!((pair.client.state(), errors), (State::Established, 0));
        pair.drive(at_ms(2_200_000));
        assert_eq!(pair.client.observe().bytes_acked, 30_000);
    }
}

/// §6.1 A, §8.1: a chunk that left while the window took it is no probe. That it is lost is an error,
/// and halves the threshold; sent again into a window that has closed since it is one, and neither
/// counts any more.
#[test]
fn a_chunk_becomes_a_probe_when_it_is_sent_again() {
    let mut pair = established(&plain(Config::rfc9260()), |side, packet| {
        match side == Side::Client && packet.payload_len() > 0 {
            true => Fate::Drop,
            false => Fate::Deliver,
        }
    });
    pair.client.write(1452);
    // From 1500 ms on SACKs say that there is no room.
    let close = |pair: &mut Pair<Association, _>, ms| {
        run(pair, at_ms(ms));
        let cum_tsn = pair.client.sender.origin;
        let (gaps, duplicates) = (Vec::new(), Vec::new());
        let sack =
            anabranch_wire::sctp::SackChunk { cum_tsn, a_rwnd: 0, gaps, packets: 0, duplicates };
        let packet = super::states::to_client(&pair.client, Chunk::Sack(sack));
        pair.client.handle_input(at_ms(ms), &packet);
        let path = &pair.client.paths[0];
        (path.errors, path.window.cwnd(), path.window.ssthresh(), pair.client.sender.is_probing(0))
    };
    let initial = pair.client.paths[0].window.ssthresh();
    assert_eq!(close(&mut pair, 1500), (0, 4404, initial, false), "not sent again");
    let floor = 4 * 1468;
    assert_eq!(close(&mut pair, 2500), (1, 1468, floor, true), "T3 at 2 s: a loss");
    pair.client.paths[0].window.on_undo();
    let spared = pair.client.paths[0].window.ssthresh();
    assert_ne!(spared, floor);
    assert_eq!(close(&mut pair, 4500), (1, 4404, spared, true), "at 4 s: a probe");
    assert_eq!(close(&mut pair, 8500), (1, 4404, spared, true), "at 8 s");
    // Nobody says anything any more: it is an error again.
    run(&mut pair, at_ms(40_000));
    assert!(pair.client.paths[0].errors > 1);
}

/// §6.1 A: without SACKs a probe that is not answered is an error like any other.
#[test]
fn a_closed_window_does_not_hide_a_dead_peer() {
    let config = Config { receive_buffer: 10_000, ..plain(Config::rfc9260()) };
    let dead = std::rc::Rc::new(std::cell::Cell::new(false));
    let is_dead = dead.clone();
    let drop = move |_: Side, _: &Packet| if is_dead.get() { Fate::Drop } else { Fate::Deliver };
    let mut pair = established(&config, drop);
    pair.client.write(30_000);
    run(&mut pair, at_ms(4000));
    dead.set(true);
    run(&mut pair, at_ms(2_000_000));
    assert_eq!(pair.client.state(), State::Closed);
}

/// RFC 1122 §4.2.3.4: a window of less than a packet and less than half of what it was takes no
/// small messages while more wait than it takes; what waits in all may go.
#[test]
fn small_messages_do_not_trickle_into_a_small_window() {
    let config = Config { receive_buffer: 10_000, ..plain(Config::rfc9260()) };
    let mut pair = established(&config, deliver);
    let message = |len| Message::new(1, Payload::virtual_of(len));
    for _ in 0..6 {
        pair.client.send(message(1452)).unwrap();
    }
    run(&mut pair, at_ms(1500));
    assert_eq!(pair.client.peer_window(), 10_000 - 6 * 1452);
    for _ in 0..20 {
        pair.client.send(message(100)).unwrap();
    }
    run(&mut pair, at_ms(1600));
    let before = pair.client.sender.flight.chunks.len();
    assert_eq!(before, 0, "1288 octets take 12 messages, but 20 wait");
    while pair.server.receive().is_some() {}
    run(&mut pair, at_ms(3000));
    assert_eq!(pair.client.sender.outgoing.unsent(), 0);
    // All that waits fits: it leaves.
    let mut pair = established(&config, deliver);
    (0..6).for_each(|_| pair.client.send(message(1452)).unwrap());
    run(&mut pair, at_ms(1500));
    pair.client.send(message(1000)).unwrap();
    assert!(pair.client.poll_transmit(at_ms(1500)).is_some());
}

/// RFC 1122 §4.2.3.3: a window that is small does not open octet by octet.
#[test]
fn a_small_window_does_not_open_by_little() {
    let config = Config { receive_buffer: 10_000, ..plain(Config::rfc9260()) };
    let mut pair = established(&config, deliver);
    let message = |len| Message::new(1, Payload::virtual_of(len));
    (0..9).for_each(|_| pair.client.send(message(1000)).unwrap());
    run(&mut pair, at_ms(1500));
    assert_eq!(windows(&pair).last(), Some(&1000));
    // 100 octets at a time are read while data goes on.
    let told = |pair: &mut Pair<Association, _>, from: u64| {
        pair.server.read(100);
        pair.client.send(message(50)).unwrap();
        run(pair, at_ms(from));
        windows(pair).last().copied()
    };
    assert_eq!(told(&mut pair, 2000), Some(950), "not 1050");
    assert_eq!(told(&mut pair, 2500), Some(900));
    // A packet's worth more is told.
    pair.server.read(1500);
    assert_eq!(told(&mut pair, 3000), Some(10_000 - 9 * 1000 - 150 + 1800));
}

/// FreeBSD probes as soon as nothing is outstanding; later probes are those of T3-rtx.
#[test]
fn a_window_may_be_probed_at_once() {
    let config = Config { receive_buffer: 10_000, prompt_probes: true, ..plain(Config::rfc9260()) };
    let mut pair = established(&config, deliver);
    pair.client.write(30_000);
    run(&mut pair, at_ms(10_000));
    let probes: Vec<_> = sent(&pair).into_iter().filter(|line| line.ends_with("DATA 7")).collect();
    assert_eq!(probes, ["1200 > DATA 7", "2200 > DATA 7", "4200 > DATA 7", "8200 > DATA 7"]);
}
