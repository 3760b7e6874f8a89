//! Memory of the process, as far as the system tells.

use std::fs::{read_to_string, write};

/// Octets that a run may need beside its buffers: packets under way, queues,
/// tables of routes, observers.
const BESIDE: u64 = 96 << 20;

/// Watches the memory of a run; one run at a time in a process.
pub(crate) struct Watch {
    before: u64,
}

impl Watch {
    /// Watches the memory of the process from now on.
    pub fn start() -> Watch {
        // proc(5): 5 resets the high-water mark.
        let _ = write("/proc/self/clear_refs", "5");
        Watch { before: field("VmRSS") }
    }

    /// Octets that were needed in between, where that is more than allowed
    /// beside `buffers`.
    pub fn excess(&self, buffers: u64) -> Option<u64> {
        let grown = field("VmHWM").saturating_sub(self.before);
        (grown > BESIDE.saturating_add(buffers)).then_some(grown)
    }
}

/// A field of `/proc/self/status` that is in kB; 0 where there is none.
fn field(name: &str) -> u64 {
    let text = read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
