//! Addresses inside chunks.

use crate::packet::Addr;
use std::net::IpAddr;

/// An address in a parameter: a number that the address book resolves, or an
/// IP address that is not in the book.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Address {
    /// The address of an interface of this world.
    Number(Addr),
    /// Any other. One that the book knows comes back as its number.
    Ip(IpAddr),
}

impl From<Addr> for Address {
    fn from(addr: Addr) -> Address {
        Address::Number(addr)
    }
}
