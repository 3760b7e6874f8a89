//! Addresses that come and go: ASCONF and ASCONF-ACK (RFC 5061).
//!
//! One ASCONF of a side is outstanding at a time (§5.1), with one change. A new
//! address of the peer carries data once a heartbeat on it was answered (RFC 9260
//! §5.4). What was outstanding on a path that goes is sent again on another.
//! Indices of paths behind it move up.

use super::{Association, Notification};
use crate::cookie::MAX_ADDRESSES;
use crate::extensions::Extensions;
use crate::path::{Path, PathState};
use anabranch_endpoint::Timer;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::{Address, AddressChange, Cause, Chunk, Parameter};
use anabranch_wire::{Addr, Packet};
use std::collections::VecDeque;
use std::fmt;

/// Why a change of the addresses was not begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressError {
    /// Both sides must offer `dynamic_addresses`, and the association must be
    /// established.
    NotAvailable,
    /// The address is ours already, or is not ours.
    Unfit(Addr),
    /// It is the last one.
    Last,
    /// Too many changes wait.
    TooMany,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddressError::NotAvailable => f.write_str("addresses cannot be changed now"),
            AddressError::Unfit(addr) => write!(f, "address {} cannot be changed so", addr.0),
            AddressError::Last => f.write_str("the last address must stay"),
            AddressError::TooMany => f.write_str("too many changes wait"),
        }
    }
}
impl std::error::Error for AddressError {}

/// Causes of §4.3: the low octets of their codes.
mod refusal {
    pub const LAST: u8 = 0xa0;
    pub const RESOURCES: u8 = 0xa1;
    pub const SOURCE: u8 = 0xa2;
}

/// Changes that wait, at most.
const MAX_WISHES: usize = 16;

/// What exists once addresses were to be changed.
#[derive(Debug)]
pub(super) struct Addresses {
    /// Number of our next ASCONF, or of the one outstanding.
    serial: Serial32,
    /// Number of the peer's next.
    expected: Serial32,
    /// The ASCONF that is outstanding.
    asked: Option<Chunk>,
    /// Changes that we want, the outstanding one first.
    wishes: VecDeque<(AddressChange, Addr)>,
    /// Our last ASCONF-ACK.
    answered: Option<Chunk>,
    /// T4-rto.
    pub timer: Timer,
}

impl Association {
    /// Tells the peer that this side has one more address: packets to it are
    /// taken from now on. [`Notification::AddressChanged`] follows.
    ///
    /// # Errors
    /// See [`AddressError`].
    pub fn add_address(&mut self, addr: Addr) -> Result<(), AddressError> {
        if self.local.contains(&addr) {
            return Err(AddressError::Unfit(addr));
        }
        self.wish_address(AddressChange::Add, addr)?;
        self.local.push(addr);
        Ok(())
    }

    /// Tells the peer that an address of this side goes. Nothing leaves from it
    /// any more; packets to it are taken until the peer has answered.
    ///
    /// # Errors
    /// See [`AddressError`].
    pub fn delete_address(&mut self, addr: Addr) -> Result<(), AddressError> {
        if !self.local.contains(&addr) {
            return Err(AddressError::Unfit(addr));
        }
        let going = |addr: &Addr| self.is_going(*addr);
        let Some(other) = self.local.iter().copied().find(|own| *own != addr && !going(own)) else {
            return Err(AddressError::Last);
        };
        self.wish_address(AddressChange::Delete, addr)?;
        for path in self.paths.iter_mut().filter(|path| path.local == addr) {
            path.local = other;
        }
        Ok(())
    }

    /// Asks the peer to send to this address of ours first.
    ///
    /// # Errors
    /// See [`AddressError`].
    pub fn set_peer_primary(&mut self, addr: Addr) -> Result<(), AddressError> {
        if !self.local.contains(&addr) {
            return Err(AddressError::Unfit(addr));
        }
        self.wish_address(AddressChange::SetPrimary, addr)
    }

    /// The own address that packets to a new address of the peer leave from. One that the peer
    /// has not taken yet must not be used (§5.1 D4): whoever does not know it aborts.
    fn source_for(&self, remote: Addr, index: usize) -> Addr {
        let wishes = || self.addresses.iter().flat_map(|addresses| &addresses.wishes);
        let is_new = |own| wishes().any(|wish| *wish == (AddressChange::Add, own));
        let usable = |own: &Addr| self.local.contains(own) && !is_new(*own);
        let usual = self.sources.iter().find(|pair| pair.0 == remote).map(|pair| pair.1);
        let others = self.local.iter().cycle().skip(index % self.local.len());
        let mut others = others.copied().take(self.local.len());
        usual.filter(usable).or_else(|| others.find(usable)).unwrap_or(self.local[0])
    }

    /// The peer has taken this address of ours: paths that should leave from it do.
    fn use_source(&mut self, now: Time, own: Addr) {
        for index in 0..self.paths.len() {
            let path = &mut self.paths[index];
            if path.local != own && self.sources.contains(&(path.remote, own)) {
                path.local = own;
                if path.state == PathState::Unconfirmed {
                    path.errors = 0;
                    self.probe(now, index);
                }
            }
        }
    }

    pub(super) fn is_going(&self, addr: Addr) -> bool {
        let wishes = self.addresses.iter().flat_map(|addresses| &addresses.wishes);
        wishes.clone().any(|wish| *wish == (AddressChange::Delete, addr))
    }

    fn wish_address(&mut self, change: AddressChange, addr: Addr) -> Result<(), AddressError> {
        if !self.extensions.has(Extensions::ADDRESSES) || !self.state.may_receive() {
            return Err(AddressError::NotAvailable);
        }
        let addresses = self.addresses();
        if addresses.wishes.len() == MAX_WISHES {
            return Err(AddressError::TooMany);
        }
        addresses.wishes.push_back((change, addr));
        Ok(())
    }

    pub(super) fn addresses(&mut self) -> &mut Addresses {
        // §5.1 C1: the first number is the initial TSN.
        let (serial, expected) = (self.local_origin.add(1), self.peer_origin.add(1));
        self.addresses.get_or_insert_with(|| {
            let (wishes, timer) = (VecDeque::new(), Timer::IDLE);
            Box::new(Addresses { serial, expected, asked: None, wishes, answered: None, timer })
        })
    }

    /// Sends the next ASCONF, if none is outstanding.
    pub(super) fn change_addresses(&mut self, now: Time) {
        let Some(addresses) = &self.addresses else { return };
        let (None, Some((change, addr))) = (&addresses.asked, addresses.wishes.front().copied())
        else {
            return;
        };
        let serial = addresses.serial;
        // §4.1.1: an address of the association, by which the peer finds it.
        let known = self.local.iter().copied().find(|own| *own != addr);
        let parameters = vec![
            Parameter::Address(known.unwrap_or(addr).into()),
            Parameter::ChangeAddress { change, correlation: serial.0, address: addr.into() },
        ];
        let asconf = Chunk::Asconf { serial, parameters };
        self.addresses().asked = Some(asconf);
        self.send_asconf(now);
    }

    fn send_asconf(&mut self, now: Time) {
        let path = self.data_path();
        let rto = self.paths[path].rtt.rto();
        let Some(addresses) = &mut self.addresses else { return };
        addresses.timer.stop();
        if let Some(asconf) = addresses.asked.clone() {
            addresses.timer.set(now + rto);
            let packet = self.packet(path, asconf);
            self.outbox.push_back(packet);
        }
    }

    /// T4-rto expired (§5.1 B): an error of the path, and the same again.
    pub(super) fn on_t4(&mut self, now: Time) {
        let path = self.data_path();
        self.paths[path].rtt.on_timeout();
        self.on_path_error(now, path);
        self.send_asconf(now);
    }

    /// ASCONF arrived, authenticated (§5.2).
    pub(super) fn on_asconf(
        &mut self,
        now: Time,
        packet: &Packet,
        serial: Serial32,
        parameters: &[Parameter],
    ) {
        if !self.extensions.has(Extensions::ADDRESSES) || !self.state.may_receive() {
            return;
        }
        let expected = self.addresses().expected;
        if serial == expected {
            let answers = parameters.iter().skip(1).filter_map(|p| self.answer_to(now, packet, p));
            let parameters = answers.collect();
            let addresses = self.addresses();
            addresses.answered = Some(Chunk::AsconfAck { serial, parameters });
            addresses.expected = expected.add(1);
        } else if serial.add(1) != expected {
            return; // §5.2 E
        }
        if let Some(answer) = self.addresses().answered.clone() {
            // §5.2 F: to where the ASCONF came from.
            let (port, tag) = (self.peer_port, self.peer_tag);
            let packet = self.packet_with(packet.dst, packet.src, port, tag, answer);
            self.outbox.push_back(packet);
        }
    }

    /// Makes one change; what refuses it, if anything does.
    fn answer_to(
        &mut self,
        now: Time,
        packet: &Packet,
        parameter: &Parameter,
    ) -> Option<Parameter> {
        let Parameter::ChangeAddress { change, correlation, address } = parameter else {
            return None;
        };
        let addr = match address {
            Address::Number(addr) => Some(*addr),
            // §5.3: the wildcard is the source of the packet.
            Address::Ip(ip) if ip.is_unspecified() => Some(packet.src),
            Address::Ip(_) => None,
        };
        let cause = |code| Cause::Asconf { code, parameter: [].into() };
        let refused = match addr {
            None => Some(Cause::UnresolvableAddress([].into())),
            Some(addr) => self.make_change(now, *change, addr, packet.src).err().map(cause),
        };
        refused.map(|cause| Parameter::ErrorIndication {
            correlation: *correlation,
            causes: vec![cause],
        })
    }

    fn make_change(
        &mut self,
        now: Time,
        change: AddressChange,
        addr: Addr,
        source: Addr,
    ) -> Result<(), u8> {
        match (change, self.path_of(addr)) {
            (AddressChange::Add, Some(_)) | (AddressChange::Delete, None) => Ok(()),
            (AddressChange::Add, None) => {
                if self.paths.len() >= MAX_ADDRESSES {
                    return Err(refusal::RESOURCES);
                }
                let index = self.paths.len();
                let own = self.source_for(addr, index);
                self.paths.push(Path::new(&self.config, own, addr, PathState::Unconfirmed));
                self.confirm(now, index);
                self.notify(Notification::PathsChanged);
                Ok(())
            }
            (AddressChange::Delete, Some(index)) => {
                if self.paths.len() == 1 {
                    return Err(refusal::LAST);
                }
                if addr == source {
                    return Err(refusal::SOURCE);
                }
                self.remove_path(index);
                Ok(())
            }
            (AddressChange::SetPrimary, Some(index)) => {
                self.set_primary(index);
                Ok(())
            }
            (AddressChange::SetPrimary, None) => Err(refusal::RESOURCES),
        }
    }

    /// An address of the peer is gone.
    fn remove_path(&mut self, index: usize) {
        let active = |i: &usize| *i != index && self.paths[*i].state == PathState::Active;
        let other = |i: &usize| *i != index;
        let all = 0..self.paths.len();
        let heir = all.clone().find(active).or_else(|| all.clone().find(other)).unwrap_or(0);
        self.flight.remove_path(index as u8, heir as u8, &mut self.paths);
        self.paths.remove(index);
        let moved = |path: usize| match path {
            path if path == index => heir - (heir > index) as usize,
            path => path - (path > index) as usize,
        };
        self.primary = moved(self.primary);
        self.standby.forget();
        self.shutdown_path = moved(self.shutdown_path);
        for way in [&mut self.arrival, &mut self.sack_way].into_iter().chain(&mut self.answer_way) {
            way.path = moved(way.path);
        }
        self.await_sack = false;
        self.notify(Notification::PathsChanged);
    }

    /// ASCONF-ACK arrived (§5.1 D).
    pub(super) fn on_asconf_ack(&mut self, now: Time, serial: Serial32, parameters: &[Parameter]) {
        let Some(addresses) = &mut self.addresses else { return };
        if addresses.asked.is_none() || addresses.serial != serial {
            return;
        }
        addresses.asked = None;
        addresses.timer.stop();
        addresses.serial = serial.add(1);
        let Some((change, address)) = addresses.wishes.pop_front() else { return };
        let refused = |p: &Parameter| {
            matches!(p, Parameter::ErrorIndication { correlation, .. }
            if *correlation == serial.0)
        };
        let accepted = !parameters.iter().any(refused);
        self.errors = 0;
        // What was refused is as it was before.
        if (change == AddressChange::Delete) == accepted && change != AddressChange::SetPrimary {
            self.local.retain(|own| *own != address);
        }
        let added = change == AddressChange::Add;
        if added && accepted {
            self.use_source(now, address);
        }
        self.notify(Notification::AddressChanged { address, added, accepted });
    }
}
