//! An attacker at its host, and what it may overhear.

use crate::flow::FlowId;
use crate::observe::{Handle, Interests, Observer, PacketEvent, PacketEventKind};
use anabranch_endpoint::Attacker;
use anabranch_network::NodeId;
use anabranch_units::Time;
use anabranch_wire::{Addr, Packet};

/// Description of an attacker.
pub struct AttackSpec {
    /// Name of the attacker in results.
    pub name: String,
    /// The node that its packets leave from.
    pub node: NodeId,
    /// The machine that makes its packets.
    pub attacker: Box<dyn Attacker + Send>,
    /// Addresses of nobody that it sends from: the first and how many. What is sent to
    /// them goes towards its node.
    pub forged: (Addr, u32),
    /// The connection that it overhears.
    pub overhears: Option<FlowId>,
}

/// What an attacker has sent so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AttackResult {
    /// Packets that it sent.
    pub packets: u64,
    /// Octets, as links charge them.
    pub bytes: u64,
    /// Packets that came back to it or to addresses that it forged.
    pub answers: u64,
}

/// An attacker in a run, with what it has sent.
pub(crate) struct Assault {
    pub name: String,
    pub node: NodeId,
    pub attacker: Box<dyn Attacker + Send>,
    pub forged: (Addr, u32),
    pub overhears: Option<Handle<Overheard>>,
    pub result: AttackResult,
}

impl Assault {
    /// Whether the attacker has forged this address, so that packets to it go towards its node.
    pub(crate) fn has_forged(&self, addr: Addr) -> bool {
        addr.0.checked_sub(self.forged.0.0).is_some_and(|at| at < self.forged.1)
    }
}

/// The last packet that each end of a flow sent.
pub(crate) struct Overheard {
    flow: FlowId,
    pub last: [Option<Packet>; 2],
}

impl Overheard {
    pub(crate) fn new(flow: FlowId) -> Overheard {
        Overheard { flow, last: [None, None] }
    }
}

impl Observer for Overheard {
    fn interests(&self) -> Interests {
        Interests { packets: true, ..Interests::default() }
    }

    fn packet(&mut self, _now: Time, event: &PacketEvent, packet: &Packet) {
        if let (PacketEventKind::Sent, Some((flow, side))) = (event.kind, event.flow)
            && flow == self.flow
        {
            self.last[side as usize] = Some(packet.clone());
        }
    }
}
