//! Concurrent multipath transfer and its three remedies (Iyengar et al. 2006
//! §III), one at a time.

use super::*;
use crate::Concurrent;

const NONE: Concurrent = Concurrent {
    split_fast_retransmit: false,
    window_update: false,
    delayed_ack: false,
    buffer_split: false,
};

fn config(concurrent: Concurrent) -> Config {
    Config {
        concurrent: Some(concurrent),
        destination: crate::Destination::AllSame,
        max_burst: None,
        ..plain(Config::rfc9260())
    }
}

/// The second path is slower by 40 ms; the n-th packets with data are lost.
fn unequal(lost: &[u32]) -> impl FnMut(Side, &Packet) -> Fate + use<> {
    let mut drop = drop_nth(lost);
    move |side, packet| match drop(side, packet) {
        Fate::Deliver if packet.src.0 % 2 == 1 => Fate::Delay(Span::from_millis(40)),
        fate => fate,
    }
}

fn transfer(
    config: &Config,
    octets: u64,
    lost: &[u32],
) -> Pair<Association, impl FnMut(Side, &Packet) -> Fate + use<>> {
    let mut pair = pair(config, 2, unequal(lost));
    pair.drive(at_ms(1000));
    pair.client.write(octets);
    pair.drive(at_ms(20_000));
    assert_eq!(pair.server.observe().bytes_received, octets);
    pair
}

#[test]
fn new_data_takes_all_paths_in_turn() {
    let pair = transfer(&config(Concurrent::default()), 6 * 1452, &[]);
    assert_eq!(
        trace(&pair, 1000)[..6],
        [
            "1000 > DATA 1",
            "1000 >' DATA 2",
            "1000 > DATA 3",
            "1000 >' DATA 4",
            "1000 > DATA 5",
            "1000 >' DATA 6",
        ]
    );
}

/// §III-A: reordering between the paths is no loss.
#[test]
fn split_fast_retransmit_prevents_spurious_ones() {
    for (split_fast_retransmit, spurious) in [(false, true), (true, false)] {
        let concurrent = Concurrent { split_fast_retransmit, ..NONE };
        let pair = transfer(&config(concurrent), 60 * 1452, &[]);
        let sent = pair.client.observe();
        assert_eq!(sent.fast_retransmits > 0, spurious, "{sent:?}");
        assert_eq!(sent.timeouts, 0);
    }
    // And a loss is still found, by reports of its own path.
    let concurrent = Concurrent { split_fast_retransmit: true, ..NONE };
    let pair = transfer(&config(concurrent), 60 * 1452, &[20]);
    let sent = pair.client.observe();
    assert_eq!((sent.fast_retransmits, sent.timeouts, sent.retransmitted_packets), (1, 0, 1));
}

/// §III-B: with the earliest chunk of all missing on the slow path, the fast
/// path's window would not grow where that needs the cumulative TSN to advance (RFC 4960); RFC 9260
/// does not ask for it.
#[test]
fn window_update_grows_each_window_by_its_own_data() {
    let window = |window_update, growth_needs_advance| {
        let concurrent = Concurrent { split_fast_retransmit: true, window_update, ..NONE };
        let config = Config { growth_needs_advance, ..config(concurrent) };
        let mut pair = pair(&config, 2, unequal(&[]));
        pair.drive(at_ms(1000));
        pair.client.write(300 * 1452);
        pair.drive(at_ms(1350));
        pair.client.observe_paths().next().unwrap().cwnd
    };
    let (without, with) = (window(false, true), window(true, true));
    assert!(with >= 3 * 4404, "doubled each round: {with}");
    assert!(without < with, "{without} {with}");
    assert_eq!((window(false, false), window(true, false)), (with, with));
}

/// §III-C: a SACK for two packets in spite of gaps, which says so; losses are
/// found as early as with a SACK for each.
#[test]
fn delayed_acknowledgments_count_their_packets() {
    let sacks = |delayed_ack| {
        let concurrent = Concurrent { delayed_ack, ..Concurrent::default() };
        let config = Config { sack_frequency: 2, ..config(concurrent) };
        let pair = transfer(&config, 100 * 1452, &[]);
        assert_eq!(pair.client.observe().retransmitted_packets, 0);
        let lines = pair.log.iter().filter(|l| sctp(&l.packet).is_pure_sack());
        lines.count()
    };
    let (each, second) = (sacks(false), sacks(true));
    assert!(second <= 56 && each >= 70, "{second} {each}");
    let concurrent = Concurrent::default();
    let config = Config {
        sack_frequency: 2,
        initial_window: crate::InitialWindow::Mtus(8),
        ..config(concurrent)
    };
    // Of eight packets on the first path the second is lost; three behind it
    // are in two SACKs.
    let mut pair = pair(&config, 2, |side, packet| match packet.src.0 % 2 {
        1 if side == Side::Client && packet.payload_len() > 0 => Fate::Delay(Span::from_secs(5)),
        _ => Fate::Deliver,
    });
    pair.drive(at_ms(1000));
    pair.client.write(1452);
    pair.drive(at_ms(2000));
    let count = |pair: &Pair<Association, _>| -> Vec<u8> {
        let packets = pair.log.iter().flat_map(|l| sctp(&l.packet).chunks.iter());
        packets
            .filter_map(|c| if let Chunk::Sack(s) = c { Some(s.packets) } else { None })
            .collect()
    };
    assert_eq!(count(&pair), [1], "one packet, after the delay");
    pair.client.write(8 * 1452);
    pair.drive(at_ms(2200));
    assert_eq!(count(&pair)[1..], [2, 2]);
}

/// Adhari et al.: no path takes more than its share of the buffer.
#[test]
fn a_split_buffer_keeps_room_for_the_other_path() {
    for buffer_split in [false, true] {
        let concurrent = Concurrent { buffer_split, ..Concurrent::default() };
        let config = Config {
            receive_buffer: 16 * 1452,
            initial_window: crate::InitialWindow::Mtus(14),
            ..config(concurrent)
        };
        let mut pair = pair(&config, 2, |side, packet| match packet.src.0 % 2 {
            0 if side == Side::Client && packet.payload_len() > 0 => Fate::Drop,
            _ => Fate::Deliver,
        });
        pair.drive(at_ms(1000));
        for _ in 0..200 {
            let message = Message::new(0, Payload::virtual_of(1452));
            pair.client.send(Message { unordered: true, ..message }).unwrap();
        }
        pair.drive(at_ms(1600));
        let flight = pair.client.observe_paths().next().unwrap().in_flight;
        // Without the split the dead path fills up what the other frees.
        assert_eq!(flight <= 8 * 1468, buffer_split, "{flight}");
    }
}

/// A path that fails leaves all data to the other.
#[test]
fn a_dead_path_is_left() {
    let config = Config { path_max_retrans: 0, ..config(Concurrent::default()) };
    let mut pair = pair(&config, 2, |_, packet| match packet.src.0 % 2 {
        1 if packet.payload_len() > 0 => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.drive(at_ms(1000));
    pair.client.write(200 * 1452);
    pair.drive(at_ms(8000));
    assert_eq!(pair.server.observe().bytes_received, 200 * 1452);
    assert_eq!(pair.client.observe_paths().nth(1).unwrap().state, PathState::Inactive);
}
