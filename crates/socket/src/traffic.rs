//! What has come and gone on a connection, in segments and octets, as `TCP_INFO` counts it.

use anabranch_tcp::Connection;
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::{Body, Ecn, Packet, TcpFlags};

/// Counts since the connection began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Segments that came in.
    pub segments_in: u64,
    /// Of the segments that came, those with data.
    pub data_segments_in: u64,
    /// Of these, those above a gap.
    pub out_of_order: u64,
    /// Segments that left; a SYN-ACK is none of the connection's.
    pub segments_out: u64,
    /// Of the segments that left, those with data.
    pub data_segments_out: u64,
    /// Octets of data that left.
    pub sent: u64,
    /// Of these octets, those sent again.
    pub sent_again: u64,
    /// Reports of duplicates that came (RFC 2883).
    pub duplicates_reported: u64,
    /// Data came in a packet that ECN-capable routers may mark, or have marked.
    pub ecn_seen: bool,
    /// Time at which an acknowledgment came last.
    acknowledged_at: Option<Time>,
    /// The number after the highest octet that left.
    highest: Option<Serial32>,
}

impl Traffic {
    /// Makes the counts of a connection that was accepted: its SYN and the ACK of the handshake
    /// have come.
    pub fn accepted(readable: u64, synchronized: bool, now: Time) -> Traffic {
        Traffic {
            segments_in: 1 + synchronized as u64,
            data_segments_in: (readable > 0) as u64,
            acknowledged_at: Some(now),
            ..Traffic::default()
        }
    }

    /// A packet comes for `connection`, which has not seen it.
    pub fn on_input(&mut self, now: Time, packet: &Packet, connection: &Connection) {
        let Body::Tcp(segment) = &packet.body else { return };
        self.segments_in += 1;
        if segment.flags.contains(TcpFlags::ACK) {
            self.acknowledged_at = Some(now);
        }
        let first = segment.options.sack.as_slice().first();
        self.duplicates_reported +=
            first.is_some_and(|block| !segment.ack.is_before(block.right)) as u64;
        if segment.payload.is_empty() {
            return;
        }
        self.data_segments_in += 1;
        self.ecn_seen |= packet.ecn != Ecn::NotEct;
        let next = connection.received_number(connection.next_expected());
        self.out_of_order += next.is_before(segment.seq) as u64;
    }

    /// Counts a packet that leaves.
    pub fn on_output(&mut self, packet: &Packet) {
        let Body::Tcp(segment) = &packet.body else { return };
        let syn_ack = TcpFlags::SYN.union(TcpFlags::ACK);
        if segment.flags.contains(syn_ack) {
            return;
        }
        self.segments_out += 1;
        let len = segment.payload.len();
        if len == 0 {
            return;
        }
        let end = segment.seq.add(segment.seq_len());
        let highest = self.highest.get_or_insert(segment.seq);
        let new = end.distance_from(*highest).clamp(0, len as i32) as u64;
        if highest.is_before(end) {
            *highest = end;
        }
        self.data_segments_out += 1;
        self.sent += len as u64;
        self.sent_again += len as u64 - new;
    }

    /// Returns how long no acknowledgment has come.
    pub fn since_acknowledgment(&self, now: Time) -> Span {
        self.acknowledged_at.map_or(Span::ZERO, |at| now.saturating_since(at))
    }
}
