//! Rows about what applications had of a run: datagrams, calls, videos, loads of pages; and how busy
//! links were.

use crate::Scenario;
use crate::build::BuiltFlow;
use crate::result::{DatagramRow, LoadRow, VideoRow};
use crate::schema::{Direction, Workload};
use crate::transport::Transport;
use anabranch_network::TransmitterConfig;
use anabranch_sim::{FetchReport, Side, Simulation};
use anabranch_units::Time;

/// Octets that a direction delivered, over those that its rate carries up to `end`; `None` where it
/// sends at other rates than one.
pub(crate) fn utilisation(way: &Direction, octets: u64, end: Time) -> Option<f64> {
    let is_constant = way.transmitter == TransmitterConfig::default() && way.cells.is_none();
    let most = way.rate.as_bps() as f64 / 8.0 * end.as_secs_f64();
    (is_constant && way.explicit.is_none() && most > 0.0).then(|| octets as f64 / most)
}

/// The datagrams of flows over UDP, of each direction that has some.
pub(crate) fn datagrams(
    scenario: &Scenario,
    flows: &[BuiltFlow],
    simulation: &Simulation<Transport>,
) -> Vec<DatagramRow> {
    let mut rows = Vec::new();
    for flow in flows {
        let codec = match &scenario.flows[flow.entry].workload {
            Workload::Voip(call) => Some(call.codec.name),
            _ => None,
        };
        for (side, way) in [(Side::Client, ""), (Side::Server, ".reverse")] {
            let summary = simulation.datagrams(flow.id, side);
            let name = format!("{}{way}", flow.name);
            let is_ping = matches!(scenario.flows[flow.entry].workload, Workload::Ping(_));
            let is_echo = is_ping && side == Side::Server;
            let row = |summary| DatagramRow { flow: name, codec, is_echo, summary };
            rows.extend(summary.map(row));
        }
    }
    rows
}

/// Returns a row for each flow that watches a video.
pub(crate) fn videos(
    scenario: &Scenario,
    flows: &[BuiltFlow],
    simulation: &Simulation<Transport>,
) -> Vec<VideoRow> {
    let row = |flow: &BuiltFlow| {
        let Workload::Video(video) = &scenario.flows[flow.entry].workload else { return None };
        let Some(FetchReport::Video(summary)) = simulation.fetched(flow.id) else { return None };
        let selection = video.spec.selection.name();
        Some(VideoRow { flow: flow.name.clone(), selection, summary })
    };
    flows.iter().filter_map(row).collect()
}

/// Returns a row for each flow that loads pages whose objects depend on each other.
pub(crate) fn loads(flows: &[BuiltFlow], simulation: &Simulation<Transport>) -> Vec<LoadRow> {
    let row = |flow: &BuiltFlow| match simulation.fetched(flow.id) {
        Some(FetchReport::Load(summary)) => Some(LoadRow { flow: flow.name.clone(), summary }),
        _ => None,
    };
    flows.iter().filter_map(row).collect()
}
