//! Reductions that turn out to be spurious (RFC 3522, RFC 3708).

use super::*;
use crate::UndoOptions;

const DUPLICATES: UndoOptions = UndoOptions { duplicates: true, timestamps: false };
const TIMESTAMPS: UndoOptions = UndoOptions { duplicates: false, timestamps: true };

fn config(undo: UndoOptions) -> Config {
    Config {
        undo,
        timestamps: true,
        initial_window: crate::InitialWindow::Mtus(20),
        max_burst: None,
        ..plain(Config::rfc9260())
    }
}

/// cwnd, ssthresh and retransmissions after a transfer of 20 packets whose n-th data packet has this
/// fate.
fn after(undo: UndoOptions, nth: u32, fate: Fate) -> (u64, u64, u64) {
    let mut n = 0;
    let mut pair = pair(&config(undo), 1, move |side, packet| {
        n += (side == Side::Client && packet.payload_len() > 0) as u32;
        let of_these = side == Side::Client && packet.payload_len() > 0 && n == nth;
        if of_these { fate } else { Fate::Deliver }
    });
    pair.drive(at_ms(1000));
    pair.client.write(20 * 1440);
    pair.drive(at_ms(10_000));
    let seen = pair.client.observe();
    assert_eq!(seen.bytes_acked, 20 * 1440);
    assert!(!seen.in_recovery);
    (seen.cwnd, seen.ssthresh, seen.retransmitted_packets)
}

/// A packet that comes late is sent again without need. The report of the duplicate tells, or the echo
/// of the first packet's date.
#[test]
fn a_packet_that_was_late_costs_no_window() {
    let late = Fate::Delay(Span::from_millis(70));
    let (halved, threshold, again) = after(UndoOptions::default(), 2, late);
    assert!(halved < 16_000 && threshold == 15_000 && again == 1, "{halved} {threshold} {again}");
    for undo in [DUPLICATES, TIMESTAMPS] {
        let (cwnd, ssthresh, again) = after(undo, 2, late);
        assert!(cwnd >= 30_000 && ssthresh > 1_000_000 - 1, "{undo:?}: {cwnd} {ssthresh}");
        assert_eq!(again, 1);
    }
}

/// What was lost was lost, whoever looks.
#[test]
fn a_loss_stays_a_loss() {
    let both = UndoOptions { duplicates: true, timestamps: true };
    assert_eq!(after(both, 2, Fate::Drop), after(UndoOptions::default(), 2, Fate::Drop));
    assert_eq!(after(both, 20, Fate::Drop).1, 15_000, "a timeout");
}

/// The way there takes 1.5 s more from the second packet on: the timeout was spurious, and the echo of
/// the first packet that comes tells, before the rest is sent again.
#[test]
fn a_timeout_that_was_spurious_is_undone() {
    for (undo, restored) in [(UndoOptions::default(), false), (TIMESTAMPS, true)] {
        let mut n = 0;
        let mut pair = pair(&config(undo), 1, move |side, packet| {
            n += (side == Side::Client && packet.payload_len() > 0) as u32;
            match side == Side::Client && packet.payload_len() > 0 && n > 1 {
                true => Fate::Delay(Span::from_millis(1500)),
                false => Fate::Deliver,
            }
        });
        for (ms, packets) in [(1000, 1), (1500, 10)] {
            pair.drive(at_ms(ms));
            pair.client.write(packets * 1440);
        }
        pair.drive(at_ms(3150));
        let seen = pair.client.observe();
        assert_eq!((seen.timeouts, seen.ssthresh > 15_000), (1, restored), "{undo:?}");
        assert_eq!(seen.retransmitted_packets == 1, restored, "{undo:?}");
        pair.drive(at_ms(20_000));
        assert_eq!(pair.client.observe().bytes_acked, 11 * 1440);
    }
}

/// RFC 3708 §3 A.4: once the network duplicates, reports of duplicates tell nothing of retransmissions.
#[test]
fn duplicates_of_the_network_end_the_search() {
    let mut n = 0;
    let mut pair = pair(&config(DUPLICATES), 1, move |side, packet| {
        n += (side == Side::Client && packet.payload_len() > 0) as u32;
        match (side == Side::Client && packet.payload_len() > 0).then_some(n) {
            // A copy that comes before what the first lost packet holds up is acknowledged in order.
            Some(3) => Fate::Duplicate(Span::from_millis(1)),
            Some(2) => Fate::Delay(Span::from_millis(70)),
            _ => Fate::Deliver,
        }
    });
    pair.drive(at_ms(1000));
    pair.client.write(20 * 1440);
    pair.drive(at_ms(10_000));
    let seen = pair.client.observe();
    assert_eq!(
        (seen.ssthresh, seen.retransmitted_packets, seen.bytes_acked),
        (15_000, 1, 20 * 1440)
    );
}
