//! A TUN port: octets of a namespace's kernel to packets of the simulation and
//! back.

use crate::sys::netlink::Netlink;
use anabranch_sim::NodeId;
use anabranch_units::Time;
use anabranch_wire::offload::{DeviceHeader, Packets, Train};
use anabranch_wire::{AddressBook, Packet, ParseError};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// The device of an interface of a host outside.
#[derive(Debug)]
pub struct Port {
    fd: OwnedFd,
    node: NodeId,
    name: String,
    counters: PortCounters,
    /// Buffer of what was read last, as long as the longest packet.
    received: Vec<u8>,
    /// Buffer for what is written to the device.
    sent: Vec<u8>,
    /// Segments for the host that are taken together, where they are.
    gathering: Option<Box<Gathering>>,
    /// Why the first packet that was not understood was not.
    first_ignored: Option<ParseError>,
    /// Why the first packet that the host did not take was not taken.
    first_refused: Option<String>,
    /// The kernel's counter of what it could not give us, and the device's number.
    kernel: Option<(Netlink, u32)>,
}

/// What a port counts, in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortCounters {
    /// Packets from the host that entered the network.
    pub entered: u64,
    /// Packets from the network that the host took.
    pub left: u64,
    /// Packets from the host that are not for this network: no IP packet, a fragment, a wrong
    /// checksum, or an address that nobody has.
    pub ignored: u64,
    /// Packets for the host that it did not take: the device is down, or the host short of memory.
    pub refused: u64,
    /// Packets from the host that were lost in front of the port: the queue of the device was full,
    /// because the loop was away. Known at the end of a run.
    pub overrun: u64,
}

/// Segments that leave together.
#[derive(Debug, Default)]
struct Gathering {
    train: Option<Train>,
    /// Times at which each of them left the network.
    dates: Vec<Time>,
}

/// More than any packet of IP, and the header before it.
const LARGEST: usize = DeviceHeader::LEN + 65_536;

impl Port {
    /// Makes the port of the interface `node`, whose device is `name` for messages.
    pub fn new(fd: OwnedFd, node: NodeId, name: String) -> Port {
        let counters = PortCounters::default();
        let (received, sent, gathering) = (vec![0; LARGEST], Vec::new(), None);
        let (first_ignored, first_refused, kernel) = (None, None, None);
        Port {
            fd,
            node,
            name,
            counters,
            received,
            sent,
            gathering,
            first_ignored,
            first_refused,
            kernel,
        }
    }

    /// Lets the kernel count at `device` what is lost in front of the port.
    pub(crate) fn counted_by(self, kernel: Netlink, device: u32) -> Port {
        Port { kernel: Some((kernel, device)), ..self }
    }

    /// Lets the port hand over TCP segments that leave together as one, as a network card with
    /// receive offload.
    pub(crate) fn gathering(self) -> Port {
        Port { gathering: Some(Box::default()), ..self }
    }

    /// Segments wait for [`Port::flush`].
    pub(crate) fn is_gathering(&self) -> bool {
        self.gathering.as_ref().is_some_and(|gathering| gathering.train.is_some())
    }

    /// Returns the node of the interface.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Returns the name of the port for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the port has counted.
    pub fn counters(&self) -> PortCounters {
        self.counters
    }

    /// Why the first of the ignored packets was.
    pub fn first_ignored(&self) -> Option<ParseError> {
        self.first_ignored
    }

    /// Why the first of the refused packets was.
    pub fn first_refused(&self) -> Option<&str> {
        self.first_refused.as_deref()
    }

    /// Asks the kernel what it counted; a device that is gone has taken its
    /// counters along.
    pub(crate) fn ask_kernel(&mut self) {
        if let Some((kernel, device)) = &mut self.kernel {
            self.counters.overrun = kernel.lost(*device).unwrap_or(self.counters.overrun);
        }
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Reads on: how many octets came from the host, `None` when there is nothing
    /// more for now.
    pub(crate) fn read(&mut self) -> Result<Option<usize>, Errno> {
        match rustix::io::read(&self.fd, &mut self.received[..]) {
            Ok(len) => Ok(Some(len)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The packets of the last read, which gave `len` octets: one, or the TCP
    /// segments that the kernel has not cut. `None`: it is no packet of this
    /// network.
    pub(crate) fn packets(&mut self, len: usize, book: &AddressBook) -> Option<Packets<'_>> {
        let parsed = DeviceHeader::split(&mut self.received[..len])
            .map_err(ParseError::from)
            .and_then(|(header, octets)| Packet::parse_from_device(header, octets, book));
        match parsed {
            Ok(packets) => {
                self.counters.entered += packets.len() as u64;
                Some(packets)
            }
            Err(error) => {
                self.counters.ignored += 1;
                self.first_ignored.get_or_insert(error);
                None
            }
        }
    }

    /// A packet for the host, which left the network at `at`. `left` hears of that
    /// date once the packet is written or refused: at once, or where segments are
    /// taken together with a later one, at the latest with [`Port::flush`].
    pub(crate) fn write(
        &mut self,
        packet: &Packet,
        at: Time,
        book: &AddressBook,
        left: &mut impl FnMut(Time),
    ) -> Result<(), Errno> {
        if let Some(gathering) = &mut self.gathering {
            if gathering.train.as_mut().is_some_and(|train| train.join(packet, &mut self.sent)) {
                gathering.dates.push(at);
                return Ok(());
            }
            self.flush(left)?;
        }
        self.sent.clear();
        let emitted = match &mut self.gathering {
            None => packet.emit_for_device(book, &mut self.sent),
            Some(gathering) => {
                Train::begin(packet, book, &mut self.sent).map(|train| gathering.train = train)
            }
        };
        if let Err(error) = emitted {
            self.refuse(1, || error.to_string());
        } else if let Some(gathering) = &mut self.gathering
            && gathering.train.is_some()
        {
            gathering.dates.push(at);
            return Ok(());
        } else {
            self.hand_over(1)?;
        }
        left(at);
        Ok(())
    }

    /// Writes what waits for more.
    pub(crate) fn flush(&mut self, left: &mut impl FnMut(Time)) -> Result<(), Errno> {
        let waiting = self.gathering.as_mut().and_then(|gathering| gathering.train.take());
        if let Some(train) = waiting {
            let packets = train.finish(&mut self.sent);
            self.hand_over(packets.into())?;
            self.gathering
                .iter_mut()
                .flat_map(|gathering| gathering.dates.drain(..))
                .for_each(left);
        }
        Ok(())
    }

    /// Writes so many packets, as one.
    fn hand_over(&mut self, packets: u64) -> Result<(), Errno> {
        match rustix::io::write(&self.fd, &self.sent) {
            Ok(_) => self.counters.left += packets,
            Err(Errno::BADFD | Errno::NODEV) => return Err(Errno::NODEV),
            // EIO: the device is down; EAGAIN, ENOBUFS: the host is short of
            // memory. What a wire would lose is lost.
            Err(Errno::IO) => self.refuse(packets, || "the device is down".into()),
            Err(error) => self.refuse(packets, || std::io::Error::from(error).to_string()),
        }
        Ok(())
    }

    #[cold]
    fn refuse(&mut self, packets: u64, why: impl FnOnce() -> String) {
        self.counters.refused += packets;
        self.first_refused.get_or_insert_with(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::{Serial32, Span};
    use anabranch_wire::{Addr, Body, Payload, TcpFlags, TcpOptions, TcpSegment};
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    fn datagram(from: u32) -> Packet {
        let body = Body::Other { protocol: 17, payload: Payload::virtual_of(1000) };
        Packet::new(Addr(from), Addr(1), body)
    }

    /// A host that does not take what it is given, for a while: what comes
    /// meanwhile is lost and counted, and nobody waits.
    #[test]
    fn what_a_full_host_does_not_take_is_lost_and_counted() {
        let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::NONBLOCK);
        let (ours, hosts) = socketpair(AddressFamily::UNIX, kind, flags, None).unwrap();
        let book = AddressBook::new();
        let mut port = Port::new(ours, NodeId(0), "tun0 of a".into());
        while port.counters().refused < 3 {
            port.write(&datagram(0), Time::ZERO, &book, &mut |_| ()).unwrap();
        }
        let taken = port.counters().left;
        assert!(taken > 0 && port.first_refused().unwrap().contains("temporarily unavailable"));
        let mut octets = [0; 2000];
        for _ in 0..taken {
            assert_eq!(rustix::io::read(&hosts, &mut octets), Ok(DeviceHeader::LEN + 1020));
        }
        port.write(&datagram(0), Time::ZERO, &book, &mut |_| ()).unwrap();
        assert_eq!((port.counters().left, port.counters().refused), (taken + 1, 3));
    }

    /// An address that the book has no IP address for, of the family that the
    /// other has.
    #[test]
    fn what_has_no_octets_is_refused_by_its_reason() {
        let (ours, _hosts) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::NONBLOCK, None)
                .unwrap();
        let mut book = AddressBook::new();
        book.insert(Addr(7), "fd00::7".parse().unwrap()).unwrap();
        let mut port = Port::new(ours, NodeId(0), "tun0 of a".into());
        port.write(&datagram(7), Time::ZERO, &book, &mut |_| ()).unwrap();
        assert_eq!(port.counters(), PortCounters { refused: 1, ..PortCounters::default() });
        assert!(port.first_refused().is_some());
    }

    /// Two segments, another one that tells something else, and the end of a round.
    #[test]
    fn segments_that_leave_together_are_handed_over_as_one() {
        let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::NONBLOCK);
        let (ours, host) = socketpair(AddressFamily::UNIX, kind, flags, None).unwrap();
        let book = AddressBook::new();
        let mut port = Port::new(ours, NodeId(0), "tun0 of a".into()).gathering();
        let segment = |seq: u32, window: u16| {
            let body = Body::Tcp(TcpSegment {
                src_port: 1,
                dst_port: 2,
                seq: Serial32(seq),
                ack: Serial32(1),
                flags: TcpFlags::ACK,
                window,
                urgent: 0,
                options: TcpOptions::default(),
                payload: Payload::of_octets(vec![7; 1000]),
            });
            Packet::new(Addr(0), Addr(1), body)
        };
        let mut left = Vec::new();
        let mut hear = |at: Time| left.push(at.as_nanos());
        let dates = [1, 2, 3].map(|nanos| Time::ZERO + Span::from_nanos(nanos));
        let packets = [segment(0, 9), segment(1000, 9), segment(2000, 8)];
        for (packet, at) in packets.iter().zip(dates) {
            port.write(packet, at, &book, &mut hear).unwrap();
        }
        assert_eq!(port.counters().left, 2, "the third does not continue the first two");
        port.flush(&mut hear).unwrap();
        port.flush(&mut hear).unwrap();
        assert_eq!((left, port.counters().left), (vec![1, 2, 3], 3));
        let mut octets = [0; 4000];
        let lengths = [(); 2].map(|()| rustix::io::read(&host, &mut octets).unwrap());
        assert_eq!(lengths, [DeviceHeader::LEN + 2040, DeviceHeader::LEN + 1040]);
    }
}
