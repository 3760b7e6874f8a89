//! Building a simulation: nodes, links, flows.

mod binding;
mod hostile;
mod pairs;

use crate::FlowEndpoint;
use crate::agents::Agents;
use crate::app::{App, AppState, ChannelId, Hosted};
use crate::app_context::AppContext;
use crate::channel::{self, Channels};
use crate::events::EventQueue;
use crate::flow::{FlowId, FlowSpec, Side};
use crate::host::{HostConfig, Hosts};
use crate::icmp_limit::{IcmpLimiter, IcmpLimits};
use crate::memories::Memories;
use crate::network::{Feeders, Network, NodeDrops};
use crate::observe::Observers;
use crate::offload::Offload;
use crate::outside::Outside;
use crate::regulate::Regulators;
use crate::simulation::{Flow, Layout, Scheduled, Simulation};
use crate::tournament::Tournament;
use crate::traffic::Traffic;
use anabranch_endpoint::{Generator, Taken};
use anabranch_network::abr::{Atm, DirectionConfig, LineConfig};
use anabranch_network::{
    Channel, ChannelConfig, ConfigError, Link, LinkConfig, LinkId, NodeId, PacketPool, Regulator,
    RegulatorConfig, Topology,
};
use anabranch_units::{Rate, Time};
use anabranch_wire::Addr;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Collects nodes, links and flows; [`build`](Self::build) checks them.
pub struct SimulationBuilder<E> {
    topology: Topology,
    node_names: Vec<String>,
    links: Vec<Link>,
    link_names: Vec<String>,
    regulators: Regulators,
    channels: Channels,
    atm: Option<Box<Atm>>,
    line_names: Vec<String>,
    /// The reverse link of each regulator, which ends there.
    stations: Vec<LinkId>,
    endpoints: Vec<Hosted<E>>,
    flows: Vec<Flow>,
    /// Node and port of both sides of each flow.
    bound: Vec<[(NodeId, u16); 2]>,
    also_bound: Vec<(FlowId, Side, u16)>,
    /// Hosts and ports that several endpoints may have.
    shared: BTreeSet<(NodeId, u16)>,
    /// The hosts of further interfaces.
    owners: BTreeMap<NodeId, NodeId>,
    flow_names: Vec<String>,
    name_index: BTreeMap<String, u32>,
    schedule: Vec<Scheduled>,
    context: AppContext,
    icmp: bool,
    /// Nodes whose addresses are of IPv6.
    ipv6: Vec<NodeId>,
    icmp_limits: IcmpLimits,
    hosts: Vec<(NodeId, HostConfig)>,
    /// Hosts that stand outside.
    outside: Vec<NodeId>,
    /// Hosts that take segments together, where some stand outside.
    offload: Vec<NodeId>,
    /// Listening ports, attackers and gauges.
    agents: Agents<E>,
    /// The flows that attackers overhear.
    overheard: Vec<Option<FlowId>>,
    error: Option<BuildError>,
}

/// Why a simulation cannot be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// A link's configuration is wrong.
    Link {
        /// Name of the link.
        name: String,
        /// The field with its value, and what is allowed.
        error: ConfigError,
    },
    /// A channel's configuration is wrong.
    Channel {
        /// Name of the channel.
        name: String,
        /// The field with its value, and what is allowed.
        error: ConfigError,
    },
    /// A link ends where it starts.
    Loop {
        /// Name of the link.
        name: String,
    },
    /// There is no path between the hosts of a flow.
    Unreachable {
        /// Name of the flow.
        flow: String,
        /// Name of the host that cannot reach the other.
        from: String,
        /// Name of the host that is not reached.
        to: String,
    },
    /// A flow starts or ends at a router.
    NotAHost {
        /// Name of the flow.
        flow: String,
        /// Name of the router.
        node: String,
    },
    /// A flow starts and ends at one host.
    SameHost {
        /// Name of the flow.
        flow: String,
        /// Name of the host.
        node: String,
    },
    /// Two endpoints of a host have one port.
    PortInUse {
        /// Name of the flow that was added second.
        flow: String,
        /// Name of the host.
        node: String,
        /// Port that both have.
        port: u16,
    },
    /// Two endpoints that share ports of a host cannot be told apart.
    Indistinct {
        /// Name of the flow that was added second.
        flow: String,
        /// Name of the host.
        node: String,
        /// The key or token that they have in common.
        taken: Taken,
    },
    /// Two listening ports of a host are one, or the port is a flow's own.
    NotFree {
        /// The second that listens.
        listener: String,
        /// Name of the host.
        node: String,
        /// Port that is not free.
        port: u16,
    },
    /// A flow starts at [`Time::NEVER`].
    NeverStarts {
        /// Name of the flow.
        flow: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Link { name, error } => write!(f, "link {name}: {error}"),
            BuildError::Channel { name, error } => write!(f, "channel {name}: {error}"),
            BuildError::Loop { name } => write!(f, "link {name} ends where it starts"),
            BuildError::Unreachable { flow, from, to } => {
                write!(f, "flow {flow}: no path from {from} to {to}")
            }
            BuildError::NotAHost { flow, node } => {
                write!(f, "flow {flow}: {node} is a router; flows start and end at hosts")
            }
            BuildError::SameHost { flow, node } => {
                write!(f, "flow {flow} starts and ends at {node}")
            }
            BuildError::PortInUse { flow, node, port } => {
                write!(f, "flow {flow}: port {port} of {node} is in use")
            }
            BuildError::Indistinct { flow, node, taken } => {
                write!(f, "flow {flow}: {taken} at {node}")
            }
            BuildError::NotFree { listener, node, port } => {
                write!(f, "listener {listener}: port {port} of {node} is in use")
            }
            BuildError::NeverStarts { flow } => write!(f, "flow {flow} never starts"),
        }
    }
}

impl std::error::Error for BuildError {}

impl<E> Default for SimulationBuilder<E> {
    fn default() -> Self {
        SimulationBuilder {
            topology: Topology::default(),
            node_names: Vec::new(),
            links: Vec::new(),
            link_names: Vec::new(),
            regulators: Regulators::default(),
            channels: Channels::default(),
            atm: None,
            line_names: Vec::new(),
            stations: Vec::new(),
            endpoints: Vec::new(),
            flows: Vec::new(),
            bound: Vec::new(),
            also_bound: Vec::new(),
            shared: BTreeSet::new(),
            owners: BTreeMap::new(),
            flow_names: Vec::new(),
            name_index: BTreeMap::new(),
            schedule: Vec::new(),
            context: AppContext::new(),
            icmp: false,
            ipv6: Vec::new(),
            icmp_limits: IcmpLimits::NONE,
            hosts: Vec::new(),
            outside: Vec::new(),
            offload: Vec::new(),
            agents: Agents::default(),
            overheard: Vec::new(),
            error: None,
        }
    }
}

impl<E: FlowEndpoint> SimulationBuilder<E> {
    /// Makes a builder without nodes, links and flows.
    pub fn new() -> SimulationBuilder<E> {
        SimulationBuilder::default()
    }

    /// Adds a host, where flows start and end; it does not forward.
    pub fn host(&mut self, name: &str) -> NodeId {
        self.node_names.push(name.to_owned());
        self.topology.add_node(false)
    }

    /// Adds a further interface to `host`, itself not one: a node with links
    /// and an address of its own. Packets for it reach the host's endpoints,
    /// and endpoints send over it by naming it as the source. It does not
    /// forward, not even to its host's other interfaces.
    ///
    /// # Panics
    /// When `host` is an interface.
    pub fn interface(&mut self, host: NodeId, name: &str) -> NodeId {
        assert!(!self.owners.contains_key(&host), "an interface belongs to a host");
        let interface = self.host(name);
        self.owners.insert(interface, host);
        interface
    }

    /// The host of an interface; any other node itself.
    fn owner(&self, node: NodeId) -> NodeId {
        self.owners.get(&node).copied().unwrap_or(node)
    }

    /// What a host does besides passing packets on; once for each host.
    pub fn configure_host(&mut self, host: NodeId, config: HostConfig) {
        if config != HostConfig::default() {
            self.hosts.push((host, config));
        }
    }

    /// The host, with its interfaces, stands outside: see
    /// [`Simulation::departures`].
    pub fn outside(&mut self, host: NodeId) {
        self.outside.push(host);
    }

    /// Segments that the host finds together it answers once, where others
    /// stand outside: see [`Simulation::answer`].
    pub fn receive_offload(&mut self, host: NodeId) {
        self.offload.push(host);
    }

    /// Adds a router, which forwards packets.
    pub fn router(&mut self, name: &str) -> NodeId {
        self.node_names.push(name.to_owned());
        self.topology.add_node(true)
    }

    /// Adds one direction of a link. `generator` feeds its impairments.
    pub fn link(
        &mut self,
        from: NodeId,
        to: NodeId,
        name: &str,
        config: LinkConfig,
        generator: Generator,
    ) -> LinkId {
        let name = name.to_owned();
        if let Err(error) = config.validate() {
            self.fail(BuildError::Link { name: name.clone(), error });
        } else if from == to {
            self.fail(BuildError::Loop { name: name.clone() });
        }
        self.links.push(Link::new(&config, generator));
        self.link_names.push(name);
        self.topology.add_link(from, to)
    }

    /// Lets links share a capacity; each is given with its own rate, has an
    /// explicit transmitter and is in no other channel.
    pub fn channel(&mut self, name: &str, config: ChannelConfig, links: &[(LinkId, Rate)]) {
        if let Err(error) = config.validate() {
            self.fail(BuildError::Channel { name: name.to_owned(), error });
        }
        self.channels.of_link.resize(self.links.len(), channel::NONE);
        for (link, _) in links {
            self.channels.of_link[link.0 as usize] = self.channels.list.len() as u32;
        }
        self.channels.list.push(Channel::new(config, links, &mut self.links));
    }

    /// Makes the lines of links virtual channels over these ATM lines; once, with all of them. Each
    /// link is given in both directions, one after the other, and has a transmitter of cells.
    pub fn atm(&mut self, lines: &[(String, LineConfig)], ways: &[DirectionConfig]) {
        for (name, line) in lines {
            if let Err(error) = line.validate() {
                self.fail(BuildError::Channel { name: name.clone(), error });
            }
        }
        for way in ways {
            let link = way.link.0 as usize;
            if let Err(error) = way.source.validate(self.links[link].mtu()) {
                let name = self.link_names[link].clone();
                self.fail(BuildError::Link { name, error });
            }
        }
        if self.error.is_none() {
            let configs: Vec<LineConfig> = lines.iter().map(|line| line.1.clone()).collect();
            self.atm = Some(Box::new(Atm::new(&configs, ways)));
        }
        self.line_names = lines.iter().map(|line| line.0.clone()).collect();
    }

    /// Puts a regulator into the router that `forward` leaves: it holds ACKs
    /// that come over `reverse`, by the state of `forward`, whose configuration
    /// is `link`.
    pub fn regulator(
        &mut self,
        forward: LinkId,
        link: &LinkConfig,
        reverse: LinkId,
        config: &RegulatorConfig,
    ) {
        let (from, to) = self.topology.ends(forward);
        let fault = if self.topology.ends(reverse) != (to, from) {
            Some("a link that goes back as `reverse`")
        } else if !self.topology.is_router(from) {
            Some("a link that leaves a router")
        } else if self.regulators.of_link.contains_key(&forward) {
            Some("one regulator for each direction of a link")
        } else {
            None
        };
        let name = self.link_names[forward.0 as usize].clone();
        let fault = fault.map(|allowed| ConfigError::new("regulator", &name, allowed));
        if let Some(error) = fault.or(config.validate(link).err()) {
            return self.fail(BuildError::Link { name, error });
        }
        self.regulators.of_link.insert(forward, self.stations.len());
        self.regulators.list.push(Regulator::new(config, link));
        self.regulators.places.push((forward, from));
        self.stations.push(reverse);
    }

    /// Spreads flows over all shortest paths by their hash; else the link that
    /// was added first is taken.
    pub fn multipath(&mut self, multipath: bool) {
        self.topology.set_multipath(multipath);
    }

    /// Nodes answer packets that they drop with ICMP errors: packet too big,
    /// time exceeded, no route, port unreachable. Off at first.
    pub fn icmp(&mut self, on: bool) {
        self.icmp = on;
    }

    /// The address of `node` is of IPv6: the headers of packets to it are 20
    /// octets longer.
    pub fn ipv6(&mut self, node: NodeId) {
        self.ipv6.push(node);
    }

    /// Limits how many ICMP errors nodes send; at first there is no limit.
    pub fn icmp_limits(&mut self, limits: IcmpLimits) {
        self.icmp_limits = limits;
    }

    /// The address of a node, for its endpoints.
    pub fn addr(&self, node: NodeId) -> Addr {
        self.topology.addr(node)
    }

    /// Adds a flow, and returns its number.
    pub fn flow(&mut self, spec: FlowSpec<E>) -> FlowId {
        let id = FlowId(self.flows.len() as u32);
        assert!(id.0 < 1 << 30, "a simulation has fewer than 2^30 flows");
        let (client, server) = (&spec.client_app, &spec.server_app);
        let channels = [client, server].map(|app| ChannelId::open(app, &mut self.context));
        let name = self.intern(spec.name);
        self.flows.push(Flow { start: spec.start, name, is_deceived: false });
        self.bound.push([spec.client, spec.server]);
        if let App::Traffic(Traffic::Requests { barrier: Some(barrier), .. }) = client {
            self.context.join(*barrier, self.context.sources.len() as u32, id.0 << 1);
        }
        self.endpoints.push(Hosted {
            endpoint: spec.client_endpoint,
            app: AppState::new(client, server, channels, spec.octets, &mut self.context),
        });
        self.endpoints.push(Hosted {
            endpoint: spec.server_endpoint,
            app: AppState::new(
                server,
                client,
                [channels[1], channels[0]],
                spec.octets,
                &mut self.context,
            ),
        });
        let [client, server] = [id.endpoint(Side::Client), id.endpoint(Side::Server)]
            .map(|number| self.endpoints[number as usize].app.source_number());
        if let (Some(client), Some(server)) = (client, server) {
            self.context.sources[client].set_server(server as u32);
        }
        if spec.start == Time::NEVER {
            let flow = self.flow_names[name as usize].clone();
            self.fail(BuildError::NeverStarts { flow });
        }
        self.schedule.push(Scheduled::start(spec.start, id));
        if let Some(stop) = spec.stop.filter(|stop| *stop != Time::NEVER) {
            self.schedule.push(Scheduled::stop(stop, id));
        }
        id
    }

    /// The simulation, at time zero.
    pub fn build(mut self) -> Result<Simulation<E>, BuildError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let routes = self.topology.routes();
        let nodes = self.node_names.len();
        let mut known = Vec::new();
        for (index, sides) in self.bound.iter().enumerate() {
            let name = || self.flow_names[self.flows[index].name as usize].clone();
            let node_name = |node: NodeId| self.node_names[node.0 as usize].clone();
            if let Some((node, _)) = sides.iter().find(|side| self.topology.is_router(side.0)) {
                return Err(BuildError::NotAHost { flow: name(), node: node_name(*node) });
            }
            let [(client, _), (server, _)] = *sides;
            if self.owner(client) == self.owner(server) {
                return Err(BuildError::SameHost { flow: name(), node: node_name(client) });
            }
            // Many flows of one pair of hosts follow each other.
            if known.last() == Some(&(client, server)) {
                continue;
            }
            known.push((client, server));
            for (from, to) in [(client, server), (server, client)] {
                if !self.topology.reaches(&routes, from, to) {
                    let (from, to) = (node_name(from), node_name(to));
                    return Err(BuildError::Unreachable { flow: name(), from, to });
                }
            }
        }
        let pairs = self.interface_pairs(&known);
        let [ports, ports_outside] = self.bind_ports()?;
        let agents = self.finish_agents();
        let is_outside = |node: NodeId| self.outside.contains(&self.owner(node));
        let outside = (0..nodes as u32).map(NodeId).map(is_outside).collect();
        let offload = |node| self.offload.contains(&self.owner(node));
        let offload = Offload::new((0..nodes as u32).map(NodeId).map(offload).collect());
        let outside = || Box::new(Outside::new(outside, ports_outside, offload));
        let outside = (!self.outside.is_empty()).then(outside);
        self.schedule.sort();
        let node_count = self.node_names.len() as u32;
        let nodes = (0..node_count).map(NodeId);
        let layout = Layout {
            starts: (0..self.links.len() as u32).map(|i| self.topology.ends(LinkId(i)).0).collect(),
            owners: nodes.clone().map(|node| self.owner(node)).collect(),
        };
        let starts = (0..self.links.len() as u32).map(|i| self.topology.ends(LinkId(i)).0);
        let of_endpoints = self.bound.iter().flatten().map(|bound| self.owner(bound.0));
        let owners = nodes.clone().map(|node| self.owner(node));
        let hosts = Hosts::new(&self.hosts, owners, starts, of_endpoints);
        let ends = (0..self.links.len() as u32).map(|i| self.topology.ends(LinkId(i)).1);
        let mut ends: Vec<NodeId> = ends.collect();
        for (station, reverse) in (node_count..).zip(&self.stations) {
            ends[reverse.0 as usize] = NodeId(station);
        }
        let is_router = nodes.map(|node| self.topology.is_router(node));
        let mut ipv6 = vec![false; node_count as usize];
        for node in &self.ipv6 {
            ipv6[node.0 as usize] = true;
        }
        let sources = self.links.len() + self.stations.len() + self.channels.list.len();
        let sources = sources + usize::from(self.atm.is_some());
        self.channels.of_link.resize(self.links.len(), channel::NONE);
        let mut network = Network {
            now: Time::ZERO,
            events: Tournament::new(sources),
            ends,
            links: self.links,
            pool: PacketPool::with_ipv6(ipv6),
            routes,
            is_router: is_router.chain(self.stations.iter().map(|_| false)).collect(),
            regulators: self.regulators,
            channels: self.channels,
            atm: self.atm,
            observers: Observers::default(),
            watched: false,
            hosts,
            feeders: Feeders::default(),
            boundary: None,
            settled: None,
            handled: 0,
            reached: 0,
            drops: NodeDrops::default(),
            icmp: self.icmp,
            icmp_limiter: IcmpLimiter::new(self.icmp_limits),
            forged: agents.iter().flat_map(|agent| agent.forged()).collect(),
        };
        network.set_watched();
        if outside.is_none() && agents.is_none() {
            network.elide(&pairs);
        }
        let mut sim = Simulation {
            network,
            timers: EventQueue::new(
                self.endpoints.len() + agents.as_ref().map_or(0, |agent| agent.len()),
            ),
            endpoints: self.endpoints,
            flows: self.flows,
            ports,
            schedule: self.schedule,
            next_scheduled: 0,
            unfinished: 0,
            host_events: 0,
            last_timer: 0,
            context: self.context,
            memories: Memories::default(),
            outside,
            agents,
            trace_hash: None,
            layout,
            foreign: Vec::new(),
            node_names: self.node_names,
            link_names: self.link_names,
            line_names: self.line_names,
            flow_names: self.flow_names,
        };
        for (at, flow) in self.overheard.into_iter().enumerate() {
            if let Some(flow) = flow {
                sim.overhear(at, flow);
            }
        }
        sim.set_agents();
        sim.unfinished = sim.endpoints.iter().filter(|endpoint| !endpoint.app.is_over()).count();
        Ok(sim)
    }

    fn fail(&mut self, error: BuildError) {
        self.error.get_or_insert(error);
    }

    fn intern(&mut self, name: String) -> u32 {
        if let Some(index) = self.name_index.get(&name) {
            return *index;
        }
        let index = self.flow_names.len() as u32;
        self.flow_names.push(name.clone());
        self.name_index.insert(name, index);
        index
    }
}
