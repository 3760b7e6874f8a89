//! Chunks are authenticated here (RFC 4895): keys are made of what both sides sent in INIT and INIT
//! ACK, and AUTH chunks have HMACs.

use super::sha1;
use crate::config::Authentication;
use crate::config::authentication::SHA256;
use anabranch_endpoint::{Generator, mac};
use anabranch_wire::sctp::{Chunk, Chunks, Parameter, SctpPacket, kind};

/// The parameter RANDOM has this many octets of random data (§3.1).
pub(crate) const RANDOM: usize = 32;

impl Authentication {
    fn parameters(&self, random: &[u8; RANDOM]) -> Vec<Parameter> {
        vec![
            Parameter::Random(random.as_slice().into()),
            Parameter::ChunkList(self.chunks.as_slice().into()),
            Parameter::HmacAlgorithms(self.algorithms.clone()),
        ]
    }
}

/// Appends a parameter to a key vector, without padding (§6.1). Parameters of other types are not
/// part of it.
pub(crate) fn extend_vector(vector: &mut Vec<u8>, parameter: &Parameter) {
    let (kind, value): (u16, Vec<u8>) = match parameter {
        Parameter::Random(octets) => (0x8002, octets.to_vec()),
        Parameter::ChunkList(octets) => (0x8003, octets.to_vec()),
        Parameter::HmacAlgorithms(ids) => {
            (0x8004, ids.iter().flat_map(|id| id.to_be_bytes()).collect())
        }
        _ => return,
    };
    vector.extend_from_slice(&kind.to_be_bytes());
    vector.extend_from_slice(&(value.len() as u16 + 4).to_be_bytes());
    vector.extend_from_slice(&value);
}

/// Returns the value of the parameter of type `wanted` in a key vector, if it is there.
fn find(vector: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut rest = vector;
    while let [a, b, c, d, ..] = rest {
        let len = u16::from_be_bytes([*c, *d]) as usize;
        let value = rest.get(4..len)?;
        if u16::from_be_bytes([*a, *b]) == wanted {
            return Some(value);
        }
        rest = &rest[len..];
    }
    None
}

/// Returns a key vector in the order of §6.1, whatever the order of the parameters was.
fn canonical(vector: &[u8]) -> Vec<u8> {
    let mut ordered = Vec::with_capacity(vector.len());
    for kind in [0x8002_u16, 0x8003, 0x8004] {
        if let Some(value) = find(vector, kind) {
            ordered.extend_from_slice(&kind.to_be_bytes());
            ordered.extend_from_slice(&(value.len() as u16 + 4).to_be_bytes());
            ordered.extend_from_slice(value);
        }
    }
    ordered
}

/// Returns whether a key vector has the parameters without which nothing can be authenticated:
/// RANDOM and the HMAC identifiers (§3.1, §3.3).
pub(crate) fn offers(vector: &[u8]) -> bool {
    find(vector, 0x8002).is_some() && find(vector, 0x8004).is_some()
}

/// An `Auth` is this side's part of the keys, and all of them once the peer's part is known.
#[derive(Clone, Debug)]
pub(crate) struct Auth {
    random: [u8; RANDOM],
    agreed: Option<Agreed>,
    /// `active_key` is the identifier of the key that this side signs with.
    pub active_key: u16,
}

#[derive(Clone, Debug)]
struct Agreed {
    /// `chunks` are the types of the chunks that the peer wants authenticated.
    chunks: Vec<u8>,
    /// `algorithm` is the identifier of the HMAC that this side signs with.
    algorithm: u16,
    /// `keys` are the association shared keys with their identifiers (§6.1).
    keys: Vec<(u16, Vec<u8>)>,
}

/// A `Failure` says why a packet's AUTH chunk does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    /// The HMAC is not one of this side's; an ERROR says so (§6.3).
    Algorithm(u16),
    /// The key is another, or the HMAC is wrong; nothing is answered.
    Forged,
}

impl Auth {
    pub fn new(config: &Authentication, generator: &mut Generator) -> Auth {
        let mut random = [0; RANDOM];
        for octets in random.chunks_exact_mut(8) {
            octets.copy_from_slice(&generator.next_u64().to_be_bytes());
        }
        Auth { random, agreed: None, active_key: config.active_key }
    }

    /// Returns the parameters of this side's INIT or INIT ACK.
    pub fn parameters(&self, config: &Authentication) -> Vec<Parameter> {
        config.parameters(&self.random)
    }

    /// Returns what a cookie remembers of both sides.
    pub fn remember(&self, peer: &[u8]) -> Box<[u8]> {
        [self.random.as_slice(), peer].concat().into()
    }

    /// Makes an `Auth` of what a cookie remembers; `None` when that is too short.
    pub fn recall(config: &Authentication, octets: &[u8]) -> Option<Auth> {
        let (random, peer) = octets.split_first_chunk::<RANDOM>()?;
        let mut auth = Auth { random: *random, agreed: None, active_key: config.active_key };
        auth.agree(config, peer);
        Some(auth)
    }

    /// Makes the keys, as the peer's key vector is known: both sides authenticate if it has a
    /// RANDOM and an HMAC that this side has.
    pub fn agree(&mut self, config: &Authentication, peer: &[u8]) {
        let mut own = Vec::new();
        self.parameters(config).iter().for_each(|p| extend_vector(&mut own, p));
        let Some(ids) = find(peer, 0x8004) else { return };
        let ids: Vec<u16> = ids.chunks_exact(2).map(|c| u16::from_be_bytes([c[0], c[1]])).collect();
        let algorithm = ids.into_iter().find(|id| config.algorithms.contains(id));
        let (Some(algorithm), Some(_)) = (algorithm, find(peer, 0x8002)) else { return };
        // Numerically smaller first (§6.1): types begin with a set bit, so that
        // the shorter is the smaller number.
        let peer = &canonical(peer);
        let (small, large) = match (own.len(), own.as_slice()) < (peer.len(), peer) {
            true => (own.as_slice(), peer.as_slice()),
            false => (peer.as_slice(), own.as_slice()),
        };
        let derive = |key: &Vec<u8>| [key, small, large].concat();
        let keys = config.keys.iter().map(|(id, key)| (*id, derive(key))).collect();
        // §3.2: these are never authenticated, whoever lists them.
        let never = |of: &&u8| {
            ![kind::INIT, kind::INIT_ACK, kind::SHUTDOWN_COMPLETE, kind::AUTH].contains(*of)
        };
        let chunks = find(peer, 0x8003).unwrap_or(&[]).iter().filter(never).copied().collect();
        self.agreed = Some(Agreed { chunks, algorithm, keys });
    }

    pub fn is_agreed(&self) -> bool {
        self.agreed.is_some()
    }

    /// Returns the size of the AUTH chunk in this side's packets, in octets; 0 where there is none.
    pub fn room(&self) -> u32 {
        self.agreed.as_ref().map_or(0, |agreed| match agreed.algorithm {
            SHA256 => 8 + 32,
            _ => 8 + 20,
        })
    }

    /// Puts an AUTH chunk in front of the first chunk that the peer wants
    /// authenticated (§6.2).
    pub fn sign(&self, config: &Authentication, sctp: &mut SctpPacket) {
        let Some(agreed) = &self.agreed else { return };
        // Changes of addresses are, whatever the peer's list says (RFC 5061 §4.1.1, §4.1.2).
        let wanted = |chunk: &Chunk| match chunk {
            Chunk::Asconf { .. } | Chunk::AsconfAck { .. } => true,
            other => agreed.chunks.contains(&other.kind()),
        };
        let Some(at) = sctp.chunks.iter().position(wanted) else { return };
        let (key, algorithm) = (self.active_key, agreed.algorithm);
        let hmac = vec![0; self.room() as usize - 8].into();
        let mut chunks: Vec<Chunk> = sctp.chunks.iter().cloned().collect();
        chunks.insert(at, Chunk::Auth { key, algorithm, hmac });
        sctp.chunks = chunks.into_iter().collect::<Chunks>();
        let Some(right) = self.hmac(config, key, algorithm, sctp, at) else { return };
        if let Some(Chunk::Auth { hmac, .. }) = sctp.chunks.iter_mut().nth(at) {
            *hmac = right.into();
        }
    }

    /// Verifies the AUTH chunk at the index `at`, which covers itself and all chunks after it
    /// (§6.3).
    pub fn verify(
        &self,
        config: &Authentication,
        sctp: &SctpPacket,
        at: usize,
    ) -> Result<(), Failure> {
        let mut copy = sctp.clone();
        let Some(Chunk::Auth { key, algorithm, hmac }) = copy.chunks.iter_mut().nth(at) else {
            return Err(Failure::Forged);
        };
        let (key, algorithm) = (*key, *algorithm);
        if !config.algorithms.contains(&algorithm) {
            return Err(Failure::Algorithm(algorithm));
        }
        let found = hmac.to_vec();
        hmac.fill(0);
        match self.hmac(config, key, algorithm, &copy, at) {
            Some(right) if mac::equal(&right, &found) => Ok(()),
            _ => Err(Failure::Forged),
        }
    }

    fn hmac(
        &self,
        config: &Authentication,
        key: u16,
        algorithm: u16,
        sctp: &SctpPacket,
        at: usize,
    ) -> Option<Vec<u8>> {
        let keys = &self.agreed.as_ref()?.keys;
        let (_, key) = keys.iter().find(|(id, _)| *id == key)?;
        let octets = sctp.chunk_octets(at, &config.book).ok()?;
        Some(match algorithm {
            SHA256 if key.len() > 64 => mac::hmac(&mac::sha256(key), &octets).to_vec(),
            SHA256 => mac::hmac(key, &octets).to_vec(),
            _ => sha1::hmac(key, &octets).to_vec(),
        })
    }
}
