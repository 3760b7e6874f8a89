//! Transfers over two disjoint paths with rates, beside ns-2.35 with its SCTP
//! module: 10 Mbit/s and 10 ms, 2 Mbit/s and 15 ms, 10 Mbit/s and 10 ms; 4 MB in
//! packets of 1500 octets; loss per packet in the direction of the data.

use anabranch_endpoint::{ByteStream, Endpoint, Generator, Observe, Seed};
use anabranch_sctp::{Association, Concurrent, Config, Destination};
use anabranch_testkit::marks::record;
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, Packet};
use std::collections::BTreeMap;

/// One direction of a path: transmitters in a row, each busy until a date.
struct Line {
    loss: f64,
    hops: [(u64, Span, Time); 3],
}

impl Line {
    fn new(loss: f64) -> Line {
        let hop = |mbit, ms| (mbit, Span::from_millis(ms), Time::ZERO);
        Line { loss, hops: [hop(10, 10), hop(2, 15), hop(10, 10)] }
    }

    /// When a packet arrives that leaves now; `None` when it is lost on the
    /// middle hop, in front of its queue.
    fn carry(&mut self, now: Time, octets: u64, random: &mut Generator) -> Option<Time> {
        let mut at = now;
        for (i, (mbit, delay, free)) in self.hops.iter_mut().enumerate() {
            if i == 1 && random.chance(self.loss) {
                return None;
            }
            *free = (*free).max(at) + Span::from_nanos(octets * 8000 / *mbit);
            at = *free + *delay;
        }
        Some(at)
    }
}

/// ns-2 sends nothing before it has confirmed every path, which takes three and a
/// half round trips of 70 ms, and then begins at once: the next heartbeats are 31 s
/// away. So here.
const START: Time = Time::from_picos(250_000_000_000);

/// Seconds from the first DATA to the arrival of the last octet.
fn transfer(config: &Config, addresses: usize, loss: [f64; 2], replication: u64) -> f64 {
    transfer_of(4_000_000, config, addresses, loss, replication)
}

fn transfer_of(
    octets: u64,
    config: &Config,
    addresses: usize,
    loss: [f64; 2],
    replication: u64,
) -> f64 {
    let seed = Seed { seed: 1, replication };
    let mut random = seed.generator("loss");
    let (c, s) = ([Addr(0), Addr(1)], [Addr(2), Addr(3)]);
    let (c, s) = ((&c[..addresses], 1), (&s[..addresses], 2));
    let mut ends = [
        Association::client(config.clone(), c, s, seed.generator("client")),
        Association::server(config.clone(), s, c, seed.generator("server")),
    ];
    // By side and path.
    let mut lines = [[Line::new(loss[0]), Line::new(loss[1])], [Line::new(0.0), Line::new(0.0)]];
    let mut flying: BTreeMap<(Time, u64), (usize, Packet)> = BTreeMap::new();
    let (mut now, mut count, mut first) = (Time::ZERO, 0, None);
    ends[0].connect(now);
    let mut written = false;
    loop {
        if !written && now >= START {
            ends[0].write(octets);
            written = true;
        }
        for who in 0..2 {
            while ends[who].poll_event().is_some() {}
            ends[who].read(u64::MAX);
            while let Some(packet) = ends[who].poll_transmit(now) {
                if packet.payload_len() > 0 {
                    first.get_or_insert(now);
                }
                let line = &mut lines[who][packet.src.0 as usize % 2];
                if let Some(at) = line.carry(now, packet.wire_len().0, &mut random) {
                    count += 1;
                    flying.insert((at, count), (1 - who, packet));
                }
            }
        }
        if ends[1].observe().bytes_received == octets {
            return (now - first.expect("data was sent")).as_secs_f64();
        }
        let arrival = flying.first_key_value().map_or(Time::NEVER, |(key, _)| key.0);
        let due = ends[0].poll_timeout().min(ends[1].poll_timeout());
        let start = if written { Time::NEVER } else { START };
        now = now.max(arrival.min(due).min(start));
        if arrival <= due.min(start)
            && let Some((_, (to, packet))) = flying.pop_first()
        {
            ends[to].handle_input(now, &packet);
        } else {
            ends.iter_mut().for_each(|end| end.handle_timeout(now));
        }
    }
}

/// Mean and half of the 95 % interval.
fn mean(config: &Config, addresses: usize, loss: [f64; 2]) -> (f64, f64) {
    mean_of(100, config, addresses, loss)
}

fn mean_of(n: u64, config: &Config, addresses: usize, loss: [f64; 2]) -> (f64, f64) {
    let times: Vec<f64> = (0..n).map(|r| transfer(config, addresses, loss, r)).collect();
    let mean = times.iter().sum::<f64>() / n as f64;
    let variance = times.iter().map(|t| (t - mean) * (t - mean)).sum::<f64>() / (n - 1) as f64;
    (mean, 1.984 * (variance / n as f64).sqrt())
}

/// The settings of the reference runs.
fn ns2(destination: Destination) -> Config {
    Config { receive_buffer: 65_536, destination, ..Config::ns2() }
}

/// Within 5 %, or inside the joint 95 % interval.
fn compare(what: &str, (mean, ci): (f64, f64), (reference, reference_ci): (f64, f64)) {
    let difference = (mean - reference).abs();
    let joint = (ci * ci + reference_ci * reference_ci).sqrt();
    record("C1", what, format!("{reference} s"), format!("{mean:.2} s"), "5 % or joint 95 %");
    assert!(
        difference <= 0.05 * reference || difference <= joint,
        "{what}: {mean:.2} ± {ci:.2}, ns-2 {reference} ± {reference_ci}"
    );
}

/// Figure 2 of the multihoming paper: loss on the first path alone.
#[test]
fn loss_on_the_primary_costs_what_it_costs_in_ns2() {
    for (name, addresses, destination, points) in [
        (
            "single-homed",
            1,
            Destination::AllSame,
            [(0.0, 16.75, 0.0), (0.001, 17.34, 0.06), (0.005, 18.28, 0.15), (0.01, 21.16, 0.34)],
        ),
        (
            "multihomed",
            2,
            Destination::AllAlternate,
            [(0.0, 16.75, 0.0), (0.001, 16.76, 0.02), (0.005, 17.72, 0.11), (0.01, 20.28, 0.26)],
        ),
    ] {
        for (loss, seconds, ci) in points {
            let what = format!("4 MB, SCTP {name}, loss {loss}");
            compare(&what, mean(&ns2(destination.clone()), addresses, [loss, 0.0]), (seconds, ci));
        }
    }
}

/// Figure 4 of the multihoming paper, 2 % of loss on the primary. Times at 5 % on
/// the alternate have a long tail (from 21 to 120 s): an RTO that was backed off
/// stays until a heartbeat is answered. A hundred replications do not settle the
/// mean there; five hundred do.
#[test]
fn retransmissions_on_the_alternate_cost_what_they_cost_in_ns2() {
    let same = mean(&ns2(Destination::AllSame), 2, [0.02, 0.0]);
    compare("4 MB, all-same, loss 0.02", same, (28.38, 0.48));
    let alternate = [
        (0.0, 26.12, 0.33),
        (0.005, 26.62, 0.38),
        (0.01, 27.00, 0.44),
        (0.015, 27.63, 0.55),
        (0.02, 28.11, 0.62),
        (0.025, 28.93, 0.78),
        (0.03, 29.63, 0.86),
        (0.04, 31.23, 1.09),
    ];
    let unmeasured = [(0.01, 28.53, 0.81), (0.02, 31.74, 1.45), (0.03, 35.09, 1.86)];
    for (loss, seconds, ci) in alternate {
        let what = format!("4 MB, all-alternate, loss 0.02 and {loss}");
        compare(&what, mean(&ns2(Destination::AllAlternate), 2, [0.02, loss]), (seconds, ci));
    }
    let tail = mean_of(500, &ns2(Destination::AllAlternate), 2, [0.02, 0.05]);
    compare("4 MB, all-alternate, loss 0.02 and 0.05", tail, (33.28, 1.34));
    // The alternate's RTO is 3 s until a heartbeat is answered.
    let config = Config { confirm_paths: false, ..ns2(Destination::AllAlternate) };
    for (loss, seconds, ci) in unmeasured {
        let what = format!("4 MB, all-alternate, RTO of 3 s, loss 0.02 and {loss}");
        compare(&what, mean(&config, 2, [0.02, loss]), (seconds, ci));
    }
    let tail = mean_of(500, &config, 2, [0.02, 0.05]);
    compare("4 MB, all-alternate, RTO of 3 s, loss 0.02 and 0.05", tail, (43.75, 3.11));
}

/// Concurrent transfer over two equal paths: what ideal striping takes (half the
/// file over each), and with loss no more than it (validation.md, C5).
#[test]
fn concurrent_transfer_is_as_fast_as_striping() {
    let config = Config {
        receive_buffer: 1 << 20,
        concurrent: Some(Concurrent::default()),
        missing_reports: 3,
        ..ns2(Destination::RtxSsthresh)
    };
    let alone = Config { concurrent: None, ..config.clone() };
    for loss in [0.0, 0.01, 0.03] {
        let seconds = |config: &Config, octets, replication| {
            transfer_of(octets, config, 2, [loss; 2], replication)
        };
        let (mut concurrent, mut striped) = (0.0, 0.0);
        for r in 0..20 {
            concurrent += seconds(&config, 4_000_000, r) / 20.0;
            // The later of two halves.
            let halves = [r, r + 1000].map(|r| seconds(&alone, 2_000_000, r));
            striped += halves[0].max(halves[1]) / 20.0;
        }
        let what = format!("4 MB over two paths, concurrent, loss {loss}");
        record(
            "C5",
            &what,
            format!("{striped:.2} s"),
            format!("{concurrent:.2} s"),
            "at most 5 % more",
        );
        assert!(concurrent <= 1.05 * striped, "{loss}: {concurrent:.2} s, striped {striped:.2} s");
    }
}

/// All policies on the grid of figure 4, and with a primary that is as bad as the
/// paper's worst: prints the table of docs/sctp.md. No policy is faster than
/// `best-path` by more than the joint interval.
#[test]
#[ignore = "half a minute; the study sctp-multihoming has a part of the grid"]
fn policies_on_the_grid_of_figure_4() {
    for primary in [0.002, 0.02, 0.04] {
        for alternate in [0.0, 0.01, 0.02, 0.03, 0.05] {
            let time = |destination: &Destination| {
                mean(&ns2(destination.clone()), 2, [primary, alternate])
            };
            let ours = time(&Destination::BestPath);
            print!("{:>4} {:>4}", primary * 100.0, alternate * 100.0);
            for destination in &Destination::ALL {
                let (mean, ci) = time(destination);
                print!("  {} {mean:.2} ± {ci:.2}", destination.name());
                let joint = (ci * ci + ours.1 * ours.1).sqrt();
                assert!(ours.0 <= mean + joint, "best-path {} ± {}", ours.0, ours.1);
            }
            println!();
        }
    }
}
