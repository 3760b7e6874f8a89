//! What fits a packet is computed here.

use crate::config::Config;
use anabranch_wire::sctp::DataChunk;

/// A `Room` is what fits a packet to one address, or to any of them, in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    /// `mtu` is the largest IP packet that is sent: the path MTU (RFC 9260 §7.3).
    pub mtu: u32,
    /// `chunk` is the largest chunk: a packet less the headers below, and the AUTH chunk.
    pub chunk: u32,
    /// `payload` is the most user data of a packet with one chunk of it, a multiple of four.
    pub payload: u32,
}

/// An `Overhead` is what takes room in the packets of an association beside user data, in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Overhead {
    /// `auth` is the size of the AUTH chunk of a packet.
    pub auth: u32,
    /// `header` is the size of the header of a chunk with user data.
    pub header: u32,
}

impl Overhead {
    /// `PLAIN` is the overhead of DATA without authentication.
    pub const PLAIN: Overhead = Overhead { auth: 0, header: DataChunk::HEADER };
}

impl Room {
    /// `new` computes the room of a packet of `mtu` octets.
    pub fn new(config: &Config, mtu: u32, overhead: Overhead) -> Room {
        let chunk = config.max_chunk_of(mtu) - overhead.auth;
        let payload = (chunk - overhead.header - config.timestamp_room()) & !3;
        Room { mtu, chunk, payload }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::sctp::IDataChunk;

    /// 1500 octets less 20 of IPv4 and 12 of SCTP; DATA has a header of 16, I-DATA of 20.
    #[test]
    fn headers_and_authentication_take_their_room() {
        let config = Config::rfc9260();
        let room = |mtu, overhead| Room::new(&config, mtu, overhead);
        assert_eq!(room(1500, Overhead::PLAIN), Room { mtu: 1500, chunk: 1468, payload: 1452 });
        assert_eq!(room(1500, Overhead::PLAIN).payload, config.max_payload());
        let signed = Overhead { auth: 40, header: IDataChunk::HEADER };
        assert_eq!(room(1500, signed), Room { mtu: 1500, chunk: 1428, payload: 1408 });
        assert_eq!(room(576, Overhead::PLAIN), Room { mtu: 576, chunk: 544, payload: 528 });
        let stamped = Config { timestamps: true, ..config };
        assert_eq!(Room::new(&stamped, 576, Overhead::PLAIN).payload, 516);
    }
}
