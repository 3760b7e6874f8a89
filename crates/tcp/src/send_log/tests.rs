//! The log against a model that walks over all records.

use super::*;
use proptest::prelude::*;

fn range(start: u64, end: u64) -> Range {
    Range { start, end }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Segments 1 to 6 of ten octets, a millisecond apart.
fn six() -> SendLog {
    let mut log = SendLog::default();
    for n in 0..6 {
        log.on_sent(at(n), range(n * 10, n * 10 + 10), Stamp::default());
    }
    log
}

fn starts(records: &[Record]) -> Vec<u64> {
    records.iter().map(|r| r.range.start).collect()
}

#[test]
fn an_ack_reports_what_is_new_in_the_order_of_sequence() {
    let mut log = six();
    let mut sacked = RangeSet::default();
    sacked.insert(range(40, 50));
    log.on_sacked(range(40, 50), &sacked);
    log.on_cumulative_ack(20);
    log.on_ack();
    assert_eq!(starts(log.news()), [0, 10, 40]);
    assert_eq!(log.sacked_segments(), 1);
    log.end_ack();
    log.on_cumulative_ack(60);
    log.on_ack();
    assert_eq!(starts(log.news()), [20, 30, 50]); // 40 is no news
    assert_eq!(log.sacked_segments(), 0);
}

#[test]
fn an_ack_samples_the_round_trip_of_what_was_sent_last_and_once() {
    let mut log = six();
    log.on_cumulative_ack(30);
    log.on_ack();
    assert_eq!(log.rtt_sample(at(100)), Some(Span::from_millis(98)));
    log.end_ack();
    assert_eq!(log.rtt_sample(at(100)), None);
    // The fifth and sixth were sent again: the fourth tells.
    log.on_sent(at(101), range(40, 60), Stamp::default());
    log.on_cumulative_ack(60);
    log.on_ack();
    assert_eq!(log.rtt_sample(at(150)), Some(Span::from_millis(147)));
}

/// A block that covers half a segment does not deliver it; both halves do.
#[test]
fn half_a_segment_is_not_delivered() {
    let mut log = six();
    let mut sacked = RangeSet::default();
    for (start, end, news) in [(25, 30, vec![]), (20, 25, vec![20])] {
        sacked.insert(range(start, end));
        log.on_sacked(range(start, end), &sacked);
        assert_eq!(starts(log.news()), news);
    }
}

#[test]
fn what_is_sent_again_is_the_latest_and_cut_to_size() {
    let mut log = six();
    log.on_sent(at(50), range(15, 20), Stamp::default()); // the second half of the second
    assert_eq!(log.record_at(10).unwrap().range, range(10, 15));
    let half = log.record_at(15).unwrap();
    assert_eq!((half.sent, half.retransmitted, half.serial), (at(50), true, 7));
    // Sent again together with something new.
    log.on_sent(at(60), range(55, 70), Stamp::default());
    assert_eq!(log.record_at(55).unwrap().range, range(55, 60));
    assert!(!log.record_at(65).unwrap().retransmitted);
    assert_eq!(log.highest().unwrap().range, range(60, 70));
}

#[test]
fn losses_are_taken_from_the_oldest_transmission() {
    let mut log = six();
    let none = RangeSet::default();
    log.on_sent(at(50), range(0, 10), Stamp::default());
    log.lose_oldest(&none);
    log.lose_oldest(&none);
    assert_eq!(log.lost().iter().collect::<Vec<_>>(), [range(10, 30)]);
    assert_eq!(log.latest_before(5).unwrap().range, range(30, 40));
    // The losses were none: the order of sending is what it was.
    log.find_lost();
    assert_eq!(log.oldest().unwrap().range, range(10, 20));
    assert!(log.lost().is_empty());
}

/// RFC 2018 §8: the receiver may discard what it has SACKed.
#[test]
fn what_the_receiver_discards_is_lost() {
    let mut log = six();
    let mut sacked = RangeSet::default();
    sacked.insert(range(0, 20));
    log.on_sacked(range(0, 20), &sacked);
    log.on_reneging();
    assert_eq!(log.lost().iter().collect::<Vec<_>>(), [range(0, 20)]);
    assert_eq!(log.sacked_segments(), 0);
}

proptest! {
    /// Random sending, SACKing, losing and acknowledging: records tile what is
    /// outstanding; every octet is in flight, lost or delivered once; the list
    /// in flight is in the order of transmission.
    #[test]
    fn the_log_agrees_with_a_walk(
        ops in prop::collection::vec((0..6_u8, 0..40_u64, 1..12_u64), 1..80),
    ) {
        let mut log = SendLog::default();
        let mut sacked = RangeSet::default();
        let (mut una, mut max) = (0, 0);
        let mut serial = 0;
        for (now, (op, offset, len)) in ops.into_iter().enumerate() {
            let now = at(now as u64);
            let start = (una + offset).min(max);
            let end = (start + len).min(max);
            match op {
                0 => {
                    log.on_sent(now, range(max, max + len), Stamp::default());
                    max += len;
                }
                1 if start < end => {
                    let hole = sacked.gap(start, end);
                    if let Some(hole) = hole {
                        log.on_sent(now, hole, Stamp::default());
                    }
                }
                2 => {
                    let mut from = start;
                    while let Some(gap) = sacked.gap(from, end) {
                        sacked.insert(gap);
                        log.on_sacked(gap, &sacked);
                        from = gap.end;
                    }
                }
                3 => log.lose_oldest(&sacked),
                4 if start > una => {
                    una = start;
                    sacked.remove_below(una);
                    log.on_cumulative_ack(una);
                }
                _ => {
                    serial = log.transmissions().max(serial);
                    let found = log.latest_before(serial).map(|r| r.serial);
                    let walked: Vec<u64> = walk(&log).iter().map(|r| r.serial).collect();
                    prop_assert_eq!(found, walked.into_iter().filter(|s| *s < serial).max());
                }
            }
            log.end_ack();
            // Records tile [una, max).
            let mut edge = una;
            for slot in &log.order {
                let record = log.slots[*slot as usize].range;
                prop_assert_eq!(record.start, edge);
                edge = record.end;
            }
            prop_assert!(log.order.is_empty() || edge == max);
            let listed = walk(&log);
            prop_assert!(listed.is_sorted_by_key(|r| r.serial));
            prop_assert!(listed.iter().all(|r| r.place == Place::InFlight));
            let in_flight = log.order.iter()
                .filter(|slot| log.slots[**slot as usize].place == Place::InFlight).count();
            prop_assert_eq!(listed.len(), in_flight);
            // What is lost is not SACKed.
            for lost in log.lost().iter() {
                prop_assert_eq!(sacked.gap(lost.start, lost.end), Some(lost));
            }
        }
    }
}

/// The records in flight, oldest first.
fn walk(log: &SendLog) -> Vec<Record> {
    let mut list = Vec::new();
    let mut slot = log.oldest;
    while slot != NONE {
        list.push(log.slots[slot as usize]);
        slot = log.slots[slot as usize].newer;
    }
    list
}

/// What the window algorithm is yet to hear of: where each loss begins, and its octets.
fn told(log: &mut SendLog) -> Vec<(u64, u64)> {
    log.take_losses().iter().map(|loss| (loss.offset, loss.octets)).collect()
}

/// Segments of ten octets, of which the second and the fourth are lost, and the second, sent again, once
/// more.
#[test]
fn each_loss_is_told_once() {
    let mut log = SendLog::new(true);
    for n in 0..5 {
        log.on_sent(at(n), range(n * 10, n * 10 + 10), Stamp::default());
    }
    let mut sacked = RangeSet::default();
    log.on_cumulative_ack(10);
    sacked.insert(range(20, 30));
    log.on_sacked(range(20, 30), &sacked);
    log.lose_oldest(&sacked);
    log.lose_oldest(&sacked);
    assert_eq!(told(&mut log), [(10, 10), (30, 10)]);
    assert_eq!(told(&mut log), []);
    // Sent again, with only the fifth besides; lost again.
    log.on_sent(at(60), range(10, 20), Stamp::default());
    sacked.insert(range(40, 50));
    log.on_sacked(range(40, 50), &sacked);
    log.end_ack();
    log.lose_oldest(&sacked);
    assert_eq!(told(&mut log), [(10, 10)]);
}

/// A scheme that marks nothing names the offsets between which what is in flight is lost.
#[test]
fn a_scheme_without_marks_tells_of_losses_by_offsets() {
    let mut log = SendLog::new(true);
    for n in 0..5 {
        log.on_sent(at(n), range(n * 10, n * 10 + 10), Stamp::default());
    }
    let mut sacked = RangeSet::default();
    sacked.insert(range(20, 30));
    log.on_sacked(range(20, 30), &sacked);
    log.tell_losses_between(0, 40);
    assert_eq!(told(&mut log), [(0, 10), (10, 10), (30, 10)]);
    log.tell_losses_between(40, 40);
    assert_eq!(told(&mut log), []);
}
