use super::super::item::testing::{at_us, item};
use super::*;
use anabranch_testkit::marks::record;
use anabranch_wire::Ecn;

const MS: fn(u64) -> Span = Span::from_millis;

fn at_ms(ms: u64) -> Time {
    at_us(ms * 1000)
}

/// 12 Mbit/s: 1500 octets take 1 ms.
fn cobalt(config: CobaltConfig) -> Cobalt {
    config.law.validate().unwrap();
    Cobalt::new(&config, Rate::mbit(12), Bytes(1500), Generator::from_u64(2018))
}

fn with(law: CobaltLaw) -> Cobalt {
    cobalt(CobaltConfig { law, ..CobaltConfig::default() })
}

/// One packet leaves at `ms` after a wait of `waited`, others behind it; true if it was dropped or
/// marked.
fn is_hit(cobalt: &mut Cobalt, ms: u64, waited: Span, ecn: Ecn) -> bool {
    let now = at_ms(ms);
    cobalt.band = Band::default();
    for id in 0..10 {
        cobalt.band.push(Item { ecn, ..item(id, 1500, now - waited) });
    }
    let mut losses = Losses::new();
    let sent = cobalt.dequeue(now, &mut losses).unwrap();
    assert!(losses.iter().all(|(_, loss)| *loss == Loss::Early));
    sent.marked || !losses.is_empty()
}

/// Milliseconds at which a queue that waits 1 ms up to 1000 ms, then 20 ms, has drops or marks.
fn standing(law: CobaltLaw, ecn: Ecn, end_ms: u64) -> Vec<u64> {
    let mut cobalt = with(law);
    let wait = |ms| if ms < 1000 { MS(1) } else { MS(20) };
    (900..end_ms).filter(|ms| is_hit(&mut cobalt, *ms, wait(*ms), ecn)).collect()
}

/// Those of the law: 1000 ms + interval (1 + 1/sqrt(2) + 1/sqrt(3) + ...), on the grid of departures.
fn expected(end_ms: u64) -> Vec<u64> {
    let mut date = 1000.0;
    let dates = (1..).map(|count| {
        date += 100.0 / f64::from(count).sqrt();
        (date - 1e-6).ceil() as u64
    });
    dates.take_while(|ms| *ms < end_ms).collect()
}

#[test]
fn drops_of_a_standing_queue_follow_the_law_of_codel() {
    let hits = standing(CobaltLaw::default(), Ecn::NotEct, 4000);
    let spaces: Vec<_> = hits.windows(2).take(4).map(|w| w[1] - w[0]).collect();
    let what = "COBALT: first drop of a standing queue, and the spaces after it";
    let measured = format!("{} ms, {spaces:?} ms", hits[0] - 1000);
    record("Q4", what, "100 ms, [71, 58, 50, 45] ms", &measured, "1 ms");
    // 100, 70.7, 57.7, 50, 44.7 ms on the grid.
    assert_eq!(hits[..5], [1100, 1171, 1229, 1279, 1324]);
    assert_eq!(hits, expected(4000));
    assert!(hits.len() > 200);
}

#[test]
fn marks_follow_the_same_law() {
    let law = CobaltLaw { ecn: true, ..CobaltLaw::default() };
    assert_eq!(standing(law, Ecn::Ect0, 4000), expected(4000));
}

/// Below the target the count falls at the rate at which it rose: after as long a pause nothing is
/// left of it, after a short one the next episode begins at a high rate.
#[test]
fn the_rate_of_drops_decays_below_the_target() {
    let count_after = |pause_ms: u64| {
        let mut cobalt = with(CobaltLaw::default());
        for ms in 900..1000 {
            is_hit(&mut cobalt, ms, MS(1), Ecn::NotEct);
        }
        for ms in 1000..2000 {
            is_hit(&mut cobalt, ms, MS(20), Ecn::NotEct);
        }
        for ms in 2000..2000 + pause_ms {
            assert!(!is_hit(&mut cobalt, ms, MS(1), Ecn::NotEct));
        }
        cobalt.state.count
    };
    let reached = count_after(0);
    // 100 ms (2 sqrt(n) - 1.46), the sum of n steps, is 1000 ms at n = 33.
    assert!((28..=36).contains(&reached), "{reached}");
    let halfway = count_after(500);
    assert!((5..reached - 10).contains(&halfway), "{halfway}");
    assert_eq!(count_after(2000), 0);
}

#[test]
fn a_wait_of_four_packets_or_less_is_left_alone() {
    // 1500 octets take 6 ms at 2 Mbit/s: 20 ms are no more than four of them.
    let rate = Rate::mbit(2);
    let hits = |waited| {
        let config = CobaltConfig::default();
        let mut cobalt = Cobalt::new(&config, rate, Bytes(1500), Generator::from_u64(1));
        (0..1000).any(|step| is_hit(&mut cobalt, 900 + step * 6, waited, Ecn::NotEct))
    };
    assert!(!hits(MS(20)));
    assert!(hits(MS(25)));
}

#[test]
fn the_last_packet_is_not_dropped() {
    let mut cobalt = with(CobaltLaw::default());
    cobalt.state.probability = 1.0;
    let mut losses = Losses::new();
    for id in 0..3 {
        cobalt.band.push(item(id, 1500, Time::ZERO));
    }
    assert_eq!(cobalt.dequeue(at_ms(1), &mut losses).map(|item| item.id.0), Some(2));
    assert_eq!(losses.len(), 2);
}

#[test]
fn what_waits_beyond_the_threshold_is_marked() {
    let law = CobaltLaw { ce_threshold: Some(MS(1)), ..CobaltLaw::default() };
    let mut cobalt = with(law);
    assert!(!is_hit(&mut cobalt, 900, MS(1), Ecn::Ect0));
    assert!(is_hit(&mut cobalt, 901, MS(2), Ecn::Ect0));
    assert!(!is_hit(&mut cobalt, 902, MS(2), Ecn::NotEct));
}

/// A queue of one packet is overrun: an overflow each 2 ms raises the probability each 6 ms, the
/// first date more than 5 ms after the last.
#[test]
fn overflows_raise_the_probability_once_a_target() {
    let limit = QueueLimit::Packets(1);
    let mut cobalt = cobalt(CobaltConfig { limit, ..CobaltConfig::default() });
    let mut losses = Losses::new();
    cobalt.enqueue(item(0, 1500, at_ms(100)), &mut losses);
    for step in 0..300 {
        cobalt.enqueue(item(1, 1500, at_ms(100 + 2 * step)), &mut losses);
    }
    assert!(losses.len() == 300 && losses.iter().all(|(_, loss)| *loss == Loss::Overflow));
    let (expected, measured) = (100.0 / 256.0, cobalt.probability());
    let what = "COBALT: BLUE's probability after 300 overflows, 2 ms apart";
    record("Q4", what, format!("{expected:.5}"), format!("{measured:.5}"), "within 1e-12");
    assert!((measured - expected).abs() < 1e-12, "{measured}");
}

/// Sends 301 packets at once, each in 1 ms, that come `every_us` apart from `from_us` on.
fn send_one_by_one(cobalt: &mut Cobalt, from_us: u64, every_us: u64) {
    let mut losses = Losses::new();
    for step in 0..301 {
        let now = at_us(from_us + every_us * step);
        cobalt.enqueue(item(0, 1500, now), &mut losses);
        cobalt.dequeue(now, &mut losses);
    }
    assert!(losses.is_empty());
}

/// The queue is found empty each 2 ms, of which every third date is more than 5 ms after the last.
#[test]
fn an_empty_queue_lowers_it_once_a_target() {
    let mut cobalt = with(CobaltLaw::default());
    cobalt.state.probability = 0.1;
    send_one_by_one(&mut cobalt, 100_000, 2000);
    let (expected, measured) = (0.1 - 100.0 / 4096.0, cobalt.probability());
    let what = "COBALT: BLUE's probability of 0.1 after 300 empty queues, 2 ms apart";
    record("Q4", what, format!("{expected:.5}"), format!("{measured:.5}"), "within 1e-12");
    assert!((measured - expected).abs() < 1e-12, "{measured}");
    // Found empty once more, after the last of those. Packets that come while the one before is on
    // the line find no empty queue.
    send_one_by_one(&mut cobalt, 1_000_000, 900);
    assert!((measured - cobalt.probability() - 1.0 / 4096.0).abs() < 1e-12);
    cobalt.state.probability = 0.01;
    send_one_by_one(&mut cobalt, 2_000_000, 2000);
    assert_eq!(cobalt.probability(), 0.0);
}

#[test]
fn long_waits_count_as_overflows_where_asked() {
    let law = CobaltLaw { blue_threshold: Some(MS(400)), ..CobaltLaw::default() };
    let mut cobalt = with(law);
    for ms in 1000..1060 {
        is_hit(&mut cobalt, ms, MS(400), Ecn::NotEct);
    }
    assert_eq!(cobalt.probability(), 0.0);
    for ms in 1060..1120 {
        is_hit(&mut cobalt, ms, MS(401), Ecn::NotEct);
    }
    // Each 6 ms: more than 5 ms apart.
    assert!((cobalt.probability() - 10.0 / 256.0).abs() < 1e-12);
}

/// A flow that does not slow down sends 1.5 of the line. Each overflow lets CoDel drop one packet at
/// the head, so that without BLUE half of what is lost overflows; with it hardly anything does.
#[test]
fn blue_takes_over_from_overflows() {
    let run = |increment: f64| {
        let limit = QueueLimit::Packets(100);
        let law = CobaltLaw { increment, interval: Span::from_secs(1000), ..CobaltLaw::default() };
        let mut cobalt = cobalt(CobaltConfig { limit, law });
        let (mut early, mut overflows) = (0, 0);
        // A packet each 2/3 ms; one leaves each millisecond.
        for third in 0..600_000_u64 {
            let now = at_us(1_000_000 + third * 1000 / 3);
            let mut losses = Losses::new();
            if third % 2 == 0 {
                cobalt.enqueue(item(0, 1500, now), &mut losses);
            }
            if third % 3 == 1 {
                cobalt.dequeue(now, &mut losses);
            }
            if third >= 200_000 {
                early += losses.iter().filter(|(_, loss)| *loss == Loss::Early).count();
                overflows += losses.iter().filter(|(_, loss)| *loss == Loss::Overflow).count();
            }
        }
        (early as f64 / 200_000.0, overflows as f64 / 200_000.0)
    };
    let (_, without) = run(0.0);
    assert!((without - 1.0 / 6.0).abs() < 0.01, "{without}");
    let (early, overflows) = run(1.0 / 256.0);
    let what = "COBALT: share dropped of an unresponsive flow that sends 1.5 of the line";
    record("Q4", what, "0.333", format!("{:.3}", early + overflows), "within 0.005");
    let what = "COBALT: share of that flow dropped by overflows";
    record("Q4", what, "0", format!("{overflows:.4}"), "within 0.01");
    assert!((early + overflows - 1.0 / 3.0).abs() < 0.005, "{early} {overflows}");
    assert!(overflows < 0.01, "{overflows}");
}

#[test]
fn values_out_of_range_are_refused() {
    let said = |law: CobaltLaw| law.validate().unwrap_err().to_string();
    let good = CobaltLaw::default();
    let increment = CobaltLaw { increment: 2.0, ..good };
    assert_eq!(said(increment), "increment is 2; allowed: a probability, 0 to 1");
    let interval = CobaltLaw { interval: Span::ZERO, ..good };
    assert_eq!(said(interval), "interval is 0 s; allowed: at least 1 us");
}
