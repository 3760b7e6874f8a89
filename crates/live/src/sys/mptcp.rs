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

/// In the namespace of the calling thread: allows subflows and announcements
/// of peers, and announces `addresses`, each with the index of its device.
///
/// # Errors
/// The kernel's; one without MPTCP has no such family.
pub fn set_up(addresses: &[(IpAddr, u32)]) -> Result<(), LiveError> {
    let generic: Protocol = GENERIC;
    let mut netlink = Netlink::open_protocol(Some(generic))?;
    let family = family(&mut netlink)?;
    let mut limits = command(family, 5);
    limits.attribute(2, &MOST.to_ne_bytes()).attribute(3, &MOST.to_ne_bytes());
    netlink.ask(limits, "the limits of MPTCP's path manager".into())?;
    for (ip, device) in addresses {
        let kind: u16 = if ip.is_ipv4() { 2 } else { 10 };
        let mut address = Message::default();
        address.attribute(1, &kind.to_ne_bytes());
        address.address(if ip.is_ipv4() { 3 } else { 4 }, *ip);
        const SIGNAL: u32 = 1;
        address.attribute(6, &SIGNAL.to_ne_bytes()).attribute(7, &device.to_ne_bytes());
        let mut add = command(family, 1);
        add.attribute(1 | NESTED, &address.octets);
        netlink.ask(add, format!("announcing {ip} by MPTCP"))?;
    }
    Ok(())
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
