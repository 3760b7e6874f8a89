//! What ns-2's module does at losses and the RFCs do not ([`Ns2Rules`]), rule by rule.

use super::*;
use crate::config::{Ns2Rules, WindowUnit};

const NONE: Ns2Rules = Ns2Rules {
    recovery_point: false,
    marked_outstanding: false,
    one_packet: false,
    init_to_primary: false,
    remembers_highest: false,
    timeout_stops_all: false,
    repair_finds_rest: false,
};

fn config(rules: Ns2Rules) -> Config {
    Config {
        ns2_rules: Some(rules),
        initial_window: crate::InitialWindow::Mtus(12),
        max_burst: None,
        growth_needs_advance: true,
        ..plain(Config::rfc9260())
    }
}

/// The client's data packets from a date on: `date: TSNs`, one entry a date.
fn sent(config: &Config, packets: u64, lost: &[u32], until_ms: u64) -> Vec<String> {
    let mut pair = pair(config, 1, drop_nth(lost));
    pair.drive(at_ms(1000));
    pair.client.write(packets * 1452);
    pair.drive(at_ms(until_ms));
    let mut rounds: Vec<(String, Vec<String>)> = Vec::new();
    for line in trace(&pair, 1000).iter().filter(|line| line.contains("> DATA")) {
        let words: Vec<&str> = line.split(' ').collect();
        let tsn = words[3].to_owned() + if line.ends_with('x') { "x" } else { "" };
        match rounds.last_mut() {
            Some((date, tsns)) if *date == words[0] => tsns.push(tsn),
            _ => rounds.push((words[0].to_owned(), vec![tsn])),
        }
    }
    rounds.into_iter().map(|(date, tsns)| format!("{date}: {}", tsns.join(" "))).collect()
}

/// The least window after a loss is four chunks: four packets leave, since one leaves while less is
/// outstanding (RFC 9260 §6.1 B, §7.2.3); four MTUs are five packets (RFC 4960).
#[test]
fn a_window_of_four_mtus_is_five_packets() {
    for (window_unit, second, third) in [
        (WindowUnit::Mtu, "1100: 8 9 1 10 11", "1200: 12 13 14 15 16 17"),
        (WindowUnit::Chunk, "1100: 8 9 1 10", "1200: 11 12 13 14 15"),
    ] {
        let initial_window = crate::InitialWindow::Mtus(6);
        let config = Config { window_unit, initial_window, ..config(NONE) };
        let sent = sent(&config, 40, &[1], 1500);
        assert_eq!(sent[..3], ["1000: 1x 2 3 4 5 6 7", second, third]);
    }
}

/// Four chunks are lost twice: the timer expires in a fast recovery that ends with the 13th. With one
/// recovery point slow start waits for that, and one packet leaves a round trip.
#[test]
fn a_timeout_ends_the_recovery_or_not() {
    let lost = [2, 3, 4, 5, 14, 15, 16, 17];
    for (recovery_point, after) in [
        (false, vec!["2100: 2", "2200: 3 4", "2300: 5"]),
        (true, vec!["2100: 2", "2200: 3", "2300: 4", "2400: 5"]),
    ] {
        let sent = sent(&config(Ns2Rules { recovery_point, ..NONE }), 13, &lost, 3000);
        let before = ["1000: 1 2x 3x 4x 5x 6 7 8 9 10 11 12 13", "1100: 2x 3x 4x 5x"];
        assert_eq!(sent, [&before[..], &after].concat());
    }
}

/// The third report finds two chunks missing: both leave, or the second with the next SACK.
#[test]
fn a_sack_that_finds_losses_lets_one_packet_leave_or_a_window() {
    for (one_packet, after) in [(false, vec!["1100: 2 3"]), (true, vec!["1100: 2", "1200: 3"])] {
        let sent = sent(&config(Ns2Rules { one_packet, ..NONE }), 6, &[2, 3], 1400);
        assert_eq!(sent, [&["1000: 1 2x 3x 4 5 6"][..], &after].concat());
    }
}

/// INIT is lost on its way to the primary address.
#[test]
fn a_lost_init_goes_to_the_next_address_or_the_primary_again() {
    for (init_to_primary, expected) in [(false, "1000 >' INIT"), (true, "1000 > INIT")] {
        let mut first = true;
        let config = config(Ns2Rules { init_to_primary, ..NONE });
        let (c, s) = ((&CLIENT[..2], 1000), (&SERVER[..2], 2000));
        let seed = Seed::default();
        let client = Association::client(config.clone(), c, s, seed.generator("client"));
        let server = Association::server(config, s, c, seed.generator("server"));
        let lose = move |_, _: &Packet| match std::mem::take(&mut first) {
            true => Fate::Drop,
            false => Fate::Deliver,
        };
        let mut pair = Pair::new(client, server, LATENCY, lose);
        pair.client.connect(Time::ZERO);
        pair.drive(at_ms(1500));
        assert_eq!(trace(&pair, 900)[0], expected);
    }
}

#[test]
fn the_preset_has_all_of_them() {
    let ns2 = Config::ns2();
    assert_eq!(ns2.ns2_rules, Some(Ns2Rules::default()));
    assert_eq!((ns2.window_unit, ns2.missing_reports), (WindowUnit::Chunk, 4));
    for name in ["rfc2960", "rfc4960", "rfc9260"] {
        assert_eq!(Config::preset(name).unwrap().ns2_rules, None);
    }
}
