//! Rounds of slow start beside the closed form (validation.md, C6 and T11).

use super::*;
use anabranch_testkit::marks::record;

/// Rounds that `packets` full packets take from the cookie on: the number of
/// different dates on which data leaves.
fn measured(config: &Config, packets: u64) -> usize {
    let mut pair = pair(config, 1, deliver);
    pair.drive(at_ms(1000));
    pair.client.write(packets * config.max_payload() as u64);
    pair.drive(at_ms(60_000));
    let mut dates: Vec<Time> = pair
        .log
        .iter()
        .filter(|l| l.from == Side::Client && l.packet.payload_len() > 0)
        .map(|l| l.sent)
        .collect();
    assert_eq!(dates.len() as u64, packets);
    dates.dedup();
    dates.len()
}

/// T11: n = ceil(log2(N / w + 1)) with a window of w packets at first; a SACK
/// for each packet, so that the window doubles.
fn expected(initial: u64, packets: u64) -> usize {
    (1..).find(|n| initial * ((1_u64 << n) - 1) >= packets).unwrap() as usize
}

#[test]
fn each_preset_takes_the_rounds_of_the_closed_form() {
    for name in crate::PRESETS {
        let config = plain(Config::preset(name).unwrap());
        let chunk = config.max_chunk() as u64;
        // A packet leaves while less than the window is outstanding, so that
        // the window is rounded up (§6.1 B).
        let initial = config.initial_window().div_ceil(chunk);
        assert_eq!(initial, 3, "{name}: 3000, 4380 and 4404 octets are three packets");
        for packets in [1, 2, 3, 4, 9, 10, 21, 22, 45, 46, 93, 94] {
            let n = measured(&config, packets);
            assert_eq!(n, expected(initial, packets), "{name}, {packets} packets");
            if packets == 46 {
                let what = format!("rounds of 46 packets, SCTP {name}");
                record("C6", &what, expected(initial, packets), n, "exact");
            }
        }
    }
}

#[test]
fn the_initial_window_decides_the_rounds() {
    for mtus in [1, 2, 3, 4, 10] {
        let config =
            Config { initial_window: crate::InitialWindow::Mtus(mtus), ..plain(Config::rfc9260()) };
        let initial = config.initial_window().div_ceil(config.max_chunk() as u64);
        for packets in [5, 20, 50] {
            // Max.Burst does not limit a window that each SACK uses up, but
            // it does limit the first.
            let config = Config { max_burst: None, ..config.clone() };
            assert_eq!(measured(&config, packets), expected(initial, packets), "{mtus} {packets}");
        }
    }
}
