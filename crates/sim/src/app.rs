//! Applications: what writes and reads the streams. Sans-I/O and a closed
//! set; an application answers its endpoint's events with commands. One whose
//! traffic takes time also has dates of its own.

mod task;

use crate::app_context::AppContext;
use crate::messages::{Channel, MessageTraffic};
use crate::octets::mismatches;
use crate::traffic::{Source, Traffic};
use anabranch_endpoint::message::Refusal;
use anabranch_endpoint::{CloseReason, Event, Service};
use anabranch_units::Time;
use anabranch_wire::pattern;
use std::sync::Arc;
pub(crate) use task::ChannelId;
use task::Task;

/// Description of an application. Every application reads what arrives at
/// once.
#[derive(Clone, PartialEq, Debug)]
pub enum App {
    /// Writes this many octets at once (`None`: without end), then closes.
    Bulk {
        /// Octets to write; `None` for a stream without end.
        bytes: Option<u64>,
    },
    /// Writes nothing; closes when the peer has closed.
    Sink,
    /// Writes as `Bulk` does, where the peer writes too.
    BulkAndSink {
        /// Octets to write; `None` for a stream without end.
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
    /// Octets that it writes; `u64::MAX` without end.
    pub(crate) fn target(&self) -> u64 {
        match self {
            App::Bulk { bytes } | App::BulkAndSink { bytes } => bytes.unwrap_or(u64::MAX),
            App::Sink | App::MessageSink => 0,
            App::Traffic(traffic) => traffic.total(),
            // How many of the datagrams arrive is not known.
            App::Messages(messages) if messages.datagrams.is_some() => u64::MAX,
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
    task: Task,
    /// Octets that it has written.
    written: u64,
    /// Octets that the peer will write; `u64::MAX` without end.
    expected: u64,
    /// Octets that it has read.
    pub received: u64,
    /// Time at which the last of them was read.
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

const _: () = assert!(size_of::<AppState>() == 48);

/// The streams are of real octets.
const OCTETS: u8 = 1;
/// The end of the stream was written.
const CLOSED: u8 = 2;
/// The connection was established.
const ESTABLISHED: u8 = 4;
/// Nothing more is expected from the peer, be it all there or not.
const OVER: u8 = 8;

impl AppState {
    /// `channels`: its own and the peer's.
    pub(crate) fn new(
        app: &App,
        peer: &App,
        channels: [Option<ChannelId>; 2],
        octets: bool,
        context: &mut AppContext,
    ) -> AppState {
        let mut state = AppState {
            task: Task::new(app, channels, context),
            written: 0,
            expected: peer.target(),
            received: 0,
            last: Time::ZERO,
            wrong: 0,
            bits: 0,
            closed: None,
        };
        state.set(OCTETS, octets);
        state.set(OVER, state.expected == 0 || state.expected == u64::MAX);
        state
    }

    /// Connects, and writes what is written at once.
    pub(crate) fn start<E: Service>(
        &mut self,
        now: Time,
        endpoint: &mut E,
        context: &mut AppContext,
    ) {
        endpoint.connect(now);
        if let Some(source) = self.source(context) {
            source.start(now);
        }
        self.pass_orders(context);
        if let Some(channel) = self.sender(context) {
            channel.start(now);
        }
        self.write(now, endpoint, context);
    }

    /// The messages that it sends.
    pub(crate) fn sent<'a>(&self, context: &'a AppContext) -> Option<&'a Channel> {
        Some(&context.channels[self.task.own_channel()?])
    }

    /// Returns the channel of the messages that it sends, to change it.
    fn sender<'a>(&self, context: &'a mut AppContext) -> Option<&'a mut Channel> {
        Some(&mut context.channels[self.task.own_channel()?])
    }

    fn source<'a>(&self, context: &'a mut AppContext) -> Option<&'a mut Source> {
        Some(&mut context.sources[self.task.source()?])
    }

    /// Returns when to call [`AppState::handle_timeout`]; [`Time::NEVER`] for not at all.
    #[inline]
    pub(crate) fn due(&self, context: &AppContext) -> Time {
        match self.task {
            Task::Bulk(_) | Task::Sink => Time::NEVER,
            Task::Traffic(number) => context.sources[number as usize].due(),
            Task::Messages { .. } => self.sent(context).map_or(Time::NEVER, Channel::due),
        }
    }

    /// The application's own date has come.
    pub(crate) fn handle_timeout<E: Service>(
        &mut self,
        now: Time,
        endpoint: &mut E,
        context: &mut AppContext,
    ) {
        if let Some(source) = self.source(context) {
            source.handle_timeout(now);
            self.pass_orders(context);
        } else if let Some(channel) = self.sender(context) {
            channel.handle_timeout(now);
        }
        self.write(now, endpoint, context);
    }

    /// The number of its source, where traffic says how much may be written.
    pub(crate) fn source_number(&self) -> Option<usize> {
        self.task.source()
    }

    /// The number of the channel of the messages that it sends, if it sends any.
    pub(crate) fn channel_number(&self) -> Option<usize> {
        self.task.own_channel()
    }

    /// Returns for each request that it made when it made it, and when the response was whole;
    /// empty for applications that make none.
    pub(crate) fn exchanges<'a>(&self, context: &'a AppContext) -> &'a [(Time, Option<Time>)] {
        self.task.source().map_or(&[], |number| context.sources[number].exchanges())
    }

    /// The flow's date of stopping has come: aborts an endless stream, and ends
    /// traffic without an end of its own after what is written.
    pub(crate) fn stop<E: Service>(&mut self, endpoint: &mut E, context: &mut AppContext) {
        if let Some(source) = self.source(context) {
            if source.has_end() {
                return;
            }
            source.stop();
            self.close(endpoint);
            return;
        }
        if let Some(channel) = self.sender(context) {
            // Probes that are under way are still echoed.
            if (!channel.has_end() || channel.has_datagrams()) && !channel.is_echo() {
                channel.stop();
                self.close(endpoint);
            }
            return;
        }
        let is_endless = matches!(self.task, Task::Bulk(total) if total.get() == u64::MAX);
        if is_endless && self.closed.is_none() {
            self.set(CLOSED, true);
            endpoint.abort();
        }
    }

    /// Answers an event; true when it has just become clear that nothing more
    /// of a stream of known length will come.
    #[inline(always)]
    pub(crate) fn handle_event<E: Service>(
        &mut self,
        now: Time,
        event: Event,
        endpoint: &mut E,
        context: &mut AppContext,
    ) -> bool {
        match event {
            Event::Connected => {
                self.set(ESTABLISHED, true);
                if let Some(channel) = self.sender(context) {
                    channel.start(now);
                }
                self.write(now, endpoint, context);
            }
            Event::Writable => self.write(now, endpoint, context),
            Event::Readable => {
                self.read(now, endpoint, context);
                self.answer(now, endpoint, context);
                if !endpoint.has_half_close() {
                    // What came may have been all that it waited for.
                    self.write(now, endpoint, context);
                }
            }
            Event::PeerClosed => {
                self.read(now, endpoint, context);
                self.answer(now, endpoint, context);
                if self.task.is_sink() || !endpoint.has_half_close() {
                    self.close(endpoint);
                }
            }
            Event::Closed(reason) => {
                self.closed = Some(reason);
                self.pass_barrier(now, context, true);
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
    pub(crate) fn has_more(&self, context: &AppContext) -> bool {
        if self.is(CLOSED) {
            return false;
        }
        match self.task {
            Task::Bulk(total) => self.written < total.get().min(ENDLESS),
            Task::Sink => false,
            Task::Traffic(number) => self.written < context.sources[number as usize].released(),
            Task::Messages { .. } => self.sent(context).is_some_and(|channel| !channel.is_over()),
        }
    }

    /// Octets that `writer`, which wrote everything, wrote and this side did not read. None where
    /// messages may be given up, or where it is not known how many there are.
    pub(crate) fn missing_of(&self, writer: &AppState, context: &AppContext) -> u64 {
        let reliable = writer.sent(context).is_none_or(Channel::is_reliable);
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

    /// Returns when both sides of a flow had read all, if there was something to read and an end to
    /// it.
    pub(crate) fn finish(client: &AppState, server: &AppState) -> Option<Time> {
        let sides = [client, server];
        let is_finite = sides.iter().all(|side| side.expected != u64::MAX);
        let is_complete = sides.iter().all(|side| side.received >= side.expected);
        let has_data = sides.iter().any(|side| side.expected != 0);
        (is_finite && is_complete && has_data).then(|| client.last.max(server.last))
    }

    fn close<E: Service>(&mut self, endpoint: &mut E) {
        if !self.is(CLOSED) && self.closed.is_none() {
            self.set(CLOSED, true);
            endpoint.close();
        }
    }

    /// Writes what there is to write; with pieces, the next of them.
    pub(crate) fn write<E: Service>(
        &mut self,
        now: Time,
        endpoint: &mut E,
        context: &mut AppContext,
    ) {
        if self.is(CLOSED) {
            return;
        }
        let (target, is_all) = match self.task {
            Task::Bulk(total) => (total.get(), true),
            Task::Sink => return,
            Task::Traffic(number) => {
                let source = &context.sources[number as usize];
                (source.released(), source.is_over())
            }
            Task::Messages { .. } => return self.send(now, endpoint, context),
        };
        if self.is(OCTETS) {
            let until = target.min(self.written.saturating_add(context.piece));
            let buf = &mut context.buf;
            loop {
                if self.written == until {
                    context.has_more = until < target;
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
    fn send<E: Service>(&mut self, now: Time, endpoint: &mut E, context: &mut AppContext) {
        let octets = self.is(OCTETS);
        let piece = context.piece;
        let Some(channel) = self.sender(context) else { return };
        // A program at a host of a live run has messages of its own.
        let Some(messages) = endpoint.messages() else { return };
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
        let theirs = self.task.peer_channel().map(|number| &context.channels[number]);
        is_over &= theirs.is_none_or(Channel::is_over);
        self.written += written;
        context.has_more = has_more;
        if is_over {
            self.close(endpoint);
        }
    }

    /// Lets the application write more, where what came allows it.
    fn answer<E: Service>(&mut self, now: Time, endpoint: &mut E, context: &mut AppContext) {
        let received = self.received;
        let Some(source) = self.source(context) else { return };
        let (more, answered) = (source.on_received(now, received) > 0, source.take_answered());
        self.pass_orders(context);
        if more {
            self.write(now, endpoint, context);
        }
        if answered {
            self.pass_barrier(now, context, false);
        }
    }

    /// What the client has asked for is told to the server, who answers when the octets of the
    /// request have come.
    fn pass_orders(&mut self, context: &mut AppContext) {
        if let Some(number) = self.task.source() {
            context.pass_orders(number);
        }
    }

    /// Tells those that wait for this flow.
    fn pass_barrier(&mut self, now: Time, context: &mut AppContext, gone: bool) {
        let Some(number) = self.task.source() else { return };
        if let Some(barrier) = context.sources[number].barrier() {
            context.arrive(now, barrier, number as u32, gone);
        }
    }

    fn read<E: Service>(&mut self, now: Time, endpoint: &mut E, context: &mut AppContext) {
        let before = self.received;
        if let Task::Messages { .. } = self.task {
            let Some(number) = self.task.peer_channel() else { return };
            let channel = &mut context.channels[number];
            let Some(messages) = endpoint.messages() else { return };
            while let Some(message) = messages.receive_message() {
                let read = channel.on_delivered(now, &message);
                self.wrong = self.wrong.saturating_add(read.wrong.min(u16::MAX as usize) as u16);
                self.received += message.payload.len() as u64;
                context.read.extend(read.made.map(|made| (made, message.payload.len())));
            }
            if let Some(own) = self.task.own_channel() {
                let channel = &mut context.channels[own];
                context.read.iter().for_each(|(made, len)| channel.echo(now, *made, *len));
            }
            context.read.clear();
        } else if self.is(OCTETS) {
            let buf = &mut context.buf;
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
