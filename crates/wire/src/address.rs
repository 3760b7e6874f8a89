//! The address book: which IPv4 or IPv6 address stands on the wire for an
//! [`Addr`], and back.
//!
//! Addresses that nobody entered follow a dense default mapping, so that a run
//! can be captured without any configuration:
//!
//! | mapping | `Addr(n)` becomes | for |
//! |---|---|---|
//! | [`AddressBook::new`] | 10.0.0.0 + n + 1 (RFC 1918 §3) | n < 2^24 − 2 |
//! | [`AddressBook::dense_ipv6`] | fd00:616e:6162:: + n + 1 (RFC 4193 §3) | all |
//! | [`AddressBook::dual`] | either, by its family; both where a router is | n < 2^24 − 2 of IPv4 |
//! | [`AddressBook::explicit`] | nothing | none |
//!
//! Those of IPv4 may begin elsewhere than at 10.0.0.1 ([`AddressBook::with_first_ipv4`]).
//!
//! The book is one-to-one at every moment: [`AddressBook::insert`] refuses
//! what would give two numbers one IP address.

use crate::packet::Addr;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// `AddressBook` maps the numbers of addresses to the IP addresses of the wire, one-to-one, and
/// back.
///
/// ```
/// use anabranch_wire::{Addr, AddressBook};
/// let mut book = AddressBook::new();
/// book.insert(Addr(7), "192.0.2.1".parse().unwrap())?;
/// assert_eq!(book.ip(Addr(0)), Some("10.0.0.1".parse().unwrap()));
/// assert_eq!(book.ip(Addr(7)), Some("192.0.2.1".parse().unwrap()));
/// assert_eq!(book.addr("192.0.2.1".parse().unwrap()), Some(Addr(7)));
/// # Ok::<(), anabranch_wire::address::AddressTaken>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressBook {
    mapping: Mapping,
    /// `ipv4_base` is the IPv4 address one below that of `Addr(0)`, as a number.
    ipv4_base: u32,
    ip_of: BTreeMap<Addr, IpAddr>,
    addr_of: BTreeMap<IpAddr, Addr>,
}

impl Default for AddressBook {
    fn default() -> AddressBook {
        let (ip_of, addr_of) = (BTreeMap::new(), BTreeMap::new());
        AddressBook { mapping: Mapping::default(), ipv4_base: IPV4_BASE, ip_of, addr_of }
    }
}

/// `Mapping` says which IP address a number without an entry has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Mapping {
    #[default]
    DenseIpv4,
    DenseIpv6,
    /// Addresses follow [`Mapping::DenseIpv4`], and from this number on [`Mapping::DenseIpv6`] as
    /// well.
    Both(u32),
    None,
}

/// `AddressTaken` refuses an entry, since the IP address stands for another number already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressTaken {
    /// `ip` is the IP address that was to be entered; one that is mapped into IPv6 is given as
    /// IPv4.
    pub ip: IpAddr,
    /// `by` is the number that `ip` stands for, by an entry or by the default mapping.
    pub by: Addr,
}

impl fmt::Display for AddressTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} already stands for address {}", self.ip, self.by.0)
    }
}
impl Error for AddressTaken {}

impl AddressBook {
    /// Makes a book in which `Addr(n)` is 10.0.0.0 + n + 1.
    pub fn new() -> AddressBook {
        AddressBook::default()
    }
    /// Makes a book in which `Addr(n)` is fd00:616e:6162:: + n + 1.
    pub fn dense_ipv6() -> AddressBook {
        AddressBook { mapping: Mapping::DenseIpv6, ..AddressBook::default() }
    }
    /// Makes a book in which each of `ipv6` is fd00:616e:6162:: + n + 1 and any other number
    /// 10.0.0.0 + n + 1. Those from `routers` on are both, whichever family who talks to them has.
    ///
    /// ```
    /// use anabranch_wire::{Addr, AddressBook};
    /// let book = AddressBook::dual([Addr(1)], Addr(2));
    /// let ip = |text: &str| Some(text.parse().unwrap());
    /// assert_eq!(book.ip(Addr(0)), ip("10.0.0.1"));
    /// assert_eq!(book.ip(Addr(1)), ip("fd00:616e:6162::2"));
    /// assert_eq!(book.ip_towards(Addr(2), Addr(0)), ip("10.0.0.3"));
    /// assert_eq!(book.ip_towards(Addr(2), Addr(1)), ip("fd00:616e:6162::3"));
    /// ```
    pub fn dual(ipv6: impl IntoIterator<Item = Addr>, routers: Addr) -> AddressBook {
        let mut book = AddressBook { mapping: Mapping::Both(routers.0), ..AddressBook::default() };
        for addr in ipv6 {
            let ip = Mapping::DenseIpv6.ip(0, addr).expect("every number has one of IPv6");
            book.ip_of.insert(addr, ip);
            book.addr_of.insert(ip, addr);
        }
        book
    }
    /// Makes a book without a default mapping, in which only what is entered has an IP address.
    pub fn explicit() -> AddressBook {
        AddressBook { mapping: Mapping::None, ..AddressBook::default() }
    }

    /// Returns the book with addresses of IPv4 from `first` on in place of 10.0.0.1, as many.
    ///
    /// ```
    /// use anabranch_wire::{Addr, AddressBook};
    /// let book = AddressBook::new().with_first_ipv4([198, 18, 0, 1].into());
    /// assert_eq!(book.ip(Addr(1)), Some("198.18.0.2".parse().unwrap()));
    /// ```
    #[must_use]
    pub fn with_first_ipv4(mut self, first: Ipv4Addr) -> AddressBook {
        self.ipv4_base = u32::from(first).saturating_sub(1);
        self
    }

    /// Enters `ip` for `addr`, in place of what stood there. An IPv4 address that is mapped into
    /// IPv6 is that IPv4 address: SCTP must not write it otherwise (RFC 9260 §3.3.2.1.2).
    ///
    /// # Errors
    /// `ip` stands for another number, by an entry or by the default mapping;
    /// the book is unchanged.
    pub fn insert(&mut self, addr: Addr, ip: IpAddr) -> Result<(), AddressTaken> {
        let ip = ip.to_canonical();
        let by_default = self.mapping.addr(self.ipv4_base, ip);
        if let Some(by) = self.addr_of.get(&ip).copied().or(by_default).filter(|by| *by != addr) {
            return Err(AddressTaken { ip, by });
        }
        if let Some(old) = self.ip_of.insert(addr, ip) {
            self.addr_of.remove(&old);
        }
        self.addr_of.insert(ip, addr);
        Ok(())
    }

    /// Returns the IP address that stands on the wire for `addr`; `None` where it has no entry and
    /// the default mapping ends before it.
    pub fn ip(&self, addr: Addr) -> Option<IpAddr> {
        self.ip_of.get(&addr).copied().or_else(|| self.mapping.ip(self.ipv4_base, addr))
    }

    /// Returns the IP address of `addr` in a packet to or from `peer`: of a router's two, that of
    /// the peer's family.
    pub fn ip_towards(&self, addr: Addr, peer: Addr) -> Option<IpAddr> {
        match self.mapping {
            Mapping::Both(routers) if addr.0 >= routers && self.is_ipv6(peer) => {
                Mapping::DenseIpv6.ip(self.ipv4_base, addr)
            }
            _ => self.ip(addr),
        }
    }

    /// Returns whether the address of `addr` is of IPv6. It is not where there is none, nor for a
    /// router, which has one of each family.
    pub fn is_ipv6(&self, addr: Addr) -> bool {
        self.ip(addr).is_some_and(|ip| ip.is_ipv6())
    }

    /// Returns the number that `ip` stands for; `None` where it has no entry and the default
    /// mapping gives it to no number, or to one that has an entry.
    pub fn addr(&self, ip: IpAddr) -> Option<Addr> {
        self.addr_of.get(&ip).copied().or_else(|| {
            // A number with an entry has left its default address.
            let by_default = self.mapping.addr(self.ipv4_base, ip);
            by_default.filter(|addr| !self.ip_of.contains_key(addr))
        })
    }
}

const IPV4_BASE: u32 = u32::from_be_bytes([10, 0, 0, 0]);
/// 10.255.255.255 is left out: it is the network's broadcast address.
const IPV4_COUNT: u32 = (1 << 24) - 2;
const IPV6_BASE: u128 = 0xfd00_616e_6162 << 80;

impl Mapping {
    fn ip(self, ipv4_base: u32, addr: Addr) -> Option<IpAddr> {
        match self {
            Mapping::DenseIpv4 | Mapping::Both(_) => {
                let ip = ipv4_base.checked_add(addr.0)?.checked_add(1)?;
                (addr.0 < IPV4_COUNT).then(|| Ipv4Addr::from(ip).into())
            }
            Mapping::DenseIpv6 => Some(Ipv6Addr::from(IPV6_BASE + addr.0 as u128 + 1).into()),
            Mapping::None => None,
        }
    }

    fn addr(self, ipv4_base: u32, ip: IpAddr) -> Option<Addr> {
        match (self, ip) {
            (Mapping::DenseIpv4 | Mapping::Both(_), IpAddr::V4(ip)) => {
                let n = u32::from(ip).checked_sub(ipv4_base)?.checked_sub(1)?;
                (n < IPV4_COUNT).then_some(Addr(n))
            }
            (Mapping::DenseIpv6, IpAddr::V6(ip)) => {
                let offset = u128::from(ip).checked_sub(IPV6_BASE + 1)?;
                u32::try_from(offset).ok().map(Addr)
            }
            (Mapping::Both(routers), IpAddr::V6(_)) => {
                Mapping::DenseIpv6.addr(ipv4_base, ip).filter(|addr| addr.0 >= routers)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn default_mapping_is_dense_and_ends_before_the_broadcast_address() {
        let book = AddressBook::new();
        for (n, text) in [(0, "10.0.0.1"), (255, "10.0.1.0"), ((1 << 24) - 3, "10.255.255.254")] {
            assert_eq!(book.ip(Addr(n)), Some(ip(text)));
            assert_eq!(book.addr(ip(text)), Some(Addr(n)));
        }
        assert_eq!(book.ip(Addr((1 << 24) - 2)), None);
        assert_eq!(book.ip(Addr(u32::MAX)), None);
        for text in ["10.0.0.0", "10.255.255.255", "11.0.0.1", "9.255.255.255", "::1"] {
            assert_eq!(book.addr(ip(text)), None, "{text}");
        }
    }

    #[test]
    fn ipv6_mapping_holds_every_number() {
        let book = AddressBook::dense_ipv6();
        for (n, text) in [(0, "fd00:616e:6162::1"), (u32::MAX, "fd00:616e:6162::1:0:0")] {
            assert_eq!(book.ip(Addr(n)), Some(ip(text)));
            assert_eq!(book.addr(ip(text)), Some(Addr(n)));
        }
        for text in ["fd00:616e:6162::", "fd00:616e:6162::1:0:1", "::", "10.0.0.1"] {
            assert_eq!(book.addr(ip(text)), None, "{text}");
        }
    }

    #[test]
    fn entries_keep_the_book_one_to_one() {
        let mut book = AddressBook::new();
        let taken = |ip, by| Err(AddressTaken { ip, by });
        assert_eq!(book.insert(Addr(5), ip("2001:db8::5")), Ok(()));
        assert_eq!(book.addr(ip("10.0.0.6")), None, "Addr(5) has left its default");
        assert_eq!(book.insert(Addr(6), ip("2001:db8::5")), taken(ip("2001:db8::5"), Addr(5)));
        assert_eq!(book.insert(Addr(6), ip("10.0.0.6")), taken(ip("10.0.0.6"), Addr(5)));
        assert_eq!(book.insert(Addr(5), ip("192.0.2.5")), Ok(()));
        assert_eq!(book.addr(ip("2001:db8::5")), None, "replaced");
        assert_eq!(book.insert(Addr(6), ip("2001:db8::5")), Ok(()));
        assert_eq!(book.insert(Addr(5), ip("10.0.0.6")), Ok(()), "back to its default");
        assert_eq!(book.addr(ip("10.0.0.6")), Some(Addr(5)));
    }

    #[test]
    fn a_mapped_address_is_the_ipv4_address() {
        let mut book = AddressBook::explicit();
        book.insert(Addr(3), ip("::ffff:192.0.2.1")).unwrap();
        assert_eq!(book.ip(Addr(3)), Some(ip("192.0.2.1")));
        assert_eq!(book.addr(ip("192.0.2.1")), Some(Addr(3)));
    }

    #[test]
    fn addresses_of_ipv4_may_begin_elsewhere() {
        let first = |text: &str| text.parse().unwrap();
        let book = AddressBook::dual([Addr(1)], Addr(2)).with_first_ipv4(first("198.18.0.1"));
        for (n, text) in [(0, "198.18.0.1"), (1, "fd00:616e:6162::2"), (2, "198.18.0.3")] {
            assert_eq!(book.ip(Addr(n)), Some(ip(text)));
            assert_eq!(book.addr(ip(text)), Some(Addr(n)));
        }
        for text in ["198.18.0.0", "198.18.0.2", "10.0.0.1", "199.18.0.0"] {
            assert_eq!(book.addr(ip(text)), None, "{text}");
        }
        let end = AddressBook::new().with_first_ipv4(first("255.255.255.254"));
        assert_eq!(end.ip(Addr(1)), Some(ip("255.255.255.255")));
        assert_eq!(end.ip(Addr(2)), None);
    }

    /// Interfaces 0 and 2 of IPv4, 1 of IPv6, and a router.
    #[test]
    fn a_dual_book_has_both_families() {
        let book = AddressBook::dual([Addr(1)], Addr(3));
        for (n, text) in [(0, "10.0.0.1"), (1, "fd00:616e:6162::2"), (2, "10.0.0.3")] {
            assert_eq!(book.ip(Addr(n)), Some(ip(text)));
            assert_eq!(book.addr(ip(text)), Some(Addr(n)));
            assert_eq!(book.is_ipv6(Addr(n)), n == 1);
        }
        for text in ["10.0.0.2", "fd00:616e:6162::1", "fd00:616e:6162::3"] {
            assert_eq!(book.addr(ip(text)), None, "{text} is of the other family");
        }
        for (peer, text) in [(0, "10.0.0.4"), (1, "fd00:616e:6162::4"), (3, "10.0.0.4")] {
            assert_eq!(book.ip_towards(Addr(3), Addr(peer)), Some(ip(text)));
            assert_eq!(book.addr(ip(text)), Some(Addr(3)));
        }
        // An interface has one, whoever asks.
        assert_eq!(book.ip_towards(Addr(0), Addr(1)), Some(ip("10.0.0.1")));
        assert_eq!(book.ip_towards(Addr(0), Addr(9)), Some(ip("10.0.0.1")));
    }

    #[test]
    fn an_explicit_book_knows_only_its_entries() {
        let mut book = AddressBook::explicit();
        assert_eq!(book.ip(Addr(0)), None);
        assert_eq!(book.insert(Addr(3), ip("10.0.0.1")), Ok(()));
        assert_eq!(book.addr(ip("10.0.0.1")), Some(Addr(3)));
    }
}
