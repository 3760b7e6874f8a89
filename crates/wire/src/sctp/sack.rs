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

/// `GapBlock` is a run of TSNs received beyond the cumulative TSN, by their offsets from it, both
/// included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GapBlock {
    /// `start` is the offset of the run's first TSN.
    pub start: u16,
    /// `end` is the offset of the run's last TSN.
    pub end: u16,
}

/// `SackChunk` is SACK: what its sender has received, and the room that it has left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SackChunk {
    /// `cum_tsn` is the cumulative TSN: all up to this one have been received.
    pub cum_tsn: Serial32,
    /// `a_rwnd` is what is left of the sender's receive buffer, in octets.
    pub a_rwnd: u32,
    /// `gaps` are the runs that were received beyond the cumulative TSN.
    pub gaps: Vec<GapBlock>,
    /// `duplicates` are TSNs received again since the last SACK, each as often as it came.
    pub duplicates: Vec<Serial32>,
    /// `packets` is how many packets with data the SACK answers, up to 3, in the two highest flags;
    /// it is 0 where the sender does not say (delayed acknowledgments for concurrent multipath
    /// transfer: Iyengar et al. 2006 §III-C).
    pub packets: u8,
}

impl SackChunk {
    /// `HEADER` is how many octets a SACK has without gap blocks and duplicates.
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

/// `ForwardTsn` is FORWARD-TSN: the receiver stops waiting for what comes before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForwardTsn {
    /// `cum_tsn` is the TSN up to which the receiver shall wait for none.
    pub cum_tsn: Serial32,
    /// `skipped` are streams with the last stream sequence number skipped in each.
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

/// `SkippedMessage` is a message that an I-FORWARD-TSN skips, and with it all before in its stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SkippedMessage {
    /// `stream` is the identifier of the message's stream.
    pub stream: u16,
    /// `unordered` is the U bit: the message is one of those that are delivered in any order.
    pub unordered: bool,
    /// `mid` is the message identifier, counted apart for ordered and unordered messages.
    pub mid: u32,
}

/// `IForwardTsn` is I-FORWARD-TSN: the receiver stops waiting for what comes before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IForwardTsn {
    /// `cum_tsn` is the TSN up to which the receiver shall wait for none.
    pub cum_tsn: Serial32,
    /// `skipped` has the last message skipped of each stream, ordered and unordered.
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
