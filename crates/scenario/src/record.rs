//! The recorders that a scenario asks for, and their series by name.

use crate::build::BuiltFlow;
use crate::result::NamedSeries;
use crate::schema::{Scenario, What};
use anabranch_sim::observe::{Arrivals, PacketRecorder, Quantity, QueueRecorder, SeriesRecorder};
use anabranch_sim::{Handle, LinkId, Simulation};
use anabranch_tcp::Connection;
use anabranch_units::Time;
use std::collections::BTreeSet;

/// Recorders attached to a simulation.
pub(crate) struct Recorders {
    endpoints: Option<Handle<SeriesRecorder>>,
    /// One for the data of the flows' senders, one for data the other way.
    packets: [Option<Handle<PacketRecorder>>; 2],
    queues: Option<Handle<QueueRecorder>>,
    /// What is recorded: (flow index, quantity), in order.
    of_flows: BTreeSet<(usize, What)>,
    of_links: BTreeSet<usize>,
    two_way: Vec<bool>,
}

impl Recorders {
    /// Attaches what `scenario` asks for; nothing when it asks for nothing.
    pub(crate) fn attach(
        scenario: &Scenario,
        flows: &[BuiltFlow],
        links: &[(String, LinkId)],
        simulation: &mut Simulation<Connection>,
    ) -> Recorders {
        let mut of_flows = BTreeSet::new();
        let mut of_links = BTreeSet::new();
        for observe in &scenario.observe {
            if observe.what == What::Queue {
                let meant = |name: &str| observe.link.as_deref().is_none_or(|link| link == name);
                of_links.extend((0..links.len()).filter(|i| meant(&links[*i].0)));
                continue;
            }
            for (i, flow) in flows.iter().enumerate() {
                let entry = &scenario.flows[flow.entry].name;
                let meant = observe.flow.as_ref().is_none_or(|n| n == entry || *n == flow.name);
                if meant {
                    of_flows.insert((i, observe.what));
                }
            }
        }
        let both = |entry: usize| {
            let spec = &scenario.flows[entry];
            spec.reverse_size.is_some() && spec.size != Some(0)
        };
        let two_way: Vec<bool> = flows.iter().map(|flow| both(flow.entry)).collect();

        let mut endpoints = SeriesRecorder::new();
        let mut packets = [PacketRecorder::new(), PacketRecorder::new()];
        let mut queues = QueueRecorder::new();
        let (mut any_endpoint, mut any_packets) = (false, [false; 2]);
        for &(i, what) in &of_flows {
            let flow = &flows[i];
            let sides = [flow.sender, flow.sender.peer()];
            for (j, side) in sides.into_iter().enumerate().take(if two_way[i] { 2 } else { 1 }) {
                match quantity(what) {
                    Some(quantity) => {
                        endpoints.record(flow.id, side, quantity);
                        any_endpoint = true;
                    }
                    None => {
                        packets[j].record(flow.id, side);
                        any_packets[j] = true;
                    }
                }
            }
        }
        for &i in &of_links {
            queues.record(links[i].1);
        }
        let [forward, back] = packets;
        Recorders {
            endpoints: any_endpoint.then(|| simulation.attach(endpoints)),
            packets: [
                any_packets[0].then(|| simulation.attach(forward)),
                any_packets[1].then(|| simulation.attach(back)),
            ],
            queues: (!of_links.is_empty()).then(|| simulation.attach(queues)),
            of_flows,
            of_links,
            two_way,
        }
    }

    /// What was recorded, by flow, then by link.
    pub(crate) fn series(
        &self,
        flows: &[BuiltFlow],
        links: &[(String, LinkId)],
        simulation: &Simulation<Connection>,
    ) -> Vec<NamedSeries> {
        let mut out = Vec::new();
        for &(i, what) in &self.of_flows {
            let flow = &flows[i];
            let sides = [
                (flow.name.clone(), flow.sender),
                (format!("{}.reverse", flow.name), flow.sender.peer()),
            ];
            for (j, (name, side)) in
                sides.into_iter().enumerate().take(if self.two_way[i] { 2 } else { 1 })
            {
                match (quantity(what), self.endpoints, self.packets[j]) {
                    (Some(quantity), Some(handle), _) => {
                        let recorder = simulation.observer(handle);
                        if let Some(series) = recorder.series(flow.id, side, quantity) {
                            let name = format!("{name}.{}", what.name());
                            out.push(step_function(name, &series.time, &series.value));
                        }
                    }
                    (None, _, Some(handle)) => {
                        packet_series(simulation.observer(handle), flow, &name, &mut out);
                    }
                    _ => {}
                }
            }
        }
        for &i in &self.of_links {
            let (name, id) = &links[i];
            let queue =
                self.queues.and_then(|h| simulation.observer(h).series(*id, simulation.now()));
            if let Some(series) = queue {
                out.push(step_function(format!("{name}.queue"), &series.time, &series.value));
            }
        }
        out
    }
}

/// What the endpoint recorder calls it; packets have a recorder of their own.
fn quantity(what: What) -> Option<Quantity> {
    match what {
        What::Cwnd => Some(Quantity::Cwnd),
        What::Ssthresh => Some(Quantity::Ssthresh),
        What::Srtt => Some(Quantity::Srtt),
        What::InFlight => Some(Quantity::InFlight),
        What::Packets | What::Queue => None,
    }
}

fn step_function(name: String, time: &[Time], value: &[f64]) -> NamedSeries {
    NamedSeries { name, time_s: seconds(time), value: value.to_vec(), ..NamedSeries::default() }
}

fn packet_series(
    recorder: &PacketRecorder,
    flow: &BuiltFlow,
    name: &str,
    out: &mut Vec<NamedSeries>,
) {
    let offsets = |offset: &[u64]| offset.iter().map(|n| *n as f64).collect();
    if let Some(sends) = recorder.sends(flow.id) {
        out.push(NamedSeries {
            name: format!("{name}.sends"),
            time_s: seconds(&sends.time),
            value: offsets(&sends.offset),
            len: sends.len.clone(),
            retransmission: sends.retransmission.clone(),
        });
    }
    let arrivals: [(&str, Option<&Arrivals>); 2] =
        [("acks", recorder.acks(flow.id)), ("receives", recorder.receives(flow.id))];
    for (what, arrivals) in arrivals {
        let Some(arrivals) = arrivals else { continue };
        out.push(NamedSeries {
            name: format!("{name}.{what}"),
            time_s: seconds(&arrivals.time),
            value: offsets(&arrivals.offset),
            ..NamedSeries::default()
        });
    }
}

fn seconds(time: &[Time]) -> Vec<f64> {
    time.iter().map(|t| t.as_secs_f64()).collect()
}
