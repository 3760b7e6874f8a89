//! The addresses between which a script runs, and what they are called.

use anabranch_packetdrill::stack::{IpVersion, LOCAL, Network, REMOTE};
use anabranch_wire::{Addr, AddressBook};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses of packetdrill where nothing else is said.
const LOCAL_V4: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 1);
const REMOTE_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const LOCAL_V6: Ipv6Addr = Ipv6Addr::new(0xfd3d, 0x0a0b, 0x17d6, 0, 0, 0, 0, 1);
const REMOTE_V6: Ipv6Addr = Ipv6Addr::new(0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 1);

/// The first of the further addresses of either side, as the interpreter has
/// them, and how many there are.
const FURTHER_LOCAL: u32 = 10;
const FURTHER_REMOTE: u32 = 20;
const FURTHER: u32 = 8;
/// The first of those that only a command names.
const NAMED: u32 = 100;

/// The addresses of a run.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    pub version: IpVersion,
    pub local: IpAddr,
    pub remote: IpAddr,
    pub book: AddressBook,
    named: u32,
}

impl Addresses {
    /// Those of `network`.
    ///
    /// # Errors
    /// An address is of the wrong version, or both are the same.
    pub fn new(network: &Network) -> Result<Addresses, String> {
        let v6 = network.version == IpVersion::V6;
        let (local, remote): (IpAddr, IpAddr) = match v6 {
            true => (LOCAL_V6.into(), REMOTE_V6.into()),
            false => (LOCAL_V4.into(), REMOTE_V4.into()),
        };
        let of_version = |given: Option<IpAddr>, default: IpAddr| match given {
            Some(ip) if ip.is_ipv6() != v6 => Err(format!("the address {ip} in this version")),
            given => Ok(given.unwrap_or(default)),
        };
        let (local, remote) =
            (of_version(network.local, local)?, of_version(network.remote, remote)?);
        let mut book = AddressBook::explicit();
        book.insert(LOCAL, local).map_err(|error| error.to_string())?;
        book.insert(REMOTE, remote).map_err(|error| error.to_string())?;
        let mut addresses = Addresses { version: network.version, local, remote, book, named: 0 };
        for n in 0..FURTHER {
            for (first, ip) in [(FURTHER_LOCAL, local), (FURTHER_REMOTE, remote)] {
                // One that is taken has another name already.
                _ = addresses.book.insert(Addr(first + n), following(ip, n + 2));
            }
        }
        Ok(addresses)
    }

    /// The further address of the stack's side, counted from 0.
    pub fn further_local(&self, n: u32) -> Option<IpAddr> {
        self.book.ip(Addr(FURTHER_LOCAL + n)).filter(|_| n < FURTHER)
    }

    /// Enters an address that a command names.
    pub fn learn(&mut self, ip: IpAddr) {
        if self.book.addr(ip).is_none() && self.book.insert(Addr(NAMED + self.named), ip).is_ok() {
            self.named += 1;
        }
    }
}

/// The address `n` behind this one.
fn following(ip: IpAddr, n: u32) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => Ipv4Addr::from(u32::from(ip).wrapping_add(n)).into(),
        IpAddr::V6(ip) => Ipv6Addr::from(u128::from(ip).wrapping_add(n.into())).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_has_further_addresses_behind_its_first() {
        let v4 = Addresses::new(&Network::default()).unwrap();
        assert_eq!(v4.book.ip(LOCAL), Some("192.168.0.1".parse().unwrap()));
        assert_eq!(v4.further_local(0), Some("192.168.0.3".parse().unwrap()));
        assert_eq!(v4.book.ip(Addr(20)), Some("192.0.2.3".parse().unwrap()));
        assert_eq!(v4.further_local(8), None);
        let network = Network { version: IpVersion::V6, ..Network::default() };
        let mut v6 = Addresses::new(&network).unwrap();
        assert_eq!(v6.further_local(1), Some("fd3d:a0b:17d6::4".parse().unwrap()));
        v6.learn("2001:db8::7".parse().unwrap());
        assert_eq!(v6.book.addr("2001:db8::7".parse().unwrap()), Some(Addr(100)));
    }

    #[test]
    fn an_address_of_the_other_version_is_refused() {
        let local = Some("fd00::1".parse().unwrap());
        assert!(Addresses::new(&Network { local, ..Network::default() }).is_err());
        let version = IpVersion::Mapped;
        let local = Some("10.0.0.9".parse().unwrap());
        assert!(Addresses::new(&Network { version, local, ..Network::default() }).is_ok());
    }
}
