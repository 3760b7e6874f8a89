//! The description of an experiment and its form in TOML.
//!
//! Each table is declared once: a list of its fields with name, kind and range, default and a
//! sentence (see `form.rs`). The list is read from TOML, written back with every default spelt out, so
//! that the resolved scenario says all that a run depends on and reads back as the same [`Scenario`],
//! and described: for the JSON Schema ([`crate::json_schema()`]) and the tables of docs/scenario.md.

mod abr;
mod address_changes;
pub(crate) mod attack;
mod authentication;
mod call;
mod channel;
mod connection;
mod custom;
mod dscp;
mod fast_open;
mod flow;
mod form;
pub(crate) mod host;
mod htb;
mod icmp;
mod impairment;
mod ip;
mod law;
pub(crate) mod link;
mod listen;
mod load;
mod manners;
mod messages;
mod middlebox;
mod mptcp;
mod observe;
mod pages;
mod queue;
mod recovery;
mod regulator;
mod sctp;
mod tcp;
mod traffic;
mod transmitter;
mod udp;
mod video;
mod window;

pub use abr::{LineSpec, SourceFields};
pub use address_changes::{AddressChange, ChangeOfAddress};
pub use attack::AttackSpec;
pub use call::{CallSpec, PingSpec};
pub use channel::{ChannelKind, ChannelSpec, ExplicitRate};
pub use flow::{FlowSpec, Protocol};
pub use host::HostSpec;
pub use impairment::{Effect, Impairment};
pub use ip::Ip;
pub use link::{Direction, LinkSpec};
pub use listen::ListenSpec;
pub use load::{PageLoad, PageObjects};
pub use messages::{MessagePace, MessageSpec};
pub use observe::{Observe, What};
pub use sctp::SctpSpec;
pub use traffic::Workload;
pub use video::Video;

pub(crate) use form::Form;

use crate::fields::Fields;
use crate::{InputError, shape, topology};
use anabranch_sim::IcmpLimits;
use anabranch_units::Span;
use form::{Text, Texts, by, quantity, tables};
use std::net::Ipv4Addr;
use toml::{Table, Value};

/// An experiment: a network, its traffic and what to observe.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// Title of the experiment, for reports.
    pub name: String,
    /// Virtual time at which the run ends; `None` runs until every flow has ended.
    pub duration: Option<Span>,
    /// Virtual time at which a run without a duration ends at the latest, although flows have not
    /// ended.
    pub time_limit: Span,
    /// Seed, unless the run is given another.
    pub seed: u64,
    /// The Internet protocol of interfaces that do not say theirs.
    pub ip: Ip,
    /// The first of its addresses of IPv4; the others follow.
    pub first_ipv4: Ipv4Addr,
    /// The hosts, with their interfaces.
    pub hosts: Vec<HostSpec>,
    /// Names of the routers.
    pub routers: Vec<String>,
    /// The choice among several shortest paths.
    pub routing: Routing,
    /// Nodes answer packets that they drop with ICMP errors, up to these limits.
    pub icmp: Option<IcmpLimits>,
    /// Capacities that links share.
    pub channels: Vec<ChannelSpec>,
    /// Links; each has two directions.
    pub links: Vec<LinkSpec>,
    /// Flows: who sends what to whom.
    pub flows: Vec<FlowSpec>,
    /// Ports that listen to strangers.
    pub listeners: Vec<ListenSpec>,
    /// Attacks on hosts, ports or flows.
    pub attacks: Vec<AttackSpec>,
    /// Time series that are recorded.
    pub observe: Vec<Observe>,
}

/// The choice among several shortest paths of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Routing {
    /// Over the link that stands first.
    #[default]
    First,
    /// A hash of the flow chooses; all its packets take one path.
    Ecmp,
}

const ROUTINGS: [(&str, Routing); 2] = [("first", Routing::First), ("ecmp", Routing::Ecmp)];

/// A day: longer than any experiment that is meant, and short enough for one that is not.
const TIME_LIMIT: Span = Span::from_secs(86_400);

impl Scenario {
    /// The scenario with every default spelt out; reads back as the same.
    pub fn resolved_toml(&self) -> String {
        self.write().to_string()
    }

    /// What the table says, part by part; whether the parts fit is for its caller to see.
    pub(crate) fn read(table: &Table) -> Result<Scenario, InputError> {
        let f = Fields::new("", table);
        let ip = Ip::read(&f)?.unwrap_or_default();
        let hosts = HostSpec::read_all(&f, ip)?;
        let fitted = ip::fitted(table, &hosts);
        let f = Fields::new("", fitted.as_ref().unwrap_or(table));
        f.know(&["ip", "hosts"]);
        let mut scenario = Scenario { ip, hosts, ..Scenario::empty() };
        Form::read_all(&f, |form| scenario.fields(form))?;
        ip::check_first(&f, &scenario)?;
        Ok(scenario)
    }

    pub(crate) fn write(&self) -> Table {
        Form::written(|form| self.clone().fields(form))
    }

    /// What stands in the place of one before it is read.
    fn empty() -> Scenario {
        Scenario {
            name: String::new(),
            duration: None,
            time_limit: TIME_LIMIT,
            seed: 1,
            ip: Ip::default(),
            first_ipv4: ip::FIRST,
            hosts: Vec::new(),
            routers: Vec::new(),
            routing: Routing::default(),
            icmp: None,
            channels: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            listeners: Vec::new(),
            attacks: Vec::new(),
            observe: Vec::new(),
        }
    }

    fn fields(&mut self, form: &mut Form<'_>) -> Result<(), InputError> {
        form.says("title").or_else("empty").set("name", Text, &mut self.name)?;
        form.says(
            "time at which the run ends; required when a flow has neither `size` nor `duration`",
        );
        form.or_else("until all flows with a size have ended");
        form.optional("duration", quantity(), &mut self.duration)?;
        form.says("time at which a run without `duration` ends at the latest; `run.json` then says `\"ended\": \"time-limit\"`");
        form.quantity("time_limit", &mut self.time_limit)?;
        form.says("from 0 to 2^63 - 1; `--seed` replaces it");
        form.integer("seed", 0..=i64::MAX as u64, &mut self.seed)?;
        self.interfaces(form)?;
        form.says("names").or_else("none").set("routers", Texts, &mut self.routers)?;
        form.says("routers and hosts answer packets that they drop with ICMP errors: too big for the next link, TTL used up, no route, no such port. `\"linux\"`, or a table: with limits of their rate, see below");
        form.set("icmp", icmp::kind(), &mut self.icmp)?;
        self.parts(form)?;
        form.says("hosts, routers and links by name, see [topologies](#topology)");
        form.elsewhere("topology", topology::shape);
        form.says("among paths of fewest hops the link that stands first; `\"ecmp\"`: by a hash of addresses, protocol and ports");
        form.choice("routing", &ROUTINGS, &mut self.routing)
    }

    /// The hosts, and of which protocols they are; they are read before the others.
    fn interfaces(&mut self, form: &mut Form<'_>) -> Result<(), InputError> {
        if form.reads().is_none() {
            form.says("Internet protocol of all interfaces that do not say theirs: 4, or 6, whose headers have 20 octets more, see [both families](#both-families). Addresses are 10.0.0.1, ... or fd00:616e:6162::1, ... in the order of the interfaces");
            form.set("ip", ip::kind(), &mut self.ip)?;
            let ip = self.ip;
            let write = |hosts: &Vec<HostSpec>| {
                Value::Array(hosts.iter().map(|host| host.write(ip)).collect())
            };
            let read = |f: &Fields<'_>, _: &'static str| HostSpec::read_all(f, ip).map(Some);
            form.says("flows start and end at hosts, and hosts do not forward; names, or tables: see [hosts](#hosts)");
            form.or_else("required, unless a `topology` has them");
            form.set("hosts", by(HostSpec::shape, read, write), &mut self.hosts)?;
        }
        form.says("the first address of IPv4, where those from 10.0.0.1 on, which are private, are not what is wanted: see [both families](#both-families)");
        form.rare("first_ipv4", ip::first(), &mut self.first_ipv4, &ip::FIRST)
    }

    /// Reads, writes or describes the lists of tables.
    fn parts(&mut self, form: &mut Form<'_>) -> Result<(), InputError> {
        form.says("capacities that links share by explicit rates, see [channels](#channels)");
        if !matches!(form, Form::Write(_)) || !self.channels.is_empty() {
            form.list("channels", &mut self.channels, ChannelSpec::unset, ChannelSpec::fields)?;
        }
        form.says("see [`[[links]]`](#links)").or_else("none");
        let links = tables(|| link::shape(true), LinkSpec::read, LinkSpec::write);
        form.set("links", links, &mut self.links)?;
        form.says("see [`[[flows]]`](#flows)").or_else("none");
        let flows = tables(FlowSpec::shape, FlowSpec::read, FlowSpec::write);
        form.set("flows", flows, &mut self.flows)?;
        form.says("ports for strangers: see [`[[listen]]`](#listen)").or_else("none");
        let listen = tables(ListenSpec::shape, ListenSpec::read, ListenSpec::write);
        form.rare("listen", listen, &mut self.listeners, &Vec::new())?;
        form.says("what attacks: see [`[[attacks]]`](#attacks)").or_else("none");
        let attacks = tables(AttackSpec::shape, AttackSpec::read, AttackSpec::write);
        form.rare("attacks", attacks, &mut self.attacks, &Vec::new())?;
        form.says("see [`[[observe]]`](#observe)").or_else("none");
        let observe = tables(Observe::shape, Observe::read, Observe::write);
        form.rare("observe", observe, &mut self.observe, &Vec::new())
    }
}

/// What a scenario may hold.
pub(crate) fn described() -> shape::Table {
    Form::described(|form| Scenario::empty().fields(form))
}

#[cfg(test)]
mod bounds_tests;
#[cfg(test)]
mod tests;
