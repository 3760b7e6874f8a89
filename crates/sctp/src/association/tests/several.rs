//! Three paths and more: which alternate takes new data when the primary fails, and which takes
//! retransmissions (RFC 9260 §6.4, §8.2; RFC 7829 §3).

use super::*;
use crate::policy::{Candidate, Policy, Reason};
use crate::{Destination, Failover, Probe, Probing};
use std::cell::Cell;
use std::rc::Rc;

/// What happens to a packet to path 0, 1, ... of the peer, either way.
type Fates = Rc<Cell<[Fate; 4]>>;

/// An association over as many paths as there are fates, established and idle.
fn several(
    config: Config,
    fates: &[Fate],
) -> (Pair<Association, impl FnMut(Side, &Packet) -> Fate + use<>>, Fates) {
    config.validate().unwrap();
    let client: Vec<Addr> = (0..fates.len() as u32).map(Addr).collect();
    let server: Vec<Addr> = (0..fates.len() as u32).map(|path| Addr(10 + path)).collect();
    let seed = Seed::default();
    let mut all = [Fate::Deliver; 4];
    all[..fates.len()].copy_from_slice(fates);
    let fates = Rc::new(Cell::new(all));
    let rule = {
        let fates = fates.clone();
        move |_: Side, packet: &Packet| fates.get()[packet.dst.0 as usize % 10]
    };
    let active = Association::client(
        config.clone(),
        (&client, 1000),
        (&server, 2000),
        seed.generator("client"),
    );
    let passive =
        Association::server(config, (&server, 2000), (&client, 1000), seed.generator("server"));
    let mut pair = Pair::new(active, passive, LATENCY, rule);
    pair.client.connect(Time::ZERO);
    pair.drive(at_ms(1000));
    (pair, fates)
}

/// The paths of the client's packets with data from a date on, one number each.
fn ways<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Association, F>, from_ms: u64) -> Vec<u32> {
    pair.log
        .iter()
        .filter(|l| l.sent >= at_ms(from_ms) && l.from == Side::Client)
        .filter(|l| l.packet.payload_len() > 0)
        .map(|l| l.packet.dst.0 % 10)
        .collect()
}

/// §8.2: of several alternates ONE takes the new data, also while its window is full and another
/// has room.
#[test]
fn new_data_of_a_failed_primary_takes_one_alternate() {
    for name in ["all-same", "best-path"] {
        let config = Config {
            destination: Destination::from_name(name).unwrap(),
            path_max_retrans: 0,
            ..Config::rfc9260()
        };
        let (mut pair, fates) = several(config, &[Fate::Deliver; 3]);
        fates.set([Fate::Drop, Fate::Deliver, Fate::Deliver, Fate::Deliver]);
        pair.client.write(400 * 1452);
        pair.drive(at_ms(30_000));
        assert_eq!(pair.client.observe().bytes_acked, 400 * 1452, "{name}");
        let ways = ways(&pair, 2100);
        assert!(ways.iter().all(|way| *way == ways[0]), "{name}: {ways:?}");
    }
}

/// RFC 7829 §3 rule 5: where no path is active, the potentially failed one with the fewest errors
/// carries data, and what is sent again is data: it does not stay on an inactive path.
#[test]
fn retransmissions_leave_an_inactive_path_for_a_potentially_failed_one() {
    for name in ["all-same", "all-alternate", "fr-same-rto-alt", "rtx-ssthresh", "best-path"] {
        let config = Config {
            destination: Destination::from_name(name).unwrap(),
            potentially_failed: Some(0),
            path_max_retrans: 2,
            association_max_retrans: 30,
            ..plain(Config::rfc9260())
        };
        let (mut pair, _) = several(config, &[Fate::Deliver; 3]);
        pair.client.paths[0].state = PathState::Inactive;
        pair.client.paths[1].state = PathState::PotentiallyFailed;
        pair.client.paths[1].errors = 2;
        pair.client.paths[2].state = PathState::PotentiallyFailed;
        pair.client.paths[2].errors = 1;
        assert_eq!(pair.client.paths.data_path(), 2);
        for last in 0..3 {
            let path = pair.client.paths.destination_of(last, Reason::Timeout, &pair.client.config);
            assert_eq!(path, 2, "{name}, last sent to {last}");
        }
    }
}

/// §8.1: unanswered heartbeats on paths that carry no data are failures of those paths alone.
#[test]
fn dead_alternates_do_not_end_the_association() {
    let config = Config {
        heartbeat_interval: Some(Span::from_secs(1)),
        association_max_retrans: 3,
        path_max_retrans: 1,
        confirm_paths: false,
        trust_given: true,
        ..Config::rfc9260()
    };
    let dead = Fate::Drop;
    let (mut pair, fates) = several(config, &[Fate::Deliver, dead, dead, dead]);
    pair.drive(at_ms(60_000));
    let states: Vec<_> = pair.client.observe_paths().map(|path| path.state).collect();
    let (active, inactive) = (PathState::Active, PathState::Inactive);
    assert_eq!(states, [active, inactive, inactive, inactive]);
    assert_eq!(pair.client.paths.errors, 0);
    pair.client.write(1452);
    pair.drive(at_ms(61_000));
    assert_eq!(pair.client.observe().bytes_acked, 1452);
    // All die: the heartbeats of the path that data would take end it (§8.1).
    fates.set([dead; 4]);
    pair.drive(at_ms(200_000));
    assert_eq!(pair.client.state(), State::Closed);
}

/// The failover rules of three alternates, of which the first is far, the second loses heartbeats,
/// and the third is as the primary was; and that the choice is kept (§8.2).
#[test]
fn new_data_takes_the_alternate_that_the_rule_chooses() {
    for (rule, expected) in [
        (Failover::Destination, 1),
        (Failover::Next, 1),
        (Failover::LowestRtt, 3),
        (Failover::LeastLoss, 3),
        (Failover::HighestRate, 3),
    ] {
        let config = Config {
            failover: rule,
            probing: Probing::On(Probe { interval: Span::from_millis(500), burst: 4 }),
            path_max_retrans: 0,
            ..Config::rfc9260()
        };
        let far = Fate::Delay(Span::from_millis(300));
        let (mut pair, fates) =
            several(config, &[Fate::Deliver, far, Fate::Deliver, Fate::Deliver]);
        // Heartbeats leave while data is outstanding. Two of three answers of path 2 come, in turn.
        let mut turn = 0;
        for ms in (1000..9000).step_by(40) {
            turn += 1;
            let second =
                if turn % 3 == 0 { Fate::Drop } else { Fate::Delay(Span::from_millis(20)) };
            fates.set([Fate::Deliver, far, second, Fate::Deliver]);
            pair.client.write(1452);
            pair.drive(at_ms(ms));
        }
        fates.set([Fate::Drop, far, Fate::Delay(Span::from_millis(20)), Fate::Deliver]);
        pair.client.write(100 * 1452);
        pair.drive(at_ms(11_000));
        let paths: Vec<_> = pair.client.observe_paths().map(|path| path.state).collect();
        assert_eq!(paths[0], PathState::Inactive, "{rule:?}");
        assert_eq!(pair.client.paths.data_path(), expected, "{rule:?}: {paths:?}");
        pair.client.write(20 * 1452);
        pair.drive(at_ms(30_000));
        assert_eq!(pair.client.paths.data_path(), expected, "{rule:?}");
    }
}

/// A path that was chosen for want of anything better known, and takes a packet each 60 ms, is left
/// by the rule that looks at rates, and not taken again when its queue has drained.
#[test]
fn highest_rate_moves_on_from_a_slow_alternate() {
    let config = Config {
        failover: Failover::HighestRate,
        path_max_retrans: 0,
        receive_buffer: 65_536,
        ..Config::rfc9260()
    };
    let seed = Seed::default();
    let (c, s) = ([Addr(0), Addr(1), Addr(2)], [Addr(10), Addr(11), Addr(12)]);
    let client = Association::client(config.clone(), (&c, 1), (&s, 2), seed.generator("client"));
    let server = Association::server(config, (&s, 2), (&c, 1), seed.generator("server"));
    let clock = Rc::new(Cell::new(0));
    let now = clock.clone();
    let mut free = 0;
    let mut pair =
        Pair::new(client, server, LATENCY, move |_: Side, packet: &Packet| match packet.dst.0 {
            10 if now.get() >= 1000 => Fate::Drop,
            11 if packet.payload_len() > 0 => {
                free = now.get().max(free) + 60;
                Fate::Delay(Span::from_millis(free - now.get()))
            }
            _ => Fate::Deliver,
        });
    pair.client.connect(Time::ZERO);
    let mut chosen = Vec::new();
    for ms in (0..30_000).step_by(5) {
        clock.set(ms);
        if ms == 1000 {
            pair.client.write(4000 * 1452);
        }
        pair.drive(at_ms(ms));
        chosen.push(pair.client.paths.data_path());
    }
    chosen.dedup();
    assert_eq!(chosen, [0, 1, 2], "the first in order, as both looked alike");
    let known = pair.client.paths[1].known.capacity().unwrap();
    assert!((known / (1468.0 / 0.06) - 1.0).abs() < 0.2, "{known} octets a second");
    let srtt = pair.client.paths[1].rtt.srtt().unwrap();
    assert!(srtt < Span::from_millis(150), "heartbeats find it as near as ever: {srtt:?}");
}

/// Heartbeats of alternates while data is outstanding: none beside HB.interval's, one a second,
/// four twice a second.
#[test]
fn probing_is_active_or_passive_as_asked() {
    let half = Probe { interval: Span::from_millis(500), burst: 4 };
    for (probing, least, most) in [
        (Probing::AsPolicy, 0, 0),
        (Probing::Off, 0, 0),
        (Probing::On(Probe::default()), 6, 14),
        (Probing::On(half), 48, 112),
    ] {
        let config = Config { probing, ..Config::rfc9260() };
        let (mut pair, fates) = several(config, &[Fate::Deliver; 2]);
        let before = pair.client.paths[1].heartbeats;
        let data = |pair: &mut Pair<Association, _>, from: u64| {
            for ms in (from..from + 10_000).step_by(50) {
                pair.client.write(1452);
                pair.drive(at_ms(ms));
            }
        };
        data(&mut pair, 1000);
        let count = pair.client.paths[1].heartbeats - before;
        assert!((least..=most).contains(&count), "{probing:?}: {count} heartbeats");
        if most == 0 {
            continue;
        }
        // It dies: losses, and errors.
        let loss = pair.client.paths[1].known.loss();
        assert!(loss < 0.02, "{probing:?}: {loss}");
        fates.set([Fate::Deliver, Fate::Drop, Fate::Deliver, Fate::Deliver]);
        data(&mut pair, 11_000);
        let path = &pair.client.paths[1];
        assert!(path.errors > 0 && path.known.loss() > loss, "{probing:?}: {path:?}");
    }
}

/// Of heartbeats that leave together each that is not answered is a loss, and only all of them
/// are an error of the path (§8.3).
#[test]
fn an_answer_to_one_of_several_heartbeats_shows_that_the_path_works() {
    let probe = Probe { interval: Span::from_secs(1), burst: 4 };
    let config = Config { probing: Probing::On(probe), ..Config::rfc9260() };
    let seed = Seed::default();
    let (c, s) = ((&CLIENT[..], 1000), (&SERVER[..], 2000));
    let client = Association::client(config.clone(), c, s, seed.generator("client"));
    let server = Association::server(config, s, c, seed.generator("server"));
    // From 1 s on, three of four answers over the second path are lost.
    let (mut beats, mut lost) = (0, 0);
    let mut pair = Pair::new(client, server, LATENCY, |_, packet: &Packet| {
        let answer = matches!(sctp(packet).chunks.first(), Some(Chunk::HeartbeatAck(_)));
        beats += (answer && packet.dst == CLIENT[1]) as u32;
        // The first one confirms the address.
        let drop = answer && packet.dst == CLIENT[1] && beats > 1 && beats % 4 != 1;
        lost += drop as u32;
        if drop { Fate::Drop } else { Fate::Deliver }
    });
    pair.client.connect(Time::ZERO);
    for ms in (200..40_000).step_by(50) {
        pair.client.write(1452);
        pair.drive(at_ms(ms));
        assert_eq!(pair.client.paths[1].errors, 0, "{ms} ms");
    }
    let path = &pair.client.paths[1];
    assert_eq!((path.state, path.rtt.rto()), (PathState::Active, Span::from_secs(1)));
    assert!(path.heartbeats > 60, "{}", path.heartbeats);
    // Three quarters, as far as the prior of fifty allows.
    let n = path.heartbeats as f64;
    let expected = (0.5 + 0.75 * n) / (50.0 + n);
    assert!((path.known.loss() - expected).abs() < 0.05, "{}, {expected}", path.known.loss());
}

/// With the user's own policy, what it says of new data counts.
#[test]
fn the_users_own_policy_chooses_the_alternate() {
    #[derive(Debug)]
    struct Last;
    impl Policy for Last {
        fn choose(&mut self, _: Reason, last: usize, _: &[Candidate]) -> usize {
            last
        }
        fn failover(&mut self, primary: usize, paths: &[Candidate]) -> Option<usize> {
            assert_eq!(primary, 0);
            (0..paths.len()).rfind(|path| paths[*path].active)
        }
    }
    let make: Arc<crate::policy::MakePolicy> = Arc::new(|_: &_| Box::new(Last));
    let own = anabranch_custom::Custom::made_by("own:Last", make);
    let config = Config {
        destination: Destination::Custom(Box::new(own)),
        path_max_retrans: 0,
        ..Config::rfc9260()
    };
    let (mut pair, fates) = several(config, &[Fate::Deliver; 4]);
    fates.set([Fate::Drop, Fate::Deliver, Fate::Deliver, Fate::Deliver]);
    pair.client.write(1452);
    pair.drive(at_ms(3000));
    assert_eq!(pair.client.paths.data_path(), 3);
}
