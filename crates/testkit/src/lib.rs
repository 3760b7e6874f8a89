//! Two endpoints joined by a path with latency, in virtual time: for tests of
//! engines that must not need the simulator.
//!
//! The path delivers each packet after one latency, unless the test's rule
//! says otherwise ([`Fate`]). There is no rate: packets sent together arrive
//! together, in order.

use anabranch_endpoint::{ByteStream, Event};
use anabranch_units::{Span, Time};
use anabranch_wire::Packet;

/// Which endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The active opener.
    Client,
    /// The passive opener.
    Server,
}

/// What the path does to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Arrives after one latency.
    Deliver,
    /// Never arrives.
    Drop,
    /// Arrives later by this.
    Delay(Span),
    /// Arrives twice, the copy later by this.
    Duplicate(Span),
}

/// A packet's line in the log.
#[derive(Clone, Debug)]
pub struct Line {
    /// When it was sent.
    pub sent: Time,
    /// By whom.
    pub from: Side,
    /// What became of it.
    pub fate: Fate,
    /// The packet.
    pub packet: Packet,
}

/// Two endpoints and the path between them.
pub struct Pair<E, F> {
    /// The active opener.
    pub client: E,
    /// The passive opener.
    pub server: E,
    /// Time now.
    pub now: Time,
    /// Every packet that was sent, in order.
    pub log: Vec<Line>,
    latency: Span,
    rule: F,
    /// (arrival, order of sending, receiver, packet)
    in_flight: Vec<(Time, u64, Side, Packet)>,
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
            latency,
            rule,
            in_flight: Vec::new(),
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
            while let Some(packet) = self.end(side).poll_transmit(now) {
                let fate = (self.rule)(side, &packet);
                self.log.push(Line { sent: now, from: side, fate, packet: packet.clone() });
                let to = if side == Side::Client { Side::Server } else { Side::Client };
                let arrival = now + self.latency;
                let copies: &[Time] = match fate {
                    Fate::Drop => &[],
                    Fate::Deliver => &[arrival],
                    Fate::Delay(by) => &[arrival + by],
                    Fate::Duplicate(by) => &[arrival, arrival + by],
                };
                for at in copies {
                    self.in_flight.push((*at, self.sent, to, packet.clone()));
                    self.sent += 1;
                }
            }
        }
    }

    /// Moves to the next thing that happens, at the latest to `until`; false
    /// when nothing happens before.
    pub fn step(&mut self, until: Time) -> bool {
        self.flush();
        let next = self.in_flight.iter().enumerate().min_by_key(|(_, p)| (p.0, p.1));
        let arrival = next.map_or(Time::NEVER, |(_, p)| p.0);
        let timeout = self.client.poll_timeout().min(self.server.poll_timeout());
        let at = arrival.min(timeout);
        if at > until {
            self.now = until;
            return false;
        }
        self.now = self.now.max(at);
        let now = self.now;
        if arrival <= timeout {
            let index = next.map(|(i, _)| i).expect("an arrival was found");
            let (_, _, to, packet) = self.in_flight.remove(index);
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
            for side in [Side::Client, Side::Server] {
                while let Some(event) = self.end(side).poll_event() {
                    if event == Event::Readable {
                        self.end(side).read(u64::MAX);
                    }
                    events.push((self.now, side, event));
                }
            }
            if !self.step(until) {
                return events;
            }
        }
    }
}
