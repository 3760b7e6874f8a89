//! An episode finds out whether the last reduction of a path's window was spurious: reports of
//! duplicates tell (RFC 3708), or the echo of a timestamp (Eifel detection, RFC 3522). The response
//! is the window's: it is what it was, as in TCP (RFC 4015 §3.2 computes another).

use crate::config::UndoOptions;
use anabranch_units::Time;

/// An `Episode` is a reduction of a path's window, and what was sent again since.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    options: UndoOptions,
    /// `timeout` says that T3-rtx reduced the window, and not a fast retransmit.
    pub timeout: bool,
    /// `resent` has the offsets that were sent again and have not been reported as duplicates.
    resent: Vec<u64>,
    /// `is_open` says that reports of duplicates may still tell (RFC 3708 §3).
    is_open: bool,
    /// `first` is the lowest offset that was sent again, with the date at which the first
    /// retransmission left.
    first: Option<(u64, Time)>,
    /// `echo` says which echo of a timestamp is looked at.
    echo: Echo,
}

/// An `Echo` says which echo of a timestamp tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Echo {
    /// None tells yet, since nothing that was sent again is acknowledged.
    Awaited,
    /// The echo of the SACK at hand tells, which is the first for something that was sent again.
    Due,
    /// None tells any more.
    Judged,
}

impl Episode {
    pub fn new(options: UndoOptions, timeout: bool) -> Episode {
        Episode {
            options,
            timeout,
            resent: Vec::new(),
            is_open: true,
            first: None,
            echo: Echo::Awaited,
        }
    }

    /// Returns whether a timeout continues the episode, since T3-rtx expires again before anything
    /// that was sent again is acknowledged: the first of the retransmissions is the one to hold the
    /// echo against (RFC 3522 §3.2 step 2).
    pub fn goes_on(&self) -> bool {
        self.timeout && self.first.is_some() && self.echo == Echo::Awaited
    }

    /// Notes that the chunk with this offset is sent again. Of one that is so twice nobody knows
    /// which of the two the peer reports (RFC 3708 §3 A.3).
    pub fn on_resent(&mut self, now: Time, offset: u64) {
        self.is_open &= !self.resent.contains(&offset);
        self.resent.push(offset);
        let (lowest, since) = self.first.unwrap_or((offset, now));
        self.first = Some((lowest.min(offset), since));
    }

    /// Notes that the peer reports the chunk as a duplicate. Returns true when nothing that was
    /// sent again was needed.
    pub fn on_duplicate(&mut self, offset: u64) -> bool {
        let Some(at) = self.resent.iter().position(|resent| *resent == offset) else {
            return false;
        };
        self.resent.swap_remove(at);
        self.resent.is_empty() && self.is_open && self.options.duplicates
    }

    /// Makes reports of duplicates tell nothing about this reduction.
    pub fn close(&mut self) {
        self.is_open = false;
    }

    /// Notes that everything before the offset `cum` is acknowledged.
    pub fn on_cumulative(&mut self, cum: u64) {
        if self.echo == Echo::Awaited && self.first.is_some_and(|(lowest, _)| lowest < cum) {
            self.echo = Echo::Due;
        }
    }

    /// Notes that the SACK at hand answers a packet that left at `stamped`. Returns true when that
    /// was before anything was sent again: what it brought was not lost.
    pub fn on_echo(&mut self, stamped: Time) -> bool {
        if self.echo != Echo::Due {
            return false;
        }
        self.echo = Echo::Judged;
        self.options.timestamps && self.first.is_some_and(|(_, since)| stamped < since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    const BOTH: UndoOptions = UndoOptions { duplicates: true, timestamps: true };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// RFC 3708 §3 B.1; A.3: what was sent again twice leaves it open.
    #[test]
    fn all_that_was_sent_again_must_be_reported() {
        let mut episode = Episode::new(BOTH, false);
        assert!(!episode.on_duplicate(7), "nothing was sent again");
        for offset in [7, 9] {
            episode.on_resent(at(100), offset);
        }
        let mut twice = episode.clone();
        twice.on_resent(at(200), 7);
        assert!(!episode.on_duplicate(7) && !episode.on_duplicate(8) && episode.on_duplicate(9));
        assert!([7, 9, 7].iter().all(|offset| !twice.on_duplicate(*offset)));
    }

    /// RFC 3522 §3.2: the first SACK for what was sent again decides.
    #[test]
    fn the_first_echo_decides() {
        for (stamped, spurious) in [(99, true), (100, false)] {
            let mut episode = Episode::new(BOTH, true);
            episode.on_resent(at(100), 7);
            assert!(!episode.on_echo(at(50)), "nothing is acknowledged");
            assert!(episode.goes_on());
            episode.on_cumulative(8);
            assert!(!episode.goes_on());
            assert_eq!(episode.on_echo(at(stamped)), spurious);
            assert!(!episode.on_echo(at(50)));
        }
    }
}
