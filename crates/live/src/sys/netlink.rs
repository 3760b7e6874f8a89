//! rtnetlink (rtnetlink(7)): devices up, addresses, routes and rules, as small
//! messages; so that no program is needed to set up a namespace.

use crate::LiveError;
use crate::error::Doing;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, bind, netdevice, recv,
    send, socket_with,
};
use std::net::IpAddr;
use std::os::fd::OwnedFd;

/// A connection to the kernel's tables of the namespace in which it was opened.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

/// A route over a device, without a gateway.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Route<'a> {
    /// The destination; `None`: everything of the source's family.
    pub to: Option<IpAddr>,
    /// The address that packets over it have as their source.
    pub source: Option<IpAddr>,
    /// Index of the device that the route leads over.
    pub device: u32,
    /// The table; 254 is the main one.
    pub table: u32,
    /// Priority among several routes, the lowest first.
    pub priority: u32,
    /// Initial congestion window, in segments.
    pub initial_window: Option<u32>,
    /// Least retransmission timeout, in milliseconds.
    pub min_rto: Option<u32>,
    /// Every segment is acknowledged at once.
    pub quick_ack: bool,
    /// Name of the kernel's congestion control.
    pub congestion_control: Option<&'a str>,
    /// Further metrics by their number (`RTAX_...` of linux/rtnetlink.h).
    pub metrics: &'a [(u16, u32)],
}

const NEWLINK: u16 = 16;
const GETLINK: u16 = 18;
const NEWADDR: u16 = 20;
const NEWROUTE: u16 = 24;
const NEWRULE: u16 = 32;
const NEWQDISC: u16 = 36;
const DELQDISC: u16 = 37;
/// Create, or replace what is there.
const CREATE: u16 = 0x400 | 0x100;

impl Netlink {
    /// Opens a socket in the namespace of the calling thread.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open() -> Result<Netlink, LiveError> {
        // NETLINK_ROUTE is number 0.
        Netlink::open_protocol(None)
    }

    /// Opens a socket of another protocol of netlink.
    pub(super) fn open_protocol(protocol: Option<Protocol>) -> Result<Netlink, LiveError> {
        let open = || {
            let flags = SocketFlags::CLOEXEC;
            let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
            let socket = socket_with(family, kind, flags, protocol)?;
            bind(&socket, &SocketAddrNetlink::new(0, 0))?;
            Ok::<_, rustix::io::Errno>(Netlink { socket, sequence: 0 })
        };
        open().doing("netlink")
    }

    /// The index of a device.
    ///
    /// # Errors
    /// The kernel's.
    pub fn index(&self, device: &str) -> Result<u32, LiveError> {
        netdevice::name_to_index(&self.socket, device).doing(device)
    }

    /// Sets a device down.
    ///
    /// # Errors
    /// The kernel's.
    #[cfg(test)]
    pub fn down(&mut self, device: u32) -> Result<(), LiveError> {
        let mut message = Message::new(NEWLINK, 0);
        message.octets(&[0, 0, 0, 0]);
        message.word(device).word(0).word(1);
        self.ask(message, "setting a device down".into())
    }

    /// Sets a device up, with this MTU and this length of its queue.
    ///
    /// # Errors
    /// The kernel's.
    pub fn up(&mut self, device: u32, mtu: u32, queue: u32) -> Result<(), LiveError> {
        let mut message = Message::new(NEWLINK, 0);
        message.octets(&[0, 0, 0, 0]);
        message.word(device).word(1).word(1);
        if mtu > 0 {
            message.attribute(4, &mtu.to_ne_bytes());
        }
        if queue > 0 {
            message.attribute(13, &queue.to_ne_bytes());
        }
        self.ask(message, format!("setting a device up with an MTU of {mtu}"))
    }

    /// Packets that the kernel had for a device and could not give to it: the
    /// field `tx_dropped` of `struct rtnl_link_stats64`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn lost(&mut self, device: u32) -> Result<u64, LiveError> {
        const STATISTICS: u16 = 23;
        const TX_DROPPED: usize = 7 * 8;
        let mut message = Message::new(GETLINK, 0);
        message.octets(&[0, 0, 0, 0]);
        message.word(device).word(0).word(0);
        let what = "the counters of a device";
        let answer = self.inquire(message, what.into())?;
        let attributes = answer.get(32..).and_then(|octets| attribute(octets, STATISTICS));
        let number = attributes.and_then(|counters| counters.get(TX_DROPPED..)?.first_chunk());
        let invalid = || std::io::Error::from(std::io::ErrorKind::InvalidData);
        number.map(|octets| u64::from_ne_bytes(*octets)).ok_or_else(invalid).doing(what)
    }

    /// Removes a device.
    ///
    /// # Errors
    /// The kernel's.
    #[cfg(test)]
    pub fn remove(&mut self, device: u32) -> Result<(), LiveError> {
        let mut message = Message::new(17, 0);
        message.octets(&[0, 0, 0, 0]);
        message.word(device).word(0).word(0);
        self.ask(message, "removing a device".into())
    }

    /// Gives a device an address of its own, without a network around it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn address(&mut self, device: u32, ip: IpAddr) -> Result<(), LiveError> {
        let mut message = Message::new(NEWADDR, CREATE);
        // No detection of duplicates (IFA_F_NODAD): nobody else is there.
        message.octets(&[family(ip), bits(ip), 2, 0]).word(device);
        message.address(2, ip).address(1, ip);
        self.ask(message, format!("the address {ip}"))
    }

    /// Adds a route.
    ///
    /// # Errors
    /// The kernel's.
    pub fn route(&mut self, route: &Route<'_>) -> Result<(), LiveError> {
        let ip = route.to.or(route.source).expect("a route has a family");
        let mut message = Message::new(NEWROUTE, CREATE);
        // Static, in the scope of the link, to one destination.
        let to_bits = route.to.map_or(0, bits);
        message.octets(&[family(ip), to_bits, 0, 0, 0, 4, 253, 1]).word(0);
        if let Some(to) = route.to {
            message.address(1, to);
        }
        if let Some(source) = route.source {
            message.address(7, source);
        }
        message.attribute(4, &route.device.to_ne_bytes());
        message.attribute(15, &route.table.to_ne_bytes());
        message.attribute(6, &route.priority.to_ne_bytes());
        let mut metrics = Message::default();
        if let Some(segments) = route.initial_window {
            metrics.attribute(11, &segments.to_ne_bytes());
        }
        if let Some(milliseconds) = route.min_rto {
            metrics.attribute(13, &milliseconds.to_ne_bytes());
        }
        if route.quick_ack {
            metrics.attribute(15, &1_u32.to_ne_bytes());
        }
        for (number, value) in route.metrics {
            metrics.attribute(*number, &value.to_ne_bytes());
        }
        if let Some(name) = route.congestion_control {
            metrics.attribute(16, format!("{name}\0").as_bytes());
        }
        if !metrics.octets.is_empty() {
            message.attribute(8, &metrics.octets);
        }
        self.ask(message, format!("the route to {ip}"))
    }

    /// Gives a device the discipline `kind` for what leaves over it, with its
    /// options as the kernel has them; in place of what is there.
    ///
    /// # Errors
    /// The kernel's, which may not have that discipline.
    pub fn discipline(&mut self, device: u32, kind: &str, options: &[u8]) -> Result<(), LiveError> {
        let mut message = Message::new(NEWQDISC, CREATE);
        message.traffic_control(device).attribute(1, format!("{kind}\0").as_bytes());
        if !options.is_empty() {
            message.attribute(2, options);
        }
        self.ask(message, format!("the queue discipline {kind}"))
    }

    /// The device has its default discipline again.
    ///
    /// # Errors
    /// The kernel's, as where the device has no other.
    pub fn default_discipline(&mut self, device: u32) -> Result<(), LiveError> {
        let mut message = Message::new(DELQDISC, 0);
        message.traffic_control(device);
        self.ask(message, "the default queue discipline".into())
    }

    /// Packets from `source` follow `table`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn rule(&mut self, source: IpAddr, table: u32) -> Result<(), LiveError> {
        let mut message = Message::new(NEWRULE, CREATE);
        message.octets(&[family(source), 0, bits(source), 0, 0, 0, 0, 1]).word(0);
        message.address(2, source);
        message.attribute(15, &table.to_ne_bytes());
        self.ask(message, format!("the rule for {source}"))
    }

    /// Sends a message and waits for the acknowledgment.
    pub(super) fn ask(&mut self, message: Message, what: String) -> Result<(), LiveError> {
        self.inquire(message, what).map(drop)
    }

    /// Sends a request, and returns the message that came before the acknowledgment, if any.
    pub(super) fn inquire(&mut self, message: Message, what: String) -> Result<Vec<u8>, LiveError> {
        self.sequence += 1;
        let octets = message.finish(self.sequence);
        let (mut buf, mut answer) = ([0; 8192], Vec::new());
        let mut exchange = || {
            send(&self.socket, &octets, SendFlags::empty())?;
            loop {
                let (len, _) = recv(&self.socket, &mut buf, RecvFlags::empty())?;
                for message in messages(&buf[..len]) {
                    if let Some(errno) = acknowledgment(message, self.sequence) {
                        return Ok::<_, rustix::io::Errno>(errno);
                    }
                    answer = message.to_vec();
                }
            }
        };
        match exchange().doing(what.as_str())? {
            0 => Ok(answer),
            errno => Err(std::io::Error::from_raw_os_error(errno)).doing(what),
        }
    }
}

/// The messages of a datagram.
fn messages(mut octets: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let len = u32::from_ne_bytes(octets.get(..4)?.try_into().ok()?) as usize;
        let message = octets.get(..len).filter(|_| len >= 16)?;
        octets = octets.get(len.next_multiple_of(4)..).unwrap_or(&[]);
        Some(message)
    })
}

/// The value of an attribute among `octets`.
pub(super) fn attribute(mut octets: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let half = |at: usize| Some(u16::from_ne_bytes(octets.get(at..at + 2)?.try_into().ok()?));
        let (len, found) = (usize::from(half(0)?), half(2)?);
        let value = octets.get(4..len)?;
        if found == kind {
            return Some(value);
        }
        octets = octets.get(len.next_multiple_of(4)..)?;
    }
}

/// The error number in the acknowledgment of message `sequence`, 0 for none.
fn acknowledgment(octets: &[u8], sequence: u32) -> Option<i32> {
    const ERROR: u16 = 2;
    let kind = u16::from_ne_bytes(octets.get(4..6)?.try_into().ok()?);
    let of = u32::from_ne_bytes(octets.get(8..12)?.try_into().ok()?);
    let error = i32::from_ne_bytes(octets.get(16..20)?.try_into().ok()?);
    (kind == ERROR && of == sequence).then_some(-error)
}

fn family(ip: IpAddr) -> u8 {
    let family = if ip.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    family as u8
}

fn bits(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

/// A message, or the attributes of a nested one.
#[derive(Default)]
pub(super) struct Message {
    pub(super) octets: Vec<u8>,
}

impl Message {
    pub(super) fn new(kind: u16, flags: u16) -> Message {
        const REQUEST_AND_ACK: u16 = 1 | 4;
        let mut message = Message { octets: vec![0; 4] };
        message.octets(&kind.to_ne_bytes()).octets(&(flags | REQUEST_AND_ACK).to_ne_bytes());
        message.word(0).word(0);
        message
    }

    pub(super) fn octets(&mut self, octets: &[u8]) -> &mut Message {
        self.octets.extend_from_slice(octets);
        self
    }

    pub(super) fn word(&mut self, word: u32) -> &mut Message {
        self.octets(&word.to_ne_bytes())
    }

    pub(super) fn attribute(&mut self, kind: u16, value: &[u8]) -> &mut Message {
        let len = 4 + value.len() as u16;
        self.octets(&len.to_ne_bytes()).octets(&kind.to_ne_bytes()).octets(value);
        self.octets.resize(self.octets.len().next_multiple_of(4), 0);
        self
    }

    /// A `struct tcmsg`: the discipline at the root of a device.
    fn traffic_control(&mut self, device: u32) -> &mut Message {
        const ROOT: u32 = u32::MAX;
        self.octets(&[0, 0, 0, 0]).word(device).word(0).word(ROOT).word(0)
    }

    pub(super) fn address(&mut self, kind: u16, ip: IpAddr) -> &mut Message {
        match ip {
            IpAddr::V4(ip) => self.attribute(kind, &ip.octets()),
            IpAddr::V6(ip) => self.attribute(kind, &ip.octets()),
        }
    }

    /// The message with its length and sequence number.
    fn finish(mut self, sequence: u32) -> Vec<u8> {
        let len = self.octets.len() as u32;
        self.octets[..4].copy_from_slice(&len.to_ne_bytes());
        self.octets[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_and_their_length_is_not() {
        let mut message = Message::new(NEWROUTE, CREATE);
        message.attribute(16, b"bbr\0x").attribute(4, &[1, 0, 0, 0]);
        let octets = message.finish(7);
        let number = |at: usize| u32::from_ne_bytes(octets[at..at + 4].try_into().unwrap());
        assert_eq!((number(0) as usize, number(8)), (octets.len(), 7));
        assert_eq!(octets.len(), 16 + 12 + 8);
        assert_eq!(u16::from_ne_bytes([octets[16], octets[17]]), 9);
    }

    #[test]
    fn attributes_and_messages_are_found_in_any_octets() {
        let mut message = Message::new(NEWROUTE, CREATE);
        message.attribute(16, b"bbr").attribute(4, &[1, 0, 0, 0]);
        let mut octets = message.finish(7);
        assert_eq!(attribute(&octets[16..], 16), Some(&b"bbr"[..]));
        assert_eq!(attribute(&octets[16..], 4), Some(&[1, 0, 0, 0][..]));
        assert_eq!(attribute(&octets[16..], 5), None);
        assert_eq!(attribute(&[3, 0, 4, 0], 4), None, "shorter than its header");
        let one = octets.clone();
        octets.extend_from_slice(&one);
        octets.extend_from_slice(&[255, 0, 0]);
        assert_eq!(messages(&octets).collect::<Vec<_>>(), [&one[..], &one[..]]);
        assert_eq!(messages(&[0; 40]).count(), 0);
    }

    #[test]
    fn acknowledgments_are_found_in_any_octets() {
        let mut octets = [0; 36];
        octets[4..6].copy_from_slice(&2_u16.to_ne_bytes());
        octets[8..12].copy_from_slice(&9_u32.to_ne_bytes());
        octets[16..20].copy_from_slice(&(-17_i32).to_ne_bytes());
        assert_eq!(acknowledgment(&octets, 9), Some(17));
        assert_eq!(acknowledgment(&octets, 8), None);
        assert_eq!(acknowledgment(&octets[..18], 9), None);
        assert_eq!(acknowledgment(&[], 9), None);
    }
}
