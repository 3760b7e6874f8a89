//! Worlds of SCTP.

use super::{Grid, Traffic, Tuning, generator, setting};
use crate::app::{Plan, Reads, Sends};
use crate::choice::Fault;
use crate::run::Case;
use crate::world::Setting;
use anabranch_endpoint::message::Patience;
use anabranch_sctp::{
    Association, Authentication, Concurrent, Config, Destination, Encapsulation, ImmediateSacks,
    InitialWindow, Scheduler,
};
use anabranch_units::{Span, Time};
use anabranch_wire::Addr;
use anabranch_wire::sctp::kind;
use std::sync::Arc;

/// What goes over an association.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Load {
    /// Octets, as over a byte stream.
    Stream(Traffic),
    /// Messages of the client on three streams, some larger than a packet.
    Messages,
    /// Messages as in [`Load::Messages`], to a server that reads one at a time.
    SlowMessages,
    /// Messages of both sides, every second one unordered.
    Unordered,
    /// Messages that may be given up after a retransmission.
    Impatient,
    /// Messages that may be given up after a date.
    Dated,
}

const LOADS: [(&str, Load); 8] = [
    ("up", Load::Stream(Traffic::Up)),
    ("messages", Load::Messages),
    ("slow-messages", Load::SlowMessages),
    ("both", Load::Stream(Traffic::Both)),
    ("unordered", Load::Unordered),
    ("slow", Load::Stream(Traffic::Slow)),
    ("impatient", Load::Impatient),
    ("dated", Load::Dated),
];

impl Load {
    fn plans(self, payload: u32) -> [Plan; 2] {
        let messages = |sizes: &[u32], unordered, patience| {
            // In tenths of what fits a packet.
            let sizes = sizes.iter().map(|size| (size * payload / 10).max(1)).collect();
            Plan::sends(Sends::Messages { sizes, streams: 3, unordered, patience })
        };
        let reliable = Patience::Reliable;
        let nothing = Plan::sends(Sends::Nothing);
        match self {
            Load::Stream(traffic) => traffic.plans(u64::from(payload)),
            Load::Messages => [messages(&[9, 0, 17, 3], false, reliable), nothing],
            Load::SlowMessages => {
                let reads = Reads::Slowly { octets: 0, every: Span::from_millis(300) };
                let server = Plan { reads, ..nothing };
                [messages(&[9, 0, 17, 3, 8], false, reliable), server]
            }
            Load::Unordered => {
                [messages(&[4, 12, 3], true, reliable), messages(&[2, 11], true, reliable)]
            }
            Load::Impatient => {
                [messages(&[9, 4, 17, 3], true, Patience::Retransmissions(0)), nothing]
            }
            Load::Dated => {
                let date = Time::ZERO + Span::from_millis(70);
                [messages(&[9, 4, 17, 3, 9], false, Patience::Until(date)), nothing]
            }
        }
    }
}

/// The settings of an association, and whether there are two paths.
struct World {
    config: Config,
    paths: usize,
}

const OPTIONS: &[Tuning<World>] = &[
    ("plain", |_| {}),
    ("two-paths", |w| w.paths = 2),
    ("rfc4960", |w| w.config = small(Config::rfc4960())),
    ("rfc2960", |w| w.config = small(Config::rfc2960())),
    ("ns2", |w| w.config = small(Config::ns2())),
    ("sack-each", |w| w.config.sack_frequency = 1),
    ("sack-rarely", |w| w.config.sack_frequency = 5),
    ("interleaving", |w| w.config.interleaving = true),
    ("nagle", |w| w.config.nagle = true),
    ("immediate", |w| {
        let messages = true;
        let immediate_sacks = ImmediateSacks { messages, last: true, ..ImmediateSacks::default() };
        w.config.immediate_sacks = Some(immediate_sacks);
    }),
    ("ecn", |w| w.config.ecn = true),
    ("timestamps", |w| (w.config.timestamps, w.config.multiple_fast_retransmit) = (true, true)),
    ("concurrent", |w| {
        w.config.concurrent = Some(Concurrent { buffer_split: true, ..Concurrent::default() });
        w.paths = 2;
    }),
    ("potentially-failed", |w| {
        (w.config.potentially_failed, w.paths) = (Some(0), 2);
        w.config.heartbeat_after_rto = true;
    }),
    ("best-path", |w| (w.config.destination, w.paths) = (Destination::BestPath, 2)),
    ("all-alternate", |w| (w.config.destination, w.paths) = (Destination::AllAlternate, 2)),
    ("authentication", |w| {
        let chunks = vec![
            kind::DATA,
            kind::SACK,
            kind::I_DATA,
            kind::RE_CONFIG,
            kind::FORWARD_TSN,
            kind::I_FORWARD_TSN,
            kind::ASCONF,
            kind::ASCONF_ACK,
        ];
        let authentication = Authentication { chunks, ..Authentication::default() };
        w.config.authentication = Some(Arc::new(authentication));
        w.config.dynamic_addresses = true;
    }),
    ("udp", |w| w.config.udp = Some(Encapsulation::default())),
    ("round-robin", |w| w.config.scheduler = Scheduler::RoundRobin),
    ("fair", |w| {
        (w.config.scheduler, w.config.interleaving) = (Scheduler::FairBandwidth, true);
    }),
    ("prompt-probes", |w| w.config.prompt_probes = true),
    ("prompt-fill", |w| (w.config.prompt_fill, w.config.vary_sack_path) = (true, true)),
    ("parts", |w| w.config.partial_delivery_point = Some(500)),
    ("one-packet", |w| w.config.initial_window = InitialWindow::Mtus(1)),
    ("heartbeats", |w| {
        (w.config.heartbeat_interval, w.paths) = (Some(Span::from_millis(500)), 2);
    }),
    ("no-heartbeats", |w| w.config.heartbeat_interval = None),
    ("burst", |w| (w.config.max_burst, w.config.burst_keeps_window) = (Some(1), false)),
    ("abort", |w| w.config.abort_on_failure = true),
];

/// The smallest packets that there are.
fn small(config: Config) -> Config {
    Config {
        mtu: 512,
        outbound_streams: 3,
        initial_window: InitialWindow::Mtus(2),
        partial_reliability: true,
        ..config
    }
}

/// Buffers for sending and receiving, in octets.
const BUFFERS: [(&str, u64, u32); 3] =
    [("large", 20_000, 20_000), ("small", 1500, 1500), ("uneven", 2000, 1501)];

fn case(options: &[&Tuning<World>], load: usize, buffers: usize) -> Option<Case<Association>> {
    let mut world = World { config: small(Config::rfc9260()), paths: 1 };
    for (_, tune) in options {
        tune(&mut world);
    }
    let World { mut config, paths } = world;
    let (size, sending, receiving) = BUFFERS[buffers];
    (config.send_buffer, config.receive_buffer) = (sending, receiving);
    config.validate().ok()?;
    let (kind, load) = LOADS[load];
    let mut setting = Setting { paths, ..setting(load.plans(config.max_payload())) };
    if config.ecn {
        setting.faults.push(Fault::Mark);
    }
    // A dead path is given up after a quarter of an hour.
    setting.faults.push(Fault::Cut);
    setting.patience = Span::from_secs(4000);
    let names: Vec<&str> = options.iter().map(|option| option.0).collect();
    let config = Arc::new(config);
    let make = Box::new(move || {
        let (own, peer) = ([Addr(0), Addr(1)], [Addr(10), Addr(11)]);
        let (a, b) = ((&own[..paths], 1000), (&peer[..paths], 80));
        let client = Association::client(config.clone(), a, b, generator("client"));
        [client, Association::server(config.clone(), b, a, generator("server"))]
    });
    Some(Case { name: format!("sctp/{}/{kind}/{size}", names.join("+")), setting, make })
}

const GRID: Grid<World> = Grid { options: OPTIONS, traffics: LOADS.len(), buffers: BUFFERS.len() };

/// Each option with each traffic and size of buffers, then each pair of options.
pub fn cases() -> Vec<Case<Association>> {
    GRID.all(case)
}

/// Each option once, with one traffic and one size of buffers.
pub fn few() -> Vec<Case<Association>> {
    GRID.few(case)
}
