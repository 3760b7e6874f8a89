//! SCTP endpoints whose addresses come and go while they run (RFC 5061).

use crate::InputError;
use crate::graph::Graph;
use crate::schema::{AddressChange, ChangeOfAddress, FlowSpec, Protocol};
use anabranch_endpoint::{
    ByteStream, Demultiplex, Endpoint, Event, HalfClose, MessageOriented, Messages, Observation,
    Observe, PathObservation, PeerMemory, Progress, TemporalSharing, TimeWait,
};
use anabranch_sctp::Association;
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, FlowKey, Packet};
use std::collections::VecDeque;

/// A change of one side: how long after the association was established, what,
/// and the number of the interface in the graph.
pub(crate) type Change = (Span, ChangeOfAddress, usize);

/// Pairs of interfaces, as [`Ends`](crate::multihoming::Ends) has them.
type Pairs = Vec<(usize, usize)>;

/// The changes of the client's and of the server's addresses.
pub(crate) fn changes(graph: &Graph<'_>, flow: &FlowSpec) -> [Vec<Change>; 2] {
    let side = |end: &str| {
        let owner = graph.owner(graph.interface(end).expect("checked before"));
        let own = |address_change: &AddressChange| {
            let node = graph.interface(&address_change.interface)?;
            (graph.owner(node) == owner).then_some((address_change.at, address_change.change, node))
        };
        match &flow.protocol {
            Protocol::Sctp(sctp) => sctp.address_changes.iter().filter_map(own).collect(),
            _ => Vec::new(),
        }
    };
    [side(&flow.from), side(&flow.to)]
}

/// For the interfaces that come later: those of the server with the ones that
/// the client's packets to them leave from, and the other way. `sides` are the
/// interfaces of client and server at first.
pub(crate) fn later(
    graph: &Graph<'_>,
    flow: &FlowSpec,
    sides: [&[usize]; 2],
    path: &str,
) -> Result<[Pairs; 2], InputError> {
    let Protocol::Sctp(sctp) = &flow.protocol else { return Ok([Vec::new(), Vec::new()]) };
    let owners = sides.map(|side| graph.owner(side[0]));
    let mut now = sides.map(<[usize]>::to_vec);
    let mut known = sides.map(<[usize]>::to_vec);
    for (i, address_change) in sctp.address_changes.iter().enumerate() {
        let name = match address_change.change {
            ChangeOfAddress::Add => "add",
            ChangeOfAddress::Delete => "delete",
            ChangeOfAddress::Primary => "primary",
        };
        let wrong = |allowed: String| {
            let field = format!("{path}.sctp.address_changes[{i}].{name}");
            InputError::field(field, &address_change.interface, allowed)
        };
        let node = graph.interface(&address_change.interface);
        let side =
            node.and_then(|node| owners.iter().position(|owner| *owner == graph.owner(node)));
        let (Some(node), Some(side)) = (node, side) else {
            return Err(wrong(format!("an interface of {} or {}", owners[0], owners[1])));
        };
        let there = now[side].contains(&node);
        match address_change.change {
            ChangeOfAddress::Add if there => {
                return Err(wrong("an interface that the association does not use then".into()));
            }
            ChangeOfAddress::Add => now[side].push(node),
            _ if !there => {
                return Err(wrong("an interface that the association uses then".into()));
            }
            ChangeOfAddress::Delete if now[side].len() == 1 => {
                return Err(wrong("not the last interface of its host".into()));
            }
            ChangeOfAddress::Delete => now[side].retain(|now| *now != node),
            ChangeOfAddress::Primary => {}
        }
        if !known[side].contains(&node) {
            known[side].push(node);
        }
    }
    let pairs = |own: &[usize], peers: &[usize], first: usize| {
        let source = |peer: &usize| own.iter().find(|own| graph.reaches(**own, *peer));
        let pairs = peers[first..].iter().map(|peer| {
            let own = source(peer).ok_or_else(|| {
                let allowed = "interfaces that links lead to from an interface of the other host";
                let field = format!("{path}.sctp.address_changes");
                InputError::field(field, &graph.names()[*peer], allowed)
            })?;
            Ok((*peer, *own))
        });
        pairs.collect::<Result<Pairs, InputError>>()
    };
    Ok([pairs(&known[0], &known[1], sides[1].len())?, pairs(&known[1], &known[0], sides[0].len())?])
}

/// An association with the changes of its own addresses still to come. One that
/// cannot be made, since the association ends or too many wait, is left out.
pub struct MobileAssociation {
    association: Association,
    changes: VecDeque<(Span, ChangeOfAddress, Addr)>,
    /// Time at which the association was established; `None` before.
    since: Option<Time>,
    now: Time,
}

impl MobileAssociation {
    /// Changes in the order of their dates.
    pub(crate) fn new(
        association: Association,
        changes: impl Iterator<Item = (Span, ChangeOfAddress, Addr)>,
    ) -> MobileAssociation {
        MobileAssociation { association, changes: changes.collect(), since: None, now: Time::ZERO }
    }

    fn due(&self) -> Time {
        match (self.since, self.changes.front()) {
            (Some(since), Some((after, ..))) => since.saturating_add(*after),
            _ => Time::NEVER,
        }
    }

    fn act(&mut self, now: Time) {
        self.now = now;
        while self.due() <= now
            && let Some((_, change, addr)) = self.changes.pop_front()
        {
            let _ = match change {
                ChangeOfAddress::Add => self.association.add_address(addr),
                ChangeOfAddress::Delete => self.association.delete_address(addr),
                ChangeOfAddress::Primary => self.association.set_peer_primary(addr),
            };
        }
    }
}

impl Endpoint for MobileAssociation {
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        self.association.handle_input(now, packet);
        self.act(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.association.handle_timeout(now);
        self.act(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.association.poll_transmit(now)
    }

    fn poll_event(&mut self) -> Option<Event> {
        let event = self.association.poll_event();
        if event == Some(Event::Connected) {
            self.since = Some(self.now);
        }
        event
    }

    fn poll_timeout(&self) -> Time {
        self.association.poll_timeout().min(self.due())
    }
}

impl ByteStream for MobileAssociation {
    fn connect(&mut self, now: Time) {
        self.now = now;
        self.association.connect(now);
    }

    fn write(&mut self, len: u64) -> u64 {
        self.association.write(len)
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        self.association.write_octets(octets)
    }

    fn read(&mut self, max: u64) -> u64 {
        self.association.read(max)
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        self.association.read_octets(buf)
    }

    fn close(&mut self) {
        self.association.close();
    }

    fn abort(&mut self) {
        self.association.abort();
    }
}

impl HalfClose for MobileAssociation {
    fn has_half_close(&self) -> bool {
        self.association.has_half_close()
    }
}

impl MessageOriented for MobileAssociation {
    fn messages(&mut self) -> Option<&mut dyn Messages> {
        self.association.messages()
    }
}

impl Observe for MobileAssociation {
    fn status(&self) -> String {
        self.association.status()
    }

    fn observe(&self) -> Observation {
        self.association.observe()
    }

    fn observe_path(&self, path: usize) -> Option<PathObservation> {
        self.association.observe_path(path)
    }
}

impl Demultiplex for MobileAssociation {
    fn flow_key(&self) -> FlowKey {
        self.association.flow_key()
    }

    fn accepts(&self, packet: &Packet) -> bool {
        self.association.accepts(packet)
    }
}

impl TemporalSharing for MobileAssociation {
    fn recall(&mut self, memory: &PeerMemory) {
        self.association.recall(memory);
    }

    fn has_learnt(&self) -> bool {
        self.association.has_learnt()
    }

    fn remember(&mut self, memory: &mut PeerMemory) {
        self.association.remember(memory);
    }
}

impl TimeWait for MobileAssociation {}

impl Progress for MobileAssociation {
    fn progress_timeout(&self) -> Time {
        self.association.progress_timeout().min(self.due())
    }
}
