//! One direction of a connection: what its sender sent, what was acknowledged,
//! what its receiver received, and what follows from these.
//!
//! Positions are payload offsets in the sender's stream, from 0. Where the SYN
//! was not seen, the first data packet has offset 0. A round trip is measured
//! from a data packet to the first ACK that covers it, and not from packets
//! sent again (Karn's rule, RFC 6298 §3).

use super::headers::Segment;
use super::{ReplayedFlow, Seen, View};
use crate::result::NamedSeries;
use anabranch_units::Serial32;
use anabranch_wire::pcapng::Direction;
use std::collections::{BTreeMap, VecDeque};

/// Dates in nanoseconds and values.
type Samples<T> = Vec<(u64, T)>;

/// A data packet that was sent.
#[derive(Clone, Copy)]
struct Send {
    nanos: u64,
    offset: u64,
    len: u32,
    again: bool,
}

/// The packets of one direction of a connection.
pub(super) struct Track {
    start: u64,
    sends: Vec<Send>,
    acks: Samples<u64>,
    receives: Samples<u64>,
    received: Samples<u64>,
    in_flight: Samples<u64>,
    rtt: Samples<f64>,
    ended: bool,
    established: bool,
    multipath: bool,
}

impl Track {
    /// Finds the data of one direction in the packets of a connection; `None` when there was none.
    pub(super) fn new(seen: &[Seen], forward: bool) -> Option<Track> {
        let ours = || seen.iter().filter(|seen| seen.forward == forward);
        let data = || ours().filter(|our| our.segment.len > 0);
        let theirs = || seen.iter().filter(|seen| seen.forward != forward);
        let sent_at = View::of(data().map(Seen::place), Direction::Outbound, true);
        let received_at = View::of(data().map(Seen::place), Direction::Inbound, false);
        // ACKs where the data is sent; seen in passing, wherever they pass.
        let acked_at = match sent_at {
            Some(View { interface, direction: Some(_) }) => {
                Some(View { interface, direction: Some(Direction::Inbound) })
            }
            _ => View::of(theirs().map(Seen::place), Direction::Inbound, true),
        };
        data().next()?;
        let syn = ours().find(|our| our.segment.syn()).map(|our| our.segment.seq.add(1));
        let first = syn.or_else(|| data().next().map(|data| data.segment.seq))?;
        let mut track = Track {
            start: seen.first()?.nanos,
            sends: Vec::new(),
            acks: Vec::new(),
            receives: Vec::new(),
            received: Vec::new(),
            in_flight: Vec::new(),
            rtt: Vec::new(),
            ended: false,
            established: ours().any(|our| our.segment.syn())
                && theirs().any(|their| their.segment.syn()),
            multipath: seen.iter().any(|seen| seen.segment.multipath),
        };
        track.look(seen, forward, first, [sent_at, acked_at, received_at]);
        if received_at.is_none() {
            track.received = track.acks.clone();
        }
        let mut most = 0;
        track.received.retain(|(_, octets)| {
            let grows = *octets > most;
            most = most.max(*octets);
            grows
        });
        Some(track)
    }

    fn look(&mut self, seen: &[Seen], forward: bool, first: Serial32, views: [Option<View>; 3]) {
        let (mut sent, mut acked, mut fin) = (0_u64, 0_u64, None);
        let mut assembly = Assembly::default();
        // Ends of packets that wait for their first ACK, and when they were sent.
        let mut timed: VecDeque<(u64, u64, bool)> = VecDeque::new();
        for seen in seen {
            let [sent_here, acked_here, received_here] =
                views.map(|view| view.is_some_and(|view| view.has(seen.place())));
            let (nanos, Segment { seq, ack, len, .. }) = (seen.nanos, seen.segment);
            let end = u64::from(len);
            if seen.forward == forward {
                let seq = if seen.segment.syn() { seq.add(1) } else { seq };
                let Some(offset) = seq.expand(first, sent) else { continue };
                if seen.segment.fin() {
                    fin = Some(offset + end);
                }
                if sent_here && len > 0 {
                    let again = offset < sent;
                    self.sends.push(Send { nanos, offset, len, again });
                    if again {
                        timed.iter_mut().for_each(|(to, _, valid)| *valid &= *to <= offset);
                    } else {
                        timed.push_back((offset + end, nanos, true));
                    }
                    sent = sent.max(offset + end);
                    self.in_flight.push((nanos, sent.saturating_sub(acked)));
                }
                if received_here && len > 0 {
                    self.receives.push((nanos, offset));
                    self.received.push((nanos, assembly.insert(offset, offset + end)));
                }
            } else if acked_here && seen.segment.ack_flag() {
                let Some(offset) = ack.expand(first, sent) else { continue };
                // The acknowledgment of a FIN is one beyond the payload.
                let offset = offset.min(sent);
                self.acks.push((nanos, offset));
                acked = acked.max(offset);
                self.in_flight.push((nanos, sent - acked));
                let mut sample = None;
                while let Some((_, at, valid)) = timed.front().filter(|timed| timed.0 <= acked) {
                    sample = valid.then_some(*at);
                    timed.pop_front();
                }
                if let Some(at) = sample {
                    self.rtt.push((nanos, (nanos - at) as f64 / 1e9));
                }
            }
        }
        let arrived = if views[2].is_some() { assembly.front } else { acked };
        self.ended = fin.is_some_and(|fin| arrived >= fin);
    }

    /// Returns the row of this direction in the table of flows.
    pub(super) fn row(&self, flow: String) -> ReplayedFlow {
        let (last, bytes) = self.received.last().copied().unwrap_or((self.start, 0));
        let seconds = (last - self.start) as f64 / 1e9;
        ReplayedFlow {
            flow,
            protocol: if self.multipath { "mptcp" } else { "tcp" },
            start_s: self.start as f64 / 1e9,
            finish_s: self.ended.then_some(last as f64 / 1e9),
            bytes,
            goodput_bps: if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 },
            packets: self.sends.len() as u64,
            retransmitted_packets: self.sends.iter().filter(|send| send.again).count() as u64,
            established: self.established,
        }
    }

    /// Adds the series of this direction to `out`.
    pub(super) fn series(&self, flow: &str, out: &mut Vec<NamedSeries>) {
        out.push(NamedSeries {
            name: format!("{flow}.sends"),
            time_s: self.sends.iter().map(|send| send.nanos as f64 / 1e9).collect(),
            value: self.sends.iter().map(|send| send.offset as f64).collect(),
            len: self.sends.iter().map(|send| send.len).collect(),
            retransmission: self.sends.iter().map(|send| send.again).collect(),
        });
        let counted = [
            ("acks", &self.acks),
            ("receives", &self.receives),
            ("received", &self.received),
            ("in_flight", &self.in_flight),
        ];
        for (what, samples) in counted {
            add(flow, what, samples, |octets| octets as f64, out);
        }
        add(flow, "rtt", &self.rtt, |seconds| seconds, out);
    }
}

/// Adds a series of samples, unless there are none.
pub(super) fn add<T: Copy>(
    flow: &str,
    what: &str,
    samples: &Samples<T>,
    value: impl Fn(T) -> f64,
    out: &mut Vec<NamedSeries>,
) {
    if samples.is_empty() {
        return;
    }
    out.push(NamedSeries {
        name: format!("{flow}.{what}"),
        time_s: samples.iter().map(|(nanos, _)| *nanos as f64 / 1e9).collect(),
        value: samples.iter().map(|(_, sample)| value(*sample)).collect(),
        ..NamedSeries::default()
    });
}

/// What has arrived of a stream.
#[derive(Default)]
struct Assembly {
    /// Offset before which all has arrived.
    front: u64,
    /// Start and end of what has arrived beyond `front`.
    beyond: BTreeMap<u64, u64>,
}

impl Assembly {
    /// Something arrived; gives how much is there in order.
    fn insert(&mut self, start: u64, end: u64) -> u64 {
        let held = self.beyond.entry(start).or_insert(end);
        *held = end.max(*held);
        while let Some(first) =
            self.beyond.first_entry().filter(|first_entry| *first_entry.key() <= self.front)
        {
            self.front = self.front.max(first.remove());
        }
        self.front
    }
}
