//! packetdrill scripts against other stacks: the kernel that runs, in real time, and usrsctp.
//!
//! The interpreter is that of `packetdrill`, which knows no clock. A
//! [`KernelStack`] is the [`Stack`](anabranch_packetdrill::stack::Stack) that
//! it runs a script against: a network namespace of its own with a TUN device,
//! whose packets are the script's; socket calls made there by a thread of
//! their own, so that one that blocks keeps nobody else waiting; and the
//! monotonic clock. Commands of a script are settings here too, and none is
//! executed: sysctls of the namespace, metrics of its route, its queue
//! discipline, and addresses of MPTCP's path manager.
//!
//! The namespace is held by descriptors alone: it goes with the process, however
//! that ends, and nothing of it reaches the machine's own network.
//!
//! A [`UsrsctpStack`] holds that library in a process of its own, and lives in the script's time.
//!
//! This is a crate of its own because `live`, on which scenarios depend, has no
//! use for scripts, and `packetdrill`, which runs in virtual time anywhere, none
//! for a kernel or a compiler.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod counters;
pub mod differential;
#[cfg(target_os = "linux")]
mod errno;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod info;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod settings;
#[cfg(target_os = "linux")]
mod stack;
#[cfg(target_os = "linux")]
mod usrsctp;
#[cfg(target_os = "linux")]
mod worker;

#[cfg(target_os = "linux")]
pub use stack::KernelStack;
#[cfg(target_os = "linux")]
pub use usrsctp::UsrsctpStack;

use anabranch_packetdrill::runner::Against;

/// The kernel that runs, as what scripts are run against.
///
/// # Errors
/// What the machine lacks, and what would help.
#[cfg(target_os = "linux")]
pub fn kernel() -> Result<Against, String> {
    KernelStack::probe().map_err(|error| error.to_string())?;
    Ok(Against::new(|_profile| Ok(Box::new(KernelStack::new()))))
}

/// usrsctp, as what scripts are run against.
///
/// # Errors
/// What the machine lacks, and what would help.
#[cfg(target_os = "linux")]
pub fn usrsctp() -> Result<Against, String> {
    UsrsctpStack::probe()?;
    Ok(Against::new(|_profile| Ok(Box::new(UsrsctpStack::new()))))
}

/// Refuses, since only Linux has this stack.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn usrsctp() -> Result<Against, String> {
    Err("usrsctp can be drilled on Linux alone".into())
}

/// Refuses, since only Linux has this stack.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn kernel() -> Result<Against, String> {
    Err("the running kernel can be drilled on Linux alone".into())
}
