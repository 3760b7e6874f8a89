//! Least loss chooses the path with the lowest estimated loss rate. Iyengar, Amer and Stewart (2006
//! §V) choose by it where a retransmission goes (RTX-LOSSRATE); here it is new data.

use crate::policy::Candidate;

/// Returns the estimated share of chunks that are lost, 0 to 1.
pub(super) fn cost(path: &Candidate) -> f64 {
    path.loss
}
