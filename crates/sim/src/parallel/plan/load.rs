//! How much there is to do where, and how many times as fast parts are: the model by which a plan is made.

use crate::FlowEndpoint;
use crate::simulation::Simulation;
use anabranch_network::{Link, LinkId, NodeId};
use anabranch_units::{Span, Time};

/// Nanoseconds that a packet costs on a link, two threads to meet, and a packet to cross into another
/// part: measured (docs/performance.md, "One run on several cores").
const HOP_NS: f64 = 100.0;
const MEETING_NS: f64 = 1000.0;
const CROSSING_NS: f64 = 140.0;
/// What is to be done at each node and over each link, in packet-hops, as far as it can be told before, and
/// how many hops there are in a second.
///
/// Flows share links by max-min fairness: the link that has least for each of its flows gives it to them,
/// then the next, and so on. What a flow has to move takes as long as its share needs for it; flows without
/// end are counted for as long as the longest of the others.
pub(super) struct Load {
    /// The nodes that each link joins.
    pub ends: Vec<(usize, usize)>,
    pub nodes: Vec<f64>,
    pub links: Vec<f64>,
    pub hops_per_s: f64,
}

/// Octets that a data packet counts, with its headers.
const SEGMENT: f64 = 1500.0;
/// An ACK for every second segment.
const ACKS: f64 = 0.5;
/// What an endpoint does with a segment, in hops.
const ENDPOINT: f64 = 2.0;

/// The data of one direction of a flow.
struct Stream {
    /// Nodes at which it starts and ends.
    nodes: [usize; 2],
    /// The links that it takes, and those that its ACKs take.
    links: [Vec<usize>; 2],
    /// Octets; infinite without an end.
    octets: f64,
    /// Its share of the links, in octets a second.
    rate: f64,
}

impl Load {
    /// Returns what the flows of a simulation will do.
    pub fn of<E: FlowEndpoint>(simulation: &Simulation<E>) -> Load {
        let network = &simulation.network;
        let starts = simulation.layout.starts.iter();
        let ends = starts.zip(&network.ends).map(|(from, to)| (from.0 as usize, to.0 as usize));
        let mut load = Load {
            ends: ends.collect(),
            nodes: vec![0.0; simulation.layout.owners.len()],
            links: vec![0.0; network.links.len()],
            hops_per_s: 0.0,
        };
        let mut streams = streams(simulation);
        let rate =
            |link: &Link| link.rate_at(Time::ZERO).map_or(0.0, |rate| rate.as_bps() as f64 / 8.0);
        share(&mut streams, network.links.iter().map(rate).collect());
        let seconds = |stream: &Stream| stream.octets / stream.rate;
        let longest = streams.iter().map(seconds).filter(|seconds| seconds.is_finite());
        let longest = longest.fold(0.0, f64::max);
        let longest = if longest > 0.0 { longest } else { 1.0 };
        for stream in &streams {
            let segments = stream.octets.min(stream.rate * longest) / SEGMENT;
            let [from, to] = stream.nodes;
            load.nodes[from] += ENDPOINT * segments;
            load.nodes[to] += ENDPOINT * segments;
            for (links, packets) in stream.links.iter().zip([segments, ACKS * segments]) {
                for link in links {
                    load.links[*link] += packets;
                    load.nodes[load.ends[*link].0] += packets;
                }
            }
        }
        load.hops_per_s = load.links.iter().sum::<f64>() / longest;
        load
    }

    /// How many times as fast `parts` parts are as one: what is to be done in a window by one, and by the
    /// part that has most to do, with what crosses and a meeting.
    pub fn speedup(&self, part_of: &[u32], parts: usize, lookahead: Span) -> f64 {
        let mut most = vec![0.0; parts];
        for (node, work) in self.nodes.iter().enumerate() {
            most[part_of[node] as usize] += work;
        }
        let whole: f64 = self.nodes.iter().sum();
        let hops: f64 = self.links.iter().sum();
        for (link, packets) in self.links.iter().enumerate() {
            let (from, to) = self.ends[link];
            if part_of[from] != part_of[to] {
                most[part_of[from] as usize] += packets * CROSSING_NS / HOP_NS / 2.0;
                most[part_of[to] as usize] += packets * CROSSING_NS / HOP_NS / 2.0;
            }
        }
        if hops == 0.0 {
            return 0.0;
        }
        let most = most.into_iter().fold(0.0, f64::max);
        let hops_in_window = self.hops_per_s * lookahead.as_secs_f64();
        let alone = HOP_NS * hops_in_window;
        alone / (alone * most / whole + 2.0 * MEETING_NS)
    }
}

/// The data of all flows, of both directions.
fn streams<E: FlowEndpoint>(simulation: &Simulation<E>) -> Vec<Stream> {
    let mut streams = Vec::new();
    for pair in simulation.endpoints.chunks_exact(2) {
        let nodes = [0, 1].map(|side| NodeId(pair[side].endpoint.flow_key().src.0));
        let way = |from: usize, to: usize| {
            let mut links = Vec::new();
            let hop = |_, link: LinkId| links.push(link.0 as usize);
            simulation.network.for_each_hop((nodes[from], nodes[to]), hop);
            links
        };
        for (from, to) in [(0, 1), (1, 0)] {
            let octets = match pair[to].app.expected() {
                0 => continue,
                u64::MAX => f64::INFINITY,
                octets => octets as f64,
            };
            streams.push(Stream {
                nodes: [from, to].map(|side| nodes[side].0 as usize),
                links: [way(from, to), way(to, from)],
                octets,
                rate: 0.0,
            });
        }
    }
    streams
}

/// Gives each stream its max-min share of the links, which carry so many octets a second.
fn share(streams: &mut [Stream], mut left: Vec<f64>) {
    let mut users = vec![0_usize; left.len()];
    let mut open: Vec<&mut Stream> = streams.iter_mut().collect();
    for link in open.iter().flat_map(|stream| &stream.links[0]) {
        users[*link] += 1;
    }
    while !open.is_empty() {
        let shares = left.iter().zip(&users).map(|(left, users)| left / *users as f64);
        let tightest = shares.enumerate().filter(|(_, share)| !share.is_nan());
        let Some((tightest, share)) = tightest.min_by(|one, other| one.1.total_cmp(&other.1))
        else {
            return;
        };
        let (done, rest): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|stream| stream.links[0].contains(&tightest));
        if done.is_empty() {
            return;
        }
        for stream in done {
            stream.rate = share.max(1.0);
            for link in &stream.links[0] {
                left[*link] = (left[*link] - share).max(0.0);
                users[*link] -= 1;
            }
        }
        open = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(links: &[usize]) -> Stream {
        let links = [links.to_vec(), Vec::new()];
        Stream { nodes: [0, 1], links, octets: 1.0, rate: 0.0 }
    }

    /// Two links of 10 and 4: of three streams one takes both, and gets half of the narrow one.
    #[test]
    fn shares_are_max_min_fair() {
        let mut streams = [stream(&[0]), stream(&[0, 1]), stream(&[1])];
        share(&mut streams, vec![10.0, 4.0]);
        assert_eq!(streams.map(|stream| stream.rate), [8.0, 2.0, 2.0]);
    }

    /// Two halves that exchange nothing are twice as fast, but for the meetings.
    #[test]
    fn equal_parts_are_twice_as_fast_where_windows_are_long() {
        let load = Load {
            ends: vec![(0, 1), (2, 3), (1, 2)],
            nodes: vec![1.0, 1.0, 1.0, 1.0],
            links: vec![2.0, 2.0, 0.0],
            hops_per_s: 1e6,
        };
        let speedup = |part_of: [u32; 4], us| load.speedup(&part_of, 2, Span::from_micros(us));
        let is = |found: f64, law: f64| assert!((found - law).abs() < 1e-3, "{found}, not {law}");
        is(speedup([0, 0, 1, 1], 100_000), 2.0);
        // 10 hops of 100 ns, half of them each, and two meetings of 1 us.
        is(speedup([0, 0, 1, 1], 10), 1000.0 / (500.0 + 2000.0));
        // Three of four parts of the work, and half of the hops cross.
        is(speedup([0, 0, 0, 1], 100_000), 4.0 / (3.0 + 2.0 * 1.4 / 2.0));
    }
}
