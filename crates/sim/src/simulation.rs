//! A simulation: the loop over links, endpoints' timers and flows' dates.
//!
//! Events are ordered by (time, class, source): at one date, first the starts
//! and stops of flows, then links, regulators, hosts and timers, each class by
//! number. A timer is re-armed lazily: its event is only moved to an earlier
//! date, and one that comes too early is set again.

mod agents;
mod offload;
mod outside;
mod part;
mod standing;

use crate::FlowEndpoint;
use crate::agents::Agents;
use crate::app::{AppState, Hosted};
use crate::app_context::AppContext;
use crate::datagrams::DatagramSummary;
use crate::events::EventQueue;
use crate::flow::{FlowId, FlowResult, Side};
use crate::host::HostTask;
use crate::memories::Memories;
use crate::messages::{Delivery, MessageTotals};
use crate::network::Network;
pub use crate::network::NodeDrops;
use crate::observe::{Handle, NodeDrop, Observer, PacketEvent, PacketEventKind, Place, TraceHash};
use crate::outside::{Outside, note_rest};
use crate::ports::{Ports, port};
use crate::traffic::FetchReport;
use anabranch_endpoint::{CloseReason, Event, Observation};
use anabranch_network::abr::PortCounters;
use anabranch_network::{LinkCounters, LinkId, NodeId, PacketId, RegulatorCounters};
use anabranch_units::{Span, Time};
pub(crate) use part::EventKey;
pub use standing::Standing;

/// A simulation of flows between endpoints of type `E`.
pub struct Simulation<E> {
    pub(crate) network: Network,
    /// Two for each flow: client, server.
    pub(crate) endpoints: Vec<Hosted<E>>,
    pub(crate) timers: EventQueue,
    pub(crate) flows: Vec<Flow>,
    pub(crate) ports: Ports,
    pub(crate) schedule: Vec<Scheduled>,
    pub(crate) next_scheduled: usize,
    /// Readers that expect more of a stream of known length.
    pub(crate) unfinished: usize,
    /// Timer events, starts and stops handled.
    pub(crate) host_events: u64,
    /// The endpoint whose timer expired last.
    pub(crate) last_timer: u32,
    pub(crate) context: AppContext,
    pub(crate) memories: Memories,
    /// Hosts outside, where there are some.
    pub(crate) outside: Option<Box<Outside>>,
    /// Listening ports, attackers and gauges, where there are some.
    pub(crate) agents: Option<Box<Agents<E>>>,
    pub(crate) trace_hash: Option<Handle<TraceHash>>,
    pub(crate) layout: Layout,
    /// Endpoints that another part simulates, by their numbers; empty where this is the whole.
    pub(crate) foreign: Vec<bool>,
    pub(crate) node_names: Vec<String>,
    pub(crate) link_names: Vec<String>,
    /// Names of the lines of ATM, in their order.
    pub(crate) line_names: Vec<String>,
    pub(crate) flow_names: Vec<String>,
}

/// Which nodes links join, and which nodes are of one host.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The node at which each link starts.
    pub starts: Vec<NodeId>,
    /// The host of each node that is a further interface; of any other node itself.
    pub owners: Vec<NodeId>,
}

/// What a flow needs beyond its endpoints.
pub(crate) struct Flow {
    pub start: Time,
    pub name: u32,
    /// Somebody deceives its ends.
    pub is_deceived: bool,
}

/// A start or a stop, ordered by date, then flow, start before stop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Scheduled {
    at: Time,
    flow_and_stop: u32,
}

impl Scheduled {
    pub(crate) fn start(at: Time, flow: FlowId) -> Scheduled {
        Scheduled { at, flow_and_stop: flow.0 << 1 }
    }
    pub(crate) fn stop(at: Time, flow: FlowId) -> Scheduled {
        Scheduled { at, flow_and_stop: flow.0 << 1 | 1 }
    }
    /// Returns the date of the start or stop.
    pub(crate) fn at(&self) -> Time {
        self.at
    }
}

impl<E: FlowEndpoint> Simulation<E> {
    /// Runs until `end`, its events included; the clock then shows `end`.
    pub fn run_until(&mut self, end: Time) {
        self.advance(end, false);
        if end != Time::NEVER {
            self.network.now = self.network.now.max(end);
        }
    }

    /// Runs until every stream of known length has reached its reader or its
    /// connection has ended, or until `limit`, or until nothing is pending.
    /// True when all have reached their readers; the clock then shows the date
    /// of the last event.
    pub fn run_to_completion(&mut self, limit: Time) -> bool {
        self.advance(limit, true);
        self.unfinished == 0 && self.endpoints.iter().all(|endpoint| endpoint.app.is_satisfied())
    }

    /// Every stream of known length has reached its reader, or its connection has ended.
    pub fn have_all_ended(&self) -> bool {
        self.unfinished == 0
    }

    /// Attaches an observer; best before the first event.
    ///
    /// # Panics
    /// When it would hear of packets or events, and the run has begun without one that does.
    pub fn attach<O: Observer + Send + 'static>(&mut self, observer: O) -> Handle<O> {
        let handle = self.network.observers.attach(observer);
        self.network.set_watched();
        handle
    }

    /// Returns the attached observer that belongs to the handle.
    pub fn observer<O: 'static>(&self, handle: Handle<O>) -> &O {
        self.network.observers.get(handle)
    }

    /// An attached observer, for change.
    pub fn observer_mut<O: 'static>(&mut self, handle: Handle<O>) -> &mut O {
        self.network.observers.get_mut(handle)
    }

    /// Hashes everything that happens to packets from now on.
    pub fn enable_trace_hash(&mut self) {
        if self.trace_hash.is_none() {
            self.trace_hash = Some(self.attach(TraceHash::new()));
        }
    }

    /// The hash so far, when enabled.
    pub fn trace_hash(&self) -> Option<u64> {
        self.trace_hash.map(|handle| self.observer(handle).value())
    }

    /// Returns the present virtual time.
    pub fn now(&self) -> Time {
        self.network.now
    }

    /// Events handled: of links and regulators, of timers, starts and stops.
    pub fn events(&self) -> u64 {
        self.network.handled + self.host_events
    }

    /// Packets that reached the far end of a link, summed over links.
    pub fn packet_hops(&self) -> u64 {
        self.network.links.iter().map(|link| link.delivered()).sum()
    }

    /// Packets dropped by nodes.
    pub fn node_drops(&self) -> NodeDrops {
        self.network.drops
    }

    /// Number of flows; their ids count from 0.
    pub fn flow_count(&self) -> usize {
        self.flows.len()
    }

    /// Returns what became of a flow so far.
    pub fn flow_result(&self, flow: FlowId) -> FlowResult {
        let (client, server) = (self.hosted(flow, Side::Client), self.hosted(flow, Side::Server));
        let observed = [client.endpoint.observe(), server.endpoint.observe()];
        let sum = |count: fn(&Observation) -> u64| observed.iter().map(count).sum();
        FlowResult {
            start: self.flows[flow.0 as usize].start,
            finish: AppState::finish(&client.app, &server.app),
            bytes: server.app.received,
            reverse_bytes: client.app.received,
            retransmitted_packets: sum(|item| item.retransmitted_packets),
            fast_retransmits: sum(|item| item.fast_retransmits),
            timeouts: sum(|item| item.timeouts),
            undone_reductions: sum(|item| item.undone_reductions),
            tail_loss_probes: sum(|item| item.tail_loss_probes),
            spurious_retransmissions: sum(|item| item.spurious_retransmissions),
            established: client.app.is_established(),
            closed: client.app.closed,
            wrong_octets: client.app.wrong_octets() + server.app.wrong_octets(),
        }
    }

    /// Returns for each request of a flow when it was made, and when the response was whole; empty
    /// for a flow that makes none.
    pub fn exchanges(&self, flow: FlowId) -> &[(Time, Option<Time>)] {
        self.hosted(flow, Side::Client).app.exchanges(&self.context)
    }

    /// What became of the messages that a side of a flow sent, if it sends any.
    pub fn message_totals(&self, flow: FlowId, sender: Side) -> Option<MessageTotals> {
        let channel = self.hosted(flow, sender).app.sent(&self.context)?;
        Some(channel.totals())
    }

    /// Returns the messages that were read, in that order, where they are kept.
    pub fn deliveries(&self, flow: FlowId, sender: Side) -> &[Delivery] {
        let channel = self.hosted(flow, sender).app.sent(&self.context);
        channel.map_or(&[], |channel| channel.deliveries())
    }

    /// What became of the datagrams that a side of a flow sent, if it sends any. Looks at every
    /// packet in the network.
    pub fn datagrams(&self, flow: FlowId, sender: Side) -> Option<DatagramSummary> {
        let Hosted { endpoint, app } = self.hosted(flow, sender);
        let channel = app.sent(&self.context).filter(|channel| channel.has_datagrams())?;
        let (key, pool) = (endpoint.flow_key(), &self.network.pool);
        let under_way = pool.iter().filter(|packet| packet.flow_key() == key).count();
        channel.datagrams(endpoint.observe().packets_sent, under_way as u64)
    }

    /// Reports how a video was watched or pages were loaded up to now; `None` for other flows.
    pub fn fetched(&self, flow: FlowId) -> Option<FetchReport> {
        let number = self.hosted(flow, Side::Client).app.source_number()?;
        self.context.sources[number].report(self.network.now)
    }

    /// Returns the name of a flow, which others may share.
    pub fn flow_name(&self, flow: FlowId) -> &str {
        &self.flow_names[self.flows[flow.0 as usize].name as usize]
    }

    /// Returns the endpoint of a side, as it is now.
    pub fn endpoint(&self, flow: FlowId, side: Side) -> &E {
        &self.hosted(flow, side).endpoint
    }

    /// Links by id, name and counters.
    pub fn links(&self) -> impl Iterator<Item = (LinkId, &str, LinkCounters)> {
        let named = (0..).map(LinkId).zip(&self.link_names);
        named.map(|(link, name)| (link, name.as_str(), self.link_counters(link)))
    }

    /// The counters of a link.
    pub fn link_counters(&self, link: LinkId) -> LinkCounters {
        self.network.counters(link)
    }

    /// What the regulator of a link, the forward link, counts; `None` when it
    /// has none.
    pub fn regulator_counters(&self, link: LinkId) -> Option<RegulatorCounters> {
        let regulators = &self.network.regulators;
        let number = regulators.of_link.get(&link)?;
        Some(regulators.list[*number].counters())
    }

    /// The lines of ATM by number: name, and the counters of both ports by direction.
    pub fn lines(&self) -> impl Iterator<Item = (&str, [PortCounters; 2])> {
        let counters = |line| self.network.atm.as_ref().map(|atm| atm.counters(line));
        let lines = self.line_names.iter().enumerate();
        lines.filter_map(move |(line, name)| Some((name.as_str(), counters(line)?)))
    }

    /// Allowed cell rate of a link whose line is a virtual channel, cells a second.
    pub fn cell_rate(&self, link: LinkId) -> Option<f64> {
        let atm = self.network.atm.as_ref()?;
        atm.has(link).then(|| atm.rate(link))
    }

    /// Returns the name of a link.
    pub fn link_name(&self, link: LinkId) -> &str {
        &self.link_names[link.0 as usize]
    }

    /// Returns the name of a node; `forged` for an address that none has, as attackers forge.
    pub fn node_name(&self, node: NodeId) -> &str {
        self.node_names.get(node.0 as usize).map_or("forged", AsRef::as_ref)
    }

    pub(crate) fn hosted(&self, flow: FlowId, side: Side) -> &Hosted<E> {
        &self.endpoints[flow.0 as usize * 2 + side as usize]
    }

    /// Runs to `end`, from look to look of those observers that hear of states now and then.
    fn advance(&mut self, end: Time, to_completion: bool) {
        if !self.network.observers.looks() {
            return self.advance_to(end, to_completion);
        }
        loop {
            // Before the next event nothing changes that could be seen.
            let look = self.network.observers.next_look(self.next_event());
            self.advance_to(end.min(look), to_completion);
            let is_over =
                look > end || look == Time::NEVER || to_completion && self.unfinished == 0;
            let date = if is_over { self.network.now } else { look };
            let endpoints = &self.endpoints;
            self.network.observers.look(date, |index| &endpoints[index as usize].endpoint);
            if is_over {
                return;
            }
        }
    }

    fn advance_to(&mut self, end: Time, to_completion: bool) {
        self.handle_events(end, to_completion);
        let is_complete = to_completion && self.unfinished == 0;
        self.network.settle((!is_complete).then_some(end));
    }

    fn handle_events(&mut self, end: Time, to_completion: bool) {
        const TICK: Span = Span::from_picos(1);
        while !(to_completion && self.unfinished == 0) {
            let scheduled =
                self.schedule.get(self.next_scheduled).map_or(Time::NEVER, |schedule| schedule.at);
            let (timer, known) = (self.timers.first(), self.network.hosts_due());
            if scheduled != Time::ZERO {
                // Links go before timers at one date, and after starts and stops.
                let before = if scheduled == Time::NEVER { scheduled } else { scheduled - TICK };
                if let Some((node, id)) = self.network.run(end.min(timer).min(known).min(before)) {
                    self.handle_arrival(node, id);
                    continue;
                }
            }
            // A link may have given a host something to do.
            let hosts = self.network.hosts_due();
            if hosts > known {
                // Or taken it: then links go on to what is next instead.
                continue;
            }
            let next = scheduled.min(timer).min(hosts);
            if next > end || next == Time::NEVER {
                return;
            }
            self.network.now = next;
            self.network.reached = if scheduled == next { 0 } else { u32::MAX };
            self.host_events += 1;
            if scheduled == next {
                self.handle_scheduled();
            } else if hosts == next {
                self.handle_host();
            } else {
                self.handle_timer();
            }
            self.end_event();
        }
    }

    /// A packet reached the host that it is addressed to.
    #[inline(always)]
    fn handle_arrival(&mut self, node: NodeId, id: PacketId) {
        if self.network.pool.is_damaged(id) {
            self.network.drop(node, id, NodeDrop::Checksum);
            return self.end_event();
        }
        if !self.network.forged.is_empty() && self.return_to_forger(node, id) {
            return self.end_event();
        }
        let now = self.network.now;
        let packet = self.network.pool.packet(id);
        if let Some(hosts) = &mut self.network.hosts
            && hosts.receive(now, node, packet)
        {
            self.network.pool.release(id);
            return self.end_event();
        }
        match self.ports.endpoint(node, port(packet)) {
            Some(index) => self.hear(node, index, id),
            None => self.look_for_endpoint(node, id),
        }
        self.end_event();
    }

    /// An endpoint hears of a packet that is of it, which is then gone, and answers.
    #[inline(always)]
    fn hear(&mut self, node: NodeId, index: u32, id: PacketId) {
        let packet = self.network.pool.packet(id);
        let Hosted { endpoint, .. } = &mut self.endpoints[index as usize];
        if !endpoint.accepts(packet) {
            return self.hand_out(node, id);
        }
        if self.network.observers.packets() {
            let kind = PacketEventKind::Received;
            let event = PacketEvent {
                kind,
                place: Place::Node(node),
                flow: Some(FlowId::of_endpoint(index)),
            };
            self.network.observers.packet(self.network.now, event, packet);
        }
        if self.outside.as_ref().is_some_and(|outside| outside.offload.is_some()) {
            return self.hear_together(node, index, id);
        }
        endpoint.handle_input(self.network.now, packet);
        self.network.pool.release(id);
        self.service_and_set_timer(index);
    }

    /// A packet at a port that no endpoint has alone.
    #[cold]
    fn look_for_endpoint(&mut self, node: NodeId, id: PacketId) {
        let packet = self.network.pool.packet(id);
        match self.ports.among_shared(node, port(packet), packet, &self.endpoints) {
            Some(index) => self.hear(node, index, id),
            None => self.hand_out(node, id),
        }
    }

    /// A host has something to do.
    #[cold]
    fn handle_host(&mut self) {
        let now = self.network.now;
        let hosts = self.network.hosts.as_mut().expect("only hosts have such events");
        match hosts.next_task(now) {
            HostTask::Send(packet) => self.network.inject(packet),
            HostTask::Poll(index) => self.service_and_set_timer(index),
            HostTask::Nothing => {}
            HostTask::Receive(packet) => {
                let node = NodeId(packet.dst.0);
                let (port, all) = (port(&packet), &self.endpoints);
                let accepts = |index: &u32| all[*index as usize].endpoint.accepts(&packet);
                let alone = self.ports.endpoint(node, port).filter(accepts);
                let among = || self.ports.among_shared(node, port, &packet, all);
                let Some(index) = alone.or_else(among) else {
                    let id = self.network.pool.insert(packet);
                    return self.hand_out(node, id);
                };
                if self.network.observers.packets() {
                    let kind = PacketEventKind::Received;
                    let flow = Some(FlowId::of_endpoint(index));
                    let event = PacketEvent { kind, place: Place::Node(node), flow };
                    self.network.observers.packet(now, event, &packet);
                }
                self.endpoints[index as usize].endpoint.handle_input(now, &packet);
                self.service_and_set_timer(index);
            }
        }
    }

    fn handle_timer(&mut self) {
        let (now, index) = self.timers.peek().expect("a date belongs to a pending timer");
        self.last_timer = index;
        let Some(Hosted { endpoint, app }) = self.endpoints.get_mut(index as usize) else {
            return self.handle_agent(index);
        };
        let mut due = endpoint.poll_timeout().min(app.due(&self.context));
        if due <= now {
            if endpoint.poll_timeout() <= now {
                endpoint.handle_timeout(now);
            }
            if app.due(&self.context) <= now {
                app.handle_timeout(now, endpoint, &mut self.context);
                note_rest(&mut self.context, &mut self.outside, index);
            }
            due = self.service(index);
            if due <= now && self.network.hosts.as_ref().is_some_and(|host| host.is_held(index)) {
                // It waits to be polled, and is called then.
                due = Time::NEVER;
            }
            self.wake();
            assert!(due > now, "handle_timeout leaves no deadline in the past: {due} at {now}");
        }
        self.timers.set(index, due);
    }

    fn handle_scheduled(&mut self) {
        let now = self.network.now;
        let flow_and_stop = self.schedule[self.next_scheduled].flow_and_stop;
        self.next_scheduled += 1;
        let client = flow_and_stop & !1;
        let stops = flow_and_stop & 1 == 1;
        if self.is_foreign(client) {
            // It is an event of the client's part.
            self.host_events -= 1;
        }
        for index in client..=client + stops as u32 {
            if self.is_foreign(index) {
                continue;
            }
            let Hosted { endpoint, app } = &mut self.endpoints[index as usize];
            if stops {
                app.stop(endpoint, &mut self.context);
            } else {
                self.memories.recall(endpoint);
                app.start(now, endpoint, &mut self.context);
            }
            note_rest(&mut self.context, &mut self.outside, index);
            self.service_and_set_timer(index);
        }
    }

    /// Whether another part simulates the endpoint.
    pub(crate) fn is_foreign(&self, index: u32) -> bool {
        self.foreign.get(index as usize) == Some(&true)
    }

    #[inline]
    pub(crate) fn service_and_set_timer(&mut self, index: u32) {
        let due = self.service(index);
        if due < self.timers.date(index) {
            self.timers.set(index, due);
        }
        self.wake();
    }

    /// Applications that others have given a date are called then.
    #[inline]
    fn wake(&mut self) {
        while let Some(index) = self.context.woken.pop() {
            let due = self.endpoints[index as usize].app.due(&self.context);
            if due < self.timers.date(index) {
                self.timers.set(index, due);
            }
        }
    }

    /// Lets an endpoint's application hear its events, sends what the endpoint
    /// has to send, and says when it wants to be called.
    fn service(&mut self, index: u32) -> Time {
        let Hosted { endpoint, app } = &mut self.endpoints[index as usize];
        let now = self.network.now;
        let (flow, side) = FlowId::of_endpoint(index);
        let (mut ended, mut polled) = (false, false);
        loop {
            let mut heard = false;
            while let Some(event) = endpoint.poll_event() {
                heard = true;
                if app.handle_event(now, event, endpoint, &mut self.context) {
                    self.unfinished -= 1;
                }
                let tells = matches!(event, Event::Connected | Event::Closed(_));
                if tells && endpoint.has_learnt() {
                    self.memories.keep(endpoint);
                }
                ended |= event == Event::Closed(CloseReason::Normal);
            }
            // What left may have been news, too: a message that was given up makes room.
            if polled && !heard {
                break;
            }
            while self.network.may_poll(index)
                && let Some(packet) = endpoint.poll_transmit(now)
            {
                self.network.send(packet, (flow, side));
            }
            if heard {
                note_rest(&mut self.context, &mut self.outside, index);
            }
            polled = true;
        }
        if self.network.observers.states() {
            self.network.observers.handled(now, index, endpoint);
        }
        let due = endpoint.poll_timeout().min(app.due(&self.context));
        if ended {
            self.check_whole(index);
        }
        due
    }

    #[inline]
    pub(crate) fn end_event(&mut self) {
        if self.network.observers.events() {
            self.network.after_event();
        }
    }
}

#[cfg(test)]
mod tests;
