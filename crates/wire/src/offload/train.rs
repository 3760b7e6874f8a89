//! Segments that follow each other, for a kernel that takes them as one.
//!
//! They are those that Linux's generic receive offload takes together: of one
//! connection, in order, of the same size but for the last, and with equal
//! acknowledgment, window, options and fields of IP. PSH ends a train;
//! what has other flags than that and ACK is by itself.

use super::{DeviceHeader, TCP_V4, TCP_V6};
use crate::address::AddressBook;
use crate::checksum::Sum;
use crate::error::EmitError;
use crate::packet::{Body, Packet, Payload};
use crate::tcp::{CHECKSUM_AT, TcpFlags, TcpSegment};

/// `MOST` is the most octets of IP that are handed over as one packet, as in Linux.
const MOST: usize = 65_535;
/// `FLAGS` is the place of the low octet of the flags in the TCP header.
const FLAGS: usize = 13;

/// A packet in its octets behind a [`DeviceHeader`], and the segments that have
/// been joined to it.
#[derive(Debug)]
pub struct Train {
    /// `next` is what the next packet must be like, without its data.
    next: Packet,
    /// `size` is how many octets of data each segment has; the last may have fewer.
    size: u16,
    /// `ended` says that the last segment has been joined: one with PSH, or a shorter one.
    ended: bool,
    packets: u32,
}

impl Train {
    /// Appends the header and the packet to `out`, which is empty; `None` if
    /// nothing can be joined to it.
    ///
    /// # Errors
    /// See [`EmitError`]; `out` is then empty.
    pub fn begin(
        packet: &Packet,
        book: &AddressBook,
        out: &mut Vec<u8>,
    ) -> Result<Option<Train>, EmitError> {
        packet.emit_for_device(book, out)?;
        let Body::Tcp(segment) = &packet.body else { return Ok(None) };
        let data = segment.payload.octets().unwrap_or_default();
        let (size, flags) = (data.len() as u16, segment.flags);
        if size == 0 || flags != TcpFlags::ACK || out.len() + data.len() > MOST {
            return Ok(None);
        }
        let mut next = Packet { body: Body::Tcp(without_data(segment)), ..*packet };
        next.advance(size.into());
        Ok(Some(Train { next, size, ended: false, packets: 1 }))
    }

    /// Appends the data of a packet that continues the train; false, and nothing
    /// is changed, if it does not.
    pub fn join(&mut self, packet: &Packet, out: &mut Vec<u8>) -> bool {
        let (Body::Tcp(next), Body::Tcp(segment)) = (&self.next.body, &packet.body) else {
            return false;
        };
        let Some(data) = segment.payload.octets() else { return false };
        let fits = !data.is_empty()
            && data.len() <= self.size.into()
            && out.len() - DeviceHeader::LEN + data.len() <= MOST;
        let flags = segment.flags.without(TcpFlags::PSH);
        let follows = segment.seq == next.seq
            && flags == TcpFlags::ACK
            && (segment.src_port, segment.dst_port) == (next.src_port, next.dst_port)
            && (segment.ack, segment.window) == (next.ack, next.window)
            && segment.options == next.options;
        let alike = (packet.src, packet.dst, packet.ttl, packet.dscp, packet.ecn)
            == (self.next.src, self.next.dst, self.next.ttl, self.next.dscp, self.next.ecn);
        if self.ended || !fits || !follows || !alike {
            return false;
        }
        let pushed = segment.flags.contains(TcpFlags::PSH);
        self.ended = pushed || data.len() < self.size.into();
        out.extend_from_slice(data);
        self.next.advance(data.len() as u32);
        self.packets += 1;
        if pushed {
            let at = transport(out) + FLAGS;
            out[at] |= TcpFlags::PSH.0 as u8;
        }
        true
    }

    /// Makes one packet of what has been joined. Returns how many there are.
    pub fn finish(self, out: &mut [u8]) -> u32 {
        if self.packets > 1 {
            let transport = transport(out);
            let (header, packet) = out.split_at_mut(DeviceHeader::LEN);
            let transport = transport - DeviceHeader::LEN;
            let len = (packet.len() - transport) as u16;
            let (kind, addresses) = if packet[0] >> 4 == 4 {
                let total = (packet.len() as u16).to_be_bytes();
                packet[2..4].copy_from_slice(&total);
                packet[10..12].fill(0);
                let sum = Sum::default().with(&packet[..transport]).checksum();
                packet[10..12].copy_from_slice(&sum.to_be_bytes());
                (TCP_V4, 12..20)
            } else {
                packet[4..6].copy_from_slice(&len.to_be_bytes());
                (TCP_V6, 8..40)
            };
            let pseudo = Sum::default()
                .with(&packet[addresses])
                .with(&[0, TcpSegment::PROTOCOL])
                .with(&len.to_be_bytes());
            let at = transport + CHECKSUM_AT;
            packet[at..at + 2].copy_from_slice(&(!pseudo.checksum()).to_be_bytes());
            let options = usize::from(packet[transport + 12] >> 4) * 4;
            // Where the checksum is, the header says already.
            header[1] = kind;
            header[2..4].copy_from_slice(&((transport + options) as u16).to_ne_bytes());
            header[4..6].copy_from_slice(&self.size.to_ne_bytes());
        }
        self.packets
    }
}

/// Returns where TCP begins in what was emitted, which has neither options of IPv4 nor extension
/// headers.
fn transport(out: &[u8]) -> usize {
    DeviceHeader::LEN + if out[DeviceHeader::LEN] >> 4 == 4 { 20 } else { 40 }
}

fn without_data(segment: &TcpSegment) -> TcpSegment {
    TcpSegment { payload: Payload::EMPTY, options: segment.options.clone(), ..*segment }
}

impl Packet {
    fn advance(&mut self, octets: u32) {
        if let Body::Tcp(segment) = &mut self.body {
            segment.seq = segment.seq.add(octets);
        }
    }
}
