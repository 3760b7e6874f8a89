//! Our SCTP as a [`Stack`]: the calls of a script over [`SctpSockets`].

mod attempt;
mod calls;
mod notifications;
mod options;
pub mod receiving;
pub mod sending;
mod settings;
pub mod values;

use crate::code::Names;
use crate::profile::Profile;
use crate::script::Call;
use crate::stack::{Configured, LOCAL, Outcome, Stack};
use anabranch_endpoint::Seed;
use anabranch_socket::sctp::SctpSockets;
use anabranch_units::Time;
use anabranch_wire::{FlowKey, Packet};
use attempt::Attempt;

/// A host with SCTP sockets.
#[derive(Debug)]
pub struct SctpStack {
    sockets: SctpSockets,
    /// The call that waits for the stack.
    pending: Option<Call>,
}

impl SctpStack {
    /// A host with the defaults of `profile`.
    pub fn new(profile: Profile) -> SctpStack {
        let seed = Seed { seed: 1, replication: 0 };
        let sockets = SctpSockets::new(settings::config(profile), &[LOCAL], seed);
        SctpStack { sockets, pending: None }
    }

    /// Returns the sockets of the host.
    pub fn sockets(&mut self) -> &mut SctpSockets {
        &mut self.sockets
    }

    fn conclude(&mut self, call: Call, attempt: Attempt) -> Outcome {
        match attempt {
            Attempt::Returns(returned) => Outcome::Done(returned),
            Attempt::NotApplicable(reason) => Outcome::NotApplicable(reason),
            Attempt::Blocks => {
                self.pending = Some(call);
                Outcome::Pending
            }
        }
    }
}

impl Stack for SctpStack {
    fn configure(&mut self, name: &str, value: &str) -> Configured {
        settings::configure(self.sockets.config(), name, value)
    }

    fn call(&mut self, now: Time, call: &Call) -> Outcome {
        let attempt = calls::attempt(&mut self.sockets, now, call, false);
        self.conclude(call.clone(), attempt)
    }

    fn retry(&mut self, now: Time) -> Outcome {
        let Some(call) = self.pending.take() else { return Outcome::Pending };
        let attempt = calls::attempt(&mut self.sockets, now, &call, true);
        self.conclude(call, attempt)
    }

    fn handle_input(&mut self, now: Time, packet: &Packet) {
        self.sockets.handle_input(now, packet);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.sockets.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.sockets.poll_transmit(now)
    }

    fn poll_timeout(&self) -> Time {
        self.sockets.poll_timeout()
    }

    /// Scripts assert over TCP's state alone.
    fn info(&self, _now: Time, _flow: FlowKey, _names: &mut Names) {}
}
