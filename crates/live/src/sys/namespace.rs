//! Network namespaces, and the user namespace that lets others than root have
//! them. A namespace is held by a descriptor alone: when the process ends, for
//! whatever reason, the kernel takes it down with its devices.

use crate::LiveError;
use crate::error::Doing;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs;
use std::os::fd::{AsFd, OwnedFd};

/// A network namespace of our own.
#[derive(Debug)]
pub struct Namespace {
    link: OwnedFd,
}

impl Namespace {
    /// Makes an empty one.
    ///
    /// # Errors
    /// [`LiveError::Missing`] when this needs root.
    pub fn new() -> Result<Namespace, LiveError> {
        let make = || {
            unshare(UnshareFlags::NEWNET)?;
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            open("/proc/thread-self/ns/net", flags, Mode::empty())
        };
        // In a thread of its own, which ends: the caller stays where it is.
        let made = std::thread::scope(|scope| scope.spawn(make).join());
        let made = made.expect("making a namespace does not panic");
        made.map(|link| Namespace { link }).map_err(|error| match error {
            Errno::PERM => LiveError::Missing {
                what: "a network namespace",
                error: error.into(),
                remedy: user_namespace_remedy(),
            },
            Errno::NOSPC => LiveError::Missing {
                what: "a network namespace",
                error: error.into(),
                remedy: "raise the limit in /proc/sys/user/max_net_namespaces".into(),
            },
            _ => LiveError::System { what: "a network namespace".into(), error: error.into() },
        })
    }

    /// Holds the same namespace once more.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn try_clone(&self) -> std::io::Result<Namespace> {
        self.link.try_clone().map(|link| Namespace { link })
    }

    /// Does `work` inside, in a thread of its own.
    ///
    /// # Errors
    /// Those of `work`, and of the way in.
    pub fn inside<R: Send>(
        &self,
        work: impl FnOnce() -> Result<R, LiveError> + Send,
    ) -> Result<R, LiveError> {
        let enter_and_work = || {
            self.enter()?;
            work()
        };
        std::thread::scope(|scope| match scope.spawn(enter_and_work).join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }

    /// Moves the calling thread in, for good.
    ///
    /// # Errors
    /// The kernel's.
    pub fn enter(&self) -> Result<(), LiveError> {
        move_into_link_name_space(self.link.as_fd(), Some(LinkNameSpaceType::Network))
            .doing("moving into a network namespace")
    }
}

/// What keeps an ordinary user from a network namespace.
fn user_namespace_remedy() -> String {
    remedy_by(|path| fs::read_to_string(path).ok())
}

/// Finds the settings that forbid namespaces in what `read` gives for files, and says what would
/// help.
fn remedy_by(read: impl Fn(&str) -> Option<String>) -> String {
    const FORBIDDEN: [(&str, &str); 4] = [
        ("/proc/sys/user/max_user_namespaces", "0"),
        ("/proc/sys/user/max_net_namespaces", "0"),
        // Of Debian's kernels, and of Ubuntu's, which let users have namespaces
        // without any rights in them.
        ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
    ];
    let is = |(path, value): &&(&str, &str)| read(path).is_some_and(|text| text.trim() == *value);
    match FORBIDDEN.iter().find(is) {
        Some((path, value)) => format!("run as root: {path} is {value}"),
        None => "run as root, or where the kernel lets users have user namespaces".into(),
    }
}

/// Moves the whole process, which must have a single thread, into a user
/// namespace in which it is root: where the kernel allows that, it may then make
/// network namespaces. Nothing happens when it is root already.
///
/// # Errors
/// [`LiveError::Missing`] when the kernel does not allow it.
pub fn enter_user_namespace() -> Result<(), LiveError> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    if user == 0 {
        return Ok(());
    }
    unshare(UnshareFlags::NEWUSER).map_err(|error| LiveError::Missing {
        what: "a user namespace",
        error: error.into(),
        remedy: user_namespace_remedy(),
    })?;
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {user} 1")),
        ("gid_map", format!("0 {group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| LiveError::Missing {
            what: "rights in a user namespace",
            error,
            remedy: user_namespace_remedy(),
        })?;
    }
    Ok(())
}

fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: the table of descriptors is not among the flags.
    #[expect(unsafe_code, reason = "unsafe only with UnshareFlags::FILES, which no caller gives")]
    unsafe {
        unshare_unsafe(flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_forbids_namespaces_is_named() {
        for (file, value, said) in [
            (
                "user/max_user_namespaces",
                "0\n",
                "run as root: /proc/sys/user/max_user_namespaces is 0",
            ),
            (
                "kernel/unprivileged_userns_clone",
                "0\n",
                "run as root: /proc/sys/kernel/unprivileged_userns_clone is 0",
            ),
            (
                "kernel/apparmor_restrict_unprivileged_userns",
                "1\n",
                "run as root: /proc/sys/kernel/apparmor_restrict_unprivileged_userns is 1",
            ),
            (
                "kernel/unprivileged_userns_clone",
                "1\n",
                "run as root, or where the kernel lets users",
            ),
            ("user/max_net_namespaces", "100\n", "run as root, or where the kernel lets users"),
        ] {
            let read = |path: &str| (path == format!("/proc/sys/{file}")).then(|| value.to_owned());
            let remedy = remedy_by(read);
            assert!(remedy.starts_with(said), "{remedy}");
        }
    }
}
