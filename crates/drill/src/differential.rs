//! Random sessions of TCP, run against our stack in virtual time and against another in its own, and
//! compared packet by packet.
//!
//! A [`Session`] is a script without expectations behind its handshake: what the application calls and what the
//! peer sends, at dates that do not depend on the stack. The peer is a puppet: it acknowledges, SACKs, reorders,
//! repeats and leaves out by what *our* stack had sent at that date, so that a session is a function of its
//! number. [`against`] lays two runs of one session side by side.
//!
//! What stacks are free to choose is left out of the comparison: initial sequence numbers, the size of the
//! window that is offered (but not whether it is closed), PSH, and a few milliseconds.

mod compare;
mod draw;
mod session;

pub use compare::Difference;
use compare::compare;
pub use session::{Role, Session};

use anabranch_packetdrill::report::{Report, Verdict};
use anabranch_packetdrill::runner::{Against, Drill};
use anabranch_packetdrill::{Profile, Settings};
use anabranch_units::Span;

/// The lateness of an event of a session above which the run counts as disturbed by other programs.
const LATE: Span = Span::from_millis(3);

/// The outcome of a session that two stacks have run.
#[derive(Clone, Debug)]
pub enum Verdicts {
    /// Both stacks did the same.
    Same,
    /// The stacks did not do the same.
    Different(Difference),
    /// The other run was not as the session has it, and why: another program was in the way, or the handshake
    /// did not come about.
    Disturbed(String),
}

/// A run of `session` against a stack, with its packets.
pub fn run(session: &Session, against: Against) -> Report {
    run_script(&session.name(), &session.script(), against)
}

fn run_script(name: &str, script: &str, against: Against) -> Report {
    let mut drill = Drill::new(Profile::Linux);
    drill.against = against;
    drill.settings = Settings { trace: true, tolerance: Some(LATE), ..Settings::default() };
    drill.text(name, script)
}

/// Runs a session against our stack and against another.
pub fn against(session: &Session, other: Against) -> Verdicts {
    let ours = run(session, Against::ours());
    assert!(ours.passed(), "a session is what our stack does: {ours}");
    let theirs = run(session, other);
    match (&theirs.verdict, compare(&ours, &theirs, session.end())) {
        (Verdict::Passed, None) => Verdicts::Same,
        (Verdict::Passed, Some(difference)) => Verdicts::Different(difference),
        // An event came late, or the handshake did not come about: then nothing can be compared.
        (Verdict::Failed(failure), _) => Verdicts::Disturbed(failure.what.clone()),
        (other, _) => Verdicts::Disturbed(format!("{other:?}")),
    }
}
