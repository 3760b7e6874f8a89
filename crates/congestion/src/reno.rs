//! Reno: additive increase, multiplicative decrease (RFC 5681).
//!
//! §3.1: congestion avoidance, equation (3); reduction, equation (4). The rest
//! is in [`ack_clocked`](crate::ack_clocked). With one MSS per ACK the growth
//! is ns-2's `cwnd += 1 / cwnd`.
//!
//! Left out: the rounding up of equation (3) to one octet, which kept integer
//! windows growing and is needless with a fraction.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::{Acked, Cause, PathView};

/// `RenoOptions` are the settings of [`Reno`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RenoOptions {
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

crate::options::ack_driven!(RenoOptions);

/// The controller of Reno: [`RenoLaw`] driven by ACKs.
pub type Reno = AckClocked<RenoLaw>;

/// `RenoLaw` is Reno's growth and reduction (RFC 5681 §3.1); they need no state.
#[derive(Clone, Copy, Debug)]
pub struct RenoLaw;

/// RFC 5681 (3): MSS * MSS / cwnd for each MSS acknowledged, at most one MSS
/// per ACK.
pub(crate) fn one_segment_per_round(cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
    path.mss as f64 * (acked.bytes as f64 / cwnd).min(1.0)
}

impl Law for RenoLaw {
    type Options = RenoOptions;

    fn new(_options: &RenoOptions) -> RenoLaw {
        RenoLaw
    }

    fn common(options: &RenoOptions) -> &Common {
        &options.common
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        one_segment_per_round(cwnd, acked, path)
    }

    /// Returns half of `base`, as equation (4) has it. A mark counts as a loss (RFC 3168 §6.1.2).
    fn reduce(&mut self, _cwnd: f64, base: f64, _cause: Cause, _path: &PathView) -> f64 {
        base / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{MSS, ack, event, path};
    use crate::{Controller, SsthreshFrom};

    fn reno(window: u64, ssthresh: u64) -> Reno {
        Reno::new(&RenoOptions::default(), window * MSS, ssthresh.saturating_mul(MSS))
    }

    #[test]
    fn slow_start_adds_what_was_acknowledged_up_to_the_limit() {
        for (limit, bytes, grows) in [
            (1, MSS, MSS),
            (1, 2 * MSS, MSS),
            (2, 2 * MSS, 2 * MSS),
            (2, 9 * MSS, 2 * MSS),
            (2, 300, 300),
        ] {
            let common = Common { slow_start_limit: limit, ..Common::default() };
            let options = RenoOptions { common };
            let mut c = Reno::new(&options, 10 * MSS, u64::MAX);
            c.on_ack(&ack(bytes), &path(10));
            assert_eq!(c.window(), 10 * MSS + grows, "L = {limit}, {bytes} octets");
        }
    }

    #[test]
    fn after_a_timeout_slow_start_adds_one_segment_per_ack() {
        // RFC 3465 §2.3.
        let mut c = reno(20, u64::MAX);
        c.on_congestion(&event(Cause::Timeout), &path(20));
        c.on_ack(&ack(8 * MSS), &path(1));
        assert_eq!(c.window(), 2 * MSS);
    }

    #[test]
    fn acks_counted_as_segments_grow_the_window_as_ns2_does() {
        // ns-2: windowInit_ 2, ssthresh 10, 23 ACKs: slow start by 8, then
        // cwnd += 1 / cwnd by 15. The oracle reports 11.41.
        let mut c = reno(2, 10);
        let mut segments = 2.0_f64;
        for _ in 0..23 {
            c.on_ack(&ack(MSS), &path(2));
            segments += if segments < 10.0 { 1.0 } else { 1.0 / segments };
        }
        assert_eq!(c.window(), (segments * MSS as f64) as u64);
        assert!((segments - 11.41).abs() < 0.01, "{segments}");
    }

    #[test]
    fn no_fraction_is_lost() {
        // 1000 ACKs of one octet in a window of 1000 MSS: less than an octet
        // each, one in sum (RFC 5681 equation (3)).
        let mut c = reno(1000, 1);
        for _ in 0..1000 {
            c.on_ack(&ack(1), &path(1000));
        }
        assert_eq!(c.window(), 1000 * MSS + 1 - 1); // 0.9999995 so far
        c.on_ack(&ack(1), &path(1000));
        assert_eq!(c.window(), 1000 * MSS + 1);
    }

    #[test]
    fn loss_halves_the_flight_or_the_window() {
        // RFC 5681 equation (4).
        for (from, left) in [(SsthreshFrom::InFlight, 4_000), (SsthreshFrom::Cwnd, 5_500)] {
            let common = Common { ssthresh_from: from, ..Common::default() };
            let options = RenoOptions { common };
            let mut c = Reno::new(&options, 11 * MSS, u64::MAX);
            c.on_congestion(&event(Cause::Loss), &path(8));
            assert_eq!((c.window(), c.ssthresh()), (left, left));
        }
    }

    /// `tcp_cong_avoid_ai`: a segment more when as many as the window has are acknowledged. With a fraction it takes half
    /// a segment more, since the window grows meanwhile.
    #[test]
    fn as_in_linux_a_window_of_whole_segments_grows_by_one_when_it_is_acknowledged() {
        for (whole, windows) in [(true, [11_000, 12_000]), (false, [10_958, 11_923])] {
            let common = Common { whole_segments: whole, ..Common::default() };
            let mut c = Reno::new(&RenoOptions { common }, 10 * MSS, MSS);
            let mut after = |acks| {
                (0..acks).for_each(|_| c.on_ack(&ack(MSS), &path(10)));
                c.window()
            };
            assert_eq!([after(10), after(11)], windows, "{whole}");
        }
    }

    /// `tcp_reno_ssthresh`: `snd_cwnd >> 1`, two at least. What `snd_cwnd_cnt` has counted towards the next segment
    /// is lost.
    #[test]
    fn as_in_linux_a_loss_halves_whole_segments() {
        let common =
            Common { ssthresh_from: SsthreshFrom::Cwnd, whole_segments: true, ..Common::default() };
        let options = RenoOptions { common };
        for (octets, left) in [(12_999, 6), (12_000, 6), (11_999, 5), (11_000, 5), (3_500, 2)] {
            let mut c = Reno::new(&options, octets, MSS);
            c.on_congestion(&event(Cause::Loss), &path(8));
            assert_eq!((c.window(), c.ssthresh()), (left * MSS, left * MSS), "{octets} octets");
        }
    }

    #[test]
    fn a_reduction_leaves_two_segments_and_a_timeout_one() {
        for (cause, window) in [(Cause::Loss, 2), (Cause::EcnMark, 2), (Cause::Timeout, 1)] {
            let mut c = reno(3, u64::MAX);
            c.on_congestion(&event(cause), &path(3));
            assert_eq!((c.window(), c.ssthresh()), (window * MSS, 2 * MSS), "{cause:?}");
        }
    }

    /// ns-2's `slowdown` with its windows in packets: ssthresh = max(int(cwnd / 2), 2); cwnd = cwnd / 2
    /// after a loss, 1 after a timeout, and the second timeout halves what the first has left.
    #[test]
    fn ns2_keeps_the_threshold_whole_and_the_window_not() {
        let common = Common { ssthresh_from: SsthreshFrom::Ns2, ..Common::default() };
        let with = |window| Reno::new(&RenoOptions { common: common.clone() }, window, u64::MAX);
        for (cwnd, left, ssthresh) in [(11_000, 5500, 5), (3000, 1500, 2), (1000, 1000, 2)] {
            let mut c = with(cwnd);
            c.on_congestion(&event(Cause::Loss), &path(1));
            assert_eq!((c.window(), c.ssthresh()), (left, ssthresh * MSS), "{cwnd}");
        }
        let mut c = with(11_000);
        for ssthresh in [5, 2] {
            c.on_congestion(&event(Cause::Timeout), &path(11));
            assert_eq!((c.window(), c.ssthresh()), (MSS, ssthresh * MSS));
        }
    }

    #[test]
    fn a_second_timeout_of_a_segment_holds_ssthresh() {
        // RFC 5681 §3.1.
        let mut c = reno(20, u64::MAX);
        c.on_congestion(&event(Cause::Timeout), &path(20));
        c.on_congestion(&event(Cause::Timeout), &path(1));
        assert_eq!((c.window(), c.ssthresh()), (MSS, 10 * MSS));
        c.on_ack(&ack(MSS), &path(1));
        c.on_congestion(&event(Cause::Timeout), &path(2));
        assert_eq!(c.ssthresh(), 2 * MSS);
    }

    #[test]
    fn undo_restores_the_state_before_the_first_timeout() {
        let mut c = reno(20, 15);
        c.on_congestion(&event(Cause::Timeout), &path(20));
        c.on_congestion(&event(Cause::Timeout), &path(1));
        c.on_undo();
        assert_eq!((c.window(), c.ssthresh()), (20 * MSS, 15 * MSS));
        c.on_congestion(&event(Cause::Loss), &path(20));
        c.on_undo();
        c.on_undo(); // nothing left to undo
        assert_eq!((c.window(), c.ssthresh()), (20 * MSS, 15 * MSS));
    }

    #[test]
    fn idleness_restarts_from_the_smaller_window_and_keeps_ssthresh() {
        // RFC 5681 §4.1.
        let mut c = reno(20, 15);
        c.on_idle(10 * MSS);
        assert_eq!((c.window(), c.ssthresh()), (10 * MSS, 15 * MSS));
        c.on_idle(12 * MSS);
        assert_eq!(c.window(), 10 * MSS);
    }

    #[test]
    fn a_window_that_is_not_the_limit_does_not_grow() {
        let mut c = reno(20, 15);
        c.on_ack(&ack(MSS), &PathView { app_limited: true, ..path(3) });
        assert_eq!(c.window(), 20 * MSS);
    }
}
