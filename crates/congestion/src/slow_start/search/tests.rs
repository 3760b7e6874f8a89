use super::*;
use crate::ack_clocked::Common;
use crate::reno::{Reno, RenoOptions};
use crate::testkit::bottleneck::{Bottleneck, Network};
use crate::testkit::{MSS, Path, event, path};
use crate::{Algorithm, Cause, Controller, SlowStartExit};
use anabranch_units::Rate;

/// Length of a bin where the initial round-trip time is 100 ms: 350 / 10 ms.
const BIN_MS: u64 = 35;

/// Window, and what is in flight, in segments.
const WINDOW: u64 = 1000;

/// SEARCH on its own: what was sent and acknowledged is given at the end of each bin.
struct Flow {
    search: Search,
    now: Time,
    sent: u64,
    acked: u64,
}

impl Flow {
    /// The first ACK, with a round-trip time of 100 ms.
    fn new(options: SearchOptions) -> Flow {
        let mut flow = Flow { search: Search::new(options), now: Time::ZERO, sent: 0, acked: 0 };
        flow.bins(0, 0, 0, 100);
        flow
    }

    /// So many bins pass, of which an ACK ends the last alone; meanwhile so many segments were
    /// sent and acknowledged.
    fn bins(&mut self, bins: u64, sent: u64, acked: u64, rtt_ms: u64) -> Step {
        self.now += Span::from_millis(BIN_MS * bins);
        self.sent += sent * MSS;
        self.acked += acked * MSS;
        let view = PathView { sent: self.sent, acked: self.acked, ..path(WINDOW) };
        let rtt = Some(Span::from_millis(rtt_ms));
        let acked = Acked { now: self.now, bytes: acked * MSS, rtt };
        self.search.on_ack((WINDOW * MSS) as f64, MSS as f64, &acked, &view)
    }
}

const GROWS: Step = Step::Grow(MSS as f64);

/// So many bins of 100 segments each, sent and acknowledged alike.
fn steady(bins: u64) -> Flow {
    let mut flow = Flow::new(SearchOptions::default());
    for bin in 0..bins {
        assert_eq!(flow.bins(1, 100, 100, 100), GROWS, "bin {bin}");
    }
    flow
}

/// Where half of what is sent still arrives, norm_diff grows by 0.05 with each bin: 0.26 are reached
/// with the sixth.
#[test]
fn slow_start_ends_in_the_bin_where_so_much_is_missing() {
    let mut flow = steady(30);
    for bin in 1..=5 {
        assert_eq!(flow.bins(1, 100, 50, 100), GROWS, "bin {bin}");
    }
    // The window follows the flight: 1000 segments less 50, and a third of these.
    let Step::Shrink(window) = flow.bins(1, 100, 50, 100) else { panic!("the drain begins") };
    assert!((window / MSS as f64 - (950.0 + 50.0 / 3.0)).abs() < 1e-9, "{window}");
}

/// The same with a threshold of each tenth.
#[test]
fn the_threshold_is_an_option() {
    for tenths in 1..=4_u64 {
        let threshold = tenths as f64 / 10.0 - 1e-9;
        let mut flow =
            Flow::new(SearchOptions { threshold, drain: false, ..SearchOptions::default() });
        for _ in 0..30 {
            flow.bins(1, 100, 100, 100);
        }
        let bins = (1..20).find(|_| flow.bins(1, 100, 50, 100) == Step::End);
        assert_eq!(bins, Some(2 * tenths));
    }
}

/// A round trip ago lies between two bins: 100 / 35 = 2.857. Sent were 100 segments a bin and then
/// 200; the window of a round trip ago has 100 (10 - n) + 200 n with n = bins - 2.857.
#[test]
fn what_was_sent_a_round_trip_ago_is_interpolated() {
    let mut flow = steady(30);
    flow.search.options.threshold = 1.0;
    for bin in 1..=8 {
        flow.bins(1, 200, 100, 100);
        let bins = flow.search.bins.as_ref().unwrap();
        let missing = bins.missing(Span::from_millis(100), 15).unwrap();
        let more = (f64::from(bin) - 100.0 / 35.0).max(0.0);
        // The part of a bin counts from its end: what was sent within it is spread evenly.
        let law = 100.0 * more / (1000.0 + 100.0 * more);
        assert!((missing - law).abs() < 1e-3, "bin {bin}: {missing} and {law}");
    }
}

/// A window of ten bins and a round trip of 2.857 have to be there: the 13th bin is the first that is
/// compared. Here nothing arrives.
#[test]
fn nothing_is_compared_before_there_are_enough_bins() {
    let mut flow = Flow::new(SearchOptions { drain: false, ..SearchOptions::default() });
    let first = (1..40).find(|_| flow.bins(1, 100, 0, 100) == Step::End);
    assert_eq!(first, Some(13));
}

/// Fifteen bins are 525 ms.
#[test]
fn a_round_trip_longer_than_the_bins_is_not_compared() {
    for (rtt_ms, ends) in [(524, true), (525, false)] {
        let mut flow = steady(40);
        flow.search.options.drain = false;
        let ended = (0..20).any(|_| flow.bins(1, 100, 10, rtt_ms) == Step::End);
        assert_eq!(ended, ends, "{rtt_ms}");
    }
}

/// Bins that no ACK ends repeat the counts before them: the counts of both windows are those of
/// their bins all the same.
#[test]
fn bins_that_pass_together_keep_the_counts() {
    let mut flow = steady(20);
    assert_eq!(flow.bins(10, 1000, 1000, 100), GROWS);
    let bins = flow.search.bins.as_ref().unwrap();
    assert_eq!(bins.current, 30);
    assert_eq!(bins.delivered(10), 1000.0 * MSS as f64);
    assert_eq!(bins.delivered(0), 0.0);
    assert_eq!(bins.acked[29 % bins.acked.len()], 2000 * MSS);
}

/// One more than `missed_bins`, and the counts say nothing any more: the next ACK is the first.
#[test]
fn after_a_silence_it_begins_anew() {
    let mut flow = steady(20);
    assert_eq!(flow.bins(11, 0, 0, 100), GROWS);
    assert!(flow.search.bins.is_none());
    flow.bins(1, 100, 100, 200);
    assert_eq!(flow.search.bins.as_ref().unwrap().length, Span::from_millis(70));
}

/// 300 segments in flight, 120 a round trip delivered: with each ACK of 3 segments the window falls
/// by 2, down to what three bins (an initial round trip, rounded up) deliver.
#[test]
fn the_overshoot_is_drained_with_the_flight() {
    let mut search = Search::new(SearchOptions::default());
    search.target = Some(120.0 * MSS as f64);
    let (mut window, mut flight, mut acks) = (300.0, 300_u64, 0);
    let acked = Acked { now: Time::ZERO, bytes: 3 * MSS, rtt: None };
    loop {
        let step = search.on_ack(window * MSS as f64, 0.0, &acked, &path(flight));
        let Step::Shrink(octets) = step else {
            assert_eq!(step, Step::End);
            break;
        };
        acks += 1;
        window = octets / MSS as f64;
        flight = window as u64;
    }
    assert_eq!((window, acks), (120.0, 90));
    assert!(search.target.is_none() && search.bins.is_none());
}

fn reno(slow_start_exit: SlowStartExit) -> RenoOptions {
    RenoOptions { common: Common { slow_start_exit, ..Common::default() } }
}

/// Without a bottleneck what was sent arrives: slow start goes on.
#[test]
fn a_window_that_is_delivered_doubles_on() {
    let options = reno(SlowStartExit::Search(SearchOptions::default()));
    let mut c = Reno::new(&options, 10 * MSS, u64::MAX);
    let mut path = Path::new(Span::from_millis(100));
    for round in 0..12 {
        path.round(&mut c);
        assert_eq!(c.ssthresh(), u64::MAX, "round {round}");
    }
    assert_eq!(c.window(), 40_960 * MSS);
}

#[test]
fn a_signal_begins_it_anew() {
    let options = reno(SlowStartExit::Search(SearchOptions::default()));
    let mut c = Reno::new(&options, 10 * MSS, u64::MAX);
    let mut path = Path::new(Span::from_millis(100));
    path.round(&mut c);
    c.on_congestion(&event(Cause::Timeout), &crate::testkit::path(20));
    let state = format!("{c:?}");
    assert!(state.contains("bins: None"), "{state}");
}

/// What happened up to the end of a slow start, over one bottleneck with a buffer of so many
/// bandwidth-delay products.
struct End {
    /// Segments lost.
    lost: u64,
    /// Seconds until the window shrank for the first time, or the threshold was set.
    left_s: f64,
    /// Largest window, and that at the end, in bandwidth-delay products.
    largest: f64,
    window: f64,
}

fn over(exit: SlowStartExit, mbit: u64, rtt_ms: u64, buffer: f64) -> End {
    let bdp = (mbit * rtt_ms) as f64 * 125.0 / MSS as f64;
    let path = Bottleneck {
        rate: Rate::mbit(mbit),
        rtt: Span::from_millis(rtt_ms),
        buffer: (buffer * bdp) as usize,
        mark_above: None,
        loss: 0.0,
    };
    let mut n = Network::new(path, &[Algorithm::Reno(reno(exit))], Span::ZERO);
    let (mut largest, mut left_s) = (0, None);
    while n.flows[0].c.ssthresh() == u64::MAX {
        n.run(Span::from_millis(1));
        let window = n.flows[0].c.window();
        if window < largest || n.flows[0].c.ssthresh() != u64::MAX {
            left_s.get_or_insert(n.now.as_secs_f64());
        }
        largest = largest.max(window);
    }
    let bdps = |octets: u64| octets as f64 / MSS as f64 / bdp;
    End {
        lost: n.dropped,
        left_s: left_s.unwrap(),
        largest: bdps(largest),
        window: bdps(n.flows[0].c.window()),
    }
}

/// Slow start over a FIFO queue without a limit, in initial round-trip times and bandwidth-delay
/// products: from the ACK on that comes at the path's rate the window is 1 / ln 2 + t at time t, and
/// what was sent by x = (t - 1 / ln 2) / 2 has arrived. For t from 3.5 on
///
///     norm_diff = 1 - 3.5 / (2 x + (1 - 2^(x - 3.5)) 2 / ln 2),
///
/// which is 0.26 at t = 3.88, with a window of 5.33. The check comes up to a bin, 0.35, later.
#[test]
fn it_leaves_slow_start_with_the_window_that_its_law_says() {
    let norm_diff = |t: f64| {
        let x = (t - std::f64::consts::LN_2.recip()) / 2.0;
        1.0 - 3.5 / (2.0 * x + (1.0 - libm::exp2(x - 3.5)) * 2.0 / std::f64::consts::LN_2)
    };
    let at = (3500..7000).map(|t| f64::from(t) / 1e3).find(|t| norm_diff(*t) >= 0.26).unwrap();
    let law = at + std::f64::consts::LN_2.recip();
    assert!((law - 5.33).abs() < 0.01, "{law}");
    for (mbit, rtt_ms) in [(10, 100), (10, 600), (100, 50), (100, 200), (100, 800)] {
        let end = over(SlowStartExit::Search(SearchOptions::default()), mbit, rtt_ms, 20.0);
        let largest = end.largest;
        // Slow start sends in bursts: a tenth less.
        assert!((law - 0.1..law + 0.6).contains(&largest), "{mbit} Mbit/s, {rtt_ms} ms: {largest}");
        assert_eq!(end.lost, 0);
        // What three bins deliver, 1.05 initial round-trip times.
        assert!((1.0..1.1).contains(&end.window), "{mbit} Mbit/s, {rtt_ms} ms: {}", end.window);
    }
}

/// The claim of the draft, that slow start ends after the path is full and before a loss, holds
/// where the queue has room for what it takes to see that: five bandwidth-delay products. A shorter
/// queue overflows first, and then SEARCH loses no more than standard slow start.
#[test]
fn it_leaves_slow_start_before_a_loss_where_the_queue_is_long() {
    for (mbit, rtt_ms) in [(10, 100), (10, 600), (100, 50), (100, 800)] {
        for buffer in [1.0, 2.0, 3.0, 4.0, 5.0, 8.0] {
            let search =
                over(SlowStartExit::Search(SearchOptions::default()), mbit, rtt_ms, buffer);
            let standard = over(SlowStartExit::Standard, mbit, rtt_ms, buffer);
            let what = format!("{mbit} Mbit/s, {rtt_ms} ms, {buffer}");
            assert!(search.largest > 1.0, "{what}: left before the path was full");
            assert!(search.lost <= standard.lost && search.left_s <= standard.left_s, "{what}");
            if buffer >= 3.0 {
                assert!(2 * search.lost < standard.lost, "{what}: {}", search.lost);
            }
            assert_eq!(search.lost == 0, buffer >= 5.0, "{what}: {}", search.lost);
        }
    }
}
