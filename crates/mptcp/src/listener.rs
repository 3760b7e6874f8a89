//! A listening port: connections whose handshake is under way, and those that
//! wait to be accepted.
//!
//! Packets of a connection that waits are given to it, as are MP_JOINs that name
//! it by its token; once it is accepted that is the host's to do
//! ([`Connection::is_for`]).

mod cookie;

use crate::config::Config;
use crate::connection::{Connection, Phase};
use anabranch_endpoint::{ByteStream, Demultiplex, Endpoint, Event, Generator, Observe};
use anabranch_tcp::{PendingFastOpens, SynCookies};
use anabranch_units::Time;
use anabranch_wire::{Addr, Body, Packet, TcpFlags, TcpSegment};
use cookie::Jar;
use std::collections::VecDeque;
use std::sync::Arc;

/// What a listener has seen, in total.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ListenerCounters {
    /// SYNs that asked for Multipath TCP and were answered so.
    pub capable_syns: u64,
    /// Connections of `capable_syns` whose third ACK did not bring the keys.
    pub fallback_acks: u64,
    /// SYNs that were dropped for want of room among the handshakes.
    pub dropped_syns: u64,
    /// SYNs that were answered by a cookie.
    pub cookies_sent: u64,
    /// Connections that were made of cookies that came back.
    pub cookies_accepted: u64,
    /// SYNs, or ACKs with a cookie, that were dropped because the queue of connections was full.
    pub overflows: u64,
}

/// A connection whose handshake is under way.
#[derive(Debug)]
struct HalfOpen {
    connection: Connection,
    capable: bool,
}

/// A listening port for Multipath TCP, and TCP where a client asks for no more.
#[derive(Debug)]
pub struct Listener {
    config: Arc<Config>,
    addresses: Vec<(u8, Addr)>,
    port: u16,
    backlog: usize,
    most_half_open: usize,
    cookies: SynCookies,
    /// Connections that a Fast Open cookie has opened and whose handshake is not over.
    fast_open: Option<PendingFastOpens>,
    jar: Option<Jar>,
    replies: VecDeque<Packet>,
    generator: Generator,
    half_open: Vec<HalfOpen>,
    ready: VecDeque<Connection>,
    counters: ListenerCounters,
}

impl Listener {
    /// Listens at `port` of the first of the addresses, which are given with
    /// their numbers; up to `backlog` connections wait.
    pub fn new(
        config: impl Into<Arc<Config>>,
        addresses: &[(u8, Addr)],
        port: u16,
        backlog: usize,
        mut generator: Generator,
    ) -> Listener {
        let config = config.into();
        let fast_open = PendingFastOpens::new(&config.subflow, &mut generator);
        Listener {
            fast_open,
            config,
            addresses: addresses.to_vec(),
            port,
            backlog,
            most_half_open: 4 * backlog,
            cookies: SynCookies::Off,
            jar: None,
            replies: VecDeque::new(),
            generator,
            half_open: Vec::new(),
            ready: VecDeque::new(),
            counters: ListenerCounters::default(),
        }
    }

    /// Limits the handshakes under way to `most`, in place of four for each connection that may
    /// wait.
    #[must_use]
    pub fn with_half_open(mut self, most: usize) -> Listener {
        self.most_half_open = most;
        self
    }

    /// SYNs are answered without being remembered (RFC 4987 §3.6), in place of never.
    ///
    /// # Panics
    /// Without an address.
    #[must_use]
    pub fn with_cookies(mut self, cookies: SynCookies) -> Listener {
        let (_, first) = self.addresses.first().expect("a port has an address");
        self.cookies = cookies;
        self.jar = Some(Jar::new((*first, self.port), &mut self.generator));
        self
    }

    /// Returns how many handshakes are under way, and how many connections wait.
    pub fn lengths(&self) -> (usize, usize) {
        (self.half_open.len(), self.ready.len())
    }

    /// Returns how many octets of memory both take.
    pub fn memory(&self) -> u64 {
        let half_open = self.half_open.iter().map(|handshake| &handshake.connection);
        half_open.chain(&self.ready).map(Observe::memory).sum()
    }

    /// The connection that has waited longest.
    pub fn accept(&mut self) -> Option<Connection> {
        self.ready.pop_front()
    }

    /// The handshake of an accepted connection is over: it is no longer pending in the sense of RFC 7413
    /// §5.1.
    pub fn settle(&mut self, connection: &Connection) {
        if let Some(pending) = &mut self.fast_open
            && connection.phase() != Phase::Opening
        {
            let key = connection.flow_key();
            pending.settle((key.dst, key.dst_port));
        }
    }

    /// Returns how many connections wait to be accepted.
    pub fn waiting(&self) -> usize {
        self.ready.len()
    }

    /// Returns what the port has counted since it was made.
    pub fn counters(&self) -> ListenerCounters {
        self.counters
    }

    /// A packet arrived for the port, of no accepted connection. False when
    /// nobody wants it: the host refuses it. `taken` says whether another connection of the
    /// host has a token.
    pub fn handle_input(
        &mut self,
        now: Time,
        packet: &Packet,
        taken: impl Fn(u32) -> bool,
    ) -> bool {
        if let Some(handshake) =
            self.half_open.iter_mut().find(|handshake| handshake.connection.is_for(packet))
        {
            handshake.connection.handle_input(now, packet);
            self.settle_handshakes();
            return true;
        }
        if let Some(connection) = self.ready.iter_mut().find(|connection| connection.is_for(packet))
        {
            connection.handle_input(now, packet);
            return true;
        }
        let Body::Tcp(segment) = &packet.body else { return false };
        if self.on_cookie(now, packet, segment, &taken) {
            return true;
        }
        let others = TcpFlags::ACK.union(TcpFlags::RST);
        let opens = segment.flags.contains(TcpFlags::SYN) && !segment.flags.intersects(others);
        // A join of a connection that there is not (RFC 8684 §3.2).
        if !opens || segment.mp_join().is_some() {
            return false;
        }
        self.on_syn(now, packet, segment, &taken)
    }

    /// A SYN that opens a connection. Where it is dropped the client tries again; false where the
    /// port has no address.
    fn on_syn(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &TcpSegment,
        taken: &impl Fn(u32) -> bool,
    ) -> bool {
        if self.ready.len() >= self.backlog {
            self.counters.overflows += 1;
            return true;
        }
        let full = self.half_open.len() >= self.most_half_open;
        let remote = (packet.src, segment.src_port);
        let cookie = match self.cookies {
            SynCookies::Off => false,
            SynCookies::WhenFull => full,
            SynCookies::Always => true,
        };
        if let Some(jar) = self.jar.as_ref().filter(|_| cookie) {
            self.counters.cookies_sent += 1;
            self.replies.push_back(jar.answer(now, &self.config, remote, segment));
        } else if full {
            self.counters.dropped_syns += 1;
        } else if let Some((_, first)) = self.addresses.first().copied() {
            let opens = self.opens_fast(now, remote, segment);
            let mut connection = self.answering(now, first, remote, taken);
            if !opens
                && self
                    .fast_open
                    .as_ref()
                    .is_some_and(|fast_open| fast_open.opens(now, first, remote.0, segment))
            {
                connection.refuse_fast_open(); // a good cookie, and no room
            }
            connection.handle_input(now, packet);
            self.add_half_open(connection, |phase| phase == Phase::Opening);
            self.settle_handshakes();
        } else {
            return false;
        }
        true
    }

    /// A connection that has not heard of its peer's SYN yet, whose token is no other's.
    fn answering(
        &mut self,
        now: Time,
        first: Addr,
        remote: (Addr, u16),
        taken: &impl Fn(u32) -> bool,
    ) -> Connection {
        self.generator.next_u64();
        let (config, generator) = (self.config.clone(), self.generator.clone());
        let mut connection = Connection::server(config, (&[first], self.port), remote, generator);
        connection.avoid_tokens(|token| taken(token) || self.has_token(token));
        if let Some(pending) = &self.fast_open {
            connection.set_fast_open_key(pending.key());
        }
        self.add_addresses(now, &mut connection);
        connection
    }

    /// A SYN with a good Fast Open cookie, for which there is room among those whose handshake is not over.
    fn opens_fast(&mut self, now: Time, remote: (Addr, u16), syn: &TcpSegment) -> bool {
        let Some((_, own)) = self.addresses.first() else { return false };
        let Some(pending) = &mut self.fast_open else { return false };
        let opens = pending.opens(now, *own, remote.0, syn) && pending.has_room(now);
        if opens {
            pending.add(now, remote);
        }
        opens
    }

    /// A connection of this port has the token.
    fn has_token(&self, token: u32) -> bool {
        let half_open = self.half_open.iter().map(|handshake| &handshake.connection);
        half_open.chain(&self.ready).any(|connection| connection.token() == token)
    }

    /// A connection has the port's further addresses.
    fn add_addresses(&self, now: Time, connection: &mut Connection) {
        for (id, addr) in &self.addresses[1..] {
            connection.add_numbered_address(now, *id, *addr);
        }
    }

    /// One more handshake is under way; `is_capable` says of a phase whether its SYN asked for
    /// Multipath TCP.
    fn add_half_open(&mut self, connection: Connection, is_capable: impl Fn(Phase) -> bool) {
        let capable = is_capable(connection.phase());
        self.counters.capable_syns += capable as u64;
        self.half_open.push(HalfOpen { connection, capable });
    }

    /// An ACK that may bring back a cookie; true when it does, even if there is no room for
    /// the connection.
    fn on_cookie(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &TcpSegment,
        taken: &impl Fn(u32) -> bool,
    ) -> bool {
        let Some(jar) = &self.jar else { return false };
        let ends = TcpFlags::SYN.union(TcpFlags::RST);
        if !segment.flags.contains(TcpFlags::ACK) || segment.flags.intersects(ends) {
            return false;
        }
        self.generator.next_u64();
        let made = jar.accept(now, &self.config, self.generator.clone(), packet, segment);
        let Some(mut connection) = made else { return false };
        if self.ready.len() >= self.backlog {
            self.counters.overflows += 1;
            return true;
        }
        let token = connection.token();
        let is_known = taken(token) || self.has_token(token);
        if connection.phase() == Phase::Multipath && is_known {
            return false;
        }
        self.add_addresses(now, &mut connection);
        self.counters.cookies_accepted += 1;
        self.add_half_open(connection, |phase| phase == Phase::Multipath);
        self.settle_handshakes();
        true
    }

    /// Handshakes that are over.
    fn settle_handshakes(&mut self) {
        let mut at = 0;
        while at < self.half_open.len() {
            let handshake = &mut self.half_open[at];
            match handshake.connection.poll_event() {
                None => at += 1,
                Some(Event::Closed(_)) => _ = self.half_open.remove(at),
                Some(_) => {
                    let HalfOpen { connection, capable } = self.half_open.remove(at);
                    let fell_back = connection.phase() == Phase::Fallback;
                    self.counters.fallback_acks += (capable && fell_back) as u64;
                    self.ready.push_back(connection);
                }
            }
        }
    }

    /// Deadlines may have passed.
    pub fn handle_timeout(&mut self, now: Time) {
        self.half_open.iter_mut().for_each(|handshake| handshake.connection.handle_timeout(now));
        self.ready.iter_mut().for_each(|connection| connection.handle_timeout(now));
        self.settle_handshakes();
    }

    /// Returns the next packet to send; call until `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if let Some(reply) = self.replies.pop_front() {
            return Some(reply);
        }
        let half_open = self.half_open.iter_mut().map(|handshake| &mut handshake.connection);
        half_open.chain(&mut self.ready).find_map(|connection| connection.poll_transmit(now))
    }

    /// [`handle_timeout`](Self::handle_timeout) is to be called at this date.
    pub fn poll_timeout(&self) -> Time {
        let half_open = self.half_open.iter().map(|handshake| &handshake.connection);
        half_open.chain(&self.ready).map(Endpoint::poll_timeout).min().unwrap_or(Time::NEVER)
    }

    /// Nobody listens any more: connections that wait are aborted, and returned
    /// to be driven to their end.
    pub fn stop(mut self) -> Vec<Connection> {
        self.ready.iter_mut().for_each(ByteStream::abort);
        self.ready.into()
    }
}

#[cfg(test)]
mod tests;
