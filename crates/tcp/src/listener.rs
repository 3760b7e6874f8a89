//! A listening port: makes connections of the SYNs that come to it.
//!
//! Two queues, as in the common stacks: connections whose handshake is under
//! way (at most `half_open`), and those that wait to be accepted (at most
//! `backlog`; while it is full the last ACK of a handshake is left to be sent
//! again). When the first queue is full a SYN is dropped, or answered without
//! remembering it ([`SynCookies`], RFC 4987 §3.6).
//!
//! A SYN with a good Fast Open cookie (RFC 7413) makes a connection that can be
//! accepted at once, as long as there are not too many of them whose handshake
//! is not over. Its address is proven: it takes no place among the handshakes,
//! and passes where others get a SYN cookie, unless all get one.
//!
//! The host gives it every packet to the port that belongs to no accepted
//! connection, and otherwise drives it like an endpoint.

mod cookie;
mod pending;

use crate::config::Config;
use crate::connection::{Connection, Past};
use crate::fast_open::Verdict;
use crate::state::State;
use anabranch_endpoint::{Endpoint, Generator, Observe};
use anabranch_units::{Serial32, Time};
use anabranch_wire::{
    Addr, Body, FastOpenOption, Icmp, Packet, Payload, TcpFlags, TcpOptions, TcpSegment,
};
pub use cookie::{Cookies, Told};
pub use pending::Pending;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What makes a port answer SYNs without remembering them (RFC 4987 §3.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SynCookies {
    /// Never: a SYN that finds the queue full is dropped.
    Off,
    /// Cookies are used while the queue of handshakes is full.
    WhenFull,
    /// Cookies are used for every SYN.
    Always,
}

/// Limits of a [`Listener`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backlog {
    /// Most handshakes under way.
    pub half_open: usize,
    /// Most connections that wait to be accepted.
    pub backlog: usize,
    /// What makes SYN cookies be used.
    pub cookies: SynCookies,
}

impl Default for Backlog {
    /// 256 handshakes (RFC 4987 §2.1 names such sizes), 128 to be accepted.
    fn default() -> Backlog {
        Backlog { half_open: 256, backlog: 128, cookies: SynCookies::WhenFull }
    }
}

/// What a listener has seen; totals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ListenerCounters {
    /// SYNs dropped for want of room.
    pub dropped_syns: u64,
    /// SYNs answered by a cookie.
    pub cookies_sent: u64,
    /// Connections made of cookies that came back.
    pub cookies_accepted: u64,
    /// Last ACKs of handshakes that found the backlog full.
    pub overflows: u64,
    /// Connections that a Fast Open cookie opened.
    pub fast_opens: u64,
    /// SYNs with a good Fast Open cookie that were treated as usual ones for want
    /// of room.
    pub fast_open_overflows: u64,
}

/// A port that listens, with its handshakes and the connections that wait to be accepted.
#[derive(Debug)]
pub struct Listener {
    config: Arc<Config>,
    limits: Backlog,
    local: (Addr, u16),
    /// Every connection draws the same key from a copy of it, so that numbers
    /// of one pair of sockets follow the clock (RFC 6528 §3).
    generator: Generator,
    /// The secret of their numbers, where the host gives one.
    number_key: Option<[u64; 2]>,
    /// A connection that was in TIME-WAIT and has given way.
    past: Option<Past>,
    cookies: Cookies,
    fast_open: Option<Pending>,
    half_open: BTreeMap<(Addr, u16), Connection>,
    ready: VecDeque<Connection>,
    replies: VecDeque<Packet>,
    /// Octets by which segments of what comes next are smaller.
    overhead: u32,
    counters: ListenerCounters,
}

impl Listener {
    /// Listens at `local`; `config` is that of the connections. The generator
    /// gives the secret keys.
    pub fn new(
        config: impl Into<Arc<Config>>,
        limits: Backlog,
        local: (Addr, u16),
        mut generator: Generator,
    ) -> Listener {
        let config = config.into();
        let key = [generator.next_u64(), generator.next_u64()];
        let fast_open = Pending::new(&config, &mut generator);
        Listener {
            config,
            limits,
            local,
            generator,
            number_key: None,
            past: None,
            cookies: Cookies { key, local },
            fast_open,
            half_open: BTreeMap::new(),
            ready: VecDeque::new(),
            replies: VecDeque::new(),
            overhead: 0,
            counters: ListenerCounters::default(),
        }
    }

    /// Sets the secrets that the ports of a host have in common: that of initial sequence numbers and
    /// timestamps ([`Connection::set_number_key`]), and that of Fast Open's cookies, which do not depend
    /// on the port (RFC 7413 §4.1.3.1).
    pub fn set_keys(&mut self, numbers: [u64; 2], cookies: [u64; 2]) {
        self.number_key = Some(numbers);
        if let Some(pending) = &mut self.fast_open {
            pending.keys.key = cookies;
        }
    }

    /// A connection in TIME-WAIT [gives way](Connection::gives_way_to) to the packet that comes next:
    /// the connection that this opens begins with a larger number (RFC 9293 §3.6.1).
    pub fn succeed(&mut self, past: Past) {
        self.past = Some(past);
    }

    /// Connections that SYNs open from now on have these settings.
    pub fn reconfigure(&mut self, config: impl Into<Arc<Config>>) {
        self.config = config.into();
        let generator = &mut self.generator.clone();
        self.fast_open = match self.fast_open.take() {
            Some(pending) => pending.reconfigured(&self.config),
            None => Pending::new(&self.config, generator),
        };
    }

    /// The connection that has waited longest. From now on the host gives it
    /// its packets. One that a Fast Open cookie opened may still be in
    /// SYN-RECEIVED: the host tells when it no longer is ([`settle`](Self::settle)).
    pub fn accept(&mut self) -> Option<Connection> {
        let mut connection = self.ready.pop_front()?;
        connection.on_accepted();
        Some(connection)
    }

    /// The handshake of an accepted connection is over: it is no longer pending
    /// in the sense of RFC 7413 §5.1. One that was reset before remains so for as
    /// long as the handshake could have taken.
    pub fn settle(&mut self, connection: &Connection) {
        if let Some(pending) = &mut self.fast_open
            && connection.state().is_synchronized()
        {
            pending.settle(connection.remote());
        }
    }

    /// The packets that come from now on belong to connections whose segments are smaller by so many
    /// octets, since something stands between IP and TCP.
    pub fn set_overhead(&mut self, octets: u32) {
        self.overhead = octets;
    }

    /// There is a connection with that peer, in its handshake or waiting to be accepted.
    pub fn knows(&self, remote: (Addr, u16)) -> bool {
        self.half_open.contains_key(&remote) || self.ready.iter().any(|c| c.remote() == remote)
    }

    /// A packet arrived for the port, of no accepted connection.
    pub fn handle_input(&mut self, now: Time, packet: &Packet) {
        let segment = match &packet.body {
            Body::Tcp(segment) => segment,
            Body::Icmp(icmp) => return self.on_icmp(now, packet, icmp),
            _ => return,
        };
        let remote = (packet.src, segment.src_port);
        if let Some(waiting) = self.ready.iter_mut().find(|c| c.remote() == remote) {
            waiting.handle_input(now, packet);
            if let Some(pending) = &mut self.fast_open
                && waiting.state().is_synchronized()
            {
                pending.settle(remote);
            }
        } else if self.half_open.contains_key(&remote) {
            self.on_handshake(now, remote, packet, segment);
        } else {
            self.on_new(now, remote, packet, segment);
        }
    }

    /// An error about a segment of a connection that is not accepted.
    fn on_icmp(&mut self, now: Time, packet: &Packet, icmp: &Icmp) {
        let flow = icmp.quote.flow_key();
        let remote = (flow.dst, flow.dst_port);
        let ready = self.ready.iter_mut().find(|c| c.remote() == remote);
        if let Some(connection) = ready.or_else(|| self.half_open.get_mut(&remote)) {
            connection.handle_input(now, packet);
        }
        self.half_open.retain(|_, c| c.state() == State::SynReceived);
    }

    /// Deadlines of handshakes may have passed.
    pub fn handle_timeout(&mut self, now: Time) {
        self.half_open.values_mut().for_each(|c| c.handle_timeout(now));
        self.half_open.retain(|_, c| c.state() == State::SynReceived);
        self.ready.iter_mut().for_each(|c| c.handle_timeout(now));
    }

    /// The next packet to send; call until `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let reply = self.replies.pop_front();
        reply
            .or_else(|| self.half_open.values_mut().find_map(|c| c.poll_transmit(now)))
            .or_else(|| self.ready.iter_mut().find_map(|c| c.poll_transmit(now)))
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout); [`Time::NEVER`] when nothing
    /// is pending.
    pub fn poll_timeout(&self) -> Time {
        let all = self.half_open.values().chain(&self.ready);
        all.map(Endpoint::poll_timeout).min().unwrap_or(Time::NEVER)
    }

    /// Returns what the port has counted since it was made.
    pub fn counters(&self) -> ListenerCounters {
        self.counters
    }

    /// Connections that a Fast Open cookie opened and whose handshake is not over.
    pub fn pending(&self) -> usize {
        self.fast_open.as_ref().map_or(0, Pending::len)
    }

    /// Octets that handshakes under way and connections that wait take.
    pub fn memory(&self) -> u64 {
        let half_open = self.half_open.len() * (size_of::<Connection>() + size_of::<(Addr, u16)>());
        half_open as u64 + self.ready.iter().map(Observe::memory).sum::<u64>()
    }

    /// Handshakes under way, and connections that wait to be accepted.
    pub fn lengths(&self) -> (usize, usize) {
        (self.half_open.len(), self.ready.len())
    }

    /// A packet of a handshake that is under way.
    fn on_handshake(
        &mut self,
        now: Time,
        remote: (Addr, u16),
        packet: &Packet,
        segment: &TcpSegment,
    ) {
        let ends = TcpFlags::RST.union(TcpFlags::SYN);
        let full = self.ready.len() >= self.limits.backlog;
        if full && !segment.flags.intersects(ends) {
            self.counters.overflows += 1;
            return;
        }
        let Some(connection) = self.half_open.get_mut(&remote) else { return };
        connection.handle_input(now, packet);
        let state = connection.state();
        if state == State::SynReceived {
            return;
        }
        let Some(mut connection) = self.half_open.remove(&remote) else { return };
        if state.is_synchronized() {
            self.ready.push_back(connection);
        } else {
            // Reset, or back in LISTEN, which is this listener.
            self.replies.extend(connection.poll_transmit(now));
        }
    }

    /// A packet of nobody that is known.
    fn on_new(&mut self, now: Time, remote: (Addr, u16), packet: &Packet, segment: &TcpSegment) {
        let has = |flag| segment.flags.contains(flag);
        if has(TcpFlags::RST) {
            return;
        }
        let manners = self.config.manners;
        if has(TcpFlags::ACK) {
            let silent = has(TcpFlags::SYN) && manners.silent_to_syn_ack;
            let known = !has(TcpFlags::SYN) && self.on_cookie(now, remote, packet, segment);
            if !silent && !known {
                self.replies.extend(self.config.refusal(packet));
            }
        } else if has(TcpFlags::SYN) && !(manners.drops_syn_fin && has(TcpFlags::FIN)) {
            let full = self.half_open.len() >= self.limits.half_open;
            let cookies = self.limits.cookies;
            if cookies != SynCookies::Always && self.opens_fast(now, remote, segment) {
                let mut connection = self.connection(now, remote);
                connection.handle_input(now, packet);
                self.ready.push_back(connection);
                return;
            }
            match cookies {
                SynCookies::Always => self.send_cookie(now, remote, segment),
                SynCookies::WhenFull if full => self.send_cookie(now, remote, segment),
                _ if full => self.counters.dropped_syns += 1,
                _ => {
                    let mut connection = self.connection(now, remote);
                    // A good cookie for which there is no room opens nothing.
                    if self.fast_open_answer(now, remote, segment).is_none() {
                        connection.refuse_fast_open();
                    }
                    connection.handle_input(now, packet);
                    self.half_open.insert(remote, connection);
                }
            }
        }
    }

    fn connection(&mut self, now: Time, remote: (Addr, u16)) -> Connection {
        let config = match self.overhead {
            0 => self.config.clone(),
            octets => {
                let mss = self.config.mss.saturating_sub(octets);
                Arc::new(Config { mss, ..Config::clone(&self.config) })
            }
        };
        let mut connection = Connection::server(config, self.local, remote, self.generator.clone());
        if let Some(key) = self.number_key {
            connection.set_number_key(key);
        }
        if let Some(past) = self.past.take_if(|past| past.remote == remote) {
            connection.begin_above(now, past.next);
        }
        if let Some(pending) = &self.fast_open {
            connection.set_fast_open_key(pending.keys.key);
        }
        connection
    }

    /// A SYN with a good Fast Open cookie, for which there is room.
    fn opens_fast(&mut self, now: Time, remote: (Addr, u16), syn: &TcpSegment) -> bool {
        let Some(pending) = &mut self.fast_open else { return false };
        if !pending.opens(now, self.local.0, remote.0, syn) {
            return false;
        }
        let has_room = pending.has_room(now) && self.ready.len() < self.limits.backlog;
        if has_room {
            pending.add(now, remote);
            self.counters.fast_opens += 1;
        } else {
            self.counters.fast_open_overflows += 1;
        }
        has_room
    }

    /// The cookie for a SYN that opens nothing: it asks for one, or has a wrong
    /// one.
    fn fast_open_answer(
        &self,
        now: Time,
        remote: (Addr, u16),
        syn: &TcpSegment,
    ) -> Option<FastOpenOption> {
        let (pending, option) = (self.fast_open.as_ref()?, syn.options.fast_open()?);
        let (server, client) = (self.local.0, remote.0);
        let wrong = pending.keys.check(now, server, client, &option.cookie) == Verdict::Wrong;
        wrong.then(|| FastOpenOption { cookie: pending.keys.cookie(now, server, client), ..option })
    }

    fn send_cookie(&mut self, now: Time, remote: (Addr, u16), syn: &TcpSegment) {
        self.counters.cookies_sent += 1;
        let mss = syn.options.mss.unwrap_or(self.config.default_mss);
        let sack = syn.options.sack_permitted && self.config.sack;
        let cookie = self.cookies.make(now, remote, syn.seq, Told { mss, sack });
        let mut answer = self.segment(remote, cookie, TcpFlags::SYN.union(TcpFlags::ACK));
        answer.ack = syn.seq.add(1);
        answer.window = self.config.receive_buffer.min(0xFFFF) as u16;
        answer.options.mss = Some(self.config.mss.saturating_sub(self.overhead) as u16);
        answer.options.sack_permitted = sack;
        if let Some(option) = self.fast_open_answer(now, remote, syn) {
            answer.options.rare_mut().fast_open = Some(option);
        }
        self.replies.push_back(self.packet(remote, answer));
    }

    /// An ACK that may bring back a cookie; true when it does, even if there is
    /// no room for the connection.
    fn on_cookie(
        &mut self,
        now: Time,
        remote: (Addr, u16),
        packet: &Packet,
        segment: &TcpSegment,
    ) -> bool {
        let cookie = Serial32(segment.ack.0.wrapping_sub(1));
        let peer = Serial32(segment.seq.0.wrapping_sub(1));
        let none = self.limits.cookies == SynCookies::Off;
        let Some(told) = self.cookies.check(now, remote, peer, cookie).filter(|_| !none) else {
            return false;
        };
        if self.ready.len() >= self.limits.backlog {
            self.counters.overflows += 1;
            return true;
        }
        // The SYN as far as the cookie remembers it.
        let (mss, sack_permitted) = (Some(told.mss), told.sack);
        let options = TcpOptions { mss, sack_permitted, ..TcpOptions::default() };
        let window = segment.window;
        let syn = TcpSegment {
            seq: peer,
            ack: Serial32(0),
            flags: TcpFlags::SYN,
            urgent: 0,
            options,
            window,
            payload: Payload::EMPTY,
            ..*segment
        };
        let mut connection = self.connection(now, remote);
        connection.resume(now, cookie, &syn);
        connection.handle_input(now, packet);
        if connection.state().is_synchronized() {
            self.counters.cookies_accepted += 1;
            self.ready.push_back(connection);
        }
        true
    }

    fn segment(&self, remote: (Addr, u16), seq: Serial32, flags: TcpFlags) -> TcpSegment {
        TcpSegment {
            src_port: self.local.1,
            dst_port: remote.1,
            seq,
            ack: Serial32(0),
            flags,
            window: 0,
            urgent: 0,
            options: TcpOptions::default(),
            payload: Payload::EMPTY,
        }
    }

    fn packet(&self, remote: (Addr, u16), segment: TcpSegment) -> Packet {
        let packet = Packet::new(self.local.0, remote.0, Body::Tcp(segment));
        Packet { dscp: self.config.dscp, ttl: self.config.ttl, ..packet }
    }
}

#[cfg(test)]
mod tests;
