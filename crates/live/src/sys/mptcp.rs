//! The kernel's path manager of Multipath TCP, by generic netlink
//! (include/uapi/linux/mptcp_pm.h): which addresses it announces, and how many
//! subflows it allows.

use super::netlink::{Message, Netlink, attribute};
use crate::LiveError;
use crate::error::Doing;
use rustix::net::Protocol;
use rustix::net::netlink::GENERIC;
use std::io;
use std::net::IpAddr;

/// The most that the kernel lets us set.
const MOST: u32 = 8;
const NESTED: u16 = 0x8000;

/// In the namespace of the calling thread: allows subflows beside the first and announcements
/// of peers where there are to be `several`, and adds `endpoints`.
///
/// # Errors
/// The kernel's; one without MPTCP has no such family.
pub fn set_up(several: bool, endpoints: &[Endpoint]) -> Result<(), LiveError> {
    let mut manager = PathManager::open()?;
    let most = if several { MOST } else { 0 };
    manager.limit(most, most)?;
    endpoints.iter().try_for_each(|endpoint| manager.add(endpoint))
}

/// An address of the host that the path manager is to use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Endpoint {
    /// Address of the endpoint.
    pub ip: IpAddr,
    /// Identifier of the address; `None` for the kernel's choice.
    pub id: Option<u8>,
    /// [`SIGNAL`], [`SUBFLOW`]...
    pub flags: u32,
    /// Index of the address's device.
    pub device: Option<u32>,
    /// The port that is announced with it.
    pub port: Option<u16>,
}

/// The address is announced.
pub const SIGNAL: u32 = 1;
/// Subflows are opened from the address.
pub const SUBFLOW: u32 = 2;
/// Flag: its subflows carry data only if there are no others.
pub const BACKUP: u32 = 4;
/// Subflows are opened to each address of the peer.
pub const FULL_MESH: u32 = 8;

/// The path manager of a namespace.
#[derive(Debug)]
pub struct PathManager {
    netlink: Netlink,
    family: u16,
}

impl PathManager {
    /// Opens the path manager of the calling thread's namespace.
    ///
    /// # Errors
    /// The kernel's; one without MPTCP has no such family.
    pub fn open() -> Result<PathManager, LiveError> {
        let generic: Protocol = GENERIC;
        let mut netlink = Netlink::open_protocol(Some(generic))?;
        let family = family(&mut netlink)?;
        Ok(PathManager { netlink, family })
    }

    /// Limits how many announced addresses are used, and how many further subflows there may be; 0
    /// to 8 each.
    ///
    /// # Errors
    /// The kernel's.
    pub fn limit(&mut self, accepted: u32, subflows: u32) -> Result<(), LiveError> {
        let mut limits = command(self.family, 5);
        limits.attribute(2, &accepted.to_ne_bytes()).attribute(3, &subflows.to_ne_bytes());
        self.netlink.ask(limits, "the limits of MPTCP's path manager".into())
    }

    /// One more address.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add(&mut self, endpoint: &Endpoint) -> Result<(), LiveError> {
        let ip = endpoint.ip;
        let kind: u16 = if ip.is_ipv4() { 2 } else { 10 };
        let mut address = Message::default();
        address.attribute(1, &kind.to_ne_bytes());
        if let Some(id) = endpoint.id {
            address.attribute(2, &[id]);
        }
        address.address(if ip.is_ipv4() { 3 } else { 4 }, ip);
        if let Some(port) = endpoint.port {
            address.attribute(5, &port.to_ne_bytes());
        }
        address.attribute(6, &endpoint.flags.to_ne_bytes());
        if let Some(device) = endpoint.device {
            address.attribute(7, &device.to_ne_bytes());
        }
        let mut add = command(self.family, 1);
        add.attribute(1 | NESTED, &address.octets);
        self.netlink.ask(add, format!("the MPTCP endpoint {ip}"))
    }

    /// Forgets all addresses.
    ///
    /// # Errors
    /// The kernel's.
    pub fn flush(&mut self) -> Result<(), LiveError> {
        let flush = command(self.family, 4);
        self.netlink.ask(flush, "forgetting MPTCP's endpoints".into())
    }
}

/// A message of a family: header of generic netlink, version 1.
fn command(family: u16, number: u8) -> Message {
    let mut message = Message::new(family, 0);
    message.octets(&[number, 1, 0, 0]);
    message
}

/// The number of the family `mptcp_pm`.
fn family(netlink: &mut Netlink) -> Result<u16, LiveError> {
    const CONTROL: u16 = 0x10;
    const GET_FAMILY: u8 = 3;
    let what = "MPTCP of this kernel (the family mptcp_pm of generic netlink)";
    let mut ask = command(CONTROL, GET_FAMILY);
    ask.attribute(2, b"mptcp_pm\0");
    let answer = netlink.inquire(ask, what.into())?;
    let number = answer.get(20..).and_then(|attributes| attribute(attributes, 1));
    let number = number.and_then(|octets| Some(u16::from_ne_bytes(octets.try_into().ok()?)));
    number.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData)).doing(what)
}
