//! What the commands of a script mean to a namespace of the kernel.
//!
//! | setting | becomes |
//! |---|---|
//! | `net.ipv4.tcp_congestion_control` | the one of the route |
//! | `net...` | the file below /proc/sys/net, as the namespace has it |
//! | `sys.module...`, and other files of the whole machine | nothing where they say so already |
//! | `route.advmss`, `mtu`, `initcwnd`, `initrwnd`, `rto_min`, `quickack` | metrics of the route |
//! | `link` `down`, `up` | a queue without room, and the usual one |
//! | `qdisc` | that queue discipline |
//! | `mptcp` | limits and addresses of the path manager: see [`path_manager`] |

mod path_manager;

use crate::host::Host;
use crate::network::Addresses;
use anabranch_live::LiveError;
use anabranch_packetdrill::stack::Configured;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

/// Metrics of a route (`RTAX_...` of linux/rtnetlink.h).
const METRICS: [(&str, u16); 6] = [
    ("route.mtu", 2),
    ("route.advmss", 8),
    ("route.initcwnd", 11),
    ("route.rto_min", 13),
    ("route.initrwnd", 14),
    ("route.quickack", 15),
];

/// Applies the setting `name` of a script to the namespace.
pub(crate) fn configure(
    host: &mut Host,
    addresses: &mut Addresses,
    name: &str,
    value: &str,
) -> Configured {
    if let Some((_, number)) = METRICS.iter().find(|(known, _)| *known == name) {
        let Ok(value) = value.trim_end_matches("ms").parse() else { return Configured::Unknown };
        return done(host.set_metric(addresses, *number, value));
    }
    let device = host.device;
    match name {
        "link" if value == "down" => {
            const NO_ROOM: [u8; 4] = [0; 4];
            done(host.netlink.discipline(device, "pfifo", &NO_ROOM))
        }
        "link" => {
            // The device may have no other than its default.
            _ = host.netlink.default_discipline(device);
            Configured::Done
        }
        "net.ipv4.tcp_congestion_control" => {
            done(host.set_congestion_control(addresses, value.trim()))
        }
        "qdisc" => done(host.netlink.discipline(device, value, &[])),
        "mptcp" => path_manager::configure(host, addresses, value),
        _ => file(host, name, value),
    }
}

fn done(result: Result<(), LiveError>) -> Configured {
    match result {
        Ok(()) => Configured::Done,
        Err(error) => Configured::NotApplicable(error.to_string()),
    }
}

/// The file of a setting, by its name with dots, and whether each namespace has
/// one of its own. `None`: what this is called is no file of the kernel's
/// settings.
fn path_of(name: &str) -> Option<(PathBuf, bool)> {
    let words: Vec<&str> = name.split('.').collect();
    let plain = |word: &&str| {
        let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        !word.is_empty() && word.chars().all(letter)
    };
    if words.len() < 2 || !words.iter().all(plain) {
        return None;
    }
    let below = words.join("/");
    match words[0] {
        "net" => Some((format!("/proc/sys/{below}").into(), true)),
        "sys" => Some((format!("/{below}").into(), false)),
        _ => Some((format!("/proc/sys/{below}").into(), false)),
    }
}

/// Writes a setting of the namespace. One of the whole machine is left as it is:
/// the script applies if it is so already.
fn file(host: &Host, name: &str, value: &str) -> Configured {
    let Some((path, own)) = path_of(name) else { return Configured::Unknown };
    let wanted = value.to_owned();
    let written = host.inside(move || match own {
        true => fs::write(&path, wanted),
        false => fs::read_to_string(&path).and_then(|found| match found.trim() == wanted {
            true => Ok(()),
            false => Err(ErrorKind::PermissionDenied.into()),
        }),
    });
    match written {
        Err(error) => Configured::NotApplicable(error.to_string()),
        Ok(Ok(())) => Configured::Done,
        Ok(Err(error)) if error.kind() == ErrorKind::NotFound => {
            Configured::NotApplicable(format!("{name}, which this kernel does not have"))
        }
        Ok(Err(_)) if !own => {
            Configured::NotApplicable(format!("{name} = {value}, which is the whole machine's"))
        }
        Ok(Err(error)) => Configured::NotApplicable(format!("{name} = {value}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_files_of_settings_and_nowhere_else() {
        let path = |name| path_of(name).map(|(path, own)| (path.display().to_string(), own));
        let sysctl = "/proc/sys/net/ipv4/tcp_ecn".to_owned();
        assert_eq!(path("net.ipv4.tcp_ecn"), Some((sysctl, true)));
        let module = "/sys/module/tcp_cubic/parameters/hystart_detect".to_owned();
        assert_eq!(path("sys.module.tcp_cubic.parameters.hystart_detect"), Some((module, false)));
        assert_eq!(path("kernel.pid_max"), Some(("/proc/sys/kernel/pid_max".to_owned(), false)));
        for name in ["net...kernel.pid_max", "net/../kernel", "net.ipv4 ", "net", "", "tmp"] {
            assert_eq!(path(name), None, "{name}");
        }
    }
}
