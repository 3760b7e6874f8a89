//! Spurious reductions found out and undone: RFC 5682, 3522, 3708, 4015.

use super::solo::Solo;
use super::*;
use crate::config::UndoOptions;
use crate::recovery::RackOptions;
use anabranch_endpoint::RtoBounds;
use anabranch_wire::SackBlock;

const OFF: UndoOptions = UndoOptions { frto: false, eifel: false, dsack: false };
const FRTO: UndoOptions = UndoOptions { frto: true, ..OFF };
const EIFEL: UndoOptions = UndoOptions { eifel: true, ..OFF };
const DSACK: UndoOptions = UndoOptions { dsack: true, ..OFF };

fn schemes() -> [Recovery; 6] {
    [
        Recovery::Reno { exit_growth: false },
        Recovery::NewReno { impatient: false, exit_growth: false },
        Recovery::Sack { pipe: Pipe::Rfc6675, prr: false },
        Recovery::Sack { pipe: Pipe::Rfc6675, prr: true },
        Recovery::Fack { prr: false },
        Recovery::Rack(RackOptions { tlp: false, ..RackOptions::default() }),
    ]
}

fn config(recovery: Recovery, undo: UndoOptions) -> Config {
    Config {
        rto: RtoBounds { min: Span::from_millis(200), ..RtoBounds::default() },
        undo,
        // Timestamps take twelve octets of a segment.
        mss: if undo.eifel { 1012 } else { 1000 },
        timestamps: undo.eifel,
        dsack: undo.dsack,
        limited_transmit: true,
        ..classic(recovery)
    }
}

/// Delays the client's data segments `numbers` (from 1) by `ms`.
fn delay(numbers: std::ops::RangeInclusive<u32>, ms: u64) -> impl FnMut(Side, &Packet) -> Fate {
    let mut n = 0;
    move |side, packet| {
        if side == Side::Server || packet.payload_len() == 0 {
            return Fate::Deliver;
        }
        n += 1;
        if numbers.contains(&n) { Fate::Delay(Span::from_millis(ms)) } else { Fate::Deliver }
    }
}

/// The path holds a round for 250 ms: a timeout that no loss explains, and whose
/// retransmission comes after the originals.
/// (reductions undone, segments sent again, threshold when all is over)
fn held_up(recovery: Recovery, undo: UndoOptions) -> (u32, u64, u64) {
    // All segments of the sixth round.
    let mut calm = pair(&config(recovery.clone(), undo), |_, _| Fate::Deliver);
    calm.client.write(1 << 30);
    calm.drive(at_ms(1_250));
    let round = rounds(&calm)[5].1.clone();
    let held = round[0] as u32..=round[round.len() - 1] as u32;
    let mut pair = pair(&config(recovery.clone(), undo), delay(held, 250));
    pair.client.write(1 << 30);
    pair.drive(at_ms(4_000));
    let end = pair.client.observe();
    assert!(end.timeouts >= 1, "{recovery:?}");
    let undone = end.undone_reductions;
    // Each of those sent again was a duplicate; without reports, that one was is
    // all that is known.
    let told = if undo.dsack { end.retransmitted_packets } else { undone };
    assert_eq!(end.spurious_retransmissions, told, "{recovery:?} {undo:?}");
    (undone as u32, end.retransmitted_packets, end.ssthresh)
}

#[test]
fn a_spurious_timeout_is_undone() {
    for recovery in schemes() {
        let (_, again, halved) = held_up(recovery.clone(), OFF);
        held_up(recovery.clone(), DSACK);
        for undo in [FRTO, EIFEL] {
            let (undone, fewer, ssthresh) = held_up(recovery.clone(), undo);
            assert_eq!(undone, 1, "{recovery:?} {undo:?}");
            assert!(fewer < again, "{recovery:?} {undo:?}: {fewer} of {again} sent again");
            assert!(halved < 10_000 && ssthresh == 10_000, "{recovery:?} {undo:?}: {ssthresh}");
        }
    }
}

/// RFC 5682 §2.2: F-RTO begins anew when the timer expires again for the same segment. The path holds
/// everything for a second: two timeouts, then the ACKs of the originals.
#[test]
fn a_second_timeout_of_the_same_segment_is_undone() {
    for recovery in schemes() {
        let mut s = Solo::established(&config(recovery.clone(), FRTO));
        s.end.write(1 << 20);
        assert_eq!(s.sent().len(), 3);
        // RTO 100 + 4 * 50 ms, then twice that.
        assert_eq!(s.until(1_000), ["400 . 1:1000 1", "1000 . 1:1000 1"]);
        s.until(1_100);
        assert_eq!(s.arrives(".", 1, 1001, 0), [". 3001:1000 1", ". 4001:1000 1"]);
        s.arrives(".", 1, 2001, 0);
        let end = s.end.observe();
        assert_eq!((end.undone_reductions, end.timeouts), (1, 2), "{recovery:?}");
        assert_eq!(end.retransmitted_packets, 2, "{recovery:?}");
    }
}

/// RFC 5682 §3.1 step 2: duplicates before the ACK of what was sent again keep the scoreboard and
/// nothing else, though what they SACK arrived out of order.
#[test]
fn duplicates_before_the_first_ack_release_nothing() {
    let recovery = Recovery::Rack(RackOptions { tlp: false, ..RackOptions::default() });
    let config = Config {
        initial_window: InitialWindow::Segments(10),
        counting: Counting::Delivered,
        max_dupack_threshold: Some(300),
        ..config(recovery, FRTO)
    };
    let mut s = Solo::established(&config);
    s.end.write(1 << 20);
    s.sent();
    assert_eq!(s.until(400), ["400 . 1:1000 1"]);
    let sack = |s: &mut Solo, una: i64, segments: &[u32]| {
        let mut ack = s.segment(".", 1, una * 1000 + 1, 0);
        ack.window = 60_000;
        for n in segments {
            let left = s.end.iss.add(n * 1000 - 999);
            ack.options.sack.push(SackBlock { left, right: left.add(1000) });
        }
        s.deliver(ack)
    };
    for late in [&[9][..], &[2, 9], &[4, 2, 9], &[6, 4, 2, 9]] {
        assert_eq!(sack(&mut s, 0, late), [""; 0], "{late:?}");
    }
    assert_eq!(sack(&mut s, 2, &[6, 4, 9])[..2], [". 10001:1000 1", ". 11001:1000 1"]);
}

/// RFC 5682 §3.1 (3a): a genuine timeout stays one.
#[test]
fn a_genuine_timeout_is_not_undone() {
    for recovery in schemes() {
        for undo in [FRTO, EIFEL, DSACK, UndoOptions { frto: true, eifel: true, dsack: true }] {
            let all: Vec<u32> = (24..=36).collect();
            let mut pair = pair(&config(recovery.clone(), undo), drop_nth(&all));
            pair.client.write(200_000);
            pair.drive(at_ms(60_000));
            let end = pair.client.observe();
            assert_eq!(pair.server.receiver.received(), 200_000, "{recovery:?} {undo:?}");
            assert!(end.timeouts >= 1);
            assert_eq!(
                pair.client.sender.watch.undo.as_ref().unwrap().undone,
                0,
                "{recovery:?} {undo:?}"
            );
        }
    }
}

/// A segment overtaken by a round of others: halved, then undone.
fn overtaken(recovery: Recovery, undo: UndoOptions) -> (u32, u64) {
    // Behind the ACKs of the ten that follow, well before the timeout.
    let mut pair = pair(&config(recovery.clone(), undo), delay(24..=24, 50));
    pair.client.write(1 << 30);
    pair.drive(at_ms(2_500));
    let end = pair.client.observe();
    assert!(end.timeouts == 0 && end.fast_retransmits >= 1, "{recovery:?} {undo:?}");
    (end.undone_reductions as u32, end.cwnd)
}

#[test]
fn a_spurious_fast_retransmit_is_undone() {
    for recovery in schemes() {
        let (_, window) = overtaken(recovery.clone(), OFF);
        for undo in [EIFEL, DSACK] {
            let (undone, wider) = overtaken(recovery.clone(), undo);
            assert_eq!(undone, 1, "{recovery:?} {undo:?}");
            assert!(wider > window, "{recovery:?} {undo:?}: {wider} and {window}");
        }
    }
}

/// A loss repaired by fast retransmit is a loss.
#[test]
fn a_genuine_fast_retransmit_is_not_undone() {
    for recovery in schemes() {
        for undo in [EIFEL, DSACK] {
            let mut pair = pair(&config(recovery.clone(), undo), drop_nth(&[24]));
            pair.client.write(200_000);
            pair.drive(at_ms(60_000));
            assert_eq!(
                pair.client.sender.watch.undo.as_ref().unwrap().undone,
                0,
                "{recovery:?} {undo:?}"
            );
        }
    }
}

/// Where nothing is late, whatever was sent again was lost: also where one recovery
/// follows the other, and what the first sent again is still on its way.
#[test]
fn losses_upon_losses_are_not_undone() {
    for recovery in schemes() {
        for seed in 0..20u32 {
            let (mut n, mut state) = (0u32, seed);
            let rule = move |side, packet: &Packet| {
                if side == Side::Server || packet.payload_len() == 0 {
                    return Fate::Deliver;
                }
                n += 1;
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // The middle of the transfer loses a fifth.
                match (40..400).contains(&n) && state >> 16 & 0xff < 51 {
                    true => Fate::Drop,
                    false => Fate::Deliver,
                }
            };
            let mut pair = pair(&config(recovery.clone(), EIFEL), rule);
            pair.client.write(1_000_000);
            pair.drive(at_ms(120_000));
            assert_eq!(pair.server.receiver.received(), 1_000_000);
            assert_eq!(pair.client.observe().undone_reductions, 0, "{recovery:?}, {seed}");
        }
    }
}

/// RFC 3708: duplicates that the network made are not retransmissions.
#[test]
fn duplicates_of_the_network_undo_nothing() {
    let mut lost = drop_nth(&[24]);
    let rule = move |side, packet: &Packet| match lost(side, packet) {
        Fate::Deliver if side == Side::Client && packet.payload_len() > 0 => {
            Fate::Duplicate(Span::from_millis(1))
        }
        fate => fate,
    };
    let recovery = Recovery::Sack { pipe: Pipe::Rfc6675, prr: false };
    let mut pair = pair(&config(recovery, EIFEL), rule);
    pair.client.write(100_000);
    pair.drive(at_ms(60_000));
    assert_eq!(pair.client.observe().fast_retransmits, 1);
    assert_eq!(pair.client.sender.watch.undo.as_ref().unwrap().undone, 0);
}

/// Every twentieth segment is overtaken by seven: with a threshold that grows
/// the first few are taken for losses, then none; without, all of them.
#[test]
fn reordering_raises_the_threshold() {
    let run = |most| {
        let mut n = 0;
        let config = Config {
            max_dupack_threshold: most,
            initial_ssthresh: Some(12_000),
            ..config(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false }, EIFEL)
        };
        let mut pair = pair(&config, move |side, packet| {
            if side == Side::Server || packet.payload_len() == 0 {
                return Fate::Deliver;
            }
            n += 1;
            if n % 20 == 0 { Fate::Delay(Span::from_millis(30)) } else { Fate::Deliver }
        });
        pair.client.write(1_000_000);
        pair.drive(at_ms(60_000));
        assert_eq!(pair.server.receiver.received(), 1_000_000);
        (pair.client.observe().fast_retransmits, pair.client.sender.dup_acks.thresh)
    };
    let (fixed, three) = run(None);
    let (grown, threshold) = run(Some(300));
    assert_eq!(three, 3);
    assert!(fixed > 20 && grown < fixed / 4, "{fixed} and {grown}");
    assert!((8..=60).contains(&threshold), "{threshold}");
}

/// A timeout puts the threshold back.
#[test]
fn a_timeout_forgets_the_reordering() {
    let mut s = Sender::new(&Config { max_dupack_threshold: Some(100), ..Config::default() });
    s.note_reordering(0, 20 * s.mss);
    assert_eq!(s.dup_acks.thresh, 20);
    s.note_reordering(0, 200 * s.mss);
    assert_eq!(s.dup_acks.thresh, 100);
    s.go_back(Time::ZERO);
    assert_eq!(s.dup_acks.thresh, 3);
}

/// RFC 5682 §3.1 (2b): two new segments leave on the first ACK, and the rest
/// waits for the second.
#[test]
fn frto_lets_two_new_segments_leave() {
    for recovery in schemes() {
        let config = Config {
            initial_window: InitialWindow::Segments(4),
            undo: FRTO,
            ..classic(recovery.clone())
        };
        let mut s = super::solo::Solo::established(&config);
        s.end.write(100_000);
        assert_eq!(s.sent().len(), 4);
        assert_eq!(s.until(1100), ["1100 . 1:1000 1"], "{recovery:?}");
        let new = [". 4001:1000 1", ". 5001:1000 1"];
        assert_eq!(s.arrives(".", 1, 1001, 0), new, "{recovery:?}");
        // (3b) the original of the second arrives: the window is open again.
        s.arrives(".", 1, 2001, 0);
        let undo = s.end.sender.watch.undo.as_ref().unwrap();
        assert_eq!((undo.undone, s.end.sender.max >= 6001), (1, true), "{recovery:?}");
    }
}

/// (2b) What leaves out of turn is not held back for being small, though an earlier small segment is outstanding (Linux:
/// `TCP_NAGLE_OFF`): nothing else would leave, and no timer run.
#[test]
fn frto_lets_a_small_segment_leave_where_small_ones_wait() {
    for recovery in schemes() {
        let nagle = crate::config::Nagle::Minshall;
        let config = Config { nagle, undo: FRTO, ..classic(recovery.clone()) };
        let mut s = super::solo::Solo::established(&config);
        s.end.write(1300);
        assert_eq!(s.sent(), [". 1:1000 1", "P. 1001:300 1"]);
        s.end.write(100);
        assert!(s.sent().is_empty(), "the small one is outstanding");
        assert_eq!(s.until(1100), ["1100 . 1:1000 1"], "{recovery:?}");
        assert_eq!(s.arrives(".", 1, 1001, 0), ["P. 1301:100 1"], "{recovery:?}");
        assert!(s.end.poll_timeout() < Time::NEVER, "{recovery:?}");
    }
}

/// (3a) A duplicate ACK, or what was sent since the timeout: genuine.
#[test]
fn frto_gives_up_on_a_duplicate() {
    for recovery in schemes() {
        let config = Config {
            initial_window: InitialWindow::Segments(4),
            undo: FRTO,
            ..classic(recovery.clone())
        };
        let mut s = super::solo::Solo::established(&config);
        s.end.write(100_000);
        s.sent();
        s.until(1100);
        s.arrives(".", 1, 1001, 0);
        let mut duplicate = s.segment(".", 1, 1001, 0);
        if recovery.needs_sack() {
            let at = |n: u32| s.end.iss.add(n * 1000 + 1);
            let block = anabranch_wire::SackBlock { left: at(4), right: at(5) };
            duplicate.options.sack.push(block);
        }
        let again = s.deliver(duplicate);
        assert_eq!(again.first().map(String::as_str), Some(". 1001:1000 1"), "{recovery:?}");
        assert_eq!(s.end.sender.watch.undo.as_ref().unwrap().undone, 0);
    }
}
