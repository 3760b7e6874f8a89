//! The seam between the interpreter and a transport stack.
//!
//! Whoever has a stack of their own drills it by writing one [`Stack`]. Time
//! begins at [`Time::ZERO`] and never decreases. The interpreter alternates
//! between what the script does to the stack (`call`, `handle_input`,
//! `configure`) and what the stack does by itself (`handle_timeout`); after each
//! it takes what the stack sends.
//!
//! Time is virtual: it moves to the stack's next deadline. A stack that lives in
//! real time has a clock of its own ([`Stack::clock`]) and waits by itself
//! ([`Stack::wait`]).
//!
//! ```
//! use anabranch_packetdrill::code::Names;
//! use anabranch_packetdrill::stack::{Configured, Outcome, Returned, Stack};
//! use anabranch_packetdrill::{Definitions, Settings, parse, run};
//! use anabranch_units::Time;
//! use anabranch_wire::{Body, FlowKey, Packet, Payload, TcpFlags, TcpOptions, TcpSegment};
//!
//! /// A host without any socket: every segment is refused.
//! #[derive(Default)]
//! struct Closed(Option<Packet>);
//!
//! impl Stack for Closed {
//!     fn configure(&mut self, _name: &str, _value: &str) -> Configured {
//!         Configured::Unknown
//!     }
//!     fn call(&mut self, _now: Time, _call: &anabranch_packetdrill::script::Call) -> Outcome {
//!         Outcome::Done(Returned::error("EAFNOSUPPORT"))
//!     }
//!     fn retry(&mut self, _now: Time) -> Outcome {
//!         Outcome::Pending
//!     }
//!     fn handle_input(&mut self, _now: Time, packet: &Packet) {
//!         let Body::Tcp(it) = &packet.body else { return };
//!         let reset = TcpSegment {
//!             src_port: it.dst_port,
//!             dst_port: it.src_port,
//!             seq: Default::default(),
//!             ack: it.seq.add(it.seq_len()),
//!             flags: TcpFlags::RST.union(TcpFlags::ACK),
//!             window: 0,
//!             urgent: 0,
//!             options: TcpOptions::default(),
//!             payload: Payload::EMPTY,
//!         };
//!         self.0 = Some(Packet::new(packet.dst, packet.src, Body::Tcp(reset)));
//!     }
//!     fn handle_timeout(&mut self, _now: Time) {}
//!     fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
//!         self.0.take()
//!     }
//!     fn poll_timeout(&self) -> Time {
//!         Time::NEVER
//!     }
//!     fn info(&self, _now: Time, _flow: FlowKey, _names: &mut Names) {}
//! }
//!
//! let script = parse("refused", "0 < S 7:7(0) win 100\n+0 > R. 0:0(0) ack 1", &Definitions::new());
//! let report = run(&script.unwrap(), &mut Closed::default(), &Settings::default());
//! assert!(report.passed(), "{report}");
//! ```

use crate::code::Names;
use crate::script::{Call, Value};
use anabranch_units::Time;
use anabranch_wire::{Addr, AddressBook, FlowKey, Packet};
use std::net::IpAddr;

/// The address of the stack under test.
pub const LOCAL: Addr = Addr(0);
/// The address that the script stands for.
pub const REMOTE: Addr = Addr(1);
/// The port that `bind` and `connect` use where the script leaves it open.
pub const PORT: u16 = 8080;

/// The sockets and headers with which a script runs (`--ip_version`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IpVersion {
    /// Sockets and packets of IPv4.
    #[default]
    V4,
    /// Sockets and packets of IPv6.
    V6,
    /// Sockets of IPv6 with addresses of IPv4 mapped into it, packets of IPv4.
    Mapped,
}

impl IpVersion {
    /// What packetdrill calls it.
    pub fn name(self) -> &'static str {
        match self {
            IpVersion::V4 => "ipv4",
            IpVersion::V6 => "ipv6",
            IpVersion::Mapped => "ipv4-mapped-ipv6",
        }
    }

    /// The version that packetdrill calls so.
    pub fn from_name(name: &str) -> Option<IpVersion> {
        match name {
            "ipv4" => Some(IpVersion::V4),
            "ipv6" => Some(IpVersion::V6),
            "ipv4-mapped-ipv6" => Some(IpVersion::Mapped),
            _ => None,
        }
    }
}

/// Between which addresses a script runs. What is `None` is the stack's choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Network {
    /// Version of IP of sockets and headers.
    pub version: IpVersion,
    /// Address of the stack (`--local_ip`).
    pub local: Option<IpAddr>,
    /// Address that the script stands for (`--remote_ip`).
    pub remote: Option<IpAddr>,
    /// MTU of the interface, in octets (`--mtu`).
    pub mtu: Option<u32>,
}

impl Network {
    /// Returns the network of scripts which were written for IPv4, over another version: over IPv6
    /// the MTU is 1520, so that segments are as long.
    pub fn over(version: IpVersion) -> Network {
        let mtu = (version == IpVersion::V6).then_some(1520);
        Network { version, mtu, ..Network::default() }
    }
}

/// The outcome of a setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Configured {
    /// It is done, or makes no difference here.
    Done,
    /// The stack cannot do that: the script does not apply to it.
    NotApplicable(String),
    /// The stack does not know it.
    Unknown,
}

/// The outcome of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The call has returned.
    Done(Returned),
    /// It waits: to be asked again by [`Stack::retry`].
    Pending,
    /// The stack does not have that: the script does not apply to it.
    NotApplicable(String),
}

/// The result of a call that has returned.
#[derive(Clone, PartialEq, Debug)]
pub struct Returned {
    /// The value returned; -1 for an error.
    pub value: i64,
    /// The symbol of the error.
    pub errno: Option<&'static str>,
    /// Values that it wrote into its arguments, by their number from 0.
    pub outputs: Vec<(usize, Value)>,
}

impl Returned {
    /// Makes a result that is a value alone.
    pub fn value(value: i64) -> Returned {
        Returned { value, errno: None, outputs: Vec::new() }
    }

    /// Makes the result of a call that failed with `errno`.
    pub fn error(errno: &'static str) -> Returned {
        Returned { value: -1, errno: Some(errno), outputs: Vec::new() }
    }
}

/// A stack that can be drilled.
pub trait Stack {
    /// Makes the interface that the script runs over, before all else.
    fn set_up(&mut self, network: &Network) -> Configured {
        let made = match network.version {
            IpVersion::V4 => Configured::Done,
            version => self.configure("ip_version", version.name()),
        };
        match (made, network.mtu) {
            (Configured::Done, Some(mtu)) => self.configure("route.mtu", &mtu.to_string()),
            (made, _) => made,
        }
    }

    /// The first event is about to happen: a clock starts now.
    fn begin(&mut self) {}

    /// The time, of a stack that does not live in virtual time.
    fn clock(&self) -> Option<Time> {
        None
    }

    /// Lets time pass from `now` to the next thing that the stack does by itself:
    /// when that was, or `None` if nothing happens up to `limit`.
    fn wait(&mut self, now: Time, limit: Time) -> Option<Time> {
        let due = self.poll_timeout();
        if due > limit || due == Time::NEVER {
            return None;
        }
        let due = due.max(now);
        self.handle_timeout(due);
        Some(due)
    }

    /// What stands for addresses on the wire, as far as the stack knows by now.
    fn addresses(&self) -> AddressBook {
        AddressBook::new()
    }

    /// Whether there is IP below the stack. One without it has no addresses to list in its packets, and
    /// what scripts expect of those is not compared.
    fn has_ip(&self) -> bool {
        true
    }

    /// A setting: a sysctl by its name with dots, or what [`crate::shell`]
    /// makes of other commands.
    fn configure(&mut self, name: &str, value: &str) -> Configured;

    /// A socket call. Descriptors are those that the stack returned. At most
    /// one is pending at a time.
    fn call(&mut self, now: Time, call: &Call) -> Outcome;

    /// Whether the call that is pending can return now.
    fn retry(&mut self, now: Time) -> Outcome;

    /// Hands the stack a packet that came.
    fn handle_input(&mut self, now: Time, packet: &Packet);

    /// Why the packet that came last could not be given to the stack, of one that
    /// takes octets.
    fn refusal(&mut self) -> Option<String> {
        None
    }

    /// What the packet that came last needs and the stack does not have: the script does not apply to it.
    fn lack(&mut self) -> Option<String> {
        None
    }

    /// A deadline may have passed.
    fn handle_timeout(&mut self, now: Time);

    /// The next packet to send; called until `None`.
    fn poll_transmit(&mut self, now: Time) -> Option<Packet>;

    /// Returns when to call [`handle_timeout`](Self::handle_timeout); [`Time::NEVER`] for not at
    /// all.
    fn poll_timeout(&self) -> Time;

    /// The Fast Open cookie that the stack takes from [`REMOTE`], where a script
    /// names one that is not defined.
    fn fast_open_cookie(&mut self, _now: Time) -> Option<Vec<u8>> {
        None
    }

    /// A counter of the host by the name that `nstat` gives it; `None` for one that
    /// the stack does not keep.
    fn counter(&self, _name: &str) -> Option<u64> {
        None
    }

    /// What code may ask of the connection that sends with the key `flow`
    /// (`tcpi_...`).
    fn info(&self, now: Time, flow: FlowKey, names: &mut Names);
}
