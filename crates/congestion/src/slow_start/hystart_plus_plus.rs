//! HyStart++: leave slow start when the round-trip time rises (RFC 9406).
//!
//! A rise of the smallest round-trip time from one round to the next ends the
//! doubling; conservative slow start (CSS) then opens the window more slowly
//! for some rounds and either resumes slow start, when the rise was jitter, or
//! ends it. Section 4.2; the names are the RFC's. Used for the first slow start
//! of a connection alone, as §4.3 recommends.
//!
//! Deviation: acknowledgments that come while the window is not the limit
//! are not seen here, so that they neither give samples nor end rounds.

use super::Step;
use crate::round::Round;
use crate::{Acked, PathView};
use anabranch_units::Span;

/// `HyStartPlusPlusOptions` has the constants of RFC 9406 §4.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HyStartPlusPlusOptions {
    /// `MIN_RTT_THRESH`: the least rise that counts; 4 ms.
    pub min_rtt_thresh: Span,
    /// `MAX_RTT_THRESH`: a rise that always counts; 16 ms.
    pub max_rtt_thresh: Span,
    /// `MIN_RTT_DIVISOR`: between the two, this part of the round-trip time; 8.
    pub min_rtt_divisor: u32,
    /// `N_RTT_SAMPLE`: samples that a round needs; 8.
    pub n_rtt_sample: u32,
    /// `CSS_GROWTH_DIVISOR`: how much slower CSS grows; 4, and 2 at least (RFC 9406 §4.3).
    pub css_growth_divisor: u32,
    /// `CSS_ROUNDS`: rounds of CSS; 5.
    pub css_rounds: u32,
    /// `L`: segments that an ACK may add at most; 8. A paced sender has none.
    pub limit: u32,
}

impl Default for HyStartPlusPlusOptions {
    fn default() -> HyStartPlusPlusOptions {
        HyStartPlusPlusOptions {
            min_rtt_thresh: Span::from_millis(4),
            max_rtt_thresh: Span::from_millis(16),
            min_rtt_divisor: 8,
            n_rtt_sample: 8,
            css_growth_divisor: 4,
            css_rounds: 5,
            limit: 8,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStartPlusPlus {
    options: HyStartPlusPlusOptions,
    paced: bool,
    /// `active` says that the first slow start is not over.
    active: bool,
    /// `active` before the last signal.
    was_active: bool,
    /// `windowEnd`: the end of the round in which the smallest round-trip time is sought.
    round: Round,
    /// `last_round_min_rtt` is the smallest round-trip time of the round before, and
    /// `current_round_min_rtt` that of this one; [`Span::MAX`] is the RFC's infinity.
    last_round_min_rtt: Span,
    current_round_min_rtt: Span,
    rtt_sample_count: u32,
    /// `css` is conservative slow start, while it lasts (RFC 9406 §4.2).
    css: Option<Css>,
}

#[derive(Clone, Copy, Debug)]
struct Css {
    /// `CSS_baselineMinRTT`: a smaller round-trip time than this resumes slow start.
    baseline_min_rtt: Span,
    /// Rounds of CSS that have ended, the partial first one included.
    rounds: u32,
}

impl HyStartPlusPlus {
    pub(crate) fn new(options: HyStartPlusPlusOptions, paced: bool) -> HyStartPlusPlus {
        HyStartPlusPlus {
            options,
            paced,
            active: true,
            was_active: true,
            round: Round::default(),
            last_round_min_rtt: Span::MAX,
            current_round_min_rtt: Span::MAX,
            rtt_sample_count: 0,
            css: None,
        }
    }

    /// Answers one ACK; `standard` is what it adds once HyStart++ is over.
    pub(crate) fn on_ack(&mut self, standard: f64, acked: &Acked, path: &PathView) -> Step {
        if !self.active {
            return Step::Grow(standard);
        }
        if self.round.begins(path) {
            self.next_round();
            if self.css.is_some_and(|css| css.rounds >= self.options.css_rounds) {
                self.active = false;
                return Step::End;
            }
        }
        if let Some(rtt) = acked.rtt {
            self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
            self.rtt_sample_count += 1;
        }
        let most = if self.paced { u64::MAX } else { u64::from(self.options.limit) * path.mss };
        let octets = acked.bytes.min(most) as f64;
        let growth = match self.css {
            None => octets,
            Some(_) => octets / f64::from(self.options.css_growth_divisor.max(2)),
        };
        self.judge();
        Step::Grow(growth)
    }

    /// A round ended: what it saw becomes what the next one is compared with.
    fn next_round(&mut self) {
        self.last_round_min_rtt = self.current_round_min_rtt;
        self.current_round_min_rtt = Span::MAX;
        self.rtt_sample_count = 0;
        if let Some(css) = &mut self.css {
            css.rounds += 1;
        }
    }

    /// Into CSS when the delay rose, back when it was jitter.
    fn judge(&mut self) {
        if self.rtt_sample_count < self.options.n_rtt_sample {
            return;
        }
        let current = self.current_round_min_rtt;
        match self.css {
            None if current != Span::MAX && self.last_round_min_rtt != Span::MAX => {
                let part = self.last_round_min_rtt / u64::from(self.options.min_rtt_divisor.max(1));
                let thresh = part.min(self.options.max_rtt_thresh).max(self.options.min_rtt_thresh);
                if current >= self.last_round_min_rtt + thresh {
                    self.css = Some(Css { baseline_min_rtt: current, rounds: 0 });
                }
            }
            Some(css) if current < css.baseline_min_rtt => self.css = None,
            _ => {}
        }
    }

    /// Loss or a mark ends slow start; the signal sets `ssthresh`.
    pub(crate) fn on_congestion(&mut self) {
        self.was_active = self.active;
        self.active = false;
    }

    pub(crate) fn on_undo(&mut self) {
        self.active = self.was_active;
    }
}

#[cfg(test)]
mod tests;
