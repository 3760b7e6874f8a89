//! What a window algorithm costs: one bulk flow, for profilers and for docs/your-algorithm.md.
//!
//! `cargo run --release -p anabranch-plugin --example cost -- WINDOW MEGABYTES`, where `WINDOW` is a name or the path of
//! a library.

use anabranch_congestion::MakeWindow;
use anabranch_custom::{Found, Options};
use anabranch_scenario::{Library, RunOptions, Scenario, run};
use std::error::Error;

struct Libraries;

impl Library for Libraries {
    fn window(&self, name: &str, options: &Options) -> Result<Found<MakeWindow>, String> {
        anabranch_plugin::find(name, "", options)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let window = arguments.next().unwrap_or_else(|| "reno".into());
    let size = arguments.next().unwrap_or_else(|| "300".into());
    let text = format!(
        r#"
        hosts = ["a", "b"]
        links = [{{ ends = ["a", "b"], rate = "1 Gbit/s", delay = "5 ms", queue = {{ limit = "500 packets" }} }}]

        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        size = "{size} MB"
        tcp = {{ window = {window:?}, receive_buffer = "16 MiB" }}
        "#
    );
    let mut scenario = Scenario::from_toml(&text, "scenario")?;
    scenario.bind(&Libraries)?;
    let result = run(&scenario, &RunOptions::default())?;
    let (run, acks) = (&result.run, result.links.iter().map(|link| link.counters.received).min());
    println!(
        "{window}: {} packet-hops, {} ACKs, {:.3} CPU s",
        run.packet_hops,
        acks.unwrap_or(0),
        run.cpu_s
    );
    Ok(())
}
