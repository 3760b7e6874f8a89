//! Our TCP as a [`Stack`]: the calls of a script over [`Sockets`].

mod calls;
mod endpoints;
mod epoll;
mod freebsd;
mod info;
mod options;
mod settings;

use crate::code::Names;
use crate::profile::Profile;
use crate::script::Call;
use crate::stack::{Configured, LOCAL, Outcome, PORT, REMOTE, Returned, Stack};
use anabranch_endpoint::Seed;
use anabranch_socket::Sockets;
use anabranch_units::{Serial32, Time};
use anabranch_wire::{
    Body, FastOpenCookie, FastOpenOption, FlowKey, Packet, Payload, TcpFlags, TcpOptions,
    TcpSegment,
};
use endpoints::Change;

/// A host with TCP sockets.
#[derive(Debug)]
pub struct TcpStack {
    profile: Profile,
    sockets: Sockets,
    /// The call that waits for the stack.
    pending: Option<Waiting>,
    /// Time at which the stack heard of something last.
    now: Time,
}

/// A socket call that waits.
#[derive(Debug)]
struct Waiting {
    call: Call,
    /// Octets that it has written so far.
    progress: u64,
    /// Time at which the call gives up.
    deadline: Time,
}

/// The outcome of trying a call.
enum Attempt {
    Returns(Returned),
    /// It would block, after having written so many octets.
    Blocks {
        progress: u64,
        deadline: Time,
    },
    NotApplicable(String),
}

impl TcpStack {
    /// A host with the defaults of `profile`.
    pub fn new(profile: Profile) -> TcpStack {
        let seed = Seed { seed: 1, replication: 0 };
        let mut sockets = Sockets::new(settings::config(profile), LOCAL, seed);
        settings::defaults(profile, sockets.settings());
        TcpStack { profile, sockets, pending: None, now: Time::ZERO }
    }

    /// Returns the sockets of the host.
    pub fn sockets(&mut self) -> &mut Sockets {
        &mut self.sockets
    }

    fn conclude(&mut self, call: Call, attempt: Attempt) -> Outcome {
        match attempt {
            Attempt::Returns(returned) => Outcome::Done(returned),
            Attempt::NotApplicable(reason) => Outcome::NotApplicable(reason),
            Attempt::Blocks { progress, deadline } => {
                self.pending = Some(Waiting { call, progress, deadline });
                Outcome::Pending
            }
        }
    }
}

impl Stack for TcpStack {
    fn configure(&mut self, name: &str, value: &str) -> Configured {
        if name == "mptcp"
            && let Some(change) = endpoints::change(value)
        {
            match change {
                Change::Remove(id) => self.sockets.remove_path_address(self.now, id),
                Change::Backup(id, backup) => self.sockets.set_path_backup(id, backup),
            }
            return Configured::Done;
        }
        if name == "mptcp" {
            return endpoints::configure(&mut self.sockets.settings().multipath, value);
        }
        if name == "link" {
            self.sockets.set_device_full(value == "down");
            return Configured::Done;
        }
        if name == "tcpdrop" {
            return match info::state_of(value) {
                Some(state) => {
                    self.sockets.drop_in(state);
                    Configured::Done
                }
                None => Configured::Unknown,
            };
        }
        if name == "net.inet.tcp.fastopen.client_enable" && value == "0" {
            self.sockets.forget_peers();
        }
        let configured = settings::configure(self.sockets.settings(), name, value);
        self.sockets.settings_changed();
        configured
    }

    fn call(&mut self, now: Time, call: &Call) -> Outcome {
        self.now = now;
        let attempt = calls::attempt(&mut self.sockets, now, call, None);
        self.conclude(call.clone(), attempt)
    }

    fn retry(&mut self, now: Time) -> Outcome {
        let Some(waiting) = self.pending.take() else { return Outcome::Pending };
        let attempt = calls::attempt(&mut self.sockets, now, &waiting.call, Some(&waiting));
        self.conclude(waiting.call, attempt)
    }

    fn handle_input(&mut self, now: Time, packet: &Packet) {
        self.now = now;
        self.sockets.handle_input(now, packet);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.sockets.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.now = now;
        self.sockets.poll_transmit(now)
    }

    fn poll_timeout(&self) -> Time {
        let deadline = self.pending.as_ref().map_or(Time::NEVER, |pending| pending.deadline);
        self.sockets.poll_timeout().min(deadline)
    }

    /// Asks for it as a client would: a SYN from a port that no script uses.
    fn fast_open_cookie(&mut self, now: Time) -> Option<Vec<u8>> {
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
        self.sockets.handle_input(now, &packet(syn));
        let answer = std::iter::from_fn(|| self.sockets.poll_transmit(now)).last();
        self.sockets.handle_input(now, &packet(segment(TcpFlags::RST, 1)));
        let Body::Tcp(answer) = answer?.body else { return None };
        Some(answer.options.fast_open()?.cookie.octets().to_vec())
    }

    fn counter(&self, name: &str) -> Option<u64> {
        if let Some((whose, state)) =
            name.strip_prefix("sockets.").and_then(|rest| rest.split_once('.'))
        {
            let state = info::state_of(state)?;
            return Some(self.sockets.count_in(state, whose == "all") as u64);
        }
        let counters = self.sockets.multipath_counters();
        match name {
            "MPTcpExtMPCapableSYNRX" => Some(counters.capable_syns),
            "MPTcpExtMPCapableFallbackACK" => Some(counters.fallback_acks),
            _ => None,
        }
    }

    fn info(&self, now: Time, flow: FlowKey, names: &mut Names) {
        let fd = self.sockets.lookup(flow.src_port, (flow.dst, flow.dst_port));
        match fd.and_then(|fd| self.sockets.info(fd, now).ok()) {
            Some(info) => info::report(self.profile, &info, names),
            None => info::report_state(self.profile, self.sockets.state_of_unconnected(), names),
        }
    }
}
