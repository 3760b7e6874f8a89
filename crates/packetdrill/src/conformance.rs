//! The page of conformance: what came of suites of scripts, by suite and
//! category.

use crate::report::{Report, Verdict};
use crate::runner::Drill;
use crate::suites::{self, Listed, read};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// Settings that a suite takes for granted, beside the profile's.
const ASSUMED: [(&str, &str, &str); 1] = [
    // Its scripts expect a window scale of 6: a receive buffer of 2 to 4 MB.
    ("nplab", "net.ipv4.tcp_rmem", "4096 87380 4000000"),
];

/// Symbols that scripts leave to who runs them.
const DEFINED: [(&str, &str); 1] = [("CODE", "host_unreachable")];

/// A script and what came of it.
#[derive(Clone, Debug)]
pub struct Row {
    /// Suite, category and path.
    pub listed: Listed,
    /// What came of it.
    pub report: Report,
}

/// Runs the scripts as the systems that they were written on, with what their
/// suites take for granted; reports call them by their path in the suite.
pub fn run_suites(scripts: &[Listed]) -> Vec<Row> {
    let run = |listed: &Listed| {
        let mut drill = Drill::new(None);
        let assumed = ASSUMED.iter().filter(|(suite, ..)| *suite == listed.suite);
        drill.settings.configure =
            assumed.map(|(_, name, value)| ((*name).into(), (*value).into())).collect();
        for (name, value) in DEFINED {
            drill.definitions.insert(name.into(), value.into());
        }
        let path = &listed.path;
        let report = match read(&listed.file) {
            Ok(text) => drill.text(path, &text),
            Err(error) => Report::unreadable(path, format_args!("{path}: {error}")),
        };
        Row { listed: listed.clone(), report }
    };
    scripts.iter().map(run).collect()
}

/// The scripts of the project itself, in `folder`.
///
/// # Errors
/// When the folder cannot be read.
pub fn own_scripts(folder: &Path) -> io::Result<Vec<Listed>> {
    let own = suites::list(folder)?.into_iter();
    Ok(own.map(|listed| Listed { suite: "own".into(), ..listed }).collect())
}

/// How many scripts of a group came to what.
#[derive(Clone, Copy, Default)]
struct Count {
    passed: u32,
    failed: u32,
    not_applicable: u32,
}

impl Count {
    fn add(&mut self, verdict: &Verdict) {
        *match verdict {
            Verdict::Passed => &mut self.passed,
            Verdict::Failed(_) | Verdict::Unreadable(_) => &mut self.failed,
            Verdict::NotApplicable(_) => &mut self.not_applicable,
        } += 1;
    }
}

/// The page as Markdown: third-party suites, then scripts of our own.
pub fn page(suites: &[Row], own: &[Row]) -> String {
    let mut text = String::from(HEAD);
    table(&mut text, suites);
    let applicable: Vec<&Row> = suites
        .iter()
        .filter(|row| !matches!(row.report.verdict, Verdict::NotApplicable(_)))
        .collect();
    let passed = applicable.iter().filter(|row| row.report.passed()).count();
    _ = write!(
        text,
        "\n{passed} of the {} scripts that apply pass; {} of all {} do not apply.\n",
        applicable.len(),
        suites.len() - applicable.len(),
        suites.len()
    );
    text += "\n## What fails, and how\n\n| suite | script | what |\n|---|---|---|\n";
    for row in suites {
        let what = match &row.report.verdict {
            Verdict::Failed(it) => format!("line {}: {}", it.pos.line, it.what),
            Verdict::Unreadable(error) => error.clone(),
            _ => continue,
        };
        _ = writeln!(text, "| {} | {} | {} |", row.listed.suite, row.listed.path, cell(&what));
    }
    text += "\n## What does not apply, and why\n\n| suite | scripts | reason |\n|---|---|---|\n";
    let mut reasons: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for row in suites {
        if let Verdict::NotApplicable(reason) = &row.report.verdict {
            *reasons.entry((&row.listed.suite, reason)).or_default() += 1;
        }
    }
    for ((suite, reason), count) in reasons {
        _ = writeln!(text, "| {suite} | {count} | {} |", cell(reason));
    }
    text +=
        "\n## Scripts of our own\n\nThey cover what the page claims, and run with the tests.\n\n";
    table(&mut text, own);
    text
}

const HEAD: &str = "\
# Conformance

What public packetdrill scripts say of our TCP and SCTP, run by `anabranch drill` in virtual
time: those of TCP under the `linux` profile, those of SCTP under `freebsd`, and where a script
has variants and that one does not pass, under the other system's. Written by
`make conformance SUITES=INDEX`; do not edit. The scripts are third-party data and not part of
the project; a script passes when every packet, return value and assertion of it is as written,
within its tolerance of time.

How the interpreter reads a script: options are compared in order but for padding; where a
script expects one packet of several segments, PSH is not compared, since offloading hardware
sets it there; commands are understood as settings and never executed, and counters that they
check are not. The suite nplab is run with a receive buffer of 4 MB, whose window scale of 6 it
expects. Of SCTP, parameters of INIT and INIT ACK, lists of types and the streams of FORWARD-TSN
are compared as sets: each system has an order of its own, and FreeBSD writes a stream once for
each chunk that it gives up.

";

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn table(text: &mut String, rows: &[Row]) {
    let mut counts: BTreeMap<(&str, &str), Count> = BTreeMap::new();
    for Row { listed, report } in rows {
        counts.entry((&listed.suite, &listed.category)).or_default().add(&report.verdict);
    }
    *text += "| suite | category | passed | failed | not applicable |\n|---|---|---|---|---|\n";
    for ((suite, category), Count { passed, failed, not_applicable }) in counts {
        _ = writeln!(text, "| {suite} | {category} | {passed} | {failed} | {not_applicable} |");
    }
}
