//! Options of runs: what the dataclasses of `python/anabranch/options.py` say, field by
//! field.

#[cfg(target_os = "linux")]
use anabranch_scenario::live::LiveOptions;
use anabranch_scenario::{CaptureEnd, CaptureOptions, RunOptions, Snap};
use pyo3::prelude::*;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// `RunOptions`: one run in virtual time.
#[derive(FromPyObject)]
pub(crate) struct Run {
    seed: Option<u64>,
    replication: u64,
    pcap: Option<PathBuf>,
    capture: Capture,
    trace_hash: bool,
    check: bool,
    cores: usize,
}

impl From<Run> for RunOptions {
    fn from(run: Run) -> RunOptions {
        let Run { seed, replication, pcap, capture, trace_hash, check, cores } = run;
        let (capture, divide_always) = (capture.into(), false);
        RunOptions { seed, replication, pcap, capture, trace_hash, check, cores, divide_always }
    }
}

/// `CaptureOptions`: which packets a capture has, and how much of them.
#[derive(FromPyObject)]
struct Capture {
    places: Vec<String>,
    /// `sender`, `receiver` or `both`: the dataclass refuses everything else.
    end: String,
    /// `None`: without payload that is only a length; 0: everything.
    snaplen: Option<u32>,
}

impl From<Capture> for CaptureOptions {
    fn from(capture: Capture) -> CaptureOptions {
        let snap = match capture.snaplen {
            None => Snap::Headers,
            Some(most) => NonZeroU32::new(most).map_or(Snap::Whole, Snap::Octets),
        };
        let end = match capture.end.as_str() {
            "receiver" => CaptureEnd::Receiver,
            "both" => CaptureEnd::Both,
            _ => CaptureEnd::Sender,
        };
        CaptureOptions { places: capture.places, end, snap }
    }
}

/// `BatchOptions`: the replications `first..first + replications` on `jobs` threads (0: one per
/// core).
#[derive(FromPyObject)]
pub(crate) struct Batch {
    pub(crate) seed: Option<u64>,
    pub(crate) replications: u64,
    pub(crate) first: u64,
    pub(crate) jobs: usize,
    pub(crate) trace_hash: bool,
}

/// `LiveOptions`: one run in real time, stopped after `limit_s`.
#[cfg(target_os = "linux")]
#[derive(FromPyObject)]
pub(crate) struct Live {
    seed: Option<u64>,
    pcap: Option<PathBuf>,
    capture: Capture,
    programs: Vec<(String, String)>,
    logs: PathBuf,
    command: Option<String>,
    pub(crate) limit_s: Option<f64>,
}

#[cfg(target_os = "linux")]
impl From<Live> for LiveOptions {
    fn from(live: Live) -> LiveOptions {
        let Live { seed, pcap, capture, programs, logs, command, limit_s: _ } = live;
        LiveOptions { seed, pcap, capture: capture.into(), programs, logs, command }
    }
}
