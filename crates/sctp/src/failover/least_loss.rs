//! Least loss: the path with the lowest estimated loss rate. Iyengar, Amer and Stewart (2006 §V)
//! choose by it where a retransmission goes (RTX-LOSSRATE); here it is new data.

use crate::policy::Candidate;

/// The share that is lost.
pub(super) fn cost(path: &Candidate) -> f64 {
    path.loss
}
