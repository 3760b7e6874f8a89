//! SACK (RFC 9260 §3.3.4), FORWARD-TSN (RFC 3758 §3.2) and I-FORWARD-TSN
//! (RFC 8260 §2.3.1).
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 3    |  Chunk Flags  |         Chunk Length          |
//! |                      Cumulative TSN Ack                       |
//! |          Advertised Receiver Window Credit (a_rwnd)           |
//! | Number of Gap Ack Blocks = N  |  Number of Duplicate TSNs = M |
//! |    Gap Ack Block #1 Start     |     Gap Ack Block #1 End      |
//! |                        Duplicate TSN 1                        |
//! ```

use super::packet::SctpError;
use super::tlv::{Reader, Sink};
use anabranch_units::Serial32;

/// TSNs received beyond the cumulative TSN: offsets from it, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GapBlock {
    /// Offset of the first.
    pub start: u16,
    /// Offset of the last.
    pub end: u16,
}

/// SACK.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SackChunk {
    /// All TSNs up to this one have been received.
    pub cum_tsn: Serial32,
    /// Room of the receiver, in octets.
    pub a_rwnd: u32,
    /// What was received beyond.
    pub gaps: Vec<GapBlock>,
    /// TSNs received again since the last SACK.
    pub duplicates: Vec<Serial32>,
    /// Packets with data that the SACK answers, up to 3, in the two highest
    /// flags; 0 where the sender does not say (delayed acknowledgments for
    /// concurrent multipath transfer: Iyengar et al. 2006 §III-C).
    pub packets: u8,
}

impl SackChunk {
    /// Octets of a SACK without gap blocks and duplicates.
    pub const HEADER: u32 = 16;

    pub(super) fn emit<S: Sink>(&self, s: &mut S) {
        s.u32(self.cum_tsn.0);
        s.u32(self.a_rwnd);
        s.u16(self.gaps.len() as u16); // a list too long for it breaks the length first
        s.u16(self.duplicates.len() as u16);
        for gap in &self.gaps {
            s.u16(gap.start);
            s.u16(gap.end);
        }
        self.duplicates.iter().for_each(|tsn| s.u32(tsn.0));
    }

    pub(super) fn parse(flags: u8, r: &mut Reader<'_>) -> Result<SackChunk, SctpError> {
        let (cum_tsn, a_rwnd) = (r.serial()?, r.u32()?);
        let (gaps, duplicates) = (r.u16()? as usize, r.u16()? as usize);
        let gaps = r.take(4 * gaps)?;
        let duplicates = r.take(4 * duplicates)?;
        let gap = |c: &[u8]| GapBlock {
            start: u16::from_be_bytes([c[0], c[1]]),
            end: u16::from_be_bytes([c[2], c[3]]),
        };
        let tsn = |c: &[u8]| Serial32(u32::from_be_bytes([c[0], c[1], c[2], c[3]]));
        Ok(SackChunk {
            cum_tsn,
            a_rwnd,
            gaps: gaps.chunks_exact(4).map(gap).collect(),
            duplicates: duplicates.chunks_exact(4).map(tsn).collect(),
            packets: flags >> 6,
        })
    }
}

/// FORWARD-TSN: the receiver stops waiting for what comes before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForwardTsn {
    /// The new cumulative TSN.
    pub cum_tsn: Serial32,
    /// Streams with the last stream sequence number skipped.
    pub skipped: Vec<(u16, u16)>,
}

impl ForwardTsn {
    pub(super) fn emit<S: Sink>(&self, s: &mut S) {
        s.u32(self.cum_tsn.0);
        for (stream, ssn) in &self.skipped {
            s.u16(*stream);
            s.u16(*ssn);
        }
    }

    pub(super) fn parse(r: &mut Reader<'_>) -> Result<ForwardTsn, SctpError> {
        let cum_tsn = r.serial()?;
        let mut skipped = Vec::new();
        while !r.is_empty() {
            skipped.push((r.u16()?, r.u16()?));
        }
        Ok(ForwardTsn { cum_tsn, skipped })
    }
}

/// A message skipped by an I-FORWARD-TSN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SkippedMessage {
    /// Stream identifier.
    pub stream: u16,
    /// The message was unordered.
    pub unordered: bool,
    /// Message identifier.
    pub mid: u32,
}

/// I-FORWARD-TSN.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IForwardTsn {
    /// The new cumulative TSN.
    pub cum_tsn: Serial32,
    /// Streams with the last message skipped.
    pub skipped: Vec<SkippedMessage>,
}

impl IForwardTsn {
    pub(super) fn emit<S: Sink>(&self, s: &mut S) {
        s.u32(self.cum_tsn.0);
        for message in &self.skipped {
            s.u16(message.stream);
            s.u16(message.unordered as u16);
            s.u32(message.mid);
        }
    }

    pub(super) fn parse(r: &mut Reader<'_>) -> Result<IForwardTsn, SctpError> {
        let cum_tsn = r.serial()?;
        let mut skipped = Vec::new();
        while !r.is_empty() {
            let (stream, flags, mid) = (r.u16()?, r.u16()?, r.u32()?);
            skipped.push(SkippedMessage { stream, unordered: flags & 1 == 1, mid });
        }
        Ok(IForwardTsn { cum_tsn, skipped })
    }
}
