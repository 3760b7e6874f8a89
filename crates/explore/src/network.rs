//! The network of a small world: packets in flight, each with the date of its arrival or
//! what it waits for, and paths that fail.

use crate::choice::Fault;
use crate::fingerprint::mix;
use anabranch_units::{Span, Time};
use anabranch_wire::tcp::OptionKind;
use anabranch_wire::{Addr, Body, Ecn, Packet};

/// Length of [`Fault::Outage`]: beyond a second retransmission.
pub const OUTAGE: Span = Span::from_secs(4);

/// Most paths between the two endpoints.
pub(crate) const PATHS: usize = 2;

/// What a packet waits for that does not arrive in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Held {
    /// The packet arrives in order.
    No,
    /// It arrives after so many events of its receiver.
    Events(u8),
    /// A timer of its receiver.
    ReceiverTimer,
    /// A timer of its sender, which has to fire first.
    SenderTimer,
}

impl Held {
    fn word(self) -> u64 {
        match self {
            Held::No => 0,
            Held::ReceiverTimer => 1,
            Held::SenderTimer => 2,
            Held::Events(n) => 3 + u64::from(n),
        }
    }
}

/// A packet on its way.
#[derive(Debug)]
pub(crate) struct Flying {
    pub sent: Time,
    pub arrival: Time,
    /// The side that it goes to.
    pub to: usize,
    /// Number of the packet among all of its sender; copies have that of the original.
    pub order: u32,
    /// What tells it from all other packets of all runs.
    pub id: u64,
    pub path: usize,
    pub held: Held,
    pub packet: Packet,
}

/// Packets in flight and the state of the paths.
#[derive(Debug)]
pub(crate) struct Network {
    latency: [Span; PATHS],
    flight: Vec<Flying>,
    /// Each path loses everything before this date.
    down_until: [Time; PATHS],
    /// Options of Multipath TCP are taken away.
    pub strips: bool,
}

impl Network {
    pub fn new(latency: [Span; PATHS], strips: bool) -> Network {
        Network { latency, flight: Vec::new(), down_until: [Time::ZERO; PATHS], strips }
    }

    /// Puts a packet of a side on its way.
    pub fn send(&mut self, now: Time, from: usize, order: u32, id: u64, packet: Packet) {
        let path = path_of(packet.src, packet.dst);
        let arrival = now + self.latency[path];
        let (to, held) = (1 - from, Held::No);
        self.flight.push(Flying { sent: now, arrival, to, order, id, path, held, packet });
    }

    pub fn flight(&self) -> &[Flying] {
        &self.flight
    }

    /// The packet that arrives next.
    pub fn next(&self) -> Option<usize> {
        let key = |flying: &Flying| (flying.arrival, flying.to, flying.order);
        let free = self.flight.iter().enumerate().filter(|flight| flight.1.held == Held::No);
        free.min_by_key(|free| key(free.1)).map(|free| free.0)
    }

    /// The path of the packet loses everything now.
    pub fn is_down(&self, flying: &Flying, now: Time) -> bool {
        self.down_until[flying.path] > now
    }

    /// No path will ever carry anything again.
    pub fn is_dead(&self, paths: usize) -> bool {
        self.down_until[..paths].iter().all(|down_until| *down_until == Time::NEVER)
    }

    pub fn take(&mut self, index: usize) -> Flying {
        self.flight.remove(index)
    }

    /// What waits for others and would wait for ever arrives.
    pub fn release_all(&mut self, now: Time) -> bool {
        for flying in &mut self.flight {
            (flying.held, flying.arrival) = (Held::No, now);
        }
        !self.flight.is_empty()
    }

    /// Something happened at a side; `timer`: a timer of the endpoint fired.
    pub fn on_event(&mut self, now: Time, side: usize, timer: bool) {
        for flying in &mut self.flight {
            let is_free = match &mut flying.held {
                Held::Events(n) if flying.to == side => {
                    *n -= 1;
                    *n == 0
                }
                Held::ReceiverTimer => timer && flying.to == side,
                Held::SenderTimer => timer && flying.to != side,
                _ => false,
            };
            if is_free {
                (flying.held, flying.arrival) = (Held::No, now);
            }
        }
    }

    /// The fault can happen to the packet.
    pub fn can(&self, fault: Fault, flying: &Flying) -> bool {
        match fault {
            Fault::Late => false,
            Fault::Mark => !matches!(flying.packet.ecn, Ecn::NotEct | Ecn::Ce),
            Fault::Strip => !self.strips && has_options(&flying.packet),
            _ => true,
        }
    }

    /// The fault happens to the packet; true where that arrives now.
    pub fn suffer(&mut self, now: Time, fault: Fault, index: usize) -> bool {
        let held = match fault {
            Fault::Behind(n) | Fault::CopyBehind(n) => Held::Events(n),
            Fault::AfterReceiverTimer => Held::ReceiverTimer,
            Fault::AfterSenderTimer | Fault::CopyAfterSenderTimer => Held::SenderTimer,
            _ => Held::No,
        };
        let flying = &mut self.flight[index];
        match fault {
            Fault::Lose => {
                self.flight.remove(index);
                false
            }
            Fault::Outage | Fault::Cut => {
                let until = if fault == Fault::Cut { Time::NEVER } else { now + OUTAGE };
                self.down_until[flying.path] = until;
                self.flight.remove(index);
                false
            }
            Fault::Behind(_) | Fault::AfterReceiverTimer | Fault::AfterSenderTimer => {
                flying.held = held;
                false
            }
            Fault::Copy | Fault::CopyBehind(_) | Fault::CopyAfterSenderTimer => {
                let copy = Flying {
                    id: mix(flying.id, 1),
                    packet: flying.packet.clone(),
                    held,
                    ..*flying
                };
                self.flight.push(copy);
                true
            }
            Fault::Mark => {
                flying.packet.ecn = Ecn::Ce;
                flying.id = mix(flying.id, 2);
                true
            }
            Fault::Strip => {
                self.strips = true;
                true
            }
            Fault::Early | Fault::Late => true,
        }
    }

    /// A packet as it comes out of the middleboxes.
    pub fn strip(&self, packet: &mut Packet) {
        if let (true, Body::Tcp(segment)) = (self.strips, &mut packet.body) {
            segment.blank_options(&[OptionKind::Mptcp]);
        }
    }

    pub fn fingerprint(&self) -> u64 {
        let of =
            |flying: &Flying| mix(mix(flying.id, flying.arrival.as_picos()), flying.held.word());
        // A sum, so that the order in which they were sent makes no difference.
        let all = self.flight.iter().map(of).fold(0, u64::wrapping_add);
        let downs =
            self.down_until.iter().fold(all, |hash, down_until| mix(hash, down_until.as_picos()));
        mix(downs, u64::from(self.strips))
    }
}

/// The path between two addresses: paths are told apart by the client's, which are the lower.
pub(crate) fn path_of(one: Addr, other: Addr) -> usize {
    (one.min(other).0 as usize).min(PATHS - 1)
}

/// It has options of Multipath TCP.
fn has_options(packet: &Packet) -> bool {
    match &packet.body {
        Body::Tcp(tcp) => tcp.options.dss().is_some() || !tcp.options.mptcp().is_empty(),
        _ => false,
    }
}
