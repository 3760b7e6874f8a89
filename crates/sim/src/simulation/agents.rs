//! What listening ports, attackers and gauges do.
//!
//! All of it is off the path of the usual packet: a listening port hears of what
//! belongs to no endpoint, and the timers of all three are events like those of
//! endpoints, with the numbers after theirs.

use super::Simulation;
use crate::agents::{Agent, Agents};
use crate::app::Hosted;
use crate::assault::{Assault, AttackResult, Overheard};
use crate::flow::FlowId;
use crate::gauge::MemoryResult;
use crate::observe::{PacketEvent, PacketEventKind, Place};
use crate::ports::port;
use crate::reception::ReceptionResult;
use anabranch_endpoint::{ByteStream, Event};
use anabranch_network::{NodeId, PacketId};
use anabranch_units::Time;

impl<E: ByteStream> Simulation<E> {
    /// What became of the listening ports, in the order in which they were added.
    pub fn receptions(&self) -> impl Iterator<Item = (&str, ReceptionResult)> {
        let all = self.agents.iter().flat_map(|it| &it.receptions);
        all.map(|it| (it.name.as_str(), it.result()))
    }

    /// What attackers have sent, in the order in which they were added.
    pub fn attacks(&self) -> impl Iterator<Item = (&str, AttackResult)> {
        let all = self.agents.iter().flat_map(|it| &it.assaults);
        all.map(|it| (it.name.as_str(), it.result))
    }

    /// What gauged hosts have taken in memory.
    pub fn memory(&self) -> impl Iterator<Item = (&str, MemoryResult)> {
        let all = self.agents.iter().flat_map(|it| &it.gauges);
        all.map(|it| (self.node_names[it.host.0 as usize].as_str(), it.result))
    }

    /// A packet that is for no endpoint reached a node: true if a listening port or an
    /// attacker has taken it, which is then gone.
    pub(super) fn offer_to_agents(&mut self, node: NodeId, id: PacketId) -> bool {
        let Some(agents) = &self.agents else { return false };
        let packet = self.fabric.pool.packet(id);
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
        let packet = self.fabric.pool.packet(id);
        if let Some(agents) = &mut self.agents {
            let it = &mut agents.assaults[at];
            it.result.answers += 1;
            it.attacker.handle_input(self.fabric.now, packet);
        }
        self.fabric.pool.release(id);
        self.with_agents(|it, agents| it.send_attack(agents, at));
        self.set_agent(Agent::Assault(at));
    }

    /// The date of a port, an attacker or a gauge has come.
    #[cold]
    pub(super) fn handle_agent(&mut self, index: u32) {
        let number = index as usize - self.endpoints.len();
        let Some(agent) = self.agents.as_ref().map(|it| it.agent(number)) else { return };
        let now = self.fabric.now;
        self.with_agents(|it, agents| match agent {
            Agent::Reception(at) => {
                if agents.receptions[at].listener.poll_timeout() <= now {
                    agents.receptions[at].listener.handle_timeout(now);
                }
                while let Some(slot) = agents.receptions[at].due_stranger(now) {
                    it.call_stranger(agents, at, slot);
                }
                it.admit(agents, at);
            }
            Agent::Assault(at) => {
                let assault = &mut agents.assaults[at];
                if let Some(handle) = assault.overhears {
                    let last = &it.fabric.observers.get(handle).last;
                    for (side, packet) in last.iter().enumerate() {
                        packet.iter().for_each(|packet| assault.attacker.overhear(side, packet));
                    }
                }
                assault.attacker.handle_timeout(now);
                it.send_attack(agents, at);
            }
            Agent::Gauge(at) => {
                let host = agents.gauges[at].host;
                let ports = agents.receptions.iter().filter(|it| it.host == host);
                let of_ports: u64 = ports.map(|it| it.memory()).sum();
                let gauge = &mut agents.gauges[at];
                let ends = gauge.endpoints.iter().map(|end| &it.endpoints[*end as usize]);
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
        let now = self.fabric.now;
        self.with_agents(|it, agents| {
            let reception = &mut agents.receptions[at];
            let packet = it.fabric.pool.packet(id);
            let mut known = reception.find(packet);
            if let Some(slot) = known
                && reception.hosted(slot).is_some_and(|it| it.endpoint.gives_way_to(packet))
            {
                reception.remove(slot);
                known = None;
            }
            if let Some(slot) = known {
                if let Some(stranger) = reception.hosted(slot) {
                    stranger.endpoint.handle_input(now, packet);
                }
                it.fabric.pool.release(id);
                it.serve(agents, at, slot);
            } else if reception.listener.handle_input(now, packet) {
                it.fabric.pool.release(id);
            } else {
                it.fabric.refuse(node, id);
            }
            it.admit(agents, at);
        });
        self.set_agent(Agent::Reception(at));
        self.wake();
    }

    /// Accepts what waits, sends what the port has to send.
    fn admit(&mut self, agents: &mut Agents<E>, at: usize) {
        let now = self.fabric.now;
        agents.receptions[at].note();
        while let Some((endpoint, end)) = agents.receptions[at].accept() {
            match end {
                Some(index) => self.adopt(index, endpoint, agents.shares[at]),
                None => {
                    let slot = agents.receptions[at].enter(endpoint, &mut self.stage);
                    if let Some(slot) = slot {
                        self.serve(agents, at, slot);
                    }
                }
            }
        }
        while let Some(packet) = agents.receptions[at].listener.poll_transmit(now) {
            self.fabric.send_of_host(packet);
        }
    }

    /// A connection takes the place of the server's end of a flow.
    fn adopt(&mut self, index: u32, endpoint: E, share: u32) {
        let Hosted { endpoint: place, app } = &mut self.endpoints[index as usize];
        *place = endpoint;
        let joined = self.ports.join_share(share, index, place);
        debug_assert!(joined.is_ok(), "one connection for a pair of addresses and ports");
        let _ = joined;
        if app.handle_event(self.fabric.now, Event::Connected, place, &mut self.stage) {
            self.unfinished -= 1;
        }
        self.service_and_set_timer(index);
    }

    /// The date of a stranger's connection, or of its application, has come.
    fn call_stranger(&mut self, agents: &mut Agents<E>, at: usize, slot: u32) {
        let now = self.fabric.now;
        if let Some(Hosted { endpoint, app }) = agents.receptions[at].hosted(slot) {
            if endpoint.poll_timeout() <= now {
                endpoint.handle_timeout(now);
            }
            if app.due(&self.stage) <= now {
                app.handle_timeout(now, endpoint, &mut self.stage);
            }
        }
        self.serve(agents, at, slot);
    }

    /// Lets a stranger's application hear, sends what there is to send, and forgets a
    /// connection that has ended.
    fn serve(&mut self, agents: &mut Agents<E>, at: usize, slot: u32) {
        let now = self.fabric.now;
        let Some(Hosted { endpoint, app }) = agents.receptions[at].hosted(slot) else { return };
        if !app.is_established() {
            app.handle_event(now, Event::Connected, endpoint, &mut self.stage);
        }
        loop {
            let mut heard = false;
            while let Some(event) = endpoint.poll_event() {
                heard = true;
                app.handle_event(now, event, endpoint, &mut self.stage);
            }
            while let Some(packet) = endpoint.poll_transmit(now) {
                self.fabric.send_of_host(packet);
            }
            if !heard {
                break;
            }
        }
        let due = endpoint.poll_timeout().min(app.due(&self.stage));
        agents.receptions[at].settle(slot, due);
    }

    fn send_attack(&mut self, agents: &mut Agents<E>, at: usize) {
        let now = self.fabric.now;
        let it = &mut agents.assaults[at];
        while let Some(packet) = it.attacker.poll_transmit(now) {
            it.result.packets += 1;
            let id = self.fabric.pool.insert(packet);
            it.result.bytes += u64::from(self.fabric.pool.size(id));
            self.fabric.leave(it.node, id);
        }
    }

    fn tell_received(&mut self, node: NodeId, id: PacketId) {
        if self.fabric.observers.packets() {
            let (kind, place) = (PacketEventKind::Received, Place::Node(node));
            let packet = self.fabric.pool.packet(id);
            let event = PacketEvent { kind, place, flow: None };
            self.fabric.observers.packet(self.fabric.now, event, packet);
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
        for number in 0..self.agents.as_ref().map_or(0, |it| it.len()) {
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
        let dst = self.fabric.pool.dst(id);
        let forger = |it: &Assault| it.node == node && it.has_forged(dst);
        let Some(at) = agents.assaults.iter().position(forger) else { return false };
        self.return_to(at, node, id);
        true
    }
}
