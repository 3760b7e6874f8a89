//! Traces of segments, and of what is acknowledged and reported.

use super::*;

fn receiver() -> Receiver {
    Receiver { nxt: 1, ..Receiver::with(100_000, true) }
}

/// A data segment of 1000 octets, the n-th from 0.
fn segment(r: &mut Receiver, n: u64) -> Arrival {
    r.on_segment(1 + n * 1000, &Payload::virtual_of(1000), false, 2)
}

fn blocks(r: &mut Receiver) -> Vec<(u32, u32)> {
    r.sack_blocks(4).as_slice().iter().map(|b| (b.left.0 / 1000, b.right.0 / 1000)).collect()
}

#[test]
fn every_second_segment_is_acknowledged() {
    let mut r = receiver();
    segment(&mut r, 0);
    assert!(!r.ack_now && r.owes_ack());
    segment(&mut r, 1);
    assert!(r.ack_now);
    assert_eq!(r.on_ack_sent(1000), 98_000);
    assert!(!r.ack_now && !r.owes_ack());
}

#[test]
fn gaps_duplicates_and_fills_are_acknowledged_at_once() {
    let mut r = receiver();
    for (n, advanced) in [(1, 0), (0, 2000), (0, 0)] {
        assert_eq!(segment(&mut r, n).advanced, advanced);
        assert!(r.ack_now, "segment {n}");
        r.on_ack_sent(1000);
    }
}

/// RFC 2018 §5, example: the latest block first, older ones repeated.
#[test]
fn sack_blocks_come_latest_first() {
    let mut r = receiver();
    for n in [1, 3, 5, 7, 9] {
        segment(&mut r, n);
    }
    assert_eq!(blocks(&mut r), [(9, 10), (7, 8), (5, 6), (3, 4)]);
    segment(&mut r, 4); // joins 3 and 5
    assert_eq!(blocks(&mut r), [(3, 6), (9, 10), (7, 8)]);
    segment(&mut r, 0); // fills up to 2
    assert_eq!(blocks(&mut r), [(3, 6), (9, 10), (7, 8)]);
    segment(&mut r, 2);
    assert_eq!(r.nxt, 6001);
    assert_eq!(blocks(&mut r), [(9, 10), (7, 8)]);
}

/// RFC 2883 §4.1: a duplicate below the cumulative ACK; reported once.
#[test]
fn a_duplicate_segment_is_reported_once() {
    let mut r = receiver();
    segment(&mut r, 0);
    segment(&mut r, 1);
    segment(&mut r, 0);
    assert_eq!(blocks(&mut r), [(0, 1)]);
    assert_eq!(blocks(&mut r), []);
}

/// §4.2, §4.3: duplicates beside blocks; the block that holds the
/// duplicate comes second.
#[test]
fn a_duplicate_above_a_gap_comes_before_the_block_that_holds_it() {
    let mut r = receiver();
    for n in [0, 2, 3, 5] {
        segment(&mut r, n);
    }
    segment(&mut r, 3);
    assert_eq!(blocks(&mut r), [(3, 4), (2, 4), (5, 6)]);
    segment(&mut r, 0);
    assert_eq!(blocks(&mut r), [(0, 1), (2, 4), (5, 6)]);
}

/// §4.2.3: a segment of which a part had arrived.
#[test]
fn of_a_segment_held_in_part_that_part_is_reported() {
    let mut r = receiver();
    for n in [0, 3] {
        segment(&mut r, n);
    }
    r.on_segment(2001, &Payload::virtual_of(3000), false, 2); // 2, 3, 4
    assert_eq!(blocks(&mut r), [(3, 4), (2, 5)]);
    r.on_segment(1, &Payload::virtual_of(3000), false, 2); // 0, 1, 2
    assert_eq!(blocks(&mut r), [(0, 1)]);
}

#[test]
fn duplicates_are_not_reported_unasked() {
    let mut r = Receiver { nxt: 1, ..Receiver::with(100_000, false) };
    segment(&mut r, 0);
    segment(&mut r, 0);
    assert_eq!(blocks(&mut r), []);
}

#[test]
fn the_fin_waits_for_the_data_before_it() {
    let mut r = receiver();
    let last = r.on_segment(1001, &Payload::virtual_of(500), true, 2);
    assert!(!last.ended);
    let held = r.sack_blocks(4).as_slice()[0];
    assert_eq!((held.left.0, held.right.0), (1001, 1502)); // the FIN too
    let first = segment(&mut r, 0);
    assert_eq!(first, Arrival { advanced: 1500, above: 0, ended: true });
    assert_eq!((r.nxt, r.received(), r.readable()), (1502, 1500, 1500));
}

/// Every other octet: no more ranges than stated, and what was refused is
/// neither reported nor missed when it comes again.
#[test]
fn fragments_are_bounded() {
    let mut r = Receiver { nxt: 1, ..Receiver::with(12_800, false) };
    let most = (LEAST_RANGES + 12_800 / OCTETS_PER_RANGE) as usize;
    for at in (3..12_000).step_by(2) {
        r.on_segment(at, &Payload::virtual_of(1), false, 2);
        assert!(r.gaps.as_ref().unwrap().ranges.count() <= most);
    }
    assert_eq!(r.gaps.as_ref().unwrap().ranges.count(), most);
    r.on_segment(1, &Payload::virtual_of(12_000), false, 2);
    assert_eq!((r.nxt, r.has_blocks()), (12_001, false));
}

/// A FIN below what has arrived is a lie, and so is data after the FIN.
#[test]
fn the_stream_ends_once() {
    let mut r = receiver();
    segment(&mut r, 2);
    assert!(!r.on_segment(1, &Payload::virtual_of(1000), true, 2).ended);
    assert!(r.on_segment(1001, &Payload::virtual_of(2000), true, 2).ended);
    assert_eq!((r.nxt, r.received()), (3002, 3000));
    assert_eq!(segment(&mut r, 3), Arrival { advanced: 0, above: 0, ended: false });
    let mut r = receiver();
    r.on_segment(501, &Payload::virtual_of(500), true, 2);
    // Beyond the FIN: one of the two is forged, and neither is believed.
    assert_eq!(segment(&mut r, 1).above, 0);
    assert_eq!(segment(&mut r, 0), Arrival { advanced: 1000, above: 0, ended: false });
    assert!(r.on_segment(1001, &Payload::EMPTY, true, 2).ended);
    assert_eq!((r.nxt, r.received()), (1002, 1000));
}

/// Overlapping segments that do not agree: what was acknowledged stays.
#[test]
fn acknowledged_octets_do_not_change() {
    let mut r = receiver();
    r.on_segment(1, &Payload::of_octets([1; 10]), false, 2);
    r.on_segment(6, &Payload::of_octets([2; 10]), false, 2);
    let mut buf = [0; 15];
    assert_eq!(r.read_octets(&mut buf, 1000), 15);
    assert_eq!(buf, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
}

#[test]
fn what_does_not_fit_is_not_kept() {
    let mut r = Receiver { nxt: 1, ..Receiver::with(1500, false) };
    segment(&mut r, 0);
    segment(&mut r, 1);
    assert_eq!((r.nxt, r.on_ack_sent(1000)), (1501, 0));
    // Half the buffer read: the window opens, and the peer hears of it.
    r.ack_now = false;
    assert_eq!(r.read(1000, 1000), 1000);
    assert!(r.ack_now);
    assert_eq!(r.on_ack_sent(1000), 1000);
}
