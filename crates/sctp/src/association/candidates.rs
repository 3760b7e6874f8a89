//! The paths as a path policy sees them, a built-in one or the user's own.

use crate::path::Path;
use crate::policy::{Candidate, Paths};

/// The paths as the policy sees them.
pub(super) struct Candidates<'a>(pub &'a [Path]);

impl Paths for Candidates<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }
    fn path(&self, index: usize) -> Candidate {
        self.0[index].candidate()
    }
}

/// All of them, by index.
pub(super) fn of(paths: &[Path]) -> Vec<Candidate> {
    let all = Candidates(paths);
    (0..all.count()).map(|index| all.path(index)).collect()
}
