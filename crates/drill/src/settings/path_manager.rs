//! What `ip mptcp` and the helpers of the MPTCP suite set.
//!
//! | command | becomes |
//! |---|---|
//! | `ip mptcp endpoint flush` | no further address |
//! | `ip mptcp endpoint add IP [id N] [port N] FLAGS` | that address |
//! | `ip mptcp limits set add_addr_accepted N subflows N` | those limits |
//! | `client.sh` | announced addresses are used, 8 subflows |
//! | `server.sh` | one more address, announced |
//! | `multi-ep.sh [-e N] [-m signal\|subflow\|fullmesh] [-b]` | N more |

use super::done;
use crate::host::Host;
use crate::network::Addresses;
use anabranch_live::LiveError;
use anabranch_live::kernel::mptcp::{BACKUP, FULL_MESH, SIGNAL, SUBFLOW};
use anabranch_live::kernel::{Endpoint, PathManager};
use anabranch_packetdrill::stack::Configured;
use std::net::IpAddr;
use std::str::FromStr;

/// The most that the kernel allows of each.
const MOST: u32 = 8;

/// Applies a command of `ip mptcp` or of a helper, given as words.
pub(super) fn configure(host: &mut Host, addresses: &mut Addresses, text: &str) -> Configured {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some(first) = words.first() else { return Configured::Done };
    let after = |word: &str| {
        let at = words.iter().position(|found| *found == word)?;
        words.get(at + 1).copied()
    };
    match first.rsplit('/').next().unwrap_or(first) {
        "client.sh" => limit(host, MOST, MOST),
        "server.sh" => add_further(host, addresses, 1, SIGNAL),
        "multi-ep.sh" => {
            let count = number(after("-e")).unwrap_or(1);
            let kind = match after("-m") {
                Some("subflow") => SUBFLOW,
                Some("fullmesh") => SUBFLOW | FULL_MESH,
                _ => SIGNAL,
            };
            let backup = if words.contains(&"-b") { BACKUP } else { 0 };
            add_further(host, addresses, count, kind | backup)
        }
        _ if words.contains(&"limits") => {
            let (accepted, subflows) = (after("add_addr_accepted"), after("subflows"));
            limit(host, number(accepted).unwrap_or(0), number(subflows).unwrap_or(2))
        }
        _ if words.contains(&"flush") => manage(host, PathManager::flush),
        _ if words.contains(&"endpoint") => {
            let Some(ip) = number::<IpAddr>(after("add")) else { return Configured::Unknown };
            addresses.learn(ip);
            let flags = flags_of(&words);
            let (id, port) = (number(after("id")), number(after("port")));
            let device = after("dev").map(|_| host.device);
            manage(host, move |manager| manager.add(&Endpoint { ip, id, flags, device, port }))
        }
        _ => Configured::Unknown,
    }
}

fn number<T: FromStr>(word: Option<&str>) -> Option<T> {
    word?.parse().ok()
}

fn flags_of(words: &[&str]) -> u32 {
    let flags =
        [("signal", SIGNAL), ("subflow", SUBFLOW), ("backup", BACKUP), ("fullmesh", FULL_MESH)];
    flags.iter().filter(|(name, _)| words.contains(name)).map(|(_, flag)| flag).sum()
}

/// Asks something of the namespace's path manager.
fn manage(
    host: &Host,
    ask: impl FnOnce(&mut PathManager) -> Result<(), LiveError> + Send + 'static,
) -> Configured {
    done(host.inside(move || ask(&mut PathManager::open()?)).and_then(|done| done))
}

fn limit(host: &Host, accepted: u32, subflows: u32) -> Configured {
    manage(host, move |manager| manager.limit(accepted, subflows))
}

/// Gives the host so many of its further addresses, and allows as many subflows as
/// there can be.
fn add_further(host: &mut Host, addresses: &Addresses, count: u32, flags: u32) -> Configured {
    let limited = limit(host, MOST, MOST);
    if limited != Configured::Done {
        return limited;
    }
    for n in 0..count {
        let Some(ip) = addresses.further_local(n) else {
            return Configured::NotApplicable(format!("{count} further addresses"));
        };
        let device = host.device;
        if let Err(error) = host.netlink.address(device, ip) {
            return Configured::NotApplicable(error.to_string());
        }
        let endpoint = Endpoint { ip, id: None, flags, device: Some(device), port: None };
        let added = manage(host, move |manager| manager.add(&endpoint));
        if added != Configured::Done {
            return added;
        }
    }
    Configured::Done
}
