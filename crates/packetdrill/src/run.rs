//! Runs a script against a stack, in virtual time.

mod mapping;
mod options;
mod packets;
mod timing;

use crate::code::{self, Names};
use crate::constants;
use crate::report::{Failure, Report, Traced, Verdict, seconds};
use crate::script::{Action, Call, Event, Field, PacketBody, PacketSpec, Script, TcpOptionSpec};
use crate::script::{OptionsSpec, TcpSpec, Value};
use crate::shell;
use crate::stack::{Configured, Outcome, Returned, Stack};
use anabranch_units::{Span, Time};
use anabranch_wire::{Body, Packet};
use mapping::Mapping;
use packets::Merged;
use std::collections::{BTreeMap, VecDeque};
use timing::{Tolerance, Window};

/// How scripts are run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Settings of the stack before the script's own, by name.
    pub configure: Vec<(String, String)>,
    /// The deviation of times that is allowed, in place of the script's.
    pub tolerance: Option<Span>,
    /// Keep the packets in the report.
    pub trace: bool,
}

/// How long a packet is awaited after it is due.
const PATIENCE: Span = Span::from_secs(2);

/// How long a packet at any time, or a call that blocks, is awaited.
const LONGEST: Span = Span::from_secs(3600);

/// Packets that a stack may send without the clock moving.
const MOST_AT_ONCE: u32 = 100_000;

/// Runs `script` against `stack`, which is used for nothing else.
pub fn run(script: &Script, stack: &mut impl Stack, settings: &Settings) -> Report {
    let mut runner = Runner {
        stack,
        now: Time::ZERO,
        ended: Time::ZERO,
        inbound_at: None,
        outbox: VecDeque::new(),
        mapping: Mapping::new(),
        tolerance: Tolerance::of(script, settings.tolerance),
        descriptors: BTreeMap::new(),
        listeners: Vec::new(),
        pending: None,
        names: constants::all().map(|(name, n)| (name.to_owned(), n)).collect(),
        link_up: true,
        strict_segments: false,
        tick: None,
        trace: settings.trace.then(Vec::new),
    };
    let verdict = match runner.script(script, settings) {
        Ok(()) => Verdict::Passed,
        Err(Stop::Failed(failure)) => Verdict::Failed(failure),
        Err(Stop::NotApplicable(reason)) => Verdict::NotApplicable(reason),
    };
    Report { script: script.name.clone(), verdict, trace: runner.trace.unwrap_or_default() }
}

/// Why a run ends before the script does.
enum Stop {
    Failed(Box<Failure>),
    NotApplicable(String),
}

type Run<T = ()> = Result<T, Stop>;

struct Sent {
    time: Time,
    packet: Packet,
}

/// A blocking call under way.
struct PendingCall {
    event: Event,
    call: Call,
    /// When it may return.
    window: Option<Window>,
    returned: Option<(Time, Returned)>,
}

struct Runner<'a, S: Stack> {
    stack: &'a mut S,
    now: Time,
    /// When the last event ended: relative times count from here.
    ended: Time,
    /// When the last event was due, if it was a packet that came.
    inbound_at: Option<Time>,
    outbox: VecDeque<Sent>,
    mapping: Mapping,
    tolerance: Tolerance,
    /// Descriptors of the script and of the stack.
    descriptors: BTreeMap<i64, i64>,
    /// Descriptors of the script that listen.
    listeners: Vec<i64>,
    pending: Option<PendingCall>,
    names: Names,
    link_up: bool,
    strict_segments: bool,
    /// Length of a tick of the stack's timestamp clock, where it is checked.
    tick: Option<Span>,
    trace: Option<Vec<Traced>>,
}

impl<S: Stack> Runner<'_, S> {
    fn script(&mut self, script: &Script, settings: &Settings) -> Run {
        for (name, value) in &settings.configure {
            self.configure(name, value)?;
        }
        for option in &script.options {
            let micros = option.value.as_deref().and_then(|value| value.parse().ok());
            match option.name.as_str() {
                "strict_segments" => self.strict_segments = true,
                "tcp_ts_ecr_scaled" => self.mapping.scaled = true,
                "tcp_ts_tick_usecs" => self.tick = micros.map(Span::from_micros),
                "ip_version" if option.value.as_deref() != Some("ipv4") => {
                    return Err(Stop::NotApplicable("addresses of IPv6".into()));
                }
                "udp_encapsulation" => {
                    return Err(Stop::NotApplicable("encapsulation in UDP".into()));
                }
                "mtu" => {
                    let value = option.value.clone().unwrap_or_default();
                    self.configure("route.mtu", &value)?;
                }
                _ => {}
            }
        }
        if let Some(init) = &script.init {
            self.shell(&init.text)?;
        }
        for event in &script.events {
            let inbound_at = self.event(event)?;
            self.inbound_at = inbound_at;
            self.ended = self.now;
        }
        self.finish_pending()
    }

    /// Runs an event; returns when it was due, if it was a packet that came.
    fn event(&mut self, event: &Event) -> Run<Option<Time>> {
        let comes = matches!(&event.action, Action::Packet(packet) if packet.inbound);
        let base = self.inbound_at.filter(|_| comes).unwrap_or(self.ended);
        let window = self.tolerance.window(event.time, base, self.ended);
        match &event.action {
            Action::Packet(packet) if !packet.inbound => {
                self.expect(event, packet, &window)?;
                return Ok(None);
            }
            Action::Packet(packet) => {
                self.begin(event, &window)?;
                self.inject(event, packet)?;
                return Ok(Some(window.start));
            }
            Action::Call(call) => {
                self.begin(event, &window)?;
                self.finish_pending()?;
                let end = event.end.map(|end| self.tolerance.end(event.time, base, end, self.now));
                self.call(event, call, end)?;
            }
            Action::Shell(shell) => {
                self.begin(event, &window)?;
                self.shell(&shell.text)?;
            }
            Action::Code(statements) => {
                self.begin(event, &window)?;
                self.stack.info(self.now, self.mapping.flow(), &mut self.names);
                if let Err(error) = code::run(statements, &mut self.names) {
                    return self.fail(event, error.to_string(), "", "");
                }
            }
        }
        Ok(None)
    }

    fn fail<T>(
        &self,
        event: &Event,
        what: impl Into<String>,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) -> Run<T> {
        Err(Stop::Failed(Box::new(Failure {
            pos: event.pos,
            time: self.now,
            what: what.into(),
            expected: expected.into(),
            actual: actual.into(),
        })))
    }

    /// The event's time has come.
    fn begin(&mut self, event: &Event, window: &Window) -> Run {
        self.advance(window.start);
        if self.now > window.latest() {
            let due = seconds(window.start);
            return self.fail(event, "the time of the event has passed", due, seconds(self.now));
        }
        Ok(())
    }

    /// Lets time pass.
    fn advance(&mut self, to: Time) {
        self.settle();
        while self.stack.poll_timeout() <= to {
            self.expire();
        }
        self.now = self.now.max(to);
    }

    /// The stack's next deadline passes.
    fn expire(&mut self) {
        // A deadline that stays after it has passed must not stop the clock.
        let due = self.stack.poll_timeout().max(self.now);
        self.now = due;
        self.stack.handle_timeout(due);
        self.settle();
        if self.stack.poll_timeout() <= due {
            self.now = due.saturating_add(Span::from_micros(1));
        }
    }

    /// Takes what the stack sends, and what calls return.
    fn settle(&mut self) {
        for _ in 0..MOST_AT_ONCE {
            // The user first, so that what is read and written is in the
            // packets that follow.
            let waits = self.pending.as_ref().is_some_and(|it| it.returned.is_none());
            let returned = match waits {
                true => self.stack.retry(self.now),
                false => Outcome::Pending,
            };
            let moved = match (returned, &mut self.pending) {
                (Outcome::Done(returned), Some(pending)) => {
                    pending.returned = Some((self.now, returned));
                    true
                }
                _ => false,
            };
            let packet = self.stack.poll_transmit(self.now);
            let sent = packet.is_some();
            if let Some(packet) = packet.filter(|_| self.link_up) {
                self.note(false, &packet);
                self.outbox.push_back(Sent { time: self.now, packet });
            }
            if !sent && !moved {
                return;
            }
        }
    }

    fn note(&mut self, inbound: bool, packet: &Packet) {
        if let Some(trace) = &mut self.trace {
            trace.push(Traced { time: self.now, inbound, packet: packet.clone() });
        }
    }

    fn configure(&mut self, name: &str, value: &str) -> Run {
        if name == "link" {
            self.link_up = value == "up";
            return Ok(());
        }
        match self.stack.configure(name, value) {
            Configured::Done => Ok(()),
            Configured::NotApplicable(reason) => Err(Stop::NotApplicable(reason)),
            Configured::Unknown => {
                Err(Stop::NotApplicable(format!("the setting {name} = {value}")))
            }
        }
    }

    fn shell(&mut self, text: &str) -> Run {
        let settings = shell::settings(text)
            .map_err(|command| Stop::NotApplicable(format!("the command `{command}`")))?;
        for (name, value) in settings {
            self.configure(&name, &value)?;
        }
        self.settle();
        Ok(())
    }

    fn inject(&mut self, event: &Event, spec: &PacketSpec) -> Run {
        self.refuse_unsupported(spec)?;
        if let PacketBody::Tcp(tcp) = &spec.body {
            self.learn_cookies(tcp);
            self.mapping.on_inbound(tcp, spec.ports, !self.listeners.is_empty());
        }
        let packet = match packets::inbound(spec, &self.mapping) {
            Ok(packet) => packet,
            Err(reason) => return self.fail(event, reason, "", ""),
        };
        self.note(true, &packet);
        self.stack.handle_input(self.now, &packet);
        self.settle();
        Ok(())
    }

    /// Cookies that the script names before the stack has given one.
    fn learn_cookies(&mut self, spec: &TcpSpec) {
        let OptionsSpec::List(list) = &spec.options else { return };
        for option in list {
            if let Some(word) = mapping::cookie_word(option)
                && !self.mapping.cookies.contains_key(word)
                && let Some(cookie) = self.stack.fast_open_cookie(self.now)
            {
                self.mapping.cookies.insert(word.to_owned(), cookie);
            }
        }
    }

    /// What no stack here can be drilled with yet.
    fn refuse_unsupported(&self, spec: &PacketSpec) -> Run {
        let reason = match &spec.body {
            PacketBody::Sctp(_) => "packets of SCTP",
            PacketBody::Udp(_) => "datagrams of UDP",
            PacketBody::Tcp(tcp) => match &tcp.options {
                OptionsSpec::List(list)
                    if list.iter().any(|it| matches!(it, TcpOptionSpec::Mptcp(_))) =>
                {
                    "options of MPTCP"
                }
                _ if !spec.outer.is_empty() => "packets within packets",
                _ => return Ok(()),
            },
            PacketBody::Icmp(_) => return Ok(()),
        };
        Err(Stop::NotApplicable(reason.into()))
    }

    /// The next packet of the connection under test is as written.
    fn expect(&mut self, event: &Event, spec: &PacketSpec, window: &Window) -> Run {
        self.refuse_unsupported(spec)?;
        let Some(first) = self.await_packet(window) else {
            return self.fail(event, "no packet left", window.to_string(), "");
        };
        let time = first.time;
        let mut merged = Merged::new(first.packet);
        let wanted = match &spec.body {
            PacketBody::Tcp(tcp) => tcp.sequence.len,
            _ => 0,
        };
        while !self.strict_segments && merged.packet.payload_len() < wanted {
            let Some(next) = self.peek_packet(window) else { break };
            if !merged.add(&next) {
                break;
            }
            self.outbox.pop_front();
        }
        if let (PacketBody::Tcp(tcp), Body::Tcp(segment)) = (&spec.body, &merged.packet.body) {
            self.mapping.learn(tcp, segment);
        }
        let actual = packets::show(&merged.packet, &self.mapping, false);
        let expected = event.text.clone();
        match packets::compare(spec, &merged, &mut self.mapping) {
            Err(reason) => return self.fail(event, reason, expected, actual),
            Ok(Some(difference)) => return self.fail(event, difference, expected, actual),
            Ok(None) => {}
        }
        if !window.holds(time) {
            let what = format!("the packet left at {} s, due {window}", seconds(time));
            return self.fail(event, what, expected, actual);
        }
        self.remember_stamps(event, spec, &merged.packet)
    }

    /// Pairs the clock's values; with `--tcp_ts_tick_usecs` it must run as the
    /// script says.
    fn remember_stamps(&mut self, event: &Event, spec: &PacketSpec, packet: &Packet) -> Run {
        let (PacketBody::Tcp(tcp), Body::Tcp(segment)) = (&spec.body, &packet.body) else {
            return Ok(());
        };
        let (OptionsSpec::List(list), Some(live)) = (&tcp.options, segment.options.timestamps)
        else {
            return Ok(());
        };
        for option in list {
            let TcpOptionSpec::Timestamps { value: Some(script), .. } = option else { continue };
            if let (Some(tick), Some((script_0, live_0))) = (self.tick, self.mapping.first_stamp())
            {
                let expected = tick.saturating_mul(script.wrapping_sub(script_0) as u64);
                let actual = Span::from_millis(live.value.wrapping_sub(live_0) as u64);
                if expected.abs_diff(actual) > self.tolerance.least {
                    let what = "the timestamp clock differs";
                    return self.fail(event, what, format!("{expected:?}"), format!("{actual:?}"));
                }
            }
            self.mapping.remember_stamp(*script, live.value);
        }
        Ok(())
    }

    /// Waits for a packet of the connection under test.
    fn await_packet(&mut self, window: &Window) -> Option<Sent> {
        self.settle();
        let limit = match window.any {
            true => self.now.saturating_add(LONGEST),
            false => window.latest().saturating_add(PATIENCE).max(self.now),
        };
        loop {
            // A connect makes its connection the one under test: what others
            // sent before goes unnoticed.
            let opens = |sent: &Sent| self.mapping.is_opened_by(&sent.packet);
            if let Some(at) = self.outbox.iter().position(opens) {
                self.outbox.drain(..at);
            }
            while let Some(sent) = self.outbox.pop_front() {
                let Body::Tcp(segment) = &sent.packet.body else { return Some(sent) };
                if self.mapping.is_under_test(segment) {
                    return Some(sent);
                }
            }
            if self.stack.poll_timeout() > limit {
                self.now = self.now.max(limit);
                return None;
            }
            self.expire();
        }
    }

    /// A packet that follows within the time allowed, left where it is.
    fn peek_packet(&mut self, window: &Window) -> Option<Packet> {
        while self.outbox.is_empty() && self.stack.poll_timeout() <= window.latest() {
            self.expire();
        }
        self.outbox.front().filter(|it| it.time <= window.latest()).map(|it| it.packet.clone())
    }

    fn call(&mut self, event: &Event, call: &Call, window: Option<Window>) -> Run {
        let live = self.with_live_descriptors(call);
        let outcome = self.stack.call(self.now, &live);
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
    fn finish_pending(&mut self) -> Run {
        self.settle();
        let limit = self.now.saturating_add(LONGEST);
        while let Some(pending) = self.pending.take() {
            if pending.returned.is_some() {
                return self.verify(pending);
            }
            if self.stack.poll_timeout() > limit {
                let event = pending.event;
                return self.fail(&event, "the call does not return", "", "");
            }
            self.pending = Some(pending);
            self.expire();
        }
        Ok(())
    }

    /// A call returned what the script says, when it says so.
    fn verify(&mut self, pending: PendingCall) -> Run {
        let PendingCall { event, call, window, returned } = pending;
        let Some((time, returned)) = returned else { return Ok(()) };
        let gives_descriptor = matches!(call.name.as_str(), "socket" | "accept" | "accept4")
            || call.name.starts_with("epoll_create");
        let expected = constants::number(&call.result);
        if gives_descriptor
            && returned.value >= 0
            && let Some(symbolic) = expected
            && symbolic >= 0
        {
            self.descriptors.insert(symbolic, returned.value);
        } else {
            let same = expected.is_none_or(|expected| expected == returned.value);
            let symbol = call.errno.as_deref();
            let same_error = symbol.is_none_or(|symbol| returned.errno == Some(symbol));
            if !same || !same_error {
                let actual = format!("{} {}", returned.value, returned.errno.unwrap_or(""));
                let wanted = format!("{} {}", call.result, symbol.unwrap_or(""));
                let what = format!("{}() returned another value", call.name);
                return self.fail(&event, what, wanted.trim(), actual.trim());
            }
        }
        for (at, actual) in &returned.outputs {
            let Some(expected) = call.arguments.get(*at) else { continue };
            if !constants::matches(expected, actual) {
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

    /// Which sockets listen.
    fn note_call(&mut self, call: &Call, value: i64) {
        let fd = call.arguments.first().and_then(Value::number);
        match (call.name.as_str(), fd) {
            ("listen", Some(fd)) if value == 0 => self.listeners.push(fd),
            ("close", Some(fd)) => {
                self.listeners.retain(|it| *it != fd);
                self.descriptors.remove(&fd);
            }
            _ => {}
        }
    }

    /// The call with the stack's descriptors in the place of the script's.
    fn with_live_descriptors(&self, call: &Call) -> Call {
        let mut call = call.clone();
        let live = |value: &mut Value| {
            if let Value::Number(fd) = value {
                *fd = self.descriptors.get(fd).copied().unwrap_or(*fd);
            }
        };
        let at: &[usize] = match call.name.as_str() {
            "socket" | "poll" | "open" | "pipe" => &[],
            "epoll_create" | "epoll_create1" => &[],
            "epoll_ctl" => &[0, 2],
            _ => &[0],
        };
        for at in at {
            call.arguments.get_mut(*at).into_iter().for_each(live);
        }
        if call.name == "poll"
            && let Some(Value::List(entries)) = call.arguments.first_mut()
        {
            for Field { value, .. } in entries {
                let Value::Struct(fields) = value else { continue };
                let fds = fields.iter_mut().filter(|it| it.name.as_deref() == Some("fd"));
                fds.for_each(|it| live(&mut it.value));
            }
        }
        call
    }
}
