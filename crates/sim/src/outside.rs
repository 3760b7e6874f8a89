//! Hosts that stand outside the simulation: a kernel behind a TUN device, say.
//! What happens at them is in `simulation/outside.rs`.

use crate::offload::Offload;
use crate::ports::Ports;
use crate::stage::Stage;
use anabranch_network::NodeId;
use anabranch_units::Time;
use anabranch_wire::Packet;
use std::collections::VecDeque;

/// A packet that has reached a host outside.
#[derive(Clone, PartialEq, Debug)]
pub struct Departure {
    /// When.
    pub at: Time,
    /// The host, or its interface.
    pub node: NodeId,
    /// The packet.
    pub packet: Packet,
}

/// The hosts outside.
#[derive(Debug)]
pub(crate) struct Outside {
    /// Of each node.
    pub nodes: Vec<bool>,
    /// Whose packets are whose, for observers.
    pub ports: Ports,
    pub departures: Vec<Departure>,
    /// Endpoints whose applications have more to write.
    pub rests: VecDeque<u32>,
    /// Hosts inside that take segments together.
    pub offload: Option<Offload>,
}

impl Outside {
    /// `nodes` says which are outside; `ports` are those bound there.
    pub(crate) fn new(nodes: Vec<bool>, ports: Ports, offload: Option<Offload>) -> Outside {
        Outside { nodes, ports, departures: Vec::new(), rests: VecDeque::new(), offload }
    }
}

/// The application of an endpoint was called: it may have more to write.
#[inline]
pub(crate) fn note_rest(stage: &mut Stage, outside: &mut Option<Box<Outside>>, index: u32) {
    if std::mem::take(&mut stage.has_more)
        && let Some(Outside { rests, .. }) = outside.as_deref_mut()
        && !rests.contains(&index)
    {
        rests.push_back(index);
    }
}
