//! MP_CAPABLE (RFC 8684 §3.1) and MP_JOIN (§3.2): options of handshakes.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-------+---------------+
//! |     Kind      |    Length     |Subtype|Version|A|B|C|D|E|F|G|H|
//! +---------------+---------------+-------+-------+---------------+
//! |        Option Sender's Key (64 bits, not on the SYN)          |
//! |       Option Receiver's Key (64 bits, on the third ACK)       |
//! +-------------------------------+-------------------------------+
//! |  Data-Level Length (16 bits)  |  Checksum (16 bits, optional) |
//! +-------------------------------+-------------------------------+
//! ```

use super::number;

/// `CapableFlags` are the flags A to H of MP_CAPABLE.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CapableFlags(pub u8);

impl CapableFlags {
    /// A: DSS checksums are required on all subflows.
    pub const CHECKSUM: CapableFlags = CapableFlags(0x80);
    /// B: the option is to be answered by plain TCP; for extensions.
    pub const EXTENSION: CapableFlags = CapableFlags(0x40);
    /// C: the peer shall open no subflows to the source address and port of this segment.
    pub const NO_MORE_HERE: CapableFlags = CapableFlags(0x20);
    /// H: the sender uses HMAC-SHA256, the one algorithm of version 1.
    pub const HMAC_SHA256: CapableFlags = CapableFlags(0x01);

    /// Returns the flags that are in either.
    #[must_use]
    pub const fn union(self, other: CapableFlags) -> CapableFlags {
        CapableFlags(self.0 | other.0)
    }
    /// Returns whether all flags of `other` are set.
    pub const fn contains(self, other: CapableFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// `Capable` is MP_CAPABLE, which asks for a Multipath TCP connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capable {
    /// `version` has four bits; 1 is RFC 8684. 0, whose SYN is another, is not read.
    pub version: u8,
    /// `flags` are A to H of the option.
    pub flags: CapableFlags,
    /// `keys` are the keys that follow the flags, by the segment that carries the option.
    pub keys: CapableKeys,
}

/// `CapableKeys` is the form of MP_CAPABLE, by the segment that carries it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CapableKeys {
    /// On the SYN there is no key.
    Syn,
    /// On the SYN/ACK there is the sender's key.
    SynAck {
        /// `key` is that of the host that sends the SYN/ACK.
        key: u64,
    },
    /// On the third ACK, and on the first data, there are both keys.
    Ack {
        /// `key` is that of the host that sends the ACK.
        key: u64,
        /// `peer` is the receiver's key, as the SYN/ACK gave it.
        peer: u64,
        /// `data` is, with data, its mapping: it starts at the initial data sequence number plus
        /// one and at the first octet of the subflow.
        data: Option<CapableData>,
    },
}

/// `CapableData` is the mapping in an MP_CAPABLE with data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapableData {
    /// `len` is the length of the mapping, in octets.
    pub len: u16,
    /// `checksum` is that of the mapping, where checksums are in use.
    pub checksum: Option<u16>,
}

impl Capable {
    pub(super) fn wire_len(&self) -> u32 {
        match self.keys {
            CapableKeys::Syn => 4,
            CapableKeys::SynAck { .. } => 12,
            CapableKeys::Ack { data: None, .. } => 20,
            CapableKeys::Ack { data: Some(data), .. } => 22 + 2 * data.checksum.is_some() as u32,
        }
    }

    pub(super) fn parse(version: u8, octets: &[u8]) -> Option<Capable> {
        let (flags, rest) = octets.split_first()?;
        let keys = match rest.len() {
            _ if version == 0 => return None,
            0 => CapableKeys::Syn,
            8 => CapableKeys::SynAck { key: number(rest)? },
            16 | 18 | 20 => CapableKeys::Ack {
                key: number(&rest[..8])?,
                peer: number(&rest[8..16])?,
                data: match rest[16..] {
                    [a, b] => Some(CapableData { len: word(a, b), checksum: None }),
                    [a, b, c, d] => {
                        Some(CapableData { len: word(a, b), checksum: Some(word(c, d)) })
                    }
                    _ => None,
                },
            },
            _ => return None,
        };
        Some(Capable { version, flags: CapableFlags(*flags), keys })
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.push(self.flags.0);
        match self.keys {
            CapableKeys::Syn => {}
            CapableKeys::SynAck { key } => out.extend_from_slice(&key.to_be_bytes()),
            CapableKeys::Ack { key, peer, data } => {
                out.extend_from_slice(&key.to_be_bytes());
                out.extend_from_slice(&peer.to_be_bytes());
                if let Some(data) = data {
                    out.extend_from_slice(&data.len.to_be_bytes());
                    out.extend(data.checksum.iter().flat_map(|checksum| checksum.to_be_bytes()));
                }
            }
        }
    }
}

fn word(high: u8, low: u8) -> u16 {
    u16::from_be_bytes([high, low])
}

/// `Join` is MP_JOIN, by the segment that carries it (RFC 8684 §3.2, figures 5 to 7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Join {
    /// On the SYN it names the connection.
    Syn {
        /// `backup` is B: the subflow is a backup.
        backup: bool,
        /// `address` is the Address ID, the sender's number of its address.
        address: u8,
        /// `token` is the receiver's, which names the connection.
        token: u32,
        /// `nonce` is the sender's random number, of which HMACs are made.
        nonce: u32,
    },
    /// On the SYN/ACK the HMAC shows that the sender knows the keys.
    SynAck {
        /// `backup` is B: the subflow is a backup.
        backup: bool,
        /// `address` is the Address ID, the sender's number of its address.
        address: u8,
        /// `mac` is the leftmost 64 bits of the sender's HMAC.
        mac: u64,
        /// `nonce` is the sender's random number, of which HMACs are made.
        nonce: u32,
    },
    /// On the third ACK the HMAC shows that the sender knows the keys.
    Ack {
        /// `mac` is the leftmost 160 bits of the sender's HMAC.
        mac: [u8; 20],
    },
}

impl Join {
    pub(super) fn wire_len(&self) -> u32 {
        match self {
            Join::Syn { .. } => 12,
            Join::SynAck { .. } => 16,
            Join::Ack { .. } => 24,
        }
    }

    /// Returns the four bits beside the subtype: B.
    pub(super) fn low(&self) -> u8 {
        matches!(self, Join::Syn { backup: true, .. } | Join::SynAck { backup: true, .. }) as u8
    }

    pub(super) fn parse(low: u8, octets: &[u8]) -> Option<Join> {
        let (&address, rest) = octets.split_first()?;
        let backup = low & 1 != 0;
        let short = |at: usize| rest[at..at + 4].try_into().map_or(0, u32::from_be_bytes);
        Some(match rest.len() {
            8 => Join::Syn { backup, address, token: short(0), nonce: short(4) },
            12 => Join::SynAck { backup, address, mac: number(&rest[..8])?, nonce: short(8) },
            20 => Join::Ack { mac: rest.try_into().ok()? },
            _ => return None,
        })
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Join::Syn { address, token, nonce, .. } => {
                out.push(*address);
                out.extend_from_slice(&token.to_be_bytes());
                out.extend_from_slice(&nonce.to_be_bytes());
            }
            Join::SynAck { address, mac, nonce, .. } => {
                out.push(*address);
                out.extend_from_slice(&mac.to_be_bytes());
                out.extend_from_slice(&nonce.to_be_bytes());
            }
            Join::Ack { mac } => {
                out.push(0);
                out.extend_from_slice(mac);
            }
        }
    }
}
