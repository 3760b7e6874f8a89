//! What came of a script.

use crate::script::Pos;
use anabranch_units::{Span, Time};
use anabranch_wire::{AddressBook, Packet};
use std::fmt;

/// A packet that came to the stack or left it.
#[derive(Clone, Debug)]
pub struct Traced {
    /// Time of the run at which it came or left.
    pub time: Time,
    /// Whether it came to the stack.
    pub inbound: bool,
    /// The packet as the script's side sees it.
    pub packet: Packet,
}

/// A failure of a script, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Place of the event in the script.
    pub pos: Pos,
    /// Time of the run at which it failed.
    pub time: Time,
    /// What is wrong, in words.
    pub what: String,
    /// What the script has there.
    pub expected: String,
    /// What happened in its place.
    pub actual: String,
}

/// The verdict on a run of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All events were as written.
    Passed,
    /// An event was not as written.
    Failed(Box<Failure>),
    /// The script is about something that the stack does not have.
    NotApplicable(String),
    /// The script cannot be read.
    Unreadable(String),
}

/// A script's verdict, and what happened.
#[derive(Clone, Debug)]
pub struct Report {
    /// Name of the script, as it was given.
    pub script: String,
    /// The verdict on the run.
    pub verdict: Verdict,
    /// The packets of the run, in order.
    pub trace: Vec<Traced>,
    /// What their addresses are on the wire.
    pub addresses: AddressBook,
}

impl Report {
    /// All events were as written.
    pub fn passed(&self) -> bool {
        self.verdict == Verdict::Passed
    }

    /// A script that cannot be read.
    pub fn unreadable(script: &str, error: impl fmt::Display) -> Report {
        let verdict = Verdict::Unreadable(error.to_string());
        let (trace, addresses) = (Vec::new(), AddressBook::new());
        Report { script: script.into(), verdict, trace, addresses }
    }
}

/// Seconds with six decimals.
pub(crate) fn seconds(time: Time) -> String {
    let micros = time.as_nanos() / 1000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// Writes a length of time in whole milliseconds.
pub(crate) fn millis(span: Span) -> String {
    format!("{} ms", span.as_millis())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = &self.script;
        match &self.verdict {
            Verdict::Passed => write!(f, "{script}: passed"),
            Verdict::NotApplicable(reason) => write!(f, "{script}: not applicable: {reason}"),
            Verdict::Unreadable(error) => write!(f, "{error}"),
            Verdict::Failed(failure) => {
                let Failure { pos, time, what, expected, actual } = &**failure;
                write!(f, "{script}:{pos}: at {} s: {what}", seconds(*time))?;
                if !expected.is_empty() {
                    write!(f, "\n  expected: {expected}")?;
                }
                if !actual.is_empty() {
                    write!(f, "\n  actual:   {actual}")?;
                }
                Ok(())
            }
        }
    }
}
