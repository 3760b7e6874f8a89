//! `ip`: the Internet protocol of a scenario, of a host or of an interface. From and to TOML.
//!
//! An address has one family, and a packet that of its destination. Routers have
//! both where interfaces do. With 6 the header has 20 octets more (RFC 8200 §3):
//! links charge them, and what is not said of segments is chosen for them,
//! `tcp.mss` as 1440 octets and `sctp.ip_header` as 40; of an MPTCP flow between
//! hosts that have both, `mptcp.ipv6_mss` as 1440.

use super::form::{Kind, by};
use super::{HostSpec, Scenario};
use crate::InputError;
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_wire::{Addr, AddressBook};
use std::net::Ipv4Addr;
use toml::{Table, Value};

/// The first address of IPv4 unless a scenario says another.
pub(super) const FIRST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// The version of the Internet protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ip {
    /// Version 4; addresses from 10.0.0.1 on, or from [`Scenario::first_ipv4`].
    #[default]
    V4,
    /// Version 6; addresses from `fd00:616e:6162::1` on.
    V6,
}

impl Ip {
    pub(super) fn read(f: &Fields<'_>) -> Result<Option<Ip>, InputError> {
        match f.integer::<i64>("ip", i64::MIN..=i64::MAX)? {
            None => Ok(None),
            Some(4) => Ok(Some(Ip::V4)),
            Some(6) => Ok(Some(Ip::V6)),
            Some(_) => Err(f.error("ip", "4, 6")),
        }
    }

    pub(super) fn write(self) -> Value {
        Value::Integer(if self == Ip::V6 { 6 } else { 4 })
    }
}

/// A field that names a protocol.
pub(super) fn kind() -> impl Kind<Value = Ip> {
    let shape = || Shape::Any([4, 6].map(|ip| Shape::Only(Value::Integer(ip))).into());
    by(shape, |f: &Fields<'_>, _: &'static str| Ip::read(f), |ip: &Ip| ip.write())
}

/// The field `first_ipv4`.
pub(super) fn first() -> impl Kind<Value = Ipv4Addr> {
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(text) = f.text(name)? else { return Ok(None) };
        let allowed = "an address of IPv4 such as \"198.18.0.1\"";
        text.parse().map(Some).map_err(|_| f.error(name, allowed))
    };
    let shape = || Shape::Pattern(r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$");
    by(shape, read, |first: &Ipv4Addr| first.to_string().into())
}

impl Scenario {
    /// The families of all interfaces, in the order of their nodes.
    fn families(&self) -> impl Iterator<Item = Ip> {
        self.hosts.iter().flat_map(|host| host.families.iter().copied())
    }

    /// The family of all interfaces; `None` where there are both.
    pub(crate) fn one_family(&self) -> Option<Ip> {
        let first = self.families().next().unwrap_or(self.ip);
        self.families().all(|ip| ip == first).then_some(first)
    }

    /// What the nodes have on the wire.
    pub(crate) fn book(&self) -> AddressBook {
        let book = match self.one_family() {
            Some(Ip::V4) => AddressBook::new(),
            Some(Ip::V6) => AddressBook::dense_ipv6(),
            None => {
                let all = || (0..).map(Addr).zip(self.families());
                let ipv6 = all().filter(|(_, ip)| *ip == Ip::V6).map(|(addr, _)| addr);
                AddressBook::dual(ipv6, Addr(all().count() as u32))
            }
        };
        book.with_first_ipv4(self.first_ipv4)
    }
}

/// Every node of the scenario has an address that a host can have (RFC 1122 §3.2.1.3, RFC 3927).
pub(super) fn check_first(f: &Fields<'_>, scenario: &Scenario) -> Result<(), InputError> {
    let first = scenario.first_ipv4;
    let nodes = scenario.families().count() + scenario.routers.len();
    let last = u32::from(first).checked_add(nodes as u32).map(Ipv4Addr::from);
    let usable = |ip: Ipv4Addr| {
        let [net, ..] = ip.octets();
        (1..224).contains(&net) && net != 127 && !ip.is_link_local()
    };
    if usable(first) && last.is_some_and(usable) {
        return Ok(());
    }
    let allowed = format!(
        "an address of which {nodes} in a row are those of hosts: not 0.x, 127.x, 169.254.x, or from 224 on"
    );
    Err(f.error("first_ipv4", allowed))
}

/// Finds segments that fit, where a scenario with IPv6 does not say them.
pub(super) fn fitted(table: &Table, hosts: &[HostSpec]) -> Option<Table> {
    let families = || hosts.iter().flat_map(|host| &host.families);
    if !families().any(|ip| *ip == Ip::V6) {
        return None;
    }
    let mut table = table.clone();
    let flows = table.get_mut("flows").and_then(Value::as_array_mut);
    for flow in flows.into_iter().flatten().filter_map(Value::as_table_mut) {
        fit(flow, hosts);
    }
    let ports = table.get_mut("listen").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_table_mut) {
        fit_port(port, hosts);
    }
    Some(table)
}

/// An association at a port may come over IPv6; segments of TCP fit what their peer says.
fn fit_port(port: &mut Table, hosts: &[HostSpec]) {
    let text = |field: &str| port.get(field).and_then(Value::as_str).unwrap_or_default();
    let host = hosts.iter().find(|host| host.name == text("host"));
    let has_v6 = host.is_some_and(|host| host.families.contains(&Ip::V6));
    if text("protocol") == "sctp" && has_v6 {
        set_unless_said(port, "sctp", "ip_header", Value::Integer(40));
    }
}

fn set_unless_said(of: &mut Table, part: &str, field: &str, value: Value) {
    let part = of.entry(part).or_insert_with(|| Value::Table(Table::new()));
    if let Some(options) = part.as_table_mut() {
        options.entry(field).or_insert(value);
    }
}

fn fit(flow: &mut Table, hosts: &[HostSpec]) {
    let text = |field: &str| flow.get(field).and_then(Value::as_str).unwrap_or_default();
    let end = |field: &str| {
        let name = text(field);
        let nodes =
            |host: &&HostSpec| host.name == name || host.nodes().iter().any(|node| node == name);
        hosts.iter().find(nodes).map(|host| (host, name))
    };
    let (Some(from), Some(to)) = (end("from"), end("to")) else { return };
    let both_have = |ip| [from, to].iter().all(|(host, _)| host.families.contains(&ip));
    // Over TCP a host's name means its first interface.
    let first = from.0.nodes().iter().position(|node| node == from.1).unwrap_or(0);
    let fields: &[(&str, &str, Value)] = match text("protocol") {
        "sctp" if both_have(Ip::V6) => &[("sctp", "ip_header", Value::Integer(40))],
        "sctp" | "udp" => &[],
        "mptcp" if both_have(Ip::V6) && both_have(Ip::V4) => {
            let says = flow.get("tcp").and_then(|tcp| tcp.get("mss")).is_some();
            if says { &[] } else { &[("mptcp", "ipv6_mss", Value::from("1440 B"))] }
        }
        "mptcp" if both_have(Ip::V4) => &[],
        "mptcp" => &[("tcp", "mss", Value::from("1440 B"))],
        _ if from.0.families.get(first) == Some(&Ip::V4) => &[],
        _ => &[("tcp", "mss", Value::from("1440 B"))],
    };
    for (part, field, value) in fields {
        set_unless_said(flow, part, field, value.clone());
    }
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
            let scenario = scenario(ip, options).unwrap();
            let Protocol::Tcp(config) = &scenario.flows[0].protocol else { panic!("{options}") };
            assert_eq!(config.mss, mss, "{ip} {options}");
            assert_eq!(Scenario::from_toml(&scenario.resolved_toml(), "t").unwrap(), scenario);
        }
        let found = scenario("ip = 6", "protocol = \"sctp\"").unwrap();
        let Protocol::Sctp(spec) = &found.flows[0].protocol else { panic!() };
        assert_eq!(spec.config.ip_header, 40);
        let error = scenario("ip = 5", "tcp = {}").unwrap_err().to_string();
        assert!(error.contains("`ip`") && error.contains("allowed: 4, 6"), "{error}");
    }

    /// A port's packets of SCTP fit as those of the flow that ends there do.
    #[test]
    fn associations_at_a_port_fit_into_packets_of_ipv6() {
        let port = "listen = [{ host = \"b\", port = 80, protocol = \"sctp\" }]";
        let flow = "protocol = \"sctp\", port = 80, reverse_size = \"100 kB\"";
        let found = scenario(&format!("ip = 6\n{port}"), flow).unwrap();
        let Protocol::Sctp(spec) = &found.listeners[0].protocol else { panic!() };
        assert_eq!(spec.config.ip_header, 40);
        let result = crate::run(&found, &crate::RunOptions::default()).unwrap();
        assert_eq!(result.flows[0].reverse_bytes, 100_000);
    }

    #[test]
    fn addresses_of_ipv4_begin_where_the_scenario_says() {
        let found = scenario("first_ipv4 = \"198.18.0.1\"", "tcp = {}").unwrap();
        assert_eq!(found.book().ip(anabranch_wire::Addr(1)), Some([198, 18, 0, 2].into()));
        assert_eq!(Scenario::from_toml(&found.resolved_toml(), "t").unwrap(), found);
        for (first, allowed) in [
            ("\"x\"", "an address of IPv4 such as \"198.18.0.1\""),
            ("\"127.0.0.1\"", "an address of which 2 in a row are those of hosts"),
            ("\"223.255.255.254\"", "an address of which 2 in a row are those of hosts"),
        ] {
            let error =
                scenario(&format!("first_ipv4 = {first}"), "tcp = {}").unwrap_err().to_string();
            assert!(error.contains("`first_ipv4`") && error.contains(allowed), "{error}");
        }
    }

    /// 100 segments of 1440 octets with 72 of headers each (timestamps) take
    /// what the link needs for packets of 1500 and not of 1480 octets.
    #[test]
    fn links_charge_the_longer_header() {
        let times = ["ip = 4", "ip = 6"].map(|ip| {
            let scenario = scenario(ip, "tcp = { mss = \"1440 B\", timestamps = false }").unwrap();
            let result = crate::run(&scenario, &crate::RunOptions::default()).unwrap();
            let forward = result.links[0].counters;
            (forward.bytes_delivered, forward.delivered)
        });
        let [(four, packets), (six, same)] = times;
        assert_eq!(packets, same);
        assert_eq!(six - four, 20 * packets);
    }
}
