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
        Chunk::Data(it) => {
            let (stream, ssn, len) = (it.stream, it.ssn, it.payload.len());
            let flags = flags(it.flags);
            format!("[DATA {flags}TSN {} SID {stream} SSEQ {ssn} length {len}]", own(it.tsn))
        }
        Chunk::IData(it) => {
            let (stream, mid, len) = (it.stream, it.mid, it.payload.len());
            let flags = flags(it.flags);
            format!("[I-DATA {flags}TSN {} SID {stream} MID {mid} length {len}]", own(it.tsn))
        }
        Chunk::Sack(it) => {
            let gaps = it.gaps.iter().map(|gap| format!(" {}-{}", gap.start, gap.end));
            let gaps: String = gaps.collect();
            let (cum, window) = (theirs(it.cum_tsn), it.a_rwnd);
            let (count, copies) = (it.gaps.len(), it.duplicates.len());
            format!("[SACK cum {cum} a_rwnd {window} #gaps {count}{gaps} #dups {copies}]")
        }
        Chunk::Shutdown(cum) => format!("[SHUTDOWN cum {}]", theirs(*cum)),
        Chunk::ForwardTsn(it) => format!("[FORWARD TSN {}]", own(it.cum_tsn)),
        Chunk::IForwardTsn(it) => format!("[I-FORWARD TSN {}]", own(it.cum_tsn)),
        Chunk::Init(it) => format!("[INIT a_rwnd {}]", it.a_rwnd),
        Chunk::InitAck(it) => format!("[INIT ACK a_rwnd {}]", it.a_rwnd),
        Chunk::CookieEcho(_) => "[COOKIE ECHO]".to_owned(),
        Chunk::CookieAck => "[COOKIE ACK]".to_owned(),
        Chunk::ShutdownAck => "[SHUTDOWN ACK]".to_owned(),
        Chunk::ShutdownComplete { .. } => "[SHUTDOWN COMPLETE]".to_owned(),
        Chunk::Heartbeat(_) => "[HB REQ]".to_owned(),
        Chunk::HeartbeatAck(_) => "[HB ACK]".to_owned(),
        Chunk::Abort { .. } => "[ABORT]".to_owned(),
        Chunk::Error(causes) => format!("[ERROR {causes:?}]"),
        Chunk::Auth { .. } => "[AUTH]".to_owned(),
        Chunk::Ecne(tsn) => format!("[ECN ECHO {}]", theirs(*tsn)),
        Chunk::Cwr(tsn) => format!("[CWR {}]", own(*tsn)),
        other => format!("[type {}]", other.kind()),
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
    let set: String = letters.iter().filter(|it| flags.contains(it.0)).map(|it| it.1).collect();
    if set.is_empty() { set } else { format!("({set}) ") }
}
