//! Programs that run on hosts outside, each watched by a thread of its own, in
//! the host's namespace. Whatever ends the run ends them, with what they have
//! started: they have a process group and a process namespace, whose first
//! process the kernel kills when their thread dies.

use crate::error::Doing;
use crate::reactor::Reactor;
use crate::sys::init;
use crate::{LiveError, Namespace};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a program reads and writes.
#[derive(Debug)]
pub enum Stdio {
    /// What we do: an interactive shell needs that.
    Inherited,
    /// It reads nothing and writes here.
    Log(File),
}

/// The end of a program: its status, or why it never started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramReport {
    /// Name of the host that it ran on.
    pub host: String,
    /// Command of the program.
    pub command: String,
    /// Exit status, or 128 and the number of the signal that ended it; `None` when it was still
    /// running and we ended it, or never ran.
    pub status: Option<i32>,
    /// Why it could not be started.
    pub failure: Option<String>,
}

/// A program. Dropping it ends it.
#[derive(Debug)]
pub struct Program {
    host: String,
    command: String,
    shared: Arc<Shared>,
    watcher: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    over: AtomicBool,
    /// Its exit status, once it has ended by itself.
    status: Mutex<Option<ExitStatus>>,
    /// Why it could not be started.
    failure: Mutex<Option<String>>,
}

/// Time between two looks of its thread.
const LOOK: Duration = Duration::from_millis(5);
/// What a program has to end by itself when it is told to.
const PATIENCE: Duration = Duration::from_millis(1000);

impl Program {
    /// Starts `command` with the shell in `namespace`, after `delay`.
    ///
    /// # Errors
    /// No thread for it. A command that there is not is an exit status of 127;
    /// what else keeps it from starting is in its report.
    pub fn start(
        namespace: &Arc<Namespace>,
        reactor: &Reactor,
        host: &str,
        command: &str,
        stdio: Stdio,
        delay: Duration,
    ) -> Result<Program, LiveError> {
        let shared = Arc::new(Shared::default());
        let (namespace, reactor, ours) = (namespace.clone(), reactor.clone(), shared.clone());
        let text = command.to_owned();
        let grouped = matches!(stdio, Stdio::Log(_));
        let watch = move || {
            let mut waited = Duration::ZERO;
            while waited < delay && !ours.stop.load(Ordering::Relaxed) {
                std::thread::sleep(LOOK);
                waited += LOOK;
            }
            if !ours.stop.load(Ordering::Relaxed) {
                match spawn(&namespace, &text, stdio) {
                    Ok(child) => ours.watch(child, grouped),
                    Err(error) => ours.fail(&error),
                }
            }
            ours.over.store(true, Ordering::Release);
            reactor.ring();
        };
        let watcher = std::thread::Builder::new().name("program".into()).spawn(watch);
        let watcher = Some(watcher.doing("a thread")?);
        let (host, command) = (host.to_owned(), command.to_owned());
        Ok(Program { host, command, shared, watcher })
    }

    /// Whether the program has ended.
    pub fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Acquire)
    }

    /// Returns the name of its host.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Ends the program if it runs, and reports how it ended.
    pub fn finish(mut self) -> ProgramReport {
        self.end();
        let status = *self.shared.status.lock().expect("watchers do not panic");
        let failure = self.shared.failure.lock().expect("watchers do not panic").take();
        ProgramReport {
            host: std::mem::take(&mut self.host),
            command: std::mem::take(&mut self.command),
            status: status
                .and_then(|status| status.code().or_else(|| Some(128 + status.signal()?))),
            failure,
        }
    }

    fn end(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn fail(&self, error: &LiveError) {
        *self.failure.lock().expect("nobody panics with it") = Some(error.to_string());
    }

    /// Watches the program until it has ended, by itself or because it was told to.
    fn watch(&self, mut child: Child, grouped: bool) {
        while !self.stop.load(Ordering::Relaxed) {
            match child.try_wait() {
                Ok(Some(status)) => {
                    *self.status.lock().expect("nobody panics with it") = Some(status);
                    return;
                }
                Ok(None) => std::thread::sleep(LOOK),
                Err(_) => break,
            }
        }
        let pid = Pid::from_child(&child);
        let send = |signal| match grouped {
            true => kill_process_group(pid, signal),
            false => kill_process(pid, signal),
        };
        let mut left = PATIENCE;
        let _ = send(Signal::TERM);
        while left > Duration::ZERO && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK);
            left = left.saturating_sub(LOOK);
        }
        // Its own children too, be it gone or not.
        let _ = send(Signal::KILL);
        let _ = child.wait();
    }
}

/// One fork at a time: libraries of the process (OpenBLAS, for one) end their
/// own threads before each fork, and some are wrong when two threads fork at once:
/// they join each other's threads, or ours.
static FORKS: Mutex<()> = Mutex::new(());

/// Starts the program from the thread that will watch it: the kernel's signal on a parent's death
/// means the thread.
fn spawn(namespace: &Namespace, text: &str, stdio: Stdio) -> Result<Child, LiveError> {
    namespace.enter()?;
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(text);
    if let Stdio::Log(file) = stdio {
        let copy = file.try_clone().doing("the log of a program")?;
        command.stdin(std::process::Stdio::null()).stdout(copy).stderr(file);
        // In the foreground a program keeps our group, which has the terminal.
        command.process_group(0);
    }
    init::confine(&mut command);
    let _alone = FORKS.lock().expect("nobody panics while forking");
    command.spawn().map_err(|error| LiveError::Program { command: text.to_owned(), error })
}
