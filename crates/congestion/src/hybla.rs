//! Hybla: steps that grow with the round-trip time, so that a connection over a satellite sends as
//! fast as one over 25 ms (Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous
//! networks", International Journal of Satellite Communications and Networking 22(5), 2004).
//!
//! With `rho = RTT / RTT_0`, at least 1, each segment acknowledged adds `2^rho - 1` segments in slow
//! start and `rho^2 / W` in congestion avoidance (equation 7). A loss halves.
//!
//! Choices: `RTT` is the smallest seen, so that a queue does not quicken it; one ACK adds no more than
//! the window and 100 segments, since `2^rho` and `rho^2` have no bound.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::window::Window;
use crate::{Acked, Cause, PathView};
use anabranch_units::Span;

/// `HyblaOptions` are the settings of [`Hybla`].
#[derive(Clone, PartialEq, Debug)]
pub struct HyblaOptions {
    /// `RTT_0`: the round-trip time of the connection that is equalled; 25 ms.
    pub rtt0: Span,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for HyblaOptions {
    fn default() -> HyblaOptions {
        HyblaOptions { rtt0: Span::from_millis(25), common: Common::default() }
    }
}

crate::options::ack_driven!(HyblaOptions, |o, form| {
    form.says("round-trip time of the connection that is equalled").span("rtt0", &mut o.rtt0)?;
    form.require(o.rtt0 > Span::ZERO, "rtt0", "more than 0 s")?;
});

/// The controller of Hybla: [`HyblaLaw`] driven by ACKs.
pub type Hybla = AckClocked<HyblaLaw>;

/// Hybla's growth, which is scaled by the path's round-trip time over `rtt0`.
#[derive(Clone, Copy, Debug)]
pub struct HyblaLaw {
    rtt0: Span,
}

/// Returns the most octets that one ACK may add.
fn most(cwnd: f64, path: &PathView) -> f64 {
    cwnd.min(100.0 * path.mss as f64)
}

impl HyblaLaw {
    /// Returns `rho`, the round-trip time as a multiple of `rtt0`.
    fn rho(&self, path: &PathView) -> f64 {
        let rtt = path.min_rtt.map_or(0.0, Span::as_secs_f64);
        (rtt / self.rtt0.as_secs_f64()).max(1.0)
    }
}

impl Law for HyblaLaw {
    type Options = HyblaOptions;

    fn new(options: &HyblaOptions) -> HyblaLaw {
        HyblaLaw { rtt0: options.rtt0 }
    }

    fn common(options: &HyblaOptions) -> &Common {
        &options.common
    }

    fn steer(&mut self, window: &mut Window, acked: &Acked, path: &PathView) -> bool {
        let rho = self.rho(path);
        if rho <= 1.0 || window.cwnd >= window.ssthresh {
            return false; // as Reno's slow start; or congestion avoidance
        }
        let step = (libm::exp2(rho) - 1.0) * (acked.bytes as f64).min(path.mss as f64);
        let room = (window.ssthresh - window.cwnd).max(path.mss as f64);
        window.cwnd += step.min(most(window.cwnd, path)).min(room);
        true
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let rho = self.rho(path);
        let acked = (acked.bytes as f64 / cwnd).min(1.0);
        (rho * rho * path.mss as f64 * acked).min(most(cwnd, path))
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, _cause: Cause, _path: &PathView) -> f64 {
        base / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controller;
    use crate::testkit::{MSS, Path};
    use anabranch_testkit::marks::record;

    /// Segments per second after `seconds` of congestion avoidance from the window that RTT_0 has at 10
    /// segments, scaled by rho.
    fn rate(rtt_ms: u64, seconds: u64) -> f64 {
        let start = 10 * rtt_ms / 25 * MSS;
        let mut c = Hybla::new(&HyblaOptions::default(), start, MSS);
        let mut path = Path::new(Span::from_millis(rtt_ms));
        while path.now < anabranch_units::Time::ZERO + Span::from_secs(seconds) {
            path.ack(&mut c);
        }
        c.window() as f64 / MSS as f64 / (rtt_ms as f64 / 1e3)
    }

    /// Equation 6: the segment rate is (10 + t / RTT_0) / RTT_0, for every round-trip time.
    #[test]
    fn the_rate_does_not_depend_on_the_round_trip_time() {
        for rtt_ms in [25, 100, 250, 600] {
            let law = (10.0 + 10.0 / 0.025) / 0.025;
            let found = rate(rtt_ms, 10);
            let quantity = format!("hybla: segments per second after 10 s, RTT {rtt_ms} ms");
            record("T7", &quantity, format!("{law:.0}"), format!("{found:.0}"), "2 %");
            assert!((found / law - 1.0).abs() < 0.02, "{rtt_ms} ms: {found} of {law}");
        }
    }

    /// 2^rho - 1 segments for each ACK, the window at most, up to the threshold.
    #[test]
    fn slow_start_steps_by_two_to_the_rho_less_one() {
        let view = |ms| {
            let min_rtt = Some(Span::from_millis(ms));
            PathView { min_rtt, ..crate::testkit::path(10) }
        };
        for (rtt_ms, segments) in [(10, 11), (25, 11), (50, 13), (75, 17), (400, 20)] {
            let mut c = Hybla::new(&HyblaOptions::default(), 10 * MSS, u64::MAX);
            c.on_ack(&crate::testkit::ack(MSS), &view(rtt_ms));
            assert!(c.window().abs_diff(segments * MSS) <= 1, "{rtt_ms} ms: {}", c.window());
        }
        let mut c = Hybla::new(&HyblaOptions::default(), 10 * MSS, 12 * MSS);
        c.on_ack(&crate::testkit::ack(MSS), &view(400));
        assert_eq!(c.window(), 12 * MSS);
    }
}
