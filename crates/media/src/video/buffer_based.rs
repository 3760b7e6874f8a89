//! BBA-0, the buffer-based rule of Huang, Johari, McKeown, Trunnell and Watson, "A Buffer-Based
//! Approach to Rate Adaptation" (SIGCOMM 2014, §4, algorithm 1).
//!
//! A map f leads from the video in the buffer to a rate: the lowest up to the reservoir, the highest
//! from the end of the cushion on, linear between. The rung stays as long as f lies between the
//! rung below and the one above.

use super::{Rule, Situation};
use anabranch_units::Span;

/// The rule that selects the rung by the video in the buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct BufferBased {
    reservoir: Span,
    cushion: Span,
}

impl BufferBased {
    /// The paper's has 90 s and 126 s, of a buffer of 240 s.
    pub fn new(reservoir: Span, cushion: Span) -> BufferBased {
        BufferBased { reservoir, cushion }
    }
}

impl Rule for BufferBased {
    fn select(&mut self, at: &Situation<'_>) -> usize {
        let highest = at.ladder.len() - 1;
        let rate = |rung: usize| at.ladder[rung].as_bps() as f64;
        if at.buffered <= self.reservoir {
            return 0;
        }
        if at.buffered >= self.reservoir + self.cushion {
            return highest;
        }
        let part = (at.buffered - self.reservoir).as_secs_f64() / self.cushion.as_secs_f64();
        let f = rate(0) + part * (rate(highest) - rate(0));
        let last = at.last.unwrap_or(0);
        let (above, below) = ((last + 1).min(highest), last.saturating_sub(1));
        if f >= rate(above) {
            // The highest rung below f.
            (0..=highest).rev().find(|rung| rate(*rung) < f).unwrap_or(0)
        } else if f <= rate(below) {
            // The lowest rung above f.
            (0..=highest).find(|rung| rate(*rung) > f).unwrap_or(highest)
        } else {
            last
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Rate;

    /// Rungs of 1 to 5 Mbit/s, reservoir 10 s, cushion 40 s: f is 1 Mbit/s + 0.1 for each second.
    fn select(buffered: u64, last: usize) -> usize {
        let ladder: Vec<_> = (1..=5).map(Rate::mbit).collect();
        let mut rule = BufferBased::new(Span::from_secs(10), Span::from_secs(40));
        let buffered = Span::from_secs(buffered);
        rule.select(&Situation { ladder: &ladder, buffered, last: Some(last) })
    }

    #[test]
    fn reservoir_and_cushion_bound_the_map() {
        for last in 0..5 {
            assert_eq!([select(0, last), select(10, last)], [0, 0]);
            assert_eq!([select(50, last), select(90, last)], [4, 4]);
        }
    }

    #[test]
    fn a_rung_stays_between_its_neighbours() {
        // f = 2.9 Mbit/s at 29 s: below the third rung, above the first.
        assert_eq!(select(29, 1), 1);
        assert_eq!(select(29, 2), 2);
        // f = 3.1 Mbit/s reaches the third rung: the highest below f.
        assert_eq!(select(31, 1), 2);
        // f = 1.9 Mbit/s is below the second: from the third down to the lowest above f.
        assert_eq!(select(19, 2), 1);
        assert_eq!(select(45, 0), 3);
    }
}
