//! A host with all the transports that we have: one [`Stack`] made of one for
//! each protocol.
//!
//! A socket belongs to the transport that makes it, and calls go to the
//! transport of their descriptor; packets to that of their protocol. A setting
//! is offered to all.

use crate::code::Names;
use crate::descriptors;
use crate::profile::Profile;
use crate::script::Call;
use crate::sctp::SctpStack;
use crate::stack::{Configured, Outcome, Stack};
use crate::tcp::TcpStack;
use anabranch_units::Time;
use anabranch_wire::tcp::udp;
use anabranch_wire::{Body, FlowKey, Packet, TcpSegment};

/// The transports of a host: the number of the protocol, and the stack.
fn transports(profile: Profile) -> Vec<(u8, Box<dyn Stack>)> {
    vec![(6, Box::new(TcpStack::new(profile))), (132, Box::new(SctpStack::new(profile)))]
}

/// Descriptors of the transport numbered `n` count from `n` times this; each
/// transport has its own from 0.
const DESCRIPTORS: i64 = 1 << 20;

/// A host with all the transports that we have.
pub struct Host {
    transports: Vec<(u8, Box<dyn Stack>)>,
    /// The transport whose call waits, and whether that returns a descriptor.
    pending: (usize, bool),
}

impl Host {
    /// A host with the defaults of `profile`.
    pub fn new(profile: Profile) -> Host {
        Host { transports: transports(profile), pending: (0, false) }
    }

    fn of(&mut self, protocol: u8) -> Option<&mut (dyn Stack + '_)> {
        let found = self.transports.iter_mut().find(|(number, _)| *number == protocol);
        found.map(|(_, stack)| &mut **stack as &mut (dyn Stack + '_))
    }

    /// Makes a transport's descriptor one of the host's.
    fn conclude(&mut self, transport: usize, makes_descriptor: bool, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Done(mut returned) => {
                if makes_descriptor && returned.value >= 0 {
                    returned.value += transport as i64 * DESCRIPTORS;
                }
                Outcome::Done(returned)
            }
            Outcome::Pending => {
                self.pending = (transport, makes_descriptor);
                Outcome::Pending
            }
            refused => refused,
        }
    }
}

impl Stack for Host {
    fn configure(&mut self, name: &str, value: &str) -> Configured {
        let all = self.transports.iter_mut().map(|(_, stack)| stack.configure(name, value));
        let all: Vec<Configured> = all.collect();
        // Whoever knows it decides.
        let known = all.into_iter().filter(|outcome| *outcome != Configured::Unknown);
        known.max_by_key(|outcome| *outcome == Configured::Done).unwrap_or(Configured::Unknown)
    }

    fn call(&mut self, now: Time, call: &Call) -> Outcome {
        let mut call = call.clone();
        let mut owner = None;
        descriptors::for_each(&mut call, |fd| {
            if *fd >= 0 {
                owner.get_or_insert(*fd / DESCRIPTORS);
                *fd %= DESCRIPTORS;
            }
        });
        if let Some(transport) = owner.and_then(|owner| usize::try_from(owner).ok())
            && let Some((_, stack)) = self.transports.get_mut(transport)
        {
            let outcome = stack.call(now, &call);
            return self.conclude(transport, descriptors::is_made_by(&call.name), outcome);
        }
        // A call without a descriptor, such as `socket`, is for whoever takes it.
        let mut refused = Outcome::NotApplicable(format!("the call {}()", call.name));
        for transport in 0..self.transports.len() {
            refused = match self.transports[transport].1.call(now, &call) {
                Outcome::NotApplicable(reason) => Outcome::NotApplicable(reason),
                taken => {
                    return self.conclude(transport, descriptors::is_made_by(&call.name), taken);
                }
            };
        }
        refused
    }

    fn retry(&mut self, now: Time) -> Outcome {
        let (transport, makes_descriptor) = self.pending;
        let outcome = self.transports[transport].1.retry(now);
        self.conclude(transport, makes_descriptor, outcome)
    }

    fn handle_input(&mut self, now: Time, packet: &Packet) {
        let protocol = match &packet.body {
            Body::Icmp(icmp) => icmp.quote.flow_key().protocol,
            _ => packet.flow_key().protocol,
        };
        // SCTP in UDP is a packet of SCTP.
        let protocol = if protocol == udp::PROTOCOL { TcpSegment::PROTOCOL } else { protocol };
        if let Some(stack) = self.of(protocol) {
            stack.handle_input(now, packet);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.transports.iter_mut().for_each(|(_, stack)| stack.handle_timeout(now));
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.transports.iter_mut().find_map(|(_, stack)| stack.poll_transmit(now))
    }

    fn poll_timeout(&self) -> Time {
        let deadlines = self.transports.iter().map(|(_, stack)| stack.poll_timeout());
        deadlines.min().unwrap_or(Time::NEVER)
    }

    fn fast_open_cookie(&mut self, now: Time) -> Option<Vec<u8>> {
        self.transports.iter_mut().find_map(|(_, stack)| stack.fast_open_cookie(now))
    }

    fn counter(&self, name: &str) -> Option<u64> {
        self.transports.iter().find_map(|(_, stack)| stack.counter(name))
    }

    fn info(&self, now: Time, flow: FlowKey, names: &mut Names) {
        for (protocol, stack) in &self.transports {
            if *protocol == flow.protocol {
                stack.info(now, flow, names);
            }
        }
    }
}
