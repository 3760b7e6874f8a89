//! CAKE packet by packet, and in the steady state.

use super::super::item::testing::{at_us, item};
use super::*;
use crate::hash::flow_hash;
use anabranch_testkit::marks::record;
use anabranch_units::Serial32;
use anabranch_wire::{Addr, Body, Ecn, Payload, TcpFlags, TcpOptions, TcpSegment};

const MS: fn(u64) -> Span = Span::from_millis;

fn cake(config: CakeConfig) -> Cake {
    config.validate().unwrap();
    Cake::new(&config, Bytes(1500), Generator::from_u64(2018))
}

fn shaped(rate: Rate) -> CakeConfig {
    CakeConfig { rate: Some(rate), tins: CakeTins::BestEffort, ..CakeConfig::default() }
}

/// A segment of so many octets with its IP header; one of 40 is a pure ACK.
fn segment(from: u32, to: u32, port: u16, size: u32, ack: u32) -> Packet {
    let segment = TcpSegment {
        src_port: port,
        dst_port: 80,
        seq: Serial32(0),
        ack: Serial32(ack),
        flags: TcpFlags::ACK,
        window: 1000,
        urgent: 0,
        options: TcpOptions::default(),
        payload: Payload::virtual_of(size - 40),
    };
    Packet::new(Addr(from), Addr(to), Body::Tcp(segment))
}

/// What comes: the item and the packet.
fn offer(cake: &mut Cake, id: u32, since: Time, packet: &Packet, dscp: u8) -> Losses {
    let mut losses = Losses::new();
    let item = Item {
        dscp,
        flow: flow_hash(&packet.flow_key()),
        pure_ack: packet.is_pure_ack(),
        ecn: packet.ecn,
        ..item(id, packet.wire_len().0 as u32, since)
    };
    cake.enqueue(item, packet, &mut losses);
    losses
}

/// A source that always has packets waiting: who sends, to whom, from which port, of which size and
/// code point.
#[derive(Clone, Copy)]
struct Source {
    from: u32,
    to: u32,
    port: u16,
    size: u32,
    dscp: u8,
}

/// Lets sources that do not slow down keep two packets each in the queue, which it never drops (all leave
/// with the date at which they came). Returns the octets of each, and the time that it took.
fn backlogged(cake: &mut Cake, sources: &[Source], packets: u32) -> (Vec<u64>, Span) {
    let mut sent = vec![0; sources.len()];
    let mut now = Time::ZERO;
    let put = |cake: &mut Cake, now, number: usize| {
        let Source { from, to, port, size, dscp } = sources[number];
        let lost = offer(cake, number as u32, now, &segment(from, to, port, size, 0), dscp);
        assert!(lost.is_empty());
    };
    for number in 0..sources.len() {
        put(cake, now, number);
        put(cake, now, number);
    }
    for _ in 0..packets {
        now = now.max(cake.opens_at());
        let mut losses = Losses::new();
        let item = cake.dequeue(now, &mut losses).expect("packets wait, and the shaper is open");
        // What is dropped is offered anew: the queue stays as full as it was.
        for (lost, _) in &losses {
            put(cake, now, lost.id.0 as usize);
        }
        sent[item.id.0 as usize] += u64::from(item.size);
        put(cake, now, item.id.0 as usize);
    }
    (sent, now.max(cake.opens_at()).saturating_since(Time::ZERO))
}

fn shares(sent: &[u64]) -> Vec<f64> {
    let all: u64 = sent.iter().sum();
    sent.iter().map(|octets| *octets as f64 / all as f64).collect()
}

#[test]
fn frames_of_a_packet() {
    let on_the_line = |config: CakeConfig| {
        [40, 64, 576, 1500].map(|size| CakeConfig { ..config }.on_the_line(size))
    };
    let plain = CakeConfig::default();
    assert_eq!(on_the_line(plain), [40, 64, 576, 1500]);
    assert_eq!(on_the_line(CakeConfig { overhead: -14, ..plain }), [26, 50, 562, 1486]);
    let mpu = CakeConfig { overhead: 38, mpu: Bytes(84), ..plain };
    assert_eq!(on_the_line(mpu), [84, 102, 614, 1538]);
    // PPPoE over ATM adaptation layer 5: 40 octets more; 2, 3, 13 and 33 cells.
    let atm = CakeConfig { overhead: 40, framing: CakeFraming::Atm, ..plain };
    assert_eq!(on_the_line(atm), [2 * 53, 3 * 53, 13 * 53, 33 * 53]);
    // Of 70, 94, 606 and 1530 octets begin 2, 2, 10 and 24 codewords.
    let ptm = CakeConfig { overhead: 30, framing: CakeFraming::Ptm, ..plain };
    assert_eq!(on_the_line(ptm), [72, 96, 616, 1554]);
}

/// Octets on the line by rate, for a queue that never is empty.
#[test]
fn the_shaper_keeps_its_rate_for_every_size_and_framing() {
    let mut worst = 0.0_f64;
    for (framing, overhead) in
        [(CakeFraming::None, 0), (CakeFraming::Atm, 44), (CakeFraming::Ptm, 30)]
    {
        for size in [40, 64, 300, 576, 1447, 1500] {
            for kbit in [128, 1000, 20_000, 987_654] {
                let rate = Rate::kbit(kbit);
                let config = CakeConfig { framing, overhead, ..shaped(rate) };
                let source = Source { from: 1, to: 2, port: 1, size, dscp: 0 };
                let (sent, took) = backlogged(&mut cake(config), &[source; 1], 3000);
                assert_eq!(sent[0], 3000 * u64::from(size));
                let bits = 3000.0 * 8.0 * config.on_the_line(size) as f64;
                let measured = bits / took.as_secs_f64();
                worst = worst.max((measured / rate.as_bps() as f64 - 1.0).abs());
            }
        }
    }
    let what = "CAKE: error of the shaper's rate, 40 to 1500 B, 128 kbit/s to 988 Mbit/s, ATM, PTM";
    record("Q4", what, "0", format!("{worst:.1e}"), "1e-3");
    assert!(worst < 1e-6, "{worst}");
}

/// 12 Mbit/s: 1500 octets take 1 ms. After an idle second packets leave one by one.
#[test]
fn there_is_no_burst() {
    let mut cake = cake(shaped(Rate::mbit(12)));
    let packet = segment(1, 2, 1, 1500, 0);
    let mut losses = Losses::new();
    let mut left = Vec::new();
    for start in [0, 1_000_000] {
        for id in 0..4 {
            offer(&mut cake, id, at_us(start), &packet, 0);
        }
        for us in (0..5000).step_by(250) {
            if cake.dequeue(at_us(start + us), &mut losses).is_some() {
                left.push(us);
            }
        }
    }
    assert_eq!(left, [0, 1000, 2000, 3000, 0, 1000, 2000, 3000]);
    // A packet that comes while the last one takes its time waits for it.
    offer(&mut cake, 9, at_us(1_003_500), &packet, 0);
    assert_eq!(cake.opens_at(), at_us(1_004_000));
    assert_eq!(cake.dequeue(at_us(1_003_999), &mut losses), None);
    assert!(cake.dequeue(at_us(1_004_000), &mut losses).is_some());
}

#[test]
fn code_points_have_their_tins() {
    let of = |tins: CakeTins, points: &[usize]| {
        points.iter().map(|dscp| tins.by_code_point()[*dscp]).collect::<Vec<_>>()
    };
    // Best effort, CS1, LE, AF11, AF21, AF41, CS2, CS3, CS4, CS5, VA, EF, CS6, CS7, one of no name.
    let points = [0, 8, 1, 10, 18, 34, 16, 24, 32, 40, 44, 46, 48, 56, 63];
    assert_eq!(of(CakeTins::BestEffort, &points), [0; 15]);
    let three = [0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 0];
    assert_eq!(of(CakeTins::Diffserv3, &points), three);
    let four = [0, 1, 1, 0, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 0];
    assert_eq!(of(CakeTins::Diffserv4, &points), four);
    let eight = [2, 1, 0, 1, 4, 3, 5, 3, 6, 6, 6, 6, 7, 7, 2];
    assert_eq!(of(CakeTins::Diffserv8, &points), eight);
    let precedence = [0, 1, 0, 1, 2, 4, 2, 3, 4, 5, 5, 5, 6, 7, 7];
    assert_eq!(of(CakeTins::Precedence, &points), precedence);
}

/// A packet of each of these code points always waits. Returns their shares of the octets.
fn tin_shares(tins: CakeTins, rate: Option<Rate>, points: &[u8]) -> Vec<f64> {
    let source = |(number, dscp): (usize, &u8)| Source {
        from: 1,
        to: 2,
        port: number as u16,
        size: 1500,
        dscp: *dscp,
    };
    let sources: Vec<_> = points.iter().enumerate().map(source).collect();
    let mut cake = cake(CakeConfig { rate, tins, ..CakeConfig::default() });
    shares(&backlogged(&mut cake, &sources, 40_000).0)
}

fn close(measured: &[f64], expected: &[f64], within: f64) {
    let is_close = measured.iter().zip(expected).all(|(a, b)| (a - b).abs() < within);
    assert!(is_close && measured.len() == expected.len(), "{measured:.4?}, not {expected:.4?}");
}

/// Each tin has its share, from the last on, as far as the rate goes; the first of them that has less than its
/// share takes what is left.
#[test]
fn tins_under_load_have_their_shares() {
    let rate = Some(Rate::mbit(50));
    let four = tin_shares(CakeTins::Diffserv4, rate, &[0, 8, 34, 46]);
    let expected = [3.0 / 16.0, 1.0 / 16.0, 0.5, 0.25];
    let what = "CAKE: shares of four loaded tins, diffserv4 (rest, 1/16, 1/2, 1/4)";
    record("Q4", what, format!("{expected:.4?}"), format!("{four:.4?}"), "within 0.001");
    close(&four, &expected, 0.001);
    let three = tin_shares(CakeTins::Diffserv3, rate, &[0, 8, 46]);
    close(&three, &[11.0 / 16.0, 1.0 / 16.0, 0.25], 0.001);
    // What a tin beyond its share has depends on who else sends.
    close(&tin_shares(CakeTins::Diffserv4, rate, &[0, 46]), &[0.75, 0.25], 0.001);
    // Both are ahead of their clocks: voice by three packets each time, so that background, whose clock a
    // packet moves by 16, has one of 14.
    let beyond = tin_shares(CakeTins::Diffserv4, rate, &[8, 46]);
    close(&beyond, &[1.0 / 14.0, 13.0 / 14.0], 0.001);
    close(&tin_shares(CakeTins::Diffserv4, rate, &[46]), &[1.0], 0.001);
    // Eight tins: the shares of the last three are more than the rate, and the first five starve.
    let eight = tin_shares(CakeTins::Diffserv8, rate, &[1, 8, 0, 24, 18, 16, 32, 48]);
    let (last, before) = ((7.0_f64 / 8.0).powi(7), (7.0_f64 / 8.0).powi(6));
    close(&eight, &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0 - last - before, before, last], 0.001);
}

/// Without a rate: turns of 1024, 64, 512 and 256 octets.
#[test]
fn tins_without_a_rate_take_turns() {
    let all = 1856.0;
    let four = tin_shares(CakeTins::Diffserv4, None, &[0, 8, 34, 46]);
    close(&four, &[1024.0 / all, 64.0 / all, 512.0 / all, 256.0 / all], 0.002);
    let eight = tin_shares(CakeTins::Precedence, None, &[0, 56]);
    close(&eight, &[256.0 / 356.0, 100.0 / 356.0], 0.002);
}

/// A packet of voice leaves next, though best effort has waited, as long as voice keeps to its share.
#[test]
fn voice_goes_first_up_to_its_share() {
    let tins = CakeTins::Diffserv4;
    let mut cake = cake(CakeConfig { tins, ..shaped(Rate::mbit(12)) });
    for id in 0..8 {
        offer(&mut cake, id, Time::ZERO, &segment(1, 2, 1, 1500, 0), 0);
        offer(&mut cake, 10 + id, Time::ZERO, &segment(1, 2, 2, 1500, 0), 46);
    }
    let mut losses = Losses::new();
    let order: Vec<_> = (0..9)
        .filter_map(|ms| cake.dequeue(at_us(ms * 1000), &mut losses))
        .map(|item| item.id.0)
        .collect();
    // One of four is voice's.
    assert_eq!(order, [10, 0, 1, 2, 11, 3, 4, 5, 12]);
}

/// 18 ms are one and a half packets at 1 Mbit/s, 288 ms at a sixteenth of it.
#[test]
fn target_interval_and_quantum_follow_the_rate_of_the_tin() {
    let law = |rate, rtt| {
        let cake = cake(CakeConfig { rate, rtt, ..CakeConfig::default() });
        cake.tins.iter().map(|tin| tin.law_and_quantum()).collect::<Vec<_>>()
    };
    assert_eq!(
        law(Some(Rate::mbit(1)), MS(100)),
        [(MS(18), MS(113), 300), (MS(288), MS(576), 300), (MS(72), MS(167), 300)]
    );
    assert_eq!(law(Some(Rate::mbit(100)), MS(100))[0], (MS(5), MS(100), 1514));
    assert_eq!(law(Some(Rate::mbit(20)), MS(100))[0], (MS(5), MS(100), 610));
    assert_eq!(law(None, MS(100)), [(MS(5), MS(100), 1514); 3]);
    assert_eq!(law(None, MS(300))[0], (MS(15), MS(300), 1514));
}

/// Host 1 has a flow, host 2 four; each flow goes to a server of its own, or all to one.
fn one_beside_four(isolation: CakeIsolation, one_server: bool) -> f64 {
    let source = |from, number: u32| Source {
        from,
        to: if one_server { 100 } else { 100 + number },
        port: number as u16,
        size: 1500,
        dscp: 0,
    };
    let sources: Vec<_> =
        std::iter::once(source(1, 0)).chain((1..5).map(|n| source(2, n))).collect();
    let mut cake = cake(CakeConfig { isolation, ..shaped(Rate::mbit(50)) });
    let shares = shares(&backlogged(&mut cake, &sources, 40_000).0);
    // The four have the same.
    let four = &shares[1..];
    assert!(four.iter().all(|share| (share - four[0]).abs() < 0.002), "{shares:?}");
    shares[0]
}

#[test]
fn shares_of_hosts_and_flows() {
    use CakeIsolation::{
        DstHost, DualDstHost, DualSrcHost, Flowblind, Flows, Hosts, SrcHost, TripleIsolate,
    };
    // By source, destination, pair or flow, and by the busier host: the first host's share of the line where
    // each flow has its server, and where all have one.
    for (isolation, servers, server) in [
        (TripleIsolate, 0.5, 0.2),
        (DualSrcHost, 0.5, 0.5),
        (DualDstHost, 0.2, 0.2),
        (Flows, 0.2, 0.2),
        (SrcHost, 0.5, 0.5),
        (DstHost, 0.2, 0.2),
        (Hosts, 0.2, 0.5),
        (Flowblind, 0.2, 0.2),
    ] {
        let found = (one_beside_four(isolation, false), one_beside_four(isolation, true));
        if isolation == TripleIsolate || isolation == Flows {
            let what =
                format!("CAKE: share of a host with 1 flow beside one with 4, {isolation:?}");
            record("Q4", &what, servers, format!("{:.4}", found.0), "within 0.002");
        }
        assert!((found.0 - servers).abs() < 0.002, "{isolation:?} {found:?}");
        assert!((found.1 - server).abs() < 0.002, "{isolation:?}, one server, {found:?}");
    }
}

/// Flows that send packets of different sizes get the same octets.
#[test]
fn turns_are_octets() {
    let sources =
        [1500, 300, 80].map(|size| Source { from: 1, to: 2, port: size as u16, size, dscp: 0 });
    let mut cake = cake(shaped(Rate::mbit(50)));
    close(&shares(&backlogged(&mut cake, &sources, 60_000).0), &[1.0 / 3.0; 3], 0.002);
}

/// Eight flows of one hash have a queue each, the ninth shares one.
#[test]
fn a_set_has_eight_queues() {
    let mut cake = cake(shaped(Rate::mbit(12)));
    let packet = segment(1, 2, 1, 1500, 0);
    let mut queues = Vec::new();
    for flow in 0..9 {
        let flow = cake.tins[0].flow(CakeIsolation::Flows, 0xa000_0000 + flow, &packet);
        cake.tins[0].push(flow, item(0, 1500, Time::ZERO), None);
        cake.tins[0].join(flow, CakeIsolation::Flows);
        queues.push(flow);
    }
    // 0xa0000000 names queue 640, the first of its set.
    assert_eq!(queues, [640, 641, 642, 643, 644, 645, 646, 647, 640]);
}

/// §3.2: of n flows at random, the share of those that are not alone in their queue: nearly none, where
/// plain hashing has 1 - (1 - 1/1024)^(n-1).
#[test]
fn flows_hardly_share_queues() {
    let shared = |flows: u32| {
        let mut at_all = 0;
        for seed in 0..20 {
            let mut draw = Generator::from_u64(seed);
            let mut cake = cake(shaped(Rate::mbit(12)));
            let mut users = std::collections::BTreeMap::new();
            for _ in 0..flows {
                let packet = segment(1, 2, 1, 1500, 0);
                let hash = draw.next_u64() as u32;
                let flow = cake.tins[0].flow(CakeIsolation::Flows, hash, &packet);
                cake.tins[0].push(flow, item(0, 1500, Time::ZERO), None);
                cake.tins[0].join(flow, CakeIsolation::Flows);
                *users.entry(flow).or_insert(0) += 1;
            }
            at_all += users.values().filter(|users| **users > 1).sum::<u32>();
        }
        f64::from(at_all) / f64::from(20 * flows)
    };
    let plain = 1.0 - (1.0 - 1.0 / 1024.0_f64).powi(99);
    let found = shared(100);
    let what = format!("CAKE: share of 100 flows that share a queue (plain hashing: {plain:.3})");
    record("Q4", &what, "0", format!("{found:.4}"), "below 0.001");
    assert!(found < 0.001, "{found}");
    assert!(shared(500) < 0.1, "{}", shared(500));
}

/// A flow that has not used up a quantum goes before those that have; one that comes back at once does not.
#[test]
fn a_sparse_flow_goes_before_the_bulk() {
    let mut cake = cake(CakeConfig { rate: None, ..shaped(Rate::mbit(12)) });
    let mut losses = Losses::new();
    for id in 0..20 {
        offer(&mut cake, id, Time::ZERO, &segment(1, 2, 1, 1500, 0), 0);
        offer(&mut cake, 100 + id, Time::ZERO, &segment(1, 2, 2, 1500, 0), 0);
    }
    let mut next = |cake: &mut Cake| cake.dequeue(Time::ZERO, &mut losses).unwrap().id.0;
    let order: Vec<_> = (0..4).map(|_| next(&mut cake)).collect();
    // 1514 octets let two packets of 1500 go, the second on credit.
    assert_eq!(order, [0, 1, 100, 101]);
    offer(&mut cake, 777, Time::ZERO, &segment(1, 2, 3, 100, 0), 0);
    assert_eq!(next(&mut cake), 777);
    let after = next(&mut cake);
    assert!(after < 200, "the queue of 777 was found empty, and left");
}

/// 4000 octets of memory: the head of the longest queue of any tin goes.
#[test]
fn overflow_takes_the_head_of_the_longest_queue() {
    let limit = Some(QueueLimit::Octets(Bytes(4000)));
    let mut cake = cake(CakeConfig { limit, tins: CakeTins::Diffserv4, ..shaped(Rate::mbit(12)) });
    let (long, short) = (segment(1, 2, 1, 1000, 0), segment(1, 2, 2, 500, 0));
    let mut lost = Vec::new();
    for (id, packet, dscp) in [
        (0, &long, 0),
        (1, &long, 0),
        (2, &short, 46),
        (3, &long, 0),
        (4, &short, 46),
        (5, &short, 46),
    ] {
        lost.extend(offer(&mut cake, id, Time::ZERO, packet, dscp));
    }
    assert_eq!(lost.iter().map(|(item, _)| item.id.0).collect::<Vec<_>>(), [0]);
    assert_eq!(lost[0].1, Loss::Overflow);
    assert_eq!(cake.waiting, Waiting { packets: 5, octets: 3500 });
}

#[test]
fn acks_are_filtered_in_their_queue() {
    let left = |ack_filter| {
        let mut cake = cake(CakeConfig { ack_filter, ..shaped(Rate::mbit(12)) });
        let mut lost = Losses::new();
        for id in 0..6 {
            let port = if id == 2 { 2 } else { 1 };
            lost.extend(offer(&mut cake, id, Time::ZERO, &segment(1, 2, port, 40, 1000 * id), 0));
        }
        let mut losses = Losses::new();
        let mut ids: Vec<_> = (0..9)
            .filter_map(|ms| cake.dequeue(at_us(ms * 1000), &mut losses))
            .map(|item| item.id.0)
            .collect();
        ids.sort_unstable();
        assert!(losses.is_empty() && lost.len() + ids.len() == 6);
        assert!(lost.iter().all(|(_, loss)| *loss == Loss::Early));
        ids
    };
    assert_eq!(left(CakeAckFilter::Off), [0, 1, 2, 3, 4, 5]);
    assert_eq!(left(CakeAckFilter::Conservative), [2, 4, 5]);
    assert_eq!(left(CakeAckFilter::Aggressive), [2, 5]);
}

/// The tin is chosen by the code point that came.
#[test]
fn washed_packets_keep_their_tin() {
    let config = CakeConfig { tins: CakeTins::Diffserv4, ..shaped(Rate::mbit(12)) };
    for wash in [false, true] {
        let mut cake = cake(CakeConfig { wash, ..config });
        offer(&mut cake, 0, Time::ZERO, &segment(1, 2, 1, 1500, 0), 0);
        offer(&mut cake, 1, Time::ZERO, &segment(1, 2, 2, 1500, 0), 46);
        let first = cake.dequeue(Time::ZERO, &mut Losses::new()).unwrap();
        let dscp = if wash { 0 } else { 46 };
        assert_eq!((first.id.0, first.dscp, first.washed), (1, dscp, wash));
        let second = cake.dequeue(at_us(1000), &mut Losses::new()).unwrap();
        assert_eq!((second.id.0, second.washed), (0, false));
    }
}

/// COBALT's dates on one flow: the packets of a queue of 20 ms, each a millisecond, as one queue of
/// `cobalt` has them.
#[test]
fn a_standing_queue_is_marked_by_the_law_of_codel() {
    let mut cake = cake(CakeConfig { rate: None, ..shaped(Rate::mbit(12)) });
    let packet = Packet { ecn: Ecn::Ect0, ..segment(1, 2, 1, 1500, 0) };
    let mut marks = Vec::new();
    let mut losses = Losses::new();
    for ms in 1000..2000 {
        let waited = if ms < 1100 { MS(1) } else { MS(20) };
        while cake.waiting.packets < 4 {
            offer(&mut cake, 0, at_us(ms * 1000) - waited, &packet, 0);
        }
        cake.tins[0].age(at_us(ms * 1000) - waited);
        let item = cake.dequeue(at_us(ms * 1000), &mut losses).unwrap();
        if item.marked {
            marks.push(ms);
        }
    }
    assert!(losses.is_empty());
    // 100, 70.7, 57.7, 50, 44.7 ms on the grid.
    assert_eq!(marks[..5], [1200, 1271, 1329, 1379, 1424]);
}

/// What a flow that does not slow down loses here has used the line before: the shaper lets pass so much less.
/// 18 Mbit/s come, 12 may leave, of what comes.
#[test]
fn with_ingress_drops_count() {
    let passes = |ingress| {
        let limit = Some(QueueLimit::Octets(Bytes(30_000)));
        let mut cake = cake(CakeConfig { ingress, limit, ..shaped(Rate::mbit(12)) });
        let packet = segment(1, 2, 1, 1500, 0);
        let (mut left, mut lost, mut losses) = (0_u32, 0, Losses::new());
        let mut next_offer = 0;
        for us in (0..20_000_000_u64).step_by(50) {
            if us >= next_offer {
                lost += offer(&mut cake, 0, at_us(us), &packet, 0).len();
                next_offer += 800;
            }
            left += u32::from(cake.dequeue(at_us(us), &mut losses).is_some());
        }
        (f64::from(left) / 20_000.0, (lost + losses.len()) as f64 / 20_000.0)
    };
    let (egress, dropped) = passes(false);
    assert!((egress - 1.0).abs() < 0.001 && (dropped - 0.25).abs() < 0.003, "{egress} {dropped}");
    // Nothing slows the sender down: only the failsafe, 2/3 of the rate, is left.
    let (ingress, dropped) = passes(true);
    assert!((ingress - 2.0 / 3.0).abs() < 0.002, "{ingress}");
    assert!((dropped - (1.25 - 2.0 / 3.0)).abs() < 0.003, "{dropped}");
}

/// 8 Mbit/s of packets, after 1 ms and 2 ms in turn: 15/16 of it.
#[test]
fn autorate_follows_what_arrives() {
    let mut cake = cake(CakeConfig { autorate: true, rate: None, ..shaped(Rate::mbit(12)) });
    let packet = segment(1, 2, 1, 1500, 0);
    let mut losses = Losses::new();
    let mut rates = Vec::new();
    for number in 0..4000_u64 {
        let now = at_us(number / 2 * 3000 + number % 2 * 1000);
        offer(&mut cake, 0, now, &packet, 0);
        cake.dequeue(now, &mut losses);
        if number % 400 == 399 {
            rates.push(cake.rate().map_or(0, Rate::as_bps));
        }
    }
    let expected = 7_500_000.0;
    let what = "CAKE: rate by autorate behind a line of 8 Mbit/s (15/16)";
    record("Q4", what, "7.500 Mbit/s", format!("{:.3} Mbit/s", rates[9] as f64 / 1e6), "0.5 %");
    assert!(
        rates[1..].iter().all(|rate| (*rate as f64 / expected - 1.0).abs() < 0.005),
        "{rates:?}"
    );
}

#[test]
fn memory_follows_rate_and_round_trip() {
    let memory = |config: CakeConfig| match config.memory(config.rate) {
        QueueLimit::Octets(Bytes(n)) => n,
        limit => panic!("{limit:?}"),
    };
    assert_eq!(memory(CakeConfig::default()), 15_503_360);
    assert_eq!(memory(shaped(Rate::mbit(10))), 4 << 20);
    // 4 times 200 Mbit/s for 100 ms.
    assert_eq!(memory(shaped(Rate::mbit(200))), 10_000_000);
    assert_eq!(
        memory(CakeConfig { limit: Some(QueueLimit::Octets(Bytes(7))), ..shaped(Rate::mbit(1)) }),
        7
    );
}

#[test]
fn errors_name_the_field() {
    let error = |config: CakeConfig| config.validate().unwrap_err().to_string();
    let plain = CakeConfig::default();
    assert_eq!(
        error(CakeConfig { overhead: 257, ..plain }),
        "overhead is 257; allowed: -64 to 256 octets"
    );
    assert_eq!(
        error(CakeConfig { mpu: Bytes(257), ..plain }),
        "mpu is 257 B; allowed: at most 256 B"
    );
    assert!(error(CakeConfig { rtt: Span::ZERO, ..plain }).starts_with("rtt is 0 s"));
    assert!(
        error(CakeConfig { limit: Some(QueueLimit::Octets(Bytes(0))), ..plain })
            .starts_with("limit is 0 B")
    );
    assert!(error(shaped(Rate::from_bps(100).unwrap())).starts_with("rate is 100"));
}
