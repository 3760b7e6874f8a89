//! usrsctp as a [`Stack`]: FreeBSD's SCTP as a library, an implementation that is independent of ours.
//!
//! A script gets a process of its own, in which a small program in C (`usrsctp/stack.c`) holds the library
//! and does what it is asked through a pipe. Packets go through the library's own interface for hosts
//! without IP (AF_CONN); the header of IP is put before them and taken off here. The library has no
//! threads there and reads no clock but the script's, so that a script of ten minutes takes as long as one
//! of ten milliseconds, and comes to the same on every machine.
//!
//! What is not there is said, and the script does not count as failed: ICMP and UDP, which AF_CONN does
//! not have; several addresses; options and notifications that `usrsctp.h` does not describe.

mod calls;
mod layout;
mod options;
mod program;
mod run;
mod settings;

use anabranch_packetdrill::code::Names;
use anabranch_packetdrill::script::Call;
use anabranch_packetdrill::stack::{Configured, Network, Outcome, Returned, Stack};
use anabranch_units::Time;
use anabranch_wire::{AddressBook, FlowKey, Packet};
use calls::Came;
use program::{Ask, Request};
use run::Run;

/// usrsctp, for one script.
#[derive(Debug, Default)]
pub struct UsrsctpStack {
    run: Option<Run>,
}

impl UsrsctpStack {
    /// One without a network: [`Stack::set_up`] makes it.
    pub fn new() -> UsrsctpStack {
        UsrsctpStack::default()
    }

    /// Whether this machine has the library and what compiles a program for it: starts one.
    ///
    /// # Errors
    /// What is missing, and what would help.
    pub fn probe() -> Result<(), String> {
        Run::new(&Network::default()).map(drop)
    }

    fn run(&mut self) -> &mut Run {
        self.run.as_mut().expect("`set_up` comes first")
    }

    fn attempt(&mut self, now: Time, call: &Call, again: bool) -> Outcome {
        let run = self.run();
        match calls::attempt(run, now, call, again) {
            Ok(Came::Returns(returned)) => Outcome::Done(returned),
            Ok(Came::NotApplicable(reason)) => Outcome::NotApplicable(reason),
            Ok(Came::Blocks) => {
                run.pending = Some(call.clone());
                Outcome::Pending
            }
            // `refusal` says more.
            Err(_) => Outcome::Done(Returned::error("the end of usrsctp")),
        }
    }
}

impl Stack for UsrsctpStack {
    fn set_up(&mut self, network: &Network) -> Configured {
        match Run::new(network) {
            Ok(run) => {
                self.run = Some(run);
                Configured::Done
            }
            Err(reason) => Configured::NotApplicable(reason),
        }
    }

    fn wait(&mut self, now: Time, limit: Time) -> Option<Time> {
        let run = self.run();
        if run.has_sent() {
            return Some(now);
        }
        let reply = run.ask(limit, Request::of(Ask::Pass, run.watched())).ok()?;
        (reply.value == 1).then(|| reply.time.max(now))
    }

    fn addresses(&self) -> AddressBook {
        self.run.as_ref().map_or_else(AddressBook::explicit, |run| run.addresses.book.clone())
    }

    fn has_ip(&self) -> bool {
        false
    }

    fn configure(&mut self, name: &str, value: &str) -> Configured {
        settings::configure(self.run(), name, value)
    }

    fn call(&mut self, now: Time, call: &Call) -> Outcome {
        self.attempt(now, call, false)
    }

    fn retry(&mut self, now: Time) -> Outcome {
        match self.run().pending.take() {
            Some(call) => self.attempt(now, &call, true),
            None => Outcome::Pending,
        }
    }

    fn handle_input(&mut self, now: Time, packet: &Packet) {
        self.run().inject(now, packet);
    }

    fn refusal(&mut self) -> Option<String> {
        self.run().ended.take()
    }

    fn lack(&mut self) -> Option<String> {
        self.run().lack.take()
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        self.run.as_mut()?.take_sent()
    }

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    /// Scripts assert over TCP's state alone.
    fn info(&self, _now: Time, _flow: FlowKey, _names: &mut Names) {}
}
