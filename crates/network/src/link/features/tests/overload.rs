//! Disciplines that decide on arrival, in the steady state behind a flow that does not slow down: of
//! a load above 1 they drop 1 - 1/load, whatever else they do.

use super::*;

const LOAD: f64 = 1.25;
const DROPPED: f64 = 1.0 - 1.0 / LOAD;

/// What a link of a packet a millisecond makes of packets that come at [`LOAD`], in the second half of
/// the time: the share dropped by the law and by the full buffer, the mean wait in milliseconds.
struct Steady {
    early: f64,
    overflow: f64,
    wait_ms: f64,
}

fn steady(queue: QueueConfig, seconds: u64) -> Steady {
    let mut bench = Bench::new(&link(queue));
    let (mut waits, mut offered, mut before) = (0.0, 0_u32, bench.counters());
    for number in 0..seconds * 1250 {
        let now = at(Span::from_micros(800) * number);
        bench.run_until(now);
        if now == at(Span::from_secs(seconds / 2)) {
            before = bench.counters();
        }
        if now >= at(Span::from_secs(seconds / 2)) {
            waits += bench.link.waiting(now).packets as f64;
            offered += 1;
        }
        bench.offer_packet(now, packet(1500, number as u16, 0));
    }
    let counters = bench.counters();
    let share = |n: u64| n as f64 / f64::from(offered);
    Steady {
        early: share(counters.dropped_aqm - before.dropped_aqm),
        overflow: share(counters.dropped_queue - before.dropped_queue),
        // A packet takes a millisecond, of which half is left of the one on the line.
        wait_ms: waits / f64::from(offered) + 0.5,
    }
}

/// PI2: p'^2 is what has to be dropped, and the wait is the target.
#[test]
fn pi2_drops_the_excess_at_its_target() {
    let found = steady(QueueConfig::Pi2(Pi2Config::default()), 400);
    let what = format!("PI2: share dropped of a flow that sends {LOAD} of the line");
    record("Q4", &what, format!("{DROPPED:.4}"), format!("{:.4}", found.early), "within 0.002");
    let what = format!("PI2: mean wait behind a flow that sends {LOAD} of the line");
    record("Q4", &what, "20 ms", format!("{:.2} ms", found.wait_ms), "within 0.5 ms");
    assert!((found.early - DROPPED).abs() < 0.002 && found.overflow == 0.0, "{}", found.early);
    assert!((found.wait_ms - 20.0).abs() < 0.5, "{}", found.wait_ms);
}

/// BLUE: p_m is what has to be dropped, within a few of its steps, and the buffer hardly ever overflows. From 0 p_m takes 0.2 / d1
/// steps of a freeze time to get there, 8 s and the time until the buffer is full.
#[test]
fn blue_drops_the_excess_and_the_buffer_hardly_overflows() {
    let found = steady(QueueConfig::Blue(BlueConfig::default()), 400);
    let (all, overflow) = (found.early + found.overflow, found.overflow);
    let what = format!("BLUE: share dropped of a flow that sends {LOAD} of the line");
    record("Q4", &what, format!("{DROPPED:.4}"), format!("{all:.4}"), "within 2 d1, 0.005");
    let what = "BLUE: share of that flow dropped by overflows";
    record("Q4", what, "0", format!("{overflow:.4}"), "within 0.01");
    assert!((all - DROPPED).abs() < 0.005, "{all}");
    assert!(overflow < 0.01, "{overflow}");
    let overflows = |seconds| steady(QueueConfig::Blue(BlueConfig::default()), seconds).overflow;
    assert!(overflows(4) > 0.1 && overflows(24) < 0.01, "{} {}", overflows(4), overflows(24));
}
