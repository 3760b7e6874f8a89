//! The page of conformance: what came of suites of scripts, by suite and
//! category.

use crate::profile::Profile;
use crate::report::{Report, Verdict};
use crate::runner::{Against, Drill, in_order};
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
    /// What came of it with our stacks.
    pub report: Report,
    /// The same with the kernel, where it was asked.
    pub kernel: Option<Report>,
}

impl Row {
    fn is_of_sctp(&self) -> bool {
        let text = read(&self.listed.file).unwrap_or_default();
        Profile::at_home(&text) == Profile::FreeBsd || text.contains("sctp")
    }
}

/// How often a script is run that the kernel fails: in real time another program may
/// be in the way.
const ATTEMPTS: u32 = 3;
/// Scripts that are run in real time at once.
const AT_ONCE: usize = 2;

/// Runs the scripts as the systems that they were written on, with what their
/// suites take for granted; reports call them by their path in the suite. With a
/// `kernel`, that runs them too.
pub fn run_suites(scripts: &[Listed], kernel: Option<&Against>) -> Vec<Row> {
    let ours = scripts.iter().map(|listed| run_as_home(listed, Drill::new(None)));
    let ours: Vec<Report> = ours.collect();
    let kernels: Vec<Option<Report>> = match kernel {
        None => vec![None; scripts.len()],
        Some(kernel) => {
            let reports = in_order(scripts, AT_ONCE, |listed| run_on(kernel, listed));
            reports.into_iter().map(Some).collect()
        }
    };
    let rows = scripts.iter().zip(ours).zip(kernels);
    rows.map(|((listed, report), kernel)| Row { listed: listed.clone(), report, kernel }).collect()
}

/// Runs a script with what its suite takes for granted.
fn run_as_home(listed: &Listed, mut drill: Drill) -> Report {
    let assumed = ASSUMED.iter().filter(|(suite, ..)| *suite == listed.suite);
    drill.settings.configure =
        assumed.map(|(_, name, value)| ((*name).into(), (*value).into())).collect();
    for (name, value) in DEFINED {
        drill.definitions.insert(name.into(), value.into());
    }
    let path = &listed.path;
    match read(&listed.file) {
        Ok(text) => drill.text(path, &text),
        Err(error) => Report::unreadable(path, format_args!("{path}: {error}")),
    }
}

fn run_on(kernel: &Against, listed: &Listed) -> Report {
    let run = || {
        let drill = Drill { against: kernel.clone(), ..Drill::new(Profile::Linux) };
        run_as_home(listed, drill)
    };
    let mut report = run();
    for _ in 1..ATTEMPTS {
        if !matches!(report.verdict, Verdict::Failed(_)) {
            break;
        }
        report = run();
    }
    report
}

/// The scripts of the project itself, in `folder`.
///
/// # Errors
/// When the folder cannot be read.
pub fn own_scripts(folder: &Path) -> io::Result<Vec<Listed>> {
    let own = suites::list(folder)?.into_iter();
    let own = own.map(|listed| {
        let path = format!("{}/{}", listed.suite, listed.path);
        Listed { suite: "own".into(), path, ..listed }
    });
    Ok(own.collect())
}

/// How many scripts of a group came to what.
#[derive(Clone, Copy, Default)]
struct Count {
    passed: u32,
    failed: u32,
    not_applicable: u32,
}

impl Count {
    fn cells(&self) -> String {
        format!("{} | {} | {}", self.passed, self.failed, self.not_applicable)
    }

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
    table(&mut text, suites, false);
    text += &format!("\n{}\n", total("", suites, |row| Some(&row.report)));
    text += "\n## What fails, and how\n\n";
    failures(&mut text, suites, |row| Some(&row.report));
    text += "\n## What does not apply, and why\n\n";
    reasons(&mut text, suites, |row| Some(&row.report));
    text +=
        "\n## Scripts of our own\n\nThey cover what the page claims, and run with the tests.\n\n";
    table(&mut text, own, false);
    text
}

/// The heading of what [`beside`] writes.
pub const BESIDE: &str = "\n## Our stacks and a kernel, beside each other\n";

/// What the page says of a kernel called `name`, behind all else: it depends on the
/// machine. Scripts of SCTP do not count, which no kernel here speaks.
pub fn beside(suites: &[Row], own: &[Row], name: &str) -> String {
    let of_tcp = |rows: &[Row]| -> Vec<Row> {
        rows.iter().filter(|row| !row.is_of_sctp()).cloned().collect()
    };
    let (suites, own) = (of_tcp(suites), of_tcp(own));
    let mut text = format!("{BESIDE}\n{} `{name}`.\n\n", KERNEL.trim_end());
    table(&mut text, &suites, true);
    text += &format!("\n{}\n", total("With our stacks ", &suites, |row| Some(&row.report)));
    text += &format!("{}\n", total("With the kernel ", &suites, |row| row.kernel.as_ref()));
    text += "\n### What the kernel fails, and how\n\nThose in italics pass with our stacks.\n\n";
    failures(&mut text, &suites, |row| row.kernel.as_ref());
    text += "\n### What does not apply to the kernel, and why\n\n";
    reasons(&mut text, &suites, |row| row.kernel.as_ref());
    text += "\n### Scripts of our own, with the kernel\n\n";
    table(&mut text, &own, true);
    text += "\n";
    failures(&mut text, &own, |row| row.kernel.as_ref());
    text
}

type Of = fn(&Row) -> Option<&Report>;

/// How many pass, of those that apply.
fn total(begin: &str, rows: &[Row], of: Of) -> String {
    let mut count = Count::default();
    rows.iter().filter_map(of).for_each(|report| count.add(&report.verdict));
    let Count { passed, failed, not_applicable } = count;
    format!(
        "{begin}{passed} of the {} scripts that apply pass; {not_applicable} of all {} do not apply.",
        passed + failed,
        rows.len()
    )
}

fn failures(text: &mut String, rows: &[Row], of: Of) {
    *text += "| suite | script | what |\n|---|---|---|\n";
    for row in rows {
        let what = match of(row).map(|it| &it.verdict) {
            Some(Verdict::Failed(it)) => format!("line {}: {}", it.pos.line, it.what),
            Some(Verdict::Unreadable(error)) => error.clone(),
            _ => continue,
        };
        let Listed { suite, path, .. } = &row.listed;
        let mark = if row.report.passed() { "*" } else { "" };
        _ = writeln!(text, "| {suite} | {mark}{path}{mark} | {} |", cell(&what));
    }
}

fn reasons(text: &mut String, rows: &[Row], of: Of) {
    *text += "| suite | scripts | reason |\n|---|---|---|\n";
    let mut reasons: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for row in rows {
        if let Some(Verdict::NotApplicable(reason)) = of(row).map(|it| &it.verdict) {
            *reasons.entry((&row.listed.suite, reason)).or_default() += 1;
        }
    }
    for ((suite, reason), count) in reasons {
        _ = writeln!(text, "| {suite} | {count} | {} |", cell(reason));
    }
}

const HEAD: &str = "\
# Conformance

What public packetdrill scripts say of our TCP and SCTP, run by `anabranch drill` in virtual
time: those of TCP under the `linux` profile, those of SCTP and those that name sysctls of
FreeBSD under `freebsd`, and where a script of another suite has variants and that one does not
pass, under the other system's. Written by `make conformance SUITES=INDEX:INDEX`; do not edit.
The scripts are third-party data and not part of the project; a script passes when every packet,
return value and assertion of it is as written, within its tolerance of time.

How the interpreter reads a script: options are compared in order but for padding; where a
script expects one packet of several segments, PSH is not compared, since offloading hardware
sets it there; commands are understood as settings and never executed; of what they check,
states of sockets are, and counters are where the stack keeps them. The suite nplab is run with
a receive buffer of 4 MB, whose window scale of 6 it expects. Of SCTP, parameters of INIT and
INIT ACK, lists of types and the streams of FORWARD-TSN are compared as sets: each system has an
order of its own, and FreeBSD writes a stream once for each chunk that it gives up.

";

const KERNEL: &str = "\
The same scripts, run by the same interpreter against the TCP and Multipath TCP of a running Linux
in real time (`--against kernel`), over IPv4; one that fails was run three times. A kernel fails
scripts that were written for another version of it, or for parts that it was built without: where
`net.core.rmem_max`, which is the whole machine's, is 4 MiB, the window scale is at least 7, and the
scripts of nplab expect 6. This one was
";

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn table(text: &mut String, rows: &[Row], with_kernel: bool) {
    let mut counts: BTreeMap<(&str, &str), (Count, Count)> = BTreeMap::new();
    for Row { listed, report, kernel } in rows {
        let (ours, kernels) = counts.entry((&listed.suite, &listed.category)).or_default();
        ours.add(&report.verdict);
        kernel.iter().for_each(|report| kernels.add(&report.verdict));
    }
    *text += match with_kernel {
        false => "| suite | category | passed | failed | not applicable |\n|---|---|---|---|---|\n",
        true => {
            "| suite | category | ours: passed | failed | not applicable | kernel: passed | failed \
             | not applicable |\n|---|---|---|---|---|---|---|---|\n"
        }
    };
    for ((suite, category), (ours, kernels)) in counts {
        _ = write!(text, "| {suite} | {category} | {}", ours.cells());
        if with_kernel {
            _ = write!(text, " | {}", kernels.cells());
        }
        *text += " |\n";
    }
}
