//! Worlds of Multipath TCP.

use super::{Grid, Traffic, Tuning, generator, setting};
use crate::choice::Fault;
use crate::run::Case;
use crate::world::Setting;
use anabranch_mptcp::{Config, Connection, PathManager, SchedulerKind};
use anabranch_tcp::{EcnMode, InitialWindow, Profile};
use anabranch_units::Span;
use anabranch_wire::Addr;
use std::sync::Arc;

/// The settings of a connection, and its network.
struct World {
    config: Config,
    paths: usize,
    /// The server has two addresses, too.
    both: bool,
    strips: bool,
    /// Middleboxes may begin to take options away.
    meddles: bool,
}

fn scheduler(name: &str) -> SchedulerKind {
    SchedulerKind::from_name(name).expect("a registered scheduler")
}

const OPTIONS: &[Tuning<World>] = &[
    ("plain", |_| {}),
    ("one-subflow", |w| w.paths = 1),
    ("fallback", |w| (w.paths, w.strips) = (1, true)),
    ("meddled", |w| (w.paths, w.meddles) = (1, true)),
    ("meddled-two", |w| w.meddles = true),
    ("disabled", |w| (w.paths, w.config.enabled) = (1, false)),
    ("checksum", |w| w.config.checksum = true),
    ("long", |w| w.config.long_numbers = true),
    ("round-robin", |w| w.config.scheduler = scheduler("round-robin")),
    ("redundant", |w| w.config.scheduler = scheduler("redundant")),
    ("blest", |w| w.config.scheduler = scheduler("blest")),
    ("ecf", |w| w.config.scheduler = scheduler("ecf")),
    ("otias", |w| w.config.scheduler = scheduler("otias")),
    ("sttf", |w| w.config.scheduler = scheduler("sttf")),
    ("backup", |w| w.config.path_manager = PathManager::Backup),
    ("ports", |w| (w.config.path_manager, w.paths) = (PathManager::NDiffports(2), 1)),
    ("signal", |w| {
        (w.config.path_manager, w.paths, w.both) = (PathManager::Signal, 1, true);
    }),
    ("mesh", |w| w.both = true),
    ("pairs", |w| (w.config.path_manager, w.both) = (PathManager::Pairs, true)),
    ("passive", |w| w.config.passive_path_manager = PathManager::FullMesh),
    ("polite", |w| {
        (w.config.opportunistic_retransmission, w.config.penalisation) = (false, false);
    }),
    ("lone-addresses", |w| (w.config.lone_addresses, w.both) = (true, true)),
    ("no-reopening", |w| w.config.reopen = None),
    ("few-retries", |w| {
        (w.config.subflow.max_retries, w.config.linger) = (2, Span::from_secs(300));
    }),
    ("one-syn", |w| w.config.capable_syns = 1),
    ("linux", |w| {
        w.config.subflow = small(Profile::Linux.config());
    }),
    ("no-timestamps", |w| w.config.subflow.timestamps = false),
    ("ecn", |w| w.config.subflow.ecn = EcnMode::On),
    ("one-segment", |w| w.config.subflow.initial_window = InitialWindow::Segments(1)),
];

fn small(config: anabranch_tcp::Config) -> anabranch_tcp::Config {
    anabranch_tcp::Config { mss: 256, initial_window: InitialWindow::Segments(2), ..config }
}

/// Buffers for sending and receiving, in tenths of segments.
const BUFFERS: [(&str, u64, u64); 4] =
    [("large", 200, 200), ("small", 20, 25), ("one", 10, 10), ("uneven", 13, 30)];

fn case(options: &[&Tuning<World>], traffic: usize, buffers: usize) -> Option<Case<Connection>> {
    let config = Config { subflow: small(anabranch_tcp::Config::default()), ..Config::default() };
    let mut world = World { config, paths: 2, both: false, strips: false, meddles: false };
    for (_, tune) in options {
        tune(&mut world);
    }
    let World { mut config, paths, both, strips, meddles } = world;
    let (size, sending, receiving) = BUFFERS[buffers];
    let mss = u64::from(config.subflow.mss);
    config.subflow.send_buffer = mss * sending / 10;
    config.subflow.receive_buffer = mss * receiving / 10;
    config.validate().ok()?;
    let (kind, traffic) = Traffic::ALL[traffic];
    let mut setting = Setting { paths, strips, ..setting(traffic.plans(mss)) };
    if config.subflow.ecn != EcnMode::Off {
        setting.faults.push(Fault::Mark);
    }
    // A dead path is given up after a quarter of an hour.
    setting.faults.push(Fault::Cut);
    setting.patience = Span::from_secs(4000);
    if config.subflow.max_retries < 5 {
        setting.may_report = true; // an outage lasts longer
    }
    if meddles {
        setting.faults.push(Fault::Strip);
    }
    let names: Vec<&str> = options.iter().map(|option| option.0).collect();
    let config = Arc::new(config);
    let make = Box::new(move || {
        let (own, peer) = ([Addr(0), Addr(1)], [Addr(10), Addr(11)]);
        let (own, peer) = (&own[..paths], &peer[..1 + usize::from(both)]);
        let (a, b) = ((own, 1000), (peer, 80));
        let client = Connection::client(config.clone(), a, (peer[0], 80), generator("client"));
        let server = Connection::server(config.clone(), b, (own[0], 1000), generator("server"));
        [client, server]
    });
    Some(Case { name: format!("mptcp/{}/{kind}/{size}", names.join("+")), setting, make })
}

const GRID: Grid<World> =
    Grid { options: OPTIONS, traffics: Traffic::ALL.len(), buffers: BUFFERS.len() };

/// Each option with each traffic and size of buffers, then each pair of options.
pub fn cases() -> Vec<Case<Connection>> {
    GRID.all(case)
}

/// Each option once, with one traffic and one size of buffers.
pub fn few() -> Vec<Case<Connection>> {
    GRID.few(case)
}
