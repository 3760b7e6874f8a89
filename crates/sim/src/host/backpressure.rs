//! What each endpoint has in front of the line, and who waits to be polled.

use anabranch_network::LinkEvent;
use anabranch_units::Time;
use anabranch_wire::{FlowKey, Packet};
use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

#[derive(Debug)]
pub(super) struct Backpressure {
    /// Endpoints by the keys of what they have sent.
    endpoints: BTreeMap<FlowKey, u32>,
    /// Packets of hosts' own that wait, by key and octets: what a port answers has the key of the
    /// endpoint that it becomes.
    own: BTreeMap<(FlowKey, u32), u32>,
    /// What each endpoint has in front of the line, by its number.
    waits: Vec<Wait>,
    hosts: Vec<Host>,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    octets: u64,
    host: u32,
    /// The endpoint is to be polled when less waits.
    is_held: bool,
}

#[derive(Debug)]
struct Host {
    limit: u64,
    /// Transmissions that begin: date, order of coming, endpoint, octets.
    starts: BinaryHeap<Reverse<(Time, u64, u32, u32)>>,
    count: u64,
    /// Number of endpoints that must not be polled now.
    held: u32,
    /// Endpoints that may be polled again, and the time since when the first of them may.
    ready: VecDeque<u32>,
    ready_at: Time,
}

impl Backpressure {
    /// `limits` of the hosts, `None` for one without; `of_endpoints` the host of
    /// each endpoint, a number beyond those of the hosts for another.
    pub(super) fn new(
        limits: impl Iterator<Item = Option<u64>>,
        of_endpoints: impl Iterator<Item = u32>,
    ) -> Backpressure {
        let host = |limit: Option<u64>| Host {
            limit: limit.unwrap_or(u64::MAX),
            starts: BinaryHeap::new(),
            count: 0,
            held: 0,
            ready: VecDeque::new(),
            ready_at: Time::NEVER,
        };
        let hosts: Vec<Host> = limits.map(host).collect();
        let waits = of_endpoints.map(|host| Wait { octets: 0, host, is_held: false }).collect();
        Backpressure { endpoints: BTreeMap::new(), own: BTreeMap::new(), waits, hosts }
    }

    /// An endpoint sends a packet; or the host one of its own, which is nobody's.
    pub(super) fn on_sent(&mut self, endpoint: Option<u32>, packet: &Packet) {
        let (key, size) = (packet.flow_key(), packet.wire_len().0);
        if let Some(endpoint) = endpoint {
            self.endpoints.insert(key, endpoint);
            self.waits[endpoint as usize].octets += size;
        } else {
            *self.own.entry((key, size as u32)).or_default() += 1;
        }
    }

    /// The host of an endpoint that may not be polled now; `None` when it may.
    pub(super) fn refuses(&mut self, now: Time, endpoint: u32) -> Option<u32> {
        let number = self.waits[endpoint as usize].host;
        if number as usize >= self.hosts.len() {
            return None;
        }
        self.advance(now, number);
        let (host, wait) = (&mut self.hosts[number as usize], &mut self.waits[endpoint as usize]);
        let refused = wait.octets > host.limit;
        match (wait.is_held, refused) {
            (true, false) => host.held -= 1,
            (false, true) => host.held += 1,
            _ => {}
        }
        wait.is_held = refused;
        refused.then_some(number)
    }

    pub(super) fn is_held(&self, endpoint: u32) -> bool {
        self.waits[endpoint as usize].is_held
    }

    /// A packet that left the host met a link. What happens to it after its
    /// transmission is of no interest; `offered` tells a drop before.
    pub(super) fn on_link(
        &mut self,
        now: Time,
        host: u32,
        event: LinkEvent,
        packet: &Packet,
        offered: bool,
    ) {
        let starts = match event {
            LinkEvent::Enqueued { starts, .. } => starts.max(now),
            LinkEvent::Starts { .. } | LinkEvent::Removed(_) => now,
            LinkEvent::Dropped(_) if offered => now,
            // The copy waits too.
            LinkEvent::Duplicated => return self.on_sent(self.endpoint(packet), packet),
            _ => return,
        };
        self.stops_waiting(starts, host, packet);
    }

    /// The host's node dropped a packet that was to leave.
    pub(super) fn on_dropped(&mut self, now: Time, host: u32, packet: &Packet) {
        self.stops_waiting(now, host, packet);
    }

    /// The packet does not count as waiting from `starts` on.
    fn stops_waiting(&mut self, starts: Time, host: u32, packet: &Packet) {
        let size = packet.wire_len().0 as u32;
        if let Entry::Occupied(mut own) = self.own.entry((packet.flow_key(), size)) {
            *own.get_mut() -= 1;
            if *own.get() == 0 {
                own.remove();
            }
            return;
        }
        let Some(endpoint) = self.endpoint(packet) else { return };
        let host = &mut self.hosts[host as usize];
        host.count += 1;
        host.starts.push(Reverse((starts, host.count, endpoint, size)));
    }

    /// Returns when [`Backpressure::take_ready`] has something for a host; [`Time::NEVER`] for not
    /// at all.
    pub(super) fn due(&self, host: u32) -> Time {
        let host = &self.hosts[host as usize];
        if !host.ready.is_empty() {
            return host.ready_at;
        }
        let next = host.starts.peek().filter(|_| host.held > 0);
        next.map_or(Time::NEVER, |Reverse(next)| next.0)
    }

    /// An endpoint that may be polled again.
    pub(super) fn take_ready(&mut self, now: Time, host: u32) -> Option<u32> {
        self.advance(now, host);
        self.hosts[host as usize].ready.pop_front()
    }

    /// Transmissions up to `now` have begun.
    fn advance(&mut self, now: Time, host: u32) {
        let host = &mut self.hosts[host as usize];
        while let Some(&Reverse((at, _, endpoint, size))) = host.starts.peek()
            && at <= now
        {
            host.starts.pop();
            let wait = &mut self.waits[endpoint as usize];
            let was_over = wait.octets > host.limit;
            wait.octets -= size as u64;
            if wait.is_held && was_over && wait.octets <= host.limit {
                if host.ready.is_empty() {
                    host.ready_at = now;
                }
                host.ready.push_back(endpoint);
            }
        }
    }

    /// Returns the endpoint that a packet belongs to; the host's own belong to none.
    fn endpoint(&self, packet: &Packet) -> Option<u32> {
        self.endpoints.get(&packet.flow_key()).copied()
    }
}
