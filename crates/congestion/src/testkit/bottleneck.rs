//! Several flows through one bottleneck, packet by packet: a FIFO queue that
//! drops at its end, marks above a threshold and loses at random, then a
//! transmitter, then a constant delay back to the sender.
//!
//! A retransmission is a packet of its own, with a number of its own; a packet
//! is lost when one sent three later has arrived. Every packet is acknowledged
//! by itself, and senders have always something to send.

use super::MSS;
use crate::{
    Acked, Algorithm, Cause, Congestion, CongestionEvent, Controller, Feedback, LostSegment,
    PathView, RateSample,
};
use anabranch_units::{Bytes, Rate, Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The path that all flows share.
#[derive(Clone, Copy)]
pub(crate) struct Bottleneck {
    pub(crate) rate: Rate,
    /// Round-trip time of an empty path, without the transmission.
    pub(crate) rtt: Span,
    /// Packets that may wait or be transmitted.
    pub(crate) buffer: usize,
    /// Mark what finds more packets than this.
    pub(crate) mark_above: Option<usize>,
    /// Probability that a packet is lost before the queue.
    pub(crate) loss: f64,
}

pub(crate) struct Flow {
    pub(crate) c: Congestion,
    /// Octets delivered in total.
    pub(crate) delivered: u64,
    packets: VecDeque<Packet>,
    /// Number of the first packet in `packets`, and of the next to be sent.
    base: u64,
    next: u64,
    pub(crate) in_flight: u64,
    /// Octets of this flow that were lost since the start.
    lost: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Losses below, marks below: signalled already.
    recovery: u64,
    cwr: u64,
    srtt: Option<Span>,
    min_rtt: Option<Span>,
    next_send: Time,
    /// A `Pace` event is under way.
    pacing: bool,
    last_progress: Time,
}

#[derive(Clone, Copy)]
struct Packet {
    sent: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// In flight with it, and lost before it, in octets.
    tx_in_flight: u64,
    lost: u64,
    done: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Ack { flow: usize, number: u64, marked: bool },
    Pace { flow: usize },
    Timer { flow: usize },
}

pub(crate) struct Network {
    pub(crate) path: Bottleneck,
    pub(crate) now: Time,
    pub(crate) flows: Vec<Flow>,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    order: u64,
    /// Departure times of the packets in the queue, in order.
    departures: VecDeque<Time>,
    /// State of the generator of losses.
    random: u64,
    pub(crate) dropped: u64,
    /// (date, packets found) at each arrival, since [`Network::watch`].
    pub(crate) queue: Vec<(Time, usize)>,
}

const RTO: Span = Span::from_secs(1);

impl Network {
    /// Flows start one after the other over `spread`.
    pub(crate) fn new(path: Bottleneck, algorithms: &[Algorithm], spread: Span) -> Network {
        let flow = |algorithm: &Algorithm| Flow {
            c: algorithm.build(10 * MSS, u64::MAX),
            delivered: 0,
            packets: VecDeque::new(),
            base: 0,
            next: 0,
            in_flight: 0,
            lost: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            recovery: 0,
            cwr: 0,
            srtt: None,
            min_rtt: None,
            next_send: Time::ZERO,
            pacing: false,
            last_progress: Time::ZERO,
        };
        let mut network = Network {
            path,
            now: Time::ZERO,
            flows: algorithms.iter().map(flow).collect(),
            events: BinaryHeap::new(),
            order: 0,
            departures: VecDeque::new(),
            random: 0x9e37_79b9_7f4a_7c15,
            dropped: 0,
            queue: Vec::new(),
        };
        for i in 0..algorithms.len() {
            let start = Time::ZERO + spread * i as u64 / algorithms.len() as u64;
            network.at(start, Event::Pace { flow: i });
            network.at(start + RTO, Event::Timer { flow: i });
        }
        network
    }

    fn at(&mut self, date: Time, event: Event) {
        self.order += 1;
        self.events.push(Reverse((date, self.order, event)));
    }

    /// Runs for `span`; `each` sees the network after every event.
    pub(crate) fn run_with(&mut self, span: Span, mut each: impl FnMut(&Network)) {
        let end = self.now + span;
        while let Some(Reverse((date, _, event))) = self.events.peek().copied() {
            if date > end {
                break;
            }
            self.events.pop();
            self.now = date;
            match event {
                Event::Ack { flow, number, marked } => self.on_ack(flow, number, marked),
                Event::Pace { flow } => {
                    self.flows[flow].pacing = false;
                    self.send(flow);
                }
                Event::Timer { flow } => self.on_timer(flow),
            }
            each(self);
        }
        self.now = end;
    }

    pub(crate) fn run(&mut self, span: Span) {
        self.run_with(span, |_| {});
    }

    /// Octets that all flows deliver in `span`, as a part of the rate.
    pub(crate) fn utilisation(&mut self, span: Span) -> f64 {
        let delivered = |n: &Network| n.flows.iter().map(|f| f.delivered).sum::<u64>();
        let before = delivered(self);
        self.run(span);
        (delivered(self) - before) as f64 / self.path.rate.bytes_in(span).0 as f64
    }

    /// Packets in the queue or being transmitted.
    fn backlog(&mut self) -> usize {
        while self.departures.front().is_some_and(|at| *at <= self.now) {
            self.departures.pop_front();
        }
        self.departures.len()
    }

    fn uniform(&mut self) -> f64 {
        // xorshift64*.
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Sends what window and pacing allow.
    fn send(&mut self, i: usize) {
        loop {
            let f = &mut self.flows[i];
            if f.in_flight + MSS > f.c.window() {
                return;
            }
            if f.next_send > self.now {
                let date = f.next_send;
                if !std::mem::replace(&mut f.pacing, true) {
                    self.at(date, Event::Pace { flow: i });
                }
                return;
            }
            let view = f.view();
            f.c.on_sent(self.now, MSS, &view);
            if let Some(rate) = f.c.pacing_rate(view.srtt) {
                f.next_send = self.now + rate.time_for(Bytes(MSS));
            }
            if f.in_flight == 0 {
                f.first_sent = self.now;
                f.delivered_at = self.now;
            }
            f.packets.push_back(Packet {
                sent: self.now,
                delivered: f.delivered,
                delivered_at: f.delivered_at,
                first_sent: f.first_sent,
                tx_in_flight: f.in_flight + MSS,
                lost: f.lost,
                done: false,
            });
            let number = f.next;
            f.next += 1;
            f.in_flight += MSS;
            self.forward(i, number);
        }
    }

    fn forward(&mut self, flow: usize, number: u64) {
        if self.path.loss > 0.0 && self.uniform() < self.path.loss {
            return;
        }
        let backlog = self.backlog();
        self.queue.push((self.now, backlog));
        if backlog >= self.path.buffer {
            self.dropped += 1;
            return;
        }
        let marked = self.path.mark_above.is_some_and(|k| backlog > k);
        let start = self.departures.back().map_or(self.now, |last| (*last).max(self.now));
        let departure = start + self.path.rate.time_for(Bytes(MSS));
        self.departures.push_back(departure);
        self.at(departure + self.path.rtt, Event::Ack { flow, number, marked });
    }

    fn on_ack(&mut self, i: usize, number: u64, marked: bool) {
        let now = self.now;
        let f = &mut self.flows[i];
        if number < f.base || f.packets[(number - f.base) as usize].done {
            return; // given up at a timeout
        }
        let before = f.view();
        let packet = &mut f.packets[(number - f.base) as usize];
        packet.done = true;
        let packet = *packet;
        f.in_flight -= MSS;
        f.delivered += MSS;
        f.delivered_at = now;
        f.last_progress = now;
        let rtt = now - packet.sent;
        f.srtt = Some(f.srtt.map_or(rtt, |srtt| srtt * 7 / 8 + rtt / 8));
        f.min_rtt = Some(f.min_rtt.map_or(rtt, |min| min.min(rtt)));
        // draft-cheng-iccrg-delivery-rate-estimation §3.3.
        let interval = (packet.sent - packet.first_sent).max(now - packet.delivered_at);
        f.first_sent = packet.sent;
        // Three later ones have arrived, or this is the third.
        let mut lost = 0;
        let mut losses = Vec::new();
        let mut newest = None;
        for number in f.base..number.saturating_sub(2) {
            let packet = &mut f.packets[(number - f.base) as usize];
            if !packet.done {
                packet.done = true;
                lost += MSS;
                losses.push(LostSegment {
                    offset: number * MSS,
                    bytes: MSS,
                    tx_in_flight: packet.tx_in_flight,
                    lost: f.lost + lost - packet.lost,
                    app_limited: false,
                });
                newest = Some(number);
            }
        }
        f.in_flight -= lost;
        f.lost += lost;
        while f.packets.front().is_some_and(|packet| packet.done) {
            f.packets.pop_front();
            f.base += 1;
        }
        let mut signal = |cause| f.c.on_congestion(&CongestionEvent { now, cause }, &before);
        if newest.is_some_and(|number| number >= f.recovery) {
            signal(Cause::Loss);
            f.recovery = f.next;
        } else if marked && number >= f.cwr {
            signal(Cause::EcnMark);
            f.cwr = f.next;
        }
        let in_recovery = f.base < f.recovery;
        if !in_recovery && !marked {
            let view = PathView { acked: f.base * MSS, srtt: f.srtt, min_rtt: f.min_rtt, ..before };
            f.c.on_ack(&Acked { now, bytes: MSS, rtt: Some(rtt) }, &view);
        }
        let rate = RateSample {
            delivered: f.delivered - packet.delivered,
            interval,
            prior_delivered: packet.delivered,
            total_delivered: f.delivered,
            app_limited: false,
            tx_in_flight: packet.tx_in_flight,
            lost: f.lost - packet.lost,
        };
        if f.c.wants_losses() {
            let view = f.view();
            losses.iter().for_each(|segment| f.c.on_lost(now, segment, &view));
        }
        if f.c.wants_feedback() {
            let feedback = Feedback {
                now,
                acked: MSS,
                delivered: MSS,
                lost,
                marked: if marked { MSS } else { 0 },
                rtt: Some(rtt),
                rate: Some(rate),
                in_recovery,
            };
            let view = f.view();
            f.c.on_feedback(&feedback, &view);
        }
        self.send(i);
    }

    fn on_timer(&mut self, i: usize) {
        let f = &mut self.flows[i];
        let silent = self.now - f.last_progress;
        if silent < RTO {
            let date = f.last_progress + RTO;
            self.at(date, Event::Timer { flow: i });
            return;
        }
        if f.in_flight > 0 {
            let view = f.view();
            f.c.on_congestion(&CongestionEvent { now: self.now, cause: Cause::Timeout }, &view);
            f.packets.clear();
            f.base = f.next;
            f.recovery = f.next;
            f.in_flight = 0;
        }
        f.last_progress = self.now;
        self.at(self.now + RTO, Event::Timer { flow: i });
        self.send(i);
    }
}

impl Flow {
    fn view(&self) -> PathView {
        PathView {
            in_flight: self.in_flight,
            mss: MSS,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            app_limited: false,
            sent: self.next * MSS,
            acked: self.base * MSS,
        }
    }
}
