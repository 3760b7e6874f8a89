//! Reordering: some packets travel longer by a fixed time, so that those sent
//! in the meantime overtake them.

use crate::catalogue::Info;
use anabranch_endpoint::Generator;
use anabranch_units::Span;

pub(super) const INFO: Info = Info {
    name: "reorder",
    summary: "some packets travel longer, so that later ones overtake them",
    reference: "RFC 4737 (reordering by extra delay)",
};

/// `Reorder` holds packets back on the way.
#[derive(Debug)]
pub struct Reorder {
    probability: f64,
    extra: Span,
    generator: Generator,
}

impl Reorder {
    /// Makes an impairment that delays a packet by `extra` with `probability`.
    pub fn new(probability: f64, extra: Span, generator: Generator) -> Reorder {
        Reorder { probability, extra, generator }
    }

    /// The extra time of the next packet, if it is held back.
    pub fn delays(&mut self) -> Option<Span> {
        self.generator.chance(self.probability).then_some(self.extra)
    }
}
