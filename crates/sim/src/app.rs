//! Applications: what writes and reads the streams. Sans-I/O and a closed
//! set; an application answers its endpoint's events with commands. One whose
//! traffic takes time also has dates of its own.

use crate::messages::{Channel, MessageTraffic};
use crate::octets::mismatches;
use crate::stage::Stage;
use crate::traffic::{Source, Traffic};
use anabranch_endpoint::message::Refusal;
use anabranch_endpoint::{ByteStream, CloseReason, Event};
use anabranch_units::Time;
use anabranch_wire::pattern;
use std::sync::Arc;

/// Description of an application. Every application reads what arrives at
/// once.
#[derive(Clone, PartialEq, Debug)]
pub enum App {
    /// Writes this many octets at once (`None`: without end), then closes.
    Bulk {
        /// How many.
        bytes: Option<u64>,
    },
    /// Writes nothing; closes when the peer has closed.
    Sink,
    /// As `Bulk`, where the peer writes too.
    BulkAndSink {
        /// How many.
        bytes: Option<u64>,
    },
    /// Writes what its traffic allows when it allows it, then closes.
    Traffic(Traffic),
    /// Over a transport with messages: sends these and reads those of the peer,
    /// then closes.
    Messages(Arc<MessageTraffic>),
    /// Reads messages; closes when the peer has closed.
    MessageSink,
}

impl App {
    /// The number of the channel that it sends messages on.
    pub(crate) fn open(&self, stage: &mut Stage) -> u32 {
        let App::Messages(messages) = self else { return NO_CHANNEL };
        stage.channels.push(Channel::new(messages.clone()));
        stage.channels.len() as u32 - 1
    }

    /// Octets that it writes; `u64::MAX` without end.
    pub(crate) fn target(&self) -> u64 {
        match self {
            App::Bulk { bytes } | App::BulkAndSink { bytes } => bytes.unwrap_or(u64::MAX),
            App::Sink | App::MessageSink => 0,
            App::Traffic(traffic) => traffic.total(),
            App::Messages(messages) => Channel::new(messages.clone()).total(),
        }
    }
}

/// What an endless application writes of counted octets: more than any run
/// moves.
const ENDLESS: u64 = 1 << 60;

/// An application at work, 48 octets: there is one for each of 200,000
/// endpoints.
#[derive(Debug)]
pub(crate) struct AppState {
    /// Octets to write, `u64::MAX` without end; or, with traffic, the number of
    /// the source that says how many; or, with messages, those of the channel
    /// that it sends on and, in the upper half, of the peer's.
    target: u64,
    /// Octets written.
    written: u64,
    /// Octets that the peer will write; `u64::MAX` without end.
    expected: u64,
    /// Octets read.
    pub received: u64,
    /// When the last of them came.
    last: Time,
    wrong: u16,
    bits: u8,
    pub closed: Option<CloseReason>,
}

/// An endpoint and its application.
pub(crate) struct Hosted<E> {
    pub endpoint: E,
    pub app: AppState,
}

/// Of a side that sends no messages.
const NO_CHANNEL: u32 = u32::MAX;

/// Writes nothing and closes after the peer.
const SINK: u8 = 1;
/// The streams are of real octets.
const OCTETS: u8 = 2;
/// The end of the stream was written.
const CLOSED: u8 = 4;
/// The connection was established.
const ESTABLISHED: u8 = 8;
/// Nothing more is expected from the peer, be it all there or not.
const OVER: u8 = 16;
/// A source says how many octets may be written.
const SOURCED: u8 = 32;
/// It sends or reads the messages of channels.
const MESSAGES: u8 = 64;

impl AppState {
    /// `channels`: its own and the peer's.
    pub(crate) fn new(
        app: &App,
        peer: &App,
        [own, theirs]: [u32; 2],
        octets: bool,
        stage: &mut Stage,
    ) -> AppState {
        let mut state = AppState {
            target: app.target(),
            written: 0,
            expected: peer.target(),
            received: 0,
            last: Time::ZERO,
            wrong: 0,
            bits: 0,
            closed: None,
        };
        if let App::Traffic(traffic) = app {
            state.target = stage.sources.len() as u64;
            state.set(SOURCED, true);
            stage.sources.push(Source::new(traffic.clone()));
        }
        if matches!(app, App::Messages(_) | App::MessageSink) {
            state.target = own as u64 | (theirs as u64) << 32;
            state.set(MESSAGES, true);
        }
        state.set(SINK, matches!(app, App::Sink | App::MessageSink));
        state.set(OCTETS, octets);
        state.set(OVER, state.expected == 0 || state.expected == u64::MAX);
        state
    }

    /// Connects, and writes what is written at once.
    pub(crate) fn start<E: ByteStream>(&mut self, now: Time, endpoint: &mut E, stage: &mut Stage) {
        endpoint.connect(now);
        if let Some(source) = self.source(stage) {
            source.start(now);
        }
        if let Some(channel) = self.sender(stage) {
            channel.start(now);
        }
        self.write(now, endpoint, stage);
    }

    /// Numbers of the channel that it sends on and of the peer's; beyond all
    /// where there is none.
    fn channels(&self) -> [usize; 2] {
        [self.target as u32 as usize, (self.target >> 32) as usize]
    }

    /// The messages that it sends.
    pub(crate) fn sent<'a>(&self, stage: &'a Stage) -> Option<&'a Channel> {
        let sends = self.bits & (MESSAGES | SINK) == MESSAGES;
        sends.then(|| &stage.channels[self.channels()[0]])
    }

    /// The same, to change it.
    fn sender<'a>(&self, stage: &'a mut Stage) -> Option<&'a mut Channel> {
        let sends = self.bits & (MESSAGES | SINK) == MESSAGES;
        sends.then(|| &mut stage.channels[self.channels()[0]])
    }

    fn source<'a>(&self, stage: &'a mut Stage) -> Option<&'a mut Source> {
        self.is(SOURCED).then(|| &mut stage.sources[self.target as usize])
    }

    /// When to call [`AppState::handle_timeout`].
    #[inline]
    pub(crate) fn due(&self, stage: &Stage) -> Time {
        match self.bits & (SOURCED | MESSAGES | SINK) {
            SOURCED => stage.sources[self.target as usize].due(),
            MESSAGES => stage.channels[self.channels()[0]].due(),
            _ => Time::NEVER,
        }
    }

    /// The application's own date has come.
    pub(crate) fn handle_timeout<E: ByteStream>(
        &mut self,
        now: Time,
        endpoint: &mut E,
        stage: &mut Stage,
    ) {
        if let Some(source) = self.source(stage) {
            source.handle_timeout(now);
        } else if let Some(channel) = self.sender(stage) {
            channel.handle_timeout(now);
        }
        self.write(now, endpoint, stage);
    }

    /// Of an application that makes requests: when it made each, and when the
    /// response was whole.
    pub(crate) fn exchanges<'a>(&self, stage: &'a Stage) -> &'a [(Time, Option<Time>)] {
        if self.is(SOURCED) { stage.sources[self.target as usize].exchanges() } else { &[] }
    }

    /// The flow's date of stopping has come: aborts an endless stream, and ends
    /// traffic without an end of its own after what is written.
    pub(crate) fn stop<E: ByteStream>(&mut self, endpoint: &mut E, stage: &mut Stage) {
        if let Some(source) = self.source(stage) {
            if source.has_end() {
                return;
            }
            source.stop();
            self.close(endpoint);
            return;
        }
        if let Some(channel) = self.sender(stage) {
            if !channel.has_end() {
                channel.stop();
                self.close(endpoint);
            }
            return;
        }
        if self.target == u64::MAX && self.closed.is_none() {
            self.set(CLOSED, true);
            endpoint.abort();
        }
    }

    /// Answers an event; true when it has just become clear that nothing more
    /// of a stream of known length will come.
    #[inline(always)]
    pub(crate) fn handle_event<E: ByteStream>(
        &mut self,
        now: Time,
        event: Event,
        endpoint: &mut E,
        stage: &mut Stage,
    ) -> bool {
        match event {
            Event::Connected => {
                self.set(ESTABLISHED, true);
                if let Some(channel) = self.sender(stage) {
                    channel.start(now);
                }
                self.write(now, endpoint, stage);
            }
            Event::Writable => self.write(now, endpoint, stage),
            Event::Readable => {
                self.read(now, endpoint, stage);
                self.answer(now, endpoint, stage);
                if !endpoint.has_half_close() {
                    // What came may have been all that it waited for.
                    self.write(now, endpoint, stage);
                }
            }
            Event::PeerClosed => {
                self.read(now, endpoint, stage);
                self.answer(now, endpoint, stage);
                if self.is(SINK) || !endpoint.has_half_close() {
                    self.close(endpoint);
                }
            }
            Event::Closed(reason) => {
                self.closed = Some(reason);
                self.pass_barrier(now, stage, true);
            }
            Event::Urgent | Event::Stalled => {}
        }
        let ends = !self.is(OVER) && (self.received >= self.expected || self.closed.is_some());
        if ends {
            self.set(OVER, true);
        }
        ends
    }

    /// Nothing more of a stream of known length will come.
    pub(crate) fn is_over(&self) -> bool {
        self.is(OVER)
    }

    /// Everything has come, where there is an end.
    pub(crate) fn is_satisfied(&self) -> bool {
        self.expected == u64::MAX || self.received >= self.expected
    }

    /// Octets that the endpoint has taken.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Octets that the peer will write; `u64::MAX` without end.
    pub(crate) fn expected(&self) -> u64 {
        self.expected
    }

    /// There is something to write now that the endpoint has not taken.
    pub(crate) fn has_more(&self, stage: &Stage) -> bool {
        match self.bits & (SOURCED | MESSAGES | SINK | CLOSED) {
            0 => self.written < self.target.min(ENDLESS),
            SOURCED => self.written < stage.sources[self.target as usize].released(),
            MESSAGES => !stage.channels[self.channels()[0]].is_over(),
            _ => false,
        }
    }

    /// Octets that `writer`, which wrote everything, wrote and this side did not read. None where
    /// messages may be given up, or where it is not known how many there are.
    pub(crate) fn missing_of(&self, writer: &AppState, stage: &Stage) -> u64 {
        let reliable = writer.sent(stage).is_none_or(Channel::is_reliable);
        match reliable && writer.written == self.expected {
            true => self.expected.saturating_sub(self.received),
            false => 0,
        }
    }

    /// The connection was established.
    pub(crate) fn is_established(&self) -> bool {
        self.is(ESTABLISHED)
    }

    /// Octets that differed from the pattern, up to 65,535.
    pub(crate) fn wrong_octets(&self) -> u64 {
        self.wrong as u64
    }

    /// When both sides of a flow had read all, if there was something to read
    /// and an end to it.
    pub(crate) fn finish(client: &AppState, server: &AppState) -> Option<Time> {
        let sides = [client, server];
        let is_finite = sides.iter().all(|side| side.expected != u64::MAX);
        let is_complete = sides.iter().all(|side| side.received >= side.expected);
        let has_data = sides.iter().any(|side| side.expected != 0);
        (is_finite && is_complete && has_data).then(|| client.last.max(server.last))
    }

    fn close<E: ByteStream>(&mut self, endpoint: &mut E) {
        if !self.is(CLOSED) && self.closed.is_none() {
            self.set(CLOSED, true);
            endpoint.close();
        }
    }

    /// Writes what there is to write; with pieces, the next of them.
    pub(crate) fn write<E: ByteStream>(&mut self, now: Time, endpoint: &mut E, stage: &mut Stage) {
        if self.is(CLOSED) || self.is(SINK) {
            return;
        }
        if self.is(MESSAGES) {
            return self.send(now, endpoint, stage);
        }
        let (target, is_all) = match self.source(stage) {
            None => (self.target, true),
            Some(source) => (source.released(), source.is_over()),
        };
        if self.is(OCTETS) {
            let until = target.min(self.written.saturating_add(stage.piece));
            let buf = &mut stage.buf;
            loop {
                if self.written == until {
                    stage.has_more = until < target;
                    break;
                }
                // One octet that does not fit tells the endpoint that more waits.
                let most = endpoint.room().clamp(1, buf.len() as u64);
                let len = (until - self.written).min(most) as usize;
                pattern::fill(self.written, &mut buf[..len]);
                let taken = endpoint.write_octets(&buf[..len]);
                self.written += taken as u64;
                if taken < len {
                    break;
                }
            }
        } else if self.written < target.min(ENDLESS) {
            self.written += endpoint.write(target.min(ENDLESS) - self.written);
        }
        let expects_more = self.received < self.expected;
        if self.written == target && is_all && (endpoint.has_half_close() || !expects_more) {
            self.set(CLOSED, true);
            endpoint.close();
        }
    }

    /// Sends the messages that the endpoint takes.
    fn send<E: ByteStream>(&mut self, now: Time, endpoint: &mut E, stage: &mut Stage) {
        let octets = self.is(OCTETS);
        let piece = stage.piece;
        let Some(channel) = self.sender(stage) else { return };
        let messages = endpoint.messages().expect("messages need a transport that has them");
        let (mut written, mut has_more) = (0, false);
        loop {
            if written >= piece {
                has_more = true;
                break;
            }
            let Some(message) = channel.next(now, octets) else { break };
            match messages.send_message(message) {
                Ok(()) => written += channel.on_taken(),
                Err(Refusal::Full) => break,
                Err(Refusal::Never) => channel.stop(),
            }
        }
        let mut is_over = channel.is_over();
        // To close would end the peer's direction too.
        is_over &= stage.channels.get(self.channels()[1]).is_none_or(Channel::is_over);
        self.written += written;
        stage.has_more = has_more;
        if is_over {
            self.close(endpoint);
        }
    }

    /// What came may allow more to be written.
    fn answer<E: ByteStream>(&mut self, now: Time, endpoint: &mut E, stage: &mut Stage) {
        let received = self.received;
        let Some(source) = self.source(stage) else { return };
        let (more, answered) = (source.on_received(now, received) > 0, source.take_answered());
        if more {
            self.write(now, endpoint, stage);
        }
        if answered {
            self.pass_barrier(now, stage, false);
        }
    }

    /// Those that wait for this flow hear of it.
    fn pass_barrier(&mut self, now: Time, stage: &mut Stage, gone: bool) {
        let number = self.target as u32;
        if let Some(barrier) = self.source(stage).and_then(|source| source.barrier()) {
            stage.arrive(now, barrier, number, gone);
        }
    }

    fn read<E: ByteStream>(&mut self, now: Time, endpoint: &mut E, stage: &mut Stage) {
        let before = self.received;
        if self.is(MESSAGES) {
            let Some(channel) = stage.channels.get_mut(self.channels()[1]) else { return };
            let messages = endpoint.messages().expect("messages need a transport that has them");
            while let Some(message) = messages.receive_message() {
                let wrong = channel.on_delivered(now, &message);
                self.wrong = self.wrong.saturating_add(wrong.min(u16::MAX as usize) as u16);
                self.received += message.payload.len() as u64;
            }
        } else if self.is(OCTETS) {
            let buf = &mut stage.buf;
            loop {
                let taken = endpoint.read_octets(buf);
                if taken == 0 {
                    break;
                }
                if self.wrong < u16::MAX {
                    let wrong = mismatches(self.received, &buf[..taken]);
                    self.wrong = self.wrong.saturating_add(wrong.min(u16::MAX as usize) as u16);
                }
                self.received += taken as u64;
            }
        } else {
            self.received += endpoint.read(u64::MAX);
        }
        if self.received != before {
            self.last = now;
        }
    }

    fn is(&self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    fn set(&mut self, bit: u8, on: bool) {
        self.bits = if on { self.bits | bit } else { self.bits & !bit };
    }
}
