use super::super::item::testing::{at_us, item};
use super::*;
use anabranch_testkit::marks::record;
use anabranch_wire::Ecn;

/// 12 Mbit/s: 1500 octets take 1 ms.
fn choke(config: ChokeConfig) -> Choke {
    config.validate().unwrap();
    Choke::new(&config, Rate::mbit(12), Generator::from_u64(2000))
}

fn of(flow: u32, id: u32, since: Time) -> Item {
    Item { flow, ..item(id, 1500, since) }
}

/// Above `min` from the first packet on; RED itself drops nothing.
fn comparing() -> ChokeConfig {
    let limit = QueueLimit::Packets(10_000);
    ChokeConfig { limit, min: 0, max: 20_000, max_p: 0.0, weight: 1.0, ..ChokeConfig::default() }
}

fn ids(losses: &Losses) -> Vec<u32> {
    losses.iter().map(|(item, _)| item.id.0).collect()
}

#[test]
fn a_packet_that_meets_one_of_its_flow_is_dropped_with_it() {
    let mut choke = choke(comparing());
    let mut losses = Losses::new();
    choke.enqueue(of(7, 0, Time::ZERO), &mut losses);
    choke.enqueue(of(8, 1, Time::ZERO), &mut losses); // meets 0, of another flow
    assert!(losses.is_empty());
    choke.dequeue(Time::ZERO);
    choke.enqueue(of(8, 2, Time::ZERO), &mut losses); // meets 1
    assert_eq!(ids(&losses), [1, 2]);
    assert!(losses.iter().all(|(_, loss)| *loss == Loss::Early));
    assert!(choke.dequeue(Time::ZERO).is_none());
}

#[test]
fn below_min_nothing_is_compared() {
    let mut choke = choke(ChokeConfig { min: 5, ..comparing() });
    let mut losses = Losses::new();
    for id in 0..20 {
        choke.enqueue(of(7, id, Time::ZERO), &mut losses);
    }
    // The weight is 1: packet 6 finds an average of 6, and meets one of its flow.
    assert_eq!(losses[1].0.id.0, 6);
}

/// The place is drawn uniformly over what waits.
#[test]
fn every_packet_that_waits_is_as_likely_a_candidate() {
    let mut counts = [0_u32; 10];
    let config = ChokeConfig { limit: QueueLimit::Packets(10), ..comparing() };
    let mut choke = choke(config);
    for round in 0..50_000 {
        choke.band = Band::default();
        for id in 0..10 {
            choke.band.push(of(id, id, Time::ZERO));
        }
        let mut losses = Losses::new();
        choke.enqueue(of(round % 10, 99, Time::ZERO), &mut losses);
        if losses[0].0.id.0 != 99 {
            counts[losses[0].0.id.0 as usize] += 1;
        }
    }
    // Each of 5000 arrivals of a flow meets its own packet with 1/10: 500, standard deviation 21.
    assert!(counts.iter().all(|n| (415..=585).contains(n)), "{counts:?}");
}

#[test]
fn several_candidates_are_compared_one_by_one() {
    let mut choke = choke(ChokeConfig { candidates: 3, ..comparing() });
    let mut losses = Losses::new();
    for id in 0..5 {
        choke.band.push(of(7, id, Time::ZERO));
    }
    choke.enqueue(of(7, 9, Time::ZERO), &mut losses);
    assert_eq!((losses.len(), choke.band.len()), (4, 2));
    assert_eq!(losses[3].0.id.0, 9);
    // No more than wait.
    losses.clear();
    choke.enqueue(of(7, 10, Time::ZERO), &mut losses);
    assert_eq!((losses.len(), choke.band.len()), (3, 0));
}

#[test]
fn what_passes_the_comparison_is_red() {
    // Flows of one packet each never meet. The average stays at 150 of 100 and 200.
    let marked_and_dropped = |ecn: bool, field: Ecn| {
        let config = ChokeConfig { max_p: 0.1, ecn, ..ChokeConfig::default() };
        let mut choke = choke(config);
        let (mut marks, mut losses) = (0, Losses::new());
        for id in 0..150 {
            choke.band.push(of(id, id, Time::ZERO));
        }
        for id in 150..60_150_u32 {
            choke.red.set_average(150.0);
            choke.enqueue(Item { ecn: field, ..of(id, id, Time::ZERO) }, &mut losses);
            while choke.band.len() > 150 {
                marks += choke.dequeue(Time::ZERO).is_some_and(|item| item.marked) as u32;
            }
        }
        (marks, losses.len() as u32)
    };
    // p_b = 0.05: spaces between drops are uniform on 1 to 19, 10 in the mean.
    let (marks, drops) = marked_and_dropped(false, Ecn::Ect0);
    assert!(marks == 0 && (5850..6150).contains(&drops), "{drops}");
    let (marks, drops) = marked_and_dropped(true, Ecn::Ect0);
    assert!(drops == 0 && (5700..6150).contains(&marks), "{marks}");
    assert_eq!(marked_and_dropped(true, Ecn::NotEct).0, 0);
}

#[test]
fn the_average_decays_while_the_line_is_idle() {
    let mut choke = choke(ChokeConfig { mean_packet: Bytes(1500), ..ChokeConfig::default() });
    let mut losses = Losses::new();
    choke.enqueue(of(1, 0, Time::ZERO), &mut losses);
    choke.dequeue(at_us(5000));
    choke.red.set_average(80.0);
    // Sent from 5 to 6 ms; idle until 106 ms, the time of 100 mean packets.
    choke.enqueue(of(1, 1, at_us(106_000)), &mut losses);
    assert!((choke.average() - 80.0 * 0.998_f64.powi(100)).abs() < 1e-9);
}

/// Share of the line that a flow of `load` times its rate gets beside many TCP flows, where RED drops
/// nothing: the leaky buffer of Tang, Wang and Low ("Understanding CHOKe", ToN 12(4), 2004). A
/// packet of the flow is met by each arrival of the flow with probability 1/b, so that after a wait
/// of w it is left with exp(-z), z = load w / b in times of packets. Then
///
///     share / (1 - share) = z exp(-z)
///     1 / load = (exp(-z) + 1/z) / (2 - exp(-z))
///
/// The largest share, at z = 1, is 1 / (1 + e).
fn share_of(load: f64) -> f64 {
    let inverse = |z: f64| ((-z).exp() + 1.0 / z) / (2.0 - (-z).exp());
    let (mut low, mut high) = (1e-6, 100.0);
    for _ in 0..100 {
        let z = (low + high) / 2.0;
        // Falls with z.
        if inverse(z) > 1.0 / load { low = z } else { high = z }
    }
    let odds = low * (-low).exp();
    odds / (1.0 + odds)
}

/// The same, measured: 1000 packets wait, which TCP flows keep there, each with few of them.
fn measured_share(load: f64) -> f64 {
    let config = ChokeConfig { min: 100, max: 10_000, weight: 0.1, ..comparing() };
    let mut choke = choke(config);
    let mut losses = Losses::new();
    let (mut due, mut of_flow, mut id) = (0.0, 0_u32, 1);
    for ms in 0..200_000_u64 {
        let now = at_us(ms * 1000);
        due += load;
        while due >= 1.0 {
            due -= 1.0;
            choke.enqueue(of(0, 0, now), &mut losses);
        }
        while choke.band.len() < 1000 {
            choke.enqueue(of(id, id, now), &mut losses);
            id += 1;
        }
        let sent = choke.dequeue(now);
        of_flow += (ms >= 20_000 && sent.is_some_and(|item| item.id.0 == 0)) as u32;
        assert!(losses.iter().all(|(item, loss)| item.flow == 0 && *loss == Loss::Early));
        losses.clear();
    }
    f64::from(of_flow) / 180_000.0
}

#[test]
fn an_unresponsive_flow_gets_the_share_of_the_leaky_buffer() {
    assert!((share_of(1.193) - 1.0 / (1.0 + 1.0_f64.exp())).abs() < 1e-4);
    for load in [0.5, 1.0, 1.193, 2.0, 5.0, 10.0] {
        let (expected, measured) = (share_of(load), measured_share(load));
        let what = format!("CHOKe: share of an unresponsive flow that sends {load} of the line");
        let said = |share: f64| format!("{share:.3}");
        record("Q4", &what, said(expected), said(measured), "within 0.005");
        assert!((measured - expected).abs() < 0.005, "{load}: {measured} {expected}");
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let said = |config: ChokeConfig| config.validate().unwrap_err().to_string();
    let good = ChokeConfig::default();
    let max = ChokeConfig { max: 100, ..good.clone() };
    assert_eq!(said(max), "max is 100 packets; allowed: more than `min`, 100 packets");
    let candidates = ChokeConfig { candidates: 0, ..good.clone() };
    assert_eq!(said(candidates), "candidates is 0; allowed: 1 to 100");
    let max_p = ChokeConfig { max_p: -0.1, ..good.clone() };
    assert_eq!(said(max_p), "max_p is -0.1; allowed: a probability, 0 to 1");
    let mean_packet = ChokeConfig { mean_packet: Bytes(0), ..good };
    assert_eq!(said(mean_packet), "mean_packet is 0 B; allowed: at least 1 B");
}
