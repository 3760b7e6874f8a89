//! A packet in the making holds chunks, and knows how many octets are left for more.

use anabranch_wire::sctp::{Chunk, Chunks};

/// `Draft` is a packet in the making.
pub(crate) struct Draft {
    /// `chunks` are the chunks that it has so far, in order.
    pub chunks: Chunks,
    /// `room` is what is left for more chunks, in octets.
    pub room: u32,
}

impl Draft {
    /// `new` makes a draft without chunks, which has `room` octets for them.
    pub fn new(room: u32) -> Draft {
        Draft { chunks: Chunks::new(), room }
    }

    /// Adds a chunk. The first may be larger than the room, which is 0 then.
    pub fn push(&mut self, chunk: Chunk) {
        self.room = self.room.saturating_sub(chunk.wire_len());
        self.chunks.push(chunk);
    }

    /// Returns how many octets of user data fit, in a chunk whose header has `header` octets.
    pub fn data_room(&self, header: u32) -> u32 {
        self.room.saturating_sub(header)
    }
}
