//! No octet is lost, duplicated or altered under any mix of loss, duplication,
//! reordering and delay: for every recovery scheme and window algorithm, with
//! real octets in both directions.

use anabranch_congestion::{ALGORITHMS, Algorithm};
use anabranch_endpoint::Seed;
use anabranch_tcp::recovery::{DecoupledRackOptions, Pipe, RackOptions, Recovery};
use anabranch_tcp::{Config, Connection, Counting, DelayedAck, EcnMode, UndoOptions};
use anabranch_testkit::{Fate, Pair, exchange};
use anabranch_units::Span;
use anabranch_wire::Addr;
use proptest::prelude::*;

fn schemes() -> Vec<Recovery> {
    vec![
        Recovery::Tahoe,
        Recovery::Reno { exit_growth: false },
        Recovery::NewReno { impatient: false, exit_growth: false },
        Recovery::NewReno { impatient: true, exit_growth: true },
        Recovery::Sack { pipe: Pipe::Rfc6675, prr: false },
        Recovery::Sack { pipe: Pipe::Ns2, prr: false },
        Recovery::Sack { pipe: Pipe::Ns2Old, prr: false },
        Recovery::Sack { pipe: Pipe::Rfc6675, prr: true },
        Recovery::Fack { prr: false },
        Recovery::Fack { prr: true },
        Recovery::Rack(RackOptions::default()),
        Recovery::Rack(RackOptions { prr: false, tlp: false, ..RackOptions::default() }),
        Recovery::Decoupled { opens_late: false },
        Recovery::DecoupledRack(DecoupledRackOptions::default()),
    ]
}

/// How unkind the path is; probabilities per packet.
#[derive(Clone, Copy, Debug)]
struct Path {
    loss: f64,
    duplication: f64,
    delay: f64,
    longest_delay: Span,
    marks: f64,
}

fn transfer(config: Config, path: Path, sizes: (usize, usize), seed: u64) {
    let seed = Seed { seed, replication: 0 };
    let (a, b) = ((Addr(0), 1), (Addr(1), 2));
    let client = Connection::client(config.clone(), a, b, seed.generator("client"));
    let server = Connection::server(config, b, a, seed.generator("server"));
    let mut dice = seed.generator("path");
    let mut pair = Pair::new(client, server, Span::from_millis(10), |_, _| {
        if dice.chance(path.loss) {
            return Fate::Drop;
        }
        let later = Span::from_picos(dice.below(path.longest_delay.as_picos() + 1));
        if dice.chance(path.duplication) {
            Fate::Duplicate(later)
        } else if dice.chance(path.delay) {
            Fate::Delay(later)
        } else if dice.chance(path.marks) {
            Fate::Mark
        } else {
            Fate::Deliver
        }
    });
    exchange(&mut pair, sizes.into(), seed.generator("texts"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn both_streams_arrive_whole(
        scheme in prop::sample::select(schemes()),
        algorithm in 0..ALGORITHMS.len(),
        loss in 0.0..0.25_f64,
        duplication in 0.0..0.2_f64,
        delay in 0.0..0.3_f64,
        longest_delay_ms in 0..100_u64,
        sizes in (0..60_000_usize, 0..60_000_usize),
        receive_buffer in prop::sample::select(vec![2_000_u64, 20_000, 1 << 20]),
        counting in prop::sample::select(vec![Counting::Bytes, Counting::Acks]),
        switches in any::<[bool; 4]>(),
        dsack in any::<bool>(),
        witnesses in any::<[bool; 3]>(),
        max_dupack_threshold in prop::option::of(3..300_u32),
        ecn in prop::sample::select(vec![EcnMode::Off, EcnMode::On, EcnMode::Accurate]),
        ecn_control in any::<bool>(),
        marks in 0.0..0.5_f64,
        seed in any::<u64>(),
    ) {
        let config = Config {
            mss: 1000,
            recovery: scheme,
            window: Algorithm::from_name(ALGORITHMS[algorithm].name).unwrap(),
            receive_buffer,
            send_buffer: 10_000,
            counting,
            window_scale: switches[0],
            timestamps: switches[1],
            limited_transmit: switches[2],
            dsack,
            undo: UndoOptions { frto: witnesses[0], eifel: witnesses[1], dsack: witnesses[2] },
            max_dupack_threshold,
            ecn,
            ecn_control,
            delayed_ack: DelayedAck { count: 1 + switches[3] as u32, ..Config::default().delayed_ack },
            syn_retries: 100,
            max_retries: 100,
            ..Config::default()
        };
        let longest_delay = Span::from_millis(longest_delay_ms);
        transfer(config, Path { loss, duplication, delay, longest_delay, marks }, sizes, seed);
    }
}

/// Each scheme with each window algorithm once, whatever the property draws.
#[test]
fn every_pair_of_scheme_and_window_is_sound() {
    for (i, recovery) in schemes().into_iter().enumerate() {
        for (j, info) in ALGORITHMS.iter().enumerate() {
            let window = Algorithm::from_name(info.name).unwrap();
            let undo = UndoOptions { frto: true, eifel: true, dsack: true };
            let (dsack, most) = (true, Some(300));
            let ecn = EcnMode::Accurate;
            let default = Config::default();
            let config = Config {
                recovery: recovery.clone(),
                window,
                undo,
                dsack,
                max_dupack_threshold: most,
                ecn,
                ..default
            };
            let path = Path {
                loss: 0.05,
                duplication: 0.02,
                delay: 0.1,
                longest_delay: Span::from_millis(30),
                marks: 0.05,
            };
            transfer(config, path, (300_000, 100_000), (i * 10 + j) as u64);
        }
    }
}
