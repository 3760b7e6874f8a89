//! A packet in the making.

use anabranch_wire::sctp::{Chunk, Chunks};

/// `Draft` is a packet in the making.
pub(crate) struct Draft {
    /// `chunks` are those that it has.
    pub chunks: Chunks,
    /// `room` is what is left for more, in octets.
    pub room: u32,
}

impl Draft {
    /// An empty one with so much room.
    pub fn new(room: u32) -> Draft {
        Draft { chunks: Chunks::new(), room }
    }

    /// Adds a chunk; one alone may be larger than the room.
    pub fn push(&mut self, chunk: Chunk) {
        self.room = self.room.saturating_sub(chunk.wire_len());
        self.chunks.push(chunk);
    }

    /// User data that a chunk with a header of so many octets can still have.
    pub fn data_room(&self, header: u32) -> u32 {
        self.room.saturating_sub(header)
    }
}
