//! Two endpoints and what is under way between them: commands, packets and
//! dates in any order. What is special about a transport is its [`Subject`].

use crate::input::Input;
use anabranch_endpoint::{ByteStream, Event, Observe};
use anabranch_units::{Span, Time};
use anabranch_wire::{AddressBook, Packet};

/// Packets under way, at most.
const MOST_SENT: usize = 200;
/// Rounds of polling and deadlines at one date, at most.
const MOST_ROUNDS: u32 = 100;

/// A transport's endpoint in a [`World`].
pub(crate) trait Subject: ByteStream + Observe + Sized {
    /// Kinds of steps: 0 to 9 are the world's, the others are those of
    /// [`special`](Self::special), or the usual arrival.
    const STEPS: u8;
    /// Packets that one poll may give.
    const MOST_PACKETS: u32;

    /// A step of the transport's own; false when the usual arrival is meant.
    fn special(world: &mut World<Self>, what: u8, who: usize, input: &mut Input) -> bool;
    /// Changes a field of a packet.
    fn forge(packet: &mut Packet, input: &mut Input);
    /// An event was heard.
    fn on_event(&mut self, _event: &Event) {}
    /// What must hold of a packet that leaves.
    fn check_packet(_world: &World<Self>, _packet: &Packet, _octets: &[u8]) {}
    /// What must hold of the endpoint after each step.
    fn check(&mut self);
}

/// What was sent and may still arrive.
pub(crate) struct World<E> {
    pub ends: [E; 2],
    pub sent: Vec<(usize, Packet)>,
    pub now: Time,
    pub book: AddressBook,
    /// Octets that a packet with data may have on the wire.
    pub most: u64,
    /// Streams carry real octets.
    pub real: bool,
}

impl<E: Subject> World<E> {
    pub fn new(ends: [E; 2], most: u64, real: bool) -> World<E> {
        let (now, book) = (Time::ZERO, AddressBook::new());
        World { ends, sent: Vec::new(), now, book, most, real }
    }

    /// Takes the steps of the input, and polls after each.
    pub fn run(&mut self, input: &mut Input) {
        for _ in 0..400 {
            if input.0.is_empty() {
                break;
            }
            self.step(input);
            self.poll();
        }
    }

    /// Opens the connection over a network that loses nothing and delays nothing, and gives what
    /// arrived.
    pub fn establish(&mut self) -> Vec<(usize, Packet)> {
        let mut arrived = Vec::new();
        self.ends[0].connect(self.now);
        self.poll();
        for _ in 0..10 {
            for (to, packet) in std::mem::take(&mut self.sent) {
                self.ends[to].handle_input(self.now, &packet);
                arrived.push((to, packet));
            }
            self.poll();
        }
        arrived
    }

    pub fn step(&mut self, input: &mut Input) {
        let (what, who) = (input.byte(), input.index(2));
        let now = self.now;
        let end = &mut self.ends[who];
        match what % E::STEPS {
            0 => end.connect(now),
            1 if self.real => drop(end.write_octets(&[7; 5000][..input.u16() as usize % 5001])),
            1 => drop(end.write(input.u16() as u64 * 4)),
            2 => drop(end.read(input.u16() as u64)),
            3 if what < 64 => end.close(),
            3 if what < 72 => end.abort(),
            4 => end.handle_timeout(now), // early, or not
            5 => {
                let due = self.ends.iter().map(|end| end.poll_timeout()).min().unwrap_or(now);
                if due != Time::NEVER {
                    self.now = self.now.max(due);
                }
                let now = self.now;
                self.ends.iter_mut().for_each(|end| end.handle_timeout(now));
            }
            6 => self.now += Span::from_micros(input.u16() as u64 * 10),
            7 if !self.sent.is_empty() => {
                // A packet gets lost.
                let at = input.index(self.sent.len());
                self.sent.remove(at);
            }
            8 if !self.sent.is_empty() => {
                // A packet arrives with other fields.
                let at = input.index(self.sent.len());
                let (to, mut packet) = self.sent[at].clone();
                E::forge(&mut packet, input);
                self.ends[to].handle_input(now, &packet);
            }
            9 if !self.sent.is_empty() => {
                // A packet arrives and stays: it will be a duplicate.
                let at = input.index(self.sent.len());
                let (to, packet) = self.sent[at].clone();
                self.ends[to].handle_input(now, &packet);
            }
            10.. if E::special(self, what, who, input) => {}
            _ if !self.sent.is_empty() => {
                // The usual: the oldest arrives, or one after it.
                let at = input.index(self.sent.len().min(4));
                let (to, packet) = self.sent.remove(at);
                self.ends[to].handle_input(now, &packet);
            }
            _ => {}
        }
    }

    pub fn poll(&mut self) {
        for who in 0..2 {
            let mut packets = 0;
            for round in 0.. {
                assert!(round < MOST_ROUNDS, "a deadline in the past");
                let mut events = 0;
                while let Some(event) = self.ends[who].poll_event() {
                    events += 1;
                    assert!(events < 10, "events without end");
                    self.ends[who].on_event(&event);
                }
                while let Some(packet) = self.ends[who].poll_transmit(self.now) {
                    packets += 1;
                    assert!(packets < E::MOST_PACKETS, "packets without end");
                    let mut out = Vec::new();
                    let sent = packet.emit(&self.book, &mut out);
                    assert_eq!(sent, Ok(()), "what is sent can be sent: {packet:?}");
                    assert_eq!(Packet::parse(&out, &self.book), Ok(packet.canonical()));
                    E::check_packet(self, &packet, &out);
                    if self.sent.len() < MOST_SENT {
                        self.sent.push((1 - who, packet));
                    }
                }
                if self.ends[who].poll_timeout() > self.now {
                    break;
                }
                self.ends[who].handle_timeout(self.now);
            }
            self.ends[who].check();
            assert!(self.ends[who].observe().in_flight <= 1 << 40);
        }
    }
}
