//! Links with disciplines, transmitters and changing delays.

use super::super::tests::{Bench, any_impairment};
use crate::pool::PacketId;
use crate::{
    AckFilterConfig, BlueConfig, CakeAckFilter, CakeConfig, ChokeConfig, CoDelConfig, CoDelLaw,
    CobaltConfig, CobaltLaw, DelaySchedule, DrrConfig, DualPi2Config, FqCoDelConfig, FqPieConfig,
    HtbClass, HtbConfig, ImpairmentConfig, ImpairmentKind, JitterConfig, JitterLaw, LinkConfig,
    LinkEvent, LinkWatch, Pi2Config, PieConfig, Position, PriorityConfig, QueueConfig, QueueLimit,
    RateSchedule, RedConfig, SfqConfig, ThresholdConfig, TokenBucketConfig, TraceConfig,
    TransmitterConfig, Waiting,
};
use anabranch_endpoint::Generator;
use anabranch_testkit::marks::record;
use anabranch_units::{Bytes, Rate, Span, Time};
use anabranch_wire::{Addr, Body, Ecn, Packet, Payload};
use proptest::prelude::*;

mod overload;

const MS: fn(u64) -> Span = Span::from_millis;

fn at(span: Span) -> Time {
    Time::ZERO + span
}

/// 1500 octets take 1 ms, and 10 ms to the far end.
fn link(queue: QueueConfig) -> LinkConfig {
    LinkConfig { queue, ..LinkConfig::new(Rate::mbit(12), MS(10)) }
}

fn with(transmitter: TransmitterConfig) -> LinkConfig {
    LinkConfig { transmitter, ..LinkConfig::new(Rate::mbit(12), MS(10)) }
}

fn every_queue() -> Vec<QueueConfig> {
    every_queue_of(12)
}

fn every_queue_of(packets: u64) -> Vec<QueueConfig> {
    let limit = QueueLimit::Packets(packets);
    let red = RedConfig { limit, ecn: true, weight: Some(0.5), ..RedConfig::default() };
    let pie = PieConfig { limit, ecn: true, burst: MS(0), ..PieConfig::default() };
    let law = CoDelLaw { ecn: true, ..CoDelLaw::default() };
    let codel = CoDelConfig { limit, law };
    vec![
        QueueConfig::DropTail { limit },
        QueueConfig::Threshold(ThresholdConfig { limit, mark: QueueLimit::Packets(3) }),
        QueueConfig::Red(red),
        QueueConfig::Pie(pie),
        QueueConfig::CoDel(codel),
        QueueConfig::FqCoDel(FqCoDelConfig {
            limit: packets,
            queues: 4,
            ..FqCoDelConfig::default()
        }),
        QueueConfig::DualPi2(DualPi2Config { limit, ..DualPi2Config::default() }),
        QueueConfig::Priority(PriorityConfig { limit, ..PriorityConfig::default() }),
        QueueConfig::Drr(DrrConfig { limit, queues: 4, ..DrrConfig::default() }),
        QueueConfig::AckFilter(AckFilterConfig { limit, aggressive: true }),
        QueueConfig::Sfq(SfqConfig {
            limit: packets,
            queues: 4,
            depth: packets,
            perturb: Some(MS(40)),
            ..SfqConfig::default()
        }),
        QueueConfig::Cake(CakeConfig {
            limit: Some(limit),
            ack_filter: CakeAckFilter::Conservative,
            ..CakeConfig::default()
        }),
        // Twice the line: the class is never in debt when the line is free.
        QueueConfig::Htb(HtbConfig {
            classes: vec![HtbClass {
                queue: Some(Box::new(QueueConfig::DropTail { limit })),
                ..HtbClass::new("all", Rate::mbit(24))
            }],
            default: Some("all".to_owned()),
        }),
        QueueConfig::Cobalt(CobaltConfig {
            limit,
            law: CobaltLaw { ecn: true, ..CobaltLaw::default() },
        }),
        QueueConfig::Choke(ChokeConfig {
            limit,
            min: packets / 4,
            max: packets,
            weight: 0.5,
            ecn: true,
            ..ChokeConfig::default()
        }),
        QueueConfig::Blue(BlueConfig { limit, increment: 0.1, ecn: true, ..BlueConfig::default() }),
        QueueConfig::FqPie(FqPieConfig {
            limit: packets,
            queues: 4,
            law: PieConfig { ecn: true, burst: MS(0), ..PieConfig::default() },
            ..FqPieConfig::default()
        }),
        QueueConfig::Pi2(Pi2Config { limit, ecn: true, ..Pi2Config::default() }),
    ]
}

fn every_transmitter() -> Vec<TransmitterConfig> {
    vec![
        TransmitterConfig::Constant,
        TransmitterConfig::Schedule(RateSchedule {
            steps: vec![(MS(0), 12_000_000), (MS(20), 0), (MS(35), 3_000_000)],
            period: Some(MS(60)),
        }),
        TransmitterConfig::Trace(TraceConfig { millis: vec![0, 3, 3, 9, 20].into() }),
        TransmitterConfig::TokenBucket(TokenBucketConfig {
            rate: Rate::mbit(4),
            burst: Bytes(6000),
            peak: Some(Rate::mbit(8)),
        }),
    ]
}

/// A packet with a number, of one of a few flows, code points and ECN fields.
fn packet(size: u32, ident: u16, kind: u8) -> Packet {
    let payload = Payload::virtual_of(size - Packet::IP_HEADER);
    let packet = Packet::new(Addr(kind as u32 % 3), Addr(9), Body::Other { protocol: 17, payload });
    let dscp = if kind & 4 == 0 { 0 } else { 46 };
    Packet { ident, dscp, ecn: Ecn::from_bits(kind >> 4), ..packet }
}

/// Offers packets (date in microseconds, octets, kind) and drains the link.
fn play(config: &LinkConfig, offers: &[(u64, u32, u8)]) -> Bench {
    config.validate().unwrap();
    let mut bench = Bench::new(config);
    for (number, (us, size, kind)) in offers.iter().enumerate() {
        let now = at(Span::from_micros(*us));
        bench.run_until(now);
        bench.offer_packet(now, packet(*size, number as u16, *kind));
    }
    bench.run_until(Time::NEVER);
    bench
}

#[test]
fn every_discipline_sends_an_unhurried_flow_like_drop_tail() {
    // One packet a time: nothing to drop, mark or reorder.
    let offers: Vec<_> = (0..50).map(|i| (i * 2500, 1500, 0)).collect();
    let expected = play(&link(QueueConfig::default()), &offers).out;
    for queue in every_queue() {
        assert_eq!(play(&link(queue.clone()), &offers).out, expected, "{queue:?}");
    }
}

#[test]
fn every_fifo_sends_a_burst_at_the_same_dates() {
    let offers = [(0, 1500, 0); 8];
    let plain = play(&link(QueueConfig::default()), &offers).out;
    // Beyond the plain link, in general form: the same dates.
    let delays = DelaySchedule { steps: vec![(MS(0), MS(10))], period: None, keep_order: true };
    let general = LinkConfig { delays: Some(delays), ..link(QueueConfig::default()) };
    assert_eq!(play(&general, &offers).out, plain);
    for queue in [every_queue().remove(4), every_queue().remove(5)] {
        assert_eq!(play(&link(queue), &offers).out, plain);
    }
}

#[test]
fn priority_overtakes_in_the_queue_only() {
    let queue = QueueConfig::Priority(PriorityConfig::default());
    // Four of best effort, then one of EF (kind 4) while the first is sent.
    let offers = [(0, 1500, 0), (0, 1500, 0), (0, 1500, 0), (0, 1500, 0), (500, 1500, 4)];
    let out: Vec<_> = play(&link(queue), &offers).out.iter().map(|item| item.1).collect();
    assert_eq!(out, [0, 4, 1, 2, 3]);
}

#[test]
fn a_step_marks_what_finds_the_queue_long() {
    let config = ThresholdConfig { mark: QueueLimit::Packets(2), ..ThresholdConfig::default() };
    // ECT(0) is kind 0x20; one on the line, then 0, 1, 2, ... wait.
    let bench = play(&link(QueueConfig::Threshold(config)), &[(0, 1500, 0x20); 6]);
    assert_eq!(bench.counters().marked, 3);
    let bench = play(&link(QueueConfig::Threshold(config)), &[(0, 1500, 0); 6]);
    assert_eq!(bench.counters().marked, 0);
}

#[test]
fn codel_drops_at_the_head_and_the_counters_say_so() {
    let queue = QueueConfig::CoDel(CoDelConfig::default());
    // 1.25 times the rate for a second: the queue grows.
    let offers: Vec<_> = (0..1250).map(|i| (i * 800, 1500, 0)).collect();
    let counters = play(&link(queue), &offers).counters();
    assert!(counters.dropped_aqm > 5 && counters.dropped_queue == 0, "{counters:?}");
    let left = counters.delivered + counters.dropped();
    record("Q7", "CoDel: packets delivered and dropped of those received", 1250, left, "exact");
    assert_eq!(counters.delivered + counters.dropped_aqm, 1250);
}

#[test]
fn packets_wait_for_the_trace_and_codel_sees_it() {
    // One opportunity each 50 ms: what waits longer than 5 ms for 100 ms goes.
    let trace = TransmitterConfig::Trace(TraceConfig { millis: vec![50].into() });
    let offers: Vec<_> = (0..40).map(|i| (i * 25_000, 1500, 0)).collect();
    let config = LinkConfig { queue: QueueConfig::CoDel(CoDelConfig::default()), ..with(trace) };
    let bench = play(&config, &offers);
    assert!(
        bench
            .out
            .iter()
            .all(|item| (item.0 - at(MS(10))).as_picos().is_multiple_of(MS(50).as_picos()))
    );
    assert!(bench.counters().dropped_aqm > 0);
}

#[test]
fn a_trace_delivers_its_rate() {
    // Q5: N lines in T ms carry N · 12000 bits / T.
    let millis: Vec<u32> = (1..=1000).filter(|ms| ms % 7 < 3).chain([1000]).collect();
    let lines = millis.len();
    let trace = TransmitterConfig::Trace(TraceConfig { millis: millis.into() });
    let queue = QueueConfig::DropTail { limit: QueueLimit::Unlimited };
    let config = LinkConfig { queue, ..with(trace) };
    let bench = play(&config, &vec![(0, 1500, 0); 3 * lines]);
    assert_eq!(bench.out.len(), 3 * lines);
    assert_eq!(bench.out.last().unwrap().0, at(Span::from_secs(3) + MS(10)));
    let last = format!("{} s", bench.out.last().unwrap().0.as_secs_f64());
    record("Q5", "three rounds of a trace of one second, last arrival", "3.01 s", last, "exact");
    assert_eq!(bench.out[lines - 1].0, at(Span::from_secs(1) + MS(10)));
}

#[test]
fn an_outage_makes_packets_wait_and_the_queue_grow() {
    let schedule = RateSchedule {
        steps: vec![(MS(0), 12_000_000), (MS(5), 0), (MS(30), 12_000_000)],
        period: None,
    };
    let config = with(TransmitterConfig::Schedule(schedule));
    let mut bench = Bench::new(&config);
    for ms in 0..10 {
        bench.run_until(at(MS(ms)));
        bench.offer_packet(at(MS(ms)), packet(1500, ms as u16, 0));
    }
    // Five have left; those of 5 to 9 ms wait.
    assert_eq!(bench.link.waiting(at(MS(9))), Waiting { packets: 5, octets: 7500 });
    bench.run_until(Time::NEVER);
    let dates: Vec<_> = bench.out.iter().map(|item| item.0.as_millis()).collect();
    assert_eq!(dates, [11, 12, 13, 14, 15, 41, 42, 43, 44, 45]);
}

#[test]
fn shorter_delays_overtake_or_wait() {
    let dates = |keep_order| {
        let steps = vec![(MS(0), MS(50)), (MS(3), MS(10))];
        let delays = Some(DelaySchedule { steps, period: None, keep_order });
        let config = LinkConfig { delays, ..link(QueueConfig::default()) };
        let offers: Vec<_> = (0..5).map(|i| (i * 1000, 1500, 0)).collect();
        let out = play(&config, &offers).out;
        out.iter().map(|item| (item.0.as_millis(), item.1)).collect::<Vec<_>>()
    };
    // Those that leave at 1 and 2 ms take 50 ms, the others 10.
    assert_eq!(dates(true), [(51, 0), (52, 1), (52, 2), (52, 3), (52, 4)]);
    assert_eq!(dates(false), [(13, 2), (14, 3), (15, 4), (51, 0), (52, 1)]);
}

#[test]
fn jitter_keeps_order_or_not() {
    let out = |keep_order| {
        let kind = ImpairmentKind::Jitter(JitterConfig {
            mean: MS(20),
            deviation: MS(20),
            law: JitterLaw::Uniform,
            correlation: 0.0,
            keep_order,
        });
        let impairments = vec![ImpairmentConfig { kind, at: Position::Ingress }];
        let config = LinkConfig { impairments, ..link(QueueConfig::default()) };
        let offers: Vec<_> = (0..500).map(|i| (i * 2000, 1500, 0)).collect();
        play(&config, &offers).out
    };
    let (in_order, free) = (out(true), out(false));
    assert_eq!((in_order.len(), free.len()), (500, 500));
    assert!(in_order.is_sorted_by_key(|in_order| in_order.1));
    assert!(!free.is_sorted_by_key(|free| free.1));
    for (date, number) in free {
        let extra = date - at(MS(2) * number as u64 + MS(11));
        assert!(extra < MS(40));
    }
}

#[test]
fn packets_are_overtaken_by_the_distance() {
    let kind = ImpairmentKind::ReorderDistance { probability: 0.1, distance: 3, longest: MS(500) };
    let impairments = vec![ImpairmentConfig { kind, at: Position::Ingress }];
    let queue = QueueConfig::DropTail { limit: QueueLimit::Unlimited };
    let config = LinkConfig { impairments, ..link(queue) };
    let out = play(&config, &[(0, 1500, 0); 1000]).out;
    let order: Vec<_> = out.iter().map(|item| item.1).collect();
    assert_eq!(order.len(), 1000);
    let mut late = 0;
    for (place, number) in order.iter().enumerate() {
        let before = order[..place].iter().filter(|order| *order > number).count();
        // The last wait for their time.
        if before > 0 {
            late += 1;
            assert!(before == 3 || *number > 990, "{number}: {before}");
        }
    }
    assert!((70..=130).contains(&late), "{late}");
}

#[test]
fn what_nobody_follows_waits_no_longer_than_said() {
    let kind = ImpairmentKind::ReorderDistance { probability: 1.0, distance: 3, longest: MS(7) };
    let impairments = vec![ImpairmentConfig { kind, at: Position::Egress }];
    let bench = play(&LinkConfig { impairments, ..link(QueueConfig::default()) }, &[(0, 1500, 0)]);
    assert_eq!(bench.out, [(at(MS(18)), 0)]);
}

/// Counts what happens, and how long packets wait.
#[derive(Default)]
struct Log {
    waits: u64,
    left: u64,
    accepted: u64,
}

impl LinkWatch for Log {
    fn link_event(&mut self, _now: Time, event: LinkEvent, _packet: &Packet) {
        match event {
            LinkEvent::Waits => self.waits += 1,
            LinkEvent::Starts { .. } | LinkEvent::Removed(_) => self.left += 1,
            LinkEvent::Enqueued { .. } => self.accepted += 1,
            _ => {}
        }
    }
}

#[test]
fn what_joins_a_queue_leaves_it_in_the_events_too() {
    for queue in every_queue() {
        let mut bench = Bench::new(&link(queue.clone()));
        let mut log = Log::default();
        for i in 0..60_u16 {
            let now = at(Span::from_micros(300) * i as u64);
            while bench.link.next_event() <= now {
                let date = bench.link.next_event();
                bench.link.handle_event(date, &mut bench.pool, Some(&mut log));
            }
            let id = bench.pool.insert(packet(1500, i, (i % 256) as u8));
            bench.link.offer(now, id, &mut bench.pool, Some(&mut log));
        }
        while bench.link.next_event() != Time::NEVER {
            let date = bench.link.next_event();
            bench.link.handle_event(date, &mut bench.pool, Some(&mut log));
        }
        let counters = bench.counters();
        let refused = counters.received - log.waits - log.accepted;
        assert_eq!(log.waits, log.left, "{queue:?}");
        assert!(refused <= counters.dropped());
        assert_eq!(log.waits == 0, log.accepted > 0, "{queue:?}");
    }
}

/// Poisson arrivals of `size()` octets at a mean rate per second; the mean
/// wait in milliseconds of those accepted, the share refused, and the mean
/// number waiting by the queue's own count at arrivals.
fn poisson(
    config: &LinkConfig,
    per_second: f64,
    n: u32,
    size: impl Fn(&mut Generator) -> u32,
) -> Queueing {
    let mut arrivals = Generator::from_u64(77);
    let mut bench = Bench::new(config);
    let mut now = 0.0;
    let mut seen = 0.0;
    for i in 0..n {
        now += -libm::log(1.0 - arrivals.uniform()) / per_second;
        let date = Time::ZERO + Span::from_secs_f64(now).unwrap();
        bench.run_until(date);
        seen += bench.link.waiting(date).packets as f64;
        let octets = size(&mut arrivals);
        bench.offer_packet(date, packet(octets, i as u16, 0x10)); // ECT(1)
    }
    bench.run_until(Time::NEVER);
    let lost = bench.counters().dropped() as f64 / n as f64;
    Queueing { sojourn: bench.mean_sojourn(), lost, seen: seen / n as f64, elapsed: now }
}

struct Queueing {
    sojourn: f64,
    lost: f64,
    seen: f64,
    elapsed: f64,
}

#[test]
fn m_d_1_waits_as_pollaczek_and_khinchine_say() {
    // Q1: mean wait rho / (2 mu (1 - rho)), mu = 1000 per second.
    for (rho, tolerance) in [(0.3, 0.01), (0.6, 0.015), (0.8, 0.03)] {
        // All disciplines serve one flow of ECN-capable packets alike, as long
        // as they only mark; at the lower and higher load two stand for all.
        let all = every_queue_of(100_000);
        let some = [all[0].clone(), all[8].clone()];
        for queue in if rho == 0.6 { all } else { some.to_vec() } {
            let q = poisson(&link(queue.clone()), 1000.0 * rho, 300_000, |_| 1500);
            let wait = q.sojourn - 0.001 - 0.010;
            let expected = rho / (2.0 * 1000.0 * (1.0 - rho));
            assert_eq!(q.lost, 0.0, "{queue:?}");
            assert!(
                (wait / expected - 1.0).abs() < tolerance,
                "{rho}: {wait} {expected} {queue:?}"
            );
            // Little's law, by what arrivals see (PASTA): L_q = lambda W_q.
            let waiting = 1000.0 * rho * wait;
            if matches!(queue, QueueConfig::DropTail { .. }) {
                let what = |of: &str| format!("{of} at load {rho}");
                let within = |share: f64| format!("within {:.1} %", share * 100.0);
                let ms = |s: f64| format!("{:.4} ms", s * 1e3);
                record("Q1", &what("M/D/1 mean wait"), ms(expected), ms(wait), &within(tolerance));
                let packets = |n: f64| format!("{n:.4} packets");
                record(
                    "Q1",
                    &what("Little's law"),
                    packets(waiting),
                    packets(q.seen),
                    &within(tolerance + 0.01),
                );
            }
            assert!((q.seen / waiting - 1.0).abs() < tolerance + 0.01, "{} {waiting}", q.seen);
        }
    }
}

#[test]
fn m_m_1_k_loses_as_its_closed_form_says() {
    // Q1: (1 - rho) rho^K / (1 - rho^(K+1)) with K the packet on the line and
    // those waiting; sizes are exponential, in octets around 15,000.
    for (rho, waiting) in [(0.8_f64, 4_u64), (1.2, 9)] {
        let k = waiting as i32 + 1;
        let mut config = link(QueueConfig::DropTail { limit: QueueLimit::Packets(waiting) });
        config.mtu = Bytes(1 << 22);
        config.rate = Rate::mbit(120); // 15,000 octets a millisecond
        let exponential =
            |g: &mut Generator| (-libm::log(1.0 - g.uniform()) * 15_000.0).max(21.0) as u32;
        let q = poisson(&config, 1000.0 * rho, 400_000, exponential);
        let expected = (1.0 - rho) * rho.powi(k) / (1.0 - rho.powi(k + 1));
        let what = format!("M/M/1/K loss, load {rho}, K {k}");
        let share = |p: f64| format!("{p:.5}");
        record("Q1", &what, share(expected), share(q.lost), "within 3 %");
        assert!((q.lost / expected - 1.0).abs() < 0.03, "{rho}: {} {expected}", q.lost);
        assert!(q.elapsed > 100.0);
    }
}

fn any_config() -> impl Strategy<Value = LinkConfig> {
    let impairments = prop::collection::vec(any_impairment(), 0..3);
    (0..every_queue().len(), 0..every_transmitter().len(), impairments, any::<Option<bool>>())
        .prop_map(|(queue, transmitter, impairments, order)| LinkConfig {
            queue: every_queue().remove(queue),
            transmitter: every_transmitter().remove(transmitter),
            delays: order.map(|keep_order| DelaySchedule {
                steps: vec![(MS(0), MS(20)), (MS(7), MS(1))],
                period: Some(MS(15)),
                keep_order,
            }),
            impairments,
            ..LinkConfig::new(Rate::mbit(6), MS(10))
        })
}

proptest! {
    /// Q7, for every discipline, transmitter and impairment: conservation
    /// after every offer and event (checked by the bench), the link ends
    /// empty, and the same offers give the same run.
    #[test]
    fn conserves_packets_and_is_deterministic(
        config in any_config(),
        offers in prop::collection::vec((0_u64..3000, 21_u32..1600, any::<u8>()), 1..150),
    ) {
        let mut now = 0;
        let offers: Vec<_> = offers
            .into_iter()
            .map(|(gap, size, kind)| { now += gap; (now, size, kind) })
            .collect();
        let bench = play(&config, &offers);
        let counters = bench.counters();
        prop_assert_eq!(counters.queued, 0);
        prop_assert_eq!(counters.received, offers.len() as u64);
        prop_assert!(bench.out.is_sorted_by_key(|item| item.0));
        prop_assert_eq!(&play(&config, &offers).out, &bench.out);
    }
}

/// A shaper of half the line's rate: packets of 1 ms leave 2 ms apart, on the line and after an idle time.
#[test]
fn a_shaper_holds_packets_while_the_line_is_free() {
    let config = CakeConfig { rate: Some(Rate::mbit(6)), wash: true, ..CakeConfig::default() };
    let mut offers = vec![(0, 1500, 4); 50];
    offers.extend([(500_000, 1500, 4); 50]);
    let mut bench = play(&link(QueueConfig::Cake(config)), &offers);
    let leaves = |number: u64| at(MS(number / 50 * 500 + number % 50 * 2 + 11));
    let expected: Vec<_> = (0..100).map(|number| (leaves(number), number as u32)).collect();
    assert_eq!(bench.out, expected);
    // The first fifty had the slots of the pool that the others took later.
    let codes = (0..50).map(|slot| bench.pool.packet(PacketId(slot)).dscp);
    assert!(codes.sum::<u8>() == 0, "washed");
}

/// A line of ATM asks for packets when its source may send: nothing else may hold them.
#[test]
fn no_shaper_before_a_line_of_atm() {
    let config = CakeConfig { rate: Some(Rate::mbit(6)), ..CakeConfig::default() };
    let cells =
        |config| LinkConfig { queue: QueueConfig::Cake(config), ..with(TransmitterConfig::Cells) };
    let error = cells(config).validate().unwrap_err().to_string();
    assert!(error.starts_with("queue is with a rate of its own; allowed: no shaper"), "{error}");
    assert_eq!(cells(CakeConfig::default()).validate(), Ok(()));
}
