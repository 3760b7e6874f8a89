//! Chunks of SCTP as scripts write them, in nplab's dialect. A chunk is one row of [`FORMS`]: what it
//! is called, its number, and what is in it. The parser takes the names and the order of its fields
//! from there, the runner its octets.

use Item::{
    Causes, Cookie, Flags, Gaps, Information, InformationBack, Len, Octets, Own, Parameters,
    Payload, Peer, PpidOrFsn, Reserved, SkippedMids, SkippedSsns, Tag, U16, U32, Uncoded,
};
use anabranch_wire::sctp::kind;

/// The form of a chunk: its name, number and fields.
#[derive(Debug)]
pub(crate) struct Form {
    /// Name of the chunk in scripts.
    pub name: &'static str,
    /// Type of the chunk on the wire.
    pub kind: u8,
    /// What it holds, in this order in scripts and behind the header on the wire.
    pub items: &'static [Item],
}

/// A part of a chunk, in scripts and on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    /// The flags of the header: `flgs`.
    Flags,
    /// The length of the header: `len`.
    Len,
    /// A number of 16 bits, by its name in scripts.
    U16(&'static str),
    /// A number of 32 bits, by its name in scripts.
    U32(&'static str),
    /// A number of 32 bits that counts what the chunk's sender sends: a TSN.
    Own(&'static str),
    /// A number of 32 bits that counts what the other side sends.
    Peer(&'static str),
    /// `tag`: the initiate tag (RFC 9260 §3.3.2).
    Tag,
    /// 16 bits that are zero on the wire, and not in scripts.
    Reserved,
    /// `ppid` in the first part of a message, `fsn` in the others (RFC 8260 §2.1).
    PpidOrFsn,
    /// User data: zeros, as many as `len` has left.
    Payload,
    /// `gaps` and `dups` behind how many they are (RFC 9260 §3.3.4).
    Gaps,
    /// `ids`: streams with their SSNs (RFC 3758 §3.2).
    SkippedSsns,
    /// `ids`: streams, whether unordered, and MIDs (RFC 8260 §2.3.1).
    SkippedMids,
    /// `val`: octets, zeros where `len` alone is written.
    Octets,
    /// `val`: octets; left open, the cookie that the stack sent.
    Cookie,
    /// The parameter with the information of a HEARTBEAT.
    Information,
    /// The information of a HEARTBEAT that is sent back; left open, as it came.
    InformationBack,
    /// The parameters of a chunk, in any number.
    Parameters,
    /// The causes of an error, in any number.
    Causes,
    /// Fields of these names, with no octets so far: scripts with the chunk are read, not run.
    Uncoded(&'static [&'static str]),
}

/// Parameters, causes or requests, which have no name.
const NESTED: &[&str] = &["*"];

impl Item {
    /// The names of its fields, in their order.
    pub fn names(&'static self) -> &'static [&'static str] {
        match self {
            Item::Flags => &["flgs"],
            Item::Len => &["len"],
            Item::U16(name) | Item::U32(name) | Item::Own(name) | Item::Peer(name) => {
                std::slice::from_ref(name)
            }
            Item::Tag => &["tag"],
            Item::Reserved | Item::Payload => &[],
            Item::PpidOrFsn => &["ppid", "fsn"],
            Item::Gaps => &["gaps", "dups"],
            Item::SkippedSsns | Item::SkippedMids => &["ids"],
            Item::Octets | Item::Cookie => &["val"],
            Item::Information | Item::InformationBack | Item::Parameters | Item::Causes => NESTED,
            Item::Uncoded(names) => names,
        }
    }
}

const INIT: &[Item] = &[Flags, Tag, U32("a_rwnd"), U16("os"), U16("is"), Own("tsn"), Parameters];
const UNCODED: &[Item] = &[Flags, Uncoded(NESTED)];

/// The chunks; the first name of a number is the one that is written.
pub(crate) const FORMS: &[Form] = &[
    form(
        "DATA",
        kind::DATA,
        &[Flags, Len, Own("tsn"), U16("sid"), U16("ssn"), U32("ppid"), Payload],
    ),
    form("INIT", kind::INIT, INIT),
    form("INIT_ACK", kind::INIT_ACK, INIT),
    form("SACK", kind::SACK, &[Flags, Peer("cum_tsn"), U32("a_rwnd"), Gaps]),
    form("HEARTBEAT", kind::HEARTBEAT, &[Flags, Information]),
    form("HEARTBEAT_ACK", kind::HEARTBEAT_ACK, &[Flags, InformationBack]),
    form("ABORT", kind::ABORT, &[Flags, Causes]),
    form("SHUTDOWN", kind::SHUTDOWN, &[Flags, Peer("cum_tsn")]),
    form("SHUTDOWN_ACK", kind::SHUTDOWN_ACK, &[Flags]),
    form("ERROR", kind::ERROR, &[Flags, Causes]),
    form("COOKIE_ECHO", kind::COOKIE_ECHO, &[Flags, Len, Cookie]),
    form("COOKIE_ACK", kind::COOKIE_ACK, &[Flags]),
    form("ECNE", kind::ECNE, &[Flags, Peer("tsn")]),
    form("CWR", kind::CWR, &[Flags, Own("tsn")]),
    form("SHUTDOWN_COMPLETE", kind::SHUTDOWN_COMPLETE, &[Flags]),
    form("AUTH", kind::AUTH, &[Flags, Len, Uncoded(&["key", "hmac", "val"])]),
    form(
        "NR_SACK",
        16,
        &[Flags, Peer("cum_tsn"), U32("a_rwnd"), Uncoded(&["gaps", "nr_gaps", "dups"])],
    ),
    form(
        "I_DATA",
        kind::I_DATA,
        &[Flags, Len, Own("tsn"), U16("sid"), Reserved, U32("mid"), PpidOrFsn, Payload],
    ),
    form("ASCONF_ACK", kind::ASCONF_ACK, UNCODED),
    form("PKTDROP", 129, UNCODED),
    form("PACKET_DROP", 129, UNCODED),
    form("RECONFIG", kind::RE_CONFIG, &[Flags, Parameters]),
    form("STREAM_RESET", kind::RE_CONFIG, &[Flags, Parameters]),
    form("PAD", kind::PAD, &[Flags, Len, Octets]),
    form("FORWARD_TSN", kind::FORWARD_TSN, &[Own("cum_tsn"), SkippedSsns]),
    form("ASCONF", kind::ASCONF, UNCODED),
    form("I_FORWARD_TSN", kind::I_FORWARD_TSN, &[Own("cum_tsn"), SkippedMids]),
];

const fn form(name: &'static str, kind: u8, items: &'static [Item]) -> Form {
    Form { name, kind, items }
}

impl Form {
    /// The chunk with this name in scripts.
    pub fn named(name: &str) -> Option<&'static Form> {
        FORMS.iter().find(|form| form.name == name)
    }

    /// The chunk with this number on the wire.
    pub fn of_kind(kind: u8) -> Option<&'static Form> {
        FORMS.iter().find(|form| form.kind == kind)
    }

    /// The names of its fields, in their order.
    pub fn fields(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.items.iter().flat_map(Item::names).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::sctp::Chunk;

    #[test]
    fn every_chunk_that_is_a_value_has_a_form() {
        for (kind, name) in Chunk::KINDS {
            assert!(Form::of_kind(*kind).is_some(), "{name}");
        }
    }
}
