//! The network against closed forms: cell counts, max-min rates, dates of feedback.

use super::*;
use anabranch_units::{Rate, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A network whose even links send packets without end from a date on, and what came of it.
struct Rig {
    atm: Atm,
    /// First packet of each link that sends, and their octets.
    sends: BTreeMap<u32, (Time, u32)>,
    /// Packets that arrived whole, by link: dates.
    arrived: BTreeMap<u32, Vec<Time>>,
    lost: BTreeMap<u32, u32>,
    next: BTreeMap<u32, u32>,
    loads: u32,
}

impl Rig {
    fn new(lines: &[LineConfig], paths: &[&[usize]], source: VcConfig) -> Rig {
        let mut directions = Vec::new();
        for (vc, path) in paths.iter().enumerate() {
            let there: Vec<_> = path.iter().map(|line| (*line, 0)).collect();
            let back = path.iter().rev().map(|line| (*line, 1)).collect();
            for (direction, path) in [there, back].into_iter().enumerate() {
                let link = LinkId((2 * vc + direction) as u32);
                directions.push(DirectionConfig { link, path, source });
            }
        }
        let (arrived, lost, next) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut atm = Atm::new(lines, &directions);
        atm.keep_notes(true);
        Rig { atm, sends: BTreeMap::new(), arrived, lost, next, loads: 0 }
    }

    fn greedy(mut self, links: &[u32]) -> Rig {
        links.iter().for_each(|link| self.start(*link, Time::ZERO, 1500));
        self
    }

    fn start(&mut self, link: u32, at: Time, octets: u32) {
        self.sends.insert(link, (at, octets));
        self.atm.packets_wait(at, LinkId(link));
    }

    fn run(&mut self, until: Time) {
        loop {
            let (at, Some(event)) = self.atm.advance(until) else { return };
            match event {
                AtmEvent::Wants(link) => {
                    let (_, octets) = self.sends[&link.0];
                    self.atm.load(at, link, octets, true);
                    self.loads += 1;
                }
                AtmEvent::Arrived { link, packet } => {
                    let next = self.next.entry(link.0).or_default();
                    assert!(packet >= *next, "packets keep their order");
                    *next = packet + 1;
                    self.arrived.entry(link.0).or_default().push(at);
                }
                AtmEvent::Lost { link, .. } => *self.lost.entry(link.0).or_default() += 1,
            }
        }
    }

    /// Octets of packets a second that arrived between two dates.
    fn goodput(&self, link: u32, from: Time, to: Time) -> f64 {
        let count = self.arrived[&link].iter().filter(|at| **at > from && **at <= to).count();
        count as f64 * f64::from(self.sends[&link].1) / (to - from).as_secs_f64()
    }

    fn rates(&mut self, link: u32) -> Vec<(Time, f64)> {
        rates(&self.atm.take_notes(), link)
    }
}

fn rates(notes: &[CellNote], link: u32) -> Vec<(Time, f64)> {
    let rate = |note: &CellNote| match note {
        CellNote::Rate { link: of, at, cells } if of.0 == link => Some((*at, *cells)),
        _ => None,
    };
    notes.iter().filter_map(rate).collect()
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn line(rate: Rate, delay: Span, allocation: AllocationConfig) -> LineConfig {
    LineConfig { rates: [rate; 2], delay, limit: None, allocation }
}

fn max_min(target: f64) -> AllocationConfig {
    let interval = Some(Span::from_millis(1));
    AllocationConfig::MaxMin(MaxMinConfig { target, interval })
}

fn erica(target: f64) -> AllocationConfig {
    AllocationConfig::Erica(EricaConfig { target, interval: Some(Span::from_millis(2)) })
}

/// 100,000 cells a second.
const LINE: Rate = Rate::kbit(42_400);

#[test]
fn one_greedy_source_gets_the_line_less_headers_rm_cells_and_padding() {
    for allocation in [max_min(1.0), max_min(0.5), erica(0.9)] {
        let target = match allocation {
            AllocationConfig::MaxMin(max_min) => max_min.target,
            AllocationConfig::Erica(erica) => erica.target,
            AllocationConfig::Efci(_) => unreachable!(),
        };
        let lines = [line(LINE, Span::from_millis(5), allocation)];
        let mut rig = Rig::new(&lines, &[&[0]], VcConfig::new(LINE)).greedy(&[0]);
        rig.run(at(2000));
        // 1500 octets take 32 cells of 48. Of 32 cells one is an RM cell; of 31 answers that come
        // back each is followed by an RM cell of the far end, which is answered.
        let rate = RateField::of(target * 100_000.0).cells();
        let data = 31.0 / 32.0 - 1.0 / (31.0 * 32.0);
        let expected = rate * data * 48.0 * 1500.0 / (32.0 * 48.0);
        let measured = rig.goodput(0, at(500), at(2000));
        assert!((measured / expected - 1.0).abs() < 0.0005, "{target}: {measured} {expected}");
        let [there, back] = rig.atm.counters(0);
        assert_eq!(there.forward_rm, there.received.div_ceil(32));
        assert_eq!(there.dropped, 0);
        // What comes back is answers, and forward RM cells of the far end: one for 31 of them or
        // for two in 100 ms.
        assert!(back.backward_rm <= there.forward_rm);
        assert_eq!(back.received, back.backward_rm + back.forward_rm);
        assert!(back.forward_rm <= 2 + back.backward_rm / 31 + 20, "{back:?}");
        assert!(there.is_conserved() && back.is_conserved());
    }
}

/// What comes back about the first RM cell sets the rate, a round trip after it was sent: each line
/// twice, with a cell time each, and one gap for the RM cell that the far end sends first.
#[test]
fn the_first_rate_comes_after_a_round_trip_exactly() {
    let cell = LINE.time_for(CELL);
    for (lines, round_trip) in [
        (vec![line(LINE, Span::from_millis(5), max_min(0.5))], at(10) + cell.saturating_mul(3)),
        (
            vec![
                line(LINE, Span::from_millis(1), max_min(0.5)),
                line(LINE, Span::from_millis(7), max_min(0.25)),
            ],
            at(16) + cell.saturating_mul(5),
        ),
    ] {
        let path: Vec<_> = (0..lines.len()).collect();
        let mut rig = Rig::new(&lines, &[&path], VcConfig::new(LINE)).greedy(&[0]);
        rig.run(at(500));
        let rates = rig.rates(0);
        let share = 0.5 / lines.len() as f64;
        assert_eq!(rates[0], (round_trip, RateField::of(100_000.0 * share).cells()));
        assert_eq!(rates.len(), 1, "nothing changes after");
    }
}

/// A second source begins: the first hears of it from the switch, not from its own far end.
#[test]
fn reaction_takes_the_interval_and_the_way_back_from_the_switch() {
    let fast = Rate::kbit(424_000);
    let lines = [
        line(fast, Span::from_millis(3), max_min(1.0)),
        line(fast, Span::from_millis(1), max_min(1.0)),
        line(LINE, Span::from_millis(20), max_min(1.0)),
    ];
    let source = VcConfig { initial: Some(LINE), ..VcConfig::new(fast) };
    let mut rig = Rig::new(&lines, &[&[0, 2], &[1, 2]], source).greedy(&[0]);
    rig.run(at(300));
    rig.rates(0);
    let begins = at(300) + Span::from_micros(500);
    rig.run(begins);
    rig.start(2, begins, 1500);
    rig.run(at(400));
    let notes = rig.atm.take_notes();
    let rates = rates(&notes, 0);
    let half = RateField::of(50_000.0).cells();
    assert_eq!(rates[0].1, half);
    // The second is seen at 301 ms. Answers pass the switch each 32 cell times of the last line,
    // 0.32 ms, and take 3 ms from there.
    assert!(rates[0].0 >= at(304) && rates[0].0 <= at(304) + Span::from_micros(330), "{rates:?}");
    // The second knows after its round trip of 42 ms.
    let rates = self::rates(&notes, 2);
    assert_eq!(rates[0].1, half);
    assert!(rates[0].0 >= begins + Span::from_millis(42), "{rates:?}");
    assert!(rates[0].0 <= begins + Span::from_millis(43), "{rates:?}");
}

/// The parking lot: one virtual channel over all lines, one over each; the last line is wider.
/// Max-min: a third of the first line each, the others what is left.
#[test]
fn parking_lot() {
    let rates = [Rate::kbit(42_400), Rate::kbit(42_400), Rate::kbit(63_600)];
    let paths: &[&[usize]] = &[&[0, 1, 2], &[0], &[0], &[1], &[2]];
    for (allocation, target, close) in
        [(max_min(1.0), 1.0, 0.003), (max_min(0.9), 0.9, 0.003), (erica(0.9), 0.9, 0.04)]
    {
        let lines = rates.map(|rate| line(rate, Span::from_millis(2), allocation));
        let mut rig = Rig::new(&lines, paths, VcConfig::new(Rate::kbit(63_600)));
        rig = rig.greedy(&[0, 2, 4, 6, 8]);
        rig.run(at(3000));
        let third = target * 100_000.0 / 3.0;
        let expected = [third, third, third, 2.0 * third, target * 150_000.0 - third];
        for (vc, expected) in expected.into_iter().enumerate() {
            let link = 2 * vc as u32;
            let data = rig.goodput(link, at(1500), at(3000)) / 1500.0 * 32.0 * 32.0 / 31.0;
            assert!(
                (data / expected - 1.0).abs() < close,
                "{allocation:?} {vc}: {data} {expected}"
            );
        }
    }
}

/// Both directions of a channel send: each carries the answers to the other's RM cells.
#[test]
fn answers_ride_on_the_other_direction() {
    let lines = [line(LINE, Span::from_millis(5), max_min(1.0))];
    let mut rig = Rig::new(&lines, &[&[0]], VcConfig::new(LINE)).greedy(&[0, 1]);
    rig.run(at(2000));
    for (link, port) in rig.atm.counters(0).into_iter().enumerate() {
        let part = |cells: u64| cells as f64 / port.received as f64;
        assert!((part(port.forward_rm) - 1.0 / 32.0).abs() < 0.0002, "{port:?}");
        assert!((part(port.backward_rm) - 1.0 / 32.0).abs() < 0.0002, "{port:?}");
        let expected = 100_000.0 * 30.0 / 32.0 / 32.0 * 1500.0;
        let measured = rig.goodput(link as u32, at(500), at(2000));
        assert!((measured / expected - 1.0).abs() < 0.003, "{measured} {expected}");
    }
}

/// ERICA keeps the line at its target, and the queue that the start has made drains.
#[test]
fn erica_keeps_to_its_target() {
    for target in [0.8, 0.95] {
        let lines: Vec<_> = (0..4)
            .map(|_| line(LINE, Span::from_millis(1), max_min(1.0)))
            .chain([line(LINE, Span::from_millis(10), erica(target))])
            .collect();
        let paths: &[&[usize]] = &[&[0, 4], &[1, 4], &[2, 4], &[3, 4]];
        let mut rig = Rig::new(&lines, paths, VcConfig::new(LINE)).greedy(&[0, 2, 4, 6]);
        rig.run(at(2000));
        let [before, _] = rig.atm.counters(4);
        // Four at the rate of the line, until they know after a round trip of 22 ms.
        assert!((5000..8000).contains(&before.most_waiting), "{before:?}");
        rig.atm.take_notes();
        rig.run(at(3000));
        let [after, _] = rig.atm.counters(4);
        let busy = (after.busy.as_secs_f64() - before.busy.as_secs_f64()) / 1.0;
        assert!((busy - target).abs() < 0.01, "{busy} {target}");
        let waits = |note: &CellNote| match note {
            CellNote::Queued { line: 4, direction: 0, at, starts } => Some(*starts - *at),
            _ => None,
        };
        let longest = rig.atm.take_notes().iter().filter_map(waits).max().unwrap();
        assert!(longest < LINE.time_for(CELL).saturating_mul(5), "{longest}");
        for link in [0, 2, 4, 6] {
            let data = rig.goodput(link, at(2000), at(3000)) / 1500.0 * 32.0 * 32.0 / 31.0;
            assert!((data / (target * 25_000.0) - 1.0).abs() < 0.02, "{link}: {data}");
        }
    }
}

/// Marks alone: the source goes down by 1/16 while the queue is long, and up by 1/16 of its peak.
#[test]
fn efci_turns_rates_round_at_its_threshold() {
    let fast = Rate::kbit(84_800);
    let efci = AllocationConfig::Efci(EfciConfig { threshold: 50 });
    let lines = [line(fast, Span::from_millis(1), efci), line(LINE, Span::from_millis(1), efci)];
    let mut rig = Rig::new(&lines, &[&[0, 1]], VcConfig::new(fast)).greedy(&[0]);
    rig.run(at(1000));
    let rates = rig.rates(0);
    let (mut ups, mut downs) = (0, 0);
    for pair in rates.windows(2) {
        let (before, after) = (pair[0].1, pair[1].1);
        let up = (before + 200_000.0 / 16.0).min(RateField::of(200_000.0).cells());
        match (after == up, after == before - before / 16.0) {
            (true, _) => ups += 1,
            (_, true) => downs += 1,
            _ => panic!("{before} to {after}"),
        }
    }
    assert!(ups > 20 && downs > 20, "{ups} {downs}");
    let goodput = rig.goodput(0, at(200), at(1000)) / 1500.0 * 32.0 * 32.0 / 31.0;
    // A dozen answers are under way, each of which goes on in the same direction.
    assert!((50_000.0..100_000.0).contains(&goodput), "{goodput}");
}

/// A queue that is full drops cells, and each packet that misses one is lost as a whole.
#[test]
fn a_packet_that_lost_a_cell_is_lost() {
    let fast = Rate::kbit(84_800);
    let tail = LineConfig { limit: Some(20), ..line(LINE, Span::from_millis(1), max_min(1.0)) };
    let lines = [line(fast, Span::from_millis(1), max_min(1.0)), tail];
    let mut rig = Rig::new(&lines, &[&[0, 1]], VcConfig::new(fast)).greedy(&[0]);
    rig.run(at(100));
    let [there, _] = rig.atm.counters(1);
    assert!(there.dropped > 100 && there.is_conserved(), "{there:?}");
    assert_eq!(there.most_waiting, 20);
    let (lost, arrived) = (rig.lost[&0], rig.arrived[&0].len() as u32);
    assert!(lost > 10, "{lost}");
    assert_eq!(rig.loads, arrived + lost + rig.atm.directions[0].under_way.len() as u32);
    // The tail of the first packet was dropped, so that the next fails for the cells before it.
    assert!(there.dropped >= u64::from(lost) / 2, "{there:?} {lost}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever channels, sizes and algorithms: nothing is lost without limits, packets keep
    /// their order, cells are conserved on each port, and sources never exceed their peaks.
    #[test]
    fn cells_are_conserved(
        kinds in prop::collection::vec((0..3, 1_u64..40, 0_u64..4), 1..4),
        vcs in prop::collection::vec((0_usize..4, 1_usize..4, 1_u32..9000, 0_u64..30), 1..5),
        limit in prop::option::of(0_u32..60),
    ) {
        let lines: Vec<LineConfig> = kinds
            .iter()
            .map(|(kind, mbit, delay)| {
                let allocation = match kind {
                    0 => erica(0.9),
                    1 => max_min(0.95),
                    _ => AllocationConfig::Efci(EfciConfig::default()),
                };
                let line = line(Rate::mbit(*mbit), Span::from_millis(*delay), allocation);
                LineConfig { limit, ..line }
            })
            .collect();
        let paths: Vec<Vec<usize>> = vcs
            .iter()
            .map(|(first, count, ..)| {
                let first = first % lines.len();
                (first..lines.len().min(first + count)).collect()
            })
            .collect();
        let paths: Vec<&[usize]> = paths.iter().map(Vec::as_slice).collect();
        let mut rig = Rig::new(&lines, &paths, VcConfig::new(Rate::mbit(20)));
        for (vc, (.., octets, start)) in vcs.iter().enumerate() {
            rig.start(2 * vc as u32, at(*start), *octets);
            if vc % 2 == 0 {
                rig.start(2 * vc as u32 + 1, at(*start), *octets);
            }
        }
        for step in 1..=10 {
            rig.run(at(step * 7));
            for number in 0..lines.len() {
                for counters in rig.atm.counters(number) {
                    prop_assert!(counters.is_conserved());
                    prop_assert!(limit.is_some() || counters.dropped == 0);
                }
            }
        }
        prop_assert!(limit.is_some() || rig.lost.is_empty());
        let mut last = BTreeMap::new();
        for note in rig.atm.take_notes() {
            if let CellNote::Queued { line, direction, at, starts } = note {
                prop_assert!(starts >= at);
                // A line carries one cell after the other.
                let cell = lines[line].rates[0].time_for(CELL);
                if let Some(before) = last.insert((line, direction), starts) {
                    prop_assert!(starts >= before + cell);
                }
            }
        }
    }
}
