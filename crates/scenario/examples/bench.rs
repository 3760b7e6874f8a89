//! Runs one speed workload, for profilers: no Python in between.
//!
//! `cargo run --release -p anabranch-scenario --example bench -- long-flow`
//!
//! `long-flow=2` shortens it to two simulated seconds, for instruction counts.

use anabranch_scenario::bench::{WORKLOADS, measure_size};
use std::process::ExitCode;

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        for workload in WORKLOADS {
            println!("{:22} {}", workload.name, workload.summary);
        }
    }
    for name in names {
        let (name, size) = match name.split_once('=') {
            None => (name.as_str(), None),
            Some((workload, size)) => match size.parse() {
                Ok(size) => (workload, Some(size)),
                Err(error) => {
                    eprintln!("size {size:?} of {workload}: {error}");
                    return ExitCode::from(2);
                }
            },
        };
        match measure_size(name, size) {
            Ok(measurements) => {
                for m in measurements {
                    let speed = m.packet_hops as f64 / m.cpu_s / 1e6;
                    let (name, variant) = (m.workload, m.variant);
                    println!(
                        "{name} {variant}: {:.2} simulated s in {:.3} CPU s, {} packet-hops, \
                     {speed:.3} M packet-hops per core-second, peak {:.1} MiB",
                        m.sim_s,
                        m.cpu_s,
                        m.packet_hops,
                        m.peak_memory as f64 / (1 << 20) as f64
                    );
                    for (name, value) in m.extra {
                        println!("  {name} = {value:.2}");
                    }
                }
            }
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
