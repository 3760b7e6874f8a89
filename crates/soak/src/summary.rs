//! What many runs came to, as a table.

use crate::failure::Promise;
use crate::judge::{End, Verdict};
use std::collections::BTreeMap;
use std::fmt;

/// Totals over many runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Summary {
    /// Scenarios that were run.
    pub runs: u64,
    /// Scenarios that the schema refused, by what it said of which field.
    pub refused: BTreeMap<String, u64>,
    /// Flows by transport and end.
    pub flows: BTreeMap<(&'static str, End), u64>,
    /// Runs that broke a promise, by promise.
    pub broken: BTreeMap<Promise, u64>,
    /// Attacks by their kinds.
    pub attacks: BTreeMap<&'static str, u64>,
    /// Flows that were deceived, or lied to.
    pub excused: u64,
    /// Runs that were divided over threads as well, and compared.
    pub divided: u64,
    /// Events that the simulator handled in all runs.
    pub events: u64,
    /// The longest run in virtual seconds, and its number.
    pub longest: (f64, u64),
    /// The run with the most events, and its number.
    pub busiest: (u64, u64),
    /// The transfer that needed the largest part of its time, and the number of its run.
    pub slowest: (f64, u64),
}

impl Summary {
    /// Counts the run with this number.
    pub fn add(&mut self, number: u64, verdict: &Verdict) {
        self.runs += 1;
        self.events += verdict.events;
        for flow in &verdict.flows {
            *self.flows.entry((flow.protocol, flow.end)).or_default() += 1;
        }
        for kind in &verdict.attacks {
            *self.attacks.entry(kind).or_default() += 1;
        }
        self.excused += verdict.excused;
        self.divided += u64::from(verdict.divided);
        for promise in Promise::ALL {
            if verdict.failures.iter().any(|failure| failure.promise == promise) {
                *self.broken.entry(promise).or_default() += 1;
            }
        }
        if verdict.seconds > self.longest.0 {
            self.longest = (verdict.seconds, number);
        }
        if verdict.events > self.busiest.0 {
            self.busiest = (verdict.events, number);
        }
        if verdict.slowest > self.slowest.0 {
            self.slowest = (verdict.slowest, number);
        }
    }

    /// Counts a scenario that was refused because of this field.
    pub fn refuse(&mut self, field: &str) {
        *self.refused.entry(without_numbers(field)).or_default() += 1;
    }

    /// Adds the counts of other runs.
    pub fn merge(&mut self, other: Summary) {
        fn sum<K: Ord>(into: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>) {
            from.into_iter().for_each(|(key, n)| *into.entry(key).or_default() += n);
        }
        self.runs += other.runs;
        self.events += other.events;
        sum(&mut self.refused, other.refused);
        sum(&mut self.flows, other.flows);
        sum(&mut self.broken, other.broken);
        sum(&mut self.attacks, other.attacks);
        self.excused += other.excused;
        self.divided += other.divided;
        if other.longest.0 > self.longest.0 {
            self.longest = other.longest;
        }
        if other.busiest.0 > self.busiest.0 {
            self.busiest = other.busiest;
        }
        if other.slowest.0 > self.slowest.0 {
            self.slowest = other.slowest;
        }
    }

    /// Scenarios that the schema refused.
    pub fn refusals(&self) -> u64 {
        self.refused.values().sum()
    }

    /// Runs that broke a promise; one that broke two counts twice.
    pub fn failures(&self) -> u64 {
        self.broken.values().sum()
    }
}

/// `links[3].queue` without the 3.
fn without_numbers(field: &str) -> String {
    field.chars().filter(|c| !c.is_ascii_digit()).collect()
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| | runs |\n|---|---|")?;
        writeln!(f, "| scenarios run | {} |", self.runs)?;
        writeln!(f, "| refused by the schema before | {} |", self.refusals())?;
        for promise in Promise::ALL {
            let n = self.broken.get(&promise).copied().unwrap_or(0);
            writeln!(f, "| {} | {n} |", promise.broken())?;
        }
        writeln!(f, "| divided over threads, too | {} |", self.divided)?;
        writeln!(f, "| events | {} |", self.events)?;
        let (seconds, number) = self.longest;
        writeln!(f, "| longest, in virtual seconds | {seconds:.0} (number {number}) |")?;
        let (events, number) = self.busiest;
        writeln!(f, "| most events | {events} (number {number}) |")?;
        let (part, number) = self.slowest;
        writeln!(f, "| largest part of its time | {part:.3} (number {number}) |")?;
        writeln!(f, "| flows that somebody deceives | {} |", self.excused)?;
        writeln!(f, "\n| flows | tcp | sctp | mptcp |\n|---|---|---|---|")?;
        let mut ends: Vec<End> = self.flows.keys().map(|(_, end)| *end).collect();
        ends.sort();
        ends.dedup();
        for end in ends {
            let n = |of| self.flows.get(&(of, end)).copied().unwrap_or(0);
            let name = name(end);
            writeln!(f, "| {name} | {} | {} | {} |", n("tcp"), n("sctp"), n("mptcp"))?;
        }
        writeln!(f, "\n| attack | times |\n|---|---|")?;
        for (kind, n) in &self.attacks {
            writeln!(f, "| {kind} | {n} |")?;
        }
        Ok(())
    }
}

fn name(end: End) -> String {
    match end {
        End::Completed => "completed".into(),
        End::Endless => "without an end of their own".into(),
        End::PartlyReliable => "messages given up, as allowed".into(),
        End::GaveUp(reason) => format!("gave up: {reason}"),
        End::PeerGaveUp => "the other side gave up".into(),
        End::Unfinished => "unfinished at the limit, with something ahead".into(),
    }
}
