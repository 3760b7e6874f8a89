//! Sysctls: FreeBSD's are variables of usrsctp, which has them from there.

use super::program::{Ask, Request};
use super::run::Run;
use anabranch_packetdrill::stack::Configured;
use anabranch_units::Time;

/// Sysctls that the library calls otherwise.
const OTHERWISE: [(&str, &str); 3] = [
    ("incoming_streams", "nr_incoming_streams"),
    ("outgoing_streams", "nr_outgoing_streams"),
    ("maxburst", "max_burst"),
];

/// Applies the setting `name` of a script to usrsctp.
pub(super) fn configure(run: &mut Run, name: &str, value: &str) -> Configured {
    let Some(name) = name.strip_prefix("net.inet.sctp.") else {
        return match name {
            "route.mtu" => mtu(run, value),
            // What a suite sets for all of its scripts, those of TCP among them.
            name if name.starts_with("net.ipv4.tcp_") => Configured::Done,
            _ => Configured::Unknown,
        };
    };
    let first = value.split_whitespace().next().unwrap_or_default();
    let Ok(value) = first.parse::<u32>() else { return Configured::Unknown };
    let (name, value) = match name {
        "auth_disable" => ("auth_enable", u32::from(value == 0)),
        name => (name, value),
    };
    let found = OTHERWISE.iter().find(|(known, _)| *known == name);
    let name = found.map_or(name, |(_, name)| name);
    let numbers = [value.into(), 0, 0];
    let request = Request { numbers, octets: name.as_bytes(), ..Request::of(Ask::Sysctl, -1) };
    match run.ask(Time::ZERO, request) {
        Ok(reply) if reply.error == 0 => Configured::Done,
        // What it does not have is off.
        Ok(_) if value == 0 => Configured::Done,
        Ok(_) => Configured::Unknown,
        Err(reason) => Configured::NotApplicable(reason),
    }
}

fn mtu(run: &mut Run, value: &str) -> Configured {
    match value.parse::<u32>() {
        Ok(mtu) => {
            run.set_mtu(mtu);
            Configured::Done
        }
        Err(_) => Configured::Unknown,
    }
}
