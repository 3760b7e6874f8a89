//! Socket calls, and the one that blocks while the script goes on.

use super::exchange::PATIENCE;
use super::timing::Window;
use super::{Run, Runner, Stop};
use crate::constants;
use crate::descriptors;
use crate::report::seconds;
use crate::script::{Call, Event, Value};
use crate::stack::{Outcome, Returned};
use anabranch_units::Time;

/// A blocking call under way.
pub(super) struct PendingCall {
    pub event: Event,
    pub call: Call,
    /// The time in which it may return.
    pub window: Option<Window>,
    pub returned: Option<(Time, Returned)>,
}

impl Runner<'_> {
    pub(super) fn call(&mut self, event: &Event, call: &Call, window: Option<Window>) -> Run {
        let live = self.with_live_descriptors(call);
        let outcome = self.stack.call(self.now, &live);
        self.look_at_clock();
        let blocks = window.is_some();
        let mut pending =
            PendingCall { event: event.clone(), call: call.clone(), window, returned: None };
        match outcome {
            Outcome::NotApplicable(reason) => return Err(Stop::NotApplicable(reason)),
            Outcome::Done(returned) => {
                pending.returned = Some((self.now, returned));
                self.verify(pending)?;
            }
            Outcome::Pending => {
                self.pending = Some(pending);
                if !blocks {
                    self.finish_pending()?;
                }
            }
        }
        self.settle();
        Ok(())
    }

    /// Waits for the call that blocks.
    pub(super) fn finish_pending(&mut self) -> Run {
        self.settle();
        let end = self.pending.as_ref().and_then(|pending| pending.window);
        let limit = self.now.saturating_add(self.longest());
        let limit = match end.filter(|_| self.stack.clock().is_some()) {
            Some(window) => limit.min(window.latest().saturating_add(PATIENCE)),
            None => limit,
        };
        loop {
            if let Some(pending) = self.pending.take_if(|pending| pending.returned.is_some()) {
                return self.verify(pending);
            }
            let Some(pending) = &self.pending else { return Ok(()) };
            let event = pending.event.clone();
            if !self.wait(limit) {
                return self.fail(&event, "the call does not return", "", "");
            }
        }
    }

    /// A call returned what the script says, when it says so.
    pub(super) fn verify(&mut self, pending: PendingCall) -> Run {
        let PendingCall { event, call, window, returned } = pending;
        let Some((time, returned)) = returned else { return Ok(()) };
        let expected = constants::number(&call.result);
        if descriptors::is_made_by(&call.name)
            && returned.value >= 0
            && let Some(symbolic) = expected
            && symbolic >= 0
        {
            self.descriptors.insert(symbolic, returned.value);
        } else if descriptors::are_made_by(&call.name) && returned.value == 0 {
            return self.note_pair(&call, &returned);
        } else {
            let same = expected.is_none_or(|expected| expected == returned.value);
            // Two names of one error.
            let symbol = match call.errno.as_deref() {
                Some("EWOULDBLOCK") => Some("EAGAIN"),
                symbol => symbol,
            };
            let same_error = symbol.is_none_or(|symbol| returned.errno == Some(symbol));
            if (!same || !same_error) && !self.calls_may_fail {
                let actual = format!("{} {}", returned.value, returned.errno.unwrap_or(""));
                let wanted = format!("{} {}", call.result, symbol.unwrap_or(""));
                let what = format!("{}() returned another value", call.name);
                return self.fail(&event, what, wanted.trim(), actual.trim());
            }
        }
        for (at, actual) in &returned.outputs {
            let Some(expected) = call.arguments.get(*at) else { continue };
            if !constants::matches(expected, actual) && !self.calls_may_fail {
                let what = format!("{}() wrote something else into argument {at}", call.name);
                return self.fail(&event, what, expected.to_string(), actual.to_string());
            }
        }
        self.note_call(&call, returned.value);
        match window.filter(|window| !window.holds(time)) {
            Some(window) => {
                let what = format!("{}() returned at {} s, due {window}", call.name, seconds(time));
                self.fail(&event, what, "", "")
            }
            None => Ok(()),
        }
    }

    /// The descriptors of a pipe stand in its first argument.
    fn note_pair(&mut self, call: &Call, returned: &Returned) -> Run {
        let written = returned.outputs.first().and_then(|(_, value)| value.fields());
        let expected = call.arguments.first().and_then(Value::fields);
        for (symbolic, live) in expected.into_iter().flatten().zip(written.into_iter().flatten()) {
            if let (Some(symbolic), Some(live)) = (symbolic.value.number(), live.value.number()) {
                self.descriptors.insert(symbolic, live);
            }
        }
        Ok(())
    }

    /// Whether a connection is awaited.
    pub(super) fn note_call(&mut self, call: &Call, value: i64) {
        let fd = call.arguments.first().and_then(Value::number);
        match (call.name.as_str(), fd) {
            ("listen", Some(_)) if value == 0 => self.awaits_connection = true,
            ("close", Some(fd)) => _ = self.descriptors.remove(&fd),
            _ => {}
        }
    }

    /// The call with the stack's descriptors in the place of the script's.
    fn with_live_descriptors(&self, call: &Call) -> Call {
        let mut call = call.clone();
        descriptors::for_each(&mut call, |fd| {
            *fd = self.descriptors.get(fd).copied().unwrap_or(*fd);
        });
        call
    }
}
