//! Checksums of mappings (RFC 8684 §3.3).

use crate::mapping::{ReceivedMapping, SentMapping};
use crate::receiver::Receiver;
use crate::sender::Sender;
use anabranch_tcp::Connection as Tcp;
use anabranch_wire::checksum::Sum;
use anabranch_wire::{Payload, pattern};

/// The checksum of a mapping (§3.3): over its data and a pseudo header of the
/// data sequence number in 64 bits, the subflow sequence number, the length and
/// zeros.
fn checksum(number: u64, ssn: u32, len: u16, data: &[u8]) -> u16 {
    Sum::default()
        .with(&number.to_be_bytes())
        .with(&ssn.to_be_bytes())
        .with(&len.to_be_bytes())
        .with(data)
        .checksum()
}

/// The checksum of a piece that is about to be sent: `unit`, whose own is not yet known, of a
/// subflow's TCP connection, whose first `early` octets went with the SYN. Counted octets are, on the wire, the pattern at their sequence numbers.
#[inline(never)]
pub(super) fn of_sent(
    sender: &Sender,
    tcp: &Tcp,
    unit: &SentMapping,
    early: u32,
    octets: Option<&[u8]>,
) -> u16 {
    let number = sender.full_number(unit.data);
    let len = (unit.len + unit.fin as u32) as u16;
    let ssn = (unit.start as u32).wrapping_sub(early);
    let sum = |data: &[u8]| checksum(number, ssn, len, data);
    octets.map(sum).unwrap_or_else(|| {
        let mut data = vec![0; unit.len as usize];
        pattern::fill_sequence(tcp.sequence_number(unit.start), &mut data);
        sum(&data)
    })
}

/// The checksum of a DATA_FIN without data.
pub(super) fn of_fin(sender: &Sender) -> u16 {
    checksum(sender.full_number(sender.data_end()), 0, 1, &[])
}

/// The checksum of a mapping that has arrived whole, with `payload`, is right; the first `early` octets of
/// the subflow came with the SYN.
#[inline(never)]
pub(super) fn is_right(
    receiver: &Receiver,
    tcp: &Tcp,
    map: &ReceivedMapping,
    early: u32,
    payload: &Payload,
) -> bool {
    let Some(stated) = map.checksum else { return true };
    let len = (map.len + map.fin as u32) as u16;
    let number = receiver.full_number(map.data);
    let ssn = (map.start as u32).wrapping_sub(early);
    let sum = |data: &[u8]| checksum(number, ssn, len, data);
    let found = payload.octets().map(sum).unwrap_or_else(|| {
        let mut data = vec![0; map.len as usize];
        pattern::fill_sequence(tcp.received_number(map.start), &mut data);
        sum(&data)
    });
    found == stated
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §3.3, figure 11: the pseudo header's words, then the data.
    #[test]
    fn the_checksum_covers_number_length_and_data() {
        let words = [1_u32, 2, 3, 4, 0, 5, 3, 0x6162, 0x6300];
        let mut sum: u32 = words.iter().sum();
        sum = (sum & 0xffff) + (sum >> 16);
        let number = 0x0001_0002_0003_0004;
        assert_eq!(checksum(number, 5, 3, b"abc"), !(sum as u16));
    }
}
