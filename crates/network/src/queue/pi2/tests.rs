use super::*;
use crate::queue::Waiting;
use anabranch_testkit::marks::record;

const MS: fn(u64) -> Span = Span::from_millis;

fn at(span: Span) -> Time {
    Time::ZERO + span
}

fn pi2(config: Pi2Config) -> Pi2 {
    Pi2::new(&config, Generator::from_u64(16))
}

fn arrival(now: Time, ecn: Ecn) -> Arrival {
    Arrival { now, size: 1500, ecn, waiting: Waiting::default(), busy_until: Time::NEVER }
}

/// Offers `n` packets of `ecn` with p' held and ten packets waiting; returns marks and drops.
fn offered(config: Pi2Config, base: f64, ecn: Ecn, n: u32) -> (u32, u32) {
    let mut pi2 = pi2(config);
    pi2.on_enqueue(15_000);
    (pi2.base, pi2.next_update) = (base, Time::NEVER);
    let (mut marks, mut drops) = (0, 0);
    for _ in 0..n {
        match pi2.on_arrival(&arrival(at(MS(1)), ecn)) {
            Decision::Admit => {}
            Decision::Mark => marks += 1,
            Decision::Drop => drops += 1,
        }
    }
    (marks, drops)
}

/// Whether a count of `n` draws is within four standard errors of its mean.
fn is_near(count: u32, p: f64, n: u32) -> bool {
    let error = (n as f64 * p * (1.0 - p)).sqrt();
    (count as f64 - n as f64 * p).abs() <= 4.0 * error
}

#[test]
fn classic_packets_have_the_square_and_scalable_ones_k_times_p() {
    let n = 100_000;
    for base in [0.05, 0.1, 0.3, 0.45] {
        let ecn = Pi2Config { ecn: true, ..Pi2Config::default() };
        let (square, coupled) = (base * base, 2.0 * base);
        let (marks, drops) = offered(ecn.clone(), base, Ecn::NotEct, n);
        let share = |count: u32| format!("{:.4}", count as f64 / n as f64);
        let what = format!("PI2: share of Classic packets dropped at p' = {base}");
        record("Q4", &what, format!("{square:.4}"), share(drops), "4 standard errors");
        assert!(marks == 0 && is_near(drops, square, n), "{base}: {drops}");
        let (marks, drops) = offered(ecn.clone(), base, Ecn::Ect0, n);
        assert!(drops == 0 && is_near(marks, square, n), "{base}: {marks}");
        for scalable in [Ecn::Ect1, Ecn::Ce] {
            let (marks, drops) = offered(ecn.clone(), base, scalable, n);
            assert!(drops == 0 && is_near(marks, coupled, n), "{base}: {marks}");
        }
        let (marks, _) = offered(ecn, base, Ecn::Ect1, n);
        let what = format!("PI2: share of Scalable packets marked at p' = {base}");
        record("Q4", &what, format!("{coupled:.4}"), share(marks), "4 standard errors");
    }
}

#[test]
fn what_is_scalable_is_a_setting() {
    let n = 100_000;
    let marks = |scalable, ecn| {
        offered(Pi2Config { ecn: true, scalable, ..Pi2Config::default() }, 0.2, ecn, n).0
    };
    assert!(is_near(marks(Scalable::Ect, Ecn::Ect0), 0.4, n));
    assert!(is_near(marks(Scalable::Ect1, Ecn::Ect0), 0.04, n));
    assert!(is_near(marks(Scalable::None, Ecn::Ect1), 0.04, n));
    // Without ECN every packet is Classic, and dropped.
    let (marks, drops) = offered(Pi2Config::default(), 0.2, Ecn::Ect1, n);
    assert!(marks == 0 && is_near(drops, 0.04, n), "{marks} {drops}");
}

#[test]
fn the_base_probability_follows_its_equation_step_by_step() {
    // p' += alpha (delay - target) + beta (delay - delay before), every 30 ms.
    let mut pi2 = pi2(Pi2Config::default());
    pi2.on_enqueue(1_500_000);
    let (mut p, mut old) = (0.0_f64, 0.0);
    for step in 1..400_u64 {
        // Each of these leaves just before the update; the delay rises, stands and falls.
        let delay = match step {
            0..100 => step,
            100..300 => 100,
            _ => 400 - step,
        };
        let now = at(MS(30 * step));
        pi2.on_departure(now, MS(delay), 1500);
        pi2.update_before(now + MS(1));
        let q = delay as f64 / 1e3;
        p = (p + 0.3125 * (q - 0.02) + 3.125 * (q - old)).clamp(0.0, 1.0);
        old = q;
        assert!((pi2.base_probability() - p).abs() < 1e-12, "{step}");
    }
    let (expected, measured) = (format!("{p:.9}"), format!("{:.9}", pi2.base_probability()));
    record("Q4", "PI2: p' after 399 updates", expected, measured, "within 1e-12");
    assert!(p > 0.1 && p < 1.0, "{p}");
}

#[test]
fn late_updates_are_those_of_a_clock() {
    let (mut awake, mut asleep) = (pi2(Pi2Config::default()), pi2(Pi2Config::default()));
    for each in [&mut awake, &mut asleep] {
        each.on_enqueue(3000);
        each.base = 0.7;
        each.on_departure(at(MS(5)), MS(4), 1500);
    }
    for ms in 6..20_000 {
        awake.update_before(at(MS(ms)));
    }
    asleep.update_before(at(MS(19_999)));
    assert_eq!(awake.base_probability(), 0.0);
    assert_eq!(asleep.base_probability(), 0.0);
    assert_eq!(awake.next_update, asleep.next_update);
}

#[test]
fn a_short_queue_is_left_alone() {
    let mut pi2 = pi2(Pi2Config::default());
    (pi2.base, pi2.next_update) = (1.0, Time::NEVER);
    let mut decisions = Vec::new();
    for _ in 0..4 {
        decisions.push(pi2.on_arrival(&arrival(at(MS(1)), Ecn::NotEct)));
        pi2.on_enqueue(1000);
    }
    // 0, 1000 and 2000 octets wait, then 3000, which are two packets of 1500.
    let admit = Decision::Admit;
    assert_eq!(decisions, [admit, admit, admit, Decision::Drop]);
}

/// With Scalable packets p' ends at 1 / k: all of them are marked, and a quarter of the Classic ones
/// is dropped, however long the queue is.
#[test]
fn the_base_probability_ends_where_all_scalable_packets_are_marked() {
    let base = |config| {
        let mut pi2 = pi2(config);
        pi2.on_enqueue(1_500_000);
        for step in 1..1000 {
            pi2.on_departure(at(MS(30 * step)), MS(500), 1500);
        }
        pi2.base_probability()
    };
    assert_eq!(base(Pi2Config::default()), 1.0);
    let ecn = Pi2Config { ecn: true, ..Pi2Config::default() };
    assert_eq!(base(ecn.clone()), 0.5);
    assert_eq!(base(Pi2Config { coupling: 4.0, ..ecn.clone() }), 0.25);
    assert_eq!(base(Pi2Config { scalable: Scalable::None, ..ecn }), 1.0);
}

#[test]
fn values_out_of_range_are_refused() {
    let said = |config: Pi2Config| config.validate().unwrap_err().to_string();
    let good = Pi2Config::default();
    assert_eq!(good.validate(), Ok(()));
    let update = Pi2Config { update: Span::ZERO, ..good.clone() };
    assert_eq!(said(update), "update is 0 s; allowed: at least 1 us");
    let alpha = Pi2Config { alpha: -0.5, ..good.clone() };
    assert_eq!(said(alpha), "alpha is -0.5; allowed: 0 to 1000 per second");
    let coupling = Pi2Config { coupling: 0.5, ..good };
    assert_eq!(said(coupling), "coupling is 0.5; allowed: 1 to 100");
}
