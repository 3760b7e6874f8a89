//! Every script of the public suites is of the language.

use anabranch_packetdrill::{Definitions, parse};

#[test]
fn every_script_of_the_suites_is_read() {
    let mut failures = Vec::new();
    let scripts = crate::common::suites();
    for listed in &scripts {
        let text = std::fs::read_to_string(&listed.file).expect("the script can be read");
        let definitions = Definitions::from([("FreeBSD".into(), String::new())]);
        if let Err(error) = parse(&listed.path, &text, &definitions) {
            failures.push(error.to_string());
        }
    }
    eprintln!("{} of {} scripts read", scripts.len() - failures.len(), scripts.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
