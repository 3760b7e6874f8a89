//! What the operating system says about this process.

use super::Measurement;

/// Wall clock and CPU time of the process, for reports only.
pub(super) struct Stopwatch {
    wall: std::time::Instant,
    cpu: cpu_time::ProcessTime,
}

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "measures speed; no simulation sees it")]
    pub(super) fn start() -> Stopwatch {
        // proc(5): 5 resets the high-water mark. Where that is not allowed,
        // the mark is of the whole process.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        Stopwatch { wall: std::time::Instant::now(), cpu: cpu_time::ProcessTime::now() }
    }

    /// What has been used since the start.
    pub(super) fn measurement(
        &self,
        workload: &'static str,
        variant: &'static str,
        sim_s: f64,
        packet_hops: u64,
        extra: Vec<(&'static str, f64)>,
    ) -> Measurement {
        Measurement {
            workload,
            variant,
            sim_s,
            cpu_s: self.cpu.elapsed().as_secs_f64(),
            wall_s: self.wall.elapsed().as_secs_f64(),
            packet_hops,
            peak_memory: status("VmHWM"),
            extra,
        }
    }
}

/// Resident memory in octets; 0 where the system does not tell.
pub(super) fn resident() -> u64 {
    status("VmRSS")
}

/// A field of `/proc/self/status` that is in kB.
fn status(field: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
