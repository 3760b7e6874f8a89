//! Scalable TCP: the window grows by a constant for each segment acknowledged, so that the time to
//! regain what a loss took does not depend on the window (Kelly, "Scalable TCP: improving performance
//! in highspeed wide area networks", CCR 33(2), 2003).
//!
//! §3: `cwnd += a` for each ACK, `cwnd -= b cwnd` at a loss, a = 0.01, b = 0.125; up to the legacy
//! window, 16 segments, Reno.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::reno::one_segment_per_round;
use crate::{Acked, Cause, PathView};

/// `ScalableOptions` are the settings of [`Scalable`].
#[derive(Clone, PartialEq, Debug)]
pub struct ScalableOptions {
    /// `a`: segments more for each segment acknowledged; 0.01.
    pub a: f64,
    /// `b`: the part of the window that a loss takes; 0.125.
    pub b: f64,
    /// `lwnd`: the window, in segments, up to which it is Reno; 16.
    pub legacy_window: u32,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for ScalableOptions {
    fn default() -> ScalableOptions {
        ScalableOptions { a: 0.01, b: 0.125, legacy_window: 16, common: Common::default() }
    }
}

crate::options::ack_driven!(ScalableOptions, |o, form| {
    form.says("segments more for each acknowledged").number("a", 0.0..=1.0, &mut o.a)?;
    form.says("part that a loss takes").probability("b", &mut o.b)?;
    form.says("segments up to which it is Reno").integer(
        "legacy_window",
        1..=1_000_000,
        &mut o.legacy_window,
    )?;
});

/// The controller of Scalable TCP: [`ScalableLaw`] driven by ACKs.
pub type Scalable = AckClocked<ScalableLaw>;

/// `ScalableLaw` is the growth and reduction of Scalable TCP.
#[derive(Clone, Copy, Debug)]
pub struct ScalableLaw {
    a: f64,
    b: f64,
    /// `legacy_window` is the window in segments up to which the algorithm behaves as Reno.
    legacy_window: f64,
}

impl Law for ScalableLaw {
    type Options = ScalableOptions;

    fn new(options: &ScalableOptions) -> ScalableLaw {
        let ScalableOptions { a, b, legacy_window, .. } = *options;
        ScalableLaw { a, b, legacy_window: f64::from(legacy_window) }
    }

    fn common(options: &ScalableOptions) -> &Common {
        &options.common
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        if cwnd <= self.legacy_window * path.mss as f64 {
            return one_segment_per_round(cwnd, acked, path);
        }
        self.a * (acked.bytes as f64).min(cwnd)
    }

    fn reduce(&mut self, cwnd: f64, base: f64, _cause: Cause, path: &PathView) -> f64 {
        let legacy = cwnd <= self.legacy_window * path.mss as f64;
        base * if legacy { 0.5 } else { 1.0 - self.b }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controller;
    use crate::testkit::{MSS, Path};
    use anabranch_testkit::marks::record;
    use anabranch_units::Span;

    fn scalable(segments: u64) -> Scalable {
        Scalable::new(&ScalableOptions::default(), segments * MSS, MSS)
    }

    /// Between two losses the window grows from (1 - b) W to W by `a` for each of 1/p segments, e^a in a
    /// round: the mean is a / (p ln(1 / (1 - b))).
    #[test]
    fn the_response_is_inverse_to_the_loss_rate() {
        for p in [1e-3, 1e-4, 1e-5] {
            let law = 0.01 / p / (1.0_f64 / 0.875).ln();
            let mut c = scalable(law as u64);
            let mut path = Path::new(Span::from_millis(100));
            path.periodic_loss(&mut c, p, 20);
            let measured = path.periodic_loss(&mut c, p, 20);
            let quantity = format!("scalable: average window, p = {p:e}");
            record("T7", &quantity, format!("{law:.1}"), format!("{measured:.1}"), "1 %");
            assert!((measured / law - 1.0).abs() < 0.01, "{measured} of {law}");
        }
    }

    /// §3: 13.4 round trips, whatever the window, to regain what a loss took.
    #[test]
    fn the_time_to_recover_does_not_depend_on_the_window() {
        for window in [100, 1000, 10_000] {
            let mut c = scalable(window);
            let mut path = Path::new(Span::from_millis(100));
            path.signal(&mut c, Cause::Loss);
            assert_eq!(c.window(), window * MSS * 7 / 8);
            let mut rounds = 0;
            while c.window() < window * MSS {
                path.round(&mut c);
                rounds += 1;
            }
            assert!((13..=15).contains(&rounds), "{window}: {rounds}");
        }
    }

    #[test]
    fn small_windows_are_reno_s() {
        let mut c = scalable(10);
        Path::new(Span::from_millis(100)).round(&mut c);
        assert!((10_900..=11_000).contains(&c.window()), "{}", c.window());
        Path::new(Span::from_millis(100)).signal(&mut c, Cause::Loss);
        assert!((5450..=5500).contains(&c.window()), "{}", c.window());
    }
}
