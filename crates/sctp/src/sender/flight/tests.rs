//! What a SACK does, against an implementation that looks at every chunk.

use super::*;
use crate::config::Config;
use crate::paths::path::PathState;
use anabranch_wire::{Addr, Payload};
use proptest::prelude::*;

/// One chunk after the other, as RFC 9260 §6.2.1 and §7.2.4 have it.
fn naive(
    flight: &mut Flight,
    now: Time,
    gaps: &[GapBlock],
    rules: Rules,
    paths: &mut [Path],
    outcome: &mut Outcome,
) {
    flight.lost_from = flight.una;
    let (mut highest_new, mut highest, mut done) = (None, None, 0);
    let mut taken_back = Vec::new();
    let mut reported = vec![false; flight.chunks.len()];
    for gap in gaps {
        // A block counts as far as it goes beyond those before.
        for at in (gap.start as usize).saturating_sub(1).max(done)..gap.end as usize {
            if let Some(mark) = reported.get_mut(at) {
                *mark = true;
            }
        }
        if (gap.end as usize) > done && gap.start <= gap.end {
            done = gap.end as usize;
        }
    }
    for (at, reported) in reported.into_iter().enumerate() {
        let status = flight.chunks[at].status;
        match (reported, status) {
            (true, Status::Acked) => highest = Some(at),
            (true, Status::Lost(_) | Status::InFlight) => {
                let chunk = flight.chunks[at].clone();
                flight.acknowledge(now, flight.una + at as u64, &chunk, paths);
                flight.lost -= matches!(status, Status::Lost(_)) as usize;
                flight.chunks[at].status = Status::Acked;
                flight.acked += 1;
                outcome.news = true;
                paths[chunk.path as usize].sack.highest = Some(at);
                outcome.lowest = outcome.lowest.or(Some(at));
                (highest, highest_new) = (Some(at), Some(at));
            }
            (false, Status::Acked) => {
                flight.chunks[at].status = Status::InFlight;
                flight.chunks[at].misses = 0;
                taken_back.push(at);
                let chunk = &flight.chunks[at];
                paths[chunk.path as usize].flight += flight.size(chunk);
                flight.payload += chunk.len();
                flight.acked -= 1;
            }
            (false, Status::InFlight) => {
                paths[flight.chunks[at].path as usize].sack.passed = true;
            }
            (true, Status::Abandoned(_)) => {
                flight.chunks[at].status = Status::Abandoned(Fate::Known);
            }
            (false, Status::Lost(_) | Status::Abandoned(_)) => {}
        }
    }
    let newly = highest_new.map_or(0, |at| flight.una + at as u64 + 1);
    let one_path = paths.iter().filter(|path| path.sack.chunks > 0).count() == 1;
    for at in 0..highest.unwrap_or(0) {
        let chunk = &flight.chunks[at];
        if !matches!(chunk.status, Status::InFlight | Status::Abandoned(Fate::Open)) {
            continue;
        }
        let path = &paths[chunk.path as usize];
        let recovering = path.recovery.is_some() && outcome.advanced;
        let below = highest_new.is_some_and(|new| at < new);
        if rules.split {
            let highest = path.sack.highest.filter(|highest| at < *highest);
            let Some(highest) = highest else { continue };
            if chunk.resends > 0 && flight.una + (highest as u64) < chunk.newest {
                continue;
            }
        } else if rules.highest_newly_acked && !below && !recovering {
            continue;
        }
        if chunk.fast_retransmitted && (!rules.multiple || newly <= chunk.newest) {
            continue;
        }
        let later = !outcome.advanced && outcome.lowest.is_some_and(|lowest| at < lowest);
        let reports = if later && one_path { rules.packets } else { 1 };
        let chunk = &mut flight.chunks[at];
        chunk.misses = chunk.misses.saturating_add(reports);
        if chunk.misses < rules.missing_reports {
            continue;
        }
        let index = chunk.path as usize;
        paths[index].sack.lost += 1;
        if chunk.is_abandoned() {
            chunk.status = Status::Abandoned(Fate::Known);
            continue;
        }
        chunk.status = Status::Lost(Reason::FastRetransmit);
        let size = flight.size(&flight.chunks[at]);
        flight.payload -= flight.chunks[at].len();
        flight.lost += 1;
        paths[index].flight -= size;
        outcome.lost = true;
    }
    for at in taken_back {
        let chunk = &mut flight.chunks[at];
        if chunk.status == Status::InFlight {
            chunk.misses = chunk.misses.max(1);
        }
    }
}

/// What happens to both implementations.
#[derive(Clone, Debug)]
enum Step {
    /// Chunks leave on a path.
    Send(u8, u8),
    /// All that is lost is sent again, on a path.
    Resend(u8),
    /// A path's timer expires.
    Expire(u8),
    /// A message is given up.
    Abandon(u8),
    /// A SACK: how far it advances, and lengths of holes and blocks in turn.
    Sack(u8, Vec<(u8, u8)>),
    /// One whose blocks are nonsense.
    Nonsense(Vec<(u16, u16)>),
}

fn step() -> impl Strategy<Value = Step> {
    let blocks = prop::collection::vec((0_u8..4, 1_u8..6), 0..6);
    prop_oneof![
        4 => (1_u8..20, 0_u8..2).prop_map(|(n, path)| Step::Send(n, path)),
        3 => (0_u8..2).prop_map(Step::Resend),
        1 => (0_u8..2).prop_map(Step::Expire),
        1 => any::<u8>().prop_map(Step::Abandon),
        8 => (prop_oneof![3 => Just(0_u8), 1 => 1_u8..8], blocks)
            .prop_map(|(cum, blocks)| Step::Sack(cum, blocks)),
        1 => prop::collection::vec((0_u16..60, 0_u16..60), 0..4).prop_map(Step::Nonsense),
    ]
}

struct World {
    flight: Flight,
    paths: Vec<Path>,
    naive: bool,
}

impl World {
    fn new(naive: bool) -> World {
        let config = Config::rfc9260();
        let path = |n| Path::new(&config, Addr(n), Addr(10 + n), PathState::Active);
        World { flight: Flight::starting_at(1), paths: vec![path(0), path(1)], naive }
    }

    fn play(&mut self, now: Time, step: &Step, rules: Rules) -> Option<Outcome> {
        match step {
            Step::Send(n, path) => {
                for _ in 0..*n {
                    let fragment = Fragment {
                        flags: DataFlags::WHOLE,
                        stream: 0,
                        number: self.flight.next() as u32,
                        ppid_or_fsn: 0,
                        payload: Payload::virtual_of(100),
                    };
                    self.flight.push(fragment, Reliability::Reliable, *path);
                    let size = self.flight.size(self.flight.chunks.back().unwrap());
                    self.paths[*path as usize].flight += size;
                }
                None
            }
            Step::Resend(path) => {
                while let Some((index, _)) = self.flight.next_lost(0) {
                    let size = self.flight.size(&self.flight.chunks[index]);
                    self.flight.resend(index, *path, false);
                    self.paths[*path as usize].flight += size;
                }
                None
            }
            Step::Expire(path) => {
                self.flight.expire(*path, &mut self.paths);
                None
            }
            Step::Abandon(at) => {
                if !self.flight.is_empty() {
                    let at = *at as usize % self.flight.chunks.len();
                    self.flight.abandon(at, &mut self.paths);
                }
                None
            }
            Step::Sack(advance, blocks) => {
                let most = self.flight.chunks.len() as u64;
                let cum = self.flight.una + (*advance as u64).min(most);
                let mut at = 1;
                let mut gaps = Vec::new();
                for (hole, len) in blocks {
                    let start = at + *hole as u16;
                    gaps.push(GapBlock { start, end: start + *len as u16 - 1 });
                    at = start + *len as u16 + 1;
                }
                Some(self.sack(now, cum, &gaps, rules))
            }
            Step::Nonsense(blocks) => {
                let gap = |&(start, end): &(u16, u16)| GapBlock { start, end };
                let gaps: Vec<_> = blocks.iter().map(gap).collect();
                Some(self.sack(now, self.flight.una, &gaps, rules))
            }
        }
    }

    fn sack(&mut self, now: Time, cum: u64, gaps: &[GapBlock], rules: Rules) -> Outcome {
        if !self.naive {
            return self.flight.on_sack(now, cum, Some(gaps), rules, &mut self.paths);
        }
        // The cumulative part is one; what it leaves to the blocks is not.
        let acked = std::mem::take(&mut self.flight.acked);
        let reported = |chunk: &&Sent| chunk.status == Status::Acked;
        let popped = (cum - self.flight.una) as usize;
        let gone = self.flight.chunks.iter().take(popped).filter(reported).count();
        self.flight.acked = gone;
        let mut outcome = self.flight.on_sack(now, cum, Some(&[]), rules, &mut self.paths);
        self.flight.acked = acked - gone;
        naive(&mut self.flight, now, gaps, rules, &mut self.paths, &mut outcome);
        outcome
    }

    /// All that both must agree on.
    fn state(&self) -> String {
        let chunks = self.flight.chunks.iter();
        let chunks: Vec<_> =
            chunks.map(|c| (c.status, c.path, c.misses, c.resends, c.fast_retransmitted)).collect();
        let paths: Vec<_> = self
            .paths
            .iter()
            .map(|p| (p.flight, p.sack.acked, p.sack.earliest, p.sack.lost, p.sack.highest))
            .collect();
        let f = &self.flight;
        format!("{} {} {} {} {chunks:?} {paths:?}", f.una, f.lost, f.acked, f.payload)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 1000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn sacks_do_what_looking_at_every_chunk_does(
        steps in prop::collection::vec(step(), 1..60),
        reports in 1_u8..5,
        switches in any::<(bool, bool, bool, bool)>(),
        packets in 1_u8..3,
    ) {
        let (highest_newly_acked, multiple, split, recovering) = switches;
        let missing_reports = reports;
        let (marked_outstanding, remembers_highest) = (false, false);
        let rules = Rules {
            missing_reports,
            highest_newly_acked,
            multiple,
            split,
            marked_outstanding,
            remembers_highest,
            packets,
        };
        let (mut quick, mut slow) = (World::new(false), World::new(true));
        for world in [&mut quick, &mut slow] {
            world.paths[0].recovery = recovering.then_some(1000);
        }
        for (i, step) in steps.iter().enumerate() {
            let now = Time::from_picos(1 + i as u64);
            let outcomes = [&mut quick, &mut slow].map(|world| {
                let outcome = world.play(now, step, rules);
                outcome.map(|o| (o.advanced, o.cumulative, o.news, o.lost, o.lowest))
            });
            prop_assert_eq!(outcomes[0], outcomes[1], "step {}: {:?}", i, step);
            prop_assert_eq!(quick.state(), slow.state(), "step {}: {:?}", i, step);
            for from in [0, i % 7, 0] {
                let lost = |(at, chunk): (usize, &Sent)| match chunk.status {
                    Status::Lost(reason) => Some((at, reason)),
                    _ => None,
                };
                let naive = quick.flight.chunks.iter().enumerate().skip(from).find_map(lost);
                prop_assert_eq!(quick.flight.next_lost(from), naive, "step {}: {:?}", i, step);
            }
        }
    }
}

fn rules(marked_outstanding: bool, remembers_highest: bool) -> Rules {
    Rules {
        missing_reports: 3,
        highest_newly_acked: true,
        multiple: false,
        split: false,
        marked_outstanding,
        remembers_highest,
        packets: 1,
    }
}

/// Six chunks, of which the first is missing: SACKs with nothing new report it only where what was
/// newly acknowledged last is remembered (ns-2). RFC 9260 §7.2.4 looks at each SACK alone.
#[test]
fn sacks_with_nothing_new_report_a_chunk_or_not() {
    for (remembers, lost) in [(false, false), (true, true)] {
        let mut world = World::new(false);
        world.play(Time::ZERO, &Step::Send(6, 0), rules(false, remembers));
        let gap = [GapBlock { start: 2, end: 6 }];
        let sack = |world: &mut World| {
            let World { flight, paths, .. } = world;
            flight.on_sack(Time::ZERO, 1, Some(&gap), rules(false, remembers), paths).lost
        };
        assert!(!sack(&mut world) && !sack(&mut world));
        assert_eq!(sack(&mut world), lost);
    }
}

/// T3-rtx has marked all six: three SACKs for later ones find the first missing where what is marked
/// counts as outstanding (ns-2), and it does so when the window is judged.
#[test]
fn marked_chunks_are_outstanding_or_not() {
    for (marked, flight, lost) in [(false, 0, false), (true, 3 * 116, true)] {
        let mut world = World::new(false);
        world.play(Time::ZERO, &Step::Send(6, 0), rules(marked, false));
        world.flight.expire(0, &mut world.paths);
        let World { flight: chunks, paths, .. } = &mut world;
        let mut found = false;
        for end in [2, 4, 6] {
            let gap = [GapBlock { start: 2, end }];
            found |= chunks.on_sack(Time::ZERO, 1, Some(&gap), rules(marked, false), paths).lost;
            if end == 6 {
                assert_eq!(paths[0].sack.flight, flight);
            }
        }
        let reason = if lost { Reason::FastRetransmit } else { Reason::Timeout };
        assert_eq!((found, chunks.next_lost(0)), (lost, Some((0, reason))));
        assert_eq!(chunks.lost, 1);
    }
}

/// RFC 9260 §6.2.1 D iii: a chunk that is reported no longer has one missing report.
#[test]
fn what_is_taken_back_counts_one_missing_report() {
    let mut world = World::new(false);
    world.play(Time::ZERO, &Step::Send(6, 0), rules(false, false));
    let gap = |start, end| [GapBlock { start, end }];
    let World { flight, paths, .. } = &mut world;
    let mut sack = |gaps: &[GapBlock]| {
        flight.on_sack(Time::ZERO, 1, Some(gaps), rules(false, false), paths);
        flight.chunks.iter().map(|chunk| chunk.misses).collect::<Vec<_>>()
    };
    assert_eq!(sack(&gap(2, 3)), [1, 0, 0, 0, 0, 0]);
    assert_eq!(sack(&[]), [1, 1, 1, 0, 0, 0]);
    // One that is passed by what is newly reported has its report by that.
    assert_eq!(sack(&gap(2, 4)), [2, 1, 1, 0, 0, 0]);
    assert_eq!(sack(&gap(5, 5)), [3, 1, 1, 1, 0, 0]);
}
