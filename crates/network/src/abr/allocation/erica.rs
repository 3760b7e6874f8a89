//! ERICA: explicit rate indication for congestion avoidance (Kalyanaraman, Jain, Fahmy, Goyal and
//! Vandalore, *The ERICA switch algorithm for ABR traffic management in ATM networks*, IEEE/ACM
//! Transactions on Networking 8(1), 2000; ATM Forum/96-1172).
//!
//! Over an averaging interval the port counts the cells that come and the virtual channels that
//! they are of. The overload `z` is the input rate over the target. What a source is told is the
//! most of its current rate over `z`, which brings the load to the target, and of an equal share
//! among the active, which brings fairness; and while there is no overload, of the largest rate
//! that was told in the interval before, so that all come to be told the same. One value for each
//! virtual channel in an interval.
//!
//! The target is a constant part of the line: the basic algorithm with its first and second
//! refinement, not ERICA+ and its queue control. Averages are not smoothed.

use super::super::cells::{Cell, Kind, RateField};
use super::is_of_flow;
use crate::catalogue::Info;
use anabranch_units::{Span, Time};

pub(super) const INFO: Info = Info {
    name: "erica",
    summary: "explicit rates: each source's rate over the measured overload, an equal share at least",
    reference: "Kalyanaraman, Jain, Fahmy, Goyal and Vandalore, ToN 2000; ATM Forum/96-1172",
};

/// `DELTA` is δ: overload within this of 1 counts as none.
const DELTA: f64 = 0.1;

/// `EricaConfig` has the parameters of ERICA at a port.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EricaConfig {
    /// `target` is the target utilisation, above 0 and up to 1.
    pub target: f64,
    /// `interval` is the averaging interval; `None` stands for 100 cell times of the line, and 1 ms
    /// at least.
    pub interval: Option<Span>,
}

impl Default for EricaConfig {
    fn default() -> Self {
        EricaConfig { target: super::TARGET, interval: None }
    }
}

#[derive(Debug)]
pub(in crate::abr) struct Erica {
    /// Cells a second that the port gives away: the line's rate times the target utilisation.
    target: f64,
    interval: Span,
    /// `begun` is the start of the averaging interval.
    begun: Time,
    cells: u64,
    directions: Vec<Direction>,
    /// `active` is how many of `directions` were seen in this interval.
    active: u32,
    overload: f64,
    fair_share: f64,
    /// The largest rates told in the interval before and in this one.
    most_before: f64,
    most_now: f64,
    /// `admitted` is how many directions the port carries.
    admitted: u32,
}

/// `Direction` is what the port knows of a direction of a virtual channel.
#[derive(Clone, Copy, Default, Debug)]
struct Direction {
    /// `current` is the CCR of its last forward RM cell, in cells a second.
    current: f64,
    seen: bool,
    /// `told` is the rate that it was told in this interval, in cells a second.
    told: Option<f64>,
}

impl Erica {
    pub(super) fn new(target: f64, interval: Span, directions: usize) -> Erica {
        Erica {
            target,
            interval,
            begun: Time::ZERO,
            cells: 0,
            directions: vec![Direction::default(); directions],
            active: 0,
            overload: 1.0,
            fair_share: target,
            most_before: target,
            most_now: target,
            admitted: 0,
        }
    }

    /// Counts all that are admitted as active, before there are measurements.
    pub(super) fn admit(&mut self) {
        self.admitted += 1;
        self.fair_share = self.target / f64::from(self.admitted);
        (self.most_before, self.most_now) = (self.fair_share, self.fair_share);
    }

    pub(super) fn on_cell(&mut self, now: Time, cell: &Cell) {
        self.advance(now);
        self.cells += 1;
        if !is_of_flow(cell) {
            return;
        }
        let direction = &mut self.directions[cell.direction as usize];
        if let Kind::Forward(rm) = cell.kind {
            direction.current = rm.current.cells();
        }
        if !std::mem::replace(&mut direction.seen, true) {
            self.active += 1;
        }
    }

    /// Returns the rate that a source is told, in cells a second.
    pub(super) fn explicit_rate(&mut self, now: Time, direction: u32) -> f64 {
        self.advance(now);
        let Direction { current, told, .. } = self.directions[direction as usize];
        if let Some(told) = told {
            return told;
        }
        let share = if self.overload > 0.0 { current / self.overload } else { self.target };
        let mut rate = share.min(self.target).max(self.fair_share);
        if self.overload <= 1.0 + DELTA {
            rate = rate.max(self.most_before);
        }
        self.most_now = self.most_now.max(rate);
        // Who comes up to the share waits there for an interval that measures it. An RM cell tells
        // the share rounded down, and the rate of who keeps to it is that.
        if current < RateField::of(self.fair_share).cells() {
            rate = rate.min(self.fair_share);
        }
        self.directions[direction as usize].told = Some(rate);
        rate
    }

    /// Ends the intervals that are over. Without cells they are all alike, from the second on.
    fn advance(&mut self, now: Time) {
        let over = now.saturating_since(self.begun).as_picos() / self.interval.as_picos();
        if over == 0 {
            return;
        }
        for _ in 0..over.min(3) {
            self.end_interval();
        }
        self.begun = self.begun.saturating_add(self.interval.saturating_mul(over));
    }

    fn end_interval(&mut self) {
        let input = self.cells as f64 / self.interval.as_secs_f64();
        self.overload = input / self.target;
        self.fair_share = self.target / f64::from(self.active.max(1));
        self.most_before = self.most_now;
        self.most_now = self.fair_share;
        (self.cells, self.active) = (0, 0);
        for direction in &mut self.directions {
            (direction.seen, direction.told) = (false, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::cells::Rm;
    use super::*;

    const INTERVAL: Span = Span::from_millis(1);

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// In interval `n` each direction sends so many data cells and tells so much.
    fn interval(erica: &mut Erica, n: u64, directions: &[(u32, f64)]) {
        for (direction, (cells, current)) in directions.iter().enumerate() {
            let rm = Rm { current: RateField::of(*current), ..Rm::default() };
            let mut cell = Cell { direction: direction as u32, hop: 0, kind: Kind::Forward(rm) };
            for _ in 0..*cells {
                erica.on_cell(at(n * 1000), &cell);
                cell.kind = Kind::Data { packet: 0, last: false, congestion: false };
            }
        }
    }

    /// By hand: a target of 90,000 cells/s, 90 a millisecond.
    #[test]
    fn rates_of_the_published_algorithm() {
        let mut erica = Erica::new(90_000.0, INTERVAL, 3);
        (0..3).for_each(|_| erica.admit());
        // 60 and 120 cells: twice the target. Half of each rate, or an equal share of two.
        interval(&mut erica, 0, &[(60, 65_536.0), (120, 131_072.0), (0, 0.0)]);
        assert_eq!(erica.explicit_rate(at(1000), 0), 45_000.0);
        assert_eq!(erica.explicit_rate(at(1000), 1), 65_536.0);
        assert_eq!(erica.explicit_rate(at(1999), 1), 65_536.0);
        // At the target all are told what one was told before, but who is below the share is
        // brought up to it first.
        interval(&mut erica, 1, &[(30, 32_768.0), (60, 65_536.0), (0, 0.0)]);
        assert_eq!(erica.explicit_rate(at(2000), 0), 45_000.0);
        assert_eq!(erica.explicit_rate(at(2000), 1), 65_536.0);
        interval(&mut erica, 2, &[(45, 49_152.0), (45, 49_152.0), (0, 0.0)]);
        assert_eq!(erica.explicit_rate(at(3000), 0), 65_536.0);
        assert_eq!(erica.explicit_rate(at(3000), 1), 65_536.0);
        // Nobody for long: who comes then is told the whole target.
        assert_eq!(erica.explicit_rate(at(9000), 2), 90_000.0);
    }

    /// Backward RM cells are load, but no virtual channel is active by them.
    #[test]
    fn answers_are_load_alone() {
        let mut erica = Erica::new(10_000.0, INTERVAL, 2);
        interval(&mut erica, 0, &[(5, 4096.0)]);
        let cell = Cell { direction: 1, hop: 0, kind: Kind::Backward(Rm::default()) };
        (0..15).for_each(|_| erica.on_cell(at(500), &cell));
        assert_eq!(erica.explicit_rate(at(1000), 0), 10_000.0);
        assert_eq!(erica.overload, 2.0);
    }
}
