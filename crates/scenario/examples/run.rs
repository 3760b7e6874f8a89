//! Runs a scenario file and prints its flows: the smallest use of the crate.
//!
//! `cargo run --release -p anabranch-scenario --example run -- examples/two-hosts.toml [KEY=VALUE…]`

use anabranch_scenario::{RunOptions, Scenario, load, run};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((file, changes)) = arguments.split_first() else {
        eprintln!("usage: run SCENARIO.toml [KEY=VALUE…]");
        return ExitCode::from(2);
    };
    let scenario = load(Path::new(file)).and_then(|t| Scenario::with_overrides(&t, file, changes));
    let scenario = match scenario {
        Ok(scenario) => scenario,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match run(&scenario, &RunOptions { trace_hash: true, ..RunOptions::default() }) {
        Ok(result) => {
            for f in &result.flows {
                let finish = f.finish_s.map_or("-".to_owned(), |s| format!("{s:.6}"));
                let mbps = f.goodput_bps / 1e6;
                println!(
                    "{}: {:.6} s to {finish} s, {} B, {mbps:.3} Mbit/s, {} retransmitted, {} timeouts",
                    f.flow, f.start_s, f.bytes, f.retransmitted_packets, f.timeouts
                );
            }
            let r = &result.run;
            println!(
                "{} events, {} hops, {:.3} s CPU, trace {:016x}",
                r.events,
                r.packet_hops,
                r.cpu_s,
                r.trace_hash.unwrap_or(0)
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
