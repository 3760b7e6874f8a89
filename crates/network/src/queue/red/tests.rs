use super::*;
use crate::queue::Waiting;
use anabranch_testkit::marks::record;

fn config() -> RedConfig {
    RedConfig { mean_packet: Bytes(1500), ..RedConfig::default() }
}

/// RED in front of 12 Mbit/s: 1500 octets take 1 ms.
fn red(config: RedConfig) -> Red {
    Red::new(&config, Rate::mbit(12), Generator::from_u64(9))
}

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// An arrival at a busy line where `packets` of 1500 octets wait.
fn busy(now: Time, packets: u64) -> Arrival {
    Arrival {
        now,
        size: 1500,
        ecn: Ecn::NotEct,
        waiting: Waiting { packets, octets: packets * 1500 },
        busy_until: Time::NEVER,
    }
}

#[test]
fn the_average_follows_its_equation() {
    let mut red = red(RedConfig { weight: Some(0.002), ..config() });
    let mut expected = 0.0;
    for i in 0..1000 {
        red.on_arrival(&busy(at_ms(i), i % 7));
        expected = (1.0 - 0.002) * expected + 0.002 * (i % 7) as f64;
        assert!((red.average() - expected).abs() < 1e-12);
    }
}

#[test]
fn an_idle_line_lets_the_average_decay_by_the_packets_it_could_have_sent() {
    let mut red = red(config());
    red.avg = 8.0;
    // Idle for 100 ms, the time of 100 mean packets.
    red.on_arrival(&Arrival { busy_until: at_ms(400), ..busy(at_ms(500), 0) });
    assert!((red.average() - 8.0 * 0.998_f64.powi(100)).abs() < 1e-9);
}

#[test]
fn the_probability_is_linear_then_gentle() {
    // Q4: linear min..max, gentle to 2 max.
    let found = red(config());
    for (avg, p) in [
        (4.9, 0.0),
        (5.0, 0.0),
        (10.0, 0.05),
        (15.0, 0.1),
        (22.5, 0.55),
        (29.999, 1.0),
        (30.0, 1.0),
    ] {
        let measured = format!("{:.4}", found.probability(avg));
        record("Q4", &format!("RED: p_b at an average of {avg}"), p, measured, "within 1e-4");
        assert!((found.probability(avg) - p).abs() < 1e-4, "{avg}");
    }
    let strict = red(RedConfig { gentle: false, ..config() });
    assert_eq!(strict.probability(15.0), 1.0);
}

/// Spaces between early drops while the average stays at 10 (p_b = 0.05).
fn spaces(config: RedConfig) -> Vec<u32> {
    let mut red = red(config);
    red.avg = 10.0;
    let (mut spaces, mut since) = (Vec::new(), 0);
    for i in 0..100_000 {
        since += 1;
        if red.on_arrival(&busy(at_ms(i), 10)) == Decision::Drop {
            spaces.push(since);
            since = 0;
        }
    }
    spaces[1..].to_vec()
}

#[test]
fn drops_are_spread_uniformly() {
    // With p_b = 1/20 the space is uniform on 1..=19, and on 20..=39 with `wait`.
    for (wait, first, kinds) in [(false, 1, 19), (true, 20, 20)] {
        let spaces = spaces(RedConfig { wait, ..config() });
        let n = spaces.len() as f64;
        let mut counts = [0_u32; 42];
        for space in &spaces {
            counts[*space as usize] += 1;
        }
        for (space, count) in counts.into_iter().enumerate() {
            let possible = (first..first + kinds).contains(&space);
            let expected = if possible { n / kinds as f64 } else { 0.0 };
            let error = (expected * 0.95).sqrt() * 4.0;
            assert!((count as f64 - expected).abs() <= error, "{wait} {space}: {count} of {n}");
        }
    }
}

#[test]
fn sizes_weigh_where_asked() {
    let share = |size| {
        let mut red = red(RedConfig { by_size: true, wait: false, ..config() });
        red.avg = 10.0;
        let hits = (0..40_000).filter(|i| {
            let arrival = Arrival { size, ..busy(at_ms(*i), 10) };
            red.on_arrival(&arrival) == Decision::Drop
        });
        hits.count() as f64 / 40_000.0
    };
    // The mean space is 10 packets of mean size; of a tenth of the size about
    // ten times as many, 100.
    let (large, small) = (share(1500), share(150));
    assert!((large - 0.1).abs() < 0.004, "{large}");
    assert!((large / small - 10.0).abs() < 0.8, "{large} {small}");
}

#[test]
fn ecn_capable_packets_are_marked_until_the_forced_region() {
    let mut red = red(RedConfig { ecn: true, wait: false, ..config() });
    red.avg = 14.9;
    let mut ect = |avg: f64, packets| {
        red.avg = avg;
        let seen: Vec<_> = (0..300)
            .map(|i| red.on_arrival(&Arrival { ecn: Ecn::Ect0, ..busy(at_ms(i), packets) }))
            .collect();
        (seen.contains(&Decision::Mark), seen.contains(&Decision::Drop))
    };
    assert_eq!(ect(14.9, 15), (true, false));
    assert_eq!(ect(40.0, 40), (false, true));
}

#[test]
fn adaptation_keeps_max_p_between_its_bounds() {
    let adaptive = RedConfig { adaptive: true, ..config() };
    let mut red = red(adaptive.clone());
    red.max_p = 0.1;
    // Average above the target band (9..11): + min(0.01, max_p / 4) each 0.5 s.
    red.avg = 14.0;
    red.on_arrival(&busy(at_ms(500), 14));
    assert!((red.max_p() - 0.11).abs() < 1e-12);
    red.on_arrival(&busy(at_ms(1999), 14)); // 1.0 and 1.5 s
    assert!((red.max_p() - 0.13).abs() < 1e-12);
    // Below: times 0.9.
    red.avg = 6.0;
    red.on_arrival(&busy(at_ms(2000), 6));
    assert!((red.max_p() - 0.117).abs() < 1e-12);
    // A long silence ends at the bound, and the grid of intervals is kept.
    red.on_arrival(&busy(at_ms(3_600_250), 6));
    assert!(red.max_p() < 0.01 && red.max_p() >= 0.009, "{}", red.max_p());
    assert_eq!(red.next_adaptation, at_ms(3_600_500));
}

#[test]
fn thresholds_that_are_not_given_follow_the_rate() {
    // 5 ms at 120 Mbit/s are 50 packets of 1500 octets: 25 and 75.
    let auto = RedConfig { min: None, max: None, weight: None, adaptive: true, ..config() };
    let red = Red::new(&auto, Rate::mbit(120), Generator::from_u64(1));
    assert!((red.min - 25.0).abs() < 1e-9 && (red.max - 75.0).abs() < 1e-9);
    assert!((red.weight - (1.0 - (-1.0_f64 / 10_000.0).exp())).abs() < 1e-12);
    let slow = Red::new(&auto, Rate::mbit(1), Generator::from_u64(1));
    assert_eq!((slow.min, slow.max), (5.0, 15.0));
}

#[test]
fn wrong_parameters_are_named() {
    let wrong = RedConfig { max: Some(4.0), ..config() };
    assert_eq!(wrong.validate().unwrap_err().field, "max");
    assert_eq!(RedConfig { max_p: 2.0, ..config() }.validate().unwrap_err().field, "max_p");
    assert_eq!(RedConfig::default().validate(), Ok(()));
}
