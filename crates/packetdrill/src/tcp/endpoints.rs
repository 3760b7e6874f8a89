//! What `ip mptcp` and the helpers of the MPTCP suite set.
//!
//! | command | becomes |
//! |---|---|
//! | `ip mptcp endpoint flush` | no further address |
//! | `ip mptcp endpoint add IP [id N] signal [port N]` | an address that is announced |
//! | `ip mptcp endpoint add IP [id N] subflow` | one that subflows are opened from |
//! | `ip mptcp endpoint del id N` | the address is gone, for connections that there are too |
//! | `ip mptcp endpoint change id N [no]backup` | MP_PRIO on its subflows |
//! | `ip mptcp limits set ... add_addr_accepted N subflows N` | whether announced addresses are used |
//! | `client.sh` | announced addresses are used, 8 subflows |
//! | `server.sh` | one more address, announced |
//! | `multi-ep.sh [-e N] [-m signal\|subflow] [-b]` | N more |

use crate::stack::Configured;
use anabranch_mptcp::PathManager;
use anabranch_socket::MultipathSettings;
use anabranch_wire::Addr;

/// The first of the host's further addresses; those that scripts name `saddr1`
/// and the like on this side too.
const FIRST: u32 = 10;
/// The first of addresses whose IP a command names.
const FIRST_NAMED: u32 = 100;
/// Most endpoints: each has an identifier of 8 bits, and 0 is not one.
const MOST: u32 = 255;

/// What a command changes of connections that there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// The address of this number is gone.
    Remove(u8),
    /// Subflows from the address of this number are backups, or not.
    Backup(u8, bool),
}

/// `endpoint del[ete] id N`, `endpoint change id N [no]backup`.
pub(super) fn change(text: &str) -> Option<Change> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "endpoint")?;
    let id = words.iter().position(|word| *word == "id").and_then(|at| words.get(at + 1));
    let id = id.and_then(|id| id.parse().ok())?;
    match *words.get(at + 1)? {
        "del" | "delete" => Some(Change::Remove(id)),
        "change" if words.contains(&"backup") => Some(Change::Backup(id, true)),
        "change" if words.contains(&"nobackup") => Some(Change::Backup(id, false)),
        _ => None,
    }
}

/// Applies a command of `ip mptcp` or of a helper, given as words.
pub(super) fn configure(settings: &mut MultipathSettings, text: &str) -> Configured {
    let words: Vec<&str> = text.split_whitespace().filter(|word| !word.starts_with("-6")).collect();
    let (program, rest) = match words.split_first() {
        Some((first, rest)) => (first.rsplit('/').next().unwrap_or(first), rest),
        None => return Configured::Done,
    };
    let after = |word: &str| {
        let at = rest.iter().position(|found| *found == word)?;
        rest.get(at + 1).copied()
    };
    match program {
        "client.sh" => settings.config.path_manager = PathManager::Signal,
        "server.sh" => {
            settings.config.path_manager = PathManager::Signal;
            add_free(settings);
        }
        "multi-ep.sh" => {
            let count = after("-e").and_then(|n| n.parse().ok()).unwrap_or(1);
            for _ in 0..count.min(MOST) {
                add_free(settings);
            }
            settings.config.path_manager = match after("-m") {
                Some("subflow") if rest.contains(&"-b") => PathManager::Backup,
                Some("subflow") => PathManager::FullMesh,
                _ => PathManager::Signal,
            };
        }
        _ if words.contains(&"endpoint") => return endpoint(settings, &words),
        _ if words.contains(&"limits") => {
            let accepted = after("add_addr_accepted").and_then(|n| n.parse::<u32>().ok());
            if accepted.is_some_and(|n| n > 0) {
                settings.config.path_manager = PathManager::Signal;
            }
        }
        _ => return Configured::Unknown,
    }
    Configured::Done
}

fn add_free(settings: &mut MultipathSettings) {
    let count = settings.addresses.len() as u32;
    let id = (1..=u8::MAX).find(|id| settings.addresses.iter().all(|(taken, _)| taken != id));
    settings.addresses.extend(id.map(|id| (id, Addr(FIRST + count))));
}

/// `endpoint flush`, `endpoint add IP ...`.
fn endpoint(settings: &mut MultipathSettings, words: &[&str]) -> Configured {
    let after = |word: &str| {
        let at = words.iter().position(|found| *found == word)?;
        words.get(at + 1).copied()
    };
    if words.contains(&"flush") {
        settings.addresses.clear();
        settings.config.announced_ports.clear();
        return Configured::Done;
    }
    let Some(ip) = after("add").and_then(|ip| ip.parse().ok()) else { return Configured::Unknown };
    let addr = Addr(FIRST_NAMED + settings.addresses.len() as u32);
    let known = settings.book.addr(ip);
    if known.is_none() && settings.book.insert(addr, ip).is_err() {
        return Configured::Unknown;
    }
    let next = u8::try_from(settings.addresses.len() + 1).ok();
    let given = after("id").and_then(|id| id.parse().ok());
    let Some(id) = given.or(next) else {
        return Configured::NotApplicable(format!("more than {MOST} addresses"));
    };
    settings.addresses.push((id, known.unwrap_or(addr)));
    let port = after("port").and_then(|port| port.parse().ok());
    settings.config.announced_ports.extend(port.map(|port| (id, port)));
    settings.config.path_manager = match words.contains(&"subflow") {
        true if words.contains(&"backup") => PathManager::Backup,
        true => PathManager::FullMesh,
        false => PathManager::Signal,
    };
    Configured::Done
}
