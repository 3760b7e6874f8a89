//! ADD_ADDR (RFC 8684 §3.4.1) and REMOVE_ADDR (§3.4.2).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-------+---------------+
//! |     Kind      |    Length     |Subtype|(rsv)|E|  Address ID   |
//! +---------------+---------------+-------+-------+---------------+
//! |           Address (IPv4: 4 octets / IPv6: 16 octets)          |
//! +-------------------------------+-------------------------------+
//! |   Port (2 octets, optional)   |  Truncated HMAC (if E = 0)    |
//! +-------------------------------+-------------------------------+
//! ```
//!
//! The version of IP and the presence of the port follow from the length.

use super::number;
use std::net::IpAddr;

/// `AddAddr` is ADD_ADDR: it announces an address, or echoes such an announcement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddAddr {
    /// `id` is the Address ID, the sender's number of the address.
    pub id: u8,
    /// `ip` is the address that is announced.
    pub ip: IpAddr,
    /// `port` is the port, where it is not that of the connection.
    pub port: Option<u16>,
    /// `mac` is the rightmost 64 bits of the sender's HMAC; without it, E: an echo of the same
    /// option of the peer.
    pub mac: Option<u64>,
}

impl AddAddr {
    pub(super) fn wire_len(&self) -> u32 {
        let address = if self.ip.is_ipv4() { 4 } else { 16 };
        4 + address + 2 * self.port.is_some() as u32 + 8 * self.mac.is_some() as u32
    }

    /// Returns the four bits beside the subtype: E.
    pub(super) fn low(&self) -> u8 {
        self.mac.is_none() as u8
    }

    pub(super) fn parse(low: u8, octets: &[u8]) -> Option<AddAddr> {
        let (&id, rest) = octets.split_first()?;
        let echo = low & 1 != 0;
        let (rest, mac) = match rest.split_last_chunk::<8>() {
            Some((rest, mac)) if !echo => (rest, Some(number(mac)?)),
            None if !echo => return None,
            _ => (rest, None),
        };
        let (ip, port): (IpAddr, &[u8]) = match rest.len() {
            4 | 6 => (<[u8; 4]>::try_from(&rest[..4]).ok()?.into(), &rest[4..]),
            16 | 18 => (<[u8; 16]>::try_from(&rest[..16]).ok()?.into(), &rest[16..]),
            _ => return None,
        };
        let port = port.try_into().ok().map(u16::from_be_bytes);
        Some(AddAddr { id, ip, port, mac })
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.push(self.id);
        match self.ip {
            IpAddr::V4(ip) => out.extend_from_slice(&ip.octets()),
            IpAddr::V6(ip) => out.extend_from_slice(&ip.octets()),
        }
        out.extend(self.port.iter().flat_map(|port| port.to_be_bytes()));
        out.extend(self.mac.iter().flat_map(|mac| mac.to_be_bytes()));
    }
}

/// `RemoveAddr` is REMOVE_ADDR: numbers of addresses, at least one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemoveAddr {
    len: u8,
    ids: [u8; RemoveAddr::MOST],
}

impl RemoveAddr {
    /// `MOST` is how many numbers forty octets of options hold.
    pub const MOST: usize = 37;

    /// Makes the option that removes these addresses; `None` for none or for more than
    /// [`RemoveAddr::MOST`].
    pub fn of(ids: &[u8]) -> Option<RemoveAddr> {
        if ids.is_empty() {
            return None;
        }
        let mut all = [0; RemoveAddr::MOST];
        all.get_mut(..ids.len())?.copy_from_slice(ids);
        Some(RemoveAddr { len: ids.len() as u8, ids: all })
    }

    /// Returns the numbers of the removed addresses.
    pub fn ids(&self) -> &[u8] {
        &self.ids[..self.len as usize]
    }

    pub(super) fn wire_len(&self) -> u32 {
        3 + self.len as u32
    }

    pub(super) fn parse(octets: &[u8]) -> Option<RemoveAddr> {
        RemoveAddr::of(octets)
    }
}
