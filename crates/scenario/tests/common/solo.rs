//! One connection alone on idle links: how much of them it moves.
//!
//! Each path is a link of its own, with a queue of one bandwidth-delay product.
//! What comes after the start-up counts, for 60 round trips and 4 s at least;
//! [`Start`] says how long the start-up may be. Losses are repaired by RACK-TLP, and
//! every ACK measures the round-trip time: where slow start doubles it within a
//! round trip, a timer that knows one sample a round trip expires in the middle of
//! the repair, whatever the window algorithm does.

use anabranch_congestion::{ALGORITHMS, Algorithm, Controller};
use anabranch_scenario::{RunOptions, Scenario, run};

/// Rates of a link, in Mbit/s.
pub const RATES: [u64; 3] = [1, 10, 100];
/// Round-trip times, in milliseconds.
pub const RTTS: [u64; 3] = [10, 100, 800];

/// What an algorithm should move of its links.
pub const ENOUGH: f64 = 0.9;

/// A connection and its links.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Case {
    /// Name of the window algorithm.
    pub window: &'static str,
    /// Subflows; 0 for TCP.
    pub subflows: u64,
    /// Rate of each link, in Mbit/s.
    pub mbit: u64,
    /// Round-trip time, in milliseconds.
    pub rtt_ms: u64,
}

/// How long the start-up may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// 60 round trips, 4 s at least: slow start, and the repair of its end.
    Quick,
    /// As many round trips more as a link's bandwidth-delay product has packets:
    /// a window that grows by a segment a round trip, the slowest growth of an
    /// algorithm without siblings, comes from nothing to the whole rate.
    Linear,
}

/// Every algorithm of the catalogue, each over as many paths as it is for.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for info in ALGORITHMS {
        let algorithm = Algorithm::from_name(info.name).expect("it is in the catalogue");
        let coupled = algorithm.build(14_600, u64::MAX).is_coupled();
        let connections: &[u64] = if coupled { &[1, 2, 4] } else { &[0] };
        for &subflows in connections {
            for mbit in RATES {
                for rtt_ms in RTTS {
                    cases.push(Case { window: info.name, subflows, mbit, rtt_ms });
                }
            }
        }
    }
    cases
}

impl Case {
    fn links(&self) -> u64 {
        self.subflows.max(1)
    }

    /// Bandwidth-delay product of a link, in octets.
    fn bdp(&self) -> u64 {
        self.mbit * self.rtt_ms * 125
    }

    /// Packets that a link's queue holds: a bandwidth-delay product, and 20 at
    /// least (the algorithms that keep segments in queues keep up to ten).
    fn queue(&self) -> u64 {
        self.bdp().div_ceil(1500).max(20)
    }

    /// Seconds that are measured.
    fn measured(&self) -> f64 {
        (60.0 * self.rtt_ms as f64 / 1e3).max(4.0)
    }

    /// Seconds of start-up.
    pub fn start(&self, start: Start) -> f64 {
        let rounds = self.bdp() as f64 / 1500.0;
        let linear = (rounds * self.rtt_ms as f64 / 1e3).ceil();
        self.measured() + if start == Start::Linear { linear } else { 0.0 }
    }

    /// Payload's share of a full packet.
    fn payload(&self) -> f64 {
        // 40 octets of IP and TCP, 12 of timestamps, 20 of Multipath TCP's mapping.
        if self.subflows == 0 { 1448.0 / 1500.0 } else { 1428.0 / 1500.0 }
    }

    /// The scenario of a run with that start-up.
    pub fn scenario(&self, start: Start) -> String {
        let Case { window, mbit, rtt_ms, .. } = self;
        let names: Vec<String> = (0..self.links()).map(|i| format!("x{i}")).collect();
        let quoted: Vec<String> = names.iter().map(|it| format!("\"{it}\"")).collect();
        let hosts = ["a", "b"]
            .map(|host| format!("{{ name = \"{host}\", interfaces = [{}] }}", quoted.join(", ")));
        let links: String = names
            .iter()
            .map(|it| {
                format!(
                    "[[links]]\nends = [\"a.{it}\", \"b.{it}\"]\nrate = \"{mbit} Mbit/s\"\n\
                     delay = \"{} us\"\nqueue = {{ limit = \"{} packets\" }}\n",
                    rtt_ms * 500,
                    self.queue()
                )
            })
            .collect();
        // Twice what the paths and their queues hold, and as much again for repairs.
        let buffer = 8 * self.links() * (self.bdp() + 1500 * self.queue()) + 262_144;
        let (protocol, mptcp) = match self.subflows {
            0 => ("tcp", ""),
            _ => ("mptcp", "mptcp = { path_manager = \"pairs\" }\n"),
        };
        format!(
            "duration = \"{} s\"\nhosts = [{}]\n{links}\
             [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nprotocol = \"{protocol}\"\n{mptcp}\
             [flows.tcp]\nwindow = \"{window}\"\nreceive_buffer = \"{buffer} B\"\n\
             recovery = \"rack\"\nrtt_samples = \"every-ack\"\necn = \"dctcp\"\n\
             [[observe]]\nwhat = \"received\"\nflow = \"f\"\ninterval = \"{} s\"\n",
            self.start(start) + self.measured(),
            hosts.join(", "),
            self.start(start),
        )
    }

    /// The part of what headers leave of the links that the run moved after its
    /// start-up.
    pub fn goodput(&self, start: Start) -> f64 {
        let text = self.scenario(start);
        let scenario = Scenario::from_toml(&text, "solo").unwrap_or_else(|e| panic!("{e}\n{text}"));
        let result = run(&scenario, &RunOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let received = result.series.iter().find(|it| it.name == "f.received").expect("observed");
        let at_start = received.time_s.iter().rposition(|at| *at <= self.start(start));
        let before = at_start.map_or(0.0, |i| received.value[i]);
        let octets = result.flows[0].bytes as f64 - before;
        let rate = (self.links() * self.mbit) as f64 * 1e6 * self.payload();
        octets * 8.0 / self.measured() / rate
    }

    /// What it moves after the shorter start-up that lets it move [`ENOUGH`], or after
    /// the longer.
    pub fn best(&self) -> Outcome {
        let quick = self.goodput(Start::Quick);
        let (start, part) = match quick >= ENOUGH {
            true => (Start::Quick, quick),
            false => (Start::Linear, self.goodput(Start::Linear)),
        };
        Outcome { case: *self, quick, start, part }
    }
}

/// What a connection moved of its links.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// The connection.
    pub case: Case,
    /// After the quick start-up.
    pub quick: f64,
    /// The start-up that it needed.
    pub start: Start,
    /// After that.
    pub part: f64,
}

/// The outcome of each case, in their order, on all processors.
pub fn all(cases: &[Case]) -> Vec<Outcome> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    // The longest first, so that none is left over at the end.
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(cases[*i].links() * cases[*i].bdp()));
    let outcomes = anabranch_sim::run_batch(cases.len(), jobs, |i| cases[order[i]].best());
    let mut outcomes: Vec<_> = order.into_iter().zip(outcomes).collect();
    outcomes.sort_by_key(|(i, _)| *i);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}
