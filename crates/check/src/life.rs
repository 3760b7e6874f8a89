//! A controller lives through a sequence, and is looked at after each event.

use crate::event::{Event, MSS, Setting, Step};
use crate::{Build, Invariant};
use anabranch_congestion::{
    Acked, Cause, Congestion, CongestionEvent, Controller, Feedback, PathView, RateSample,
};
use anabranch_custom::{Failure, catching};
use anabranch_units::{Span, Time};

/// What a sequence showed.
pub(crate) struct Outcome {
    /// The first invariant that broke, beside those that are known to.
    pub broken: Option<Seen>,
    /// The window after each event, up to there.
    pub windows: Vec<u64>,
}

/// The first invariant that a sequence broke.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// The invariant that broke.
    pub invariant: Invariant,
    /// The values with which it broke, in words.
    pub problem: String,
    /// File and line of the algorithm, if known.
    pub place: Option<(String, u32)>,
    /// Number of the event after which it broke, from 0.
    pub at: usize,
}

/// Largest window, octets.
const LARGEST: u64 = 1 << 40;

pub(crate) fn live(
    build: Build<'_>,
    setting: &Setting,
    steps: &[Step],
    known: &[Invariant],
) -> Outcome {
    let first = alone(build, setting, steps, known);
    if first.broken.is_some() || known.contains(&Invariant::Deterministic) {
        return first;
    }
    let second = alone(build, setting, steps, known);
    let differs = first.windows.iter().zip(&second.windows).position(|(a, b)| a != b);
    let at = differs.or((second.broken.is_some()).then_some(steps.len().saturating_sub(1)));
    let broken = at.map(|at| {
        let window = |of: &Outcome| of.windows.get(at).map_or("none".into(), u64::to_string);
        let (one, two) = (window(&first), window(&second));
        let problem = format!("the window is {one} octets, and {two} the second time");
        Seen { invariant: Invariant::Deterministic, problem, place: None, at }
    });
    Outcome { broken, ..first }
}

/// A controller and its path.
struct Life {
    controller: Congestion,
    now: Time,
    srtt: Span,
    acked: u64,
    sent: u64,
    highest: u64,
}

fn alone(build: Build<'_>, setting: &Setting, steps: &[Step], known: &[Invariant]) -> Outcome {
    let ssthresh = setting.ssthresh.map_or(u64::MAX, |n| n * MSS);
    let mut windows = Vec::with_capacity(steps.len());
    let made = catching(|| build(setting.initial * MSS, ssthresh));
    let failed = |failure: &Failure, at| Seen {
        invariant: match failure.broken {
            Some("finite") => Invariant::Finite,
            Some("one-segment") => Invariant::OneSegment,
            _ => Invariant::NoException,
        },
        problem: failure.message.clone(),
        place: failure.file.clone().zip(failure.line),
        at,
    };
    let controller = match made {
        Ok(controller) => controller,
        Err(failure) if failure.stops => failure.raise(),
        Err(failure) => return Outcome { broken: Some(failed(&failure, 0)), windows },
    };
    let highest = controller.window();
    let srtt = Span::from_millis(setting.rtt_ms);
    let mut life = Life { controller, now: Time::ZERO, srtt, acked: 0, sent: 0, highest };
    for (at, step) in steps.iter().enumerate() {
        let before = life.controller.window();
        let found = match catching(|| life.step(step)) {
            Ok(path) => life
                .look(step.event, before, &path, known)
                .map(|(invariant, problem)| Seen { invariant, problem, place: None, at }),
            Err(failure) if failure.stops => failure.raise(),
            // It cannot go on, known or not.
            Err(failure) => Some(failed(&failure, at)),
        };
        match found {
            Some(seen) => {
                let broken = (!known.contains(&seen.invariant)).then_some(seen);
                return Outcome { broken, windows };
            }
            None => windows.push(life.controller.window()),
        }
        life.highest = life.highest.max(life.controller.window());
    }
    Outcome { broken: None, windows }
}

impl Life {
    fn step(&mut self, step: &Step) -> PathView {
        self.now += Span::from_millis(step.after_ms);
        let now = self.now;
        let c = &mut self.controller;
        let in_flight = (c.window().min(LARGEST) * step.in_flight / 100).max(MSS);
        let mut path = PathView {
            in_flight,
            mss: MSS,
            srtt: Some(self.srtt),
            min_rtt: Some(self.srtt),
            app_limited: false,
            sent: self.sent.max(self.acked + in_flight),
            acked: self.acked,
        };
        match step.event {
            Event::Sent => c.on_sent(now, MSS, &path),
            Event::Ack { octets, app_limited } => {
                self.acked += octets;
                (path.acked, path.app_limited) = (self.acked, app_limited);
                path.sent = path.sent.max(self.acked);
                if c.is_coupled() {
                    c.on_siblings(&[]);
                }
                c.on_ack(&Acked { now, bytes: octets, rtt: Some(self.srtt) }, &path);
            }
            Event::Congestion(cause) => c.on_congestion(&CongestionEvent { now, cause }, &path),
            Event::Undo => c.on_undo(),
            Event::Idle { segments } => c.on_idle(segments * MSS),
        }
        self.sent = path.sent;
        path
    }

    /// What broke; and then tells all that the acknowledgment told.
    fn look(
        &mut self,
        event: Event,
        before: u64,
        path: &PathView,
        known: &[Invariant],
    ) -> Option<(Invariant, String)> {
        let (window, ssthresh) = (self.controller.window(), self.controller.ssthresh());
        let went = format!("the window went from {before} to {window} octets");
        let signal = matches!(event, Event::Congestion(_));
        let timeout = event == Event::Congestion(Cause::Timeout);
        let checks = [
            (window <= LARGEST, Invariant::Finite, went.clone()),
            (window >= MSS, Invariant::OneSegment, went.clone()),
            (window <= before || !signal || timeout, Invariant::LossDoesNotRaise, went.clone()),
            (!timeout || window <= (before / 2).max(MSS), Invariant::TimeoutReduces, went.clone()),
            (
                !signal || ssthresh >= 2 * MSS,
                Invariant::Threshold,
                format!("ssthresh is {ssthresh} octets"),
            ),
            (
                !matches!(event, Event::Ack { app_limited: true, .. }) || window <= before,
                Invariant::AppLimited,
                went.clone(),
            ),
            (
                match event {
                    Event::Ack { octets, .. } => window <= before + octets.max(100 * MSS) + 1,
                    _ => true,
                },
                Invariant::Growth,
                went.clone(),
            ),
            (event != Event::Sent || window <= before, Invariant::SentDoesNotRaise, went.clone()),
            (
                !matches!(event, Event::Idle { .. }) || window <= before,
                Invariant::IdleDoesNotRaise,
                went.clone(),
            ),
            (
                event != Event::Undo || (before..=self.highest.max(before)).contains(&window),
                Invariant::UndoRestores,
                went,
            ),
        ];
        // With a window that is no number nothing more can be told.
        let counts =
            |invariant: &Invariant| *invariant == Invariant::Finite || !known.contains(invariant);
        let broken = checks.into_iter().find(|(holds, check, _)| !holds && counts(check));
        if let Some((_, invariant, problem)) = broken {
            return Some((invariant, problem));
        }
        self.report(event, path);
        None
    }

    fn report(&mut self, event: Event, path: &PathView) {
        let acked = match event {
            Event::Ack { octets, .. } => octets,
            Event::Congestion(Cause::Loss | Cause::EcnMark) => 0,
            _ => return,
        };
        let lost = if event == Event::Congestion(Cause::Loss) { MSS } else { 0 };
        let marked = if event == Event::Congestion(Cause::EcnMark) { MSS } else { 0 };
        let rate = RateSample {
            delivered: acked,
            interval: self.srtt,
            prior_delivered: self.acked.saturating_sub(acked),
            total_delivered: self.acked,
            app_limited: path.app_limited,
            tx_in_flight: path.in_flight + acked,
            lost: 0,
        };
        let feedback = Feedback {
            now: self.now,
            acked,
            delivered: acked,
            lost,
            marked,
            rtt: Some(self.srtt),
            rate: (acked > 0).then_some(rate),
            in_recovery: lost > 0,
        };
        if self.controller.wants_feedback() {
            self.controller.on_feedback(&feedback, path);
        }
    }
}
