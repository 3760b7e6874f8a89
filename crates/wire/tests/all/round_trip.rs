//! Properties of the codec: what is written is read again, lengths are those
//! that the values state, and no octets make it panic.

use crate::common::{options, packet};
use anabranch_units::Bytes;
use anabranch_wire::{AddressBook, Body, EmitError, Packet, TcpOptions};
use proptest::collection::vec;
use proptest::prelude::*;

fn emitted(packet: &Packet, book: &AddressBook) -> Vec<u8> {
    let mut out = Vec::new();
    packet.emit(book, &mut out).expect("the strategy makes packets that fit");
    out
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ipv4_packets_come_back(packet in packet()) {
        let book = AddressBook::new();
        let octets = emitted(&packet, &book);
        prop_assert_eq!(Bytes(octets.len() as u64), packet.wire_len());
        let parsed = Packet::parse(&octets, &book).unwrap();
        prop_assert_eq!(&parsed, &packet.canonical());
        prop_assert_eq!(emitted(&parsed, &book), octets);
    }

    #[test]
    fn ipv6_packets_come_back_without_identification(packet in packet()) {
        let book = AddressBook::dense_ipv6();
        let octets = emitted(&packet, &book);
        // The header is 20 octets longer, and so is one that ICMP quotes.
        let more = if matches!(packet.body, Body::Icmp(_)) { 40 } else { 20 };
        // `wire_len` counts the addresses in SCTP's parameters as IPv4.
        if !matches!(packet.body, Body::Sctp(_)) {
            prop_assert_eq!(Bytes(octets.len() as u64 - more), packet.wire_len());
        }
        let parsed = Packet::parse(&octets, &book).unwrap();
        prop_assert_eq!(&parsed, &Packet { ident: 0, ..packet.canonical() });
        prop_assert_eq!(emitted(&parsed, &book), octets);
    }

    #[test]
    fn options_have_the_length_that_they_state(options in options()) {
        let mut out = Vec::new();
        match options.emit(&mut out) {
            Ok(()) => {
                prop_assert_eq!(out.len() as u32, options.wire_len());
                let mut expected = options;
                expected.rare = expected.rare.filter(|rare| !rare.is_empty());
                prop_assert_eq!(TcpOptions::parse(&out), Ok(expected));
            }
            Err(error) => {
                prop_assert!(matches!(error, EmitError::OptionsTooLong(len) if len > 40));
                prop_assert!(options.wire_len() > 40 && out.is_empty());
            }
        }
    }

    #[test]
    fn options_of_any_octets_are_values_or_errors(octets in vec(any::<u8>(), 0..=40)) {
        if let Ok(options) = TcpOptions::parse(&octets) {
            let mut out = Vec::new();
            match options.emit(&mut out) {
                Ok(()) => prop_assert_eq!(TcpOptions::parse(&out), Ok(options)),
                // Tightly packed options may need more room with our padding.
                Err(error) => prop_assert!(matches!(error, EmitError::OptionsTooLong(_))),
            }
        }
    }

    #[test]
    fn corrupted_octets_are_values_or_errors(
        packet in packet(),
        ipv6 in any::<bool>(),
        cut in any::<prop::sample::Index>(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
    ) {
        let book = if ipv6 { AddressBook::dense_ipv6() } else { AddressBook::new() };
        let mut octets = emitted(&packet, &book);
        for (at, value) in changes {
            let at = at.index(octets.len());
            octets[at] = value;
        }
        let _ = Packet::parse(&octets, &book);
        let cut = cut.index(octets.len());
        prop_assert!(Packet::parse(&octets[..cut], &book).is_err(), "a truncated packet passed");
    }

    #[test]
    fn arbitrary_octets_are_values_or_errors(octets in vec(any::<u8>(), 0..200)) {
        let _ = Packet::parse(&octets, &AddressBook::new());
    }
}
