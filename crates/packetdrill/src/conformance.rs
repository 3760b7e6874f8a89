//! The page of conformance: what came of suites of scripts, by suite and
//! category.

mod why;

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
    /// The system whose stack the script is about.
    pub subject: Subject,
    /// The report with our stacks.
    pub report: Report,
    /// The report with the kernel, where it was asked.
    pub kernel: Option<Report>,
    /// The report with usrsctp, where it was asked.
    pub usrsctp: Option<Report>,
}

/// Whose stack a script is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// TCP and Multipath TCP, as Linux has them.
    Linux,
    /// TCP as FreeBSD has it.
    FreeBsd,
    /// SCTP, of whatever system.
    Sctp,
}

impl Subject {
    /// Finds what the script `text` is about.
    pub fn of(text: &str) -> Subject {
        match Profile::at_home(text) {
            _ if text.contains("sctp") || text.contains("IPPROTO_SCTP") => Subject::Sctp,
            Profile::FreeBsd => Subject::FreeBsd,
            _ => Subject::Linux,
        }
    }
}

/// Other stacks than ours, where there are some.
#[derive(Clone, Copy, Debug, Default)]
pub struct Others<'a> {
    /// The running kernel, for the scripts of [`Subject::Linux`].
    pub kernel: Option<&'a Against>,
    /// usrsctp, for those of [`Subject::Sctp`].
    pub usrsctp: Option<&'a Against>,
}

/// Times that a script is run that the kernel fails: in real time another program may be in the
/// way.
const ATTEMPTS: u32 = 3;
/// Scripts that are run in real time at once.
const AT_ONCE: usize = 2;

/// Runs the scripts as the systems that they were written on, with what their
/// suites take for granted; reports call them by their path in the suite. The `others` run
/// those that are about them, too.
pub fn run_suites(scripts: &[Listed], others: Others<'_>) -> Vec<Row> {
    let kernel = in_order(scripts, AT_ONCE, |listed| {
        let kernel = others.kernel.filter(|_| subject_of(listed) == Subject::Linux)?;
        Some(run_on(kernel, listed))
    });
    let rows = scripts.iter().zip(kernel).map(|(listed, kernel)| {
        let subject = subject_of(listed);
        let usrsctp = others.usrsctp.filter(|_| subject == Subject::Sctp).map(|usrsctp| {
            run_as_home(listed, Drill { against: usrsctp.clone(), ..Drill::new(None) })
        });
        let report = run_as_home(listed, Drill::new(None));
        Row { listed: listed.clone(), subject, report, kernel, usrsctp }
    });
    rows.collect()
}

fn subject_of(listed: &Listed) -> Subject {
    Subject::of(&read(&listed.file).unwrap_or_default())
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

/// Counts of a group's scripts by their verdicts.
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
    table(&mut text, suites, &[("", ours)]);
    text += &format!("\n{}\n", total("", suites, ours));
    text += "\n## What fails, how, and why\n\n";
    failures(&mut text, suites, ours, Why::Said);
    text += "\n## What does not apply, and why\n\n";
    reasons(&mut text, suites, ours);
    text +=
        "\n## Scripts of our own\n\nThey cover what the page claims, and run with the tests.\n\n";
    table(&mut text, own, &[("", ours)]);
    text
}

/// The heading of what [`beside`] writes.
pub const BESIDE: &str = "\n## Our stacks and others, beside each other\n";

/// What the page says of a kernel called `kernel` and of the version `library` of usrsctp, behind all
/// else: it depends on the machine.
pub fn beside(suites: &[Row], own: &[Row], kernel: &str, library: &str) -> String {
    let mut text =
        format!("{BESIDE}\n{}", OTHERS.replace("KERNEL", kernel).replace("LIBRARY", library));
    let columns: [(&str, Of); 3] = [("ours", ours), ("kernel", of_kernel), ("usrsctp", of_usrsctp)];
    let compared: Vec<Row> =
        suites.iter().filter(|row| row.subject != Subject::FreeBsd).cloned().collect();
    table(&mut text, &compared, &columns);
    text += "\n";
    for (name, of, subject) in
        [("the kernel", of_kernel as Of, Subject::Linux), ("usrsctp", of_usrsctp, Subject::Sctp)]
    {
        let rows: Vec<Row> = suites.iter().filter(|row| row.subject == subject).cloned().collect();
        text += &format!("{}\n", total("With our stacks ", &rows, ours));
        text += &format!("{}\n\n", total(&format!("With {name} "), &rows, of));
    }
    for (name, of) in [("the kernel", of_kernel as Of), ("usrsctp", of_usrsctp)] {
        text += &format!("### What {name} fails, and how\n\n");
        text += "Those in italics pass with our stacks.\n\n";
        failures(&mut text, suites, of, Why::Open);
        text += &format!("\n### What does not apply to {name}, and why\n\n");
        reasons(&mut text, suites, of);
        text += "\n";
    }
    text += "### Scripts of our own, with other stacks\n\n";
    table(&mut text, own, &columns);
    for (name, of) in [("The kernel", of_kernel as Of), ("usrsctp", of_usrsctp)] {
        text += &format!("\n{name} fails:\n\n");
        failures(&mut text, own, of, Why::Open);
    }
    text
}

type Of = fn(&Row) -> Option<&Report>;

fn ours(row: &Row) -> Option<&Report> {
    Some(&row.report)
}

fn of_kernel(row: &Row) -> Option<&Report> {
    row.kernel.as_ref()
}

fn of_usrsctp(row: &Row) -> Option<&Report> {
    row.usrsctp.as_ref()
}

/// Makes the sentence that says how many scripts pass, of those that apply.
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

/// Whether a table of failures says why.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    Said,
    Open,
}

fn failures(text: &mut String, rows: &[Row], of: Of, why: Why) {
    *text += match why {
        Why::Said => "| suite | script | what | why |\n|---|---|---|---|\n",
        Why::Open => "| suite | script | what |\n|---|---|---|\n",
    };
    for row in rows {
        let what = match of(row).map(|failure| &failure.verdict) {
            Some(Verdict::Failed(failure)) => {
                format!("line {}: {}", failure.pos.line, failure.what)
            }
            Some(Verdict::Unreadable(error)) => error.clone(),
            _ => continue,
        };
        let Listed { suite, path, .. } = &row.listed;
        let mark = if row.report.passed() { "*" } else { "" };
        _ = write!(text, "| {suite} | {mark}{path}{mark} | {} |", cell(&what));
        *text += &match why {
            Why::Said => format!(" {} |\n", why::why(path)),
            Why::Open => "\n".to_owned(),
        };
    }
}

fn reasons(text: &mut String, rows: &[Row], of: Of) {
    *text += "| suite | scripts | reason |\n|---|---|---|\n";
    let mut reasons: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for row in rows {
        if let Some(Verdict::NotApplicable(reason)) = of(row).map(|report| &report.verdict) {
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

const OTHERS: &str = "\
The same scripts, run by the same interpreter against two other stacks. A `-` stands where a stack was not
asked: neither speaks the other's protocols.

- **kernel**: TCP and Multipath TCP of a running Linux in real time (`--against kernel`), over IPv4; one
  that fails was run three times. A kernel fails scripts that were written for another version of it, or for
  parts that it was built without: where `net.core.rmem_max`, which is the whole machine's, is 4 MiB, the
  window scale is at least 7, and the scripts of nplab expect 6. This one was `KERNEL`.
- **usrsctp**: FreeBSD's SCTP as a library (`--against usrsctp`), in virtual time, without IP below it. This
  one was `LIBRARY`. It is older than some of the scripts.

";

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// A line for each category, and three columns for each stack that was asked.
fn table(text: &mut String, rows: &[Row], columns: &[(&str, Of)]) {
    let mut counts: BTreeMap<(&str, &str), Vec<Option<Count>>> = BTreeMap::new();
    for row in rows {
        let key = (row.listed.suite.as_str(), row.listed.category.as_str());
        let counts = counts.entry(key).or_insert_with(|| vec![None; columns.len()]);
        for (count, (_, of)) in counts.iter_mut().zip(columns) {
            if let Some(report) = of(row) {
                count.get_or_insert_default().add(&report.verdict);
            }
        }
    }
    *text += "| suite | category |";
    for (name, _) in columns {
        let before = if name.is_empty() { String::new() } else { format!("{name}: ") };
        _ = write!(text, " {before}passed | failed | not applicable |");
    }
    *text += &format!("\n|---|---|{}\n", "---|---|---|".repeat(columns.len()));
    for ((suite, category), counts) in counts {
        _ = write!(text, "| {suite} | {category} |");
        for count in counts {
            let cells = count.map_or("- | - | -".into(), |count| count.cells());
            _ = write!(text, " {cells} |");
        }
        *text += "\n";
    }
}
