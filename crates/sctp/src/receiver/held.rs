//! Data that came behind a reset of its stream which still waits for TSNs (RFC 6525 §5.2.2 E2): it is
//! acknowledged, and put in order once the stream has started anew (E4).

use anabranch_wire::sctp::{DataChunk, IDataChunk};

/// `HeldChunk` is one chunk that waits.
#[derive(Clone, Debug)]
pub(crate) enum HeldChunk {
    /// DATA, with the offset of its TSN.
    Data(u64, DataChunk),
    /// I-DATA.
    IData(IDataChunk),
}

/// `Held` is what waits, in the order in which it came.
#[derive(Debug, Default)]
pub(crate) struct Held {
    chunks: Vec<HeldChunk>,
    octets: u64,
}

impl Held {
    /// The chunk waits.
    pub fn push(&mut self, chunk: HeldChunk) {
        let payload = match &chunk {
            HeldChunk::Data(_, data) => &data.payload,
            HeldChunk::IData(data) => &data.payload,
        };
        self.octets += u64::from(payload.len());
        self.chunks.push(chunk);
    }

    /// Octets of user data that wait.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Chunks that wait.
    pub fn pieces(&self) -> u64 {
        self.chunks.len() as u64
    }

    /// The chunks, in the order in which they came.
    pub fn into_chunks(self) -> Vec<HeldChunk> {
        self.chunks
    }
}
