//! Writes docs/conformance.md: runs the suites of indices or folders (see
//! `suites`) and the project's own scripts, against our stacks, the kernel of
//! this machine and usrsctp, and prints what came of them. Needs root and libusrsctp-dev.
//!
//! `cargo run --release -p anabranch-drill --example conformance -- INDEX[:INDEX] [WORD]`;
//! with a word the scripts whose path contains it, a line a script.

use anabranch_drill::{kernel, usrsctp};
use anabranch_packetdrill::conformance::{Others, beside, own_scripts, page, run_suites};
use anabranch_packetdrill::suites;
use std::path::Path;
use std::process::Command;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let places = arguments.next().expect("an index or a folder of suites, or several with `:`");
    let kernel = kernel().unwrap_or_else(|missing| panic!("{missing}"));
    let usrsctp = usrsctp().unwrap_or_else(|missing| panic!("{missing}"));
    let others = Others { kernel: Some(&kernel), usrsctp: Some(&usrsctp) };
    let mut scripts = suites::list_all(places.as_ref()).expect("the suites can be read");
    if let Some(word) = arguments.next() {
        scripts.retain(|script| script.file.to_string_lossy().contains(&word));
        for row in run_suites(&scripts, others) {
            println!("ours: {}", row.report);
            row.kernel.iter().for_each(|report| println!("kernel: {report}"));
            row.usrsctp.iter().for_each(|report| println!("usrsctp: {report}"));
        }
        return;
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/packetdrill");
    let own = own_scripts(&own).expect("the project's own scripts");
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("this is Linux");
    let release = format!("Linux {}", release.trim());
    let run = |scripts: &[_]| run_suites(scripts, others);
    let (suites, own) = (run(&scripts), run(&own));
    let library = format!("usrsctp {}", version_of_usrsctp());
    print!("{}{}", page(&suites, &own), beside(&suites, &own, &release, &library));
}

/// The library does not say its version: Debian's package manager does.
fn version_of_usrsctp() -> String {
    let mut ask = Command::new("dpkg-query");
    let output = ask.args(["-W", "-f", "${Version}", "libusrsctp-dev"]).output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    said.ok()
        .filter(|version| !version.is_empty())
        .unwrap_or_else(|| "of an unknown version".into())
}
