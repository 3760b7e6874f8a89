//! The recorders that a scenario asks for, and their series by name.

use crate::build::BuiltFlow;
use crate::flow_events::{EventRow, Events};
use crate::result::NamedSeries;
use crate::schema::{Protocol, Scenario, What};
use crate::transport::Transport;
use anabranch_endpoint::PathId;
use anabranch_sim::observe::{
    CellRecorder, Compression, CompressionRecorder, Lane, PacketRecorder, PathQuantity,
    PathRecorder, Quantity, QueueRecorder, Queueing, QueueingRecorder, RegulatorRecorder, Series,
    SeriesRecorder,
};
use anabranch_sim::{Handle, LinkId, NodeId, Side, Simulation};
use anabranch_units::{Span, Time};
use anabranch_wire::Addr;
use std::collections::BTreeMap;

/// Recorders attached to a simulation.
pub(crate) struct Recorders {
    endpoints: Option<Handle<SeriesRecorder>>,
    paths: Option<Handle<PathRecorder>>,
    /// One for the data of the flows' senders, one for data the other way.
    packets: [Option<Handle<PacketRecorder>>; 2],
    compression: Option<Handle<CompressionRecorder>>,
    queues: Option<Handle<QueueRecorder>>,
    regulators: Option<Handle<RegulatorRecorder>>,
    cells: Option<Handle<CellRecorder>>,
    events: Events,
    /// What is recorded: (flow index, quantity) in order, and the interval; of
    /// several entries that mean the same the last counts.
    of_flows: BTreeMap<(usize, What), Option<Span>>,
    of_links: BTreeMap<usize, Option<Span>>,
    queueing: Option<Handle<QueueingRecorder>>,
    of_regulators: BTreeMap<usize, Option<Span>>,
    /// Ports of lines of ATM by name, number and direction; links by number.
    of_ports: BTreeMap<(usize, usize), (String, Option<Span>)>,
    of_rates: BTreeMap<usize, Option<Span>>,
    two_way: Vec<bool>,
}

impl Recorders {
    /// Attaches what `scenario` asks for; nothing when it asks for nothing.
    pub(crate) fn attach(
        scenario: &Scenario,
        flows: &[BuiltFlow],
        links: &[(String, LinkId)],
        simulation: &mut Simulation<Transport>,
    ) -> Recorders {
        let mut of_flows = BTreeMap::new();
        let (mut of_links, mut of_regulators) = (BTreeMap::new(), BTreeMap::new());
        let (mut of_ports, mut of_rates) = (BTreeMap::new(), BTreeMap::new());
        let (mut queueing, mut any_queueing) = (QueueingRecorder::new(), false);
        for observe in &scenario.observe {
            if observe.what == What::Cells {
                for (line, (name, _)) in simulation.lines().enumerate() {
                    for (way, name) in
                        [name.to_owned(), format!("{name}-reverse")].into_iter().enumerate()
                    {
                        if observe.link.as_ref().is_none_or(|link| *link == name) {
                            of_ports.insert((line, way), (name, observe.interval));
                        }
                    }
                }
                continue;
            }
            if observe.what == What::Events {
                continue;
            }
            let named = |name: &str| observe.link.as_deref().is_none_or(|link| link == name);
            let named = (0..links.len()).filter(|i| named(&links[*i].0));
            if observe.what == What::Queue {
                of_links.extend(named.map(|i| (i, observe.interval)));
                continue;
            }
            if observe.what == What::Queueing {
                for i in named {
                    queueing.record(links[i].1);
                    any_queueing = true;
                }
                continue;
            }
            if observe.what == What::Regulator {
                let there = |i: &usize| simulation.regulator_counters(links[*i].1).is_some();
                of_regulators.extend(named.filter(there).map(|i| (i, observe.interval)));
                continue;
            }
            if observe.what == What::CellRate {
                let there = |i: &usize| simulation.cell_rate(links[*i].1).is_some();
                of_rates.extend(named.filter(there).map(|i| (i, observe.interval)));
                continue;
            }
            for (i, flow) in flows.iter().enumerate() {
                if observe.means(&scenario.flows[flow.entry].name, &flow.name) {
                    of_flows.insert((i, observe.what), observe.interval);
                }
            }
        }
        let both = |flow: &BuiltFlow| scenario.flows[flow.entry].is_two_way();
        let two_way: Vec<bool> = flows.iter().map(both).collect();

        let mut endpoints = SeriesRecorder::new();
        let mut packets = [PacketRecorder::new(), PacketRecorder::new()];
        let mut compression = CompressionRecorder::new();
        let (mut queues, mut paths) = (QueueRecorder::new(), PathRecorder::new());
        let (mut any_endpoint, mut any_path, mut any_packets) = (false, false, [false; 2]);
        for (&(i, what), &every) in &of_flows {
            if matches!(what, What::Responses | What::Rounds) || what.is_of_messages() {
                // The applications keep them.
                continue;
            }
            let flow = &flows[i];
            if let Some(quantity) = path_quantity(what) {
                paths.record(flow.id, flow.sender, quantity, every);
                any_path = true;
                continue;
            }
            let sides = [flow.sender, flow.sender.peer()];
            for (j, side) in sides.into_iter().enumerate().take(if two_way[i] { 2 } else { 1 }) {
                match quantity(what) {
                    _ if what == What::AckCompression => compression.record(flow.id, side),
                    Some(quantity) => {
                        endpoints.record(flow.id, at(what, side), quantity, every);
                        any_endpoint = true;
                    }
                    None => {
                        packets[j].record(flow.id, side);
                        any_packets[j] = true;
                    }
                }
            }
        }
        for (&i, &every) in &of_links {
            queues.record(links[i].1, every);
        }
        let mut regulators = RegulatorRecorder::new();
        for (&i, &every) in &of_regulators {
            regulators.record(links[i].1, every);
        }
        let mut cells = CellRecorder::new();
        for (&(line, way), (_, every)) in &of_ports {
            cells.record_queue(line, way, *every);
        }
        for (&i, &every) in &of_rates {
            let initial = simulation.cell_rate(links[i].1).unwrap_or_default();
            cells.record_rate(links[i].1, initial, every);
        }
        let any_cells = !of_ports.is_empty() || !of_rates.is_empty();
        let [forward, back] = packets;
        let any_compression = of_flows.keys().any(|(_, what)| *what == What::AckCompression);
        Recorders {
            endpoints: any_endpoint.then(|| simulation.attach(endpoints)),
            paths: any_path.then(|| simulation.attach(paths)),
            packets: [
                any_packets[0].then(|| simulation.attach(forward)),
                any_packets[1].then(|| simulation.attach(back)),
            ],
            compression: any_compression.then(|| simulation.attach(compression)),
            queueing: any_queueing.then(|| simulation.attach(queueing)),
            queues: (!of_links.is_empty()).then(|| simulation.attach(queues)),
            regulators: (!of_regulators.is_empty()).then(|| simulation.attach(regulators)),
            cells: any_cells.then(|| simulation.attach(cells)),
            events: Events::attach(scenario, flows, simulation),
            of_flows,
            of_links,
            of_regulators,
            of_ports,
            of_rates,
            two_way,
        }
    }

    /// The events of flows, by date.
    pub(crate) fn events(
        &self,
        scenario: &Scenario,
        flows: &[BuiltFlow],
        simulation: &Simulation<Transport>,
    ) -> Vec<EventRow> {
        self.events.rows(scenario, flows, simulation)
    }

    /// The distributions of a link's queue, where they are asked for.
    pub(crate) fn queueing(
        &self,
        link: LinkId,
        simulation: &Simulation<Transport>,
    ) -> Option<Queueing> {
        simulation.observer(self.queueing?).queueing(link, simulation.now())
    }

    /// Returns the recorded series, by flow, then by link.
    pub(crate) fn series(
        &self,
        scenario: &Scenario,
        flows: &[BuiltFlow],
        links: &[(String, LinkId)],
        simulation: &Simulation<Transport>,
    ) -> Vec<NamedSeries> {
        let mut out = Vec::new();
        for &(i, what) in self.of_flows.keys() {
            let flow = &flows[i];
            if what == What::Responses {
                out.extend(responses(flow, simulation));
                continue;
            }
            if what == What::Rounds {
                let first = |other: &BuiltFlow| other.barrier == flow.barrier;
                if flows.iter().position(first) == Some(i) {
                    out.extend(rounds(flow, flows, simulation));
                }
                continue;
            }
            if what.is_of_messages() {
                out.extend(messages(flow, what, simulation));
                continue;
            }
            if let Some(quantity) = path_quantity(what) {
                let recorder = self.paths.map(|handle| simulation.observer(handle));
                let end = simulation.now();
                let all =
                    recorder.map(|recorder| recorder.series(flow.id, flow.sender, quantity, end));
                out.extend(all.into_iter().flatten().map(|(path, series)| {
                    let path = path_name(&path, simulation);
                    let name = format!("{}.{path}.{}", flow.name, what.name());
                    step_function(name, &series.time, &series.value)
                }));
                continue;
            }
            let sides = [
                (flow.name.clone(), flow.sender),
                (format!("{}.reverse", flow.name), flow.sender.peer()),
            ];
            for (j, (name, side)) in
                sides.into_iter().enumerate().take(if self.two_way[i] { 2 } else { 1 })
            {
                if let (What::AckCompression, Some(handle)) = (what, self.compression) {
                    let done = simulation.observer(handle).compression(flow.id, side);
                    for (what, series) in done.into_iter().flat_map(named) {
                        out.push(step_function(
                            format!("{name}.{what}"),
                            &series.time,
                            &series.value,
                        ));
                    }
                    continue;
                }
                match (quantity(what), self.endpoints, self.packets[j]) {
                    (Some(quantity), Some(handle), _) => {
                        let recorder = simulation.observer(handle);
                        let side = at(what, side);
                        let end = simulation.now();
                        if let Some(series) = recorder.series(flow.id, side, quantity, end) {
                            let name = format!("{name}.{}", what.name());
                            out.push(step_function(name, &series.time, &series.value));
                        }
                    }
                    (None, _, Some(handle)) => {
                        let protocol = &scenario.flows[flow.entry].protocol;
                        let recorder = simulation.observer(handle);
                        packet_series(recorder, flow, &name, protocol, simulation, &mut out);
                    }
                    _ => {}
                }
            }
        }
        for &i in self.of_links.keys() {
            let (name, id) = &links[i];
            let queue =
                self.queues.and_then(|h| simulation.observer(h).series(*id, simulation.now()));
            if let Some(series) = queue {
                out.push(step_function(format!("{name}.queue"), &series.time, &series.value));
            }
        }
        for &i in self.of_regulators.keys() {
            let (name, id) = &links[i];
            let Some(recorder) = self.regulators.map(|regulator| simulation.observer(regulator))
            else {
                continue;
            };
            if let Some(held) = recorder.held(*id, simulation.now()) {
                out.push(step_function(format!("{name}.regulator"), &held.time, &held.value));
            }
            if let Some(delays) = recorder.delays(*id) {
                let name = format!("{name}.regulator.delay");
                out.push(step_function(name, &delays.time, &delays.value));
            }
        }
        let Some(cells) = self.cells.map(|cell| simulation.observer(cell)) else { return out };
        for ((line, way), (name, _)) in &self.of_ports {
            if let Some(found) = cells.queue(*line, *way, simulation.now()) {
                out.push(step_function(format!("{name}.cells"), &found.time, &found.value));
            }
        }
        for &i in self.of_rates.keys() {
            let (name, id) = &links[i];
            if let Some(rate) = cells.rate(*id, simulation.now()) {
                out.push(step_function(format!("{name}.cell-rate"), &rate.time, &rate.value));
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
        What::Received => Some(Quantity::Received),
        _ => None,
    }
}

/// What the recorder of paths calls it.
fn path_quantity(what: What) -> Option<PathQuantity> {
    match what {
        What::PathCwnd => Some(PathQuantity::Cwnd),
        What::PathSsthresh => Some(PathQuantity::Ssthresh),
        What::PathInFlight => Some(PathQuantity::InFlight),
        What::PathSrtt => Some(PathQuantity::Srtt),
        What::PathRto => Some(PathQuantity::Rto),
        What::PathErrors => Some(PathQuantity::Errors),
        What::PathState => Some(PathQuantity::State),
        What::PathCoupling => Some(PathQuantity::Coupling),
        _ => None,
    }
}

/// A path in the names of series: the peer's interface, or of a subflow
/// `FROM-TO`, with its number unless it is the first between them.
pub(crate) fn path_name(path: &PathId, simulation: &Simulation<Transport>) -> String {
    let name = |addr: Addr| simulation.node_name(NodeId(addr.0));
    let to = name(path.remote);
    match (path.local, path.subflow) {
        (None, _) => to.to_owned(),
        (Some(from), 0) => format!("{}-{to}", name(from)),
        (Some(from), n) => format!("{}-{to}.{n}", name(from)),
    }
}

/// The side whose state it is, of data that `sender` sends.
fn at(what: What, sender: Side) -> Side {
    if what == What::Received { sender.peer() } else { sender }
}

fn step_function(name: String, time: &[Time], value: &[f64]) -> NamedSeries {
    NamedSeries { name, time_s: seconds(time), value: value.to_vec(), ..NamedSeries::default() }
}

/// Returns when the responses to a flow's requests were whole, and how long after the request.
fn responses(flow: &BuiltFlow, simulation: &Simulation<Transport>) -> Option<NamedSeries> {
    let exchanges = simulation.exchanges(flow.id);
    let whole: Vec<_> = exchanges.iter().filter_map(|(from, to)| Some((*from, (*to)?))).collect();
    let taken = whole.iter().map(|(from, to)| (*to - *from).as_secs_f64());
    (!exchanges.is_empty()).then(|| NamedSeries {
        name: format!("{}.responses", flow.name),
        time_s: whole.iter().map(|(_, to)| to.as_secs_f64()).collect(),
        value: taken.collect(),
        ..NamedSeries::default()
    })
}

/// Returns when the responses of each round of a barrier had all come, and how long after its first
/// request.
fn rounds(
    flow: &BuiltFlow,
    flows: &[BuiltFlow],
    simulation: &Simulation<Transport>,
) -> Option<NamedSeries> {
    let name = flow.barrier.as_ref()?;
    let members = flows.iter().filter(|flow| flow.barrier.as_ref() == Some(name));
    let members: Vec<_> = members.map(|member| simulation.exchanges(member.id)).collect();
    let (mut time_s, mut value) = (Vec::new(), Vec::new());
    for n in 0.. {
        let exchanges: Vec<_> = members.iter().filter_map(|member| member.get(n)).collect();
        let first = exchanges.iter().map(|(from, _)| *from).min();
        let last = exchanges.iter().map(|(_, to)| to.unwrap_or(Time::NEVER)).max();
        let (Some(first), Some(last)) = (first, last.filter(|last| *last != Time::NEVER)) else {
            break;
        };
        time_s.push(last.as_secs_f64());
        value.push((last - first).as_secs_f64());
    }
    Some(NamedSeries { name: format!("{name}.rounds"), time_s, value, ..NamedSeries::default() })
}

/// The series of how ACKs and data bunch.
fn named(compression: Compression) -> [(&'static str, Series); 3] {
    [
        ("ack_gaps", compression.gaps),
        ("ack_bunches", compression.bunches),
        ("bursts", compression.bursts),
    ]
}

/// A series for each stream: when each message was read, and its delay or its
/// wait.
fn messages(
    flow: &BuiltFlow,
    what: What,
    simulation: &Simulation<Transport>,
) -> impl Iterator<Item = NamedSeries> {
    let mut streams: BTreeMap<(bool, u16), NamedSeries> = BTreeMap::new();
    for (back, sender) in [(false, flow.sender), (true, flow.sender.peer())] {
        let way = if back { ".reverse" } else { "" };
        for delivery in simulation.deliveries(flow.id, sender) {
            let stream = delivery.stream;
            let series = streams.entry((back, stream)).or_insert_with(|| NamedSeries {
                name: format!("{}{way}.stream-{stream}.{}", flow.name, what.name()),
                ..NamedSeries::default()
            });
            let span = if what == What::MessageDelay { delivery.delay } else { delivery.waited };
            series.time_s.push(delivery.at.as_secs_f64());
            series.value.push(span.as_secs_f64());
        }
    }
    streams.into_values()
}

/// Five series for each way of the data. A connection that is always one has
/// no name for its way.
fn packet_series(
    recorder: &PacketRecorder,
    flow: &BuiltFlow,
    name: &str,
    protocol: &Protocol,
    simulation: &Simulation<Transport>,
    out: &mut Vec<NamedSeries>,
) {
    let lanes = recorder.lanes(flow.id);
    for (i, lane) in lanes.iter().enumerate() {
        let (local, remote) = (lane.key.src, lane.key.dst);
        let before =
            lanes[..i].iter().filter(|lane| (lane.key.src, lane.key.dst) == (local, remote));
        let path = |local| PathId { local, remote, subflow: before.count() as u8 };
        let name = match protocol {
            Protocol::Tcp(_) | Protocol::Udp(_) => name.to_owned(),
            Protocol::Sctp(_) => format!("{name}.{}", path_name(&path(None), simulation)),
            Protocol::Mptcp(_) => format!("{name}.{}", path_name(&path(Some(local)), simulation)),
        };
        lane_series(&name, lane, out);
    }
}

fn lane_series(name: &str, lane: &Lane, out: &mut Vec<NamedSeries>) {
    let positions = |offset: &[u64]| offset.iter().map(|n| *n as f64).collect();
    out.push(NamedSeries {
        name: format!("{name}.sends"),
        time_s: seconds(&lane.sends.time),
        value: positions(&lane.sends.offset),
        len: lane.sends.len.clone(),
        retransmission: lane.sends.retransmission.clone(),
    });
    for (what, arrivals) in [("acks", &lane.acks), ("receives", &lane.receives)] {
        out.push(NamedSeries {
            name: format!("{name}.{what}"),
            time_s: seconds(&arrivals.time),
            value: positions(&arrivals.offset),
            ..NamedSeries::default()
        });
    }
    for (what, ranges) in [("sacks", &lane.sacks), ("drops", &lane.drops)] {
        out.push(NamedSeries {
            name: format!("{name}.{what}"),
            time_s: seconds(&ranges.time),
            value: positions(&ranges.offset),
            len: ranges.len.clone(),
            ..NamedSeries::default()
        });
    }
}

fn seconds(time: &[Time]) -> Vec<f64> {
    time.iter().map(|t| t.as_secs_f64()).collect()
}
