//! Runs scripts against our stacks, or another one, and prints what came of them, without Python:
//!
//! `cargo run --release -p anabranch-drill --example drill -- [kernel|usrsctp] [ipv4|ipv6|ipv4-mapped-ipv6] PLACE...`
//!
//! A place is a script, a folder of scripts or an index of suites. The kernel as root.

use anabranch_drill::{kernel, usrsctp};
use anabranch_packetdrill::Profile;
use anabranch_packetdrill::report::Verdict;
use anabranch_packetdrill::runner::Drill;
use anabranch_packetdrill::stack::{IpVersion, Network};
use anabranch_packetdrill::suites::{Listed, list};
use std::path::Path;

fn main() {
    let mut drill = Drill::new(None);
    // What the suites leave to who runs them.
    drill.definitions.insert("CODE".into(), "host_unreachable".into());
    let mut scripts = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "kernel" => {
                drill.profile = Some(Profile::Linux);
                drill.against = kernel().unwrap_or_else(|missing| panic!("{missing}"));
                continue;
            }
            "usrsctp" => {
                drill.against = usrsctp().unwrap_or_else(|missing| panic!("{missing}"));
                continue;
            }
            _ => {}
        }
        match (IpVersion::from_name(&argument), Path::new(&argument)) {
            (Some(version), _) => drill.settings.network = Network::over(version),
            (None, file) if file.extension().is_some_and(|extension| extension == "pkt") => {
                let (suite, category) = (String::new(), String::new());
                scripts.push(Listed { suite, category, path: argument.clone(), file: file.into() });
            }
            (None, place) => scripts.extend(list(place).expect("the scripts can be listed")),
        }
    }
    let reports = drill.all(&scripts, 2);
    reports.iter().for_each(|report| println!("{report}"));
    let count =
        |is: fn(&Verdict) -> bool| reports.iter().filter(|report| is(&report.verdict)).count();
    println!(
        "{} scripts: {} passed, {} not applicable",
        reports.len(),
        count(|verdict| *verdict == Verdict::Passed),
        count(|verdict| matches!(verdict, Verdict::NotApplicable(_)))
    );
}
