//! HighSpeed TCP (RFC 3649): in windows above `Low_Window` larger steps up
//! and smaller steps down, so that a loss rate of 1e-7 sustains a window of
//! 83,000 segments and not 3,900.
//!
//! §5: the response function `w = (p / Low_P)^S Low_Window` is a straight line
//! between two points on the log-log plot; `b(w)` falls linearly in `log w`;
//! `a(w)` follows from both. They are computed as the RFC's formulas have them,
//! not read from its table, whenever the window has another whole number of
//! segments.
//!
//! Above `High_Window`, about which the RFC is silent, `b` stays at
//! `High_Decrease` and the line goes on.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::{Acked, Cause, PathView};

/// `HighSpeedOptions` are the settings of [`HighSpeed`]: the parameters of RFC 3649 §5.
#[derive(Clone, PartialEq, Debug)]
pub struct HighSpeedOptions {
    /// `Low_Window`, segments: up to here Reno; 38.
    pub low_window: u32,
    /// `Low_P`: the loss rate at which Reno's average window is `Low_Window`;
    /// 1e-3 (1.2 / sqrt(p) = 38).
    pub low_p: f64,
    /// `High_Window`, segments; 83,000.
    pub high_window: u32,
    /// `High_P`: the loss rate at which the average window is `High_Window`.
    pub high_p: f64,
    /// `High_Decrease`: the part of `High_Window` that a loss takes; 0.1.
    pub high_decrease: f64,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for HighSpeedOptions {
    fn default() -> HighSpeedOptions {
        HighSpeedOptions {
            low_window: 38,
            low_p: 1e-3,
            high_window: 83_000,
            high_p: 1e-7,
            high_decrease: 0.1,
            common: Common::default(),
        }
    }
}

crate::options::ack_driven!(HighSpeedOptions, |o, form| {
    form.says("segments up to which it is Reno (RFC 3649 §5)").integer(
        "low_window",
        1..=1_000_000,
        &mut o.low_window,
    )?;
    form.says("loss rate at `low_window`").probability("low_p", &mut o.low_p)?;
    form.says("segments at the other end of the response function").integer(
        "high_window",
        2..=100_000_000,
        &mut o.high_window,
    )?;
    form.says("loss rate at `high_window`").probability("high_p", &mut o.high_p)?;
    form.says("part of `high_window` that a loss takes, at most 0.5")
        .probability("high_decrease", &mut o.high_decrease)?;
    form.require(o.high_window > o.low_window, "high_window", "more than `low_window`")?;
    let falls = o.high_p > 0.0 && o.high_p < o.low_p;
    form.require(falls, "high_p", "more than 0 and less than `low_p`")?;
    form.require(o.high_decrease <= 0.5, "high_decrease", "at most 0.5")?;
});

/// The controller of HighSpeed TCP: [`HighSpeedLaw`] driven by ACKs.
pub type HighSpeed = AckClocked<HighSpeedLaw>;

/// `HighSpeedLaw` is the growth and reduction of HighSpeed TCP, with the logarithms that they need.
#[derive(Clone, Copy, Debug)]
pub struct HighSpeedLaw {
    /// `Low_Window` and the logarithms of it and of `Low_P`.
    low_window: f64,
    log_low_window: f64,
    log_low_p: f64,
    /// `log High_Window - log Low_Window`, `log High_P - log Low_P`.
    log_windows: f64,
    log_ps: f64,
    high_decrease: f64,
    /// Whole segments of the window for which `a` was computed.
    segments: u64,
    a: f64,
}

impl HighSpeedLaw {
    /// `b(w)`: the part of the window that a loss takes; `w` in segments.
    fn b(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 0.5;
        }
        let along = (libm::log(w) - self.log_low_window) / self.log_windows;
        (self.high_decrease - 0.5) * along.min(1.0) + 0.5
    }

    /// `a(w)`: segments more per round trip.
    fn a(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        // p(w), the inverse of the response function.
        let along = (libm::log(w) - self.log_low_window) / self.log_windows;
        let p = libm::exp(along * self.log_ps + self.log_low_p);
        let b = self.b(w);
        w * w * p * 2.0 * b / (2.0 - b)
    }
}

impl Law for HighSpeedLaw {
    type Options = HighSpeedOptions;

    fn new(options: &HighSpeedOptions) -> HighSpeedLaw {
        let low_window = f64::from(options.low_window.max(1));
        let log_low_window = libm::log(low_window);
        let log_low_p = libm::log(options.low_p);
        // High_Window above Low_Window, or the line would be upright.
        let high_window = f64::from(options.high_window).max(low_window + 1.0);
        HighSpeedLaw {
            low_window,
            log_low_window,
            log_low_p,
            log_windows: libm::log(high_window) - log_low_window,
            log_ps: libm::log(options.high_p) - log_low_p,
            high_decrease: options.high_decrease,
            segments: 0,
            a: 1.0,
        }
    }

    fn common(options: &HighSpeedOptions) -> &Common {
        &options.common
    }

    /// Returns the growth with one ACK: `w += a(w) / w` for each segment acknowledged, and as for
    /// Reno not more than a round's growth per ACK (§5).
    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let mss = path.mss as f64;
        let w = cwnd / mss;
        let segments = w as u64;
        if segments != self.segments {
            self.segments = segments;
            self.a = self.a(w);
        }
        self.a * mss * (acked.bytes as f64 / cwnd).min(1.0)
    }

    fn reduce(&mut self, cwnd: f64, base: f64, _cause: Cause, path: &PathView) -> f64 {
        base * (1.0 - self.b(cwnd / path.mss as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controller;
    use crate::testkit::{MSS, Path, ack, event, path};
    use anabranch_units::Span;

    #[test]
    fn a_and_b_are_those_of_the_table() {
        // RFC 3649 appendix B: the windows at which a(w) reaches a whole
        // number, with b(w).
        let law = HighSpeedLaw::new(&HighSpeedOptions::default());
        for (w, a, b) in [
            (38.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (347.0, 4.0, 0.38),
            (495.0, 5.0, 0.37),
            (1058.0, 8.0, 0.33),
            (5036.0, 20.0, 0.24),
        ] {
            assert!((law.a(w) - a).abs() < 0.04 * a, "a({w}) = {}", law.a(w));
            assert!((law.b(w) - b).abs() < 0.006, "b({w}) = {}", law.b(w));
        }
        assert!((law.b(83_000.0) - 0.1).abs() < 1e-12);
        assert!((law.b(1e6) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn small_windows_are_reno_s() {
        let mut c = HighSpeed::new(&HighSpeedOptions::default(), 30 * MSS, MSS);
        c.on_ack(&ack(MSS), &path(30));
        assert_eq!(c.window(), 30 * MSS + MSS / 30);
        c.on_congestion(&event(Cause::Loss), &path(30));
        assert_eq!(c.window(), 15 * MSS);
    }

    #[test]
    fn a_round_adds_a_and_a_loss_takes_b() {
        let mut c = HighSpeed::new(&HighSpeedOptions::default(), 1058 * MSS, MSS);
        Path::new(Span::from_millis(100)).round(&mut c);
        let gained = c.window() as f64 / MSS as f64 - 1058.0;
        assert!((gained - 8.0).abs() < 0.2, "{gained}");
        c.on_congestion(&event(Cause::Loss), &path(1000));
        let left = c.window() as f64 / MSS as f64;
        assert!((left - 675.0).abs() < 5.0, "{left}");
    }
}
