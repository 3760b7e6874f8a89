//! Addresses inside chunks.

use crate::packet::Addr;
use std::net::IpAddr;

/// `Address` is an address in a parameter: a number that the address book resolves, or an IP
/// address that is not in the book.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Address {
    /// `Number` is the address of an interface of this world.
    Number(Addr),
    /// `Ip` is any other. One that the book knows comes back as its number.
    Ip(IpAddr),
}

impl From<Addr> for Address {
    fn from(addr: Addr) -> Address {
        Address::Number(addr)
    }
}
