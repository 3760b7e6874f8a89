//! Prague: DCTCP for the Internet, with a rate that does not depend on round-trip times below 25 ms
//! (draft-briscoe-iccrg-prague-congestion-control; the requirements of RFC 9331 §4).
//!
//! Like DCTCP's (RFC 8257), `alpha` is a moving average of the part of the octets that met congestion, and
//! a mark takes `alpha / 2` of the window. A *virtual* round trip stands in for the real one: the
//! average moves and the window shrinks once in each, and the window grows by a segment and `RTT /
//! RTT_virt` for each, so that two flows under the same marking send at the same rate. A loss halves.
//! The flow is paced. The exact echo of marks, and ECT(1), are the connection's.
//!
//! An ACK that reports marks lets the window not grow; others do, in a reduction too.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::window::Window;
use crate::{Acked, Cause, Feedback, OptionForm, Options, Pacing, PathView};
use anabranch_units::{Span, Time};

/// `VirtualRtt` says how the virtual round-trip time follows from the real one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum VirtualRtt {
    /// The larger of the real one and `reference`: no dependence below it (the draft's default).
    #[default]
    AtLeast,
    /// The sum of both: as if the queue of a classic flow were waited for too.
    Plus,
    /// The real one alone, as in DCTCP.
    Real,
}

/// `PragueOptions` are the settings of [`Prague`].
#[derive(Clone, PartialEq, Debug)]
pub struct PragueOptions {
    /// `g`: weight of a virtual round trip's marks in `alpha`; 1/16.
    pub g: f64,
    /// `alpha` at the start, so that the first mark takes half of it; 1.
    pub initial_alpha: f64,
    /// `virtual_rtt` says how the virtual round-trip time follows from the real one.
    pub virtual_rtt: VirtualRtt,
    /// The reference round-trip time from which the virtual one follows; 25 ms.
    pub reference: Span,
    /// Options shared with other algorithms; paced by default.
    pub common: Common,
}

impl Default for PragueOptions {
    fn default() -> PragueOptions {
        let pacing = Some(Pacing { slow_start: 200, avoidance: 100 });
        PragueOptions {
            g: 1.0 / 16.0,
            initial_alpha: 1.0,
            virtual_rtt: VirtualRtt::default(),
            reference: Span::from_millis(25),
            common: Common { pacing, ..Common::default() },
        }
    }
}

impl Options for PragueOptions {
    const ANSWERS_MARKS: bool = true;

    fn common_mut(&mut self) -> Option<&mut Common> {
        Some(&mut self.common)
    }

    fn own<F: OptionForm>(&mut self, form: &mut F) -> Result<(), F::Error> {
        form.says("as in `dctcp`, over virtual round trips").probability("g", &mut self.g)?;
        form.says("first value of `alpha`, as in `dctcp`")
            .probability("initial_alpha", &mut self.initial_alpha)?;
        let rtts = [
            ("at-least", VirtualRtt::AtLeast),
            ("plus", VirtualRtt::Plus),
            ("real", VirtualRtt::Real),
        ];
        form.says(
            "virtual round-trip time: the larger of the real one and `reference`, `\"plus\"`: \
             their sum, `\"real\"`: as DCTCP",
        )
        .choice("virtual_rtt", &rtts, &mut self.virtual_rtt)?;
        form.says("the round-trip time that `virtual_rtt` goes by")
            .span("reference", &mut self.reference)
    }
}

/// The controller of Prague: [`PragueLaw`] driven by ACKs.
pub type Prague = AckClocked<PragueLaw>;

/// `PragueLaw` is Prague's growth and reduction, with the moving average of marks.
#[derive(Clone, Copy, Debug)]
pub struct PragueLaw {
    g: f64,
    virtual_rtt: VirtualRtt,
    reference: Span,
    alpha: f64,
    /// Octets delivered and marked in this virtual round trip, and its start.
    delivered: u64,
    marked: u64,
    since: Time,
    /// `now` is the time of the last acknowledgment, and `reduced` that of the last reduction by a
    /// mark.
    now: Time,
    reduced: Option<Time>,
    /// A mark came after a virtual round trip, while the sender took it for one of the last reduction's
    /// window: the next ACK reduces.
    owed: bool,
    /// `reduced_before` is the time of the reduction before, for an undo.
    reduced_before: Option<Time>,
}

impl PragueLaw {
    /// Returns the real and the virtual round-trip time; `None` before one is measured.
    fn rtts(&self, path: &PathView) -> Option<(Span, Span)> {
        let rtt = path.srtt.filter(|srtt| *srtt > Span::ZERO)?;
        let with = match self.virtual_rtt {
            VirtualRtt::AtLeast => rtt.max(self.reference),
            VirtualRtt::Plus => rtt + self.reference,
            VirtualRtt::Real => rtt,
        };
        Some((rtt, with))
    }
}

impl Law for PragueLaw {
    type Options = PragueOptions;

    const ANSWERS_MARKS: bool = true;

    /// RFC 9331 §4.3, item 7: a burst is to make a queue of about 250 us at most.
    const LONGEST_BURST: Option<Span> = Some(Span::from_micros(250));

    fn new(options: &PragueOptions) -> PragueLaw {
        PragueLaw {
            g: options.g,
            virtual_rtt: options.virtual_rtt,
            reference: options.reference,
            alpha: options.initial_alpha,
            delivered: 0,
            marked: 0,
            since: Time::ZERO,
            now: Time::ZERO,
            reduced: None,
            owed: false,
            reduced_before: None,
        }
    }

    fn common(options: &PragueOptions) -> &Common {
        &options.common
    }

    /// Makes a reduction for a mark of which [`Law::reduce`] did not hear.
    fn steer(&mut self, window: &mut Window, acked: &Acked, path: &PathView) -> bool {
        if !self.owed {
            return false;
        }
        let left = window.cwnd * (1.0 - self.alpha / 2.0);
        window.cwnd = window.cwnd.min(left.max(2.0 * path.mss as f64));
        window.ssthresh = window.cwnd.max(2.0 * path.mss as f64);
        (self.owed, self.reduced) = (false, Some(acked.now));
        false
    }

    /// A segment in a real round trip where it is the virtual one; else `(RTT / RTT_virt)^2`, which is
    /// `RTT / RTT_virt` in a virtual one and a rate that grows as at `RTT_virt`.
    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let scale = self.rtts(path).map_or(1.0, |(rtt, with)| {
            let part = rtt.as_secs_f64() / with.as_secs_f64();
            part * part
        });
        scale * path.mss as f64 * (acked.bytes as f64 / cwnd).min(1.0)
    }

    fn reduce(&mut self, cwnd: f64, base: f64, cause: Cause, path: &PathView) -> f64 {
        if cause != Cause::EcnMark {
            return base / 2.0;
        }
        self.reduced_before = self.reduced;
        let with = self.rtts(path).map_or(Span::ZERO, |(_, with)| with);
        if self.reduced.is_some_and(|at| self.now < at.saturating_add(with)) {
            return cwnd; // once in a virtual round trip
        }
        self.owed = false;
        self.reduced = Some(self.now);
        cwnd * (1.0 - self.alpha / 2.0)
    }

    fn on_undo(&mut self) {
        self.reduced = self.reduced_before;
    }

    fn wants_feedback(&self) -> bool {
        true
    }

    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        self.now = feedback.now;
        self.delivered += feedback.delivered;
        self.marked += feedback.marked;
        let Some((_, with)) = self.rtts(path) else { return };
        let reduced_long_ago = |at: Time| feedback.now >= at.saturating_add(with);
        self.owed |= feedback.marked > 0 && self.reduced.is_some_and(reduced_long_ago);
        if feedback.now < self.since.saturating_add(with) || self.delivered == 0 {
            return;
        }
        // A report of marks may come later than that of the delivery.
        let part = self.marked.min(self.delivered) as f64 / self.delivered as f64;
        self.alpha += self.g * (part - self.alpha);
        (self.delivered, self.marked, self.since) = (0, 0, feedback.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controller;
    use crate::testkit::{MSS, event, feedback, path as view};
    use anabranch_testkit::marks::record;

    fn prague(segments: u64, change: impl FnOnce(&mut PragueOptions)) -> Prague {
        let mut options = PragueOptions::default();
        change(&mut options);
        Prague::new(&options, segments * MSS, MSS)
    }

    /// Segments per second in a steady state in which a segment of every `1 / p` is marked, each `rtt_ms`:
    /// one ACK a segment, spaced over the round trip.
    fn rate(rtt_ms: u64, p: f64, kind: VirtualRtt) -> f64 {
        let mut c = prague(4 * rtt_ms, |o| (o.virtual_rtt, o.initial_alpha) = (kind, p));
        let rtt = Span::from_millis(rtt_ms);
        let (mut now, mut acked, mut sum, mut owed, mut cwr) = (Time::ZERO, 0, 0.0, 0.0, 0);
        let seconds = 200;
        while now < Time::ZERO + Span::from_secs(seconds) {
            let window = c.window();
            now += rtt * MSS / window;
            acked += MSS;
            owed += p;
            let srtt = Some(rtt);
            let sent = acked + window;
            let path = PathView { srtt, min_rtt: srtt, sent, acked, in_flight: window, ..view(1) };
            let is_marked = owed >= 1.0;
            if is_marked {
                owed -= 1.0;
                if acked > cwr {
                    c.on_congestion(&CongestionEvent { now, cause: Cause::EcnMark }, &path);
                    cwr = sent;
                }
            } else {
                c.on_ack(&Acked { now, bytes: MSS, rtt: srtt }, &path);
            }
            let marked = if is_marked { MSS } else { 0 };
            c.on_feedback(&Feedback { marked, rtt: srtt, ..feedback(now, MSS) }, &path);
            if now > Time::ZERO + Span::from_secs(seconds / 2) {
                sum += 1.0;
            }
        }
        sum / (seconds / 2) as f64
    }

    /// Under the same marking all flows below 25 ms send at the rate of that round-trip time: a segment a
    /// virtual round trip against p W / 2, so 2 / (p RTT_virt) and somewhat more, since marks are
    /// even.
    #[test]
    fn the_rate_below_25_ms_does_not_depend_on_the_round_trip_time() {
        let p = 0.05;
        let reference = rate(25, p, VirtualRtt::AtLeast);
        let law = 2.0 / p / 0.025;
        assert!((0.95..1.35).contains(&(reference / law)), "{reference} of {law}");
        for rtt_ms in [5, 10, 15] {
            let found = rate(rtt_ms, p, VirtualRtt::AtLeast) / reference;
            let quantity = format!("prague: rate at {rtt_ms} ms over that at 25 ms");
            record("T10", &quantity, 1.0, format!("{found:.2}"), "0.2");
            assert!((0.8..1.2).contains(&found), "{rtt_ms} ms: {found}");
        }
        let real = rate(5, p, VirtualRtt::Real) / reference;
        assert!(real > 4.0, "without it the rate at 5 ms is five times that at 25: {real}");
    }

    /// `alpha` moves once in 25 ms though the round trip takes 5.
    #[test]
    fn alpha_is_an_average_over_virtual_round_trips() {
        let mut c = prague(100, |o| o.initial_alpha = 0.0);
        let srtt = Some(Span::from_millis(5));
        let mut law = 0.0;
        for n in 1..=100 {
            let now = Time::ZERO + Span::from_millis(5 * n);
            let news = Feedback { marked: MSS / 4, ..feedback(now, MSS) };
            c.on_feedback(&news, &PathView { srtt, ..view(100) });
            if n % 5 == 0 {
                law += (0.25 - law) / 16.0;
            }
            assert!((c.law.alpha - law).abs() < 1e-12, "{n}: {} of {law}", c.law.alpha);
        }
    }

    #[test]
    fn a_mark_takes_half_of_alpha_and_a_loss_half() {
        let mut c = prague(100, |o| o.initial_alpha = 0.2);
        c.on_congestion(&event(Cause::EcnMark), &view(100));
        assert_eq!(c.window(), 90 * MSS);
        c.on_congestion(&event(Cause::EcnMark), &view(90));
        assert_eq!(c.window(), 90 * MSS, "once in a virtual round trip");
        c.on_congestion(&event(Cause::Loss), &view(90));
        assert_eq!(c.window(), 45 * MSS);
    }

    /// RFC 9331 §4.3, item 7: what leaves together takes 250 us at the rate at most, and is a packet at
    /// least: 16 Mbit/s and 160 Mbit/s are 0.5 and 5 packets of 1000 octets. A smaller bound of the
    /// sender stays.
    #[test]
    fn bursts_are_as_long_as_250_us_at_the_rate() {
        for (rtt_ms, bound, expected) in [(100, 20, 1), (10, 20, 5), (10, 2, 2)] {
            let srtt = Some(Span::from_millis(rtt_ms));
            let options = PragueOptions::default();
            let mut driver = Driver::new(Algorithm::Prague(options).build(100 * MSS, u64::MAX));
            driver.note_pacing(srtt);
            let mut burst = 0;
            while driver.paced_until(Time::ZERO).is_none() {
                driver.on_paced(Time::ZERO, (MSS, Bytes(MSS)), bound * MSS, srtt);
                burst += 1;
            }
            assert_eq!(burst, expected, "{rtt_ms} ms, {bound} packets");
        }
    }

    use crate::Driver;
    use crate::{Algorithm, CongestionEvent};
    use anabranch_units::Bytes;
}
