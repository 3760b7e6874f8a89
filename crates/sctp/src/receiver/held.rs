//! Data that came behind a reset of its stream, while the reset still waits for TSNs, is held here
//! (RFC 6525 §5.2.2 E2): it is acknowledged, and put in order once the stream has started anew
//! (E4).

use super::reassembly::OVERHEAD;
use anabranch_wire::sctp::{DataChunk, IDataChunk};

/// A `HeldChunk` is one chunk that waits.
#[derive(Clone, Debug)]
pub(crate) enum HeldChunk {
    /// It is DATA, with the offset of its TSN.
    Data(u64, DataChunk),
    /// It is I-DATA.
    IData(IDataChunk),
}

/// `Held` has the chunks that wait, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Held {
    chunks: Vec<HeldChunk>,
    octets: u64,
}

impl Held {
    /// Adds a chunk that waits.
    pub fn push(&mut self, chunk: HeldChunk) {
        let payload = match &chunk {
            HeldChunk::Data(_, data) => &data.payload,
            HeldChunk::IData(data) => &data.payload,
        };
        self.octets += u64::from(payload.len());
        self.chunks.push(chunk);
    }

    /// Returns how many octets of user data wait.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Returns how many octets of memory count: those that wait, and [`OVERHEAD`] for each chunk.
    pub fn memory(&self) -> u64 {
        self.octets + OVERHEAD * self.chunks.len() as u64
    }

    /// Returns the chunks, in the order in which they came.
    pub fn into_chunks(self) -> Vec<HeldChunk> {
        self.chunks
    }
}
