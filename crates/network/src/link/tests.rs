use super::*;
use crate::{ImpairmentConfig, ImpairmentKind, JitterConfig, JitterLaw, OutageConfig, Position};
use anabranch_units::Rate;
use anabranch_wire::{Addr, Body, Payload};
use proptest::prelude::*;

const MS: fn(u64) -> Span = Span::from_millis;

fn config() -> LinkConfig {
    LinkConfig::new(Rate::mbit(12), MS(10)) // 1500 octets take 1 ms
}

fn impaired(kind: ImpairmentKind, at: Position) -> LinkConfig {
    LinkConfig { impairments: vec![ImpairmentConfig { kind, at }], ..config() }
}

/// A link, the packets in it, and what came out.
pub(super) struct Bench {
    pub link: Link,
    pub pool: PacketPool,
    pub out: Vec<(Time, u32)>,
    /// Sum of the dates of offers.
    offered: f64,
}

impl Bench {
    pub fn new(config: &LinkConfig) -> Bench {
        let link = Link::new(config, Generator::from_u64(5));
        Bench { link, pool: PacketPool::new(), out: Vec::new(), offered: 0.0 }
    }

    /// Offers a packet of `size` octets with its number in the `ident` field.
    pub fn offer(&mut self, now: Time, size: u32, ident: u16) {
        let payload = Payload::virtual_of(size - Packet::IP_HEADER);
        let packet = Packet::new(Addr(0), Addr(1), Body::Other { protocol: 17, payload });
        self.offer_packet(now, Packet { ident, ..packet });
    }

    pub fn offer_packet(&mut self, now: Time, packet: Packet) {
        let id = self.pool.insert(packet);
        self.offered += now.as_secs_f64();
        let before = self.link.next_event();
        let changed = self.link.offer(now, id, &mut self.pool, None);
        assert_eq!(changed.unwrap_or(before), self.link.next_event(), "a change is told");
        self.check();
    }

    pub fn run_until(&mut self, end: Time) {
        while self.link.next_event() <= end && self.link.next_event() != Time::NEVER {
            let now = self.link.next_event();
            if let Some(id) = self.link.handle_event(now, &mut self.pool, None) {
                self.out.push((now, self.pool.packet(id).ident as u32));
                self.pool.release(id);
            }
            self.check();
        }
    }

    /// Q7.
    pub fn check(&self) {
        let counters = self.link.counters();
        assert!(counters.is_conserved(), "{counters:?}");
        assert_eq!(self.pool.live() as u64, counters.queued);
    }

    /// Seconds from the offer to the far end, where nothing is lost.
    pub fn mean_sojourn(&self) -> f64 {
        let arrived: f64 = self.out.iter().map(|item| item.0.as_secs_f64()).sum();
        (arrived - self.offered) / self.out.len() as f64
    }

    pub fn counters(&self) -> LinkCounters {
        self.link.counters()
    }
}

fn at(span: Span) -> Time {
    Time::ZERO + span
}

#[test]
fn back_to_back_packets_follow_the_closed_form() {
    // The i-th arrival of a burst is i L / C + delay, exact to the picosecond
    // when a packet's time is.
    for bps in [10_000_000, 7_000_000, 400_000_000_000] {
        let rate = Rate::from_bps(bps).unwrap();
        let mut bench = Bench::new(&LinkConfig { rate, ..config() });
        for i in 0..50 {
            bench.offer(Time::ZERO, 1500, i);
        }
        bench.run_until(Time::NEVER);
        let each = rate.time_for(Bytes(1500));
        let expected: Vec<_> = (0..50).map(|i| (at(each * (i + 1) + MS(10)), i as u32)).collect();
        assert_eq!(bench.out, expected);
    }
}

#[test]
fn an_idle_link_starts_at_once() {
    let mut bench = Bench::new(&config());
    bench.offer(Time::ZERO, 1500, 0);
    bench.offer(at(MS(5)), 750, 1);
    bench.run_until(Time::NEVER);
    assert_eq!(bench.out, [(at(MS(11)), 0), (at(Span::from_micros(15_500)), 1)]);
    assert_eq!(bench.link.next_event(), Time::NEVER);
}

#[test]
fn drop_tail_counts_waiting_packets_without_the_one_on_the_line() {
    let queue = QueueConfig::DropTail { limit: QueueLimit::Packets(3) };
    let mut bench = Bench::new(&LinkConfig { queue, ..config() });
    for i in 0..10 {
        bench.offer(Time::ZERO, 1500, i);
    }
    assert_eq!(bench.counters().dropped_queue, 6); // one on the line, three wait
    assert_eq!(bench.link.waiting(Time::ZERO), Waiting { packets: 3, octets: 4500 });
    // At 1 ms the first has left and the second is on the line: one place.
    assert_eq!(bench.link.waiting(at(MS(1))), Waiting { packets: 2, octets: 3000 });
    bench.offer(at(MS(1)), 1500, 10);
    bench.offer(at(MS(1)), 1500, 11);
    assert_eq!(bench.counters().dropped_queue, 7);
    bench.run_until(Time::NEVER);
    assert_eq!(bench.out.iter().map(|item| item.1).collect::<Vec<_>>(), [0, 1, 2, 3, 10]);
    assert_eq!(bench.link.waiting(at(MS(100))), Waiting::default());
}

#[test]
fn drop_tail_limits_octets() {
    let queue = QueueConfig::DropTail { limit: QueueLimit::Octets(Bytes(3100)) };
    let mut bench = Bench::new(&LinkConfig { queue, ..config() });
    for (i, size) in [1500, 1500, 1500, 1500, 100, 40].into_iter().enumerate() {
        bench.offer(Time::ZERO, size, i as u16);
    }
    bench.run_until(Time::NEVER);
    assert_eq!(bench.out.iter().map(|item| item.1).collect::<Vec<_>>(), [0, 1, 2, 4]);
    assert_eq!(bench.counters().bytes_dropped, 1540);
}

#[test]
fn packets_larger_than_the_mtu_are_dropped() {
    let mut bench = Bench::new(&config());
    bench.offer(Time::ZERO, 1501, 0);
    bench.offer(Time::ZERO, 1500, 1);
    assert_eq!((bench.counters().dropped_mtu, bench.counters().queued), (1, 1));
}

/// 1500 octets over a link of 1400 are 1396 and 124 octets, which are carried as one.
#[test]
fn what_ip_may_cut_is_carried_with_the_headers_of_its_fragments() {
    let payload = Payload::virtual_of(1480);
    let packet = Packet::new(Addr(0), Addr(1), Body::Other { protocol: 17, payload });
    let none = ImpairmentKind::Packets { flow: packet.flow_key().into(), numbers: vec![9] };
    for link in [config(), impaired(none, Position::Ingress)] {
        let mut bench = Bench::new(&LinkConfig { mtu: Bytes(1400), ..link });
        bench.offer_packet(Time::ZERO, Packet { may_fragment: true, ident: 7, ..packet.clone() });
        bench.offer_packet(Time::ZERO, packet.clone());
        bench.run_until(Time::NEVER);
        assert_eq!(bench.out.iter().map(|item| item.1).collect::<Vec<_>>(), [7]);
        let counters = bench.counters();
        assert_eq!((counters.dropped_mtu, counters.bytes_delivered), (1, 1396 + 124));
    }
}

#[test]
fn egress_losses_use_the_link_and_ingress_losses_do_not() {
    let key = |bench: &mut Bench| {
        let id = bench.pool.insert(Packet::new(
            Addr(0),
            Addr(1),
            Body::Other { protocol: 17, payload: Payload::virtual_of(1) },
        ));
        let key = bench.pool.packet(id).flow_key();
        bench.pool.release(id);
        key
    };
    let flow = key(&mut Bench::new(&config()));
    for (position, second) in [(Position::Ingress, 11), (Position::Egress, 12)] {
        let kind = ImpairmentKind::Packets { flow: flow.into(), numbers: vec![1] };
        let mut bench = Bench::new(&impaired(kind, position));
        bench.offer(Time::ZERO, 1500, 0);
        bench.offer(Time::ZERO, 1500, 1);
        bench.run_until(Time::NEVER);
        assert_eq!(bench.out, [(at(MS(second)), 1)]);
        assert_eq!(bench.counters().dropped_loss, 1);
    }
}

#[test]
fn held_back_packets_are_overtaken() {
    let kind = ImpairmentKind::Reorder { probability: 0.3, extra: MS(4) };
    let mut bench = Bench::new(&impaired(kind, Position::Ingress));
    for i in 0..40 {
        bench.offer(Time::ZERO, 1500, i);
    }
    bench.run_until(Time::NEVER);
    assert_eq!(bench.out.len(), 40);
    assert!(bench.out.is_sorted_by_key(|item| item.0));
    let mut late = 0;
    for (date, number) in &bench.out {
        let usual = at(MS(11 + *number as u64));
        assert!(*date == usual || *date == usual + MS(4));
        late += (*date != usual) as u32;
    }
    assert!((5..=20).contains(&late), "{late}");
}

#[test]
fn copies_follow_their_originals() {
    let kind = ImpairmentKind::Duplicate { probability: 1.0 };
    let mut bench = Bench::new(&impaired(kind, Position::Egress));
    bench.offer(Time::ZERO, 1500, 7);
    bench.run_until(Time::NEVER);
    assert_eq!(bench.out, [(at(MS(11)), 7), (at(MS(12)), 7)]);
    assert_eq!(bench.counters().duplicated, 1);
}

#[test]
fn bit_errors_are_counted_as_corrupt() {
    // Q3: 1 - (1 - 1e-6)^12000 = 1.193 %.
    let mut bench =
        Bench::new(&impaired(ImpairmentKind::BitErrors { ber: 1e-6 }, Position::Egress));
    let n = 200_000_u64;
    for i in 0..n {
        let now = at(MS(i));
        bench.run_until(now);
        bench.offer(now, 1500, i as u16);
    }
    bench.run_until(Time::NEVER);
    let share = bench.counters().dropped_corrupt as f64 / n as f64;
    // Standard error 0.000243.
    assert!((share - 0.011_93).abs() < 0.001, "{share}");
}

pub(super) fn any_impairment() -> impl Strategy<Value = ImpairmentConfig> {
    let probability = 0.0..=1.0;
    let kind = prop_oneof![
        probability.clone().prop_map(|rate| ImpairmentKind::Bernoulli { rate }),
        [(); 4]
            .map(|()| probability.clone())
            .prop_map(|[p, r, k, h]| { ImpairmentKind::GilbertElliott { p, r, k, h } }),
        (0.0..1e-3).prop_map(|ber| ImpairmentKind::BitErrors { ber }),
        (probability.clone(), 0_u64..30).prop_map(|(probability, ms)| {
            ImpairmentKind::Reorder { probability, extra: MS(ms) }
        }),
        (probability.clone(), 1_u32..6, 0_u64..80).prop_map(|(probability, distance, ms)| {
            ImpairmentKind::ReorderDistance { probability, distance, longest: MS(ms) }
        }),
        (0_u64..20, 0_u64..20, 0.0..0.9, any::<bool>()).prop_map(
            |(mean, deviation, rho, order)| {
                ImpairmentKind::Jitter(JitterConfig {
                    mean: MS(mean),
                    deviation: MS(deviation),
                    law: JitterLaw::Pareto,
                    correlation: rho,
                    keep_order: order,
                })
            }
        ),
        probability
            .clone()
            .prop_map(|probability| ImpairmentKind::Corrupt { probability, bits: 2 }),
        (0_u64..50).prop_map(|ms| {
            let intervals = vec![(MS(ms), MS(30))];
            ImpairmentKind::Outage(OutageConfig { intervals, period: Some(MS(100)) })
        }),
        Just(ImpairmentKind::Police { rate: Rate::mbit(1), burst: Bytes(5000) }),
        probability.prop_map(|probability| ImpairmentKind::Duplicate { probability }),
    ];
    let at = prop_oneof![Just(Position::Ingress), Just(Position::Egress)];
    (kind, at).prop_map(|(kind, at)| ImpairmentConfig { kind, at })
}

proptest! {
    /// Q7: received + duplicated = delivered + dropped + queued after every
    /// offer and every event, and the link ends empty.
    #[test]
    fn conserves_packets(
        impairments in prop::collection::vec(any_impairment(), 0..4),
        limit in prop_oneof![
            (0_u64..20).prop_map(QueueLimit::Packets),
            (0_u64..20_000).prop_map(|n| QueueLimit::Octets(Bytes(n))),
            Just(QueueLimit::Unlimited),
        ],
        bps in 100_000_u64..1_000_000_000,
        delay in 0_u64..50,
        offers in prop::collection::vec((0_u64..2000, 21_u32..1600), 1..200),
    ) {
        let queue = QueueConfig::DropTail { limit };
        let rate = Rate::from_bps(bps).unwrap();
        let config = LinkConfig { queue, impairments, ..LinkConfig::new(rate, MS(delay)) };
        let mut bench = Bench::new(&config);
        let mut now = Time::ZERO;
        for (gap, size) in &offers {
            now += Span::from_micros(*gap);
            bench.run_until(now);
            bench.offer(now, *size, 0);
            if let QueueLimit::Packets(limit) = limit {
                prop_assert!(bench.link.waiting(now).packets <= limit);
            }
        }
        bench.run_until(Time::NEVER);
        let counters = bench.counters();
        prop_assert_eq!(counters.queued, 0);
        prop_assert_eq!(counters.received, offers.len() as u64);
        prop_assert!(bench.out.is_sorted_by_key(|item| item.0));
    }

    /// What waits, counted lazily, is what a replay of all dates counts.
    #[test]
    fn waiting_agrees_with_a_replay(
        offers in prop::collection::vec((0_u64..3000, 40_u32..1500), 1..100),
    ) {
        let queue = QueueConfig::DropTail { limit: QueueLimit::Unlimited };
        let mut bench = Bench::new(&LinkConfig { queue, ..config() });
        let (mut now, mut free) = (Time::ZERO, Time::ZERO);
        let mut starts = Vec::new();
        for (gap, size) in offers {
            now += Span::from_micros(gap);
            bench.run_until(now);
            bench.offer(now, size, 0);
            let start = now.max(free);
            free = start + Rate::mbit(12).time_for(Bytes(size as u64));
            starts.push((start, size as u64));
            let still = starts.iter().filter(|start| start.0 > now);
            let octets = still.clone().map(|still| still.1).sum();
            prop_assert_eq!(bench.link.waiting(now), Waiting { packets: still.count() as u64, octets });
        }
    }
}
