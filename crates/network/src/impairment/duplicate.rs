//! Duplication: some packets come twice. The copy follows its original, and
//! meets the impairments that come after this one and the queue by itself.

use crate::catalogue::Info;
use anabranch_endpoint::Generator;

pub(super) const INFO: Info = Info {
    name: "duplicate",
    summary: "some packets come twice, the copy right behind the original",
    reference: "RFC 5560 (packet duplication)",
};

/// `Duplicate` draws which packets are copied.
#[derive(Debug)]
pub struct Duplicate {
    probability: f64,
    generator: Generator,
}

impl Duplicate {
    /// Makes copies with `probability`, 0 to 1.
    pub fn new(probability: f64, generator: Generator) -> Duplicate {
        Duplicate { probability, generator }
    }

    /// Returns whether the next packet is copied.
    pub fn duplicates(&mut self) -> bool {
        self.generator.chance(self.probability)
    }
}
