//! Targets over the parsers of `anabranch-wire`.

use anabranch_wire::checksum::{PseudoHeader, Sum};
use anabranch_wire::sctp::{Crc32c, SctpError, SctpPacket};
use anabranch_wire::tcp::TcpView;
use anabranch_wire::{AddressBook, Body, EmitError, Packet, TcpOptions, TcpSegment};
use anabranch_wire::{ipv4::Ipv4Packet, ipv6::Ipv6Packet};

/// Any octets are a packet or an error; a packet is emitted and parsed again
/// to the same value. Random octets seldom have right checksums and known
/// addresses, so they are tried once more with both mended.
pub fn parse_packet(octets: &[u8]) {
    check_packet(octets);
    let mut mended = octets.to_vec();
    if mend(&mut mended).is_some() {
        check_packet(&mended);
    }
}

fn check_packet(octets: &[u8]) {
    for book in [AddressBook::new(), AddressBook::dense_ipv6()] {
        let Ok(packet) = Packet::parse(octets, &book) else { continue };
        let _ = (packet.flow_key(), packet.is_pure_ack());
        assert_eq!(packet.canonical(), packet, "a parsed packet is canonical");
        let mut out = Vec::new();
        match packet.emit(&book, &mut out) {
            Ok(()) => {
                let icmp = matches!(packet.body, Body::Icmp(_)) as u64;
                let ipv6 = out[0] >> 4 == 6;
                // `wire_len` counts the addresses in SCTP's parameters as IPv4.
                if !(ipv6 && matches!(packet.body, Body::Sctp(_))) {
                    let more = if ipv6 { 20 + 20 * icmp } else { 0 };
                    assert_eq!(out.len() as u64, packet.wire_len().0 + more, "{packet:?}");
                }
                assert_eq!(Packet::parse(&out, &book).as_ref(), Ok(&packet));
            }
            Err(error) => check_refusal(&packet, error),
        }
    }
}

/// The one reason not to emit what has been parsed is that its options were
/// packed more tightly than we pack them. They may push a packet of the
/// greatest length over it.
fn check_refusal(packet: &Packet, error: EmitError) {
    let segment = match (&packet.body, error) {
        (Body::Tcp(segment), _) => segment,
        // Padding that was missing at the end of a packet of the greatest length.
        (Body::Sctp(_), EmitError::TooLong(len)) if len > 65_512 => return,
        _ => panic!("{error}: {packet:?}"),
    };
    match error {
        EmitError::OptionsTooLong(len) => assert!(len > 40 && segment.options.wire_len() > 40),
        EmitError::TooLong(len) => assert!(len > 65_515 && segment.payload.len() > 65_400),
        _ => panic!("{error}: {packet:?}"),
    }
}

/// The octets with known addresses and right checksums, where they look like a packet.
pub fn mended(octets: &[u8]) -> Option<Vec<u8>> {
    let mut mended = octets.to_vec();
    mend(&mut mended)?;
    Some(mended)
}

/// Makes the addresses known and the checksums right where the octets look
/// like a packet.
fn mend(octets: &mut [u8]) -> Option<()> {
    match octets.first()? >> 4 {
        4 => {
            let total = Ipv4Packet::new_checked(octets).ok()?.options().len() + 20;
            for at in [12, 16] {
                octets[at] = 10;
                octets[at + 3] |= 1;
                octets[at + 1] &= 0x7f;
            }
            put(octets, 10, |octets| Sum::default().with(&octets[..total]).checksum());
            let view = Ipv4Packet::new_checked(octets).ok()?;
            let pseudo = PseudoHeader::V4 { src: view.src(), dst: view.dst() };
            let (protocol, len) = (view.protocol(), view.payload().len());
            mend_body(protocol, octets.get_mut(total..total + len)?, &pseudo)
        }
        6 => {
            Ipv6Packet::new_checked(octets).ok()?;
            for at in [8, 24] {
                octets[at..at + 12]
                    .copy_from_slice(&[0xfd, 0, b'a', b'n', b'a', b'b', 0, 0, 0, 0, 0, 0]);
                octets[at + 15] |= 1;
            }
            let view = Ipv6Packet::new_checked(octets).ok()?;
            let pseudo = PseudoHeader::V6 { src: view.src(), dst: view.dst() };
            let (protocol, len) = (view.next_header(), view.payload().len());
            mend_body(protocol, octets.get_mut(40..40 + len)?, &pseudo)
        }
        _ => None,
    }
}

fn mend_body(protocol: u8, segment: &mut [u8], pseudo: &PseudoHeader) -> Option<()> {
    if protocol == SctpPacket::PROTOCOL {
        mend_sctp(segment)?;
    }
    if protocol == TcpSegment::PROTOCOL {
        TcpView::new_checked(segment).ok()?;
        put(segment, 16, |segment| {
            pseudo.sum(protocol, segment.len() as u32).with(segment).checksum()
        });
    }
    Some(())
}

/// Sets a checksum field to what `checksum` gives while the field is zero.
fn put(octets: &mut [u8], at: usize, checksum: impl FnOnce(&[u8]) -> u16) {
    octets[at..at + 2].fill(0);
    let value = checksum(octets);
    octets[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Sets the checksum of an SCTP packet right.
fn mend_sctp(octets: &mut [u8]) -> Option<()> {
    octets.get_mut(8..12)?.fill(0);
    let crc = Crc32c::new().with(octets).value();
    octets[8..12].copy_from_slice(&crc.to_le_bytes());
    Some(())
}

/// Any octets with a right checksum are an SCTP packet or an error; a packet
/// is emitted, in the length that it states, and parsed again to the same
/// value.
pub fn parse_sctp(octets: &[u8]) {
    let book = AddressBook::new();
    let mut mended = octets.to_vec();
    if mend_sctp(&mut mended).is_none() {
        assert_eq!(SctpPacket::parse(octets, &book), Err(SctpError::Truncated));
        return;
    }
    let Ok(packet) = SctpPacket::parse(&mended, &book) else { return };
    let _ = (packet.is_well_bundled(), packet.is_pure_sack(), packet.payload_len());
    let mut out = Vec::new();
    packet.emit(&book, &mut out).expect("what was parsed fits");
    assert_eq!(out.len() as u32, packet.wire_len());
    assert_eq!(SctpPacket::parse(&out, &book), Ok(packet.canonical()));
    assert_eq!(packet.canonical(), packet, "a parsed packet is canonical");
}

/// Any octets are options or an error; options are emitted in the length that
/// they state, and parsed again to the same value.
pub fn parse_tcp_options(octets: &[u8]) {
    let Ok(options) = TcpOptions::parse(octets) else { return };
    let kept = options.unknown().len();
    assert!(kept <= octets.len());
    let mut out = Vec::new();
    match options.emit(&mut out) {
        Ok(()) => {
            assert_eq!(out.len() as u32, options.wire_len());
            assert_eq!(TcpOptions::parse(&out), Ok(options));
        }
        Err(EmitError::OptionsTooLong(len)) => {
            assert!(len > 40 && options.wire_len() > 40 && out.is_empty());
        }
        Err(error) => panic!("{error}: {options:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise the target would see nothing but wrong checksums.
    #[test]
    fn mended_octets_parse() {
        let mut ipv4 = [[0x45, 0, 0, 40, 0, 0, 0, 0, 9, 6].as_slice(), &[0xee; 30]].concat();
        ipv4[32] = 0x50;
        mend(&mut ipv4).unwrap();
        Packet::parse(&ipv4, &AddressBook::new()).unwrap();
        let mut ipv6 = [[0x60, 0, 0, 0, 0, 20, 6, 9].as_slice(), &[0xee; 52]].concat();
        ipv6[52] = 0x50;
        mend(&mut ipv6).unwrap();
        Packet::parse(&ipv6, &AddressBook::dense_ipv6()).unwrap();
    }
}
