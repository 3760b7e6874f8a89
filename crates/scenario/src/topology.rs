//! Topologies by name: `[topology]` becomes hosts, routers and links before
//! the scenario is read, so that all that follows (names in flows, changes,
//! the resolved form) is of ordinary hosts, routers and links. What the file
//! lists besides comes after.

use crate::InputError;
use crate::fields::Fields;
use crate::schema::{HostSpec, link};
use crate::shape::{self, Default, Field, KindDefault, Kinds, Shape};
use std::collections::BTreeSet;
use toml::{Table, Value};

/// The topologies: name, summary, reference.
pub(crate) const TOPOLOGIES: [(&str, &str, &str); 4] = [
    ("dumbbell", "pairs of hosts that share one bottleneck", "dumbbell"),
    ("parking-lot", "a chain of bottlenecks: one pair over all, one pair over each", "parking lot"),
    ("star", "hosts around one router", "star"),
    (
        "fat-tree",
        "k pods of k/2 edge and k/2 aggregation switches; ECMP",
        "Al-Fares et al., SIGCOMM 2008",
    ),
];

/// Most pairs, hosts or bottlenecks.
const MOST: u32 = 20_000;
/// Most ports of a switch of a fat-tree: 8192 hosts.
const MOST_PORTS: u32 = 32;

/// Hosts, routers and links that grow.
#[derive(std::default::Default)]
struct Net {
    /// The fields of each host but its name.
    host: Table,
    hosts: Vec<Value>,
    host_names: BTreeSet<String>,
    routers: Vec<Value>,
    links: Vec<Value>,
}

impl Net {
    fn host(&mut self, name: &str) {
        self.host_names.insert(name.to_owned());
        if self.host.is_empty() {
            return self.hosts.push(name.into());
        }
        let mut host = self.host.clone();
        host.insert("name".into(), name.into());
        self.hosts.push(Value::Table(host));
    }

    fn router(&mut self, name: &str) {
        self.routers.push(name.into());
    }

    /// A link with the fields of `like`.
    fn link(&mut self, name: Option<&str>, from: &str, to: &str, like: &Table) {
        let mut link = like.clone();
        // Regulators stand in routers.
        let is_host = |node: &str| self.host_names.contains(node);
        if is_host(from) {
            link.remove("regulator");
        }
        if is_host(to)
            && let Some(reverse) = link.get_mut("reverse").and_then(Value::as_table_mut)
        {
            reverse.remove("regulator");
        }
        link.insert("ends".into(), Value::Array(vec![from.into(), to.into()]));
        if let Some(name) = name {
            link.insert("name".into(), name.into());
        }
        self.links.push(Value::Table(link));
    }
}

/// Replaces `[topology]` by what it stands for.
pub(crate) fn expand(scenario: &mut Table) -> Result<(), InputError> {
    let Some(topology) = scenario.get("topology") else { return Ok(()) };
    let root = Fields::new("", scenario);
    let table = topology.as_table().ok_or_else(|| root.error("topology", "a table"))?.clone();
    let f = Fields::new("topology", &table);
    let mut net = Net::default();
    if let Some(host) = f.get("host") {
        let table = host.as_table().filter(|table| !table.contains_key("name"));
        net.host = table.ok_or_else(|| f.error("host", "the fields of a host but `name`"))?.clone();
    }
    let names = || TOPOLOGIES.map(|topologie| topologie.0).join(", ");
    let kind = f.text("kind")?.ok_or_else(|| f.error("kind", names()))?;
    match kind {
        "dumbbell" => dumbbell(&f, &mut net)?,
        "parking-lot" => parking_lot(&f, &mut net)?,
        "star" => star(&f, &mut net)?,
        "fat-tree" => fat_tree(&f, &mut net)?,
        _ => return Err(f.error("kind", names())),
    }
    f.finish()?;
    scenario.remove("topology");
    if kind == "fat-tree" {
        scenario.entry("routing").or_insert_with(|| "ecmp".into());
    }
    for (name, grown) in [("hosts", net.hosts), ("routers", net.routers), ("links", net.links)] {
        let list = scenario.entry(name).or_insert_with(|| Value::Array(Vec::new()));
        // What is no list is refused when the scenario is read.
        if let Value::Array(list) = list {
            list.splice(0..0, grown);
        }
    }
    Ok(())
}

/// What `[topology]` may hold.
pub(crate) fn shape() -> Shape {
    let field = |name, says, shape| Field { name, says, default: Default::Required, shape };
    let links = |name, says| field(name, says, link::shape(false));
    let number = |name, says, most: u32| field(name, says, Shape::Integer(1, most.into()));
    let access = || links("access", "the fields of the hosts' links but `ends` and `name`");
    let bottleneck = || links("bottleneck", "the fields of each bottleneck but `ends` and `name`");
    let fields = |kind: &str| match kind {
        "dumbbell" => vec![number("pairs", "pairs of hosts", MOST), access(), bottleneck()],
        "parking-lot" => vec![number("hops", "bottlenecks in a row", MOST), access(), bottleneck()],
        "star" => vec![number("hosts", "hosts around the router", MOST), access()],
        _ => vec![
            number("k", "ports of each switch, an even number", MOST_PORTS),
            links("link", "the fields of all links but `ends` and `name`"),
        ],
    };
    let all = TOPOLOGIES.map(|(name, summary, _)| (name, summary, fields(name)));
    let mut host = HostSpec::table();
    host.fields.retain(|field| field.name != "name");
    let says = "the fields of each host but `name`";
    let default = Default::Words("none");
    let host = Field { name: "host", says, default, shape: Shape::Table(host) };
    let kinds = Kinds { key: "kind", default: KindDefault::None, all: all.into() };
    Shape::Table(shape::Table { fields: vec![host], kinds: Some(kinds) })
}

/// The fields of links: those of a link but `ends` and `name`. What they hold
/// is checked where the links are read.
fn links<'a>(f: &Fields<'a>, name: &'static str) -> Result<&'a Table, InputError> {
    let allowed = "the fields of these links, as { rate = \"1 Gbit/s\", delay = \"1 ms\" }";
    let table = f.get(name).and_then(Value::as_table).ok_or_else(|| f.error(name, allowed))?;
    match ["ends", "name"].into_iter().find(|field| table.contains_key(*field)) {
        Some(field) => Err(f.error(name, format!("{allowed}, without `{field}`"))),
        None => Ok(table),
    }
}

fn number(f: &Fields<'_>, name: &'static str, most: u32) -> Result<u32, InputError> {
    let allowed = format!("a whole number from 1 to {most}");
    f.integer(name, 1..=most)?.ok_or_else(|| f.error(name, allowed))
}

fn dumbbell(f: &Fields<'_>, net: &mut Net) -> Result<(), InputError> {
    let pairs = number(f, "pairs", MOST)?;
    let (access, bottleneck) = (links(f, "access")?, links(f, "bottleneck")?);
    net.router("left");
    net.router("right");
    net.link(Some("bottleneck"), "left", "right", bottleneck);
    for i in 0..pairs {
        let (c, s) = (format!("c{i}"), format!("s{i}"));
        net.host(&c);
        net.host(&s);
        net.link(None, &c, "left", access);
        net.link(None, "right", &s, access);
    }
    Ok(())
}

fn parking_lot(f: &Fields<'_>, net: &mut Net) -> Result<(), InputError> {
    let hops = number(f, "hops", MOST)?;
    let (access, bottleneck) = (links(f, "access")?, links(f, "bottleneck")?);
    let router = |i: u32| format!("r{i}");
    for i in 0..=hops {
        net.router(&router(i));
    }
    for i in 0..hops {
        let name = format!("bottleneck{i}");
        net.link(Some(&name), &router(i), &router(i + 1), bottleneck);
    }
    net.host("a");
    net.host("b");
    net.link(None, "a", &router(0), access);
    net.link(None, &router(hops), "b", access);
    for i in 0..hops {
        let (c, s) = (format!("c{i}"), format!("s{i}"));
        net.host(&c);
        net.host(&s);
        net.link(None, &c, &router(i), access);
        net.link(None, &router(i + 1), &s, access);
    }
    Ok(())
}

fn star(f: &Fields<'_>, net: &mut Net) -> Result<(), InputError> {
    let hosts = number(f, "hosts", MOST)?;
    let access = links(f, "access")?;
    net.router("hub");
    for i in 0..hosts {
        let host = format!("h{i}");
        net.host(&host);
        net.link(None, &host, "hub", access);
    }
    Ok(())
}

/// Al-Fares, Loukissas and Vahdat, SIGCOMM 2008: k pods, each of k/2 edge
/// switches with k/2 hosts and k/2 aggregation switches; aggregation switch j
/// of each pod is linked to the core switches j k/2 to (j + 1) k/2 - 1.
fn fat_tree(f: &Fields<'_>, net: &mut Net) -> Result<(), InputError> {
    let allowed = format!("an even number of ports from 2 to {MOST_PORTS}");
    let k = f.integer("k", 2..=MOST_PORTS)?.filter(|k| k.is_multiple_of(2));
    let half = k.ok_or_else(|| f.error("k", allowed))? / 2;
    let like = links(f, "link")?;
    let core = |i: u32| format!("core{i}");
    for i in 0..half * half {
        net.router(&core(i));
    }
    let mut host = 0;
    for pod in 0..2 * half {
        let edge = |i: u32| format!("edge{pod}-{i}");
        let aggregation = |j: u32| format!("agg{pod}-{j}");
        for i in 0..half {
            net.router(&edge(i));
            net.router(&aggregation(i));
        }
        for i in 0..half {
            for _ in 0..half {
                let name = format!("h{host}");
                host += 1;
                net.host(&name);
                net.link(None, &name, &edge(i), like);
            }
            for j in 0..half {
                net.link(None, &edge(i), &aggregation(j), like);
            }
        }
        for j in 0..half {
            for c in j * half..(j + 1) * half {
                net.link(None, &aggregation(j), &core(c), like);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::schema::Routing;
    use crate::{RunOptions, Scenario, run};

    const LINK: &str = "{ rate = \"10 Mbit/s\", delay = \"1 ms\" }";

    fn text(topology: &str, from: &str, to: &str) -> String {
        format!(
            "topology = {{ {} }}\n[[flows]]\nname = \"f\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
             size = \"100 kB\"\n",
            topology.replace("LINK", LINK)
        )
    }

    fn scenario(topology: &str, from: &str, to: &str) -> Scenario {
        let text = text(topology, from, to);
        Scenario::from_toml(&text, "t.toml").unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn topologies_have_their_nodes_and_links() {
        for (topology, from, to, hosts, routers, links) in [
            (
                "kind = \"dumbbell\", pairs = 3, access = LINK, bottleneck = LINK",
                "c0",
                "s2",
                6,
                2,
                7,
            ),
            (
                "kind = \"parking-lot\", hops = 3, access = LINK, bottleneck = LINK",
                "a",
                "b",
                8,
                4,
                11,
            ),
            ("kind = \"star\", hosts = 5, access = LINK", "h0", "h4", 5, 1, 5),
            // k^3/4 hosts, 5 k^2/4 switches, 3 k^3/4 links.
            ("kind = \"fat-tree\", k = 4, link = LINK", "h0", "h15", 16, 20, 48),
        ] {
            let s = scenario(topology, from, to);
            let counts = (s.hosts.len(), s.routers.len(), s.links.len());
            assert_eq!(counts, (hosts, routers, links), "{topology}");
            let resolved = s.resolved_toml();
            let again = Scenario::from_toml(&resolved, "resolved").unwrap();
            assert_eq!(again, s);
            let options = RunOptions { check: true, ..RunOptions::default() };
            assert!(run(&s, &options).unwrap().flows[0].finish_s.is_some());
        }
    }

    #[test]
    fn paths_are_as_long_as_they_should_be() {
        // Hops that a packet makes: SYN, SYN-ACK and so on, both ways alike.
        for (topology, from, to, hops) in [
            ("kind = \"parking-lot\", hops = 3, access = LINK, bottleneck = LINK", "a", "b", 5),
            ("kind = \"parking-lot\", hops = 3, access = LINK, bottleneck = LINK", "c1", "s1", 3),
            ("kind = \"fat-tree\", k = 4, link = LINK", "h0", "h1", 2), // one edge switch
            ("kind = \"fat-tree\", k = 4, link = LINK", "h0", "h3", 4), // one pod
            ("kind = \"fat-tree\", k = 4, link = LINK", "h0", "h15", 6),
        ] {
            let s = scenario(topology, from, to);
            let result = run(&s, &RunOptions::default()).unwrap();
            let carried = result.links.iter().filter(|link| link.counters.delivered > 0).count();
            // ECMP takes its own way in each direction; both are as long.
            assert_eq!(carried, 2 * hops, "{topology} {from} {to}");
        }
    }

    #[test]
    fn a_fat_tree_spreads_its_flows() {
        let mut text = text("kind = \"fat-tree\", k = 4, link = LINK", "h0", "h15");
        text += "count = 40\n";
        let s = Scenario::from_toml(&text, "t").unwrap();
        assert_eq!(s.routing, Routing::Ecmp);
        let result = run(&s, &RunOptions::default()).unwrap();
        let cores = result.links.iter().filter(|link| link.name.contains("-core"));
        let used = cores.filter(|link| link.counters.delivered > 0).count();
        assert_eq!(used, 8); // up to four cores from the first pod, and back from the last
        let first = s.set("routing", "first").unwrap();
        let result = run(&first, &RunOptions::default()).unwrap();
        let cores = result.links.iter().filter(|link| link.name.contains("-core"));
        assert_eq!(cores.filter(|link| link.counters.delivered > 0).count(), 2);
    }

    #[test]
    fn changes_reach_the_topology_and_what_it_becomes() {
        let text =
            text("kind = \"dumbbell\", pairs = 1, access = LINK, bottleneck = LINK", "c0", "s0");
        let changes = ["links.bottleneck.delay=7 ms", "topology.pairs=4"];
        let s = Scenario::with_overrides(&text, "t", &changes).unwrap();
        assert_eq!((s.hosts.len(), s.links[0].forward.delay.as_millis()), (8, 7));
    }

    #[test]
    fn errors_name_the_field() {
        for (topology, expected) in [
            (
                "pairs = 1",
                "field `topology.kind` is required: dumbbell, parking-lot, star, fat-tree",
            ),
            ("kind = \"ring\"", "field `topology.kind`: value `ring`"),
            (
                "kind = \"star\", hosts = 0, access = LINK",
                "field `topology.hosts`: value `0`: allowed: a whole number from 1",
            ),
            (
                "kind = \"star\", hosts = 3",
                "field `topology.access` is required: the fields of these links",
            ),
            (
                "kind = \"star\", hosts = 3, access = LINK, k = 2",
                "field `topology.k`: value `2`: allowed: no field of this name",
            ),
            (
                "kind = \"fat-tree\", k = 5, link = LINK",
                "field `topology.k`: value `5`: allowed: an even number",
            ),
            (
                "kind = \"fat-tree\", k = 4, link = { rate = \"1 Mbit/s\" }",
                "field `links[0].delay`",
            ),
        ] {
            let said = Scenario::from_toml(&text(topology, "h0", "h1"), "t.toml").unwrap_err();
            assert!(said.to_string().contains(expected), "{said}\n{expected}");
        }
    }
}
