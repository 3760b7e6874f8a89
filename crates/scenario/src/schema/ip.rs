//! `ip`: the Internet protocol of all addresses. From and to TOML.
//!
//! With 6 the header has 20 octets more (RFC 8200 §3): links charge them, and
//! what is not said of segments is chosen for them, `tcp.mss` as 1440 octets
//! and `sctp.ip_header` as 40.

use crate::InputError;
use crate::fields::Fields;
use anabranch_wire::AddressBook;
use toml::{Table, Value};

/// Which Internet protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ip {
    /// Version 4; addresses from 10.0.0.1 on.
    #[default]
    V4,
    /// Version 6; addresses from `fd00:616e:6162::1` on.
    V6,
}

impl Ip {
    pub(super) fn read(f: &Fields<'_>) -> Result<Ip, InputError> {
        match f.integer::<i64>("ip", i64::MIN..=i64::MAX)? {
            None | Some(4) => Ok(Ip::V4),
            Some(6) => Ok(Ip::V6),
            Some(_) => Err(f.error("ip", "4, 6")),
        }
    }

    pub(super) fn write(self) -> Value {
        Value::Integer(if self == Ip::V6 { 6 } else { 4 })
    }

    /// What the nodes have on the wire.
    pub fn book(self) -> AddressBook {
        match self {
            Ip::V4 => AddressBook::new(),
            Ip::V6 => AddressBook::dense_ipv6(),
        }
    }

    /// Octets of a header beyond those of IPv4.
    pub fn beyond(self) -> u32 {
        if self == Ip::V6 { 20 } else { 0 }
    }
}

/// Where a scenario over IPv6 does not say it: segments that fit.
pub(super) fn fitted(table: &Table) -> Table {
    let mut table = table.clone();
    let flows = table.get_mut("flows").and_then(Value::as_array_mut);
    for flow in flows.into_iter().flatten().filter_map(Value::as_table_mut) {
        let (part, field, value) = match flow.get("protocol").and_then(Value::as_str) {
            Some("sctp") => ("sctp", "ip_header", Value::Integer(40)),
            _ => ("tcp", "mss", Value::from("1440 B")),
        };
        let part = flow.entry(part).or_insert_with(|| Value::Table(Table::new()));
        if let Some(options) = part.as_table_mut() {
            options.entry(field).or_insert(value);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use crate::schema::{Protocol, Scenario};

    fn scenario(ip: &str, options: &str) -> Result<Scenario, crate::InputError> {
        let text = format!(
            "{ip}\nhosts = [\"a\", \"b\"]\n\
             links = [{{ ends = [\"a\", \"b\"], rate = \"10 Mbit/s\", delay = \"5 ms\" }}]\n\
             flows = [{{ name = \"f\", from = \"a\", to = \"b\", size = \"1 MB\", {options} }}]"
        );
        Scenario::from_toml(&text, "t")
    }

    #[test]
    fn segments_fit_into_packets_of_either_protocol() {
        for (ip, options, mss) in [
            ("", "tcp = {}", 1460),
            ("ip = 4", "tcp = {}", 1460),
            ("ip = 6", "tcp = {}", 1440),
            ("ip = 6", "protocol = \"tcp\"", 1440),
            ("ip = 6", "tcp = { mss = \"1000 B\" }", 1000),
        ] {
            let it = scenario(ip, options).unwrap();
            let Protocol::Tcp(config) = &it.flows[0].protocol else { panic!("{options}") };
            assert_eq!(config.mss, mss, "{ip} {options}");
            assert_eq!(Scenario::from_toml(&it.resolved_toml(), "t").unwrap(), it);
        }
        let it = scenario("ip = 6", "protocol = \"sctp\"").unwrap();
        let Protocol::Sctp(spec) = &it.flows[0].protocol else { panic!() };
        assert_eq!(spec.config.ip_header, 40);
        let error = scenario("ip = 5", "tcp = {}").unwrap_err().to_string();
        assert!(error.contains("`ip`") && error.contains("allowed: 4, 6"), "{error}");
    }

    /// 100 segments of 1440 octets with 72 of headers each (timestamps) take
    /// what the link needs for packets of 1500 and not of 1480 octets.
    #[test]
    fn links_charge_the_longer_header() {
        let times = ["ip = 4", "ip = 6"].map(|ip| {
            let it = scenario(ip, "tcp = { mss = \"1440 B\", timestamps = false }").unwrap();
            let result = crate::run(&it, &crate::RunOptions::default()).unwrap();
            let forward = result.links[0].counters;
            (forward.bytes_delivered, forward.delivered)
        });
        let [(four, packets), (six, same)] = times;
        assert_eq!(packets, same);
        assert_eq!(six - four, 20 * packets);
    }
}
