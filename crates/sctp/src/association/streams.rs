//! Streams start anew, and get more, by RE-CONFIG (RFC 6525).
//!
//! A stream that is to start anew first sends all that was given for it; until the peer has
//! answered it takes no more. Which request is outstanding, and what the peer's last one got, is
//! kept by [`Reconfig`]. A reset of all numbers, TSNs too, is in [`super::renumber`].

use super::{Association, Notification};
use crate::control::reconfig::{Answer, Asked, Deferred, Reconfig, ReconfigError, Wish, result};
use crate::extensions::Extensions;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::{Chunk, Parameter};

impl Association {
    /// Makes the sequence numbers of outgoing streams start anew, once all that
    /// was given for them is sent; without a list those of all streams. A
    /// [`Notification::StreamReset`] follows for each.
    ///
    /// # Errors
    /// See [`ReconfigError`].
    pub fn reset_streams(&mut self, streams: &[u16]) -> Result<(), ReconfigError> {
        self.check_streams(streams, self.sender.streams)?;
        self.wish(Wish::ResetOutgoing { streams: streams.to_vec(), answers: None })
    }

    /// Asks the peer to make the sequence numbers of these streams of its own start anew, or of all
    /// if none is named. A [`Notification::StreamReset`] follows for each.
    ///
    /// # Errors
    /// See [`ReconfigError`].
    pub fn request_stream_reset(&mut self, streams: &[u16]) -> Result<(), ReconfigError> {
        self.check_streams(streams, self.receiver.streams)?;
        self.wish(Wish::ResetIncoming(streams.to_vec()))
    }

    /// Asks for `count` more streams: to send on (`outgoing`), or for the peer to send on.
    /// [`Notification::StreamsAdded`] follows.
    ///
    /// # Errors
    /// See [`ReconfigError`].
    pub fn add_streams(&mut self, outgoing: bool, count: u16) -> Result<(), ReconfigError> {
        let now = if outgoing { self.sender.streams } else { self.receiver.streams };
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
        if !self.extensions.has(Extensions::RECONFIGURATION) || !self.state().may_receive() {
            return Err(ReconfigError::NotAvailable);
        }
        self.reconfig().wish(wish)
    }

    pub(super) fn reconfig(&mut self) -> &mut Reconfig {
        self.control.reconfig((self.sender.origin.add(1), self.receiver.origin.add(1)))
    }

    /// Returns whether a stream is to start anew, so that it takes no more messages.
    #[inline]
    pub(super) fn is_resetting(&self, stream: u16) -> bool {
        self.control.reconfig.as_ref().is_some_and(|reconfig| reconfig.is_resetting(stream))
    }

    /// Sends the next request, if it can be sent.
    pub(super) fn reconfigure(&mut self, now: Time) {
        let Some(reconfig) = &mut self.control.reconfig else { return };
        let outgoing = &self.sender.outgoing;
        let unsent = |streams: &[u16]| match streams {
            [] => !outgoing.is_empty(),
            some => some.iter().any(|stream| outgoing.has_stream(*stream)),
        };
        let last_tsn = self.sender.next_tsn().add(u32::MAX);
        let request = reconfig.next_request(unsent, self.sender.is_dry(), last_tsn);
        let Some(request) = request else { return };
        let path = self.paths.data_path();
        reconfig.ask(request.clone(), path, now + self.paths[path].rtt.rto());
        self.control.waiting.insist(Chunk::Reconfig(vec![request]));
    }

    /// Handles a late answer (§5.1.1): the request leaves again, as after T3-rtx, or because the
    /// peer may be ready by now.
    pub(super) fn on_reconfig_timer(&mut self, now: Time) {
        let late = self.control.reconfig.as_ref().and_then(|reconfig| reconfig.late_path());
        if let Some(path) = late {
            self.paths[path].rtt.on_timeout();
            self.on_path_error(now, path);
        }
        let path = self.paths.data_path();
        let rto = self.paths[path].rtt.rto();
        if let Some(reconfig) = &mut self.control.reconfig
            && let Some(request) = reconfig.ask_again(path, now + rto)
        {
            self.control.waiting.push(Chunk::Reconfig(vec![request]));
        }
    }

    /// Handles a RE-CONFIG (§5.2).
    pub(super) fn on_reconfig(&mut self, now: Time, parameters: &[Parameter]) {
        if !self.extensions.has(Extensions::RECONFIGURATION) || !self.state().may_receive() {
            return;
        }
        let mut answers = Vec::new();
        for parameter in parameters {
            let answer = match parameter {
                Parameter::OutgoingReset { request, response, last_tsn, streams } => {
                    if let Some(reconfig) = &mut self.control.reconfig
                        && reconfig.is_asked(*response)
                        && matches!(reconfig.asked(), Some(Parameter::IncomingReset { .. }))
                    {
                        reconfig.end_request(); // it answers our request (§5.2.3)
                    }
                    self.answer(*request, |this| this.on_outgoing_reset(*last_tsn, streams).into())
                }
                Parameter::IncomingReset { request, streams } => {
                    self.answer(*request, |this| this.on_incoming_reset(*request, streams).into())
                }
                Parameter::TsnReset { request } => {
                    self.answer(*request, |this| this.on_tsn_reset(now))
                }
                Parameter::AddStreams { outgoing, request, count } => {
                    self.answer(*request, |this| this.on_add_streams(*outgoing, *count).into())
                }
                Parameter::ReconfigResponse { response, result, next_tsns } => {
                    self.on_response(now, *response, *result, *next_tsns);
                    continue;
                }
                // §4: its bits may say that nothing behind it is read.
                Parameter::Unknown { kind, .. } if Parameter::action_on_unknown(*kind).stop => {
                    break;
                }
                _ => continue,
            };
            answers.push(answer);
        }
        if !answers.is_empty() {
            self.control.waiting.push_answer(Chunk::Reconfig(answers)); // §5.2.1: in one chunk
        }
    }

    /// Answers a request, which is performed once for each number (§5.2.1).
    fn answer(
        &mut self,
        request: Serial32,
        perform: impl FnOnce(&mut Self) -> Answer,
    ) -> Parameter {
        let Answer { code: result, next_tsns } = match self.reconfig().look(request) {
            Asked::Next => {
                let answer = perform(self);
                self.reconfig().settle(answer);
                answer
            }
            Asked::Again(answer) => answer,
            Asked::Wrong => result::BAD_NUMBER.into(),
        };
        Parameter::ReconfigResponse { response: request, result, next_tsns }
    }

    /// Starts the peer's streams anew once all before has arrived (§5.2.2). Returns the result
    /// code.
    fn on_outgoing_reset(&mut self, last_tsn: Serial32, streams: &[u16]) -> u32 {
        if streams.iter().any(|stream| *stream >= self.receiver.streams) {
            return result::WRONG_STREAM;
        }
        if !self.receiver.has_all_up_to(last_tsn) {
            self.reconfig().defer(Deferred { last_tsn, streams: streams.to_vec() });
            return result::IN_PROGRESS;
        }
        self.reset_incoming(streams);
        result::PERFORMED
    }

    /// Returns whether data of this stream with this TSN comes behind a reset that waits for what
    /// is before it.
    #[inline]
    pub(super) fn is_behind_reset(&self, stream: u16, tsn: Serial32) -> bool {
        let reconfig = self.control.reconfig.as_ref();
        reconfig.is_some_and(|reconfig| reconfig.is_behind_reset(stream, tsn))
    }

    /// Performs a reset that has waited for the data that arrived; its request, which comes again,
    /// hears so (§5.2.2 E2).
    #[inline]
    pub(super) fn resume_reset(&mut self) {
        if self.control.reconfig.is_some() {
            self.resume_deferred_reset();
        }
    }

    #[cold]
    fn resume_deferred_reset(&mut self) {
        let Some(reconfig) = &mut self.control.reconfig else { return };
        let arrived = |tsn| self.receiver.has_all_up_to(tsn);
        if let Some(reset) = reconfig.take_deferred(arrived) {
            reconfig.settle(result::PERFORMED.into());
            self.reset_incoming(&reset.streams);
            self.insert_held();
        }
    }

    /// Starts these streams of the peer anew; all, if none is named.
    fn reset_incoming(&mut self, streams: &[u16]) {
        let all: Vec<u16> = (0..self.receiver.streams).collect();
        for stream in if streams.is_empty() { &all } else { streams } {
            self.receiver.reassembly.reset_stream(*stream);
            self.notify(Notification::StreamReset { stream: *stream, incoming: true });
        }
    }

    /// Handles the peer's request for streams of this side to start anew (§5.2.3). Returns the
    /// result code.
    fn on_incoming_reset(&mut self, request: Serial32, streams: &[u16]) -> u32 {
        if streams.iter().any(|stream| *stream >= self.sender.streams) {
            return result::WRONG_STREAM;
        }
        let reconfig = self.reconfig();
        if reconfig.covers(streams) {
            return result::NOTHING_TO_DO;
        }
        let wish = Wish::ResetOutgoing { streams: streams.to_vec(), answers: Some(request) };
        if reconfig.wish(wish).is_err() {
            return result::ALREADY_IN_PROGRESS;
        }
        result::PERFORMED
    }

    /// Handles the peer's addition of streams (§5.2.5), or its request for more of this side's
    /// (§5.2.6). Returns the result code.
    fn on_add_streams(&mut self, outgoing: bool, count: u16) -> u32 {
        if count == 0 {
            return result::NOTHING_TO_DO;
        }
        if outgoing {
            let more = self.receiver.streams.checked_add(count);
            let Some(more) = more.filter(|more| *more <= self.config.inbound_streams) else {
                return result::DENIED;
            };
            self.receiver.streams = more;
            self.notify(Notification::StreamsAdded { count, incoming: true });
            return result::PERFORMED;
        }
        let fits = self.sender.streams.checked_add(count).is_some();
        if !fits || self.reconfig().wish(Wish::Add { outgoing: true, count }).is_err() {
            return result::DENIED;
        }
        result::PERFORMED
    }

    /// Handles the answer to this side's request (§5.2.7).
    fn on_response(
        &mut self,
        now: Time,
        response: Serial32,
        code: u32,
        next_tsns: Option<(Serial32, Serial32)>,
    ) {
        let rto = self.paths[self.paths.data_path()].rtt.rto();
        let Some(reconfig) =
            self.control.reconfig.as_mut().filter(|reconfig| reconfig.is_asked(response))
        else {
            return;
        };
        self.paths.forget_failures();
        if code == result::IN_PROGRESS {
            return reconfig.wait(now + rto);
        }
        let Some(wish) = reconfig.end_request() else { return };
        self.tell_of_room(); // a byte stream may go on
        if code > result::PERFORMED {
            let request = wish.request();
            return self.notify(Notification::ReconfigurationFailed { request, result: code });
        }
        match wish {
            Wish::ResetOutgoing { streams, .. } => {
                let all: Vec<u16> = (0..self.sender.streams).collect();
                for stream in if streams.is_empty() { all } else { streams } {
                    self.sender.outgoing.reset_numbers(stream);
                    self.notify(Notification::StreamReset { stream, incoming: false });
                }
            }
            Wish::Add { outgoing: true, count } => {
                self.sender.streams += count;
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
}
