//! Streams that start anew, and more of them: RE-CONFIG (RFC 6525).
//!
//! One request of a side is outstanding at a time. A stream that is to start anew
//! first sends all that was given for it; until the peer has answered it takes no
//! more. What a request asks for is done when its answer says so (§5.2.7).
//!
//! A reset of all numbers, TSNs too, is in [`super::renumber`].

use super::{Association, Notification};
use crate::extensions::Extensions;
use anabranch_endpoint::Timer;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::{Chunk, Parameter};
use std::collections::VecDeque;
use std::fmt;

/// Why a change of the streams was not begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReconfigError {
    /// The peer has not offered RE-CONFIG, or this side has not, or the
    /// association is not established.
    NotAvailable,
    /// There is no such stream; this many there are.
    NoSuchStream(u16),
    /// Too many requests wait, or more streams than 65535 would be.
    TooMany,
}

impl fmt::Display for ReconfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReconfigError::NotAvailable => f.write_str("streams cannot be changed now"),
            ReconfigError::NoSuchStream(count) => write!(f, "there are {count} streams"),
            ReconfigError::TooMany => f.write_str("too many requests or streams"),
        }
    }
}
impl std::error::Error for ReconfigError {}

/// Results of §4.4.
pub(super) mod result {
    pub const NOTHING_TO_DO: u32 = 0;
    pub const PERFORMED: u32 = 1;
    pub const DENIED: u32 = 2;
    pub const WRONG_STREAM: u32 = 3;
    pub const ALREADY_IN_PROGRESS: u32 = 4;
    pub const BAD_NUMBER: u32 = 5;
    pub const IN_PROGRESS: u32 = 6;
}

/// Requests that wait, at most.
const MAX_WISHES: usize = 16;

/// What a request gets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answer {
    /// Result code.
    pub code: u32,
    /// To a TSN reset: the next TSNs of who answers, and of who asked.
    pub next_tsns: Option<(Serial32, Serial32)>,
}

impl From<u32> for Answer {
    fn from(code: u32) -> Answer {
        Answer { code, next_tsns: None }
    }
}

/// What this side wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Wish {
    /// Our streams start anew (all if none is named), perhaps since the peer
    /// asked for it in this request.
    ResetOutgoing { streams: Vec<u16>, answers: Option<Serial32> },
    /// The peer's do.
    ResetIncoming(Vec<u16>),
    /// More streams.
    Add { outgoing: bool, count: u16 },
    /// All numbers start anew.
    Renumber,
}

impl Wish {
    fn is_reset_of(&self, stream: u16) -> bool {
        match self {
            Wish::ResetOutgoing { streams, .. } => streams.is_empty() || streams.contains(&stream),
            Wish::Renumber => true,
            Wish::ResetIncoming(_) | Wish::Add { .. } => false,
        }
    }
}

/// What exists once streams were to be changed.
#[derive(Debug)]
pub(super) struct Reconfig {
    /// Number of our next request, or of the one outstanding.
    number: Serial32,
    /// Number of the peer's next.
    expected: Serial32,
    /// The outstanding request as it was sent.
    pub asked: Option<Parameter>,
    /// What we want, the outstanding request first.
    wishes: VecDeque<Wish>,
    /// What the peer's last request got for an answer.
    answered: Answer,
    pub timer: Timer,
    /// The peer waits to renumber: no new data until then.
    pub hold: Timer,
}

impl Reconfig {
    /// New data waits for numbers that are about to change.
    pub fn holds_data(&self) -> bool {
        self.hold.is_armed() || matches!(self.asked, Some(Parameter::TsnReset { .. }))
    }
    /// Something waits to be asked for.
    pub fn is_waiting(&self) -> bool {
        self.asked.is_none() && !self.wishes.is_empty()
    }
    pub fn deadline(&self) -> Time {
        self.timer.deadline().min(self.hold.deadline())
    }
}

impl Association {
    /// Makes the sequence numbers of outgoing streams start anew, once all that
    /// was given for them is sent; without a list those of all streams. A
    /// [`Notification::StreamReset`] follows for each.
    ///
    /// # Errors
    /// See [`ReconfigError`].
    pub fn reset_streams(&mut self, streams: &[u16]) -> Result<(), ReconfigError> {
        self.check_streams(streams, self.outbound)?;
        self.wish(Wish::ResetOutgoing { streams: streams.to_vec(), answers: None })
    }

    /// Asks the peer to do the same with its streams.
    ///
    /// # Errors
    /// See [`ReconfigError`].
    pub fn request_stream_reset(&mut self, streams: &[u16]) -> Result<(), ReconfigError> {
        self.check_streams(streams, self.inbound)?;
        self.wish(Wish::ResetIncoming(streams.to_vec()))
    }

    /// Asks for more streams: to send on (`outgoing`), or for the peer to send
    /// on. [`Notification::StreamsAdded`] follows.
    ///
    /// # Errors
    /// See [`ReconfigError`].
    pub fn add_streams(&mut self, outgoing: bool, count: u16) -> Result<(), ReconfigError> {
        let now = if outgoing { self.outbound } else { self.inbound };
        if count == 0 || now.checked_add(count).is_none() {
            return Err(ReconfigError::TooMany);
        }
        self.wish(Wish::Add { outgoing, count })
    }

    fn check_streams(&self, streams: &[u16], count: u16) -> Result<(), ReconfigError> {
        match streams.iter().all(|stream| *stream < count) {
            true => Ok(()),
            false => Err(ReconfigError::NoSuchStream(count)),
        }
    }

    pub(super) fn wish(&mut self, wish: Wish) -> Result<(), ReconfigError> {
        if !self.extensions.has(Extensions::RECONFIGURATION) || !self.state.may_receive() {
            return Err(ReconfigError::NotAvailable);
        }
        let reconfig = self.reconfig();
        if reconfig.wishes.len() == MAX_WISHES {
            return Err(ReconfigError::TooMany);
        }
        reconfig.wishes.push_back(wish);
        Ok(())
    }

    pub(super) fn reconfig(&mut self) -> &mut Reconfig {
        // §4.1: the first number is the initial TSN.
        let (number, expected) = (self.local_origin.add(1), self.peer_origin.add(1));
        self.reconfig.get_or_insert_with(|| {
            let (wishes, answered) = (VecDeque::new(), Answer::default());
            let (timer, hold) = (Timer::IDLE, Timer::IDLE);
            Box::new(Reconfig { number, expected, asked: None, wishes, answered, timer, hold })
        })
    }

    /// A stream that is to start anew takes no more messages.
    pub(super) fn is_resetting(&self, stream: u16) -> bool {
        let wishes = self.reconfig.iter().flat_map(|reconfig| &reconfig.wishes);
        wishes.clone().any(|wish| wish.is_reset_of(stream))
    }

    /// Sends the next request, if it can be sent.
    pub(super) fn reconfigure(&mut self, now: Time) {
        let Some(reconfig) = &self.reconfig else { return };
        let Some(wish) = reconfig.wishes.front() else { return };
        if reconfig.asked.is_some() {
            return;
        }
        let request = reconfig.number;
        let parameter = match wish.clone() {
            Wish::ResetOutgoing { streams, answers } => {
                // §5.1.2: what was given before has its numbers first.
                let unsent = match streams.as_slice() {
                    [] => !self.outgoing.is_empty(),
                    some => some.iter().any(|stream| self.outgoing.has_stream(*stream)),
                };
                if unsent {
                    return;
                }
                let response = answers.unwrap_or(reconfig.expected.add(u32::MAX));
                let last_tsn = self.local_origin.at(self.flight.next() - 1);
                Parameter::OutgoingReset { request, response, last_tsn, streams }
            }
            Wish::ResetIncoming(streams) => Parameter::IncomingReset { request, streams },
            Wish::Add { outgoing, count } => Parameter::AddStreams { outgoing, request, count },
            Wish::Renumber if self.flight.is_empty() && self.outgoing.is_empty() => {
                Parameter::TsnReset { request }
            }
            Wish::Renumber => return,
        };
        self.control.push(Chunk::Reconfig(vec![parameter.clone()]));
        let rto = self.paths[self.data_path()].rtt.rto();
        let reconfig = self.reconfig();
        reconfig.asked = Some(parameter);
        reconfig.timer.set(now + rto);
    }

    /// The answer is late (§5.1.1): again, as after T3-rtx.
    pub(super) fn on_reconfig_timer(&mut self, now: Time) {
        let path = self.data_path();
        self.paths[path].rtt.on_timeout();
        self.on_path_error(now, path);
        let rto = self.paths[path].rtt.rto();
        if let Some(reconfig) = &mut self.reconfig {
            reconfig.timer.stop();
            if let Some(parameter) = reconfig.asked.clone() {
                reconfig.timer.set(now + rto);
                self.push_control(Chunk::Reconfig(vec![parameter]));
            }
        }
    }

    /// RE-CONFIG arrived (§5.2).
    pub(super) fn on_reconfig(&mut self, now: Time, parameters: &[Parameter]) {
        if !self.extensions.has(Extensions::RECONFIGURATION) || !self.state.may_receive() {
            return;
        }
        for parameter in parameters {
            match parameter {
                Parameter::OutgoingReset { request, response, last_tsn, streams } => {
                    let ours = self.reconfig.as_ref().is_some_and(|r| {
                        r.number == *response
                            && matches!(r.asked, Some(Parameter::IncomingReset { .. }))
                    });
                    if ours {
                        self.end_request(); // it answers our request (§5.2.3)
                    }
                    self.answer(*request, |this| this.on_outgoing_reset(*last_tsn, streams).into());
                }
                Parameter::IncomingReset { request, streams } => {
                    self.answer(*request, |this| this.on_incoming_reset(*request, streams).into());
                }
                Parameter::TsnReset { request } => {
                    self.answer(*request, |this| this.on_tsn_reset(now));
                }
                Parameter::AddStreams { outgoing, request, count } => {
                    self.answer(*request, |this| this.on_add_streams(*outgoing, *count).into());
                }
                Parameter::ReconfigResponse { response, result, next_tsns } => {
                    self.on_response(now, *response, *result, *next_tsns);
                }
                _ => {}
            }
        }
    }

    /// Answers a request, once for each number (§5.2.1).
    fn answer(&mut self, request: Serial32, perform: impl FnOnce(&mut Self) -> Answer) {
        let expected = self.reconfig().expected;
        let answer = if request == expected {
            let answer = perform(self);
            // A request in progress comes again with its number, unless it is
            // an incoming reset, which our own request answers.
            let reconfig = self.reconfig();
            if answer.code != result::IN_PROGRESS {
                reconfig.expected = expected.add(1);
                reconfig.answered = answer;
            }
            answer
        } else if request.add(1) == expected {
            self.reconfig().answered
        } else {
            result::BAD_NUMBER.into()
        };
        let Answer { code: result, next_tsns } = answer;
        let answer = Parameter::ReconfigResponse { response: request, result, next_tsns };
        self.push_answer(Chunk::Reconfig(vec![answer]));
    }

    /// The peer's streams start anew once all before has arrived (§5.2.2).
    fn on_outgoing_reset(&mut self, last_tsn: Serial32, streams: &[u16]) -> u32 {
        if streams.iter().any(|stream| *stream >= self.inbound) {
            return result::WRONG_STREAM;
        }
        match last_tsn.expand(self.peer_origin, self.map.next) {
            Some(last) if last < self.map.next => {}
            None => {} // before the first TSN: nothing was sent
            Some(_) => return result::IN_PROGRESS,
        }
        let all: Vec<u16> = (0..self.inbound).collect();
        for stream in if streams.is_empty() { &all } else { streams } {
            self.reassembly.reset_stream(*stream);
            self.notify(Notification::StreamReset { stream: *stream, incoming: true });
        }
        result::PERFORMED
    }

    /// The peer asks for our streams to start anew (§5.2.3).
    fn on_incoming_reset(&mut self, request: Serial32, streams: &[u16]) -> u32 {
        if streams.iter().any(|stream| *stream >= self.outbound) {
            return result::WRONG_STREAM;
        }
        let resets = |wish: &Wish| matches!(wish, Wish::ResetOutgoing { .. });
        let reconfig = self.reconfig();
        if reconfig.wishes.iter().any(resets) || reconfig.wishes.len() == MAX_WISHES {
            return result::ALREADY_IN_PROGRESS;
        }
        let answers = Some(request);
        reconfig.wishes.push_back(Wish::ResetOutgoing { streams: streams.to_vec(), answers });
        result::PERFORMED
    }

    /// The peer adds streams (§5.2.5), or asks us to (§5.2.6).
    fn on_add_streams(&mut self, outgoing: bool, count: u16) -> u32 {
        if count == 0 {
            return result::NOTHING_TO_DO;
        }
        if outgoing {
            let more = self.inbound.checked_add(count);
            let Some(more) = more.filter(|more| *more <= self.config.inbound_streams) else {
                return result::DENIED;
            };
            self.inbound = more;
            self.notify(Notification::StreamsAdded { count, incoming: true });
            return result::PERFORMED;
        }
        let fits = self.outbound.checked_add(count).is_some();
        let reconfig = self.reconfig();
        if !fits || reconfig.wishes.len() == MAX_WISHES {
            return result::DENIED;
        }
        reconfig.wishes.push_back(Wish::Add { outgoing: true, count });
        result::PERFORMED
    }

    /// Our request was answered (§5.2.7).
    fn on_response(
        &mut self,
        now: Time,
        response: Serial32,
        code: u32,
        next_tsns: Option<(Serial32, Serial32)>,
    ) {
        let rto = self.paths[self.data_path()].rtt.rto();
        let Some(reconfig) = &mut self.reconfig else { return };
        if reconfig.number != response || reconfig.asked.is_none() {
            return;
        }
        self.errors = 0;
        if code == result::IN_PROGRESS {
            return reconfig.timer.set(now + rto);
        }
        let Some(wish) = self.end_request() else { return };
        if code > result::PERFORMED {
            return self.notify(Notification::ReconfigurationFailed { result: code });
        }
        match wish {
            Wish::ResetOutgoing { streams, .. } => {
                let all: Vec<u16> = (0..self.outbound).collect();
                for stream in if streams.is_empty() { all } else { streams } {
                    self.outgoing.reset_numbers(stream);
                    self.notify(Notification::StreamReset { stream, incoming: false });
                }
            }
            Wish::Add { outgoing: true, count } => {
                self.outbound += count;
                self.notify(Notification::StreamsAdded { count, incoming: false });
            }
            // The peer's own request follows.
            Wish::Add { outgoing: false, .. } | Wish::ResetIncoming(_) => {}
            Wish::Renumber => match next_tsns {
                Some((theirs, ours)) => self.renumber(ours, theirs),
                None => self.on_violation(b"a TSN reset without TSNs"),
            },
        }
    }

    /// The outstanding request is settled.
    fn end_request(&mut self) -> Option<Wish> {
        let reconfig = self.reconfig.as_mut()?;
        reconfig.asked.take()?;
        reconfig.timer.stop();
        reconfig.number = reconfig.number.add(1);
        reconfig.wishes.pop_front()
    }
}
