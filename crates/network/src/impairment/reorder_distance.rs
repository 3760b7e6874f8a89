//! Reordering by distance: some packets are held at the far end until a number
//! of later ones have gone by, then follow right behind the last of these.
//! Packets that are late or overtaken themselves do not count. One that too few
//! packets follow is let go after a time.

use crate::catalogue::Info;
use anabranch_endpoint::Generator;
use anabranch_units::Span;

pub(super) const INFO: Info = Info {
    name: "reorder-distance",
    summary: "some packets are overtaken by a number of later ones",
    reference: "RFC 4737 §4.2 (reordering extent), RFC 5236 (displacement)",
};

/// `ReorderDistance` lets packets be overtaken.
#[derive(Debug)]
pub struct ReorderDistance {
    probability: f64,
    distance: u32,
    longest: Span,
    generator: Generator,
}

impl ReorderDistance {
    /// Makes an impairment that lets `distance` packets overtake one with `probability`, or waits
    /// for `longest`.
    pub fn new(probability: f64, distance: u32, longest: Span, generator: Generator) -> Self {
        ReorderDistance { probability, distance, longest, generator }
    }

    /// Returns, if the next packet is overtaken, by how many and for how long it waits at most.
    pub fn overtaken(&mut self) -> Option<(u32, Span)> {
        self.generator.chance(self.probability).then_some((self.distance, self.longest))
    }
}
