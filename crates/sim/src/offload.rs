//! Receive offload: segments of a connection that follow each other and that a
//! host finds together are answered once, as by Linux's generic receive offload.
//!
//! What is found together is what whoever drives the simulation hands over
//! between two calls of [`Simulation::answer`](crate::Simulation::answer): in virtual time nothing is, every
//! packet having its own date. The endpoint hears of each segment at its date,
//! but its applications and its own packets wait until a segment does not
//! continue the one before, until [`MOST`] octets are together, or until
//! that call. So an ACK stands for up to 45 full segments, where
//! RFC 5681 §4.2 wishes for one for every second: what it forbids is to wait
//! longer than half a second. What does not follow ends a train, be it out of order,
//! doubled, marked or with other options, and so does a segment with other flags
//! than ACK and PSH or shorter than the one before. Deviation from Linux, whose trains end with PSH: what
//! waits here waits for what is there already, and no longer.
//!
//! Packets of SCTP are a train where they hold data alone whose TSNs follow each other, from one
//! address to one. RFC 9260 §6.2 wishes for a SACK for every second packet as well. What skips or
//! repeats a TSN ends a train, so that missing reports count as without; and so does the I bit
//! (RFC 7053), which asks for a SACK now.

use anabranch_network::NodeId;
use anabranch_units::Serial32;
use anabranch_wire::sctp::{Chunk, DataFlags};
use anabranch_wire::{Addr, Body, Ecn, Packet, SctpPacket, TcpFlags, TcpSegment, Timestamps};

/// Octets of data that are answered at once at most: those of Linux's largest
/// packet, with its headers.
const MOST: u32 = 65_536 - 60;

/// The hosts that take segments together, and the train at hand.
#[derive(Debug)]
pub(crate) struct Offload {
    /// Whether each node takes segments together.
    nodes: Vec<bool>,
    train: Option<Train>,
}

/// Segments that an endpoint has heard of and not answered.
#[derive(Debug)]
struct Train {
    endpoint: u32,
    /// Octets of payload in the train so far.
    len: u32,
    last: Piece,
}

/// A segment, or a packet with data, as a part of a train.
#[derive(Debug)]
struct Piece {
    first: Serial32,
    /// What the next one begins with.
    next: Serial32,
    len: u32,
    like: Like,
    ecn: Ecn,
}

/// What the pieces of a train have in common.
#[derive(PartialEq, Debug)]
enum Like {
    Tcp { ack: Serial32, timestamps: Option<Timestamps> },
    Sctp { src: Addr, dst: Addr },
}

impl Offload {
    /// Makes the offload of those nodes; `None` when there are none.
    pub fn new(nodes: Vec<bool>) -> Option<Offload> {
        let some = nodes.contains(&true);
        some.then_some(Offload { nodes, train: None })
    }

    /// Returns the endpoint whose train this packet ends before it is heard of, if it does not
    /// continue it.
    #[inline]
    pub fn before(&mut self, endpoint: u32, packet: &Packet) -> Option<u32> {
        let train = self.train.as_ref()?;
        let continues = train.endpoint == endpoint && train.is_continued_by(packet);
        if continues { None } else { self.end() }
    }

    /// Ends the train, and returns the endpoint whose it was.
    pub fn end(&mut self) -> Option<u32> {
        self.train.take().map(|train| train.endpoint)
    }

    /// The endpoint has heard of the packet; true when it may not answer yet.
    #[inline]
    pub fn after(&mut self, node: NodeId, endpoint: u32, packet: &Packet) -> bool {
        if !self.nodes[node.0 as usize] {
            return false;
        }
        self.train = Train::with(self.train.take(), endpoint, packet);
        self.train.is_some()
    }
}

impl Train {
    /// The train that the packet continues or begins; `None` if the packet ends it. Where there was
    /// one, the packet continues it.
    fn with(before: Option<Train>, endpoint: u32, packet: &Packet) -> Option<Train> {
        let piece = Piece::of(packet)?;
        let shrinks = before.as_ref().is_some_and(|before| piece.is_less_than(&before.last));
        let len = before.map_or(0, |before| before.len) + piece.len;
        let ends = shrinks || len + piece.len > MOST;
        (!ends).then_some(Train { endpoint, len, last: piece })
    }

    /// The packet is the next one, and tells nothing new beside its data.
    fn is_continued_by(&self, packet: &Packet) -> bool {
        Piece::of(packet).is_some_and(|piece| {
            piece.first == self.last.next
                && piece.like == self.last.like
                && piece.ecn == self.last.ecn
                && !self.last.is_less_than(&piece)
        })
    }
}

impl Piece {
    fn of(packet: &Packet) -> Option<Piece> {
        match &packet.body {
            Body::Tcp(segment) => Piece::of_segment(packet, segment),
            Body::Sctp(sctp) => Piece::of_chunks(packet, sctp),
            _ => None,
        }
    }

    fn of_segment(packet: &Packet, segment: &TcpSegment) -> Option<Piece> {
        let (len, options) = (segment.payload.len(), &segment.options);
        let plain = segment.flags.union(TcpFlags::PSH) == TcpFlags::ACK.union(TcpFlags::PSH);
        let timestamps_alone =
            options.sack.is_empty() && options.acc_ecn.is_none() && options.rare.is_none();
        if !plain || len == 0 || !timestamps_alone {
            return None;
        }
        let like = Like::Tcp { ack: segment.ack, timestamps: options.timestamps };
        let (first, next) = (segment.seq, segment.seq.add(len));
        Some(Piece { first, next, len, like, ecn: packet.ecn })
    }

    fn of_chunks(packet: &Packet, sctp: &SctpPacket) -> Option<Piece> {
        let mut tsns: Option<(Serial32, Serial32)> = None;
        let mut len = 0;
        for chunk in sctp.chunks.iter() {
            let (tsn, flags, payload) = match chunk {
                Chunk::Data(data) => (data.tsn, data.flags, &data.payload),
                Chunk::IData(data) => (data.tsn, data.flags, &data.payload),
                _ => return None,
            };
            let (first, next) = *tsns.get_or_insert((tsn, tsn));
            if tsn != next || flags.contains(DataFlags::IMMEDIATE) {
                return None;
            }
            tsns = Some((first, tsn.add(1)));
            len += payload.len();
        }
        let (first, next) = tsns?;
        let like = Like::Sctp { src: packet.src, dst: packet.dst };
        Some(Piece { first, next, len, like, ecn: packet.ecn })
    }

    /// A segment shorter than another is the last of its train; messages have any length.
    fn is_less_than(&self, other: &Piece) -> bool {
        matches!(self.like, Like::Tcp { .. }) && self.len < other.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::Payload;
    use anabranch_wire::sctp::DataChunk;

    const PLAIN: DataFlags = DataFlags(0);

    fn chunk(tsn: u32, flags: DataFlags) -> Chunk {
        let payload = Payload::virtual_of(1000);
        Chunk::Data(DataChunk { flags, tsn: Serial32(tsn), stream: 0, ssn: 0, ppid: 0, payload })
    }

    fn packet(src: u32, chunks: Vec<Chunk>) -> Packet {
        let chunks = chunks.into_iter().collect();
        let sctp = SctpPacket {
            src_port: 1,
            dst_port: 2,
            tag: 3,
            udp: None,
            zero_checksum: false,
            chunks,
        };
        Packet::new(Addr(src), Addr(9), Body::Sctp(Box::new(sctp)))
    }

    /// After how many packets the endpoint answers.
    fn answers(packets: &[Packet]) -> Vec<usize> {
        let mut offload = Offload::new(vec![true]).unwrap();
        let mut answers = Vec::new();
        for (i, packet) in packets.iter().enumerate() {
            answers.extend(offload.before(0, packet).map(|_| i));
            if !offload.after(NodeId(0), 0, packet) {
                answers.push(i + 1);
            }
        }
        answers.extend(offload.train.map(|_| packets.len()));
        answers
    }

    #[test]
    fn data_whose_tsns_follow_each_other_is_answered_once() {
        let one = |tsn| packet(0, vec![chunk(tsn, PLAIN)]);
        assert_eq!(answers(&[one(u32::MAX), one(0), one(1)]), [3]);
        let two = packet(0, vec![chunk(2, PLAIN), chunk(3, PLAIN)]);
        assert_eq!(answers(&[one(1), two.clone(), one(4)]), [3], "bundles");
        let at_once = packet(0, vec![chunk(2, DataFlags::IMMEDIATE)]);
        let with_sack = packet(0, vec![Chunk::CookieAck, chunk(2, PLAIN)]);
        let marked = Packet { ecn: Ecn::Ce, ..one(2) };
        let table: [(&str, Packet, &[usize]); 6] = [
            ("a gap", one(3), &[1, 3]),
            ("the same again", one(1), &[1, 3]),
            ("the I bit", at_once, &[1, 2, 3]),
            ("another chunk", with_sack, &[1, 2, 3]),
            ("another address", packet(1, vec![chunk(2, PLAIN)]), &[1, 2, 3]),
            ("a mark", marked, &[1, 2, 3]),
        ];
        for (what, second, expected) in table {
            let third = match what {
                "a gap" => one(4),
                "the same again" => one(2),
                _ => one(3),
            };
            assert_eq!(answers(&[one(1), second, third]), expected, "{what}");
        }
        let many: Vec<_> = (0..70).map(one).collect();
        assert_eq!(answers(&many), [65, 70], "as many octets as of TCP");
    }
}
