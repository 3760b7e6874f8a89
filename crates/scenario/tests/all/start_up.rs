//! Start-ups of one flow alone on a link: how long until the link is busy, and what is lost until
//! then.

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};

/// A link of its own.
#[derive(Clone, Copy, Debug)]
struct Link {
    mbit: u64,
    rtt_ms: u64,
    /// Room of its queue in bandwidth-delay products; 20 packets at least.
    queue: u64,
}

impl Link {
    /// Bandwidth-delay product, in packets of 1500 octets.
    fn bdp(self) -> u64 {
        (self.mbit * self.rtt_ms * 125).div_ceil(1500)
    }

    fn queue(self) -> u64 {
        (self.queue * self.bdp()).max(20)
    }

    /// One flow over it with this window, for so many seconds.
    fn run(self, window: &str, seconds: f64) -> RunResult {
        let buffer = 8 * 1500 * (self.bdp() + self.queue()) + 262_144;
        let text = format!(
            r#"
            duration = "{seconds} s"
            hosts = ["a", "b"]
            [[links]]
            ends = ["a", "b"]
            name = "l"
            rate = "{} Mbit/s"
            delay = "{} us"
            queue = {{ limit = "{} packets" }}
            [[flows]]
            name = "f"
            from = "a"
            to = "b"
            [flows.tcp]
            window = {window}
            receive_buffer = "{buffer} B"
            recovery = "rack"
            rtt_samples = "every-ack"
            [[observe]]
            what = "cwnd"
            flow = "f"
            [[observe]]
            what = "received"
            flow = "f"
            interval = "{} s"
            "#,
            self.mbit,
            self.rtt_ms * 500,
            self.queue(),
            seconds / 2.0,
        );
        let scenario =
            Scenario::from_toml(&text, "start").unwrap_or_else(|e| panic!("{e}\n{text}"));
        run(&scenario, &RunOptions::default()).unwrap()
    }
}

/// The links that algorithms are judged on, with such queues.
fn links(queue: u64) -> impl Iterator<Item = Link> {
    let rtts = [10, 100, 800];
    [1, 10, 100].into_iter().flat_map(move |mbit| rtts.map(|rtt_ms| Link { mbit, rtt_ms, queue }))
}

fn series<'a>(result: &'a RunResult, name: &str) -> (&'a [f64], &'a [f64]) {
    let series = result.series.iter().find(|s| s.name == name).expect(name);
    (&series.time_s, &series.value)
}

/// Seconds until slow start is over: the window is a thirtieth below its largest.
fn left(result: &RunResult) -> f64 {
    let (times, values) = series(result, "f.cwnd");
    let mut largest = 0.0_f64;
    let shrinks = values.iter().position(|value| {
        largest = largest.max(*value);
        *value < largest * 29.0 / 30.0
    });
    times[shrinks.unwrap_or(times.len() - 1)]
}

/// How slow start ended: seconds until it was over, and packets that the link lost by then, with what was on
/// its way.
fn end_of_slow_start(link: Link, exit: &str) -> (f64, u64) {
    let window = with_exit(exit);
    let rounds = 60.0 + 20.0 * link.queue as f64;
    let left = left(&link.run(&window, rounds * link.rtt_ms as f64 / 1e3));
    let full = (1 + link.queue() / link.bdp().max(1)) * link.rtt_ms;
    let result = link.run(&window, left + full as f64 / 1e3);
    (left, result.links.iter().map(|link| link.counters.dropped_queue).sum())
}

/// What the second half of the run moved, over what a link leaves of its rate for payload.
fn used(result: &RunResult, link: Link, seconds: f64) -> f64 {
    let (times, values) = series(result, "f.received");
    let half = times.iter().rposition(|at| *at <= seconds / 2.0).map_or(0.0, |i| values[i]);
    let octets = result.flows[0].bytes as f64 - half;
    octets * 8.0 / (seconds / 2.0) / (link.mbit as f64 * 1e6 * 1448.0 / 1500.0)
}

fn with_exit(exit: &str) -> String {
    format!("{{ algorithm = \"cubic\", slow_start_exit = \"{exit}\" }}")
}

#[test]
fn search_alone_moves_nine_tenths_of_its_links() {
    for link in links(1).filter(|link| link.mbit * link.rtt_ms <= 10_000) {
        let seconds = 2.0 * (0.06 * link.rtt_ms as f64).max(12.0);
        let part = used(&link.run(&with_exit("search"), seconds), link, seconds);
        assert!((0.9..=1.1).contains(&part), "{link:?}: {part}");
    }
}

/// With room for what SEARCH takes to see that the path is full nothing is lost, and slow start is over
/// earlier than without it and than with HyStart++; with less it is as without it. Numbers:
/// docs/algorithms/slow-start.md.
#[test]
fn search_leaves_slow_start_before_a_loss_where_the_queue_is_long() {
    for mut link in links(5).filter(|link| (1000..=10_000).contains(&(link.mbit * link.rtt_ms))) {
        if link.bdp() < 80 {
            continue;
        }
        let [(at, lost), (at_plus, lost_plus), (at_standard, lost_standard)] =
            ["search", "hystart++", "standard"].map(|exit| end_of_slow_start(link, exit));
        assert_eq!(lost, 0, "{link:?}");
        assert!(
            lost_plus > 100 && lost_standard > 3 * link.bdp(),
            "{link:?}: {lost_plus}, {lost_standard}"
        );
        assert!(at < at_plus && at < at_standard, "{link:?}: {at}, {at_plus}, {at_standard}");
        link.queue = 1;
        let [(_, lost), (_, lost_standard)] =
            ["search", "standard"].map(|exit| end_of_slow_start(link, exit));
        assert_eq!(lost, lost_standard, "{link:?}");
    }
}

/// Seconds until 5 MB have arrived, and packets that the link lost meanwhile.
fn transfer(link: Link, window: &str) -> (f64, u64) {
    let buffer = 8 * 1500 * (link.bdp() + link.queue()) + 262_144;
    let text = format!(
        r#"
        duration = "200 s"
        hosts = ["a", "b"]
        links = [{{ ends = ["a", "b"], rate = "{} Mbit/s", delay = "{} us", queue = {{ limit = "{} packets" }} }}]
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        size = "5 MB"
        [flows.tcp]
        window = {window}
        receive_buffer = "{buffer} B"
        recovery = "rack"
        rtt_samples = "every-ack"
        "#,
        link.mbit,
        link.rtt_ms * 500,
        link.queue(),
    );
    let scenario = Scenario::from_toml(&text, "resume").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let result = run(&scenario, &RunOptions::default()).unwrap();
    let end = result.flows[0].finish_s.expect("it ends");
    (end, result.links.iter().map(|link| link.counters.dropped_queue).sum())
}

/// RFC 9959: 5 MB over 100 Mbit/s and 600 ms, of which an earlier flow had used all.
#[test]
fn careful_resume_spares_round_trips_of_a_long_path() {
    let link = Link { mbit: 100, rtt_ms: 600, queue: 1 };
    let saved = |cwnd: u64, rtt_ms: u64| {
        format!(
            "{{ algorithm = \"cubic\", careful_resume = {{ saved_cwnd = \"{cwnd} B\", saved_rtt = \"{rtt_ms} ms\" }} }}"
        )
    };
    let bdp = 1500 * link.bdp();
    let plain = transfer(link, "\"cubic\"");
    let resumed = transfer(link, &saved(bdp, 600));
    let other = transfer(link, &saved(bdp, 1300));
    let far = transfer(link, &saved(20 * bdp, 600));
    assert!(resumed.0 < 0.55 * plain.0 && far.0 < 0.55 * plain.0, "{plain:?} {resumed:?} {far:?}");
    assert_eq!((plain.1, resumed.1, far.1), (0, 0, 0));
    assert_eq!(other, plain, "another round-trip time is another path");
    // A path that has become ten times slower loses what the jump sends too much, and no time.
    let slow = Link { mbit: 10, ..link };
    let (slow_plain, slow_resumed) =
        (transfer(slow, "\"cubic\""), transfer(slow, &saved(bdp, 600)));
    assert!(slow_resumed.1 > slow_plain.1, "{slow_plain:?} {slow_resumed:?}");
    assert!(slow_resumed.0 < 1.1 * slow_plain.0, "{slow_plain:?} {slow_resumed:?}");
}
