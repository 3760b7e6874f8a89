//! A port of a switch tells sources what they may send: one algorithm a file.
//!
//! A port sees every cell that comes to it, and writes into the backward RM cells of the virtual
//! channels whose data it carries (TM 4.0 §5.10.6). To add an algorithm: a file, a variant, a line
//! of [`ALLOCATIONS`], and its fields in `crates/scenario/src/schema/abr.rs`.

mod efci;
mod erica;
mod max_min;

pub use efci::EfciConfig;
pub use erica::EricaConfig;
pub use max_min::MaxMinConfig;

use super::cells::{Cell, Kind, RateField, Rm};
use super::config::cells_per_second;
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::Bounds;
use anabranch_units::{Rate, Span, Time};
use efci::Efci;
use erica::Erica;
pub(super) use max_min::{MaxMin, Shares, fill};

/// `ALLOCATIONS` has the algorithms by name.
pub const ALLOCATIONS: &[Info] = &[erica::INFO, max_min::INFO, efci::INFO];

/// `AllocationConfig` describes an algorithm by which switches allocate rates.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum AllocationConfig {
    /// Explicit rates from the load that is measured.
    Erica(EricaConfig),
    /// `MaxMin` gives exact max-min rates, computed for all lines together.
    MaxMin(MaxMinConfig),
    /// `Efci` gives one bit, set beyond a queue length.
    Efci(EfciConfig),
}

impl Default for AllocationConfig {
    fn default() -> Self {
        AllocationConfig::Erica(EricaConfig::default())
    }
}

/// Part of the line that is given away where nothing else is said.
const TARGET: f64 = 0.9;

/// `INTERVAL_CELLS` is for how many cell times a port measures; it measures for a least time, too.
const INTERVAL_CELLS: u64 = 100;
const LEAST_INTERVAL: Span = Span::from_millis(1);

/// The interval of a line where nothing else is said.
fn usual_interval(rate: Rate) -> Span {
    rate.time_for(super::cells::CELL).saturating_mul(INTERVAL_CELLS).max(LEAST_INTERVAL)
}

impl AllocationConfig {
    /// What `target` of ERICA and of max-min may be.
    pub const TARGET: Bounds<f64> = Bounds::above_up_to(0.0, 1.0).counted_in("of the line");

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let interval = match self {
            AllocationConfig::Erica(erica) => {
                Self::TARGET.check("target", erica.target)?;
                erica.interval
            }
            AllocationConfig::MaxMin(max_min) => {
                Self::TARGET.check("target", max_min.target)?;
                max_min.interval
            }
            AllocationConfig::Efci(_) => None,
        };
        interval.map_or(Ok(()), |interval| ConfigError::repeated("interval", interval))
    }

    /// Makes the algorithm for a port of this rate, in a network with so many directions of virtual
    /// channels.
    pub(super) fn build(&self, rate: Rate, directions: usize) -> Allocation {
        let cells = cells_per_second(rate);
        match self {
            AllocationConfig::Erica(erica) => {
                let interval = erica.interval.unwrap_or_else(|| usual_interval(rate));
                Allocation::Erica(Erica::new(erica.target * cells, interval, directions))
            }
            AllocationConfig::MaxMin(max_min) => {
                let interval = max_min.interval.unwrap_or_else(|| usual_interval(rate));
                Allocation::MaxMin(MaxMin::new(max_min.target * cells, interval, directions))
            }
            AllocationConfig::Efci(efci) => Allocation::Efci(Efci::new(efci)),
        }
    }
}

/// An algorithm with its state, as a port holds it.
#[derive(Debug)]
pub(super) enum Allocation {
    Erica(Erica),
    MaxMin(MaxMin),
    Efci(Efci),
}

impl Allocation {
    /// The port carries this direction of a virtual channel.
    pub(super) fn admit(&mut self) {
        match self {
            Allocation::Erica(erica) => erica.admit(),
            Allocation::MaxMin(_) | Allocation::Efci(_) => {}
        }
    }

    /// A cell comes to the port, where `waiting` cells are before it. True if it is to be marked
    /// with EFCI.
    pub(super) fn on_cell(&mut self, now: Time, cell: &Cell, waiting: u32) -> bool {
        match self {
            Allocation::Erica(erica) => {
                erica.on_cell(now, cell);
                false
            }
            Allocation::MaxMin(max_min) => {
                max_min.on_cell(cell);
                false
            }
            Allocation::Efci(efci) => efci.marks(waiting),
        }
    }

    /// A backward RM cell passes the switch, about data of `direction`, which the port carries.
    pub(super) fn on_backward(&mut self, now: Time, direction: u32, rm: &mut Rm) {
        let cells = match self {
            Allocation::Erica(erica) => erica.explicit_rate(now, direction),
            Allocation::MaxMin(max_min) => max_min.explicit_rate(direction),
            Allocation::Efci(_) => return,
        };
        rm.explicit = rm.explicit.min(RateField::of(cells));
    }
}

/// The cell belongs to the data of its direction: a backward RM cell is about the other direction's.
fn is_of_flow(cell: &Cell) -> bool {
    !matches!(cell.kind, Kind::Backward(_))
}
