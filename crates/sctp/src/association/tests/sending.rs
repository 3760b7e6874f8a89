//! Data, SACKs, windows, loss on one path (RFC 9260 §6, §7).

use super::*;
use anabranch_wire::sctp::DataFlags;

fn established<F: FnMut(Side, &Packet) -> Fate>(config: &Config, rule: F) -> Pair<Association, F> {
    let mut pair = pair(config, 1, rule);
    pair.drive(at_ms(1000));
    pair
}

/// §5.1: the first packet at once; §6.2: every second, or after 200 ms.
#[test]
fn a_sack_for_the_first_packet_for_every_second_or_after_the_delay() {
    let config = Config { sack_frequency: 2, ..plain(Config::rfc9260()) };
    let mut pair = established(&config, deliver);
    pair.client.write(3 * 1452);
    pair.drive(at_ms(2000));
    pair.client.write(1452);
    pair.drive(at_ms(3000));
    let sent = ["1000 > DATA 1", "1000 > DATA 2", "1000 > DATA 3"];
    let acked = ["1050 < SACK 1", "1050 < SACK 3"];
    let later = ["2000 > DATA 4", "2250 < SACK 4"];
    assert_eq!(trace(&pair, 1000), [&sent[..], &acked, &later].concat());
}

/// §9.2: a SHUTDOWN answers data, and a SACK goes with it only for what it cannot
/// say.
#[test]
fn while_shutting_down_a_shutdown_acknowledges() {
    let mut pair = established(&plain(Config::rfc9260()), deliver);
    pair.server.close();
    let _ = pair.server.poll_transmit(at_ms(1000)).expect("the first SHUTDOWN");
    let mut answer = |tsn: u32| {
        let data = Chunk::Data(anabranch_wire::sctp::DataChunk {
            flags: DataFlags::WHOLE,
            tsn: pair.client.sender.origin.add(tsn),
            stream: 1,
            ssn: tsn as u16 - 1,
            ppid: 0,
            payload: Payload::virtual_of(1),
        });
        let packet = from_client(&pair.client, pair.server.identity.local_tag, vec![data]);
        pair.server.handle_input(at_ms(1000), &packet);
        let answer = pair.server.poll_transmit(at_ms(1000)).expect("an answer");
        let kinds: Vec<u8> = sctp(&answer).chunks.iter().map(Chunk::kind).collect();
        kinds
    };
    assert_eq!(answer(1), [7], "SHUTDOWN");
    assert_eq!(answer(3), [7, 3], "SHUTDOWN and SACK with a gap");
    assert_eq!(answer(3), [7, 3], "and with a duplicate");
}

/// §6.2: at once with gaps and duplicates; RFC 7053: with the I bit.
#[test]
fn gaps_and_duplicates_are_reported_at_once() {
    let config = Config { sack_frequency: 2, ..plain(Config::rfc9260()) };
    let mut n = 0;
    let mut pair = established(&config, move |side, packet| {
        n += (side == Side::Client && packet.payload_len() > 0) as u32;
        match (side, n, packet.payload_len() > 0) {
            (Side::Client, 1, true) => Fate::Delay(Span::from_millis(10)),
            (Side::Client, 3, true) => Fate::Duplicate(Span::from_millis(20)),
            _ => Fate::Deliver,
        }
    });
    pair.client.write(3 * 1452);
    pair.drive(at_ms(2000));
    assert_eq!(
        trace(&pair, 1001),
        ["1050 < SACK 0 +2-2", "1050 < SACK 0 +2-3", "1070 < SACK 3 dup 3"]
    );
    let (client, server) = (&pair.client, &mut pair.server);
    let data = Chunk::Data(anabranch_wire::sctp::DataChunk {
        flags: DataFlags::WHOLE.union(DataFlags::IMMEDIATE),
        tsn: client.sender.origin.add(4),
        stream: 1,
        ssn: 0,
        ppid: 0,
        payload: Payload::virtual_of(1),
    });
    let packet = from_client(client, server.identity.local_tag, vec![data]);
    server.handle_input(at_ms(2000), &packet);
    assert!(server.poll_transmit(at_ms(2000)).is_some(), "the I bit asks for a SACK at once");
}

#[test]
fn small_messages_share_a_packet_and_large_ones_are_cut() {
    let mut pair = established(&plain(Config::rfc9260()), deliver);
    let message = |stream, len: usize| {
        let octets: Vec<u8> = (0..len).map(|i| (i * 7 + stream as usize) as u8).collect();
        (Message::new(stream, Payload::of_octets(octets.clone())), (stream, octets))
    };
    let all = [message(1, 100), message(2, 101), message(3, 4000), message(1, 3)];
    for (message, _) in &all {
        pair.client.send(message.clone()).unwrap();
    }
    run(&mut pair, at_ms(3000));
    assert_eq!(
        trace(&pair, 1000)[..3],
        ["1000 > DATA 1, DATA 2", "1000 > DATA 3", "1000 > DATA 4"],
    );
    let expected: Vec<_> = all.into_iter().map(|(_, expected)| expected).collect();
    assert_eq!(received(&mut pair.server), expected);
    for line in &pair.log {
        assert!(line.packet.wire_len().0 <= 1500);
    }
}

/// §6.6: one stream's loss holds up that stream alone.
#[test]
fn streams_do_not_wait_for_each_other() {
    let mut pair = established(&plain(Config::rfc9260()), drop_nth(&[1]));
    for (stream, unordered) in [(1, false), (2, false), (1, true), (1, false)] {
        let payload = Payload::of_octets(vec![stream as u8; 1400]);
        pair.client.send(Message { unordered, ..Message::new(stream, payload) }).unwrap();
    }
    run(&mut pair, at_ms(1080));
    let streams = |pair: &mut Association| -> Vec<u16> {
        received(pair).iter().map(|(stream, _)| *stream).collect()
    };
    assert_eq!(streams(&mut pair.server), [2, 1], "the unordered one too");
    run(&mut pair, at_ms(4000));
    assert_eq!(streams(&mut pair.server), [1, 1]);
}

/// §7.2.4: the third missing report (RFC 4960), the fourth (RFC 2960).
#[test]
fn the_third_or_fourth_report_causes_a_fast_retransmit() {
    for (config, reports) in [(Config::rfc9260(), 3), (Config::rfc2960(), 4)] {
        let config =
            Config { initial_window: crate::InitialWindow::Mtus(8), max_burst: None, ..config };
        let mut pair = established(&plain(config), drop_nth(&[1]));
        pair.client.write(6 * 1452);
        pair.drive(at_ms(1990));
        let again: Vec<String> =
            trace(&pair, 1001).into_iter().filter(|l| l.contains('>')).collect();
        // All SACKs come at 1100; with too few of them there is no repair.
        assert_eq!(again, ["1100 > DATA 1"]);
        assert_eq!(pair.client.observe().fast_retransmits, 1);
        // As many SACKs as reports came before it: with one packet fewer behind
        // the loss than reports are needed, T3 must do it.
        let mut few = established(
            &plain(Config {
                initial_window: crate::InitialWindow::Mtus(8),
                max_burst: None,
                ..match reports {
                    3 => Config::rfc9260(),
                    _ => Config::rfc2960(),
                }
            }),
            drop_nth(&[1]),
        );
        few.client.write(reports * 1452);
        few.drive(at_ms(9000));
        assert_eq!((few.client.observe().fast_retransmits, few.client.observe().timeouts), (0, 1));
        assert_eq!(few.client.observe().bytes_acked, reports * 1452);
    }
}

/// RFC 4960 §7.2.4: losses of one window reduce it once; RFC 2960 has no such
/// rule, and each group of losses reduces it again.
#[test]
fn fast_recovery_reduces_the_window_once() {
    let reductions = |config: Config| {
        let config = Config {
            initial_window: crate::InitialWindow::Mtus(20),
            max_burst: None,
            missing_reports: 3,
            highest_newly_acked: true,
            ..plain(config)
        };
        let mut pair = established(&config, drop_nth(&[1, 8]));
        pair.client.write(30 * 1452);
        pair.drive(at_ms(8000));
        assert_eq!(pair.client.observe().bytes_acked, 30 * 1452);
        assert_eq!(pair.client.observe().timeouts, 0);
        pair.client.observe().fast_retransmits
    };
    assert_eq!((reductions(Config::rfc4960()), reductions(Config::rfc2960())), (1, 2));
}

/// §7.2.3: half the window, at least the floor, and one retransmission that
/// ignores the window.
#[test]
fn a_fast_retransmit_halves_the_window() {
    let config = Config {
        initial_window: crate::InitialWindow::Mtus(20),
        max_burst: None,
        ..plain(Config::rfc4960())
    };
    let mut pair = established(&config, drop_nth(&[1]));
    pair.client.write(20 * 1452);
    pair.drive(at_ms(1120));
    let seen = pair.client.observe();
    // 30 000 and no growth: the cumulative TSN did not move.
    assert_eq!((seen.ssthresh, seen.cwnd), (15_000, 15_000));
    assert!(seen.in_recovery);
    pair.drive(at_ms(1300));
    assert!(!pair.client.observe().in_recovery, "left with the exit point");
}

/// §6.3.3: the timer's chunks are sent again from one MTU on; the RTO doubles.
#[test]
fn a_timeout_goes_back_to_one_packet() {
    let mut pair = established(&plain(Config::rfc4960()), drop_nth(&[1, 2, 3, 4]));
    pair.client.write(3 * 1452);
    pair.drive(at_ms(20_000));
    let sent: Vec<String> = trace(&pair, 1000).into_iter().filter(|l| l.contains('>')).collect();
    assert_eq!(
        sent,
        [
            "1000 > DATA 1 x",
            "1000 > DATA 2 x",
            "1000 > DATA 3 x",
            "4000 > DATA 1 x",
            "10000 > DATA 1",
            "10100 > DATA 2",
            "10100 > DATA 3",
        ]
    );
    assert_eq!(pair.client.observe().timeouts, 2);
}

/// Multiple fast retransmit (Caro et al.): the repair is lost too, and later
/// data tells of it; without the option only the timer does.
#[test]
fn a_lost_retransmission_is_repaired_again_with_the_option() {
    let timeouts = |multiple_fast_retransmit| {
        let config = Config {
            initial_window: crate::InitialWindow::Mtus(10),
            max_burst: None,
            multiple_fast_retransmit,
            ..plain(Config::rfc4960())
        };
        // Eleven packets, two more with the first two SACKs, and the 14th,
        // which is the first again.
        let mut pair = established(&config, drop_nth(&[1, 14]));
        pair.client.write(40 * 1452);
        pair.drive(at_ms(20_000));
        assert_eq!(pair.client.observe().bytes_acked, 40 * 1452);
        (pair.client.observe().timeouts, pair.client.observe().retransmitted_packets)
    };
    assert_eq!(timeouts(true), (0, 2));
    assert_eq!(timeouts(false).0, 1);
}

/// §6.1 A: a closed window stops data but for a probe; reading opens it.
#[test]
fn the_receive_window_is_respected_and_reopened() {
    let config = Config { receive_buffer: 10_000, ..plain(Config::rfc9260()) };
    let mut pair = established(&config, deliver);
    pair.client.write(30_000);
    // `drive` reads; nobody reads here.
    run(&mut pair, at_ms(30_000));
    assert!(pair.server.receiver.reassembly.octets() <= 10_000);
    assert_eq!(pair.client.state(), State::Established, "an open peer is no failure");
    pair.drive(at_ms(60_000));
    assert_eq!(pair.client.observe().bytes_acked, 30_000);
}

/// §6.2.1 D iii: what a receiver has dropped again is sent again.
#[test]
fn a_withdrawn_gap_block_is_outstanding_again() {
    let mut pair = established(&plain(Config::rfc9260()), |_, p| match p.payload_len() {
        0 => Fate::Deliver,
        _ => Fate::Drop,
    });
    pair.client.write(3 * 1452);
    pair.drive(at_ms(1010));
    let sack = |cum: u32, gaps: &[(u16, u16)]| {
        let gap = |g: &(u16, u16)| anabranch_wire::sctp::GapBlock { start: g.0, end: g.1 };
        Chunk::Sack(anabranch_wire::sctp::SackChunk {
            cum_tsn: pair.client.sender.origin.add(cum),
            a_rwnd: 100_000,
            gaps: gaps.iter().map(gap).collect(),
            packets: 0,
            duplicates: Vec::new(),
        })
    };
    let (with, without) = (sack(0, &[(2, 3)]), sack(0, &[]));
    let tag = pair.client.identity.local_tag;
    pair.client.handle_input(at_ms(1010), &from_server(tag, with));
    assert_eq!(pair.client.observe().in_flight, 1468);
    pair.client.handle_input(at_ms(1010), &from_server(tag, without));
    assert_eq!(pair.client.observe().in_flight, 3 * 1468);
}

/// The window algorithms of TCP work behind the same seam.
#[test]
fn a_shared_window_algorithm_drives_a_path() {
    for name in ["reno", "cubic", "bbr"] {
        let algorithm = anabranch_congestion::Algorithm::from_name(name).unwrap();
        let config =
            Config { window: crate::Window::Algorithm(algorithm), ..plain(Config::rfc9260()) };
        let mut pair = established(&config, drop_nth(&[20, 40]));
        pair.client.write(400 * 1452);
        pair.drive(at_ms(60_000));
        assert_eq!(pair.client.observe().bytes_acked, 400 * 1452, "{name}");
    }
}

#[test]
fn timestamps_sample_retransmissions() {
    let config = Config { timestamps: true, ..plain(Config::rfc4960()) };
    let mut pair = established(&config, drop_nth(&[1]));
    pair.client.write(1000);
    pair.drive(at_ms(4010));
    assert_eq!(pair.client.observe().timeouts, 1);
    assert_eq!(pair.client.observe().srtt, None);
    pair.drive(at_ms(5000));
    assert_eq!(pair.client.observe().srtt, Some(Span::from_millis(100)));
    // Karn's rule without them.
    let mut pair = established(&plain(Config::rfc4960()), drop_nth(&[1]));
    pair.client.write(1000);
    pair.drive(at_ms(5000));
    assert_eq!(pair.client.observe().srtt, None);
}

/// §6.4: a duplicate may mean that the way back is broken; with `vary_sack_path`
/// its SACK takes another. Without duplicates it goes where the data came from.
#[test]
fn a_sack_for_duplicates_may_take_another_way() {
    for vary_sack_path in [false, true] {
        let mut pair = pair(&Config { vary_sack_path, ..plain(Config::rfc9260()) }, 2, deliver);
        pair.drive(at_ms(1000));
        pair.client.write(100);
        let data = pair.client.poll_transmit(at_ms(1000)).unwrap();
        let other = if vary_sack_path { CLIENT[1] } else { CLIENT[0] };
        for (duplicates, expected) in [(0, CLIENT[0]), (1, other), (1, other)] {
            pair.server.handle_input(at_ms(1000), &data);
            let answer = pair.server.poll_transmit(at_ms(1000)).unwrap();
            let Some(Chunk::Sack(sack)) = sctp(&answer).chunks.first() else {
                panic!("{answer:?}");
            };
            assert_eq!((sack.duplicates.len(), answer.dst), (duplicates, expected));
        }
    }
}

/// §6.6 with RFC 1982 §3.2: a receiver cannot order stream sequence numbers that are 2^15 apart. The
/// first of 40,000 messages is lost; the window would let all others go before it comes again.
#[test]
fn half_of_the_stream_sequence_numbers_are_out_at_most() {
    for (interleaving, most) in [(false, 32_768), (true, 40_000)] {
        let config = Config {
            interleaving,
            message_size: Some(1),
            receive_buffer: 8_000_000,
            initial_window: crate::InitialWindow::Mtus(600),
            max_burst: None,
            ..plain(Config::rfc9260())
        };
        let mut pair = established(&config, drop_nth(&[1, 2]));
        pair.client.write(40_000);
        let (mut out, mut read) = (0, 0);
        while pair.step(at_ms(60_000)) {
            out = out.max(pair.client.sender.flight.chunks.len());
            read += pair.server.read(u64::MAX);
        }
        assert_eq!((out, read), (most, 40_000), "interleaving {interleaving}");
    }
}
