//! Addresses that come and go (RFC 8684 §3.4): ADD_ADDR with its echo and repetition,
//! REMOVE_ADDR, for this side's addresses and the peer's.

use super::path_management::Remembered;
use super::{Connection, Due};
use crate::key::Key;
use crate::path_manager::PathManager;
use anabranch_units::{Span, Time};
use anabranch_wire::Addr;
use anabranch_wire::tcp::mptcp::{AddAddr, MptcpOption, RemoveAddr};

/// Most echoes and announcements that wait for an ACK.
const MOST_WAITING: usize = 16;

impl Connection {
    /// Gives this side one more address. The active side opens subflows from it, the passive side
    /// announces it, as the path manager has it. Numbers of addresses are used once: 255 in a
    /// connection.
    pub fn add_address(&mut self, now: Time, addr: Addr) {
        if let Some(id) = self.paths.next_id() {
            self.add_numbered_address(now, id, addr);
        }
    }

    /// Adds an address as [`add_address`](Self::add_address) does, with a number that the user
    /// chooses; without effect where the address or the number is in use.
    pub fn add_numbered_address(&mut self, now: Time, id: u8, addr: Addr) {
        if self.paths.add(id, addr) && self.session.is_multipath() {
            self.announce(now, id);
            self.open_wanted(now);
        }
    }

    /// An address of this side is gone: its subflows end, and the peer hears of
    /// it on another (§3.4.2).
    pub fn remove_address(&mut self, now: Time, addr: Addr) {
        let Some(id) = self.paths.remove(addr) else { return };
        for i in 0..self.subflows.len() {
            if self.subflows[i].own_address == id {
                self.end_subflow(i);
            }
        }
        if let Some(remove) = RemoveAddr::of(&[id]) {
            self.send_option(MptcpOption::RemoveAddr(remove));
        }
        self.collect(now);
    }

    /// The path manager that the peer's subflows come from reaches for further
    /// addresses.
    fn announces(&self) -> bool {
        match self.session.is_passive() {
            true => self.config.path_manager.announces(),
            false => self.config.passive_path_manager.announces() && self.session.is_confirmed(),
        }
    }

    /// Announces this side's further addresses to the peer.
    pub(super) fn announce_addresses(&mut self, now: Time) {
        for id in self.paths.further() {
            self.announce(now, id);
        }
    }

    fn announce(&mut self, now: Time, id: u8) {
        if self.announces() && self.send_add_addr(id) {
            self.paths.on_announced(id);
            let at = now + self.subflows.longest_rto().max(Span::from_secs(1));
            self.timers.set(Due::Announce, at);
        }
    }

    /// ADD_ADDR (§3.4.1); false where the address is gone.
    fn send_add_addr(&mut self, id: u8) -> bool {
        let ip = self.paths.own(id).and_then(|addr| self.config.book.ip(addr));
        let Some(ip) = ip else { return false };
        let Some((key, peer_key)) = self.session.keys() else { return false };
        let announced = self.config.announced_ports.iter().find(|(known, _)| *known == id);
        let port = announced.map(|(_, port)| *port);
        let mac = Some(key.address_mac(peer_key, id, ip, port));
        self.send_option(MptcpOption::AddAddr(AddAddr { id, ip, port, mac }));
        true
    }

    /// Repeats the announcements whose echo has not come, and doubles the time to the next
    /// repetition.
    pub(super) fn announce_again(&mut self, now: Time) {
        for id in self.paths.announce_again() {
            self.send_add_addr(id);
        }
        if let Some(tries) = self.paths.announcement_tries() {
            let rto = self.subflows.longest_rto().max(Span::from_secs(1));
            self.timers.set(Due::Announce, now + rto.saturating_mul(1 << tries));
        }
    }

    /// Tells the peer something on the best subflow.
    fn send_option(&mut self, option: MptcpOption) {
        if let Some(i) = self.subflows.best()
            && self.subflows[i].options.len() < MOST_WAITING
        {
            self.subflows[i].options.push(option);
        }
        self.subflows.ask_best_for_ack(&mut self.readiness);
    }

    /// The peer announces an address of its own, or echoes one of this side's.
    pub(super) fn on_add_addr(&mut self, now: Time, i: usize, add: &AddAddr) {
        let AddAddr { id, ip, port, mac } = *add;
        let Some(mac) = mac else {
            return self.paths.on_echo(id);
        };
        let is_right = |(key, peer): (Key, Key)| mac == peer.address_mac(key, id, ip, port);
        if !self.session.keys().is_some_and(is_right) {
            return;
        }
        // Whoever can compute that has the keys.
        if !self.session.is_confirmed() {
            self.on_keys_confirmed(now, i);
        }
        let subflow = &mut self.subflows[i];
        if subflow.options.len() < MOST_WAITING {
            subflow.options.push(MptcpOption::AddAddr(AddAddr { mac: None, ..*add }));
            subflow.tcp.ask_for_ack();
        }
        // §3.4.1: the port that is in use on the subflow over which this came.
        let port = port.unwrap_or(self.subflows[i].key().dst_port);
        let Some(addr) = self.config.book.addr(ip) else { return };
        match self.paths.remember(id, addr, port) {
            Remembered::No => {}
            Remembered::New => self.open_wanted(now),
            Remembered::Port => self.open_to(now, id),
        }
    }

    /// Addresses of the peer are gone, and their subflows with them.
    ///
    /// Deviation: §3.4.2 would ask each for a sign of life first, and leave it to the peer where it
    /// answers. As on Linux plausible sequence numbers are trust enough.
    pub(super) fn on_remove_addr(&mut self, now: Time, ids: &[u8]) {
        self.paths.forget(ids);
        for i in 0..self.subflows.len() {
            if ids.contains(&self.subflows[i].peer_address) && !self.subflows[i].is_gone() {
                self.end_subflow(i);
            }
        }
        self.open_wanted(now);
    }

    /// A join has shown an address of the peer, which the passive side may want
    /// subflows to, as Linux's full mesh does.
    pub(super) fn on_joined_address(&mut self, now: Time, i: usize) {
        if !self.session.is_passive() || self.config.passive_path_manager == PathManager::Single {
            return;
        }
        let subflow = &self.subflows[i];
        let (id, addr) = (subflow.peer_address, subflow.key().dst);
        self.paths.remember(id, addr, self.subflows.first_key().dst_port);
        self.open_wanted(now);
    }

    /// Ends a subflow whose address is gone.
    fn end_subflow(&mut self, i: usize) {
        self.reinject_all(i);
        self.subflows[i].remove();
        self.touch(i);
    }
}
