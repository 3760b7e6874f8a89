//! The decoupled rule on RACK-TLP's detection, as packet traces.

use super::super::drops::seven_drops;
use super::super::solo::Solo;
use super::*;
use crate::config::UndoOptions;
use crate::recovery::DecoupledRackOptions;
use anabranch_wire::SackBlock;

fn on_rack(fast_retransmit: bool) -> Recovery {
    Recovery::DecoupledRack(DecoupledRackOptions { fast_retransmit, ..Default::default() })
}

/// `segments` of 1000 octets left at 100 ms, in a window of as many; nothing else
/// is there to send.
fn sent_out_of(recovery: Recovery, segments: u32) -> Solo {
    let initial_window = InitialWindow::Segments(segments);
    let config = Config { initial_window, ..published(recovery, true) };
    let mut s = Solo::established(&config);
    s.end.write(60_000);
    assert_eq!(s.sent().len(), segments as usize);
    s
}

/// At `ms`: an ACK up to segment `una`, with blocks of segments, both ends
/// included; the numbers of what leaves then, and the window in segments.
fn sack(s: &mut Solo, ms: u64, una: i64, blocks: &[(u32, u32)]) -> (Vec<u64>, f64) {
    let early = s.until(ms);
    assert_eq!(early, [""; 0], "before {ms} ms");
    let mut segment = s.segment(".", 1, una * 1000 + 1, 0);
    segment.window = 60_000;
    for (first, last) in blocks {
        let at = |n: u32| s.end.iss.add(n * 1000 + 1);
        segment.options.sack.push(SackBlock { left: at(first - 1), right: at(*last) });
    }
    let left = s.deliver(segment).iter().map(|line| number(line)).collect();
    (left, s.end.observe().cwnd as f64 / 1000.0)
}

/// Of a line such as `. 1:1000 1`.
fn number(line: &str) -> u64 {
    let (before, _) = line.split_once(':').unwrap();
    before.rsplit(' ').next().unwrap().parse::<u64>().unwrap() / 1000 + 1
}

/// The paper's scenario: after the turn of the detection one more segment leaves
/// each round trip, holes first. RACK detects with the first duplicate ACK, whose
/// segment left a round trip after the lost ones: no limited transmit before it, and
/// four ACKs open the halved window of 5.5 instead of two.
#[test]
fn seven_losses_out_of_eleven() {
    for fast_retransmit in [true, false] {
        let (rounds, end) = seven_drops(on_rack(fast_retransmit));
        let turns: Vec<Vec<u64>> = rounds.iter().map(|r| r.1.clone()).collect();
        let expected: [Vec<u64>; 5] = [
            (24..=29).collect(),
            [30].into_iter().chain(35..=39).collect(),
            (40..=46).collect(),
            (47..=54).collect(),
            (55..=63).collect(),
        ];
        assert_eq!(turns[..5], expected, "fast retransmit {fast_retransmit}");
        assert_eq!((end.timeouts, end.fast_retransmits, end.retransmitted_packets), (0, 1, 7));
    }
}

/// The first of ten segments is lost: the third SACK halves the window, and each
/// after it opens it, while the hole is open. The hole leaves at once, or with the
/// ACK that makes room for it.
#[test]
fn the_window_grows_while_the_hole_is_open() {
    for (fast_retransmit, leave) in [
        (
            true,
            [vec![11], vec![12], vec![1], vec![], vec![], vec![], vec![], vec![13], vec![14, 15]],
        ),
        (
            false,
            [vec![11], vec![12], vec![], vec![], vec![], vec![], vec![1], vec![13], vec![14, 15]],
        ),
    ] {
        let mut s = sent_out_of(on_rack(fast_retransmit), 10);
        let mut window = 10.0_f64;
        for (n, leave) in (2..=10).zip(leave) {
            let (left, cwnd) = sack(&mut s, 200 + n, 0, &[(2, n as u32)]);
            assert_eq!(left, leave, "SACK of {n}, fast retransmit {fast_retransmit}");
            match n {
                2 | 3 => {}
                4 => window = 5.0,
                _ => window += 1.0 / window,
            }
            assert!((cwnd - window).abs() < 0.002, "{cwnd} at {n}, not {window}");
        }
    }
}

/// Every thirtieth of 400 segments arrives 30 ms late: the decoupled scheme takes it
/// for a loss, where three that left after it in its round trip arrive before. With
/// RACK's detection the first is (RFC 8985 §6.2 step 4: no reordering seen yet, three
/// segments SACKed), and the DSACK undoes that; then its window waits for them.
#[test]
fn reordering_does_not_fool_it() {
    for (recovery, halvings) in
        [(Recovery::Decoupled { opens_late: false }, 3..=12), (on_rack(true), 1..=1)]
    {
        let undo = UndoOptions { dsack: true, ..Default::default() };
        let config = Config { dsack: true, undo, ..published(recovery.clone(), true) };
        let mut late = (1..=12).map(|n| n * 30).collect::<BTreeSet<u64>>();
        let mut origin = None;
        let mut pair = pair(&config, move |side, packet| {
            if side == Side::Server || packet.payload_len() == 0 {
                return Fate::Deliver;
            }
            let seq = tcp(packet).seq;
            let number = seq.distance_from(*origin.get_or_insert(seq)) as u64 / 1000 + 1;
            let held = late.remove(&number);
            if held { Fate::Delay(Span::from_millis(30)) } else { Fate::Deliver }
        });
        pair.client.write(400_000);
        pair.drive(at_ms(20_000));
        let end = pair.client.observe();
        assert_eq!(pair.server.receiver.received(), 400_000);
        assert_eq!(end.timeouts, 0);
        assert!(halvings.contains(&end.fast_retransmits), "{recovery:?}: {end:?}");
    }
}

/// The last segments are lost: a probe finds them (RFC 8985 §7), where the decoupled
/// scheme waits for the timer.
#[test]
fn a_lost_tail_is_probed_for() {
    for lost in [vec![40], vec![39, 40], vec![36, 37, 38, 39, 40]] {
        for (recovery, timeouts) in
            [(Recovery::Decoupled { opens_late: false }, 1), (on_rack(true), 0)]
        {
            let mut pair = pair(&published(recovery, true), lose(lost.iter().copied()));
            pair.client.write(40_000);
            pair.drive(at_ms(20_000));
            assert_eq!(pair.server.receiver.received(), 40_000);
            assert_eq!(pair.client.observe().timeouts, timeouts, "{lost:?}");
        }
    }
}
