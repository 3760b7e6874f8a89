//! A place where threads wait for each other.

use super::locked;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Threads meet here again and again: who comes waits until all have come. Windows are short, so they look
/// for each other for a while before they sleep.
#[derive(Debug)]
pub(super) struct Meeting {
    parties: usize,
    /// `looks` is how often a thread looks before it sleeps.
    looks: u32,
    arrived: AtomicUsize,
    round: AtomicUsize,
    is_broken: AtomicBool,
    sleepers: Mutex<usize>,
    woken: Condvar,
}

/// Looks of a thread that has a core of its own: some 100 microseconds.
const LOOKS: u32 = 4000;
/// Looks where others need the core.
const FEW_LOOKS: u32 = 50;

impl Meeting {
    /// Makes a meeting of so many threads.
    pub fn new(parties: usize) -> Meeting {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Meeting {
            parties,
            looks: if parties <= cores { LOOKS } else { FEW_LOOKS },
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            is_broken: AtomicBool::new(false),
            sleepers: Mutex::new(0),
            woken: Condvar::new(),
        }
    }

    /// Waits for all others. False if one of them is not coming any more.
    pub fn meet(&self) -> bool {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            self.wake();
        }
        let waits = || self.round.load(Ordering::Acquire) == round && !self.is_broken();
        let mut looks = 0;
        while waits() && looks < self.looks {
            looks += 1;
            std::hint::spin_loop();
        }
        if waits() {
            let mut sleepers = locked(&self.sleepers);
            *sleepers += 1;
            // Who ends the round takes the lock after that, and so sees who sleeps.
            while waits() {
                sleepers = self.woken.wait(sleepers).unwrap_or_else(PoisonError::into_inner);
            }
            *sleepers -= 1;
        }
        !self.is_broken()
    }

    /// Says that this thread does not come any more: all who wait go on, and hear of it.
    pub fn break_up(&self) {
        self.is_broken.store(true, Ordering::Release);
        self.wake();
    }

    fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Acquire)
    }

    fn wake(&self) {
        if *locked(&self.sleepers) > 0 {
            self.woken.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        let (meeting, count) = (Meeting::new(3), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=1000 {
                        count.fetch_add(1, Ordering::Relaxed);
                        assert!(meeting.meet());
                        assert_eq!(count.load(Ordering::Relaxed), 3 * round);
                        assert!(meeting.meet());
                    }
                });
            }
        });
    }

    #[test]
    fn who_waits_hears_that_one_is_not_coming() {
        let meeting = Meeting::new(2);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| meeting.meet());
            meeting.break_up();
            assert!(!waits.join().expect("it does not panic"));
        });
    }
}
