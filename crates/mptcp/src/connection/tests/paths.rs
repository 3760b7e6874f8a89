//! Paths that fail, come back, are backups, or lose their addresses.

use super::world::trace;
use super::*;
use anabranch_endpoint::PathState;
use anabranch_testkit::{Fate, Side};
use std::cell::Cell;
use std::rc::Rc;

/// Which paths work: those of A1 and B1, and the others.
#[derive(Clone, Default)]
struct Cuts(Rc<Cell<[bool; 2]>>);

impl Cuts {
    fn set(&self, first: bool, second: bool) {
        self.0.set([first, second]);
    }
    fn rule(&self) -> impl FnMut(Side, &Packet) -> Fate + use<> {
        let cuts = self.clone();
        move |_, packet| {
            let second = [packet.src, packet.dst].iter().any(|address| [A2, B2].contains(address));
            if cuts.0.get()[second as usize] { Fate::Drop } else { Fate::Deliver }
        }
    }
}

/// What a path had in flight when it failed goes over the other after its
/// timeout (RFC 8684 §3.3.6), and the path is used again when it answers.
#[test]
fn a_path_fails_and_comes_back() {
    let cuts = Cuts::default();
    let config = Config { scheduler: crate::SchedulerKind::RoundRobin, ..config() };
    let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], cuts.rule());
    world.client.write(400_000_000);
    world.drive(at_ms(200));
    cuts.set(false, true);
    world.drive(at_ms(2000));
    let states: Vec<_> = world.client.end.subflows().map(|path| path.state).collect();
    assert_eq!(states, [PathState::Active, PathState::PotentiallyFailed]);
    assert!(world.client.end.counters().reinjected > 0);
    let before = world.server.observe().bytes_received;
    world.drive(at_ms(2300));
    let during = world.server.observe().bytes_received;
    assert!(during > before + 1_000_000, "the stream goes on: {before} {during}");
    cuts.set(false, false);
    world.drive(at_ms(6000));
    let states: Vec<_> = world.client.end.subflows().map(|path| path.state).collect();
    assert_eq!(states, [PathState::Active, PathState::Active]);
    let packets =
        |world: &World<_>| world.client.end.subflows().map(|path| path.packets).collect::<Vec<_>>();
    let earlier = packets(&world);
    world.drive(at_ms(6100));
    assert!(packets(&world)[1] > earlier[1] + 50, "{earlier:?}");
}

/// The first subflow is nothing special: when it dies the connection goes on,
/// and it is opened again.
#[test]
fn the_first_subflow_dies_and_is_opened_again() {
    let cuts = Cuts::default();
    let mut config = config();
    config.subflow.max_retries = 3;
    let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], cuts.rule());
    world.logging = false;
    world.client.write(20_000_000_000);
    world.drive(at_ms(200));
    cuts.set(true, false);
    world.drive(at_ms(20_000));
    assert_eq!(
        world.client.end.subflows().filter(|path| path.state == PathState::Active).count(),
        1
    );
    assert!(world.client.end.pending.closed.is_none());
    cuts.set(false, false);
    world.drive(at_ms(90_000));
    let keys: Vec<_> = world.client.end.flow_keys().map(|key| (key.src, key.dst)).collect();
    assert!(keys.contains(&(A1, B1)) && keys.contains(&(A2, B2)), "{keys:?}");
    assert_eq!(world.client.end.subflows.usable().count_ones(), 2);
}

/// Without any path the connection lingers, and ends.
#[test]
fn a_connection_without_subflows_ends_after_a_while() {
    let cuts = Cuts::default();
    let mut config = config();
    config.subflow.max_retries = 2;
    config.linger = Span::from_secs(30);
    let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], cuts.rule());
    world.client.write(20_000_000_000);
    world.drive(at_ms(200));
    cuts.set(true, true);
    let events = world.drive(at_ms(200_000));
    let ends: Vec<_> = events
        .iter()
        .filter(|(_, side, event)| *side == Side::Client && matches!(event, Event::Closed(_)))
        .collect();
    assert_eq!(ends.len(), 1);
    assert!(matches!(ends[0].2, Event::Closed(CloseReason::TimedOut)));
}

/// §3.3.8: a backup carries nothing while another works, and MP_PRIO changes
/// that.
#[test]
fn backups_wait_for_their_turn() {
    let config = Config {
        path_manager: crate::PathManager::Backup,
        scheduler: crate::SchedulerKind::RoundRobin,
        ..config()
    };
    let cuts = Cuts::default();
    let mut world = world(config.clone(), config, &[A1, A2], &[B1], cuts.rule());
    world.client.write(400_000_000);
    world.drive(at_ms(300));
    let sent = |world: &World<_>| -> Vec<u64> {
        world.client.end.subflows().map(|path| path.packets).collect()
    };
    assert_eq!(sent(&world)[1], 0);
    cuts.set(true, false);
    world.drive(at_ms(2000));
    assert!(sent(&world)[1] > 100, "{:?}", sent(&world));
    cuts.set(false, false);
    world.drive(at_ms(8000));
    let before = sent(&world)[1];
    world.drive(at_ms(8100));
    assert_eq!(sent(&world)[1], before, "the first one is back");
    // Both sides want it to be no backup any more.
    let key = world.client.end.flow_keys().nth(1).unwrap();
    world.client.end.set_backup(key, false);
    world.server.end.set_backup(key.reversed(), false);
    world.drive(at_ms(8300));
    assert!(sent(&world)[1] > before + 10);
    let prios = trace(&world, 8000, 8300).iter().filter(|line| line.contains("prio")).count();
    assert_eq!(prios, 2);
}

/// §3.4.2: an address is gone, and comes back under another number.
#[test]
fn an_address_is_removed_and_added() {
    let cuts = Cuts::default();
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], cuts.rule());
    world.client.write(100_000_000);
    world.drive(at_ms(200));
    let now = world.now;
    world.client.end.remove_address(now, A2);
    world.drive(at_ms(250));
    let all = trace(&world, 200, 250);
    assert!(all.iter().any(|line| line.contains("remove")), "{all:?}");
    assert_eq!(world.client.end.subflows.usable().count_ones(), 1);
    assert_eq!(world.server.end.subflows.usable().count_ones(), 1);
    world.drive(at_ms(5000));
    assert_eq!(world.client.end.subflows.usable().count_ones(), 1, "it is not opened again");
    // The server's, too.
    let now = world.now;
    world.server.end.remove_address(now, B2);
    world.server.end.add_address(now, B2);
    world.client.end.add_address(now, A2);
    world.drive(at_ms(6000));
    assert_eq!(world.client.end.subflows.usable().count_ones(), 2);
}

/// A slow path holds the window: what it carries is sent again on the fast one,
/// and its window is halved (Raiciu et al. 2012, section 4.2).
#[test]
fn a_slow_path_does_not_hold_the_window() {
    let run = |opportunistic_retransmission, penalisation| {
        let mut config = Config { opportunistic_retransmission, penalisation, ..config() };
        config.scheduler = crate::SchedulerKind::RoundRobin;
        config.subflow.receive_buffer = 60_000;
        let slow = |_, packet: &Packet| match packet.src == A2 {
            true => Fate::Delay(Span::from_millis(400)),
            false => Fate::Deliver,
        };
        let mut world = world(config.clone(), config, &[A1, A2], &[B1, B2], slow);
        world.client.write(1 << 40);
        world.drive(at_ms(20_000));
        (world.server.observe().bytes_received, world.client.end.counters())
    };
    let (plain, none) = run(false, false);
    let (opportunistic, some) = run(true, false);
    let (penalised, both) = run(true, true);
    assert_eq!((none.opportunistic, none.penalties), (0, 0));
    assert!(some.opportunistic > 0 && some.penalties == 0);
    assert!(both.penalties > 0);
    assert!(4 * opportunistic > 5 * plain, "{plain} {opportunistic}");
    assert!(2 * penalised > 3 * opportunistic, "{opportunistic} {penalised}");
}

/// A subflow that the peer closes alone leaves its data to the others.
#[test]
fn data_of_a_subflow_that_ends_is_not_lost() {
    let cuts = Cuts::default();
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], cuts.rule());
    world.client.write(3_000_000);
    world.client.close();
    world.drive(at_ms(150));
    let i = world.client.end.subflows.iter().position(|subflow| subflow.local() == A2).unwrap();
    world.client.end.subflows[i].tcp.abort();
    world.client.end.touch(i);
    world.drive(at_ms(20_000));
    assert_eq!(world.server.observe().bytes_received, 3_000_000);
    assert!(world.server.end.receiver.has_ended());
}

/// §3.3.3: a connection may lose its last path before it has another one.
#[test]
fn a_path_may_break_before_another_is_made() {
    let config = Config { path_manager: crate::PathManager::FullMesh, ..config() };
    let mut world = world(config.clone(), config, &[A1], &[B1], |_, _| Fate::Deliver);
    world.client.write(1_000_000);
    world.drive(at_ms(100));
    let now = world.now;
    world.client.end.remove_address(now, A1);
    world.drive(at_ms(5000));
    assert_eq!((world.client.end.subflows.alive(), world.server.end.subflows.alive()), (0, 0));
    let now = world.now;
    world.client.end.add_address(now, A2);
    world.drive(at_ms(20_000));
    assert_eq!(world.server.observe().bytes_received, 1_000_000);
}

/// §3.6: a reset that calls the failure permanent (T = 0) is not followed by another
/// attempt over the same path.
#[test]
fn a_join_that_is_prohibited_is_not_tried_again() {
    let server = Config { max_subflows: 1, ..config() };
    let mut world = world(config(), server, &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(1000);
    world.drive(at_ms(60_000));
    let now = world.now;
    world.client.end.add_address(now, Addr(7)); // the path manager is asked again
    world.drive(at_ms(70_000));
    let all = trace(&world, 0, 70_000);
    let joins: Vec<_> = all.iter().filter(|line| line.ends_with("S join")).collect();
    assert_eq!(joins, ["40 2 > S join"], "{all:#?}");
}

/// A subflow for which there was no room when it was to be opened again is tried later.
#[test]
fn a_subflow_that_found_no_room_is_tried_again() {
    let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
    world.client.write(1000);
    world.drive(at_ms(200));
    let limit = |world: &mut World<_>, n| {
        std::sync::Arc::make_mut(&mut world.client.end.config).max_subflows = n;
    };
    limit(&mut world, 1);
    world.client.end.subflows[1].tcp.abort();
    world.client.end.touch(1);
    world.drive(at_ms(10_000));
    assert_eq!(world.client.end.subflows.alive(), 1);
    limit(&mut world, 2);
    world.drive(at_ms(100_000));
    assert_eq!(world.client.end.subflows.usable().count_ones(), 2);
}

/// §3.3.8: what a subflow is for may change while it is being opened.
#[test]
fn a_subflow_becomes_a_backup_while_it_opens() {
    for date in [45, 55, 65, 75] {
        let mut world = world(config(), config(), &[A1, A2], &[B1, B2], |_, _| Fate::Deliver);
        world.client.write(1000);
        world.drive(at_ms(date));
        let key = world.client.end.flow_keys().nth(1).unwrap();
        world.client.end.set_backup(key, true);
        world.server.end.set_backup(key.reversed(), true);
        world.drive(at_ms(500));
        let (client, server) = (&world.client.end.subflows[1], &world.server.end.subflows[1]);
        let prios = trace(&world, 0, 500).iter().filter(|line| line.contains("prio")).count();
        assert!(client.backup && server.peer_backup, "{date}: {:#?}", trace(&world, 0, 500));
        // At the first date the server has heard of no join yet.
        assert_eq!(client.peer_backup, date > 50, "{date}: {:#?}", trace(&world, 0, 500));
        assert_eq!(prios, 1 + (date > 50) as usize);
    }
}
