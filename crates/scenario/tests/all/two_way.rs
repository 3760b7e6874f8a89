//! Two connections in opposite directions over a lossless channel of constant
//! rates and delays, against the closed form of docs/two-way.md (validation
//! TW; Kalampoukas, Varma and Ramakrishnan, ToN 1998).

use anabranch_scenario::{NamedSeries, RunOptions, RunResult, Scenario, run};
use anabranch_testkit::marks::record;

/// A channel between two hosts and a window for each direction.
#[derive(Clone, Copy, Debug)]
struct Channel {
    /// Segments, of the data from `a` and of that from `b`.
    windows: [u32; 2],
    /// Of the line from `a` and of that from `b`, Mbit/s.
    rates: [f64; 2],
    /// The same, ms.
    delays: [f64; 2],
    /// Octets of payload.
    mss: u32,
}

/// TCP's and IP's headers; there are no options.
const HEADERS: u32 = 40;

impl Channel {
    /// 10 Mbit/s, segments of 1500 octets with their headers, 1.2 ms each, and
    /// a round trip of 100 of them, with windows of this many round trips.
    fn symmetric(windows: [f64; 2]) -> Channel {
        let windows = windows.map(|w| (w * 100.0) as u32);
        Channel { windows, rates: [10.0; 2], delays: [60.0; 2], mss: 1460 }
    }

    /// Seconds that a packet of `octets` takes from host `i`.
    fn time(&self, octets: u32, i: usize) -> f64 {
        f64::from(octets) * 8.0 / (self.rates[i] * 1e6)
    }

    /// Seconds of propagation there and back.
    fn round_trip(&self) -> f64 {
        self.delays.iter().sum::<f64>() / 1e3
    }

    /// Seconds in which each segment of both windows goes round once:
    /// equation (1) of docs/two-way.md.
    fn cycle(&self) -> f64 {
        let data = [0, 1].map(|i| self.time(self.mss + HEADERS, i));
        let ack = [0, 1].map(|i| self.time(HEADERS, i));
        let [wa, wb] = self.windows.map(f64::from);
        let lines = [wa * data[0] + wb * ack[0], wb * data[1] + wa * ack[1]];
        let alone = self.round_trip() + (data[0] + ack[1]).max(data[1] + ack[0]);
        let both = (wa * data[0] + wb * data[1] + ack[0] + ack[1] + self.round_trip()) / 2.0;
        lines[0].max(lines[1]).max(alone).max(both)
    }

    /// Share of each line that its data takes, of what it could carry.
    fn expected(&self) -> [f64; 2] {
        [0, 1].map(|i| f64::from(self.windows[i]) * self.time(self.mss + HEADERS, i) / self.cycle())
    }

    fn scenario(&self, extra: &[String]) -> RunResult {
        let Channel { windows, rates, delays, mss } = self;
        let flow = |name: &str, from: &str, to: &str, window: u32| {
            // Half a segment more, which does not go out, for windows that
            // scaling rounds down.
            let buffer = window * mss + mss / 2;
            format!(
                "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
                 tcp = {{ mss = \"{mss} B\", receive_buffer = \"{buffer} B\", timestamps = false,\
                 delayed_ack = {{ count = 1, delay = \"40 ms\" }}, window = \"reno\" }}\n"
            )
        };
        let text = format!(
            "hosts = [\"i\", \"j\"]\nduration = \"70 s\"\n[[links]]\nends = [\"i\", \"j\"]\n\
             rate = \"{} bit/s\"\ndelay = \"{} us\"\nqueue = {{ limit = \"unlimited\" }}\n\
             reverse = {{ rate = \"{} bit/s\", delay = \"{} us\" }}\n\
             [[observe]]\nwhat = \"received\"\n[[observe]]\nwhat = \"queue\"\n\
             [[observe]]\nwhat = \"ack-compression\"\n{}{}",
            rates[0] * 1e6,
            delays[0] * 1e3,
            rates[1] * 1e6,
            delays[1] * 1e3,
            flow("a", "i", "j", windows[0]),
            flow("b", "j", "i", windows[1]),
        );
        let scenario = Scenario::with_overrides(&text, "two-way", extra)
            .unwrap_or_else(|error| panic!("{error}"));
        run(&scenario, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn series<'a>(result: &'a RunResult, name: &str) -> &'a NamedSeries {
    result
        .series
        .iter()
        .find(|series| series.name == name)
        .unwrap_or_else(|| panic!("no series {name}"))
}

/// The value of a step function at a date.
fn at(series: &NamedSeries, date: f64) -> f64 {
    let after = series.time_s.partition_point(|time| *time <= date);
    if after == 0 { 0.0 } else { series.value[after - 1] }
}

/// When everything is in its cycle; runs end 50 s later.
const FROM: f64 = 20.0;

/// Share of each line that data took, headers included, over whole cycles.
fn shares(channel: &Channel, result: &RunResult) -> [f64; 2] {
    let cycle = channel.cycle();
    let span = (50.0 / cycle).floor() * cycle;
    [0, 1].map(|i| {
        let received = series(result, ["a.received", "b.received"][i]);
        let octets = at(received, FROM + span) - at(received, FROM);
        let packets = octets / f64::from(channel.mss);
        packets * channel.time(channel.mss + HEADERS, i) / span
    })
}

/// Values from [`FROM`] on.
fn steady(result: &RunResult, name: &str) -> Vec<f64> {
    let series = series(result, name);
    let all = series.time_s.iter().zip(&series.value);
    all.filter(|(time, _)| **time > FROM).map(|(_, value)| *value).collect()
}

/// Runs the channel and holds both shares against the closed form.
fn check(what: &str, channel: &Channel, extra: &[String], tolerance: f64) {
    let measured = shares(channel, &channel.scenario(extra));
    for (i, expected) in channel.expected().into_iter().enumerate() {
        let name = ["i to j", "j to i"][i];
        let mark = format!("{} %", tolerance * 100.0);
        record(
            "K1",
            &format!("share of the line, {what}, {name}"),
            format!("{expected:.4}"),
            format!("{:.4}", measured[i]),
            &mark,
        );
        let error = measured[i] / expected - 1.0;
        assert!(error.abs() < tolerance, "{what}, {name}: {expected} but {}", measured[i]);
    }
}

/// The published figure and its relatives for ACKs without a length: 2/3, 4/5
/// and 20/21 of the line.
#[test]
fn two_thirds_of_one_way_throughput_at_the_product_of_rate_and_delay() {
    for (w, expected) in [(1.0, 2.0 / 3.0), (2.0, 0.8), (10.0, 20.0 / 21.0)] {
        let channel = Channel::symmetric([w, w]);
        let measured = shares(&channel, &channel.scenario(&[]));
        for (name, share) in ["i to j", "j to i"].into_iter().zip(measured) {
            let quantity = format!("published: share, both windows {w} round trips, {name}");
            record("K1", &quantity, format!("{expected:.4}"), format!("{share:.4}"), "0.5 %");
            assert!((share / expected - 1.0).abs() < 0.005, "{w}: {share}");
        }
    }
}

/// One way: the window over the round trip, until the line is full.
#[test]
fn one_way_traffic_is_the_baseline() {
    for (w, expected) in [(0.5_f64, 0.5 * 120.0 / 121.232), (1.0, 120.0 / 121.232), (1.5, 1.0)] {
        let channel = Channel::symmetric([w, 0.01]);
        let result = channel.scenario(&["flows.b.start=69 s".to_owned()]);
        let share = shares(&channel, &result)[0];
        let quantity = format!("share of the line, one way, window of {w} round trips");
        record("K1", &quantity, format!("{expected:.4}"), format!("{share:.4}"), "0.5 %");
        assert!((share / expected - 1.0).abs() < 0.005, "{w}: {share} but {expected}");
        // Nothing is compressed.
        assert!(steady(&result, "a.ack_gaps").iter().take(1000).all(|ratio| *ratio > 0.999));
    }
}

#[test]
fn windows_rates_delays_and_segments_are_those_of_the_closed_form() {
    let base = Channel::symmetric([1.0, 1.0]);
    let windows = [
        [0.25, 0.25],
        [0.5, 0.5],
        [1.0, 1.0],
        [2.0, 2.0],
        [5.0, 5.0],
        [1.0, 0.5],
        [1.0, 2.0],
        [3.0, 1.0],
        [0.3, 0.9],
        [4.0, 0.5],
    ];
    for w in windows {
        let what = format!("windows of {} and {} round trips", w[0], w[1]);
        check(&what, &Channel::symmetric(w), &[], 0.001);
    }
    for delays in [[100.0, 20.0], [1.0, 119.0]] {
        let what = format!("delays {} and {} ms", delays[0], delays[1]);
        check(&what, &Channel { delays, ..base }, &[], 0.001);
    }
    for (rates, windows) in
        [([10.0, 2.0], [100, 100]), ([10.0, 5.0], [60, 90]), ([20.0, 4.0], [300, 20])]
    {
        let what = format!(
            "{} and {} Mbit/s, {} and {} segments",
            rates[0], rates[1], windows[0], windows[1]
        );
        check(&what, &Channel { rates, windows, ..base }, &[], 0.001);
    }
    for mss in [216, 536, 8960] {
        let extra = ["links.0.mtu=9000 B".to_owned(), "links.0.reverse.mtu=9000 B".to_owned()];
        let windows = [60, 90];
        check(
            &format!("segments of {mss} octets"),
            &Channel { mss, windows, ..base },
            &extra,
            0.001,
        );
    }
}

/// The order of the segments on their way round is kept by queues first in,
/// first out, and new ones of a connection join its own: when the connections
/// begin, and with how much, makes no difference to the cycle.
#[test]
fn throughput_does_not_depend_on_how_it_began() {
    let channel = Channel::symmetric([1.0, 1.3]);
    for change in
        ["flows.b.start=30 ms", "flows.b.start=1 s", "flows.*.tcp.initial_window=2 packets"]
    {
        check(
            &format!("windows of 1 and 1.3 round trips, {change}"),
            &channel,
            &[change.to_owned()],
            0.001,
        );
    }
}

/// Processing lengthens the round trip by what it takes at both ends, and
/// changes nothing else.
#[test]
fn processing_is_so_much_more_delay() {
    let mut channel = Channel::symmetric([1.0, 1.5]);
    let processing: Vec<String> = ["i", "j"].map(|h| format!("hosts.{h}.processing=100 us")).into();
    let result = channel.scenario(&processing);
    // At each host once to receive and once to send.
    channel.delays = channel.delays.map(|delay| delay + 0.2);
    let measured = shares(&channel, &result);
    for (i, expected) in channel.expected().into_iter().enumerate() {
        let quantity = format!("share, processing of 100 us a packet, {}", ["i to j", "j to i"][i]);
        record("K1", &quantity, format!("{expected:.4}"), format!("{:.4}", measured[i]), "0.5 %");
        assert!((measured[i] / expected - 1.0).abs() < 0.005, "{expected} but {}", measured[i]);
    }
}

/// ACKs that waited behind a burst arrive as far apart as they take to be
/// sent; about as many as the formula says come together.
#[test]
fn acks_come_in_bunches_of_their_own_transmission_time() {
    let channel = Channel::symmetric([1.0, 1.0]);
    let result = channel.scenario(&[]);
    let data = channel.time(1500, 0);
    let expected = (200.0 * data - channel.round_trip()) / 2.0 / data;
    for name in ["a", "b"] {
        let gaps = steady(&result, &format!("{name}.ack_gaps"));
        let compressed: Vec<f64> = gaps.iter().copied().filter(|ratio| *ratio < 1.0).collect();
        // All but the last of a bunch, which the data after it has delayed.
        let apart = compressed.iter().filter(|ratio| (*ratio - 40.0 / 1500.0).abs() < 1e-9);
        assert!(apart.count() as f64 > 0.97 * compressed.len() as f64);
        let share = compressed.len() as f64 / gaps.len() as f64;
        let quantity =
            format!("part of {name}'s ACKs that are compressed, both windows 1 round trip");
        record("K1", &quantity, expected / 100.0, format!("{share:.3}"), "3 %");
        assert!((share / (expected / 100.0) - 1.0).abs() < 0.03, "{share}");
        let largest =
            steady(&result, &format!("{name}.ack_bunches")).into_iter().fold(0.0, f64::max);
        let quantity = format!("largest bunch of {name}'s ACKs, both windows 1 round trip");
        record("K1", &quantity, expected, largest, "5 %");
        assert!((largest / expected - 1.0).abs() < 0.05, "{largest}");
        // The sender answers with a burst.
        let burst = steady(&result, &format!("{name}.bursts")).into_iter().fold(0.0, f64::max);
        assert_eq!(burst, largest);
    }
}

/// What keeps ACKs from waiting behind a window of data gives back what one
/// way would get: all but a packet each way.
#[test]
fn remedies_at_the_hosts_give_the_throughput_back() {
    let channel = Channel::symmetric([1.0, 1.0]);
    // The line also carries 40 octets for each 1500.
    let most = 120.0 / 123.2;
    let queue = |fields: &str| -> Vec<String> {
        let both = format!("{{ {fields}, limit = \"10000 packets\" }}");
        vec![format!("links.0.queue={both}"), format!("links.0.reverse.queue={both}")]
    };
    let backpressure: Vec<String> =
        ["i", "j"].map(|h| format!("hosts.{h}.backpressure=0 B")).into();
    for (what, changes) in [
        ("ACKs first", queue("kind = \"priority\", key = \"pure-ack\"")),
        ("a queue for each connection", queue("kind = \"drr\"")),
        ("back-pressure", backpressure),
    ] {
        let measured = shares(&channel, &channel.scenario(&changes));
        for (name, share) in ["i to j", "j to i"].into_iter().zip(measured) {
            let quantity = format!("share with {what}, both windows 1 round trip, {name}");
            record("K1", &quantity, format!("{most:.4}"), format!("{share:.4}"), "3 %");
            assert!((share / most - 1.0).abs() < 0.03, "{what}: {share}");
        }
    }
}
