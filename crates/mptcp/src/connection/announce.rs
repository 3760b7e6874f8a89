//! Addresses that come and go (RFC 8684 §3.4): ADD_ADDR with its echo and repetition,
//! REMOVE_ADDR, for this side's addresses and the peer's.

use super::{Connection, Due, Phase};
use crate::path_manager::PathManager;
use anabranch_units::{Span, Time};
use anabranch_wire::Addr;
use anabranch_wire::tcp::mptcp::{AddAddr, MptcpOption, RemoveAddr};

/// Addresses of the peer that are remembered at most.
const MOST_PEER_ADDRESSES: usize = 8;
/// How often an address is announced without an echo.
const MOST_ANNOUNCEMENTS: u32 = 4;
/// Echoes and announcements that wait for an ACK, at most.
const MOST_WAITING: usize = 16;

/// An address that was announced and not echoed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Announcement {
    pub(super) id: u8,
    pub(super) tries: u32,
}

/// An address of the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PeerAddress {
    pub(super) addr: Addr,
    pub(super) port: u16,
}

impl Connection {
    /// One more address of this side. The active side opens subflows from it, the
    /// passive side announces it, as the path manager has it. Numbers of
    /// addresses are used once: 255 in a connection.
    pub fn add_address(&mut self, now: Time, addr: Addr) {
        if let Ok(id) = u8::try_from(self.addresses.len()) {
            self.add_numbered_address(now, id, addr);
        }
    }

    /// As [`add_address`](Self::add_address), with a number that the user chooses;
    /// without effect where the address or the number is in use.
    pub fn add_numbered_address(&mut self, now: Time, id: u8, addr: Addr) {
        let at = id as usize;
        let taken = self.addresses.get(at).is_some_and(Option::is_some);
        if taken || self.addresses.contains(&Some(addr)) {
            return;
        }
        if self.addresses.len() <= at {
            self.addresses.resize(at + 1, None);
        }
        self.addresses[at] = Some(addr);
        if self.phase == Phase::Multipath {
            self.announce(now, at);
            self.open_wanted(now);
        }
    }

    /// An address of this side is gone: its subflows end, and the peer hears of
    /// it on another (§3.4.2).
    pub fn remove_address(&mut self, now: Time, addr: Addr) {
        let Some(id) = self.addresses.iter().position(|it| *it == Some(addr)) else { return };
        self.addresses[id] = None;
        self.announcements.retain(|it| it.id as usize != id);
        self.reopenings.retain(|it| it.wanted.own != id);
        for i in 0..self.subflows.len() {
            if self.subflows[i].own_address as usize == id {
                self.end_subflow(i);
            }
        }
        if let Some(remove) = RemoveAddr::of(&[id as u8]) {
            self.say(MptcpOption::RemoveAddr(remove));
        }
        self.collect(now);
    }

    /// The path manager that the peer's subflows come from reaches for further
    /// addresses.
    fn announces(&self) -> bool {
        match self.passive {
            true => self.config.path_manager.announces(),
            false => self.config.passive_path_manager.announces() && self.confirmed,
        }
    }

    /// Further addresses of this side.
    pub(super) fn announce_addresses(&mut self, now: Time) {
        for id in 1..self.addresses.len() {
            self.announce(now, id);
        }
    }

    fn announce(&mut self, now: Time, id: usize) {
        if self.announces() && self.say_address(id) {
            self.announcements.push(Announcement { id: id as u8, tries: 1 });
            let at = now + self.subflows.longest_rto().max(Span::from_secs(1));
            self.timer(Due::Announce).set(at);
        }
    }

    /// ADD_ADDR (§3.4.1).
    fn say_address(&mut self, id: usize) -> bool {
        let addr = self.addresses.get(id).copied().flatten();
        let Some(ip) = addr.and_then(|addr| self.config.book.ip(addr)) else { return false };
        let mac = self.key.address_mac(self.peer_key, id as u8, ip, None);
        self.say(MptcpOption::AddAddr(AddAddr { id: id as u8, ip, port: None, mac: Some(mac) }));
        true
    }

    /// No echo has come.
    pub(super) fn announce_again(&mut self, now: Time) {
        self.announcements.retain(|it| it.tries < MOST_ANNOUNCEMENTS);
        for at in 0..self.announcements.len() {
            self.announcements[at].tries += 1;
            self.say_address(self.announcements[at].id.into());
        }
        if let Some(tries) = self.announcements.iter().map(|it| it.tries).min() {
            let rto = self.subflows.longest_rto().max(Span::from_secs(1));
            self.timer(Due::Announce).set(now + rto.saturating_mul(1 << tries));
        }
    }

    /// Tells the peer something on the best subflow.
    fn say(&mut self, option: MptcpOption) {
        if let Some(i) = self.subflows.best()
            && self.subflows[i].options.len() < MOST_WAITING
        {
            self.subflows[i].options.push(option);
        }
        self.subflows.ask_best_for_ack(&mut self.readiness);
    }

    /// An address of the peer, or the echo of one of ours.
    pub(super) fn on_add_addr(&mut self, now: Time, i: usize, add: &AddAddr) {
        let AddAddr { id, ip, port, mac } = *add;
        let Some(mac) = mac else {
            self.announcements.retain(|it| it.id != id);
            return;
        };
        if mac != self.peer_key.address_mac(self.key, id, ip, port) {
            return;
        }
        // Whoever can compute that has the keys.
        if !self.confirmed {
            self.on_keys_confirmed(now, i);
        }
        let subflow = &mut self.subflows[i];
        if subflow.options.len() < MOST_WAITING {
            subflow.options.push(MptcpOption::AddAddr(AddAddr { mac: None, ..*add }));
            subflow.tcp.ask_for_ack();
        }
        let port = port.unwrap_or(self.subflows.first_key().dst_port);
        let addr = self.config.book.addr(ip);
        if addr.is_some_and(|addr| self.remember(id.into(), addr, port)) {
            self.open_wanted(now);
        }
    }

    /// Addresses of the peer are gone, and their subflows with them.
    ///
    /// Deviation: §3.4.2 would ask each for a sign of life first, and leave it to the peer where it
    /// answers. As on Linux plausible sequence numbers are trust enough.
    pub(super) fn on_remove_addr(&mut self, now: Time, ids: &[u8]) {
        for id in ids {
            if let Some(address) = self.peer_addresses.get_mut(*id as usize) {
                *address = None;
            }
        }
        self.reopenings.retain(|it| !ids.contains(&(it.wanted.peer as u8)));
        for i in 0..self.subflows.len() {
            if ids.contains(&self.subflows[i].peer_address) && !self.subflows[i].is_gone() {
                self.end_subflow(i);
            }
        }
        self.open_wanted(now);
    }

    /// An address of the peer; false when it is known, or there are too many.
    fn remember(&mut self, at: usize, addr: Addr, port: u16) -> bool {
        let known = self.peer_addresses.get(at).is_some_and(Option::is_some);
        if known || self.peer_addresses.iter().flatten().count() >= MOST_PEER_ADDRESSES {
            return false;
        }
        if self.peer_addresses.len() <= at {
            self.peer_addresses.resize(at + 1, None);
        }
        self.peer_addresses[at] = Some(PeerAddress { addr, port });
        true
    }

    /// A join has shown an address of the peer, which the passive side may want
    /// subflows to, as Linux's full mesh does.
    pub(super) fn on_joined_address(&mut self, now: Time, i: usize) {
        if !self.passive || self.config.passive_path_manager == PathManager::Single {
            return;
        }
        let it = &self.subflows[i];
        let (at, addr) = (it.peer_address as usize, it.key().dst);
        self.remember(at, addr, self.subflows.first_key().dst_port);
        self.open_wanted(now);
    }

    /// Ends a subflow whose address is gone.
    fn end_subflow(&mut self, i: usize) {
        self.reinject_all(i);
        self.subflows[i].remove();
        self.touch(i);
    }
}
