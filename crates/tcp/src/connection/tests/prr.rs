//! Proportional rate reduction at work, RFC 9937.

use super::*;
use crate::recovery::RackOptions;

fn with_and_without() -> [(Recovery, Recovery); 3] {
    let rack = |prr| Recovery::Rack(RackOptions { prr, ..RackOptions::default() });
    let sack = |prr| Recovery::Sack { pipe: Pipe::Rfc6675, prr };
    [
        (sack(true), sack(false)),
        (Recovery::Fack { prr: true }, Recovery::Fack { prr: false }),
        (rack(true), rack(false)),
    ]
}

/// A segment of twenty-one lost, ACKs a millisecond apart: how many segments
/// leave with each ACK of the recovery.
fn sends_per_ack(recovery: Recovery) -> Vec<usize> {
    let config = Config {
        initial_window: InitialWindow::Segments(20),
        initial_ssthresh: Some(20_000),
        ..classic(recovery)
    };
    let mut n = 0;
    let mut pair = pair(&config, move |side, packet| {
        if side == Side::Server || packet.payload_len() == 0 {
            return Fate::Deliver;
        }
        n += 1;
        match n {
            1 => Fate::Drop,
            n if n <= 20 => Fate::Delay(Span::from_millis(n)),
            _ => Fate::Deliver,
        }
    });
    pair.client.write(1 << 30);
    pair.drive(at_ms(439));
    assert_eq!(pair.client.observe().timeouts, 0);
    // The first round leaves at 200 ms, its ACKs arrive from 402 ms on.
    let sent_at = |ms| {
        let data =
            |l: &&anabranch_testkit::Line| l.from == Side::Client && l.packet.payload_len() > 0;
        pair.log.iter().filter(data).filter(|l| l.sent.as_millis() == ms).count()
    };
    (402..=420).map(sent_at).collect()
}

/// §5 of RFC 6937: with PRR a segment leaves with every second ACK, from the
/// first ACK of the recovery to the last; without, nothing leaves for half a
/// round trip, then one with each ACK.
#[test]
fn the_reduction_is_spread_over_the_round_trip() {
    for (with, without) in with_and_without() {
        let spread = sends_per_ack(with.clone());
        let longest_silence =
            |sends: &[usize]| sends.split(|n| *n > 0).map(<[usize]>::len).max().unwrap_or(0);
        assert!(longest_silence(&spread) <= 3, "{with:?} {spread:?}");
        let bunched = sends_per_ack(without.clone());
        assert!(longest_silence(&bunched) >= 7, "{without:?} {bunched:?}");
    }
}

/// Validation T13 on the wire: never more sent in recovery than
/// ceil(prr_delivered * ssthresh / RecoverFS), and the flight ends at ssthresh.
#[test]
fn what_is_sent_keeps_to_the_bound() {
    for (with, _) in with_and_without() {
        let sends = sends_per_ack(with.clone());
        let detection = sends.iter().rposition(|n| *n == 0).map_or(0, |_| {
            // The third duplicate ACK, at 404 ms.
            2
        });
        let (recover_fs, ssthresh) = (18_u64, 10_u64);
        let mut sent = 0;
        for (delivered, n) in sends[detection..].iter().enumerate() {
            sent += *n as u64;
            let bound = ((delivered as u64 + 1) * ssthresh).div_ceil(recover_fs);
            assert!(sent <= bound, "{with:?}: {sent} > {bound} after {delivered}: {sends:?}");
        }
        let quantity = format!("PRR, {}: segments sent in the recovery", with.name());
        record("T13", &quantity, format!("at most {ssthresh}"), sent, "bound at every ACK");
    }
}
