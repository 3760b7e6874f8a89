//! The thread of the loop: when it runs, and what it may do.

use super::tun::last_error;
use rustix::process::{Gid, Uid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, set_capabilities, set_current_timer_slack, set_thread_res_gid,
    set_thread_res_uid,
};
use std::num::NonZeroU64;

/// How the kernel schedules the loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheduling {
    /// The loop runs before all ordinary threads (`SCHED_FIFO`).
    Fifo,
    /// The loop runs as any other thread: the kernel allows no more, and packets leave late
    /// whenever others keep the processors busy.
    Normal,
}

impl Scheduling {
    /// Returns the name of the scheduling policy.
    pub fn name(self) -> &'static str {
        match self {
            Scheduling::Fifo => "SCHED_FIFO",
            Scheduling::Normal => "SCHED_OTHER",
        }
    }
}

/// Among real-time threads a low priority: the kernel's own stay before us.
const PRIORITY: libc::c_int = 10;

/// Asks for precise timers and real-time scheduling for the calling thread.
pub fn make_precise() -> Scheduling {
    // Only a hint: without it timers are 50 us coarser.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    match set_fifo() {
        Ok(()) => Scheduling::Fifo,
        Err(_) => Scheduling::Normal,
    }
}

#[expect(unsafe_code, reason = "rustix has no scheduling policies")]
fn set_fifo() -> Result<(), rustix::io::Errno> {
    // All that the kernel's `struct sched_param` has. The C library's may have more, and musl's
    // `sched_setscheduler` refuses: it speaks of processes.
    let priority: libc::c_int = PRIORITY;
    // Threads that this one may start do not inherit the policy.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the parameter outlives the call; 0 is the calling thread.
    let status =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
    if status == 0 { Ok(()) } else { Err(last_error()) }
}

/// Number of the user `nobody`.
const NOBODY: u32 = 65_534;

/// Takes root's rights from the calling thread, if it has them. True when it
/// then has none.
pub fn drop_privileges() -> bool {
    if geteuid().is_root() {
        let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
        let _ = set_thread_res_gid(group, group, group);
        let _ = set_thread_res_uid(user, user, user);
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).is_ok()
}
