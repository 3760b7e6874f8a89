//! What fits a packet.

use crate::config::Config;

/// `Room` is what fits a packet, in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    /// `mtu` is the largest packet: the settings', or what a router said.
    pub mtu: u32,
    /// `chunk` is the largest chunk: a packet less the headers below, and the AUTH chunk.
    pub chunk: u32,
    /// `payload` is the most user data of a packet with one chunk of it, a multiple of four.
    pub payload: u32,
}

impl Room {
    /// The room that the settings say, for DATA without authentication.
    pub fn new(config: &Config) -> Room {
        Room { mtu: config.mtu, chunk: config.max_chunk(), payload: config.max_payload() }
    }

    /// Packets have an AUTH chunk of `auth` octets, and chunks of user data a header of `header`.
    pub fn measure(&mut self, config: &Config, auth: u32, header: u32) {
        self.chunk = config.max_chunk_of(self.mtu) - auth;
        self.payload = (self.chunk - header - config.timestamp_room()) & !3;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::sctp::{DataChunk, IDataChunk};

    /// 1500 octets less 20 of IPv4 and 12 of SCTP; DATA has a header of 16, I-DATA of 20.
    #[test]
    fn headers_and_authentication_take_their_room() {
        let config = Config::rfc9260();
        let mut room = Room::new(&config);
        assert_eq!(room, Room { mtu: 1500, chunk: 1468, payload: 1452 });
        room.measure(&config, 0, DataChunk::HEADER);
        assert_eq!(room, Room::new(&config));
        room.measure(&config, 40, IDataChunk::HEADER);
        assert_eq!((room.chunk, room.payload), (1428, 1408));
        room.mtu = 576;
        room.measure(&config, 0, DataChunk::HEADER);
        assert_eq!((room.chunk, room.payload), (544, 528));
        let stamped = Config { timestamps: true, ..config };
        room.measure(&stamped, 0, DataChunk::HEADER);
        assert_eq!(room.payload, 516);
    }
}
