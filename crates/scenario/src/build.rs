//! Builds a simulation from its description.
//!
//! Each random component has a generator of its own, named after it: `link
//! NAME` for a direction of a link, `flow NAME client` and `flow NAME server`
//! for the two endpoints, `flow NAME start` for the start within its spread,
//! `host NAME fast-open` for a host's key.
//! Adding a link or a flow does not shift the draws of the others.

use crate::custom;
use crate::endpoints::EndpointFactory;
use crate::graph::Graph;
use crate::hostile::Hostile;
use crate::schema::{
    CallSpec, ChannelKind, Direction, Effect, FlowSpec, Ip, LinkSpec, MessagePace, MessageSpec,
    Protocol, Routing, Scenario, Workload,
};
use crate::transport::Transport;
use anabranch_endpoint::{Demultiplex, Generator, Seed};
use anabranch_media::voice::Call;
use anabranch_network::abr::DirectionConfig;
use anabranch_network::{FlowPaths, ImpairmentConfig, ImpairmentKind, LinkConfig, QueueConfig};
use anabranch_sim::{
    App, BuildError, DatagramSpec, Duration, DurationLaw, FlowId, LinkId, MessageTraffic, NodeId,
    Pace, Pages, Side, Simulation, SimulationBuilder, Sizes, Traffic,
};
use anabranch_udp::Framing;
use anabranch_units::{Span, Time};
use anabranch_wire::udp::Head;
use anabranch_wire::{Addr, FlowKey};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Gives the endpoint of a flow at an external host: the flow, its entry, the
/// side and the key of what it sends.
pub(crate) type External<'a> = dyn FnMut(FlowId, &FlowSpec, Side, FlowKey) -> Transport + 'a;

/// A simulation, and what its parts are called.
pub struct Built {
    /// The simulation, ready to run.
    pub simulation: Simulation<Transport>,
    /// The flows in the order of the scenario.
    pub flows: Vec<BuiltFlow>,
    /// The directions of links: name and identity.
    pub links: Vec<(String, LinkId)>,
}

/// A flow of a [`Built`] simulation.
pub struct BuiltFlow {
    /// Name of the flow; of `count` flows each has its own.
    pub name: String,
    /// Index of its entry in the scenario.
    pub entry: usize,
    /// Number of the flow in the simulation.
    pub id: FlowId,
    /// The side whose data `size` (or else `reverse_size`) means.
    pub sender: Side,
    /// Time at which it stops sending; `None` if it does not before its end.
    pub stop: Option<Time>,
    /// The barrier of its requests.
    pub barrier: Option<String>,
}

/// First port that flows use; each flow has its own port at both hosts, unless
/// its entry names one at the server's. The dynamic range (RFC 6335 §6), which no protocol is registered in: below it a
/// dissector would take our octets for its own.
pub(crate) const FIRST_PORT: u16 = 49_152;

/// A flow before it is built.
struct Plan<'a> {
    name: String,
    entry: usize,
    spec: &'a FlowSpec,
    client: (NodeId, u16),
    server: (NodeId, u16),
}

/// Builds the network and the flows of `scenario` with this seed.
pub fn build(scenario: &Scenario, seed: Seed) -> Result<Built, BuildError> {
    build_with(scenario, seed, None)
}

/// Builds as [`build`] does; with `external` the external hosts stand outside, and it gives the
/// endpoints there.
pub(crate) fn build_with(
    scenario: &Scenario,
    seed: Seed,
    mut external: Option<&mut External<'_>>,
) -> Result<Built, BuildError> {
    let mut builder = SimulationBuilder::new();
    if let Some(limits) = scenario.icmp {
        builder.icmp(true);
        builder.icmp_limits(limits);
    }
    let graph = Graph::new(scenario);
    let nodes = add_nodes(scenario, external.is_some(), &mut builder);
    for node in (0..nodes.len()).filter(|node| graph.family(*node) == Ip::V6) {
        builder.ipv6(nodes[node]);
    }
    let node = |name: &str| nodes[graph.node(name).expect("names are checked")];
    builder.multipath(scenario.routing == Routing::Ecmp);
    let book = Arc::new(scenario.book());
    let factories: Vec<_> =
        scenario.flows.iter().map(|flow| EndpointFactory::new(&graph, flow, &book, seed)).collect();
    let plans = plan(scenario, &graph, &nodes, &factories);

    let mut links = Vec::new();
    for link in &scenario.links {
        let [a, b] = [node(&link.ends[0]), node(&link.ends[1])];
        let mut regulated = Vec::new();
        for (name, from, to, direction) in
            [(&link.name, a, b, &link.forward), (&link.reverse_name, b, a, &link.reverse)]
        {
            let mut config = link_config(direction, |flow, reverse_data| {
                let plan = plans.iter().find(|plan| plan.name == flow)?;
                let addresses = |host: &str| -> Option<Vec<_>> {
                    let all = graph.siblings(graph.interface(host)?);
                    Some(all.map(|interface| builder.addr(nodes[interface])).collect())
                };
                let client = (&plan.spec.from, plan.client.1, plan.spec.client_ports());
                let server = (&plan.spec.to, plan.server.1, plan.spec.server_ports());
                let (from, to) = if reverse_data { (server, client) } else { (client, server) };
                Some(FlowPaths {
                    sources: addresses(from.0)?,
                    destinations: addresses(to.0)?,
                    protocol: factories[plan.entry].protocol(),
                    src_port: from.1,
                    dst_port: to.1,
                    further_ports: (from.2 - 1, to.2 - 1),
                })
            });
            let addr = |interface: usize| builder.addr(nodes[interface]);
            enter_addresses(&mut config.queue, &plans, &graph, addr);
            let generator = seed.generator(&format!("link {name}"));
            let regulator = direction
                .regulator
                .as_ref()
                .map(|regulator| custom::on_link(regulator, name, &seed));
            regulated.extend(regulator.map(|regulator| (regulator, config.clone(), links.len())));
            links.push((name.clone(), builder.link(from, to, name, config, generator)));
        }
        for (regulator, config, forward) in regulated {
            let reverse = links[forward ^ 1].1;
            builder.regulator(links[forward].1, &config, reverse, &regulator);
        }
    }

    add_channels(scenario, &links, &mut builder);
    add_atm(scenario, &links, &mut builder);
    let hostile = Hostile { scenario, graph: &graph, nodes: &nodes, book: &book, seed };
    let is_external =
        |name: &str| scenario.hosts.iter().any(|host| host.name == name && host.external);
    let outside = external.is_some();
    hostile.listen(&mut builder, |host| outside && is_external(host));
    let mut keys = Vec::with_capacity(plans.len());
    let mut flows = Vec::with_capacity(plans.len());
    let mut arrivals = Arrivals::new(scenario, seed);
    let mut tokens = BTreeSet::new();
    for Plan { name, entry, spec, client, server } in plans {
        let generator = |role: &str| seed.generator(&format!("flow {name} {role}"));
        let start = Time::ZERO + spec.start + spread(spec.start_spread, || generator("start"));
        let start = start.saturating_add(arrivals.next(entry));
        let stop = spec.duration.map(|duration| start.saturating_add(duration));
        let (client_app, server_app, sender) = apps(scenario, spec, &name, generator);
        let [mut client_endpoint, mut server_endpoint] =
            factories[entry].endpoints(&name, &nodes, [client.1, server.1], generator);
        keys.push(client_endpoint.flow_key());
        let owners = factories[entry].primary().map(|interface| graph.owner(interface));
        for (owner, endpoint) in
            owners.into_iter().zip([&mut client_endpoint, &mut server_endpoint])
        {
            distinguish(&mut tokens, owner, endpoint);
        }
        [client_endpoint, server_endpoint] =
            hostile.corrupt(entry, &name, [client_endpoint, server_endpoint]);
        let mut octets = spec.octets;
        if let Some(external) = &mut external {
            let id = FlowId(flows.len() as u32);
            for (endpoint, side, name) in [
                (&mut client_endpoint, Side::Client, &spec.from),
                (&mut server_endpoint, Side::Server, &spec.to),
            ] {
                let interface = graph.interface(name).expect("names are checked");
                let owner = graph.owner(interface);
                if scenario.hosts.iter().any(|host| host.name == owner && host.external) {
                    *endpoint = external(id, spec, side, endpoint.flow_key());
                    // What leaves is checked, and octets alone can be.
                    octets = true;
                }
            }
        }
        let id = builder.flow(anabranch_sim::FlowSpec {
            name: name.clone(),
            client,
            server,
            client_endpoint,
            server_endpoint,
            client_app,
            server_app,
            start,
            stop,
            octets,
        });
        for more in 1..spec.client_ports() {
            builder.also_bind(id, Side::Client, client.1 + more);
        }
        for more in 1..spec.server_ports() {
            builder.also_bind(id, Side::Server, server.1 + more);
        }
        if spec.port.is_some() {
            for more in 0..spec.server_ports() {
                builder.share_port(node(owners[1]), server.1 + more);
            }
        }
        let barrier = spec.barrier().map(str::to_owned);
        flows.push(BuiltFlow { name, entry, id, sender, stop, barrier });
    }
    hostile.attack(&mut builder, &flows, |flow| keys[flow]);
    hostile.gauge(&mut builder);
    Ok(Built { simulation: builder.build()?, flows, links })
}

/// RFC 8684 §3.1: no two connections of a host have the same token.
fn distinguish<'a>(tokens: &mut BTreeSet<(&'a str, u32)>, host: &'a str, endpoint: &mut Transport) {
    if let Transport::Mptcp(mptcp) = endpoint {
        mptcp.avoid_tokens(|token| !tokens.insert((host, token)));
    }
}

/// Adds the nodes of `graph`, in its order.
fn add_nodes(
    scenario: &Scenario,
    external: bool,
    builder: &mut SimulationBuilder<Transport>,
) -> Vec<NodeId> {
    let mut nodes = Vec::new();
    for host in &scenario.hosts {
        let mut first = None;
        for name in host.nodes() {
            let node = match first {
                None => builder.host(&name),
                Some(host) => builder.interface(host, &name),
            };
            first.get_or_insert(node);
            nodes.push(node);
        }
        if let Some(node) = first {
            builder.configure_host(node, host.config);
            if external && host.external {
                builder.outside(node);
            } else if external && host.receive_offload {
                builder.receive_offload(node);
            }
        }
    }
    nodes.extend(scenario.routers.iter().map(|name| builder.router(name)));
    nodes
}

/// Lets the directions that have explicit rates share their channels.
fn add_channels(
    scenario: &Scenario,
    links: &[(String, LinkId)],
    builder: &mut SimulationBuilder<Transport>,
) {
    for channel in &scenario.channels {
        let ChannelKind::Told { forward, reverse } = channel.kind else { continue };
        for (way, config) in [forward, reverse].into_iter().enumerate() {
            let member = |(i, link): (usize, &LinkSpec)| {
                let direction = [&link.forward, &link.reverse][way];
                let explicit = direction.explicit.as_ref();
                let is_member =
                    explicit.is_some_and(|explicit| explicit.channels[0] == channel.name);
                is_member.then(|| (links[2 * i + way].1, direction.rate))
            };
            let members: Vec<_> = scenario.links.iter().enumerate().filter_map(member).collect();
            builder.channel(&channel.name, config, &members);
        }
    }
}

/// Makes the lines of links virtual channels over lines of ATM, where they are.
fn add_atm(
    scenario: &Scenario,
    links: &[(String, LinkId)],
    builder: &mut SimulationBuilder<Transport>,
) {
    let mut lines = Vec::new();
    let mut number_of_line = BTreeMap::new();
    for (i, channel) in scenario.channels.iter().enumerate() {
        if let ChannelKind::Abr(line) = &channel.kind {
            number_of_line.insert(i, lines.len());
            lines.push((channel.name.clone(), line.config.clone()));
        }
    }
    let mut ways = Vec::new();
    for (i, link) in scenario.links.iter().enumerate() {
        for (way, direction) in [&link.forward, &link.reverse].into_iter().enumerate() {
            if let Some((source, passed)) = &direction.cells {
                let path = passed.iter().map(|(line, way)| (number_of_line[line], *way)).collect();
                ways.push(DirectionConfig { link: links[2 * i + way].1, path, source: *source });
            }
        }
    }
    if !lines.is_empty() {
        builder.atm(&lines, &ways);
    }
}

/// Names the flows and gives each a port at both hosts, one of its own where its
/// entry names none.
fn plan<'a>(
    scenario: &'a Scenario,
    graph: &Graph<'a>,
    nodes: &[NodeId],
    factories: &[EndpointFactory],
) -> Vec<Plan<'a>> {
    let mut ports: BTreeMap<&str, u16> = BTreeMap::new();
    let mut bind = |interface: usize, count: u16| {
        let next = ports.entry(graph.owner(interface)).or_insert(FIRST_PORT);
        *next += count;
        (nodes[interface], *next - count)
    };
    let mut plans = Vec::new();
    for (entry, spec) in scenario.flows.iter().enumerate() {
        for name in spec.names() {
            let [client, server] = factories[entry].primary();
            let client = bind(client, spec.client_ports());
            let server = match spec.port {
                Some(port) => (nodes[server], port),
                None => bind(server, spec.server_ports()),
            };
            plans.push(Plan { name, entry, spec, client, server });
        }
    }
    plans
}

/// The number of the barrier of a flow: names count in the order in which they
/// come.
fn barrier(scenario: &Scenario, spec: &FlowSpec) -> Option<u32> {
    let name = spec.barrier()?;
    let mut names: Vec<&str> = Vec::new();
    for other in scenario.flows.iter().filter_map(FlowSpec::barrier) {
        if other == name {
            break;
        }
        if !names.contains(&other) {
            names.push(other);
        }
    }
    Some(names.len() as u32)
}

/// What the two sides do, and whose data the flow is about. `generator` makes
/// the flow's generators by their roles.
fn apps(
    scenario: &Scenario,
    spec: &FlowSpec,
    name: &str,
    generator: impl Fn(&str) -> Generator,
) -> (App, App, Side) {
    let size = match &spec.sizes {
        Some(sizes) => Some(sizes.draw(&mut generator("size"))),
        None => spec.size,
    };
    let (total, seed) = (size, || generator("traffic").next_u64());
    if matches!(spec.protocol, Protocol::Udp(_)) {
        return datagrams(spec, total, generator);
    }
    let traffic = match spec.workload {
        Workload::Messages(ref messages) => {
            let keep = keeps_deliveries(scenario, spec, name);
            let forward = message_traffic(spec, messages, size, keep, seed());
            let back = messages.reverse.as_ref().map_or(App::MessageSink, |reverse| {
                let seed = generator("reverse traffic").next_u64();
                App::Messages(Arc::new(message_traffic(spec, reverse, None, keep, seed)))
            });
            return (App::Messages(Arc::new(forward)), back, Side::Client);
        }
        Workload::Bulk => None,
        Workload::Constant { rate, chunk } => {
            Some((Traffic::Constant { rate, chunk, total }, Side::Client))
        }
        Workload::OnOff { rate, chunk, on, off } => {
            let seed = seed();
            Some((Traffic::OnOff { rate, chunk, total, on, off, seed }, Side::Client))
        }
        Workload::Requests { request, response, count, think, .. } => {
            let (seed, barrier) = (seed(), barrier(scenario, spec));
            let traffic = Traffic::Requests { request, response, count, think, seed, barrier };
            Some((traffic, Side::Server))
        }
        Workload::Voip(_) | Workload::Ping(_) => unreachable!("checked: datagrams go over UDP"),
        Workload::Video(ref video) => {
            let client = Traffic::Video(video.request, Arc::new(video.spec.clone()));
            let server = Traffic::FetchServer { request: video.request, total: u64::MAX };
            return (App::Traffic(client), App::Traffic(server), Side::Server);
        }
        Workload::PageLoad(ref load) => {
            let load = load.spec(generator("traffic"));
            let (request, total) = (load.request, load.responses());
            let server = Traffic::FetchServer { request, total };
            return (
                App::Traffic(Traffic::Load(Arc::new(load))),
                App::Traffic(server),
                Side::Server,
            );
        }
        Workload::Pages(ref pages) => {
            let mut seeds = generator("traffic");
            let [sizes, think] = [seeds.next_u64(), seeds.next_u64()];
            let pages = Arc::new(Pages::new((**pages).clone(), sizes, think));
            let [client, server] = [Traffic::Pages(pages.clone()), Traffic::PageServer(pages)];
            return (App::Traffic(client), App::Traffic(server), Side::Server);
        }
    };
    if let Some((traffic, sender)) = traffic {
        let server = match spec.workload {
            Workload::Requests { request, response, count, .. } => {
                App::Traffic(Traffic::Responses { request, response, count })
            }
            _ => App::Sink,
        };
        return (App::Traffic(traffic), server, sender);
    }
    match (size, spec.reverse_size) {
        (size, None) => (App::Bulk { bytes: size }, App::Sink, Side::Client),
        (Some(0), bytes @ Some(_)) => (App::Sink, App::Bulk { bytes }, Side::Server),
        (size, reverse) => {
            (App::BulkAndSink { bytes: size }, App::BulkAndSink { bytes: reverse }, Side::Client)
        }
    }
}

/// What the two sides of a flow over UDP do.
fn datagrams(
    spec: &FlowSpec,
    total: Option<u64>,
    generator: impl Fn(&str) -> Generator,
) -> (App, App, Side) {
    let app = |pace, count, role: &str| {
        let seed = generator(role).next_u64();
        App::Messages(Arc::new(datagram_traffic(spec, pace, count, total, seed)))
    };
    let back = "reverse traffic";
    let (client, server) = match &spec.workload {
        Workload::Constant { rate, .. } => {
            (app(Pace::Rate(*rate), None, "traffic"), App::MessageSink)
        }
        Workload::OnOff { rate, on, off, .. } => {
            let pace = Pace::OnOff { rate: *rate, on: *on, off: *off };
            (app(pace, None, "traffic"), App::MessageSink)
        }
        Workload::Ping(ping) => {
            let probes = app(Pace::Every(ping.interval), ping.count, "traffic");
            (probes, app(Pace::Echo, None, back))
        }
        Workload::Voip(call) => {
            let every = Duration { mean: call.packet, law: DurationLaw::Constant };
            let talk = app(Pace::Every(every), None, "traffic");
            let answer = call.both_ways.then(|| app(Pace::Every(every), None, back));
            (talk, answer.unwrap_or(App::MessageSink))
        }
        other => unreachable!("checked: {} is none of datagrams", other.kind()),
    };
    (client, server, Side::Client)
}

/// The datagrams of one side.
fn datagram_traffic(
    spec: &FlowSpec,
    pace: Pace,
    count: Option<u64>,
    total: Option<u64>,
    seed: u64,
) -> MessageTraffic {
    let call = match &spec.workload {
        Workload::Voip(call) => Some(call),
        _ => None,
    };
    let header = call.map_or(Framing::Plain.len(), |_| Head::MOST as u32);
    MessageTraffic {
        size: Sizes::Constant { mean: spec.datagram().into() },
        most: spec.datagram(),
        count,
        total,
        pace,
        streams: 1,
        unordered: true,
        lifetime: None,
        retransmissions: None,
        keep: false,
        datagrams: Some(DatagramSpec {
            header,
            call: call.map(|spec: &CallSpec| -> Call { spec.call() }),
        }),
        seed,
    }
}

fn message_traffic(
    spec: &FlowSpec,
    messages: &MessageSpec,
    total: Option<u64>,
    keep: bool,
    seed: u64,
) -> MessageTraffic {
    let Protocol::Sctp(sctp) = &spec.protocol else { unreachable!("checked: messages have SCTP") };
    MessageTraffic {
        size: messages.size.clone(),
        most: sctp.largest_message(),
        count: messages.count,
        total,
        pace: match &messages.pace {
            MessagePace::Saturated => Pace::Saturated,
            MessagePace::Rate(rate) => Pace::Rate(*rate),
            MessagePace::Every(time) => Pace::Every(*time),
            MessagePace::At(dates) => Pace::At(dates.clone()),
        },
        streams: messages.streams,
        unordered: messages.unordered,
        lifetime: messages.lifetime,
        retransmissions: messages.retransmissions,
        keep,
        datagrams: None,
        seed,
    }
}

/// Something observes each message of the flow.
fn keeps_deliveries(scenario: &Scenario, spec: &FlowSpec, name: &str) -> bool {
    scenario
        .observe
        .iter()
        .any(|observe| observe.what.is_of_messages() && observe.means(&spec.name, name))
}

/// Enters the addresses of hosts, and those of the clients of flows with their ports, into the classes of a
/// queue that has any. A client's port is its flow's alone.
fn enter_addresses(
    queue: &mut QueueConfig,
    plans: &[Plan<'_>],
    graph: &Graph<'_>,
    addr: impl Fn(usize) -> Addr,
) {
    let QueueConfig::Htb(htb) = queue else { return };
    for class in &mut htb.classes {
        let matches = &mut class.matches;
        for name in &matches.hosts {
            let Some(interface) = graph.interface(name) else { continue };
            let is_host = graph.owner(interface) == name;
            let all = graph.siblings(interface).filter(|other| is_host || *other == interface);
            matches.addresses.extend(all.map(&addr));
        }
        for plan in plans {
            let is_meant = |name: &String| plan.name == *name || plan.spec.name == *name;
            if !matches.flows.iter().any(is_meant) {
                continue;
            }
            let Some(interface) = graph.interface(&plan.spec.from) else { continue };
            let ports = plan.client.1..plan.client.1 + plan.spec.client_ports();
            let of = |interface: usize| ports.clone().map(move |port| (interface, port));
            let ends = graph.siblings(interface).flat_map(of);
            matches.ends.extend(ends.map(|(interface, port)| (addr(interface), port)));
        }
    }
}

fn link_config(
    direction: &Direction,
    paths: impl Fn(&str, bool) -> Option<FlowPaths>,
) -> LinkConfig {
    let impairments = direction.impairments.iter().filter_map(|impairment| {
        let kind = match &impairment.what {
            Effect::Any(kind) => kind.clone(),
            Effect::Packets { flow, reverse_data, numbers } => ImpairmentKind::Packets {
                flow: paths(flow, *reverse_data)?,
                numbers: numbers.clone(),
            },
        };
        Some(ImpairmentConfig { kind, at: impairment.at })
    });
    LinkConfig {
        rate: direction.rate,
        delay: direction.delay,
        delays: direction.delays.clone(),
        transmitter: direction.transmitter.clone(),
        mtu: direction.mtu,
        queue: direction.queue.clone(),
        impairments: impairments.collect(),
    }
}

/// The starts of flows that come in Poisson processes.
struct Arrivals {
    /// For each entry that has such flows: flows per second, the last start after `start`, and what
    /// draws the times between.
    processes: BTreeMap<usize, (f64, Span, Generator)>,
}

impl Arrivals {
    fn new(scenario: &Scenario, seed: Seed) -> Arrivals {
        let entries = scenario.flows.iter().enumerate();
        let process = |(entry, flow): (usize, &FlowSpec)| {
            let generator = seed.generator(&format!("flow {} arrivals", flow.name));
            Some((entry, (flow.arrivals?, Span::ZERO, generator)))
        };
        Arrivals { processes: entries.filter_map(process).collect() }
    }

    /// Returns how long after `start` the next flow of `entry` starts.
    fn next(&mut self, entry: usize) -> Span {
        let Some((per_second, last, generator)) = self.processes.get_mut(&entry) else {
            return Span::ZERO;
        };
        let gap = -libm::log(1.0 - generator.uniform()) / *per_second;
        *last = Span::from_secs_f64(last.as_secs_f64() + gap).unwrap_or(Span::MAX);
        *last
    }
}

/// A uniform part of `span`; draws only when there is a span.
fn spread(span: Span, generator: impl FnOnce() -> Generator) -> Span {
    match span.as_picos() {
        0 => Span::ZERO,
        picos => Span::from_picos(generator().below(picos)),
    }
}
