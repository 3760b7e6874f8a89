use super::super::item::testing::item;
use super::*;
use anabranch_testkit::marks::record;

const MS: fn(u64) -> Span = Span::from_millis;

fn at(span: Span) -> Time {
    Time::ZERO + span
}

fn dual() -> DualPi2 {
    DualPi2::new(&DualPi2Config::default())
}

fn packet(id: u32, ecn: Ecn, since: Time) -> Item {
    Item { ecn, ..item(id, 1500, since) }
}

/// Passes `n` packets of `ecn` through with p' held; returns marks and drops.
fn pass(base: f64, ecn: Ecn, n: u32) -> (u32, u32) {
    let mut dual = dual();
    dual.next_update = Time::NEVER;
    dual.base = base;
    let (mut marks, mut losses) = (0, Losses::new());
    for id in 0..n {
        dual.enqueue(packet(id, ecn, at(MS(1))), &mut losses);
        marks += dual.dequeue(at(MS(1)), &mut losses).is_some_and(|item| item.marked) as u32;
    }
    (marks, losses.len() as u32)
}

#[test]
fn classic_and_low_latency_are_coupled() {
    // Q4: p_C = p'^2, p_CL = 2 p'.
    for base in [0.02, 0.1, 0.3, 0.45] {
        let n = 10_000;
        let expected_low = 2.0 * base * n as f64;
        let expected_classic = base * base * n as f64;
        let (marks, drops) = pass(base, Ecn::Ect1, n);
        let what = format!("DualPI2: low-latency marks of 10,000 at p' = {base}");
        record("Q4", &what, expected_low.round(), marks, "within 1");
        assert!((marks as f64 - expected_low).abs() <= 1.0 && drops == 0, "{base}: {marks}");
        let (marks, drops) = pass(base, Ecn::NotEct, n);
        let what = format!("DualPI2: classic drops of 10,000 at p' = {base}");
        record("Q4", &what, expected_classic.round(), drops, "within 1");
        assert!((drops as f64 - expected_classic).abs() <= 1.0 && marks == 0, "{base}: {drops}");
        let (marks, drops) = pass(base, Ecn::Ect0, n);
        assert!((marks as f64 - expected_classic).abs() <= 1.0 && drops == 0, "{base}: {marks}");
    }
}

#[test]
fn overload_drops_in_both_queues() {
    // p' = 0.6: p_CL is saturated, p_C = 0.36 is above p_Cmax = 0.25.
    let (marks, drops) = pass(0.6, Ecn::Ect1, 1000);
    assert!((drops as f64 - 360.0).abs() <= 1.0, "{drops}");
    assert!((marks as f64 - 640.0).abs() <= 2.0, "{marks}");
    let (marks, drops) = pass(0.6, Ecn::Ect0, 1000);
    assert!((drops as f64 - 360.0).abs() <= 1.0 && marks == 0);
}

/// §A.2, line 2a: traffic of ECT(1) alone that does not hear of marks drives p', too. Twice the rate
/// of the line comes; the queue is held at the target, far below the limit.
#[test]
fn overload_of_the_low_latency_queue_alone_drops() {
    let mut dual = dual();
    let (mut early, mut overflows, mut wait) = (0, 0, Span::ZERO);
    for tick in 0..40_000_u64 {
        let now = at(Span::from_micros(500) * tick);
        let mut losses = Losses::new();
        dual.enqueue(packet(2 * tick as u32, Ecn::Ect1, now), &mut losses);
        dual.enqueue(packet(2 * tick as u32 + 1, Ecn::Ect1, now), &mut losses);
        wait = dual.dequeue(now, &mut losses).map_or(Span::ZERO, |item| item.sojourn(now));
        early += losses.iter().filter(|(_, loss)| *loss == Loss::Early).count();
        overflows += losses.iter().filter(|(_, loss)| *loss == Loss::Overflow).count();
    }
    assert!(early > 30_000 && overflows == 0, "{early} {overflows}");
    assert!((10..25).contains(&wait.as_millis()), "{wait}");
}

#[test]
fn the_base_probability_follows_its_equation_step_by_step() {
    // p' += alpha (q - target) + beta (q - q_old), q the head's wait.
    let mut dual = dual();
    let mut losses = Losses::new();
    let (mut p, mut old) = (0.0_f64, 0.0);
    dual.enqueue(packet(0, Ecn::NotEct, Time::ZERO), &mut losses);
    for step in 1..200_u64 {
        let now = at(MS(15 * step));
        dual.update_until(now);
        // Every ten steps the head leaves, and the next has just come.
        let q = 0.015 * ((step - 1) % 10 + 1) as f64;
        p += 0.15 * (q - 0.015) + 3.0 * (q - old);
        p = p.clamp(0.0, 1.0);
        old = q;
        assert!((dual.base_probability() - p).abs() < 1e-12, "{step}");
        if step % 10 == 0 {
            dual.classic.pop();
            dual.classic.push(packet(0, Ecn::NotEct, now));
        }
    }
}

#[test]
fn late_updates_are_those_of_a_clock() {
    let (mut awake, mut asleep) = (dual(), dual());
    for item in [&mut awake, &mut asleep] {
        item.enqueue(packet(0, Ecn::NotEct, at(MS(3))), &mut Losses::new());
        item.base = 0.7;
    }
    for ms in 0..200 {
        awake.update_until(at(MS(ms)));
    }
    asleep.update_until(at(MS(199)));
    assert_eq!(awake.base_probability(), asleep.base_probability());
    for item in [&mut awake, &mut asleep] {
        item.dequeue(at(MS(200)), &mut Losses::new());
    }
    for ms in 200..20_000 {
        awake.update_until(at(MS(ms)));
    }
    asleep.update_until(at(MS(19_999)));
    assert_eq!(awake.base_probability(), 0.0);
    assert_eq!(asleep.base_probability(), 0.0);
    assert_eq!(awake.next_update, asleep.next_update);
}

#[test]
fn the_ramp_marks_by_waiting_time() {
    let found = dual();
    for (us, p) in [(0, 0.0), (800, 0.0), (1000, 0.5), (1200, 1.0), (9000, 1.0)] {
        assert_eq!(found.ramp(Span::from_micros(us)), p);
    }
    // Lines 4a and 5a of Figure 7: the packet is taken, and one that leaves no more than Th_len = 1
    // behind is not marked, however long it took.
    let mut dual = dual();
    let mut losses = Losses::new();
    for id in 0..5 {
        dual.enqueue(packet(id, Ecn::Ect1, Time::ZERO), &mut losses);
    }
    let marked: Vec<_> =
        (0..5).map(|_| dual.dequeue(at(MS(5)), &mut losses).unwrap().marked).collect();
    // recur() hits once the likelihoods sum to more than one.
    assert_eq!(marked, [false, true, true, false, false]);
}

#[test]
fn low_latency_goes_first_and_leaves_its_share_to_classic() {
    let mut dual = dual();
    let mut losses = Losses::new();
    for id in 0..1600 {
        dual.enqueue(packet(id, Ecn::Ect1, Time::ZERO), &mut losses);
        dual.enqueue(packet(id, Ecn::NotEct, Time::ZERO), &mut losses);
    }
    let served: Vec<_> =
        (0..1600).map(|_| dual.dequeue(Time::ZERO, &mut losses).unwrap().ecn).collect();
    let classic = served.iter().filter(|ecn| **ecn == Ecn::NotEct).count();
    assert_eq!((served[0], classic), (Ecn::Ect1, 100)); // one in sixteen
}

#[test]
fn the_limit_is_shared() {
    let config = DualPi2Config { limit: QueueLimit::Packets(2), ..DualPi2Config::default() };
    let mut dual_pi2 = DualPi2::new(&config);
    let mut losses = Losses::new();
    for (id, ecn) in [(0, Ecn::Ect1), (1, Ecn::NotEct), (2, Ecn::Ect1)] {
        dual_pi2.enqueue(packet(id, ecn, Time::ZERO), &mut losses);
    }
    assert_eq!(losses.iter().map(|(dual_pi2, _)| dual_pi2.id.0).collect::<Vec<_>>(), [2]);
}
