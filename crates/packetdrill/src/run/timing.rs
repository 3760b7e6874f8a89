//! Decides when events are due, and how far off they may be: the larger of a
//! fixed time and a share of the gap to the event before.

use crate::report::seconds;
use crate::script::{Script, When};
use anabranch_units::{Span, Time};
use std::fmt;

/// The deviation that is allowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    /// The deviation that is allowed in any case.
    pub least: Span,
    /// Thousandths of the gap to the event before that are allowed.
    thousandths: u64,
}

impl Tolerance {
    /// Returns the tolerance that the script asks for: 4 ms and 12.5 % where it says nothing.
    pub fn of(script: &Script, instead: Option<Span>) -> Tolerance {
        let number = |name: &str| {
            let option = script.options.iter().rfind(|option| option.name == name)?;
            option.value.as_deref()?.parse::<f64>().ok()
        };
        let least =
            number("tolerance_usecs").map(|us| Span::from_micros(1).saturating_mul(us as u64));
        let percent = number("tolerance_percent");
        Tolerance {
            least: instead.or(least).unwrap_or(Span::from_millis(4)),
            thousandths: percent.map_or(125, |percent| (percent * 10.0) as u64),
        }
    }

    fn of_gap(&self, gap: Span) -> Span {
        self.least.max(gap.saturating_mul(self.thousandths) / 1000)
    }

    /// Returns when an event is due that counts from `base`; the event before it ended at `ended`.
    pub fn window(&self, when: When, base: Time, ended: Time) -> Window {
        let absolute = |span: Span| Time::ZERO.saturating_add(span);
        let (start, end, any) = match when {
            When::Absolute(at) => (absolute(at), absolute(at), false),
            When::AbsoluteRange(from, to) => (absolute(from), absolute(to), false),
            When::Relative(after) => {
                (base.saturating_add(after), base.saturating_add(after), false)
            }
            When::RelativeRange(from, to) => {
                (base.saturating_add(from), base.saturating_add(to), false)
            }
            When::Any => (ended, ended, true),
        };
        let slack = self.of_gap(end.saturating_since(ended));
        Window { start, end, slack, any }
    }

    /// Returns when a blocking call may return that begins at `now`.
    pub fn end(&self, when: When, base: Time, end: Span, now: Time) -> Window {
        let at = match when {
            When::Relative(_) | When::RelativeRange(..) => base.saturating_add(end),
            _ => Time::ZERO.saturating_add(end),
        };
        let slack = self.of_gap(at.saturating_since(now));
        Window { start: at, end: at, slack, any: false }
    }
}

/// The time in which an event is right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    /// The first moment that the script names.
    pub start: Time,
    end: Time,
    slack: Span,
    /// The event is right at any time.
    pub any: bool,
}

impl Window {
    /// The last moment that is right.
    pub fn latest(&self) -> Time {
        if self.any { Time::NEVER } else { self.end.saturating_add(self.slack) }
    }

    /// Whether the event is right at this time.
    pub fn holds(&self, time: Time) -> bool {
        self.any || self.start <= time.saturating_add(self.slack) && time <= self.latest()
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.any {
            return write!(f, "at any time");
        }
        write!(f, "at {}", seconds(self.start))?;
        if self.end > self.start {
            write!(f, " to {}", seconds(self.end))?;
        }
        write!(f, " s, give or take {} ms", self.slack.as_millis())
    }
}
