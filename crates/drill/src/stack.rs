//! The kernel as a [`Stack`].

use crate::calls::{self, Context, Prepared};
use crate::counters;
use crate::errno;
use crate::host::Host;
use crate::info;
use crate::network::Addresses;
use crate::settings;
use crate::worker::Answer;
use anabranch_live::kernel::{call, make_precise};
use anabranch_live::{Clock, LiveError};
use anabranch_packetdrill::code::Names;
use anabranch_packetdrill::script::{Call, Field, Value};
use anabranch_packetdrill::stack::{
    Configured, LOCAL, Network, Outcome, PORT, REMOTE, Returned, Stack,
};
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::{
    AddressBook, Body, FastOpenCookie, FastOpenOption, FlowKey, Packet, Payload, TcpFlags,
    TcpOptions, TcpSegment,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// Time before a date for which the waiting thread stays awake.
const AWAKE: Span = Span::from_micros(60);
/// A call that returns within this is not said to wait.
const AT_ONCE: Span = Span::from_micros(300);
/// Time in which a call that still waits at the end must notice that its sockets are gone.
const FAREWELL: Span = Span::from_millis(100);
/// Time in which the kernel must answer a SYN.
const ANSWER: Span = Span::from_millis(20);
/// Descriptors are numbered from here, so that none of the process's is meant.
const FIRST_DESCRIPTOR: i64 = 1 << 20;
/// Octets of a buffer that is larger than any packet.
const LARGEST: usize = 1 << 16;

/// The kernel in a namespace of its own, for one script.
#[derive(Debug, Default)]
pub struct KernelStack {
    run: Option<Run>,
}

/// What there is once the network is known.
#[derive(Debug)]
struct Run {
    addresses: Addresses,
    host: Host,
    clock: Clock,
    descriptors: BTreeMap<i64, Arc<OwnedFd>>,
    next_descriptor: i64,
    arrived: VecDeque<Packet>,
    /// Why the last packet did not reach the kernel.
    refusal: Option<String>,
    buffer: Vec<u8>,
}

impl KernelStack {
    /// One without a network: [`Stack::set_up`] makes it.
    pub fn new() -> KernelStack {
        KernelStack::default()
    }

    /// Whether this machine lets us have such namespaces: makes one and takes it
    /// down.
    ///
    /// # Errors
    /// What is missing, and what would help.
    pub fn probe() -> Result<(), LiveError> {
        let addresses = Addresses::new(&Network::default()).expect("the usual addresses");
        Host::new(&addresses, None).map(drop)
    }

    fn run(&mut self) -> &mut Run {
        self.run.as_mut().expect("`set_up` comes first")
    }
}

impl Run {
    fn new(network: &Network) -> Result<Run, String> {
        let addresses = Addresses::new(network)?;
        let host = Host::new(&addresses, network.mtu).map_err(|error| error.to_string())?;
        make_precise();
        Ok(Run {
            addresses,
            host,
            clock: Clock::start(),
            descriptors: BTreeMap::new(),
            next_descriptor: FIRST_DESCRIPTOR,
            arrived: VecDeque::new(),
            refusal: None,
            buffer: vec![0; LARGEST],
        })
    }

    /// Takes what the kernel has sent by now; what is no packet between the
    /// addresses of the run goes unnoticed.
    fn receive(&mut self) {
        while let Ok(len) = rustix::io::read(&self.host.tun, &mut self.buffer[..]) {
            if let Ok(packet) = Packet::parse(&self.buffer[..len], &self.addresses.book) {
                self.arrived.push_back(packet);
            }
        }
    }

    /// Sleeps until a packet has come or a call has returned, at most until
    /// `limit`; true if something has. Shortly before `limit` it stays awake.
    fn wait(&mut self, limit: Time) -> bool {
        loop {
            let left = limit.saturating_since(self.clock.now());
            let sleep = left.saturating_sub(AWAKE);
            let timeout = Timespec {
                tv_sec: (sleep.as_nanos() / 1_000_000_000) as i64,
                tv_nsec: (sleep.as_nanos() % 1_000_000_000) as i64,
            };
            let mut fds = [
                PollFd::new(&self.host.tun, PollFlags::IN),
                PollFd::new(self.host.worker.bell(), PollFlags::IN),
            ];
            let ready = poll(&mut fds, Some(&timeout)).is_ok_and(|n| n > 0);
            let called = !fds[1].revents().is_empty();
            if ready {
                self.receive();
            }
            if called || !self.arrived.is_empty() {
                return true;
            }
            if left == Span::ZERO {
                return false;
            }
        }
    }

    /// Waits for the call's answer, at most until `limit`.
    fn wait_for_answer(&mut self, limit: Time) -> Outcome {
        loop {
            if let Some(answer) = self.host.worker.take_answer() {
                self.host.waits = false;
                return Outcome::Done(self.returned(answer));
            }
            let left = limit.saturating_since(self.clock.now());
            if left == Span::ZERO {
                return Outcome::Pending;
            }
            let timeout = Timespec { tv_sec: 0, tv_nsec: left.as_nanos() as i64 };
            _ = poll(&mut [PollFd::new(self.host.worker.bell(), PollFlags::IN)], Some(&timeout));
        }
    }

    /// What the script is told of an answer.
    fn returned(&mut self, answer: Answer) -> Returned {
        let Answer { result, mut outputs, made } = answer;
        let made: Vec<i64> = made.into_iter().map(|fd| self.enter(fd)).collect();
        let value = match result {
            Ok(value) => value,
            Err(errno) => return Returned { outputs, ..Returned::error(errno::name(errno)) },
        };
        match made[..] {
            [] => Returned { outputs, ..Returned::value(value) },
            [one] => Returned { outputs, ..Returned::value(one) },
            _ => {
                let field = |fd| Field { name: None, count: None, value: Value::Number(fd) };
                outputs.push((0, Value::List(made.into_iter().map(field).collect())));
                Returned { outputs, ..Returned::value(value) }
            }
        }
    }

    fn enter(&mut self, fd: OwnedFd) -> i64 {
        let number = self.next_descriptor;
        self.next_descriptor += 1;
        self.descriptors.insert(number, Arc::new(fd));
        number
    }

    /// The socket that sends with the key `flow`: the one that is connected so, or
    /// else the last that has its port.
    fn socket_of(&self, flow: FlowKey) -> Option<&OwnedFd> {
        let fds = || self.descriptors.values().rev().map(|fd| &**fd);
        let here = |fd: &&OwnedFd| info::local_port(fd) == Some(flow.src_port);
        let there = |fd: &&OwnedFd| info::remote_port(fd) == Some(flow.dst_port);
        fds().filter(here).find(there).or_else(|| fds().find(here))
    }

    /// Puts a packet into the kernel.
    fn inject(&mut self, packet: &Packet) {
        let mut octets = Vec::new();
        let emitted = packet.emit(&self.addresses.book, &mut octets);
        let emitted = emitted.map_err(|error| error.to_string());
        let written = emitted.and_then(|()| {
            let written = rustix::io::write(&self.host.tun, &octets);
            written.map_err(|errno| std::io::Error::from(errno).to_string())
        });
        if let Err(reason) = written {
            self.refusal = Some(format!("the kernel does not take the packet: {reason}"));
        }
    }
}

impl Drop for Run {
    /// A call that still waits returns when its sockets are shut down.
    fn drop(&mut self) {
        if self.host.waits {
            for fd in self.descriptors.values() {
                _ = call::shutdown(fd.as_fd(), 2);
            }
            let limit = self.clock.now().saturating_add(FAREWELL);
            self.wait_for_answer(limit);
        }
    }
}

impl Stack for KernelStack {
    fn set_up(&mut self, network: &Network) -> Configured {
        match Run::new(network) {
            Ok(run) => {
                self.run = Some(run);
                Configured::Done
            }
            Err(reason) => Configured::NotApplicable(reason),
        }
    }

    fn begin(&mut self) {
        self.run().clock = Clock::start();
    }

    fn clock(&self) -> Option<Time> {
        self.run.as_ref().map(|run| run.clock.now())
    }

    fn wait(&mut self, _now: Time, limit: Time) -> Option<Time> {
        let run = self.run();
        run.wait(limit).then(|| run.clock.now())
    }

    fn addresses(&self) -> AddressBook {
        self.run.as_ref().map_or_else(AddressBook::explicit, |run| run.addresses.book.clone())
    }

    fn configure(&mut self, name: &str, value: &str) -> Configured {
        let run = self.run();
        settings::configure(&mut run.host, &mut run.addresses, name, value)
    }

    fn call(&mut self, _now: Time, call: &Call) -> Outcome {
        let run = self.run();
        let context =
            Context { descriptors: &mut run.descriptors, addresses: &run.addresses, port: PORT };
        match calls::prepare(call, context) {
            Prepared::Job(job) => {
                run.host.worker.begin(job);
                run.host.waits = true;
                let limit = run.clock.now().saturating_add(AT_ONCE);
                run.wait_for_answer(limit)
            }
            Prepared::Fails(errno) => Outcome::Done(Returned::error(errno::name(errno))),
            Prepared::NotApplicable(reason) => Outcome::NotApplicable(reason),
        }
    }

    fn retry(&mut self, _now: Time) -> Outcome {
        let run = self.run();
        match run.host.waits {
            true => run.wait_for_answer(Time::ZERO),
            false => Outcome::Pending,
        }
    }

    fn handle_input(&mut self, _now: Time, packet: &Packet) {
        self.run().inject(packet);
    }

    fn refusal(&mut self) -> Option<String> {
        self.run().refusal.take()
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        let run = self.run.as_mut()?;
        if run.arrived.is_empty() {
            run.receive();
        }
        run.arrived.pop_front()
    }

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    /// Asks for it as a client would: a SYN from a port that no script uses.
    fn fast_open_cookie(&mut self, _now: Time) -> Option<Vec<u8>> {
        let segment = |flags, seq| TcpSegment {
            src_port: 1,
            dst_port: PORT,
            seq: Serial32(seq),
            ack: Serial32(0),
            flags,
            window: 0,
            urgent: 0,
            options: TcpOptions::default(),
            payload: Payload::EMPTY,
        };
        let packet = |segment| Packet::new(REMOTE, LOCAL, Body::Tcp(segment));
        let mut syn = segment(TcpFlags::SYN, 0);
        let (cookie, experimental) = (FastOpenCookie::REQUEST, false);
        syn.options.rare_mut().fast_open = Some(FastOpenOption { cookie, experimental });
        let run = self.run();
        run.receive();
        run.inject(&packet(syn));
        let limit = run.clock.now().saturating_add(ANSWER);
        let answers = |packet: &Packet| packet.flow_key().dst_port == 1;
        while !run.arrived.iter().any(answers) {
            if !run.wait(limit) || run.clock.now() > limit {
                break;
            }
        }
        let at = run.arrived.iter().position(answers)?;
        let answer = run.arrived.remove(at)?;
        run.inject(&packet(segment(TcpFlags::RST, 1)));
        let Body::Tcp(answer) = answer.body else { return None };
        Some(answer.options.fast_open()?.cookie.octets().to_vec())
    }

    fn counter(&self, name: &str) -> Option<u64> {
        let run = self.run.as_ref()?;
        let name = name.to_owned();
        run.host.inside(move || counters::read(&name)).ok().flatten()
    }

    fn info(&self, _now: Time, flow: FlowKey, names: &mut Names) {
        if let Some(fd) = self.run.as_ref().and_then(|run| run.socket_of(flow)) {
            info::report(fd, names);
        }
    }
}

/// The error of a descriptor that is none.
pub(crate) const NO_DESCRIPTOR: Errno = Errno::BADF;
