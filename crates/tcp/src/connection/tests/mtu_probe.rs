//! Probing for the path's MTU (RFC 4821) over paths that swallow what is too
//! big for them, without a word.

use super::*;
use crate::config::MtuProbing;
use std::cell::Cell;
use std::rc::Rc;

/// TCP and IP headers without options.
const HEADERS: u32 = 40;

fn config(mode: MtuProbing, recovery: &str) -> Config {
    let recovery = Recovery::from_name(recovery).unwrap();
    Config { mss: 1460, initial_ssthresh: Some(60_000), mtu_probing: mode, ..classic(recovery) }
}

/// What a path of a changing MTU does.
fn path(mtu: &Rc<Cell<u32>>) -> impl FnMut(Side, &Packet) -> Fate + use<> {
    let mtu = mtu.clone();
    move |_, packet| if packet.wire_len().0 as u32 > mtu.get() { Fate::Drop } else { Fate::Deliver }
}

/// Sizes of the client's segments, each with the date of its first use.
fn sizes<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Connection, F>) -> Vec<(u64, u32)> {
    let mut sizes: Vec<(u64, u32)> = Vec::new();
    for line in pair.log.iter().filter(|line| line.from == Side::Client) {
        let len = line.packet.payload_len();
        if len > 0 && sizes.iter().all(|(_, size)| *size != len) {
            sizes.push((line.sent.as_millis(), len));
        }
    }
    sizes
}

const SCHEMES: [&str; 5] = ["reno", "newreno", "sack", "fack", "rack"];

/// §7.3: from 1024 octets by halves of what is open, then the upper bound.
#[test]
fn the_search_ends_at_what_both_allow_where_that_passes() {
    for scheme in SCHEMES {
        let mtu = Rc::new(Cell::new(1500));
        let mut pair = pair(&config(MtuProbing::Always, scheme), path(&mtu));
        pair.client.write(2_000_000);
        pair.drive(at_ms(60_000));
        let sizes: Vec<u32> =
            sizes(&pair).iter().map(|size| size.1).filter(|n| *n >= 1024).collect();
        assert_eq!(sizes, [1024, 1242, 1351, 1406, 1433, 1447, 1454, 1460], "{scheme}");
        let end = pair.client.observe();
        assert_eq!((end.retransmitted_packets, end.bytes_acked), (0, 2_000_000), "{scheme}");
        assert_eq!(pair.client.sender.mss, 1460);
    }
}

/// §7.4: probes that are lost are no congestion. The search ends less than eight
/// octets below what passes, without a timeout, and with the window of a
/// connection that lost nothing. But for Reno, which repairs one segment of a
/// window: the second half of a probe costs it a timeout.
#[test]
fn lost_probes_leave_the_window_as_it_was() {
    for scheme in SCHEMES {
        let play = |mtu: u32| {
            let mtu = Rc::new(Cell::new(mtu));
            let mut pair = pair(&config(MtuProbing::Always, scheme), path(&mtu));
            pair.client.write(3_000_000);
            pair.drive(at_ms(60_000));
            (pair.client.observe(), pair.client.sender.mss as u32 + HEADERS)
        };
        for mtu in [1100, 1280, 1400] {
            let (end, found) = play(mtu);
            assert!(found <= mtu && found + 8 > mtu, "{scheme}: {found} of {mtu}");
            assert_eq!(end.bytes_acked, 3_000_000, "{scheme} {mtu}");
            if scheme == "reno" {
                continue;
            }
            assert_eq!(end.timeouts, 0, "{scheme} {mtu}");
            // Each lost probe leaves again as two segments; a smaller size is
            // lost at most so often.
            assert!((2..=14).contains(&end.retransmitted_packets), "{scheme} {mtu}: {end:?}");
            assert!(end.ssthresh >= 60_000, "{scheme} {mtu}: {end:?}");
        }
    }
}

/// §7.6.3: more was lost than the probe: that is congestion, and tells nothing
/// of the size.
#[test]
fn a_probe_lost_among_others_is_tried_again() {
    let mut lost = 0;
    let rule = move |side, packet: &Packet| {
        let first = side == Side::Client && packet.payload_len() == 1242 && lost == 0;
        lost += if first || (1..=3).contains(&lost) && packet.payload_len() > 0 { 1 } else { 0 };
        if first || lost == 3 { Fate::Drop } else { Fate::Deliver }
    };
    let mut pair = pair(&config(MtuProbing::Always, "sack"), rule);
    pair.client.write(2_000_000);
    pair.drive(at_ms(60_000));
    let end = pair.client.observe();
    assert!(end.ssthresh < 60_000, "the window is halved: {end:?}");
    assert_eq!((end.timeouts, end.bytes_acked), (0, 2_000_000));
    let probes = pair.log.iter().filter(|line| line.packet.payload_len() == 1242);
    assert!(probes.count() >= 2);
    assert_eq!(pair.client.sender.mss, 1460);
}

/// An outage begins behind a probe, and segments are halved before its ACK tells that it passed: the
/// window of two small segments is less than one of the size found. A window is one segment at
/// least (RFC 5681 §3.1, LW), and the transfer goes on.
#[test]
fn a_size_found_beyond_the_window_leaves_when_nothing_is_in_flight() {
    for scheme in SCHEMES {
        let down = Rc::new(Cell::new(false));
        let is_down = down.clone();
        let rule = move |_, _: &Packet| if is_down.get() { Fate::Drop } else { Fate::Deliver };
        let mut pair = pair(&config(MtuProbing::Always, scheme), rule);
        pair.client.write(300_000);
        let is_probe = |line: &anabranch_testkit::Line| line.packet.payload_len() == 1242;
        while !pair.log.iter().any(is_probe) {
            pair.step(at_ms(10_000));
        }
        down.set(true);
        pair.drive(at_ms(8_000));
        assert!(pair.client.sender.mss < 1024, "{scheme}");
        down.set(false);
        pair.drive(at_ms(60_000));
        assert_eq!(pair.client.observe().bytes_acked, 300_000, "{scheme}");
    }
}

/// A path that shrinks under a connection: without probing it stands still,
/// with `black-hole` it goes on, and ends at the largest size that passes.
#[test]
fn a_black_hole_is_left_and_the_largest_size_found() {
    for (mode, found) in [(MtuProbing::Off, 1500), (MtuProbing::BlackHole, 1293)] {
        let mtu = Rc::new(Cell::new(1500));
        let mut pair = pair(&config(mode, "sack"), path(&mtu));
        pair.client.write(4_000_000);
        pair.drive(at_ms(1_500));
        let before = pair.client.observe().bytes_acked;
        assert!(before > 50_000 && before < 1_000_000);
        assert_eq!(pair.client.sender.mss, 1460, "no probes while all is well");
        mtu.set(1300);
        pair.drive(at_ms(120_000));
        let (end, goes_on) = (pair.client.observe(), mode != MtuProbing::Off);
        assert_eq!(end.bytes_acked == 4_000_000, goes_on, "{mode:?} {end:?}");
        let size = pair.client.sender.mss as u32 + HEADERS;
        assert!((found..=found.max(1300)).contains(&size), "{mode:?} {size}");
    }
}

/// PMTU_RAISE_TIMER of RFC 8899 §5.1.1: a path that grows is found out after ten
/// minutes.
#[test]
fn the_search_begins_anew_after_ten_minutes() {
    let mtu = Rc::new(Cell::new(1300));
    let mut pair = pair(&config(MtuProbing::Always, "sack"), path(&mtu));
    pair.logging = false;
    let at_once = |pair: &mut Pair<Connection, _>, until: u64| {
        while pair.now < at_ms(until) {
            pair.client.write(200_000);
            let next = pair.now + Span::from_secs(5);
            pair.drive(next.min(at_ms(until)));
        }
        pair.client.sender.mss as u32 + HEADERS
    };
    let found = at_once(&mut pair, 60_000);
    assert!((1293..=1300).contains(&found), "{found}");
    mtu.set(1500);
    assert_eq!(at_once(&mut pair, 500_000), found);
    assert_eq!(at_once(&mut pair, 700_000), 1500);
}

/// A router's word about a probe bounds the search.
#[test]
fn what_a_router_says_of_a_probe_is_the_upper_bound() {
    use anabranch_wire::{Icmp, IcmpKind, Quote};
    let mtu = Rc::new(Cell::new(1200));
    let mut pair = pair(&config(MtuProbing::Always, "sack"), path(&mtu));
    pair.client.write(3_000_000);
    let mut told = 0;
    while pair.step(at_ms(60_000)) {
        pair.server.read(u64::MAX);
        let lost: Vec<Packet> =
            pair.log.drain(..).filter(|l| l.fate == Fate::Drop).map(|l| l.packet).collect();
        for packet in lost {
            told += 1;
            let kind = IcmpKind::PacketTooBig { mtu: 1200 };
            let body = Body::Icmp(Box::new(Icmp { kind, quote: Quote::of(&packet) }));
            pair.client.handle_input(pair.now, &Packet::new(Addr(9), Addr(0), body));
        }
    }
    assert_eq!(told, 1, "no larger one is tried");
    assert_eq!(pair.client.sender.mss as u32 + HEADERS, 1200);
    assert_eq!(pair.client.observe().timeouts, 0);
}
