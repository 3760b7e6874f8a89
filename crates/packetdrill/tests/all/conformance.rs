//! docs/conformance.md is what the suites say today of our stacks. What it says of a
//! kernel depends on the machine.

use anabranch_packetdrill::conformance::{BESIDE, own_scripts, page, run_suites};
use std::path::Path;

#[test]
fn the_page_of_conformance_is_up_to_date() {
    let scripts = crate::common::suites();
    if scripts.is_empty() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = own_scripts(&root.join("tests/packetdrill")).expect("the project's own scripts");
    let now = page(&run_suites(&scripts, None), &run_suites(&own, None));
    let written = std::fs::read_to_string(root.join("docs/conformance.md")).expect("the page");
    let written = written.split(BESIDE).next().unwrap_or_default();
    let first = now.lines().zip(written.lines()).find(|(now, written)| now != written);
    assert!(now == written, "the first line that differs: {first:?}; run `make conformance`");
}
