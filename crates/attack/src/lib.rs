//! What hostile hosts send.
//!
//! Two kinds: an [`outside`] attacker is on no path of the connections that it
//! harms, and sends packets of its own making, from addresses that it forges where
//! that serves it ([`Source`]). A hostile [`peer`] has a real connection, whose
//! packets it changes as they leave ([`Misbehaving`]): there is no second stack.
//!
//! One file for each family; [`ATTACKS`] lists them all.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod outside;
pub mod peer;

pub use outside::{Aim, Plan, Sight, Source};
pub use peer::Misbehaving;

/// What an attack is against, and where the attacker stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The attack is on a port, from outside.
    Port,
    /// A connection, from outside.
    Flow,
    /// The other end of a connection that the attacker has.
    Peer,
}

/// An attack, by what is sent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// SYNs from addresses of nobody.
    SynFlood,
    /// Handshakes that are completed, and silence after.
    ConnectionFlood,
    /// INITs from addresses of nobody.
    InitFlood,
    /// COOKIE ECHOs with cookies that nobody has made.
    CookieEchoFlood,
    /// INITs whose cookies are sent back, and silence after.
    AssociationFlood,
    /// SYNs with MP_JOIN and a guessed token.
    JoinFlood,
    /// INITs full of parameters that nobody knows.
    ParameterBomb,
    /// SYNs full of options that nobody knows.
    OptionBomb,
    /// Resets of a connection of others.
    BlindReset,
    /// SYNs into a connection of others.
    BlindSyn,
    /// Data into a connection of others.
    BlindData,
    /// FINs into a connection of others.
    BlindFin,
    /// ACKs of all that a connection of others has sent.
    BlindAck,
    /// SACK blocks above what the peer of a connection of others has.
    BlindSack,
    /// ACKs of a connection of others whose timestamps are far ahead.
    BlindTimestamp,
    /// ABORTs of an association of others.
    BlindAbort,
    /// Data that overlaps what the peer sends, with other octets.
    Overlap,
    /// ADD_ADDR with an HMAC that was guessed.
    AddAddrFlood,
    /// ASCONF that adds addresses of nobody.
    AsconfFlood,
    /// ICMP: the destination cannot be reached.
    IcmpUnreachable,
    /// ICMP: packets are too big, for an MTU of 68 octets.
    IcmpTooBig,
    /// Heads of ICMP errors that break off.
    IcmpFragment,
    /// An ACK for each few octets of a segment.
    AckDivision,
    /// ACKs of what has not come yet.
    OptimisticAck,
    /// Many copies of each ACK.
    DupAckSpoofing,
    /// SACK blocks of what has not come.
    LyingSack,
    /// SACK blocks that are taken back.
    Reneging,
    /// A window of zero for ever.
    ZeroWindow,
    /// A window of one octet for ever.
    TinyWindow,
    /// Data in segments of one octet.
    OctetSegments,
}

/// A line of the catalogue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// The attack that the line describes.
    pub kind: Kind,
    /// The name in scenarios.
    pub name: &'static str,
    /// What it is against: a port, a flow or a peer.
    pub target: Target,
    /// Transports that it knows.
    pub transports: &'static [&'static str],
    /// One line on what it does.
    pub summary: &'static str,
    /// The document that describes it, or the defence against it.
    pub reference: &'static str,
}

const TCP: &[&str] = &["tcp", "mptcp"];
const PLAIN: &[&str] = &["tcp"];
const SCTP: &[&str] = &["sctp"];
const MPTCP: &[&str] = &["mptcp"];
const ALL: &[&str] = &["tcp", "sctp", "mptcp"];

const fn info(
    kind: Kind,
    name: &'static str,
    target: Target,
    transports: &'static [&'static str],
    summary: &'static str,
    reference: &'static str,
) -> Info {
    Info { kind, name, target, transports, summary, reference }
}

/// The catalogue of all attacks.
pub const ATTACKS: &[Info] = &[
    info(Kind::SynFlood, "syn-flood", Target::Port, TCP, "SYNs from forged addresses", "RFC 4987"),
    info(
        Kind::ConnectionFlood,
        "connection-flood",
        Target::Port,
        TCP,
        "connections that are opened and then silent",
        "RFC 4987 §2.1",
    ),
    info(
        Kind::InitFlood,
        "init-flood",
        Target::Port,
        SCTP,
        "INITs from forged addresses",
        "RFC 9260 §5.1.3",
    ),
    info(
        Kind::CookieEchoFlood,
        "cookie-echo-flood",
        Target::Port,
        SCTP,
        "COOKIE ECHOs with cookies of nobody's making, from forged addresses",
        "RFC 9260 §5.1.5",
    ),
    info(
        Kind::AssociationFlood,
        "association-flood",
        Target::Port,
        SCTP,
        "associations that are opened and then silent",
        "RFC 9260 §11.2.4",
    ),
    info(
        Kind::JoinFlood,
        "join-flood",
        Target::Port,
        MPTCP,
        "SYNs with MP_JOIN and guessed tokens, from forged addresses",
        "RFC 8684 §5",
    ),
    info(
        Kind::ParameterBomb,
        "parameter-bomb",
        Target::Port,
        SCTP,
        "INITs full of unknown parameters, each of which asks for a report",
        "RFC 9260 §3.2.1",
    ),
    info(
        Kind::OptionBomb,
        "option-bomb",
        Target::Port,
        TCP,
        "SYNs with 40 octets of unknown options",
        "RFC 9293 §3.1",
    ),
    info(Kind::BlindReset, "blind-reset", Target::Flow, TCP, "forged RST segments", "RFC 5961 §3"),
    info(Kind::BlindSyn, "blind-syn", Target::Flow, TCP, "forged SYN segments", "RFC 5961 §4"),
    info(
        Kind::BlindData,
        "blind-data",
        Target::Flow,
        ALL,
        "forged data segments, or DATA chunks",
        "RFC 5961 §5; RFC 9260 §8.5",
    ),
    info(Kind::BlindFin, "blind-fin", Target::Flow, TCP, "forged FIN segments", "RFC 5961 §5"),
    info(
        Kind::BlindAck,
        "blind-ack",
        Target::Flow,
        ALL,
        "forged ACKs, or SACKs, of all that was sent",
        "RFC 5961 §5; RFC 9260 §8.5",
    ),
    info(
        Kind::BlindSack,
        "blind-sack",
        Target::Flow,
        ALL,
        "forged SACK blocks above what was received",
        "RFC 5961 §5; RFC 9260 §8.5",
    ),
    info(
        Kind::BlindTimestamp,
        "blind-timestamp",
        Target::Flow,
        TCP,
        "forged ACKs with a timestamp far ahead, after which the peer's are old",
        "RFC 7323 §5",
    ),
    info(
        Kind::BlindAbort,
        "blind-abort",
        Target::Flow,
        SCTP,
        "forged ABORT chunks",
        "RFC 9260 §8.5",
    ),
    info(
        Kind::Overlap,
        "overlap",
        Target::Flow,
        PLAIN,
        "segments with other octets where the peer's are, or will be",
        "RFC 9293 §3.10.7.4",
    ),
    info(
        Kind::AddAddrFlood,
        "add-addr-flood",
        Target::Flow,
        MPTCP,
        "ADD_ADDR of forged addresses with guessed HMACs",
        "RFC 8684 §3.4.1",
    ),
    info(
        Kind::AsconfFlood,
        "asconf-flood",
        Target::Flow,
        SCTP,
        "ASCONF chunks that add forged addresses",
        "RFC 5061 §8",
    ),
    info(
        Kind::IcmpUnreachable,
        "icmp-unreachable",
        Target::Flow,
        ALL,
        "forged errors: protocol or port unreachable",
        "RFC 5927 §5",
    ),
    info(
        Kind::IcmpTooBig,
        "icmp-too-big",
        Target::Flow,
        ALL,
        "forged errors: packet too big for an MTU of 68 octets",
        "RFC 5927 §7",
    ),
    info(
        Kind::IcmpFragment,
        "icmp-fragment",
        Target::Flow,
        ALL,
        "errors that break off inside of what they quote",
        "RFC 5927 §2",
    ),
    info(
        Kind::AckDivision,
        "ack-division",
        Target::Peer,
        TCP,
        "many ACKs for each segment, each for a part of it",
        "Savage et al. 1999 §2.2; RFC 3465",
    ),
    info(
        Kind::OptimisticAck,
        "optimistic-ack",
        Target::Peer,
        ALL,
        "ACKs of data that has not arrived",
        "Savage et al. 1999 §2.4",
    ),
    info(
        Kind::DupAckSpoofing,
        "dupack-spoofing",
        Target::Peer,
        ALL,
        "many copies of each ACK",
        "Savage et al. 1999 §2.3",
    ),
    info(
        Kind::LyingSack,
        "lying-sack",
        Target::Peer,
        ALL,
        "SACK blocks of data that has not arrived",
        "RFC 6675 §9",
    ),
    info(
        Kind::Reneging,
        "reneging",
        Target::Peer,
        ALL,
        "SACK blocks of data that is thrown away afterwards",
        "RFC 2018 §8",
    ),
    info(
        Kind::ZeroWindow,
        "zero-window",
        Target::Peer,
        ALL,
        "a receive window of zero for ever",
        "RFC 9293 §3.8.6.1",
    ),
    info(
        Kind::TinyWindow,
        "tiny-window",
        Target::Peer,
        ALL,
        "a receive window of one octet for ever",
        "RFC 9293 §3.8.6.2.1",
    ),
    info(
        Kind::OctetSegments,
        "octet-segments",
        Target::Peer,
        PLAIN,
        "data in segments of one octet each",
        "RFC 9293 §3.8.6.2.2",
    ),
];

impl Kind {
    /// Returns the attack's line of the catalogue.
    pub fn info(self) -> &'static Info {
        ATTACKS.iter().find(|attack| attack.kind == self).expect("the catalogue has every attack")
    }
}
