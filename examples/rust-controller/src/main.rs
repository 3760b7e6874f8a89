//! Runs a scenario in which one flow has the controller of [`scalable`], beside
//! one with Reno, and prints what each got.
//!
//!     cargo run --release -p rust-controller
//!     cargo run --release -p rust-controller -- --live
//!
//! Live, which needs root on Linux, the receivers are the kernel's.

mod scalable;

use anabranch_congestion::MakeWindow;
use anabranch_custom::{Found, OptionValue, Options};
use anabranch_scenario::{Library, RunOptions, RunResult, Scenario, run};
use scalable::Scalable;
use std::error::Error;
use std::sync::Arc;

const SCENARIO: &str = r#"
    duration = "20 s"
    hosts = ["a1", "a2", "b1", "b2"]
    routers = ["r1", "r2"]
    links = [
        { ends = ["r1", "r2"], rate = "20 Mbit/s", delay = "20 ms", queue = { limit = "80 packets" } },
        { ends = ["a1", "r1"], rate = "100 Mbit/s", delay = "1 ms" },
        { ends = ["a2", "r1"], rate = "100 Mbit/s", delay = "1 ms" },
        { ends = ["r2", "b1"], rate = "100 Mbit/s", delay = "1 ms" },
        { ends = ["r2", "b2"], rate = "100 Mbit/s", delay = "1 ms" },
    ]
    flows = [
        { name = "mine", from = "a1", to = "b1", tcp = { window = { algorithm = "own:scalable", decrease = 0.125 } } },
        { name = "reno", from = "a2", to = "b2", tcp = { window = "reno" } },
    ]
"#;

/// What the names with a colon mean in scenarios of this program.
struct Own;

impl Library for Own {
    fn window(&self, name: &str, options: &Options) -> Result<Found<MakeWindow>, String> {
        if name != "own:scalable" {
            return Err("own:scalable".into());
        }
        let decrease = match options.get("decrease") {
            None => 0.125,
            Some(OptionValue::Number(it)) if (0.0..1.0).contains(it) => *it,
            Some(_) => return Err("own:scalable with `decrease` from 0 to 1".into()),
        };
        let make: Arc<MakeWindow> = Arc::new(move |_place, initial, ssthresh| {
            Box::new(Scalable::new(initial, ssthresh, decrease))
        });
        // What tells one version of it from another in resolved scenarios.
        let source = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
        Ok(Found { name: name.into(), source: source.into(), make })
    }
}

/// The scenario with kernels at `b1` and `b2`.
fn with_kernels() -> String {
    let kernel = |name: &str| format!("{{ name = \"{name}\", external = true }}");
    let hosts = format!("[\"a1\", \"a2\", {}, {}]", kernel("b1"), kernel("b2"));
    SCENARIO.replace(r#"["a1", "a2", "b1", "b2"]"#, &hosts)
}

#[cfg(target_os = "linux")]
fn live(scenario: &Scenario) -> Result<RunResult, Box<dyn Error>> {
    use anabranch_scenario::live::{LiveOptions, live};
    Ok(live(scenario, &LiveOptions::default(), |_| ())?.result)
}

#[cfg(not(target_os = "linux"))]
fn live(_scenario: &Scenario) -> Result<RunResult, Box<dyn Error>> {
    Err("a live run needs Linux".into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let is_live = std::env::args().any(|argument| argument == "--live");
    let text = if is_live { with_kernels() } else { SCENARIO.to_owned() };
    let mut scenario = Scenario::from_toml(&text, "scenario")?;
    scenario.bind(&Own)?;
    let result = if is_live { live(&scenario)? } else { run(&scenario, &RunOptions::default())? };
    for flow in result.flows {
        println!("{}: {:.2} Mbit/s", flow.flow, flow.goodput_bps / 1e6);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_its_share_of_the_bottleneck() {
        let mut scenario = Scenario::from_toml(SCENARIO, "scenario").unwrap();
        assert!(run(&scenario, &RunOptions::default()).is_err(), "nobody knows the name yet");
        scenario.bind(&Own).unwrap();
        let flows = run(&scenario, &RunOptions::default()).unwrap().flows;
        let total: f64 = flows.iter().map(|it| it.goodput_bps).sum();
        assert!((17e6..20e6).contains(&total), "{total}");
        assert!(flows[0].goodput_bps > flows[1].goodput_bps, "it is the more aggressive one");
    }

    #[test]
    fn wrong_options_are_refused_by_their_field() {
        let text = SCENARIO.replace("decrease = 0.125", "decrease = 2");
        let error = Scenario::from_toml(&text, "scenario").unwrap().bind(&Own).unwrap_err();
        assert_eq!(error.field, "flows[0].tcp.window");
        assert_eq!(error.allowed, "own:scalable with `decrease` from 0 to 1");
    }
}
