//! Operations of the range set and of the SACK scoreboard over 1000 holes.

#![expect(missing_docs, reason = "criterion_group! makes a public function")]

use anabranch_tcp::{Range, RangeSet, Scoreboard};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::hint::black_box;

const MSS: u64 = 1448;
const HOLES: u64 = 1000;

/// Every second segment is held: hole, range, hole, range.
fn segment(n: u64) -> Range {
    Range { start: n * MSS, end: (n + 1) * MSS }
}

fn board() -> Scoreboard {
    let mut board = Scoreboard::default();
    for n in 0..HOLES {
        board.on_sack(segment(2 * n + 1));
    }
    board
}

fn bench(c: &mut Criterion) {
    let full = board();
    let set: RangeSet = full.sacked().clone();
    let top = 2 * HOLES;

    let mut g = c.benchmark_group("range_set/1000");
    g.bench_function("insert at the top", |b| {
        b.iter_batched_ref(|| set.clone(), |s| s.insert(segment(top + 1)), BatchSize::SmallInput);
    });
    g.bench_function("fill a hole in the middle", |b| {
        b.iter_batched_ref(|| set.clone(), |s| s.insert(segment(HOLES)), BatchSize::SmallInput);
    });
    g.bench_function("remove below the first hole", |b| {
        b.iter_batched_ref(|| set.clone(), |s| s.remove_below(2 * MSS), BatchSize::SmallInput);
    });
    g.bench_function("gap in the middle", |b| {
        b.iter(|| set.gap(black_box(HOLES * MSS), u64::MAX));
    });
    g.finish();

    let mut g = c.benchmark_group("scoreboard/1000");
    g.bench_function("SACK of one more segment", |b| {
        b.iter_batched_ref(|| full.clone(), |s| s.on_sack(segment(top)), BatchSize::SmallInput);
    });
    g.bench_function("loss edge", |b| b.iter(|| full.loss_edge(3, black_box(MSS))));
    g.bench_function("pipe", |b| {
        b.iter(|| full.pipe(0, black_box((top + 10) * MSS), 3, MSS));
    });
    g.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
