//! Writes docs/conformance.md: runs the suites of an index or folder (see
//! `suites`) and the project's own scripts, and prints what came of them.
//!
//! `cargo run --release -p anabranch-packetdrill --example conformance -- INDEX [WORD]`;
//! with a word the scripts whose path contains it, a line a script.

use anabranch_packetdrill::conformance::{Row, own_scripts, page, run_suites};
use anabranch_packetdrill::suites;
use std::path::Path;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let place = arguments.next().expect("an index or a folder of suites");
    let mut scripts = suites::list(Path::new(&place)).expect("the suites can be read");
    if let Some(word) = arguments.next() {
        scripts.retain(|it| it.file.to_string_lossy().contains(&word));
        for Row { report, .. } in run_suites(&scripts) {
            println!("{report}");
        }
        return;
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/packetdrill");
    let own = own_scripts(&own).expect("the project's own scripts");
    print!("{}", page(&run_suites(&scripts), &run_suites(&own)));
}
