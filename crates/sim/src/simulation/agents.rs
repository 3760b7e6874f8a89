//! What listening ports, attackers and gauges do.
//!
//! All of it is off the path of the usual packet: a listening port hears of what
//! belongs to no endpoint, and the timers of all three are events like those of
//! endpoints, with the numbers after theirs.

use super::Simulation;
use crate::FlowEndpoint;
use crate::agents::{Agent, Agents};
use crate::app::Hosted;
use crate::assault::{Assault, AttackResult, Overheard};
use crate::flow::FlowId;
use crate::gauge::MemoryResult;
use crate::observe::{PacketEvent, PacketEventKind, Place};
use crate::outside::note_rest;
use crate::ports::port;
use crate::reception::ReceptionResult;
use anabranch_endpoint::Event;
use anabranch_network::{NodeId, PacketId};
use anabranch_units::Time;

impl<E: FlowEndpoint> Simulation<E> {
    /// What became of the listening ports, in the order in which they were added.
    pub fn receptions(&self) -> impl Iterator<Item = (&str, ReceptionResult)> {
        let all = self.agents.iter().flat_map(|agent| &agent.receptions);
        all.map(|item| (item.name.as_str(), item.result()))
    }

    /// What attackers have sent, in the order in which they were added.
    pub fn attacks(&self) -> impl Iterator<Item = (&str, AttackResult)> {
        let all = self.agents.iter().flat_map(|agent| &agent.assaults);
        all.map(|item| (item.name.as_str(), item.result))
    }

    /// What gauged hosts have taken in memory.
    pub fn memory(&self) -> impl Iterator<Item = (&str, MemoryResult)> {
        let all = self.agents.iter().flat_map(|agent| &agent.gauges);
        all.map(|item| (self.node_names[item.host.0 as usize].as_str(), item.result))
    }

    /// A packet that is for no endpoint reached a node: true if a listening port or an
    /// attacker has taken it, which is then gone.
    pub(super) fn offer_to_agents(&mut self, node: NodeId, id: PacketId) -> bool {
        let Some(agents) = &self.agents else { return false };
        let packet = self.network.pool.packet(id);
        let Some(agent) = agents.taker(node, port(packet), packet) else { return false };
        match agent {
            Agent::Reception(at) => self.knock(at, node, id),
            Agent::Assault(at) => self.return_to(at, node, id),
            Agent::Gauge(_) => {}
        }
        true
    }

    /// A packet for an attacker came.
    fn return_to(&mut self, at: usize, node: NodeId, id: PacketId) {
        self.tell_received(node, id);
        let packet = self.network.pool.packet(id);
        if let Some(agents) = &mut self.agents {
            let assault = &mut agents.assaults[at];
            assault.result.answers += 1;
            assault.attacker.handle_input(self.network.now, packet);
        }
        self.network.pool.release(id);
        self.with_agents(|item, agents| item.send_attack(agents, at));
        self.set_agent(Agent::Assault(at));
    }

    /// The date of a port, an attacker or a gauge has come.
    #[cold]
    pub(super) fn handle_agent(&mut self, index: u32) {
        let number = index as usize - self.endpoints.len();
        let Some(agent) = self.agents.as_ref().map(|agent| agent.agent(number)) else { return };
        let now = self.network.now;
        self.with_agents(|item, agents| match agent {
            Agent::Reception(at) => {
                if agents.receptions[at].listener.poll_timeout() <= now {
                    agents.receptions[at].listener.handle_timeout(now);
                }
                while let Some(slot) = agents.receptions[at].due_stranger(now) {
                    item.call_stranger(agents, at, slot);
                }
                item.admit(agents, at);
            }
            Agent::Assault(at) => {
                let assault = &mut agents.assaults[at];
                if let Some(handle) = assault.overhears {
                    let last = &item.network.observers.get(handle).last;
                    for (side, packet) in last.iter().enumerate() {
                        packet.iter().for_each(|packet| assault.attacker.overhear(side, packet));
                    }
                }
                assault.attacker.handle_timeout(now);
                item.send_attack(agents, at);
            }
            Agent::Gauge(at) => {
                let host = agents.gauges[at].host;
                let ports = agents.receptions.iter().filter(|reception| reception.host == host);
                let of_ports: u64 = ports.map(|port| port.memory()).sum();
                let gauge = &mut agents.gauges[at];
                let ends = gauge.endpoints.iter().map(|end| &item.endpoints[*end as usize]);
                gauge.look(of_ports + ends.map(|end| end.endpoint.memory()).sum::<u64>());
            }
        });
        self.timers.set(index, Time::NEVER);
        self.set_agent(agent);
        self.wake();
    }

    /// A packet for a listening port that belongs to no connection of a flow.
    fn knock(&mut self, at: usize, node: NodeId, id: PacketId) {
        self.tell_received(node, id);
        let now = self.network.now;
        self.with_agents(|item, agents| {
            let reception = &mut agents.receptions[at];
            let packet = item.network.pool.packet(id);
            let mut known = reception.find(packet);
            if let Some(slot) = known
                && reception.gives_way(slot, packet)
            {
                reception.remove(slot);
                known = None;
            }
            if let Some(slot) = known {
                if let Some(stranger) = reception.hosted(slot) {
                    stranger.endpoint.handle_input(now, packet);
                }
                item.network.pool.release(id);
                item.serve(agents, at, slot);
            } else if reception.listener.handle_input(now, packet) {
                item.network.pool.release(id);
            } else {
                item.network.refuse(node, id);
            }
            item.admit(agents, at);
        });
        self.set_agent(Agent::Reception(at));
        self.wake();
    }

    /// Accepts what waits, sends what the port has to send.
    fn admit(&mut self, agents: &mut Agents<E>, at: usize) {
        let now = self.network.now;
        agents.receptions[at].note();
        while let Some((endpoint, end)) = agents.receptions[at].accept() {
            match end {
                Some(index) => self.adopt(index, endpoint, agents.shares[at]),
                None => {
                    let slot = agents.receptions[at].enter(endpoint, &mut self.context);
                    if let Some(slot) = slot {
                        self.serve(agents, at, slot);
                    }
                }
            }
        }
        while let Some(packet) = agents.receptions[at].listener.poll_transmit(now) {
            self.network.send_of_host(packet);
        }
    }

    /// A connection takes the place of the server's end of a flow.
    fn adopt(&mut self, index: u32, endpoint: E, share: u32) {
        let Hosted { endpoint: place, app } = &mut self.endpoints[index as usize];
        *place = endpoint;
        let joined = self.ports.join_share(share, index, place);
        debug_assert!(joined.is_ok(), "one connection for a pair of addresses and ports");
        let _ = joined;
        if app.handle_event(self.network.now, Event::Connected, place, &mut self.context) {
            self.unfinished -= 1;
        }
        note_rest(&mut self.context, &mut self.outside, index);
        self.service_and_set_timer(index);
    }

    /// The date of a stranger's connection, or of its application, has come.
    fn call_stranger(&mut self, agents: &mut Agents<E>, at: usize, slot: u32) {
        let now = self.network.now;
        if let Some(Hosted { endpoint, app }) = agents.receptions[at].hosted(slot) {
            if endpoint.poll_timeout() <= now {
                endpoint.handle_timeout(now);
            }
            if app.due(&self.context) <= now {
                app.handle_timeout(now, endpoint, &mut self.context);
            }
        }
        self.serve(agents, at, slot);
    }

    /// Lets a stranger's application hear, sends what there is to send, and forgets a
    /// connection that has ended.
    fn serve(&mut self, agents: &mut Agents<E>, at: usize, slot: u32) {
        let now = self.network.now;
        let Some(Hosted { endpoint, app }) = agents.receptions[at].hosted(slot) else { return };
        if !app.is_established() {
            app.handle_event(now, Event::Connected, endpoint, &mut self.context);
        }
        loop {
            let mut heard = false;
            while let Some(event) = endpoint.poll_event() {
                heard = true;
                app.handle_event(now, event, endpoint, &mut self.context);
            }
            while let Some(packet) = endpoint.poll_transmit(now) {
                self.network.send_of_host(packet);
            }
            if !heard {
                break;
            }
        }
        let due = endpoint.poll_timeout().min(app.due(&self.context));
        agents.receptions[at].settle(slot, due);
    }

    fn send_attack(&mut self, agents: &mut Agents<E>, at: usize) {
        let now = self.network.now;
        let assault = &mut agents.assaults[at];
        while let Some(packet) = assault.attacker.poll_transmit(now) {
            assault.result.packets += 1;
            let id = self.network.pool.insert(packet);
            assault.result.bytes += u64::from(self.network.pool.size(id));
            self.network.leave(assault.node, id);
        }
    }

    fn tell_received(&mut self, node: NodeId, id: PacketId) {
        if self.network.observers.packets() {
            let (kind, place) = (PacketEventKind::Received, Place::Node(node));
            let packet = self.network.pool.packet(id);
            let event = PacketEvent { kind, place, flow: None };
            self.network.observers.packet(self.network.now, event, packet);
        }
    }

    /// Calls with the agents taken out.
    fn with_agents(&mut self, call: impl FnOnce(&mut Self, &mut Agents<E>)) {
        let Some(mut agents) = self.agents.take() else { return };
        call(self, &mut agents);
        self.agents = Some(agents);
    }

    /// Arms an agent's event, if it is due earlier than armed.
    fn set_agent(&mut self, agent: Agent) {
        let Some(agents) = &self.agents else { return };
        let index = (self.endpoints.len() + agents.number(agent)) as u32;
        let due = agents.due(agent);
        if due < self.timers.date(index) {
            self.timers.set(index, due);
        }
    }

    /// An attacker hears from now on what the ends of a flow send.
    pub(crate) fn overhear(&mut self, at: usize, flow: FlowId) {
        let handle = self.attach(Overheard::new(flow));
        if let Some(agents) = &mut self.agents {
            agents.assaults[at].overhears = Some(handle);
        }
    }

    /// Arms the events of all, at the start.
    pub(crate) fn set_agents(&mut self) {
        for number in 0..self.agents.as_ref().map_or(0, |agent| agent.len()) {
            if let Some(agents) = &self.agents {
                let agent = agents.agent(number);
                self.set_agent(agent);
            }
        }
    }

    /// A packet to an address that an attacker has forged is that attacker's.
    #[cold]
    pub(super) fn return_to_forger(&mut self, node: NodeId, id: PacketId) -> bool {
        let Some(agents) = &self.agents else { return false };
        let dst = self.network.pool.dst(id);
        let forger = |assault: &Assault| assault.node == node && assault.has_forged(dst);
        let Some(at) = agents.assaults.iter().position(forger) else { return false };
        self.return_to(at, node, id);
        true
    }
}
