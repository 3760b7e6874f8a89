//! Regulators beside a forward link, driven by hand.

use super::*;
use crate::pool::PacketPool;
use crate::queue::QueueConfig;
use crate::transmitter::{RateSchedule, TransmitterConfig};
use anabranch_units::{Rate, Serial32};
use anabranch_wire::{Addr, Body, Payload, TcpFlags, TcpOptions, TcpSegment};
use proptest::prelude::*;

const MS: fn(u64) -> Span = Span::from_millis;

fn at(ms: u64) -> Time {
    Time::ZERO + MS(ms)
}

fn packet(payload: u32) -> Packet {
    let segment = TcpSegment {
        src_port: 1,
        dst_port: 2,
        seq: Serial32(0),
        ack: Serial32(0),
        flags: TcpFlags::ACK,
        window: 1000,
        urgent: 0,
        options: TcpOptions::default(),
        payload: Payload::virtual_of(payload),
    };
    Packet::new(Addr(0), Addr(1), Body::Tcp(segment))
}

/// A forward link of 1500 octets a millisecond and a regulator in front of it.
struct Bench {
    forward: Link,
    regulator: Regulator,
    pool: PacketPool,
}

impl Bench {
    fn new(limit: QueueLimit, config: RegulatorConfig) -> Bench {
        let queue = QueueConfig::DropTail { limit };
        Bench::over(LinkConfig { queue, ..LinkConfig::new(Rate::mbit(12), MS(1)) }, config)
    }

    fn over(link: LinkConfig, config: RegulatorConfig) -> Bench {
        assert_eq!(config.validate(&link), Ok(()));
        Bench {
            regulator: Regulator::new(&config, &link),
            forward: Link::new(&link, anabranch_endpoint::Generator::from_u64(1)),
            pool: PacketPool::new(),
        }
    }

    /// `n` packets of 1500 octets come to the forward link.
    fn data(&mut self, now: Time, n: u32) {
        for _ in 0..n {
            let id = self.pool.insert(packet(1460));
            self.forward.offer(now, id, &mut self.pool, None);
        }
    }

    /// An ACK comes; what leaves at once.
    fn ack(&mut self, now: Time) -> (PacketId, Vec<Regulated>) {
        let id = self.pool.insert(packet(0));
        self.regulator.offer(now, id, self.pool.size(id));
        (id, self.poll(now))
    }

    fn poll(&mut self, now: Time) -> Vec<Regulated> {
        let Bench { regulator, forward, .. } = self;
        let out = std::iter::from_fn(|| regulator.poll(now, forward)).collect();
        assert!(regulator.counters().is_conserved(), "{:?}", regulator.counters());
        assert!(regulator.next_event() > now);
        out
    }

    /// Follows the timer; dates and packets that are released up to `end`.
    fn run(&mut self, end: Time) -> Vec<(Time, PacketId)> {
        let mut out = Vec::new();
        while self.regulator.next_event() <= end {
            let now = self.regulator.next_event();
            for poll in self.poll(now) {
                match poll {
                    Regulated::Released { id, .. } => out.push((now, id)),
                    Regulated::Dropped(_) => panic!("nothing is dropped later"),
                }
            }
        }
        out
    }
}

fn linear(low: u64, high: u64, max_delay: Span) -> RegulatorConfig {
    let (low, high) = (Level::Packets(low), Level::Packets(high));
    RegulatorConfig::new(LawConfig::ThresholdLinear(ThresholdLinearConfig { low, high, max_delay }))
}

fn bucket() -> RegulatorConfig {
    RegulatorConfig::new(LawConfig::AckBucket(AckBucketConfig::default()))
}

#[test]
fn pure_acks_are_regulated_and_data_only_where_asked() {
    let mut syn = packet(0);
    let Body::Tcp(segment) = &mut syn.body else { unreachable!() };
    segment.flags = TcpFlags::SYN.union(TcpFlags::ACK);
    let link = LinkConfig::new(Rate::mbit(12), MS(1));
    for (piggybacked, expected) in [(false, [true, false, false]), (true, [true, true, false])] {
        let regulator = Regulator::new(&RegulatorConfig { piggybacked, ..bucket() }, &link);
        assert_eq!([packet(0), packet(1), syn.clone()].map(|p| regulator.regulates(&p)), expected);
    }
}

#[test]
fn an_ack_waits_as_long_as_the_queue_says_and_no_longer_than_it_takes_to_drain() {
    // 10 ms for each packet above 2.
    let mut bench = Bench::new(QueueLimit::Packets(100), linear(2, 12, MS(100)));
    let (first, out) = bench.ack(at(0));
    assert_eq!(out, [Regulated::Released { id: first, waited: Span::ZERO }]);
    // Eleven packets: one on the line, ten wait: 80 ms if they stayed. They
    // leave one a millisecond, so that two are left after 8 ms; a look each
    // 10 ms finds the queue short.
    bench.data(at(0), 11);
    let (held, out) = bench.ack(at(0));
    assert_eq!(out, []);
    assert_eq!(bench.run(at(1000)), [(at(10), held)]);
    let counters = bench.regulator.counters();
    assert_eq!((counters.delayed, counters.longest_delay), (1, MS(10)));
}

#[test]
fn the_timer_follows_the_occupancy_and_order_is_kept() {
    let recheck = Span::from_secs(1);
    let config = RegulatorConfig { recheck, ..linear(0, 10, MS(10)) };
    let mut bench = Bench::new(QueueLimit::Packets(100), config);
    bench.data(at(0), 6); // five wait: 5 ms
    let (a, _) = bench.ack(at(0));
    assert_eq!(bench.regulator.next_event(), at(5));
    // Meanwhile more has come: at 2 ms nine wait, 9 ms from its arrival on.
    bench.data(at(2), 6);
    let (b, _) = bench.ack(at(2));
    assert_eq!(bench.regulator.next_event(), at(9));
    // At 9 ms two wait: both have been held for longer than 2 ms.
    assert_eq!(bench.run(at(100)), [(at(9), a), (at(9), b)]);
}

#[test]
fn beyond_the_limit_the_policy_decides() {
    for (overflow, dropped, released) in [
        (Overflow::DropTail, vec![2, 3], vec![]),
        (Overflow::DropHead, vec![0, 1], vec![]),
        (Overflow::Release, vec![], vec![0, 1]),
    ] {
        let limit = QueueLimit::Packets(2);
        let config = RegulatorConfig { limit, overflow, ..linear(0, 1, MS(1)) };
        let mut bench = Bench::new(QueueLimit::Packets(100), config);
        bench.data(at(0), 50);
        let (mut gone, mut went, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..4 {
            let (id, out) = bench.ack(at(0));
            ids.push(id);
            for regulated in out {
                match regulated {
                    Regulated::Dropped(id) => gone.push(id),
                    Regulated::Released { id, .. } => went.push(id),
                }
            }
        }
        let named = |list: Vec<usize>| list.into_iter().map(|i| ids[i]).collect::<Vec<_>>();
        assert_eq!((gone, went), (named(dropped), named(released)), "{overflow:?}");
        assert_eq!(bench.regulator.counters().held, 2);
        assert_eq!(bench.run(at(10)).len(), 2);
    }
}

#[test]
fn a_bucket_spaces_acks_by_the_data_that_they_bring() {
    // Two packets of 1500 octets for each ACK: 2 ms of the line, 16/17 of it.
    let mut bench = Bench::new(QueueLimit::Packets(100), bucket());
    let mut now = at(0);
    for _ in 0..100 {
        bench.data(now, 2);
        bench.ack(now);
        now += MS(4);
    }
    let before = bench.regulator.counters();
    assert_eq!(before.delayed, 0, "half the rate of the line: nothing to hold");
    // Five ACKs together, each of which brings its data when it goes.
    bench.data(now, 2);
    let mut dates = Vec::new();
    for _ in 0..5 {
        dates.extend(bench.ack(now).1.iter().map(|_| now));
    }
    while dates.len() < 5 {
        let date = bench.regulator.next_event();
        bench.data(date, 2);
        dates.extend(bench.poll(date).iter().map(|_| date));
    }
    for pair in dates.windows(2) {
        let gap = (pair[1] - pair[0]).as_secs_f64() * 1e3;
        assert!((gap - 2.0 * 16.0 / 17.0).abs() < 0.01, "{gap} ms");
    }
}

#[test]
fn a_bucket_stays_shut_while_the_queue_is_deep_and_through_an_outage() {
    let mut bench = Bench::new(QueueLimit::Packets(100), bucket());
    bench.data(at(0), 10); // nine wait; two may: after 7 ms
    let (id, out) = bench.ack(at(0));
    assert_eq!(out, []);
    assert_eq!(bench.run(at(100)), [(at(7), id)]);

    let steps = vec![(Span::ZERO, 12_000_000), (MS(10), 0), (MS(50), 12_000_000)];
    let transmitter = TransmitterConfig::Schedule(RateSchedule { steps, period: None });
    let link = LinkConfig { transmitter, ..LinkConfig::new(Rate::mbit(12), MS(1)) };
    let mut found = Bench::over(link, bucket());
    found.data(at(9), 4); // one is sent, one at 50 ms; two may wait
    let (id, out) = found.ack(at(11));
    assert_eq!(out, []);
    assert_eq!(found.run(at(100)), [(at(50), id)]);
    // The credit of 6000 octets (their 16/17) keeps the next one back.
    let (next, _) = found.ack(at(50));
    let [(date, id)] = found.run(at(200))[..] else { panic!("one ACK") };
    assert_eq!(id, next);
    assert!(date > at(50) && date < at(54), "{date}");
}

#[test]
fn a_bucket_follows_what_a_channel_grants() {
    let link = LinkConfig {
        transmitter: TransmitterConfig::Explicit,
        ..LinkConfig::new(Rate::mbit(12), MS(1))
    };
    let mut bench = Bench::over(link, bucket());
    bench.forward.grant(at(1500), Rate::mbit(3));
    // One packet for each ACK, whose transmission takes so many ms.
    for (start, transmission) in [(0, 1.0), (2000, 4.0)] {
        for i in 0..100 {
            bench.data(at(start + 10 * i), 1);
            bench.ack(at(start + 10 * i));
        }
        let mut now = at(start + 1000);
        bench.data(now, 1);
        let mut dates = Vec::new();
        for _ in 0..3 {
            dates.extend(bench.ack(now).1.iter().map(|_| now));
        }
        while dates.len() < 3 {
            now = bench.regulator.next_event();
            bench.data(now, 1);
            dates.extend(bench.poll(now).iter().map(|_| now));
        }
        for pair in dates.windows(2) {
            let gap = (pair[1] - pair[0]).as_secs_f64() * 1e3;
            assert!((gap - transmission * 16.0 / 17.0).abs() < 0.01, "{gap} ms");
        }
    }
}

#[test]
fn an_outage_without_end_asks_for_no_more_looks() {
    let steps = vec![(Span::ZERO, 12_000_000), (MS(10), 0)];
    let transmitter = TransmitterConfig::Schedule(RateSchedule { steps, period: None });
    let link = LinkConfig { transmitter, ..LinkConfig::new(Rate::mbit(12), MS(1)) };
    let mut bench = Bench::over(link, bucket());
    bench.data(at(9), 20);
    assert_eq!(bench.ack(at(11)).1, []);
    assert_eq!(bench.regulator.next_event(), Time::NEVER);
}

#[test]
fn buffers_that_hold_no_packet_are_refused() {
    let link = |limit| {
        let queue = QueueConfig::DropTail { limit };
        LinkConfig { queue, ..LinkConfig::new(Rate::mbit(12), MS(1)) }
    };
    let said =
        |config: RegulatorConfig, limit| config.validate(&link(limit)).unwrap_err().to_string();
    let expected = "queue.limit is 0 packets; allowed: room for a packet of the MTU, for a \
                    regulator to watch";
    assert_eq!(said(bucket(), QueueLimit::Packets(0)), expected);
    let small = said(bucket(), QueueLimit::Octets(Bytes(1499)));
    assert!(small.starts_with("queue.limit is 1499 B; allowed: room for"), "{small}");
    let full = QueueLimit::Packets(10);
    let limit = QueueLimit::Octets(Bytes(79));
    assert_eq!(
        said(RegulatorConfig { limit, ..bucket() }, full),
        "limit is 79 B; allowed: at least 1 packet, or 80 B"
    );
    let recheck = Span::ZERO;
    assert!(said(RegulatorConfig { recheck, ..bucket() }, full).starts_with("recheck is "));
}

proptest! {
    /// Whatever comes when: nothing is lost or invented, order is kept, no ACK
    /// is held for more than the maximum, and the timer is never in the past.
    #[test]
    fn acks_leave_in_order_within_the_maximum(
        steps in prop::collection::vec((0_u64..30, 0_u32..4, any::<bool>()), 1..80),
        law in 0..2,
        limit in 1_u64..20,
        overflow in prop_oneof![
            Just(Overflow::DropTail), Just(Overflow::DropHead), Just(Overflow::Release)
        ],
    ) {
        let config = if law == 0 { linear(1, 6, MS(40)) } else { bucket() };
        let config = RegulatorConfig { limit: QueueLimit::Packets(limit), overflow, ..config };
        let mut bench = Bench::new(QueueLimit::Packets(10), config);
        let (mut now, mut came, mut out) = (Time::ZERO, Vec::new(), Vec::new());
        let mut released = |list: Vec<Regulated>| {
            for regulated in list {
                if let Regulated::Released { id, waited } = regulated {
                    assert!(law == 1 || waited <= MS(40));
                    out.push(id);
                }
            }
        };
        for (wait, data, ack) in steps {
            let next = now + MS(wait);
            while bench.regulator.next_event() <= next {
                let date = bench.regulator.next_event();
                released(bench.poll(date));
            }
            now = next;
            bench.data(now, data);
            if ack {
                let (id, left) = bench.ack(now);
                came.push(id);
                released(left);
            }
        }
        while bench.regulator.next_event() != Time::NEVER {
            let date = bench.regulator.next_event();
            released(bench.poll(date));
        }
        let counters = bench.regulator.counters();
        prop_assert_eq!(counters.held, 0);
        prop_assert_eq!(counters.released as usize, out.len());
        let mut rest = came.iter();
        prop_assert!(out.iter().all(|id| rest.any(|item| item == id)), "{:?} of {:?}", out, came);
    }
}
