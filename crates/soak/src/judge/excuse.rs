//! To which flows not everything is promised: those that somebody deceives in a way that no standard
//! defends against, and no others.
//!
//! Nobody is excused for a flood, for what is sent blindly, or for what happens to other flows.

use anabranch_attack::{Aim, Kind, Target};
use anabranch_network::{ImpairmentKind, LinkId};
use anabranch_scenario::Scenario;
use anabranch_scenario::build::{Built, BuiltFlow};
use anabranch_scenario::schema::{AttackSpec, Direction, Effect, Protocol};
use anabranch_sim::FlowId;
use anabranch_sim::observe::{Interests, Observer, PacketEvent, PacketEventKind, Place};
use anabranch_units::{Span, Time};
use anabranch_wire::{FlowKey, Packet};
use std::collections::{BTreeMap, BTreeSet};

/// The promises that a flow is excused from; the later, the more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Excuse {
    /// Everything is promised to the flow.
    #[default]
    None,
    /// It may fail to complete in time: somebody may keep it from that, and cannot deceive it.
    Hindered,
    /// It may stand still or end otherwise than it should: its peer lies. What was read is right
    /// all the same.
    LiedTo,
    /// It may read what was not sent: somebody writes into it.
    Deceived,
}

/// The excuse of a flow for the scenario's attacks.
pub(crate) fn of_attacks(scenario: &Scenario, flow: &BuiltFlow) -> Excuse {
    let spec = &scenario.flows[flow.entry];
    let is_hit = |attack: &&AttackSpec| match &attack.flow {
        // What stands at the port stands in the way of flows that end there.
        None => spec.port.is_some() && spec.port == attack.port,
        Some(name) => *name == spec.name || *name == flow.name,
    };
    let opens = spec.start + spec.start_spread + OPENING;
    let of_one = |attack: &AttackSpec| match of_attack(scenario, attack) {
        Excuse::None if attack.start < opens && meets_openings(attack) => Excuse::Hindered,
        excuse => excuse,
    };
    scenario.attacks.iter().filter(is_hit).map(of_one).max().unwrap_or_default()
}

/// The handshakes of flows are over after so long.
const OPENING: Span = Span::from_secs(60);

/// The attack, harmless later, may keep a flow from being opened: a SYN in the window sends a passive side from
/// SYN-RECEIVED back to LISTEN (RFC 9293 §3.10.7.4, fourth check), and a packet with the right tag that comes
/// before the COOKIE ECHO is answered with an ABORT, which the peer believes (RFC 9260 §8.4, §8.5.1).
fn meets_openings(attack: &AttackSpec) -> bool {
    match attack.kind {
        Kind::BlindSyn => matches!(attack.aim, Aim::Exact | Aim::Window),
        Kind::AsconfFlood => true,
        _ => false,
    }
}

fn of_attack(scenario: &Scenario, attack: &AttackSpec) -> Excuse {
    let knows = matches!(attack.aim, Aim::Exact | Aim::Window);
    match attack.kind {
        // Strangers that stay keep the places (RFC 4987 §2.1); without cookies half-open ones do.
        Kind::ConnectionFlood | Kind::AssociationFlood => Excuse::Hindered,
        Kind::SynFlood | Kind::OptionBomb | Kind::JoinFlood => {
            let cookies = scenario.listeners.iter().filter(|port| Some(port.port) == attack.port);
            let are_off = |port: &anabranch_scenario::schema::ListenSpec| {
                port.limits.cookies == anabranch_tcp::SynCookies::Off
            };
            if { cookies }.any(are_off) { Excuse::Hindered } else { Excuse::None }
        }
        Kind::InitFlood | Kind::CookieEchoFlood | Kind::ParameterBomb => Excuse::None,
        // RFC 5961 §4: whatever the number is.
        Kind::BlindSyn => Excuse::None,
        Kind::BlindReset if knows => Excuse::Deceived,
        // What is acknowledged in the peer's place is not sent again (RFC 5961 §5). ACKs with
        // forged timestamps are believed as others are.
        Kind::BlindAck | Kind::BlindSack | Kind::BlindTimestamp if knows => Excuse::Deceived,
        Kind::BlindAck | Kind::BlindSack => Excuse::None,
        Kind::BlindAbort if attack.aim == Aim::Exact => Excuse::Deceived,
        Kind::BlindReset | Kind::BlindAbort | Kind::BlindTimestamp => Excuse::None,
        // RFC 5961 §5 makes it harder to meet the window, not impossible.
        Kind::BlindData | Kind::BlindFin | Kind::Overlap => Excuse::Deceived,
        // The ACKs that carry the options acknowledge what the peer may not have.
        Kind::AddAddrFlood => Excuse::LiedTo,
        Kind::AsconfFlood => Excuse::None,
        Kind::IcmpUnreachable if attack.aim == Aim::Exact => Excuse::Deceived,
        Kind::IcmpUnreachable | Kind::IcmpTooBig => Excuse::Hindered,
        Kind::IcmpFragment => Excuse::None,
        kind => {
            assert_eq!(kind.info().target, Target::Peer, "attacks from outside are named above");
            Excuse::LiedTo
        }
    }
}

/// The flows of TCP that pass a box or a line that changes packets so that their checksums agree: a
/// middlebox that mends them, or bits that cancel out in the Internet checksum. What they believe is
/// nobody's promise.
pub(crate) struct Passengers {
    deceiving: BTreeSet<LinkId>,
    flows: BTreeMap<FlowKey, FlowId>,
    deceived: BTreeSet<FlowId>,
}

impl Passengers {
    /// Finds the passengers of the links that deceive; `None` where no link does.
    pub fn of(scenario: &Scenario, built: &Built) -> Option<Passengers> {
        let ways = scenario.links.iter().flat_map(|link| [&link.forward, &link.reverse]);
        // The directions of the links stand in their order.
        let links = ways.zip(&built.links).filter(|(way, _)| deceives(way));
        let deceiving: BTreeSet<LinkId> = links.map(|(_, (_, link))| *link).collect();
        (!deceiving.is_empty()).then(|| Passengers {
            deceiving,
            flows: BTreeMap::new(),
            deceived: BTreeSet::new(),
        })
    }

    /// The flow is one of them.
    pub fn has(&self, flow: FlowId) -> bool {
        self.deceived.contains(&flow)
    }
}

impl Observer for Passengers {
    fn interests(&self) -> Interests {
        Interests { packets: true, ..Interests::default() }
    }

    fn packet(&mut self, _now: Time, event: &PacketEvent, packet: &Packet) {
        let key = packet.flow_key();
        if let (PacketEventKind::Sent, Some((flow, _))) = (event.kind, event.flow) {
            self.flows.insert(key, flow);
        }
        let Place::Link(link) = event.place else { return };
        if !self.deceiving.contains(&link) {
            return;
        }
        let flow = self.flows.get(&key).or_else(|| self.flows.get(&key.reversed()));
        self.deceived.extend(flow);
    }
}

fn deceives(way: &Direction) -> bool {
    way.impairments.iter().any(|item| match &item.what {
        Effect::Any(ImpairmentKind::Middlebox(middlebox)) => middlebox.change_every.is_some(),
        Effect::Any(ImpairmentKind::Corrupt { bits, .. }) => *bits > 1,
        _ => false,
    })
}

/// The checksum of SCTP finds what boxes and lines do to its packets.
pub(crate) fn can_be_deceived_on_the_way(protocol: &Protocol) -> bool {
    !matches!(protocol, Protocol::Sctp(_))
}
