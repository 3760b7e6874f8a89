//! The speed workloads: what they are, and how they are measured.
//!
//! Speed is packet-hops per CPU second of one core: each link that a data or
//! ACK packet crosses counts one. CPU time is that of the process, building
//! included; peak memory is the process's high-water mark of resident memory
//! since the workload began (`VmHWM`, reset before; 0 where there is no
//! `/proc`).

mod idle;
mod process;
mod workloads;

use crate::{InputError, RunOptions, Scenario, run};
use process::Stopwatch;

/// A speed workload, as `anabranch bench` lists it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workload {
    /// The name that [`measure`] takes.
    pub name: &'static str,
    /// What it simulates, in one phrase.
    pub summary: &'static str,
}

/// The catalogue of all speed workloads.
pub const WORKLOADS: [Workload; 10] = [
    Workload { name: "long-flow", summary: "one bulk flow over 1 Gbit/s, 12 ms one way, 30 s" },
    Workload {
        name: "dumbbell-100",
        summary: "100 flows with SACK over 1 Gbit/s, 20 ms, 1 BDP of queue, 20 s; Reno, then CUBIC",
    },
    Workload {
        name: "fat-tree",
        summary: "128 hosts in a fat-tree, k = 8, 10 Gbit/s, 1 us a hop; a permutation of bulk flows, 20 ms",
    },
    Workload {
        name: "ack-regulator",
        summary: "dumbbell-100 with Reno for 10 s: plain routers, then a regulator of each law at the bottleneck",
    },
    Workload {
        name: "replications",
        summary: "200 transfers of 4 MB over 2 Mbit/s with 2 % loss, on one core",
    },
    Workload { name: "sctp-bulk", summary: "`long-flow` over SCTP" },
    Workload {
        name: "sctp-multihomed",
        summary: "one SCTP flow over two paths of 1 Gbit/s, 12 ms one way, 0.01 % loss on one, 30 s",
    },
    Workload {
        name: "mptcp-2",
        summary: "two flows over a path of 1 Gbit/s, 12 ms one way, each, then one of MPTCP over both, 30 s",
    },
    Workload { name: "mptcp-8", summary: "the same with eight paths of 250 Mbit/s" },
    Workload {
        name: "idle-flows",
        summary: "memory of 100,000 established connections without data",
    },
];

/// The measurement of one form of a workload.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    /// Name of the workload.
    pub workload: &'static str,
    /// Name of the form, where the workload has several; else empty.
    pub variant: &'static str,
    /// Simulated seconds, summed over runs.
    pub sim_s: f64,
    /// CPU seconds of the process.
    pub cpu_s: f64,
    /// Wall-clock seconds of the run.
    pub wall_s: f64,
    /// Links crossed by packets.
    pub packet_hops: u64,
    /// High-water mark of resident memory, octets.
    pub peak_memory: u64,
    /// What else the workload is about, by name.
    pub extra: Vec<(&'static str, f64)>,
}

/// Runs and measures the workload of this name: one measurement a variant.
/// `dumbbell-100-newreno` and `dumbbell-100-cubic` are its variants alone, and
/// so `mptcp-2-tcp`, `mptcp-2-mptcp`, `mptcp-8-tcp` and `mptcp-8-mptcp`.
pub fn measure(workload: &str) -> Result<Vec<Measurement>, InputError> {
    measure_size(workload, None)
}

/// Measures as [`measure`] does, with another size: simulated seconds of `long-flow`,
/// `dumbbell-100`, `ack-regulator`, `sctp-bulk`, `sctp-multihomed`, `mptcp-2` and `mptcp-8`,
/// simulated milliseconds of `fat-tree`, transfers of `replications`, connections of `idle-flows`.
pub fn measure_size(workload: &str, size: Option<u32>) -> Result<Vec<Measurement>, InputError> {
    let in_unit = |unit| size.map(|n| format!("{n} {unit}"));
    let dumbbell = |variant, window| {
        one_run("dumbbell-100", variant, &workloads::dumbbell(window), in_unit("s"))
    };
    let newreno = || dumbbell("newreno", "reno");
    let cubic = || dumbbell("cubic", "cubic");
    Ok(match workload {
        "long-flow" => vec![one_run("long-flow", "", &workloads::long_flow(), in_unit("s"))?],
        "dumbbell-100" => vec![newreno()?, cubic()?],
        "dumbbell-100-newreno" => vec![newreno()?],
        "dumbbell-100-cubic" => vec![cubic()?],
        "sctp-bulk" => vec![one_run("sctp-bulk", "", &workloads::sctp_bulk(), in_unit("s"))?],
        "sctp-multihomed" => {
            vec![one_run("sctp-multihomed", "", &workloads::sctp_multihomed(), in_unit("s"))?]
        }
        "fat-tree" => vec![one_run("fat-tree", "", &workloads::fat_tree(), in_unit("ms"))?],
        "mptcp-2" => subflows("mptcp-2", 2, "1 Gbit/s", size.unwrap_or(30))?,
        "mptcp-8" => subflows("mptcp-8", 8, "250 Mbit/s", size.unwrap_or(30))?,
        "mptcp-2-tcp" => vec![one_of_paths("mptcp-2", 2, "1 Gbit/s", false, size.unwrap_or(30))?],
        "mptcp-2-mptcp" => vec![one_of_paths("mptcp-2", 2, "1 Gbit/s", true, size.unwrap_or(30))?],
        "mptcp-8-tcp" => vec![one_of_paths("mptcp-8", 8, "250 Mbit/s", false, size.unwrap_or(30))?],
        "mptcp-8-mptcp" => {
            vec![one_of_paths("mptcp-8", 8, "250 Mbit/s", true, size.unwrap_or(30))?]
        }
        "ack-regulator" => regulators(size.unwrap_or(10))?,
        "replications" => vec![replications(size.unwrap_or(200).into())?],
        "idle-flows" => vec![idle::measure(size.unwrap_or(100_000) as usize)?],
        _ => {
            let names = WORKLOADS.map(|workload| workload.name).join(", ");
            return Err(InputError::field("workload", workload, names).in_file("bench"));
        }
    })
}

fn one_run(
    workload: &'static str,
    variant: &'static str,
    text: &str,
    duration: Option<String>,
) -> Result<Measurement, InputError> {
    let mut scenario = Scenario::from_toml(text, workload)?;
    if let Some(duration) = duration {
        scenario = scenario.set("duration", &duration)?;
    }
    let watch = Stopwatch::start();
    let result = run(&scenario, &RunOptions::default()).map_err(input_error)?;
    let bytes: u64 = result.flows.iter().map(|flow| flow.bytes).sum();
    let goodput = bytes as f64 * 8.0 / result.run.end_s;
    let extra = vec![("goodput_bps", goodput), ("events", result.run.events as f64)];
    Ok(watch.measurement(workload, variant, result.run.end_s, result.run.packet_hops, extra))
}

/// Flows over disjoint paths, or one with as many subflows.
fn one_of_paths(
    name: &'static str,
    paths: u32,
    rate: &str,
    multipath: bool,
    seconds: u32,
) -> Result<Measurement, InputError> {
    let variant = if multipath { "mptcp" } else { "tcp" };
    let text = workloads::disjoint_paths(paths, rate, multipath);
    one_run(name, variant, &text, Some(format!("{seconds} s")))
}

/// What a hop of Multipath TCP costs beside one of as many TCP connections. The
/// latter are measured before and after, so that a machine that slows down is
/// seen.
fn subflows(
    name: &'static str,
    paths: u32,
    rate: &str,
    seconds: u32,
) -> Result<Vec<Measurement>, InputError> {
    let measured = |multipath| one_of_paths(name, paths, rate, multipath, seconds);
    let mut list = vec![measured(false)?, measured(true)?, measured(false)?];
    list[2].variant = "tcp-again";
    compare(&mut list, |m| m.variant.starts_with("tcp"));
    Ok(list)
}

/// Adds what a hop costs beside the mean of those that `is_plain` tells.
fn compare(list: &mut [Measurement], is_plain: impl Fn(&Measurement) -> bool) {
    let cost = |m: &Measurement| m.cpu_s / m.packet_hops as f64;
    let plain: Vec<f64> = list.iter().filter(|m| is_plain(m)).map(cost).collect();
    let plain = plain.iter().sum::<f64>() / plain.len() as f64;
    for m in list {
        let ratio = cost(m) / plain;
        m.extra.push(("cost_per_hop_to_plain", ratio));
    }
}

/// What a hop costs with regulators in the path, beside plain routers. The plain
/// run is measured before and after, so that a machine that slows down is seen.
fn regulators(seconds: u32) -> Result<Vec<Measurement>, InputError> {
    let measured = |variant, bottleneck: &str| {
        let text = workloads::dumbbell_with("reno", bottleneck);
        one_run("ack-regulator", variant, &text, Some(format!("{seconds} s")))
    };
    let mut list = vec![
        measured("plain", "")?,
        measured("threshold-linear", "regulator = { law = \"threshold-linear\" }\n")?,
        measured("ack-bucket", "regulator = { law = \"ack-bucket\" }\n")?,
        measured("plain-again", "")?,
    ];
    compare(&mut list, |m| m.variant.starts_with("plain"));
    Ok(list)
}

/// Transfers one after the other on one core, each with its own draws.
fn replications(count: u64) -> Result<Measurement, InputError> {
    let scenario = Scenario::from_toml(&workloads::lossy_transfer(), "replications")?;
    let watch = Stopwatch::start();
    let (mut hops, mut sim_s) = (0, 0.0);
    for replication in 0..count {
        let options = RunOptions { replication, ..RunOptions::default() };
        let result = run(&scenario, &options).map_err(input_error)?;
        hops += result.run.packet_hops;
        sim_s += result.run.end_s;
    }
    let mut m = watch.measurement("replications", "", sim_s, hops, Vec::new());
    m.extra.push(("replications", count as f64));
    m.extra.push(("replications_per_core_s", count as f64 / m.cpu_s));
    Ok(m)
}

fn input_error(error: crate::RunError) -> InputError {
    InputError::whole_file("bench", error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_is_a_scenario() {
        let texts = [
            workloads::long_flow(),
            workloads::dumbbell("reno"),
            workloads::dumbbell("cubic"),
            workloads::dumbbell_with("reno", "regulator = { law = \"ack-bucket\" }\n"),
            workloads::lossy_transfer(),
            workloads::fat_tree(),
            workloads::sctp_bulk(),
            workloads::sctp_multihomed(),
        ];
        for text in texts {
            Scenario::from_toml(&text, "bench").unwrap();
        }
    }

    #[test]
    fn replications_and_idle_flows_are_measured() {
        let m = replications(2).unwrap();
        // 4 MB in 1448-octet segments over three links, and its ACKs.
        assert!(m.packet_hops > 2 * 3 * 2700, "{m:?}");
        let m = idle::measure(200).unwrap();
        assert!(
            m.extra.iter().any(|(name, n)| *name == "bytes_per_connection" && *n >= 0.0),
            "{m:?}"
        );
    }

    #[test]
    fn regulators_are_compared_with_plain_routers() {
        let list = regulators(1).unwrap();
        let names: Vec<_> = list.iter().map(|m| m.variant).collect();
        assert_eq!(names, ["plain", "threshold-linear", "ack-bucket", "plain-again"]);
        assert_eq!(list[0].packet_hops, list[3].packet_hops);
        assert!(list.iter().all(|m| m.extra.last().is_some_and(|extra| extra.1 > 0.0)), "{list:?}");
    }

    #[test]
    fn unknown_workloads_are_refused_with_the_known_ones() {
        let said = measure("fast").unwrap_err().to_string();
        assert!(said.contains("value `fast`: allowed: long-flow, "), "{said}");
    }
}
