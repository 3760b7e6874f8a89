//! Hosts: end systems, by name or as a table with what is special about one.

use super::Ip;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_sim::HostConfig;
use anabranch_units::Span;
use toml::{Table, Value};

/// A host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostSpec {
    /// Its name.
    pub name: String,
    /// Names of its interfaces, the first of which is meant where the host is
    /// named; none for a host with a single one, which needs no name.
    pub interfaces: Vec<String>,
    /// What the address of each of its [`nodes`](HostSpec::nodes) is of.
    pub families: Vec<Ip>,
    /// What it does besides passing packets on.
    pub config: HostConfig,
    /// In live runs it is a network namespace with a kernel's own stack.
    pub external: bool,
    /// In live runs segments that it finds together are answered once; at an external host they
    /// are handed over as one.
    pub receive_offload: bool,
}

/// Most interfaces of a host.
const MOST_INTERFACES: usize = 64;

const ALLOWED: &str = "the hosts: names such as \"a\", or tables such as { name = \"a\" }";

impl HostSpec {
    /// A host with nothing special, whose address is of `ip`.
    pub fn named(name: &str, ip: Ip) -> HostSpec {
        HostSpec {
            name: name.to_owned(),
            interfaces: Vec::new(),
            families: vec![ip],
            config: HostConfig::default(),
            external: false,
            receive_offload: true,
        }
    }

    /// The field `hosts`, of a scenario over `ip`.
    pub(super) fn read_all(f: &Fields<'_>, ip: Ip) -> Result<Vec<HostSpec>, InputError> {
        let list = f.get("hosts").and_then(Value::as_array);
        let list = list.ok_or_else(|| f.error("hosts", ALLOWED))?;
        let read = |(i, item): (usize, &Value)| match item {
            Value::String(name) => Ok(HostSpec::named(name, ip)),
            Value::Table(table) => {
                HostSpec::read(&Fields::new(f.path(&format!("hosts[{i}]")), table), ip)
            }
            _ => Err(InputError::field(f.path(&format!("hosts[{i}]")), item, ALLOWED)),
        };
        list.iter().enumerate().map(read).collect()
    }

    fn read(f: &Fields<'_>, ip: Ip) -> Result<HostSpec, InputError> {
        let name = f.required_text("name", "the name of the host")?;
        let ip = Ip::read(f)?.unwrap_or(ip);
        let mut host = HostSpec::named(name, ip);
        if f.get("interfaces").is_some() {
            (host.interfaces, host.families) = read_interfaces(f, ip)?.into_iter().unzip();
        }
        (host.config.receive, host.config.send) = read_processing(f)?;
        host.config.backpressure = f.quantity("backpressure")?;
        host.external = f.boolean("external")?.unwrap_or(false);
        host.receive_offload = f.boolean("receive_offload")?.unwrap_or(true);
        f.finish()?;
        Ok(host)
    }

    /// The names of its nodes: `HOST.INTERFACE` for each interface, or the
    /// host's own.
    pub fn nodes(&self) -> Vec<String> {
        match self.interfaces.as_slice() {
            [] => vec![self.name.clone()],
            all => all.iter().map(|interface| format!("{}.{interface}", self.name)).collect(),
        }
    }

    /// In a scenario over `ip`; the name alone where there is nothing else to say.
    pub(super) fn write(&self, ip: Ip) -> Value {
        if *self == HostSpec::named(&self.name, ip) {
            return self.name.as_str().into();
        }
        let mut table = Table::new();
        table.insert("name".into(), self.name.as_str().into());
        let of_scenario = ip;
        let first = self.families[0];
        let ip =
            if self.families.iter().all(|family| *family == first) { first } else { of_scenario };
        if ip != of_scenario {
            table.insert("ip".into(), ip.write());
        }
        if !self.interfaces.is_empty() {
            let interface = |(name, family): (&String, &Ip)| {
                let name = Value::from(name.as_str());
                if *family == ip {
                    return name;
                }
                let fields = [("name".to_owned(), name), ("ip".to_owned(), family.write())];
                Value::Table(Table::from_iter(fields))
            };
            let all = self.interfaces.iter().zip(&self.families).map(interface).collect();
            table.insert("interfaces".into(), Value::Array(all));
        }
        let HostConfig { receive, send, backpressure } = self.config;
        if (receive, send) != (Span::ZERO, Span::ZERO) {
            let fields = [("receive", receive), ("send", send)];
            let fields = fields.map(|(name, field)| (name.to_owned(), field.write().into()));
            table.insert("processing".into(), Value::Table(Table::from_iter(fields)));
        }
        if let Some(octets) = backpressure {
            table.insert("backpressure".into(), octets.write().into());
        }
        if self.external {
            table.insert("external".into(), true.into());
        }
        if !self.receive_offload {
            table.insert("receive_offload".into(), false.into());
        }
        Value::Table(table)
    }
}

/// The interfaces of a host over `ip`: names, or tables that say another `ip`.
fn read_interfaces(f: &Fields<'_>, ip: Ip) -> Result<Vec<(String, Ip)>, InputError> {
    const ALLOWED: &str =
        "the interfaces: names such as \"x\", or tables such as { name = \"x\", ip = 6 }";
    let list = f.get("interfaces").and_then(Value::as_array);
    let list = list.ok_or_else(|| f.error("interfaces", ALLOWED))?;
    let read = |(i, item): (usize, &Value)| match item {
        Value::String(name) => Ok((name.clone(), ip)),
        Value::Table(table) => {
            let f = Fields::new(f.path(&format!("interfaces[{i}]")), table);
            let name = f.required_text("name", "the name of the interface")?.to_owned();
            let ip = Ip::read(&f)?.unwrap_or(ip);
            f.finish()?;
            Ok((name, ip))
        }
        _ => Err(InputError::field(f.path(&format!("interfaces[{i}]")), item, ALLOWED)),
    };
    let all: Vec<(String, Ip)> = list.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let twice = (1..all.len()).any(|i| all[..i].iter().any(|item| item.0 == all[i].0));
    if twice || !(1..=MOST_INTERFACES).contains(&all.len()) {
        let allowed = format!("1 to {MOST_INTERFACES} names, each once");
        return Err(f.error("interfaces", allowed));
    }
    Ok(all)
}

/// The times to receive and to send a packet: one for both, or a table.
fn read_processing(f: &Fields<'_>) -> Result<(Span, Span), InputError> {
    if let Some(Value::Table(table)) = f.get("processing") {
        let f = Fields::new(f.path("processing"), table);
        let times = (f.quantity("receive")?, f.quantity("send")?);
        f.finish()?;
        return Ok((times.0.unwrap_or_default(), times.1.unwrap_or_default()));
    }
    let allowed = format!("{}, or {{ receive = \"50 us\", send = \"20 us\" }}", Span::ALLOWED);
    let both = f.quantity("processing").map_err(|_| f.error("processing", allowed))?;
    Ok((both.unwrap_or_default(), both.unwrap_or_default()))
}

/// The name of an element of the field `hosts`, before it is read.
pub(crate) fn name_of(item: &Value) -> Option<&str> {
    item.as_str().or_else(|| item.get("name")?.as_str())
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use anabranch_sim::HostConfig;
    use anabranch_units::{Bytes, Span};

    const REST: &str = r#"
        links = [{ ends = ["a", "b"], rate = "1 Mbit/s", delay = "5 ms" }]
    "#;
    const FLOW: &str = r#"flows = [{ name = "f", from = "a", to = "b", size = "1 MB" }]"#;
    const PATTERN: &str = r#"
        [[flows]]
        pattern = "pairs"
        name = "f"
        senders = ["a"]
        receivers = ["b"]
        size = "1 MB"
    "#;

    fn read_with(hosts: &str, flows: &str) -> Result<Scenario, String> {
        let text = format!("hosts = {hosts}{REST}{flows}");
        Scenario::from_toml(&text, "t").map_err(|e| e.to_string())
    }

    fn read(hosts: &str) -> Result<Scenario, String> {
        read_with(hosts, FLOW)
    }

    #[test]
    fn a_table_says_what_a_name_says() {
        let names = read(r#"["a", "b"]"#).unwrap();
        let tables = read(r#"[{ name = "a" }, "b"]"#).unwrap();
        assert_eq!(names, tables);
        assert!(tables.resolved_toml().contains(r#"hosts = ["a", "b"]"#));
        let patterns = read_with(r#"[{ name = "a" }, "b"]"#, PATTERN).unwrap();
        assert_eq!(patterns.flows[0].name, "f-0");
    }

    const TWO_PATHS: &str = r#"
        hosts = [{ name = "a", interfaces = ["x", "y"] }, { name = "b", interfaces = ["x", "y"] }]
        links = [
            { ends = ["a.x", "b.x"], rate = "1 Mbit/s", delay = "5 ms" },
            { ends = ["a.y", "b.y"], rate = "2 Mbit/s", delay = "5 ms" },
        ]
    "#;

    #[test]
    fn interfaces_are_ends_of_links_and_of_flows() {
        let read = |from, to| {
            let flow = format!("from = \"{from}\", to = \"{to}\", size = \"100 kB\"");
            let text = format!("{TWO_PATHS}flows = [{{ name = \"f\", {flow} }}]");
            Scenario::from_toml(&text, "t").map_err(|e| e.to_string())
        };
        let scenario = read("a.y", "b.y").unwrap();
        let names: Vec<_> = scenario.links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["a-x-b-x", "a-y-b-y"]);
        let resolved = scenario.resolved_toml();
        assert_eq!(Scenario::from_toml(&resolved, "t").unwrap(), scenario);
        // Both ways over the interfaces that the flow names, or else the first.
        for (ends, used) in [(("a.y", "b.y"), [false, true]), (("a", "b"), [true, false])] {
            let result = crate::run(&read(ends.0, ends.1).unwrap(), &Default::default()).unwrap();
            assert_eq!(result.flows[0].bytes, 100_000);
            let carried = [0, 2].map(|i| {
                let [there, back] = [i, i + 1].map(|i| result.links[i].counters.delivered > 0);
                assert_eq!(there, back);
                there
            });
            assert_eq!(carried, used);
        }
        for (from, to, expected) in [
            (
                "a.x",
                "b.y",
                "field `flows[0].to`: value `b.y`: allowed: a host that links lead to from a.x: b.x",
            ),
            ("a.x", "a.y", "field `flows[0].to`: value `a.y`: allowed: another host"),
            (
                "a.z",
                "b.y",
                "field `flows[0].from`: value `a.z`: allowed: a host: a.x, a.y, b.x, b.y",
            ),
        ] {
            let said = read(from, to).unwrap_err();
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn a_host_with_interfaces_is_no_end_of_a_link() {
        let said = read(r#"["a", { name = "b", interfaces = ["x"] }]"#).unwrap_err();
        assert!(
            said.contains("field `links[0].ends[1]`: value `b`: allowed: a host or router: a, b.x"),
            "{said}"
        );
    }

    #[test]
    fn what_is_special_is_read_and_written() {
        for (fields, receive, send, backpressure) in [
            (r#"processing = "50 us""#, 50, 50, None),
            ("processing = { receive = \"7 us\" }", 7, 0, None),
            (r#"backpressure = "3 kB", processing = { send = "9 us" }"#, 0, 9, Some(Bytes(3000))),
            (r#"backpressure = "0 B""#, 0, 0, Some(Bytes(0))),
        ] {
            let s = read(&format!("[\"a\", {{ name = \"b\", {fields} }}]")).unwrap();
            let (receive, send) = (Span::from_micros(receive), Span::from_micros(send));
            assert_eq!(s.hosts[1].config, HostConfig { receive, send, backpressure }, "{fields}");
            assert_eq!(Scenario::from_toml(&s.resolved_toml(), "again"), Ok(s));
        }
    }

    /// A host says it for its interfaces, and each of them for itself.
    #[test]
    fn families_are_read_and_written() {
        use crate::schema::Ip::{V4, V6};
        let with = |ip: &str, hosts: &str| {
            let text = format!("{ip}\nhosts = {hosts}{REST}{FLOW}");
            let s = Scenario::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(Scenario::from_toml(&s.resolved_toml(), "again").as_ref(), Ok(&s));
            s
        };
        let both = r#"[{ name = "a", ip = 6 }, { name = "b", ip = 6 }, "c"]"#;
        let s = with("", both);
        assert_eq!(s.hosts.iter().map(|host| host.families[0]).collect::<Vec<_>>(), [V6, V6, V4]);
        let s = with("ip = 6", both);
        assert!(s.hosts.iter().all(|host| host.families == [V6]));
        assert!(s.resolved_toml().contains(r#"hosts = ["a", "b", "c"]"#));
        let c = r#"{ name = "c", ip = 6, interfaces = ["x", { name = "y", ip = 4 }, "z"] }"#;
        for ip in ["", "ip = 6"] {
            let s = with(ip, &format!(r#"["a", "b", {c}]"#));
            assert_eq!(s.hosts[2].families, [V6, V4, V6], "{ip}");
            assert_eq!(s.hosts[2].interfaces, ["x", "y", "z"]);
        }
    }

    #[test]
    fn receive_offload_is_there_unless_told() {
        let s = read(r#"["a", { name = "b", receive_offload = false }]"#).unwrap();
        assert_eq!([0, 1].map(|i| s.hosts[i].receive_offload), [true, false]);
        assert_eq!(Scenario::from_toml(&s.resolved_toml(), "again"), Ok(s));
    }

    #[test]
    fn wrong_hosts_are_named() {
        for (hosts, expected) in [
            ("7", "field `hosts`: value `7`: allowed: the hosts: names such as"),
            (r#"["a", 7]"#, "field `hosts[1]`: value `7`: allowed: the hosts"),
            (r#"["a", {}]"#, "field `hosts[1].name`: value `(absent)`: allowed: the name"),
            (
                r#"["a", { name = "b", x = 1 }]"#,
                "field `hosts[1].x`: value `1`: allowed: no field of this name",
            ),
            (
                r#"["a", { name = "b", interfaces = [] }]"#,
                "field `hosts[1].interfaces`: value `[]`: allowed: 1 to 64 names, each once",
            ),
            (
                r#"["a", { name = "b", interfaces = ["x", "x"] }]"#,
                "allowed: 1 to 64 names, each once",
            ),
            (
                r#"["a", { name = "b", interfaces = ["x.1"] }]"#,
                "field `hosts[1].interfaces[0]`: value `\"x.1\"`: allowed: 1 to 100 letters",
            ),
            (r#"["a", { name = "b", ip = 5 }]"#, "field `hosts[1].ip`: value `5`: allowed: 4, 6"),
            (
                r#"["a", { name = "b", interfaces = ["x", 7] }]"#,
                "field `hosts[1].interfaces[1]`: value `7`: allowed: the interfaces: names such as \
                 \"x\", or tables such as { name = \"x\", ip = 6 }",
            ),
            (
                r#"["a", { name = "b", interfaces = ["x", { name = "x", ip = 6 }] }]"#,
                "allowed: 1 to 64 names, each once",
            ),
            (
                r#"["a", { name = "b", interfaces = [{ name = "x", ip = "6" }] }]"#,
                "field `hosts[1].interfaces[0].ip`: value `6`: allowed: a whole number",
            ),
            (
                r#"["a", { name = "b", interfaces = [{ name = "x", mtu = 6 }] }]"#,
                "field `hosts[1].interfaces[0].mtu`: value `6`: allowed: no field of this name",
            ),
            (
                r#"["a", { name = "b", interfaces = [{ ip = 6 }] }]"#,
                "field `hosts[1].interfaces[0].name`: value `(absent)`: allowed: the name",
            ),
            (
                r#"["a", { name = "b", ip = 6 }]"#,
                "field `flows[0].to`: value `b`: allowed: a host that links lead to; none leads \
                 from a to any host over IPv4",
            ),
            (
                r#"["a", { name = "b", processing = 7 }]"#,
                "field `hosts[1].processing`: value `7`: allowed: a time such as",
            ),
            (
                r#"["a", { name = "b", processing = { recv = "1 us" } }]"#,
                "field `hosts[1].processing.recv`: value `1 us`: allowed: no field",
            ),
            (
                r#"["a", { name = "b", backpressure = "2 packets" }]"#,
                "field `hosts[1].backpressure`: value `2 packets`: allowed: ",
            ),
        ] {
            let said = read(hosts).unwrap_err();
            assert!(said.contains(expected), "{said}\n{expected}");
        }
    }
}
