//! Writes docs/conformance.md: runs the suites of indices or folders (see
//! `suites`) and the project's own scripts, against our stacks and the kernel of
//! this machine, and prints what came of them. Needs root.
//!
//! `cargo run --release -p anabranch-drill --example conformance -- INDEX[:INDEX] [WORD]`;
//! with a word the scripts whose path contains it, a line a script.

use anabranch_drill::kernel;
use anabranch_packetdrill::conformance::{beside, own_scripts, page, run_suites};
use anabranch_packetdrill::suites;
use std::path::Path;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let places = arguments.next().expect("an index or a folder of suites, or several with `:`");
    let kernel = kernel().unwrap_or_else(|missing| panic!("{missing}"));
    let mut scripts = suites::list_all(places.as_ref()).expect("the suites can be read");
    if let Some(word) = arguments.next() {
        scripts.retain(|it| it.file.to_string_lossy().contains(&word));
        for row in run_suites(&scripts, Some(&kernel)) {
            println!("ours: {}", row.report);
            row.kernel.iter().for_each(|report| println!("kernel: {report}"));
        }
        return;
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/packetdrill");
    let own = own_scripts(&own).expect("the project's own scripts");
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("this is Linux");
    let release = format!("Linux {}", release.trim());
    let run = |scripts: &[_]| run_suites(scripts, Some(&kernel));
    let (suites, own) = (run(&scripts), run(&own));
    print!("{}{}", page(&suites, &own), beside(&suites, &own, &release));
}
