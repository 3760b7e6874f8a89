//! The sending half without an association: windows, SACKs, and what is given up.

use super::*;
use crate::draft::Draft;
use crate::message::Message;
use crate::paths::Paths;
use crate::reliability::Reliability;
use anabranch_units::Span;
use anabranch_wire::sctp::{Chunk, GapBlock};
use anabranch_wire::{Addr, Payload};

const PACKET: u32 = 1468;
const NONE: [u32; 0] = [];

/// A sender whose first TSN is 100, to one path, with messages of these lengths.
fn sender(config: &Config, messages: &[u32]) -> (Sender, Paths) {
    let mut sender = Sender::new(config);
    sender.origin = Serial32(99);
    sender.window.begin(100_000);
    for len in messages {
        sender.outgoing.push(message(*len), Reliability::Reliable);
    }
    (sender, Paths::new(config, &[Addr(0)], &[Addr(1)]))
}

fn message(len: u32) -> Message {
    Message::new(0, Payload::virtual_of(len))
}

fn after(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// The TSNs of the next packet of new data.
fn transmit(sender: &mut Sender, paths: &mut Paths, now: Time, config: &Config) -> Vec<u32> {
    let mut draft = Draft::new(PACKET);
    if sender.begin_packet(paths.room.payload, config.nagle, config).is_some() {
        sender.add_new(now, &mut draft, 0, paths, config);
    }
    tsns(&draft)
}

fn retransmit(sender: &mut Sender, paths: &mut Paths, now: Time, config: &Config) -> Vec<u32> {
    let mut draft = Draft::new(PACKET);
    if let Some(lost) = sender.next_lost(now, paths, config)
        && sender.add_lost(now, &mut draft, (lost.index, lost.path), paths, config)
    {
        sender.repair.on_packet(lost.fast, lost.alone);
    }
    tsns(&draft)
}

fn tsns(draft: &Draft) -> Vec<u32> {
    let tsn = |chunk: &Chunk| match chunk {
        Chunk::Data(data) => Some(data.tsn.0),
        _ => None,
    };
    draft.chunks.iter().filter_map(tsn).collect()
}

/// Reads a SACK; true when something was newly acknowledged.
fn sack(
    (sender, paths): (&mut Sender, &mut Paths),
    now: Time,
    cum: u32,
    gaps: &[(u16, u16)],
    config: &Config,
) -> bool {
    let gaps: Vec<_> =
        gaps.iter().map(|(start, end)| GapBlock { start: *start, end: *end }).collect();
    match sender.on_cumulative(now, Serial32(cum), Some(&gaps), 0, (&mut paths[..], config)) {
        Acknowledged::Read(outcome, cum) => {
            sender.after_sack(now, 0, (outcome, cum), paths, config);
            outcome.news
        }
        other => panic!("{other:?}"),
    }
}

/// RFC 9260 §6.1 A: the peer's window bounds what is outstanding, but for one chunk that probes it.
#[test]
fn the_peers_window_is_kept_and_probed() {
    let config = Config::rfc9260();
    let (mut sender, mut paths) = sender(&config, &[1000, 1000, 1000]);
    sender.window.update(2500);
    assert_eq!(transmit(&mut sender, &mut paths, Time::ZERO, &config), [100]);
    assert_eq!(transmit(&mut sender, &mut paths, Time::ZERO, &config), [101]);
    assert_eq!(transmit(&mut sender, &mut paths, Time::ZERO, &config), NONE);
    assert!(sack((&mut sender, &mut paths), after(100), 101, &[], &config));
    sender.window.update(0);
    assert_eq!(transmit(&mut sender, &mut paths, after(100), &config), NONE);
    let rto = Span::from_secs(1);
    sender.watch_window(after(100), rto, rto);
    assert_eq!(sender.probe.timer.deadline(), after(1100), "an RTO after it closed");
    sender.probe.on_timer();
    assert_eq!(transmit(&mut sender, &mut paths, after(1100), &config), [102], "it probes");
    assert!(sender.is_probing(0));
    assert_eq!(sender.counters.acked, 2000);
}

#[test]
fn small_messages_share_a_packet() {
    let config = Config::rfc9260();
    let (mut sender, mut paths) = sender(&config, &[400, 400, 400, 400]);
    assert_eq!(transmit(&mut sender, &mut paths, Time::ZERO, &config), [100, 101, 102]);
    assert_eq!(paths[0].flight, 3 * 416);
    assert_eq!((sender.held(), sender.next_tsn()), (1600, Serial32(103)));
}

/// RFC 6458 §8.1.5: what leaves when nothing is outstanding leaves to its end.
#[test]
fn nagles_rule_holds_up_less_than_a_packet() {
    let config = Config { nagle: true, ..Config::rfc9260() };
    let (mut sender, mut paths) = sender(&config, &[100]);
    assert_eq!(transmit(&mut sender, &mut paths, Time::ZERO, &config), [100]);
    sender.begin_event();
    sender.outgoing.push(message(100), Reliability::Reliable);
    assert_eq!(transmit(&mut sender, &mut paths, Time::ZERO, &config), NONE);
    sender.outgoing.push(message(1400), Reliability::Reliable);
    assert_eq!(transmit(&mut sender, &mut paths, Time::ZERO, &config), [101], "more than a packet");
}

/// RFC 9260 §6.2.1, §7.2.4: three reports of a missing chunk send it again, and halve the window once.
#[test]
fn missing_reports_cause_a_fast_retransmit() {
    let config = Config::rfc9260();
    let (mut sender, mut paths) = sender(&config, &[1452; 8]);
    paths[0].window.set_initial_ssthresh(u64::MAX);
    let sent: Vec<u32> =
        (0..5).flat_map(|_| transmit(&mut sender, &mut paths, Time::ZERO, &config)).collect();
    assert_eq!(sent, [100, 101, 102, 103, 104]);
    for (ms, last) in [(100, 2), (101, 3), (102, 4)] {
        assert_eq!(retransmit(&mut sender, &mut paths, after(ms), &config), NONE);
        assert!(sack((&mut sender, &mut paths), after(ms), 99, &[(2, last)], &config));
    }
    assert_eq!(paths[0].window.cwnd(), 4 * 1468, "the floor");
    assert!(paths[0].recovery.is_some() && sender.repair.is_fast_due());
    assert_eq!(retransmit(&mut sender, &mut paths, after(102), &config), [100]);
    assert_eq!((sender.counters.retransmitted, paths[0].retransmitted), (1, 1));
    assert!(!sender.repair.is_fast_due());
}

/// RFC 9260 §6.3.3 E3, rule 1: as much as one packet takes, then a SACK is awaited.
#[test]
fn one_packet_is_sent_again_after_a_timeout() {
    let config = Config::rfc9260();
    let (mut sender, mut paths) = sender(&config, &[700; 4]);
    transmit(&mut sender, &mut paths, Time::ZERO, &config);
    transmit(&mut sender, &mut paths, Time::ZERO, &config);
    sender.flight.expire(0, &mut paths);
    sender.repair.on_timeout();
    assert_eq!(retransmit(&mut sender, &mut paths, after(1000), &config), [100, 101]);
    assert_eq!(retransmit(&mut sender, &mut paths, after(1000), &config), NONE);
    assert!(!sender.may_send_new(&config));
    sack((&mut sender, &mut paths), after(1100), 101, &[], &config);
    assert_eq!(retransmit(&mut sender, &mut paths, after(1100), &config), [102, 103]);
}

/// RFC 9260 §6.2.1 D i, §10: what is late is no news, what was never sent is a violation.
#[test]
fn acknowledgments_of_the_past_and_of_nothing_are_told_apart() {
    let config = Config::rfc9260();
    let (mut sender, mut paths) = sender(&config, &[100, 100]);
    transmit(&mut sender, &mut paths, Time::ZERO, &config);
    sack((&mut sender, &mut paths), after(50), 100, &[], &config);
    for (cum, late) in [(99, true), (102, false), (103_u32.wrapping_add(1 << 30), true)] {
        let answer =
            sender.on_cumulative(after(60), Serial32(cum), Some(&[]), 0, (&mut paths[..], &config));
        assert_eq!(matches!(answer, Acknowledged::Late), late, "{cum}: {answer:?}");
        assert_eq!(matches!(answer, Acknowledged::Impossible), !late, "{cum}: {answer:?}");
    }
}

/// RFC 3758 §3.5: FORWARD-TSN is told once, and again when a SACK came.
#[test]
fn what_was_given_up_is_told() {
    let config = Config::rfc9260();
    let (mut sender, mut paths) = sender(&config, &[]);
    sender.outgoing.push(message(100), Reliability::Retransmissions(0));
    transmit(&mut sender, &mut paths, Time::ZERO, &config);
    sender.flight.expire(0, &mut paths);
    assert!(sender.forward_tsn(1468).is_none() && !sender.repeat_forward_tsn());
    assert!(sender.give_up_lost(after(1000), &mut paths, &config));
    let told = |chunk| match chunk {
        Some(Chunk::ForwardTsn(forward)) => Some((forward.cum_tsn.0, forward.skipped)),
        other => panic!("{other:?}"),
    };
    assert_eq!(told(sender.forward_tsn(1468)), Some((100, vec![(0, 0)])));
    assert!(sender.forward_tsn(1468).is_none());
    assert!(sender.repeat_forward_tsn());
    assert!(sender.forward_tsn(1468).is_some());
    assert_eq!((sender.abandoned().sent, sender.is_settled(), sender.is_dry()), (1, true, false));
}

/// RFC 4960 Appendix A: once for all that was sent until then.
#[test]
fn marks_reduce_the_window_once_a_flight() {
    let config = Config::rfc9260();
    let (mut sender, mut paths) = sender(&config, &[1452; 3]);
    (0..2).for_each(|_| drop(transmit(&mut sender, &mut paths, Time::ZERO, &config)));
    let mark = |sender: &mut Sender, paths: &mut Paths, tsn| {
        let known = sender.on_ecne(after(50), Serial32(tsn), paths, 0);
        (known, paths[0].window.ssthresh())
    };
    paths[0].window = crate::paths::window::Window::new(&Config {
        initial_window: crate::InitialWindow::Mtus(20),
        ..config.clone()
    });
    assert_eq!(mark(&mut sender, &mut paths, 100), (true, 15_000));
    assert_eq!(mark(&mut sender, &mut paths, 101), (true, 15_000), "the same flight");
    assert!(!mark(&mut sender, &mut paths, 102).0, "it was never sent");
    transmit(&mut sender, &mut paths, after(60), &config);
    assert_eq!(mark(&mut sender, &mut paths, 102), (true, 7500));
}

/// A user whose write was cut short hears once that there is room.
#[test]
fn room_is_told_once() {
    let config = Config::rfc9260();
    let (mut sender, _) = sender(&config, &[1000]);
    sender.set_write_blocked(true);
    assert!(!sender.has_room_again(1000));
    assert!(sender.has_room_again(1001) && !sender.has_room_again(1001));
}

/// Windows that hold nothing up.
fn wide() -> Config {
    Config { initial_window: crate::InitialWindow::Mtus(100), ..Config::rfc9260() }
}

/// RFC 9260 §6.3.1 C5: what was lost and left again below makes the sample of a later chunk doubtful.
#[test]
fn what_left_before_a_retransmission_below_gives_no_sample() {
    let config = wide();
    let (mut sender, mut paths) = sender(&config, &[1000; 5]);
    for tsn in 100..105 {
        assert_eq!(transmit(&mut sender, &mut paths, Time::ZERO, &config), [tsn]);
    }
    // The fourth is timed, offset 4; the first is found missing.
    paths[0].timed = Some((4, Time::ZERO));
    for gaps in [&[(2, 2)][..], &[(2, 3)], &[(2, 3), (5, 5)]] {
        sack((&mut sender, &mut paths), after(100), 99, gaps, &config);
    }
    assert_eq!(retransmit(&mut sender, &mut paths, after(100), &config), [100]);
    assert_eq!(paths[0].timed, None);
}

/// RFC 9260 §6.1, §7.2.4 rule 4: the earliest chunk outstanding at an address restarts T3-rtx there,
/// though others before it are outstanding elsewhere.
#[test]
fn the_earliest_chunk_of_an_address_restarts_its_timer() {
    let config = wide();
    let (mut sender, _) = sender(&config, &[1000; 5]);
    let mut paths = Paths::new(&config, &[Addr(0)], &[Addr(1), Addr(2)]);
    paths[1].state = crate::paths::path::PathState::Active;
    for path in [0, 1, 1, 1, 1] {
        let mut draft = Draft::new(PACKET);
        assert!(sender.begin_packet(paths.room.payload, false, &config).is_some());
        assert!(sender.add_new(Time::ZERO, &mut draft, path, &mut paths, &config));
        paths[path].t3.set(after(1000));
    }
    sender.flight.expire(1, &mut paths);
    paths[1].t3.set(after(1000));
    let mut draft = Draft::new(PACKET);
    let lost = sender.next_lost(after(400), &mut paths, &config).unwrap();
    assert_eq!((lost.index, lost.path), (1, 0), "the timer's chunks go to the other path");
    // Sent to its own path it is the earliest there; a later one is not.
    assert!(sender.add_lost(after(400), &mut draft, (1, 0), &mut paths, &config));
    assert_eq!(paths[0].t3.deadline(), after(1000), "the first chunk was sent there earlier");
    let mut draft = Draft::new(PACKET);
    let same = Config { destination: crate::Destination::AllSame, ..config };
    assert!(sender.add_lost(after(500), &mut draft, (2, 1), &mut paths, &same));
    assert_eq!(paths[1].t3.deadline(), after(1500));
}

/// RFC 3758 §3.2, §3.5 C4: a pair of FORWARD-TSN takes four octets.
#[test]
fn a_forward_tsn_lists_as_many_streams_as_fit() {
    let config = Config { outbound_streams: 400, ..wide() };
    let (mut sender, mut paths) = sender(&config, &[]);
    for stream in 0..400 {
        let message = Message::new(stream, Payload::virtual_of(20));
        sender.outgoing.push(message, Reliability::Retransmissions(0));
    }
    while !transmit(&mut sender, &mut paths, Time::ZERO, &config).is_empty() {}
    sender.flight.expire(0, &mut paths);
    assert!(sender.give_up_lost(after(1000), &mut paths, &config));
    let Some(Chunk::ForwardTsn(forward)) = sender.forward_tsn(PACKET) else { panic!() };
    assert_eq!((forward.skipped.len(), forward.cum_tsn), (365, Serial32(99 + 365)));
}
