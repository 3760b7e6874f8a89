//! A script's run: the program, its sockets and the addresses that its packets get.

use super::layout::Layout;
use super::program::{Ask, Program, Reply, Request, Sent};
use crate::network::Addresses;
use anabranch_packetdrill::script::Call;
use anabranch_packetdrill::stack::{IpVersion, LOCAL, Network, REMOTE};
use anabranch_units::Time;
use anabranch_wire::{Body, Ecn, Packet, Payload, SctpPacket};
use std::collections::BTreeMap;

/// MTU where the script says nothing.
const MTU: u32 = 1500;
const IPV4: u32 = 20;
const IPV6: u32 = 40;

/// A socket as this side knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Socket {
    pub one_to_many: bool,
    pub blocking: bool,
    /// A message comes with `struct sctp_rcvinfo`, with `struct sctp_nxtinfo`, with
    /// `struct sctp_sndrcvinfo`, or with `struct sctp_extrcvinfo` in its place.
    pub info: bool,
    pub next: bool,
    pub old_info: bool,
    pub extended: bool,
}

/// What there is once the network is known.
#[derive(Debug)]
pub(super) struct Run {
    program: Program,
    pub layout: Layout,
    pub addresses: Addresses,
    pub sockets: BTreeMap<i64, Socket>,
    /// The call that waits for usrsctp.
    pub pending: Option<Call>,
    /// What IP leaves of the MTU.
    pub mtu: u32,
    /// What went wrong with the program.
    pub ended: Option<String>,
    /// Why the script does not apply.
    pub lack: Option<String>,
}

impl Run {
    /// Starts a program.
    ///
    /// # Errors
    /// What is wrong about the network, or missing from the machine.
    pub fn new(network: &Network) -> Result<Run, String> {
        let addresses = Addresses::new(network)?;
        let mut program = Program::start()?;
        let layout = program.ask(Time::ZERO, Request::of(Ask::Layout, -1))?;
        let layout = Layout::parse(&String::from_utf8_lossy(&layout.octets));
        let mut run = Run {
            program,
            layout,
            addresses,
            sockets: BTreeMap::new(),
            pending: None,
            mtu: 0,
            ended: None,
            lack: None,
        };
        run.set_mtu(network.mtu.unwrap_or(MTU));
        Ok(run)
    }

    /// Packets of sockets that are made from now on fit an MTU, with a header of IP.
    pub fn set_mtu(&mut self, mtu: u32) {
        let header = if self.addresses.version == IpVersion::V6 { IPV6 } else { IPV4 };
        self.mtu = mtu.saturating_sub(header);
    }

    /// Asks the program.
    ///
    /// # Errors
    /// It has ended, which is kept.
    pub fn ask(&mut self, now: Time, request: Request<'_>) -> Result<Reply, String> {
        let reply = self.program.ask(now, request);
        if let Err(reason) = &reply {
            self.ended.get_or_insert_with(|| reason.clone());
        }
        reply
    }

    /// A socket was made, if `number` is one.
    pub fn enter(&mut self, number: i64, socket: Socket) {
        if number >= 0 {
            self.sockets.insert(number, socket);
        }
    }

    /// The descriptor of the call that waits.
    pub fn watched(&self) -> i64 {
        let fd = |call: &Call| call.arguments.first().and_then(|argument| argument.number());
        self.pending.as_ref().and_then(fd).unwrap_or(-1)
    }

    /// Gives the stack a packet, without its header of IP.
    pub fn inject(&mut self, now: Time, packet: &Packet) {
        match &packet.body {
            Body::Sctp(sctp) if sctp.udp.is_none() => {}
            Body::Other { protocol: SctpPacket::PROTOCOL, .. } => {}
            Body::Sctp(_) => return self.lacks("SCTP in UDP"),
            Body::Icmp(_) => return self.lacks("ICMP"),
            _ => return self.lacks("packets of another protocol than SCTP"),
        }
        let mut octets = Vec::new();
        if packet.emit(&self.addresses.book, &mut octets).is_err() {
            return self.lacks("a second address of the peer");
        }
        let header =
            if octets[0] >> 4 == 6 { IPV6 as usize } else { (octets[0] & 15) as usize * 4 };
        let numbers = [packet.ecn as i64, 0, 0];
        let octets = &octets[header..];
        _ = self.ask(now, Request { numbers, octets, ..Request::of(Ask::Input, -1) });
    }

    fn lacks(&mut self, what: &str) {
        self.lack.get_or_insert_with(|| format!("{what}: usrsctp runs without IP here (AF_CONN)"));
    }

    /// The next packet that the stack has sent, with a header of IP.
    pub fn take_sent(&mut self) -> Option<Packet> {
        let Sent { tos, octets } = self.program.sent.pop_front()?;
        let payload = Payload::of_octets(octets);
        let body = Body::Other { protocol: SctpPacket::PROTOCOL, payload };
        let mut packet = Packet::new(LOCAL, REMOTE, body);
        (packet.dscp, packet.ecn) = (tos >> 2, Ecn::from_bits(tos));
        let mut octets = Vec::new();
        match packet.emit(&self.addresses.book, &mut octets) {
            // What is none of SCTP stays as it is.
            Ok(()) => Some(Packet::parse(&octets, &self.addresses.book).unwrap_or(packet)),
            Err(_) => Some(packet),
        }
    }

    /// Packets wait to be taken.
    pub fn has_sent(&self) -> bool {
        !self.program.sent.is_empty()
    }
}
