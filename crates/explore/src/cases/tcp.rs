//! Worlds of TCP.

use super::{Grid, Traffic, Tuning, generator, setting};
use crate::choice::Fault;
use crate::run::Case;
use anabranch_congestion::Algorithm;
use anabranch_tcp::recovery::{DecoupledRackOptions, Pipe, RackOptions, Recovery};
use anabranch_tcp::{
    Config, Connection, Counting, DelayedAck, EcnMode, FastOpenOptions, InitialReceiveWindow,
    InitialWindow, KeepAlive, MtuProbing, Nagle, RtoRestart, RttSamples, UndoOptions, WindowProbe,
    WindowUse,
};
use anabranch_units::Span;
use anabranch_wire::Addr;
use std::sync::Arc;

/// Segments of so many octets: few enough to be made and checked in no time.
const MSS: u32 = 256;

/// Small windows, the rest as [`Config::default`].
fn base() -> Config {
    Config { mss: MSS, initial_window: InitialWindow::Segments(2), ..Config::default() }
}

/// A profile with the segments of [`base`].
fn profile(config: Config) -> Config {
    Config { mss: MSS, initial_window: InitialWindow::Segments(2), ..config }
}

const OPTIONS: &[Tuning<Config>] = &[
    ("plain", |_| {}),
    ("linux", |c| *c = profile(Config::linux())),
    ("freebsd", |c| *c = profile(Config::freebsd())),
    ("no-sack", |c| {
        c.sack = false;
        c.recovery = Recovery::NewReno { impatient: false, exit_growth: false };
    }),
    ("no-timestamps", |c| c.timestamps = false),
    ("no-window-scale", |c| c.window_scale = false),
    ("ack-each", |c| c.delayed_ack = DelayedAck { count: 1, ..c.delayed_ack }),
    ("dsack", |c| c.dsack = true),
    ("tahoe", |c| c.recovery = Recovery::Tahoe),
    ("go-back-n", |c| c.go_back_n = true),
    ("reno", |c| c.recovery = Recovery::Reno { exit_growth: false }),
    ("newreno", |c| c.recovery = Recovery::NewReno { impatient: true, exit_growth: true }),
    ("prr", |c| c.recovery = Recovery::Sack { pipe: Pipe::Rfc6675, prr: true }),
    ("ns2", |c| c.recovery = Recovery::Sack { pipe: Pipe::Ns2, prr: false }),
    ("fack", |c| c.recovery = Recovery::Fack { prr: false }),
    ("decoupled", |c| c.recovery = Recovery::Decoupled { opens_late: false }),
    ("decoupled-rack", |c| {
        c.recovery = Recovery::DecoupledRack(DecoupledRackOptions::default());
    }),
    ("rack", |c| c.recovery = Recovery::Rack(RackOptions::default())),
    ("rack-no-tlp", |c| {
        c.recovery = Recovery::Rack(RackOptions { tlp: false, ..RackOptions::default() });
    }),
    ("frto", |c| c.undo = UndoOptions { frto: true, ..c.undo }),
    ("eifel", |c| c.undo = UndoOptions { eifel: true, ..c.undo }),
    ("dsack-undo", |c| {
        c.dsack = true;
        c.undo = UndoOptions { dsack: true, ..c.undo };
    }),
    ("ecn", |c| (c.ecn, c.ecn_control) = (EcnMode::On, true)),
    ("dctcp", |c| {
        c.ecn = EcnMode::Dctcp;
        c.window = Algorithm::from_name("dctcp").expect("dctcp is registered");
    }),
    ("accurate-ecn", |c| c.ecn = EcnMode::Accurate),
    ("nagle", |c| c.nagle = Nagle::Rfc),
    ("minshall", |c| c.nagle = Nagle::Minshall),
    ("adaptive-acks", |c| (c.adaptive_acks, c.quick_acks) = (true, 2)),
    ("mtu-probing", |c| {
        // A probe needs a window of more than ten segments.
        (c.mtu_probing, c.mss) = (MtuProbing::Always, 1460);
        c.initial_window = InitialWindow::Segments(12);
    }),
    ("black-hole", |c| {
        (c.mtu_probing, c.black_hole_detection, c.mss) = (MtuProbing::BlackHole, true, 1460);
    }),
    ("fast-open", |c| {
        c.fast_open = Some(FastOpenOptions { cookieless: true, ..FastOpenOptions::default() });
    }),
    ("keep-alive", |c| {
        let (idle, interval) = (Span::from_secs(5), Span::from_secs(1));
        c.keep_alive = Some(KeepAlive { idle, interval, probes: 20 });
    }),
    ("user-timeout", |c| c.user_timeout = Some(Span::from_secs(100))),
    ("empty-probe", |c| c.window_probe = WindowProbe::Empty),
    ("small-start", |c| {
        c.initial_receive_window = InitialReceiveWindow::Octets(u64::from(c.mss));
    }),
    ("linux-small-start", |c| {
        *c = profile(Config::linux());
        c.initial_receive_window = InitialReceiveWindow::Octets(u64::from(c.mss));
    }),
    ("right-sizing", |c| c.receive_buffer_max = Some(64 * u64::from(c.mss))),
    ("every-ack", |c| {
        (c.rtt_samples, c.rto_restart) = (RttSamples::EveryAck, RtoRestart::FirstResent);
    }),
    ("counting", |c| {
        (c.counting, c.window_use) = (Counting::Delivered, WindowUse::Outstanding);
    }),
    ("bbr", |c| c.window = Algorithm::from_name("bbr").expect("bbr is registered")),
    ("one-segment", |c| c.initial_window = InitialWindow::Segments(1)),
    ("lax", |c| {
        (c.limited_transmit, c.idle_restart, c.paws) = (false, false, false);
        (c.require_timestamps, c.protect_time_wait) = (false, true);
    }),
];

/// Buffers for sending and receiving, in tenths of segments.
const BUFFERS: [(&str, u64, u64); 4] =
    [("large", 200, 200), ("small", 20, 25), ("one", 10, 10), ("uneven", 13, 30)];

fn case(options: &[&Tuning<Config>], traffic: usize, buffers: usize) -> Option<Case<Connection>> {
    let mut config = base();
    let (size, sending, receiving) = BUFFERS[buffers];
    let fit = |config: &mut Config| {
        config.send_buffer = u64::from(config.mss) * sending / 10;
        config.receive_buffer = u64::from(config.mss) * receiving / 10;
    };
    for (_, tune) in options {
        tune(&mut config);
    }
    fit(&mut config);
    config.validate().ok()?;
    let (kind, traffic) = Traffic::ALL[traffic];
    let mut setting = setting(traffic.plans(u64::from(config.mss)));
    if config.ecn != EcnMode::Off {
        setting.faults.push(Fault::Mark);
    }
    // Nobody delivers over a dead path; both sides say so, after a quarter of an hour at most.
    setting.faults.push(Fault::Cut);
    setting.patience = Span::from_secs(4000);
    let names: Vec<&str> = options.iter().map(|option| option.0).collect();
    let config = Arc::new(config);
    let make = Box::new(move || {
        let (a, b) = ((Addr(0), 1000), (Addr(10), 80));
        let client = Connection::client(config.clone(), a, b, generator("client"));
        [client, Connection::server(config.clone(), b, a, generator("server"))]
    });
    Some(Case { name: format!("tcp/{}/{kind}/{size}", names.join("+")), setting, make })
}

const GRID: Grid<Config> =
    Grid { options: OPTIONS, traffics: Traffic::ALL.len(), buffers: BUFFERS.len() };

/// Each option with each traffic and size of buffers, then each pair of options.
pub fn cases() -> Vec<Case<Connection>> {
    GRID.all(case)
}

/// Each option once, with one traffic and one size of buffers.
pub fn few() -> Vec<Case<Connection>> {
    GRID.few(case)
}
