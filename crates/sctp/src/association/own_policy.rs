//! What a path policy of the user's own sees.

use super::output::Candidates;
use crate::path::Path;
use crate::policy::{Candidate, Paths};

/// All paths, by index.
pub(super) fn candidates(paths: &[Path]) -> Vec<Candidate> {
    let all = Candidates(paths);
    (0..all.count()).map(|index| all.path(index)).collect()
}
