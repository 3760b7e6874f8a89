//! Runs the scripts of an index or folder and says what came of each:
//! `cargo run --example drill -- PLACE [WORD]`, where only paths that contain
//! the word count.

use anabranch_packetdrill::tcp::{Profile, TcpStack};
use anabranch_packetdrill::{Definitions, Report, Settings, Verdict, parse, run, suites};
use std::collections::BTreeMap;
use std::path::Path;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let place = arguments.next().expect("an index or a folder");
    let word = arguments.next().unwrap_or_default();
    let mut counts: BTreeMap<(String, &str), u32> = BTreeMap::new();
    for listed in suites::list(Path::new(&place)).expect("suites") {
        if !listed.file.to_string_lossy().contains(&word) {
            continue;
        }
        let text = std::fs::read_to_string(&listed.file).expect("a script");
        let definitions = Definitions::from([("Linux".into(), String::new())]);
        let report = match parse(&listed.path, &text, &definitions) {
            Ok(script) => run(&script, &mut TcpStack::new(Profile::Linux), &Settings::default()),
            Err(error) => Report::unreadable(&listed.path, error),
        };
        let kind = match report.verdict {
            Verdict::Passed => "passed",
            Verdict::Failed(_) => "failed",
            Verdict::NotApplicable(_) => "not applicable",
            Verdict::Unreadable(_) => "unreadable",
        };
        *counts.entry((listed.suite, kind)).or_default() += 1;
        println!("{report}");
    }
    for ((suite, kind), count) in counts {
        println!("{suite}: {count} {kind}");
    }
}
