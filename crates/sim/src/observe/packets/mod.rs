//! The packets of a flow as a time-sequence plot shows them: what the sender
//! sent, the acknowledgments and SACK blocks it received, what the receiver
//! received, and what was lost on the way.
//!
//! Positions count from 0, the first data: octets of a TCP stream or subflow,
//! chunks of an SCTP association. The packet that opens a connection tells the
//! initial number. Each TCP subflow has numbers of its own; the paths of an
//! SCTP association share them.

mod numbers;
#[cfg(test)]
mod tests;

use super::{Interests, Observer, PacketEvent, PacketEventKind};
use crate::flow::{FlowId, Side};
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::SctpPacket;
use anabranch_wire::{FlowKey, Packet};
use std::collections::BTreeMap;

/// Data packets sent; of SCTP the chunks in them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sends {
    /// Times of sending, ascending.
    pub time: Vec<Time>,
    /// Position of the first octet, or of the chunk.
    pub offset: Vec<u64>,
    /// Octets of payload, one value for each packet or chunk.
    pub len: Vec<u32>,
    /// The first octet had been sent before.
    pub retransmission: Vec<bool>,
}

/// Times of arrival, and positions in the stream.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Arrivals {
    /// Times of arrival, ascending.
    pub time: Vec<Time>,
    /// Positions in the stream.
    pub offset: Vec<u64>,
}

/// Ranges of positions, each with its time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ranges {
    /// Times at which each was sent, reported or lost.
    pub time: Vec<Time>,
    /// First position of each range.
    pub offset: Vec<u64>,
    /// Octets of TCP; of SCTP chunks in a SACK block, octets in a lost chunk.
    pub len: Vec<u32>,
}

impl Arrivals {
    fn push(&mut self, now: Time, offset: u64) {
        self.time.push(now);
        self.offset.push(offset);
    }
}

impl Ranges {
    fn push(&mut self, now: Time, offset: u64, len: u32) {
        self.time.push(now);
        self.offset.push(offset);
        self.len.push(len);
    }
}

/// What went over one way: a TCP connection has one, MPTCP one for each
/// subflow, SCTP one for each of the peer's addresses.
#[derive(Clone, PartialEq, Debug)]
pub struct Lane {
    /// Addresses and ports of the data.
    pub key: FlowKey,
    /// Data packets that the sender sent.
    pub sends: Sends,
    /// Acknowledgments that the sender received, duplicates included: the
    /// position up to which they acknowledge.
    pub acks: Arrivals,
    /// The blocks of their selective acknowledgments.
    pub sacks: Ranges,
    /// Data packets that the receiver received.
    pub receives: Arrivals,
    /// Data packets that were dropped on the way, when and wherever that was.
    pub drops: Ranges,
    space: usize,
}

/// The numbers that one or several lanes use.
#[derive(Clone, PartialEq, Debug, Default)]
struct Space {
    /// The number at position 0, once the connection was opened.
    first: Option<Serial32>,
    /// End of what was sent so far.
    sent: u64,
}

/// Records the packets of chosen flows.
#[derive(Clone, Debug, Default)]
pub struct PacketRecorder {
    tracks: Vec<Option<Track>>,
    /// The flow whose data packets carry each key, for drops on links.
    owners: BTreeMap<FlowKey, FlowId>,
}

#[derive(Clone, Debug)]
struct Track {
    sender: Side,
    lanes: Vec<Lane>,
    spaces: Vec<Space>,
}

impl PacketRecorder {
    /// Makes a recorder that records nothing yet.
    pub fn new() -> PacketRecorder {
        PacketRecorder::default()
    }

    /// Also records this flow, with this side as the sender.
    pub fn record(&mut self, flow: FlowId, sender: Side) {
        let index = flow.0 as usize;
        if self.tracks.len() <= index {
            self.tracks.resize(index + 1, None);
        }
        self.tracks[index] = Some(Track { sender, lanes: Vec::new(), spaces: Vec::new() });
    }

    /// What was recorded, by the order in which the ways were used first; none
    /// if the flow is not recorded or has sent nothing.
    pub fn lanes(&self, flow: FlowId) -> &[Lane] {
        let track = self.tracks.get(flow.0 as usize).and_then(Option::as_ref);
        track.map_or(&[], |track| &track.lanes)
    }
}

impl Observer for PacketRecorder {
    fn interests(&self) -> Interests {
        Interests { packets: true, ..Interests::default() }
    }

    fn packet(&mut self, now: Time, event: &PacketEvent, packet: &Packet) {
        if event.kind.is_drop() {
            let owner = self.owners.get(&packet.flow_key());
            let track = owner.and_then(|flow| self.tracks[flow.0 as usize].as_mut());
            return track.into_iter().for_each(|track| track.dropped(now, packet));
        }
        let Some((flow, side)) = event.flow else { return };
        let Some(Some(track)) = self.tracks.get_mut(flow.0 as usize) else { return };
        match (event.kind, side == track.sender) {
            (PacketEventKind::Sent, true) => {
                self.owners.entry(packet.flow_key()).or_insert(flow);
                track.sent(now, packet);
            }
            (PacketEventKind::Received, true) => track.acknowledged(now, packet),
            (PacketEventKind::Received, false) => track.received(now, packet),
            _ => {}
        }
    }
}

impl Track {
    /// The lane of data with this key, and its numbers; a new one if need be.
    fn lane(&mut self, key: FlowKey) -> (&mut Lane, &mut Space) {
        let shared = key.protocol == SctpPacket::PROTOCOL;
        let same = |lane: &Lane| lane.key == key || (shared && lane.key.dst == key.dst);
        let index = self.lanes.iter().position(same).unwrap_or_else(|| {
            if !shared || self.spaces.is_empty() {
                self.spaces.push(Space::default());
            }
            self.lanes.push(Lane {
                key,
                sends: Sends::default(),
                acks: Arrivals::default(),
                sacks: Ranges::default(),
                receives: Arrivals::default(),
                drops: Ranges::default(),
                space: self.spaces.len() - 1,
            });
            self.lanes.len() - 1
        });
        let lane = &mut self.lanes[index];
        let space = &mut self.spaces[lane.space];
        (lane, space)
    }

    fn sent(&mut self, now: Time, packet: &Packet) {
        let (lane, space) = self.lane(packet.flow_key());
        if let Some(first) = numbers::opens(packet).filter(|open| Some(*open) != space.first) {
            *space = Space { first: Some(first), sent: 0 };
        }
        numbers::pieces(packet, |piece| {
            let Some(offset) = space.offset(piece.first) else { return };
            lane.sends.time.push(now);
            lane.sends.offset.push(offset);
            lane.sends.len.push(piece.len);
            lane.sends.retransmission.push(offset < space.sent);
            space.sent = space.sent.max(offset + u64::from(piece.span));
        });
    }

    fn acknowledged(&mut self, now: Time, packet: &Packet) {
        let Some(number) = numbers::acknowledged(packet) else { return };
        let (lane, space) = self.lane(packet.flow_key().reversed());
        // The acknowledgment of a FIN is one beyond the payload.
        if let Some(offset) = space.offset(number) {
            lane.acks.push(now, offset.min(space.sent));
        }
        numbers::blocks(packet, |first, len| {
            if let Some(offset) = space.offset(first) {
                lane.sacks.push(now, offset, len);
            }
        });
    }

    fn received(&mut self, now: Time, packet: &Packet) {
        let (lane, space) = self.lane(packet.flow_key());
        numbers::pieces(packet, |piece| {
            if let Some(offset) = space.offset(piece.first) {
                lane.receives.push(now, offset);
            }
        });
    }

    fn dropped(&mut self, now: Time, packet: &Packet) {
        let (lane, space) = self.lane(packet.flow_key());
        numbers::pieces(packet, |piece| {
            if let Some(offset) = space.offset(piece.first) {
                lane.drops.push(now, offset, piece.len);
            }
        });
    }
}

impl Space {
    /// Position of a number near what was sent.
    fn offset(&self, number: Serial32) -> Option<u64> {
        number.expand(self.first?, self.sent)
    }
}
