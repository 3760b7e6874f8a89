//! Runs each attack of the scenarios in a folder, one at a time and beside none, and
//! writes docs/reliability-attacks.md to standard output: `make attacks`.
//!
//!     cargo run --release -p anabranch-scenario --example attacks -- examples/attacks

use anabranch_scenario::{AttackSpec, RunOptions, RunResult, Scenario, Target, run};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HEAD: &str = "\
# Hostile peers

    make attacks

Each attack of `examples/attacks` ([syn-flood.toml](../examples/attacks/syn-flood.toml) is one) by itself, beside a run
without any: a server with a port that listens to strangers, a long download and 16 short ones of 20 kB at a bottleneck of 20 Mbit/s, 10 s of virtual time.
The attacker begins after 1 or 2 s; its rate is in packets a second, or follows from what it gets. *Long*: goodput of
the long download, which attacks on a flow are against; *closed* where it ended. *Short*: how many of the short ones were
whole, and what one took on average, from the SYN or INIT on. *Attacker*: goodput of a peer that lies. *Memory*: mean of
what the endpoints and ports of the victim took, state and buffers. *Port*: most that handshakes, connections that wait
and strangers took at a time. *Half-open*: most handshakes at a time. Cells are without attack / with it.

What is not blind is not defended by a transport without keys: whoever knows the numbers of a connection (*exact*) can
reset it or write into it, and whoever knows its window and what it has acknowledged (*window*) can put data and FINs
above a gap. RFC 5961 is about the others, for whom the space of numbers is too large (*sweep*, *random*). An ASCONF
is refused unless it is [authenticated](sctp.md). Against optimistic ACKs there is no standard.

In `wraps-sequence` and `wraps-dsn` the victim's numbers go through zero while it is attacked. Timestamps and TSNs count so
slowly that hardly a seed begins near enough to their end: tests of the engines put them there, and show that any series of
hostile segments or chunks does the same wherever numbers begin (`wraps.rs` in `crates/tcp` and `crates/sctp`). Written by
the command above.
";

fn main() -> ExitCode {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "examples/attacks".into());
    match page(Path::new(&folder)) {
        Ok(page) => {
            print!("{page}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("attacks: {error}");
            ExitCode::FAILURE
        }
    }
}

fn page(folder: &Path) -> Result<String, String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let mut page = HEAD.to_owned();
    for path in files {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{shown}: {e}"))?;
        let scenario = Scenario::from_toml(&text, &shown).map_err(|e| e.to_string())?;
        page += &section(&path, &text, &scenario)?;
    }
    Ok(page)
}

/// Runs the attacks of one file, and returns the section about them with its table.
fn section(path: &Path, text: &str, scenario: &Scenario) -> Result<String, String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let about = text.lines().take_while(|line| line.starts_with('#'));
    let about: Vec<&str> = about.map(|line| line.trim_start_matches(['#', ' '])).collect();
    let mut page = format!(
        "\n## {stem}\n\n{}\n\n\
         | attack | rate | long, Mbit/s | short | s each | attacker, Mbit/s | memory, kB | port, kB | half-open | standard |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
        about.join(" ")
    );
    let none = play(scenario, &[])?;
    for attack in &scenario.attacks {
        page += &row(scenario, attack, &none, &play(scenario, std::slice::from_ref(attack))?);
    }
    Ok(page)
}

fn play(scenario: &Scenario, attacks: &[AttackSpec]) -> Result<RunResult, String> {
    let scenario = Scenario { attacks: attacks.to_vec(), ..scenario.clone() };
    run(&scenario, &RunOptions::default()).map_err(|e| e.to_string())
}

fn row(scenario: &Scenario, attack: &AttackSpec, none: &RunResult, with: &RunResult) -> String {
    let info = attack.kind.info();
    let both = |cell: &dyn Fn(&RunResult) -> String| {
        let (before, after) = (cell(none), cell(with));
        if before.is_empty() { after } else { format!("{before} / {after}") }
    };
    let rate = match info.target {
        Target::Peer => String::new(),
        _ => format!("{}", attack.per_second),
    };
    let long = |result: &RunResult| {
        let flow = result.flows.iter().find(|flow| flow.flow == "long");
        flow.map_or_else(String::new, |flow| {
            let wrong = if flow.wrong_octets > 0 { ", wrong octets" } else { "" };
            let ended = flow.closed.map_or_else(String::new, |how| format!(", closed ({how})"));
            format!("{:.2}{ended}{wrong}", flow.goodput_bps / 1e6)
        })
    };
    let shorts = |result: &RunResult| {
        let times = result.flows.iter().filter(|flow| flow.flow.starts_with("short"));
        times.filter_map(|time| Some(time.finish_s? - time.start_s)).collect::<Vec<_>>()
    };
    let mean = |result: &RunResult| {
        let times = shorts(result);
        if times.is_empty() {
            return "none".to_owned();
        }
        format!("{:.2}", times.iter().sum::<f64>() / times.len() as f64)
    };
    let greedy = |result: &RunResult| {
        let named =
            |flow_row: &&anabranch_scenario::FlowRow| Some(&flow_row.flow) == attack.flow.as_ref();
        let flow = result.flows.iter().find(named);
        let peer = info.target == Target::Peer;
        flow.filter(|_| peer)
            .map_or_else(String::new, |flow| format!("{:.2}", flow.goodput_bps / 1e6))
    };
    let victim = attack.to.as_deref().or_else(|| {
        let flow = scenario.flows.iter().find(|flow| Some(&flow.name) == attack.flow.as_ref())?;
        Some(if flow.from == attack.from { &flow.to } else { &flow.from })
    });
    let memory = |result: &RunResult| {
        let row = result.memory.iter().find(|memory| Some(memory.host.as_str()) == victim);
        row.map_or_else(|| "".to_owned(), |row| format!("{:.0}", row.result.mean() / 1e3))
    };
    let port = |result: &RunResult| {
        let most = result.listeners.iter().map(|listener| listener.result.peak_memory).max();
        most.map_or_else(String::new, |most| format!("{:.0}", most as f64 / 1e3))
    };
    let half_open = |result: &RunResult| {
        let most = result.listeners.iter().map(|listener| listener.result.peak_half_open).max();
        most.map_or_else(String::new, |most| most.to_string())
    };
    format!(
        "| {} | {rate} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
        attack.name,
        both(&long),
        both(&|item| shorts(item).len().to_string()),
        both(&mean),
        both(&greedy),
        both(&memory),
        both(&port),
        both(&half_open),
        info.reference
    )
}
