//! The world of a simulation in real time, between network namespaces.
//!
//! A [`Simulation`](anabranch_sim::Simulation) whose hosts stand partly outside
//! is driven by a monotonic clock ([`Live`]). Each host outside is a network
//! [`Namespace`] with a TUN device for each interface ([`Port`]): what it sends
//! enters the simulated links as values and leaves them as octets. Flows of its
//! kernel's own TCP are [`KernelSocket`]s, endpoints like any other to the
//! simulation's applications; what else runs there is a [`Program`].
//!
//! The loop sleeps in `epoll_pwait2` under `SCHED_FIFO`, with a timer slack of
//! 1 ns, and never spins. It measures how late packets leave ([`Lateness`]).
//!
//! Linux alone has what this needs; elsewhere the crate is empty.

#![cfg(target_os = "linux")]

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod clock;
pub mod control;
mod couplings;
mod datagrams;
mod drive;
mod error;
mod host;
mod info;
mod lateness;
mod port;
mod program;
mod reactor;
mod socket;
mod subflows;
mod sys;

pub use clock::Clock;
pub use control::KernelControl;
pub use couplings::Couplings;
pub use datagrams::KernelDatagrams;
pub use drive::{End, Live, Outcome, Ready, Stop};
pub use error::LiveError;
pub use host::{ExternalHost, HostSettings, InterfaceSettings, SubflowSettings};
pub use info::TcpInfo;
pub use lateness::Lateness;
pub use port::{Port, PortCounters};
pub use program::{Program, ProgramReport, Stdio};
pub use reactor::{Reactor, Token};
pub use socket::{KernelSocket, Role, SocketSettings};
pub use sys::enter_user_namespace;
pub use sys::namespace::Namespace;
pub use sys::priority::Scheduling;

/// The kernel of a namespace piece by piece, for who needs no whole host: devices, routes,
/// Multipath TCP's path manager, socket calls as they are written.
pub mod kernel {
    pub use crate::info::MptcpInfo;
    pub use crate::sys::call;
    pub use crate::sys::mptcp::{self, Endpoint, PathManager};
    pub use crate::sys::netlink::{Netlink, Route};
    pub use crate::sys::priority::make_precise;
    pub use crate::sys::socket::{mptcp_info, tcp_info};
    pub use crate::sys::tun::create_plain;
}
