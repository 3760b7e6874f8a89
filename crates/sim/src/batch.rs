//! Many runs on several threads, collected by index, so that the number of
//! threads changes nothing.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `run(i)` for every `i` below `n` on up to `jobs` threads (at least
/// one) and returns the results in order. A panic in a run is passed on.
///
/// ```
/// let squares = anabranch_sim::run_batch(5, 2, |i| i * i);
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
pub fn run_batch<R: Send>(n: usize, jobs: usize, run: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let jobs = jobs.clamp(1, n.max(1));
    if jobs == 1 {
        return (0..n).map(run).collect();
    }
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = (0..n).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(slot) = results.get(i) else { return };
                    let result = run(i);
                    *slot.lock().expect("a slot is locked once") = Some(result);
                }
            });
        }
    });
    let unwrap = |slot: Mutex<Option<R>>| {
        let result = slot.into_inner().expect("a run that panicked was passed on");
        result.expect("every index was run")
    };
    results.into_iter().map(unwrap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_change_nothing() {
        let run = |i: usize| anabranch_endpoint::Generator::from_u64(i as u64).next_u64();
        let alone = run_batch(100, 1, run);
        assert_eq!(alone, run_batch(100, 4, run));
        assert!(run_batch(0, 4, run).is_empty());
    }
}
