//! The end of connections.

use super::world::trace;
use super::*;
use anabranch_testkit::{Fate, Side};

fn closes(events: &[(Time, Side, Event)]) -> Vec<(Side, CloseReason)> {
    let all = events.iter().filter_map(|(_, side, event)| match event {
        Event::Closed(reason) => Some((*side, *reason)),
        _ => None,
    });
    all.collect()
}

/// RFC 8684 §3.3.3: both DATA_FINs, then the FINs of all subflows.
#[test]
fn both_sides_close() {
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(1000);
    let mut events = world.drive(at_ms(200));
    world.client.close();
    events.extend(world.drive(at_ms(300)));
    assert!(events.iter().any(|event| event.1 == Side::Server && event.2 == Event::PeerClosed));
    assert_eq!(world.server.end.subflows.usable().count_ones(), 2, "half closed: subflows stay");
    world.server.write(500);
    world.server.close();
    events.extend(world.drive(at_ms(200_000)));
    let all = trace(&world, 200, 1000);
    assert_eq!(all.iter().filter(|line| line.contains(" F")).count(), 4, "{all:?}");
    assert_eq!(world.client.observe().bytes_received, 500);
    let mut ends = closes(&events);
    ends.sort_by_key(|event| event.0 as u8);
    assert_eq!(ends, [(Side::Client, CloseReason::Normal), (Side::Server, CloseReason::Normal)]);
}

/// A stream without octets ends, too.
#[test]
fn an_empty_stream_ends() {
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    let mut events = world.drive(at_ms(100));
    world.client.close();
    world.server.close();
    events.extend(world.drive(at_ms(200_000)));
    assert_eq!(closes(&events).len(), 2, "{:?}", trace(&world, 0, 5000));
    assert!(closes(&events).iter().all(|event| event.1 == CloseReason::Normal));
}

/// §3.5: MP_FASTCLOSE with the peer's key ends everything at once; with another
/// it is a reset of one subflow.
#[test]
fn an_abort_ends_both_sides_at_once() {
    for wrong in [false, true] {
        let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
        world.client.write(100_000);
        world.drive(at_ms(200));
        if wrong {
            world.client.meddle = Box::new(|segment| {
                use anabranch_wire::tcp::mptcp::MptcpOption;
                let Some(rare) = &mut segment.options.rare else { return };
                for option in &mut rare.mptcp {
                    if let MptcpOption::Fastclose { key } = option {
                        *key ^= 1;
                    }
                }
            });
        }
        world.client.abort();
        let events = world.drive(at_ms(300));
        let all = trace(&world, 200, 300);
        assert_eq!(all.iter().filter(|line| line.contains("R. fastclose")).count(), 2, "{all:?}");
        let ends = closes(&events);
        assert_eq!(ends.contains(&(Side::Server, CloseReason::Reset)), !wrong);
        assert!(ends.contains(&(Side::Client, CloseReason::Aborted)));
    }
}

/// RFC 9293 §3.8.3: a DATA_FIN without an answer is given up as a FIN is, and the user hears of
/// it; no subflow has anything outstanding that TCP would send again.
#[test]
fn a_data_fin_that_nobody_answers_is_given_up() {
    let down = std::cell::Cell::new(false);
    let rule = |_, _: &Packet| if down.get() { Fate::Drop } else { Fate::Deliver };
    let mut world = world(config(), config(), &[A1], &[B1], rule);
    world.client.write(1000);
    world.drive(at_ms(1000));
    down.set(true);
    world.client.close();
    let events = world.drive(at_ms(2_000_000));
    assert_eq!(closes(&events), [(Side::Client, CloseReason::TimedOut)]);
    // As patient as TCP: 15 retransmissions, the later ones a minute apart.
    let ended = events.last().map(|event| event.0.as_secs_f64()).unwrap_or_default();
    assert!((300.0..1000.0).contains(&ended), "{ended}");
    let fins = trace(&world, 1000, 2_000_000).iter().filter(|line| line.contains("fin")).count();
    assert_eq!(fins, 16);
}

/// RFC 9293 §3.8.6.1: a closed window is probed as long as somebody answers, and no longer than
/// TCP tries otherwise.
#[test]
fn a_closed_window_that_nobody_answers_for_is_given_up() {
    let down = std::cell::Cell::new(false);
    let rule = |_, _: &Packet| if down.get() { Fate::Drop } else { Fate::Deliver };
    let mut small = config();
    small.subflow.receive_buffer = 2000;
    let mut world = world(config(), small, &[A1], &[B1], rule);
    world.client.write(5000);
    // Nobody reads, which is no reason to give up.
    while world.step(at_ms(3_000_000)) {}
    assert_eq!(world.server.end.out_of_order(), 0);
    assert!(
        std::iter::from_fn(|| world.client.poll_event()).all(|event| event == Event::Connected)
    );
    down.set(true);
    while world.step(at_ms(6_000_000)) {}
    let last = std::iter::from_fn(|| world.client.poll_event()).last();
    assert_eq!(last, Some(Event::Closed(CloseReason::TimedOut)));
}

/// What asks the peer for something goes to every subflow when the best one has no answer: a
/// probe of the closed window, and the DATA_FIN.
#[test]
fn a_dead_subflow_without_data_keeps_nothing_waiting() {
    let down = std::cell::Cell::new(false);
    let rule = |_, packet: &Packet| {
        let first = [packet.src, packet.dst].contains(&A1);
        if down.get() && first { Fate::Drop } else { Fate::Deliver }
    };
    let mut small = config();
    small.subflow.receive_buffer = 4000;
    let mut world = world(config(), small, &[A1, A2], &[B1, B2], rule);
    world.client.write(10_000);
    while world.step(at_ms(1000)) {}
    assert_eq!(world.server.end.subflows.usable().count_ones(), 2);
    // The window opens, and nobody hears of it on the first path.
    down.set(true);
    world.drive(at_ms(30_000));
    assert_eq!(world.server.observe().bytes_received, 10_000);
    down.set(false);
    world.drive(at_ms(200_000));
    down.set(true);
    world.client.close();
    let events = world.drive(at_ms(230_000));
    assert!(events.iter().any(|event| event.1 == Side::Server && event.2 == Event::PeerClosed));
}

/// A DATA_FIN is sent again until it is acknowledged.
#[test]
fn a_lost_data_fin_is_sent_again() {
    let mut lost = 0;
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], move |_, packet| {
        let anabranch_wire::Body::Tcp(segment) = &packet.body else { panic!("TCP") };
        let fin = segment.options.dss().is_some_and(|dss| dss.data_fin);
        lost += fin as u32;
        if fin && lost < 3 { Fate::Drop } else { Fate::Deliver }
    });
    world.client.write(1000);
    let mut events = world.drive(at_ms(200));
    world.client.close();
    world.server.close();
    events.extend(world.drive(at_ms(200_000)));
    assert_eq!(closes(&events).len(), 2);
}

/// Both have sent their DATA_FIN, and data before it is lost: it is sent again when
/// timers say so, not in answer to the peer's.
#[test]
fn data_fins_above_a_gap_do_not_answer_each_other() {
    let mut lost = [false; 2];
    let mut world = world(config(), config(), &[A1], &[B1], move |side, packet| {
        let first = packet.payload_len() > 0 && !lost[side as usize];
        lost[side as usize] |= first;
        if first { Fate::Drop } else { Fate::Deliver }
    });
    world.drive(at_ms(100));
    for end in [&mut world.client, &mut world.server] {
        end.write(1500);
        end.close();
    }
    let events = world.drive(at_ms(200_000));
    assert_eq!(closes(&events).len(), 2);
    assert_eq!(
        trace(&world, 100, 1000),
        [
            "100 1 > . 996 capable(keys, data)",
            "100 1 > . 504 ack map 505 fin",
            "100 1 < . 996 ack map 996",
            "100 1 < . 504 ack map 505 fin",
            "110 1 < . ack map 1 fin",
            "110 1 > . ack map 1 fin",
        ]
    );
}

/// The peer refuses, or does not answer.
#[test]
fn a_connection_that_does_not_open_ends() {
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |side, _| match side {
        Side::Client => Fate::Drop,
        Side::Server => Fate::Deliver,
    });
    let events = world.drive(at_ms(1_000_000));
    assert_eq!(closes(&events), [(Side::Client, CloseReason::TimedOut)]);
}

/// A peer whose subflows send their FINs as soon as its stream has ended still reads:
/// nothing need be sent again for that.
#[test]
fn fins_after_a_data_fin_move_no_data() {
    let config = Config { opportunistic_retransmission: false, ..config() };
    let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(5_000_000);
    world.drive(at_ms(200));
    world.server.close();
    world.drive(at_ms(250));
    for i in 0..2 {
        world.server.end.subflows[i].tcp.close();
        world.server.end.touch(i);
    }
    world.drive(at_ms(20_000));
    let fins = trace(&world, 250, 260).iter().filter(|line| line.contains("F. ack")).count();
    assert_eq!(fins, 2);
    assert_eq!(world.server.observe().bytes_received, 5_000_000);
    assert_eq!(world.client.end.counters().reinjected, 0);
}

/// §3.3.3: FINs on all subflows without a DATA_FIN end the connection only after a
/// while, on the active side as on the other.
#[test]
fn fins_without_a_data_fin_end_it_after_a_while() {
    let config = Config { linger: Span::from_secs(30), ..config() };
    let mut world = world(config.clone(), config, &[A1], &[B1], |_, _| Fate::Deliver);
    world.client.write(1000);
    let mut events = world.drive(at_ms(100));
    world.server.end.subflows[0].tcp.close();
    world.server.end.touch(0);
    events.extend(world.drive(at_ms(25_000)));
    assert_eq!(closes(&events), [], "{:#?}", trace(&world, 0, 25_000));
    events.extend(world.drive(at_ms(200_000)));
    assert_eq!(closes(&events).len(), 2);
}
