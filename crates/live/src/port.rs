//! A TUN port: octets of a namespace's kernel to packets of the simulation and
//! back.

use anabranch_sim::NodeId;
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
    octets: Vec<u8>,
    /// The first packet that was not understood, and why.
    first_ignored: Option<ParseError>,
}

/// What a port counts, in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortCounters {
    /// From the host into the network.
    pub entered: u64,
    /// From the network to the host.
    pub left: u64,
    /// From the host, and not for this network: no IP packet, a fragment, a
    /// wrong checksum, or an address that nobody has.
    pub ignored: u64,
    /// For the host, which did not take them: the device is down.
    pub refused: u64,
}

/// What a read gave.
pub(crate) enum Read {
    Packet(Packet),
    /// Something came that is no packet of this network.
    Ignored,
    /// Nothing more for now.
    Empty,
}

/// More than any MTU.
const LARGEST: usize = 65_536;

impl Port {
    /// Of the interface `node`, whose device is `name` for messages.
    pub fn new(fd: OwnedFd, node: NodeId, name: String) -> Port {
        let counters = PortCounters::default();
        Port { fd, node, name, counters, octets: Vec::with_capacity(LARGEST), first_ignored: None }
    }

    /// The interface.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// What it is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it has counted.
    pub fn counters(&self) -> PortCounters {
        self.counters
    }

    /// Why the first of the ignored packets was.
    pub fn first_ignored(&self) -> Option<ParseError> {
        self.first_ignored
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// The next packet from the host.
    pub(crate) fn read(&mut self, book: &AddressBook) -> Result<Read, Errno> {
        self.octets.resize(LARGEST, 0);
        let len = match rustix::io::read(&self.fd, &mut self.octets[..]) {
            Ok(len) => len,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(Read::Empty),
            Err(error) => return Err(error),
        };
        match Packet::parse(&self.octets[..len], book) {
            Ok(packet) => {
                self.counters.entered += 1;
                Ok(Read::Packet(packet))
            }
            Err(error) => {
                self.counters.ignored += 1;
                self.first_ignored.get_or_insert(error);
                Ok(Read::Ignored)
            }
        }
    }

    /// A packet for the host.
    pub(crate) fn write(&mut self, packet: &Packet, book: &AddressBook) -> Result<(), Errno> {
        self.octets.clear();
        if packet.emit(book, &mut self.octets).is_err() {
            self.counters.refused += 1;
            return Ok(());
        }
        match rustix::io::write(&self.fd, &self.octets) {
            Ok(_) => self.counters.left += 1,
            Err(Errno::BADFD | Errno::NODEV) => return Err(Errno::NODEV),
            // EIO: the device is down; EAGAIN, ENOBUFS: the host is short of
            // memory. What a wire would lose is lost.
            Err(_) => self.counters.refused += 1,
        }
        Ok(())
    }
}
