//! Drives a law of a library behind the seam of all window algorithms.
//!
//! The law is made with the first data that its side sends, so that the side that only receives has none. The window
//! is ours: a hook writes to it, and what it left is looked at after each.

use crate::library::{Law, Library, Panicked};
use anabranch_algorithm::abi::{Hook, Siblings, Table, bits};
use anabranch_algorithm::{self as told, Before, Window};
use anabranch_congestion::{
    Acked, Cause, CongestionEvent, Controller, Feedback, LostSegment, PathView, RateSample, Shared,
    Sibling,
};
use anabranch_custom::{Failure, Place};
use anabranch_units::{Rate, Span, Time};
use std::sync::Arc;

/// Most octets that a window may have.
const LARGEST: f64 = (1_u64 << 40) as f64;

/// A law at its place.
pub(crate) struct Control {
    algorithm: Arc<str>,
    library: Library,
    values: Arc<[f64]>,
    place: Place,
    law: Option<Law>,
    window: Window,
    /// What the sender asks for, as the last hook left it.
    cwnd: u64,
    ssthresh: u64,
    pacing: Option<Rate>,
    /// The window before the last reduction, to undo it.
    before: Option<Before>,
    /// A timeout, and no ACK since.
    backed_off: bool,
    /// A timeout, and slow start since.
    repairing: bool,
    siblings: Vec<told::Sibling>,
}

impl Control {
    /// A window of so many octets, which the law of `library` with these values will govern.
    pub(crate) fn new(
        algorithm: &Arc<str>,
        (library, values): (Library, Arc<[f64]>),
        place: &Place,
        initial_window: u64,
        initial_ssthresh: u64,
    ) -> Control {
        let mut window = Window::new(0, initial_window as f64);
        if initial_ssthresh != u64::MAX {
            window.ssthresh = initial_ssthresh as f64;
        }
        window.seed = place.seed;
        Control {
            algorithm: algorithm.clone(),
            library,
            values,
            place: place.clone(),
            law: None,
            window,
            cwnd: initial_window,
            ssthresh: initial_ssthresh,
            pacing: None,
            before: None,
            backed_off: false,
            repairing: false,
            siblings: Vec::new(),
        }
    }

    /// Makes the law before its first hook.
    #[inline]
    fn started(&mut self, path: &PathView) {
        self.window.mss = path.mss;
        if self.law.is_none() {
            self.start();
        }
    }

    #[cold]
    fn start(&mut self) {
        match self.library.make(&self.values) {
            Ok(law) => self.law = Some(law),
            Err(panic) => self.failed("new", panic),
        }
        self.call("on_start", |table| table.on_start, &0);
    }

    /// Calls a hook, and takes over what it left. `of` is where its function stands.
    #[inline]
    fn call<F>(&mut self, hook: &'static str, of: impl Fn(&Table) -> Hook<F>, fact: &F) {
        let Some(law) = &mut self.law else { return };
        match law.call(of, &mut self.window, fact) {
            Ok(()) => self.take(hook),
            Err(panic) => self.failed(hook, panic),
        }
    }

    #[inline]
    fn take(&mut self, hook: &'static str) {
        let Window { cwnd, ssthresh, pacing_bps, mss, .. } = self.window;
        // Comparisons with what is not a number are false.
        let fits = cwnd >= mss as f64 && cwnd <= LARGEST && ssthresh >= 0.0;
        if !fits || (pacing_bps != 0.0 && !(1.0..=1e15).contains(&pacing_bps)) {
            self.refuse(hook);
        }
        self.cwnd = cwnd as u64;
        self.ssthresh = ssthresh as u64; // saturates
        self.pacing = Rate::from_bps(pacing_bps as u64);
    }

    /// Ends the run for what a hook left.
    #[cold]
    fn refuse(&self, hook: &str) -> ! {
        let Window { cwnd, ssthresh, pacing_bps, mss, .. } = self.window;
        let (problem, broken) = if !(0.0..=LARGEST).contains(&cwnd) {
            let allowed = "a number of octets from one segment to 2**40";
            (format!("cwnd = {cwnd}: allowed: {allowed}"), "finite")
        } else if ssthresh.is_nan() || ssthresh < 0.0 {
            (format!("ssthresh = {ssthresh}: allowed: a number of octets, or infinity"), "finite")
        } else if cwnd < mss as f64 {
            (format!("cwnd is {cwnd}, less than a segment of {mss} octets"), "one-segment")
        } else {
            let allowed = "0 for none, or a rate from 1 to 1e15 bit/s";
            (format!("pacing_bps = {pacing_bps}: allowed: {allowed}"), "finite")
        };
        let message = format!("after {hook}: {problem}");
        let failure = Failure::new(&self.algorithm, &self.place.name, message);
        Failure { broken: Some(broken), ..failure }.raise()
    }

    /// Ends the run for a panic.
    #[cold]
    fn failed(&self, hook: &str, panic: Panicked) -> ! {
        let message = format!("in {hook}: panic: {}", panic.message);
        let mut failure = Failure::new(&self.algorithm, &self.place.name, message);
        if let Some((file, line)) = panic.place {
            (failure.file, failure.line) = (Some(file), Some(line));
        }
        failure.raise()
    }
}

impl Controller for Control {
    fn on_sent(&mut self, now: Time, bytes: u64, path: &PathView) {
        if self.law.is_some() && !self.library.has(bits::SENT) {
            return;
        }
        self.started(path);
        if self.library.has(bits::SENT) {
            self.call(
                "on_sent",
                |table| table.on_sent,
                &told::Sent { path: view(now, path), bytes },
            );
        }
    }

    fn on_ack(&mut self, acked: &Acked, path: &PathView) {
        self.backed_off = false;
        self.started(path);
        self.repairing &= path.app_limited || self.window.cwnd < self.window.ssthresh;
        let ack = told::Ack {
            path: view(acked.now, path),
            acked: acked.bytes,
            rtt: span(acked.rtt),
            after_timeout: self.repairing,
        };
        self.call("on_ack", |table| table.on_ack, &ack);
    }

    fn wants_feedback(&self) -> bool {
        self.library.has(bits::REPORTS | bits::LOSSES)
    }

    fn owns_recovery(&self) -> bool {
        self.library.has(bits::RECOVERY)
    }

    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        if !self.wants_feedback() {
            return;
        }
        self.started(path);
        let report = told::Report {
            path: view(feedback.now, path),
            acked: feedback.acked,
            delivered: feedback.delivered,
            lost: feedback.lost,
            marked: feedback.marked,
            rtt: span(feedback.rtt),
            rate: feedback.rate.map_or_else(Default::default, rate),
            in_recovery: feedback.in_recovery,
        };
        self.call("on_report", |table| table.on_report, &report);
    }

    fn wants_losses(&self) -> bool {
        self.library.has(bits::LOSSES)
    }

    fn on_lost(&mut self, now: Time, segment: &LostSegment, path: &PathView) {
        self.started(path);
        let segment = told::LostSegment {
            path: view(now, path),
            offset: segment.offset,
            bytes: segment.bytes,
            tx_in_flight: segment.tx_in_flight,
            lost: segment.lost,
            app_limited: segment.app_limited,
        };
        self.call("on_lost", |table| table.on_lost, &segment);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        self.started(path);
        let timeout = event.cause == Cause::Timeout;
        // Timeouts in a row are one reduction.
        let repeated = timeout && self.backed_off;
        if !repeated {
            let Window { cwnd, ssthresh, .. } = self.window;
            self.before = Some(Before { cwnd, ssthresh });
        }
        self.backed_off |= timeout;
        self.repairing |= timeout;
        let path = view(event.now, path);
        let signal = |cause| told::Congestion { path, cause, repeated };
        match event.cause {
            Cause::Loss => self.call("on_loss", |table| table.on_loss, &signal(told::Cause::Loss)),
            Cause::Timeout => {
                self.call("on_timeout", |table| table.on_timeout, &signal(told::Cause::Timeout));
            }
            Cause::EcnMark => {
                self.call("on_mark", |table| table.on_mark, &signal(told::Cause::Mark))
            }
        }
    }

    fn on_undo(&mut self) {
        let Some(before) = self.before.take() else { return };
        if self.window.cwnd <= before.cwnd {
            (self.backed_off, self.repairing) = (false, false);
        }
        self.call("on_undo", |table| table.on_undo, &before);
    }

    fn on_idle(&mut self, initial: u64) {
        self.before = None;
        self.call("on_idle", |table| table.on_idle, &(initial as f64));
    }

    fn is_coupled(&self) -> bool {
        self.library.has(bits::COUPLED)
    }

    fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.siblings.clear();
        self.siblings.extend(siblings.iter().map(sibling));
        let told = Siblings { first: self.siblings.as_ptr(), count: self.siblings.len() };
        self.call("on_siblings", |table| table.on_siblings, &told);
    }

    fn shared(&self) -> Shared {
        Shared { own: self.window.shared, ..Shared::default() }
    }

    fn on_penalty(&mut self, mss: u64) {
        self.before = None;
        self.window.mss = mss;
        self.call("on_penalty", |table| table.on_penalty, &0);
    }

    fn window(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn pacing_rate(&self, _srtt: Option<Span>) -> Option<Rate> {
        self.pacing
    }
}

#[inline]
fn span(span: Option<Span>) -> told::Span {
    span.map_or(told::Span::NONE, |span| told::Span::from_picoseconds(span.as_picos()))
}

#[inline]
fn view(now: Time, path: &PathView) -> told::Path {
    told::Path {
        time: told::Time::from_picoseconds(now.as_picos()),
        in_flight: path.in_flight,
        mss: path.mss,
        srtt: span(path.srtt),
        min_rtt: span(path.min_rtt),
        sent: path.sent,
        acked: path.acked,
        app_limited: path.app_limited,
    }
}

fn rate(rate: RateSample) -> told::RateSample {
    told::RateSample {
        delivered: rate.delivered,
        interval: span(Some(rate.interval)),
        prior_delivered: rate.prior_delivered,
        total_delivered: rate.total_delivered,
        tx_in_flight: rate.tx_in_flight,
        lost: rate.lost,
        app_limited: rate.app_limited,
    }
}

fn sibling(sibling: &Sibling) -> told::Sibling {
    told::Sibling {
        cwnd: sibling.window,
        mss: sibling.mss,
        srtt: span(sibling.srtt),
        min_rtt: span(sibling.min_rtt),
        shared: sibling.state.own,
        in_slow_start: sibling.slow_start,
    }
}
