//! Explores all cases, or those whose names contain an argument, and prints what was searched.
//!
//! `cargo run --release -p anabranch-explore --example explore -- --states 10000000`
//!
//! `--faults N` bounds the faults of a run (2), `--states N` the states of all cases together;
//! `--replay SCHEDULE` prints the trace of one run of the only case that is named.

use anabranch_explore::{Bounds, Schedule, cases};
use std::process::ExitCode;

struct Wanted {
    faults: usize,
    states: usize,
    findings: usize,
    replay: Option<Schedule>,
    names: Vec<String>,
    list: bool,
    verbose: bool,
}

fn wanted() -> Result<Wanted, String> {
    let mut wanted = Wanted {
        faults: 2,
        states: 1_000_000,
        findings: 1,
        replay: None,
        names: Vec::new(),
        list: false,
        verbose: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = |name: &str| {
            let value = words.next().unwrap_or_default();
            value.parse().map_err(|_| format!("{name} {value:?}: allowed: a number"))
        };
        match word.as_str() {
            "--faults" => wanted.faults = number("--faults")?,
            "--states" => wanted.states = number("--states")?,
            "--findings" => wanted.findings = number("--findings")?,
            "--list" => wanted.list = true,
            "--verbose" => wanted.verbose = true,
            "--replay" => {
                let text = words.next().unwrap_or_default();
                wanted.replay = Some(text.parse().map_err(|error| format!("--replay {error}"))?);
            }
            _ if word.starts_with("--") => return Err(format!("there is no option {word}")),
            _ => wanted.names.push(word),
        }
    }
    Ok(wanted)
}

fn explore(wanted: &Wanted) -> Result<bool, String> {
    let mut all = cases::all();
    all.retain(|item| {
        wanted.names.is_empty() || wanted.names.iter().any(|n| item.name().contains(n))
    });
    if wanted.list {
        all.iter().for_each(|item| println!("{}", item.name()));
        return Ok(true);
    }
    if let Some(schedule) = &wanted.replay {
        let exact = all.iter().find(|item| wanted.names.iter().any(|name| item.name() == name));
        let case = exact.ok_or("--replay needs the whole name of a case")?;
        let replay = case.replay(schedule);
        print!("{}", replay.trace);
        println!("{:?}", replay.verdict);
        if !replay.is_whole {
            println!("not all faults of the schedule could happen");
        }
        return Ok(true);
    }
    let (mut states, mut runs, mut findings) = (0, 0, 0);
    let (mut reported, mut deepest) = (0, 0);
    for (n, case) in all.iter().enumerate() {
        // What some cases did not need is left for those that follow.
        let share = (wanted.states.saturating_sub(states)) / (all.len() - n);
        let bounds = Bounds { faults: wanted.faults, states: share, findings: wanted.findings };
        let report = case.explore(bounds);
        if wanted.verbose || !report.findings.is_empty() {
            println!("{report}");
        }
        for finding in &report.findings {
            println!(
                "FOUND {} --replay {:?}\n  {}",
                report.case,
                finding.schedule.to_string(),
                finding.what
            );
        }
        findings += report.findings.len();
        states += report.states;
        runs += report.levels.iter().map(|level| level.runs).sum::<u64>();
        reported += report.reported;
        deepest = deepest.max(report.deepest);
    }
    println!(
        "{} cases, {states} states, {runs} runs, at most {} faults, {deepest} steps, {reported} ended with a reason, {findings} findings",
        all.len(),
        wanted.faults
    );
    Ok(findings == 0)
}

fn main() -> ExitCode {
    match wanted().and_then(|wanted| explore(&wanted)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("explore: {error}");
            ExitCode::from(2)
        }
    }
}
