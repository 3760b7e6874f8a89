//! The options of Multipath TCP, version 1 (RFC 8684 §3): one kind, told apart
//! by the four bits after the length.
//!
//! | subtype | length | option | section |
//! |---|---|---|---|
//! | 0 | 4, 12, 20, 22, 24 | MP_CAPABLE | §3.1 |
//! | 1 | 12, 16, 24 | MP_JOIN | §3.2 |
//! | 2 | 4 to 28 | DSS | §3.3 |
//! | 3 | 8, 10, 16, 18, 20, 22, 28, 30 | ADD_ADDR | §3.4.1 |
//! | 4 | 3 + n | REMOVE_ADDR | §3.4.2 |
//! | 5 | 3 | MP_PRIO | §3.3.8 |
//! | 6 | 12 | MP_FAIL | §3.7 |
//! | 7 | 12 | MP_FASTCLOSE | §3.5 |
//! | 8 | 4 | MP_TCPRST | §3.6 |
//!
//! DSS stands on nearly every segment and has a place of its own
//! ([`TcpOptions::dss`]); the others are rare ([`RareOptions::mptcp`]).
//! Reserved bits are written as zero and ignored when read. An option of
//! another subtype or length, of version 0, and a second DSS are kept among
//! the unknown.
//!
//! [`TcpOptions::dss`]: crate::TcpOptions::dss
//! [`RareOptions::mptcp`]: crate::RareOptions::mptcp

mod address;
mod dss;
mod handshake;

pub use address::{AddAddr, RemoveAddr};
pub use dss::{DataNumber, Dss, Mapping};
pub use handshake::{Capable, CapableData, CapableFlags, CapableKeys, Join};

/// `KIND` is the kind of every option of Multipath TCP; the subtype tells them apart.
pub const KIND: u8 = 30;

const CAPABLE: u8 = 0;
const JOIN: u8 = 1;
pub(super) const DSS: u8 = 2;
const ADD_ADDR: u8 = 3;
const REMOVE_ADDR: u8 = 4;
const PRIO: u8 = 5;
const FAIL: u8 = 6;
const FASTCLOSE: u8 = 7;
const TCPRST: u8 = 8;

/// `MptcpOption` is an option of Multipath TCP other than DSS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MptcpOption {
    /// MP_CAPABLE: a connection begins, over this first subflow.
    Capable(Capable),
    /// MP_JOIN: a further subflow of a connection begins.
    Join(Join),
    /// ADD_ADDR: the sender has one more address, or echoes one of the peer.
    AddAddr(AddAddr),
    /// REMOVE_ADDR: addresses of the sender are gone, and subflows over them should end.
    RemoveAddr(RemoveAddr),
    /// MP_PRIO: whether this subflow is a backup from now on.
    Prio {
        /// `backup` is B: use the subflow only when no other can be used.
        backup: bool,
    },
    /// MP_FAIL: the checksum of the mapping that begins here was wrong.
    Fail {
        /// `dsn` is the data sequence number of the mapping's first octet.
        dsn: u64,
    },
    /// MP_FASTCLOSE: the connection is aborted, all its subflows at once.
    Fastclose {
        /// `key` is the key of whoever receives this.
        key: u64,
    },
    /// MP_TCPRST: why a subflow is reset, beside its RST.
    TcpRst {
        /// `transient` is T: it may be worth trying again later.
        transient: bool,
        /// `reason` is a [`ResetReason`], or a code that has no name.
        reason: u8,
    },
}

/// `ResetReason` is a reason of MP_TCPRST (RFC 8684 §3.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ResetReason {
    /// The reason is none of the others.
    Unspecified = 0,
    /// An error of Multipath TCP itself.
    Mptcp = 1,
    /// The host lacks resources.
    Resources = 2,
    /// The host's administrator, or its settings, forbid the subflow.
    Prohibited = 3,
    /// The subflow has too much data outstanding.
    Outstanding = 4,
    /// The subflow is too slow, or loses too much.
    Performance = 5,
    /// A middlebox has changed options or data of the subflow.
    Middlebox = 6,
}

impl MptcpOption {
    /// Returns the length on the wire, in octets.
    pub fn wire_len(&self) -> u32 {
        match self {
            MptcpOption::Capable(capable) => capable.wire_len(),
            MptcpOption::Join(join) => join.wire_len(),
            MptcpOption::AddAddr(add) => add.wire_len(),
            MptcpOption::RemoveAddr(remove) => remove.wire_len(),
            MptcpOption::Prio { .. } => 3,
            MptcpOption::Fail { .. } | MptcpOption::Fastclose { .. } => 12,
            MptcpOption::TcpRst { .. } => 4,
        }
    }

    /// Reads what follows kind and length; `None` when it is not understood.
    pub(super) fn parse(value: &[u8]) -> Option<MptcpOption> {
        let (first, rest) = value.split_first()?;
        let low = first & 0x0f;
        Some(match (first >> 4, rest) {
            (CAPABLE, rest) => MptcpOption::Capable(Capable::parse(low, rest)?),
            (JOIN, rest) => MptcpOption::Join(Join::parse(low, rest)?),
            (ADD_ADDR, rest) => MptcpOption::AddAddr(AddAddr::parse(low, rest)?),
            (REMOVE_ADDR, rest) => MptcpOption::RemoveAddr(RemoveAddr::parse(rest)?),
            (PRIO, []) => MptcpOption::Prio { backup: low & 1 != 0 },
            (FAIL, [_, dsn @ ..]) => MptcpOption::Fail { dsn: number(dsn)? },
            (FASTCLOSE, [_, key @ ..]) => MptcpOption::Fastclose { key: number(key)? },
            (TCPRST, &[reason]) => MptcpOption::TcpRst { transient: low & 1 != 0, reason },
            _ => return None,
        })
    }

    /// Appends [`MptcpOption::wire_len`] octets.
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let mut head = |subtype: u8, low: u8| {
            out.extend_from_slice(&[KIND, self.wire_len() as u8, subtype << 4 | low]);
        };
        match self {
            MptcpOption::Capable(capable) => {
                head(CAPABLE, capable.version);
                capable.emit(out);
            }
            MptcpOption::Join(join) => {
                head(JOIN, join.low());
                join.emit(out);
            }
            MptcpOption::AddAddr(add) => {
                head(ADD_ADDR, add.low());
                add.emit(out);
            }
            MptcpOption::RemoveAddr(remove) => {
                head(REMOVE_ADDR, 0);
                out.extend_from_slice(remove.ids());
            }
            MptcpOption::Prio { backup } => head(PRIO, *backup as u8),
            MptcpOption::Fail { dsn } => {
                head(FAIL, 0);
                out.push(0);
                out.extend_from_slice(&dsn.to_be_bytes());
            }
            MptcpOption::Fastclose { key } => {
                head(FASTCLOSE, 0);
                out.push(0);
                out.extend_from_slice(&key.to_be_bytes());
            }
            MptcpOption::TcpRst { transient, reason } => {
                head(TCPRST, *transient as u8);
                out.push(*reason);
            }
        }
    }
}

/// Reads exactly eight octets as a number.
fn number(octets: &[u8]) -> Option<u64> {
    octets.try_into().ok().map(u64::from_be_bytes)
}

#[cfg(test)]
mod tests;
