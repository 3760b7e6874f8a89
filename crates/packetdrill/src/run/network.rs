//! Between which addresses a script runs, by its options.

use crate::script::Script;
use crate::stack::{IpVersion, Network};
use std::str::FromStr;

/// What the options of `script` say, and `instead` where they say nothing.
///
/// # Errors
/// The option that has no such value.
pub(super) fn of(script: &Script, instead: Network) -> Result<Network, String> {
    let mut network = instead;
    for option in &script.options {
        let value = option.value.as_deref().unwrap_or_default();
        let unknown = || format!("the option {} = {value}", option.name);
        match option.name.as_str() {
            "ip_version" => network.version = IpVersion::from_name(value).ok_or_else(unknown)?,
            "local_ip" => network.local = Some(parsed(value).ok_or_else(unknown)?),
            "remote_ip" => network.remote = Some(parsed(value).ok_or_else(unknown)?),
            "mtu" => network.mtu = Some(parsed(value).ok_or_else(unknown)?),
            _ => {}
        }
    }
    Ok(network)
}

fn parsed<T: FromStr>(value: &str) -> Option<T> {
    value.parse().ok()
}
