//! docs/conformance.md is what the suites say today of our stacks. What it says of
//! other stacks depends on the machine.

use anabranch_packetdrill::conformance::{BESIDE, Others, own_scripts, page, run_suites};
use std::path::Path;

#[test]
fn the_page_of_conformance_is_up_to_date() {
    let scripts = crate::common::suites();
    if scripts.is_empty() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = own_scripts(&root.join("tests/packetdrill")).expect("the project's own scripts");
    let run = |scripts: &[_]| run_suites(scripts, Others::default());
    let now = page(&run(&scripts), &run(&own));
    let written = std::fs::read_to_string(root.join("docs/conformance.md")).expect("the page");
    let written = written.split(BESIDE).next().unwrap_or_default();
    let first = now.lines().zip(written.lines()).find(|(now, written)| now != written);
    assert!(now == written, "the first line that differs: {first:?}; run `make conformance`");
}
