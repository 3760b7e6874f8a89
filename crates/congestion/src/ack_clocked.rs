//! What algorithms share that are driven by ACKs: slow start, the moments at
//! which the window grows, shrinks, is restored and restarts, and the options
//! that fit all of them. What tells them apart is a [`Law`]: growth in
//! congestion avoidance and the size of a reduction.
//!
//! RFC 5681 §3.1 (slow start, thresholds, timeouts) and §4.1 (idleness), RFC
//! 3465 (byte counting), RFC 8511 (ABE), RFC 7661 (validation). Windows are
//! octets with their fraction: an increment smaller than an octet is not lost.
//!
//! Left out: the inflation of fast recovery (RFC 5681 §3.2), which belongs to
//! the recovery scheme.

use crate::careful_resume::{CarefulResume, CarefulResumeOptions};
use crate::pacing::Pacing;
use crate::reduction::{SsthreshFrom, held, reported};
use crate::slow_start::{Exit, SlowStartExit, Step};
use crate::validation::Validation;
use crate::window::{Window, settled, whole_segments};
use crate::{Acked, Cause, CongestionEvent, Controller, Feedback, PathView, Shared, Sibling};
use anabranch_units::{Rate, Span, Time};
use std::fmt::Debug;

/// `Common` has the options of every algorithm that is driven by ACKs.
#[derive(Clone, PartialEq, Debug)]
pub struct Common {
    /// `ssthresh_from` is the quantity that a reduction takes a part of.
    pub ssthresh_from: SsthreshFrom,
    /// The rule that ends slow start before a signal does.
    pub slow_start_exit: SlowStartExit,
    /// `slow_start_limit` is the most segments added per ACK in slow start (RFC 3465 §2.2, `L`; 1
    /// is RFC 5681 to the letter). Zero counts as 1; 255 is without limit, while a timeout is
    /// repaired too, as Linux has it.
    pub slow_start_limit: u8,
    /// The window is a number of segments, and what is acknowledged towards the next is counted beside it (Linux:
    /// `snd_cwnd`, `snd_cwnd_cnt`): growth is that of the whole window, and a reduction acts on whole segments,
    /// rounded down before and after. Not the RFC's.
    pub whole_segments: bool,
    /// `ecn_beta` is the part of the window that a mark leaves, where that differs from a loss
    /// (ABE, RFC 8511; 0.8 for Reno and 0.85 for CUBIC there).
    pub ecn_beta: Option<f64>,
    /// `validation` turns congestion-window validation on (RFC 7661).
    pub validation: bool,
    /// `pacing` says whether to pace, and how much faster than a window per round trip.
    pub pacing: Option<Pacing>,
    /// `careful_resume` has what was saved of an earlier flow, for the start of this one (RFC 9959).
    pub careful_resume: Option<CarefulResumeOptions>,
}

impl Default for Common {
    fn default() -> Common {
        Common {
            ssthresh_from: SsthreshFrom::InFlight,
            slow_start_exit: SlowStartExit::Standard,
            slow_start_limit: 2,
            whole_segments: false,
            ecn_beta: None,
            validation: false,
            pacing: None,
            careful_resume: None,
        }
    }
}

/// `Law` is the part in which algorithms differ. Hooks have empty defaults.
pub trait Law: Debug {
    /// `Options` are the settings of the law, those that all laws share among them.
    type Options;

    /// `ANSWERS_MARKS` says that the law answers marks in its own way, so that `ecn_beta` has no
    /// part in it.
    const ANSWERS_MARKS: bool = false;

    /// `LONGEST_BURST` is the longest time, at the pacing rate, that data which leaves together may
    /// take, where the law has such a bound.
    const LONGEST_BURST: Option<Span> = None;

    /// Makes the law as it is at the start of a connection.
    fn new(options: &Self::Options) -> Self;

    /// Returns the options that all laws share.
    fn common(options: &Self::Options) -> &Common;

    /// An ACK came; `limited` when the window must not grow with it.
    fn on_ack(&mut self, _now: Time, _limited: bool) {}

    /// Data was sent at this time; called for every segment that leaves.
    fn on_sent(&mut self, _now: Time, _path: &PathView) {}

    /// An ACK that lets the window grow, in slow start too; true when the law
    /// has set the window itself.
    fn steer(&mut self, _window: &mut Window, _acked: &Acked, _path: &PathView) -> bool {
        false
    }

    /// Returns by how many octets this ACK opens the window in congestion avoidance.
    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64;

    /// Returns the octets that a signal leaves of the window; `base` is the flight or the window,
    /// as `ssthresh_from` has it. A timeout sets the threshold to it.
    fn reduce(&mut self, cwnd: f64, base: f64, cause: Cause, path: &PathView) -> f64;

    /// Returns the fewest segments that a signal leaves, timeouts apart.
    fn fewest(&self, _cause: Cause) -> f64 {
        2.0
    }

    /// Takes back the last reduction, which was spurious.
    fn on_undo(&mut self) {}

    /// Prepares the law for the restart of the window after idleness.
    fn on_idle(&mut self) {}

    /// Returns whether the law hears [`Law::on_feedback`] and a round-trip sample with every
    /// acknowledgment.
    fn wants_feedback(&self) -> bool {
        false
    }

    /// Hears all that an acknowledgment told ([`Controller::on_feedback`]).
    fn on_feedback(&mut self, _feedback: &Feedback, _path: &PathView) {}

    /// `COUPLED` says that the law depends on the other paths of a connection.
    const COUPLED: bool = false;

    /// Hears of the other paths ([`Controller::on_siblings`]).
    fn on_siblings(&mut self, _siblings: &[Sibling]) {}

    /// Returns the facts that siblings should know of this path, whose window is `cwnd`.
    fn shared(&self, _cwnd: f64) -> Shared {
        Shared::default()
    }

    /// Returns the quantity that couples the path to its siblings ([`Controller::coupling`]).
    fn coupling(&self, _path: &Sibling) -> Option<f64> {
        None
    }
}

/// A window that grows with ACKs, under the law `L`.
#[derive(Debug)]
pub struct AckClocked<L> {
    pub(crate) window: Window,
    /// `window` before the last reduction.
    before: Window,
    /// `before` holds something.
    can_undo: bool,
    /// The timer expired and no ACK has come since: the segment that times
    /// out next has been retransmitted already.
    backed_off: bool,
    /// Slow start repairs a timeout: `L` is 1 (RFC 3465 §2.3), since an ACK
    /// may then cover octets that left the network long ago.
    repairing: bool,
    slow_start_limit: u8,
    whole_segments: bool,
    ssthresh_from: SsthreshFrom,
    pub(crate) law: L,
    extras: Option<Box<Extras>>,
}

/// `Extras` has options that few algorithms use, in a box of their own.
#[derive(Debug)]
struct Extras {
    exit: Exit,
    ecn_beta: Option<f64>,
    validation: Option<Validation>,
    pacing: Option<Pacing>,
    resume: Option<CarefulResume>,
}

impl<L: Law> AckClocked<L> {
    /// A window of `initial_window` octets that doubles each round until
    /// `initial_ssthresh` octets (`u64::MAX` for no threshold).
    pub fn new(options: &L::Options, initial_window: u64, initial_ssthresh: u64) -> AckClocked<L> {
        let common = L::common(options);
        let plain = Common {
            ssthresh_from: common.ssthresh_from,
            slow_start_limit: common.slow_start_limit,
            whole_segments: common.whole_segments,
            ..Common::default()
        };
        let cwnd = initial_window.max(1) as f64;
        let extras = (*common != plain).then(|| {
            Box::new(Extras {
                exit: Exit::new(common.slow_start_exit, common.pacing.is_some()),
                ecn_beta: common.ecn_beta,
                validation: common.validation.then(|| Validation::new(cwnd)),
                pacing: common.pacing,
                resume: common.careful_resume.map(|saved| CarefulResume::new(saved, cwnd)),
            })
        });
        let window = Window { cwnd, ssthresh: held(initial_ssthresh) };
        AckClocked {
            window,
            before: window,
            can_undo: false,
            backed_off: false,
            repairing: false,
            slow_start_limit: common.slow_start_limit.max(1),
            whole_segments: common.whole_segments,
            ssthresh_from: common.ssthresh_from,
            law: L::new(options),
            extras,
        }
    }

    /// Opens the window by what this ACK allows, in slow start or in congestion avoidance.
    fn grow(&mut self, acked: &Acked, path: &PathView) {
        // At equality RFC 5681 leaves the choice; here, as in ns-2, slow start
        // has ended.
        if self.window.cwnd < self.window.ssthresh {
            match self.slow_start(acked, path) {
                Step::Grow(octets) => self.window.cwnd += octets,
                Step::Shrink(octets) => self.window.cwnd = octets,
                Step::End => self.window.ssthresh = self.window.cwnd,
            }
        } else {
            self.repairing = false;
            let window = self.counted(self.window.cwnd, path.mss as f64);
            self.window.cwnd += self.law.avoid(window, acked, path);
        }
    }

    /// Computes by how many octets this ACK opens the window in slow start: RFC 5681 §3.1 equation
    /// (2) with the limit of RFC 3465 §2.2.
    fn slow_start(&mut self, acked: &Acked, path: &PathView) -> Step {
        let limit = match self.slow_start_limit {
            u8::MAX => u64::MAX / path.mss.max(1),
            _ if self.repairing => 1,
            limit => limit as u64,
        };
        match &mut self.extras {
            None => Step::Grow(acked.bytes.min(limit * path.mss) as f64),
            Some(extras) => extras.exit.on_ack(self.window.cwnd, limit, acked, path),
        }
    }

    /// `octets` as the window counts them: in whole segments, or as they are.
    fn counted(&self, octets: f64, mss: f64) -> f64 {
        if self.whole_segments { whole_segments(octets, mss) } else { octets }
    }

    /// Careful Resume, while it is under way.
    fn resume(&mut self) -> Option<&mut CarefulResume> {
        self.extras.as_mut()?.resume.as_mut().filter(|resume| resume.is_active())
    }

    /// Returns whether the window must not grow with this ACK.
    fn is_limited(&mut self, acked: &Acked, path: &PathView) -> bool {
        if self.resume().is_some_and(|resume| resume.holds()) {
            return true;
        }
        match self.extras.as_mut().and_then(|extras| extras.validation.as_mut()) {
            None => path.app_limited,
            Some(validation) => {
                let validated = validation.on_ack(&mut self.window, acked.now, path);
                path.app_limited && !validated
            }
        }
    }
}

impl<L: Law> Controller for AckClocked<L> {
    fn on_sent(&mut self, now: Time, bytes: u64, path: &PathView) {
        self.law.on_sent(now, path);
        if let Some(extras) = &mut self.extras {
            if let Some(validation) = &mut extras.validation {
                validation.on_sent(&mut self.window, now);
            }
            if let Some(resume) = &mut extras.resume {
                resume.on_sent(&mut self.window, bytes, path);
            }
        }
    }

    fn on_ack(&mut self, acked: &Acked, path: &PathView) {
        self.backed_off = false;
        let limited = self.is_limited(acked, path);
        self.law.on_ack(acked.now, limited);
        if limited {
            return;
        }
        if !self.law.steer(&mut self.window, acked, path) {
            self.grow(acked, path);
        }
        if self.whole_segments {
            self.window.cwnd = settled(self.window.cwnd, path.mss as f64);
        }
    }

    fn wants_feedback(&self) -> bool {
        let extra = |extras: &Extras| {
            extras.validation.is_some()
                || extras.exit.wants_rtts()
                || extras.resume.as_ref().is_some_and(CarefulResume::is_active)
        };
        self.law.wants_feedback() || self.extras.as_deref().is_some_and(extra)
    }

    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        self.law.on_feedback(feedback, path);
        if let Some(validation) = self.extras.as_mut().and_then(|e| e.validation.as_mut()) {
            validation.on_feedback(&mut self.window, feedback, path.mss as f64);
        }
        if let Some(resume) = self.extras.as_mut().and_then(|e| e.resume.as_mut()) {
            resume.on_feedback(&mut self.window, feedback, path);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        let mss = path.mss as f64;
        // RFC 5681 §3.1: when the segment that timed out has already been
        // retransmitted by a timeout, ssthresh is held constant.
        let ns2 = self.ssthresh_from == SsthreshFrom::Ns2;
        let repeated = event.cause == Cause::Timeout && self.backed_off && !ns2;
        if !repeated {
            self.before = self.window;
            self.can_undo = true;
            if self.whole_segments {
                // What was counted towards the next segment is lost.
                self.window.cwnd = whole_segments(self.window.cwnd, mss).max(mss);
            }
            let mut base = self.ssthresh_from.base(self.window.cwnd, path);
            let mut ecn_beta = None;
            if let Some(extras) = &mut self.extras {
                extras.exit.on_congestion();
                ecn_beta =
                    extras.ecn_beta.filter(|_| event.cause == Cause::EcnMark && !L::ANSWERS_MARKS);
                if let Some(validation) = &mut extras.validation {
                    base = validation.on_congestion(&self.window, base, path);
                }
            }
            let own = self.law.reduce(self.window.cwnd, base, event.cause, path);
            let left = self.counted(ecn_beta.map_or(own, |beta| base * beta), mss);
            let fewest = if ns2 { 1.0 } else { self.law.fewest(event.cause) } * mss;
            self.window.cwnd = self.window.cwnd.min(left.max(fewest)).max(mss);
            let threshold = if ns2 { whole_segments(left, mss) } else { left };
            self.window.ssthresh = threshold.max(2.0 * mss);
            if let Some(resume) = self.extras.as_mut().and_then(|e| e.resume.as_mut()) {
                self.can_undo &= !resume.on_congestion(&mut self.window, event.cause, path);
            }
        }
        if event.cause == Cause::Timeout {
            self.window.cwnd = mss; // §3.1, the loss window
            self.backed_off = true;
            self.repairing = true;
        }
    }

    fn on_undo(&mut self) {
        if self.can_undo && self.window.undo(self.before) {
            self.backed_off = false;
            self.repairing = false;
            self.law.on_undo();
            if let Some(extras) = &mut self.extras {
                extras.exit.on_undo();
                if let Some(validation) = &mut extras.validation {
                    validation.on_undo();
                }
            }
        }
        self.can_undo = false;
    }

    fn on_idle(&mut self, initial: u64) {
        if let Some(resume) = self.resume() {
            resume.on_idle();
        }
        if self.extras.as_ref().is_some_and(|extras| extras.validation.is_some()) {
            return; // RFC 7661 §4.4 keeps the window, for five minutes
        }
        // RFC 5681 §4.1: RW = min(IW, cwnd).
        self.window.cwnd = self.window.cwnd.min(initial.max(1) as f64);
        self.can_undo = false;
        self.law.on_idle();
        if let Some(extras) = &mut self.extras {
            extras.exit.on_idle();
        }
    }

    fn is_coupled(&self) -> bool {
        L::COUPLED
    }

    fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.law.on_siblings(siblings);
    }

    fn shared(&self) -> Shared {
        self.law.shared(self.window.cwnd)
    }

    fn coupling(&self, path: &Sibling) -> Option<f64> {
        self.law.coupling(path)
    }

    fn on_penalty(&mut self, mss: u64) {
        let mss = mss as f64;
        // As Linux: slow start goes on to where it was going.
        let avoids = self.window.cwnd >= self.window.ssthresh;
        self.window.cwnd = self.counted(self.window.cwnd / 2.0, mss).max(mss);
        if avoids {
            self.window.ssthresh = self.counted(self.window.ssthresh / 2.0, mss).max(2.0 * mss);
        }
        self.can_undo = false;
    }

    fn window(&self) -> u64 {
        self.window.cwnd as u64
    }

    fn ssthresh(&self) -> u64 {
        reported(self.window.ssthresh)
    }

    fn pacing_rate(&self, srtt: Option<Span>) -> Option<Rate> {
        let extras = self.extras.as_ref()?;
        let resumed = extras.resume.as_ref().and_then(|resume| resume.pacing_rate(srtt));
        resumed.or_else(|| extras.pacing.as_ref()?.rate(&self.window, srtt))
    }

    fn longest_burst(&self) -> Option<Span> {
        L::LONGEST_BURST
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{MSS, ack, event, path};

    /// Steers its window to all of its third segment but a billionth of an octet.
    #[derive(Debug)]
    struct Steered;

    impl Law for Steered {
        type Options = Common;

        fn new(_: &Common) -> Steered {
            Steered
        }

        fn common(options: &Common) -> &Common {
            options
        }

        fn steer(&mut self, window: &mut Window, _: &Acked, path: &PathView) -> bool {
            window.cwnd = 3.0 * path.mss as f64 - 1e-9;
            true
        }

        fn avoid(&mut self, _: f64, _: &Acked, _: &PathView) -> f64 {
            0.0
        }

        fn reduce(&mut self, cwnd: f64, _: f64, _: Cause, _: &PathView) -> f64 {
            cwnd
        }
    }

    #[test]
    fn a_window_is_not_rounded_up_by_a_reduction() {
        let options = Common { whole_segments: true, ..Common::default() };
        let mut c = AckClocked::<Steered>::new(&options, MSS, MSS);

        c.on_ack(&ack(MSS), &path(1));
        assert_eq!(c.window(), 3 * MSS);

        c.on_congestion(&event(Cause::Loss), &path(3));
        assert_eq!(c.window(), 3 * MSS);
    }
}
