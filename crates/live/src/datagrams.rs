//! A UDP socket of a host's kernel as an endpoint: each message of an application is one datagram,
//! whose number stands in it as [`Framing`] says. Its packets are the kernel's and cross the network
//! by themselves.
//!
//! Both ends are connected, so that the kernel gives a socket what comes from its peer alone, and
//! tells it of ICMP errors (RFC 1122 §4.1.3.3), which are counted.

use crate::drive::Ready;
use crate::error::Doing;
use crate::reactor::{Reactor, Token};
use crate::{LiveError, Namespace};
use anabranch_endpoint::message::{Incoming, Outgoing, Refusal};
use anabranch_endpoint::{
    ByteStream, CloseReason, Demultiplex, Endpoint, Event, HalfClose, MessageOriented, Messages,
    Observation, Observe, Progress, TemporalSharing, TimeWait,
};
use anabranch_udp::{Framing, Reader};
use anabranch_units::Time;
use anabranch_wire::{FlowKey, Packet, UdpDatagram};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, connect, recv, send,
    socket_with,
};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

/// An endpoint that stands for a UDP socket of the kernel in a host outside.
#[derive(Debug)]
pub struct KernelDatagrams {
    key: FlowKey,
    /// `None` once it was closed.
    fd: Option<OwnedFd>,
    framing: Framing,
    reader: Reader,
    events: VecDeque<Event>,
    connected: bool,
    wants_to_write: bool,
    /// Buffer of the datagram that is written or read.
    buffer: Vec<u8>,
    sent: u64,
    received: u64,
    octets_received: u64,
    /// Datagrams of another kind, and errors that the kernel told of.
    strange: u64,
    errors: u64,
}

impl KernelDatagrams {
    /// A socket in `namespace` between these addresses; the numbers that it reads begin near `first`.
    ///
    /// # Errors
    /// The kernel's.
    #[expect(clippy::too_many_arguments, reason = "what a socket is")]
    pub fn new(
        namespace: &Namespace,
        reactor: &Reactor,
        token: Token,
        key: FlowKey,
        local: SocketAddr,
        remote: SocketAddr,
        framing: Framing,
        first: u32,
    ) -> Result<KernelDatagrams, LiveError> {
        let fd = namespace.inside(|| make(local, remote))?;
        reactor.add_edges(&fd, token).doing(format!("waiting for datagrams at {local}"))?;
        Ok(KernelDatagrams {
            key,
            fd: Some(fd),
            framing,
            reader: Reader::new(framing, first),
            events: VecDeque::new(),
            connected: false,
            wants_to_write: false,
            buffer: vec![0; UdpDatagram::MOST_DATA as usize + 1],
            sent: 0,
            received: 0,
            octets_received: 0,
            strange: 0,
            errors: 0,
        })
    }

    fn open(&mut self) {
        if !std::mem::replace(&mut self.connected, true) {
            self.events.push_back(Event::Connected);
        }
    }

    fn end(&mut self, reason: CloseReason) {
        if self.fd.take().is_some() {
            self.events.push_back(Event::Closed(reason));
        }
    }
}

fn make(local: SocketAddr, remote: SocketAddr) -> Result<OwnedFd, LiveError> {
    let family = if local.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = socket_with(family, SocketType::DGRAM, flags, None).doing("a UDP socket")?;
    bind(&fd, &local).doing(format!("binding a UDP socket to {local}"))?;
    connect(&fd, &remote).doing(format!("connecting a UDP socket to {remote}"))?;
    Ok(fd)
}

impl Ready for KernelDatagrams {
    fn ready(&mut self, _now: Time) {
        if self.fd.is_some() {
            self.events.push_back(Event::Readable);
            if std::mem::take(&mut self.wants_to_write) {
                self.events.push_back(Event::Writable);
            }
        }
    }
}

impl Messages for KernelDatagrams {
    fn send_message(&mut self, message: Outgoing) -> Result<(), Refusal> {
        let Some(fd) = &self.fd else { return Err(Refusal::Never) };
        let datagram = self.framing.datagram(&message, self.key.src_port, self.key.dst_port);
        let mut data = Vec::with_capacity(datagram.data_len() as usize);
        datagram.write_data(&mut data);
        match send(fd, &data, SendFlags::NOSIGNAL) {
            Ok(_) => {
                self.sent += 1;
                Ok(())
            }
            Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => {
                self.wants_to_write = true;
                Err(Refusal::Full)
            }
            // An error about a datagram before, which the kernel tells once: this one was not sent.
            Err(_) => {
                self.errors += 1;
                Ok(())
            }
        }
    }

    fn receive_message(&mut self) -> Option<Incoming> {
        loop {
            let fd = self.fd.as_ref()?;
            match recv(fd, &mut self.buffer[..], RecvFlags::empty()) {
                Ok((len, _)) => {
                    let data = &self.buffer[..len];
                    let (src, dst) = (self.key.dst_port, self.key.src_port);
                    let datagram = UdpDatagram::of_octets(src, dst, data);
                    let Some(message) = self.reader.message(&datagram) else {
                        self.strange += 1;
                        continue;
                    };
                    self.received += 1;
                    self.octets_received += len as u64;
                    // A server is connected from the first datagram on.
                    self.open();
                    return Some(message);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return None,
                Err(_) => {
                    self.errors += 1;
                    return None;
                }
            }
        }
    }
}

impl Endpoint for KernelDatagrams {
    /// Does nothing: the kernel has the packet already.
    fn handle_input(&mut self, _now: Time, _packet: &Packet) {}

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        None
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }
}

impl ByteStream for KernelDatagrams {
    fn connect(&mut self, _now: Time) {
        self.open();
    }

    fn write(&mut self, _len: u64) -> u64 {
        0
    }

    fn write_octets(&mut self, _octets: &[u8]) -> usize {
        0
    }

    fn read(&mut self, _max: u64) -> u64 {
        0
    }

    fn read_octets(&mut self, _buf: &mut [u8]) -> usize {
        0
    }

    fn close(&mut self) {
        self.end(CloseReason::Normal);
    }

    fn abort(&mut self) {
        self.end(CloseReason::Aborted);
    }
}

impl HalfClose for KernelDatagrams {
    fn has_half_close(&self) -> bool {
        false
    }
}

impl MessageOriented for KernelDatagrams {
    fn messages(&mut self) -> Option<&mut dyn Messages> {
        Some(self)
    }
}

impl Observe for KernelDatagrams {
    fn observe(&self) -> Observation {
        Observation {
            bytes_received: self.octets_received,
            packets_sent: self.sent,
            ..Observation::default()
        }
    }

    fn status(&self) -> String {
        let KernelDatagrams { sent, received, strange, errors, .. } = self;
        format!(
            "{sent} datagrams sent, {received} received, {strange} of another kind, {errors} errors"
        )
    }
}

impl Demultiplex for KernelDatagrams {
    fn flow_key(&self) -> FlowKey {
        self.key
    }
}

impl TemporalSharing for KernelDatagrams {}
impl TimeWait for KernelDatagrams {}
impl Progress for KernelDatagrams {}
