//! Addresses of both sides come and go by ASCONF and ASCONF-ACK (RFC 5061).
//!
//! One ASCONF of a side is outstanding at a time (§5.1), with one change. A new
//! address of the peer carries data once a heartbeat on it was answered (RFC 9260
//! §5.4). What was outstanding on a path that goes is sent again on another.
//! Indices of paths behind it move up.

use super::{Association, Notification};
use crate::control::addresses::{AddressError, Addresses, refusal};
use crate::cookie::MAX_ADDRESSES;
use crate::draft::Draft;
use crate::extensions::Extensions;
use crate::paths::path::Beginning;
use crate::route::Route;
use anabranch_endpoint::CloseReason;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::{Address, AddressChange, Cause, Parameter};
use anabranch_wire::{Addr, Packet};

impl Association {
    /// Tells the peer that this side has one more address: packets to it are
    /// taken from now on. [`Notification::AddressChanged`] follows.
    ///
    /// # Errors
    /// See [`AddressError`].
    pub fn add_address(&mut self, addr: Addr) -> Result<(), AddressError> {
        if self.paths.local.contains(&addr) {
            return Err(AddressError::Unfit(addr));
        }
        self.wish_address(AddressChange::Add, addr)?;
        self.paths.local.push(addr);
        Ok(())
    }

    /// Tells the peer that an address of this side goes. Nothing leaves from it any more, unless
    /// the peer has yet to take all the others; packets to it are taken until the peer has
    /// answered. If the peer refuses the others the address stays.
    ///
    /// # Errors
    /// See [`AddressError`].
    pub fn delete_address(&mut self, addr: Addr) -> Result<(), AddressError> {
        if !self.paths.local.contains(&addr) {
            return Err(AddressError::Unfit(addr));
        }
        let stays = |own: &Addr| *own != addr && !self.is_going(*own);
        let others: Vec<Addr> = self.paths.local.iter().copied().filter(stays).collect();
        if others.is_empty() {
            return Err(AddressError::Last);
        }
        let other = others.into_iter().find(|own| !self.is_coming(*own));
        self.wish_address(AddressChange::Delete, addr)?;
        if let Some(other) = other {
            let beginning = self.beginning();
            self.paths.replace_source(addr, other, &beginning);
        }
        Ok(())
    }

    /// Asks the peer to make this address of this side its primary path.
    ///
    /// # Errors
    /// See [`AddressError`].
    pub fn set_peer_primary(&mut self, addr: Addr) -> Result<(), AddressError> {
        if !self.paths.local.contains(&addr) {
            return Err(AddressError::Unfit(addr));
        }
        self.wish_address(AddressChange::SetPrimary, addr)
    }

    /// Makes the paths that should leave from this own address do so, as the peer has taken it.
    fn use_source(&mut self, now: Time, own: Addr) {
        let beginning = self.beginning();
        for index in self.paths.use_source(own, &beginning) {
            self.probe(now, index);
        }
    }

    /// Returns what congestion control begins with where the own address of a path changes.
    fn beginning(&self) -> Beginning {
        let (ssthresh, next) = (self.sender.window.largest(), self.sender.flight.next());
        Beginning { config: self.config.clone(), ssthresh, next }
    }

    /// Returns whether the own address is about to go.
    pub(super) fn is_going(&self, addr: Addr) -> bool {
        let addresses = self.control.addresses.as_ref();
        addresses.is_some_and(|addresses| addresses.is_wished(AddressChange::Delete, addr))
    }

    /// Returns whether the own address is one that the peer has not taken yet.
    pub(super) fn is_coming(&self, addr: Addr) -> bool {
        let addresses = self.control.addresses.as_ref();
        addresses.is_some_and(|addresses| addresses.is_wished(AddressChange::Add, addr))
    }

    fn wish_address(&mut self, change: AddressChange, addr: Addr) -> Result<(), AddressError> {
        if !self.extensions.has(Extensions::ADDRESSES) || !self.state().may_receive() {
            return Err(AddressError::NotAvailable);
        }
        self.addresses().wish(change, addr)
    }

    pub(super) fn addresses(&mut self) -> &mut Addresses {
        self.control.addresses((self.sender.origin.add(1), self.receiver.origin.add(1)))
    }

    /// Sends the next ASCONF, if none is outstanding.
    pub(super) fn change_addresses(&mut self, now: Time) {
        let addresses = self.control.addresses.as_mut();
        if addresses.is_some_and(|addresses| addresses.ask(&self.paths.local)) {
            self.send_asconf(now);
        }
    }

    fn send_asconf(&mut self, now: Time) {
        let path = self.paths.data_path();
        let rto = self.paths[path].rtt.rto();
        let addresses = self.control.addresses.as_mut();
        if let Some(asconf) = addresses.and_then(|addresses| addresses.send(path, now + rto)) {
            let packet = self.packet(path, asconf);
            self.control.outbox.push(packet);
        }
    }

    /// Handles the expiry of T4-rto (§5.1 B): it is an error of the path that the ASCONF took, and
    /// the same ASCONF leaves again.
    pub(super) fn on_t4(&mut self, now: Time) {
        let Some(addresses) = &mut self.control.addresses else { return };
        if !self.phase.state().may_change() {
            return addresses.timer.stop(); // §5.1.1 C4
        }
        let path = addresses.path();
        self.paths[path].rtt.on_timeout();
        self.on_path_error(now, path);
        self.send_asconf(now);
    }

    /// Handles an ASCONF, which is authenticated (§5.2).
    pub(super) fn on_asconf(
        &mut self,
        now: Time,
        packet: &Packet,
        serial: Serial32,
        parameters: &[Parameter],
    ) {
        if !self.extensions.has(Extensions::ADDRESSES) || !self.state().may_receive() {
            return;
        }
        if self.addresses().is_next(serial) {
            let answers = self.answers_to(now, packet, parameters.get(1..).unwrap_or(&[]));
            self.addresses().settle(serial, answers);
        }
        if let Some(answer) = self.addresses().answer(serial) {
            self.control.acks.push(answer);
        }
    }

    /// Sends all ASCONF-ACKs for a packet in one packet, to where the ASCONFs came from (§5.2 E6,
    /// F); those that it has no room for are kept, and answer the next copy (E7).
    pub(super) fn send_asconf_acks(&mut self, packet: &Packet) {
        let path = self.paths.find(packet.src).unwrap_or(self.paths.data_path());
        let mut draft = Draft::new(self.paths[path].room.chunk);
        for ack in std::mem::take(&mut self.control.acks) {
            if draft.chunks.is_empty() || ack.wire_len() <= draft.room {
                draft.push(ack);
            }
        }
        let from = self.source_of(Route { path, source: packet.dst });
        let (port, tag) = (self.identity.peer_port, self.identity.peer_tag);
        let answer = self.packet_with(from, packet.src, port, tag, draft.chunks);
        self.control.outbox.push(answer);
    }

    /// Makes the changes of an ASCONF in order. Returns what refuses some of them. Once an address
    /// was refused all later changes of addresses are (§5.3 F11).
    fn answers_to(
        &mut self,
        now: Time,
        packet: &Packet,
        parameters: &[Parameter],
    ) -> Vec<Parameter> {
        let (mut answers, mut refused) = (Vec::new(), false);
        for parameter in parameters {
            match parameter {
                Parameter::ChangeAddress { change, correlation, address } => {
                    let later = refused && *change != AddressChange::SetPrimary;
                    let result = match later {
                        true => Err(refusal::asconf(refusal::RESOURCES, parameter)),
                        false => self.answer_to(now, packet, (*change, *address), parameter),
                    };
                    if let Err(cause) = result {
                        refused |= *change != AddressChange::SetPrimary;
                        answers.push(refusal::indication(*correlation, cause));
                    }
                }
                Parameter::Unknown { kind, value } => {
                    let (answer, more) = refusal::unknown(*kind, value);
                    answers.extend(answer);
                    if !more {
                        break;
                    }
                }
                _ => {}
            }
        }
        answers
    }

    /// Makes one change. Returns the cause that refuses it, if one does.
    fn answer_to(
        &mut self,
        now: Time,
        packet: &Packet,
        (change, address): (AddressChange, Address),
        parameter: &Parameter,
    ) -> Result<(), Cause> {
        let result = match (address, change) {
            (Address::Number(addr), _) => self.make_change(now, change, addr, packet.src),
            // §4.2.2: all but the source of the packet.
            (Address::Ip(ip), AddressChange::Delete) if ip.is_unspecified() => {
                self.delete_all_but(packet.src)
            }
            // §5.3: the wildcard is the source of the packet.
            (Address::Ip(ip), _) if ip.is_unspecified() => {
                self.make_change(now, change, packet.src, packet.src)
            }
            (Address::Ip(ip), _) => return Err(refusal::unresolvable(ip)),
        };
        result.map_err(|code| refusal::asconf(code, parameter))
    }

    /// Removes all addresses of the peer but `source`.
    fn delete_all_but(&mut self, source: Addr) -> Result<(), u8> {
        if self.paths.find(source).is_none() {
            return Err(refusal::LAST);
        }
        while let Some(index) = self.paths.iter().position(|path| path.remote != source) {
            self.remove_path(index);
        }
        Ok(())
    }

    fn make_change(
        &mut self,
        now: Time,
        change: AddressChange,
        addr: Addr,
        source: Addr,
    ) -> Result<(), u8> {
        match (change, self.paths.find(addr)) {
            (AddressChange::Add, Some(_)) | (AddressChange::Delete, None) => Ok(()),
            (AddressChange::Add, None) => {
                if self.paths.len() >= MAX_ADDRESSES {
                    return Err(refusal::RESOURCES);
                }
                let addresses = self.control.addresses.as_ref();
                let is_known = |own: Addr| {
                    addresses.is_none_or(|addresses| !addresses.is_wished(AddressChange::Add, own))
                };
                let index = self.paths.add(&self.config, addr, is_known);
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

    /// Removes the path to an address of the peer that is gone.
    fn remove_path(&mut self, index: usize) {
        let removal = self.paths.removal_of(index);
        let heir = removal.heir as u8;
        self.sender.flight.remove_path(index as u8, heir, &mut self.paths);
        self.paths.remove(removal);
        self.phase.follow(removal);
        let route = &mut self.receiver.sacks.route;
        route.path = removal.moved(route.path);
        self.control.waiting.follow(removal);
        if let Some(addresses) = &mut self.control.addresses {
            addresses.follow(removal);
        }
        if let Some(reconfig) = &mut self.control.reconfig {
            reconfig.follow(removal);
        }
        self.sender.repair.release();
        self.notify(Notification::PathsChanged);
    }

    /// Handles an ASCONF-ACK (§5.1 D).
    pub(super) fn on_asconf_ack(&mut self, now: Time, serial: Serial32, parameters: &[Parameter]) {
        if !self.extensions.has(Extensions::ADDRESSES) {
            return;
        }
        if self.addresses().is_ahead(serial) {
            let cause = Cause::Asconf { code: refusal::ILLEGAL, parameters: Vec::new() };
            return self.abort_with(vec![cause], CloseReason::Aborted); // §5.3 F0
        }
        let addresses = self.addresses();
        let Some(outcome) = addresses.on_ack(serial, parameters) else { return };
        let path = addresses.path();
        self.paths[path].errors = 0; // §5.1 A5
        self.paths.forget_failures();
        let (address, accepted) = (outcome.address, outcome.accepted);
        if outcome.ends() {
            self.paths.local.retain(|own| *own != address);
        }
        let added = outcome.change == AddressChange::Add;
        if added && accepted {
            self.leave_going(address);
            self.use_source(now, address);
        }
        self.notify(Notification::AddressChanged { address, added, accepted });
        if added && !accepted {
            self.after_refused_address(address);
        }
    }

    /// Gives up all changes, as the peer says that it does not know ASCONF: none is sent any more
    /// (§5.1 A9).
    pub(super) fn on_unknown_asconf(&mut self) {
        let Some(mut addresses) = self.control.addresses.take() else { return };
        self.extensions.0 &= !Extensions::ADDRESSES.0;
        for (change, address) in addresses.give_up(|_, _| true) {
            let added = change == AddressChange::Add;
            if added {
                self.paths.local.retain(|own| *own != address);
            }
            self.notify(Notification::AddressChanged { address, added, accepted: false });
        }
    }

    /// Makes what had to leave from an address that goes leave from `taken`, an own address that
    /// the peer has taken.
    fn leave_going(&mut self, taken: Addr) {
        let going: Vec<Addr> =
            self.paths.local.iter().copied().filter(|own| self.is_going(*own)).collect();
        let beginning = self.beginning();
        going.into_iter().for_each(|own| self.paths.replace_source(own, taken, &beginning));
    }

    /// Gives up the changes that depend on the own address `refused`, which the peer has refused:
    /// it does not become the primary, and the last address that is left does not go (§5.3 F5,
    /// §5.4).
    fn after_refused_address(&mut self, refused: Addr) {
        let stay = self.paths.local.iter().filter(|own| !self.is_going(**own)).count();
        let Some(addresses) = &mut self.control.addresses else { return };
        let gone = addresses.give_up(|change, addr| match change {
            AddressChange::Delete => stay == 0,
            AddressChange::SetPrimary => addr == refused,
            AddressChange::Add => false,
        });
        for (_, address) in gone {
            self.notify(Notification::AddressChanged { address, added: false, accepted: false });
        }
    }
}
