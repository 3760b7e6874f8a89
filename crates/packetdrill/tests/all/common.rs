//! What the tests over suites of scripts share.

use anabranch_packetdrill::suites::{Listed, list_all};

/// Names the index or folder of third-party suites, or several with `:` between them.
pub const SUITES: &str = "ANABRANCH_PACKETDRILL_SUITES";

/// The third-party scripts; none, and a line that says so, where there are
/// none.
pub fn suites() -> Vec<Listed> {
    match std::env::var(SUITES) {
        Ok(places) => list_all(places.as_ref()).unwrap_or_else(|error| panic!("{places}: {error}")),
        Err(_) => {
            eprintln!("SKIPPED: {SUITES} names no suites of packetdrill scripts");
            Vec::new()
        }
    }
}
