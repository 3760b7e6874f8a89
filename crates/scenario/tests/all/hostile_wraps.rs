//! Sequence numbers, stream sequence numbers and data sequence numbers that go through zero while
//! somebody attacks: what standards defend is defended there too.
//!
//! Where a number begins is a function of the seed. The seeds here are those of which it begins so near
//! to the end that the transfer goes beyond it, which each run makes sure of; the ignored test
//! finds others.

use anabranch_endpoint::Seed;
use anabranch_scenario::Scenario;
use anabranch_scenario::build::build;
use anabranch_sim::observe::{Interests, Observer, PacketEvent, PacketEventKind};
use anabranch_sim::{FlowId, Side};
use anabranch_units::{Span, Time};
use anabranch_wire::sctp::Chunk;
use anabranch_wire::tcp::mptcp::DataNumber;
use anabranch_wire::{Body, Packet};

/// A number of a packet that carries data, which counts up.
type Number = fn(&Packet) -> Option<u32>;

/// What goes through zero, in which transfer, and what is sent against it.
struct Case {
    name: &'static str,
    number: Number,
    /// The numbers end here, and begin at zero again.
    end: u64,
    /// The transfer takes so many of them, at least.
    span: u64,
    seed: u64,
    protocol: &'static str,
    traffic: &'static str,
    /// Kinds and further fields of attacks from outside.
    attacks: &'static [(&'static str, &'static str)],
}

const ON_FLOW: &str = "to = \"server\"\nflow = \"f\"\nper_second = 2000";
const ON_PORT: &str = "to = \"server\"\nport = 80\nper_second = 500";

const CASES: [Case; 3] = [
    Case {
        name: "sequence numbers",
        number: |packet| match &packet.body {
            Body::Tcp(tcp) if !tcp.payload.is_empty() => Some(tcp.seq.0),
            _ => None,
        },
        end: 1 << 32,
        span: 2_000_000,
        seed: 7083,
        protocol: "tcp",
        traffic: "size = \"0 B\"\nreverse_size = \"3 MB\"",
        attacks: &[
            ("blind-reset", "aim = \"random\""),
            ("blind-syn", "aim = \"window\""),
            ("blind-timestamp", "aim = \"window\""),
            ("icmp-fragment", "aim = \"exact\""),
        ],
    },
    Case {
        name: "stream sequence numbers",
        number: last_ssn,
        end: 1 << 16,
        span: 1 << 16,
        seed: 0,
        protocol: "sctp",
        traffic: MESSAGES,
        attacks: AGAINST_SCTP,
    },
    Case {
        name: "data sequence numbers",
        number: |packet| match &packet.body {
            Body::Tcp(tcp) => match tcp.options.dss()?.mapping?.dsn {
                DataNumber::Short(low) => Some(low),
                DataNumber::Long(number) => Some(number as u32),
            },
            _ => None,
        },
        end: 1 << 32,
        span: 2_000_000,
        seed: 481,
        protocol: "mptcp",
        traffic: "size = \"0 B\"\nreverse_size = \"3 MB\"",
        attacks: &[
            ("add-addr-flood", ""),
            ("blind-syn", "aim = \"window\""),
            ("blind-reset", "aim = \"random\""),
            ("join-flood", ""),
        ],
    },
];

const MESSAGES: &str = "traffic = { kind = \"messages\", count = 70000, size = \"8 B\" }";
const AGAINST_SCTP: &[(&str, &str)] = &[
    ("blind-abort", "aim = \"random\""),
    ("asconf-flood", ""),
    ("icmp-fragment", "aim = \"exact\""),
    ("init-flood", ""),
    ("cookie-echo-flood", ""),
];

/// The stream sequence number of the last DATA chunk.
fn last_ssn(packet: &Packet) -> Option<u32> {
    let Body::Sctp(sctp) = &packet.body else { return None };
    let number = |chunk: &Chunk| match chunk {
        Chunk::Data(data) => Some(u32::from(data.ssn)),
        _ => None,
    };
    sctp.chunks.iter().filter_map(number).last()
}

impl Case {
    fn scenario(&self, seed: u64, duration: &str) -> Scenario {
        let mut text = format!(
            "seed = {seed}\nduration = \"{duration}\"\nhosts = [\"client\", \"server\", \"mallory\"]\n\
             routers = [\"r\"]\nlinks = [\n\
             {{ ends = [\"client\", \"r\"], rate = \"20 Mbit/s\", delay = \"5 ms\" }},\n\
             {{ ends = [\"mallory\", \"r\"], rate = \"20 Mbit/s\", delay = \"5 ms\" }},\n\
             {{ ends = [\"r\", \"server\"], rate = \"20 Mbit/s\", delay = \"5 ms\" }}]\n\
             [[listen]]\nhost = \"server\"\nport = 80\nprotocol = \"{protocol}\"\n\
             [[flows]]\nname = \"f\"\nfrom = \"client\"\nto = \"server\"\nport = 80\n\
             octets = true\nprotocol = \"{protocol}\"\n{traffic}\n",
            protocol = self.protocol,
            traffic = self.traffic,
        );
        for (kind, fields) in self.attacks {
            let target = match *kind {
                "join-flood" | "init-flood" | "cookie-echo-flood" => ON_PORT,
                _ => ON_FLOW,
            };
            text += &format!(
                "[[attacks]]\nname = \"{kind}\"\nkind = \"{kind}\"\nfrom = \"mallory\"\n\
                 start = \"100 ms\"\n{target}\n{fields}\n"
            );
        }
        Scenario::from_toml(&text, self.name).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// Runs with the seed; what was seen of the numbers, and whether all has come as it was sent.
    fn run(&self, seed: u64, duration: &str) -> (Numbers, bool) {
        let scenario = self.scenario(seed, duration);
        let mut built = build(&scenario, Seed { seed, replication: 0 }).expect("it is built");
        let reader = if self.protocol == "sctp" { Side::Server } else { Side::Client };
        let (number, end) = (self.number, self.end);
        let numbers = Numbers { number, reader, first: None, last: 0, end, wraps: 0 };
        let handle = built.simulation.attach(numbers);
        built.simulation.run_until(Time::ZERO + scenario.duration.unwrap_or(Span::ZERO));
        let result = built.simulation.flow_result(built.flows[0].id);
        let is_whole = result.finish.is_some() && result.wrong_octets == 0;
        (built.simulation.observer(handle).clone(), is_whole)
    }
}

/// Hears the numbers of a flow's data.
#[derive(Clone)]
struct Numbers {
    number: Number,
    reader: Side,
    first: Option<u32>,
    last: u32,
    end: u64,
    wraps: u32,
}

impl Observer for Numbers {
    fn interests(&self) -> Interests {
        Interests { packets: true, ..Interests::default() }
    }

    fn packet(&mut self, _now: Time, event: &PacketEvent, packet: &Packet) {
        if event.kind != PacketEventKind::Received || event.flow != Some((FlowId(0), self.reader)) {
            return;
        }
        let Some(number) = (self.number)(packet) else { return };
        // What comes again falls by less.
        let fell = u64::from(self.last.saturating_sub(number)) > self.end / 2;
        self.wraps += u32::from(fell);
        self.first.get_or_insert(number);
        self.last = number;
    }
}

/// Prints a seed for each case.
#[test]
#[ignore = "takes half a minute: only where numbers begin elsewhere than they did"]
fn seeds_that_begin_near_the_end() {
    for case in CASES.iter().filter(|case| case.span < case.end) {
        let begins_late = |seed: &u64| {
            let (numbers, _) = case.run(*seed, "80 ms");
            numbers.first.is_some_and(|first| u64::from(first) > case.end - case.span)
        };
        println!("{}: {:?}", case.name, (0..10_000_000).find(begins_late));
    }
}

#[test]
fn numbers_go_through_zero_under_attack() {
    for case in &CASES {
        let (numbers, is_whole) = case.run(case.seed, "60 s");
        assert!(numbers.wraps > 0, "{} begin at {:?}", case.name, numbers.first);
        assert!(is_whole, "{}", case.name);
    }
}
