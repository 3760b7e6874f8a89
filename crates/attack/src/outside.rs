//! Attackers on no path of what they attack: packets at a rate, between two dates.

mod acks;
mod addresses;
mod blind;
mod bombs;
mod icmp;
mod init_flood;
mod join_flood;
mod overlap;
mod scene;
mod syn_flood;

#[cfg(test)]
mod tests;

use crate::{Kind, Target};
use anabranch_endpoint::{Attacker, Generator};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, Packet};
use scene::Scene;
use std::collections::VecDeque;

/// Most packets that wait to leave: answers to what came back beyond them are not
/// made.
const MOST_WAITING: usize = 1024;

/// What an attacker knows of the numbers of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Aim {
    /// The attacker knows the numbers that the victim expects next.
    Exact,
    /// Numbers within the victim's window, of which it has the ACK number right.
    #[default]
    Window,
    /// The numbers of the whole space, a window's width apart, one after the other.
    Sweep,
    /// The attacker knows none of the numbers, and draws them.
    Random,
}

/// The packets that an attacker sends, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The attack; not one of a peer's.
    pub kind: Kind,
    /// Time between two packets.
    pub every: Span,
    /// Time of the first packet.
    pub start: Time,
    /// Time from which on no packet is sent.
    pub end: Time,
    /// The attacker's knowledge of the connection's numbers.
    pub aim: Aim,
    /// Octets of user data, where it sends some.
    pub size: u32,
}

/// Addresses of the attacker and of those that it sees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sight {
    /// The attacker's own address.
    pub here: Addr,
    /// Addresses of nobody: the first, and how many; with none it uses its own.
    pub forged: (Addr, u32),
    /// The victim's address and port.
    pub victim: (Addr, u16),
    /// The other end of the connection under attack.
    pub peer: Option<(Addr, u16)>,
    /// Side of the connection that the victim is: 0 is the client.
    pub side: usize,
}

/// A family of attacks: makes a packet when it is time, and may answer.
trait Form: Send {
    /// The next packet, or several.
    fn forge(&mut self, scene: &mut Scene<'_>);

    /// Hears of a packet that came back to the attacker or its forged addresses.
    fn hear(&mut self, _scene: &mut Scene<'_>, _packet: &Packet) {}
}

/// An attacker from outside.
pub struct Source {
    plan: Plan,
    sight: Sight,
    form: Box<dyn Form>,
    generator: Generator,
    /// What the ends of the connection sent last.
    last: [Option<Packet>; 2],
    next: Time,
    out: VecDeque<Packet>,
}

impl Source {
    /// An attacker.
    ///
    /// # Panics
    /// For an attack of a peer's, and for one on a connection without its other end.
    pub fn new(plan: Plan, sight: Sight, mut generator: Generator) -> Source {
        let target = plan.kind.info().target;
        assert!(target != Target::Peer, "an attack from outside");
        assert!(target != Target::Flow || sight.peer.is_some(), "a connection has two ends");
        let form: Box<dyn Form> = match plan.kind {
            Kind::SynFlood => Box::new(syn_flood::SynFlood),
            Kind::ConnectionFlood => Box::new(syn_flood::ConnectionFlood),
            Kind::InitFlood => Box::new(init_flood::InitFlood),
            Kind::CookieEchoFlood => Box::new(init_flood::CookieEchoFlood),
            Kind::AssociationFlood => Box::new(init_flood::AssociationFlood),
            Kind::JoinFlood => Box::new(join_flood::JoinFlood),
            Kind::ParameterBomb => Box::new(bombs::ParameterBomb),
            Kind::OptionBomb => Box::new(bombs::OptionBomb),
            Kind::BlindReset
            | Kind::BlindSyn
            | Kind::BlindData
            | Kind::BlindFin
            | Kind::BlindTimestamp => {
                let start = generator.next_u64() as u32;
                Box::new(blind::Blind {
                    kind: plan.kind,
                    aim: plan.aim,
                    size: plan.size,
                    at: start,
                })
            }
            Kind::BlindAck | Kind::BlindSack => {
                let start = generator.next_u64() as u32;
                Box::new(acks::Acks { kind: plan.kind, aim: plan.aim, at: start })
            }
            Kind::BlindAbort => Box::new(blind::BlindAbort { aim: plan.aim }),
            Kind::Overlap => Box::new(overlap::Overlap { size: plan.size }),
            Kind::AddAddrFlood => Box::new(addresses::AddAddrFlood),
            Kind::AsconfFlood => Box::new(addresses::AsconfFlood { serial: 0 }),
            Kind::IcmpUnreachable | Kind::IcmpTooBig | Kind::IcmpFragment => {
                Box::new(icmp::Errors { kind: plan.kind, aim: plan.aim })
            }
            _ => unreachable!("attacks of peers were refused above"),
        };
        let next = plan.start;
        Source { plan, sight, form, generator, last: [None, None], next, out: VecDeque::new() }
    }

    fn act(&mut self, heard: Option<&Packet>) {
        if self.out.len() >= MOST_WAITING {
            return;
        }
        let Source { sight, form, generator, last, out, .. } = self;
        let mut scene = Scene { sight, generator, last, out };
        match heard {
            None => form.forge(&mut scene),
            Some(packet) => form.hear(&mut scene, packet),
        }
    }
}

impl Attacker for Source {
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        if now < self.plan.end {
            self.act(Some(packet));
        }
    }

    fn overhear(&mut self, side: usize, packet: &Packet) {
        self.last[side] = Some(packet.clone());
    }

    fn handle_timeout(&mut self, now: Time) {
        while self.next <= now && self.next < self.plan.end {
            self.act(None);
            self.next = self.next.saturating_add(self.plan.every);
        }
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Time {
        if self.next < self.plan.end { self.next } else { Time::NEVER }
    }
}
