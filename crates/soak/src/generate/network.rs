//! Hosts, routers and links.

use super::Transport;
use super::impairments::impairments;
use super::queues::{changing_rate, delays, queue, regulator};
use crate::draw::{Draw, bytes, micros, number, rate, table};
use toml::{Table, Value};

/// The degree of damage that a network does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Temper {
    /// Light losses, copies and reordering: every transfer completes.
    Gentle,
    /// Outages, heavy losses, middleboxes, rates that change.
    Rough,
    /// Anything, also what no transfer survives.
    Hostile,
}

/// A network, and what its flows have to know of it.
pub(super) struct Network {
    pub temper: Temper,
    /// Version of IP, 4 or 6, unless an interface says otherwise.
    ip: u64,
    hosts: Vec<Value>,
    pub routers: Vec<String>,
    links: Vec<Value>,
    channels: Vec<Value>,
    /// Pairs of hosts that may talk, by name.
    pub pairs: Vec<[String; 2]>,
    /// Paths between the two hosts of each pair; the interfaces are `i0`, `i1`, ...
    pub paths: usize,
    /// Smallest MTU and rate of all links.
    pub mtu: u64,
    pub bps: u64,
}

impl Network {
    pub fn draw(draw: &mut Draw, transport: Transport, temper: Temper) -> Network {
        let mtu = match (temper, draw.between(0, 9)) {
            (_, 0) => draw.between(576, 9000),
            (_, 1) => 9000,
            (Temper::Hostile, 2) => draw.between(68, 1500),
            _ => 1500,
        };
        let ip = draw.pick(&[4, 4, 4, 6]);
        let mut network = Network {
            temper,
            ip,
            hosts: Vec::new(),
            routers: Vec::new(),
            links: Vec::new(),
            channels: Vec::new(),
            pairs: Vec::new(),
            paths: 1,
            mtu,
            bps: u64::MAX,
        };
        let most = if transport == Transport::Tcp { 2 } else { 3 };
        match draw.between(0, 5) {
            0 => network.dumbbell(draw, transport),
            _ => {
                network.paths = draw.between(1, most) as usize;
                network.between_two(draw, transport);
            }
        }
        network
    }

    /// Hosts `a` and `b` with a path for each pair of interfaces.
    fn between_two(&mut self, draw: &mut Draw, transport: Transport) {
        let named = self.paths > 1 || draw.chance(0.3);
        let families: Vec<u64> = (0..self.paths)
            .map(|_| if draw.chance(0.1) { 10 - self.ip } else { self.ip })
            .collect();
        for host in ["a", "b"] {
            let mut found = table([("name", host.into())]);
            if named {
                let interface = |(i, ip): (usize, &u64)| match *ip == self.ip {
                    true => Value::from(format!("i{i}")),
                    false => {
                        let name = format!("i{i}").into();
                        table([("name", name), ("ip", number(*ip))]).into()
                    }
                };
                let all = families.iter().enumerate().map(interface).collect();
                found.insert("interfaces".into(), Value::Array(all));
            }
            self.host(draw, found);
        }
        for path in 0..self.paths {
            let end = |host: &str| if named { format!("{host}.i{path}") } else { host.to_owned() };
            let mut from = end("a");
            for hop in 0..draw.pick(&[0, 0, 1, 2]) {
                let router = format!("r{path}-{hop}");
                self.routers.push(router.clone());
                self.link(draw, transport, [&from, &router]);
                from = router;
            }
            self.link(draw, transport, [&from, &end("b")]);
        }
        self.pairs = vec![["a".into(), "b".into()], ["b".into(), "a".into()]];
    }

    /// Clients and servers on the two sides of a bottleneck.
    fn dumbbell(&mut self, draw: &mut Draw, transport: Transport) {
        self.routers = vec!["left".into(), "right".into()];
        self.link(draw, transport, ["left", "right"]);
        if draw.chance(0.2) {
            // Equal paths, for routing to choose.
            self.link(draw, transport, ["left", "right"]);
        }
        for i in 0..draw.between(1, 3) {
            let (client, server) = (format!("c{i}"), format!("s{i}"));
            for (host, router) in [(&client, "left"), (&server, "right")] {
                self.host(draw, table([("name", host.as_str().into())]));
                self.link(draw, transport, [host, router]);
            }
            self.pairs.push([client.clone(), server.clone()]);
            self.pairs.push([server, client]);
        }
    }

    fn host(&mut self, draw: &mut Draw, mut table: Table) {
        if draw.chance(0.1) {
            table.insert("processing".into(), draw.time(1, 5000));
        }
        if draw.chance(0.1) {
            table.insert("backpressure".into(), bytes(draw.spread(1, 20_000) - 1));
        }
        self.hosts.push(if table.len() == 1 {
            table.remove("name").expect("a name")
        } else {
            table.into()
        });
    }

    fn link(&mut self, draw: &mut Draw, transport: Transport, ends: [&str; 2]) {
        if draw.chance(0.04) {
            return self.virtual_channel(draw, transport, ends);
        }
        let at_router = ends.map(|end| self.routers.iter().any(|router| router == end));
        let mut found = table([("ends", Value::Array(ends.map(Value::from).into()))]);
        found.insert("name".into(), format!("l{}", self.links.len()).into());
        let bps = draw.spread(30_000, 2_000_000_000);
        self.bps = self.bps.min(bps);
        found.insert("rate".into(), rate(bps));
        found.insert("delay".into(), draw.time(1, 500_000));
        if self.mtu != 1500 {
            found.insert("mtu".into(), bytes(self.mtu));
        }
        self.direction(draw, transport, bps, at_router[0], &mut found);
        if draw.chance(0.6) {
            let mut back = Table::new();
            if draw.chance(0.3) {
                let bps = draw.spread(30_000, 1_000_000_000);
                self.bps = self.bps.min(bps);
                back.insert("rate".into(), rate(bps));
            }
            if draw.chance(0.3) {
                back.insert("delay".into(), draw.time(1, 500_000));
            }
            self.direction(draw, transport, bps, at_router[1], &mut back);
            // Sequence numbers that are rewritten are so in both directions.
            if self.temper != Temper::Gentle && transport != Transport::Sctp && draw.chance(0.05) {
                let key = number(draw.between(0, 1 << 31));
                let knows = draw.chance(0.7);
                for way in [&mut found, &mut back] {
                    let rewriting = table([
                        ("kind", "middlebox".into()),
                        ("rewrite_sequence", key.clone()),
                        ("rewrite_sack", knows.into()),
                    ]);
                    let list = way.entry("impairments").or_insert(Value::Array(Vec::new()));
                    list.as_array_mut().expect("a list").push(rewriting.into());
                }
            }
            found.insert("reverse".into(), back.into());
        }
        self.links.push(found.into());
    }

    /// A link that is a virtual channel over one or two lines of ATM of its own.
    fn virtual_channel(&mut self, draw: &mut Draw, transport: Transport, ends: [&str; 2]) {
        let name = format!("l{}", self.links.len());
        let switch = format!("{name}-switch");
        let path = match draw.chance(0.5) {
            true => vec![[ends[0], ends[1]]],
            false => vec![[ends[0], &switch], [&switch, ends[1]]],
        };
        let mut lines = Vec::new();
        for (i, ends) in path.into_iter().enumerate() {
            let bps = draw.spread(100_000, 200_000_000);
            // Eleven twelfths of it are payload, a fifth and more may be kept free.
            self.bps = self.bps.min(bps / 2);
            let line = format!("{name}-{i}");
            let mut table = table([
                ("name", line.as_str().into()),
                ("kind", "abr".into()),
                ("ends", Value::Array(ends.map(Value::from).into())),
                ("capacity", rate(bps)),
                ("delay", draw.time(1, 200_000)),
            ]);
            match draw.between(0, 3) {
                0 => table.insert("allocation".into(), "max-min".into()),
                1 => table.insert("allocation".into(), "efci".into()),
                2 => table.insert("interval".into(), draw.time(1000, 50_000)),
                _ => None,
            };
            if self.temper != Temper::Gentle && draw.chance(0.3) {
                table.insert("cells".into(), number(draw.spread(1, 5000)));
            }
            self.channels.push(table.into());
            lines.push(Value::from(line));
        }
        let mut source = table([("explicit", Value::Array(lines))]);
        if draw.chance(0.3) {
            source.insert("cells_per_rm".into(), number(draw.between(2, 256)));
            source.insert("encapsulation".into(), "llc-snap".into());
        }
        let mut table = table([
            ("ends", Value::Array(ends.map(Value::from).into())),
            ("name", name.as_str().into()),
            ("rate", source.into()),
        ]);
        if self.mtu != 1500 {
            table.insert("mtu".into(), bytes(self.mtu));
        }
        let list = impairments(draw, self.temper, transport);
        if !list.is_empty() {
            let list = list.into_iter().map(Value::from).collect();
            table.insert("impairments".into(), Value::Array(list));
        }
        self.links.push(table.into());
    }

    /// What either direction may have.
    fn direction(
        &mut self,
        draw: &mut Draw,
        transport: Transport,
        bps: u64,
        at_router: bool,
        item: &mut Table,
    ) {
        if draw.chance(0.5) {
            item.insert("queue".into(), queue(draw, self.temper, self.mtu).into());
        }
        let list = impairments(draw, self.temper, transport);
        if !list.is_empty() {
            item.insert(
                "impairments".into(),
                Value::Array(list.into_iter().map(Value::from).collect()),
            );
        }
        if self.temper != Temper::Gentle && draw.chance(0.15) {
            changing_rate(draw, bps, self.mtu, item);
        } else if draw.chance(0.03) {
            let channel = format!("ch{}", self.channels.len());
            let of_it = table([
                ("name", channel.as_str().into()),
                ("capacity", rate(bps)),
                ("interval", draw.time(1000, 100_000)),
                ("feedback", micros(draw.between(0, 50_000))),
            ]);
            self.channels.push(of_it.into());
            item.insert("rate".into(), table([("explicit", channel.into())]).into());
            item.remove("queue");
        }
        if draw.chance(0.05) {
            item.insert("delays".into(), delays(draw).into());
        }
        if at_router && draw.chance(0.1) {
            item.insert("regulator".into(), regulator(draw).into());
        }
    }

    /// A host that can attack `victim`, and the interface of the victim that it reaches: one of
    /// its own, at a router on the way there or at the victim itself, or another that is there.
    pub fn attacker(&mut self, draw: &mut Draw, victim: &str) -> (String, String) {
        let others: Vec<&str> = self.pairs.iter().map(|pair| pair[0].as_str()).collect();
        let other = draw.pick(&others);
        if other != victim && draw.chance(0.3) {
            return (other.to_owned(), victim.to_owned());
        }
        let name = format!("m{}", self.hosts.len());
        let (families, named) = self.interfaces(victim);
        let path = draw.between(0, families.len() as u64 - 1) as usize;
        let to = if named { format!("{victim}.i{path}") } else { victim.to_owned() };
        let on_the_way = |router: &&String| {
            let is_dumbbell = self.paths == 1 && self.routers[0] == "left";
            is_dumbbell || router.starts_with(&format!("r{path}-"))
        };
        let routers: Vec<&str> =
            self.routers.iter().filter(on_the_way).map(String::as_str).collect();
        let at = match routers.is_empty() {
            true => to.clone(),
            false => draw.pick(&routers).to_owned(),
        };
        let mut host = table([("name", name.as_str().into())]);
        if families[path] != self.ip {
            host.insert("ip".into(), number(families[path]));
        }
        self.hosts.push(host.into());
        let mut link = table([("ends", Value::Array(vec![name.as_str().into(), at.into()]))]);
        link.insert("rate".into(), rate(draw.spread(1_000_000, 2_000_000_000)));
        link.insert("delay".into(), draw.time(1, 200_000));
        link.insert("name".into(), format!("l{}", self.links.len()).into());
        self.links.push(link.into());
        (name, to)
    }

    /// The family of each interface of a host, and whether they have names.
    fn interfaces(&self, host: &str) -> (Vec<u64>, bool) {
        let table = |found: &Value| {
            let found = found.as_table()?;
            (found["name"].as_str() == Some(host)).then(|| found.get("interfaces").cloned())
        };
        let Some(Some(Value::Array(all))) = self.hosts.iter().find_map(table) else {
            return (vec![self.ip], false);
        };
        let family = |interface: &Value| {
            let ip = interface.get("ip").and_then(Value::as_integer);
            ip.map_or(self.ip, |ip| ip.unsigned_abs())
        };
        (all.iter().map(family).collect(), true)
    }

    /// Writes the network's part of the scenario.
    pub fn write(self, scenario: &mut Table) {
        if self.ip != 4 {
            scenario.insert("ip".into(), number(self.ip));
        }
        scenario.insert("hosts".into(), Value::Array(self.hosts));
        let routers = self.routers.iter().map(|router| Value::from(router.as_str())).collect();
        scenario.insert("routers".into(), Value::Array(routers));
        scenario.insert("links".into(), Value::Array(self.links));
        if !self.channels.is_empty() {
            scenario.insert("channels".into(), Value::Array(self.channels));
        }
    }
}
