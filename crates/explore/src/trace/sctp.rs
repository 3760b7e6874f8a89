//! An SCTP packet on a line, TSNs counted from the first.

use anabranch_units::Serial32;
use anabranch_wire::SctpPacket;
use anabranch_wire::sctp::{Chunk, DataFlags};

/// First TSNs of both sides, once their INIT or INIT ACK was shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Origins([Option<Serial32>; 2]);

/// The packet that `from` sends.
pub(super) fn show(packet: &SctpPacket, from: usize, origins: &mut Origins) -> String {
    let chunks: Vec<String> = packet
        .chunks
        .iter()
        .map(|chunk| {
            if let Chunk::Init(init) | Chunk::InitAck(init) = chunk {
                origins.0[from].get_or_insert(init.tsn);
            }
            self::chunk(chunk, from, origins)
        })
        .collect();
    format!("sctp {}", chunks.join(" "))
}

fn chunk(chunk: &Chunk, from: usize, origins: &Origins) -> String {
    let count = |side: usize, tsn: Serial32| {
        let origin = origins.0[side].unwrap_or(Serial32(0));
        // The cumulative TSN before the first is -1.
        i64::from(tsn.0.wrapping_sub(origin.0).cast_signed())
    };
    let own = |tsn| count(from, tsn);
    let theirs = |tsn| count(1 - from, tsn);
    match chunk {
        Chunk::Data(data) => {
            let (stream, ssn, len) = (data.stream, data.ssn, data.payload.len());
            let flags = flags(data.flags);
            format!("[DATA {flags}TSN {} SID {stream} SSEQ {ssn} length {len}]", own(data.tsn))
        }
        Chunk::IData(i_data) => {
            let (stream, mid, len) = (i_data.stream, i_data.mid, i_data.payload.len());
            let flags = flags(i_data.flags);
            format!("[I-DATA {flags}TSN {} SID {stream} MID {mid} length {len}]", own(i_data.tsn))
        }
        Chunk::Sack(sack) => {
            let gaps = sack.gaps.iter().map(|gap| format!(" {}-{}", gap.start, gap.end));
            let gaps: String = gaps.collect();
            let (cum, window) = (theirs(sack.cum_tsn), sack.a_rwnd);
            let (count, copies) = (sack.gaps.len(), sack.duplicates.len());
            format!("[SACK cum {cum} a_rwnd {window} #gaps {count}{gaps} #dups {copies}]")
        }
        Chunk::Shutdown(cum) => format!("[SHUTDOWN cum {}]", theirs(*cum)),
        Chunk::ForwardTsn(forward_tsn) => format!("[FORWARD TSN {}]", own(forward_tsn.cum_tsn)),
        Chunk::IForwardTsn(i_forward_tsn) => {
            format!("[I-FORWARD TSN {}]", own(i_forward_tsn.cum_tsn))
        }
        Chunk::Init(init) => format!("[INIT a_rwnd {}]", init.a_rwnd),
        Chunk::InitAck(init_ack) => format!("[INIT ACK a_rwnd {}]", init_ack.a_rwnd),
        Chunk::Heartbeat(_) => "[HB REQ]".to_owned(),
        Chunk::HeartbeatAck(_) => "[HB ACK]".to_owned(),
        Chunk::Error(causes) => format!("[ERROR {causes:?}]"),
        Chunk::Ecne(tsn) => format!("[ECN ECHO {}]", theirs(*tsn)),
        Chunk::Cwr(tsn) => format!("[CWR {}]", own(*tsn)),
        other => match other.name() {
            Some(name) => format!("[{name}]"),
            None => format!("[type {}]", other.kind()),
        },
    }
}

/// Letters of the flags, as tcpdump has them.
fn flags(flags: DataFlags) -> String {
    let letters = [
        (DataFlags::IMMEDIATE, 'I'),
        (DataFlags::UNORDERED, 'U'),
        (DataFlags::BEGIN, 'B'),
        (DataFlags::END, 'E'),
    ];
    let set: String =
        letters.iter().filter(|letter| flags.contains(letter.0)).map(|letter| letter.1).collect();
    if set.is_empty() { set } else { format!("({set}) ") }
}
