//! The monotonic clock as the simulation's time.

use anabranch_units::{Span, Time};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Time since a start. It does not jump when the date is set, and stands still
/// for nobody: a process that was suspended finds the time gone.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    /// What `CLOCK_MONOTONIC` said then, which is what [`Instant`] counts.
    monotonic: Duration,
    /// A date from which on the clock is so far ahead, as if we had been suspended then.
    #[cfg(test)]
    leap: (Time, Span),
}

impl Clock {
    /// Starts at [`Time::ZERO`], now.
    #[expect(clippy::disallowed_methods, reason = "this crate drives the world by a clock")]
    pub fn start() -> Clock {
        let monotonic = clock_gettime(ClockId::Monotonic);
        let monotonic = Duration::new(monotonic.tv_sec as u64, monotonic.tv_nsec as u32);
        Clock {
            start: Instant::now(),
            monotonic,
            #[cfg(test)]
            leap: (Time::NEVER, Span::ZERO),
        }
    }

    /// One that leaps ahead once, at the date `at`.
    #[cfg(test)]
    pub fn start_leaping(at: Time, by: Span) -> Clock {
        Clock { leap: (at, by), ..Clock::start() }
    }

    /// The start as programs see it, by `CLOCK_MONOTONIC`.
    pub fn started(&self) -> Duration {
        self.monotonic
    }

    /// Returns the time since the clock was made.
    pub fn now(&self) -> Time {
        let elapsed = self.start.elapsed();
        let now = Time::ZERO
            + Span::from_secs(elapsed.as_secs())
            + Span::from_nanos(elapsed.subsec_nanos().into());
        #[cfg(test)]
        if now >= self.leap.0 {
            return now + self.leap.1;
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use std::fs::read_to_string;
    use std::path::Path;

    /// The date, which may be set at any moment, is asked for nowhere: times are
    /// differences of `CLOCK_MONOTONIC`, and of processor time.
    #[test]
    fn nothing_here_asks_for_the_date() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut folders = vec![root.join("src"), root.join("../scenario/src/live")];
        let mut files = vec![root.join("../scenario/src/live.rs")];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().unwrap().map(Result::unwrap) {
                let is_folder = entry.file_type().unwrap().is_dir();
                if is_folder { &mut folders } else { &mut files }.push(entry.path());
            }
        }
        assert!(files.len() > 20);
        for file in files {
            let text = read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            for word in
                ["SystemTime", "UNIX_EPOCH", "Realtime", "REALTIME", "gettimeofday", "libc::time("]
            {
                assert!(!code.contains(word), "{word} in {}", file.display());
            }
        }
    }
}
