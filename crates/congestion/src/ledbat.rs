//! LEDBAT: a window for the background, which keeps a target of queueing delay and gives way to all
//! that fill queues (RFC 6817).
//!
//! §2.4.2: `off_target = (TARGET - queuing_delay) / TARGET`, `cwnd += GAIN off_target bytes_newly_acked
//! MSS / cwnd`; the queueing delay is the smallest of the last samples over the smallest of each of
//! the last ten minutes; the window is at most the flight and `ALLOWED_INCREASE`, at least
//! `MIN_CWND`; a loss halves.
//!
//! Deviation: the delay is that of the round trip, in place of the forward path (§2.1), since no
//! receiver sends the latter back. Choice: slow start, which the RFC leaves open, ends where the delay
//! reaches the target.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::window::Window;
use crate::{Acked, Cause, PathView};
use anabranch_units::{Span, Time};

/// `LedbatOptions` are the settings of [`Ledbat`]: the constants of RFC 6817 §2.5.
#[derive(Clone, PartialEq, Debug)]
pub struct LedbatOptions {
    /// `TARGET`: the queueing delay to keep, at most 100 ms (§2.3); 100 ms.
    pub target: Span,
    /// `GAIN`: at most 1, so that it grows no faster than Reno (§2.4.2); 1.
    pub gain: f64,
    /// `ALLOWED_INCREASE`, segments; 1.
    pub allowed_increase: u32,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for LedbatOptions {
    fn default() -> LedbatOptions {
        LedbatOptions {
            target: Span::from_millis(100),
            gain: 1.0,
            allowed_increase: 1,
            common: Common::default(),
        }
    }
}

crate::options::ack_driven!(LedbatOptions, |o, form| {
    form.says("queueing delay to keep").span("target", &mut o.target)?;
    form.says("steps as part of Reno's").probability("gain", &mut o.gain)?;
    form.says("segments beyond the flight").integer(
        "allowed_increase",
        1..=1000,
        &mut o.allowed_increase,
    )?;
    form.require(o.target > Span::ZERO, "target", "more than 0 s")?;
});

/// `Delays` are those of the path: the base and the current one, in the way of RFC 6817 §3.4.2.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    /// `base_delays`: the smallest of each minute, `BASE_HISTORY` of them, the current minute's last.
    base: [Span; 10],
    minute: Option<Time>,
    /// `current_delays`: the last samples, `CURRENT_FILTER` of them.
    current: [Span; 4],
    next: usize,
}

impl Default for Delays {
    fn default() -> Delays {
        Delays { base: [Span::MAX; 10], minute: None, current: [Span::MAX; 4], next: 0 }
    }
}

impl Delays {
    /// Takes a sample of the round-trip time into both histories.
    pub(crate) fn on_sample(&mut self, now: Time, rtt: Span) {
        let since = *self.minute.get_or_insert(now);
        if now >= since + Span::from_secs(60) {
            self.base.rotate_left(1);
            self.base[9] = rtt;
            self.minute = Some(now);
        }
        self.base[9] = self.base[9].min(rtt);
        self.current[self.next] = rtt;
        self.next = (self.next + 1) % self.current.len();
    }

    /// Returns the base delay; `Span::MAX` before a sample.
    pub(crate) fn base(&self) -> Span {
        self.base.iter().copied().min().unwrap_or(Span::MAX)
    }

    /// Returns the queueing delay; `None` before a sample.
    pub(crate) fn queueing(&self) -> Option<Span> {
        let current = self.current.iter().copied().min().filter(|rtt| *rtt < Span::MAX)?;
        Some(current.saturating_sub(self.base()))
    }
}

/// The controller of LEDBAT: [`LedbatLaw`] driven by ACKs.
pub type Ledbat = AckClocked<LedbatLaw>;

/// `LedbatLaw` is LEDBAT's growth and reduction, with the histories of delay that they need.
#[derive(Clone, Debug)]
pub struct LedbatLaw {
    target: Span,
    gain: f64,
    allowed_increase: f64,
    delays: Box<Delays>,
}

impl Law for LedbatLaw {
    type Options = LedbatOptions;

    fn new(options: &LedbatOptions) -> LedbatLaw {
        LedbatLaw {
            target: options.target,
            gain: options.gain,
            allowed_increase: f64::from(options.allowed_increase),
            delays: Box::default(),
        }
    }

    fn common(options: &LedbatOptions) -> &Common {
        &options.common
    }

    fn steer(&mut self, window: &mut Window, acked: &Acked, path: &PathView) -> bool {
        if let Some(rtt) = acked.rtt.filter(|rtt| *rtt > Span::ZERO) {
            self.delays.on_sample(acked.now, rtt);
        }
        let Some(queueing) = self.delays.queueing() else { return false };
        let off_target = 1.0 - queueing.as_secs_f64() / self.target.as_secs_f64();
        if window.cwnd < window.ssthresh {
            if off_target > 0.0 {
                return false;
            }
            window.ssthresh = window.cwnd;
        }
        let mss = path.mss as f64;
        let bytes = (acked.bytes as f64).min(window.cwnd);
        let most = path.in_flight as f64 + self.allowed_increase * mss;
        let cwnd = window.cwnd + self.gain * off_target * bytes * mss / window.cwnd;
        // The flight bounds what is added, and never takes anything (§2.4.2).
        let cwnd = if cwnd > window.cwnd { cwnd.min(most.max(window.cwnd)) } else { cwnd };
        window.cwnd = cwnd.max(2.0 * mss).min(cwnd.max(window.cwnd));
        window.ssthresh = window.ssthresh.min(window.cwnd).max(2.0 * mss);
        true
    }

    fn avoid(&mut self, _cwnd: f64, _acked: &Acked, _path: &PathView) -> f64 {
        0.0 // steered
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, _cause: Cause, _path: &PathView) -> f64 {
        base / 2.0
    }

    fn wants_feedback(&self) -> bool {
        true // for the samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controller;
    use crate::testkit::{MSS, Path, ack, path as view};

    /// A window of 100 segments in congestion avoidance, base delay 100 ms, then a segment
    /// acknowledged at this round-trip time.
    fn change(rtt_ms: u64) -> f64 {
        let mut c = Ledbat::new(&LedbatOptions::default(), 100 * MSS, MSS);
        let sample = |c: &mut Ledbat, ms, bytes| {
            let rtt = Some(Span::from_millis(ms));
            c.on_ack(&Acked { rtt, ..ack(bytes) }, &view(100));
        };
        sample(&mut c, 100, 0);
        (0..4).for_each(|_| sample(&mut c, rtt_ms, 0));
        let before = c.law_window();
        sample(&mut c, rtt_ms, MSS);
        c.law_window() - before
    }

    impl Ledbat {
        fn law_window(&self) -> f64 {
            self.window.cwnd
        }
    }

    /// GAIN off_target MSS MSS / cwnd: 10 octets at no delay, none at the target, -10 at twice it.
    #[test]
    fn the_window_follows_the_distance_to_the_target() {
        for (rtt_ms, law) in [(100, 10.0), (150, 5.0), (200, 0.0), (300, -10.0), (250, -5.0)] {
            let found = change(rtt_ms);
            assert!((found - law).abs() < 1e-6, "{rtt_ms} ms: {found} of {law}");
        }
    }

    /// Without a queue it is Reno.
    #[test]
    fn without_a_queue_a_round_adds_a_segment() {
        let mut c = Ledbat::new(&LedbatOptions::default(), 100 * MSS, MSS);
        let mut path = Path::new(Span::from_millis(100));
        path.round(&mut c);
        assert!((c.window() as f64 / MSS as f64 - 101.0).abs() < 0.02, "{}", c.window());
        path.signal(&mut c, Cause::Loss);
        assert!((c.window() as f64 / MSS as f64 - 50.5).abs() < 0.02, "{}", c.window());
    }

    /// A smallest delay is forgotten after ten minutes.
    #[test]
    fn the_base_is_the_smallest_of_ten_minutes() {
        let mut delays = Delays::default();
        let at = |minute: u64| Time::ZERO + Span::from_secs(60 * minute);
        delays.on_sample(at(0), Span::from_millis(50));
        for minute in 1..=10 {
            delays.on_sample(at(minute), Span::from_millis(100 + minute));
            let base = if minute < 10 { 50 } else { 101 };
            assert_eq!(delays.base(), Span::from_millis(base), "minute {minute}");
        }
        assert_eq!(delays.queueing(), Some(Span::from_millis(6)), "the last four are 107 to 110");
    }
}
