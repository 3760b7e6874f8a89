//! Gap blocks are read here (RFC 9260 §6.2.1, §7.2.4), in time that grows with the number of blocks
//! and with what is new in them, not with the window: chunks that were reported stand in runs, and
//! the chunks that may be found missing in a list.

use super::{Fate, Flight, Outcome, Rules, Status};
use crate::paths::path::Path;
use crate::policy::Reason;
use anabranch_units::Time;
use anabranch_wire::sctp::GapBlock;

/// `Reports` are what is known of the chunks that gap blocks have reported. Numbers are offsets.
#[derive(Debug, Default)]
pub(super) struct Reports {
    /// `runs` are the chunks that were reported and not taken back, each run from its start to
    /// before its end, ascending; some may be below `una`.
    runs: Vec<(u64, u64)>,
    /// `spare` is memory for the next `runs`.
    spare: Vec<(u64, u64)>,
    /// `watched` has the chunks below `watched_to` that are in flight and may be found missing,
    /// ascending; some may no longer be in flight.
    watched: Vec<u64>,
    /// `watched_to` is an offset: all chunks below it have been in `watched`, if they may be found
    /// missing.
    watched_to: u64,
    /// `taken_back` has the chunks that the SACK at hand does not report any more.
    taken_back: Vec<u64>,
}

impl Reports {
    /// Notes that the chunk is in flight again.
    pub fn on_resend(&mut self, offset: u64) {
        if offset < self.watched_to
            && let Err(place) = self.watched.binary_search(&offset)
        {
            self.watched.insert(place, offset);
        }
    }

    /// Forgets that the chunk was reported.
    pub fn forget(&mut self, offset: u64) {
        let Some(at) = self.runs.iter().position(|run| run.0 <= offset && offset < run.1) else {
            return;
        };
        let (start, end) = self.runs[at];
        self.runs[at] = (start, offset);
        self.runs.insert(at + 1, (offset + 1, end));
        self.runs.retain(|run| run.0 < run.1);
    }
}

/// Appends a run to ascending runs.
fn append(runs: &mut Vec<(u64, u64)>, start: u64, end: u64) {
    match runs.last_mut() {
        Some(last) if last.1 == start => last.1 = end,
        _ => runs.push((start, end)),
    }
}

/// `Found` is what was found in the blocks.
#[derive(Default)]
struct Found {
    /// `highest` is the highest chunk that they report.
    highest: Option<u64>,
    /// `highest_new` is the highest of those that they newly report.
    highest_new: Option<u64>,
}

impl Flight {
    pub(super) fn on_gaps(
        &mut self,
        now: Time,
        gaps: &[GapBlock],
        rules: Rules,
        paths: &mut [Path],
        outcome: &mut Outcome,
    ) {
        let before = std::mem::take(&mut self.reports.runs);
        let mut after = std::mem::take(&mut self.reports.spare);
        after.clear();
        let found = self.compare(now, gaps, &before, &mut after, paths, outcome);
        self.reports.runs = after;
        self.reports.spare = before;
        if let Some(highest) = found.highest {
            self.watch(highest, rules.marked_outstanding);
            self.count_misses(highest, found.highest_new, rules, paths, outcome);
        }
        if !self.reports.taken_back.is_empty() {
            self.count_taken_back();
        }
    }

    /// Counts one missing report for what is reported no longer (§6.2.1 D iii), if it has not got
    /// it as what is below others has.
    #[cold]
    fn count_taken_back(&mut self) {
        for offset in std::mem::take(&mut self.reports.taken_back) {
            let chunk = &mut self.chunks[(offset - self.una) as usize];
            if chunk.status == Status::InFlight {
                chunk.misses = chunk.misses.max(1);
            }
        }
    }

    /// Compares the blocks with what was reported `before`; `after` gets what is reported now.
    fn compare(
        &mut self,
        now: Time,
        gaps: &[GapBlock],
        before: &[(u64, u64)],
        after: &mut Vec<(u64, u64)>,
        paths: &mut [Path],
        outcome: &mut Outcome,
    ) -> Found {
        let limit = self.next();
        let mut found = Found::default();
        let mut run = 0;
        // Blocks end here so far; unsorted ones count as far as they go beyond.
        let mut done = self.una;
        let mut passed = Passed { to: self.una, run: 0 };
        for gap in gaps {
            // Gap offsets count from the TSN before `una`: offset 1 is `una`.
            let end = (self.una + gap.end as u64).min(limit);
            if gap.start > gap.end || end <= done {
                continue;
            }
            let start = (self.una + gap.start as u64).saturating_sub(1).clamp(done, end);
            self.take_back(before, &mut run, done, start, paths);
            let mut at = start;
            while at < end {
                while before.get(run).is_some_and(|(_, run_end)| *run_end <= at) {
                    run += 1;
                }
                let next = before.get(run).copied().unwrap_or((limit, limit));
                if next.0 <= at {
                    let to = next.1.min(end);
                    append(after, at, to);
                    found.highest = Some(to - 1);
                    at = to;
                    continue;
                }
                let to = next.0.min(end);
                passed.advance(self, before, at, paths);
                for offset in at..to {
                    if self.report(now, offset, paths, outcome) {
                        append(after, offset, offset + 1);
                        (found.highest, found.highest_new) = (Some(offset), Some(offset));
                    }
                }
                at = to;
            }
            done = end;
        }
        self.take_back(before, &mut run, done, limit, paths);
        found
    }

    /// Notes that a block reports a chunk that none has before. Returns false for one that was
    /// given up.
    fn report(
        &mut self,
        now: Time,
        offset: u64,
        paths: &mut [Path],
        outcome: &mut Outcome,
    ) -> bool {
        let at = (offset - self.una) as usize;
        let status = self.chunks[at].status;
        if let Status::Abandoned(fate) = &mut self.chunks[at].status {
            *fate = Fate::Known;
            return false;
        }
        let chunk = self.chunks[at].clone();
        self.acknowledge(now, offset, &chunk, paths);
        self.lost -= matches!(status, Status::Lost(_)) as usize;
        self.chunks[at].status = Status::Acked;
        self.acked += 1;
        outcome.news = true;
        paths[chunk.path as usize].sack.highest = Some(at);
        outcome.lowest = outcome.lowest.or(Some(at));
        true
    }

    /// Takes back what was reported from `from` to before `to` and is so no longer: the receiver
    /// has dropped it again (§6.2.1 rule D iii). Hardly any receiver does.
    #[inline(always)]
    fn take_back(
        &mut self,
        before: &[(u64, u64)],
        run: &mut usize,
        from: u64,
        to: u64,
        paths: &mut [Path],
    ) {
        while before.get(*run).is_some_and(|(_, end)| *end <= from) {
            *run += 1;
        }
        if before.get(*run).is_some_and(|(start, _)| *start < to) {
            self.take_back_runs(&before[*run..], from, to, paths);
        }
    }

    #[cold]
    fn take_back_runs(&mut self, runs: &[(u64, u64)], from: u64, to: u64, paths: &mut [Path]) {
        for (start, end) in runs.iter().take_while(|(start, _)| *start < to) {
            for offset in (*start).max(from)..(*end).min(to) {
                let at = (offset - self.una) as usize;
                self.chunks[at].status = Status::InFlight;
                self.chunks[at].misses = 0;
                self.reports.taken_back.push(offset);
                let chunk = &self.chunks[at];
                paths[chunk.path as usize].flight += self.size(chunk);
                paths[chunk.path as usize].window.adopt(self.size(chunk));
                self.payload += chunk.fragment.payload.len() as u64;
                self.acked -= 1;
                self.reports.on_resend(offset);
            }
        }
    }

    /// Watches chunks below `highest`, which may be found missing from now on.
    fn watch(&mut self, highest: u64, marked: bool) {
        let mut at = self.reports.watched_to.max(self.una);
        let runs = &self.reports.runs;
        let mut run = runs.partition_point(|(_, end)| *end <= at);
        while at < highest {
            match runs.get(run) {
                Some((start, end)) if *start <= at => {
                    at = *end;
                    run += 1;
                }
                next => {
                    let to = next.map_or(highest, |(start, _)| (*start).min(highest));
                    let waits = |offset: &u64| {
                        let status = self.chunks[(offset - self.una) as usize].status;
                        matches!(status, Status::InFlight | Status::Abandoned(Fate::Open))
                            || marked && status == Status::Lost(Reason::Timeout)
                    };
                    self.reports.watched.extend((at..to).filter(waits));
                    at = to;
                }
            }
        }
        self.reports.watched_to = self.reports.watched_to.max(highest);
    }

    /// Counts missing reports of chunks below `highest` (§7.2.4).
    fn count_misses(
        &mut self,
        highest: u64,
        highest_new: Option<u64>,
        rules: Rules,
        paths: &mut [Path],
        outcome: &mut Outcome,
    ) {
        if let Some(new) = highest_new {
            self.highest_new = self.highest_new.max(new);
        }
        let highest_new = match rules.remembers_highest {
            true => Some(self.highest_new),
            false => highest_new,
        };
        let one_path = paths.iter().filter(|path| path.sack.chunks > 0).count() == 1;
        let sack = Sack { highest_new, one_path, rules, outcome: *outcome };
        let mut watched = std::mem::take(&mut self.reports.watched);
        watched.retain(|&offset| {
            if offset < self.una || offset >= highest {
                return offset >= self.una;
            }
            let at = (offset - self.una) as usize;
            let Some(reports) = self.reports_of(at, &sack, paths) else { return false };
            let chunk = &mut self.chunks[at];
            chunk.misses = chunk.misses.saturating_add(reports);
            if reports == 0 || chunk.misses < rules.missing_reports {
                return true;
            }
            outcome.lost |= self.find_missing(at, paths);
            false
        });
        self.reports.watched = watched;
    }

    /// Returns how many reports the SACK makes that the chunk at `at` is missing; `None` when it is
    /// not looked for any more.
    #[inline]
    fn reports_of(&self, at: usize, sack: &Sack, paths: &[Path]) -> Option<u8> {
        let (chunk, rules) = (&self.chunks[at], &sack.rules);
        let marked = rules.marked_outstanding && chunk.status == Status::Lost(Reason::Timeout);
        let waits = matches!(chunk.status, Status::InFlight | Status::Abandoned(Fate::Open));
        if !(waits || marked) || (chunk.fast_retransmitted && !rules.multiple) {
            return None;
        }
        let path = &paths[chunk.path as usize];
        // Only TSNs before the highest newly acknowledged one count, but
        // all in fast recovery when the cumulative TSN advances.
        let recovering = sack.outcome.advanced
            && match rules.remembers_highest {
                true => path.recovery.is_some_and(|exit| self.highest_new < exit),
                false => path.recovery.is_some(),
            };
        let below = sack.highest_new.is_some_and(|new| self.una + (at as u64) < new);
        if rules.split {
            let Some(highest) = path.sack.highest.filter(|highest| at < *highest) else {
                return Some(0);
            };
            // What was sent again was sent after all that was there then.
            if chunk.resends > 0 && self.una + (highest as u64) < chunk.newest {
                return Some(0);
            }
        } else if rules.highest_newly_acked && !below && !recovering {
            return Some(0);
        }
        let newly = sack.highest_new.map_or(0, |offset| offset + 1);
        if chunk.fast_retransmitted && newly <= chunk.newest {
            return Some(0);
        }
        // As many reports as packets, if all that is new was sent later and
        // to one path.
        let later = !sack.outcome.advanced && sack.outcome.lowest.is_some_and(|lowest| at < lowest);
        Some(if later && sack.one_path { rules.packets } else { 1 })
    }

    /// Marks the chunk at `at` as missing: it is to be sent again, unless it was given up. Returns
    /// whether it is to be sent again.
    fn find_missing(&mut self, at: usize, paths: &mut [Path]) -> bool {
        let chunk = &mut self.chunks[at];
        let was_in_flight = chunk.status == Status::InFlight;
        if let Status::Abandoned(fate) = &mut chunk.status {
            *fate = Fate::Known;
            let sack = &mut paths[chunk.path as usize].sack;
            sack.lost += 1;
            sack.highest_lost = sack.highest_lost.max(self.una + at as u64);
            return false;
        }
        chunk.status = Status::Lost(Reason::FastRetransmit);
        self.lost_from = self.lost_from.min(self.una + at as u64);
        let chunk = &self.chunks[at];
        let (index, size) = (chunk.path as usize, self.size(chunk));
        if was_in_flight {
            self.payload -= chunk.fragment.payload.len() as u64;
            self.lost += 1;
            paths[index].flight -= size;
        }
        if let Some(departures) = &self.departures {
            let offset = self.una + at as u64;
            paths[index].window.note_lost(offset, size, &departures[at].stamp);
        }
        let sack = &mut paths[index].sack;
        sack.lost += 1;
        sack.lost_octets += size;
        sack.highest_lost = sack.highest_lost.max(self.una + at as u64);
        true
    }
}

/// A `Sack` is what a SACK says, for the chunks that it may report missing.
struct Sack {
    /// `highest_new` is the highest chunk that it newly acknowledges, or by ns-2's rule that any
    /// SACK did.
    highest_new: Option<u64>,
    /// `one_path` says that all that it newly acknowledges was sent to one path.
    one_path: bool,
    rules: Rules,
    outcome: Outcome,
}

/// `Passed` says how far the chunks that are still outstanding were passed.
struct Passed {
    to: u64,
    /// `run` is the index of the first run that ends beyond `to`.
    run: usize,
}

impl Passed {
    /// Notes on their paths the chunks up to `to` that are outstanding and were not reported
    /// `before`.
    fn advance(&mut self, flight: &Flight, before: &[(u64, u64)], to: u64, paths: &mut [Path]) {
        let all =
            |paths: &[Path]| paths.iter().all(|path| path.sack.passed || path.sack.flight == 0);
        while self.to < to && !all(paths) {
            match before.get(self.run) {
                Some(run) if run.1 <= self.to => self.run += 1,
                Some(run) if run.0 <= self.to => self.to = run.1,
                _ => {
                    let chunk = &flight.chunks[(self.to - flight.una) as usize];
                    if chunk.status == Status::InFlight {
                        paths[chunk.path as usize].sack.passed = true;
                    }
                    self.to += 1;
                }
            }
        }
    }
}
