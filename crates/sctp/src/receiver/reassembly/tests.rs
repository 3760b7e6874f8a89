//! From chunks to messages.

use super::*;
use anabranch_units::Serial32;

fn data(flags: u8, stream: u16, ssn: u16, octets: &[u8]) -> DataChunk {
    let (flags, tsn, payload) = (DataFlags(flags), Serial32(0), Payload::of_octets(octets));
    DataChunk { flags, tsn, stream, ssn, ppid: 0, payload }
}

fn all(r: &mut Reassembly) -> Vec<(u16, Vec<u8>)> {
    std::iter::from_fn(|| r.receive())
        .map(|r| (r.message.stream, r.message.payload.octets().unwrap().to_vec()))
        .collect()
}

/// Head-of-line blocking: from when a message is complete to its turn.
#[test]
fn how_long_a_message_has_waited_is_known() {
    let at = |ms| Time::ZERO + Span::from_millis(ms);
    let mut r = Reassembly::default();
    let mut insert = |ms, offset, chunk| {
        r.set_now(at(ms));
        r.insert(offset, &chunk, true).unwrap();
    };
    insert(10, 2, data(3, 0, 2, b"third"));
    insert(20, 3, data(2, 0, 1, b"sec"));
    insert(25, 5, data(3, 1, 0, b"other"));
    insert(30, 4, data(1, 0, 1, b"ond"));
    insert(90, 1, data(3, 0, 0, b"first"));
    let waited = std::iter::from_fn(|| r.receive()).map(|Received { message, waited, .. }| {
        let octets = message.payload.octets().unwrap().to_vec();
        (String::from_utf8(octets).unwrap(), waited.as_millis())
    });
    let expected = [("other", 0), ("first", 0), ("second", 60), ("third", 80)];
    assert_eq!(waited.collect::<Vec<_>>(), expected.map(|(text, ms)| (text.to_owned(), ms)));
}

#[test]
fn a_message_has_its_number_and_the_tsn_of_its_first_chunk() {
    let mut r = Reassembly::default();
    let at = |tsn, chunk: DataChunk| DataChunk { tsn: Serial32(tsn), ..chunk };
    r.insert(3, &at(13, data(3, 0, 1, b"later")), true).unwrap();
    r.insert(2, &at(12, data(1, 0, 0, b"rst")), true).unwrap();
    r.insert(1, &at(11, data(2, 0, 0, b"fi")), true).unwrap();
    let facts = |it: Received| (it.number, it.tsn.0, it.message.payload.len());
    let all: Vec<_> = std::iter::from_fn(|| r.receive()).map(facts).collect();
    assert_eq!(all, [(0, 11, 5), (1, 13, 5)]);
}

#[test]
fn a_stream_waits_and_another_does_not() {
    let mut r = Reassembly::default();
    r.insert(1, &data(3, 0, 1, b"second"), true).unwrap();
    r.insert(2, &data(3, 1, 0, b"other"), true).unwrap();
    r.insert(3, &data(7, 0, 0, b"unordered"), true).unwrap();
    assert_eq!(all(&mut r), [(1, b"other".to_vec()), (0, b"unordered".to_vec())]);
    r.insert(0, &data(3, 0, 0, b"first"), true).unwrap();
    assert_eq!(all(&mut r), [(0, b"first".to_vec()), (0, b"second".to_vec())]);
    assert_eq!((r.octets(), r.memory()), (0, 0));
}

#[test]
fn fragments_join_in_any_order() {
    let parts = [(0_u64, 2_u8, b"ab"), (1, 0, b"cd"), (2, 0, b"ef"), (3, 1, b"gh")];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        let mut r = Reassembly::default();
        for i in order {
            let (offset, flags, octets) = parts[i];
            assert!(!r.is_ready());
            r.insert(offset, &data(flags, 4, 0, octets), true).unwrap();
        }
        assert_eq!(all(&mut r), [(4, b"abcdefgh".to_vec())], "{order:?}");
        assert_eq!(r.memory(), 0);
    }
}

#[test]
fn fragments_that_contradict_each_other_are_a_violation() {
    for (first, second) in [
        (data(2, 0, 0, b"a"), data(3, 0, 1, b"b")), // a whole message inside
        (data(2, 0, 0, b"a"), data(2, 0, 1, b"b")), // a beginning inside
        (data(2, 0, 0, b"a"), data(1, 1, 0, b"b")), // the end of another stream
        (data(2, 0, 0, b"a"), data(1, 0, 1, b"b")), // the end of another message
    ] {
        let mut r = Reassembly::default();
        r.insert(0, &first, true).unwrap();
        assert!(r.insert(1, &second, true).is_err(), "{first:?} {second:?}");
        // Out of order they stay apart, and are no message.
        let mut r = Reassembly::default();
        r.insert(0, &first, true).unwrap();
        r.insert(1, &second, false).unwrap();
        let mut s = Reassembly::default();
        s.insert(1, &second, false).unwrap();
        s.insert(0, &first, true).unwrap();
        for r in [&mut r, &mut s] {
            let whole = second.flags.contains(DataFlags::WHOLE);
            assert_eq!(all(r).len(), 0, "{first:?} {second:?}: {whole}");
            r.skip_to(1, 2);
            assert_eq!(r.octets(), u64::from(whole), "{first:?} {second:?}");
        }
    }
}

#[test]
fn sequence_numbers_wrap() {
    let mut r = Reassembly::default();
    for n in 0..70_000_u64 {
        r.insert(n, &data(3, 0, n as u16, b"x"), true).unwrap();
        assert!(r.receive().is_some(), "{n}");
    }
}

/// Its TSN is acknowledged, so that nobody would send it again, and its turn never comes: it must not
/// go without a word.
#[test]
fn a_number_that_was_used_before_is_a_violation() {
    let mut r = Reassembly::default();
    r.insert(0, &data(3, 0, 0, b"x"), true).unwrap();
    r.insert(2, &data(3, 0, 2, b"z"), true).unwrap();
    for ssn in [0, 2, 40_000] {
        let held = r.memory();
        assert!(r.insert(1, &data(3, 0, ssn, b"y"), true).is_err(), "{ssn}");
        assert_eq!(r.memory(), held, "{ssn}");
    }
    assert!(r.insert(3, &data(7, 0, 0, b"y"), true).is_ok(), "unordered, its number means nothing");
}

/// RFC 1982 §3.2: with 2^15 missing before it, a number may be that of the message which is due or
/// of the one 2^16 later.
#[test]
fn numbers_beyond_half_of_their_space_are_ambiguous() {
    let mut r = Reassembly::default();
    assert!(!r.is_ambiguous(0, 32_767));
    assert!(r.is_ambiguous(0, 32_768));
    r.insert(7, &data(3, 0, 7, b"x"), true).unwrap();
    assert!(r.is_ambiguous(0, 32_767), "one of the stream waits");
    assert!(!r.is_ambiguous(1, 32_767), "and none of this");
    r.set_interleaving(true);
    assert!(!r.is_ambiguous(0, 40_000), "message identifiers have 32 bits");
}

#[test]
fn octets_are_read_across_messages() {
    let mut r = Reassembly::default();
    r.insert(0, &data(3, 0, 0, b"abc"), true).unwrap();
    r.insert(1, &data(3, 0, 1, b"defg"), true).unwrap();
    let mut read = Vec::new();
    let n = r.read(5, |p, at, n| read.extend_from_slice(&p.octets().unwrap()[at..at + n]));
    assert_eq!((n, read.as_slice(), r.octets()), (5, b"abcde".as_slice(), 2));
    assert_eq!(all(&mut r), [(0, b"fg".to_vec())]);
    assert_eq!(r.memory(), 0);
}
