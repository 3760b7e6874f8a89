//! ACK compression: how acknowledgments and data bunch at a sender.
//!
//! *Gap ratio*: time between two acknowledgments that reach the sender over
//! the transmission time of a full data packet on the slowest link of its way.
//! ACKs that data packets clock one by one have a ratio of 1, delayed ACKs of
//! 2; ratios below 1 are compression (Mogul, SIGCOMM 1992 §4; Zhang, Shenker
//! and Clark, SIGCOMM 1991).
//!
//! *Bunches and bursts*: runs of acknowledgments that arrive, or of data
//! packets that the endpoint sends, each less than that time after the one
//! before. One by itself is a bunch of 1.
//!
//! The transmission time is what links tell of the data packets as they send
//! them, so that it follows rates that change. An acknowledgment is a packet
//! that carries nothing else, of any transport, or a TCP segment that
//! acknowledges more than those before.

use super::{Interests, Observer, PacketEvent, PacketEventKind, Place, Series};
use crate::flow::{FlowId, Side};
use anabranch_network::{LinkEvent, LinkId};
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::{Body, FlowKey, Packet, TcpFlags};
use std::collections::BTreeMap;

/// Records how ACKs and data of chosen senders bunch.
#[derive(Clone, Debug, Default)]
pub struct CompressionRecorder {
    tracks: BTreeMap<(FlowId, Side), Track>,
    /// The sender whose data packets carry each key.
    keys: BTreeMap<FlowKey, (FlowId, Side)>,
}

/// The series that were recorded of a sender.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Compression {
    /// At each acknowledgment but the first, its gap ratio.
    pub gaps: Series,
    /// Start of each bunch of acknowledgments, and how many it has.
    pub bunches: Series,
    /// Start of each burst of data packets, and how many it has.
    pub bursts: Series,
}

#[derive(Clone, Debug, Default)]
struct Track {
    /// The largest payload so far, and the time that such a packet took last
    /// on each link.
    full: u32,
    times: Vec<(LinkId, Span)>,
    slowest: Span,
    gaps: Series,
    acks: Runs,
    data: Runs,
    acked: Option<Serial32>,
}

/// Runs of events that follow each other closely.
#[derive(Clone, Debug, Default)]
struct Runs {
    done: Series,
    /// The first and the last event of the run that is under way, and how many.
    current: Option<(Time, Time, u32)>,
}

impl Runs {
    fn on_event(&mut self, now: Time, close: Span) {
        match &mut self.current {
            Some((_, last, count)) if now - *last < close => (*last, *count) = (now, *count + 1),
            current => {
                let done = current.replace((now, now, 1));
                done.into_iter().for_each(|done| self.end(done));
            }
        }
    }

    fn end(&mut self, (first, _, count): (Time, Time, u32)) {
        self.done.time.push(first);
        self.done.value.push(f64::from(count));
    }

    /// All runs, the one under way included.
    fn series(mut self) -> Series {
        self.current.take().into_iter().for_each(|current| self.end(current));
        self.done
    }
}

impl CompressionRecorder {
    /// Makes a recorder that records nothing yet.
    pub fn new() -> CompressionRecorder {
        CompressionRecorder::default()
    }

    /// Also records this sender of data.
    pub fn record(&mut self, flow: FlowId, sender: Side) {
        self.tracks.insert((flow, sender), Track::default());
    }

    /// Returns the series that were recorded of a sender.
    pub fn compression(&self, flow: FlowId, sender: Side) -> Option<Compression> {
        let Track { gaps, acks, data, .. } = self.tracks.get(&(flow, sender))?.clone();
        Some(Compression { gaps, bunches: acks.series(), bursts: data.series() })
    }
}

impl Observer for CompressionRecorder {
    fn interests(&self) -> Interests {
        Interests { packets: true, ..Interests::default() }
    }

    fn packet(&mut self, now: Time, event: &PacketEvent, packet: &Packet) {
        if let Place::Link(link) = event.place {
            let time = match event.kind {
                PacketEventKind::Link(LinkEvent::Enqueued { starts, departs }) => {
                    departs.saturating_since(starts)
                }
                PacketEventKind::Link(LinkEvent::Starts { departs, .. }) => {
                    departs.saturating_since(now)
                }
                _ => return,
            };
            let sender = self.keys.get(&packet.flow_key());
            if let Some(track) = sender.and_then(|sender| self.tracks.get_mut(sender)) {
                track.on_transmission(link, packet.payload_len(), time);
            }
            return;
        }
        let Some((flow, side)) = event.flow else { return };
        let Some(track) = self.tracks.get_mut(&(flow, side)) else { return };
        match event.kind {
            PacketEventKind::Sent if packet.payload_len() > 0 => {
                self.keys.insert(packet.flow_key(), (flow, side));
                track.data.on_event(now, track.slowest);
            }
            PacketEventKind::Received if track.acknowledges(packet) => track.on_ack(now),
            _ => {}
        }
    }
}

impl Track {
    fn on_transmission(&mut self, link: LinkId, payload: u32, time: Span) {
        if payload == 0 || payload < self.full {
            return;
        }
        if payload > self.full {
            self.full = payload;
            self.times.clear();
        }
        match self.times.iter_mut().find(|time| time.0 == link) {
            Some(inner) => inner.1 = time,
            None => self.times.push((link, time)),
        }
        self.slowest = self.times.iter().map(|time| time.1).max().unwrap_or_default();
    }

    fn acknowledges(&mut self, packet: &Packet) -> bool {
        let Body::Tcp(segment) = &packet.body else { return packet.is_pure_ack() };
        if !segment.flags.contains(TcpFlags::ACK) || segment.flags.contains(TcpFlags::SYN) {
            return false;
        }
        let is_new = self.acked.is_none_or(|acked| acked.is_before(segment.ack));
        if is_new {
            self.acked = Some(segment.ack);
        }
        is_new || packet.is_pure_ack()
    }

    fn on_ack(&mut self, now: Time) {
        if let Some((_, last, _)) = self.acks.current
            && self.slowest > Span::ZERO
        {
            let ratio = (now - last).as_picos() as f64 / self.slowest.as_picos() as f64;
            self.gaps.time.push(now);
            self.gaps.value.push(ratio);
        }
        self.acks.on_event(now, self.slowest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_network::NodeId;
    use anabranch_wire::{Addr, Payload, TcpOptions, TcpSegment};

    const FLOW: FlowId = FlowId(0);
    const MS: fn(u64) -> Time = |ms| Time::ZERO + Span::from_millis(ms);

    fn segment(payload: u32, ack: u32) -> Packet {
        let segment = TcpSegment {
            src_port: 1,
            dst_port: 2,
            seq: Serial32(0),
            ack: Serial32(ack),
            flags: TcpFlags::ACK,
            window: 100,
            urgent: 0,
            options: TcpOptions::default(),
            payload: Payload::virtual_of(payload),
        };
        Packet::new(Addr(0), Addr(1), Body::Tcp(segment))
    }

    struct Bench(CompressionRecorder);

    impl Bench {
        fn at_client(&mut self, ms: u64, kind: PacketEventKind, packet: &Packet) {
            let flow = Some((FLOW, Side::Client));
            let event = PacketEvent { kind, place: Place::Node(NodeId(0)), flow };
            self.0.packet(MS(ms), &event, packet);
        }

        /// A data packet that takes 10 ms on link 0 and 4 ms on link 1.
        fn send(&mut self, ms: u64, payload: u32) {
            let packet = segment(payload, 0);
            self.at_client(ms, PacketEventKind::Sent, &packet);
            let starts = MS(ms);
            let kind = PacketEventKind::Link(LinkEvent::Enqueued { starts, departs: MS(ms + 10) });
            let place = Place::Link(LinkId(0));
            self.0.packet(MS(ms), &PacketEvent { kind, place, flow: None }, &packet);
            let kind =
                PacketEventKind::Link(LinkEvent::Starts { since: MS(ms), departs: MS(ms + 24) });
            let place = Place::Link(LinkId(1));
            self.0.packet(MS(ms + 20), &PacketEvent { kind, place, flow: None }, &packet);
        }

        fn ack(&mut self, ms: u64, ack: u32) {
            self.at_client(ms, PacketEventKind::Received, &segment(0, ack));
        }

        fn done(&self) -> Compression {
            self.0.compression(FLOW, Side::Client).expect("it is recorded")
        }
    }

    fn bench() -> Bench {
        let mut recorder = CompressionRecorder::new();
        recorder.record(FLOW, Side::Client);
        Bench(recorder)
    }

    #[test]
    fn acks_closer_than_a_transmission_on_the_slowest_link_are_a_bunch() {
        let mut bench = bench();
        bench.send(0, 1000);
        for (ms, ack) in [(100, 1), (110, 2), (120, 3), (121, 4), (122, 5), (140, 6)] {
            bench.ack(ms, ack);
        }
        let done = bench.done();
        assert_eq!(done.gaps.value, [1.0, 1.0, 0.1, 0.1, 1.8]);
        assert_eq!(done.gaps.time[0], MS(110));
        assert_eq!(done.bunches.time, [MS(100), MS(110), MS(120), MS(140)]);
        assert_eq!(done.bunches.value, [1.0, 1.0, 3.0, 1.0]);
    }

    #[test]
    fn bursts_are_of_data_packets() {
        let mut bench = bench();
        for ms in [0, 0, 9, 30, 40, 41] {
            bench.send(ms, 1000);
        }
        assert_eq!(bench.done().bursts.value, [3.0, 1.0, 2.0]);
        assert_eq!(bench.done().bursts.time, [MS(0), MS(30), MS(40)]);
    }

    /// Data of the other direction that acknowledges nothing new is no ACK; a
    /// pure ACK is one also when it is a duplicate.
    #[test]
    fn acknowledgments_may_ride_on_data() {
        let mut bench = bench();
        bench.send(0, 1000);
        bench.ack(100, 1);
        for (ms, payload, ack) in [(105, 500, 1), (110, 500, 2), (115, 0, 2)] {
            bench.at_client(ms, PacketEventKind::Received, &segment(payload, ack));
        }
        assert_eq!(bench.done().gaps.value, [1.0, 0.5]);
    }

    #[test]
    fn short_packets_do_not_tell_the_transmission_time() {
        let mut bench = bench();
        bench.send(0, 1000);
        let packet = segment(10, 0);
        let kind = PacketEventKind::Link(LinkEvent::Enqueued { starts: MS(50), departs: MS(51) });
        let place = Place::Link(LinkId(0));
        bench.0.packet(MS(50), &PacketEvent { kind, place, flow: None }, &packet);
        bench.ack(100, 1);
        bench.ack(105, 2);
        assert_eq!(bench.done().gaps.value, [0.5]);
    }
}
