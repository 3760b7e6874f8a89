//! Hosts that stand outside the simulation: a kernel behind a TUN device, say.
//! What happens at them is in `simulation/outside.rs`.

use crate::app_context::AppContext;
use crate::offload::Offload;
use crate::ports::Ports;
use anabranch_network::{NodeId, PacketId};
use anabranch_units::Time;
use anabranch_wire::Packet;
use std::collections::VecDeque;

/// A packet that has reached a host outside.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Departure<'a> {
    /// Time at which the packet reached the host.
    pub at: Time,
    /// The host, or its interface.
    pub node: NodeId,
    /// The packet as it arrived.
    pub packet: &'a Packet,
}

/// One that still stands in the pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    pub at: Time,
    pub node: NodeId,
    pub id: PacketId,
}

/// The hosts that stand outside, and what waits for them.
#[derive(Debug)]
pub(crate) struct Outside {
    /// Whether each node stands outside.
    pub nodes: Vec<bool>,
    /// The endpoint that each packet belongs to, for observers.
    pub ports: Ports,
    pub leaving: Vec<Leaving>,
    /// Endpoints whose applications have more to write.
    pub rests: VecDeque<u32>,
    /// Octets that they write in a turn.
    pub turn: Turn,
    /// Hosts inside that take segments together.
    pub offload: Option<Offload>,
}

/// How much applications write before others have their turn, and packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// All of those that wait together, in octets.
    pub together: u64,
    /// Octets that each of them writes at least.
    pub least: u64,
}

impl Turn {
    /// Applications write as much as there is.
    const UNLIMITED: Turn = Turn { together: u64::MAX, least: u64::MAX };

    /// Returns the octets that one writes while so many others wait.
    pub(crate) fn piece(self, others: usize) -> u64 {
        (self.together / (others as u64 + 1)).max(self.least)
    }
}

impl Outside {
    /// `nodes` says which are outside; `ports` are those bound there.
    pub(crate) fn new(nodes: Vec<bool>, ports: Ports, offload: Option<Offload>) -> Outside {
        Outside {
            nodes,
            ports,
            leaving: Vec::new(),
            rests: VecDeque::new(),
            turn: Turn::UNLIMITED,
            offload,
        }
    }
}

/// The application of an endpoint was called: it may have more to write.
#[inline]
pub(crate) fn note_rest(context: &mut AppContext, outside: &mut Option<Box<Outside>>, index: u32) {
    if std::mem::take(&mut context.has_more)
        && let Some(Outside { rests, turn, .. }) = outside.as_deref_mut()
        && !rests.contains(&index)
    {
        rests.push_back(index);
        context.piece = turn.piece(rests.len());
    }
}
