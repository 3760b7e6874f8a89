//! Video at an adaptive bit rate: segments of a ladder of rates, one of which a rule selects for each
//! segment, and a player with a buffer that starts, plays and stalls.
//!
//! Left out: bit rates that vary within a rung of the ladder, seeking, and giving a segment up.

mod buffer_based;
mod player;
mod rate_based;

pub use buffer_based::BufferBased;
pub use player::{Player, VideoSummary};
pub use rate_based::RateBased;

use anabranch_units::{Bytes, Rate, Span};
use std::fmt::Debug;

/// The rungs of the ladder that Netflix had for all titles until 2015, as it wrote then
/// ("Per-Title Encode Optimization", 14 December 2015), in kbit/s.
pub const LADDER_KBIT_S: [u64; 10] = [235, 375, 560, 750, 1050, 1750, 2350, 3000, 4300, 5800];

/// Description of a video and its player.
#[derive(Clone, PartialEq, Debug)]
pub struct VideoSpec {
    /// Bit rates, ascending; at least one.
    pub ladder: Vec<Rate>,
    /// Length of a segment in playing time.
    pub segment: Span,
    /// Number of segments; `None` until the flow stops.
    pub segments: Option<u64>,
    /// Most video in the buffer; a segment is asked for when there is room for it.
    pub buffer: Span,
    /// Video in the buffer when playback starts, and goes on after a stall.
    pub start: Span,
    /// The rule that selects the rung of each segment.
    pub selection: Selection,
}

impl VideoSpec {
    /// Octets of a segment of this rung.
    pub fn octets(&self, rung: usize) -> u64 {
        let bits = self.ladder[rung].as_bps() as f64 * self.segment.as_secs_f64();
        Bytes((bits / 8.0) as u64).0.max(1)
    }
}

/// A rule that selects the rung of each segment, with its parameters.
#[derive(Clone, PartialEq, Debug)]
pub enum Selection {
    /// The rung follows the buffer: see [`BufferBased`].
    BufferBased {
        /// Below this much video in the buffer the lowest rung is selected.
        reservoir: Span,
        /// From so much video above the reservoir on the highest rung is selected.
        cushion: Span,
    },
    /// The rung follows the throughput: see [`RateBased`].
    RateBased {
        /// Part of the estimated throughput that a rung may need.
        safety: f64,
        /// Number of the last segments from which the throughput is estimated.
        window: usize,
    },
}

impl Selection {
    /// Makes the rule, which has seen nothing yet.
    pub fn rule(&self) -> Box<dyn Rule> {
        match *self {
            Selection::BufferBased { reservoir, cushion } => {
                Box::new(BufferBased::new(reservoir, cushion))
            }
            Selection::RateBased { safety, window } => Box::new(RateBased::new(safety, window)),
        }
    }

    /// Returns the name in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            Selection::BufferBased { .. } => "buffer-based",
            Selection::RateBased { .. } => "rate-based",
        }
    }
}

/// What a rule may know when it selects.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Situation<'a> {
    /// Bit rates of the rungs, ascending.
    pub ladder: &'a [Rate],
    /// Length of the video in the buffer.
    pub buffered: Span,
    /// The rung of the segment before, `None` for the first.
    pub last: Option<usize>,
}

/// A rule that selects the rung of each segment. A new one is a file with its `impl` and a variant
/// of [`Selection`].
pub trait Rule: Debug + Send {
    /// The rung of the next segment, a place in `ladder`.
    fn select(&mut self, situation: &Situation<'_>) -> usize;

    /// Hears of a segment of so many octets that took this time to load.
    fn on_segment(&mut self, _octets: u64, _took: Span) {}
}
