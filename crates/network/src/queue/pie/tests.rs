use super::*;
use crate::queue::Waiting;
use anabranch_testkit::marks::record;

const MS: fn(u64) -> Span = Span::from_millis;

fn at(span: Span) -> Time {
    Time::ZERO + span
}

fn pie(config: PieConfig) -> Pie {
    Pie::new(&config, Generator::from_u64(4))
}

fn arrival(now: Time) -> Arrival {
    Arrival {
        now,
        size: 1500,
        ecn: Ecn::Ect0,
        waiting: Waiting::default(),
        busy_until: Time::NEVER,
    }
}

/// Departures every millisecond that waited what `delay` says, with a backlog
/// of 30,000 octets, for `ms` milliseconds.
fn run(pie: &mut Pie, ms: std::ops::Range<u64>, delay: impl Fn(u64) -> Span) {
    for i in ms {
        if pie.backlog < 30_000 {
            pie.on_enqueue(1500);
        }
        pie.on_departure(at(MS(i)), delay(i), 1500);
        pie.on_enqueue(1500);
    }
}

#[test]
fn the_probability_follows_its_equation_step_by_step() {
    // Q4: p += alpha (q - ref) + beta (q - q_old), scaled as §4.2 says.
    let mut pie = pie(PieConfig::default());
    pie.backlog = 30_000;
    let (mut p, mut old) = (0.0_f64, 0.0);
    for step in 1..400_u64 {
        // The delay climbs to 60 ms, stays, and falls to 5 ms.
        let q = match step {
            0..60 => step as f64 * 0.001,
            60..200 => 0.060,
            _ => 0.005,
        };
        pie.on_departure(at(MS(15 * step)), Span::from_secs_f64(q).unwrap(), 1500);
        pie.on_enqueue(1500);
        pie.update_before(at(MS(15 * step + 1)));
        let divisor = if p < 1e-6 {
            2048.0
        } else if p < 1e-5 {
            512.0
        } else if p < 1e-4 {
            128.0
        } else if p < 1e-3 {
            32.0
        } else if p < 1e-2 {
            8.0
        } else if p < 1e-1 {
            2.0
        } else {
            1.0
        };
        p += (0.125 * (q - 0.015) + 1.25 * (q - old)) / divisor;
        p = p.clamp(0.0, 1.0);
        old = q;
        assert!((pie.probability() - p).abs() < 1e-12, "step {step}: {} {p}", pie.probability());
    }
    let digits = |p: f64| format!("{p:.9}");
    record("Q4", "PIE: p after 399 updates", digits(p), digits(pie.probability()), "within 1e-12");
    assert!(p > 0.0);
}

#[test]
fn late_updates_are_those_of_a_clock() {
    // One that is asked every millisecond and one that sleeps for seconds agree.
    let (mut awake, mut asleep) = (pie(PieConfig::default()), pie(PieConfig::default()));
    for item in [&mut awake, &mut asleep] {
        run(item, 1..2000, |_| MS(40));
        assert!(item.probability() > 0.01);
    }
    for ms in 2000..9000 {
        awake.update_before(at(MS(ms)));
    }
    asleep.update_before(at(MS(8999)));
    assert_eq!(awake.probability(), asleep.probability());
    assert_eq!(awake.next_update, asleep.next_update);
}

#[test]
fn an_idle_link_forgets_and_keeps_the_grid_of_updates() {
    let mut pie = pie(PieConfig::default());
    run(&mut pie, 1..3000, |_| MS(40));
    while pie.backlog > 0 {
        pie.on_departure(at(MS(3000)), MS(40), 1500);
    }
    assert!(pie.probability() > 0.1);
    pie.on_arrival(&arrival(at(Span::from_secs(3600)) + MS(1)));
    assert_eq!(pie.probability(), 0.0);
    assert_eq!(pie.next_update, at(Span::from_secs(3600) + MS(15)));
}

#[test]
fn a_burst_is_let_through_after_quiet() {
    let mut pie = pie(PieConfig::default());
    pie.probability = 1.0;
    pie.old_delay = 0.1;
    pie.backlog = 60_000;
    assert_eq!(pie.on_arrival(&arrival(at(MS(1)))), Decision::Admit);
    assert_eq!(pie.burst_left, MS(150));
    pie.burst_left = Span::ZERO;
    assert_eq!(pie.on_arrival(&arrival(at(MS(2)))), Decision::Drop);
}

#[test]
fn a_short_queue_or_a_low_delay_is_never_hit() {
    let ready = |backlog, old_delay, probability| {
        let mut pie = pie(PieConfig { burst: Span::ZERO, ..PieConfig::default() });
        (pie.backlog, pie.old_delay, pie.probability) = (backlog, old_delay, probability);
        (0..500).filter(|_| pie.on_arrival(&arrival(at(MS(1)))) != Decision::Admit).count()
    };
    assert_eq!(ready(3000, 0.1, 0.9), 0); // two packets
    assert_eq!(ready(60_000, 0.007, 0.19), 0); // half the target
    let hits = ready(60_000, 0.1, 0.3);
    assert!((110..190).contains(&hits), "{hits}"); // 150 of 500
}

#[test]
fn marks_below_the_threshold_and_drops_above() {
    let seen = |probability| {
        let config = PieConfig { ecn: true, burst: Span::ZERO, ..PieConfig::default() };
        let mut pie = pie(config);
        (pie.backlog, pie.old_delay, pie.probability) = (60_000, 0.1, probability);
        let all: Vec<_> = (0..400).map(|_| pie.on_arrival(&arrival(at(MS(1))))).collect();
        (all.contains(&Decision::Mark), all.contains(&Decision::Drop))
    };
    assert_eq!(seen(0.1), (true, false));
    assert_eq!(seen(0.11), (false, true));
}

#[test]
fn derandomized_drops_keep_their_distance() {
    let config = PieConfig { derandomize: true, burst: Span::ZERO, ..PieConfig::default() };
    let mut pie = pie(config);
    (pie.backlog, pie.old_delay, pie.probability) = (60_000, 0.1, 0.05);
    let mut last = None;
    let mut count = 0;
    for i in 0..20_000_u32 {
        if pie.on_arrival(&arrival(at(MS(1)))) == Decision::Drop {
            if let Some(last) = last {
                let space = i - last;
                assert!((17..=170).contains(&space), "{space}");
            }
            last = Some(i);
            count += 1;
        }
    }
    // 17 packets pass, then one in twenty: one in 36 or 37.
    assert!((480..=620).contains(&count), "{count}");
}

#[test]
fn the_departure_rate_gives_the_delay() {
    let mut pie = pie(PieConfig { delay: DelayEstimate::Rate, ..PieConfig::default() });
    pie.backlog = 45_000;
    // 1500 octets a millisecond: 45,000 octets are 30 ms.
    for i in 1..=200 {
        pie.on_departure(at(MS(i)), Span::ZERO, 1500);
        pie.on_enqueue(1500);
    }
    pie.update_before(at(MS(211)));
    // 16,384 octets are counted in whole packets: 11 leave in 11 ms, and the next measurement begins
    // with the end of the one before.
    let measured = pie.delay;
    assert!((0.030..=0.0305).contains(&measured), "{measured}");
}

/// §5.4 and appendix B: the sum of probabilities grows while the burst allowance lasts, and an overflow
/// makes it zero, so that no early drop follows at once.
#[test]
fn the_sum_grows_during_the_allowance_and_ends_with_an_overflow() {
    let mut pie = pie(PieConfig { derandomize: true, ..PieConfig::default() });
    (pie.probability, pie.old_delay, pie.backlog) = (0.25, 0.1, 60_000);
    assert!(pie.burst_left > Span::ZERO);
    for sum in [0.25, 0.5, 0.75] {
        assert_eq!(pie.on_arrival(&arrival(Time::ZERO)), Decision::Admit);
        assert_eq!(pie.accumulated, sum);
    }
    pie.on_overflow();
    assert_eq!(pie.accumulated, 0.0);
}

#[test]
fn it_wakes_at_a_share_of_the_limit_and_sleeps_when_all_is_forgotten() {
    let limit = QueueLimit::Packets(30);
    let mut pie = pie(PieConfig { activate: 1.0 / 3.0, limit, ..PieConfig::default() });
    let with = |packets, ms| {
        let waiting = Waiting { packets, octets: packets * 1500 };
        Arrival { waiting, ..arrival(at(MS(ms))) }
    };
    run(&mut pie, 1..100, |_| MS(500));
    pie.on_arrival(&with(9, 100));
    assert!(!pie.active && pie.probability() == 0.0); // no update was made
    pie.on_arrival(&with(10, 101));
    assert!(pie.active);
    // The first update is T_UPDATE later, not on the grid of the start.
    assert_eq!((pie.next_update, pie.burst_left), (at(MS(116)), MS(150)));
    run(&mut pie, 101..2000, |_| MS(500));
    assert!(pie.probability() > 0.0);
    while pie.backlog > 0 {
        pie.on_departure(at(MS(2000)), MS(500), 1500);
    }
    pie.on_arrival(&with(0, 2001));
    assert!(pie.active); // still remembers
    pie.on_arrival(&with(0, 60_000));
    assert!(!pie.active);
}

#[test]
fn increases_are_capped_where_asked() {
    let step = |cap| {
        let mut pie = pie(PieConfig { cap, ..PieConfig::default() });
        (pie.backlog, pie.delay, pie.probability) = (60_000, 1.0, 0.2);
        pie.update();
        pie.probability()
    };
    assert!((step(true) - 0.22).abs() < 1e-12);
    assert_eq!(step(false), 1.0);
}
