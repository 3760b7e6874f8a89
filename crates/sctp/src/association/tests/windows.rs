//! The congestion window of a path (RFC 9260 §7.2), where the standards differ or a sender is easily
//! too bold.

use super::*;
use std::cell::Cell;
use std::rc::Rc;

fn established<F: FnMut(Side, &Packet) -> Fate>(config: &Config, rule: F) -> Pair<Association, F> {
    let mut pair = pair(config, 1, rule);
    pair.drive(at_ms(1000));
    pair
}

/// Dates in milliseconds and octets of user data of the client's packets with data, from a date on.
fn sent<F: FnMut(Side, &Packet) -> Fate>(
    pair: &Pair<Association, F>,
    from_ms: u64,
) -> Vec<(u64, u64)> {
    let of = |l: &&anabranch_testkit::Line| {
        l.from == Side::Client && l.packet.payload_len() > 0 && l.sent >= at_ms(from_ms)
    };
    let line = |l: &anabranch_testkit::Line| (l.sent.as_millis(), l.packet.payload_len() as u64);
    pair.log.iter().filter(of).map(line).collect()
}

fn message(len: u32) -> Message {
    Message::new(0, Payload::virtual_of(len))
}

/// §7.2: the length of a chunk with its padding; RFC 4960 says nothing of it.
#[test]
fn padding_counts_in_what_is_outstanding() {
    for (config, size) in [(Config::rfc9260(), 20), (Config::rfc4960(), 17)] {
        let mut pair = established(&plain(config), deliver);
        pair.client.send(message(1)).unwrap();
        pair.flush();
        assert_eq!(pair.client.observe().in_flight, size);
    }
}

/// §7.2.1: 4404 octets over IPv4, 4344 over IPv6: three packets of 1468 octets, three of 1448.
#[test]
fn the_first_window_over_ipv6_is_three_packets() {
    for (ip_header, window) in [(20, 4404), (40, 4344)] {
        let config = Config { ip_header, max_burst: None, ..plain(Config::rfc9260()) };
        assert_eq!(config.initial_window(), window);
        let mut pair = established(&config, deliver);
        pair.client.write(10 * config.max_payload() as u64);
        pair.flush();
        assert_eq!(sent(&pair, 1000).len(), 3, "header of {ip_header}");
    }
}

/// §7.2.1, §7.2.3: until something that went to the address is acknowledged, one packet is in flight,
/// also where the window has room beside it. ns-2's module fills the window.
#[test]
fn after_a_timeout_one_packet_leaves_and_no_new_data() {
    for preset in ["rfc2960", "rfc4960", "rfc9260", "ns2"] {
        let config = plain(Config::preset(preset).unwrap());
        let mut pair = established(&config, drop_nth(&[1]));
        pair.client.send(message(100)).unwrap();
        let expiry = 1000 + config.rto.initial.as_millis();
        pair.drive(at_ms(expiry + 10));
        pair.client.send(message(1400)).unwrap();
        pair.client.send(message(1400)).unwrap();
        pair.drive(at_ms(expiry + 99));
        let beside = if preset == "ns2" { vec![(expiry + 10, 1400)] } else { vec![] };
        assert_eq!(sent(&pair, expiry), [vec![(expiry, 100)], beside].concat(), "{preset}");
        pair.drive(at_ms(20_000));
        assert!(pair.client.sender.is_dry());
    }
}

/// §7.2.3: the address that timed out waits, and a SACK for what another address brought lets nothing
/// more go there; ns-2's module takes any SACK.
#[test]
fn a_sack_for_another_path_lets_no_second_packet_go() {
    let down = Rc::new(Cell::new(true));
    let is_down = Rc::clone(&down);
    let rule = move |_: Side, packet: &Packet| {
        let first = packet.dst.0.is_multiple_of(2) && packet.src.0.is_multiple_of(2);
        match first && is_down.get() && packet.payload_len() > 0 {
            true => Fate::Drop,
            false => Fate::Deliver,
        }
    };
    let config = Config {
        destination: crate::Destination::AllAlternate,
        max_burst: None,
        ..plain(Config::rfc9260())
    };
    let mut pair = pair(&config, 2, rule);
    pair.drive(at_ms(1000));
    pair.client.write(20 * 1452);
    pair.drive(at_ms(2000));
    assert_eq!(pair.client.observe().timeouts, 1);
    pair.drive(at_ms(2900));
    // What was marked left on the alternate as its window allowed; new data one packet on the primary,
    // which is lost like the others.
    let on = |path: u32| {
        let of = |l: &&anabranch_testkit::Line| {
            l.from == Side::Client
                && l.packet.payload_len() > 0
                && l.packet.src.0 % 2 == path
                && l.sent >= at_ms(2000)
        };
        pair.log.iter().filter(of).count()
    };
    assert_eq!((on(0), on(1)), (1, 3));
}

/// §7.2.1 (and §1.7): what gap blocks acknowledge lets the window grow too; by RFC 4960 only a SACK
/// that advances the cumulative TSN does.
#[test]
fn gap_blocks_let_the_window_grow() {
    for (config, growth) in [(Config::rfc9260(), 2), (Config::rfc4960(), 0)] {
        let config = Config {
            initial_window: crate::InitialWindow::Mtus(8),
            window_unit: crate::WindowUnit::Chunk,
            max_burst: None,
            missing_reports: 3,
            ..plain(config)
        };
        let mut pair = established(&config, drop_nth(&[1]));
        pair.client.write(40 * 1452);
        let before = pair.client.observe().cwnd;
        pair.drive(at_ms(1099));
        // Two SACKs with a gap block, before the third report.
        for _ in 0..2 {
            pair.step(at_ms(1100));
        }
        pair.flush();
        assert_eq!(pair.client.observe().cwnd, before + growth * 1468);
    }
}

/// §7.2.1: before the first decay for rest ssthresh becomes cwnd; RFC 4960 leaves it.
#[test]
fn a_window_that_rests_remembers_what_it_was() {
    for (config, remembers) in [(Config::rfc9260(), true), (Config::rfc4960(), false)] {
        let config = Config {
            initial_window: crate::InitialWindow::Mtus(20),
            max_burst: None,
            ..plain(config)
        };
        let mut pair = established(&config, deliver);
        pair.client.write(1452);
        pair.drive(at_ms(1200));
        let before = pair.client.observe();
        let rto = before.rto.as_millis();
        pair.drive(at_ms(1000 + 2 * rto + 10));
        pair.client.write(1452);
        pair.flush();
        let after = pair.client.observe();
        assert_eq!(after.cwnd, before.cwnd / 4, "two RTOs");
        let expected = if remembers { before.cwnd } else { before.ssthresh };
        assert_eq!(after.ssthresh, expected);
    }
}

/// §7.2.1: what is sent again to an alternate that has rested finds a window that has decayed; ns-2's
/// finds it as it was.
#[test]
fn a_retransmission_wakes_an_alternate_that_has_rested() {
    for (preset, window) in [("rfc9260", 4 * 1468), ("ns2", 30_000)] {
        let config = Config {
            destination: crate::Destination::AllAlternate,
            initial_window: crate::InitialWindow::Mtus(20),
            max_burst: None,
            missing_reports: 3,
            ..plain(Config::preset(preset).unwrap())
        };
        let mut pair = pair(&config, 2, drop_nth(&[1, 12]));
        pair.drive(at_ms(1000));
        for at in [1000, 60_000] {
            pair.drive(at_ms(at));
            pair.client.write(10 * 1452);
        }
        pair.drive(at_ms(60_900));
        assert_eq!(pair.client.observe().retransmitted_packets, 2);
        let alternate = pair.client.observe_paths().nth(1).unwrap();
        assert_eq!(alternate.cwnd, window, "{preset}");
    }
}

/// §6.1 A: probes of a closed window do not affect cwnd, however often they go.
#[test]
fn probes_of_a_closed_window_leave_the_congestion_window_alone() {
    let config =
        Config { receive_buffer: 10_000, rest_sets_ssthresh: false, ..plain(Config::rfc9260()) };
    let mut pair = established(&config, deliver);
    pair.client.write(30_000);
    run(&mut pair, at_ms(1600));
    let before = pair.client.observe();
    run(&mut pair, at_ms(30_000)); // nobody reads
    let after = pair.client.observe();
    assert!(after.timeouts >= 3, "it probes: {}", after.timeouts);
    assert_eq!(after.ssthresh, before.ssthresh);
    assert!(after.cwnd >= before.cwnd.min(4 * 1468), "{} after {}", after.cwnd, before.cwnd);
    pair.drive(at_ms(90_000));
    assert_eq!(pair.client.observe().bytes_acked, 30_000);
}

/// §7.2.4 rule 3: one packet of a recovery leaves beyond the window. Eight of 20 packets are lost, so
/// that SACKs go on finding more of them missing.
#[test]
fn one_packet_of_a_recovery_ignores_the_window() {
    let config = Config {
        initial_window: crate::InitialWindow::Mtus(20),
        max_burst: None,
        ..plain(Config::rfc9260())
    };
    let lost: Vec<u32> = (1..=8).map(|n| 2 * n).collect();
    let mut pair = established(&config, drop_nth(&lost));
    pair.client.write(20 * 1452);
    pair.drive(at_ms(1099));
    let mut beyond = 0;
    while pair.step(at_ms(1100)) {
        let before = pair.client.observe();
        let count = pair.log.len();
        pair.flush();
        let data = pair.log[count..].iter().filter(|l| l.packet.payload_len() > 0).count() as u64;
        if data > 0 && before.in_flight >= before.cwnd {
            beyond += data;
        }
    }
    assert!(beyond <= 1, "{beyond} packets left beyond the window");
    pair.drive(at_ms(20_000));
    assert_eq!(pair.client.observe().bytes_acked, 20 * 1452);
}

/// §6.1, §7.2.4 rule 4: T3-rtx starts anew when the first chunk that is outstanding at its address is
/// sent again, also where another address has an earlier one.
#[test]
fn the_first_chunk_of_an_address_restarts_its_timer() {
    let concurrent = Some(crate::Concurrent::default());
    let config = Config {
        concurrent,
        destination: crate::Destination::AllSame,
        max_burst: None,
        initial_window: crate::InitialWindow::Mtus(10),
        ..plain(Config::rfc9260())
    };
    // The first path's packets are late; of the second's the first is lost.
    let mut n = 0;
    let rule = move |side, packet: &Packet| {
        let data = side == Side::Client && packet.payload_len() > 0;
        match data && packet.src.0 % 2 == 1 {
            true => {
                n += 1;
                if n == 1 { Fate::Drop } else { Fate::Deliver }
            }
            false if data => Fate::Delay(Span::from_millis(300)),
            false => Fate::Deliver,
        }
    };
    let mut pair = pair(&config, 2, rule);
    pair.drive(at_ms(1000));
    pair.client.write(12 * 1452);
    pair.drive(at_ms(1150));
    let again = pair.client.observe_paths().nth(1).unwrap();
    assert_eq!(again.retransmitted, 1, "sent again at 1100");
    assert_eq!(pair.client.paths[1].t3.deadline(), at_ms(1100) + again.rto);
}
