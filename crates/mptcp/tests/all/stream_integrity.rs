//! No octet is lost, duplicated or altered, whatever the paths do: loss,
//! duplication, reordering, paths that fail and come back, and something between
//! the hosts that takes options away. Real octets in both directions, for every
//! scheduler, path manager and window algorithm.

use anabranch_congestion::{ALGORITHMS, Algorithm};
use anabranch_endpoint::{Generator, Seed};
use anabranch_mptcp::path_manager::PATH_MANAGERS;
use anabranch_mptcp::scheduler::SCHEDULERS;
use anabranch_mptcp::{Config, Connection, PathManager, SchedulerKind};
use anabranch_tcp::DelayedAck;
use anabranch_testkit::{Fate, Pair, Side, exchange};
use anabranch_units::Span;
use anabranch_wire::{Addr, Packet};
use proptest::prelude::*;

/// How unkind a path is; probabilities per packet.
#[derive(Clone, Copy, Debug)]
struct Path {
    loss: f64,
    duplication: f64,
    delay: f64,
    longest_delay: Span,
    /// Packets until a failure, on average, which lasts for twenty; 0: none.
    outage: u64,
}

/// The fate of packets on paths that are told apart by the client's address.
fn rule(paths: [Path; 2], mut dice: Generator) -> impl FnMut(Side, &Packet) -> Fate {
    let mut down = [false; 2];
    let mut packets = 0;
    move |side, packet| {
        let client = if side == Side::Client { packet.src } else { packet.dst };
        let n = (client == Addr(2)) as usize;
        let path = paths[n];
        // A connection that dies before both sides know the keys is dead.
        packets += 1;
        let mean = if down[n] { 20 } else { path.outage };
        if packets > 60 && path.outage > 0 && dice.chance(1.0 / mean as f64) {
            down[n] = !down[n];
        }
        if down[n] || dice.chance(path.loss) {
            return Fate::Drop;
        }
        let later = Span::from_picos(dice.below(path.longest_delay.as_picos() + 1));
        if dice.chance(path.duplication) {
            Fate::Duplicate(later)
        } else if dice.chance(path.delay) {
            Fate::Delay(later)
        } else {
            Fate::Deliver
        }
    }
}

fn transfer(config: Config, paths: [Path; 2], sizes: (usize, usize), seed: u64) {
    config.validate().expect("settings that can be");
    let seed = Seed { seed, replication: 0 };
    let (own, peer) = ([Addr(0), Addr(2)], [Addr(1), Addr(3)]);
    let client =
        Connection::client(config.clone(), (&own, 1), (peer[0], 2), seed.generator("client"));
    let server = Connection::server(config, (&peer, 2), (own[0], 1), seed.generator("server"));
    let rule = rule(paths, seed.generator("path"));
    let mut pair = Pair::new(client, server, Span::from_millis(10), rule);
    exchange(&mut pair, sizes.into(), seed.generator("texts"));
}

fn path() -> impl Strategy<Value = Path> {
    let outage = prop_oneof![Just(0), 20..400_u64];
    (0.0..0.2_f64, 0.0..0.2_f64, 0.0..0.3_f64, 0..100_u64, outage).prop_map(
        |(loss, duplication, delay, ms, outage)| {
            let longest_delay = Span::from_millis(ms);
            Path { loss, duplication, delay, longest_delay, outage }
        },
    )
}

/// A path that has failed loses packets until its dice say otherwise, the only subflow's
/// retransmissions alone included: a hundred in a row are not rare enough.
const MOST_RETRIES: u32 = 500;

/// A transfer, by indices into the catalogues and what is switched on.
#[derive(Debug)]
struct Case {
    scheduler: usize,
    manager: usize,
    algorithm: usize,
    paths: [Path; 2],
    sizes: (usize, usize),
    receive_buffer: u64,
    switches: [bool; 7],
    seed: u64,
}

impl Case {
    fn run(self) {
        let switches = self.switches;
        let mut config = Config {
            scheduler: SchedulerKind::from_name(SCHEDULERS[self.scheduler].name).unwrap(),
            path_manager: PathManager::from_name(PATH_MANAGERS[self.manager].name).unwrap(),
            checksum: switches[0],
            long_numbers: switches[1],
            opportunistic_retransmission: switches[2],
            penalisation: switches[3],
            linger: Span::from_secs(50_000),
            ..Config::default()
        };
        config.subflow = anabranch_tcp::Config {
            mss: 1000,
            window: Algorithm::from_name(ALGORITHMS[self.algorithm].name).unwrap(),
            receive_buffer: self.receive_buffer,
            send_buffer: 10_000,
            timestamps: switches[4],
            dsack: switches[5],
            delayed_ack: DelayedAck {
                count: 1 + switches[6] as u32,
                ..anabranch_tcp::Config::default().delayed_ack
            },
            syn_retries: MOST_RETRIES,
            syn_ack_retries: MOST_RETRIES,
            max_retries: MOST_RETRIES,
            ..anabranch_tcp::Config::default()
        };
        transfer(config, self.paths, self.sizes, self.seed);
    }
}

prop_compose! {
    fn case()(
        scheduler in 0..SCHEDULERS.len(),
        manager in 0..PATH_MANAGERS.len(),
        algorithm in 0..ALGORITHMS.len(),
        paths in [path(), path()],
        sizes in (0..40_000_usize, 0..40_000_usize),
        receive_buffer in prop::sample::select(vec![3_000_u64, 20_000, 1 << 20]),
        switches in any::<[bool; 7]>(),
        seed in any::<u64>(),
    ) -> Case {
        Case { scheduler, manager, algorithm, paths, sizes, receive_buffer, switches, seed }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_streams_arrive_whole(case in case()) {
        case.run();
    }
}

/// Subflows that give up after few retransmissions, and are opened again.
#[test]
fn subflows_die_and_are_opened_again() {
    for seed in 0..40 {
        let mut config = Config {
            path_manager: PathManager::FullMesh,
            linger: Span::from_secs(50_000),
            ..Config::default()
        };
        config.subflow.mss = 1000;
        config.subflow.max_retries = 2 + (seed % 3) as u32;
        config.subflow.syn_retries = 4;
        let path = |loss, outage| Path {
            loss,
            duplication: 0.01,
            delay: 0.1,
            longest_delay: Span::from_millis(30),
            outage,
        };
        transfer(config, [path(0.05, 150), path(0.1, 80)], (200_000, 50_000), seed);
    }
}

fn unkind(loss: f64, duplication: f64, delay: f64, longest_ms: u64) -> Path {
    Path { loss, duplication, delay, longest_delay: Span::from_millis(longest_ms), outage: 0 }
}

/// Each DATA_FIN above a gap was answered by one, and copies made two of each.
#[test]
fn data_fins_above_gaps_are_no_storm() {
    let case = Case {
        scheduler: 3,
        manager: 5,
        algorithm: 7,
        paths: [unkind(0.193, 0.181, 0.298, 55), unkind(0.003, 0.144, 0.161, 3)],
        sizes: (6525, 3970),
        receive_buffer: 1 << 20,
        switches: [true, true, false, false, true, false, false],
        seed: 15592694829205457530,
    };
    case.run();
}

/// A client without data closed at once: what asked for a DATA_ACK took the place of its
/// third ACK, and did not count as one.
#[test]
fn an_empty_stream_is_no_obstacle() {
    let case = Case {
        scheduler: 3,
        manager: 5,
        algorithm: 12,
        paths: [unkind(0.043, 0.072, 0.071, 64), unkind(0.109, 0.011, 0.062, 23)],
        sizes: (0, 33730),
        receive_buffer: 20_000,
        switches: [false, false, false, false, true, false, true],
        seed: 17418913188847820990,
    };
    case.run();
}
