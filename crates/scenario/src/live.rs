//! A scenario in real time: the same network and applications, driven by a
//! clock, with external hosts as network namespaces.
//!
//! The ends of flows at external hosts are sockets of the kernel there, unless
//! a program was given for the host: then the program has them. All streams
//! with such an end carry real octets, which are checked where they are read.

mod controls;
mod hosts;
mod precision;

use crate::InputError;
use crate::build::{Built, BuiltFlow, build_with};
use crate::capture::{self, CaptureOptions};
use crate::graph::Graph;
use crate::record::Recorders;
use crate::result::RunResult;
use crate::run::{Clocks, results};
use crate::run_error::RunError;
use crate::schema::{FlowSpec, LinkSpec, Protocol, Scenario, Workload};
use crate::transport::Transport;
use anabranch_custom::catching;
use anabranch_endpoint::{Demultiplex, Seed};
use anabranch_live::{
    End, ExternalHost, KernelDatagrams, KernelSocket, Lateness, Live, LiveError, Program,
    ProgramReport, Reactor, Ready, Role, SocketSettings, Stdio, Token,
};
use anabranch_sim::{FIRST_TAG, FlowId, Side, Simulation};
use anabranch_udp::Framing;
use anabranch_units::{Span, Time};
use anabranch_wire::{AddressBook, FlowKey, ParseError};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use controls::Controls;

pub use anabranch_live::{Stop, enter_user_namespace};
pub use controls::ControlRow;
pub use precision::Precision;

/// Options of a live run that are not in the scenario.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LiveOptions {
    /// Seed of the network's randomness; `None` takes the scenario's.
    pub seed: Option<u64>,
    /// Write packets to this file, as pcapng.
    pub pcap: Option<PathBuf>,
    /// The packets that are written, and how much of each.
    pub capture: CaptureOptions,
    /// Programs by external host: commands for the shell, in which `{HOST}`
    /// stands for the address of a host's first interface.
    pub programs: Vec<(String, String)>,
    /// Folder for what these programs write, each in `HOST.log`.
    pub logs: PathBuf,
    /// A program in the foreground, with the terminal, on the first external
    /// host; the run ends with it.
    pub command: Option<String>,
}

/// The result of a live run.
#[derive(Clone, PartialEq, Debug)]
pub struct LiveResult {
    /// The rows and series that a simulated run has. Of flows with kernel senders the columns that
    /// `TCP_INFO` does not tell are 0: see [`LiveResult::kernel_senders`].
    pub result: RunResult,
    /// The precision of the emulation.
    pub precision: Precision,
    /// Names of the flows whose sender is a kernel.
    pub kernel_senders: Vec<String>,
    /// What kernels told last of their connections.
    pub sockets: Vec<SocketRow>,
    /// The ports of external hosts.
    pub ports: Vec<PortRow>,
    /// Window algorithms of ours that were in the kernel.
    pub controls: Vec<ControlRow>,
    /// Reports of the programs, one for each.
    pub programs: Vec<ProgramReport>,
    /// It was stopped from outside before its end.
    pub stopped: bool,
}

/// What a kernel told last of a connection, or of one of its subflows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SocketRow {
    /// Name of the flow.
    pub flow: String,
    /// Name of the host with the socket.
    pub host: String,
    /// Addresses and ports of a subflow's ends, the host's own first; `None` for a whole
    /// connection.
    pub ends: Option<[SocketAddr; 2]>,
    /// Name of the congestion control of a whole connection, as the kernel says.
    pub congestion_control: Option<String>,
    /// Fields of `TCP_INFO`, or of `MPTCP_INFO` for a Multipath TCP connection.
    pub fields: Vec<(&'static str, u64)>,
}

/// A port of an external host and its counters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortRow {
    /// Names of the device and its host.
    pub name: String,
    /// Totals that the port counted.
    pub counters: anabranch_live::PortCounters,
    /// Why the first of the ignored packets was.
    pub first_ignored: Option<ParseError>,
    /// Why the first of the refused packets was.
    pub first_refused: Option<String>,
    /// How late packets left for the host.
    pub lateness: Lateness,
}

/// Time that programs at the `to` of flows have before those at the `from` start.
const HEAD_START: Duration = Duration::from_millis(300);
/// What connections have to end once everything has arrived.
const PATIENCE: Span = Span::from_secs(3);
/// Time for packets and programs when all connections have ended, beside the way there and back.
const REST: Span = Span::from_millis(100);
/// Time between two looks at a kernel's `TCP_INFO` where a scenario observes.
const SAMPLE: Span = Span::from_millis(5);

/// Runs `scenario` in real time. `started` gets what stops it.
///
/// # Errors
/// [`RunError::Input`] for what cannot be live, [`RunError::Live`] for what the
/// machine lacks or refuses.
pub fn live(
    scenario: &Scenario,
    options: &LiveOptions,
    started: impl FnOnce(Stop),
) -> Result<LiveResult, RunError> {
    let clocks = Clocks::start();
    let seed = Seed { seed: options.seed.unwrap_or(scenario.seed), replication: 0 };
    let graph = Graph::new(scenario);
    scenario.check_bound()?;
    check(scenario, options)?;
    let book = scenario.book();
    let mut controls = Controls::new();
    let has_programs = |name: &str| options.programs.iter().any(|(host, _)| host == name);
    let settings = hosts::settings(scenario, &graph, &book, &mut controls, has_programs)?;
    let reactor = Reactor::new()?;
    let mut ports = Vec::new();
    let mut hosts = Vec::new();
    for setting in &settings {
        let (host, of_host) = ExternalHost::new(setting)?;
        hosts.push(host);
        ports.extend(of_host);
    }

    let mut sockets = Sockets {
        scenario,
        options,
        graph: &graph,
        hosts: &hosts,
        controls: &controls,
        reactor: &reactor,
        book: &book,
        addresses: Arc::new(book.clone()),
    };
    let (mut failure, mut by_programs) = (None, Vec::new());
    let mut external = |id: FlowId, flow: &FlowSpec, side: Side, key: FlowKey| {
        let made = sockets.make(id, flow, side, key);
        let made = made.unwrap_or_else(|error| {
            failure.get_or_insert(error);
            None
        });
        let absent = || KernelSocket::absent(key, &reactor, Token::Endpoint(id, side));
        if made.is_none() {
            by_programs.push((id, side));
        }
        made.unwrap_or_else(|| Transport::Kernel(Box::new(absent())))
    };
    let built = build_with(scenario, seed, Some(&mut external))?;
    if let Some(error) = failure {
        return Err(error.into());
    }
    let Built { mut simulation, flows, links } = built;
    let recorders = Recorders::attach(scenario, &flows, &links, &mut simulation);
    let captured = options.pcap.as_ref().map(|path| {
        capture::start(path, &options.capture, scenario, &flows, &links, &mut simulation)
    });
    let captured = captured.transpose()?;

    let (programs, services) = start_programs(scenario, options, &graph, &hosts, &reactor, &book)?;
    let ends = Ends::new(&flows, by_programs);
    let end = match scenario.duration {
        Some(duration) => End::At(Time::ZERO + duration),
        None => {
            let way = precision::longest_delay(scenario) * 2;
            End::WhenOver { patience: PATIENCE, rest: REST + way }
        }
    };
    let stop = Stop::new(&reactor);
    started(stop.clone());
    let world = Live { simulation, hosts, ports, book, reactor, programs, services };
    let ran = catching(|| {
        world.run(end, &stop, |world| ends.are_over(world), |world| ends.are_closed(world))
    });
    let outcome = ran.map_err(|failure| RunError::Algorithm { at: None, failure })??;

    let mut simulation = outcome.simulation;
    if let Some(captured) = captured {
        captured.finish(&mut simulation)?;
    }
    let result = results(scenario, seed, &simulation, &flows, &links, &recorders, &clocks);
    let is_kernels = |flow: &&BuiltFlow| {
        let sender = simulation.endpoint(flow.id, flow.sender);
        matches!(sender, Transport::Kernel(_) | Transport::KernelUdp(_))
    };
    let kernel_senders = flows.iter().filter(is_kernels).map(|flow| flow.name.clone()).collect();
    let port_row = |(port, lateness): (&anabranch_live::Port, Lateness)| PortRow {
        name: port.name().to_owned(),
        counters: port.counters(),
        first_ignored: port.first_ignored(),
        first_refused: port.first_refused().map(str::to_owned),
        lateness,
    };
    Ok(LiveResult {
        result,
        precision: Precision {
            lateness: outcome.lateness,
            longest_absence: outcome.longest_absence,
            started: outcome.started,
            cpu: outcome.cpu,
            scheduling: outcome.scheduling,
            unprivileged: outcome.unprivileged,
            shortest_round_trip: precision::shortest_round_trip(scenario, &graph),
        },
        kernel_senders,
        sockets: flows.iter().flat_map(|flow| socket_rows(flow, &simulation, &graph)).collect(),
        ports: outcome.ports.iter().zip(outcome.lateness_of_ports).map(port_row).collect(),
        controls: controls.rows(),
        programs: outcome.programs,
        stopped: outcome.stopped,
    })
}

/// What the kernels of both ends of a flow told.
fn socket_rows(
    flow: &BuiltFlow,
    simulation: &Simulation<Transport>,
    graph: &Graph<'_>,
) -> Vec<SocketRow> {
    let mut rows = Vec::new();
    for side in [Side::Client, Side::Server] {
        let Transport::Kernel(socket) = simulation.endpoint(flow.id, side) else { continue };
        let host = graph.owner(socket.flow_key().src.0 as usize).to_owned();
        let row = |ends: Option<_>, fields| SocketRow {
            flow: flow.name.clone(),
            host: host.clone(),
            ends,
            congestion_control: socket
                .congestion_control()
                .filter(|_| ends.is_none())
                .map(str::to_owned),
            fields,
        };
        let (connection, subflows) = socket.multipath();
        if subflows.is_empty() {
            rows.extend(socket.info().map(|info| row(None, info.fields().collect())));
            continue;
        }
        rows.push(row(None, connection));
        rows.extend(subflows.iter().map(|(ends, info)| row(Some(*ends), info.fields().collect())));
    }
    rows
}

/// What a live run asks of a scenario beyond being one.
fn check(scenario: &Scenario, options: &LiveOptions) -> Result<(), InputError> {
    let external = || scenario.hosts.iter().filter(|host| host.external);
    if external().next().is_none() {
        let allowed = "at least one host as a table with `external = true`, in a live run";
        return Err(InputError::field("hosts", "(none is external)", allowed));
    }
    let names: Vec<&str> = external().map(|host| host.name.as_str()).collect();
    for (host, _) in &options.programs {
        if !names.contains(&host.as_str()) {
            let allowed = format!("an external host: {}", names.join(", "));
            return Err(InputError::field("--exec", host, allowed));
        }
    }
    let graph = Graph::new(scenario);
    let mut listening = BTreeSet::new();
    for (i, flow) in scenario.flows.iter().enumerate() {
        if matches!(flow.protocol, Protocol::Udp(_)) && scenario.duration.is_none() {
            let allowed = "a time such as \"10 s\" in a live run with a flow over UDP";
            return Err(InputError::required("duration", allowed));
        }
        let owner = graph.interface(&flow.to).map(|node| graph.owner(node));
        let by_kernel = |host: &str| {
            names.contains(&host) && !options.programs.iter().any(|(name, _)| name == host)
        };
        if let (Some(port), Some(host)) = (flow.port, owner.filter(|host| by_kernel(host)))
            && (!listening.insert((host, port)) || flow.count > 1)
        {
            let allowed =
                "a port of each flow's own where a kernel's sockets listen, in a live run";
            return Err(InputError::field(format!("flows[{i}].port"), port, allowed));
        }
    }
    // RFC 8200 §5; a kernel has no IPv6 on smaller links.
    const LEAST: u64 = 1280;
    let carries_ipv6 = |link: &LinkSpec| {
        link.ends.iter().all(|end| graph.node(end).is_some_and(|node| graph.has_ipv6(node)))
    };
    for (i, link) in scenario.links.iter().enumerate().filter(|(_, link)| carries_ipv6(link)) {
        let mtu = link.forward.mtu.min(link.reverse.mtu);
        if mtu.0 < LEAST {
            let allowed = "at least 1280 B in a live run over IPv6";
            return Err(InputError::field(format!("links[{i}].mtu"), mtu.0.to_string(), allowed));
        }
    }
    for (i, host) in scenario.hosts.iter().enumerate().filter(|(_, host)| host.external) {
        if host.config != anabranch_sim::HostConfig::default() {
            let allowed =
                "neither `processing` nor `backpressure` where a kernel is, in a live run";
            return Err(InputError::field(format!("hosts[{i}]"), &host.name, allowed));
        }
    }
    Ok(())
}

/// Makes the sockets of flows.
struct Sockets<'a> {
    scenario: &'a Scenario,
    options: &'a LiveOptions,
    graph: &'a Graph<'a>,
    hosts: &'a [ExternalHost],
    controls: &'a Controls,
    reactor: &'a Reactor,
    book: &'a AddressBook,
    addresses: Arc<AddressBook>,
}

impl Sockets<'_> {
    /// `None` where a program has the end.
    fn make(
        &mut self,
        id: FlowId,
        flow: &FlowSpec,
        side: Side,
        key: FlowKey,
    ) -> Result<Option<Transport>, LiveError> {
        let owner = self.graph.owner(key.src.0 as usize);
        let (config, multipath) = match &flow.protocol {
            Protocol::Tcp(config) => (config.as_ref(), false),
            Protocol::Mptcp(config) => (&config.subflow, config.enabled),
            Protocol::Sctp(_) => return Ok(None),
            Protocol::Udp(_) => return self.datagrams(id, flow, side, key),
        };
        if self.options.programs.iter().any(|(host, _)| host == owner) {
            return Ok(None);
        }
        let host = self.hosts.iter().find(|host| host.name() == owner);
        let host = host.expect("every external host has been made");
        let address = |addr, port| {
            let ip = self.book.ip(addr).expect("every node has an address");
            SocketAddr::new(ip, port)
        };
        let settings = SocketSettings {
            congestion_control: hosts::sends(flow, side)
                .then(|| self.controls.name(config.window.name()).to_owned()),
            receive_buffer: config
                .receive_buffer_max
                .is_none()
                .then(|| hosts::receive_buffer(config)),
            multipath,
            both_families: multipath && self.graph.has_both_families(key.src.0 as usize),
            book: self.addresses.clone(),
            couplings: hosts::sends(flow, side)
                .then(|| self.controls.couplings(config.window.name()))
                .flatten(),
            sample_every: (!self.scenario.observe.is_empty()).then_some(SAMPLE),
        };
        let role = if side == Side::Client { Role::Client } else { Role::Server };
        let (local, remote) = (address(key.src, key.src_port), address(key.dst, key.dst_port));
        let token = Token::Endpoint(id, side);
        let namespace = host.namespace();
        KernelSocket::new(namespace, self.reactor, token, role, key, local, remote, &settings)
            .map(|socket| Some(Transport::Kernel(Box::new(socket))))
    }

    /// Opens the socket of a flow over UDP; `None` at hosts whose programs have it.
    fn datagrams(
        &self,
        id: FlowId,
        flow: &FlowSpec,
        side: Side,
        key: FlowKey,
    ) -> Result<Option<Transport>, LiveError> {
        let owner = self.graph.owner(key.src.0 as usize);
        if self.options.programs.iter().any(|(host, _)| host == owner) {
            return Ok(None);
        }
        let host = self.hosts.iter().find(|host| host.name() == owner);
        let host = host.expect("every external host has been made");
        let [local, remote] =
            [(key.src, key.src_port), (key.dst, key.dst_port)].map(|(addr, port)| {
                SocketAddr::new(self.book.ip(addr).expect("every node has an address"), port)
            });
        let framing = match &flow.workload {
            // The source has no number of its own here: a side of the flow is one.
            Workload::Voip(call) => Framing::Rtp {
                payload_type: call.codec.payload_type,
                ticks: call.ticks(),
                ssrc: 2 * id.0 + side as u32 + 1,
            },
            _ => Framing::Plain,
        };
        let (namespace, token) = (host.namespace(), Token::Endpoint(id, side));
        let socket = KernelDatagrams::new(
            namespace,
            self.reactor,
            token,
            key,
            local,
            remote,
            framing,
            FIRST_TAG,
        )?;
        Ok(Some(Transport::KernelUdp(Box::new(socket))))
    }
}

impl Ready for Transport {
    fn ready(&mut self, now: Time) {
        match self {
            Transport::Kernel(socket) => socket.ready(now),
            Transport::KernelUdp(socket) => socket.ready(now),
            _ => {}
        }
    }
}

/// The flows that the run waits for, and which of their sides are ours.
struct Ends(Vec<(FlowId, [bool; 2])>);

impl Ends {
    fn new(flows: &[BuiltFlow], by_programs: Vec<(FlowId, Side)>) -> Ends {
        let ours = |flow: &BuiltFlow| {
            let ours = |side| !by_programs.contains(&(flow.id, side));
            (flow.id, [ours(Side::Client), ours(Side::Server)])
        };
        Ends(flows.iter().map(ours).collect())
    }

    fn all(&self, test: impl Fn(FlowId, Side, bool) -> bool) -> bool {
        self.0.iter().all(|(flow, ours)| {
            let sides = [Side::Client, Side::Server].into_iter().zip(ours);
            sides.filter(|(_, ours)| **ours).all(|(side, _)| test(*flow, side, ours[0] && ours[1]))
        })
    }

    /// Everything has arrived. Of a flow whose other end a program has, our end
    /// is over when its connection has ended; one that waits for the program's
    /// is over until it comes.
    fn are_over(&self, simulation: &Simulation<Transport>) -> bool {
        self.all(|flow, side, both| match (both, side) {
            (true, _) => simulation.is_over(flow, side),
            (false, Side::Client) => has_ended(simulation, flow, side),
            (false, Side::Server) => {
                has_ended(simulation, flow, side) || !simulation.is_established(flow, side)
            }
        })
    }

    /// All connections have ended, or never were.
    fn are_closed(&self, simulation: &Simulation<Transport>) -> bool {
        self.all(|flow, side, _| {
            has_ended(simulation, flow, side) || !simulation.is_established(flow, side)
        })
    }
}

/// A side's connection is over. TIME-WAIT is: both sides have ended it, and it would only answer a
/// FIN that comes again, for a minute.
fn has_ended(simulation: &Simulation<Transport>, flow: FlowId, side: Side) -> bool {
    simulation.is_closed(flow, side) || simulation.endpoint(flow, side).is_in_time_wait()
}

/// Starts the programs: those that the run waits for, and those that run as
/// long as it does, at hosts where flows only end.
fn start_programs(
    scenario: &Scenario,
    options: &LiveOptions,
    graph: &Graph<'_>,
    hosts: &[ExternalHost],
    reactor: &Reactor,
    book: &AddressBook,
) -> Result<(Vec<Program>, Vec<Program>), RunError> {
    let addresses = addresses(scenario, graph, book);
    let (mut programs, mut services) = (Vec::new(), Vec::new());
    let owner = |name: &str| graph.interface(name).map(|node| graph.owner(node));
    let start = |host: &ExternalHost, command: &str, stdio, delay| {
        let command = fill(command, &addresses)?;
        let namespace = host.namespace();
        Ok::<_, RunError>(Program::start(namespace, reactor, host.name(), &command, stdio, delay)?)
    };
    for (name, command) in &options.programs {
        let host = hosts.iter().find(|host| host.name() == name).expect("checked before");
        let path = options.logs.join(format!("{name}.log"));
        let log = File::options().create(true).append(true).open(&path);
        let log = log.map_err(|error| RunError::Output { path, error })?;
        let begins = scenario.flows.iter().filter(|flow| owner(&flow.from) == Some(name));
        match begins.map(|begin| begin.start).min() {
            Some(at) => {
                let at = Duration::from_nanos(at.as_nanos()).max(HEAD_START);
                programs.push(start(host, command, Stdio::Log(log), at)?);
            }
            None => services.push(start(host, command, Stdio::Log(log), Duration::ZERO)?),
        }
    }
    if let Some(command) = &options.command {
        programs.push(start(&hosts[0], command, Stdio::Inherited, Duration::ZERO)?);
    }
    Ok((programs, services))
}

/// The address of each host's first interface, and of interfaces by their names.
fn addresses(
    scenario: &Scenario,
    graph: &Graph<'_>,
    book: &AddressBook,
) -> BTreeMap<String, String> {
    let ip = |node: usize| book.ip(anabranch_wire::Addr(node as u32)).map(|ip| ip.to_string());
    let hosts = scenario.hosts.iter().map(|host| host.name.clone());
    let interfaces = graph.interfaces().map(|node| graph.names()[node].clone());
    let address = |name: String| {
        let ip = ip(graph.interface(&name)?)?;
        Some((name, ip))
    };
    hosts.chain(interfaces).filter_map(address).collect()
}

/// Puts addresses for `{HOST}`; other braces, which shells have too, stay.
fn fill(command: &str, addresses: &BTreeMap<String, String>) -> Result<String, RunError> {
    let mut filled = command.to_owned();
    for (name, address) in addresses {
        filled = filled.replace(&format!("{{{name}}}"), address);
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_are_addresses() {
        let addresses = [("b", "10.0.0.2"), ("b.x", "10.0.0.2"), ("c", "10.0.0.3")];
        let addresses = addresses.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        let filled = fill("for i in {b} {b.x} ${c} {d}; do awk '{print}'; done", &addresses);
        let expected = "for i in 10.0.0.2 10.0.0.2 $10.0.0.3 {d}; do awk '{print}'; done";
        assert_eq!(filled.unwrap(), expected);
    }
}
