//! RACK-TLP, RFC 8985, a rule a test. Round trips of 100 ms with [`Solo`], of
//! 200 ms with pairs.

use super::drops::seven_drops;
use super::solo::Solo;
use super::*;
use crate::config::{RtoRestart, RttSamples};
use crate::recovery::RackOptions;
use anabranch_endpoint::RtoBounds;
use anabranch_wire::SackBlock;

fn rack() -> Recovery {
    Recovery::Rack(RackOptions::default())
}

/// `segments` of 1000 octets left at 100 ms, in a window of as many.
fn sent(segments: u32) -> Solo {
    let config = Config { initial_window: InitialWindow::Segments(segments), ..classic(rack()) };
    let mut s = Solo::established(&config);
    s.end.write(segments as u64 * 1000);
    assert_eq!(s.sent().len(), segments as usize);
    s
}

/// Three segments of 1000 octets left at 100 ms, in a window of four.
fn four_allowed(linux_probes: bool) -> Solo {
    let options = RackOptions { linux_probes, ..RackOptions::default() };
    let recovery = Recovery::Rack(options);
    let config = Config { initial_window: InitialWindow::Segments(4), ..classic(recovery) };
    let mut s = Solo::established(&config);
    s.end.write(3000);
    assert_eq!(s.sent().len(), 3);
    s
}

/// At `ms`: an ACK up to segment `una`, with blocks of segments, both ends
/// included; what leaves then.
fn sack(s: &mut Solo, ms: u64, una: i64, blocks: &[(u32, u32)]) -> Vec<String> {
    let early = s.until(ms);
    assert_eq!(early, [""; 0], "before {ms} ms");
    let mut segment = s.segment(".", 1, una * 1000 + 1, 0);
    segment.window = 60_000;
    for (first, last) in blocks {
        let at = |n: u32| s.end.iss.add(n * 1000 + 1);
        segment.options.sack.push(SackBlock { left: at(first - 1), right: at(*last) });
    }
    s.deliver(segment)
}

/// §6.2 step 5: a segment sent before one that arrived is lost a quarter of the
/// least round trip later.
#[test]
fn the_reordering_window_passes_before_a_segment_is_lost() {
    let mut s = sent(10);
    assert_eq!(sack(&mut s, 200, 0, &[(2, 2)]), [""; 0]);
    let lost = s.until(225);
    record(
        "T13",
        "RACK: retransmission after 200 ms + min_RTT / 4",
        "225 .",
        &lost[0][..5],
        "exact",
    );
    assert_eq!(lost, ["225 . 1:1000 1"]);
    assert_eq!(s.end.observe().fast_retransmits, 1);
}

/// Step 4: with DupThresh segments SACKed and no reordering seen there is no
/// window.
#[test]
fn three_segments_sacked_lose_the_first_at_once() {
    let mut s = sent(10);
    sack(&mut s, 200, 0, &[(2, 2)]);
    sack(&mut s, 201, 0, &[(2, 3)]);
    assert_eq!(sack(&mut s, 202, 0, &[(2, 4)]), [". 1:1000 1"]);
}

/// Step 3: once a segment was seen to arrive late, the window stays whatever
/// is SACKed. RACK.rtt is 115 ms, of the segments that arrive at 215 ms.
#[test]
fn reordering_once_seen_keeps_the_window_open() {
    let mut s = sent(10);
    sack(&mut s, 200, 0, &[(2, 2)]);
    sack(&mut s, 210, 2, &[]); // the first arrives behind the second
    assert_eq!(sack(&mut s, 215, 2, &[(4, 9)]), [""; 0]);
    assert_eq!(s.until(239), [""; 0]);
    assert_eq!(s.until(240), ["240 . 2001:1000 1"]); // 100 + 115 + 25
}

/// Step 2: RACK.rtt is that of the segment sent last of those that an ACK reports, the first again
/// (100 ms) and not the ninth (226 ms): what was sent before it is lost at once.
#[test]
fn the_segment_sent_last_tells_the_round_trip_time() {
    let mut s = sent(10);
    sack(&mut s, 200, 0, &[(3, 3)]);
    sack(&mut s, 201, 0, &[(2, 3)]); // the second arrives behind the third
    assert_eq!(s.until(226), ["226 . 1:1000 1"]); // 100 + 101 + 25
    let lost = sack(&mut s, 326, 3, &[(5, 9)]);
    assert_eq!(lost[0], ". 3001:1000 1");
}

/// §6.2 step 5: the timer waits for the last of the segments that may be lost.
#[test]
fn one_timer_serves_all_segments_in_doubt() {
    let config = Config { initial_window: InitialWindow::Segments(10), ..classic(rack()) };
    let mut s = Solo::established(&config);
    for n in 0..4 {
        s.until(100 + 5 * n);
        s.end.write(1000);
        s.sent();
    }
    // The third (sent at 110 ms) arrives at 210: the first (100) and the second
    // (105) may be lost, at 225 and 230.
    sack(&mut s, 210, 0, &[(3, 3)]);
    assert_eq!(s.until(229), [""; 0]);
    assert_eq!(s.until(230)[0], "230 . 1:1000 1");
}

/// RFC 5681 §4.3: what was sent in a recovery is another window of data, and its loss reduces the window again: at once, or,
/// as Linux does, when the first recovery has ended and it is not repaired yet.
#[test]
fn what_is_lost_of_a_recovery_reduces_the_window_again() {
    for reduce_again in [true, false] {
        let recovery = Recovery::Rack(RackOptions { reduce_again, ..RackOptions::default() });
        let config = Config { initial_window: InitialWindow::Segments(10), ..classic(recovery) };
        let mut s = Solo::established(&config);
        s.end.write(30_000);
        assert_eq!(s.sent().len(), 10);
        let left = sack(&mut s, 200, 0, &[(2, 4)]);
        assert_eq!(left[0], ". 1:1000 1", "a window of five");
        let left = sack(&mut s, 210, 0, &[(2, 10)]);
        assert!(
            left.starts_with(&[". 10001:1000 1".to_owned(), ". 11001:1000 1".to_owned()]),
            "{left:?}"
        );
        // The eleventh is lost; the first has not arrived yet. A window reduced again is full.
        let left = sack(&mut s, 310, 0, &[(12, 12), (2, 10)]);
        assert_eq!(left.contains(&". 10001:1000 1".to_owned()), !reduce_again, "{left:?}");
        assert_eq!(s.end.observe().fast_retransmits, if reduce_again { 2 } else { 1 });
        sack(&mut s, 320, 10, &[(12, 12)]); // the recovery point is reached
        assert_eq!(s.end.observe().fast_retransmits, 2, "reduce_again: {reduce_again}");
    }
}

/// §6.2, §3.3: a retransmission lost again is detected by what was sent after
/// it, and reduces the window again (RFC 5681 §4.3).
#[test]
fn a_retransmission_lost_again_is_detected() {
    for (reduce_again, fast_retransmits) in [(true, 2), (false, 1)] {
        let options = RackOptions { reduce_again, ..RackOptions::default() };
        let mut lost = 0;
        let mut first = None;
        let mut pair = pair(&classic(Recovery::Rack(options)), move |side, packet| {
            if side == Side::Server || packet.payload_len() == 0 {
                return Fate::Deliver;
            }
            let origin = *first.get_or_insert(tcp(packet).seq);
            let doomed = tcp(packet).seq == origin.add(23_000) && lost < 2;
            lost += doomed as u32;
            if doomed { Fate::Drop } else { Fate::Deliver }
        });
        pair.client.write(200_000);
        pair.drive(at_ms(60_000));
        let end = pair.client.observe();
        assert_eq!(pair.server.receiver.received(), 200_000);
        assert_eq!((end.timeouts, end.retransmitted_packets), (0, 2));
        assert_eq!(end.fast_retransmits, fast_retransmits);
    }
}

/// While a retransmission that is lost again holds back the cumulative ACK, new
/// data leaves and arrives. It is outstanding, two windows of it, when the next
/// recovery begins: that one reduces a window, not what has arrived.
#[test]
fn what_a_long_recovery_leaves_outstanding_is_no_part_of_the_next_reduction() {
    let recovery = Recovery::Rack(RackOptions { reduce_again: false, ..Default::default() });
    let config = Config { initial_window: InitialWindow::Segments(10), ..classic(recovery) };
    let mut s = Solo::established(&config);
    s.end.write(60_000);
    assert_eq!(s.sent().len(), 10);
    sack(&mut s, 200, 0, &[(2, 10)]);
    let window = |s: &Solo| (s.end.observe().cwnd, s.end.observe().ssthresh);
    assert_eq!(window(&s), (5000, 5000));
    // The first and the eleventh segment are lost again and again.
    let left = sack(&mut s, 300, 0, &[(2, 10), (12, 14)]);
    assert_eq!(left[..3], [". 1:1000 1", ". 10001:1000 1", ". 14001:1000 1"]);
    let left = sack(&mut s, 400, 0, &[(2, 10), (12, 17)]);
    assert_eq!(left[..3], [". 1:1000 1", ". 10001:1000 1", ". 17001:1000 1"]);
    // Of 20 segments outstanding a window of 5 counts.
    sack(&mut s, 500, 10, &[(12, 18)]);
    assert_eq!(s.end.observe().fast_retransmits, 2);
    assert_eq!(window(&s), (2500, 2500));
}

/// The published scenario: seven segments of eleven, repaired within the round
/// trip that follows the detection as the window allows.
#[test]
fn seven_losses_need_no_timeout() {
    let (rounds, end) = seven_drops(rack());
    let again: Vec<u64> = rounds.iter().flat_map(|r| r.1.clone()).filter(|n| *n < 31).collect();
    assert_eq!(again, [24, 25, 26, 27, 28, 29, 30]);
    assert_eq!((end.timeouts, end.fast_retransmits), (0, 1));
}

/// §6.3: after a timeout only what has been out for long enough is lost; what
/// left a moment ago is not sent again.
#[test]
fn a_timeout_loses_what_has_been_out_for_long() {
    let options = RackOptions { tlp: false, ..RackOptions::default() };
    let config =
        Config { initial_window: InitialWindow::Segments(4), ..classic(Recovery::Rack(options)) };
    let mut s = Solo::established(&config);
    s.end.write(1000);
    s.sent();
    sack(&mut s, 200, 1, &[]);
    s.end.write(2000);
    s.sent();
    s.until(1150);
    s.end.write(2000);
    assert_eq!(s.sent().len(), 2);
    // RTO: at least a second, since the segments of 200 ms.
    assert_eq!(s.until(1200), ["1200 . 1001:1000 1"]);
    // Its ACK makes room for two: for the second, lost as well; the third and
    // the fourth, sent at 1150 ms, are under way.
    assert_eq!(sack(&mut s, 1240, 2, &[]), [""; 0]);
    assert_eq!(sack(&mut s, 1250, 2, &[(4, 4)]), [". 2001:1000 1"]);
}

/// RFC 2018 §8: a receiver that discards what it SACKed gets it again.
#[test]
fn what_the_receiver_discards_is_sent_again() {
    let mut s = sent(4);
    sack(&mut s, 200, 0, &[(2, 4)]);
    // The retransmission of the first arrives alone, and is acknowledged alone:
    // the rest that was SACKed is gone.
    assert_eq!(sack(&mut s, 300, 1, &[]), [""; 0]);
    assert_eq!(s.until(1300), ["1300 . 1001:1000 1"]);
    assert_eq!(sack(&mut s, 1400, 2, &[]).len(), 2);
}

// Tail loss probes, §7.

/// §7.2, §7.3: after two round trips without an ACK the last segment is sent
/// again; then the retransmission timer runs anew.
#[test]
fn the_last_segment_is_the_probe() {
    let mut s = sent(3);
    assert_eq!(s.until(299), [""; 0]);
    let probe = s.until(300);
    record("T13", "TLP: probe 2 SRTT after 100 ms", "300 P.", &probe[0][..6], "exact");
    assert_eq!(probe, ["300 P. 2001:1000 1"]);
    assert_eq!(s.end.observe().timeouts, 0);
    assert_eq!(s.until(1299), [""; 0]); // one probe at a time
    assert_eq!(s.end.observe().tail_loss_probes, 1);
    assert_eq!(s.until(1300)[0], "1300 . 1:1000 1");
    assert_eq!(s.end.observe().timeouts, 1);
}

/// §7.2: with one segment out the peer may be delaying its ACK.
#[test]
fn one_segment_is_probed_later() {
    let mut s = sent(1);
    assert_eq!(s.until(499), [""; 0]);
    assert_eq!(s.until(500), ["500 P. 1:1000 1"]); // 2 SRTT + 200 ms
}

/// §7.3: new data is the better probe, even beyond the window.
#[test]
fn new_data_is_the_probe_where_there_is_any() {
    let config = Config { initial_window: InitialWindow::Segments(3), ..classic(rack()) };
    let mut s = Solo::established(&config);
    s.end.write(5000);
    assert_eq!(s.sent().len(), 3);
    assert_eq!(s.until(300), ["300 . 3001:1000 1"]);
}

/// §7.2: a probe timeout later than the retransmission timeout takes its place.
#[test]
fn the_probe_comes_before_the_timeout() {
    let config = Config {
        initial_window: InitialWindow::Segments(1),
        rto: anabranch_endpoint::RtoBounds { min: Span::from_millis(200), ..Default::default() },
        ..classic(rack())
    };
    let mut s = Solo::established(&config);
    s.end.write(1000);
    s.sent();
    // RTO 100 + 4 * 50 = 300 ms, PTO 400 ms.
    assert_eq!(s.until(400), ["400 P. 1:1000 1"]);
    assert_eq!(s.end.observe().timeouts, 0);
    assert_eq!(s.until(700), ["700 P. 1:1000 1"]);
    assert_eq!(s.end.observe().timeouts, 1);
}

/// §7.3: a probe that may not leave, since another is on its way, gives the place to the retransmission timer.
/// New data meanwhile does not put that off.
#[test]
fn a_probe_that_may_not_leave_does_not_delay_the_timeout() {
    let mut s = four_allowed(false);
    assert_eq!(s.until(300), ["300 P. 2001:1000 1"]);
    assert_eq!(s.until(1200), [""; 0]);
    s.end.write(1000);
    assert_eq!(s.sent(), ["P. 3001:1000 1"]);
    assert_eq!(s.until(1300)[0], "1300 . 1:1000 1");
    assert_eq!(s.end.observe().timeouts, 1);
}

/// Linux's rules: the probe timer runs although a probe is on its way. When it expires the retransmission
/// timeout counts from when the first segment was sent, and that has passed.
#[test]
fn by_linux_rules_the_timeout_follows_a_probe_that_may_not_leave() {
    for (linux_probes, due) in [(false, 1300), (true, 1200)] {
        let mut s = four_allowed(linux_probes);
        assert_eq!(s.until(300), ["300 P. 2001:1000 1"]);
        assert_eq!(s.until(1000), [""; 0]);
        s.end.write(1000);
        assert_eq!(s.sent(), ["P. 3001:1000 1"]);
        assert_eq!(s.until(due - 1), [""; 0], "{linux_probes}");
        assert_eq!(s.until(due + 1)[0], format!("{due} . 1:1000 1"));
        assert_eq!(s.end.observe().timeouts, 1);
    }
}

/// §7.3 asks for a round trip measured between two probes; the ACK of what the first repeats gives none
/// (Karn). Linux does not ask.
#[test]
fn by_linux_rules_a_probe_needs_no_new_round_trip() {
    for (linux_probes, probes) in [(false, 1), (true, 2)] {
        let mut s = four_allowed(linux_probes);
        assert_eq!(s.until(300), ["300 P. 2001:1000 1"]);
        assert_eq!(sack(&mut s, 400, 3, &[(3, 3)]), [""; 0]);
        s.end.write(1000);
        assert_eq!(s.sent(), ["P. 3001:1000 1"]);
        s.until(900);
        assert_eq!(s.end.observe().tail_loss_probes, probes, "{linux_probes}");
        assert_eq!(s.end.observe().timeouts, 0);
    }
}

/// §7.4, case 2: the probe repaired a loss, which the window has to hear of.
/// Case 1: the receiver reports the probe as a duplicate, and it has not.
#[test]
fn a_loss_repaired_by_the_probe_reduces_the_window() {
    for (dsack, reductions) in [(false, 1), (true, 0)] {
        let config = Config { initial_window: InitialWindow::Segments(3), ..classic(rack()) };
        let mut s = Solo::established(&config);
        s.end.write(3000);
        s.sent();
        assert_eq!(s.until(300), ["300 P. 2001:1000 1"]);
        let before = s.end.observe().cwnd;
        let blocks: &[(u32, u32)] = if dsack { &[(3, 3)] } else { &[] };
        sack(&mut s, 400, 3, blocks);
        s.end.write(1000);
        s.sent();
        sack(&mut s, 500, 4, &[]);
        let after = s.end.observe().cwnd;
        assert_eq!((after < before) as u32, reductions, "{before} {after}");
        assert_eq!(s.end.observe().spurious_retransmissions, dsack as u64);
    }
}

/// §7.4.2: the duplicate ACK of a receiver without DSACK says that the probe was spurious. Data of
/// the peer's that acknowledges nothing new is none, nor is an ACK with SACK blocks.
#[test]
fn only_a_bare_duplicate_says_that_the_probe_was_spurious() {
    for (len, block, reductions) in [(0, false, 0), (100, false, 1), (0, true, 1)] {
        let config = Config { initial_window: InitialWindow::Segments(3), ..classic(rack()) };
        let mut s = Solo::established(&config);
        s.end.write(3000);
        s.sent();
        assert_eq!(s.until(300), ["300 P. 2001:1000 1"]);
        let before = s.end.observe().cwnd;
        sack(&mut s, 400, 3, &[]);
        s.end.write(1000);
        s.sent();
        let mut again = s.segment(".", 1, 3001, len);
        again.window = 60_000;
        if block {
            let at = s.end.iss.add(5001);
            again.options.sack.push(SackBlock { left: at, right: at.add(1000) });
        }
        s.deliver(again);
        s.until(500);
        let mut ack = s.segment(".", 1 + len as i64, 4001, 0);
        ack.window = 60_000;
        s.deliver(ack);
        let after = s.end.observe().cwnd;
        assert_eq!((after < before) as u32, reductions, "{len} {block}: {before} {after}");
    }
}

/// A lost tail is found by the probe's SACK and repaired without a timeout;
/// without probes it costs one.
#[test]
fn a_lost_tail_is_repaired_without_a_timeout() {
    for lost in [&[50_u32][..], &[49, 50], &[46, 47, 48, 49, 50]] {
        for (tlp, timeouts) in [(true, 0), (false, 1)] {
            let options = RackOptions { tlp, ..RackOptions::default() };
            let mut pair = pair(&classic(Recovery::Rack(options)), drop_nth(lost));
            pair.client.write(50_000);
            pair.drive(at_ms(60_000));
            assert_eq!(pair.server.receiver.received(), 50_000);
            let end = pair.client.observe();
            assert_eq!(end.timeouts, timeouts, "{lost:?} {tlp}");
            assert_eq!((end.tail_loss_probes > 0, end.spurious_retransmissions), (tlp, 0));
        }
    }
}

/// Segments overtaken by less than a quarter of a round trip cost RACK
/// nothing once reordering was seen; counting duplicates takes them for losses.
#[test]
fn reordering_within_the_window_is_no_loss() {
    let overtaken = |recovery| {
        let mut n = 0;
        let mut pair = pair(&classic(recovery), move |side, packet| {
            if side == Side::Server || packet.payload_len() == 0 {
                return Fate::Deliver;
            }
            n += 1;
            match n {
                // A mild case first: overtaken by one. Then behind seven others.
                2 => Fate::Delay(Span::from_millis(1)),
                n if n % 20 == 0 => Fate::Delay(Span::from_millis(30)),
                _ => Fate::Deliver,
            }
        });
        pair.client.write(300_000);
        pair.drive(at_ms(60_000));
        assert_eq!(pair.server.receiver.received(), 300_000);
        pair.client.observe().retransmitted_packets
    };
    assert_eq!(overtaken(rack()), 0);
    assert!(overtaken(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false }) > 5);
}

/// As [`sent`], with an RTO of 300 ms from the handshake.
fn sent_with(segments: u32, rto_restart: RtoRestart, rtt_samples: RttSamples) -> Solo {
    let min = Span::from_millis(200);
    let rto = RtoBounds { min, min_variation: min, ..RtoBounds::default() };
    let initial_window = InitialWindow::Segments(segments);
    let tlp = RackOptions { tlp: false, ..RackOptions::default() };
    let recovery = Recovery::Rack(tlp);
    let config = Config { initial_window, rto, rto_restart, rtt_samples, ..classic(recovery) };
    let mut s = Solo::established(&config);
    s.end.write(segments as u64 * 1000);
    assert_eq!(s.sent().len(), segments as usize);
    s
}

/// The repair of the first segment leaves at 200 ms and is lost; a segment of the
/// limit that it lets leave tells so at 300 ms. RFC 6298 §5.3 knows no restart
/// with the second repair; Linux does, and with SACKs of what was sent before.
#[test]
fn as_in_linux_the_first_segment_restarts_the_timer_when_it_is_sent_again() {
    for (rto_restart, expires) in [(RtoRestart::Acks, 500), (RtoRestart::FirstResent, 620)] {
        let mut s = sent_with(10, rto_restart, RttSamples::Timed);
        s.end.write(10_000);
        assert_eq!(sack(&mut s, 200, 0, &[(2, 8)])[0], ". 1:1000 1");
        // What left with the repair arrives, but not the repair.
        let again = sack(&mut s, 300, 0, &[(2, 8), (11, 11)]);
        assert_eq!(again[0], ". 1:1000 1");
        // Sent before that: nothing is known of it yet.
        sack(&mut s, 320, 0, &[(2, 9), (11, 11)]);
        assert_eq!(s.end.observe().timeouts, 0);
        let due = (320..900).find(|ms| {
            s.until(*ms);
            s.end.observe().timeouts == 1
        });
        assert_eq!(due, Some(expires));
    }
}

/// Linux: the first segment that an ACK acknowledges is the sample, or that it
/// SACKs; none of what was sent twice.
#[test]
fn as_in_linux_each_ack_is_a_sample() {
    for (rtt_samples, samples) in [
        // The first segment was timed, and its repair ends that.
        (RttSamples::Timed, [100, 100, 100]),
        (RttSamples::EveryAck, [130, 150, 150]),
    ] {
        let mut s = sent_with(10, RtoRestart::Acks, rtt_samples);
        let mut seen = Vec::new();
        for (ms, una, block) in [(230, 0, Some((2, 4))), (250, 0, Some((2, 6))), (260, 1, None)] {
            sack(&mut s, ms, una, block.as_slice());
            seen.push(s.end.observe().latest_rtt.unwrap());
        }
        assert_eq!(seen, samples.map(Span::from_millis), "{rtt_samples:?}");
    }
}
