//! This is how a path policy sees the paths, a built-in one or the user's own.

use super::path::Path;
use crate::policy::{Candidate, Paths};

/// `Candidates` are the paths as a policy sees them.
pub(crate) struct Candidates<'a>(pub &'a [Path]);

impl Paths for Candidates<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }
    fn path(&self, index: usize) -> Candidate {
        self.0[index].candidate()
    }
}

/// Returns all paths as a policy sees them, by index.
pub(crate) fn of(paths: &[Path]) -> Vec<Candidate> {
    let all = Candidates(paths);
    (0..all.count()).map(|index| all.path(index)).collect()
}
