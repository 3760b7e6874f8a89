//! What is promised of every run, and how a broken promise is told.

use std::fmt;

/// What holds of every run of every scenario.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Promise {
    /// Nothing panics. Broken invariants of the simulation, such as the
    /// conservation of packets on every link, are told this way too.
    NoPanic,
    /// A connection that has something to send, to deliver or to close has a
    /// date or a packet ahead that can move it.
    NoStall,
    /// What ended normally was delivered whole.
    NothingLost,
    /// The octets delivered are those that were sent.
    OctetsEqual,
    /// The same scenario and seed give the same packets at the same dates.
    SameBits,
    /// The resolved scenario reads back as the same.
    Resolves,
    /// Virtual time advances: a run of bounded traffic has a bounded number of events.
    TimeAdvances,
    /// A transfer over a network that loses little completes, within a generous time.
    Completes,
    /// Memory stays within what buffers and packets under way need.
    BoundedMemory,
}

impl Promise {
    /// All promises, in the order of reports.
    pub const ALL: [Promise; 9] = [
        Promise::NoPanic,
        Promise::NoStall,
        Promise::NothingLost,
        Promise::OctetsEqual,
        Promise::SameBits,
        Promise::Resolves,
        Promise::TimeAdvances,
        Promise::Completes,
        Promise::BoundedMemory,
    ];

    /// What breaking it is called in tables and names of files.
    pub fn broken(self) -> &'static str {
        match self {
            Promise::NoPanic => "panic",
            Promise::NoStall => "stall",
            Promise::NothingLost => "lost",
            Promise::OctetsEqual => "wrong-octets",
            Promise::SameBits => "different",
            Promise::Resolves => "unresolved",
            Promise::TimeAdvances => "busy",
            Promise::Completes => "slow",
            Promise::BoundedMemory => "memory",
        }
    }
}

/// A promise that a run broke.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The promise that was broken.
    pub promise: Promise,
    /// What tells failures of the same promise apart: the transport, or the
    /// place of a panic. A scenario that is made smaller keeps it.
    pub of: String,
    /// What happened, in words.
    pub what: String,
}

impl Failure {
    pub(crate) fn new(promise: Promise, of: impl Into<String>, what: impl Into<String>) -> Failure {
        Failure { promise, of: of.into(), what: what.into() }
    }

    /// Both broke the same promise in the same place.
    pub fn is_like(&self, other: &Failure) -> bool {
        (self.promise, &self.of) == (other.promise, &other.of)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.promise.broken(), self.of, self.what)
    }
}
