//! A sequence that breaks an invariant, made short and plain.

use crate::event::{Event, MSS, Setting, Step};
use crate::life::{Seen, live};
use crate::{Build, Invariant, Violation};

/// Most sequences that are tried.
const PATIENCE: u32 = 2000;

struct Shrinker<'a> {
    build: Build<'a>,
    invariant: Invariant,
    known: &'a [Invariant],
    tries: u32,
}

impl Shrinker<'_> {
    /// It still breaks the same invariant.
    fn breaks(&mut self, setting: &Setting, steps: &[Step]) -> Option<Seen> {
        if self.tries >= PATIENCE {
            return None;
        }
        self.tries += 1;
        live(self.build, setting, steps, self.known)
            .broken
            .filter(|broken| broken.invariant == self.invariant)
    }
}

pub(crate) fn shrink(
    build: Build<'_>,
    mut setting: Setting,
    mut steps: Vec<Step>,
    invariant: Invariant,
    known: &[Invariant],
) -> Violation {
    let mut shrinker = Shrinker { build, invariant, known, tries: 0 };
    let mut seen = shrinker.breaks(&setting, &steps);
    if let Some(seen) = &seen {
        steps.truncate(seen.at + 1);
    }
    // Fewer events: halves, quarters, ... single ones.
    let mut length = steps.len().div_ceil(2);
    while length > 0 {
        let mut from = 0;
        while from < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(from..(from + length).min(steps.len()));
            match shrinker.breaks(&setting, &fewer) {
                Some(inner) => {
                    fewer.truncate(inner.at + 1);
                    (steps, seen) = (fewer, Some(inner));
                }
                None => from += length,
            }
        }
        length /= 2;
    }
    // Plainer settings and events.
    for plainer in [
        Setting { ssthresh: None, ..setting },
        Setting { initial: 10, ..setting },
        Setting { rtt_ms: 100, ..setting },
        Setting { initial: 10, ssthresh: None, rtt_ms: 100 },
    ] {
        if let Some(found) = shrinker.breaks(&plainer, &steps) {
            steps.truncate(found.at + 1); // it may break earlier
            (setting, seen) = (plainer, Some(found));
        }
    }
    for at in 0..steps.len() {
        for make in PLAINER {
            let mut plainer = steps.clone();
            plainer[at] = make(steps[at]);
            if plainer == steps {
                continue;
            }
            let found = shrinker.breaks(&setting, &plainer);
            if let Some(found) = found.filter(|item| item.at + 1 == steps.len()) {
                (steps, seen) = (plainer, Some(found));
            }
        }
    }
    let last = live(build, &setting, &steps, known);
    let seen = last.broken.clone().or(seen).unwrap_or(Seen {
        invariant,
        problem: "not each time".into(),
        place: None,
        at: steps.len().saturating_sub(1),
    });
    let windows = last.windows.into_iter().take(seen.at).map(Some).chain(std::iter::repeat(None));
    let steps = steps.into_iter().zip(windows).collect();
    Violation { invariant, problem: seen.problem, place: seen.place, setting, steps }
}

/// The ways to make one thing of a step plainer, the plainest first.
const PLAINER: [fn(Step) -> Step; 6] = [
    |step| Step { after_ms: 0, ..step },
    |step| Step { after_ms: step.after_ms.min(100), ..step },
    |step| Step { in_flight: 100, ..step },
    |step| match step.event {
        Event::Ack { octets, .. } => {
            Step { event: Event::Ack { octets, app_limited: false }, ..step }
        }
        _ => step,
    },
    |step| match step.event {
        Event::Ack { app_limited, .. } => {
            Step { event: Event::Ack { octets: MSS, app_limited }, ..step }
        }
        _ => step,
    },
    |step| match step.event {
        Event::Idle { .. } => Step { event: Event::Idle { segments: 10 }, ..step },
        _ => step,
    },
];
