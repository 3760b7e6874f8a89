//! One direction of an association: its data by the address that they went to,
//! which is a path, and the SACKs by the address that they came from.
//!
//! Positions count chunks, from 0. A round trip is measured from a chunk to the
//! first SACK that acknowledges it, in its sequence or in a block, and not from
//! chunks sent again (Karn's rule, RFC 9260 §6.3.1 C5).

use super::super::{ReplayedFlow, View, add};
use super::{Chunk, Seen};
use crate::result::NamedSeries;
use anabranch_units::Serial32;
use anabranch_wire::pcapng::Direction;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// A chunk that was sent: date, position, octets, sent before.
type Send = (u64, u64, u32, bool);

/// What went over one path.
struct Lane {
    /// The address that data goes to.
    to: IpAddr,
    /// The places where data is sent, where it arrives, and where SACKs arrive, for each address at
    /// the near end: a host that lets routing choose its source answers to all of ours from one of
    /// its own.
    views: Vec<(IpAddr, [Option<View>; 3])>,
    sends: Vec<Send>,
    acks: Vec<(u64, u64)>,
    /// Date, first position, chunks.
    sacks: Vec<(u64, u64, u32)>,
    receives: Vec<(u64, u64)>,
    /// Octets that are neither acknowledged nor in a block.
    in_flight: Vec<(u64, u64)>,
    rtt: Vec<(u64, f64)>,
    /// Octets sent and neither acknowledged nor in a block.
    outstanding: u64,
}

/// A chunk that has been sent and not acknowledged.
struct Outstanding {
    lane: usize,
    nanos: u64,
    len: u32,
    again: bool,
}

/// The paths of one direction of an association.
pub(super) struct Lanes {
    start: u64,
    lanes: Vec<Lane>,
    /// Octets of different chunks that have arrived.
    received: Vec<(u64, u64)>,
    packets: u64,
    retransmitted: u64,
    is_over: bool,
    established: bool,
}

impl Lanes {
    /// Finds the data of one direction in the packets of an association; `None` when there was
    /// none.
    pub(super) fn new(seen: &[Seen], forward: bool) -> Option<Lanes> {
        let ours = || seen.iter().filter(|seen| seen.forward == forward);
        let theirs = || seen.iter().filter(|seen| seen.forward != forward);
        let data = || ours().flat_map(|our| &our.chunks).filter_map(tsn);
        data().next()?;
        let first = ours().find_map(|our| our.chunks.iter().find_map(initial));
        let opened = |seen: &Seen| seen.chunks.iter().any(|chunk| initial(chunk).is_some());
        let mut lanes = Lanes {
            start: seen.first()?.nanos,
            lanes: Vec::new(),
            received: Vec::new(),
            packets: 0,
            retransmitted: 0,
            is_over: seen.iter().any(|seen| seen.chunks.contains(&Chunk::ShutdownAck)),
            established: ours().any(opened) && theirs().any(opened),
        };
        for packet in ours().filter(|our| our.chunks.iter().any(|chunk| tsn(chunk).is_some())) {
            lanes.lane(seen, forward, packet.addresses[1]);
        }
        for packet in
            theirs().filter(|their| their.chunks.iter().any(|chunk| acknowledged(chunk).is_some()))
        {
            lanes.lane(seen, forward, packet.addresses[0]);
        }
        lanes.look(seen, forward, first.or_else(|| data().next())?);
        Some(lanes)
    }

    /// The lane to this address; a new one if need be.
    fn lane(&mut self, seen: &[Seen], forward: bool, to: IpAddr) {
        if self.lanes.iter().any(|lane| lane.to == to) {
            return;
        }
        let at = |seen: &Seen| (seen.interface, seen.direction);
        let views = |near: IpAddr| {
            let data = || {
                seen.iter().filter(|seen| seen.forward == forward && seen.addresses == [near, to])
            };
            let back =
                seen.iter().filter(|seen| seen.forward != forward && seen.addresses == [to, near]);
            let sent = View::of(data().map(at), Direction::Outbound, true);
            let arrived = View::of(data().map(at), Direction::Inbound, false);
            [sent, arrived, View::of(back.map(at), Direction::Inbound, true)]
        };
        let ends = seen.iter().map(|seen| seen.ends(forward));
        let near: BTreeSet<IpAddr> = ends.filter(|[_, far]| *far == to).map(|end| end[0]).collect();
        self.lanes.push(Lane {
            to,
            views: near.into_iter().map(|near| (near, views(near))).collect(),
            sends: Vec::new(),
            acks: Vec::new(),
            sacks: Vec::new(),
            receives: Vec::new(),
            in_flight: Vec::new(),
            rtt: Vec::new(),
            outstanding: 0,
        });
    }

    fn look(&mut self, seen: &[Seen], forward: bool, first: Serial32) {
        let (mut sent, mut arrived, mut octets) = (0_u64, BTreeSet::new(), 0);
        let mut outstanding: BTreeMap<u64, Outstanding> = BTreeMap::new();
        let is_receiver_seen =
            self.lanes.iter().flat_map(|lane| &lane.views).any(|(_, views)| views[1].is_some());
        for seen in seen {
            let [near, far] = seen.ends(forward);
            let Some(at) = self.lanes.iter().position(|lane| lane.to == far) else { continue };
            let views = self.lanes[at].views.iter().find(|(address, _)| *address == near);
            let views = views.map_or([None; 3], |(_, views)| *views);
            let here = (seen.interface, seen.direction);
            let [sends, receives, answers] =
                views.map(|view| view.is_some_and(|view| view.has(here)));
            let (mut has_data, mut has_old) = (false, false);
            for chunk in &seen.chunks {
                if seen.forward == forward {
                    let &Chunk::Data { tsn, len } = chunk else { continue };
                    let Some(offset) = tsn.expand(first, sent) else { continue };
                    if sends {
                        let again = offset < sent;
                        (has_data, has_old) = (true, has_old || again);
                        sent = sent.max(offset + 1);
                        self.send(&mut outstanding, at, (seen.nanos, offset, len, again));
                    }
                    if receives {
                        self.lanes[at].receives.push((seen.nanos, offset));
                        if arrived.insert(offset) {
                            octets += u64::from(len);
                            self.received.push((seen.nanos, octets));
                        }
                    }
                } else if let Some((cum, gaps)) = acknowledged(chunk).filter(|_| answers) {
                    let Some(next) = cum.add(1).expand(first, sent) else { continue };
                    let next = next.min(sent);
                    let lane = &mut self.lanes[at];
                    if matches!(chunk, Chunk::Sack { .. }) {
                        lane.acks.push((seen.nanos, next));
                    }
                    let mut ranges = vec![(0, next)];
                    for &[start, end] in gaps {
                        let from = cum.add(u32::from(start)).expand(first, sent);
                        let chunks = u64::from(end.saturating_sub(start)) + 1;
                        let Some(from) = from.filter(|_| end >= start) else { continue };
                        lane.sacks.push((seen.nanos, from, chunks as u32));
                        ranges.push((from, from + chunks));
                    }
                    let gone = self.acknowledge(&mut outstanding, seen.nanos, &ranges);
                    if !is_receiver_seen && gone > 0 {
                        octets += gone;
                        self.received.push((seen.nanos, octets));
                    }
                }
            }
            self.packets += u64::from(has_data);
            self.retransmitted += u64::from(has_old);
        }
    }

    /// A chunk is sent, on this lane from now on.
    fn send(&mut self, outstanding: &mut BTreeMap<u64, Outstanding>, at: usize, send: Send) {
        let (nanos, offset, len, again) = send;
        let lane = &mut self.lanes[at];
        lane.sends.push(send);
        lane.outstanding += u64::from(len);
        let before = outstanding.insert(offset, Outstanding { lane: at, nanos, len, again });
        if let Some(before) = before {
            let lane = &mut self.lanes[before.lane];
            lane.outstanding -= u64::from(before.len);
            if before.lane != at {
                lane.in_flight.push((nanos, lane.outstanding));
            }
        }
        let lane = &mut self.lanes[at];
        lane.in_flight.push((nanos, lane.outstanding));
    }

    /// What is in one of the ranges is no longer on its way; the octets of it.
    fn acknowledge(
        &mut self,
        outstanding: &mut BTreeMap<u64, Outstanding>,
        nanos: u64,
        ranges: &[(u64, u64)],
    ) -> u64 {
        let mut gone = 0;
        let mut samples: BTreeMap<usize, Option<u64>> = BTreeMap::new();
        for &(from, to) in ranges {
            let numbers: Vec<u64> = outstanding.range(from..to).map(|(n, _)| *n).collect();
            for chunk in numbers.into_iter().filter_map(|n| outstanding.remove(&n)) {
                gone += u64::from(chunk.len);
                self.lanes[chunk.lane].outstanding -= u64::from(chunk.len);
                let sample = samples.entry(chunk.lane).or_default();
                *sample = if chunk.again { *sample } else { (*sample).max(Some(chunk.nanos)) };
            }
        }
        for (at, sample) in samples {
            let lane = &mut self.lanes[at];
            lane.in_flight.push((nanos, lane.outstanding));
            lane.rtt.extend(sample.map(|at| (nanos, (nanos - at) as f64 / 1e9)));
        }
        gone
    }

    /// Returns the row of this direction in the table of flows.
    pub(super) fn row(&self, flow: String) -> ReplayedFlow {
        let (last, bytes) = self.received.last().copied().unwrap_or((self.start, 0));
        let seconds = (last - self.start) as f64 / 1e9;
        ReplayedFlow {
            flow,
            protocol: "sctp",
            start_s: self.start as f64 / 1e9,
            finish_s: self.is_over.then_some(last as f64 / 1e9),
            bytes,
            goodput_bps: if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 },
            packets: self.packets,
            retransmitted_packets: self.retransmitted,
            established: self.established,
        }
    }

    /// Adds the series of each path to `out`; `name` names an address.
    pub(super) fn series(
        &self,
        flow: &str,
        name: impl Fn(IpAddr) -> String,
        out: &mut Vec<NamedSeries>,
    ) {
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let octets = |octets: u64| octets as f64;
        for lane in &self.lanes {
            let path = format!("{flow}.{}", name(lane.to));
            if !lane.sends.is_empty() {
                out.push(NamedSeries {
                    name: format!("{path}.sends"),
                    time_s: lane.sends.iter().map(|send| seconds(send.0)).collect(),
                    value: lane.sends.iter().map(|send| send.1 as f64).collect(),
                    len: lane.sends.iter().map(|send| send.2).collect(),
                    retransmission: lane.sends.iter().map(|send| send.3).collect(),
                });
            }
            add(&path, "acks", &lane.acks, octets, out);
            if !lane.sacks.is_empty() {
                out.push(NamedSeries {
                    name: format!("{path}.sacks"),
                    time_s: lane.sacks.iter().map(|sack| seconds(sack.0)).collect(),
                    value: lane.sacks.iter().map(|sack| sack.1 as f64).collect(),
                    len: lane.sacks.iter().map(|sack| sack.2).collect(),
                    ..NamedSeries::default()
                });
            }
            add(&path, "receives", &lane.receives, octets, out);
            add(&path, "in_flight", &lane.in_flight, octets, out);
            add(&path, "rtt", &lane.rtt, |seconds| seconds, out);
        }
        add(flow, "received", &self.received, octets, out);
    }
}

/// The TSN of a chunk of data.
fn tsn(chunk: &Chunk) -> Option<Serial32> {
    if let Chunk::Data { tsn, .. } = chunk { Some(*tsn) } else { None }
}

/// The first TSN that the sender of this chunk will use.
fn initial(chunk: &Chunk) -> Option<Serial32> {
    if let Chunk::Init { tsn, .. } = chunk { Some(*tsn) } else { None }
}

/// The cumulative TSN and the blocks of what acknowledges.
fn acknowledged(chunk: &Chunk) -> Option<(Serial32, &[[u16; 2]])> {
    match chunk {
        Chunk::Sack { cum_tsn, gaps } => Some((*cum_tsn, gaps)),
        Chunk::Shutdown { cum_tsn } => Some((*cum_tsn, &[])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A peer answers from its first address whatever path data took, and after the
    /// first path has gone only the second interface hears it.
    #[test]
    fn answers_from_one_address_come_in_where_they_come_in() {
        let host = |n: u8| IpAddr::from([10, 0, 0, n]);
        let packet = |nanos, interface, forward, addresses: [u8; 2], chunk| Seen {
            nanos,
            interface,
            direction: Some(if forward { Direction::Outbound } else { Direction::Inbound }),
            forward,
            addresses: addresses.map(host),
            is_init: false,
            chunks: vec![chunk],
        };
        let data = |n| Chunk::Data { tsn: Serial32(n), len: 1000 };
        let sack = |n| Chunk::Sack { cum_tsn: Serial32(n), gaps: Vec::new() };
        let seen = [
            packet(0, 0, true, [1, 3], data(1)),
            packet(20, 0, false, [3, 1], sack(1)),
            packet(30, 0, true, [1, 3], data(2)),
            packet(90, 1, true, [2, 4], data(2)),
            packet(110, 1, false, [3, 2], sack(2)),
            packet(120, 1, true, [2, 4], data(3)),
            packet(140, 1, false, [3, 2], sack(3)),
        ];
        let lanes = Lanes::new(&seen, true).unwrap();
        assert_eq!(lanes.received, [(20, 1000), (110, 2000), (140, 3000)]);
    }
}
