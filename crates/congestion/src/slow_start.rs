//! Decides when slow start ends, and how fast the window opens until then: a
//! seam of its own, so that any window algorithm works with any exit rule.

mod hystart;
mod hystart_plus_plus;
mod search;

pub use hystart::HyStartOptions;
pub use hystart_plus_plus::HyStartPlusPlusOptions;
pub use search::SearchOptions;

use crate::{Acked, PathView};
use hystart::HyStart;
use hystart_plus_plus::HyStartPlusPlus;
use search::Search;

/// The rule that ends slow start and says how fast the window opens until then.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum SlowStartExit {
    /// Slow start ends when the window has reached `ssthresh`, and at signals (RFC 5681 §3.1).
    #[default]
    Standard,
    /// As [`SlowStartExit::Standard`], but from `max_ssthresh` segments on the window opens by at
    /// most half of `max_ssthresh` per round (RFC 3742; 100 there).
    Limited {
        /// The window, in segments, up to which it doubles.
        max_ssthresh: u32,
    },
    /// Slow start ends when ACKs fill half a round trip, or the round-trip time rises (Ha and Rhee
    /// 2011, as Linux's CUBIC does).
    HyStart(HyStartOptions),
    /// Slow start ends when the round-trip time rises (HyStart++, RFC 9406).
    HyStartPlusPlus(HyStartPlusPlusOptions),
    /// Slow start ends when less arrives than was sent a round trip before (SEARCH,
    /// draft-chung-ccwg-search).
    Search(SearchOptions),
}

/// `Step` is what an ACK does in slow start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Step {
    /// The window grows by so many octets.
    Grow(f64),
    /// The window falls to so many octets, and slow start goes on.
    Shrink(f64),
    /// Slow start ends, and the threshold is set to the present window.
    End,
}

/// `Exit` is an exit rule with its state.
#[derive(Clone, Debug)]
pub(crate) enum Exit {
    Standard,
    Limited { max_ssthresh: u32 },
    HyStart(HyStart),
    HyStartPlusPlus(HyStartPlusPlus),
    Search(Search),
}

impl Exit {
    pub(crate) fn new(rule: SlowStartExit, paced: bool) -> Exit {
        match rule {
            SlowStartExit::Standard => Exit::Standard,
            SlowStartExit::Limited { max_ssthresh } => Exit::Limited { max_ssthresh },
            SlowStartExit::HyStart(options) => Exit::HyStart(HyStart::new(options, paced)),
            SlowStartExit::HyStartPlusPlus(options) => {
                Exit::HyStartPlusPlus(HyStartPlusPlus::new(options, paced))
            }
            SlowStartExit::Search(options) => Exit::Search(Search::new(options)),
        }
    }

    /// Answers one ACK; `limit` segments at most (RFC 3465).
    pub(crate) fn on_ack(&mut self, cwnd: f64, limit: u64, acked: &Acked, path: &PathView) -> Step {
        let standard = acked.bytes.min(limit * path.mss) as f64;
        match self {
            Exit::Standard => Step::Grow(standard),
            Exit::Limited { max_ssthresh } => {
                Step::Grow(standard / limited_divisor(cwnd / path.mss as f64, *max_ssthresh))
            }
            Exit::HyStart(hystart) => hystart.on_ack(cwnd, standard, acked, path),
            Exit::HyStartPlusPlus(hystart) => hystart.on_ack(standard, acked, path),
            Exit::Search(search) => search.on_ack(cwnd, standard, acked, path),
        }
    }

    /// It needs a round-trip sample with every acknowledgment.
    pub(crate) fn wants_rtts(&self) -> bool {
        matches!(self, Exit::HyStart(_) | Exit::HyStartPlusPlus(_) | Exit::Search(_))
    }

    /// Notes that a signal has ended slow start.
    pub(crate) fn on_congestion(&mut self) {
        match self {
            Exit::HyStartPlusPlus(hystart) => hystart.on_congestion(),
            Exit::Search(search) => search.reset(),
            Exit::Standard | Exit::Limited { .. } | Exit::HyStart(_) => {}
        }
    }

    /// The window restarts after idleness.
    pub(crate) fn on_idle(&mut self) {
        if let Exit::Search(search) = self {
            search.reset();
        }
    }

    /// The last signal proved spurious; slow start may go on.
    pub(crate) fn on_undo(&mut self) {
        if let Exit::HyStartPlusPlus(hystart) = self {
            hystart.on_undo();
        }
    }
}

/// RFC 3742 §2: `K = int(cwnd / (0.5 max_ssthresh))` above `max_ssthresh`;
/// `cwnd` in segments.
fn limited_divisor(cwnd: f64, max_ssthresh: u32) -> f64 {
    let max_ssthresh = f64::from(max_ssthresh.max(1));
    if cwnd <= max_ssthresh { 1.0 } else { (cwnd / (0.5 * max_ssthresh)).floor() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controller;
    use crate::ack_clocked::Common;
    use crate::reno::{Reno, RenoOptions};
    use crate::testkit::{MSS, Path};
    use anabranch_units::Span;

    #[test]
    fn limited_slow_start_divides_from_its_threshold_on() {
        // RFC 3742 §2: one half of an MSS per ACK between max_ssthresh and
        // 1.5 max_ssthresh, a third up to 2 max_ssthresh.
        for (cwnd, divisor) in
            [(100.0, 1.0), (100.5, 2.0), (149.9, 2.0), (150.0, 3.0), (1000.0, 20.0)]
        {
            assert_eq!(limited_divisor(cwnd, 100), divisor, "{cwnd}");
        }
    }

    #[test]
    fn limited_slow_start_takes_the_rounds_of_its_rfc() {
        // RFC 3742 §2: log2(max_ssthresh) rounds to max_ssthresh = 100, then
        // about (cwnd - max_ssthresh) / (max_ssthresh / 2) more; the RFC's
        // example is a window of 83,000 in 1664 rounds where max_ssthresh is
        // 100, in place of 836,000 segments at once.
        let exit = SlowStartExit::Limited { max_ssthresh: 100 };
        let common = Common { slow_start_exit: exit, ..Common::default() };
        let mut c = Reno::new(&RenoOptions { common }, MSS, u64::MAX);
        let mut path = Path::new(Span::from_millis(100));
        let mut rounds = 0;
        while c.window() < 8_300 * MSS {
            let before = c.window();
            path.round(&mut c);
            rounds += 1;
            assert!(before < 100 * MSS || c.window() - before <= 51 * MSS);
        }
        // 6.6 doublings and (8300 - 100) / 50 = 164 rounds of 50; a divisor
        // that is rounded down makes some rounds a little faster.
        assert!((165..=172).contains(&rounds), "{rounds}");
    }
}
