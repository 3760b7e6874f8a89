//! Max.Burst (RFC 9260 §6.1 D), and what it and rare SACKs do to each other.

use super::*;

/// Dates and numbers of packets with data that the client sent, from a date on.
fn bursts(config: &Config, packets: u64, from_ms: u64) -> (Vec<(u64, usize)>, u64) {
    let mut pair = pair(config, 1, deliver);
    pair.drive(at_ms(1000));
    pair.client.write(packets * config.max_payload() as u64);
    pair.drive(at_ms(60_000));
    assert_eq!(pair.server.observe().bytes_received, packets * config.max_payload() as u64);
    let mut bursts: Vec<(u64, usize)> = Vec::new();
    for line in pair.log.iter().filter(|l| l.from == Side::Client && l.packet.payload_len() > 0) {
        let ms = line.sent.as_millis();
        match bursts.last_mut() {
            Some((last, n)) if *last == ms => *n += 1,
            _ => bursts.push((ms, 1)),
        }
    }
    bursts.retain(|(ms, _)| *ms >= from_ms);
    (bursts, pair.client.observe().cwnd)
}

/// A window of 20 MTUs and nothing outstanding: an event releases four of the largest DATA chunks (by
/// RFC 4960 four MTUs, which are five packets, since a packet leaves while less is outstanding). The window is then what it was (RFC 8540 §3.31), or
/// what the burst has left of it.
#[test]
fn a_burst_is_cut_and_the_window_kept_or_not() {
    for (burst_keeps_window, expected, cwnd) in [
        // The SACK of each of 4 packets makes room for 4 more above what is still outstanding.
        (true, vec![(1000, 4), (1100, 16)], 30_000),
        // Four, and slow start from there.
        (false, vec![(1000, 4), (1100, 8), (1200, 8)], 19_084),
    ] {
        let config = Config {
            initial_window: crate::InitialWindow::Mtus(20),
            burst_keeps_window,
            ..plain(Config::rfc9260())
        };
        assert_eq!(bursts(&config, 20, 1000), (expected, cwnd), "{burst_keeps_window}");
    }
}

/// RFC 4960 §6.1 D sets cwnd to what a burst may be; RFC 9260 §6.1 D says of the same formula that cwnd
/// SHOULD NOT be changed permanently: the twenty packets have left after one round trip.
#[test]
fn each_preset_treats_the_window_as_its_document_does() {
    for (name, keeps) in [("rfc2960", false), ("rfc4960", false), ("rfc9260", true)] {
        let preset = Config::preset(name).unwrap();
        assert_eq!((preset.max_burst, preset.burst_keeps_window), (Some(4), keeps), "{name}");
        let config = Config { initial_window: crate::InitialWindow::Mtus(20), ..plain(preset) };
        let (sent, cwnd) = bursts(&config, 20, 1000);
        assert_eq!((sent.len() == 2, cwnd == 30_000), (keeps, keeps), "{name}: {sent:?} {cwnd}");
    }
}

/// A receiver that acknowledges every eighth packet never has eight of a window that Max.Burst has
/// lowered to four: each four wait for its delay, 200 ms, and a round trip of 100 ms, for ever. A
/// window that is kept grows until SACKs of eight meet it, and then three bursts leave between two
/// expiries of the delay. Without Max.Burst nothing is held up.
#[test]
fn sacks_that_are_rarer_than_bursts_hold_up_a_window_that_bursts_lower() {
    let rare = |burst_keeps_window| Config {
        sack_frequency: 8,
        burst_keeps_window,
        ..plain(Config::rfc9260())
    };
    let (lowered, cwnd) = bursts(&rare(false), 640, 1300);
    let expected: Vec<_> = (0..100).map(|n| (1300 + 300 * n, 4)).collect();
    assert_eq!((&lowered[..100], cwnd), (&expected[..], 4 * 1468));
    let (kept, _) = bursts(&rare(true), 640, 5000);
    for three in kept[..120].chunks(3) {
        let (ms, packets) = (three[0].0, three.iter().map(|burst| burst.1).sum::<usize>());
        assert_eq!((three[2].0 - ms, packets), (150, 12), "{three:?}");
        assert_eq!((ms - kept[0].0) % 400, 0, "{three:?}");
    }
    let (free, cwnd) = bursts(&Config { max_burst: None, ..rare(true) }, 640, 8000);
    assert!(free.is_empty() && cwnd > 64 * 1468, "{free:?} {cwnd}");
    // Nor is it for longer than a round trip where the end of each burst asks for its SACK (RFC 7053).
    let immediate_sacks = Some(crate::ImmediateSacks::default());
    let (asked, _) = bursts(&Config { immediate_sacks, ..rare(false) }, 640, 1300);
    assert!(asked.windows(2).all(|two| two[1].0 - two[0].0 <= 100), "{asked:?}");
}
