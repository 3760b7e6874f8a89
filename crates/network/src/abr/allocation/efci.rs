//! A switch without explicit rates: data cells are marked while the queue is long (TM 4.0 §5.10.6,
//! a), and what the destination makes of the mark tells the source to slow down.

use crate::catalogue::Info;

pub(super) const INFO: Info = Info {
    name: "efci",
    summary: "no explicit rate: marks data cells beyond a queue length",
    reference: "ATM Forum TM 4.0 §5.10.6",
};

/// `EfciConfig` describes the marking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EfciConfig {
    /// `threshold` is how many cells may wait unmarked.
    pub threshold: u32,
}

impl Default for EfciConfig {
    fn default() -> Self {
        EfciConfig { threshold: 100 }
    }
}

#[derive(Debug)]
pub(in crate::abr) struct Efci {
    threshold: u32,
}

impl Efci {
    pub(super) fn new(config: &EfciConfig) -> Efci {
        Efci { threshold: config.threshold }
    }

    pub(super) fn marks(&self, waiting: u32) -> bool {
        waiting > self.threshold
    }
}
