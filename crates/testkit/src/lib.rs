//! Two endpoints joined by a path with latency, in virtual time: for tests of
//! engines that must not need the simulator.
//!
//! The path delivers each packet after one latency, unless the test's rule
//! says otherwise ([`Fate`]). There is no rate: packets sent together arrive
//! together, in order.

pub mod marks;
pub mod needs;
mod user;

pub use user::{User, exchange};

use anabranch_endpoint::{ByteStream, Event};
use anabranch_units::{Span, Time};
use anabranch_wire::{Ecn, Packet};
use std::collections::BTreeMap;

/// The side of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The endpoint that opens actively.
    Client,
    /// The endpoint that opens passively.
    Server,
}

/// What the path does to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Arrives after one latency.
    Deliver,
    /// It never arrives.
    Drop,
    /// It arrives later by this.
    Delay(Span),
    /// Arrives twice, the copy later by this.
    Duplicate(Span),
    /// Arrives after one latency, marked CE where it is ECN-capable
    /// (RFC 3168 §5).
    Mark,
}

/// A packet's line in the log.
#[derive(Clone, Debug)]
pub struct Line {
    /// Time at which it was sent.
    pub sent: Time,
    /// Side that sent it.
    pub from: Side,
    /// What the path did to it.
    pub fate: Fate,
    /// The packet as it was sent.
    pub packet: Packet,
}

/// Two endpoints and the path between them.
pub struct Pair<E, F> {
    /// The endpoint that opens actively.
    pub client: E,
    /// The endpoint that opens passively.
    pub server: E,
    /// The present virtual time.
    pub now: Time,
    /// Every packet that was sent, in order, while `logging`.
    pub log: Vec<Line>,
    /// Keep the log; on at first.
    pub logging: bool,
    /// What a middlebox changes in packets, before the rule decides.
    pub mangle: Option<fn(Side, &mut Packet)>,
    latency: Span,
    rule: F,
    /// Receiver and packet, by arrival and order of sending.
    in_flight: BTreeMap<(Time, u64), (Side, Packet)>,
    sent: u64,
}

impl<E: ByteStream, F: FnMut(Side, &Packet) -> Fate> Pair<E, F> {
    /// A pair with a one-way latency and a rule for each packet.
    pub fn new(client: E, server: E, latency: Span, rule: F) -> Pair<E, F> {
        Pair {
            client,
            server,
            now: Time::ZERO,
            log: Vec::new(),
            logging: true,
            mangle: None,
            latency,
            rule,
            in_flight: BTreeMap::new(),
            sent: 0,
        }
    }

    /// The endpoint of a side.
    pub fn end(&mut self, side: Side) -> &mut E {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    /// Takes everything that both endpoints want to send now.
    pub fn flush(&mut self) {
        for side in [Side::Client, Side::Server] {
            let now = self.now;
            while let Some(mut packet) = self.end(side).poll_transmit(now) {
                if let Some(mangle) = self.mangle {
                    mangle(side, &mut packet);
                }
                let fate = (self.rule)(side, &packet);
                if self.logging {
                    self.log.push(Line { sent: now, from: side, fate, packet: packet.clone() });
                }
                let to = if side == Side::Client { Side::Server } else { Side::Client };
                let arrival = now + self.latency;
                let copies: &[Time] = match fate {
                    Fate::Drop => &[],
                    Fate::Deliver | Fate::Mark => &[arrival],
                    Fate::Delay(by) => &[arrival + by],
                    Fate::Duplicate(by) => &[arrival, arrival + by],
                };
                if fate == Fate::Mark && packet.ecn != Ecn::NotEct {
                    packet.ecn = Ecn::Ce;
                }
                for at in copies {
                    self.in_flight.insert((*at, self.sent), (to, packet.clone()));
                    self.sent += 1;
                }
            }
        }
    }

    /// Moves to the next thing that happens, at the latest to `until`; false
    /// when nothing happens before.
    pub fn step(&mut self, until: Time) -> bool {
        self.flush();
        let arrival = self.in_flight.first_key_value().map_or(Time::NEVER, |(key, _)| key.0);
        let timeout = self.client.poll_timeout().min(self.server.poll_timeout());
        let at = arrival.min(timeout);
        if at > until {
            self.now = until;
            return false;
        }
        self.now = self.now.max(at);
        let now = self.now;
        if arrival <= timeout
            && let Some((_, (to, packet))) = self.in_flight.pop_first()
        {
            self.end(to).handle_input(now, &packet);
        } else {
            self.client.handle_timeout(now);
            self.server.handle_timeout(now);
        }
        true
    }

    /// Runs until `until`, or until nothing more can happen; readers take all
    /// that they can. Returns the events of both sides in order.
    pub fn drive(&mut self, until: Time) -> Vec<(Time, Side, Event)> {
        let mut events = Vec::new();
        loop {
            self.hear(&mut events);
            self.flush();
            if !self.hear(&mut events) && !self.step(until) {
                return events;
            }
        }
    }

    /// Takes the events of both sides; false when there are none.
    fn hear(&mut self, events: &mut Vec<(Time, Side, Event)>) -> bool {
        let before = events.len();
        for side in [Side::Client, Side::Server] {
            while let Some(event) = self.end(side).poll_event() {
                if event == Event::Readable {
                    self.end(side).read(u64::MAX);
                }
                events.push((self.now, side, event));
            }
        }
        events.len() > before
    }
}
