//! The TCP segment as a value (RFC 9293 §3.1), and its octets: the options in
//! [`options`], header and checksum in [`TcpSegment::emit`] and
//! [`TcpSegment::parse`].

mod meddle;
pub mod options;
mod refusal;
mod segment;
pub mod udp;

pub use meddle::OptionKind;
pub use options::{
    AccEcn, AccEcnOrder, FastOpenCookie, FastOpenOption, OptionError, RareOptions, mptcp,
};
pub(crate) use segment::CHECKSUM_AT;
pub use segment::{TcpError, TcpView};

use crate::packet::Payload;
use anabranch_units::Serial32;

/// `TcpFlags` has the control bits (RFC 9293 §3.1), with AE of Accurate ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpFlags(pub u16);

impl TcpFlags {
    /// FIN: the sender has no more data; it takes a sequence number.
    pub const FIN: TcpFlags = TcpFlags(0x001);
    /// SYN: the sequence number is the initial one, which the SYN takes.
    pub const SYN: TcpFlags = TcpFlags(0x002);
    /// RST: the connection ends at once, for the receiver too, without an answer.
    pub const RST: TcpFlags = TcpFlags(0x004);
    /// PSH: the receiver is to hand the data on, rather than wait for more.
    pub const PSH: TcpFlags = TcpFlags(0x008);
    /// ACK: the acknowledgment number counts, as on all segments once a connection is open.
    pub const ACK: TcpFlags = TcpFlags(0x010);
    /// URG: the urgent pointer counts.
    pub const URG: TcpFlags = TcpFlags(0x020);
    /// ECE: echoes congestion; on a SYN it offers ECN (RFC 3168 §6.1).
    pub const ECE: TcpFlags = TcpFlags(0x040);
    /// CWR: the window was reduced for an echo; on a SYN it offers ECN (RFC 3168 §6.1).
    pub const CWR: TcpFlags = TcpFlags(0x080);
    /// AE: with CWR and ECE the counter ACE of Accurate ECN, of which it is the highest bit (RFC
    /// 9768).
    pub const AE: TcpFlags = TcpFlags(0x100);

    /// Returns the bits that are in either.
    #[must_use]
    pub const fn union(self, other: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 | other.0)
    }
    /// Returns these bits without those of `other`.
    #[must_use]
    pub const fn without(self, other: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 & !other.0)
    }
    /// Returns whether all bits of `other` are set.
    pub const fn contains(self, other: TcpFlags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Returns whether some bit of `other` is set.
    pub const fn intersects(self, other: TcpFlags) -> bool {
        self.0 & other.0 != 0
    }
}

/// `Timestamps` is the timestamps option (RFC 7323 §3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timestamps {
    /// `value` is TSval, the sender's clock in ticks of its own.
    pub value: u32,
    /// `echo` is TSecr, the peer's clock as it came; it is valid when ACK is set.
    pub echo: u32,
}

/// `SackBlock` is one SACK block (RFC 2018 §3): octets `left` up to, not including, `right`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlock {
    /// `left` is the sequence number of the block's first octet.
    pub left: Serial32,
    /// `right` is the sequence number after that of the block's last octet.
    pub right: Serial32,
}

/// `SackBlocks` are up to four SACK blocks, in the order of the option. A DSS shares their room:
/// see [`options::mptcp`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    len: u8,
    /// What there is of a DSS, in the last blocks, and its length on the wire; 0
    /// for nothing.
    dss: u8,
    dss_len: u8,
    blocks: [SackBlock; 4],
}

impl SackBlocks {
    /// `NONE` has no blocks, so that no option is written.
    pub const NONE: SackBlocks = SackBlocks {
        len: 0,
        dss: 0,
        dss_len: 0,
        blocks: [SackBlock { left: Serial32(0), right: Serial32(0) }; 4],
    };

    /// Appends a block; false, and nothing is changed, when there is no room:
    /// for a fifth, or beside a DSS.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let most = self.most();
        let Some(slot) = self.blocks[..most].get_mut(self.len as usize) else { return false };
        *slot = block;
        self.len += 1;
        true
    }
    /// Returns the blocks in the order of the option.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..self.len as usize]
    }
    /// Returns whether there is no block.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// `TcpOptions` are those options of a segment that this crate understands; others are kept whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TcpOptions {
    /// `mss` is the maximum segment size that the sender takes, in octets (RFC 9293 §3.7.1; SYN
    /// only).
    pub mss: Option<u16>,
    /// `window_scale` is by how many bits windows of the sender are shifted (RFC 7323 §2; SYN
    /// only).
    pub window_scale: Option<u8>,
    /// `sack_permitted` says that the sender takes SACK blocks (RFC 2018 §2; SYN only).
    pub sack_permitted: bool,
    /// `scale_first` says that the window scale stands before SACK permitted and timestamps, as BSD
    /// stacks write a SYN; it is true only where it is there with one of them.
    pub scale_first: bool,
    /// `timestamps` are the sender's clock and an echo of the peer's (RFC 7323 §3).
    pub timestamps: Option<Timestamps>,
    /// `sack` has the SACK blocks, and the DSS of Multipath TCP ([`TcpOptions::dss`]).
    pub sack: SackBlocks,
    /// `acc_ecn` has octets by ECN codepoint (RFC 9768); it is in a box, so that a packet stays
    /// small.
    pub acc_ecn: Option<Box<AccEcn>>,
    /// `rare` is what few segments carry; [`TcpOptions::parse`] makes no empty box.
    pub rare: Option<Box<RareOptions>>,
}

impl TcpOptions {
    /// Returns the length on the wire, padded to a multiple of four. Layout: MSS 4; SACK permitted
    /// 2, window scale 3, timestamps 10 and SACK 2 + 8n, each padded with leading NOPs to a
    /// multiple of four (SACK permitted and timestamps share one word's padding), then AccECN 2 +
    /// 3n, DSS and the rare ones.
    pub fn wire_len(&self) -> u32 {
        let mut len = 0;
        if self.mss.is_some() {
            len += 4;
        }
        if self.timestamps.is_some() {
            len += 12;
        } else if self.sack_permitted {
            len += 4;
        }
        if self.window_scale.is_some() {
            len += 4;
        }
        if !self.sack.is_empty() {
            len += 4 + 8 * self.sack.as_slice().len() as u32;
        }
        if let Some(acc_ecn) = &self.acc_ecn {
            len += acc_ecn.wire_len();
        }
        len += self.sack.dss_len();
        if let Some(rare) = &self.rare {
            len += rare.wire_len();
        }
        len.next_multiple_of(4)
    }
}

/// `TcpSegment` is a segment: header fields, options and data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcpSegment {
    /// `src_port` is the port of the sending socket.
    pub src_port: u16,
    /// `dst_port` is the port of the socket that the segment is for.
    pub dst_port: u16,
    /// `seq` is the sequence number of the first octet, of the SYN where that is set.
    pub seq: Serial32,
    /// `ack` is the next sequence number that the sender expects; it counts with [`TcpFlags::ACK`].
    pub ack: Serial32,
    /// `flags` are the control bits, ECN's included.
    pub flags: TcpFlags,
    /// `window` is the window field as on the wire, before scaling.
    pub window: u16,
    /// `urgent` is the urgent pointer, an offset from `seq`; it counts with [`TcpFlags::URG`].
    pub urgent: u16,
    /// `options` are what stands between the fixed header and the data.
    pub options: TcpOptions,
    /// `payload` is the data that follows the header, real or counted.
    pub payload: Payload,
}

impl TcpSegment {
    /// `HEADER` is the length of the header without options, in octets.
    pub const HEADER: u32 = 20;

    /// Returns the length of header, options and payload, in octets.
    pub fn wire_len(&self) -> u32 {
        Self::HEADER + self.options.wire_len() + self.payload.len()
    }
    /// Returns the sequence space that the segment takes: payload, SYN and FIN (RFC 9293 §3.4,
    /// SEG.LEN).
    pub fn seq_len(&self) -> u32 {
        self.payload.len()
            + self.flags.contains(TcpFlags::SYN) as u32
            + self.flags.contains(TcpFlags::FIN) as u32
    }
}
