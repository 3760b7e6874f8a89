//! What a test needs of the machine: a program, a device, a right.
//!
//! A test whose need is not met says so, past the test runner's capture, with how to meet it,
//! and passes; where `CI` is set nothing may be skipped but what `CI_MAY_LACK` names, with commas
//! between, and it fails.

use std::fmt::Display;
use std::io::Write;
use std::process::{Command, Stdio};

/// Whether `tshark` is installed.
pub fn tshark() -> bool {
    let mut ask = Command::new("tshark");
    let ask = ask.arg("--version").stdin(Stdio::null()).output();
    let missing = match ask {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(output.status.to_string()),
        Err(error) => Some(error.to_string()),
    };
    met("tshark", "apt-get install tshark", missing)
}

/// This machine holds live runs, as `probe` says.
pub fn live<E: Display>(probe: Result<(), E>) -> bool {
    let how = "run as root on Linux with /dev/net/tun";
    met("network namespaces and TUN", how, probe.err())
}

/// This machine has usrsctp and a compiler for the program that holds it, as `probe` says.
pub fn usrsctp<E: Display>(probe: Result<(), E>) -> bool {
    met("usrsctp", "apt-get install libusrsctp-dev gcc libc6-dev", probe.err())
}

/// Nothing is `missing` of `what`; else the test is skipped.
///
/// # Panics
/// Something is missing, `CI` is set and `CI_MAY_LACK` does not name it.
pub fn met(what: &str, how: &str, missing: Option<impl Display>) -> bool {
    let Some(missing) = missing else { return true };
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let said = format!("{test} needs {what}: {missing} ({how})");
    let may_lack = std::env::var("CI_MAY_LACK").unwrap_or_default();
    let skips = std::env::var_os("CI").is_none() || may_lack.split(',').any(|split| split == what);
    assert!(skips, "continuous integration skips nothing: {said}");
    // What is printed by macros is shown for tests that fail alone.
    _ = writeln!(std::io::stderr(), "SKIPPED: {said}");
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_met() {
        assert!(met("nothing", "", None::<&str>));
        assert!(live(Ok::<(), String>(())));
    }
}
