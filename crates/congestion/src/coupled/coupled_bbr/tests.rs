use super::*;
use crate::testkit::{MSS, feedback, path as view};

/// A sibling of this bandwidth, in kB/s.
fn sibling(kilobytes: u64) -> Sibling {
    let state = Shared { rate: 1e3 * kilobytes as f64 / MSS as f64, ..Shared::default() };
    Sibling { window: 10 * MSS, slow_start: false, mss: MSS, srtt: None, min_rtt: None, state }
}

fn coupling(others: &[u64], last: u32, paths: u32) -> Coupling {
    let CoupledBbr { mut coupling, .. } = CoupledBbr::new(&CoupledBbrOptions::default(), MSS, 0);
    (coupling.last, coupling.paths) = (last, paths);
    let others: Vec<_> = others.iter().map(|other| sibling(*other)).collect();
    coupling.others.set(&others);
    *coupling
}

/// A path of 100 kB/s by hand: others within 20 % are alike, and a count is believed when there was more than one path
/// before, too.
#[test]
fn paths_with_like_bandwidths_are_counted() {
    for (others, before, alike, paths) in [
        (&[][..], 1, 1, 1),
        (&[100], 1, 2, 1),
        (&[100], 2, 2, 2),
        (&[80, 120, 79, 121], 3, 3, 3),
        (&[0, 100], 2, 2, 2),
        (&[50], 2, 1, 2),
        (&[50], 1, 1, 1),
        (&[100, 110, 90], 2, 4, 4),
    ] {
        let mut coupling = coupling(others, before, 1);
        coupling.count(1e5);
        assert_eq!((coupling.last, coupling.paths), (alike, paths), "{others:?}, {before} before");
    }
}

/// The bandwidth is divided in phases 2 to 7, by the count of phase 3.
#[test]
fn the_bandwidth_is_divided_where_the_gain_is_one() {
    let mut two = coupling(&[100], 2, 4);
    let parts = [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(7), Some(0)];
    let parts = parts.map(|phase| two.part(1e5, phase));
    assert_eq!(parts, [1.0, 1.0, 1.0, 0.25, 0.5, 0.5, 0.5, 1.0]);
}

/// A controller whose bandwidth is 1 MB/s over 40 ms, in ProbeBW, and one of BBR with the same history: each ACK of 1000
/// octets tells of that rate. Both enter the same phases.
fn history(others: &[Sibling], acks: u64, mut see: impl FnMut(&Bbr, &CoupledBbr)) {
    let mut bbr = Bbr::new(&BbrOptions::default(), 10 * MSS, u64::MAX);
    let mut coupled = CoupledBbr::new(&CoupledBbrOptions::default(), 10 * MSS, u64::MAX);
    let rtt = Span::from_millis(40);
    for n in 1..=acks {
        let now = Time::ZERO + Span::from_millis(n);
        let in_flight = (40 + n % 20) * MSS;
        let path = crate::PathView { in_flight, acked: n * MSS, ..view(MSS) };
        let rate = crate::RateSample {
            delivered: 40 * MSS,
            interval: rtt,
            prior_delivered: (n * MSS).saturating_sub(40 * MSS),
            total_delivered: n * MSS,
            app_limited: false,
            tx_in_flight: 40 * MSS,
            lost: 0,
        };
        let news = Feedback { rtt: Some(rtt), rate: Some(rate), ..feedback(now, MSS) };
        bbr.on_feedback(&news, &path);
        coupled.on_siblings(others);
        coupled.on_feedback(&news, &path);
        see(&bbr, &coupled);
    }
}

/// Without siblings it is BBR, to the octet.
#[test]
fn alone_it_is_bbr() {
    history(&[], 3000, |bbr, coupled| {
        assert_eq!(bbr.window(), coupled.window());
        assert_eq!(bbr.pacing_rate(None), coupled.pacing_rate(None));
        assert_eq!(coupled.coupling(&sibling(0)), Some(1.0));
    });
}

/// Beside a path of the same bandwidth it paces at half of the bandwidth in three quarters of the cycle, at 1.25 and 0.75
/// times the bandwidth in the rest.
#[test]
fn beside_its_like_it_paces_at_half_the_bandwidth() {
    let bandwidth = MSS as f64 * 1000.0;
    let like = [sibling(MSS)];
    let mut parts = Vec::new();
    history(&like, 3000, |bbr, coupled| {
        let rate = |c: &dyn Controller| c.pacing_rate(None).unwrap().as_bps() as f64 / 8.0;
        let (alone, shared) = (rate(bbr), rate(coupled));
        if coupled.coupling(&like[0]) == Some(2.0) && alone == bandwidth {
            parts.push(shared / alone);
        } else if alone != bandwidth {
            assert_eq!(shared, alone, "in phases 0 and 1, and before ProbeBW");
        }
    });
    assert!(
        parts.len() > 1000 && parts.iter().all(|part| *part == 0.5),
        "{:?}",
        parts.iter().find(|p| **p != 0.5)
    );
    assert!((coupled_rate(&like) - 1000.0).abs() < 1e-6);
}

/// What a path tells the others: segments per second.
fn coupled_rate(others: &[Sibling]) -> f64 {
    let mut rate = 0.0;
    history(others, 200, |_, coupled| rate = coupled.shared().rate);
    rate
}
