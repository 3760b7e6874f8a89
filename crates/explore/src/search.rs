//! The search: all schedules with no fault, then all with one, with two, and so on, each
//! replayed from the start, until a bound is reached.
//!
//! Endpoints are neither copied nor compared, as a search that keeps states would have to:
//! they need not be `Clone`, `Eq` or `Hash`. A run that comes to a state that was seen is given up
//! there. Since fewer faults come first, the earlier visitor had at least as many left, and
//! its successors are searched anyway.
//!
//! Where a level is larger than what is left of the bound, its schedules are taken in an
//! order that spreads over it, not from its beginning.

use crate::choice::{Fault, Schedule};
use crate::fingerprint::Seen;
use crate::run::{Case, Run};
use crate::trace::Trace;
use crate::world::Verdict;
use anabranch_endpoint::{Observe, Service};
use anabranch_units::Time;
use std::fmt;

/// Bounds of a search.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most faults in a run.
    pub faults: usize,
    /// Most different states.
    pub states: usize,
    /// Findings of different kinds after which the search ends.
    pub findings: usize,
}

/// Schedules of a level that are kept to be extended.
const MOST_PARENTS: usize = 400_000;

/// A run that ended as none may.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The shortest schedule that leads there.
    pub schedule: Schedule,
    /// What is wrong, in words.
    pub what: String,
}

/// What a search saw with a number of faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// Schedules that were run.
    pub runs: u64,
    /// Schedules that there are.
    pub of: u64,
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Name of the case that was searched.
    pub case: String,
    /// Different states that were seen.
    pub states: usize,
    /// Counts for each number of faults, from 0.
    pub levels: Vec<Level>,
    /// Runs that ended with everything delivered.
    pub delivered: u64,
    /// Runs that ended with a reason.
    pub reported: u64,
    /// Runs that came to a state that was seen.
    pub merged: u64,
    /// Steps of the longest run.
    pub deepest: u16,
    /// The latest end of a transfer, in virtual time.
    pub latest: Time,
    /// The schedule that led there.
    pub slowest: Schedule,
    /// Runs that ended as none may.
    pub findings: Vec<Finding>,
}

impl Report {
    /// For tests.
    ///
    /// # Panics
    /// With the first finding, and how to see its trace, where there is one.
    pub fn assert_no_findings(&self) {
        if let Some(Finding { schedule, what }) = self.findings.first() {
            let replay = "cargo run -p anabranch-explore --example explore --";
            panic!("{what}\n{replay} {} --replay \"{schedule}\"", self.case);
        }
    }

    /// Faults up to which all schedules were run.
    pub fn complete(&self) -> Option<usize> {
        self.levels.iter().take_while(|level| level.runs == level.of).count().checked_sub(1)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs: u64 = self.levels.iter().map(|level| level.runs).sum();
        let complete = self.complete().map_or("-".to_owned(), |complete| complete.to_string());
        let last = self.levels.last().map_or(0, |level| 100 * level.runs / level.of.max(1));
        write!(
            f,
            "{:<34} {:>9} states {:>8} runs, all with {complete} faults, {last:>3} % of those with {}, \
             {} reported, {} steps, {:.1} s",
            self.case,
            self.states,
            runs,
            self.levels.len().saturating_sub(1),
            self.reported,
            self.deepest,
            self.latest.as_secs_f64(),
        )
    }
}

/// A run replayed with a trace.
#[derive(Clone, Debug)]
pub struct Replay {
    /// How the replayed run ended.
    pub verdict: Verdict,
    /// All faults of the schedule happened.
    pub is_whole: bool,
    /// What happened, line by line.
    pub trace: String,
}

/// A schedule that was run, and what can go wrong after its last fault.
struct Parent {
    schedule: Schedule,
    /// Steps, and a bit for each fault.
    branches: Vec<(u16, u32)>,
    /// Number of children up to here, the earlier parents' included.
    children: u64,
}

/// Something that can be explored, whatever its protocol.
pub trait Explore {
    /// Returns the name of the case.
    fn name(&self) -> &str;

    /// Searches within bounds.
    fn explore(&self, bounds: Bounds) -> Report;

    /// Runs a schedule and writes down what happens.
    fn replay(&self, schedule: &Schedule) -> Replay;
}

impl<E: Service + Observe> Explore for Case<E> {
    fn name(&self) -> &str {
        &self.name
    }

    fn explore(&self, bounds: Bounds) -> Report {
        Search::new(self, bounds).search()
    }

    fn replay(&self, schedule: &Schedule) -> Replay {
        let run = self.run(schedule, true, &mut |_, _, _| true);
        Replay {
            verdict: run.verdict.expect("a run that nobody stops has an end"),
            is_whole: run.suffered == schedule.faults().len(),
            trace: run.trace.map_or_else(String::new, Trace::into_text),
        }
    }
}

struct Search<'a, E> {
    case: &'a Case<E>,
    bounds: Bounds,
    seen: Seen,
    report: Report,
}

impl<'a, E: Service + Observe> Search<'a, E> {
    fn new(case: &'a Case<E>, bounds: Bounds) -> Search<'a, E> {
        let report = Report { case: case.name.clone(), ..Report::default() };
        Search { case, bounds, seen: Seen::new(), report }
    }

    fn search(mut self) -> Report {
        let mut parents = Vec::new();
        self.visit(Schedule::default(), &mut parents, true);
        self.report.levels.push(Level { runs: 1, of: 1 });
        for faults in 1..=self.bounds.faults {
            let of = parents.last().map_or(0, |parent: &Parent| parent.children);
            if of == 0 || self.is_full() {
                break;
            }
            let (mut level, stride) = (Level { runs: 0, of }, stride(of));
            let mut next = Vec::new();
            let mut at = 0;
            while level.runs < of && !self.is_full() {
                let schedule = self.child(&parents, at);
                let keep = faults < self.bounds.faults && next.len() < MOST_PARENTS;
                self.visit(schedule, &mut next, keep);
                at = (at + stride) % of;
                level.runs += 1;
            }
            self.report.levels.push(level);
            parents = next;
        }
        self.report.states = self.seen.len();
        self.report
    }

    fn is_full(&self) -> bool {
        self.seen.len() >= self.bounds.states || self.report.findings.len() >= self.bounds.findings
    }

    /// The `n`-th of all schedules with one fault more than these.
    fn child(&self, parents: &[Parent], n: u64) -> Schedule {
        let index = parents.partition_point(|parent| parent.children <= n);
        let mut rest = match index.checked_sub(1) {
            Some(before) => n - parents[before].children,
            None => n,
        };
        for (step, mask) in &parents[index].branches {
            let here = u64::from(mask.count_ones());
            if rest < here {
                let mut bits = (0..32).filter(|bit| mask & 1 << bit != 0);
                let bit = bits.nth(rest as usize).expect("as many bits as were counted");
                let fault: Fault = self.case.setting.faults[bit];
                return parents[index].schedule.with(*step, fault);
            }
            rest -= here;
        }
        unreachable!("a parent has as many children as it says")
    }

    fn visit(&mut self, schedule: Schedule, parents: &mut Vec<Parent>, keep: bool) {
        let mut branches = Vec::new();
        let seen = &mut self.seen;
        let run = self.case.run(&schedule, false, &mut |step, fingerprint, mask| {
            let is_new = seen.insert(fingerprint);
            if is_new && keep && mask != 0 {
                branches.push((step, mask));
            }
            is_new
        });
        self.note(&schedule, &run);
        let count: u64 = branches.iter().map(|branch| u64::from(branch.1.count_ones())).sum();
        if count > 0 {
            let before = parents.last().map_or(0, |parent| parent.children);
            parents.push(Parent { schedule, branches, children: before + count });
        }
    }

    fn note(&mut self, schedule: &Schedule, run: &Run) {
        self.report.deepest = self.report.deepest.max(run.steps);
        if run.end > self.report.latest {
            (self.report.latest, self.report.slowest) = (run.end, schedule.clone());
        }
        match &run.verdict {
            None => self.report.merged += 1,
            Some(Verdict::Delivered) => self.report.delivered += 1,
            Some(Verdict::Reported(_)) => self.report.reported += 1,
            Some(Verdict::Wrong(what)) => {
                let is_known =
                    self.report.findings.iter().any(|finding| kind(&finding.what) == kind(what));
                if !is_known {
                    let finding = self.shorten(schedule.clone(), what.clone());
                    self.report.findings.push(finding);
                }
            }
        }
    }

    /// The schedule without the faults that it does not need, and with simpler ones where
    /// they do.
    fn shorten(&self, mut schedule: Schedule, mut what: String) -> Finding {
        let fails = |schedule: &Schedule| {
            let run = self.case.run(schedule, false, &mut |_, _, _| true);
            match run.verdict {
                Some(Verdict::Wrong(wrong)) if run.suffered == schedule.faults().len() => {
                    Some(wrong)
                }
                _ => None,
            }
        };
        'again: loop {
            let count = schedule.faults().len();
            let shorter = (0..count).map(|n| schedule.without(n));
            let simpler = (0..count).flat_map(|n| schedule.simpler(n));
            for candidate in shorter.chain(simpler) {
                if let Some(fail) = fails(&candidate).filter(|fail| kind(fail) == kind(&what)) {
                    (schedule, what) = (candidate, fail);
                    continue 'again;
                }
            }
            return Finding { schedule, what };
        }
    }
}

/// A finding's text without its numbers.
fn kind(what: &str) -> String {
    what.chars().filter(|char| !char.is_ascii_digit()).collect()
}

/// A step that comes to each of `n` numbers, far from the one before: near the golden
/// section, without a common factor.
fn stride(n: u64) -> u64 {
    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let near = (n as f64 * 0.618_034) as u64;
    (near.max(1)..).find(|item| gcd(*item, n) == 1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stride_comes_everywhere() {
        for n in 1..200 {
            let mut seen = vec![false; n as usize];
            let mut at = 0;
            for _ in 0..n {
                assert!(!std::mem::replace(&mut seen[at as usize], true));
                at = (at + stride(n)) % n;
            }
        }
    }
}
