//! Requests for changes of streams, and answers to the peer's, are here (RFC 6525): one request of
//! a side is outstanding at a time. What it asks for is done when its answer says so (§5.2.7).

use crate::association::Reconfiguration;
use crate::paths::Removal;
use anabranch_endpoint::Timer;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::Parameter;
use std::collections::VecDeque;
use std::fmt;

/// A `ReconfigError` says why a change of the streams was not begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReconfigError {
    /// The peer has not offered RE-CONFIG, or this side has not, or the state is none of
    /// ESTABLISHED, SHUTDOWN-PENDING and SHUTDOWN-SENT.
    NotAvailable,
    /// There is no such stream; the number is how many there are.
    NoSuchStream(u16),
    /// Too many requests wait, no stream is asked for, or there would be more than 65535 of them.
    TooMany,
}

impl fmt::Display for ReconfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReconfigError::NotAvailable => f.write_str("streams cannot be changed now"),
            ReconfigError::NoSuchStream(count) => write!(f, "there are {count} streams"),
            ReconfigError::TooMany => {
                f.write_str("too many requests, or a number of streams that cannot be")
            }
        }
    }
}
impl std::error::Error for ReconfigError {}

/// These are the results of §4.4.
pub(crate) mod result {
    pub const NOTHING_TO_DO: u32 = 0;
    pub const PERFORMED: u32 = 1;
    pub const DENIED: u32 = 2;
    pub const WRONG_STREAM: u32 = 3;
    pub const ALREADY_IN_PROGRESS: u32 = 4;
    pub const BAD_NUMBER: u32 = 5;
    pub const IN_PROGRESS: u32 = 6;
}

/// At most this many requests wait, the outstanding one included.
const MAX_WISHES: usize = 16;

/// An `Answer` is what a request gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Answer {
    /// `code` is the result code (§4.4).
    pub code: u32,
    /// `next_tsns` are, in the answer to a TSN reset, the next TSNs of the side that answers, and
    /// of the side that asked.
    pub next_tsns: Option<(Serial32, Serial32)>,
}

impl From<u32> for Answer {
    fn from(code: u32) -> Answer {
        Answer { code, next_tsns: None }
    }
}

/// A `Wish` is a change that this side wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    /// The streams of this side start anew, all of them if none is named. `answers` is the number
    /// of the peer's request that asked for it, if one did.
    ResetOutgoing { streams: Vec<u16>, answers: Option<Serial32> },
    /// The named streams of the peer start anew, all of them if none is named.
    ResetIncoming(Vec<u16>),
    /// There are `count` more streams, of this side if `outgoing`, else of the peer.
    Add { outgoing: bool, count: u16 },
    /// All numbers of the association start anew.
    Renumber,
}

impl Wish {
    /// Returns what the peer is asked for.
    pub fn request(&self) -> Reconfiguration {
        match self {
            Wish::ResetOutgoing { .. } => Reconfiguration::ResetOutgoing,
            Wish::ResetIncoming(_) => Reconfiguration::ResetIncoming,
            Wish::Add { .. } => Reconfiguration::AddStreams,
            Wish::Renumber => Reconfiguration::ResetAssociation,
        }
    }

    fn is_reset_of(&self, stream: u16) -> bool {
        match self {
            Wish::ResetOutgoing { streams, .. } => streams.is_empty() || streams.contains(&stream),
            Wish::Renumber => true,
            Wish::ResetIncoming(_) | Wish::Add { .. } => false,
        }
    }
}

/// An `Asked` says what a request of the peer is by its number (§5.2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// It is the next one.
    Next,
    /// It is one of the last two again; this is the answer that it got.
    Again(Answer),
    /// It has another number, which is wrong.
    Wrong,
}

/// A `Deferred` is a reset of the peer's streams that waits for TSNs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Deferred {
    /// `last_tsn` is the last TSN that the peer assigned before it.
    pub last_tsn: Serial32,
    /// `streams` are those that start anew; none means all.
    pub streams: Vec<u16>,
}

/// A `Reconfig` exists once streams were to be changed, by either side.
#[derive(Debug)]
pub(crate) struct Reconfig {
    /// `number` is that of this side's next request, or of the one outstanding.
    number: Serial32,
    /// `expected` is the number of the peer's next request.
    expected: Serial32,
    /// `asked` is the outstanding request as it was sent.
    asked: Option<Parameter>,
    /// `wishes` are the changes that this side wants, the outstanding request first.
    wishes: VecDeque<Wish>,
    /// `answered` are the answers to the peer's last two requests, the last one first: one
    /// RE-CONFIG has two requests at most.
    answered: [Option<Answer>; 2],
    /// `deferred` is a reset of the peer's streams that waits for TSNs (§5.2.2 E2).
    deferred: Option<Deferred>,
    /// `path` is the index of the path that the outstanding request left on last.
    path: usize,
    /// `waits` says that the peer has answered that it is not ready yet.
    waits: bool,
    /// `timer` is that of the outstanding request.
    timer: Timer,
    /// `hold` runs while the peer waits to renumber: no new data leaves until then.
    pub hold: Timer,
}

impl Reconfig {
    /// `starting_at` makes a state in which nothing was asked for; the initial TSNs are `ours` and
    /// `theirs`, which are the first numbers (§4.1).
    pub fn starting_at(ours: Serial32, theirs: Serial32) -> Reconfig {
        Reconfig {
            number: ours,
            expected: theirs,
            asked: None,
            wishes: VecDeque::new(),
            answered: [None; 2],
            deferred: None,
            path: 0,
            waits: false,
            timer: Timer::IDLE,
            hold: Timer::IDLE,
        }
    }

    /// Returns whether new data waits for numbers that are about to change.
    pub fn holds_data(&self) -> bool {
        self.hold.is_armed() || matches!(self.asked, Some(Parameter::TsnReset { .. }))
    }

    /// Returns whether a request waits to be sent.
    pub fn is_waiting(&self) -> bool {
        self.asked.is_none() && !self.wishes.is_empty()
    }

    /// Returns the date at which an answer is late, or the peer was waited for in vain.
    pub fn deadline(&self) -> Time {
        self.timer.deadline().min(self.hold.deadline())
    }

    /// Returns whether the answer to this side's request is late.
    pub fn is_late(&self, now: Time) -> bool {
        self.timer.expired(now)
    }

    /// Adds a change that this side wants.
    pub fn wish(&mut self, wish: Wish) -> Result<(), ReconfigError> {
        if self.wishes.len() == MAX_WISHES {
            return Err(ReconfigError::TooMany);
        }
        self.wishes.push_back(wish);
        Ok(())
    }

    /// Returns whether the stream is to start anew, so that it takes no more messages.
    pub fn is_resetting(&self, stream: u16) -> bool {
        self.wishes.iter().any(|wish| wish.is_reset_of(stream))
    }

    /// Returns whether this side's outstanding request makes all of these streams start anew, or
    /// all that there are where none is named (§5.2.3).
    pub fn covers(&self, streams: &[u16]) -> bool {
        match &self.asked {
            Some(Parameter::OutgoingReset { streams: own, .. }) => {
                own.is_empty()
                    || !streams.is_empty() && streams.iter().all(|stream| own.contains(stream))
            }
            _ => false,
        }
    }

    /// Returns the next request, if it may be sent. `unsent` says of streams (of all, if none is
    /// named) whether something waits to be sent there, `is_dry` whether nothing waits or is
    /// outstanding. `last_tsn` is the last TSN that was sent.
    pub fn next_request(
        &self,
        unsent: impl Fn(&[u16]) -> bool,
        is_dry: bool,
        last_tsn: Serial32,
    ) -> Option<Parameter> {
        if self.asked.is_some() {
            return None;
        }
        let request = self.number;
        match self.wishes.front()?.clone() {
            // §5.1.2: what was given before has its numbers first.
            Wish::ResetOutgoing { streams, .. } if unsent(&streams) => None,
            Wish::ResetOutgoing { streams, answers } => {
                let response = answers.unwrap_or(self.expected.add(u32::MAX));
                Some(Parameter::OutgoingReset { request, response, last_tsn, streams })
            }
            Wish::ResetIncoming(streams) => Some(Parameter::IncomingReset { request, streams }),
            Wish::Add { outgoing, count } => {
                Some(Parameter::AddStreams { outgoing, request, count })
            }
            Wish::Renumber => is_dry.then_some(Parameter::TsnReset { request }),
        }
    }

    /// Notes that the request leaves on `path`; its answer is late at `deadline`.
    pub fn ask(&mut self, request: Parameter, path: usize, deadline: Time) {
        self.asked = Some(request);
        self.path = path;
        self.timer.set(deadline);
    }

    /// Returns the request to send again on `path`, as its answer is late (§5.1.1), or the peer may
    /// be ready by now (§5.2.7). The next answer is late at `deadline`.
    pub fn ask_again(&mut self, path: usize, deadline: Time) -> Option<Parameter> {
        self.timer.stop();
        let asked = self.asked.clone()?;
        (self.path, self.waits) = (path, false);
        self.timer.set(deadline);
        Some(asked)
    }

    /// Returns the index of the path that the outstanding request left on last; `None` when the
    /// peer has answered that it is not ready, so that nothing has failed (§5.2.7 H2).
    pub fn late_path(&self) -> Option<usize> {
        (!self.waits).then_some(self.path)
    }

    /// Changes the index of the path as the removal of a path asks.
    pub fn follow(&mut self, removal: Removal) {
        self.path = removal.moved(self.path);
    }

    /// Keeps a reset of the peer's streams until all TSNs before it have arrived.
    pub fn defer(&mut self, reset: Deferred) {
        self.deferred = Some(reset);
    }

    /// Returns whether data of this stream with this TSN comes behind a reset that is deferred.
    pub fn is_behind_reset(&self, stream: u16, tsn: Serial32) -> bool {
        self.deferred.as_ref().is_some_and(|reset| {
            let covered = reset.streams.is_empty() || reset.streams.contains(&stream);
            covered && reset.last_tsn.is_before(tsn)
        })
    }

    /// Takes the deferred reset, if what it waits for has arrived.
    pub fn take_deferred(&mut self, has_arrived: impl Fn(Serial32) -> bool) -> Option<Deferred> {
        self.deferred.take_if(|reset| has_arrived(reset.last_tsn))
    }

    /// Returns the request that is outstanding, if one is.
    pub fn asked(&self) -> Option<&Parameter> {
        self.asked.as_ref()
    }

    /// Returns whether the outstanding request has this number.
    pub fn is_asked(&self, number: Serial32) -> bool {
        self.number == number && self.asked.is_some()
    }

    /// Notes that the peer is not ready yet: it is asked again at `deadline`.
    pub fn wait(&mut self, deadline: Time) {
        self.waits = true;
        self.timer.set(deadline);
    }

    /// Ends the outstanding request, and returns what it asked for.
    pub fn end_request(&mut self) -> Option<Wish> {
        self.asked.take()?;
        self.waits = false;
        self.timer.stop();
        self.number = self.number.add(1);
        self.wishes.pop_front()
    }

    /// Returns what a request of the peer is by its number.
    pub fn look(&self, request: Serial32) -> Asked {
        let before = |n: u32| request.add(n) == self.expected;
        match self.answered {
            _ if before(0) => Asked::Next,
            [Some(last), _] if before(1) => Asked::Again(last),
            [_, Some(other)] if before(2) => Asked::Again(other),
            _ => Asked::Wrong,
        }
    }

    /// Keeps the answer to the peer's next request. Where it is "in progress" the request comes
    /// again with its number, and nothing is kept.
    pub fn settle(&mut self, answer: Answer) {
        if answer.code != result::IN_PROGRESS {
            self.expected = self.expected.add(1);
            self.answered = [Some(answer), self.answered[0]];
            self.deferred = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    const OURS: Serial32 = Serial32(100);
    const THEIRS: Serial32 = Serial32(200);

    fn late() -> Time {
        Time::ZERO + Span::from_secs(1)
    }

    /// RFC 6525 §5.1: one at a time, in order, and the same again until it is answered.
    #[test]
    fn requests_leave_one_by_one() {
        let mut reconfig = Reconfig::starting_at(OURS, THEIRS);
        reconfig.wish(Wish::ResetOutgoing { streams: vec![3], answers: None }).unwrap();
        reconfig.wish(Wish::Add { outgoing: true, count: 2 }).unwrap();
        assert!(reconfig.is_waiting() && reconfig.is_resetting(3) && !reconfig.is_resetting(4));
        let last = Serial32(150);
        assert_eq!(reconfig.next_request(|_| true, false, last), None, "the stream is not sent");
        let request = reconfig.next_request(|_| false, false, last).unwrap();
        let (response, streams) = (THEIRS.add(u32::MAX), vec![3]);
        let expected =
            Parameter::OutgoingReset { request: OURS, response, last_tsn: last, streams };
        assert_eq!(request, expected);
        reconfig.ask(request, 1, late());
        assert!(reconfig.covers(&[3]) && !reconfig.covers(&[3, 4]) && !reconfig.covers(&[]));
        assert_eq!(reconfig.next_request(|_| false, true, last), None, "one is outstanding");
        assert!(reconfig.is_late(late()) && reconfig.is_asked(OURS) && !reconfig.holds_data());
        assert_eq!(reconfig.late_path(), Some(1));
        reconfig.wait(late());
        assert_eq!(reconfig.late_path(), None, "the peer has answered");
        assert_eq!(reconfig.ask_again(0, late() + Span::from_secs(2)), Some(expected));
        assert_eq!(reconfig.late_path(), Some(0));
        assert!(matches!(reconfig.end_request(), Some(Wish::ResetOutgoing { .. })));
        let next = reconfig.next_request(|_| false, false, last);
        assert!(
            matches!(next, Some(Parameter::AddStreams { request, .. }) if request == OURS.add(1))
        );
    }

    /// RFC 6525 §5.1.4: all numbers change when nothing is under way.
    #[test]
    fn a_reset_of_all_numbers_waits_and_holds_data() {
        let mut reconfig = Reconfig::starting_at(OURS, THEIRS);
        reconfig.wish(Wish::Renumber).unwrap();
        assert_eq!(reconfig.next_request(|_| false, false, OURS), None);
        let request = reconfig.next_request(|_| false, true, OURS).unwrap();
        reconfig.ask(request, 0, late());
        assert!(reconfig.holds_data());
    }

    /// RFC 6525 §5.2.1.
    #[test]
    fn the_peers_requests_are_told_apart_by_their_numbers() {
        let mut reconfig = Reconfig::starting_at(OURS, THEIRS);
        assert_eq!(reconfig.look(THEIRS.add(1)), Asked::Wrong);
        assert_eq!(reconfig.look(THEIRS), Asked::Next);
        reconfig.settle(result::IN_PROGRESS.into());
        assert_eq!(reconfig.look(THEIRS), Asked::Next, "it comes again with its number");
        reconfig.settle(result::DENIED.into());
        assert_eq!(reconfig.look(THEIRS), Asked::Again(result::DENIED.into()));
        assert_eq!(reconfig.look(THEIRS.add(1)), Asked::Next);
        reconfig.settle(result::PERFORMED.into());
        let answers = [0, 1].map(|n| reconfig.look(THEIRS.add(n)));
        let expected = [result::DENIED, result::PERFORMED].map(|code| Asked::Again(code.into()));
        assert_eq!(answers, expected, "both of a chunk");
        reconfig.settle(result::PERFORMED.into());
        assert_eq!(reconfig.look(THEIRS), Asked::Wrong, "of long ago");
    }

    #[test]
    fn wishes_are_bounded() {
        let mut reconfig = Reconfig::starting_at(OURS, THEIRS);
        (0..MAX_WISHES).for_each(|_| reconfig.wish(Wish::Renumber).unwrap());
        assert_eq!(reconfig.wish(Wish::Renumber), Err(ReconfigError::TooMany));
    }
}
