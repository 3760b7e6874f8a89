//! The parts of a run become one simulation again, which tells what became of everything.

use crate::FlowEndpoint;
use crate::app::Hosted;
use crate::network::NodeDrops;
use crate::simulation::Simulation;
use anabranch_network::LinkId;
use anabranch_units::Time;

/// Puts together what each part has simulated; `part_of` has the part of each node.
pub(super) fn merge<E: FlowEndpoint>(
    mut parts: Vec<Simulation<E>>,
    part_of: &[u32],
) -> Simulation<E> {
    let starts = parts[0].layout.starts.clone();
    let sender = |link: usize| part_of[starts[link].0 as usize] as usize;
    let counters = (0..starts.len())
        .map(|link| parts[sender(link)].network.counters(LinkId(link as u32)))
        .collect();
    hand_over(&mut parts);
    let mut whole = parts.remove(0);
    for (mine, mut part) in (1..).zip(parts) {
        take_endpoints(&mut whole, &mut part);
        take_network(&mut whole, &mut part, |link| sender(link) == mine);
        whole.network.observers.absorb(&mut part.network.observers);
        whole.host_events += part.host_events;
        whole.unfinished += part.unfinished;
        let left = part.next_scheduled.min(part.schedule.len());
        whole.schedule.extend(part.schedule.drain(left..));
    }
    let left = whole.next_scheduled.min(whole.schedule.len());
    whole.schedule.drain(..left);
    whole.next_scheduled = 0;
    whole.schedule.sort();
    whole.schedule.dedup();
    whole.foreign = Vec::new();
    whole.network.settled = Some(counters);
    whole
}

/// Gives each packet that is on its way between parts to the one that it goes to, alone.
fn hand_over<E: FlowEndpoint>(parts: &mut [Simulation<E>]) {
    for from in 0..parts.len() {
        for to in (0..parts.len()).filter(|to| *to != from) {
            let leaving = parts[from].network.take_leaving(to);
            leaving.into_iter().for_each(|crossing| parts[to].network.receive(crossing));
        }
        parts[from].network.forget_crossed();
    }
}

/// Takes the endpoints that `part` has simulated, with their applications' share of what is common.
fn take_endpoints<E: FlowEndpoint>(whole: &mut Simulation<E>, part: &mut Simulation<E>) {
    for index in 0..part.endpoints.len() {
        if part.is_foreign(index as u32) {
            continue;
        }
        let Hosted { app, .. } = &part.endpoints[index];
        let shared = &mut part.context;
        if let Some(source) = app.source_number() {
            std::mem::swap(&mut whole.context.sources[source], &mut shared.sources[source]);
        }
        if let Some(channel) = app.channel_number() {
            std::mem::swap(&mut whole.context.channels[channel], &mut shared.channels[channel]);
        }
        std::mem::swap(&mut whole.endpoints[index], &mut part.endpoints[index]);
        whole.timers.set(index as u32, part.timers.date(index as u32));
    }
}

/// Takes the links of which `starts_here` is true, which start in `part`, the packets in it, and its counts.
fn take_network<E: FlowEndpoint>(
    whole: &mut Simulation<E>,
    part: &mut Simulation<E>,
    starts_here: impl Fn(usize) -> bool,
) {
    let (network, other) = (&mut whole.network, &mut part.network);
    for link in 0..network.links.len() {
        let date = other.events.date(link as u32);
        if date != Time::NEVER {
            network.events.set(link as u32, date);
        }
        if starts_here(link) {
            std::mem::swap(&mut network.links[link], &mut other.links[link]);
        }
    }
    other.pool.iter().for_each(|packet| {
        network.pool.insert(packet.clone());
    });
    network.handled += other.handled;
    let NodeDrops { ttl, no_route, no_endpoint, checksum, icmp_withheld } = other.drops;
    network.drops.ttl += ttl;
    network.drops.no_route += no_route;
    network.drops.no_endpoint += no_endpoint;
    network.drops.checksum += checksum;
    network.drops.icmp_withheld += icmp_withheld;
    network.now = network.now.max(other.now);
}
