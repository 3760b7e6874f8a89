//! The project's own scripts pass.

use anabranch_packetdrill::runner::Drill;
use anabranch_packetdrill::suites::list;
use std::path::Path;

#[test]
fn own_scripts_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/packetdrill");
    let scripts = list(&folder).expect("the folder can be read");
    assert!(scripts.len() >= 25, "{} scripts", scripts.len());
    let reports = Drill::new(None).all(&scripts, 1);
    let bad: Vec<String> =
        reports.iter().filter(|report| !report.passed()).map(ToString::to_string).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
