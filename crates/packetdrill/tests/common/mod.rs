//! What the tests over suites of scripts share.

use anabranch_packetdrill::suites::{Listed, list};
use std::path::Path;

/// Names the index or folder of third-party suites.
pub const SUITES: &str = "ANABRANCH_PACKETDRILL_SUITES";

/// The third-party scripts; none, and a line that says so, where there are
/// none.
pub fn suites() -> Vec<Listed> {
    match std::env::var(SUITES) {
        Ok(place) => list(Path::new(&place)).unwrap_or_else(|error| panic!("{place}: {error}")),
        Err(_) => {
            eprintln!("SKIPPED: {SUITES} names no suites of packetdrill scripts");
            Vec::new()
        }
    }
}
