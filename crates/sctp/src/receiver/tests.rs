//! What becomes of chunks, without an association.

use super::*;
use anabranch_units::Time;
use anabranch_wire::sctp::DataChunk;
use anabranch_wire::{Addr, Payload};

const BUFFER: u32 = 3000;
const ROUTE: Route = Route { path: 0, source: Addr(0) };

/// The peer begins with TSN 100, on two streams.
fn receiver() -> Receiver {
    let mut receiver = Receiver::new(10, BUFFER, None, ROUTE);
    receiver.begin(Serial32(100), 2);
    receiver
}

fn arrive(receiver: &mut Receiver, tsn: u32, len: u32, stream: u16) -> Arrived {
    receiver.reassembly.set_now(Time::ZERO);
    let due = receiver.map.next;
    let flags = DataFlags::WHOLE.union(DataFlags::UNORDERED);
    let arrived = receiver.arrive(Serial32(tsn), len, flags, stream, (1500, BUFFER));
    if let Arrived::New(offset) = arrived {
        let payload = Payload::virtual_of(len);
        let data = DataChunk { flags, tsn: Serial32(tsn), stream, ssn: 0, ppid: 0, payload };
        receiver.reassembly.insert(offset, &data, offset == due).expect("a whole message");
    }
    arrived
}

/// RFC 9260 §6.2, §6.5, §6.7: gaps, duplicates, chunks without data or stream, a full buffer.
#[test]
fn each_chunk_has_its_fate_and_sacks_tell_it() {
    let mut receiver = receiver();
    assert_eq!(arrive(&mut receiver, 100, 500, 0), Arrived::New(1));
    assert_eq!(arrive(&mut receiver, 102, 500, 1), Arrived::New(3));
    assert!(!receiver.sacks.is_due(), "gaps count once the packet is read");
    assert_eq!(arrive(&mut receiver, 102, 500, 1), Arrived::Refused);
    assert!(receiver.sacks.is_due());
    assert_eq!(arrive(&mut receiver, 104, 500, 2), Arrived::NoSuchStream);
    assert_eq!(arrive(&mut receiver, 103, 0, 1), Arrived::Empty);
    let sack = receiver.take_sack(100, (1500, BUFFER), false);
    assert_eq!((sack.cum_tsn, sack.a_rwnd), (Serial32(100), 2000));
    let gaps: Vec<_> = sack.gaps.iter().map(|gap| (gap.start, gap.end)).collect();
    assert_eq!((gaps, sack.duplicates), (vec![(2, 2), (4, 4)], vec![Serial32(102)]));
    assert!(!receiver.sacks.is_due());
    assert_eq!(arrive(&mut receiver, 105, 2001, 0), Arrived::NoRoom);
    assert_eq!(
        arrive(&mut receiver, 101, 2001, 0),
        Arrived::New(2),
        "what fills the gap is let in"
    );
    assert_eq!(receiver.cumulative_tsn(), Serial32(102));
    assert!(receiver.has_all_up_to(Serial32(102)) && !receiver.has_all_up_to(Serial32(103)));
}

/// RFC 9260 §6.2: a window that was closed is opened by a SACK, once it is worth two packets, or half
/// of a small buffer.
#[test]
fn a_window_that_was_closed_is_opened() {
    let mut receiver = receiver();
    arrive(&mut receiver, 100, 1500, 0);
    arrive(&mut receiver, 101, 1500, 0);
    assert_eq!(receiver.take_sack(100, (1500, BUFFER), false).a_rwnd, 0);
    receiver.update_window(1500, BUFFER);
    assert!(!receiver.sacks.is_due(), "nothing was read");
    receiver.reassembly.receive();
    receiver.update_window(1500, BUFFER);
    assert!(receiver.sacks.is_due());
    assert_eq!(receiver.take_sack(100, (1500, BUFFER), false).a_rwnd, 1500);
}

/// RFC 9260 §6.2, §3.3.4: what waits lessens the window by its octets, and what was read adds them.
#[test]
fn the_window_is_the_room_that_is_left() {
    let mut receiver = receiver();
    let told = |receiver: &mut Receiver| receiver.take_sack(100, (500, BUFFER), false).a_rwnd;
    assert_eq!(told(&mut receiver), 3000);
    arrive(&mut receiver, 100, 700, 0);
    assert_eq!(told(&mut receiver), 2300);
    arrive(&mut receiver, 102, 600, 0);
    assert_eq!(told(&mut receiver), 1700, "behind a gap as well");
    receiver.reassembly.receive();
    assert_eq!(told(&mut receiver), 2400);
}

/// The memory of twice 64 times the MTU takes 2953 messages of one octet, with 64 for each. The next is
/// refused, and from then on the window says what such messages find room for.
#[test]
fn the_window_of_small_messages_is_what_fits_of_them() {
    let mut receiver = receiver();
    let told = |receiver: &mut Receiver| receiver.take_sack(100, (1500, BUFFER), false).a_rwnd;
    for tsn in 100..100 + 2953 {
        assert!(matches!(arrive(&mut receiver, tsn, 1, 0), Arrived::New(_)));
    }
    assert_eq!(told(&mut receiver), 47, "nothing was refused yet");
    assert_eq!(arrive(&mut receiver, 3053, 1, 0), Arrived::NoRoom);
    assert_eq!(told(&mut receiver), 0);
    for read in 1..=2953 {
        receiver.reassembly.receive();
        receiver.update_window(1500, BUFFER);
        assert_eq!(receiver.sacks.is_due(), read >= 1476, "half of what fits is worth a SACK");
    }
    assert_eq!(told(&mut receiver), 2953);
    arrive(&mut receiver, 3053, 1400, 0);
    receiver.reassembly.receive();
    assert_eq!(told(&mut receiver), 3000, "larger messages fill less of the memory");
}

/// A SACK of four gap blocks has 32 octets.
#[test]
fn gap_blocks_take_what_room_there_is() {
    let mut receiver = receiver();
    for tsn in (102..120).step_by(2) {
        arrive(&mut receiver, tsn, 1, 0);
    }
    assert_eq!(receiver.take_sack(32, (1500, BUFFER), false).gaps.len(), 4);
    assert_eq!(receiver.take_sack(15, (1500, BUFFER), false).gaps.len(), 0);
    assert_eq!(receiver.take_sack(100, (1500, BUFFER), false).gaps.len(), 9);
}

/// RFC 3758 §3.6.
#[test]
fn what_was_given_up_is_skipped() {
    let mut receiver = receiver();
    arrive(&mut receiver, 102, 1, 0);
    let none = || std::iter::empty();
    assert_eq!(receiver.skip(Serial32(101), none()), Skipped::Advanced);
    assert_eq!(receiver.cumulative_tsn(), Serial32(102));
    assert_eq!(receiver.skip(Serial32(101), none()), Skipped::Known);
    assert_eq!(receiver.skip(Serial32(102).add(1 << 30).add(2), none()), Skipped::Late);
}

/// RFC 6525 §5.2.4 D4: the next TSN is the one that was agreed on, whatever was missing.
#[test]
fn numbers_start_anew() {
    let mut receiver = receiver();
    arrive(&mut receiver, 100, 1, 0);
    arrive(&mut receiver, 103, 1, 0);
    receiver.renumber(Serial32(7));
    assert_eq!(receiver.cumulative_tsn(), Serial32(6));
    assert!(matches!(arrive(&mut receiver, 7, 1, 0), Arrived::New(_)));
    assert!(receiver.take_sack(100, (1500, BUFFER), false).gaps.is_empty());
}
