//! Hosts: end systems, by name or as a table with what is special about one.

use super::form::{Boolean, Form, Kind, Text, Texts, by, quantity, quantity_shape};
use super::{Ip, ip};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use crate::shape::{self, Shape};
use anabranch_sim::HostConfig;
use anabranch_units::Span;
use toml::Value;

/// A host with its interfaces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostSpec {
    /// Name of the host.
    pub name: String,
    /// Names of its interfaces, the first of which is meant where the host is
    /// named; none for a host with a single one, which needs no name.
    pub interfaces: Vec<String>,
    /// What the address of each of its [`nodes`](HostSpec::nodes) is of.
    pub families: Vec<Ip>,
    /// Times that packets take the host, and its back-pressure.
    pub config: HostConfig,
    /// Whether it is a network namespace with a kernel's own stack in live runs.
    pub external: bool,
    /// Whether segments that it finds together in live runs are answered once; at an external host
    /// they are handed over as one.
    pub receive_offload: bool,
    /// Settings of its kernel in live runs, as `sysctl -w` takes them: `NAME=VALUE`.
    pub sysctl: Vec<String>,
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
            sysctl: Vec::new(),
        }
    }

    /// The field `hosts`, of a scenario over `ip`.
    pub(super) fn read_all(f: &Fields<'_>, ip: Ip) -> Result<Vec<HostSpec>, InputError> {
        let list = f.get("hosts").and_then(Value::as_array);
        let list =
            list.ok_or_else(|| match f.get("hosts").is_none() && f.get("scenario").is_some() {
                true => {
                    f.error("hosts", "a scenario; this is a sweep's file, for `anabranch sweep`")
                }
                false => f.error("hosts", ALLOWED),
            })?;
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
        let mut host = HostSpec::named("", ip);
        let mut own = Ip::read(f)?;
        Form::read_all(f, |form| HostSpec::fields(form, &mut host, &mut own))?;
        Ok(host)
    }

    /// What the field `hosts` may hold.
    pub(super) fn shape() -> Shape {
        Shape::Any(vec![Shape::Text, Shape::Table(HostSpec::table())]).list()
    }

    /// What a host may be that is a table.
    pub(crate) fn table() -> shape::Table {
        let mut host = HostSpec::named("", Ip::V4);
        Form::described(|form| HostSpec::fields(form, &mut host, &mut None))
    }

    /// The fields of a host; `own` is its protocol, where that is not the scenario's.
    fn fields(
        form: &mut Form<'_>,
        host: &mut HostSpec,
        own: &mut Option<Ip>,
    ) -> Result<(), InputError> {
        form.says("the name by which links and flows mean it");
        form.required("name", Text, "the name of the host", &mut host.name)?;
        let of_scenario = host.families[0];
        interfaces(form, host, own.unwrap_or(of_scenario))?;
        form.says("Internet protocol of its interfaces that do not say theirs, 4 or 6")
            .or_else("the scenario's");
        form.optional("ip", ip::kind(), own)?;
        let config = &mut host.config;
        let mut times = (config.receive, config.send);
        form.says("time that each packet received and each packet sent takes the host's one processor; what is sent goes before what has come and waits. `{ receive = \"50 us\", send = \"20 us\" }` tells them apart, each none when left out");
        form.or_else("none").rare("processing", processing(), &mut times, &Default::default())?;
        (config.receive, config.send) = times;
        form.says("an endpoint (a connection's side) sends nothing while more than these octets of its packets, IP headers included, wait for the host's line; the packet on the line does not count. `\"0 B\"` lets one wait");
        form.optional("backpressure", quantity(), &mut config.backpressure)?;
        form.says("in a live run: TCP segments or SCTP data that follow each other and are found together are answered once by a host of ours; TCP segments are handed to the kernel of an external one as one, see [live.md](live.md#segments-that-come-together); in a simulated run each packet has a date of its own, and nothing changes");
        form.rare("receive_offload", Boolean, &mut host.receive_offload, &true)?;
        form.says("in a live run the host is a network namespace with a kernel's own stack, see [live.md](live.md); in a simulated run it is a host like any other");
        form.rare("external", Boolean, &mut host.external, &false)?;
        form.says("in a live run: settings of the kernel of an external host, as `sysctl -w` takes them, such as `[\"net.ipv4.tcp_min_tso_segs=1\"]`; they come after those that flows ask for");
        form.rare("sysctl", Texts, &mut host.sysctl, &Vec::new())?;
        let are_settings = host.sysctl.iter().all(|text| setting(text).is_some());
        form.require(are_settings, "sysctl", "texts such as \"net.ipv4.tcp_min_tso_segs=1\"")?;
        let has_kernel = host.external || host.sysctl.is_empty();
        form.require(has_kernel, "sysctl", "none, but for hosts with `external = true`")
    }

    /// What is written below `/proc/sys/net` of its kernel: file and value.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (String, String)> {
        self.sysctl.iter().filter_map(|text| setting(text))
    }

    /// The names of its nodes: `HOST.INTERFACE` for each interface, or the
    /// host's own.
    pub fn nodes(&self) -> Vec<String> {
        match self.interfaces.as_slice() {
            [] => vec![self.name.clone()],
            all => all.iter().map(|interface| format!("{}.{interface}", self.name)).collect(),
        }
    }

    /// Writes the host of a scenario over `ip`; the name alone where there is nothing else to say.
    pub(super) fn write(&self, ip: Ip) -> Value {
        if *self == HostSpec::named(&self.name, ip) {
            return self.name.as_str().into();
        }
        let first = self.families[0];
        let is_same = self.families.iter().all(|family| *family == first);
        let mut own = Some(first).filter(|first| is_same && *first != ip);
        let mut host = self.clone();
        if own.is_none() {
            // What interfaces need not say.
            host.families.insert(0, ip);
        }
        Form::written(|form| HostSpec::fields(form, &mut host, &mut own)).into()
    }
}

/// The file below `/proc/sys/net` and the value of a setting `NAME=VALUE`.
fn setting(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let name = name.trim().strip_prefix("net.")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let parts: Vec<&str> = name.split('.').collect();
    let is_name = parts.iter().all(|part| !part.is_empty() && part.chars().all(is_plain));
    is_name.then(|| (parts.join("/"), value.trim().to_owned()))
}

/// The interfaces of a host over `ip`: names, or tables that say another `ip`.
fn interfaces(form: &mut Form<'_>, host: &mut HostSpec, ip: Ip) -> Result<(), InputError> {
    let mut named: Option<Vec<(String, Ip)>> = match form {
        Form::Read(_) => None,
        _ if host.interfaces.is_empty() => None,
        // The families are those of the interfaces, the last ones in the list.
        _ => {
            let families = host.families[host.families.len() - host.interfaces.len()..].iter();
            Some(host.interfaces.iter().cloned().zip(families.copied()).collect())
        }
    };
    form.says("names of its interfaces, at most 64; a table for one over another protocol than the host's: `{ name = \"y\", ip = 6 }`");
    form.or_else("one, which needs no name").optional(
        "interfaces",
        list_of_interfaces(ip),
        &mut named,
    )?;
    if form.reads().is_some() {
        host.families = vec![ip];
        if let Some(named) = named {
            (host.interfaces, host.families) = named.into_iter().unzip();
        }
    }
    Ok(())
}

fn list_of_interfaces(ip: Ip) -> impl Kind<Value = Vec<(String, Ip)>> {
    let write = move |all: &Vec<(String, Ip)>| {
        let interface = |(name, family): &(String, Ip)| match *family == ip {
            true => Value::from(name.as_str()),
            false => {
                let mut interface = (name.clone(), Some(*family));
                Form::written(|form| interface_fields(form, &mut interface)).into()
            }
        };
        Value::Array(all.iter().map(interface).collect())
    };
    let shape = || {
        let unset = &mut (String::new(), None);
        let table = Form::described(|form| interface_fields(form, unset));
        Shape::Any(vec![Shape::Text, Shape::Table(table)]).list()
    };
    by(shape, move |f: &Fields<'_>, _: &'static str| read_interfaces(f, ip), write)
}

fn interface_fields(
    form: &mut Form<'_>,
    (name, ip): &mut (String, Option<Ip>),
) -> Result<(), InputError> {
    form.says("the name of the interface");
    form.required("name", Text, "the name of the interface", name)?;
    form.says("its Internet protocol, 4 or 6").or_else("the host's").optional("ip", ip::kind(), ip)
}

fn read_interfaces(f: &Fields<'_>, ip: Ip) -> Result<Option<Vec<(String, Ip)>>, InputError> {
    const ALLOWED: &str =
        "the interfaces: names such as \"x\", or tables such as { name = \"x\", ip = 6 }";
    let Some(value) = f.get("interfaces") else { return Ok(None) };
    let list = value.as_array().ok_or_else(|| f.error("interfaces", ALLOWED))?;
    let read = |(i, item): (usize, &Value)| match item {
        Value::String(name) => Ok((name.clone(), ip)),
        Value::Table(table) => {
            let f = Fields::new(f.path(&format!("interfaces[{i}]")), table);
            let mut interface = (String::new(), None);
            Form::read_all(&f, |form| interface_fields(form, &mut interface))?;
            Ok((interface.0, interface.1.unwrap_or(ip)))
        }
        _ => Err(InputError::field(f.path(&format!("interfaces[{i}]")), item, ALLOWED)),
    };
    let all: Vec<(String, Ip)> = list.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let twice = (1..all.len()).any(|i| all[..i].iter().any(|item| item.0 == all[i].0));
    if twice || !(1..=MOST_INTERFACES).contains(&all.len()) {
        let allowed = format!("1 to {MOST_INTERFACES} names, each once");
        return Err(f.error("interfaces", allowed));
    }
    Ok(Some(all))
}

/// The times to receive and to send a packet: one for both, or a table.
fn processing() -> impl Kind<Value = (Span, Span)> {
    let read = |f: &Fields<'_>, name: &'static str| {
        if let Some(Value::Table(table)) = f.get(name) {
            let f = Fields::new(f.path(name), table);
            let mut times = Default::default();
            Form::read_all(&f, |form| times_fields(form, &mut times))?;
            return Ok(Some(times));
        }
        let allowed = format!("{}, or {{ receive = \"50 us\", send = \"20 us\" }}", Span::ALLOWED);
        let both: Option<Span> = f.quantity(name).map_err(|_| f.error(name, allowed))?;
        Ok(both.map(|both| (both, both)))
    };
    let write =
        |times: &(Span, Span)| Form::written(|form| times_fields(form, &mut times.clone())).into();
    let shape = || {
        let table = Form::described(|form| times_fields(form, &mut Default::default()));
        Shape::Any(vec![quantity_shape::<Span>(), Shape::Table(table)])
    };
    by(shape, read, write)
}

fn times_fields(form: &mut Form<'_>, (receive, send): &mut (Span, Span)) -> Result<(), InputError> {
    form.says("time that a received packet takes").quantity("receive", receive)?;
    form.says("time that a packet takes that is sent").quantity("send", send)
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
    fn a_kernel_has_settings() {
        let host = r#"{ name = "b", external = true, sysctl = ["net.ipv4.tcp_min_tso_segs = 1"] }"#;
        let s = read(&format!("[\"a\", {host}]")).unwrap();
        let settings: Vec<_> = s.hosts[1].settings().collect();
        assert_eq!(settings, [("ipv4/tcp_min_tso_segs".to_owned(), "1".to_owned())]);
        assert_eq!(Scenario::from_toml(&s.resolved_toml(), "again"), Ok(s));
    }

    #[test]
    fn wrong_hosts_are_named() {
        let settings =
            |text| format!(r#"["a", {{ name = "b", external = true, sysctl = [{text}] }}]"#);
        let such = "allowed: texts such as \"net.ipv4.tcp_min_tso_segs=1\"";
        for text in ["\"net.ipv4.tcp_sack\"", "\"kernel.panic=1\"", "\"net.ipv4/../x=1\""] {
            let error = read(&settings(text)).unwrap_err();
            assert!(error.contains("field `hosts[1].sysctl`") && error.contains(such), "{error}");
        }
        for (hosts, expected) in [
            (
                r#"["a", { name = "b", sysctl = ["net.ipv4.tcp_sack=0"] }]"#,
                "allowed: none, but for hosts with `external = true`",
            ),
            ("7", "field `hosts`: value `7`: allowed: the hosts: names such as"),
            (r#"["a", 7]"#, "field `hosts[1]`: value `7`: allowed: the hosts"),
            (r#"["a", {}]"#, "field `hosts[1].name` is required: the name"),
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
                "field `hosts[1].interfaces[0].name` is required: the name",
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
