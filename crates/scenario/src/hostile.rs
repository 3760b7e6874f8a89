//! Listening ports and attacks of a scenario, made.

use crate::build::BuiltFlow;
use crate::graph::Graph;
use crate::schema::attack::MOST_ADDRESSES;
use crate::schema::{AttackSpec, ListenSpec, Protocol, Scenario};
use crate::transport::Transport;
use anabranch_attack::peer::Manner;
use anabranch_attack::{Misbehaving, Plan, Sight, Source, Target};
use anabranch_endpoint::{Demultiplex, Listen, ListenReport, Seed};
use anabranch_sim::{App, NodeId, SimulationBuilder};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, AddressBook, Packet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Addresses from here on are nobody's: far above those of nodes, and within what an
/// address book gives an address of IPv4 (10.16.0.1 and up).
const FIRST_FORGED: u32 = 1 << 20;
/// Time between two looks at the memory of hosts that are attacked or listen, in a short run.
const LOOK_EVERY: Span = Span::from_millis(5);
/// Most looks at the memory of a host in a run.
const LOOKS: u64 = 10_000;

/// A port of TCP: a listener for each address of its host.
struct TcpPort(BTreeMap<Addr, anabranch_tcp::Listener>);

impl Listen<Transport> for TcpPort {
    fn handle_input(&mut self, now: Time, packet: &Packet) -> bool {
        let Some(listener) = self.0.get_mut(&packet.dst) else { return false };
        listener.handle_input(now, packet);
        true
    }

    fn handle_timeout(&mut self, now: Time) {
        self.0.values_mut().for_each(|item| item.handle_timeout(now));
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.0.values_mut().find_map(|item| item.poll_transmit(now))
    }

    fn poll_timeout(&self) -> Time {
        self.0.values().map(anabranch_tcp::Listener::poll_timeout).min().unwrap_or(Time::NEVER)
    }

    fn accept(&mut self) -> Option<Transport> {
        self.0.values_mut().find_map(anabranch_tcp::Listener::accept).map(Transport::from)
    }

    fn succeed(&mut self, old: &Transport) {
        let Transport::Tcp(connection) = old else { return };
        if let Some(listener) = self.0.get_mut(&connection.flow_key().src) {
            listener.succeed(connection.past());
        }
    }

    fn report(&self) -> ListenReport {
        let mut report = ListenReport::default();
        for item in self.0.values() {
            let (counters, (half_open, waiting)) = (item.counters(), item.lengths());
            report.half_open += half_open;
            report.waiting += waiting;
            report.held += item.memory();
            report.dropped += counters.dropped_syns;
            report.cookies_sent += counters.cookies_sent;
            report.cookies_accepted += counters.cookies_accepted;
            report.overflows += counters.overflows;
        }
        report
    }
}

/// A port of Multipath TCP, and the tokens of connections that it let go of.
struct MptcpPort {
    listener: anabranch_mptcp::Listener,
    tokens: BTreeSet<u32>,
}

impl Listen<Transport> for MptcpPort {
    fn handle_input(&mut self, now: Time, packet: &Packet) -> bool {
        let tokens = &self.tokens;
        self.listener.handle_input(now, packet, |token| tokens.contains(&token))
    }

    fn handle_timeout(&mut self, now: Time) {
        self.listener.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.listener.poll_transmit(now)
    }

    fn poll_timeout(&self) -> Time {
        self.listener.poll_timeout()
    }

    fn accept(&mut self) -> Option<Transport> {
        self.listener.accept().map(Transport::from)
    }

    fn note_token(&mut self, token: u32, taken: bool) {
        match taken {
            true => _ = self.tokens.insert(token),
            false => _ = self.tokens.remove(&token),
        }
    }

    fn report(&self) -> ListenReport {
        let (half_open, waiting) = self.listener.lengths();
        let counters = self.listener.counters();
        ListenReport {
            half_open,
            waiting,
            held: self.listener.memory(),
            dropped: counters.dropped_syns,
            cookies_sent: counters.cookies_sent,
            cookies_accepted: counters.cookies_accepted,
            overflows: counters.overflows,
        }
    }
}

/// A port of SCTP, with one listener for all addresses of its host.
struct SctpPort(anabranch_sctp::Listener);

impl Listen<Transport> for SctpPort {
    fn handle_input(&mut self, now: Time, packet: &Packet) -> bool {
        self.0.handle_input(now, packet);
        true
    }

    fn handle_timeout(&mut self, now: Time) {
        self.0.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.0.poll_transmit(now)
    }

    fn poll_timeout(&self) -> Time {
        self.0.poll_timeout()
    }

    fn accept(&mut self) -> Option<Transport> {
        self.0.accept().map(Transport::from)
    }

    fn report(&self) -> ListenReport {
        let counters = self.0.counters();
        ListenReport {
            waiting: self.0.waiting(),
            held: self.0.memory(),
            cookies_sent: counters.cookies_sent,
            cookies_accepted: counters.cookies_accepted,
            overflows: counters.overflows,
            ..ListenReport::default()
        }
    }
}

/// What makes listening ports and attackers.
pub(crate) struct Hostile<'a> {
    pub scenario: &'a Scenario,
    pub graph: &'a Graph<'a>,
    pub nodes: &'a [NodeId],
    pub book: &'a Arc<AddressBook>,
    pub seed: Seed,
}

impl Hostile<'_> {
    /// Adds the listening ports of hosts of this world: of others, `is_outside`, the kernel
    /// listens.
    pub(crate) fn listen(
        &self,
        builder: &mut SimulationBuilder<Transport>,
        is_outside: impl Fn(&str) -> bool,
    ) {
        for spec in self.scenario.listeners.iter().filter(|listener| !is_outside(&listener.host)) {
            let first = self.graph.interface(&spec.host).expect("names are checked");
            let app = match spec.respond {
                None => App::Sink,
                Some(octets) => App::BulkAndSink { bytes: Some(octets) },
            };
            builder.listen(anabranch_sim::ListenSpec {
                name: spec.name.clone(),
                host: self.nodes[first],
                port: spec.port,
                protocol: if matches!(spec.protocol, Protocol::Sctp(_)) { 132 } else { 6 },
                listener: self.listener(spec, first),
                app,
                most: spec.connections,
            });
        }
    }

    fn listener(&self, spec: &ListenSpec, first: usize) -> Box<dyn Listen<Transport> + Send> {
        let addresses: Vec<Addr> =
            self.graph.siblings(first).map(|node| Addr(self.nodes[node].0)).collect();
        let generator = |what: &str| self.seed.generator(&format!("listen {} {what}", spec.name));
        match &spec.protocol {
            Protocol::Tcp(config) => {
                let config = Arc::new(config.as_ref().clone());
                let listener = |addr: Addr| {
                    let (local, generator) = ((addr, spec.port), generator(&addr.0.to_string()));
                    let listener =
                        anabranch_tcp::Listener::new(config.clone(), spec.limits, local, generator);
                    (addr, listener)
                };
                Box::new(TcpPort(addresses.into_iter().map(listener).collect()))
            }
            Protocol::Mptcp(config) => {
                let config =
                    anabranch_mptcp::Config { book: self.book.clone(), ..config.as_ref().clone() };
                let numbered: Vec<_> = (0..).zip(addresses).collect();
                let backlog = spec.limits.backlog;
                let listener = anabranch_mptcp::Listener::new(
                    config,
                    &numbered,
                    spec.port,
                    backlog,
                    generator("server"),
                );
                let limits = spec.limits;
                let listener =
                    listener.with_half_open(limits.half_open).with_cookies(limits.cookies);
                Box::new(MptcpPort { listener, tokens: BTreeSet::new() })
            }
            Protocol::Sctp(sctp) => {
                let local = (addresses.as_slice(), spec.port);
                let (config, backlog) = (sctp.config.clone(), spec.limits.backlog);
                let generator = generator("server");
                Box::new(SctpPort(anabranch_sctp::Listener::new(config, local, backlog, generator)))
            }
            Protocol::Udp(_) => unreachable!("checked: no port listens for datagrams"),
        }
    }

    /// The ends of the flow `name` of an entry, misbehaving where an attack is a peer's.
    pub(crate) fn corrupt(
        &self,
        entry: usize,
        name: &str,
        mut ends: [Transport; 2],
    ) -> [Transport; 2] {
        let spec = &self.scenario.flows[entry];
        for attack in &self.scenario.attacks {
            let is_peers = attack.kind.info().target == Target::Peer;
            let of_flow =
                attack.flow.as_deref().is_some_and(|flow| flow == name || flow == spec.name);
            if !is_peers || !of_flow {
                continue;
            }
            let owner = |name: &str| {
                self.graph.interface(name).map(|interface| self.graph.owner(interface))
            };
            let (start, end) = dates(attack);
            let manner = Manner { kind: attack.kind, start, end, size: attack.size };
            let [client, server] = ends;
            ends = match owner(&spec.from) == owner(&attack.from) {
                true => [Misbehaving::new(client, manner).into(), server],
                false => [client, Misbehaving::new(server, manner).into()],
            };
        }
        ends
    }

    /// Adds attacks from outside, once the flows are there.
    pub(crate) fn attack(
        &self,
        builder: &mut SimulationBuilder<Transport>,
        flows: &[BuiltFlow],
        key: impl Fn(usize) -> anabranch_wire::FlowKey,
    ) {
        for (number, spec) in (0..).zip(&self.scenario.attacks) {
            let of_flow = |flow: &&BuiltFlow| {
                let entry = &self.scenario.flows[flow.entry].name;
                spec.flow.as_ref().is_some_and(|item| *item == flow.name || item == entry)
            };
            flows.iter().filter(of_flow).for_each(|flow| builder.distrust(flow.id));
            if spec.kind.info().target == Target::Peer {
                continue;
            }
            let node = |name: &str| {
                let node = self.graph.interface(name).expect("names are checked");
                self.nodes[node]
            };
            let (here, to) = (node(&spec.from), spec.to.as_deref().unwrap_or_default());
            let (start, end) = dates(spec);
            let forged = (Addr(FIRST_FORGED + number * MOST_ADDRESSES), spec.addresses);
            let flow = flows.iter().position(|flow| of_flow(&flow));
            let (victim, peer, side) = match flow {
                None => ((Addr(node(to).0), spec.port.unwrap_or(0)), None, 0),
                Some(at) => {
                    let key = key(at);
                    let ends = [(key.src, key.src_port), (key.dst, key.dst_port)];
                    let victims =
                        self.graph.interface(to).map(|interface| self.graph.owner(interface));
                    let owner = self.graph.owner(ends[0].0.0 as usize);
                    let side = (victims != Some(owner)) as usize;
                    (ends[side], Some(ends[1 - side]), side)
                }
            };
            let plan = Plan {
                kind: spec.kind,
                every: spec.every(),
                start,
                end,
                aim: spec.aim,
                size: spec.size,
            };
            let sight = Sight { here: Addr(here.0), forged, victim, peer, side };
            let generator = self.seed.generator(&format!("attack {}", spec.name));
            builder.attack(anabranch_sim::AttackSpec {
                name: spec.name.clone(),
                node: here,
                attacker: Box::new(Source::new(plan, sight, generator)),
                forged,
                overhears: flow.map(|at| flows[at].id),
            });
        }
    }

    /// Looks at the memory of hosts that listen, and of the victims of attacks.
    pub(crate) fn gauge(&self, builder: &mut SimulationBuilder<Transport>) {
        let Some(duration) = self.scenario.duration else { return };
        let owner =
            |name: &str| self.graph.interface(name).map(|interface| self.graph.owner(interface));
        let mut hosts: BTreeSet<&str> = BTreeSet::new();
        hosts.extend(self.scenario.listeners.iter().filter_map(|listener| owner(&listener.host)));
        for attack in &self.scenario.attacks {
            hosts.extend(attack.to.as_deref().and_then(owner));
            if attack.kind.info().target == Target::Peer {
                let is_it = |name: &str| attack.flow.as_deref() == Some(name);
                let named = |flow_spec: &&crate::schema::FlowSpec| {
                    is_it(&flow_spec.name) || flow_spec.names().any(|n| is_it(&n))
                };
                let flow = self.scenario.flows.iter().find(named);
                let ends = flow.into_iter().flat_map(|flow| [owner(&flow.from), owner(&flow.to)]);
                hosts.extend(ends.flatten().filter(|end| Some(*end) != owner(&attack.from)));
            }
        }
        for host in hosts {
            let node = self.nodes[self.graph.interface(host).expect("a host")];
            let every = LOOK_EVERY.max(duration / LOOKS);
            builder.gauge(node, every, Time::ZERO + duration);
        }
    }
}

/// Returns when an attack begins, and when it is over.
fn dates(attack: &AttackSpec) -> (Time, Time) {
    let start = Time::ZERO + attack.start;
    (start, attack.duration.map_or(Time::NEVER, |duration| start.saturating_add(duration)))
}
