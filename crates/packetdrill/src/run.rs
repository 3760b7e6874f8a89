//! Runs a script against a stack, in virtual time or in the stack's own.

mod calls;
mod clock;
mod dialect;
mod exchange;
mod icmp;
mod ip;
mod network;
mod sctp;
mod tcp;
mod timing;

use crate::code::{self, Names};
use crate::constants;
use crate::report::{Failure, Report, Traced, Verdict, seconds};
use crate::script::{Action, Event, Script, ToolOption};
use crate::shell;
use crate::stack::{Configured, Network, Stack};
use anabranch_units::{Span, Time};
use anabranch_wire::Packet;
use calls::PendingCall;
use dialect::{Dialect, Trouble};
use sctp::SctpDialect;
use std::collections::{BTreeMap, VecDeque};
use tcp::TcpDialect;
use timing::{Tolerance, Window};

/// Settings with which scripts are run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Addresses and version of IP where the script says nothing else.
    pub network: Network,
    /// Settings of the stack before the script's own, by name.
    pub configure: Vec<(String, String)>,
    /// The deviation of times that is allowed, in place of the script's.
    pub tolerance: Option<Span>,
    /// Keep the packets in the report.
    pub trace: bool,
}

/// The protocols that scripts can be run with.
fn dialects() -> Vec<Box<dyn Dialect>> {
    vec![Box::new(TcpDialect::new()), Box::new(SctpDialect::new())]
}

/// Runs `script` against `stack`, which is used for nothing else.
pub fn run(script: &Script, stack: &mut dyn Stack, settings: &Settings) -> Report {
    let mut runner = Runner {
        stack,
        now: Time::ZERO,
        ended: Time::ZERO,
        inbound_at: None,
        outbox: VecDeque::new(),
        dialects: dialects(),
        current: 0,
        tolerance: Tolerance::of(script, settings.tolerance),
        descriptors: BTreeMap::new(),
        awaits_connection: false,
        pending: None,
        names: constants::all().map(|(name, n)| (name.to_owned(), n)).collect(),
        calls_may_fail: false,
        link_up: true,
        trace: settings.trace.then(Vec::new),
    };
    let verdict = match runner.script(script, settings) {
        Ok(()) => Verdict::Passed,
        Err(Stop::Failed(failure)) => Verdict::Failed(failure),
        Err(Stop::NotApplicable(reason)) => Verdict::NotApplicable(reason),
    };
    let (trace, addresses) = (runner.trace.unwrap_or_default(), runner.stack.addresses());
    Report { script: script.name.clone(), verdict, trace, addresses }
}

/// Why a run ends before the script does.
enum Stop {
    Failed(Box<Failure>),
    NotApplicable(String),
}

type Run<T = ()> = Result<T, Stop>;

struct Sent {
    time: Time,
    /// The packet without the datagram that it left in, if it did.
    packet: Packet,
    /// Ports of UDP, source and destination, of that.
    udp: Option<(u16, u16)>,
}

struct Runner<'a> {
    stack: &'a mut dyn Stack,
    now: Time,
    /// Time at which the last event ended: relative times count from here.
    ended: Time,
    /// Time at which the last event was due, if it was a packet that came.
    inbound_at: Option<Time>,
    outbox: VecDeque<Sent>,
    dialects: Vec<Box<dyn Dialect>>,
    /// The dialect of the packet before.
    current: usize,
    tolerance: Tolerance,
    /// Descriptors of the script and of the stack.
    descriptors: BTreeMap<i64, i64>,
    /// A socket was set to listen since a packet of the script opened a connection.
    awaits_connection: bool,
    pending: Option<PendingCall>,
    names: Names,
    /// A call that returns something else does not fail the script (`--non_fatal=syscall`).
    calls_may_fail: bool,
    link_up: bool,
    trace: Option<Vec<Traced>>,
}

impl Runner<'_> {
    fn script(&mut self, script: &Script, settings: &Settings) -> Run {
        let network = network::of(script, settings.network).map_err(Stop::NotApplicable)?;
        let made = self.stack.set_up(&network);
        self.configured(made, || "this network".into())?;
        for (name, value) in &settings.configure {
            self.configure(name, value)?;
        }
        for option in &script.options {
            self.option(option)?;
        }
        self.learn_addresses();
        if let Some(init) = &script.init {
            self.shell(&init.text)?;
        }
        self.stack.begin();
        for event in &script.events {
            let inbound_at = self.event(event)?;
            self.inbound_at = inbound_at;
            self.ended = self.now;
        }
        self.finish_pending()
    }

    fn option(&mut self, option: &ToolOption) -> Run {
        if option.name == "non_fatal" {
            let kinds = option.value.as_deref().unwrap_or_default();
            self.calls_may_fail |= kinds.split(',').any(|kind| kind == "syscall");
        }
        for dialect in &mut self.dialects {
            match dialect.option(option) {
                Ok(()) => {}
                Err(Trouble::Failed(reason) | Trouble::NotApplicable(reason)) => {
                    return Err(Stop::NotApplicable(reason));
                }
            }
        }
        Ok(())
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
                self.check_counters(event, &shell.text)?;
            }
            Action::Code(statements) => {
                self.begin(event, &window)?;
                let flow = self.dialects[self.current].flow();
                self.stack.info(self.now, flow, &mut self.names);
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

    fn configure(&mut self, name: &str, value: &str) -> Run {
        if name == "link" {
            // The stack may know it too.
            self.link_up = value == "up";
            _ = self.stack.configure(name, value);
            return Ok(());
        }
        let configured = self.stack.configure(name, value);
        self.configured(configured, || format!("the setting {name} = {value}"))
    }

    fn configured(&self, configured: Configured, what: impl FnOnce() -> String) -> Run {
        match configured {
            Configured::Done => Ok(()),
            Configured::NotApplicable(reason) => Err(Stop::NotApplicable(reason)),
            Configured::Unknown => Err(Stop::NotApplicable(what())),
        }
    }

    /// The stack's addresses are those of the script's packets.
    fn learn_addresses(&mut self) {
        let book = self.stack.addresses();
        self.dialects.iter_mut().for_each(|dialect| dialect.learn_addresses(&book));
    }

    fn shell(&mut self, text: &str) -> Run {
        let settings = shell::settings(text)
            .map_err(|command| Stop::NotApplicable(format!("the command `{command}`")))?;
        for (name, value) in settings {
            if !name.starts_with(shell::COUNTER) {
                self.configure(&name, &value)?;
            }
        }
        self.learn_addresses();
        self.settle();
        Ok(())
    }

    /// Counters that a command compares are what it says, where the stack keeps
    /// them.
    fn check_counters(&mut self, event: &Event, text: &str) -> Run {
        for (name, value) in shell::settings(text).unwrap_or_default() {
            let Some(name) = name.strip_prefix(shell::COUNTER) else { continue };
            let counted = self.stack.counter(name).map(|n| n.to_string());
            if let Some(counted) = counted.filter(|counted| *counted != value) {
                return self.fail(event, format!("the counter {name} differs"), value, counted);
            }
        }
        Ok(())
    }
}
