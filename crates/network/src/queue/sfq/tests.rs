use super::super::item::testing::{at_us, item};
use super::*;
use anabranch_testkit::marks::record;

/// A packet of a flow whose queue is number `queue` of 8.
fn of(queue: u32, id: u32, size: u32) -> Item {
    Item { flow: queue << 29, ..item(id, size, Time::ZERO) }
}

fn config() -> SfqConfig {
    SfqConfig { queues: 8, quantum: Bytes(1500), ..SfqConfig::default() }
}

/// Hashes stay as they are.
fn sfq(config: SfqConfig) -> Sfq {
    config.validate().unwrap();
    Sfq { multiplier: 1, ..Sfq::new(&config, Generator::from_u64(1990)) }
}

fn drain(sfq: &mut Sfq) -> Vec<u32> {
    let mut losses = Losses::new();
    let out = std::iter::from_fn(|| sfq.dequeue(Time::ZERO, &mut losses));
    let ids = out.map(|item| item.id.0).collect();
    assert!(losses.is_empty());
    ids
}

fn ids(losses: &Losses) -> Vec<u32> {
    assert!(losses.iter().all(|(_, loss)| *loss == Loss::Overflow));
    losses.iter().map(|(item, _)| item.id.0).collect()
}

#[test]
fn queues_take_turns() {
    let mut sfq = sfq(config());
    let mut losses = Losses::new();
    for (queue, ids) in [(1, 10..13), (2, 20..22), (3, 30..31)] {
        for id in ids {
            sfq.enqueue(of(queue, id, 1500), &mut losses);
        }
    }
    assert_eq!(drain(&mut sfq), [10, 20, 30, 11, 21, 12]);
    assert!(losses.is_empty());
}

#[test]
fn what_a_packet_takes_too_much_is_charged_to_the_next_turn() {
    let mut sfq = sfq(config());
    let mut losses = Losses::new();
    for id in 0..6 {
        sfq.enqueue(of(1, 10 + id, 1000), &mut losses);
        sfq.enqueue(of(2, 20 + id, 1500), &mut losses);
    }
    // Of queue 1: 2000 of 1500 octets, then 1000 of the 1000 that are left, then 2000 again.
    assert_eq!(drain(&mut sfq), [10, 11, 20, 12, 21, 13, 14, 22, 15, 23, 24, 25]);
}

#[test]
fn the_longest_queue_loses_its_last_packet() {
    let mut sfq = sfq(SfqConfig { limit: 4, ..config() });
    let mut losses = Losses::new();
    for (queue, id) in [(1, 10), (1, 11), (1, 12), (2, 20), (3, 30), (4, 40), (1, 13)] {
        sfq.enqueue(of(queue, id, 1500), &mut losses);
    }
    // For 30 queue 1 loses 12, for 40 it loses 11; 13 makes it the longest again.
    assert_eq!(ids(&losses), [12, 11, 13]);
    assert_eq!(drain(&mut sfq), [10, 20, 30, 40]);
}

#[test]
fn where_all_are_alike_the_next_in_turn_loses() {
    let mut sfq = sfq(SfqConfig { limit: 2, ..config() });
    let mut losses = Losses::new();
    for queue in 1..4 {
        sfq.enqueue(of(queue, queue, 1500), &mut losses);
    }
    assert_eq!(ids(&losses), [1]);
    assert_eq!(drain(&mut sfq), [2, 3]);
}

#[test]
fn a_queue_is_no_longer_than_its_depth() {
    for (head_drop, lost, left) in [(false, [2, 3], [0, 1, 9]), (true, [0, 1], [2, 9, 3])] {
        let mut sfq = sfq(SfqConfig { depth: 2, head_drop, ..config() });
        let mut losses = Losses::new();
        for id in 0..4 {
            sfq.enqueue(of(1, id, 1500), &mut losses);
        }
        sfq.enqueue(of(2, 9, 1500), &mut losses);
        assert_eq!(ids(&losses), lost);
        let mut out = drain(&mut sfq);
        if !head_drop {
            // Turns: 0, 9, 1.
            out.swap(1, 2);
        }
        assert_eq!(out, left);
    }
}

#[test]
fn a_head_drop_takes_the_oldest_of_the_longest() {
    let mut sfq = sfq(SfqConfig { limit: 3, head_drop: true, ..config() });
    let mut losses = Losses::new();
    for (queue, id) in [(1, 10), (1, 11), (1, 12), (2, 20)] {
        sfq.enqueue(of(queue, id, 1500), &mut losses);
    }
    assert_eq!(ids(&losses), [10]);
    assert_eq!(drain(&mut sfq), [11, 20, 12]);
}

/// Max-min shares of a line among flows that offer so much of it.
fn max_min(mut offered: Vec<f64>) -> f64 {
    offered.sort_by(f64::total_cmp);
    let (mut left, mut flows) = (1.0, offered.len() as f64);
    for each in offered {
        if each > left / flows {
            break;
        }
        (left, flows) = (left - each, flows - 1.0);
    }
    left / flows
}

/// Flows that offer 0.1, 0.3, 0.5 and 0.9 of the line, in packets of 1500, 500, 1500 and 300 octets:
/// the first gets what it offers, the others equal octets of the rest, whatever their packets.
#[test]
fn flows_get_max_min_shares() {
    let flows = [(0.1, 1500), (0.3, 500), (0.5, 1500), (0.9, 300)];
    let mut sfq = sfq(config());
    let mut losses = Losses::new();
    let (mut owed, mut got, mut sent) = ([0.0; 4], [0_u64; 4], 0);
    // The line sends 1500 octets each millisecond.
    let (mut now, mut free_at) = (0_u64, 0_u64);
    while now < 100_000_000 {
        for (flow, (rate, size)) in flows.iter().enumerate() {
            owed[flow] += rate * 15.0;
            while owed[flow] >= f64::from(*size) {
                owed[flow] -= f64::from(*size);
                sfq.enqueue(of(flow as u32, flow as u32, *size), &mut losses);
            }
        }
        if free_at <= now
            && let Some(item) = sfq.dequeue(at_us(now), &mut losses)
        {
            got[item.id.0 as usize] += u64::from(item.size);
            sent += u64::from(item.size);
            free_at = now.max(free_at) + u64::from(item.size) * 2 / 3;
        }
        now += 10;
    }
    let fair = max_min(flows.iter().map(|flow| flow.0).collect());
    assert!((fair - 0.3).abs() < 1e-12);
    for (flow, (rate, size)) in flows.iter().enumerate() {
        let share = got[flow] as f64 / sent as f64;
        let expected = fair.min(*rate);
        let what = format!("SFQ: share of a flow that offers {rate} in packets of {size} B");
        record("Q4", &what, format!("{expected:.3}"), format!("{share:.3}"), "within 0.005");
        assert!((share - expected).abs() < 0.005, "{flow}: {share}");
    }
}

/// Of m flows over n queues, one in m (1 - (1 - 1/n)^(m-1)) shares its queue with another.
#[test]
fn flows_share_queues_as_often_as_a_random_hash_has_it() {
    let (flows, queues, draws) = (100_u32, 1024_u32, 400);
    let mut shared = 0;
    for seed in 0..draws {
        let config = SfqConfig { queues, ..SfqConfig::default() };
        let sfq = Sfq::new(&config, Generator::from_u64(seed));
        let mut hashes = Generator::from_u64(1_000_000 + seed);
        let mut counts = vec![0_u32; queues as usize];
        for _ in 0..flows {
            let flow = hashes.next_u64() as u32;
            counts[sfq.index_of(&Item { flow, ..item(0, 40, Time::ZERO) }) as usize] += 1;
        }
        shared += counts.iter().filter(|count| **count > 1).sum::<u32>();
    }
    let measured = f64::from(shared) / draws as f64 / f64::from(flows);
    let expected = 1.0 - (1.0 - 1.0 / f64::from(queues)).powi(flows as i32 - 1);
    let what = "SFQ: share of 100 flows over 1024 queues that share theirs";
    let said = |share: f64| format!("{share:.4}");
    record("Q4", what, said(expected), said(measured), "within 0.005");
    assert!((measured - expected).abs() < 0.005, "{measured} {expected}");
}

/// Two flows in the same queue beside one alone have a quarter of the line each; with a hash that is
/// perturbed they have a third, most of the time.
#[test]
fn a_perturbation_parts_flows_that_share_a_queue() {
    let third = |perturb: Option<u64>| {
        let perturb = perturb.map(Span::from_millis);
        let mut sfq = sfq(SfqConfig { queues: 64, perturb, ..config() });
        // The first two have one queue by the multiplier 1.
        let flows = [0x0400_0000, 0x0400_1000, 0x9000_0000];
        let (mut got, mut last) = ([0_u32; 3], [0; 3]);
        let mut losses = Losses::new();
        for ms in 0..60_000_u64 {
            let now = at_us(ms * 1000);
            for (flow, hash) in flows.into_iter().enumerate() {
                let id = ms as u32 * 4 + flow as u32;
                sfq.enqueue(Item { flow: hash, ..item(id, 1500, now) }, &mut losses);
            }
            let item = sfq.dequeue(now, &mut losses).unwrap();
            let flow = (item.id.0 % 4) as usize;
            // A flow stays in order over perturbations.
            assert!(item.id.0 >= last[flow]);
            last[flow] = item.id.0;
            got[flow] += 1;
        }
        f64::from(got[2]) / 60_000.0
    };
    assert!((third(None) - 0.5).abs() < 0.01, "{}", third(None));
    let perturbed = third(Some(1000));
    assert!((perturbed - 1.0 / 3.0).abs() < 0.03, "{perturbed}");
}

#[test]
fn a_perturbation_drops_what_its_new_queue_has_no_room_for() {
    let perturb = Some(Span::from_secs(10));
    let mut sfq = sfq(SfqConfig { queues: 1, depth: 3, perturb, ..config() });
    sfq.config.queues = 2;
    sfq.queues.push(FlowQueue::default());
    let mut losses = Losses::new();
    for (flow, id) in [(0, 0), (0, 1), (0, 2), (1 << 31, 3), (1 << 31, 4)] {
        sfq.enqueue(Item { flow, ..item(id, 1500, Time::ZERO) }, &mut losses);
    }
    assert!(losses.is_empty());
    // One queue is left by the time of the perturbation.
    sfq.config.queues = 1;
    let first = sfq.dequeue(at_us(35_000_000), &mut losses).map(|item| item.id.0);
    assert_eq!((first, ids(&losses)), (Some(0), vec![3, 4]));
    assert_eq!(sfq.next_perturbation, at_us(40_000_000));
    assert_eq!(drain(&mut sfq), [1, 2]);
}

#[test]
fn values_out_of_range_are_refused() {
    let said = |config: SfqConfig| config.validate().unwrap_err().to_string();
    assert_eq!(said(SfqConfig { queues: 0, ..config() }), "queues is 0; allowed: 1 to 65536");
    let depth = SfqConfig { depth: 0, ..config() };
    assert_eq!(said(depth), "depth is 0 packets; allowed: at least 1 packet");
    let perturb = SfqConfig { perturb: Some(Span::ZERO), ..config() };
    assert_eq!(said(perturb), "perturb is 0 s; allowed: at least 1 us");
}
