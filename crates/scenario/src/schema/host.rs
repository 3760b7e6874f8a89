//! Hosts: end systems, by name or as a table with what is special about one.

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
    /// A host with nothing special.
    pub fn named(name: &str) -> HostSpec {
        let (interfaces, config) = (Vec::new(), HostConfig::default());
        let (external, receive_offload) = (false, false);
        HostSpec { name: name.to_owned(), interfaces, config, external, receive_offload }
    }

    /// The field `hosts`.
    pub(super) fn read_all(f: &Fields<'_>) -> Result<Vec<HostSpec>, InputError> {
        let list = f.get("hosts").and_then(Value::as_array);
        let list = list.ok_or_else(|| f.error("hosts", ALLOWED))?;
        let read = |(i, item): (usize, &Value)| match item {
            Value::String(name) => Ok(HostSpec::named(name)),
            Value::Table(table) => {
                HostSpec::read(&Fields::new(f.path(&format!("hosts[{i}]")), table))
            }
            _ => Err(InputError::field(f.path(&format!("hosts[{i}]")), item, ALLOWED)),
        };
        list.iter().enumerate().map(read).collect()
    }

    fn read(f: &Fields<'_>) -> Result<HostSpec, InputError> {
        let mut host = HostSpec::named(f.required_text("name", "the name of the host")?);
        if let Some(interfaces) = f.texts("interfaces")? {
            let twice = (1..interfaces.len()).any(|i| interfaces[..i].contains(&interfaces[i]));
            if twice || !(1..=MOST_INTERFACES).contains(&interfaces.len()) {
                let allowed = format!("1 to {MOST_INTERFACES} names, each once");
                return Err(f.error("interfaces", allowed));
            }
            host.interfaces = interfaces;
        }
        (host.config.receive, host.config.send) = read_processing(f)?;
        host.config.backpressure = f.quantity("backpressure")?;
        host.external = f.boolean("external")?.unwrap_or(false);
        host.receive_offload = f.boolean("receive_offload")?.unwrap_or(false);
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

    /// The name alone where there is nothing else to say.
    pub(super) fn write(&self) -> Value {
        if *self == HostSpec::named(&self.name) {
            return self.name.as_str().into();
        }
        let mut table = Table::new();
        table.insert("name".into(), self.name.as_str().into());
        if !self.interfaces.is_empty() {
            let names = self.interfaces.iter().map(|it| Value::from(it.as_str())).collect();
            table.insert("interfaces".into(), Value::Array(names));
        }
        let HostConfig { receive, send, backpressure } = self.config;
        if (receive, send) != (Span::ZERO, Span::ZERO) {
            let fields = [("receive", receive), ("send", send)];
            let fields = fields.map(|(name, it)| (name.to_owned(), it.write().into()));
            table.insert("processing".into(), Value::Table(Table::from_iter(fields)));
        }
        if let Some(octets) = backpressure {
            table.insert("backpressure".into(), octets.write().into());
        }
        if self.external {
            table.insert("external".into(), true.into());
        }
        if self.receive_offload {
            table.insert("receive_offload".into(), true.into());
        }
        Value::Table(table)
    }
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

    #[test]
    fn receive_offload_is_read_and_written() {
        let s = read(r#"["a", { name = "b", receive_offload = true }]"#).unwrap();
        assert_eq!([0, 1].map(|i| s.hosts[i].receive_offload), [false, true]);
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
