//! What is needed of an SCTP packet, from the octets of its headers (RFC 9260
//! §3). A packet that a snap length has cut tells what came before the cut.

use anabranch_units::Serial32;
use anabranch_wire::sctp::kind;

/// A packet: its common header, and the chunks that matter here.
pub(super) struct Packet {
    pub(super) ports: [u16; 2],
    pub(super) tag: u32,
    /// The tag that the packet's INIT announces; an INIT has none itself.
    pub(super) init: Option<u32>,
    /// It may bear the tag of its own side (the T bit of ABORT and SHUTDOWN
    /// COMPLETE, §8.5.1).
    pub(super) reflects: bool,
    pub(super) chunks: Vec<Chunk>,
}

/// A chunk, as far as it is looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Chunk {
    /// INIT or INIT ACK, with tag and initial TSN.
    Init { tag: u32, tsn: Serial32 },
    /// DATA or I-DATA, with TSN and octets of data.
    Data { tsn: Serial32, len: u32 },
    /// SACK, with the offsets of its blocks.
    Sack { cum_tsn: Serial32, gaps: Vec<[u16; 2]> },
    /// SHUTDOWN: the sender has nothing more to send. It acknowledges, too.
    Shutdown { cum_tsn: Serial32 },
    /// SHUTDOWN ACK: nor has the other.
    ShutdownAck,
}

const COMMON_HEADER: usize = 12;

/// Reads a packet; `None` where the common header or the first chunk is not
/// there.
pub(super) fn read(octets: &[u8]) -> Option<Packet> {
    let port = |at: usize| Some(u16::from_be_bytes(*octets.get(at..)?.first_chunk()?));
    let tag = u32::from_be_bytes(*octets.get(4..)?.first_chunk()?);
    let mut packet = Packet {
        ports: [port(0)?, port(2)?],
        tag,
        init: None,
        reflects: false,
        chunks: Vec::new(),
    };
    let mut rest = octets.get(COMMON_HEADER..).filter(|octet| octet.len() >= 4)?;
    while let [kind, flags, high, low, ..] = *rest {
        let len = usize::from(u16::from_be_bytes([high, low]));
        let Some(data) = len.checked_sub(4) else { break };
        let body = &rest[4..rest.len().min(len)];
        match kind {
            kind::ABORT | kind::SHUTDOWN_COMPLETE => packet.reflects |= flags & 1 != 0,
            _ => {
                if let Some(chunk) = chunk(kind, data as u32, body) {
                    if let (kind::INIT, Chunk::Init { tag, .. }) = (kind, &chunk) {
                        packet.init = Some(*tag);
                    }
                    packet.chunks.push(chunk);
                }
            }
        }
        rest = rest.get(len.next_multiple_of(4)..).unwrap_or(&[]);
    }
    Some(packet)
}

/// A chunk of this type whose body has `len` octets, of which some may be cut.
fn chunk(kind: u8, len: u32, body: &[u8]) -> Option<Chunk> {
    let word = |at: usize| Some(u32::from_be_bytes(*body.get(at..)?.first_chunk()?));
    let half = |at: usize| Some(u16::from_be_bytes(*body.get(at..)?.first_chunk()?));
    Some(match kind {
        kind::DATA => Chunk::Data { tsn: Serial32(word(0)?), len: len.checked_sub(12)? },
        kind::I_DATA => Chunk::Data { tsn: Serial32(word(0)?), len: len.checked_sub(16)? },
        kind::INIT | kind::INIT_ACK => Chunk::Init { tag: word(0)?, tsn: Serial32(word(12)?) },
        kind::SACK => {
            let stated = usize::from(half(8)?);
            let gap = |n: usize| Some([half(12 + 4 * n)?, half(14 + 4 * n)?]);
            let gaps = (0..stated).map_while(gap).collect();
            Chunk::Sack { cum_tsn: Serial32(word(0)?), gaps }
        }
        kind::SHUTDOWN => Chunk::Shutdown { cum_tsn: Serial32(word(0)?) },
        kind::SHUTDOWN_ACK => Chunk::ShutdownAck,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with these chunks, each padded to four octets.
    fn packet(chunks: &[&[u8]]) -> Vec<u8> {
        let mut octets = vec![0x13, 0x88, 0x13, 0x89, 0, 0, 0, 7, 0, 0, 0, 0];
        for chunk in chunks {
            octets.extend_from_slice(chunk);
            octets.resize(octets.len().next_multiple_of(4), 0);
        }
        octets
    }

    #[test]
    fn chunks_in_a_bundle() {
        // SACK of 9 with the block 2 to 3; DATA 258 with 5 octets; SHUTDOWN.
        let sack = [3, 0, 0, 20, 0, 0, 0, 9, 0, 0, 16, 0, 0, 1, 0, 0, 0, 2, 0, 3];
        let data = [0, 3, 0, 21, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5];
        let shutdown = [7, 0, 0, 8, 0, 0, 0, 10];
        let octets = packet(&[&sack, &data, &shutdown]);
        let found = read(&octets).unwrap();
        assert_eq!(
            (found.ports, found.tag, found.init, found.reflects),
            ([5000, 5001], 7, None, false)
        );
        let data = Chunk::Data { tsn: Serial32(258), len: 5 };
        let sack = Chunk::Sack { cum_tsn: Serial32(9), gaps: vec![[2, 3]] };
        let shutdown = Chunk::Shutdown { cum_tsn: Serial32(10) };
        assert_eq!(found.chunks, [sack.clone(), data.clone(), shutdown]);
        // Cut in the payload the DATA is still told, cut in its TSN it is not.
        assert_eq!(read(&octets[..12 + 20 + 16]).unwrap().chunks, [sack.clone(), data]);
        assert_eq!(read(&octets[..12 + 20 + 6]).unwrap().chunks, [sack]);
    }

    #[test]
    fn what_is_no_packet() {
        assert!(read(&packet(&[])).is_none());
        assert!(read(&[0; 9]).is_none());
        // A chunk shorter than its header ends the packet.
        assert!(read(&packet(&[&[0, 0, 0, 3]])).unwrap().chunks.is_empty());
        // A reflected tag.
        assert!(read(&packet(&[&[6, 1, 0, 4]])).unwrap().reflects);
    }
}
