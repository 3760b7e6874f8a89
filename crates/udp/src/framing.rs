//! Puts the number of a datagram into its data, and finds it there.

use anabranch_endpoint::message::{Incoming, Outgoing};
use anabranch_units::Span;
use anabranch_wire::udp::Head;
use anabranch_wire::{Payload, UdpDatagram};

/// What the first octets of the data are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Framing {
    /// The number, in 32 bits.
    #[default]
    Plain,
    /// The fixed header of RTP (RFC 3550 §5.1) without contributing sources.
    Rtp {
        /// Payload type (RFC 3551 §6).
        payload_type: u8,
        /// Ticks of the media clock in a packet.
        ticks: u32,
        /// Synchronisation source.
        ssrc: u32,
    },
}

/// Version 2 of RTP, no padding, no extension, no contributing source.
const VERSION: u8 = 0b1000_0000;

impl Framing {
    /// Octets of the data that it takes.
    pub fn len(&self) -> u32 {
        match self {
            Framing::Plain => 4,
            Framing::Rtp { .. } => Head::MOST as u32,
        }
    }

    /// Always false: a datagram has a number.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The datagram of a message, as long as the message or as the number that it begins with.
    pub fn datagram(&self, message: &Outgoing, src_port: u16, dst_port: u16) -> UdpDatagram {
        let payload = match message.payload.len().checked_sub(self.len()) {
            Some(rest) => message.payload.part(self.len(), rest),
            None => Payload::EMPTY,
        };
        UdpDatagram { src_port, dst_port, head: self.head(message.tag), payload }
    }

    /// The first octets of the datagram with this number. Sequence number and timestamp of RTP
    /// follow from the number, from 0 on (RFC 3550 §5.1 wants them random, against attacks on
    /// encryption that nothing here has).
    pub fn head(&self, number: u32) -> Head {
        match *self {
            Framing::Plain => Head::new(&number.to_be_bytes()),
            Framing::Rtp { payload_type, ticks, ssrc } => {
                let mut octets = [0; Head::MOST];
                octets[..2].copy_from_slice(&[VERSION, payload_type & 0x7F]);
                octets[2..4].copy_from_slice(&(number as u16).to_be_bytes());
                octets[4..8].copy_from_slice(&number.wrapping_mul(ticks).to_be_bytes());
                octets[8..].copy_from_slice(&ssrc.to_be_bytes());
                Head::new(&octets)
            }
        }
    }
}

/// Reads the numbers of datagrams that come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reader {
    framing: Framing,
    /// The highest number so far, which extends the 16 bits of RTP (RFC 3550, appendix A.1).
    highest: u32,
}

impl Reader {
    /// A reader whose first number is near `first`.
    pub fn new(framing: Framing, first: u32) -> Reader {
        Reader { framing, highest: first }
    }

    /// The message in a datagram; `None` where its first octets are of another kind.
    pub fn message(&mut self, datagram: &UdpDatagram) -> Option<Incoming> {
        let tag = self.number(datagram.head.octets())?;
        let payload = match datagram.payload.octets() {
            None => Payload::virtual_of(datagram.data_len()),
            Some(_) => {
                let head = Payload::of_octets(datagram.head.octets());
                Payload::join([&head, &datagram.payload].into_iter())
            }
        };
        Some(Incoming { stream: 0, tag, payload, waited: Span::ZERO })
    }

    /// The number in the first octets; `None` where they are too few or of another kind.
    pub fn number(&mut self, head: &[u8]) -> Option<u32> {
        match self.framing {
            Framing::Plain => Some(u32::from_be_bytes(*head.first_chunk()?)),
            Framing::Rtp { payload_type, .. } => {
                let head = head.first_chunk::<{ Head::MOST }>()?;
                if head[0] != VERSION || head[1] & 0x7F != payload_type {
                    return None;
                }
                let low = u16::from_be_bytes([head[2], head[3]]);
                // The nearest number with these low bits.
                let ahead = low.wrapping_sub(self.highest as u16) as i16;
                let number = self.highest.wrapping_add_signed(ahead.into());
                if ahead > 0 {
                    self.highest = number;
                }
                Some(number)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTP: Framing = Framing::Rtp { payload_type: 18, ticks: 160, ssrc: 0x0102_0304 };

    /// RFC 3550 §5.1, figure of the fixed header.
    #[test]
    fn the_header_of_rtp_is_that_of_the_standard() {
        let head = RTP.head(0x1_0003);
        let expected = [0x80, 18, 0, 3, 0, 0xA0, 0x01, 0xE0, 1, 2, 3, 4];
        assert_eq!(head.octets(), expected);
        let mut reader = Reader::new(RTP, 0x1_0000);
        assert_eq!(reader.number(head.octets()), Some(0x1_0003));
        assert_eq!(reader.number(&expected[..11]), None);
        assert_eq!(reader.number(&[&[0x80, 0], &expected[2..]].concat()), None, "another type");
    }

    #[test]
    fn numbers_of_sixteen_bits_are_extended_over_their_wrap() {
        let mut reader = Reader::new(RTP, 0x1_0000);
        for number in [0x1_0000, 0x1_7000, 0x1_E000, 0x1_FFFE, 0x2_0001, 0x1_FFFF, 0x2_0002] {
            assert_eq!(reader.number(RTP.head(number).octets()), Some(number), "{number:x}");
        }
    }

    #[test]
    fn a_plain_number_has_four_octets() {
        let mut reader = Reader::new(Framing::Plain, 0);
        assert_eq!(Framing::Plain.head(0x0102_0304).octets(), [1, 2, 3, 4]);
        assert_eq!(reader.number(&[1, 2, 3, 4, 5]), Some(0x0102_0304));
        assert_eq!(reader.number(&[1, 2, 3]), None);
    }
}
