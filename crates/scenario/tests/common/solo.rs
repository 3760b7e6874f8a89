//! One connection alone on idle links: how much of them it moves.
//!
//! Each path is a link of its own, with a queue of one bandwidth-delay product.
//! What comes after the start-up counts, for 60 round trips and 12 s at least;
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

/// What the law of an algorithm itself leaves less of: its name, the round-trip times in milliseconds,
/// and what it moves at least. Its page says why.
const LESS: &[(&str, &[u64], f64)] = &[
    // A ProbeRTT takes two round trips, of some five seconds.
    ("bbr3", &[800], 0.8),
    // A slowdown takes a tenth of the time, and its slow start ends in a burst that halves the window.
    ("ledbat++", &[100, 800], 0.75),
    // Its own queue's gradient reduces it before it has one.
    ("cdg", &[800], 0.65),
    // The window is halved where 0.15 of the buffer is full, three packets of the smallest, and rests for three
    // round trips.
    ("lp", &[10], 0.45),
    ("lp", &[100], 0.55),
    ("lp", &[800], 0.8),
    // It settles where the higher rate of a pair is the link's, and swings where a move is a tenth of it.
    ("vivace", &[10, 100, 800], 0.8),
];

/// The same over SCTP.
const LESS_OVER_SCTP: &[(&str, &[u64], f64)] = &[
    // A window of a bandwidth-delay product of 67 packets grows by a thousand packets a round trip, as at
    // 25 ms: each time most of it is lost. RACK-TLP repairs that within a few round trips; in SCTP T3-rtx
    // expires.
    ("hybla", &[800], 0.4),
    // As over TCP; a window of a few packets is halved more often.
    ("lp", &[10], 0.3),
    // At 1 Mbit/s; docs/algorithms/nv.md says what is suspected.
    ("nv", &[100], 0.7),
];

/// An algorithm that takes links of equal rates for one that its paths share: each of `n` paths keeps to the `n`-th part of
/// its bandwidth in six of the eight phases of its cycle, and to 3/4 in another (docs/algorithms/coupled-bbr.md).
const TAKES_EQUALS_FOR_ONE: &str = "coupled-bbr";

/// A connection and its links.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Case {
    /// Name of the window algorithm.
    pub window: &'static str,
    /// What carries it.
    pub over: Over,
    /// Rate of each link, in Mbit/s.
    pub mbit: u64,
    /// Round-trip time, in milliseconds.
    pub rtt_ms: u64,
}

/// A protocol, with its paths where it has several, each a link of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Over {
    /// TCP.
    Tcp,
    /// Multipath TCP with so many subflows.
    Mptcp(u64),
    /// SCTP, over so many paths at once.
    Sctp(u64),
}

/// How long the start-up may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// 60 round trips, 12 s at least: slow start, and the repair of its end.
    Quick,
    /// As many round trips more as a link's bandwidth-delay product has packets:
    /// a window that grows by a segment a round trip comes from nothing to the whole
    /// rate. Those of [`SLOWER`] have as many times more as they grow more slowly.
    Linear,
}

/// Algorithms without siblings that grow by less than a segment a round trip, and by how much.
const SLOWER: &[(&str, f64)] = &[("gaimd", 0.31)];

/// Every algorithm of the catalogue, each over as many paths as it is for.
pub fn cases() -> Vec<Case> {
    const COUPLED: [Over; 3] = [Over::Mptcp(1), Over::Mptcp(2), Over::Mptcp(4)];
    every(|coupled| if coupled { &COUPLED } else { &[Over::Tcp] })
}

/// The same over SCTP, but for links with a window of thousands of packets.
pub fn sctp_cases() -> Vec<Case> {
    let over = |coupled| -> &[Over] {
        if coupled { &[Over::Sctp(1), Over::Sctp(2)] } else { &[Over::Sctp(1)] }
    };
    every(over).into_iter().filter(|case| case.mbit * case.rtt_ms <= 10_000).collect()
}

/// Every algorithm over what `over` says of those that are coupled and of those that are not.
fn every(over: impl Fn(bool) -> &'static [Over]) -> Vec<Case> {
    let mut cases = Vec::new();
    for info in ALGORITHMS {
        let algorithm = Algorithm::from_name(info.name).expect("it is in the catalogue");
        for &over in over(algorithm.build(14_600, u64::MAX).is_coupled()) {
            for mbit in RATES {
                for rtt_ms in RTTS {
                    cases.push(Case { window: info.name, over, mbit, rtt_ms });
                }
            }
        }
    }
    cases
}

impl Case {
    fn links(&self) -> u64 {
        match self.over {
            Over::Tcp => 1,
            Over::Mptcp(paths) | Over::Sctp(paths) => paths,
        }
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
        (60.0 * self.rtt_ms as f64 / 1e3).max(12.0)
    }

    /// Seconds of start-up.
    pub fn start(&self, start: Start) -> f64 {
        let slower = SLOWER.iter().find(|(window, _)| *window == self.window);
        let rounds = self.bdp() as f64 / 1500.0 / slower.map_or(1.0, |(_, growth)| *growth);
        let linear = (rounds * self.rtt_ms as f64 / 1e3).ceil();
        self.measured() + if start == Start::Linear { linear } else { 0.0 }
    }

    /// Payload's share of a full packet.
    fn payload(&self) -> f64 {
        // 40 octets of IP and TCP, 12 of timestamps, 20 of Multipath TCP's mapping.
        // 32 of IP and SCTP, 16 of a chunk.
        match self.over {
            Over::Tcp => 1448.0 / 1500.0,
            Over::Mptcp(_) => 1428.0 / 1500.0,
            Over::Sctp(_) => 1452.0 / 1500.0,
        }
    }

    /// The scenario of a run with that start-up.
    pub fn scenario(&self, start: Start) -> String {
        let Case { window, mbit, rtt_ms, .. } = self;
        let names: Vec<String> = (0..self.links()).map(|i| format!("x{i}")).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let hosts = ["a", "b"]
            .map(|host| format!("{{ name = \"{host}\", interfaces = [{}] }}", quoted.join(", ")));
        let links: String = names
            .iter()
            .map(|name| {
                format!(
                    "[[links]]\nends = [\"a.{name}\", \"b.{name}\"]\nrate = \"{mbit} Mbit/s\"\n\
                     delay = \"{} us\"\nqueue = {{ limit = \"{} packets\" }}\n",
                    rtt_ms * 500,
                    self.queue()
                )
            })
            .collect();
        // Twice what the paths and their queues hold, and as much again for repairs.
        let buffer = 8 * self.links() * (self.bdp() + 1500 * self.queue()) + 262_144;
        let tcp = format!(
            "[flows.tcp]\nwindow = \"{window}\"\nreceive_buffer = \"{buffer} B\"\n\
             recovery = \"rack\"\nrtt_samples = \"every-ack\"\necn = \"dctcp\"\n"
        );
        let flow = match self.over {
            Over::Tcp => format!("protocol = \"tcp\"\n{tcp}"),
            Over::Mptcp(_) => {
                format!("protocol = \"mptcp\"\nmptcp = {{ path_manager = \"pairs\" }}\n{tcp}")
            }
            Over::Sctp(paths) => format!(
                "protocol = \"sctp\"\n[flows.sctp]\nwindow = \"{window}\"\n\
                 receive_buffer = \"{buffer} B\"\nconcurrent = {}\n",
                paths > 1
            ),
        };
        format!(
            "duration = \"{} s\"\nhosts = [{}]\n{links}\
             [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{flow}\
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
        let received =
            result.series.iter().find(|series| series.name == "f.received").expect("observed");
        let at_start = received.time_s.iter().rposition(|at| *at <= self.start(start));
        let before = at_start.map_or(0.0, |i| received.value[i]);
        let octets = result.flows[0].bytes as f64 - before;
        let rate = (self.links() * self.mbit) as f64 * 1e6 * self.payload();
        octets * 8.0 / self.measured() / rate
    }

    /// What it should move: [`ENOUGH`], or what its law leaves.
    pub fn enough(&self) -> f64 {
        let less = |(window, rtts, _): &&(&str, &[u64], f64)| {
            *window == self.window && rtts.contains(&self.rtt_ms)
        };
        let over = if let Over::Sctp(_) = self.over { LESS_OVER_SCTP } else { &[] };
        if self.window == TAKES_EQUALS_FOR_ONE && self.links() > 1 {
            return ENOUGH * (1.75 + 6.0 / self.links() as f64) / 8.0;
        }
        over.iter().chain(LESS).find(less).map_or(ENOUGH, |(_, _, part)| *part)
    }

    /// What it moves after the shorter start-up that lets it move enough, or after
    /// the longer.
    pub fn best(&self) -> Outcome {
        let quick = self.goodput(Start::Quick);
        let (start, part) = match quick >= self.enough() {
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
