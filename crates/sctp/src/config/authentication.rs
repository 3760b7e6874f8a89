//! The settings of authenticated chunks (RFC 4895) are here.

use anabranch_wire::AddressBook;
use anabranch_wire::sctp::kind;

/// `SHA1` is the identifier of HMAC-SHA-1 (RFC 4895 §8.2).
pub(crate) const SHA1: u16 = 1;
/// `SHA256` is the identifier of HMAC-SHA-256 (RFC 4895 §8.2).
pub(crate) const SHA256: u16 = 3;

/// An `Authentication` says how one side authenticates chunks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Authentication {
    /// These are the endpoint pair shared keys with their identifiers; the peer must have the same
    /// (RFC 4895 §4.1). An empty key is one that everybody knows (§6.1).
    pub keys: Vec<(u16, Vec<u8>)>,
    /// This side signs with the key of this identifier at first.
    pub active_key: u16,
    /// The peer must authenticate chunks of these types (§3.2). INIT, INIT ACK,
    /// SHUTDOWN COMPLETE and AUTH may not be among them. With COOKIE ECHO nobody without the shared
    /// key can restart an association (§6.3).
    pub chunks: Vec<u8>,
    /// This side verifies these HMACs, the best first (§3.3): 3 is SHA-256, 1 SHA-1, which must be
    /// there.
    pub algorithms: Vec<u16>,
    /// These IP addresses stand for addresses inside chunks, as on the wire: HMACs are of octets.
    pub book: AddressBook,
}

impl Default for Authentication {
    /// The default has the empty key 0, asks for authentication of ASCONF and ASCONF-ACK (RFC 5061
    /// §4), and verifies both HMACs.
    fn default() -> Authentication {
        Authentication {
            keys: vec![(0, Vec::new())],
            active_key: 0,
            chunks: vec![kind::ASCONF, kind::ASCONF_ACK],
            algorithms: vec![SHA256, SHA1],
            book: AddressBook::new(),
        }
    }
}

impl Authentication {
    /// Returns what is wrong with the settings, if anything is.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !self.keys.iter().any(|(id, _)| *id == self.active_key) {
            return Err(format!("active_key {}", self.active_key));
        }
        let never = [kind::INIT, kind::INIT_ACK, kind::SHUTDOWN_COMPLETE, kind::AUTH];
        if let Some(kind) = self.chunks.iter().find(|kind| never.contains(kind)) {
            return Err(format!("chunk type {kind}"));
        }
        let known = |id: &u16| matches!(*id, SHA1 | SHA256);
        if !self.algorithms.iter().all(known) || !self.algorithms.contains(&SHA1) {
            return Err(format!("algorithms {:?}", self.algorithms));
        }
        Ok(())
    }
}
