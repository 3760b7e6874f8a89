//! A process namespace (pid_namespaces(7)) for a program and all that it
//! starts: when its first process ends, the kernel kills the rest, whatever has
//! become of us. That first process is a copy of ours that waits for the
//! program; it is killed when the thread that watches it dies.

use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

/// Puts what `command` starts into a process namespace of its own, where the
/// kernel lets us have one, and has it killed with the calling thread, which
/// must start nothing else.
pub fn confine(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    #[expect(unsafe_code, reason = "unsafe only with UnshareFlags::FILES, which is not given")]
    // SAFETY: the table of descriptors is not among the flags.
    let confined = unsafe { unshare_unsafe(UnshareFlags::NEWPID) }.is_ok();
    #[expect(unsafe_code, reason = "std has no safe way to do something before exec")]
    // SAFETY: between fork and exec only system calls are made, and nothing allocates.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if confined { divide() } else { Ok(()) }
        });
    }
}

/// The program, for the handler of the first process's signals.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

/// In the first process of the namespace: returns in a child, which will be the
/// program, and stays behind to wait for it.
#[expect(unsafe_code, reason = "processes are libc's")]
fn divide() -> io::Result<()> {
    // SAFETY: strings that end with a zero and live for ever; null where the
    // kernel takes none. Without a /proc of its own (a failure here) the program
    // sees the numbers of all processes, which is no harm.
    unsafe {
        if libc::unshare(libc::CLONE_NEWNS) == 0 {
            let (none, flags) = (std::ptr::null(), libc::MS_REC | libc::MS_PRIVATE);
            libc::mount(none, c"/".as_ptr(), none, flags, none.cast());
            let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
            let proc = c"proc".as_ptr();
            libc::mount(proc, c"/proc".as_ptr(), proc, flags, none.cast());
        }
    }
    // Not libc's fork, before which libraries of the process may do things.
    // SAFETY: this process has a single thread: it was forked itself.
    match unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(()),
        program => wait_for(program as libc::pid_t),
    }
}

/// Ends as the program does; until then buries what its children leave behind.
#[expect(unsafe_code, reason = "processes are libc's")]
fn wait_for(program: libc::pid_t) -> ! {
    PROGRAM.store(program, Ordering::Relaxed);
    // SAFETY: the handler calls only what signal handlers may. Descriptors are
    // closed because nobody but the program is to hold them: std waits for the
    // end of a pipe. `status` outlives the calls.
    unsafe {
        let handler = forward as extern "C" fn(libc::c_int) as libc::sighandler_t;
        libc::signal(libc::SIGTERM, handler);
        libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32);
        let mut status = 0;
        loop {
            let ended = libc::waitpid(-1, &mut status, 0);
            if ended == program {
                let by_signal = libc::WIFSIGNALED(status);
                let code = if by_signal {
                    128 + libc::WTERMSIG(status)
                } else {
                    libc::WEXITSTATUS(status)
                };
                libc::_exit(code);
            }
            if ended < 0 && *libc::__errno_location() != libc::EINTR {
                libc::_exit(127);
            }
        }
    }
}

#[expect(unsafe_code, reason = "signals are libc's")]
extern "C" fn forward(signal: libc::c_int) {
    // SAFETY: a system call.
    unsafe {
        libc::kill(PROGRAM.load(Ordering::Relaxed), signal);
    }
}
