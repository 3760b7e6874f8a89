//! A simulation as one of several parts of a run: what it simulates, how far it may go, and what it
//! becomes when the run is over.

use super::{Scheduled, Simulation};
use crate::FlowEndpoint;
use crate::flow::FlowId;
use anabranch_network::LinkId;
use anabranch_units::{Span, Time};

/// The place of an event in the order of all: its date, its class and its source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct EventKey {
    at: Time,
    class: Class,
    source: u32,
}

/// Classes of events, in the order in which those of one date happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Class {
    Schedule,
    Link,
    Timer,
}

const TICK: Span = Span::from_picos(1);

impl<E: FlowEndpoint> Simulation<E> {
    /// Makes this simulation one of `parts` parts: it simulates the endpoints of which `is_mine` is true,
    /// by their numbers, and the nodes of part `mine`. `part_of` has the part of each node.
    pub(crate) fn become_part(&mut self, mine: u32, parts: usize, part_of: &[u32]) {
        let part = |node: anabranch_network::NodeId| part_of[node.0 as usize];
        let is_foreign = |endpoint: &E| part_of[endpoint.flow_key().src.0 as usize] != mine;
        self.foreign = self.endpoints.iter().map(|hosted| is_foreign(&hosted.endpoint)).collect();
        let foreign = &self.foreign;
        let concerns = |scheduled: &Scheduled| {
            let client = (scheduled.flow_and_stop & !1) as usize;
            !foreign[client] || scheduled.flow_and_stop & 1 == 1 && !foreign[client + 1]
        };
        self.schedule.retain(concerns);
        let readers = self.endpoints.iter().zip(&self.foreign);
        self.unfinished =
            readers.filter(|(hosted, is_foreign)| !**is_foreign && !hosted.app.is_over()).count();
        let (mut away, mut here) = (Vec::new(), Vec::new());
        for (index, start) in self.layout.starts.iter().enumerate() {
            let link = LinkId(index as u32);
            match (part(*start), part(self.network.ends[index])) {
                (from, to) if from == to => {}
                (from, to) if from == mine => away.push((link, to)),
                (_, to) if to == mine => here.push(link),
                _ => {}
            }
        }
        self.network.set_boundary(parts, &away, &here);
    }

    /// Simulates up to `end`, its events included. With `to_completion` it stops when its own readers have
    /// all that they wait for, and says at which event.
    pub(crate) fn advance_part(&mut self, end: Time, to_completion: bool) -> Option<EventKey> {
        self.advance(end, to_completion);
        (to_completion && self.unfinished == 0).then(|| self.last_key())
    }

    /// Simulates the events before `stop`; the clock then shows its date.
    pub(crate) fn advance_before(&mut self, stop: EventKey) {
        self.advance(stop.at - TICK, false);
        while let Some(key) = self.first_key().filter(|key| *key < stop) {
            self.handle_one(key);
        }
        self.finish_at(stop);
    }

    /// Shows the clock that the whole run has when the event at `stop` was its last.
    pub(crate) fn finish_at(&mut self, stop: EventKey) {
        self.network.now = stop.at;
        self.network.reached = match stop.class {
            Class::Schedule => 0,
            Class::Link => stop.source + 1,
            Class::Timer => u32::MAX,
        };
        self.network.settle(None);
    }

    /// The place of the event that was handled last.
    fn last_key(&self) -> EventKey {
        let at = self.network.now;
        match self.network.reached {
            0 => {
                let last = self.schedule[self.next_scheduled - 1];
                EventKey { at, class: Class::Schedule, source: last.flow_and_stop }
            }
            u32::MAX => EventKey { at, class: Class::Timer, source: self.last_timer },
            reached => EventKey { at, class: Class::Link, source: reached - 1 },
        }
    }

    /// The place of the event that comes next.
    fn first_key(&self) -> Option<EventKey> {
        let scheduled = self.schedule.get(self.next_scheduled).map(|scheduled| EventKey {
            at: scheduled.at(),
            class: Class::Schedule,
            source: scheduled.flow_and_stop,
        });
        let (at, source) = self.network.events.peek();
        let link = (at != Time::NEVER).then_some(EventKey { at, class: Class::Link, source });
        let timer =
            self.timers.peek().map(|(at, source)| EventKey { at, class: Class::Timer, source });
        [scheduled, link, timer].into_iter().flatten().min()
    }

    /// Handles the event that comes next.
    fn handle_one(&mut self, EventKey { at, class, source }: EventKey) {
        if class == Class::Link {
            if let Some((node, id)) = self.network.handle_event(at, source, at) {
                self.handle_arrival(node, id);
            }
            return;
        }
        self.network.now = at;
        self.network.reached = if class == Class::Schedule { 0 } else { u32::MAX };
        self.host_events += 1;
        match class {
            Class::Schedule => self.handle_scheduled(),
            _ => self.handle_timer(),
        }
    }

    /// Whether the reader of a flow may have all that it waits for at `end`: it has begun, and what is
    /// missing may have come by then.
    pub(crate) fn may_end(&self, index: u32, end: Time) -> bool {
        let (flow, _) = FlowId::of_endpoint(index);
        let crate::app::Hosted { endpoint, app } = &self.endpoints[index as usize];
        if self.flows[flow.0 as usize].start > end {
            return false;
        }
        let missing = app.expected() - app.received;
        // What waits behind a gap is in its memory; the rest has to come over the links of its node.
        let node = endpoint.flow_key().src.0;
        let owner = self.layout.owners[node as usize];
        let span = end.saturating_since(self.network.now);
        let mut may_come = endpoint.memory();
        for (index, end_node) in self.network.ends.iter().enumerate() {
            if self.layout.owners.get(end_node.0 as usize) != Some(&owner) {
                continue;
            }
            let link = &self.network.links[index];
            let Some(octets) = link.most_arriving(span) else { return true };
            may_come = may_come.saturating_add(octets);
        }
        missing <= may_come
    }

    /// Whether the endpoint's application waits for more.
    pub(crate) fn is_waiting(&self, index: u32) -> bool {
        !self.endpoints[index as usize].app.is_over()
    }

    /// Readers that this part simulates and that wait for more.
    pub(crate) fn waiting_readers(&self) -> impl Iterator<Item = u32> {
        let all = self.endpoints.iter().zip(&self.foreign).zip(0..);
        all.filter(|((hosted, is_foreign), _)| !**is_foreign && !hosted.app.is_over())
            .map(|(_, index)| index)
    }
}
