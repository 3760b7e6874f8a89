//! Many scripts: from files to reports, on several threads.

use crate::host::Host;
use crate::parse::{Definitions, parse};
use crate::profile::Profile;
use crate::report::{Report, Traced, Verdict};
use crate::run::{Settings, run};
use crate::stack::Stack;
use crate::suites::{Listed, read};
use anabranch_wire::pcapng::{Snap, Writer};
use std::fmt;
use std::io::{self, Write};
use std::panic::RefUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What scripts are run against: what makes a stack for each, or says why it
/// cannot.
#[derive(Clone)]
pub struct Against(Arc<Maker>);

type Maker = dyn Fn(Profile) -> Result<Box<dyn Stack>, String> + Send + Sync + RefUnwindSafe;

impl Against {
    /// The stacks that `make` makes.
    pub fn new(
        make: impl Fn(Profile) -> Result<Box<dyn Stack>, String> + Send + Sync + RefUnwindSafe + 'static,
    ) -> Against {
        Against(Arc::new(make))
    }

    /// The project's own stacks.
    pub fn ours() -> Against {
        Against::new(|profile| Ok(Box::new(Host::new(profile))))
    }
}

impl fmt::Debug for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Against")
    }
}

/// What a drill is made with.
#[derive(Clone, Debug)]
pub struct Drill {
    /// What the scripts are run against.
    pub against: Against,
    /// The stack's defaults; `None` for those of the system where the protocol of
    /// a script is at home ([`Profile::at_home`]). A script that tests for
    /// systems and does not pass is then run as the other system, too.
    pub profile: Option<Profile>,
    /// Symbols that are defined beside those of the profile.
    pub definitions: Definitions,
    /// Settings with which scripts are run.
    pub settings: Settings,
}

impl Drill {
    /// A drill of `profile` without more.
    pub fn new(profile: impl Into<Option<Profile>>) -> Drill {
        let (definitions, settings) = (Definitions::new(), Settings::default());
        Drill { against: Against::ours(), profile: profile.into(), definitions, settings }
    }

    /// Runs the script `text` that is called `name`.
    pub fn text(&self, name: &str, text: &str) -> Report {
        if let Some(profile) = self.profile {
            return self.text_as(profile, profile.symbol(), name, text);
        }
        let home = Profile::at_home(text);
        let report = self.text_as(home, home.symbol(), name, text);
        if report.passed() || !text.contains("#ifdef") {
            return report;
        }
        let other = match home {
            // Branches of TCP for FreeBSD are all that such a script is about.
            Profile::FreeBsd if !text.contains("IPPROTO_SCTP") => return report,
            Profile::FreeBsd => self.text_as(Profile::Linux, Profile::Linux.symbol(), name, text),
            // Some scripts can be read for one system alone.
            _ => self.text_as(home, Profile::FreeBsd.symbol(), name, text),
        };
        let read = !matches!(other.verdict, Verdict::Unreadable(_));
        match matches!(report.verdict, Verdict::Unreadable(_)) && read || other.passed() {
            true => other,
            false => report,
        }
    }

    /// Runs `text` with the defaults of `profile`, and `symbol` for `#ifdef`.
    fn text_as(&self, profile: Profile, symbol: Option<&str>, name: &str, text: &str) -> Report {
        let mut definitions = self.definitions.clone();
        if let Some(symbol) = symbol {
            definitions.entry(symbol.into()).or_default();
        }
        let script = match parse(name, text, &definitions) {
            Ok(script) => script,
            Err(error) => return Report::unreadable(name, error),
        };
        match (self.against.0)(profile) {
            Ok(mut stack) => run(&script, &mut *stack, &self.settings),
            Err(error) => Report::unreadable(name, format_args!("{name}: {error}")),
        }
    }

    /// Runs the script in a file.
    pub fn file(&self, listed: &Listed) -> Report {
        let name = listed.file.to_string_lossy();
        match read(&listed.file) {
            Ok(text) => self.text(&name, &text),
            Err(error) => Report::unreadable(&name, format_args!("{name}: {error}")),
        }
    }

    /// Runs them all on up to `jobs` threads; the reports are in order.
    pub fn all(&self, scripts: &[Listed], jobs: usize) -> Vec<Report> {
        in_order(scripts, jobs, |script| self.file(script))
    }
}

/// What `run` makes of each script, on up to `jobs` threads; the results are in order.
pub(crate) fn in_order<T: Send>(
    scripts: &[Listed],
    jobs: usize,
    run: impl Fn(&Listed) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<T>>> = scripts.iter().map(|_| Mutex::default()).collect();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, scripts.len().max(1)) {
            scope.spawn(|| {
                while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed))
                    && let (Some(script), Some(slot)) = (scripts.get(at), results.get(at))
                {
                    let result = run(script);
                    *slot.lock().expect("a slot is locked once") = Some(result);
                }
            });
        }
    });
    let result = |slot: Mutex<Option<T>>| {
        let result = slot.into_inner().expect("a run that panicked was passed on");
        result.expect("every script was run")
    };
    results.into_iter().map(result).collect()
}

/// Writes the packets of a run as pcapng.
///
/// # Errors
/// Those of `out`.
pub fn write_trace<W: Write>(report: &Report, out: W) -> io::Result<W> {
    let mut writer = Writer::new(out)?;
    let interface = writer.add_interface("stack", Snap::Whole)?;
    for Traced { time, packet, .. } in &report.trace {
        writer.packet_value(interface, *time, packet, &report.addresses)?;
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: &str = "0 < S 7:7(0) win 100\n+0 > R. 0:0(0) ack 1";

    fn drill() -> Drill {
        let settings = Settings { trace: true, ..Settings::default() };
        Drill { settings, ..Drill::new(Profile::Rfc) }
    }

    #[test]
    fn a_trace_is_a_capture_with_both_directions() {
        let report = drill().text("refused", REFUSED);
        assert!(report.passed(), "{report}");
        let octets = write_trace(&report, Vec::new()).unwrap();
        assert_eq!(report.trace.len(), 2);
        assert_eq!(octets[..4], 0x0a0d_0d0a_u32.to_le_bytes());
    }

    /// A script for one system alone passes as that system.
    #[test]
    fn without_a_profile_a_script_runs_where_it_is_at_home_or_else_as_the_other() {
        let refused = |symbol: &str| format!("{REFUSED}\n#ifdef {symbol}\n+0 what\n#endif\n");
        assert!(Drill::new(None).text("linux", &refused("Linux")).passed());
        assert!(Drill::new(None).text("bsd", &refused("FreeBSD")).passed());
        assert!(!Drill::new(Profile::Linux).text("linux", &refused("Linux")).passed());
        let sctp = "0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3\n#ifdef Linux\n+0 what\n#endif";
        assert_eq!(Profile::at_home(sctp), Profile::FreeBsd);
        assert!(Drill::new(None).text("sctp", sctp).passed());
    }

    #[test]
    fn reports_are_in_the_order_of_the_scripts_with_any_number_of_threads() {
        let folder = std::env::temp_dir().join(format!("drill-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for n in 0..20 {
            let text = if n % 3 == 0 { "0 what" } else { REFUSED };
            std::fs::write(folder.join(format!("{n:02}.pkt")), text).unwrap();
        }
        let scripts = crate::suites::list(&folder).unwrap();
        let verdicts = |jobs| -> Vec<Verdict> {
            drill().all(&scripts, jobs).into_iter().map(|report| report.verdict).collect()
        };
        let (one, four) = (verdicts(1), verdicts(4));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(one.len(), 20);
        assert_eq!(one, four);
        assert!(matches!(one[3], Verdict::Unreadable(_)) && one[4] == Verdict::Passed);
    }
}
