//! The packets of a TCP flow as a time-sequence plot shows them: what the
//! sender sent, the acknowledgments it received, what the receiver received.
//!
//! Positions are payload offsets in the sender's stream, from 0; the SYN that
//! the recorder sees tells the initial sequence number. Packets of other
//! protocols are not recorded.

use super::{Interests, Observer, PacketEvent, PacketEventKind};
use crate::flow::{FlowId, Side};
use anabranch_units::{Serial32, Time};
use anabranch_wire::{Body, Packet, TcpFlags};

/// Data packets sent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sends {
    /// When.
    pub time: Vec<Time>,
    /// Offset of the first octet.
    pub offset: Vec<u64>,
    /// Octets of payload.
    pub len: Vec<u32>,
    /// The first octet had been sent before.
    pub retransmission: Vec<bool>,
}

/// Dates and offsets.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Arrivals {
    /// When.
    pub time: Vec<Time>,
    /// Offset.
    pub offset: Vec<u64>,
}

impl Arrivals {
    fn push(&mut self, now: Time, offset: u64) {
        self.time.push(now);
        self.offset.push(offset);
    }
}

/// Records chosen flows.
#[derive(Clone, Debug, Default)]
pub struct PacketRecorder {
    tracks: Vec<Option<Track>>,
}

#[derive(Clone, Debug)]
struct Track {
    sender: Side,
    /// Sequence number of the first octet, once the SYN was sent.
    first: Option<Serial32>,
    /// End of what was sent so far.
    sent: u64,
    sends: Sends,
    acks: Arrivals,
    receives: Arrivals,
}

impl PacketRecorder {
    /// Records nothing yet.
    pub fn new() -> PacketRecorder {
        PacketRecorder::default()
    }

    /// Also records this flow, with this side as the sender.
    pub fn record(&mut self, flow: FlowId, sender: Side) {
        let index = flow.0 as usize;
        if self.tracks.len() <= index {
            self.tracks.resize(index + 1, None);
        }
        self.tracks[index] = Some(Track {
            sender,
            first: None,
            sent: 0,
            sends: Sends::default(),
            acks: Arrivals::default(),
            receives: Arrivals::default(),
        });
    }

    /// Data packets that the sender sent.
    pub fn sends(&self, flow: FlowId) -> Option<&Sends> {
        Some(&self.track(flow)?.sends)
    }

    /// Acknowledgments that the sender received, duplicates included: the
    /// payload offset up to which they acknowledge.
    pub fn acks(&self, flow: FlowId) -> Option<&Arrivals> {
        Some(&self.track(flow)?.acks)
    }

    /// Data packets that the receiver received.
    pub fn receives(&self, flow: FlowId) -> Option<&Arrivals> {
        Some(&self.track(flow)?.receives)
    }

    fn track(&self, flow: FlowId) -> Option<&Track> {
        self.tracks.get(flow.0 as usize)?.as_ref()
    }
}

impl Observer for PacketRecorder {
    fn interests(&self) -> Interests {
        Interests { packets: true, ..Interests::default() }
    }

    fn packet(&mut self, now: Time, event: &PacketEvent, packet: &Packet) {
        let Some((flow, side)) = event.flow else { return };
        let Some(Some(track)) = self.tracks.get_mut(flow.0 as usize) else { return };
        let Body::Tcp(segment) = &packet.body else { return };
        let len = segment.payload.len();
        let at_sender = side == track.sender;
        match event.kind {
            PacketEventKind::Sent if at_sender => {
                if segment.flags.contains(TcpFlags::SYN) {
                    track.first = Some(segment.seq.add(1));
                }
                let Some(offset) = track.offset(segment.seq).filter(|_| len > 0) else { return };
                track.sends.time.push(now);
                track.sends.offset.push(offset);
                track.sends.len.push(len);
                track.sends.retransmission.push(offset < track.sent);
                track.sent = track.sent.max(offset + len as u64);
            }
            PacketEventKind::Received if at_sender && segment.flags.contains(TcpFlags::ACK) => {
                // The acknowledgment of a FIN is one beyond the payload.
                let offset = track.offset(segment.ack).map(|offset| offset.min(track.sent));
                if let Some(offset) = offset {
                    track.acks.push(now, offset);
                }
            }
            PacketEventKind::Received if at_sender => {}
            PacketEventKind::Received if len > 0 => {
                if let Some(offset) = track.offset(segment.seq) {
                    track.receives.push(now, offset);
                }
            }
            _ => {}
        }
    }
}

impl Track {
    /// Payload offset of a sequence number near what was sent.
    fn offset(&self, seq: Serial32) -> Option<u64> {
        seq.expand(self.first?, self.sent)
    }
}
